"""The commands `artus train`, `artus train-sb3` and `artus train-all`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import UseAppendAction, arg

from artus_agents.saved import read_card
from artus_env import DEFAULT_GAME
from artus_env.engine.contract.registry import find_game
from artus_training.learn.checkpoints import read_checkpoint
from artus_training.learn.ranks import Ranks, joined
from artus_training.learn.runs import Training, begin_run, train
from artus_training.learn.settings import (
    TrainingSettings,
    goals,
    read_pairs,
    read_settings,
    say_if_no_preset,
    texts_of,
    types_of,
    variants_with_preset,
    with_preset,
)
from artus_training.learn.start import find_start
from artus_training.options import read_options
from artus_training.tables import as_text, one_line_name, table
from artus_training.usage import UsageError

SHORT = 4_000_000
"""Steps of each training in `artus train-all`."""


SHOWN = (
    "game", "rules", "num_players", "steps", "minutes", "name", "runs", "resume", "preset", "start", "seed", "reward",
    "opponents", "hidden", "learning_rate", "num_games", "threads",
)  # fmt: skip
"""Settings with an option of their own, because people often change them. All others are given by `--set`;
docs/training.md lists them."""


IN_NO_PRESET = ("game", "num_players", "runs")
"""Settings whose defaults `--help` shows, because no preset that comes with a game changes them."""


def options() -> type[Any]:
    """The options of `artus train` and `artus train-sb3`: a dataclass with the `SHOWN` settings, their types and texts.
    An option that isn't given is None."""
    types, texts = types_of(TrainingSettings), texts_of(TrainingSettings)
    fields: list[Any] = []
    for name in SHOWN:
        option_type, unset = (bool, False) if types[name] is bool else (types[name] | None, None)
        default = f"(default: {getattr(TrainingSettings, name)})" if name in IN_NO_PRESET else ""
        fields.append((name, Annotated[option_type, arg(help=texts[name], help_behavior_hint=default)], unset))
    set_option = Annotated[
        tuple[str, ...], UseAppendAction, arg(help="Another setting; may be given several times.", metavar="KEY=VALUE")
    ]
    return make_dataclass("Options", [*fields, ("set", set_option, ())])


def given_settings(chosen: Any, settings_type: type[TrainingSettings]) -> dict[str, Any]:
    """The settings of a command line, by name.

    Args:
        chosen: An instance of the class that `options` returns.
        settings_type: The trainer's settings.

    Raises:
        ValueError: If one of `--set` isn't KEY=VALUE.
    """
    values = {name: getattr(chosen, name) for name in SHOWN}
    found = {
        name: str(value) if isinstance(value, Path) else value for name, value in values.items() if value is not None
    }
    if not chosen.resume:
        del found["resume"]
    return found | read_pairs(chosen.set, settings_type)


def trainer(name: str) -> tuple[type[Training[Any]], type[TrainingSettings]]:
    """The classes of the trainer `ppo` or `sb3` and of its settings. Only the module of this trainer is imported."""
    module = import_module(f"artus_training.learn.{name}")
    return module.Trainer, module.Settings


def parse(arguments: Sequence[str], name: str = "ppo", description: str = "") -> Any:
    """Settings from the command line; what isn't given comes from the preset, or with `--resume` from the checkpoint.

    Raises:
        ValueError: If one is invalid.
        UsageError: If the checkpoint is missing or damaged.
    """
    trainer_type, settings_type = trainer(name)
    given = given_settings(
        read_options(options(), trainer_type.PROGRAM, arguments, description=description), settings_type
    )
    return read_settings(settings_type(), given, lambda path: read_checkpoint(path)[0].settings)


def run(arguments: Sequence[str], name: str, description: str, ranks: Ranks) -> int:
    """Run a training. Returns the exit code."""

    def read() -> TrainingSettings:
        try:
            settings = parse(arguments, name, description)
            settings.check(ranks.size)
            find_start(settings, settings.shape())
        except (ValueError, TypeError) as error:
            raise UsageError(str(error)) from error
        if not settings.resume:
            say_if_no_preset(settings)
        return settings

    settings = ranks.from_first(read)
    return 0 if train(trainer(name)[0], settings, ranks) else 130


