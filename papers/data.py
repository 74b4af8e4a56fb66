"""The papers' data sets, by the names their tables print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from similis.base import Kind
from similis.datasets import load_benchmark, load_votes
from similis.exceptions import DataNotFoundError
from similis.measures import Counting, Measure, Minkowski
from similis.proximity import RowRBF

CLEAN = ", clean"  # suffix of a data set with the correct distances, run in addition to the damaged one
# [chen2010] sec. 5.4.3: widths of the two Gaussian kernels.
_WIDTHS = {
    "Aural Sonar": (0.01, 0.1),
    "Protein-2": (0.1, 0.05),
    f"Protein-2{CLEAN}": (0.1, 0.05),
    "Yeast-7-12": (0.01, 0.001),
}


@dataclass(frozen=True, eq=False)
class Data:
    """Input of a study.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Classes.
    matrix : ndarray of shape (n, n) or (n, n, q), or None
        Proximities.
    kind : {"similarity", "dissimilarity"}
        Kind of the proximities.
    objects : ndarray of shape (n, d) or None
        Feature vectors, where there are any.
    """

    labels: NDArray[Any]
    matrix: NDArray[Any] | None = None
    kind: Kind = "similarity"
    objects: NDArray[Any] | None = None

    def take(self, order: NDArray[np.intp]) -> Data:
        """Select and reorder objects."""
        matrix = None if self.matrix is None else self.matrix[np.ix_(order, order)]
        objects = None if self.objects is None else self.objects[order]
        return Data(self.labels[order], matrix, self.kind, objects)


@cache
def load_data(dataset: str, view: str = "") -> Data:
    """Load a data set by its printed name and, where there are several, its similarity, distance or other view."""
    if view == "distances":
        return _distances_of(dataset)
    if view == "stack" or view.startswith("kernel-"):
        return _kernels_from_rows(dataset, view)
    return _SOURCES[dataset, view]()


def missing_data(dataset: str, view: str = "") -> str:
    """Reason why a data set is not available; empty if it is."""
    try:
        load_data(dataset, view)
    except DataNotFoundError as error:
        return str(error)
    return ""


def _distances_of(dataset: str) -> Data:
    """[qiao2013] sec. 5.2: 1 - S for similarities of at most one; the distances themselves for Sonar."""
    data = load_data(dataset)
    if dataset == "Sonar":
        assert data.objects is not None
        return Data(data.labels, Minkowski().fit(data.objects).matrix(data.objects), "dissimilarity")
    assert data.matrix is not None
    return Data(data.labels, 1.0 - data.matrix, "dissimilarity")


def _kernels_from_rows(dataset: str, view: str) -> Data:
    """[chen2010] sec. 5.4.3: S, the linear kernel of its rows and two Gaussian ones, as a stack or one of them."""
    data = load_data(dataset)
    assert data.matrix is not None
    S = data.matrix
    square = np.maximum(((S[:, None] - S) ** 2).sum(axis=2), 0.0)
    kernels = [S, S @ S, *(np.exp(-width * square) for width in _WIDTHS[dataset])]
    return Data(data.labels, np.stack(kernels, axis=2) if view == "stack" else kernels[int(view[-1])])


def _similarities(name: str) -> Callable[[], Data]:
    def load() -> Data:
        data = load_benchmark(name)
        return Data(data.target, data.proximity, data.kind)

    return load


def _first_two_classes(dataset: str) -> Callable[[], Data]:
    """[chen2010] sec. 5.3.2: the two most confusable classes, 72 objects each."""

    def load() -> Data:
        whole = load_data(dataset)
        return whole.take(np.flatnonzero(whole.labels < 2))

    return load


def _protein_clean() -> Data:
    """Load the objects of the papers' protein matrix with the correct distances, scaled and rounded as theirs are."""
    data = load_benchmark("protein")
    keep = data.keep213
    S = np.round(1.0 - data.proximity[np.ix_(keep, keep)] / 13.64, 5)
    return Data(np.unique(data.target[keep], return_inverse=True)[1], S)


