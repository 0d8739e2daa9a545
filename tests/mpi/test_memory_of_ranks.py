# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""An ensemble of 1e9 cells, 1e8 of them with density, on four ranks: no rank takes more memory than --dry-run tells.
Python's standard library alone.

Usage: test_memory_of_ranks.py PRISMFIELD --library FULL_DISK --mpiexec COMMAND
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import end_held, held, hold

options = None
RANKS = 4

CASE = """\
model:
  voxels:
    easting:  [0, 10000, 1000]
    northing: [0, 10000, 1000]
    upward:   [-10000, 0, 1000]
    boxes:
      - {easting: [1000, 6000], northing: [2000, 7000], upward: [-5000, -1000], density: 300}
observations:
  stations: {random: 10, seed: 2}
fields: [gz]
execution: {space: serial}
output: {file: cells.h5}
"""

# Arrays over all points are larger than those that a rank may keep once they are freed, 4 MiB.
LONG_CASE = """\
model:
  voxels:
    easting:  [0, 10000, 24]
    northing: [0, 10000, 24]
    upward:   [-10000, 0, 24]
    density: {random: [100, 500], seed: 3}
observations:
  stations: {random: 80000, seed: 2}
fields: all
execution: {space: serial, partition: prisms, chunk: 256}
output:
  file: cells.h5
  checkpoint: {every: 200 ms, file: run.ckpt.h5}
"""

# program_bytes_of_rank of src/compute/plan.cpp
PROGRAM_MIB = 44


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_memory_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "case.yaml").write_text(CASE, encoding="utf-8")
        (self.folder / "small.yaml").write_text(CASE.replace(", 1000]\n", ", 10]\n"), encoding="utf-8")

    def launch(self, *command):
        done = subprocess.run(
            [*shlex.split(options.mpiexec), "-n", str(RANKS), *command], cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def peaks(self, *arguments):
        """Bytes of its own memory, pages of programs and libraries left out, that each rank of the program took at its
        peak, in ascending order."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.launch(sys.executable, os.path.abspath(__file__), options.program, "--measure", str(folder), *arguments)
        values = sorted(int(path.read_text()) for path in folder.iterdir())
        self.assertEqual(len(values), RANKS)
        return values

    def planned(self, *arguments):
        """Bytes that --dry-run tells for more than the program itself, rank by rank, and the prisms and points of each."""
        table = self.launch(options.program, "run", "case.yaml", "--dry-run", *arguments)
        rows = re.findall(r"(?m)^  \d +([\d,]+) +([\d,]+) +([\d.]+) MiB$", table)
        self.assertEqual(len(rows), RANKS, table)
        return [(float(row[2]) - PROGRAM_MIB) * 2**20 for row in rows], [row[:2] for row in rows]

    def assert_planned(self, idle, measured, planned):
        """Each rank took no more than its plan, whichever is which."""
        taken = [max(peak - idle, 0) for peak in measured]
        for name, values in (("planned", planned), ("measured", taken)):
            print(f"{name} " + ", ".join(f"{value / 2**20:.1f}" for value in values) + " MiB", flush=True)
        # what MPI buffers depends on which rank comes late: some 0.3 MiB were seen
        buffers = 2**20
        for rank, (peak, plan) in enumerate(zip(taken, sorted(planned))):
            self.assertLessEqual(peak, plan + buffers, f"place {rank} from the least")

    def idle(self):
        """Bytes of the same program, libraries and code with next to no data."""
        # of the ranks but the one that takes most: rank 0 opens HDF5 for the result, when its arrays are gone
        return self.peaks("run", "small.yaml", "--quiet")[-2]

    def test_no_rank_passes_the_plan(self):
        planned, shares = self.planned()
        self.assertEqual(shares, [("25,000,000", "10")] * RANKS)
        # 1e8 prisms as a list would be 1.3 GiB a rank
        self.assertLess(max(planned), 64 * 2**20)
        self.assert_planned(self.idle(), self.peaks("run", "case.yaml", "--quiet"), planned)

    def test_only_the_first_rank_holds_all_points_fields(self):
        few = (self.folder / "small.yaml").read_text(encoding="utf-8")
        case = few.replace("random: 10,", "random: 400000,").replace("space:", "partition: points, space:")
        (self.folder / "case.yaml").write_text(case.replace("[gz]", "all"), encoding="utf-8")
        planned, shares = self.planned()
        self.assertEqual(shares, [("100", "100,000")] * RANKS)
        measured = self.peaks("run", "case.yaml", "--quiet")
        self.assert_planned(self.idle(), measured, planned)
        # ten fields of 400,000 points
        self.assertGreater(measured[3] - measured[2], 0.7 * 10 * 400_000 * 8)

    def test_going_on_stays_within_the_plan(self):
        (self.folder / "case.yaml").write_text(LONG_CASE, encoding="utf-8")
        planned, _ = self.planned()
        process = subprocess.Popen(
            [*shlex.split(options.mpiexec), "-n", str(RANKS), *hold(options.library, "run.ckpt.h5.rank2", 2),
             options.program, "run", "case.yaml", "--quiet", "--set", "output.checkpoint.every=0.001 ms"], cwd=self.folder,
            stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        self.addCleanup(process.kill)
        rank = held(process)
        self.assertIsNotNone(rank, "it ended before its first checkpoint")
        end_held(process, rank, signal.SIGUSR1, process.pid)
        process.wait(timeout=300)
        self.assertTrue((self.folder / "run.ckpt.h5").exists(), "it was stopped before its end")
        # with checkpoints, here often enough to be seen
        small = LONG_CASE.replace(", 24]\n", ", 20]\n").replace("random: 80000", "random: 10").replace("200 ms", "0.001 ms")
        (self.folder / "small.yaml").write_text(small.replace("run.ckpt", "small.ckpt"), encoding="utf-8")
        idle = self.idle()
        self.assert_planned(idle, self.peaks("run", "case.yaml", "--quiet", "--resume"), planned)


def own_memory(pid):
    """Bytes of a process that no file backs; 0 when it has gone."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
            return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return 0


def measure(folder, command):
    """Runs one rank's program and writes down its peak."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, own_memory(process.pid))
        time.sleep(0.005)
    (pathlib.Path(folder) / str(os.getpid())).write_text(str(peak))
    return process.returncode


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--mpiexec")
    parser.add_argument("--write-prisms")
    parser.add_argument("--library", type=os.path.abspath)
    parser.add_argument("--measure", nargs=argparse.REMAINDER)
    options, rest = parser.parse_known_args()
    options.program = os.path.abspath(options.program)
    if options.measure:
        sys.exit(measure(options.measure[0], [options.program, *options.measure[1:]]))
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
