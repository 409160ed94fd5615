"""The documents say what the code does: tables are generated, examples run, links lead somewhere."""

import dataclasses
import re
import subprocess
from pathlib import Path

import pytest

from artus_env import DEFAULT_GAME, registration
from artus_env.engine.contract.registry import find_game, game_modules
from artus_env.engine.play.rewards import MARGIN, POINTS, WIN, mode_index, reward_modes
from artus_training.cli import COMMANDS
from artus_training.games import tables_of
from artus_training.learn.ppo import Settings
from artus_training.learn.settings import read_pairs, settings_from_dict, types_of
from tools.tables import all_tables, fill, settings

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
README = (ROOT / "README.md").read_text()
COMMAND_LINE = (ROOT / "docs" / "commands.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_up_to_date(page):
    text = page.read_text()
    assert fill(text, find_game(DEFAULT_GAME)) == text, "run make docs"


def test_every_table_is_shown_somewhere():
    shown_tables = {name for page in PAGES for name in re.findall(r"<!-- table: (\S+) -->", page.read_text())}
    games = {game for game, module in game_modules().items() if module.startswith("artus_env.")} - {DEFAULT_GAME}
    tables_of_others = {f"{game}/{name}" for game in games for name in all_tables(find_game(game))}
    assert shown_tables == set(all_tables(find_game(DEFAULT_GAME))) | tables_of_others | {"settings"}


def test_defaults_in_the_table_of_settings_can_be_given_on_the_command_line():
    rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in settings().splitlines()[2:]]
    assert [name for name, _, _ in rows] == list(types_of(Settings))
    assert all(meaning for _, _, meaning in rows)
    defaults = read_pairs([f"{name}={default}" for name, default, _ in rows if default], Settings)
    assert settings_from_dict(defaults, "the table", Settings()) == Settings()
    assert {field.default for field in dataclasses.fields(Settings) if field.name not in defaults} == {"", None}


def test_names_are_those_that_are_registered(monkeypatch):
    """The table `Names` in `docs/environment.md` has the registered names of each game, one column for each library."""
    modules = {**game_modules(), "secret-lot": "another.package"}
    monkeypatch.setattr(registration, "game_modules", lambda: modules)
    page = (ROOT / "docs" / "environment.md").read_text().partition("## Names")[2]
    rows = [re.findall(r"`([^`]+)`", line) for line in page.splitlines() if line.startswith("| [")]
    assert [row[0] for row in rows] == ["artus", "royal", "quest", "secret-lot"]
    for game, module, pettingzoo_id, gymnasium_id in rows:
        assert module == f"artus_env.{registration.module_name(game)}"
        assert pettingzoo_id == registration.pettingzoo_name(game)
        assert gymnasium_id == f"artus_env:{registration.gymnasium_name(game)}"
    ids = {row[2] for row in rows} | {"dragons-v0"}
    for other in PAGES:
        if other.name != "CHANGELOG.md":  # of older versions, too
            assert set(re.findall(r"pettingzoo\.make\(\s*\"aec\", \"([^\"]+)\"", other.read_text())) <= ids
            assert other.name == "environment.md" or "artus-royal-v0" not in other.read_text()


def test_no_more_is_promised_of_scaled_observations_than_holds():
    """Features as floats may exceed -1..1: the tables have the bounds of each, and they are those of the spaces."""
    sources = [*PAGES, *(ROOT / "artus_env").rglob("*.py"), *(ROOT / "training").rglob("*.py")]
    assert not [path for path in sources if "about -1" in path.read_text()]
    for game, page in (("artus", "artus.md"), ("royal", "royal.md"), ("quest", "quest.md")):
        definition = find_game(game)
        rows = tables_of(definition)["observation"]().splitlines()[2:]
        bounds = [row.split(" | ")[5] for row in rows if row.startswith("| ")]
        assert all(f"| {bound} |" in (ROOT / "docs" / page).read_text() for bound in bounds)
        low, high = (
            bound * definition.observation_scale(definition.standard)
            for bound in definition.observation_bounds(definition.standard)
        )
        shown_bounds = [tuple(map(float, bound.split(".."))) for bound in bounds]
        assert min(bottom for bottom, _ in shown_bounds) == pytest.approx(low.min(), rel=0.01)
        assert max(top for _, top in shown_bounds) == pytest.approx(high.max(), rel=0.01)


@pytest.mark.parametrize("game", ["artus", "royal", "quest"])
def test_every_name_of_a_reward_mode_is_in_the_table(game):
    definition = find_game(game)
    for name in ("points", *reward_modes(definition.score)):
        assert mode_index(name, definition.score) in (WIN, MARGIN, POINTS)
        assert f"`{name}`" in tables_of(definition)["rewards"]()


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match="there is no table 'crds'"):
        fill("<!-- table: crds -->\n<!-- end -->", find_game(DEFAULT_GAME))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


EXAMPLES = [
    (page.name, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
]
EXAMPLES += [(name, (ROOT / "examples" / name).read_text()) for name in ("ppo_loop.py", "flat_agent.py")]


@pytest.fixture
def pictures_and_records():
    """The folder `docs`, which some examples read, and nothing else of the clone."""
    Path("docs").symlink_to(ROOT / "docs")


@pytest.mark.usefixtures("pictures_and_records")
@pytest.mark.parametrize(("page", "code"), EXAMPLES, ids=[page for page, _ in EXAMPLES])
def test_examples_run(page, code):
    exec(compile(code, page, "exec"), {})


@pytest.mark.usefixtures("pictures_and_records")
def test_what_examples_print_is_shown(capsys):
    shown_outputs = [
        (page.name, *code_and_output)
        for page in PAGES
        for code_and_output in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    assert "index.md" in [page for page, *_ in shown_outputs]
    for page, code, text in shown_outputs:
        exec(compile(code, page, "exec"), {})
        assert capsys.readouterr().out == text, page


COMMANDS_FIRST = ["train", "test", "play"]


def test_the_readme_begins_with_the_commands_that_set_everything_up():
    beginning, _, _ = README.partition("| name | game | players |")
    assert re.findall(r"^make ([a-z]+)", beginning, re.MULTILINE) == COMMANDS_FIRST


def test_make_play_installs_only_what_playing_needs():
    """From a dry run in a clone where nothing is installed."""
    dry = subprocess.run(
        ["make", "--dry-run", "--always-make", "play"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert re.findall(r"-e (\S+)", dry) == ['".[play,ppo]"']
    assert "--group" not in dry


def test_the_home_page_has_a_picture_the_commands_and_a_game():
    page = (ROOT / "docs" / "index.md").read_text()
    before_links, _, _ = page.partition("| you want to")
    assert "](table.svg)" in before_links
    assert re.findall(r"^make ([a-z]+)", before_links, re.MULTILINE) == COMMANDS_FIRST
    assert "```python\n" in before_links


def test_every_command_is_described():
    described = set(re.findall(r"^artus ([a-z0-9-]+)", COMMAND_LINE, re.MULTILINE))
    assert described == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page):
    text = page.read_text()
    code = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    assert set(re.findall(r"^(?:\S*/)?artus ([a-z0-9-]+)", code, re.MULTILINE)) <= set(COMMANDS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z]+)", code, re.MULTILINE)) <= targets
