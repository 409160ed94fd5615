"""Frames, windows and films: the pictures of positions as pixels."""

import copy
import json
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import gymnasium
import imageio.v3 as iio
import numpy as np
import pygame
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import render_test
from PIL import Image

from artus_env import Game, artus_v0
from artus_env.artus_v0 import ArtusEnv, ArtusVectorEnv
from artus_env.engine.basics.reading import printable
from artus_env.engine.drawing.render import FRAME_THEME, FRAME_WIDTH, Window, image, rgb_array
from artus_env.engine.drawing.svg import BADGES
from artus_env.games.artus.page import shapes
from artus_training.cli import main
from artus_training.replays import film
from engine_play import random_game
from positions import around, position

ENV = "artus_env:Artus-v0"
HEIGHT = round(FRAME_WIDTH * 688 / 1216)
NAMES = ["</script><!--", "ismcts:200"]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Windows show frames without waiting, and none stays open."""
    for metadata in (artus_v0.ArtusAEC.metadata, ArtusEnv.metadata):
        monkeypatch.setitem(metadata, "render_fps", 10_000)
    yield
    pygame.display.quit()


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """A file with a beginner and an advanced game."""
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    games = [random_game("beginner", 2, 1).record(NAMES), random_game("advanced", 3, 2).record()]
    path.write_text("\n".join(games) + "\n")
    return path


def colour(name):
    return tuple(int(name[i : i + 2], 16) for i in (1, 3, 5))


def pixel(frame, x, y):
    """The pixel at a point of the picture (1216 x 688)."""
    return tuple(frame[int(y * FRAME_WIDTH / 1216), int(x * FRAME_WIDTH / 1216)].tolist())


def step(env):
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))


# --- frames --------------------------------------------------------------------------------------------------------


def test_a_frame_shows_the_table():
    table = position(around("Ks", 0, s1=[-4], b1=[3, -12], A=[-5, 8, 7, 6, 5], B=[1, 2, 4, -1, -2]), ["k1-4"])
    frame = rgb_array(Game.from_dict(table).svg(theme="light"))
    assert frame.shape == (HEIGHT, FRAME_WIDTH, 3)
    assert frame.dtype == np.uint8
    assert frame.flags.writeable
    palette = {name: colour(theme_colours[0]) for name, theme_colours in shapes.COLOURS.items()}
    assert pixel(frame, 3, 3) == palette["page"]
    assert pixel(frame, 344 + 292, 344) == palette["gold"]  # crown seat 7
    assert pixel(frame, 344, 344 + 211) == palette["red"]  # the plate in front of seat 14
    assert pixel(frame, 344, 344 - 211) == palette["crown"]
    assert pixel(frame, 344, 344 + 242 - 16) == colour(BADGES[0].colour)  # above A's letter, on -5


def test_letters_are_drawn_the_same_everywhere(tmp_path):
    """The package has its own fonts, thin and bold: a bare container has no others."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" class="artus-light" viewBox="0 0 200 100">{}</svg>'
    style = f"<style>{shapes.style('light')}</style>"
    text = '<text class="ink{}" x="100" y="50" font-size="40">ABC \u221212</text>'
    blank, thin, bold = (rgb_array(svg.format(style + t), 200) for t in ("", text.format(" thin"), text.format("")))
    thin_ink, bold_ink = (int((letters != blank).any(2).sum()) for letters in (thin, bold))
    assert 700 < thin_ink < bold_ink < 5000
    code = (
        "import sys; from artus_env.engine.drawing.render import image; "
        "sys.stdout.buffer.write(image(sys.stdin.read(), 200).tobytes())"
    )
    fonts = {"FONTCONFIG_FILE": "/dev/null", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-c", code], input=svg.format(style + text.format("")).encode(), capture_output=True, env=fonts
    )
    assert process.stdout == bold.tobytes()


