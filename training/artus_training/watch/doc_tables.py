"""Tables for the documentation and for `artus rules`: generic ones and those of a game's own.

`artus tables FILE...` rewrites the parts of Markdown files between `<!-- table: NAME -->` and `<!-- end -->`; NAME is
the name of a table of the default game, GAME/NAME, or `settings` for the settings of trainings.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from artus_env.engine.basics.reading import shown
from artus_env.engine.compiling import dispatch
from artus_env.engine.contract import verbs
from artus_env.engine.contract.definition import Definition, DocTable, observation_table
from artus_env.engine.contract.registry import find_game
from artus_env.engine.play.rewards import reward_modes
from artus_training.arena.ladder_file import HEAD, read_ladder, rows_of


def tables_of(definition: Definition) -> dict[str, Callable[[], str]]:
    """Functions that make a game's tables as Markdown, by table name: its own ones first, then the generic ones."""
    made: dict[str, Callable[[], str]] = {
        name: partial(_own, make) for name, make in (definition.doc_tables or {}).items()
    }
    for make in (spec, actions, observation, rewards, *[reconstructed] * bool(definition.reconstructed)):
        made.setdefault(make.__name__, partial(make, definition))
    if definition.ladder:
        made.setdefault(ladder.__name__, partial(ladder, definition.ladder))
    return made


def _own(make: Callable[[], DocTable]) -> str:
    table = make()
    return "\n\n".join([markdown(table.head, table.rows), *table.below])


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def spec(definition: Definition) -> str:
    """Summary of the environment."""
    low, high = definition.observation_bounds(definition.standard)
    fewest, most = definition.min_players, definition.max_players
    rows = [
        ("players", f"{fewest}" if fewest == most else f"{fewest} to {most}"),
        ("rules", ", ".join(f"`{rules}`" for rules in definition.rules)),
        ("actions", f"`Discrete({len(definition.action_table(definition.standard))})`, always with a mask"),
        ("observation", f"`Box({low.min()}, {high.max()}, ({len(low)},), int8)`, seen from one player"),
        ("reward", "zero-sum, at the end or move by move"),
    ]
    return markdown(["", ""], rows)


def actions(definition: Definition) -> str:
    """Meanings of the action ids."""
    numbers = range(len(definition.action_table(definition.standard)))
    meanings = [(number, definition.action_meaning(number, definition.standard)) for number in numbers]
    return markdown(["id", "action"], meanings)


def observation(definition: Definition) -> str:
    """Blocks of the observation in order."""
    return _own(lambda: observation_table(definition.layout(definition.standard).rows()))


def rewards(definition: Definition) -> str:
    """Reward modes."""
    lead = f"own {definition.score} - mean of the others"
    win, margin, points = reward_modes(definition.score)
    parts = "w joint winners of n players get (n - w) / (w (n - 1)) each, the others -1 / (n - 1); all tied: 0"
    names = f"`{points}`" if points == "points" else f"`{points}` or `points`"
    rows = [
        (f"`{win}`", "at the end", parts),
        (f"`{margin}`", "at the end", _scaled(definition, lead)),
        (names, "every move", f"the margin, paid as it changes; sums to `{margin}`"),
    ]
    return markdown(["`reward=`", "paid", "amount"], rows)


def _scaled(definition: Definition, lead: str) -> str:
    """The definition of a margin with its scale; by number of players if the scale depends on it."""
    t, states = definition.build_tables(definition.standard)[0], np.zeros(1, definition.state_dtype)
    scales = {}
    for players in range(definition.min_players, definition.max_players + 1):
        states["num_players"] = players  # `margin_scale` may depend only on this field
        scales[players] = f"{float(dispatch.as_python(verbs.margin_scale, t, states[0])):g}"
    by_players = ", ".join(f"{scale} with {players}" for players, scale in scales.items())
    if len(set(scales.values())) > 1:
        return f"({lead}) / points: {by_players} players"
    scale = scales[definition.min_players]
    return lead if scale == "1" else f"({lead}) / {scale}"


def reconstructed(definition: Definition) -> str:
    """Facts about the box that no public text states."""
    return "\n".join(f"- {fact}" for fact in definition.reconstructed)


def ladder(file: Path) -> str:
    """Strength and speed of agents."""
    return markdown(HEAD, rows_of(read_ladder(file)))


def settings() -> str:
    """Settings of `artus train`; the defaults are written as `--set` takes them."""
    kind = import_module("artus_training.learn.ppo").Settings
    texts = import_module("artus_training.learn.settings").texts_of(kind)
    rows = []
    for each in dataclasses.fields(kind):
        text = str(each.default) if isinstance(each.default, (str, Path)) else json.dumps(each.default)
        rows.append((f"`{each.name}`", f"`{text}`" if text not in ("", "null") else "", texts[each.name]))
    return markdown(["setting", "default", "meaning"], rows)


def fill(text: str, default: Definition) -> str:
    """Regenerate every marked table of a text.

    Args:
        text: Markdown.
        default: The game of tables marked with NAME alone.

    Raises:
        ValueError: If a marked table doesn't exist, or its game isn't installed.
    """

    def table(match: re.Match[str]) -> str:
        game, _, name = match[1].rpartition("/")
        made = tables_of(find_game(game)) if game else tables_of(default) | {settings.__name__: settings}
        if name not in made:
            raise ValueError(f"there is no table {shown(name)}; there are {', '.join(made)}")
        return f"<!-- table: {match[1]} -->\n{made[name]()}\n<!-- end -->"

    return re.sub(r"<!-- table: (\S+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)
