"""Ratings of people among those of the agents, as text: after a game, before a game, and as a table in the terminal."""

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
    reason_key = ""  # why the game doesn't count
    if len(hosted.people) == len(hosted.seats):
        reason_key = "placing.people"
    elif not any(seat.agent in ratings for seat in hosted.seats):
        reason_key = "placing.unrated"
    elif player in hosted.hinted:
        reason_key = "placing.hinted"
    person = people.person(hosted.store.results(), hosted.names[player], variant, ratings)
    return [*([say(reason_key)] if reason_key else []), *standing(person, ratings, show_zero=not reason_key)]


def before_game(store: Store, name: str, variant: Variant) -> list[str]:
    """Lines for a person who takes a seat on the start page: empty if they haven't played this variant yet."""
    ratings = people.known(variant)
    return standing(people.person(store.results(), name, variant, ratings), ratings, show_zero=False)


def standing(person: Person, ratings: Mapping[str, float], show_zero: bool) -> list[str]:
    """A person's placement, or the number of missing games. `show_zero`: say the number even if no game counts yet."""
    if person.placement is not None:
        return [*neighbours(person, person.placement), *certainty(person.variant, person.placement)]
    if not ratings or not (show_zero or person.counted):
        return []
    return [say("placing.missing", name=person.name, n=person.missing, counted=person.counted, needed=NEEDED)]


def neighbours(person: Person, placement: Placement) -> list[str]:
    """The agents between which a person is placed."""
    return [
        say(
            f"placing.{placement.side}",
            name=person.name,
            below=agent_label(placement.below, person.variant),
            above=agent_label(placement.above, person.variant),
            rating=round(placement.rating),
            low=round(placement.low),
            high=round(placement.high),
            n=person.counted,
        )
    ]


def certainty(variant: Variant, placement: Placement) -> list[str]:
    """How certain it is that a person is better than the agent below and weaker than the one above."""
    lines = []
    if placement.below:
        agent = agent_label(placement.below, variant)
        lines.append(say("placing.better", agent=agent, percent=percent(placement.better[placement.below])))
    if placement.above:
        agent = agent_label(placement.above, variant)
        lines.append(say("placing.weaker", agent=agent, percent=percent(1 - placement.better[placement.above])))
    return lines


def percent(probability: float) -> int:
    """A probability in percent, at most 99: a few games never give certainty."""
    return min(99, round(100 * probability))


def agent_label(agent: str | None, variant: Variant) -> str:
    """An agent's name, after the title of its level on the start page, if it has one."""
    game, rules, num_players = variant
    level = next((each for each, name in levels(find_game(game), rules, num_players).items() if name == agent), None)
    return say("placing.level", level=say(f"level.{level}"), agent=agent) if level else agent or ""


def table(results: Sequence[Result], folder: Path) -> str:
    """All people and their placements, as text."""
    if not results:
        return f"No game that is over is kept in {folder}."
    everybody = people.everybody(results)
    variants = [", ".join(map(str, person.variant)) for person in everybody]
    variant_width = max(map(len, [*variants, "game, rules, players"]))
    name_width = min(max(len(person.name) for person in everybody), max(8, WIDTH - variant_width - 45))
    name_width = max(name_width, len("name"))
    counts = f"{'kept':>5}  {'count':>5}  {'won':>5}"
    lines = [f"{'name':<{name_width}}  {'game, rules, players':<{variant_width}}  {counts}  rating (95 %)"]
    for person, variant in zip(everybody, variants, strict=True):
        placement = person.placement
        rating = f"{placement.rating:.0f} ({placement.low:.0f}..{placement.high:.0f})" if placement else "-"
        name = shortened(person.name, name_width)
        counts = f"{person.games:>5}  {person.counted:>5}  {person.wins:>5}"
        lines.append(f"{name:<{name_width}}  {variant:<{variant_width}}  {counts}  {rating}")
        lines += [f"  {line}" for line in details(person)]
    return "\n".join([*lines, "", *files_of(folder)])


def details(person: Person) -> list[str]:
    """Lines below a person's row of the table."""
    placement = person.placement
    if placement is None:
        if not people.known(person.variant):
            return ["no agent of this variant has a known rating"]
        uncounted = person.games - person.counted
        reason = f"; {counted(uncounted, 'game')} with a hint, or without agents of known rating" if uncounted else ""
        return [f"{person.missing} more until a placement{reason}"]
    parts = []
    if placement.below:
        parts.append(f"better than {placement.below}: {percent(placement.better[placement.below])} % sure")
    if placement.above:
        parts.append(f"weaker than {placement.above}: {percent(1 - placement.better[placement.above])} % sure")
    return [str(placement), "; ".join(parts)]


def files_of(folder: Path) -> list[str]:
    """Sentences about where the files with results are, and how to delete them."""
    return [
        f"Kept in {folder / people.RESULTS}, on this machine only.",
        f"To delete a game, delete its file there, and the one of the same name in {folder}.",
    ]
