"""How positions and actions of the royal card game are judged: positions written out, and what must hold everywhere."""

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from artus_agents.lookahead import LookaheadAgent
from artus_agents.simple import GreedyAgent
from artus_env import Batch, Game
from artus_env.engine.agents.view import View
from artus_env.engine.contract import verbs
from artus_env.games.royal.definition import ROYAL
from artus_env.games.royal.evaluation import (
    BRINGS,
    CHIP,
    COSTS,
    EMPTIES,
    GIVES,
    HOLDS,
    LOSES,
    NUM_ACTION_FEATURES,
    SWORDS,
    TAKES,
    WINNING,
    WINS,
    WORTH,
    cards_left,
    hold_chance,
    trick_winner,
)
from royal.positions import at, table
from royal.reference import DECK, SUITS

KEY = np.uint64(7)
counts_of_players = pytest.mark.parametrize("num_players", range(2, 7))


def parts(game):
    return game.tables[0], game.state


def after(position, *cards):
    """The game at a position after these cards."""
    game = at(position)
    for card in cards:
        game.play(card)
    return game


def random_games(num_players, seeds=3):
    """Games at each of their positions."""
    choices = random.Random(num_players)
    for seed in range(seeds):
        game = Game(game="royal", num_players=num_players, seed=seed)
        while not game.over:
            yield game
            game.play(choices.choice(game.legal_actions()))


def action_features(game):
    t, g = parts(game)
    out = np.full((90, NUM_ACTION_FEATURES), -99, np.int8)
    legal = np.zeros(verbs.mask_words(t), np.uint64)
    verbs.legal(t, g, legal)
    verbs.action_features(t, g, legal, np.zeros(2, game.states.dtype), out)
    assert set(np.flatnonzero((out != -99).any(axis=1))) == set(game.legal_actions())
    return {game.move(action): out[action].tolist() for action in game.legal_actions()}


def choice(agent, game):
    """What an agent plays."""
    batch = Batch(1, game="royal", num_players=game.num_players, threads=1)
    batch.states[:] = game.state
    batch.refresh()
    return game.move(int(agent.act(View(batch, None, np.array([11], np.uint64)))[0]))


# --- what a greedy player goes by ---


def test_greedy_takes_a_trick_as_cheaply_as_possible():
    hands = [["hearts-2", "clubs-3"], ["hearts-5", "clubs-1"], ["hearts-6", "hearts-9"]]
    assert choice(GreedyAgent(), after(table(hands), "hearts-2", "hearts-5")) == "hearts-6"


def test_greedy_throws_away_low_where_it_cannot_take_the_trick():
    hands = [["hearts-11", "clubs-3"], ["hearts-5", "clubs-1"], ["clubs-11", "spades-4"]]
    assert choice(GreedyAgent(), after(table(hands), "hearts-11", "hearts-5")) == "spades-4"
    follows = [["hearts-11", "clubs-3"], ["hearts-5", "clubs-1"], ["hearts-10", "hearts-4"]]
    assert choice(GreedyAgent(), after(table(follows), "hearts-11", "hearts-5")) == "hearts-4"


def test_greedy_leads_what_nobody_can_beat():
    hands = [["hearts-1", "clubs-11", "spades-2"], ["hearts-5", "clubs-1", "hearts-6"]]
    assert choice(GreedyAgent(), at(table(hands))) == "clubs-11"


def test_greedy_puts_down_the_chip_of_the_suit_it_has_most_of():
    hands = [["clubs-2", "clubs-3", "clubs-5", "hearts-11"], ["spades-1", "spades-2", "hearts-1", "hearts-2"]]
    position = table(hands, fields=[4, 1], phase="sword")
    assert choice(GreedyAgent(), at(position)) == "trump:clubs"
    assert choice(GreedyAgent(), at({**position, "trumps": ["clubs", *[None] * 5]})) != "trump:spades"


