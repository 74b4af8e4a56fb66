"""Metric, costs, priors and groups on the command line."""

import json
import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

from similis.cli import app
from similis.datasets import make_similarity
from similis.study import read_model


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def rare(tmp_path, monkeypatch):
    """A matrix whose smaller class holds 12 of 72 objects."""
    A, y = make_similarity(120, 2, separation=1.5, random_state=3)
    kept = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:12]]
    monkeypatch.chdir(tmp_path)
    np.savetxt("matrix.csv", A[np.ix_(kept, kept)], delimiter=",")
    (tmp_path / "labels.txt").write_text("\n".join(np.array(["common", "rare"])[y[kept]]) + "\n")
    (tmp_path / "priors.csv").write_text("class,share\nrare,0.25\ncommon,0.75\n")
    (tmp_path / "groups.txt").write_text("\n".join(str(i // 2) for i in range(72)) + "\n")
    data = ("matrix.csv", "--labels", "labels.txt", "--kind", "similarity", "--splits", "2", "--folds", "3")
    return lambda command, *more, code=0: run(command, *data, *more, code=code)


def test_a_rare_class_changes_the_ranking_and_says_so(rare):
    text = rare("study", "--method", "nc", "--method", "knn").stdout
    assert "so methods are ranked by balanced error" in text
    assert "Ranked by balanced error." in text
    plain = rare("study", "--method", "nc", "--method", "knn", "--metric", "error").stdout
    assert "Ranked by error." in plain
    assert "--metric error" in plain  # the command that trains the model


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (("--metric", "nce"), {"metric": "normalized_cross_entropy"}),
        (("--priors", "equal"), {"metric": "cost", "priors": [0.5, 0.5]}),
        (("--priors", "rare=0.25,common=0.75"), {"metric": "cost", "priors": [0.75, 0.25]}),
        (("--priors", "priors.csv"), {"metric": "cost", "priors": [0.75, 0.25]}),
        (("--costs", "balanced"), {"metric": "cost", "costs": [[0.0, 3.0], [0.6, 0.0]]}),
        (("--groups", "groups.txt"), {"metric": "balanced_error", "groups": 36}),
    ],
)
def test_settings_reach_results_printed_command_and_card(rare, options, settings):
    found = json.loads(rare("study", "--method", "knn", *options, "--json").stdout)
    for name, value in settings.items():
        assert found[name] == value if isinstance(value, str) else np.allclose(found[name], value)
    words = shlex.split(found["recommendation"]["command"])
    run(*words[1:], "--splits", "2", "--folds", "3")
    card = read_model("model.skops").card
    assert card.settings.keys() == settings.keys()
    assert card.settings["metric"] == settings["metric"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--metric", "accuracy"), "There is no metric 'accuracy'"),
        (("--metric", "cost"), "--metric cost needs --costs or --priors"),
        (("--priors", "common=1"), "Got 1 of 2 classes"),
        (("--priors", "common=1,blue=0"), "Got 'blue'"),
        (("--priors", "common=0.5,rare=0.6"), "sum to 1"),
        (("--priors", "nothing.csv"), "There is no file 'nothing.csv'"),
    ],
)
def test_bad_options_get_one_sentence(rare, options, words):
    assert words in rare("study", "--method", "nc", *options, code=2).stderr


def test_a_long_estimate_names_the_option_that_limits_it(rare):
    long = rare("study", "--splits", "5000", "--estimate").stdout
    assert "5000 splits of 58 training objects" in long
    assert "This is more than ten minutes: --budget 5m limits it." in long
    assert "This is more" not in rare("study", "--splits", "5000", "--budget", "1m", "--estimate").stdout


@pytest.mark.slow
def test_estimate_budget_and_race(rare):
    methods = ("--method", "nc", "--method", "knn", "--method", "majority")
    found = rare("study", *methods, "--estimate")
    assert "s per split" in found.stdout
    assert "3 methods on 2 splits of 58 training objects in 1 process" in found.stdout
    expected = json.loads(rare("study", *methods, "--estimate", "--json").stdout)
    assert expected["per_split"].keys() == {"nc", "knn", "majority"}
    found = rare("study", *methods, "--splits", "8", "--metric", "error")
    assert "8 splits of 58 training objects in 1 process; less if methods are dropped" in found.stderr
    assert "--budget" not in found.stderr
    raced = rare("study", *methods, "--splits", "8", "--budget", "10m", "--quiet")
    assert raced.stderr == ""
    full = json.loads(rare("study", *methods, "--splits", "8", "--full", "--json").stdout)
    assert {row["n_splits"] for row in full["table"]} == {8}
    message = rare("study", *methods, "--budget", "soon", code=2).stderr
    assert message == "similis: --budget must be a time such as '90s', '5m' or '2h'. Got 'soon'.\n"
