"""Similarity discriminant analysis: the paper's worked numbers, its definition in plain loops, limits and laws."""

import itertools

import numpy as np
import pytest
from oracles import discriminant as oracle
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import SVC
from toy_problems import random_similarities as problem

from similis import SDA, NearestNeighborSDA
from similis.solvers import box_lasso

FACES = np.array(  # the first of each class is its centroid
    [
        *([1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]),
        *([1, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 1]),
    ]
)
FACE_LABELS = np.repeat([1, 2], 5)
WORDS = np.array(list(itertools.product([0, 1], repeat=3)))
STATISTICS = ["centroid", "nearest", "total", "rows", "quadratic"]


def counting(A, B):
    return (A[:, None, :] == B[None, :, :]).sum(axis=2).astype(float)


# The paper's worked examples.


def test_faces_of_section_3_1_1():
    """lambda and gamma of the four pairs; {hair, mouth} goes to class two, where nearest centroid says one."""
    model = SDA().fit(FACES @ FACES.T, FACE_LABELS)
    np.testing.assert_array_equal(model.centroids_, [0, 5])
    np.testing.assert_array_equal(model.domain_, np.arange(5))
    np.testing.assert_allclose(model.means_, [[3.2, 2.4], [1.6, 1.2]])
    np.testing.assert_allclose(model.exponents_, [[0.7271, 0.2036], [-0.2036, -0.4313]], atol=5e-5)
    np.testing.assert_allclose(np.exp(model.log_normalizers_), [[0.0290, 0.1278], [0.2884, 0.3962]], atol=5e-5)
    hair_and_mouth = np.array([[0, 0, 1, 1]]) @ FACES.T
    np.testing.assert_array_equal(model.statistics(hair_and_mouth), [[2, 1]])
    assert model.predict(hair_and_mouth) == [2]
    ratio = np.exp(-np.diff(model.class_log_prob(hair_and_mouth)))
    np.testing.assert_allclose(ratio, 0.3929, atol=5e-5)


def test_figure_3_1():
    """The discriminant value at every pair of similarities to the two centroids."""
    model = SDA().fit(FACES @ FACES.T, FACE_LABELS)
    s = np.array(list(itertools.product(range(5), repeat=2)))
    rows = np.zeros((25, 10))
    rows[:, model.centroids_] = s
    ratio = np.exp(-np.diff(model.class_log_prob(rows))).reshape(5, 5)
    expected = [
        [0.032, 0.061, 0.115, 0.217, 0.410],
        [0.082, 0.155, 0.292, 0.552, 1.041],
        [0.208, 0.393, 0.741, 1.399, 2.639],
        [0.528, 0.996, 1.880, 3.548, 6.693],
        [1.339, 2.527, 4.768, 8.997, 16.976],
    ]
    np.testing.assert_allclose(ratio, expected, atol=6e-4)
    np.testing.assert_array_equal(model.predict(rows).reshape(5, 5) == 1, ratio > 1)


