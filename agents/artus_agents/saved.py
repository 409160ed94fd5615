"""Saved agents: weights as safetensors, and a card in JSON that describes them.

    agent.safetensors    numbers only: loading runs no code from the file
    agent.json           the card: game, variants, network, checksum of the weights, settings, versions, strength

The card has `format` 1, `game`, `variants` ([[rules, num_players], ...]), `components` (hash of the box), `network`
(see `network.Shape`) and `weights` (SHA-256 of the other file); the trainer adds further information. A card without a
game belongs to the default game. Its `network` may have `action_features`, true or false, instead of the sizes that the
game defines.
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
from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import convert, decode, shown
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.contract.registry import find_game

FORMAT = 1
FIRST_ACTION_FEATURES = 3
"""Number of action features in old cards, which have only `action_features` true or false: the default game had this
many then, and more have been appended since."""
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

Count = Annotated[int, Meta(ge=0, le=10**18)]
Part = Annotated[float, Meta(ge=0, le=1)]
Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]{1,64}\Z")]
Name = Annotated[str, Meta(pattern=r"^[a-z0-9-]{1,40}\Z")]
Matchup = Annotated[str, Meta(pattern=r"^[a-z0-9-]+-[1-9][0-9]?/.")]
"""Variant and evaluation opponent: `RULES-PLAYERS/AGENT`."""


@dataclass
class Point:
    """A point of a learning curve: win rate and mean margin in points against each evaluation opponent."""

    steps: Count
    seconds: Annotated[float, Meta(ge=0)]
    wins: dict[Matchup, Part]
    margin: dict[Matchup, float]


@dataclass
class Strength:
    """Results of the finished agent against another one."""

    against: str
    games: Count
    wins: Part
    wins_95: tuple[Part, Part]
    margin: float


@dataclass
class Card:
    """Fields that are read from a card. `format`, which is checked first, and those without a default are required."""

    variants: Annotated[list[tuple[Name, int]], Meta(min_length=1, max_length=100)]
    components: Hash
    weights: Hash
    game: Name = DEFAULT_GAME
    command: str = ""
    steps: Count = 0
    minutes: Annotated[float, Meta(ge=0)] = 0
    strength: list[Strength] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Sizes:
    """Sizes of a network in a card; see `Shape`. Older cards have `action_features`, true or false, instead of the
    optional numbers."""

    observation_size: int
    num_actions: int
    hidden: list[int]
    players: int | None = None
    num_action_features: int | None = None
    action_features: bool | None = None


def save_agent(path: Path, network: Network, card: dict[str, Any], dtype: torch.dtype = torch.float32) -> None:
    """Save a network and its card. Each file is replaced at once or not at all, the card last.

    Args:
        path: Path of the weights; its suffix becomes `.safetensors`, the card's `.json`.
        network: The network.
        card: Further contents of the card: `variants` and `components`, and `game` unless it is the default one.
        dtype: Type of the saved weights. bfloat16 is lossless for a network that was trained in bfloat16.
    """
    weights = save({name: value.detach().cpu().to(dtype).contiguous() for name, value in network.state_dict().items()})
    card = {"format": FORMAT, "game": DEFAULT_GAME} | card
    card |= {"network": network.shape.to_dict(), "weights": hashlib.sha256(weights).hexdigest()}
    write_atomically(path.with_suffix(WEIGHTS), weights)
    write_atomically(path.with_suffix(CARD), _card_bytes(card))


def add_to_card(path: Path, key: str, entries: Sequence[dict[str, Any]]) -> None:
    """Append entries to a list in the card of a saved agent, except those already there; the weights stay.

    Raises:
        ValueError: As for `read_card`; or if the card has no list at this key, or can't be written.
    """
    card = read_card(path)
    old_entries = card.get(key, [])
    if not isinstance(old_entries, list):
        raise ValueError(f"{path.with_suffix(CARD)}: {key} must be a list, got {shown(old_entries)}")
    card[key] = [*old_entries, *(entry for entry in entries if entry not in old_entries)]
    try:
        write_atomically(path.with_suffix(CARD), _card_bytes(card))
    except OSError as error:
        raise ValueError(f"{path.with_suffix(CARD)} can't be written: {error.strerror}") from error


def _card_bytes(card: dict[str, Any]) -> bytes:
    return (json.dumps(card, indent=1) + "\n").encode()


def read_card(path: Path) -> dict[str, Any]:
    """The card of a saved agent, validated.

    Raises:
        ValueError: If it is missing, damaged or no card; the message names the file and the error.
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
        card_format = shown(card.get("format"))
        raise ValueError(f"{path} is no card that this version can read: format must be {FORMAT}, got {card_format}")
    try:
        convert(card, Card)
    except ValueError as error:
        raise ValueError(f"{path} is no card of a saved agent: {error}") from error
    return card


def load_agent(path: Path) -> tuple[Network, dict[str, Any]]:
    """A saved network and its card. Nothing in the files is executed.

    Args:
        path: Path of the weights or of the card.

    Raises:
        ValueError: If a file is missing, damaged, truncated or something else; the message names the file and the
            error.
    """
    card = read_card(path)
    shape = _shape(card, path.with_suffix(CARD))
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
    with torch.device("meta"):  # shapes only: no weights are initialized
        network = Network(shape)
    for name, value in network.state_dict().items():
        found = weights.get(name)
        if found is None or found.shape != value.shape or found.dtype not in FLOATS:
            description = "nothing" if found is None else f"{found.dtype} of shape {tuple(found.shape)}"
            raise ValueError(f"{path}: {name} must be numbers of shape {tuple(value.shape)}, got {description}")
        weights[name] = found.float()
        if not weights[name].isfinite().all():
            raise ValueError(f"{path}: {name} has numbers that are not finite in float32")
    if extra_names := sorted(set(weights) - set(network.state_dict())):
        raise ValueError(f"{path} has numbers that no part of the network takes: {', '.join(extra_names)}")
    network.load_state_dict(weights, assign=True)
    return network.requires_grad_(False), card


def _shape(card: dict[str, Any], path: Path) -> Shape:
    """The network that a card describes.

    Raises:
        ValueError: If it is invalid; or if the sizes come from the game (older cards) and the game isn't installed.
    """
    try:
        sizes = convert(card.get("network"), Sizes)
        players, num_action_features = sizes.players, sizes.num_action_features
        if players is None or num_action_features is None:
            if sizes.action_features is None:
                raise ValueError("players and num_action_features are missing")
            definition = find_game(game_of(card))
            players, num_action_features = definition.max_players, FIRST_ACTION_FEATURES if sizes.action_features else 0
        shape = Shape(sizes.observation_size, sizes.num_actions, players, tuple(sizes.hidden), num_action_features)
        shape.check()
    except ValueError as error:
        raise ValueError(
            f"{path}: network must say observation_size, num_actions, players, hidden and num_action_features: {error}"
        ) from None
    return shape


def game_of(card: dict[str, Any]) -> str:
    """The name of a card's game."""
    return str(card.get("game", DEFAULT_GAME))


def variants_of(card: dict[str, Any]) -> Sequence[tuple[str, int]]:
    """A card's variants: pairs of rules and number of players."""
    return [(rules, num_players) for rules, num_players in card["variants"]]
