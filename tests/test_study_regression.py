"""Studies of a regression: task, metrics, verdict, race, results file, report, models, command line."""

import json
import re
import warnings

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, r2_score, root_mean_squared_error

from similis import Study
from similis.cli import app
from similis.exceptions import ProximityError
from similis.io import read_model, write_model
from similis.study import (
    METRICS,
    Method,
    ObjectsDisplay,
    StudyResult,
    ValuesDisplay,
    choose_task,
    find_method,
    list_methods,
    make_model,
    predict_rows,
    train_model,
)
from similis.study._metrics import OF_VALUES, relative_losses, value_interval, value_losses


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, 60)
    return np.abs(x[:, None] - x), np.sin(x) + 0.1 * rng.normal(size=60)


@pytest.fixture(scope="module")
def result(waves):
    D, target = waves
    study = Study(["ridge(clip)", "knn-mean(n_neighbors=1|3|5)", "mean"], n_splits=7, cv=3)
    return study.run(D, target, kind="dissimilarity")


def test_the_task_follows_from_the_target():
    assert choose_task([0.5, 1.0, 2.0]) == "regression"
    assert choose_task(np.arange(30)) == "regression"  # whole numbers that seldom repeat
    assert choose_task(np.repeat(np.arange(30), 5)) == "classification"
    assert choose_task([0, 1, 1]) == choose_task(["a", "b"]) == choose_task([True, False]) == "classification"
    assert choose_task(np.array([0.5, 1.5], dtype=object)) == "regression"
    assert choose_task(None) == "classification"


def test_whole_numbers_that_seldom_repeat_are_announced(waves):
    D, _ = waves
    with pytest.warns(UserWarning, match="60 different whole numbers"):
        found = Study("mean", n_splits=2).run(D, np.arange(60), kind="dissimilarity")
    assert found.task == "regression"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Study("mean", n_splits=2, task="regression").run(D, np.arange(60), kind="dissimilarity")


@pytest.mark.parametrize(
    "options, given, words",
    [
        ({"task": "ranking"}, {}, "task must be"),
        ({"methods": "knn"}, {}, "not a method of regression. Use one of ridge"),
        ({"metric": "error"}, {}, "no metric 'error'"),
        ({}, {"costs": np.eye(2)}, "for classes"),
    ],
)
def test_wrong_arguments(waves, options, given, words):
    D, target = waves
    with pytest.raises(ValueError, match=words):
        Study(**{"methods": "mean", "n_splits": 2, **options}).run(D, target, kind="dissimilarity", **given)


def test_a_constant_target_and_text_are_rejected(waves):
    D, _ = waves
    with pytest.raises(ProximityError, match="target that varies"):
        Study("mean", task="regression").run(D, np.ones(60), kind="dissimilarity")
    with pytest.raises(ProximityError, match="numeric target"):
        Study("mean", task="regression").run(D, ["a", "b"] * 30, kind="dissimilarity")


def test_metrics_are_those_of_sklearn(result):
    truth = np.concatenate([result.target[s.test] for s in result.splits])
    name = "ridge(clip)"
    predicted = np.concatenate([result.entries[name, s.number].predictions for s in result.splits])
    expected = {
        "rmse": root_mean_squared_error(truth, predicted),
        "mae": mean_absolute_error(truth, predicted),
        "r2": r2_score(truth, predicted),
        "pinball(0.9)": mean_pinball_loss(truth, predicted, alpha=0.9),
        "pinball": mean_pinball_loss(truth, predicted, alpha=0.5),
    }
    for metric, value in expected.items():
        assert result.mean_scores(metric)[name] == pytest.approx(value, rel=1e-12)
    assert result.mean_scores("error") == result.mean_scores("rmse")
    assert np.isnan(result.mean_scores("balanced_error")[name])
    first = result.splits[0]
    assert result.scores("mae")[name][0] == pytest.approx(
        mean_absolute_error(result.target[first.test], result.entries[name, 0].predictions)
    )
    with pytest.raises(ValueError, match="no metric"):
        result.scores("pinball(0.42)")


