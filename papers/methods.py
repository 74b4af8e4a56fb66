"""The methods as the papers used them: estimators, grids, and the folds that search the grids.

Methods have the names of the published files. Estimators that exist for an experiment only stand at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import LeaveOneOut, ParameterGrid, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from similis.discriminant import SDA, LocalSDA, MixtureSDA, NearestNeighborSDA
from similis.maxsim import SBC, MaxSim, SimilarityPerceptron
from similis.measures import RBF, Pairwise, Polynomial
from similis.mixture import KernelHLM, MixtureHLM
from similis.model_selection import PathSearchCV
from similis.neighbors import CondensedNN, LocalNearestCentroid, NearestCentroid, SimilarityKNN
from similis.normal import NormalLinear, NormalQuadratic, Parzen, PseudoFisher
from similis.proximity import (
    SimilarityFeatures,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    SpectrumSquare,
    Whiten,
)
from similis.study import AtMost, Method
from similis.svm import SVMKNN, IndefiniteSVM, PotentialSVM, SimMKL, SimSVM


def _method(
    name: str, estimator: Any, grid: Mapping[str, Any] | None = None, cv: int | None = None, **more: Any
) -> Method:
    """Describe a method; a grid is searched by `cv` stratified folds, or by leave-one-out if `cv` is None."""
    splitter = LeaveOneOut() if cv is None else StratifiedKFold(cv)
    return Method(name, partial(clone, estimator), grid or {}, **{"reads": "either", "cv": splitter, **more})


def with_parameters(method: Method, **parameters: Any) -> partial[Any]:
    """Return a `make` for `method` whose estimator has other parameters."""
    return partial(clone, method.make().set_params(**parameters))


def _powers(low: int, high: int) -> tuple[float, ...]:
    """Powers of ten from 10^low to 10^high."""
    return tuple(10.0**power for power in range(low, high + 1))


def _by_name(*methods: Method) -> dict[str, Method]:
    return {method.name: method for method in methods}


_SVC = SVC(kernel="precomputed", max_iter=100_000)
_SPECTRA = {"clip": SpectrumClip(), "flip": SpectrumFlip(), "shift": SpectrumShift()}

# [cazzanti2007] sec. 6.1: perturbed centroids. In how many folds the P-SVM was cross-validated is not stated.
_K_SIMULATION = {"n_neighbors": AtMost((*range(1, 21), *range(29, 100, 10)))}
_COMPONENTS = (2, 3, 4, 5, 7, 10)
_EPSILONS = tuple(e / 10 for e in range(1, 11))
SIMULATION = _by_name(
    _method("local-sda", LocalSDA(), _K_SIMULATION),
    _method("sda", SDA()),
    _method("mixture-sda", MixtureSDA(n_init=1), {"n_components": _COMPONENTS}, 5),
    _method("nnsda", NearestNeighborSDA()),
    _method("nc", NearestCentroid()),
    _method("local-nc", LocalNearestCentroid(), _K_SIMULATION),
    _method("knn", SimilarityKNN(), _K_SIMULATION),
    _method("cnn", CondensedNN(n_init=1), {"n_prototypes": _COMPONENTS}, 5),
    _method("psvm", PotentialSVM(normalize=True), {"C": tuple(map(float, range(1, 952, 50))), "epsilon": _EPSILONS}, 5),
    _method("naive-bayes", BernoulliNB(alpha=1.0), reads="objects"),
)

# [cazzanti2007] sec. 6.2: the benchmark data, leave-one-out inside leave-one-out. For the P-SVM that would be 1,900,000
# classifiers on the votes alone: five folds and fewer values here. No coefficient comes near 51, so that the larger C
# of {1, 51, ..., 951} would give the same classifiers and never be chosen.
_K_BENCHMARK = {"n_neighbors": AtMost((*range(1, 21), *range(30, 101, 10), 150, 200))}
BENCHMARK = _by_name(
    _method("local-sda", LocalSDA(priors="laplace"), _K_BENCHMARK),
    _method("sda", SDA(priors="laplace")),
    _method("nnsda", NearestNeighborSDA(priors="laplace")),
    _method("nc", NearestCentroid()),
    _method("local-nc", LocalNearestCentroid(), _K_BENCHMARK),
    _method("knn", SimilarityKNN(), _K_BENCHMARK),
    _method("psvm", PotentialSVM(normalize=True, multiclass="ovr"), {"C": (1.0, 51.0), "epsilon": _EPSILONS[::3]}, 5),
)

# [chen2010] table 4.2. The figures of tables 4.5 to 4.8 are those of new rows that are left as they are, while sec. 4.1
# treats new rows as the training matrix is treated; the latter is run in addition.
CONSISTENT = ", consistent rows"
_SHIFTED_ROWS = _method(
    f"svm-kernel(shift){CONSISTENT}",
    make_pipeline(SpectrumShift(query="consistent"), _SVC),
    {"svc__C": _powers(-5, 5)},
    10,
)
_K_CHEN = {"n_neighbors": AtMost((*range(1, 17), 32, 64, 128))}
_KRI = {**_K_CHEN, "regularization": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e6)}
_KRR = {**_K_CHEN, "regularization": (1e-3, 1e-2, 0.1, 1.0, 10.0)}
_C_CHEN = _powers(-3, 5)
_RBF = {"pairwise__measure__gamma": _powers(-5, 1), "svc__C": _powers(-3, 1)}
CHEN = _by_name(
    _method("knn", SimilarityKNN(), _K_CHEN, 10),
    _method("affinity-knn", SimilarityKNN(weights="affinity"), _K_CHEN, 10),
    _method("local-sda", LocalSDA(), _K_CHEN, 10),
    *(
        _method(
            f"{weights}-knn({spectrum}){CONSISTENT if query == 'consistent' else ''}",
            SimilarityKNN(weights=weights, spectrum=spectrum, query=query),
            grid,
            10,
        )
        for weights, grid, spectra in (
            ("kri", _KRI, ("clip", "flip", "shift")),
            ("krr", _KRR, ("pinv", "clip", "flip", "shift")),
        )
        for spectrum in spectra
        for query in (("raw", "consistent") if spectrum in ("clip", "flip") else ("raw",))
    ),
    *(
        _method(f"svm-kernel({name})", make_pipeline(spectrum, _SVC), {"svc__C": _C_CHEN}, 10)
        for name, spectrum in _SPECTRA.items()
    ),
    _SHIFTED_ROWS,
    # The linear SVM on rows is that of the kernel S S'.
    _method("svm-features(linear)", make_pipeline(SpectrumSquare(), _SVC), {"svc__C": _C_CHEN}, 10),
    _method("svm-features(rbf)", make_pipeline(SimilarityFeatures(), Pairwise(RBF()), _SVC), _RBF, 10),
    *(_method(f"svm-knn({name})", SVMKNN(spectrum=name), {**_K_CHEN, "C": _C_CHEN}, 10) for name in _SPECTRA),
    _method("psvm", PotentialSVM(), {"C": _powers(0, 4), "epsilon": _powers(-4, 1)}, 10),
)


class EqualPriorsHLM(KernelHLM):
    """Kernel HLM with equal priors, however many classes there are."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit with the prior 1 / G for each class."""
        n_classes = len(np.unique(y))
        self.priors = np.full(n_classes, 1 / n_classes)
        return super().fit(X, y)


