"""Definition of Artus for the engine."""

from __future__ import annotations

from pathlib import Path

from artus_env.authoring import Definition
from artus_env.games.artus import doc_tables, evaluation, notation, observation, position, rules, terminal
from artus_env.games.artus.actions import MAX_ACTIONS, action_table, build_tables
from artus_env.games.artus.components import (
    MAX_PLAYERS,
    RECONSTRUCTED,
    RULES,
    RULES_VERSION,
    STANDARD,
)
from artus_env.games.artus.page import browser, picture, sentences, shapes
from artus_env.games.artus.state import STATE

ARTUS = Definition(
    name="artus",
    title="Artus",
    description="Knights and princes sit at a round table that turns with the King: the value of a seat depends on "
    "how far behind the King it is, and a move pays the value of the seat that the figure leaves. All "
    "players play the same 22 cards, 16 in the beginner game: they move a knight, move a prince or the "
    "King, give a ring or, in the advanced game, score knights where they sit. Most prestige wins. Hands "
    "and piles are hidden.",
    rules=RULES,
    rules_version=RULES_VERSION,
    min_players=2,
    max_players=MAX_PLAYERS,
    score="prestige",
    verbs=(rules, observation, evaluation),
    standard=STANDARD,
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=action_table,
    max_actions=MAX_ACTIONS,
    features=observation.features,
    positions=position.POSITIONS,
    move_text=notation.move_text,
    render=terminal.render,
    picture=picture.picture,
    action_meaning=notation.action_meaning,
    parse_move=notation.parse_move,
    evaluation_weight=0.17,
    action_feature_gates=(1.2, 0.2, -0.2) + 10 * (0.0,),  # similar to lookahead at a temperature of 8 points
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
