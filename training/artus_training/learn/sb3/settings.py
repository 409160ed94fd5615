"""Settings of `artus train-sb3`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from artus_training.arena.evaluate import MOST_GAMES
from artus_training.arena.lineup import line_up
from artus_training.learn.settings import MOST_THREADS, PpoSettings, check_memory

SELF = "self"
"""Name of the pool of earlier selves among the opponents."""
FIXED = ("game", "rules", "num_players", "seed", "hidden", "start")
"""Settings that a resumed run can't change."""


@dataclass
class Settings(PpoSettings):
    """Settings of a training."""

    TRAINER = "sb3"

    steps: int = 2_500_000
    """Total number of the learner's decisions."""
    minutes: float = 0.0
    """Stop after this many minutes of training, evaluations not counted; 0: only `steps` count. The learning rate falls
    with the one of the two that is nearer to its end."""
    seed: int = 0
    """Seed of weights, deals, opponents and exploration."""

    opponents: tuple[str, ...] = ("random=0.05", "greedy=0.5", "self=0.45")
    """Agents and the fraction of the games that each is in; `self` is the pool of earlier selves."""

    num_envs: int = 512
    """Games at a time."""
    num_steps: int = 16
    """Decisions in each game between two updates."""
    batch_size: int = 512
    """Decisions in one gradient step."""

    threads: int = 1
    """Torch threads. Two are a little faster on idle cores; if other programs use the cores, the threads wait for each
    other, and training takes up to 8 times as long."""
    checkpoint_minutes: float = 1.0
    """Minutes between checkpoints."""
    evaluate_every: float = 2.0
    """Minutes of training between two evaluations, in addition to those after each 20 % of the training; 0: no
    evaluations."""
    evaluation_opponents: tuple[str, ...] = ("greedy", "lookahead")
    """Opponents in evaluations, and at the end."""
    evaluation_games: int = 400
    """Games against each of them in an evaluation."""
    games: int = 1000
    """Games against each of them at the end; 0: none."""

    @property
    def checkpoint(self) -> Path:
        """The file from which `resume` continues."""
        return self.folder / "checkpoint.zip"

    def check(self) -> None:
        """Raise a ValueError naming the first invalid setting."""
        self.check_game()
        self.check_at_least(1, "steps", "pool_size", "snapshot_every", "num_envs", "num_steps", "batch_size", "epochs")
        self.check_at_least(1, "threads", most=MOST_THREADS)
        self.check_at_least(1, "evaluation_games", most=MOST_GAMES)
        self.check_at_least(0, "games", most=MOST_GAMES)
        self.check_at_least(0, "seed", most=2**32 - 1)  # the limit of NumPy's global generator, which SB3 seeds
        self.check_at_least(0, "learning_rate", "minutes", "evaluate_every", "checkpoint_minutes")
        shape = self.shape(action_features=False)
        in_buffer = 4 * (shape.observation_size + shape.num_actions) + 80  # bytes of a decision in SB3's buffer
        check_memory("num_envs", self.num_envs, self.num_steps, in_buffer)
        for agent in (*self.fractions(), *self.evaluation_opponents):
            if agent != SELF:
                line_up([agent, agent], self.rules, self.num_players, game=self.game)
