"""A second, slow implementation of Artus on plain positions (dicts of lists), to compare the environment with.

It shares no code with `artus_env` and is written from the rules alone: no slots, no action ids, no bit sets. `moves`
returns the legal moves of a position as texts, `play` the position after a move.
"""

from __future__ import annotations

from itertools import combinations

WHEEL = dict(zip(range(1, 10), [10, 8, 7, 6, 5, 4, 3, 2, 1], strict=True))  # by distance behind the King
WHEEL |= {distance: 9 - distance for distance in range(10, 25)}
WHEEL |= {0: 0, 25: 0, 26: 0, 27: 0}
CARPET = {0, 1, 2, 14, 15, 16}
FORWARD = {
    "k1-4": (1, 4),
    "k2-5": (2, 5),
    "k3-6": (3, 6),
    "k4-7": (4, 7),
    "k5-7": (5, 7),
    "k6-8": (6, 8),
    "k7-9": (7, 9),
    "k1-5b": (1, 5),
    "any4-8": (4, 8),
    "silver1-7": (1, 7),
    "bronze1-7": (1, 7),
    "any1-5b": (1, 5),
    "choice": (1, 3),
}
DECK = [
    *list(FORWARD)[:12],
    "ring-silver",
    "ring-bronze",
    "ring-any",
    "all",
    "reversed",
    "colors",
    "carpet",
    "reds",
    "choice",
]
KNIGHTS = {2: 5, 3: 5, 4: 4}


def king_seat(position):
    return next(seat for seat, figure in enumerate(position["seats"]) if figure and "king" in figure)


def value_of(position, seat):
    """The value of a seat, from the King's seat counter-clockwise."""
    return WHEEL[(king_seat(position) - seat) % 28]


def own_knights(position):
    return [seat for seat, figure in enumerate(position["seats"]) if figure == {"knight": position["turn"]}]


def royals(position, colour, kinds=("prince", "king")):
    """Seats of the princes and the King with this colour ("any": all)."""
    return [
        seat
        for seat, figure in enumerate(position["seats"])
        if figure and any(kind in figure and (colour == "any" or figure[kind] == colour) for kind in kinds)
    ]


def card_moves(position, card):
    """All moves with one card."""
    colour = next((colour for colour in ("silver", "bronze", "any") if colour in card), None)
    if card.startswith("ring-"):
        return [f"{card}:{seat}" for seat in royals(position, colour, kinds=("prince",))]
    if card not in FORWARD:
        return [card]
    if card == "choice":
        figures = own_knights(position) + royals(position, "any")
    elif card.startswith("k"):
        figures = own_knights(position)
    else:
        figures = royals(position, colour)
    low, high = FORWARD[card]
    steps = list(range(low, high + 1))
    if card in ("k1-5b", "any1-5b"):
        steps += [-count for count in steps]
    found = [f"{card}:{seat}>{(seat + count) % 28}" for seat in figures for count in steps]
    if card == "choice":
        found += [f"choice:ring:{seat}" for seat in royals(position, "any", kinds=("prince",))] + ["choice:best"]
    return found


def moves(position):
    """All legal moves of the player to move."""
    player, phase = position["turn"], position["phase"]
    if phase == "place":
        return [f"@{seat}" for seat, figure in enumerate(position["seats"]) if figure is None]
    if phase == "draw":
        return [f"draw:{back}" for back, cards in position["piles"][player].items() if cards]
    if phase == "play":
        return [move for card in sorted(set(position["hands"][player])) for move in card_moves(position, card)]
    return []


def score(position, card):
    """Points of a scoring card: those of the best choice of knights that the card allows."""
    knights = own_knights(position)
    if card == "all":
        return sum(value_of(position, seat) for seat in knights)
    if card == "reversed":
        return -sum(value_of(position, seat) for seat in knights)
    if card == "choice:best":
        return max((value_of(position, seat) for seat in knights), default=0)  # none before the first is placed
    num_knights, penalty = {"colors": (3, -15), "carpet": (2, -25), "reds": (3, -50)}[card]
    sums = []
    for chosen in combinations(knights, num_knights):
        values = [value_of(position, seat) for seat in chosen]
        if card == "colors":
            fits = any(v > 0 for v in values) and any(v == 0 for v in values) and any(v < 0 for v in values)
        elif card == "carpet":
            fits = set(chosen) <= CARPET
        else:
            fits = all(v < 0 for v in values)
        if fits:
            sums.append(sum(values))
    return max(sums, default=penalty)


