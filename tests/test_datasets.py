"""Simulators that do what they say, shipped data with their checksums, and clear words where data are absent."""

import gzip
import hashlib
import os
import re
import shutil
import sys
from importlib.resources import files

import numpy as np
import pytest
from scipy import sparse as sp

from similis import ProximityError
from similis.datasets import (
    list_datasets,
    load_benchmark,
    load_promoters,
    load_sonar,
    load_votes,
    make_perturbed_centroids,
    make_similarity,
)
from similis.exceptions import DataNotFoundError, MissingExtraError

BENCHMARK = [info for info in list_datasets() if info.where == "benchmark"]
HERE = [info for info in list_datasets() if info.where != "benchmark"]


# --- perturbed centroids -----------------------------------------------------------------------------------------


def test_perturbed_centroids_shapes():
    data = make_perturbed_centroids(7, p=((0.3, 0.2, 0.1), 0.05, (0.0,)), n_train=40, n_test=60, random_state=1)
    assert data.X_train.shape == (40, 7)
    assert data.X_test.shape == (60, 7)
    assert data.X_train.dtype == np.uint8
    assert set(np.unique(data.X_train)) <= {0, 1}
    assert [len(c) for c in data.centroids] == [3, 1, 1]
    assert set(data.y_train) == {0, 1, 2}
    assert data.source_train[data.y_train > 0].max() == 0


