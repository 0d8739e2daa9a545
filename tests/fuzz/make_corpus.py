#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Makes the fuzzers' corpus: corpus/NAME/ for fuzz_NAME, small files that reach what the readers do.

    python3 make_corpus.py          # needs h5py and numpy; writes beside this script, removing what was there
"""

import io
import pathlib
import shutil
import struct

import h5py
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent / "corpus"
shutil.rmtree(FOLDER, ignore_errors=True)


def keep(fuzzer, name, content):
    folder = FOLDER / fuzzer
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


# ---- cases

VOXELS = """model:
  voxels:
    easting: [0, 300, 3]
    northing: [0, 200, 2]
    upward: [-100, 0, 1]
"""
GRID = """observations:
  grid:
    easting: [0, 300, 4]
    northing: [0, 200, 3]
    upward: 20
"""
CASES = {
    "painted": VOXELS
    + """    spheres:
      - {center: [100, 100, -50], radius: 80, density: 800}
    boxes:
      - {easting: [200, 300], northing: [0, 200], upward: [-100, 0], density: -300}
"""
    + GRID
    + "fields: all\noutput: {file: out.h5, figure: out.png}\n",
    "random": """title: "Random: \\u00fc"
gravitational_constant: 6.674e-11
axes: z_down
model:
  mesh:
    easting: {origin: 0, random_widths: [10, 20], cells: 3, seed: 1}
    northing: {edges: [0, 1e1, 25]}
    upward: {origin: 0, widths: [5, 5, 2.5]}
    density: {random: [100, 3000], seed: 7}
observations:
  stations: {random: 3, seed: 2, easting: [0, 1], northing: [0, 1], upward: [1, 2]}
  noise: {gz: 0.02, seed: 1}
fields: [gz, gxx]
""",
    "magnetic": """magnetic: {inducing_field: {inclination: -62.5, declination: 11.25, intensity: 48250}, inside: cavity}
"""
    + VOXELS
    + """    susceptibility: {random: [0.01, 0.1], seed: 2}
    magnetization: {inclination: 55, declination: 170, intensity: 1.5}
    spheres:
      - {center: [100, 100, -50], radius: 80, susceptibility: 0.5, magnetization: [1, 2, 3]}
"""
    + GRID
    + "fields: [magnetic, gz]\n",
    "files": """axes: z_up
model:
  prisms: {file: a.csv, group: /g, columns: [x1, x2, y1, y2, z1, z2, density], axis_z: down, length_unit: km,
    density_unit: g/cm3, allow_overlap: true}
observations:
  stations: {file: s.csv}
fields: tensor
""",
    "ubc": """model:
  mesh: {ubc: {mesh: m.msh, density: m.den, density_unit: g/cm3}}
observations: {grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: {file: e.nc}}}
sensitivity: {store: true}
""",
    "execution": VOXELS
    + "    density: {file: d.h5, dataset: d, density_unit: g/cm3}\n"
    + GRID
    + """fields: gz
execution:
  space: openmp
  partition: {ranks: [1, 1]}
  kernel: auto
  precision: double
  batch: 64
  slots: 2
  block: 128
  chunk: 1000
  memory_limit: 2 GiB
  method: direct
  tolerance: 1e-9
output:
  file: out.h5
  checkpoint: {every: 10 min, file: c.h5}
""",
    "inversion": VOXELS
    + """fields: [gz, gzz]
inversion:
  data:
    - a.h5
    - {file: b.csv, columns: [easting, northing, "-", gz], axes: z_up, fields: gz, length_unit: km}
  sigma: {relative: {gz: 0.02}, floor: {gz: 0.05, gzz: 1}}
  reference: {file: r.h5, dataset: density, density_unit: g/cm3}
  start: {file: s.h5}
  data_norm: huber
  reference_in_smoothness: true
  bounds: [-500, null]
  cell_weights: {file: w.h5, dataset: w}
  active: {file: a.txt}
  keep: all
  smallness: 1e-3
  smoothness: [1, 2, 0.5]
  weighting: {depth: {power: 2, z0: 10}}
  norm: [0, 2, 2, 2]
  beta: 1e-6
  topography: {file: t.csv, columns: [easting, northing, upward]}
  trend: linear
  uncertainty: {samples: 100, seed: 3}
  depth_of_investigation: 50
  target_misfit: 1.5
  max_iterations: 12
