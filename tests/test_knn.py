"""SimilarityKNN against plain definitions, the papers' numbers, scikit-learn, and its own laws."""

import numpy as np
import pytest
from oracles import knn as oracle
from scipy import sparse
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from similis import PathSearchCV, SimilarityKNN, make_similarity


def problem(rng, n=40, m=20, n_classes=3, levels=None):
    """Similarities with structure, indefinite and asymmetric; with few `levels` full of ties."""
    y = rng.permutation(np.arange(n) % n_classes)
    Z = 1.5 * rng.normal(size=(n_classes, 3))[y] + rng.normal(size=(n, 3))
    new = 1.5 * rng.normal(size=(m, 3))
    S = np.exp(-np.abs(Z[:, None] - Z[None]).sum(-1) / 4) + 0.05 * rng.random((n, n))
    Q = np.exp(-np.abs(new[:, None] - Z[None]).sum(-1) / 4) + 0.05 * rng.random((m, n))
    if levels:
        S, Q = np.floor(levels * S) / levels, np.floor(levels * Q) / levels
    return S, y, Q


@pytest.mark.parametrize("levels", [None, 4])
@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("weights", ["uniform", "affinity"])
def test_votes_are_their_definition(rng, levels, k, weights):
    S, y, Q = problem(rng, levels=levels)
    proba = SimilarityKNN(n_neighbors=k, weights=weights).fit(S, y).predict_proba(Q)
    rule = oracle.uniform if weights == "uniform" else oracle.affinity
    expected = [oracle.class_weights(S, y, row, k, rule, 3) for row in Q]
    np.testing.assert_allclose(proba, expected, atol=1e-12)


def test_dissimilarities_are_scikit_learns(rng):
    S, y, Q = problem(rng)
    D, E = 2 - S, 2 - Q
    for k in (1, 4, 9):
        ours = SimilarityKNN(n_neighbors=k, kind="dissimilarity").fit(D, y)
        theirs = KNeighborsClassifier(k, metric="precomputed").fit(D, y)
        np.testing.assert_allclose(ours.predict_proba(E), theirs.predict_proba(E), atol=1e-12)
        np.testing.assert_array_equal(ours.kneighbors(E)[1], theirs.kneighbors(E)[1])
    inverse = SimilarityKNN(n_neighbors=6, kind="dissimilarity", weights=lambda d: 1 / d).fit(D, y)
    theirs = KNeighborsClassifier(6, metric="precomputed", weights="distance").fit(D, y)
    np.testing.assert_allclose(inverse.predict_proba(E), theirs.predict_proba(E), atol=1e-12)


@pytest.mark.parametrize("spectrum", ["pinv", "clip", "flip", "shift"])
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_regression_weights_are_their_definition(rng, spectrum, ridge):
    S, y, Q = problem(rng)
    S = S - 0.6 * np.eye(len(S))  # thoroughly indefinite
    for k in (1, 5, 17):
        model = SimilarityKNN(n_neighbors=k, weights="krr", regularization=ridge, spectrum=spectrum).fit(S, y)
        expected = [oracle.class_weights(S, y, row, k, oracle.krr(ridge, spectrum), 3) for row in Q]
        np.testing.assert_allclose(model.decision_function(Q), expected, rtol=1e-6, atol=1e-8)


EXAMPLES = {  # [chen2010] sec. 3.2.2, lambda: KRI and KRR weights to six digits
    1: (5 * np.eye(4), [4.0, 3, 2, 1]),
    2: (np.array([[5.0, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]]), [3.0, 3, 3, 3]),
    3: (np.array([[5.0, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]]), [2.0, 4, 3, 3]),
}
NUMBERS = [
    (1, 0.1, [0.529412, 0.333333, 0.137255, 0], [0.784314, 0.588235, 0.392157, 0.196078]),
    (1, 1, [0.5, 0.333333, 0.166667, 0], [0.666667, 0.5, 0.333333, 0.166667]),
    (1, 10, [0.35, 0.283333, 0.216667, 0.15], [0.266667, 0.2, 0.133333, 0.066667]),
    (2, 0.1, [0.369145, 0.173066, 0.173066, 0.284722], [0.440596, 0.206565, 0.206565, 0.339832]),
    (2, 1, [0.351852, 0.185185, 0.185185, 0.277778], [0.382550, 0.201342, 0.201342, 0.302013]),
    (2, 10, [0.291358, 0.224691, 0.224691, 0.259259], [0.172095, 0.132718, 0.132718, 0.153136]),
    (3, 0.1, [0.157895, 0.582343, 0, 0.259762], [0.215720, 0.745648, -0.163442, 0.317621]),
    (3, 1, [0.185185, 0.518519, 0.018519, 0.277778], [0.194631, 0.523490, 0.023490, 0.285235]),
    (3, 10, [0.224691, 0.303479, 0.212570, 0.259259], [0.101604, 0.208556, 0.117647, 0.149733]),
]


