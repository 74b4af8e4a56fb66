"""One memory cache per process: bounded by SIMILIS_CACHE_MB, released when a study ends."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from similis import VDM, ProximityError, Study
from similis._utils import linalg
from similis._utils.cache import CACHE, Cache


@pytest.fixture(autouse=True)
def empty_cache():
    CACHE.clear()
    yield
    CACHE.clear()


def test_least_recently_used_entries_go_first(monkeypatch):
    monkeypatch.setenv("SIMILIS_CACHE_MB", "3")
    cache = Cache()
    for name in "abc":
        cache.put(name, name.upper(), 2**20)
    assert cache.get("a") == "A"  # now the most recent
    cache.put("d", "D", 2**20)
    assert [cache.get(name) for name in "abcd"] == ["A", None, "C", "D"]
    cache.put("too large", "E", 4 * 2**20)
    assert cache.get("too large") is None
    assert len(cache) == 3
    assert cache.n_bytes == 3 * 2**20
    cache.put("a", "again", 2**19)  # replaced, not counted twice
    assert cache.n_bytes == 5 * 2**19


def test_the_environment_variable_is_the_limit(monkeypatch):
    A = np.diag(np.arange(1.0, 5.0))
    monkeypatch.setenv("SIMILIS_CACHE_MB", "0")
    assert linalg.eigen_symmetric(A) is not linalg.eigen_symmetric(A)
    monkeypatch.delenv("SIMILIS_CACHE_MB")
    assert linalg.eigen_symmetric(A) is linalg.eigen_symmetric(A)
    for text in ("many", "-1", "nan"):
        monkeypatch.setenv("SIMILIS_CACHE_MB", text)
        with pytest.raises(ProximityError, match="SIMILIS_CACHE_MB must be a number of megabytes"):
            linalg.eigen_symmetric(2 * A)


def test_threads_share_it(monkeypatch):
    monkeypatch.setenv("SIMILIS_CACHE_MB", "1")
    cache = Cache()

    def work(number):
        for i in range(300):
            cache.put((number * i) % 40, i, 2**15 + number)
            cache.get(i % 40)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert cache.n_bytes <= 2**20
    assert cache.n_bytes == sum(size for _, size in cache._items.values())


def test_a_study_releases_its_entries_and_no_others(rng):
    A = np.diag(np.arange(1.0, 5.0))
    mine = linalg.eigen_symmetric(A)
    X, y = rng.integers(0, 3, (40, 6)).astype(str), np.arange(40) % 2
    X[:, 0] = y.astype(str)
    seen = []
    Study(["knn", "svm-kernel(clip)"], n_splits=2, cv=3).run(
        X, y, measure=VDM(), progress=lambda state: seen.append(len(CACHE))
    )
    assert max(seen) > 5  # decompositions and measured blocks
    assert len(CACHE) == 1
    assert linalg.eigen_symmetric(A) is mine


def test_a_worker_releases_the_entries_of_an_earlier_study():
    cache = Cache()
    cache.start_session("first")
    cache.put("a", 1, 8)
    cache.start_session("first")
    assert cache.get("a") == 1
    cache.start_session("second")
    assert len(cache) == cache.n_bytes == 0


def test_results_do_not_depend_on_the_cache(rng, monkeypatch):
    X, y = rng.integers(0, 3, (40, 6)).astype(str), np.arange(40) % 2
    study = Study(["knn", "svm-kernel(clip)"], n_splits=2, cv=3)
    contents = []
    for megabytes in ("512", "0.003", "0"):
        monkeypatch.setenv("SIMILIS_CACHE_MB", megabytes)
        contents.append([entry.content() for entry in study.run(X, y, measure=VDM()).entries.values()])
    assert contents[0] == contents[1] == contents[2]
