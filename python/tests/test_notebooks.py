# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The notebooks of docs/notebooks run, and are kept without outputs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDS = {"first_field": [], "harmonica_layer": ["harmonica"], "simpeg_inversion": ["simpeg"]}


def cells(name):
    """The code cells of a notebook."""
    path = ROOT / "docs" / "notebooks" / f"{name}.ipynb"
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


@pytest.mark.skipif("PRISMFIELD_LIBRARY" not in os.environ, reason="PRISMFIELD_LIBRARY names no library")
@pytest.mark.parametrize("name", NEEDS)
def test_a_notebook_runs(name, tmp_path):
    for module in ["scipy", *NEEDS[name]]:
        pytest.importorskip(module, reason=f"{module} is not installed")
    # As one script: no cell has a command of Jupyter's, whose kernel would need some twenty packages more.
    script = tmp_path / "notebook.py"
    script.write_text("\n".join("".join([*cell["source"], "\n"]) for cell in cells(name)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-B", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [script]


@pytest.mark.parametrize("name", NEEDS)
def test_a_notebook_has_no_outputs(name):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(name))


def test_all_notebooks_are_run():
    assert {path.stem for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")} == set(NEEDS)
