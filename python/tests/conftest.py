# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What all tests need: a figure without a display, a style that is empty at the beginning of each, a made study."""

import os
import pathlib
import sys

import pytest

os.environ["MPLBACKEND"] = "Agg"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))


@pytest.fixture(autouse=True)
def style():
    """The style of the figures."""
    from prismfield.figures.drawing import STYLE

    STYLE.clear()
    yield STYLE
    STYLE.clear()


@pytest.fixture
def made(tmp_path):
    """A report folder of a study that was never run."""
    from made_study import MadeStudy

    return MadeStudy(tmp_path / "report")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a small case, and an environment in which nobody asked for threads."""
    from made_spec import Folder

    for variable in ("OMP_NUM_THREADS", "SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(variable, raising=False)
    made = Folder(tmp_path)
    # mpirun is needed on PATH, not to be run
    made.write("bin/mpirun", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return made
