"""Significance and measures of merit against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ranks as oracle
from scipy import stats

from similis.study import average_ranks, holm, signed_rank
from similis.study._metrics import (
    balanced_error,
    brier_score,
    calibration_error,
    compare_to_best,
    error,
    error_interval,
    log_loss,
    mean_cost,
    normalized_cross_entropy,
    perplexity,
)

few = settings(deadline=None, max_examples=80)


@few
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_signed_rank_is_the_enumeration(differences):
    # Tenths: their differences tie only after rounding, as shares of test objects do.
    found = signed_rank([d / 10 for d in differences])
    assert found == pytest.approx(oracle.signed_rank_p(differences), abs=1e-12)


def test_signed_rank_without_ties_is_scipys(rng):
    d = rng.normal(0.3, 1, size=20)
    assert signed_rank(d) == pytest.approx(stats.wilcoxon(d, alternative="greater", method="exact").pvalue)


def test_signed_rank_of_many_is_nearly_the_exact_one(rng):
    d = rng.integers(-3, 5, size=399) / 50
    exact = signed_rank(d)
    many = np.concatenate([d, rng.integers(-3, 5, size=2000) / 50])
    expected = stats.wilcoxon(np.round(many, 12), alternative="greater", method="approx", correction=True).pvalue
    assert signed_rank(many) == pytest.approx(expected, rel=1e-6)
    assert 0 < exact < 1


def test_rounding_makes_equal_shares_equal():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in the last bit.
    assert signed_rank([0.3 - 0.2, 0.1 - 0.2]) == oracle.signed_rank_p([1, -1])
    assert signed_rank([0.0, np.nan]) == 1.0


@few
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_rule(p):
    np.testing.assert_allclose(holm(p), oracle.holm(p), atol=1e-12)


def test_bold_is_the_best_and_those_not_worse():
    errors = {
        "far": np.full(20, 0.5),
        "best": np.tile([0.1, 0.2], 10),
        "near": np.tile([0.2, 0.1], 10),
        "close": np.tile([0.1, 0.2], 10) + np.where(np.arange(20) < 6, 0.05, 0.0),
    }
    found = compare_to_best(errors)
    assert [name for name, v in found.items() if v.bold] == ["best", "near"]
    assert found["far"].p_value == pytest.approx(2.0**-20)
    assert found["far"].p_holm == pytest.approx(3 * 2.0**-20)
    assert found["close"].p_value == pytest.approx(2.0**-6)
    assert found["close"].worse
    assert found["best"].p_value == 1.0
    assert compare_to_best({}) == {}


def test_average_ranks_on_a_worked_table():
    # Four data sets, three methods, no ties: statistic by hand.
    table = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.1, 0.2, 0.3]]
    found = average_ranks({f"d{i}": dict(zip("abc", row)) for i, row in enumerate(table)})
    assert found.methods == ("a", "b", "c")
    np.testing.assert_allclose(found.mean, [1.25, 1.75, 3.0])
    chi2 = oracle.friedman(table)
    F = 3 * chi2 / (4 * 2 - chi2)
    assert found.p_value == pytest.approx(stats.f.sf(F, 2, 6))
    # Nemenyi's table: q(0.05, 3) = 2.343.
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=1e-3)
    assert found.groups == (("a", "b"), ("b", "c"))


def test_average_ranks_of_equal_and_of_too_few():
    same = average_ranks({"x": {"a": 0.1, "b": 0.1}, "y": {"a": 0.2, "b": 0.2}})
    assert same.p_value == 1.0
    assert same.groups == (("a", "b"),)
    with pytest.raises(ValueError, match="two data sets"):
        average_ranks({"x": {"a": 0.1, "b": 0.1}})
    with pytest.raises(ValueError, match=r"two methods .* Got 1; compare studies of the same methods"):
        average_ranks({"x": {"a": 0.1, "b": float("nan")}, "y": {"a": 0.1, "b": 0.2}})


def test_interval_covers(rng):
    """Nadeau and Bengio's interval holds the true error of a fixed rule about as often as it says, or more."""
    hits = 0
    for _ in range(200):
        wrong = rng.random(100) < 0.3
        shares = np.array([rng.permutation(wrong)[:20].mean() for _ in range(20)])
        low, high = error_interval(shares, 0.25, 100)
        hits += low <= 0.3 <= high
    assert hits >= 184
    assert error_interval(np.zeros(5), 0.25, 100)[1] > 0.02
    low, high = error_interval(np.repeat([0.0, 1.0], [90, 10]), 1 / 99, 100)
    assert 0.04 < low < 0.1 < high < 0.2


def test_metrics_by_hand(rng):
    truth = np.array([0, 0, 0, 1])
    said = np.array([0, 1, 0, 1])
    assert error(truth, said) == 0.25
    assert balanced_error(truth, said) == pytest.approx((1 / 3 + 0) / 2)
    assert balanced_error(np.array([2, 2]), np.array([2, 0])) == 0.5  # classes that are absent do not count
    costs = np.array([[0.0, 5.0], [1.0, 0.0]])
    assert mean_cost(truth, said, costs) == 0.25  # one object of class 0 called 1
    proba = rng.dirichlet(np.ones(3), size=50)
    labels = rng.integers(0, 3, size=50)
    assert log_loss(labels, proba, 1e-4) == pytest.approx(oracle.log_loss(labels, proba, 1e-4))
    assert perplexity(labels, proba) == pytest.approx(2 ** (log_loss(labels, proba) / np.log(2)))
    assert calibration_error(labels, proba) == pytest.approx(oracle.calibration_error(labels, proba, 10))
    certain = np.eye(3)[labels]
    assert log_loss(labels, certain) == pytest.approx(np.log(1 + 3e-4) - np.log(1 + 1e-4))
    assert brier_score(labels, certain) == 0
    assert brier_score(labels, np.eye(3)[(labels + 1) % 3]) == 2
    assert calibration_error(labels, certain) == 0
    assert normalized_cross_entropy(labels, certain, np.full((50, 3), 1 / 3)) == pytest.approx(1, abs=1e-3)
    assert normalized_cross_entropy(labels, proba, proba) == 0


def test_smoothing_depends_on_the_number_of_classes():
    """[chen2010] footnote 7: 1e-4 for a few classes, 1e-6 for about a hundred."""
    truth = np.zeros(1, np.intp)
    for n_classes, smoothing in ((3, 1e-4), (20, 1e-4), (21, 1e-6), (101, 1e-6)):
        proba = np.zeros((1, n_classes))
        proba[0, 1] = 1.0
        assert log_loss(truth, proba) == pytest.approx(-np.log(smoothing / (1 + n_classes * smoothing)))
    assert log_loss(truth, proba, 0.5) == pytest.approx(-np.log(0.5 / (1 + 101 * 0.5)))
