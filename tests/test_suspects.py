"""Suspicious entries: nothing in clean matrices of many sorts, most of what damages them, whatever the scale."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from oracles import suspects as oracle
from oracles.damage import CLEAN, DAMAGE

from similis import _kernels
from similis.proximity import Suspects, suspects
from similis.proximity import _suspects as rule

QUICK = (
    "euclidean, 5 dimensions",
    "squared euclidean, tight classes",
    "three outlying objects",
    "twins",
    "votes, counting",
    "votes, squared value differences",
    "RBF, narrow",
    "noise 30 %",
    "judged, 9 steps",
    "families",
    "sparse links",
)


def _distances(rng, n=70, dims=3):
    x = rng.normal(size=(n, dims)) + 4 * rng.integers(3, size=n)[:, None]
    return np.linalg.norm(x[:, None] - x[None], axis=2)


def _scores(found, mask):
    hits = mask[tuple(found.pairs.T)].sum()
    return hits / max(len(found), 1), hits / (mask.sum() / 2)


def _load(name):
    folder = os.environ.get("SIMILIS_DATA")
    path = Path(folder or "", name, f"{name}.npz")
    if not folder or not path.exists():
        pytest.skip(f"{name} is benchmark data: set SIMILIS_DATA to the folder that holds it")
    return np.load(path)


# The loops


@pytest.mark.parametrize(("turns", "bounds", "additive"), [(4, 4, False), (4, 2, True), (2, 4, True)])
def test_kernels_against_plain_loops(rng, turns, bounds, additive):
    n = 14
    T = _distances(rng, n)
    np.fill_diagonal(T, np.nan)
    T[2, 5] = T[5, 2] = np.nan
    witnesses, rows = np.arange(1, n, 2), np.arange(n)
    R = np.full((n, n), np.inf)
    _kernels.row_differences(np.ascontiguousarray(T[:, witnesses]), 2.0, rows, R)
    np.testing.assert_allclose(R, oracle.row_differences(T, witnesses, 2.0), rtol=1e-12)
    N = np.stack([rng.permutation(np.delete(rows, i))[:4] for i in rows])
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    found = np.empty((4, len(pairs)))
    _kernels.expected_from_neighbors(T, N, turns, additive, rows, found[0], found[1])
    _kernels.pair_spreads(T, N, turns, bounds, additive, pairs, found[1], found[2], found[3])
    np.testing.assert_allclose(found, oracle.expected_from_neighbors(T, N, turns, bounds, additive), rtol=1e-12)


# Clean matrices


@pytest.mark.parametrize("name", QUICK)
def test_clean_matrices_are_left_alone(name, rng):
    assert len(suspects(CLEAN[name](rng, 70), "dissimilarity")) == 0


WEAK = {"tree": 2e-3, "clipped above": 5e-3}  # what the guide says of branches and of scales that end


@pytest.mark.slow
@pytest.mark.parametrize("name", CLEAN)
def test_clean_matrices_of_many_sizes(name):
    flagged, pairs = 0, 0
    for n in (40, 100, 180):
        for seed in range(5):
            found = suspects(CLEAN[name](np.random.default_rng(seed), n), "dissimilarity")
            flagged, pairs = flagged + len(found), pairs + found.n_pairs
    assert flagged <= WEAK.get(name, 1e-3) * pairs


# Damage


@pytest.mark.parametrize("damage", ["lost digit, 3 %", "factor 10, 1 %"])
@pytest.mark.parametrize("name", ["families", "squared euclidean, tight classes"])
def test_gross_damage_is_found(name, damage, rng):
    clean = CLEAN[name](rng, 110)
    D, mask = DAMAGE[damage](clean, rng)
    found = suspects(D, "dissimilarity")
    assert _scores(found, mask)[0] >= 0.9
    gross = mask & (np.abs(D - clean) > rule.spread(clean[np.triu_indices(110, 1)]))  # less is within the scatter
    assert gross.sum() >= 0.6 * mask.sum()
    assert _scores(found, gross)[1] >= 0.85


def test_one_wrong_entry_is_found_and_what_it_should_be(rng):
    D = _distances(rng)
    D[8, 30] = D[30, 8] = D[8, 30] + 15
    found = suspects(D, "dissimilarity")
    np.testing.assert_array_equal(found.pairs, [[8, 30]])
    assert found.values[0] == D[8, 30]
    assert found.expected[0] == pytest.approx(D[8, 30] - 15, abs=1.0)
    assert found.scores[0] > 5


def _ordinal(rng, n=60, levels=5):
    D = _distances(rng, n)
    D = np.floor((levels - 1e-9) * D / D.max())
    np.fill_diagonal(D, 0)
    return D


def _multiply(D, rng, n_pairs=10):
    i, j = np.triu_indices(len(D), 1)
    hit = rng.choice(np.flatnonzero(D[i, j] > 0), n_pairs, replace=False)
    mask = np.zeros(D.shape, dtype=bool)
    mask[i[hit], j[hit]] = mask[j[hit], i[hit]] = True
    return np.where(mask, 10 * D, D), mask


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kind", ["dissimilarity", "similarity"])
@pytest.mark.parametrize("n_pairs", [1, 10, 40])
def test_values_beyond_all_others_are_found(rng, kind, n_pairs):
    """Ordinal proximities from 0 to 4, some multiplied by ten."""
    D = _ordinal(rng)
    A = D if kind == "dissimilarity" else 4 - D
    assert len(suspects(A, kind)) == 0
    A, mask = _multiply(A, rng, n_pairs)
    found = suspects(A, kind)
    np.testing.assert_array_equal(found.mask(60), mask)
    assert (found.values >= 10).all()
    assert ((0 <= found.expected) & (found.expected <= 4)).all()
    assert (found.scores > rule.CUT).all()
    assert {tuple(pair) for pair in suspects(3 * A + 1, kind).pairs} == {tuple(pair) for pair in found.pairs}


def test_heavy_tails_are_not_outside(rng):
    """Independent values: nothing but their distribution tells which are too large."""
    i, j = np.triu_indices(50, 1)
    alarms = 0
    for draw in (
        rng.exponential,
        rng.lognormal,
        lambda size: rng.lognormal(0, 2, size),
        lambda size: rng.pareto(2, size),
    ):
        for _ in range(50):
            for sign in (1, -1):
                alarms += rule._far_outside(sign * draw(size=len(i)), i, j, np.full(50, np.nan)).any()
    assert alarms <= 1


def test_an_object_far_from_all_others_is_not_outside(rng):
    x = np.r_[rng.normal(size=(58, 3)), [[900.0, 0, 0], [0, 700, 0]]]
    assert len(suspects(np.linalg.norm(x[:, None] - x[None], axis=2), "dissimilarity")) == 0


# Laws


def test_unit_offset_and_direction_do_not_matter(rng):
    D, _ = DAMAGE["factor 10, 1 %"](_distances(rng), rng)
    pairs = {tuple(p) for p in suspects(D, "dissimilarity").pairs}
    assert pairs
    assert {tuple(p) for p in suspects(1000 * D, "dissimilarity").pairs} == pairs
    assert {tuple(p) for p in suspects(D.max() - D).pairs} == pairs


def test_names_of_the_objects_do_not_matter(rng):
    D, _ = DAMAGE["factor 10, 1 %"](_distances(rng), rng)
    order = rng.permutation(len(D))
    there = suspects(D, "dissimilarity").mask(len(D))[np.ix_(order, order)]
    np.testing.assert_array_equal(suspects(D[np.ix_(order, order)], "dissimilarity").mask(len(D)), there)


def test_the_same_every_time(rng):
    D, _ = DAMAGE["swapped entries, 1 %"](_distances(rng), rng)
    a, b = suspects(D, "dissimilarity"), suspects(D, "dissimilarity")
    np.testing.assert_array_equal(a.pairs, b.pairs)
    np.testing.assert_array_equal(a.expected, b.expected)


# Corners


def test_unknown_entries_are_not_judged(rng):
    D = _distances(rng)
    D[1, 2] = D[2, 1] = np.nan
    D[3, 4] = np.nan  # known in the other direction
    D[8, 30] = D[30, 8] = 40.0
    found = suspects(D, "dissimilarity")
    np.testing.assert_array_equal(found.pairs, [[8, 30]])
    assert found.n_pairs == 70 * 69 // 2 - 1


@pytest.mark.parametrize("S", [np.zeros((1, 1)), np.eye(5), np.ones((40, 40)), np.full((40, 40), np.nan), np.eye(40)])
def test_where_nothing_can_be_said_it_is_said(S, recwarn):
    found = suspects(S)
    assert len(found) == 0
    assert found.skipped
    assert "not checked" in found.summary()
    assert not recwarn


def test_large_matrices_are_sampled(monkeypatch, rng):
    monkeypatch.setattr("similis.proximity._suspects.MAX_OBJECTS", 50)
    found = suspects(_distances(rng), "dissimilarity")
    assert (found.n_objects, found.n_pairs) == (50, 50 * 49 // 2)


def test_names_and_mask(rng):
    D = _distances(rng)
    D[8, 30] = D[30, 8] = 40.0
    found = suspects(D, "dissimilarity", ids=[f"object {i}" for i in range(70)])
    assert isinstance(found, Suspects)
    assert found.ids == (("object 8", "object 30"),)
    assert "'object 8' and 'object 30', has 40" in str(found)
    mask = found.mask(70)
    assert mask[8, 30]
    assert mask.sum() == 2


def test_bad_input_is_named(rng):
    with pytest.raises(ValueError, match="one name per object"):
        suspects(_distances(rng), "dissimilarity", ids=["a"])
    with pytest.raises(ValueError, match="kind"):
        suspects(np.eye(40), kind="distance")
    with pytest.raises(ValueError, match="square"):
        suspects(np.ones((40, 30)))


# The benchmark matrices, which no constant was chosen on


@pytest.mark.slow
def test_the_damaged_protein_matrix():
    data = _load("protein_uw")
    mask = data["lost_ten_mask"].astype(bool)
    precision, recall = _scores(suspects(data["S"]), mask | mask.T)
    assert precision >= 0.9
    assert recall >= 0.9


LARGE = ("protein", "voting_vdm_uw", "chicken_pieces_20_60")
CLEAN_MATRICES = ["protein, 213", "aural_sonar", *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)]


@pytest.mark.parametrize("name", CLEAN_MATRICES)
def test_clean_benchmark_matrices(name):
    data = _load(name.split(",")[0])
    kind = "similarity" if "S" in data else "dissimilarity"
    A = data["S" if "S" in data else "D"]
    if "213" in name:
        keep = np.arange(len(A))[data["keep213"]]
        A = A[np.ix_(keep, keep)]
    found = suspects((A + A.T) / 2, kind)
    assert len(found) == 0
    assert not found.skipped


def test_matrix_whose_bulk_is_one_value():
    """Two classes so far apart that similarities between them are zero but for round-off: nothing to go by."""
    from similis.datasets import make_similarity

    S, _ = make_similarity(30, 2, separation=6.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "equal" in suspects(S).skipped
