# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Rooflines: how fast points are, compared with the arithmetic and the memory of their machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isnan, nan
from pathlib import Path

from ..field_names import NATIVE, TENSOR, VECTOR
from .study_data import FORMS, Roofline, SpacePeak, StudyPoint

# the sets of fields for which kernels are compiled
FIELD_SETS = {
    "gz": ("gz",),
    "vector": VECTOR,
    "tensor": TENSOR,
    "vector_tensor": VECTOR + TENSOR,
    "all": NATIVE,
}

# By precision, field set and form: floating-point operations of one pair in double and in float, counted by
# tests/test_operation_table.cpp with the source of the kernels (docs/numerics.md, Operations of a pair).
OPERATIONS: dict[str, dict[str, list[tuple[int, int]]]] = json.loads(
    Path(__file__).with_name("operations.json").read_text(encoding="utf-8")
)


def smallest_set(fields: Iterable[str]) -> str:
    """The set of which a run of these fields takes the kernel."""
    # a sum of native fields has the name of such but for its letters
    wanted = {name if name in NATIVE else {2: "gx", 3: "gxx"}.get(len(name), "potential") for name in fields}
    return next((name for name, own in FIELD_SETS.items() if wanted <= set(own)), "all")


def operations_of_pair(form: str, field_set: str, precision: str) -> tuple[float, float]:
    """In double and in float; NaN for another precision than double, mixed and single.

    Sums, products, quotients and roots count one, a fused multiply-add two; comparisons, choices, signs and
    conversions none.
    """
    if precision not in OPERATIONS:
        return nan, nan
    return tuple(OPERATIONS[precision][field_set][FORMS.index(form)])


def bytes_of_pair(field_set: str, precision: str, batch: int) -> float:
    """Bytes of one pair that the kernel reads and writes beyond a batch of prisms, which stays in the nearest cache.

    For each point its coordinates, and its fields there and back, once per batch. Caches can only make it less.
    """
    if precision not in OPERATIONS or batch <= 0:
        return nan
    # coordinates and sums are floats in single precision only
    return (4 if precision == "single" else 8) * (3 + 2 * len(FIELD_SETS[field_set])) / batch


def roofline_of(point: StudyPoint, field_set: str, peak: SpacePeak | None) -> Roofline:
    """Where a point stands on the roofline of its machine.

    `peak`: of its space, None when it was not measured; a peak measured on more threads than the point has counts in
    proportion.
    """
    if min(point.pairs_by_form.values()) < 0:
        return Roofline()
    in_double = in_float = 0.0
    for form, pairs in point.pairs_by_form.items():
        double, single = operations_of_pair(form, field_set, point.precision)
        in_double += double * pairs
        in_float += single * pairs
    seconds = point.field_seconds.median.value
    operations = in_double + in_float
    intensity = operations / (bytes_of_pair(field_set, point.precision, point.batch) * point.pairs)
    roofline = Roofline(in_double, in_float, operations / seconds, intensity=intensity)
    if peak is None or point.workers <= 0:
        return roofline
    # every device has its own peak; threads share that of their machine
    share = point.workers if point.devices > 0 else min(1.0, point.workers / peak.threads)
    least_seconds = 0.0
    if in_double > 0:
        least_seconds += in_double / (peak.peak_double * share)
    if in_float > 0:
        least_seconds += in_float / (peak.peak_single * share)
    roofline.fraction_of_peak = least_seconds / seconds
    # arithmetic is the bound where memory would allow more than it
    bytes_seconds = operations / intensity / (peak.bandwidth * share)
    if not isnan(least_seconds) and not isnan(bytes_seconds):
        roofline.bound = "memory" if least_seconds < bytes_seconds else "arithmetic"
    return roofline
