"""The games of a folder: an index of all files, and the games in use, loaded on demand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.registry import find_game
from artus_training.play.hosted import UNKNOWN, HostedGame, RefusedError, Seat, read, trouble
from artus_training.play.store import Store, left_alone, reason, warn
from artus_training.play.texts import Message, readable

KEPT = 16
"""Number of latest games that stay loaded while unused."""


@dataclass(frozen=True)
class Entry:
    """Index entry of a game: all that lists and links need, without replaying it."""

    name: str
    game: str
    """Name of its definition."""
    rules: str
    seats: tuple[Seat, ...]
    share: str
    """The secret of the link to the record."""
    next: str
    """Name of the game that was set up to follow this one."""
    over: bool
    moves: int
    scores: tuple[int, ...]
    turn: int | None
    """The player to move; None if the game is over, or if an older version wrote the file without it."""
    failure: Message | None = None
    """Why no agent could move when it was last loaded; see `HostedGame.failure`."""

    @property
    def trouble(self) -> str:
        return trouble(self.failure)

    @classmethod
    def of(cls, hosted: HostedGame) -> Entry:
        game, over = hosted.game, hosted.over
        return cls(
            hosted.name, game.definition.name, game.rules, hosted.seats, hosted.record_secret, hosted.next, over,
            hosted.number, tuple(game.scores), None if over else game.player, hosted.failure,
        )  # fmt: skip


class Games(Mapping[str, HostedGame]):
    """All games of a folder, by name. `games[name]` loads a game.

    There is at most one object per game. Only the latest `KEPT` are referenced strongly here, so that other games
    without viewers and moving agents are freed. All files are read once, by the constructor. A file that can't be used
    is reported on stderr and left alone. Of files with a common secret the newest is used.

    Args:
        store: The folder.
        watcher: Called with a game after it is loaded and after each change.

    Attributes:
        entries: Index entry of each game, the oldest first.
        seats: Secret of a seat -> name of its game, player.
        records: Secret of the link to a record -> name of its game.
        notices: Warnings for the host's page about files that aren't used.
    """

    def __init__(self, store: Store, watcher: Callable[[HostedGame], None]) -> None:
        self.store = store
        self.entries: dict[str, Entry] = {}
        self.seats: dict[str, tuple[str, int]] = {}
        self.records: dict[str, str] = {}
        self.notices: list[Message] = []
        self._watcher = watcher
        self._loaded: WeakValueDictionary[str, HostedGame] = WeakValueDictionary()
        self._latest: OrderedDict[str, HostedGame] = OrderedDict()
        self._lock = threading.Lock()
        self._loading_locks: dict[str, threading.Lock] = {}
        self._read_all()

    def _read_all(self) -> None:
        dated_entries = []
        for path, content in self.store.read_all(self._leave_alone):
            try:
                entry, revision = self._entry(path.stem, content)
                # Files of older versions have no revision: then the last written one is the newest.
                dated_entries.append(((-revision, 0.0 if revision else -path.stat().st_mtime, path.stem), entry))
            except Exception as error:  # one bad file must not keep the others from being served
                self._leave_alone(path, error)
        for _, entry in sorted(dated_entries, key=lambda dated: dated[0]):
            newer = self._owner(entry)
            if newer is None:
                self._enter(entry)
            else:
                files = {"older": f"{entry.name}.json", "newer": f"{newer}.json"}
                self.notices.append(Message("warning.copy", files))
                warn(str(self.notices[-1]))
        self.entries = dict(sorted(self.entries.items()))

    def _leave_alone(self, path: Path, error: Exception) -> None:
        left_alone(path, error)
        self.notices.append(Message("warning.file", {"file": readable(path.name, 200), "reason": reason(error)}))

    def _entry(self, name: str, content: bytes) -> tuple[Entry, int]:
        stored, record = read(name, content)
        if len(record.scores) != len(stored.seats):
            raise ValueError(f"it has {len(stored.seats)} seats and {len(record.scores)} scores")
        rule_sets = find_game(record.game).rules
        rules = record.position.get("rules", rule_sets[0])
        if rules not in rule_sets:
            raise ValueError(f"rules must be one of {', '.join(rule_sets)}, got {shown(rules)}")
        over = stored.turn is None or (stored.turn == UNKNOWN and self.store.has_result(name))
        turn = None if stored.turn == UNKNOWN else stored.turn
        entry = Entry(
            name, record.game, rules, tuple(stored.seats), stored.share, stored.next, over, len(record.moves),
            tuple(record.scores), turn,
        )  # fmt: skip
        return entry, stored.revision

    def _owner(self, entry: Entry) -> str | None:
        """Name of the game that already has one of the entry's secrets, if any."""
        for seat in entry.seats:
            if seat.secret in self.seats:
                return self.seats[seat.secret][0]
        return self.records.get(entry.share)

    def _enter(self, entry: Entry) -> None:
        self.entries[entry.name] = entry
        self.records[entry.share] = entry.name
        for player, seat in enumerate(entry.seats):
            if seat.secret is not None:
                self.seats[seat.secret] = entry.name, player

    def add(self, hosted: HostedGame) -> None:
        """Add a new game.

        Raises:
            ValueError: If one of its secrets is another game's.
        """
        entry = Entry.of(hosted)
        if self._owner(entry) is not None:
            raise ValueError("one of its secrets is another game's")
        self._enter(entry)
        self._begin(hosted)
        self._keep_loaded(hosted)

    def __getitem__(self, name: str) -> HostedGame:
        """A game, loaded if necessary.

        Raises:
            RefusedError: If there is none, or its file can't be used.
        """
        if name not in self.entries:
            raise RefusedError(404, "no-game")
        entry = self.entries[name]
        with self._lock:
            loading_lock = self._loading_locks.setdefault(name, threading.Lock())
        with loading_lock:  # two objects of one game would overwrite each other's file
            hosted = self._loaded.get(name)
            if hosted is None:
                hosted = self._load(entry)
        self._keep_loaded(hosted)
        return hosted

    def is_loaded(self, name: str) -> bool:
        """Whether `games[name]` returns at once."""
        return name in self._loaded

    def _keep_loaded(self, hosted: HostedGame) -> None:
        with self._lock:
            self._latest[hosted.name] = hosted
            self._latest.move_to_end(hosted.name)
            while len(self._latest) > KEPT:
                self._latest.popitem(last=False)

    def _load(self, entry: Entry) -> HostedGame:
        path = self.store.path(entry.name)
        try:
            hosted = HostedGame.load(self.store, entry.name, self.store.read(path))
            if {*hosted.seats} != {*entry.seats} or hosted.record_secret != entry.share:
                raise ValueError("its links have changed since the server was started")
        except Exception as error:
            self._leave_alone(path, error)
            del self[entry.name]
            raise RefusedError(404, "damaged") from None
        hosted.failure = entry.failure
        if self.following(entry) is None:
            hosted.next = ""  # the next game is gone, or has other seats
        hosted.keep_result()  # unless it exists already
        self._begin(hosted)
        return hosted

    def _begin(self, hosted: HostedGame) -> None:
        self._loaded[hosted.name] = hosted
        hosted.watcher = self._changed
        self._changed(hosted)

    def _changed(self, hosted: HostedGame) -> None:
        if hosted.name in self.entries:
            self.entries[hosted.name] = Entry.of(hosted)
            self._watcher(hosted)

    def __delitem__(self, name: str) -> None:
        """Remove a game from the index; its file stays."""
        entry = self.entries.pop(name)
        self._latest.pop(name, None)
        self._loaded.pop(name, None)
        del self.records[entry.share]
        for seat in entry.seats:
            if seat.secret is not None:
                del self.seats[seat.secret]

    def __iter__(self) -> Iterator[str]:
        return iter([*self.entries])

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def following(self, entry: Entry) -> Entry | None:
        """The next game with the same players, which `again` has dealt, if there is one."""
        next_entry = self.entries.get(entry.next)
        if next_entry is None or next_entry.name == entry.name or next_entry.game != entry.game:
            return None
        players, next_players = ([(seat.name, seat.agent) for seat in each.seats] for each in (entry, next_entry))
        return next_entry if next_players == players else None

    def loaded(self) -> list[HostedGame]:
        """All loaded games."""
        return [*self._loaded.values()]
