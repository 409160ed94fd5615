"""SVG picture of a position, as `to_dict` gives it.

Only the position itself is drawn, so the picture of a position as one player knows it (`to_dict(player)`) can't show
more. Elements that a program may click on or move have attributes: `data-seat` (seats and figures), `data-figure`
("knight", "king", "prince"), `data-player`, `data-card`, `data-back` (a card whose front is hidden), `data-pile`,
`data-value` (plates).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from artus_env.authoring import letter_of, signed
from artus_env.games.artus.components import NUM_SEATS, PILES, RULE_SETS, STANDARD, Card, Components
from artus_env.games.artus.notation import MoveParts, parsed
from artus_env.games.artus.page import say, shapes
from artus_env.games.artus.page.shapes import ring_row
from artus_env.pictures import (
    CARD_HEIGHT,
    CARD_WIDTH,
    HEIGHT,
    PictureParts,
    Scene,
    badge,
    label,
    language,
    short,
    shortened,
    xml_text,
)

CENTRE = HEIGHT / 2
TABLE_VIEW = (36, 36, HEIGHT - 72, HEIGHT - 72)
"""View box of the layout "table": everything within the prestige track."""
TRACK = 50
"""Fields of the prestige track; each full round gives a tile."""
SUPPLY = 10
"""Rings in the box."""
TRACK_OUTER, TRACK_INNER = 335, 309
BACK_OUTER, BACK_INNER = 288, 268
SEATS, CUSHION = 242, 23
WHEEL_OUTER, WHEEL_INNER = 215, 174
MOVE_RADIUS, DISPLACED_RADIUS = 156, 141
HUB = 128


class Panel(NamedTuple):
    """Layout of a player's cards, by number of players; larger for fewer players."""

    height: int
    hand_rows: int
    hand_columns: int
    hand_scale: float
    pile_rows: int
    pile_columns: int
    pile_scale: float


PANELS = {
    2: Panel(327, 2, 3, 1.9, 2, 2, 1.45),
    3: Panel(214, 1, 6, 1.36, 2, 2, 0.78),
    4: Panel(158, 1, 6, 1.1, 1, 4, 0.68),
}
PANEL_LEFT, PANEL_WIDTH, PANEL_GAP, MARGIN = 700, 504, 10, 12
CARD_GAP = 5


class LastMove(NamedTuple):
    """A move as the picture shows it. Seats that the move doesn't have are None."""

    move: MoveParts
    player: int
    points: int
    origin: int | None = None
    target: int | None = None
    forward: bool = True
    refuge: int | None = None  # new seat of the displaced figure


def _draw(scene: Scene) -> list[str]:
    """SVG elements of the picture, see `artus_env.pictures.PictureParts.draw`."""
    position, components, last = scene[:3]
    king = king_of(position)
    # Without scoring cards the carpet has no effect.
    carpet = components.carpet if "scoring" in RULE_SETS[position["rules"]].piles else ()
    lines: list[str] = []
    if scene.wide:
        lines += _track()
        lines += _markers(position)
    lines += _seats(carpet, components.crown_seats, language())
    lines += _wheel(components.wheel, king)
    if last:
        lines += _trace(last, position)
    lines += _figures(position, components, king)
    lines += _hub(position, components, last, scene.note) if scene.wide else _small_hub(position)
    if scene.wide:
        for player in range(position["num_players"]):
            lines += _panel(position, components, player, scene.names, last)
    return lines


# --- the last move -------------------------------------------------------------------------------------------------


def last_move(before: dict[str, Any], move: str, after: dict[str, Any], components: Components = STANDARD) -> LastMove:
    """Effect of a move, from the positions before and after it. `move` is text such as `k3-6:12>17`."""
    player = before["turn"]
    points = after["scores"][player] - before["scores"][player]
    parts = parsed(move)
    origin, target = parts.origin, parts.target
    if origin is None or target is None:
        return LastMove(parts, player, points, target=target)
    card = next((card for card in components.cards if card.name == parts.card), None)
    steps_forward = (target - origin) % NUM_SEATS
    backward = bool(card and card.backward and not card.low <= steps_forward <= card.high)
    stayed = {seat for seat, figure in enumerate(before["seats"]) if figure} - {origin}
    refuge = None
    if target in stayed:  # the displaced figure is on the only newly taken seat
        (refuge,) = {seat for seat, figure in enumerate(after["seats"]) if figure} - stayed
    return LastMove(parts, player, points, origin, target, not backward, refuge)


