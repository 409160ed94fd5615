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
READ = 20
"""Number of states in each round that are written as plain data and read again."""
ENOUGH = 200
"""A part of a position that is hidden in this many states must change in at least one. (In some variants it follows
from the rest, such as the other hand with two players; then it does so for every seat.)"""
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
    for key in {key for check in checks for key, _, _ in check.hidden}:
        notes = [note for check in checks for (name, _, _), note in check.hidden.items() if name == key]
        times, changed = np.sum(notes, axis=0)
        expect(
            changed or times < ENOUGH,
            f"{everywhere}, seed {seed}: `{key}` of a position is hidden from players, but never resampled",
        )
        for check in checks:
            check.expect_every_seat(key, seed)
    for kind, name in checks[0].tests:
        if name == "products of bits":  # each variant has others
            continue
        tests[everywhere, kind, name] = sum_of([check.tests[kind, name] for check in checks])
    p, (where, kind, name), place, more, less = worst(tests)
    if name == "bits of the state":
        name = f"bit {place[0] % 8} of byte {place[0] // 8} of the state, in the field {field_at(game, place[0] // 8)}"
    elif name == "features":
        name = f"feature {place[1]} of the player in place {place[0]} after the one who knows the state"
    if p < error_rate and name in GUESSES:
        fail(
            f"{where}, seed {seed}: states {kind} are resampled as they are too often: of two resampled ones the first "
            f"is more like the truth {more} times, more like the other one {less} times ({name}; p < {p:.1g})"
        )
    if p < error_rate:
        fail(
            f"{where}, seed {seed}: states {kind} aren't resampled uniformly: {name} is greater {more} times before, "
            f"{less} times afterwards (p < {p:.1g})"
        )
    return Resampled(sum(check.resampled for check in checks), sum(test.tests for test in tests.values()), p)


