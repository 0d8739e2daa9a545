# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Runs a command and writes what it took to standard output: python3 -I -S measure.py PARENT SIGNAL WORDS...

A process of its own, because the system counts to a child's peak of memory what its parent held when it was started: a
Python without libraries holds less than any run. What the command prints goes to standard error. It leads a process
group, which SIGTERM ends with this process, and gets the SIGNAL when this process is gone, however that ended; this one
is killed when its PARENT is gone.
"""

import ctypes
import json
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
GRACE = 10  # seconds from SIGTERM to SIGKILL


def follow(parent, number):
    """Lets the system send a signal to this process when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def most_held():
    """Bytes that this process held at a time, without what its parent did."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        words = next((line.split() for line in status if line.startswith("VmHWM:")), ["VmHWM:", "0"])
    return 1024 * int(words[1])


def send(group, number):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def become(words, parent, number):
    """The command takes the place of this process."""
    try:
        os.setpgid(0, 0)
        for which in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM):
            signal.signal(which, signal.SIG_DFL)
        follow(parent, number)
        os.dup2(2, 1)
        os.execvp(words[0], words)
    except OSError as error:
        os.write(2, (os.strerror(error.errno) + "\n").encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def main():
    parent, number, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    follow(parent, signal.SIGKILL)
    own = os.getpid()
    held = most_held()
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        become(words, own, number)
    try:
        os.setpgid(child, child)
    except OSError:
        pass  # it has begun, or ended

    ended = []

    def end(which, _):
        ended.append(which)
        send(child, signal.SIGTERM if which == signal.SIGTERM else signal.SIGKILL)
        signal.alarm(GRACE)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGALRM, end)
    _, status, usage = os.wait4(child, 0)
    signal.alarm(0)
    if ended:
        send(child, signal.SIGKILL)  # to those of the group that did not end with it
    peak = 1024 * usage.ru_maxrss
    json.dump(
        {
            "code": os.waitstatus_to_exitcode(status),
            "seconds": time.monotonic() - begin,
            "processor_seconds": usage.ru_utime + usage.ru_stime,
            "peak_memory_bytes": peak if peak > held else -1,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