sensitivity: {store: memory, precision: float, compression: 1e-4}
""",
    "inversion-short": VOXELS
    + GRID
    + """inversion: {data: o.obs, sigma: 0.02, smoothness: {lengths: [50, 50, 25]}, norm: 1, beta: gcv, weighting: distance,
  bounds: {intervals: [[300, 400], [0, 50]]}, trend: constant, uncertainty: {rank: 50}, depth_of_investigation: none}
sensitivity: {store: file, file: G.h5, precision: float16, compression: none}
""",
    "options": VOXELS + "    density: 300\n" + GRID
    + "#set model.voxels.upward=[-200, 0, 2]\n#set observations.grid.upward=3\n#set fields=[gz]\n",
    "anchors": "model: &m\n  voxels: &v {easting: &e [0, 1, 1], northing: *e, upward: *e, density: 1}\n"
    + GRID + "inversion: *m\n",
    "blocks": "title: |\n  two\n  lines\n'fields': >-\n  gz\nmodel: ~\nmodel: {}\nobservations: !tag []\n",
}
for name, text in CASES.items():
    keep("case", name + ".yaml", text)

# ---- tables: the kind of file and how it is read, then the file

TABLES = {
    "p-header": "p0\n# bodies\nwest,east,south,north,bottom,top,density\n0,1,0,1,-2,-1,300\n1,2,0,1,-2,-1,-3e2\n",
    "p-columns": "p\x14\n0 1 0 1 1 2 .5\r\n0 1 0 1 2 3 0.5\r",
    "p-aliases": "p\x0b\ndensity;x1;x2;y1;y2;z1;z2\n1;0;1;0;1;-1;0\n2;0;1;0;1;-1;0\n",
    "p-mistakes": "p0\n0 1 0 1 -2 -1 nan\n1 0 0 1 -2 -1 300\n0 1 0 1 -2 -1\n0 0 0 1 -2 -1 3 # zero\nx\n0 1 0 1 -2 -1 1e999\n",
    "s-header": "s0\neasting,northing,height,name\n0,0,1,a\n1e3,-.5,+2,b\n",
    "s-plain": "s0\n\ufeff1 2 3\n4\t5\t6\n",
    "s-columns": "s\x01\n1 a 2 .3\n4 b 5 .6\n",
    "s-units": "s0\nX (km);y_m;Depth [ft];note\n1;2;3;a\n4;*;6;b\n7;8;nan;c\n",
    "s-constant": "s\x10\nx,y,z\n1,2,*\n3,4,x\n",
    "s-oasis": "s0\n/ x y z g\n/ == == == ==\nLine 10\n1 2 3 *\n* 5 6 1\nTie T3\n7 8 9 2\nL20\n1 1 1 1\n",
    "s-gmt": "s0\n# lonely\n> one\n1 2 3\n>\n4 5 6\nNaN NaN NaN\n",
    "s-ubc": "s \n! by hand\n2\n1 2 3 .5 .1\n4 5 6 .7 .1\n",
    "s-tomofast": "s\x0c\n2\n1 2 3 1e-5\n4 5 6 2e-5\n",
    "s-angles": "s0\nlongitude,latitude,height\n-68,-22,5\n",
    "e-edges": "e0\n0 1, 2.5\n3\n# end\n4e2\n",
    "d-values": "d1\n1\n2.5 # x\n-3e2\n0\n",
    "c-points": "c0\neasting,northing,upward,gz [mGal],gz_sigma\n0,1,2,.5,1\n3,4,5,nan,\n",
    "c-plain": "c<\n# x y z g\n0 1 2 -.5\n3 4 5 1e-3\n",
    "c-mesh": "c2\n2 1 2\n0 0 100\n10 20\n10\n2*5\n",
    "c-data": "c3\n2\n0 1 2 .5 1\n3 4 5 -1 .1 ! last\n",
    "c-grid": "c4\n2\n0 10 0 10 0 5 .3 1 1 1\n10 20 0 10 0 5 -1 2 1 1\n",
    "c-terrain": "c4\n2\n0 10 0 10 0 5 .3 1 1 1\n10 20 0 10 -2 5 -1 2 1 1\n",
    "c-grid-turned": "c4\n2\n0 10 10 20 0 5 1 1 1\n0 10 0 10 0 5 2 1 1\n",
    "c-tomofast": "c5\n2\n0 1 -2 5e-6\n3 4 5 -1e-7\n",
    "c-found": "cJ\n2\n0 1 -2 5e-6\n3 4 5 -1e-7\n",
    "c-mistakes": "c3\n3\n0 x 2 .5 1\n1 2 3\n0 0 0 nan -1\n",
    "g-grid": "g0\nx [m],y,elevation,name\n0,0,1,a\n1,0,2,b\n0,50,3,c\n1,50,4,d\n",
    "g-points": "gA\na 0 0 1\nb 5 1 2\nc 5 1 2\nd 100 -3 .5\n",
    "g-mistakes": "g0\n0 0 1\n1 0 nan\n0 0 2\n",
    "t-table": "t0\nx,y,z\n0,0,1\n1,0,2\n0,50,3\n1,50,-4\n",
    "t-ascii": "t0\nncols 3\nnrows 2\nxllcorner 0\nyllcenter 5\ncellsize 10\nNODATA_value -9\n1 2 -9\n4 5e0 nan\n",
    "t-mistakes": "t0\nncols 2\nnrows 9e99\ndx 1\ndy 0\nxllcorner 0\nxllcenter 0\n1 x\n",
    "o-header": "o0\neasting,northing,upward,gz [mGal],gz_sigma,gxx (Eotvos),sigma_gxx\n0,1,2,.5,1e-2,3,1\n3,4,5,-1,2,0,.1\n",
    "o-xyz": "oD\n# by hand\n# easting northing height potential[m2_s-2] gz_[mGal] sigma[mGal]\n0 1 2 3 4 5\n6 7 8 9 0 1\n",
    "o-columns": "oI\n0 1 2 a 4 5\r\n6 7 8 b 9 .5\r",
    "o-rule": "oP\nx;y;z;gxx\n0;1;2;3\n3;4;5;0\n",
    "c-mag": "c3\n60 10 5e4\n-90 0 1\n2\n0 1 2 -.5 1\n3 4 5 1e-3 .5\n",
    "c-components": "c5\n2\n0 0 -10 1 2 3\n5 0 -10 -1 0 .5\n",
    "c-vectors": "c4\n2\n0 10 5 6 0 1 .5 1.5 2 1 1 1\n0 10 5 6 1 4 -1 0 -.25 1 1 2\n",
    "o-mag": "o \n60 10 50000 ! nT\n60 10 1\n2\n0 1 2 -.5 1\n3 4 5 1e-3 .5\n",
    "o-ubc": "o \n! by hand\n2 ! stations\n0 1 2 -.5 1\n3 4 5 1e-3 .5\n",
    "o-mistakes": "o0\nx [km],y,z,gz [uGal],gzz,sigma\n0,1,2,nan,0,0\n0,1,2,3,4,-1\n1e13,1,2,3,4,x\n",
    "t-count": "t0\n! UBC\n4\n0 0 1\n10 0 2.5\n0 10 -3\n10 10 4\n",
    "g-count": "g0\n5 ! points\n0 0 1\n10 0 2.5\n0 11 -3\n10 10 4\n3 3 -9999\n",
    "t-esri": "t0\nNCOLS 2\nNROWS 2\nXLLCENTER 1e3\nYLLCORNER -5\ndx 1\ndy 2\nNODATA_value null\n1 null\n-9999 2\n",
    "h-grid": "h0\neasting,northing,elevation\n0,0,1\n1,0,2\n2,0,3\n0,100,4\n1,100,5\n2,100,6\n",
}
for name, text in TABLES.items():
    keep("tables", name, text)
SURFER = {
    "text": b"DSAA\n3 2\n0 2\n0 100\n1 6\n1 2 1.70141e+38\n4 5 6\n",
    "6": b"DSBB" + struct.pack("<2h6d6f", 3, 2, 0, 2, 0, 100, 1, 6, 1, 2, 3, 4, 5, 1.70141e38),
    "7": b"DSRB" + struct.pack("<2i", 4, 2) + b"GRID" + struct.pack("<3i8d", 72, 2, 3, 0, 0, 1, 100, 1, 6, 0, -9)
         + b"DATA" + struct.pack("<i6d", 48, 1, 2, 3, 4, 5, -9),
}
for name, content in SURFER.items():
    for letter in "ght":
        keep("tables", f"{letter}-surfer-{name}", letter.encode() + b"0\n" + content)

keep("ubc", "mesh", "2 1 2\n0 0 100\n10 20\n10\n2*5\n---\n1\n2.5\n-3\n0\n")
keep("ubc", "comments", "! mesh\n1 1 3 ! counts\n0. 0. 0.\n1e1\n1*10\n1 2*2\n---\n! d\n0.1\n0.2\n0.3 ! last\n")
keep("ubc", "vectors", "2 1 1\n0 0 0\n1 2\n1\n1\n---\n.5 .25 1\n-100 -100 -100\n")
keep("ubc", "octree", "4 4 2\n0 0 100\n10 10 5\n3 ! cells\n1 1 1 2\n3 1 1 2\n1 3 2 1\n---\n0.1\n-9\n0.3\n")
keep("ubc", "flat", "2\n-200 -100 4\n300 8\n1\n0 50 2\n---\n1\n")
keep("ubc", "stars", "7 1 1\n0 0 0\n100 2 * 50 3* 20 150\n1\n1\n---\n" + "1\n" * 7)
keep("ubc", "mistakes", "2 2 1\n0 0 0\n1 -1\n2*\n0*3\n---\n1 2 nan\n")

# ---- classic netCDF


def name_of(text):
    data = text.encode()
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


def attribute(name, kind, values):
    code, form = {"char": (2, "s"), "short": (3, "h"), "float": (5, "f"), "double": (6, "d")}[kind]
    if kind == "char":
        data, n = values.encode(), len(values)
    else:
        data, n = struct.pack(f">{len(values)}{form}", *values), len(values)
    return name_of(name) + struct.pack(">II", code, n) + data + b"\0" * (-len(data) % 4)


def listed(tag, items):
    return struct.pack(">II", tag if items else 0, len(items)) + b"".join(items)


def classic(dimensions, variables, records=0, version=1):
    """variables: (name, dimension numbers, type code, attributes, data)"""
    begin_form = ">I" if version == 1 else ">Q"

    def header(begins):
        listed_variables = [
            name_of(name)
            + struct.pack(f">I{len(dims)}I", len(dims), *dims)
            + listed(12, attributes)
            + struct.pack(">II", kind, len(data))
            + struct.pack(begin_form, begin)
            for (name, dims, kind, attributes, data), begin in zip(variables, begins)
        ]
        return (
            b"CDF"
            + bytes([version])
            + struct.pack(">I", records)
            + listed(10, [name_of(name) + struct.pack(">I", length) for name, length in dimensions])
            + listed(12, [attribute("title", "char", "x")])
            + listed(11, listed_variables)
        )

    at = len(header([0] * len(variables)))
    begins, body = [], b""
    for variable in variables:
        begins.append(at + len(body))
        body += variable[4] + b"\0" * (-len(variable[4]) % 4)
    return header(begins) + body


def doubles(*values):
    return np.array(values, ">f8").tobytes()


AXES = [("easting", [1], 6, [], doubles(0, 1, 2)), ("northing", [0], 6, [], doubles(0, 100))]
HEIGHTS = classic(
    [("northing", 2), ("easting", 3)],
    AXES + [("z", [0, 1], 5, [attribute("_FillValue", "float", [-1])], np.arange(6, dtype=">f4").tobytes())],
)
keep("netcdf", "heights.grd", HEIGHTS)
keep(
    "netcdf",
    "observed",
    classic(
        [("northing", 2), ("easting", 3)],
        AXES
        + [("upward", [0, 1], 6, [attribute("units", "char", "m")], doubles(*range(6)))]
        + [("gz", [0, 1], 6, [attribute("units", "char", "mGal"), attribute("axes", "char", "z_up")], doubles(*range(1, 7)))],
    ),
)
keep(
    "netcdf",
    "packed-records",
    classic(
        [("time", 0), ("y", 2), ("x", 3)],
        [
            ("x", [2], 6, [], doubles(0, 1, 2)),
            ("y", [1], 6, [], doubles(0, 100)),
            (
                "elevation",
                [0, 1, 2],
                3,
                [attribute("scale_factor", "double", [0.5]), attribute("add_offset", "double", [10])],
                np.arange(6, dtype=">i2").tobytes(),
            ),
        ],
        records=1,
        version=2,
    ),
)
keep(
    "netcdf",
    "record-second",
    classic([("a", 2), ("time", 0)], [("v", [0, 1], 6, [], doubles(1, 2))], records=1),
)
keep(
    "netcdf",
    "density",
    classic(
        [("upward", 2), ("northing", 2), ("easting", 3)], [("density", [0, 1, 2], 6, [], doubles(*range(12)))]
    ),
)
keep(
    "netcdf",
    "density-axes",
    classic(
        [("x", 3), ("depth", 2), ("n", 2)],
        [
            ("x", [0], 6, [attribute("units", "char", "km"), attribute("axis", "char", "X")],
             doubles(0.0005, 0.0015, 0.0025)),
            ("depth", [1], 6, [attribute("positive", "char", "down")], doubles(-1.5, -0.5)),
            ("n", [2], 6, [], doubles(1.5, 0.5)),
            ("density", [0, 1, 2], 6, [attribute("units", "char", "g cm-3"), attribute("valid_range", "double", [0, 99])],
             doubles(*range(12))),
        ],
    ),
)
wide = struct.pack(">Q", 0) + struct.pack(">IQ", 10, 1) + struct.pack(">Q", 1) + b"x\0\0\0" + struct.pack(">Q", 2)
wide += struct.pack(">IQ", 0, 0) + struct.pack(">IQ", 11, 1) + struct.pack(">Q", 1) + b"v\0\0\0"
wide += struct.pack(">QQIQ", 1, 0, 0, 0) + struct.pack(">IQQ", 10, 16, 4 + len(wide) + 48) + struct.pack(">qq", 1, -2)
keep("netcdf", "wide", b"CDF\x05" + wide)

# ---- HDF5


def hdf5(fill, **options):
    memory = io.BytesIO()
    with h5py.File(memory, "w", **options) as file:
        fill(file)
    return memory.getvalue()


COLUMNS = {"west": [0, 2], "east": [1, 3], "south": [0, 0], "north": [1, 1], "bottom": [-2, -2], "top": [-1, -1],
           "density": [300, -2.5]}


def prisms(file):
    for name, values in COLUMNS.items():
        file[name] = np.array(values, "f4" if name == "density" else "f8")


def density(file):
    file["density"] = np.arange(12.0).reshape(2, 2, 3)


def density_axes(file):
    # without references to dimensions, in which HDF5 1.10.8 crashes as soon as a byte is wrong
    for name, values in {"z": [-0.5, -1.5], "x": [0.5, 1.5, 2.5], "northing": [1.5, 0.5]}.items():
        file[name] = np.array(values)
    file["z"].attrs["positive"] = np.bytes_("down")
    file["x"].attrs["bounds"] = np.bytes_("x_edges")
    file["x_edges"] = np.array([[0.0, 1], [1, 2], [2, 3]])
    data = file.create_dataset("density", data=np.arange(12, dtype="i1").reshape(2, 2, 3))
    data.attrs["_Unsigned"] = np.bytes_("true")
    data.attrs["units"] = np.bytes_("g/cm3")


def packed_density(file):
    data = file.create_dataset("density", data=np.arange(12, dtype=">i2"), chunks=(5,), compression="gzip")
    data.attrs["_FillValue"] = np.int16(3)
    data.attrs["scale_factor"] = 0.5


def heights(file):
    file["x"] = np.arange(3.0)
    file["y"] = np.array([0.0, 100.0])
    file["z"] = np.arange(6, dtype="f4").reshape(2, 3)
    for name in "xy":
        file[name].make_scale(name)
    file["z"].dims[0].attach_scale(file["y"])
    file["z"].dims[1].attach_scale(file["x"])


def kinds(file):
    file["text"] = "some"
    file["fixed"] = np.bytes_("fixed")
    file["scalar"] = 2.5
    file["empty"] = np.zeros((0, 3))
    file["list"] = np.array([1, 2, 3], "u8")
    file["list"].attrs["units"] = "m"
    file["pair"] = np.zeros(1, dtype=[("a", "f8"), ("b", "i4")])
    file["soft"] = h5py.SoftLink("/group/west")
    file["group/west"] = [1.0]
    file.attrs["number"] = np.int32(-7)
    file.attrs["text"] = "words"


def observed(file):
    file["easting"] = np.array([3.0, 2, 1])
    file["northing"] = np.array([1.0, 2])
    for name in ("easting", "northing"):
        file[name].make_scale(name)
        file[name].attrs["units"] = np.bytes_("m")
    for name, unit in (("upward", "m"), ("gz", "mGal"), ("gz_sigma", "mGal"), ("gxz", "Eotvos"), ("gxz_sigma", "Eotvos")):
        data = file.create_dataset(name, data=np.arange(1.0, 7).reshape(2, 3))
        data.attrs["units"] = np.bytes_(unit)
        data.attrs["axes"] = np.bytes_("z_down")
        data.dims[0].attach_scale(file["northing"])
        data.dims[1].attach_scale(file["easting"])


def observed_stations(file):
    for name in ("x", "y", "z", "gz"):
        file[name] = np.arange(1.0, 4)


# of the case in fuzz_hdf5.cpp; checksums as the program writes them
DEPENDS_ON = """version of the format: 1
fields: potential
axes: z_down
gravitational constant: 6.6743e-11
cells: 1570bb085e9320fe8c0cab1afd60a9c5
points: 722f72dc149071f788ad60f399ae4f9d
sensitivity.precision: double
execution.precision: double
execution.kernel: auto
execution.method: direct
"""


def sensitivities(file):
    file["G"] = np.array([[[1.0, 2], [3, 4]]])
    file["row_checksums"] = np.array([[2317509094689617201, -6967715753485374508]])
    file["model"] = np.array([5.0, 6])
    file["model"].attrs["hash"] = np.bytes_("0" * 32)
    file.attrs["hash"] = np.bytes_("b1afefd47497558eb5166f9030187ade")
    file.attrs["depends_on"] = np.bytes_(DEPENDS_ON)


for letter, fill in [("s", sensitivities), ("p", prisms), ("d", density), ("h", heights), ("g", heights), ("t", heights),
                     ("o", observed), ("r", observed_stations), ("x", kinds)]:
    keep("hdf5", f"{letter}-{fill.__name__}.h5", letter.encode() + hdf5(fill))
keep("hdf5", "d-packed.h5", b"d" + hdf5(packed_density))
keep("hdf5", "d-axes.h5", b"d" + hdf5(density_axes))
# no checksums in the headers of this one, all of them in that
keep("hdf5", "p-latest.h5", b"p" + hdf5(prisms, libver="latest"))
keep("hdf5", "x-tracked.h5", b"x" + hdf5(kinds, track_order=True))
keep("hdf5", "d-classic.nc", b"d" + HEIGHTS)


def result(file):
    file["easting"] = np.array([1.0, 2, 3])
    file["northing"] = np.array([1.0, 2])
    file["upward"] = np.arange(1.0, 7).reshape(2, 3)
    for name in ("potential", "gz"):
        file[name] = np.arange(1.0, 7).reshape(2, 3)
        file[name].attrs["units"] = np.bytes_("mGal")
    file["gz"][0, 1] = np.nan


def stations(file):
    for name in ("easting", "northing", "upward", "gxz"):
        file[name] = np.arange(1.0, 4)


keep("compare", "a-result.h5", b"a" + hdf5(result))
keep("compare", "b-result.h5", b"b" + hdf5(result, libver="latest"))
keep("compare", "s-stations.h5", b"s" + hdf5(stations))

# ---- checkpoints: see fuzz_checkpoint.cpp


def run_file(number, method=b"direct"):
    """A file of a run that claims to be whole: its checksums are not."""
    content = bytes(8 * 50)
    header = b"\x89PFcheckpoint\r\n\x1a" + struct.pack("<4q", 8, number, 42, 7)
    for length in (0 if number > 0 else 80, 160, len(content) - (160 if number > 0 else 240)):
        header += struct.pack("<3q", length, 0, 0)
    return header + method.ljust(16, b"\0") + bytes(16) + content


keep("checkpoint", "file", b"f" + run_file(0))
keep("checkpoint", "files", b"f" + run_file(0) + b"<rank>" + run_file(1))


def inversion_state(n_cells, n_rows, phase="samples"):
    """Integers and doubles of an inversion's checkpoint."""
    integers, doubles = [], []

    def words(text):
        integers.extend([len(text), *text.encode()])

    def reals(n, first):
        integers.append(n)
        doubles.extend(first + i for i in range(n))

    words(phase)
    integers.append(n_rows)
    for _ in range(n_rows):
        words("cool")
        integers.append(20)
        doubles.extend([1e-8, 10, 1, 1e9, -1, 1, 0.5])
    integers.extend([1, 1])
    reals(n_cells, 1)
    doubles.append(1e-8)
    words("why")
    integers.append(20)
    doubles.append(0.5)
    integers.append(n_rows)
    for row in range(n_rows):
        reals(n_cells, row)
    integers.append(2)
    for first in (1, 3):
        reals(2, first)
    reals(n_cells, 2)
    for first in (0, 4):
        reals(4, first)
    integers.append(3)
    doubles.append(1e9)
    integers.append(3)
    for first in (3, 4, 5):
        reals(n_cells, first)
    integers.append(5)
    reals(n_cells, 6)
    doubles.extend([1, 1])
    reals(0, 0)
    return integers, doubles


def inversion(integers, doubles):
    return b"i" + bytes([len(integers)]) + struct.pack(f"<{len(integers)}q{len(doubles)}d", *integers, *doubles)


INTEGERS, DOUBLES = inversion_state(2, 2)
keep("checkpoint", "inversion", inversion(INTEGERS, DOUBLES))
keep("checkpoint", "inversion_start", inversion(*inversion_state(1, 0, "cool")))
keep("checkpoint", "inversion_cut", inversion(INTEGERS[:20], DOUBLES))
keep("checkpoint", "inversion_few", inversion(INTEGERS, DOUBLES[:20]))
keep("checkpoint", "inversion_longer", inversion([*INTEGERS, 0], [*DOUBLES, 0]))
keep("checkpoint", "inversion_huge", inversion([1 << 62, *INTEGERS[1:]], DOUBLES))
keep("checkpoint", "inversion_negative", inversion([-1, *INTEGERS[1:]], DOUBLES))
keep("checkpoint", "inversion_file", b"f" + run_file(0, b"inversion"))
