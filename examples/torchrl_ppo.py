"""PPO with TorchRL, one network for all seats: `python examples/torchrl_ppo.py --game artus --minutes 5`.

The AEC environment runs in TorchRL's own wrapper. All seats are in one group, so each row of a rollout is one action of
the game and has a place for every seat; `mask` marks the seat to move.
"""

import argparse
import time
from itertools import pairwise

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from artus_env import environments
from artus_training.arena.evaluate import evaluate

OBSERVATION = ("observation", "observation")
# Games between two updates; passes over them; decisions in a step of the optimizer.
GAMES, EPOCHS, MINIBATCH = 16, 4, 256


def make_env(game, reward="points"):
    env = environments.env(game=game, reward=reward)
    return PettingZooWrapper(env, use_mask=True, group_map={"players": env.possible_agents})


def make_networks(env):
    """Policy and value, both from the observation of one seat."""
    scale = torch.from_numpy(env.definition.observation_scale(env.components))

    class Scaled(nn.Module):
        def forward(self, observation):
            return observation * scale  # int8 to small floats

    def network(outputs):
        return nn.Sequential(Scaled(), nn.Linear(len(scale), 128), nn.Tanh(), nn.Linear(128, outputs))

    actor = ProbabilisticActor(
        TensorDictModule(network(env.action_space("player_0").n), in_keys=[OBSERVATION], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        distribution_kwargs={"neg_inf": -1e9},  # with the default, minus infinity, the entropy is NaN
        return_log_prob=True,
    )
    return actor, TensorDictModule(network(1), in_keys=[OBSERVATION], out_keys=["state_value"])


def play(env, actor):
    """One game in which all seats act: a TensorDict with a row for each action."""

    def act(td):  # TorchRL requires this name
        # Seats that aren't to move get an action, too, which is ignored; the wrapper gives them a mask of ones.
        actor(td["players"])
        return td

    with torch.no_grad():
        return env.rollout(10_000, act)


def decisions(game, seat):
    """Decisions of one seat in a game, each with all rewards of the seat until its next one.

    TorchRL writes the rewards of an action into the row of that action. So a reward that a seat gets on another seat's
    move is in a row in which its `mask` is false: dropping these rows drops the reward.
    """
    own_rows = game["players", "mask"][:, seat].nonzero().flatten().tolist()
    rewards = game["next", "players", "reward"][:, seat]
    own_decisions = game["players"][own_rows, seat]
    next_rows = [*own_rows[1:], own_rows[-1]]  # no decision follows the last one
    done = torch.zeros(len(own_rows), 1, dtype=torch.bool)
    done[-1] = True
    own_decisions["next"] = TensorDict(
        {
            "observation": game["players"][next_rows, seat]["observation"],
            "reward": torch.stack([rewards[first:end].sum(0) for first, end in pairwise([*own_rows, len(game)])]),
            "done": done,
            "terminated": done,
        },
        [len(own_rows)],
    )
    return own_decisions


class Agent:
    """The policy as an agent: takes the likeliest legal action."""

    def __init__(self, actor):
        self.actor = actor

    def act(self, view):
        observation = {"observation": {"observation": torch.from_numpy(view.observation)}}
        row = TensorDict({**observation, "action_mask": torch.from_numpy(view.mask).bool()}, [len(view)])
        with torch.no_grad():
            return self.actor.get_dist(row).probs.argmax(-1).numpy().astype(np.int64)


def train(env, minutes, updates=None):
    """Train for some minutes or updates. Returns the policy and the loss of each update."""
    actor, critic = make_networks(env)
    advantage = GAE(gamma=0.95, lmbda=0.9, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=1.0)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    started, steps, losses = time.monotonic(), 0, []
    while time.monotonic() - started < 60 * minutes and len(losses) != updates:
        games = [play(env, actor) for _ in range(GAMES)]
        steps += sum(map(len, games))
        batch = torch.cat([decisions(game, seat) for game in games for seat in range(env.num_players)])
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantage(batch)
            for rows in torch.randperm(len(batch)).split(MINIBATCH):
                parts = loss(batch[rows])
                total = parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 1.0)
                optimizer.step()
        losses.append(total.item())
        speed = steps / (time.monotonic() - started)
        print(f"{steps:,} steps, {speed:.0f} steps/s with learning, loss {losses[-1]:+.3f}", flush=True)
    return actor, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--game", default="artus", help="artus, royal, quest or any other that is installed")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long it trains")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)  # small networks are slower with more threads
    torch.manual_seed(options.seed)
    env = make_env(options.game)
    env.set_seed(options.seed)
    actor, _ = train(env, options.minutes)
    result = evaluate([Agent(actor), "random"], game=options.game, games=400)
    low, high = result.interval
    print(f"won {result.win_rate:.1%} of {result.games} games against random (95 %: {low:.1%} to {high:.1%})")


if __name__ == "__main__":
    main()
