# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Opens prismfield results with the programs that users open them with, and checks that all see the same.

    check_openers.py RESULT.nc [RESULT.nc ...]
    check_openers.py --run PRISMFIELD CASE.yaml RESULT.nc     # makes the result first
    check_openers.py --models MODEL.h5 [MODEL.h5 ...]         # what inversions write

xarray with the netcdf4 and the h5netcdf engine, h5py, `ncdump -h` and `gmt grdinfo`. Exit codes: 0 all agree, 1 one
disagrees, 77 those that are installed agree and the others are named.
"""

import math
import shutil
import subprocess
import sys

FIELDS = {
    "potential": "m2 s-2",
    "gx": "mGal",
    "gy": "mGal",
    "gz": "mGal",
    "gxx": "1e-9 s-2",
    "gyy": "1e-9 s-2",
    "gzz": "1e-9 s-2",
    "gxy": "1e-9 s-2",
    "gxz": "1e-9 s-2",
    "gyz": "1e-9 s-2",
}
ROOT_ATTRIBUTES = ("Conventions", "title", "history", "source", "axes")
ROOT_NUMBERS = ("gravitational_constant", "singular_points", "points_inside")

failures = []
missing = []


def check(condition, message):
    if not condition:
        failures.append(message)


def run(*words):
    """Output of a program that must succeed without a word of complaint."""
    done = subprocess.run(words, capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    check(done.stderr.strip() == "", f"{' '.join(words)} complains: {done.stderr.strip()}")
    return done.stdout


def find_modules():
    modules = {}
    for name in ("numpy", "xarray", "netCDF4", "h5netcdf", "h5py"):
        try:
            modules[name] = __import__(name)
        except ImportError as error:
            missing.append(f"{name} ({error})")
    return modules


def check_dataset(dataset, engine, path, np):
    def where(what):
        return f"{path} by {engine}: {what}"

    fields = [name for name in FIELDS if name in dataset]
    check(fields, where("no field"))
    grid = "station" not in dataset.sizes
    dimensions = ("northing", "easting") if grid else ("station",)
    for name in ("easting", "northing", "upward"):
        check(name in dataset.coords, where(f"{name} is no coordinate"))
        check(dataset[name].attrs.get("units") == "m", where(f"units of {name}"))
        axis = {"easting": "X", "northing": "Y", "upward": None if grid else "Z"}[name]
        check(dataset[name].attrs.get("axis") == axis, where(f"axis of {name}"))
        check(dataset[name].dtype == np.float64, where(f"type of {name}"))
    check(dataset["upward"].dims == dimensions, where(f"upward lies on {dataset['upward'].dims}"))
    for name in fields:
        variable = dataset[name]
        check(variable.dims == dimensions, where(f"{name} lies on {variable.dims}"))
        check(variable.dtype == np.float64, where(f"{name} is {variable.dtype}"))
        check(variable.attrs.get("units") == FIELDS[name], where(f"{name} in {variable.attrs.get('units')!r}"))
        check(isinstance(variable.attrs.get("long_name"), str), where(f"long_name of {name}"))
        check(variable.attrs.get("axes") in ("z_down", "z_up"), where(f"axes of {name}"))
        if name + "_sigma" in dataset:
            check(dataset[name + "_sigma"].attrs.get("units") == FIELDS[name], where(f"units of {name}_sigma"))
    for name in ROOT_ATTRIBUTES:
        check(isinstance(dataset.attrs.get(name), str), where(f"attribute {name} is {dataset.attrs.get(name)!r}"))
    for name in ROOT_NUMBERS:
        check(np.ndim(dataset.attrs.get(name)) == 0 and name in dataset.attrs, where(f"attribute {name}"))
    check("case" in dataset.attrs or "case" in dataset, where("the case is missing"))
    return fields, grid


def check_by_python(path, modules):
    np, xr = modules.get("numpy"), modules.get("xarray")
    if np is None or xr is None:
        return
    seen = {}
    for engine, module in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")):
        if module not in modules:
            continue
        with xr.open_dataset(path, engine=engine) as dataset:
            dataset.load()
            fields, grid = check_dataset(dataset, engine, path, np)
            seen[engine] = dataset
        with xr.open_dataset(path, engine=engine, group="performance") as performance:
            check(isinstance(performance.attrs.get("space"), str), f"{path} by {engine}: performance.space")
            check(performance.attrs.get("pairs", -1) >= 0, f"{path} by {engine}: performance.pairs")
            if "rank_pairs" in performance:
                check(performance["rank_pairs"].dims == ("rank",), f"{path} by {engine}: rank_pairs")
    if len(seen) == 2:
        check(seen["netcdf4"].identical(seen["h5netcdf"]), f"{path}: the engines of xarray do not see the same")
    if seen and "h5py" in modules:
        dataset = next(iter(seen.values()))
        with modules["h5py"].File(path, "r") as raw:
            for name in dataset.variables:
                same = np.array_equal(raw[name][...], dataset[name].values)
                check(same or dataset[name].dtype.kind in "OSU", f"{path}: h5py reads other values of {name}")


def check_cells(dataset, where, np):
    """A model's root: cells with their edges, densities, NaN where there is no active cell."""
    names = [name for name in ("density", "density_sigma", "depth_of_investigation") if name in dataset]
    check(names[:1] == ["density"], where("no density"))
    for name in names:
        check(dataset[name].dims == ("upward", "northing", "easting"), where(f"{name} lies on {dataset[name].dims}"))
        check(isinstance(dataset[name].attrs.get("units"), str), where(f"units of {name}"))
        check(math.isnan(dataset[name].encoding.get("_FillValue", 0)), where(f"_FillValue of {name}"))
        active = int(np.isfinite(dataset[name].values).sum())
        check(active == dataset.attrs.get("active_cells"), where(f"{active} active cells in {name}"))
    for name in ("upward", "northing", "easting"):
        check(dataset[name].dims == (name,), where(f"{name} lies on {dataset[name].dims}"))
        check(dataset[name].attrs.get("units") == "m", where(f"units of {name}"))
        bounds = dataset[name + "_bounds"].values
        check(bounds.shape == (dataset.sizes[name], 2), where(f"bounds of {name}"))
        inside = np.all(bounds[:, 0] < dataset[name].values) and np.all(dataset[name].values < bounds[:, 1])
        check(inside and np.array_equal(bounds[1:, 0], bounds[:-1, 1]), where(f"{name} and its bounds"))
    for name in ROOT_ATTRIBUTES:
        check(isinstance(dataset.attrs.get(name), str), where(f"attribute {name} is {dataset.attrs.get(name)!r}"))


