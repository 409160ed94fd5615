"""Targets of the fuzzers. Each target yields a function that tries one input, checks all promises about accepted or
refused input, and returns whether the input was accepted."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load, save

from artus_agents import program
from artus_agents.network import Network, Shape
from artus_agents.neural import NeuralAgent
from artus_agents.saved import load_agent, save_agent
from artus_env import Batch, Game
from artus_env.engine.agents.view import FORFEIT, View
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import seed_stream
from artus_env.games.artus.components import STANDARD
from artus_env.games.artus.definition import ARTUS
from artus_training.arena.ladder import BestResponse, Entry, Ladder, read_ladder
from artus_training.arena.schedule import Settings as Tournament
from artus_training.arena.store import Store as Results
from artus_training.arena.tournament import run
from artus_training.learn.checkpoints import checksum, read_checkpoint
from artus_training.learn.exploit import read_run_results
from artus_training.learn.ppo import Settings, Trainer
from artus_training.learn.settings import settings_to_dict, with_preset
from artus_training.people.results import RESULTS, Result, Sat, read_results
from artus_training.play import view
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame, RefusedError
from artus_training.play.lobby import Lobby
from artus_training.play.pages import static
from artus_training.play.placements import table
from artus_training.play.store import Store
from artus_training.usage import UsageError
from fuzz.mutate import as_json, mutated, mutated_bytes, mutated_tensor
from play_server import Serving
from tools.tables import HEAD, rows_of

Try = Callable[[Random], bool]
LONGEST_MESSAGE = 5000
"""Maximum number of characters of a message. The longest one, about an illegal move, lists all legal moves."""


class Target(NamedTuple):
    open: Callable[[Path], AbstractContextManager[Try]]
    """Opens the target; its argument is an empty folder."""
    fraction: float
    """Fraction of all inputs that this target gets."""


def check_refusal(error: Exception) -> bool:
    """Check that the message of a refusal is one short line. Returns False: the input wasn't accepted."""
    text = str(error)
    assert text, f"{type(error).__name__} says nothing"
    assert len(text) <= LONGEST_MESSAGE, f"{len(text)} letters: {text[:200]}"
    assert "\n" not in text, text[:200]
    return False


def random_game(rng: Random, name: str = "artus") -> Game:
    """A game of a random variant after a random number of random moves."""
    definition = find_game(name)
    players = range(definition.min_players, definition.max_players + 1)
    game = Game(rng.choice(definition.rules), rng.choice(players), seed=rng.getrandbits(60), game=name)
    length = rng.randrange(1, 300)
    for _ in range(length):
        if game.over:
            break
        game.play(rng.choice(game.legal_actions()))
    return game


def check_game(game: Game, rng: Random) -> None:
    """Check that an accepted game can be written, shown to all players and played to its end."""
    assert Game.from_dict(game.to_dict()) == game
    for player in range(game.num_players):
        json.dumps(game.to_dict(player), allow_nan=False)
    copy = game.clone()
    while not copy.over:
        copy.play(rng.choice(copy.legal_actions()))


# --- positions, records, agents
# -------------------------------------------------------------------------------------------


@contextmanager
def positions(folder: Path) -> Iterator[Try]:
    corpus = [random_game(Random(number), name).to_dict() for name in ("artus", "royal") for number in range(30)]

    def attempt(rng: Random) -> bool:
        try:
            game = Game.from_dict(mutated(rng.choice(corpus), rng))
        except ValueError as error:
            return check_refusal(error)
        check_game(game, rng)
        return True

    yield attempt


@contextmanager
def records(folder: Path) -> Iterator[Try]:
    corpus = [random_game(Random(number)).record() for number in range(30)]

    def attempt(rng: Random) -> bool:
        line = rng.choice(corpus)
        line = as_json(mutated(json.loads(line), rng)) if rng.random() < 0.8 else mutated_bytes(line.encode(), rng)
        try:
            game = Game.replay(line.decode(errors="replace"))
        except ValueError as error:
            return check_refusal(error)
        assert Game.replay(game.record()) == game
        return True

    yield attempt


