"""The data of a study: a matrix, or objects and a measure, with labels. Validated once."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from secrets import token_hex
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import _safe_indexing, get_tags

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.cache import CACHE
from similis._utils.disk import take_block
from similis._utils.fingerprint import fingerprint
from similis._utils.linalg import array_digest
from similis._utils.messages import warn_user
from similis._utils.threads import row_blocks
from similis.base import Kind, SparseRows, check_label_order, check_labels, check_proximity, check_target, count_objects
from similis.exceptions import ProximityError
from similis.io import Objects, Proximity
from similis.measures import Measure, Pairwise
from similis.study._differences import check_decision
from similis.study._methods import Task, describe
from similis.study._protocol import Split

_MANY_VALUES, _SELDOM = 20, 3  # whole numbers with more values, each found fewer times on average, are no classes
MOST_MEASURED = 25_000  # objects whose proximities are measured once and kept: 5 GB
_DENSE = 2**28  # bytes of a matrix up to which a sparse one is made dense, so that every method can read it
_IN_MEMORY = 2**31  # bytes of a block of a matrix on disk that is copied into memory


def learns(measure: Any) -> Literal["nothing", "objects", "labels"]:
    """Return what a measure learns from when it is fitted: "labels", unless its tags exclude that."""
    if not isinstance(measure, Measure):
        words = "measure must be a similis measure, such as Counting() or FromFunction(f)."
        raise ProximityError(f"{words} Got {type(measure).__name__}.")
    cls = type(measure)
    if cls.fit is Measure.fit and (cls.learn is Measure.learn or measure.fit_only_indexes):
        return "nothing"
    return "labels" if get_tags(measure).target_tags.required else "objects"


class MeasuredObjects:
    """Objects, which are indexed row by row, and an unfitted measure; shared by clones, never copied."""

    def __init__(self, objects: Any, measure: Any) -> None:
        self.objects = objects
        self.measure = measure
        self.learns = learns(measure)
        self.token = token_hex(8)

    def __deepcopy__(self, memo: dict[int, Any]) -> MeasuredObjects:
        return self  # cloning a pipeline shares the objects


class MeasureStep(TransformerMixin, BaseEstimator):
    """First step of a pipeline that reads indices of objects; transforms them as ``Pairwise`` does the objects."""

    def __init__(self, source: MeasuredObjects, *, symmetrize: bool = False) -> None:
        self.source = source
        self.symmetrize = symmetrize

    def fit(self, X: Indices, y: Any = None) -> MeasureStep:
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Indices, y: Any = None, **params: Any) -> Array:
        self.key_ = self.source.token, self.symmetrize, _bytes(X), _bytes(y)
        found: tuple[Pairwise, Array] | None = CACHE.get(self.key_)
        if found is None:
            fitted = Pairwise(clone(self.source.measure), symmetrize=self.symmetrize)
            found = fitted, fitted.fit_transform(_safe_indexing(self.source.objects, np.asarray(X)), np.asarray(y))
            CACHE.put(self.key_, found, found[1].nbytes)
        self.pairwise_, square = found
        return square

    def transform(self, X: Indices) -> Array:
        key = (*self.key_, _bytes(X))
        block: Array | None = CACHE.get(key)
        if block is None:
            block = self.pairwise_.transform(_safe_indexing(self.source.objects, np.asarray(X)))
            CACHE.put(key, block, block.nbytes)
        return block


def _bytes(A: Any) -> bytes:
    return np.ascontiguousarray(A).tobytes()


@dataclass(eq=False)
class Problem:
    """Data of a study; in a regression `classes` are ranges of the `target`, for stratified splits and pictures."""

    # Sparse only if a dense matrix would be large; None: measured inside each split, or every method reads the objects.
    matrix: Array | SparseRows | None
    objects: MeasuredObjects | None  # with a measure that learns
    codes: Indices
    classes: Array
    kind: Kind  # of several matrices, that of the first
    symmetric: bool
    groups: Indices | None = None
    costs: Floats | None = None  # costs[f, g]: of predicting f when g is true
    priors: Floats | None = None  # class probabilities of the objects to be predicted
    ids: tuple[str, ...] | None = None
    measure: Any = None
    data_fingerprint: str = ""  # of the matrix, or of the objects
    picture: Any = None  # summary of the matrix for reports, once computed
    given_objects: Any = None  # for methods that read the objects themselves
    names: tuple[str, ...] = ()  # of several matrices
    kinds: tuple[Kind, ...] = ()
    target: Floats | None = None

    @property
    def y(self) -> Array:
        """Target of the methods: class codes, or the numbers of a regression."""
        return self.codes if self.target is None else self.target

    @property
    def task(self) -> Task:
        return "classification" if self.target is None else "regression"

    @property
    def n(self) -> int:
        return len(self.codes)

    def is_missing(self) -> bool:
        if isinstance(self.matrix, SparseRows):
            return self.matrix.missing and not self.matrix.is_full
        return self.matrix is not None and bool(np.isnan(self.matrix.min()))

    @property
    def fits_in_memory(self) -> bool:
        """False if a measure compares so many objects that the matrix of a training part does not fit."""
        return self.matrix is not None or self.objects is None or self.n <= MOST_MEASURED

    def parts(self, split: Split, *, symmetrize: bool, objects: bool = False) -> tuple[Any, Any, Any]:
        """Return the training and test input of a pipeline, and the step to put first, if any."""
        train, test = split.train, split.test
        if objects:
            return _safe_indexing(self.given_objects, train), _safe_indexing(self.given_objects, test), None
        if self.matrix is not None:
            return self._block(train, train), self._block(test, train), None
        assert self.objects is not None
        step = MeasureStep(self.objects, symmetrize=symmetrize)
        if self.objects.learns == "labels":
            return train, test, step
        return step.fit_transform(train, self.codes[train]), step.transform(test), None

    def _block(self, rows: Indices, columns: Indices) -> Any:
        """Copy a block of the matrix: into memory, or to a scratch file if it is large and the matrix is on disk."""
        assert self.matrix is not None
        if isinstance(self.matrix, SparseRows):
            return self.matrix.to_csr()[rows][:, columns]
        if len(rows) * len(columns) * self.matrix.itemsize > _IN_MEMORY:
            return take_block(self.matrix, rows, columns)
        return self.matrix[np.ix_(rows, columns)]

    def unchanged(self) -> bool:
        """True if the matrix, which is the user's own, has not changed since the study."""
        return self.matrix is None or self.measure is not None or self.data_fingerprint.startswith(_digest(self.matrix))

    def header(self) -> dict[str, Any]:
        """Fingerprints that identify the problem in a journal."""
        exact: dict[str, Any] = {}
        if self.measure is not None:
            found = fingerprint(self.measure)
            exact = {"measure": found.digest, "code": found.has_code, "unverified": list(found.unverified)}
        return {
            "exact": {**exact, "python": ".".join(platform.python_version_tuple()[:2])},
            "n": self.n,
            "classes": [label.item() if isinstance(label, np.generic) else label for label in self.classes],
            "matrix": self.data_fingerprint,
            "labels": _digest(self.y),
            **({} if self.target is None else {"task": "regression"}),
            "groups": None if self.groups is None else _digest(self.groups),
            "costs": None if self.costs is None else self.costs.tolist(),
            **({} if self.priors is None else {"priors": self.priors.tolist()}),
            "kind": self.kind,
            **({"matrices": dict(zip(self.names, self.kinds))} if self.names else {}),
            "measure": None if self.measure is None else describe(self.measure)[:200],
        }


