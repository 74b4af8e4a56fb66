"""SVM-KNN and the small machines under it: certified, equal to enumeration and to libsvm, the same in sweeps."""

import warnings

import numpy as np
import pytest
from oracles import svm as oracle
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import SVMKNN, PathSearchCV, SimilarityKNN, SpectrumClip, SpectrumFlip, SpectrumShift
from similis.solvers import local_svm_scores, svm_path

CS = [10.0**p for p in range(-3, 6)]  # [chen2010] table 4.2


def problem(rng, n=40, n_classes=2, noise=0.15):
    y = np.arange(n) % n_classes
    Z = 1.2 * rng.normal(size=(n_classes, 4))[y] + rng.normal(size=(n, 4))
    S = np.exp(-((Z[:, None] - Z) ** 2).sum(-1) / 8)
    E = noise * rng.normal(size=(n, n))
    return S + (E + E.T) / 2, np.array(["a", "b", "c", "d"])[y]


def kernels(rng, n=40):
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:2] = 1, -1
    Z = rng.normal(size=(n, 3)) + 0.4 * y[:, None]
    R = Z.round()
    noise = rng.normal(size=(n, n))
    return {
        "gaussian": np.exp(-((Z[:, None] - Z) ** 2).sum(-1)),
        "linear, rank 3": Z @ Z.T,
        "rank one": np.outer(Z[:, 0], Z[:, 0]),
        "zero": np.zeros((n, n)),
        "ones": np.ones((n, n)),
        "duplicates": np.exp(-((R[:, None] - R) ** 2).sum(-1)),
        "counting": (R[:, None] == R).sum(-1).astype(float),
        "clipped": oracle.clip(noise + noise.T)[0],
        "huge": 1e8 * np.exp(-((Z[:, None] - Z) ** 2).sum(-1)),
        "tiny": 1e-8 * np.exp(-((Z[:, None] - Z) ** 2).sum(-1)),
    }, y


@pytest.mark.parametrize("name", sorted(kernels(np.random.default_rng(0))[0]))
def test_machines_are_optimal_for_every_cost(name, rng):
    matrices, y = kernels(rng)
    K = (matrices[name] + matrices[name].T) / 2
    path = svm_path(K, y, CS)
    for C, c, b, bad in zip(CS, path.coef, path.intercept, path.violation):
        # Of the difference of two sums of n products, whatever the order in which they are added.
        rounding = 2 * len(K) * np.finfo(float).eps * np.abs(K).max() * np.abs(c).sum()
        assert oracle.svm_violation(K, y, c, C) < 1e-8 + rounding + 1e-12 * C
        assert bad < 1e-8 + rounding
        v = y - K @ c
        free = (np.abs(c) > 1e-9 * C) & (np.abs(c) < (1 - 1e-9) * C)
        np.testing.assert_allclose(v[free], b, atol=1e-8 + rounding)


