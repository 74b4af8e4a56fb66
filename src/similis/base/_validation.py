"""Validation of proximity matrices, rows of new objects, blocks, tables, kernels, labels and targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from similis._utils.arrays import Array, Floats, Indices, Mask, is_missing
from similis._utils.disk import as_contiguous_map, is_stored, load_stored, on_disk
from similis._utils.linalg import roundoff, symmetric_part_of
from similis._utils.messages import warn_user
from similis._utils.threads import row_chunks
from similis.base._sparse import SparseRows
from similis.exceptions import KindWarning, ProximityError

Kind = Literal["similarity", "dissimilarity"]
LARGEST = {8: 1e140, 4: 1e15}  # largest entry by bytes of the dtype: sums of many squares stay finite
_OTHER_ESTIMATOR = "an estimator that allows them, such as SimilarityKNN."
_LEAST = {8: 1e-290, 4: 1e-36}  # lower bound of the largest entry: reciprocals stay finite


def check_values(A: Array, *, kind: Kind | None, allow_missing: bool, who: str, training: bool = False) -> None:
    """Reject infinite, missing, negative and, in `training`, only tiny entries; name the first one."""
    # The sum of squares is finite if all entries are finite and of moderate size: one product for the usual case.
    n_bytes = 4 if A.dtype == np.float32 else 8
    largest, smallest = LARGEST[n_bytes], _LEAST[n_bytes]
    with np.errstate(all="ignore"):
        square = float(np.vdot(A, A))
    suspicious = not square <= largest**2
    if suspicious:
        if np.isinf(A).any():
            hint = "Use NaN for a missing entry, or a large finite number."
            where = first_position(np.isinf(A))
            raise ProximityError(f"{who} needs finite numbers. Got infinity (inf) at {where}. {hint}")
        if not allow_missing and np.isnan(A).any():
            hint = f"Fill them with complete_kernel, or use {_OTHER_ESTIMATOR}"
            where = first_position(np.isnan(A))
            raise ProximityError(f"{who} does not accept missing entries. Got NaN at {where}. {hint}")
        if float(np.nanmax(A, initial=0.0)) > largest or float(np.nanmin(A, initial=0.0)) < -largest:
            hint = "Divide the matrix by a constant" + (", or give it as float64" if n_bytes == 4 else "")
            needed = f"entries of at most {largest:g}, so that their squares can be added up"
            where = first_position(np.abs(A) > largest)
            raise ProximityError(f"{who} needs {needed}. Got a larger one at {where}. {hint}.")
    least = np.nanmin if suspicious else np.min  # without NaN, which is faster
    if kind == "dissimilarity" and A.size and least(A, initial=0.0) < 0:
        got = f"dissimilarities must not be below zero. Got one at {first_position(A < 0)}"
        hint = "If these are similarities, set kind='similarity' or convert with ToDissimilarity."
        raise ProximityError(f"Negative values in data passed to {who}: {got}. {hint}")
    if training and not square and 0 < (most := np.abs(A).max(initial=0.0)) < smallest:
        needed = f"is zero, or whose largest entry is above {smallest:g}, so that quotients stay finite"
        hint = f"Got {most:g} as the largest. Multiply the matrix by a constant."
        raise ProximityError(f"{who} needs a matrix that {needed}. {hint}")


def first_position(mask: Mask) -> str:
    """Describe the first position at which a mask is True."""
    return describe_position(np.unravel_index(int(np.argmax(mask)), mask.shape))


def describe_position(index: Iterable[Any]) -> str:
    return ", ".join(f"{name} {int(i)}" for name, i in zip(("row", "column", "slice"), index))


_DTYPES = (np.float64, np.float32)


def check_proximity(
    S: ArrayLike,
    *,
    kind: Kind | None = None,
    allow_missing: bool = False,
    allow_stack: bool = False,
    accept_sparse: bool = False,
    keep_sparse: bool = False,
    estimator: Any = None,
) -> Array:
    """Validate a training matrix: one row and one column per object.

    The result is C-contiguous float64 or float32, and the input itself if it is such an array.

    Parameters
    ----------
    S : array-like of shape (n, n), or (n, n, q) with `allow_stack`
        Array, memory map, list, frame, or with `accept_sparse` a scipy sparse matrix, in which an absent entry is a
        similarity of zero but a missing dissimilarity.
    kind : {"similarity", "dissimilarity"} or None
        Reject negative dissimilarities and warn of a matrix that is clearly of the other kind; None checks neither.
    allow_missing, allow_stack : bool, default=False
        Accept NaN as a missing entry; accept several matrices over the same objects, n x n x q.
    accept_sparse, keep_sparse : bool, default=False
        Accept a sparse matrix, returned as an array; return it as ``SparseRows``, of which only blocks are made dense.
    estimator : estimator, optional
        ``n_features_in_`` and ``feature_names_in_`` are set on it; its class is named in messages.

    Examples
    --------
    >>> from similis.proximity import check_proximity
    >>> check_proximity([[1, 2], [2, 1]])
    array([[1., 2.],
           [2., 1.]])
    """
    who = _who(estimator)
    if not (kind is None or (isinstance(kind, str) and kind in ("similarity", "dissimilarity"))):
        raise ProximityError(f"kind must be 'similarity', 'dissimilarity' or None. Got {str(kind)[:40]!r}.")
    check_frame_order(S, same_ids=True)
    A = _to_array(S, estimator, kind, accept_sparse, allow_stack, keep_sparse, reset=True)
    if isinstance(A, SparseRows):
        check_values(A.data, kind=kind, allow_missing=allow_missing, who=f"{who} (stored entries)")
        if A.missing and not A.is_full and not allow_missing:
            wrong = f"{who} does not accept missing entries, as absent dissimilarities of a sparse matrix are."
            raise ProximityError(f"{wrong} Use {_OTHER_ESTIMATOR}")
    else:
        check_values(A, kind=kind, allow_missing=allow_missing, who=who, training=True)
    if A.shape[0] != A.shape[1]:
        raise ProximityError(
            f"{who} needs a square matrix at fit, one row and one column per training object. Got shape {A.shape}. To "
            "start from features or other objects, put Pairwise(measure) in front; in a meta-estimator that indexes "
            "rows only, Pairwise(FromMatrix(S))."
        )
    if kind is not None and A.ndim == 2:
        _warn_if_other_kind(A, kind)
    return A


def check_query(
    X: ArrayLike,
    estimator: Any,
    *,
    kind: Kind | None = None,
    allow_missing: bool = False,
    allow_stack: bool = False,
    accept_sparse: bool = False,
) -> Array:
    """Validate rows of new objects: one column per training object of a fitted estimator.

    Parameters
    ----------
    X : array-like of shape (m, n), or (m, n, q) with `allow_stack`
        Proximities of m new objects to the n training objects.
    estimator : estimator
        A fitted estimator.
    kind, allow_missing, allow_stack, accept_sparse
        As in :func:`check_proximity`.
    """
    check_is_fitted(estimator)
    n, who = int(estimator.n_features_in_), _who(estimator)
    X = _with_shape(X)
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) >= 3 and not allow_stack:
        wanted = f"one row per new object and one column for each of {n} training objects"
        raise ProximityError(f"{who} expects a two-dimensional block, {wanted}. Got shape {shape}.")
    if len(shape) >= 2 and shape[1] != n:
        hint = "one column per training object"
        if shape[0] == n:
            hint += f". Its shape {shape} looks transposed: rows are new objects; pass the transpose"
        # scikit-learn's checks expect NaN to be reported before the width
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            check_values(X, kind=None, allow_missing=allow_missing, who=who)
        raise ProximityError(f"X has {shape[1]} features, but {who} is expecting {n} features as input, {hint}.")
    ready = type(X) is np.ndarray and X.ndim == 2 and X.dtype in _DTYPES and X.flags.c_contiguous and X.size > 0
    if ready and not hasattr(estimator, "feature_names_in_"):
        A = np.asarray(X)  # scikit-learn's validation would change nothing
    else:
        A = _to_array(X, estimator, kind, accept_sparse, allow_stack, keep_sparse=False, reset=False)
    check_values(A, kind=kind, allow_missing=allow_missing, who=who)
    return A


def check_block(
    X: ArrayLike, *, kind: Kind | None = None, who: str = "", accept_sparse: bool = False, estimator: Any = None
) -> Array:
    """Validate a block of any width: proximities of some objects, one row each, to others."""
    A = _to_array(X, estimator, kind, accept_sparse, allow_stack=False, keep_sparse=False, reset=True)
    check_values(A, kind=kind, allow_missing=False, who=who or _who(estimator), training=True)
    return A


def check_table(X: Any, who: str, **options: Any) -> Any:
    """Validate a table with scikit-learn's ``check_array`` and short error messages."""
    return _checked(check_array, X, who, estimator=who, **options)


