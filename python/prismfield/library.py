# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The library behind the package: its C ABI (include/prismfield/prismfield.h) by ctypes, errors as exceptions."""

from __future__ import annotations

import ctypes as ct
import functools
import os
import pathlib
import signal
import threading

# that of `signal` makes an enumeration's member of what it finds, in 2.6 us
from _signal import getsignal  # type: ignore[import-not-found, unused-ignore]
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

import prismfield

Array = npt.NDArray[np.float64]
#: Called with the part that is done, 0 to 1.
Progress = Callable[[float], object]


class InputError(ValueError):
    """An argument is wrong; the text names it and the remedy."""


class RunError(RuntimeError):
    """It could not be computed: no memory, no device, or the process was forked after the first computation."""


class SingularPointWarning(UserWarning):
    """Points lie on edges or corners of prisms, where the gradient tensor and magnetic fields have no value; their
    finite part is returned."""


NVIDIA = "a driver of NVIDIA's"
# What a machine needs for each library that may be there, the one to take first.
LEVELS: dict[str, frozenset[str]] = {
    "cuda": frozenset({NVIDIA}),
    # built for this machine
    "native": frozenset(),
    "avx512": frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}),
    "avx2": frozenset({"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}),
    "scalar": frozenset(),
}
ABI_VERSION = 4


def machine_flags() -> frozenset[str]:
    """What /proc/cpuinfo says of the first processor, and whether a driver of NVIDIA's runs."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        flags = next((line for line in lines if line.startswith("flags")), "")
    driver = {NVIDIA} if os.path.exists("/dev/nvidiactl") else set()
    return frozenset(flags.partition(":")[2].split()) | driver


def library_file(folder: pathlib.Path, asked: str | None, flags: frozenset[str]) -> pathlib.Path:
    """The library for a machine: the first that it can run, or that of the level that PRISMFIELD_CPU names.

    ImportError for a level that is unknown, not there, or not this machine's.
    """
    if asked is not None and asked not in LEVELS:
        raise ImportError(f"PRISMFIELD_CPU is {asked!r}; levels are {', '.join(LEVELS)}")
    if asked is not None and not LEVELS[asked] <= flags:
        lacks = ", ".join(sorted(LEVELS[asked] - flags))
        raise ImportError(f"PRISMFIELD_CPU asks for {asked}, but this machine lacks {lacks}")
    for level, needs in LEVELS.items():
        path = folder / f"libprismfield_{level}.so"
        if needs <= flags and path.exists() and asked in (None, level):
            return path
    raise ImportError(
        f"{folder} has no library of prismfield for {asked or 'this machine'}: install the package by pip, or let "
        "PRISMFIELD_LIBRARY name a libprismfield.so"
    )


class Prisms(ct.Structure):
    """pf_prisms"""

    _fields_ = [
        ("bounds", ct.c_void_p), ("density", ct.c_void_p), ("n", ct.c_int64), ("magnetization", ct.c_void_p * 3),
        ("susceptibility", ct.c_void_p),
    ]  # fmt: skip


class Points(ct.Structure):
    """pf_points"""

    _fields_ = [("easting", ct.c_void_p), ("northing", ct.c_void_p), ("upward", ct.c_void_p), ("n", ct.c_int64)]


class Run(ct.Structure):
    """pf_run"""

    _fields_ = [
        ("n_singular", ct.c_int64), ("n_inside", ct.c_int64), ("pairs", ct.c_int64), ("seconds", ct.c_double),
        ("n_checked", ct.c_int64), ("error", ct.c_double), ("repeats", ct.c_int64),
    ]  # fmt: skip


class CellArrays(ct.Structure):
    """pf_cells"""

    _fields_ = [
        ("edges", ct.c_void_p * 3), ("counts", ct.c_int64 * 3), ("active", ct.c_void_p), ("n_active", ct.c_int64),
    ]  # fmt: skip


class DataArrays(ct.Structure):
    """pf_data"""

    _fields_ = [
        ("name", ct.c_char_p), ("points", Points), ("fields", ct.c_void_p), ("n_fields", ct.c_int),
        ("values", ct.c_void_p), ("sigma", ct.c_void_p),
    ]  # fmt: skip


class StartModel(ct.Structure):
    """pf_start_model"""

    _fields_ = [(name, ct.c_void_p) for name in ("reference", "start", "lower", "upper", "cell_weights")]


_Progress = ct.CFUNCTYPE(ct.c_int, ct.c_double, ct.c_void_p)


def load(path: pathlib.Path) -> ct.CDLL:
    """Opens a library, so that nothing of it is seen by other packages, and says what its functions take."""
    try:
        lib = ct.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise ImportError(str(error)) from None
    if lib.pf_abi_version() != ABI_VERSION:
        age = "older" if lib.pf_abi_version() < ABI_VERSION else "newer"
        raise ImportError(f"{path} is {age} than the package prismfield: build or install both from one version")
    text, pointer, integer, number = ct.c_char_p, ct.c_void_p, ct.c_int64, ct.c_double
    fields = [pointer, ct.c_int]
    for name, result, arguments in (
        ("pf_version", text, []),
        ("pf_message", text, []),
        ("pf_spaces", text, []),
        ("pf_start", ct.c_int, [ct.c_int]),
        ("pf_threads", ct.c_int, []),
        ("pf_n_fields", ct.c_int, []),
        ("pf_field_name", text, [ct.c_int]),
        ("pf_field_unit", text, [ct.c_int]),
        ("pf_field_scale", number, [ct.c_int]),
        ("pf_field_is_odd_in_z", ct.c_int, [ct.c_int]),
        ("pf_settings_new", pointer, []),
        ("pf_settings_delete", None, [pointer]),
        ("pf_set_numbers", ct.c_int, [pointer, text, pointer, integer]),
        ("pf_set_text", ct.c_int, [pointer, text, text]),
        ("pf_set_progress", None, [pointer, _Progress, pointer]),
        ("pf_set_interruptible", None, [ct.c_int]),
        ("pf_gravity", number, [ct.c_int, *[number] * 10]),
        ("pf_magnetic", None, [*[number] * 12, pointer]),
        ("pf_magnetic_gradient", number, [ct.c_int, *[number] * 12]),
        ("pf_forward", ct.c_int, [pointer, pointer, *fields, pointer, pointer, pointer, pointer]),
        ("pf_operator_new", ct.c_int, [pointer, pointer, *fields, pointer, pointer]),
        ("pf_operator_delete", None, [pointer]),
        ("pf_operator_bytes", integer, [pointer]),
        ("pf_operator_storage", text, [pointer]),
        ("pf_operator_space", text, [pointer]),
        ("pf_operator_apply", ct.c_int, [pointer, pointer, pointer, integer]),
        ("pf_operator_apply_transpose", ct.c_int, [pointer, pointer, pointer, integer]),
        ("pf_operator_diagonal", ct.c_int, [pointer, pointer, pointer, integer]),
        ("pf_operator_entries", ct.c_int, [pointer, integer, integer, pointer]),
        ("pf_invert", ct.c_int, [pointer, pointer, ct.c_int, pointer, pointer, pointer]),
        ("pf_inversion_delete", None, [pointer]),
        ("pf_inversion_on_target", ct.c_int, [pointer]),
        ("pf_inversion_message", text, [pointer]),
        ("pf_inversion_values", integer, [pointer, text, pointer]),
    ):
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise ImportError(
                f"{path} is older than the package prismfield and lacks {name}: build or install both from one version"
            ) from None
        function.restype, function.argtypes = result, arguments
    return lib


def _path() -> pathlib.Path:
    named = os.environ.get("PRISMFIELD_LIBRARY")
    if named:
        return pathlib.Path(named)
    # `pip install -e` leaves this file in the clone, and the libraries among the packages
    folders = [pathlib.Path(folder) for folder in prismfield.__path__]
    folder = next((folder for folder in folders if any(folder.glob("libprismfield_*.so"))), folders[0])
    return library_file(folder, os.environ.get("PRISMFIELD_CPU"), machine_flags())


lib = load(_path())
#: Names of the fields, in the library's order.
FIELDS: tuple[str, ...] = tuple(lib.pf_field_name(f).decode() for f in range(lib.pf_n_fields()))
#: Of each field the unit in which users read it, and this unit per SI unit.
UNITS: dict[str, tuple[str, float]] = {
    name: (lib.pf_field_unit(f).decode(), lib.pf_field_scale(f)) for f, name in enumerate(FIELDS)
}
#: Fields whose sign turns with the direction of z.
ODD_IN_Z = frozenset(name for f, name in enumerate(FIELDS) if lib.pf_field_is_odd_in_z(f))
#: Execution spaces that the library has, the default one first.
SPACES: tuple[str, ...] = tuple(lib.pf_spaces().decode().split())
#: Version of the library.
version: str = lib.pf_version().decode()


#: mu0, N A-2, CODATA 2018: the library's.
VACUUM_PERMEABILITY = 1.25663706212e-6
#: Fields that have values on edges of prisms.
REGULAR = frozenset(("potential", "gx", "gy", "gz"))


# Keys of the library that are arguments of every function here that sets them.
_ARGUMENTS = {"magnetic.inducing_field": "inducing_field", "inversion.unknown": "unknown"}


def check(code: int) -> None:
    """Raises what a code of the library stands for."""
    if code == 0:
        return
    if code == 3:
        raise KeyboardInterrupt
    errors: dict[int, type[Exception]] = {1: InputError, 2: RunError}
    message = lib.pf_message().decode()
    for key, argument in _ARGUMENTS.items():
        message = message.replace(key, argument)
    raise errors.get(code, SystemError)(message)


def start(threads: int = 0) -> None:
    """Starts the library with so many threads, 0: OMP_NUM_THREADS, else all cores of this process.

    Otherwise the first large computation does. RunError in a process that was forked after the start, InputError for
    another number than that of the start.
    """
    if not 0 <= threads < 2**31:
        raise InputError(f"threads: is {threads}; a number of threads, or 0, is needed")
    check(lib.pf_start(threads))


def on_host(name: str, values: npt.ArrayLike) -> npt.NDArray[np.generic]:
    """Real numbers of any library as NumPy's, without a copy where they are on the host. InputError."""
    try:
        if hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray):
            values = _from_other_library(values)
        given = np.asarray(values)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}") from None
    if _is_masked(values):
        raise InputError(f"{name}: has masked values")
    if given.dtype.kind not in "biuf":
        raise InputError(f"{name}: has values of type {given.dtype}; real numbers are needed")
    return given