def check_kinds(kind: Any) -> None:
    """Raise an error for a kind of proximity, or one in a list of several, that does not exist."""
    for one in kind if isinstance(kind, list | tuple) else (kind,):
        if one not in ("similarity", "dissimilarity"):
            raise ProximityError(f"kind must be 'similarity' or 'dissimilarity'. Got {one!r}.")


def make_problem(
    S: Any,
    y: Any = None,
    *,
    kind: Kind | Sequence[Kind] | None = None,
    ids: Any = None,
    groups: ArrayLike | None = None,
    costs: Any = None,
    priors: Any = None,
    measure: Any = None,
    objects: Any = None,
    n_jobs: int | None = None,
    task: Task | None = None,
) -> Problem:
    """Validate the arguments of :meth:`Study.run` and build the problem."""
    if kind is not None:
        check_kinds(kind)
    if isinstance(S, Proximity | Objects):
        y = S.labels if y is None else y
        ids = S.ids if ids is None else ids
        kind = S.kind if kind is None and isinstance(S, Proximity) else kind
        S = S.values
    target = None
    if task not in (None, "classification", "regression"):
        raise ProximityError(f"task must be 'classification' or 'regression'. Got {str(task)[:40]!r}.")
    if (task or choose_task(y)) == "regression":
        check_label_order(S, y)
        target = check_target(y, np.size(y), who="A study")
        if task is None and (target == np.round(target)).all():
            found = f"y holds {len(np.unique(target))} different whole numbers, so this is a regression."
            advice = "Pass task='regression' to confirm, or task='classification' if they number classes."
            warn_user(f"{found} {advice}", UserWarning)
        y, classes = _ranges(target)
        if costs is not None or priors is not None:
            raise ProximityError("Costs and priors are for classes; leave them out of a regression.")
    if measure is not None:
        if objects is not None:
            raise ProximityError("Give the objects once: as S with measure, or as objects beside a matrix.")
        name = type(measure).__name__
        if learns(measure) == "labels" and target is not None:  # also rejects anything but a measure
            raise ProximityError(f"{name} learns from class labels, and a regression has numbers. Use another measure.")
        if kind not in (None, measure.kind):
            raise ProximityError(
                f"kind={kind!r} does not fit the measure, which gives a {measure.kind}. Leave kind out."
            )
        problem = _from_objects(S, y, measure, n_jobs)
        problem.given_objects = S
    elif S is None and objects is not None:
        classes_of, codes = check_labels(y, count_objects(objects), who="A study")
        problem = Problem(None, None, codes, classes_of, kind or "similarity", True)  # type: ignore[arg-type]
    else:
        problem = _from_matrix(S, y, kind or "similarity")
        if ids is None and hasattr(S, "iloc") and list(S.index) != list(range(len(S.index))):
            ids = S.index  # of a data frame; 0, 1, 2, ... are not names
    if objects is not None:
        n = count_objects(objects)
        if n != problem.n:
            raise ProximityError(f"objects must be as many as the rows of the matrix. Got {n} for {problem.n}.")
        problem.given_objects = objects
        problem.data_fingerprint += _digest_objects(objects, n)
    if target is not None:
        problem.target, problem.classes = target, classes
    if groups is not None:
        check_label_order(S, groups, "groups", "S")
        names, problem.groups = np.unique(np.asarray(groups), return_inverse=True)
        if problem.groups.shape != (problem.n,):
            raise ProximityError(f"groups must be one per object. Got {problem.groups.size} for {problem.n} objects.")
        if len(names) < 3:
            words = "A study needs at least three groups: to test on, to choose by, to train on."
            raise ProximityError(f"{words} Got {len(names)}.")
    problem.costs, problem.priors = check_decision(costs, priors, problem.codes)
    if ids is not None:
        problem.ids = tuple(map(str, ids if hasattr(ids, "__iter__") else [ids]))
        if len(problem.ids) != problem.n:
            raise ProximityError(f"ids must be one per object. Got {len(problem.ids)} ids for {problem.n} objects.")
    return problem


