"""What a game can do, under one name each, for all games: `play(t, g, action)` and so on.

`t` is the record of a game's tables, `g` the record of one game. The type of the tables says whose verb is meant:
compiled code takes that game's function when it is compiled and costs what a direct call would; plain Python looks it
up. A game hands its functions in through `register`, which its `Definition` does.

A state record has the fields `player` (who is to move), `num_players`, `rule_set` (number of the rule set) and
`scores`, one for each seat that a game can have. Small fields go through `int()` before arithmetic, as in all compiled
code here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global

from artus_env.engine.compiling.jit import DISABLED, CompiledGame, jit, register_tables

Verb = Callable[..., Any]

_DEFAULTS: dict[str, Verb | None] = {}  # by name; None: every game must have it
_games: dict[np.dtype, dict[str, Verb]] = {}


def register(game: str, tables: np.dtype, sources: Iterable[Any], num_words: int = 1) -> None:
    """Make a game's verbs known.

    Args:
        game: Its name.
        tables: The type of its tables, which no other game has: a field that is named after the game makes sure.
        sources: Objects or modules with functions that are called like verbs, the first one that has a verb counts.
        num_words: What `mask_words` returns.

    Raises:
        ValueError: If a verb is missing, or another game with other verbs has tables of this type.
    """
    found = {name: _first(name, sources) or default for name, default in _DEFAULTS.items()}
    missing = [name for name, function in found.items() if function is None]
    if missing:
        raise ValueError(
            f"{game} lacks {', '.join(missing)}: every game needs them (see artus_env.engine.contract.verbs)"
        )
    found["mask_words"] = _literal("mask_words", num_words)
    if found["public_action"] is not _DEFAULTS["public_action"]:
        found["has_secrets"] = _yes
    register_tables(tables, CompiledGame(game, tuple(found.values())))
    _games[tables] = {name: function for name, function in found.items() if function is not None}


def _literal(name: str, number: int) -> Verb:
    """A verb that returns a number which compiled code knows. Its name tells it from others: compiled code is kept and
    linked by names."""

    def literal(t: Any) -> int:
        return number

    literal.__name__ = literal.__qualname__ = f"{name}_{number}"
    return jit(literal)


def functions_of(tables: np.dtype) -> tuple[Verb, ...]:
    """All verbs of the game with these tables, defaults among them."""
    return tuple(_games[tables].values())


def _first(name: str, sources: Iterable[Any]) -> Verb | None:
    return next((getattr(source, name) for source in sources if hasattr(source, name)), None)


def _of(tables: np.dtype, name: str) -> Verb:
    verbs = _games.get(tables)
    if verbs is None:
        raise TypeError(f"{name}: no game has tables of type {tables}; a game's tables come from its definition")
    return verbs[name]


def as_python(verb: Verb, t: Any, *rest: Any) -> Any:
    """What a verb returns. It runs as plain Python, so that nothing is compiled for it."""
    function = _of(t.dtype, verb.__name__)
    return getattr(function, "py_func", function)(t, *rest)


def _verb(required: bool) -> Callable[[Verb], Verb]:
    """Make a verb that goes to the game whose tables it is given, in compiled code and in Python.

    Args:
        required: Whether every game has one of its own; the function itself is the default of the others.
    """

    def make(function: Verb) -> Verb:
        name = function.__name__
        _DEFAULTS[name] = None if required else jit(function)

        @wraps(function)
        def verb(t: Any, *rest: Any) -> Any:
            return _of(t.dtype, name)(t, *rest)

        if not DISABLED:
            infer_global(verb, types.Function(_typing_of(verb)))
        return verb

    return make


def _typing_of(verb: Verb) -> type[AbstractTemplate]:
    """How compiled code calls a verb: as the function of the game whose tables it is given."""

    class VerbTemplate(AbstractTemplate):
        key = verb

        def generic(self, args: Any, kws: Any) -> Any:
            chosen: Any = _of(args[0].dtype, verb.__name__)
            self._chosen = types.Dispatcher(chosen)
            return self._chosen.get_call_type(self.context, args, kws)

        def get_impl_key(self, sig: Any) -> Any:
            return self._chosen.get_impl_key(sig)

    return VerbTemplate


# --- what every game has ------------------------------------------------------------------------------------------


@_verb(required=True)
def deal(t, g, seed, start_player, num_players, rule_set):
    """Set a new game up: all of `g` is written. A start player of -1 is drawn."""


@_verb(required=True)
def legal(t, g, words):
    """Write the legal actions of the player to move as bits: shape (mask_words,), uint64; all zero when over."""


@_verb(required=True)
def play(t, g, action):
    """Carry out a legal action of the player to move. Returns the points that it brought them at once."""


@_verb(required=True)
def is_over(t, g):
    """Whether the game has ended."""


@_verb(required=True)
def observe(t, g, viewer, out):
    """Write what `viewer` knows: shape (F,), int8."""


@_verb(required=True)
def resample_hidden(t, g, viewer, seed):
    """Draw all that `viewer` doesn't know anew, uniformly among what fits what they know; the same for the same seed,
    whatever the truth is."""


# --- what has a default ---------------------------------------------------------------------------------------------


@_verb(required=False)
def mask_words(t):
    """Words of 64 bits that a set of actions takes: a literal number, the same for every box. No game writes it; it
    follows from how many actions there are."""
    return 1


@_verb(required=False)
def points_of(t, g, action):
    """Points that `play` would return, as far as the player to move can know them; nothing is played. Default: 0."""
    return 0


@_verb(required=False)
def hide(t, g, viewer):
    """Remove all that `viewer` doesn't know. Default: something they can't tell from it stands in its place, the same
    whatever the truth is."""
    resample_hidden(t, g, viewer, 0)


@_verb(required=False)
def public_action(t, g, action, viewer):
    """What `viewer` sees of an action of the player to move, as an action id: two actions that they can't tell apart
    have the same one. It need not be legal: which actions are legal may be hidden as well. Default: the action
    itself."""
    return action


@_verb(required=False)
def has_secrets(t):
    """Whether choices can be secret: a literal. No game writes it; it is so where there is a `public_action`."""
    return False


@jit
def _yes(t):
    return True


@_verb(required=False)
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


@_verb(required=False)
def ranking_key(t, g, player):
    """What ranks the players of a finished game: most wins, equal numbers share. Default: the score."""
    return int(g["scores"][player])


@_verb(required=False)
def margin_scale(t, g):
    """Points that make a margin of 1, as a float; it may depend on the number of players, on nothing else of the game.
    Default: 1."""
    return 1.0


@_verb(required=False)
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


@_verb(required=False)
def greedy_value(t, g, action):
    """Points that a greedy player takes a legal action to bring at once. Default: `points_of`."""
    return points_of(t, g, action)


@_verb(required=False)
def default_action(t, g, key):
    """An action that is good enough not to be searched for, or -1; ties broken by the random bits `key`. Default:
    -1."""
    return -1


@_verb(required=False)
def num_action_features(t):
    """Numbers that `action_features` tells of an action: a literal number. Default: 0."""
    return 0


@_verb(required=False)
def action_features(t, g, words, scratch, out):
    """Write what a policy is told of each legal action beside the observation: shape (A, num_action_features), int8;
    other rows stay.

    Args:
        words: The legal actions, see `legal`.
        scratch: Room for two games: shape (2,), the state dtype.
    """


@_verb(required=False)
def score_stddev(t, g):
    """By how many points the lead of a player may still change, about (a standard deviation). Default:
    `margin_scale`."""
    return margin_scale(t, g)


@_verb(required=False)
def perfect_information_horizon(t, g):
    """How many decisions are still to come, at most, where everybody knows everything and nothing is left to chance:
    then `points_of` says exactly what an action brings, and the scores decide. Else -1. Asked of positions that aren't
    over; nothing hidden is looked at, so the state may be concealed. Default: -1."""
    return -1
