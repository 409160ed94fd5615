"""Whether it pays to share a loop among threads, by how long its calls have taken.

Threads that wait for each other lose when the machine does other work, too: all of them wait for the one that another
program keeps from its core. So a loop that loses by being shared runs on one thread for a while.
"""

from __future__ import annotations

import math
import time

CALLS_BETWEEN_MEASUREMENTS = 1024
"""Of one thread alone, which the gain from several is compared with."""
LONG = 0.1
"""Seconds of work that are always shared: a thread that is kept waiting has less to lose than there is to gain."""
MOST_CREDIT = 0.02
"""Seconds that sharing may lose at once after it has paid for long: a thread that is kept from its core for a moment, a
few milliseconds, doesn't end it."""
PAUSE = 50
"""Sharing that has lost is not tried again for so many times what it has lost."""
LONGEST_PAUSE = 3.0
"""Seconds; more would be lost by not noticing that the neighbours have gone."""


class Pace:
    """The account of one kind of loop. A call that is shared earns what it saves against one thread and pays what it
    loses. In debt, the loop runs on one thread for `PAUSE` times what was lost.

    Attributes:
        alone: Seconds of CPU that one thread takes for a game, as last measured; 0: not yet.
        credit: Seconds, at most `MOST_CREDIT`.
        resume: When sharing may be tried again, on `time.perf_counter`.
    """

    def __init__(self) -> None:
        self.alone = 0.0
        self.credit = 0.0
        self.resume = 0.0
        self._quickest = math.inf  # of the shared calls
        self._calls = self._shared = self._measured = 0

    def pays(self, games: int) -> bool:
        """Whether the next call is to be shared."""
        self._calls += 1
        if not self.alone:  # not known, and not to be found out if it may take minutes
            return self._shared < 2 or self._quickest > LONG
        if self.alone * games > LONG:
            return True
        return self._calls % CALLS_BETWEEN_MEASUREMENTS != 0 and time.perf_counter() >= self.resume

    def ran_alone(self, games: int, seconds: float) -> None:
        """One thread took so many seconds of CPU. The first time doesn't count: it may have compiled the loop."""
        self._measured += 1
        if self._measured > 1:
            self.alone = seconds / games

    def ran_shared(self, games: int, seconds: float) -> None:
        """Several threads took so long, by the clock. The first time doesn't count, likewise."""
        self._shared += 1
        if self._shared > 1:
            self._quickest = min(self._quickest, seconds)
        if self.alone:
            self.credit = min(MOST_CREDIT, self.credit + self.alone * games - seconds)
            if self.credit < 0:
                self.resume = time.perf_counter() + min(LONGEST_PAUSE, -PAUSE * self.credit)
                self.credit = 0.0
