"""Self-play of actors, in units: pure functions of the settings, of the version of the weights and of the games'
numbers.

A game is first played to its end by the policy, so that it is known which of its decisions are the last ones. From the
first of these on it is played once more, and searched. Whoever plays a unit, the same bits come of it: each uses one
thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from safetensors.torch import load, save

from artus_agents.network import Network, Shape
from artus_agents.neural import NeuralAgent, view_action_features
from artus_agents.neural_search import NeuralSearchAgent, Searched
from artus_env import Batch
from artus_env.agents import View, choose_actions, wins_of
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import key_bits, seed_stream
from artus_training.arena.made_of import made_of
from artus_training.learn.expert.games import Decisions, Games, joined, no_decisions

DOUBT = 4.0
"""An action's mean is taken for that of so many trials more, which were worth what its position is: a single lucky
trial says little."""
_DEALS, _DRAWS, _SEARCHES, _ANCHORS = range(60, 64)  # purposes of the seed streams


class Unit(NamedTuple):
    """Some games to play."""

    made_of: str
    """What they must be made of: see `Games`."""
    version: int
    """Of the weights."""
    first: int
    """Number of the first game."""
    num_games: int
    """How many."""


@dataclass(frozen=True)
class Play:
    """All that games depend on beside the weights; see `settings.Settings`."""

    game: str
    rules: str
    num_players: int
    seed: int
    hidden: tuple[int, ...]
    evaluations: int
    search_last: int
    play: Literal["search", "policy"]
    certainty: float
    search_value: float
    anchors: int
    bfloat16: bool


class SelfPlay:
    """Plays units with one version of the weights. It can be sent to other processes, which find the game anew.

    Args:
        play: How.
        version: Of the weights.
        weights: What plays and searches: `packed`.
        anchor: The policy to stay near to where nothing is searched: `packed`.
    """

    def __init__(self, play: Play, version: int, weights: bytes, anchor: bytes) -> None:
        self._arguments = (play, version, weights, anchor)
        self.play, self.version = play, version
        self.definition = find_game(play.game)
        shape = Shape.of(self.definition, self.definition.standard, play.hidden)
        plays, stays = unpacked(weights, shape), unpacked(anchor, shape)
        if play.bfloat16:  # once, so that no call has to convert them
            plays, stays = plays.bfloat16(), stays.bfloat16()
        self.policy = NeuralAgent(plays, sample=True, bfloat16=play.bfloat16)
        self.anchor = NeuralAgent(stays, bfloat16=play.bfloat16)
        self.search = NeuralSearchAgent(plays, play.evaluations, bfloat16=play.bfloat16)
        self.made_of = made_of(repr(play), self.definition, ())

    def __reduce__(self) -> tuple[type[SelfPlay], tuple[Play, int, bytes, bytes]]:
        return SelfPlay, self._arguments

    def __call__(self, unit: Unit) -> Games:
        """Play the games of a unit.

        Raises:
            ValueError: If it is for other settings, other code or another version of the weights.
        """
        if (unit.made_of, unit.version) != (self.made_of, self.version):
            raise ValueError(
                f"{unit} is of another training than what plays it: made of {self.made_of}, version {self.version}"
            )
        with one_thread():
            return self._play(unit)

    def _play(self, unit: Unit) -> Games:
        s, n = self.play, unit.num_games
        draws, searches, order = (
            seed_stream(s.seed, n, purpose, unit.first) for purpose in (_DRAWS, _SEARCHES, _ANCHORS)
        )
        batch = self._games(n)
        batch.reset(seed_stream(s.seed, n, _DEALS, unit.first))
        holders = np.zeros((n, s.num_players), np.int64)
        before = []
        """The games before each decision."""
        lengths = np.zeros(n, np.int64)
        while len(going := np.flatnonzero(~batch.over)):
            before.append(batch.states.copy())
            batch.step(choose_actions(batch, [self.policy], holders, draws, going), going)
            lengths[going] += 1
        states = np.stack(before)
        begins = np.maximum(0, lengths - s.search_last) if s.search_last else np.zeros(n, np.int64)
        if s.play == "search":
            parts, batch, lengths = self._search_on(states[begins, np.arange(n)], begins, searches)
        else:
            every = np.arange(len(states))[:, None]
            numbers, games = np.nonzero((every >= begins) & (every < lengths))
            parts = self._searched(self._games_in(states[numbers, games]), games, numbers, searches)
        parts += self._anchored(states, begins, order)
        wins = wins_of(batch.outcomes)
        rows = [part.decisions._replace(values=self._values(part, wins)) for part in parts]
        decisions = joined(rows or [no_decisions(self.policy.network.shape)])
        return Games(self.made_of, self.version, unit.first, n, int(lengths.sum()), decisions)

    def _games(self, count: int) -> Batch:
        """Games of the variant."""
        s = self.play
        return Batch(count, rules=s.rules, num_players=s.num_players, threads=1, autoreset=False, game=self.definition)

    def _games_in(self, states: np.ndarray) -> Batch:
        """Games in these states."""
        batch = self._games(len(states))
        batch.states[:] = states
        batch.refresh()
        return batch

    # --- decisions that are searched ---

    def _search_on(
        self, states: np.ndarray, begins: np.ndarray, searches: np.ndarray
    ) -> tuple[list[_Part], Batch, np.ndarray]:
        """Let the search play from these states to the end: its decisions, the finished games, and how many decisions
        each has had in all."""
        batch, numbers, games = self._games_in(states), begins.copy(), np.arange(len(begins))
        parts = []
        while len(going := np.flatnonzero(~batch.over)):
            actions = batch.mask.argmax(axis=1)  # the only one, unless it is searched
            for part in self._searched(batch, games, numbers, searches):
                actions[part.games] = part.actions
                parts.append(part)
            batch.step(actions[going], going)
            numbers[going] += 1
        return parts, batch, numbers

    def _searched(self, batch: Batch, games: np.ndarray, numbers: np.ndarray, searches: np.ndarray) -> list[_Part]:
        """Search the positions of a batch that have several legal actions, if there are any.

        Args:
            batch: The positions.
            games: Of the unit, to which each of them belongs: shape (len(batch),), int64.
            numbers: Of the decision in its game: likewise.
            searches: Keys of the unit's games, shape (n,), uint64.
        """
        which = several_actions(batch)
        if not len(which):
            return []
        view = View(batch, which, key_bits(searches[games], numbers))
        prior, _ = self.policy.evaluate(view)
        found = self.search.search(view)
        better = improved(prior, found, self.play.certainty)
        return [self._part(view, games[which], better.policy, better.gain, better.value, found.action)]

    # --- decisions to stay near to ---

    def _anchored(self, states: np.ndarray, begins: np.ndarray, order: np.ndarray) -> list[_Part]:
        """Some decisions of each game that come before those that are searched, if there are any, and what the anchor's
        policy is there.

        Args:
            states: Before each decision: shape (longest, n).
            begins: The decision of each game from which on it is searched: shape (n,).
            order: Keys that say which are taken, shape (n,), uint64.
        """
        chosen = []
        for game, begin in enumerate(begins.tolist()):
            bits = key_bits(np.full(begin, order[game]), np.arange(begin))
            chosen += [(number, game) for number in np.sort(np.argsort(bits)[: self.play.anchors])]
        if not chosen:
            return []
        numbers, games = np.array(chosen, np.int64).T
        batch = self._games_in(states[numbers, games])
        which = several_actions(batch)
        if not len(which):
            return []
        view = View(batch, which, np.zeros(len(batch), np.uint64))
        policy, _ = self.anchor.evaluate(view)
        return [self._part(view, games[which], policy)]

    # --- what is kept of them ---

    def _part(
        self,
        view: View,
        games: np.ndarray,
        policy: np.ndarray,
        gain: np.ndarray | None = None,
        value: np.ndarray | None = None,
        actions: np.ndarray | None = None,
    ) -> _Part:
        shape, count = self.policy.network.shape, len(view)
        rows, legal = np.nonzero(view.mask)
        action_features = (
            view_action_features(view)[rows, legal] if shape.num_action_features else np.zeros((len(rows), 0), np.int8)
        )
        decisions = Decisions(
            view.observation.copy(),
            np.concatenate([[0], np.cumsum(view.mask.sum(axis=1, dtype=np.int64))]),
            legal.astype(np.int16),
            action_features,
            policy[rows, legal].astype(np.float16),
            np.full((count, shape.players), np.nan, np.float16),
            np.full(count, gain is not None),
            np.zeros(count, np.float16) if gain is None else gain.astype(np.float16),
        )
        return _Part(decisions, games, view.player.astype(np.int64), value, actions)

    def _values(self, part: _Part, wins: np.ndarray) -> np.ndarray:
        """The values that a part's decisions should have had: shape (R, P), float16.

        Args:
            wins: Each player's part of the win in the games of the unit: shape (n, num_players).
        """
        s, players = self.play, self.play.num_players
        values = np.full(part.decisions.values.shape, np.nan, np.float32)
        in_turn = (part.players[:, None] + np.arange(players)) % players
        values[:, :players] = reward_for(wins[part.games[:, None], in_turn], players)
        if part.value is not None and s.search_value:
            more = s.search_value * (reward_for(part.value, players) - values[:, 0])
            values[:, 0] += more
            values[:, 1:players] -= more[:, None] / (players - 1)
        return values.astype(np.float16)


class _Part(NamedTuple):
    """Decisions whose values aren't known yet."""

    decisions: Decisions
    games: np.ndarray
    """Of the unit: shape (R,), int64."""
    players: np.ndarray
    """Who decides: shape (R,), int64."""
    value: np.ndarray | None
    """The chance to win that the search sees: shape (R,)."""
    actions: np.ndarray | None
    """What the search plays: shape (R,), int64."""


