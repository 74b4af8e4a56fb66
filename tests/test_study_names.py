"""Method names with parameters: ``base(option, key=value, key=value|value)``."""

import json
import pickle
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from similis.cli import app
from similis.study import Study, StudyResult, list_methods, make_model, train_model
from similis.study._methods import AtMost, canonical_name, find_methods
from similis.study._names import list_parameters
from similis.study._table import ALIASES

Y = np.repeat(["a", "b"], 15)


@pytest.fixture(scope="module")
def S():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + 1.5 * (Y == "b")[:, None]
    return np.exp(-((X[:, None] - X) ** 2).sum(-1) / 4)


def find(name):
    (method,) = find_methods([name])
    return method


def test_names_of_the_table_are_unchanged():
    """Random numbers are seeded by the name."""
    for method in list_methods():
        assert find(method.name) is method
        assert canonical_name(f" {method.name} ") == method.name
    for alias, name in ALIASES.items():
        assert find(alias).name == name


@pytest.mark.parametrize(
    "given, name, params, grid",
    [
        (
            "local-sda(neighborhood=per-class, weights=kri)",
            "local-sda(neighborhood=per-class, weights=kri)",
            {"neighborhood": "per-class", "weights": "kri"},
            {"n_neighbors": find("local-sda").grid["n_neighbors"]},
        ),
        (
            "sda(statistic=nearest,centroid = popular)",
            "sda(statistic=nearest, centroid=popular)",
            {"statistic": "nearest", "centroid": "popular"},
            {},
        ),
        ("svm-kernel(clip, C=1|10.0|100)", "svm-kernel(clip, C=1|10|100)", {}, {"svc__C": [1, 10, 100]}),
        ("svm-kernel(C=0.5, clip)", "svm-kernel(clip, C=0.5)", {"svc__C": 0.5}, {}),
        ("svm-kernel(square, C=1)", "svm-features(linear, C=1)", {"svc__C": 1}, {}),
        ("k-nn(n-neighbors=3)", "knn(n_neighbors=3)", {"n_neighbors": 3}, {}),
        ("knn(n_neighbors=1|3|5000)", "knn(n_neighbors=1|3|5000)", {}, {"n_neighbors": AtMost((1, 3, 5000))}),
        ("knn()", "knn", {}, {"n_neighbors": find("knn").grid["n_neighbors"]}),
        ("nc(adjusted=True)", "nc(adjusted=true)", {"adjusted": True}, {}),
        # an alias with parameters keeps those that are not set again
        ("1nn-r(weights=affinity)", "knn(n_neighbors=1, weights=affinity)", {"n_neighbors": 1}, {}),
        ("1nn-r(n-neighbors=3)", "knn(n_neighbors=3)", {"n_neighbors": 3}, {}),
        (
            "sbc(normalize, C=none|1e1)",
            "sbc(normalize=true, C=none|10)",
            {"sbc__normalize": True},
            {**find("sbc").grid, "sbc__C": [None, 10]},
        ),
        # the Gaussian kernel's gamma is in the grid; that of the SVC is named in full
        (
            "svm-features(rbf, gamma=0.1, svc__gamma=auto, C=1)",
            "svm-features(rbf, gamma=0.1, svc__gamma=auto, C=1)",
            {"pairwise__measure__gamma": 0.1, "svc__gamma": "auto", "svc__C": 1},
            {},
        ),
        ("sda(domain=(0, 1), priors=laplace)", "sda(domain=(0, 1), priors=laplace)", {"domain": (0, 1)}, {}),
        ("psvm(C=1e6|1e-7)", "psvm(C=1e+06|1e-07)", {}, {**find("psvm").grid, "C": [1e6, 1e-7]}),
    ],
)
def test_parameters_in_names(given, name, params, grid):
    method = find(given)
    assert method.name == name
    assert find(name) == method  # the canonical spelling is its own canonical spelling
    assert dict(method.grid) == grid
    made = method.make().get_params()
    assert {key: made[key] for key in params} == params
    assert pickle.loads(pickle.dumps(method)) == method


