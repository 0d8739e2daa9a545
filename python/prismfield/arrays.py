# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Vectors of products where they are: NumPy's on the host, CuPy's and PyTorch's on a card."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from prismfield.library import InputError, array, pointer


class Host:
    """NumPy's."""

    def rows(self, name: str, values: Any, length: int) -> Any:
        """(k, length), float64 in C order."""
        return array(name, values.T, None, length)

    def empty(self, *shape: int) -> Any:
        return np.empty(shape)

    def from_host(self, values: Any) -> Any:
        return values

    def address(self, values: Any) -> int:
        """Where they lie; what was to be computed of them is."""
        return pointer(values)


class Card(Host):
    """CuPy's, on the card of `like`; their values are not looked at."""

    def __init__(self, like: Any) -> None:
        self.like = like
        self.xp: Any = sys.modules[type(like).__module__.partition(".")[0]]

    def _made(self, values: Any) -> Any:
        return self.xp.ascontiguousarray(values, dtype=np.float64)

    def rows(self, name: str, values: Any, length: int) -> Any:
        if values.ndim != 2 or values.shape[0] != length:
            raise InputError(f"{name}: has the shape {tuple(values.shape)}, ({length}, k) is needed")
        return self._made(values.T)

    def empty(self, *shape: int) -> Any:
        return self.xp.empty(shape)

    def from_host(self, values: Any) -> Any:
        return self.xp.asarray(values)

    def address(self, values: Any) -> int:
        self.xp.cuda.get_current_stream().synchronize()
        return int(values.data.ptr)


class TorchCard(Card):
    """PyTorch's, likewise."""

    def _made(self, values: Any) -> Any:
        return values.detach().to(self.xp.float64).resolve_neg().contiguous()

    def empty(self, *shape: int) -> Any:
        return self.like.new_empty(shape, dtype=self.xp.float64)

    def from_host(self, values: Any) -> Any:
        return self.xp.as_tensor(values, device=self.like.device)

    def address(self, values: Any) -> int:
        if values.is_cuda:
            self.xp.cuda.current_stream(values.device).synchronize()
        return int(values.data_ptr())


HOST = Host()


def place_of(values: Any) -> Host:
    """Where vectors are, and so is what is computed of them."""
    if hasattr(values, "data_ptr"):
        return TorchCard(values) if values.is_cuda else HOST
    return Card(values) if type(values).__module__.partition(".")[0] == "cupy" else HOST
