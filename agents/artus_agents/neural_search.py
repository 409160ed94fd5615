"""Network-guided search: `ppo-search`. Needs torch, as `ppo` does."""

from __future__ import annotations

import copy
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from artus_agents import guided_loops, saved
from artus_agents.endgame import open_games, solved
from artus_agents.guided_loops import (
    EDGES_PER_NODE,
    MAX_DEPTH,
    NODES_PER_EVALUATION,
    TREE,
    Leaves,
    NetworkOutput,
    Trees,
)
from artus_agents.network import Network, Output, fast_bfloat16
from artus_agents.neural import NeuralAgent, check_network, infer, trained, write_action_features
from artus_agents.tree import EDGE, node_dtype
from artus_env import DEFAULT_GAME
from artus_env.agents import View
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import key_bits
from artus_env.engine.play.rewards import mode_index

EVALUATIONS = 64
"""Default number of evaluations of `ppo-search`."""
CANDIDATES, ENDGAME_CANDIDATES = 16, 8
"""Maximum number of competing actions in `ppo-search` and in `ppo-endgame`, which has few evaluations for them."""
ENDGAME_EVALUATIONS = 24
"""Default number of evaluations of `ppo-endgame`: its decisions take two to four times as long as those of `ppo` on
average."""
MOST_EVALUATIONS = 100_000
"""A tree of this many evaluations takes up to 270 MB."""
MOST_CANDIDATES = 256
"""Positions hardly ever have more legal actions."""
MOST_GAMES = 256
"""Games searched at once: enough leaves for the network to be fast."""
MOST_EDGES = 2**22
"""Edges allocated at once, so that deep searches of many games fit into memory; one game may have more."""


class Searched(NamedTuple):
    """Results of searches in n positions."""

    action: np.ndarray
    """The chosen action: shape (n,), int64."""
    visits: np.ndarray
    """Number of trials of each action: shape (n, A), int32; 0 for illegal ones."""
    value_sums: np.ndarray
    """Sum of the player's chances to win over these trials: shape (n, A), float32."""