TRAIN_3_3_4 = np.array(
    [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
)
RULE_3_36 = dict(zip(["000", "001", "010", "100", "011", "101", "110", "111"],
                     [3.173, -1.099, 2.136, 2.136, -2.136, -2.136, 1.099, -3.173]))  # fmt: skip
CENTROID = dict(zip(RULE_3_36, [2.518, 0.839, 0.839, 0.839, -0.839, -0.839, -0.839, -2.518]))


@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
@pytest.mark.parametrize("statistic, expected", [("rows", RULE_3_36), ("centroid", CENTROID)])
def test_section_3_3_4(kind, statistic, expected):
    """Discriminants of all words of three bits; 110 goes to class one under rule (3.36), whatever the text says."""
    S, Q = counting(TRAIN_3_3_4, TRAIN_3_3_4), counting(WORDS, TRAIN_3_3_4)
    if kind == "dissimilarity":
        S, Q = 3 - S, 3 - Q
    model = SDA(statistic=statistic, kind=kind).fit(S, np.repeat([1, 2], 5))
    found = -np.diff(model.class_log_prob(Q))[:, 0]
    np.testing.assert_allclose(found, [expected["".join(map(str, w))] for w in WORDS], atol=6e-4)
    np.testing.assert_array_equal(model.predict(Q) == 1, found > 0)


def test_section_3_3_4_rule_3_34():
    """Discriminant analysis on similarity features, as the text has it: 001 and 110 go to the wrong class."""
    S, Q = counting(TRAIN_3_3_4, TRAIN_3_3_4), counting(WORDS, TRAIN_3_3_4)
    u1, u2 = S[:5].mean(axis=0), S[5:].mean(axis=0)
    found = Q @ (u1 - u2) - (u1 @ u1 - u2 @ u2) / 2
    wrong = {"".join(map(str, w)) for w, f in zip(WORDS, found) if (f > 0) != (sum(w) < 2)}
    assert wrong == {"001", "110"}


def test_binary_features_as_statistics_are_naive_bayes(rng):
    """[cazzanti2007] sec. 3.3.1. Inner products with unit vectors, which are training objects, are the features."""
    y = rng.integers(0, 3, 60)
    X = (rng.random((60, 5)) < rng.random((3, 5))[y]).astype(float)
    X, y = np.vstack([np.eye(5), X]), np.r_[[0, 1, 2, 0, 1], y]
    model = SDA(statistic=lambda rows, labels: rows[:, :5]).fit(X @ X.T, y)
    new = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
    found = model.predict_proba(new @ X.T)
    # Eq. (3.19) from raw frequencies, where some class can have produced the word.
    share = np.array([X[y == g].mean(axis=0) for g in range(3)])
    joint = np.where(new[:, None] == 1, share, 1 - share).prod(axis=2) * np.bincount(y) / len(y)
    possible = joint.sum(axis=1) > 0
    np.testing.assert_array_equal(np.isfinite(model.score_samples(new @ X.T)), possible)
    np.testing.assert_allclose(
        found[possible], joint[possible] / joint[possible].sum(axis=1, keepdims=True), atol=1e-12
    )
    if ((share > 0) & (share < 1)).all():  # scikit-learn takes the logarithm of zero otherwise
        bayes = BernoulliNB(alpha=1e-300, force_alpha=True).fit(X, y)
        np.testing.assert_allclose(found, bayes.predict_proba(new), atol=1e-9)


@pytest.mark.parametrize("statistic", ["centroid", "quadratic"])
def test_figure_3_3(rng, statistic):
    """Perturbed 000 and 111: SDA, naive Bayes, SVM and P-SVM on the similarities agree on all words."""
    y = rng.integers(1, 3, 1000)
    X = (y == 2)[:, None] ^ (rng.random((1000, 3)) < np.where(y == 1, 1 / 3, 1 / 4)[:, None])
    X = X.astype(int)
    model = SDA(statistic=statistic).fit(counting(X, X), y)
    said = model.predict(counting(WORDS, X))
    np.testing.assert_array_equal(X[model.centroids_], [[0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(said, 1 + (WORDS.sum(axis=1) >= 2))
    np.testing.assert_array_equal(said, BernoulliNB().fit(X, y).predict(WORDS))
    features = counting(X, X[model.centroids_])
    svm = SVC(kernel="poly", degree=2, coef0=1.0, gamma=1.0).fit(features, y)
    np.testing.assert_array_equal(said, svm.predict(counting(WORDS, X[model.centroids_])))
    # [cazzanti2007] sec. 3.3.6: the N x 2 matrix of similarities to the centroids as the kernel of the P-SVM
    signs = np.where(y == 1, 1.0, -1.0)
    center, norm = features.mean(axis=0), np.linalg.norm(features - features.mean(axis=0), axis=0)
    alpha = box_lasso((features - center) / norm, signs - signs.mean(), epsilon=0.1, C=951.0).coef

    def psvm(u):
        return np.where((u - center) / norm @ alpha + signs.mean() > 0, 1, 2)

    np.testing.assert_array_equal(said, psvm(counting(WORDS, X[model.centroids_])))
    # The boundaries on the line s1 + s2 = 3, where all words lie, are between one and two equal bits.
    s1 = np.linspace(0, 3, 301)
    u = np.column_stack([s1, 3 - s1])
    rows = np.zeros((301, 1000))
    rows[:, model.centroids_] = u
    for labels in (model.predict(rows), svm.predict(u), psvm(u)):
        changes = np.flatnonzero(np.diff(labels))
        assert len(changes) == 1
        assert 1 < s1[changes[0]] < 2


# Its definition.


@pytest.mark.parametrize("levels", [3, 8, 100])
@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_is_its_definition(rng, levels, kind, statistic):
    S, y, Q = problem(rng, n=24, m=10, levels=levels)
    sign = -1.0 if kind == "dissimilarity" else 1.0
    found = SDA(statistic=statistic, kind=kind).fit(S, y).predict_proba(Q)
    np.testing.assert_allclose(found, oracle.sda(S, list(y), Q, statistic, sign), atol=1e-9)


def test_pseudocount_is_its_definition(rng):
    S, y, Q = problem(rng, n=24, m=10, levels=3)
    found = SDA(pseudocount=2.5).fit(S, y)
    np.testing.assert_allclose(found.predict_proba(Q), oracle.sda(S, list(y), Q, pseudocount=2.5), atol=1e-9)
    assert np.isfinite(found.exponents_).all()


@pytest.mark.parametrize("domain", ["empirical", "continuous", np.linspace(0, 1, 5), (-1.0, 3.0)])
def test_moments_recomputed(rng, domain):
    """The expectation of each statistic under each class is the training mean, eq. (3.4)."""
    from oracles import maxent

    S = np.round(4 * rng.random((30, 30))) / 4
    y = np.arange(30) % 3
    model = SDA(domain=domain).fit(S, y)
    for g in range(3):
        for h in range(3):
            mean = S[y == g][:, model.centroids_[h]].mean()
            if isinstance(model.domain_, tuple):
                moment = maxent.interval_moment(*model.domain_, model.exponents_[g, h])
            else:
                moment = maxent.moment(list(model.domain_), model.exponents_[g, h])
            assert abs(moment - mean) < 1e-12 * (np.max(model.domain_) - np.min(model.domain_))


def test_half_line(rng):
    D, y, Q = problem(rng)
    model = SDA(kind="dissimilarity", domain=(0.0, np.inf)).fit(D, y)
    np.testing.assert_allclose(model.exponents_, -1 / model.means_)
    np.testing.assert_allclose(model.class_log_prob(Q)[:, 1], (np.log(-model.exponents_[1])
                               + model.exponents_[1] * Q[:, model.centroids_]).sum(axis=1))  # fmt: skip
    mirrored = SDA(domain=(-np.inf, 0.0)).fit(-D, y)
    np.testing.assert_allclose(mirrored.predict_proba(-Q), model.predict_proba(Q))


def test_probabilities_follow_from_the_published_parameters(rng):
    S, y, Q = problem(rng)
    model = SDA(statistic=["centroid", "total"]).fit(S, y)
    log_p = model.statistics(Q) @ model.exponents_.T + model.log_normalizers_.sum(axis=1)
    np.testing.assert_allclose(model.class_log_prob(Q), log_p, rtol=1e-9)
    joint = np.exp(log_p) * model.priors_
    np.testing.assert_allclose(model.predict_proba(Q), joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(model.score_samples(Q), np.log(joint.sum(axis=1)))


# Limits.


def test_point_masses_are_the_limit_of_one_large_exponent(rng):
    """Few levels and small classes: point masses everywhere; the oracle uses an exponent of 1e9 in their place."""
    for _ in range(10):
        S, y, Q = problem(rng, n=9, m=30, levels=2)
        for model, name in ((SDA(), "centroid"), (NearestNeighborSDA(), "nearest")):
            proba = model.fit(S, y).predict_proba(Q)
            assert np.isfinite(proba).all()
            np.testing.assert_allclose(proba, oracle.sda(S, list(y), Q, name), atol=1e-9)


def test_distance_from_the_point_masses_comes_first():
    S = np.array([[4.0, 4, 0, 0], [4, 4, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
    model = SDA().fit(S, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.exponents_[0], [np.inf, -np.inf])
    np.testing.assert_array_equal(model.predict_proba([[4, 4, 0, 0]]), [[1, 0]])  # both masses met: tie, finite part
    row = [[3, 3, 0, 0]]  # off class 0's point mass; class 1 has one too, at 0, and is farther
    np.testing.assert_array_equal(model.predict_proba(row), [[1, 0]])
    np.testing.assert_array_equal(model.class_log_prob(row), [[-np.inf, -np.inf]])
    assert model.score_samples(row) == -np.inf


def test_continuous_point_mass_has_infinite_density():
    S = np.array([[4.0, 4, 0, 1], [4, 4, 1, 0], [0, 1, 4, 1], [1, 0, 1, 4]])
    model = SDA(domain="continuous").fit(S, [0, 0, 1, 1])
    assert model.exponents_[0, 0] == np.inf
    np.testing.assert_array_equal(model.predict_proba([[4, 4, 1, 1], [3, 3, 1, 1]]), [[1, 0], [0, 1]])
    assert model.class_log_prob([[4, 4, 1, 1]])[0, 0] == np.inf


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("domain", ["empirical", "continuous"])
@pytest.mark.parametrize(
    "S, y",
    [
        (np.zeros((5, 5)), [0, 0, 0, 1, 1]),
        (np.ones((2, 2)), [0, 1]),
        (np.eye(2), [0, 1]),
        (np.eye(3), [0, 1, 2]),
        (np.kron(np.eye(2), np.ones((3, 3))), [0, 0, 0, 1, 1, 1]),
        (np.full((4, 4), -2.5), [0, 1, 1, 1]),
    ],
    ids=["zeros", "ones", "two", "singletons", "duplicates", "constant"],
)
def test_degenerate_is_not_an_error(statistic, domain, S, y):
    model = SDA(statistic=statistic, domain=domain).fit(S, y)
    proba = model.predict_proba(np.vstack([S, S[:1] + 0.5]))
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    if np.ptp(S) == 0:
        np.testing.assert_allclose(proba[: len(S)], np.tile(model.priors_, (len(S), 1)))


def test_uniform_instead_of_a_point_mass():
    S = np.array([[4.0, 4, 0, 0], [4, 4, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
    model = SDA(degenerate="uniform").fit(S, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.exponents_[0], [0, 0])
    np.testing.assert_allclose(model.log_normalizers_[0], -np.log(3))


# Decisions.


def test_affine_changes_and_mirrors_change_no_decision(rng):
    for statistic in ("centroid", "nearest", "total", "rows"):
        for domain in ("empirical", "continuous"):
            S, y, Q = problem(rng, levels=rng.choice([4, 1000]))
            p = SDA(statistic=statistic, domain=domain).fit(S, y).predict_proba(Q)
            for a, b in ((3.0, -7.0), (0.25, 1e3)):
                q = SDA(statistic=statistic, domain=domain).fit(a * S + b, y).predict_proba(a * Q + b)
                np.testing.assert_allclose(p, q, atol=1e-7)
            if statistic != "total":
                top = max(S.max(), Q.max())
                mirror = SDA(statistic=statistic, domain=domain, kind="dissimilarity").fit(top - S, y)
                np.testing.assert_allclose(p, mirror.predict_proba(top - Q), atol=1e-7)


def test_costs_are_minimized(rng):
    S, y, Q = problem(rng)
    costs = rng.random((3, 3)) * 5
    model = SDA(costs=costs).fit(S, y)
    expected_cost = [[sum(costs[f, g] * p[g] for g in range(3)) for f in range(3)] for p in model.predict_proba(Q)]
    expected = [min(range(3), key=cost.__getitem__) for cost in expected_cost]
    np.testing.assert_array_equal(model.predict(Q), expected)
    assert (model.predict(Q) != SDA().fit(S, y).predict(Q)).any()


def test_priors(rng):
    S, y, Q = problem(rng)
    given = SDA(priors=[0.2, 0.3, 0.5]).fit(S, y)
    odds = given.predict_proba(Q) / given.priors_ / (SDA().fit(S, y).predict_proba(Q) * len(y) / np.bincount(y))
    np.testing.assert_allclose(odds / odds[:, :1], 1.0)
    np.testing.assert_allclose(SDA(priors="laplace").fit(S, y).priors_, (np.bincount(y) + 1) / (len(y) + 3))
    assert (SDA(priors=[0.5, 0.5, 0]).fit(S, y).predict(Q) != 2).all()


def test_abnormal_objects_score_low(rng):
    y = np.arange(60) % 2
    X = (y[:, None] ^ (rng.random((60, 10)) < 0.1)).astype(int)
    model = SDA().fit(counting(X, X), y)
    normal, strange = model.score_samples(counting(X, X)), model.score_samples(counting(np.array([[0, 1] * 5]), X))
    assert strange[0] < np.quantile(normal, 0.02)


def test_a_new_value_outside_omega_is_evaluated(rng):
    S, y, _ = problem(rng, levels=5)
    model = SDA(domain=np.arange(5.0)).fit(S, y)
    row = np.full((1, 40), 9.0)
    expected = (9.0 * model.exponents_ + model.log_normalizers_).sum(axis=1)
    np.testing.assert_allclose(model.class_log_prob(row)[0], expected)
