# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Report folders with cut files, as a full disk or a kill leaves them: each ends with an InputError or is a study whose
report can be written."""

import json
import math
import random

import pytest

from prismfield.study.analysis import analyse
from prismfield.study.read_study import read_study
from prismfield.study.study_files import (
    fom_lines,
    p3_csv,
    study_json,
    tables_as_latex,
    tables_as_markdown,
    tables_as_text,
    write_study_hdf5,
)
from prismfield.study.texts import InputError


@pytest.fixture
def whole(made):
    made.yaml = (
        "title: Threads\nsweep:\n  threads: [1, 2, 4]\n  execution.precision: [double, single]\nrepeats: 2\n"
        "figure: {x: threads, y: speed_up}\ncompare_with: {paper: C2, values: {'2': 1.9}}\nbaseline: {threads: 1}\n"
    )
    for i, (threads, precision) in enumerate((t, p) for t in (1, 2, 4) for p in ("double", "single")):
        made.add_runs(i + 1, [str(threads), precision], threads, [8 / threads, 9 / threads])
    peaks = {"openmp": {"peak_double": 1e11, "bandwidth": 1e10}}
    made.machine = json.dumps({"name": "made", "version": "1", "git": "a", "calibration": peaks})
    made.add_error(1, "gz", "mGal", 1, 2, 4, 0.5)
    made.add_error(2, "gxx", "Eotvos", 1, 2, 0, math.inf)
    made.add_rows(1, "histograms", {"field": "gz", "lowest": -16, "negative": [1, 3], "equal": 5, "positive": [2, 4]})
    made.add_rows(1, "trace", {"where": "outside", "n": 7, "rms": 1e-3, "largest": 2e-3, "scale": 10})
    made.add_rows(1, "maps", {"file": "results/1.h5", "fields": ["gz", "gzz"]})
    made.add_rows(1, "busy", {"rank": 0, "slot": -1, "begin": 0.25, "end": 1})
    made.write_all(["threads", "execution.precision"])
    return made


def test_any_folder(whole):
    draw = random.Random(1)
    files = {path: path.read_bytes() for path in sorted(whole.folder.iterdir())}
    good = 0
    for number in range(100):
        path = draw.choice(list(files))
        path.write_bytes(files[path][: draw.randrange(len(files[path]))])
        content = path.read_bytes()
        try:
            study = read_study(whole.folder)
            analyse(study)
            for point in study.points:
                assert point["status"] == "ok" or not point["field_seconds"], "a point that is not right has a speed"
            text = study_json(study, {})
            record = json.loads(text)
            for write in (tables_as_text, tables_as_markdown, tables_as_latex, fom_lines):
                write(record).encode("utf-8", "replace")
            p3_csv(study).encode("utf-8", "replace")
            if number % 10 == 0:
                write_study_hdf5(study, text, whole.folder.parent / "study.h5")
            good += 1
        except InputError as error:
            assert str(error)
        except Exception as error:
            raise AssertionError(f"{path.name}, case {number}: {content!r}") from error
        path.write_bytes(files[path])
    assert 25 < good < 75, good
