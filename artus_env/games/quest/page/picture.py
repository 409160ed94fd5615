"""SVG picture of the King's quests, from a position as `to_dict` gives it.

Only the position itself is drawn, so the picture of a position as one player knows it (`to_dict(player)`) can't show
more. Elements that a program may click on or move have attributes: `data-place`, `data-knight` (a player, with
`data-at`), `data-quest` (with `data-holder`, empty for open ones), `data-display` and `data-pile` (kinds of cards, with
`data-count`), `data-tent` (a player), and in a player's panel `data-player` with `data-action`, `data-card`,
`data-back` (a card whose front is hidden), `data-bid`, `data-excluded` or `data-tag` (a quest).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from artus_env.authoring import letter_of
from artus_env.games.quest.components import ACTIONS, CARDS, MIN_PLAYERS, PLACES, STANDARD, Components
from artus_env.games.quest.page import say, shapes
from artus_env.games.quest.page.deeds import CAMELOT, Deed, deed, goal_of, in_order, jousters, place_of, total, winners
from artus_env.games.quest.page.sentences import action_id, card_id, quest_id, quest_needs
from artus_env.games.quest.page.shapes import TAG_WIDTH, card_at
from artus_env.pictures import (
    CARD_HEIGHT,
    CARD_WIDTH,
    HEIGHT,
    PictureParts,
    Scene,
    badge,
    label,
    placed,
    short,
    shortened,
)

TABLE_VIEW = (4, 4, HEIGHT - 8, HEIGHT - 8)
"""View box of the layout "table": the ring and everything within it."""
MARGIN = 12
CENTRE = HEIGHT / 2
RING = 255
"""Distance of the places from the centre."""
TILE_WIDTH, TILE_HEIGHT = 146, 126
SUPPLY_STEP = 50
"""Distance between action cards on display."""
PANEL_LEFT, PANEL_WIDTH, PANEL_GAP, PADDING = 692, 512, 8, 16


def _draw(scene: Scene) -> list[str]:
    """SVG elements of the picture, see `artus_env.pictures.PictureParts.draw`."""
    position, components, last = scene[:3]
    lines = [
        f'<circle class="road none" cx="{CENTRE:g}" cy="{CENTRE:g}" r="{RING}"/>',
        *_trail(position, last),
        *_places(position, components, last),
        *_status(position, components, last, scene.note, scene.wide),
        *_supply(position, components, last),
        *_tents(position),
    ]
    if scene.wide:
        for player in range(position["num_players"]):
            lines += _panel(position, components, player, scene.names, last)
    return lines


# --- description ---------------------------------------------------------------------------------------------------


def describe(position: dict[str, Any], components: Components, last: Deed | None) -> tuple[str, str]:
    """Title and description for readers who can't see the picture."""
    n, points = position["num_players"], position["points"]
    letters = [letter_of(player) for player in range(n)]
    if position["phase"] == "over":
        status = say("picture.over", names=say.listed([letters[player] for player in winners(position)]))
    else:
        status = f"{letters[position['turn']]} {say('due.' + position['phase'])}"
    knights = [f"{letters[player]} {_place(position['places'][player])}" for player in range(n)]
    points_text = ", ".join(f"{letters[player]} {points[player]}" for player in range(n))
    parts = [
        say("picture.round", round=position["round"], rounds=components.rounds),
        say("picture.points", goal=goal_of(position, components), points=points_text),
        say("picture.tents", tents=", ".join(letters[player] for player in position["tents"])),
        say("picture.ring", places=", ".join(map(_place, position["ring"]))),
        say("picture.knights", knights=", ".join(knights)),
        say("picture.open", quests=_quests(position["open_quests"], components)),
    ]
    for player in range(n):
        hidden = position["start_cards"][player]
        known_cards = in_order([*position["taken"][player], *([] if isinstance(hidden, int) else hidden)])
        unknown_text = [say("picture.unknown", n=hidden)] if isinstance(hidden, int) and hidden else []
        parts.append(
            say(
                "picture.holds",
                player=letters[player],
                cards=", ".join([*map(card_id, known_cards), *unknown_text]) or say("picture.novirtues"),
                actions=_listed(position["actions"][player], action_id),
                quests=_quests(position["quests"][player], components),
            )
        )
        if hidden and position["excluded"][player]:
            lacks = f"{say('picture.no')} ".join(map(card_id, position["excluded"][player]))
            parts.append(say("picture.excluded", player=letters[player], cards=lacks))
    parts.append(say("picture.display", actions=_listed(position["display"], action_id)))
    piles = [
        f"{say('virtue.' + virtue)} {' '.join(map(str, values)) or say('picture.empty')}"
        for virtue, values in position["piles"].items()
    ]
    parts.append(say("picture.piles", piles=", ".join(piles)))
    parts += [say("picture.has-bid", player=letters[player]) for player in _have_bid(position)]
    if last:
        parts.append(say("picture.last", player=letters[last.player], move=last.move.text))
        parts += [
            say("picture.bid", player=letters[player], total=total(cards), cards=_listed(cards, card_id))
            for player, cards in last.bids.items()
        ]
    return say("picture.title", n=n, status=status), " ".join(parts)


