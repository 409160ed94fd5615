"""Train an agent with MaskablePPO of Stable-Baselines3 (sb3-contrib), by self-play and against simple opponents.

It exists for comparison with `artus train`. Ctrl-C saves and stops; --resume continues from there. Without --resume a
new run begins; if its folder holds a run already, give it another --name. `tensorboard --logdir runs` shows the curves.

Examples:
    artus train-sb3 --num-players 3
    artus train-sb3 --num-players 3 --resume
"""

from __future__ import annotations

import dataclasses

from artus_training.learn.checkpoints import CheckpointError, read_archive
from artus_training.learn.runs import stopped_in_one_line
from artus_training.learn.sb3.checkpoint import Progress
from artus_training.learn.sb3.settings import Settings
from artus_training.learn.sb3.train import PROGRAM, train
from artus_training.learn.settings import UNTOLD, settings_from_dict, unsaid, without_programs
from artus_training.learn.start import find_start
from artus_training.options import read_options
from artus_training.usage import UsageError


def parse(arguments: list[str]) -> Settings:
    """Settings from the command line; with `--resume` the other ones come from the checkpoint."""
    settings = read_options(Settings, PROGRAM, arguments, description=__doc__, default=unsaid(Settings()))
    if settings.resume:
        told = read_options(
            Settings, PROGRAM, arguments, default=unsaid(Settings(opponents=UNTOLD, evaluation_opponents=UNTOLD))
        )
        about, _ = read_archive(settings.checkpoint, Progress)
        saved = settings_from_dict(about.settings, settings.checkpoint, Settings())
        default = dataclasses.replace(
            without_programs(saved, settings.checkpoint, told), resume=True, runs=settings.runs
        )
        if default.folder != settings.folder:
            raise CheckpointError(f"{settings.checkpoint} belongs in {default.folder}")
        settings = read_options(Settings, PROGRAM, arguments, default=default)
    return settings


def main(arguments: list[str]) -> int:
    """The command `artus train-sb3`."""
    try:
        settings = parse(arguments)
        settings.check()
        find_start(settings, settings.shape(action_features=False))
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    with stopped_in_one_line():
        return 0 if train(settings) else 130
