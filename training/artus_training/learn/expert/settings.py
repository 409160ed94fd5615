"""What `artus train-expert` is told: every option with its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from artus_agents.network import fast_bfloat16
from artus_agents.neural_search import EVALUATIONS, MOST_EVALUATIONS, games_at_once
from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_training.arena.evaluate import MOST_GAMES
from artus_training.arena.lineup import line_up
from artus_training.arena.units import check_workers
from artus_training.learn.expert.selfplay import Play
from artus_training.learn.settings import (
    MOST_THREADS,
    TrainingSettings,
    read_preset,
    settings_from_dict,
    without_programs,
)
from artus_training.options import Ray

START = "start"
"""The evaluation opponent that stands for what the training began with."""
FIXED = (
    "game", "rules", "num_players", "seed", "hidden", "start", "num_games", "evaluations", "search_last", "play",
    "certainty", "search_value", "anchors", "precision", "ahead",
)  # fmt: skip
"""Settings that a resumed run can't change: the games that it learns from were played with them."""
MOST_WINDOW = 1000
MOST_DECISIONS = 1_000_000
"""Of a game."""
MOST_ROUNDS = 1_000_000_000
MOST_NUM_GAMES = 1_000_000


@dataclass
class Settings(TrainingSettings):
    """What to train, and how."""

    TRAINER = "expert"

    start: str | None = "ppo"
    """Agent whose weights to begin with: `ppo`, which comes with the game, `ppo:PATH` or the path of a saved one; its
    network must have the same sizes, or narrower layers, and its values must be about wins. `None`: weights are
    drawn."""
    rounds: int = 100
    """Rounds of self-play and learning; each makes a new version of the weights."""
    minutes: float = 0.0
    """Stop after so many minutes of training, evaluations not counted; 0: only `rounds` count."""
    preset: Path | None = None
    """A TOML file with settings, to be used instead of the variant's own."""
    seed: int = 0
    """Seed of weights, deals, draws, searches and minibatches. With one thread the same seed gives the same agent,
    whoever plays."""

    num_games: int = 256
    """Games in each round."""
    evaluations: int = EVALUATIONS
    """Network evaluations in each search."""
    search_last: int = 16
    """How many decisions at the end of a game are searched; 0: all of them."""
    play: Literal["search", "policy"] = "policy"
    """Who makes the decisions that are searched. `policy`: what is learnt is about the positions to which the policy
    leads; `search`: the games end better, and with them the values."""
    certainty: float = 12.0
    """What a sure win, beside a sure loss, adds to the logit of an action in the policy that is learnt."""
    search_value: float = 0.0
    """What the values learn: 0: the results of games, 1: what the search makes of the position, or something in
    between."""
    anchors: int = 8
    """Decisions of each game, before those that are searched, in which the policy stays near to the one that the
    training began with."""
    anchor_weight: float = 1.0
    """Weight of such a decision beside a searched one."""

    window: int = 8
    """Versions of the weights whose games are learnt from. Games of older ones are dropped."""
    ahead: int = 0
    """Rounds that the actors are in front of the learner: with 1 they play the next round, with the weights that there
    are, while it learns from the last one. 0: they wait for the new weights."""
    batch_size: int = 1024
    """Decisions in one gradient step."""
    epochs: int = 1
    """How often a round goes over the window."""
    learning_rate: float = 3e-4
    """Learning rate at the start; it falls linearly to a fiftieth."""
    value_weight: float = 0.1
    """Weight of the value loss."""

    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """What actors compute in; auto: bfloat16 where the processor has instructions for it."""
    threads: int = 0
    """Torch threads of the learner; 0: one a core. Actors have one each."""
    workers: int = 1
    """How many processes play. The result is the same."""
    ray: Ray = None
    """Let a Ray cluster play: the one at this address, or one that runs here. The result is the same."""

    evaluate_every: int = 10
    """Rounds from one evaluation to the next; 0: none."""
    evaluation_opponents: tuple[str, ...] = (START,)
    """Whom to play in evaluations; `start` is what the training began with."""
    games: int = 400
    """Games against each of them during training."""
    final_opponents: tuple[str, ...] = (START, "lookahead")
    """Whom to play at the end."""
    final_games: int = 1000
    """Games against each of them; 0: none."""

    @property
    def reward(self) -> str:
        """What the values are about."""
        return "win"

    @property
    def bfloat16(self) -> bool:
        """Whether actors compute in bfloat16."""
        return fast_bfloat16() if self.precision == "auto" else self.precision == "bfloat16"

    @property
    def unit_games(self) -> int:
        """Games that an actor plays at a time."""
        return min(self.num_games, games_at_once(self.evaluations))

    def self_play(self) -> Play:
        """What games of self-play depend on beside the weights."""
        return Play(
            self.game, self.rules, self.num_players, self.seed, tuple(self.hidden), self.evaluations, self.search_last,
            self.play, self.certainty, self.search_value, self.anchors, self.bfloat16,
        )  # fmt: skip

    def check(self) -> None:
        """Raise a ValueError naming the first setting that can't be."""
        self.check_game()
        self.check_at_least(1, "rounds", most=MOST_ROUNDS)
        self.check_at_least(1, "batch_size", "epochs")
        self.check_at_least(1, "num_games", most=MOST_NUM_GAMES)
        self.check_at_least(2, "evaluations", most=MOST_EVALUATIONS)
        self.check_at_least(0, "ahead", most=1)
        self.check_at_least(1 + self.ahead, "window", most=MOST_WINDOW)
        self.check_at_least(1, "games", most=MOST_GAMES)
        self.check_at_least(0, "final_games", most=MOST_GAMES)
        self.check_at_least(0, "threads", most=MOST_THREADS)
        self.check_at_least(
            0, "minutes", "certainty", "anchor_weight", "learning_rate", "value_weight",
            "evaluate_every",
        )  # fmt: skip
        self.check_at_least(0, "search_last", "anchors", most=MOST_DECISIONS)
        self.check_part("search_value")
        self.check_more_than_0("max_grad_norm")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be in 0..{2**63 - 1}, got {shown(self.seed)}")
        for name, possible in (("play", ("search", "policy")), ("precision", ("auto", "float32", "bfloat16"))):
            if getattr(self, name) not in possible:
                raise ValueError(f"{name} must be {' or '.join(possible)}, got {shown(getattr(self, name))}")
        if self.start is None and self.anchors and self.search_last:
            raise ValueError("a training without start has no policy to stay near to: anchors must be 0")
        check_workers(self.workers, self.ray)
        for agent in (*self.evaluation_opponents, *self.final_opponents):
            if agent != START:
                line_up([agent, agent], self.rules, self.num_players, game=self.game)