@pytest.mark.parametrize("width", [100, 200, 333, 640, 912, 1000, 1216, 1999])
def test_frames_have_the_width_that_was_asked_for(width):
    assert rgb_array(Game(seed=0).svg(theme="light"), width).shape[:2] == (-(-width * 688 // 1216), width)


def test_themes_differ():
    light, dark = (image(Game(seed=0).svg(theme=theme)).convert("L") for theme in ("light", "dark"))
    assert np.asarray(light).mean() > 180
    assert np.asarray(dark).mean() < 90


# --- environments --------------------------------------------------------------------------------------------------


def test_modes_are_declared():
    assert (
        artus_v0.ArtusAEC.metadata["render_modes"]
        == ArtusEnv.metadata["render_modes"]
        == ["human", "rgb_array", "ansi"]
    )
    assert ArtusVectorEnv.metadata["render_modes"] == ["rgb_array", "ansi"]
    for make in (artus_v0.env, artus_v0.raw_env, ArtusEnv, ArtusVectorEnv):
        with pytest.raises(ValueError, match="render_mode must be one of"):
            make(render_mode="rgb")


@pytest.mark.parametrize("make", [artus_v0.env, artus_v0.raw_env])
def test_it_renders_as_pettingzoo_wants(make):
    render_test(make)


@pytest.mark.parametrize("mode", ["human", "rgb_array", "ansi"])
def test_it_renders_as_gymnasium_wants(mode):
    env = gymnasium.make(ENV, render_mode=mode)
    check_env(env.unwrapped)
    env.reset(seed=1)
    assert type(env.render()) is {"human": type(None), "rgb_array": np.ndarray, "ansi": str}[mode]
    env.close()


def test_an_aec_frame_shows_all_hands_and_the_last_move():
    env = artus_v0.env("advanced", 3, render_mode="rgb_array")
    env.reset(seed=3)
    frames = [env.render()]
    for _ in range(20):
        step(env)
        frames.append(env.render())
        assert (frames[-1] == rgb_array(env.game.svg(theme=FRAME_THEME))).all()
        assert (frames[-1] != frames[-2]).any()


def test_a_gymnasium_frame_shows_what_the_seat_sees():
    env = gymnasium.make(ENV, rules="advanced", num_players=3, seat=1, render_mode="rgb_array")
    _, info = env.reset(seed=3)
    games = env.unwrapped.games
    for _ in range(20):
        svg = games.svg(0, theme=FRAME_THEME)
        assert (env.render() == rgb_array(svg)).all()
        root = ET.fromstring(svg)
        shown = {e.get("data-player") for e in root.iter() if "data-card" in e.attrib}
        assert shown == {"1"}
        assert {e.get("data-player") for e in root.iter() if "data-back" in e.attrib} == {"0", "2"}
        _, _, _, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        # The last move was an opponent's or, of two draws in a row, the seat's own.
        assert "Last move: " in games.svg(0)


def test_a_new_game_has_no_last_move():
    env = ArtusEnv(num_players=2, seat=0, opponents="greedy", render_mode="rgb_array")
    for _ in range(3):  # the seat places first, so no move has been played
        _, info = env.reset(options={"start_player": 1, "seat": 0})
        assert "Last move" not in env.games.svg(0)
        env.step(int(np.flatnonzero(info["action_mask"])[0]))
        assert "Last move: B @" in env.games.svg(0)


def test_vector_frames_are_those_of_single_environments():
    envs = gymnasium.make_vec(ENV, 3, render_mode="rgb_array", seat=0)
    single = gymnasium.make(ENV, render_mode="rgb_array", seat=0)
    _, infos = envs.reset(seed=5)
    _, info = single.reset(seed=6)
    for _ in range(4):
        frames = envs.render()
        assert isinstance(frames, tuple)
        assert len(frames) == 3
        assert (frames[1] == single.render()).all()
        actions = infos["action_mask"].argmax(1)
        _, _, _, _, infos = envs.step(actions)
        _, _, _, _, info = single.step(int(info["action_mask"].argmax()))


# --- the window ----------------------------------------------------------------------------------------------------


def on_screen():
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


def test_the_window_shows_every_position_and_closes():
    env = artus_v0.env(render_mode="human")
    assert pygame.display.get_surface() is None
    env.reset(seed=1)
    for _ in range(3):
        assert (on_screen() == rgb_array(env.game.svg(theme=FRAME_THEME))).all()
        assert pygame.display.get_caption()[0] == "artus_v0"
        step(env)
    assert env.render() is None
    env.close()
    env.close()
    assert pygame.display.get_surface() is None
    env.reset(seed=1)  # opens it again
    assert pygame.display.get_surface() is not None
    env.close()


def test_the_gymnasium_window_shows_resets_and_steps():
    env = gymnasium.make(ENV, render_mode="human", seat=0)
    _, info = env.reset(seed=1)
    before = on_screen()
    env.step(int(info["action_mask"].argmax()))
    assert (on_screen() != before).any()
    assert (on_screen() == rgb_array(env.unwrapped.games.svg(0, theme=FRAME_THEME))).all()
    env.close()
    assert pygame.display.get_surface() is None


def test_frames_come_at_a_steady_pace():
    window, frame = Window("pace", 50), np.zeros((20, 30, 3), np.uint8)
    window.show(frame)
    start = pygame.time.get_ticks()
    for _ in range(5):
        window.show(frame)
    assert pygame.time.get_ticks() - start >= 5 * 20 - 10
    window.close()


@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_environments_with_a_window_can_be_copied(make_copy):
    env = artus_v0.env(render_mode="human")
    env.reset(seed=1)
    twin = make_copy(env)
    step(twin)
    twin.close()
    assert env.game != twin.game
    env.close()


# --- without the extra ---------------------------------------------------------------------------------------------


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_importing_loads_no_pictures():
    code = "import sys, artus_env.artus_v0, artus_training.replays.command; "
    code += "assert not {'PIL', 'pygame', 'pillow_lunasvg'} & set(sys.modules)"
    assert run_python(code).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["PIL", "pillow_lunasvg", "pygame"])
def test_without_the_extra_it_says_what_to_install(missing, records, tmp_path):
    page, gif = str(tmp_path / "a.html"), str(tmp_path / "a.gif")
    code = f"""
import sys
sys.modules[{missing!r}] = None
import gymnasium
from gymnasium.error import DependencyNotInstalled
from artus_env import artus_v0, Game
from artus_training.cli import main
assert "<svg" in Game(seed=0).svg()
for make in (artus_v0.env, lambda render_mode: gymnasium.make("artus_env:Artus-v0", render_mode=render_mode)):
    make(render_mode="ansi")
    try:
        make(render_mode="human")
    except DependencyNotInstalled as error:
        assert 'pip install "artus-env[render]"' in str(error), error
        assert {missing!r} in str(error), error
    else:
        sys.exit("no error")
sys.exit(main(["replay", {str(records)!r}, "--html", {page!r}, "--gif", {gif!r}]))
"""
    process = run_python(code)
    if missing == "pygame":  # films need no window
        assert process.returncode == 0, process.stderr
        return
    assert process.returncode == 2, process.stderr
    assert 'pip install "artus-env[render]"' in process.stderr
    assert process.stderr.count("\n") == 1
    assert (tmp_path / "a.html").exists()
    assert not (tmp_path / "a.gif").exists()


# --- films ---------------------------------------------------------------------------------------------------------


def page_data(path):
    """The data that the page's script reads, found as a browser finds them."""

    class Reader(HTMLParser):
        inside, text = False, ""

        def handle_starttag(self, tag, attrs):
            self.inside = tag == "script" and ("id", "data") in attrs

        def handle_endtag(self, tag):
            self.inside = False

        def handle_data(self, data):
            self.text += data if self.inside else ""

    reader = Reader()
    reader.feed(path.read_text())
    return json.loads(reader.text)


def unpacked(data, number):
    starts_and_counts = data["frames"][number]
    line_ranges = (
        data["lines"][first : first + count]
        for first, count in zip(starts_and_counts[::2], starts_and_counts[1::2], strict=True)
    )
    return "\n".join(line for lines in line_ranges for line in lines)


def test_the_page_has_every_position_and_fetches_nothing(records, tmp_path, capsys):
    path = tmp_path / "game.html"
    assert main(["replay", str(records), "--html", str(path)]) == 0
    assert "positions" in capsys.readouterr().out
    line = records.read_text().splitlines()[0]
    moves = json.loads(line)["moves"]
    data, svgs = page_data(path), list(film.pictures(line))
    svgs += film.pictures(line, layout="table")  # for phones
    assert len(data["frames"]) == len(svgs) == 2 * (len(moves) + 1)
    assert all(unpacked(data, number) == svg for number, svg in enumerate(svgs))
    svgs = svgs[: len(moves) + 1]
    assert len(data["moves"]) == len(moves)
    whole = Game.replay(line)
    first, seat = whole.first(), moves[0].removeprefix("@")
    assert data["moves"][0].startswith(f"{NAMES[first.player]} places a knight on seat {seat}, worth ")
    assert data["scores"][-1] == whole.scores
    assert svgs[-1] == Game.replay(line).svg(names=NAMES, note=f"move {len(moves)} of {len(moves)}")
    page = path.read_text()
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?:[\w./]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|href)=|@import|url\(|fetch\(|XMLHttpRequest|<link|<iframe|<img", page)
    assert path.stat().st_size < 500_000
    assert "{{" not in page


def test_data_stays_within_its_script_element():
    data = {"moves": ["</script><!--<script>:1>2"]}
    text = film.embedded(data)
    assert "</" not in text
    assert "<!--" not in text
    assert json.loads(text) == data


@pytest.mark.parametrize(
    "name", ["{{data}}", "<script>alert(1)</script>", "a\u202eb\x1b[31m\n\x00", "x" * 100_000, "\\1"]
)
def test_names_are_nothing_but_text_on_a_page(name, tmp_path):
    """Wherever they stand: in the title, the heading, the pictures."""
    path = tmp_path / "game.html"
    film.write_html(path, random_game("beginner", 2, 1, moves=3).record([name, "greedy"]))
    text, tags = "", []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append(tag)

        def handle_data(self, data):
            nonlocal text
            text += data

    reader = Reader()
    reader.feed(path.read_text())
    assert tags.count("script") == 3
    assert text.count(f"Artus, beginner: {printable(name)}, greedy") == 2
    for number in range(4):
        ET.fromstring(unpacked(page_data(path), number))
    assert path.stat().st_size < 200_000


def test_page_and_film_show_what_a_player_saw(records, tmp_path):
    line = records.read_text().splitlines()[1]
    for svg in film.pictures(line, player=1):
        root = ET.fromstring(svg)
        assert {e.get("data-player") for e in root.iter() if "data-card" in e.attrib} <= {"1"}
    path = tmp_path / "game.html"
    assert main(["replay", str(records), "2", "--html", str(path), "--player", "1"]) == 0
    data = page_data(path)
    assert not any('data-card="' in text and 'data-player="1"' not in text for text in data["lines"])


def test_the_film_has_a_frame_for_every_position(records, tmp_path, monkeypatch):
    path = tmp_path / "game.gif"
    line = records.read_text().splitlines()[0]
    monkeypatch.setattr(film, "GIF_WIDTH", 400)
    monkeypatch.setattr(film, "FPS", 4.0)
    assert main(["replay", str(records), "1", "--gif", str(path)]) == 0
    svgs = list(film.pictures(line, theme="light"))
    with Image.open(path) as gif:
        assert gif.n_frames == len(svgs)
        assert gif.info["loop"] == 0
        for number, svg in enumerate(svgs):
            gif.seek(number)
            assert gif.info["duration"] == (4000 if number == len(svgs) - 1 else 250)
            difference = np.abs(np.asarray(gif.convert("RGB"), np.int16) - rgb_array(svg, 400))
            assert difference.mean() < 2
            assert (difference.max(2) > 60).mean() < 0.002
    assert path.stat().st_size < 1_500_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["3", "--html", "x.html"], "there is no game 3, the file has 2"),
        (["0", "--html", "x.html"], "there is no game 0, the file has 2"),
        (["1", "--at", "999"], "--at must be in -67..66: the game has 66 moves, got 999"),
        (["--html", "."], ".: Is a directory"),
        (["--html", "games.jsonl/x.html"], "games.jsonl/x.html: Not a directory"),
        (["--gif", "games.jsonl/x.gif"], "games.jsonl/x.gif: Not a directory"),
        (["--html", "x.html", "--player", "2"], "player must be in 0..1"),
        (["--gif", "x.film"], "the name of a film must end in .gif, got x.film"),
    ],
)
def test_wrong_usage_is_one_line(arguments, message, records, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.jsonl").write_bytes(records.read_bytes())
    assert main(["replay", "games.jsonl", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_record_video_keeps_a_film(tmp_path):
    """With the extra `video`."""
    env = gymnasium.make("artus_env:Artus-v0", render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "films"), episode_trigger=lambda episode: True)
    _, info = env.reset(seed=1)
    frames, over = 1, False
    while not over:
        _, _, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
        frames += 1
    env.close()
    film = iio.imopen(next(tmp_path.glob("films/*.mp4")), "r", plugin="FFMPEG")
    metadata = film.metadata()
    film.close()
    assert metadata["duration"] == pytest.approx(frames / env.metadata["render_fps"], abs=0.6)
