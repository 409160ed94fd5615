"""Starts a program and leaves nothing of it behind. Run as a script: `python -I -S launcher.py PARENT COMMAND...`.

It stays beside the program, which has its stdin, stdout and stderr to itself. When the program ends, when SIGTERM comes, or
when the process PARENT is gone, even by SIGKILL, it kills all that is left: children too, also those that have moved to a
session of their own. The exit code is the program's, 128 + signal if one ended it, 127 if it could not be started. Linux only.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # <linux/prctl.h>
STOP, CHILD_ENDED, MAYBE_ORPHANED = signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1
SIGNALS = (STOP, CHILD_ENDED, MAYBE_ORPHANED)
CANNOT_START = 127


def main(parent: int, command: list[str]) -> int:
    """Run the command to its end. Returns the exit code."""
    libc = ctypes.CDLL(None)
    signal.signal(CHILD_ENDED, signal.SIG_DFL)  # where it is ignored the kernel would throw the exit status away
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they wait for sigwait
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)  # who loses its parent becomes our child
    # Comes when the *thread* that started us ends, too: hence no SIGKILL, but a look at who our parent is.
    libc.prctl(PR_SET_PDEATHSIG, MAYBE_ORPHANED)
    launcher = os.getpid()
    program = os.fork()
    if program == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == launcher:
            become(command)
        os._exit(CANNOT_START)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for pipe in range(3):  # so that they close when the program closes them
        os.dup2(nowhere, pipe)
    status = None
    while status is None and os.getppid() == parent and signal.sigwait(SIGNALS) != STOP:
        status = reap(program)
    kill_children()
    code = 0 if status is None else os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def become(command: list[str]) -> None:
    """Put the program in the place of this process; comes back only if it can't be started."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and it would be inherited
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))


def reap(program: int) -> int | None:
    """Collect the children that have ended. Returns the program's status if it is among them."""
    found = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == program:
                found = ended[1]
    return found


def kill_children() -> None:
    """Kill and collect until there is nobody left: the children of who is killed become ours."""
    with suppress(ChildProcessError):
        while True:
            for child in children():
                with suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def children() -> Iterator[int]:
    """Processes whose parent we are."""
    own = os.getpid()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                # "pid (name) state parent ...", and a name may hold anything
                parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[1]
                if int(parent) == own:
                    yield int(folder.name)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
