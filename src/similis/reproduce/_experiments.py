"""The experiments as data: which tables, which protocol behind each cell, which methods.

A method joins by an entry in one of the dictionaries below, under the name that the published files use; a table
joins by an entry in EXPERIMENTS. Published cells whose method has no entry are listed as not available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.naive_bayes import BernoulliNB

from similis.discriminant import SDA, LocalSDA, MixtureSDA, NearestNeighborSDA
from similis.exceptions import ProximityError
from similis.mixture import KernelHLM, MixtureHLM
from similis.neighbors import CondensedNN, LocalNearestCentroid, NearestCentroid, SimilarityKNN
from similis.reproduce._data import CLEAN
from similis.reproduce._dissimilarity import DISSIMILARITY, half_problem
from similis.reproduce._facts import FACTS, SIZES, facts_problem
from similis.reproduce._learnt import (
    FUSION,
    LEARNT,
    LP,
    affordable,
    fusion_problem,
    learnt_problem,
    lp_problem,
    with_treatments,
)
from similis.reproduce._levels import LEVELS, SEQUENCES, third_problem
from similis.reproduce._method import Method
from similis.reproduce._problems import LeaveOneOutRuns, PerturbedCentroids, ProbabilityRuns, Problem, SplitRuns
from similis.reproduce._published import PublishedCell, published_cells
from similis.reproduce._support import BENCHMARK_PSVM, MACHINES, SIMULATION_PSVM, VECTOR_MACHINES

__all__ = ["EXPERIMENTS", "Experiment", "find_experiments"]


@dataclass(frozen=True)
class Experiment:
    """A table of a paper.

    Attributes
    ----------
    paper, table : str
        Where the figures stand.
    about : str
        What the table shows, in our words.
    problem : callable
        Makes the problem behind a published cell.
    methods : mapping of str to Method
        By the name in the published files.
    datasets : tuple of str
        Data sets of the table that can be had; the others are left out.
    runs : int
        How many runs a full reproduction takes.
    variants : tuple of str
        Endings of the quantity that are compared with the same published figure.
    beside : mapping of str to str
        Data sets run beside those of the table, by the one they stand for; their figures are shown, not judged.
    arrange : callable
        Renames quantities of the published cells where the paper tells them apart by circumstances.
    """

    paper: str
    table: str
    about: str
    problem: Callable[[PublishedCell], Problem]
    methods: Mapping[str, Method]
    datasets: tuple[str, ...]
    runs: int = 20
    variants: tuple[str, ...] = ("",)
    beside: Mapping[str, str] = field(default_factory=dict)
    arrange: Callable[[list[PublishedCell]], list[PublishedCell]] = list

    @property
    def key(self) -> str:
        """Name on the command line and of the results file."""
        return f"{self.paper}:{self.table}"

    def cells(self) -> list[PublishedCell]:
        """Published figures that can be compared with ours, then those that ours on other data stand beside."""
        known = [cell for cell in self._numbers() if cell.method in self.methods]
        others = [replace(cell, dataset=self.beside[cell.dataset]) for cell in known if cell.dataset in self.beside]
        return self.arrange([cell for cell in known if cell.dataset in self.datasets] + others)

    def covers(self, cell: PublishedCell) -> bool:
        """Whether a published cell, as printed, is compared with ours."""
        if (cell.paper, cell.table) != (self.paper, self.table):
            return False
        ones = [one for one in cell.each() if one.method in self.methods and one.dataset in self.datasets]
        return bool(self.arrange(_figures(ones)))

    def without(self) -> dict[str, list[str]]:
        """Methods and data sets of the table that are not available."""
        numbers = self._numbers()
        return {
            "methods": sorted({cell.method for cell in numbers if cell.method} - set(self.methods)),
            "datasets": sorted({cell.dataset for cell in numbers} - set(self.datasets)),
        }

    def _numbers(self) -> list[PublishedCell]:
        return _figures([one for cell in published_cells(self.paper, self.table) for one in cell.each()])


def _figures(cells: list[PublishedCell]) -> list[PublishedCell]:
    """Cells of the kinds that are compared."""
    kinds = ("error", "perplexity", "nce", "accuracy", "support-vectors", "objective")
    others = ("empirical", "difference")
    return [
        cell
        for cell in cells
        if cell.value is not None
        and (cell.quantity in (kinds if cell.method else SIZES) or cell.quantity.startswith(others))
    ]


# [cazzanti2007] sec. 6.1: sizes and components tried on the perturbed centroids.
_K_SIMULATION = (*range(1, 21), *range(29, 100, 10))
_COMPONENTS = (2, 3, 4, 5, 7, 10)
SIMULATION = {
    "local-sda": Method(LocalSDA(), {"n_neighbors": _K_SIMULATION}),
    "sda": Method(SDA()),
    "mixture-sda": Method(MixtureSDA(n_init=1), {"n_components": _COMPONENTS}, cv=5),
    "nnsda": Method(NearestNeighborSDA()),
    "nc": Method(NearestCentroid()),
    "local-nc": Method(LocalNearestCentroid(), {"n_neighbors": _K_SIMULATION}),
    "knn": Method(SimilarityKNN(), {"n_neighbors": _K_SIMULATION}),
    "cnn": Method(CondensedNN(n_init=1), {"n_prototypes": _COMPONENTS}, cv=5),
    "psvm": SIMULATION_PSVM,
    "naive-bayes": Method(BernoulliNB(alpha=1.0), reads="objects"),
}

# [cazzanti2007] sec. 6.2: the benchmark data, leave-one-out inside leave-one-out.
_K_BENCHMARK = (*range(1, 21), *range(30, 101, 10), 150, 200)
BENCHMARK = {
    "local-sda": Method(LocalSDA(priors="laplace"), {"n_neighbors": _K_BENCHMARK}),
    "sda": Method(SDA(priors="laplace")),
    "nnsda": Method(NearestNeighborSDA(priors="laplace")),
    "nc": Method(NearestCentroid()),
    "local-nc": Method(LocalNearestCentroid(), {"n_neighbors": _K_BENCHMARK}),
    "knn": Method(SimilarityKNN(), {"n_neighbors": _K_BENCHMARK}),
    "psvm": BENCHMARK_PSVM,
}

# [chen2010] table 4.2.
_K_CHEN = {"n_neighbors": (*range(1, 17), 32, 64, 128)}
_KRI = {**_K_CHEN, "regularization": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e6)}
_KRR = {**_K_CHEN, "regularization": (1e-3, 1e-2, 0.1, 1.0, 10.0)}
CHEN = {
    "knn": Method(SimilarityKNN(), _K_CHEN, cv=10),
    "affinity-knn": Method(SimilarityKNN(weights="affinity"), _K_CHEN, cv=10),
    "local-sda": Method(LocalSDA(), _K_CHEN, cv=10),
    **{
        f"{weights}-knn({spectrum})": Method(SimilarityKNN(weights=weights, spectrum=spectrum), grid, cv=10)
        for weights, grid, spectra in (
            ("kri", _KRI, ("clip", "flip", "shift")),
            ("krr", _KRR, ("pinv", "clip", "flip", "shift")),
        )
        for spectrum in spectra
    },
    **MACHINES,
}

# [qiao2013] sec. 5.1 takes the values of [chen2010]; methods that read its distances say so.
_HLM: Any = {"grid": {"n_components": (*range(1, 11), 12, 14, 16)}, "cv": 10, "reads": "distances"}
QIAO = {
    **CHEN,
    "kernel-hlm": Method(KernelHLM(), reads="distances"),
    "hlm-vsh": Method(MixtureHLM(), **_HLM),
    "hlm-gknn": Method(MixtureHLM(clustering="kmedoids"), **_HLM),
    "hlm-agg": Method(MixtureHLM(clustering="ward"), **_HLM),
    "hlm-kernel-vsh": Method(MixtureHLM(n_components="auto"), reads="distances"),
}

# [chen2010] sec. 4.6.2; the smoothing is that of footnote 7 for Aural Sonar and Voting.
_K_PROBABILITIES = {"n_neighbors": (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)}
_LAMBDA = {"regularization": tuple(10.0**i for i in range(-6, 3))}
PROBABILITIES = {
    "knn": Method(SimilarityKNN(smoothing=1e-4), _K_PROBABILITIES),
    "affinity-knn": Method(SimilarityKNN(weights="affinity", smoothing=1e-4), _K_PROBABILITIES),
    "kri-knn": Method(SimilarityKNN(weights="kri", smoothing=1e-4), {**_K_PROBABILITIES, **_LAMBDA}),
}


def _perturbed(cell: PublishedCell) -> Problem:
    at = cell.condition
    name = f"{cell.paper} {cell.table} d={at['d']}"
    return PerturbedCentroids(name, at["similarity"], (at["p1"], at["p2"]), int(at["centroids"]), int(at["d"]))


def _leave_one_out(cell: PublishedCell) -> Problem:
    similarity = cell.condition.get("similarity", "")
    name = f"leave-one-out {cell.dataset} {similarity}".strip()
    return LeaveOneOutRuns(name, cell.dataset, similarity, seeds=_seeds(name))


def _splits(cell: PublishedCell) -> Problem:
    name = f"splits {cell.dataset}"
    return SplitRuns(name, cell.dataset, seeds=_seeds(name))


def _seeds(name: str) -> str:
    """A data set beside another is split and ordered like that one."""
    return name.removesuffix(CLEAN) if name.endswith(CLEAN) else ""


def _probabilities(cell: PublishedCell) -> Problem:
    return ProbabilityRuns(f"probabilities {cell.dataset}", cell.dataset)


def _or_facts(problem: Callable[[PublishedCell], Problem]) -> Callable[[PublishedCell], Problem]:
    """For tables that hold sizes of data sets beside figures of methods."""
    return lambda cell: problem(cell) if cell.method else facts_problem(cell)


def _simulated(table: str, similarity: str, p2: str, centroids: str) -> Experiment:
    about = f"perturbed centroids, {similarity} similarity, p2 = {p2}, {centroids} per class"
    datasets, variants = ("perturbed centroids",), ("", " with floor")
    return Experiment("cazzanti2007", table, about, _perturbed, SIMULATION, datasets, variants=variants)


_BESIDE = {"Protein": f"Protein{CLEAN}"}
_PAIRS = ("Aural Sonar", "Protein-2", "Voting")
_PAIR_BESIDE = {"Protein-2": f"Protein-2{CLEAN}"}
_CHEN_SETS = ("Aural Sonar", "Protein", "Voting")
_VECTORS = ("Iris", "Crabs", "Sonar")
_QIAO_SETS = ("Aural Sonar", "Protein", "Sonar", "Voting")
_LOO = "leave-one-out errors"
_SPLIT = "errors over 20 random splits"
EXPERIMENTS: tuple[Experiment, ...] = (
    _simulated("6.1", "counting", "1/30", "one centroid"),
    _simulated("6.2", "counting", "1/4", "one centroid"),
    _simulated("6.3", "VDM", "1/30", "one centroid"),
    _simulated("6.4", "VDM", "1/4", "one centroid"),
    _simulated("6.5", "counting", "1/30", "two centroids"),
    _simulated("6.6", "counting", "1/4", "two centroids"),
    _simulated("6.7", "VDM", "1/30", "two centroids"),
    _simulated("6.8", "VDM", "1/4", "two centroids"),
    Experiment(
        "cazzanti2007", "6.9", f"{_LOO}, protein", _leave_one_out, BENCHMARK, ("Protein",), runs=5, beside=_BESIDE
    ),
    Experiment(
        "cazzanti2007",
        "6.10",
        f"{_LOO}, votes and aural sonar",
        _leave_one_out,
        BENCHMARK,
        ("Voting", "Aural Sonar"),
        runs=5,
    ),
    Experiment("chen2010", "4.1", "eight data sets described", facts_problem, FACTS, _CHEN_SETS, runs=2),
    Experiment("chen2010", "4.3", _SPLIT, _splits, CHEN, ("Aural Sonar",)),
    Experiment("chen2010", "4.5", _SPLIT, _splits, CHEN, ("Protein", "Protein RBF", "Voting"), beside=_BESIDE),
    Experiment("chen2010", "4.6", f"{_SPLIT}, by spectrum modification", _splits, CHEN, ("Protein",), beside=_BESIDE),
    Experiment(
        "chen2010", "4.7", "lowest perplexities", _probabilities, PROBABILITIES, ("Aural Sonar", "Voting"), runs=10
    ),
    Experiment(
        "chen2010",
        "4.8",
        "highest normalised cross entropies",
        _probabilities,
        PROBABILITIES,
        ("Aural Sonar", "Voting"),
        runs=10,
    ),
    *(
        Experiment(
            "chen2010",
            table,
            f"linear programme for SimSVM, {what}",
            lp_problem,
            LP,
            _PAIRS,
            runs=10,
            arrange=affordable,
        )
        for table, what in (("5.1", "values reached"), ("5.2", "distance from the optimum in percent"))
    ),
    Experiment(
        "chen2010",
        "5.3",
        f"{_SPLIT}, learnt kernels",
        _or_facts(learnt_problem),
        {**LEARNT, **FACTS},
        _PAIRS,
        beside=_PAIR_BESIDE,
    ),
    Experiment(
        "chen2010",
        "5.4",
        f"{_SPLIT}, SimSVM by treatment of new rows",
        learnt_problem,
        LEARNT,
        _PAIRS,
        beside=_PAIR_BESIDE,
        arrange=with_treatments,
    ),
    Experiment("chen2010", "5.5", f"{_SPLIT}, fusion", fusion_problem, FUSION, _PAIRS[:2], beside=_PAIR_BESIDE),
    Experiment("qiao2013", "1", "twelve data sets described", facts_problem, FACTS, _QIAO_SETS, runs=2),
    *(
        Experiment("qiao2013", table, f"{_SPLIT}, {which}", _splits, QIAO, _QIAO_SETS, beside=_BESIDE)
        for table, which in (("2", "six methods"), ("3", "nine more"))
    ),
    Experiment("qiao2013", "5.3", f"{_SPLIT}, vectors instead of distances", _splits, VECTOR_MACHINES, ("Sonar",)),
    Experiment("pekalska2000", "1", "eight data sets described", facts_problem, FACTS, _VECTORS, runs=2),
    Experiment(
        "pekalska2000",
        "2",
        "errors on dissimilarities, half of the objects against the other half",
        _or_facts(half_problem),
        {**DISSIMILARITY, **FACTS},
        _VECTORS,
        runs=10,
        beside={"Digit": "Digits, 8 x 8"},
    ),
    Experiment(
        "bernal2003",
        "6",
        "accuracies of maximum similarity and support vectors: levels",
        third_problem,
        LEVELS,
        ("Wine", "Pima", "Liver", "Letter"),
        runs=10,
        beside=dict(zip(("Splice sites", "E. coli start sites"), SEQUENCES)),
    ),
)


def find_experiments(names: list[str] | tuple[str, ...] | None = None) -> list[Experiment]:
    """Experiments by name: a paper, ``paper:table``, the number of a table that only one paper has, or ``all``."""
    if not isinstance(names, list | tuple | None) or not all(isinstance(name, str) for name in names or ()):
        raise ProximityError(f"tables must be a list of names. Got {str(names)[:60]!r}.")
    if not names or "all" in names:
        return list(EXPERIMENTS)
    found: list[Experiment] = []
    for name in names:
        matches = [e for e in EXPERIMENTS if name in (e.key, e.paper, e.table)]
        if not matches or (len({e.paper for e in matches}) > 1):
            what = "several papers have" if matches else "there is no"
            raise ProximityError(
                f"Tables are named like cazzanti2007:6.1; {what} {name[:40]!r}. `similis reproduce --list` shows them."
            )
        found += [e for e in matches if e not in found]
    return found
