"""Private classes that :func:`similis.load` trusts, in addition to public estimators and measures."""

from __future__ import annotations

from typing import Any, TypeVar

STORABLE: set[type] = set()

_Class = TypeVar("_Class", bound=type)


def storable(cls: _Class) -> _Class:
    """Mark a class whose instances fitted estimators hold, so that :func:`similis.load` trusts it.

    Parameters
    ----------
    cls : type
        A class of plain data, whose state is its ``__dict__`` (no ``__slots__``).
    """
    STORABLE.add(cls)
    # Dictionaries are stored as two lists, because the keys of a JSON object must be text.
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
