"""Compilation decorator of all kernels.

The fast-math flags allow sums to be reordered, so that loops vectorize. NaN is a missing similarity, so the flags that
assume its absence (``nnan``, ``ninf``) are not set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["kernel"]

_FLAGS = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use without the GIL and cache the result on disk."""
    return numba.njit(nogil=True, cache=True, fastmath=_FLAGS, error_model="numpy")(function)