def _checked(check: Callable[..., Any], X: Any, who: str, **options: Any) -> Any:
    X = fill_masked(X)
    try:
        return check(X, ensure_all_finite=False, **options)
    except (ValueError, TypeError, OverflowError) as error:
        raise _in_one_sentence(error, X, who) from None


def check_labels(y: Any, n: int, *, who: str = "fit", min_classes: int = 2, of: Any = None) -> tuple[Array, Indices]:
    """Validate class labels; return the sorted classes, and for each object the position of its label among them.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: text, numbers or booleans.
    n : int
        Number of objects.
    who : str, default="fit"
        Name used in messages.
    min_classes : int, default=2
        Smallest number of classes.
    of : object, optional
        The matrix, as given. A pandas Series of labels must not hold the objects of a frame in another order.

    Examples
    --------
    >>> from similis.base import check_labels
    >>> check_labels(["b", "a", "b"], 3)
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    y = _one_per_object(y, n, who, of, "label")
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:  # Python cannot sort them
        types = sorted({type(label).__name__ for label in y})[:3]
        raise ProximityError(f"y must hold labels of one type. Got {' and '.join(types)}; use one of them.") from None
    if not n:
        raise ProximityError(f"{who} needs at least one object. Got none.")
    if len(classes) < min_classes:
        raise ProximityError(f"{who} needs at least {min_classes} classes; y has only one class, {quote(classes[0])}.")
    return classes, codes


def _one_per_object(y: Any, n: int, who: str, of: Any, what: str) -> Any:
    """Validate that y holds a label or number (`what`) for each object of the matrix `of`; return a vector."""
    if y is None:
        raise ProximityError(f"{who} requires y to be passed, but the target y is None.")
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if kind == "c" or (kind in ("m", "V") and what == "label"):
        reason = "Complex data not supported: " if kind == "c" else ""  # expected by scikit-learn's checks
        wanted = "labels: text, numbers or booleans" if what == "label" else "real numbers"
        raise ProximityError(f"{reason}y must hold {wanted}. Got dtype {str(y.dtype)[:60]}.")
    check_label_order(of, y)
    if (missing := missing_entries(y)).any():
        state = "is masked" if isinstance(y, np.ma.MaskedArray) else "has none"
        got = f"Object {int(np.argmax(missing))} {state}; leave it out."
        raise ProximityError(f"y must hold a {what} for every object. {got}")
    if kind == "T":  # NumPy's StringDType
        y = np.array(np.asarray(y).tolist())
    y = column_or_1d(y, warn=True)
    if y.shape[0] != n:
        raise ProximityError(f"y must hold one {what} per object. Got {y.shape[0]} {what}s for {n} objects.")
    return y


def missing_entries(values: Any) -> Mask:
    """Find the entries of an array that are masked, or else missing among objects."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values).ravel()
    dtype = getattr(values, "dtype", None)
    entries = () if isinstance(dtype, np.dtype) and dtype.kind not in "OT" else np.asarray(values, dtype=object).ravel()
    return np.array([is_missing(entry) for entry in entries], dtype=bool)