def test_greedy_swaps_a_suit_it_has_many_of_to_the_highest_place():
    hands = [["clubs-2", "clubs-3", "clubs-5", "clubs-11"], ["spades-1", "spades-2", "hearts-1", "hearts-2"]]
    trumps = ["hearts", "clubs", "diamonds", "flowers", "chalices", "spades"]
    assert choice(GreedyAgent(), at(table(hands, fields=[4, 1], phase="sword", trumps=trumps))) == "swap:2:6"


# --- the chance that a card holds the trick ---


def chances(game):
    t, g = parts(game)
    left = cards_left(t, g)
    return {game.move(action): hold_chance(t, g, left, action) for action in game.legal_actions()}


def test_the_last_card_of_a_trick_holds_it_or_not():
    game = after(table([["hearts-5", "clubs-1"], ["hearts-4", "hearts-8"]]), "hearts-5")
    assert chances(game) == {"hearts-4": 0.0, "hearts-8": 1.0}


def test_a_chance_is_that_of_a_hand_without_a_card_that_beats_it():
    """One card each: the other hand is one of 71 - 14 cards, of which 9 hearts and 6 super-trumps beat hearts-2."""
    game = at(table([["hearts-2"], ["clubs-1"]]))
    position = game.to_dict()
    unseen = [card for card in DECK if card not in position["discards"] and card != "hearts-2"]
    for kind in ("knight", "shield"):
        assert unseen.count(kind) == 3
    higher = [card for card in unseen if card.startswith("hearts") and int(card.split("-")[1]) > 2]
    expected = 1 - (len(higher) + 6) / len(unseen)
    assert chances(game)["hearts-2"] == pytest.approx(expected)


def test_who_has_not_followed_a_suit_is_taken_to_have_none_of_it():
    game = at(table([["hearts-2", "clubs-9"], ["spades-1", "spades-2"]]))
    _, g = parts(game)
    g["voids"][1] = 1 << SUITS.index("clubs")
    hidden = 72 - 2 - len(game.to_dict()["discards"])
    clubs = sum(card.startswith("clubs") for card in [*game.to_dict()["pile"], *game.to_dict()["hands"][1]])
    assert chances(game)["clubs-9"] == pytest.approx((1 - 6 / (hidden - clubs)) ** 2)


# --- how a trick ends and a position is judged ---


def taking_cheaply(game):
    """Who takes the trick if each player to come takes it as cheaply as possible wherever they can, tried out."""
    trumps = game.to_dict()["trumps"]

    def price(move):
        suit, _, value = move.partition("-")
        return (
            (2, 0, 0)
            if not value
            else (1 if suit in trumps else 0, trumps.index(suit) if suit in trumps else 0, int(value))
        )

    while True:
        player, moves = game.player, sorted(game.moves(), key=price)
        for move in moves:
            trial = game.clone()
            trial.play(move)
            if int(trial.state["in_trick"]) == 0:
                takes = trial.scores[player] > game.scores[player]
            else:
                takes = int(trial.state["winning"]) == player
            if takes:
                break
        else:
            trial = game.clone()
            trial.play(moves[0])
        if int(trial.state["in_trick"]) == 0:
            return next(p for p, (old, new) in enumerate(zip(game.scores, trial.scores, strict=True)) if new > old)
        game = trial


@counts_of_players
def test_a_trick_is_played_out_as_if_all_took_it_where_they_can(num_players):
    found = set()
    for game in random_games(num_players, seeds=2):
        if game.state["in_trick"] > 0:
            t, g = parts(game)
            winner, with_kind = trick_winner(t, g)
            assert winner == taking_cheaply(game)
            assert (with_kind < 0) == (winner == int(g["winning"]))
            assert with_kind < 0 or game.to_dict()["hands"][winner].count([*dict.fromkeys(DECK)][with_kind])
            found.add(with_kind < 0)
    assert found == {True, False}


@counts_of_players
def test_what_is_good_for_one_is_bad_for_the_others(num_players):
    for game in random_games(num_players, seeds=1):
        t, g = parts(game)
        judged = [verbs.evaluate(t, g, player, 1.5) for player in range(num_players)]
        assert sum(judged) == pytest.approx(0, abs=1e-9)
    while not game.over:
        game.play(game.moves()[0])
    for player in range(num_players):
        own, rest = game.scores[player], sum(game.scores) - game.scores[player]
        assert verbs.evaluate(*parts(game), player, 0.0) == pytest.approx(own - rest / (num_players - 1))


