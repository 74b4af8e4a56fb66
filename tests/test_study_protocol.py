"""Splits: random as in the paper, stratified, folds, leave-one-out; groups stay together; nothing depends on order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from similis.study._protocol import DealtFolds, Protocol, deal, deal_groups, given_splits

few = settings(deadline=None, max_examples=60)
labels = st.lists(st.integers(0, 4), min_size=5, max_size=60).map(lambda y: np.unique(y, return_inverse=True)[1])


@few
@given(labels, st.integers(2, 10), st.integers(0, 9))
def test_dealt_folds_are_a_stratified_partition(codes, k, seed):
    fold = deal(codes, min(k, len(codes)), np.random.default_rng(seed))
    sizes = np.bincount(fold)
    assert sizes.max() - sizes.min() <= 1
    for g in np.unique(codes):
        share = np.bincount(fold[codes == g], minlength=len(sizes))
        assert share.max() - share.min() <= 1


@few
@given(labels, st.integers(2, 6))
def test_groups_are_dealt_whole(groups, k):
    fold = deal_groups(groups, k, np.random.default_rng(0))
    for g in np.unique(groups):
        assert len(np.unique(fold[groups == g])) == 1
    assert len(np.unique(fold)) == min(k, len(np.unique(groups)))


@few
@given(labels, st.sampled_from(["random", "stratified", "kfold", "loo"]), st.integers(0, 3))
def test_every_scheme_partitions(codes, scheme, seed):
    protocol = Protocol(scheme, n_splits=10, test_size=0.25, random_state=seed)
    for split in protocol.splits(codes):
        both = np.sort(np.concatenate([split.train, split.test]))
        np.testing.assert_array_equal(both, np.arange(len(codes)))
        assert split.n_train == len(split.train)
        if scheme in ("random", "stratified"):
            assert len(split.test) == max(1, round(0.25 * len(codes)))


def test_stratified_keeps_class_shares():
    codes = np.repeat([0, 1, 2], [50, 30, 5])
    for split in Protocol("stratified", n_splits=30).splits(codes):
        count = np.bincount(codes[split.test], minlength=3)
        np.testing.assert_allclose(count, [10, 6, 1], atol=1)


def test_random_is_plain_and_uniform():
    codes = np.zeros(50, dtype=int)
    times = np.zeros(50)
    for split in Protocol(n_splits=2000).splits(codes):
        times[split.test] += 1
    # Each object is held out in a fifth of the splits: binomial, standard deviation 18.
    assert abs(times - 400).max() < 5 * 18


def test_kfold_tests_each_object_once_a_repetition():
    splits = Protocol("kfold", n_splits=10, test_size=0.2).splits(np.arange(40) % 3)
    for repetition in (splits[:5], splits[5:]):
        np.testing.assert_array_equal(np.sort(np.concatenate([s.test for s in repetition])), np.arange(40))
    assert any(a.test.tolist() != b.test.tolist() for a, b in zip(splits[:5], splits[5:]))


def test_split_depends_on_seed_and_number_alone():
    codes = np.arange(30) % 2
    ten, twenty = (Protocol(n_splits=n, random_state=3).splits(codes) for n in (10, 20))
    for a, b in zip(ten, twenty):
        np.testing.assert_array_equal(a.test, b.test)
    other = Protocol(n_splits=1, random_state=4).splits(codes)[0]
    assert other.test.tolist() != ten[0].test.tolist()
    assert Protocol(n_splits=10).fixed_part() == Protocol(n_splits=20).fixed_part()


@pytest.mark.parametrize("scheme", ["random", "stratified", "kfold", "loo"])
def test_groups_are_never_on_both_sides(scheme, rng):
    groups = np.unique(rng.integers(0, 12, size=70), return_inverse=True)[1]
    codes = rng.integers(0, 2, size=70)
    protocol = Protocol(scheme, n_splits=5)
    for split in protocol.splits(codes, groups):
        assert not set(groups[split.train]) & set(groups[split.test])
        inner = protocol.inner(split.number, grouped=True)
        own = groups[split.train]
        for a, b in inner.split(None, codes[split.train], own):
            assert not set(own[a]) & set(own[b])


def test_inner_folds_for_tiny_classes_and_leave_one_out():
    y = np.array(["a"] * 7 + ["b"] * 2 + ["c"])
    folds = list(DealtFolds(10).split(None, y))
    assert len(folds) == DealtFolds(10).get_n_splits(None, y) == 10
    assert DealtFolds(30).get_n_splits(None, y) == 10
    assert Protocol(cv="loo").inner_train_size(50) == 49
    assert Protocol(cv=10).inner_train_size(50) == 45
    assert Protocol(cv=10).inner_train_size(4) == 3
    grouped = Protocol(cv="loo").inner(0, grouped=True)
    assert len(list(grouped.split(None, y, np.arange(10) // 2))) == 5


def test_given_splits_are_checked():
    mask = np.arange(6) < 4
    (split,) = given_splits([(mask, ~mask)], 6)
    assert split.test.tolist() == [4, 5]
    assert split.train.tolist() == [0, 1, 2, 3]
    bad_ones = (([([0, 1], [1])], "both"), ([([0], [6])], "0 to 5"), ([([0], [])], "at least one"), ([], "pair"))
    for bad, words in bad_ones:
        with pytest.raises(ValueError, match=words):
            given_splits(bad, 6)
