"""Train an agent by playing against itself (PPO): all seats of all games learn at once.

Ctrl-C saves and stops; --resume continues as if there had been no interruption. Without --resume a new run begins; if
its folder holds a run already, give it another --name. `tensorboard --logdir runs` shows the curves. With `torchrun`
several processes share a training, as in the last example.

Examples:
    artus train --num-players 3
    artus train --num-players 3 --minutes 10 --name short
    artus train --num-players 3 --resume
    torchrun --standalone --nproc-per-node 2 -m artus_training train
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from artus_env import DEFAULT_GAME
from artus_env.engine.contract.registry import find_game
from artus_training.learn.checkpoints import CheckpointError, read_checkpoint
from artus_training.learn.ppo.checkpoint import Progress
from artus_training.learn.ppo.ranks import joined
from artus_training.learn.ppo.settings import (
    Settings,
    goals,
    preset,
    say_if_no_preset,
    variants_with_preset,
)
from artus_training.learn.ppo.train import train, train_all
from artus_training.learn.ppo.trainer import PROGRAM
from artus_training.learn.runs import begin_run, stopped_in_one_line
from artus_training.learn.settings import UNTOLD, settings_from_dict, unsaid, without_programs
from artus_training.learn.start import find_start
from artus_training.options import read_options
from artus_training.usage import UsageError

SHORT = 4_000_000
"""Steps of each training in `artus train-all`."""


def parse(arguments: list[str]) -> Settings:
    """Settings from the command line; the other ones come from the preset, or with `--resume` from the checkpoint."""
    asked = [word for word in arguments if word not in ("-h", "--help")]  # help follows below, with the preset's values
    nobody = unsaid(Settings(opponents=UNTOLD, evaluation_opponents=UNTOLD, final_opponents=UNTOLD))
    told = read_options(Settings, PROGRAM, asked, default=nobody)
    default = preset(told.rules, told.num_players, told.preset, told, game=told.game)
    given = read_options(Settings, PROGRAM, asked, default=default)  # the preset may choose the variant
    if given.resume:
        about, _ = read_checkpoint(given.checkpoint, Progress)
        default = without_programs(
            settings_from_dict(about.settings, given.checkpoint, Settings()), given.checkpoint, told
        )
        default = dataclasses.replace(default, resume=True, runs=given.runs, name=given.name)
        if default.folder != given.folder:
            raise CheckpointError(f"{given.checkpoint} belongs in {default.folder}")
    return read_options(Settings, PROGRAM, arguments, description=__doc__, default=default)


@dataclass
class All:
    """Train an agent for every variant with a goal, one after the other, and print how strong they are.

    If the game has no goals, train every variant with a preset. Takes 1 to 2 minutes per variant. Exit code 1 if an
    agent misses its goal.

    Examples:
        artus train-all
    """

    game: str = DEFAULT_GAME
    """The game to learn; `artus games` lists all."""
    runs: Path = Path("runs")
    """The folder for runs; a new run never overwrites another."""
    resume: bool = False
    """Continue the runs that exist; finished ones are only measured again."""

    def trainings(self) -> list[Settings]:
        """The settings of each training.

        Raises:
            ValueError: If there is no such game, or it has no presets.
            RunError: If a run exists that isn't to be resumed.
        """
        definition = find_game(self.game)
        variants = variants_with_preset(definition)
        if not variants:
            raise ValueError(f"{self.game} has no presets: train its variants one by one, with `artus train`")
        with_goals = [variant for variant in variants if goals(definition, *variant)]
        runs = [
            dataclasses.replace(preset(*each, game=self.game), steps=SHORT, runs=self.runs)
            for each in with_goals or variants
        ]
        for run in runs:
            run.resume = self.resume and run.checkpoint.exists()
            if run.folder.is_dir() and not run.resume:
                begin_run(run.folder, "--runs FOLDER")
        return runs


def main_all(arguments: list[str]) -> int:
    """The command `artus train-all`."""
    given = read_options(All, "artus train-all", arguments)
    try:
        trainings = given.trainings()
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    with stopped_in_one_line():
        good = train_all(trainings)
    return 130 if good is None else int(not good)


def main(arguments: list[str]) -> int:
    """The command `artus train`."""
    with stopped_in_one_line(), joined() as ranks:
        settings = ranks.from_first(lambda: settings_for(arguments, ranks.size))
        return 0 if train(settings, ranks) else 130


def settings_for(arguments: list[str], ranks: int) -> Settings:
    """Settings of a training that `ranks` processes share. Prints a note if a new run has no preset for its variant."""
    try:
        settings = parse(arguments)
        settings.check(ranks)
        find_start(settings, settings.shape(settings.action_features))
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    if not settings.resume and not settings.preset:
        say_if_no_preset(settings)
    return settings
