"""Sequential test of which agent is better: an interval that is valid whenever you stop, to save games.

The usual 95 % interval is valid for a number of games that was fixed beforehand. Checking it again and again, and
stopping when the equal value lies outside, is wrong in far more than 5 % of cases. A *confidence sequence* is valid at
all times together: the chance that the true mean is ever outside is 5 %. This one uses bets (Waudby-Smith and Ramdas,
Estimating means of bounded random variables by betting, 2024): against each mean m one gambler stakes a part of their
capital on higher observations, and another gambler on lower ones. If m is the true mean, no bet wins in the long run,
and the chance that a capital ever reaches 40 times its start is 1 in 40. So a mean is ruled out when a capital staked
against it reaches this multiple.
"""

from __future__ import annotations

import math

import numpy as np

ERROR = 0.05
"""Chance that the true mean is ever outside the interval."""
STAKES = np.geomspace(0.001, 0.95, 24)
"""Parts of the capital that gamblers stake each time, one gambler per stake; all start with the same capital. The best
stake depends on lead and spread, which are unknown; the best of these needs hardly more games."""
DECISIVE_LOG_CAPITAL = math.log(2 / ERROR)
"""Logarithm of the capital that rules out a mean: each side gets half of `ERROR`."""
HALVINGS = 50
"""Bisection steps for an end of the interval."""


class Sequential:
    """A test whether the mean of observations in 0..1 is above or below `equal`; it ends as soon as that is sure.

    Args:
        equal: The mean to compare with, between 0 and 1.
    """

    def __init__(self, equal: float) -> None:
        self.equal = equal
        self.count = 0
        """Observations up to the end of the test."""
        self.sure = False
        self._values = np.zeros(0)
        self._counts = np.zeros(0, np.int64)
        self._capital = np.zeros((2, len(STAKES)))  # logarithms, for bets on more and on less than `equal`

    def add(self, observations: np.ndarray) -> bool:
        """Add observations, shape (n,), in their order, up to the first that makes the test sure. Returns `sure`.

        Raises:
            ValueError: If one isn't in 0..1: the test would be invalid.
        """
        if self.sure or not len(observations):
            return self.sure
        if not (observations.min() >= 0 and observations.max() <= 1):
            raise ValueError(f"observations must be in 0..1, got {observations.min()} to {observations.max()}")
        gains = np.stack([gain(observations, self.equal), gain(1 - observations, 1 - self.equal)])
        paths = self._capital[:, None] + np.cumsum(gains, axis=1)
        decisive = (mean_capital(paths) >= DECISIVE_LOG_CAPITAL).any(axis=0)
        self.sure = bool(decisive.any())
        num_taken = int(np.argmax(decisive)) + 1 if self.sure else len(observations)
        self._capital = paths[:, num_taken - 1]
        self.count += num_taken
        values = np.concatenate([self._values, observations[:num_taken]])
        counts = np.concatenate([self._counts, np.ones(num_taken, np.int64)])
        self._values, indices = np.unique(values, return_inverse=True)
        self._counts = np.bincount(indices, counts).astype(np.int64)
        return self.sure

    @property
    def progress(self) -> float:
        """Progress of the test, 0..1: the logarithm of the capital grows about evenly if one side is better."""
        return min(1.0, max(0.0, float(mean_capital(self._capital).max()) / DECISIVE_LOG_CAPITAL))

    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean, valid whenever the test is looked at; `equal` is outside if the test is sure."""
        return self._end(self._values), 1 - self._end(1 - self._values)

    def _end(self, values: np.ndarray) -> float:
        """The highest mean that bets on higher observations have ruled out, by bisection: the capital decreases with
        the mean."""
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            capital = (self._counts[:, None] * gain(values, middle)).sum(axis=0)
            low, high = (middle, high) if mean_capital(capital) >= DECISIVE_LOG_CAPITAL else (low, middle)
        return low


def gain(observations: np.ndarray, mean: float) -> np.ndarray:
    """Logarithms of the factors by which bets on observations above a mean multiply the capital: shape (n, stakes).

    The factors are never negative, and their mean is 1 if `mean` is the true mean.
    """
    return np.log1p(STAKES * (observations[:, None] / mean - 1))


def mean_capital(capital: np.ndarray) -> np.ndarray:
    """Logarithm of the mean capital, from logarithms of capitals: shape (..., stakes) -> (...)."""
    largest = capital.max(axis=-1)
    return largest + np.log(np.exp(capital - largest[..., None]).mean(axis=-1))
