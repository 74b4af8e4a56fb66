"""PERMANOVA, ANOSIM, PERMDISP and the Mantel test against plain versions, and their permutations."""

import json
import shutil
import subprocess
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from oracles import group_tests as plain
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chisquare, pearsonr, spearmanr

import similis.proximity._group_tests as module
from similis.exceptions import ProximityError
from similis.proximity import anosim, mantel, permanova, permdisp

GROUPS = np.repeat(["a", "b", "c"], [12, 8, 10])


def points(seed=0, n=30, d=4, shift=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[GROUPS[:n] == "b"] += shift
    X[GROUPS[:n] == "c"] *= 1.6
    return X


def distances(seed=0, **options):
    return squareform(pdist(points(seed, **options)))


def curved(seed=0):
    """Return dissimilarities that are not Euclidean."""
    return distances(seed) ** 1.7


@pytest.mark.parametrize("D", [distances(), curved(), np.round(distances())], ids=["euclidean", "curved", "ties"])
def test_statistics_equal_the_definitions(D):
    assert permanova(D, GROUPS, permutations=0).statistic == pytest.approx(plain.permanova_f(D, GROUPS), rel=1e-10)
    assert anosim(D, GROUPS, permutations=0).statistic == pytest.approx(plain.anosim_r(D, GROUPS), rel=1e-10)
    assert np.isnan(permanova(D, GROUPS, permutations=0).p_value)


def test_p_values_are_those_of_the_permuted_statistics():
    D = distances(shift=0.3)
    orders = plain.orders(30, 60, seed=5)
    for test, statistic in [(permanova, plain.permanova_f), (anosim, plain.anosim_r)]:
        values = np.array([statistic(D, GROUPS[order]) for order in orders])
        expected = (values >= values[0] - 1e-9).mean()
        assert test(D, GROUPS, permutations=60, random_state=5).p_value == pytest.approx(expected)


def test_near_ties_are_decided_in_double_precision():
    # Dissimilarities 1 + 1e-7 k differ by less than the rounding of single precision.
    rng = np.random.default_rng(0)
    D = 1 + 1e-7 * squareform(rng.integers(0, 9, 435).astype(float))
    np.fill_diagonal(D, 0)
    y = np.arange(30) % 3
    orders = plain.orders(30, 99, seed=1)
    for test, statistic in [(permanova, plain.permanova_f), (anosim, plain.anosim_r)]:
        values = np.array([statistic(D, y[order]) for order in orders])
        expected = (values >= values[0] - 1e-10 * abs(values[0])).mean()
        assert test(D, y, permutations=99, random_state=1).p_value == pytest.approx(expected)
        assert 0.02 < expected < 0.98


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_single_precision_has_the_range_of_double_precision(scale):
    y = np.arange(30) % 7
    for test in (permanova, anosim):
        found, scaled = (test(D, y, permutations=99, random_state=0) for D in (curved(), scale * curved()))
        assert scaled.statistic == pytest.approx(found.statistic, rel=1e-9)
        assert scaled.p_value == found.p_value


@pytest.mark.parametrize("test", [permanova, anosim, permdisp])
def test_invariances(test):
    D = curved()
    result = test(D, GROUPS, random_state=0)
    assert test(1e6 * D, GROUPS, random_state=0).statistic == pytest.approx(result.statistic, rel=1e-8)
    order = np.random.default_rng(1).permutation(30)
    assert test(D[np.ix_(order, order)], GROUPS[order]).statistic == pytest.approx(result.statistic, rel=1e-6)
    renamed = pd.Series(GROUPS).map({"a": "z", "b": "y", "c": "x"})
    assert test(D, renamed, permutations=0).statistic == pytest.approx(result.statistic, rel=1e-6)


def test_asymmetric_dissimilarities_use_both_directions():
    rng = np.random.default_rng(0)
    D = curved() * rng.uniform(0.5, 1.5, (30, 30))
    np.fill_diagonal(D, 0)
    mean = np.sqrt((D**2 + D.T**2) / 2)
    assert permanova(D, GROUPS, permutations=0).statistic == pytest.approx(
        permanova(mean, GROUPS, permutations=0).statistic, rel=1e-12
    )
    assert anosim(D, GROUPS, permutations=0).statistic == pytest.approx(
        anosim(D.T, GROUPS, permutations=0).statistic, rel=1e-12
    )


def covariates(seed=3):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.normal(size=30), "site": rng.choice(["north", "south", "west"], 30)})


