"""Plays random games of all installed games for the tests, in the test's process or, as a script, in another one.
`decisions` and hashes whose names have no game are about Artus, `random_game` unless it gets a name.

python engine_play.py digests             print the result of `digests` as JSON
python engine_play.py fork|threads|spawn  play the same games in other processes or threads, too; exit status 0 if all
                                          results are equal
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path

import numpy as np

from artus_env import Batch, Card, Components, Game
from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.contract.rng import below, following, next_seed, random_bits
from artus_env.engine.play.rewards import reward_modes

VARIANTS = [(rules, num_players) for rules in ("beginner", "advanced") for num_players in (2, 3, 4)]
TINY_BOX = Components(
    cards=(Card("short", "knight", "knight", 1, 2, copies=3), Card("ring", "king", "ring", copies=3)), carpet=(27,)
)
"""The smallest deck that can be dealt. It has fewer actions (45) than a word of the mask has bits."""


def decisions(rules: str, num_players: int, box: Components | None = None) -> int:
    """Number of moves in a whole game: knights placed, cards played, cards drawn."""
    knight, king, scoring = (box or Components()).pile_sizes
    cards = knight + king + (scoring if rules == "advanced" else 0)
    dealt = 6 if rules == "advanced" else 4
    return num_players * ((4 if num_players == 4 else 5) + cards + (cards - dealt))


def random_game(
    rules: str,
    num_players: int,
    seed: int,
    moves: int | None = None,
    components: Components | None = None,
    name: str = "artus",
) -> Game:
    """A game after some random moves, or at its end."""
    game = Game(rules=rules, num_players=num_players, seed=seed, components=components, game=name)
    for _ in random_moves(game, seed, moves):
        pass
    return game


def random_moves(game: Game, seed: int, moves: int | None = None):
    """Play random moves, and yield the game before each of them."""
    rng = np.random.default_rng(seed)
    while not game.over and (moves is None or moves > 0):
        yield game
        game.play(int(rng.choice(game.legal_actions())))
        moves = None if moves is None else moves - 1


ARRAYS = (
    "states", "player", "observation", "mask", "legal_bits", "reward", "done", "final_scores", "final_outcomes",
    "scores", "seeds",
)  # fmt: skip


def play_digest(batch: Batch, steps: int) -> str:
    """A hash of all arrays of a batch over this number of steps of random play."""
    digest = hashlib.sha256()
    for _ in range(steps):
        digest.update(batch.points().tobytes())
        actions = batch.sample()
        digest.update(actions.tobytes())
        batch.step(actions)
        for name in ARRAYS:
            digest.update(getattr(batch, name).tobytes())
    return digest.hexdigest()


def digests(threads: int = 1) -> dict[str, str]:
    """Hashes of random play beyond the end of a game, for every variant of every game, each reward mode and a tiny box;
    and hashes of the random number generator."""
    hashes = {}
    for game in sorted(set(game_names()) - {"artus"}):
        definition = find_game(game)
        for number, (rules, num_players) in enumerate(
            product(definition.rules, range(definition.min_players, definition.max_players + 1))
        ):
            reward = reward_modes(definition.score)[number % 3]
            options = {"game": game, "rules": rules, "num_players": num_players, "reward": reward}
            hashes[f"{game} {rules} {num_players}"] = play_digest(Batch(3, seed=number, threads=threads, **options), 60)
            fresh_game = Game(rules, num_players, 5, game=game)
            hashes[f"{game} {rules} {num_players} redealt"] = hashlib.sha256(
                b"".join(fresh_game.redeal(player, 9).state.tobytes() for player in range(num_players))
            ).hexdigest()
    for number, (rules, num_players) in enumerate(VARIANTS):
        reward = ("prestige", "win", "margin")[number % 3]
        batch = Batch(3, rules=rules, num_players=num_players, seed=number, threads=threads, reward=reward)
        hashes[f"{rules} {num_players}"] = play_digest(batch, decisions(rules, num_players) + 8)
    tiny = Batch(3, rules="advanced", num_players=4, threads=threads, autoreset=False, components=TINY_BOX)
    hashes["tiny box"] = play_digest(tiny, decisions("advanced", 4, TINY_BOX) + 3)
    game = random_game("advanced", 3, 5, moves=60)
    hashes["redeal"] = hashlib.sha256(b"".join(game.redeal(p, 9).state.tobytes() for p in range(3))).hexdigest()
    numbers = [
        [int(random_bits(key, n)), int(following(key)), int(next_seed(key))] for key in KEYS for n in (0, 1, 1 << 40)
    ]
    hashes["generator"] = json.dumps([numbers, [int(below(np.uint64(random_bits(1, n)), n + 1)) for n in range(50)]])
    return hashes


KEYS = tuple(np.uint64(key) for key in (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1))


# --- the same games in children and threads ----------------------------------------------------------------------


def shared_digest(seed: int) -> str:
    """A hash of some play of every game, with loops that share work among threads."""
    batches = (
        Batch(9, game=game, rules=find_game(game).rules[-1], num_players=3, seed=seed, threads=2)
        for game in game_names()
    )
    return " ".join(play_digest(batch, 12) for batch in batches)


def exit_with_result(seed: int, expected: str) -> None:
    """End a child process with exit status 0 if its games have the expected hash."""
    sys.exit(0 if shared_digest(seed) == expected else 1)


def ended_well(pid: int) -> bool:
    """Wait for a forked child. Returns whether its exit status is 0."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def check_fork() -> None:
    expected = shared_digest(1)  # the parent's threads are started now
    child = os.fork()
    if not child:
        assert shared_digest(1) == expected
        grandchild = os.fork()
        assert shared_digest(1) == expected
        assert not grandchild or ended_well(grandchild)
        return  # both processes then exit in the ordinary way, with all cleanup
    assert ended_well(child)
    process = multiprocessing.get_context("fork").Process(target=exit_with_result, args=(1, expected))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert shared_digest(1) == expected  # the parent plays on


def check_spawn() -> None:
    expected = shared_digest(1)
    child = multiprocessing.get_context("spawn").Process(target=exit_with_result, args=(1, expected))
    child.start()
    child.join()
    assert child.exitcode == 0


def check_threads() -> None:
    seeds = range(4)
    hashes_alone = [shared_digest(seed) for seed in seeds]
    record_alone = random_game("beginner", 2, 3).record()
    start = threading.Barrier(len(seeds) + 1)
    hashes_together: dict[int, set[str]] = {seed: set() for seed in seeds}
    records = set()

    def play_batch(seed: int) -> None:
        start.wait()
        for _ in range(10):
            hashes_together[seed].add(shared_digest(seed))

    def play_game() -> None:
        start.wait()
        for _ in range(10):
            records.add(random_game("beginner", 2, 3).record())

    workers = [threading.Thread(target=play_batch, args=(seed,)) for seed in seeds] + [
        threading.Thread(target=play_game)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert hashes_together == {seed: {digest} for seed, digest in zip(seeds, hashes_alone, strict=True)}
    assert records == {record_alone}


def run_script(*arguments: str, **environment: str) -> str:
    """Run this file in a new process, and return what it prints."""
    process = subprocess.run(
        [sys.executable, str(Path(__file__)), *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert process.returncode == 0, f"exit status {process.returncode}\n{process.stdout}\n{process.stderr}"
    return process.stdout


if __name__ == "__main__":
    task = sys.argv[1]
    if task == "digests":
        print(json.dumps(digests()))
    else:
        {"fork": check_fork, "threads": check_threads, "spawn": check_spawn}[task]()
