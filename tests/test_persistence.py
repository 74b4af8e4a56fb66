"""Models in files: the same predictions come back, everything else is refused, and nothing is executed."""

import io
import json
import os
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import sklearn
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KernelCenterer, StandardScaler
from sklearn.svm import SVC

import similis
from similis import load, load_votes, save
from similis._utils.storable import STORABLE, storable
from similis.base._estimators import ProximityEstimator

ESTIMATORS = {
    name: cls
    for name in similis.__all__
    if isinstance(cls := getattr(similis, name), type) and issubclass(cls, ProximityEstimator)
}


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(30, 3)) + 3 * (np.arange(30) % 2)[:, None]
    S = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(-1))
    return S, np.array(["x", "y"])[np.arange(30) % 2]


def same_answers(a, b, X):
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(a, method):
            np.testing.assert_array_equal(getattr(a, method)(X), getattr(b, method)(X))


def refused(call, *arguments, match=".", **options):
    with pytest.raises(ValueError, match=match) as caught:
        call(*arguments, **options)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="precomputed"),
        make_pipeline(KernelCenterer(), SVC(kernel="precomputed")),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 10.0]}, cv=2),
        make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
        CalibratedClassifierCV(LogisticRegression(), cv=2, method="isotonic"),
        TunedThresholdClassifierCV(LogisticRegression(), cv=2, scoring="balanced_accuracy"),
        VotingClassifier([("a", LogisticRegression()), ("b", SVC())]),
        StackingClassifier([("a", LogisticRegression())], cv=2),
        BaggingClassifier(LogisticRegression(), n_estimators=2),
        GridSearchCV(LogisticRegression(), {"C": [1.0, 10.0]}, cv=StratifiedKFold(2), scoring="accuracy"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_scikit_learn_models_come_back(tmp_path, problem, model):
    S, y = problem
    model.fit(S, y)
    save(model, tmp_path / "m.skops")
    same_answers(model, load(tmp_path / "m.skops"), S[:5])
    assert os.listdir(tmp_path) == ["m.skops"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_our_estimators_come_back(tmp_path, problem, name):
    S, y = problem
    try:
        model = ESTIMATORS[name]()
    except TypeError:
        pytest.skip("needs arguments")
    save(model, tmp_path / "unfitted.skops")
    assert repr(load(tmp_path / "unfitted.skops")) == repr(model)
    X = 1 - S if model.proximity_kind == "dissimilarity" else S
    X = np.stack([X, X**2], axis=2) if model.allow_stack and name != "make_stack" else X
    model.fit(X, y == "x" if is_regressor(model) else y)
    save(model, tmp_path / "m.skops")
    same_answers(model, load(tmp_path / "m.skops"), X[:5])


VOTES = load_votes(return_X_y=True)
TABLES = {
    "text": VOTES[0][:40],
    "missing": np.where(VOTES[0][:40] == "?", None, VOTES[0][:40]),
    "integers": (VOTES[0][:40] == "y").astype(int),
    "mixed": np.array([[1, "1", True, None], [2, "1", False, "x"]] * 20, dtype=object),
}
SETS = [{"fur", "purrs"}, {"fur", "barks"}, {"purrs", 1}, frozenset({"barks", "growls"})] * 10
POINTS = np.random.default_rng(0).normal(size=(40, 3))
MEASURED = [
    *((measure, table) for measure in (similis.Counting(), similis.VDM(similarity=True)) for table in TABLES.values()),
    (similis.HVDM(), np.column_stack([POINTS.astype(object), TABLES["text"]])),
    *((measure, SETS) for measure in (similis.Jaccard(), similis.Dice(), similis.Overlap())),
    *((measure, SETS) for measure in (similis.TverskyContrast(), similis.TverskyRatio())),
    *((measure, POINTS) for measure in (similis.RBF(), similis.Polynomial(), similis.Cosine(), similis.Minkowski())),
    (similis.FromMatrix(POINTS @ POINTS.T), np.arange(40)),
]


@pytest.mark.parametrize("measure, objects", MEASURED, ids=lambda x: repr(x)[:20] if hasattr(x, "fit") else "")
def test_pipelines_from_objects_come_back(tmp_path, measure, objects):
    model = make_pipeline(similis.Pairwise(measure), SVC(kernel="precomputed")).fit(objects[:30], VOTES[1][:30])
    save(model, tmp_path / "m.skops")
    same_answers(model, load(tmp_path / "m.skops"), objects[25:])


def test_a_measure_made_of_a_function_cannot_be_saved(tmp_path):
    model = similis.Pairwise(similis.FromFunction(np.dot)).fit(POINTS)
    refused(
        save, model, tmp_path / "m.skops", match="This Pairwise cannot be saved: it holds the function 'numpy.*dot'"
    )
    assert not list(tmp_path.iterdir())


def test_functions_cannot_be_saved(tmp_path, problem):
    for f in (lambda X: X, os.path.join, os.system, len, problem[0].max):
        refused(save, FunctionTransformer(f), tmp_path / "m.skops", match="This FunctionTransformer cannot be saved")
    refused(save, FunctionTransformer(same_answers), tmp_path / "m.skops", match="the function '.*same_answers'")
    assert not list(tmp_path.iterdir())


def test_trees_cannot_be_saved(tmp_path, problem):
    forest = RandomForestClassifier(n_estimators=2).fit(*problem)
    refused(
        save,
        forest,
        tmp_path / "m.skops",
        match="This RandomForestClassifier cannot be saved: it holds a decision tree",
    )


class Mine(BaseEstimator):
    def fit(self, X, y=None):
        self.mean_ = np.mean(X)
        return self


def test_own_classes_must_be_named(tmp_path):
    model = Mine().fit([[1.0, 2.0]])
    refused(save, model, tmp_path / "m.skops", match=r"test_persistence\.Mine'")
    save(model, tmp_path / "m.skops", trusted=[Mine])
    refused(load, tmp_path / "m.skops", match="is not on the list")
    assert load(tmp_path / "m.skops", trusted=[Mine]).mean_ == 1.5
    refused(load, tmp_path / "m.skops", match="sequence of classes", trusted=["test_persistence.Mine"])


def test_private_classes_need_the_mark(tmp_path, problem):
    """What a fitted estimator holds is trusted if it is public or marked, not because it lives in similis."""
    from similis.distributed._record import Record

    model = SVC(kernel="precomputed").fit(*problem)
    model.extra_ = Record("a.jsonl", head={"n": 3})
    refused(save, model, tmp_path / "m.skops", match=r"similis\.distributed\._record\.Record")
    storable(Record)
    try:
        save(model, tmp_path / "m.skops")
        assert load(tmp_path / "m.skops").extra_.head == {"n": 3}
    finally:
        STORABLE.discard(Record)
    refused(load, tmp_path / "m.skops", match="is not on the list")


@pytest.fixture
def canary(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    yield Evil()
    assert not (tmp_path / "executed").exists()


def test_other_files_are_refused(tmp_path, canary, problem):
    path = tmp_path / "m.skops"
    refused(save, canary, path)
    for content, message in [
        (pickle.dumps(canary), "looks like a pickle"),
        (pickle.dumps(canary, protocol=0), "not a model file"),
        (b"", "not a model file"),
        (b"PK\x03\x04", "not a model file"),
        (np.random.default_rng(0).bytes(1000), "not a model file"),
        (b"{}", "not a model file"),
    ]:
        path.write_bytes(content)
        refused(load, path, match=message)
        refused(load, path, match="m.skops")
    np.savez(path.with_suffix(".npz"), a=np.array([canary], dtype=object))
    refused(load, path.with_suffix(".npz"), match="not a model file")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.skops")


def craft(path, schema, **members):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema | {"protocol": 2, "_skops_version": "0"}))
        for name, content in members.items():
            archive.writestr(name, content)


def node(loader, module, name, **more):
    return {"__loader__": loader, "__module__": module, "__class__": name, "__id__": id(more)} | more


def test_crafted_files_execute_nothing(tmp_path, canary):
    path, target = tmp_path / "m.skops", json.dumps(str(tmp_path / "executed"))
    text = node("JsonNode", "builtins", "str", content=target)
    arguments = node("TupleNode", "builtins", "tuple", content=[text])
    empty = node("TupleNode", "builtins", "tuple", content=[])
    nothing = node(
        "DictNode", "builtins", "dict", content={}, key_types=node("ListNode", "builtins", "list", content=[])
    )
    mkdir = node("FunctionNode", "os", "mkdir")
    partial = {"func": mkdir, "args": arguments, "kwds": nothing, "namespace": empty}
    svc = node("ObjectNode", "sklearn.svm._classes", "SVC", content=nothing)
    for schema in [
        mkdir,
        node("TypeNode", "os", "mkdir"),
        node("ConstructorFromReduceNode", "os", "mkdir", content=arguments),
        node("ConstructorFromReduceNode", "pathlib", "Path", content=arguments),
        node("ListNode", "os", "mkdir", content=[text]),
        node("NdArrayNode", "os", "mkdir", type="json", content=[text], shape=arguments),
        node("PartialNode", "functools", "partial", content=partial),
        node("MethodNode", "sklearn.svm._classes", "SVC", content={"func": "fit", "obj": svc}),
        node("OperatorFuncNode", "operator", "methodcaller", attrs=arguments),
        node("ObjectNode", "subprocess", "Popen", content=nothing),
        node("ObjectNode", "similis.distributed._record", "Record", content=nothing),
        node("ObjectNode", "similis.exceptions", "os", content=nothing),
        node("ObjectNode", "similis.no_such_room", "Thing", content=nothing),
        node("FunctionNode", "similis.io._models", "load"),
        node("FunctionNode", "similis", "load"),
        node("ConstructorFromReduceNode", "similis.io._models", "load", content=arguments),
        node("NoSuchNode", "builtins", "str"),
        node(["a"], "builtins", "str"),
        node("ObjectNode", ["a"], {"b": 1}, content=nothing),
        node("DictNode", "builtins", "dict"),
        node("DictNode", "builtins", "dict", content=3, key_types=[1]),
        node("DictNode", "builtins", "dict", content={"a": text}, key_types=empty),
        {"__loader__": "JsonNode"},
        {},
    ]:
        craft(path, schema)
        refused(load, path, match="m.skops")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "[" * 100_000)
    refused(load, path, match="not a model file")