def design(*columns):
    blocks = [np.ones((30, 1))]
    for column in columns:
        numeric = np.asarray(column).dtype.kind == "f"
        blocks.append(np.asarray(column)[:, None] if numeric else pd.get_dummies(np.asarray(column)).to_numpy(float))
    return np.hstack(blocks)


def test_covariates_equal_regression_on_the_coordinates():
    X, table = points(), covariates()
    D = squareform(pdist(X))
    age, site = table["age"].to_numpy(), table["site"].to_numpy()
    full = design(age, site, GROUPS)
    sequential = {t.name: t for t in permanova(D, GROUPS, covariates=table, permutations=0).terms}
    marginal = {t.name: t for t in permanova(D, GROUPS, covariates=table, sums="marginal", permutations=0).terms}
    expected = plain.regression_f(X, design(age, site), full)
    assert sequential["groups"].statistic == pytest.approx(expected, rel=1e-9)
    assert marginal["groups"].statistic == pytest.approx(expected, rel=1e-9)
    assert marginal["age"].statistic == pytest.approx(plain.regression_f(X, design(site, GROUPS), full), rel=1e-9)
    assert [sequential[name].df for name in ("age", "site", "groups", "residual", "total")] == [1, 2, 2, 24, 29]
    parts = sum(sequential[name].r2 for name in ("age", "site", "groups", "residual"))
    assert parts == pytest.approx(1.0)


def test_residuals_of_the_reduced_model_are_permuted():
    X, age = points(shift=0.3), covariates()["age"].to_numpy()
    reduced, full = design(age), design(age, GROUPS)
    fitted = reduced @ np.linalg.lstsq(reduced, X, rcond=None)[0]
    orders = plain.orders(30, 80, seed=2)
    values = [plain.regression_f(fitted + (X - fitted)[np.argsort(o)], reduced, full) for o in orders]
    expected = (np.array(values) >= values[0] - 1e-9).mean()
    found = permanova(squareform(pdist(X)), GROUPS, covariates=age, permutations=80, random_state=2)
    assert found.p_value == pytest.approx(expected)


def test_one_covariate_that_explains_the_groups_removes_their_effect():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    batch = y + rng.normal(scale=0.3, size=80)
    X = batch[:, None] * 3 + rng.normal(size=(80, 3))
    D = squareform(pdist(X))
    assert permanova(D, y, random_state=0).p_value == 0.001
    assert permanova(D, y, covariates=batch, random_state=0).p_value > 0.05


@pytest.mark.parametrize("dtype", [None, object, "string", "category"])
def test_text_is_a_category_also_if_it_consists_of_digits(dtype):
    batch, age = ["1", "2", "3"] * 10, np.arange(30.0)
    for given in (pd.DataFrame({"batch": pd.Series(batch, dtype=dtype), "age": age}), list(zip(batch, age))):
        terms = permanova(distances(), GROUPS, covariates=given, permutations=0).terms
        assert [term.df for term in terms[:2]] == [2, 1]


