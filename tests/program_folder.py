# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""A folder in which a test runs the program, and the small case in it. Needs Python's standard library alone."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

# All that a test can do, as .ci/full does, instead of a part of it in each run.
ALL_TESTS = os.environ.get("PRISMFIELD_TEST_ALL") == "1"


def part_of(everything, part):
    """How many of something a test takes: `part` of them, in a run of all tests `everything`."""
    return everything if ALL_TESTS else part


CASE = """\
title: Small case
model:
  voxels:
    easting:  [0, 1000, 20]
    northing: [0, 1000, 20]
    upward:   [-500, 0, 10]
    spheres:
      - {center: [500, 500, -250], radius: 200, density: 300}
observations:
  grid:
    easting:  [0, 1000, 12]
    northing: [0, 1000, 11]
    upward: 10
fields: [gz, gzz]
"""
# a block for inversions to find, its lines in a case
BLOCK = """\
model:
  voxels:
    easting:  [0, 600, 12]
    northing: [0, 600, 12]
    upward:   [-300, 0, 6]
    density: 0
    boxes:
      - {easting: [250, 400], northing: [200, 350], upward: [-150, -50], density: 400}
"""


def wait_for(is_reached, process, minutes=5):
    """Waits until is_reached() says so; False where the process ended before. What has not come after minutes never
    comes: then the states of the process and its children are told."""
    end = time.monotonic() + 60 * minutes
    while not is_reached():
        if process.poll() is not None:
            return is_reached()
        if time.monotonic() > end:
            told = "".join(f"; process {pid}: {status_of(pid, 'State')}, pending {status_of(pid, 'ShdPnd')}, "
                           f"blocked {status_of(pid, 'SigBlk')}, ignored {status_of(pid, 'SigIgn')}"
                           for pid in (process.pid, *children(process.pid)))
            raise AssertionError(f"waited {minutes} minutes in vain{told}")
        time.sleep(0.005)
    return True


def status_of(pid, name):
    """A line of /proc/PID/status; "" when the process has gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name + ":")), "")


def has_signal(pid, name, number):
    """Whether a set of signals (ShdPnd: sent and not yet received; SigIgn: ignored) has this one."""
    return bool(int(status_of(pid, name) or "0", 16) >> (number - 1) & 1)


def hold(library, name, moment):
    """Words before a program that let it stop at a moment (from 1) of the files `name`: see cli/full_disk.cpp."""
    return ["env", f"LD_PRELOAD={library}", f"PRISMFIELD_HOLD={name}:{moment}",
            # a preloaded library is none of its business
            "ASAN_OPTIONS=verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")]


def children(pid):
    found = []
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, thread.read_text(encoding="ascii").split())
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def held(process):
    """The process, or the one of its children, that was stopped at its moment; None where all ended before."""
    found = []

    def is_held():
        found.extend(pid for pid in (process.pid, *children(process.pid)) if status_of(pid, "State").startswith("T"))
        return found

    return found[0] if wait_for(is_held, process) else None


def end_held(process, pid, number, target=None):
    """Sends a signal to the process that is held, or to `target`, and lets the one that is held go on with it. What
    mpiexec hands on is sent to its ranks here: not every mpiexec does."""
    target = target or pid
    if target != pid and number not in (signal.SIGKILL, signal.SIGTERM):
        for rank in children(target):
            os.kill(rank, number)
    else:
        os.kill(target, number)
    if number not in (signal.SIGKILL, signal.SIGTERM):
        wait_for(lambda: has_signal(pid, "ShdPnd", number), process)
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


class ProgramFolder(unittest.TestCase):
    """A test in a new folder, which is also the working folder of the program."""

    # set by the command line of the test; the library is that of cli/full_disk.cpp
    program = library = None
    case = CASE

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield test "))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write("case.yaml", self.case)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return path

    def paths(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def files(self):
        return [path for path in self.paths() if (self.folder / path).is_file()]

    def run_program(self, *arguments, launcher=(), **keywords):
        keywords.setdefault("cwd", self.folder)
        keywords.setdefault("timeout", 300)
        keywords.setdefault("stdout", subprocess.PIPE)
        return subprocess.run(
            [*launcher, self.program, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **keywords
        )

    def has_device(self):
        return re.search(r"(?m)^execution spaces +[^;]*(cuda|hip)", self.run_program("info").stdout)

    def skip_compression_on_a_device(self, setting):
        if "compression" in setting and self.has_device():
            self.skipTest("compression is for hosts")

    def done(self, *arguments, **keywords):
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refused(self, *arguments, lines, **keywords):
        """An error: code 2, exactly these lines on standard error, nothing on standard output, no new file or folder."""
        before = self.paths()
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.stderr.splitlines(), lines)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.paths(), before)

    def stopped(self, number, is_ready, *arguments, **keywords):
        """A signal, sent when is_ready() says so, ends the program with code 130; no new file or folder."""
        before = self.paths()
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, **keywords)
        try:
            wait_for(is_ready, process)
            process.send_signal(number)
            process.wait(300)
        finally:
            process.kill()
            said = process.stderr.readline()
            process.stderr.close()
        self.assertEqual((process.returncode, said), (130, "stopped by a signal\n"))
        self.assertEqual(self.paths(), before)

    def begin_held(self, name, moment, *arguments, launcher=()):
        """The program's process, held at this moment of the files `name`, and the process that was started."""
        if not self.library:
            self.skipTest("no library that holds programs")
        process = subprocess.Popen([*launcher, *hold(self.library, name, moment), self.program, *map(str, arguments)],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        pid = held(process)
        if pid is None:
            self.fail(f"ended with {process.returncode} before moment {moment} of {name}: {process.communicate()[1]}")
        return pid, process

    def stopped_at(self, name, moment, *arguments, number=signal.SIGUSR1, **keywords):
        """Exit code and messages of a program that gets a signal at this moment of the files `name`."""
        pid, process = self.begin_held(name, moment, *arguments, **keywords)
        end_held(process, pid, number, process.pid)
        _, errors = process.communicate(timeout=300)
        return process.returncode, errors
