"""Moves and positions as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from artus_env.authoring import check_names, letter_of, printable
from artus_env.games.artus.actions import BEST, DRAW, KNIGHT, PLACE, RING, ROYAL, SLOTS, action_table
from artus_env.games.artus.components import COLOURS, NUM_SEATS, PILES, RULE_SETS, RULES, Components
from artus_env.games.artus.notation import MoveParts, parse
from artus_env.games.artus.rules import describe
from artus_env.games.artus.state import OVER, PHASES


def move_text(action: int, states: np.ndarray, components: Components, tables: np.ndarray) -> str:
    """A legal action of the player to move as text, e.g. `k3-6:12>17`: card, from seat > to seat."""
    what = action_table(components)[action]
    if what.effect == DRAW:
        return MoveParts("draw", pile=PILES[what.slot]).text
    origin, target = (int(seat) for seat in describe(tables[0], states[0], action))
    if what.effect == PLACE:
        return MoveParts("place", target=target).text
    card = components.cards[what.card]
    if what.effect == RING:
        return MoveParts("ring", card.name, target=origin, named=card.action == "choice").text
    if origin >= 0:
        return MoveParts("move", card.name, origin=origin, target=target).text
    return MoveParts("best" if what.effect == BEST else "score", card.name).text


def action_meaning(action: int, components: Components) -> str:
    """What an action id means in any position."""
    what = action_table(components)[action]
    if what.effect == DRAW:
        return f"draw from the {PILES[what.slot]} pile"
    if what.effect == PLACE:
        return f"place a knight {what.slot} behind the King"
    name = components.cards[what.card].name
    if what.effect == KNIGHT:
        return f"{name}: own knight {what.slot + 1} {_way(what.steps)}"
    if what.effect == ROYAL:
        return f"{name}: {SLOTS[what.slot]} {_way(what.steps)}"
    if what.effect == RING:
        return f"{name}: ring for {SLOTS[what.slot]}"
    return f"{name}: score the best own knight" if what.effect == BEST else name


def _way(steps: int) -> str:
    return f"{steps} forward" if steps > 0 else f"{-steps} backward"


def actions_like(move: str, components: Components) -> tuple[int, ...]:
    """The actions whose text can be `move` in some position: those of the same card, or placing, or drawing."""
    meant = parse(move)
    return () if meant is None else _actions_by_card(components).get(meant.card or meant.kind, ())


@lru_cache(maxsize=16)
def _actions_by_card(components: Components) -> dict[str, tuple[int, ...]]:
    """The actions by the name of their card; those without one as "place" and "draw"."""
    found: dict[str, list[int]] = {}
    for index, what in enumerate(action_table(components)):
        name = {PLACE: "place", DRAW: "draw"}.get(what.effect) or components.cards[what.card].name
        found.setdefault(name, []).append(index)
    return {name: tuple(actions) for name, actions in found.items()}


def figure_at(states: np.ndarray, seat: int) -> str:
    """Who sits on a seat: `A`..`D` a knight of player 0..3, `s1` a silver prince with one ring, `B` bronze, `K` the
    King."""
    g = states[0]
    for player in range(int(g["num_players"])):
        if int(g["knights"][player]) >> seat & 1:
            return letter_of(player)
    for royal in range(4):
        if int(g["royals"][royal]) == seat:
            colour = COLOURS[royal // 2][0]
            return f"K{colour}" if royal == int(g["king"]) else f"{colour}{int(g['rings'][royal])}"
    return "."


WIDTH, HEIGHT = 9, 7
"""The ring of seats drawn as the rim of a grid, clockwise from the top left corner: 9 + 5 + 9 + 5 seats."""
RIM = (
    [(0, column) for column in range(WIDTH)]
    + [(row, WIDTH - 1) for row in range(1, HEIGHT - 1)]
    + [(HEIGHT - 1, column) for column in range(WIDTH - 1, -1, -1)]
    + [(row, 0) for row in range(HEIGHT - 2, 0, -1)]
)
CELL = 8


LONGEST_NAME = 14
"""Letters of a name that fit between the seats."""


def render(
    states: np.ndarray, components: Components, player: int | None = None, names: Sequence[str] | None = None
) -> str:
    """The position as text: each seat with its number, value and figure; the players in the middle.

    A `~` behind the seat number marks the carpet.

    Args:
        states: One game.
        components: The box.
        player: Only this player's hand is open; None: all are.
        names: Who plays, instead of "player 0", ...

    Raises:
        ValueError: If `names` doesn't name every player.
    """
    g = states[0]
    king = int(g["royals"][int(g["king"])])
    grid = [[" " * CELL for _ in range(WIDTH)] for _ in range(2 * HEIGHT)]
    for seat, (row, column) in enumerate(RIM):
        value = components.wheel[(king - seat) % NUM_SEATS]
        plate = "crown" if seat == king else f"{value:+d}" if value else "0"
        carpet = "~" if seat in components.carpet else " "
        grid[2 * row][column] = f"{seat:>2}{carpet}{plate:<5}"
        grid[2 * row + 1][column] = f"   {figure_at(states, seat):<5}"
    middle = _players(states, names)
    lines = []
    for number, cells in enumerate(grid):
        if 2 <= number < 2 * HEIGHT - 2:
            text = middle[number - 2] if number - 2 < len(middle) else ""
            lines.append(f"{cells[0]} {text:<{CELL * (WIDTH - 2) - 1}}{cells[-1]}".rstrip())
        else:
            lines.append("".join(cells).rstrip())
    lines += ["", *_hands(states, components, player)]
    return "\n".join(lines)


def _players(states: np.ndarray, names: Sequence[str] | None) -> list[str]:
    g = states[0]
    n, phase, rules = int(g["num_players"]), int(g["phase"]), RULES[int(g["rule_set"])]
    if names is not None:
        check_names("names", names, n)
    fitting = [_fitting(name) for name in names or [f"player {p}" for p in range(n)]]
    who = [f"{name} ({letter_of(player)})" for player, name in enumerate(fitting)]
    if phase == OVER:
        scores = [int(score) for score in g["scores"][:n]]
        winners = [p for p in range(n) if scores[p] == max(scores)]
        won = who[winners[0]] if len(winners) == 1 else " and ".join(map(letter_of, winners))
        head = f"{rules}, over: {won} won"
    else:
        due = {"place": "places a knight", "play": "plays a card", "draw": "draws a card"}[PHASES[phase]]
        head = f"{rules}: {who[int(g['player'])]} {due}"
    width = max(map(len, fitting))
    piles = RULE_SETS[rules].piles
    blank = " " * (width + 2)
    lines = ["", head, "", f"{blank} {'cards':>16}  piles:", f"{blank} prestige  played  {' '.join(piles)}"]
    for p, name in enumerate(fitting):
        sizes = " ".join(f"{int(size):^{len(pile)}}" for size, pile in zip(g["pile_sizes"][p], piles, strict=False))
        played = int(g["played"][p]).bit_count()
        lines.append(f"{letter_of(p)} {name:<{width}} {int(g['scores'][p]):>8}  {played:>6}  {sizes}")
    return lines


def _fitting(name: str) -> str:
    """A name as the text can show it: printable and not too long."""
    name = printable(str(name))
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _hands(states: np.ndarray, components: Components, viewer: int | None) -> list[str]:
    g = states[0]
    lines = []
    for p in range(int(g["num_players"])):
        hand = [card for position, card in enumerate(components.deck) if int(g["hands"][p]) >> position & 1]
        shown = " ".join(f"({card.pile})" if viewer not in (None, p) else card.name for card in hand)
        lines.append(f"hand of {letter_of(p)}: {shown or '-'}")
    return lines
