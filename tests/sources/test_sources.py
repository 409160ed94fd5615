"""The engine, the agents and the training know no game: their sources import none, and name none nor what is in one."""

import ast
import re
from pathlib import Path

from artus_env.engine.contract.registry import find_game, game_names

ROOT = Path(__file__).parents[2]
SHELL = ("artus_env/engine", "agents/artus_agents", "training/artus_training")
SOURCES = sorted(path for folder in SHELL for path in (ROOT / folder).rglob("*.py"))
PAGES = sorted(path for path in (ROOT / "training").rglob("*") if path.suffix in (".js", ".html", ".css"))
PACKAGES = re.compile(r"artus_(env|agents|training|v0)|artus-env|\bartus\.(games|agents)\b|\bartus [a-z-]+|\bartus\b")
"""Names of packages, environments, entry points and the command; not of the game that they were first written for."""
WORDS = (
    "knights?", "princes?", "kings?", "crowns?", "thrones?", "royals?", "carpet", "rings?", "wheel", "prestige",
    "beginner", "advanced", "wreath",
)  # fmt: skip
"""What is at the table of Artus."""


def vocabulary():
    """Names of installed games' rule sets, scores and titles, and what their boxes hold, other than everyday words."""
    words = set(WORDS)
    for name in game_names():
        definition = find_game(name)
        words |= {*definition.rules, definition.score} - {"standard", "fields", "points"}  # words of everybody
        words |= {name} - {"artus"}
        words |= {card.name for card in getattr(definition.standard, "cards", ()) if hasattr(card, "name")} - {
            "all", "choice", "colors", "reversed", "reds",
        }  # fmt: skip
    return re.compile(rf"(?<![\w-])({'|'.join(sorted(words))})(?![\w-])", re.IGNORECASE)


def lines_without_packages(path):
    """Numbers and lines of a source, without names of packages."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        yield number, PACKAGES.sub(" ", line)


def test_no_source_of_the_shell_names_what_is_in_a_game():
    words = vocabulary()
    found = [
        f"{path.relative_to(ROOT)}:{number}: {hit[0]}"
        for path in (*SOURCES, *PAGES)
        for number, line in lines_without_packages(path)
        for hit in words.finditer(line)
    ]
    assert not found


def test_no_source_of_the_shell_imports_a_game():
    """Also within functions, and by name; games are found through their entry points."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.Import)
                else [f"{node.module}.{alias.name}" for alias in node.names] if isinstance(node, ast.ImportFrom)
                else [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str)
                else []
            )  # fmt: skip
            assert not [name for name in names if "artus_env.games" in name], f"{path}: line {node.lineno}"


def test_the_words_are_found_where_they_are():
    """The tests above can fail: the words are found in the sources of a game."""
    words = vocabulary()
    rules = ROOT / "artus_env/games/artus/rules.py"
    assert any(words.search(line) for _, line in lines_without_packages(rules))
    assert len(SOURCES) > 60
