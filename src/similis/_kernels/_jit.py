"""Compilation decorator of all kernels, with machine code cached on disk where possible.

The fast-math flags allow sums to be reordered, so that loops vectorize. NaN is a missing similarity, so the flags that
assume its absence (``nnan``, ``ninf``) are not set.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba

from similis.exceptions import CompilationCacheWarning

_FLAGS = {"reassoc", "contract", "arcp", "nsz"}
_VARIABLE = "SIMILIS_KERNEL_CACHE"  # "off" compiles in every process; set for child processes after the warning


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use without the GIL and cache the result on disk."""
    # Without `forceinline` the process that compiles runs inner kernels in other machine code than later processes.
    options: dict[str, Any] = {"nogil": True, "forceinline": True, "fastmath": _FLAGS, "error_model": "numpy"}
    if os.environ.get(_VARIABLE) != "off":
        try:
            compiled = numba.njit(cache=True, **options)(function)
        except (RuntimeError, OSError) as error:
            if isinstance(error, RuntimeError) and "cannot cache" not in str(error):
                raise
            _warn("no folder for it can be written to")
        else:
            _tolerate_errors(compiled)
            return compiled
    return numba.njit(**options)(function)


def check_cache() -> None:
    """Warn if machine code cannot be cached; worker processes that start later do not repeat the warning."""
    kernel(check_cache)  # not compiled: only its place in the cache is looked up


def _tolerate_errors(compiled: Any) -> None:
    """Compile again where a file of the cache cannot be read, and go on where it cannot be written."""
    cache = getattr(compiled, "_cache", None)
    load, save = getattr(cache, "load_overload", None), getattr(cache, "save_overload", None)
    if load is None or save is None:
        return

    def load_overload(*args: Any) -> Any:
        try:
            return load(*args)
        except Exception:  # damaged files raise many types
            return None

    def save_overload(*args: Any) -> None:
        try:
            save(*args)
        except OSError as error:
            _warn(str(error.strerror or error))
        except Exception:  # a damaged index, which is read before it is written
            with suppress(Exception):
                cache.flush()  # type: ignore[union-attr]

    cache.load_overload, cache.save_overload = load_overload, save_overload  # type: ignore[union-attr]


def _warn(reason: str) -> None:
    if os.environ.get(_VARIABLE) == "off":
        return
    os.environ[_VARIABLE] = "off"
    warnings.warn(
        f"Compiled code cannot be cached ({reason}), so that every process compiles it again, which takes some "
        "seconds. Set NUMBA_CACHE_DIR to a folder that can be written to.",
        CompilationCacheWarning,
        stacklevel=2,
    )
