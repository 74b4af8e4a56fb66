"""The one decorator for compiled loops.

The flags let sums be reordered so that loops vectorise, and nothing more: a NaN is a missing similarity, so the
flags that assume there are none (``nnan``, ``ninf``) stay out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["kernel"]

_FLAGS = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use, release the GIL while it runs, keep the result on disk."""
    return numba.njit(nogil=True, cache=True, fastmath=_FLAGS, error_model="numpy")(function)