def check_target(y: Any, n: int, *, who: str = "fit", of: Any = None) -> Floats:
    """Validate the target of a regression, finite numbers, as float64; parameters as in :func:`check_labels`."""
    y = _one_per_object(y, n, who, of, "number")
    for value in () if y.dtype.kind in "biuf" else y:
        if not isinstance(value, Real):
            got = quote(value)[:60]
            raise ProximityError(f"{who} needs a numeric target y. Got {got}; use a classifier for class labels.")
    target = np.asarray(y, dtype=np.float64)
    finite = np.isfinite(target)
    if not finite.all():
        i = int(np.argmin(finite))
        what = "NaN" if np.isnan(target[i]) else "infinity or a value too large for dtype('float64')"
        raise ProximityError(f"Input y contains {what}, at object {i}; leave it out.")
    return target


def check_per_class(number: Any, n_classes: int, name: str) -> list[int]:
    """Validate the parameter `name`, one number for all classes or one for each; return one number per class."""
    numbers = [number] * n_classes if np.ndim(number) == 0 else list(np.asarray(number).ravel())
    if len(numbers) != n_classes or not all(isinstance(k, int | np.integer) and k >= 1 for k in numbers):
        wanted = f"a number of at least 1, or one for each of the {n_classes} classes"
        raise ProximityError(f"{name} must be {wanted}. Got {str(number)[:60]}.")
    return [int(k) for k in numbers]