@contextmanager
def agents(folder: Path) -> Iterator[Try]:
    path = folder / "agent.safetensors"
    torch.manual_seed(0)
    network = Network(Shape.of(ARTUS, ARTUS.standard, (8,)))
    save_agent(path, network, {"variants": [["beginner", 2]], "components": STANDARD.hash})
    weights, card = path.read_bytes(), json.loads(path.with_suffix(".json").read_bytes())
    header = 8 + int.from_bytes(weights[:8], "little")
    view = View(Batch(1), None, seed_stream(0, 1))

    def attempt(rng: Random) -> bool:
        content, new_card = weights, card
        if rng.random() < 0.5:
            if rng.random() < 0.7:  # damage to the header, which is a small part of the file
                content = mutated_bytes(weights[:header], rng) + weights[header:]
            else:
                content = mutated_bytes(weights, rng)
            if rng.random() < 0.9:
                new_card = card | {"weights": hashlib.sha256(content).hexdigest()}
            text = json.dumps(new_card).encode()
        else:
            text = as_json(mutated(card, rng)) if rng.random() < 0.8 else mutated_bytes(json.dumps(card).encode(), rng)
        path.write_bytes(content)
        path.with_suffix(".json").write_bytes(text)
        try:
            loaded_network, loaded_card = load_agent(path)
            actions = NeuralAgent(loaded_network, card=loaded_card).act(view)
        except ValueError as error:
            return check_refusal(error)
        assert view.mask[0, actions[0]]
        return True

    yield attempt


# --- trainings
# -----------------------------------------------------------------------------------------------------------


@contextmanager
def presets(folder: Path) -> Iterator[Try]:
    path = folder / "preset.toml"
    settings = settings_to_dict(Settings())
    settings = {name: value for name, value in settings.items() if name not in ("runs", "preset", "resume")}

    def attempt(rng: Random) -> bool:
        text = toml(mutated(settings, rng) if rng.random() < 0.7 else settings).encode()
        path.write_bytes(mutated_bytes(text, rng) if rng.random() < 0.5 else text)
        try:
            with_preset(Settings(preset=path)).check()
        except ValueError as error:
            return check_refusal(error)
        return True

    yield attempt


@contextmanager
def best_responses(folder: Path) -> Iterator[Try]:
    path = folder / "responses.json"
    entry = {"agent": "ppo", "role": "deviator", "name": "ismcts:1000", "gain": 0.25, "wins": 0.75, "games": 400}
    content = {"responses": [entry, {**entry, "role": "coalition"}], "best": [{**entry, "gain_95": [0.2, 0.3]}]}

    def attempt(rng: Random) -> bool:
        text = as_json(mutated(content, rng) if rng.random() < 0.7 else content)
        path.write_bytes(mutated_bytes(text, rng) if rng.random() < 0.5 else text)
        try:
            results = read_run_results(path)
        except ValueError as error:
            return check_refusal(error)
        for response in (*results.responses, *results.best):
            assert -1 <= response.gain <= 1, "no fraction of games"
            assert 0 <= response.wins <= 1, "no fraction of games"
            assert response.games >= 1, "measured in no games"
        for best in results.best:
            assert np.isfinite(best.gain_95).all(), "an interval with an end that is no number"
        return True

    yield attempt


@contextmanager
def ladders(folder: Path) -> Iterator[Try]:
    path = folder / "ladder.json"
    known = BestResponse("response", "ismcts:1000", 0.25, (0.2, 0.3))
    entry = Entry("beginner", 2, "ppo", 1800.0, (1700.0, 1900.0), 0.75, (0.7, 0.8), 400, [known], 1234.5)
    ladder = json.loads(json.dumps(asdict(Ladder("artus", [entry, Entry("beginner", 2, "greedy", 1000.0)]))))

    def attempt(rng: Random) -> bool:
        text = as_json(mutated(ladder, rng) if rng.random() < 0.7 else ladder)
        path.write_bytes(mutated_bytes(text, rng) if rng.random() < 0.5 else text)
        try:
            accepted = read_ladder(path)
        except ValueError as error:
            return check_refusal(error)
        for row in rows_of(accepted):
            assert len(row) == len(HEAD), "another table"
            assert not any(set(cell) & set("|\n\r") for cell in row), "a cell that ends the row"
        return True

    yield attempt


