"""The network that MaskablePPO trains, and how it is saved: an SB3 zip with what Artus needs to know beside."""

from __future__ import annotations

import copy
import io
import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch.nn import functional

from artus_agents.neural import ABOUT, HEAD, TRUNK, WEIGHTS, NeuralAgent, Trunk, draw, read_members

OPTIMIZER = "policy.optimizer.pth"  # SB3's own name
SNAPSHOTS = "snapshots.pt"
"""The pool of earlier versions. Not `.pth`: SB3 takes those for its own."""


class ScaledMlp(BaseFeaturesExtractor):
    """Scales int8 observations to floats of about -1..1 and puts them through hidden layers that both heads share."""

    def __init__(self, observation_space: Any, scale: Sequence[float], sizes: Sequence[int]) -> None:
        super().__init__(observation_space, sizes[-1])
        self.trunk = Trunk(np.array(scale), sizes)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Shape (n, F), any dtype -> shape (n, sizes[-1]), float32."""
        return self.trunk(observation)


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


def snapshot(model: MaskablePPO) -> NeuralAgent:
    """The policy as it is now, as a player who draws with its probabilities."""
    features, head = copy.deepcopy((model.policy.features_extractor, model.policy.action_net))
    assert isinstance(features, ScaledMlp)
    return NeuralAgent(features.trunk.requires_grad_(False), head.requires_grad_(False), sample=True)


def save_model(path: Path, model: MaskablePPO, about: dict[str, Any], snapshots: Sequence[NeuralAgent] = ()) -> None:
    """Save an agent, or a checkpoint with its pool. The file is replaced at once or not at all.

    Args:
        path: An SB3 zip that `MaskablePPO.load` and `artus_agents.neural.load_agent` can read.
        model: The agent.
        about: What it was made for and how, as JSON.
        snapshots: The pool.
    """
    buffer = io.BytesIO()
    model.save(buffer, exclude=["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"])
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(ABOUT, json.dumps(about, indent=1))
        if snapshots:
            with archive.open(SNAPSHOTS, "w") as member:
                torch.save([{TRUNK: s.trunk.state_dict(), HEAD: s.head.state_dict()} for s in snapshots], member)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            file.write(buffer.getvalue())
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


class CheckpointError(ValueError):
    """A checkpoint that can't be used. The message names the file and what is wrong with it."""


def read_checkpoint(path: Path, made_for: dict[str, Any]) -> dict[str, Any]:
    """The parts of a checkpoint, as `read_members` gives them.

    Raises:
        CheckpointError: If the file is missing, damaged, or of another variant than `made_for` says.
    """
    try:
        members = read_members(path)
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    for name, value in made_for.items():
        if members[ABOUT][name] != value:
            raise CheckpointError(f"{path} was made for {name} {members[ABOUT][name]}, not for {value}")
    return members


def load_checkpoint(path: Path, model: MaskablePPO, made_for: dict[str, Any]) -> list[NeuralAgent]:
    """Put a checkpoint's weights, optimizer and steps into a model. All is read and tried out before anything changes.

    Returns:
        The pool of snapshots, oldest first.

    Raises:
        CheckpointError: If the file is missing, damaged, of another variant or with another network.
    """
    members = read_checkpoint(path, made_for)
    policy = copy.deepcopy(model.policy)
    try:
        policy.load_state_dict(members[WEIGHTS])
        policy.optimizer.load_state_dict(members[OPTIMIZER])
        snapshots = []
        for saved in members.get(SNAPSHOTS, []):
            agent = snapshot(model)
            agent.trunk.load_state_dict(saved[TRUNK])
            agent.head.load_state_dict(saved[HEAD])
            snapshots.append(agent)
        timesteps = int(members[ABOUT]["timesteps"])
    except (KeyError, RuntimeError, ValueError, TypeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise CheckpointError(f"{path} is no checkpoint of this training: {reason}") from error
    model.policy.load_state_dict(members[WEIGHTS])
    model.policy.optimizer.load_state_dict(members[OPTIMIZER])
    model.num_timesteps = timesteps
    return snapshots
