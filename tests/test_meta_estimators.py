"""scikit-learn's meta-estimators: right on objects that index a stored matrix, wrong or failing on the bare matrix.

The same kernel is given three ways: computed inside from features (the truth), stored and reached through
Pairwise(FromMatrix(K)) from row numbers, and as a bare matrix.
"""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import RBF, FromMatrix, Jaccard, Minkowski, Pairwise, SimilarityKNN

GAMMA = 0.1
X, y = make_classification(120, 6, n_informative=4, flip_y=0.1, random_state=0)
K, D = rbf_kernel(X, gamma=GAMMA), euclidean_distances(X)
OBJECTS = np.arange(len(y))[:, None]
CV = StratifiedKFold(4)

# classifier: inside from features; from row numbers; from features measured by us; on the bare matrix; the matrix
WAYS = {
    "SVC": (
        SVC(kernel="rbf", gamma=GAMMA),
        make_pipeline(Pairwise(FromMatrix(K)), SVC(kernel="precomputed")),
        make_pipeline(Pairwise(RBF(gamma=GAMMA)), SVC(kernel="precomputed")),
        SVC(kernel="precomputed"),
        K,
    ),
    "k-NN": (
        KNeighborsClassifier(7),
        make_pipeline(Pairwise(FromMatrix(D, kind="dissimilarity")), KNeighborsClassifier(7, metric="precomputed")),
        make_pipeline(Pairwise(Minkowski()), KNeighborsClassifier(7, metric="precomputed")),
        KNeighborsClassifier(7, metric="precomputed"),
        D,
    ),
}
META = {
    "calibration": lambda model: CalibratedClassifierCV(model, cv=3),
    "threshold": lambda model: TunedThresholdClassifierCV(model, cv=3, thresholds=9),
    "fixed threshold": lambda model: FixedThresholdClassifier(model, threshold=0.3),
    "voting": lambda model: VotingClassifier([("one", model), ("two", model)]),
    "stacking": lambda model: StackingClassifier([("one", model)], LogisticRegression(), cv=3),
    "bagging": lambda model: BaggingClassifier(model, n_estimators=10, random_state=0),
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("meta", META)
@pytest.mark.parametrize("way", WAYS)
def test_scores_equal_those_of_the_kernel_computed_inside(way, meta):
    inside, stored, measured, _, _ = WAYS[way]
    make = META[meta]
    truth = cross_val_score(make(inside), X, y, cv=CV)
    np.testing.assert_array_equal(cross_val_score(make(stored), OBJECTS, y, cv=CV), truth)
    np.testing.assert_array_equal(cross_val_score(make(measured), X, y, cv=CV), truth)
    assert truth.mean() > 0.7


@pytest.mark.parametrize("way", WAYS)
def test_probabilities_equal_those_of_the_kernel_computed_inside(way):
    inside, stored, *_ = WAYS[way]
    for meta in ("calibration", "stacking"):
        truth, ours = (
            cross_val_predict(META[meta](model), data, y, cv=CV, method="predict_proba")
            for model, data in ((inside, X), (stored, OBJECTS))
        )
        np.testing.assert_allclose(ours, truth, atol=1e-2 if way == "SVC" else 1e-12)


@pytest.mark.parametrize("meta", META)
@pytest.mark.parametrize("way", WAYS)
def test_the_bare_matrix_fails_in_cross_validation(way, meta):
    """Only rows are sliced: the block is not square. If scikit-learn learns better, the page must change."""
    *_, bare, matrix = WAYS[way]
    with pytest.raises(ValueError, match=r"square|[Pp]recomputed"):
        cross_val_score(META[meta](bare), matrix, y, cv=CV, error_score="raise")


@pytest.mark.parametrize("way", WAYS)
def test_bagging_of_the_bare_matrix_is_silently_wrong(way):
    """Without cross-validation around it the bootstrap keeps the shape, and the answers are simply others."""
    inside, stored, _, bare, matrix = WAYS[way]
    train, test = next(CV.split(X, y))
    make = META["bagging"]
    truth = make(inside).fit(X[train], y[train]).predict(X[test])
    ours = make(stored).fit(OBJECTS[train], y[train]).predict(OBJECTS[test])
    wrong = make(bare).fit(matrix[np.ix_(train, train)], y[train]).predict(matrix[np.ix_(test, train)])
    np.testing.assert_array_equal(ours, truth)
    assert (wrong != truth).any()


@pytest.mark.parametrize("meta", ["calibration", "voting", "stacking", "bagging"])
def test_our_classifiers_name_the_remedy_and_it_works(meta):
    make = META[meta]
    with pytest.raises(ValueError, match=r"square.*Pairwise\(FromMatrix\(S\)\)") as caught:
        cross_val_score(make(SimilarityKNN(n_neighbors=7)), K, y, cv=CV, error_score="raise")
    assert len(str(caught.value)) < 300
    remedy = make_pipeline(Pairwise(FromMatrix(K)), SimilarityKNN(n_neighbors=7))
    scores = cross_val_score(make(remedy), OBJECTS, y, cv=CV)
    if meta == "voting":
        np.testing.assert_array_equal(scores, cross_val_score(SimilarityKNN(n_neighbors=7), K, y, cv=CV))
    assert scores.mean() > 0.7


def test_objects_of_any_kind_are_sliced():
    """Lists of sets go through calibration and voting, which never look inside."""
    words = ["spam", "spa", "spot", "egg", "eggs", "edge"] * 5
    labels = np.array([w[0] for w in words])
    sets = [set(word) for word in words]
    model = make_pipeline(Pairwise(Jaccard()), SVC(kernel="precomputed"))
    assert cross_val_score(CalibratedClassifierCV(model, cv=2), sets, labels, cv=3).mean() == 1
    assert VotingClassifier([("a", model)]).fit(sets, labels).score(sets, labels) == 1
