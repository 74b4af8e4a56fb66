"""Studies, models and commands with several matrices over the same objects."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import CombineMatrices, ProximityError, Study, make_stack
from similis.cli import app
from similis.io import Proximity
from similis.study import StudyResult, find_method, make_model, predict_rows, train_model

KINDS = ["similarity", "similarity", "dissimilarity"]


@pytest.fixture(scope="module")
def problem():
    """Three matrices of 60 objects: two weak views of the classes, and noise."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    Z = rng.normal(size=(60, 3))
    Z[:, 0] += np.repeat([0.0, 0.0, 4.0], 20)
    Z[:, 1] += np.repeat([0.0, 4.0, 0.0], 20)
    gaps = [np.abs(z[:, None] - z) for z in Z.T]
    matrices = np.exp(-gaps[0]), 100 * np.exp(-gaps[1]), gaps[2]
    return make_stack(matrices, names=["s1", "s2", "d3"]), y


@pytest.fixture(scope="module")
def result(problem):
    stack, y = problem
    methods = ["knn(n_neighbors=5)", "sda", "majority"]
    return Study(methods, n_splits=3).run(stack, y, kind=KINDS)


def test_methods_run_on_each_matrix_and_on_the_mean(result):
    names = [info.name for info in result.methods]
    assert names == [
        *(f"knn(n_neighbors=5)[{matrix}]" for matrix in ("s1", "s2", "d3", "mean")),
        "sda",
        *(f"sda[{matrix}]" for matrix in ("s1", "s2", "d3", "mean")),
        "majority",
    ]
    assert {row.reason for row in result.table()} == {""}
    errors = result.mean_scores("error")
    assert errors["knn(n_neighbors=5)[mean]"] < min(errors[f"knn(n_neighbors=5)[{m}]"] for m in ("s1", "s2", "d3"))


def test_one_matrix_of_several_is_that_matrix_alone(problem, result):
    stack, y = problem
    alone = Study(["knn(n_neighbors=5)"], n_splits=3).run(stack[:, :, 2], y, kind="dissimilarity")
    for split in range(3):
        expected = alone.entries["knn(n_neighbors=5)", split].predictions
        assert (result.entries["knn(n_neighbors=5)[d3]", split].predictions == expected).all()


def test_report_tells_which_matrix_is_best(result, tmp_path):
    text = result.recommend().text
    assert "The best matrix is s" in text
    assert re.search("[Cc]ombining the matrices (clearly|probably)? ?helps", text)
    result.save(tmp_path / "r.json")
    assert str(StudyResult.load(tmp_path / "r.json")) == str(result)


def test_models_read_the_stack_or_their_matrix(problem, result):
    stack, y = problem
    for name in ("knn(n_neighbors=5)[mean]", "sda", "knn(n_neighbors=5)[s2]"):
        model = result.fit_best(stack, y, method=name)
        assert (model.predict(stack) == y).mean() > 0.5
        names = {"stack": stack, "S": stack, "y": y}
        exec(result.training_code(name), names)
        assert (names["model"].predict(stack) == model.predict(stack)).all()
    assert (model.predict(np.asarray(stack[:, :, 1])) == model.predict(stack)).all()
    with pytest.raises(ProximityError, match=r"Name it: 'knn\[a\]' or 'knn\[mean\]'"):
        make_model("knn", names=["a", "b"])


def test_mean_is_normalized_and_takes_known_entries():
    rng = np.random.default_rng(1)
    A, B = rng.random((2, 5, 5))
    B[1, 2] = np.nan
    step = CombineMatrices(kinds=["similarity", "dissimilarity"]).fit(make_stack([A, B]))
    converted = 1 - B / np.nanmax(B)
    expected = (A / np.ptp(A) + converted) / 2
    expected[1, 2] = A[1, 2] / np.ptp(A)
    assert step.transform(make_stack([A, B])) == pytest.approx(expected)
    assert step.gives == "similarity"
    # affine maps of a matrix do not change the mean but for a constant
    other = CombineMatrices(kinds=["similarity", "similarity"]).fit_transform(make_stack([A, 7 * A + 3]))
    assert other - other[0, 0] == pytest.approx((A - A[0, 0]) / np.ptp(A))
    d = CombineMatrices(matrix=None, kinds=["similarity", "dissimilarity"], kind="dissimilarity")
    out = d.fit_transform(make_stack([A, np.nan_to_num(B)]))
    assert out[:, :, 0] == pytest.approx((A.max() - A) / np.ptp(A))
    assert (out[:, :, 1] == np.nan_to_num(B)).all()
    for number in np.arange(2):  # as a grid gives it
        np.testing.assert_array_equal(CombineMatrices(matrix=number).fit_transform(make_stack([A, B])), [A, B][number])
    with pytest.raises(ProximityError, match="below 2"):
        CombineMatrices(matrix=2).fit(make_stack([A, A]))


