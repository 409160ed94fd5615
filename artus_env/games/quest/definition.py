"""Definition of the King's quests for the engine."""

from __future__ import annotations

from pathlib import Path

from artus_env.authoring import Definition
from artus_env.games.quest import (
    doc_tables,
    evaluation,
    hidden_information,
    notation,
    observation,
    position,
    rules,
    terminal,
)
from artus_env.games.quest.actions import action_table, build_tables
from artus_env.games.quest.components import MAX_PLAYERS, MIN_PLAYERS, RECONSTRUCTED, RULES_VERSION, STANDARD
from artus_env.games.quest.page import browser, picture, sentences, shapes
from artus_env.games.quest.state import STATE

QUEST = Definition(
    name="quest",
    title="By order of the King",
    description="Knights ride round a ring of eight places. In each round players choose action cards in turn, then "
    "use them to gather virtues, fulfil quests and joust. Most points win at the end of the round in "
    "which a player reaches the goal. Virtues in hand, quests in hand and bids are hidden.",
    rules=position.RULES,
    rules_version=RULES_VERSION,
    min_players=MIN_PLAYERS,
    max_players=MAX_PLAYERS,
    score="points",
    verbs=(rules, hidden_information, observation, evaluation),
    standard=STANDARD,
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=action_table,
    features=observation.features,
    positions=position.POSITIONS,
    move_text=notation.move_text,
    action_meaning=notation.action_meaning,
    parse_move=notation.parse_move,
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
