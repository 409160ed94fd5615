"""Every game as an environment meets the requirements of PettingZoo, Gymnasium and Stable-Baselines3."""

import importlib.metadata
import inspect
import pickle
import pydoc
import re
import subprocess
import sys

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

import artus_env
from artus_agents.simple import GreedyAgent
from artus_env import DEFAULT_GAME, Batch, Game, IllegalMoveError
from artus_env.engine.contract.registry import class_prefix, find_game
from artus_env.engine.contract.rng import next_seeds
from artus_env.environments import GameAEC, GameEnv, GameVectorEnv, env, raw_env
from artus_env.games.quest.components import PLACES, VIRTUES
from artus_env.registration import gymnasium_name, module_name, pettingzoo_name
from artus_env.testing.variants import variants_of
from every_game import games, largest, variants
from hoard import Components as Hoard

EPISODES = 3
SHORT = "hoard"
"""A game that may end before a seat has decided anything."""
DROPPING = Hoard(raises=0)
"""Components of `hoard` with which a player can only drop out: the start player does, and no other player decides."""


def arguments(variant, **more_arguments):
    return {"game": variant.game, "rules": variant.rules, "num_players": variant.num_players, **more_arguments}


def name_in_gymnasium(game):
    """Name of a game's environment for `gymnasium.make`."""
    return f"artus_env:{gymnasium_name(game)}"


def choose(masks, rng):
    """Draw a legal action uniformly for each row of masks; any action where the row is all zeros."""
    return (rng.random(masks.shape) * masks).argmax(axis=-1)


# --- PettingZoo ---


# api_test knows by name which environments have Dict observations, and warns of those of all others.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
@pytest.mark.parametrize("make", [env, raw_env], ids=["env", "raw_env"])
@largest
def test_it_is_a_pettingzoo_environment(make, variant):
    api_test(make(**arguments(variant)), num_cycles=100)
    seed_test(lambda: make(**arguments(variant)), num_cycles=100)
    check_state_space(make(**arguments(variant)))
    if make is env:  # it plays illegal actions
        check_state(make(**arguments(variant)), num_cycles=50)


@games
def test_it_is_registered(game):
    aec_env = pettingzoo.make("aec", pettingzoo_name(game))
    aec_env.reset(seed=1)
    assert aec_env.game == variants_of(game)[0].new_game(1)
    single = gymnasium.make(name_in_gymnasium(game))
    assert single.reset(seed=1)[1]["action_mask"].any()


@games
def test_its_environments_are_attributes_of_the_package(game):
    module = getattr(artus_env, f"{game.replace('-', '_')}_v0")
    assert module.raw_env(num_players=2).metadata["name"] == f"{game}_v0"
    first_env, second_env = module.env(reward="margin"), pickle.loads(pickle.dumps(module.env))(reward="margin")
    first_env.reset(seed=3)
    second_env.reset(seed=3)
    assert first_env.game == second_env.game
    assert first_env.game.definition.name == game
    with pytest.raises(AttributeError, match="no attribute 'nobodys_v0'"):
        artus_env.nobodys_v0  # noqa: B018


@games
def test_its_module_can_be_imported_and_tells_the_rules(game):
    """Language models need the rules: PettingZoo's agents read the docstring of the module that has the class."""
    name = f"{game.replace('-', '_')}_v0"
    code = f"from artus_env.{name} import env, raw_env; import artus_env.{name}; print(artus_env.{name}.__doc__)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    module = importlib.import_module(f"artus_env.{name}")
    assert process.stdout == f"{module.__doc__}\n"
    assert getattr(artus_env, name) is module
    assert name in dir(artus_env)
    for environment in (module.env(), module.raw_env(), pettingzoo.make("aec", pettingzoo_name(game))):
        assert environment.definition.name == game
        assert inspect.getmodule(environment.unwrapped) is module
    definition = find_game(game)
    for fact in (
        f"{definition.min_players} ",
        f" {definition.max_players} players",
        "win" if game != "hoard" else "bid",
    ):
        assert fact in module.__doc__


