# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""How far this package's values are from those of the package whose place it takes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from prismfield.library import Array


def differences(title: str, compared: Mapping[str, tuple[Array, Array]], units: Mapping[str, str]) -> dict[str, float]:
    """Of each field the largest difference of two arrays, ours and theirs, relative to their largest value.

    Prints it as a table below the title.
    """
    print(f"{title}\n{'field':<10} {'unit':<7} {'largest':>11} {'difference':>11} {'relative':>9}")
    relative = {}
    for name, (ours, theirs) in compared.items():
        largest, difference = float(np.abs(theirs).max()), float(np.abs(ours - theirs).max())
        relative[name] = difference / largest
        print(f"{name:<10} {units[name]:<7} {largest:11.4e} {difference:11.1e} {relative[name]:9.1e}")
    return relative
