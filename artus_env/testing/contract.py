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
LINE = 400
"""Maximum length of an error message, in characters."""
OTHERS: tuple[Any, ...] = (
    None, True, 1.5, -1, 10**30, "", "\u202e\x1b[31m\n", [], [[]], {}, {"x": 1}, "x" * 100_000, [0] * 1000,
)  # fmt: skip
"""Values of many types, put into any place of a position."""
PLACES = 40
"""Maximum number of places of a position that are changed."""

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
            seen = batch.observe(player)
            outside = np.argwhere((seen < low) | (seen > high))
            if len(outside):
                i, feature = outside[0]
                fail(
                    f"feature {feature} of an observation is {seen[i, feature]}, its bounds are {low[feature]} and "
                    f"{high[feature]}: {json.dumps(_position(variant, batch.states[i]))}"
                )
            mine = batch.player == player
            expect(seen[mine] == batch.observation[mine], "what a player sees when they are to move differs")
        if batch.done.all():
            break
        batch.step(batch.sample())
    expect(batch.done.all(), f"no end after {MANY} moves")
    expect(batch.final_scores == batch.scores, "final scores aren't those of the state")


def rewards_are_what_the_scores_say(variant: Variant, seed: int) -> None:
    """All reward modes are zero-sum, rewards for each move add up to the margin, and `win` follows `ranking_key`."""
    score, players = variant.definition.score, variant.num_players
    ends = {}
    for mode in reward_modes(score):
        batch = variant.new_batch(GAMES, reward=mode, seed=seed)
        total = np.zeros((GAMES, players))
        while not batch.done.all():
            running = ~batch.done
            reward, done = batch.step(batch.sample())
            expect(np.abs(reward.sum(axis=1)).max() < 1e-4, f"rewards of mode {mode} don't add up to 0")
            expect(mode == score or not reward[~done].any(), f"mode {mode} pays before the end")
            total[running] += reward[running]
        ends[mode] = total
    t, scores = batch.tables[0], batch.final_scores.astype(float)
    scale = float(verbs.margin_scale(t, batch.states[0]))
    margin = (scores - (scores.sum(axis=1, keepdims=True) - scores) / (players - 1)) / scale
    expect(np.isclose(ends["margin"], margin, atol=1e-4), "mode margin doesn't pay the lead in score")
    expect(np.isclose(ends[score], margin, atol=1e-3), "points move by move don't add up to the lead in score")
    keys = np.array([[int(verbs.ranking_key(t, g, player)) for player in range(players)] for g in batch.states])
    won = keys == keys.max(axis=1, keepdims=True)
    winners = won.sum(axis=1, keepdims=True)
    expected = np.where(won, (players - winners) / (winners * (players - 1)), -1 / (players - 1))
    expect(np.isclose(ends["win"], expected, atol=1e-6), "mode win doesn't go by `ranking_key`")
    expect(batch.final_outcomes == keys, "what ranked the players isn't `ranking_key`")


def a_move_brings_what_was_said_of_it(variant: Variant, seed: int) -> None:
    """`play` returns the points that it adds to its player's score; `points_of` gives the same number or 0."""
    for game in positions(variant, seed):
        batch = variant.new_batch(1)
        batch.states[:] = game.state
        batch.refresh()
        known = batch.points()[0]
        for action in game.legal_actions():
            after = game.clone()
            points = after.play(action)
            move = f"{game.move(action)} in {json.dumps(game.to_dict())}"
            expect(known[action] in (0, points), f"`points_of` says {known[action]}, `play` brings {points}: {move}")
            gained = after.scores[game.player] - game.scores[game.player]
            expect(gained == points, f"`play` returns {points}, the score grows by {gained}: {move}")
            expect(after.actions_played == (*game.actions_played, action), f"the past doesn't end with {move}")


def the_end_comes_as_announced(variant: Variant, seed: int) -> None:
    """Once `perfect_information_horizon` gives a number, nothing is hidden, `points_of` is exact, and the game ends
    within that number of decisions."""
    last = -1
    for game in random_game(variant, seed):
        if game.over:
            break
        batch = variant.new_batch(1)
        batch.states[:] = game.state
        tables, state = batch.tables[0], batch.states[0]
        left = int(verbs.perfect_information_horizon(tables, state))
        expect(left > 0 or left == -1, f"perfect_information_horizon is {left}")
        expect(last == -1 or 0 < left < last, f"perfect_information_horizon was {last}, and is {left} a decision later")
        last = left
        if left < 0:
            continue
        for viewer in range(variant.num_players):
            expect(game.redeal(viewer, seed) == game, f"something is hidden {left} decisions before the end")
            known = batch.states.copy()
            verbs.hide(tables, known[0], viewer)
            horizon = int(verbs.perfect_information_horizon(tables, known[0]))
            expect(
                horizon == left, f"perfect_information_horizon is {horizon} for player {viewer}, who can't know more"
            )
        for action in game.legal_actions()[:5]:
            then = game.clone()
            then.play(action)
            gained = then.scores[game.player] - game.scores[game.player]
            points = verbs.points_of(tables, state, action)
            expect(gained == points, f"`points_of` says {points}, the score grows by {gained}: {game.move(action)}")


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
        for text in {other for move in [*moves][::10] for other in _nearly(move)}:
            if text in moves:
                expect(game.action(text) == moves[text], f"{text!r} is read as {game.action(text)}")
            else:
                message = refusal(IllegalMoveError, game.action, text)
                expect(message and "\n" not in message, f"{text[:LINE]!r} isn't refused in one line")


