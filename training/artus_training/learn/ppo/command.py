"""Self-play PPO: all seats of all games learn at once, as fast as the network can be trained.

    artus train --rules advanced --num-players 4
    artus train --rules advanced --num-players 4 --resume

Ctrl-C saves and stops; `--resume` goes on as if nothing had been. Without it a new run begins, and an earlier one of
the same name is moved aside, to a name with a number. `tensorboard --logdir runs` shows the curves.
"""

from __future__ import annotations

import dataclasses

from artus_training.learn.checkpoints import CheckpointError, read_checkpoint
from artus_training.learn.ppo.checkpoint import Progress
from artus_training.learn.ppo.settings import Settings, preset
from artus_training.learn.ppo.train import SHORT, train, train_all
from artus_training.learn.ppo.trainer import PROGRAM
from artus_training.learn.runs import stopped_in_one_line
from artus_training.learn.settings import UNTOLD, settings_from_dict, without_programs
from artus_training.options import read_options
from artus_training.usage import UsageError


def parse(arguments: list[str]) -> Settings:
    """Settings from the command line; those that aren't given come from the preset, with `--resume` from the
    checkpoint."""
    asked = [word for word in arguments if word not in ("-h", "--help")]  # help comes below, with the preset's defaults
    nobody = Settings(opponents=UNTOLD, judges=UNTOLD, final_judges=UNTOLD)
    told = read_options(Settings, PROGRAM, asked, default=nobody)
    default = preset(told.rules, told.num_players, told.preset, told)
    given = read_options(Settings, PROGRAM, asked, default=default)  # the preset may say which variant
    if given.resume:
        about, _ = read_checkpoint(given.checkpoint, Progress)
        default = without_programs(
            settings_from_dict(about.settings, given.checkpoint, Settings()), given.checkpoint, told
        )
        default = dataclasses.replace(default, resume=True, runs=given.runs)
        if default.folder != given.folder:
            raise CheckpointError(f"{given.checkpoint} belongs in {default.folder}")
    return read_options(Settings, PROGRAM, arguments, description=__doc__, default=default)


def main_all(arguments: list[str]) -> int:
    """Train beginner and advanced agents for two players, one after the other, and show how strong they are.

    Takes about three minutes. Exit code 1 if an agent has missed its goal.
    """
    read_options(lambda: None, "artus train-all", arguments, description=main_all.__doc__)
    with stopped_in_one_line():
        good = train_all([dataclasses.replace(preset(rules, 2), steps=SHORT) for rules in ("beginner", "advanced")])
    return 130 if good is None else int(not good)


def main(arguments: list[str]) -> int:
    """The command `artus train`."""
    try:
        settings = parse(arguments)
        settings.check()
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    with stopped_in_one_line():
        return 0 if train(settings) else 130
