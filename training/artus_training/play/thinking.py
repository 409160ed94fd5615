"""Agents choose, and hints are searched for, in worker threads: compiled code lets the server's thread go on meanwhile."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from artus_agents.search import IsmctsAgent
from artus_env import Batch, Game
from artus_env.engine.agents import FORFEIT, Agent, View
from artus_env.engine.rng import seed_stream
from artus_env.engine.workers import available_cores
from artus_training.evaluate import find_player
from artus_training.play.table import Table

HINT_SIMULATIONS = 1000
_MOVES, _HINTS = 30, 31  # purposes of the seed streams


class Mind:
    """What thinks about one game: its agents, and the search for hints.

    Only one thread may use it at a time.
    """

    def __init__(self, table: Table) -> None:
        game = table.game
        self._batch = Batch(1, rules=game.rules, num_players=game.num_players, autoreset=False, components=game.components)
        self._agents: dict[int, Agent] = {}

    def choose(self, agent: str, player: int, game: Game, key: int) -> str:
        """The move that an agent plays for the player to move.

        Raises:
            RuntimeError: If it gives up, or plays what isn't legal.
        """
        if player not in self._agents:
            self._agents[player] = find_player(agent)
        found = self._agents[player]
        view = self._view(game, seed_stream(key, len(game.actions_played) + 1, _MOVES)[-1:])
        action = int(np.asarray(found.act(view)).reshape(-1)[0])
        if action == FORFEIT:
            failures: dict[int, str] = getattr(found, "failures", {})
            reason = failures.get(int(view.games[0]), getattr(found, "failure", ""))
            raise RuntimeError(f"{agent} has given up{f': {reason}' if reason else ''}")
        if action not in game.legal_actions():
            raise RuntimeError(f"{agent} has played what isn't legal: action {action}")
        return game.move(action)

    def hint(self, game: Game, key: int) -> tuple[list[tuple[str, float]], bool]:
        """What ismcts would play for the player to move, who learns nothing from it that he couldn't know.

        Returns:
            The moves that it tries most, the best first, each with its part of all tries; whether it searched at all.
        """
        view = self._view(game, seed_stream(key, len(game.actions_played) + 1, _HINTS)[-1:])
        actions, tried = IsmctsAgent(HINT_SIMULATIONS).consider(view)
        best, visits = int(actions[0]), tried[0]
        order = sorted(np.flatnonzero(visits).tolist(), key=lambda action: (action != best, -visits[action], action))
        total = int(visits.sum())
        return [(game.move(action), int(visits[action]) / total) for action in order[:3]], total > 1

    def close(self) -> None:
        """End what agents have started."""
        for agent in self._agents.values():
            getattr(agent, "close", lambda: None)()

    def _view(self, game: Game, keys: np.ndarray) -> View:
        self._batch.states[0] = game.state
        self._batch.refresh()
        return View(self._batch, None, keys)


class Thinking:
    """Lets the agents of any number of tables move, and answers for hints."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max(2, available_cores()), "artus-thinking")
        self._minds: dict[str, Mind] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._hints: dict[str, tuple[int, Any]] = {}  # the last one of each table
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, table: Table) -> None:
        """Let the table's agents move from now on, whenever it is their turn."""
        if len(table.people) < len(table.seats) and not table.game.over:
            task = asyncio.create_task(self._play(table))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _play(self, table: Table) -> None:
        while not table.game.over:
            changed, player, number = table.changed, table.game.player, table.number
            agent = table.seats[player].agent
            if agent is None:
                await changed.wait()
                continue
            try:
                move = await self._run(table, "choose", agent, player, table.game, table.key)
                table.play(player, number, move)
            except Exception as error:  # whatever an agent does, the server goes on
                table.trouble = f"{table.names[player]} can't move: {error or type(error).__name__}"
                table.notify()
                return

    async def hint(self, table: Table) -> tuple[list[tuple[str, float]], bool]:
        """See `Mind.hint`; the same for everybody who asks about the same position."""
        number = table.number
        if self._hints.get(table.name, (-1, None))[0] != number:
            self._hints[table.name] = number, await self._run(table, "hint", table.game, table.key)
        return self._hints[table.name][1]

    async def _run(self, table: Table, what: str, *arguments: Any) -> Any:
        async with self._locks.setdefault(table.name, asyncio.Lock()):
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._work, table, what, arguments)

    def _work(self, table: Table, what: str, arguments: tuple[Any, ...]) -> Any:
        mind = self._minds.get(table.name)
        if mind is None:
            mind = self._minds[table.name] = Mind(table)
        return getattr(mind, what)(*arguments)

    async def close(self) -> None:
        """Stop: moves that are being thought about are never played."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)
        for mind in self._minds.values():
            mind.close()
