"""Texts about why a move may be good: what it gains, keeps, prevents or costs beyond its points.

They use only the positions before and after the move, as its player knows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from artus_env.authoring import signed
from artus_env.games.artus.components import Components
from artus_env.games.artus.page import say
from artus_env.games.artus.page.counting import knights_of, worths
from artus_env.games.artus.page.picture import LastMove, king_of, last_move
from artus_env.games.artus.page.sentences import figure_words

WELL = 5
"""Least value of a seat that is worth keeping."""
Reason = tuple[float, str]
"""Weight and text."""


def reasons(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> list[str]:
    """Advantages and disadvantages of a legal move, the most important first; empty for a draw.

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
    both = worths(before, components), worths(after, components)
    found = [*_turned(before, after, both, names), *_pushed(before, last, both, names)]
    found += [*_moved(before, last, both), *_kept(before, after, both)]
    return [words for _, words in sorted(found, key=lambda reason: -reason[0])]


def _turned(
    before: dict[str, Any], after: dict[str, Any], both: tuple[list[int], list[int]], names: Sequence[str]
) -> Iterator[Reason]:
    """Change in the total value of each player's knights, if the table has turned with the King."""
    if king_of(before) == king_of(after):
        return
    old, new = both
    for player, name in enumerate(names):
        change = sum(new[seat] for seat in knights_of(after, player)) - sum(
            old[seat] for seat in knights_of(before, player)
        )
        if change:
            side = "more" if change > 0 else "less"
            whose = "own" if player == before["turn"] else "other"
            yield abs(change), say(f"reason.turned.{whose}.{side}", points=abs(change), name=name)


def _pushed(
    before: dict[str, Any], last: LastMove, both: tuple[list[int], list[int]], names: Sequence[str]
) -> Iterator[Reason]:
    """Gain or loss of a displaced knight."""
    if last.refuge is None or last.target is None:
        return
    pushed = before["seats"][last.target]
    old, new = both[0][last.target], both[1][last.refuge]
    if "knight" in pushed and new != old:
        who = figure_words(pushed, names, before["turn"], "object")
        key = "reason.drives" if new < old else "reason.helps"
        yield abs(new - old), say(key, figure=who, old=signed(old), new=signed(new))


def _moved(before: dict[str, Any], last: LastMove, both: tuple[list[int], list[int]]) -> Iterator[Reason]:
    """New seat of an own knight that moves."""
    if last.origin is None or last.target is None or before["seats"][last.origin].get("knight") != before["turn"]:
        return
    value = both[1][last.target]
    key = "reason.goes.good" if value > 0 else "reason.goes.bad" if value < 0 else "reason.goes.even"
    yield max(abs(value), 1), say(key, seat=last.target, value=signed(value))


def _kept(before: dict[str, Any], after: dict[str, Any], both: tuple[list[int], list[int]]) -> Iterator[Reason]:
    """The best own knight that stays on a valuable seat."""
    stay = set(knights_of(before, before["turn"])) & set(knights_of(after, before["turn"]))
    best = max(stay, key=lambda seat: (both[1][seat], -seat), default=None)
    if best is None or min(both[0][best], both[1][best]) < WELL:
        return
    value, king = both[1][best], king_of(after)
    right = best == (king - 1) % len(after["seats"])  # seats are numbered clockwise, and the King faces the table
    key = "reason.keeps.right" if right else "reason.keeps"
    yield value / 2, say(key, seat=best, value=signed(value))
