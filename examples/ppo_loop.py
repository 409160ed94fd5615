"""PPO in one file, on the native vector environment: `python examples/ppo_loop.py`.

One seat learns, against a fixed opponent. `artus train` learns from all seats at once.
"""

import gymnasium
import torch
from torch import nn
from torch.distributions import Categorical

from artus_training.arena.evaluate import evaluate

UPDATES, STEPS, ENVS, EPOCHS, MINIBATCH = 5, 32, 128, 4, 1024
GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 0.95, 0.9, 0.2, 0.01, 1e-3

torch.manual_seed(0)
envs = gymnasium.make_vec(
    "artus_env:Artus-v0", num_envs=ENVS, opponents="random", reward="prestige",
    scale_observation=True, autoreset_mode="SameStep",
)  # fmt: skip
features, actions = envs.single_observation_space.shape[0], envs.single_action_space.n
body = nn.Sequential(nn.Linear(features, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
policy, value = nn.Linear(128, actions), nn.Linear(128, 1)
parameters = [*body.parameters(), *policy.parameters(), *value.parameters()]
optimizer = torch.optim.Adam(parameters, lr=RATE, eps=1e-5)


def apply_network(observation, mask):
    """The distribution over legal actions, and the value."""
    hidden = body(observation)
    return Categorical(logits=policy(hidden).masked_fill(mask == 0, -1e9)), value(hidden).squeeze(-1)


observation, info = envs.reset(seed=0)
for _ in range(UPDATES):
    rows = []  # one for each step: observation, mask, action, its log-probability, value, reward, end of the game
    for _ in range(STEPS):
        observed, mask = torch.from_numpy(observation), torch.from_numpy(info["action_mask"])
        with torch.no_grad():
            distribution, values = apply_network(observed, mask)
        action = distribution.sample()
        observation, reward, over, _, info = envs.step(action.numpy())
        outcome = torch.from_numpy(reward).float(), torch.from_numpy(over).float()
        rows.append((observed, mask, action, distribution.log_prob(action), values, *outcome))
    observed, mask, action, log_prob, values, reward, over = map(torch.stack, zip(*rows, strict=True))
    with torch.no_grad():
        next_values = apply_network(torch.from_numpy(observation), torch.from_numpy(info["action_mask"]))[1]
    advantage, last = torch.zeros_like(reward), torch.zeros(ENVS)
    for step in reversed(range(STEPS)):  # a game that is over pays nothing more
        error = reward[step] + GAMMA * next_values * (1 - over[step]) - values[step]
        advantage[step] = last = error + GAMMA * LAMBDA * (1 - over[step]) * last
        next_values = values[step]
    batch = [part.flatten(0, 1) for part in (observed, mask, action, log_prob, advantage, advantage + values)]
    for _ in range(EPOCHS):
        for minibatch in torch.randperm(STEPS * ENVS).split(MINIBATCH):
            observed, mask, action, log_prob, advantage, returns = (part[minibatch] for part in batch)
            distribution, values = apply_network(observed, mask)
            ratio = (distribution.log_prob(action) - log_prob).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
            loss = (values - returns).square().mean() / 2 - clipped.mean() - ENTROPY * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()


class Learned:
    """The policy as an agent: the likeliest legal action."""

    def act(self, view):
        scaled = view.observation * view.definition.observation_scale(view.components)
        with torch.no_grad():
            return apply_network(torch.from_numpy(scaled), torch.from_numpy(view.mask))[0].logits.argmax(-1).numpy()


result = evaluate([Learned(), "random"], games=400)
print(result)
assert result.win_rate > 0.9
