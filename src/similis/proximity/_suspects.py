"""Suspicious entries: pairs whose value disagrees with everything else in the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from similis._utils.params import choice, validated_function
from similis._utils.validation import Kind, check_proximity, show
from similis.exceptions import ProximityError
from similis.proximity._suspects_rule import judge

__all__ = ["Suspects", "find_suspects", "suspects"]

MIN_OBJECTS = 30  # fewer have no neighbourhoods to speak of
MAX_OBJECTS = 3000  # more are sampled


@dataclass(frozen=True, eq=False)
class Suspects:
    """Pairs whose value disagrees with everything else in the matrix, the worst first.

    Attributes
    ----------
    pairs : ndarray of shape (m, 2)
        Row numbers i < j of the suspicious pairs.
    values : ndarray of shape (m,)
        What the matrix says, the mean of both directions.
    expected : ndarray of shape (m,)
        What the neighbours of i and j lead one to expect.
    scores : ndarray of shape (m,)
        How far apart the two are, in local standard deviations.
    n_pairs : int
        Pairs looked at.
    n_objects : int
        Objects looked at: a random part of large matrices.
    ids : tuple
        Names of the objects in `pairs`, pair by pair; empty without names.
    skipped : str
        Why nothing was looked for; empty where it was.
    """

    pairs: NDArray[np.intp]
    values: NDArray[np.float64]
    expected: NDArray[np.float64]
    scores: NDArray[np.float64]
    n_pairs: int
    n_objects: int
    ids: tuple[tuple[Any, Any], ...] = ()
    skipped: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    def mask(self, n: int) -> NDArray[np.bool_]:
        """An n x n symmetric matrix that is True at the suspicious pairs."""
        found = np.zeros((n, n), dtype=bool)
        found[self.pairs[:, 0], self.pairs[:, 1]] = found[self.pairs[:, 1], self.pairs[:, 0]] = True
        return found

    def summary(self) -> str:
        """One line."""
        if self.skipped:
            return f"not looked for: {self.skipped}"
        if not len(self):
            return f"none of {self.n_pairs:,}"
        a, b = self.ids[0] if self.ids else self.pairs[0]
        return (
            f"{len(self):,} of {self.n_pairs:,} ({len(self) / self.n_pairs:.2%}); the worst, {show(a)} and {show(b)}, "
            f"says {self.values[0]:.4g} where {self.expected[0]:.4g} is expected"
        )

    def __str__(self) -> str:
        return f"suspicious pairs: {self.summary()}"


@validated_function({"kind": [choice("similarity", "dissimilarity")], "random_state": ["random_state"]})
def suspects(S: ArrayLike, kind: Kind = "similarity", *, ids: Any = None, random_state: Any = 0) -> Suspects:
    """Find pairs whose value disagrees with everything else in the matrix.

    A lost digit, a swapped pair, a wrong unit: such an entry looks like any other number, but the rest of the matrix
    contradicts it. A pair is suspect when the neighbours of its two objects lead one to expect quite another value, far
    beyond what is usual in this matrix, and the triangles over it go with the value expected.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Proximities; NaN is a missing entry and is not judged. Of an asymmetric matrix the mean of both directions is.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        What the numbers are.
    ids : sequence of n names, optional
        Named in the result.
    random_state : int, RandomState instance or None, default=0
        For what is sampled: 256 witnesses, and 3,000 objects of larger matrices.

    Returns
    -------
    Suspects
        The pairs, their values and the values expected. Nothing is changed.

    Notes
    -----
    The rule and its constants are in the user guide, with precision and recall on simulated damage. It finds single
    wrong entries and whole groups of them. It does not find changes that are small against the scatter of the matrix,
    and says nothing of matrices with fewer than 30 objects or with more than half of their entries equal.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import suspects
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> D = np.linalg.norm(x[:, None] - x[None], axis=2)
    >>> D[3, 8] = D[8, 3] = 10 * D[3, 8]
    >>> suspects(D, kind="dissimilarity").pairs
    array([[3, 8]])
    """
    A = check_proximity(S, kind=kind, allow_missing=True, accept_sparse=True)
    rng = _generator(random_state)
    objects = np.arange(len(A))
    if len(A) > MAX_OBJECTS:
        objects = np.sort(rng.choice(len(A), MAX_OBJECTS, replace=False))
        A = A[np.ix_(objects, objects)]
    return find_suspects(A, kind, objects=objects, ids=ids, random_state=rng)


def find_suspects(
    A: NDArray[Any], kind: Kind, *, objects: NDArray[Any], ids: Sequence[Any] | None = None, random_state: Any = 0
) -> Suspects:
    """The same for a checked matrix over the `objects` of a larger one; `ids` names all objects of that one."""
    n = len(A)
    if not hasattr(ids, "__len__") and ids is not None:
        raise ProximityError(f"ids must hold one name per object. Got {str(ids)[:40]!r}.")
    if ids is not None and len(ids) <= int(objects.max(initial=-1)):
        raise ProximityError(f"ids must hold one name per object. Got {len(ids)} for {int(objects.max()) + 1} objects.")
    i, j = np.triu_indices(n, 1)
    s = _both_directions(A, i, j)
    empty = np.empty(0)
    nothing = Suspects(np.empty((0, 2), dtype=np.intp), empty, empty, empty, int(np.isfinite(s).sum()), n)
    if n < MIN_OBJECTS:
        return replace(nothing, skipped=f"{n} objects are too few, {MIN_OBJECTS} are needed")
    sign = 1.0 if kind == "dissimilarity" else -1.0
    verdict = judge(sign * s, n, _generator(random_state))
    if verdict is None:
        return replace(nothing, skipped="more than half of the entries are equal or missing")
    order = np.argsort(-verdict.deviations, kind="stable")
    found = verdict.suspects[order]
    pairs = np.stack([objects[i[found]], objects[j[found]]], axis=1)
    return replace(
        nothing,
        pairs=pairs,
        values=s[found],
        expected=sign * verdict.expected[order],
        scores=verdict.deviations[order],
        ids=() if ids is None else tuple((ids[a], ids[b]) for a, b in pairs),
    )


def _both_directions(A: NDArray[Any], i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of both directions of each pair, or the one that is known."""
    there, back = A[i, j].astype(np.float64), A[j, i].astype(np.float64)
    mean = (there + back) / 2
    return np.where(np.isnan(mean), np.where(np.isnan(there), back, there), mean)


def _generator(random_state: Any) -> np.random.Generator:
    """NumPy's generator, whatever was given."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
