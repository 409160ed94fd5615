"""Definition of the royal card game for the engine."""

from __future__ import annotations

from pathlib import Path

from artus_env.authoring import Definition
from artus_env.games.royal import (
    doc_tables,
    evaluation,
    hidden_information,
    notation,
    observation,
    position,
    rules,
    terminal,
)
from artus_env.games.royal.actions import action_table, build_tables
from artus_env.games.royal.components import MAX_PLAYERS, RECONSTRUCTED, RULES, RULES_VERSION, STANDARD
from artus_env.games.royal.page import browser, picture, sentences, shapes
from artus_env.games.royal.state import STATE

ROYAL = Definition(
    name="royal",
    title="Artus: the royal card game",
    description="A race by taking tricks. Each player is dealt eight cards, and the winner of a trick moves their "
    "pawn one field ahead, past the pawns directly in front of it. A pawn that lands on a sword may make "
    "a suit trump. The first pawn on the last field wins. Hands are hidden.",
    rules=RULES,
    rules_version=RULES_VERSION,
    max_players=MAX_PLAYERS,
    score="fields",
    verbs=(rules, hidden_information, observation, evaluation),
    standard=STANDARD,
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=action_table,
    features=observation.features,
    positions=position.POSITIONS,
    move_text=notation.move_text,
    render=terminal.render,
    picture=picture.picture,
    colours=shapes.flat_colours,
    action_meaning=notation.action_meaning,
    parse_move=notation.parse_move,
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