SECTIONS = ("Description", "Action Space", "Observation Space", "Rewards", "Starting State", "Episode End", "Arguments",
            "Version History")  # fmt: skip


@games
def test_its_classes_describe_it_in_the_form_of_gymnasium(game):
    """Their docstrings have the numbers of this game, and the module's `help` shows them."""
    definition, module = find_game(game), importlib.import_module(f"artus_env.{module_name(game)}")
    prefix = class_prefix(game)
    for name in ("AEC", "Env", "VectorEnv"):
        described_class = getattr(module, f"{prefix}{name}")
        assert tuple(re.findall("^## (.*)", described_class.__doc__, re.MULTILINE)) == SECTIONS
        assert pickle.loads(pickle.dumps(described_class)) is described_class
        for fact in (
            definition.title,
            f"{definition.min_players} to {definition.max_players} players",
            str(len(definition.action_table(definition.standard))),
            str(len(definition.observation_bounds(definition.standard)[0])),
        ):
            assert fact in described_class.__doc__
        if name != "VectorEnv":
            assert " ".join(definition.description.split()) in " ".join(described_class.__doc__.split())
            assert f'`"{definition.score}"`' in described_class.__doc__
            assert all(f'`"{rules}"`' in described_class.__doc__ for rules in definition.rules)
    page = pydoc.plain(pydoc.render_doc(module))
    assert f"class {prefix}Env(" in page
    assert "## Episode End" in page
    vector = gymnasium.make_vec(name_in_gymnasium(game), 2)
    assert type(gymnasium.make(name_in_gymnasium(game)).unwrapped) is getattr(module, f"{prefix}Env")
    assert type(vector) is getattr(module, f"{prefix}VectorEnv")


def test_one_class_plays_any_game():
    """Without a name, `Game`, `Batch` and all environments play the default game."""
    made = Game(seed=1), Batch(1, seed=1), GameAEC(), GameEnv().games.batch, GameVectorEnv(1).games.batch
    assert {thing.definition.name for thing in made} == {DEFAULT_GAME}
    royal = find_game("royal")
    made = Game(game="royal"), Batch(1, game=royal), GameAEC(game=royal), artus_env.royal_v0.RoyalAEC()
    seats = GameEnv(game="royal"), GameVectorEnv(1, game=royal), artus_env.royal_v0.RoyalEnv()
    assert all(thing.definition is royal for thing in (*made, *(seat.games.batch for seat in seats)))


def test_the_rules_that_modules_tell_are_those_of_the_boxes():
    """The modules' docstrings have the names of cards and the numbers of the standard boxes."""
    box = find_game("artus").standard
    rules_text = " ".join(artus_env.artus_v0.__doc__.split())
    for card in box.cards:
        assert f"`{card.name}`" in rules_text
        if card.penalty:
            assert f"`{card.name}`" in (clause := rules_text[: rules_text.index(f" else {card.penalty}.")])
            assert clause.rindex(f"`{card.name}`") == max(
                clause.rindex(f"`{c.name}`") for c in box.cards if f"`{c.name}`" in clause
            )
    values = [box.wheel[behind] for behind in range(1, 28)]
    assert values == [10, 8, 7, 6, 5, 4, 3, 2, 1, *range(-1, -16, -1), 0, 0, 0]
    assert "10 directly behind, then 8 7 6 5 4 3 2 1, then -1 and so on down to -15; the last three seats" in rules_text
    assert f"seats {', '.join(map(str, box.carpet[:-1]))} and {box.carpet[-1]}" in rules_text

    box = find_game("royal").standard
    rules_text = " ".join(artus_env.royal_v0.__doc__.split())
    assert f"({', '.join(box.suits)}), each from 1 to {box.values}" in rules_text
    assert f"first pawn on field {box.fields} wins" in rules_text
    assert f"fields {', '.join(map(str, box.swords[:-1]))} and {box.swords[-1]} carry a sword" in rules_text
    assert (box.knights, box.shields, box.hand) == (3, 3, 8)
    assert "three knights and three shields. Each player is dealt eight cards" in rules_text

    box = find_game("quest").standard
    rules_text = " ".join(artus_env.quest_v0.__doc__.split())
    two, three, four = box.goals
    assert f"({two} points with two players, {three} with three, {four} with four)" in rules_text
    for word in (*PLACES, *VIRTUES):
        assert re.search(rf"\b{word}\b", rules_text.lower())