def toml(value: Any) -> str:
    """Settings as TOML, with values in JSON; a value that is no table as JSON, which is rarely valid TOML."""
    if not isinstance(value, dict):
        return as_json(value).decode()
    return "\n".join(f"{name} = {as_json(part).decode()}" for name, part in value.items())


@contextmanager
def checkpoints(folder: Path) -> Iterator[Try]:
    torch.set_num_threads(1)
    settings = Settings(
        runs=folder, hidden=(4,), num_games=4, num_steps=8, batch_size=16, threads=1,
        opponents=("past=0.5", "random=0.25"),
        evaluate_every=0, final_games=0, pool_size=1, snapshot_every=1, precision="float32",
    )  # fmt: skip
    trainer = Trainer(settings)
    trainer.play_and_learn()
    trainer.save()

    def resume() -> None:
        resumed = Trainer(settings)
        resumed.load()
        resumed.play_and_learn()

    yield resuming(settings.checkpoint, resume)


def resuming(path: Path, resume: Callable[[], None]) -> Try:
    """A function that tries to resume a training from a checkpoint that is damaged, or forged by someone who knows the
    format."""
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    metadata, tensors = json.loads(header["__metadata__"]["artus"]), load(content)
    original_metadata, _ = read_checkpoint(path)

    def unchanged() -> bool:
        """Whether the file has its original content, except for spaces in the header."""
        loaded_metadata, new_tensors = read_checkpoint(path)
        is_same = loaded_metadata == original_metadata and new_tensors.keys() == tensors.keys()
        return is_same and all(torch.equal(part, new_tensors[name]) for name, part in tensors.items())

    def forged_content(rng: Random) -> bytes:
        new_metadata, new_tensors = json.dumps(metadata), dict(tensors)
        if rng.random() < 0.5:
            new_metadata = as_json(mutated(metadata, rng)).decode(errors="replace")
        else:
            name, other_name = rng.choices(list(tensors), k=2)
            new_tensors[name] = mutated_tensor(tensors[rng.choice((name, name, other_name))], rng).clone()
            if rng.random() < 0.1:
                del new_tensors[other_name]
        return save(new_tensors, {"artus": new_metadata, "checksum": checksum(new_metadata, new_tensors)})

    def attempt(rng: Random) -> bool:
        is_forged = rng.random() < 0.7
        path.write_bytes(forged_content(rng) if is_forged else mutated_bytes(content, rng))
        try:
            with redirect_stdout(StringIO()):  # the list of changed settings is printed
                resume()
        except UsageError as error:
            return check_refusal(error)
        assert is_forged or unchanged(), "damaged content was believed"
        return True

    return attempt


# --- tournaments and bots
# ------------------------------------------------------------------------------------------------


@contextmanager
def tournaments(folder: Path) -> Iterator[Try]:
    settings = Tournament(("greedy", "lookahead", "random"), num_players=2, games=12)
    original_results = run(settings, folder / "whole")
    copy_folder = folder / "fresh"

    def attempt(rng: Random) -> bool:
        shutil.rmtree(copy_folder, ignore_errors=True)
        shutil.copytree(folder / "whole", copy_folder)
        path = copy_folder / rng.choice(("settings.json", "blocks.jsonl", "blocks.jsonl"))
        lines = path.read_bytes().splitlines(keepends=True)
        if rng.random() < 0.5 and path.suffix == ".jsonl":
            index = rng.randrange(len(lines))
            lines[index] = as_json(mutated(json.loads(lines[index]), rng)) + b"\n"
            path.write_bytes(b"".join(lines))
        else:
            path.write_bytes(mutated_bytes(b"".join(lines), rng))
        try:
            results = Results(copy_folder, settings, None).results()
        except ValueError as error:
            return check_refusal(error)
        for scores, original_scores in zip(results.scores, original_results.scores, strict=True):
            assert np.array_equal(scores, original_scores[: len(scores)]), "changed results were believed"
        return True

    yield attempt


