"""Hidden cards show in nothing that a player gets, and `redeal` draws them uniformly."""

import json
from collections import Counter
from itertools import combinations, permutations, product
from math import sqrt

import numpy as np
import pytest

from artus_env import Batch, Game
from artus_env.games.artus.components import PILES, STANDARD
from engine_play import VARIANTS, decisions, random_game, random_moves

BACK = {card.name: card.pile for card in STANDARD.cards}
DECK = Counter(card.name for card in STANDARD.deck)
variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)


def positions(rules, num_players, seed, every):
    """Copies of a random game from the first position to the last."""
    game = Game(rules=rules, num_players=num_players, seed=seed)
    for number, _ in enumerate(random_moves(game, seed)):
        if number % every == 0:
            yield game.clone()
    yield game


def players(game):
    return range(game.num_players)


# --- redeal ------------------------------------------------------------------------------------------------------


@variants
def test_redealt_games_play_on_to_their_end(rules, num_players):
    game = random_game(rules, num_players, seed=4, moves=decisions(rules, num_players) // 2)
    dealt = game.redeal(game.player, 7)
    moves = sum(1 for _ in random_moves(dealt, 7))
    assert moves == decisions(rules, num_players) - decisions(rules, num_players) // 2
    assert dealt.over


def test_redeal_of_other_seeds_is_another_deal():
    game = Game("advanced", 4, seed=5)
    assert len({json.dumps(game.redeal(0, seed).to_dict()) for seed in range(100)}) == 100


@pytest.mark.parametrize("player", [2, -1, None, 0.0])
def test_redeal_for_nobody(player):
    with pytest.raises(ValueError, match=r"player must be (in 0|a whole number)"):
        Game(seed=1).redeal(player, 0)


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (1 << 64, ValueError), (0.5, TypeError), (None, TypeError)]
)
def test_redeal_with_a_bad_seed(seed, error):
    with pytest.raises(error, match="seed must be a whole number"):
        Game(seed=1).redeal(0, seed)


def hidden_cards(position, player):
    """Cards that `player` doesn't know, in groups: (owner, back, cards in hand, cards in the pile)."""
    for owner, (hand, piles) in enumerate(zip(position["hands"], position["piles"], strict=True)):
        for back in PILES:
            in_hand = [card for card in hand if BACK[card] == back] if owner != player else []
            if in_hand or piles[back]:
                yield owner, back, in_hand, piles[back]


def deal_of(position, player):
    """Places of the hidden cards in a position, as a tuple for each group; cards in hand are sorted, because hands have
    no order."""
    return tuple((*sorted(in_hand), "|", *pile) for _, _, in_hand, pile in hidden_cards(position, player))


def consistent_deals(position, player):
    """Every deal (as of `deal_of`) that fits what a player knows, with its weight: the number of orders of single cards
    that give it, which is larger where copies of a card can be exchanged."""
    orders = []
    for _, _, in_hand, pile in hidden_cards(position, player):
        num_in_hand = len(in_hand)
        orders.append(
            [(*sorted(order[:num_in_hand]), "|", *order[num_in_hand:]) for order in permutations(in_hand + pile)]
        )
    return Counter(product(*orders))


@pytest.mark.parametrize(
    ("rules", "num_players", "seed", "moves_left"),
    [("beginner", 2, 12, 19), ("beginner", 2, 25, 21), ("beginner", 3, 0, 23), ("advanced", 2, 6, 25)],
)
def test_redeal_is_uniform(rules, num_players, seed, moves_left):
    """Late positions with few hidden cards, among them both `ring-any`: the frequencies of all possible deals pass a
    chi-square test."""
    game = random_game(rules, num_players, seed, decisions(rules, num_players) - moves_left)
    player = game.player
    deals = consistent_deals(game.to_dict(), player)
    total = sum(deals.values())
    assert any(group.count("ring-any") == 2 for deal in deals for group in deal)
    assert any(in_hand and pile for _, _, in_hand, pile in hidden_cards(game.to_dict(), player))
    assert 50 < len(deals) < 200

    draws = 40 * len(deals)
    found = Counter(deal_of(game.redeal(player, number).to_dict(), player) for number in range(draws))
    assert set(found) <= set(deals)
    chi_square = sum(
        (found[deal] - draws * weight / total) ** 2 / (draws * weight / total) for deal, weight in deals.items()
    )
    degrees = len(deals) - 1  # of freedom: mean of the distribution, and half of its variance
    assert degrees - 4 * sqrt(2 * degrees) < chi_square < degrees + 4 * sqrt(2 * degrees)


# --- looking -----------------------------------------------------------------------------------------------------