# [qiao2013] sec. 5.1 takes the values of [chen2010]; the HLM read distances. One shape for all classes is the form that
# sec. 3.1 writes out; a shape for each class, which it allows, and equal priors are run in addition.
_HLM = {"n_components": (*range(1, 11), 12, 14, 16)}
_CLUSTERINGS = {"hlm-vsh": "vsh", "hlm-gknn": "kmedoids", "hlm-agg": "ward"}
SHAPES = {name: (f"{name}, own shapes",) for name in _CLUSTERINGS} | {"kernel-hlm": ("kernel-hlm, equal priors",)}
QIAO = CHEN | _by_name(
    _method("kernel-hlm", KernelHLM(), reads="dissimilarity"),
    _method("kernel-hlm, equal priors", EqualPriorsHLM(), reads="dissimilarity"),
    *(
        _method(
            name if shared else f"{name}, own shapes",
            MixtureHLM(clustering=clustering, shared_shape=shared),
            _HLM,
            10,
            reads="dissimilarity",
        )
        for name, clustering in _CLUSTERINGS.items()
        for shared in (True, False)
    ),
    _method("hlm-kernel-vsh", MixtureHLM(n_components="auto"), reads="dissimilarity"),
)
# Sec. 5.3 does not state the values; these are those of table 4.2 around the ones that are chosen.
VECTOR_SVMS = _by_name(
    _method("svm-vectors(linear)", SVC(kernel="linear", max_iter=100_000), {"C": _powers(-2, 3)}, 10, reads="objects"),
    _method(
        "svm-vectors(rbf)", SVC(max_iter=100_000), {"C": _powers(-1, 3), "gamma": _powers(-2, 1)}, 10, reads="objects"
    ),
)


