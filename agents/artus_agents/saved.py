"""Saved agents: weights as safetensors, and beside them a card in JSON that says what they are.

    beginner-2.safetensors    numbers, nothing else: loading runs no code from the file
    beginner-2.json           the card: variants, network, checksum of the weights, settings, versions, strength

The card says `format` 1, `variants` ([[rules, num_players], ...]), `components` (hash of the box), `network` (see
`network.Shape`) and `weights` (SHA-256 of the other file); whoever trained it adds what else there is to know.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
from msgspec import Meta
from safetensors import SafetensorError
from safetensors.torch import load, save

from artus_agents import CARD, WEIGHTS
from artus_agents.network import Network, Shape
from artus_env.engine.files import write_atomically
from artus_env.engine.reading import convert, decode, shown

FORMAT = 1
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

Count = Annotated[int, Meta(ge=0, le=10**18)]
Part = Annotated[float, Meta(ge=0, le=1)]
Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]{1,64}\Z")]
Rules = Annotated[str, Meta(pattern=r"^[a-z]{1,20}\Z")]
Judged = Annotated[str, Meta(pattern=r"^[a-z]+-[2-9]/.")]
"""Variant and judge, such as `beginner-2/greedy`."""


@dataclass
class Point:
    """A point of a learning curve: how often the agent won against each judge, and by how many points."""

    steps: Count
    seconds: Annotated[float, Meta(ge=0)]
    wins: dict[Judged, Part]
    margin: dict[Judged, float]


@dataclass
class Strength:
    """How the finished agent did against another one."""

    against: str
    games: Count
    wins: Part
    wins_95: tuple[Part, Part]
    margin: float


@dataclass
class Card:
    """What is read from a card, if it is there; `format`, `variants`, `components` and `weights` must be."""

    variants: Annotated[list[tuple[Rules, int]], Meta(min_length=1, max_length=100)]
    components: Hash
    weights: Hash
    command: str = ""
    steps: Count = 0
    minutes: Annotated[float, Meta(ge=0)] = 0
    strength: list[Strength] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Sizes:
    """The network that a card describes; see `Shape`."""

    observation_size: int
    num_actions: int
    hidden: list[int]
    outlook: bool


def save_agent(path: Path, network: Network, card: dict[str, Any], dtype: torch.dtype = torch.float32) -> None:
    """Save a network and its card. Each file is replaced at once or not at all, the card last.

    Args:
        path: Of the weights; its suffix becomes `.safetensors`, the card's `.json`.
        network: What plays.
        card: What to say about it, with `variants` and `components`.
        dtype: Of the saved numbers. A network trained in bfloat16 loses nothing by it.
    """
    weights = save({name: value.detach().cpu().to(dtype).contiguous() for name, value in network.state_dict().items()})
    card = {"format": FORMAT} | card
    card |= {"network": network.shape.to_dict(), "weights": hashlib.sha256(weights).hexdigest()}
    write_atomically(path.with_suffix(WEIGHTS), weights)
    write_atomically(path.with_suffix(CARD), (json.dumps(card, indent=1) + "\n").encode())


def read_card(path: Path) -> dict[str, Any]:
    """The card of a saved agent, checked.

    Raises:
        ValueError: If it is missing, damaged or no such card; the message names the file and what is wrong.
    """
    path = path.with_suffix(CARD)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path} doesn't exist: a saved agent has a card beside its weights") from None
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from error
    try:
        card = decode(content, dict[str, Any])
    except ValueError as error:
        raise ValueError(f"{path} is damaged or no card: {error}") from error
    if card.get("format") != FORMAT:
        found = shown(card.get("format"))
        raise ValueError(f"{path} is no card that this version can read: format must be {FORMAT}, got {found}")
    try:
        convert(card, Card)
    except ValueError as error:
        raise ValueError(f"{path} is no card of a saved agent: {error}") from error
    return card


def load_agent(path: Path) -> tuple[Network, dict[str, Any]]:
    """A saved network and its card. Nothing in the files is executed.

    Args:
        path: Of the weights or the card.

    Raises:
        ValueError: If a file is missing, damaged, truncated or something else; the message names it and what is wrong.
    """
    card = read_card(path)
    shape = _shape(card.get("network"), path.with_suffix(CARD))
    path = path.with_suffix(WEIGHTS)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path} doesn't exist") from None
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != card["weights"]:
        raise ValueError(
            f"{path} is damaged or not the file that its card describes: the checksum is another ({len(content)} bytes)"
        )
    try:
        weights = load(content)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"{path} holds no weights: {error}") from error
    with torch.device("meta"):  # sizes without numbers: nothing is drawn
        network = Network(shape)
    for name, value in network.state_dict().items():
        found = weights.get(name)
        if found is None or found.shape != value.shape or found.dtype not in FLOATS:
            what = "nothing" if found is None else f"{found.dtype} of shape {tuple(found.shape)}"
            raise ValueError(f"{path}: {name} must be numbers of shape {tuple(value.shape)}, got {what}")
        weights[name] = found.float()
        if not weights[name].isfinite().all():
            raise ValueError(f"{path}: {name} has numbers that are not finite in float32")
    if extra := sorted(set(weights) - set(network.state_dict())):
        raise ValueError(f"{path} has numbers that no part of the network takes: {', '.join(extra)}")
    network.load_state_dict(weights, assign=True)
    return network.requires_grad_(False), card


def _shape(given: Any, path: Path) -> Shape:
    """The network that a card describes.

    Raises:
        ValueError: If it can't be.
    """
    try:
        sizes = convert(given, Sizes)
        shape = Shape(sizes.observation_size, sizes.num_actions, tuple(sizes.hidden), sizes.outlook)
        shape.check()
    except ValueError as error:
        raise ValueError(
            f"{path}: network must say observation_size, num_actions, hidden and outlook: {error}"
        ) from None
    return shape


def variants_of(card: dict[str, Any]) -> Sequence[tuple[str, int]]:
    """The variants that a card names."""
    return [(rules, num_players) for rules, num_players in card["variants"]]
