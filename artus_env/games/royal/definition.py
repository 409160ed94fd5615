"""The royal card game as the engine sees it."""

from __future__ import annotations

from pathlib import Path

from artus_env.engine.contract.definition import Definition
from artus_env.games.royal import doc_tables, notation, position, terminal, verbs
from artus_env.games.royal.actions import action_table, build_tables
from artus_env.games.royal.components import MAX_PLAYERS, RECONSTRUCTED, RULES, RULES_VERSION, STANDARD
from artus_env.games.royal.observation import observation_bounds, observation_scale
from artus_env.games.royal.page import browser, picture, sentences, shapes
from artus_env.games.royal.state import STATE

ROYAL = Definition(
    name="royal",
    title="Artus: the royal card game",
    rules=RULES,
    rules_version=RULES_VERSION,
    max_players=MAX_PLAYERS,
    score="fields",
    verbs=(verbs,),
    standard=STANDARD,
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=action_table,
    observation_bounds=observation_bounds,
    observation_scale=observation_scale,
    to_dict=position.to_dict,
    from_dict=position.from_dict,
    move_text=notation.move_text,
    render=terminal.render,
    picture=picture.picture,
    colours=shapes.flat_colours,
    action_meaning=notation.action_meaning,
    actions_like=notation.actions_like,
    evaluation_weight=2.0,
    evaluation_deals=48,
    search_turns=3,
    action_feature_gates=(0.0, 0.0, 3.0, -0.2, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0),
    sentences=sentences,
    browser=browser,
    page=browser.PAGE,
    presets=Path(__file__).parent / "presets",
    trained=Path(__file__).parent / "trained",
    ladder=Path(__file__).parent / "ladder.json",
    doc_tables=doc_tables.TABLES,
    reconstructed=RECONSTRUCTED,
)
