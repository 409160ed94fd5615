"""Agents' moves, in worker threads: compiled code releases the GIL, so the server keeps running."""

from __future__ import annotations

import asyncio
import queue
import shlex
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet, finalize

import numpy as np

from artus_env import Batch, Game
from artus_env.agents import FORFEIT, Agent, View, runs_program
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import seed_stream
from artus_env.engine.drawing.translations import LANGUAGES, speaking
from artus_training import daemon
from artus_training.arena.lineup import find_player
from artus_training.play.hosted import HostedGame
from artus_training.play.store import reason, warn
from artus_training.play.texts import Message, readable
from artus_training.play.workers import bearable

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a failed step is retried; each pause is twice as long as the one before."""
GOODBYE_SECONDS = 1.0
"""Time for agents to stop when the server is stopped. Then the process ends anyway, with everything they have
started."""
_MOVES = 30  # purpose of a seed stream: agents' moves


def batch_of(game: Game, num_games: int = 1, threads: int | None = None) -> Batch:
    """A batch of the same variant, for positions that are copied into it."""
    return Batch(
        num_games, rules=game.rules, num_players=game.num_players, autoreset=False, components=game.components,
        game=game.definition, threads=threads,
    )  # fmt: skip


def view_of(batch: Batch, game: Game, keys: np.ndarray) -> View:
    """An agent's view of a game for its next move; `batch` has one game and is overwritten."""
    batch.states[0] = game.state
    batch.refresh()
    return View(batch, None, keys)


def warm_up(name: str) -> None:
    """Compile or load the functions that a game needs, so that no player waits for that later."""
    game = Game(None, find_game(name).min_players, 0, game=name)
    game.play(game.moves()[0])
    game.redeal(0, 0)
    batch = batch_of(game)
    batch.refresh()
    batch.points()
    batch.observe(0)


class NotAllowedError(Exception):
    """An agent would start a program that isn't named on the command line. The error's text is the agent's name."""