def check_stack_width(A: Array, n_slices: int, estimator: Any) -> None:
    got, who = A.shape[2] if A.ndim == 3 else 1, _who(estimator)
    if got != n_slices:
        raise ProximityError(f"{who} was fitted on a stack of {n_slices} matrices and must get as many. Got {got}.")


def one_per_row(self_similarity: Any, m: int) -> Any:
    s = np.asarray(self_similarity, dtype=np.float64)
    if s.shape not in ((), (m,)) or not np.isfinite(s).all():
        raise ProximityError(f"self_similarity must be a finite number, or one per row, {m}. Got shape {s.shape}.")
    return np.broadcast_to(s, m)


def quote(value: Any) -> str:
    """Format a label or number without NumPy's type name."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def _who(estimator: Any) -> str:
    return "A proximity matrix" if estimator is None else type(estimator).__name__


def _to_array(
    X: Any, estimator: Any, kind: Kind | None, accept_sparse: bool, allow_stack: bool, keep_sparse: bool, *, reset: bool
) -> Any:
    """Convert to a dense float array with scikit-learn's validation and short error messages."""
    dtypes = getattr(X, "dtypes", None) if hasattr(X, "columns") else None
    is_float32_frame = dtypes is not None and all(str(dtype).lower() == "float32" for dtype in dtypes)
    dtype: Any = np.float32 if is_float32_frame else _DTYPES
    who, X = _who(estimator), _with_shape(X)
    _check_type(X, who)
    if not allow_stack and getattr(X, "ndim", 2) == 3:
        wanted = f"{who} reads one matrix, not a stack of several. Got shape {X.shape}."
        raise ProximityError(f"Found array with dim 3, while dim <= 2 is required: {wanted}")
    check: Any = check_array if estimator is None else partial(validate_data, estimator, reset=reset)
    formats = ["csr"] if accept_sparse else False
    A = _checked(check, X, who, accept_sparse=formats, dtype=dtype, order="C", allow_nd=allow_stack)
    if sparse.issparse(A):
        missing = kind == "dissimilarity"
        rows = SparseRows(A, missing=missing, own_zero=missing and reset and A.shape[0] == A.shape[1])
        A = rows if keep_sparse else rows[:]
    if A.ndim > 3:
        raise ProximityError(f"{who} reads a matrix or a stack n x n x q. Got shape {A.shape}.")
    return A


def fill_masked(X: Any) -> Any:
    """Replace the masked entries of a masked array of numbers by NaN, which is missing."""
    if not isinstance(X, np.ma.MaskedArray) or X.dtype.kind not in "fiub":
        return X
    return np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)


def _with_shape(X: Any) -> Any:
    """Convert nested lists to an array and arrays on disk to a map of whole rows; return anything else unchanged."""
    if is_stored(X):
        return load_stored(X)
    if on_disk(X) and X.ndim >= 2 and X.size and X.dtype.kind in "fiub":
        return as_contiguous_map(X)
    if isinstance(X, list | tuple):
        try:
            return np.asarray(X)
        except ValueError:
            return X
    return X


def _check_type(X: Any, who: str) -> None:
    """Reject input whose type excludes a matrix of real numbers."""
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "cmMV":
        reason = "Complex data not supported: " if dtype.kind == "c" else ""
        raise ProximityError(f"{reason}{who} needs real numbers. Got dtype {str(dtype)[:60]}.")
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    names = list(map(str, X.columns))
    for i, (name, dtype) in enumerate(zip(names, X.dtypes)):
        if str(dtype).lower().startswith(("complex", "date", "time", "duration", "period")):
            raise ProximityError(f"{who} needs real numbers. Got column {i}, {_cut(name)}, of type {str(dtype)[:40]}.")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ProximityError(f"{who} needs columns with different names. Got {_cut(twice)} twice.")