def choose_task(y: Any) -> Task:
    """Choose "regression" for fractions, or more than 20 numbers seldom repeated three times, else "classification".

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels or numbers.

    Examples
    --------
    >>> from similis.study import choose_task
    >>> choose_task([0.5, 1.2, 3.0]), choose_task([1, 2, 1])
    ('regression', 'classification')
    """
    try:
        values = np.asarray(y)
        if values.dtype == object and all(isinstance(value, Real) for value in values.ravel()):
            values = values.astype(np.float64)
    except (ValueError, OverflowError):  # rows of several lengths, or an integer that is no float
        return "classification"
    if values.dtype.kind not in "iuf" or not values.size or not np.isfinite(values).all():
        return "classification"
    if (values != np.round(values)).any():
        return "regression"
    n_values = len(np.unique(values))
    return "regression" if n_values > _MANY_VALUES and values.size < _SELDOM * n_values else "classification"


def _ranges(target: Floats) -> tuple[Indices, Array]:
    """Code of the range of each value, one of up to five of about the same size, and the ranges in words."""
    if target.min() == target.max():
        raise ProximityError(f"A study needs a target that varies. It is {target[0]:g} for every object.")
    edges = np.unique(np.quantile(target, [0.2, 0.4, 0.6, 0.8]))
    codes = np.unique(np.searchsorted(edges, target, side="left"), return_inverse=True)[1]
    ends = [(target[codes == g].min(), target[codes == g].max()) for g in range(int(codes.max()) + 1)]
    return codes, np.array([f"{low:.4g} to {high:.4g}" for low, high in ends])


