"""Measures from a function of two objects or from a stored matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from similis import base
from similis._utils.arrays import Array, Indices
from similis.exceptions import ProximityError


@base.estimator
class FromFunction(base.Measure):
    """Measure from a function of two objects.

    Parameters
    ----------
    f : callable
        ``f(x, z)`` returns the proximity of x to z, NaN if missing. With ``n_jobs`` f and the objects are pickled.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of the returned number.
    symmetric : bool, default=False
        Set to True if f(x, z) = f(z, x) always holds; this saves half of the calls.

    Examples
    --------
    >>> from similis import FromFunction
    >>> FromFunction(lambda x, z: len(x) - len(z)).matrix(["a", "bcd"])
    array([[ 0., -2.],
           [ 2.,  0.]])
    """

    f: Callable[[Any, Any], float] = field(kw_only=False, metadata={"constraints": [callable]})
    kind: base.Kind = base.param("similarity", base.choice("similarity", "dissimilarity"))
    symmetric: bool = base.param(False, "boolean")

    def __call__(self, x: Any, z: Any) -> float:
        return self.f(x, z)


@base.estimator
class FromMatrix(base.Measure):
    """Measure that looks up proximities in a stored matrix.

    The objects are row numbers of `S`, or ids, in a vector or in one column, so that any scikit-learn meta-estimator
    slices rows and columns consistently: ``Pairwise(FromMatrix(S))`` in front of a classifier. A clone shares `S`.

    Parameters
    ----------
    S : array of shape (n, n) or (n, n, q)
        Proximities, ``S[i, j]`` of object i to object j: an ndarray, a memory map, or an object that is indexed like a
        zarr array (``S.oindex[rows, columns]``) or by rows (``S[rows]``). It is never copied as a whole.
    ids : sequence of n distinct values, optional
        Names of the objects; by default 0, 1, ..., n - 1.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of the proximities.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import FromMatrix
    >>> S = np.array([[1.0, 0.2, 0.5], [0.3, 1.0, 0.1], [0.5, 0.0, 1.0]])
    >>> FromMatrix(S, ids=["a", "b", "c"]).matrix(["b", "c"], ["a", "b"])
    array([[0.3, 1. ],
           [0.5, 0. ]])
    """

    S: Any = field(kw_only=False, metadata={"constraints": [base.HasMethods("__getitem__")]})
    ids: Any = base.param(None, "array-like", None)
    kind: base.Kind = base.param("similarity", base.choice("similarity", "dissimilarity"))

    symmetric = False

    def validate_objects(self, X: Any) -> Array:
        objects = base.as_collection(X, type(self).__name__)
        # asarray would convert a list of ids with mixed types to text.
        return np.array(objects, dtype=None if self.ids is None or isinstance(objects, np.ndarray) else object)

    def encode(self, objects: Array) -> Indices:
        """Return the positions of objects in S."""
        if objects.ndim == 2 and objects.shape[1] == 1:
            objects = objects[:, 0]
        if objects.ndim != 1:
            got = f"Got an array of shape {objects.shape}; for a matrix of proximities omit the Pairwise step."
            raise ProximityError(f"FromMatrix needs a vector or one column of row numbers or ids. {got}")
        n = self._stored().shape[0]
        if self.ids is None:
            return _row_numbers(objects, n)
        ids = self.ids.tolist() if hasattr(self.ids, "tolist") else list(self.ids)
        places = {name: place for place, name in enumerate(ids)}
        if len(ids) != n:
            raise ProximityError(f"ids must hold one id for each of the {n} objects of S. Got {len(ids)} ids.")
        if len(places) < n:
            twice = next(name for place, name in enumerate(ids) if places[name] != place)
            raise ProximityError(f"ids must be distinct. Got {twice!r} more than once.")
        positions = [places.get(name, -1) for name in objects.tolist()]
        if -1 in positions:
            row = positions.index(-1)
            raise ProximityError(f"Object {row} is {objects[row]!r}, which is not among the ids of FromMatrix.")
        return np.array(positions, dtype=np.intp)

    def block(self, A: Any, B: Any, n_jobs: int | None = None, tick: Any = None) -> Array:
        S = self._stored()
        if isinstance(S, np.ndarray):
            out = base.fill_masked(S[np.ix_(A, B)])
        elif hasattr(S, "oindex"):
            out = np.asarray(S.oindex[A, B])
        else:
            out = np.asarray(S[A])[:, B]
        if tick is not None:
            tick(len(A))
        return out if out.dtype in (np.float32, np.float64) else out.astype(np.float64)

    def _stored(self) -> Any:
        S = self.S
        if hasattr(S, "tocsr"):
            raise ProximityError("FromMatrix needs a dense matrix S. Got a sparse one; convert it with toarray().")
        base.check_frame_order(S)
        if not hasattr(S, "shape") or hasattr(S, "columns"):
            try:
                S = np.asarray(S)
            except ValueError:
                raise ProximityError("FromMatrix needs a square matrix S. Got rows of different lengths.") from None
        if len(S.shape) not in (2, 3) or S.shape[0] != S.shape[1]:
            wanted = "a square matrix S, one row and one column per object"
            raise ProximityError(f"FromMatrix needs {wanted}. Got shape {tuple(S.shape)}.")
        if getattr(getattr(S, "dtype", None), "kind", "f") not in "fiub":
            raise ProximityError(f"FromMatrix needs a matrix S of real numbers. Got dtype {str(S.dtype)[:40]}.")
        return S

    def __sklearn_clone__(self) -> FromMatrix:
        # The default clone would copy S.
        return type(self)(self.S, ids=self.ids, kind=self.kind)


def _row_numbers(objects: Array, n: int) -> Indices:
    try:
        if objects.dtype.kind not in "iufO":
            raise TypeError
        with np.errstate(invalid="ignore"):
            places = objects.astype(np.intp)
        strange = np.asarray(places != objects, dtype=bool) | (places < 0) | (places >= n)
    except (TypeError, ValueError):
        wanted = f"Without ids, the objects of FromMatrix are row numbers from 0 to {n - 1}."
        hint = f"Got values of type {objects.dtype}; pass the ids they name as ids=..."
        raise ProximityError(f"{wanted} {hint}") from None
    if strange.any():
        row = int(np.argmax(strange))
        raise ProximityError(f"Object {row} is {objects[row]}, but the row numbers of S are 0 to {n - 1}.")
    return places
