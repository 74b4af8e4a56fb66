"""Memory cache of expensive arrays: eigen-decompositions, and blocks measured inside a study; one per process."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from similis.exceptions import ProximityError

_VARIABLE = "SIMILIS_CACHE_MB"  # limit; 0 turns the cache off


class Cache:
    """Least-recently-used cache that is bounded in bytes and shared by threads."""

    def __init__(self) -> None:
        self._items: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock, self.n_bytes, self._session = Lock(), 0, ""

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Hashable) -> Any:
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
            return self._items.get(key, (None, 0))[0]

    def put(self, key: Hashable, value: Any, n_bytes: int) -> None:
        """Store a value of this size, unless it exceeds the limit alone."""
        limit = cache_limit()
        with self._lock:
            self._drop(key)
            if n_bytes <= limit:
                self._items[key] = value, n_bytes
                self.n_bytes += n_bytes
            while self.n_bytes > limit:
                self._drop(next(iter(self._items)))

    def clear(self) -> None:
        with self._lock:
            self._items.clear()
            self.n_bytes = 0

    def start_session(self, session: str) -> None:
        """Remove the entries of an earlier session: worker processes outlive the study that started them."""
        if session != self._session:
            self.clear()
            self._session = session

    @contextmanager
    def release_new(self) -> Iterator[None]:
        """Remove, at the end of the block, the entries that were added in it."""
        with self._lock:
            before = set(self._items)
        try:
            yield
        finally:
            with self._lock:
                for key in self._items.keys() - before:
                    self._drop(key)

    def _drop(self, key: Hashable) -> None:
        self.n_bytes -= self._items.pop(key, (None, 0))[1]


def cache_limit() -> float:
    """Return the limit of the cache in bytes."""
    text = os.environ.get(_VARIABLE, "")
    with suppress(ValueError):
        limit = float(text) if text.strip() else 512.0
        if limit >= 0:
            return limit * 2**20
    must = f"The environment variable {_VARIABLE} must be a number of megabytes, 0 or more"
    raise ProximityError(f"{must}. Got {text[:40]!r}.")


CACHE = Cache()
