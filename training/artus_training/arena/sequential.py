"""Who is better, with as few games as it takes: an interval that holds whenever you stop.

The usual 95 % interval holds for a number of games that was fixed beforehand; whoever looks again and again, and stops
when equality lies outside it, is wrong far more often than one time in twenty. A *confidence sequence* holds at all
times at once: the chance that the true mean is ever outside is 5 %. This one bets (Waudby-Smith and Ramdas, Estimating
means of bounded random variables by betting, 2024): against each mean m a gambler stakes parts of their capital on the
observations being higher, another on their being lower. If m is right no bets win in the long run, and the chance that
a capital ever becomes 40 times what it was is 1 in 40. So means for which it did are out.
"""

from __future__ import annotations

import math

import numpy as np

ERROR = 0.05
"""The chance that the true mean is ever outside."""
STAKES = np.geomspace(0.001, 0.95, 24)
"""Parts of its capital that each gambler stakes all the time; all of them begin with the same capital. Which stake is
best depends on lead and spread, which nobody knows before: the best of these costs hardly more games than that."""
ENOUGH = math.log(2 / ERROR)
"""Logarithm of the capital at which a mean is out: each side may be wrong half the time."""
HALVINGS = 50
"""Steps to find an end of the interval."""


class Sequential:
    """A test whether the mean of observations in 0..1 is `equal`, which ends as soon as it is sure of its answer.

    Args:
        equal: The mean in question, between 0 and 1.
    """

    def __init__(self, equal: float) -> None:
        self.equal = equal
        self.count = 0
        """Observations up to the end of the test."""
        self.sure = False
        self._values = np.zeros(0)
        self._counts = np.zeros(0, np.int64)
        self._capital = np.zeros((2, len(STAKES)))  # logarithms, of bets on more and on less than `equal`

    def add(self, observations: np.ndarray) -> bool:
        """Take observations, shape (n,), in their order, up to the first with which it is sure. Returns whether it is.

        Raises:
            ValueError: If one isn't in 0..1, where nothing of this would hold.
        """
        if self.sure or not len(observations):
            return self.sure
        if not (observations.min() >= 0 and observations.max() <= 1):
            raise ValueError(f"observations must be in 0..1, got {observations.min()} to {observations.max()}")
        gains = np.stack([gain(observations, self.equal), gain(1 - observations, 1 - self.equal)])
        paths = self._capital[:, None] + np.cumsum(gains, axis=1)
        enough = (mean_capital(paths) >= ENOUGH).any(axis=0)
        self.sure = bool(enough.any())
        taken = int(np.argmax(enough)) + 1 if self.sure else len(observations)
        self._capital = paths[:, taken - 1]
        self.count += taken
        values = np.concatenate([self._values, observations[:taken]])
        counts = np.concatenate([self._counts, np.ones(taken, np.int64)])
        self._values, places = np.unique(values, return_inverse=True)
        self._counts = np.bincount(places, counts).astype(np.int64)
        return self.sure

    @property
    def part(self) -> float:
        """How far the test has come, 0..1: capital grows about evenly where one side is better."""
        return min(1.0, max(0.0, float(mean_capital(self._capital).max()) / ENOUGH))

    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean, valid whenever the test is looked at; `equal` is outside if the test is sure."""
        return self._end(self._values), 1 - self._end(1 - self._values)

    def _end(self, values: np.ndarray) -> float:
        """The highest mean that bets on more have ruled out: capital falls with the mean that is bet against."""
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            capital = (self._counts[:, None] * gain(values, middle)).sum(axis=0)
            low, high = (middle, high) if mean_capital(capital) >= ENOUGH else (low, middle)
        return low


def gain(observations: np.ndarray, mean: float) -> np.ndarray:
    """What each stake that observations are above a mean multiplies the capital by, as logarithms: shape (n, stakes).

    Its mean is 1 if that is the observations' mean, and it is never negative.
    """
    return np.log1p(STAKES * (observations[:, None] / mean - 1))


def mean_capital(capital: np.ndarray) -> np.ndarray:
    """Logarithm of the mean of capitals that are given as logarithms: shape (..., stakes) -> (...)."""
    top = capital.max(axis=-1)
    return top + np.log(np.exp(capital - top[..., None]).mean(axis=-1))