def main(arguments: Sequence[str]) -> int:
    """Train an agent by playing against itself (PPO): all seats of all games learn at once.

    Ctrl-C saves and stops; --resume continues as if there had been no interruption. Without --resume a new run begins;
    if its folder holds a run already, give it another --name. `tensorboard --logdir runs` shows the curves. With
    `torchrun` several processes share a training, as in the last example.

    Examples:
        artus train --num-players 3
        artus train --num-players 3 --minutes 10 --name short
        artus train --num-players 3 --resume
        artus train --set gamma=0.99 --set entropy=0.01
        torchrun --standalone --nproc-per-node 2 -m artus_training train
    """
    with joined() as ranks:
        return run(arguments, "ppo", main.__doc__ or "", ranks)


def main_sb3(arguments: Sequence[str]) -> int:
    """Train an agent with MaskablePPO of Stable-Baselines3 (sb3-contrib), by self-play and against simple opponents.

    It exists for comparison with `artus train`. Ctrl-C saves and stops; --resume continues from there. Without --resume
    a new run begins; if its folder holds a run already, give it another --name. `tensorboard --logdir runs` shows the
    curves.

    Examples:
        artus train-sb3 --num-players 3
        artus train-sb3 --num-players 3 --resume
    """
    return run(arguments, "sb3", main_sb3.__doc__ or "", Ranks())


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

    def trainings(self) -> list[Any]:
        """The settings of each training.

        Raises:
            ValueError: If there is no such game, or it has no presets.
            UsageError: If a run exists that isn't to be resumed.
        """
        definition = find_game(self.game)
        variants = variants_with_preset(definition)
        if not variants:
            raise ValueError(f"{self.game} has no presets: train its variants one by one, with `artus train`")
        with_goals = [variant for variant in variants if goals(definition, *variant)]
        _, settings_type = trainer("ppo")
        trainings = []
        for rules, num_players in with_goals or variants:
            default = settings_type(game=self.game, rules=rules, num_players=num_players)
            training = with_preset(default, {"steps": SHORT, "runs": str(self.runs)})
            training.resume = self.resume and training.checkpoint.exists()
            if training.folder.is_dir() and not training.resume:
                begin_run(training.folder, "--runs FOLDER")
            trainings.append(training)
        return trainings


def main_all(arguments: Sequence[str]) -> int:
    """The command `artus train-all`."""
    chosen = read_options(All, "artus train-all", arguments)
    try:
        trainings = chosen.trainings()
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    all_reached = train_all(trainings)
    return 130 if all_reached is None else int(not all_reached)


def train_all(settings: Sequence[TrainingSettings]) -> bool | None:
    """Train one agent after the other, and print a table of their win rates.

    Returns:
        Whether all agents reached the goals of their presets; None if Ctrl-C stopped a training.
    """
    trainer_type, _ = trainer("ppo")
    rows = [("agent", "against", "wins (95 %)", "margin", "goal")]
    all_reached = True
    for training in settings:
        if not train(trainer_type, training):
            return None
        win_rates_wanted = goals(training.definition, training.rules, training.num_players)
        for result in read_card(training.agent)["strength"]:
            low, high = result["wins_95"]
            goal = win_rates_wanted.get(result["against"], 0.0)
            goal_reached = result["wins"] >= goal
            all_reached &= goal_reached
            rows.append(
                (
                    f"{training.rules}, {training.num_players} players", one_line_name(result["against"]),
                    f"{result['wins']:.1%} ({100 * low:.1f}..{100 * high:.1f})", f"{result['margin']:+.1f}",
                    f"{goal:.0%} {'ok' if goal_reached else 'missed'}" if goal else "",
                )
            )  # fmt: skip
    legend = "margin: mean of its points minus those of the others. goal: win rate that it should reach."
    print(as_text("", table(rows, number_columns=(2, 3, 4)), "", legend))
    return all_reached
