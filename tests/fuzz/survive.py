#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Runs the program on files on which HDF5 1.10.8 crashes: it has to end with a message and code 2.

    survive.py PROGRAM FOLDER
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

CASE = """model: {prisms: {file: FILE}}
observations: {grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: 1}}
output: {file: out.h5}
"""


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    files = sorted(folder.iterdir())
    # where a core is asked for, the signal ends the process and there is no code
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    # a sanitizer's own handlers would come first
    environment = os.environ | {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0"}
    mistakes = 0 if files else 1
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            case = pathlib.Path(scratch) / "case.yaml"
            case.write_text(CASE.replace("FILE", str(file)))
            for command in (["compare", file, file], ["run", case]):
                done = subprocess.run(
                    [program, *command], cwd=scratch, env=environment, capture_output=True, text=True, timeout=300
                )
                if done.returncode != 2 or file.name not in done.stderr or (pathlib.Path(scratch) / "out.h5").exists():
                    mistakes += 1
                    print(f"{command[0]} {file.name}: code {done.returncode}: {done.stderr}")
    print(f"{len(files)} files, {mistakes} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
