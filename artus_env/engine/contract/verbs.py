"""Verbs: functions that all games have under the same names, such as `play(t, g, action)`.

`t` is the record of a game's tables, `g` the record of one game. The type of the tables determines the game whose verb
is called (see `compiling.dispatch`). A game registers its functions with `register`, which its `Definition` calls.

A state record has the fields `player` (the player to move), `num_players`, `rule_set` (number of the rule set) and
`scores`, one for each possible seat. Small fields are converted with `int()` before arithmetic, as in all compiled code
here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from artus_env.engine.compiling import dispatch
from artus_env.engine.compiling.dispatch import verb, verbs_among
from artus_env.engine.compiling.jit import jit


def register(game: str, tables: np.dtype, sources: Iterable[Any], num_words: int) -> None:
    """Register a game's verbs.

    Args:
        game: Name of the game.
        tables: The type of its tables, different from all other games' because of a field named after the game.
        sources: Objects or modules with functions named like verbs; if several have a verb, the first one counts.
        num_words: The value of the verb `mask_words`.

    Raises:
        ValueError: If a verb is missing, or another game with other verbs has tables of this type.
    """
    functions = verbs_among(sources)
    missing = [name for name, function in functions.items() if function is None]
    if missing:
        raise ValueError(
            f"{game} lacks {', '.join(missing)}: every game needs them (see artus_env.engine.contract.verbs)"
        )
    functions["mask_words"] = _literal("mask_words", num_words)
    if functions["public_action"] is not dispatch.DEFAULTS["public_action"]:
        functions["has_secrets"] = _always_true
    dispatch.register(game, tables, {name: function for name, function in functions.items() if function is not None})


def _literal(name: str, number: int) -> Any:
    """Return a verb that returns a number known to the compiler. Its name distinguishes it from others: compiled code
    is saved and linked by name."""

    def literal(t: Any) -> int:
        return number

    literal.__name__ = literal.__qualname__ = f"{name}_{number}"
    return jit(literal)


# --- verbs that every game must have ------------------------------------------------------------------------------


@verb(required=True)
def deal(t, g, seed, start_player, num_players, rule_set):
    """Set up a new game: all of `g` is written. A start player of -1 is drawn."""


@verb(required=True)
def legal(t, g, words):
    """Write the legal actions of the player to move as bits: shape (mask_words,), uint64; all zero after the end."""


@verb(required=True)
def play(t, g, action):
    """Play a legal action of the player to move. Returns the points earned at once."""


@verb(required=True)
def is_over(t, g):
    """Whether the game has ended."""


@verb(required=True)
def observe(t, g, viewer, out):
    """Write the observation of `viewer`: shape (F,), int8."""


@verb(required=True)
def resample_hidden(t, g, viewer, seed):
    """Resample everything that is hidden from `viewer`, uniformly among the deals that fit what they know; the same for
    the same seed, whatever the true state is."""


# --- verbs with a default -------------------------------------------------------------------------------------------


@verb(required=False)
def mask_words(t):
    """Number of 64-bit words in a set of actions: a literal, the same for all components. No game defines it; it
    follows from the number of actions."""
    return 1


@verb(required=False)
def points_of(t, g, action):
    """Points that `play` would return, as far as the player to move can know them; nothing is played. Default: 0."""
    return 0


@verb(required=False)
def hide(t, g, viewer):
    """Remove everything that is hidden from `viewer`. Default: replace it by something that looks the same to them and
    doesn't depend on the true state."""
    resample_hidden(t, g, viewer, 0)


@verb(required=False)
def public_action(t, g, action, viewer):
    """Action id that `viewer` sees for an action of the player to move: actions that look the same to them have the
    same id. It need not be legal: the set of legal actions may be hidden as well. Default: the action itself."""
    return action


@verb(required=False)
def has_secrets(t):
    """Whether choices can be secret: a literal. No game defines it; it is true if the game has a `public_action`."""
    return False


@jit
def _always_true(t):
    return True


@verb(required=False)
def is_revealed(t, g, action, viewer, now):
    """Whether the action taken in `g` has been revealed to `viewer` by the state `now`; asked only about actions that
    they didn't see. Default: never."""
    return False


def is_seen(t: Any, g: Any, action: int, viewer: int, num_actions: int, now: Any = None) -> bool:
    """Whether `viewer` sees which action the player to move takes: no other action looks the same to them.

    A `public_action` equal to the action isn't enough: it may be the id for all hidden actions.

    Args:
        now: A later state of the game; actions revealed by then count as seen, too.
    """
    if now is not None and is_revealed(t, g, action, viewer, now):
        return True
    public_id = public_action(t, g, action, viewer)
    return all(other == action or public_action(t, g, other, viewer) != public_id for other in range(num_actions))


@verb(required=False)
def ranking_key(t, g, player):
    """Value that ranks the players of a finished game: the highest wins, players with equal values share. Default: the
    score."""
    return int(g["scores"][player])


@verb(required=False)
def margin_scale(t, g):
    """Points for a margin of 1, as a float; may depend on the number of players, but on nothing else of the game.
    Default: 1."""
    return 1.0


@verb(required=False)
def evaluate(t, g, player, weight):
    """Value of a position for a player, in points; `weight` is the weight of their holdings. Default: their lead in
    score over the mean of the others."""
    players = int(g["num_players"])
    own_score = 0.0
    other_scores = 0.0
    for other in range(players):
        points = float(int(g["scores"][other]))
        if other == player:
            own_score = points
        else:
            other_scores += points
    return own_score - other_scores / (players - 1)


@verb(required=False)
def greedy_value(t, g, action):
    """Points that a greedy player expects a legal action to earn at once. Default: `points_of`."""
    return points_of(t, g, action)


@verb(required=False)
def default_action(t, g, key):
    """An action that is good enough to play without a search, or -1; the random bits `key` break ties. Default: -1."""
    return -1


@verb(required=False)
def num_action_features(t):
    """Number of features that `action_features` writes for an action: a literal. Default: 0."""
    return 0


@verb(required=False)
def action_features(t, g, words, scratch, out):
    """Write features of each legal action for a policy, in addition to the observation: shape (A, num_action_features),
    int8; other rows stay unchanged.

    Args:
        words: The legal actions, see `legal`.
        scratch: Memory for two games: shape (2,), the state dtype.
    """


@verb(required=False)
def score_stddev(t, g):
    """Approximate standard deviation of the further change of a player's lead, in points. Default: `margin_scale`."""
    return margin_scale(t, g)


@verb(required=False)
def perfect_information_horizon(t, g):
    """Largest possible number of remaining decisions, if all players know everything and nothing is random any more:
    then `points_of` is exact, and the scores decide. Else -1. Called only before the end of the game; hidden parts of
    the state aren't read, so they may have been removed. Default: -1."""
    return -1
