"""Evaluation of positions and actions of the royal card game: in chosen positions, and in whole random games."""

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
    hold_chance,
    remaining_cards,
    trick_winner,
)
from royal.positions import at, table
from royal.reference import DECK, SUITS

KEY = np.uint64(7)
counts_of_players = pytest.mark.parametrize("num_players", range(2, 7))


def t_and_g(game):
    """The arguments `t` and `g` of verbs."""
    return game.tables[0], game.state


def after(position, *cards):
    """A game at a position in which these cards have then been played."""
    game = at(position)
    for card in cards:
        game.play(card)
    return game


def random_games(num_players, seeds=3):
    """Yield random games at each of their positions."""
    choices = random.Random(num_players)
    for seed in range(seeds):
        game = Game(game="royal", num_players=num_players, seed=seed)
        while not game.over:
            yield game
            game.play(choices.choice(game.legal_actions()))


def action_features(game):
    """The action features of each legal move, by the text of the move."""
    t, g = t_and_g(game)
    out = np.full((90, NUM_ACTION_FEATURES), -99, np.int8)
    legal = np.zeros(verbs.mask_words(t), np.uint64)
    verbs.legal(t, g, legal)
    verbs.action_features(t, g, legal, np.zeros(2, game.states.dtype), out)
    assert set(np.flatnonzero((out != -99).any(axis=1))) == set(game.legal_actions())
    return {game.move(action): out[action].tolist() for action in game.legal_actions()}


def choice(agent, game):
    """The move that an agent plays."""
    batch = Batch(1, game="royal", num_players=game.num_players, threads=1)
    batch.states[:] = game.state
    batch.refresh()
    return game.move(int(agent.act(View(batch, None, np.array([11], np.uint64)))[0]))


# --- greedy players ---


def test_greedy_takes_a_trick_as_cheaply_as_possible():
    hands = [["hearts-2", "clubs-3"], ["hearts-5", "clubs-1"], ["hearts-6", "hearts-9"]]
    assert choice(GreedyAgent(), after(table(hands), "hearts-2", "hearts-5")) == "hearts-6"


def test_greedy_throws_away_low_where_it_cannot_take_the_trick():
    hands = [["hearts-11", "clubs-3"], ["hearts-5", "clubs-1"], ["clubs-11", "spades-4"]]
    assert choice(GreedyAgent(), after(table(hands), "hearts-11", "hearts-5")) == "spades-4"
    following_hands = [["hearts-11", "clubs-3"], ["hearts-5", "clubs-1"], ["hearts-10", "hearts-4"]]
    assert choice(GreedyAgent(), after(table(following_hands), "hearts-11", "hearts-5")) == "hearts-4"


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
    """The chance of each legal move to hold the trick."""
    t, g = t_and_g(game)
    remaining = remaining_cards(t, g)
    return {game.move(action): hold_chance(t, g, remaining, action) for action in game.legal_actions()}


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
    _, g = t_and_g(game)
    g["voids"][1] = 1 << SUITS.index("clubs")
    hidden = 72 - 2 - len(game.to_dict()["discards"])
    clubs = sum(card.startswith("clubs") for card in [*game.to_dict()["pile"], *game.to_dict()["hands"][1]])
    assert chances(game)["clubs-9"] == pytest.approx((1 - 6 / (hidden - clubs)) ** 2)


# --- the end of a trick, and evaluation of positions ---


def winner_by_trial(game):
    """The player who takes the trick if each later player takes it as cheaply as possible wherever they can. Found by
    trying all moves."""
    trumps = game.to_dict()["trumps"]

    def cost(move):
        suit, _, value = move.partition("-")
        return (
            (2, 0, 0)
            if not value
            else (1 if suit in trumps else 0, trumps.index(suit) if suit in trumps else 0, int(value))
        )

    while True:
        player, moves = game.player, sorted(game.moves(), key=cost)
        for move in moves:
            trial = game.clone()
            trial.play(move)
            if int(trial.state["in_trick"]) == 0:
                takes_trick = trial.scores[player] > game.scores[player]
            else:
                takes_trick = int(trial.state["winning"]) == player
            if takes_trick:
                break
        else:
            trial = game.clone()
            trial.play(moves[0])
        if int(trial.state["in_trick"]) == 0:
            return next(p for p, (old, new) in enumerate(zip(game.scores, trial.scores, strict=True)) if new > old)
        game = trial


