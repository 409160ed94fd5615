"""SVG picture of the table, from a position as `to_dict` gives it.

Only the position itself is drawn, so the picture of a position as one player knows it (`to_dict(player)`) can't show
more. Elements that a program may click on or move have attributes: `data-field`, `data-pawn` (a player), `data-chip` (a
suit; with `data-place` where it is placed), `data-trick` (the player whose card it is), `data-card`, `data-back` (a
card whose front is hidden), `data-player`, `data-void`, `data-pile`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from artus_env.authoring import letter_of
from artus_env.games.royal.components import STANDARD, Components
from artus_env.games.royal.page import say, shapes
from artus_env.games.royal.page.sentences import card_id, suit_words
from artus_env.games.royal.page.shapes import card_at, card_back, suit_coin
from artus_env.games.royal.page.tricks import LastMove, last_move, led_suit, playable, winning_index
from artus_env.pictures import (
    CARD_HEIGHT,
    CARD_WIDTH,
    HEIGHT,
    PictureParts,
    Scene,
    badge,
    label,
    language,
    placed,
    short,
    shortened,
    xml_text,
)

TABLE_VIEW = (4, 4, HEIGHT - 8, HEIGHT - 8)
"""View box of the layout "table": the course and everything within it."""
MARGIN = 12
COURSE = HEIGHT - 2 * MARGIN
"""Length of each side of the course, a square of tiles."""
CENTRE = HEIGHT / 2
TRUMPS, SUPPLY, TRICK, STATUS, DUE = 166, 243, 374, 514, 549
"""Vertical positions of the parts within the course."""
TRICK_SCALES = {2: 2.2, 3: 2.2, 4: 2.1, 5: 1.85, 6: 1.62}
"""Scale of the cards in the trick, by number of players."""
PANEL_LEFT, PANEL_WIDTH, PANEL_GAP, PADDING = 692, 512, 8, 16
"""Left edge and width of the players' panels, distance between two panels, and padding within one."""
LIFT = 7
"""Distance by which playable cards stand out."""


def _draw(scene: Scene) -> list[str]:
    """See `artus_env.pictures.PictureParts.draw`."""
    position, components, last = scene[:3]
    lines = [
        *_course(components, language()),
        *_pawns(position, components, last),
        *_trumps(position, components, last),
        *_trick(position, components, scene.before, last),
        *_middle(position, components, last, scene.note if scene.wide else ""),
    ]
    if scene.wide:
        for player in range(position["num_players"]):
            lines += _panel(position, components, player, scene.names)
    return lines


# --- in words ------------------------------------------------------------------------------------------------------


def describe(position: dict[str, Any], components: Components, last: LastMove | None) -> tuple[str, str]:
    """Title and description for readers who can't see the picture."""
    n, fields, trick = position["num_players"], position["fields"], position["trick"]
    if position["phase"] == "over":
        status = say("picture.over", name=letter_of(winner(position)))
    else:
        status = f"{letter_of(position['turn'])} {due(position)}"
    pawns = [say("picture.pawn", player=letter_of(player), field=field) for player, field in enumerate(fields)]
    chips = [suit_words(suit) for suit in position["trumps"] if suit]
    parts = [
        say("picture.pawns", pawns=", ".join(pawns)),
        say("picture.trumps", trumps=", ".join(chips) or say("picture.none")),
    ]
    if trick:
        cards = ", ".join(f"{letter_of(player)} {card_id(card)}" for player, card in trick)
        holder = letter_of(trick[winning_index(trick, position["trumps"], components)][0])
        parts.append(say("picture.trick", cards=cards, player=holder))
    for player in range(n):
        if position["voids"][player]:
            suits = f"{say('picture.no')} ".join(map(suit_words, position["voids"][player]))
            parts.append(say("picture.void", player=letter_of(player), suits=suits))
    if last:
        parts.append(say("picture.last", player=letter_of(last.player), move=last.move.text))
    if last and last.taker is not None:
        parts.append(say("picture.took", player=letter_of(last.taker), origin=last.origin, target=last.target))
    return say("picture.title", n=n, status=status), " ".join(parts)


def winner(position: dict[str, Any]) -> int:
    """Player on the last field."""
    fields: list[int] = position["fields"]
    return fields.index(max(fields))


