"""The policy and value network."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition

HEAD_MULTIPLE = 32
"""The last layer's width is rounded up to a multiple of this: processors prefer whole blocks. Extra outputs are
unused."""
MAX_LAYERS = 32
MAX_WEIGHTS = 100_000_000
"""Limits of a network's size, so that neither a file nor a typo can make us allocate arbitrary amounts of memory."""


class Output(NamedTuple):
    """Output of a network for n positions; float32."""

    logits: torch.Tensor
    """Logits of all actions, also illegal ones, without the action features: shape (n, A)."""
    gates: torch.Tensor
    """Weight of ten units of each action feature in an action's logit: shape (n, K); K = 0: no action features."""
    values: torch.Tensor
    """Future reward of the player to move and the players after them, in turn: shape (n, players)."""


@dataclass(frozen=True)
class Shape:
    """Parameters that a network is built from. Saved with the weights."""

    observation_size: int
    num_actions: int
    players: int
    """Maximum number of players; the network has a value for each."""
    hidden: tuple[int, ...] = (256, 256)
    """Width of the hidden layers, which policy and values share."""
    num_action_features: int = 0
    """Action features that the policy uses: the first ones of the game, which may append more."""

    @classmethod
    def of(
        cls, definition: Definition, components: Any, hidden: tuple[int, ...] = (256, 256), action_features: bool = True
    ) -> Shape:
        """The shape for a game with these components.

        Args:
            hidden: Width of the hidden layers.
            action_features: Whether the policy uses the game's action features.
        """
        return cls(
            len(definition.observation_scale(components)),
            len(definition.action_table(components)),
            definition.max_players,
            hidden,
            definition.num_action_features if action_features else 0,
        )

    def check(self) -> None:
        """Raise a ValueError unless these are sizes of a network that we would build."""
        sizes = [self.observation_size, *self.hidden, self.num_actions + self.players + self.num_action_features]
        if not 1 <= len(self.hidden) <= MAX_LAYERS or min(self.hidden) < 1:
            raise ValueError(
                f"hidden needs the widths of 1..{MAX_LAYERS} layers, each at least 1, got {shown(list(self.hidden))}"
            )
        if min(self.observation_size, self.num_actions, self.players) < 1 or self.num_action_features < 0:
            raise ValueError(f"a network needs features, actions and players, got {shown(self.to_dict())}")
        if sum(inputs * outputs for inputs, outputs in itertools.pairwise(sizes)) > MAX_WEIGHTS:
            raise ValueError(f"hidden: a network may have {MAX_WEIGHTS:,} weights, got {shown(list(self.hidden))}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"hidden": list(self.hidden)}


class Network(nn.Module):
    """Hidden layers shared by policy and values, and one layer for all outputs: one large product is faster than three.

    The scale of observations is part of the first layer's weights: int8 features go in unscaled.

    Args:
        shape: Sizes.
        scale: Multiplies the initial weights of each feature, so that all features start with similar influence: shape
            (F,); None: ones.
        gates: Initial gates of the action features (see `Output.gates`): K numbers, or none for zeros.
    """

    def __init__(self, shape: Shape, scale: np.ndarray | None = None, gates: Sequence[float] = ()) -> None:
        super().__init__()
        self.shape = shape
        layers: list[nn.Module] = []
        for inputs, outputs in zip([shape.observation_size, *shape.hidden], shape.hidden, strict=False):
            layer = linear(inputs, outputs, 2**0.5)
            if scale is not None and not layers:
                layer.weight.data *= torch.from_numpy(np.array(scale, np.float32))
            layers += [layer, nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        actions, values = shape.num_actions, shape.num_actions + shape.players
        num_used = values + shape.num_action_features
        self.head = nn.Linear(shape.hidden[-1], num_used + -num_used % HEAD_MULTIPLE)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        nn.init.orthogonal_(self.head.weight.data[:actions], 0.01)
        nn.init.orthogonal_(self.head.weight.data[actions:values], 0.1)
        if shape.num_action_features and gates:
            self.head.bias.data[values:num_used] = torch.tensor(gates)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Compute the outputs for observations of shape (n, F), int8: shape (n, outputs); `split` separates them. Runs
        in bfloat16 under autocast."""
        if not torch.is_autocast_enabled(observation.device.type):
            return self.head(self.trunk(observation.to(torch.float32)))
        count = len(observation)
        padded = nn.functional.pad(observation, (0, 0, 0, padded_rows(count) - count))
        return self.head(self.trunk(padded.to(torch.bfloat16)))[:count]

    def split(self, rows: torch.Tensor) -> Output:
        """The logits, gates and values in rows of outputs, as views of the same memory."""
        sizes = (self.shape.num_actions, self.shape.players, self.shape.num_action_features)
        logits, values, gates, _ = rows.split([*sizes, rows.shape[1] - sum(sizes)], dim=1)
        return Output(logits, gates, values)


def padded_rows(count: int) -> int:
    """Number of rows that a batch of `count` rows is padded to in bfloat16: rounded up to five binary digits, by less
    than 1 in 16.

    oneDNN, which torch calls for bfloat16, compiles and keeps code for each number of rows, about 1 MB for each of the
    last 1,024. Searches and training with `past` use a different number of rows in almost every call.
    """
    step = 1 << max(0, count.bit_length() - 5)
    return -(-count // step) * step


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """A layer with orthogonal weights of this gain and zero bias."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def fast_bfloat16() -> bool:
    """Whether this processor has instructions for bfloat16."""
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))


def hidden_sizes(layers: Iterable[nn.Module]) -> tuple[int, ...]:
    """Widths of the linear layers in a sequence of layers."""
    return tuple(layer.out_features for layer in layers if isinstance(layer, nn.Linear))
