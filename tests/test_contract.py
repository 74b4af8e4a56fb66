"""Every public classifier passes scikit-learn's estimator checks and those of similis.testing."""

import inspect
from itertools import takewhile

import contract
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils._testing import ignore_warnings
from sklearn.utils.validation import has_fit_parameter

import similis
from similis import (
    PCVM,
    SBC,
    SDA,
    SVMKNN,
    CompletionSVM,
    CondensedNN,
    ConformalClassifier,
    Counting,
    FullKernelSVM,
    IncrementalHLM,
    IndefiniteSVM,
    KernelHLM,
    KreinLogistic,
    KreinRidgeClassifier,
    KreinSVM,
    LocalNearestCentroid,
    LocalSDA,
    LPMachine,
    MaxSim,
    MixedSDA,
    MixtureHLM,
    MixtureSDA,
    NearestCentroid,
    NearestNeighborSDA,
    NormalLinear,
    NormalQuadratic,
    Pairwise,
    Parzen,
    PathSearchCV,
    PotentialSVM,
    PseudoFisher,
    PseudoNearestMean,
    RelationalGLVQ,
    SimilarityForest,
    SimilarityKNN,
    SimilarityLabelSpreading,
    SimilarityPerceptron,
    SimMKL,
    SimSVM,
)
from similis._utils.environment import DOC_LINK_TEMPLATE
from similis.testing import check_estimator, estimator_checks, parametrize_with_checks


class Inverse:
    """A weight function with a name of its own, the same in every process."""

    def __call__(self, D):
        return 1 / (1 + D)

    def __repr__(self):
        return "inverse"


CLASSIFIERS = [
    NearestCentroid(),
    NearestCentroid(centroid="popular"),
    NearestCentroid(kind="dissimilarity", adjusted=True),
    LocalNearestCentroid(),
    LocalNearestCentroid(kind="dissimilarity"),
    MaxSim(),
    MaxSim(kind="dissimilarity"),
    SBC(C=1.0),
    SBC(C=10.0, strong=False, normalize=True),
    SBC(C=1.0, kind="dissimilarity"),
    SimilarityPerceptron(average=True),
    SimilarityPerceptron(average=True, kind="dissimilarity"),
    NormalLinear(),
    NormalLinear(regularization=0.0, shrinkage_target="trace"),
    NormalQuadratic(),
    NormalQuadratic(regularization=0.5, shrinkage_target="trace"),
    PseudoFisher(),
    Parzen(),
    Parzen(bandwidth=1.0, space="features", priors="laplace"),
    PseudoNearestMean(),
    KernelHLM(),
    KernelHLM(shared=False, shape=1.0, max_samples=20, random_state=0),
    MixtureHLM(random_state=0),
    MixtureHLM(n_components=2, clustering="ward", shared_shape=False, priors="laplace"),
    MixtureHLM(n_components=3, clustering="kmedoids"),
    IncrementalHLM(random_state=0),
    IncrementalHLM(scheme="resample", n_components=2, random_state=0),
    PotentialSVM(),
    PotentialSVM(C=1.0, epsilon=0.01, normalize=True, multiclass="ovr"),
    LPMachine(),
    SVMKNN(),
    SVMKNN(n_neighbors=5, C=100.0, spectrum="flip"),
    KreinSVM(),
    KreinRidgeClassifier(),
    KreinRidgeClassifier(alpha=1.0, ratio=float("inf"), kind="dissimilarity"),
    KreinLogistic(ratio=10.0),
    PCVM(),
    IndefiniteSVM(),
    SimSVM(),
    SimSVM(anchor="flip", norm=1),
    SimMKL(),
    FullKernelSVM(),
    CompletionSVM(),
    CondensedNN(n_prototypes=3, random_state=0),
    CondensedNN(n_prototypes=2, clustering="vsh", kind="dissimilarity", random_state=0),
    RelationalGLVQ(random_state=0),
    RelationalGLVQ(n_prototypes=2, kind="dissimilarity", random_state=0),
    SimilarityForest(n_estimators=10, random_state=0),
    SimilarityLabelSpreading(unlabeled=None),
    SimilarityLabelSpreading(n_neighbors=3, unlabeled=None),
    SimilarityKNN(),
    SimilarityKNN(kind="dissimilarity", n_neighbors=3, weights=Inverse()),
    SimilarityKNN(weights="affinity", n_neighbors=20, smoothing=0.01),
    SimilarityKNN(weights="kri", n_neighbors=8),
    SimilarityKNN(weights="krr", n_neighbors=8, regularization=0.1),
    SimilarityKNN(weights="lime", n_neighbors=8),
    SDA(),
    SDA(statistic=["quadratic", "total"], domain="continuous", pseudocount=1.0, kind="dissimilarity"),
    NearestNeighborSDA(),
    LocalSDA(),
    LocalSDA(n_neighbors=8, weights="kri", smoothing=0.01),
    LocalSDA(neighborhood="reciprocal", domain=(0.0, np.inf), kind="dissimilarity"),
    MixtureSDA(random_state=0),
    MixtureSDA(init="medoids", update_centroids=True, pseudocount=1.0, kind="dissimilarity", random_state=0),
]
TABLES = [  # read rows of features, not square matrices
    MixedSDA(Counting()),
    MixedSDA(Counting(), independent=False, regularization=0.1),
    PotentialSVM(C=10.0, normalize=True, input="features"),
]
SEARCHES = [
    PathSearchCV(SimilarityKNN(weights="kri"), {"n_neighbors": [2, 4], "regularization": [0.1, 10]}, cv=3),
    PathSearchCV(LocalNearestCentroid(), {"n_neighbors": [1, 2, 3]}, cv=3),
    ConformalClassifier(NearestCentroid(), cv=2, random_state=0),
]