@pytest.mark.parametrize(("example", "ridge", "kri", "krr"), NUMBERS)
def test_worked_examples(example, ridge, kri, krr):
    S, s = EXAMPLES[example]
    for name, expected in (("kri", kri), ("krr", krr)):
        model = SimilarityKNN(n_neighbors=4, weights=name, regularization=ridge).fit(S, [0, 1, 0, 1])
        indices, weights = model.neighbor_weights([s])
        np.testing.assert_allclose(weights[0, np.argsort(indices[0])], expected, atol=6e-7)


def test_design_goals(rng):
    """[chen2010] sec. 3.1: affinity in s, diversity in S; and x1 outweighs x3 of example 3 for KRI at every lambda."""
    S, s = EXAMPLES[3]
    for ridge in (0.1, 1, 6, 10, 100):
        model = SimilarityKNN(n_neighbors=4, weights="kri", regularization=ridge).fit(S, [0, 1, 0, 1])
        indices, weights = model.neighbor_weights([s])
        w = weights[0, np.argsort(indices[0])]
        assert w[0] > w[2]


@pytest.mark.parametrize("weights", ["kri", "lime"])
def test_weights_are_distributions_and_level_out(rng, weights):
    S, y, Q = problem(rng)
    model = SimilarityKNN(n_neighbors=9, weights=weights, regularization=0.05).fit(S, y)
    _, w = model.neighbor_weights(Q)
    assert (w >= 0).all()
    np.testing.assert_allclose(w.sum(axis=1), 1, atol=1e-9)
    even = model.set_params(regularization=1e6).neighbor_weights(Q)[1]
    np.testing.assert_allclose(even, 1 / 9, atol=1e-4)


def test_copies_share_the_weight_of_one(rng):
    """Diversity: copies of a neighbor together weigh nearly what it weighs alone, while each vote of k-NN counts."""
    S, y, Q = problem(rng, n=12, m=5, n_classes=2)
    S = (S + S.T) / 2 + np.eye(12)
    copied = np.r_[np.arange(12), [0] * 5]
    alone = SimilarityKNN(n_neighbors=12, weights="kri", regularization=1e-8).fit(S, y)
    many = SimilarityKNN(n_neighbors=17, weights="kri", regularization=1e-8).fit(S[np.ix_(copied, copied)], y[copied])
    np.testing.assert_allclose(many.predict_proba(Q[:, copied]), alone.predict_proba(Q), atol=1e-5)


@pytest.mark.parametrize("weights", ["uniform", "affinity", "kri", "krr", "lime"])
def test_scaling_similarities_and_lambda_changes_nothing(rng, weights):
    S, y, Q = problem(rng)
    a = SimilarityKNN(n_neighbors=7, weights=weights, regularization=0.3).fit(S, y)
    b = SimilarityKNN(n_neighbors=7, weights=weights, regularization=0.3 * 64).fit(64 * S, y)
    np.testing.assert_allclose(a.neighbor_weights(Q)[1], b.neighbor_weights(64 * Q)[1], atol=1e-7)


def test_missing_entries_are_never_neighbors(rng):
    S, y, Q = problem(rng)
    Q[rng.random(Q.shape) < 0.6] = np.nan
    Q[3] = np.nan
    S[rng.random(S.shape) < 0.2] = np.nan
    for weights, rule in (("uniform", oracle.uniform), ("affinity", oracle.affinity)):
        model = SimilarityKNN(n_neighbors=10, weights=weights).fit(S, y)
        proba = model.predict_proba(Q)
        for i, row in enumerate(Q):
            expected = model.priors_ if i == 3 else oracle.class_weights(S, y, row, 10, rule, 3)
            np.testing.assert_allclose(proba[i], expected, atol=1e-12)
        indices, w = model.neighbor_weights(Q)
        assert (indices[3] == -1).all()
        assert not w[3].any()
    with pytest.raises(ValueError, match="complete_kernel"):
        SimilarityKNN(weights="kri").fit(S, y)