def _in_one_sentence(error: Exception, X: Any, who: str) -> Exception:
    """Replace an error of scikit-learn or NumPy by a short message."""
    text = str(error)
    if hasattr(X, "columns") and not len(X.columns):
        return ProximityError(f"{who} needs a matrix, at least one row and one column. Got a frame without columns.")
    if "could not convert" in text or isinstance(error, OverflowError):
        return ProximityError(_name_the_text(X, who))
    if "float() argument must be" in text:
        return TypeError(_name_the_text(X, who))
    if text.startswith("Expected 2D array"):
        got = " ".join(text.split()[:6])  # "Expected 2D array, got 1D array"
        hint = "Reshape your data; a single row is array.reshape(1, -1)."
        return ProximityError(f"{got} instead: {who} reads a matrix with one row per object. {hint}")
    if text.startswith("Complex data"):
        return ProximityError(f"Complex data not supported: {who} needs real numbers.")
    if "setting an array element with a sequence" in text:
        return ProximityError(f"{who} needs a matrix. Got rows of different lengths, or collections as entries.")
    if text.startswith("Feature names are only supported"):
        return TypeError(f"{who} needs column names that are all text, or all numbers. Got a mixture of types.")
    if text.startswith("The feature names should match") or (len(text) < 280 and "\n" not in text):
        return error
    return type(error)(" ".join(text.split())[:280])


