"""Games for OpenSpiel's algorithms: `load(game="artus")` returns a `pyspiel.Game`. Needs `pip install open-spiel`.

A game begins with a chance node that deals, as OpenSpiel requires. The deal also fixes all later random events, hidden
from the players. By default it is drawn from all possible deals (OpenSpiel calls that sampled stochastic). With the
argument `deals`, the chance node has one outcome for each of these deals, all equally likely: the game is then a finite
tree, as exact algorithms require.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from artus_env.engine.basics.numbers import whole_number
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import DEFAULT_GAME, find_game
from artus_env.engine.play.game import Game
from artus_env.engine.play.rewards import WIN

try:
    import pyspiel
except ImportError as error:
    raise ImportError("artus_env.openspiel needs OpenSpiel: pip install open-spiel") from error

NAME = "artus_env"
"""Name of all games in OpenSpiel: `pyspiel.load_game("artus_env(game=royal,num_players=3)")`. The parameter
`game_name` is the same as `game`, for functions with their own parameter `game`:
`rl_environment.Environment("artus_env", game_name="royal")`."""
MOST_DECISIONS = 10_000
"""Upper bound of the decisions in a game; OpenSpiel asks for it before the first game."""
PARAMETERS = {
    "game": DEFAULT_GAME, "game_name": "", "rules": "", "num_players": 2, "seed": -1, "components": "", "deals": "",
}  # fmt: skip
TYPE = {
    "short_name": NAME,
    "long_name": "Games of artus_env",
    "dynamics": pyspiel.GameType.Dynamics.SEQUENTIAL,
    "information": pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    "utility": pyspiel.GameType.Utility.ZERO_SUM,
    "reward_model": pyspiel.GameType.RewardModel.TERMINAL,
    "max_num_players": 6,
    "min_num_players": 2,
    "provides_information_state_string": True,
    "provides_information_state_tensor": False,
    "provides_observation_string": True,
    "provides_observation_tensor": True,
    "parameter_specification": PARAMETERS,
}
SAMPLED = pyspiel.GameType(chance_mode=pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC, **TYPE)
EXPLICIT = pyspiel.GameType(chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC, **TYPE)


def load(
    game: str = DEFAULT_GAME,
    rules: str | None = None,
    num_players: int = 2,
    seed: int | None = None,
    components: Any = None,
    deals: Sequence[Game] = (),
) -> OpenSpielGame:
    """A game for OpenSpiel, with the rewards of mode `win`.

    Args:
        game, rules, num_players, components: The variant, as for `Game`.
        seed: Seed of the stream of deals, below 2^31; None: a random one.
        deals: Possible start positions, all equally likely; empty: all deals.

    Raises:
        ValueError: If the variant doesn't exist, or a deal belongs to another variant.
        TypeError: If the components can't be serialized.
    """
    definition = find_game(game)
    rules, box = definition.check_variant(rules, num_players), definition.box(components)
    for deal in deals:
        if (deal.definition, deal.rules, deal.num_players, deal.components) != (definition, rules, num_players, box):
            raise ValueError(
                f"deals must be of {game}, {rules}, {num_players} players, with the same box, got {deal!r}"
            )
    if components is not None and not hasattr(box, "to_dict"):
        raise TypeError(
            f"components need to_dict and from_dict, as artus_env.engine.contract.components.Box has "
            f"them, got {shown(box)}"
        )
    parameters = {
        "game": definition.name,
        "rules": rules,
        "num_players": num_players,
        "seed": -1 if seed is None else whole_number("seed", seed, 0, 2**31 - 1),
        "components": "" if components is None else _as_text(box.to_dict()),
        "deals": _as_text([deal.to_dict() for deal in deals]) if deals else "",
    }
    return pyspiel.load_game(NAME, parameters)


class OpenSpielGame(pyspiel.Game):
    """One variant of a game. The parameters that `load` builds describe it completely, including box and deals, so that
    OpenSpiel can serialize it.

    Attributes:
        definition, rules, components: The variant.
        num_seats: Number of players.
        deals: Possible start positions; empty: all deals.
        rng: Generator for the deals.
        scale: Factors that scale an observation to small floats: shape (F,), float32.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        parameters = {**PARAMETERS, **(params or {})}
        self.definition: Definition = find_game(parameters["game_name"] or parameters["game"])
        self.num_seats: int = parameters["num_players"]
        self.rules = self.definition.check_variant(parameters["rules"] or None, self.num_seats)
        self.components = self.definition.standard
        if parameters["components"]:
            box: Any = self.definition.components_type
            self.components = box.from_dict(_from_text(parameters["components"]))
        self.deals = [
            Game.from_dict(position, self.components, game=self.definition)
            for position in _from_text(parameters["deals"] or _as_text([]))
        ]
        self.rng = np.random.default_rng(parameters["seed"] if parameters["seed"] >= 0 else None)
        self.scale = self.definition.observation_scale(self.components)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.definition.action_table(self.components)),
            max_chance_outcomes=max(1, len(self.deals)),
            num_players=self.num_seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=MOST_DECISIONS,
        )
        super().__init__(EXPLICIT if self.deals else SAMPLED, info, params or {})

    def new_initial_state(self) -> OpenSpielState:
        """The chance node before the deal."""
        return OpenSpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """1: the deal is the only chance node."""
        return 1

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> OpenSpielObserver:
        """Observer of states: with perfect recall it gives the text of an information state, otherwise an
        observation."""
        perfect_recall = iig_obs_type is not None and iig_obs_type.perfect_recall
        return OpenSpielObserver(self.scale, perfect_recall)

    def deal(self, outcome: int) -> Game:
        """Game dealt by an outcome of the chance node."""
        if self.deals:
            return self.deals[outcome].clone()
        seed = int(self.rng.integers(2**53))
        return Game(self.rules, self.num_seats, seed, components=self.components, game=self.definition)