class _Check:
    """Checks of one variant."""

    def __init__(self, walk: Walk, states: int) -> None:
        self.walk, self.states, self.resampled = walk, states, 0
        self.tests = {
            (kind, name): SignTest(one_sided=name in GUESSES)
            for kind in ("after the deal", "after an action")
            for name in ("bits of the state", "features", "products of bits", *GUESSES)
        }
        self.products: dict[str, np.ndarray] = {}
        self.hidden: dict[tuple[str, int, int], list[int]] = {}
        """Two counts, hidden and changed, by key of a position, seat (-1: none) and player from whom it was hidden."""

    def run(self) -> None:
        walk, players = self.walk, self.walk.variant.num_players
        left = self.states // 2
        while left > 0:
            count = min(left, MOST_AT_ONCE)
            self.compare("after the deal", walk.deals(count), walk.numbers(count, players))
            left -= count
        wanted, looked_at = self.states - self.states // 2, 0
        for now in walk.rounds(wanted):
            if self.resampled >= self.states or looked_at >= MOST_DROPPED * wanted:
                break
            looked_at += len(now.before)
            others, played = walk.played_alike(now, walk.resampled(now.before, now.viewers))
            unplayable = (played < 0) & (now.actions >= 0) & (now.before["player"] == now.viewers)
            if unplayable.any():
                self.fail("can't play an action that was legal for them", now.before, now.viewers, unplayable)
            kept = (played >= 0) & ~now.opened
            self.compare("after an action", others[kept], now.viewers[kept])

    def compare(self, kind: str, truths: np.ndarray, viewers: np.ndarray) -> None:
        """Resample states that were reached by the rules, and add them to the tests."""
        if not len(truths):
            return
        walk = self.walk
        drawn, drawn_too = walk.resampled(truths, viewers), walk.resampled(truths, viewers)
        self.resampled += len(truths)
        first, second, third = (walk.observed_by_all(states, viewers) for states in (truths, drawn, drawn_too))
        self.check_view(truths, drawn, viewers, first[:, 0], second[:, 0])
        self.check_seeds(truths, drawn, viewers)
        self.check_positions(drawn[:READ])
        first_ones = ENOUGH * 2 * walk.variant.num_players if self.resampled == len(truths) else READ
        self.note_hidden(truths[:first_ones], drawn[:first_ones], viewers[:first_ones])
        bits = [as_bits(states) for states in (truths, drawn, drawn_too)]
        self.tests[kind, "bits of the state"].add(bits[0], bits[1])
        self.tests[kind, "features"].add(first, second)
        self.add_products(kind, bits[0], bits[1])
        guesses = [(seen == second).all(axis=2) for seen in (first, third)]
        self.tests[kind, "players guessed right"].add(*guesses)
        self.tests[kind, "likeness"].add(*((some == bits[1]).sum(axis=1) for some in (bits[0], bits[2])))

    def add_products(self, kind: str, first: np.ndarray, second: np.ndarray) -> None:
        """Count products of random pairs of those bits that differed in the first states of this kind."""
        if kind not in self.products:
            varying = np.flatnonzero((first != second).any(axis=0))
            if len(varying) < 2:
                return
            self.products[kind] = varying[self.walk.numbers(2 * PRODUCTS, len(varying))].reshape(2, -1)
        one, other = self.products[kind]
        self.tests[kind, "products of bits"].add(*(bits[:, one] & bits[:, other] for bits in (first, second)))

    def check_view(
        self, truths: np.ndarray, drawn: np.ndarray, viewers: np.ndarray, first: np.ndarray, second: np.ndarray
    ) -> None:
        """Check that the player sees the same as before and has the same legal actions."""
        walk = self.walk
        for name in ("player", "num_players", "rule_set", "scores"):
            self.expect_equal(f"another {name}", truths[name], drawn[name], viewers, truths, drawn)
        self.expect_equal("another observation", first, second, viewers, truths, drawn)
        self.expect_equal("what `hide` leaves", walk.hidden(truths, viewers), walk.hidden(drawn, viewers), viewers,
                          truths, drawn)  # fmt: skip
        self.expect_equal("another end", walk.over(truths), walk.over(drawn), viewers, truths, drawn)
        moves = (truths["player"] == viewers)[:, None]
        self.expect_equal("other legal actions", walk.legal(truths) * moves, walk.legal(drawn) * moves, viewers,
                          truths, drawn)  # fmt: skip

    def expect_equal(
        self, what: str, one: np.ndarray, other: np.ndarray, viewers: np.ndarray, truths: np.ndarray, drawn: np.ndarray
    ) -> None:
        different = (one != other).reshape(len(one), -1).any(axis=1)
        if different.any():
            self.fail(
                f"sees a difference between a state and itself resampled: {what}", truths, viewers, different, drawn
            )

    def fail(self, what: str, states: np.ndarray, viewers: np.ndarray, which: np.ndarray, *others: np.ndarray) -> None:
        i = int(np.flatnonzero(which)[0])
        fail(f"player {viewers[i]} {what}{self.walk.described(states[i], *(other[i] for other in others))}")

    def check_seeds(self, truths: np.ndarray, drawn: np.ndarray, viewers: np.ndarray) -> None:
        """Check that a state and its resampled copy become the same state with the same seed."""
        walk, seeds = self.walk, self.walk.seeds(len(truths))
        one, other = walk.resampled(truths, viewers, seeds), walk.resampled(drawn, viewers, seeds)
        different = np.flatnonzero((as_bytes(one) != as_bytes(other)).any(axis=1))
        to_dict, components = walk.definition.to_dict, walk.components
        for i in different[:READ]:  # equal positions may have different records
            if to_dict(one[i], components, None) != to_dict(other[i], components, None):
                fail(
                    f"player {viewers[i]}: states that look the same are resampled differently with seed {seeds[i]}, "
                    f"the truth shows{walk.described(truths[i], drawn[i], one[i], other[i])}"
                )

    def check_positions(self, drawn: np.ndarray) -> None:
        """Check that a resampled state can be written as a position and read again."""
        definition, components = self.walk.definition, self.walk.components
        for state in drawn:
            position = definition.to_dict(state, components, None)
            try:
                again = definition.from_dict(position, components)
            except ValueError as error:
                fail(f"a resampled state is no position: {error}{self.walk.described(state)}")
            expect(definition.to_dict(again[0], components, None) == position, "a position is read as another one")

    def note_hidden(self, truths: np.ndarray, drawn: np.ndarray, viewers: np.ndarray) -> None:
        """Count which parts of positions are hidden, and which of these have changed."""
        to_dict, components, players = self.walk.definition.to_dict, self.walk.components, self.walk.variant.num_players
        for truth, state, viewer in zip(truths, drawn, viewers.tolist(), strict=True):
            known: dict[str, Any] = to_dict(truth, components, viewer)
            new = to_dict(state, components, None)
            for key, value in to_dict(truth, components, None).items():
                seen: Any = known.get(key)
                by_seat = all(isinstance(each, list) and len(each) == players for each in (value, seen))
                for seat in range(players) if by_seat else (-1,):
                    parts = (value[seat], seen[seat], new[key][seat]) if by_seat else (value, seen, new[key])
                    if parts[0] != parts[1]:
                        note = self.hidden.setdefault((key, seat, viewer), [0, 0])
                        note[0] += 1
                        note[1] += parts[0] != parts[2]

    def expect_every_seat(self, key: str, seed: int) -> None:
        """Check that a part that is resampled for one seat and one player is resampled for all of them."""
        notes = {(seat, viewer): note for (name, seat, viewer), note in self.hidden.items() if name == key}
        if any(changed for _, changed in notes.values()):
            for (seat, viewer), (times, changed) in notes.items():
                of = f" of player {seat}" if seat >= 0 else ""
                expect(
                    changed or times < ENOUGH,
                    f"{self.walk.variant}, seed {seed}: `{key}`{of} is hidden from player {viewer}, "
                    "but never resampled",
                )


def field_at(game: str | Definition, byte: int) -> str:
    """Field of the state record that contains a byte."""
    dtype = find_game(game).state_dtype
    offsets = {name: dtype.fields[name][1] for name in dtype.names or ()} if dtype.fields else {}
    return max((name for name in offsets if offsets[name] <= byte), key=lambda name: offsets[name])
