"""What holds in every position of every game, along random games."""

import json

import numpy as np
import pytest

from artus_env import Game, IllegalMoveError
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.contract import verbs
from artus_env.engine.play.rewards import reward_modes
from every_game import MANY, games, positions, random_game, variants, variants_of

GAMES_PLAYED = 3 if DISABLED else 200


@variants
def test_somebody_can_move_unless_the_game_is_over(variant):
    """Masks, bits and lists of legal actions say the same; observations stay within their bounds."""
    definition = variant.definition
    low, high = definition.observation_bounds(definition.standard)
    batch = variant.new_batch(GAMES_PLAYED)
    for _ in range(MANY):
        bits = np.unpackbits(batch.legal_bits.view(np.uint8), axis=1, bitorder="little")
        assert (bits[:, : batch.num_actions] == batch.mask).all()
        assert not bits[:, batch.num_actions :].any()
        assert (batch.mask.any(axis=1) != batch.over).all()
        assert (batch.over == batch.done).all()
        assert ((batch.player >= 0) & (batch.player < variant.num_players)).all()
        for player in range(variant.num_players):
            seen = batch.observe(player)
            assert (seen >= low).all()
            assert (seen <= high).all()
            mine = batch.player == player
            assert (seen[mine] == batch.observation[mine]).all()
        if batch.done.all():
            break
        batch.step(batch.sample())
    assert (batch.final_scores == batch.scores).all()


@variants
def test_rewards_are_what_the_scores_say(variant):
    """All modes are zero-sum; what is paid move by move adds up to the margin; `win` goes by the outcome."""
    definition, players = variant.definition, variant.num_players
    ends = {}
    for mode in reward_modes(definition.score):
        batch = variant.new_batch(GAMES_PLAYED, reward=mode)
        total = np.zeros((GAMES_PLAYED, players))
        while not batch.done.all():
            running = ~batch.done
            reward, done = batch.step(batch.sample())
            assert np.abs(reward.sum(axis=1)).max() < 1e-4
            assert mode == definition.score or (reward[~done] == 0).all()
            total[running] += reward[running]
        ends[mode] = total, batch.final_scores.astype(float), batch
    total, scores, batch = ends["margin"]
    scale = float(verbs.margin_scale(batch.tables[0], batch.states[0]))
    margin = (scores - (scores.sum(axis=1, keepdims=True) - scores) / (players - 1)) / scale
    np.testing.assert_allclose(total, margin, atol=1e-4)
    np.testing.assert_allclose(ends[definition.score][0], margin, atol=1e-3)
    outcomes = np.array([[int(verbs.ranking_key(batch.tables[0], g, p)) for p in range(players)] for g in batch.states])
    won = outcomes == outcomes.max(axis=1, keepdims=True)
    winners = won.sum(axis=1, keepdims=True)
    expected = np.where(won, (players - winners) / (winners * (players - 1)), -1 / (players - 1))
    np.testing.assert_allclose(ends["win"][0], expected, atol=1e-6)
    for number in range(3):
        at_end = Game.from_state(definition, batch.states[number : number + 1].copy(), definition.standard)
        assert at_end.winners == np.flatnonzero(won[number]).tolist()


@variants
def test_a_move_brings_what_was_said_of_it(variant):
    """Where points can be known, and scores are the sum of points: the state says the same as the move."""
    for game in positions(variant):
        batch = variant.new_batch(1)
        batch.states[:] = game.states
        batch.refresh()
        known = batch.points()[0]
        assert (known[batch.mask[0] == 0] == 0).all()
        for action in game.legal_actions():
            after = game.clone()
            points = after.play(action)
            assert known[action] in (0, points)
            assert after.scores[game.player] - game.scores[game.player] == points
            assert after.actions_played == (*game.actions_played, action)
        assert bool(game.legal_actions()) != game.over


@variants
def test_each_legal_move_has_one_text(variant):
    for game in positions(variant, 60):
        legal = game.legal_actions()
        texts = [game.move(action) for action in legal]
        assert len(set(texts)) == len(texts)
        assert [game.action(text) for text in texts] == legal
        assert all(text.isprintable() and text and text == text.strip() for text in texts)
        assert game.moves() == texts


