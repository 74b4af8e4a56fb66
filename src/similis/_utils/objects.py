"""Collections of objects as measures give them: arrays, sparse matrices or lists."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

__all__ = ["count", "take"]


def count(objects: Any) -> int:
    """How many objects a collection holds; a sparse matrix has no len."""
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def take(objects: Any, places: NDArray[Any]) -> Any:
    """The objects at some places, in their order."""
    return [objects[i] for i in places] if isinstance(objects, list) else objects[places]
