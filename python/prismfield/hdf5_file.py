# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The one way in to HDF5 files, netCDF-4 among them: one that opens other files, or never ends, is refused, as the
program refuses it."""

from __future__ import annotations

import os
from typing import Any

import h5py


def open_hdf5(path: str | os.PathLike[str]) -> h5py.File:
    """The file, for reading. OSError for one that is no HDF5 file, ValueError for one that is refused."""
    file = h5py.File(path, "r")
    try:
        _check(file, frozenset(), set())
    except BaseException:
        file.close()
        raise
    return file


def _check(group: Any, above: frozenset[int], seen: set[int]) -> None:
    """Everything has a hard link somewhere, so that soft links need no look."""
    address = h5py.h5o.get_info(group.id).addr
    if address in above:
        raise ValueError(f"the group {group.name} holds itself, and never ends: remove the link")
    if address in seen:
        return
    seen.add(address)
    for name in group:
        link, place = group.get(name, getlink=True), f"{group.name.rstrip('/')}/{name}"
        if isinstance(link, h5py.ExternalLink):
            raise ValueError(f"{place} lies in {link.filename}, which is not opened: put it into this file")
        if not isinstance(link, h5py.HardLink):
            continue
        member = group[name]
        if isinstance(member, h5py.Group):
            _check(member, above | {address}, seen)
        elif isinstance(member, h5py.Dataset):
            # before anything else is asked of it: HDF5 opens the other files for a mere shape
            made = member.id.get_create_plist()
            is_virtual = made.get_layout() == h5py.h5d.VIRTUAL
            if is_virtual or made.get_external_count() > 0:
                kind = "virtual dataset" if is_virtual else "external storage"
                raise ValueError(f"{place}: its values lie in other files ({kind}), which are not opened: put them "
                                 "into this file")
