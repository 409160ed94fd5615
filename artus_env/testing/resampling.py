"""`check_resampling`: check that `resample_hidden` draws hidden information with the probabilities of the rules.

This is an exact test. Take any state S, a player, and T = resample_hidden(S). Play in T what the player saw happen in
S; drop T if that isn't legal there. If resampling is uniform before the action, then the remaining states S' are
uniform among all states that fit the player's knowledge after it. So is R = resample_hidden(S'). Both look the same to
the player, so S' and R are exchangeable: any measured number is greater in S' as often as in R. The same holds for a
fresh deal S' = S. The check counts this for each bit of the state, each feature of each player's observation, and
products of bits. Each count has an exact binomial distribution.

The same method finds a truth that is drawn too often: S', R and a second R' = resample_hidden(S') are exchangeable, so
R must not be more similar to S' than to R'.

Two conventions. A secret choice counts as drawn uniformly from the legal ones that look the same; pairs in which an
action reveals an earlier secret choice are left out, and only their consistency is checked. Equal states must have
equal bytes: a hand is a set of bits or sorted, for example.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.testing.statistics import SignTest, sum_of, worst
from artus_env.testing.variants import Variant, expect, fail, run, variants_of
from artus_env.testing.walk import MOST_AT_ONCE, Walk, as_bits, as_bytes

STATES = 20_000
"""Default number of states per game."""
ERROR_RATE = 1e-6
MOST_DROPPED = 10
"""Maximum number of visited states, as a multiple of those needed, since some must be left out."""
PRODUCTS = 500
"""Number of pairs of bits whose products are compared."""
MOST_READ = 20
"""Number of states in each round that are written as plain data and read again."""
ENOUGH_STATES = 200
"""A part of a position that is hidden in this many states must change in at least one. (In some variants a hidden part
follows from what the player knows, such as the other hand with two players; then it does so for every seat.)"""
GUESSES = ("players guessed right", "likeness")
"""Names of the tests that find a truth that is drawn too often."""


class Resampled(NamedTuple):
    """Result of `check_resampling` without a finding."""

    states: int
    comparisons: int
    """Number of tests in which anything differed."""
    smallest_p: float
    """Smallest p-value, multiplied by the number of tests."""


def check_resampling(
    game: str | Definition,
    *,
    states: int = STATES,
    error_rate: float = ERROR_RATE,
    seed: int = 1,
    plain: Collection[str] = (),
) -> Resampled:
    """Check that `resample_hidden` is consistent, independent of the truth and uniform, in all variants of a game.

    - Consistent: the player has the same observation and legal actions as before, and `hide` gives the same state; the
      state can be written as plain data and read again.
    - Independent: two states that look the same to a player become the same state with the same seed.
    - Complete: each part of a position that `to_dict(player)` changes or leaves out changes in some state. In each
      variant, a part that is resampled for one seat and one player is resampled for every seat and every player who
      doesn't know it.
    - Uniform, and not more similar to the truth than to another draw, by sign tests (see the module's docstring): in
      each variant, and in all of them together.

    Args:
        game: Name or definition of the game; only its standard box is checked.
        states: Number of states to resample, spread over all variants and the length of games. Half of them are fresh
            deals.
        error_rate: Maximum probability that a uniform `resample_hidden` is reported, for all tests together
            (Bonferroni). 20,000 states are enough to find a card that is drawn in 30 % of all states instead of 25 %.
        seed: Seed of all random numbers; the same seed gives the same result.
        plain: Names of verbs that are plain Python; loops that call them aren't compiled.

    Raises:
        AssertionError: Names variant, seed, player and finding, with positions as JSON.
    """
    variants = variants_of(game)
    share = max(1, states // len(variants))

    def resample_hidden(variant: Variant, seed: int) -> _Check:
        check = _Check(Walk(variant, seed, plain), share)
        check.run()
        return check

    checks = [run(resample_hidden, variant, seed) for variant in variants]
    tests = {(str(check.walk.variant), *key): test for check in checks for key, test in check.tests.items()}
    everywhere = f"{variants[0].game}, all variants"
    for key in {key for check in checks for key, _, _ in check.hidden_counts}:
        counts = [count for check in checks for (name, _, _), count in check.hidden_counts.items() if name == key]
        times_hidden, times_changed = np.sum(counts, axis=0)
        expect(
            times_changed or times_hidden < ENOUGH_STATES,
            f"{everywhere}, seed {seed}: `{key}` of a position is hidden from players, but never resampled",
        )
        for check in checks:
            check.expect_every_seat(key, seed)
    for reached, name in checks[0].tests:
        if name == "products of bits":  # each variant has others
            continue
        tests[everywhere, reached, name] = sum_of([check.tests[reached, name] for check in checks])
    p, (where, reached, name), index, first_greater, second_greater = worst(tests)
    if name == "bits of the state":
        name = f"bit {index[0] % 8} of byte {index[0] // 8} of the state, in the field {field_at(game, index[0] // 8)}"
    elif name == "features":
        name = f"feature {index[1]} of the player in place {index[0]} after the one who knows the state"
    if p < error_rate and name in GUESSES:
        fail(
            f"{where}, seed {seed}: states {reached} are resampled as they are too often: of two resampled ones the "
            f"first is more like the truth {first_greater} times, more like the other one {second_greater} times "
            f"({name}; p < {p:.1g})"
        )
    if p < error_rate:
        fail(
            f"{where}, seed {seed}: states {reached} aren't resampled uniformly: {name} is greater {first_greater} "
            f"times before, {second_greater} times afterwards (p < {p:.1g})"
        )
    return Resampled(sum(check.resampled for check in checks), sum(test.tests for test in tests.values()), p)


class _Check:
    """Checks of one variant."""

    def __init__(self, walk: Walk, states: int) -> None:
        self.walk, self.states, self.resampled = walk, states, 0
        self.tests = {
            (reached, name): SignTest(one_sided=name in GUESSES)
            for reached in ("after the deal", "after an action")
            for name in ("bits of the state", "features", "products of bits", *GUESSES)
        }
        self.products: dict[str, np.ndarray] = {}
        self.hidden_counts: dict[tuple[str, int, int], list[int]] = {}
        """Key of a position, seat (-1: none), player -> numbers of states in which this part of the position was hidden
        from that player, and in which resampling changed it."""

    def run(self) -> None:
        walk, players = self.walk, self.walk.variant.num_players
        remaining = self.states // 2
        while remaining > 0:
            count = min(remaining, MOST_AT_ONCE)
            self.compare("after the deal", walk.deals(count), walk.random_numbers(count, players))
            remaining -= count
        num_wanted, num_visited = self.states - self.states // 2, 0
        for decisions in walk.rounds(num_wanted):
            if self.resampled >= self.states or num_visited >= MOST_DROPPED * num_wanted:
                break
            num_visited += len(decisions.before)
            copies, played_actions = walk.played_alike(decisions, walk.resampled(decisions.before, decisions.viewers))
            is_to_move = decisions.before["player"] == decisions.viewers
            is_unplayable = (played_actions < 0) & (decisions.actions >= 0) & is_to_move
            if is_unplayable.any():
                what = "can't play an action that was legal for them"
                self.fail(what, decisions.before, decisions.viewers, is_unplayable)
            is_kept = (played_actions >= 0) & ~decisions.reveals_secret
            self.compare("after an action", copies[is_kept], decisions.viewers[is_kept])

    def compare(self, reached: str, truths: np.ndarray, viewers: np.ndarray) -> None:
        """Resample states that were reached by the rules, and add the pairs to the tests.

        Args:
            reached: "after the deal" or "after an action".
            truths: The states: shape (N,).
            viewers: The players whose knowledge counts: shape (N,).
        """
        if not len(truths):
            return
        walk = self.walk
        drawn_states, other_draws = walk.resampled(truths, viewers), walk.resampled(truths, viewers)
        self.resampled += len(truths)
        true_views, drawn_views, other_views = (
            walk.all_observations(states, viewers) for states in (truths, drawn_states, other_draws)
        )
        self.check_view(truths, drawn_states, viewers, true_views[:, 0], drawn_views[:, 0])
        self.check_seeds(truths, drawn_states, viewers)
        self.check_positions(drawn_states[:MOST_READ])
        num_noted = ENOUGH_STATES * 2 * walk.variant.num_players if self.resampled == len(truths) else MOST_READ
        self.note_hidden(truths[:num_noted], drawn_states[:num_noted], viewers[:num_noted])
        bits = [as_bits(states) for states in (truths, drawn_states, other_draws)]
        self.tests[reached, "bits of the state"].add(bits[0], bits[1])
        self.tests[reached, "features"].add(true_views, drawn_views)
        self.add_products(reached, bits[0], bits[1])
        guessed_right = [(views == drawn_views).all(axis=2) for views in (true_views, other_views)]
        self.tests[reached, "players guessed right"].add(*guessed_right)
        self.tests[reached, "likeness"].add(*((state_bits == bits[1]).sum(axis=1) for state_bits in (bits[0], bits[2])))

    def add_products(self, reached: str, true_bits: np.ndarray, drawn_bits: np.ndarray) -> None:
        """Count products of random pairs of bits, chosen from those that differed in the first states reached so."""
        if reached not in self.products:
            varying = np.flatnonzero((true_bits != drawn_bits).any(axis=0))
            if len(varying) < 2:
                return
            self.products[reached] = varying[self.walk.random_numbers(2 * PRODUCTS, len(varying))].reshape(2, -1)
        left_bits, right_bits = self.products[reached]
        products = [bits[:, left_bits] & bits[:, right_bits] for bits in (true_bits, drawn_bits)]
        self.tests[reached, "products of bits"].add(*products)

    def check_view(
        self,
        truths: np.ndarray,
        drawn_states: np.ndarray,
        viewers: np.ndarray,
        true_views: np.ndarray,
        drawn_views: np.ndarray,
    ) -> None:
        """Check that the player sees the same as before and has the same legal actions."""
        walk = self.walk
        for name in ("player", "num_players", "rule_set", "scores"):
            self.expect_equal(f"another {name}", truths[name], drawn_states[name], viewers, truths, drawn_states)
        self.expect_equal("another observation", true_views, drawn_views, viewers, truths, drawn_states)
        rest_of_truths, rest_of_draws = (walk.without_hidden(states, viewers) for states in (truths, drawn_states))
        self.expect_equal("what `hide` leaves", rest_of_truths, rest_of_draws, viewers, truths, drawn_states)
        self.expect_equal("another end", walk.over(truths), walk.over(drawn_states), viewers, truths, drawn_states)
        is_to_move = (truths["player"] == viewers)[:, None]
        legal_before, legal_after = (walk.legal(states) * is_to_move for states in (truths, drawn_states))
        self.expect_equal("other legal actions", legal_before, legal_after, viewers, truths, drawn_states)

    def expect_equal(
        self,
        what: str,
        true_values: np.ndarray,
        drawn_values: np.ndarray,
        viewers: np.ndarray,
        truths: np.ndarray,
        drawn_states: np.ndarray,
    ) -> None:
        is_different = (true_values != drawn_values).reshape(len(true_values), -1).any(axis=1)
        if is_different.any():
            self.fail(
                f"sees a difference between a state and itself resampled: {what}",
                truths,
                viewers,
                is_different,
                drawn_states,
            )

    def fail(
        self, what: str, states: np.ndarray, viewers: np.ndarray, is_failing: np.ndarray, *other_states: np.ndarray
    ) -> None:
        i = int(np.flatnonzero(is_failing)[0])
        positions = self.walk.positions_text(states[i], *(more_states[i] for more_states in other_states))
        fail(f"player {viewers[i]} {what}{positions}")

    def check_seeds(self, truths: np.ndarray, drawn_states: np.ndarray, viewers: np.ndarray) -> None:
        """Check that a state and its resampled copy become the same state with the same seed."""
        walk, seeds = self.walk, self.walk.seeds(len(truths))
        from_truths, from_draws = walk.resampled(truths, viewers, seeds), walk.resampled(drawn_states, viewers, seeds)
        differing_games = np.flatnonzero((as_bytes(from_truths) != as_bytes(from_draws)).any(axis=1))
        to_dict, components = walk.definition.to_dict, walk.components
        for i in differing_games[:MOST_READ]:  # equal positions may have different records
            if to_dict(from_truths[i], components, None) != to_dict(from_draws[i], components, None):
                fail(
                    f"player {viewers[i]}: states that look the same are resampled differently with seed {seeds[i]}, "
                    f"the truth shows{walk.positions_text(truths[i], drawn_states[i], from_truths[i], from_draws[i])}"
                )

    def check_positions(self, drawn_states: np.ndarray) -> None:
        """Check that a resampled state can be written as a position and read again."""
        definition, components = self.walk.definition, self.walk.components
        for state in drawn_states:
            position = definition.to_dict(state, components, None)
            try:
                states_read = definition.from_dict(position, components)
            except ValueError as error:
                fail(f"a resampled state is no position: {error}{self.walk.positions_text(state)}")
            expect(
                definition.to_dict(states_read[0], components, None) == position, "a position is read as another one"
            )

    def note_hidden(self, truths: np.ndarray, drawn_states: np.ndarray, viewers: np.ndarray) -> None:
        """Count which parts of positions are hidden, and which of these have changed."""
        to_dict, components, players = self.walk.definition.to_dict, self.walk.components, self.walk.variant.num_players
        for truth, state, viewer in zip(truths, drawn_states, viewers.tolist(), strict=True):
            known_position: dict[str, Any] = to_dict(truth, components, viewer)
            drawn_position = to_dict(state, components, None)
            for key, true_value in to_dict(truth, components, None).items():
                known_value: Any = known_position.get(key)
                by_seat = all(isinstance(data, list) and len(data) == players for data in (true_value, known_value))
                for seat in range(players) if by_seat else (-1,):
                    values = true_value, known_value, drawn_position[key]
                    true_part, known_part, drawn_part = (value[seat] for value in values) if by_seat else values
                    if true_part != known_part:
                        counts = self.hidden_counts.setdefault((key, seat, viewer), [0, 0])
                        counts[0] += 1
                        counts[1] += true_part != drawn_part

    def expect_every_seat(self, key: str, seed: int) -> None:
        """Check that a part that is resampled for one seat and one player is resampled for all of them."""
        counts = {(seat, viewer): count for (name, seat, viewer), count in self.hidden_counts.items() if name == key}
        if any(times_changed for _, times_changed in counts.values()):
            for (seat, viewer), (times_hidden, times_changed) in counts.items():
                owner = f" of player {seat}" if seat >= 0 else ""
                expect(
                    times_changed or times_hidden < ENOUGH_STATES,
                    f"{self.walk.variant}, seed {seed}: `{key}`{owner} is hidden from player {viewer}, "
                    "but never resampled",
                )


def field_at(game: str | Definition, byte: int) -> str:
    """Field of the state record that contains a byte."""
    dtype = find_game(game).state_dtype
    offsets = {name: dtype.fields[name][1] for name in dtype.names or ()} if dtype.fields else {}
    return max((name for name in offsets if offsets[name] <= byte), key=lambda name: offsets[name])