def _count_support_vectors(model: Any, *_: Any) -> dict[str, float]:
    pipeline = getattr(model, "best_estimator_", model)
    return {"support-vectors": pipeline[-1].n_support_.sum()}


# [pekalska2000] table 2.
_SVC_LINEAR = SVC(kernel="linear", max_iter=100_000)
_C_LINEAR: dict[str, Any] = {"grid": {"svc__C": (0.1, 1.0, 10.0, 100.0)}, "cv": 5, "details": _count_support_vectors}
DISSIMILARITY = _by_name(
    _method("1nn-loo", SimilarityKNN(n_neighbors=1)),
    _method("rnlc", NormalLinear(), {"regularization": (0.001, 0.01, 0.05, 0.1, 0.3, 0.5)}, 5),
    _method("rnqc", NormalQuadratic(), {"regularization": (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1)}, 5),
    _method("pfld", PseudoFisher()),
    _method("svc-d", make_pipeline(SimilarityFeatures(), _SVC_LINEAR), **_C_LINEAR),
    _method("svc-d2", make_pipeline(Whiten(), _SVC_LINEAR), **_C_LINEAR),
    _method("1nn-f", make_pipeline(SimilarityFeatures(), KNeighborsClassifier(1))),
    _method("1nn-r", SimilarityKNN(n_neighbors=1)),
    _method("parzen-f", Parzen(space="features")),
    _method("parzen-r", Parzen()),
    _method("dt-max", make_pipeline(SimilarityFeatures(), DecisionTreeClassifier(criterion="entropy"))),
    _method("dt-gini", make_pipeline(SimilarityFeatures(), DecisionTreeClassifier(criterion="gini"))),
)

# [chen2010] sec. 5.3.2.
_C_LEARNED = _powers(-3, 3)
LEARNED = _by_name(
    _method("simsvm", SimSVM(), {"eta": _powers(-4, 1), "gamma": _powers(-4, 4)}, 10),
    _method("indefinite-svm", IndefiniteSVM(), {"C": _C_LEARNED, "rho": _powers(-3, 3)}, 10),
    _method("svm-kernel(clip)", make_pipeline(SpectrumClip(), _SVC), {"svc__C": _C_LEARNED}, 10),
    _method("svm-kernel(flip)", make_pipeline(SpectrumFlip(), _SVC), {"svc__C": _C_LEARNED}, 10),
    _method("svm-kernel(shift)", make_pipeline(SpectrumShift(), _SVC), {"svc__C": _powers(-5, 3)}, 10),
    _SHIFTED_ROWS,
)
# Sec. 5.4.3: the similarity and three kernels made from its rows.
_ROLES = ("similarity", "kernel", "kernel", "kernel")
FUSION = {name: method for name, method in LEARNED.items() if name.startswith("svm-kernel")} | _by_name(
    _method("simmkl", SimMKL(roles=_ROLES), {"eta": _powers(-4, 0), "gamma": _powers(-3, 3)}, 10),
    *(_method(f"svm(kernel-{k})", _SVC, {"C": _C_LEARNED}, 10) for k in (1, 2, 3)),
)
# Sec. 5.3.1: both parameters are fixed.
LP = _by_name(*(_method(name, SimSVM(eta=0.01, gamma=0.01, norm=1)) for name in ("simsvm-socp", "simsvm-lp")))

# Tables that describe data sets have no method.
FACTS = {"": _method("", DummyClassifier())}
# Worked examples compute their values themselves.
_WORKED = ("sda", "nc", "lda-features", "sda-features", "svm", "psvm", "naive-bayes", "mixture-sda", "k-medoids")
WORKED = _by_name(*(_method(name, DummyClassifier()) for name in _WORKED))


class BestProbabilities(ClassifierMixin, BaseEstimator):
    """[chen2010] sec. 4.6: leave-one-out probabilities of the grid point with the lowest cross entropy.

    As in the paper this is no held-out figure.
    """

    def __init__(self, estimator: Any, grid: Mapping[str, Iterable[Any]]) -> None:
        self.estimator = estimator
        self.grid = grid

    def fit(self, S: NDArray[Any], y: NDArray[Any]) -> BestProbabilities:
        """Compute perplexity and normalized cross entropy of every grid point; keep the best."""
        n = len(y)
        codes = np.unique(y, return_inverse=True)[1]
        points = list(
            ParameterGrid(
                {key: [v for v in values if key != "n_neighbors" or v < n] for key, values in self.grid.items()}
            )
        )
        answers = clone(self.estimator).predict_path_cv(S, y, np.arange(n), points, response="predict_proba")
        # Sec. 4.6.1: zeta = -1/n sum_i log P(y_i | x_i), perplexity e^zeta, NCE 1 - zeta / zeta_0 with the zeta_0 of
        # the class frequencies among the others.
        entropies = [-np.log(proba[np.arange(n), codes]).mean() for proba in answers]
        best = int(np.argmin(entropies))
        zeta = float(entropies[best])
        zeta_0 = -np.log((np.bincount(codes)[codes] - 1) / (n - 1)).mean()
        self.best_params_ = points[best]
        self.perplexity_, self.nce_ = float(np.exp(zeta)), float(1 - zeta / zeta_0)
        return self


