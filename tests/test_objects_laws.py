"""Measures on real objects: the laws that each obeys, worked numbers, any strings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import measures as plain
from oracles import objects as oracle
from real_objects import DNA, SKEWED, graphs, point_sets
from sklearn.base import clone

from similis import (
    DTW,
    IRM,
    Alignment,
    Compression,
    Counting,
    Edit,
    Jaccard,
    Lin,
    Overlap,
    Pairwise,
    PyramidMatch,
    ResidualEntropy,
    TfidfCosine,
    TverskyRatio,
    Wasserstein,
    WeisfeilerLehman,
    _kernels,
    load_promoters,
)
from similis.exceptions import ProximityError
from similis.measures import _texts as _compression

pytest.importorskip("rapidfuzz")
pytest.importorskip("parasail")
pytest.importorskip("ot")


NEW_PARTS = {  # training objects, and new ones with parts that no training object has
    "rows": (
        [["a", "b"], ["b", "c"], ["a", "c"]],
        [["q", "b"], ["a", None], ["r", "q"]],
        [["q", "r"], ["a", None], ["s", "q"]],
    ),
    "sets": ([{"a", "b"}, {"b", "c"}, {"c"}], [{"q", "b"}, {"q", "r"}, {"a"}], [{"q", "r"}, {"q", "r"}, {"s"}]),
    "words": (["ab", "bca", "cc"], ["qb", "aqq", "rq"], ["qr", "aqs", "sq"]),
    "texts": (["oak ash", "ash elm"], ["yew ash", "oak yew yew", "fir yew"], ["yew fir", "oak yew", "bay yew"]),
    "graphs": [
        [([(0, 1)], list(names)) for names in some] for some in (["CN", "CO"], ["CP", "SP", "PP"], ["PS", "SP", "OP"])
    ],
}


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        *((measure, "rows") for measure in (Counting(), Counting(missing="mismatch"), Lin(), ResidualEntropy())),
        *(
            (measure, "sets")
            for measure in (Counting(sets=True), Lin(), ResidualEntropy(), TverskyRatio(), Jaccard(), Overlap())
        ),
        *((measure, "words") for measure in (Edit(), Edit(weights=(1, 2, 1.5)), Edit(gaps={"q": 3.0}), Compression())),
        (TfidfCosine(), "texts"),
        (WeisfeilerLehman(), "graphs"),
    ],
    ids=str,
)
def test_pairs_of_new_objects_have_the_values_of_the_matrix(measure, kind):
    train, left, right = NEW_PARTS[kind]
    if kind == "rows":
        train, left, right = (np.array(objects, dtype=object) for objects in (train, left, right))
    expected = np.diagonal(measure.fit(train).matrix(left, right))
    found = measure.pairs(*map(measure.validate_objects, (left, right)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_float32_stays_float32(rng):
    sets = [rng.normal(size=(4, 2)).astype(np.float32) for _ in range(5)]
    for measure in (Wasserstein(), IRM(), PyramidMatch(), DTW()):
        S = measure.fit(sets).matrix(sets)
        assert S.dtype == np.float32
        wide = [s.astype(float) for s in sets]
        np.testing.assert_allclose(S, measure.fit(wide).matrix(wide), rtol=1e-6, atol=1e-6)
        assert measure.matrix(sets, wide).dtype == np.float64


def test_symmetric_measures_are_computed_once_and_asymmetric_ones_both_ways(rng, monkeypatch):
    X = point_sets(rng, 6)
    solved = []

    def solve(M, a, b, starts, out):
        solved.extend(out)
        out.fill(1.0)

    monkeypatch.setattr(_kernels, "transport_costs", solve)
    assert (Wasserstein().matrix(X) == 1).all()
    assert len(solved) == 6 * 7 // 2
    Wasserstein().matrix(X, X[:])  # not known to be the same
    assert len(solved) == 6 * 7 // 2 + 36
    packed = []
    monkeypatch.setitem(_compression._CODECS, "zlib", lambda x: packed.append(x) or x)
    Compression().matrix(["a", "b", "c"])
    assert len(packed) == 3 + 9  # each alone once, and every ordered pair
    assert {b"ab", b"ba"} <= set(packed)


def test_lin_is_the_ratio_model_with_information_as_salience(rng):
    """[cazzanti2007] sec. 2.1: a special case of Tversky's ratio model."""
    bags = [{w for w in "abcdef" if rng.random() < 0.5} | {"z"} for _ in range(12)]
    information = {w: -math.log(sum(w in b for b in bags) / 12) for w in set().union(*bags)}
    expected = TverskyRatio(alpha=0.5, beta=0.5, salience=information).matrix(bags)
    np.testing.assert_allclose(Lin().fit(bags).matrix(bags), expected, atol=1e-14)


