"""The network that MaskablePPO trains, and conversions from and to this project's networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from torch.nn import functional

from artus_agents.network import Network, Shape, hidden_sizes


class ScaledMlp(BaseFeaturesExtractor):
    """Scales int8 observations to small floats, and applies the hidden layers that both heads share.

    Args:
        observation_space: The argument that SB3 passes.
        scale: Factor of each feature, shape (F,).
        sizes: Width of each hidden layer.
        players: Most players of the game. The hidden layers are drawn together with an output for each player; this
            fixes the random numbers for the action layer, which is drawn next.
    """

    scale: torch.Tensor

    def __init__(self, observation_space: Any, scale: np.ndarray, sizes: Sequence[int], players: int) -> None:
        super().__init__(observation_space, sizes[-1])
        self.register_buffer("scale", torch.from_numpy(np.array(scale, np.float32)))
        self.trunk = Network(Shape(len(scale), 1, players, tuple(sizes))).trunk

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Features of observations: shape (n, F), any dtype -> (n, sizes[-1]), float32."""
        return self.trunk(observation * self.scale)


class MaskedPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy for one shared trunk and one Discrete space, with fewer passes over the (n, A) arrays.

    The results are the same. The original distribution normalises, masks and normalises again over hundreds of actions,
    of which about 20 are legal; in the update that took longer than the network itself.
    """

    def _masked(self, observation: torch.Tensor, action_masks: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Values (n, 1) and masked logits (n, A)."""
        features = self.features_extractor(observation)
        logits = self.action_net(features)
        if action_masks is not None:
            logits = logits.masked_fill(torch.as_tensor(action_masks).reshape(logits.shape) == 0, -1e8)
        return self.value_net(features), logits

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions (n,), values (n, 1) and log-probabilities (n,) for observations (n, F) and masks (n, A)."""
        values, logits = self._masked(obs, action_masks)
        if deterministic:
            actions = logits.argmax(dim=1)
        else:
            actions = draw(functional.softmax(logits, dim=1), torch.rand(len(logits), device=logits.device))
        log_probs = functional.log_softmax(logits, dim=1)
        return actions, values, log_probs.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Values (n, 1), log-probabilities (n,) and entropies (n,) of given actions (n,)."""
        values, logits = self._masked(obs, action_masks)
        log_probs = functional.log_softmax(logits, dim=1)
        entropy = -(functional.softmax(logits, dim=1) * log_probs).sum(
            dim=1
        )  # exp(log_probs) is slow where it underflows
        return values, log_probs.gather(1, actions.long()[:, None])[:, 0], entropy


def draw(probabilities: torch.Tensor, fractions: torch.Tensor) -> torch.Tensor:
    """Draw an action for each row of probabilities.

    Args:
        probabilities: Shape (n, A).
        fractions: A random number in 0..1 for each row: shape (n,).

    Returns:
        The actions: shape (n,), int64.

    Never draws an action of probability 0. torch.multinomial makes a random number for each action, which takes longer
    than the network.
    """
    cumulative = probabilities.cumsum(dim=1)
    thresholds = fractions * cumulative[:, -1] * (1 - 2**-20)  # below the last sum in spite of rounding
    return torch.searchsorted(cumulative, thresholds[:, None], right=True)[:, 0]


# --- conversions to and from networks of this project ---


def to_network(model: MaskablePPO, num_players: int, most_players: int) -> Network:
    """Copy the current policy into a network of this project.

    The scale becomes part of the first layer's weights. SB3 predicts the value only for the player to move; as rewards
    sum to zero, the value for each of the other n - 1 players is -1 / (n - 1) of it.

    Args:
        model: The trained model.
        num_players: Number of players, n.
        most_players: Most players of the game. The network has a value for each of them; it is 0 for players who aren't
            in the game.
    """
    features, actions, value_head = (
        model.policy.features_extractor,
        model.policy.action_net,
        model.policy.value_net.state_dict(),
    )
    assert isinstance(features, ScaledMlp)
    assert isinstance(actions, nn.Linear)
    hidden = hidden_sizes(list(features.trunk))
    shape = Shape(len(features.scale), actions.out_features, most_players, hidden)
    with torch.device("meta"):  # draws no random weights
        network = Network(shape).requires_grad_(False)
    weights = {name: torch.zeros(part.shape) for name, part in network.state_dict().items()}
    weights |= {f"trunk.{part}": tensor.clone() for part, tensor in features.trunk.state_dict().items()}
    weights["trunk.0.weight"] *= features.scale
    count = actions.out_features
    value_factors = torch.tensor([1.0] + [-1 / (num_players - 1)] * (num_players - 1))
    weights["head.weight"][:count] = actions.weight.data
    weights["head.bias"][:count] = actions.bias.data
    weights["head.weight"][count : count + num_players] = torch.outer(value_factors, value_head["weight"][0])
    weights["head.bias"][count : count + num_players] = value_factors * value_head["bias"]
    network.load_state_dict(weights, assign=True)
    return network


def begin_with(model: MaskablePPO, weights: Mapping[str, torch.Tensor]) -> None:
    """Load the weights of a network of this project without action features (see `start.Start`) into the policy: the
    reverse of `to_network`. Only the value for the player to move is used."""
    features, actions = model.policy.features_extractor, model.policy.action_net
    assert isinstance(features, ScaledMlp)
    assert isinstance(actions, nn.Linear)
    trunk = {part: weights[f"trunk.{part}"].clone() for part in features.trunk.state_dict()}
    trunk["0.weight"] /= features.scale
    features.trunk.load_state_dict(trunk)
    count = actions.out_features
    for layer, rows in ((actions, slice(count)), (model.policy.value_net, slice(count, count + 1))):
        layer.load_state_dict({part: weights[f"head.{part}"][rows] for part in ("weight", "bias")})
