"""The commands `artus games` and `artus rules`: the installed games, and the tables of a game."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from artus_env import DEFAULT_GAME
from artus_env.engine.basics.wording import did_you_mean
from artus_env.engine.compiling import dispatch
from artus_env.engine.contract import verbs
from artus_env.engine.contract.definition import Definition, DocTable, observation_table
from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.play.rewards import reward_modes
from artus_training.options import read_options
from artus_training.tables import as_text, markdown_row, table
from artus_training.usage import UsageError, shown_in_one_line


@dataclass
class GamesOptions:
    """List the installed games: names, players, rule sets.

    Examples:
        artus games
    """


def games(arguments: list[str]) -> int:
    """The command `artus games`: a line for each installed game."""
    read_options(GamesOptions, "artus games", arguments)
    rows = [("game", "title", "players", "rule sets")]
    for name in game_names():
        game = find_game(name)
        fewest, most = game.min_players, game.max_players
        players = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        rows.append((name, game.title, players, ", ".join(game.rules)))
    print(as_text(table(rows)))
    return 0


@dataclass
class RulesOptions:
    """Print the tables of a game: its box, its actions, its rewards.

    Examples:
        artus rules
        artus rules actions rewards
    """

    tables: Annotated[tuple[str, ...], Positional, arg(metavar="[TABLE ...]")] = ()
    """Titles of the tables; unless given, all."""
    game: str = DEFAULT_GAME
    """The game; `artus games` lists all."""


def rules(arguments: list[str]) -> int:
    """The command `artus rules`: the tables of a game."""
    chosen = read_options(RulesOptions, "artus rules", arguments)
    with shown_in_one_line(ValueError):
        makers = tables_of(find_game(chosen.game))
    unknown = [name for name in chosen.tables if name not in makers]
    if unknown:
        guess = did_you_mean(unknown[0], makers) or ";"
        raise UsageError(f"there is no table {unknown[0]!r}{guess} there are {', '.join(makers)}")
    print("\n\n".join(f"{name}\n\n{aligned(makers[name]())}" for name in chosen.tables or makers))
    return 0


def aligned(markdown: str) -> str:
    """Align the columns of a Markdown table as plain text; lines that belong to no row follow below the table."""
    lines = re.sub(r"`|\*\*", "", markdown).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    cells = [row for row in cells if any(cell.strip("-") for cell in row)]  # skip the line of dashes
    below = [line for line in lines if not line.startswith("|")]
    return as_text(*([table(cells)] if cells else []), *below)


def tables_of(definition: Definition) -> dict[str, Callable[[], str]]:
    """Functions that make a game's tables as Markdown, by table name: first the tables that only this game has, then
    those that every game has."""
    makers: dict[str, Callable[[], str]] = {
        name: partial(_as_markdown, make) for name, make in (definition.doc_tables or {}).items()
    }
    for make in (spec, actions, observation, rewards, *[reconstructed] * bool(definition.reconstructed)):
        makers.setdefault(make.__name__, partial(make, definition))
    return makers


def _as_markdown(make: Callable[[], DocTable]) -> str:
    table = make()
    return "\n\n".join([markdown(table.head, table.rows), *table.below])


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(markdown_row([*map(str, line)]) for line in lines)


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
    ids = range(len(definition.action_table(definition.standard)))
    meanings = [(action_id, definition.action_meaning(action_id, definition.standard)) for action_id in ids]
    return markdown(["id", "action"], meanings)


def observation(definition: Definition) -> str:
    """Blocks of the observation in order."""
    return _as_markdown(lambda: observation_table(definition.layout(definition.standard).rows()))


def rewards(definition: Definition) -> str:
    """Reward modes."""
    lead = f"own {definition.score} - mean of the others"
    win, margin, points = reward_modes(definition.score)
    win_reward = "w joint winners of n players get (n - w) / (w (n - 1)) each, the others -1 / (n - 1); all tied: 0"
    names = f"`{points}`" if points == "points" else f"`{points}` or `points`"
    rows = [
        (f"`{win}`", "at the end", win_reward),
        (f"`{margin}`", "at the end", _scaled(definition, lead)),
        (names, "every move", f"the margin, paid as it changes; sums to `{margin}`"),
    ]
    return markdown(["`reward=`", "paid", "amount"], rows)


def _scaled(definition: Definition, lead: str) -> str:
    """The formula of a margin, divided by its scale; if the scale depends on the number of players, for each number."""
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
