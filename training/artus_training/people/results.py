"""Results of people's games: one JSON file for each game, which `artus play` saves in a folder below its games.

A game counts for a person if it shows their strength: an agent of known rating played in it, and the person didn't ask
for a hint, which is the move of a stronger player. All other games are kept but not used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from artus_env.engine.basics.reading import decode, shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game, game_names
from artus_training.arena.ladder import read_ladder
from artus_training.people.rating import NEEDED, Placement, RatedGame, place

VERSION = 1
LARGEST = 100_000
"""Most bytes of a file; real ones have a few hundred."""
LONGEST = 1000
"""Most letters of a name; an agent's name may be a long command line."""
RESULTS = "results"
"""The folder of results, within the folder of games."""

Variant = tuple[str, str, int]
"""Game, rules, number of players."""


@dataclass(frozen=True)
class Sat:
    """The player on a seat, and how the game ended for them."""

    name: str
    agent: str | None
    """Name for `find_agent`; None: a person."""
    points: int
    place: Annotated[int, Meta(ge=1)]
    """1: won, alone or with others. A player who resigned is behind all others."""
    hinted: bool = False
    """Whether they asked for a hint."""
    resigned: bool = False


@dataclass(frozen=True)
class Result:
    """The result of a game."""

    version: int
    game: str
    rules: str
    date: str
    """End of the game, as ISO 8601 in UTC, such as `2026-11-25T18:30:00+00:00`."""
    moves: Annotated[int, Meta(ge=0)]
    seats: list[Sat]

    @property
    def variant(self) -> Variant:
        return self.game, self.rules, len(self.seats)

    def seat_of(self, name: str) -> Sat | None:
        """The seat of the person with this name; None if they didn't play, or if two people have the name."""
        seats_of_name = [seat for seat in self.seats if seat.agent is None and key(seat.name) == key(name)]
        return seats_of_name[0] if len(seats_of_name) == 1 else None


def key(name: str) -> str:
    """Normalise a person's name: `Ann`, `ann ` and `ANN` are one person."""
    return " ".join(name.split()).casefold()


def default_folder() -> Path:
    """The default folder of games, in the user's data folder.

    Raises:
        ValueError: If the user has no home folder.
    """
    try:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    except RuntimeError:
        raise ValueError("this user has no home folder for the games of people: name a folder") from None
    return Path(data) / "artus" / "games"


def read_result(content: bytes) -> Result:
    """Decode a result from the content of its file.

    Raises:
        ValueError: If it is no valid result; the message gives the reason.
    """
    result = decode(content, Result)
    if result.version != VERSION:
        raise ValueError(f"it has version {result.version}, not {VERSION}")
    places = sorted(seat.place for seat in result.seats)
    if len(places) < 2 or any(place != 1 + places.index(place) for place in places):
        raise ValueError(f"the places of its seats are impossible: {shown(places)}")
    for text in (
        result.game,
        result.rules,
        *(text for seat in result.seats for text in (seat.name, seat.agent or "-")),
    ):
        if not text.isprintable() or not key(text) or len(text) > LONGEST:
            raise ValueError(f"names have 1 to {LONGEST} printable letters, got {shown(text)}")
    return result


def read_results(folder: Path, complain: Callable[[Path, Exception], None]) -> list[Result]:
    """Read all results of a folder of games, the oldest first; an empty list if there are none yet.

    Args:
        folder: The folder of games.
        complain: Called with each file that can't be used, and the error. All other files are read, and no file is
            changed.
    """
    results = []
    for path in sorted((folder / RESULTS).glob("*.json"), key=lambda path: path.stem):
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
            if len(content) > LARGEST:
                raise ValueError(f"it has more than {LARGEST} bytes")
            results.append(read_result(content))
        except (OSError, ValueError) as error:
            complain(path, error)
    return sorted(results, key=lambda result: result.date)


def ratings_of(game: Definition, rules: str, num_players: int) -> dict[str, float]:
    """Ratings of a variant's agents in the game's ladder, the weakest first."""
    return dict(_rated(game.ladder, rules, num_players)) if game.ladder else {}


@cache
def _rated(ladder: Path, rules: str, num_players: int) -> tuple[tuple[str, float], ...]:
    rated = {
        entry.agent: entry.rating
        for entry in read_ladder(Path(ladder)).entries
        if (entry.rules, entry.num_players) == (rules, num_players) and entry.rating is not None
    }
    return tuple(sorted(rated.items(), key=lambda item: item[1]))


@dataclass(frozen=True)
class Person:
    """A person's games and placement in one variant."""

    name: str
    variant: Variant
    games: int
    """Number of games on file."""
    counted: int
    """Number of games that count."""
    wins: int
    """Number of games that count and were won, alone or with others."""
    placement: Placement | None
    """None while fewer than `NEEDED` games count."""

    @property
    def missing(self) -> int:
        """Number of games still needed for a placement."""
        return max(0, NEEDED - self.counted)


def compared(result: Result, name: str, ratings: Mapping[str, float]) -> RatedGame | None:
    """The part of a result that shows a person's strength; None if the game doesn't count for them."""
    person_seat = result.seat_of(name)
    if person_seat is None or person_seat.hinted:
        return None
    agents = [(ratings[seat.agent], seat.place) for seat in result.seats if seat.agent and seat.agent in ratings]
    return RatedGame(person_seat.place, tuple(sorted(agents))) if agents else None


def person(results: Iterable[Result], name: str, variant: Variant, ratings: Mapping[str, float]) -> Person:
    """Summarise a person's results in one variant.

    Args:
        results: Results of any variants and people, the oldest first.
        name: The person's name.
        variant: The variant.
        ratings: The agents' known ratings in it.
    """
    results_of_person = [result for result in results if result.variant == variant and result.seat_of(name) is not None]
    games = [game for result in results_of_person if (game := compared(result, name, ratings)) is not None]
    last_seat = results_of_person[-1].seat_of(name) if results_of_person else None
    return Person(
        last_seat.name if last_seat else name,
        variant,
        len(results_of_person),
        len(games),
        sum(game.place == 1 for game in games),
        place(games, ratings) if len(games) >= NEEDED else None,
    )


def everybody(results: Iterable[Result]) -> list[Person]:
    """All people in all variants that they have played, sorted by name and variant. In games that aren't installed they
    get no placement."""
    result_list = list(results)
    variants = {result.variant for result in result_list}
    people = [one for variant in variants for one in on_the_scale_of(known(variant), variant, result_list)]
    return sorted(people, key=lambda one: (key(one.name), one.variant))


def on_the_scale_of(ratings: Mapping[str, float], variant: Variant, results: Iterable[Result]) -> list[Person]:
    """All people of a variant, rated on the scale of a table by their games against its agents.

    Args:
        ratings: Ratings of the table's agents, by the names that `find_agent` takes.
        variant: The variant of the table.
        results: Results of any variants and people.
    """
    of_variant = [result for result in results if result.variant == variant]
    names = {key(seat.name): seat.name for result in of_variant for seat in result.seats if seat.agent is None}
    return [person(of_variant, name, variant, ratings) for _, name in sorted(names.items())]


def known(variant: Variant) -> dict[str, float]:
    """The agents' known ratings in a variant; empty if the game isn't installed."""
    game, rules, num_players = variant
    return ratings_of(find_game(game), rules, num_players) if game in game_names() else {}