class AgentThread:
    """Agents of one game, in a thread of their own.

    The process ends without waiting for this thread (see `cli.run`), even while an agent is thinking.

    Args:
        hosted: The game.
        allowed: Names of the agents that may start a program. The game's own names may come from a file, and a file
            must not start programs.
    """

    def __init__(self, hosted: HostedGame, allowed: Collection[str] = ()) -> None:
        self._batch = batch_of(hosted.game)
        self._allowed = allowed
        self._names: dict[int, str] = {}
        self._agents: dict[int, Agent] = {}
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def ask(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run one of the methods below in the thread, after earlier calls. Raises the method's exceptions."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            try:
                settle: Callable[[Any], None] = answer.set_result
                result: Any = work(*arguments)
            except BaseException as error:
                settle, result = answer.set_exception, bearable(error)
            with suppress(RuntimeError):  # the server has been stopped meanwhile
                loop.call_soon_threadsafe(lambda: None if answer.done() else settle(result))

        if self._thread is None:
            self._thread = daemon.start(self._work)
        self._jobs.put(job)
        return await answer

    def end(self) -> None:
        """End the thread and the agents' programs, after all calls so far."""
        self._jobs.put(self._forget_all)
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def join(self, seconds: float) -> None:
        """Wait for the thread's end, but no longer than this."""
        if self._thread is not None:
            self._thread.join(seconds)

    # --- what the thread does ---

    def check(self, names: Sequence[str]) -> None:
        """Check that all agents are allowed.

        Raises:
            NotAllowedError: If one would start a program that isn't allowed.
        """
        for name in names:
            if name not in self._allowed and runs_program(name):
                raise NotAllowedError(name)

    def choose(self, name: str, player: int, game: Game, key: int) -> str:
        """An agent's move for the player to move.

        Raises:
            NotAllowedError: If the agent would start a program that isn't allowed.
            RuntimeError: If it forfeits or plays an illegal action.
        """
        if player not in self._agents:
            self.check([name])
            self._agents[player], self._names[player] = find_player(name), name
        agent = self._agents[player]
        view = view_of(self._batch, game, seed_stream(key, len(game.actions_played) + 1, _MOVES)[-1:])
        chosen = np.asarray(agent.act(view))
        if chosen.shape != (1,) or chosen.dtype.kind not in "iu":
            raise RuntimeError(f"{name} has answered {chosen.dtype} of shape {chosen.shape}, not one whole number")
        action = int(chosen[0])
        if action == FORFEIT:
            failures: dict[int, str] = getattr(agent, "failures", {})
            failure = failures.get(int(view.games[0]), getattr(agent, "failure", ""))
            raise RuntimeError(f"{name} has given up{f': {failure}' if failure else ''}")
        if action not in game.legal_actions():
            raise RuntimeError(f"{name} has played an illegal action: {action}")
        return game.move(action)

    def forget(self, player: int) -> None:
        """Close an agent. It is created again when it has to move."""
        close: Callable[[], None] = getattr(self._agents.pop(player, None), "close", lambda: None)
        try:
            close()
        except Exception as error:  # agents may raise anything
            warn(f"{readable(str(self._names[player]), 200)} can't be closed: {reason(error)}")

    def _forget_all(self) -> None:
        for player in [*self._agents]:
            self.forget(player)


class AgentMoves:
    """Lets agents move. It references a game only as long as an agent has to move in it.

    Args:
        allowed: Names of the agents that may start a program.
    """

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._threads: WeakKeyDictionary[HostedGame, AgentThread] = WeakKeyDictionary()
        self._checked: WeakSet[HostedGame] = WeakSet()  # games whose agents are all allowed
        self._moving: dict[HostedGame, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, games: Iterable[HostedGame]) -> None:
        """Start: agents move from now on, in tasks of the running event loop."""
        self._loop = asyncio.get_running_loop()
        for hosted in games:
            self.wake(hosted)

    def wake(self, hosted: HostedGame) -> None:
        """Let an agent move if it is its turn. Call this after each change, from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the server has been stopped meanwhile
                self._loop.call_soon_threadsafe(self._wake, hosted)

    def _wake(self, hosted: HostedGame) -> None:
        if hosted.over:
            self._end(hosted)
        elif self._loop is not None and hosted not in self._moving and self._agents_are_needed(hosted):
            self._moving[hosted] = self._loop.create_task(self._play(hosted))

    def _agents_are_needed(self, hosted: HostedGame) -> bool:
        unchecked = hosted not in self._checked and any(seat.agent for seat in hosted.seats)
        return unchecked or hosted.agent_of(hosted.game.player) is not None

    async def _play(self, hosted: HostedGame) -> None:
        """Let agents move until it is a person's turn."""
        agents = [seat.agent for seat in hosted.seats if seat.agent is not None]

        async def check() -> None:
            thread = self._thread(hosted)
            await thread.ask(thread.check, agents)

        try:
            if agents:
                await self._persist(hosted, "trouble.game", check)
                self._checked.add(hosted)
            while not hosted.over and (agent := hosted.agent_of(hosted.game.player)) is not None:
                await self._move(hosted, hosted.game.player, agent)
        except NotAllowedError as error:
            name = str(error)
            complain(hosted, "trouble.program", name=name, command=f"artus play --allow {shlex.quote(name)}")
        finally:
            del self._moving[hosted]
            if hosted.over:
                self._end(hosted)

    async def _move(self, hosted: HostedGame, player: int, agent: str) -> None:
        """Let an agent move, and save the move, unless a resignation ends the game first."""

        async def choose() -> str:
            if hosted.over:
                return ""
            thread = self._thread(hosted)
            try:
                return await thread.ask(thread.choose, agent, player, hosted.game, hosted.key)
            except NotAllowedError:
                raise
            except Exception:
                await thread.ask(thread.forget, player)  # a new instance may succeed
                raise

        async def save() -> None:
            if not hosted.over:
                hosted.play(player, hosted.number, move, by_agent=True)

        name = hosted.names[player]
        move = await self._persist(hosted, "trouble.move", choose, name)
        await self._persist(hosted, "trouble.move", save, name)

    async def _persist(
        self, hosted: HostedGame, failure_key: str, attempt: Callable[[], Awaitable[T]], name: str = ""
    ) -> T:
        """Retry `attempt` until it succeeds: disk space may be freed again, and errors of agents must not stop the
        server. Meanwhile the pages show the text `failure_key`."""
        pause = FIRST_PAUSE
        while True:
            try:
                result = await attempt()
            except NotAllowedError:
                raise
            except Exception as error:
                complain(hosted, failure_key, name=name, reason=reason(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                complain(hosted)
                return result

    def _thread(self, hosted: HostedGame) -> AgentThread:
        thread = self._threads.get(hosted)
        if thread is None:
            thread = self._threads[hosted] = AgentThread(hosted, self._allowed)
            finalize(hosted, thread.end).atexit = False
        return thread

    def _end(self, hosted: HostedGame) -> None:
        """End the agents of a finished game."""
        thread = self._threads.pop(hosted, None)
        if thread is not None:
            thread.end()

    async def close(self) -> None:
        """Stop: unfinished moves are never played."""
        tasks, threads = [*self._moving.values()], [*self._threads.values()]
        self._loop = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for thread in threads:
            thread.end()
        end = time.monotonic() + GOODBYE_SECONDS
        for thread in threads:
            thread.join(max(0, end - time.monotonic()))


def complain(hosted: HostedGame, key: str = "", **values: str) -> None:
    """Report on the pages and on stderr why agents can't move: the text `key` with these values. Without a key, clear
    the report."""
    failure = Message(key, values) if key else None
    if failure == hosted.failure:
        return
    hosted.failure = failure
    hosted.notify()
    if failure:
        with speaking(next(iter(LANGUAGES))):  # not the language of a client's request
            warn(f"{hosted.name}: {hosted.trouble}")
