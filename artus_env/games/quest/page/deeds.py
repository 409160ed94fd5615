"""Effects of moves, for pictures and sentences. They are read from positions as `to_dict` gives them to a viewer, so
they contain only what this viewer may know.

The functions of the rules decide who wins, who jousts and which cards a quest still needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from artus_env.authoring import partial_state
from artus_env.games.quest import rules
from artus_env.games.quest.actions import in_digits
from artus_env.games.quest.components import ACTIONS, CARDS, MIN_PLAYERS, PLACES, QUESTS, VIRTUES, Components
from artus_env.games.quest.notation import QuestMove, parsed
from artus_env.games.quest.state import STATE

CAMELOT = PLACES[0]


def virtue_of(card: str) -> str:
    """The virtue of a card."""
    return card.partition("-")[0]


def value_of(card: str) -> int:
    """The value of a virtue card."""
    return int(card.partition("-")[2])


def place_of(quest: str) -> str:
    """Place of a quest."""
    return quest.partition("-")[0]


def needs_of(quest: str, components: Components) -> list[str]:
    """Lowest card of each virtue that a quest demands."""
    needs = components.quests[QUESTS.index(quest)].needs
    return [f"{virtue}-{need}" for virtue, need in zip(VIRTUES, needs, strict=True) if need]


def in_order(cards: Sequence[str]) -> list[str]:
    """Virtue cards in the order of the box."""
    return sorted(cards, key=CARDS.index)


def total(cards: Sequence[str]) -> int:
    """Sum of the values of the cards in a bid."""
    return sum(map(value_of, cards))


def goal_of(position: dict[str, Any], components: Components) -> int:
    """The points that end the game."""
    return components.goals[position["num_players"] - MIN_PLAYERS]


def winners(position: dict[str, Any]) -> list[int]:
    """Winners of a finished game."""
    state = partial_state(
        STATE, num_players=len(position["points"]), scores=position["points"], reached=position["reached"]
    )
    keys = [int(rules.ranking_key(None, state, player)) for player in range(len(position["points"]))]  # for any box
    return [player for player, key in enumerate(keys) if key == max(keys)]


def jousters(position: dict[str, Any]) -> list[int]:
    """Players in the tournament, the earlier tent first."""
    state = partial_state(
        STATE,
        num_players=position["num_players"],
        actions=[in_digits([cards.count(action) for action in ACTIONS]) for cards in position["actions"]],
        places=[PLACES.index(place) for place in position["places"]],
    )
    players = int(rules.jousters(state))
    return [player for player in position["tents"] if players >> player & 1]


def lacking(cards: Sequence[str], quest: str, components: Components) -> list[str]:
    """Demands of a quest that these cards don't meet: for each such virtue the lowest card that meets it."""
    digits, needs = in_digits([list(cards).count(card) for card in CARDS]), needs_of(quest, components)
    return [need for need in needs if rules.payment(digits, VIRTUES.index(virtue_of(need)), value_of(need)) < 0]


def way_between(ring: Sequence[str], origin: str, target: str) -> list[str]:
    """Places of the shorter way round the ring, including both ends."""
    start, steps = ring.index(origin), (ring.index(target) - ring.index(origin)) % len(ring)
    if steps > len(ring) / 2:
        steps -= len(ring)
    turn = 1 if steps >= 0 else -1
    return [ring[(start + nth) % len(ring)] for nth in range(0, steps + turn, turn)]


class Deed(NamedTuple):
    """A move that was played, as pictures and sentences show it."""

    move: QuestMove
    player: int
    points: int  # points for its player
    way: list[str]  # places of the ride, from the first to the last
    paid: list[str]  # virtue cards that were laid back
    unused: list[str]  # action cards that go back with the end of the turn
    next_jousters: list[int]  # players in the tournament that begins after the move
    bids: dict[int, list[str]]  # bid of each player in the tournament that the move has ended
    prizes: dict[int, int]  # points that each of these players has won
    ends_round: bool
    new_quests: list[str]  # quests that were opened


def deed(before: dict[str, Any], move: str, after: dict[str, Any]) -> Deed:
    """Effect of a move, from the positions before and after it."""
    parts, player = parsed(move), before["turn"]
    gains = [new - old for old, new in zip(before["points"], after["points"], strict=True)]
    way = way_between(before["ring"], before["places"][player], parts.place) if parts.place else []
    unused = [card for card in before["actions"][player] if card != "tournament"]
    bidders = jousters(before) if parts.bid is not None and before["bidding"] == [player] else []
    paid = _laid_back(before, after)
    return Deed(
        move=parts,
        player=player,
        points=gains[player],
        way=way,
        paid=paid,
        unused=unused if parts.kind == "done" else [],
        next_jousters=jousters(before) if parts.kind == "done" and after["phase"] == "bid" else [],
        bids={bidder: _bid_of(bidder, player, parts.bid or (), paid) for bidder in bidders},
        prizes={bidder: gains[bidder] for bidder in bidders},
        ends_round=after["round"] > before["round"] or after["phase"] == "over",
        new_quests=[quest for quest in after["open_quests"] if quest not in before["open_quests"]],
    )


def _laid_back(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Virtue cards that are on the piles after a move and weren't before it."""
    added = {virtue: Counter(values) - Counter(before["piles"][virtue]) for virtue, values in after["piles"].items()}
    return [f"{virtue}-{value}" for virtue in VIRTUES for value in sorted(added[virtue].elements())]


def _bid_of(bidder: int, last: int, bid: Sequence[str], paid: Sequence[str]) -> list[str]:
    """Bid of a jouster, when all bids are open. The last move is the bid of player `last`; all other cards that go back
    to the piles then (`paid`) are the bid of the other jouster."""
    return list(bid) if bidder == last else in_order(list((Counter(paid) - Counter(bid)).elements()))