HANDS = [["hearts-2", "clubs-3"], ["hearts-5", "clubs-1"], ["hearts-6", "hearts-9"]]


def judged(player=0, **options):
    return verbs.evaluate(*parts(at(table(options.pop("hands", HANDS), **options))), player, 1.0)


def test_a_lead_counts_more_the_nearer_the_end_is():
    leads = [judged(hands=[["hearts-2"], ["hearts-3"]], fields=[field, field - 2]) for field in (5, 15, 22, 26)]
    assert all(late > early > 0 for early, late in pairwise(leads))


def test_good_cards_are_worth_something():
    better = [["hearts-11", "clubs-3"], ["spades-5", "clubs-1"], ["spades-6", "spades-9"]]
    usual = [["hearts-4", "clubs-3"], *better[1:]]
    super_trump = [["knight", "clubs-3"], *better[1:]]
    assert judged(hands=usual) < judged(hands=better) < judged(hands=super_trump)
    assert judged(hands=better) < judged(hands=better, trumps=["hearts"])


def test_the_trick_that_wins_the_game_is_worth_all():
    position = table(HANDS, fields=[20, 19, 26])
    won = after(position, "hearts-2", "hearts-5")  # player 2 will take it
    assert verbs.evaluate(*parts(won), 2, 1.0) == pytest.approx(WINNING + 0.1 * (27 - 19.5))
    assert verbs.evaluate(*parts(won), 0, 1.0) < -WINNING / 2


def test_the_less_is_left_the_less_is_in_doubt():
    doubts = [verbs.score_stddev(*parts(at(table(HANDS, fields=[field, 0, 0])))) for field in (0, 9, 20, 26)]
    assert all(late < early for early, late in pairwise(doubts))


# --- what needs no thought ---


@counts_of_players
def test_routine_is_the_only_move_or_throws_away_low(num_players):
    kinds = set()
    for game in random_games(num_players, seeds=2):
        action = verbs.default_action(*parts(game), KEY)
        legal = game.legal_actions()
        if action < 0:
            assert len(legal) > 1
            continue
        assert action == min(legal)
        kinds.add(len(legal) == 1)
        if len(legal) > 1:
            assert game.to_dict()["trick"]
            suits = {move.split("-")[0] for move in game.moves()}
            assert len(suits) == 1
            for move in legal:
                trial = game.clone()
                trial.play(move)
                assert trial.state["in_trick"] == 0 or trial.state["winning"] == game.state["winning"]
                assert trial.scores[game.player] == game.scores[game.player]
    assert kinds == {True, False}


# --- what a policy is told ---


@counts_of_players
def test_nothing_hidden_is_told(num_players):
    for number, game in enumerate(random_games(num_players, seeds=1)):
        t = game.tables[0]
        other = game.redeal(game.player, number)
        concealed = game.clone()
        verbs.hide(t, concealed.state, game.player)
        for one in (other, concealed):
            assert action_features(one) == action_features(game)
            for action in game.legal_actions():
                assert verbs.greedy_value(*parts(one), action) == verbs.greedy_value(*parts(game), action)


def test_an_action_features_says_what_a_card_brings_and_costs():
    game = after(table(HANDS, fields=[5, 6, 4], trumps=["clubs"]), "hearts-2", "hearts-5")
    told = action_features(game)
    cost = {higher: round(100 * WORTH[1, 1, higher]) for higher in range(12)}
    for move in ("hearts-6", "hearts-9"):
        assert told[move][TAKES] == told[move][HOLDS] == 100
        assert told[move][BRINGS] == 30  # over two pawns, to field 7
        assert told[move][COSTS] in cost.values()
        assert told[move][CHIP] == 0
    assert told["hearts-9"][COSTS] >= told["hearts-6"][COSTS]
    choosing = action_features(at(table(HANDS, fields=[4, 1, 0], phase="sword")))
    assert choosing["decline"] == [0] * NUM_ACTION_FEATURES
    assert choosing["trump:clubs"][CHIP] > 0 > choosing["trump:diamonds"][CHIP]
    assert not any(number for told in choosing.values() for k, number in enumerate(told) if k != CHIP)


