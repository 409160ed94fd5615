"""A trained network as an agent. Needs torch (`pip install "artus-env[ppo]"`), but no training code."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from artus_agents import saved
from artus_agents.network import Network, Output, Shape
from artus_agents.policy import SCALE, action_features, choose
from artus_env import DEFAULT_GAME
from artus_env.agents import View
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.compiling.threads import run_shares, scratch, shares, threads_for
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game

GAMES_PER_THREAD = 128
SAMPLE = "sample"
ONE_THREAD_LIMIT = 256
"""Below about this number of positions, one thread is faster than several that wait for each other."""


class NeuralAgent:
    """Plays the actions of a network's policy.

    Args:
        network: See `Network`.
        sample: Draw actions with the network's probabilities; otherwise take the likeliest one.
        card: Card of the saved agent (see `saved`): the agent then plays only the variants named there.
        bfloat16: Compute in bfloat16. Several times as fast where the processor supports it; the last bits differ.
    """

    games_at_once = 1024

    def __init__(
        self, network: Network, *, sample: bool = False, card: dict[str, Any] | None = None, bfloat16: bool = False
    ) -> None:
        self.network = network
        self.sample = sample
        self.card = card
        self.bfloat16 = bfloat16

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            ValueError: If the network was trained for another game or other variants.
        """
        output, features = self._run(view)
        actions, _ = draw_actions(output, view.legal_bits, features, view.keys, self.sample)
        return actions

    def evaluate(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        """The network's policy and values for the positions of a view.

        Returns:
            The probability of every action, shape (n, A), float32; and the expected future reward of the player to move
            and the players after them in turn: shape (n, num_players), float32.

        Raises:
            ValueError: If the network was trained for another game or other variants.
        """
        output, features = self._run(view)
        logits = output.logits
        if num_used := output.gates.shape[1]:  # the network may use only the first features
            used_features = torch.from_numpy(features[:, :, :num_used]).float()
            logits = logits + float(SCALE) * (used_features @ output.gates[:, :, None])[:, :, 0]
        logits = logits.masked_fill(torch.from_numpy(view.mask == 0), -torch.inf)
        return torch.softmax(logits, dim=1).numpy(), output.values[:, : view.num_players].numpy()

    def _run(self, view: View) -> tuple[Output, np.ndarray]:
        """The network's output for the positions of a view, and their action features: shape (n, A, K), int8."""
        self.check_variant(view.rules, view.num_players, view.components, view.definition)
        features = (
            view_action_features(view)
            if self.network.shape.num_action_features
            else np.zeros((len(view), 1, 0), np.int8)
        )
        return infer(self.network, view.observation, self.bfloat16), features

    def check_variant(
        self, rules: str, num_players: int, components: Any, game: str | Definition = DEFAULT_GAME
    ) -> None:
        """Raise a ValueError if the network was trained for another game or other variants, or its sizes don't fit
        these components."""
        check_network(self.network, self.card, find_game(game), rules, num_players, components)


class TrainedAgent:
    """Plays every variant of every game with the agent that comes with the game for it.

    Args:
        sample: As for `NeuralAgent`.
    """

    games_at_once = NeuralAgent.games_at_once

    def __init__(self, *, sample: bool = False) -> None:
        self.sample = sample

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            ValueError: If no agent was trained for this variant or these components.
        """
        network, card = trained(view.rules, view.num_players, view.definition)
        return NeuralAgent(network, sample=self.sample, card=card).act(view)

    def check_variant(
        self, rules: str, num_players: int, components: Any, game: str | Definition = DEFAULT_GAME
    ) -> None:
        """Raise a ValueError if no agent was trained for this variant or these components."""
        definition = find_game(game)
        check_network(*trained(rules, num_players, definition), definition, rules, num_players, components)


def find_trained(argument: str = "") -> NeuralAgent | TrainedAgent:
    """The agent `ppo`, which comes with the game, or `ppo:PATH`, a saved one; `ppo:sample` and `ppo:sample:PATH` draw
    actions with the network's probabilities instead of taking the likeliest one.

    Raises:
        ValueError: If the file is missing, damaged or no saved agent.
    """
    path, sample = path_and_sample(argument)
    if not path:
        return TrainedAgent(sample=sample)
    network, card = saved.load_agent(Path(path))
    return NeuralAgent(network, sample=sample, card=card)


def saved_files(argument: str) -> list[Path]:
    """The weights that `find_trained` would read for this argument, unless they come with the game."""
    path, _ = path_and_sample(argument)
    return [Path(path).with_suffix(saved.WEIGHTS)] if path else []


find_trained.files = saved_files  # type: ignore[attr-defined]  # for fingerprints


def path_and_sample(argument: str) -> tuple[str, bool]:
    """Split an argument of `ppo` into the path, empty if there is none, and whether actions are drawn."""
    first, _, path = argument.partition(":")
    return (path, True) if first == SAMPLE else (argument, False)


def trained(rules: str, num_players: int, game: str | Definition = DEFAULT_GAME) -> tuple[Network, dict[str, Any]]:
    """The network that comes with a game for a variant, and its card.

    It is `RULES-PLAYERS.safetensors` in the folder named in the game's definition, otherwise `shared.safetensors`.

    Raises:
        ValueError: If there is no such network, or its files are damaged.
    """
    definition = find_game(game)
    if definition.trained is not None:
        for name in (f"{rules}-{num_players}", "shared"):
            path = Path(definition.trained) / f"{name}{saved.WEIGHTS}"
            if path.exists():
                return _load_once(path)
    raise ValueError(
        f"no trained agent comes with {definition.name} for {rules} with {num_players} players: train one and name its "
        "file, as in ppo:PATH"
    )


_load_once = cache(saved.load_agent)


def check_network(
    network: Network, card: dict[str, Any] | None, definition: Definition, rules: str, num_players: int, components: Any
) -> None:
    """Raise a ValueError unless a network fits a variant of a game: trained for it, according to the card, and with the
    sizes that these components need.

    Compiled loops read the network's output without bounds checks.
    """
    if card is not None:
        check_card(card, definition, rules, num_players, components)
    shape = network.shape
    needed = Shape.of(definition, components)
    if (shape.observation_size, shape.num_actions) != (needed.observation_size, needed.num_actions):
        raise ValueError(
            f"this network takes {shape.observation_size} features and knows {shape.num_actions} actions, "
            f"this box has {needed.observation_size} and {needed.num_actions}"
        )
    if shape.players != needed.players or shape.num_action_features > needed.num_action_features:
        raise ValueError(
            f"this network has values for {shape.players} players and {shape.num_action_features} action features, "
            f"{definition.name} has {needed.players} and at most {needed.num_action_features}"
        )


def check_card(card: dict[str, Any], definition: Definition, rules: str, num_players: int, components: Any) -> None:
    """Raise a ValueError unless an agent with this card was trained for a variant of a game."""
    if saved.game_of(card) != definition.name:
        raise ValueError(f"this agent was trained for the game {saved.game_of(card)}, not for {definition.name}")
    if (rules, num_players) not in saved.variants_of(card):
        variants = " or ".join(f"{rules} with {players} players" for rules, players in saved.variants_of(card))
        raise ValueError(f"this agent was trained for {variants}, not for {rules} with {num_players} players")
    if card["components"] != components.hash:
        raise ValueError(f"this agent was trained for the box {card['components']}, not for {components.hash}")


def infer(network: Network, observation: np.ndarray, bfloat16: bool = False) -> Output:
    """Run a network on observations (n, F), int8. The output is on the CPU, also if the network isn't."""
    device = next(network.parameters()).device
    threads_before = torch.get_num_threads()
    # torch doesn't know of CPU quotas
    threads = 1 if len(observation) < ONE_THREAD_LIMIT else min(threads_before, available_cores())
    if threads != threads_before:
        torch.set_num_threads(threads)
    try:
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
            return network.split(network(torch.from_numpy(observation).to(device)).float().cpu())
    finally:
        if threads != threads_before:
            torch.set_num_threads(threads_before)


def view_action_features(view: View) -> np.ndarray:
    """The action features of every legal action of a view, from its players' knowledge: shape (n, A, K), int8; 0 for
    illegal actions."""
    features = np.zeros((len(view), view.mask.shape[1], view.definition.num_action_features), np.int8)
    write_action_features(view.tables, view.known(), view.legal_bits, features)
    return features


def write_action_features(
    tables: np.ndarray, states: np.ndarray, legal: np.ndarray, out: np.ndarray, threads: int = 0
) -> None:
    """Write `policy.action_features` of n games into `out`, with several threads (0: one per core) where that is
    faster."""
    bounds = shares(len(states), threads_for(len(states), GAMES_PER_THREAD, threads))
    scratch_games = scratch(len(bounds) - 1, 2, states.dtype)
    run_shares(action_features, (tables, states, legal, scratch_games, out), bounds)


def draw_actions(
    output: Output, legal: np.ndarray, out: np.ndarray, bits: np.ndarray, sample: bool, threads: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Choose actions for n games (see `policy.choose`), with several threads (0: one per core) where that is faster.
    `out` are the action features. Returns the actions and their log-probabilities, shapes (n,)."""
    count = len(legal)
    actions, log_probs = np.empty(count, np.int64), np.empty(count, np.float32)
    bounds = shares(count, threads_for(count, GAMES_PER_THREAD, threads))
    arguments = (output.logits.numpy(), output.gates.numpy(), legal, out, bits, sample, actions, log_probs)
    run_shares(choose, arguments, bounds)
    return actions, log_probs
