"""A game between people and agents: its seats, its moves so far, and all changes to it."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta

from artus_env import Game
from artus_env.engine.basics.reading import convert, decode, shown
from artus_env.engine.contract.rng import check_seed, fresh_seed
from artus_env.engine.play.game import IllegalMoveError
from artus_env.engine.play.records import Record
from artus_training.people.results import VERSION as RESULT_VERSION
from artus_training.people.results import Result, Sat
from artus_training.play.player_names import fits
from artus_training.play.store import SECRET, VERSION, Store, new_secret, reason, warn
from artus_training.play.strength import LEVELS
from artus_training.play.texts import Message, readable

LONGEST_NAME = 24
LONGEST_AGENT = 1000
LONGEST_MOVE = 100
LONGEST_TROUBLE = 2000
LONGEST_TITLE = 40
"""Characters of an agent's name that are shown; it may be a long command line."""
NUMBER_LENGTH = len(" 12")
"""Length of the number that `unique` may append."""
UNKNOWN = -1
"""`Stored.turn` of files that don't say whose turn it is."""
NOBODY = -1
"""Stands for the player of a substitute's move, see `HostedGame.own_moves`."""
SUBSTITUTE = LEVELS["medium"]
"""Agent that plays on for people who have resigned: it needs no trained network."""


class RefusedError(Exception):
    """A request that can't be fulfilled. It has changed nothing.

    Args:
        status: HTTP status of the answer.
        reason_key: Key of the reason's text, without `error.`; the text is in the language of the request.
        values: Values for the text.
    """

    def __init__(self, status: int, reason_key: str, **values: Any) -> None:
        super().__init__(reason_key)
        self.status = status
        self.message = Message(f"error.{reason_key}", values)

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True)
class Seat:
    """A seat at the table. A person has a secret, which is part of their link; an agent has a name for `find_agent`."""

    name: str
    agent: str | None = None
    secret: str | None = None


@dataclass(frozen=True)
class Stored:
    """A game's file."""

    version: int
    seats: list[Seat]
    key: int
    share: str  # the secret of the link to the record
    next: str
    record: dict[str, Any]
    resigned: list[tuple[int, int]] = field(default_factory=list)
    """(player, number of moves played before) of each resignation, in order."""
    hinted: list[int] = field(default_factory=list)
    """Players who have asked for a hint."""
    taken_back: Annotated[int, Meta(ge=0)] = 0
    """Number of moves that have been taken back."""
    agreed: list[int] = field(default_factory=list)
    """Players who agree to take back the last move."""
    turn: int | None = UNKNOWN
    """The player to move, None when the game is over; `UNKNOWN` in files of older versions."""
    revision: Annotated[int, Meta(ge=0)] = 0
    """Number of times that the file was written: the newer of two copies has the larger number."""


@dataclass(frozen=True)
class Step:
    """A move that was played, and the game after it. Contains hidden information: see `view` for the data that seats
    get."""

    game: Game
    player: int = -1  # -1: no move yet
    action: int = -1
    move: str = ""


