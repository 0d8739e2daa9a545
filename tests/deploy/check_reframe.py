# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The tests of cmake/deploy/reframe, by ReFrame itself: they load, and one runs.

Usage: check_reframe.py SOURCE PRISMFIELD

ReFrame is the one on PATH; else it is installed from PyPI into an environment in the working folder. 77: neither.
"""

import os
import pathlib
import shutil
import subprocess
import sys

VERSION = "4.10.4"


def find_reframe(folder):
    """The program's path, or None."""
    found = shutil.which("reframe")
    if found:
        return found
    program = folder / "environment" / "bin" / "reframe"
    if program.exists():
        return str(program)
    try:
        subprocess.run(
            [sys.executable, "-m", "venv", "--clear", folder / "environment"], check=True, capture_output=True
        )
        install = [folder / "environment" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
        install += ["--retries", "1", "--timeout", "20", f"reframe-hpc=={VERSION}"]
        subprocess.run(install, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        shutil.rmtree(folder / "environment", ignore_errors=True)
        return None
    return str(program)


def main(source, prismfield):
    folder = pathlib.Path.cwd()
    reframe = find_reframe(folder)
    if reframe is None:
        print("no reframe on PATH and none from PyPI: the tests of cmake/deploy/reframe are not checked")
        return 77
    checks = pathlib.Path(source) / "cmake" / "deploy" / "reframe"
    command = [reframe, "-C", checks / "site_example.py", "-c", checks / "prismfield_checks.py"]
    command += ["--prefix", folder / "reframe"]
    # It keeps reports in the home.
    environment = dict(os.environ, HOME=str(folder))

    def run(*options):
        done = subprocess.run(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        print(done.stdout)
        return done

    listed = run("-l")
    wanted = [
        f"CaseCheck %case={c} %precision={p}" for c in ("one_sphere", "seven_spheres") for p in ("double", "single")
    ]
    wanted += [f"StudyCheck %study={study}" for study in ("c1_partition", "c2_threads")]
    missing = [name for name in wanted if name not in listed.stdout]
    if listed.returncode != 0 or missing:
        print(f"not listed: {missing}")
        return 1
    # Not held to the example's speed: this machine is another, and busy.
    ran = run("-r", "-n", "CaseCheck.*one_sphere.*double", "-S", f"program={prismfield}", "--skip-performance-check")
    return 0 if ran.returncode == 0 and "Ran 1/1 test case(s)" in ran.stdout else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
