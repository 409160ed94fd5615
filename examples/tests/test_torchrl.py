"""TorchRL: rewards on moves of others reach a seat's decisions; only legal actions are played."""

import math
from functools import cache

import gymnasium
import pytest
import torch
from torchrl.envs import GymWrapper

import torchrl_ppo
from artus_training.arena.evaluate import evaluate

games = pytest.mark.parametrize("name", ["artus", "royal", "quest"])
pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")


@cache
def played(name, reward="points", seed=0):
    torch.manual_seed(seed)
    env = torchrl_ppo.make_env(name, reward)
    env.set_seed(seed)
    return torchrl_ppo.play(env, torchrl_ppo.make_networks(env)[0])


def test_the_losers_minus_one_arrives():
    """In most of these games the loser's -1 is in the row of the winner's move, where the loser's mask is false."""
    elsewhere = 0
    for seed in range(4):
        game = played("artus", "win", seed)
        end = game["next", "players", "reward"][-1].flatten().tolist()
        for seat in (0, 1):
            rewards = torchrl_ppo.decisions(game, seat)["next", "reward"].flatten().tolist()
            assert rewards == [0] * (len(rewards) - 1) + [end[seat]]
            elsewhere += end[seat] == -1 and not game["players", "mask"][-1, seat]
    assert elsewhere


@games
def test_nothing_that_is_paid_from_the_first_decision_on_gets_lost(name):
    game = played(name)
    for seat in (0, 1):
        rows = game["players", "mask"][:, seat].nonzero().flatten()
        decisions, rewards = torchrl_ppo.decisions(game, seat), game["next", "players", "reward"][:, seat]
        assert decisions["next", "reward"].sum() == pytest.approx(rewards[rows[0] :].sum().item(), abs=1e-5)
        assert torch.equal(decisions["action"], game["players", "action"][rows, seat])
        observed = decisions["observation", "observation"]
        assert torch.equal(decisions["next", "observation", "observation"][:-1], observed[1:])
        assert decisions["next", "done"].flatten().tolist() == [False] * (len(rows) - 1) + [True]


@games
def test_only_legal_actions_are_played(name):
    game = played(name)
    acting = game["players", "mask"]
    assert (acting.sum(1) == 1).all()
    masks, actions = game["players", "action_mask"][acting], game["players", "action"][acting]
    assert masks.gather(1, actions[:, None]).all()
    assert not masks.all(1).any(), "some actions are masked for the seat to move"


@pytest.mark.parametrize("name", ["Artus", "ArtusRoyal", "ArtusQuest"])
def test_infos_of_gymnasium_are_registered_by_themselves(name):
    """TorchRL turns infos into tensors. To learn their shapes it takes one step with any action, legal or not."""
    env = GymWrapper(gymnasium.make(f"artus_env:{name}-v0")).auto_register_info_dict()
    steps = env.rollout(30, break_when_any_done=False)["next"]
    assert {"action_mask", "seat", "skipped_games"} <= set(steps.keys())
    assert steps["action_mask"].shape == (30, env.action_spec.space.n)


@pytest.mark.parametrize("name", ["artus", "royal"])
def test_it_learns_and_plays_on(name, monkeypatch):
    monkeypatch.setattr(torchrl_ppo, "GAMES", 1)
    torch.manual_seed(0)
    actor, losses = torchrl_ppo.train(torchrl_ppo.make_env(name), minutes=10, updates=2)
    assert all(map(math.isfinite, losses))
    result = evaluate([torchrl_ppo.Agent(actor), "random"], game=name, games=4)
    assert result.forfeits == 0
    assert all(value.isfinite().all() for value in actor.state_dict().values())
