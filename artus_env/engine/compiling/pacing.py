"""Decision whether to split a loop among threads, based on the times of its calls.

Threads that wait for each other lose time if the machine also does other work: all wait for the thread whose core
another program is using. So a loop that loses time when split runs on one thread for a while.
"""

from __future__ import annotations

import math
import time

CALLS_BETWEEN_MEASUREMENTS = 1024
"""Calls between two measurements of one thread alone, with which calls split among threads are compared."""
LONG = 0.1
"""Seconds of work that are always shared: the gain is larger than the loss from a delayed thread."""
MOST_CREDIT = 0.02
"""Seconds that sharing may lose at once after a long time of gains: a thread that loses its core for a few milliseconds
doesn't end sharing."""
PAUSE = 50
"""After a loss, sharing pauses for this many times the loss."""
LONGEST_PAUSE = 3.0
"""Seconds; after a longer pause the loop would notice too late that other programs have ended."""


class Pace:
    """Account of one kind of loop. A shared call (split among threads) earns the time that it saves compared with one
    thread, and pays the time that it loses. In debt, the loop runs on one thread for `PAUSE` times the loss.

    Attributes:
        seconds_per_game: CPU seconds of one thread per game, as last measured; 0: not measured yet.
        credit: Seconds that sharing has gained and may lose again, at most `MOST_CREDIT`.
        resume_time: Time on `time.perf_counter` from which sharing may be tried again.
    """

    def __init__(self) -> None:
        self.seconds_per_game = 0.0
        self.credit = 0.0
        self.resume_time = 0.0
        self._fastest_shared = math.inf  # wall-clock seconds of the fastest shared call after the first one
        self._calls = self._calls_shared = self._calls_alone = 0

    def should_share(self, games: int) -> bool:
        """Whether the next call should be shared."""
        self._calls += 1
        if not self.seconds_per_game:  # not measured yet; where one thread might need minutes, it never is
            return self._calls_shared < 2 or self._fastest_shared > LONG
        if self.seconds_per_game * games > LONG:
            return True
        return self._calls % CALLS_BETWEEN_MEASUREMENTS != 0 and time.perf_counter() >= self.resume_time

    def record_alone(self, games: int, seconds: float) -> None:
        """Record the CPU seconds of a call on one thread. The first call doesn't count: it may have compiled the
        loop."""
        self._calls_alone += 1
        if self._calls_alone > 1:
            self.seconds_per_game = seconds / games

    def record_shared(self, games: int, seconds: float) -> None:
        """Record the wall-clock seconds of a call on several threads. The first call isn't compared with others: it may
        have compiled the loop."""
        self._calls_shared += 1
        if self._calls_shared > 1:
            self._fastest_shared = min(self._fastest_shared, seconds)
        if self.seconds_per_game:
            self.credit = min(MOST_CREDIT, self.credit + self.seconds_per_game * games - seconds)
            if self.credit < 0:
                self.resume_time = time.perf_counter() + min(LONGEST_PAUSE, -PAUSE * self.credit)
                self.credit = 0.0