def test_ties_go_to_the_lower_index_and_the_earlier_class():
    S = np.ones((6, 6))
    model = SimilarityKNN(n_neighbors=2).fit(S, [1, 0, 0, 1, 1, 1])
    assert model.kneighbors(S[:1])[1].tolist() == [[0, 1]]
    assert model.predict(S[:1]).tolist() == [0]


def test_smoothing_and_costs(rng):
    S, y, Q = problem(rng)
    raw = SimilarityKNN(n_neighbors=3).fit(S, y).predict_proba(Q)
    smooth = SimilarityKNN(n_neighbors=3, smoothing=0.1).fit(S, y).predict_proba(Q)
    np.testing.assert_allclose(smooth, (raw + 0.1) / (raw + 0.1).sum(axis=1, keepdims=True))
    costs = np.array([[0, 1, 9], [1, 0, 9], [1, 1, 0]])
    careful = SimilarityKNN(n_neighbors=3, costs=costs).fit(S, y).predict(Q)
    np.testing.assert_array_equal(careful, (raw @ costs.T).argmin(axis=1))
    assert (careful == 2).sum() > (raw.argmax(axis=1) == 2).sum()


def test_sparse_similarities_are_zero_where_absent_and_distances_unknown(rng):
    S, y, Q = problem(rng)
    S[S < 0.5] = 0
    Q[Q < 0.5] = 0
    a = SimilarityKNN(n_neighbors=5).fit(S, y).predict_proba(Q)
    b = SimilarityKNN(n_neighbors=5).fit(sparse.csr_array(S), y).predict_proba(sparse.csr_matrix(Q))
    np.testing.assert_array_equal(a, b)
    D = np.where(Q > 0, 2 - Q, 0)
    model = SimilarityKNN(n_neighbors=5, kind="dissimilarity").fit(sparse.csr_array(S * 0 + 1.0), y)
    known = np.where(Q > 0, 2 - Q, np.nan)
    np.testing.assert_array_equal(model.predict_proba(sparse.csr_array(D)), model.predict_proba(known))


def test_degenerate_matrices_have_answers(recwarn):
    for weights in ("uniform", "affinity", "kri", "krr", "lime"):
        zero = SimilarityKNN(n_neighbors=3, weights=weights).fit(np.zeros((4, 4)), [0, 1, 1, 1])
        assert np.isfinite(zero.neighbor_weights(np.zeros((2, 4)))[1]).all()
        one = SimilarityKNN(n_neighbors=1, weights=weights).fit(np.eye(2), [0, 1])
        assert one.predict([[0.2, 0.9]]).tolist() == [1]
        same = SimilarityKNN(n_neighbors=4, weights=weights).fit(np.ones((4, 4)), [0, 1, 1, 1])
        assert same.predict(np.ones((1, 4))).tolist() == [1]
    assert not recwarn.list


@pytest.mark.parametrize("n_jobs", [2, 5])
@pytest.mark.parametrize("weights", ["uniform", "kri", "krr"])
def test_threads_change_nothing(rng, weights, n_jobs):
    S, y, Q = problem(rng, levels=5)
    a = SimilarityKNN(n_neighbors=11, weights=weights).fit(S, y).neighbor_weights(Q)
    b = SimilarityKNN(n_neighbors=11, weights=weights, n_jobs=n_jobs).fit(S, y).neighbor_weights(Q)
    assert a[0].tobytes() == b[0].tobytes()
    assert a[1].tobytes() == b[1].tobytes()


