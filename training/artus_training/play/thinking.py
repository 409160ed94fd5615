"""Agents choose, and hints are searched for, in worker threads: compiled code lets the server's thread go on
meanwhile."""

from __future__ import annotations

import asyncio
import queue
import shlex
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from artus_env import Game
from artus_env.engine.agents import FORFEIT, Agent, View, runs_program
from artus_env.engine.rng import seed_stream
from artus_env.engine.texts import LANGUAGES, speaking
from artus_training import unwaited
from artus_training.arena.lineup import find_player
from artus_training.play import forecast, of_game
from artus_training.play.forecast import Prospect, Review
from artus_training.play.hosted import HostedGame, Step
from artus_training.play.store import reason, warn
from artus_training.play.words import readable

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before what didn't work is tried again; each pause is twice as long as the one before."""
GOODBYE_SECONDS = 1.0
"""What agents have to stop when the server is stopped. Then it ends all the same, and with it what they have
started."""
NOBODY = -1
"""Who has played a move that no person is asked about."""
_MOVES, _HINTS = 30, 31  # purposes of the seed streams


class NotAllowedError(Exception):
    """An agent would start a program that nobody has named on the command line. Its text is the agent's name."""


class Mind:
    """What thinks about one game: its agents, and the search for hints. It has a thread of its own.

    The process ends without that thread (see `cli.run`), so that nobody has to wait for an agent that thinks.

    Args:
        hosted: The game.
        allowed: Names of the agents that may start a program. The game's own names may come from a file, and a file
            must not start anything.
    """

    def __init__(self, hosted: HostedGame, allowed: Collection[str] = ()) -> None:
        self._batch = of_game.batch_of(hosted.game)
        self._allowed = allowed
        self._names: dict[int, str] = {}
        self._agents: dict[int, Agent] = {}
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def ask(self, work: Callable[..., T], *arguments: Any) -> T:
        """Let the thread call one of the methods below, after all that it was asked before. What that raises, this
        raises."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            try:
                tell: Callable[[Any], None] = answer.set_result
                result: Any = work(*arguments)
            except (
                BaseException
            ) as error:  # sys.exit in an agent must not end the server, and no future carries StopIteration
                plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
                tell, result = (
                    answer.set_exception,
                    error if plain else RuntimeError(f"it raised {type(error).__name__}"),
                )
            with suppress(RuntimeError):  # the server has been stopped meanwhile
                loop.call_soon_threadsafe(lambda: None if answer.done() else tell(result))

        if self._thread is None:
            self._thread = unwaited.start(self._work)
        self._jobs.put(job)
        return await answer

    def end(self) -> None:
        """End the thread and what agents have started, as soon as the thread has done what it was asked."""
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
        """See whether all agents may be asked.

        Raises:
            NotAllowedError: If one would start a program that isn't allowed.
        """
        for name in names:
            if name not in self._allowed and runs_program(name):
                raise NotAllowedError(name)

    def choose(self, name: str, player: int, game: Game, key: int) -> str:
        """The move that an agent plays for the player to move.

        Raises:
            NotAllowedError: If it would start a program that isn't allowed.
            RuntimeError: If it gives up, or plays what isn't legal.
        """
        if player not in self._agents:
            self.check([name])
            self._agents[player], self._names[player] = find_player(name), name
        found = self._agents[player]
        view = self._view(game, seed_stream(key, len(game.actions_played) + 1, _MOVES)[-1:])
        chosen = np.asarray(found.act(view))
        if chosen.shape != (1,) or chosen.dtype.kind not in "iu":
            raise RuntimeError(f"{name} has answered {chosen.dtype} of shape {chosen.shape}, not one whole number")
        action = int(chosen[0])
        if action == FORFEIT:
            failures: dict[int, str] = getattr(found, "failures", {})
            why = failures.get(int(view.games[0]), getattr(found, "failure", ""))
            raise RuntimeError(f"{name} has given up{f': {why}' if why else ''}")
        if action not in game.legal_actions():
            raise RuntimeError(f"{name} has played what isn't legal: action {action}")
        return game.move(action)

    def forget(self, player: int) -> None:
        """End what an agent has started. It is made anew when it is asked again."""
        close: Callable[[], None] = getattr(self._agents.pop(player, None), "close", lambda: None)
        try:
            close()
        except Exception as error:  # of anybody's agent
            warn(f"{readable(str(self._names[player]), 200)} can't be closed: {reason(error)}")

    def _forget_all(self) -> None:
        for player in [*self._agents]:
            self.forget(player)

    def hint(self, game: Game, key: int) -> list[Prospect]:
        """The best moves of the player to move and what they are likely to lead to, using nothing that this player
        couldn't know."""
        view = self._view(game, seed_stream(key, len(game.actions_played) + 1, _HINTS)[-1:])
        return forecast.advice(game, view, key + len(game.actions_played))

    def review(self, steps: Sequence[Step], players: Sequence[int], resigned: Mapping[int, int], key: int) -> Review:
        """A finished game, looked at again: of those who have resigned only what they have played themselves."""
        moves = [
            (step.player if number < resigned.get(step.player, number + 1) else NOBODY, step.action)
            for number, step in enumerate(steps[1:])
        ]
        return forecast.review([step.game for step in steps], moves, players, key)

    def _view(self, game: Game, keys: np.ndarray) -> View:
        self._batch.states[0] = game.state
        self._batch.refresh()
        return View(self._batch, None, keys)


