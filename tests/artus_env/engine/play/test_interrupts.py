"""An interrupt (Ctrl-C, a notebook's stop button) leaves every game as it was before a step, or as it is after it.

Python runs a signal's handler between two bytecodes. So these tests raise KeyboardInterrupt before each bytecode of a
step in turn, and look at the game then. That is also in places where Python never looks for a signal, such as between
two assignments. Compiled code is one place: only in Python could it be interrupted half-way.
"""

import copy
import importlib
import signal
import sys
from types import ModuleType, SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from artus_env import Batch, Game
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.play import kernels
from artus_env.environments import env, raw_env

pytestmark = pytest.mark.skipif(DISABLED, reason="the rules run as Python, which an interrupt may divide")
SEED = 3


class Interrupt(BaseException):
    """Raised in place of KeyboardInterrupt, which would end all tests if it got out of one."""


def count_bytecodes(step, folders):
    """Number of bytecodes of a step, before each of which an interrupt may come."""
    return _run(step, folders, None)


def is_interrupted(step, folders, place):
    """Whether a step was interrupted before its bytecode number `place`."""
    try:
        _run(step, folders, place)
    except Interrupt:
        return True
    return False


def _run(step, folders, place):
    """Run a step and count the bytecodes of the project's own files (`folders` are parts of their paths)."""
    num_passed = 0

    def trace(frame, event, _):
        nonlocal num_passed
        if event == "call":
            if not any(folder in frame.f_code.co_filename for folder in folders):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            if num_passed == place:
                raise Interrupt
            num_passed += 1
        return trace

    previous_trace = sys.gettrace()
    sys.settrace(trace)
    try:
        step()
    finally:
        sys.settrace(previous_trace)
    return num_passed


FOLDERS = ("artus_env/", "artus_training/", "pettingzoo/")


def check_all_or_nothing(make, step, look, every=1):
    """Interrupt a step at each place.

    Args:
        make: Makes the object before the step, the same each time.
        step: Does the step.
        look: Returns a dict of everything that can be seen of the object, and of its future.
        every: Interrupt only before each `every`-th bytecode.
    """
    step(make())  # whatever must be compiled
    look(make())
    object_before, object_after = make(), make()
    step(object_after)
    allowed_views = [look(object_before), look(object_after)]
    assert allowed_views[0] != allowed_views[1]
    subject = make()
    num_places = count_bytecodes(lambda: step(subject), FOLDERS)
    outcomes = []
    for place in range(0, num_places, every):
        subject = make()
        assert is_interrupted(lambda: step(subject), FOLDERS, place), place  # noqa: B023
        view = look(subject)
        assert view in allowed_views, (
            f"half done after place {place} of {num_places}: {differences(view, *allowed_views)}"
        )
        outcomes.append(allowed_views.index(view))
    assert outcomes[0] == 0
    assert outcomes == sorted(outcomes)


def differences(seen, before, after):
    return {
        key: (seen[key], before[key], after[key]) for key in seen if seen[key] not in (before[key], after[key])
    } or {key: "before" if seen[key] == before[key] else "after" for key in seen if before[key] != after[key]}


