"""Small thread pools for work that takes seconds and that a client waits for: hints, reviews, films."""

from __future__ import annotations

import asyncio
import queue
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar

from artus_training import daemon
from artus_training.play.hosted import RefusedError

T = TypeVar("T")
Check = Callable[[], None]
"""Called by the work now and then: raises `AbandonedError` once all clients have left."""

MOST_JOBS = 16
"""Default limit of queued and running jobs of a pool; further ones are refused."""


class AbandonedError(Exception):
    """All clients have left: the result isn't needed."""


@dataclass(eq=False)
class Job:
    """Queued or running work. It runs in the context, and so in the language, of the first request for it."""

    key: Hashable
    work: Callable[[Check], Any]
    loop: asyncio.AbstractEventLoop
    context: Context = field(default_factory=copy_context)
    abandoned: bool = False

    def check(self) -> None:
        """Raise `AbandonedError` if all clients have left."""
        if self.abandoned:
            raise AbandonedError


class Workers:
    """A pool of threads with a queue. Equal requests share one job; a job without clients is cancelled.

    The threads are daemons: the process can end while they work (see `cli.run`).

    Args:
        threads: Size of the pool; threads are started when first needed.
        most_kept: Number of latest results to cache.
        most_jobs: Limit of queued and running jobs.
    """

    def __init__(self, threads: int = 1, most_kept: int = 0, most_jobs: int = MOST_JOBS) -> None:
        self._most_threads = threads
        self._num_threads = 0
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._jobs: dict[Hashable, Job] = {}
        self._waiting: dict[asyncio.Future[Any], tuple[Job, str | None]] = {}
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._most_kept = most_kept
        self._most_jobs = most_jobs

    async def do(self, key: Hashable, work: Callable[[Check], T], seat_secret: str | None = None) -> T:
        """Run some work in a thread of the pool, or join the job that already has this key, and return its result.

        Args:
            key: Identifies the work and its result.
            work: The function to run.
            seat_secret: Secret of the seat that asks, if any. Its unfinished request with another key is refused.

        Raises:
            RefusedError: If the queue is full, or the seat has made another request since.
        """
        for waiter, (other, other_secret) in self._waiting.items():
            if seat_secret is not None and other_secret == seat_secret and other.key != key and not waiter.done():
                waiter.set_exception(RefusedError(409, "asked-again"))
        if key in self._kept:
            self._kept.move_to_end(key)
            kept: T = self._kept[key]
            return kept
        job = self._jobs.get(key) or self._begin(key, work)
        waiter = job.loop.create_future()
        self._waiting[waiter] = job, seat_secret
        try:
            result: T = await waiter
            return result
        finally:
            del self._waiting[waiter]
            if all(other is not job for other, _ in self._waiting.values()):
                job.abandoned = True
                self._forget(job)

    def close(self) -> None:
        """Cancel all jobs and end the threads, without waiting for them."""
        for job in self._jobs.values():
            job.abandoned = True
        for _ in range(self._num_threads):
            self._queue.put(None)

    def _begin(self, key: Hashable, work: Callable[[Check], Any]) -> Job:
        if len(self._jobs) >= self._most_jobs:
            raise RefusedError(503, "busy")
        job = self._jobs[key] = Job(key, work, asyncio.get_running_loop())
        self._queue.put(job)
        if self._num_threads < self._most_threads:
            self._num_threads += 1
            daemon.start(self._work)
        return job

    def _forget(self, job: Job) -> None:
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]

    def _finish(self, job: Job, result: Any, error: Exception | None) -> None:
        self._forget(job)
        if error is None and self._most_kept:
            self._kept[job.key] = result
            while len(self._kept) > self._most_kept:
                self._kept.popitem(last=False)
        for waiter, (other, _) in self._waiting.items():
            if other is job and not waiter.done():
                if error is None:
                    waiter.set_result(result)
                else:
                    waiter.set_exception(error)

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            result, error = None, None
            try:
                job.check()
                result = job.context.run(job.work, job.check)
            except AbandonedError:
                continue
            except BaseException as raised:
                error = bearable(raised)
            with suppress(RuntimeError):  # the server has been stopped meanwhile
                job.loop.call_soon_threadsafe(self._finish, job, result, error)
            del job, result, error  # an idle thread holds no references


def bearable(error: BaseException) -> Exception:
    """An exception that a future can hold. SystemExit of an agent must not end the server, and futures refuse
    StopIteration."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"it raised {type(error).__name__}")
