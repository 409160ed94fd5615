"""Artus as the engine sees it."""

from __future__ import annotations

from artus_env.engine.definition import Definition
from artus_env.games.artus import kernels, picture, position, text
from artus_env.games.artus.actions import MASK_WORDS, action_table, build_tables
from artus_env.games.artus.components import MAX_PLAYERS, RULES, RULES_VERSION, STANDARD, Components
from artus_env.games.artus.observation import observation_bounds
from artus_env.games.artus.state import OVER, STATE

ARTUS = Definition(
    name="artus",
    rules=RULES,
    rules_version=RULES_VERSION,
    min_players=2,
    max_players=MAX_PLAYERS,
    standard=STANDARD,
    components_type=Components,
    state_dtype=STATE,
    over=OVER,
    mask_words=MASK_WORDS,
    build_tables=build_tables,
    action_table=action_table,
    observation_bounds=observation_bounds,
    kernels=kernels,
    move_text=text.move_text,
    action_meaning=text.action_meaning,
    actions_like=text.actions_like,
    render=text.render,
    picture=picture.picture,
    to_dict=position.to_dict,
    from_dict=position.from_dict,
)