def check_convergence(dataset, where):
    for name in ("stage", "stage_name", "beta", "phi_d", "chi", "phi_m", "products", "minimum", "maximum", "seconds"):
        check(name in dataset and dataset[name].dims == ("iteration",), where(f"convergence: {name}"))
    meanings = dataset["stage"].attrs.get("flag_meanings", "").split()
    flags = [int(flag) for flag in dataset["stage"].attrs.get("flag_values", ())]
    check(flags == list(range(len(meanings))), where("flags of the stages"))
    words = [meanings[int(number)] for number in dataset["stage"].values]
    check(words == [str(word) for word in dataset["stage_name"].values], where(f"stages {words}"))


def check_data(dataset, where, np):
    """A data set of a model: each field with what the model gives."""
    fields = [name for name in FIELDS if name in dataset]
    check(fields, where("no field"))
    check(isinstance(dataset.attrs.get("name"), str), where("the set has no name"))
    dimensions = ("station",) if "station" in dataset.sizes else ("northing", "easting")
    for name in fields:
        for suffix in ("", "_sigma", "_predicted", "_residual"):
            unit = "1" if suffix == "_residual" else FIELDS[name]
            variable = dataset[name + suffix]
            check(variable.dims == dimensions, where(f"{name + suffix} lies on {variable.dims}"))
            check(variable.attrs.get("units") == unit, where(f"units of {name + suffix}"))
            check(set(variable.coords) == {"easting", "northing", "upward"}, where(f"coordinates of {name + suffix}"))
        residual = (dataset[name] - dataset[name + "_predicted"]) / dataset[name + "_sigma"]
        check(np.allclose(residual, dataset[name + "_residual"], rtol=1e-12, atol=1e-12), where(f"{name}_residual"))