def test_packed_files_are_refused(tmp_path):
    path = tmp_path / "m.skops"
    skops.io.dump(SVC(), path, compression=zipfile.ZIP_DEFLATED)
    refused(load, path, match="is compressed")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 50_000_000)
    refused(load, path, match="is compressed")


def test_a_failed_save_leaves_the_old_model(tmp_path, problem, monkeypatch):
    def full(*arguments):
        raise OSError("disk full")

    path = tmp_path / "m.skops"
    save(SVC(C=3.0), path)
    for moment in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, moment, full)
            with pytest.raises(OSError, match="full"):
                save(SVC(C=4.0), path)
    refused(save, FunctionTransformer(print), path)
    assert load(path).C == 3.0
    assert os.listdir(tmp_path) == ["m.skops"]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_models_raise_nothing_else(tmp_path, data):
    buffer = io.BytesIO()
    skops.io.dump(make_pipeline(KernelCenterer(), SVC(kernel="precomputed")).fit(np.eye(4), [0, 0, 1, 1]), buffer)
    content = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    path = tmp_path / "m.skops"
    path.write_bytes(content)
    message = ""
    try:
        load(path)
    except ValueError as error:
        message = str(error)
    assert len(message) < 300


@pytest.mark.parametrize("value", [{True: 1}, {None: 1}, {(1, 2): 1}, {1: 1, "1": 2}, {b"a": 1}], ids=str)
def test_dictionaries_that_files_lose_are_refused(tmp_path, value):
    refused(save, SVC(class_weight=value), tmp_path / "m.skops", match="keys|cannot be saved")


