"""The test over objects, the metric of the ranking, and groups, costs and priors on their way to the trained model."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reports import make_result
from scipy import stats
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from studies import S, Y, run

from similis import SDA, ProximityError, SimilarityKNN, Study, StudyResult
from similis.datasets import make_similarity
from similis.study import make_model, read_model, train_model, write_model
from similis.study._differences import balancing_costs, choose_metric, compare_objects, rare_classes
from similis.study._metrics import compare_to_best
from similis.study._protocol import Protocol


def by_definition(result, method, loss):
    """Difference, its variance and the units of a method, object by object."""
    leader, n = result.leader(), len(result.codes)
    T, c = np.zeros(n), np.zeros(n)
    for split in result.splits:
        pair = [result.entries[name, split.number] for name in (method, leader)]
        for place, i in enumerate(split.test):
            T[i] += loss(pair[0], place, i) - loss(pair[1], place, i)
            c[i] += 1
    if result.groups is not None:
        names = np.unique(result.groups)
        T, c = (np.array([v[result.groups == g].sum() for g in names]) for v in (T, c))
    T, c = T[c > 0], c[c > 0]
    N, delta = len(T), T.sum() / c.sum()
    ratio = max(0.25, np.mean([len(s.test) / (n - len(s.test)) for s in result.splits]))
    variance = (1 + 2 * ratio) * sum((t - delta * k) ** 2 for t, k in zip(T, c)) / c.sum() ** 2 * N / (N - 1)
    return delta, variance, N


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(("n", "grouped"), [(61, False), (61, True), (12, False)])
@pytest.mark.parametrize("metric", ["error", "balanced_error", "cost", "log_loss", "perplexity", "nce"])
def test_differences_are_those_of_the_definition(metric, n, grouped):
    costs = np.array([[0, 1, 2], [3, 0, 1], [1, 5, 0.5]])
    result = make_result(n=n, methods={"nc": 0.0, "knn": 0.3, "majority": 0.9})
    name = "normalized_cross_entropy" if metric == "nce" else metric
    result = replace(result, metric=name, costs=costs, groups=np.arange(n) // 3 if grouped else None)
    tests = np.concatenate([result.codes[s.test] for s in result.splits])
    present = all(len(np.unique(result.codes[s.test])) == 3 for s in result.splits)
    assert present == (n == 61)

    def loss(entry, place, i):
        said, truth = entry.predictions[place], result.codes[i]
        if metric == "error":
            return float(said != truth)
        if metric == "balanced_error":
            if present:  # classes count equally in each split
                same = np.sum(result.codes[result.splits[entry.split].test] == truth)
                return (said != truth) * len(tests) / (len(result.splits) * 3 * same)
            return (said != truth) * len(tests) / (len(np.unique(tests)) * np.sum(tests == truth))
        if metric == "cost":
            return costs[said, truth]
        return -np.log((entry.proba[place, truth] + 1e-4) / (1 + 3e-4))

    found = result.differences()
    assert found["nc"].verdict == "best"
    for method in ("knn", "majority"):
        delta, variance, N = by_definition(result, method, loss)
        reach = stats.studentized_range.ppf(0.95, 3, N - 1) / np.sqrt(2) * np.sqrt(variance)
        assert found[method].difference == pytest.approx(delta)
        assert found[method].statistic == pytest.approx(delta / np.sqrt(variance))
        assert found[method].n_units == N
        np.testing.assert_allclose(found[method].interval, [delta - reach, delta + reach], rtol=1e-6)
    if metric in ("error", "balanced_error", "cost"):  # what the test compares is what the table shows
        means = result.mean_scores(metric)
        assert means["knn"] - means["nc"] == pytest.approx(found["knn"].difference)


def test_five_splits_recognize_a_gap_of_thirty_points():
    result = make_result(n=200, methods={"nc": 0.1, "knn": 0.55}, n_splits=5)
    others = {f"m{k}": result.scores("error")["knn"] for k in range(19)}
    assert not any(v.worse for v in compare_to_best({"nc": result.scores("error")["nc"], **others}).values())
    assert result.differences()["knn"].verdict == "clearly worse"
    assert "It is clearly better than the other method." in result.recommend().text


def test_verdicts_at_their_limits():
    rng = np.random.default_rng(0)
    T = rng.normal(size=100)
    T -= T.mean()
    error = np.sqrt(1.5 * (T**2).sum()) / 100 * np.sqrt(100 / 99)  # 1 + 2 n_test / n_train is at least 1.5
    critical = stats.studentized_range.ppf(0.95, 7, 99) / np.sqrt(2)
    ones = np.ones(100)
    for t, verdict in (
        (critical * 1.001, "clearly worse"),
        (critical * 0.999, "possibly worse"),
        (1.651, "possibly worse"),
        (1.649, "undecided"),
        (-9.0, "undecided"),
    ):
        assert compare_objects("a", T + t * error, ones, 0.0, 7).verdict == verdict
    for n, verdict in ((10, "clearly worse"), (9, "too few objects")):  # the same difference on every object
        assert compare_objects("a", 0.5 * np.ones(n), np.ones(n), 0.25, 7).verdict == verdict
    assert compare_objects("a", np.zeros(50), np.ones(50), 0.25, 7).verdict == "undecided"
    assert compare_objects("a", -np.ones(50), np.ones(50), 0.25, 7).verdict == "undecided"
    assert compare_objects("a", np.ones(1), np.ones(1), 0.25, 7).verdict == "too few objects"
    # The factor of the overlap: with equal parts the standard error is larger by sqrt(3 / 1.5).
    one, two = (compare_objects("a", T + 1, ones, ratio, 7).statistic for ratio in (0.0, 1.0))
    assert one == pytest.approx(np.sqrt(2) * two)


def test_too_few_objects_are_not_called_equivalent():
    result = make_result(n=60, n_splits=1, methods={"nc": 0.0, "knn": 0.9})
    few = replace(result, splits=result.splits[:1])
    few.splits[0] = replace(few.splits[0], test=few.splits[0].test[:8])
    few.entries.update(
        {k: replace(e, predictions=e.predictions[:8], proba=None) for k, e in few.entries.items() if k[1] == 0}
    )
    advice = few.recommend()
    assert "Too few objects to test" in advice.text
    assert "8 were tested" in advice.text
    assert "not significant" not in advice.text
    assert advice.n_worse == 0


def test_words_of_the_verdict():
    methods = {"nc": 0.02, "knn": 0.03, "sda": 0.03, "cnn": 0.04, "maxsim": 0.8, "sbc": 0.9, "majority": 0.95}
    advice = make_result(n=150, methods=methods).recommend()
    assert "Of the other methods, 2 are clearly worse" in advice.certainty
    assert len(advice.alike) + len(advice.possibly_worse) + advice.n_worse == 5  # without the baseline
    assert f"to {advice.alike[0]}" in advice.certainty
    assert "not significant on these objects." in advice.certainty
    grouped = replace(make_result(n=150, methods=methods), groups=np.arange(150) // 3).recommend()
    assert "not significant on these groups." in grouped.certainty


def test_intervals_are_in_the_table_of_the_report(tmp_path):
    result = make_result(methods={"nc": 0.1, "knn": 0.6})
    low, high = result.differences()["knn"].interval
    head, best, other = result.format_table(intervals=True)
    place = head.index("95 % interval")
    assert best[place] == ""
    assert other[place] == f"{100 * low:.2f} to {100 * high:.2f}"
    result.to_html(tmp_path / "report.html")
    assert other[place] in (tmp_path / "report.html").read_text()
    assert "95 % interval" not in result.format_table()[0]


def test_leader_is_never_a_baseline():
    result = make_result(methods={"majority": 0.0, "nc": 0.3, "knn": 0.4})
    assert result.leader() == "nc"
    assert "not clearly better than always predicting the largest class" in result.recommend().text
    result = make_result(methods={"sklearn-knn": 0.0, "nc": 0.3, "knn": 0.4})
    infos = [replace(info, baseline=info.name == "sklearn-knn") for info in result.methods]
    assert "The baseline sklearn-knn has a lower error (0.0 %)." in replace(result, methods=infos).recommend().text


def test_methods_that_failed_count_among_those_started():
    result = make_result(methods={"nc": 0.1, "knn": 0.4, "cnn": 0.5})
    failed = {k: replace(e, status="failed") if k[0] == "cnn" else e for k, e in result.entries.items()}
    fewer = replace(result, entries=failed)
    assert fewer.differences()["knn"] == result.differences()["knn"]
    assert "cnn" not in fewer.differences()


# Metric of the ranking


def test_rare_classes_by_the_rule():
    def codes(*counts):
        return np.repeat(np.arange(len(counts)), counts)

    assert rare_classes(codes(80, 20)).size == 0  # 0.4 * 100 / 2 = 20 is not fewer
    assert rare_classes(codes(81, 19)).tolist() == [1]
    assert rare_classes(codes(50, 50, 1)).tolist() == [2]
    many = [10] * 29 + [1]  # the smallest tenth, three classes, holds 21 of the equal share of 29
    assert rare_classes(codes(*many)).size == 0
    assert rare_classes(codes(*[10] * 27, 1, 2, 3)).tolist() == [27, 28, 29]
    assert choose_metric(codes(95, 5), weighted=False) == "balanced_error"
    assert choose_metric(codes(95, 5), weighted=True) == "cost"
    assert choose_metric(codes(50, 50), weighted=False) == "error"


@pytest.fixture(scope="module")
def rare():
    A, y = make_similarity(120, 2, separation=1.5, random_state=3)
    kept = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:9]]
    return A[np.ix_(kept, kept)], np.array(["common", "rare"])[y[kept]]


def test_a_rare_class_is_ranked_by_balanced_error(rare):
    result = run(["knn", "sda", "nc", "majority"], rare, n_splits=6)
    assert result.metric == "balanced_error"
    rows = result.table()
    assert [row.balanced_error for row in rows] == sorted(row.balanced_error for row in rows)
    text = result.recommend().text
    assert "The smallest class holds 13 % of the objects, so methods are ranked by balanced error" in text
    assert "by plain error it would be" in text
    assert "The smallest class has only 9 objects, so the ranking is weak." in text
    assert "Ranked by balanced error" in str(result)
    plain = run(["knn", "sda", "nc", "majority"], rare, n_splits=6, study={"metric": "error"})
    assert "balanced" not in plain.recommend().text
    assert plain.recommend().command.endswith("--metric error --output model.skops")
    assert "--metric" not in result.recommend().command
    assert run(["knn"], rare, costs=[[0, 1], [1, 0]]).metric == "cost"
    assert run(["knn"], rare, priors=[0.9, 0.1]).metric == "cost"


def test_the_search_inside_a_split_optimizes_the_metric_of_the_ranking():
    A, y = make_similarity(120, 2, separation=0.8, random_state=1)
    kept = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:14]]
    A, y = rare = A[np.ix_(kept, kept)], np.array(["common", "rare"])[y[kept]]
    codes = np.unique(y, return_inverse=True)[1]
    result = run(["knn"], rare, n_splits=4)
    weights = balancing_costs(codes)
    score = make_scorer(lambda truth, said: weights[said, truth].mean(), greater_is_better=False)
    protocol = Protocol(n_splits=4, cv=3)
    grid = result.methods[0].grid
    for split in result.splits:
        search = GridSearchCV(SimilarityKNN(), grid, scoring=score, cv=protocol.inner(split.number))
        search.fit(A[np.ix_(split.train, split.train)], codes[split.train])
        assert result.entries["knn", split.number].params == search.best_params_
    plain = run(["knn"], rare, n_splits=4, study={"metric": "error"})
    assert [e.params for e in plain.entries.values()] != [e.params for e in result.entries.values()]
    model = result.fit_model(A, y)
    assert model.scorer_._kwargs["costs"] == pytest.approx(weights)


@pytest.mark.parametrize("metric", ["log_loss", "perplexity", "nce"])
def test_probabilities_rank_and_choose(metric):
    result = run(["knn", "nc", "sda"], study={"metric": metric}, n_splits=3)
    rows = result.table()
    assert rows[-1].method == "nc"  # without probabilities it is in the table, last, and not ranked
    assert np.isnan(rows[-1].rank)
    assert rows[-1].verdict == ""
    means = result.mean_scores(metric)
    best = max if metric == "nce" else min
    assert result.leader() == best(["knn", "sda"], key=means.get)
    heads, *lines = result.format_table()
    assert heads.count({"log_loss": "log loss", "nce": "normalized cross entropy"}.get(metric, metric)) == 1
    if metric != "log_loss":
        assert [line[heads.index("log loss") + 1] for line in lines] == [
            "" if row.method == "nc" else f"{means[row.method]:.4g}" for row in rows
        ]
    assert "Methods are ranked by" in result.recommend().text
    only = run(["nc"], study={"metric": metric})
    with pytest.raises(ProximityError, match="gives the probabilities"):
        only.recommend()
    assert str(only)


def test_bad_metrics_costs_and_priors():
    for study, options, words in (
        ({"metric": "accuracy"}, {}, "no metric 'accuracy'"),
        ({"metric": "brier_score"}, {}, "no metric 'brier_score'"),
        ({"metric": "cost"}, {}, "needs costs or priors"),
        ({"metric": "log_loss", "probabilities": False}, {}, "probabilities=True"),
        ({}, {"costs": "equal"}, "'balanced'"),
        ({}, {"priors": "balanced"}, "'equal'"),
        ({}, {"priors": [0.5, 0.5]}, "one probability per class"),
        ({}, {"priors": [0.5, 0.5, 0.5]}, "sum to 1"),
    ):
        with pytest.raises(ValueError, match=words):
            run(study=study, **options)
    with pytest.raises(ProximityError, match="pass y too"):
        make_model("knn", priors="equal")


def test_baseline_error_is_the_row_of_the_majority():
    for study in ({}, {"protocol": "loo"}, {"protocol": "stratified"}):
        y = np.where(np.arange(36) % 5 < 3, "a", Y)
        result = run(["nc", "majority"], (S, y), n_splits=5, study={**study, "metric": "error"})
        row = next(row for row in result.table() if row.method == "majority")
        assert result.baseline_error() == pytest.approx(row.error)
        assert result.baseline_error("balanced_error") == pytest.approx(row.balanced_error)
        without = run(["nc"], (S, y), n_splits=5, study={**study, "metric": "error"})
        assert without.baseline_error() == result.baseline_error()


# Groups, costs and priors


@pytest.fixture(scope="module")
def twins():
    """Pairs of near-identical objects with labels that are noise: k = 1 is right only about twins."""
    rng = np.random.default_rng(5)
    Z = np.repeat(rng.normal(size=(30, 2)), 2, axis=0) + 1e-3 * rng.normal(size=(60, 2))
    y = np.repeat(np.where(rng.random(30) < 0.3, 1, 0) ^ (Z[::2, 0] > 0), 2)
    return np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1)), np.array(["a", "b"])[y], np.repeat(np.arange(30), 2)


def test_groups_travel_to_the_trained_model(twins, tmp_path):
    A, y, groups = twins
    result = run(["knn"], (A, y), n_splits=3, groups=groups)
    assert run(["knn"], (A, y), n_splits=3).fit_best(A, y).n_neighbors == 1
    best = result.fit_best(A, y)
    assert best.n_neighbors > 1
    names = {"S": A, "y": y, "groups": groups}
    exec(result.recommend().python, names)
    assert names["model"].best_params_ == {"n_neighbors": best.n_neighbors}
    assert "--groups groups.csv" in result.recommend().command
    result.save(tmp_path / "result.json")
    again = StudyResult.load(tmp_path / "result.json")
    assert again.fit_best(A, y).n_neighbors == best.n_neighbors
    assert again.recommend().python == result.recommend().python
    with pytest.raises(ProximityError, match="Pass the groups"):
        result.fit_best(A[:50, :50], y[:50])
    assert result.fit_best(A[:50, :50], y[:50], groups=groups[:50]).n_neighbors >= 1
    result.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "groups=groups" in page
    assert "30, never on both sides of a split or fold" in page
    trained = train_model(A, y, study=Study("knn", n_splits=2, cv=3), groups=groups)
    assert trained.card.params["n_neighbors"] > 1
    assert trained.card.settings == {"metric": "error", "groups": 30}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("options", "method"),
    [({"costs": "balanced"}, "knn"), ({"priors": "equal"}, "sda"), ({"costs": [[0, 9], [1, 0]]}, "kri-knn(clip)")],
)
def test_printed_code_trains_what_fit_best_trains(options, method, rare):
    A, y = rare
    result = run([method], rare, **options)
    assert "random_state" not in result.recommend().python
    result = run([method], rare, study={"random_state": 5}, **options)
    names = {"S": A, "y": y}
    exec(result.recommend().python, names)
    if hasattr(names["model"], "cv"):
        assert names["model"].cv.random_state == 5
    model = getattr(names["model"], "best_estimator_", names["model"])
    best = result.fit_best(A, y)
    assert str(model.get_params()) == str(best.get_params())
    np.testing.assert_array_equal(model.predict(A), best.predict(A))


@pytest.mark.slow
def test_printed_code_with_leave_one_out(rare):
    A, y = rare
    for options in ({}, {"groups": np.arange(69) // 3}):
        result = run(["knn"], rare, n_splits=1, cv="loo", **options)
        names = {"S": A, "y": y, **options}
        exec(result.recommend().python, names)
        assert names["model"].best_params_ == result.fit_model(A, y).best_params_


def test_priors_reach_the_methods_and_the_errors(rare):
    A, y = rare
    equal = run(["knn", "sda", "svm-kernel(clip)"], rare, n_splits=4, priors="equal", study={"protocol": "stratified"})
    assert isinstance(equal.fit_best(A, y, method="sda"), SDA)
    np.testing.assert_allclose(equal.fit_best(A, y, method="sda").priors, [0.5, 0.5])
    knn = equal.fit_best(A, y, method="knn")  # it has no priors: the same by costs
    np.testing.assert_allclose(knn.costs[0, 1] / knn.costs[1, 0], 60 / 9)
    balanced = run(["knn"], rare, n_splits=4, costs="balanced", study={"protocol": "stratified"})
    for split in range(4):
        np.testing.assert_array_equal(
            balanced.entries["knn", split].predictions, equal.entries["knn", split].predictions
        )
    assert "expected under the given priors" in equal.recommend().text
    data = run(["knn"], rare, n_splits=4, priors=[60 / 69, 9 / 69])  # those of the data: nothing changes
    plain = run(["knn"], rare, n_splits=4, study={"metric": "error"})
    assert data.mean_scores("cost")["knn"] == pytest.approx(plain.mean_scores("error")["knn"])


def test_settings_come_back_with_results_and_cards(rare, tmp_path):
    A, y = rare
    result = run(["knn", "nc"], rare, priors=[0.3, 0.7], costs=[[0, 2], [1, 0]], study={"metric": "nce"})
    result.save(tmp_path / "a.json")
    again = StudyResult.load(tmp_path / "a.json")
    assert str(again) == str(result)
    assert again.settings() == result.settings()
    assert again.settings() == {
        "metric": "normalized_cross_entropy",
        "costs": [[0.0, 2.0], [1.0, 0.0]],
        "priors": [0.3, 0.7],
    }
    record = json.loads((tmp_path / "a.json").read_text())
    for change in ({"priors": [1.0]}, {"costs": [[1.0]]}, {"groups": [1, 2]}, {"metric": "luck"}):
        (tmp_path / "b.json").write_text(json.dumps({**record, **change}))
        with pytest.raises(ProximityError, match="not a results file"):
            StudyResult.load(tmp_path / "b.json")
    trained = train_model(A, y, study=Study("knn", n_splits=2, cv=3), priors=[0.3, 0.7])
    beside = write_model(trained, tmp_path / "model.skops")
    assert read_model(tmp_path / "model.skops").card.settings == {"metric": "cost", "priors": [0.3, 0.7]}
    card = json.loads(beside.read_text())
    del card["settings"]  # as 1.0 wrote it
    beside.write_text(json.dumps(card))
    assert read_model(tmp_path / "model.skops").card.settings == {}


def test_results_of_1_0_get_code_with_their_groups(twins, tmp_path):
    A, y, groups = twins
    result = run(["knn"], (A, y), n_splits=2, groups=groups)
    result.save(tmp_path / "a.json")
    record = json.loads((tmp_path / "a.json").read_text())
    del record["metric"], record["priors"]
    record["training"] = {"knn": "model = PathSearchCV(...).fit(S, y)"}
    (tmp_path / "a.json").write_text(json.dumps(record))
    again = StudyResult.load(tmp_path / "a.json")
    assert again.metric == "error"
    assert "groups=groups" in again.recommend().python


def test_a_journal_belongs_to_its_metric(rare, tmp_path):
    path = tmp_path / "a.journal"
    first = run(["knn"], rare, study={"journal": path, "metric": "error"})
    assert '"metric"' not in path.read_text().partition("\n")[0]  # the header of 1.0
    with pytest.raises(ProximityError, match=r"chosen by error, here by balanced_error\. Continue it with the metric"):
        run(["knn"], rare, study={"journal": path})
    again = run(["knn"], rare, study={"journal": path, "metric": "error"})
    assert [e.finished for e in again.entries.values()] == [e.finished for e in first.entries.values()]
    other = tmp_path / "b.journal"
    run(["knn"], rare, study={"journal": other, "metric": "log_loss"})
    assert run(["knn"], rare, study={"journal": other, "metric": "nce"}).metric == "normalized_cross_entropy"


@pytest.mark.slow
def test_equal_methods_are_seldom_called_worse():
    """The simulation of the guide in small: at most 5 % of the studies, where the test over splits errs in most."""
    path = Path(__file__).parents[1] / "benchmarks"
    sys.path.insert(0, str(path))
    try:
        import derive_differences as simulation
    finally:
        sys.path.remove(str(path))
    for scheme, most in (("5 random splits", 0.05), ("20 random splits", 0.08), ("leave one out", 0.1)):
        rates = simulation.null_rates(
            simulation.clouds, simulation.nearest(9), simulation.SCHEMES[scheme], studies=60, seed=1
        )
        assert rates["clearly"] <= most
        if scheme == "20 random splits":
            assert rates["signed rank"] > 0.8
