"""What several trainers are told, with the same meaning and the same defaults: who learns what, and how PPO learns."""

from __future__ import annotations

import dataclasses
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

from artus_agents.network import Shape
from artus_env import DEFAULT_GAME
from artus_env.agents import runs_program
from artus_env.engine.basics.reading import check_storable, convert, shown, storable
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.play.rewards import mode_index

AGENTS = ("opponents", "evaluation_opponents", "final_opponents")
"""Settings that name agents."""
RENAMED = {"judges": "evaluation_opponents", "final_judges": "final_opponents"}
"""Settings that had another name: files with the old one are read, and options too."""
UNTOLD = ("",)
"""What stands there where the command line says nothing."""
WHERE = ("runs", "name", "resume", "preset", "workers", "ray")
"""Settings that say where files lie and who plays: what is learnt doesn't depend on them."""
POINTS = "points"
"""The reward mode that pays points as they come. It has this name in every game, beside that of the game's score."""
MOST_ITEMS = 64
MOST_THREADS = 1024


@dataclass
class TrainingSettings:
    """What all trainers have in common."""

    TRAINER: ClassVar[str]
    """What names of its runs begin with."""

    game: str = DEFAULT_GAME
    """The game that is learnt; `artus games` lists all."""
    rules: str = ""
    """Its rule set; unless given, the game's first."""
    num_players: int = 2
    """How many play a game."""
    resume: bool = False
    """Go on from the checkpoint in the run's folder, with its settings unless others are given."""
    runs: Path = Path("runs")
    """The folder for runs; each has one of its own below it, and none takes the place of another."""
    name: str = ""
    """Name of the run, and of its folder; unless given, one that says what it learns, such as ppo-beginner-2."""
    start: str | None = None
    """Agent whose weights to begin with: `ppo`, which comes with the game, `ppo:PATH` or the path of a saved one; its
    network must have the same sizes, or narrower layers. Unless given, weights are drawn."""

    hidden: tuple[int, ...] = (256, 256)
    """Width of the hidden layers, which policy and values share."""
    epochs: int = 2
    """How often an update goes over its decisions."""
    learning_rate: float = 1e-3
    """Learning rate at the start; it falls linearly to a fiftieth."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Longer gradients are cut to this length."""

    def __post_init__(self) -> None:
        """Fill in the rule set.

        Raises:
            ValueError: If there is no such game.
        """
        self.rules = self.rules or self.definition.rules[0]

    @property
    def definition(self) -> Definition:
        """The game."""
        return find_game(self.game)

    @property
    def prefix(self) -> str:
        """What the names of folders begin with, so that no two games share one."""
        return "" if self.game == DEFAULT_GAME else f"{self.game}-"

    @property
    def learnt(self) -> str:
        """What it learns, as the run's name says it."""
        return f"{self.rules}-{self.num_players}"

    @property
    def folder(self) -> Path:
        """Of this run: `name`, or the trainer and what it learns; that of another game than the default one begins with
        its name."""
        return self.runs / (self.name or f"{self.prefix}{self.TRAINER}-{self.learnt}")

    @property
    def agent(self) -> Path:
        """The trained agent; its card lies beside it."""
        return self.folder / "agent.safetensors"

    @property
    def checkpoint(self) -> Path:
        """Where `resume` goes on."""
        return self.folder / "checkpoint.pt"

    def check_at_least(self, least: int, *names: str, most: float = math.inf) -> None:
        """Raise a ValueError naming the first of these settings that is less or more, or no finite number."""
        for name in names:
            if not least <= getattr(self, name) <= most or getattr(self, name) == math.inf:
                wanted = f"at least {least}" if most == math.inf else f"in {least}..{most}"
                raise ValueError(f"{name} must be {wanted}, got {shown(getattr(self, name))}")

    def check_more_than_0(self, *names: str) -> None:
        """Raise a ValueError naming the first of these settings that isn't more than 0."""
        for name in names:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, got {shown(getattr(self, name))}")

    def check_part(self, *names: str) -> None:
        """Raise a ValueError naming the first of these settings that isn't in 0..1."""
        for name in names:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in 0..1, got {shown(getattr(self, name))}")

    def shape(self, action_features: bool = True) -> Shape:
        """The network that is trained.

        Args:
            action_features: Whether its policy is told what legal actions lead to, if the game has something to tell.
        """
        return Shape.of(self.definition, self.definition.standard, tuple(self.hidden), action_features)

    def check_game(self) -> None:
        """Raise a ValueError if the game has no such variant, or a name or the hidden layers can't be."""
        if self.name != Path(self.name).name or self.name.startswith("."):
            raise ValueError(f"name must be one of a folder, without a dot in front, got {shown(self.name)}")
        check_storable("name", self.name)
        check_storable("start", self.start or "")
        for name in AGENTS:
            check_storable(name, *getattr(self, name, ()))
        self.definition.check_variant(self.rules, self.num_players)
        self.shape().check()