def test_binary_rows_are_sets_for_residual_entropy_and_categories_for_lin(rng):
    table = (rng.random((15, 5)) < 0.5).astype(int)
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in table]
    expected = ResidualEntropy().fit(sets).matrix(sets)
    for form in (table, table.astype(bool), table.astype(float), table.tolist()):
        np.testing.assert_array_equal(ResidualEntropy().fit(form).matrix(form), expected)
    named = [[f"v{v}" for v in row] for row in table]
    np.testing.assert_allclose(Lin().fit(table).matrix(table), Lin().fit(named).matrix(named), atol=1e-15)
    numbers = table + 1  # values other than 0 and 1: categories
    assert ResidualEntropy().fit(numbers).matrix(numbers).shape == (15, 15)
    assert not np.allclose(ResidualEntropy().fit(numbers).matrix(numbers), expected)


def test_residual_entropy_by_hand():
    """Four objects once each: nothing in common leaves log 4, all in common leaves 0."""
    X = [frozenset("ab"), frozenset("ac"), frozenset("bc"), frozenset("d")]
    s = ResidualEntropy().fit(X)
    assert s(X[0], X[0]) == pytest.approx(math.log(4))
    assert s(X[0], X[3]) == pytest.approx(-math.log(4) + 0 / 2 + 0 / 2)
    assert s(X[0], X[1]) == pytest.approx(-math.log(2) + math.log(2) / 2 + math.log(2) / 2)
    assert s.domain_ == pytest.approx((-math.log(4), math.log(4)))


def test_residual_entropy_of_numeric_columns_by_intervals(rng):
    """[cazzanti2007] sec. 3.4: mixed columns, each number replaced by its interval of the training values."""
    pd = pytest.importorskip("pandas")
    color, size = rng.choice(["red", "blue"], 31), np.r_[rng.normal(size=30), np.nan]
    count = rng.integers(0, 3, 31)  # no more values than intervals: each is a feature
    X = [list(row) for row in zip(color.tolist(), size.tolist(), count.tolist())]
    ranked = np.sort(size[:30])
    limits = [ranked[7], ranked[15], ranked[22]]

    def features(row):
        interval = None if row[1] != row[1] else sum(row[1] >= limit for limit in limits)
        return frozenset([(0, row[0]), (1, interval), (2, row[2])])

    definition = oracle.residual_entropy([features(row) for row in X])
    new = [["red", -9.0, 1], ["green", float(ranked[15]), 7], ["blue", float("nan"), 0]]
    for table in (X, pd.DataFrame(X)):
        measure = ResidualEntropy(n_bins=4).fit(table)
        assert [edges.tolist() for edges in measure.bin_edges_] == [[], limits, []]
        expected = plain.double_loop(definition, list(map(features, new)), list(map(features, X)))
        np.testing.assert_allclose(measure.matrix(new, X), expected, atol=1e-12)
    with pytest.raises(ProximityError, match=r"fitted on numbers in column 1\. Got 'tall' at row 0"):
        measure.matrix([["red", "tall", 1]], X)
    binary = rng.integers(0, 2, (9, 4))
    np.testing.assert_array_equal(*(ResidualEntropy(n_bins=b).fit(binary).matrix(binary) for b in (None, 3)))