@pytest.mark.parametrize(
    ("fields", "led", "numbers"),
    [
        ([5, 6], "hearts-2", {TAKES: 100, BRINGS: 10, WINS: 0, SWORDS: 0, GIVES: 0, LOSES: 0}),
        ([26, 3], "hearts-2", {TAKES: 100, BRINGS: 10, WINS: 0, SWORDS: 100, GIVES: 0, LOSES: 0}),
        ([5, 26], "hearts-2", {TAKES: 100, BRINGS: 10, WINS: 100, SWORDS: 0, GIVES: 0, LOSES: 0}),
        ([25, 26], "hearts-9", {TAKES: 0, BRINGS: 0, WINS: 0, SWORDS: 0, GIVES: 20, LOSES: 100}),
        ([7, 3], "hearts-9", {TAKES: 0, BRINGS: 0, WINS: 0, SWORDS: 0, GIVES: 10, LOSES: 0}),
    ],
)
def test_an_action_features_says_what_a_trick_decides(fields, led, numbers):
    """Who plays last knows it: a card that takes the trick wins the game or leads to a sword, any other gives it up."""
    told = action_features(after(table([["hearts-2", "hearts-9"], ["hearts-5", "clubs-1"]], fields=fields), led))
    assert list(told) == ["hearts-5"]
    assert {k: told["hearts-5"][k] for k in numbers} == numbers


def test_an_action_features_counts_everybody_who_may_take_the_trick_alike():
    """Player 1 holds the trick and goes to the last field, player 3 is to come and goes on by one."""
    hands = [["hearts-2", "clubs-3"], ["hearts-9", "clubs-1"], ["hearts-5", "hearts-6"], ["hearts-7", "clubs-2"]]
    told = action_features(after(table(hands, fields=[24, 25, 26, 3]), "hearts-2", "hearts-9"))
    assert {(row[TAKES], row[GIVES], row[LOSES]) for row in told.values()} == {(0, 15, 50)}
    taking = action_features(after(table(hands, fields=[24, 22, 23, 3]), "hearts-2"))["hearts-9"]
    assert 0 < taking[HOLDS] < 100
    gain = (2 + 1) / 2  # of player 2, over the pawn on 24, and of player 3; player 0 is not to come any more
    assert taking[GIVES] == pytest.approx(10 * (1 - taking[HOLDS] / 100) * gain, abs=0.6)


@counts_of_players
def test_an_action_features_says_where_a_card_is_the_last_of_its_suit(num_players):
    for game in random_games(num_players, seeds=1):
        suits = Counter(card.partition("-")[0] for card in game.to_dict()["hands"][game.player])
        for move, row in action_features(game).items():
            assert row[EMPTIES] == (100 if "-" in move and suits[move.partition("-")[0]] == 1 else 0)


def test_a_card_is_worth_more_the_fewer_are_higher():
    assert (np.diff(WORTH, axis=2) <= 0).all()
    assert (WORTH >= 0).all()


# --- looking ahead ---


def test_lookahead_stops_who_would_win():
    hands = [["hearts-9", "clubs-3"], ["hearts-5", "clubs-1"], ["clubs-6", "knight"]]
    stopping = after(table(hands, fields=[26, 3, 5]), "hearts-9", "hearts-5")
    assert choice(LookaheadAgent(), stopping) == "knight"


def test_lookahead_judges_in_many_deals():
    assert ROYAL.evaluation_deals > 1
    game = next(game for game in random_games(3) if game.state["in_trick"] == 1 and len(game.moves()) > 2)
    same = game.redeal(game.player, 5)
    assert choice(LookaheadAgent(), game) == choice(LookaheadAgent(), same)
