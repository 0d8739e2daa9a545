# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Gravity and magnetic fields of prisms, operators and inversions by the prismfield library; figures and studies.

The library is loaded with the first of its names. Figures and studies do without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prismfield.computing import Operator, forward
    from prismfield.inversion import Cells, Data, Model, invert
    from prismfield.library import FIELDS, InputError, RunError, SingularPointWarning, start, version
    from prismfield.results import open as open
    from prismfield.results import plot, read

# without `open`, which is a name of Python's own
__all__ = [
    "FIELDS", "Cells", "Data", "InputError", "Model", "Operator", "RunError", "SingularPointWarning", "forward",
    "invert", "plot", "read", "start", "version",
]  # fmt: skip

_MODULES = {
    "computing": ("Operator", "forward"),
    "inversion": ("Cells", "Data", "Model", "invert"),
    "library": ("FIELDS", "InputError", "RunError", "SingularPointWarning", "start", "version"),
    "results": ("open", "plot", "read"),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            # kept: __getattr__ is asked for what is not there
            globals()[name] = found = getattr(importlib.import_module(f"prismfield.{module}"), name)
            return found
    raise AttributeError(f"module 'prismfield' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
