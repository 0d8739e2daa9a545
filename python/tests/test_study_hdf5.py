# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""study.h5 of studies that were never run."""

import math

import h5py
import pytest

from prismfield.study.analysis import analyse
from prismfield.study.read_study import read_study
from prismfield.study.study_files import write_study_hdf5


@pytest.fixture
def threads(made):
    made.yaml = "title: Fädén\nsweep: {execution.precision: [double, single], threads: [1, 2]}\n"
    made.add_runs(1, ["double", "1"], 1, [8, 8.5, 7.5])
    made.add_runs(2, ["double", "2"], 2, [4, 5, 4.5])
    made.add_runs(3, ["single", "1"], 1, [3])
    made.leave_out(4, ["single", "2"], "not run", "no")
    made.add_error(1, "gz", "mGal", 1, 2, 4, 0.5)
    return made


def written(made):
    made.write_all(["execution.precision", "threads"])
    study = read_study(made.folder)
    analyse(study)
    write_study_hdf5(study, "the text", made / "study.h5")
    return h5py.File(made / "study.h5")


def test_it_holds_points_runs_and_errors(threads):
    with written(threads) as file:
        assert file.attrs["schema"] == b"prismfield-study"
        assert file.attrs["title"] == "Fädén"
        assert file["study"].asstr()[()] == "the text"
        points, runs = file["points"], file["runs"]
        assert list(points["id"]) == [1, 2, 3, 4]
        assert list(points["axis_threads"]) == [1, 2, 1, 2]
        assert list(points["axis_execution.precision"]) == [0, 0, 1, 1]
        assert points["axis_execution.precision"].attrs["flag_meanings"] == b"double single"
        assert list(points["axis_execution.precision"].attrs["flag_values"]) == [0, 1]
        assert points["status"].attrs["flag_meanings"] == b"ok not_run"
        assert points["field_seconds"].dims[0][0].name == "/points/point"
        assert points["field_seconds"][1] == 4.5
        assert math.isnan(points["field_seconds"][3])
        assert points["field_seconds_low"][1] == 4
        assert points["speed_up"][1] == 8 / 4.5
        assert points["field_seconds"].attrs["units"] == b"s"
        assert len(runs["field_seconds"]) == 8
        assert list(runs["point"]) == [1, 1, 1, 2, 2, 2, 3, 4]
        assert runs["pairs_multipole_4"][0] == 10**9
        assert list(file["errors/relative"]) == [0.5]


def test_runs_of_a_wrong_point_have_no_times(threads):
    threads.rows[4].status = "wrong"
    with written(threads) as file:
        for name in ("field_seconds", "total_seconds", "process_seconds", "pairs_per_second"):
            values = [math.isnan(value) for value in file["runs"][name]]
            # one run of the point is wrong, the others are of the same point
            assert values[2:7] == [False, True, True, True, False], name
        assert not math.isnan(file["runs/largest_error"][4])


def test_a_study_without_points(threads):
    threads.rows.clear()
    threads.tables.clear()
    with written(threads) as file:
        assert list(file) == ["study"]


def test_xarray_reads_it(threads):
    xarray = pytest.importorskip("xarray")
    if not {"netcdf4", "h5netcdf"}.intersection(xarray.backends.list_engines()):
        pytest.skip("xarray finds no package that reads netCDF-4")
    written(threads).close()
    with xarray.open_dataset(threads / "study.h5", group="points") as points:
        assert points["field_seconds"].dims == ("point",)
        assert points["field_seconds"].sizes == {"point": 4}
