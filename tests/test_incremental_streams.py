"""Streams of objects for incremental HLM: the same as their blocks, measured sparingly, saved midway, refused."""

import numpy as np
import pytest
from incremental import SCHEMES, distances, feed, problem, rows

from similis import VDM, Counting, FromFunction, IncrementalHLM, Minkowski, ProximityError, load, save, stream_fit


def batches(X, y, size):
    return ((X[i : i + size], y[i : i + size]) for i in range(0, len(y), size))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bounded", [False, True])
def test_a_stream_is_its_blocks(rng, scheme, bounded):
    X, y, new = problem(rng)
    params = {"scheme": scheme, "bounded": bounded, "random_state": 0}
    stream = stream_fit(IncrementalHLM(**params), Minkowski(), batches(X, y, 30))
    model = feed(IncrementalHLM(**params), X, y, [0, 30, 60, 90])
    np.testing.assert_array_equal(stream.model.columns_, model.columns_)
    np.testing.assert_allclose(stream.predict_proba(new), model.predict_proba(rows(model, X, new)), rtol=1e-6)
    np.testing.assert_allclose(stream.log_density(new), model.log_density(rows(model, X, new)), rtol=1e-6)
    np.testing.assert_array_equal(stream.predict(new), model.predict(rows(model, X, new)))
    assert stream.score_samples(new).shape == (15,)


def test_a_stream_measures_what_it_needs_and_nothing_else():
    calls = []

    def distance(x, z):
        calls.append(1)
        return float(abs(x - z))

    rng = np.random.default_rng(0)
    x, y = list(rng.normal(size=200) + 5 * (np.arange(200) % 2)), np.arange(200) % 2
    measure = FromFunction(distance, kind="dissimilarity")
    among = 10 * (20 * 21 // 2 if measure.symmetric else 20 * 20)
    stream_fit(IncrementalHLM(random_state=0), measure, batches(x, y, 20))
    assert len(calls) == among  # scheme I: no distance to the past
    calls.clear()
    stream = stream_fit(
        IncrementalHLM(scheme="resample", growth=0, bounded=True, random_state=0), measure, batches(x, y, 20)
    )
    assert len(calls) <= among + 9 * 20 * (2 * 4 * 5)  # new x kept: at most classes x components x (v + 1)
    assert len(stream.objects) == len(stream.model.columns_) <= 40
    calls.clear()
    stream.predict(x[:7])
    assert len(calls) == 7 * len(np.unique(stream.model.centroids_))  # centroids alone


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_stream_saved_midway_goes_on(rng, tmp_path, scheme):
    X, y, new = problem(rng)
    stream = stream_fit(IncrementalHLM(scheme=scheme, bounded=True, random_state=0), Minkowski(), batches(X, y, 30))
    save(stream, tmp_path / "stream.skops")
    again = load(tmp_path / "stream.skops")
    for each in (stream, again):
        each.partial_fit(X[:40] + 0.1, y[:40])
    np.testing.assert_array_equal(again.predict_proba(new), stream.predict_proba(new))
    assert len(again.objects) == len(stream.objects)


def test_streams_of_other_objects(rng):
    votes = rng.integers(0, 3, size=(60, 8))
    y = votes[:, 0]
    stream = stream_fit(IncrementalHLM(random_state=0), VDM(), batches(votes, y, 30))
    assert np.mean(stream.predict(votes) == y) > 0.5
    words = [["one", "two", "three"][i] * (1 + j % 3) for i, j in zip(y, range(60))]
    measure = FromFunction(lambda a, b: abs(len(a) - len(b)) + (a[0] != b[0]), kind="dissimilarity")
    stream = stream_fit(IncrementalHLM(random_state=0), measure, [(words[:30], y[:30]), ([], []), (words[30:], y[30:])])
    assert stream.model.n_batches_ == 2
    assert np.mean(stream.predict(words) == y) > 0.7


def test_a_drifting_stream_with_new_classes_is_followed():
    rng = np.random.default_rng(1)

    def drifting(n_batches):
        for t in range(n_batches):
            y = rng.integers(2 if t < 5 else 3, size=60)
            yield rng.normal(size=(60, 2)) + 6 * np.c_[np.cos(2 * y + t / 4), np.sin(2 * y + t / 4)], y

    right = []
    stream = stream_fit(IncrementalHLM(n_components=2, max_components=6, bounded=True, random_state=0), Minkowski())
    for X, y in drifting(20):
        if stream.objects is not None:
            known = np.isin(y, stream.model.classes_)
            right.append(np.mean(stream.predict(X[known]) == y[known]))
        stream.partial_fit(X, y)
    assert stream.model.classes_.tolist() == [0, 1, 2]
    assert np.mean(right[-10:]) > 0.85  # the classes have long left their first places


def test_bad_streams_are_refused(rng):
    X, y, _ = problem(rng)
    with pytest.raises(ProximityError, match="dissimilarity"):
        stream_fit(IncrementalHLM(), Counting(), [(X, y)])
    with pytest.raises(ProximityError, match="FromFunction"):
        stream_fit(IncrementalHLM(), lambda a, b: 0.0, [(X, y)])
    with pytest.raises(ProximityError, match="pair"):
        stream_fit(IncrementalHLM(), Minkowski(), [X])
    with pytest.raises(ProximityError, match="unfitted model"):
        stream_fit(IncrementalHLM().fit(distances(X), y), Minkowski(), [(X, y)])
    with pytest.raises(ProximityError, match="no objects"):
        stream_fit(IncrementalHLM(), Minkowski()).predict(X)
