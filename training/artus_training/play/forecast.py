"""Hints and reviews: estimates of how a game will end.

The game is played to its end many times, each time with a different deal of the hidden information. A fast and good
agent makes the moves: the network that was trained for the variant, otherwise `lookahead`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from artus_env import Game
from artus_env.agents import Agent, View, play_games
from artus_env.engine.contract.rng import seed_stream
from artus_training.arena.lineup import find_player
from artus_training.play import strength
from artus_training.play.agent_moves import batch_of, view_of

Check = Callable[[], object]
"""Called between parts of the work."""
_HINTS = 31  # purpose of a seed stream: the agent's choice for a hint


def unchecked() -> None:
    """Never stop the work."""


DEALS = 40
"""Games played to the end for each move of a hint."""
CANDIDATES = 4
"""Maximum number of moves compared for a hint."""
SHOWN = 3
"""Maximum number of moves in a hint."""
POSITIONS, DEALS_OF_POSITION = 40, 20
"""Review: number of positions with calculated chances, and games for each."""
TURNS = 3
"""Review: maximum number of a player's decisions that are analysed, those around which their chances fell most."""


class Prospect(NamedTuple):
    """Expected result of a move for its player."""

    move: str
    wins: float
    """Fraction of games won; joint wins count in part."""
    lead: float
    """Mean lead over the best other player, in points."""


def quick_agent(game: Game) -> str:
    """The agent that plays games to their end."""
    trained = strength.strongest(game.definition, game.rules, game.num_players) == strength.LEVELS["master"]
    return "ppo" if trained else strength.LEVELS["medium"]


def prospects(game: Game, actions: Sequence[int], key: int, deals: int = DEALS) -> list[Prospect]:
    """Expected results of actions of the player to move, all in the same deals.

    Uses only this player's own information.

    Args:
        game: The game.
        actions: Legal actions, shape (C,).
        key: Seed of the deals.
        deals: Number of deals.
    """
    player = game.player
    redealt = [game.redeal(player, int(seed)) for seed in seed_stream(key, deals, 0)]
    states = np.concatenate([np.stack([each.state for each in redealt])] * len(actions))
    first_actions = np.repeat(np.asarray(actions, np.int64), deals)
    wins, leads = play_to_end(game, states, key, first_actions)
    shape = len(actions), deals
    mean_wins, mean_leads = (values[:, player].reshape(shape).mean(axis=1).tolist() for values in (wins, leads))
    return [
        Prospect(game.move(action), win, lead) for action, win, lead in zip(actions, mean_wins, mean_leads, strict=True)
    ]


def chances(game: Game, key: int) -> list[float]:
    """Each player's chance to win, from the information of the player to move."""
    states = np.stack([game.redeal(game.player, int(seed)).state for seed in seed_stream(key, DEALS_OF_POSITION, 0)])
    wins, _ = play_to_end(game, states, key)
    return [float(chance) for chance in wins.mean(axis=0)]