class HostedGame:
    """One game on the server, and its seats. Only the event loop's thread may call its methods.

    Attributes:
        steps: The game before the first move, and after each one.
        key: Seed of its agents and hints.
        record_secret: The secret of the link to the finished game's record.
        next: Name of the game that was set up to follow this one.
        logs: Log lines of each seat as shown when the moves were played, by language.
        failure: Why no agent can move, None if agents can. Not kept on disk.
        taken_back: Number of moves that have been taken back.
        agreed: People who want the last move to be taken back, including its player.
        resigned: Players who have resigned, with the number of moves played before, in order.
        hinted: Players who have asked for a hint.
        revision: Number of times that the file was written.
        changed: Set, and replaced, after every change.
        watcher: Called after each change, if set.
    """

    def __init__(
        self,
        name: str,
        seats: Sequence[Seat],
        game: Game,
        store: Store,
        key: int,
        record_secret: str,
        next_name: str = "",
        resigned: Sequence[tuple[int, int]] = (),
        hinted: Sequence[int] = (),
        taken_back: int = 0,
        agreed: Sequence[int] = (),
        revision: int = 0,
    ) -> None:
        self.name = name
        self.seats = tuple(seats)
        self.store = store
        self.key = key
        self.record_secret = record_secret
        self.next = next_name
        self.failure: Message | None = None
        self.taken_back = taken_back
        self.agreed = frozenset(agreed)
        self.revision = revision
        self.watcher: Callable[[HostedGame], None] | None = None
        self.resigned = dict(resigned)
        self.hinted = frozenset(hinted)
        self.changed = asyncio.Event()
        self.logs: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self.steps = [Step(game.first())]
        for action in game.actions_played:
            self.steps.append(self._after(action))

    @classmethod
    def deal(
        cls,
        store: Store,
        rules: str | None,
        seats: Sequence[Seat],
        seed: int | None = None,
        game_name: str | None = None,
    ) -> HostedGame:
        """Create a new game and save it to disk.

        Args:
            store: Folder of its file.
            rules: Its rule set, None for the first one.
            seats: The seats.
            seed: The deal, None for a random one.
            game_name: Name of the game; None: the default one.

        Raises:
            ValueError: If there is no such game or variant.
        """
        game = Game(rules, len(seats), seed, game=game_name)
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        hosted = cls(name, seats, game, store, fresh_seed(), new_secret())
        hosted.save()
        return hosted

    @classmethod
    def load(cls, store: Store, name: str, content: bytes) -> HostedGame:
        """Load a game from disk.

        Raises:
            ValueError: If its file wasn't written by `save`.
        """
        stored, _ = read(name, content)
        game = Game.replay(json.dumps(stored.record))
        if len(stored.seats) != game.num_players:
            raise ValueError(f"it has {len(stored.seats)} seats for {game.num_players} players")
        return cls(
            name, stored.seats, game, store, stored.key, stored.share, stored.next, stored.resigned, stored.hinted,
            stored.taken_back, stored.agreed, stored.revision,
        )  # fmt: skip

    # --- looking ---

    @property
    def game(self) -> Game:
        """The current position. Don't play moves on it: see `play`."""
        return self.steps[-1].game

    @property
    def number(self) -> int:
        """Number of moves played."""
        return len(self.steps) - 1

    @property
    def trouble(self) -> str:
        """Why no agent can move, in the current language; empty if agents can."""
        return trouble(self.failure)

    @property
    def names(self) -> list[str]:
        return [seat.name for seat in self.seats]

    @property
    def people(self) -> list[int]:
        """Players who are people, including those who have resigned."""
        return [player for player, seat in enumerate(self.seats) if seat.agent is None]

    @property
    def playing(self) -> list[int]:
        """People who haven't resigned."""
        return [player for player in self.people if player not in self.resigned]

    def agent_of(self, player: int) -> str | None:
        """The agent that plays at a seat: its own, or the substitute if its person has resigned."""
        return self.seats[player].agent or (SUBSTITUTE if player in self.resigned else None)

    @property
    def over(self) -> bool:
        """Whether no more moves are played: the game is over, or resignations have ended it."""
        return self.game.over or not self.playing or len(self.resigned) == len(self.seats) - 1

    @property
    def places(self) -> list[int]:
        """Each player's place, 1 is the best. Players who have resigned come after all others, the first one last. If
        resignations ended the game, the others are ranked by their current standing."""
        resigned, outcomes = [*self.resigned], self.game.outcomes
        ranks = [
            (0, resigned.index(player)) if player in resigned else (1, outcomes[player])
            for player in range(len(self.seats))
        ]
        return [1 + sum(other > rank for other in ranks) for rank in ranks]

    @property
    def own_moves(self) -> list[tuple[int, int]]:
        """(player, action) of each move; the player is `NOBODY` where a substitute moved."""
        return [
            (step.player if number < self.resigned.get(step.player, number + 1) else NOBODY, step.action)
            for number, step in enumerate(self.steps[1:])
        ]

    def record(self) -> str:
        """The whole game as one line of JSON, including hidden cards.

        Raises:
            RefusedError: If the game isn't over.
        """
        if not self.over:
            raise RefusedError(409, "record")
        return self.game.record(self.names)

    # --- changing ---

    def play(self, player: int, number: Any, move: Any, by_agent: bool = False) -> None:
        """Play a move for a seat. It is on disk before any player sees it.

        Args:
            player: Player at the seat.
            number: Number of moves that the player has seen: the move applies only to that position.
            move: The move as text.
            by_agent: Whether an agent plays the move; it may replace a person after their resignation.

        Raises:
            RefusedError: If it can't be played; nothing has changed.
        """
        self.check_turn(player, number, by_agent)
        step = self._after(self.check_move(move))
        with self._saved():
            self.steps.append(step)
            self.agreed = frozenset()
        self.keep_result()
        self.notify()

    def resign(self, player: int) -> None:
        """Let a person resign. With two players the other one wins. Otherwise an agent replaces them, as long as
        another person and two players in all have not resigned.

        Raises:
            RefusedError: If the game is over, they have resigned before, or the game can't be saved.
        """
        if self.over:
            raise RefusedError(409, "over")
        if player in self.resigned:
            raise RefusedError(409, "resigned")
        with self._saved():
            self.resigned, self.agreed = {**self.resigned, player: self.number}, frozenset()
        self.keep_result()
        self.notify()

    def ask_for_hint(self, player: int) -> None:
        """Record that a player gets a hint.

        Raises:
            RefusedError: If the game can't be saved.
        """
        if player not in self.hinted:
            with self._saved():
                self.hinted |= {player}

    def keep_result(self) -> None:
        """Save the result once the game is over. On failure print a warning; the next start of the server tries
        again."""
        if not self.over or self.store.has_result(self.name):
            return
        seats = [
            Sat(seat.name, seat.agent, points, place, player in self.hinted, player in self.resigned)
            for player, (seat, points, place) in enumerate(zip(self.seats, self.game.scores, self.places, strict=True))
        ]
        game = self.game
        try:
            ended = datetime.fromtimestamp(self.store.time_written(self.name), UTC).isoformat(timespec="seconds")
            result = Result(RESULT_VERSION, game.definition.name, game.rules, ended, self.number, seats)
            self.store.write_result(self.name, result)
        except OSError as error:
            warn(f"the result of {self.name} can't be kept, until the server starts again: {reason(error)}")

    @property
    def last_can_be_taken_back(self) -> bool:
        """Whether the last move was a person's, has revealed nothing hidden, and a person is to move."""
        if not self.number or self.over:
            return False
        step, browser_part = self.steps[-1], self.game.definition.browser
        if browser_part is None or not {step.player, self.game.player} <= {*self.playing}:
            return False
        reveals = getattr(browser_part, "reveals", None)
        if reveals is None:
            return bool(browser_part.foreseeable(step.move))
        before, after = (self.steps[n].game.to_dict(step.player) for n in (-2, -1))
        return not reveals(before, step.move, after)

    def take_back(self, player: int, number: Any) -> None:
        """Take back the last move, once all people agree; the player of the move asks first.

        Raises:
            RefusedError: If the move can't be taken back, or the game can't be saved.
        """
        self.check_number(number)
        mover = self.steps[-1].player
        if (
            not self.last_can_be_taken_back
            or player not in self.playing
            or (player != mover and mover not in self.agreed)
        ):
            raise RefusedError(409, "no-undo")
        with self._saved():
            self.agreed |= {player}
            if self.agreed >= {*self.playing}:
                self.steps.pop()
                self.taken_back += 1
                self.agreed = frozenset()
        for log in self.logs.values():
            del log[self.number :]
        self.notify()

    def check_turn(self, player: int, number: Any, by_agent: bool = False) -> None:
        """Refuse requests for another position, out of turn, and from people who have resigned."""
        self.check_number(number)
        if player in self.resigned and not by_agent:
            raise RefusedError(409, "resigned")
        if self.game.player != player:
            raise RefusedError(409, "not-turn", name=self.names[self.game.player])

    def check_number(self, number: Any) -> None:
        """Refuse requests for another position."""
        if type(number) is not int:
            raise RefusedError(400, "number", got=f"{number!r:.40}")
        if self.over:
            raise RefusedError(409, "over")
        if number != self.number:
            raise RefusedError(409, "gone-on", n=self.number, meant=number)

    def check_move(self, move: Any) -> int:
        """The action of a move text; refuses illegal moves."""
        if not isinstance(move, str) or len(move) > LONGEST_MOVE or not move.isprintable():
            raise RefusedError(400, "move", example=self.game.moves()[0], got=f"{move!r:.40}")
        try:
            return self.game.action(move)
        except IllegalMoveError as error:
            raise RefusedError(422, "illegal", reason=str(error)) from None

    def save(self) -> None:
        """Write the game to disk.

        Raises:
            OSError: If it can't be written.
        """
        data = {
            "seats": [asdict(seat) for seat in self.seats],
            "key": self.key,
            "share": self.record_secret,
            "next": self.next,
            "resigned": [*self.resigned.items()],
            "hinted": sorted(self.hinted),
            "taken_back": self.taken_back,
            "agreed": sorted(self.agreed),
            "turn": None if self.over else self.game.player,
            "revision": self.revision + 1,
        }
        self.store.write(self.name, {**data, "record": json.loads(self.game.record(self.names))})
        self.revision += 1

    @contextmanager
    def _saved(self) -> Iterator[None]:
        """Save the changes made in a `with` block to disk; if that fails, undo them and refuse the request."""
        earlier = [*self.steps], self.agreed, self.resigned, self.hinted, self.taken_back
        try:
            yield
            self.save()
        except OSError as error:
            self.steps, self.agreed, self.resigned, self.hinted, self.taken_back = earlier
            raise RefusedError(503, "not-kept", reason=reason(error)) from None

    def notify(self) -> None:
        """Wake up everything that waits for a change."""
        self.changed.set()
        self.changed = asyncio.Event()
        if self.watcher is not None:
            self.watcher(self)

    def _after(self, action: int) -> Step:
        game = self.game.clone()
        game.play(action)
        return Step(game, self.game.player, action, self.game.move(action))


