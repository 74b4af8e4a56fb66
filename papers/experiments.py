"""The experiments as data: which tables, which protocol behind each cell, which methods.

To add a method, add it to a dictionary of :mod:`papers.methods` under the name that the published files use. To add a
table, add an entry to EXPERIMENTS. Published cells whose method has no entry are listed as not available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from papers import methods as M
from papers.data import CLEAN
from papers.problems import (
    AllObjects,
    FactsProblem,
    Halves,
    LearnedKernels,
    LeaveOneOut,
    LPProblem,
    PerturbedCentroids,
    Problem,
    RandomSplits,
    Thirds,
    WorkedExample,
)
from papers.published import EXAMPLES, SIZES, PublishedCell, distance_of, published_cells
from similis.exceptions import ProximityError
from similis.study import Method


@dataclass(frozen=True)
class Experiment:
    """A table of a paper.

    Attributes
    ----------
    paper, table : str
        Place of the figures.
    about : str
        Contents of the table, in our words.
    problem : callable
        Makes the problem behind a published cell.
    methods : mapping of str to Method
        By the name in the published files.
    datasets : tuple of str
        Data sets of the table that are available; the others are left out.
    runs : int
        Number of runs of a full reproduction.
    variants : tuple of str
        Suffixes of the quantity that are compared with the same published figure.
    stand_ins : mapping of str to str
        Data sets run in place of, or in addition to, those of the table; their figures are shown, not judged.
    also : mapping of str to tuple of str
        Methods that are run wherever one of the table's methods is; their figures are shown, not judged.
    arrange : callable
        Renames quantities of the published cells where the paper tells them apart by conditions.
    fewer_runs : mapping of str to int
        Upper limits for methods, or data sets and methods ("Letter sbc"), that are too slow for all runs.
    """

    paper: str
    table: str
    about: str
    problem: Callable[[PublishedCell], Problem]
    methods: Mapping[str, Method]
    datasets: tuple[str, ...]
    runs: int = 20
    variants: tuple[str, ...] = ("",)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arrange: Callable[[list[PublishedCell]], list[PublishedCell]] = list
    fewer_runs: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Name on the command line."""
        return f"{self.paper}:{self.table}"

    def cells(self) -> list[PublishedCell]:
        """Published figures that can be compared with ours, then those of stand-ins."""
        known = [cell for cell in self._numbers() if cell.method in self.methods]
        others = [
            replace(cell, dataset=self.stand_ins[cell.dataset]) for cell in known if cell.dataset in self.stand_ins
        ]
        printed = self.arrange([cell for cell in known if cell.dataset in self.datasets])
        more = [replace(cell, method=name) for cell in printed for name in self.also.get(cell.method, ())]
        return [*printed, *self.arrange(others), *more]

    def is_printed(self, cell: PublishedCell) -> bool:
        """True if the paper prints this figure, for these data and this method."""
        added = {name for names in self.also.values() for name in names}
        augmented = cell.condition.get("test-similarities") == "augmented"
        return cell.dataset not in self.stand_ins.values() and cell.method not in added and not augmented

    def covers(self, cell: PublishedCell) -> bool:
        """True if a published cell, as printed, is compared with ours."""
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

    def run_numbers(self, problem: Problem, method: str, runs: int) -> range:
        """Numbers of those of the first `runs` runs that a method takes part in."""
        limits = (self.fewer_runs.get(name, runs) for name in (method, f"{problem.dataset} {method}"))
        return range(min(runs, problem.most_runs or runs, *limits))

    def _numbers(self) -> list[PublishedCell]:
        return _figures([one for cell in published_cells(self.paper, self.table) for one in cell.each()])


def _figures(cells: list[PublishedCell]) -> list[PublishedCell]:
    """Cells of the kinds that are compared."""
    kinds = ("error", "perplexity", "nce", "accuracy", "support-vectors", "objective", *EXAMPLES)
    others = ("empirical", "difference")
    return [
        cell
        for cell in cells
        if cell.value is not None
        and (cell.quantity in (kinds if cell.method else SIZES) or cell.quantity.startswith(others))
    ]


def _worked(cell: PublishedCell) -> Problem:
    at = ";".join(f"{key}={value}" for key, value in cell.condition.items())
    section = f"worked {cell.table}"
    return WorkedExample(f"{section} {at}".strip(), cell.table, at, seeds=section)


