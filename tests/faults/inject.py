#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Lets single calls of prismfield's runs fail, one run a fault, and looks at how each ends.

    inject.py PROGRAM LIBRARY [--case CASE.yaml] [--set KEY=VALUE] [--scenarios new,kept,resumed]
              [--calls malloc,write,...] [--all N] [--every K] [--part K] [--jobs J]

LIBRARY is faults.cpp, built. Calls 1 to N of a kind fail, one a run, and then every K-th (0: none). --part takes every
K-th of these, unless PRISMFIELD_TEST_ALL is 1. Scenarios: a new
run whose result replaces an older one; one that keeps checkpoints; one that goes on from a checkpoint.

A run has to end by itself, with code 0 and the right fields bit for bit, or with another code, a message, and the older
result as it was; then the checkpoint, if there is one, has to lead to the right fields. No temporary file may be left.
Exit codes: 0 as it should be, 1 not.
"""

import argparse
import bisect
import collections
import concurrent.futures
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import part_of

CASE = """model:
  voxels:
    easting: [0, 300, 12]
    northing: [0, 200, 10]
    upward: [-100, 0, 4]
    boxes:
      - {easting: [100, 300], northing: [0, 200], upward: [-100, 0], density: 300}
observations:
  grid:
    easting: [0, 300, 7]
    northing: [0, 200, 5]
    upward: 20
fields: all
"""
# a checkpoint after every chunk
CHECKPOINTED = [
    "--set=execution.chunk=64",
    "--set=execution.batch=64",
    "--set=output.checkpoint.every=0.000001 s",
    "--set=output.checkpoint.file=c.h5",
]
OLDER = "the result of an earlier run\n"
TIMEOUT = 120
KNOWN = "known"
# the exit code of a run that a signal ended
STOPPED = 130

# What to let happen to calls of a kind: an error that stays, one that passes, half of the bytes. A disk that stays full is
# waited for: tests/cli/test_full_disk.py has that.
WAYS = {
    "malloc": [":12"],
    "write": [":28", "+:5", ":4", ":short"],
    "fsync": [":5", "+:5"],
    "rename": [":18", "+:18"],
    "open": [":24", "+:13"],
    "read": [":5", ":short"],
}

# Crashes that are not ours: a function on the way to the call that failed, and why.
KNOWN_CRASHES = {
    # frees its threads' memory first and once more in finalize()
    "Kokkos::Impl::OpenMPInternal::resize_thread_data": "Kokkos 4.7",
}


class Runs:
    """The program in folders of its own."""

    def __init__(self, program, library, case, overrides, folder):
        self.program, self.library, self.case, self.folder = program, library, case, folder
        self.overrides = [f"--set={override}" for override in overrides]
        self.functions = Functions(program)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PRISMFIELD_"))}
        self.environment |= {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}

    def run(self, folder, options, fault=""):
        """Exit code and standard error of a run in a folder; None for a run that does not end."""
        # where a result goes that its own folder does not take
        elsewhere = folder.with_name(folder.name + "-elsewhere")
        elsewhere.mkdir(exist_ok=True)
        environment = self.environment | {
            "HOME": str(elsewhere),
            "TMPDIR": str(elsewhere),
            "LD_PRELOAD": str(self.library),
            "PRISMFIELD_FAULT": fault,
            "PRISMFIELD_FAULT_LOG": str(folder / "log"),
        }
        command = [self.program, "run", self.case, "--quiet", "--output", "out.h5", *self.overrides, *options]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT
            )
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            shutil.rmtree(elsewhere, ignore_errors=True)
        return done.returncode, done.stderr.decode(errors="replace")

    def same_fields(self, a, b):
        done = subprocess.run(
            [self.program, "compare", a, b, "--tolerance", "0", "--quiet"], env=self.environment, capture_output=True
        )
        return done.returncode == 0

    def new_folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))


def log_of(folder):
    """The counts of calls and the other lines of a log."""
    counts, lines = {}, []
    if (folder / "log").exists():
        for line in (folder / "log").read_text(errors="replace").splitlines():
            words = line.split()
            if words[:1] == ["count"]:
                counts[words[1]] = int(words[2])
            elif words:
                lines.append(words)
    return counts, lines


class Functions:
    """The names of a program's functions, by address."""

    def __init__(self, program):
        table = subprocess.run(["nm", "-C", "--defined-only", program], capture_output=True, text=True).stdout
        symbols = []
        for line in table.splitlines():
            words = line.split(maxsplit=2)
            if len(words) == 3 and words[1] in "tTwW":
                symbols.append((int(words[0], 16), words[2]))
        symbols.sort()
        self.addresses = [address for address, _ in symbols]
        self.names = [name for _, name in symbols]
        self.program = program.name

    def of(self, frame):
        """The function of a frame of the program; elsewhere its library."""
        name, _, offset = frame.rpartition("+")
        if name != self.program:
            return name.split(".so")[0]
        at = bisect.bisect_right(self.addresses, int(offset, 16)) - 1
        return self.names[at] if at >= 0 else self.program

    def at_work(self, words):
        """What was at work: the innermost frames' library or, of the program itself, Kokkos or prismfield."""
        for frame in words[1:]:
            if not frame.startswith(("libfaults", "libprismfield_faults", "libc.", "libstdc++", "libgcc", "ld-linux")):
                function = self.of(frame)
                if frame.rpartition("+")[0] != self.program:
                    return function
                return "Kokkos" if "Kokkos::" in function.split("(")[0] else "prismfield"
        return "libc"