def trouble(failure: Message | None) -> str:
    """Why no agent can move, in the current language; empty if agents can."""
    return readable(str(failure), LONGEST_TROUBLE) if failure else ""


def read(name: str, content: bytes) -> tuple[Stored, Record]:
    """Parse a game's file and its record, with all checks that need no replay.

    Raises:
        ValueError: If `save` can't have written it.
    """
    stored = decode(content, Stored)
    if stored.version != VERSION:
        raise ValueError(f"it has version {stored.version}, not {VERSION}")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", name):
        raise ValueError("its name isn't valid for a game's file")
    seats = [checked_seat(seat) for seat in stored.seats]
    if all(seat.agent for seat in seats):
        raise ValueError("no person plays")
    secrets = [stored.share, *(seat.secret for seat in seats if seat.secret is not None)]
    if not SECRET.fullmatch(stored.share):
        raise ValueError(f"share is no secret: {shown(stored.share)}")
    if len({*secrets}) < len(secrets):
        raise ValueError("two of its links have the same secret")
    check_seed(stored.key)
    people = {player for player, seat in enumerate(seats) if seat.agent is None}
    resigned = [player for player, _ in stored.resigned]
    if len({*resigned}) < len(resigned) or not people.issuperset([*resigned, *stored.hinted, *stored.agreed]):
        raise ValueError(
            "only people resign, each once, ask for hints and take moves back: "
            f"{shown([resigned, stored.hinted, stored.agreed])}"
        )
    record = convert(stored.record, Record)
    if not all(0 <= number <= len(record.moves) for _, number in stored.resigned):
        raise ValueError(f"somebody has resigned after moves that weren't played: {shown(stored.resigned)}")
    if stored.turn is not None and not UNKNOWN <= stored.turn < len(seats):
        raise ValueError(f"turn is no player: {shown(stored.turn)}")
    return replace(stored, seats=seats), record


def checked_seat(seat: Seat) -> Seat:
    """Check a seat from a file, and make an agent's name safe to display.

    Raises:
        ValueError: If `HostedGame.save` can't have written it.
    """
    if seat.agent is None and (seat.secret is None or not SECRET.fullmatch(seat.secret)):
        raise ValueError(f"the secret of {shown(seat.name)} isn't valid: {shown(seat.secret)}")
    if seat.agent is not None and seat.secret is not None:
        raise ValueError(f"{shown(seat.name)} is an agent and has a secret")
    if seat.agent is not None and not fits(seat.agent, LONGEST_AGENT):
        raise ValueError(f"agents' names have 1 to {LONGEST_AGENT} printable letters, got {shown(seat.agent)}")
    if seat.agent is not None:
        return replace(seat, name=readable(seat.name, LONGEST_TITLE + NUMBER_LENGTH))
    if not fits(seat.name, LONGEST_NAME + NUMBER_LENGTH):
        raise ValueError(f"names have 1 to {LONGEST_NAME} printable letters, got {shown(seat.name)}")
    return seat