def exchanges(position, player, rng, count):
    """The position with two hidden cards of one owner and back exchanged, in several ways."""
    pairs = []
    for owner, back, in_hand, pile in hidden_cards(position, player):
        places = [("hands", card, None) for card in in_hand] + [
            ("piles", card, place) for place, card in enumerate(pile)
        ]
        pairs += [
            (owner, back, one, other)
            for one, other in combinations(places, 2)
            if one[1] != other[1] and "piles" in (one[0], other[0])  # a hand has no order
        ]
    for index in rng.permutation(len(pairs))[:count]:
        owner, back, one, other = pairs[index]
        changed = json.loads(json.dumps(position))
        for (where, card, place), new in ((one, other[1]), (other, one[1])):
            if where == "piles":
                changed["piles"][owner][back][place] = new
            else:
                changed["hands"][owner].remove(card)
                changed["hands"][owner].append(new)
        yield changed


@variants
def test_exchanging_hidden_cards_changes_nothing_to_see(rules, num_players):
    rng = np.random.default_rng(6)
    tried = 0
    for game in positions(rules, num_players, seed=6, every=decisions(rules, num_players) // 4):
        position = game.to_dict()
        for player in players(game):
            for changed in exchanges(position, player, rng, count=8):
                other = Game.from_dict(changed)
                assert other != game
                assert (other.observation(player) == game.observation(player)).all()
                assert other.to_dict(player) == game.to_dict(player)
                assert other.render(player) == game.render(player)
                if player == game.player:
                    assert (other.mask() == game.mask()).all()
                tried += 1
    assert tried > 50


@variants
def test_what_a_player_gets_names_no_hidden_card(rules, num_players):
    for game in positions(rules, num_players, seed=7, every=5):
        truth = game.to_dict()
        for player in players(game):
            known = game.to_dict(player)
            for other in players(game):
                backs = {back: sum(BACK[card] == back for card in truth["hands"][other]) for back in PILES}
                assert known["hands"][other] == (truth["hands"][player] if other == player else backs)
                assert known["piles"][other] == {back: len(truth["piles"][other][back]) for back in PILES}
            assert set(known) == set(truth)
            named = {word for word in DECK if f'"{word}"' in json.dumps(known)}
            assert named == set(truth["hands"][player]).union(*truth["played"])


def test_what_a_player_knows_is_no_position():
    with pytest.raises(ValueError, match=r"hands\[1\] must be a list"):
        Game.from_dict(Game(seed=1).to_dict(player=0))


# --- positions that look the same on the table -------------------------------------------------------------------


def with_twins_exchanged(game, colour):
    """The same position, with the numbers of the two royals of a colour exchanged in the state record."""
    twin = game.clone()
    one, other = (0, 1) if colour == "silver" else (2, 3)
    for field in ("royals", "rings"):
        twin.state[field][[one, other]] = game.state[field][[other, one]]
    king = int(game.state["king"])
    twin.state["king"] = {one: other, other: one}.get(king, king)
    return twin


@variants
def test_which_royal_of_a_colour_is_which_shows_nowhere(rules, num_players):
    exchanged_kings = 0
    for seed, game in enumerate(positions(rules, num_players, seed=8, every=3)):
        for colour in ("silver", "bronze"):
            twin = with_twins_exchanged(game, colour)
            assert twin.state.tobytes() != game.state.tobytes()
            assert twin == game
            exchanged_kings += twin.state["king"] != game.state["king"]
            assert twin.to_dict() == game.to_dict()
            assert twin.moves() == game.moves()
            assert (twin.mask() == game.mask()).all()
            for player in players(game):
                assert (twin.observation(player) == game.observation(player)).all()
            if not game.over:
                action = game.legal_actions()[seed % len(game.legal_actions())]
                after = game.clone()
                assert twin.play(action) == after.play(action)
                assert twin.to_dict() == after.to_dict()
                assert (twin.observation() == after.observation()).all()
    assert exchanged_kings > 5


def test_twins_look_the_same_in_a_batch():
    batch = Batch(20, rules="advanced", num_players=3, seed=9)
    for _ in range(70):
        batch.step(batch.sample())
    before = {name: getattr(batch, name).copy() for name in ("player", "observation", "mask", "legal_bits")}
    points = batch.points()
    for field in ("royals", "rings"):
        batch.states[field][:] = batch.states[field][:, [1, 0, 3, 2]]
    batch.states["king"] ^= 1
    batch.refresh()
    for name, array in before.items():
        assert (getattr(batch, name) == array).all(), name
    assert (batch.points() == points).all()


def test_a_position_read_back_looks_the_same():
    """`from_dict` numbers the two royals of a colour by their seats, whichever numbers they had before."""
    for game in positions("advanced", 2, seed=10, every=3):
        again = Game.from_dict(game.to_dict())
        assert again == game
        assert again.moves() == game.moves()
        assert all((again.observation(player) == game.observation(player)).all() for player in players(game))