@contextmanager
def replies(folder: Path) -> Iterator[Try]:
    view = View(Batch(1, rules="advanced", seed=3), None, seed_stream(0, 1))
    bot_answers: list[bytes] = []

    class Program:
        """Gives the answers in `bot_answers`, whatever the requests."""

        def __init__(self, command: Any) -> None:
            self.answers = list(bot_answers)

        def ask(self, request: Any, seconds: float) -> bytes:
            return self.answers.pop(0)

        def kill(self) -> None: ...

        def last_words(self) -> str:
            return ""

    original_class, program.Program = program.Program, Program  # type: ignore[misc, assignment]
    states = view.redeal(view.keys)
    actions = np.flatnonzero(view.mask[0])
    moves = [view.definition.move_text(int(action), states, view.components, view.tables) for action in actions]

    def attempt(rng: Random) -> bool:
        answers = [{"type": "hello", "protocol": program.PROTOCOL}, {"type": "move", "move": rng.choice(moves)}]
        damaged = rng.randrange(2)
        bot_answers[:] = [json.dumps(answer).encode() for answer in answers]
        bot_answers[damaged] = (
            as_json(mutated(answers[damaged], rng)) if rng.random() < 0.7 else mutated_bytes(bot_answers[damaged], rng)
        )
        agent = program.ProgramAgent("bot")
        action = agent.act(view)[0]
        if action == FORFEIT:
            return check_refusal(ValueError(agent.failure))
        assert view.mask[0, action]
        return True

    try:
        yield attempt
    finally:
        program.Program = original_class  # type: ignore[misc]


# --- play
# ----------------------------------------------------------------------------------------------------------------


@contextmanager
def stored_games(folder: Path) -> Iterator[Try]:
    games = folder / "games"
    store = Store(games)
    sound_game = HostedGame.deal(store, "beginner", seats(["Ann"], ["random"]), 1)
    damaged_game = HostedGame.deal(store, "advanced", seats(["Bob", "Cleo"], ["greedy"]), 2)
    while damaged_game.number < 8:
        damaged_game.play(damaged_game.game.player, damaged_game.number, damaged_game.game.moves()[0])
    path = games / f"{damaged_game.name}.json"
    content = path.read_bytes()

    def attempt(rng: Random) -> bool:
        path.write_bytes(
            as_json(mutated(json.loads(content), rng)) if rng.random() < 0.8 else mutated_bytes(content, rng)
        )
        stderr = StringIO()
        with redirect_stderr(stderr):
            lobby = Lobby(Store(games))
            for name in lobby.games:
                with suppress(RefusedError):  # then stderr names it, and it is removed
                    lobby.games[name]
        assert sound_game.name in lobby.games
        is_accepted = damaged_game.name in lobby.games
        assert is_accepted or str(path) in stderr.getvalue()
        for hosted in lobby.games.values():
            for player in range(len(hosted.seats)):
                json.dumps([view.setup(hosted, player), view.seen(hosted, player)], allow_nan=False)
        asyncio.run(lobby.close())
        return is_accepted

    yield attempt


@contextmanager
def results_of_people(folder: Path) -> Iterator[Try]:
    path = folder / RESULTS / "game.json"
    path.parent.mkdir()
    players = [
        Sat("Ann", None, 50, 1, hinted=True),
        Sat("Easy", "greedy", 40, 2),
        Sat("Ben", None, -3, 3, resigned=True),
    ]
    result = json.loads(json.dumps(asdict(Result(1, "artus", "beginner", "2026-11-25T18:30:00+00:00", 70, players))))

    def attempt(rng: Random) -> bool:
        text = as_json(mutated(result, rng) if rng.random() < 0.7 else result)
        path.write_bytes(mutated_bytes(text, rng) if rng.random() < 0.5 else text)
        complaints: list[Exception] = []
        results = read_results(folder, lambda _, error: complaints.append(error))
        if complaints:
            return check_refusal(complaints[0])
        lines = table(results * 12, folder).splitlines()
        assert all(line.isprintable() for line in lines), "control characters for the terminal"
        return True

    yield attempt