def _place(place: str) -> str:
    return say(f"place.{place}")


def _quests(quests: Sequence[str], components: Components) -> str:
    return _listed(quests, lambda quest: say("quest.listed", quest=quest_id(quest), **quest_needs(quest, components)))


def _listed(names: Sequence[str], name: Callable[[str], str]) -> str:
    return ", ".join(map(name, names)) or say("none")


def _have_bid(position: dict[str, Any]) -> list[int]:
    """Players in the tournament who have made their bid."""
    if position["phase"] != "bid":
        return []
    return [player for player in jousters(position) if player not in position["bidding"]]


# --- the ring ------------------------------------------------------------------------------------------------------


def spot(nth: float) -> tuple[float, float]:
    """Centre of the place `nth` steps clockwise from Camelot, which is at the top."""
    angle = math.tau * nth / len(PLACES)
    return CENTRE + RING * math.sin(angle), CENTRE - RING * math.cos(angle)


def _trail(position: dict[str, Any], last: Deed | None) -> Iterator[str]:
    """Path of the last ride, on the road."""
    if last is None or not last.way:
        return
    ring = position["ring"]
    (x0, y0), (x1, y1) = (spot(ring.index(place)) for place in (last.way[0], last.way[-1]))
    clockwise = int(ring.index(last.way[1]) == (ring.index(last.way[0]) + 1) % len(ring))
    yield (
        f'<path class="trail none round dash" data-way="{last.way[0]}-{last.way[-1]}" '
        f'd="M{short(x0)} {short(y0)}A{RING} {RING} 0 0 {clockwise} {short(x1)} {short(y1)}"/>'
    )


def _places(position: dict[str, Any], components: Components, last: Deed | None) -> Iterator[str]:
    """Places with their knights, and with their quests that lie open or are in a player's hand."""
    holders: dict[str, int | None] = dict.fromkeys(position["open_quests"])
    for player, quests in enumerate(position["quests"]):
        holders |= dict.fromkeys(quests, player)
    for nth, place in enumerate(position["ring"]):
        x, y = spot(nth)
        yield from _tile(place, x, y, last)
        for quest in sorted(quest for quest in holders if place_of(quest) == place):
            number = int(quest.partition("-")[2])
            yield _quest(quest, holders[quest], components, x, y - 20 + 28 * (number - 1), last)
        knights = [player for player, player_place in enumerate(position["places"]) if player_place == place]
        for index, player in enumerate(knights):
            yield (
                f'<g data-knight="{player}" data-at="{place}"><title>'
                f"{say('picture.knight', player=letter_of(player), place=_place(place))}</title>"
                f"{badge(player, x + 33 * (index - (len(knights) - 1) / 2), y + 43, 0.72)}</g>"
            )


def _tile(place: str, x: float, y: float, last: Deed | None) -> Iterator[str]:
    camelot = place == CAMELOT
    target = last is not None and bool(last.way) and last.way[-1] == place
    yield (
        f'<g data-place="{place}"><title>{_place(place)}</title><rect class="{"camelot" if camelot else "place"} '
        f'{"trail" if target else "edge"}" x="{short(x - TILE_WIDTH / 2)}" y="{short(y - TILE_HEIGHT / 2)}" '
        f'width="{TILE_WIDTH}" height="{TILE_HEIGHT}" rx="16"/>'
    )
    sign = f'<path class="{"gold" if camelot else "emblem"}" d="{shapes.EMBLEMS[place]}"/>'
    if camelot:
        yield placed(x, y - 10, 1.35, sign)
        yield f"{label(x, y - 47, 17, 'ink', _place(place).capitalize())}</g>"
    else:
        yield placed(x + 46, y - 46, 0.75, sign)
        yield f"{label(x - 64, y - 47, 16, 'ink start', _place(place))}</g>"


