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
        one_sided: Whether only "the first one is greater too often" counts.

    Attributes:
        first_greater, second_greater: The counts: one for each test.
    """

    def __init__(self, one_sided: bool = False) -> None:
        self.one_sided = one_sided
        self.first_greater = self.second_greater = np.array(0)

    def add(self, first: np.ndarray, second: np.ndarray) -> None:
        """Count pairs: shape (pairs, ...), one test for each index of the other dimensions."""
        self.first_greater = self.first_greater + np.atleast_1d((first > second).sum(axis=0))
        self.second_greater = self.second_greater + np.atleast_1d((first < second).sum(axis=0))

    def log_p(self) -> np.ndarray:
        """Logarithm of an upper bound of each p-value; 0 where nothing differs.

        By the Chernoff bound: P(X >= x n) <= exp(-n D), D = log 2 + x log x + (1 - x) log(1 - x), for X heads among n
        throws of a fair coin and x >= 1/2. Two-sided tests add log 2.
        """
        first_greater, second_greater = (
            np.atleast_1d(self.first_greater).astype(float),
            np.atleast_1d(self.second_greater).astype(float),
        )
        n = first_greater + second_greater
        larger_count = first_greater if self.one_sided else np.maximum(first_greater, second_greater)
        x = np.clip(np.divide(larger_count, n, out=np.full_like(n, 0.5), where=n > 0), 0.5, 1.0)
        complement = 1.0 - x
        entropy = x * np.log(x) + complement * np.log(np.where(complement > 0, complement, 1.0))
        return np.minimum(0.0, (0.0 if self.one_sided else np.log(2.0)) - n * (np.log(2.0) + entropy))

    @property
    def tests(self) -> int:
        """Number of sign tests with at least one differing pair. A test without one has p-value 1, so the Bonferroni
        correction in `worst` leaves it out."""
        return int(np.count_nonzero(np.atleast_1d(self.first_greater) + np.atleast_1d(self.second_greater)))


def sum_of(tests: Sequence[SignTest]) -> SignTest:
    """One test with all pairs of several tests. Their counts may have different shapes; counts with equal indices are
    added."""
    total = SignTest(tests[0].one_sided)
    shape = tuple(np.max([test.first_greater.shape for test in tests if test.first_greater.ndim] or [(1,)], axis=0))
    total.first_greater, total.second_greater = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for test in tests:
        if test.first_greater.ndim:  # it has counted pairs
            region = tuple(slice(size) for size in test.first_greater.shape)
            total.first_greater[region] += test.first_greater
            total.second_greater[region] += test.second_greater
    return total


def worst(tests: dict[Key, SignTest]) -> tuple[float, Key, tuple[int, ...], int, int]:
    """The smallest p-value of several families of tests, times the number of all tests (Bonferroni).

    Under the null hypothesis this number is at most a with probability at most a.

    Returns:
        This number; the key of the family and the index of the test with the smallest p-value; how often the first
        number was greater in that test, and how often the second.
    """
    key = min(tests, key=lambda key: tests[key].log_p().min())
    log_p = tests[key].log_p()
    index = np.unravel_index(int(log_p.argmin()), log_p.shape)
    first_greater, second_greater = (
        int(np.atleast_1d(counts)[index]) for counts in (tests[key].first_greater, tests[key].second_greater)
    )
    num_tests = max(1, sum(test.tests for test in tests.values()))
    return (
        float(np.exp(min(0.0, log_p[index] + np.log(num_tests)))),
        key,
        tuple(map(int, index)),
        first_greater,
        second_greater,
    )
