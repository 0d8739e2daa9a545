# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Disks and quotas without room: what is refused before it is computed, and where a computed result goes. Needs Python's
standard library alone.

Usage: test_full_disk.py PRISMFIELD FULL_DISK_LIBRARY

The library, preloaded, makes folders full; no other rights are needed. One test takes a real small disk: it is skipped
where none can be mounted.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import held, hold, wait_for

program, library = (os.path.abspath(argument) for argument in sys.argv[1:3])

CASE = """\
model:
  voxels: {easting: [0, 1000, 10], northing: [0, 1000, 10], upward: [-500, 0, 5], density: 300}
observations:
  grid: {easting: [0, 1000, 60], northing: [0, 1000, 50], upward: 10}
fields: [gz]
output: {file: out/result.nc}
"""
QUOTA = "Disk quota exceeded"


class Disk(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_disk_")).resolve()
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        for name in ("work", "work/out", "work/other", "home", "tmp"):
            (self.top / name).mkdir()
        self.work = self.top / "work"
        (self.work / "case.yaml").write_text(CASE, encoding="utf-8")

    def environment(self, full=(), free=None):
        changed = {**os.environ, "HOME": str(self.top / "home"), "TMPDIR": str(self.top / "tmp"), "LD_PRELOAD": library,
                   # a preloaded library is none of its business
                   "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", ""),
                   "PRISMFIELD_FULL": ":".join(str(self.top / name) for name in full),
                   "PRISMFIELD_FULL_UNTIL": str(self.top / "room")}
        if free:
            changed["PRISMFIELD_FREE"] = f"{self.top / free[0]}={free[1]}"
        return changed

    def run_case(self, *arguments, **disk):
        return subprocess.run([program, "run", "case.yaml", "--quiet", *arguments], cwd=self.work, capture_output=True,
                              text=True, timeout=300, env=self.environment(**disk))

    def files(self):
        return sorted(str(p.relative_to(self.top)) for p in self.top.rglob("*")
                      if p.is_file() and p.name != "case.yaml" and "ompi" not in str(p))

    def refused(self, result, message):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, message)
        self.assertEqual(self.files(), [])


class Before(Disk):
    def test_a_disk_that_is_too_small_is_refused(self):
        result = self.run_case(free=("work/out", 40_000))
        self.refused(result, r"^case.yaml:6: output.file: the result takes about \S+ KiB, and the disk of out has 39.1 KiB "
                             r"free; make room or name a folder on another disk\n$")
        self.assertEqual(self.run_case("--check", free=("work/out", 40_000)).returncode, 0)
        # --check needs no room
        self.assertEqual(self.files(), [])

    def test_the_bytes_are_about_those_of_the_file(self):
        for name in ("result.nc", "result.csv", "result.xyz"):
            result = self.run_case("--output", f"out/{name}", free=("work/out", 1))
            number, unit = re.search(r"takes about (\S+) (KiB|MiB)", result.stderr).groups()
            said = float(number) * {"KiB": 1024, "MiB": 1024**2}[unit]
            self.assertEqual(self.run_case("--output", f"out/{name}").returncode, 0)
            size = (self.work / "out" / name).stat().st_size
            self.assertLess(abs(said - size), 0.25 * size + 60_000, name)
            (self.work / "out" / name).unlink()

    def test_the_checkpoint_needs_room_too(self):
        checkpoint = ["--set", "output.checkpoint={file: out/run.ckpt.h5}"]
        # enough for the result alone
        free = ("work/out", 200_000)
        self.refused(self.run_case(*checkpoint, free=free), r"output.file: the result and its checkpoint take about \S+ KiB")
        result = self.run_case(free=free)
        self.assertEqual(result.returncode, 0, result.stderr)


