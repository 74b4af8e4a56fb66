"""Fingerprints of parameters: arrays by content, functions and classes by their bytecode and defaults.

Equal parameters have equal fingerprints in every process. What cannot be examined (an array on disk, an object of a
compiled package) enters by its type alone and is named.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import chain
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from similis._utils.disk import is_stored
from similis._utils.moved import name_in_files, params_in_files

# Classes of these packages are identified by name: their code changes with the version only.
_PACKAGES = {"builtins", "similis", "sklearn", "numpy", "scipy", "pandas", "polars", "joblib", *sys.stdlib_module_names}
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


class Fingerprint:
    """Digest of all parts of a value, in a fixed order."""

    def __init__(self, value: Any, inside: dict[int, int] | None = None) -> None:
        self.has_code = False  # functions or classes of the user entered by their bytecode
        self.is_described = True  # the text in files of version 1.0 describes the value in full
        self.unverified: tuple[str, ...] = ()  # parts that entered by their type alone
        self._hash = blake2b(digest_size=16)
        self._inside: dict[int, int] = {} if inside is None else inside  # objects being examined: id and depth
        self._add(value)

    @property
    def digest(self) -> str:
        """32 digits."""
        return self._hash.hexdigest()

    def _add(self, value: Any) -> None:
        if isinstance(value, _PLAIN):
            self._text(f"{type(value).__name__}:{value!r}")
            return
        if isinstance(value, np.generic):
            self._text(f"{value.dtype.str}:{value.item()!r}")
            return
        if id(value) in self._inside:  # part of itself, such as a recursive function
            self._text(f"inside:{self._inside[id(value)]}")
            return
        self._inside[id(value)] = len(self._inside)
        try:
            self._add_object(value)
        finally:
            del self._inside[id(value)]

    def _add_object(self, value: Any) -> None:
        self.is_described &= isinstance(value, (np.ndarray, list, tuple, Mapping, type, BaseEstimator))
        if isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, (list, tuple)):
            self._parts("list", value)
        elif isinstance(value, Mapping):
            self._parts("dict", chain.from_iterable(value.items()))
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, BaseEstimator):
            self._class(type(value))
            self._parts("params", chain.from_iterable(sorted(params_in_files(value).items())))
        elif isinstance(value, (set, frozenset)):
            alone = [Fingerprint(item, self._inside) for item in value]
            self.has_code |= any(item.has_code for item in alone)
            for part in (part for item in alone for part in item.unverified):
                self._note_unverified(part)
            self._text("set:" + ",".join(sorted(item.digest for item in alone)))
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, functools.partial):
            self._parts("partial", [value.func, value.args, value.keywords])
        elif isinstance(value, types.MethodType):
            self._parts("method", [value.__func__, value.__self__])
        elif isinstance(value, (types.BuiltinFunctionType, np.ufunc, types.ModuleType)):
            self._text(f"{getattr(value, '__module__', '')}.{value.__name__}")
        elif callable(getattr(value, "py_func", None)):  # compiled by numba
            self._add(value.py_func)
        elif hasattr(value, "tocoo"):
            entries = value.tocoo()
            self._parts(f"sparse:{value.shape}", [*entries.coords, entries.data])
        elif hasattr(value, "to_numpy") and hasattr(value, "columns"):
            self._parts("frame", [list(value.columns), np.asarray(getattr(value, "index", ())), value.to_numpy()])
        elif is_stored(value):
            self._skip(value, "array on disk")
        else:
            self._instance(value)

    def _instance(self, value: Any) -> None:
        self._class(type(value))
        if dataclasses.is_dataclass(value):
            self._parts("fields", [getattr(value, field.name) for field in dataclasses.fields(value)])
        elif type(value).__module__.partition(".")[0] not in _PACKAGES and hasattr(value, "__dict__"):
            self._parts("attributes", chain.from_iterable(sorted(vars(value).items())))
        else:
            try:
                self._text(str(joblib.hash(value)))
            except Exception:  # anything that cannot be pickled
                self._skip(value, type(value).__qualname__)

    def _function(self, function: types.FunctionType) -> None:
        self.has_code = True
        self._code(function.__code__, function.__doc__)
        self._parts("defaults", [function.__defaults__, function.__kwdefaults__])
        for cell in function.__closure__ or ():
            try:
                self._add(cell.cell_contents)
            except ValueError:  # not assigned yet
                self._text("empty")
        for name in sorted(_global_names(function.__code__)):
            used = function.__globals__.get(name)
            if isinstance(used, (list, dict, set)):  # may be a cache that grows
                self._skip(used, f"the variable {name} in {function.__qualname__}")
            elif isinstance(used, (*_PLAIN, tuple, np.ndarray)) and used is not None:
                self._parts(name, [used])
            elif isinstance(used, types.FunctionType) and used.__module__ == function.__module__:
                self._parts(name, [used])

    def _class(self, cls: type) -> None:
        self._text(name_in_files(cls))
        for base in cls.__mro__:
            if base.__module__.partition(".")[0] in _PACKAGES:
                continue
            self.has_code, self.is_described = True, False
            for name, member in sorted(vars(base).items()):
                inner = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(inner, types.FunctionType):
                    self._parts(name, [inner])
                elif isinstance(member, (*_PLAIN, tuple, np.ndarray)) and not name.startswith("__"):
                    self._parts(name, [member])

    def _code(self, code: types.CodeType, doc: str | None = None) -> None:
        self._hash.update(code.co_code + code.co_exceptiontable)
        self._parts("names", [code.co_names])
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            elif constant is None or constant != doc:
                self._add(constant)

    def _array(self, A: np.ndarray[Any, Any]) -> None:
        if A.dtype.hasobject:
            self.is_described = False
            self._parts(f"objects:{A.shape}", A.ravel().tolist())
            return
        self._text(f"array:{A.shape}:{A.dtype.str}")
        for rows in np.array_split(A, max(1, A.nbytes >> 26)) if A.ndim else [A]:  # an array on disk is read in parts
            self._hash.update(np.ascontiguousarray(rows).tobytes())

    def _parts(self, name: str, parts: Iterable[Any]) -> None:
        parts = list(parts)
        self._text(f"{name}:{len(parts)}(")
        for part in parts:
            self._add(part)

    def _skip(self, value: Any, name: str) -> None:
        self._text(type(value).__qualname__)
        self._note_unverified(name)

    def _note_unverified(self, name: str) -> None:
        if name not in self.unverified:
            self.unverified += (name,)

    def _text(self, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self._hash.update(b"%d:" % len(data) + data)


def _global_names(code: types.CodeType) -> set[str]:
    inner = [_global_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)


def fingerprint(value: Any) -> Fingerprint:
    """Return the fingerprint of a value: an estimator, a measure, a parameter, a grid."""
    return Fingerprint(value)
