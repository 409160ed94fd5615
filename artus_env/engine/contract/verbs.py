"""What a game can do, under one name each, for all games: `play(t, g, action)` and so on.

`t` is the record of a game's tables, `g` the record of one game. The type of the tables says whose verb is meant (see
`compiling.dispatch`). A game hands its functions in through `register`, which its `Definition` does.

A state record has the fields `player` (who is to move), `num_players`, `rule_set` (number of the rule set) and
`scores`, one for each seat that a game can have. Small fields go through `int()` before arithmetic, as in all compiled
code here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from artus_env.engine.compiling import dispatch
from artus_env.engine.compiling.dispatch import verb, verbs_among
from artus_env.engine.compiling.jit import jit


def register(game: str, tables: np.dtype, sources: Iterable[Any], num_words: int) -> None:
    """Make a game's verbs known.

    Args:
        game: Its name.
        tables: The type of its tables, which no other game has: a field that is named after the game makes sure.
        sources: Objects or modules with functions that are called like verbs, the first one that has a verb counts.
        num_words: What `mask_words` returns.

    Raises:
        ValueError: If a verb is missing, or another game with other verbs has tables of this type.
    """
    found = verbs_among(sources)
    missing = [name for name, function in found.items() if function is None]
    if missing:
        raise ValueError(
            f"{game} lacks {', '.join(missing)}: every game needs them (see artus_env.engine.contract.verbs)"
        )
    found["mask_words"] = _literal("mask_words", num_words)
    if found["public_action"] is not dispatch.DEFAULTS["public_action"]:
        found["has_secrets"] = _yes
    dispatch.register(game, tables, {name: function for name, function in found.items() if function is not None})


def _literal(name: str, number: int) -> Any:
    """A verb that returns a number which compiled code knows. Its name tells it from others: compiled code is kept and
    linked by names."""

    def literal(t: Any) -> int:
        return number

    literal.__name__ = literal.__qualname__ = f"{name}_{number}"
    return jit(literal)


# --- what every game has ------------------------------------------------------------------------------------------


@verb(required=True)
def deal(t, g, seed, start_player, num_players, rule_set):
    """Set a new game up: all of `g` is written. A start player of -1 is drawn."""


@verb(required=True)
def legal(t, g, words):
    """Write the legal actions of the player to move as bits: shape (mask_words,), uint64; all zero when over."""


@verb(required=True)
def play(t, g, action):
    """Carry out a legal action of the player to move. Returns the points that it brought them at once."""


@verb(required=True)
def is_over(t, g):
    """Whether the game has ended."""


@verb(required=True)
def observe(t, g, viewer, out):
    """Write what `viewer` knows: shape (F,), int8."""


@verb(required=True)
def resample_hidden(t, g, viewer, seed):
    """Draw all that `viewer` doesn't know anew, uniformly among what fits what they know; the same for the same seed,
    whatever the truth is."""


# --- what has a default ---------------------------------------------------------------------------------------------


@verb(required=False)
def mask_words(t):
    """Words of 64 bits that a set of actions takes: a literal number, the same for every box. No game writes it; it
    follows from how many actions there are."""
    return 1


@verb(required=False)
def points_of(t, g, action):
    """Points that `play` would return, as far as the player to move can know them; nothing is played. Default: 0."""
    return 0


@verb(required=False)
def hide(t, g, viewer):
    """Remove all that `viewer` doesn't know. Default: something they can't tell from it stands in its place, the same
    whatever the truth is."""
    resample_hidden(t, g, viewer, 0)


@verb(required=False)
def public_action(t, g, action, viewer):
    """What `viewer` sees of an action of the player to move, as an action id: two actions that they can't tell apart
    have the same one. It need not be legal: which actions are legal may be hidden as well. Default: the action
    itself."""
    return action


@verb(required=False)
def has_secrets(t):
    """Whether choices can be secret: a literal. No game writes it; it is so where there is a `public_action`."""
    return False


@jit
def _yes(t):
    return True


@verb(required=False)
def is_revealed(t, g, action, viewer, now):
    """Whether `viewer` has been shown the action that was taken in `g` when the game has come to the state `now`; asked
    about actions that they didn't see. Default: never."""
    return False


def is_seen(t: Any, g: Any, action: int, viewer: int, num_actions: int, now: Any = None) -> bool:
    """Whether `viewer` sees which action the player to move takes: no other one looks the same to them.

    That `public_action` returns the action itself doesn't say so: it may be the one that stands for all hidden ones.

    Args:
        now: A state to which the game has come since; what has been opened up to there is seen, too.
    """
    if now is not None and is_revealed(t, g, action, viewer, now):
        return True
    seen = public_action(t, g, action, viewer)
    return all(other == action or public_action(t, g, other, viewer) != seen for other in range(num_actions))


@verb(required=False)
def ranking_key(t, g, player):
    """What ranks the players of a finished game: most wins, equal numbers share. Default: the score."""
    return int(g["scores"][player])


@verb(required=False)
def margin_scale(t, g):
    """Points that make a margin of 1, as a float; it may depend on the number of players, on nothing else of the game.
    Default: 1."""
    return 1.0


@verb(required=False)
def evaluate(t, g, player, weight):
    """How good a position is for a player, in points; what they hold counts at `weight`. Default: their lead in score
    over the mean of the others."""
    players = int(g["num_players"])
    own = 0.0
    others = 0.0
    for other in range(players):
        points = float(int(g["scores"][other]))
        if other == player:
            own = points
        else:
            others += points
    return own - others / (players - 1)


@verb(required=False)
def greedy_value(t, g, action):
    """Points that a greedy player takes a legal action to bring at once. Default: `points_of`."""
    return points_of(t, g, action)


@verb(required=False)
def default_action(t, g, key):
    """An action that is good enough not to be searched for, or -1; ties broken by the random bits `key`. Default:
    -1."""
    return -1


@verb(required=False)
def num_action_features(t):
    """Numbers that `action_features` tells of an action: a literal number. Default: 0."""
    return 0


@verb(required=False)
def action_features(t, g, words, scratch, out):
    """Write what a policy is told of each legal action beside the observation: shape (A, num_action_features), int8;
    other rows stay.

    Args:
        words: The legal actions, see `legal`.
        scratch: Room for two games: shape (2,), the state dtype.
    """


@verb(required=False)
def score_stddev(t, g):
    """By how many points the lead of a player may still change, about (a standard deviation). Default:
    `margin_scale`."""
    return margin_scale(t, g)


@verb(required=False)
def perfect_information_horizon(t, g):
    """How many decisions are still to come, at most, where everybody knows everything and nothing is left to chance:
    then `points_of` says exactly what an action brings, and the scores decide. Else -1. Asked of positions that aren't
    over; nothing hidden is looked at, so the state may be concealed. Default: -1."""
    return -1
