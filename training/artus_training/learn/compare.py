"""Give this project's trainer and Stable-Baselines3 the same minutes, and compare what comes out.

Trains one agent with each, one after the other on the same machine, measures both against the same opponents on the
way, lets them play each other at the end, and draws strength against wall-clock time. Ctrl-C stops it, --resume goes
on. Without it a new comparison begins; where there is one already, give it another --folder.

    artus compare --num-players 3 --minutes 10
    artus compare --num-players 3 --minutes 10 --resume
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from artus_agents.saved import read_card
from artus_env import DEFAULT_GAME
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.registry import find_game
from artus_training.arena.evaluate import MOST_GAMES, evaluate
from artus_training.learn.ppo.settings import Settings as PpoSettings
from artus_training.learn.ppo.settings import preset, say_if_no_preset
from artus_training.learn.ppo.train import train as train_ppo
from artus_training.learn.runs import alone_in_run, begin_run, finished, going_on, stopped_in_one_line
from artus_training.learn.sb3.settings import Settings as Sb3Settings
from artus_training.learn.sb3.train import train as train_sb3
from artus_training.lines import progress
from artus_training.options import read_options
from artus_training.usage import UsageError
from artus_training.watch import curves


@dataclass
class Settings:
    """What to compare."""

    game: str = DEFAULT_GAME
    """The game that is learnt; `artus games` lists all."""
    rules: str = ""
    """Its rule set; unless given, the game's first."""
    num_players: int = 2
    """How many play a game."""
    minutes: float = 10.0
    """Minutes of training for each of the two, evaluations not counted."""
    games: int = 2000
    """How many games the two agents play each other at the end, every deal from every seat."""
    points: int = 10
    """How many times each is evaluated on the way."""
    seed: int = 0
    """Seed of both trainings and of the games."""
    folder: Path = Path("runs/compare")
    """The folder for comparisons; this one, with both runs, `result.json` and `curves.png`, has one of its own below
    it, named after its variant."""
    resume: bool = False
    """Go on where an interrupted comparison stopped."""

    def __post_init__(self) -> None:
        """Fill in the rule set. Raises a ValueError if there is no such game."""
        self.rules = self.rules or find_game(self.game).rules[0]

    @property
    def runs(self) -> Path:
        """This comparison's own folder; that of another game than the default one begins with its name."""
        variant = f"{self.rules}-{self.num_players}"
        return self.folder / (variant if self.game == DEFAULT_GAME else f"{self.game}-{variant}")

    def check(self) -> None:
        """Raise a ValueError naming the first setting that can't be."""
        for name in ("minutes", "games", "points"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be more than 0 and finite, got {getattr(self, name)}")
        if self.games > MOST_GAMES:
            raise ValueError(f"games must be at most {MOST_GAMES}, got {self.games}")
        for trainer in trainings(self):
            trainer.check()


def trainings(settings: Settings) -> tuple[PpoSettings, Sb3Settings]:
    """What both trainers are told."""
    s = settings
    common: dict[str, Any] = {
        "game": s.game,
        "rules": s.rules,
        "num_players": s.num_players,
        "minutes": s.minutes,
        "seed": s.seed,
        "runs": s.runs,
        "threads": available_cores(),
    }
    never = 10**12  # minutes alone count
    ours = dataclasses.replace(
        preset(s.rules, s.num_players, game=s.game), **common, steps=never, final_games=0,
        evaluate_every=max(1, round(60 * s.minutes / s.points)),  # in updates, which take about a second
    )  # fmt: skip
    return ours, Sb3Settings(**common, steps=never, games=0, evaluate_every=s.minutes / s.points)


def compare(settings: Settings) -> dict[str, Any] | None:
    """Train both, let them play, write the picture.

    Returns:
        Win rate and interval of our trainer's agent against the other, with each one's steps; None if Ctrl-C stopped
        it.

    Raises:
        ValueError: If a setting can't be, or another process is in the comparison's folder.
        CheckpointError: If a training to resume can't go on with these settings.
    """
    settings.check()
    with alone_in_run(settings.runs):
        if not settings.resume:
            begin_run(settings.runs, "--folder FOLDER")
        return _compare(settings)


def _compare(settings: Settings) -> dict[str, Any] | None:
    s = settings
    ours, theirs = trainings(s)
    if not (s.resume and finished(theirs)) and not train_sb3(going_on(theirs) if s.resume else theirs):
        return None
    if not (s.resume and finished(ours)) and not train_ppo(going_on(ours) if s.resume else ours):
        return None
    with progress("playing each other") as show:
        result = evaluate(
            [f"ppo:{ours.agent}", f"ppo:{theirs.agent}"],
            rules=s.rules,
            num_players=s.num_players,
            games=s.games,
            seed=s.seed,
            game=s.game,
            progress=show,
        )
    print(result)
    cards = {"ours": read_card(ours.agent), "Stable-Baselines3": read_card(theirs.agent)}
    curves.draw(list(cards.items()), s.runs / "curves.png")
    summary = {
        "game": s.game, "rules": s.rules, "num_players": s.num_players, "minutes": s.minutes, "games": result.games,
        "wins": result.win_rate, "wins_95": result.interval, "margin": result.margin,
        "steps": {name: card["steps"] for name, card in cards.items()},
    }  # fmt: skip
    write_atomically(s.runs / "result.json", (json.dumps(summary, indent=1) + "\n").encode())
    print(f"{s.runs / 'result.json'}, {s.runs / 'curves.png'}")
    return summary


def main(arguments: list[str]) -> int:
    """The command `artus compare`."""
    try:
        settings = read_options(Settings, "artus compare", arguments, description=__doc__)
        settings.check()
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    say_if_no_preset(trainings(settings)[0])
    with stopped_in_one_line():
        return 0 if compare(settings) else 130
