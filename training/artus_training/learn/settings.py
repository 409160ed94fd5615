"""Settings of trainings: their meaning and defaults, the presets of the variants, and how a command line is read.

The settings of a training are those of a preset, a TOML file, or with `--resume` those of the checkpoint; the command
line replaces some of them. They are read once, by `read_settings`.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import math
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, ClassVar, TypeVar, get_type_hints

from msgspec import Meta

from artus_agents.network import Shape
from artus_env import DEFAULT_GAME
from artus_env.agents import runs_program
from artus_env.engine.basics.reading import check_storable, convert, shown, storable
from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.play.rewards import mode_index
from artus_training.arena.evaluate import MOST_GAMES
from artus_training.arena.lineup import line_up

PAST = "past"
"""Name of the pool of earlier selves among the opponents."""
AGENT_SETTINGS = ("opponents", "evaluation_opponents", "final_opponents")
"""Settings that name agents."""
FILE_SETTINGS = ("runs", "name", "resume", "preset")
"""Settings that name files and folders: the trained agent doesn't depend on them."""
POINTS = "points"
"""The reward mode that pays points as they are scored. Every game has it under this name, and also under the name of
the game's score."""
ANY_GAME = Path(__file__).parent / "any-game.toml"
"""The preset of variants without one of their own."""
GOALS = "goals"
"""Name of the table in a game's preset with the goals of `artus train-all`: the win rate against each opponent."""
MOST_ITEMS = 64

