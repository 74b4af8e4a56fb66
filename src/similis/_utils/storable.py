"""Which classes a model file may bring back to life, beyond the public estimators and measures."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["STORABLE", "storable"]

STORABLE: set[type] = set()

_Class = TypeVar("_Class", bound=type)


def storable(cls: _Class) -> _Class:
    """Mark a private class whose instances fitted estimators hold, so that :func:`similis.load` trusts it.

    Its instances must be plain data: nothing they do when they are made or restored may depend on more than their
    attributes, which live in ``__dict__`` (no ``__slots__``). Dictionaries among them may have any keys: they are
    stored as two lists, since the keys of a JSON object are text only.
    """
    STORABLE.add(cls)
    if "__getstate__" not in vars(cls):
        marked: Any = cls
        marked.__getstate__, marked.__setstate__ = _get_state, _set_state
    return cls


def _get_state(self: Any) -> dict[str, Any]:
    return {name: _pack(value) for name, value in vars(self).items()}


def _set_state(self: Any, state: dict[str, Any]) -> None:
    vars(self).update({name: _unpack(value) for name, value in state.items()})


def _pack(value: Any) -> Any:
    if type(value) is dict:
        return {"keys": _pack(list(value)), "values": _pack(list(value.values()))}
    return type(value)(map(_pack, value)) if type(value) in (list, tuple) else value


def _unpack(value: Any) -> Any:
    if type(value) is dict:
        return dict(zip(_unpack(value["keys"]), _unpack(value["values"])))
    return type(value)(map(_unpack, value)) if type(value) in (list, tuple) else value
