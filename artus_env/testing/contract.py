"""`check_game`: rules that every game must keep, checked along random games.

`CHECKS` lists one function `(variant, seed) -> None` for each rule. Each raises an AssertionError with the reason.
"""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from typing import Any

import numpy as np

from artus_env import Game, IllegalMoveError
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.contract import verbs
from artus_env.engine.contract.definition import Definition
from artus_env.engine.play.records import RecordError
from artus_env.engine.play.rewards import reward_modes
from artus_env.environments import GameEnv, env, raw_env
from artus_env.testing.no_leaks import check_no_leaks
from artus_env.testing.resampling import check_resampling
from artus_env.testing.variants import (
    MANY,
    Variant,
    expect,
    fail,
    positions,
    random_game,
    refusal,
    run,
    variants_of,
)

GAMES = 3 if DISABLED else 100
"""Random games of each variant that are played in parallel; fewer in plain Python, which is slow."""
MOST_CHARACTERS = 400
"""Maximum length of an error message, in characters."""
WRONG_VALUES: tuple[Any, ...] = (
    None, True, 1.5, -1, 10**30, "", "\u202e\x1b[31m\n", [], [[]], {}, {"x": 1}, "x" * 100_000, [0] * 1000,
)  # fmt: skip
"""Values of many types that replace values of a position."""
MOST_PLACES = 40
"""Maximum number of values of a position that are replaced."""

Check = Callable[[Variant, int], None]