def what_is_illegal_is_refused(variant: Variant, seed: int) -> None:
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


def the_seed_and_the_start_player_say_how_a_game_begins(variant: Variant, seed: int) -> None:
    """Equal seeds give equal deals, `start_player` changes only who starts, and without it each player starts in some
    deals."""
    players = range(variant.num_players)
    expect(variant.new_game(seed) == variant.new_game(seed), "one seed deals two games")
    expect(variant.new_game(seed) != variant.new_game(seed + 1), f"seeds {seed} and {seed + 1} deal one game")
    started = [variant.new_game(seed, player) for player in players]
    expect({game.player for game in started} == set(players), "the start player doesn't say who moves first")
    expect(variant.new_game(seed) in started, "the start player changes more than who starts")
    seeds = range(seed, seed + 60)
    expect({variant.new_game(number).player for number in seeds} == set(players), "somebody never starts")


def a_batch_plays_the_games_of_its_seeds(variant: Variant, seed: int) -> None:
    """A batch plays the same games as `Game` with the same seeds, including the later deals of autoreset."""
    batch = variant.new_batch(5, autoreset=True, seed=seed)
    singles = [variant.new_game(int(number)) for number in batch.seeds]
    for _ in range(40):
        actions = batch.sample()
        for number, game in enumerate(singles):
            expect(batch.mask[number] == game.mask(), "masks of batch and game differ")
            expect(batch.observation[number] == game.observation(), "observations of batch and game differ")
            game.play(int(actions[number]))
        _, done = batch.step(actions)
        for number in np.flatnonzero(done).tolist():
            expect(batch.final_scores[number].tolist() == singles[number].scores, "scores of batch and game differ")
            singles[number] = variant.new_game(int(batch.seeds[number]))


def a_deal_writes_every_field(variant: Variant, seed: int) -> None:
    """A deal leaves nothing of the previous game in the state, not even in empty seats."""
    batch = variant.new_batch(4, seed=seed)
    fresh = batch.states.copy()
    while not batch.done.all():
        batch.step(batch.sample())
    batch.reset(seeds=batch.seeds.copy())
    names = [name for name in fresh.dtype.names or () if fresh[name].tobytes() != batch.states[name].tobytes()]
    expect(not names, f"`deal` leaves something of the last game in {', '.join(names)}")


# --- positions, copies, records --------------------------------------------------------------------------------------


def a_position_comes_back_as_it_was_written(variant: Variant, seed: int) -> None:
    """A position is JSON data, and the game read from it is equal and looks the same to every player."""
    for game in positions(variant, seed):
        written = game.to_dict()
        expect(json.loads(json.dumps(written)) == written, f"a position is no plain data: {written}")
        again = variant.read(written)
        expect(
            again == game and again.to_dict() == written, f"a position is read as another one: {json.dumps(written)}"
        )
        expect(again.moves() == game.moves(), f"a position is read with other legal moves: {json.dumps(written)}")
        one, other = ((g.over, g.player, g.scores) for g in (again, game))
        expect(one == other, f"a position is read with another player, score or end: {json.dumps(written)}")
        for player in range(variant.num_players):
            expect(again.observation(player) == game.observation(player), "a position is read with other observations")


def what_a_player_knows_is_no_position(variant: Variant, seed: int) -> None:
    """A position as one player knows it is refused if something is hidden from them."""
    game = positions(variant, seed)[0]
    for viewer in range(variant.num_players):
        if game.redeal(viewer, seed) != game:
            _is_refused(variant, game.to_dict(viewer), f"what player {viewer} knows, which isn't all,")


