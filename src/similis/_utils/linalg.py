"""Linear algebra on symmetric matrices: cached eigen-decompositions, symmetric parts, distances between rows."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from similis._utils.arrays import Array
from similis._utils.cache import CACHE
from similis._utils.messages import warn_user
from similis._utils.threads import all_blas_threads, row_chunks
from similis.exceptions import AsymmetryWarning

LARGE = 1500  # objects from which one decomposition gains more from several BLAS threads than it can lose
_CHUNK = 2**22  # entries of the float64 work arrays
_CLOSE = 1e-6  # below this share of ||x||^2 + ||y||^2, cancellation leaves fewer than 10 digits of ||x - y||


def roundoff(size: int, norm: float, dtype: Any) -> float:
    """Bound on the eigenvalues that rounding alone gives a matrix of this size and norm: 10 sqrt(n) eps ||A||."""
    # The usual n eps ||A|| would hide true negative eigenvalues of a large float32 matrix.
    return 10 * math.sqrt(size) * float(np.finfo(dtype).eps) * norm


class EigenSystem(NamedTuple):
    """Eigenvalues in ascending order and their eigenvectors as columns: A = U diag(values) U'."""

    values: Array
    vectors: Array

    @property
    def tolerance(self) -> float:
        """Largest magnitude of an eigenvalue that is round-off."""
        return roundoff(self.values.size, float(np.abs(self.values).max(initial=0.0)), self.values.dtype)


def is_symmetric(S: Array) -> bool:
    """Return True if the square S equals its transpose, where NaN equals NaN; compares blocks that fit in the cache."""
    blocks = [slice(i, i + 256) for i in range(0, len(S), 256)]
    pairs = ((S[a, b], S[b, a].T) for i, a in enumerate(blocks) for b in blocks[: i + 1])
    return all(np.array_equal(A, B) or np.array_equal(A, B, equal_nan=True) for A, B in pairs)


def symmetric_part(S: Array) -> Array:
    """(S + S') / 2, exactly symmetric; S itself when it already is."""
    return S if is_symmetric(S) else (S + S.T) / 2


def asymmetry(S: Array) -> float:
    """Size of the antisymmetric part relative to the whole: ||S - S'||_F / (2 ||S||_F), between 0 and 1."""
    whole = float(np.linalg.norm(S))
    return float(np.linalg.norm(S - S.T)) / (2 * whole) if whole > 0 else 0.0


def symmetric_part_of(S: Array, who: str, ratio: float | None = None) -> Array:
    """(S + S') / 2, with one warning when that changes S beyond round-off."""
    ratio = asymmetry(S) if ratio is None else ratio
    if ratio > 100 * np.finfo(S.dtype).eps:
        warn_user(
            f"{who} uses the symmetric part of an asymmetric matrix (asymmetry {ratio:.2g} of 1). Symmetrize it first "
            "if this is intended: Symmetrize in a pipeline, or symmetrize(S).",
            AsymmetryWarning,
        )
    return symmetric_part(S)


def take_symmetric_part(S: Array, estimator: Any) -> Array:
    """:func:`symmetric_part_of` S, with ``estimator.asymmetry_``."""
    estimator.asymmetry_ = asymmetry(S)
    return symmetric_part_of(S, type(estimator).__name__, estimator.asymmetry_)


def eigen_symmetric(A: Array) -> EigenSystem:
    """Decompose a symmetric matrix; the decomposition of an equal matrix is taken from the cache."""
    key = "eigen", array_digest(A)
    system: EigenSystem | None = CACHE.get(key)
    if system is None:
        with all_blas_threads() if len(A) >= LARGE else nullcontext():
            values, vectors = linalg.eigh(A, driver="evd", check_finite=False)  # float32: half the time of float64
        values.flags.writeable = vectors.flags.writeable = False
        system = EigenSystem(values, vectors)
        CACHE.put(key, system, values.nbytes + vectors.nbytes)
    return system


