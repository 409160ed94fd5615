"""Sign tests: check whether one of two numbers is greater more often than the other, with a known error rate."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)


class SignTest:
    """Counts of pairs whose first number is greater, and of pairs whose second one is, for many numbers.

    If both numbers are draws from one distribution, then among pairs that differ each is the greater one with
    probability 1/2, whatever the distribution: no model, no asymptotics.

    Args:
        one_sided: Only "the first one is greater too often" counts.
    """

    def __init__(self, one_sided: bool = False) -> None:
        self.one_sided = one_sided
        self.more = self.less = np.array(0)

    def add(self, first: np.ndarray, second: np.ndarray) -> None:
        """Count pairs: shape (pairs, ...), one test for each index of the other dimensions."""
        self.more = self.more + np.atleast_1d((first > second).sum(axis=0))
        self.less = self.less + np.atleast_1d((first < second).sum(axis=0))

    def log_p(self) -> np.ndarray:
        """Logarithm of an upper bound of each p-value; 0 where nothing differs.

        By the Chernoff bound: P(X >= x n) <= exp(-n D), D = log 2 + x log x + (1 - x) log(1 - x), for X heads among n
        throws of a fair coin and x >= 1/2. Two-sided tests add log 2.
        """
        more, less = np.atleast_1d(self.more).astype(float), np.atleast_1d(self.less).astype(float)
        n = more + less
        most = more if self.one_sided else np.maximum(more, less)
        x = np.clip(np.divide(most, n, out=np.full_like(n, 0.5), where=n > 0), 0.5, 1.0)
        rest = 1.0 - x
        entropy = x * np.log(x) + rest * np.log(np.where(rest > 0, rest, 1.0))
        return np.minimum(0.0, (0.0 if self.one_sided else np.log(2.0)) - n * (np.log(2.0) + entropy))

    @property
    def tests(self) -> int:
        """Number of sign tests with at least one differing pair. A test without one has p-value 1, so the Bonferroni
        correction in `worst` leaves it out."""
        return int(np.count_nonzero(np.atleast_1d(self.more) + np.atleast_1d(self.less)))


def sum_of(tests: Sequence[SignTest]) -> SignTest:
    """One test with all pairs of several tests. Their arrays may have different shapes; equal indices belong
    together."""
    total = SignTest(tests[0].one_sided)
    shape = tuple(np.max([test.more.shape for test in tests if test.more.ndim] or [(1,)], axis=0))
    total.more, total.less = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for test in tests:
        if test.more.ndim:  # it has counted pairs
            place = tuple(slice(size) for size in test.more.shape)
            total.more[place] += test.more
            total.less[place] += test.less
    return total


def worst(tests: dict[Key, SignTest]) -> tuple[float, Key, tuple[int, ...], int, int]:
    """The smallest p-value of several families of tests, times the number of all tests (Bonferroni).

    Under the null hypothesis this number is at most a with probability at most a.

    Returns:
        This number; the family and the index of that test; how often the first number was greater there, and the
        second.
    """
    key = min(tests, key=lambda key: tests[key].log_p().min())
    log_p = tests[key].log_p()
    place = np.unravel_index(int(log_p.argmin()), log_p.shape)
    more, less = (int(np.atleast_1d(counts)[place]) for counts in (tests[key].more, tests[key].less))
    number = max(1, sum(test.tests for test in tests.values()))
    return float(np.exp(min(0.0, log_p[place] + np.log(number)))), key, tuple(map(int, place)), more, less
