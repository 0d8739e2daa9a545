# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Names of fields: their order and symbols. Fields that are sums of the native ones need no line here."""

import re

VECTOR = ("gx", "gy", "gz")
TENSOR = ("gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
NATIVE = ("potential", *VECTOR, *TENSOR)
FLUX_DENSITY = ("bx", "by", "bz")
FLUX_GRADIENT = ("bxx", "byy", "bzz", "bxy", "bxz", "byz")
# of the magnetic fields, those without a direction of their own
ANOMALIES = {"tmi": r"$\Delta T$", "tmi_exact": r"$\Delta T_\mathrm{exact}$", "amplitude": "$|B|$"}
ANOMALY_GRADIENT = {f"tmi_{letter}": rf"$\partial_{letter} \Delta T$" for letter in "xyz"}
MAGNETIC = (*FLUX_DENSITY, *ANOMALIES, *FLUX_GRADIENT, *ANOMALY_GRADIENT)
# units as texts name them
UNITS = {"Eotvos": "Eötvös", "1e-9 s-2": "Eötvös", "m2 s-2": "m² s⁻²"}


def is_field(name):
    return name == "potential" or name in MAGNETIC or re.fullmatch("g[a-z]{1,2}", name) is not None


def in_order(names):
    """Those of the names that fields have: the native ones of gravity first, the magnetic ones last."""
    names = set(filter(is_field, names))
    others = sorted(names - {*NATIVE, *MAGNETIC})
    return [name for name in (*NATIVE, *others, *MAGNETIC) if name in names]


def symbol_of(name):
    if name in ANOMALIES or name in ANOMALY_GRADIENT:
        return (ANOMALIES | ANOMALY_GRADIENT)[name]
    letters = name[1:] if len(name) == 2 else f"{{{name[1:]}}}"
    return "$V$" if name == "potential" else f"${'B' if name in MAGNETIC else 'g'}_{letters}$"
