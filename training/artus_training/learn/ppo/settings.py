"""Settings of `artus train`, and the presets of the variants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from artus_agents.network import fast_bfloat16
from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import convert, shown
from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.play.rewards import mode_index
from artus_training.arena.evaluate import MOST_GAMES
from artus_training.arena.lineup import line_up
from artus_training.learn.settings import (
    MOST_THREADS,
    PpoSettings,
    check_memory,
    read_preset,
    settings_from_dict,
    without_programs,
)

PAST = "past"
"""Name of the pool of earlier selves among the opponents."""
FIXED = ("game", "rules", "num_players", "also", "seed", "hidden", "action_features", "num_games", "start")
"""Settings that a resumed run can't change: network and games were made with them."""
ANY_GAME = Path(__file__).parent / "any-game.toml"
"""The preset of variants without one of their own."""
GOALS = "goals"
"""Name of the table in a game's preset with the goals of `artus train-all`: the win rate against each opponent."""


@dataclass
class Settings(PpoSettings):
    """Settings of a training. Each variant has a preset; options on the command line override it."""

    TRAINER = "ppo"

    also: tuple[str, ...] = ()
    """More variants for the same network, RULES-PLAYERS each; all have the same number of games."""
    steps: int = 16_000_000
    """Total number of decisions."""
    minutes: float = 0.0
    """Stop after this many minutes of training, evaluations not counted; 0: only `steps` count. With a time limit the
    learning rate depends on the speed of the machine; for reproducible results give `steps` alone."""
    preset: Path | None = None
    """A TOML file with settings, used instead of the variant's own preset."""
    seed: int = 0
    """Seed of weights, deals, draws and minibatches. With one thread the same seed gives the same agent."""

    final_reward: str | None = None
    """The reward in the last part of the training (see --final-part); unless given, the same as before."""
    final_part: float = 0.5
    """Share of the training after which --final-reward is used: 0..1."""
    opponents: tuple[str, ...] = ("past=0.1",)
    """Agents and the fraction of the games in which each holds one or more seats; `past` is the pool of earlier selves.
    All other seats learn."""
    opponent_seats: int = 0
    """Seats of an opponent in each of its games; 0: from one to all but one, in turn."""
    together: bool = False
    """Pay each learning seat of a game the mean of the rewards of all its learning seats."""

    action_features: bool = True
    """Give the policy features of each legal action, if the game has them."""
    forced: bool = True
    """Also learn from decisions with a single legal action. Only the values learn from them; in games with many of
    them, training is faster without."""

    num_games: int = 2048
    """Games at a time, of all ranks together."""
    num_steps: int = 32
    """Decisions in each game between two updates."""
    batch_size: int = 4096
    """Decisions in one gradient step, of all ranks together."""
    value_weight: float = 0.5
    """Weight of the value loss, measured in variances of the returns."""

    device: str = "cpu"
    """The network's device: `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """The network's number type; auto: bfloat16 if the processor has instructions for it."""
    threads: int = 0
    """Torch threads of each rank; 0: one per core."""

    evaluate_every: int = 40
    """Updates between two evaluations, in addition to those after each 20 % of the training; 0: no evaluations."""
    evaluation_opponents: tuple[str, ...] = ("greedy", "lookahead")
    """Opponents in evaluations."""
    games: int = 400
    """Games against each of them during training."""
    final_opponents: tuple[str, ...] = ("random", "greedy", "lookahead")
    """Opponents in the evaluation at the end."""
    final_games: int = 1000
    """Games against each of them; 0: none."""

    def __post_init__(self) -> None:
        """See `PpoSettings`."""
        super().__post_init__()
        self.final_reward = self.final_reward and self.same_in_all_games(self.final_reward)

    @property
    def variants(self) -> list[tuple[str, int]]:
        """All variants of the training.

        Raises:
            ValueError: If one of `also` isn't RULES-PLAYERS.
        """
        more = []
        for text in self.also:
            rules, _, players = text.rpartition("-")
            if not players.isdigit():
                raise ValueError(f"also takes RULES-PLAYERS such as {self.rules}-{self.num_players}, got {shown(text)}")
            more.append((rules, int(players)))
        return [(self.rules, self.num_players), *more]

    @property
    def learnt(self) -> str:
        """All variants, as they appear in the run's name."""
        return "+".join(f"{rules}-{players}" for rules, players in self.variants)

    @property
    def bfloat16(self) -> bool:
        """Whether the network computes in bfloat16."""
        if self.precision == "auto":
            return torch.cuda.is_bf16_supported() if self.device == "cuda" else fast_bfloat16()
        return self.precision == "bfloat16"

    def fractions(self) -> dict[str, float]:
        """`opponents` as a dictionary.

        Raises:
            ValueError: If one isn't NAME=FRACTION, or a fraction or their sum isn't in 0..1.
        """
        fractions = super().fractions()
        if any(not 0 <= fraction <= 1 for fraction in fractions.values()) or sum(fractions.values()) > 1:
            raise ValueError(
                f"the fractions of opponents must be 0..1, in all at most 1, got {shown(' '.join(self.opponents))}"
            )
        return fractions

    def check(self, ranks: int = 1) -> None:
        """Raise a ValueError naming the first invalid setting.

        Args:
            ranks: Processes that share the training.
        """
        self.check_game()
        for rules, num_players in self.variants:
            self.definition.check_variant(rules, num_players)
        if len(set(self.variants)) < len(self.variants):
            raise ValueError(f"a variant is named twice: {self.variants}")
        if self.num_games < len(self.variants) * ranks:
            each = "variant" if ranks == 1 else f"variant in each of the {ranks} ranks"
            raise ValueError(f"num_games must be at least one for each {each}, got {shown(self.num_games)}")
        if self.num_games % ranks:
            raise ValueError(f"num_games must be a multiple of the {ranks} ranks, got {shown(self.num_games)}")
        self.check_at_least(1, "steps", "pool_size", "snapshot_every", "num_games", "batch_size", "epochs")
        self.check_at_least(8, "num_steps")  # with fewer, perhaps no seat decides twice
        self.check_at_least(1, "games", most=MOST_GAMES)
        self.check_at_least(0, "final_games", most=MOST_GAMES)
        self.check_at_least(0, "opponent_seats", most=min(players for _, players in self.variants) - 1)
        self.check_at_least(0, "threads", most=MOST_THREADS)
        check_memory("num_games", self.num_games // ranks, self.num_steps, self.bytes_a_decision())
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be in 0..{2**63 - 1}, got {shown(self.seed)}")
        self.check_at_least(0, "minutes", "learning_rate", "entropy", "evaluate_every", "value_weight")
        self.check_part("gamma", "gae_lambda", "final_part")
        self.check_more_than_0("clip", "max_grad_norm")
        mode_index(self.final_reward or self.reward, self.definition.score)
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise ValueError(f"precision must be auto, float32 or bfloat16, got {shown(self.precision)}")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda, got {shown(self.device)}")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device cuda: torch finds no such device here")
        for rules, num_players in self.variants:
            for agent in (
                *(name for name in self.fractions() if name != PAST),
                *self.evaluation_opponents,
                *self.final_opponents,
            ):
                line_up([agent, agent], rules, num_players, game=self.game)

    def bytes_a_decision(self) -> int:
        """Bytes of one decision in the buffers of a rollout."""
        shape = self.shape(self.action_features)
        legal, seats = 8 * self.definition.mask_words, 12 * shape.players
        return shape.observation_size + shape.num_actions * shape.num_action_features + legal + seats + 32


