"""The network that MaskablePPO trains, its checkpoints, and how it becomes one of this project's networks."""

from __future__ import annotations

import copy
import io
import json
import pickle
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from torch.nn import functional

from artus_agents.network import Network, Shape, hidden_sizes
from artus_agents.neural import NeuralAgent, check_card
from artus_env import Batch
from artus_env.engine.files import write_atomically
from artus_training.ppo import CheckpointError

ABOUT = "artus.json"
"""The part of a checkpoint that says what it was made for, how, and how far it has come: an agent's card and `seconds`."""
SNAPSHOTS = "snapshots.pt"
"""The pool of earlier versions. Not `.pth`: SB3 takes those for its own."""
WEIGHTS, OPTIMIZER = "policy.pth", "policy.optimizer.pth"  # SB3's own names


class ScaledMlp(BaseFeaturesExtractor):
    """Scales int8 observations to floats of about -1..1 and puts them through hidden layers that both heads share.

    Args:
        observation_space: As SB3 gives it.
        scale: Multiplies each feature, shape (F,).
        sizes: Width of each hidden layer.
    """

    scale: torch.Tensor

    def __init__(self, observation_space: Any, scale: np.ndarray, sizes: Sequence[int]) -> None:
        super().__init__(observation_space, sizes[-1])
        self.register_buffer("scale", torch.from_numpy(np.array(scale, np.float32)))
        self.trunk = Network(Shape(len(scale), 1, tuple(sizes), outlook=False)).trunk

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Shape (n, F), any dtype -> shape (n, sizes[-1]), float32."""
        return self.trunk(observation * self.scale)


class MaskedPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy for one shared trunk and one Discrete, with fewer passes over the (n, A) arrays.

    Of 339 actions some 20 are legal, and the stock distribution normalises, masks and normalises again; in the update
    that took longer than the network itself. The results are the same.
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
        entropy = -(functional.softmax(logits, dim=1) * log_probs).sum(dim=1)  # exp(log_probs) is slow where it underflows
        return values, log_probs.gather(1, actions.long()[:, None])[:, 0], entropy


def draw(probabilities: torch.Tensor, fractions: torch.Tensor) -> torch.Tensor:
    """An action for each row of probabilities (n, A), from a number in 0..1 for each: shapes (n,) -> (n,), int64.

    Never one of probability 0. One number a row: torch.multinomial makes one an action, which costs more than the network.
    """
    sums = probabilities.cumsum(dim=1)
    below = fractions * sums[:, -1] * (1 - 2**-20)  # below the last sum, however it was rounded
    return torch.searchsorted(sums, below[:, None], right=True)[:, 0]


# --- the same network without SB3 ---


def to_network(model: MaskablePPO, num_players: int) -> Network:
    """The policy as it is now, as a network of this project that shares nothing with it.

    The scale becomes part of the first layer's weights. SB3 knows the value for the player to move only; rewards sum to
    zero, so the others are said to lose it, in equal parts.
    """
    features, actions, value = model.policy.features_extractor, model.policy.action_net, model.policy.value_net.state_dict()
    assert isinstance(features, ScaledMlp)
    assert isinstance(actions, nn.Linear)
    shape = Shape(len(features.scale), actions.out_features, hidden_sizes(list(features.trunk)), outlook=False)
    with torch.device("meta"):  # draws no random weights
        network = Network(shape).requires_grad_(False)
    weights = {name: torch.zeros(part.shape) for name, part in network.state_dict().items()}
    weights |= {f"trunk.{part}": numbers.clone() for part, numbers in features.trunk.state_dict().items()}
    weights["trunk.0.weight"] *= features.scale
    count = actions.out_features
    shares = torch.tensor([1.0] + [-1 / (num_players - 1)] * (num_players - 1))  # rows of absent players stay 0
    weights["head.weight"][:count] = actions.weight.data
    weights["head.bias"][:count] = actions.bias.data
    weights["head.weight"][count : count + num_players] = torch.outer(shares, value["weight"][0])
    weights["head.bias"][count : count + num_players] = shares * value["bias"]
    network.load_state_dict(weights, assign=True)
    return network


def snapshot(model: MaskablePPO, num_players: int) -> NeuralAgent:
    """The policy as it is now, as a player who draws with its probabilities."""
    return NeuralAgent(to_network(model, num_players), sample=True)


# --- checkpoints ---


def save_checkpoint(path: Path, model: MaskablePPO, about: dict[str, Any], snapshots: Sequence[NeuralAgent] = ()) -> None:
    """Save a model and its pool of snapshots. The file is replaced at once or not at all.

    Args:
        path: An SB3 zip that `MaskablePPO.load` can read, too.
        model: Weights, optimizer and settings of SB3's.
        about: See `ABOUT`.
        snapshots: The pool, oldest first.
    """
    buffer = io.BytesIO()
    model.save(buffer, exclude=["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"])
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(ABOUT, json.dumps(about, indent=1))
        with archive.open(SNAPSHOTS, "w") as member:
            torch.save([agent.network.state_dict() for agent in snapshots], member)
    write_atomically(path, buffer.getbuffer())


def read_checkpoint(path: Path, rules: str, num_players: int) -> dict[str, Any]:
    """All numbers and JSON in a checkpoint, by the name of its parts. Pickled Python objects are left out: nothing in the
    file is executed.

    Raises:
        CheckpointError: If the file is missing, damaged, something else, or of another variant.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if damaged := archive.testzip():
                raise CheckpointError(f"{path} is damaged: {damaged} has a wrong checksum")
            names = set(archive.namelist())
            if missing := {ABOUT, WEIGHTS, OPTIMIZER, SNAPSHOTS} - names:
                raise CheckpointError(f"{path} is damaged or no checkpoint: {', '.join(sorted(missing))} is missing")
            about = json.loads(archive.read(ABOUT))
            parts: dict[str, Any] = {
                name: torch.load(io.BytesIO(archive.read(name)), map_location="cpu", weights_only=True)
                for name in (WEIGHTS, OPTIMIZER, SNAPSHOTS)
            }
    except FileNotFoundError:
        raise CheckpointError(f"{path} doesn't exist: there is nothing to resume") from None
    except (OSError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{path} is damaged or no checkpoint: {error}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, pickle.UnpicklingError, RuntimeError, EOFError, zlib.error) as error:
        raise CheckpointError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from error
    expected: dict[str, Any] = {
        "variants": list, "components": str, "steps": int, "seconds": (int, float), "settings": dict, "curve": list,
    }  # fmt: skip
    for name, kind in expected.items():
        if not isinstance(about, dict) or not isinstance(about.get(name), kind):
            raise CheckpointError(f"{path} is no checkpoint of this training: {ABOUT} doesn't tell its {name}")
    try:
        check_card(about, rules, num_players, Batch.definition.standard)
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: {error}") from error
    return parts | {ABOUT: about}


def load_checkpoint(path: Path, model: MaskablePPO, rules: str, num_players: int) -> tuple[dict[str, Any], list[NeuralAgent]]:
    """Put a checkpoint's weights, optimizer and steps into a model. All is read and tried out before anything changes.

    Returns:
        What `ABOUT` says, and the pool of snapshots, oldest first.

    Raises:
        CheckpointError: If the file is missing, damaged, of another variant or with another network.
    """
    parts = read_checkpoint(path, rules, num_players)
    policy = copy.deepcopy(model.policy)
    try:
        policy.load_state_dict(parts[WEIGHTS])
        policy.optimizer.load_state_dict(parts[OPTIMIZER])
        snapshots = []
        for weights in parts[SNAPSHOTS]:
            snapshots.append(snapshot(model, num_players))
            snapshots[-1].network.load_state_dict(weights)
    except (KeyError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise CheckpointError(f"{path} is no checkpoint of this training: {reason}") from error
    model.policy.load_state_dict(parts[WEIGHTS])
    model.policy.optimizer.load_state_dict(parts[OPTIMIZER])
    model.num_timesteps = parts[ABOUT]["steps"]
    return parts[ABOUT], snapshots