def due(position: dict[str, Any]) -> str:
    """Text of the task of the player to move."""
    if position["phase"] == "sword":
        return say("due.place" if None in position["trumps"] else "due.swap")
    return say("due.play" if position["trick"] else "due.lead")


# --- the course ----------------------------------------------------------------------------------------------------


def _tile_length(components: Components) -> float:
    """Length of each side of a tile; the tiles of all fields form a square."""
    return COURSE / (math.ceil((components.fields + 1) / 4) + 1)


def tile(field: int, components: Components) -> tuple[float, float]:
    """Centre of a field: 0 in the upper left corner, the others clockwise along the sides of a square."""
    length = _tile_length(components)
    tiles_per_side = round(COURSE / length) - 1
    side, offset = divmod(field, tiles_per_side)
    start, end = MARGIN + length / 2, MARGIN + COURSE - length / 2
    corners = ((start, start, 1, 0), (end, start, 0, 1), (end, end, -1, 0), (start, end, 0, -1))
    x, y, dx, dy = corners[side]
    return x + dx * offset * length, y + dy * offset * length


@lru_cache(maxsize=8)
def _course(components: Components, language: str) -> list[str]:
    """Tiles with their numbers, swords, start and Artus. `language` is the current language: a key for the cache."""
    length = _tile_length(components)
    size, scale = length - 4, length / 83  # 83: in the standard box
    lines = [
        f'<rect class="table" x="{short(MARGIN + length)}" y="{short(MARGIN + length)}" '
        f'width="{short(COURSE - 2 * length)}" height="{short(COURSE - 2 * length)}" rx="18"/>'
    ]
    for field in range(components.fields + 1):
        x, y = tile(field, components)
        sword, goal = field in components.swords, field == components.fields
        text_key = ".start" if field == 0 else ".sword" if sword else ".goal" if goal else ""
        tile_class = "goal" if goal else "sworded" if sword else "field"
        lines.append(
            f'<g data-field="{field}"><title>{say("picture.field" + text_key, field=field)}</title>'
            f'<rect class="{tile_class}" x="{short(x - size / 2)}" '
            f'y="{short(y - size / 2)}" width="{short(size)}" height="{short(size)}" rx="{short(12 * scale)}"/>'
        )
        corner = label(x - 35 * scale, y - 28 * scale, 15 * scale, f"{'plate' if goal else 'ink'} start", str(field))
        if goal:
            lines.append(placed(x, y - 6 * scale, 1.7 * scale, f'<path class="plate" d="{shapes.CROWN}"/>'))
        elif sword:
            lines.append(
                placed(x + 27 * scale, y - 24 * scale, 0.95 * scale, f'<path class="steel" d="{shapes.SWORD}"/>')
            )
        elif field == 0:
            lines.append(label(x - 22 * scale, y - 28 * scale, 13 * scale, "mute start", say("picture.start")))
        lines.append(f"{corner}</g>")
    return lines


