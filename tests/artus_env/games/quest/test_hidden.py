"""Hidden information: secret bids, the others' starting cards, the pile of quests, results of future lots."""

import json
from collections import Counter
from functools import partial
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest

from artus_env import Batch, Game
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import View
from artus_env.engine.play import kernels
from quest.positions import CARDS, flat, game_at, joust, position

DRAWS = 20
"""Number of draws for each of the equally likely possibilities."""


# --- bids ------------------------------------------------------------------------------------------------------------

BIDS = ["nothing", "sword-1", "lance-2", "sword-1+sword-1+lance-2"]


def after_bid(bid, players=3):
    """A game in which player 0 has bid against player 1, who is to move."""
    cards = {
        "taken": {0: ["sword-1", "lance-2"], 1: ["sword-2"]},
        "start_cards": {0: ["sword-1", "dragon-1"], 1: ["book-1"]},
    }
    return joust((0, 1), players, moves=(f"bid:{bid}",), **cards)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_nothing_that_the_others_get_depends_on_a_bid(players):
    games = [after_bid(bid, players) for bid in BIDS]
    for viewer in range(1, players):
        seen = {
            (
                game.observation(viewer).tobytes(),
                str(game.to_dict(viewer)),
                game.render(viewer),
                game.svg(viewer),
                game.redeal(viewer, 5).record(),
                game.player,
                tuple(game.scores),
            )
            for game in games
        }
        assert len(seen) == 1
    assert len({(tuple(game.moves()), game.mask().tobytes()) for game in games}) == 1, "of the second bidder"
    assert len({game.observation(0).tobytes() for game in games}) == len(BIDS), "the bidder sees it"
    assert len({game.render(0) for game in games}) == len(BIDS)


def view_after(bids, players):
    """What an agent gets as the second bidder after each of these bids, always with the same random numbers."""
    batch = Batch(len(bids), game="quest", num_players=players)
    batch.states[:] = np.concatenate([after_bid(bid, players).states for bid in bids])
    batch.refresh()
    return View(batch, None, np.full(len(bids), 7, np.uint64))


@pytest.mark.parametrize("agent", ["greedy", "lookahead", "ismcts:200", "ppo", "ppo-search:16"])
def test_no_agent_decides_by_a_bid(agent):
    for players in (2, 3, 4):
        assert len(set(find_agent(agent).act(view_after(BIDS, players)).tolist())) == 1


def test_no_line_to_a_program_tells_a_bid(monkeypatch):
    lines = []
    program = find_agent("program:true")

    def choose(request):
        lines.append(json.dumps({**request, "game": 0}))
        return request["moves"][0]

    monkeypatch.setattr(program, "_choose", choose)
    program.act(view_after(BIDS, 3))
    assert len(lines) == len(BIDS)
    assert len(set(lines)) == 1
    assert json.loads(lines[0])["position"]["bids"][0] is None


def test_all_bids_of_one_of_two_look_the_same():
    before = joust(taken={0: ["sword-1", "sword-1", "lance-2"]})
    actions = before.legal_actions()
    assert {before.public_action(action, 0) for action in actions} == set(actions)
    for viewer in (1, 2):
        assert len({before.public_action(action, viewer) for action in actions}) == 1
        assert not any(before.is_seen(action, viewer) for action in actions)


def test_the_bid_of_a_lone_jouster_is_open():
    before = joust((1,), taken={1: ["sword-1", "lance-2"]})
    assert all(before.is_seen(action, viewer) for action in before.legal_actions() for viewer in range(3))


def test_bids_are_known_when_the_second_one_is_made_and_ever_after():
    before = joust(taken={0: ["sword-1"], 1: ["lance-1"]})
    bid = before.action("bid:sword-1")
    now = before.clone()
    now.play(bid)
    assert not before.is_seen(bid, 1, now)
    now.play("bid:lance-1")
    while not now.over and now.to_dict()["round"] < 3:
        assert before.is_seen(bid, 1, now)
        now.play(now.moves()[-1])


def test_the_end_of_the_game_opens_bids_too():
    before = joust(taken={0: ["sword-1"]}, round=30)
    bid = before.action("bid:sword-1")
    now = before.clone()
    now.play(bid)
    assert not before.is_seen(bid, 2, now)
    now.play("bid:nothing")
    assert now.over
    assert before.is_seen(bid, 2, now)


# --- redeals ---------------------------------------------------------------------------------------------------------


def copies(cards):
    """Single cards as (card, number), so that equal cards can be distinguished."""
    return [(card, number) for number, card in enumerate(cards)]