def several_actions(batch: Batch) -> np.ndarray:
    """The games that aren't over and in which more than one action is legal: shape (r,), int64."""
    return np.flatnonzero(batch.mask.sum(axis=1, dtype=np.int64) > 1)


def reward_for(wins: np.ndarray, players: int) -> np.ndarray:
    """What a part of the win is paid with in the reward mode `win`; any shape."""
    return (players * wins - 1) / (players - 1)


class Improved(NamedTuple):
    """What a search makes of a policy in n positions."""

    policy: np.ndarray
    """shape (n, A), float64; 0 for illegal actions."""
    gain: np.ndarray
    """How much better it is, in chances to win: shape (n,)."""
    value: np.ndarray
    """The chance to win with it: shape (n,)."""


def improved(prior: np.ndarray, found: Searched, certainty: float) -> Improved:
    """The policy that a search recommends (completed Q-values, Danihelka et al. 2022): a softmax of the prior's logits
    and of what each action is worth.

    An action that was never tried is taken to be worth what the tried ones are, weighted by the prior; the others
    nearly so where they were tried seldom.

    Args:
        prior: The policy that was searched with, shape (n, A); 0 for illegal actions.
        found: What the search has found.
        certainty: What a sure win, beside a sure loss, adds to an action's logit.
    """
    prior = prior.astype(np.float64)
    tried = found.visits > 0
    known = np.where(tried, prior, 0)
    means = found.worth / np.maximum(1, found.visits)
    with np.errstate(divide="ignore", invalid="ignore"):
        position = np.nan_to_num((known * means).sum(axis=1) / known.sum(axis=1))[:, None]
        worth = np.where(tried, (found.worth + DOUBT * position) / (found.visits + DOUBT), position)
        logits = np.log(prior) + certainty * worth
    policy = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    policy /= policy.sum(axis=1, keepdims=True)
    return Improved(policy, ((policy - prior) * worth).sum(axis=1), (policy * worth).sum(axis=1))


def packed(network: Network) -> bytes:
    """A network's weights, which nothing can change any more."""
    return save({name: value.detach().contiguous() for name, value in network.state_dict().items()})


def unpacked(weights: bytes, shape: Shape) -> Network:
    """The network that `packed` has saved."""
    with torch.device("meta"):
        network = Network(shape)
    network.load_state_dict(load(weights), assign=True)
    return network.requires_grad_(False)


@contextmanager
def one_thread() -> Iterator[None]:
    """With one torch thread: several add up sums in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
