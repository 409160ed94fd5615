"""What both trainers are told, with the same meaning and the same defaults: who learns what, and how PPO learns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass
class PpoSettings:
    """What `artus train` and `artus train-sb3` have in common."""

    rules: Literal["beginner", "advanced"] = "beginner"
    """Rule set."""
    num_players: int = 2
    """Players at the table, 2..4."""
    resume: bool = False
    """Go on from the checkpoint in the run's folder, with its settings unless others are given."""
    runs: Path = Path("runs")
    """Where runs are kept; this one in a folder named after its variant. What an earlier run left there is replaced."""

    reward: Literal["win", "margin", "prestige"] = "prestige"
    """What the learner is paid for. `prestige` tells good from bad moves at once and learns faster than `win`."""
    opponents: tuple[str, ...] = ()
    """Agents and their share of the games, NAME=SHARE."""
    pool_size: int = 4
    """Earlier selves kept as opponents."""
    snapshot_every: int = 20
    """Updates from one earlier self to the next."""

    hidden: tuple[int, ...] = (256, 256)
    """Width of the hidden layers, which policy and values share."""
    epochs: int = 2
    """How often an update goes over its decisions."""
    learning_rate: float = 1e-3
    """At the start; it falls linearly to a fiftieth."""
    gamma: float = 1.0
    """Discount of rewards to come. A point counts alike whenever it is made."""
    gae_lambda: float = 0.9
    """Weight of far against near advantages: 1 is unbiased, less is less noisy."""
    entropy: float = 0.005
    """Bonus for staying undecided."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    clip: float = 0.2
    """How far an update may change the probability of a decision."""
    max_grad_norm: float = 0.5
    """Longest gradient."""

    def shares(self) -> dict[str, float]:
        """`opponents` as a table.

        Raises:
            ValueError: If one isn't NAME=SHARE.
        """
        try:
            return {name: float(share) for name, _, share in (text.rpartition("=") for text in self.opponents)}
        except ValueError:
            raise ValueError(f"opponents are NAME=SHARE, got {' '.join(self.opponents)}") from None

    def check_at_least(self, least: int, *names: str) -> None:
        """Raise a ValueError naming the first of these settings that is less, or no finite number."""
        for name in names:
            if not least <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def check_hidden(self) -> None:
        """Raise a ValueError if the hidden layers can't be."""
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden needs the widths of one or more layers, got {self.hidden}")
