"""Maximum-entropy exponents: the moment recomputed, the ends exact, the shared table and thinned sets as good."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import maxent as oracle

from similis.solvers import Omega, maxent_exponents

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: round(v, 6))


def fit(omega, means):
    return maxent_exponents(omega, *omega.offsets(means))


def means_of(omega, rng, n=30):
    """Means everywhere inside, and close to both ends."""
    near = 10.0 ** -rng.uniform(1, 12, n // 3)
    return omega.low + omega.width * np.r_[rng.random(n // 3), near, 1 - near]


def sets(rng):
    yield from ([0.0, 1.0], [-3.0, 0.0, 1e-6], [0.0, 0.999, 1.0], np.arange(9.0), rng.random(200))
    yield np.r_[0.0, np.geomspace(1e-9, 1.0, 300)]
    yield rng.random(2000)
    yield 1e8 + np.r_[0.0, 0.5 + 0.01 * rng.random(1500), 1.0]


def test_worked_example():
    """[cazzanti2007] sec. 3.1.1: lambda and gamma of the four pairs of classes."""
    fitted = fit(Omega(np.arange(5)), [3.2, 1.2, 2.4, 1.6])
    np.testing.assert_allclose(fitted.exponents, [0.7271, -0.4313, 0.2036, -0.2036], atol=5e-5)
    np.testing.assert_allclose(np.exp(fitted.log_normalizers), [0.0290, 0.3962, 0.1278, 0.2884], atol=5e-5)


@pytest.mark.parametrize("shared", [False, True], ids=["newton", "table"])
def test_moments_and_normalizers_recomputed(rng, shared):
    for values in sets(rng):
        omega = Omega(values)
        if shared:
            assert omega.table.shape[1] > 100
        means = means_of(omega, rng)
        fitted = fit(omega, means)
        offsets = list((omega.values - omega.low) / omega.width)
        for rate, log_z, mean in zip(fitted.rates, fitted.log_partitions, (means - omega.low) / omega.width):
            assert abs(oracle.moment(offsets, rate) - mean) < 1e-12
            if np.isinf(rate):  # the mean rounded to the end
                assert log_z == 0.0
                continue
            end = 1.0 if rate > 0 else 0.0
            assert abs(-oracle.log_normalizer(offsets, rate) - rate * end - log_z) < 1e-11 + 1e-15 * abs(rate)


def test_exponents_are_those_of_bisection(rng):
    for values in sets(rng):
        omega = Omega(values)
        means = means_of(omega, rng, 9 if len(omega.values) < 400 else 3)
        expected = [oracle.exponent(list(omega.values), mean) for mean in means]
        np.testing.assert_allclose(fit(omega, means).exponents, expected, rtol=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=2, max_size=12, unique=True), st.floats(0, 1))
def test_any_set_and_mean(values, share):
    omega = Omega(values)
    mean = omega.low + share * (omega.high - omega.low)
    rate = float(fit(omega, [mean]).rates[0])
    offsets = [(v - omega.low) / omega.width for v in values]
    assert abs(oracle.moment(offsets, rate) - (mean - omega.low) / omega.width) < 1e-12


@pytest.mark.parametrize("domain", [np.arange(17.0), np.linspace(0, 1, 3000) ** 2, (-1.0, 3.0), (2.0, np.inf)])
def test_the_certificate(rng, domain):
    omega = Omega(domain)
    above, below = omega.offsets(omega.low + omega.width * np.r_[0.0, 1.0, rng.random(200)])
    for few in (slice(None), slice(5)):
        fitted = maxent_exponents(omega, above[few], below[few])
        assert omega.moment_errors(fitted, above[few], below[few]).max() < 1e-12
    wrong = fitted._replace(rates=fitted.rates * 1.01)
    assert omega.moment_errors(wrong, above[few], below[few]).max() > 1e-6


def test_ends_are_point_masses_and_one_value_is_no_choice():
    fitted = fit(Omega([0.0, 1.0, 5.0]), [0.0, 5.0])
    np.testing.assert_array_equal(fitted.exponents, [-np.inf, np.inf])
    np.testing.assert_array_equal(fitted.log_normalizers, [0.0, -np.inf])
    np.testing.assert_array_equal(fitted.log_partitions, [0.0, 0.0])
    single = fit(Omega([7.0]), [7.0])
    assert (single.exponents[0], single.log_normalizers[0]) == (0.0, 0.0)


def test_an_end_is_met_exactly_whatever_the_rounding():
    """Means of offsets are zero at the end, where the mean of three times 0.7 is not 0.7."""
    omega = Omega([0.1, 0.7])
    above, below = omega.offsets(np.full(3, 0.7))
    assert np.mean(np.full(3, 0.7)) != 0.7
    assert maxent_exponents(omega, [above.mean()], [below.mean()]).exponents[0] == np.inf


def test_means_a_hair_from_the_end():
    """Far beyond where exponentials underflow the exponent stays finite, and right."""
    tiny = np.array([1e-30, 1e-150, 1e-210, 1e-300])
    found = maxent_exponents(Omega([0.0, 0.5, 1.0]), tiny, 1 - tiny)
    np.testing.assert_allclose(found.exponents, -2 * np.log(0.5 / tiny), rtol=1e-12)
    found = maxent_exponents(Omega((0.0, 1.0)), tiny, 1 - tiny)
    np.testing.assert_allclose(found.exponents, -1 / tiny, rtol=1e-12)
    np.testing.assert_allclose(found.log_normalizers, -np.log(tiny), rtol=1e-12)


def test_uniform_mean_has_exponent_zero(rng):
    values = rng.random(50)
    omega = Omega(values)
    fitted = fit(omega, [values.mean()])
    np.testing.assert_allclose(fitted.rates, 0.0, atol=1e-13)
    np.testing.assert_allclose(fitted.log_normalizers, -np.log(50), atol=1e-13)


def test_interval_moments(rng):
    omega = Omega((-2.0, 5.0))
    means = np.r_[means_of(omega, rng), 1.5, 1.5 + 1e-9]
    for exponent, mean in zip(fit(omega, means).exponents, means):
        assert abs(oracle.interval_moment(-2.0, 5.0, exponent) - mean) < 7e-12


def test_interval_density_integrates_to_one():
    omega = Omega((-2.0, 5.0))
    fitted = fit(omega, [-1.9, 0.0, 1.5, 4.9])
    grid = np.linspace(-2, 5, 200_001)
    for exponent, log_gamma in zip(fitted.exponents, fitted.log_normalizers):
        assert np.trapezoid(np.exp(exponent * grid + log_gamma), grid) == pytest.approx(1.0, abs=1e-6)


def test_printed_formula_agrees_where_it_can_be_evaluated():
    """[cazzanti2007] Eq. (3.18), useless near lambda = 0 and for large lambda."""
    a, b = 1.0, 4.0
    for mean in (1.3, 2.0, 3.1):
        x = float(fit(Omega((a, b)), [mean]).exponents[0])
        printed = (np.exp(x * b) * (x * b - 1) - np.exp(x * a) * (x * a - 1)) / (x * (np.exp(x * b) - np.exp(x * a)))
        assert printed == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("ends, means, expected", [((0, np.inf), [0.5, 2], [-2, -0.5]), ((-np.inf, 3), [1], [0.5])])
def test_half_lines(ends, means, expected):
    fitted = fit(Omega(tuple(map(float, ends))), means)
    np.testing.assert_allclose(fitted.exponents, expected)
    end = ends[0] if np.isfinite(ends[0]) else ends[1]
    # gamma e^{lambda v} with gamma = |lambda| e^{-lambda end}
    lam = np.asarray(expected)
    np.testing.assert_allclose(fitted.log_normalizers, np.log(np.abs(lam)) - lam * end)


def test_a_large_set_is_thinned_without_loss(rng):
    """Sums of exp(-x d) over 20,000 values equal those over a few hundred nodes at every rate."""
    omega = Omega(np.concatenate([rng.random(10_000) ** 3, 0.6 + 0.01 * rng.random(10_000), [0.0, 1.0]]))
    nodes, weights = omega.nodes
    assert nodes.shape[1] < 700
    for side, d in enumerate([omega.values - omega.low, omega.high - omega.values]):
        d = d / omega.width
        for x in np.r_[0.0, np.geomspace(1e-3, 1e7, 60)]:
            exact, thin = np.exp(-x * d), weights[side] * np.exp(-x * nodes[side])
            assert thin.sum() == pytest.approx(exact.sum(), rel=1e-13)
            assert (thin * nodes[side]).sum() == pytest.approx((exact * d).sum(), rel=1e-11, abs=1e-18)


def test_values_of_any_magnitude(rng):
    """Tiny values, as of a narrow RBF kernel, have equal offsets from the upper end and moments that underflow."""
    omega = Omega(np.concatenate([np.exp(-np.linspace(0, 700, 2000)), [0.0, 5e-324, 1e-315]]))
    for d, x in itertools.product([omega.values, 1 - omega.values], [0.0, 1.0, 30.0]):
        side = int(d[0] > 0.5)
        thin = omega.nodes[1][side] * np.exp(-x * omega.nodes[0][side])
        assert thin.sum() == pytest.approx(np.exp(-x * d).sum(), rel=1e-13)
    means = np.r_[np.exp(-rng.uniform(0, 740, 3000)), rng.random(200)]
    alone, together = Omega(omega.values), omega  # together with a table
    found = fit(together, means).exponents
    assert len(together.table[0]) > 0
    some = np.r_[0:3000:30, 3000:3200]
    np.testing.assert_allclose(found[some], fit(alone, means[some]).exponents, rtol=1e-9, atol=1e-9)


def test_mirror_and_scale(rng):
    """lambda changes sign with the values and scales with their inverse."""
    values, share = rng.random(40), rng.random(10)
    omega = Omega(values)
    means = omega.low + share * omega.width
    a = fit(omega, means).exponents
    np.testing.assert_allclose(fit(Omega(-values), -means).exponents, -a, rtol=1e-9)
    np.testing.assert_allclose(fit(Omega(3 + 2 * values), 3 + 2 * means).exponents, a / 2, rtol=1e-9, atol=1e-12)