def _quest(quest: str, holder: int | None, components: Components, x: float, y: float, last: Deed | None) -> str:
    """A quest at its place: with its holder's badge, or with a scroll if it lies open."""
    holder_value = {} if holder is None else {"player": letter_of(holder)}
    values = {"quest": quest_id(quest), **quest_needs(quest, components), **holder_value}
    title = say("picture.quest.held" if holder_value else "picture.quest.open", **values)
    sign = f'<path class="print" d="{shapes.SCROLL}"/>' if holder is None else badge(holder, 0, 0, 1)
    mark = ""
    if last and quest in (last.move.quest, *last.new_quests):
        left, width = -TAG_WIDTH / 2 - 2, TAG_WIDTH + 4
        mark = f'<rect class="trail none" x="{left:g}" y="-14.5" width="{width}" height="29" rx="8"/>'
    return (
        f'<g data-quest="{quest}" data-holder="{"" if holder is None else holder}">'
        f"<title>{title}</title>"
        f"{placed(x, y, 1, shapes.tag(quest, components) + placed(-52, 0, 0.62, sign) + mark)}</g>"
    )


# --- the middle ----------------------------------------------------------------------------------------------------


def _status(
    position: dict[str, Any], components: Components, last: Deed | None, note: str, wide: bool
) -> Iterator[str]:
    """Round, goal, player to move and result of the last move; in the wide layout also the move itself and a note."""
    over = position["phase"] == "over"
    actors = winners(position) if over else [position["turn"]]
    goal = goal_of(position, components)
    round_ = say("picture.status", round=position["round"], rounds=components.rounds, goal=goal)
    yield label(CENTRE, 172, 13, "mute thin", round_)
    text = say("picture.wins" if len(actors) == 1 else "picture.share")
    text = text if over else say(f"due.{position['phase']}")
    width = 10.2 * len(text) + 34 * len(actors)
    for nth, player in enumerate(actors):
        yield badge(player, CENTRE - width / 2 + 14 + 34 * nth, 198, 0.78)
    yield label(CENTRE - width / 2 + 34 * len(actors) + 2, 198, 19, "ink start", text)
    if last:
        text = f"{letter_of(last.player)}: {shortened(last.move.text, 24)}" if wide else ""
        if last.bids:
            text = ", ".join(
                say("picture.bids", player=letter_of(player), total=total(cards)) for player, cards in last.bids.items()
            )
        won = {last.player: last.points} | last.prizes
        gains = "".join(f" · {letter_of(player)} +{points}" for player, points in won.items() if points)
        yield label(CENTRE, 224, 13, "mute", (text + gains).removeprefix(" · "))
    if note and wide:
        yield label(CENTRE, 240, 11, "mute thin", note)