def play_to_end(
    game: Game, states: np.ndarray, key: int, first_actions: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Play games of one variant to their end, from these states on.

    Args:
        game: A game of the variant.
        states: Shape (N,).
        key: Seed of the agents.
        first_actions: The next action in each game, shape (N,); unless given, the agents choose it.

    Returns:
        Each player's share of the win, and their lead over the best other player: shapes (N, num_players), float64.
    """
    batch = batch_of(game, len(states), threads=1)
    batch.states[:] = states
    batch.refresh()
    if first_actions is not None:
        batch.step(first_actions)
    agent_of_seat = np.zeros((len(states), game.num_players), np.int64)
    played = play_games(batch, [find_player(quick_agent(game))], agent_of_seat, seed_stream(key, len(states), 1))
    scores = played.scores.astype(np.float64)
    best_others = [np.delete(scores, player, axis=1).max(axis=1) for player in range(game.num_players)]
    return played.wins(), scores - np.stack(best_others, axis=1)


def hint(game: Game, key: int, check: Check = unchecked) -> list[Prospect]:
    """The best moves of the player to move and their expected results, from this player's own information.

    Args:
        game: The game. It isn't changed.
        key: Seed of the deals.
        check: Called between parts of the work: an exception in it ends the work.
    """
    number = len(game.actions_played)
    view = view_of(batch_of(game, threads=1), game, seed_stream(key, number + 1, _HINTS)[-1:])
    return advice(game, view, key + number, check)


def advice(game: Game, view: View, key: int, check: Check = unchecked) -> list[Prospect]:
    """The best moves of the player to move: the strongest agent's choice, then others by their expected results."""
    agent: Any = find_player(strength.strongest(game.definition, game.rules, game.num_players))
    best = int(agent.act(view)[0])
    check()
    alternatives = [action for action in promising(game, agent, view) if action != best][: CANDIDATES - 1]
    check()
    first, *others = prospects(game, [best, *alternatives], key)
    others.sort(key=lambda prospect: (-round(prospect.wins, 2), -prospect.lead))
    return [first, *others][:SHOWN]


def promising(game: Game, agent: Any, view: View) -> list[int]:
    """Legal actions, the most promising first: by visits of the search if the agent is `ismcts`, else by the network's
    probabilities."""
    if hasattr(agent, "consider"):
        weights = agent.consider(view)[1][0]
    else:
        from artus_agents.neural import NeuralAgent, trained  # torch is installed if this agent is

        network, card = trained(game.rules, game.num_players, game.definition)
        weights = NeuralAgent(network, card=card).evaluate(view)[0][0]
    legal = game.legal_actions()
    return sorted(legal, key=lambda action: (-float(weights[action]), action))


class Lapse(NamedTuple):
    """A decision for which another move had a better expected result."""

    number: int
    """Number of moves before it."""
    played: Prospect
    better: Prospect


class Review(NamedTuple):
    """Analysis of a finished game."""

    numbers: list[int]
    """Number of moves before each position with calculated chances."""
    chances: list[list[float]]
    """Each player's chances, at each of these positions."""
    lapses: list[Lapse | None]
    """The worst lapse of each player in `players`, None if no better move was found."""


def review(
    games: Sequence[Game], moves: Sequence[tuple[int, int]], players: Sequence[int], key: int, check: Check = unchecked
) -> Review:
    """Analyse a finished game.

    Args:
        games: The game before the first move, and after each move.
        moves: (player, action) of each move.
        players: Players whose lapses are searched for.
        key: Seed of the deals.
        check: Called before each position: an exception in it ends the work.
    """
    last = len(games) - 1
    numbers = sorted({round(last * i / POSITIONS) for i in range(POSITIONS)} - {last})
    position_chances = []
    for number in numbers:
        check()
        position_chances.append(chances(games[number], key + number))
    if games[last].over:
        winners = games[last].winners
        position_chances.append([(player in winners) / len(winners) for player in range(games[last].num_players)])
    else:  # ended by resignation: chances at that point
        position_chances.append(chances(games[last], key + last))
    return Review(
        [*numbers, last],
        position_chances,
        [lapse(games, moves, player, numbers, position_chances, key, check) for player in players],
    )


def lapse(
    games: Sequence[Game], moves: Sequence[tuple[int, int]], player: int, numbers: Sequence[int],
    position_chances: Sequence[Sequence[float]], key: int, check: Check = unchecked,
) -> Lapse | None:  # fmt: skip
    """The worst lapse of a player, among the decisions with the largest drops of their chances; None if there is none.

    Args:
        games, moves, key, check: See `review`.
        player: The player.
        numbers: Number of moves before each position with calculated chances, without the last position.
        position_chances: Each player's chances at each of these positions and the last one.
    """
    own_chances = np.interp(
        np.arange(len(games)), [*numbers, len(games) - 1], [each[player] for each in position_chances]
    )
    decisions = [
        number for number, (mover, _) in enumerate(moves) if mover == player and len(games[number].legal_actions()) > 1
    ]
    decisions.sort(key=lambda number: own_chances[min(number + 2, len(games) - 1)] - own_chances[max(0, number - 1)])
    lapses = []
    for number in decisions[:TURNS]:
        check()
        game, played = games[number], moves[number][1]
        agent: Agent = find_player(quick_agent(game))
        better = int(agent.act(view_of(batch_of(game, threads=1), game, seed_stream(key + number, 1, 2)))[0])
        if better != played:
            played_prospect, better_prospect = prospects(game, [played, better], key + number)
            lapses.append(Lapse(number, played_prospect, better_prospect))
    worst = max(lapses, key=lambda lapse: lapse.better.wins - lapse.played.wins, default=None)
    return worst if worst and worst.better.wins > worst.played.wins else None
