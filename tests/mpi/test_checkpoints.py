# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Kills runs at random moments of their checkpoints, goes on with --resume, and compares with the uninterrupted run.
Needs Python's standard library alone.

    test_checkpoints.py PRISMFIELD LIBRARY [--mpiexec COMMAND] [--kills N] [--seed N] [--rows N]

LIBRARY is ../cli/full_disk.cpp, built: it holds the run at a moment, so that a signal finds it there on any machine.

The result must be the same bit for bit. Another number of ranks is refused.
"""

import argparse
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import end_held, held, hold, part_of

options = None

CASE = """\
model:
  voxels: {easting: [0, 1000, 50], northing: [0, 1000, 40], upward: [-500, 0, 20], density: {random: [100, 500], seed: 3}}
observations:
  grid: {easting: [0, 1000, 120], northing: [0, 1000, ROWS], upward: 10}
# chunks as those of a host
execution: {chunk: 512, space: HOST}
output:
  file: result.h5
  checkpoint: {every: 0.000001 s, file: run.ckpt.h5}
"""
STOPPED = 130
# a run has more, and may well end before the one that is drawn
MOMENTS = 150


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_checkpoints_"))
        info = subprocess.run([options.program, "info"], capture_output=True, text=True, check=True).stdout
        host = "serial" if "serial" in info else "openmp"
        (cls.folder / "case.yaml").write_text(CASE.replace("HOST", host).replace("ROWS", str(options.rows)), encoding="utf-8")
        cls.references = {}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        for file in self.folder.iterdir():
            if file.name not in {"case.yaml", *(f.name for f in self.references.values())}:
                file.unlink()

    def command(self, ranks, *arguments, before=()):
        launcher = [] if ranks == 1 else [*options.mpiexec, "-n", str(ranks)]
        return ["env", "OMP_NUM_THREADS=1", *launcher, *before, options.program, "run", "case.yaml", "--quiet", *arguments]

    def finish(self, ranks, *arguments):
        return subprocess.run(self.command(ranks, *arguments), cwd=self.folder, capture_output=True, text=True,
                              timeout=300)

    def reference(self, ranks):
        """The uninterrupted run on so many ranks."""
        if ranks not in self.references:
            file = self.folder / f"reference{ranks}.h5"
            done = self.finish(ranks, "--output", file.name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.references[ranks] = file
        return self.references[ranks]

    def assert_result_is_the_reference(self, ranks, file="result.h5"):
        done = subprocess.run([options.program, "compare", file, self.reference(ranks), "--quiet",
                               "--tolerance", "0"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        left = sorted(f.name for f in self.folder.iterdir() if "ckpt" in f.name)
        self.assertEqual(left, [], "the checkpoint is removed when the result is complete")

    def begin_held(self, ranks, rank, moment, *arguments):
        """A run that one of its ranks holds at this moment of its checkpoint, and that rank; None when it ended before."""
        name = "run.ckpt.h5" if rank == 0 else f"run.ckpt.h5.rank{rank}"
        process = subprocess.Popen(self.command(ranks, *arguments, before=hold(options.library, name, moment)),
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process, held(process)

    def interrupt(self, ranks, draw, *arguments):
        """Runs, sends a signal at a random moment, and returns the exit code."""
        kill = draw.choice(["kill", "term", "usr1", "usr1 to one rank"])
        process, rank = self.begin_held(ranks, draw.randrange(ranks), draw.randrange(1, MOMENTS), *arguments)
        if rank is not None:
            number = {"kill": signal.SIGKILL, "term": signal.SIGTERM}.get(kill, signal.SIGUSR1)
            # one rank is lost, or all are told
            end_held(process, rank, number, rank if kill in ("kill", "usr1 to one rank") else process.pid)
        try:
            process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"hangs after {kill} on {ranks} ranks")
        return kill, process.returncode

    def chain(self, draw, ranks, rounds):
        """Interrupts until a round survives, then compares."""
        (self.folder / "result.h5").unlink(missing_ok=True)
        self.reference(ranks)
        for number in range(rounds):
            kill, code = self.interrupt(ranks, draw, *(["--resume"] if number > 0 else []))
            if code == 0:
                break
            if ranks == 1 and kill != "kill":
                self.assertEqual(code, STOPPED, kill)
        else:
            done = self.finish(ranks, "--resume")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_result_is_the_reference(ranks)

    def test_killed_at_random_moments(self):
        draw = random.Random(options.seed)
        several = [2, 3] if options.mpiexec else [1]
        for number in range(options.kills):
            ranks = draw.choice([1, 1, *several])
            rounds = draw.choice([1, 2, 3])
            with self.subTest(number=number, ranks=ranks, rounds=rounds):
                self.chain(draw, ranks, rounds)

    def stop_early(self):
        """Stops a run by SIGUSR1 after its second checkpoint; returns what it said."""
        process, rank = self.begin_held(1, 0, 4)
        end_held(process, rank, signal.SIGUSR1)
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, STOPPED, errors)
        return errors

    def test_a_signal_leaves_a_checkpoint_that_resume_uses(self):
        self.reference(1)
        errors = self.stop_early()
        self.assertIn("run.ckpt.h5 holds what was done, --resume goes on from it", errors)
        self.assertTrue((self.folder / "run.ckpt.h5").exists())
        self.assertFalse((self.folder / "result.h5").exists())
        for resume in ((), ("--resume",)):
            other = self.finish(1, *resume, "--set", "fields=[gz]")
            self.assertEqual(other.returncode, 2)
            self.assertRegex(other.stderr, r"case.yaml:\d+: output.checkpoint.file: .*is of another case: .*; it is not replaced")
        text = subprocess.run([a for a in self.command(1, "--resume") if a != "--quiet"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertRegex(text.stdout, r"run.ckpt.h5: goes on, [0-9.]+ % of the pairs are done")
        self.assert_result_is_the_reference(1)

    def test_a_resumed_run_writes_a_table_as_well(self):
        self.reference(1)
        self.stop_early()
        done = self.finish(1, "--resume", "--output", "result.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_result_is_the_reference(1, "result.csv")

    def test_resume_without_a_checkpoint_begins_at_the_start(self):
        text = subprocess.run([a for a in self.command(1, "--resume") if a != "--quiet"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("run.ckpt.h5: no checkpoint yet, the run begins at its start", text.stdout)
        self.assert_result_is_the_reference(1)
        none = self.finish(1, "--resume", "--set", "output.checkpoint=null")
        self.assertEqual(none.returncode, 2)
        self.assertIn("--resume: the case names no checkpoint", none.stderr)

    def test_a_full_disk_leaves_the_checkpoint_before(self):
        self.reference(1)
        self.stop_early()
        before = (self.folder / "run.ckpt.h5").read_bytes()
        room = len(before) // 2
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        full = subprocess.run(self.command(1, "--resume", "--set", "output.checkpoint.every=1 ms"), cwd=self.folder, capture_output=True, text=True,
                              preexec_fn=limit, timeout=300)
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertRegex(full.stderr, r"run.ckpt.h5: the checkpoint is not written: .*the run goes on without it")
        self.assertIn("result.h5: the result is not written", full.stderr)
        self.assertEqual((self.folder / "run.ckpt.h5").read_bytes(), before)
        self.assertEqual(sorted(f.name for f in self.folder.iterdir() if "part" in f.name), [])
        self.assertEqual(self.finish(1, "--resume").returncode, 0)
        self.assert_result_is_the_reference(1)

    def test_a_lost_rank_ends_the_others(self):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        self.reference(3)
        process, rank = self.begin_held(3, 1, 4)
        os.kill(rank, signal.SIGKILL)
        process.communicate(timeout=300)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse((self.folder / "result.h5").exists())
        self.assertEqual(self.finish(3, "--resume").returncode, 0)
        self.assert_result_is_the_reference(3)

    def refused(self, ranks, *arguments):
        done = self.finish(ranks, "--resume", *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse((self.folder / "result.h5").exists())
        self.assertEqual(done.stderr.count("run.ckpt.h5 "), 1, done.stderr)
        return done.stderr

    def test_other_ranks_are_refused(self):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        self.reference(2)
        process, rank = self.begin_held(2, 0, 4)
        self.assertIsNotNone(rank)
        end_held(process, rank, signal.SIGKILL, rank)
        process.communicate(timeout=300)
        kept = {file.name: file.read_bytes() for file in self.folder.glob("run.ckpt.h5*")}
        for ranks in (1, 3):
            self.assertRegex(
                self.refused(ranks),
                rf"case.yaml:\d+: output.checkpoint.file: run.ckpt.h5 was written by 2 ranks, this run has {ranks}; start "
                "2 ranks, or delete the file to begin anew\n",
            )
        self.assertIn("this run has 1 x 2; set execution.partition to {ranks: [2, 1]}, or delete the file to begin anew",
                      self.refused(2, "--set", "execution.partition=points"))
        self.assertEqual({file.name: file.read_bytes() for file in self.folder.glob("run.ckpt.h5*")}, kept)
        self.assertEqual(self.finish(2, "--resume").returncode, 0)
        self.assert_result_is_the_reference(2)

    def test_a_checked_run_of_listed_prisms_goes_on(self):
        # the check needs the prisms of the whole share
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        draw = random.Random(options.seed)
        lines = ["west,east,south,north,bottom,top,density"]
        for i in range(8000):
            x, y = 20 * (i % 50), 20 * (i // 50 % 40)
            lines.append(f"{x},{x + 20},{y},{y + 20},{-40 - 20 * (i // 2000)},{-20 - 20 * (i // 2000)},{draw.uniform(1, 500)}")
        (self.folder / "bodies.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        listed = ("--set", "model={prisms: {file: bodies.csv}}")
        exact = self.finish(1, *listed, "--set", "output.checkpoint=null", "--output", "exact.h5")
        self.assertEqual(exact.returncode, 0, exact.stderr)
        keys = (*listed, "--set", "execution={method: direct, tolerance: 1e-6}")
        process, rank = self.begin_held(2, 0, 4, *keys)
        self.assertIsNotNone(rank)
        end_held(process, rank, signal.SIGKILL, rank)
        process.communicate(timeout=300)
        done = self.finish(2, "--resume", *keys)
        self.assertEqual(done.returncode, 0, done.stderr)
        compared = subprocess.run([options.program, "compare", "result.h5", "exact.h5", "--quiet", "--tolerance", "1e-6"],
                                  cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(compared.returncode, 0, compared.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--mpiexec", default="", help="the launcher of ranks with its options, in one argument")
    parser.add_argument("--kills", type=int, default=part_of(15, 5))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=80, help="of points; fewer where the program is slow")
    options, rest = parser.parse_known_args()
    options.program, options.library = os.path.abspath(options.program), os.path.abspath(options.library)
    options.mpiexec = shlex.split(options.mpiexec)
    unittest.main(argv=[sys.argv[0], "-v", *rest])