def test_a_hundred_features_are_no_enumeration(rng):
    X = (rng.random((80, 100)) < 0.5).astype(int)
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in X]
    S = ResidualEntropy().fit(X).matrix(X[:6])
    np.testing.assert_allclose(S, plain.double_loop(oracle.residual_entropy(sets), sets[:6], sets[:6]), atol=1e-12)


def test_normalized_edit_is_a_metric():
    X = ["", "a", "ab", "abc", "cab", "bca", "aabb", "b"]
    D = Edit(normalize="metric").matrix(X)
    assert (D[:, :, None] <= D[:, None, :] + D.T[None, :, :].transpose(0, 2, 1) + 1e-12).all()


def test_chance_scores_follow_the_published_law(rng):
    """BLOSUM62 with BLAST's gaps 11/1 has lambda 0.267 on long sequences; short ones give a little more."""
    letters = list("ARNDCQEGHILKMFPSTWYV")
    share = np.array([78, 51, 45, 54, 19, 43, 63, 74, 22, 51, 90, 57, 22, 39, 52, 71, 58, 13, 32, 64], dtype=float)
    X = ["".join(rng.choice(letters, 200, p=share / share.sum())) for _ in range(20)]
    measure = Alignment(gap_open=12, gap_extend=1, score="evalue").fit(X)
    assert measure.lambda_ == pytest.approx(0.267, rel=0.15)
    S, raw = measure.matrix(X), Alignment(gap_open=12).matrix(X)
    E = measure.K_ * 200 * 200 * np.exp(-measure.lambda_ * raw)
    np.testing.assert_allclose(S, -np.log10(E), rtol=1e-10)
    off = S[~np.eye(20, dtype=bool)]
    assert 0.2 < np.mean(off > 0) < 0.9  # unrelated: about one chance hit as good or better is expected
    assert (np.diag(S) > 50).all()
    again = Alignment(gap_open=12, gap_extend=1, score="evalue").fit(X)
    assert (again.lambda_, again.K_) == (measure.lambda_, measure.K_)


def test_long_sequences_do_not_saturate():
    x = "W" * 6000  # scores 11 each: 66,000, beyond 16 bits
    assert Alignment()(x, x) == 66_000
    assert Alignment(mode="global")(x, "") == -11 - 5999


def test_letters_of_either_case():
    X = load_promoters().sequences[:4]
    upper = [x.upper() for x in X]
    np.testing.assert_array_equal(
        Alignment(matrix="dnafull").matrix(X, upper), Alignment(matrix="dnafull").matrix(X, X)
    )
    cased = {a: {b: int(a == b) for b in "aA"} for a in "aA"}
    assert Alignment(matrix=cased, gap_open=1)("aaa", "AAA") == 0


def test_the_parameter_called_matrix_and_the_method_live_together():
    measure = Alignment(matrix="dnafull", gap_open=9)
    assert measure.get_params()["matrix"] == "dnafull"
    assert clone(measure).get_params() == measure.get_params()
    assert measure.set_params(matrix=DNA, gap_open=6).get_params()["matrix"] == DNA
    assert measure.matrix(["acgt"]).tolist() == [[20]]
    step = Pairwise(Alignment()).set_params(measure__matrix="dnafull")
    assert step.fit_transform(["acgt"]).tolist() == [[20]]


def test_transport_laws(rng):
    X = point_sets(rng, 10)
    W, greedy = Wasserstein().matrix(X), IRM().matrix(X)
    assert (W <= greedy + 1e-12).all()
    assert (W[:, :, None] <= W[:, None, :] + W[None, :, :].transpose(0, 2, 1) + 1e-9).all()
    scaled = [(points, 7 * weights) for points, weights in X]
    np.testing.assert_allclose(Wasserstein().matrix(scaled), W, atol=1e-12)
    padded = [(np.vstack([p, p[:1] + 50]), np.append(w, 0.0)) for p, w in X]
    np.testing.assert_allclose(Wasserstein().matrix(padded), W, atol=1e-12)
    shuffled = [(points[::-1], weights[::-1]) for points, weights in X]
    np.testing.assert_allclose(IRM().matrix(shuffled), greedy, atol=1e-12)
    one = [(np.array([[0.0, 0.0]]), [2.0]), (np.array([[3.0, 4.0]]), [1.0])]
    for measure in (Wasserstein(), IRM()):
        assert measure(*one) == 5
        assert type(measure)(metric="cityblock")(*one) == 7
    assert Wasserstein(p=2.0)([[0.0], [1.0]], [[0.0], [3.0]]) == pytest.approx(math.sqrt(2))


