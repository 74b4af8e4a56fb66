"""Sparse matrices: the results of the dense ones, and no dense copy of the whole."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

from similis import (
    LocalNearestCentroid,
    LocalSDA,
    MaxSim,
    NearestCentroid,
    PathSearchCV,
    Proximity,
    ProximityError,
    Rescale,
    SimilarityKNN,
    SimilarityKNNRegressor,
    Tighten,
    load,
    save,
)
from similis.base import SparseRows, _sparse
from similis.exceptions import InputWarning
from similis.study import Study, predict_rows, train_model

N = 90


@pytest.mark.parametrize("model", [Tighten(q=2), Rescale()], ids=repr)
def test_new_sparse_rows_are_validated_and_repeated_entries_added(model):
    model = model.fit(sparse.csr_array(np.eye(3)))
    twice = sparse.csr_array((np.array([0.5, 0.5, 1.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 3))
    np.testing.assert_array_equal(model.transform(twice).toarray(), [[1.0, 1.0, 0.0]])
    np.testing.assert_array_equal(twice.data, [0.5, 0.5, 1.0])
    with pytest.raises(ProximityError, match="X has 2 features"):
        model.transform(sparse.csr_array(np.eye(2)))
    with pytest.raises(ProximityError, match="infinity"):
        model.transform(sparse.csr_array([[np.inf, 0, 0]]))
    if not model.allow_missing:
        with pytest.raises(ProximityError, match="does not accept missing entries"):
            model.transform(sparse.csr_array([[np.nan, 0, 0]]))


@pytest.fixture
def lists(rng):
    """A sparse similarity and a sparse dissimilarity, dense twins, and labels."""
    points = rng.normal(size=(N, 2)) + 3 * (np.arange(N) % 3)[:, None]
    D = np.linalg.norm(points[:, None] - points, axis=2).round(2)
    D = np.maximum(D, D.T)
    near = D <= np.sort(D, axis=1)[:, [12]]
    near |= near.T
    S = np.where(near, np.exp(-D), 0.0)
    return S, np.where(near, D, np.nan), near, np.arange(N) % 3


@pytest.fixture
def no_large_block(monkeypatch):
    """Fail when a block of half of the entries or more is made dense."""
    get = SparseRows.__getitem__
    monkeypatch.setattr("similis.base._estimators.row_blocks", lambda n, m: (slice(a, a + 7) for a in range(0, n, 7)))
    monkeypatch.setattr("similis._utils.threads._BLOCK", 7 * N)
    monkeypatch.setattr("similis.base._validation.row_chunks", lambda n, _: [slice(a, a + 7) for a in range(0, n, 7)])
    monkeypatch.setattr(_sparse, "_AMONG", 14)
    monkeypatch.setattr("similis.solvers._local_weights._AMONG", 14)

    def checked(self, key):
        block = get(self, key)
        assert block.size < N * N / 2 or len(self) < N / 2, "the matrix was made dense"
        return block

    def never(*_):
        raise AssertionError("the matrix was made dense")

    monkeypatch.setattr(SparseRows, "__getitem__", checked)
    monkeypatch.setattr(sparse.csr_array, "toarray", never)


MODELS = [
    SimilarityKNN(n_neighbors=4),
    SimilarityKNN(n_neighbors=4, weights="affinity"),
    SimilarityKNN(n_neighbors=4, weights="kri"),
    SimilarityKNN(n_neighbors=4, weights="krr", regularization=0.5),
    SimilarityKNN(n_neighbors=4, weights="lime"),
    SimilarityKNNRegressor(n_neighbors=4, weights="kri"),
    NearestCentroid(),
    NearestCentroid(centroid="any-class"),
    LocalNearestCentroid(n_neighbors=5),
    LocalSDA(n_neighbors=8),
    LocalSDA(n_neighbors=8, weights="kri", domain="continuous"),
    MaxSim(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:60])
def test_sparse_similarities_are_never_made_dense(lists, no_large_block, tmp_path, model):
    S, _, _, y = lists
    expected = model.fit(S, y).predict(S)
    model.fit(sparse.csr_array(S), y)
    np.testing.assert_array_equal(model.predict(S), expected)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(S)), expected)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(sparse.coo_array(S)), model.predict_proba(S))
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict(S), expected)


@pytest.mark.parametrize(
    "model",
    [SimilarityKNN(n_neighbors=4), NearestCentroid(), LocalNearestCentroid(n_neighbors=4)],
    ids=lambda model: type(model).__name__,
)
def test_sparse_dissimilarities_are_never_made_dense(lists, no_large_block, model):
    _, D, near, y = lists
    model.set_params(kind="dissimilarity")
    listed = sparse.csr_array((D[near], np.nonzero(near)), shape=D.shape)  # with stored zeros
    expected = model.fit(D, y).predict(D)
    np.testing.assert_array_equal(model.fit(listed, y).predict(listed), expected)


def test_absent_dissimilarities_are_missing(lists):
    _, D, near, y = lists
    listed = sparse.csr_array((D[near], np.nonzero(near)), shape=D.shape)
    for model in (MaxSim(kind="dissimilarity"), LocalSDA(kind="dissimilarity")):
        with pytest.raises((ProximityError, TypeError), match=r"(?i)missing entries|sparse"):
            model.fit(listed, y)


def test_blocks(rng):
    A = np.where(rng.random((9, 7)) < 0.4, rng.normal(size=(9, 7)), 0)
    for missing in (False, True):
        rows = SparseRows(sparse.coo_array(A), missing=missing)
        dense = np.where(A == 0, np.nan if missing else 0.0, A)
        i, j = rng.integers(0, 9, 5), rng.integers(0, 7, 5)
        for key in (slice(2, 5), i, np.ix_(i, j), (slice(1, 4), slice(2, 6)), (i, j), slice(None)):
            np.testing.assert_array_equal(rows[key], dense[key])
        assert (rows.min(), rows.max()) == (np.nanmin(dense), np.nanmax(dense))
    rows.verify_fitted()
    for name, value in (("indices", rows.indices + 7), ("indptr", rows.indptr[:-1]), ("shape", (9, 3)), ("shape", 3)):
        bad = SparseRows(sparse.coo_array(A), missing=True)
        setattr(bad, name, value)
        with pytest.raises(ProximityError):
            bad.verify_fitted()


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (SimilarityKNN(), {"n_neighbors": [1, 3, 8]}),
        (make_pipeline(Rescale(), SimilarityKNN(weights="kri")), {"similarityknn__regularization": [0.1, 1.0]}),
        (LocalNearestCentroid(), {"n_neighbors": [3, 8]}),
        (LocalSDA(), {"n_neighbors": [5, 8]}),
        (NearestCentroid(), {"adjusted": [False, True]}),
        (MaxSim(), {"kind": ["similarity"]}),
    ],
    ids=["knn", "kri", "local-nc", "local-sda", "nc", "maxsim"],
)
def test_searches_never_make_it_dense(lists, no_large_block, model, grid):
    S, _, _, y = lists
    expected = PathSearchCV(model, grid, cv=3).fit(S, y)
    found = PathSearchCV(model, grid, cv=3).fit(sparse.csr_array(S), y)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(found.predict(sparse.csr_array(S[:9])), expected.predict(S[:9]))


def test_studies_never_make_it_dense(lists, no_large_block, monkeypatch):
    """A large sparse matrix: methods that need all of it are skipped and named, the others predict as before."""
    S, D, near, y = lists
    study = Study(["knn", "kri-knn(clip)", "maxsim", "svm-kernel(clip)", "majority"], n_splits=2, cv=2, race=False)
    expected = study.run(S, y)
    monkeypatch.setattr("similis.study._problem._DENSE", 0)
    monkeypatch.setattr("similis.study._trained._SCORED", 9)
    with pytest.warns(InputWarning, match=r"they need all of it: svm-kernel\(clip\)\."):
        found = study.run(sparse.csr_array(S), y)
    assert len(found.entries) == 8
    for key, entry in found.entries.items():
        np.testing.assert_array_equal(entry.predictions, expected.entries[key].predictions)
    listed = sparse.csr_array((D[near], np.nonzero(near)), shape=D.shape)
    with pytest.raises(ProximityError, match=r"kri-knn\(clip\), majority need all of it"):
        Study(["kri-knn(clip)", "majority"], n_splits=2).run(listed, y, kind="dissimilarity")
    ids = tuple(f"o{i}" for i in range(N))
    trained = train_model(Proximity(listed, ids, "dissimilarity", y), study=Study("knn", n_splits=2, cv=2))
    new = Proximity(sparse.csr_array(listed[:4, 5:]), list("abcd"), "dissimilarity", None, ids[5:])
    object.__setattr__(new, "about", {"fill": np.nan})  # of a list that does not name five training objects
    predictions = predict_rows(trained, new)
    np.testing.assert_array_equal(predictions.scores, -np.nanmin(D[:4, 5:], axis=1))
    assert np.isfinite(predictions.outlier_p).all()