def test_the_package_names_its_version_and_its_games():
    assert artus_env.__version__ == importlib.metadata.version("artus-env")
    assert {"__version__", "Game", "artus_v0", "royal_v0", "quest_v0", "magpies_v0"} <= set(dir(artus_env))


@largest
def test_an_illegal_action_ends_the_game_for_all(variant):
    aec_env = env(**arguments(variant))
    aec_env.reset(seed=1)
    agent, mask = aec_env.agent_selection, aec_env.last()[0]["action_mask"]
    illegal = len(mask) if mask.all() else int(mask.argmin())
    aec_env.step(illegal)
    assert all(aec_env.terminations.values())
    assert aec_env.rewards == dict.fromkeys(aec_env.possible_agents, 0.0) | {agent: -1.0}
    assert aec_env.infos[agent]["illegal_action"] == illegal
    assert isinstance(aec_env.infos[agent]["illegal_action"], np.int64)
    raw_aec_env = raw_env(**arguments(variant))
    raw_aec_env.reset(seed=1)
    with pytest.raises(IllegalMoveError):
        raw_aec_env.step(illegal)
    assert not any(raw_aec_env.terminations.values())


# --- Gymnasium ---


@pytest.fixture
def seat_env(variant):
    return GameEnv(**arguments(variant))


@largest
def test_it_is_a_gymnasium_environment(seat_env, variant):
    from stable_baselines3.common.env_checker import check_env as sb3_check_env

    registered_env = gymnasium.make(name_in_gymnasium(variant.game), num_players=variant.num_players).unwrapped
    check_env(registered_env)
    sb3_check_env(registered_env)
    assert registered_env.observation_space == seat_env.observation_space


@largest
def test_what_infos_hold_are_numpy_values(seat_env, variant):
    """Learners that make tensors of infos need this, such as TorchRL's `auto_register_info_dict`."""
    infos = [seat_env.reset(seed=0)[1], seat_env.step(int(seat_env.action_masks().argmax()))[-1]]
    seat_env.reset(seed=0)
    infos.append(seat_env.step(-1)[-1])
    assert [set(info) - {"illegal_action"} for info in infos] == [{"action_mask", "seat", "skipped_games"}] * 3
    for value in (value for info in infos for value in info.values()):
        assert isinstance(value, (np.ndarray, np.integer))
        assert value.dtype in (np.int8, np.int64)
    assert infos[2]["illegal_action"] == -1


@variants
def test_the_seat_only_meets_its_own_decisions(seat_env, variant):
    rng = np.random.default_rng(0)
    for episode in range(EPISODES):
        observation, info = seat_env.reset(seed=episode)
        seat, skipped, terminated, total = info["seat"], info["skipped_games"], False, 0.0
        while not terminated:
            batch = seat_env.games.batch
            assert batch.player[0] == seat
            assert (observation == batch.observe(seat)[0]).all()
            observation, reward, terminated, _, info = seat_env.step(choose(info["action_mask"], rng))
            total += reward
        assert not info["action_mask"].any()
        assert (observation == batch.observe(seat)[0]).all()
        assert abs(total) <= 1 + skipped


MODES = ["NextStep", "SameStep", "Disabled"]


