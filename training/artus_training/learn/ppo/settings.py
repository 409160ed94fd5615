"""What `artus train` is told: every option with its meaning, and the presets of the variants."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

import torch

from artus_agents.network import fast_bfloat16
from artus_env import DEFAULT_GAME, NUM_ACTIONS, OBSERVATION_SIZE
from artus_env.engine.games import find_game
from artus_env.engine.reading import shown
from artus_env.engine.rewards import mode_index
from artus_env.games.artus.actions import MASK_WORDS
from artus_training.arena.evaluate import MOST_GAMES
from artus_training.arena.lineup import line_up
from artus_training.learn.settings import (
    MOST_THREADS,
    PpoSettings,
    check_memory,
    settings_from_dict,
    without_programs,
)

PAST = "past"
"""The opponent that stands for the pool of earlier selves."""
FIXED = ("rules", "num_players", "also", "seed", "hidden", "outlook", "num_games")
"""Settings that a resumed run can't change: network and games were made with them."""
BYTES_A_DECISION = OBSERVATION_SIZE + NUM_ACTIONS * find_game(DEFAULT_GAME).outlooks + 8 * MASK_WORDS + 80
"""In the buffers of a rollout."""


@dataclass
class Settings(PpoSettings):
    """What to train, and how. Each variant has a preset; what is given on the command line wins over it."""

    also: tuple[str, ...] = ()
    """More variants for the same network, e.g. `advanced-2 advanced-4`; the games are shared among all of them."""
    steps: int = 16_000_000
    """Decisions in all."""
    minutes: float = 0.0
    """Stop after so many minutes of training, evaluations not counted; 0: only `steps` count. How far the learning rate
    has fallen then depends on the machine; for results that can be repeated give `steps` alone."""
    preset: Path | None = None
    """A TOML file with settings, instead of the variant's own preset."""
    seed: int = 0
    """Of weights, deals, draws and minibatches. With one thread the same seed gives the same agent."""

    final_reward: Literal["win", "margin", "prestige"] | None = None
    """What it is paid for from `final_part` of the training on; None: the same."""
    final_part: float = 0.5
    """When `final_reward` begins: 0..1."""
    opponents: tuple[str, ...] = ("past=0.1",)
    """Agents and their share of the games, in which they hold one or more seats; `past` is the pool of earlier selves.
    All other seats learn."""

    outlook: bool = True
    """Tell the policy what each legal action leads to."""

    num_games: int = 2048
    """Games at a time."""
    num_steps: int = 32
    """Decisions in each game between two updates."""
    batch_size: int = 4096
    """Decisions in one gradient step."""
    value_weight: float = 0.5
    """Weight of the value loss, measured in variances of the returns."""

    device: str = "cpu"
    """Where the network computes: `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """What the network computes in; auto: bfloat16 where the processor has instructions for it."""
    threads: int = 0
    """Torch threads; 0: one a core."""

    evaluate_every: int = 40
    """Updates from one evaluation to the next; 0: none."""
    judges: tuple[str, ...] = ("greedy", "lookahead")
    """Whom to play in evaluations."""
    games: int = 400
    """Games against each judge during training."""
    final_judges: tuple[str, ...] = ("random", "greedy", "lookahead")
    """Whom to play at the end."""
    final_games: int = 1000
    """Games against each of them; 0: none."""

    @property
    def variants(self) -> list[tuple[str, int]]:
        """All variants that the network is for.

        Raises:
            ValueError: If one of `also` isn't RULES-PLAYERS.
        """
        more = []
        for text in self.also:
            rules, _, players = text.rpartition("-")
            if not players.isdigit():
                raise ValueError(f"also takes RULES-PLAYERS such as advanced-3, got {shown(text)}")
            more.append((rules, int(players)))
        return [(self.rules, self.num_players), *more]

    @property
    def folder(self) -> Path:
        """Of this run: `runs/ppo-` and all its variants."""
        return self.runs / "ppo-{}".format("+".join(f"{rules}-{players}" for rules, players in self.variants))

    @property
    def agent(self) -> Path:
        """The trained agent; its card lies beside it."""
        return self.folder / "agent.safetensors"

    @property
    def checkpoint(self) -> Path:
        """Where `resume` goes on."""
        return self.folder / "checkpoint.pt"

    @property
    def bfloat16(self) -> bool:
        """Whether the network computes in bfloat16."""
        if self.precision == "auto":
            return torch.cuda.is_bf16_supported() if self.device == "cuda" else fast_bfloat16()
        return self.precision == "bfloat16"

    def shares(self) -> dict[str, float]:
        """`opponents` as a table.

        Raises:
            ValueError: If one isn't NAME=SHARE, or the shares are more than all games.
        """
        shares = super().shares()
        if any(not 0 <= share <= 1 for share in shares.values()) or sum(shares.values()) > 1:
            raise ValueError(
                f"the shares of opponents must be 0..1, in all at most 1, got {shown(' '.join(self.opponents))}"
            )
        return shares

    def check(self) -> None:
        """Raise a ValueError naming the first setting that can't be."""
        for rules, num_players in self.variants:
            find_game(DEFAULT_GAME).check_variant(rules, num_players)
        if len(set(self.variants)) < len(self.variants):
            raise ValueError(f"a variant is named twice: {self.variants}")
        if self.num_games < len(self.variants):
            raise ValueError(f"num_games must be at least one for each variant, got {shown(self.num_games)}")
        self.check_at_least(1, "steps", "pool_size", "snapshot_every", "num_games", "batch_size", "epochs")
        self.check_at_least(8, "num_steps")  # fewer might bring no decision whose seat moves again
        self.check_at_least(1, "games", most=MOST_GAMES)
        self.check_at_least(0, "final_games", most=MOST_GAMES)
        self.check_at_least(0, "threads", most=MOST_THREADS)
        check_memory("num_games", self.num_games, self.num_steps, BYTES_A_DECISION)
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be in 0..{2**63 - 1}, got {shown(self.seed)}")
        self.check_at_least(0, "minutes", "learning_rate", "entropy", "evaluate_every", "value_weight")
        for name in ("gamma", "gae_lambda", "final_part"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in 0..1, got {shown(getattr(self, name))}")
        for name in ("clip", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, got {shown(getattr(self, name))}")
        self.check_hidden()
        for mode in (self.reward, self.final_reward or self.reward):
            mode_index(mode, "prestige")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise ValueError(f"precision must be auto, float32 or bfloat16, got {shown(self.precision)}")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda, got {shown(self.device)}")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device cuda: torch finds no such device here")
        for rules, num_players in self.variants:
            for agent in (*(name for name in self.shares() if name != PAST), *self.judges, *self.final_judges):
                line_up([agent, agent], rules, num_players)


def preset(rules: str, num_players: int, path: Path | None = None, told: Settings | None = None) -> Settings:
    """The settings that a variant is trained with unless others are given, or those of a TOML file.

    Args:
        rules, num_players: The variant.
        path: The file.
        told: See `without_programs`.

    Raises:
        ValueError: If the file is missing or no such thing.
    """
    find_game(DEFAULT_GAME).check_variant(rules, num_players)
    source = Path(str(path or files(__package__) / "presets" / f"{rules}-{num_players}.toml"))
    try:
        given = tomllib.loads(source.read_text())
    except OSError as error:
        raise ValueError(f"preset {source}: {error.strerror}") from error
    except RecursionError:
        raise ValueError(f"preset {source}: brackets are nested too deep") from None
    except ValueError as error:  # no TOML, no text, or a number of too many digits
        raise ValueError(f"preset {source}: {error}") from error
    settings = settings_from_dict(given, source, Settings(rules=rules, num_players=num_players, preset=path))  # type: ignore[arg-type]
    return without_programs(settings, source, told)
