"""Tournaments: every line-up of agents, in many seating orders, thousands of games at once.

All line-ups play the same deals, each once in every rotation of the seats, and from deal to deal in another order.
The randomness of a decision depends only on (seed, line-up, deal, rotation). So results don't depend on the number of
games played at a time, and an interrupted tournament, even after a crash, continues where it stopped and gives the
same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from artus_env.agents import Agent
from artus_env.engine.basics.writing import alone_in
from artus_training.arena.live import LiveTable
from artus_training.arena.made_of import NO_AGENTS, Given
from artus_training.arena.playing import Played, Playing, Unit
from artus_training.arena.results import Results, Settings
from artus_training.arena.standings import Tally
from artus_training.arena.store import Store
from artus_training.arena.teams import check_all
from artus_training.arena.units import Runner, kept, unit_games


class Interrupted(KeyboardInterrupt):
    """Raised after Ctrl-C in a tournament; the games played so far are saved.

    Attributes:
        results: The results of these games.
    """

    def __init__(self, results: Results) -> None:
        super().__init__()
        self.results = results


def run(
    settings: Settings,
    folder: Path,
    records: Path | None = None,
    agents: Given = NO_AGENTS,
    workers: int = 1,
    ray: str | None = None,
    joined: tuple[Settings, Path] | None = None,
    do: Runner | None = None,
) -> Results:
    """Play the missing games of a tournament and return all results. Shows progress; may be interrupted at any time.

    Args:
        settings: Settings of the tournament.
        folder: Folder of the results; a tournament there with the same settings is continued.
        records: Save every game as a line in this file.
        agents: Agents or functions behind some names; all others are found by name. Their code is part of the
            fingerprint, so an interrupted tournament can't be continued with other code. The attributes of an object
            aren't: put its parameters into its name.
        workers: Processes that play; the results don't depend on their number. With several, `agents` must be
            picklable.
        ray: Address of a Ray cluster that plays instead, see `units.run_units`.
        joined: A tournament of the first agents, which the others join, and its folder: its games aren't played again.
            The result is the same as if all had played from the beginning.
        do: Runs the units instead of `workers`, see `units.kept`.

    Raises:
        ValueError: If an agent is unknown, doesn't start or can't be sent, or the folder holds another tournament or a
            damaged one, or the joined tournament doesn't exist or doesn't fit.
        Interrupted: After Ctrl-C.
        UnitError: After all other games are played and saved, if processes died again and again during some games.
        OSError: If a file can't be written. All games played are kept, and the same call continues from there.
    """
    unknown = set(agents) - set(settings.agents)
    if unknown:
        raise ValueError(
            f"agents are given that don't play: {' '.join(sorted(unknown))}; those who do: {' '.join(settings.agents)}"
        )
    playing = Playing(settings, dict(agents), records is not None)
    if joined is not None:
        _check_joined(settings, folder, records, *joined)
    with nullcontext(do) if do else kept(workers, ray, playing) as do:
        players = dict(zip(settings.agents, playing.players, strict=True))
        check_all(players, settings.definition, settings.rules, settings.num_players)
        with alone_in(folder, "playing this tournament"):
            store = Store(folder, settings, records, agents)
            if joined is not None:
                before, there = joined
                with alone_in(there, "playing this tournament"):
                    given = {name: agent for name, agent in agents.items() if name in before.agents}
                    store.take_over(Store(there, before, None, given))
            return _play(settings, playing, store, do)


def _check_joined(settings: Settings, folder: Path, records: Path | None, before: Settings, there: Path) -> None:
    """Raise a ValueError if agents can't join the tournament in the folder `there`, with results in `folder`."""
    if not (there / "settings.json").exists():
        lies = folder if (folder / "settings.json").exists() else "FOLDER"
        new = ", and a new folder for all games with --out" if lies == folder else ""
        raise ValueError(
            f"{there} holds no tournament of {' '.join(before.agents)} that others could join; name the folder where "
            f"it lies with --add-to {lies}{new}"
        )
    if records is not None:
        raise ValueError("no records can be kept when agents join: those of the games before are missing")
    if len(before.agents) < settings.num_players:
        raise ValueError(
            f"to {len(before.agents)} agents none can be added: with {settings.num_players} players they sat at a "
            "table more than once, and with one more they wouldn't"
        )


def _play(settings: Settings, playing: Playing, store: Store, do: Runner) -> Results:
    """Play and save the missing deals; return all results."""
    total = store.played.size * settings.num_players
    units = units_of(settings, playing.players, store.played)
    ahead = {unit: store.ahead.pop(unit) for unit in units if unit in store.ahead}
    missing = [unit for unit in units if unit not in ahead]
    waiting: dict[int, Played] = {}
    tally = Tally(settings)
    for block in store.blocks:
        tally.add(block)
    try:
        with LiveTable(tally) as live:
            before = int(store.played.sum()) * settings.num_players
            task = live.add_task("playing", total=total, completed=before)
            for block, games in in_turn(units, ahead, do(playing, missing, waiting=waiting)):
                store.append(block, games)
                live.add_block(block)
                live.update(task, advance=len(block) * settings.num_players)
    except KeyboardInterrupt:
        raise Interrupted(store.results()) from None
    finally:
        store.keep_ahead({**ahead, **{missing[number]: played for number, played in waiting.items()}})
    return store.results()


def in_turn(units: list[Unit], ahead: dict[Unit, Played], found: Iterable[tuple[Unit, Played]]) -> Iterator[Played]:
    """Merge results in the order of the units.

    Args:
        units: All units of this run.
        ahead: Results that an interrupted run had saved in advance; is emptied.
        found: Results of the other units, in their order; some may be missing.
    """
    left = iter(units)
    for unit, played in found:
        for other in left:
            if other == unit:
                break
            if other in ahead:
                yield ahead.pop(other)
        yield played
    for other in left:
        if other in ahead:
            yield ahead.pop(other)


def units_of(settings: Settings, players: list[Agent], played: np.ndarray) -> list[Unit]:
    """Units for the deals that aren't played yet, ordered so that all line-ups advance evenly.

    A unit is saved as a whole. It is one deal, unless all agents prefer more games at a time (`games_at_once`).

    Args:
        played: See `Store.played`.
    """
    units = []
    for lineup, who in enumerate(settings.lineups()):
        those = [players[agent] for agent in who]
        fast = all(hasattr(agent, "games_at_once") for agent in those)
        size = max(1, unit_games(those) // settings.num_players) if fast else 1
        for start in range(0, settings.deals, size):
            missing = start + np.flatnonzero(~played[lineup, start : start + size])
            for deals in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
                if len(deals):
                    units.append(Unit(lineup, int(deals[0]), len(deals)))
    return sorted(units, key=lambda unit: (unit.first, unit.lineup))