def move_figure(position, origin, target):
    """Move a figure. A figure on the target goes to the next free seat counter-clockwise. Returns the value of the seat
    that the moving figure leaves."""
    table = position["seats"]
    points = value_of(position, origin)
    mover, table[origin] = table[origin], None
    pushed, table[target] = table[target], mover
    if pushed:
        free = target
        while table[free]:
            free = (free - 1) % 28
        table[free] = pushed
    return points


def give_ring(position, seat):
    """Give a prince a ring. With the third one he becomes King, and the old King a prince with one ring. Returns the
    value of the prince's seat."""
    table = position["seats"]
    points = value_of(position, seat)
    prince = table[seat]
    if prince["rings"] == 1:
        table[seat] = {"prince": prince["prince"], "rings": 2}
    else:
        old = king_seat(position)
        table[old] = {"prince": table[old]["king"], "rings": 1}
        table[seat] = {"king": prince["prince"], "rings": 3}
    return points


def copied(position):
    """A copy of a position that can be changed. Figures are shared: they are replaced, never changed."""
    return {
        **position,
        "seats": list(position["seats"]),
        "hands": [list(hand) for hand in position["hands"]],
        "piles": [{back: list(cards) for back, cards in piles.items()} for piles in position["piles"]],
        "played": [list(cards) for cards in position["played"]],
        "scores": list(position["scores"]),
    }


def play(position, move):
    """The position after a legal move."""
    after = copied(position)
    player, num_players = after["turn"], after["num_players"]
    if after["phase"] == "place":
        after["seats"][int(move[1:])] = {"knight": player}
        on_table = sum("knight" in figure for figure in after["seats"] if figure)
        if on_table == num_players * KNIGHTS[num_players]:
            begin_turn(after, after["start_player"])
        else:
            after["turn"] = (player - 1) % num_players
        return after
    if after["phase"] == "draw":
        card = after["piles"][player][move.removeprefix("draw:")].pop(0)
        after["hands"][player] = sorted([*after["hands"][player], card], key=DECK.index)
        after["left"] -= 1
        if after["left"] == 0:
            begin_turn(after, (player + 1) % num_players)
        return after

    card, _, argument = move.partition(":")
    if ">" in argument:
        origin, target = argument.split(">")
        points = move_figure(after, int(origin), int(target))
    elif card.startswith("ring-"):
        points = give_ring(after, int(argument))
    elif argument.startswith("ring:"):
        points = give_ring(after, int(argument.removeprefix("ring:")))
    else:
        points = score(after, move)
    after["scores"][player] += points
    after["hands"][player].remove(card)
    after["played"][player].append(card)
    after["left"] -= 1
    if after["left"] == 0:
        cards_a_turn = 2 if after["rules"] == "advanced" else 1
        num_in_piles = sum(len(cards) for cards in after["piles"][player].values())
        if num_in_piles:
            after["phase"], after["left"] = "draw", min(cards_a_turn, num_in_piles)
        else:
            begin_turn(after, (player + 1) % num_players)
    return after


def begin_turn(position, player):
    """Begin a player's turn, or end the game if all hands are empty."""
    if any(position["hands"]):
        position["phase"], position["turn"] = "play", player
        position["left"] = 2 if position["rules"] == "advanced" else 1
    else:
        position["phase"], position["turn"], position["left"] = "over", position["start_player"], 0


def perft(position, depth):
    """Number of sequences of `depth` legal moves."""
    legal = moves(position)
    if depth == 1:
        return len(legal)
    return sum(perft(play(position, move), depth - 1) for move in legal)
