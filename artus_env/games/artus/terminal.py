"""Positions as text for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from artus_env.authoring import check_names, letter_of, printable
from artus_env.games.artus.components import COLOURS, NUM_SEATS, RULE_SETS, RULES, Components
from artus_env.games.artus.state import OVER, PHASES


def figure_at(states: np.ndarray, seat: int) -> str:
    """Figure on a seat: `A`..`D` a knight of player 0..3, `s1` a silver prince with one ring, `b2` a bronze one with
    two, `Ks` or `Kb` the King, `.` no figure."""
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
"""Maximum length of a name, so that it fits between the seats."""


def render(
    states: np.ndarray, components: Components, player: int | None = None, names: Sequence[str] | None = None
) -> str:
    """The position as text: each seat with its number, value and figure; the players in the middle.

    A `~` after the seat number marks the carpet; the King's seat has `king` for a value.

    Args:
        states: One game.
        components: The box.
        player: Player whose hand is shown, while other hands are shown as backs; None: all hands are shown.
        names: Names of the players, instead of "player 0", ...

    Raises:
        ValueError: If `names` doesn't name every player.
    """
    g = states[0]
    king = int(g["royals"][int(g["king"])])
    grid = [[" " * CELL for _ in range(WIDTH)] for _ in range(2 * HEIGHT)]
    for seat, (row, column) in enumerate(RIM):
        value = components.wheel[(king - seat) % NUM_SEATS]
        plate = "king" if seat == king else f"{value:+d}" if value else "0"
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
    short_names = [_shortened(name) for name in names or [f"player {p}" for p in range(n)]]
    labels = [f"{name} ({letter_of(player)})" for player, name in enumerate(short_names)]
    if phase == OVER:
        scores = [int(score) for score in g["scores"][:n]]
        winners = [p for p in range(n) if scores[p] == max(scores)]
        winner_text = labels[winners[0]] if len(winners) == 1 else " and ".join(map(letter_of, winners))
        head = f"{rules}, over: {winner_text} won"
    else:
        task = {"place": "places a knight", "play": "plays a card", "draw": "draws a card"}[PHASES[phase]]
        head = f"{rules}: {labels[int(g['player'])]} {task}"
    width = max(map(len, short_names))
    piles = RULE_SETS[rules].piles
    blank = " " * (width + 2)
    lines = ["", head, "", f"{blank} {'cards':>16}  piles:", f"{blank} prestige  played  {' '.join(piles)}"]
    for p, name in enumerate(short_names):
        sizes = " ".join(f"{int(size):^{len(pile)}}" for size, pile in zip(g["pile_sizes"][p], piles, strict=False))
        played = int(g["played"][p]).bit_count()
        lines.append(f"{letter_of(p)} {name:<{width}} {int(g['scores'][p]):>8}  {played:>6}  {sizes}")
    return lines


def _shortened(name: str) -> str:
    """Printable name, shortened to `LONGEST_NAME`."""
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
