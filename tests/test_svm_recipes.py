"""Support vectors by composition: right where SVC alone is wrong, and a search that fits as little as it may."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from oracles import svm as oracle
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import (
    PathSearchCV,
    PotentialSVM,
    RowRBF,
    SimilarityFeatures,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    SpectrumSquare,
    Symmetrize,
)
from similis._utils.cache import CACHE
from similis.datasets import load_benchmark
from similis.exceptions import DataNotFoundError
from similis.model_selection._path_search import _labels_are_certain

CS = [10.0**p for p in range(-3, 6)]


def problem(rng, n=60, n_classes=2, noise=0.15):
    y = np.arange(n) % n_classes
    Z = 1.5 * rng.normal(size=(n_classes, 4))[y] + rng.normal(size=(n, 4))
    S = np.exp(-((Z[:, None] - Z) ** 2).sum(-1) / 8)
    E = noise * rng.normal(size=(n, n))
    return S + (E + E.T) / 2, y


def svc(**params):
    return SVC(kernel="precomputed", **params)


def dual_of(model, y):
    """The coefficients of a fitted SVC for two classes, all of them."""
    c = np.zeros(len(y))
    c[model.support_] = model.dual_coef_[0]
    return c


def test_square_is_the_linear_machine_on_rows(rng):
    """[chen2010] sec. 2.1.6: S S' as a kernel is the inner product of rows."""
    S, y = problem(rng)
    S = S + 0.1 * rng.normal(size=S.shape)  # asymmetric too
    T, Q = S[:45, :45], S[45:, :45]
    square = make_pipeline(SpectrumSquare(), svc(tol=1e-8)).fit(T, y[:45])
    rows = make_pipeline(SimilarityFeatures(), SVC(kernel="linear", tol=1e-8)).fit(T, y[:45])
    np.testing.assert_allclose(square.decision_function(Q), rows.decision_function(Q), atol=1e-4)


@pytest.mark.parametrize(
    "steps",
    [
        [SpectrumClip()],
        [SpectrumFlip()],
        [SpectrumShift()],
        [SpectrumSquare()],
        [RowRBF()],
        [Symmetrize(), SpectrumClip()],
    ],
    ids=repr,
)
def test_recipes_work_in_cross_validation(rng, steps):
    y = np.arange(60) % 2
    Z = 3.0 * y[:, None] + rng.normal(size=(60, 2))
    noise = 0.05 * rng.normal(size=(60, 60))
    S = np.exp(-((Z[:, None] - Z) ** 2).sum(-1) / 8) + (noise + noise.T) / 2
    assert cross_val_score(make_pipeline(*steps, svc()), S, y, cv=4, error_score="raise").mean() > 0.9