def _is_masked(values: object) -> bool:
    """Whether values of an array, or of arrays in lists, are masked."""
    if isinstance(values, (list, tuple)):
        return any(_is_masked(one) for one in values if not isinstance(one, (float, int)))
    return np.ma.is_masked(values)


def array(name: str, values: npt.ArrayLike, *shape: int | None, allowed: str = "finite") -> Array:
    """Float64 values in C order, copied only where they are not; None in the shape: any length. InputError.

    allowed: "finite" values, "infinite" ones too, or "any", where the library itself looks for NaN.
    """
    made = np.ascontiguousarray(on_host(name, values), dtype=np.float64)
    if made.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, made.shape)):
        wanted = ", ".join("n" if n is None else str(n) for n in shape)
        raise InputError(f"{name}: has the shape {made.shape}, ({wanted}{',' if len(shape) == 1 else ''}) is needed")
    if allowed == "any":
        return made
    is_good = ~np.isnan(made) if allowed == "infinite" else np.isfinite(made)
    if not is_good.all():
        raise InputError(f"{name}: number {np.argmin(is_good.ravel())} is {made.ravel()[np.argmin(is_good.ravel())]}")
    return made


def _from_other_library(values: object) -> npt.ArrayLike:
    """An array of another library: its own memory where that is the host's, a copy of a device's."""
    for method in ("get", "cpu"):
        # CuPy's and PyTorch's way from a device
        if getattr(values, "is_cuda", True) and hasattr(values, method) and hasattr(values, "__cuda_array_interface__"):
            values = getattr(values, method)()
            break
    # __array__ first: DLPack loses the sign of a tensor of PyTorch whose negative bit is set
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return np.from_dlpack(values)  # type: ignore[arg-type, no-any-return, unused-ignore]