def test_greedy_ties_are_broken_the_same_from_both_sides():
    """A grid is full of equal distances; whichever set comes first, and however it is listed, the answer is one."""
    rng = np.random.default_rng(1)
    X = [(rng.integers(0, 3, (k, 2)).astype(float), rng.integers(1, 4, k).astype(float)) for k in (4, 5, 6, 5, 3)]
    measure = IRM()
    for x in X:
        for z in X:
            order = rng.permutation(len(x[0]))
            assert measure(x, z) == measure(z, x) == measure(z, (x[0][order], x[1][order]))


def test_kernels_that_are_positive_semi_definite(rng):
    clouds = [rng.normal(size=(k, 2)) for k in rng.integers(1, 8, 25)]
    assert np.linalg.eigvalsh(PyramidMatch().fit(clouds).matrix(clouds)).min() > -1e-10
    S = WeisfeilerLehman(normalize=True).matrix(graphs(rng, 25))
    assert np.linalg.eigvalsh(S).min() > -1e-10
    np.testing.assert_allclose(np.diag(S), 1.0)


def test_warping_laws(rng):
    X = rng.normal(size=(8, 12))
    np.testing.assert_allclose(DTW(window=0).matrix(X), np.linalg.norm(X[:, None] - X, axis=2), atol=1e-12)
    free, banded = DTW().matrix(X), DTW(window=2).matrix(X)
    assert (free <= banded + 1e-12).all()
    stretched = np.repeat(X, 3, axis=1)
    np.testing.assert_allclose(np.diag(DTW().matrix(X, stretched)), 0.0, atol=1e-12)


def test_graphs_do_not_depend_on_the_numbers_of_their_nodes(rng):
    for edges, labels in graphs(rng, 6):
        order = rng.permutation(len(labels))
        new = np.argsort(order)
        other = ([(int(new[a]), int(new[b]), c) for a, b, c in edges], [labels[k] for k in order])
        measure = WeisfeilerLehman(normalize=True, edge_labels=True)
        assert measure((edges, labels), other) == pytest.approx(1.0)
        as_dict = ([(f"n{a}", f"n{b}", c) for a, b, c in edges], {f"n{i}": label for i, label in enumerate(labels)})
        assert measure((edges, labels), as_dict) == pytest.approx(1.0)


# Any strings.

texts = st.lists(st.text(alphabet="ab\U0001f990é", max_size=6), min_size=1, max_size=5)
weights = st.tuples(*[st.sampled_from([0, 1, 2, 0.5])] * 3)


@settings(deadline=None, max_examples=60)
@given(texts, texts, weights)
def test_any_texts_and_weights(X, Z, w):
    expected = plain.double_loop(lambda x, z: oracle.edit(x, z, w), X, Z)
    np.testing.assert_allclose(Edit(weights=w).matrix(X, Z), expected, atol=1e-12)
    np.testing.assert_allclose(Pairwise(Edit(weights=w)).fit(Z).transform(X), expected, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(alphabet="acgt", max_size=7), min_size=1, max_size=4), st.integers(0, 6), st.integers(0, 6))
def test_any_alignment(X, first, further):
    first = max(first, further)
    for mode in ("local", "global"):
        measure = Alignment(matrix=SKEWED, mode=mode, gap_open=first, gap_extend=further)
        expected = plain.double_loop(
            lambda x, z, m=mode: oracle.alignment(x, z, SKEWED, first, further, local=m == "local"), X, X
        )
        np.testing.assert_array_equal(measure.matrix(X), expected)
