"""Draw learning curves: how often agents won while they were trained.

Examples:
    artus curves runs/*/agent.json --out curves.png
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from tyro.conf import Positional, arg

from artus_agents.saved import read_card
from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import storable
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.contract.registry import find_game
from artus_training.options import read_options
from artus_training.tables import variant_name
from artus_training.usage import shown_in_one_line

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Distinguishable for colour-blind people (Okabe and Ito)."""
MARKERS = "osD^vP"


@dataclass
class Options:
    """Draw how often agents won while they were trained."""

    cards: Annotated[tuple[Path, ...], Positional, arg(metavar="AGENT ...", help_behavior_hint="(required)")]
    """Saved agents (*.json or *.safetensors). The curve of an agent that was trained further (--start) continues the
    curve of the agent that it started from."""
    out: Path = Path("curves.png")
    """File for the picture."""


class Variant(NamedTuple):
    """A panel's variant."""

    game: str
    rules: str
    num_players: int

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Sort key: rule sets in the order of their game."""
        rules = find_game(self.game).rules
        return self.game, rules.index(self.rules) if self.rules in rules else len(rules), self.rules, self.num_players


class Line(NamedTuple):
    """Win rate of an agent against an opponent in one variant, during training."""

    label: str  # label of the agent
    opponent: str
    decisions: list[float]  # million decisions until each evaluation
    wins: list[float]  # fraction of the games


def draw(cards: Sequence[tuple[str, dict[str, Any]]], path: Path) -> None:
    """Draw one panel for each variant, with one line for each agent and opponent, in the same style in all panels.

    Args:
        cards: A label and a card for each agent. Agents of one variant share a panel. The curve of an agent that was
            trained further (`--start`) from another of these agents continues the other agent's curve, under its own
            label.
        path: Path of the picture; its suffix selects the format.

    Raises:
        ValueError: If no card has a curve, a game isn't installed, or the format is unknown.
        OSError: If the picture can't be written.
    """
    panels: dict[Variant, list[Line]] = {}
    histories = [_history(card, [other_card for _, other_card in cards]) for _, card in cards]
    for (label, card), history in zip(cards, histories, strict=True):
        game = find_game(card.get("game", DEFAULT_GAME)).name
        for key in _pairings(card):
            variant_text, _, opponent = key.partition("/")
            if any(
                training is card and key in _pairings(trainings[-1])
                for trainings in histories
                for training in trainings[:-1]
            ):
                continue  # drawn as part of the curve of the agent that was trained further
            rules, _, players = variant_text.rpartition("-")
            line = Line(label, opponent, *_curve(history, key))
            panels.setdefault(Variant(game, rules, int(players)), []).append(line)
    if not panels:
        raise ValueError("none of these agents has a learning curve: they were trained without evaluations")
    styles = _styles(list(panels.values()))
    several = len({line.label for lines in panels.values() for line in lines}) > 1
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure((1 + 3.6 * columns, 0.6 + 2.7 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    games = {variant.game for variant in panels}
    several_games = len(games) > 1
    if not several_games and DEFAULT_GAME not in games:  # one title for all panels; none for the default game
        figure.suptitle(find_game(*games).title)
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    for axis, variant in zip(axes.flat, sorted(panels, key=lambda variant: variant.sort_key), strict=False):
        for line in panels[variant]:
            name = f"{line.label} against {line.opponent}" if several else f"against {line.opponent}"
            style = styles[line.label, line.opponent]
            axis.plot(line.decisions, line.wins, **style, markersize=3.5, linewidth=1.4, label=name)
        axis.axhline(1 / variant.num_players, color="0.6", linewidth=0.8, linestyle=":")
        title = variant_name(variant.game if several_games else DEFAULT_GAME, *variant[1:])
        axis.set(title=title, ylim=(0, 1.02), xlim=(0, None))
        axis.set_xlabel("million decisions")
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(edgecolor="none", fontsize="small", loc="best")
    for axis in axes[:, 0]:
        axis.set_ylabel("games won")
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:] or "png", dpi=110)
    write_atomically(path, picture.getbuffer())


def _pairings(card: dict[str, Any]) -> list[str]:
    """Pairings of the last evaluation of a training: "RULES-PLAYERS/OPPONENT"."""
    points = [point for point in card.get("curve", []) if point["wins"]]
    return list(points[-1]["wins"]) if points else []


def _curve(runs: Sequence[dict[str, Any]], key: str) -> tuple[list[float], list[float]]:
    """Million decisions (of all variants) until each evaluation, and win rates, over successive trainings. Returns two
    lists of the same length."""
    decisions, wins, earlier = [], [], 0.0
    for run in runs:
        for point in run.get("curve", []):
            if key in point["wins"]:  # an opponent may have been added later
                decisions.append(earlier + point["steps"] / 1e6)
                wins.append(point["wins"][key])
        earlier += run.get("steps", 0) / 1e6
    return decisions, wins


def _history(card: dict[str, Any], cards: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cards of an agent's successive trainings, the earliest first; cards that aren't given are left out."""
    runs = [card]
    while True:
        start = runs[0].get("start")
        predecessors = [other for other in cards if start and other.get("weights") == start and other not in runs]
        if not predecessors:
            return runs
        runs.insert(0, predecessors[0])


def _styles(panels: Sequence[Sequence[Line]]) -> dict[tuple[str, str], dict[str, str]]:
    """Colour and marker for each pair (label, opponent): the same in every panel, and unique within a panel.

    Agents that never share a panel may have the same colours, because there are few.
    """
    opponents = list(dict.fromkeys(line.opponent for lines in panels for line in lines))
    label_number: dict[str, int] = {}
    for label in dict.fromkeys(line.label for lines in panels for line in lines):
        panel_mates = {line.label for lines in panels if any(line.label == label for line in lines) for line in lines}
        label_number[label] = next(
            unused for unused in count() if unused not in {label_number.get(other) for other in panel_mates}
        )
    styles = {}
    for label in label_number:
        for index, opponent in enumerate(opponents):
            cycle, colour = divmod(label_number[label] * len(opponents) + index, len(COLOURS))
            styles[label, opponent] = {"color": COLOURS[colour], "marker": MARKERS[(colour + cycle) % len(MARKERS)]}
    return styles


def main(arguments: list[str]) -> int:
    """The command `artus curves`."""
    chosen = read_options(Options, "artus curves", arguments, description=__doc__)
    with shown_in_one_line(ValueError):
        if not chosen.cards:
            raise ValueError("name one or more saved agents")
        labels = [path.stem if path.stem != "agent" else path.parent.name for path in chosen.cards]
        if len(set(labels)) < len(labels):
            labels = [str(path) for path in chosen.cards]
        cards = [(storable(label), read_card(path)) for label, path in zip(labels, chosen.cards, strict=True)]
        draw(cards, chosen.out)
    print(chosen.out)
    return 0