def fix_signs(U: Array) -> Array:
    """Return the columns with their largest entry positive: the signs that LAPACK returns are arbitrary."""
    if not U.size:
        return U
    largest = U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])]
    return U * np.where(largest < 0, -1, 1).astype(U.dtype)


def is_psd(A: Array, *, above: float = 0.0) -> bool:
    """Return True if a Cholesky factorization proves that all eigenvalues of A are > `above`.

    False means "not proven": a singular positive semi-definite matrix may fail at zero and passes with
    ``above=-roundoff(...)``.
    """
    if not A.size:
        return True
    if above:
        A = A.copy()
        np.einsum("ii->i", A)[:] -= A.dtype.type(above)
    _, info = linalg.lapack.get_lapack_funcs(("potrf",), (A,))[0](A, lower=True, clean=False, overwrite_a=False)
    return bool(info == 0)


def array_digest(A: Array, size: int = 16) -> bytes:
    """Digest of the values, the shape and the type of an array."""
    digest = hashlib.blake2b(np.ascontiguousarray(A).view(np.uint8).data, digest_size=size)
    digest.update(repr((A.shape, A.dtype.str)).encode())
    return digest.digest()


def nystrom_axes(W: Array, spectrum: str) -> tuple[Array, Array]:
    """Axes |l|^(-1/2) U' of W = U diag(l) U', the largest |l| first, and the sign of each l.

    "clip" leaves out negative l. If none is left, one axis of zeros maps everything to the origin.
    """
    system = eigen_symmetric(W)
    l, zero = system.values, system.tolerance  # noqa: E741
    order = np.argsort(-np.abs(l), kind="stable")
    order = order[l[order] > zero if spectrum == "clip" else np.abs(l[order]) > zero]
    if not order.size:
        return np.zeros((1, len(W)), dtype=W.dtype), np.ones(1, dtype=W.dtype)
    return (fix_signs(system.vectors[:, order]) / np.sqrt(np.abs(l[order]))).T, np.sign(l[order])


def row_distances(X: Array, Y: Array) -> Array:
    """||x - y|| for every row of X and of Y, in the wider type; a row's result does not depend on the others."""
    # ||x||^2 + ||y||^2 - 2 x'y is a matrix product, but it cancels where rows nearly coincide.
    out = np.empty((len(X), len(Y)), dtype=np.result_type(X, Y))
    center = Y.mean(axis=0, dtype=np.float64)
    B = Y - center
    bb = np.einsum("ij,ij->i", B, B)
    for rows in row_chunks(len(X), 1 + out.size // _CHUNK):
        A = X[rows] - center
        size = np.einsum("ij,ij->i", A, A)[:, None] + bb
        out[rows] = _exact_where_close(size - 2 * (A @ B.T), size, A, B)
    return out


def fold_row_distances(S: Array, test_fold: Array) -> Iterator[Array]:
    """For each fold ||x - y|| between all rows of S, (n, n), over the columns of the objects outside the fold."""
    # One product of all columns, less that of the fold's columns.
    A = S - S.mean(axis=0, dtype=np.float64)
    inner = A @ A.T
    norms = inner.diagonal()
    size = norms[:, None] + norms
    for fold in np.unique(test_fold):
        test, train = A[:, test_fold == fold], A[:, test_fold != fold]
        squared = test @ test.T
        squared -= inner
        half = -0.5 * squared.diagonal()[:, None]
        squared += half
        squared += half.T
        squared *= 2
        yield _exact_where_close(squared, size, train, train).astype(S.dtype, copy=False)


def _exact_where_close(squared: Array, size: Array, A: Array, B: Array) -> Array:
    """Square roots of `squared`; from the rows of A and B where it is small beside `size`."""
    close = squared <= _CLOSE * size
    if np.count_nonzero(close) > 0.1 * close.size:
        return cdist(A, B)
    squared[close] = 0
    out = np.sqrt(squared, out=squared)
    i, j = np.nonzero(close)
    for part in row_chunks(len(i), 1 + len(i) * A.shape[1] // _CHUNK):
        out[i[part], j[part]] = np.linalg.norm(A[i[part]] - B[j[part]], axis=1)
    return out