@pytest.mark.parametrize(
    "given, words",
    [
        ("kn", "There is no method 'kn' in the table. Did you mean 'knn'"),
        ("local-sdaa(weights=kri)", "Did you mean 'local-sda'"),
        ("kri-knn(n_neighbors=3)", "Did you mean 'kri-knn(clip)' or 'kri-knn(flip)'"),
        ("local-sda(neighborhoods=radius)", "has no parameter 'neighborhoods'. Did you mean neighborhood"),
        ("local-sda(neighborhood=per-clas)", "Got 'per-clas'. Did you mean per-class?"),
        ("local-sda(per-class)", "has no option 'per-class'. Did you mean neighborhood=per-class?"),
        ("local-sda(radius)", "Did you mean neighborhood=radius or radius=...?"),
        ("knn(n_neighbors=0)", "n_neighbors must be one of these: integer >= 1. Got '0'"),
        ("knn(n_neighbors=1|two)", "Got 'two'"),
        ("knn(n_neighbors=2.5)", "Got '2.5'"),
        ("knn(n_neighbors=1, n_neighbors=2)", "n_neighbors is given twice"),
        ("knn(n_neighbors=1|3, n_neighbors=2)", "n_neighbors is given twice"),
        ("knn(kind=dissimilarity)", "cannot be set for one method"),
        ("knn(n_neighbors=)", "must have the form base(option, key=value, ...)"),
        ("knn(n_neighbors=3,,)", "must have the form"),
        ("knn(n_neighbors=3", "must end in ')'"),
        ("sda(priors=laplac)", "Did you mean laplace?"),
        ("majority(steps=3)", "has no parameter 'steps'"),
        ("svm-features(rbf, verbosity=true)", "Did you mean verbose"),
    ],
)
def test_bad_names(given, words):
    with pytest.raises(ValueError) as error:
        find(given)
    assert words in str(error.value)


def test_settings_that_need_similarities_get_them(S):
    """The table's methods read either kind; weighted neighbors do not."""
    names = ["knn(weights=kri)", "knn(weights=uniform|affinity)", "local-sda(weights=kri, n_neighbors=5)"]
    assert [find(name).reads for name in [*names, "knn(n_neighbors=3)"]] == ["similarity"] * 3 + ["either"]
    result = Study(names[::2], n_splits=2, cv=2).run(1 - S, Y, kind="dissimilarity")
    assert "failed" not in str(result)


def test_every_parameter_can_be_written():
    """The values of each method, written as text, give the same method."""
    for method in list_methods():
        for parameter in list_parameters(method):
            text = parameter.format()
            if parameter.allowed and not callable(parameter.values[0]) and text != "nan":
                front = f"{method.name[:-1]}, " if method.name.endswith(")") else f"{method.name}("
                again = find(f"{front}{parameter.name}={text})")
                (same,) = [p for p in list_parameters(again) if p.key == parameter.key]
                assert same.values == parameter.values, (method.name, parameter.name)


def test_the_same_strings_come_back(S, tmp_path):
    names = ["knn(n_neighbors=3)", "local-sda(neighborhood=radius, radius=0.3|0.6)", "svm-kernel(clip, C=1|10)", "knn"]
    result = Study(names, n_splits=2, test_size=0.3, cv=3).run(S, Y)
    assert [info.name for info in result.methods] == names
    assert {row.method for row in result.table() if row.status == "ok"} == set(names)
    result.save(tmp_path / "result.json")
    loaded = StudyResult.load(tmp_path / "result.json")
    assert [info.name for info in loaded.methods] == names
    assert "SimilarityKNN(n_neighbors=3)" in loaded.training_code("knn(n_neighbors=3)")
    assert "'svc__C': [1, 10]" in loaded.training_code("svm-kernel(clip, C=1|10)")
    model = loaded.fit_best(S, Y, method="knn( n_neighbors = 3 )")
    assert model.n_neighbors == 3
    result.to_html(tmp_path / "report.html")
    assert "local-sda(neighborhood=radius, radius=0.3|0.6)" in (tmp_path / "report.html").read_text()


