"""The King's quests as the engine sees them."""

from __future__ import annotations

from pathlib import Path

from artus_env.engine.contract.definition import Definition
from artus_env.games.quest import doc_tables, notation, observation, position, terminal, verbs
from artus_env.games.quest.actions import action_table, build_tables
from artus_env.games.quest.components import MAX_PLAYERS, MIN_PLAYERS, RECONSTRUCTED, RULES_VERSION, STANDARD
from artus_env.games.quest.page import browser, picture, sentences, shapes
from artus_env.games.quest.state import STATE

QUEST = Definition(
    name="quest",
    title="By order of the King",
    rules=position.RULES,
    rules_version=RULES_VERSION,
    min_players=MIN_PLAYERS,
    max_players=MAX_PLAYERS,
    score="points",
    verbs=(verbs,),
    standard=STANDARD,
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=action_table,
    observation_bounds=observation.observation_bounds,
    observation_scale=observation.observation_scale,
    to_dict=position.to_dict,
    from_dict=position.from_dict,
    move_text=notation.move_text,
    action_meaning=notation.action_meaning,
    actions_like=notation.actions_like,
    render=terminal.render,
    picture=picture.picture,
    colours=shapes.flat_colours,
    evaluation_weight=1.0,
    search_turns=8,
    action_feature_gates=(0.0, 1.5, 0.0, 0.0, 0.0, 0.0),
    sentences=sentences,
    browser=browser,
    page=browser.PAGE,
    presets=Path(__file__).parent / "presets",
    trained=Path(__file__).parent / "trained",
    ladder=Path(__file__).parent / "ladder.json",
    doc_tables=doc_tables.TABLES,
    reconstructed=RECONSTRUCTED,
)
