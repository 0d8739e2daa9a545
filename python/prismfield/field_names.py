# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Names of fields: their order and symbols. Fields that are sums of the native ones need no line here."""

import re

VECTOR = ("gx", "gy", "gz")
TENSOR = ("gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
NATIVE = ("potential", *VECTOR, *TENSOR)
FLUX_DENSITY = ("bx", "by", "bz")
MAGNETIC = (*FLUX_DENSITY, "tmi", "tmi_exact", "amplitude")
SYMBOLS = {"potential": "$V$", "tmi": r"$\Delta T$", "tmi_exact": r"$\Delta T$ exact", "amplitude": "$|B|$"}
# units as texts name them
UNITS = {"Eotvos": "Eötvös", "1e-9 s-2": "Eötvös", "m2 s-2": "m² s⁻²"}


def is_field(name):
    return name == "potential" or name in MAGNETIC or re.fullmatch("g[a-z]{1,2}", name) is not None


def in_order(names):
    """Those of the names that fields have, the native ones of gravity first, then magnetic ones."""
    names, known = set(filter(is_field, names)), (*NATIVE, *MAGNETIC)
    return [name for name in known if name in names] + sorted(names - set(known))


def symbol_of(name):
    letters = name[1:] if len(name) == 2 else f"{{{name[1:]}}}"
    return SYMBOLS.get(name, f"${name[0].upper() if name in FLUX_DENSITY else name[0]}_{letters}$")
