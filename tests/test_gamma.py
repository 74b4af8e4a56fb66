"""The shape of a gamma distribution: stationary to round-off over the whole range, and its limits."""

import numpy as np
import pytest
from oracles import hlm as oracle

from similis.solvers import farthest_first, gamma_shape


def test_stationary_over_the_whole_range():
    r = np.concatenate([np.logspace(-250, 250, 501), np.linspace(0.01, 4, 400), np.logspace(-12, -2, 300)])
    np.testing.assert_allclose(oracle.left_side(gamma_shape(r)), r, rtol=1e-12)


def test_limits_and_shapes():
    np.testing.assert_array_equal(gamma_shape([0.0, -1e-17, np.inf]), [np.inf, np.inf, 0.0])
    assert np.isnan(gamma_shape(np.nan))
    assert gamma_shape(0.3).shape == ()
    assert gamma_shape(np.full((2, 3), 0.3)).shape == (2, 3)
    s = gamma_shape(np.logspace(-20, 20, 200))
    assert (np.diff(s) < 0).all()
    np.testing.assert_allclose(gamma_shape([1e-9, 1e9]), [0.5e9, 1e-9], rtol=1e-6)


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.5, 40.0])
def test_it_is_the_maximum_of_the_likelihood(rng, shape):
    u = rng.gamma(shape, 2.0, size=300)
    s = float(gamma_shape(np.log(u.mean()) - np.log(u).mean()))
    loglik = [oracle.gamma_log_likelihood(u, a, u.mean() / s) for a in (s, 0.99 * s, 1.01 * s)]
    assert loglik[0] == max(loglik)
    loglik = [oracle.gamma_log_likelihood(u, s, b * u.mean() / s) for b in (1, 0.99, 1.01)]
    assert loglik[0] == max(loglik)


def test_farthest_first_is_nested(rng):
    X = rng.normal(size=(30, 2))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    many = farthest_first(D, 12)
    assert len(set(many)) == 12
    for k in range(1, 12):
        np.testing.assert_array_equal(farthest_first(D, k), many[:k])
        assert D[:, many[:k]].min(axis=1).argmax() == many[k]