class NeuralSearchAgent:
    """Plays the action that wins most often in a search guided by a network's policy and values.

    The policy's favourite actions compete (sequential halving): all are tried in the same sampled deals of the hidden
    information, as often as the evaluations allow; then the worse half is dropped, and so on to the last two. They are
    ranked by the policy's logits and by their trials; the more trials, the less the logits count. Each trial walks down
    the tree by PUCT, adds the position that it reaches, and has the network evaluate it instead of playing on. In the
    tree each player maximizes their own chance to win. Hidden information determines the legal actions there, but never
    distinguishes two nodes.

    A secret choice of the searching player ends the tree, since no player may learn to answer it: the others then move
    by the policy until it is the player's turn again, and the network evaluates the position from the player's
    observation. In games that define `Definition.search_turns`, every move of the searching player ends the tree like
    this, and the policy then plays that many further turns of the player.

    The last decisions of a game without hidden information are solved exactly instead (see `endgame`), and trials that
    get near the end are completed with the exact solution.

    The agent uses only the player's own information, and takes all its randomness from `view.keys`. The games of a view
    are evaluated in the same batches. They don't influence each other, except that the last bits of the network's sums
    depend on the number of rows in a batch.

    Only the network uses several threads. The loops between two network calls are so short that threads would mostly
    wait for each other: on busy cores, two threads took ten times as long as one.

    Args:
        network: See `Network`.
        evaluations: Positions that the network evaluates for a decision, not counting the root and the positions where
            the policy plays on. With fewer than two, the agent plays the policy's favourite action.
        reward: The reward that the network's values predict: `win`, `margin` or the game's name for its points (see
            `artus_env.engine.play.rewards`).
        card: Card of the saved agent (see `saved`): the agent then plays only the variants named there.
        bfloat16: Compute in bfloat16, as for `NeuralAgent`.
        candidates: Maximum number of competing actions. With 64 evaluations both 8 and 32 won 45 to 49 % of 600 games
            against 16.

    Raises:
        ValueError: If a number is out of range; later, if the game to play doesn't have this reward.
    """

    def __init__(
        self,
        network: Network,
        evaluations: int = EVALUATIONS,
        *,
        reward: str = "win",
        card: dict[str, Any] | None = None,
        bfloat16: bool = False,
        candidates: int = CANDIDATES,
    ) -> None:
        if not 1 <= evaluations <= MOST_EVALUATIONS:
            raise ValueError(f"evaluations must be in 1..{MOST_EVALUATIONS}, got {shown(evaluations)}")
        if not 1 <= candidates <= MOST_CANDIDATES:
            raise ValueError(f"candidates must be in 1..{MOST_CANDIDATES}, got {shown(candidates)}")
        # A copy in bfloat16 saves converting the weights in each call.
        self.network = copy.deepcopy(network).bfloat16() if bfloat16 else network
        self.evaluations = evaluations
        self.reward = reward
        self.card = card
        self.bfloat16 = bfloat16
        self.candidates = candidates
        self.games_at_once = games_at_once(evaluations)
        self._plan = halving(evaluations, candidates)

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            ValueError: If the network was trained for another game or other variants.
        """
        actions = solved(view)
        unsolved = np.flatnonzero(actions < 0)
        if len(unsolved):
            actions[unsolved] = self.search(view if len(unsolved) == len(view) else view.part(unsolved)).action
        return actions

    def search(self, view: View) -> Searched:
        """Search the positions of a view.

        Raises:
            ValueError: If the network was trained for another game or other variants.
        """
        self.check_variant(view.rules, view.num_players, view.components, view.definition)
        roots = view.redeal(view.keys)  # each round samples its own deal; the true states aren't available here
        games_at_a_time = max(1, min(MOST_GAMES, MOST_EDGES // self._edges))
        size = len(view), self.network.shape.num_actions
        results = Searched(np.empty(len(view), np.int64), np.zeros(size, np.int32), np.zeros(size, np.float32))
        for low in range(0, len(view), games_at_a_time):
            part = slice(low, low + games_at_a_time)
            trees = self._search(view, part, roots[part])
            guided_loops.read_roots(trees, results.action[part], results.visits[part], results.value_sums[part])
        return results

    def check_variant(
        self, rules: str, num_players: int, components: Any, game: str | Definition = DEFAULT_GAME
    ) -> None:
        """Raise a ValueError if the network was trained for another game or other variants, or its sizes don't fit
        these components."""
        definition = find_game(game)
        mode_index(self.reward, definition.score)
        check_network(self.network, self.card, definition, rules, num_players, components)

    @property
    def _edges(self) -> int:
        """Edges allocated for one game."""
        return (self.evaluations + 1) * EDGES_PER_NODE

    def _search(self, view: View, part: slice, roots: np.ndarray) -> Trees:
        """Search a part of the games. Returns their trees, in which the best candidate comes first."""
        n, shape = len(roots), self.network.shape
        keys, legal = view.keys[part], view.legal_bits[part]
        trees = Trees(
            np.empty((n, NODES_PER_EVALUATION * self.evaluations + 1), node_dtype(legal.shape[1])),
            np.empty((n, self._edges), EDGE),
            np.empty((n, 2), np.int64),
            np.empty((n, self.candidates), np.int64),
        )
        counts = np.empty(n, np.int64)
        action_features = np.empty((n, shape.num_actions, view.definition.num_action_features), np.int8)
        network_output = self._evaluate(view.tables, roots, legal, view.observation[part], action_features)
        guided_loops.plant_all(trees, network_output, legal, counts)
        more_turns = TREE if view.definition.search_turns is None else view.definition.search_turns
        batches = batches_of(self._plan[:, counts], more_turns != TREE)
        max_leaves = max((int(batch.widths.sum()) for batch in batches), default=0)
        leaves = Leaves(
            np.empty(max_leaves, roots.dtype),
            np.empty((max_leaves, legal.shape[1]), np.uint64),
            np.empty((max_leaves, view.observation.shape[1]), np.int8),
            np.empty((max_leaves, 2, MAX_DEPTH), np.int32),
            np.empty((max_leaves, 2), np.int64),
            np.empty(max_leaves, np.bool_),
            np.empty(max_leaves, np.int64),
        )
        action_features = np.empty((max_leaves, shape.num_actions, view.definition.num_action_features), np.int8)
        mode = mode_index(self.reward, view.definition.score)
        for games, round_numbers, widths, next_widths in batches:
            offsets = np.concatenate([[0], np.cumsum(widths)])
            count, deal_seeds = int(offsets[-1]), key_bits(keys[games], round_numbers)
            guided_loops.walk(view.tables, roots, games, deal_seeds, offsets, trees, leaves, more_turns)
            self._play_policy_moves(view.tables, np.repeat(deal_seeds, widths), leaves, action_features)
            rows, output = self._evaluate_leaves(leaves.observation[:count], leaves.legal[:count])
            may_grow = np.empty(count, np.bool_)
            guided_loops.back_up(
                view.tables, games, offsets, next_widths, trees, leaves, rows, output.values.numpy(), mode, may_grow
            )
            chosen = np.flatnonzero(may_grow)  # only these leaves need priors
            if len(chosen):
                if shape.num_action_features:
                    write_action_features(
                        view.tables, leaves.states[chosen], leaves.legal[chosen], action_features, threads=1
                    )
                network_output = NetworkOutput(
                    output.logits.numpy(), output.gates.numpy(), output.values.numpy(), action_features
                )
                guided_loops.grow_all(np.repeat(games, widths)[chosen], chosen, rows, trees, leaves, network_output)
        return trees

    def _play_policy_moves(
        self, tables: np.ndarray, deal_seeds: np.ndarray, leaves: Leaves, action_features: np.ndarray
    ) -> None:
        """Let the policy play on after secret choices.

        Args:
            deal_seeds: Seed of each leaf's deal, shape (count,), uint64.
            leaves: Changed in place.
            action_features: Overwritten.
        """
        for step in range(MAX_DEPTH):
            chosen = np.flatnonzero(leaves.policy_to_move[: len(deal_seeds)])
            if not len(chosen):
                break
            states, legal, observation = leaves.states[chosen], leaves.legal[chosen], leaves.observation[chosen]
            network_output = self._evaluate(tables, states, legal, observation, action_features[: len(chosen)])
            guided_loops.play_policy_moves(tables, chosen, deal_seeds[chosen], step, leaves, network_output)

    def _evaluate_leaves(self, observation: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, Output]:
        """Evaluate the leaves where the game isn't over. Returns each leaf's row in the network's output, and this
        output.

        Args:
            observation: Observations of all leaves, shape (m, F), int8.
            legal: Legal actions of all leaves, shape (m, W), uint64.
        """
        unfinished = np.asarray(legal.any(axis=1))
        unfinished[0] = True  # the batch must not be empty
        return np.cumsum(unfinished) - 1, infer(self.network, observation[unfinished], self.bfloat16)

    def _evaluate(
        self,
        tables: np.ndarray,
        states: np.ndarray,
        legal: np.ndarray,
        observation: np.ndarray,
        action_features: np.ndarray,
    ) -> NetworkOutput:
        """Network output for n positions. `action_features` (n, A, K), int8, is overwritten."""
        if self.network.shape.num_action_features:
            write_action_features(tables, states, legal, action_features, threads=1)
        output = infer(self.network, observation, self.bfloat16)
        return NetworkOutput(output.logits.numpy(), output.gates.numpy(), output.values.numpy(), action_features)


class EndgameAgent:
    """Plays a network's policy, and searches once the game has perfect information (`perfect_information_horizon` of
    `artus_env.engine.contract.verbs`); the last decisions are solved exactly, as in every search.

    Search gains most there, and only a small part of a game's decisions is made there, so the total cost is low. In
    games that never reach perfect information, the network plays all moves.

    Args:
        search: The search agent, with its network.
    """

    games_at_once = NeuralAgent.games_at_once

    def __init__(self, search: NeuralSearchAgent) -> None:
        self.search = search
        self.network = NeuralAgent(search.network, card=search.card, bfloat16=search.bfloat16)

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            ValueError: If the network was trained for another game or other variants.
        """
        is_open = open_games(view)
        if is_open.all():
            return self.search.act(view)
        if not is_open.any():
            return self.network.act(view)
        actions = np.empty(len(view), np.int64)
        for agent, chosen in ((self.network, ~is_open), (self.search, is_open)):
            actions[chosen] = agent.act(view.part(np.flatnonzero(chosen)))
        return actions

    def check_variant(
        self, rules: str, num_players: int, components: Any, game: str | Definition = DEFAULT_GAME
    ) -> None:
        """Raise a ValueError if the network was trained for another game or other variants, or its sizes don't fit
        these components."""
        self.search.check_variant(rules, num_players, components, game)


