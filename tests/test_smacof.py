"""SMACOF: scikit-learn's stress, decrease of the stress, missing pairs, new rows, order only."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.manifold import smacof

from similis import SMACOF, load, save
from similis.exceptions import ProximityError


def points(n=40, m=6, d=2, seed=0):
    X = np.random.default_rng(seed).normal(size=(n + m, d))
    return X[:n], X[n:]


def with_holes(D, share=0.3, seed=0):
    D = D.copy()
    holes = np.triu(np.random.default_rng(seed).random(D.shape) < share, 1)
    D[holes | holes.T] = np.nan
    return D


def test_complete_data_reach_the_stress_of_sklearn():
    X, _ = points(d=5)
    D = cdist(X, X)
    ours = SMACOF(max_iter=1000).fit(D)
    options = {"n_init": 1, "max_iter": 300, "eps": 1e-9, "normalized_stress": False}
    _, from_ours = smacof(D, init=ours.embedding_, **options)
    raw = ours.stress_**2 * (pdist(X) ** 2).sum()
    assert raw == pytest.approx(from_ours, rel=1e-4)  # a minimum of theirs too
    _, from_random = smacof(D, random_state=0, **options)
    assert raw < 1.05 * from_random
    own = pdist(ours.embedding_)
    assert ours.stress_ == pytest.approx(np.sqrt(((pdist(X) - own) ** 2).sum() / (pdist(X) ** 2).sum()))


@pytest.mark.parametrize("max_iter", [1, 7, 500])
def test_the_stress_is_that_of_the_embedding(max_iter):
    X, _ = points(d=5)
    model = SMACOF(max_iter=max_iter).fit(cdist(X, X))
    error = ((pdist(X) - pdist(model.embedding_)) ** 2).sum()
    assert model.stress_ == pytest.approx(np.sqrt(error / (pdist(X) ** 2).sum()), rel=1e-12)
    assert model.n_iter_ == len(model.stresses_) - 1 <= max_iter
    assert model.n_iter_ == max_iter or max_iter == 500


@pytest.mark.parametrize("method", ["metric", "ordinal"])
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_the_stress_never_increases(method, holes):
    X, _ = points(d=4)
    model = SMACOF(method=method).fit(with_holes(cdist(X, X) ** 2, holes))
    assert len(model.stresses_) > 5
    assert (np.diff(model.stresses_) <= 1e-12).all()


def test_missing_pairs_of_euclidean_data_are_reconstructed(tmp_path):
    X, new = points()
    D = cdist(X, X)
    model = SMACOF(max_iter=2000, tol=1e-9).fit(with_holes(D, 0.3))
    assert cdist(model.embedding_, model.embedding_) == pytest.approx(D, abs=1e-3)
    Q = cdist(new, X)
    for rows in (Q, np.where(np.random.default_rng(1).random(Q.shape) < 0.4, np.nan, Q)):
        assert cdist(model.transform(rows), model.embedding_) == pytest.approx(Q, abs=1e-3)
    save(model, tmp_path / "map.skops")
    np.testing.assert_array_equal(load(tmp_path / "map.skops").transform(Q), model.transform(Q))


def test_one_known_direction_is_enough():
    X, _ = points(20)
    D = cdist(X, X)
    half = np.where(np.tri(20, k=-1, dtype=bool), np.nan, D)
    np.testing.assert_allclose(SMACOF().fit(half).embedding_, SMACOF().fit(D).embedding_)


def test_ordinal_depends_on_the_order_only():
    X, new = points(30)
    D, Q = cdist(X, X), cdist(new, X)
    model = SMACOF(method="ordinal", max_iter=500).fit(D**3)
    assert model.stress_ < 0.02 < SMACOF().fit(D**3).stress_
    shape = np.corrcoef(pdist(model.embedding_), pdist(X))[0, 1]
    assert shape > 0.99
    placed = cdist(model.transform(Q**3), model.embedding_)
    assert np.corrcoef(placed.ravel(), Q.ravel())[0, 1] > 0.99


def test_messages():
    X, _ = points(10)
    D = cdist(X, X)
    apart = D.copy()
    apart[:5, 5:] = apart[5:, :5] = np.nan
    with pytest.raises(ProximityError, match="connects object 5 with object 0"):
        SMACOF().fit(apart)
    with pytest.raises(ProximityError, match="Row 1 has no known"):
        SMACOF().fit(D).transform(np.array([D[0], np.full(10, np.nan)]))
