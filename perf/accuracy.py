#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Errors of the seven spheres in every precision, with the papers' kernel and with prismfield's own.

    accuracy.py build/openmp/bin/prismfield
    accuracy.py build/cuda/bin/prismfield --set execution.space=cuda --full

The reference is prismfield's own kernel in double precision on the serial space. Columns: kernel and precision on the
space under test against it; `corners` also in double against itself on the serial space, which is the error that the
papers measured: what the parallel order of the sums changes, not what the formula loses. RMS is equation 12 of
Couder-Castaneda et al. 2013, sqrt(sum of squared differences / points); mGal for gx, gy, gz, Eotvos for the others.

The reference itself is checked at --extended points (20) against sums of eight corners in 80-bit numbers.

The corners kernel costs about 450 ns per pair on one core, so by default the fields are computed on 30 x 20 points over
the same area; --full takes the case's 150 x 100. Prints Markdown. Needs numpy, h5py or netCDF4, and
PyYAML for --extended.
"""

import argparse
import pathlib
import sys
import tempfile

import prismfield_runs as runs

CASE = pathlib.Path(__file__).resolve().parent.parent / "inputs" / "seven_spheres.yaml"
SUBSET_EASTING = [0, 22000, 30]
SUBSET_NORTHING = [0, 22000, 20]
SUBSET = [f"observations.grid.easting={SUBSET_EASTING}", f"observations.grid.northing={SUBSET_NORTHING}"]
CONSTANT = 6.6743e-11
# from SI units, z up, to those of a result, z down
FIELD_FACTORS = (1e5, 1e5, -1e5, 1e9, 1e9, 1e9, 1e9, -1e9, -1e9)
PRECISIONS = ("double", "mixed", "single")
# Couder-Castaneda et al. 2013, Tables 1 to 4: double, single
PAPER = {
    "gx": (1.7107e-9, 0.8929),
    "gy": (1.1162e-9, 0.9275),
    "gz": (2.0582e-9, 1.3080),
    "gxx": (7.7994e-11, 0.0385),
    "gyy": (8.8905e-11, 0.0392),
    "gzz": (4.6290e-11, 0.0310),
    "gxy": (5.3476e-11, 0.0743),
    "gxz": (9.2797e-10, 0.3085),
    "gyz": (2.7225e-10, 0.3148),
}
# the square root of the papers' 15,000 points
ROOT_OF_POINTS = 15000**0.5


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prismfield", type=pathlib.Path, help="the program")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--threads", type=int, help="OMP_NUM_THREADS of the runs")
    parser.add_argument("--full", action="store_true", help="the case's own 150 x 100 points")
    parser.add_argument("--extended", type=int, default=20, metavar="POINTS", help="0: leave that check out")
    return parser.parse_args()


def extended_fields(prisms, densities, point, constant):
    """The nine fields at a point in mGal and Eotvos, z down, as sums of eight corners in numpy's longdouble."""
    import numpy as np

    def log(a, r, w2):
        return np.log(np.where(a > 0, a + r, w2 / (r + np.abs(a))))

    extended = np.longdouble
    faces = [[prisms[:, 2 * d + side].astype(extended) - extended(point[d]) for side in (0, 1)] for d in range(3)]
    # the corners of each prism first: they are large and nearly cancel
    sums = np.zeros((len(FIELD_FACTORS), len(prisms)), extended)
    for i, x in enumerate(faces[0]):
        for j, y in enumerate(faces[1]):
            for k, z in enumerate(faces[2]):
                sign = extended(1 if (i + j + k) % 2 == 1 else -1)
                xx, yy, zz = x * x, y * y, z * z
                r = np.sqrt(xx + yy + zz)
                lx, ly, lz = log(x, r, yy + zz), log(y, r, xx + zz), log(z, r, xx + yy)
                ax, ay, az = np.arctan(y * z / (x * r)), np.arctan(x * z / (y * r)), np.arctan(x * y / (z * r))
                sums[0] -= sign * (y * lz + z * ly - x * ax)
                sums[1] -= sign * (z * lx + x * lz - y * ay)
                sums[2] -= sign * (x * ly + y * lx - z * az)
                for field, value in enumerate((-ax, -ay, -az, lz, ly, lx)):
                    sums[3 + field] += sign * value
    return (sums * densities).sum(axis=1) * extended(constant) * np.array(FIELD_FACTORS, extended)


