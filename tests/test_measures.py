"""Every measure against its definition; what it says about itself is true; no pair is special."""

import math
import os
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import measures as oracle
from scipy.spatial.distance import cdist

from similis import (
    HVDM,
    RBF,
    VDM,
    Chebyshev,
    Cosine,
    Counting,
    Dice,
    FromFunction,
    FromMatrix,
    Jaccard,
    Measure,
    Minkowski,
    Overlap,
    Polynomial,
    Sigmoid,
    TverskyContrast,
    TverskyRatio,
    load_votes,
)

VALUES = ["y", "n", "?", None, math.nan, 1, 2.5, "1"]
WORDS = {word: 1 + k / 7 for k, word in enumerate("abcdefgh")}


def table(rng, n, d, values=("y", "n", "?")):
    return [[values[k] for k in rng.integers(0, len(values), d)] for _ in range(n)]


def sets(rng, n, words="abcdefgh"):
    return [{w for w in words if rng.random() < 0.4} for _ in range(n)]


def mixed(rng, n):
    return [[("red", "blue")[rng.integers(2)], float(rng.normal()), "uvw"[rng.integers(3)]] for _ in range(n)]


def cases(rng):
    """(measure, its definition, objects, labels) for every measure."""
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1, 0, 1])
    rows, bags, vectors, mixture = table(rng, 10, 6), sets(rng, 10), rng.normal(size=(10, 5)), mixed(rng, 10)
    S = rng.normal(size=(10, 10))
    yield Counting(), oracle.counting, rows, None
    for options in ({}, {"q": 1.0, "unseen": "prior"}, {"q": 3.5, "smoothing": 1.0}):
        yield VDM(**options), oracle.vdm(rows, y, **options), rows, y
    yield HVDM(), oracle.hvdm(mixture, y, [True, False, True]), mixture, y
    for alpha, beta in ((0.5, 0.5), (1.0, 0.2), (0.0, 0.0)):
        for weights in (None, WORDS):
            options = {"alpha": alpha, "beta": beta}
            for measure, definition in ((TverskyContrast, oracle.contrast), (TverskyRatio, oracle.ratio)):
                yield (
                    measure(**options, salience=weights),
                    lambda x, z, f=definition, o=options, w=weights: f(x, z, **o, weights=w),
                    bags,
                    None,
                )
    yield from ((Jaccard(), oracle.jaccard, bags, None), (Dice(), oracle.dice, bags, None))
    yield Overlap(), oracle.overlap, bags, None
    yield RBF(gamma=0.3), lambda x, z: oracle.rbf(x, z, 0.3), vectors, None
    for options in ({}, {"degree": 3, "coef0": 1.0}, {"degree": 4, "lift": 2.0}, {"coef0": 0.5, "lift": 0.0}):
        options = {"degree": 2, **options}
        yield Polynomial(**options), lambda x, z, o=options: oracle.polynomial(x, z, **o), vectors, None
    yield Sigmoid(gamma=0.3, coef0=-0.5), lambda x, z: oracle.sigmoid(x, z, 0.3, -0.5), vectors, None
    yield Cosine(), oracle.cosine, vectors, None
    for p in (0.3, 0.5, 1.0, 1.7, 2.0, 5.0):
        yield Minkowski(p=p), lambda x, z, p=p: oracle.minkowski(x, z, p), vectors, None
    yield Chebyshev(), lambda x, z: oracle.minkowski(x, z, math.inf), vectors, None
    yield FromFunction(lambda x, z: x[0] - z[1]), lambda x, z: x[0] - z[1], vectors, None
    yield FromMatrix(S), lambda i, j: S[i, j], np.arange(10), None


CASES = list(cases(np.random.default_rng(0)))


@pytest.fixture(params=CASES, ids=[f"{type(case[0]).__name__}-{i}" for i, case in enumerate(CASES)])
def case(request):
    measure, definition, objects, y = request.param
    return measure.fit(objects, y), definition, objects