def _pawns(position: dict[str, Any], components: Components, last: LastMove | None) -> Iterator[str]:
    """The pawns on their fields, and the path of the pawn that has just moved."""
    fields, length = position["fields"], _tile_length(components)
    scale = length / 83
    if last and last.taker is not None and last.origin is not None and last.target is not None:
        path = [tile(field, components) for field in range(last.origin, last.target + 1)]
        points = "L".join(f"{short(x)} {short(y)}" for x, y in path)
        x, y = path[-1]
        size = length - 4
        yield (
            f'<g data-way="{last.origin}-{last.target}"><path class="trail none round dash" d="M{points}"/>'
            f'<rect class="trail none" x="{short(x - size / 2)}" y="{short(y - size / 2)}" width="{short(size)}" '
            f'height="{short(size)}" rx="{short(12 * scale)}"/></g>'
        )
    if components.fields not in fields:  # else the winner's pawn stands there
        x, y = tile(components.fields, components)
        yield label(x, y + 28 * scale, 15 * scale, "plate", say("picture.artus"))
    players_at_start = [player for player, field in enumerate(fields) if field == 0]
    for player, field in enumerate(fields):
        x, y = tile(field, components)
        size = 1.12 * scale
        if field == 0:
            nth, rows = players_at_start.index(player), math.ceil(len(players_at_start) / 3)
            columns = min(3, len(players_at_start))
            x += 25 * scale * (nth % 3 - (columns - 1) / 2)
            y += 8 * scale + 27 * scale * (nth // 3 - (rows - 1) / 2)
            size = 0.54 * scale
        elif field == components.fields:
            y, size = y + 17 * scale, 1.05 * scale  # below the crown
        else:
            y += 8 * scale
        yield (
            f'<g data-pawn="{player}" data-at="{field}">'
            f"<title>{say('picture.pawn.title', player=letter_of(player), field=field)}</title>"
            f"{badge(player, x, y, round(size, 3))}</g>"
        )


# --- trumps --------------------------------------------------------------------------------------------------------


def _trumps(position: dict[str, Any], components: Components, last: LastMove | None) -> Iterator[str]:
    """Places of the chips, larger towards the right, up to the super-trumps; below them the chips not yet placed."""
    trumps, suits = position["trumps"], components.suits
    left, right = 112, 576
    step = (right - left) / (len(trumps) + 1.25)
    strongest = sum(suit is not None for suit in trumps) - 1
    narrow, broad = 5, 40
    end = left + step * len(trumps)
    yield (
        f'<g data-trumps=""><path class="wedge round" d="M{left} {TRUMPS - narrow}L{short(end)} {TRUMPS - broad}'
        f'L{short(end + 14)} {TRUMPS}L{short(end)} {TRUMPS + broad}L{left} {TRUMPS + narrow}Z"/>'
        f"{label(left, 107, 14, 'mute thin start', say('picture.order'))}"
    )
    for nth, suit in enumerate(trumps):
        x, scale = left + step * (nth + 0.5), 0.74 + 0.26 * nth / max(1, len(trumps) - 1)
        radius = shapes.CHIP * scale
        if suit is None:
            yield (
                f'<g data-place="{nth + 1}"><title>{say("picture.place.empty", place=nth + 1)}</title>'
                f'<circle class="slot none dash" '
                f'cx="{short(x)}" cy="{TRUMPS}" r="{short(radius)}"/>'
                f"{label(x, TRUMPS, 17, 'mute', str(nth + 1))}</g>"
            )
            continue
        text_key = "strongest" if nth == strongest else "place"
        title = say(f"picture.chip.{text_key}", suit=suit_words(suit), place=nth + 1)
        marks = ""
        if nth == strongest:
            crown = placed(x, TRUMPS - radius - 12, 1, f'<path class="gold rim round" d="{shapes.CROWN}"/>')
            marks = f'{crown}<circle class="winning none" cx="{short(x)}" cy="{TRUMPS}" r="{short(radius + 3)}"/>'
        if last and _touched(last, suit, nth + 1):
            marks += f'<circle class="trail none" cx="{short(x)}" cy="{TRUMPS}" r="{short(radius + 7)}"/>'
        yield (
            f'<g data-chip="{suit}" data-place="{nth + 1}"><title>{xml_text(title)}</title>'
            f"{placed(x, TRUMPS, scale, shapes.chip(suits.index(suit)))}{marks}"
            f"{label(x, TRUMPS + radius + 12, 14, 'mute', str(nth + 1))}</g>"
        )
    yield (
        f"<g><title>{say('picture.super')}</title>"
        f"{placed(right - shapes.CHIP - 2, TRUMPS, 1, shapes.super_chip())}</g></g>"
    )
    unplaced_suits = [number for number, suit in enumerate(suits) if suit not in trumps]
    for nth, number in enumerate(unplaced_suits):
        x = CENTRE + 34 + 54 * (nth - (len(unplaced_suits) - 1) / 2)
        if nth == 0:
            yield label(x - 34, SUPPLY, 14, "mute thin end", say("picture.waiting"))
        title = say("picture.chip.waiting", suit=suit_words(suits[number]))
        yield (
            f'<g data-chip="{suits[number]}"><title>{xml_text(title)}</title>'
            f"{placed(x, SUPPLY, 0.72, shapes.chip(number))}</g>"
        )


def _touched(last: LastMove, suit: str, place: int) -> bool:
    """Whether the last move put this suit's chip on this place, as a new trump or by a swap."""
    return last.move.suit == suit or (last.move.places is not None and place in last.move.places)


# --- the trick -----------------------------------------------------------------------------------------------------


def _trick(
    position: dict[str, Any], components: Components, before: dict[str, Any] | None, last: LastMove | None
) -> Iterator[str]:
    """The cards in order of play, each above its player; a trick that has just been completed stays visible."""
    n = position["num_players"]
    trick, trumps = position["trick"], position["trumps"]
    is_complete = last is not None and last.taker is not None
    if before is not None and last is not None and is_complete:
        trick, trumps = last.trick, before["trumps"]
    elif position["phase"] != "trick":
        return
    leader = trick[0][0] if trick else position["turn"]
    winning_nth = winning_index(trick, trumps, components) if trick else -1
    scale = TRICK_SCALES[n]
    width, height = CARD_WIDTH * scale, CARD_HEIGHT * scale
    gap = min(16, (478 - n * width) / (n - 1))
    left, top, badge_y = CENTRE - (n * width + (n - 1) * gap) / 2, TRICK - height / 2, TRICK + height / 2 + 29
    for nth in range(n):
        player, x = (leader + nth) % n, left + nth * (width + gap)
        if nth >= len(trick):
            slot_class = " turn" if nth == len(trick) else " slot"
            yield (
                f'<rect class="none dash{slot_class}" x="{short(x)}" y="{short(top)}" width="{short(width)}" '
                f'height="{short(height)}" rx="{short(5 * scale)}"/>{badge(player, x + width / 2, badge_y, 0.8)}'
            )
            continue
        card, y, mark = trick[nth][1], top, ""
        if nth == winning_nth:
            y -= 10
            mark = f'<rect class="winning" x="-2" y="-2" width="{CARD_WIDTH + 4}" height="{CARD_HEIGHT + 4}" rx="6.5"/>'
            yield placed(x + width / 2, y - 13, 1.15, f'<path class="gold rim round" d="{shapes.CROWN}"/>')
        dim_class = ' class="dim"' if is_complete and nth != winning_nth else ""
        attributes = f'data-trick="{player}" data-card="{xml_text(card)}"{dim_class}'
        yield card_at(card, components, x, y, scale, attributes, mark)
        yield badge(player, x + width / 2, badge_y, 0.8)


# --- the middle ----------------------------------------------------------------------------------------------------


def _middle(position: dict[str, Any], components: Components, last: LastMove | None, note: str) -> Iterator[str]:
    """The led suit or the winner of the trick, the player to move, and the pile and discards."""
    trick, is_over = position["trick"], position["phase"] == "over"
    suit = led_suit(trick)
    if suit:
        text = say("picture.led", suit=suit_words(suit))
        middle = CENTRE + 16
        yield placed(middle - 5.6 * len(text) - 24, STATUS, 0.85, suit_coin(components.suits.index(suit)))
        yield label(middle, STATUS, 19, "ink", text)
    elif trick:
        yield label(CENTRE, STATUS, 19, "ink", say("picture.free"))
    elif last and last.taker is not None:
        yield badge(last.taker, CENTRE - 78, STATUS, 0.66)
        yield label(CENTRE - 58, STATUS, 19, "ink start", say("picture.takes", field=last.target))
    player = winner(position) if is_over else position["turn"]
    text = say("picture.wins") if is_over else due(position)
    yield badge(player, CENTRE - 6.2 * len(text) - 10, DUE, 0.85)
    yield label(CENTRE + 18, DUE, 22, "ink", text)
    pile = position["pile"] if isinstance(position["pile"], int) else len(position["pile"])
    for kind, count, x in (("pile", pile, 113), ("discards", len(position["discards"]), 534)):
        if count:
            shape = card_back() if kind == "pile" else _discards()
        else:
            shape = f'<rect class="slot none dash" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
        yield (
            f'<g data-pile="{kind}" data-count="{count}"><title>{say(f"picture.{kind}", n=count)}</title>'
            f"{placed(x, 503, 0.92, shape)}{label(x + 20, 572, 14, 'mute', say(f'picture.count.{kind}', n=count))}</g>"
        )
    if note:
        yield label(CENTRE, 578, 12, "mute thin", note)


def _discards() -> str:
    """A stack of faces, about the size of a card."""
    return "".join(
        f'<rect class="face cut" x="{x}" y="{y}" width="{CARD_WIDTH - 4}" height="{CARD_HEIGHT - 4}" rx="5"/>'
        for x, y in ((4, 0), (2, 2), (0, 4))
    )


# --- the players ---------------------------------------------------------------------------------------------------


def _panel(position: dict[str, Any], components: Components, player: int, names: Sequence[str] | None) -> Iterator[str]:
    """One player's name, field, voids, hand, and cards played since the deal."""
    n, field = position["num_players"], position["fields"][player]
    height = (COURSE - PANEL_GAP * (n - 1)) / n
    top = MARGIN + player * (height + PANEL_GAP)
    x, right = PANEL_LEFT + PADDING, PANEL_LEFT + PANEL_WIDTH - PADDING
    is_over = position["phase"] == "over"
    is_marked = player == (winner(position) if is_over else position["turn"])
    outline = "turn" if is_marked else "edge"
    is_low = n > 4  # name and notes share a line
    middle = top + (19 if is_low else 28)
    yield f'<g data-panel="{player}">'
    yield (
        f'<rect class="panel {outline}" x="{PANEL_LEFT}" y="{short(top)}" width="{PANEL_WIDTH}" '
        f'height="{short(height)}" rx="12"/>'
    )
    yield badge(player, x + 18, middle, 0.66 if is_low else 0.85)
    player_text = say("picture.player", player=player)
    notes = [player_text] if names else []
    notes += [say("deals")] if position["dealer"] == player and not is_over else []
    notes += [say("picture.won") if is_over else due(position)] if is_marked else []
    name, notes_text = shortened(names[player], 24) if names else player_text, " · ".join(notes)
    if is_low:
        yield (
            f'<text class="ink start" x="{x + 48}" y="{short(middle + 6)}" font-size="17">{xml_text(name)}'
            f'<tspan class="mute thin" dx="10" font-size="12">{notes_text}</tspan></text>'
        )
    else:
        yield label(x + 48, middle - (9 if notes_text else 0), 18, "ink start", name)
        yield label(x + 48, middle + 12, 12, "mute thin start", notes_text)
    yield label(right, middle, 24 if is_low else 30, "ink end", str(field))
    voids = position["voids"][player]
    for nth, suit in enumerate(reversed(voids)):
        void_sign = placed(right - 66 - 27 * nth, middle, 0.82, shapes.no_suit(components.suits.index(suit)))
        title = xml_text(say("picture.has-no", suit=suit_words(suit)))
        yield f'<g data-player="{player}" data-void="{suit}"><title>{title}</title>{void_sign}</g>'
    yield from _cards(position, components, player, top, height, 34 if is_low else 56)
    yield "</g>"


def _cards(
    position: dict[str, Any], components: Components, player: int, top: float, height: float, head_height: float
) -> Iterator[str]:
    """The hand, and next to or below it the cards played since the deal, dimmed."""
    hand, played = position["hands"][player], position["played"][player]
    cards: list[str | None] = [None] * hand if isinstance(hand, int) else list(hand)
    chooses_now = position["phase"] == "trick" and position["turn"] == player and not isinstance(hand, int)
    playable_cards = playable(hand, position["trick"], components) if chooses_now else set()
    rows = 2 if position["num_players"] < 4 else 1
    room, max_cards = PANEL_WIDTH - 2 * PADDING, components.hand
    played_gap = 14 if rows == 1 else 0  # space between the hand and the played cards
    max_height = (height - head_height - LIFT - 9 - 24 * (rows - 1)) / rows
    scale = min(max_height / CARD_HEIGHT, 1.5, (room - played_gap) / (min(max_cards, 8) * (CARD_WIDTH + 4)))
    step = min((CARD_WIDTH + 4) * scale, (room - played_gap - CARD_WIDTH * scale) / max(1, max_cards - 1))
    left, y = PANEL_LEFT + PADDING, top + head_height + LIFT
    for nth, card in enumerate(cards):
        attributes = f'data-player="{player}" ' + (f'data-card="{xml_text(card)}"' if card else 'data-back=""')
        is_lifted = card in playable_cards
        attributes += ' class="dim"' if playable_cards and not is_lifted else ' data-playable=""' if is_lifted else ""
        yield card_at(card, components, left + step * nth, y - LIFT * is_lifted, scale, attributes, "")
    if rows == 2:
        y += CARD_HEIGHT * scale + 24
        if played:
            yield label(left, y - 9, 12, "mute thin start", say("picture.since"))
        num_before = 0
    else:
        num_before = len(cards)
    for nth, card in enumerate(played):
        attributes = f'data-player="{player}" data-played="{xml_text(card)}" class="dim"'
        yield card_at(card, components, left + step * (num_before + nth) + played_gap, y, scale, attributes, "")


picture = PictureParts("royal", STANDARD, TABLE_VIEW, shapes.style, last_move, describe, _draw).picture
