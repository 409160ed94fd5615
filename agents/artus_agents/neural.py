"""A trained network as a player. Needs torch (`pip install "artus[train]"`), nothing else of the training."""

from __future__ import annotations

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
from torch import nn

from artus_env.engine.agents import View

ABOUT = "artus.json"
"""Member of a saved agent that says what it was made for; the weights lie beside it in SB3's own form."""
WEIGHTS = "policy.pth"
TRUNK, HEAD = "features_extractor.trunk.", "action_net."


class Trunk(nn.Module):
    """The layers between an observation and the heads.

    Args:
        scale: Makes floats of about -1..1 of an observation, shape (F,). It is saved with the weights.
        sizes: Width of each hidden layer.
    """

    scale: torch.Tensor

    def __init__(self, scale: np.ndarray, sizes: Sequence[int]) -> None:
        super().__init__()
        self.register_buffer("scale", torch.from_numpy(np.array(scale, np.float32)))
        layers: list[nn.Module] = []
        for before, size in zip([len(scale), *sizes], sizes, strict=False):
            layers += [nn.Linear(before, size), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Observations of any dtype, shape (n, F) -> shape (n, sizes[-1]), float32."""
        return self.layers(observation * self.scale)


class NeuralAgent:
    """Plays what a network says.

    Args:
        trunk: From observations to features.
        head: From features to logits, one for each action.
        sample: Draw actions with the network's probabilities; otherwise take the likeliest one.
        about: The variant it was trained for (`rules`, `num_players`, `components`), if it may play no other.
    """

    def __init__(self, trunk: nn.Module, head: nn.Module, *, sample: bool = False, about: dict[str, Any] | None = None) -> None:
        self.trunk = trunk
        self.head = head
        self.sample = sample
        self.about = about

    def act(self, view: View) -> np.ndarray:
        """One action for each game.

        Raises:
            ValueError: If the network was trained for another variant.
        """
        self.check_variant(view.rules, view.num_players, view.components)
        with torch.inference_mode():
            logits = self.head(self.trunk(torch.from_numpy(view.observation)))
            logits.masked_fill_(torch.from_numpy(view.mask) == 0, -torch.inf)
            if not self.sample:
                return logits.argmax(dim=1).numpy()
            fraction = (view.keys >> np.uint64(40)).astype(np.float32) * np.float32(2**-24)
            return draw(torch.softmax(logits, dim=1), torch.from_numpy(fraction)).numpy()

    def check_variant(self, rules: str, num_players: int, components: Any) -> None:
        """Raise a ValueError if the network was trained for another variant."""
        if self.about is not None:
            for name, value in variant(rules, num_players, components).items():
                if self.about[name] != value:
                    raise ValueError(f"this agent was trained for {name} {self.about[name]}, not for {value}")


def variant(rules: str, num_players: int, components: Any) -> dict[str, Any]:
    """What a saved agent says about the games that it is made for."""
    return {"rules": rules, "num_players": num_players, "components": components.hash}


def draw(probabilities: torch.Tensor, fractions: torch.Tensor) -> torch.Tensor:
    """An action for each row of probabilities (n, A), from a number in 0..1 for each: shapes (n,) -> (n,), int64.

    Never one of probability 0. One number a row: torch.multinomial makes one an action, which costs more than the network.
    """
    sums = probabilities.cumsum(dim=1)
    below = fractions * sums[:, -1] * (1 - 2**-20)  # below the last sum, however it was rounded
    return torch.searchsorted(sums, below[:, None], right=True)[:, 0]


def load_agent(path: str) -> NeuralAgent:
    """A saved agent, as `ppo:path` names it. Reads numbers and JSON only: nothing in the file is executed.

    Raises:
        ValueError: If the file is missing, damaged or no saved agent; the message names it.
    """
    members = read_members(path)
    about, weights = members[ABOUT], members[WEIGHTS]
    try:
        depth = sum(name.startswith(TRUNK) and name.endswith(".weight") for name in weights)
        scale = weights[f"{TRUNK}scale"].numpy()
        sizes = [len(weights[f"{TRUNK}layers.{2 * layer}.bias"]) for layer in range(depth)]
        trunk, head = Trunk(scale, sizes), nn.Linear(sizes[-1], len(weights[f"{HEAD}bias"]))
        for module, prefix in ((trunk, TRUNK), (head, HEAD)):
            module.load_state_dict({name[len(prefix) :]: value for name, value in weights.items() if name.startswith(prefix)})
    except (KeyError, IndexError, RuntimeError) as error:
        raise ValueError(f"{path} holds no agent: {' '.join(str(error).split())}") from error
    return NeuralAgent(trunk, head, about=about)


def read_members(path: str | Path) -> dict[str, Any]:
    """All numbers and JSON in a saved agent, by the name of the member; pickled Python objects are left out.

    Raises:
        ValueError: If the file is missing, damaged or no saved agent; the message names it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if damaged := archive.testzip():
                raise ValueError(f"{path} is damaged: {damaged} has a wrong checksum")
            names = set(archive.namelist())
            if missing := {ABOUT, WEIGHTS} - names:
                raise ValueError(f"{path} is damaged or no saved agent: {', '.join(sorted(missing))} is missing")
            members: dict[str, Any] = {ABOUT: json.loads(archive.read(ABOUT))}
            if not isinstance(members[ABOUT], dict) or not {"rules", "num_players", "components"} <= set(members[ABOUT]):
                raise ValueError(f"{path} is damaged or no saved agent: {ABOUT} doesn't say what it was made for")
            for name in sorted(names):
                if name.endswith((".pth", ".pt")):
                    members[name] = torch.load(io.BytesIO(archive.read(name)), map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"{path} doesn't exist") from None
    except (OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged or no saved agent: {error}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, pickle.UnpicklingError, RuntimeError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return members
