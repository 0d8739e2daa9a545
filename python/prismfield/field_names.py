# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Names of fields: their order and symbols. Fields that are sums of the native ones need no line here."""

import re

VECTOR = ("gx", "gy", "gz")
TENSOR = ("gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
NATIVE = ("potential", *VECTOR, *TENSOR)
# units as texts name them
UNITS = {"Eotvos": "Eötvös", "1e-9 s-2": "Eötvös", "m2 s-2": "m² s⁻²"}


def is_field(name):
    return name == "potential" or re.fullmatch("g[a-z]{1,2}", name) is not None


def in_order(names):
    """Those of the names that fields have, the native ones first."""
    names = set(filter(is_field, names))
    return [name for name in NATIVE if name in names] + sorted(names - set(NATIVE))


def symbol_of(name):
    letters = name[1:] if len(name) == 2 else f"{{{name[1:]}}}"
    return "$V$" if name == "potential" else f"$g_{letters}$"