class Fields:
    """Fields that are asked for: as the library wants them, its numbers rising, and as the caller does."""

    def __init__(self, fields: str | Iterable[str]) -> None:
        self.is_one = isinstance(fields, str)
        self.names = [fields] if isinstance(fields, str) else list(fields)
        for name in self.names:
            if name not in FIELDS:
                raise InputError(f"fields: {name!r} is not a field; fields are {', '.join(FIELDS)}")
        if not self.names:
            raise InputError("fields: at least one is needed")
        if len(set(self.names)) < len(self.names):
            raise InputError("fields: each may be named once")
        rising = sorted(FIELDS.index(name) for name in self.names)
        self.numbers = (ct.c_int * len(rising))(*rising)
        self.n = len(rising)
        #: which of the library's rows each field is; None: each its own
        self.places = [rising.index(FIELDS.index(name)) for name in self.names]
        self.in_order = self.places == list(range(self.n))

    def factors(self, units: str, axes: str) -> Array:
        """From SI and z up to a caller's units and axes, in the library's order."""
        if units not in ("SI", "mGal", "nT"):
            raise InputError(f"units: {units!r}; 'SI', or 'mGal' or 'nT' (mGal, Eotvos, nT and nT/m) is needed")
        if axes not in ("z_up", "z_down"):
            raise InputError(f"axes: {axes!r}; 'z_up' or 'z_down' is needed")
        names = [FIELDS[number] for number in self.numbers]
        scale = [1.0 if units == "SI" else UNITS[name][1] for name in names]
        return np.array([-s if axes == "z_down" and name in ODD_IN_Z else s for s, name in zip(scale, names)])


