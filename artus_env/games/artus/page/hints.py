"""Texts about why a move may be good: what it gains, keeps, prevents or costs beyond its points.

They use only the positions before and after the move, as its player knows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from artus_env.authoring import signed
from artus_env.games.artus.components import Components
from artus_env.games.artus.page import say
from artus_env.games.artus.page.counting import knights_of, seat_values
from artus_env.games.artus.page.picture import LastMove, king_of, last_move
from artus_env.games.artus.page.sentences import figure_words

WELL = 5
"""Lowest value of a seat that is worth keeping."""
Reason = tuple[float, str]
"""Weight and text of an advantage or disadvantage."""


def reasons(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> list[str]:
    """Advantages and disadvantages of a legal move, the most important first. Empty if the move
    places a knight or draws a card.

    Args:
        before: The position, as the player to move knows it.
        move: The move.
        after: The position that follows; None if it can't be foreseen.
        names: Names of the players.
        components: The box.
    """
    if after is None:
        return []
    last = last_move(before, move, after, components)
    if last.move.kind == "place":
        return []
    values = seat_values(before, components), seat_values(after, components)  # before and after the move
    weighted = [*_turn_reasons(before, after, values, names), *_push_reasons(before, last, values, names)]
    weighted += [*_move_reasons(before, last, values), *_stay_reasons(before, after, values)]
    return [words for _, words in sorted(weighted, key=lambda reason: -reason[0])]


def _turn_reasons(
    before: dict[str, Any], after: dict[str, Any], values: tuple[list[int], list[int]], names: Sequence[str]
) -> Iterator[Reason]:
    """Changes in the total values of the players' knights, if the table has turned with the King."""
    if king_of(before) == king_of(after):
        return
    old, new = values
    for player, name in enumerate(names):
        change = sum(new[seat] for seat in knights_of(after, player)) - sum(
            old[seat] for seat in knights_of(before, player)
        )
        if change:
            side = "more" if change > 0 else "less"
            owner = "own" if player == before["turn"] else "other"
            yield abs(change), say(f"reason.turned.{owner}.{side}", points=abs(change), name=name)


def _push_reasons(
    before: dict[str, Any], last: LastMove, values: tuple[list[int], list[int]], names: Sequence[str]
) -> Iterator[Reason]:
    """Gain or loss of a displaced knight."""
    if last.refuge is None or last.target is None:
        return
    pushed = before["seats"][last.target]
    old, new = values[0][last.target], values[1][last.refuge]
    if "knight" in pushed and new != old:
        figure = figure_words(pushed, names, before["turn"], "object")
        key = "reason.drives" if new < old else "reason.helps"
        yield abs(new - old), say(key, figure=figure, old=signed(old), new=signed(new))


def _move_reasons(before: dict[str, Any], last: LastMove, values: tuple[list[int], list[int]]) -> Iterator[Reason]:
    """New seat of an own knight that moves."""
    if last.origin is None or last.target is None or before["seats"][last.origin].get("knight") != before["turn"]:
        return
    value = values[1][last.target]
    key = "reason.goes.good" if value > 0 else "reason.goes.bad" if value < 0 else "reason.goes.even"
    yield max(abs(value), 1), say(key, seat=last.target, value=signed(value))


def _stay_reasons(
    before: dict[str, Any], after: dict[str, Any], values: tuple[list[int], list[int]]
) -> Iterator[Reason]:
    """The best own knight that stays on a valuable seat."""
    stay = set(knights_of(before, before["turn"])) & set(knights_of(after, before["turn"]))
    best = max(stay, key=lambda seat: (values[1][seat], -seat), default=None)
    if best is None or min(values[0][best], values[1][best]) < WELL:
        return
    value, king = values[1][best], king_of(after)
    # Seats are numbered clockwise, and the King faces the table.
    at_kings_right = best == (king - 1) % len(after["seats"])
    key = "reason.keeps.right" if at_kings_right else "reason.keeps"
    yield value / 2, say(key, seat=best, value=signed(value))
