"""Compatibility with version 1.0: public names, model files, result files, journals, matrices, predictions.

The fixtures in tests/v1 were written by version 1.0 (see tests/v1/make.py). Never write them with a later version.
"""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import asdict, fields, replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.utils import get_tags
from v1.data import N_TRAIN, read_objects
from v1.files import MEASURE_BLOCKS, MEASURED_STUDY, STUDY
from v1.make import describe_parameters, run_scored, score_record
from v1.models import continue_learning, outputs

import similis
from similis import PathSearchCV, ProximityError, SimilarityKNN, StudyResult, read_proximity
from similis.base import _measure
from similis.distributed import measure_to_disk
from similis.exceptions import MissingExtraError
from similis.study import Method, Study, list_methods, predict_rows, read_model

HERE = Path(__file__).parent / "v1"
FILES = HERE / "files"
NAMES = json.loads((HERE / "public_names.json").read_text())
MODELS = json.loads((HERE / "models.json").read_text())
OBJECTS = json.loads((HERE / "objects.json").read_text())
SCORES = json.loads((HERE / "scores.json").read_text())
PACKAGES = [package for package in NAMES if package != "similis.reproduce"]

# Deprecated names: "similis.package.old" -> "similis.package.new".
RENAMED: dict[str, str] = {}
# Defaults that differ from 1.0: "similis.package.name.parameter" -> repr of the new default.
CHANGED = dict.fromkeys(
    [
        *(f"{package}.PotentialSVM.columns" for package in ("similis", "similis.svm")),
        *(f"{package}.NormalLinear.shrinkage" for package in ("similis", "similis.normal")),
        *(f"{package}.NormalQuadratic.shrinkage" for package in ("similis", "similis.normal")),
    ],
    "'deprecated'",
)
# The windows of 1.0 were too wide: errors of 46.9 % where [pekalska2000] has 20.8 (crabs).
CHANGED |= dict.fromkeys(["similis.Parzen.dimension", "similis.normal.Parzen.dimension"], "'objects'")
# Fields of records that have another name now.
FIELDS = {f"similis.solvers.{fit}.worth": "gap_scale" for fit in ("SpectralFit", "IndefiniteFit", "FullKernelFit")}

# BLAS builds and processors may differ in the last bits of a sum.
CLOSE = {"rtol": 1e-9, "atol": 1e-12}

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning"),
    pytest.mark.filterwarnings("ignore::similis.study.JournalWarning"),  # "other versions"
]


def load_npz(name):
    with np.load(HERE / name, allow_pickle=False) as file:
        return dict(file)


@pytest.fixture(scope="module")
def matrices():
    return load_npz("matrices.npz")


@pytest.fixture(scope="module")
def expected():
    return load_npz("expected.npz")


def assert_same(found, wanted):
    """Labels are equal, floats are close."""
    assert found.shape == wanted.shape
    assert found.dtype.kind == wanted.dtype.kind
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, **CLOSE)
    else:
        np.testing.assert_array_equal(found, wanted)


def copy_files(folder, *names):
    for name in names:
        shutil.copy(FILES / name, folder / name)
    return folder / names[0]


# Public names.


def find(package, name):
    place = RENAMED.get(f"{package}.{name}", f"{package}.{name}")
    package, _, name = place.rpartition(".")
    return getattr(import_module(package), name, None)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_remain(package):
    missing = [name for name in NAMES[package] if find(package, name) is None]
    assert not missing
    listed = import_module(package).__all__
    assert [name for name in NAMES[package] if name not in listed and f"{package}.{name}" not in RENAMED] == []


def positional(parameters):
    return [name for name, kind, _ in parameters if kind == "any"]