@pytest.mark.parametrize("most_steps", [None, 5])
@pytest.mark.parametrize("mode", MODES)
@largest
def test_the_vector_environment_does_what_a_loop_over_single_ones_does(mode, most_steps, variant):
    name = name_in_gymnasium(variant.game)
    options = {"rules": variant.rules, "num_players": variant.num_players, "max_episode_steps": most_steps}
    native = gymnasium.make_vec(name, 3, autoreset_mode=mode, **options)
    loop = gymnasium.make_vec(name, 3, "sync", vector_kwargs={"autoreset_mode": mode}, **options)
    assert isinstance(native, GameVectorEnv)
    rng, result, ends, cut = np.random.default_rng(0), native.reset(seed=7), 0, 0
    assert data_equivalence(result, loop.reset(seed=7), exact=True)
    info = result[1]
    for step in range(60):
        actions = choose(info["action_mask"], rng)
        if step % 20 == 10:
            actions[step % 3] = -1  # illegal
        result, expected = native.step(actions), loop.step(actions)
        ended, info = result[2] | result[3], result[4]
        if mode == "NextStep":  # one of two differences: nothing can be drawn from an empty mask
            expected[4]["action_mask"][ended] = 1
        assert data_equivalence(result, expected, exact=True)
        ends, cut = ends + ended.sum(), cut + result[3].sum()
        if mode == "Disabled" and ended.any():
            observation, info = native.reset(options={"reset_mask": ended})
            expected_observation, expected_info = loop.reset(options={"reset_mask": ended})
            assert (observation == expected_observation).all()
            # The other difference: games that go on have an info as well.
            assert (info["action_mask"] == loop.call("action_masks")).all()
            for key in ("action_mask", "seat", "skipped_games"):
                assert (info[key][ended] == expected_info[key][ended]).all()
                assert info[f"_{key}"].all()
            assert not info["skipped_games"][~ended].any()
    assert ends > 2
    assert (cut > 0) == (most_steps is not None)


@pytest.mark.parametrize("opponents", ["random", "greedy", lambda observation, mask: int(mask.argmax())])
@pytest.mark.parametrize("mode", MODES)
def test_games_that_end_before_the_seat_has_moved_are_skipped(mode, opponents):
    """Opponents can end a game before the seat's first decision; then the next deal follows."""
    variant = variants_of(SHORT)[0]
    options = {"game": SHORT, "num_players": variant.num_players, "reward": "points", "opponents": opponents}
    envs = GameVectorEnv(8, autoreset_mode=mode, **options)
    single_env = GameEnv(**options)
    observation, info = envs.reset(seed=3)
    skipped = info["skipped_games"].sum()
    for game in range(8):
        single_observation, single_info = single_env.reset(seed=3 + game)
        assert (single_observation == observation[game]).all()
        assert single_info["skipped_games"] == info["skipped_games"][game]
    for _ in range(100):
        mask = info["action_mask"]
        assert mask.any(axis=1).all()
        *_, ended, _, info = envs.step(mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1))
        if mode == "Disabled" and ended.any():
            assert not info["skipped_games"].any()
            _, info = envs.reset(options={"reset_mask": ended})
        if mode == "SameStep" and ended.any():
            assert not info["final_info"]["skipped_games"].any()
        skipped += info["skipped_games"].sum()
        assert info["skipped_games"].dtype == np.int64
    assert skipped > 5


def test_what_skipped_games_pay_is_paid_with_the_first_step():
    """The start player drops out at once and leaves the hoard to the seat. The skipped games are played here again, and
    their rewards are added up."""
    total_skipped = 0
    for seed in range(200):
        seat_env = GameEnv(game=SHORT, seat=1, opponents=always(0), reward="points")
        _, info = seat_env.reset(seed=seed)
        reward_of_skipped, deal_seed, skipped = 0.0, np.array([seed], np.uint64), 0
        while (game := Game(game=SHORT, seed=int(deal_seed[0]))).player == 0:
            game.play(0)
            assert game.over
            reward_of_skipped, deal_seed, skipped = (
                reward_of_skipped + game.scores[1],
                next_seeds(deal_seed),
                skipped + 1,
            )
        assert info["skipped_games"] == skipped
        assert isinstance(info["skipped_games"], np.int64)
        for action, own_points in ((0, -sum(game.to_dict()["parts"])), (-1, None)):
            _, info_again = seat_env.reset(seed=seed)
            assert info_again["skipped_games"] == skipped
            _, reward, ended, _, info = seat_env.step(action)
            assert ended
            assert reward == reward_of_skipped + (own_points if own_points is not None else -1)
            assert info["skipped_games"] == 0
        total_skipped += skipped
    assert total_skipped > 50


