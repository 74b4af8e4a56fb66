"""Explanations, influence and suspicious labels against their definitions."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from similis import (
    SBC,
    SDA,
    ConformalClassifier,
    FromMatrix,
    KernelHLM,
    LocalNearestCentroid,
    LocalSDA,
    LPMachine,
    MaxSim,
    MixtureHLM,
    NearestCentroid,
    NormalLinear,
    Pairwise,
    Parzen,
    PathSearchCV,
    PotentialSVM,
    ProximityError,
    ProximityOutlier,
    ProximityRidge,
    PseudoFisher,
    SimilarityFeatures,
    SimilarityForest,
    SimilarityKNN,
    SimilarityKNNRegressor,
    SpectrumClip,
    SpectrumFlip,
    SpectrumSquare,
    ToSimilarity,
    calibrate,
    compact,
    explain,
    influence,
    load,
    save,
    suspicious_labels,
)
from similis.cluster import KMedoids


def problem(n=36, G=3, m=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % G
    X = rng.normal(size=(n + m, 3)) + 1.5 * np.eye(3)[y]
    S = np.exp(-np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)))
    S = (S + 0.05 * rng.normal(size=S.shape)).clip(0.01)  # indefinite
    S = (S + S.T) / 2
    return S[:n, :n], y[:n], S[n:, :n]


LINEAR = [
    SVC(kernel="precomputed"),
    make_pipeline(SpectrumClip(), SVC(kernel="precomputed")),
    make_pipeline(SpectrumFlip(), SVC(kernel="precomputed")),
    make_pipeline(SpectrumSquare(), SVC(kernel="precomputed")),
    make_pipeline(SimilarityFeatures(), SVC(kernel="linear")),
    make_pipeline(SimilarityFeatures(), StandardScaler(), LogisticRegression()),
    PotentialSVM(),
    PotentialSVM(multiclass="ovr"),
    LPMachine(),
    MaxSim(),
    SBC(C=1.0),
    NearestCentroid(),
    NormalLinear(),
    PseudoFisher(),
    SDA(),
    ProximityRidge(),
    ProximityRidge(kind="dissimilarity"),
]
WEIGHTED = [SimilarityKNN(smoothing=0.1), SimilarityKNN(weights="kri"), SimilarityKNN(weights="krr"), KernelHLM()]
OTHERS = [LocalSDA(n_neighbors=8), LocalNearestCentroid(), Parzen(), MixtureHLM(random_state=0)]
OTHERS += [SimilarityForest(n_estimators=9, random_state=0)]


def fitted(model, G):
    S, y, Q = problem(G=G)
    kind = getattr(model, "kind", getattr(model, "reads", None))
    if kind == "dissimilarity":
        S, Q = 1.2 - S, 1.2 - Q
        np.fill_diagonal(S, 0)
    return clone(model).fit(S, S[0] if is_regressor(model) else y), Q


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("G", [2, 3])
@pytest.mark.parametrize("model", LINEAR + WEIGHTED + OTHERS, ids=repr)
def test_contributions_sum_to_the_decision(model, G):
    model, Q = fitted(model, G)
    found = explain(model, Q)
    assert found.exact == (type(model).__name__ not in [type(other).__name__ for other in OTHERS])
    assert found.contributions.shape[:2] == Q.shape
    assert found.contributions.ndim == (2 if G == 2 or is_regressor(model) else 3)
    np.testing.assert_allclose(found.contributions.sum(axis=1) + found.baseline, found.decision)
    np.testing.assert_array_equal(found.labels, model.predict(Q))
    if is_regressor(model):
        np.testing.assert_allclose(found.decision, model.predict(Q))
    elif G == 2:  # the sign of the decision is the prediction
        assert ((found.decision > 0) == (found.labels == model.classes_[1])).all()
    elif found.exact and not hasattr(model, "pairs_") and "SVC" not in repr(model):
        np.testing.assert_array_equal(found.decision.argmax(axis=1), found.labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_linear_contributions_are_what_an_entry_adds(model):
    """The decision without an entry, set to zero, is the decision minus the contribution."""
    model, Q = fitted(model, 2)
    found = explain(model, Q)
    if isinstance(model, make_pipeline(SpectrumClip()).__class__) and "standardscaler" in model.named_steps:
        return  # zero is not the entry without contribution
    for j in (0, 7, 20):
        without = Q.copy()
        without[:, j] = 0
        np.testing.assert_allclose(
            found.decision - explain(model, without).decision, found.contributions[:, j], atol=1e-8
        )


def test_neighbor_and_mixture_contributions():
    S, y, Q = problem(G=3)
    knn = SimilarityKNN(n_neighbors=4).fit(S, y)
    nearest = np.argsort(-Q, axis=1, kind="stable")[:, :4]
    expected = np.zeros((*Q.shape, 3))
    for i, row in enumerate(nearest):
        expected[i, row, y[row]] = 0.25
    np.testing.assert_allclose(explain(knn, Q).contributions, expected)
    D = 1.2 - S
    np.fill_diagonal(D, 0)
    hlm = KernelHLM().fit(D, y)
    found = explain(hlm, 1.2 - Q)
    np.testing.assert_allclose(found.decision, hlm.predict_proba(1.2 - Q))
    without = KernelHLM(priors=[0.0, 0.3, 0.7]).fit(D, y)
    with np.errstate(divide="raise"):
        np.testing.assert_allclose(explain(without, 1.2 - Q).decision, without.predict_proba(1.2 - Q))
    assert (found.contributions >= 0).all()
    assert (found.contributions.any(axis=0).sum(axis=1) <= 1).all()  # each object speaks for its own class
    target = S[0]
    model = SimilarityKNNRegressor(n_neighbors=3).fit(S, target)
    found = explain(model, Q)
    np.testing.assert_allclose(found.baseline, [target[row[:3]].mean() for row in nearest])


def test_pipelines_searches_conformal_and_compact_models():
    S, y, Q = problem()
    objects = make_pipeline(Pairwise(FromMatrix(S)), SpectrumClip(), SVC(kernel="precomputed"))
    plain = make_pipeline(SpectrumClip(), SVC(kernel="precomputed")).fit(S, y)
    new = np.arange(4)[:, None]
    expected = explain(plain, S[:4])
    np.testing.assert_allclose(explain(objects.fit(np.arange(36)[:, None], y), new).decision, expected.decision)
    small, columns = compact(plain, return_columns=True)
    found = explain(small, S[:4][:, columns], ids=columns)
    np.testing.assert_allclose(found.contributions, expected.contributions[:, columns], atol=1e-9)
    search = PathSearchCV(SimilarityKNN(), {"n_neighbors": [3]}, cv=2).fit(S, y)
    expected = explain(SimilarityKNN(n_neighbors=3).fit(S, y), Q).contributions
    np.testing.assert_array_equal(explain(search, Q).contributions, expected)
    conformal = ConformalClassifier(SimilarityKNN(n_neighbors=3), confidence_level=0.5, cv=2).fit(S, y)
    np.testing.assert_array_equal(explain(conformal, Q).contributions, expected)
    converted = make_pipeline(ToSimilarity(), SimilarityKNN(n_neighbors=3)).fit((1.2 - S) * (1 - np.eye(36)), y)
    assert explain(converted, 1.2 - Q).exact


def test_top_frame_and_picture():
    S, y, Q = problem(G=2)
    found = explain(SimilarityKNN(n_neighbors=3).fit(S, y), Q, ids=[f"o{j}" for j in range(36)])
    for best, label in zip(found.top(2), found.labels):
        assert 1 <= len(best) <= 2
        assert all(y[int(name[1:])] == label and value > 0 for name, value in best)
    frame = found.to_frame(2)
    assert list(frame.columns) == ["row", "prediction", "object", "contribution"]
    assert len(frame) == sum(len(best) for best in found.top(2))
    assert "<svg" in found.to_html()
    assert found.plot().ax_ is not None
    for model in (KMedoids(2), ProximityOutlier()):
        with pytest.raises(ProximityError, match=f"needs a classifier or regressor. Got {type(model).__name__}"):
            explain(model.fit(1.2 - S), 1.2 - S)
    with pytest.raises(ProximityError, match="ids must name the 36 objects"):
        explain(SimilarityKNN().fit(S, y), Q, ids=["a"])


def test_suspicious_labels_are_the_changed_ones():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + 6 * y[:, None]
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    noisy = y.copy()
    noisy[[3, 50]] = 1 - noisy[[3, 50]]
    found = suspicious_labels(D, noisy, kind="dissimilarity")
    assert sorted(one.object for one in found) == [3, 50]
    assert all(one.suggested == y[one.object] and one.p_value <= 0.05 < one.p_suggested for one in found)
    assert suspicious_labels(D, y, kind="dissimilarity") == []


@pytest.mark.parametrize("wrong", [{"n_neighbors": 0}, {"n_neighbors": 2.5}, {"kind": "distance"}], ids=repr)
def test_suspicious_labels_checks_its_parameters(wrong):
    """Zero neighbors never returned."""
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of suspicious_labels must be"):
        suspicious_labels(np.eye(4), [0, 0, 1, 1], **wrong)


@pytest.mark.parametrize("k", [1, 3, 12])
def test_knn_influence_is_leaving_out(k):
    S, y, _ = problem(n=12)

    def right(objects, i):
        """Share of the true class of object i among its k nearest of the given objects."""
        near = sorted((j for j in objects if j != i), key=lambda j: (-S[i, j], j))[:k]
        return np.mean([y[j] == y[i] for j in near])

    everything = range(12)
    expected = [
        sum(right(everything, i) - right([o for o in everything if o != j], i) for i in everything if i != j)
        for j in everything
    ]
    np.testing.assert_allclose(influence(SimilarityKNN(n_neighbors=k).fit(S, y), S, y), expected, atol=1e-12)


def test_ridge_influence_is_leaving_out():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, 20)
    S, y = np.exp(-np.abs(x[:, None] - x)), np.sin(x) + rng.normal(size=20)
    model = ProximityRidge().fit(S, y)
    expected = []
    for j in range(20):
        rest = np.delete(np.arange(20), j)
        part = ProximityRidge(alphas=model.best_alpha_).fit(S[np.ix_(rest, rest)], y[rest])
        expected.append(np.sqrt(np.mean((model.predict(S) - part.predict(S[:, rest])) ** 2)))
    np.testing.assert_allclose(influence(model, S, y), expected, rtol=1e-8)
    with pytest.raises(ProximityError, match="influence is exact for"):
        influence(MaxSim().fit(S, x > 3), S, x > 3)


def test_calibrate_reads_rows_and_is_stored(tmp_path):
    S, y, Q = problem(n=60, G=2)
    model = calibrate(make_pipeline(SpectrumClip(), SVC(kernel="precomputed")), S, y, random_state=0)
    proba = model.predict_proba(Q)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict_proba(Q), proba)
    grouped = calibrate(SimilarityKNN(), S, y, groups=np.arange(60) // 3, random_state=0)
    assert grouped.predict_proba(Q).shape == (5, 2)
    with pytest.raises(ProximityError, match="Class 'rare' has 1"):
        calibrate(SimilarityKNN(), S, ["rare"] + ["a", "b"] * 29 + ["a"])
