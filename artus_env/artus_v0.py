"""Artus, a board game for 2 to 4 players, for PettingZoo: `artus_v0.env()` and `artus_v0.raw_env()`.

Rules
-----

Most prestige points at the end win; equal prestige shares the win.

**The table.** 28 seats, numbered 0 to 27 clockwise, stand round a table; forward means clockwise. King Artus, three
princes and the knights of all players sit there: five knights each, four each with four players. Two of the four royal
figures are silver and two are bronze, the King among them. The table top turns with the King, so the value of a seat
depends on how many seats it lies behind him: 10 directly behind, then 8 7 6 5 4 3 2 1, then -1 and so on down to -15;
the last three seats, which are directly in front of him, are worth 0.

**Placing.** Before the first turn players put their knights on free seats, one at a time, counter-clockwise; the start
player is the last in each round.

**Turns.** Clockwise from the start player. Play one card of your hand (two in the advanced game), one after the other,
then draw as many from your own piles, one after the other. You choose the pile each time: knight, king or, in the
advanced game, scoring cards. You must draw while any of your piles has cards. All players have the same cards. The
fronts of the cards in your hand are hidden from the others, and the order of a pile is hidden from all.

**Moving.** A card moves one figure; taken seats count as steps. You score the value of the seat that the figure leaves,
as it was before the move, also if it is negative; for the King you score 0. A figure that is landed on goes to the next
free seat counter-clockwise of its own; that scores nothing, and your own knights can be pushed, too. Whenever the
King moves, is pushed, or another figure becomes King, the table top turns at once, and all values with it.

**Knight cards** move one of your own knights forward by one of the numbers in their names: `k1-4` by 1 to 4 seats,
`k2-5`, `k3-6`, `k4-7`, `k5-7`, `k6-8` and `k7-9` in the same way. `k1-5b` moves it 1 to 5 seats forward or backward.

**King cards** move a prince or the King: `any4-8` any of them 4 to 8 seats forward, `any1-5b` any of them 1 to 5 seats
forward or backward, `silver1-7` a silver one and `bronze1-7` a bronze one 1 to 7 seats forward. Ring cards
(`ring-silver`, `ring-bronze`, and twice `ring-any`) give a ring to a prince of that colour. You score the value of the
seat where that prince sits. The King has three rings, each prince begins with one; a prince who gets the third ring
becomes King, and the old King is a prince with one ring from then on.

**Scoring cards**, in the advanced game only, score your knights where they sit. `all`: the sum of their values.
`reversed`: minus that sum. `colors`: one knight on a positive seat, one on a zero and one on a negative seat, else -15.
`carpet`: two knights on the carpet (the fixed seats 0, 1, 2, 14, 15 and 16), else -25. `reds`: three knights on
negative seats, else -50. `choice`: move one of your knights, any prince or the King 1 to 3 seats forward, or give a
ring to any prince, or score your best knight. Where the condition holds you must score, even if the penalty would cost
less; the best knights that fit are taken.

**End.** When all hands have been played: after 16 rounds, 11 in the advanced game.

**Actions.** One action is one decision: place a knight, play a card with all its choices, or draw from a pile. So a
player often acts several times in a row. The action mask has a 1 for each legal action.
"""

from __future__ import annotations

from typing import Any

from artus_env.default import Game
from artus_env.engine.envs.aec import GameAEC


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
    * `reward`: `"win"`, `"margin"` or `"prestige"`, which is also called `"points"`
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
