"""Methods after 2010: Krein spaces, kernel Fisher, PCVM, relational GLVQ, similarity forest, label spreading."""

import numpy as np
import pytest
from oracles import field
from scipy.special import ndtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import euclidean_distances
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from similis import (
    PCVM,
    KreinLogistic,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVM,
    NormalLinear,
    ProximityRidge,
    RelationalGLVQ,
    SimilarityForest,
    SimilarityLabelSpreading,
    SpectrumFlip,
    compact,
)
from similis.datasets import load_benchmark
from similis.exceptions import ProximityError
from similis.neighbors._relational_glvq import _cost
from similis.svm._krein import _on_sphere


def indefinite(rng, n=40, m=12, n_classes=2):
    """Similarities X J X' of a pseudo-Euclidean space, with noise, rows of new objects, and labels."""
    y = np.arange(n + m) % n_classes
    X = rng.normal(size=(n + m, 6)) + 2 * np.eye(6)[y]
    K = X @ np.diag([1.0, 1, 1, 1, -1, -0.5]) @ X.T / 6
    K += 0.1 * rng.normal(size=K.shape)
    K = (K + K.T) / 2
    return K[:n, :n], y[:n], K[n:, :n], y[n:]


# Krein spaces


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_krein_svm_is_the_svm_on_the_flipped_kernel(rng, n_classes, C):
    S, y, Q, _ = indefinite(rng, n_classes=n_classes)
    assert np.linalg.eigvalsh(S)[0] < -0.1
    krein = KreinSVM(C=C, tol=1e-9).fit(S, y)
    flip = make_pipeline(SpectrumFlip(), SVC(C=C, kernel="precomputed", tol=1e-9, decision_function_shape="ovo"))
    theirs = flip.fit(S, y).decision_function(Q)
    ours = Q @ krein.coef_.T + krein.intercept_  # rows as they are
    sign = 1 if n_classes == 2 else -1
    np.testing.assert_allclose(ours, sign * theirs.reshape(ours.shape), atol=1e-6)
    np.testing.assert_array_equal(krein.predict(Q), flip.predict(Q))


def test_krein_svm_meets_the_optimality_conditions(rng):
    S, y, _, _ = indefinite(rng)
    C, sign = 1.0, 2 * y - 1
    model = KreinSVM(C=C, tol=1e-10).fit(S, y)
    values, U = np.linalg.eigh(S)
    a = sign * ((U * np.sign(values)) @ U.T @ model.coef_[0])  # of the flipped kernel
    margin = sign * model.decision_function(S)
    assert -1e-8 < a.min() < a.max() < C + 1e-8
    assert abs(sign @ a) < 1e-8
    assert (margin[a < 1e-8] > 1 - 1e-6).all()
    assert (margin[a > C - 1e-8] < 1 + 1e-6).all()
    np.testing.assert_allclose(margin[(a > 1e-6) & (a < C - 1e-6)], 1, atol=1e-6)


@pytest.mark.parametrize(("alpha", "ratio"), [(0.01, 1.0), (0.3, 10.0)])
def test_krein_ridge_solves_the_penalized_problem(rng, alpha, ratio):
    S = indefinite(rng)[0]
    y = rng.normal(size=len(S))
    model = KreinRidge(alpha=alpha, ratio=ratio).fit(S, y)
    J = np.eye(len(S)) - 1 / len(S)
    unit = np.abs(np.linalg.eigvalsh(J @ S @ J)).sum() / len(S)
    fitted, coef = field.krein_ridge(S, y, alpha * unit, alpha * ratio * unit)
    np.testing.assert_allclose(model.predict(S), fitted, atol=1e-8)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-7)


def test_krein_ridge_limits(rng):
    S, _, Q, _ = indefinite(rng)
    y = rng.normal(size=len(S))
    J = np.eye(len(S)) - 1 / len(S)
    A = J @ S @ J
    unit = np.abs(np.linalg.eigvalsh(A)).sum() / len(S)
    rows = (Q - S.mean(axis=0)) @ J
    for spectrum, ratio in (("flip", 1.0), ("clip", np.inf)):
        ridge = ProximityRidge(spectrum=spectrum, alphas=0.2 * unit).fit(A, y)
        krein = KreinRidge(alpha=0.2, ratio=ratio).fit(S, y)
        np.testing.assert_allclose(krein.predict(Q), ridge.predict(rows), atol=1e-8)
    X = rng.normal(size=(30, 3))
    y = rng.normal(size=30)
    D, K = euclidean_distances(X), X @ X.T
    new = rng.normal(size=(5, 3))
    by_distance = KreinRidge(kind="dissimilarity").fit(D, y).predict(euclidean_distances(new, X))
    np.testing.assert_allclose(by_distance, KreinRidge().fit(K, y).predict(new @ X.T), atol=1e-8)


