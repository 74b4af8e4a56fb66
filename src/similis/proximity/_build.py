"""Stacks of several proximity matrices, their combination into one, and the diffusion kernel of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from similis import base
from similis._utils.arrays import Array
from similis._utils.linalg import eigen_symmetric, symmetric_part_of
from similis.base import Kind, at_least, choice, estimator, fitted_reals, param
from similis.exceptions import ProximityError
from similis.proximity._base import Elementwise
from similis.proximity._convert import value_range


class Stack(np.ndarray):
    """Array m x n x q whose slices have ``names``; slicing rows and columns keeps them."""

    names: tuple[str, ...] | None = None

    def __array_finalize__(self, source: Any) -> None:
        names = getattr(source, "names", None)
        if names is not None and self.ndim == 3 and self.shape[2] == len(names):
            self.names = names


def make_stack(matrices: Sequence[ArrayLike], *, names: Sequence[str] | None = None) -> Array:
    """Stack several matrices over the same objects: an array (m, n, q), float32 if every matrix is, else float64.

    Parameters
    ----------
    matrices : sequence of array-like of shape (m, n)
        One or more proximity matrices with the same rows and columns; NaN marks a missing entry.
    names : sequence of str, default=None
        Distinct names, one per matrix; used in messages and stored in the attribute ``names`` of the result.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import make_stack
    >>> stack = make_stack([np.eye(2), np.ones((2, 2))], names=["same", "all"])
    >>> stack.shape, stack.names
    ((2, 2, 2), ('same', 'all'))
    """
    if isinstance(matrices, str) or not isinstance(matrices, Iterable) or not isinstance(names, Iterable | None):
        raise ProximityError(
            "make_stack needs a list of matrices and an optional list of names. Got "
            f"{type(matrices).__name__} and {type(names).__name__}."
        )
    matrices = list(matrices)
    if not matrices:
        raise ProximityError("make_stack needs at least one matrix. Got none.")
    if names is not None:
        names = tuple(str(name) for name in names)
        if len(names) != len(matrices) or len(set(names)) != len(names):
            raise ProximityError(
                f"names must hold distinct names, one name per matrix, {len(matrices)}. Got {len(names)}: "
                f"{', '.join(names)[:100]}."
            )
    called = list(map(repr, names or range(len(matrices))))
    slices: list[Array] = []
    for matrix, name in zip(matrices, called):
        base.check_frame_order(matrix)
        base.check_label_order(matrices[0], matrix, f"matrix {name}", f"matrix {called[0]}")
        A = base.check_table(matrix, f"Matrix {name} of a stack", dtype=(np.float64, np.float32))
        if slices and A.shape != slices[0].shape:
            raise ProximityError(
                f"Every matrix of a stack must have the same shape. Matrix {name} has {A.shape}, matrix {called[0]} "
                f"has {slices[0].shape}."
            )
        slices.append(A)
    stack = np.stack(slices, axis=2).view(Stack)
    stack.names = names
    return stack


@estimator
class CombineMatrices(Elementwise):
    """Turn a stack of several proximity matrices (:func:`make_stack`) into one: one of them, or their normalized mean.

    Each matrix is divided by its range in the training stack (:class:`similis.SimMKL` learns weights). Those of another
    kind than `kind` are converted first, d to 1 - d / d_max, and s to s_max - s.

    Parameters
    ----------
    matrix : int, "mean" or None, default="mean"
        Number of the matrix to take, unchanged and from 0 (new rows may then be those of this matrix alone); the mean
        of the known entries of a pair; or None, which returns the stack with all matrices of one kind.
    kinds : sequence of {"similarity", "dissimilarity"}, default=None
        Kind of each matrix. None: all are similarities.
    kind : {"similarity", "dissimilarity"}, default=None
        Kind of the mean, or of the returned stack. None: the common kind of the matrices, else similarity.

    Attributes
    ----------
    factors_, offsets_ : ndarray of shape (q,)
        Each matrix becomes factor * values + offset; converted ones are at least 0.

    Examples
    --------
    >>> from similis.proximity import CombineMatrices, make_stack
    >>> stack = make_stack([[[1.0, 0.5], [0.5, 1.0]], [[0.0, 80.0], [80.0, 0.0]]], names=["judged", "meters"])
    >>> CombineMatrices(kinds=["similarity", "dissimilarity"]).fit_transform(stack)
    array([[1.5, 0.5],
           [0.5, 1.5]])
    """

    matrix: int | Literal["mean"] | None = param("mean", at_least(0), choice("mean"), None)
    kinds: Sequence[Kind] | None = param(None, "array-like", None)
    kind: Kind | None = param(None, choice("similarity", "dissimilarity"), None)

    fitted_arrays = {"factors_": fitted_reals("q"), "offsets_": fitted_reals("q")}
    allow_missing = True
    allow_stack = True
    proximity_kind = None  # the matrices of a stack may be of both kinds

    @property
    def gives(self) -> Kind:  # type: ignore[override]
        kinds = ["similarity"] if self.kinds is None else list(self.kinds)
        if isinstance(self.matrix, int | np.integer):
            return kinds[min(self.matrix, len(kinds) - 1)]  # type: ignore[return-value]
        return self.kind or ("dissimilarity" if set(kinds) == {"dissimilarity"} else "similarity")

    def learn(self, S: Array, y: Any) -> None:
        slices = np.moveaxis(np.atleast_3d(S), 2, 0)
        q = len(slices)
        kinds = ["similarity"] * q if self.kinds is None else list(map(str, self.kinds))
        if len(kinds) != q or not set(kinds) <= {"similarity", "dissimilarity"}:
            given = ", ".join(kinds)[:80]
            rule = f"kinds must name each of the {q} matrices 'similarity' or 'dissimilarity'."
            raise ProximityError(f"{rule} Got {given!r}.")
        if isinstance(self.matrix, int | np.integer) and self.matrix >= q:
            raise ProximityError(f"matrix must be below {q}, the number of matrices. Got {self.matrix}.")
        self.factors_, self.offsets_ = np.ones(q), np.zeros(q)
        if isinstance(self.matrix, int | np.integer):
            return
        for k, (A, kind) in enumerate(zip(slices, kinds)):
            top, span = float(np.nan_to_num(np.fmax.reduce(A, axis=None))), value_range(A)
            if kind == self.gives:
                self.factors_[k] = 1.0 if self.matrix is None else 1 / span
            elif kind == "dissimilarity":  # 1 - d / d_max, as in ToSimilarity
                self.factors_[k], self.offsets_[k] = -1 / (top or 1.0), 1.0
            else:  # s_max - s, as in ToDissimilarity, over its range
                self.factors_[k], self.offsets_[k] = -1 / span, top / span

    def transform_rows(self, Q: Array) -> Array:
        if isinstance(self.matrix, int | np.integer) and Q.ndim == 2:
            return Q.copy()
        base.check_stack_width(Q, len(self.factors_), self)
        R = np.atleast_3d(Q)
        if isinstance(self.matrix, int | np.integer):
            return np.ascontiguousarray(R[:, :, self.matrix])
        R = R * self.factors_.astype(R.dtype) + self.offsets_.astype(R.dtype)
        converted = self.factors_ < 0
        R[:, :, converted] = np.maximum(R[:, :, converted], 0)
        if self.matrix is None:
            return R
        known = ~np.isnan(R)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, R, 0).sum(axis=2) / known.sum(axis=2, dtype=R.dtype))


@base.validated_function({"sigma2": [base.positive()]})
def diffusion_kernel(A: ArrayLike, sigma2: float = 1.0) -> Array:
    """Turn the adjacency matrix of a weighted graph into a kernel: K = expm(-sigma2/2 L).

    L = I - G^(-1/2) A G^(-1/2) is the normalized graph Laplacian and G the diagonal matrix of degrees [kondor2002].
    There is no rule for new objects: the graph must contain them all.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n, n)
        Non-negative weights of the edges; the diagonal is ignored, and the symmetric part used, with a warning.
    sigma2 : float, default=1.0
        Diffusion time, above zero; 20 in [chen2010] sec. 5.4.3.

    Examples
    --------
    >>> from similis.proximity import diffusion_kernel
    >>> diffusion_kernel([[0, 1], [1, 0]], sigma2=2.0).round(4)
    array([[0.5677, 0.4323],
           [0.4323, 0.5677]])
    """
    A = base.check_proximity(A, accept_sparse=True)
    if (least := A.min(initial=0.0)) < 0:
        where = base.first_position(A == least)
        raise ProximityError(f"diffusion_kernel needs non-negative weights. Got {least:.6g} at {where}.")
    W = symmetric_part_of(A, "diffusion_kernel").copy()
    np.fill_diagonal(W, 0)
    degree = W.sum(axis=1)
    g = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    L = -(g[:, None] * g) * W
    np.fill_diagonal(L, degree > 0)
    system = eigen_symmetric(L)
    # [chen2010] sec. 5.4.3 -> expm(-sigma^2/2 L) = B B' with B = U exp(-sigma^2/4 l)
    B = system.vectors * np.exp(-sigma2 / 4 * np.maximum(system.values, 0)).astype(L.dtype)
    return B @ B.T
