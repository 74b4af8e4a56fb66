"""The papers' data sets by the names they print."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from similis.datasets import load_benchmark, load_votes
from similis.exceptions import DataNotFoundError
from similis.measures import Counting
from similis.proximity import RowRBF
from similis.reproduce._method import Part

__all__ = ["load_part", "obstacle"]


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
    def load() -> Part:
        data = load_benchmark(name)
        return Part(data.proximity, data.target, data.kind)

    return load


def _protein_rbf() -> Part:
    """[chen2010] p. 35: exp(-||s - s'||) between whole rows, computed once for all 213 objects."""
    data = load_benchmark("protein_uw")
    return Part(RowRBF().fit_transform(data.proximity), data.target, "similarity")


def _votes_by_counting() -> Part:
    X, y = load_votes(return_X_y=True)
    return Part(Counting().fit(X).matrix(X), y, "similarity", X)


# By the name in the published files and, where the papers differ, the similarity.
_SOURCES: dict[tuple[str, str], Callable[[], Part]] = {
    ("Aural Sonar", ""): _matrix("aural_sonar"),
    ("Aural Sonar", "human"): _matrix("aural_sonar"),
    ("Protein", ""): _matrix("protein_uw"),
    ("Protein RBF", ""): _protein_rbf,
    ("Voting", ""): _matrix("voting_vdm"),
    ("Voting", "counting"): _votes_by_counting,
}