class AtTheEnd(Disk):
    def test_the_result_goes_to_another_folder(self):
        (self.work / "out" / "result.nc").write_text("the old result")
        for full, where in ((["work/out"], "work/result.nc"), (["work/out", "work"], "home/result.nc"),
                            (["work/out", "work", "home"], "tmp/result.nc")):
            result = self.run_case(full=full)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(result.stderr, f"error: out/result.nc: the result is not written: cannot write: {QUOTA}; it "
                                            f"is complete in {self.top / where} instead\n")
            self.assertEqual(self.files(), sorted(["work/out/result.nc", where]))
            self.assertEqual((self.work / "out" / "result.nc").read_text(), "the old result")
            whole = self.run_case("--output", "other/whole.nc")
            self.assertEqual(whole.returncode, 0, whole.stderr)
            same = subprocess.run([program, "compare", self.top / where, self.work / "other" / "whole.nc", "--tolerance",
                                   "0"], capture_output=True, text=True)
            self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
            (self.top / where).unlink()
            (self.work / "other" / "whole.nc").unlink()

    def test_nothing_is_replaced_there(self):
        (self.work / "result.csv").write_text("something else")
        result = self.run_case("--output", "out/result.csv", full=["work/out"])
        self.assertIn(f"it is complete in {self.work / 'result-1.csv'} instead", result.stderr)
        self.assertEqual((self.work / "result.csv").read_text(), "something else")
        self.assertEqual(len((self.work / "result-1.csv").read_text().splitlines()), 3001)

    def test_a_folder_that_has_gone_is_no_loss(self):
        # it goes while the run computes, after its first checkpoint
        process = subprocess.Popen(
            [*hold(library, "run.ckpt.h5", 2), program, "run", "case.yaml", "--quiet", "--set", "output.checkpoint.file=run.ckpt.h5"],
            cwd=self.work, stderr=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(process.kill)
        pid = held(process)
        (self.work / "out").rmdir()
        os.kill(pid, signal.SIGCONT)
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn(f"it is complete in {self.work / 'result.nc'} instead", errors)

    def test_without_any_room_it_is_kept_until_there_is_some(self):
        errors = self.top / "errors"
        with open(errors, "w", encoding="utf-8") as stream:
            process = subprocess.Popen([program, "run", "case.yaml", "--quiet"], cwd=self.work, stderr=stream,
                                       env=self.environment(full=["work/out", "work", "home", "tmp"], free=("work/out", 10**9)))
        self.assertTrue(wait_for(lambda: "kept in memory" in errors.read_text(), process))
        self.assertRegex(errors.read_text(), rf"^warning: out/result.nc: the result is not written: cannot write: {QUOTA}; nor "
                                             r"is there room \(\S+ KiB\) anywhere else: the result is kept in memory and "
                                             r"tried again, make room\n$")
        self.assertIsNone(process.poll())
        self.assertEqual(self.files(), ["errors"])
        (self.top / "room").touch()
        self.assertEqual(process.wait(timeout=300), 0)
        self.assertEqual(self.files(), ["errors", "room", "work/out/result.nc"])

    def test_a_signal_ends_the_wait(self):
        process = subprocess.Popen([program, "run", "case.yaml", "--quiet"], cwd=self.work, stderr=subprocess.PIPE, text=True,
                                   env=self.environment(full=["work/out", "work", "home", "tmp"]))
        self.assertIn("kept in memory", process.stderr.readline())
        process.terminate()
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertIn("stopped by a signal; no result was written", errors)

    def test_a_checkpoint_stays_and_is_named(self):
        shutil.copy(self.work / "case.yaml", self.work / "other" / "case.yaml")
        full = ["work/out", "work", "home", "tmp"]
        result = self.run_case("--set", "output.checkpoint={every: 1 ms, file: other/run.ckpt.h5}", "--set",
                               "execution.chunk=64", full=full)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("; other/run.ckpt.h5 holds what was done, --resume goes on from it\n", result.stderr)
        self.assertEqual(self.files(), ["work/other/run.ckpt.h5"])
        again = self.run_case("--set", "output.checkpoint={every: 1 ms, file: other/run.ckpt.h5}", "--set",
                              "execution.chunk=64", "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.files(), ["work/out/result.nc"])

    def test_a_real_disk_that_fills_up(self):
        # The look before the run is told of more room than there is.
        script = (f"mount -t tmpfs -o size=300k none out || exit 99; {program} run case.yaml --quiet; code=$?; "
                  "ls -A out; exit $code")
        launcher = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
        try:
            result = subprocess.run([*launcher, script], cwd=self.work, capture_output=True, text=True, timeout=300,
                                    env={**self.environment(free=("work/out", 10**9))})
        except FileNotFoundError:
            self.skipTest("no unshare here")
        if result.returncode in (1, 99) and "error:" not in result.stderr:
            self.skipTest(f"no disk can be mounted: {result.stderr.strip()}")
        self.assertEqual(result.returncode, 0, result.stderr)
        result = subprocess.run([*launcher, script.replace("300k", "64k")], cwd=self.work, capture_output=True, text=True, timeout=300,
                                env={**self.environment(free=("work/out", 10**9))})
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(f"No space left on device; it is complete in {self.work / 'result.nc'} instead", result.stderr)
        self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
