"""Declarations of the fitted arrays of a class, and their verification after loading from a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from similis._utils.environment import DOC_LINK_TEMPLATE
from similis.exceptions import ProximityError

Size = int | str | None
Sizes = dict[str, int]


def _size(size: Size, sizes: Sizes) -> int | None:
    return sizes[size] if isinstance(size, str) else size


def _fits(found: tuple[int, ...], expected: tuple[Size, ...], sizes: Sizes) -> bool:
    """Compare a shape with sizes; a name that has no size yet takes the size found."""
    if len(found) != len(expected):
        return False
    return all(
        (sizes.setdefault(want, got) if isinstance(want, str) else got if want is None else want) == got
        for got, want in zip(found, expected)
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


@dataclass(frozen=True)
class _Array:
    """Array of a shape, with integers or real numbers of a range."""

    shape: tuple[Size, ...] | None
    integers: bool
    low: float | None
    below: Size = None
    nan: bool = False
    infinite: bool = False
    optional: bool = False

    def verify(self, value: Any, sizes: Sizes, what: str) -> None:
        shape, low = self.shape, self.low
        if isinstance(value, FittedArrays) and not self.integers and hasattr(value, "shape"):  # a sparse matrix
            value.verify_fitted()
            if shape is None or _fits(value.shape, shape, sizes):
                return
        if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
            raise ProximityError(f"{what} must be an array. Got {type(value).__name__}.")
        kinds, numbers = ("iu", "integers") if self.integers else ("fiu", "real numbers")
        if value.dtype.kind not in kinds or not value.dtype.isnative or value.dtype.itemsize > 8:
            raise ProximityError(f"{what} must hold {numbers}. Got dtype {str(value.dtype)[:30]}.")
        if shape is not None and not _fits(value.shape, shape, sizes):
            expected = tuple(sizes.get(size, size) if isinstance(size, str) else size for size in shape)
            raise ProximityError(f"{what} must have the shape {expected}. Got {value.shape}.")
        if not value.size:
            return
        below = _size(self.below, sizes)
        least, largest = np.fmin.reduce(value, axis=None), np.fmax.reduce(value, axis=None)
        if not self.nan and np.isnan(value).any():
            raise ProximityError(f"{what} must not hold NaN.")
        if not self.infinite and np.isinf([least, largest]).any():
            raise ProximityError(f"{what} must hold finite numbers.")
        if low is not None and least < low:
            raise ProximityError(f"{what} must be at least {low}. Got {least}.")
        if below is not None and largest >= below:
            raise ProximityError(f"{what} must be below {below}. Got {largest}.")


@dataclass(frozen=True)
class _Count:
    """Integer from `low` to `high`."""

    low: int
    high: Size = None
    optional: bool = False

    def verify(self, value: Any, sizes: Sizes, what: str) -> None:
        high = _size(self.high, sizes)
        if not _is_integer(value):
            raise ProximityError(f"{what} must be an integer. Got {type(value).__name__}.")
        if value < self.low or (high is not None and value > high):
            limit = "" if high is None else f" and at most {high}"
            raise ProximityError(f"{what} must be at least {self.low}{limit}. Got {str(value)[:30]}.")


@dataclass(frozen=True)
class _Part:
    """Object of a class, or a list of them, whose own arrays are verified with some sizes of the owner."""

    cls: type
    sizes: dict[str, str]
    many: bool
    length: Size
    optional: bool

    def verify(self, value: Any, sizes: Sizes, what: str) -> None:
        if self.many and not isinstance(value, (list, tuple)):
            raise ProximityError(f"{what} must be a list. Got {type(value).__name__}.")
        if self.many and not _fits((len(value),), (self.length,), sizes):
            raise ProximityError(f"{what} must have {_size(self.length, sizes)} items. Got {len(value)}.")
        for part in value if self.many else [value]:
            if not isinstance(part, self.cls):
                raise ProximityError(f"{what} must be of {self.cls.__name__}. Got {type(part).__name__}.")
            if isinstance(part, FittedArrays):
                _verify(part, {inner: sizes[outer] for inner, outer in self.sizes.items() if outer in sizes})


def fitted_indices(
    *shape: Size, below: Size = None, low: int = 0, any_shape: bool = False, optional: bool = False
) -> _Array:
    """Declare a fitted array of integers, such as class codes or training objects, for ``fitted_arrays`` of a class.

    Parameters
    ----------
    *shape : int, str or None
        ``"n"`` is the number of columns of a row, ``"G"`` the number of classes; any other name must have the same size
        wherever it occurs; None is any size.
    below : int or str, optional
        All values must be below this number or size.
    low : int, default=0
        Least value; -1 where -1 stands for a missing index.
    any_shape, optional : bool, default=False
        Accept every shape; accept None, and a model without the attribute.
    """
    return _Array(None if any_shape else shape, True, low, below, optional=optional)


def fitted_reals(
    *shape: Size,
    low: float | None = None,
    nan: bool = False,
    infinite: bool = False,
    any_shape: bool = False,
    optional: bool = False,
) -> _Array:
    """Declare a fitted array of real numbers.

    `nan` and `infinite` accept NaN and infinities; the other parameters as in :func:`fitted_indices`.
    """
    return _Array(None if any_shape else shape, False, low, nan=nan, infinite=infinite, optional=optional)


def fitted_count(low: int = 0, high: Size = None, *, optional: bool = False) -> _Count:
    """Declare a fitted integer from `low` to `high`, such as a number of neighbors.

    `high` may be the name of a size; the other parameters as in :func:`fitted_indices`.
    """
    return _Count(low, high, optional)


def fitted_part(cls: type, *, many: bool = False, length: Size = None, optional: bool = False, **sizes: str) -> _Part:
    """Declare a fitted object that holds arrays of its own, or a list of such objects.

    Parameters
    ----------
    cls : type
        Class of the object. If it has ``fitted_arrays``, they are verified too.
    many : bool, default=False
        Expect a list of objects.
    length : int or str, optional
        Number of objects in the list, or the name of a size.
    optional : bool, default=False
        Accept None, and a model without the attribute.
    **sizes : str
        Sizes that owner and object share: name in the object = name in the owner.
    """
    return _Part(cls, sizes, many, length, optional)


def verify_numbering(numbers: Any, below: int, what: str) -> None:
    """Raise an error unless a dictionary maps to integers from 0 to `below` - 1.

    Parameters
    ----------
    numbers : dict
        Numbers of values, such as the codes of categories or the columns of tokens.
    below, what : int and str
        Limit of the numbers; name for the error message.
    """
    if not isinstance(numbers, dict):
        raise ProximityError(f"{what} must be a dictionary. Got {type(numbers).__name__}.")
    for number in numbers.values():
        if not _is_integer(number) or not 0 <= number < below:
            raise ProximityError(f"{what} must number from 0 to {below - 1}. Got {str(number)[:30]}.")


class FittedArrays:
    """Mixin for classes whose instances models hold: declares fitted arrays and verifies them.

    Compiled code does not check indices, so :func:`similis.load` calls ``verify_fitted`` of every object in a file.

    Attributes
    ----------
    fitted_arrays : dict
        Class attribute: a declaration per fitted attribute, made by :func:`fitted_indices`, :func:`fitted_reals`,
        :func:`fitted_count` or :func:`fitted_part`. Those of base classes are added.

    Examples
    --------
    >>> from similis.base import ProximityClassifier, fitted_indices, fitted_reals
    >>> class Nearest(ProximityClassifier):
    ...     fitted_arrays = {"codes_": fitted_indices("n", below="G"), "largest_": fitted_reals("n")}
    """

    fitted_arrays: ClassVar[dict[str, Any]] = {}
    _doc_link_module = "similis"
    _doc_link_template = DOC_LINK_TEMPLATE

    def verify_fitted(self) -> None:
        """Raise an error unless the fitted attributes are what ``fit`` can have set; a subclass may add conditions."""
        _verify(self, {})


def _verify(value: FittedArrays, sizes: Sizes) -> None:
    """Verify the arrays of an object; nothing is verified before it is fitted."""
    table: dict[str, Any] = {}
    for cls in reversed(type(value).__mro__):
        table |= vars(cls).get("fitted_arrays", {})
    state, who = vars(value), type(value).__name__
    if "n_features_in_" not in state and not any(name in state for name in table):
        return
    if isinstance(value, BaseEstimator):
        # An attribute in the file could take the place of a method, or of a class attribute that input validation uses.
        for name in state:
            if hasattr(type(value), name) and not name.endswith("_") and name not in value._get_param_names():
                raise ProximityError(f"{name} of {who} is an attribute of the class, which a file must not set.")
        if hasattr(value, "_parameter_constraints"):
            value._validate_params()
    if "n_features_in_" in state:
        fitted_count(1).verify(state["n_features_in_"], {}, f"n_features_in_ of {who}")
        sizes.setdefault("n", int(state["n_features_in_"]))
    if "classes_" in state:
        classes = state["classes_"]
        if not isinstance(classes, np.ndarray) or classes.ndim != 1:
            raise ProximityError(f"classes_ of {who} must be an array of one dimension.")
        sizes.setdefault("G", len(classes))
    if "measure_" in state and "objects_" in state:  # objects that the measure encodes when the model is used
        state["measure_"].verify_objects(state["objects_"])
    for name, declared in table.items():
        what = f"{name} of {who}"
        if state.get(name) is None:
            if not declared.optional:
                raise ProximityError(f"{what} is missing.")
            continue
        declared.verify(state[name], sizes, what)