def test_blocks_with_constant_groups_are_permuted_whole():
    rng = np.random.default_rng(0)
    donors = np.repeat(np.arange(12), 5)
    y = (donors % 2).astype(str)
    # Donors differ, groups do not: free permutations would call the groups different.
    X = np.repeat(rng.normal(size=(12, 3)), 5, axis=0) * 2 + 0.2 * rng.normal(size=(60, 3))
    D = squareform(pdist(X))
    found = permanova(D, y, strata=donors, random_state=0)
    assert "whole blocks were permuted" in " ".join(found.remarks)
    assert found.p_value > 0.05
    with_covariate = permanova(D, y, strata=donors, covariates=rng.normal(size=60), random_state=0, permutations=99)
    assert "whole blocks" in " ".join(with_covariate.remarks)
    assert with_covariate.p_value > 0.05


def test_objects_are_permuted_within_mixed_blocks():
    rng = np.random.default_rng(1)
    block = np.repeat([0, 1], 30)
    y = rng.random(60) < np.where(block, 0.9, 0.1)  # groups follow the block, and only the block matters
    X = 3 * block[:, None] + rng.normal(size=(60, 3))
    D = squareform(pdist(X))
    assert permanova(D, y, random_state=0).p_value < 0.01
    found = permanova(D, y, strata=block, random_state=0)
    assert found.p_value > 0.05
    assert found.remarks[0] == "objects were permuted within 2 blocks"
    assert permanova(D, y, strata=np.zeros(60), random_state=0).remarks == ()


def test_few_different_permutations_are_reported():
    D = distances()[:4, :4]
    result = permanova(D, [0, 0, 1, 1], random_state=0)
    assert "only 6 different permutations" in " ".join(result.remarks)


@pytest.mark.slow
def test_p_values_are_uniform_if_groups_do_not_differ():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 8)
    p = {test: [] for test in (permanova, anosim, permdisp)}
    for seed in range(150):
        D = squareform(pdist(rng.normal(size=(16, 2)), "cityblock"))
        for test, values in p.items():
            values.append(test(D, y, permutations=99, random_state=seed).p_value)
    for test, values in p.items():
        for level in (0.1, 0.5):
            assert abs(np.mean(np.array(values) <= level) - level) < 0.11, (test, level)


@pytest.mark.parametrize("center", ["median", "centroid"])
def test_permdisp_equals_analysis_of_variance_of_distances(center):
    X = points()
    statistic, means = plain.dispersion_f(X, GROUPS, center)
    found = permdisp(squareform(pdist(X)), GROUPS, center=center, random_state=0)
    assert found.statistic == pytest.approx(statistic, rel=1e-4)
    assert list(found.dispersions.values()) == pytest.approx(means, rel=1e-5)
    assert found.p_value < 0.05


def test_permdisp_subtracts_the_negative_subspace():
    D = curved()
    G = module.gower(D**2)
    values, U = np.linalg.eigh(G)
    z2 = np.zeros(30)
    for g in "abc":
        own = np.flatnonzero(GROUPS == g)
        X = U[own] * np.sqrt(np.abs(values))
        z2[own] = (np.sign(values) * (X - X.mean(axis=0)) ** 2).sum(axis=1)
    means = [np.sqrt(np.abs(z2[GROUPS == g])).mean() for g in "abc"]
    found = permdisp(D, GROUPS, center="centroid", permutations=0)
    assert list(found.dispersions.values()) == pytest.approx(means, rel=1e-8)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("method", "correlate"), [("pearson", pearsonr), ("spearman", spearmanr)])
def test_mantel_equals_the_correlation_of_the_pairs(method, correlate):
    A, B = distances(0), distances(1) + 0.2 * distances(0)
    expected = correlate(squareform(A, checks=False), squareform(B, checks=False)).statistic
    found = mantel(A, B, method=method, random_state=0)
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    permuted = (squareform(B[np.ix_(o, o)], checks=False) for o in plain.product_orders(30, 999, seed=0))
    values = np.array([correlate(squareform(A, checks=False), pairs).statistic for pairs in permuted])
    for alternative, side in [("two-sided", np.abs(values)), ("greater", values), ("less", -values)]:
        p = mantel(A, B, method=method, alternative=alternative, random_state=0).p_value
        assert p == pytest.approx((side >= side[0] - 1e-9).mean())


