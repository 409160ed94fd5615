"""States for the checks of hidden information: random games, and states that look the same to one player."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import count as count_from
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from artus_env.engine.compiling import dispatch
from artus_env.engine.contract import verbs
from artus_env.engine.contract.rng import seed_stream
from artus_env.testing import loops
from artus_env.testing.variants import MANY, Variant, fail

MOST_AT_ONCE = 2048
"""Maximum number of games played in parallel."""
GAMES_TO_MEASURE = 16
"""Number of games played first to measure their length."""


class Round(NamedTuple):
    """One random decision in each of N games."""

    before: np.ndarray  # the true states
    legal: np.ndarray  # legal actions there: shape (N, words), uint64
    actions: np.ndarray  # shape (N,), int64; -1: the game is over
    after: np.ndarray  # the true states afterwards
    viewers: np.ndarray  # a player of each game, drawn at random: shape (N,), int64
    reveals_secret: np.ndarray  # whether the action has revealed an earlier secret choice: shape (N,), bool


class Walk:
    """Loops over states of one variant, each with its own random numbers.

    Args:
        plain: Names of verbs that are plain Python; loops that call them aren't compiled.
    """

    def __init__(self, variant: Variant, seed: int, plain: Collection[str] = ()) -> None:
        self.variant = variant
        self.definition = variant.definition
        self.components = self.definition.standard
        self.tables = self.definition.build_tables(self.components)
        self.num_actions = len(self.definition.action_table(self.components))
        self.num_features = len(self.definition.observation_bounds(self.components)[0])
        self._rule_set = self.definition.rules.index(variant.rules)
        # Each variant has its own random numbers, so that findings in several of them are independent.
        self._seed, self._num_draws = int(seed_stream(seed, 1, crc32(str(variant).encode()))[0]), 0
        self._plain = frozenset(plain)

    def run(self, loop: Any, *arguments: Any) -> None:
        """Run one of the loops over this game's tables."""
        function = getattr(loop, "py_func", loop)  # the loop itself if nothing is compiled
        (loop if self._plain.isdisjoint(function.__code__.co_names) else function)(self.tables, *arguments)

    def seeds(self, count: int) -> np.ndarray:
        """Fresh random numbers: shape (count,), uint64."""
        self._num_draws += 1
        return seed_stream(self._seed, count, self._num_draws)

    def random_numbers(self, count: int, bound: int) -> np.ndarray:
        """Fresh random numbers in 0..bound-1: shape (count,), int64."""
        return (self.seeds(count) % np.uint64(bound)).astype(np.int64)

    # --- one verb each; states stay as they are ---

    def deals(self, count: int) -> np.ndarray:
        """Fresh deals."""
        states = np.zeros(count, self.definition.state_dtype)
        self._deal(states, np.arange(count))
        return states

    def resampled(self, states: np.ndarray, viewers: np.ndarray, seeds: np.ndarray | None = None) -> np.ndarray:
        """Copies of states with everything hidden from the viewers resampled."""
        copies = states.copy()
        self.run(loops.resample, copies, viewers, self.seeds(len(states)) if seeds is None else seeds)
        return copies

    def without_hidden(self, states: np.ndarray, viewers: np.ndarray) -> np.ndarray:
        """Copies of states without what the viewers don't know, as bytes: shape (N, bytes)."""
        copies = states.copy()
        self.run(loops.hide, copies, viewers)
        return as_bytes(copies)

    def observations(self, states: np.ndarray, viewers: np.ndarray) -> np.ndarray:
        """Observations of the viewers: shape (N, F), int8."""
        out = np.zeros((len(states), self.num_features), np.int8)
        self.run(loops.observe, states, viewers, out)
        return out

    def all_observations(self, states: np.ndarray, viewers: np.ndarray) -> np.ndarray:
        """Observations of all players, in turn order from the viewer on: shape (N, players, F), int8."""
        players = self.variant.num_players
        return np.stack([self.observations(states, (viewers + seat) % players) for seat in range(players)], axis=1)

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Legal actions as bits: shape (N, words), uint64."""
        return self._choices(states, self.seeds(len(states)))[0]

    def over(self, states: np.ndarray) -> np.ndarray:
        """Which games are over: shape (N,), bool."""
        out = np.zeros(len(states), np.bool_)
        self.run(loops.over, states, out)
        return out

    def ranks(self, states: np.ndarray) -> np.ndarray:
        """Ranking keys of the players: shape (N, players), int64."""
        out = np.zeros((len(states), self.variant.num_players), np.int64)
        self.run(loops.ranks, states, out)
        return out

    def played(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Copies of states after one legal action each."""
        copies = states.copy()
        self.run(loops.play, copies, actions)
        return copies

    def played_alike(self, decisions: Round, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Copies of states after an action that the viewer can't tell from the true one (see `loops.play_alike`), and
        these actions: shape (N,), int64; -1 where there is none."""
        copies, played_actions, count = states.copy(), np.zeros(len(states), np.int64), len(states)
        legal = np.zeros((count, self.definition.mask_words), np.uint64)
        self.run(
            loops.play_alike,
            decisions.before,
            decisions.actions,
            decisions.after,
            copies,
            decisions.viewers,
            self.seeds(count),
            legal,
            played_actions,
        )
        return copies, played_actions

    # --- games at random ---

    def rounds(self, states: int) -> Iterator[Round]:
        """Play random games for about this many states; finished games are dealt again.

        The first states are spread over the length of a game.
        """
        length = self._longest_length()
        count = max(1, min(MOST_AT_ONCE, states // 8))
        players = self.variant.num_players
        truths = self.deals(count)
        secrets = np.zeros((count, players), self.definition.state_dtype)
        secret_actions = np.full((count, players), -1)
        reveals_secret = np.zeros((count, players), np.bool_)
        head_starts = np.arange(count) * length // count  # decisions of each game before the first round
        all_games = np.arange(count)
        for round_number in count_from(-length):  # negative rounds only bring the games to their first state
            legal, actions = self._choices(truths, self.seeds(count))
            actions[head_starts < -round_number] = -1  # this game starts later than others
            before, truths = truths, self.played(truths, actions)
            self.run(loops.follow_secrets, before, actions, truths, legal, secrets, secret_actions, reveals_secret)
            if round_number >= 0:
                viewers = self.random_numbers(count, players)
                yield Round(before, legal, actions, truths.copy(), viewers, reveals_secret[all_games, viewers])
            ended_games = np.flatnonzero(self.over(truths))
            secret_actions[ended_games] = -1
            self._deal(truths, ended_games)

    def _longest_length(self) -> int:
        """Number of decisions in the longest of a few random games."""
        states = self.deals(GAMES_TO_MEASURE)
        for length in range(MANY):
            if self.over(states).all():
                return length
            states = self.played(states, self._choices(states, self.seeds(GAMES_TO_MEASURE))[1])
        fail(f"no end after {MANY} moves")

    def _deal(self, states: np.ndarray, which: np.ndarray) -> None:
        self.run(loops.deal, states, which, self.seeds(len(which)), self.variant.num_players, self._rule_set)

    def _choices(self, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Legal actions as bits, shape (N, words), and one of them at random, shape (N,)."""
        legal = np.zeros((len(states), self.definition.mask_words), np.uint64)
        actions = np.zeros(len(states), np.int64)
        self.run(loops.choose, states, keys, legal, actions)
        return legal, actions

    # --- texts for messages ---

    def action_name(self, action: int) -> str:
        """Name of an action in messages."""
        return f"action {action} ({self.definition.action_meaning(action, self.components)})"

    def positions_text(self, *states: Any) -> str:
        """Positions of states (one record each) as JSON for `Game.from_dict`, one per line."""
        return "".join(f"\n{json.dumps(self.definition.to_dict(state, self.components, None))}" for state in states)


def as_bytes(states: np.ndarray) -> np.ndarray:
    """Records as bytes: shape (N, bytes), uint8."""
    return np.ascontiguousarray(states).view(np.uint8).reshape(len(states), -1)


def as_bits(states: np.ndarray) -> np.ndarray:
    """Records as bits: shape (N, bits), bool."""
    return np.unpackbits(as_bytes(states), axis=1, bitorder="little").view(np.bool_)


def has_secrets(walk: Walk) -> bool:
    """Whether the game has a `public_action` of its own."""
    return bool(dispatch.as_python(verbs.has_secrets, walk.tables[0]))