def _entropies(model: BestProbabilities, *_: Any) -> dict[str, float]:
    return {"perplexity": model.perplexity_, "nce": model.nce_}


# [chen2010] sec. 4.6.2; the smoothing is that of footnote 7 for Aural Sonar and Voting.
_K_PROBABILITIES = {"n_neighbors": (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)}
_KRI_PROBABILITIES = {**_K_PROBABILITIES, "regularization": _powers(-6, 2)}
PROBABILITIES = _by_name(
    *(
        _method(
            name,
            BestProbabilities(SimilarityKNN(weights=weights, smoothing=1e-4, query=query), grid),
            details=_entropies,
        )
        for name, weights, query, grid in (
            ("knn", "uniform", "raw", _K_PROBABILITIES),
            ("affinity-knn", "affinity", "raw", _K_PROBABILITIES),
            ("kri-knn", "kri", "raw", _KRI_PROBABILITIES),
            (f"kri-knn{CONSISTENT}", "kri", "consistent", _KRI_PROBABILITIES),
        )
    )
)


class SubsetSearch(ClassifierMixin, BaseEstimator):
    """Parameters chosen by cross-validation on the first training objects; all of them fit the chosen model."""

    def __init__(
        self, estimator: Any, grid: Mapping[str, list[Any]], *, n_objects: int = 1500, random_state: int | None = None
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.n_objects = n_objects
        self.random_state = random_state

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> SubsetSearch:
        """Search, then fit."""
        cv = StratifiedKFold(5, shuffle=True, random_state=self.random_state)
        search = PathSearchCV(self.estimator, self.grid, cv=cv, refit=False)
        search.fit(X[: self.n_objects], y[: self.n_objects])
        self.best_params_ = search.best_params_
        self.model_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Predict labels, 2,000 objects at a time: the proximities of all would fill the memory."""
        return np.concatenate([self.model_.predict(part) for part in np.array_split(X, 1 + len(X) // 2000)])


# [bernal2003] sec. 6: the classifiers, each behind a measure that is chosen too.
LEVELS = _by_name(
    _method("maxsim", MaxSim(), reads="objects"),
    _method("svm", _SVC, {"C": (1.0, 10.0, 100.0)}, reads="objects"),
    _method("sbc", SBC(), {"C": (0.1, 1.0, 10.0)}, reads="objects"),
    _method("perceptron", SimilarityPerceptron(average=True), reads="objects"),
)
# Widths 0.5 to 8 on standardized vectors; powers of the cosine of vectors lifted onto a sphere; sequences by the
# positions in which they differ.
_LEVEL_MEASURES: dict[str, tuple[Any, dict[str, tuple[float, ...]]]] = {
    "rbf": (RBF(), {"gamma": tuple(1 / (2 * 4.0**k) for k in (-1, 0, 0.5, 1, 1.5, 2, 3))}),
    "polynomial": (Polynomial(lift=5.0), {"degree": (2, 4, 8, 16, 32, 64)}),
    "positions": (RBF(), {"gamma": (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)}),
}
# Further values for MaxSim, SBC and the perceptron, which need tight measures; the SVM chooses from the middle of the
# values above.
_TIGHTER: dict[str, tuple[float, ...]] = {"rbf": (8.0, 32.0), "polynomial": (128, 256, 512)}


def make_level_classifier(method: Method, kernel: str) -> SubsetSearch:
    """Put scaling and a measure in front of a classifier of :data:`LEVELS`, with the grid of both."""
    measure, values = _LEVEL_MEASURES[kernel]
    classifier = method.make()
    scale = FunctionTransformer() if kernel == "positions" else StandardScaler()
    pipeline = make_pipeline(scale, Pairwise(clone(measure)), classifier)
    more = () if isinstance(classifier, SVC) else _TIGHTER.get(kernel, ())
    grid = {f"pairwise__measure__{name}": [*v, *more] for name, v in values.items()}
    grid |= {f"{pipeline.steps[-1][0]}__{name}": list(v) for name, v in method.grid.items()}
    return SubsetSearch(pipeline, grid)