@dataclass
class PpoSettings(TrainingSettings):
    """What `artus train` and `artus train-sb3` have in common."""

    reward: str = POINTS
    """What the learner is paid for: `win`, `margin` or `points`. Where moves bring points, `points` tells good from bad
    ones at once and learns faster than `win`."""
    opponents: tuple[str, ...] = ()
    """Agents and the fraction of the games that each is in, NAME=FRACTION."""
    pool_size: int = 4
    """Earlier selves kept as opponents."""
    snapshot_every: int = 20
    """Updates from one earlier self to the next."""

    gamma: float = 1.0
    """Discount of rewards to come. A point counts alike whenever it is made."""
    gae_lambda: float = 0.9
    """Weight of far against near advantages: 1 is unbiased, less is less noisy."""
    entropy: float = 0.005
    """Bonus for staying undecided."""
    clip: float = 0.2
    """How far an update may change the probability of a decision."""

    def __post_init__(self) -> None:
        """See `TrainingSettings`; `points` for the name of the game's score."""
        super().__post_init__()
        self.reward = self.same_in_all_games(self.reward)

    def same_in_all_games(self, reward: str) -> str:
        """The name of a reward mode that no game has for itself."""
        return POINTS if reward == self.definition.score else reward

    def fractions(self) -> dict[str, float]:
        """`opponents` as a dictionary.

        Raises:
            ValueError: If one isn't NAME=FRACTION.
        """
        try:
            return {name: float(fraction) for name, _, fraction in (text.rpartition("=") for text in self.opponents)}
        except ValueError:
            raise ValueError(f"opponents are NAME=FRACTION, got {shown(' '.join(self.opponents))}") from None

    def check_game(self) -> None:
        """Also raise a ValueError if the game has no such reward."""
        super().check_game()
        mode_index(self.reward, self.definition.score)


Run = TypeVar("Run", bound=TrainingSettings)


def with_new_names(arguments: Sequence[str]) -> list[str]:
    """Words of a command line, with the names that options have now."""
    options = {f"--{old}".replace("_", "-"): f"--{new}".replace("_", "-") for old, new in RENAMED.items()}
    return [options.get(word, word) for word in arguments]


def unsaid(settings: Run) -> Run:
    """Settings as the default of a command line that may name another game: without a rule set, until that is known."""
    settings.rules = ""
    return settings


