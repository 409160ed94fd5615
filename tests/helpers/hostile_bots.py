"""Bots that break the rules of docs/protocol.md in many ways: `hostile_bots.py KIND [FILE] [TAG]`.

They use only the standard library, so that they start fast.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

KIND = sys.argv[1]
FOREVER = 600  # seconds; the tests kill all processes long before
HELLO = {"type": "hello", "protocol": 1}


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def write(text):
    os.write(1, text if isinstance(text, bytes) else (text + "\n").encode())


def say(answer):
    write(json.dumps(answer))


def greet():
    read()
    say(HELLO)


def play(request=None):
    """Play correctly from now on; `request` is one that has been read but not answered."""
    while True:
        say({"type": "move", "move": (request or read())["moves"][0]})
        request = None


def leave_child(*, own_session=False):
    """Start a child that keeps all pipes open."""
    if os.fork() == 0:
        if own_session:
            os.setsid()
        time.sleep(FOREVER)


def leave_children():
    for own_session in (False, True):
        leave_child(own_session=own_session)


def flood(pipe, data):
    while True:
        os.write(pipe, data)


def file_is_new():
    """Whether FILE doesn't exist yet; then create it."""
    try:
        Path(sys.argv[2]).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def silent():
    time.sleep(FOREVER)


def late():
    greet()
    request = read()
    time.sleep(1.5)
    play(request)


def hangs():
    greet()
    read()
    time.sleep(FOREVER)


def slow():
    """Answers each request after a number of seconds, given in place of FILE."""
    greet()
    while True:
        request = read()
        time.sleep(float(sys.argv[2]))
        say({"type": "move", "move": request["moves"][0]})


def crashes_at_the_end():
    """Plays Artus well until it has only one card left."""
    greet()
    while True:
        request = read()
        position = request["position"]
        if len(position["hands"][position["turn"]]) == 1:
            raise ZeroDivisionError("no cards to divide by")
        say({"type": "move", "move": request["moves"][0]})


def crashes_at_start():
    sys.exit("no time\x1b[31m\tto play")


def crashes():
    greet()
    read()
    raise LookupError("forgot the rules")


def crashes_once():
    """Crashes at the fifth request, but only in the first process."""
    greet()
    is_first_process = file_is_new()
    for _ in range(4):
        say({"type": "move", "move": read()["moves"][0]})
    if is_first_process:
        read()
        raise LookupError("forgot the rules")
    play()


def kills_itself():
    greet()
    read()
    os.kill(os.getpid(), signal.SIGSEGV)


def no_newline():
    greet()
    read()
    flood(1, b"x" * 65536)


def endless_lines():
    greet()
    read()
    flood(1, b'{"type": "move", "move": "@3"}\n' * 1000)


def endless_blank_lines():
    greet()
    read()
    flood(1, b"\n" * 1000)


def two_answers():
    greet()
    request = read()
    line = json.dumps({"type": "move", "move": request["moves"][0]}) + "\n"
    write((line * 2).encode())
    time.sleep(FOREVER)


def talks_unasked():
    """Gives one good answer, and soon after it another one without a request; then creates FILE."""
    greet()
    say({"type": "move", "move": read()["moves"][0]})
    time.sleep(0.2)
    say({"type": "move", "move": "@3"})
    Path(sys.argv[2]).touch()
    time.sleep(FOREVER)


def says():
    """Answers a request with the content of FILE."""
    greet()
    read()
    write(Path(sys.argv[2]).read_bytes() + b"\n")
    time.sleep(FOREVER)


def greets_with():
    """Answers hello with the content of FILE."""
    read()
    write(Path(sys.argv[2]).read_bytes() + b"\n")
    time.sleep(FOREVER)


def closes_stdout():
    greet()
    read()
    os.close(1)
    time.sleep(FOREVER)


def closes_stdin():
    greet()
    request = read()
    os.close(0)
    say({"type": "move", "move": request["moves"][0]})
    time.sleep(FOREVER)


def ignores_sigterm():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    hangs()


def stops_itself():
    greet()
    read()
    os.kill(os.getpid(), signal.SIGSTOP)


def dies_with_child():
    """Ends while children hold its pipes open, one of them in a session of its own."""
    greet()
    read()
    leave_children()
    sys.exit(3)


def kills_launcher():
    """Kills its launcher, the process that would end it and its children."""
    greet()
    read()
    leave_children()
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(FOREVER)


def stops_launcher():
    """Stops its launcher, and ends; its children would outlive it."""
    greet()
    read()
    leave_children()
    os.kill(os.getppid(), signal.SIGSTOP)
    sys.exit(3)


def hides_from_launcher():
    """Kills its launcher and plays on, after making sure that it isn't killed itself and that its children can't be
    recognized."""
    ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG
    greet()
    request = read()
    _, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
    limit = 10**9 if hard == resource.RLIM_INFINITY else hard - 12345
    resource.setrlimit(resource.RLIMIT_RTTIME, (limit, limit))
    os.environ.clear()
    leave_children()
    os.kill(os.getppid(), signal.SIGKILL)
    play(request)


def lists_processes():
    """Writes its process id, its parent's and those of all processes that it sees into FILE."""
    greet()
    request = read()
    visible = sorted(int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit())
    Path(sys.argv[2]).write_text(json.dumps({"own": os.getpid(), "parent": os.getppid(), "seen": visible}))
    play(request)


def floods_stderr():
    greet()
    read()
    flood(2, b"complaint\n" * 1000)


def deaf():
    """Never reads again after hello."""
    greet()
    time.sleep(FOREVER)


def loud():
    """Plays well and writes far more to stderr than a pipe holds, before each answer."""
    greet()
    while True:
        request = read()
        for _ in range(30):
            os.write(2, b"thinking\n" * 1000)
        say({"type": "move", "move": request["moves"][0]})


def good():
    greet()
    play()


def good_parent():
    """Plays well, has children, and doesn't end by itself."""
    leave_children()
    greet()
    try:
        play()
    finally:
        time.sleep(FOREVER)


def good_logging():
    """Plays well and writes the requests into FILE; the last line is "goodbye" if it could end by itself."""
    with Path(sys.argv[2]).open("a") as log:
        read()
        say(HELLO)
        for line in sys.stdin:
            log.write(line)
            log.flush()
            say({"type": "move", "move": json.loads(line)["moves"][0]})
        log.write("goodbye\n")


def from_script():
    """Answers with the lines of FILE, whatever the requests; writes those into FILE.heard."""
    answers = Path(sys.argv[2]).read_bytes().splitlines()
    with Path(sys.argv[2] + ".heard").open("w") as log:
        for answer in answers:
            log.write(sys.stdin.readline())
            log.flush()
            write(answer + b"\n")
        log.write(sys.stdin.readline())


def in_a_shell():
    """Plays well in a child process, like a bot that a shell starts."""
    raise SystemExit(subprocess.call([sys.executable, "-I", "-S", __file__, "good", *sys.argv[2:]]))


if __name__ == "__main__":
    globals()[KIND]()