class TrainedSearchAgent:
    """Searches in every variant of every game with the agent that comes with the game for it.

    Args:
        evaluations, bfloat16: As for `NeuralSearchAgent`.
    """

    candidates = CANDIDATES
    """Maximum number of competing actions, as for `NeuralSearchAgent`."""

    def __init__(self, evaluations: int = EVALUATIONS, *, bfloat16: bool = False) -> None:
        self.evaluations = evaluations
        self.games_at_once = games_at_once(evaluations)
        self.bfloat16 = bfloat16
        self._agents: dict[tuple[str, str, int], NeuralSearchAgent | EndgameAgent] = {}

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            ValueError: If no agent was trained for this variant or these components.
        """
        return self._agent(view.definition, view.rules, view.num_players).act(view)

    def check_variant(
        self, rules: str, num_players: int, components: Any, game: str | Definition = DEFAULT_GAME
    ) -> None:
        """Raise a ValueError if no agent was trained for this variant or these components."""
        definition = find_game(game)
        self._agent(definition, rules, num_players).check_variant(rules, num_players, components, definition)

    def _agent(self, definition: Definition, rules: str, num_players: int) -> NeuralSearchAgent | EndgameAgent:
        """The agent for a variant, made once."""
        key = definition.name, rules, num_players
        if key not in self._agents:
            network, card = trained(rules, num_players, definition)
            search = search_agent(network, card, self.evaluations, self.bfloat16, self.candidates)
            self._agents[key] = self._agent_with(search)
        return self._agents[key]

    def _agent_with(self, search: NeuralSearchAgent) -> NeuralSearchAgent | EndgameAgent:
        """The agent that plays a variant by this search."""
        return search


class TrainedEndgameAgent(TrainedSearchAgent):
    """`EndgameAgent` in every variant of every game, with the agent that comes with the game for it.

    Args:
        evaluations, bfloat16: As for `NeuralSearchAgent`.
    """

    candidates = ENDGAME_CANDIDATES

    def __init__(self, evaluations: int = ENDGAME_EVALUATIONS, *, bfloat16: bool = False) -> None:
        super().__init__(evaluations, bfloat16=bfloat16)
        self.games_at_once = EndgameAgent.games_at_once

    def _agent_with(self, search: NeuralSearchAgent) -> EndgameAgent:
        return EndgameAgent(search)


def games_at_once(evaluations: int) -> int:
    """Number of games that an agent is asked about at once (see `Agent`): enough leaves for the network to be fast, but
    only a few seconds of work."""
    return max(8, min(MOST_GAMES, 4096 // evaluations))


def find_search(argument: str = str(EVALUATIONS)) -> NeuralSearchAgent | TrainedSearchAgent:
    """The agent `ppo-search:N`, which comes with the game, or `ppo-search:N:PATH`, a saved one.

    N is the number of evaluations for a decision. The agent computes in bfloat16 where the processor has instructions
    for it.

    Raises:
        ValueError: If N is out of range or no number, or the file is missing, damaged or no saved agent that can
            search.
    """
    evaluations, path = _parse(argument, "ppo-search")
    if path is None:
        return TrainedSearchAgent(evaluations, bfloat16=fast_bfloat16())
    return _load_search(path, evaluations, CANDIDATES)


def find_endgame(argument: str = str(ENDGAME_EVALUATIONS)) -> EndgameAgent | TrainedEndgameAgent:
    """The agent `ppo-endgame:N`, which comes with the game, or `ppo-endgame:N:PATH`, a saved one; see `find_search`."""
    evaluations, path = _parse(argument, "ppo-endgame")
    if path is None:
        return TrainedEndgameAgent(evaluations, bfloat16=fast_bfloat16())
    return EndgameAgent(_load_search(path, evaluations, ENDGAME_CANDIDATES))


def saved_files(argument: str) -> list[Path]:
    """The weights that `find_search` and `find_endgame` would read for this argument, unless they come with the
    game."""
    path = argument.partition(":")[2]
    return [Path(path).with_suffix(saved.WEIGHTS)] if path else []


find_search.files = find_endgame.files = saved_files  # type: ignore[attr-defined]  # for fingerprints


def _parse(argument: str, name: str) -> tuple[int, Path | None]:
    """Parse an argument `64` or `64:PATH` into number of evaluations and path. `name` is the agent's name, for the
    error message."""
    match = re.fullmatch(r"([0-9]{1,9})(?::(.+))?", argument, re.DOTALL)
    evaluations = int(match[1]) if match else 0
    if match is None or not 1 <= evaluations <= MOST_EVALUATIONS:
        raise ValueError(
            f"{name} needs a number of evaluations in 1..{MOST_EVALUATIONS}, alone or with a saved agent "
            f"({name}:64 or {name}:64:PATH), got {shown(argument)}"
        )
    return evaluations, Path(match[2]) if match[2] else None


def _load_search(path: Path, evaluations: int, candidates: int) -> NeuralSearchAgent:
    """A saved agent that searches.

    Raises:
        ValueError: If the file is missing, damaged or no saved agent that can search.
    """
    network, card = saved.load_agent(path)
    try:
        return search_agent(network, card, evaluations, fast_bfloat16(), candidates)
    except ValueError as error:
        raise ValueError(f"{path.with_suffix(saved.CARD)}: {error}") from error


def search_agent(
    network: Network, card: dict[str, Any], evaluations: int, bfloat16: bool, candidates: int = CANDIDATES
) -> NeuralSearchAgent:
    """A search agent with a saved network.

    Raises:
        ValueError: If the card doesn't name the reward that the values predict, or the game doesn't have this reward.
    """
    return NeuralSearchAgent(
        network, evaluations, reward=reward_of(card), card=card, bfloat16=bfloat16, candidates=candidates
    )


def reward_of(card: dict[str, Any]) -> str:
    """The reward that the values of a saved network predict.

    Raises:
        ValueError: If the card doesn't name it, or the game doesn't have this reward.
    """
    settings = card.get("settings")
    reward = None
    if isinstance(settings, dict):  # the values predict the reward at the end of the training
        reward = settings.get("final_reward") or settings.get("reward")
    if not isinstance(reward, str):
        raise ValueError(
            f"a card must say in settings what the values are about: reward or final_reward, got {settings!r}"
        )
    mode_index(reward, find_game(saved.game_of(card)).score)
    return reward


class Rounds(NamedTuple):
    """Rounds of several games whose leaves are evaluated together."""

    games: np.ndarray
    """Index of each round's game: shape (rounds,), int64."""
    numbers: np.ndarray
    """Number of the round within its game: shape (rounds,), int64."""
    widths: np.ndarray
    """Number of candidates tried in the round: shape (rounds,), int64."""
    next_widths: np.ndarray
    """Number of candidates tried in the game's next round: shape (rounds,), int64."""


