"""PathSearchCV is GridSearchCV with less work: same scores, same choice, fewer fits."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from similis import (
    RBF,
    FromMatrix,
    LocalNearestCentroid,
    NearestCentroid,
    Pairwise,
    PathSearchCV,
    RowRBF,
    SimilarityKNN,
    SimilarityKNNRegressor,
    Whiten,
)


@pytest.fixture
def data(rng):
    y = np.arange(60) % 3
    Z = 1.5 * rng.normal(size=(3, 4))[y] + rng.normal(size=(60, 4))
    S = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 8)
    return np.round(S, 2), np.array(["a", "b", "c"])[y]  # rounded: ties everywhere


class Half(TransformerMixin, BaseEstimator):
    """A pairwise transformer that counts its fits and depends on the training part."""

    fits = 0

    def __init__(self, *, power=1.0):
        self.power = power

    def fit(self, X, y=None):
        type(self).fits += 1
        self.scale_ = np.asarray(X).mean()
        return self

    def transform(self, X):
        return (np.asarray(X) / self.scale_) ** self.power

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


def compare(estimator, grid, X, y, *, groups=None, atol=0.0, **options):
    ours = PathSearchCV(estimator, grid, **options).fit(X, y, groups=groups)
    theirs = GridSearchCV(estimator, grid, error_score="raise", **options).fit(X, y, groups=groups)
    scores = [key for key in theirs.cv_results_ if "_test_" in key]
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for key in scores:
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=0, atol=atol, err_msg=key)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    if hasattr(theirs, "best_index_"):
        assert (ours.best_params_, ours.best_index_) == (theirs.best_params_, theirs.best_index_)
    assert ours.n_splits_ == theirs.n_splits_
    return ours


KS = {"n_neighbors": [1, 2, 3, 5, 8, 13, 21]}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "cv", [5, LeaveOneOut(), ShuffleSplit(4, random_state=0), RepeatedStratifiedKFold(n_splits=3, n_repeats=2)]
)
def test_same_scores_as_grid_search(data, cv):
    if isinstance(cv, RepeatedStratifiedKFold):
        cv.random_state = 0
    compare(LocalNearestCentroid(), KS, *data, cv=cv)


def test_centroid_families(data):
    compare(NearestCentroid(), {"adjusted": [False, True], "centroid": ["max-sum", "popular"]}, *data, cv=6)
    compare(NearestCentroid(), {"adjusted": [False, True]}, *data, cv=LeaveOneOut())


def test_groups_are_respected(data):
    S, y = data
    compare(LocalNearestCentroid(), KS, S, y, groups=np.arange(60) // 6, cv=GroupKFold(5))


def test_any_scorer(data, monkeypatch):
    monkeypatch.setattr(PathSearchCV, "_fit_separately", None)  # the fast path must do
    for scoring in ("balanced_accuracy", make_scorer(lambda a, b: float(np.mean(a == b)) ** 2)):
        compare(LocalNearestCentroid(), KS, *data, scoring=scoring, cv=4)
    several = {"right": "accuracy", "even": "balanced_accuracy"}
    compare(LocalNearestCentroid(), KS, *data, scoring=several, refit="even", cv=4)
    compare(LocalNearestCentroid(), KS, *data, scoring=several, refit=False, cv=4)


def test_decision_scorer_on_two_classes(data, monkeypatch):
    monkeypatch.setattr(PathSearchCV, "_fit_separately", None)
    S, y = data
    keep = y != "c"
    compare(
        NearestCentroid(),
        {"adjusted": [False, True]},
        S[np.ix_(keep, keep)],
        y[keep],
        scoring="roc_auc",
        cv=4,
        atol=1e-9,
    )


def test_pipeline_fits_transformers_once_a_fold(data):
    grid = {"half__power": [1.0, 2.0], "localnearestcentroid__n_neighbors": KS["n_neighbors"]}
    Half.fits = 0
    ours = PathSearchCV(make_pipeline(Half(), LocalNearestCentroid()), grid, cv=5, refit=False).fit(*data)
    assert Half.fits == 2 * 5
    compare(make_pipeline(Half(), LocalNearestCentroid()), grid, *data, cv=5)
    assert len(ours.cv_results_["params"]) == 14


class CountedRBF(RBF):
    """Counts the passes over the features."""

    passes = 0

    def block(self, *args, **options):
        type(self).passes += 1
        return super().block(*args, **options)

    def block_path(self, *args, **options):
        type(self).passes += 1
        return super().block_path(*args, **options)


def test_widths_of_a_gaussian_share_the_distances(data):
    model = make_pipeline(Half(), Pairwise(CountedRBF()), SVC(kernel="precomputed"))
    grid = {"pairwise__measure__gamma": [0.01, 0.1, 1.0], "svc__C": [0.1, 1.0, 10.0], "half__power": [1.0, 2.0]}
    PathSearchCV(model, grid, cv=5, refit=False).fit(*data)
    assert CountedRBF.passes == 2 * 2 * 5  # training rows and test rows, two powers, five folds
    compare(model, grid, *data, cv=5)
    compare(make_pipeline(RowRBF(), SVC(kernel="precomputed")), {"rowrbf__gamma": [0.1, 1.0]}, *data, cv=5)


@pytest.mark.parametrize(("step", "name"), [(RowRBF(), "gamma"), (Pairwise(RBF()), "measure__gamma")])
def test_rows_of_a_path_equal_those_of_separate_fits(data, step, name):
    S, Q, y = data[0][:40, :40], data[0][40:, :40], data[1][:40]
    points = [{name: gamma} for gamma in (1e-5, 0.3, 10.0)]
    for point, (train, test) in zip(points, step.fit_transform_path(S, y, Q, points), strict=True):
        alone = clone(step).set_params(**point)
        np.testing.assert_array_equal(train, alone.fit_transform(S, y))
        np.testing.assert_array_equal(test, alone.transform(Q))
    for bad in (-1.0, "wide"):
        with pytest.raises(ValueError, match="gamma"):
            list(step.fit_transform_path(S, y, Q, [{name: bad}]))


def test_linear_svc_gets_inner_products(data):
    for front in (Whiten(), Half()):
        for scoring in (None, "balanced_accuracy"):
            model = make_pipeline(front, SVC(kernel="linear", max_iter=100_000))
            ours = compare(model, {"svc__C": [1e-3, 0.1, 10.0, 1e3]}, *data, cv=5, scoring=scoring)
            assert ours.best_estimator_[-1].kernel == "linear"  # the model that is stored
    mixed = {"svc__kernel": ["linear", "rbf"], "svc__C": [0.1, 10.0]}
    compare(make_pipeline(Half(), SVC()), mixed, *data, cv=5)


def test_any_last_step_shares_the_transformers(data):
    """A classifier without a hook is fitted for each point, its transformers once a fold."""
    grid = {"half__power": [1.0, 2.0], "svc__C": [0.1, 1.0, 10.0]}
    Half.fits = 0
    PathSearchCV(make_pipeline(Half(), SVC(kernel="precomputed")), grid, cv=5, refit=False).fit(*data)
    assert Half.fits == 2 * 5
    for scoring in (None, "balanced_accuracy"):
        compare(make_pipeline(Half(), SVC(kernel="precomputed")), grid, *data, cv=5, scoring=scoring)


def test_points_whose_values_look_alike_are_different_points(data):
    S, y = data
    other = S.copy()
    other[4:-4, 4:-4] = np.eye(52)  # NumPy prints the corners of a matrix only
    assert repr(FromMatrix(other)) == repr(FromMatrix(S))
    grid = {"pairwise__measure": [FromMatrix(other), FromMatrix(S)], "knn__n_neighbors": [1, 3]}
    found = compare(Pipeline([("pairwise", Pairwise(None)), ("knn", SimilarityKNN())]), grid, np.arange(60), y, cv=3)
    assert found.cv_results_["mean_test_score"][1] != found.cv_results_["mean_test_score"][3]

    costs = [np.array([[0.0, 1.0, 1.0], [1.0 - less, 0.0, 1.0], [1.0, 1.0, 0.0]]) for less in (0.0, 1e-9)]
    assert repr(costs[0]) == repr(costs[1])
    tied = np.array([[2.0, 1.0, 0.0]]).repeat(60, axis=0)[:, np.arange(60) % 3]
    path = SimilarityKNN(n_neighbors=60).predict_path(S, y, tied, [{"costs": C} for C in costs])
    np.testing.assert_array_equal([p[0] for p in path], ["a", "b"])


def test_falls_back_to_plain_fits(data):
    S, y = data
    compare(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, S, y, cv=3)
    compare(KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [1, 3]}, 1 - S, y, cv=3)
    grid = [{"svc": [SVC(kernel="precomputed"), LocalNearestCentroid()]}]
    compare(make_pipeline(Half(), SVC(kernel="precomputed")), grid, S, y, cv=3)


def test_scorer_that_looks_inside_gets_fitted_estimators(data):
    def scorer(estimator, X, y):
        return estimator.n_neighbors_ + 0.0

    ours = compare(LocalNearestCentroid(), KS, *data, scoring=scorer, cv=3)
    assert ours.best_params_ == {"n_neighbors": 21}


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads_change_nothing(data, n_jobs):
    one = PathSearchCV(
        make_pipeline(Half(), LocalNearestCentroid()), {"localnearestcentroid__n_neighbors": [1, 4]}, cv=5
    )
    many = PathSearchCV(**{**one.get_params(deep=False), "n_jobs": n_jobs}).fit(*data)
    one.fit(*data)
    for key, value in one.cv_results_.items():
        if "_test_" in key:
            assert value.tobytes() == many.cv_results_[key].tobytes()


def test_leave_one_out_makes_one_sweep(data, monkeypatch):
    calls = []
    sweep = LocalNearestCentroid._sweep
    monkeypatch.setattr(LocalNearestCentroid, "_sweep", lambda self, *a: calls.append(1) or sweep(self, *a))
    monkeypatch.setattr(LocalNearestCentroid, "fit", lambda *a: pytest.fail("a plain fit"))
    PathSearchCV(LocalNearestCentroid(), KS, cv=LeaveOneOut(), refit=False).fit(*data)
    assert len(calls) == 1


def test_refit_gives_a_working_model(data):
    S, y = data
    search = PathSearchCV(LocalNearestCentroid(), KS, cv=5).fit(S, y)
    np.testing.assert_array_equal(search.predict(S), search.best_estimator_.predict(S))
    assert search.score(S, y) == (search.predict(S) == y).mean()
    assert search.refit_time_ > 0
    chosen = PathSearchCV(LocalNearestCentroid(), KS, cv=5, refit=lambda results: 2).fit(S, y)
    assert chosen.best_index_ == 2
    assert not hasattr(chosen, "best_score_")


def test_a_frame_is_cut_along_both_axes(data):
    pandas = pytest.importorskip("pandas")
    S, y = data
    names = [f"o{i}" for i in range(60)]
    a = PathSearchCV(LocalNearestCentroid(), KS, cv=5).fit(pandas.DataFrame(S, names, names), y)
    b = PathSearchCV(LocalNearestCentroid(), KS, cv=5).fit(S, y)
    np.testing.assert_array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])


def test_bad_grids_are_named(data):
    for bad, words in (
        ({"n_neighbors": [0]}, "n_neighbors"),
        ({"n_neighbors": ["many"]}, "n_neighbors"),
        ({"k": [1]}, "'k'"),
    ):
        with pytest.raises(ValueError, match=words):
            PathSearchCV(LocalNearestCentroid(), bad, cv=3).fit(*data)
    with pytest.raises(ValueError, match="refit"):
        PathSearchCV(LocalNearestCentroid(), KS, cv=3, scoring=["accuracy", "balanced_accuracy"]).fit(*data)


def test_bad_objects_and_labels_are_named(data):
    S, y = data
    search = PathSearchCV(LocalNearestCentroid(), KS, cv=3)
    for X, labels, words in (
        ((row for row in S), y, "Got a generator"),
        ([[1.0], [2.0, 3.0]], y[:2], "rows of different lengths"),
        (S[0], y, r"Got shape \(60,\)"),
        (S[:0, :0], y[:0], "at least one object"),
        (S, np.asarray(y == y[0]) * 1j, "Complex data"),
        (S, np.array([None, *["a"] * 59], dtype=object), "Object 0 has none"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            search.fit(X, labels)
        assert "\n" not in str(caught.value)


def results_are_equal(ours, theirs):
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    for key, value in theirs.cv_results_.items():
        if "_time" not in key:
            np.testing.assert_array_equal(ours.cv_results_[key], value, err_msg=key)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("frame", [False, True])
def test_train_scores_are_those_of_grid_search(data, frame):
    S, y = data
    options = {"cv": 3, "scoring": ["accuracy", "balanced_accuracy"], "refit": "accuracy", "return_train_score": True}
    theirs = GridSearchCV(LocalNearestCentroid(), KS, **options).fit(S, y)
    X = pytest.importorskip("pandas").DataFrame(S) if frame else S
    results_are_equal(PathSearchCV(LocalNearestCentroid(), KS, **options).fit(X, y), theirs)
    assert "mean_train_accuracy" in theirs.cv_results_


class FailsForSomeK(LocalNearestCentroid):
    """Fails for n_neighbors=3, in a fit and in a shared pass."""

    def fit(self, X, y):
        if self.n_neighbors == 3:
            raise RuntimeError("three")
        return super().fit(X, y)

    def _predict_grid(self, X, y, rows, test_fold, grid, response):
        if any(point["n_neighbors"] == 3 for point in grid):
            raise RuntimeError("three")
        return super()._predict_grid(X, y, rows, test_fold, grid, response)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("error_score", [np.nan, -1.0, 0])
@pytest.mark.parametrize("steps", [(), (Half(),)])
def test_error_scores_are_those_of_grid_search(data, error_score, steps):
    model = make_pipeline(*steps, FailsForSomeK())
    grid = {"failsforsomek__n_neighbors": [1, 3, 8]}
    options = {"cv": 4, "error_score": error_score}
    with pytest.warns(FitFailedWarning, match="4 fits failed"):
        ours = PathSearchCV(model, grid, **options).fit(*data)
    with pytest.warns(FitFailedWarning, match="4 fits failed"):
        results_are_equal(ours, GridSearchCV(model, grid, **options).fit(*data))
    assert np.isnan(ours.error_score) if np.isnan(error_score) else ours.error_score == error_score
    with pytest.raises(ValueError, match="All fits failed"):
        PathSearchCV(model, {"failsforsomek__n_neighbors": [3]}, **options).fit(*data)


@pytest.mark.parametrize("error_score", [None, "raise"])
def test_errors_of_a_shared_pass_are_raised(data, error_score):
    search = PathSearchCV(FailsForSomeK(), KS, cv=4, error_score=error_score)
    with pytest.raises(RuntimeError, match="three"):
        search.fit(*data)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_by_default_a_point_that_is_fitted_separately_scores_nan(data):
    S, y = data
    grid, model = {"n_neighbors": [1, 99]}, KNeighborsClassifier(metric="precomputed")
    with pytest.warns(UserWarning, match="Scoring failed"):
        search = PathSearchCV(model, grid, cv=3).fit(1 - S, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert search.error_score is None
    with pytest.raises(ValueError, match="n_neighbors"):
        PathSearchCV(model, grid, cv=3, error_score="raise").fit(1 - S, y)


def test_every_parameter_of_grid_search_is_one(data):
    assert set(GridSearchCV._get_param_names()) <= set(PathSearchCV._get_param_names())
    jobs = PathSearchCV(LocalNearestCentroid(), KS, cv=3, n_jobs=2, pre_dispatch=1).fit(*data)
    results_are_equal(jobs, PathSearchCV(LocalNearestCentroid(), KS, cv=3).fit(*data))


def test_verbose_prints(data, capsys):
    def printed(model, grid, verbose):
        PathSearchCV(model, grid, cv=3, verbose=verbose).fit(*data)
        return capsys.readouterr()

    shared = make_pipeline(Half(), LocalNearestCentroid()), {"localnearestcentroid__n_neighbors": [1, 4]}
    one_pass = LocalNearestCentroid(), {"n_neighbors": [1, 4]}
    assert printed(*shared, 0) == printed(*one_pass, 0) == ("", "")
    assert "Done   3 out of   3" in printed(*shared, 1).err
    assert "Done   1 out of   1" in printed(*one_pass, 1).err  # all folds in one pass
    separate = KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [1, 4]}
    assert printed(*separate, 1).out == "Fitting 3 folds for each of 2 candidates, totalling 6 fits\n"


def test_progress_goes_to_stderr(data, capsys):
    PathSearchCV(LocalNearestCentroid(), KS, cv=3, progress=True).fit(*data)
    assert capsys.readouterr().out == ""


def test_responses_share_one_ranking(data, monkeypatch):
    from similis import SimilarityKNN
    from similis.base import predict_responses
    from similis.neighbors import _weights

    S, y = data
    search = PathSearchCV(make_pipeline(Half(), SimilarityKNN(smoothing=0.01)), {"half__power": [1.0, 2.0]}, cv=3).fit(
        S, y
    )
    ranked = []
    monkeypatch.setattr(
        _weights, "top_k", lambda *a, original=_weights.top_k, **o: ranked.append(1) or original(*a, **o)
    )
    names = ["predict", "predict_proba"]
    for model in (search, search.best_estimator_, search.best_estimator_[-1]):
        ranked.clear()
        shared = predict_responses(model, S, names)
        assert len(ranked) == 1
        for response, name in zip(shared, names):
            np.testing.assert_array_equal(response, getattr(model, name)(S))
    svc = SVC(kernel="precomputed").fit(S, y)
    np.testing.assert_array_equal(predict_responses(svc, S, ["predict"])[0], svc.predict(S))


@pytest.mark.parametrize(
    ("n", "cv", "words"), [(6, [], "at least one split"), (1, LeaveOneOut(), "at least two objects")]
)
def test_splits_that_cannot_be_made(n, cv, words):
    S = np.eye(n) + 1
    with pytest.raises(ValueError, match=words):
        PathSearchCV(LocalNearestCentroid(), {"n_neighbors": [1, 2]}, cv=cv).fit(S, np.arange(n) % 2)


@pytest.mark.parametrize("fold", [np.zeros(4, int), [0, 1, 0], [[0, 1, 0, 1]]], ids=str)
@pytest.mark.parametrize("model", [SimilarityKNN(), SimilarityKNNRegressor(), LocalNearestCentroid()], ids=repr)
def test_a_partition_has_two_folds(model, fold):
    """Nothing to train on: neighbors were searched for ever."""
    with pytest.raises(ValueError, match="test_fold must hold a fold number for each of the 4 objects"):
        model.predict_path_cv(np.eye(4), [0, 0, 1, 1], fold, [{"n_neighbors": 1}])