def test_an_asymmetric_matrix_ends(rng):
    """SVC goes on until it is stopped; behind a repair the same matrix makes a convex problem."""
    S, y = problem(rng, n=80)
    S = S + 0.5 * rng.normal(size=S.shape)
    with pytest.warns(ConvergenceWarning):
        svc(max_iter=20_000, C=100.0).fit(S, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = make_pipeline(Symmetrize(), SpectrumClip(), svc(max_iter=1_000_000)).fit(S, y)
    assert model[-1].fit_status_ == 0


def test_an_indefinite_matrix_is_not_silently_wrong(rng):
    """SVC warns of nothing, but where it ends depends on the order of the objects; behind a repair it does not."""
    S, y = problem(rng, noise=0.8)
    order = rng.permutation(len(y))
    back = np.argsort(order)
    sign = np.where(y == 1, 1.0, -1.0)
    K = SpectrumClip().fit_transform(S)
    apart = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, A in (("raw", S), ("clip", K)):
            one = svc(C=10.0, tol=1e-6, max_iter=1_000_000).fit(A, y)
            two = svc(C=10.0, tol=1e-6, max_iter=1_000_000).fit(A[np.ix_(order, order)], y[order])
            apart[name] = np.abs(one.decision_function(A) - two.decision_function(A[np.ix_(order, order)])[back]).max()
    assert np.linalg.eigvalsh(S)[0] < -1
    assert apart["raw"] > 0.1
    assert apart["clip"] < 1e-3
    assert oracle.svm_violation(K, sign, dual_of(svc(C=10.0, tol=1e-6).fit(K, y), y), 10.0) < 1e-3


def test_zero_weight_is_absence(rng):
    """SVC on a precomputed kernel mixes up its support when weights are zero; dropping rows and columns does not."""
    S, y = problem(rng, noise=0.0)
    weight = (rng.random(len(y)) < 0.6).astype(float)
    keep = weight > 0
    Q = S[:10]
    right = svc().fit(S[np.ix_(keep, keep)], y[keep]).decision_function(Q[:, keep])
    theirs = svc().fit(S, y, sample_weight=weight).decision_function(Q)
    ours = PotentialSVM().fit(S, y, sample_weight=weight).decision_function(Q)
    dropped = PotentialSVM().fit(S[np.ix_(keep, keep)], y[keep]).decision_function(Q[:, keep])
    np.testing.assert_allclose(ours, dropped, atol=1e-8)
    if np.allclose(theirs, right, atol=1e-2):
        pytest.skip("this scikit-learn has fixed it")
    assert np.abs(theirs - right).max() > 0.1


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_search_over_costs_has_the_scores_of_plain_fits(rng, n_classes):
    S, y = problem(rng, n_classes=n_classes)
    pipeline = make_pipeline(SpectrumClip(), svc(max_iter=100_000))
    grid = {"spectrumclip": [SpectrumClip(), SpectrumFlip(), SpectrumShift()], "svc__C": CS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = PathSearchCV(pipeline, grid, cv=5).fit(S, y)
        theirs = GridSearchCV(pipeline, grid, cv=5, error_score="raise").fit(S, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_index_ == theirs.best_index_


def test_search_by_decision_values_has_the_scores_of_plain_fits(rng):
    S, y = problem(rng)
    pipeline = make_pipeline(SpectrumClip(), svc())
    ours = PathSearchCV(pipeline, {"svc__C": CS[:6]}, cv=4, scoring="roc_auc").fit(S, y)
    theirs = GridSearchCV(pipeline, {"svc__C": CS[:6]}, cv=4, scoring="roc_auc").fit(S, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_what_stands_behind_the_published_figure_of_shift():
    """On the damaged protein new rows as they are give some 40 %; multiplied as clip's are, the printed 23.49."""
    try:
        data = load_benchmark("protein_uw")
    except DataNotFoundError as error:
        pytest.skip(str(error))
    S, y = data.proximity, data.target
    plain, multiplied = [], []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(y))
        test, train = order[:43], order[43:]
        T, Q = S[np.ix_(train, train)], S[np.ix_(test, train)]
        K = SpectrumShift().fit_transform(T)
        w, U = np.linalg.eigh(T)
        held = np.abs(w) > 1e-10 * np.abs(w).max()  # some objects are twins
        P = (U[:, held] * ((w - w[0]) / w)[held]) @ U[:, held].T
        wrong = [[np.mean(svc(C=C).fit(K, y[train]).predict(R) != y[test]) for C in (0.1, 10.0)] for R in (Q, Q @ P)]
        plain.append(wrong[0])
        multiplied.append(wrong[1])
    assert np.mean(plain, axis=0).min() > 0.35
    assert 0.17 < np.mean(multiplied, axis=0).min() < 0.28


def count(monkeypatch, owner, name):
    calls = []
    plain = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *a, **k: calls.append(1) or plain(*a, **k))
    return calls


def test_labels_labels_are_certain_where_no_doubtful_machine_could_change_them(rng):
    """Against trying out every way the doubtful machines could decide."""
    seen = set()
    for _ in range(300):
        f = rng.choice([-1.0, -0.01, 0.0, 0.01, 1.0], p=[0.4, 0.06, 0.08, 0.06, 0.4], size=6)
        doubtful = np.flatnonzero(np.abs(f) <= 0.05)
        labels = set()
        for bits in product((-1.0, 1.0), repeat=len(doubtful)):
            tried = f.copy()
            tried[doubtful] = bits
            votes = np.zeros(4)
            for value, (g, h) in zip(tried, combinations(range(4), 2)):
                votes[g if value > 0 else h] += 1
            labels.add(int(votes.argmax()))
        clear = _labels_are_certain(f[None], 4, 0.05)
        assert not (clear and len(labels) > 1)  # never sure and wrong
        seen.add((clear, len(labels) == 1))
    assert (True, True) in seen


def test_one_decomposition_a_fold_serves_every_cost_and_treatment(rng, monkeypatch):
    S, y = problem(rng)
    CACHE.clear()
    calls = count(monkeypatch, linalg, "eigh")
    grid = {"spectrumclip": [SpectrumClip(), SpectrumFlip(), SpectrumShift()], "svc__C": CS[:5]}
    PathSearchCV(make_pipeline(SpectrumClip(), svc()), grid, cv=5, refit=False).fit(S, y)
    assert len(calls) == 5


def test_costs_beyond_the_last_bound_are_not_fitted(rng, monkeypatch):
    S, y = problem(rng, noise=0.02)
    K = S + 2 * np.eye(len(y))  # separable with small coefficients
    calls = count(monkeypatch, SVC, "fit")
    search = PathSearchCV(svc(), {"C": CS}, cv=5, refit=False).fit(K, y)
    assert len(calls) < 5 * len(CS)
    assert len(search.cv_results_["params"]) == len(CS)


@pytest.mark.parametrize("params", [{"class_weight": "balanced"}, {"max_iter": 3}])
def test_doubtful_solutions_are_not_taken_over(rng, monkeypatch, params):
    """Class weights move the bound, and a solution that was cut short is none."""
    S, y = problem(rng)
    K = S + 2 * np.eye(len(y))
    calls = count(monkeypatch, SVC, "fit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        PathSearchCV(svc(**params), {"C": CS}, cv=3, refit=False).fit(K, y)
    assert len(calls) == 3 * len(CS)