class Settings:
    """pf_settings of calls: keys of the program's cases, numbers or words; what is None is left out."""

    def __init__(self, keys: Mapping[str, object], progress: Progress | None = None) -> None:
        self.handle = lib.pf_settings_new()
        self._raised: list[BaseException] = []
        for key, value in keys.items():
            if value is None:
                continue
            if isinstance(value, str):
                check(lib.pf_set_text(self.handle, key.encode(), value.encode()))
            else:
                numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
                check(lib.pf_set_numbers(self.handle, key.encode(), pointer(numbers), numbers.size))
        if progress is not None:
            told = progress
            self._progress = _Progress(lambda done, _: self._tell(told, done))
            lib.pf_set_progress(self.handle, self._progress, None)

    def _tell(self, progress: Progress, done: float) -> int:
        try:
            progress(done)
            return 0
        except BaseException as error:
            self._raised.append(error)
            return 1

    def raise_told(self) -> None:
        """Raises what the progress function raised."""
        if self._raised:
            raise self._raised.pop()

    def __del__(self, delete: Callable[[int], None] = lib.pf_settings_delete) -> None:
        # kept: of this module nothing may be there at the interpreter's end
        if getattr(self, "handle", None):
            delete(self.handle)


_SIGINT = int(signal.SIGINT)
_is_interruptible = False


def compute(function: Callable[..., int], *arguments: object, settings: Settings | None = None) -> None:
    """Calls a function of the library, which Ctrl-C stops; raises its errors and those of a progress function."""
    global _is_interruptible
    if threading.current_thread() is threading.main_thread():
        # Python's own handler does not run inside of C: there SIGINT sets a flag, at which the call ends
        wanted = getsignal(_SIGINT) is signal.default_int_handler
        if wanted != _is_interruptible:
            lib.pf_set_interruptible(wanted)
            _is_interruptible = wanted
    code = function(*arguments)
    if settings is not None:
        settings.raise_told()
    check(code)


def pointer(made: npt.NDArray[np.generic]) -> int:
    """Where an array's values lie: what .ctypes.data gives, in a third of the time."""
    return int(made.__array_interface__["data"][0])


def prism_rows(
    prisms: npt.ArrayLike,
    *,
    density: npt.ArrayLike | None = None,
    magnetization: npt.ArrayLike | None = None,
    susceptibility: npt.ArrayLike | None = None,
    inducing_field: npt.ArrayLike | None = None,
) -> tuple[Prisms, tuple[Array | None, ...]]:
    """Prisms for the library, and the arrays that have to live as long; arguments are those of forward()."""
    bounds = array("prisms", prisms, None, 6, allowed="any")
    n = len(bounds)
    made = Prisms(pointer(bounds), None, n)
    weights = remanent = in_field = None

    def of_each(name: str, values: npt.ArrayLike) -> Array:
        given = on_host(name, values)
        return array(name, given if given.ndim else np.full(n, given), n, allowed="any")

    if density is not None:
        weights = of_each("density", density)
        made.density = pointer(weights)
    if magnetization is not None:
        given = on_host("magnetization", magnetization)
        rows = array("magnetization", np.tile(given, (n, 1)) if given.ndim == 1 else given, n, 3, allowed="any")
        remanent = np.ascontiguousarray(rows.T)
        first = pointer(remanent)
        made.magnetization[:] = [first, first + 8 * n, first + 16 * n]
    if susceptibility is not None:
        if inducing_field is None:
            raise InputError("susceptibility: needs inducing_field=(inclination, declination, intensity in nT)")
        in_field = of_each("susceptibility", susceptibility)
        made.susceptibility = pointer(in_field)
    return made, (bounds, weights, remanent, in_field)


@functools.lru_cache(maxsize=256)
def known_fields(fields: str | tuple[str, ...]) -> Fields:
    """Fields, whose names are looked up once."""
    return Fields(fields)


def point_columns(points: npt.ArrayLike | tuple[npt.ArrayLike, ...]) -> tuple[Points, Array, tuple[int, ...]]:
    """Points for the library, the array that has to live as long, and the shape of what is computed at them.

    points: (m, 3), or a tuple of easting, northing and upward, which are broadcast together.
    """
    if isinstance(points, tuple):
        if len(points) != 3:
            raise InputError(f"points: a tuple of {len(points)}; easting, northing and upward are needed")
        given = [on_host("points", column) for column in points]
        try:
            columns = np.broadcast_arrays(*given)
        except ValueError as error:
            raise InputError(f"points: {error}") from None
        shape = columns[0].shape
        held = array("points", np.stack([column.ravel() for column in columns]), 3, None, allowed="any")
    else:
        held = np.ascontiguousarray(array("points", points, None, 3, allowed="any").T)
        shape = held.shape[1:]
    first, n = pointer(held), held.shape[1]
    return Points(first, first + 8 * n, first + 16 * n, n), held, shape
