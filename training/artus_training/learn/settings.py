"""Settings that several trainers share, with the same meaning and the same defaults."""

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
UNTOLD = ("",)
"""Value of a setting of `AGENTS` that the command line doesn't give."""
WHERE = ("runs", "name", "resume", "preset")
"""Settings of files: the trained agent doesn't depend on them."""
POINTS = "points"
"""The reward mode that pays points as they are scored. Every game has this name for it; the name of the game's score
also works."""
MOST_ITEMS = 64
MOST_THREADS = 1024


@dataclass
class TrainingSettings:
    """Settings of all trainers."""

    TRAINER: ClassVar[str]
    """First part of the default names of its runs."""

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
    start: str | None = None
    """Agent whose weights to begin with: `ppo`, which comes with the game, `ppo:PATH` or the path of a saved one; its
    network must have the same sizes, or narrower layers. Unless given, initial weights are random."""

    hidden: tuple[int, ...] = (256, 256)
    """Width of the hidden layers, which policy and values share."""
    epochs: int = 2
    """Passes of an update over its decisions."""
    learning_rate: float = 1e-3
    """Learning rate at the start; it falls linearly to 2 % of that."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Longer gradients are scaled down to this length."""

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
        """Prefix of folder names, so that no two games share a folder."""
        return "" if self.game == DEFAULT_GAME else f"{self.game}-"

    @property
    def learnt(self) -> str:
        """The variant, as it appears in the run's name."""
        return f"{self.rules}-{self.num_players}"

    @property
    def folder(self) -> Path:
        """Folder of this run, called `name`, or trainer and variant, after the game's name if it isn't the default
        game."""
        return self.runs / (self.name or f"{self.prefix}{self.TRAINER}-{self.learnt}")

    @property
    def agent(self) -> Path:
        """File of the trained agent; its card is in the same folder."""
        return self.folder / "agent.safetensors"

    @property
    def checkpoint(self) -> Path:
        """The file from which `resume` continues."""
        return self.folder / "checkpoint.pt"

    def check_at_least(self, least: int, *names: str, most: float = math.inf) -> None:
        """Raise a ValueError naming the first of these settings that is out of range or no finite number."""
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
        """Shape of the trained network.

        Args:
            action_features: Whether the policy network gets features of each legal action, if the game has them.
        """
        return Shape.of(self.definition, self.definition.standard, tuple(self.hidden), action_features)

    def check_game(self) -> None:
        """Raise a ValueError if the game has no such variant, or a name or the hidden layers are invalid."""
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
    """Settings that `artus train` and `artus train-sb3` share."""

    reward: str = POINTS
    """The reward: `win`, `margin` or `points`. If moves score points, `points` rewards good moves at once and learns
    faster than `win`."""
    opponents: tuple[str, ...] = ()
    """Agents and the fraction of the games that each is in, NAME=FRACTION."""
    pool_size: int = 4
    """Earlier selves kept as opponents."""
    snapshot_every: int = 20
    """Updates between two copies of the learner for the pool of earlier selves."""

    gamma: float = 1.0
    """Discount of future rewards; with 1 a point has the same value whenever it is scored."""
    gae_lambda: float = 0.9
    """Lambda of generalised advantage estimation: 1 is unbiased, smaller values are less noisy."""
    entropy: float = 0.005
    """Weight of the entropy bonus."""
    clip: float = 0.2
    """Clip range of PPO: how far an update may change the probability of a decision."""

    def __post_init__(self) -> None:
        """See `TrainingSettings`; also replace the name of the game's score by `points`."""
        super().__post_init__()
        self.reward = self.same_in_all_games(self.reward)

    def same_in_all_games(self, reward: str) -> str:
        """The name of a reward mode that is the same in all games."""
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


def unsaid(settings: Run) -> Run:
    """Remove the rule set from the default of a command line, which may name another game."""
    settings.rules = ""
    return settings


def memory() -> float:
    """Bytes of this machine's memory; infinite if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # other systems
        return math.inf


def check_memory(name: str, games: int, num_steps: int, bytes_a_decision: int) -> None:
    """Raise a ValueError if the decisions between two updates need more memory than this machine has.

    Args:
        name: Name of the setting for `games`, for the message.
        games: Games at a time.
        num_steps: Decisions of each game.
        bytes_a_decision: Memory for one decision.
    """
    needed = games * num_steps * bytes_a_decision
    if needed > (there := memory()):
        raise ValueError(
            f"{name} {games} and num_steps {num_steps} need {needed // 10**9:,} GB of memory, "
            f"and this machine has {there / 1e9:,.0f} GB"
        )


def settings_to_dict(settings: TrainingSettings) -> dict[str, Any]:
    """Settings in the types of JSON and TOML."""
    return {
        name: storable(str(value)) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(settings).items()
        if value is not None
    }


def settings_from_dict(given: Mapping[str, Any], source: Path, default: Run) -> Run:
    """Settings from a preset or a checkpoint.

    Args:
        given: The content of the file.
        source: The file.
        default: Settings to use where the file has none.

    Raises:
        ValueError: If one is unknown or has a wrong type; the message names it and the file.
    """
    kinds = get_type_hints(type(default))
    values: dict[str, Any] = {}
    for name, value in given.items():
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
        values.setdefault("rules", "")  # the default's rules belong to another game
    try:
        return dataclasses.replace(default, **values)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


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


def without_programs(settings: Run, source: Path, told: Run | None) -> Run:
    """Return settings from a file, with agents replaced by those of the command line. A file can't start a program.

    Args:
        settings: The settings of the file.
        source: The file.
        told: The settings of the command line, with `UNTOLD` for agents that it doesn't name.

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
    """Differences between two results of `settings_to_dict`: `{"steps": [1000, 2000]}`."""
    names = [name for name in {**before, **now} if name not in WHERE]
    return {name: [before.get(name), now.get(name)] for name in names if before.get(name) != now.get(name)}


def check_resumed(
    before: TrainingSettings, now: TrainingSettings, checkpoint: Path, *fixed: str, say: bool = True
) -> dict[str, list[Any]]:
    """Return the changed settings of a resumed run, and print them.

    Args:
        before, now: The settings.
        checkpoint: The checkpoint, for messages.
        fixed: Names of settings that can't be changed any more.
        say: Whether to print the changes; False if another process does.

    Raises:
        ValueError: If a fixed setting was changed.
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
