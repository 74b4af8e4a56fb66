"""Numbers in model files: whatever compiled code would read unchecked is verified by load."""

import copy
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

import similis
from similis import load
from similis._utils.storable import STORABLE
from similis.base import FittedArrays, ProximityClassifier, ProximityEstimator, fitted_indices, fitted_part

ROOT = Path(__file__).parents[1]
ESTIMATORS = {
    name: cls
    for name in similis.__all__
    if isinstance(cls := getattr(similis, name), type) and issubclass(cls, ProximityEstimator)
}
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(24, 2)) + 3 * (np.arange(24) % 3)[:, None]
S = np.exp(-0.2 * ((POINTS[:, None] - POINTS) ** 2).sum(-1))
Y = np.array(["x", "y", "z"])[np.arange(24) % 3]


def fitted(estimator):
    """Fit an estimator to a matrix of its kind, with three classes where it takes them."""
    X = 1 - S if estimator.proximity_kind == "dissimilarity" else S
    X = np.stack([X, X**2], axis=2) if estimator.allow_stack else X
    try:
        return copy.deepcopy(estimator).fit(X, Y)
    except ValueError:
        return estimator.fit(X, Y == "x")


def dump(model, path):
    skops.io.dump(model, path)
    return path


def rejected(model, path, match="."):
    with pytest.raises(ValueError, match=rf"cannot be loaded: .*{match}") as caught:
        load(dump(model, path))
    assert len(str(caught.value)) < 300


def declarations(model):
    """Every declared attribute of a model and of its parts: owner, name, declaration."""
    for cls in reversed(type(model).__mro__):
        for name, declared in vars(cls).get("fitted_arrays", {}).items():
            value = vars(model).get(name)
            if value is None:
                continue
            yield model, name, declared
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, FittedArrays):
                    yield from declarations(part)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_verifies_what_it_declares(tmp_path, name):
    """The fitted model passes; with one declared attribute changed, it does not."""
    try:
        estimator = ESTIMATORS[name]()
    except TypeError:
        pytest.skip("needs arguments")
    estimator.verify_fitted()  # not fitted: nothing to verify
    model = fitted(estimator)
    load(dump(model, tmp_path / "m.skops"))
    for owner, attribute, declared in list(declarations(model)):
        kept = vars(owner)[attribute]
        if isinstance(kept, np.ndarray):
            changes = [kept.astype(complex), kept.astype(kept.dtype.newbyteorder()), None]
            if declared.shape is not None:
                changes.append(kept[None])
            if kept.dtype.kind == "i" and kept.size:
                changes += [np.full_like(kept, -9), kept.astype(float)]
                changes += [np.full_like(kept, 10**6)] if declared.below is not None else []
            elif kept.size and not declared.nan:
                changes.append(np.full(kept.shape, np.nan))
        elif isinstance(kept, int):
            changes = [-1, 10**6 if getattr(declared, "high", None) else -2, "1", 1.5]
        else:
            changes = ["another type"]
        if declared.optional:
            changes = [change for change in changes if change is not None]
        for change in changes:
            setattr(owner, attribute, change)
            with pytest.raises(ValueError, match=r"must|missing|Parameters"):
                skops_verify(model)
        setattr(owner, attribute, kept)
    load(dump(model, tmp_path / "m.skops"))


def skops_verify(model):
    from similis.io._models import verify_model

    verify_model(model)


LOCAL = [
    similis.SimilarityKNN(n_neighbors=5),
    similis.SimilarityKNN(n_neighbors=5, weights="kri"),
    similis.LocalNearestCentroid(n_neighbors=5),
    similis.LocalSDA(n_neighbors=8),
    similis.SVMKNN(n_neighbors=10),
]


@pytest.mark.parametrize("estimator", LOCAL, ids=lambda model: type(model).__name__)
def test_indices_of_compiled_loops_are_verified(tmp_path, estimator):
    """Each of these files made version 1.0 read or write outside its arrays."""
    for change in (
        {"_codes": np.full(24, 2**40)},
        {"_codes": np.full(24, -5)},
        {"_codes": np.zeros(3, dtype=int)},
        {"_S": np.eye(5)},
        {"_S": np.full((24, 24), np.nan)},
        {"n_neighbors_": 10**9},
        {"n_neighbors_": 0},
        {"n_features_in_": 10**6},
        {"n_features_in_": -1},
        {"classes_": np.array("x")},
        {"allow_missing": True},  # NaN in a row would reach a loop that expects none
        {"check_rows": "x"},
        {"n_neighbors": -3},
    ):
        if change.keys() <= {"_S"} and estimator.get_params().get("weights") == "uniform":
            continue
        model = fitted(estimator)
        vars(model).update(change)
        rejected(
            model, tmp_path / "m.skops", "_codes|n_features_in_" if "n_features_in_" in change else next(iter(change))
        )


def svm(kernel="precomputed", y=Y, cls=SVC, **options):
    return cls(kernel=kernel, **options).fit(S, y)