@pytest.mark.parametrize("package", PACKAGES)
def test_parameters_and_defaults_remain(package):
    for name, before in NAMES[package].items():
        if before is None:
            continue
        now = describe_parameters(find(package, name))
        defaults = {parameter: default for parameter, _, default in now}
        for parameter, _, default in before:
            place = f"{package}.{name}.{parameter}"
            parameter = FIELDS.get(place, parameter)
            assert parameter in defaults, f"{place} is missing"
            if default is not None:  # a required parameter may become optional
                assert defaults[parameter] == CHANGED.get(place, default), place
        kept = [FIELDS.get(f"{package}.{name}.{parameter}", parameter) for parameter in positional(before)]
        assert positional(now)[: len(kept)] == kept, f"{package}.{name}: order of positional parameters"
        new = [parameter for parameter, _, default in now[len(kept) :] if default is None]
        assert set(new) <= {parameter for parameter, *_ in before} | {*kept}, (
            f"{package}.{name}: new required parameters"
        )


# Model files.


def query_of(name, matrices):
    data = MODELS[name]["data"]
    if data in OBJECTS:
        return read_objects(data, OBJECTS[data][N_TRAIN:])
    return matrices[data][N_TRAIN:, :N_TRAIN]


def class_names(data):
    """Qualified names of the classes in a model file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        waiting, names = [json.loads(archive.read("schema.json"))], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and "__module__" in node:
            names.add(f"{node['__module__']}.{node['__class__']}")
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return names


def skip_newer_sklearn(data):
    """scikit-learn does not promise to read estimators of later versions."""
    wrote = json.loads((FILES / "knn.card.json").read_text())["versions"]["scikit-learn"]
    wrote, here = (tuple(map(int, version.split(".")[:2])) for version in (wrote, sklearn.__version__))
    if here < wrote and any(name.startswith("sklearn.") for name in class_names(data)):
        pytest.skip("holds estimators of a later version of scikit-learn")


def load_model(name, folder):
    with zipfile.ZipFile(HERE / "models.zip") as archive:
        data = archive.read(f"{name}.skops")
    skip_newer_sklearn(data)
    (folder / "model.skops").write_bytes(data)
    return similis.load(folder / "model.skops")


@pytest.mark.parametrize("name", MODELS)
def test_models_load_and_predict_the_same(name, tmp_path, matrices, expected):
    model = load_model(name, tmp_path)
    similis.save(model, tmp_path / "again.skops")
    wanted = {key.split("/")[1]: values for key, values in expected.items() if key.startswith(f"{name}/")}
    wanted.pop("continued", None)
    assert "predict" in wanted
    for one in (model, similis.load(tmp_path / "again.skops")):
        try:
            found = outputs(one, query_of(name, matrices), MODELS[name]["columns"])
        except MissingExtraError as error:
            pytest.skip(str(error))
        assert found.keys() == wanted.keys()
        for output, values in wanted.items():
            assert_same(found[output], values)


@pytest.mark.parametrize(
    ("name", "old", "new", "value"),
    [
        ("psvm", "columns", "input", "proximities"),
        ("rnlc", "shrinkage", "shrinkage_target", "diagonal"),
        ("rnqc", "shrinkage", "shrinkage_target", "diagonal"),
    ],
)
def test_models_have_the_new_parameter_names(name, old, new, value, tmp_path):
    model = load_model(name, tmp_path)
    params = model.get_params()
    assert (params[old], params[new]) == ("deprecated", value)
    assert repr(model) == f"{type(model).__name__}()"
    assert model.__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("name", ["stream", "incremental-hlm-batches"])
def test_models_continue_to_learn(name, tmp_path, matrices, expected):
    data = read_objects("table", OBJECTS["table"]), OBJECTS["labels"]
    if name != "stream":
        data = matrices["dissimilarity"], matrices["dissimilarity/labels"]
    assert_same(continue_learning(load_model(name, tmp_path), *data), expected[f"{name}/continued"])


def test_the_fixtures_hold_every_estimator():
    with zipfile.ZipFile(HERE / "models.zip") as archive:
        stored = {name.rpartition(".")[2] for file in archive.namelist() for name in class_names(archive.read(file))}
    public = {name: getattr(similis, name) for name in NAMES["similis"]}
    estimators = {name for name, cls in public.items() if isinstance(cls, type) and hasattr(cls, "fit")}
    assert len(estimators) > 60
    assert estimators - stored == {"Measure", "FromFunction"}  # an abstract class; functions cannot be saved


@pytest.mark.parametrize("name", ["knn", "svm", "votes"])
def test_model_cards(name, tmp_path):
    path = FILES / f"{name}.skops"
    skip_newer_sklearn(path.read_bytes())
    raw = json.loads((FILES / f"{name}.card.json").read_text())
    trained = read_model(path)
    card = json.loads(json.dumps(asdict(trained.card)))
    assert {key: card[key] for key in raw if key in card} == {k: v for k, v in raw.items() if k != "similis-model-card"}
    rows = FILES / ("new-objects.csv" if name == "votes" else "rows.csv")
    read = (lambda path: similis.io.read_objects(path, id_column="id")) if name == "votes" else read_rows
    assert list(predict_rows(trained, read(rows)).labels) == [row["label"] for row in predicted(name)]


def read_rows(path):
    return read_proximity(path, square=False)


def predicted(name):
    return list(csv.DictReader((FILES / f"{name}.predicted.csv").read_text().splitlines()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["votes", pytest.param("knn", marks=pytest.mark.slow)])
def test_the_command_line_predicts_the_same(name):
    rows = (FILES / "new-objects.csv", "--id-column", "id") if name == "votes" else (FILES / "rows.csv",)
    command = [sys.executable, "-m", "similis", "predict", FILES / f"{name}.skops", *rows]
    found = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=True).stdout
    found, wanted = list(csv.DictReader(found.splitlines())), predicted(name)
    assert len(found) == len(wanted) == 6
    for now, before in zip(found, wanted):
        assert now.keys() == before.keys()
        assert (now.pop("id"), now.pop("label")) == (before.pop("id"), before.pop("label"))
        assert [float(value) for value in now.values()] == pytest.approx([float(v) for v in before.values()], rel=1e-5)


# Matrices.


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv", "tsv.gz", "parquet", "zarr"])
def test_matrices(suffix, matrices):
    if suffix in ("parquet", "zarr"):
        pytest.importorskip({"parquet": "pyarrow", "zarr": "zarr"}[suffix])
    P = read_proximity(FILES / f"matrix.{suffix}")
    np.testing.assert_array_equal(P.values[:], matrices["dissimilarity"][:12, :12])
    assert P.kind == "dissimilarity"
    assert list(P.ids) == [f"object {i}" for i in range(12)]
    np.testing.assert_array_equal(P.labels, matrices["dissimilarity/labels"][:12])


def test_missing_entries(matrices):
    P = read_proximity(FILES / "missing.npz")
    assert np.isnan(P.values).any()
    np.testing.assert_array_equal(P.values, matrices["missing"][:12, :12])
    assert P.kind == "similarity"


def measured_objects():
    return read_objects("table", OBJECTS["table"]), OBJECTS["labels"]


@pytest.mark.parametrize(
    ("name", "measure"),
    [("unfinished", similis.Counting()), ("unfinished-vdm", similis.VDM())],
    ids=["counting", "vdm"],
)
def test_an_unfinished_matrix_is_resumed(name, measure, tmp_path):
    X, y = measured_objects()
    part = copy_files(tmp_path, f"{name}.npy.part", f"{name}.npy.part.jsonl")
    journal = [json.loads(line) for line in (FILES / f"{name}.npy.part.jsonl").read_text().splitlines()]
    assert [line["block"] for line in journal[1:]] == [0, 1, 2]  # of ten
    values = np.load(part, mmap_mode="r+")
    values[0, 9] = -77.0  # in block 1, which must not be measured again
    values.flush()
    P = measure_to_disk(tmp_path / f"{name}.npy", X, y, measure=measure, **MEASURE_BLOCKS)
    wanted = measure.fit(X, y).matrix(X)
    wanted[0, 9] = -77.0
    np.testing.assert_allclose(P.values, wanted, **CLOSE)
    card = json.loads((tmp_path / f"{name}.npy.json").read_text())
    assert card["times"][:3] == [line["time"] for line in journal[1:]]
    assert len(card["times"]) == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}.npy", f"{name}.npy.json"]


def test_a_measured_matrix_is_not_measured_again(tmp_path):
    X, y = measured_objects()
    path = copy_files(tmp_path, "measured.npy", "measured.npy.json")
    P = read_proximity(path)
    np.testing.assert_array_equal(P.values, similis.Counting().fit(X).matrix(X))
    assert P.labels.tolist() == y
    values = np.load(path, mmap_mode="r+")
    values[0, 9] = -77.0
    values.flush()
    P = measure_to_disk(path, X, measure=similis.Counting(), labels=y, **MEASURE_BLOCKS)
    assert P.values[0, 9] == -77.0
    with pytest.raises(ProximityError):
        measure_to_disk(path, X, y, measure=similis.VDM(), **MEASURE_BLOCKS)


# Studies.


def entry_lines(name):
    """Entries of a journal by method and split."""
    lines = [json.loads(line) for line in (FILES / name).read_text().splitlines()]
    return {(line["method"], line["split"]): line for line in lines if "method" in line}


def assert_same_entry(entry, line):
    assert entry.status == line["status"] == "ok"
    assert entry.predictions.tolist() == line["predictions"]
    assert entry.to_record()["params"] == line["params"]
    assert (entry.proba is None) == (line["proba"] is None)
    if entry.proba is not None:
        np.testing.assert_allclose(entry.proba, line["proba"], **CLOSE)


@pytest.mark.parametrize("name", ["study.json", "study.json.gz"])
def test_results(name, tmp_path, matrices):
    result = StudyResult.load(FILES / name)
    lines = entry_lines("study.jsonl")
    assert result.entries.keys() == lines.keys()
    for key, line in lines.items():
        assert_same_entry(result.entries[key], line)
        assert result.entries[key].finished == line["finished"]
    assert not result.partial
    assert [info.name for info in result.methods] == STUDY["methods"]
    assert result.classes[result.codes].tolist() == matrices["similarity/labels"].tolist()
    assert list(result.ids) == [f"object {i}" for i in range(len(result.codes))]
    for method, errors in result.scores("error").items():
        for split, error in zip(result.splits, errors):
            assert error == np.mean(result.codes[split.test] != lines[method, split.number]["predictions"])
    assert result.sessions[0]["versions"]["similis"] == "1.0.0"
    result.to_html(tmp_path / "report.html")
    result.save(tmp_path / "again.json")
    again = StudyResult.load(tmp_path / "again.json")
    assert [row.to_dict() for row in again.table()] == [row.to_dict() for row in result.table()]


def run_study(name, folder, matrices):
    path = copy_files(folder, name)
    if name.startswith("measured"):
        X, y = measured_objects()
        return path, Study(**MEASURED_STUDY, journal=path).run(X, y, measure=similis.VDM())
    S, y = matrices["similarity"], matrices["similarity/labels"]
    return path, Study(**STUDY, journal=path).run(S, y, ids=[f"object {i}" for i in range(len(y))])


@pytest.mark.parametrize(
    ("name", "complete", "finished"),
    [
        ("study.jsonl", "study.jsonl", 15),
        ("half.jsonl", "study.jsonl", 7),
        ("measured.jsonl", "measured.jsonl", 6),
        ("measured-half.jsonl", "measured.jsonl", 3),
    ],
)
def test_journals_are_resumed(name, complete, finished, tmp_path, matrices):
    before, wanted = entry_lines(name), entry_lines(complete)
    assert len(before) == finished
    path, result = run_study(name, tmp_path, matrices)
    assert not result.partial
    assert result.entries.keys() == wanted.keys()
    for key, entry in result.entries.items():
        assert_same_entry(entry, wanted[key])
        if key in before:  # not computed again
            assert (entry.finished, entry.session) == (before[key]["finished"], before[key]["session"])
        else:
            assert entry.session not in {line["session"] for line in before.values()}
    assert path.read_bytes().startswith((FILES / name).read_bytes())
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert sum("method" in line for line in written) == len(wanted)


# Method.fingerprint(100) in 1.0: a journal is resumed for the methods whose fingerprints are equal.
FINGERPRINTS = {
    "rnlc": "8d5a469c7e5c",
    "rnlc(box-cox)": "e53baa6dfbc0",
    "rnqc": "bbcef206a29e",
    "psvm": "9620cbc6eeee",
}


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_fingerprints_of_methods_with_renamed_parameters(name):
    method = next(method for method in list_methods() if method.name == name)
    assert replace(method, rescale=False).fingerprint(100) == FINGERPRINTS[name]
    assert method.rescale == (method.fingerprint(100) != FINGERPRINTS[name])


def test_the_fingerprint_of_a_search():
    def search(**options):
        return Method("m", lambda: PathSearchCV(SimilarityKNN(), {"n_neighbors": [1, 3]}, cv=3, **options))

    assert search().fingerprint(100) == "23a0da878039"  # of 1.0, which had fewer parameters
    assert search(error_score="raise").fingerprint(100) != "23a0da878039"


# Deprecated names: every row of the table in CHANGELOG, "Migrating from 1.0".

MIGRATING = (HERE.parents[1] / "CHANGELOG.md").read_text().partition("### Migrating from 1.0")[2].partition("\n### ")[0]
DEPRECATED = re.findall(r"^\| `(\w+)([.(])(\w+)[=)]*` \| `\w+[.(](\w+)", MIGRATING, flags=re.MULTILINE)
OLD_VALUES = {"columns": {"objects": "proximities", "features": "features"}, "shrinkage": {"trace": "trace"}}
PARAMETERS = [(cls, old, new) for cls, mark, old, new in DEPRECATED if mark == "("]
HOOKS = [(old, new) for cls, mark, old, new in DEPRECATED if cls == "Measure"]
FIELD_NAMES = [(cls, old, new) for cls, mark, old, new in DEPRECATED if mark == "." and cls != "Measure"]


def test_the_changelog_lists_every_deprecated_name():
    declared = {
        (cls, old, new) for cls in PARAMETER_CLASSES for old, (new, _) in getattr(similis, cls)._renamed_params.items()
    }
    assert set(PARAMETERS) == declared
    assert dict(HOOKS) == _measure._RENAMED
    assert {(f"similis.solvers.{cls}.{old}", new) for cls, old, new in FIELD_NAMES} == {*FIELDS.items()}
    assert MIGRATING.count("\n| `") == len(DEPRECATED)


PARAMETER_CLASSES = [
    name for name in similis.__all__ if getattr(getattr(similis, name), "_renamed_params", None) and name[0].isupper()
]


@pytest.mark.parametrize(
    ("cls", "old", "old_value", "new", "new_value"),
    [
        (getattr(similis, cls), old, *pair[:1], new, *pair[1:])
        for cls, old, new in PARAMETERS
        for pair in OLD_VALUES[old].items()
    ],
)
def test_renamed_parameters(cls, old, old_value, new, new_value, matrices):
    S, y = matrices["similarity"], matrices["similarity/labels"]
    now, before = cls(**{new: new_value}), cls(**{old: old_value})
    assert Method("m", lambda: now).fingerprint(9) == Method("m", lambda: before).fingerprint(9)
    with pytest.warns(FutureWarning, match=f"'{old}' of {cls.__name__} is called '{new}'.*{new}='{new_value}'"):
        before.fit(S, y)
    grid = [{cls.path_params[0]: 0.5}]
    with pytest.warns(FutureWarning, match=f"'{old}' of {cls.__name__}"):
        path = before.predict_path(S, y, S, grid)
    np.testing.assert_array_equal(now.fit(S, y).decision_function(S), before.decision_function(S))
    np.testing.assert_array_equal(path, now.predict_path(S, y, S, grid))
    assert get_tags(before).input_tags.pairwise == get_tags(now).input_tags.pairwise


@pytest.mark.parametrize(("old", "new"), HOOKS)
def test_renamed_methods_of_a_measure(old, new):
    """A measure written for 1.0 is called through the new name, and says so once, when its class is made."""
    with pytest.warns(FutureWarning, match=f"Own.{old} is called {new} since similis 2.0"):
        cls = type("Own", (similis.Minkowski,), {old: lambda self, *args, **options: (old, args)})
    assert getattr(cls(), new)(1, 2) == (old, (1, 2))


@pytest.mark.parametrize(("cls", "old", "new"), FIELD_NAMES)
def test_renamed_fields(cls, old, new):
    record = getattr(import_module("similis.solvers"), cls)
    fit = record(**{field.name: i for i, field in enumerate(fields(record))})
    with pytest.warns(FutureWarning, match=f"{cls}.{old} is called {new} since similis 2.0"):
        assert getattr(fit, old) == getattr(fit, new)


# Predictions of the study's methods.

# Methods with other defaults now: the parameters and the grid with which they predict what they predicted in 1.0.
AS_IN_1_0 = {
    # The windows of 1.0 were too wide, see CHANGED; the dimension is searched now.
    "parzen-r": ({"dimension": None}, {}),
    "parzen-f": ({"dimension": None}, {}),
    # The C of 1.0 was in the unit of the dissimilarities. It is in that of their range now, and the grid is longer.
    "svc-d2": ({}, {"svc__C": [1e-3, 1e-2, 0.1, 1.0, 10.0]}),
    # With a width of 1 alone, the error was that of the majority class for most units and numbers of objects.
    "svm-kernel(rbf-sim)": ({}, {"svc__C": [10.0**p for p in range(-3, 6)]}),
}


def as_in_1_0(name):
    """The method without `rescale`: 1.0 took C, ridges and widths in the unit of the proximities."""
    method = next(method for method in list_methods() if method.name == name)
    if name == "sbc":  # 1.0 did not search the tightness, nor `strong`
        return replace(method, make=lambda: method.make()[-1], grid={"C": method.grid["sbc__C"]}, rescale=False)
    params, grid = AS_IN_1_0.get(name, ({}, method.grid))
    return replace(method, make=lambda: method.make().set_params(**params), grid=grid, rescale=False)


# Methods whose rule of 1.0 no longer exists; the error must not be larger than it was.
OTHER_RULES = {
    "maxsim",  # the smallest sum of dissimilarities is that of the smallest class; and the tightness is searched
}

QUICK = (
    "knn affinity-knn kri-knn(clip) krr-knn(pinv) lime-knn nc nc(adjusted) local-nc cnn sda nnsda local-sda "
    "mixture-sda kernel-hlm hlm-agg maxsim sbc rnlc rnlc(box-cox) rnqc pfld parzen-r parzen-f pseudo-nearest-mean "
    "svm-kernel(clip) svm-kernel(flip) svm-kernel(shift) svm-features(linear) svm-kernel(rbf-sim) svc-d2 svm-knn(clip) "
    "psvm majority"
).split()


def assert_same_scores(name, methods):
    result = run_scored(name, list(map(as_in_1_0, methods)))
    assert [split.test.tolist() for split in result.splits] == SCORES[name]["test"]
    for method in methods:
        now, before = score_record(result, method), SCORES[name]["methods"][method]
        if method in OTHER_RULES:
            assert np.mean(now["error"]) <= np.mean(before["error"]), method
            continue
        for part in ("predictions", "params", "error"):
            assert now[part] == before[part], (method, part)
        assert (now["log_loss"] is None) == (before["log_loss"] is None), method
        if now["log_loss"] is not None:
            # Clusterings of equal cost depend on the last bits.
            tolerance = {"abs": 0.05} if method.startswith("hlm-") else {"rel": 1e-6, "abs": 1e-9}
            assert now["log_loss"] == pytest.approx(before["log_loss"], **tolerance), method


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n != "promoters" else n for n in SCORES])
def test_quick_methods_predict_the_same(name):
    assert_same_scores(name, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_all_methods_predict_the_same(name):
    assert SCORES[name]["methods"].keys() <= {method.name for method in list_methods()}
    assert_same_scores(name, list(SCORES[name]["methods"]))