def _perturbed(cell: PublishedCell) -> Problem:
    at = cell.condition
    # At d = 2 nearest-neighbor SDA gives every object to the first class, so that its printed error counts the others.
    (one,) = [c for c in published_cells("cazzanti2007", cell.table, method="nnsda") if c.condition["d"] == "2"]
    assert one.value is not None
    return PerturbedCentroids(
        f"{cell.paper} {cell.table} d={at['d']}",
        similarity=at["similarity"],
        p=(at["p1"], at["p2"]),
        centroids=int(at["centroids"]),
        d=int(at["d"]),
        first=round(1000 - 10 * one.value),
    )


def _leave_one_out(cell: PublishedCell) -> Problem:
    view = cell.condition.get("similarity", "")
    name = f"leave-one-out {cell.dataset} {view}".strip()
    return LeaveOneOut(name, cell.dataset, view, seeds=name.removesuffix(CLEAN))


def _splits(cell: PublishedCell) -> Problem:
    """Random splits of the similarities; methods that read distances or vectors have the same ones."""
    name = f"splits {cell.dataset}"
    reads = (M.QIAO | M.VECTOR_SVMS)[cell.method].reads
    view = {"dissimilarity": "distances", "objects": "vectors"}.get(reads, "")
    return RandomSplits(f"{name} {view}".strip(), cell.dataset, view, seeds=name.removesuffix(CLEAN))


def _probabilities(cell: PublishedCell) -> Problem:
    return AllObjects(f"probabilities {cell.dataset}", cell.dataset)


def _learned(cell: PublishedCell) -> Problem:
    """Tables 5.3 and 5.4 of [chen2010]."""
    return LearnedKernels(f"learnt {cell.dataset}", cell.dataset, seeds=f"splits {cell.dataset.removesuffix(CLEAN)}")


def _fusion(cell: PublishedCell) -> Problem:
    """Table 5.5; figures that need the similarity alone are those of table 5.3."""
    if cell.method.startswith("svm-kernel"):
        return _learned(cell)
    view = cell.method[4:-1] if cell.method.startswith("svm(kernel-") else "stack"
    return LearnedKernels(
        f"fusion {cell.dataset} {view}", cell.dataset, view, seeds=f"splits {cell.dataset.removesuffix(CLEAN)}"
    )


def _without_pfam(cells: list[PublishedCell]) -> list[PublishedCell]:
    """Leave out the two figures of table 5.6 that need the Pfam kernel."""
    return [
        cell for cell in cells if cell.condition["similarity"] == "SW" or cell.method not in ("simmkl", "svm(kernel-1)")
    ]


def _linear_program(cell: PublishedCell) -> Problem:
    p = int(cell.condition.get("p", 0))
    # The name seeds the random numbers and is found in the committed results.
    return LPProblem(f"linear programme {cell.dataset} p={p}", cell.dataset, p=p)


def _without_large_programs(cells: list[PublishedCell]) -> list[PublishedCell]:
    """Leave out the programs of 50 vectors and more on the votes: 7,000,000 to 30,000,000 non-zeros."""
    return [cell for cell in cells if cell.dataset != "Voting" or int(cell.condition.get("p", 0)) < 50]


def _with_treatments(cells: list[PublishedCell]) -> list[PublishedCell]:
    """Name the treatment of new rows in the quantity (table 5.4); add the augmented rule to the paper's two."""
    found = []
    for cell in cells:
        if cell.condition["test-similarities"] == "unmodified":
            found.append(replace(cell, quantity="error, rows as they are"))
            continue
        condition = {**cell.condition, "test-similarities": "augmented"}
        found += [cell, replace(cell, condition=condition, quantity="error, augmented rows")]
    return found


def _halves(cell: PublishedCell) -> Problem:
    distance = distance_of(cell)
    if cell.method == "1nn-loo":
        return LeaveOneOut(f"leave-one-out {cell.dataset} {distance}", cell.dataset, distance)
    return Halves(f"halves {cell.dataset} {distance}", cell.dataset, distance)


# Stand-ins for sequences that are not available.
_SEQUENCES = ("Splice junctions", "Promoters")


