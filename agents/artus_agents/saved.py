"""Saved agents: weights as safetensors, and beside them a card in JSON that says what they are.

    beginner-2.safetensors    numbers, nothing else: loading runs no code from the file
    beginner-2.json           the card: variants, network, checksum of the weights, settings, versions, strength

The card says `format` 1, `variants` ([[rules, num_players], ...]), `components` (hash of the box), `network` (see
`network.Shape`) and `weights` (SHA-256 of the other file); whoever trained it adds what else there is to know.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from artus_agents import CARD, WEIGHTS
from artus_agents.network import Network, Shape
from artus_env.engine.files import write_atomically

FORMAT = 1
MOST_NUMBERS = 100_000_000
"""A network with more is not ours: a card must not make us ask for any amount of memory."""


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
        card = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ValueError(f"{path} doesn't exist: a saved agent has a card beside its weights") from None
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged or no card: {error}") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        found = card.get("format") if isinstance(card, dict) else type(card).__name__
        raise ValueError(f"{path} is no card that this version can read: format must be {FORMAT}, got {found!r}")
    if not _are_variants(card.get("variants")):
        raise ValueError(f"{path}: variants must be a list of [rules, num_players], got {card.get('variants')!r}")
    for name in ("components", "weights"):
        if not isinstance(card.get(name), str):
            raise ValueError(f"{path}: {name} must be a hash, got {card.get(name)!r}")
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
        if found is None or found.shape != value.shape or not found.is_floating_point():
            what = "nothing" if found is None else f"{found.dtype} of shape {tuple(found.shape)}"
            raise ValueError(f"{path}: {name} must be numbers of shape {tuple(value.shape)}, got {what}")
        if not found.isfinite().all():
            raise ValueError(f"{path}: {name} has numbers that are not finite")
    if extra := sorted(set(weights) - set(network.state_dict())):
        raise ValueError(f"{path} has numbers that no part of the network takes: {', '.join(extra)}")
    network.load_state_dict({name: value.float() for name, value in weights.items()}, assign=True)
    return network.requires_grad_(False), card


def _are_variants(given: Any) -> bool:
    return (
        isinstance(given, list)
        and bool(given)
        and all(
            isinstance(variant, list) and len(variant) == 2 and isinstance(variant[0], str) and isinstance(variant[1], int)
            for variant in given
        )
    )


def _shape(given: Any, path: Path) -> Shape:
    """The network that a card describes.

    Raises:
        ValueError: If it can't be.
    """

    def is_size(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1_000_000

    try:
        sizes = [given["observation_size"], *given["hidden"], given["num_actions"]]
        if not all(map(is_size, sizes)) or len(sizes) < 3 or not isinstance(given["outlook"], bool):
            raise ValueError(given)
        if sum(before * after for before, after in itertools.pairwise(sizes)) > MOST_NUMBERS:
            raise ValueError(given)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path}: network must say observation_size, num_actions, hidden and outlook, got {given!r}") from None
    return Shape(sizes[0], sizes[-1], tuple(sizes[1:-1]), given["outlook"])


def variants_of(card: dict[str, Any]) -> Sequence[tuple[str, int]]:
    """The variants that a card names."""
    return [(rules, num_players) for rules, num_players in card["variants"]]