class OpenSpielState(pyspiel.State):
    """A position.

    Attributes:
        game: The game in its current position; None before the deal.
        seen: Information state of each player: a hash of their observations after the deal and after each action, and
            of the actions as far as they saw them.
    """

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.game: Game | None = None
        self.seen = [""] * game.num_seats

    def current_player(self) -> int:
        """Player to move, or OpenSpiel's id for chance or the end."""
        if self.game is None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.game.over else self.game.player

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Deals with their probabilities; a single outcome if the deal is sampled."""
        count = max(1, len(self.get_game().deals))
        return [(outcome, 1 / count) for outcome in range(count)]

    def _legal_actions(self, player: int) -> list[int]:
        assert self.game is not None
        return self.game.legal_actions()

    def _apply_action(self, action: int) -> None:
        players = range(len(self.seen))
        if self.game is None:
            game = self.get_game().deal(action)
            visible_actions = [""] * len(players)
        else:
            game = self.game.clone()
            visible_actions = [f"{game.player}:{game.public_action(action, player)}" for player in players]
            game.play(action)
        contents = [f"{self.seen[p]} {visible_actions[p]} ".encode() + game.observation(p).tobytes() for p in players]
        digests = [blake2b(content, digest_size=16).hexdigest() for content in contents]
        # Set both in one call, as the last step: an interrupt before it leaves the state unchanged. OpenSpiel then
        # records the action without running Python, so that no interrupt can come between.
        self.__dict__.update(game=game, seen=digests)

    def _action_to_string(self, player: int, action: int) -> str:
        if self.game is None:
            return f"deal:{action}"
        if player == self.current_player() and action in self.game.legal_actions():
            return self.game.move(action)
        return self.game.definition.action_meaning(action, self.game.components)

    def is_terminal(self) -> bool:
        """Whether the game has ended."""
        return self.game is not None and self.game.over

    def returns(self) -> list[float]:
        """Reward of each player; zeros before the end."""
        rewards = np.zeros(len(self.seen))
        if self.game is not None and self.game.over:
            self.game.pay(WIN, np.zeros(len(rewards), np.int64), rewards)
        return rewards.tolist()

    def __str__(self) -> str:
        return "before the deal" if self.game is None else self.game.render()

    def redealt(self, player: int, seed: int) -> OpenSpielState:
        """A copy in which everything that `player` doesn't know is dealt again; their information state is the same."""
        if self.game is None:
            raise ValueError("nothing has been dealt yet")
        copy = self.clone()
        copy.game = self.game.redeal(player, seed)
        return copy


class OpenSpielObserver:
    """Observer of a player's view, with the interface of OpenSpiel's observers.

    Attributes:
        tensor: The observation times its scale: shape (F,), float32; None with perfect recall.
        dict: `{"observation": tensor}`; empty with perfect recall.
    """

    def __init__(self, scale: np.ndarray, perfect_recall: bool) -> None:
        self.perfect_recall = perfect_recall
        self.scale = scale
        self.dict = {} if perfect_recall else {"observation": np.zeros(len(scale), np.float32)}
        self.tensor = self.dict.get("observation")

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write a player's observation into `tensor`; zeros before the deal.

        Raises:
            NotImplementedError: With perfect recall: information states have a text, but no tensor.
        """
        if self.perfect_recall:
            raise NotImplementedError(
                "artus_env has no information state tensor: use observation_tensor, or information_state_string"
            )
        self.dict["observation"][:] = 0 if state.game is None else state.game.observation(player) * self.scale

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """A player's observation in hexadecimal; with perfect recall their information state."""
        if self.perfect_recall:
            return state.seen[player]
        return "" if state.game is None else state.game.observation(player).tobytes().hex()


def resampler(seed: int = 0) -> Callable[..., OpenSpielState]:
    """Function for `ISMCTSBot.set_resampler`: it deals again what the player to move doesn't know, with
    `Game.redeal`."""
    rng = np.random.default_rng(seed)
    return lambda state, player, *random: state.redealt(player, int(rng.integers(2**53)))


def _as_text(data: Any) -> str:
    # Hexadecimal, because OpenSpiel parses commas and brackets in a parameter.
    return json.dumps(data).encode().hex()


def _from_text(text: str) -> Any:
    return json.loads(bytes.fromhex(text))


pyspiel.register_game(SAMPLED, OpenSpielGame)
