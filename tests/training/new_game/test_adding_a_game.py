"""What `artus new-game` writes is a game that plays, and the page "Adding a game" tells the truth about it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from artus_training.new_game.command import check_name, main, write_game
from artus_training.usage import UsageError

PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-game.md").read_text()

PLAY = """
from artus_env import Batch, Game
from artus_env.engine.contract.registry import find_game
from artus_env.engine.play.rewards import reward_modes

definition = find_game("dragons")
for players in range(definition.min_players, definition.max_players + 1):
    game = Game(game="dragons", num_players=players, seed=players)
    while not game.over:
        for viewer in range(players):
            other = game.redeal(viewer, seed=5)
            assert other.to_dict(viewer) == game.to_dict(viewer)
            assert (other.observation(viewer) == game.observation(viewer)).all()
            assert other.render(viewer) == game.render(viewer)
            assert viewer != game.player or other.moves() == game.moves()
        assert Game.from_dict(game.to_dict(), game="dragons") == game
        game.play(game.moves()[game.seed % len(game.moves())])
    assert Game.replay(game.record()) == game
    low, high = definition.observation_bounds(definition.standard)
    for reward in reward_modes(definition.score):
        batch = Batch(64, game="dragons", num_players=players, seed=1, reward=reward)
        ended = 0
        for _ in range(40):
            assert (low <= batch.observation).all() and (batch.observation <= high).all()
            paid, done = batch.step(batch.sample())
            assert abs(paid.sum()) < 1e-3
            ended += done.sum()
        assert ended >= 64
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The package as the command writes it, installed as far as looking for its entry point goes."""
    folder = tmp_path_factory.mktemp("games") / "dragons-game"
    assert main(["dragons", "--folder", str(folder)]) == 0
    about = folder / "dragons_game-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: dragons-game\nVersion: 0.1\n")
    points = re.search(r'entry-points\."(\S+)"\]\n(\w+) = "(\S+)"', (folder / "pyproject.toml").read_text())
    (about / "entry_points.txt").write_text(f"[{points[1]}]\n{points[2]} = {points[3]}\n")
    return folder


@pytest.mark.parametrize("name", ["Dragons", "9lives", "", "a-b", "class", "json", "pytest", "x" * 33])
def test_a_name_that_can_be_no_package_is_refused(name, tmp_path):
    with pytest.raises(UsageError, match=r"game's name is|package .* already"):
        check_name(name)


def test_nothing_is_overwritten(tmp_path):
    with pytest.raises(UsageError, match="is there already"):
        write_game("dragons", tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_page_is_short():
    assert len(PAGE.split()) <= 2000


def python(folder, *arguments, **environment):
    """What Python answers where the package is installed."""
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)


def run(folder, code, jit):
    done = python(folder, "-c", code, **({} if jit else {"NUMBA_DISABLE_JIT": "1"}))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("jit", [False, True], ids=["plain", "compiled"])
def test_the_game_of_the_page_plays(folder, jit):
    run(folder, PLAY, jit)


def test_the_loops_of_the_page_run(folder):
    (loops,) = re.findall(r"^## Play it\n\n```py\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    run(folder, loops, jit=True)


def test_the_checks_find_out_whether_bids_are_kept_secret(folder, tmp_path):
    check = "from artus_env.testing import check_no_leaks; check_no_leaks('dragons')"
    run(folder, check, jit=True)
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    rules = tmp_path / "dragons" / "rules.py"
    told = re.sub(r"@jit\ndef public_action.*?\n\n\n", "", rules.read_text() + "\n\n", flags=re.DOTALL)
    assert "public_action" not in told
    rules.write_text(told)
    assert "tells more than the state does" in python(tmp_path, "-c", check).stderr


def test_the_package_passes_its_own_tests(folder):
    """With `check_game`, untouched."""
    done = python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder / "tests")
    assert done.returncode == 0, done.stdout