GRID = {"n_neighbors": [1, 2, 5, 9, 16], "regularization": [1e-3, 0.1, 10.0]}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("weights", ["uniform", "affinity", "kri", "krr", "lime"])
@pytest.mark.parametrize("cv", [4, LeaveOneOut()])
def test_search_equals_grid_search(rng, weights, cv):
    S, y, _ = problem(rng, n=36, levels=5)
    grid = GRID if weights in ("kri", "krr", "lime") else {"n_neighbors": GRID["n_neighbors"]}
    model = SimilarityKNN(weights=weights)
    ours = PathSearchCV(model, grid, cv=cv).fit(S, y)
    theirs = GridSearchCV(model, grid, cv=cv).fit(S, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_


def test_search_scores_probabilities(rng):
    S, y, _ = problem(rng, n=36)
    model = SimilarityKNN(weights="kri", smoothing=1e-3)
    ours = PathSearchCV(model, GRID, cv=4, scoring="neg_log_loss").fit(S, y)
    theirs = GridSearchCV(model, GRID, cv=4, scoring="neg_log_loss").fit(S, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9)


def test_mixed_grids_are_grouped(rng):
    S, y, _ = problem(rng, n=36)
    grid = [
        {"weights": ["uniform", "affinity"], "n_neighbors": [1, 4]},
        {"weights": ["krr"], "spectrum": ["pinv", "clip"], "regularization": [0.1, 1], "n_neighbors": [3, 8]},
    ]
    ours = PathSearchCV(SimilarityKNN(), grid, cv=4).fit(S, y)
    theirs = GridSearchCV(SimilarityKNN(), grid, cv=4).fit(S, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_too_many_neighbors_are_cut_and_said_once(rng):
    S, y, _ = problem(rng)
    with pytest.warns(UserWarning, match="clipped") as said:
        model = SimilarityKNN(n_neighbors=500).fit(S, y)
    assert model.n_neighbors_ == 40
    assert len(said) == 1
    with pytest.warns(UserWarning, match="clipped") as said:
        PathSearchCV(SimilarityKNN(), {"n_neighbors": [1, 39, 64, 128]}, cv=5, refit=False).fit(S, y)
    assert len(said) == 1


def test_bad_input_is_named(rng):
    S, y, Q = problem(rng)
    cases = [
        (SimilarityKNN(n_neighbors=0), S, "n_neighbors"),
        (SimilarityKNN(weights="affinity"), S - 0.5, "row 0, column"),
        (SimilarityKNN(weights="kri", kind="dissimilarity"), S, "ToSimilarity"),
        (SimilarityKNN(weights="kri", spectrum="pinv"), S, "krr"),
        (SimilarityKNN(weights="krr", costs=np.eye(3)), S, "probabilities"),
        (SimilarityKNN(costs=np.eye(2)), S, "3 x 3"),
        (SimilarityKNN(regularization=-1), S, "regularization"),
    ]
    for model, matrix, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            model.fit(matrix, y)
        assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match="one weight per neighbor"):
        SimilarityKNN(weights=lambda d: d[:, 0]).fit(S, y).predict(Q)
    with pytest.raises(ValueError, match="not negative"):
        SimilarityKNN(weights=lambda d: -d).fit(S, y).predict(Q)
    with pytest.raises(ValueError, match="finite weights"):
        SimilarityKNN(weights=lambda d: np.full(d.shape, np.inf)).fit(S, y).predict(Q)
    with pytest.raises(ValueError, match="negative eigenvalue"):
        SimilarityKNN(weights="kri", spectrum=None).fit(S - 3 * np.eye(40), y).predict(Q)
    with pytest.raises(AttributeError, match="predict_proba"):
        SimilarityKNN(weights="krr").fit(S, y).predict_proba(Q)


def test_weights_that_are_all_zero_are_even(rng):
    S, y = rng.random((20, 20)), np.arange(20) % 3
    Q = np.vstack([np.zeros(20), rng.random(20)])
    for weights in ("affinity", np.abs):
        found = SimilarityKNN(n_neighbors=6, weights=weights).fit(S, y).predict_proba(Q)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        np.testing.assert_allclose(found[0], np.bincount(y[:6]) / 6)
    far = SimilarityKNN(weights=lambda s: s * (s < 0.8))  # for few neighbors nobody counts
    grid = [{"n_neighbors": k} for k in range(1, 12)]
    for point, proba, label in zip(
        grid, far.predict_path(S, y, Q, grid, response="predict_proba"), far.predict_path(S, y, Q, grid)
    ):
        alone = SimilarityKNN(weights=far.weights, **point).fit(S, y)
        np.testing.assert_allclose(proba, alone.predict_proba(Q))
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        np.testing.assert_array_equal(label, alone.predict(Q))


@pytest.mark.parametrize("weights", ["uniform", "kri"])
def test_costs_are_weighed_with_the_smoothed_probabilities(weights):
    """Smoothing is applied once, to the probabilities that predict_proba returns."""
    S, y = make_similarity(60, 3, separation=1.0, random_state=0)
    costs = np.array([[0.0, 1, 9], [1, 0, 9], [1, 1, 0]])
    model = SimilarityKNN(n_neighbors=7, weights=weights, smoothing=0.5, costs=costs).fit(S, y)
    expected = model.classes_[np.argmin(model.predict_proba(S) @ costs.T, axis=1)]
    np.testing.assert_array_equal(model.predict(S), expected)
    assert (model.predict(S) != SimilarityKNN(n_neighbors=7, weights=weights).fit(S, y).predict(S)).any()