STATUSES = {200, 307, 400, 403, 404, 405, 408, 409, 411, 413, 414, 415, 421, 422, 429, 431, 501, 503, 505}


@contextmanager
def requests(folder: Path) -> Iterator[Try]:
    first_game = HostedGame.deal(Store(folder), "beginner", seats(["Ann", "Bob"], []), 4)
    server_errors: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.ERROR:
                server_errors.append(self.format(record))

    listener = Listener()
    logging.getLogger("uvicorn.error").addHandler(listener)
    server = Serving(folder)
    secrets = [seat.secret for seat in server.lobby.games[first_game.name].seats]

    def attempt(rng: Random) -> bool:
        hosted = server.lobby.games[first_game.name]
        for name in [*server.lobby.games][1:]:  # games that earlier requests have set up
            del server.lobby.games[name]
        if hosted.game.over:
            hosted.steps[1:] = []  # back to the start
            hosted.logs.clear()
        number, move = hosted.number, rng.choice(hosted.game.moves())
        secret = rng.choice(secrets)
        body: Any = {"number": number, "move": move}
        host = f"/api/host/{server.lobby.host_secret}"
        method, path = rng.choice(
            [("GET", f"/seat/{secret}"), ("GET", f"/api/{secret}"), ("GET", f"/api/{secret}/events?after={number - 1}"),
             ("GET", "/"), ("GET", f"{static()}/seat.js"), ("GET", f"/host/{server.lobby.host_secret}"),
             ("GET", host), ("GET", f"/record/{hosted.record_secret}.jsonl"),
             ("GET", f"{host}/choices"), ("POST", f"{host}/new"), ("POST", f"{host}/again"),
             ("GET", f"/api/{secret}/next"), ("GET", f"/api/{secret}/lessons"), ("POST", f"/api/{secret}/again"),
             ("POST", f"/api/{secret}/preview"), ("POST", f"/api/{secret}/undo"),
             ("POST", f"/api/{secret}/move"), ("POST", f"/api/{secret}/move")]
        )  # fmt: skip
        if path.endswith("/new"):
            body = {"game": "artus", "rules": "beginner", "seats": [{"name": "Ann"}, {"level": "easy"}]}
        if path.startswith("/api/host") and path.endswith("/again"):
            body = {"name": first_game.name}
        if rng.random() < 0.5:
            body = mutated(body, rng)
        data = as_json(body) if method == "POST" else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n"
        if data:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        request = head.encode() + b"\r\n" + data
        if rng.random() < 0.6:
            request = mutated_bytes(request, rng)
        answer = exchange(server.port, request)
        assert not server_errors, server_errors
        assert hosted.number <= number + 1
        if not answer:  # the server hung up: the request was invalid or incomplete
            return False
        status = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
        assert status, answer[:200]
        assert int(status[1]) in STATUSES, answer[:500]
        return status[1] == b"200"

    try:
        yield attempt
    finally:
        server.stop()
        logging.getLogger("uvicorn.error").removeHandler(listener)


def exchange(port: int, request: bytes) -> bytes:
    """Send bytes, close the sending direction, and return the answer."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as connection:
        answer = b""
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(1 << 16):
                answer += chunk
        except (BrokenPipeError, ConnectionResetError):  # refused before the whole request was sent
            pass
        return answer


TARGETS = {
    "positions": Target(positions, 0.35),
    "records": Target(records, 0.15),
    "agents": Target(agents, 0.10),
    "presets": Target(presets, 0.05),
    "ladders": Target(ladders, 0.015),
    "best responses": Target(best_responses, 0.015),
    "checkpoints": Target(checkpoints, 0.04),
    "tournaments": Target(tournaments, 0.04),
    "replies": Target(replies, 0.10),
    "stored games": Target(stored_games, 0.03),
    "results of people": Target(results_of_people, 0.01),
    "requests": Target(requests, 0.10),
}
assert abs(sum(target.fraction for target in TARGETS.values()) - 1) < 1e-9
