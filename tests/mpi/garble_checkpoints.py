# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Resumes garbled checkpoints: the answer has to be that of the uninterrupted run, bit for bit, or a refusal. Needs
Python's standard library alone.

    garble_checkpoints.py PRISMFIELD LIBRARY [--mpiexec COMMAND] [--number N] [--seed N]

LIBRARY is ../cli/full_disk.cpp, built, which holds runs at their checkpoints.
"""

import argparse
import collections
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import held, hold, part_of, wait_for

CASE = """\
model:
  voxels: {easting: [0, 1000, 30], northing: [0, 1000, 30], upward: [-500, 0, 16], density: {random: [100, 500], seed: 3}}
observations:
  grid: {easting: [0, 1000, 60], northing: [0, 1000, 30], upward: 10}
execution: {chunk: 256, space: HOST}
fields: vector
output:
  file: result.h5
  checkpoint: {every: 0.000001 s, file: run.ckpt.h5}
"""
HEADER = 152
MOST_KIB = 1 << 20
LONGEST = 120


class Trouble(Exception):
    pass


class Runs:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        info = subprocess.run([options.program, "info"], capture_output=True, text=True, check=True).stdout
        host = "serial" if "serial" in info else "openmp"
        (folder / "case.yaml").write_text(CASE.replace("HOST", host), encoding="utf-8")
        self.references = {}

    def command(self, ranks, *arguments, before=()):
        launcher = [] if ranks == 1 else [*self.options.mpiexec, "-n", str(ranks)]
        return ["env", "OMP_NUM_THREADS=1", *launcher, *before, self.options.program, "run", "case.yaml", "--quiet",
                *arguments]

    def run(self, ranks, *arguments):
        """Exit code, standard error and the most memory of a process in KiB."""
        errors = self.folder.parent / "errors.txt"
        with open(errors, "wb") as stream:
            process = subprocess.Popen(self.command(ranks, *arguments), cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=stream, start_new_session=True)
            end = time.monotonic() + LONGEST
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > end:
                    os.killpg(process.pid, signal.SIGKILL)
                    os.wait4(process.pid, 0)
                    process.returncode = -signal.SIGKILL
                    raise Trouble(f"hangs: no end after {LONGEST} s")
                time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, errors.read_text(errors="replace"), usage.ru_maxrss

    def reference(self, ranks):
        """The uninterrupted run on so many ranks."""
        if ranks not in self.references:
            file = self.folder.parent / f"reference{ranks}.h5"
            code, errors, _ = self.run(ranks, "--set", "output.checkpoint=null", "--output", str(file))
            assert code == 0, errors
            self.references[ranks] = file
        return self.references[ranks]

    def is_reference(self, ranks):
        return subprocess.run([self.options.program, "compare", "result.h5", str(self.reference(ranks)), "--quiet",
                               "--tolerance", "0"], cwd=self.folder, capture_output=True).returncode == 0

    def put(self, files):
        for file in self.folder.iterdir():
            if file.name != "case.yaml":
                file.unlink()
        for name, content in files.items():
            (self.folder / name).write_bytes(content)

    def checkpoints(self):
        """What lies there now; each file is whole, as it came by a rename."""
        found = {}
        for file in self.folder.glob("run.ckpt.h5*"):
            try:
                found[file.name] = file.read_bytes()
            except FileNotFoundError:
                pass
        return found

    def moments(self, ranks, *arguments):
        """Checkpoints of all ranks, as they were after some of those of the first rank."""
        seen = []
        for number in range(2, 18, 2):
            self.put({})
            before = hold(self.options.library, "run.ckpt.h5", 2 * number)
            process = subprocess.Popen(self.command(ranks, *arguments, before=before), cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            rank = held(process)
            assert rank is not None and wait_for(lambda: len(self.checkpoints()) == ranks, process), process.returncode
            seen.append(self.checkpoints())
            os.kill(rank, signal.SIGKILL)
            process.wait()
        return seen


def flip(draw, content, within):
    garbled = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 8, 40])):
        garbled[draw.randrange(min(within, len(garbled)))] ^= 1 << draw.randrange(8)
    return bytes(garbled)


def overwrite(draw, content):
    begin = draw.randrange(len(content))
    end = min(len(content), begin + draw.choice([8, 64, 4096]))
    filling = draw.choice([b"\0", b"\xff", b"\x7f"]) * (end - begin)
    return content[:begin] + filling + content[end:]


def exchange(draw, content):
    """Two blocks of one size in each other's place."""
    size = draw.choice([8, 64])
    first, second = sorted(draw.sample(range(len(content) // size), 2))
    blocks = [content[at:at + size] for at in range(0, len(content), size)]
    blocks[first], blocks[second] = blocks[second], blocks[first]
    return b"".join(blocks)


class Garbler:
    def __init__(self, runs, ranks, draw):
        self.draw, self.ranks = draw, ranks
        self.moments = runs.moments(ranks)
        self.other_case = runs.moments(ranks, "--set", "model.voxels.density.random=[100, 501]")[4]
        self.other_ranks = runs.moments(3 if ranks == 1 else 1)[4] if runs.options.mpiexec else self.other_case
        self.result = runs.reference(ranks).read_bytes()

    def bytes_of_one(self, files):
        name = self.draw.choice(sorted(files))
        content = files[name]
        how = self.draw.choice(["flip", "flip in the header", "cut", "extend", "overwrite", "exchange", "no checkpoint"])
        if how == "flip":
            files[name] = flip(self.draw, content, len(content))
        elif how == "flip in the header":
            files[name] = flip(self.draw, content, HEADER)
        elif how == "cut":
            files[name] = content[:self.draw.choice([0, 7, 100, HEADER, len(content) - 1,
                                                     self.draw.randrange(len(content))])]
        elif how == "extend":
            files[name] = content + self.draw.choice([b"\0", content, self.draw.randbytes(100)])
        elif how == "overwrite":
            files[name] = overwrite(self.draw, content)
        elif how == "exchange":
            files[name] = exchange(self.draw, content)
        else:
            files[name] = self.draw.choice([b"", b"years of work\n", self.result, self.draw.randbytes(5000)])
        return how

    def whole_files(self, files):
        name = self.draw.choice(sorted(files))
        ways = ["another time", "another case", "other ranks", "lost"] + (["exchanged"] if self.ranks > 1 else [])
        how = self.draw.choice(ways)
        if how == "another time":
            files[name] = self.draw.choice(self.moments)[name]
        elif how == "another case":
            files[name] = self.other_case[name]
        elif how == "other ranks":
            files.update({n: c for n, c in self.other_ranks.items() if n in files})
        elif how == "lost":
            del files[name]
        else:
            other = self.draw.choice(sorted(set(files) - {name}))
            files[name], files[other] = files[other], files[name]
        return how


def try_one(runs, garbler, draw, counts):
    files = dict(draw.choice(garbler.moments))
    kind = draw.choice([garbler.bytes_of_one, garbler.whole_files])(files)
    runs.put(files)
    code, errors, memory = runs.run(garbler.ranks, "--resume")
    if memory > MOST_KIB:
        raise Trouble(f"{kind}: takes {memory} KiB")
    answer = "refused"
    if code == 2 and "output.checkpoint.file: " in errors:
        if runs.checkpoints() != files:
            raise Trouble(f"{kind}: refused, but the files are no longer what they were")
    elif code == 0:
        answer = "right" if runs.is_reference(garbler.ranks) else "wrong"
    else:
        raise Trouble(f"{kind}: ends with {code}: {errors}")
    if answer == "wrong":
        raise Trouble(f"{kind}: a wrong result with code 0")
    counts[kind, answer] += 1


def main(options):
    draw = random.Random(options.seed)
    base = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_garbled_"))
    (base / "run").mkdir()
    counts, troubles = collections.Counter(), 0
    try:
        runs = Runs(options, base / "run")
        garblers = [Garbler(runs, ranks, draw) for ranks in ([1, 3] if options.mpiexec else [1])]
        for number in range(options.number):
            try:
                try_one(runs, garblers[number % len(garblers)], draw, counts)
            except Trouble as trouble:
                troubles += 1
                print(f"number {number}, {garblers[number % len(garblers)].ranks} ranks: {trouble}", flush=True)
                kept = options.keep and pathlib.Path(options.keep) / str(number)
                if kept:
                    shutil.copytree(runs.folder, kept, dirs_exist_ok=True)
            if number % 100 == 99:
                print(f"{number + 1} tried, {troubles} in trouble", flush=True)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    for (kind, answer), count in sorted(counts.items()):
        print(f"{count:5} {kind}: {answer}")
    print(f"{options.number} checkpoints, {troubles} in trouble")
    return 1 if troubles else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--mpiexec", default="", help="the launcher of ranks with its options, in one argument")
    parser.add_argument("--number", type=int, default=part_of(60, 20))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="", help="a folder for what made trouble")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.library = os.path.abspath(options.library)
    options.mpiexec = shlex.split(options.mpiexec)
    sys.exit(main(options))