def test_mantel_leaves_out_missing_pairs_and_compares_ordered_pairs():
    rng = np.random.default_rng(0)
    A, B = distances(0) * rng.uniform(0.5, 1.5, (30, 30)), distances(2) + 0.3 * distances(0)
    off = ~np.eye(30, dtype=bool)
    assert mantel(A, B, permutations=9).statistic == pytest.approx(np.corrcoef(A[off], B[off])[0, 1], rel=1e-9)
    A[rng.random((30, 30)) < 0.2] = np.nan
    B[rng.random((30, 30)) < 0.1] = np.nan
    known = off & ~np.isnan(A) & ~np.isnan(B)
    found = mantel(A, B, permutations=99, random_state=0)
    assert found.statistic == pytest.approx(np.corrcoef(A[known], B[known])[0, 1], rel=1e-9)
    o = np.random.RandomState(0).permutation(30)
    P = B[np.ix_(o, o)]
    known = off & ~np.isnan(A) & ~np.isnan(P)
    orders = np.arange(30, dtype=np.uint32)[None], np.array([o], dtype=np.uint32)
    r = module._known_correlations(A, B, orders, symmetric=False)
    assert r.item() == pytest.approx(np.corrcoef(A[known], P[known])[0, 1], rel=1e-9)


@pytest.mark.parametrize("n", [9, 10])
@pytest.mark.parametrize("kind", ["even", "heavy tails", "near ties", "asymmetric"])
def test_mantel_has_the_p_value_of_the_permuted_correlations(kind, n):
    rng = np.random.default_rng(n)
    A, B = rng.random((2, n, n))
    if kind != "asymmetric":
        A, B = A + A.T, B + B.T
    if kind == "heavy tails":
        B[0, 1] = B[1, 0] = 1e6
    if kind == "near ties":
        B = 1 + 1e-9 * np.round(3 * B)
    off = ~np.eye(n, dtype=bool)
    r = np.array([np.corrcoef(A[off], B[np.ix_(o, o)][off])[0, 1] for o in plain.product_orders(n, 300, seed=3)])
    for alternative, side in [("two-sided", np.abs(r)), ("greater", r)]:
        p = mantel(A, B, alternative=alternative, permutations=300, random_state=3).p_value
        assert p == pytest.approx((side >= side[0] - 1e-7 * abs(r[0])).mean())
        assert p > 0.01


