"""Conformal prediction: definitions by brute force, coverage, storage, messages."""

import warnings

import numpy as np
import pytest
from oracles import conformal as oracle
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from typer.testing import CliRunner

from similis import (
    ConformalClassifier,
    ConformalRegressor,
    FromMatrix,
    NearestCentroid,
    Pairwise,
    PathSearchCV,
    Proximity,
    ProximityError,
    ProximityRidge,
    SimilarityKNN,
    SimilarityKNNRegressor,
    SpectrumClip,
    Study,
    compact,
    explain,
    load,
    save,
    write_proximity,
)
from similis.cli import app
from similis.io import read_model, write_model
from similis.study import predict_rows, train_model


def problem(n=60, G=3, m=20, spread=1.0, seed=0):
    """Similarities of overlapping groups of points: training matrix, labels, new rows and their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % G
    X = rng.normal(size=(n + m, 2)) + spread * np.column_stack([np.cos(2 * np.pi * y / G), np.sin(2 * np.pi * y / G)])
    S = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    return S[:n, :n], y[:n], S[n:, :n], y[n:]


@pytest.mark.parametrize("class_conditional", [True, False])
@pytest.mark.parametrize("k", [1, 4, 29, 30])  # of 30 objects: with and without a farthest neighbor
def test_full_knn_is_the_definition(k, class_conditional):
    S, y, Q, _ = problem(n=30, m=6)
    model = ConformalClassifier(SimilarityKNN(n_neighbors=k), method="full", class_conditional=class_conditional)
    expected = oracle.full_p_values(S, y, Q, k, 3, class_conditional)
    np.testing.assert_allclose(model.fit(S, y).p_values(Q), expected)


def test_full_knn_with_tied_similarities_and_dissimilarities():
    S, y, Q, _ = problem(n=30, m=6)
    S, Q = S.round(1), Q.round(1)
    expected = oracle.full_p_values(S, y, Q, 5, 3, True)
    for kind, sign in (("similarity", 1), ("dissimilarity", -1)):
        knn = SimilarityKNN(kind=kind)
        found = ConformalClassifier(knn, method="full").fit((sign < 0) + sign * S, y).p_values((sign < 0) + sign * Q)
        np.testing.assert_allclose(found, expected)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("class_conditional", [True, False])
@pytest.mark.parametrize("method", ["cross", "split"])
@pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
def test_cross_and_split_are_the_definition(method, class_conditional, response):
    S, y, Q, _ = problem(n=30, G=2, m=4)
    base = SimilarityKNN(n_neighbors=5) if response == "predict_proba" else SVC(kernel="precomputed")

    def score(S_train, y_train, rows):
        f = getattr(base.fit(S_train, y_train), response)(rows)
        return np.column_stack([-f, f]) if f.ndim == 1 else f

    model = ConformalClassifier(base, method=method, class_conditional=class_conditional, cv=3, random_state=0)
    model.set_params(confidence_level=0.5).fit(S, y)
    expected = oracle.cross_p_values(score, S, y, model.fold_, Q, [0, 1], class_conditional)
    np.testing.assert_allclose(model.p_values(Q), expected)


def test_sets_grow_with_the_level_and_contain_p_values_above_alpha():
    S, y, Q, _ = problem()
    model = ConformalClassifier(SimilarityKNN(), confidence_level=[0.6, 0.9], random_state=0).fit(S, y)
    labels, sets = model.predict_set(Q)
    assert sets.shape == (len(Q), 3, 2)
    assert sets.dtype == bool
    np.testing.assert_array_equal(labels, SimilarityKNN().fit(S, y).predict(Q))
    np.testing.assert_array_equal(model.predict_proba(Q), SimilarityKNN().fit(S, y).predict_proba(Q))
    assert (sets[..., 0] <= sets[..., 1]).all()
    assert sets[..., 0].sum() < sets[..., 1].sum()
    p = model.p_values(Q)
    np.testing.assert_array_equal(sets[..., 1], np.round(p, 9) > 0.1)
    assert (p > 0).all()
    assert (p <= 1).all()


def test_a_p_value_equal_to_alpha_excludes():
    """With nine objects per class the least p-value is 0.1: level 0.9 can exclude, and no warning is given."""
    S = np.kron(np.eye(2), np.ones((9, 9)))
    y = np.repeat(["a", "b"], 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ConformalClassifier(SimilarityKNN(n_neighbors=3), cv=3, random_state=0).fit(S, y)
    np.testing.assert_allclose(model.p_values(S[:1]), [[1, 0.1]])
    np.testing.assert_array_equal(model.predict_set(S[:1])[1][:, :, 0], [[True, False]])


@pytest.mark.parametrize("method", ["cross", "split", "full"])
def test_small_classes_are_reported_and_never_excluded(method):
    S = np.kron(np.eye(2), np.ones((30, 30)))[:34, :34]
    y = np.repeat(["large", "small"], [30, 4])
    with pytest.warns(UserWarning, match="at least 9 calibration objects per class; class 'small' has"):
        model = ConformalClassifier(SimilarityKNN(n_neighbors=3), method=method, random_state=0).fit(S, y)
    assert model.predict_set(S[:1])[1][0, 1, 0]
    with pytest.warns(UserWarning, match="at least 99 calibration objects; there are"):
        model.set_params(confidence_level=0.99, class_conditional=False).fit(S, y)


def test_singleton_class_is_in_every_set():
    S, y, Q, _ = problem(n=30, G=2)
    y = y.copy()
    y[0] = 2
    with pytest.warns(UserWarning, match="class 2 has 1"):
        sets = ConformalClassifier(SimilarityKNN(), random_state=0).fit(S, y).predict_set(Q)[1]
    assert sets[:, 2, 0].all()


def test_groups_stay_in_one_fold():
    S, y, _, _ = problem(n=60)
    groups = np.arange(60) // 4
    model = ConformalClassifier(SimilarityKNN(), confidence_level=0.5, cv=5, random_state=0).fit(S, y, groups=groups)
    assert all(len(np.unique(model.fold_[groups == g])) == 1 for g in np.unique(groups))
    assert len(np.unique(model.fold_)) == 5


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(SpectrumClip(), SVC(kernel="precomputed")),
        NearestCentroid(),
        PathSearchCV(SimilarityKNN(), {"n_neighbors": [3, 7]}, cv=3),
        make_pipeline(Pairwise(FromMatrix(problem()[0])), SimilarityKNN()),
    ],
    ids=["pipeline", "scores only", "search", "objects"],
)
@pytest.mark.parametrize("score", ["lac", "margin"])
def test_any_classifier_and_storage(tmp_path, estimator, score):
    S, y, Q, _ = problem()
    X, new = (np.arange(60)[:, None], np.arange(5)[:, None]) if hasattr(estimator, "steps") else (S, Q)
    if isinstance(estimator, SVC) or "svc" in getattr(estimator, "named_steps", {}):
        X, new = S, Q
    model = ConformalClassifier(estimator, conformity_score=score, cv=3, random_state=0).fit(X, y)
    p = model.p_values(new)
    assert p.shape == (len(new), 3)
    assert (p > 0).all()
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").p_values(new), p)


def test_fold_models_keep_support_vectors_only():
    S, y, Q, _ = problem(spread=4.0)
    pipeline = make_pipeline(SpectrumClip(), SVC(kernel="precomputed"))
    model = ConformalClassifier(pipeline, cv=3, random_state=0).fit(S, y)
    for k, (part, columns) in enumerate(zip(model.estimators_, model.columns_)):
        train = model.fold_ != k
        whole = pipeline.fit(S[np.ix_(train, train)], y[train]).decision_function(Q[:, train])
        np.testing.assert_allclose(part.decision_function(Q[:, columns]), whole)


def test_compact_reads_the_needed_columns_of_all_models():
    S, y, Q, _ = problem(spread=4.0)
    model = ConformalClassifier(make_pipeline(SpectrumClip(), SVC(kernel="precomputed")), cv=3, random_state=0)
    small, columns = compact(model.fit(S, y), return_columns=True)
    assert len(columns) < 60
    small.verify_fitted()
    np.testing.assert_allclose(small.p_values(Q[:, columns]), model.p_values(Q))
    np.testing.assert_array_equal(small.predict(Q[:, columns]), model.predict(Q))
    assert small.n_features_in_ == len(columns)


@pytest.mark.parametrize("fault", ["columns_", "fold_", "codes_", "_farthest"])
def test_damaged_files_are_rejected(fault):
    S, y, _, _ = problem()
    method = "full" if fault == "_farthest" else "cross"
    model = ConformalClassifier(SimilarityKNN(), method=method, random_state=0).fit(S, y)
    model.verify_fitted()
    value = getattr(model, fault)
    (value[0] if fault == "columns_" else value)[:] = 1000
    with pytest.raises(ProximityError):
        model.verify_fitted()


def test_messages():
    S, y, _, _ = problem()
    with pytest.raises(ProximityError, match=r"exact for SimilarityKNN with uniform weights only.*method='cross'"):
        ConformalClassifier(SimilarityKNN(weights="kri"), method="full").fit(S, y)
    with pytest.raises(ProximityError, match="Use conformity_score='lac', or method='cross'"):
        ConformalClassifier(SimilarityKNN(), method="full", conformity_score="margin").fit(S, y)
    with pytest.raises(ProximityError, match="symmetric"):
        ConformalClassifier(SimilarityKNN(), method="full").fit(np.triu(S), y)
    with pytest.raises(ProximityError, match=r"confidence_level must be between 0 and 1. Got 90"):
        ConformalClassifier(SimilarityKNN(), confidence_level=90.0).fit(S, y)
    with pytest.raises(ProximityError, match="cv must split the objects into folds"):
        ConformalClassifier(SimilarityKNN(), cv=ShuffleSplit(3, random_state=0)).fit(S, y)
    with pytest.raises(ProximityError, match=r"needs a ProximityRidge.*method='cross'"):
        ConformalRegressor(SimilarityKNNRegressor(), method="jackknife").fit(S, S[0])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cross", "split", "full"])
def test_coverage_of_every_class(method):
    """Mean over 60 samples; standard error about 0.006 per class."""
    hit = np.zeros((60, 3))
    for seed in range(60):
        S, y, Q, truth = problem(n=120, m=60, seed=seed)
        sets = (
            ConformalClassifier(SimilarityKNN(n_neighbors=9), method=method, random_state=0).fit(S, y).predict_set(Q)[1]
        )
        own = sets[np.arange(60), truth, 0]
        hit[seed] = [own[truth == g].mean() for g in range(3)]
    assert (hit.mean(axis=0) > 0.88).all()


def curve(n=40, m=8, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 6, n + m)
    y = np.sin(x) + 0.3 * rng.normal(size=n + m)
    S = np.exp(-np.abs(x[:, None] - x))
    return S[:n, :n], y[:n], S[n:, :n], y[n:]


@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
def test_jackknife_is_n_fits(kind):
    S, y, Q, _ = curve()
    if kind == "dissimilarity":  # Euclidean
        S, Q = np.sqrt(2 - 2 * S), np.sqrt(2 - 2 * Q)
    model = ConformalRegressor(ProximityRidge(kind=kind), method="jackknife", confidence_level=[0.8, 0.9]).fit(S, y)
    fixed = ProximityRidge(kind=kind, alphas=model.estimator_.best_alpha_)
    values, intervals = model.predict_interval(Q)
    np.testing.assert_array_equal(values, ProximityRidge(kind=kind).fit(S, y).predict(Q))
    for t, level in enumerate([0.8, 0.9]):
        expected = oracle.jackknife_plus(lambda A, b, R: fixed.fit(A, b).predict(R), S, y, Q, level)
        np.testing.assert_allclose(intervals[:, :, t], expected, rtol=1e-7)


def test_cross_with_leave_one_out_is_jackknife_plus(tmp_path):
    S, y, Q, _ = curve(n=25)
    knn = SimilarityKNNRegressor(n_neighbors=3)
    model = ConformalRegressor(knn, cv=LeaveOneOut()).fit(S, y)
    expected = oracle.jackknife_plus(lambda A, b, R: knn.fit(A, b).predict(R), S, y, Q, 0.9)
    np.testing.assert_allclose(model.predict_interval(Q)[1][:, :, 0], expected)
    ridge = ConformalRegressor(ProximityRidge(), method="jackknife").fit(S, y)
    for fitted in (model, ridge):
        save(fitted, tmp_path / "model.skops")
        again = load(tmp_path / "model.skops").predict_interval(Q)[1]
        np.testing.assert_array_equal(again, fitted.predict_interval(Q)[1])


def test_split_intervals_are_symmetric_and_too_few_objects_give_infinite_ones():
    S, y, Q, _ = curve()
    model = ConformalRegressor(SimilarityKNNRegressor(), method="split", cv=KFold(2)).fit(S, y)
    part = model.estimators_[0].predict(Q[:, model.columns_[0]])
    low, high = model.predict_interval(Q)[1][:, :, 0].T
    np.testing.assert_allclose((low + high) / 2, part)
    residuals = np.sort(np.abs(y - cross_val_predict(SimilarityKNNRegressor(), S, y, cv=KFold(2)))[:20])
    np.testing.assert_allclose((high - low) / 2, residuals[18])  # rank 0.9 * 21, rounded up
    with pytest.warns(UserWarning, match="5 calibration objects are too few"):
        model = ConformalRegressor(ProximityRidge(), method="jackknife").fit(S[:5, :5], y[:5])
    assert np.isinf(model.predict_interval(Q[:, :5])[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cross", "jackknife", "split"])
def test_coverage_of_intervals(method):
    hits = []
    for seed in range(60):
        S, y, Q, truth = curve(n=80, m=40, seed=seed)
        low, high = (
            ConformalRegressor(ProximityRidge(), method=method, random_state=0)
            .fit(S, y)
            .predict_interval(Q)[1][:, :, 0]
            .T
        )
        hits.append(((low <= truth) & (truth <= high)).mean())
    assert 0.88 < np.mean(hits) < 0.96


@pytest.mark.parametrize("method", ["knn(n_neighbors=3)", "svm-kernel(clip, C=1)"])
def test_trained_models_print_sets_and_reasons(tmp_path, method):
    S, y, Q, _ = problem(n=40, G=2, spread=2.0)
    ids = [f"o{i}" for i in range(40)]
    labels = np.array(["no", "yes"])[y]
    study = Study([method], n_splits=2, cv=2)
    trained = train_model(
        Proximity(S, ids=ids, labels=labels, kind="similarity"), study=study, compact=True, conformal=True
    )
    assert trained.card.calibration["objects"] == [20, 20]
    write_model(trained, tmp_path / "model.skops")
    rows = Proximity(Q, ids=[f"n{i}" for i in range(20)], column_ids=ids, kind="similarity")
    found = predict_rows(read_model(tmp_path / "model.skops"), rows, explain=2)
    whole = ConformalClassifier(trained.result.fit_model(S, labels, method=trained.card.method), random_state=0)
    whole = whole.set_params(estimator=getattr(whole.estimator, "best_estimator_", whole.estimator)).fit(S, labels)
    np.testing.assert_allclose(found.p_values, whole.p_values(Q))
    np.testing.assert_array_equal(found.labels, whole.predict(Q))
    expected = explain(whole, Q, ids=ids).top(2)
    assert [[name for name, _ in row] for row in found.because] == [[name for name, _ in row] for row in expected]
    write_proximity(tmp_path / "new.npz", rows)
    options = ["predict", str(tmp_path / "model.skops"), str(tmp_path / "new.npz"), "--confidence", "0.8"]
    printed = CliRunner().invoke(app, [*options, "--explain", "2"]).stdout.splitlines()
    assert printed[0].endswith(",set,because")
    possible = {"no", "yes", "no | yes", ""}
    column = printed[0].split(",").index("set")
    assert all(line.split(",")[column] in possible for line in printed[1:])
    plain = CliRunner().invoke(app, options[:3]).stdout
    assert plain == CliRunner().invoke(app, [*options[:3], "--confidence", "0.9"]).stdout


def test_confidence_needs_a_calibrated_model(tmp_path):
    S, y, Q, _ = problem(n=20, G=2)
    write_model(train_model(S, y, study=Study(["nc"], n_splits=2, cv=2), kind="similarity"), tmp_path / "model.skops")
    np.savetxt(tmp_path / "new.csv", Q + 0.001, delimiter=",")
    done = CliRunner().invoke(
        app, ["predict", str(tmp_path / "model.skops"), str(tmp_path / "new.csv"), "--confidence", "0.9"]
    )
    assert done.exit_code == 2
    assert "similis fit --conformal" in " ".join(done.output.split())


def test_trained_regression_prints_intervals(tmp_path):
    S, y, Q, _ = curve(n=50, m=6)
    study = Study(["ridge(clip)"], n_splits=2, cv=2)
    trained = train_model(S, y, study=study, kind="similarity", compact=True, conformal=True)
    assert trained.card.calibration == {"method": "cross", "folds": 10, "objects": [50]}
    write_model(trained, tmp_path / "model.skops")
    write_proximity(tmp_path / "new.npz", Proximity(Q, kind="similarity"))
    options = ["predict", str(tmp_path / "model.skops"), str(tmp_path / "new.npz"), "--confidence", "0.8"]
    printed = [line.split(",") for line in CliRunner().invoke(app, options).stdout.splitlines()]
    assert printed[0] == ["id", "value", "score", "outlier_p", "lower", "upper"]
    whole = ConformalRegressor(trained.model.estimator, random_state=0, confidence_level=0.8).fit(S, y)
    expected = whole.predict_interval(Q)[1][:, :, 0]
    np.testing.assert_allclose(np.array(printed[1:])[:, 4:].astype(float), expected, rtol=1e-5)


@pytest.mark.parametrize("method", ["knn(n_neighbors=3)", "svm-kernel(clip, C=1)"])
def test_sets_of_a_model_of_several_matrices(method):
    S, y, Q, _ = problem(n=40, G=2, spread=2.0)
    stack, rows = np.stack([S, S**2], axis=2), [Proximity(Q, kind="similarity"), Proximity(Q**2, kind="similarity")]
    study = Study([method], n_splits=2, cv=2)
    trained = train_model(stack, y, study=study, kind=["similarity"] * 2, compact=True, conformal=True)
    needed = trained.card.needed
    rows = [Proximity(r.values if needed is None else r.values[:, needed], kind="similarity") for r in rows]
    found = predict_rows(trained, rows)
    whole = ConformalClassifier(trained.model.estimator, random_state=0).fit(stack, y)
    np.testing.assert_allclose(found.p_values, whole.p_values(np.stack([Q, Q**2], axis=2)))