def _sonar_reciprocals() -> Data:
    """[qiao2013] sec. 5.2: the reciprocals of distances, and an upper bound of them for an object with itself."""
    data = load_benchmark("sonar")
    D = Minkowski().fit(data.data).matrix(data.data)
    with np.errstate(divide="ignore"):
        S = 1.0 / D
    S[D == 0] = S[D > 0].max()
    return Data(data.target, S, objects=data.data)


def _protein_rbf() -> Data:
    """[chen2010] p. 35: exp(-||s - s'||) between whole rows, computed once for all 213 objects."""
    data = load_benchmark("protein_uw")
    return Data(data.target, RowRBF().fit_transform(data.proximity))


def _votes_by_counting() -> Data:
    X, y = load_votes(return_X_y=True)
    return Data(y, Counting().fit(X).matrix(X), objects=X)


def _measured(name: str, measure: Measure, change: str = "") -> Callable[[], Data]:
    """Distances of the vectors of a set: as they are, of standardized vectors, or their exponentials."""

    def load() -> Data:
        data = load_benchmark(name)
        X = StandardScaler().fit_transform(data.data) if change == "standardize" else data.data
        D = measure.fit(X).matrix(X)
        if change == "exponent":
            D = np.where(D > 0, np.exp(D), 0.0)
        return Data(data.target, D, "dissimilarity", X)

    return load


def _vectors(name: str) -> Callable[[], Data]:
    def load() -> Data:
        data = load_benchmark(name)
        return Data(data.target, objects=data.data)

    return load


def _sequence_positions(name: str, n: int | None = None) -> Callable[[], Data]:
    """Sequences as one indicator per position and letter; the first `n` in a fixed random order."""

    def load() -> Data:
        data = load_benchmark(name)
        some = np.random.default_rng(0).permutation(len(data.target))[:n]
        letters = np.array([list(sequence) for sequence in np.asarray(data.sequences)[some]])
        X = np.concatenate([letters == letter for letter in np.unique(letters)], axis=1).astype(float)
        return Data(data.target[some], objects=X)

    return load


# By the name in the published files and, where the papers differ, the similarity or distance.
_SOURCES: dict[tuple[str, str], Callable[[], Data]] = {
    ("Aural Sonar", ""): _similarities("aural_sonar"),
    ("Aural Sonar", "human"): _similarities("aural_sonar"),
    ("Protein", ""): _similarities("protein_uw"),
    ("Protein, clean", ""): _protein_clean,
    ("Protein-2", ""): _first_two_classes("Protein"),
    ("Protein-2, clean", ""): _first_two_classes("Protein, clean"),
    ("Protein RBF", ""): _protein_rbf,
    ("Yeast-7-12", ""): _similarities("yeast_7_12"),
    ("Voting", ""): _similarities("voting_vdm"),
    ("Voting", "counting"): _votes_by_counting,
    ("Iris", "Euclidean"): _measured("iris", Minkowski()),
    ("Crabs", "Euclidean"): _measured("crabs", Minkowski()),
    ("Crabs", "Stand."): _measured("crabs", Minkowski(), "standardize"),
    ("Sonar", ""): _sonar_reciprocals,
    ("Sonar", "vectors"): _vectors("sonar"),
    ("Sonar", "Euclidean"): _measured("sonar", Minkowski()),
    ("Sonar", "Exponent"): _measured("sonar", Minkowski(), "exponent"),
    ("Sonar", "Stand."): _measured("sonar", Minkowski(), "standardize"),
    ("Sonar", "Lp;p=0.5"): _measured("sonar", Minkowski(p=0.5)),
    ("Wine", "vectors"): _vectors("wine"),
    ("Pima", "vectors"): _vectors("pima"),
    ("Liver", "vectors"): _vectors("bupa"),
    ("Letter", "vectors"): _vectors("letter"),
    ("Satellite", "vectors"): _vectors("satimage"),
    ("Splice junctions", "vectors"): _sequence_positions("splice", 900),
    ("Promoters", "vectors"): _sequence_positions("promoters"),
    ("Digits, 8 x 8", "Contour"): _measured("digits", Minkowski()),
}
