"""The same minutes for this project's trainer and for Stable-Baselines3, side by side.

    artus compare --rules beginner --minutes 10

Trains one agent with each, one after the other on the same machine, measures both against the same judges on the way, lets
them play each other at the end, and draws strength against wall-clock time. Each training can be resumed: run the command
again with `--resume`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import tyro

from artus_agents.saved import CARD, read_card
from artus_env.engine.files import write_atomically
from artus_env.engine.workers import available_cores
from artus_training import curves, ppo, train_sb3
from artus_training.cards import WHERE
from artus_training.cli import UsageError
from artus_training.evaluate import evaluate


@dataclass
class Settings:
    """What to compare."""

    rules: Literal["beginner", "advanced"] = "beginner"
    """Rule set."""
    num_players: int = 2
    """Players at the table, 2..4."""
    minutes: float = 10.0
    """For each of the two, evaluations not counted."""
    games: int = 2000
    """Between the two at the end, every deal from every seat."""
    points: int = 10
    """Evaluations on the way."""
    seed: int = 0
    """Of both trainings and of the games."""
    folder: Path = Path("runs/compare")
    """Where both runs, `result.json` and `curves.png` go."""
    resume: bool = False
    """Go on where an interrupted comparison stopped."""


def compare(settings: Settings) -> dict[str, Any] | None:
    """Train both, let them play, write the picture.

    Returns:
        Win rate and interval of our trainer's agent against the other, with each one's steps; None if Ctrl-C stopped it.
    """
    s = settings
    common: dict[str, Any] = {
        "rules": s.rules,
        "num_players": s.num_players,
        "minutes": s.minutes,
        "seed": s.seed,
        "runs": s.folder,
        "threads": available_cores(),
    }
    never = 10**12  # minutes alone count
    ours = dataclasses.replace(
        ppo.preset(s.rules, s.num_players), **common, steps=never, final_games=0,
        evaluate_every=max(1, round(60 * s.minutes / s.points)),  # in updates, which take about a second
    )  # fmt: skip
    theirs = train_sb3.Settings(**common, steps=never, games=0, evaluate_every=s.minutes / s.points)
    if not s.resume:  # so that nobody takes an earlier comparison's agents for those of this one
        for run in (ours, theirs):
            for path in (run.agent, run.agent.with_suffix(CARD)):
                path.unlink(missing_ok=True)
    if not _finished(theirs, s.resume) and not train_sb3.train(_resumed(theirs, s.resume)):
        return None
    if not _finished(ours, s.resume) and not ppo.train(_resumed(ours, s.resume)):
        return None
    result = evaluate(
        [f"ppo:{ours.agent}", f"ppo:{theirs.agent}"], rules=s.rules, num_players=s.num_players, games=s.games, seed=s.seed
    )
    print(result)
    cards = {"ours": read_card(ours.agent), "Stable-Baselines3": read_card(theirs.agent)}
    curves.draw(list(cards.items()), s.folder / "curves.png")
    summary = {
        "rules": s.rules, "num_players": s.num_players, "minutes": s.minutes, "games": result.games,
        "wins": result.win_rate, "wins_95": result.interval, "margin": result.margin,
        "steps": {name: card["steps"] for name, card in cards.items()},
    }  # fmt: skip
    write_atomically(s.folder / "result.json", (json.dumps(summary, indent=1) + "\n").encode())
    print(f"{s.folder / 'result.json'}, {s.folder / 'curves.png'}")
    return summary


Run = TypeVar("Run", ppo.Settings, train_sb3.Settings)


def _finished(run: ppo.Settings | train_sb3.Settings, resume: bool) -> bool:
    """Whether this very training has been run to its end."""
    if not resume or not run.agent.exists():
        return False
    wanted: Any = run  # `settings_to_dict` takes any dataclass
    settings, made = ppo.settings_to_dict(wanted), read_card(run.agent)["settings"]
    return all(settings[name] == made.get(name) for name in settings if name not in WHERE)


def _resumed(run: Run, resume: bool) -> Run:
    """The run, going on from its checkpoint if there is one."""
    return dataclasses.replace(run, resume=resume and run.checkpoint.exists())


def main(arguments: list[str]) -> int:
    """The command `artus compare`."""
    settings = tyro.cli(Settings, args=arguments, prog="artus compare", description=__doc__)
    try:
        for name in ("minutes", "games", "points"):
            if not 0 < getattr(settings, name) < math.inf:
                raise ValueError(f"{name} must be more than 0 and finite, got {getattr(settings, name)}")
        return 0 if compare(settings) else 130
    except ValueError as error:
        raise UsageError(str(error)) from error
