"""What a player may not know shows nowhere, and is drawn anew uniformly."""

import json
from collections import Counter
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from artus_env import Game
from artus_env.engine.compiling import dispatch
from artus_env.engine.play import kernels
from choices import opens_something, tells_too_much
from every_game import positions, random_game, record_of, variants, variants_of
from quest.positions import joust

TOO_LITTLE = "public_action hides what everybody sees"


def redealt(variant):
    """Positions, a viewer of each, and other ones that this viewer can't tell from them."""
    for number, game in enumerate(positions(variant)):
        for viewer in range(variant.num_players):
            yield game, viewer, game.redeal(viewer, 1000 + number)


@variants
def test_what_is_hidden_shows_nowhere(variant):
    changed = 0
    for game, viewer, other in redealt(variant):
        changed += record_of(other) != record_of(game)
        assert (other.observation(viewer) == game.observation(viewer)).all()
        assert other.to_dict(viewer) == game.to_dict(viewer)
        assert other.render(viewer) == game.render(viewer)
        assert other.svg(viewer) == game.from_state(game.definition, game.states.copy(), game.components).svg(viewer)
        assert (other.player, other.over, other.scores) == (game.player, game.over, game.scores)
        assert Game.from_dict(other.to_dict(), game=variant.game).to_dict() == other.to_dict()
        if viewer == game.player:
            assert (other.mask() == game.mask()).all()
            assert other.moves() == game.moves()
    assert changed > 5


@variants
def test_a_redeal_depends_on_nothing_hidden(variant):
    """Two deals that a player can't tell apart become the same one: nobody can fish for the truth with seeds."""
    for number, (game, viewer, other) in enumerate(redealt(variant)):
        before = record_of(game)
        assert other.redeal(viewer, number) == game.redeal(viewer, number)
        assert record_of(game) == before


@variants
def test_what_is_concealed_is_gone(variant):
    for game, viewer, other in redealt(variant):
        left = []
        for states in (game.states.copy(), other.states.copy()):
            kernels.hide(game.tables, states, np.array([viewer], np.int8), 0, 1)
            left.append(states)
        one, two = (Game.from_state(game.definition, states, game.components) for states in left)
        assert one.player != viewer or (one.mask() == game.mask()).all()
        assert record_of(one) == record_of(two)


@variants
def test_a_hidden_choice_shows_nowhere(variant):
    """What others can't tell apart looks the same to them when it has been played: position, picture, who is next."""
    for game in positions(variant):
        legal = game.legal_actions()
        for viewer in range(variant.num_players):
            seen = {action: game.public_action(action, viewer) for action in legal}
            if viewer == game.player:
                assert seen == {action: action for action in legal}
            for action in legal:
                if not game.is_seen(action, viewer):
                    assert viewer != game.player
                    after = game.clone()
                    after.play(action)
                    assert "last move" not in after.svg(viewer)
            for one, other in combinations(legal[:5], 2):
                if seen[one] == seen[other]:
                    assert not game.is_seen(one, viewer)
                    assert not game.is_seen(other, viewer)
                    first, second = game.clone(), game.clone()
                    first.play(one)
                    second.play(other)
                    if first.scores == second.scores == game.scores and not first.over:  # nothing is revealed yet
                        assert first.player == second.player
                        if first.to_dict(viewer) == second.to_dict(viewer):
                            assert first.svg(viewer) == second.svg(viewer)
                        else:
                            assert opens_something(game, one, viewer), TOO_LITTLE


@variants
def test_nobody_is_told_what_they_may_not_know(variant):
    """Where this fails, the game hides choices and `public_action` doesn't say so (or redeals forget what was open)."""
    for game in positions(variant):
        legal = game.legal_actions()
        for viewer in set(range(variant.num_players)) - {game.player}:
            for action in {*legal[:1], *legal[-1:]}:
                assert not tells_too_much(game, action, viewer)


@variants
def test_secret_choices_are_told_when_they_are_open_and_not_before(variant):
    course = [game.clone() for game in random_game(variant, 1)]
    for number, action in enumerate(course[-1].actions_played[:12]):
        before = course[number]
        for viewer in range(variant.num_players):
            if before.is_seen(action, viewer):
                continue
            after = course[number + 1 :]
            told = [before.is_seen(action, viewer, now) for now in after]
            assert told == sorted(told), "what was opened once stays open"
            assert told == [before.is_seen(action, viewer, now.redeal(viewer, 1)) for now in after]
            assert not told[0] or not tells_too_much(before, action, viewer, all_of_it=True)


def test_a_game_that_opens_bids_too_early_is_found(monkeypatch):
    (variant, *_) = variants_of("magpies")
    own = dispatch._games[variant.definition.build_tables(variant.definition.standard).dtype]
    monkeypatch.setitem(own, "is_revealed", lambda t, g, action, viewer, now: True)
    with pytest.raises(AssertionError, match="tells_too_much"):
        test_secret_choices_are_told_when_they_are_open_and_not_before(variant)


