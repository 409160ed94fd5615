"""Files are there whole or not at all, folders belong to one process, and nothing that was read is believed."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass

import pytest

from artus_env.engine.files import UNFINISHED, alone_in, write_atomically
from artus_env.engine.reading import convert, decode, shown


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def full_disk(*_):
    raise OSError(28, "No space left on device")


def test_what_a_killed_writer_left_is_removed_by_the_next_who_is_alone_in_the_folder(tmp_path):
    script = """
import os, signal, sys
from pathlib import Path
from artus_env.engine.files import write_atomically
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(Path(sys.argv[1]), b"half")
"""
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "checkpoint.pt")], timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.endswith(UNFINISHED)]
    with alone_in(tmp_path, "testing"):
        assert [entry.name for entry in tmp_path.iterdir()] == ["lock"]


def test_a_folder_has_room_for_one_and_names_itself(tmp_path):
    with alone_in(tmp_path / "new", "testing"), pytest.raises(ValueError, match="new: another process is testing"):
        alone_in(tmp_path / "new", "testing").__enter__()
    with alone_in(tmp_path / "new", "testing"):  # free again
        pass


@dataclass
class Line:
    number: int
    texts: list[str]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"number": true, "texts": []}', r"Expected `int`, got `bool` - at `\$.number`"),
        ('{"number": 1.0, "texts": []}', r"Expected `int`, got `float` - at `\$.number`"),
        ('{"number": 1, "texts": [1]}', r"Expected `str`, got `int` - at `\$.texts\[0\]`"),
        ('{"number": 1}', "missing required field `texts`"),
        ("[" * 3000, "Expected `object`, got `array`"),
        ('{"x": ' + "[" * 3000 + "]" * 3000 + "}", "nested too deep"),
        ('{"number": 1' + "0" * 5000 + ', "texts": []}', "out of range"),
        ('{"number": 1e999, "texts": []}', "out of range"),
        ('{"number": 1, "texts": []} x', "trailing"),
        (b"\xff", "malformed|Invalid|utf-8"),
        ("", "truncated"),
    ],
)
def test_what_is_read_has_the_types_that_were_asked_for(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        decode(text, Line)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


def test_what_is_no_text_any_more_is_held_to_the_same():
    assert convert({"number": 1, "texts": ["a"]}, Line) == decode('{"number": 1, "texts": ["a"]}', Line) == Line(1, ["a"])
    with pytest.raises(ValueError, match=r"Expected `int`, got `bool`"):
        convert({"number": True, "texts": []}, Line)


@pytest.mark.parametrize(
    "value",
    ["x" * 100_000, b"\xff" * 1000, [1] * 100_000, 10**5000, "a\nb", {"k": "\x1b[31m"}],
    ids=["long text", "bytes", "long list", "large number", "two lines", "colours"],
)
def test_foreign_values_are_shown_short_and_on_one_line(value):
    text = shown(value)
    assert len(text) < 100
    assert text.isprintable()
