"""Checks for every game, and tests of this game's rules."""

from auction.definition import AUCTION

from artus_env import Game
from artus_env.testing import check_game


def test_it_passes_the_checks_for_every_game():
    check_game(AUCTION)


def test_the_highest_bid_takes_the_prize():
    game = Game(game=AUCTION, num_players=2, seed=1, start_player=0)
    prize = game.to_dict()["prize"]
    bids = [max(game.to_dict()["hands"][player]) for player in range(2)]
    for bid in bids:
        game.play(f"bid:{bid}")
    winner = bids.index(max(bids))
    assert game.scores == [prize if player == winner else 0 for player in range(2)]
    assert game.to_dict()["played"] == sorted(bids)


def test_a_bid_is_seen_when_all_have_bid():
    game = Game(game=AUCTION, num_players=2, seed=1, start_player=0)
    game.play(game.moves()[0])
    assert game.to_dict(0)["bids"][0] is not None
    assert game.to_dict(1)["bids"][0] is None


def test_the_game_ends_with_empty_hands_or_at_the_goal():
    for seed in range(20):
        game = Game(game=AUCTION, num_players=3, seed=seed)
        while not game.over:
            game.play(game.moves()[0])
        assert max(game.scores) >= AUCTION.standard.goal or not any(game.to_dict()["hands"])