def test_trained_model_matches_blocks(problem):
    stack, y = problem
    ids = [f"o{i}" for i in range(60)]
    options = {"kind": KINDS, "ids": ids, "compact": True}
    trained = train_model(stack, y, study=Study(["knn(n_neighbors=3)[d3]"], n_splits=2), **options)
    assert trained.card.matrices == dict(zip(["s1", "s2", "d3"], KINDS))
    rows = [Proximity(np.asarray(stack[:5, ::-1, k]), column_ids=ids[::-1]) for k in range(3)]
    expected = trained.model.predict(stack[:5])
    assert (predict_rows(trained, rows).labels == expected).all()
    assert (predict_rows(trained, rows[2]).labels == expected).all()
    trained = train_model(stack, y, study=Study(["sda"], n_splits=2), method="sda", **options)
    few = np.asarray(stack[:5])[:, trained.card.needed]
    assert (predict_rows(trained, rows).labels == trained.model.predict(few)).all()
    with pytest.raises(ProximityError, match="Got 2 of 3"):
        predict_rows(trained, rows[:2])


def test_names(problem):
    stack, y = problem
    assert find_method("k-nn (n_neighbors=3) [ s1 ]").name == "knn(n_neighbors=3)[s1]"
    with pytest.raises(ValueError, match=r"no matrix 'x'\. Names are s1, s2, d3, mean"):
        Study("knn[x]").run(stack, y, kind=KINDS)
    with pytest.raises(ValueError, match="a single one"):
        Study("knn[x]").run(stack[:, :, 0], y)
    with pytest.raises(ProximityError, match="Got 2 for 3"):
        Study("knn").run(stack, y, kind=KINDS[:2])
    all_names = Study("all").estimate(stack, y).per_split
    assert {"simmkl", "sda", "nnsda", "knn[s1]", "svm-kernel(clip)[d3]", "knn[mean]", "majority"} <= all_names.keys()
    assert not {"sda[s1]", "svm-kernel(flip)[s1]", "majority[s1]"} & all_names.keys()
    assert len(all_names) < 40  # the quick methods on each matrix; all would be 180


def test_simmkl_runs_on_all_of_them(problem):
    stack, y = problem
    result = Study(["simmkl(eta=0.01, gamma=0.1)"], n_splits=1).run(stack[10:50, 10:50], y[10:50], kind=KINDS)
    assert [(info.name, info.conversion) for info in result.methods] == [("simmkl(eta=0.01, gamma=0.1)", "rescaled")]
    assert result.mean_scores("error")["simmkl(eta=0.01, gamma=0.1)"] < 0.4


@pytest.mark.slow
def test_commands(problem, tmp_path):
    stack, y = problem
    order = np.random.default_rng(2).permutation(60)
    for k, name in enumerate(stack.names):
        rows = order if name == "s2" else np.arange(60)  # ids in another order
        head = "," + ",".join(f"o{i}" for i in rows)
        lines = [f"o{i}," + ",".join(f"{stack[i, j, k]:.8f}" for j in rows) for i in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]))
        (tmp_path / f"new-{name}.csv").write_text("\n".join([head, *(line[1:] for line in lines[:5])]))
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"o{i},{label}\n" for i, label in enumerate(y)))
    files = [str(tmp_path / f"{name}.csv") for name in stack.names]
    common = [*files, "-l", str(tmp_path / "labels.csv"), "--splits", "2", "--jobs", "1", "-q"]
    run = CliRunner().invoke
    results = str(tmp_path / "r.json")
    found = run(app, ["study", *common, "--method", "knn(n_neighbors=5)", "--save", results])
    assert found.exit_code == 0, found.output
    assert StudyResult.load(results).name == ", ".join(stack.names)
    assert "knn(n_neighbors=5)[s2]" in found.output
    assert "The best matrix is" in found.output
    model = str(tmp_path / "m.skops")
    found = run(app, ["fit", *common, "--method", "knn(n_neighbors=5)[d3]", "-o", model])
    assert found.exit_code == 0, found.output
    found = run(app, ["predict", model, str(tmp_path / "new-d3.csv")])
    assert found.exit_code == 0, found.output
    assert len(found.stdout.splitlines()) == 6
    found = run(app, ["study", *common, "--method", "knn", "--kind", "similarity,similarity"])
    assert found.exit_code != 0
    assert "one for each of 3 files" in found.output
