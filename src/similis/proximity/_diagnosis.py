"""What a proximity matrix is like, in numbers, and what the papers would do with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from similis._utils.params import choice, validated_function
from similis._utils.validation import Kind, check_labels, check_proximity, show
from similis.proximity._diagnosis_advice import Advice, advise
from similis.proximity._diagnosis_facts import (
    ClassFacts,
    DistanceFacts,
    EntryFacts,
    SpectrumFacts,
    TriangleFacts,
    class_facts,
    distance_facts,
    entry_facts,
    spectrum_facts,
    to_dissimilarities,
    triangle_facts,
)
from similis.proximity._diagnosis_text import as_html, as_text, fact_rows
from similis.proximity._suspects import Suspects, find_suspects

__all__ = ["Diagnosis", "diagnose"]

# Above this many objects the spectrum, the triangles and the rest are read off a random part.
SAMPLE = 3000
# Above this many, suspicious pairs are looked for among a random part; suspects(S) looks at all.
SUSPECT_SAMPLE = 600


@dataclass(frozen=True)
class Diagnosis:
    """Findings about one matrix; print it, show it in a notebook, or take ``to_dict()``.

    Attributes
    ----------
    n : int
        Number of objects.
    kind : {"similarity", "dissimilarity"}
        What the matrix was said to hold.
    n_sampled : int
        Objects looked at where n is too large to look at all; else n.
    entries : EntryFacts
        Missing entries, symmetry, zeros, distinct values, duplicates, self-similarity.
    spectrum : SpectrumFacts or None
        Eigenvalues; None where entries are missing.
    triangles : TriangleFacts
        How often the triangle inequality fails.
    distances : DistanceFacts
        Shape of the distribution of the dissimilarities, hubness.
    classes : ClassFacts or None
        Balance and separation; None without labels.
    suspects : Suspects
        Pairs whose value disagrees with everything else in the matrix.
    advice : tuple of Advice
        What to try, each with the finding that speaks for it and the paper that says so.
    """

    n: int
    kind: Kind
    n_sampled: int
    entries: EntryFacts
    spectrum: SpectrumFacts | None
    triangles: TriangleFacts
    distances: DistanceFacts
    classes: ClassFacts | None
    suspects: Suspects
    advice: tuple[Advice, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, strings, lists and dictionaries, ready for JSON."""
        return _plain(asdict(self))

    def rows(self) -> list[tuple[str, str]]:
        """What was looked at and what was found, in words, line by line."""
        return list(fact_rows(self))

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


@validated_function({"kind": [choice("similarity", "dissimilarity")], "random_state": ["random_state"]})
def diagnose(
    S: ArrayLike, y: Any = None, kind: Kind = "similarity", *, ids: Any = None, random_state: Any = 0
) -> Diagnosis:
    """Look at a matrix before trusting it.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Proximities; NaN is a missing entry.
    y : array-like of shape (n,), optional
        Class labels: adds balance and separation.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        What the numbers are.
    ids : sequence of n names, optional
        Shown instead of row numbers.
    random_state : int, RandomState instance or None, default=0
        For what is sampled beyond 3,000 objects and for triangles beyond 500.

    Returns
    -------
    Diagnosis

    Notes
    -----
    Nothing is changed. Similarities are turned into dissimilarities (largest similarity minus s) where a finding speaks
    of distances. Beyond 3,000 objects a random part is looked at, and ``n_sampled`` says so; suspicious pairs are
    sought among 600 objects, and :func:`similis.proximity.suspects` looks among all.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import diagnose
    >>> S = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.9], [0.1, 0.9, 1.0]])
    >>> found = diagnose(S)
    >>> found.entries.symmetric, found.spectrum.n_negative
    (True, 1)
    """
    A = check_proximity(S, kind=kind, allow_missing=True, accept_sparse=True)
    classes: Any = None
    codes: Any = None
    if y is not None:
        classes, codes = check_labels(y, len(A), who="diagnose", min_classes=1)
    n = len(A)
    part = np.arange(n)
    if n > SAMPLE:
        part = np.sort(check_random_state(random_state).choice(n, SAMPLE, replace=False))
        A = A[np.ix_(part, part)]
        codes = None if codes is None else codes[part]
    rng = check_random_state(random_state)
    entries = entry_facts(A, kind)
    D = to_dissimilarities(A, kind)
    facts: dict[str, Any] = {
        "entries": entries,
        "spectrum": None if entries.n_missing else spectrum_facts(A, kind),
        "triangles": triangle_facts(D, rng),
        "distances": distance_facts(D),
        "classes": None if codes is None else class_facts(A, codes, [show(c).strip("'") for c in classes], kind),
        "suspects": _some_suspects(A, kind, part, ids, rng),
    }
    told = {name: fact for name, fact in facts.items() if name != "triangles"}
    return Diagnosis(n=n, kind=kind, n_sampled=len(part), advice=advise(kind, **told), **facts)


def _some_suspects(A: NDArray[Any], kind: Kind, objects: NDArray[Any], ids: Any, rng: Any) -> Suspects:
    """Suspicious pairs among all objects, or among a random part of many."""
    if len(A) > SUSPECT_SAMPLE:
        some = np.sort(rng.choice(len(A), SUSPECT_SAMPLE, replace=False))
        A, objects = A[np.ix_(some, some)], objects[some]
    return find_suspects(A, kind, objects=objects, ids=ids)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's own; NaN as None."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