def always(action):
    """An agent that always plays the same action."""
    return lambda observation, mask: action


def test_a_seat_that_never_decides_is_an_error_and_no_endless_loop():
    message = "hoard: seat 1 has had no decision in 1000 games in a row"
    for opponents in ("random", always(0)):
        options = {"game": SHORT, "seat": 1, "opponents": opponents, "components": DROPPING}
        single = GameEnv(**options)
        with pytest.raises(RuntimeError, match=message):
            single.reset(seed=1, options={"start_player": 0})
        with pytest.raises(ResetNeeded):
            single.step(0)
        assert single.reset(seed=1, options={"start_player": 1})[1]["action_mask"].any()
        with pytest.raises(RuntimeError, match=message):
            GameVectorEnv(3, **options).reset(seed=1, options={"start_player": 0})


def test_a_position_that_ends_before_the_seat_has_moved_is_refused():
    position = Game(game=SHORT, seed=1, start_player=0).to_dict()
    with pytest.raises(ValueError, match="position: the game ends before the seat has a decision"):
        GameEnv(game=SHORT, seat=1, opponents=always(0)).reset(options={"position": position})


@pytest.mark.slow
@largest
def test_sb3_contrib_learns_by_the_masks(seat_env, variant):
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks
    from stable_baselines3.common.monitor import Monitor

    illegal_infos = []
    monitored = Monitor(seat_env)
    model = MaskablePPO("MlpPolicy", monitored, n_steps=128, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(
        256,
        callback=lambda state, _: (
            illegal_infos.extend(info for info in state["infos"] if "illegal_action" in info) or True
        ),
    )
    assert monitored.get_episode_lengths()
    assert not illegal_infos
    observation, _ = monitored.reset(seed=0)
    masks = get_action_masks(monitored)
    assert masks[model.predict(observation, action_masks=masks)[0]]


# --- looking ---


@largest
def test_every_way_of_rendering_shows_the_table(variant):
    made = env(**arguments(variant, render_mode="ansi"))
    made.reset(seed=1)
    assert made.render() == made.game.render()
    frames = env(**arguments(variant, render_mode="rgb_array"))
    frames.reset(seed=1)
    first = frames.render()
    assert first.dtype == np.uint8
    assert first.shape[2] == 3
    assert first.std() > 0
    vector = GameVectorEnv(2, **arguments(variant, render_mode="rgb_array"))
    vector.reset(seed=1)
    assert len(vector.render()) == 2
    single = GameEnv(**arguments(variant, render_mode="ansi", seat=0))
    single.reset(seed=1)
    assert single.render() == single.games.text(0)


class GreedyInPython(GreedyAgent):
    """Chooses as `greedy` does, but not in compiled code, because an inherited `chooser` doesn't count."""


@pytest.mark.slow
@largest
def test_who_watches_an_environment_changes_nothing(variant):
    """With the same seeds and actions everything is the same with and without rendering, and pictures show opponents'
    moves whether or not compiled code played them."""
    watched, unwatched, python_opponents = (
        GameEnv(**arguments(variant, opponents=opponents, render_mode=mode))
        for opponents, mode in (("greedy", "rgb_array"), ("greedy", None), (GreedyInPython(), "rgb_array"))
    )
    rng, has_ended = np.random.default_rng(1), True
    for step in range(60):
        if has_ended:
            results = [environment.reset(seed=step) for environment in (watched, unwatched, python_opponents)]
            has_ended = False
        else:
            action = int(choose(unwatched.action_masks(), rng)) if step % 20 else -1
            results = [environment.step(action) for environment in (watched, unwatched, python_opponents)]
            has_ended = results[0][2]
        for environment, result in zip((unwatched, python_opponents), results[1:], strict=True):
            assert data_equivalence(results[0], result, exact=True)
            assert environment.games.batch.states.tobytes() == watched.games.batch.states.tobytes()
            assert environment.games.batch.legal_bits.tobytes() == watched.games.batch.legal_bits.tobytes()
        assert watched.games.svg(0) == python_opponents.games.svg(0)
