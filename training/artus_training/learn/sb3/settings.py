"""What `artus train-sb3` is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from artus_training.arena.evaluate import MOST_GAMES
from artus_training.arena.lineup import line_up
from artus_training.learn.settings import MOST_THREADS, PpoSettings, check_memory

SELF = "self"
"""The opponent that stands for the pool of earlier versions of the learner."""
FIXED = ("game", "rules", "num_players", "seed", "hidden", "start")
"""Settings that a resumed run can't change."""


@dataclass
class Settings(PpoSettings):
    """What to train, and how."""

    TRAINER = "sb3"

    steps: int = 2_500_000
    """Decisions of the learner in all."""
    minutes: float = 0.0
    """Stop after so many minutes of training, evaluations not counted; 0: only `steps` count. The learning rate falls
    with whichever of the two is nearer to its end."""
    seed: int = 0
    """Seed of weights, deals, opponents and exploration."""

    opponents: tuple[str, ...] = ("random=0.05", "greedy=0.5", "self=0.45")
    """Agents and the fraction of the games that each is in; `self` is the pool of earlier versions."""

    num_envs: int = 512
    """Games at a time."""
    num_steps: int = 16
    """Decisions in each game between two updates."""
    batch_size: int = 512
    """Decisions in one gradient step."""

    threads: int = 1
    """Torch threads. Two pay a little where nobody else wants the cores; where somebody does, they wait for each other
    and training takes up to eight times as long."""
    checkpoint_minutes: float = 1.0
    """Time between checkpoints."""
    evaluate_every: float = 2.0
    """Minutes of training from one evaluation to the next, where that is more often than at each fifth of the training;
    0: no evaluations."""
    evaluation_opponents: tuple[str, ...] = ("greedy", "lookahead")
    """Whom to play in evaluations, and at the end."""
    evaluation_games: int = 400
    """Games against each of them in an evaluation."""
    games: int = 1000
    """Games against each of them at the end; 0: none."""

    @property
    def checkpoint(self) -> Path:
        """Where `resume` goes on."""
        return self.folder / "checkpoint.zip"

    def check(self) -> None:
        """Raise a ValueError naming the first setting that can't be."""
        self.check_game()
        self.check_at_least(1, "steps", "pool_size", "snapshot_every", "num_envs", "num_steps", "batch_size", "epochs")
        self.check_at_least(1, "threads", most=MOST_THREADS)
        self.check_at_least(1, "evaluation_games", most=MOST_GAMES)
        self.check_at_least(0, "games", most=MOST_GAMES)
        self.check_at_least(0, "seed", most=2**32 - 1)  # of NumPy's global generator, which SB3 seeds
        self.check_at_least(0, "learning_rate", "minutes", "evaluate_every", "checkpoint_minutes")
        shape = self.shape(action_features=False)
        in_buffer = 4 * (shape.observation_size + shape.num_actions) + 80  # bytes of a decision, in SB3's own
        check_memory("num_envs", self.num_envs, self.num_steps, in_buffer)
        for agent in (*self.fractions(), *self.evaluation_opponents):
            if agent != SELF:
                line_up([agent, agent], self.rules, self.num_players, game=self.game)