class Thinking:
    """Lets the agents of any number of games move, and answers for hints.

    Args:
        allowed: Names of the agents that may start a program.
    """

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._minds: dict[str, Mind] = {}
        self._hints: dict[str, tuple[tuple[int, int], asyncio.Task[Any]]] = {}  # the last one of each game
        self._reviews: dict[str, asyncio.Task[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, hosted: HostedGame) -> None:
        """Let the game's agents move from now on, whenever it is their turn."""
        if not hosted.over:
            self._task(self._play(hosted))

    def _task(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _play(self, hosted: HostedGame) -> None:
        try:
            agents = [seat.agent for seat in hosted.seats if seat.agent is not None]
            if agents:
                await self._persist(hosted, "trouble.game", lambda: self._ask(hosted, "check", agents))
            while not hosted.over:
                changed, player = hosted.changed, hosted.game.player
                agent = hosted.agent_of(player)
                if agent is None:
                    await changed.wait()
                else:
                    await self._move(hosted, player, agent)
        except NotAllowedError as error:
            name = str(error)
            complain(hosted, "trouble.program", name=name, command=f"artus play --resume --allow {shlex.quote(name)}")
        else:
            self._end(hosted)

    async def _move(self, hosted: HostedGame, player: int, agent: str) -> None:
        """Let an agent move, and keep the move on disk, unless the game ends meanwhile because somebody resigns."""

        async def choose() -> str:
            if hosted.over:
                return ""
            try:
                chosen: str = await self._ask(hosted, "choose", agent, player, hosted.game, hosted.key)
            except NotAllowedError:
                raise
            except Exception:
                await self._ask(hosted, "forget", player)  # a new one may fare better
                raise
            return chosen

        async def keep() -> None:
            if not hosted.over:
                hosted.play(player, hosted.number, move, by_agent=True)

        name = hosted.names[player]
        move = await self._persist(hosted, "trouble.move", choose, name)
        await self._persist(hosted, "trouble.move", keep, name)

    async def _persist(
        self, hosted: HostedGame, failure: str, attempt: Callable[[], Awaitable[T]], name: str = ""
    ) -> T:
        """Try something until it works: a full disk is emptied again, and whatever an agent does, the server goes
        on."""
        pause = FIRST_PAUSE
        while True:
            try:
                result = await attempt()
            except NotAllowedError:
                raise
            except Exception as error:
                complain(hosted, failure, name=name, reason=reason(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                complain(hosted)
                return result

    async def hint(self, hosted: HostedGame) -> list[Prospect]:
        """See `Mind.hint`; one search for everybody who asks about the same position."""
        present = hosted.number, hosted.taken_back
        number, search = self._hints.get(hosted.name, (present, None))
        if search is None or number != present or failed(search):
            search = self._task(self._ask(hosted, "hint", hosted.game, hosted.key))
            self._hints[hosted.name] = present, search
        found: list[Prospect] = await asyncio.shield(search)
        return found

    async def review(self, hosted: HostedGame) -> Review:
        """See `Mind.review`; a finished game is looked at again once, for all people in it."""
        search = self._reviews.get(hosted.name)
        if search is None or failed(search):
            search = self._task(self._review(hosted))
            self._reviews[hosted.name] = search
        found: Review = await asyncio.shield(search)
        return found

    async def _review(self, hosted: HostedGame) -> Any:
        try:
            return await self._ask(hosted, "review", hosted.steps, hosted.people, hosted.resigned, hosted.key)
        finally:
            self._end(hosted)

    async def _ask(self, hosted: HostedGame, what: str, *arguments: Any) -> Any:
        if hosted.name not in self._minds:
            self._minds[hosted.name] = Mind(hosted, self._allowed)
        mind = self._minds[hosted.name]
        return await mind.ask(getattr(mind, what), *arguments)

    def _end(self, hosted: HostedGame) -> None:
        """The game is over: nobody has to think about it any more."""
        self._hints.pop(hosted.name, None)
        if hosted.name in self._minds:
            self._minds.pop(hosted.name).end()

    async def close(self) -> None:
        """Stop: moves that are being thought about are never played."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for mind in self._minds.values():
            mind.end()
        end = time.monotonic() + GOODBYE_SECONDS
        for mind in self._minds.values():
            mind.join(max(0, end - time.monotonic()))


def failed(search: asyncio.Task[Any]) -> bool:
    """Whether it has ended without an answer."""
    return search.done() and (search.cancelled() or search.exception() is not None)


def complain(hosted: HostedGame, key: str = "", **values: str) -> None:
    """Say on the pages and on stderr why it doesn't go on, by the key of a text and its values; without: it does."""
    why = (key, values) if key else None
    if why == hosted.why:
        return
    hosted.why = why
    hosted.notify()
    if why:
        with speaking(next(iter(LANGUAGES))):  # whoever asked for what has failed, the terminal's language is this one
            warn(f"{hosted.name}: {hosted.trouble}")
