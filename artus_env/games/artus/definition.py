"""Artus as the engine sees it."""

from __future__ import annotations

from pathlib import Path

from artus_env.engine.contract.definition import Definition
from artus_env.games.artus import doc_tables, position, terminal, verbs
from artus_env.games.artus.actions import action_table, build_tables
from artus_env.games.artus.components import (
    MAX_PLAYERS,
    RECONSTRUCTED,
    RULES,
    RULES_VERSION,
    STANDARD,
)
from artus_env.games.artus.observation import observation_bounds, observation_scale
from artus_env.games.artus.page import browser, picture, sentences, shapes
from artus_env.games.artus.state import STATE

ARTUS = Definition(
    name="artus",
    title="Artus",
    rules=RULES,
    rules_version=RULES_VERSION,
    min_players=2,
    max_players=MAX_PLAYERS,
    score="prestige",
    verbs=(verbs,),
    standard=STANDARD,
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=action_table,
    observation_bounds=observation_bounds,
    observation_scale=observation_scale,
    to_dict=position.to_dict,
    from_dict=position.from_dict,
    move_text=terminal.move_text,
    render=terminal.render,
    picture=picture.picture,
    action_meaning=terminal.action_meaning,
    actions_like=terminal.actions_like,
    evaluation_weight=0.17,
    action_feature_gates=(1.2, 0.2, -0.2)
    + 10 * (0.0,),  # about as much as lookahead thinks, at a temperature of 8 points
    sentences=sentences,
    browser=browser,
    page=browser.PAGE,
    presets=Path(__file__).parent / "presets",
    doc_tables=doc_tables.TABLES,
    colours=shapes.flat_colours,
    trained=Path(__file__).parent / "trained",
    ladder=Path(__file__).parent / "ladder.json",
    reconstructed=RECONSTRUCTED,
)