def test_matrix_scalar_and_definition_agree(case):
    measure, definition, objects = case
    S = measure.matrix(objects)
    np.testing.assert_allclose(S, oracle.double_loop(definition, objects, objects), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(oracle.double_loop(measure, objects, objects), S, rtol=1e-14, atol=1e-14)
    left, right = objects[:3], objects[2:]
    np.testing.assert_allclose(measure.matrix(left, right), S[:3, 2:], rtol=1e-14, atol=1e-14)
    assert isinstance(measure(objects[0], objects[1]), float)


def test_what_a_measure_says_of_itself_is_true(case):
    measure, _, objects = case
    S = measure.matrix(objects)
    if measure.symmetric:
        np.testing.assert_array_equal(S, S.T)
    else:
        assert not np.array_equal(S, S.T)
    if isinstance(measure.domain_, np.ndarray):
        assert np.isin(S, measure.domain_).all()
    elif measure.domain_ is not None:
        low, high = measure.domain_
        assert low <= S.min()
        assert S.max() <= high
    known = not isinstance(measure, (FromFunction, FromMatrix, Polynomial, Sigmoid))
    if known:  # an object is most like itself, and least different
        diagonal = np.diag(S)[:, None]
        assert (S <= diagonal + 1e-12).all() if measure.kind == "similarity" else (S >= diagonal).all()
        assert measure.kind == "similarity" or not np.diag(S).any()


def test_threads_and_processes_change_nothing(case):
    measure, _, objects = case
    if isinstance(measure, FromFunction):
        pytest.skip("processes are a slow test of their own")
    np.testing.assert_array_equal(measure.matrix(objects, n_jobs=2), measure.matrix(objects))


class SharedPrefix(Measure):
    def __call__(self, x, z):
        return next((i for i, (a, b) in enumerate(zip(x, z)) if a != b), min(len(x), len(z)))


class Linear(Measure):
    def compare(self, A, B):
        return A @ B.T


def test_a_measure_of_ones_own_needs_one_method(rng):
    words = ["spam", "spot", "eggs", "egg", "spa", ""]
    S = SharedPrefix().matrix(words)
    assert S.tolist() == [[SharedPrefix()(x, z) for z in words] for x in words]
    with joblib.parallel_config(backend="threading"):
        np.testing.assert_array_equal(SharedPrefix().matrix(words, n_jobs=2), S)
    X = rng.normal(size=(600, 3))
    np.testing.assert_allclose(Linear().matrix(X), X @ X.T, atol=1e-12)
    np.testing.assert_array_equal(Linear().matrix(X), Linear().matrix(X).T)
    assert Linear()(X[0], X[1]) == pytest.approx(X[0] @ X[1])
    with pytest.raises(NotImplementedError, match="must define"):
        Measure()([1], [2])


@pytest.mark.slow
def test_python_calls_spread_over_processes():
    words = ["spam", "spot", "eggs", "egg", "spa", ""] * 5
    longer = FromFunction(lambda x, z: len(x) - len(z))
    np.testing.assert_array_equal(longer.matrix(words, n_jobs=2), longer.matrix(words))


# Kernels on sizes that leave no tile whole: rows of 64, columns of 512, bytes of 255 features.


@pytest.mark.parametrize("n", [1, 63, 65, 600])
def test_tiles_of_every_shape(n, rng):
    X, Z = rng.normal(size=(n, 7)), rng.normal(size=(n // 2 + 1, 7))
    for p, name in ((2.0, "euclidean"), (1.0, "cityblock"), (0.5, "minkowski"), (math.inf, "chebyshev")):
        options = {"p": p} if name == "minkowski" else {}
        measure = Chebyshev() if p == math.inf else Minkowski(p=p)
        np.testing.assert_allclose(measure.matrix(X), cdist(X, X, name, **options), rtol=1e-12)
        np.testing.assert_allclose(measure.matrix(Z, X), cdist(Z, X, name, **options), rtol=1e-12)
    codes = rng.integers(0, 3, (n, 40))
    np.testing.assert_array_equal(Counting().matrix(codes), (codes[:, None] == codes).sum(-1))
    y = rng.integers(0, 2, n)
    tables = VDM().fit(codes, y)
    half, whole = tables.matrix(codes), tables.matrix(codes, codes)
    np.testing.assert_array_equal(half, whole)
    np.testing.assert_array_equal(half, half.T)
    bits = rng.random((n, 700)) < 0.2
    common = bits.astype(float) @ bits.T
    np.testing.assert_array_equal(TverskyContrast(alpha=0, beta=0).matrix(bits), common)


@pytest.mark.parametrize("d", [254, 255, 256, 511, 800])
def test_counters_do_not_overflow(d):
    X = np.zeros((3, d), dtype=int)
    X[1] = 1
    np.testing.assert_array_equal(Counting().matrix(X), [[d, 0, d], [0, d, 0], [d, 0, d]])


def test_many_values_need_wider_codes(rng):
    for n_values in (254, 255, 256, 1000, 70000):
        X = np.stack([np.arange(n_values), rng.permutation(n_values)], axis=1)
        measure = Counting().fit(X)
        new = np.array([[0, X[5, 1]], [n_values, -1], [n_values - 1, X[5, 1] + 0.5]], dtype=object)
        expected = (np.asarray(new)[:, None] == X[:10].astype(object)).sum(-1)
        np.testing.assert_array_equal(measure.matrix(new, X[:10]), expected)
        A, B = measure.encode(measure.validate_objects(new)), measure.encode(X[:10])
        np.testing.assert_array_equal(measure.block(A, B), expected)


def test_value_differences_of_many_values(rng):
    """Columns with more kinds of values than a byte holds, grouped with columns that have few."""
    n = 900
    y = rng.integers(0, 40, n)
    X = np.stack([rng.integers(0, 2, n), rng.integers(0, 300, n), rng.integers(0, 3, n)], axis=1)
    measure = VDM().fit(X, y)
    some = X[:5].tolist()
    np.testing.assert_allclose(
        measure.matrix(some), oracle.double_loop(oracle.vdm(X.tolist(), y.tolist()), some, some), atol=1e-12
    )
    assert measure._tables.widths.max() > 256


def test_exact_zero_and_no_lost_digits(rng):
    X = rng.normal(size=(50, 8)) + 1e8
    X = np.vstack([X, X])
    D = Minkowski().matrix(X)
    assert (np.diag(D[:50, 50:]) == 0).all()
    np.testing.assert_allclose(D, cdist(X, X), rtol=1e-12)
    np.testing.assert_allclose(RBF().matrix(X), np.exp(-(cdist(X, X) ** 2)), rtol=1e-9)
    codes, y = rng.integers(0, 3, (60, 30)), rng.integers(0, 3, 60)
    D = VDM().fit(codes, y).matrix(np.vstack([codes, codes]))
    assert (np.diag(D[:60, 60:]) == 0).all()


def test_float32_stays_float32(rng):
    X = rng.normal(size=(20, 4)).astype(np.float32)
    for measure in (RBF(), Minkowski(), Chebyshev(), Cosine(), Polynomial()):
        S = measure.matrix(X)
        assert S.dtype == np.float32
        np.testing.assert_allclose(S, measure.matrix(X.astype(float)), rtol=1e-4, atol=1e-5)
        assert measure.matrix(X, X.astype(float)).dtype == np.float64


# Laws.


def test_unseen_values_and_tokens():
    """New against training and new against new agree with the definition, fitted or not."""
    counting = Counting().fit([["a", 1], ["b", 2]])
    assert counting.matrix([["c", 1]], [["c", 3], ["a", 1]]).tolist() == [[1, 1]]
    assert counting.domain_.tolist() == [0, 1, 2]
    jaccard = Jaccard().fit([{"a"}, {"b"}])
    assert jaccard.matrix([{"x", "a"}], [{"x"}, {"a"}]).tolist() == [[0.5, 0.5]]
    X, y = [["a"], ["a"], ["b"]], [0, 1, 1]
    zero, prior = VDM().fit(X, y), VDM(unseen="prior").fit(X, y)
    assert zero(["new"], ["b"]) == 0
    assert prior(["new"], ["b"]) == pytest.approx(2 * (1 / 3) ** 2)
    assert prior(["new"], ["other"]) == 0


def test_vdm_as_a_similarity(rng):
    X, y = table(rng, 30, 5), rng.integers(0, 2, 30)
    d, s = VDM().fit(X, y), VDM(similarity=True).fit(X, y)
    D = d.matrix(X)
    np.testing.assert_allclose(s.matrix(X), 1 - D / D.max(), atol=1e-15)  # [chen2010] p. 35
    assert s.max_ == D.max()
    assert (s.kind, d.kind) == ("similarity", "dissimilarity")
    assert s.matrix(X).min() == 0
    alike = VDM(similarity=True).fit([["a"], ["a"]], [0, 1])
    assert alike.matrix([["a"]]).tolist() == [[1.0]]


def test_vdm_of_the_votes_is_the_published_matrix():
    """[chen2010] p. 35: the matrix of the papers' web page, but for five rows that nobody can explain."""
    folder = os.environ.get("SIMILIS_DATA")
    path = Path(folder or ".", "voting_vdm_uw", "voting_vdm_uw.npz")
    if folder is None or not path.exists():
        pytest.skip("SIMILIS_DATA does not hold voting_vdm_uw")
    published = np.load(path)["S"]
    votes = load_votes()
    S = VDM(similarity=True).fit(votes.data, votes.target).matrix(votes.data)
    rows = np.setdiff1d(np.arange(435), [113, 393, 408, 409, 433])
    assert np.abs(S - published)[np.ix_(rows, rows)].max() < 0.0125


def test_vdm_of_two_classes_is_twice_one_class(rng):
    """[cazzanti2007] Eq. (2.3) is printed for one class g; the classes mirror each other."""
    X, y = rng.integers(0, 3, (40, 4)), rng.integers(0, 2, 40)
    P = np.array([[y[X[:, k] == v].mean() for v in range(3)] for k in range(4)])
    features = P[np.arange(4), X]
    np.testing.assert_allclose(VDM().fit(X, y).matrix(X), 2 * cdist(features, features, "sqeuclidean"), atol=1e-13)


def test_one_class_is_no_difference(rng):
    X = table(rng, 6, 3)
    assert not VDM().fit(X, ["a"] * 6).matrix(X).any()
    assert not HVDM().fit(X, ["a"] * 6).matrix(X).any()


def test_hvdm_missing_numbers_and_constant_columns(rng):
    rows = mixed(rng, 12)
    for row, i in zip(rows[::3], (1, 1, 0, 1)):
        row[i] = math.nan if i else None
    rows = [[*row, 7.0, None] for row in rows]
    y = [0, 1] * 6
    d = oracle.hvdm(rows, y, [True, False, True, False, False])
    measure = HVDM(categorical=[0, 2]).fit(rows, y)
    D = measure.matrix(rows)
    np.testing.assert_allclose(D, oracle.double_loop(d, rows, rows), atol=1e-12)
    np.testing.assert_array_equal(D, D.T)
    assert not np.diag(D).any()
    new = [["green", 5.0, "u", 8.0, 1.0], ["red", None, None, None, None]]
    np.testing.assert_allclose(measure.matrix(new, rows), oracle.double_loop(d, new, rows), atol=1e-12)


def test_hvdm_without_one_of_its_halves(rng):
    X, y = rng.normal(size=(10, 3)), [0, 1] * 5
    scaled = X / (4 * X.std(axis=0))
    np.testing.assert_allclose(HVDM().fit(X).matrix(X), cdist(scaled, scaled), atol=1e-12)
    rows = table(rng, 10, 3)
    np.testing.assert_allclose(HVDM().fit(rows, y).matrix(rows) ** 2, VDM().fit(rows, y).matrix(rows), atol=1e-14)


def test_non_metric_below_one():
    d = Minkowski(p=0.5)
    a, b, c = [0, 0], [1, 0], [1, 1]
    assert d(a, c) == pytest.approx(4.0)
    assert d(a, c) > d(a, b) + d(b, c)


# Any table.

cells = st.sampled_from(VALUES)
tables = st.integers(1, 5).flatmap(lambda d: st.lists(st.lists(cells, min_size=d, max_size=d), min_size=1, max_size=7))


@settings(deadline=None, max_examples=60)
@given(tables, st.data())
def test_any_categorical_table(X, data):
    y = data.draw(st.lists(st.sampled_from(["p", "q", "r"]), min_size=len(X), max_size=len(X)))
    Z = data.draw(st.lists(st.lists(cells, min_size=len(X[0]), max_size=len(X[0])), min_size=1, max_size=4))
    np.testing.assert_array_equal(Counting().matrix(X, Z), oracle.double_loop(oracle.counting, X, Z))
    np.testing.assert_array_equal(
        Counting(missing="mismatch").matrix(X, Z),
        oracle.double_loop(lambda x, z: oracle.counting(x, z, missing_matches=False), X, Z),
    )
    options = {
        "q": data.draw(st.sampled_from([0.5, 1.0, 2.0])),
        "smoothing": data.draw(st.sampled_from([0.0, 1.0])),
        "unseen": data.draw(st.sampled_from(["zero", "prior"])),
    }
    vdm, definition = VDM(**options).fit(X, y), oracle.vdm(X, y, **options)
    np.testing.assert_allclose(vdm.matrix(X, Z), oracle.double_loop(definition, X, Z), atol=1e-12)
    assert vdm.matrix(X, Z).max() <= vdm.domain_[1] + 1e-12
    np.testing.assert_array_equal(vdm.matrix(X), vdm.matrix(X, X))
