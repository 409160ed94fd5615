"""What a player may not know shows nowhere, and is drawn anew uniformly."""

import json
from collections import Counter
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from artus_env import Game
from artus_env.engine import kernels
from every_game import positions, record_of, variants, variants_of


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
        assert other.svg(viewer) == game._at(game.definition, game._states.copy(), game.components, None).svg(viewer)
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
        for states in (game._states.copy(), other._states.copy()):
            kernels.conceal(game._tables, states, np.array([viewer], np.int8), 0, 1)
            left.append(states)
        one, two = (Game._at(game.definition, states, game.components, None) for states in left)
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
                        assert first.to_dict(viewer) == second.to_dict(viewer)
                        assert first.svg(viewer) == second.svg(viewer)


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


HIDDEN = {"magpies": hidden_bids, "royal": hidden_hands}
"""By game: a position, a viewer, all equally likely things that they don't know, and how to read them from a
position. Artus has its own in tests/artus."""


@pytest.mark.parametrize("game", HIDDEN)
def test_redeals_are_uniform(game):
    start, viewer, cells, read = HIDDEN[game]()
    draws = 30 * len(cells)
    states = np.repeat(start._states, draws)
    kernels.redeal(start._tables, states, np.arange(draws).astype(np.uint64), np.full(draws, viewer, np.int8), 0, draws)
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