def kind_evidence(A: Array) -> Kind | None:
    """Kind of a square matrix whose diagonal holds the minimum, or the maximum, of 95 % of the rows, else None."""
    if A.ndim == 3:
        found = {kind_evidence(A[:, :, j]) for j in range(A.shape[2])} - {None}
        return found.pop() if len(found) == 1 else None
    n = A.shape[0]
    if n < 3 or A.shape[1] != n:
        return None
    is_least, is_largest = _diagonal_is(np.fmin, A), _diagonal_is(np.fmax, A)
    if is_least == is_largest:
        return None
    if is_largest:
        return "similarity"
    shared = others = 0
    for rows in row_chunks(n, n // 256 + 1):
        diagonal = np.diagonal(A[rows, rows])[:, None]
        shared += int(np.count_nonzero(A[rows] == diagonal)) - len(diagonal)
        others += int(np.count_nonzero(A[rows] == A[rows])) - len(diagonal)
    return "dissimilarity" if 2 * shared <= others else None


def _diagonal_is(extreme: np.ufunc, A: Array) -> bool:
    """Tell whether the diagonal is the minimum (np.fmin) or maximum (np.fmax) of 95 % of its rows."""
    n = A.shape[0]
    chunks = list(row_chunks(n, n // 256 + 1))
    diagonal = np.concatenate([np.diagonal(A[rows, rows]) for rows in chunks])
    known = diagonal == diagonal
    left = 0.05 * known.sum()  # rows that may fail
    if 2 * known.sum() < n or known.sum() < 3:
        return False
    for rows in chunks:
        left -= np.count_nonzero((diagonal[rows] != extreme.reduce(A[rows], axis=1)) & known[rows])
        if left < 0:  # mostly after a few rows
            return False
    return True


def _warn_if_other_kind(A: Array, kind: Kind) -> None:
    wrong = np.fmin if kind == "similarity" else np.fmax
    if A.shape[0] < 3 or not _diagonal_is(wrong, A) or (found := kind_evidence(A)) in (None, kind):
        return
    what, large, convert = "its largest entries on the diagonal", "alike", "ToDissimilarity"
    if found == "dissimilarity":
        is_zero = not np.any(np.diagonal(A))
        what = "a zero diagonal and no negative entry" if is_zero else "its smallest entries on the diagonal"
        large, convert = "different", "ToSimilarity"
    plural = {"similarity": "similarities", "dissimilarity": "dissimilarities"}
    mismatch = f"X has {what}, as {plural[found]} have, but is read as {plural[kind]}."
    warn_user(f"{mismatch} If large means {large}, set kind={found!r} or convert with {convert}.", KindWarning)


def check_frame_order(frame: Any, *, same_ids: bool = False) -> None:
    """Reject a pandas frame whose rows and columns are the same objects in another order, or with `same_ids` others.

    0, 1, 2, ... on one side only are no ids.
    """
    index, columns = getattr(frame, "index", None), getattr(frame, "columns", None)
    if index is None or columns is None or not hasattr(frame, "iloc") or len(index) != len(columns):
        return
    names = list(map(str, index)), list(map(str, columns))
    numbers = list(map(str, range(len(index))))
    if sorted(names[0]) != sorted(names[1]) and (not same_ids or numbers in names):
        return
    for i, (row, column) in enumerate(zip(*names)):
        if row != column:
            got = f"Position {i} is {_cut(row)} among the rows and {_cut(column)} among the columns."
            hint = "Reorder the frame, or reset its index."
            raise ProximityError(f"Row and column ids must be the same, in the same order. {got} {hint}")


def check_label_order(S: Any, y: Any, name: str = "y", of: str = "X") -> None:
    """Reject a pandas Series or frame `y` whose index holds the objects of a frame in another order."""
    if not (hasattr(S, "iloc") and hasattr(y, "iloc") and hasattr(S, "columns")) or len(S.index) != len(y.index):
        return
    rows, labels = list(map(str, S.index)), list(map(str, y.index))
    if rows != labels and sorted(rows) == sorted(labels):
        i = next(i for i, (row, label) in enumerate(zip(rows, labels)) if row != label)
        got = f"Position {i} is {_cut(labels[i])} in the index of {name} and {_cut(rows[i])} in that of {of}."
        hint = f"Reorder {name}: {name}.loc[{of}.index]."
        raise ProximityError(f"{name} and {of} must hold the same objects in the same order. {got} {hint}")


def _cut(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _name_the_text(X: Any, who: str) -> str:
    """Describe the first cell that is not a number."""
    rows = np.asarray(X, dtype=object)
    if rows.ndim == 0:
        return f"{who} needs a matrix. Got {_cut(str(X))}: argument must be a string or a number."
    for index, cell in np.ndenumerate(rows):
        place = describe_position(index)
        try:
            float(np.nan if cell is None else cell)
        except OverflowError:
            return f"{who} needs numbers that fit in a float. Got a number that is too large at {place}."
        except (TypeError, ValueError):
            return f"{who} needs numbers. Got {_cut(str(cell))} at {place}: argument must be a string or a number."
    return f"{who} needs numbers; some entry could not be converted to float."


def check_kernel(A: Floats, must: str, dtype: Any = np.float64) -> None:
    """Raise an error for a matrix that is indefinite beyond round-off."""
    values = np.linalg.eigvalsh(A)
    size = float(np.abs(values).max(initial=0.0))
    if values[0] < -max(roundoff(len(A), size, dtype), 1e-7 * size):
        got = f"Got a smallest eigenvalue of {values[0]:.3g}"
        raise ProximityError(f"{must}: positive semi-definite. {got}. Clip it first, for example with SpectrumClip.")


def check_partial_kernel(K: ArrayLike, who: str) -> tuple[Array, Mask]:
    """Validate a matrix with missing entries and symmetrize it."""
    S = check_proximity(K, allow_missing=True)
    mean = (S + S.T) / 2
    symmetric_part_of(np.where(np.isnan(mean), 0.0, S).astype(S.dtype), who)  # warns if the directions differ
    mean = np.where(np.isnan(mean), np.where(np.isnan(S), S.T, S), mean)
    known = ~np.isnan(mean)
    if not known.any():
        raise ProximityError(f"{who} needs at least one known entry. Got a matrix of NaN only.")
    return mean, known


def measured_objects(known: Mask, who: str, instead: str) -> Mask:
    """Find the objects with known entries; raise an error unless all entries between them are known."""
    rows: Mask = np.asarray(known.any(axis=1))
    scattered = rows[:, None] & rows & ~known
    if scattered.any():
        i, j = np.argwhere(scattered)[0]
        got = f"Got NaN at row {i}, column {j}, though both objects have known entries."
        hint = f"Use {instead} for scattered entries, or hide one of the objects altogether."
        raise ProximityError(f"{who} needs whole rows missing. {got} {hint}")
    return rows