def check_game(game: str | Definition, *, seeds: int = 1, states: int = 10_000) -> None:
    """Check that a game keeps the contract, in all its variants; it needn't be installed.

    Random games are played through all interfaces. Each check is a function of this module, listed in `CHECKS`: legal
    actions, bounds of observations, rewards, texts of moves, reading and writing of positions and records, copies,
    deals, faulty input, PettingZoo's and Gymnasium's own tests. Then come `check_no_leaks` and `check_resampling`. All
    variants of a game take less than a minute of one core, most of it for compiling.

    Args:
        game: Name or definition of the game; only its standard box is checked.
        seeds: Number of repetitions of all checks, each with other games.
        states: Number of states for `check_no_leaks` and `check_resampling`.

    Raises:
        AssertionError: With variant, seed, check and reason.
    """
    for seed in range(1, 1 + seeds):
        for variant in variants_of(game):
            for check in CHECKS:
                run(check, variant, seed)
        check_no_leaks(game, states=states, texts=states // 50, pictures=20, seed=seed)
        check_resampling(game, states=states, seed=seed)


# --- rules ----------------------------------------------------------------------------------------------------------


def somebody_can_move_unless_the_game_is_over(variant: Variant, seed: int) -> None:
    """Masks and legal bits agree, observations stay within their bounds, and finished games keep their scores."""
    low, high = variant.definition.observation_bounds(variant.definition.standard)
    expect(low.dtype == high.dtype == np.int8 and low.shape == high.shape, "observation_bounds must be two int8 arrays")
    scale = variant.definition.observation_scale(variant.definition.standard)
    expect(scale.dtype == np.float32 and scale.shape == low.shape, "observation_scale must be float32, one per feature")
    batch = variant.new_batch(GAMES, seed=seed)
    for _ in range(MANY):
        bits = np.unpackbits(batch.legal_bits.view(np.uint8), axis=1, bitorder="little")
        expect(bits[:, : batch.num_actions] == batch.mask, "mask and legal bits differ")
        expect(bits[:, batch.num_actions :] == 0, "`legal` writes actions that aren't in the action table")
        expect(batch.mask.any(axis=1) != batch.over, "a game is over with legal actions, or goes on without any")
        expect(batch.over == batch.done, "`is_over` isn't what the last step said")
        expect((batch.player >= 0) & (batch.player < variant.num_players), "`player` is no seat")
        for player in range(variant.num_players):
            observation = batch.observe(player)
            misfits = np.argwhere((observation < low) | (observation > high))
            if len(misfits):
                i, feature = misfits[0]
                fail(
                    f"feature {feature} of an observation is {observation[i, feature]}, its bounds are {low[feature]} "
                    f"and {high[feature]}: {json.dumps(_position_of(variant, batch.states[i]))}"
                )
            is_to_move = batch.player == player
            expect(
                observation[is_to_move] == batch.observation[is_to_move],
                "what a player sees when they are to move differs",
            )
        if batch.done.all():
            break
        batch.step(batch.sample())
    expect(batch.done.all(), f"no end after {MANY} moves")
    expect(batch.final_scores == batch.scores, "final scores aren't those of the state")


def rewards_follow_the_scores(variant: Variant, seed: int) -> None:
    """All reward modes are zero-sum, rewards for each move add up to the margin, and `win` follows `ranking_key`."""
    score, players = variant.definition.score, variant.num_players
    total_rewards = {}
    for mode in reward_modes(score):
        batch = variant.new_batch(GAMES, reward=mode, seed=seed)
        total = np.zeros((GAMES, players))
        while not batch.done.all():
            running = ~batch.done
            reward, done = batch.step(batch.sample())
            expect(np.abs(reward.sum(axis=1)).max() < 1e-4, f"rewards of mode {mode} don't add up to 0")
            expect(mode == score or not reward[~done].any(), f"mode {mode} pays before the end")
            total[running] += reward[running]
        total_rewards[mode] = total
    t, scores = batch.tables[0], batch.final_scores.astype(float)
    scale = float(verbs.margin_scale(t, batch.states[0]))
    margin = (scores - (scores.sum(axis=1, keepdims=True) - scores) / (players - 1)) / scale
    expect(np.isclose(total_rewards["margin"], margin, atol=1e-4), "mode margin doesn't pay the lead in score")
    expect(np.isclose(total_rewards[score], margin, atol=1e-3), "points move by move don't add up to the lead in score")
    keys = np.array([[int(verbs.ranking_key(t, g, player)) for player in range(players)] for g in batch.states])
    is_winner = keys == keys.max(axis=1, keepdims=True)
    winners = is_winner.sum(axis=1, keepdims=True)
    expected = np.where(is_winner, (players - winners) / (winners * (players - 1)), -1 / (players - 1))
    expect(np.isclose(total_rewards["win"], expected, atol=1e-6), "mode win doesn't go by `ranking_key`")
    expect(batch.final_outcomes == keys, "what ranked the players isn't `ranking_key`")


def a_move_earns_the_announced_points(variant: Variant, seed: int) -> None:
    """`play` returns the points that it adds to its player's score; `points_of` gives the same number or 0."""
    for game in positions(variant, seed):
        batch = variant.new_batch(1)
        batch.states[:] = game.state
        batch.refresh()
        announced_points = batch.points()[0]
        for action in game.legal_actions():
            after = game.clone()
            points = after.play(action)
            move = f"{game.move(action)} in {json.dumps(game.to_dict())}"
            expect(
                announced_points[action] in (0, points),
                f"`points_of` says {announced_points[action]}, `play` brings {points}: {move}",
            )
            gain = after.scores[game.player] - game.scores[game.player]
            expect(gain == points, f"`play` returns {points}, the score grows by {gain}: {move}")
            expect(after.actions_played == (*game.actions_played, action), f"the past doesn't end with {move}")


def perfect_information_horizon_is_right(variant: Variant, seed: int) -> None:
    """Once `perfect_information_horizon` gives a number, nothing is hidden, `points_of` is exact, and the game ends
    within that number of decisions."""
    last_horizon = -1
    for game in random_game(variant, seed):
        if game.over:
            break
        batch = variant.new_batch(1)
        batch.states[:] = game.state
        tables, state = batch.tables[0], batch.states[0]
        horizon = int(verbs.perfect_information_horizon(tables, state))
        expect(horizon > 0 or horizon == -1, f"perfect_information_horizon is {horizon}")
        expect(
            last_horizon == -1 or 0 < horizon < last_horizon,
            f"perfect_information_horizon was {last_horizon}, and is {horizon} a decision later",
        )
        last_horizon = horizon
        if horizon < 0:
            continue
        for viewer in range(variant.num_players):
            expect(game.redeal(viewer, seed) == game, f"something is hidden {horizon} decisions before the end")
            known_states = batch.states.copy()
            verbs.hide(tables, known_states[0], viewer)
            viewer_horizon = int(verbs.perfect_information_horizon(tables, known_states[0]))
            expect(
                viewer_horizon == horizon,
                f"perfect_information_horizon is {viewer_horizon} for player {viewer}, who can't know more",
            )
        for action in game.legal_actions()[:5]:
            after = game.clone()
            after.play(action)
            gain = after.scores[game.player] - game.scores[game.player]
            points = verbs.points_of(tables, state, action)
            expect(gain == points, f"`points_of` says {points}, the score grows by {gain}: {game.move(action)}")


def each_legal_move_has_one_text(variant: Variant, seed: int) -> None:
    """Legal moves have different texts, and each text is read as its own move."""
    for game in positions(variant, seed, 60):
        legal = game.legal_actions()
        texts = [game.move(action) for action in legal]
        expect(len(set(texts)) == len(texts), f"two legal moves have one text: {sorted(texts)}")
        for action, text in zip(legal, texts, strict=True):
            expect(game.action(text) == action, f"{text!r} of action {action} is read as {game.action(text)}")
            expect(text and text.isprintable() and text == text.strip(), f"{text!r} is no text for one line")
        expect(game.moves() == texts, "`moves` aren't in order of their action ids")


def a_text_that_is_nearly_a_move_is_another_move_or_none(variant: Variant, seed: int) -> None:
    """A text that differs slightly from a legal move is refused, unless it is the text of another legal move."""
    for game in positions(variant, seed, 6):
        moves = dict(zip(game.moves(), game.legal_actions(), strict=True))
        for text in {other for move in [*moves][::10] for other in _similar_texts(move)}:
            if text in moves:
                expect(game.action(text) == moves[text], f"{text!r} is read as {game.action(text)}")
            else:
                message = refusal(IllegalMoveError, game.action, text)
                expect(message and "\n" not in message, f"{text[:MOST_CHARACTERS]!r} isn't refused in one line")


def illegal_moves_are_refused(variant: Variant, seed: int) -> None:
    """Illegal moves raise an error of one line and leave the game unchanged."""
    for game in positions(variant, seed):
        before = game.to_dict()
        illegal = sorted({*np.flatnonzero(game.mask() == 0).tolist(), -1, len(game.mask()), 1 << 70})
        moves: list[Any] = [*illegal[:3], *illegal[-3:], "no move", ""]
        for move in moves:
            message = refusal(IllegalMoveError, game.play, move)
            expect(message and "\n" not in message, f"{move!r} isn't refused in one line")
        for value in (True, 1.0, None):
            expect(refusal(TypeError, game.play, value), f"{value!r} isn't refused")
        expect(game.to_dict() == before, "an illegal move has changed the game")


def seed_and_start_player_determine_the_deal(variant: Variant, seed: int) -> None:
    """Equal seeds give equal deals, `start_player` changes only who starts, and without it each player starts in some
    deals."""
    players = range(variant.num_players)
    expect(variant.new_game(seed) == variant.new_game(seed), "one seed deals two games")
    expect(variant.new_game(seed) != variant.new_game(seed + 1), f"seeds {seed} and {seed + 1} deal one game")
    deals = [variant.new_game(seed, player) for player in players]
    expect({game.player for game in deals} == set(players), "the start player doesn't say who moves first")
    expect(variant.new_game(seed) in deals, "the start player changes more than who starts")
    seeds = range(seed, seed + 60)
    expect({variant.new_game(number).player for number in seeds} == set(players), "somebody never starts")


def a_batch_plays_the_games_of_its_seeds(variant: Variant, seed: int) -> None:
    """A batch plays the same games as `Game` with the same seeds, including the later deals of autoreset."""
    batch = variant.new_batch(5, autoreset=True, seed=seed)
    single_games = [variant.new_game(int(game_seed)) for game_seed in batch.seeds]
    for _ in range(40):
        actions = batch.sample()
        for index, game in enumerate(single_games):
            expect(batch.mask[index] == game.mask(), "masks of batch and game differ")
            expect(batch.observation[index] == game.observation(), "observations of batch and game differ")
            game.play(int(actions[index]))
        _, done = batch.step(actions)
        for index in np.flatnonzero(done).tolist():
            expect(batch.final_scores[index].tolist() == single_games[index].scores, "scores of batch and game differ")
            single_games[index] = variant.new_game(int(batch.seeds[index]))


def a_deal_writes_every_field(variant: Variant, seed: int) -> None:
    """A deal leaves nothing of the previous game in the state, not even in empty seats."""
    batch = variant.new_batch(4, seed=seed)
    first_states = batch.states.copy()
    while not batch.done.all():
        batch.step(batch.sample())
    batch.reset(seeds=batch.seeds.copy())
    changed_fields = [
        name for name in first_states.dtype.names or () if first_states[name].tobytes() != batch.states[name].tobytes()
    ]
    expect(not changed_fields, f"`deal` leaves something of the last game in {', '.join(changed_fields)}")


# --- positions, copies, records --------------------------------------------------------------------------------------


def a_position_stays_equal_when_written_and_read(variant: Variant, seed: int) -> None:
    """A position is JSON data, and the game read from it is equal and looks the same to every player."""
    for game in positions(variant, seed):
        position = game.to_dict()
        expect(json.loads(json.dumps(position)) == position, f"a position is no plain data: {position}")
        game_read = variant.read(position)
        expect(
            game_read == game and game_read.to_dict() == position,
            f"a position is read as another one: {json.dumps(position)}",
        )
        expect(game_read.moves() == game.moves(), f"a position is read with other legal moves: {json.dumps(position)}")
        found, expected = ((g.over, g.player, g.scores) for g in (game_read, game))
        expect(found == expected, f"a position is read with another player, score or end: {json.dumps(position)}")
        for player in range(variant.num_players):
            expect(
                game_read.observation(player) == game.observation(player), "a position is read with other observations"
            )


def a_position_with_hidden_parts_is_refused(variant: Variant, seed: int) -> None:
    """A position as one player knows it is refused if something is hidden from them."""
    game = positions(variant, seed)[0]
    for viewer in range(variant.num_players):
        if game.redeal(viewer, seed) != game:
            _expect_refused(variant, game.to_dict(viewer), f"what player {viewer} knows, which isn't all,")


def faulty_positions_are_refused(variant: Variant, seed: int) -> None:
    """Missing and unknown keys are refused by name. A changed value is refused in a short line, or gives a position
    that is the same after writing and reading."""
    non_positions: tuple[Any, ...] = (None, 1, "position", [], [{}], True)
    for value in non_positions:
        _expect_refused(variant, value, repr(value))
    for game in (positions(variant, seed)[2], positions(variant, seed)[-1]):
        position = game.to_dict()
        for key in position:
            if key != "game":  # older positions of the default game lack it
                message = _expect_refused(
                    variant, {k: v for k, v in position.items() if k != key}, f"one without {key}"
                )
                expect(key in message, f"a position without {key} is refused without naming it: {message}")
        expect(
            "hat" in _expect_refused(variant, {**position, "hat": 1}, "one with a hat"), "an unknown key isn't named"
        )
        paths = list(_paths(position))
        for path in paths[:: 1 + len(paths) // MOST_PLACES]:
            value = position
            for key in path:
                value = value[key]
            wrong_values: list[Any] = [*WRONG_VALUES]
            if isinstance(value, list):
                wrong_values += [value[:-1], value + value[-1:], value[::-1]]
            elif type(value) is int:
                wrong_values += [value + 1, value - 1]
            for wrong_value in wrong_values:
                _expect_refused_or_read(
                    variant, _with_value(position, path, wrong_value), f"{wrong_value!r:.50} at {list(path)}"
                )


def copies_are_independent(variant: Variant, seed: int) -> None:
    """Clones, copies, deep copies and pickles keep the past and the box, and are independent of the original."""
    for game in positions(variant, seed)[1:4]:
        copies = [game.clone(), copy.copy(game), copy.deepcopy(game)]
        if _is_installed(variant):  # pickle stores only the game's name
            copies.append(pickle.loads(pickle.dumps(game)))
        for game_copy in copies:
            expect(game_copy == game and game_copy.actions_played == game.actions_played, "a copy is another game")
            if not game_copy.over:
                before = game.to_dict()
                game_copy.play(game_copy.moves()[0])
                expect(game.to_dict() == before and game_copy != game, "a move in a copy changes the original")


def a_game_replays_from_its_record(variant: Variant, seed: int) -> None:
    """Finished games and games in progress are replayed from their records; faulty records are refused."""
    (*_, finished) = random_game(variant, seed)
    for game in (finished, *positions(variant, seed)):
        line = game.record()
        replayed = Game.replay(line, game=variant.definition)
        expect(replayed == game and replayed.actions_played == game.actions_played, f"a record isn't replayed: {line}")
        expect(
            replayed.record() == line and replayed.first() == game.first(), f"a replayed record is another one: {line}"
        )
    record = json.loads(finished.record())
    for faulty_record in (
        {**record, "game": "no-such-game"},
        {**record, "rules_version": record["rules_version"] + 1},
        {**record, "components": "another box"},
        {**record, "moves": [*record["moves"], record["moves"][-1]]},
        {**record, "moves": ["?", *record["moves"]]},
        {**record, "scores": [score + 1 for score in record["scores"]]},
    ):
        message = refusal(
            RecordError, lambda text: Game.replay(text, game=variant.definition), json.dumps(faulty_record)
        )
        expect(
            message and message.isprintable(), f"a faulty record isn't refused in one line: {json.dumps(faulty_record)}"
        )


# --- secret choices -------------------------------------------------------------------------------------------------


def revealed_choices_stay_revealed(variant: Variant, seed: int) -> None:
    """A revealed choice stays revealed, `is_revealed` depends on nothing hidden, and players see all of their own
    choices."""
    games = [game.clone() for game in random_game(variant, seed)]
    for number, action in enumerate(games[-1].actions_played[:12]):
        before, after = games[number], games[number + 1 :]
        for viewer in range(variant.num_players):
            if viewer == before.player:
                visible_ids = [before.public_action(action, viewer) for action in before.legal_actions()]
                expect(
                    visible_ids == before.legal_actions(),
                    "`public_action` changes what a player sees of their own choice",
                )
            elif not before.is_seen(action, viewer):
                is_seen = [before.is_seen(action, viewer, later) for later in after]
                expect(
                    all(earlier <= subsequent for earlier, subsequent in pairwise(is_seen)),
                    "`is_revealed` takes something back",
                )
                is_seen_after_redeal = [before.is_seen(action, viewer, later.redeal(viewer, seed)) for later in after]
                expect(is_seen == is_seen_after_redeal, "`is_revealed` depends on what the player doesn't know")
                expect("last move" not in after[0].svg(viewer) or is_seen[0], "a picture shows a secret choice")


# --- environments ---------------------------------------------------------------------------------------------------


def tests_of_pettingzoo_pass(variant: Variant, seed: int) -> None:
    """The AEC environment passes PettingZoo's tests of the API and of seeds."""
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")  # about dictionary observations and how it loads its own game
        from pettingzoo.test import api_test, seed_test  # slow import

        def make() -> Any:
            return env(**_env_arguments(variant))

        api_test(make(), num_cycles=50)
        seed_test(make, num_cycles=50)


def tests_of_gymnasium_pass(variant: Variant, seed: int) -> None:
    """The Gymnasium environment passes Gymnasium's test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about an environment that isn't made by name
        from gymnasium.utils.env_checker import check_env  # slow import

        check_env(GameEnv(**_env_arguments(variant)), skip_render_check=True)


def environments_pay_the_same_rewards_as_batches(variant: Variant, seed: int) -> None:
    """The rewards of the AEC environment add up to those of a batch, in every reward mode."""
    for mode in reward_modes(variant.definition.score):
        environment = raw_env(**_env_arguments(variant, reward=mode))
        environment.reset(seed=seed)
        rng = np.random.default_rng(seed)
        rewards = dict.fromkeys(environment.possible_agents, 0.0)
        while not all(environment.terminations.values()):
            mask = environment.last()[0]["action_mask"]
            environment.step(int(rng.choice(np.flatnonzero(mask))))
            for agent, reward in environment.rewards.items():
                rewards[agent] += reward
        batch = variant.new_batch(1, reward=mode)
        batch.reset(seeds=seed)
        total = np.zeros(variant.num_players)
        for action in environment.game.actions_played:
            total += batch.step([action])[0][0]
        expect(batch.done, "a batch goes on where the environment has ended")
        expect(
            np.isclose([*rewards.values()], total, atol=1e-5),
            f"the AEC environment pays {rewards} in mode {mode}, a batch {total.tolist()}",
        )


def an_illegal_action_ends_an_environment(variant: Variant, seed: int) -> None:
    """An illegal action ends `env` for all players, with reward -1 for its player; `raw_env` raises an error."""
    environment = env(**_env_arguments(variant))
    environment.reset(seed=seed)
    agent, mask = environment.agent_selection, environment.last()[0]["action_mask"]
    illegal = len(mask) if mask.all() else int(mask.argmin())
    environment.step(illegal)
    expect(all(environment.terminations.values()), "an illegal action doesn't end the game")
    expect(
        environment.rewards == dict.fromkeys(environment.possible_agents, 0.0) | {agent: -1.0},
        "an illegal action costs 1",
    )
    raw_environment = raw_env(**_env_arguments(variant))
    raw_environment.reset(seed=seed)
    expect(refusal(IllegalMoveError, raw_environment.step, illegal), "raw_env plays an illegal action")
    expect(not any(raw_environment.terminations.values()), "an illegal action ends raw_env")


CHECKS: tuple[Check, ...] = (
    somebody_can_move_unless_the_game_is_over,
    rewards_follow_the_scores,
    a_move_earns_the_announced_points,
    perfect_information_horizon_is_right,
    each_legal_move_has_one_text,
    a_text_that_is_nearly_a_move_is_another_move_or_none,
    illegal_moves_are_refused,
    seed_and_start_player_determine_the_deal,
    a_batch_plays_the_games_of_its_seeds,
    a_deal_writes_every_field,
    a_position_stays_equal_when_written_and_read,
    a_position_with_hidden_parts_is_refused,
    faulty_positions_are_refused,
    copies_are_independent,
    a_game_replays_from_its_record,
    revealed_choices_stay_revealed,
    tests_of_pettingzoo_pass,
    tests_of_gymnasium_pass,
    environments_pay_the_same_rewards_as_batches,
    an_illegal_action_ends_an_environment,
)


def _similar_texts(text: str) -> set[str]:
    """Texts that look like a move: with other digits or letters, or with more or fewer of them."""
    places = [place for place, letter in enumerate(text) if letter.isdecimal()]
    digits = [text[:place] + other + text[place + 1 :] for place in places for other in "0379"]
    padded = [text[:place] + "0" + text[place:] for place in places]
    shorter = [text[:place] + text[place + 1 :] for place in range(len(text))]
    arabic = text.translate({ord("0") + digit: 0x660 + digit for digit in range(10)})
    return {*digits, *padded, *shorter, arabic, text.upper(), f"{text} ", f"{text}:0", f"{text}>{'9' * 5000}"} - {text}


def _env_arguments(variant: Variant, **more_arguments: Any) -> dict[str, Any]:
    return {"game": variant.definition, "rules": variant.rules, "num_players": variant.num_players, **more_arguments}


def _position_of(variant: Variant, state: Any) -> Any:
    return variant.definition.to_dict(state, variant.definition.standard, None)


def _is_installed(variant: Variant) -> bool:
    try:
        return variants_of(variant.game)[0].definition is variant.definition
    except ValueError:
        return False


def _expect_refused(variant: Variant, position: Any, what: str) -> str:
    """Fail unless a position is refused in a short line; return this line."""
    message = refusal(ValueError, variant.read, position)
    if message is None:
        fail(f"from_dict takes {what} for a position")
    expect(
        0 < len(message) < MOST_CHARACTERS and message.isprintable(),
        f"{what} isn't refused in a short line: {message!r}",
    )
    return message


def _expect_refused_or_read(variant: Variant, position: Any, what: str) -> None:
    """Fail unless a position is refused in a short line, or stays the same after writing and reading."""
    if refusal(ValueError, variant.read, position) is None:
        position_read = variant.read(position)
        expect(variant.read(position_read.to_dict()) == position_read, f"a position with {what} doesn't come back")
    else:
        _expect_refused(variant, position, f"a position with {what}")


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Any:
    """Yield the path of every value within plain data: the keys and indices that lead to it."""
    if path:
        yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from _paths(value, (*path, key))


def _with_value(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of plain data with another value at one path."""
    data = copy.deepcopy(data)
    container = data
    for key in path[:-1]:
        container = container[key]
    container[path[-1]] = value
    return data