def test_dictionaries_that_files_keep(tmp_path):
    value = {"a": 1.5, 1: 2.0, 0.5: 3.0, np.int64(7): 1}
    save(SVC(class_weight=value), tmp_path / "m.skops")
    assert load(tmp_path / "m.skops").class_weight == value


def test_storable_classes_keep_any_dictionary(tmp_path):
    from similis.distributed._record import Record

    value = [{None: 0, True: 1, "x": 2, "1": 3, 2: 4, 1.5: 5, (1, "a"): 6, frozenset({1}): 7}, {}]
    before = vars(Record).copy()
    try:
        storable(Record)
        model = SVC()
        model.extra_ = Record(np.eye(2), head={"nested": ({1: [{2: {3: 4}}]},)}, done=value)
        save(model, tmp_path / "m.skops")
        back = load(tmp_path / "m.skops").extra_
    finally:
        STORABLE.discard(Record)
        for name in set(vars(Record)) - set(before):
            delattr(Record, name)
    assert back.done == value
    assert [type(key) for key in back.done[0]] == [type(key) for key in value[0]]
    assert back.head == {"nested": ({1: [{2: {3: 4}}]},)}
    np.testing.assert_array_equal(back.store, np.eye(2))


# Versions


def later_version(path):
    """Rewrite a model file as if a later version of scikit-learn had saved it."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert sklearn.__version__.encode() in files["schema.json"]
    files["schema.json"] = files["schema.json"].replace(sklearn.__version__.encode(), b"99.2.1")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_a_model_of_a_later_scikit_learn_names_the_version(problem, tmp_path, recwarn):
    S, y = problem
    path = tmp_path / "model.skops"
    save(make_pipeline(similis.SpectrumClip(), SVC(kernel="precomputed")).fit(S, y), path)
    load(path)
    assert not recwarn
    later_version(path)
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 99\.2\.1, .* install scikit-learn 99\.2 or later"):
        model = load(path)
    np.testing.assert_array_equal(model.predict(S), model.predict(S))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_failed_prediction_names_the_version(problem, tmp_path):
    """An attribute that a later version no longer has: scikit-learn 1.6 says that the pipeline is not fitted."""
    S, y = problem
    rows = similis.io.Proximity(S[:4], kind="similarity")
    model = make_pipeline(similis.SpectrumClip(), SVC(kernel="precomputed")).fit(S, y)
    del model[-1].shape_fit_
    card = similis.io.ModelCard("svm-kernel", {}, "proximities", "similarity", ["x", "y"], 30)
    for versions, error in (({}, AttributeError), ({"scikit-learn": "99.2.1"}, similis.ProximityError)):
        trained = similis.io.TrainedModel(model, replace(card, versions=versions))
        with pytest.raises(error, match="shape_fit_") as found:
            similis.study.predict_rows(trained, rows)
        assert ("install scikit-learn 99.2 or later" in str(found.value)) == bool(versions)
