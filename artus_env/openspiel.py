"""The games for OpenSpiel's algorithms: `load(game="artus")` is a `pyspiel.Game`. Needs `pip install open-spiel`.

A game begins at a chance node that deals, as OpenSpiel wants it; what is random later on lies in the deal, too, where
no player sees it. By default the deal is drawn from all there are (OpenSpiel calls that sampled stochastic). With
`deals` the node has one outcome for each of them, all equally likely: the game is then a finite tree, as exact
algorithms need it.
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
"""What OpenSpiel knows all games as: `pyspiel.load_game("artus_env(game=royal,num_players=3)")`. The parameter
`game_name` is the same as `game`, for functions that have a parameter `game` themselves:
`rl_environment.Environment("artus_env", game_name="royal")`."""
LONGEST = 10_000
"""Decisions of a game, at most: OpenSpiel asks for a bound before it has seen a game."""
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
    """A game for OpenSpiel, which pays as the reward mode `win` does.

    Args:
        game, rules, num_players, components: The variant, as for `Game`.
        seed: Of the stream of deals, below 2^31; None: a random one.
        deals: The positions at which the game can begin, all equally likely; none: all deals there are.

    Raises:
        ValueError: If there is no such variant, or a deal is of another one.
        TypeError: If the components can't be written down.
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
    given = {
        "game": definition.name,
        "rules": rules,
        "num_players": num_players,
        "seed": -1 if seed is None else whole_number("seed", seed, 0, 2**31 - 1),
        "components": "" if components is None else _as_text(box.to_dict()),
        "deals": _as_text([deal.to_dict() for deal in deals]) if deals else "",
    }
    return pyspiel.load_game(NAME, given)


class OpenSpielGame(pyspiel.Game):
    """One variant of a game. Its parameters, which `load` puts together, say all about it, box and deals as well: so
    OpenSpiel can write it down and read it again.

    Attributes:
        definition, rules, components: The variant.
        num_seats: How many play.
        deals: The positions at which it can begin; none: all deals.
        rng: Draws them.
        scale: Multiply an observation by it for small floats: shape (F,), float32.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**PARAMETERS, **(params or {})}
        self.definition: Definition = find_game(given["game_name"] or given["game"])
        self.num_seats: int = given["num_players"]
        self.rules = self.definition.check_variant(given["rules"] or None, self.num_seats)
        self.components = self.definition.standard
        if given["components"]:
            box: Any = self.definition.components_type
            self.components = box.from_dict(_from_text(given["components"]))
        self.deals = [
            Game.from_dict(position, self.components, game=self.definition)
            for position in _from_text(given["deals"] or _as_text([]))
        ]
        self.rng = np.random.default_rng(given["seed"] if given["seed"] >= 0 else None)
        self.scale = self.definition.observation_scale(self.components)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.definition.action_table(self.components)),
            max_chance_outcomes=max(1, len(self.deals)),
            num_players=self.num_seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=LONGEST,
        )
        super().__init__(EXPLICIT if self.deals else SAMPLED, info, params or {})

    def new_initial_state(self) -> OpenSpielState:
        """The chance node before the deal."""
        return OpenSpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """The deal is the only one."""
        return 1

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> OpenSpielObserver:
        """What states show: with perfect recall the text of an information state, without it an observation."""
        perfect_recall = iig_obs_type is not None and iig_obs_type.perfect_recall
        return OpenSpielObserver(self.scale, perfect_recall)

    def deal(self, outcome: int) -> Game:
        """The game that an outcome of the chance node deals."""
        if self.deals:
            return self.deals[outcome].clone()
        seed = int(self.rng.integers(2**53))
        return Game(self.rules, self.num_seats, seed, components=self.components, game=self.definition)


class OpenSpielState(pyspiel.State):
    """A position.

    Attributes:
        game: The game as it stands; None before the deal.
        seen: For each player a digest of all that they have seen: what they observed after the deal and after each
            action, and the actions as far as they saw them. It is their information state.
    """

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.game: Game | None = None
        self.seen = [""] * game.num_seats

    def current_player(self) -> int:
        """Who is to move: a player, chance, or nobody at the end."""
        if self.game is None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.game.over else self.game.player

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The deals and how likely they are; a single outcome where one is drawn from all."""
        count = max(1, len(self.get_game().deals))
        return [(outcome, 1 / count) for outcome in range(count)]

    def _legal_actions(self, player: int) -> list[int]:
        assert self.game is not None
        return self.game.legal_actions()

    def _apply_action(self, action: int) -> None:
        players = range(len(self.seen))
        if self.game is None:
            game = self.get_game().deal(action)
            shown_to = [""] * len(players)
        else:
            game = self.game.clone()
            shown_to = [f"{game.player}:{game.public_action(action, player)}" for player in players]
            game.play(action)
        news = [f"{self.seen[p]} {shown_to[p]} ".encode() + game.observation(p).tobytes() for p in players]
        seen = [blake2b(new, digest_size=16).hexdigest() for new in news]
        # Both at once, and last: an interrupt leaves the state as it was. OpenSpiel then notes the action without
        # running Python, so that no interrupt comes between.
        self.__dict__.update(game=game, seen=seen)

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
        """What each player is paid: zeros before the end."""
        paid = np.zeros(len(self.seen))
        if self.game is not None and self.game.over:
            self.game.pay(WIN, np.zeros(len(paid), np.int64), paid)
        return paid.tolist()

    def __str__(self) -> str:
        return "before the deal" if self.game is None else self.game.render()

    def redealt(self, player: int, seed: int) -> OpenSpielState:
        """A copy in which all that `player` doesn't know is dealt anew: to them it is the same information state."""
        if self.game is None:
            raise ValueError("nothing has been dealt yet")
        copy = self.clone()
        copy.game = self.game.redeal(player, seed)
        return copy


class OpenSpielObserver:
    """What a player sees of a state, as OpenSpiel's observers give it.

    Attributes:
        tensor: The observation times its scale: shape (F,), float32; None with perfect recall.
        dict: The same by name.
    """

    def __init__(self, scale: np.ndarray, perfect_recall: bool) -> None:
        self.perfect_recall = perfect_recall
        self.scale = scale
        self.dict = {} if perfect_recall else {"observation": np.zeros(len(scale), np.float32)}
        self.tensor = self.dict.get("observation")

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write what a player sees into `tensor`: zeros before the deal.

        Raises:
            NotImplementedError: With perfect recall: information states have a text, but no tensor.
        """
        if self.perfect_recall:
            raise NotImplementedError(
                "artus_env has no information state tensor: use observation_tensor, or information_state_string"
            )
        self.dict["observation"][:] = 0 if state.game is None else state.game.observation(player) * self.scale

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """What a player sees, in hexadecimal; with perfect recall the digest of all that they have seen."""
        if self.perfect_recall:
            return state.seen[player]
        return "" if state.game is None else state.game.observation(player).tobytes().hex()


def resampler(seed: int = 0) -> Callable[..., OpenSpielState]:
    """What `ISMCTSBot.set_resampler` wants: deals anew what the player to move doesn't know, with `Game.redeal`."""
    rng = np.random.default_rng(seed)
    return lambda state, player, *random: state.redealt(player, int(rng.integers(2**53)))


def _as_text(data: Any) -> str:
    # OpenSpiel takes commas and brackets in a parameter for its own.
    return json.dumps(data).encode().hex()


def _from_text(text: str) -> Any:
    return json.loads(bytes.fromhex(text))


pyspiel.register_game(SAMPLED, OpenSpielGame)