def _thirds(cell: PublishedCell) -> Problem:
    kernel = "positions" if cell.dataset in _SEQUENCES else cell.condition.get("kernel", "rbf")
    return Thirds(f"thirds {cell.dataset} {kernel}", cell.dataset, "vectors", kernel=kernel)


def _facts(cell: PublishedCell) -> Problem:
    distance = distance_of(cell) if cell.paper == "pekalska2000" else ""
    if cell.dataset.startswith("Digits"):
        distance = "Contour"
    return FactsProblem(f"facts {cell.dataset} {distance}".strip(), cell.dataset, distance)


def _or_facts(problem: Callable[[PublishedCell], Problem]) -> Callable[[PublishedCell], Problem]:
    """For tables that hold sizes of data sets in addition to figures of methods."""
    return lambda cell: problem(cell) if cell.method else _facts(cell)


def _simulated(table: str, similarity: str, p2: str, centroids: str) -> Experiment:
    about = f"perturbed centroids, {similarity} similarity, p2 = {p2}, {centroids} per class"
    datasets, variants = ("perturbed centroids",), ("", " with floor")
    return Experiment("cazzanti2007", table, about, _perturbed, M.SIMULATION, datasets, variants=variants)


_TREATED = {
    f"{name}-knn({how})": (f"{name}-knn({how}){M.CONSISTENT}",) for name in ("kri", "krr") for how in ("clip", "flip")
}
_SHIFTED = {"svm-kernel(shift)": (f"svm-kernel(shift){M.CONSISTENT}",)}
_TREATED |= _SHIFTED | {"kri-knn": (f"kri-knn{M.CONSISTENT}",)}
_CLEAN_PROTEIN = {"Protein": f"Protein{CLEAN}"}
_PAIRS = ("Aural Sonar", "Protein-2", "Voting")
_CLEAN_PAIR = {"Protein-2": f"Protein-2{CLEAN}"}
_CHEN_SETS = ("Aural Sonar", "Protein", "Voting")
_VECTORS = ("Iris", "Crabs", "Sonar")
_QIAO_SETS = ("Aural Sonar", "Protein", "Sonar", "Voting")
_LOO = "leave-one-out errors"
_SPLIT = "errors over 20 random splits"
EXPERIMENTS: tuple[Experiment, ...] = (
    *(
        Experiment("cazzanti2007", section, about, _worked, M.WORKED, (dataset,), runs=runs)
        for section, dataset, runs, about in (
            ("3.1.1", "faces example (Fig. 2.1)", 2, "ten faces by hand: means, exponents and decisions of SDA"),
            ("3.3.4", "three bits (sec. 3.3.4)", 2, "SDA and discriminant analysis on similarities to all samples"),
            ("3.3.7", "boundaries (sec. 3.3.7)", 10, "decisions of SDA, SVM, P-SVM and naive Bayes"),
            ("5.3.5", "EM example", 10, "mixture SDA on perturbed prototypes of twelve bits"),
        )
    ),
    _simulated("6.1", "counting", "1/30", "one centroid"),
    _simulated("6.2", "counting", "1/4", "one centroid"),
    _simulated("6.3", "VDM", "1/30", "one centroid"),
    _simulated("6.4", "VDM", "1/4", "one centroid"),
    _simulated("6.5", "counting", "1/30", "two centroids"),
    _simulated("6.6", "counting", "1/4", "two centroids"),
    _simulated("6.7", "VDM", "1/30", "two centroids"),
    _simulated("6.8", "VDM", "1/4", "two centroids"),
    Experiment(
        "cazzanti2007",
        "6.9",
        f"{_LOO}, protein",
        _leave_one_out,
        M.BENCHMARK,
        ("Protein",),
        runs=5,
        fewer_runs={"psvm": 1},
        stand_ins=_CLEAN_PROTEIN,
    ),
    Experiment(
        "cazzanti2007",
        "6.10",
        f"{_LOO}, votes and aural sonar",
        _leave_one_out,
        M.BENCHMARK,
        ("Voting", "Aural Sonar"),
        runs=5,
        fewer_runs={"psvm": 1},
    ),
    Experiment("chen2010", "4.1", "eight data sets described", _facts, M.FACTS, _CHEN_SETS, runs=2),
    Experiment("chen2010", "4.3", _SPLIT, _splits, M.CHEN, ("Aural Sonar",), also=_TREATED),
    Experiment(
        "chen2010",
        "4.5",
        _SPLIT,
        _splits,
        M.CHEN,
        ("Protein", "Protein RBF", "Voting"),
        stand_ins=_CLEAN_PROTEIN,
        also=_TREATED,
    ),
    Experiment(
        "chen2010",
        "4.6",
        f"{_SPLIT}, by spectrum modification",
        _splits,
        M.CHEN,
        ("Protein",),
        stand_ins=_CLEAN_PROTEIN,
        also=_TREATED,
    ),
    *(
        Experiment(
            "chen2010",
            table,
            what,
            _probabilities,
            M.PROBABILITIES,
            ("Aural Sonar", "Voting"),
            runs=5,
            also=_TREATED,
        )
        for table, what in (("4.7", "lowest perplexities"), ("4.8", "highest normalized cross entropies"))
    ),
    *(
        Experiment(
            "chen2010",
            table,
            f"linear program for SimSVM, {what}",
            _linear_program,
            M.LP,
            _PAIRS,
            runs=10,
            arrange=_without_large_programs,
        )
        for table, what in (("5.1", "values reached"), ("5.2", "distance from the optimum in percent"))
    ),
    Experiment(
        "chen2010",
        "5.3",
        f"{_SPLIT}, learned kernels",
        _or_facts(_learned),
        {**M.LEARNED, **M.FACTS},
        _PAIRS,
        stand_ins=_CLEAN_PAIR,
        also=_SHIFTED,
    ),
    Experiment(
        "chen2010",
        "5.4",
        f"{_SPLIT}, SimSVM by treatment of new rows",
        _learned,
        M.LEARNED,
        _PAIRS,
        stand_ins=_CLEAN_PAIR,
        arrange=_with_treatments,
    ),
    Experiment(
        "chen2010", "5.5", f"{_SPLIT}, fusion", _fusion, M.FUSION, _PAIRS[:2], stand_ins=_CLEAN_PAIR, also=_SHIFTED
    ),
    Experiment(
        "chen2010",
        "5.6",
        f"{_SPLIT}, fusion on yeast proteins; five for SimMKL",
        _fusion,
        M.FUSION,
        ("Yeast-7-12",),
        arrange=_without_pfam,
        also=_SHIFTED,
        fewer_runs={"simmkl": 5},
    ),
    Experiment("qiao2013", "1", "twelve data sets described", _facts, M.FACTS, _QIAO_SETS, runs=2),
    *(
        Experiment(
            "qiao2013",
            table,
            f"{_SPLIT}, {which}",
            _splits,
            M.QIAO,
            _QIAO_SETS,
            stand_ins=_CLEAN_PROTEIN,
            also=_TREATED | M.SHAPES,
        )
        for table, which in (("2", "six methods"), ("3", "nine more"))
    ),
    Experiment("qiao2013", "5.3", f"{_SPLIT}, vectors instead of distances", _splits, M.VECTOR_SVMS, ("Sonar",)),
    Experiment("pekalska2000", "1", "eight data sets described", _facts, M.FACTS, _VECTORS, runs=2),
    Experiment(
        "pekalska2000",
        "2",
        "errors on dissimilarities, half of the objects against the other half",
        _or_facts(_halves),
        {**M.DISSIMILARITY, **M.FACTS},
        _VECTORS,
        runs=10,
        stand_ins={"Digit": "Digits, 8 x 8"},
    ),
    Experiment(
        "bernal2003",
        "6",
        "accuracies of maximum similarity and support vectors: levels",
        _thirds,
        M.LEVELS,
        ("Wine", "Pima", "Liver", "Satellite", "Letter"),
        runs=10,
        fewer_runs={"perceptron": 5, "sbc": 5, "Letter perceptron": 2, "Letter sbc": 2},
        also={"maxsim": ("sbc", "perceptron")},
        stand_ins=dict(zip(("Splice sites", "E. coli start sites"), _SEQUENCES)),
    ),
)


def find_experiments(names: list[str] | tuple[str, ...] | None = None) -> list[Experiment]:
    """Find experiments by name: a paper, ``paper:table``, the number of a table that only one paper has, or ``all``."""
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
                f"Tables are named like cazzanti2007:6.1; {what} {name[:40]!r}. `scripts/reproduce --list` shows them."
            )
        found += [e for e in matches if e not in found]
    return found