def check_reference(reference, n_points, full):
    """Prints the errors of the reference at random points."""
    import numpy as np

    if np.finfo(np.longdouble).eps > 1e-18:
        print("\nThe reference was not checked: this machine has no 80-bit numbers.")
        return
    prisms, densities, grid = runs.read_case(CASE)
    if not full:
        plane = np.meshgrid(np.linspace(*SUBSET_EASTING), np.linspace(*SUBSET_NORTHING))
        grid = (*plane, np.full(plane[0].shape, grid[2][0, 0]))
    chosen = np.random.default_rng(1).choice(grid[0].size, min(n_points, grid[0].size), replace=False)
    points = np.stack([axis.ravel()[chosen] for axis in grid], axis=1)
    exact = np.stack([extended_fields(prisms, densities, point, CONSTANT) for point in points], axis=1)
    print(f"\nThe reference against 80-bit sums of eight corners at {len(points)} points\n")
    print("| field | RMS error | largest error | largest error / largest value |\n|---|---|---|---|")
    for field, row in zip(runs.FIELDS, exact):
        error = np.abs(reference[field].ravel()[chosen] - row)
        rms, largest, scale = np.sqrt(np.mean(error**2)), error.max(), np.abs(reference[field]).max()
        print(f"| {field} | {rms:.1e} | {largest:.1e} | {largest / scale:.1e} |")


def main():
    import numpy as np

    options = arguments()
    points = [] if options.full else SUBSET

    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "result.h5"

        def fields(kernel, precision, extra):
            settings = [f"execution.kernel={kernel}", f"execution.precision={precision}", "fields=[vector, tensor]"]
            settings += ["axes=z_down", f"gravitational_constant={CONSTANT}"]
            seen = runs.run(options.prismfield, CASE, points + settings + extra, output, options.threads)
            print(f"{kernel}, {precision}, {seen['space']}: {seen['field_seconds']:.1f} s", file=sys.stderr)
            return runs.read_result(output, runs.FIELDS)[0], seen

        serial = ["execution.space=serial"]
        reference, _ = fields("auto", "double", serial)
        serial_corners, _ = fields("corners", "double", serial)
        found = {}
        for kernel in ("corners", "auto"):
            for precision in PRECISIONS:
                found[kernel, precision], seen = fields(kernel, precision, options.settings)

    columns = [("corners double, itself in serial", found["corners", "double"], serial_corners)]
    columns += [(f"{kernel} {precision}", values, reference) for (kernel, precision), values in found.items()]
    measures = {
        "RMS": lambda d: float(np.sqrt(np.mean(d * d))),
        "Maximum": lambda d: float(np.abs(d).max()),
    }
    shape = reference["gz"].shape
    print(f"{seen['space']} on {seen['device']}, {seen['threads']} threads; {shape[1]} x {shape[0]} points")
    for measure, function in measures.items():
        heads = ["field", "largest value"] + [name for name, _, _ in columns]
        if measure == "RMS":
            heads += ["papers double", "papers single", "papers double / 122.5", "papers single / 122.5"]
        print(f"\n{measure} error, mGal and Eotvos\n\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        for field in runs.FIELDS:
            cells = [field, f"{np.abs(reference[field]).max():.3g}"]
            cells += [f"{function(values[field] - against[field]):.1e}" for _, values, against in columns]
            if measure == "RMS":
                cells += [f"{value:.1e}" for value in PAPER[field]]
                cells += [f"{value / ROOT_OF_POINTS:.1e}" for value in PAPER[field]]
            print("| " + " | ".join(cells) + " |")
    print(
        "\nThe papers' figures are those of their Tables 1 to 4, for densities that they do not print, so that only\n"
        "orders of magnitude compare. Their largest single-precision errors (gz 0.0566 mGal, gzz 0.0011 Eotvos) lie\n"
        "below these RMS errors, which is impossible: the tables are probably sqrt(sum of squares) without the 1/N of\n"
        "equation 12, hence the columns divided by sqrt(15,000) = 122.5."
    )
    if options.extended > 0:
        check_reference(reference, options.extended, options.full)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (runs.RunFailed, OSError, ImportError, ValueError) as error:
        sys.exit(f"accuracy.py: {error}")