def comparable(value):
    """Return a value with arrays replaced, so that `==` compares it."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [comparable(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value]
    return value


# --- one game -------------------------------------------------------------------------------------------------------


def view_of_game(game):
    record = game.record()
    assert Game.replay(record) == game
    return {
        "actions": game.actions_played,
        "over": game.over,
        "record": record,
        "state": comparable(game.state.tobytes()),
        "mask": comparable(game.mask()),
    }


def game_before(last=False):
    game = Game(seed=SEED, num_players=3)
    while not game.over:
        before, action = game.clone(), game.legal_actions()[-1]
        game.play(action)
        if game.over or (not last and len(before.actions_played) == 4):
            return before, action
    raise AssertionError


@pytest.mark.parametrize("last", [False, True])
def test_game_play_is_all_or_nothing(last):
    game, action = game_before(last)
    check_all_or_nothing(game.clone, lambda game: game.play(action), view_of_game)


def test_game_play_of_a_text_is_all_or_nothing():
    game, action = game_before()
    move = game.move(action)
    check_all_or_nothing(game.clone, lambda game: game.play(move), view_of_game, every=29)


def test_game_play_is_all_or_nothing_when_its_past_outgrows_its_room():
    game = Game(seed=SEED)
    while not game.over:
        before, action = game.clone(), game.legal_actions()[0]
        game.play(action)
    assert before._past[0] == len(before.actions_played)
    # The same game with a past that is just full.
    before._past = before._past[: 2 + len(before.actions_played)]
    check_all_or_nothing(before.clone, lambda game: game.play(action), view_of_game)


def test_play_and_look_is_all_or_nothing():
    game, action = game_before()

    def step(game):
        mask, observation = game.mask(), game.observation()
        game.play_and_look(action, mask, observation)

    check_all_or_nothing(game.clone, step, view_of_game)


# --- PettingZoo -----------------------------------------------------------------------------------------------------


def view_of_aec(aec):
    view = {
        "game": view_of_game(aec.game),
        "selected": aec.agent_selection if aec.agents else None,
        **{
            name: comparable(getattr(aec, name))
            for name in ("agents", "rewards", "terminations", "truncations", "infos")
        },
        "cumulative": comparable(aec._cumulative_rewards),
        "observations": [comparable(aec.observe(agent)) for agent in aec.possible_agents],
    }
    if aec.agents and not any(aec.terminations.values()):
        assert aec.agent_selection == aec.possible_agents[aec.game.player]
        assert aec.terminations[aec.agent_selection] == aec.game.over
        view["goes on"] = play_on_aec(copy.deepcopy(aec))
    return view


def play_on_aec(aec):
    """Play a game to its end; return its decisions and the actions."""
    decisions = []
    for _ in aec.agent_iter():
        observation, reward, terminated, _, info = aec.last()
        decisions.append((aec.agent_selection, comparable(observation), reward, terminated, comparable(info)))
        aec.step(None if terminated else int(observation["action_mask"].argmax()))
    return decisions, aec.game.actions_played


def aec_before(make, moves, **arguments):
    """An environment after some moves (-1: before the last move), and the next action."""
    aec = make(num_players=3, **arguments)
    aec.reset(seed=SEED)
    while True:
        action = int(aec.last()[0]["action_mask"].argmax())
        before = copy.deepcopy(aec)
        if len(aec.game.actions_played) == moves:
            return before, action
        aec.step(action)
        if aec.game.over:
            assert moves < 0
            return before, action


@pytest.mark.parametrize("make", [env, raw_env])
@pytest.mark.parametrize("reward", ["win", "points"])
@pytest.mark.parametrize("moves", [5, -1])
def test_aec_step_is_all_or_nothing(make, reward, moves):
    aec, action = aec_before(make, moves, reward=reward)
    every = 1 if make is env else 7  # they have their code in common
    check_all_or_nothing(lambda: copy.deepcopy(aec), lambda aec: aec.step(action), view_of_aec, every)


def test_illegal_aec_step_is_all_or_nothing():
    aec, _ = aec_before(env, 5)
    illegal = int(aec.last()[0]["action_mask"].argmin())
    check_all_or_nothing(lambda: copy.deepcopy(aec), lambda aec: aec.step(illegal), view_of_aec, every=29)


@pytest.mark.parametrize("steps", [0, 2])
def test_aec_step_of_an_agent_who_has_terminated_is_all_or_nothing(steps):
    aec, action = aec_before(env, -1)
    aec.step(action)
    for _ in range(steps):
        aec.step(None)
    check_all_or_nothing(lambda: copy.deepcopy(aec), lambda aec: aec.step(None), view_of_aec)


def test_aec_reset_is_all_or_nothing():
    aec, _ = aec_before(env, 5)
    check_all_or_nothing(lambda: copy.deepcopy(aec), lambda aec: aec.reset(seed=9), view_of_aec, every=5)


def test_a_loop_over_agents_can_begin_again_after_an_interrupt():
    aec, _ = aec_before(env, 5)
    next(iter(aec.agent_iter()))
    assert play_on_aec(aec)[0]


@pytest.mark.parametrize("name", ["play_and_look_one", "pay_one"])
def test_a_signal_during_compiled_code_leaves_the_agents_up_to_date(monkeypatch, name):
    """With a real signal, which comes while compiled code runs: Python calls its handler right after."""
    aec, action = aec_before(env, 5, reward="points")
    expected = copy.deepcopy(aec)
    expected.step(action)
    function = getattr(kernels, name)

    def signalled(*arguments):
        monkeypatch.undo()
        result = function(*arguments)
        signal.raise_signal(signal.SIGUSR1)
        return result

    def handler(number, frame):
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        monkeypatch.setattr(kernels, name, signalled)
        with pytest.raises(Interrupt):
            aec.step(action)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert view_of_aec(aec) == view_of_aec(expected)


# --- batches --------------------------------------------------------------------------------------------------------


def view_of_batch(batch):
    names = ("player", "observation", "mask", "reward", "done", "final_scores", "final_outcomes", "seeds", "legal_bits")
    view = {name: comparable(getattr(batch, name)) for name in names}
    view["states"] = batch.states.tobytes()
    continued = copy.deepcopy(batch)
    for _ in range(3):
        continued.step(continued.sample())
    return view | {f"later {name}": comparable(getattr(continued, name)) for name in names}


def batch_before(**arguments):
    batch = Batch(4, num_players=2, seed=SEED, threads=1, **arguments)
    while True:
        before = copy.deepcopy(batch)
        batch.step(batch.sample())
        if batch.done.any():
            return before


@pytest.mark.parametrize("autoreset", [False, True])
@pytest.mark.parametrize("which", [None, [0, 2, 3]])
def test_batch_step_is_all_or_nothing(autoreset, which):
    batch = batch_before(autoreset=autoreset)
    actions = copy.deepcopy(batch).sample()
    actions = actions.copy() if which is None else actions[which]
    check_all_or_nothing(lambda: copy.deepcopy(batch), lambda batch: batch.step(actions, which), view_of_batch)


@pytest.mark.parametrize("arguments", [{}, {"seeds": 8, "which": [1, 3]}, {"look": False}])
def test_batch_reset_is_all_or_nothing(arguments):
    batch = batch_before()

    def reset(batch):
        batch.reset(**arguments)

    def look(batch):
        view = view_of_batch(batch)
        if not arguments.get("look", True):  # then the rest is brought up to date later
            view = {"states": view["states"], "seeds": view["seeds"], "done": view["done"]}
        return view

    check_all_or_nothing(lambda: copy.deepcopy(batch), reset, look)


# --- Gymnasium ------------------------------------------------------------------------------------------------------


def first_legal(observation, mask):
    return int(mask.argmax())


OPPONENTS = {"compiled": "random", "python": first_legal, "greedy": "greedy"}


def view_of_gym(gym):
    games = gym.unwrapped.games
    view = {
        "observation": comparable(games.observation()),
        "mask": comparable(gym.unwrapped.action_masks()),
        "states": games.batch.states.tobytes(),
        "pending": comparable(games._pending_rewards),
        "ended": comparable(games.ended),
        "infos": comparable(gym.unwrapped._info()),
    }
    continued = copy.deepcopy(gym.unwrapped)
    if games.ended[0]:
        continued.reset()
    return view | {
        "later": comparable(play_on_gym(continued)),
        "much later": comparable((continued.reset()[0], play_on_gym(continued))),
    }


def play_on_gym(gym):
    results, ended = [], False
    while not ended:
        observation, reward, ended, _, info = gym.step(int(gym.action_masks().argmax()))
        results.append((observation, reward, info))
    return results


def gym_before(steps, **arguments):
    """An environment after some steps (-1: before the last step)."""
    gym = gymnasium.make("Artus-v0", num_players=3, disable_env_checker=True, **arguments).unwrapped
    gym.reset(seed=SEED)
    while True:
        before = copy.deepcopy(gym)
        if steps == 0:
            return before
        steps -= 1
        if gym.step(int(gym.action_masks().argmax()))[2]:
            return before


@pytest.mark.parametrize("opponents", OPPONENTS)
@pytest.mark.parametrize("steps", [2, -1])
def test_gymnasium_step_is_all_or_nothing(opponents, steps):
    gym = gym_before(steps, opponents=OPPONENTS[opponents], reward="points")
    action = int(gym.action_masks().argmax())
    every = {"compiled": 1, "greedy": 3, "python": 17}[opponents]
    check_all_or_nothing(lambda: copy.deepcopy(gym), lambda gym: gym.step(action), view_of_gym, every)


@pytest.mark.parametrize("opponents", OPPONENTS)
def test_illegal_gymnasium_step_is_all_or_nothing(opponents):
    gym = gym_before(2, opponents=OPPONENTS[opponents])
    illegal = int(gym.action_masks().argmin())
    every = 13 if opponents == "python" else 1
    check_all_or_nothing(lambda: copy.deepcopy(gym), lambda gym: gym.step(illegal), view_of_gym, every)


@pytest.mark.parametrize("opponents", OPPONENTS)
@pytest.mark.parametrize("seed", [None, 5])
def test_gymnasium_reset_is_all_or_nothing(opponents, seed):
    gym = gym_before(2, opponents=OPPONENTS[opponents])
    check_all_or_nothing(lambda: copy.deepcopy(gym), lambda gym: gym.reset(seed=seed), view_of_gym, every=19)


def test_an_interrupt_while_an_opponent_thinks_leaves_the_game_before_the_step():
    thoughts = []

    def thinks(observation, mask):
        if thoughts:
            thoughts.append(1)
            if len(thoughts) == 3:
                raise Interrupt
        return int(mask.argmax())

    gym = gymnasium.make("Artus-v0", num_players=3, opponents=thinks, seat=0, disable_env_checker=True).unwrapped
    gym.reset(seed=SEED, options={"start_player": 0})
    before = gym.games.batch.states.tobytes(), comparable(gym._info()), comparable(gym.games.observation())
    action = int(gym.action_masks().argmax())
    thoughts.append(1)
    with pytest.raises(Interrupt):
        gym.step(action)
    assert (gym.games.batch.states.tobytes(), comparable(gym._info()), comparable(gym.games.observation())) == before
    assert len(thoughts) == 3  # the first opponent had moved


def view_of_vector(envs):
    games = envs.games
    view = {
        "observation": comparable(games.observation()),
        "mask": comparable(envs.action_masks()),
        "states": games.batch.states.tobytes(),
        "pending": comparable(games._pending_rewards),
        "ended": comparable(games.ended),
        "steps": comparable(envs._steps),
    }
    continued = copy.deepcopy(envs)
    if envs.autoreset_mode == AutoresetMode.DISABLED and games.ended.any():
        continued.reset(options={"reset_mask": games.ended.copy()})
    later_results = []
    for _ in range(4):
        later_results.append(comparable(continued.step(continued.action_masks().argmax(1))))
        if envs.autoreset_mode == AutoresetMode.DISABLED and continued.games.ended.any():
            later_results.append(comparable(continued.reset(options={"reset_mask": continued.games.ended.copy()})))
    return view | {"later": later_results}


def vector_before(after_end=False, **arguments):
    """Environments before the step in which a game ends; with `after_end` after it: the next step deals anew."""
    envs = gymnasium.make_vec("Artus-v0", 3, num_players=2, **arguments).unwrapped
    envs.reset(seed=SEED)
    while True:
        before = copy.deepcopy(envs)
        *_, terminations, truncations, _ = envs.step(envs.action_masks().argmax(1))
        if (terminations | truncations).any():
            return copy.deepcopy(envs) if after_end else before


@pytest.mark.parametrize("opponents", ["compiled", "python"])
@pytest.mark.parametrize("arguments", [
    {"autoreset_mode": "NextStep", "after_end": True},
    {"autoreset_mode": "NextStep", "after_end": True, "max_episode_steps": 3},
    {"autoreset_mode": "SameStep"},
    {"autoreset_mode": "Disabled"},
])  # fmt: skip
def test_vector_step_is_all_or_nothing(opponents, arguments):
    envs = vector_before(opponents=OPPONENTS[opponents], **arguments)
    actions = envs.action_masks().argmax(1)
    every = 5 if opponents == "compiled" else 31
    check_all_or_nothing(lambda: copy.deepcopy(envs), lambda envs: envs.step(actions), view_of_vector, every)


def test_vector_reset_is_all_or_nothing():
    envs = vector_before()
    check_all_or_nothing(lambda: copy.deepcopy(envs), lambda envs: envs.reset(seed=4), view_of_vector, every=17)


# --- the trainer and OpenSpiel --------------------------------------------------------------------------------------


def view_of_trainer(envs):
    names = ("seat", "kind", "_agent_of_seat", "_pending", "_decided", "_return", "_length", "_keys")
    view = {name: comparable(getattr(envs, name)) for name in names}
    view |= {"results": {kind: list(results) for kind, results in envs.results.items()}}
    view |= {"random": str(envs._random.bit_generator.state)}
    continued = copy.deepcopy(envs)
    later_results = [comparable(continued.step(continued.action_masks().argmax(1))) for _ in range(3)]
    return view | {"batch": view_of_batch(copy.deepcopy(envs.batch)), "later": later_results}


def trainer_before():
    vec_env = pytest.importorskip("artus_training.learn.sb3_env")
    envs = vec_env.SelfPlayVecEnv(4, num_players=3, opponents={"random": 0.5, "greedy": 0.5}, seed=SEED)
    envs.reset()
    while True:
        before = copy.deepcopy(envs)
        if envs.step(envs.action_masks().argmax(1))[2].any():
            return before


def test_step_of_the_trainers_games_is_all_or_nothing():
    envs = trainer_before()
    actions = envs.action_masks().argmax(1)
    check_all_or_nothing(lambda: copy.deepcopy(envs), lambda envs: envs.step(actions), view_of_trainer, every=61)


def test_reset_of_the_trainers_games_is_all_or_nothing():
    envs = trainer_before()
    envs.stagger = False  # which takes long
    check_all_or_nothing(lambda: copy.deepcopy(envs), lambda envs: envs.reset(), view_of_trainer, every=61)


def test_action_of_an_openspiel_state_is_all_or_nothing(monkeypatch):
    """With a substitute for those parts of OpenSpiel that the adapter uses: OpenSpiel needn't be installed."""
    openspiel = load_openspiel(monkeypatch)
    game = openspiel.OpenSpielGame({"num_players": 3, "seed": SEED})
    state = game.new_initial_state()
    state_after_deal = copy.deepcopy(state)

    def look(state):
        view = {"seen": list(state.seen), "player": state.current_player()}
        return view | ({} if state.game is None else {"game": view_of_game(state.game), "returns": state.returns()})

    state_after_deal._apply_action(0)
    action = state_after_deal._legal_actions(0)[0]
    check_all_or_nothing(lambda: copy.deepcopy(state_after_deal), lambda state: state._apply_action(action), look)