@counts_of_players
def test_a_trick_is_played_out_as_if_all_took_it_where_they_can(num_players):
    was_played = set()
    for game in random_games(num_players, seeds=2):
        if game.state["in_trick"] > 0:
            t, g = t_and_g(game)
            winner, kind = trick_winner(t, g)
            assert winner == winner_by_trial(game)
            assert (kind < 0) == (winner == int(g["winning"]))
            assert kind < 0 or game.to_dict()["hands"][winner].count([*dict.fromkeys(DECK)][kind])
            was_played.add(kind < 0)
    assert was_played == {True, False}


@counts_of_players
def test_what_is_good_for_one_is_bad_for_the_others(num_players):
    for game in random_games(num_players, seeds=1):
        t, g = t_and_g(game)
        values = [verbs.evaluate(t, g, player, 1.5) for player in range(num_players)]
        assert sum(values) == pytest.approx(0, abs=1e-9)
    while not game.over:
        game.play(game.moves()[0])
    for player in range(num_players):
        own_score, other_scores = game.scores[player], sum(game.scores) - game.scores[player]
        assert verbs.evaluate(*t_and_g(game), player, 0.0) == pytest.approx(
            own_score - other_scores / (num_players - 1)
        )


HANDS = [["hearts-2", "clubs-3"], ["hearts-5", "clubs-1"], ["hearts-6", "hearts-9"]]


def value_of(player=0, **options):
    """Evaluation of a position of `table` for a player."""
    return verbs.evaluate(*t_and_g(at(table(options.pop("hands", HANDS), **options))), player, 1.0)


def test_a_lead_counts_more_the_nearer_the_end_is():
    values = [value_of(hands=[["hearts-2"], ["hearts-3"]], fields=[field, field - 2]) for field in (5, 15, 22, 26)]
    assert all(later > earlier > 0 for earlier, later in pairwise(values))


def test_good_cards_are_worth_something():
    better = [["hearts-11", "clubs-3"], ["spades-5", "clubs-1"], ["spades-6", "spades-9"]]
    usual = [["hearts-4", "clubs-3"], *better[1:]]
    super_trump = [["knight", "clubs-3"], *better[1:]]
    assert value_of(hands=usual) < value_of(hands=better) < value_of(hands=super_trump)
    assert value_of(hands=better) < value_of(hands=better, trumps=["hearts"])


def test_the_trick_that_wins_the_game_is_worth_all():
    position = table(HANDS, fields=[20, 19, 26])
    won = after(position, "hearts-2", "hearts-5")  # player 2 will take it
    assert verbs.evaluate(*t_and_g(won), 2, 1.0) == pytest.approx(WINNING + 0.1 * (27 - 19.5))
    assert verbs.evaluate(*t_and_g(won), 0, 1.0) < -WINNING / 2


def test_the_standard_deviation_falls_towards_the_end():
    deviations = [verbs.score_stddev(*t_and_g(at(table(HANDS, fields=[field, 0, 0])))) for field in (0, 9, 20, 26)]
    assert all(later < earlier for earlier, later in pairwise(deviations))


# --- default actions ---


@counts_of_players
def test_a_default_action_is_the_only_move_or_the_lowest_card(num_players):
    only_moves = set()
    for game in random_games(num_players, seeds=2):
        action = verbs.default_action(*t_and_g(game), KEY)
        legal = game.legal_actions()
        if action < 0:
            assert len(legal) > 1
            continue
        assert action == min(legal)
        only_moves.add(len(legal) == 1)
        if len(legal) > 1:
            assert game.to_dict()["trick"]
            suits = {move.split("-")[0] for move in game.moves()}
            assert len(suits) == 1
            for move in legal:
                trial = game.clone()
                trial.play(move)
                assert trial.state["in_trick"] == 0 or trial.state["winning"] == game.state["winning"]
                assert trial.scores[game.player] == game.scores[game.player]
    assert only_moves == {True, False}


# --- action features ---