def batches_of(widths: np.ndarray, independent: bool) -> list[Rounds]:
    """The rounds of a search in order, in batches.

    Args:
        widths: Number of candidates that each of n games tries in each round, shape (rounds + 1, n), int64; the last
            row is 0.
        independent: Whether no tree grows between the rounds: then successive rounds with the same candidates form one
            batch.
    """
    games, numbers = np.nonzero((widths > 0).T)
    batch_numbers = numbers
    if independent:
        batch_numbers = np.cumsum(np.diff(widths, axis=0, prepend=widths[:1]) != 0, axis=0)[numbers, games]
    order = np.argsort(batch_numbers, kind="stable")  # within a batch by game, then by number
    games, numbers = games[order], numbers[order]
    parts = np.split(np.arange(len(order)), np.flatnonzero(np.diff(batch_numbers[order])) + 1)
    return [
        Rounds(games[part], numbers[part], widths[numbers[part], games[part]], widths[numbers[part] + 1, games[part]])
        for part in parts
        if len(part)
    ]


def halving(evaluations: int, candidates: int) -> np.ndarray:
    """Number of candidates tried in each round (sequential halving): shape (rounds + 1, candidates + 1), int64.

    Column c is for a position with c candidates. Each stage of the halving gets about the same share of the
    evaluations; the last row is 0.
    """
    columns = []
    for count in range(candidates + 1):
        widths: list[int] = []
        budget, width = evaluations, count
        while width > 1:
            stages = math.ceil(math.log2(width))
            rounds = budget // width if width == 2 else min(max(1, budget // stages // width), budget // width)
            widths += [width] * rounds
            budget -= rounds * width
            width = (width + 1) // 2
        columns.append(widths)
    rounds = max(map(len, columns))
    return np.array([widths + [0] * (rounds + 1 - len(widths)) for widths in columns], np.int64).T.copy()