def king_of(position: dict[str, Any]) -> int:
    """Seat of the King."""
    return next(seat for seat, figure in enumerate(position["seats"]) if figure and "king" in figure)


def value_of(seat: int, king: int, components: Components) -> int:
    """Value of a seat while the King sits on seat `king`."""
    return components.wheel[(king - seat) % NUM_SEATS]


def describe(position: dict[str, Any], components: Components, last: LastMove | None) -> tuple[str, str]:
    """Title and description for readers who can't see the picture."""
    n, phase, king = position["num_players"], position["phase"], king_of(position)
    best = max(position["scores"])
    if phase == "over":
        winners = [letter_of(player) for player, score in enumerate(position["scores"]) if score == best]
        status = say("picture.over", names=say.listed(winners))
    else:
        status = f"{letter_of(position['turn'])} {due(position)}"
    seats = list(enumerate(position["seats"]))
    parts = [say("picture.king", seat=king)]
    princes = [
        say(
            f"picture.prince.{figure['prince']}",
            seat=seat,
            value=signed(value_of(seat, king, components)),
            rings=say("picture.rings", n=figure["rings"]),
        )
        for seat, figure in seats
        if figure and "prince" in figure
    ]
    parts.append(say("picture.princes", princes=", ".join(princes)))
    for player in range(n):
        knights = [
            f"{seat} ({signed(value_of(seat, king, components))})"
            for seat, figure in seats
            if figure and figure.get("knight") == player
        ]
        prestige = signed(position["scores"][player])
        knights_text = ", ".join(knights) or say("picture.none")
        parts.append(say("picture.knights", player=letter_of(player), prestige=prestige, seats=knights_text))
    if last:
        parts.append(say("picture.last", player=letter_of(last.player), move=last.move.text))
    title = say("picture.title", rules=say(f"rules.{position['rules']}"), n=n, status=status)
    return title, " ".join(parts)


def due(position: dict[str, Any]) -> str:
    """Text of what the player to move has to do."""
    return say(f"due.{position['phase']}", n=position["left"])


# --- the round table ------------------------------------------------------------------------------------------------


def _point(radius: float, seat: float, seats: int = NUM_SEATS) -> tuple[float, float]:
    """Point at a distance from the centre in the direction of a seat: seat 0 is at the top, the others follow
    clockwise."""
    angle = math.tau * seat / seats
    return CENTRE + radius * math.sin(angle), CENTRE - radius * math.cos(angle)


def _at(radius: float, seat: float, seats: int = NUM_SEATS) -> str:
    """The `_point` as SVG coordinates."""
    x, y = _point(radius, seat, seats)
    return f"{short(x)} {short(y)}"


def _sector(inner: float, outer: float, start: float, end: float) -> str:
    """Outline of a ring segment between two seats."""
    large_arc = int(end - start > NUM_SEATS / 2)
    return (
        f"M{_at(inner, start)}A{inner} {inner} 0 {large_arc} 1 {_at(inner, end)}"
        f"L{_at(outer, end)}A{outer} {outer} 0 {large_arc} 0 {_at(outer, start)}Z"
    )


@lru_cache(maxsize=1)
def _track() -> list[str]:
    """The prestige track around the round table: 0 at the top, clockwise."""
    middle = (TRACK_OUTER + TRACK_INNER) / 2
    ticks = "".join(f"M{_at(TRACK_INNER, i + 0.5, TRACK)}L{_at(TRACK_OUTER, i + 0.5, TRACK)}" for i in range(TRACK))
    labels = [
        label(*_point(middle, i, TRACK), 11 if i % 10 == 0 else 9.5, "mute" if i % 10 else "ink", str(i))
        for i in range(0, TRACK, 5)
    ]
    return [
        f'<g data-track="{TRACK}"><path class="track" fill-rule="evenodd" '
        f'd="{_disc(TRACK_OUTER)}{_disc(TRACK_INNER)}"/>',
        f'<path class="tick none" d="{ticks}"/>',
        *labels,
        "</g>",
    ]


def _disc(radius: float) -> str:
    return f"M{_at(radius, 0)}A{radius} {radius} 0 1 1 {_at(radius, 14)}A{radius} {radius} 0 1 1 {_at(radius, 0)}Z"


