"""Opponents in a training: other agents, and earlier selves of the learner.

If an opponent gives up a game, a random legal move is played instead and the game goes on. The first time, a warning
names the opponent and the reason. An opponent that gives up all decisions of a whole round, such as a program with a
typo in its name, stops the training.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from artus_agents.network import Network
from artus_env.agents import FORFEIT, Agent, View
from artus_training.arena.lineup import line_up
from artus_training.learn.settings import PAST, TrainingSettings
from artus_training.usage import UsageError

LEARNER = -1


class Opponents:
    """The opponents in the games of a PPO training, and the seats that they hold.

    Args:
        settings: The settings.
        network: The learner's network; its first earlier self is a copy.
        variants: Number of players, and columns in the rollout, of the games of each variant.
        seats_each: Seats of an opponent in each of its games; 0: from one to all but one, in turn.
        bfloat16: Whether earlier selves compute in bfloat16.

    Attributes:
        seats: The player on each seat: `LEARNER`, `past` or an index into `agents`; shape (games, most players).
        agents: The opponents other than earlier selves.
        past: The number in `seats` that stands for the earlier self.
        pool: Weights of earlier selves, the oldest first.
    """

    def __init__(
        self,
        settings: TrainingSettings,
        network: Network,
        variants: Sequence[tuple[int, slice]],
        seats_each: int = 0,
        bfloat16: bool = False,
    ) -> None:
        s = self.settings = settings
        self.variants = variants
        self.seats_each = seats_each
        fractions = s.fractions()
        names = [name for name, fraction in fractions.items() if fraction and name != PAST]
        self.agents: list[Agent] = [
            Opponent(name, line_up([name, name], *s.variants[0], game=s.game)[0]) for name in names
        ]
        self.past = len(names)
        self.fractions = [*(fractions[name] for name in names), fractions.get(PAST, 0.0)]
        self.seats = np.full((variants[-1][1].stop, network.shape.players), LEARNER)
        self.pool: list[dict[str, torch.Tensor]] = []
        self._earlier_network: Network | None = None
        if self.fractions[self.past]:
            self._earlier_network = Network(network.shape).to(next(network.parameters()).device)
            if bfloat16:
                self._earlier_network.bfloat16()  # so that calls don't convert weights
            self.remember(network, 0)
        self.take_all_seats()

    def earlier_self(self, updates: int) -> Network | None:
        """The earlier self that plays in a round, one for all games, so that one call of a network is enough; None if
        there are none."""
        if self._earlier_network is not None:
            self._earlier_network.load_state_dict(self.pool[updates % len(self.pool)])
        return self._earlier_network

    def remember(self, network: Network, updates: int) -> None:
        """After every `snapshot_every` updates, add a copy of the network to the pool; it replaces the oldest."""
        if self._earlier_network is not None and updates % self.settings.snapshot_every == 0:
            self.pool.append({name: value.detach().cpu().clone() for name, value in network.state_dict().items()})
            del self.pool[: -self.settings.pool_size]

    def take_all_seats(self) -> None:
        """Put opponents into all games, without regard to their seats so far."""
        self.seats[:] = LEARNER
        for index, (_, columns) in enumerate(self.variants):
            self.take_seats(index, np.arange(columns.stop - columns.start), first_time=True)

    def take_seats(self, variant: int, which: np.ndarray, first_time: bool = False) -> None:
        """Put opponents into games of a variant that have just been dealt. In each new game they move one seat further.

        Games against the first opponent come first, then those against the next, and at the end those in which all
        seats learn.

        Args:
            variant: Index of the variant.
            which: Numbers of its games that have just been dealt, shape (n,).
            first_time: Whether no opponents have sat in these games before.
        """
        num_players, columns = self.variants[variant]
        seats, count = self.seats[columns], self.seats_each
        range_start = 0.0
        for opponent, fraction in enumerate(self.fractions):
            first, last = round(range_start * len(seats)), round((range_start + fraction) * len(seats))
            range_start += fraction
            for game in which[(which >= first) & (which < last)]:
                is_opponent = seats[game, :num_players] != LEARNER
                start = game if first_time else int(np.argmax(is_opponent & ~np.roll(is_opponent, 1))) + 1
                seats[game, :num_players] = LEARNER
                opponent_seats = start + np.arange(count or 1 + game // num_players % (num_players - 1))
                seats[game, opponent_seats % num_players] = opponent


def share_rewards(reward: np.ndarray, learns: np.ndarray) -> np.ndarray:
    """Replace the rewards of the learning seats of each game by their mean.

    Args:
        reward: Rewards in n games of P players: shape (n, P), float32.
        learns: Whether a seat learns: shape (n, P), bool.

    Returns:
        The new rewards: shape (n, P), float32.
    """
    mean = (reward * learns).sum(axis=1, keepdims=True) / np.maximum(1, learns.sum(axis=1, keepdims=True))
    return np.where(learns, mean, reward).astype(np.float32)


class Opponent:
    """Wraps an agent so that all its actions are legal.

    Args:
        name: The agent's name, for messages.
        agent: The agent.

    Attributes:
        decisions: Number of decisions since the last `end_round`.
        num_given_up: Number of these decisions that were replaced by random ones.
    """

    def __init__(self, name: str, agent: Agent) -> None:
        self.name = name
        self.agent = agent
        self.decisions = self.num_given_up = 0
        self.warned = False
        self.reason = ""  # reason of the first given-up decision in the last round that had one

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            UsageError: If the agent returns anything but whole numbers, one for each game.
        """
        actions: Any = np.array(self.agent.act(view))
        if actions.shape != (len(view),) or actions.dtype.kind not in "iu":
            raise UsageError(
                f"opponent {self.name} must return {len(view)} whole numbers, got {actions.dtype} of shape "
                f"{actions.shape}"
            )
        actions = actions.astype(np.int64)
        mask = view.mask
        in_range = (actions >= 0) & (actions < mask.shape[1])
        legal = in_range & (mask[np.arange(len(view)), np.where(in_range, actions, 0)] == 1)
        if not legal.all():
            self._play_at_random(view, actions, np.flatnonzero(~legal))
        self.decisions += len(view)
        return actions

    def _play_at_random(self, view: View, actions: np.ndarray, games: np.ndarray) -> None:
        # Later reasons are less useful: a program that keeps failing isn't even started again.
        if not self.num_given_up:
            self.reason = self._failure_reason(view, actions, int(games[0]))
        if not self.warned:
            self.warned = True
            print(
                f"opponent {self.name} gave a game up ({self.reason}): random moves are played in its place",
                file=sys.stderr,
            )
        self.num_given_up += len(games)
        for game in games:
            legal = np.flatnonzero(view.mask[game])
            actions[game] = legal[int(view.keys[game] % np.uint64(len(legal)))]

    def _failure_reason(self, view: View, actions: np.ndarray, game: int) -> str:
        if actions[game] != FORFEIT:
            return f"illegal action {actions[game]}"
        reasons = getattr(self.agent, "failures", {})
        return reasons.get(int(view.games[game])) or getattr(self.agent, "failure", "") or "it gave no reason"


def end_round(opponents: Iterable[Any]) -> int:
    """Return how many decisions the opponents gave up in a round, and reset the counters.

    Raises:
        UsageError: If an opponent gave up all its decisions.
    """
    given_up = 0
    for opponent in opponents:
        if isinstance(opponent, Opponent):
            if opponent.decisions and opponent.num_given_up == opponent.decisions:
                raise UsageError(f"opponent {opponent.name} gives up every game: {opponent.reason}")
            given_up += opponent.num_given_up
            opponent.decisions = opponent.num_given_up = 0
    return given_up