def test_krein_ridge_with_a_fixed_spread_is_the_global_minimum(rng):
    h, y = rng.uniform(1, 5, size=3), rng.normal(size=3)
    directions = rng.normal(size=(100_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for radius in (0.1, 1.0, 5.0):
        z = _on_sphere(h, y, radius)
        assert np.linalg.norm(z) == pytest.approx(radius)
        others = (radius * directions) ** 2 @ h - 2 * radius * directions @ y
        assert h @ z**2 - 2 * y @ z <= others.min() + 1e-9
    flat = _on_sphere(np.array([1.0, 2.0]), np.array([0.0, 1.0]), 5.0)  # nothing in the flattest direction
    assert np.linalg.norm(flat) == pytest.approx(5.0)
    S = indefinite(rng)[0]
    target = rng.normal(size=len(S))
    assert KreinRidge(spread=0.7).fit(S, target).predict(S).std() == pytest.approx(0.7 * target.std())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_krein_logistic_is_stationary(rng, n_classes):
    S, y, _, _ = indefinite(rng, n_classes=n_classes)
    model = KreinLogistic(alpha=0.1, ratio=4.0).fit(S, y)
    J = np.eye(len(S)) - 1 / len(S)
    values, U = np.linalg.eigh(J @ S @ J)
    penalty = 0.1 * np.abs(values).sum() / len(S) * np.where(values > 0, 1, 4.0)
    residual = np.eye(n_classes)[y] - model.predict_proba(S)
    if n_classes == 2:
        residual[:, 0] = 0
    # In the eigenbasis the gradient of the log-likelihood, l U'r, equals that of the penalty, |l| penalty U'c.
    likelihood = U.T @ residual * values[:, None]
    np.testing.assert_allclose(likelihood, U.T @ model.coef_.T * (np.abs(values) * penalty)[:, None], atol=1e-3)
    np.testing.assert_allclose(residual.sum(axis=0), 0, atol=1e-3)


@pytest.mark.parametrize("model", [KreinSVM(), KreinRidgeClassifier(), KreinLogistic()], ids=repr)
def test_krein_classifiers_beat_chance_on_indefinite_similarities(rng, model):
    S, y, Q, truth = indefinite(rng, n=90, m=60, n_classes=3)
    assert model.fit(S, y).score(Q, truth) > 0.6


# Indefinite kernel Fisher discriminant


def test_normal_linear_on_an_indefinite_kernel_is_its_fisher_discriminant(rng):
    S, y, Q, _ = indefinite(rng)
    r = 0.1
    model = NormalLinear(regularization=r, shrinkage_target="trace").fit(S, y)
    W = S - np.array([S[y == g].mean(axis=0) for g in (0, 1)])[y]
    beta = r / (1 - r) * (W**2).sum() / len(S)  # N + beta I is a multiple of (1 - r) C + r (tr C / n) I
    a, means = field.fisher_direction(S, y, beta)
    f = Q @ a
    theirs = f - (means[0] + means[1]) @ a / 2
    ours = model.decision_function(Q)
    np.testing.assert_allclose(ours, theirs * (ours @ theirs) / (theirs @ theirs), atol=1e-8 * np.abs(ours).max())


def test_fisher_discriminant_does_not_depend_on_the_signature(rng):
    """[haasdonk2008]: without regularization it is that of the associated Euclidean space."""
    X = rng.normal(size=(60, 3)) + np.eye(3)[np.arange(60) % 2]
    y, J = np.arange(60) % 2, np.diag([1.0, 1, -1])
    new = rng.normal(size=(20, 3))
    ours = NormalLinear(regularization=1e-9, shrinkage_target="trace").fit(X @ J @ X.T, y).predict(new @ J @ X.T)
    np.testing.assert_array_equal(ours, LinearDiscriminantAnalysis().fit(X, y).predict(new))


# PCVM


def test_pcvm_is_the_plain_algorithm(rng):
    S, y, _, _ = indefinite(rng)
    S = S / np.abs(S).max()
    for n_iter in (1, 4, 12):
        with pytest.warns(UserWarning, match="max_iter"):
            model = PCVM(max_iter=n_iter, tol=1e-15).fit(S, y)
        coef, b = field.pcvm(S, 2.0 * y - 1, n_iter)
        np.testing.assert_allclose(model.coef_[0], coef, atol=1e-7)
        assert model.intercept_[0] == pytest.approx(b, abs=1e-7)


def test_pcvm_is_sparse_and_its_weights_have_the_signs_of_their_classes(rng):
    S, y, Q, truth = indefinite(rng, n=80)
    model = PCVM().fit(S, y)
    weights = model.coef_[0] * (2 * y - 1)
    assert (weights >= 0).all()
    assert 0 < (weights > 0).sum() < 40
    assert model.score(Q, truth) > 0.7
    np.testing.assert_array_equal(compact(model).predict(Q[:, model.columns_]), model.predict(Q))
    np.testing.assert_allclose(PCVM().fit(100 * S, y).predict_proba(100 * Q), model.predict_proba(Q), atol=1e-6)
    np.testing.assert_allclose(PCVM().fit(S, 1 - y).predict_proba(Q)[:, ::-1], model.predict_proba(Q), atol=1e-9)


def test_pcvm_couples_the_probabilities_of_pairs(rng):
    """[price1995]: exact where the pairs come from one distribution, p_gh = p_g / (p_g + p_h)."""
    S, y, Q, truth = indefinite(rng, n=90, m=60, n_classes=3)
    model = PCVM().fit(S, y)
    assert model.score(Q, truth) > 0.6
    p = np.array([0.6, 0.3, 0.1])
    model.coef_[:] = 0
    model.intercept_[:] = [ndtri(p[h] / (p[g] + p[h])) for g, h in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(model.predict_proba(Q), np.tile(p, (60, 1)))


def test_pcvm_reaches_the_error_of_the_published_updates():
    """Sonar, where precisions of 1 / w^2 instead of 1 / (2 w^2) leave two objects and err in 26 %."""
    data = load_benchmark("sonar")
    D = euclidean_distances(StandardScaler().fit_transform(data.data))
    K = np.exp(-((D / np.median(D)) ** 2))
    splits = StratifiedShuffleSplit(5, test_size=0.2, random_state=0).split(K, data.target)
    errors = [1 - PCVM().fit(K[np.ix_(a, a)], data.target[a]).score(K[np.ix_(b, a)], data.target[b]) for a, b in splits]
    assert np.mean(errors) < 0.23


# Relational GLVQ


def test_glvq_distances_are_those_to_the_weighted_means(rng):
    X, Z = rng.normal(size=(18, 3)), rng.normal(size=(9, 3))
    y = np.arange(18) % 3
    model = RelationalGLVQ(n_prototypes=2, kind="dissimilarity", random_state=0).fit(euclidean_distances(X), y)
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    d = field.glvq_distances(X, Z, model.weights_)
    nearest = np.stack([-d[:, model.prototype_classes_ == g].min(axis=1) for g in range(3)], axis=1)
    np.testing.assert_allclose(model.decision_function(euclidean_distances(Z, X)), nearest, atol=1e-8)
    kernel = RelationalGLVQ(n_prototypes=2, random_state=0).fit(X @ X.T, y)
    np.testing.assert_array_equal(kernel.predict(Z @ X.T), model.predict(euclidean_distances(Z, X)))


def test_glvq_gradient(rng):
    D = rng.normal(size=(8, 8))
    D = D + D.T  # indefinite: distances of both signs
    own = np.arange(8)[:, None] % 2 == np.array([0, 0, 1])
    flat, step = rng.normal(size=24), 1e-6
    _, gradient = _cost(flat, D, own)
    numeric = [(_cost(flat + step * e, D, own)[0] - _cost(flat - step * e, D, own)[0]) / (2 * step) for e in np.eye(24)]
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


def test_glvq_improves_on_class_means(rng):
    X = rng.normal(size=(60, 2)) * [2, 0.5]
    y = (X[:, 1] > 0).astype(int)
    start = RelationalGLVQ(max_iter=1, random_state=0, kind="dissimilarity").fit(euclidean_distances(X), y)
    model = RelationalGLVQ(max_iter=200, random_state=0, kind="dissimilarity").fit(euclidean_distances(X), y)
    assert model.objective_ < start.objective_
    assert model.score(euclidean_distances(X), y) >= start.score(euclidean_distances(X), y)


# Similarity forest


def test_forest_root_splits_where_the_impurity_is_least(rng):
    S, y, _, _ = indefinite(rng, n_classes=3)
    S[rng.random(S.shape) < 0.2] = np.nan
    model = SimilarityForest(n_estimators=5, n_directions=1, max_depth=1, random_state=3).fit(S, y)
    generator = np.random.RandomState(3)
    for root in model.roots_:
        sample = generator.randint(len(y), size=len(y))
        generator.uniform(size=(2 * len(y), 1, 2))
        p, q = model.columns_[model.pairs_[root]]
        assert y[p] != y[q]
        assert {p, q} <= set(sample)
        values = S[sample, q] - S[sample, p]
        known = ~np.isnan(values)
        sides = values[known] > model.thresholds_[root]
        impurity = sum(
            side.sum() * (1 - ((np.bincount(y[sample][known][side]) / side.sum()) ** 2).sum())
            for side in (sides, ~sides)
        )
        assert impurity == pytest.approx(field.forest_split(values, y[sample]))
        assert model.missing_[root] == (sides.sum() > (~sides).sum())


def test_forest_learns_and_reads_missing_entries(rng):
    S, y, Q, truth = indefinite(rng, n=90, m=60, n_classes=3)
    whole = SimilarityForest(random_state=0).fit(S, y)
    assert whole.score(S, y) > 0.95
    assert whole.score(Q, truth) > 0.6
    S[rng.random(S.shape) < 0.3], Q[rng.random(Q.shape) < 0.3] = np.nan, np.nan
    holes = SimilarityForest(random_state=0).fit(S, y)
    assert holes.score(Q, truth) > 0.5
    np.testing.assert_array_equal(compact(holes).predict(Q[:, holes.columns_]), holes.predict(Q))
    assert np.isfinite(holes.predict_proba(np.full((1, 90), np.nan))).all()


def test_forest_without_a_split(rng):
    model = SimilarityForest(n_estimators=3, random_state=0).fit(np.ones((6, 6)), [0, 0, 0, 0, 1, 1])
    assert model.predict(np.ones((2, 6))).tolist() == [0, 0]
    model.children_[0] = len(model.children_) - 1
    model.children_[-1] = 0
    with pytest.raises(ProximityError, match="children_"):
        model.verify_fitted()


# Label spreading


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.9])
def test_spreading_is_the_limit_of_its_iteration(rng, alpha):
    X = rng.normal(size=(25, 2))
    S = np.exp(-(euclidean_distances(X) ** 2))
    y = np.where(np.arange(25) < 8, np.arange(25) % 3, -1)
    model = SimilarityLabelSpreading(alpha=alpha).fit(S, y)
    Y = (y[:, None] == np.arange(3)).astype(float)
    F = field.label_spreading(S - np.eye(25), Y, alpha)
    total = F.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.scores_, np.divide(F, total, out=np.zeros_like(F), where=total > 0), atol=1e-9)
    if alpha:
        theirs = LabelSpreading(kernel=lambda A, B: S, alpha=alpha, max_iter=10_000, tol=1e-12).fit(X, y)
        np.testing.assert_array_equal(model.transduction_, theirs.transduction_)
    Q = rng.random((4, 25))
    expected = Q @ model.scores_
    np.testing.assert_allclose(model.predict_proba(Q), expected / expected.sum(axis=1, keepdims=True))