@pytest.mark.parametrize(
    "change",
    [
        {"support_": np.full(24, 10**6, dtype=np.int32)},
        {"support_": np.full(24, -1, dtype=np.int32)},
        {"support_": np.zeros(2, dtype=np.int32)},
        {"_n_support": np.array([2**30, 2, 3], dtype=np.int32)},
        {"_n_support": np.array([24], dtype=np.int32)},
        {"_dual_coef_": np.zeros((1, 24))},
        {"_dual_coef_": np.zeros((2, 3))},
        {"dual_coef_": np.zeros((1, 1))},
        {"_intercept_": np.zeros(1)},
        {"_probA": np.zeros(1)},
        {"shape_fit_": (10**6, 24)},
        {"shape_fit_": "xy"},
        {"_impl": "epsilon_svr"},
        {"_sparse": True},
        {"_sparse_kernels": ["linear"]},
        {"kernel": "rbf"},
        {"kernel": "other"},
        {"n_features_in_": 10**6},
        {"support_vectors_": np.zeros((24, 24))},
        {"classes_": np.arange(50)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_support_vectors_are_verified(tmp_path, change):
    model = svm()
    vars(model).update(change)
    rejected(make_pipeline(similis.SpectrumClip(), model), tmp_path / "m.skops", "SVC")


@pytest.mark.parametrize(
    "model",
    [
        svm("rbf"),
        svm("linear"),
        svm("precomputed", Y == "x"),
        svm("precomputed", cls=NuSVC, nu=0.1),
        svm("rbf", np.arange(24.0), cls=SVR),
        OneClassSVM().fit(S),
        SVC(),
        KNeighborsClassifier(algorithm="brute").fit(S, Y),
        make_pipeline("passthrough", None, svm()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_of_scikit_learn_pass(tmp_path, model):
    back = load(dump(model, tmp_path / "m.skops"))
    if hasattr(model, "shape_fit_"):
        np.testing.assert_array_equal(back.predict(S), model.predict(S))


def test_sparse_support_vectors_are_verified():
    """Files of them are rejected for their class, unless the caller trusts it."""
    model = SVC(kernel="rbf").fit(sparse.csr_array(S), Y)
    skops_verify(model)
    model.support_vectors_.indices[0] = 10**6
    with pytest.raises(ValueError, match="indices"):
        skops_verify(model)
    model = SVC(kernel="rbf").fit(sparse.csr_array(S), Y)
    model._dual_coef_ = model._dual_coef_[:, :2]
    with pytest.raises(ValueError, match="row per support vector"):
        skops_verify(model)


def test_other_parts_of_scikit_learn_are_verified(tmp_path):
    path = tmp_path / "m.skops"
    model = KNeighborsClassifier(algorithm="brute").fit(S, Y)
    model._y = model._y + 10**6
    rejected(model, path, "_y")
    model = TfidfVectorizer().fit(["one two", "two three"])
    model.vocabulary_ = {"one": 10**6, "two": 1, "three": -1}
    rejected(model, path, "vocabulary_")
    model = KNeighborsClassifier(algorithm="brute").fit(sparse.csr_array(S), Y)
    load(dump(model, path))
    model._fit_X.indices[0] = 10**6
    rejected(model, path, "indices")
    model = make_pipeline(similis.SpectrumClip(), svm())
    for steps in ([], [("a", 3)], [("a",)], {"a": 1}, "passthrough"):
        model.steps = steps
        rejected(model, path, "steps")


WORDS = np.array(["ab", "abc", "b", "ca"] * 6)
SETS = [{"a", "b"}, {"b", "c"}, {"c", 1}, {"a"}] * 6
TABLE = np.array([["u", "x", "1"], ["v", "x", "2"], ["u", "y", "3"], ["w", "z", "1"]] * 6)


def measured(measure, objects):
    model = make_pipeline(similis.Pairwise(measure), similis.SimilarityKNN(n_neighbors=3, kind=measure.kind))
    return model.fit(objects, Y)


def test_codes_of_measures_are_verified(tmp_path):
    path = tmp_path / "m.skops"

    def check(measure, objects, change, match="."):
        model = measured(measure, objects)
        load(dump(model, path))
        change(model[0].measure_, model[0])
        rejected(model, path, match)

    check(similis.Counting(), TABLE, lambda m, step: m._codebook.columns[0].update(u=10**6), "columns")
    check(similis.Counting(), TABLE, lambda m, step: setattr(m, "_codebook", "x"), "_codebook")
    check(similis.VDM(), TABLE, lambda m, step: m._tables.kinds[0].fill(200), "table")
    check(similis.VDM(), TABLE, lambda m, step: m._tables.offsets.__setitem__(0, 10**7), "table")
    check(similis.VDM(), TABLE, lambda m, step: setattr(m._tables, "table", np.zeros(3)), "table")
    check(similis.VDM(), TABLE, lambda m, step: m._tables.weights.fill(10**4), "table")
    check(similis.Jaccard(), SETS, lambda m, step: m._features.vocabulary.update(a=10**6), "vocabulary")
    check(similis.ResidualEntropy(), SETS, lambda m, step: m._context.vocabulary.update(a=10**6), "vocabulary")
    check(
        similis.ResidualEntropy(), SETS, lambda m, step: setattr(m._context, "having", np.ones((1, 1), bool)), "having"
    )
    graphs = [({(0, 1)}, ["a", "b"]), ({(0, 1)}, ["a", "c"]), ({(0, 1)}, ["b", "c"]), ({(0, 1)}, ["c", "c"])] * 6
    graphs = [(sorted(edges), names) for edges, names in graphs]
    check(similis.WeisfeilerLehman(), graphs, lambda m, step: m._labels.rounds[0].update(a=-5), "labels")
    sets = [(RNG.normal(size=(3, 2)), np.ones(3)) for _ in range(24)]
    pair = (np.zeros((3, 2)), np.ones(90))
    check(similis.Wasserstein(), sets, lambda m, step: step.objects_.__setitem__(0, pair), "one weight per point")
    check(similis.DTW(), [x for x, _ in sets], lambda m, step: step.objects_.__setitem__(0, pair), "one weight")


def test_a_neighbor_index_is_verified(tmp_path):
    from similis.distributed import NeighborIndex, OnNeighbors

    index = NeighborIndex(similis.Counting(), n_neighbors=4, random_state=0)
    for name, value in (("indices_", 10**6), ("_near", 10**6), ("_near", -2)):
        model = OnNeighbors(similis.SimilarityKNN(n_neighbors=3), index).fit(TABLE, Y)
        load(dump(model, tmp_path / "m.skops"))
        getattr(model.index_, name)[0, 0] = value
        rejected(model, tmp_path / "m.skops", name)
    model = OnNeighbors(similis.SimilarityKNN(n_neighbors=3), index).fit(TABLE, Y)
    model._codes = model._codes[:5]
    rejected(model, tmp_path / "m.skops", "index_|indices_|_codes")
    for name, value in (
        *(("children", value) for value in (0, 50, -50)),
        *(("pivots", value) for value in (-1, len(TABLE))),
        *(("order", value) for value in (-1, len(TABLE))),
        *(("start", value) for value in (-1, 1, 50)),
    ):
        model = OnNeighbors(similis.SimilarityKNN(n_neighbors=3), index).fit(TABLE, Y)
        assert len(model.index_._trees[1].children) > 0
        getattr(model.index_._trees[1], name).flat[0] = value
        rejected(model, tmp_path / "m.skops", name)


class Extension(ProximityClassifier):
    """What an extension author writes."""

    fitted_arrays = {"codes_": fitted_indices("n", below="G"), "part_": fitted_part(FittedArrays, optional=True)}

    def fit(self, X, y):
        _, self.codes_ = self.check_training_labels(X, y)
        self._check = 1
        return self

    def verify_fitted(self):
        super().verify_fitted()
        if getattr(self, "_check", 1) != 1:
            raise ValueError("_check must be 1")


def test_extensions_are_verified(tmp_path):
    path = tmp_path / "m.skops"
    skops.io.dump(model := Extension().fit(S, Y), path)
    load(path, trusted=[Extension])
    for change in ({"codes_": np.full(24, 3)}, {"_check": 2}, {"part_": SVC()}, {"n_features_in_": 5}):
        bad = copy.deepcopy(model)
        vars(bad).update(change)
        skops.io.dump(bad, path)
        with pytest.raises(ValueError, match=r"cannot be loaded: .* must"):
            load(path, trusted=[Extension])


def test_classes_in_model_files_verify_themselves():
    """A class that models hold has a table, or no array that compiled code reads."""
    import similis.distributed  # noqa: F401  (registers its classes)

    plain = {"BlockWeights", "Spelling", "_Information"}  # dictionaries of text and numbers, read by Python
    without = {cls.__name__ for cls in STORABLE if not issubclass(cls, FittedArrays)} - plain
    assert not {name for name in without if not name.startswith("Test")}, without
    assert all(issubclass(cls, FittedArrays) for cls in ESTIMATORS.values())


def test_versions_in_damaged_files():
    from similis._utils.environment import version_hint

    for written in ("255", "", "x.y", "1", None, 7, "-1.0"):
        assert version_hint(written) == ""
    assert len(version_hint("99.99." + "9" * 1000)) < 200


def test_a_cycle_ends(tmp_path):
    model = SVC()
    model.extra_ = [model]
    skops_verify(model)

    class Odd(BaseEstimator):
        pass

    skops_verify([Odd, Odd(), {1: (2, {3})}, np.array([SVC()], dtype=object)])


@pytest.mark.slow
def test_changed_models_stay_inside_their_arrays(tmp_path):
    """The fuzzer of stress/, short: kernels compiled with bounds checks."""
    environment = {**os.environ, "SIMILIS_STRESS_QUICK": "1"}
    command = [sys.executable, str(ROOT / "stress/fuzz_models.py"), "knn-kri", "local", "svm-knn", "pairwise-vdm"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_fuzzer_knows_every_model():
    names = json.loads((ROOT / "tests/v1/models.json").read_text())
    with zipfile.ZipFile(ROOT / "tests/v1/models.zip") as archive:
        assert {f"{name}.skops" for name in names} == set(archive.namelist())