def faulty_positions_are_refused(variant: Variant, seed: int) -> None:
    """Missing and unknown keys are refused by name. A changed value is refused in a short line, or gives a position
    that is the same after writing and reading."""
    faulty: tuple[Any, ...] = (None, 1, "position", [], [{}], True)
    for value in faulty:
        _is_refused(variant, value, repr(value))
    for game in (positions(variant, seed)[2], positions(variant, seed)[-1]):
        position = game.to_dict()
        for key in position:
            if key != "game":  # older positions of the default game lack it
                message = _is_refused(variant, {k: v for k, v in position.items() if k != key}, f"one without {key}")
                expect(key in message, f"a position without {key} is refused without naming it: {message}")
        expect("hat" in _is_refused(variant, {**position, "hat": 1}, "one with a hat"), "an unknown key isn't named")
        places = list(_places(position))
        for path in places[:: 1 + len(places) // PLACES]:
            where = position
            for key in path:
                where = where[key]
            others: list[Any] = [*OTHERS]
            if isinstance(where, list):
                others += [where[:-1], where + where[-1:], where[::-1]]
            elif type(where) is int:
                others += [where + 1, where - 1]
            for other in others:
                _is_refused_or_read(variant, _replaced(position, path, other), f"{other!r:.50} at {list(path)}")


def copies_go_their_own_way(variant: Variant, seed: int) -> None:
    """Clones, copies, deep copies and pickles keep the past and the box, and are independent of the original."""
    for game in positions(variant, seed)[1:4]:
        made = [game.clone(), copy.copy(game), copy.deepcopy(game)]
        if _is_installed(variant):  # pickle stores only the game's name
            made.append(pickle.loads(pickle.dumps(game)))
        for other in made:
            expect(other == game and other.actions_played == game.actions_played, "a copy is another game")
            if not other.over:
                before = game.to_dict()
                other.play(other.moves()[0])
                expect(game.to_dict() == before and other != game, "a move in a copy changes the original")


def a_game_replays_from_its_record(variant: Variant, seed: int) -> None:
    """Finished games and games in progress are replayed from their records; faulty records are refused."""
    (*_, finished) = random_game(variant, seed)
    for game in (finished, *positions(variant, seed)):
        line = game.record()
        again = Game.replay(line, game=variant.definition)
        expect(again == game and again.actions_played == game.actions_played, f"a record isn't replayed: {line}")
        expect(again.record() == line and again.first() == game.first(), f"a replayed record is another one: {line}")
    record = json.loads(finished.record())
    for changed in (
        {**record, "game": "no-such-game"},
        {**record, "rules_version": record["rules_version"] + 1},
        {**record, "components": "another box"},
        {**record, "moves": [*record["moves"], record["moves"][-1]]},
        {**record, "moves": ["?", *record["moves"]]},
        {**record, "scores": [score + 1 for score in record["scores"]]},
    ):
        message = refusal(RecordError, lambda text: Game.replay(text, game=variant.definition), json.dumps(changed))
        expect(message and message.isprintable(), f"a faulty record isn't refused in one line: {json.dumps(changed)}")


# --- secret choices -------------------------------------------------------------------------------------------------


def secrets_that_were_opened_stay_open(variant: Variant, seed: int) -> None:
    """A revealed choice stays revealed, `is_revealed` depends on nothing hidden, and players see all of their own
    choices."""
    course = [game.clone() for game in random_game(variant, seed)]
    for number, action in enumerate(course[-1].actions_played[:12]):
        before, after = course[number], course[number + 1 :]
        for viewer in range(variant.num_players):
            if viewer == before.player:
                own = [before.public_action(action, viewer) for action in before.legal_actions()]
                expect(own == before.legal_actions(), "`public_action` changes what a player sees of their own choice")
            elif not before.is_seen(action, viewer):
                revealed = [before.is_seen(action, viewer, now) for now in after]
                expect(all(one <= other for one, other in pairwise(revealed)), "`is_revealed` takes something back")
                again = [before.is_seen(action, viewer, now.redeal(viewer, seed)) for now in after]
                expect(revealed == again, "`is_revealed` depends on what the player doesn't know")
                expect("last move" not in after[0].svg(viewer) or revealed[0], "a picture shows a secret choice")


# --- environments ---------------------------------------------------------------------------------------------------


def pettingzoo_takes_it(variant: Variant, seed: int) -> None:
    """The AEC environment passes PettingZoo's tests of the API and of seeds."""
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")  # about dictionary observations and how it loads its own game
        from pettingzoo.test import api_test, seed_test  # slow import

        def make() -> Any:
            return env(**_arguments(variant))

        api_test(make(), num_cycles=50)
        seed_test(make, num_cycles=50)


def gymnasium_takes_it(variant: Variant, seed: int) -> None:
    """The Gymnasium environment passes Gymnasium's test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about an environment that isn't made by name
        from gymnasium.utils.env_checker import check_env  # slow import

        check_env(GameEnv(**_arguments(variant)), skip_render_check=True)


def environments_pay_what_batches_pay(variant: Variant, seed: int) -> None:
    """The rewards of the AEC environment add up to those of a batch, in every reward mode."""
    for mode in reward_modes(variant.definition.score):
        made = raw_env(**_arguments(variant, reward=mode))
        made.reset(seed=seed)
        choices = np.random.default_rng(seed)
        paid = dict.fromkeys(made.possible_agents, 0.0)
        while not all(made.terminations.values()):
            mask = made.last()[0]["action_mask"]
            made.step(int(choices.choice(np.flatnonzero(mask))))
            for agent, reward in made.rewards.items():
                paid[agent] += reward
        batch = variant.new_batch(1, reward=mode)
        batch.reset(seeds=seed)
        total = np.zeros(variant.num_players)
        for action in made.game.actions_played:
            total += batch.step([action])[0][0]
        expect(batch.done, "a batch goes on where the environment has ended")
        expect(np.isclose([*paid.values()], total, atol=1e-5), f"the AEC environment pays {paid} in mode {mode}, a "
               f"batch {total.tolist()}")  # fmt: skip


def an_illegal_action_ends_an_environment(variant: Variant, seed: int) -> None:
    """An illegal action ends `env` for all players, with reward -1 for its player; `raw_env` raises an error."""
    made = env(**_arguments(variant))
    made.reset(seed=seed)
    agent, mask = made.agent_selection, made.last()[0]["action_mask"]
    illegal = len(mask) if mask.all() else int(mask.argmin())
    made.step(illegal)
    expect(all(made.terminations.values()), "an illegal action doesn't end the game")
    expect(made.rewards == dict.fromkeys(made.possible_agents, 0.0) | {agent: -1.0}, "an illegal action costs 1")
    raw = raw_env(**_arguments(variant))
    raw.reset(seed=seed)
    expect(refusal(IllegalMoveError, raw.step, illegal), "raw_env plays an illegal action")
    expect(not any(raw.terminations.values()), "an illegal action ends raw_env")


CHECKS: tuple[Check, ...] = (
    somebody_can_move_unless_the_game_is_over,
    rewards_are_what_the_scores_say,
    a_move_brings_what_was_said_of_it,
    the_end_comes_as_announced,
    each_legal_move_has_one_text,
    a_text_that_is_nearly_a_move_is_another_move_or_none,
    what_is_illegal_is_refused,
    the_seed_and_the_start_player_say_how_a_game_begins,
    a_batch_plays_the_games_of_its_seeds,
    a_deal_writes_every_field,
    a_position_comes_back_as_it_was_written,
    what_a_player_knows_is_no_position,
    faulty_positions_are_refused,
    copies_go_their_own_way,
    a_game_replays_from_its_record,
    secrets_that_were_opened_stay_open,
    pettingzoo_takes_it,
    gymnasium_takes_it,
    environments_pay_what_batches_pay,
    an_illegal_action_ends_an_environment,
)


def _nearly(text: str) -> set[str]:
    """Texts that look like a move: other digits, other letters, more or less of them."""
    places = [place for place, letter in enumerate(text) if letter.isdecimal()]
    digits = [text[:place] + other + text[place + 1 :] for place in places for other in "0379"]
    padded = [text[:place] + "0" + text[place:] for place in places]
    shorter = [text[:place] + text[place + 1 :] for place in range(len(text))]
    arabic = text.translate({ord("0") + digit: 0x660 + digit for digit in range(10)})
    return {*digits, *padded, *shorter, arabic, text.upper(), f"{text} ", f"{text}:0", f"{text}>{'9' * 5000}"} - {text}


def _arguments(variant: Variant, **others: Any) -> dict[str, Any]:
    return {"game": variant.definition, "rules": variant.rules, "num_players": variant.num_players, **others}


def _position(variant: Variant, state: Any) -> Any:
    return variant.definition.to_dict(state, variant.definition.standard, None)


def _is_installed(variant: Variant) -> bool:
    try:
        return variants_of(variant.game)[0].definition is variant.definition
    except ValueError:
        return False


def _is_refused(variant: Variant, position: Any, what: str) -> str:
    """Fail unless a position is refused in a short line; return this line."""
    message = refusal(ValueError, variant.read, position)
    if message is None:
        fail(f"from_dict takes {what} for a position")
    expect(0 < len(message) < LINE and message.isprintable(), f"{what} isn't refused in a short line: {message!r}")
    return message


def _is_refused_or_read(variant: Variant, position: Any, what: str) -> None:
    """Fail unless a position is refused in a short line, or stays the same after writing and reading."""
    if refusal(ValueError, variant.read, position) is None:
        again = variant.read(position)
        expect(variant.read(again.to_dict()) == again, f"a position with {what} doesn't come back")
    else:
        _is_refused(variant, position, f"a position with {what}")


def _places(data: Any, path: tuple[Any, ...] = ()) -> Any:
    """The path of every value within plain data."""
    if path:
        yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from _places(value, (*path, key))


def _replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value in one place."""
    data = copy.deepcopy(data)
    where = data
    for key in path[:-1]:
        where = where[key]
    where[path[-1]] = value
    return data
