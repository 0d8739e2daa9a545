# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Makes samples.h5, netcdf.nc and classic.nc: what other programs write and test_hdf5_file.cpp reads.

    python3 make_samples.py         # needs h5py, numpy and netCDF4; writes beside this script
"""

import pathlib

import h5py
import netCDF4
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent

with h5py.File(FOLDER / "samples.h5", "w") as file:
    file["scalar"] = 2.5
    file["float32"] = np.array([[1.5, -2.25, 0.1]], dtype="f4")
    file["big_endian"] = np.array([1, -2, 70000], dtype=">i4")
    file["unsigned"] = np.array([0, 255], dtype="u1")
    file["cube"] = np.arange(24, dtype="i8").reshape(2, 3, 4)
    file["empty"] = np.zeros((0, 3))
    chunked = file.create_dataset("chunked", data=np.arange(1000.0).reshape(20, 50), chunks=(7, 11), compression="gzip")
    chunked.attrs["_FillValue"] = 13.0
    packed = file.create_dataset("packed", data=np.array([0, 100, -32768, -1], dtype="i2"))
    packed.attrs["_FillValue"] = np.int16(-32768)
    packed.attrs["missing_value"] = np.array([-1], dtype="i2")
    packed.attrs["scale_factor"] = 0.5
    packed.attrs["add_offset"] = np.array([10.0])
    strange = file.create_dataset("strange_scale", data=np.arange(3))
    strange.attrs["scale_factor"] = "two"
    file.create_dataset("compound", data=np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]))
    file.create_dataset("huge", shape=(1 << 50,), dtype="f8", chunks=(1024,))

    file["text_variable"] = "Große Mulde"
    file["text_fixed"] = np.bytes_("fixed")
    file["text_list"] = ["a", "b"]
    file.attrs["variable"] = "über"
    file.attrs["fixed"] = np.bytes_("plain")
    file.attrs["number"] = np.int32(-7)
    file.attrs["one_element"] = np.array([0.25])
    file.attrs["two_elements"] = np.array([1.0, 2.0])
    file.attrs["nothing"] = h5py.Empty("S1")

    group = file.create_group("deep/group")
    group["west"] = np.array([1.0])
    group["east"] = np.array([2.0])
    group.create_group("folder")
    file["link"] = h5py.SoftLink("/deep/group/west")
    file["dangling"] = h5py.SoftLink("/nowhere")

with netCDF4.Dataset(FOLDER / "netcdf.nc", "w") as file:
    file.createDimension("northing", 2)
    file.createDimension("easting", 3)
    file.createDimension("band", 1)
    file.createVariable("northing", "f8", ("northing",))[:] = [0, 1]
    file.createVariable("elevation", "f4", ("band", "northing", "easting"), fill_value=-9999)[:] = np.ma.masked_equal(
        np.array([[[1, 2, 3], [4, 0, 6]]]), 0
    )

with netCDF4.Dataset(FOLDER / "classic.nc", "w", format="NETCDF3_CLASSIC") as file:
    file.createDimension("x", 2)
    file.createVariable("x", "f8", ("x",))[:] = [1, 2]