def test_relative_losses_are_points_of_r2():
    rng = np.random.default_rng(0)
    truth, predicted = rng.normal(size=(2, 50))
    assert 1 - relative_losses("rmse", truth, predicted, truth).mean() == pytest.approx(r2_score(truth, predicted))
    for metric in OF_VALUES:  # the best constant has the loss 1
        level = 0.5 if metric == "mae" else float(metric[8:-1]) if metric.startswith("pinball") else None
        constant = truth.mean() if level is None else np.quantile(truth, level)
        found = relative_losses(metric, truth, np.full(50, constant), truth)
        assert found.mean() == pytest.approx(1)
        assert METRICS[metric].of_values is not None
    assert value_losses("pinball(0.9)", np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx([0.9, 0.1])


def test_verdicts_and_race(result):
    differences = result.differences()
    assert result.best() == "ridge(clip)"
    assert differences["mean"].verdict == "clearly worse"
    assert result.dropped["mean"] == 5
    shared = result.splits[:5]
    losses = {
        name: np.concatenate(
            [(result.entries[name, s.number].predictions - result.target[s.test]) ** 2 for s in shared]
        ).mean()
        for name in ("mean", "ridge(clip)")
    }
    expected = (losses["mean"] - losses["ridge(clip)"]) / result.target.var()
    assert differences["mean"].difference == pytest.approx(expected)
    text = str(result)
    assert "points of R2" in text
    assert "expect a root mean squared error of" in text
    assert result.baseline_error() == pytest.approx(0.7, abs=0.1)


def test_the_interval_covers_the_error(result):
    low, high = result.error_interval("ridge(clip)")
    assert 0 < low < result.mean_scores("rmse")["ridge(clip)"] < high < 0.2
    assert value_interval(np.zeros(5), np.ones(5), 0.25) == (0.0, 0.0)


@pytest.mark.slow
def test_the_interval_has_its_level():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        low, high = value_interval(rng.chisquare(1, size=60), np.ones(60), 0.0)
        hits += low <= 1 <= high
    assert 0.9 <= hits / 400 <= 0.99


def test_results_file_and_report(result, tmp_path):
    result.save(tmp_path / "r.json")
    loaded = StudyResult.load(tmp_path / "r.json")
    assert str(loaded) == str(result)
    assert loaded.task == "regression"
    loaded.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "Predicted and true values" in page
    assert "largest residuals" in page
    assert "misclassified" not in page
    assert "root mean squared error" in page
    assert "root mean squared error" in result._repr_html_()
    record = json.loads((tmp_path / "r.json").read_text())
    record["target"] = record["target"][:-1]
    (tmp_path / "r.json").write_text(json.dumps(record))
    with pytest.raises(ProximityError, match="target do not fit"):
        StudyResult.load(tmp_path / "r.json")


def test_pictures(result):
    shown = ValuesDisplay.from_result(result, plot=False)
    assert len(shown.describe()) == 2
    assert shown.hardest(1)[0][0] in shown.names
    _, truth, predicted = shown.hardest(1)[0]
    assert abs(truth - predicted) == np.abs(shown.truth - shown.predicted).max()
    with pytest.raises(ProximityError, match="ValuesDisplay"):
        ObjectsDisplay.from_result(result, plot=False)


def test_a_journal_resumes_and_metrics_are_kept_apart(waves, tmp_path):
    D, target = waves
    study = Study(["knn-mean(n_neighbors=1|3|5)"], n_splits=3, cv=3, journal=tmp_path / "j")
    first = study.run(D, target, kind="dissimilarity")
    again = study.run(D, target, kind="dissimilarity")
    for key, entry in first.entries.items():
        assert np.array_equal(entry.predictions, again.entries[key].predictions)
        assert again.entries[key].session == entry.session
    with pytest.raises(ProximityError):
        Study(["knn-mean(n_neighbors=1|3|5)"], n_splits=3, cv=3, journal=tmp_path / "j", metric="mae").run(
            D, target, kind="dissimilarity"
        )


@pytest.mark.slow
def test_the_unit_of_the_target_does_not_matter(waves):
    D, target = waves
    study = Study(["ridge(clip)", "svr(clip, C=1|10)", "medoid-mean(n_medoids=8)"], n_splits=2, cv=3)
    first, second = (study.run(D, y, kind="dissimilarity") for y in (target, 1000 * target + 7))
    for key, entry in first.entries.items():
        # libsvm stops at 1e-3 of the standardized target
        assert second.entries[key].predictions == pytest.approx(1000 * entry.predictions + 7, abs=1.0)


@pytest.mark.parametrize("metric", ["mae", "pinball(0.75)"])
def test_other_metrics_choose_parameters(waves, metric):
    D, target = waves
    found = Study(["knn-mean(n_neighbors=1|5|30)"], n_splits=2, cv=3, metric=metric).run(
        D, target, kind="dissimilarity"
    )
    assert found.settings() == {"metric": metric, "task": "regression"}
    space: dict = {"S": D, "y": target}
    exec(found.training_code("knn-mean(n_neighbors=1|5|30)"), space)
    model = found.fit_best(D, target)
    assert space["model"].predict(D[:5]) == pytest.approx(model.predict(D[:5]))
    assert "ranked by" in found.recommend().text


def test_groups_and_methods_of_your_own(waves):
    D, target = waves
    from similis import SimilarityKNNRegressor

    own = Method("mine", lambda: SimilarityKNNRegressor(n_neighbors=3), reads="either", task="regression")
    groups = np.repeat(np.arange(12), 5)
    found = Study([own, "mean"], n_splits=3).run(D, target, kind="dissimilarity", groups=groups)
    assert found.best() == "mine"
    assert found.differences()["mean"].n_units <= 12


@pytest.mark.slow
def test_every_method_runs_on_both_kinds(waves):
    D, target = waves
    names = [m.name for m in list_methods("regression")]
    assert not set(names) & {m.name for m in list_methods()}
    for kind, matrix in (("dissimilarity", D[:30, :30]), ("similarity", np.exp(-D[:30, :30]))):
        study = Study([find_method(n) for n in names], n_splits=1, cv=2)
        found = study.run(matrix, target[:30], kind=kind)
        assert [row.method for row in found.table() if row.reason] == []


def test_models_and_predictions(waves, tmp_path):
    from similis.io import Proximity

    D, target = waves
    trained = train_model(D, target, study=Study("ridge(clip)", n_splits=2), kind="dissimilarity")
    assert trained.card.classes == []
    assert set(trained.card.expected) >= {"error", "mae", "r2", "interval"}
    write_model(trained, tmp_path / "m.skops")
    found = predict_rows(read_model(tmp_path / "m.skops"), Proximity(D[:4], kind="dissimilarity"))
    assert found.labels == pytest.approx(target[:4], abs=0.4)
    assert found.proba is None
    model = make_model("ridge(clip)", kind="dissimilarity").fit(D, target)
    assert found.labels == pytest.approx(model.predict(D[:4]))


def test_command_line(waves, tmp_path, capsys):
    from typer.testing import CliRunner

    D, target = waves
    names = [f"s{i}" for i in range(60)]
    lines = ["," + ",".join(names), *(f"{n}," + ",".join(map(str, row)) for n, row in zip(names, D.tolist()))]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    meta = [f"{n},{'ab'[i % 2]},{t:.4f}" for i, (n, t) in enumerate(zip(names, target))]
    (tmp_path / "meta.csv").write_text("\n".join(["id,site,height", *meta]))
    run = CliRunner().invoke
    common = [str(tmp_path / "d.csv"), "--kind", "dissimilarity", "--metadata", str(tmp_path / "meta.csv")]
    setup = ["--splits", "2", "--jobs", "1"]
    done = run(app, ["study", *common, "--target", "height", "--method", "ridge(clip)", *setup])
    assert done.exit_code == 0
    assert "--target height" in done.output
    assert "RMSE" in done.output
    done = run(app, ["study", *common, "--label-column", "height", "--method", "mean", *setup, "--json", "-q"])
    assert done.exit_code == 0
    assert '"task": "regression"' in done.output
    model = str(tmp_path / "m.skops")
    done = run(app, ["fit", *common, "--target", "height", "--method", "ridge(clip)", *setup, "-o", model])
    assert done.exit_code == 0
    assert "root mean squared error" in done.output
    done = run(app, ["predict", model, str(tmp_path / "d.csv")])
    assert done.exit_code == 0
    assert "id,value,score,outlier_p,lower,upper" in done.output  # intervals by default


def test_one_tested_group_has_no_interval_and_no_r2(waves, tmp_path):
    from typer.testing import CliRunner

    D, target = waves
    alike = np.where(np.arange(60) < 48, np.arange(60) // 12, target)  # R2 needs targets that differ
    study = Study(["knn-mean(n_neighbors=3)"], n_splits=1, cv=3, task="regression")
    options = {"kind": "dissimilarity", "groups": np.arange(60) // 12}
    result = study.run(D, alike, **options)
    assert len(np.unique(alike[result.splits[0].test])) == 1
    text = result.recommend().sentences[0]
    assert text.endswith("on new objects of this kind (95 % interval not known).")
    assert "R2" not in text
    result.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert ">not known<" in page
    assert not re.search(r">[^<]*\b(nan|inf)\b[^<]*</(p|b|span|td)>", page)
    write_model(train_model(D, alike, study=study, **options), tmp_path / "m.skops")
    expected = read_model(tmp_path / "m.skops").card.expected
    assert expected["interval"] is None
    assert expected.keys() == {"error", "mae", "interval", "level", "protocol"}
    np.savetxt(tmp_path / "d.csv", D, delimiter=",")
    np.savetxt(tmp_path / "y.csv", alike)
    np.savetxt(tmp_path / "g.csv", options["groups"], fmt="%d")
    files = {"labels": "y.csv", "groups": "g.csv"}
    words = [word for name, file in files.items() for word in (f"--{name}", str(tmp_path / file))]
    words += ["--kind", "dissimilarity", "--task", "regression", "--splits", "1", "--jobs", "1", "--no-conformal"]
    words += ["--method", "mean", "--output", str(tmp_path / "n.skops")]
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "d.csv"), *words])
    assert done.exit_code == 0, done.output
    assert "Expect a root mean squared error of" in done.output
    assert "(95 % interval not known)." in done.output


@pytest.mark.parametrize(
    "options, words",
    [
        (["--target", "site"], "A regression needs numbers"),
        (["--task", "ranking"], "--task must be"),
        (["--target", "height", "--task", "classification"], "leave out"),
    ],
)
def test_command_line_errors(tmp_path, options, words):
    from typer.testing import CliRunner

    (tmp_path / "d.csv").write_text("0,1,2\n1,0,1\n2,1,0\n")
    (tmp_path / "m.csv").write_text("id,site,height\n0,a,0.5\n1,b,1.5\n2,a,2.5\n")
    common = [str(tmp_path / "d.csv"), "--kind", "dissimilarity", "--metadata", str(tmp_path / "m.csv")]
    done = CliRunner().invoke(app, ["study", *common, *options])
    assert done.exit_code != 0
    assert words in str(done.exception) or words in done.output