def test_kernels_of_low_rank_up_to_rounding():
    """Where the factor of such a kernel overflows, a step of infinite slope made NaN of the solution."""
    y = np.where(np.arange(16) % 2, 1.0, -1.0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, E = rng.normal(size=(16, 3)), rng.normal(size=(16, 16))
        path = svm_path(X @ X.T + 1e-13 * (E + E.T), y, [1e2, 1e4])
        assert np.isfinite(path.coef).all(), seed
        assert path.violation.max() <= 1e-7, seed


def test_costs_in_any_order_give_what_they_give_alone(rng):
    matrices, y = kernels(rng)
    K = matrices["gaussian"]
    order = rng.permutation(len(CS))
    path = svm_path(K, y, np.array(CS)[order])
    for r, i in enumerate(order):
        alone = svm_path(K, y, CS[i])
        np.testing.assert_allclose(K @ path.coef[r], K @ alone.coef[0], atol=1e-7)
        assert path.intercept[r] == pytest.approx(alone.intercept[0], abs=1e-7)


def test_libsvm_agrees(rng):
    """Up to the float32 in which libsvm keeps the kernel."""
    matrices, y = kernels(rng)
    for name in ("gaussian", "linear, rank 3", "duplicates"):
        K = matrices[name]
        for C in (1e-3, 0.1, 1.0, 10.0):
            theirs = SVC(kernel="precomputed", C=C, tol=1e-9).fit(K, y)
            ours = svm_path(K, y, C)
            np.testing.assert_allclose(K @ ours.coef[0] + ours.intercept[0], theirs.decision_function(K), atol=1e-4)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_local_machines_against_enumeration(rng, k):
    S, labels = problem(rng, n=12)
    y = np.where(labels == "b", 1.0, -1.0)
    train, test = np.arange(8), np.arange(8, 12)
    T, Q = S[np.ix_(train, train)], S[np.ix_(test, train)]
    for C in (0.1, 1.0, 50.0):
        expected = [oracle.svm_knn(T, y[train], row, k, C) for row in Q]
        model = SVMKNN(n_neighbors=k, C=C).fit(T, labels[train])
        np.testing.assert_allclose(model.decision_function(Q), expected, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("spectrum", "repair"), [("clip", SpectrumClip()), ("flip", SpectrumFlip()), ("shift", SpectrumShift())]
)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_all_neighbors_make_the_global_machine(rng, n_classes, spectrum, repair, C):
    S, y = problem(rng, n=60, n_classes=n_classes)
    T, Q = S[:45, :45], S[45:, :45]
    ours = SVMKNN(n_neighbors=45, C=C, spectrum=spectrum).fit(T, y[:45])
    whole = make_pipeline(repair, SVC(kernel="precomputed", C=C, tol=1e-9, decision_function_shape="ovo"))
    f = whole.fit(T, y[:45]).decision_function(Q)
    if n_classes == 2:
        np.testing.assert_allclose(ours.decision_function(Q), f, atol=1e-4)
        clear = np.abs(f) > 1e-3
    else:
        # libsvm's pairs are positive for the first class, and it gives tied votes to the earlier class
        scores = np.array([oracle.votes(-row, n_classes) for row in f])
        np.testing.assert_allclose(ours.decision_function(Q), scores, atol=1e-4)
        clear = scores.max(axis=1) > 1.5
    np.testing.assert_array_equal(ours.predict(Q)[clear], whole.predict(Q)[clear])


def test_votes_among_the_neighbors_classes_only():
    """Four classes, neighbors of two of them: the others lose by a margin of one."""
    S = np.eye(4)
    s = np.array([[0.9, 0.8, 0.1, 0.0]])
    f = local_svm_scores(S, np.array([[0, 1]]), s[:, :2], np.arange(4), 4, [2], [1.0])[0, 0, 0]
    pair = 0.8 - 0.9  # c = (-1, 1), b = 0
    # pairs 01 02 03 12 13 23; the last has nobody on either side
    won = np.array([3.0, 2.0, 0.0, 0.0])
    margin = np.array([2 - pair, 2 + pair, -2.0, -2.0])
    np.testing.assert_allclose(f, won + margin / (3 * (np.abs(margin) + 1)))


def test_neighbors_of_one_class_decide(rng):
    S, y = problem(rng)
    model = SVMKNN(n_neighbors=1).fit(S, y)
    np.testing.assert_array_equal(model.predict(S), SimilarityKNN(n_neighbors=1).fit(S, y).predict(S))
    np.testing.assert_array_equal(np.abs(model.decision_function(S)), np.ones(len(S)))
    shuffled = np.argsort(y, kind="stable")
    S, y = S[np.ix_(shuffled, shuffled)], y[shuffled]
    Q = np.where(y == "b", 1.0, 0.0)[None]  # its nearest twenty are all b
    np.testing.assert_array_equal(SVMKNN(n_neighbors=20).fit(S, y).decision_function(Q), [1.0])


GRID = {"n_neighbors": [1, 2, 5, 16, 100], "C": [1e-3, 1.0, 1e5, 10.0]}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
def test_search_has_the_scores_of_plain_fits(rng, n_classes, spectrum):
    S, y = problem(rng, n_classes=n_classes)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_neighbors exceeds")
        ours = PathSearchCV(SVMKNN(spectrum=spectrum), GRID, cv=5).fit(S, y)
        theirs = GridSearchCV(SVMKNN(spectrum=spectrum), GRID, cv=5, error_score="raise").fit(S, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_


def test_leave_one_out_and_decision_scores(rng):
    S, y = problem(rng, n=24)
    for options in ({"cv": LeaveOneOut()}, {"cv": 4, "scoring": "roc_auc"}):
        grid = {"n_neighbors": [3, 9], "C": [0.1, 10.0]}
        ours = PathSearchCV(SVMKNN(), grid, **options).fit(S, y)
        theirs = GridSearchCV(SVMKNN(), grid, **options).fit(S, y)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12
        )


def test_threads_change_nothing(rng):
    S, y = problem(rng, n_classes=3)
    one = SVMKNN(n_neighbors=9).fit(S, y).decision_function(S)
    many = SVMKNN(n_neighbors=9, n_jobs=3).fit(S, y).decision_function(S)
    assert one.tobytes() == many.tobytes()


def test_a_training_object_is_treated_as_it_was_in_training(rng):
    """Consistency: with k = n, a training row as query gives the machine's own training value."""
    S, y = problem(rng, n=30)
    K = SpectrumClip().fit_transform(S)
    path = svm_path(K, np.where(y == "b", 1.0, -1.0), 1.0)
    f = SVMKNN(n_neighbors=30).fit(S, y).decision_function(S)
    np.testing.assert_allclose(f, K @ path.coef[0] + path.intercept[0], atol=1e-7)


def test_degenerate_matrices_give_the_limit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for S, y in ((np.zeros((5, 5)), [0, 1, 1, 0, 1]), (np.ones((5, 5)), [0, 1, 1, 0, 1]), (np.eye(2), [0, 1])):
            model = SVMKNN(n_neighbors=len(S)).fit(S, y)
            assert np.isfinite(model.decision_function(S)).all()
    # nothing but the intercept is left: the larger class
    assert SVMKNN(n_neighbors=5).fit(np.zeros((5, 5)), [0, 1, 1, 0, 1]).predict(np.zeros((1, 5))) == 1


def test_bad_parameters_are_named(rng):
    S, y = problem(rng)
    for bad in ({"C": 0.0}, {"n_neighbors": 0}, {"spectrum": "square"}, {"n_neighbors": 2.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            SVMKNN(**bad).fit(S, y)
    with pytest.raises(ValueError, match="missing"):
        SVMKNN().fit(np.where(np.eye(len(y)), np.nan, S), y)
    with pytest.warns(UserWarning, match="n_neighbors"):
        assert SVMKNN(n_neighbors=1000).fit(S, y).n_neighbors_ == len(y)
