"""Ranked neighbors and votes against the stable sort and the plain count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import neighbors as oracle

from similis.solvers import class_sums, top_k, vote_winners


@st.composite
def tied_blocks(draw):
    """Few distinct values, holes, folds, any k: the hard part of a ranking is its ties."""
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 90))
    values = draw(st.sampled_from([[0.0, 1.0], [0.0, 0.5, 1.0, np.nan], [-1.0, 0.0, 2.0, 2.5, 3.0], [np.nan, 1.0]]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    picks = draw(hnp.arrays(np.intp, (m, n), elements=st.integers(0, len(values) - 1)))
    row_fold = draw(hnp.arrays(np.intp, m, elements=st.integers(0, 2)))
    col_fold = draw(hnp.arrays(np.intp, n, elements=st.integers(0, 2)))
    return np.array(values, dtype)[picks], draw(st.integers(1, n + 3)), row_fold, col_fold


@settings(deadline=None, max_examples=100)
@given(tied_blocks(), st.sampled_from([1, -1]), st.booleans())
def test_top_k_is_the_stable_order(block, sign, with_folds):
    S, k, row_fold, col_fold = block
    folds = (row_fold, col_fold) if with_folds else None
    indices, values = top_k(S, k, sign=sign, folds=folds)
    expected = oracle.top_k(S, k, sign, *(folds or (None, None)))
    np.testing.assert_array_equal(indices, expected)
    assert values.dtype == S.dtype
    taken = np.where(expected >= 0, np.take_along_axis(S, np.maximum(expected, 0), axis=1), np.nan)
    np.testing.assert_array_equal(values, taken)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 7, 8, 9, 16, 63, 64, 65, 128, 500, 1200])
def test_top_k_of_long_rows(rng, dtype, k):
    """Rows long enough to overflow the candidate buffer many times: random, rounded, ascending, descending."""
    n = 1500
    x = rng.standard_normal(n)
    S = np.stack([x, np.round(x, 1), np.sort(x), -np.sort(x), np.zeros(n), np.floor(np.arange(n) / 100)]).astype(dtype)
    S[:, rng.random(n) < 0.1] = np.nan
    for sign in (1, -1):
        expected = np.argsort(np.where(np.isnan(S), np.inf, -sign * S), axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(top_k(S, k, sign=sign)[0], expected)


def test_folds_equal_copied_sub_matrices(rng):
    S, fold = np.round(rng.random((60, 60)), 1), rng.integers(0, 5, 60)
    indices, _ = top_k(S, 7, folds=fold)
    for f in range(5):
        train = np.flatnonzero(fold != f)
        local, _ = top_k(S[np.ix_(fold == f, train)], 7)
        np.testing.assert_array_equal(indices[fold == f], train[local])
    leave_one_out, _ = top_k(S, 59, folds=np.arange(60))
    for i in range(60):
        assert set(leave_one_out[i]) == set(range(60)) - {i}


def test_nothing_known_and_nothing_allowed():
    indices, values = top_k(np.full((2, 3), np.nan), 2)
    assert (indices == -1).all()
    assert np.isnan(values).all()
    assert (top_k(np.ones((3, 3)), 2, folds=np.zeros(3, int))[0] == -1).all()
    assert top_k(np.empty((0, 3)), 2)[0].shape == (0, 2)


def test_threads_do_not_matter(rng):
    S = np.round(rng.random((101, 300)), 2)
    codes = rng.integers(0, 4, 300)
    results = [top_k(S, 20, n_jobs=jobs) for jobs in (1, 2, 4)]
    for indices, values in results[1:]:
        np.testing.assert_array_equal(indices, results[0][0])
        np.testing.assert_array_equal(values, results[0][1])
    winners = [vote_winners(results[0][0], codes, [1, 5, 20], 4, n_jobs=jobs) for jobs in (1, 2, 4)]
    assert all((w == winners[0]).all() for w in winners)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.booleans())
def test_votes_for_all_k_are_the_votes_for_each_k(seed, weighted):
    rng = np.random.default_rng(seed)
    m, n, K, G = 5, 12, 9, rng.integers(1, 6)
    S = rng.integers(0, 4, (m, n)).astype(float)
    S[rng.random((m, n)) < rng.choice([0.0, 0.6, 1.0])] = np.nan
    codes, ks = rng.integers(0, G, n), np.sort(rng.integers(1, K + 4, 5))
    indices, values = top_k(S, K)
    weights = np.nan_to_num(values) if weighted else None
    sums = class_sums(indices, codes, ks, G, weights=weights)
    winners = vote_winners(indices, codes, ks, G, weights=weights)
    assert sums.shape == (len(ks), m, G)
    for t, k in enumerate(ks):
        expected = oracle.class_sums(indices, codes, k, G, weights)
        np.testing.assert_allclose(sums[t], expected, rtol=1e-14)
        np.testing.assert_array_equal(winners[t], expected.argmax(axis=1))


def test_no_neighbors_are_found_at_once():
    """The compiled loop waited for a first value."""
    indices, values = top_k(np.ones((3, 4)), 0)
    assert indices.shape == values.shape == (3, 0)