def _supply(position: dict[str, Any], components: Components, last: Deed | None) -> Iterator[str]:
    """Action cards on display, piles of virtue cards, and the pile of quests."""
    display = Counter(position["display"])
    display_counts = components.display[position["num_players"] - MIN_PLAYERS]
    kinds = [action for action, count in zip(ACTIONS, display_counts, strict=True) if count]
    scale = 0.92
    for nth, action in enumerate(kinds):
        row, column = divmod(nth, 6)
        x = CENTRE + SUPPLY_STEP * (column - (min(6, len(kinds) - 6 * row) - 1) / 2) - CARD_WIDTH * scale / 2
        is_used = last is not None and action == last.move.action
        attributes = f'data-display="{action}" data-count="{display[action]}"'
        title = say("picture.action", action=action_id(action), n=display[action])
        yield _pile(shapes.action_front(action), attributes, title, x, 248 + 66 * row, scale, display[action], is_used)
    piles = Counter(f"{virtue}-{value}" for virtue, values in position["piles"].items() for value in values)
    moved_cards = [] if last is None else [*last.paid, last.move.card]
    for nth, card in enumerate(CARDS):
        x = CENTRE - 177 + 41 * nth + 4 * (nth // 2)
        attributes = f'data-pile="{card}" data-count="{piles[card]}"'
        title = say("picture.virtue", card=card_id(card), n=piles[card])
        yield _pile(shapes.virtue_front(card), attributes, title, x, 388, 0.8, piles[card], card in moved_cards)


def _pile(
    inside: str, attributes: str, title: str, x: float, y: float, scale: float, count: int, is_marked: bool
) -> str:
    """A pile of equal cards with their number; a dashed outline if there are none."""
    if not count:
        inside = f'<rect class="slot none dash" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
    elif count > 1:
        edge = f'<rect class="face cut" x="3" y="-2.5" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
        inside = f'{edge}{inside}<circle class="plate" cx="39" cy="3" r="9"/>{label(39, 3, 13, "pale", str(count))}'
    mark = f'<rect class="trail none" x="-2.5" y="-2.5" width="{CARD_WIDTH + 5}" height="{CARD_HEIGHT + 5}" rx="7"/>'
    return card_at(inside + (mark if is_marked else ""), title, x, y, scale, attributes)


def _tents(position: dict[str, Any]) -> Iterator[str]:
    """The tents in turn order, and the number of quests still to come."""
    n, pile = position["num_players"], position["quest_pile"]
    size = pile if isinstance(pile, int) else len(pile)
    step = 39
    left = CENTRE - (n * step + 44) / 2 + step / 2
    for nth, player in enumerate(position["tents"]):
        x = left + step * nth
        to_move = player == position["turn"] and position["phase"] != "over"
        yield (
            f'<g data-tent="{player}"><title>{say("picture.tent", number=nth + 1, player=letter_of(player))}</title>'
            f"{placed(x, 475, 1.2, _canvas(to_move))}{label(x, 475 - 3, 11, 'print', str(nth + 1))}"
            f"{badge(player, x, 499, 0.56)}</g>"
        )
    x = left + step * n + 6
    if size:
        inside = placed(0, 0, 1, f'<path class="emblem" d="{shapes.SCROLL}"/>') + label(-0.5, 0, 12, "ink", str(size))
    else:
        inside = f'<path class="slot none dash" d="{shapes.SCROLL}"/>'
    yield (
        f'<g data-pile="quests" data-count="{size}"><title>{say("picture.pile", n=size)}</title>'
        f"{placed(x, 474, 1.15, inside)}{label(x, 499, 11, 'mute thin', say('picture.come'))}</g>"
    )


def _canvas(to_move: bool) -> str:
    return f'<path class="canvas {"turn" if to_move else "cut"} round" d="{shapes.TENT}"/>'


# --- the players ---------------------------------------------------------------------------------------------------


def _panel(
    position: dict[str, Any], components: Components, player: int, names: Sequence[str] | None, last: Deed | None
) -> Iterator[str]:
    """Name, points, action cards, virtue cards and quests of one player."""
    n = position["num_players"]
    height = (HEIGHT - 2 * MARGIN - PANEL_GAP * (n - 1)) / n
    top = MARGIN + player * (height + PANEL_GAP)
    x, right, middle = PANEL_LEFT + PADDING, PANEL_LEFT + PANEL_WIDTH - PADDING, top + 27
    over = position["phase"] == "over"
    marked = player in winners(position) if over else player == position["turn"]
    yield f'<g data-panel="{player}">'
    yield (
        f'<rect class="panel {"turn" if marked else "edge"}" x="{PANEL_LEFT}" y="{short(top)}" width="{PANEL_WIDTH}" '
        f'height="{short(height)}" rx="12"/>'
    )
    numbered = say("picture.player", player=player)
    yield badge(player, x + 18, middle, 0.85)
    yield label(x + 48, middle - 9, 18, "ink start", shortened(names[player], 24) if names else numbered)
    notes = [numbered] if names else []
    notes += [say("tent", number=position["tents"].index(player) + 1), *_notes(position, player, marked, last)]
    yield label(x + 48, middle + 12, 12, "mute thin start", " · ".join(notes))
    yield placed(right - 14, middle, 1.35, shapes.shields(position["points"][player]))
    excluded = position["excluded"][player] if position["start_cards"][player] else []
    for nth, card in enumerate(reversed(excluded)):
        sign = placed(right - 52 - 31 * nth, middle, 0.98, shapes.no_card(card))
        title = say("picture.bid.none", card=card_id(card))
        yield f'<g data-player="{player}" data-excluded="{card}"><title>{title}</title>{sign}</g>'
    yield from _cards(position, components, player, top + 52, height - 52, last)
    yield "</g>"


def _notes(position: dict[str, Any], player: int, marked: bool, last: Deed | None) -> list[str]:
    """What the player has to do now, and what is known about their bid."""
    notes = []
    if position["phase"] == "over":
        notes += [say("picture.won")] if marked else []
    elif marked:
        notes.append(say(f"due.{position['phase']}"))
    elif player in position["bidding"]:
        notes.append(say("picture.bid.due"))
    elif player in _have_bid(position):
        bid = position["bids"][player]
        notes.append(say("picture.bid.secret") if bid is None else say("picture.bid.now", total=total(bid)))
    if last and player in last.bids:
        notes.append(say("picture.bid.was", total=total(last.bids[player])))
    return notes


def _cards(
    position: dict[str, Any], components: Components, player: int, top: float, room: float, last: Deed | None
) -> Iterator[str]:
    """Action cards, virtue cards and quests: in three rows with two players, else the first two share a row."""
    n, left, width = position["num_players"], PANEL_LEFT + PADDING, PANEL_WIDTH - 2 * PADDING
    choices = components.choices[n - MIN_PLAYERS]
    below = 38 if n < 4 else 34  # for quests
    rows = 2 if n == 2 else 1
    scale = min(1.45, (room - below) / rows / (CARD_HEIGHT + 8))
    step = min((CARD_WIDTH + 5) * scale, width * (0.5 if rows == 1 else 1) / choices)
    actions = position["actions"][player]
    for nth in range(choices):
        x = left + step * nth
        if nth < len(actions):
            action = actions[nth]
            attributes = f'data-player="{player}" data-action="{action}"'
            yield card_at(shapes.action_front(action), action_id(action), x, top, scale, attributes)
        else:
            slot = f'<rect class="slot none dash" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
            yield placed_at(slot, x, top, scale)
    start = left if rows == 2 else left + step * choices + 14
    y = top + (CARD_HEIGHT + 8) * scale if rows == 2 else top
    yield from _virtues(position, player, start, y, scale, left + width, last)
    quests, tag_y = position["quests"][player], top + room - below / 2 - 1
    tag_width = TAG_WIDTH + 62  # with the name of its place in front
    tag_scale = min(1.1, width / (max(1, len(quests)) * tag_width))
    for nth, quest in enumerate(quests):
        x = left + tag_width * tag_scale * (nth + 0.5)
        tag = placed(30, 0, 1, shapes.place_tag(quest, components))
        title = say("picture.quest.tag", quest=quest_id(quest), **quest_needs(quest, components))
        inside = label(-43, 0, 15, "mute end", _place(place_of(quest))) + tag
        yield (
            f'<g data-player="{player}" data-tag="{quest}"><title>{title}</title>'
            f"{placed(x, tag_y, tag_scale, inside)}</g>"
        )


def placed_at(inside: str, x: float, y: float, scale: float) -> str:
    """SVG placed by its upper left corner."""
    return f'<g transform="translate({short(x)} {short(y)}) scale({round(scale, 3):g})">{inside}</g>'


def _virtues(
    position: dict[str, Any], player: int, left: float, y: float, scale: float, right: float, last: Deed | None
) -> Iterator[str]:
    """The hand: known cards, with marks on cards that are bid, then backs."""
    hidden = position["start_cards"][player]
    known_cards = in_order([*position["taken"][player], *([] if isinstance(hidden, int) else hidden)])
    cards: list[str | None] = [*known_cards, *[None] * (hidden if isinstance(hidden, int) else 0)]
    bids = Counter(position["bids"][player] or ())
    new_card = last.move.card if last and last.player == player and last.move.kind == "exercise" else None
    room = right - left - CARD_WIDTH * scale
    step = min((CARD_WIDTH + 4) * scale, room / max(1, len(cards) - 1))
    for nth, card in enumerate(cards):
        x, mark = left + step * nth, ""
        if card is None:
            yield card_at(
                shapes.virtue_back(), say("picture.hidden"), x, y, scale, f'data-player="{player}" data-back=""'
            )
            continue
        attributes = f'data-player="{player}" data-card="{card}"'
        if bids[card]:
            bids[card] -= 1
            attributes += ' data-bid=""'
            mark = (
                f'<rect class="bidden none" x="-1" y="-1" width="{CARD_WIDTH + 2}" height="{CARD_HEIGHT + 2}" rx="6"/>'
            )
        elif card == new_card:
            new_card = None
            mark = (
                f'<rect class="trail none" x="-1" y="-1" width="{CARD_WIDTH + 2}" height="{CARD_HEIGHT + 2}" rx="6"/>'
            )
        yield card_at(shapes.virtue_front(card) + mark, card_id(card), x, y, scale, attributes)


def _last_move(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> Deed:
    return deed(before, move, after)


picture = PictureParts("quest", STANDARD, TABLE_VIEW, shapes.style, _last_move, describe, _draw).picture
