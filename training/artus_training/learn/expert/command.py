"""Train an agent by expert iteration: its network learns what a search with it finds out, and the search finds out more
with the network.

It goes on from a trained agent, and plays with itself. The last decisions of each game are searched; in others the
policy stays near to the one that it began with. Ctrl-C saves and stops; --resume goes on as if nothing had been. No run
takes the place of another: --name begins one beside it. `tensorboard --logdir runs` shows the curves.

    artus train-expert --num-players 3
    artus train-expert --num-players 3 --resume
    artus train-expert --workers 8
    artus train-expert --ray --ahead 1
"""

from __future__ import annotations

import dataclasses

from artus_training.arena.todo import ClusterError, OtherCodeError, UnitError
from artus_training.learn.checkpoints import CheckpointError, read_checkpoint
from artus_training.learn.expert.checkpoint import Progress
from artus_training.learn.expert.settings import Settings, preset, saved_settings
from artus_training.learn.expert.train import train
from artus_training.learn.expert.trainer import PROGRAM
from artus_training.learn.runs import stopped_in_one_line
from artus_training.learn.settings import UNTOLD, unsaid, with_new_names, without_programs
from artus_training.learn.start import find_start
from artus_training.options import read_options
from artus_training.usage import UsageError


def parse(arguments: list[str]) -> Settings:
    """Settings from the command line; those that aren't given come from the preset, with `--resume` from the
    checkpoint. Who plays is always for the command line to say."""
    arguments = with_new_names(arguments)
    asked = [word for word in arguments if word not in ("-h", "--help")]  # help comes below, with the preset's defaults
    nobody = unsaid(Settings(evaluation_opponents=UNTOLD, final_opponents=UNTOLD))
    told = read_options(Settings, PROGRAM, asked, default=nobody)
    default = preset(told.rules, told.num_players, told.preset, told, game=told.game)
    given = read_options(Settings, PROGRAM, asked, default=default)  # the preset may say which variant
    if given.resume:
        about, _ = read_checkpoint(given.checkpoint, Progress)
        saved = saved_settings(about.settings, given.checkpoint)
        default = dataclasses.replace(
            without_programs(saved, given.checkpoint, told), resume=True, runs=given.runs, workers=given.workers,
            ray=given.ray,
        )  # fmt: skip
        if default.folder != given.folder:
            raise CheckpointError(f"{given.checkpoint} belongs in {default.folder}")
    return read_options(Settings, PROGRAM, arguments, description=__doc__, default=default)


def main(arguments: list[str]) -> int:
    """The command `artus train-expert`."""
    try:
        settings = parse(arguments)
        settings.check()
        find_start(settings, settings.shape(), reward=settings.reward)
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    with stopped_in_one_line():
        try:
            return 0 if train(settings) else 130
        except (UnitError, ClusterError, OtherCodeError) as error:
            raise UsageError(f"{error}; --resume goes on from the last checkpoint") from error