def nearly(text):
    """Texts that look like a move: other digits, other letters, more or less of them."""
    digits = [text[:k] + other + text[k + 1 :] for k, digit in enumerate(text) if digit.isdecimal() for other in "0379"]
    arabic = text.translate({ord("0") + digit: 0x660 + digit for digit in range(10)})
    padded = [text[:k] + "0" + text[k:] for k, digit in enumerate(text) if digit.isdecimal()]
    shorter = [text[:k] + text[k + 1 :] for k in range(len(text))]
    return {*digits, arabic, *padded, *shorter, text.upper(), f"{text} ", f"{text}:0", f"{text}>{'9' * 5000}"} - {text}


@variants
def test_a_text_that_is_nearly_a_move_is_another_move_or_none(variant):
    """What reads texts takes only what is written, for any text."""
    for game in positions(variant, 6):
        moves = dict(zip(game.moves(), game.legal_actions(), strict=True))
        for text in {other for move in [*moves][::10] for other in nearly(move)}:
            if text in moves:
                assert game.action(text) == moves[text]
            else:
                with pytest.raises(IllegalMoveError, match=r"is illegal for player|the game is over"):
                    game.action(text)


@variants
def test_what_is_not_legal_is_refused_and_changes_nothing(variant):
    for game in positions(variant):
        before = game.to_dict()
        illegal = set(np.flatnonzero(game.mask() == 0).tolist()) | {-1, len(game.mask()), 1 << 70}
        no_moves = dict.fromkeys([*sorted(illegal)[:3], *sorted(illegal)[-3:], "no move", ""], IllegalMoveError)
        for move, error in [*no_moves.items(), *((value, TypeError) for value in (True, 1.0, None))]:
            with pytest.raises(error) as refused:
                game.play(move)
            assert "\n" not in str(refused.value)
        assert game.to_dict() == before


@variants
def test_a_position_comes_back_as_it_was_written(variant):
    for game in positions(variant):
        written = game.to_dict()
        assert json.loads(json.dumps(written)) == written
        again = Game.from_dict(written, game=variant.game)
        assert again == game
        assert again.to_dict() == written
        assert (again.mask() == game.mask()).all()
        assert again.moves() == game.moves()
        assert (again.over, again.player, again.scores) == (game.over, game.player, game.scores)
        for player in range(variant.num_players):
            assert (again.observation(player) == game.observation(player)).all()


@variants
def test_the_seed_and_the_start_player_say_how_a_game_begins(variant):
    for seed in range(3):
        assert variant.new_game(seed) == variant.new_game(seed)
    assert variant.new_game(1) != variant.new_game(2)
    players = set(range(variant.num_players))
    started = [Game(variant.rules, variant.num_players, 1, player, game=variant.game) for player in sorted(players)]
    assert {game.player for game in started} == players
    assert variant.new_game(1) in started
    assert {variant.new_game(seed).player for seed in range(60)} == players


@variants
def test_a_batch_plays_the_games_of_its_seeds(variant):
    """Game by game, and with autoreset the next deal of the stream."""
    batch = variant.new_batch(5, autoreset=True, seed=3)
    singles = [variant.new_game(int(seed)) for seed in batch.seeds]
    for _ in range(40):
        actions = batch.sample()
        for number, game in enumerate(singles):
            assert (batch.mask[number] == game.mask()).all()
            assert (batch.observation[number] == game.observation()).all()
            game.play(int(actions[number]))
        _, done = batch.step(actions)
        for number in np.flatnonzero(done):
            assert batch.final_scores[number].tolist() == singles[number].scores
            singles[number] = variant.new_game(int(batch.seeds[number]))


@games
def test_states_that_were_played_on_leave_no_trace_in_the_next_deal(game):
    """Every field is written when a game is dealt, also those of seats that nobody holds."""
    for variant in variants_of(game):
        batch = variant.new_batch(4, seed=5)
        fresh = batch.states.copy()
        while not batch.done.all():
            batch.step(batch.sample())
        batch.reset(seeds=batch.seeds.copy())
        assert batch.states.tobytes() == fresh.tobytes()


def test_games_end_after_different_numbers_of_moves():
    """So that nothing here rests on games of one length."""
    lengths = {sum(1 for _ in random_game(variants_of("magpies")[0], seed)) for seed in range(5)}
    assert len(lengths) > 1