def saved_settings(given: Mapping[str, Any], source: Path) -> Settings:
    """The settings of a checkpoint, which says nothing where a setting is None.

    Raises:
        ValueError: See `settings_from_dict`.
    """
    return settings_from_dict(given, source, Settings(start=None))


def own_preset(definition: Definition, rules: str, num_players: int) -> Path | None:
    """The preset that a game has for a variant, `expert-RULES-PLAYERS.toml`, if it has one."""
    path = Path(definition.presets or "", f"expert-{rules}-{num_players}.toml")
    return path if definition.presets and path.is_file() else None


def preset(
    rules: str, num_players: int, path: Path | None = None, told: Settings | None = None, *, game: str = DEFAULT_GAME
) -> Settings:
    """The settings that a variant is trained with unless others are given, or those of a TOML file.

    Args:
        rules, num_players, game: The variant.
        path: The file; None: the variant's own preset, or default settings if it has none.
        told: See `without_programs`.

    Raises:
        ValueError: If there is no such variant, or the file is missing or no such thing.
    """
    definition = find_game(game)
    definition.check_variant(rules, num_players)
    default = Settings(game=game, rules=rules, num_players=num_players, preset=path)
    source = path or own_preset(definition, rules, num_players)
    if source is None:
        return default
    return without_programs(settings_from_dict(read_preset(source), source, default), source, told)
