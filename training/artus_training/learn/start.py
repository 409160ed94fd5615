"""Trainings that begin with saved weights (`--start`)."""

from __future__ import annotations

import dataclasses
from operator import le
from pathlib import Path
from typing import NamedTuple

import torch

from artus_agents.network import Network, Shape
from artus_agents.neural import trained
from artus_agents.saved import game_of, load_agent
from artus_env.engine.basics.reading import shown
from artus_training.arena.lineup import in_full
from artus_training.learn.settings import TrainingSettings


class Start(NamedTuple):
    """Initial weights of a training, instead of random ones."""

    weights: dict[str, torch.Tensor]
    """Argument for `Network.load_state_dict`, which copies the weights; float32."""
    hash: str
    """SHA-256 of the weights' file."""


def find_start(settings: TrainingSettings, shape: Shape) -> Start | None:
    """Find the initial weights of a training; None if they are random, or come from its own checkpoint.

    An older agent may have fewer action features than its game has now: then it has the first ones, and the training
    learns the weights of the others. Its hidden layers may be narrower than those of the training.

    Args:
        settings: Settings of the training.
        shape: Shape of the trained network.

    Raises:
        ValueError: If there is no such agent, it plays another game, or its network has other sizes.
    """
    if settings.start is None or settings.resume:
        return None
    kind, _, path = in_full(settings.start).partition(":")
    if kind != "ppo":
        raise ValueError(f"start must be ppo, ppo:PATH or the path of a saved agent, got {shown(settings.start)}")
    definition = settings.definition
    network, card = load_agent(Path(path)) if path else trained(settings.rules, settings.num_players, definition)
    if game_of(card) != definition.name:
        raise ValueError(f"start {settings.start} plays the game {game_of(card)}, this training is for {settings.game}")
    hidden = shape.hidden if can_widen(network.shape.hidden, shape.hidden) else network.shape.hidden
    num_action_features = (
        shape.num_action_features
        if 0 < network.shape.num_action_features < shape.num_action_features
        else network.shape.num_action_features
    )
    network = grown(network, hidden, num_action_features)
    found_sizes, needed_sizes = network.shape.to_dict(), shape.to_dict()
    if differing := [name for name in needed_sizes if found_sizes[name] != needed_sizes[name]]:
        parts = (f"{name} {shown(found_sizes[name])}, expected {shown(needed_sizes[name])}" for name in differing)
        raise ValueError(f"start {settings.start} has another network than this training: {'; '.join(parts)}")
    return Start(network.state_dict(), card["weights"])


def can_widen(hidden: tuple[int, ...], wider: tuple[int, ...]) -> bool:
    """Whether layers of widths `hidden` can be widened to `wider`: as many layers, and none of them is wider there."""
    return len(hidden) == len(wider) and all(map(le, hidden, wider))


def grown(network: Network, hidden: tuple[int, ...], num_action_features: int) -> Network:
    """Enlarge a network without changing its output: wider hidden layers, and more action features.

    A new unit's weights for the old units of the layer before are random, each with the standard deviation of the old
    units' weights for the same input. All other new weights are 0, so new units and features have no effect yet.
    """
    generator = torch.Generator().manual_seed(0)
    with torch.device("meta"):  # allocates no weights
        large = Network(dataclasses.replace(network.shape, hidden=hidden, num_action_features=num_action_features))
    num_outputs = network.shape.num_actions + network.shape.players + network.shape.num_action_features
    weights = network.state_dict()
    for name, template in large.state_dict().items():
        is_head = name.startswith("head")
        old = weights[name][:num_outputs] if is_head else weights[name]
        new = torch.zeros(template.shape)
        new[tuple(map(slice, old.shape))] = old
        if old.dim() == 2 and not is_head:
            rows, columns = old.shape
            spread = old.std(dim=0, correction=0)
            new[rows:, :columns] = torch.randn(len(new) - rows, columns, generator=generator) * spread
        weights[name] = new
    large.load_state_dict(weights, assign=True)
    return large
