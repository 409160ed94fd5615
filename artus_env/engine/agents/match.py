"""Play whole games between agents, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from artus_env.engine.agents.view import FORFEIT, Agent, choose_actions, with_agent_name
from artus_env.engine.play.batch import Batch
from artus_env.engine.play.choosers import NO_ACTION, chooser_of
from artus_env.engine.play.game import IllegalMoveError

DECISIONS_AT_ONCE = 128
"""Decisions of each game per compiled call; each takes two bytes of memory."""
MOST_TO_PERMUTE = 4
"""With more players there are too many seat orders to play all of them."""


@dataclass(frozen=True)
class Played:
    """Results of N games between agents."""

    scores: np.ndarray
    """Points at the end: shape (N, num_players), int32."""
    outcomes: np.ndarray
    """Values that rank the players at the end (see `Batch.outcomes`): shape (N, num_players), int32."""
    forfeits: np.ndarray
    """The player who resigned, -1 if none did: shape (N,), int8."""
    reasons: dict[int, str]
    """Reason of each resignation, by game."""
    actions: list[np.ndarray]
    """One array for each step, the actions of all games: shape (N,), int16; `FORFEIT` from a resignation on and after
    the end of a game."""

    def wins(self) -> np.ndarray:
        """Each player's share of the win: shape (N, num_players), float64, rows sum to 1."""
        return wins_of(standing_outcomes(self.outcomes, self.forfeits))


def standing_outcomes(outcomes: np.ndarray, forfeits: np.ndarray) -> np.ndarray:
    """Outcomes for ranking: a player who resigned is last. Shapes (..., P) and (...) -> (..., P), float64."""
    has_resigned = np.arange(outcomes.shape[-1]) == forfeits[..., None]
    return np.where(has_resigned, -np.inf, outcomes.astype(np.float64))


def wins_of(outcomes: np.ndarray) -> np.ndarray:
    """Each player's share of the win, equal for joint winners. Shape (..., P) -> (..., P), float64, sums to 1."""
    is_winner = outcomes == outcomes.max(axis=-1, keepdims=True)
    return is_winner / is_winner.sum(axis=-1, keepdims=True)


def seat_orders(players: int) -> np.ndarray:
    """Return orders of a line-up such that each agent sits directly behind each other agent equally often.

    For up to four players these are all orders. With P > 4 players these would be too many. There, each order is place
    0 of the line-up, then the other P - 1 places, which form a circle, along a zigzag through that circle: 0, 1, -1, 2,
    -2, ... Rotating the zigzag by one place at a time makes P - 1 orders. Its steps, 1, -2, 3, -4, ..., are all
    different if P is odd. If P is even, only every second step occurs, twice; the reversed zigzag has the other steps,
    and adds P - 1 orders.

    Returns:
        The seat of each place, 0 for the first place: shape (orders, players), int64. `fair_seats` adds the rotations.
    """
    if players <= MOST_TO_PERMUTE:
        return np.array([(0, *seats) for seats in permutations(range(1, players))])
    circle = players - 1
    zigzag = np.array([step // 2 + 1 if step % 2 else -(step // 2) for step in range(circle)])
    zigzags = (zigzag, -zigzag) if players % 2 == 0 else (zigzag,)
    place_of_seat = [(0, *((path + shift) % circle + 1)) for path in zigzags for shift in range(circle)]
    return np.argsort(place_of_seat, axis=1)


def fair_seats(deals: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return fair seats for a line-up: each deal is played in every rotation, and each deal uses the next order.

    With rotations alone each agent would sit behind the same opponent in all games, and that can matter more than
    playing strength.

    Args:
        deals: Numbers of the deals: shape (D,).
        orders: See `seat_orders`. The first order suffices if orders don't matter, as among copies of one agent.

    Returns:
        The seat of each place of the line-up: shape (D, rotations, places), int64.
    """
    players = orders.shape[1]
    return (orders[deals % len(orders)][:, None, :] + np.arange(players)[:, None]) % players


def play_games(
    batch: Batch,
    agents: Sequence[Agent],
    agent_of_seat: np.ndarray,
    keys: np.ndarray,
    names: Sequence[str] | None = None,
) -> Played:
    """Play every game of a batch (without autoreset) to its end.

    Args:
        batch: The games, at any position.
        agents: The agents.
        agent_of_seat: Agent of each seat: shape (N, num_players), indices into `agents`.
        keys: A key for each game's decisions, shape (N,), uint64.
        names: Names of the agents in messages; None: the names of their types.

    Raises:
        IllegalMoveError: If an agent plays an illegal action; the message names agent, game and move.
        ValueError: If the batch has autoreset, or an agent returns no actions; the message names the agent.
    """
    if batch.autoreset:
        raise ValueError("play_games needs a batch with autoreset=False")
    agent_of_seat, keys = agent_of_seat.copy(), keys.copy()
    choosers = [chooser_of(agent) for agent in agents]
    if None not in choosers:
        return _play_compiled(batch, np.array(choosers)[agent_of_seat], keys)
    forfeits = np.full(len(batch), -1, np.int8)
    reasons: dict[int, str] = {}
    actions = []
    running = ~batch.over
    agent_of_seat[~running] = -1
    while running.any():
        chosen_actions = choose_actions(batch, agents, agent_of_seat, keys, names=names)
        has_resigned = running & (chosen_actions == FORFEIT)
        forfeits[has_resigned] = batch.player[has_resigned]
        for game in np.flatnonzero(has_resigned):
            agent = agents[agent_of_seat[game, batch.player[game]]]
            failures: dict[int, str] = getattr(agent, "failures", {})
            reasons[int(game)] = failures.get(int(batch.numbers[game]), getattr(agent, "failure", "gave up"))
        agent_of_seat[has_resigned] = -1
        running &= ~has_resigned
        chosen_actions[~running] = FORFEIT
        actions.append(chosen_actions.astype(np.int16))
        which = None if running.all() else np.flatnonzero(running)
        try:
            batch.step(chosen_actions if which is None else chosen_actions[which], which)
        except IllegalMoveError as error:
            raise with_agent_name(error, batch, agents, agent_of_seat, names) from None
        running &= ~batch.over
        agent_of_seat[~running] = -1
    return Played(batch.scores.copy(), batch.outcomes, forfeits, reasons, actions)


def _play_compiled(batch: Batch, choosers: np.ndarray, keys: np.ndarray) -> Played:
    """`play_games` for agents that all choose in compiled code.

    Args:
        batch, keys: As for `play_games`.
        choosers: Chooser of each seat (see `chooser_of`): shape (N, num_players), int64.
    """
    actions: list[np.ndarray] = []
    decisions = DECISIONS_AT_ONCE
    while decisions == DECISIONS_AT_ONCE:
        rows = np.empty((DECISIONS_AT_ONCE, len(batch)), np.int16)
        batch.play_out(choosers, keys, rows)
        decisions = int((rows != NO_ACTION).any(axis=1).sum())
        actions.extend(rows[:decisions])
    return Played(batch.scores.copy(), batch.outcomes, np.full(len(batch), -1, np.int8), {}, actions)