def splits(cards, sizes):
    """All ways to deal single cards to players; `sizes` are their numbers of cards."""
    if not sizes:
        yield ()
        return
    for hand in combinations(cards, sizes[0]):
        for others in splits([card for card in cards if card not in hand], sizes[1:]):
            yield (hand, *others)


def sets_of_bids(cards):
    """All different sets of swords and lances among some cards, in the order of the box."""
    counts = Counter(card for card in cards if card.startswith(("sword", "lance")))
    kinds = sorted(counts, key=CARDS.index)
    for numbers in product(*(range(counts[kind] + 1) for kind in kinds)):
        yield tuple(kind for kind, number in zip(kinds, numbers, strict=True) for _ in range(number))


def possible_deals(game, viewer, bidder=None):
    """The other players, and the probability of each possible pair of their starting cards and the hidden bid, from
    what the viewer knows.

    Hands are drawn uniformly over single cards, without those that break an exclusion; then bids over different sets.
    """
    whole, known = game.to_dict(), game.to_dict(viewer)
    others = [player for player in range(known["num_players"]) if player != viewer]
    unseen = copies(card for player in others for card in whole["start_cards"][player])
    fitting = [
        hands
        for hands in splits(unseen, [known["start_cards"][player] for player in others])
        if not any(
            card in known["excluded"][player] for player, hand in zip(others, hands, strict=True) for card, _ in hand
        )
    ]
    chances = Counter()
    for hands in fitting:
        named = [sorted((card for card, _ in hand), key=CARDS.index) for hand in hands]
        bids = [()]
        if bidder is not None:
            bids = list(sets_of_bids(named[others.index(bidder)] + known["taken"][bidder]))
        for bid in bids:
            chances[tuple(map(tuple, named)), bid] += 1 / len(fitting) / len(bids)
    return others, chances


def redealt_positions(game, viewer, draws):
    states = np.repeat(game.states, draws)
    kernels.redeal(game.tables, states, np.arange(draws).astype(np.uint64), np.full(draws, viewer, np.int8), 0, draws)
    return [game.definition.to_dict(state, game.components) for state in states]


FOUR = {
    "start_cards": {
        0: ["sword-1", "sword-1"],
        1: ["lance-1", "dragon-1"],
        2: ["sword-1", "book-2"],
        3: ["book-1", "book-2"],
    }
}
REDEALS = {
    "two players": (
        partial(joust, players=2, taken={0: ["sword-1", "sword-1"]}, start_cards={0: ["lance-1", "book-1"]}),
        1, 0, ("bid:lance-1",),
    ),
    "three players": (
        partial(game_at, start_cards={0: ["sword-1", "sword-2"], 1: ["sword-1", "lance-1"], 2: ["sword-1", "book-1"]}),
        0, None, (),
    ),
    "cards that are known": (
        partial(
            game_at, start_cards={0: ["sword-1"], 1: ["sword-1", "lance-1"], 2: ["book-1"]}, taken={1: ["lance-1"]}
        ),
        0, None, (),
    ),
    "exclusions": (
        partial(
            game_at, start_cards={0: ["sword-2"], 1: ["sword-1", "lance-1"], 2: ["dragon-1", "book-1"]},
            excluded={1: ["dragon-1"], 2: ["sword-1"]},
        ), 0, None, (),
    ),
    "a bid": (
        partial(joust, taken={0: ["sword-2"]}, start_cards={0: ["sword-1", "sword-1"], 1: ["lance-1"], 2: ["book-1"]}),
        1, 0, ("bid:sword-1+sword-2",),
    ),
    "a bid and exclusions, seen by somebody else": (
        partial(
            joust, taken={0: ["sword-2"]}, start_cards={0: ["sword-1", "book-2"], 1: ["lance-1"], 2: ["book-1"]},
            excluded={0: ["lance-1"], 1: ["book-1"]},
        ), 2, 0, ("bid:nothing",),
    ),
    "four players": (
        partial(game_at, 4, **FOUR, excluded={3: ["sword-1", "sword-2", "lance-1", "lance-2"]}), 0, None, (),
    ),
    "four players, a bid": (
        partial(joust, (1, 2), 4, **FOUR, excluded={3: ["dragon-1"]}), 3, 1, ("bid:lance-1",),
    ),
}  # fmt: skip
"""A game, a viewer, the player whose bid is hidden from them (or None), and moves that are played first."""