def test_perturbed_centroids_flip_as_often_as_said(seed):
    p = ((1 / 3, 0.2), (1 / 30, 0.0))
    data = make_perturbed_centroids(50, p=p, n_train=0, n_test=20_000, random_state=seed)
    y, source = data.y_test, data.source_test
    # classes and centroids are equally likely: 5 standard deviations
    assert abs((y == 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(20_000)
    for g in (0, 1):
        assert abs((source[y == g] == 0).mean() - 0.5) < 5 * 0.5 / np.sqrt((y == g).sum())
        for j in (0, 1):
            rows = data.X_test[(y == g) & (source == j)]
            flips = rows != data.centroids[g][j]
            bound = 5 * np.sqrt(p[g][j] * (1 - p[g][j]) / flips.size)
            assert abs(flips.mean() - p[g][j]) <= bound
            # independent features: the variance of the number of flips is binomial
            if p[g][j]:
                assert flips.sum(axis=1).var() == pytest.approx(50 * p[g][j] * (1 - p[g][j]), rel=0.15)


def test_perturbed_centroids_are_uniform():
    first = np.array(
        [make_perturbed_centroids(3, n_train=0, n_test=0, random_state=i).centroids[0][0] for i in range(400)]
    )
    counts = np.bincount(first @ [4, 2, 1], minlength=8)
    assert ((counts - 50) ** 2 / 50).sum() < 30  # chi-square with 7 degrees of freedom, P(> 30) = 1e-4


def test_one_centroid_a_class_has_the_bayes_error_of_two_coins():
    """d = 1, equal centroids flipped with 1/3 and 1/30: the best rule errs with (1/30 + 2/3) / 2 or so."""
    for i in range(20):
        data = make_perturbed_centroids(1, n_train=0, n_test=4000, random_state=i)
        if data.centroids[0][0, 0] == data.centroids[1][0, 0]:
            as_two = data.X_test[:, 0] == data.centroids[1][0, 0]
            error = np.mean(as_two != (data.y_test == 1))
            assert error == pytest.approx((2 / 3 + 1 / 30) / 2, abs=0.04)


def test_perturbed_centroids_are_reproducible():
    a, b, c = (make_perturbed_centroids(9, random_state=i) for i in (3, 3, 4))
    assert all(np.array_equal(a[key], b[key]) for key in ("X_train", "y_train", "X_test", "y_test"))
    assert not np.array_equal(a.X_test, c.X_test)


@pytest.mark.parametrize(
    "p", [(), ((),), ((0.5,), ()), ((1.5,), (0.1,)), ((-0.1,), (0.1,)), ((np.nan,), (0.1,)), (((0.1,),),)]
)
def test_perturbed_centroids_refuse(p):
    with pytest.raises(ValueError, match="p must hold"):
        make_perturbed_centroids(3, p=p)
    for d in (0, True):
        with pytest.raises(ValueError, match="'d' parameter"):
            make_perturbed_centroids(d)


# --- similarities ------------------------------------------------------------------------------------------------


def test_plain_similarity_is_a_kernel(seed):
    S, y = make_similarity(50, 3, random_state=seed)
    np.testing.assert_array_equal(S, S.T)
    np.testing.assert_array_equal(np.diag(S), 1.0)
    assert np.linalg.eigvalsh(S).min() > -1e-10
    assert np.bincount(y).tolist() == [17, 17, 16]
    nearest = (S - 2 * np.eye(50)).argmax(axis=1)
    assert (y[nearest] == y).mean() > 0.7


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_indefinite_share_is_exact(seed, share):
    S, _ = make_similarity(40, 2, indefinite=share, random_state=seed)
    eigenvalues = np.linalg.eigvalsh(S)
    assert -eigenvalues[eigenvalues < 0].sum() / np.abs(eigenvalues).sum() == pytest.approx(share, abs=1e-9)
    np.testing.assert_array_equal(S, S.T)


def test_asymmetric_norm_is_exact(seed):
    S, _ = make_similarity(40, 2, indefinite=0.1, asymmetric=0.25, random_state=seed)
    skew, symmetric = (S - S.T) / 2, (S + S.T) / 2
    assert np.linalg.norm(skew) / np.linalg.norm(symmetric) == pytest.approx(0.25, rel=1e-9)


def test_sparse_keeps_the_most_alike(seed):
    S, y = make_similarity(40, 2, sparse=0.8, random_state=seed)
    assert sp.issparse(S)
    full, same = make_similarity(40, 2, random_state=seed)
    np.testing.assert_array_equal(y, same)
    stored = S.toarray() != 0
    assert stored.sum() == 40 + 2 * (780 - round(0.8 * 780))
    assert full[stored].min() >= full[~stored].max()
    np.testing.assert_array_equal(S.toarray()[stored], full[stored])


def test_duplicates_are_exact_copies(seed):
    S, y = make_similarity(40, 3, indefinite=0.2, asymmetric=0.3, duplicates=15, random_state=seed)
    unique, inverse = np.unique(S, axis=0, return_inverse=True)
    assert len(unique) == 25
    assert len(np.unique(S, axis=1).T) == 25
    for row in range(25):
        assert len(set(y[inverse.ravel() == row])) == 1
    D, _ = make_similarity(40, 3, indefinite=0.2, duplicates=15, kind="dissimilarity", random_state=seed)
    assert (D == 0).sum() >= 40 + 2 * 15
    assert D.min() == 0


def test_missing_entries(seed):
    S, _ = make_similarity(40, 2, missing=0.3, random_state=seed)
    lost = np.isnan(S)
    np.testing.assert_array_equal(lost, lost.T)
    assert not np.diag(lost).any()
    assert lost.sum() == 2 * round(0.3 * 780)
    lost = np.isnan(make_similarity(40, 2, missing=0.3, asymmetric=0.1, random_state=seed)[0])
    assert lost.sum() == round(0.3 * 1560)
    assert not np.array_equal(lost, lost.T)


def test_dissimilarities(seed):
    S, y = make_similarity(30, 2, asymmetric=0.2, random_state=seed)
    D, same = make_similarity(30, 2, asymmetric=0.2, kind="dissimilarity", random_state=seed)
    np.testing.assert_array_equal(y, same)
    off = ~np.eye(30, dtype=bool)
    np.testing.assert_allclose(D[off], (S.max() - S)[off])
    np.testing.assert_array_equal(np.diag(D), 0)
    assert D.min() == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_similarities(n):
    for options in (
        {},
        dict(indefinite=0.2),
        dict(asymmetric=0.5),
        dict(sparse=1.0),
        dict(missing=1.0),
        dict(duplicates=n - 1),
    ):
        for kind in ("similarity", "dissimilarity"):
            S, y = make_similarity(n, 1, kind=kind, random_state=0, **options)
            assert S.shape == (n, n)
            assert len(y) == n


def test_similarity_refuses():
    for options in (
        dict(n_classes=11),
        dict(duplicates=9),
        dict(indefinite=1.0),
        dict(missing=1.5),
        dict(kind="kernel"),
        dict(sparse=-1),
    ):
        with pytest.raises(ValueError, match="must be"):
            make_similarity(10, **options)


# --- shipped -----------------------------------------------------------------------------------------------------


def test_checksums_of_the_shipped_files():
    folder = files("similis.datasets").joinpath("data")
    listed = dict(re.findall(r"`(\w+\.csv)` .* `([0-9a-f]{64})`", folder.joinpath("README.md").read_text("utf-8")))
    found = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.name.endswith("csv")
    }
    assert found == listed
    assert len(found) == 3
    for doi in ("C5C01P", "C5T01Q", "C5S01D"):
        assert doi in folder.joinpath("README.md").read_text("utf-8")


def test_votes():
    votes = load_votes()
    assert votes.data.shape == (435, 16)
    assert np.bincount(votes.target).tolist() == [267, 168]
    assert votes.target_names.tolist() == ["democrat", "republican"]
    assert set(np.unique(votes.data)) == {"y", "n", "?"}
    assert (votes.data == "?").sum() == 392  # as UCI's own description counts them
    assert len(votes.feature_names) == 16
    assert "CC BY 4.0" in votes.DESCR


def test_votes_nearest_centroid():
    """Counting similarity, nearest centroid, leave one out: 11.49 % by an independent implementation."""
    X, y = load_votes(return_X_y=True)
    S = (X[:, None, :] == X[None]).sum(axis=2).astype(float)
    errors = 0
    for i in range(435):
        rest = np.arange(435) != i
        best = []
        for g in (0, 1):
            members = np.flatnonzero(rest & (y == g))
            centroid = members[np.argmax(S[np.ix_(members, members)].sum(axis=1))]
            best.append(S[i, centroid])
        errors += int(np.argmax(best)) != y[i]
    assert errors / 435 == pytest.approx(0.1149, abs=0.0025)


def test_sonar():
    sonar = load_sonar()
    assert sonar.data.shape == (208, 60)
    assert dict(zip(sonar.target_names, np.bincount(sonar.target))) == {"mine": 111, "rock": 97}
    X = sonar.data
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    assert np.mean(sonar.target[D.argmin(axis=1)] != sonar.target) == pytest.approx(0.173, abs=0.0005)


def test_promoters():
    promoters = load_promoters()
    assert promoters.data.shape == (106, 57)
    assert np.bincount(promoters.target).tolist() == [53, 53]
    assert set(np.unique(promoters.data)) == set("acgt")
    assert ["".join(row) for row in promoters.data] == promoters.sequences
    assert promoters.feature_names[0] == "p-50"
    assert promoters.feature_names[-1] == "p+7"
    assert len(promoters.feature_names) == 57
    # the -10 box of promoters is tataat more often than of other DNA
    hits = np.array(["tataat" in sequence for sequence in promoters.sequences])
    assert hits[promoters.target == 1].sum() > 3 * max(1, hits[promoters.target == 0].sum())


@pytest.mark.parametrize("load", [load_votes, load_sonar, load_promoters])
def test_frames_and_pairs(load):
    pd = pytest.importorskip("pandas")
    bunch = load()
    X, y = load(return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    frame, series = load(return_X_y=True, as_frame=True)
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(series, pd.Series)
    assert list(frame.columns) == bunch.feature_names
    np.testing.assert_array_equal(frame.to_numpy(), X)
    np.testing.assert_array_equal(series, y)


# --- by name -----------------------------------------------------------------------------------------------------


def agrees(info, bunch):
    assert bunch.name == info.name
    assert bunch.kind == info.kind
    assert bunch.DESCR
    objects = {"similarity": "proximity", "dissimilarity": "proximity", "graphs": "graphs"}.get(info.kind, "data")
    assert len(bunch[objects]) == info.n
    if info.n_classes:
        assert len(bunch.target) == info.n
        assert len(np.unique(bunch.target)) == info.n_classes == len(bunch.target_names)
        assert bunch.target.min() == 0
    else:
        assert bunch.target is None
    if objects == "proximity":
        assert bunch.proximity.shape == (info.n, info.n)


@pytest.mark.parametrize("info", HERE, ids=lambda info: info.name)
def test_what_is_always_here(info, monkeypatch):
    monkeypatch.delenv("SIMILIS_DATA", raising=False)
    agrees(info, load_benchmark(info.name))


@pytest.mark.parametrize("info", BENCHMARK, ids=lambda info: info.name)
def test_benchmark_sets(info):
    if not os.environ.get("SIMILIS_DATA"):
        pytest.skip("SIMILIS_DATA names no folder of benchmark data")
    agrees(info, load_benchmark(info.name))


def test_damaged_protein_is_the_right_one_with_lost_tens():
    if not os.environ.get("SIMILIS_DATA"):
        pytest.skip("SIMILIS_DATA names no folder of benchmark data")
    right, papers = load_benchmark("protein"), load_benchmark("protein_uw")
    D = right.proximity[np.ix_(right.keep213, right.keep213)]
    np.testing.assert_allclose(papers.proximity, 1 - (D - 10 * papers.lost_ten_mask) / 13.64, atol=6e-6)
    np.testing.assert_array_equal(right.target[right.keep213], papers.target)


@pytest.mark.parametrize("info", BENCHMARK, ids=lambda info: info.name)
def test_absent_sets_say_where_to_get_them(info, monkeypatch, tmp_path):
    monkeypatch.delenv("SIMILIS_DATA", raising=False)
    with pytest.raises(
        DataNotFoundError, match=f"{info.name!r} is not bundled .* Get it from .* SIMILIS_DATA"
    ) as caught:
        load_benchmark(info.name)
    assert len(str(caught.value)) < 300
    with pytest.raises(DataNotFoundError, match=r"is not at .* Get it from") as caught:
        load_benchmark(info.name, data_home=tmp_path)
    assert len(str(caught.value)) < 300
    monkeypatch.setenv("SIMILIS_DATA", str(tmp_path))
    with pytest.raises(DataNotFoundError, match=re.escape(str(tmp_path)[-30:])):
        load_benchmark(info.name)


def test_unknown_names():
    with pytest.raises(ValueError, match="There is no data set 'irises'"):
        load_benchmark("irises")


def test_damaged_copies_are_named(tmp_path):
    for name, file in {
        "ekman": "ekman_colours/ekman_colours.npz",
        "mutag": "mutag/mutag.json",
        "crabs": "crabs/crabs.csv",
    }.items():
        path = tmp_path / file
        path.parent.mkdir()
        path.write_bytes(b"\x00\xff nothing of the kind")
        with pytest.raises(ProximityError, match="not a readable copy of this data set") as caught:
            load_benchmark(name, data_home=tmp_path)
        assert path.name in str(caught.value)
    shutil.rmtree(tmp_path / "crabs")
    (tmp_path / "splice").mkdir()
    (tmp_path / "splice" / "splice.csv.gz").write_bytes(gzip.compress(b"a,class\nA,N\n"))
    with pytest.raises(ProximityError, match=r"must hold the 3190 objects of 'splice'. Got 1"):
        load_benchmark("splice", data_home=tmp_path)


def test_pickled_arrays_in_the_data_folder_are_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    (tmp_path / "aural_sonar").mkdir()
    np.savez(tmp_path / "aural_sonar" / "aural_sonar.npz", S=np.array([[Evil()]], dtype=object), y=np.array([1]))
    with pytest.raises(ProximityError, match="not a readable copy"):
        load_benchmark("aural_sonar", data_home=tmp_path)
    assert not (tmp_path / "executed").exists()


def test_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"as_frame=True needs .*pandas.*similis\[frame\]"):
        load_votes(as_frame=True)