def _from_matrix(S: Any, y: Any, kind: Kind | Sequence[Kind]) -> Problem:
    first: Kind = kind if isinstance(kind, str) else kind[0]
    is_large = sparse.issparse(S) and 8 * S.shape[0] * S.shape[1] > _DENSE
    one_kind = first if isinstance(kind, str) else None
    accepted = {"allow_missing": True, "allow_stack": True, "accept_sparse": True}
    A: Any = check_proximity(S, kind=one_kind, **accepted, keep_sparse=is_large)
    names: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    if A.ndim == 3:
        q = A.shape[2]
        names = tuple(map(str, getattr(S, "names", None) or range(q)))
        kinds = (first,) * q if isinstance(kind, str) else tuple(kind)
        if "mean" in names:
            raise ProximityError("A matrix of a stack must not be named 'mean', which names the mean of all.")
        for k, name in enumerate(names[: len(kinds)]):
            try:
                check_proximity(A[:, :, k], kind=kinds[k], allow_missing=True)
            except ProximityError as error:
                raise ProximityError(f"Matrix {name!r}: {error}") from None
    if not isinstance(kind, str) and len(kinds) != len(names):
        raise ProximityError(f"kind must name the kind of each matrix. Got {len(kind)} for {len(names) or 'one'}.")
    classes, codes = check_labels(y, len(A), who="A study", of=S)
    if isinstance(A, SparseRows):
        reverse = SparseRows(A.to_csr().T, missing=A.missing)
        symmetric = all(np.array_equal(getattr(A, name), getattr(reverse, name)) for name in ("indices", "data"))
    else:  # strips of rows, so that a matrix on disk is not copied
        symmetric = all(
            np.array_equal(A[rows], np.swapaxes(A[:, rows], 0, 1), equal_nan=True)
            for rows in row_blocks(len(A), A[0].size)
        )
    return Problem(A, None, codes, classes, first, symmetric, data_fingerprint=_digest(A), names=names, kinds=kinds)


def _from_objects(objects: Any, y: Any, measure: Any, n_jobs: int | None) -> Problem:
    n = count_objects(objects)
    classes, codes = check_labels(y, n, who="A study")
    if learns(measure) == "nothing" and n <= MOST_MEASURED:
        A = Pairwise(measure, n_jobs=n_jobs).fit_transform(objects)
        problem = _from_matrix(A, codes, measure.kind)
        problem.classes, problem.codes, problem.measure = classes, codes, measure
        return problem
    source, digest = MeasuredObjects(objects, measure), _digest_objects(objects, n)
    symmetric = bool(measure.symmetric)
    return Problem(None, source, codes, classes, measure.kind, symmetric, measure=measure, data_fingerprint=digest)


def _digest(A: Array | SparseRows) -> str:
    if isinstance(A, SparseRows):
        return _digest(np.array([_digest(part) for part in (A.indptr, A.indices, A.data)]))
    return array_digest(A, 8).hex()


def _digest_objects(objects: Any, n: int) -> str:
    if isinstance(objects, np.ndarray) and objects.dtype.kind in "fiubc":
        return _digest(objects)
    if hasattr(objects, "to_numpy"):
        listed = objects.to_numpy(dtype=object).tolist()
    elif isinstance(objects, np.ndarray):
        listed = objects.tolist()
    else:
        listed = objects if isinstance(objects, list | tuple) else [_safe_indexing(objects, i) for i in range(n)]
    if all(type(item) in (str, bytes, int, float, list, tuple, set, frozenset) for item in listed):
        return hashlib.blake2b(repr(listed).encode(), digest_size=8).hexdigest()
    return str(joblib.hash(objects))[:16]