def test_code_of_another_metric_names_the_method(S):
    name = "knn(weights=affinity, n_neighbors=3|5)"
    result = Study(name, n_splits=2, cv=3, metric="log_loss").run(S, Y)
    space = {"S": S, "y": Y}
    exec(result.training_code(name), space)
    assert f"make_model({name!r}" in result.training_code(name)
    assert space["model"].best_estimator_.weights == "affinity"


def test_a_parameter_matters(S):
    """A name with parameters gives the same predictions as the estimator made by hand."""
    one = Study(["knn(n_neighbors=1)", "knn(n_neighbors=15)"], n_splits=3).run(S, Y)
    assert one.mean_scores("error")["knn(n_neighbors=1)"] != one.mean_scores("error")["knn(n_neighbors=15)"]
    model = make_model("kri-knn(clip, n_neighbors=4, regularization=0.5)", n=30)
    assert model.named_steps["classifier"].get_params()["regularization"] == 0.5
    trained = train_model(S, Y, study=Study("knn(n_neighbors=2)", n_splits=2), method="knn(n_neighbors = 2)")
    assert trained.card.method == "knn(n_neighbors=2)"


def test_command_line(S, tmp_path):
    np.savetxt(tmp_path / "S.csv", S, delimiter=",")
    (tmp_path / "y.csv").write_text("\n".join(Y))

    def run(*words, code=0):
        done = CliRunner().invoke(app, list(map(str, words)))
        assert done.exit_code == code, done.output
        return done

    data = (tmp_path / "S.csv", "--labels", tmp_path / "y.csv", "--splits", "2", "--kind", "similarity", "-q")
    name = "local-sda(neighborhood=per-class, n_neighbors=3|5)"
    found = json.loads(run("study", *data, "--method", name, "--json").stdout)
    assert [row["method"] for row in found["table"]] == [name]
    assert f"--method '{name}'" in found["recommendation"]["command"]
    run("fit", *data, "--method", name, "-o", tmp_path / "model.skops")
    assert json.loads((tmp_path / "model.card.json").read_text())["method"] == name
    assert "Did you mean radius" in run("study", *data, "--method", "local-sda(radus=1)", code=2).stderr
    listed = run("study", "--list").stdout
    assert "discriminant analysis" in listed
    assert "neighborhood" in listed
    explained = run("study", "--list", "local-sda").stdout
    for words in (
        "similarity discriminant analysis within the neighborhood",
        "cazzanti2007",
        "per-class",
        "n_neighbors",
    ):
        assert words in explained
    assert "local-sda(n_neighbors=3)" in run("study", "--list", "local-sda(n_neighbors=3)").stdout
    assert "no method 'local'" in run("study", "--list", "local", code=2).stderr
    (one,) = json.loads(run("study", "--list", "local-sda", "--json").stdout)["methods"]
    assert one["parameters"]["neighborhood"]["allowed"].split("|")[0]


def test_former_names_of_parameters_are_not_listed():
    """They work until 3.0 in Python; names of methods never had them."""
    assert not [f"{m.name}: {p.name}" for m in list_methods() for p in list_parameters(m) if p.format() == "deprecated"]
    with pytest.raises(ValueError, match=r"has no parameter 'shrinkage'\. Did you mean shrinkage_target"):
        find("rnlc(shrinkage=trace)")


def test_every_parameter_is_described():
    """Also those whose docstring refers to another class."""
    parameters = [(m.name, p) for m in list_methods() for p in list_parameters(m)]
    assert not [f"{name}: {p.name}" for name, p in parameters if len(p.describe()) < 5]
    assert not [f"{name}: {p.name}" for name, p in parameters if re.search("`|:[a-z]+:", p.describe())]  # plain text
    (spectrum,) = [p for p in list_parameters(find("ridge(clip)")) if p.name == "spectrum"]
    assert "as by SpectrumClip, SpectrumFlip and SpectrumShift" in spectrum.describe()
    (costs,) = [p for name, p in parameters if name == "mixture-sda" and p.name == "costs"]
    assert "cost of predicting" in costs.describe()
