"""The contract every estimator keeps: which checks of scikit-learn cannot pass and why, and our own in their place.

scikit-learn skips or cannot run some of its checks on pairwise input; the functions below ask the same questions of
a proximity matrix.
"""

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils import get_tags

NON_SQUARE = "the check feeds a non-square X to a pairwise estimator"


def expected_failures(estimator):
    """Reasons, by the name of the check, for what scikit-learn's own tests cannot ask of a pairwise estimator."""
    failures = {}
    if get_tags(estimator).input_tags.pairwise:
        if hasattr(estimator, "decision_function") and hasattr(estimator, "predict_proba"):
            failures["check_decision_proba_consistency"] = NON_SQUARE
    if type(estimator).__name__ == "MixedSDA" and sklearn.__version__.startswith("1.6."):
        failures["check_positive_only_tag_during_fit"] = "the check subtracts numbers from integers in place"
    if getattr(estimator, "weights", None) == "affinity":
        failures["check_classifiers_train"] = (
            "the check's shifted inner products are largest for long vectors, not alike ones"
        )
        failures["check_fit2d_1feature"] = "for non-negative input the check makes labels of a single class"
    if type(estimator).__name__ == "NormalQuadratic":
        failures["check_classifiers_train"] = (
            "the check's 300 rows have rank two: 298 directions without variance decide by the determinants"
        )
    if getattr(estimator, "scheme", None) == "resample":
        failures["check_fit_score_takes_y"] = "the check feeds the same square X again, without columns for the past"
    if type(estimator).__name__ == "CompletionSVM":
        failures["check_classifiers_train"] = "the check trains on more objects than max_samples"
        failures["check_estimators_pickle"] = "the check puts NaN into a matrix that comes without an auxiliary kernel"
        failures["check_positive_only_tag_during_fit"] = "the check's matrix is indefinite, which is refused"
        failures["check_estimators_dtypes"] = "rounded to integers, the check's kernel is indefinite, which is refused"
    return failures


def toy(estimator, n=40, n_classes=3, seed=0):
    """A matrix of the kind the estimator reads, with labels, and a block of new rows."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centers = 2.0 * rng.normal(size=(n_classes, 4))
    Z = centers[y] + rng.normal(size=(n, 4))
    new = centers[np.arange(15) % n_classes] + rng.normal(size=(15, 4))
    measure = euclidean_distances if getattr(estimator, "metric", None) == "precomputed" else rbf_kernel
    return measure(Z), y, measure(new, Z)


def check_weight_is_repetition(estimator):
    """An integer weight equals as many copies of the object: rows and columns repeated."""
    S, y, Q = toy(estimator, n=30)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y))
    again = np.repeat(np.arange(len(y)), weight)
    weighted = clone(estimator).fit(S, y, sample_weight=weight)
    repeated = clone(estimator).fit(S[np.ix_(again, again)], y[again])
    _assert_same_answers(weighted, Q, repeated, Q[:, again])


def check_zero_weight_is_absence(estimator):
    """A weight of zero equals leaving the object out."""
    S, y, Q = toy(estimator, n=30)
    keep = np.random.default_rng(2).random(len(y)) < 0.7
    weighted = clone(estimator).fit(S, y, sample_weight=keep.astype(float))
    without = clone(estimator).fit(S[np.ix_(keep, keep)], y[keep])
    _assert_same_answers(weighted, Q, without, Q[:, keep])


def check_decision_and_probability_agree(estimator):
    """Predict is the arg max of the probabilities and of the decision values; probabilities are probabilities."""
    for n_classes in (2, 3):
        S, y, Q = toy(estimator, n_classes=n_classes)
        model = clone(estimator).fit(S, y)
        predicted = model.predict(Q)
        if hasattr(model, "predict_proba") and getattr(model, "costs", None) is None:
            proba = model.predict_proba(Q)
            assert proba.shape == (len(Q), n_classes)
            assert (proba >= 0).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
            np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], predicted)
        if hasattr(model, "decision_function"):
            value = model.decision_function(Q)
            assert value.shape == ((len(Q),) if n_classes == 2 else (len(Q), n_classes))
            code = (value > 0).astype(int) if n_classes == 2 else value.argmax(axis=1)
            np.testing.assert_array_equal(model.classes_[code], predicted)


def check_rows_are_independent(estimator):
    """What is answered for a row does not depend on the other rows of the block, nor on its memory order."""
    S, y, Q = toy(estimator)
    model = clone(estimator).fit(S, y)
    whole = model.predict(Q)
    single = np.concatenate([model.predict(row[None, :]) for row in Q])
    np.testing.assert_array_equal(whole, single)
    np.testing.assert_array_equal(whole, model.predict(np.asfortranarray(Q)))


def check_order_of_objects(estimator):
    """Renumbering the training objects renumbers nothing that can be seen."""
    S, y, Q = toy(estimator)
    order = np.random.default_rng(3).permutation(len(y))
    model = clone(estimator).fit(S, y)
    shuffled = clone(estimator).fit(S[np.ix_(order, order)], y[order])
    np.testing.assert_array_equal(model.predict(Q), shuffled.predict(Q[:, order]))


def check_float32(estimator):
    """A float32 matrix gives the same labels, up to round-off."""
    S, y, Q = toy(estimator)
    a = clone(estimator).fit(S, y).predict(Q)
    b = clone(estimator).fit(S.astype(np.float32), y).predict(Q.astype(np.float32))
    np.testing.assert_array_equal(a, b)


def _assert_same_answers(a, Qa, b, Qb):
    np.testing.assert_array_equal(a.predict(Qa), b.predict(Qb))
    for response in ("predict_proba", "decision_function"):
        if hasattr(a, response):
            np.testing.assert_allclose(getattr(a, response)(Qa), getattr(b, response)(Qb), rtol=1e-7, atol=1e-9)