def test_the_permutations_of_mantel_are_uniform_and_any_two_are_independent():
    """Three objects have six orders: each is as frequent as the others, beside each order that another place has."""
    counts = {cells: np.zeros((6, 6)) for cells in combinations(range(1, 8), 2)}
    which = {order: k for k, order in enumerate(permutations(range(3)))}
    for seed in range(3600):
        (left, right), pairs, _ = module._product_orders(3, None, 7, np.random.RandomState(seed))
        inverse = np.argsort(left, axis=1)
        drawn = [which[tuple(right[k % len(right)][inverse[k // len(right)]])] for k in pairs]
        assert drawn[0] == 0
        for first, second in counts:
            counts[first, second][drawn[first], drawn[second]] += 1
    for table in counts.values():
        assert chisquare(table.ravel()).pvalue > 1e-5


@pytest.mark.parametrize("n_permutations", [19, 22])
def test_mantel_is_exact_for_unrelated_matrices(n_permutations):
    """P(p <= a) = a for every multiple a of 1 / (n_permutations + 1), also where not all pairs of orders are used."""
    p = []
    for seed in range(1500):
        A, B = np.random.default_rng(seed).random((2, 8, 8))
        p.append(
            mantel(A + A.T, B + B.T, permutations=n_permutations, alternative="greater", random_state=seed).p_value
        )
    ranks = np.round(np.array(p) * (n_permutations + 1)).astype(int)
    assert chisquare(np.bincount(ranks, minlength=n_permutations + 2)[1:]).pvalue > 1e-4


@pytest.mark.parametrize("unit", [1e-160, 1e100])
def test_mantel_with_missing_pairs_does_not_depend_on_the_unit(unit):
    A, B = distances(0), distances(1) + 0.2 * distances(0)
    A[2, 5] = A[5, 2] = np.nan
    expected, found = (mantel(X, B, permutations=19, random_state=0) for X in (A, unit * A))
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert found.p_value == expected.p_value


def test_mantel_permutes_within_blocks():
    block = np.repeat([0.0, 1.0], 15)
    rng = np.random.default_rng(0)
    A = squareform(pdist(5 * block[:, None] + rng.normal(size=(30, 2))))
    B = squareform(pdist(5 * block[:, None] + rng.normal(size=(30, 2))))
    assert mantel(A, B, random_state=0).p_value == 0.001
    assert mantel(A, B, strata=block, random_state=0).p_value > 0.05


def test_anosim_leaves_out_missing_pairs():
    D = curved()
    gone = np.triu(np.random.default_rng(0).random((30, 30)) < 0.15, 1)
    D[gone | gone.T] = np.nan
    assert anosim(D, GROUPS, permutations=9).statistic == pytest.approx(plain.anosim_r(D, GROUPS), rel=1e-10)


def test_messages():
    D = distances()
    D[3, 5] = np.nan
    for test in (permanova, permdisp):
        with pytest.raises(ProximityError, match=r"1 entries are missing, the first at row 3, column 5"):
            test(D, GROUPS)
    D = distances()
    with pytest.raises(ProximityError, match="at least 2 classes"):
        permanova(D, ["a"] * 30)
    with pytest.raises(ProximityError, match="groups of one object"):
        permanova(D, [f"object {i}" for i in range(30)])
    with pytest.raises(ProximityError, match="29 labels for 30 objects"):
        permanova(D, GROUPS[:-1])
    with pytest.raises(ProximityError, match="one row per object"):
        permanova(D, GROUPS, covariates=np.zeros(29))
    with pytest.raises(ProximityError, match="'age' has missing values"):
        permanova(D, GROUPS, covariates=pd.DataFrame({"age": [np.nan] * 30}))
    ages, sites = [31.5, None] * 15, ["x", None, "y"] * 10
    for values in (ages, sites, pd.Series(sites, dtype="string"), pd.Series([True, None] * 15, dtype="boolean")):
        for given in (pd.DataFrame({"covariate 0": values}), values, np.ma.masked_equal(np.arange(30), 3)):
            with pytest.raises(ProximityError, match="'covariate 0' has missing values"):
                permanova(D, GROUPS, covariates=given)
    with pytest.raises(ProximityError, match="the other terms determine it"):
        permanova(D, GROUPS, covariates=pd.DataFrame({"same": GROUPS}))
    with pytest.raises(ProximityError, match="same objects"):
        mantel(D, D[:20, :20])
    with pytest.raises(ProximityError, match="not all equal"):
        mantel(D, np.ones((30, 30)) - np.eye(30))


def test_limits():
    same = np.zeros((6, 6))
    y = [0, 0, 0, 1, 1, 1]
    assert permanova(same, y, permutations=9).statistic == 0.0
    apart = 1.0 - np.kron(np.eye(2), np.ones((3, 3)))
    assert permanova(apart, y, permutations=99, random_state=0).statistic == np.inf
    assert permanova(apart, y, permutations=99, random_state=0).p_value < 0.25
    assert permdisp(apart, y, permutations=9).statistic == 0.0
    json.dumps(permdisp(same, y, permutations=0).to_dict(), allow_nan=False)


def test_result_is_readable():
    found = permanova(distances(), GROUPS, covariates=covariates(), random_state=0)
    text = str(found)
    assert text.startswith("PERMANOVA\n")
    assert "of the squared dissimilarity" in text
    assert "term age" in text
    assert "<caption>PERMANOVA</caption>" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["terms"][0]["name"] == "age"


@pytest.mark.parametrize("d13, f, r, p", [(5.0, 4.4, 0.625, 1 / 3), (1.0, 2.0, 0.25, 2 / 3)])
def test_values_of_the_tests_of_scikit_bio(d13, f, r, p):
    """Four objects in two groups, with and without tied distances: statistics and p-values of scikit-bio."""
    D = np.array([[0, 1, d13, 4], [1, 0, 3, 2], [d13, 3, 0, 3], [4, 2, 3, 0]])
    y = ["fast", "fast", "slow", "slow"]
    for test, statistic in ((permanova, f), (anosim, r)):
        found = test(D, y, permutations=1999, random_state=0)
        assert found.statistic == pytest.approx(statistic)
        assert found.p_value == pytest.approx(p, abs=0.04)  # the 24 permutations are three partitions


# Distances and factors of the examples in the help pages of vegan, whose data similis does not contain.
EXAMPLES_OF_VEGAN = """
suppressMessages(library(vegan))
data(dune); data(dune.env); data(varespec); data(varechem)
save <- function(x, name) write.csv(x, name, row.names = FALSE)
save(as.matrix(vegdist(dune)), "dune.csv")
save(dune.env[c("Management", "A1", "Use")], "sites.csv")
save(as.matrix(vegdist(varespec)), "plants.csv")
save(as.matrix(vegdist(scale(varechem), "euclid")), "soil.csv")
"""


@pytest.mark.slow
def test_documented_examples_of_vegan(tmp_path):
    """Figures printed in the help pages of adonis2, anosim, betadisper and mantel (R package vegan)."""
    if shutil.which("Rscript") is None:
        pytest.skip("needs R with the package vegan")
    made = subprocess.run(["Rscript", "-e", EXAMPLES_OF_VEGAN], cwd=tmp_path, capture_output=True, text=True)
    if "no package called" in made.stderr:
        pytest.skip("needs the R package vegan")
    dune, plants, soil = (pd.read_csv(tmp_path / f"{name}.csv").to_numpy() for name in ("dune", "plants", "soil"))
    sites = pd.read_csv(tmp_path / "sites.csv")

    found = permanova(dune, sites["Management"], random_state=0)  # 0.34161 in adonis2(dune ~ Management * A1)
    assert found.r2 == pytest.approx(0.34161, abs=5e-6)
    assert found.p_value < 0.01
    terms = permanova(dune, sites["Use"], covariates=sites[["Management", "A1"]], permutations=0).terms
    assert [round(term.r2, 5) for term in terms[:2]] == [0.34161, 0.10256]
    marginal = permanova(dune, sites["Management"], covariates=sites[["A1"]], sums="marginal", permutations=0).terms
    assert [round(term.statistic, 4) for term in marginal[:2]] == [2.7676, 2.4828]  # adonis2(..., by = "margin")

    assert anosim(dune, sites["Management"], permutations=0).statistic == pytest.approx(0.2579, abs=5e-5)

    grazed = np.repeat(["grazed", "ungrazed"], [16, 8])
    for center, f, means in [("median", 4.6156, [0.3926, 0.2706]), ("centroid", 5.8107, [0.3944, 0.2810])]:
        found = permdisp(plants, grazed, center=center, random_state=0)
        assert found.statistic == pytest.approx(f, abs=2e-4)
        assert list(found.dispersions.values()) == pytest.approx(means, abs=5e-5)
        assert found.p_value == pytest.approx({"median": 0.044, "centroid": 0.026}[center], abs=0.02)

    for method, r in [("pearson", 0.3047), ("spearman", 0.2838)]:
        found = mantel(plants, soil, method=method, alternative="greater", random_state=0)
        assert found.statistic == pytest.approx(r, abs=5e-5)
        assert found.p_value < 0.005
