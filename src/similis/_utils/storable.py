"""Which classes a model file may bring back to life, beyond the public estimators and measures."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["STORABLE", "storable"]

STORABLE: set[type] = set()

_Class = TypeVar("_Class", bound=type)


def storable(cls: _Class) -> _Class:
    """Mark a private class whose instances fitted estimators hold, so that :func:`similis.load` trusts it.

    Its instances must be plain data: nothing they do when they are made or restored may depend on more than their
    attributes. Keep the attributes in ``__dict__`` (no ``__slots__``).
    """
    STORABLE.add(cls)
    return cls