def own_preset(definition: Definition, rules: str, num_players: int) -> Path | None:
    """A game's preset for a variant; None if it has none."""
    path = Path(definition.presets or "", f"{rules}-{num_players}.toml")
    return path if definition.presets and path.is_file() else None


def variants_with_preset(definition: Definition) -> list[tuple[str, int]]:
    """The variants for which a game has presets."""
    players = range(definition.min_players, definition.max_players + 1)
    return [(rules, count) for count in players for rules in definition.rules if own_preset(definition, rules, count)]


def preset(
    rules: str, num_players: int, path: Path | None = None, told: Settings | None = None, *, game: str = DEFAULT_GAME
) -> Settings:
    """The default settings of a variant, or those of a TOML file.

    Args:
        rules, num_players, game: The variant.
        path: The file; None: the variant's own preset, or `ANY_GAME` if it has none.
        told: See `without_programs`.

    Raises:
        ValueError: If there is no such variant, or the file is missing or invalid.
    """
    find_game(game).check_variant(rules, num_players)
    source = path or own_preset(find_game(game), rules, num_players) or ANY_GAME
    given = read_preset(source)
    given.pop(GOALS, None)
    default = Settings(game=game, rules=rules, num_players=num_players, preset=path)
    return without_programs(settings_from_dict(given, source, default), source, told)


def say_if_no_preset(settings: Settings) -> None:
    """Print a note if a variant has no preset of its own."""
    if not own_preset(settings.definition, settings.rules, settings.num_players):
        print(
            f"{settings.game} has no preset for {settings.rules} with {counted(settings.num_players, 'player')}: "
            "what isn't given has default settings"
        )


def goals(definition: Definition, rules: str, num_players: int) -> dict[str, float]:
    """Win rates that an agent of `artus train-all` should reach against some opponents, from the variant's preset.

    Raises:
        ValueError: If the preset can't be read.
    """
    source = own_preset(definition, rules, num_players)
    return convert(read_preset(source).get(GOALS, {}), dict[str, float]) if source else {}
