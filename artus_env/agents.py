"""The interface for programs that define agents or let them play.

An agent is any object with `act(view) -> actions`, see `Agent` and `View`; a function `(observation, action_mask) ->
action` works as well. `find_agent` finds agents by name, `play_games` lets them play whole games, and `choose_actions`
asks them for one action in each game of a `Batch`. Search algorithms call `verbs`, a game's compiled rules.
"""

from artus_env.engine.agents.match import (
    Played,
    fair_seats,
    play_games,
    seat_orders,
    standing_outcomes,
    wins_of,
)
from artus_env.engine.agents.names import agent_factory, agent_names, find_agent, runs_program, split_name
from artus_env.engine.agents.view import FORFEIT, Agent, AgentError, View, choose_actions
from artus_env.engine.contract import verbs
from artus_env.engine.contract.rng import key_bits, seed_stream

__all__ = [
    "FORFEIT", "Agent", "AgentError", "Played", "View", "agent_factory", "agent_names", "choose_actions",
    "fair_seats", "find_agent", "key_bits", "play_games", "runs_program", "seat_orders", "seed_stream",
    "split_name", "standing_outcomes", "verbs", "wins_of",
]  # fmt: skip