@counts_of_players
def test_action_features_and_greedy_values_use_nothing_hidden(num_players):
    for seed, game in enumerate(random_games(num_players, seeds=1)):
        t = game.tables[0]
        redealt = game.redeal(game.player, seed)
        concealed = game.clone()
        verbs.hide(t, concealed.state, game.player)
        for altered in (redealt, concealed):
            assert action_features(altered) == action_features(game)
            for action in game.legal_actions():
                assert verbs.greedy_value(*t_and_g(altered), action) == verbs.greedy_value(*t_and_g(game), action)


def test_action_features_say_what_a_card_brings_and_costs():
    game = after(table(HANDS, fields=[5, 6, 4], trumps=["clubs"]), "hearts-2", "hearts-5")
    rows = action_features(game)
    costs = {higher: round(100 * WORTH[1, 1, higher]) for higher in range(12)}
    for move in ("hearts-6", "hearts-9"):
        assert rows[move][TAKES] == rows[move][HOLDS] == 100
        assert rows[move][BRINGS] == 30  # over two pawns, to field 7
        assert rows[move][COSTS] in costs.values()
        assert rows[move][CHIP] == 0
    assert rows["hearts-9"][COSTS] >= rows["hearts-6"][COSTS]
    chip_rows = action_features(at(table(HANDS, fields=[4, 1, 0], phase="sword")))
    assert chip_rows["decline"] == [0] * NUM_ACTION_FEATURES
    assert chip_rows["trump:clubs"][CHIP] > 0 > chip_rows["trump:diamonds"][CHIP]
    assert not any(value for row in chip_rows.values() for k, value in enumerate(row) if k != CHIP)


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
def test_action_features_say_what_a_trick_decides(fields, led, numbers):
    """The last player of a trick knows its winner, so all chances are 0 or 1."""
    rows = action_features(after(table([["hearts-2", "hearts-9"], ["hearts-5", "clubs-1"]], fields=fields), led))
    assert list(rows) == ["hearts-5"]
    assert {k: rows["hearts-5"][k] for k in numbers} == numbers


def test_action_features_count_all_possible_winners_of_a_trick_alike():
    """Player 1 holds the trick and would go to the last field; player 3 still has to play and would go one field."""
    hands = [["hearts-2", "clubs-3"], ["hearts-9", "clubs-1"], ["hearts-5", "hearts-6"], ["hearts-7", "clubs-2"]]
    rows = action_features(after(table(hands, fields=[24, 25, 26, 3]), "hearts-2", "hearts-9"))
    assert {(row[TAKES], row[GIVES], row[LOSES]) for row in rows.values()} == {(0, 15, 50)}
    row = action_features(after(table(hands, fields=[24, 22, 23, 3]), "hearts-2"))["hearts-9"]
    assert 0 < row[HOLDS] < 100
    gain = (2 + 1) / 2  # of player 2, over the pawn on 24, and of player 3; player 0 has played already
    assert row[GIVES] == pytest.approx(10 * (1 - row[HOLDS] / 100) * gain, abs=0.6)


@counts_of_players
def test_action_features_say_where_a_card_is_the_last_of_its_suit(num_players):
    for game in random_games(num_players, seeds=1):
        suits = Counter(card.partition("-")[0] for card in game.to_dict()["hands"][game.player])
        for move, row in action_features(game).items():
            assert row[EMPTIES] == (100 if "-" in move and suits[move.partition("-")[0]] == 1 else 0)


def test_a_card_is_worth_more_the_fewer_are_higher():
    assert (np.diff(WORTH, axis=2) <= 0).all()
    assert (WORTH >= 0).all()


# --- lookahead ---


def test_lookahead_stops_a_player_who_would_win():
    hands = [["hearts-9", "clubs-3"], ["hearts-5", "clubs-1"], ["clubs-6", "knight"]]
    game = after(table(hands, fields=[26, 3, 5]), "hearts-9", "hearts-5")
    assert choice(LookaheadAgent(), game) == "knight"


def test_lookahead_judges_in_many_deals():
    assert ROYAL.evaluation_deals > 1
    game = next(game for game in random_games(3) if game.state["in_trick"] == 1 and len(game.moves()) > 2)
    redealt = game.redeal(game.player, 5)
    assert choice(LookaheadAgent(), game) == choice(LookaheadAgent(), redealt)
