"""A game between people and agents: who sits where, what has happened, what may happen next."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta

from artus_env import Game
from artus_env.engine.basics.reading import convert, decode, shown
from artus_env.engine.contract.rng import check_seed, fresh_seed
from artus_env.engine.play.game import IllegalMoveError
from artus_env.engine.play.records import Record
from artus_training.arena.people import VERSION as RESULT_VERSION
from artus_training.arena.people import Result, Sat
from artus_training.play import levels, of_game
from artus_training.play.names import fits
from artus_training.play.phrases import say
from artus_training.play.store import SECRET, VERSION, Store, new_secret, reason, warn
from artus_training.play.words import readable

LONGEST_NAME = 24
LONGEST_AGENT = 1000
LONGEST_MOVE = 100
LONGEST_TROUBLE = 2000
LONGEST_TITLE = 40
"""Letters of an agent's name that are shown; it may be a long command line."""
NUMBER = len(" 12")
"""Length of the number that `unique` may append."""
UNKNOWN = -1
NOBODY = -1
"""Player of moves that are nobody's own, see `HostedGame.own_moves`."""
SUBSTITUTE = levels.LEVELS["medium"]
"""The agent that plays on for somebody who has resigned: it needs nothing but the game."""


class RefusedError(Exception):
    """Something that can't be done. Nothing has changed; `status` is the HTTP status that says so.

    Args:
        status: See above.
        why: Key of the reason's text, without `error.`; it is said in the language of whoever asks.
        values: What its text needs.
    """

    def __init__(self, status: int, why: str, **values: Any) -> None:
        super().__init__(why)
        self.status = status
        self._key, self._values = f"error.{why}", values

    def __str__(self) -> str:
        return say(self._key, **self._values)


@dataclass(frozen=True)
class Seat:
    """Who plays. A person has a secret, which is their link; an agent has its name as `find_agent` takes it."""

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
    """Who has resigned, and how many moves had been played then, in the order in which they did."""
    hinted: list[int] = field(default_factory=list)
    """Who has asked for a hint."""
    taken_back: Annotated[int, Meta(ge=0)] = 0
    """How many moves have been taken back."""
    agreed: list[int] = field(default_factory=list)
    """Players who agree to take back the last move."""
    turn: int | None = UNKNOWN
    """The player to move, None when the game is over; `UNKNOWN` in files of older versions."""
    revision: Annotated[int, Meta(ge=0)] = 0
    """Number of times that the file was written: the higher, the newer of two copies."""


@dataclass(frozen=True)
class Step:
    """A move that was played, and the game after it. For the server's eyes only: see `sight` for what others get."""

    game: Game
    player: int = -1  # -1: nothing was played yet
    action: int = -1
    move: str = ""


