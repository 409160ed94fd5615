"""Conditions that hold in every position, checked in thousands of random games and in randomly generated positions."""

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artus_env import Batch, Game
from artus_env.engine.compiling.jit import DISABLED
from artus_env.games.artus.actions import action_table
from artus_env.games.artus.components import STANDARD
from artus_env.games.artus.definition import ARTUS
from artus_env.games.artus.state import STATE
from positions import BACKS, DECK, position

VARIANTS = [(rules, players) for rules in ("beginner", "advanced") for players in (2, 3, 4)]
GAMES = 8 if DISABLED else 10_000
PLACE, PLAY, DRAW, OVER = range(4)
NAMES = [card.name for card in STANDARD.cards]
COPIES = np.array([DECK.index(name) for name in NAMES])  # the first copy's place in the deck
BACK_BITS = np.array(
    [sum(1 << place for place, name in enumerate(DECK) if name in BACKS[back]) for back in BACKS], np.int32
)
LOW, HIGH = ARTUS.observation_bounds(ARTUS.standard)


# --- random games --------------------------------------------------------------------------------------------------


def card_actions():
    """For each card the actions that play it, as words of 64 bits: shape (cards, words), uint64."""
    words = np.zeros((len(NAMES), Batch(1, threads=1).legal_bits.shape[1]), np.uint64)
    for index, action in enumerate(action_table()):
        if action.card >= 0:
            words[action.card, index // 64] |= np.uint64(1 << index % 64)
    return words


def check_figures(states, players):
    """Each player has all their knights, no two figures share a seat, and there are at most 9 rings: the King's 3, and
    1 or 2 of each prince."""
    knights = np.bitwise_count(states["knights"])
    taken = np.bitwise_or.reduce(states["knights"], axis=1)
    royals = np.bitwise_or.reduce(1 << states["royals"].astype(np.int32), axis=1)
    assert (taken >> 28 == 0).all()
    assert ((states["royals"] >= 0) & (states["royals"] < 28)).all()
    assert (np.bitwise_count(taken | royals) == knights.sum(axis=1) + 4).all()
    assert (knights[:, :players] <= (4 if players == 4 else 5)).all()
    assert (knights[:, players:] == 0).all()
    rings = states["rings"]
    assert (rings.sum(axis=1) <= 9).all()
    assert ((rings == 3).sum(axis=1) == 1).all()
    assert (rings[np.arange(len(rings)), states["king"]] == 3).all()
    assert ((rings >= 1) & (rings <= 3)).all()


def check_cards(states, rules, players):
    """Hand, piles and played cards together are the whole deck, for each back."""
    size = 16 if rules == "beginner" else 22
    hands, played, piles = (states[name][:, :players] for name in ("hands", "played", "pile_sizes"))
    assert (hands[..., None] & ~np.int32((1 << size) - 1) == 0).all()
    in_backs = np.bitwise_count(hands[..., None] & BACK_BITS) + np.bitwise_count(played[..., None] & BACK_BITS) + piles
    assert (in_backs == [8, 8, 6 if rules == "advanced" else 0]).all()
    single = ~np.int32(0b11 << 14)  # all cards but the two equal rings
    assert (hands & played & single == 0).all()
    assert (np.bitwise_count(hands >> 14 & 3) + np.bitwise_count(played >> 14 & 3) <= 2).all()
    assert ((states["history"][:, :players] >= 0).sum(axis=2) == np.bitwise_count(played)).all()
    assert ((states["piles"][:, :players] >= 0).sum(axis=2) == piles.sum(axis=2)).all()


def check_moves(batch, cards):
    """There are legal moves unless the game is over. When cards are played, each card in the player's hand has a legal
    action, and no other card has one."""
    over = batch.states["phase"] == OVER
    assert (batch.mask.any(axis=1) != over).all()
    hand = batch.states["hands"][np.arange(len(batch)), batch.player]
    playing = batch.states["phase"] == PLAY
    for index, words in enumerate(cards):
        words_used = np.flatnonzero(words)
        is_playable = (batch.legal_bits[:, words_used] & words[words_used]).any(axis=1)
        in_hand = hand >> COPIES[index] & 1 == 1
        assert (is_playable == (in_hand & playing)).all(), NAMES[index]


def decisions(rules, players):
    """Number of decisions in a game: placed knights, played cards and draws."""
    knights = 4 if players == 4 else 5
    cards, dealt = (16, 4) if rules == "beginner" else (22, 6)
    return players * (knights + cards + (cards - dealt))


@pytest.mark.parametrize(("rules", "players"), VARIANTS)
def test_random_games(rules, players):
    """All games of a variant are in the same phase after the same number of moves, and end after the same number."""
    batch = Batch(GAMES, rules=rules, num_players=players, seed=11, threads=1, autoreset=False, reward="prestige")
    cards = card_actions()
    total = np.zeros((GAMES, players))
    for decision in range(decisions(rules, players)):
        assert not batch.done.any(), f"over after {decision} decisions"
        before = batch.scores.copy()
        mover = batch.player.copy()
        reward, _ = batch.step(batch.sample())
        states = batch.states
        assert (states["phase"] == states["phase"][0]).all()
        assert (states["left"] == states["left"][0]).all()
        check_figures(states, players)
        check_cards(states, rules, players)
        check_moves(batch, cards)
        gained = batch.scores - before
        gained[np.arange(GAMES), mover] = 0
        assert (gained == 0).all(), "only the mover scores"
        assert np.abs(reward.sum(axis=1)).max() < 1e-5
        total += reward
    assert batch.done.all()
    assert (batch.states["phase"] == OVER).all()
    assert (batch.player == batch.states["start_player"]).all()
    assert (batch.states["hands"] == 0).all()
    assert (batch.final_scores == batch.scores).all()
    scores = batch.final_scores.astype(float)
    others = (scores.sum(axis=1, keepdims=True) - scores) / (players - 1)
    np.testing.assert_allclose(total, (scores - others) / 100, atol=1e-4)


# --- generated positions ---------------------------------------------------------------------------------------------


@st.composite
def positions(draw, phases=("place", "play", "draw", "over"), rules=("beginner", "advanced")):
    """Any position that `from_dict` accepts, whether or not a game can reach it."""
    rules = draw(st.sampled_from(rules))
    players = draw(st.integers(2, 4))
    phase = draw(st.sampled_from(phases))
    start, turn = draw(st.integers(0, players - 1)), draw(st.integers(0, players - 1))
    rounds, draw_rounds, a_turn = (16, 12, 1) if rules == "beginner" else (11, 8, 2)
    rounds = {
        "place": st.just(0),
        "play": st.integers(0, rounds - 1),
        "draw": st.integers(0, draw_rounds - 1),
        "over": st.just(rounds),
    }[phase]
    shuffle = random.Random(draw(st.integers(0, 2**32 - 1)))
    knights = [4 if players == 4 else 5] * players
    if phase == "place":  # in order: the right neighbour of the start player first
        last = draw(st.integers(0, knights[0] - 1))
        order = [(start - 1 - place) % players for place in range(players)]
        knights = [last + (player in order[: order.index(turn)]) for player in range(players)]
    figures = [f"s{draw(st.integers(1, 2))}", f"b{draw(st.integers(1, 2))}"]
    king = draw(st.sampled_from("sb"))
    figures += [f"K{king}", f"{'b' if king == 's' else 's'}{draw(st.integers(1, 2))}"]
    figures += [owner for owner, count in zip("ABCD", knights, strict=False) for _ in range(count)]
    table = figures + ["."] * (28 - len(figures))
    shuffle.shuffle(table)
    return position(
        " ".join(table),
        rules=rules,
        players=players,
        start=start,
        phase=phase,
        turn=start if phase == "over" else turn,
        left={"place": 1, "over": 0}.get(phase) if phase in ("place", "over") else draw(st.integers(1, a_turn)),
        rounds=draw(rounds),
        scores=draw(st.lists(st.integers(-2000, 2000), min_size=players, max_size=players)),
        shuffle=shuffle,
    )


EXAMPLES = settings(max_examples=30 if DISABLED else 150, deadline=None, derandomize=True)


def look_alike(state, first):
    """A state record of the same position, in which the numbers of two royals of one colour, `first` and `first + 1`,
    are exchanged."""
    other = state.copy()
    for name in ("royals", "rings"):
        other[0][name][[first, first + 1]] = state[0][name][[first + 1, first]]
    if int(state[0]["king"]) // 2 == first // 2:
        other[0]["king"] = int(state[0]["king"]) ^ 1
    return other


def batch_at(*states):
    """A batch with a game at each state."""
    first = states[0][0]
    batch = Batch(
        len(states),
        rules=["beginner", "advanced"][int(first["rule_set"])],
        num_players=int(first["num_players"]),
        threads=1,
        autoreset=False,
    )
    batch.states[:] = np.concatenate(states)
    batch.refresh()
    return batch


def record_of(game):
    """A copy of a game's record: shape (1,)."""
    return np.array([game.state], STATE)


@EXAMPLES
@given(positions())
def test_a_position_comes_back_as_it_was_read(start):
    game = Game.from_dict(start)
    written = game.to_dict()
    assert written == start
    assert json.loads(json.dumps(written)) == start
    assert record_of(Game.from_dict(written)).tobytes() == record_of(game).tobytes()


@EXAMPLES
@given(positions(), st.data())
def test_a_position_comes_back_after_moves(start, data):
    """After moves, two princes of one colour may have passed each other. Their numbers in the state record then differ
    from those after `from_dict`, but the positions are equal."""
    game = Game.from_dict(start)
    for _ in range(data.draw(st.integers(1, 6))):
        if not game.over:
            game.play(data.draw(st.sampled_from(game.moves())))
    again = Game.from_dict(game.to_dict())
    assert again == game
    assert again.to_dict() == game.to_dict()
    for player in range(game.num_players):
        assert (again.observation(player) == game.observation(player)).all()
    assert (again.mask() == game.mask()).all()


def test_a_prince_who_passed_the_other_is_still_at_the_same_position():
    """A fault that the test above found: games were compared by their state records."""
    table = "Kb .  .  A  B  .  .  | s1 .  s2 A  .  .  .  | .  .  B  A  B  A  .  | b1 .  .  B  A  .  B"
    game = Game.from_dict(position(table, ["silver1-7"]))
    game.play("silver1-7:7>11")
    assert Game.from_dict(game.to_dict()) == game


@EXAMPLES
@given(positions())
def test_every_legal_move_can_be_played_and_brings_what_was_said(start):
    game = Game.from_dict(start)
    batch = batch_at(record_of(game))
    points = batch.points()[0]
    legal = game.legal_actions()
    assert (batch.mask[0] == game.mask()).all()
    assert (points[batch.mask[0] == 0] == 0).all()
    assert bool(legal) != game.over
    for action in legal:
        after = game.clone()
        assert after.play(action) == points[action]
        expected = game.scores
        expected[game.player] += points[action]
        assert after.scores == expected
        assert after != game
        assert Game.from_dict(after.to_dict()) == after, "every legal move leads to a position that adds up"
    assert game.to_dict() == start, "clones are independent"


@EXAMPLES
@given(positions())
def test_each_legal_move_has_one_text(start):
    game = Game.from_dict(start)
    texts = [game.move(action) for action in game.legal_actions()]
    assert len(set(texts)) == len(texts)
    assert [game.action(text) for text in texts] == game.legal_actions()


@EXAMPLES
@given(positions())
def test_observations_stay_in_their_bounds(start):
    game = Game.from_dict(start)
    for player in range(game.num_players):
        seen = game.observation(player)
        assert seen.shape == LOW.shape
        assert seen.dtype == np.int8
        assert (seen >= LOW).all()
        assert (seen <= HIGH).all()


@pytest.mark.parametrize(("rules", "players"), VARIANTS)
def test_the_first_observation_stays_in_its_bounds(rules, players):
    """A fault that the test above found: there is no best knight before the first one is placed."""
    game = Game(rules=rules, num_players=players, seed=0)
    for player in range(players):
        assert (game.observation(player) >= LOW).all()
        assert (game.observation(player) <= HIGH).all()


@EXAMPLES
@given(positions(), st.sampled_from([0, 2]))
def test_positions_that_look_the_same_are_the_same_to_players(start, first):
    """Players can't see which number each of the two silver (or bronze) royals has in the state record."""
    game = Game.from_dict(start)
    record = record_of(game)
    twin = look_alike(record, first)
    assert record.tobytes() != twin.tobytes()
    batch = batch_at(record, twin)
    assert (batch.mask[0] == batch.mask[1]).all()
    assert (batch.observation[0] == batch.observation[1]).all()
    assert (batch.points()[0] == batch.points()[1]).all()
    twin_game = Game.from_dict(start)
    twin_game.states[:] = twin
    assert twin_game == game
    for player in range(game.num_players):
        assert (game.observation(player) == twin_game.observation(player)).all()
    for action in game.legal_actions():
        after, twin_after = game.clone(), twin_game.clone()
        assert after.move(action) == twin_after.move(action)
        after.play(action)
        twin_after.play(action)
        assert after.to_dict() == twin_after.to_dict()


@EXAMPLES
@given(positions(phases=("play",), rules=("advanced",)))
def test_only_the_carpet_tells_where_the_king_sits(start):
    """If all figures are moved by seven seats, the same actions are legal, and all but `carpet` bring equal points."""
    game = Game.from_dict(start)
    turned = Game.from_dict({**start, "seats": start["seats"][-7:] + start["seats"][:-7]})
    assert (game.mask() == turned.mask()).all()
    carpet = [index for index, action in enumerate(action_table()) if NAMES[action.card] == "carpet"]
    for action in set(game.legal_actions()) - set(carpet):
        assert game.clone().play(action) == turned.clone().play(action)