class Scenario:
    def __init__(self, name, runs):
        self.name, self.runs = name, runs
        self.options = [] if name == "new" else list(CHECKPOINTED)
        self.start = runs.new_folder()
        (self.start / "out.h5").write_text(OLDER)
        self.reference = self.result_without_faults()
        if name == "resumed":
            # the second checkpoint, of the first chunk, is complete when the signal comes
            code, error = runs.run(self.start, self.options, "fsync:5:term")
            if code != STOPPED or not (self.start / "c.h5").exists():
                raise SystemExit(f"a run that is ended leaves no checkpoint: {code}, {error}")
            self.options.append("--resume")
        folder = self.copy()
        code, error = runs.run(folder, self.options)
        if code != 0:
            raise SystemExit(f"{name}: a run without faults ends with {code}: {error}")
        self.counts, _ = log_of(folder)
        shutil.rmtree(folder)

    def copy(self):
        folder = self.runs.new_folder()
        shutil.copytree(self.start, folder, dirs_exist_ok=True)
        return folder

    def result_without_faults(self):
        folder = self.copy()
        code, error = self.runs.run(folder, self.options)
        if code != 0:
            raise SystemExit(f"{self.name}: a run without faults ends with {code}: {error}")
        return folder / "out.h5"

    def mistake(self, folder, fault, code, error, lines):
        """What is wrong with how a run ended, or ""."""
        crash = next((words for words in lines if words[0] == "crash"), None)
        if code is None:
            return "does not end"
        if code < 0:
            functions = self.runs.functions
            failed = next((words for words in lines if words[0] != "crash"), [])
            way = [functions.of(frame) for frame in failed[1:]]
            if any(function.startswith(known) for function in way for known in KNOWN_CRASHES):
                return KNOWN
            where = functions.at_work(crash) if crash else "?"
            return f"crashes in {where} after a failure in {way[1:5]}: signal {-code} {' '.join(error.split())[:200]}"
        # the system unlocks what a crash leaves locked: the file itself does no harm, as going on shows
        left = sorted({p.name for p in folder.iterdir()} - {"log", "out.h5", "c.h5", ".c.h5.lock"})
        if left:
            return f"leaves {left}, code {code}: {error}"
        if code == 0:
            if not self.runs.same_fields(folder / "out.h5", self.reference):
                return f"ends with code 0 and a wrong result: {error}"
            return ""
        if code not in (1, 2, STOPPED):
            return f"ends with code {code}: {error}"
        if not error.strip() and not fault.startswith("write"):
            return f"ends with code {code} and no message"
        if (folder / "out.h5").read_bytes() != OLDER.encode():
            # only what comes after the result may fail then
            if not self.runs.same_fields(folder / "out.h5", self.reference):
                return f"ends with code {code} and a spoilt result: {error}"
        if self.name != "new":
            return self.mistake_of_going_on(folder, code, error)
        return ""

    def mistake_of_going_on(self, folder, code, error):
        if self.name == "resumed" and not (folder / "c.h5").exists():
            if not self.runs.same_fields(folder / "out.h5", self.reference):
                return f"ends with code {code} and loses the checkpoint: {error}"
        options = [*self.options] if "--resume" in self.options else [*self.options, "--resume"]
        again, message = self.runs.run(folder, options)
        if again != 0:
            return f"ends with code {code} and leaves what no run goes on from ({again}): {message}"
        if not self.runs.same_fields(folder / "out.h5", self.reference):
            return f"ends with code {code} and leaves a checkpoint that leads to a wrong result"
        return ""

    def check(self, fault):
        folder = self.copy()
        code, error = self.runs.run(folder, self.options, fault)
        _, lines = log_of(folder)
        found = self.mistake(folder, fault, code, error, lines)
        shutil.rmtree(folder, ignore_errors=True)
        return fault, code, self.runs.functions.at_work(lines[0]) if lines else "not reached", found


def numbers(count, first, every):
    chosen = list(range(1, min(count, first) + 1))
    if every > 0:
        chosen += range(first + every, count + 1, every)
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--case", type=pathlib.Path)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--scenarios", default="new,kept,resumed")
    parser.add_argument("--calls", default=",".join(WAYS))
    parser.add_argument("--all", type=int, default=1 << 60)
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    # where a core is asked for, the signal of a crash ends the process and there is no code
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

    mistakes = 0
    with tempfile.TemporaryDirectory(prefix="prismfield_faults_") as scratch:
        folder = pathlib.Path(scratch)
        case = options.case.resolve() if options.case else folder / "case.yaml"
        if not options.case:
            case.write_text(CASE)
        runs = Runs(options.program.resolve(), options.library.resolve(), case, options.set, folder)
        for name in options.scenarios.split(","):
            scenario = Scenario(name, runs)
            for call in options.calls.split(","):
                # calls that stay away without the fault may be made after it: a few more
                count = scenario.counts[call] + (0 if call == "malloc" else 4)
                faults = [f"{call}:{n}{way}" for way in WAYS[call] for n in numbers(count, options.all, options.every)]
                faults = faults[::part_of(1, options.part)]
                codes, callers, known = collections.Counter(), collections.Counter(), 0
                with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                    for fault, code, by, found in pool.map(scenario.check, faults):
                        codes[code] += 1
                        callers[by] += 1
                        if found == KNOWN:
                            known += 1
                        elif found:
                            mistakes += 1
                            print(f"MISTAKE {name} {fault} (in {by}): {found}", flush=True)
                told = ", ".join(f"{n} with code {code}" for code, n in sorted(codes.items(), key=str))
                by = ", ".join(f"{n} {who}" for who, n in callers.most_common())
                print(f"{name} {call}: {scenario.counts[call]} calls, {len(faults)} faults: {told}; in {by}", flush=True)
                if known:
                    print(f"{name} {call}: {known} known crashes of other libraries, see KNOWN_CRASHES", flush=True)
    print(f"{mistakes} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
