# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Disks and quotas without room: what is refused before it is computed, and what a result that cannot be written ends with.
Needs Python's standard library alone.

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
        for name in ("work", "work/out", "work/other"):
            (self.top / name).mkdir()
        self.work = self.top / "work"
        (self.work / "case.yaml").write_text(CASE, encoding="utf-8")

    def environment(self, full=(), free=None):
        changed = {**os.environ, "LD_PRELOAD": library,
                   # a preloaded library is none of its business
                   "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", ""),
                   "PRISMFIELD_FULL": ":".join(str(self.top / name) for name in full)}
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
            share, bytes_beside = (0.02, 6_000) if name == "result.nc" else (0.25, 1_000)
            self.assertLess(abs(said - size), share * size + bytes_beside, name)
            (self.work / "out" / name).unlink()

    def test_convert_looks_at_the_disk_too(self):
        self.assertEqual(self.run_case().returncode, 0)
        for name in ("a.nc", "a.csv", "a.vtp"):
            def convert(**disk):
                return subprocess.run([program, "convert", "out/result.nc", f"other/{name}", "--quiet"], cwd=self.work,
                                      capture_output=True, text=True, timeout=300, env=self.environment(**disk))
            result = convert(free=("work/other", 30_000))
            self.assertEqual(result.returncode, 1, name)
            self.assertRegex(result.stderr, rf"^error: other/{name}: the file is not written: it takes about \S+ KiB, and the "
                                            r"disk has 29.3 KiB free; make room or name a folder on another disk\n$")
            self.assertEqual(list((self.work / "other").iterdir()), [])
            result = convert()
            self.assertEqual(result.returncode, 0, result.stderr)
            (self.work / "other" / name).unlink()

    def test_the_checkpoint_needs_room_too(self):
        checkpoint = ["--set", "output.checkpoint={file: out/run.ckpt.h5}"]
        # enough for the result alone
        free = ("work/out", 200_000)
        self.refused(self.run_case(*checkpoint, free=free), r"output.file: the result and its checkpoint take about \S+ KiB")
        result = self.run_case(free=free)
        self.assertEqual(result.returncode, 0, result.stderr)


class AtTheEnd(Disk):
    def test_it_is_an_error_at_once_and_nothing_is_written_elsewhere(self):
        (self.work / "out" / "result.nc").write_text("the old result")
        result = self.run_case(full=["work/out"])
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr, f"error: out/result.nc: the result is not written: cannot write: {QUOTA}\n")
        self.assertEqual(self.files(), ["work/out/result.nc"])
        self.assertEqual((self.work / "out" / "result.nc").read_text(), "the old result")

    def test_a_folder_that_has_gone_is_named(self):
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
        self.assertRegex(errors, r"error: out/result.nc: the result is not written: .*: No such file or directory; "
                                 r"run.ckpt.h5 holds what was done, --resume goes on from it\n$")

    def test_a_checkpoint_stays_and_is_named(self):
        shutil.copy(self.work / "case.yaml", self.work / "other" / "case.yaml")
        result = self.run_case("--set", "output.checkpoint={every: 1 ms, file: other/run.ckpt.h5}", "--set",
                               "execution.chunk=64", full=["work/out"])
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
        self.assertIn("No space left on device\n", result.stderr)
        self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