def test_spreading_follows_chains_where_neighbors_mislead(rng):
    """Two arcs with one label each: an object in the middle of an arc is as near to the other arc's label."""
    angle = np.linspace(0, np.pi, 30)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([arc, [1, 0.5] - arc])
    y, truth = np.full(60, "?", dtype=object), np.repeat(["a", "b"], 30)
    y[0], y[30] = "a", "b"
    S = np.exp(-(euclidean_distances(X) ** 2) / 0.02)
    model = SimilarityLabelSpreading(alpha=0.99, n_neighbors=5, unlabeled="?").fit(S, y.astype(str))
    assert model.classes_.tolist() == ["a", "b"]
    assert (model.transduction_ == truth).mean() > 0.95
    assert model.predict(-np.ones((1, 60))).tolist() == ["a"]  # no edge: the first of equal frequencies
    with pytest.raises(ProximityError, match="only one class"):
        SimilarityLabelSpreading().fit(S, np.full(60, -1))


def test_label_spreading_with_the_last_class_as_unlabeled(rng):
    y = np.repeat(["a", "b"], 10)
    S = np.where(y[:, None] == y, 3.0, 1.0) + np.eye(20) + 0.01 * rng.random((20, 20))
    S = (S + S.T) / 2
    shown = y.astype(object)
    shown[::3] = "unknown"
    model = SimilarityLabelSpreading(unlabeled="unknown").fit(S, shown.astype(str))
    assert model.classes_.tolist() == ["a", "b"]
    assert (model.predict(S) == y).all()
