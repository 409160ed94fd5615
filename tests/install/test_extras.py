"""Every extra, installed alone, does what the README says of it, and a command that needs another one names it."""

import ast
import json
import sys
from importlib import import_module

import pytest

from installed import ROOT, packages_with

EXTRAS = ["", "ppo", "train", "tournament", "play", "render"]


@pytest.fixture
def record(tmp_path):
    from artus_env import Game

    game = Game(seed=1)
    for _ in range(3):
        game.play(game.moves()[0])
    path = tmp_path / "games.jsonl"
    path.write_text(game.record() + "\n")
    return str(path)


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_command_that_lacks_an_extra_names_it(extra, record, tmp_path, wheel, environment_with):
    agent = str(ROOT / "artus_env/games/artus/trained/beginner-2.json")
    needed = [
        *((name, "train") for name in ("train", "train-all", "train-sb3", "bench --training")),
        (f"curves {agent}", "train"),
        ("tournament greedy random", "tournament"),
        ("play --no-browser", "play"),
        ("evaluate ppo greedy", "ppo"),
        ("evaluate greedy ppo-search:2", "ppo"),
        ("evaluate greedy random --ray", "cluster"),
        (f"replay {record} --gif {tmp_path / 'x.gif'}", "render"),
    ]
    if extra == "play":
        needed.append(("play --no-browser --against ppo", "ppo"))
    if extra == "tournament":
        needed.append((f"tournament greedy ppo --games 2 --out {tmp_path / 'out'}", "ppo"))
    packages = {other: {package.name for package in packages_with(wheel, other)} for other in [*EXTRAS, "cluster"]}
    has = {other for other in packages if packages[other] <= packages[extra]}
    lacking = [(command, other) for command, other in needed if other not in has]
    for (command, other), (code, _, complaint) in zip(
        lacking, environment_with(extra).artus(*(command.split() for command, _ in lacking)), strict=True
    ):
        assert code == 2, command
        assert f'pip install "artus-env[{other}]"' in complaint, command
        assert complaint.count("\n") == 1, command


def test_an_agent_that_lacks_an_extra_names_it(environment_with):
    code = """
import gymnasium
try:
    gymnasium.make("artus_env:Artus-v0", opponents="ppo")
except ModuleNotFoundError as error:
    print(error, *error.__notes__)
"""
    output = environment_with("").run(code)
    assert output == """No module named 'torch' the agent 'ppo' needs it: pip install "artus-env[ppo]"\n"""


def works(environment, *commands):
    for command, (code, _, complaint) in zip(commands, environment.artus(*commands), strict=True):
        assert code == 0, (command, complaint)


def test_without_any_extra(record, tmp_path, environment_with):
    works(
        environment_with(""),
        ["--help"],
        ["rules"],
        ["show", "--seed", "1"],
        ["evaluate", "greedy", "random", "--games", "2"],
        ["evaluate", "lookahead", "ismcts:2", "--games", "2"],
        ["replay", record, "--check"],
        ["replay", record, "--html", str(tmp_path / "game.html")],
        ["bench", "--help"],
    )
    assert (tmp_path / "game.html").exists()


def test_ppo_plays_trained_agents(environment_with):
    works(
        environment_with("ppo"),
        ["evaluate", "ppo", "greedy", "--games", "2"],
        ["evaluate", "ppo-search:2", "random", "--games", "2"],
    )


def test_train_trains_and_draws_learning_curves(tmp_path, environment_with):
    runs, picture = tmp_path / "runs", tmp_path / "curves.png"
    ppo = "train --num-games 64 --set num_steps=16 --set batch_size=256 --steps 1024"
    sb3 = "train-sb3 --num-games 8 --set num_steps=8 --set batch_size=32 --steps 64 --opponents random=1"
    agents = [f"ppo:{runs / name / 'agent.safetensors'}" for name in ("ppo-beginner-2", "sb3-beginner-2")]
    small = f"--hidden 16 --set final_games=0 --set evaluate_every=0 --threads 1 --runs {runs}"
    works(
        environment_with("train"),
        *(f"{command} {small}".split() for command in (ppo, sb3)),
        ["curves", str(ROOT / "artus_env/games/artus/trained/beginner-2.json"), "--out", str(picture)],
        ["evaluate", *agents, "--games", "2"],
        *([name, "--help"] for name in ("train-all", "bench")),
    )
    assert picture.exists()


def test_tournament_plays_tournaments(tmp_path, environment_with):
    works(
        environment_with("tournament"),
        ["tournament", "greedy", "random", "--games", "4", "--out", str(tmp_path / "one")],
    )
    assert (tmp_path / "one" / "report.html").exists()


def test_play_serves(tmp_path, environment_with):
    """The server starts to listen, and serves nothing here: its own tests do that."""
    code = """
import sys
from artus_training.cli import main
from artus_training.play import command
command.serve = lambda lobby, listener, host, hosts: command.Server(lobby, local=True).config.load()
sys.exit(main(["play", "--no-browser", "--port", "0", "--games", sys.argv[1]]))
"""
    assert "see all of them: http" in environment_with("play").run(code, str(tmp_path))


def test_render_makes_frames_windows_and_films(record, tmp_path, environment_with):
    environment = environment_with("render")
    works(environment, ["replay", record, "--gif", str(tmp_path / "game.gif")])
    assert (tmp_path / "game.gif").exists()
    code = """
from artus_env import artus_v0
for mode in ("rgb_array", "human"):
    env = artus_v0.env(render_mode=mode)
    env.reset(seed=1)
    env.render()
    env.close()
"""
    environment.run(code)


def test_notebooks_imports_what_the_notebooks_import(environment_with):
    cells = [cell for path in (ROOT / "notebooks").glob("*.ipynb") for cell in json.loads(path.read_text())["cells"]]
    trees = [ast.parse("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(nodes) > 10
    environment_with("notebooks").run("\n".join(map(ast.unparse, nodes)))


def test_all_imports_every_module(environment_with):
    code = """
import pkgutil
from importlib import import_module
for package in ("artus_env", "artus_agents", "artus_training"):
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.endswith(("__main__", "artus_env.openspiel")):
            import_module(module.name)
"""
    environment_with("all").run(code)


def test_without_openspiel_its_adapter_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "artus_env.openspiel", raising=False)  # another test may have imported it
    with pytest.raises(ImportError, match="needs OpenSpiel: pip install open-spiel"):
        import_module("artus_env.openspiel")
