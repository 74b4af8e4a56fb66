"""From a matrix on disk: the same results, and memory that does not grow with it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from similis import SDA, IncrementalHLM, KernelHLM, LocalSDA, MixtureHLM, MixtureSDA, PathSearchCV, load, save
from similis._utils.disk import on_disk, take_block
from similis.discriminant import _statistics as _domain
from similis.discriminant._statistics import fold_values, training_values
from similis.solvers import Omega, maxent_exponents

HERE = Path(__file__).parent


@pytest.fixture
def distances(tmp_path, rng, monkeypatch):
    """Distances with labels, in memory and as a map; whatever is cut out of the map is a file, too."""
    monkeypatch.setattr("similis._utils.disk._IN_MEMORY", 0)
    points = rng.normal(size=(150, 3)) + 2 * (np.arange(150) % 3)[:, None]
    D = np.linalg.norm(points[:, None] - points, axis=2)
    np.save(tmp_path / "D.npy", D)
    return D, np.load(tmp_path / "D.npy", mmap_mode="r"), np.arange(150) % 3


def same_model(a, b, Q):
    np.testing.assert_array_equal(a.centroids_, b.centroids_)
    np.testing.assert_array_equal(a.scales_, b.scales_)
    np.testing.assert_array_equal(a.predict_proba(Q), b.predict_proba(Q))


def test_blocks_of_maps_are_maps(distances):
    D, stored, _ = distances
    rows, columns = np.arange(0, 150, 2), np.arange(100)
    for source, expected in ((D, False), (stored, True), (np.asarray(stored)[10:], True)):
        part = take_block(source, rows[:60], columns)
        assert on_disk(part) == expected
        np.testing.assert_array_equal(part, source[np.ix_(rows[:60], columns)])


def test_maps_of_any_layout_are_read_without_a_copy_in_memory(tmp_path, distances):
    """Some columns of a map, integers, columns first: what the checks must copy, they copy to disk."""
    from similis.proximity import check_proximity

    D, stored, _ = distances
    np.save(tmp_path / "F.npy", np.asfortranarray(D))
    np.save(tmp_path / "i.npy", np.arange(16, dtype=np.int16).reshape(4, 4))
    sources = (stored, stored[:90, :90], *(np.load(tmp_path / name, mmap_mode="r") for name in ("F.npy", "i.npy")))
    for source in sources:
        found = check_proximity(source)
        assert on_disk(found)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, source)


@pytest.mark.parametrize(
    "model",
    [
        MixtureHLM(random_state=0),
        MixtureHLM(clustering="kmedoids", random_state=0),
        MixtureHLM(clustering="ward"),
        MixtureHLM(n_components="auto", n_init=1, random_state=0),
        KernelHLM(max_samples=20, random_state=0),
    ],
    ids=repr,
)
def test_mixtures_are_the_same_from_disk(distances, model):
    D, stored, y = distances
    same_model(model.fit(D, y), type(model)(**model.get_params()).fit(stored, y), D)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("scheme", ["append", "resample"])
def test_streams_are_the_same_from_disk(distances, tmp_path, scheme, bounded):
    D, stored, y = distances
    models = [IncrementalHLM(scheme=scheme, bounded=bounded, n_components=2, random_state=0) for _ in range(2)]
    for first, stop in ((0, 60), (60, 110), (110, 150)):
        for model, source in zip(models, (D, stored)):
            known = model.columns_ if bounded and first else np.arange(first)
            batch = source[first:stop, :stop]
            if bounded and first:
                np.save(tmp_path / "batch.npy", D[first:stop][:, np.r_[known, first:stop]])
                batch = np.load(tmp_path / "batch.npy", mmap_mode="r" if source is stored else None)
            model.partial_fit(batch, y[first:stop])
    columns = models[0].columns_ if bounded else slice(None)
    same_model(*models, D[:, columns])
    save(models[1], tmp_path / "m.skops")
    same_model(models[0], load(tmp_path / "m.skops"), D[:, columns])


def test_a_mixture_of_exponentials_is_the_same_from_disk(distances):
    D, stored, y = distances
    model = MixtureSDA(kind="dissimilarity", update_centroids=True, random_state=0)
    expected = model.fit(D, y).predict_proba(D)
    np.testing.assert_array_equal(model.fit(stored, y).predict_proba(D), expected)


# an empirical domain of more values than memory should hold


def test_few_values_are_all_there(rng):
    S = rng.integers(0, 9, (40, 40)).astype(float)
    values, share = training_values("empirical", S)
    assert share == 1
    np.testing.assert_array_equal(values, np.unique(S))


def test_of_many_values_a_share_is_held_whatever_their_order_and_number(rng, monkeypatch):
    monkeypatch.setattr(_domain, "MOST_VALUES", 500)
    monkeypatch.setattr(_domain, "row_blocks", lambda n, m: (slice(a, a + 7) for a in range(0, n, 7)))
    S = rng.normal(size=(120, 120))
    values, share = training_values("empirical", S)
    assert share == 1 / 32
    assert 350 < len(values) <= 502
    assert {S.min(), S.max()} <= set(values) <= set(S.ravel())
    order = rng.permutation(120)
    for other in (S[order][:, order], np.vstack([S, S, S[:50]]), S.T):
        again, part = training_values("empirical", np.ascontiguousarray(other))
        np.testing.assert_array_equal(again, values)
        assert part == share


def test_the_share_stands_for_all_values(rng, monkeypatch):
    """Exponents and normalizers of a share are those of the set, up to the error of a sample of its size."""
    values = np.unique(np.r_[0.0, rng.random(200_000) ** 2, 1.0])
    monkeypatch.setattr(_domain, "MOST_VALUES", 2**14)
    some, share = training_values("empirical", values[None])
    whole, part = Omega(values), Omega(some, share=share)
    means = np.array([0.05, 0.3, 0.6, 0.9])
    a, b = (maxent_exponents(omega, *omega.offsets(means)) for omega in (whole, part))
    np.testing.assert_allclose(b.exponents, a.exponents, rtol=0.03, atol=0.03)
    np.testing.assert_allclose(b.log_normalizers, a.log_normalizers, atol=0.06)
    assert part.moment_errors(b, *part.offsets(means)).max() < 1e-12


@pytest.mark.parametrize("model", [SDA(), LocalSDA()], ids=repr)
def test_paths_hold_the_same_share_as_fits(rng, monkeypatch, model):
    monkeypatch.setattr(_domain, "MOST_VALUES", 300)
    Z = rng.normal(size=(60, 2)) + 2 * (np.arange(60) % 2)[:, None]
    S, y, fold = np.exp(-((Z[:, None] - Z) ** 2).sum(2)), np.arange(60) % 2, np.arange(60) % 4
    for test, found in fold_values(S, fold):
        rest = np.flatnonzero(~test)
        values, share = training_values("empirical", S[np.ix_(rest, rest)])
        np.testing.assert_array_equal(found.values, values)
        assert found.share == share < 1
    grid = {"pseudocount": [0.0, 1.0]} if isinstance(model, SDA) else {"n_neighbors": [4, 9]}
    search = PathSearchCV(model, grid, cv=3).fit(S, y)
    for point, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        single = PathSearchCV(type(model)(**model.get_params()).set_params(**point), {}, cv=3).fit(S, y)
        assert single.best_score_ == score


# rows of more than memory


def rows_on_disk(folder, n_rows, block, limit, *names):
    """What every classifier says that answers a large matrix from disk under a limit of private memory."""
    rng = np.random.default_rng(0)
    for kind in ("similarity", "dissimilarity"):
        out = np.lib.format.open_memmap(folder / f"{kind}.npy", "w+", np.float32, (n_rows, 400))
        for first in range(0, n_rows, 5000):
            out[first : first + 5000] = rng.random((min(5000, n_rows - first), 400), dtype=np.float32)
        out.flush()
    assert n_rows * 1600 > 2.2 * limit
    done = subprocess.run(
        [sys.executable, HERE / "rows_on_disk.py", folder, str(block), str(limit), *names],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    lines = done.stdout.splitlines()
    assert lines, done.stderr[-1500:]
    assert lines[-1] == "limited", done.stderr[-1500:]
    return lines[:-1]


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs a limit on private memory")


@pytest.mark.slow
@needs_proc
def test_every_classifier_answers_rows_that_stay_on_disk(tmp_path):
    """The bound that the guide states: ten blocks and 24 MB of work arrays; here blocks of 4 MB, rows of 160 MB."""
    from test_contract import CLASSIFIERS

    said = rows_on_disk(tmp_path, 100_000, 2**22, 64 * 2**20)
    short = {line for line in said if not line.startswith("answered 100000 ")}
    assert sorted(line.split()[1] for line in short) == ["10484", "20"]  # LIME and CompletionSVM: slow a row
    assert len(said) == len(CLASSIFIERS)


@needs_proc
@pytest.mark.slow
def test_some_classifiers_answer_rows_that_stay_on_disk(tmp_path):
    said = rows_on_disk(tmp_path, 50_000, 2**20, 32 * 2**20, "NearestCentroid", "MixtureHLM", "PotentialSVM", "MaxSim")
    assert len(said) == 10
    assert all(line.startswith("answered 50000 ") for line in said), said