def test_a_game_that_forgets_that_bids_are_secret_is_found(monkeypatch):
    """Without `public_action`, or with one that keeps no bids secret but two."""
    (variant, *_) = variants_of("magpies")
    own = dispatch._games[variant.definition.build_tables(variant.definition.standard).dtype]
    for telling in (lambda t, g, action, viewer: action, lambda t, g, action, viewer: max(action, 1)):
        monkeypatch.setitem(own, "public_action", telling)
        with pytest.raises(AssertionError, match="tells_too_much"):
            test_nobody_is_told_what_they_may_not_know(variant)


def test_a_game_that_calls_open_moves_secret_is_found(monkeypatch):
    (variant, *_) = variants_of("artus")
    own = dispatch._games[variant.definition.build_tables(variant.definition.standard).dtype]
    monkeypatch.setitem(own, "public_action", lambda t, g, action, viewer: action if viewer == int(g["player"]) else 0)
    with pytest.raises(AssertionError, match=TOO_LITTLE):
        test_a_hidden_choice_shows_nowhere(variant)


@variants
def test_what_a_player_gets_is_no_position(variant):
    game = positions(variant)[0]
    for viewer in range(variant.num_players):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            Game.from_dict(game.to_dict(viewer), game=variant.game)


# --- uniform redeals: what is hidden in a small position, and all that it could be ----------------------------------


def hidden_bids():
    """One of two players has bid: three of the seventeen cards that the other doesn't see, and one of them bid."""
    (variant, *_) = variants_of("magpies")
    game = variant.new_game(1)
    game.play(game.moves()[0])
    viewer = game.player
    own = game.to_dict(viewer)["hands"][viewer]
    others = [card for card in range(20) if card not in own]
    cells = [(*hand, bid) for hand in combinations(others, 3) for bid in hand]
    return game, viewer, cells, lambda position: (*position["hands"][1 - viewer], position["bids"][1 - viewer])


def hidden_hands():
    """Three players with three cards each, none in the pile; each of the others has shown a void."""
    variant = next(variant for variant in variants_of("royal") if variant.num_players == 3)
    game = variant.new_game(9)
    while game.to_dict(0)["pile"] or [len(hand) for hand in game.to_dict()["hands"]] != [3, 3, 3]:
        game.play(game.moves()[0])
    viewer, known = game.player, game.to_dict()
    left, right = (player for player in range(3) if player != viewer)
    unseen = known["hands"][left] + known["hands"][right]
    cells = [
        tuple(sorted(hand))
        for hand in combinations(unseen, 3)
        if not {card.split("-")[0] for card in hand} & set(known["voids"][left])
        and not {card.split("-")[0] for card in unseen if card not in hand} & set(known["voids"][right])
    ]
    assert known["voids"][left] != known["voids"][right]
    assert len(cells) > 2
    return game, viewer, cells, lambda position: tuple(sorted(position["hands"][left]))


def hidden_hands_and_a_bid():
    """Two of three players have two of four starting cards each. One of them has bid, of what they hold anyway; the
    other one is known not to have a certain card."""
    cards = ["dragon-1", "dragon-2", "book-1", "book-2"]
    known = {"taken": {0: ["sword-1", "lance-1"], 2: ["sword-2"]}, "excluded": {1: ["dragon-1"]}}
    game = joust((0, 2), start_cards={0: cards[:2], 1: cards[2:]}, moves=("bid:lance-1",), **known)
    hands = [(one, two) for one in combinations(cards, 2) for two in combinations(cards, 2) if not {*one} & {*two}]
    bids = [(), ("sword-1",), ("lance-1",), ("sword-1", "lance-1")]
    cells = [(*hand, bid) for hand in hands if "dragon-1" not in hand[1] for bid in bids]

    def read(position):
        return (*map(tuple, position["start_cards"][:2]), tuple(position["bids"][0]))

    return game, 2, cells, read


HIDDEN = {"magpies": hidden_bids, "royal": hidden_hands, "quest": hidden_hands_and_a_bid}
"""By game: a position, a viewer, all equally likely things that they don't know, and how to read them from a
position. Artus has its own in tests/artus."""


@pytest.mark.parametrize("game", HIDDEN)
def test_redeals_are_uniform(game):
    start, viewer, cells, read = HIDDEN[game]()
    draws = 30 * len(cells)
    states = np.repeat(start.states, draws)
    kernels.redeal(start.tables, states, np.arange(draws).astype(np.uint64), np.full(draws, viewer, np.int8), 0, draws)
    found = Counter(read(start.definition.to_dict(state, start.components)) for state in states)
    assert set(found) <= set(cells)
    chi_square = sum((found[cell] - 30) ** 2 / 30 for cell in cells)
    freedom = len(cells) - 1
    assert freedom - 4 * sqrt(2 * freedom) < chi_square < freedom + 4 * sqrt(2 * freedom)


def test_chance_is_drawn_anew():
    """What comes after the deal can't be read from a redealt game either."""
    (variant, *_) = variants_of("magpies")
    game = variant.new_game(1)
    chances = {json.dumps(game.redeal(0, seed).to_dict()["chance"]) for seed in range(50)}
    assert len(chances) == 50
    assert "chance" not in game.to_dict(0)
