"""The code for RLlib and TorchRL in docs/frameworks.md runs, for a moment."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1]
PAGE = (EXAMPLES.parent / "docs" / "frameworks.md").read_text()
SNIPPETS = re.findall(r"^## (\w+)\n(?:(?!^## ).*\n)*?```py\n((?:.*\n)*?)```", PAGE, re.MULTILINE)


def test_both_are_there():
    assert [name for name, _ in SNIPPETS] == ["RLlib", "TorchRL"]


@pytest.mark.parametrize("code", [code for _, code in SNIPPETS], ids=[name for name, _ in SNIPPETS])
def test_it_runs(code):
    assert "minutes=3" in code
    short = code.replace("minutes=3", "updates=1, minutes=9").replace("games=400", "games=2")
    short = short.replace("\nenv = ", "\ntrain.__globals__['GAMES'] = 1  # in an update\nenv = ")
    result = subprocess.run(
        [sys.executable, "-c", short],
        cwd=EXAMPLES,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    assert "against random: beginner, 2 players, 2 games" in result.stdout