def load_openspiel(monkeypatch):
    class GameType(SimpleNamespace):
        ChanceMode = SimpleNamespace(SAMPLED_STOCHASTIC=0, EXPLICIT_STOCHASTIC=1)
        Dynamics = SimpleNamespace(SEQUENTIAL=0)
        Information = SimpleNamespace(IMPERFECT_INFORMATION=0)
        Utility = SimpleNamespace(ZERO_SUM=0)
        RewardModel = SimpleNamespace(TERMINAL=0)

    class Parent:
        def __init__(self, *arguments):
            self.parent = arguments[0]

        def get_game(self):
            return self.parent

    pyspiel = ModuleType("pyspiel")
    pyspiel.GameType, pyspiel.GameInfo, pyspiel.Game, pyspiel.State = GameType, SimpleNamespace, Parent, Parent
    pyspiel.PlayerId = SimpleNamespace(CHANCE=-1, TERMINAL=-4)
    pyspiel.register_game = lambda kind, game: None
    monkeypatch.setitem(sys.modules, "pyspiel", pyspiel)
    monkeypatch.delitem(sys.modules, "artus_env.openspiel", raising=False)
    openspiel = importlib.import_module("artus_env.openspiel")
    monkeypatch.delitem(sys.modules, "artus_env.openspiel")
    return openspiel