AtLeast0 = Annotated[int, Meta(ge=0)]
AtLeast1 = Annotated[int, Meta(ge=1)]
Weight = Annotated[float, Meta(ge=0, le=1e9)]
Positive = Annotated[float, Meta(gt=0, le=1e9)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
NumGames = Annotated[int, Meta(ge=1, le=MOST_GAMES)]
NumGamesOr0 = Annotated[int, Meta(ge=0, le=MOST_GAMES)]


@dataclass
class TrainingSettings:
    """Settings of all trainers. `check` compares their values with these types."""

    TRAINER: ClassVar[str]
    """First part of the default names of its runs."""
    FIXED: ClassVar[tuple[str, ...]] = ("game", "rules", "num_players", "seed", "hidden", "start")
    """Settings that a resumed run can't change, because its network and games depend on them."""

    game: str = DEFAULT_GAME
    """The game to learn; `artus games` lists all."""
    rules: str = ""
    """Its rule set; unless given, the game's first."""
    num_players: int = 2
    """Number of players."""
    resume: bool = False
    """Continue from the checkpoint in the run's folder, with its settings unless others are given."""
    runs: Path = Path("runs")
    """The folder for runs; each run has its own folder in it, and a new run never overwrites another."""
    name: str = ""
    """Name of the run and of its folder; unless given, trainer and variant, such as ppo-beginner-2."""
    preset: Path | None = None
    """A TOML file with settings, used instead of the variant's own preset."""
    start: str | None = None
    """Agent with whose weights the training begins: `ppo`, which comes with the game, `ppo:PATH` or the path of a saved
    one; its network must have the same sizes, or narrower layers. Unless given, initial weights are random."""

    steps: AtLeast1 = 16_000_000
    """Total number of decisions; the last round is played to its end."""
    minutes: Weight = 0.0
    """Stop after this many minutes of training, evaluations not counted; 0: only `steps` count. With a time limit the
    learning rate depends on the speed of the machine; for reproducible results give `steps` alone."""
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    """Seed of weights, deals, draws and minibatches. With one thread the same seed gives the same agent."""
    reward: str = POINTS
    """The reward: `win`, `margin` or `points`. If moves score points, `points` rewards good moves at once and learns
    faster than `win`."""
    opponents: tuple[str, ...] = ("past=0.1",)
    """Agents and the fraction of the games in which each plays, NAME=FRACTION; `past` is the pool of earlier selves."""
    pool_size: AtLeast1 = 4
    """Earlier selves kept as opponents."""
    snapshot_every: AtLeast1 = 20
    """Updates between two copies of the learner for the pool of earlier selves."""

    hidden: tuple[int, ...] = (256, 256)
    """Width of the hidden layers, which policy and values share."""
    learning_rate: Weight = 1e-3
    """Learning rate at the start; it falls linearly to 2 % of this value."""
    num_games: AtLeast1 = 2048
    """Games played at a time, by all ranks together."""
    num_steps: Annotated[int, Meta(ge=8)] = 32
    """Decisions in each game between two updates."""  # with fewer than 8, perhaps no seat decides twice
    epochs: AtLeast1 = 2
    """Passes of an update over its decisions."""
    batch_size: AtLeast1 = 4096
    """Decisions in one gradient step, of all ranks together."""
    gamma: Fraction = 1.0
    """Discount of future rewards; with 1 a point has the same value whenever it is scored."""
    gae_lambda: Fraction = 0.9
    """Lambda of generalised advantage estimation: 1 is unbiased, smaller values are less noisy."""
    clip: Positive = 0.2
    """Clip range of PPO: how far an update may change the probability of a decision."""
    entropy: Weight = 0.005
    """Weight of the entropy bonus."""
    value_weight: Weight = 0.5
    """Weight of the value loss."""
    max_grad_norm: Positive = 0.5
    """Gradients longer than this are scaled down to this length."""

    threads: Annotated[int, Meta(ge=0, le=1024)] = 0
    """Torch threads of each rank; 0: one per core."""
    evaluate_every: AtLeast0 = 40
    """Updates between two evaluations, in addition to those after each 20 % of the training; 0: no evaluations."""
    evaluation_opponents: tuple[str, ...] = ("greedy", "lookahead")
    """Opponents in evaluations."""
    games: NumGames = 400
    """Games against each of these opponents in an evaluation during training."""
    final_opponents: tuple[str, ...] = ("random", "greedy", "lookahead")
    """Opponents in the evaluation at the end."""
    final_games: NumGamesOr0 = 1000
    """Games against each opponent at the end; 0: no evaluation."""

    def __post_init__(self) -> None:
        """Fill in the rule set, and replace the name of the game's score by `points`.

        Raises:
            ValueError: If there is no such game.
        """
        self.rules = self.rules or self.definition.rules[0]
        self.reward = self.same_in_all_games(self.reward)

    @property
    def definition(self) -> Definition:
        """The game."""
        return find_game(self.game)

    @property
    def variants(self) -> list[tuple[str, int]]:
        """All variants of the training."""
        return [(self.rules, self.num_players)]

    @property
    def folder(self) -> Path:
        """Folder of this run. It is called `name`; by default after the trainer and the variants, with the game's name
        in front unless it is the default game."""
        game = "" if self.game == DEFAULT_GAME else f"{self.game}-"
        learnt = "+".join(f"{rules}-{players}" for rules, players in self.variants)
        return self.runs / (self.name or f"{game}{self.TRAINER}-{learnt}")

    @property
    def agent(self) -> Path:
        """File of the trained agent; its card is in the same folder."""
        return self.folder / "agent.safetensors"

    @property
    def checkpoint(self) -> Path:
        """The file from which `resume` continues."""
        return self.folder / "checkpoint.safetensors"

    def same_in_all_games(self, reward: str) -> str:
        """The name of a reward mode that is the same in all games."""
        return POINTS if reward == self.definition.score else reward

    def fractions(self) -> dict[str, float]:
        """`opponents` as a dictionary.

        Raises:
            ValueError: If one isn't NAME=FRACTION, or a fraction or their sum isn't in 0..1.
        """
        given = shown(" ".join(self.opponents))
        try:
            by_name = {name: float(fraction) for name, _, fraction in (text.rpartition("=") for text in self.opponents)}
        except ValueError:
            raise ValueError(f"opponents are NAME=FRACTION, got {given}") from None
        if any(not 0 <= fraction <= 1 for fraction in by_name.values()) or sum(by_name.values()) > 1:
            raise ValueError(f"the fractions of opponents must be 0..1, in all at most 1, got {given}")
        return by_name

    @property
    def bfloat16(self) -> bool:
        """Whether the network computes in bfloat16."""
        return False

    def preset_file(self) -> Path:
        """The file with the settings that aren't given: `preset`, the variant's own, or `ANY_GAME`."""
        return self.preset or own_preset(self.definition, self.rules, self.num_players) or ANY_GAME

    def shape(self) -> Shape:
        """Shape of the trained network."""
        return Shape.of(self.definition, self.definition.standard, tuple(self.hidden))

    def bytes_a_decision(self) -> int:
        """Bytes of memory for each decision between two updates."""
        raise NotImplementedError

    def check(self, ranks: int = 1) -> None:
        """Raise a ValueError naming the first invalid setting.

        Args:
            ranks: Processes that share the training.
        """
        for name, setting_type in types_of(type(self)).items():
            if setting_type not in (Path, Path | None):
                converted(name, getattr(self, name), setting_type)
        if self.name != Path(self.name).name or self.name.startswith("."):
            raise ValueError(f"name must be the name of a folder, without a dot in front, got {shown(self.name)}")
        check_storable("name", self.name)
        check_storable("start", self.start or "")
        for name in AGENT_SETTINGS:
            check_storable(name, *getattr(self, name))
        for variant in self.variants:
            self.definition.check_variant(*variant)
        self.shape().check()
        mode_index(self.reward, self.definition.score)
        needed, available = self.num_games // ranks * self.num_steps * self.bytes_a_decision(), memory()
        if needed > available:
            raise ValueError(
                f"num_games {self.num_games} and num_steps {self.num_steps} need {needed // 10**9:,} GB of memory, "
                f"and this machine has {available / 1e9:,.0f} GB"
            )
        opponents = [name for name in self.fractions() if name != PAST]
        for rules, num_players in self.variants:
            for agent in (*opponents, *self.evaluation_opponents, *self.final_opponents):
                line_up([agent, agent], rules, num_players, game=self.game)


Kind = TypeVar("Kind", bound=TrainingSettings)


def memory() -> float:
    """Bytes of this machine's memory; infinite if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # other systems
        return math.inf


# --- to and from plain data ---


def types_of(kind: type[TrainingSettings]) -> dict[str, Any]:
    """The type of each setting of a trainer, with its bounds."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def texts_of(kind: type[TrainingSettings]) -> dict[str, str]:
    """The text below each setting in the source, as one line, by setting."""
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if dataclasses.is_dataclass(base):
            (body,) = ast.parse(dedent(inspect.getsource(base))).body
            assert isinstance(body, ast.ClassDef)
            for statement, following in pairwise(body.body):
                match statement, following:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        texts[name] = " ".join(text.split())
    return {name: texts[name] for name in types_of(kind)}


def converted(name: str, value: Any, setting_type: Any) -> Any:
    """Convert a value to the type of its setting.

    Raises:
        ValueError: If it can't be converted, or is out of bounds; the message names setting, value and type.
    """
    if isinstance(value, (list, tuple)) and len(value) > MOST_ITEMS:
        raise ValueError(f"{name} has {len(value)} items, at most {MOST_ITEMS} are possible")
    try:
        return Path(convert(value, str)) if setting_type in (Path, Path | None) else convert(value, setting_type)
    except ValueError as error:
        raise ValueError(f"{name} can't be {shown(value)}: {error}") from None


def settings_to_dict(settings: TrainingSettings) -> dict[str, Any]:
    """Settings in the types of JSON and TOML."""
    return {
        name: storable(str(value)) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(settings).items()
        if value is not None
    }


def settings_from_dict(given: Mapping[str, Any], source: Any, default: Kind) -> Kind:
    """Settings from a preset, a checkpoint or a command line.

    Args:
        given: The settings by name.
        source: Where they come from, for messages.
        default: Settings for all names that `given` lacks.

    Raises:
        ValueError: If one is unknown or has a wrong type; the message names it and the source.
    """
    types = types_of(type(default))
    values: dict[str, Any] = {}
    try:
        for name, value in given.items():
            if name not in types:
                raise ValueError(f"there is no setting {shown(name)}; there are {', '.join(types)}")
            values[name] = converted(name, value, types[name])
        if values.get("game", default.game) != default.game:
            values.setdefault("rules", "")  # the default's rules belong to another game
        return dataclasses.replace(default, **values)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Differences between two results of `settings_to_dict`: `{"steps": [1000, 2000]}`."""
    names = [name for name in {**before, **now} if name not in FILE_SETTINGS]
    return {name: [before.get(name), now.get(name)] for name in names if before.get(name) != now.get(name)}


# --- presets ---


def read_preset(source: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ValueError: If the file is missing or no TOML; the message names it.
    """
    try:
        return tomllib.loads(source.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ValueError(f"preset {source}: {error.strerror}") from error
    except RecursionError:
        raise ValueError(f"preset {source}: brackets are nested too deep") from None
    except ValueError as error:  # no TOML, no text, or a number of too many digits
        raise ValueError(f"preset {source}: {error}") from error


def own_preset(definition: Definition, rules: str, num_players: int) -> Path | None:
    """A game's preset for a variant; None if it has none."""
    path = Path(definition.presets or "", f"{rules}-{num_players}.toml")
    return path if definition.presets and path.is_file() else None


def variants_with_preset(definition: Definition) -> list[tuple[str, int]]:
    """The variants for which a game has presets."""
    players = range(definition.min_players, definition.max_players + 1)
    return [(rules, count) for count in players for rules in definition.rules if own_preset(definition, rules, count)]


def goals(definition: Definition, rules: str, num_players: int) -> dict[str, float]:
    """Win rates that an agent of `artus train-all` should reach against some opponents, from the variant's preset.

    Raises:
        ValueError: If the preset can't be read.
    """
    source = own_preset(definition, rules, num_players)
    return convert(read_preset(source).get(GOALS, {}), dict[str, float]) if source else {}


def with_preset(default: Kind, given: Mapping[str, Any] | None = None) -> Kind:
    """Settings from the preset of a variant, or from a TOML file, and from a command line.

    Args:
        default: Settings that choose the file (see `preset_file`).
        given: Settings that replace those of the file.

    Raises:
        ValueError: If there is no such variant, or the file is missing, invalid, or names an agent that starts a
            program.
    """
    default.definition.check_variant(default.rules, default.num_players)
    source = default.preset_file()
    file_settings = read_preset(source)
    file_settings.pop(GOALS, None)
    return put_together(file_settings, source, given or {}, default)


def put_together(file_settings: Mapping[str, Any], source: Path, given: Mapping[str, Any], default: Kind) -> Kind:
    """Combine the settings of a file with those of the command line, which win. A file can't start a program.

    Raises:
        ValueError: If one is invalid, or the file names an agent that starts a program, and the command line neither
            names that agent nor others in its place.
    """
    settings = settings_from_dict(file_settings, source, default)
    agents_of_user = {agent for name in AGENT_SETTINGS for agent in _agents(name, given.get(name, ()))}
    for name in AGENT_SETTINGS:
        for agent in [] if name in given else _agents(name, getattr(settings, name)):
            if agent not in agents_of_user and runs_program(agent):
                raise ValueError(
                    f"{source}: {name} has {shown(agent)}, which starts a program; a file can't do that: name it, or "
                    f"others, on the command line: --set {name}=[...]"
                )
    return settings_from_dict(given, "the command line", settings)


def _agents(name: str, texts: Sequence[str]) -> list[str]:
    """The agents that a setting names."""
    return [text.rpartition("=")[0] if name == "opponents" else text for text in texts]


def say_if_no_preset(settings: TrainingSettings) -> None:
    """Print a note if a variant has no preset of its own."""
    if settings.preset_file() == ANY_GAME:
        print(
            f"{settings.game} has no preset for {settings.rules} with {counted(settings.num_players, 'player')}: "
            "settings that aren't given have their defaults"
        )


# --- the command line ---


def read_settings(
    default: Kind, given: Mapping[str, Any], read_checkpoint: Callable[[Path], Mapping[str, Any]]
) -> Kind:
    """The settings of a training: those of its preset, or with `resume` those of its checkpoint; then those given.

    Args:
        default: The trainer's defaults.
        given: Settings of the command line, by name.
        read_checkpoint: Returns the settings in a checkpoint.

    Raises:
        ValueError: If one is invalid, or the checkpoint belongs to another folder.
    """
    variant = {name: given[name] for name in ("game", "rules", "num_players", "preset") if name in given}
    settings = with_preset(settings_from_dict(variant, "the command line", default), given)
    if settings.resume:
        file_settings = {
            name: value for name, value in read_checkpoint(settings.checkpoint).items() if name not in FILE_SETTINGS
        }
        file_settings |= {"resume": True, "runs": str(settings.runs), "name": settings.name}
        if (folder := settings_from_dict(file_settings, settings.checkpoint, default).folder) != settings.folder:
            raise ValueError(f"{settings.checkpoint} belongs in {folder}")
        return put_together(file_settings, settings.checkpoint, given, default)
    return settings


def read_pairs(pairs: Sequence[str], settings_type: type[TrainingSettings]) -> dict[str, Any]:
    """Settings from `--set`: KEY=VALUE, with values as in TOML; texts need no quotes.

    Raises:
        ValueError: If one isn't KEY=VALUE, or there is no such setting.
    """
    types = types_of(settings_type)
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in types:
            raise ValueError(f"--set needs KEY=VALUE with one of these keys: {', '.join(types)}; got {shown(pair)}")
        try:
            values[name] = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            values[name] = text.strip()
        if isinstance(values[name], (str, int, float)) and types[name] in (tuple[str, ...], tuple[int, ...]):
            values[name] = [values[name]]
    return values


def check_resumed(
    before: TrainingSettings, now: TrainingSettings, checkpoint: Path, print_changes: bool = True
) -> dict[str, list[Any]]:
    """Find the changed settings of a resumed run, and print them.

    Args:
        before, now: The settings of the checkpoint, and those of the resumed run.
        checkpoint: The checkpoint, for messages.
        print_changes: Whether to print the changes; False if another process does.

    Returns:
        The old and the new value of each changed setting.

    Raises:
        ValueError: If a fixed setting was changed.
    """
    changed = changes(settings_to_dict(before), settings_to_dict(now))
    for name, (old, new) in changed.items():
        if name in now.FIXED:
            raise ValueError(
                f"{checkpoint} belongs to a run with {name} {shown(old)}, not {shown(new)}; leave --resume out to "
                "begin a new run and keep this one"
            )
    if changed and print_changes:
        texts = (f"{name} {shown(old)} -> {shown(new)}" for name, (old, new) in changed.items())
        print(f"{checkpoint} goes on with other settings: {', '.join(texts)}")
    return changed