def check_model(path, modules):
    np, xr = modules.get("numpy"), modules.get("xarray")
    if np is None or xr is None:
        return
    seen = {}
    for engine, module in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")):
        if module not in modules:
            continue

        def where(what):
            return f"{path} by {engine}: {what}"

        with xr.open_dataset(path, engine=engine) as dataset:
            check_cells(dataset.load(), where, np)
            groups = {"": dataset, **{f"data_{k + 1}": None for k in range(dataset.attrs.get("data_sets", 0))}}
        for name in (*list(groups)[1:], "convergence", "performance"):
            with xr.open_dataset(path, engine=engine, group=name) as dataset:
                groups[name] = dataset.load()
        for name in groups:
            if name.startswith("data_"):
                check_data(groups[name], lambda what: where(f"{name}: {what}"), np)
        check_convergence(groups["convergence"], where)
        check(isinstance(groups["performance"].attrs.get("space"), str), where("performance.space"))
        seen[engine] = groups
    if len(seen) == 2:
        for name, dataset in seen["netcdf4"].items():
            check(dataset.identical(seen["h5netcdf"][name]), f"{path}: xarray's engines differ in '{name}'")
    if "netCDF4" in modules:
        with modules["netCDF4"].Dataset(path) as raw:
            check(raw["density"].dimensions == ("upward", "northing", "easting"), f"{path} by netCDF4: density")
            check("convergence" in raw.groups, f"{path} by netCDF4: groups")
    if shutil.which("ncdump"):
        header = run("ncdump", "-h", path)
        check("double density(upward, northing, easting) ;" in header, f"{path}: ncdump does not show the density")
        check("density:_FillValue = NaN ;" in header, f"{path}: ncdump does not show the fill value")
        check("string stage_name(iteration) ;" in header, f"{path}: ncdump does not show the stages")


def header_names(path):
    """Names that `ncdump -h` must show, checked against its output."""
    header = run("ncdump", "-h", path)
    grid = "station = " not in header
    shape = "northing, easting" if grid else "station"
    found = [name for name in FIELDS if f"double {name}({shape}) ;" in header]
    check(found, f"{path}: ncdump shows no field on ({shape})")
    check(f"double upward({shape}) ;" in header, f"{path}: ncdump does not show upward")
    for name in found:
        check(f'{name}:units = "{FIELDS[name]}" ;' in header, f"{path}: ncdump does not show the units of {name}")
    conventions = "CF-1.8" if grid else "CF-1.6, CF-1.8"
    check(f':Conventions = "{conventions}" ;' in header, f"{path}: ncdump does not show Conventions")
    check("group: performance {" in header, f"{path}: ncdump does not show the group performance")
    return found, grid


def check_by_gmt(path, fields, np, xr):
    """GMT must see the grid, its coordinates and its range."""
    with xr.open_dataset(path) as dataset:
        dataset.load()
    if dataset.sizes["northing"] < 2 or dataset.sizes["easting"] < 2:
        return
    for name in fields:
        words = run("gmt", "grdinfo", "-C", "--FORMAT_FLOAT_OUT=%.17g", f"{path}?{name}").split("\t")
        if len(words) < 11:
            failures.append(f"{path}: gmt grdinfo says {words} of {name}")
            continue
        # the file's name, then the grid's frame, range, spacing and size
        west, east, south, north, low, high, _, _, columns, rows = (float(word) for word in words[1:11])
        expected = (
            dataset["easting"].values[0],
            dataset["easting"].values[-1],
            dataset["northing"].values[0],
            dataset["northing"].values[-1],
            float(dataset[name].min()),
            float(dataset[name].max()),
        )
        for seen, want in zip((west, east, south, north, low, high), expected):
            # GMT holds grids in single precision
            check(math.isclose(seen, want, rel_tol=1e-6, abs_tol=1e-30), f"{path}?{name}: gmt sees {seen}, not {want}")
        check((columns, rows) == (dataset.sizes["easting"], dataset.sizes["northing"]), f"{path}?{name}: gmt's shape")


def main(arguments):
    if arguments[:1] == ["--run"]:
        program, case, result = arguments[1:]
        run(program, "run", case, "--output", result, "--quiet", "--set", "output.figure=null")
        arguments = [result]
    modules = find_modules()
    models = arguments[:1] == ["--models"]
    arguments = arguments[models:]
    for path in arguments:
        if models:
            check_model(path, modules)
            continue
        check_by_python(path, modules)
        fields, grid = [], False
        if shutil.which("ncdump"):
            fields, grid = header_names(path)
        if shutil.which("gmt") and grid and "xarray" in modules:
            check_by_gmt(path, fields, modules["numpy"], modules["xarray"])
    for program in ("ncdump", "gmt"):
        if not shutil.which(program):
            missing.append(program)
    for failure in failures:
        print(f"disagrees: {failure}")
    if missing:
        print(f"not checked, because not installed: {', '.join(missing)}")
    if failures or not arguments:
        return 1
    return 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