def _markers(position: dict[str, Any]) -> Iterator[str]:
    """Markers of the players on the track; those on the same field are placed side by side."""
    scores = position["scores"]
    for player, score in enumerate(scores):
        same_field = [other for other, other_score in enumerate(scores) if other_score % TRACK == score % TRACK]
        x, y = _point((TRACK_OUTER + TRACK_INNER) / 2, score % TRACK, TRACK)
        scale = 0.56
        if len(same_field) > 1:
            scale = 0.42
            nth, rows = same_field.index(player), (len(same_field) + 1) // 2
            x += 18 * (nth % 2 - 0.5)
            y += 18 * (nth // 2 - (rows - 1) / 2)
        title = say("picture.prestige", player=letter_of(player), score=signed(score))
        yield (f'<g data-marker="{player}" data-score="{score}"><title>{title}</title>{badge(player, x, y, scale)}</g>')


@lru_cache(maxsize=8)
def _seats(carpet: tuple[int, ...], crown_seats: tuple[int, ...], language: str) -> list[str]:
    """Parts that don't turn: carpet, chairs with their numbers, and the round table's edge. `language`: the current
    one, for the cache."""
    lines = []
    for seat in sorted(carpet):
        lines.append(f'<path class="carpet" d="{_sector(210, 301, seat - 0.505, seat + 0.505)}"/>')
    for seat in sorted(carpet):  # a golden border where the carpet ends
        ends = [(seat + side, side) for side in (-1, 1) if (seat + side) % NUM_SEATS not in carpet]
        trim = "".join(f"M{_at(212, seat + 0.46 * side)}L{_at(297, seat + 0.46 * side)}" for _, side in ends)
        low = seat - (0.46 if (seat - 1) % NUM_SEATS not in carpet else 0.5)
        high = seat + (0.46 if (seat + 1) % NUM_SEATS not in carpet else 0.5)
        trim += f"M{_at(297, low)}A297 297 0 0 1 {_at(297, high)}"
        lines.append(f'<path class="trim none" d="{trim}"/>')
    for seat in range(NUM_SEATS):
        x, y = _point(SEATS, seat)
        crown = seat in crown_seats
        notes = [say("picture.seat", seat=seat)]
        if crown:
            notes.append(say("picture.large" if seat == crown_seats[0] else "picture.crown"))
        if seat in carpet:
            notes.append(say("picture.carpet"))
        if crown:
            back = _crown_back(seat, large=seat == crown_seats[0])
        else:
            back = _sector(BACK_INNER, BACK_OUTER, seat - 0.4, seat + 0.4)
        lines += [
            f'<g data-seat="{seat}"><title>{", ".join(notes)}</title><path '
            f'class="{"gold rim" if crown else "chair"} round" '
            f'd="{back}"/><circle class="cushion edge" cx="{short(x)}" cy="{short(y)}" r="{CUSHION}"/>'
            f"{label(*_point(278, seat), 12, 'plate' if crown else 'ink', str(seat))}</g>"
        ]
    lines.append(f'<circle class="wood" cx="{CENTRE:g}" cy="{CENTRE:g}" r="{WHEEL_OUTER + 3}"/>')
    return lines


def _crown_back(seat: int, large: bool) -> str:
    """The back of a crown seat, with a crown as its top."""
    peak, valley = (306, 286) if large else (298, 286)
    tips = [(seat + 0.42 - 0.21 * i, peak if i % 2 == 0 else valley) for i in range(5)]
    top = "".join(f"L{_at(radius, place)}" for place, radius in tips)
    start, end = _at(BACK_INNER, seat - 0.4), _at(BACK_INNER, seat + 0.4)
    return f"M{start}A{BACK_INNER} {BACK_INNER} 0 0 1 {end}{top}Z"


@lru_cache(maxsize=64)
def _wheel(wheel: tuple[int, ...], king: int) -> list[str]:
    """The plates with their values, turned so that the crown plate lies in front of the King."""
    lines = ['<g data-wheel="">']
    for seat in range(NUM_SEATS):
        value = wheel[(king - seat) % NUM_SEATS]
        if seat == king:
            kind = "crown"
            inside = f'<path class="gold" transform="translate({_at(195, seat)}) scale(1.3)" d="{shapes.CROWN}"/>'
        else:
            kind = shapes.GREEN if value > 0 else shapes.RED if value < 0 else shapes.YELLOW
            inside = label(*_point(195, seat), 17.5, "pale" if value < 0 else "plate", signed(value))
        lines.append(
            f'<g data-plate="{kind}" data-value="{value}"><path class="{kind} spoke" '
            f'd="{_sector(WHEEL_INNER, WHEEL_OUTER, seat - 0.5, seat + 0.5)}"/>{inside}</g>'
        )
    lines.append("</g>")
    lines.append(f'<circle class="top" cx="{CENTRE:g}" cy="{CENTRE:g}" r="{WHEEL_INNER}"/>')
    lines.append(f'<circle class="hub" cx="{CENTRE:g}" cy="{CENTRE:g}" r="{HUB}"/>')
    return lines


def _figures(position: dict[str, Any], components: Components, king: int) -> Iterator[str]:
    """Knights, princes and the King on their seats; `king` is the King's seat."""
    for seat, figure in enumerate(position["seats"]):
        if figure is None:
            continue
        x, y = _point(SEATS, seat)
        value_text = say("picture.worth", value=signed(value_of(seat, king, components)))
        opening = f'<g data-seat="{seat}" data-figure="'
        place = f'<g transform="translate({short(x)} {short(y)})">'
        if "knight" in figure:
            player = figure["knight"]
            yield (
                f'{opening}knight" data-player="{player}">'
                f"<title>{say('picture.knight', player=letter_of(player), seat=seat, worth=value_text)}</title>"
                f"{badge(player, x, y, 1)}</g>"
            )
            continue
        is_king = "king" in figure
        colour, rings = figure["king" if is_king else "prince"], figure["rings"]
        kind, rings_text = "king" if is_king else "prince", say("picture.rings", n=rings)
        title = say(f"picture.royal.{kind}.{colour}", seat=seat, worth=value_text, rings=rings_text)
        yield (
            f'{opening}{kind}" data-colour="{colour}" data-rings="{rings}"><title>{title}</title>'
            f"{place}{_royal(colour, is_king)}{ring_row(rings)}</g></g>"
        )


def _royal(colour: str, is_king: bool) -> str:
    light = colour == "silver"
    if not is_king:
        crown = (
            f'<path class="{"print" if light else "face"}" transform="translate(0 -3) scale(.95)" d="{shapes.CROWN}"/>'
        )
        return f'<circle class="{colour} rim" r="19.5"/>{crown}'
    return (
        f'<circle class="{colour} rim" r="24"/><circle class="trim none" r="22"/>'
        f'<path class="gold rim round" transform="translate(0 -8) scale(1.25)" d="{shapes.CROWN}"/>'
    )


# --- the last move on the round table --------------------------------------------------------------------------------


def _trace(last: LastMove, position: dict[str, Any]) -> Iterator[str]:
    """The last move: arrows inside the wheel, and marks around the seats. Lines are solid for the figure that moved,
    and dashed for the displaced figure."""
    if last.target is None:
        return
    yield f'<g data-move="{xml_text(last.move.text)}">'
    if last.origin is not None:
        yield _arrow(last.origin, last.target, last.forward, MOVE_RADIUS, "move")
        if position["seats"][last.origin] is None:
            yield _mark(last.origin, 20, "left none dash")
    yield _mark(last.target, 26, "move none")
    if last.refuge is not None:
        start = last.target + (0.2 if last.forward else -0.2)  # next to the arrow that caused it
        arrow = _arrow(start, last.refuge, False, DISPLACED_RADIUS, "push dash")
        yield f'<g data-displaced="{last.refuge}">{arrow}{_mark(last.refuge, 26, "push none dash")}</g>'
    yield "</g>"


def _mark(seat: int, radius: float, classes: str) -> str:
    """A circle around a seat."""
    x, y = _point(SEATS, seat)
    return f'<circle class="{classes}" cx="{short(x)}" cy="{short(y)}" r="{radius:g}"/>'


def _arrow(start: float, target: int, forward: bool, radius: float, classes: str) -> str:
    """Arrow from one seat to another along the inside of the wheel."""
    direction = 1 if forward else -1
    steps = (target - start) * direction % NUM_SEATS
    end = start + direction * steps
    bend = 0.45 if steps > 1 else 0.3
    large_arc = int(steps > NUM_SEATS / 2)
    line = (
        f"M{_at(173, start)}Q{_at(radius, start)} {_at(radius, start + direction * bend)}"
        f"A{radius} {radius} 0 {large_arc} {int(forward)} {_at(radius, end - direction * bend)}"
        f"Q{_at(radius, end)} {_at(168, end)}"
    )
    head = f"M{_at(176, end)}L{_at(165, end + 0.22)}L{_at(165, end - 0.22)}Z"
    return f'<path class="{classes} none round" d="{line}"/><path class="ink" d="{head}"/>'


# --- the middle ----------------------------------------------------------------------------------------------------


def _hub(position: dict[str, Any], components: Components, last: LastMove | None, note: str) -> Iterator[str]:
    """Player to move, last move, and ring supply."""
    rules, phase, turn = position["rules"], position["phase"], position["turn"]
    cards_a_turn = RULE_SETS[rules].cards_a_turn
    rounds = components.deck_size(RULE_SETS[rules]) // cards_a_turn
    if phase == "place":
        stage = say("picture.stage.place")
    elif phase == "over":
        stage = say("picture.stage.over", n=rounds)
    else:
        cards_played = len(position["played"][turn]) - (
            cards_a_turn - position["left"] if phase == "play" else cards_a_turn
        )
        stage = say("picture.stage.round", round=cards_played // cards_a_turn + 1, n=rounds)
    yield label(CENTRE, CENTRE - 92, 13, "mute thin", say(f"rules.{rules}"))
    yield label(CENTRE, CENTRE - 74, 13, "mute thin", stage)
    best = max(position["scores"])
    shown_players = [p for p, score in enumerate(position["scores"]) if score == best] if phase == "over" else [turn]
    for nth, player in enumerate(shown_players):
        yield badge(player, CENTRE + 50 * (nth - (len(shown_players) - 1) / 2), CENTRE - 34, 0.95)
    yield label(CENTRE, CENTRE + 8, 21, "ink", say("picture.won") if phase == "over" else due(position))
    if last:
        points = f"  {'+' if last.points > 0 else ''}{signed(last.points)}" if last.points else ""
        yield label(
            CENTRE, CENTRE + 38, 14, "mute", f"{letter_of(last.player)}: {shortened(last.move.text, 22)}{points}"
        )
    rings = sum(figure.get("rings", 0) for figure in position["seats"] if figure)
    supply = max(0, SUPPLY - rings)
    rings = say("picture.supply", n=supply)
    yield f'<g data-supply="{supply}"><title>{rings}</title>{ring_row(supply, CENTRE, CENTRE + 66)}</g>'
    yield label(CENTRE, CENTRE + 86, 11, "mute thin", say("picture.rings.supply"))
    if note:
        yield label(CENTRE, CENTRE + 106, 11, "mute thin", note)


def _small_hub(position: dict[str, Any]) -> Iterator[str]:
    """Prestige of all players, in letters large enough for a small picture; the player to move is marked."""
    n = position["num_players"]
    over = position["phase"] == "over"
    marked = position["scores"].index(max(position["scores"])) if over else position["turn"]
    for player, score in enumerate(position["scores"]):
        y = CENTRE + 58 * (player - (n - 1) / 2)
        if player == marked and not over:
            yield f'<path class="ink" d="M{CENTRE - 100:g} {short(y - 12)}l15 12l-15 12z"/>'
        elif over and score == max(position["scores"]):
            yield (
                f'<path class="gold" transform="translate({CENTRE - 97:g} {short(y)}) scale(1.4)" d="{shapes.CROWN}"/>'
            )
        yield badge(player, CENTRE - 54, y, 1.1)
        yield label(CENTRE + 92, y, 38, "ink end", signed(score))


# --- the players ---------------------------------------------------------------------------------------------------


def _panel(
    position: dict[str, Any], components: Components, player: int, names: Sequence[str] | None, last: LastMove | None
) -> Iterator[str]:
    """Name, prestige, hand, piles and last played card of one player."""
    n, score = position["num_players"], position["scores"][player]
    layout = PANELS[n]
    top = MARGIN + player * (layout.height + PANEL_GAP)
    x, right = PANEL_LEFT + 16, PANEL_LEFT + PANEL_WIDTH - 16
    over = position["phase"] == "over"
    marked = score == max(position["scores"]) if over else position["turn"] == player
    yield f'<g data-panel="{player}">'
    yield (
        f'<rect class="panel {"turn" if marked else "edge"}" x="{PANEL_LEFT}" y="{top}" width="{PANEL_WIDTH}" '
        f'height="{layout.height}" rx="12"/>'
    )
    yield badge(player, x + 18, top + 30, 0.85)
    numbered = say("picture.player", player=player)
    notes = [numbered] if names else []
    notes += [say("picture.starts")] if position["start_player"] == player else []
    notes += [say("picture.won" if over else "picture.moves")] if marked else []
    name = shortened(names[player], 24) if names else numbered
    yield label(x + 48, top + (23 if notes else 30), 18, "ink start", name)
    if notes:
        yield label(x + 48, top + 42, 12, "mute thin start", " · ".join(notes))
    yield label(right, top + 31, 32, "ink end", signed(score))
    tiles = score // TRACK
    number_width = 22 * len(signed(score))
    yield from _tiles(tiles, right - number_width - 10, top + 20)
    yield from _cards(position, components, player, layout, top, last)
    yield "</g>"


def _tiles(count: int, right: float, top: float) -> Iterator[str]:
    """Tiles of 50 points, or of -50 if the prestige is below 0. Four or more are drawn as one tile with their
    number."""
    points_text = signed(-TRACK if count < 0 else TRACK)
    separate = abs(count) <= 3
    width = 34 if separate else 54
    colour, text_class = ("red", "pale") if count < 0 else ("gold", "plate")
    for nth in range(abs(count) if separate else 1):
        x = right - width - 38 * nth
        text = points_text if separate else f"{abs(count)} x {points_text}"
        yield (
            f'<g data-tile="{-TRACK if count < 0 else TRACK}"><rect class="{colour}" x="{short(x)}" y="{short(top)}" '
            f'width="{width}" height="22" rx="11"/>{label(x + width / 2, top + 11, 13, text_class, text)}</g>'
        )


def _cards(
    position: dict[str, Any], components: Components, player: int, layout: Panel, top: float, last: LastMove | None
) -> Iterator[str]:
    by_name = {card.name: card for card in components.cards}
    hand, piles, played = (position[key][player] for key in ("hands", "piles", "played"))
    start, height_left = top + 60, layout.height - 60 - 16
    cards: list[tuple[Card | None, str]]
    if isinstance(hand, dict):
        cards = [(None, pile) for pile in PILES for _ in range(hand[pile])]
    else:
        cards = [(by_name[name], by_name[name].pile) for name in hand]
    columns = (
        layout.hand_columns if position["rules"] == "advanced" or layout.hand_rows == 1 else 2
    )  # beginners hold only 4
    scale = layout.hand_scale
    step_x, step_y = CARD_WIDTH * scale + CARD_GAP, CARD_HEIGHT * scale + CARD_GAP
    y = start + (height_left - layout.hand_rows * step_y + CARD_GAP) / 2
    for nth, (card, pile) in enumerate(cards):
        row, column = divmod(nth, columns)
        inside = shapes.card_front(card) if card else shapes.card_back(pile)
        attributes = f'data-card="{xml_text(card.name)}"' if card else f'data-back="{pile}"'
        title = xml_text(card.name if card else say(f"picture.hidden.{pile}"))
        transform = f"translate({short(PANEL_LEFT + 16 + step_x * column)} {short(y + step_y * row)}) scale({scale:g})"
        yield f'<g data-player="{player}" {attributes} transform="{transform}"><title>{title}</title>{inside}</g>'
    stacks = [(kind, piles[kind]) for kind in RULE_SETS[position["rules"]].piles]
    scale = layout.pile_scale
    width, height = CARD_WIDTH * scale, CARD_HEIGHT * scale
    step_x, step_y = width + 9, height + 20
    left = PANEL_LEFT + PANEL_WIDTH - 16 - layout.pile_columns * step_x + 9
    y = start + (height_left - layout.pile_rows * step_y) / 2
    for nth, (kind, stack) in enumerate([*stacks, ("played", played)]):
        row, column = divmod(nth, layout.pile_columns)
        count = stack if isinstance(stack, int) else len(stack)
        if not count:
            inside = f'<rect class="slot none dash" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
        else:
            inside = shapes.card_front(by_name[played[-1]]) if kind == "played" else shapes.card_back(kind)
        if last is not None and last.move.pile == kind and last.player == player:
            inside += (
                f'<rect class="move none" x="-3" y="-3" width="{CARD_WIDTH + 6}" height="{CARD_HEIGHT + 6}" rx="7"/>'
            )
        caption = say("picture.played", n=count) if kind == "played" and width > 50 else str(count)
        place_x, place_y = left + step_x * column, y + step_y * row
        yield (
            f'<g data-player="{player}" data-pile="{kind}" '
            f'data-count="{count}"><title>{say(f"picture.count.{kind}", n=count)}</title>'
            f'<g transform="translate({short(place_x)} {short(place_y)}) scale({scale:g})">{inside}</g>'
            f"{label(place_x + width / 2, place_y + height + 10, 12, 'mute', caption)}</g>"
        )


picture = PictureParts("artus", STANDARD, TABLE_VIEW, shapes.style, last_move, describe, _draw).picture