VARIANTS = [model for i, model in enumerate(CLASSIFIERS) if type(model) in map(type, CLASSIFIERS[:i])]
FIRST = [model for model in CLASSIFIERS if model not in VARIANTS]


@parametrize_with_checks(FIRST + SEARCHES + TABLES, expected_failed_checks=contract.expected_failures)
def test_checks(estimator, check):
    with ignore_warnings(category=UserWarning):
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=contract.expected_failures)
def test_checks_of_variants(estimator, check):
    with ignore_warnings(category=UserWarning):
        check(estimator)


@pytest.mark.parametrize("estimator", VARIANTS, ids=repr)
def test_own_checks_of_variants(estimator):
    """The checks of similis; those of scikit-learn are slow tests."""
    for check in estimator_checks(estimator):
        if check.__name__ not in contract.expected_failures(estimator):
            with ignore_warnings(category=UserWarning):
                check(estimator)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_sample_weight_is_documented_where_it_exists(estimator):
    assert has_fit_parameter(estimator, "sample_weight") == ("sample_weight" in inspect.getdoc(type(estimator).fit))


def test_check_estimator_runs_all_checks():
    check_estimator(NearestCentroid())


class DependsOnOtherRows(NearestCentroid):
    """A classifier that fails check_rows_independent."""

    def class_scores(self, Q):
        return np.where(np.arange(len(Q))[:, None] % 2, -1, 1) * super().class_scores(Q)


class SetsShortArrays(SimilarityKNN):
    """A classifier that fails check_fitted_arrays."""

    def fit(self, X, y):
        super().fit(X, y)
        self._codes = self._codes[:-1]
        return self


def test_checks_find_faults():
    with pytest.raises(AssertionError):
        check_estimator(DependsOnOtherRows())
    (check,) = (check for check in estimator_checks(SetsShortArrays()) if check.__name__ == "check_fitted_arrays")
    with pytest.raises(AssertionError, match=r"SetsShortArrays\(\) sets other arrays .* shape \(30,\)\. Got \(29,\)"):
        check(SetsShortArrays())


def test_every_public_classifier_is_here():
    packages = ("neighbors", "discriminant", "mixture", "svm", "normal", "maxsim")
    names = {
        name
        for package in packages
        for name in similis._PACKAGES.get(package, ())
        if isinstance(getattr(similis, name), type) and issubclass(getattr(similis, name), ClassifierMixin)
    }
    assert names <= {type(estimator).__name__ for estimator in CLASSIFIERS + TABLES}


PUBLIC = {name: getattr(similis, name) for name in similis.__all__ if isinstance(getattr(similis, name), type)}
ESTIMATORS = [cls for cls in PUBLIC.values() if issubclass(cls, BaseEstimator)]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_notebook_links_lead_to_no_other_project(cls):
    estimator = object.__new__(cls)
    link = estimator._get_doc_link()
    assert link == DOC_LINK_TEMPLATE.format(estimator_module=public_module(cls), estimator_name=cls.__name__)
    assert "scikit-learn.org" not in link


def public_module(cls):
    return ".".join(takewhile(lambda part: not part.startswith("_"), cls.__module__.split(".")))


@pytest.mark.parametrize("estimator", [SimilarityKNN(), Counting(), Pairwise(Counting()), *SEARCHES, *TABLES], ids=repr)
def test_notebook_representation_has_no_link_to_scikit_learn(estimator):
    assert "https://scikit-learn.org" not in estimator_html_repr(estimator)