@pytest.mark.parametrize("name", REDEALS)
def test_redeals_are_what_an_enumeration_says(name):
    start, viewer, bidder, moves = REDEALS[name]
    game = start()
    for move in moves:
        game.play(move)
    others, chances = possible_deals(game, viewer, bidder)
    assert len(chances) > 1
    draws = int(DRAWS / min(chances.values()))
    found = Counter()
    for dealt in redealt_positions(game, viewer, draws):
        hands = tuple(tuple(dealt["start_cards"][player]) for player in others)
        found[hands, tuple(dealt["bids"][bidder]) if bidder is not None else ()] += 1
        assert dealt["start_cards"][viewer] == game.to_dict()["start_cards"][viewer]
    assert set(found) <= set(chances)
    chi_square = sum((found[cell] - draws * chance) ** 2 / (draws * chance) for cell, chance in chances.items())
    degrees_of_freedom = len(chances) - 1
    assert (
        degrees_of_freedom - 4 * sqrt(2 * degrees_of_freedom)
        < chi_square
        < degrees_of_freedom + 4 * sqrt(2 * degrees_of_freedom)
    ), found


def test_excluded_cards_are_never_dealt():
    game = game_at(
        4, start_cards=FOUR["start_cards"], excluded={1: ["book-1"], 2: ["dragon-1"], 3: ["sword-1"]}
    )  # fmt: skip
    for dealt in redealt_positions(game, 0, 400):
        for player in (1, 2, 3):
            assert not set(dealt["start_cards"][player]) & set(dealt["excluded"][player])
        assert sorted(flat(dealt["start_cards"][1:])) == sorted(flat(game.to_dict()["start_cards"][1:]))


def test_with_two_players_the_other_ones_cards_follow_from_the_piles():
    game = game_at(2, start_cards={0: ["sword-1", "book-2"], 1: ["lance-1", "lance-1"]})
    assert all(dealt["start_cards"] == game.to_dict()["start_cards"] for dealt in redealt_positions(game, 0, 50))


def test_the_pile_of_quests_is_shuffled():
    game = game_at(open_quests=["forest-1"], quest_pile=["ruin-1", "lake-1", "moor-2"])
    orders = Counter(tuple(dealt["quest_pile"]) for dealt in redealt_positions(game, 1, 600))
    assert len(orders) == 6
    assert min(orders.values()) > 60
    other = game_at(open_quests=["forest-1"], quest_pile=["moor-2", "ruin-1", "lake-1"])
    assert other.redeal(1, 3) == game.redeal(1, 3)


def test_a_viewers_own_bid_and_cards_stay():
    game = after_bid("lance-2")
    for dealt in redealt_positions(game, 0, 50):
        assert dealt["bids"] == game.to_dict()["bids"]
        assert dealt["start_cards"][0] == game.to_dict()["start_cards"][0]


# --- chance ----------------------------------------------------------------------------------------------------------


def test_chance_is_not_seen_before_a_lot_is_drawn():
    """Games that differ only in `chance` look the same to all players until a lot settles the order of equal points."""
    games = [game_at(turn=2, points=[1, 5, 1], chance=chance) for chance in range(8)]
    for viewer in range(3):
        assert len({game.observation(viewer).tobytes() for game in games}) == 1
        assert len({str(game.to_dict(viewer)) for game in games}) == 1
        assert len({game.redeal(viewer, 1).record() for game in games}) == 1
    for game in games:
        game.play("done")
    assert len({tuple(game.to_dict()["tents"]) for game in games}) == 2
    assert {game.to_dict(0)["lots"] for game in games} == {1}


def test_chance_is_drawn_anew_and_keeps_to_what_readers_of_json_can_hold():
    game = Game(num_players=3, seed=1, game="quest")
    chances = [dealt["chance"] for dealt in redealt_positions(game, 0, 500)]
    assert len(set(chances)) == 500
    assert 1 << 52 < max(chances) < 1 << 53


def test_where_no_points_are_equal_chance_plays_no_part():
    ends = {
        str(game_at(turn=2, points=[1, 5, 3], chance=chance, moves=("done",)).to_dict()["tents"])
        for chance in range(20)
    }
    assert ends == {"[0, 2, 1]"}


# --- exclusions ------------------------------------------------------------------------------------------------------


def test_what_is_excluded_shows_to_all():
    """Observations and texts show all viewers the kinds that a player's starting cards can't be."""
    parts = {"start_cards": {1: ["dragon-1"], 2: ["book-1"]}}
    without_exclusion, with_exclusion = game_at(**parts), game_at(**parts, excluded={2: ["dragon-1"]})
    assert (without_exclusion.observation(0) != with_exclusion.observation(0)).any()
    assert (without_exclusion.observation(1) == with_exclusion.observation(1)).all(), "player 1 holds the card"
    assert "none of them dragon-1" in with_exclusion.render(0)
    assert position(**parts, excluded={2: ["dragon-1"]}) == with_exclusion.to_dict()
