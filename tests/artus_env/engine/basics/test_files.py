"""Files are written whole or not at all, folders belong to one process, and everything that is read is checked."""

import errno
import os
import signal
import subprocess
import sys
from dataclasses import dataclass

import pytest

from artus_env.engine.basics.reading import convert, decode, printable, shown
from artus_env.engine.basics.writing import UNFINISHED, alone_in, check_writable, write_atomically


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("place", ["a folder", "file/below a file", "x" * 300])
@pytest.mark.parametrize("write", [check_writable, lambda path: write_atomically(path, b"new")], ids=["check", "write"])
def test_a_place_that_cannot_be_written_is_named(write, place, tmp_path):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the name of the file is checked below
        write(tmp_path / place)
    assert caught.value.filename == str(tmp_path / place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a folder", "file"]


def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new" / "file")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert not list((tmp_path / "new").iterdir())


def test_links_and_devices_stay_what_they_are(tmp_path):
    path, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    assert pipe.is_fifo()
    os.close(reader)


def full_disk(*_):
    raise OSError(28, "No space left on device")


def test_unfinished_files_of_killed_processes_are_removed(tmp_path):
    script = """
import os, signal, sys
from pathlib import Path
from artus_env.engine.basics.writing import write_atomically
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(Path(sys.argv[1]), b"half")
"""
    killed_process = subprocess.run([sys.executable, "-c", script, str(tmp_path / "checkpoint.pt")], timeout=60)
    assert killed_process.returncode == -signal.SIGKILL
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.endswith(UNFINISHED)]
    with alone_in(tmp_path, "testing"):
        assert [entry.name for entry in tmp_path.iterdir()] == ["lock"]


def test_a_second_process_is_kept_out_of_a_folder(tmp_path):
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
def test_json_of_other_types_is_refused(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        decode(text, Line)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


def test_parsed_data_are_checked_like_json():
    assert (
        convert({"number": 1, "texts": ["a"]}, Line) == decode('{"number": 1, "texts": ["a"]}', Line) == Line(1, ["a"])
    )
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


def test_printable_letters_of_foreign_names_are_kept():
    assert printable("Zo\u00eb \u6c34 {{x}}") == "Zo\u00eb \u6c34 {{x}}"
    assert printable("a\u202eb\x1b\n\ud800") == "a\ufffdb\ufffd\ufffd\ufffd"
    assert printable("x" * 1000) == "x" * 80 + "..."


def test_where_there_are_no_locks_nothing_is_kept_out_or_removed(tmp_path, monkeypatch):
    """Some network file systems have no locks."""

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("artus_env.engine.basics.writing.fcntl.flock", no_locks)
    unfinished = tmp_path / f".file.1{UNFINISHED}"
    unfinished.touch()
    with alone_in(tmp_path, "testing"), alone_in(tmp_path, "testing, too"):
        assert unfinished.exists()
