"""The papers' data sets by the names they print."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn.preprocessing import StandardScaler

from similis.datasets import load_benchmark, load_votes
from similis.exceptions import DataNotFoundError
from similis.measures import Counting, Measure, Minkowski
from similis.proximity import RowRBF
from similis.reproduce._method import Part

__all__ = ["CLEAN", "load_part", "obstacle"]

CLEAN = ", clean"  # ends the name of a set with the correct distances, run beside the damaged one


def obstacle(dataset: str, similarity: str = "") -> str:
    """Why a data set of the papers cannot be had; empty if it can."""
    try:
        load_part(dataset, similarity)
    except DataNotFoundError as error:
        return str(error)
    return ""


@cache
def load_part(dataset: str, similarity: str = "") -> Part:
    """A data set of the papers, by its printed name and, where the papers differ, its similarity."""
    return _SOURCES[dataset, similarity]()


def _matrix(name: str) -> Callable[[], Part]:
    """Similarities of at most one; [qiao2013] sec. 5.2 -> their distances are 1 - S."""

    def load() -> Part:
        data = load_benchmark(name)
        return Part(data.proximity, data.target, data.kind, distances=1.0 - data.proximity)

    return load


def _first_two(dataset: str) -> Callable[[], Part]:
    """[chen2010] sec. 5.3.2: the two most confusable classes, 72 objects each."""

    def load() -> Part:
        whole = load_part(dataset)
        keep = np.flatnonzero(whole.labels < 2)
        return Part(whole.proximities[np.ix_(keep, keep)], whole.labels[keep], whole.kind)

    return load


def _protein_clean() -> Part:
    """The objects of the papers' protein matrix with the correct distances, scaled and rounded as theirs are."""
    data = load_benchmark("protein")
    keep = data.keep213
    S = np.round(1.0 - data.proximity[np.ix_(keep, keep)] / 13.64, 5)
    return Part(S, np.unique(data.target[keep], return_inverse=True)[1], "similarity", distances=1.0 - S)


def _sonar_by_reciprocals() -> Part:
    """[qiao2013] sec. 5.2: the reciprocals of distances, and an upper bound of them for an object with itself."""
    data = load_benchmark("sonar")
    D = Minkowski().fit(data.data).matrix(data.data)
    with np.errstate(divide="ignore"):
        S = 1.0 / D
    S[D == 0] = S[D > 0].max()
    return Part(S, data.target, "similarity", data.data, D)


def _protein_rbf() -> Part:
    """[chen2010] p. 35: exp(-||s - s'||) between whole rows, computed once for all 213 objects."""
    data = load_benchmark("protein_uw")
    return Part(RowRBF().fit_transform(data.proximity), data.target, "similarity")


def _votes_by_counting() -> Part:
    X, y = load_votes(return_X_y=True)
    return Part(Counting().fit(X).matrix(X), y, "similarity", X)


def _distances(name: str, measure: Measure, change: str = "") -> Callable[[], Part]:
    """Distances of the vectors of a set: as they are, of standardised vectors, or their exponentials."""

    def load() -> Part:
        data = load_benchmark(name)
        X = StandardScaler().fit_transform(data.data) if change == "standardise" else data.data
        D = measure.fit(X).matrix(X)
        if change == "exponent":
            D = np.where(D > 0, np.exp(D), 0.0)
        return Part(D, data.target, "dissimilarity", X)

    return load


def _vectors(name: str) -> Callable[[], Part]:
    def load() -> Part:
        data = load_benchmark(name)
        return Part(np.empty((len(data.target), 0)), data.target, "similarity", data.data)

    return load


def _positions(name: str, n: int | None = None) -> Callable[[], Part]:
    """Sequences as one indicator per position and letter; the first `n` in an order fixed once and for all."""

    def load() -> Part:
        data = load_benchmark(name)
        some = np.random.default_rng(0).permutation(len(data.target))[:n]
        letters = np.array([list(sequence) for sequence in np.asarray(data.sequences)[some]])
        X = np.concatenate([letters == letter for letter in np.unique(letters)], axis=1).astype(float)
        return Part(np.empty((len(X), 0)), data.target[some], "similarity", X)

    return load


# By the name in the published files and, where the papers differ, the similarity.
_SOURCES: dict[tuple[str, str], Callable[[], Part]] = {
    ("Aural Sonar", ""): _matrix("aural_sonar"),
    ("Aural Sonar", "human"): _matrix("aural_sonar"),
    ("Protein", ""): _matrix("protein_uw"),
    ("Protein, clean", ""): _protein_clean,
    ("Protein-2", ""): _first_two("Protein"),
    ("Protein-2, clean", ""): _first_two("Protein, clean"),
    ("Protein RBF", ""): _protein_rbf,
    ("Voting", ""): _matrix("voting_vdm"),
    ("Voting", "counting"): _votes_by_counting,
    ("Iris", "Euclidean"): _distances("iris", Minkowski()),
    ("Crabs", "Euclidean"): _distances("crabs", Minkowski()),
    ("Crabs", "Stand."): _distances("crabs", Minkowski(), "standardise"),
    ("Sonar", ""): _sonar_by_reciprocals,
    ("Sonar", "Euclidean"): _distances("sonar", Minkowski()),
    ("Sonar", "Exponent"): _distances("sonar", Minkowski(), "exponent"),
    ("Sonar", "Stand."): _distances("sonar", Minkowski(), "standardise"),
    ("Sonar", "Lp;p=0.5"): _distances("sonar", Minkowski(p=0.5)),
    ("Wine", "vectors"): _vectors("wine"),
    ("Pima", "vectors"): _vectors("pima"),
    ("Liver", "vectors"): _vectors("bupa"),
    ("Letter", "vectors"): _vectors("letter"),
    ("Splice junctions", "vectors"): _positions("splice", 900),
    ("Promoters", "vectors"): _positions("promoters"),
    ("Digits, 8 x 8", "Contour"): _distances("digits", Minkowski()),
}