class HostedGame:
    """One game that the server keeps, and its seats. Only the event loop's thread may call its methods.

    Attributes:
        steps: The game before the first move, and after each one.
        key: All that its agents and its hints draw derives from it.
        record_secret: The secret of the link to the finished game's record.
        next: Name of the game that was set up to follow this one.
        logs: The lines of the log that each seat was told when the moves were played, by language.
        why: Why no agent can move: the key of a text and its values, None if all is well. Not kept on disk.
        taken_back: How many moves have been taken back.
        agreed: People who want the last move to be taken back, its player among them.
        resigned: Who has resigned, with the number of moves played until then, in the order in which they did.
        hinted: Who has asked for a hint.
        revision: Number of times that the file was written.
        changed: Set, and replaced, whenever something is new.
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
        self.why: tuple[str, dict[str, str]] | None = None
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
        """A new game, kept on disk from now on.

        Args:
            store: Where it is kept.
            rules: Its rule set, None for the first one.
            seats: Who plays.
            seed: The deal, None for a random one.
            game_name: Which game; None: the default one.

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
        """A game from disk.

        Raises:
            ValueError: If its file isn't what `save` has written.
        """
        stored, _ = read(name, content)
        game = of_game.replay(stored.record)
        if len(stored.seats) != game.num_players:
            raise ValueError(f"it has {len(stored.seats)} seats for {game.num_players} players")
        return cls(
            name, stored.seats, game, store, stored.key, stored.share, stored.next, stored.resigned, stored.hinted,
            stored.taken_back, stored.agreed, stored.revision,
        )  # fmt: skip

    # --- looking ---

    @property
    def game(self) -> Game:
        """The game as it is now. Not to be played on: see `play`."""
        return self.steps[-1].game

    @property
    def number(self) -> int:
        """How many moves have been played."""
        return len(self.steps) - 1

    @property
    def trouble(self) -> str:
        """Why no agent can move, in the language that is spoken now; empty if all is well."""
        return trouble(self.why)

    @property
    def names(self) -> list[str]:
        return [seat.name for seat in self.seats]

    @property
    def people(self) -> list[int]:
        """Players who are people, those who have resigned among them."""
        return [player for player, seat in enumerate(self.seats) if seat.agent is None]

    @property
    def playing(self) -> list[int]:
        """People who haven't resigned."""
        return [player for player in self.people if player not in self.resigned]

    def agent_of(self, player: int) -> str | None:
        """The agent that plays at a seat: its own, or the one that plays on for somebody who has resigned."""
        return self.seats[player].agent or (SUBSTITUTE if player in self.resigned else None)

    @property
    def over(self) -> bool:
        """Whether nobody moves any more: the game is over, or so many have resigned that it ends with that."""
        return self.game.over or not self.playing or len(self.resigned) == len(self.seats) - 1

    @property
    def places(self) -> list[int]:
        """Each player's place, 1 is the best. Who has resigned stands behind all others, the first of them last; where
        the game ended with that, the others stand as they stood then."""
        left, standing = [*self.resigned], self.game.outcomes
        ranks = [
            (0, left.index(player)) if player in left else (1, standing[player]) for player in range(len(self.seats))
        ]
        return [1 + sum(other > own for other in ranks) for own in ranks]

    @property
    def own_moves(self) -> list[tuple[int, int]]:
        """(player, action) of each move; the player is `NOBODY` if an agent moved in place of a player who had
        resigned."""
        return [
            (step.player if number < self.resigned.get(step.player, number + 1) else NOBODY, step.action)
            for number, step in enumerate(self.steps[1:])
        ]

    def record(self) -> str:
        """The whole game as one line of JSON, hidden cards included.

        Raises:
            RefusedError: As long as it isn't over.
        """
        if not self.over:
            raise RefusedError(409, "record")
        return self.game.record(self.names)

    # --- changing ---

    def play(self, player: int, number: Any, move: Any, by_agent: bool = False) -> None:
        """Play a move for a seat, and keep it on disk before anybody sees it.

        Args:
            player: Whose seat.
            number: How many moves they have seen: the move is meant for that position and no other.
            move: As text.
            by_agent: Whether an agent plays it, which may do so for somebody who has resigned.

        Raises:
            RefusedError: If it can't be played; nothing has changed.
        """
        self.check_turn(player, number, by_agent)
        step, before = self._after(self.check_move(move)), self.agreed
        self.steps.append(step)
        self.agreed = frozenset()
        try:
            self.keep()
        except RefusedError:
            self.steps.pop()
            self.agreed = before
            raise
        self.keep_result()
        self.notify()

    def resign(self, player: int) -> None:
        """Let a person give the game up. Of two players the other one wins. Otherwise an agent plays on for them, as
        long as there is another person, and two players who haven't resigned.

        Raises:
            RefusedError: If it is over, they have resigned before, or it can't be kept.
        """
        if self.over:
            raise RefusedError(409, "over")
        if player in self.resigned:
            raise RefusedError(409, "resigned")
        before = self.resigned, self.agreed
        self.resigned, self.agreed = {**self.resigned, player: self.number}, frozenset()
        try:
            self.keep()
        except RefusedError:
            self.resigned, self.agreed = before
            raise
        self.keep_result()
        self.notify()

    def ask_for_hint(self, player: int) -> None:
        """Remember that somebody gets a hint.

        Raises:
            RefusedError: If that can't be kept.
        """
        if player in self.hinted:
            return
        before = self.hinted
        self.hinted = before | {player}
        try:
            self.keep()
        except RefusedError:
            self.hinted = before
            raise

    def keep_result(self) -> None:
        """Keep how the game has ended, once it has. Where that fails it is said, and done when the server starts
        again."""
        if not self.over or self.store.has_result(self.name):
            return
        seats = [
            Sat(seat.name, seat.agent, points, place, player in self.hinted, player in self.resigned)
            for player, (seat, points, place) in enumerate(zip(self.seats, self.game.scores, self.places, strict=True))
        ]
        game = self.game
        try:
            ended = datetime.fromtimestamp(self.store.changed(self.name), UTC).isoformat(timespec="seconds")
            result = Result(RESULT_VERSION, game.definition.name, game.rules, ended, self.number, seats)
            self.store.write_result(self.name, result)
        except OSError as error:
            warn(f"the result of {self.name} can't be kept, until the server starts again: {reason(error)}")

    @property
    def last_can_be_taken_back(self) -> bool:
        """Whether the last move is a person's that has shown nothing hidden, and a person is to move."""
        if not self.number or self.over:
            return False
        step, own = self.steps[-1], self.game.definition.browser
        if own is None or not {step.player, self.game.player} <= {*self.playing}:
            return False
        reveals = getattr(own, "reveals", None)
        if reveals is None:
            return bool(own.foreseeable(step.move))
        before, after = (each.game.to_dict(step.player) for each in self.steps[-2:])
        return not reveals(before, step.move, after)

    def take_back(self, player: int, number: Any) -> None:
        """Take back the last move, once all people want it; the one who has played it asks first.

        Raises:
            RefusedError: If it can't be taken back, or the game can't be kept without it.
        """
        self.check_number(number)
        mover = self.steps[-1].player
        if (
            not self.last_can_be_taken_back
            or player not in self.playing
            or (player != mover and mover not in self.agreed)
        ):
            raise RefusedError(409, "no-undo")
        before, last = self.agreed, self.steps[-1]
        self.agreed = before | {player}
        goes = self.agreed >= {*self.playing}
        if goes:
            self.steps.pop()
            self.taken_back += 1
            self.agreed = frozenset()
        try:
            self.keep()
        except RefusedError:
            self.agreed = before
            if goes:
                self.steps.append(last)
                self.taken_back -= 1
            raise
        for log in self.logs.values():
            del log[self.number :]
        self.notify()

    def check_turn(self, player: int, number: Any, by_agent: bool = False) -> None:
        """Refuse what isn't meant for this position, or comes from a seat that isn't to move, or from somebody who has
        resigned."""
        self.check_number(number)
        if player in self.resigned and not by_agent:
            raise RefusedError(409, "resigned")
        if self.game.player != player:
            raise RefusedError(409, "not-turn", name=self.names[self.game.player])

    def check_number(self, number: Any) -> None:
        """Refuse what isn't meant for this position."""
        if type(number) is not int:
            raise RefusedError(400, "number", got=f"{number!r:.40}")
        if self.over:
            raise RefusedError(409, "over")
        if number != self.number:
            raise RefusedError(409, "gone-on", n=self.number, meant=number)

    def check_move(self, move: Any) -> int:
        """The action that a text means; refuse what isn't a legal move now."""
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

    def keep(self) -> None:
        """`save`, where it has to be done before anything else happens.

        Raises:
            RefusedError: If it can't be written.
        """
        try:
            self.save()
        except OSError as error:
            raise RefusedError(503, "not-kept", reason=reason(error)) from None

    def notify(self) -> None:
        """Wake up all who wait for something new."""
        self.changed.set()
        self.changed = asyncio.Event()
        if self.watcher is not None:
            self.watcher(self)

    def _after(self, action: int) -> Step:
        game = self.game.clone()
        game.play(action)
        return Step(game, self.game.player, action, self.game.move(action))


