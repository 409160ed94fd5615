"""Placements of people among the agents, as text: after a game, before one, and as a table in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.registry import find_game
from artus_training.people import results as people
from artus_training.people.rating import NEEDED, Placement
from artus_training.people.results import Person, Result, Variant
from artus_training.play.hosted import HostedGame
from artus_training.play.store import Store
from artus_training.play.strength import levels
from artus_training.play.texts import say
from artus_training.tables import shortened

WIDTH = 80
"""Characters of a line in the terminal."""


def after_game(hosted: HostedGame, player: int) -> list[str]:
    """Lines for a person after a game: whether it counts, and their placement or the number of missing games."""
    game = hosted.game
    variant = game.definition.name, game.rules, game.num_players
    ratings = people.known(variant)
    uncounted = ""
    if len(hosted.people) == len(hosted.seats):
        uncounted = "placing.people"
    elif not any(seat.agent in ratings for seat in hosted.seats):
        uncounted = "placing.unrated"
    elif player in hosted.hinted:
        uncounted = "placing.hinted"
    known = people.person(hosted.store.results(), hosted.names[player], variant, ratings)
    return [*([say(uncounted)] if uncounted else []), *standing(known, ratings, begun=not uncounted)]


def before_game(store: Store, name: str, variant: Variant) -> list[str]:
    """Lines for a person who takes a seat on the start page: empty if they haven't played this variant yet."""
    ratings = people.known(variant)
    return standing(people.person(store.results(), name, variant, ratings), ratings, begun=False)


def standing(person: Person, ratings: Mapping[str, float], begun: bool) -> list[str]:
    """A person's placement, or the number of missing games. `begun`: include the number even if no game counts yet."""
    if person.placement is not None:
        return [*neighbours(person, person.placement), *certainty(person.variant, person.placement)]
    if not ratings or not (begun or person.counted):
        return []
    return [say("placing.missing", name=person.name, n=person.missing, counted=person.counted, needed=NEEDED)]


def neighbours(person: Person, found: Placement) -> list[str]:
    """The agents between which a person is placed."""
    return [
        say(
            f"placing.{found.side}",
            name=person.name,
            below=agent_label(found.below, person.variant),
            above=agent_label(found.above, person.variant),
            rating=round(found.rating),
            low=round(found.low),
            high=round(found.high),
            n=person.counted,
        )
    ]


def certainty(variant: Variant, found: Placement) -> list[str]:
    """How certain it is that a person is better than the agent below and weaker than the one above."""
    lines = []
    if found.below:
        agent = agent_label(found.below, variant)
        lines.append(say("placing.better", agent=agent, percent=percent(found.better[found.below])))
    if found.above:
        agent = agent_label(found.above, variant)
        lines.append(say("placing.weaker", agent=agent, percent=percent(1 - found.better[found.above])))
    return lines


def percent(part: float) -> int:
    """A probability in percent, at most 99: a few games never give certainty."""
    return min(99, round(100 * part))


def agent_label(agent: str | None, variant: Variant) -> str:
    """An agent's name, with its level on the start page, if it has one."""
    game, rules, num_players = variant
    level = next((each for each, name in levels(find_game(game), rules, num_players).items() if name == agent), None)
    return say("placing.level", level=say(f"level.{level}"), agent=agent) if level else agent or ""


def table(results: Sequence[Result], folder: Path) -> str:
    """All people and their placements, as text."""
    if not results:
        return f"No game that is over is kept in {folder}."
    everybody = people.everybody(results)
    variants = [", ".join(map(str, person.variant)) for person in everybody]
    wide = max(map(len, [*variants, "game, rules, players"]))
    narrow = min(max(len(person.name) for person in everybody), max(8, WIDTH - wide - 45))
    narrow = max(narrow, len("name"))
    lines = [
        f"{'name':<{narrow}}  {'game, rules, players':<{wide}}  {'kept':>5}  {'count':>5}  {'won':>5}  rating (95 %)"
    ]
    for person, variant in zip(everybody, variants, strict=True):
        found = person.placement
        rating = f"{found.rating:.0f} ({found.low:.0f}..{found.high:.0f})" if found else "-"
        name = shortened(person.name, narrow)
        counts = f"{person.games:>5}  {person.counted:>5}  {person.wins:>5}"
        lines.append(f"{name:<{narrow}}  {variant:<{wide}}  {counts}  {rating}")
        lines += [f"  {line}" for line in details(person)]
    return "\n".join([*lines, "", *files_of(folder)])


def details(person: Person) -> list[str]:
    """Lines below a person's row of the table."""
    found = person.placement
    if found is None:
        if not people.known(person.variant):
            return ["no agent of this variant has a known rating"]
        others = person.games - person.counted
        why = f"; {counted(others, 'game')} with a hint, or without agents of known rating" if others else ""
        return [f"{person.missing} more until a placement{why}"]
    parts = [f"better than {found.below}: {percent(found.better[found.below])} % sure"] if found.below else []
    if found.above:
        parts.append(f"weaker than {found.above}: {percent(1 - found.better[found.above])} % sure")
    return [str(found), "; ".join(parts)]


def files_of(folder: Path) -> list[str]:
    """Sentences about where the files with results are, and how to delete them."""
    return [
        f"Kept in {folder / people.RESULTS}, on this machine only.",
        f"To delete a game, delete its file there, and the one of the same name in {folder}.",
    ]
