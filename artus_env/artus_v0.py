"""Artus for PettingZoo: `artus_v0.env()` and `artus_v0.raw_env()`."""

from __future__ import annotations

from typing import Any

from artus_env.default import Game
from artus_env.engine.aec import GameAEC


class ArtusAEC(GameAEC):
    """The board game Artus for 2 to 4 players, as an AEC environment.

    ## Description

    Knights and princes sit at a round table that turns with the King: what a seat is worth depends on how far behind
    the King it is, and a move pays the value of the seat that is left. Each player plays the same 22 cards (16 in the
    beginner game): move a knight, move a prince or the King, give a ring, or, in the advanced game, score knights where
    they are. Most prestige wins. Hands and piles are hidden.

    The agents are `player_0`, `player_1`, ...; a higher number sits clockwise. One step is one decision (place a
    knight, play a card with all its choices, draw from a pile), so that an agent can act several times in a row.

    ## Action Space

    `Discrete(NUM_ACTIONS)`, the same ids in every variant. An action names a card, a figure by its place behind the
    King and a number of steps; `env.game.move(action)` puts a legal one into words.

    ## Observation Space

    `Dict(observation=Box(OBSERVATION_SIZE), action_mask=Box(0, 1, NUM_ACTIONS))`, int8. The observation is seen from
    the agent's chair: players in turn order from him, seats by their distance behind the King; times
    `OBSERVATION_SCALE` it is fit for networks. The mask stands in the info as well. It is all zeros for players not on
    the move and, after the end, for everybody. `state()` is the observations of all players, one behind the other.

    ## Rewards

    `"win"`: at the end, w joint winners of n players get (n - w) / (w (n - 1)) each, the others -1 / (n - 1); with two
    players +1 and -1, all tied 0. `"margin"`: at the end, (own prestige - mean of the others) / 100. `"prestige"`: the
    same margin, paid move by move. All of them add up to zero.

    ## Starting State

    A random deal: the start player is drawn, the piles are shuffled, no knight is placed yet. `reset(seed=...)` gives
    the deal of `Game(seed=...)`; `reset(options={"start_player": 1})` names the start player,
    `reset(options={"position": ...})` begins at a position (`Game.to_dict`).

    ## Episode End

    When all hands are played, for everybody at once (`terminations`); nothing is ever truncated. With `env()` an
    illegal
    action ends the game too: -1 for who played it, 0 for the others, and `info["illegal_action"]` names it. `raw_env()`
    raises `IllegalMoveError` instead and stays as it was.

    ## Arguments

    * `rules`: `"beginner"` or `"advanced"`
    * `num_players`: 2 to 4
    * `reward`: `"win"`, `"margin"` or `"prestige"`
    * `components`: a changed box, see `Components`
    * `render_mode`: `None`, `"ansi"`, `"rgb_array"` or `"human"` (the last two need the extra `render`)

    ## Version History

    * v0: first version
    """

    game_class = Game
    metadata = {
        "name": "artus_v0",
        "render_modes": ["human", "rgb_array", "ansi"],
        "is_parallelizable": False,
        "render_fps": 2,
    }


def env(
    rules: str = "beginner",
    num_players: int = 2,
    reward: str = "win",
    components: Any = None,
    render_mode: str | None = None,
) -> ArtusAEC:
    """Artus; an illegal action ends the game. See `ArtusAEC` for the arguments."""
    return ArtusAEC(rules, num_players, reward, components, render_mode)


def raw_env(
    rules: str = "beginner",
    num_players: int = 2,
    reward: str = "win",
    components: Any = None,
    render_mode: str | None = None,
) -> ArtusAEC:
    """Artus; an illegal action raises `IllegalMoveError`. See `ArtusAEC` for the arguments."""
    return ArtusAEC(rules, num_players, reward, components, render_mode, raise_illegal=True)