def trouble(why: tuple[str, dict[str, str]] | None) -> str:
    """Why no agent can move, in the language that is spoken now; empty if all is well."""
    return readable(say(why[0], **why[1]), LONGEST_TROUBLE) if why else ""


def read(name: str, content: bytes) -> tuple[Stored, Record]:
    """Parse a game's file and the record in it, and check all that needs no replay.

    Raises:
        ValueError: If it isn't what `save` has written.
    """
    stored = decode(content, Stored)
    if stored.version != VERSION:
        raise ValueError(f"it has version {stored.version}, not {VERSION}")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", name):
        raise ValueError("its name isn't one of a game's file")
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
    left = [player for player, _ in stored.resigned]
    if len({*left}) < len(left) or not people.issuperset([*left, *stored.hinted, *stored.agreed]):
        raise ValueError(
            "only people resign, each once, ask for hints and take moves back: "
            f"{shown([left, stored.hinted, stored.agreed])}"
        )
    record = convert(stored.record, Record)
    if not all(0 <= number <= len(record.moves) for _, number in stored.resigned):
        raise ValueError(f"somebody has resigned after moves that weren't played: {shown(stored.resigned)}")
    if stored.turn is not None and not UNKNOWN <= stored.turn < len(seats):
        raise ValueError(f"turn is no player: {shown(stored.turn)}")
    return replace(stored, seats=seats), record


def checked_seat(seat: Seat) -> Seat:
    """A seat from a file, if it could have come from the command line.

    Raises:
        ValueError: If it couldn't.
    """
    if seat.agent is None and (seat.secret is None or not SECRET.fullmatch(seat.secret)):
        raise ValueError(f"the secret of {shown(seat.name)} is none: {shown(seat.secret)}")
    if seat.agent is not None and seat.secret is not None:
        raise ValueError(f"{shown(seat.name)} is an agent and has a secret")
    if seat.agent is not None and not fits(seat.agent, LONGEST_AGENT):
        raise ValueError(f"agents' names have 1 to {LONGEST_AGENT} printable letters, got {shown(seat.agent)}")
    if seat.agent is not None:
        return replace(seat, name=readable(seat.name, LONGEST_TITLE + NUMBER))
    if not fits(seat.name, LONGEST_NAME + NUMBER):
        raise ValueError(f"names have 1 to {LONGEST_NAME} printable letters, got {shown(seat.name)}")
    return seat
