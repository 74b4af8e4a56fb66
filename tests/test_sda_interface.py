"""Similarity discriminant analysis: lists and stacks, compact models, files, paths, displays, bad input."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from toy_problems import random_similarities as problem

from similis import SDA, NearestNeighborSDA, PathSearchCV, compact, load, save
from similis.discriminant import SDADisplay


def test_lists_stacks_and_functions(rng):
    S, y, Q = problem(rng)
    R = rng.random(S.shape)
    both = SDA(statistic=["centroid", "nearest"]).fit(S, y)
    parts = SDA().fit(S, y), NearestNeighborSDA().fit(S, y)
    np.testing.assert_allclose(both.class_log_prob(Q), sum(p.class_log_prob(Q) for p in parts))
    stack = SDA().fit(np.stack([S, R], axis=2), y)
    QR = rng.random(Q.shape)
    np.testing.assert_allclose(
        stack.class_log_prob(np.stack([Q, QR], axis=2)), parts[0].class_log_prob(Q) + SDA().fit(R, y).class_log_prob(QR)
    )
    assert stack.centroids_.shape == (2, 3)
    assert isinstance(stack.domain_, list)
    users = SDA(statistic=lambda rows, labels: rows[:, labels == 1].mean(axis=1)).fit(S, y)
    assert users.exponents_.shape == (3, 1)
    np.testing.assert_array_equal(users.statistics(Q)[:, 0], Q[:, y == 1].mean(axis=1))
    np.testing.assert_array_equal(SDA(statistic=lambda rows: rows[:, :3]).fit(S, y).statistics(Q), Q[:, :3])


def test_popular_centroids(rng):
    S, y, _ = problem(rng)
    from similis import NearestCentroid

    expected = NearestCentroid(centroid="popular").fit(S, y).centroids_
    np.testing.assert_array_equal(SDA(centroid="popular").fit(S, y).centroids_, expected)


@pytest.mark.parametrize("statistic", ["centroid", "quadratic", ["centroid", "quadratic"]])
@pytest.mark.parametrize("stacked", [False, True])
def test_compact_reads_the_centroids_only(rng, statistic, stacked):
    S, y, Q = problem(rng)
    if stacked:
        S, Q = np.stack([S, S**2], axis=2), np.stack([Q, Q**2], axis=2)
    model = SDA(statistic=statistic).fit(S, y)
    small = compact(model)
    assert len(model.columns_) <= (6 if stacked else 3)
    assert small.n_features_in_ == len(model.columns_)
    np.testing.assert_array_equal(small.predict_proba(Q[:, model.columns_]), model.predict_proba(Q))
    everything = SDA(statistic="nearest").fit(S, y)
    assert len(everything.columns_) == 40
    np.testing.assert_array_equal(compact(everything).predict(Q), everything.predict(Q))


def test_saved_and_loaded(rng, tmp_path):
    S, y, Q = problem(rng)
    for model in (SDA(statistic=["quadratic", "nearest"]), NearestNeighborSDA(domain="continuous")):
        save(model.fit(S, y), tmp_path / "model.skops")
        np.testing.assert_array_equal(load(tmp_path / "model.skops").predict_proba(Q), model.predict_proba(Q))


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("statistic", ["centroid", "nearest", ["quadratic", "rows"]])
@pytest.mark.parametrize("cv, scoring", [(4, "accuracy"), (4, "neg_log_loss"), (LeaveOneOut(), "accuracy")])
def test_path_is_grid_search(rng, statistic, cv, scoring):
    S, y, _ = problem(rng, n=30, levels=6)
    y = np.arange(30) % 3
    grid = {"pseudocount": [0.5, 2.0], "domain": ["empirical", "continuous"]}
    options = {"cv": cv, "scoring": scoring}
    ours = PathSearchCV(SDA(statistic=statistic), grid, **options).fit(S, y).cv_results_["mean_test_score"]
    theirs = GridSearchCV(SDA(statistic=statistic), grid, **options).fit(S, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_path_of_a_stack_is_grid_search(rng):
    S, y, _ = problem(rng, n=30, levels=6)
    X = np.stack([S, S**2, rng.random(S.shape)], axis=2)
    grid = {"pseudocount": [0.5, 2.0]}
    ours, theirs = (
        search(SDA(), grid, cv=3, scoring="neg_log_loss").fit(X, y) for search in (PathSearchCV, GridSearchCV)
    )
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9)


def test_display(rng):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    S, y, _ = problem(rng, levels=4)
    for model, n_panels in ((SDA(), 3), (SDA(statistic="quadratic", domain="continuous"), 9)):
        display = SDADisplay.from_estimator(model.fit(S, y))
        assert len(display.axes_) == n_panels
        assert len(display.axes_[0].lines) == 3
        matplotlib.pyplot.close(display.figure_)
    for p in SDADisplay.from_estimator(SDA().fit(S, y), plot=False).probabilities:
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    chosen = SDADisplay.from_estimator(SDA(statistic="rows").fit(S, y), statistics=[5, 7], plot=False)
    assert chosen.statistic_names == ["s(x, object 5)", "s(x, object 7)"]


BAD = [
    ({"statistic": "median"}, "statistic"),
    ({"statistic": ["centroid", "median"]}, "'median'"),
    ({"statistic": []}, "empty"),
    ({"statistic": lambda rows, y: rows[:-1]}, "one row per object"),
    ({"statistic": lambda rows, y: np.zeros((len(rows), 2, 2))}, "one row per object"),
    ({"statistic": lambda rows, y: np.array(["x"] * len(rows))}, "must return numbers"),
    ({"statistic": lambda rows, y: np.where(rows[:, :2] > 2, np.nan, 0)}, "finite"),
    ({"domain": [1.0]}, "at least two values"),
    ({"domain": [2, 2, 2]}, "at least two values"),
    ({"domain": (3.0, 1.0)}, "low < high"),
    ({"domain": (0.0, 1.0, 2.0)}, "low < high"),
    ({"domain": (-np.inf, np.inf)}, "infinite"),
    ({"domain": [0, np.inf]}, "finite values"),
    ({"domain": [0, np.nan]}, "domain must be"),
    ({"domain": ["a", "b"]}, "domain must be"),
    ({"domain": (0.0, 2.0)}, "Statistic . of an object of class '.' is 3"),
    ({"domain": [0, 1, 2]}, "outside the given domain"),
    ({"pseudocount": -1.0}, "pseudocount"),
    ({"costs": np.zeros((2, 2))}, "costs must be a 3 x 3"),
    ({"costs": np.full((3, 3), np.nan)}, "finite"),
    ({"priors": [0.5, 0.5]}, "priors"),
    ({"priors": [0.5, 0.7, -0.2]}, "priors"),
    ({"degenerate": "no"}, "degenerate"),
]


@pytest.mark.parametrize("params, words", BAD)
def test_bad_input_gets_one_clear_sentence(rng, params, words):
    S, y, _ = problem(rng, levels=4)
    with pytest.raises(ValueError, match=words) as caught:
        SDA(**params).fit(S, np.array(["a", "b", "c"])[y])
    assert len(str(caught.value)) < 300


def test_a_stack_of_another_width_is_refused(rng):
    S, y, Q = problem(rng)
    with pytest.raises(ValueError, match="stack of 2"):
        SDA().fit(np.stack([S, S], axis=2), y).predict(np.stack([Q] * 3, axis=2))
