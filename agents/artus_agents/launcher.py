"""Starts a program and ends all its processes with it. Linux only.

Run as a script: `python -I -S launcher.py PARENT MARK COMMAND...`. The launcher waits while the program runs, and
doesn't use stdin, stdout and stderr, which belong to the program. When the program ends, when SIGTERM arrives, or when
the process PARENT is gone (even by SIGKILL), it kills all remaining descendants, including those in a session of their
own. The exit code is the program's; 128 + signal if a signal ended it; 127 if it could not be started.

A program may also signal its launcher. MARK selects the protection against that:

- 0: the program runs in a PID namespace, whose first process is a copy of the launcher. The program can't see or signal
  any process outside, nor end or stop that first one, and the kernel kills all others when the first one ends. Exit
  code 126 if the system doesn't allow it.
- Any other number: the program runs as an ordinary process, with this hard limit of RLIMIT_RTTIME. That limits nothing,
  but everything that the program starts inherits it and can't raise it, so PARENT recognizes the processes to kill if
  the launcher is gone.
"""

import ctypes
import os
import resource
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # <linux/prctl.h>
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000  # <linux/sched.h>
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_SLAVE = 2, 4, 8, 1 << 14, 1 << 19  # <linux/mount.h>
STOP, CHILD_ENDED, MAYBE_ORPHANED = signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1
SIGNALS = (STOP, CHILD_ENDED, MAYBE_ORPHANED)
NO_NAMESPACE, CANNOT_START = 126, 127

libc = ctypes.CDLL(None, use_errno=True)


def main(parent: int, mark: int, command: list[str]) -> int:
    """Run the command to its end. Returns the exit code."""
    signal.signal(CHILD_ENDED, signal.SIG_DFL)  # if it were ignored, the kernel would discard the exit status
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they wait for sigwait
    if not mark:
        try:
            new_namespace()
        except OSError as error:
            os.write(2, f"no PID namespace: {error}\n".encode())
            return NO_NAMESPACE
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphaned descendants become our children
    # Also sent when only the *thread* that started us ends: hence not SIGKILL; we check our parent instead.
    libc.prctl(PR_SET_PDEATHSIG, MAYBE_ORPHANED)
    read_end, write_end = os.pipe()  # the kernel closes the write end when the launcher ends
    launcher = os.getpid()
    child = os.fork()
    if child == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.close(write_end)
        if not mark:
            os._exit(first_process(read_end, command))
        if os.getppid() == launcher:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_RTTIME, (mark, mark))
            execute(command)
        os._exit(CANNOT_START)
    release_pipes()
    status = None
    while status is None and os.getppid() == parent and signal.sigwait(SIGNALS) != STOP:
        status = reap(child)
    kill_children()
    return 0 if status is None else exit_code(status)


def new_namespace() -> None:
    """Make the next child the first process of a PID namespace. Without privileges this needs a user namespace, too.

    Raises:
        OSError: If the system doesn't allow it.
    """
    if libc.unshare(CLONE_NEWPID) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    check(libc.unshare(CLONE_NEWUSER | CLONE_NEWPID))
    Path("/proc/self/setgroups").write_text("deny")  # needed before gid_map can be written
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def first_process(read_end: int, command: list[str]) -> int:
    """Act as the first process of a namespace: run the command, and reap all processes. Returns the exit code.

    Args:
        read_end: End of a pipe that becomes readable when the launcher has ended.
        command: The words of the command line.
    """
    if select.select([read_end], [], [], 0)[0]:  # the launcher ended before PR_SET_PDEATHSIG was set
        return CANNOT_START
    try:
        check(libc.unshare(CLONE_NEWNS))
        check(libc.mount(b"none", b"/", None, MS_REC | MS_SLAVE, None))
        check(
            libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
        )  # the old /proc has PIDs of the outer namespace
    except OSError as error:
        os.write(2, f"no /proc for a PID namespace: {error}\n".encode())
        return NO_NAMESPACE
    program = os.fork()
    if program == 0:
        execute(command)
        os._exit(CANNOT_START)
    release_pipes()
    while True:
        ended, status = os.wait()
        if ended == program:
            return exit_code(status)


def check(result: int) -> None:
    """Raise the error that a C library function has reported."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def execute(command: list[str]) -> None:
    """Replace this process with the program; returns only if it can't be started."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and children inherit that
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))


def release_pipes() -> None:
    """Redirect stdin, stdout and stderr to /dev/null, so that the pipes close when the program closes them."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for pipe in range(3):
        os.dup2(devnull, pipe)


def exit_code(status: int) -> int:
    """Convert a status from `wait` to an exit code as in a shell."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def reap(child: int) -> int | None:
    """Reap the children that have ended. Returns the status of `child` if it is among them."""
    child_status = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                child_status = ended[1]
    return child_status


def kill_children() -> None:
    """Kill and reap until no descendant is left: orphans of killed processes become our children."""
    with suppress(ChildProcessError):
        while True:
            processes = descendants(os.getpid())
            for process in processes:
                with suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            for _ in range(max(1, list(processes.values()).count(os.getpid()))):  # at least each child ends
                os.waitpid(-1, 0)


def descendants(ancestor: int) -> dict[int, int]:
    """All descendants of a process, including zombies, each with its parent; parents come first."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                # "pid (name) state parent ...", and the name may contain anything
                parents[int(folder.name)] = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
    families: dict[int, list[int]] = {}
    for process, parent in parents.items():
        families.setdefault(parent, []).append(process)
    found, unseen = {}, [ancestor]
    while unseen:
        for child in families.pop(unseen.pop(), []):
            found[child] = parents[child]
            unseen.append(child)
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
