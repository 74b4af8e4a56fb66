"""Measures on sets: laws of Tversky's models, empty sets, weights, and every form a set may come in."""

from collections import defaultdict
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import measures as oracle
from scipy import sparse

from similis import Counting, Dice, Jaccard, Overlap, TverskyContrast, TverskyRatio
from similis.measures import _sets

WORDS = {word: 1 + k / 7 for k, word in enumerate("abcdefgh")}
bags = st.lists(st.frozensets(st.sampled_from(["a", "b", 1, 2.5, None, ("t", 1)]), max_size=6), min_size=1, max_size=6)


def sets(rng, n, words="abcdefgh"):
    return [{w for w in words if rng.random() < 0.4} for _ in range(n)]


def test_named_ratios_are_cases_of_the_models(rng):
    bags = [*sets(rng, 12), set(), set()]
    np.testing.assert_array_equal(TverskyRatio(alpha=1, beta=1).matrix(bags), Jaccard().matrix(bags))
    np.testing.assert_array_equal(TverskyRatio().matrix(bags), Dice().matrix(bags))
    ones = {word: 1.0 for word in WORDS}
    np.testing.assert_allclose(TverskyRatio(salience=ones).matrix(bags), Dice().matrix(bags), rtol=1e-15)
    binary = np.array([[word in bag for word in WORDS] for bag in bags])
    np.testing.assert_array_equal(  # [cazzanti2007] sec. 2.1: counting is the contrast model with alpha = beta = 0
        TverskyContrast(alpha=0, beta=0).matrix(binary), binary.astype(float) @ binary.T
    )
    # Hamming similarity: agreements on presence and on absence.
    both = TverskyContrast(alpha=0, beta=0).matrix(binary) + TverskyContrast(alpha=0, beta=0).matrix(~binary)
    np.testing.assert_array_equal(Counting().matrix(binary), both)


def test_the_contrast_model_stays_in_its_domain(rng):
    binary = rng.random((20, 6)) < 0.5
    binary = np.vstack([binary, np.zeros(6, dtype=bool), np.ones(6, dtype=bool)])
    for alpha, beta, weights in ((0.5, 0.5, None), (2.0, 0.1, None), (0.3, 1.0, rng.random(6))):
        s = TverskyContrast(alpha=alpha, beta=beta, salience=weights).fit(binary)
        S = s.matrix(binary)
        low, high = s.domain_
        assert S.min() == pytest.approx(low)
        assert S.max() == pytest.approx(high)


def test_asymmetry_is_kept():
    x, z = {"a", "b", "c"}, {"a"}
    s = TverskyRatio(alpha=1, beta=0)
    assert (s(x, z), s(z, x)) == (1 / 3, 1.0)
    S = s.matrix([x, z])
    assert S.tolist() == [[1, 1 / 3], [1, 1]]


def test_empty_sets():
    for measure, one in ((Jaccard(), 0), (Dice(), 0), (Overlap(), 0), (TverskyRatio(alpha=0, beta=0), 0)):
        assert measure.matrix([set(), {"a"}, set()]).tolist() == [[1, one, 1], [one, 1, one], [1, one, 1]]
    assert TverskyContrast().matrix([set(), {"a"}]).tolist() == [[0, -0.5], [-0.5, 1]]
    assert TverskyRatio(salience={"a": 0.0, "b": 1.0})({"a"}, set()) == 1.0
    empty = np.zeros((2, 3), dtype=bool)
    assert Jaccard().matrix(empty).tolist() == [[1, 1], [1, 1]]
    assert Jaccard(packed=True).matrix(np.zeros((2, 3), dtype=np.uint8)).tolist() == [[1, 1], [1, 1]]


def test_sets_come_in_many_forms(rng, monkeypatch):
    bags = sets(rng, 15)
    binary = np.array([[word in bag for word in WORDS] for bag in bags])
    for measure in (Jaccard(), Dice(), Overlap(), TverskyContrast(alpha=0.2), TverskyRatio(beta=0.1)):
        expected = measure.matrix(bags)
        for form in (
            [frozenset(bag) for bag in bags],
            [sorted(bag) for bag in bags],
            np.array([frozenset(bag) for bag in bags], dtype=object),
            binary,
            binary.astype(int),
            binary.astype(np.float32),
            list(binary),
            sparse.csr_array(binary),
            sparse.coo_array(binary.astype(float)),
        ):
            np.testing.assert_array_equal(measure.matrix(form), expected)
    packed = np.packbits(binary, axis=1)
    words = np.ascontiguousarray(np.pad(packed, ((0, 0), (0, 7)))).view(np.uint64)
    for form in (packed, words):
        np.testing.assert_array_equal(Jaccard(packed=True).matrix(form), Jaccard().matrix(bags))
        np.testing.assert_array_equal(Jaccard(packed=True).fit(form).matrix(form[:2], form), Jaccard().matrix(bags)[:2])
    for name, value in (("SPARSE", 0), ("DENSE", 0)):  # the sparse products, through a dense side and without
        monkeypatch.setattr(_sets, name, value)
        for form in (bags, binary, sparse.csr_array(binary)):
            np.testing.assert_array_equal(Jaccard().matrix(form), Jaccard(packed=True).matrix(packed))


def test_many_rare_tokens_take_the_sparse_path(rng):
    bags = [{int(t) for t in rng.integers(0, 10**6, 30)} | {-1} for _ in range(600)]
    features = _sets._Features.of([bags], None)
    assert not features.bits
    expected = oracle.double_loop(oracle.jaccard, bags[:9], bags)
    np.testing.assert_allclose(Jaccard().matrix(bags[:9], bags), expected, rtol=1e-15)


def test_weights_of_binary_rows_and_defaults(rng):
    binary = rng.random((8, 5)) < 0.5
    weights = rng.random(5)
    bags = [set(np.flatnonzero(row).tolist()) for row in binary]
    for measure, definition in ((TverskyRatio, oracle.ratio), (TverskyContrast, oracle.contrast)):
        S = measure(salience=weights).matrix(binary)
        named = {k: w for k, w in enumerate(weights)}
        np.testing.assert_allclose(S, oracle.double_loop(partial(definition, weights=named), bags, bags))
        np.testing.assert_allclose(measure(salience=named).matrix(bags), S)
        np.testing.assert_allclose(measure(salience=named).matrix(binary), S)
    rare = defaultdict(lambda: 2.0, a=1.0)
    assert TverskyRatio(salience=rare)({"a", "new"}, {"a"}) == pytest.approx(1 / 2)


@settings(deadline=None, max_examples=60)
@given(bags, bags, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.0, 0.5, 2.0]))
def test_any_sets(X, Z, alpha, beta):
    for measure, definition in (
        (Jaccard(), oracle.jaccard),
        (Dice(), oracle.dice),
        (Overlap(), oracle.overlap),
        (TverskyContrast(alpha=alpha, beta=beta), lambda x, z: oracle.contrast(x, z, alpha, beta)),
        (TverskyRatio(alpha=alpha, beta=beta), lambda x, z: oracle.ratio(x, z, alpha, beta)),
    ):
        expected = oracle.double_loop(definition, X, Z)
        np.testing.assert_allclose(measure.matrix(X, Z), expected, rtol=1e-12, atol=1e-12)
        fitted = measure.fit(Z)
        A, B = fitted.encode(fitted.validate_objects(X)), fitted.encode(fitted.validate_objects(Z))
        np.testing.assert_allclose(fitted.block(A, B), expected, rtol=1e-12, atol=1e-12)