def memory() -> float:
    """Bytes of this machine's memory; infinite where the system doesn't say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # other systems
        return math.inf


def check_memory(name: str, games: int, num_steps: int, bytes_a_decision: int) -> None:
    """Raise a ValueError if what is collected between two updates is more than this machine's memory holds.

    Args:
        name: Of the setting that says how many games are played at a time.
        games: How many.
        num_steps: Decisions of each.
        bytes_a_decision: What is kept of one.
    """
    needed = games * num_steps * bytes_a_decision
    if needed > (there := memory()):
        raise ValueError(
            f"{name} {games} and num_steps {num_steps} need {needed // 10**9:,} GB of memory, "
            f"and this machine has {there / 1e9:,.0f} GB"
        )


def settings_to_dict(settings: TrainingSettings) -> dict[str, Any]:
    """Settings as JSON and TOML know them."""
    return {
        name: storable(str(value)) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(settings).items()
        if value is not None
    }


def settings_from_dict(given: Mapping[str, Any], source: Path, default: Run) -> Run:
    """Settings from a preset or a checkpoint.

    Args:
        given: What the file says.
        source: The file.
        default: Settings that aren't in it.

    Raises:
        ValueError: If one is unknown or has a wrong type; the message names it and the file.
    """
    kinds = get_type_hints(type(default))
    values: dict[str, Any] = {}
    for said, value in given.items():
        name = RENAMED.get(said, said)
        if name in values:
            raise ValueError(f"{source}: {said} is the old name of {name}; it can't have both")
        if name not in kinds:
            raise ValueError(f"{source}: there is no setting {shown(name)}; there are {', '.join(kinds)}")
        if isinstance(value, list) and len(value) > MOST_ITEMS:
            raise ValueError(f"{source}: {name} has {len(value)} items, at most {MOST_ITEMS} are possible")
        try:
            path = kinds[name] in (Path, Path | None)
            values[name] = Path(convert(value, str)) if path else convert(value, kinds[name])
        except ValueError as error:
            raise ValueError(f"{source}: {name} can't be {shown(value)}: {error}") from None
    if values.get("game", default.game) != default.game:
        values.setdefault("rules", "")  # those of the default are another game's
    try:
        return dataclasses.replace(default, **values)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def read_preset(source: Path) -> dict[str, Any]:
    """What a TOML file says.

    Raises:
        ValueError: If it is missing or no such file; the message names it.
    """
    try:
        return tomllib.loads(source.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ValueError(f"preset {source}: {error.strerror}") from error
    except RecursionError:
        raise ValueError(f"preset {source}: brackets are nested too deep") from None
    except ValueError as error:  # no TOML, no text, or a number of too many digits
        raise ValueError(f"preset {source}: {error}") from error


def without_programs(settings: Run, source: Path, told: Run | None) -> Run:
    """Settings from a file, with the agents that the command line names. A file can't start a program.

    Args:
        settings: What the file says.
        source: The file.
        told: What the command line says, with `UNTOLD` for agents that it doesn't name.

    Raises:
        ValueError: If the file names an agent that starts a program, and the command line neither names that agent nor
            others in its place.
    """
    said = {name: getattr(told, name, UNTOLD) for name in AGENTS}
    ours = {agent for name, texts in said.items() for agent in _agents(name, texts)}
    instead: dict[str, Any] = {name: texts for name, texts in said.items() if texts != UNTOLD}
    for name in AGENTS:
        for agent in [] if name in instead else _agents(name, getattr(settings, name, ())):
            if agent not in ours and runs_program(agent):
                raise ValueError(
                    f"{source}: {name} has {shown(agent)}, which starts a program; a file can't do that: "
                    f"name it on the command line, or others with --{name.replace('_', '-')}"
                )
    return dataclasses.replace(settings, **instead)


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What differs between settings as `settings_to_dict` says them, and how: `{"steps": [1000, 2000]}`."""
    names = [name for name in {**before, **now} if name not in WHERE]
    return {name: [before.get(name), now.get(name)] for name in names if before.get(name) != now.get(name)}


def check_resumed(
    before: TrainingSettings, now: TrainingSettings, checkpoint: Path, *fixed: str, say: bool = True
) -> dict[str, list[Any]]:
    """What a resumed run does differently from now on, after saying so.

    Args:
        before, now: Settings.
        checkpoint: For messages.
        fixed: Settings that the beginning depended on: they can't be changed any more.
        say: False where another process says it.

    Raises:
        ValueError: If one of those was changed.
    """
    changed = changes(settings_to_dict(before), settings_to_dict(now))
    for name, (old, new) in changed.items():
        if name in fixed:
            raise ValueError(
                f"{checkpoint} belongs to a run with {name} {shown(old)}, not {shown(new)}; leave --resume out "
                "to begin a new "
                f"run and keep this one"
            )
    if changed and say:
        texts = (f"{name} {shown(old)} -> {shown(new)}" for name, (old, new) in changed.items())
        print(f"{checkpoint} goes on with other settings: {', '.join(texts)}")
    return changed


def _agents(name: str, texts: Sequence[str]) -> list[str]:
    """The agents that a setting names."""
    return [text.rpartition("=")[0] if name == "opponents" else text for text in texts]
