"""MaxSim, SBC and the perceptron: definitions, optimality, and the paper's limit laws."""

import tracemalloc
import warnings
from functools import partial

import cvxpy
import numpy as np
import pytest
from oracles.margin_qp import kkt_violation
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from similis import SBC, VDM, MaxSim, PathSearchCV, SimilarityPerceptron, compact, load_benchmark, make_similarity
from similis.exceptions import DataNotFoundError
from similis.maxsim._base import signed_similarities
from similis.solvers import ClassMargin, _class_margin, nonnegative_margin
from similis.study import make_model


def balanced(rng, n=30, n_classes=2):
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 3)) + 1.5 * rng.normal(size=(n_classes, 3))[y], y, rng.normal(size=(20, 3))


def rbf(A, B, sigma):
    return rbf_kernel(A, B, gamma=1 / (2 * sigma**2))


def wine(sigma):
    X, y = load_wine(return_X_y=True)
    return rbf(StandardScaler().fit_transform(X), None, sigma), y


def test_maxsim_is_its_sum(rng):
    X, y, new = balanced(rng, n_classes=3)
    S, Q = rbf(X, X, 1), rbf(new, X, 1)
    model = MaxSim().fit(S, y)
    sums = np.array([[row[y == g].sum() for g in range(3)] for row in Q])
    np.testing.assert_allclose(model.decision_function(Q), sums)
    np.testing.assert_array_equal(model.predict(Q), sums.argmax(axis=1))
    np.testing.assert_array_equal(model.is_strong(Q), sums.max(axis=1) > sums.sum(axis=1) - sums.max(axis=1))


CLASSES = [MaxSim, partial(SBC, C=1.0), SimilarityPerceptron]


@pytest.mark.parametrize("make", CLASSES, ids=["maxsim", "sbc", "perceptron"])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_dissimilarities_are_converted(rng, make, unit):
    """To exp(-8 d / median), whatever the unit; not by the smallest sum, which is that of the smallest class."""
    y = np.repeat([0, 1], [100, 20])
    X = rng.normal(size=(120, 2)) + np.outer(y, [8, 0])
    new = rng.normal(size=(120, 2)) + np.outer(y, [8, 0])
    D, E = unit * cdist(X, X), unit * cdist(new, X)
    model = make(kind="dissimilarity").fit(D, y)
    np.testing.assert_array_equal(model.predict(E), y)
    median = np.median(D[~np.eye(120, dtype=bool)])
    assert model.scale_ == pytest.approx(median / 8)
    same = make().fit(np.exp(-8 * D / median), y)
    np.testing.assert_allclose(model.alpha_, same.alpha_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(E), same.decision_function(np.exp(-8 * E / median)), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_array_equal(model.predict(E.astype(np.float32)), y)
    small = compact(model)
    np.testing.assert_array_equal(small.predict(E[:, small.columns_]), y)


def split_errors(D, y, **models):
    """Mean error over five folds."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(D, y))
    return {
        name: np.mean([(model.fit(D[np.ix_(a, a)], y[a]).predict(D[np.ix_(b, a)]) != y[b]).mean() for a, b in folds])
        for name, model in models.items()
    }


DISSIMILARITY_MODELS = {
    "maxsim": MaxSim(kind="dissimilarity"),
    "sbc": SBC(C=1.0, kind="dissimilarity"),
    "perceptron": SimilarityPerceptron(average=True, max_iter=10, kind="dissimilarity"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["votes", "sonar"])
def test_dissimilarities_of_shipped_data(name):
    X, y = load_benchmark(name).data, load_benchmark(name).target
    D = VDM().fit(X, y).matrix(X) if name == "votes" else cdist(X, X)
    errors = split_errors(D, y, **DISSIMILARITY_MODELS)
    assert max(errors.values()) < {"votes": 0.09, "sonar": 0.25}[name]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dissimilarities_of_clean_protein():
    """The smallest sum erred by 92.2 %, the majority class by 72.0 %."""
    try:
        data = load_benchmark("protein")
    except DataNotFoundError as error:
        pytest.skip(str(error))
    keep = data.keep213
    errors = split_errors(data.proximity[np.ix_(keep, keep)], data.target[keep], **DISSIMILARITY_MODELS)
    assert errors["maxsim"] < 0.12
    assert max(errors.values()) < 0.15


@pytest.mark.parametrize("D", [np.zeros((4, 4)), 1 - np.kron(np.eye(2), np.ones((2, 2))), np.ones((4, 4)) - np.eye(4)])
@pytest.mark.parametrize("make", CLASSES, ids=["maxsim", "sbc", "perceptron"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dissimilarities_that_are_equal(make, D):
    model = make(kind="dissimilarity").fit(D, [0, 0, 1, 1])
    assert np.isfinite(model.decision_function(D)).all()


def test_a_model_of_version_1_still_takes_the_smallest_sum(rng):
    X, y = rng.normal(size=(9, 2)), np.arange(9) % 3
    D = cdist(X, X)
    model = MaxSim(kind="dissimilarity").fit(D, y)
    del model.scale_  # 1.0 had no conversion
    np.testing.assert_allclose(model.decision_function(D), -np.stack([D[:, y == g].sum(axis=1) for g in range(3)]).T)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("C", [None, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_margin_solver_meets_its_conditions_and_its_peer(sigma, C):
    S, y = wine(sigma)
    A = signed_similarities(S, y)
    found = nonnegative_margin(A, C)
    assert found.feasible
    assert kkt_violation(A, found.alpha, found.multipliers, C) < 1e-4 * max(1, found.multipliers.max())
    a, xi = cvxpy.Variable(len(y)), (cvxpy.Variable(len(y), nonneg=True) if C else np.zeros(len(y)))
    price = C * cvxpy.sum(xi) if C else 0
    peer = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(a) + price), [A @ a >= 1 - xi, a >= 0])
    peer.solve(solver="CLARABEL")
    assert found.objective == pytest.approx(peer.value, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
def test_margin_solver_on_awkward_systems(scale):
    cases = [np.eye(3), np.ones((1, 1)), np.ones((4, 4)), np.array([[1.0, -0.999], [-0.999, 1.0]]), np.eye(5)[:2]]
    for A in cases:
        for C in (None, 1e-3, 1.0):
            price = None if C is None else C / scale**2
            found = nonnegative_margin(scale * A, price)
            assert found.feasible
            assert found.gap < 1e-6
            u = scale**2 * found.multipliers
            # The gap, which stops the solver, is of second order in the multipliers: 1e-9 leaves them 3e-5 off.
            assert kkt_violation(A, scale * found.alpha, u, C) < 1e-4 * max(1, u.max())
    zero = nonnegative_margin(np.zeros((3, 3)), 2.0)
    assert not zero.alpha.any()
    assert zero.objective == pytest.approx(6.0)
    assert not nonnegative_margin(np.zeros((3, 3))).feasible
    assert not nonnegative_margin(np.array([[1.0, -1.0], [-1.0, 1.0]])).feasible


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kind", ["normal", "rbf", "counts", "uniform"])
def test_margin_solver_knows_what_is_feasible(rng, kind):
    """Against a linear program: the largest margin of weights between 0 and 1."""
    for _ in range(25):
        n = rng.integers(2, 25)
        X = rng.normal(size=(n, 2))
        S = {
            "normal": rng.normal(size=(n, n)),
            "rbf": rbf(X, X, 10 ** rng.uniform(-1, 1)),
            "counts": rng.integers(0, 3, size=(n, n)).astype(float),
            "uniform": rng.random((n, n)) + 3 * rng.random() * np.eye(n),
        }[kind]
        A = signed_similarities(S, rng.integers(rng.integers(2, 5), size=n))
        bounds = [(0, 1)] * n + [(None, 1)]
        margin = -linprog(np.r_[np.zeros(n), -1], A_ub=np.c_[-A, np.ones(n)], b_ub=np.zeros(n), bounds=bounds).fun
        found = nonnegative_margin(A)
        if margin < 1e-11 or margin > 1e-5:  # between the two lies the reach of the arithmetic
            assert found.feasible == (margin > 0.5e-5)
        if found.feasible and margin > 1e-5:
            assert found.gap < 1e-6
            assert (A @ found.alpha >= 1 - 1e-9).all()
        assert nonnegative_margin(A, 10 ** rng.uniform(-4, 6)).gap < 1e-8


def random_problem(rng, number):
    """Constraints with rows of different scales, duplicates, zero and repeated columns, and a cost."""
    c, n = rng.integers(1, 40), rng.integers(1, 30)
    A = rng.normal(size=(c, n)) * 10 ** rng.uniform(-2, 2, size=(c, 1) if number % 3 == 0 else (1, 1))
    if number % 4 == 0:
        A = np.repeat(A, 3, axis=0)
    if number % 5 == 0:
        A[:, rng.integers(n)] = 0
    if number % 7 == 0:
        A = A[:, rng.integers(n, size=n)]
    return A, 10 ** rng.uniform(-5, 7)


def test_margin_solver_certifies_random_problems(rng):
    for number in range(300):
        A, C = random_problem(rng, number)
        found = nonnegative_margin(A, C)
        assert found.gap < 1e-8, number
        assert relative_gap(A, found.alpha, found.multipliers, C) < 1e-6, number  # large terms cancel in it


def relative_gap(A, alpha, u, C):
    """Objective minus dual value, both recomputed from their definitions."""
    assert (alpha >= 0).all()
    assert (u >= 0).all()
    assert (u <= C * (1 + 1e-12)).all()
    objective = alpha @ alpha + C * np.maximum(1 - A @ alpha, 0).sum()
    pull = np.maximum(A.T @ u, 0)
    scale = np.abs(A).max() ** 2  # the solver's unit
    return max(objective - u.sum() + pull @ pull / 4, 0) * scale / (1 + objective * scale)


def test_margin_solver_does_not_stop_early():
    """A gap that shrinks slowly at first is no stall."""
    S, y = make_similarity(600, 5, indefinite=0.1, random_state=0)
    assert nonnegative_margin(signed_similarities(S, y), 0.1).gap < 1e-8


def each_other_class(S, y):
    """One constraint per object and other class, in the order of ClassMargin."""
    rows = [
        np.where(y == y[i], S[i], 0) - np.where(y == g, S[i], 0)
        for i in range(len(y))
        for g in np.unique(y)
        if g != y[i]
    ]
    return np.array(rows)


def random_similarities(rng, number):
    """Singular, duplicated, indefinite, asymmetric, constant; any unit."""
    n = rng.integers(2, 60)
    X = rng.normal(size=(n, 2))
    S = [
        lambda: rng.normal(size=(n, n)),
        lambda: rbf(X, X, 10 ** rng.uniform(-1, 1)),
        lambda: rng.integers(0, 3, size=(n, n)).astype(float),
        lambda: X @ X.T,
        lambda: rng.random((n, n)),
        lambda: np.full((n, n), float(number % 12 > 5)),
    ][number % 6]()
    if number % 4 == 0:
        chosen = rng.integers(n, size=n)
        S = S[np.ix_(chosen, chosen)]
    n_classes = rng.integers(2, min(n, 6) + 1)
    return S * 10 ** rng.uniform(-3, 3), np.r_[np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)]


@pytest.mark.parametrize("count", [60, pytest.param(400, marks=pytest.mark.slow)])
def test_class_margin_certifies_random_problems(rng, monkeypatch, count):
    """Cold and warm, ascending and not; without the interior points that are its fallback."""
    monkeypatch.setattr("similis.solvers._class_margin._DENSE", 0)
    monkeypatch.setattr("similis.solvers._class_margin._MAX_LARGE", 10**6)
    for number in range(count):
        S, y = random_similarities(rng, number)
        each, normalize = bool(number % 2), number % 7 == 0
        A = each_other_class(S, y) if each else signed_similarities(S, y)
        if normalize:
            length = np.linalg.norm(A, axis=1, keepdims=True)
            A = np.divide(A, length, out=np.zeros_like(A), where=length > 0)
        costs = 10 ** rng.uniform(-5, 7, size=3) / (np.abs(A).max() ** 2 or 1)
        if number % 3:
            costs.sort()
        margin = ClassMargin(S, y, each=each, normalize=normalize)
        for C in costs:
            found = margin.solve(C)
            assert found.gap < 1e-8, number
            if A.any():
                assert relative_gap(A, found.alpha, found.multipliers, C) < 1e-6, number
        if number % 10 == 0:
            assert found.objective == pytest.approx(nonnegative_margin(A, C).objective, rel=1e-6)


@pytest.mark.parametrize("each", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_class_margin_certifies_the_whole_grid(each):
    S, y = make_similarity(1500, 5, indefinite=0.1, random_state=1)
    margin = ClassMargin(S, y, each=each)
    for C in 10.0 ** np.arange(-3, 6):
        assert margin.solve(C).gap < 1e-8, C


def test_class_margin_falls_back_to_interior_points(rng, monkeypatch):
    monkeypatch.setattr("similis.solvers._class_margin._MAX_STEPS", 0)
    S, y = make_similarity(40, 3, indefinite=0.1, random_state=0)
    for each in (False, True):
        found = ClassMargin(S, y, each=each).solve(10.0)
        assert found.gap < 1e-8
        A = each_other_class(S, y) if each else signed_similarities(S, y)
        assert relative_gap(A, found.alpha, found.multipliers, 10.0) < 1e-7


def test_class_margin_of_tight_similarities_takes_few_steps():
    """More multipliers between the bounds than objects: interior points instead of many pivots."""
    S, y = make_similarity(80, 5, indefinite=0.1, random_state=0)
    S = np.exp(4 * (S - S.max()) / S.std())
    margin = ClassMargin(S, y, each=True)
    for C in (0.1, 1.0, 10.0, 100.0):
        found = margin.solve(C)
        assert found.n_iter < 12
        assert relative_gap(each_other_class(S, y), found.alpha, found.multipliers, C) < 1e-7


@pytest.mark.parametrize("each", [False, True])
def test_class_margin_without_violations(each):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(np.repeat(X, 2, axis=0))
    S = rbf(X + 1e-3 * np.random.default_rng(0).normal(size=X.shape), None, 1.5)
    y = np.repeat(y, 2)
    found = ClassMargin(S, y, each=each).solve(None)  # large enough for the path of C
    A = each_other_class(S, y) if each else signed_similarities(S, y)
    assert found.feasible
    assert found.gap < 1e-8
    assert (A @ found.alpha >= 1 - 1e-9).all()
    assert found.objective == pytest.approx(nonnegative_margin(A).objective, rel=1e-6)
    S[0] = S[2]
    S[:, 0] = S[:, 2]
    y[0] = (y[2] + 1) % 3
    assert not ClassMargin(S, y, each=each).solve(None).feasible


@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
@pytest.mark.parametrize("strong", [True, False])
def test_search_of_sbc_equals_separate_fits(kind, strong):
    S, y = make_similarity(90, 4, kind=kind, separation=0.8, random_state=0)
    y[y == 3] = 2
    y[0] = 3  # a class that is missing from the training part of a fold
    grid = {"C": [100.0, 0.1, 1.0]}
    folds = KFold(4)
    shared = PathSearchCV(SBC(strong=strong, kind=kind), grid, cv=folds).fit(S, y)
    plain = GridSearchCV(SBC(strong=strong, kind=kind), grid, cv=folds).fit(S, y)
    for split in range(4):
        key = f"split{split}_test_score"
        np.testing.assert_array_equal(shared.cv_results_[key], plain.cv_results_[key])
    decisions = SBC(strong=strong, kind=kind).predict_path(
        S[10:, 10:], y[10:], S[:10, 10:], [{"C": 1.0}], response="decision_function"
    )[0]
    fitted = SBC(C=1.0, strong=strong, kind=kind).fit(S[10:, 10:], y[10:])
    np.testing.assert_allclose(decisions, fitted.decision_function(S[:10, 10:]), atol=1e-6)


def test_infeasible_sbc_says_why(rng):
    S, y = wine(4.0)
    with pytest.raises(ValueError, match="tighter"):
        SBC().fit(S, y)
    X, y, _ = balanced(rng)
    X[1] = X[0]
    with pytest.raises(ValueError, match=r"objects 0 .* and 1"):
        SBC().fit(rbf(X, X, 0.1), y)
    assert SBC(C=1.0).fit(rbf(X, X, 0.1), y).gap_ < 1e-8


def test_sbc_fits_what_it_can(rng):
    S, y = wine(1.0)
    model = SBC().fit(S, y)
    assert model.fits_
    np.testing.assert_array_equal(model.predict(S), y)
    assert model.is_strong(S).all()
    assert (model.alpha_ >= 0).all()
    assert model.gap_ < 1e-8
    weak = SBC(strong=False).fit(S, y)
    assert weak.fits_
    assert weak.objective_ <= model.objective_ + 1e-9
    np.testing.assert_array_equal(weak.predict(S), y)
    other = SBC(normalize=True).fit(S, y)
    assert not np.allclose(other.alpha_, model.alpha_)


def test_fits_is_the_condition_that_is_required(rng):
    """With strong=False: more similar to its class than to each other class, not to all of them together."""
    S, y = np.full((6, 6), 0.6) + 0.4 * np.eye(6), np.repeat([0, 1, 2], 2)
    for strong in (True, False):
        model = SBC(C=1e3, strong=strong).fit(S, y)
        sums = np.stack([S[:, y == g] @ model.alpha_[y == g] for g in range(3)]).T
        own = sums[np.arange(6), y]
        others = np.where(np.eye(3, dtype=bool)[y], -np.inf, sums)
        each, together = own > others.max(axis=1), own > sums.sum(axis=1) - own
        assert model.fits_ == (together if strong else each).all()
    assert model.fits_
    assert not together.any()
    assert not model.tight_


def test_strong_and_plain_agree_for_two_classes(rng):
    X, y, _ = balanced(rng)
    S = rbf(X, X, 0.5)
    np.testing.assert_allclose(SBC().fit(S, y).alpha_, SBC(strong=False).fit(S, y).alpha_, atol=1e-5)


def test_as_the_similarity_tightens(rng):
    """[bernal2003] propositions 2, 3, 5 and the corollary of 4, for balanced classes of distinct objects."""
    X, y, _ = balanced(rng)
    new = X + 0.05 * rng.normal(size=X.shape)  # near the training objects: similarities must not underflow
    smallest = []
    for sigma in (2.0, 0.5, 0.2):
        S, Q = rbf(X, X, sigma), rbf(new, X, sigma)
        Sigma = signed_similarities(S, y)
        smallest.append(np.linalg.eigvalsh(Sigma)[0])
    assert smallest[0] < smallest[1] < smallest[2]
    assert smallest[2] > 0.2  # proposition 2
    assert (Sigma.sum(axis=1) > 0).all()  # proposition 3: the unit vector fits
    maxsim = MaxSim().fit(S, y).predict(Q)
    sbc = SBC().fit(S, y)
    assert sbc.tight_
    np.testing.assert_allclose(sbc.alpha_, 1, atol=0.4)
    np.testing.assert_array_equal(sbc.predict(Q), maxsim)
    np.testing.assert_array_equal(SimilarityPerceptron().fit(S, y).predict(Q), maxsim)
    np.testing.assert_array_equal(SVC(kernel="precomputed", C=1e3).fit(S, y).predict(Q), maxsim)  # proposition 5


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["maxsim", "sbc", "perceptron"])
def test_the_study_searches_the_tightness(name):
    """With the linear conversion alone SBC erred by 50.7 % on iris."""
    X, y = load_iris(return_X_y=True)
    D = cdist(X, X)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    predicted = []
    for unit in (1.0, 1e-6, 1e6):
        model = make_model(name, kind="dissimilarity", n=75, cv=3).fit(unit * D[np.ix_(train, train)], y[train])
        predicted.append(model.predict(unit * D[np.ix_(test, train)]))
    assert np.mean(predicted[0] != y[test]) < 0.08
    np.testing.assert_array_equal(predicted[0], predicted[1])
    np.testing.assert_array_equal(predicted[0], predicted[2])


def test_the_study_classifies_unequal_classes(rng):
    y = np.repeat([0, 1], [100, 20])
    X = rng.normal(size=(120, 2)) + np.outer(y, [8, 0])
    D = cdist(X, X)
    for name in ("maxsim", "sbc"):
        model = make_model(name, kind="dissimilarity", n=120, cv=3).fit(D, y)
        assert np.mean(model.predict(D) != y) == 0


def test_perceptron_is_its_loop(rng):
    X, y, _ = balanced(rng, n_classes=3)
    S = rbf(X, X, 0.7)
    alpha, history = np.zeros(30), []
    Sigma = signed_similarities(S, y)
    for _ in range(50):
        changed = False
        for i in range(30):
            if Sigma[i] @ alpha <= 0:
                alpha[i] += 1
                changed = True
            history.append(alpha.copy())
        if not changed:
            break
    model = SimilarityPerceptron(max_iter=50).fit(S, y)
    np.testing.assert_array_equal(model.alpha_, alpha)
    assert model.fits_
    np.testing.assert_array_equal(model.predict(S), y)
    averaged = SimilarityPerceptron(max_iter=50, average=True).fit(S, y)
    np.testing.assert_allclose(averaged.alpha_, np.mean(history, axis=0), atol=1e-12)


def test_perceptron_that_cannot_end_says_so():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = SimilarityPerceptron(max_iter=7).fit(np.ones((4, 4)), [0, 1, 0, 1])
    assert model.n_iter_ == 7
    assert not model.fits_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not SimilarityPerceptron(max_iter=7, average=True).fit(np.ones((4, 4)), [0, 1, 0, 1]).fits_


def test_compact_keeps_the_weighted(rng):
    S, y = wine(2.0)
    model = SBC(C=1.0).fit(S, y)
    small = compact(model)
    assert small.n_features_in_ == np.count_nonzero(model.alpha_) < len(y)
    np.testing.assert_array_equal(small.predict(S[:, small.columns_]), model.predict(S))


def test_wine_level():
    """[bernal2003] sec. 6 prints 96.67 % for one split; the level over our splits is what can be compared."""
    S, y = wine(2.0)
    rng = np.random.default_rng(0)
    right = {"maxsim": [], "sbc": []}
    for _ in range(5):
        order = rng.permutation(len(y))
        train, test = order[:118], order[118:]
        for name, model in (("maxsim", MaxSim()), ("sbc", SBC(C=10.0))):
            model.fit(S[np.ix_(train, train)], y[train])
            right[name].append((model.predict(S[np.ix_(test, train)]) == y[test]).mean())
    assert np.mean(right["maxsim"]) > 0.92
    assert np.mean(right["sbc"]) > 0.92


def test_tight_fitting(rng):
    """[bernal2003] sec. 3.3: the unit vector solves S alpha > 0; a tighter similarity becomes tight fitting."""
    X = np.concatenate([rng.normal(size=(12, 2)), rng.normal(size=(20, 2)) + 1])
    y, order = np.repeat([0, 1], [12, 20]), rng.permutation(32)
    X, y = X[order], y[order]
    S = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8)
    found = []
    for q in (1, 2, 4, 8, 16, 32, 64, 256, 4096, 2.0**20):
        signed = np.where(y[:, None] == y, S**q, -(S**q))
        tight = MaxSim().fit(S**q, y).tight_
        assert tight is bool((signed @ np.ones(32) > 0).all())
        found.append(tight)
    assert not found[0]
    assert found[-1]
    assert found == sorted(found)
    assert not MaxSim().fit(np.ones((32, 32)), y).tight_  # a class of 12 and one of 20


def tight_categorical(n, power):
    """Shares of equal features to a high power, which are near zero except for neighbors, in four classes."""
    rng = np.random.default_rng(0)
    centers = rng.integers(0, 4, (20, 12))
    group = rng.integers(0, 20, n)
    X = np.where(rng.random((n, 12)) < 0.25, rng.integers(0, 4, (n, 12)), centers[group])
    return (X[:, None] == X).mean(axis=2) ** power, group % 4


@pytest.mark.parametrize("power", [4, 8, 16])
def test_tight_similarities_need_no_interior_points(power, monkeypatch):
    """Multipliers of one object are nearly equal: weight has to move between them."""
    monkeypatch.setattr("similis.solvers._class_margin._DENSE", 0)
    monkeypatch.setattr("similis.solvers._class_margin._MAX_LARGE", 10**6)
    S, y = tight_categorical(150, power)
    margin = ClassMargin(S, y, each=True)
    for C in (1.0, 10.0):
        found = margin.solve(C)
        assert found.gap < 1e-8
        assert found.n_iter < 12


@pytest.mark.parametrize("normalize", [False, True])
def test_blocks_of_classes_equal_constraints_written_out(rng, normalize):
    S, y = tight_categorical(40, 2)
    margin = ClassMargin(S, y, each=True, normalize=normalize)
    blocks = _class_margin._ClassBlocks(margin)
    dense = _class_margin.Constraints(margin._rows(*np.nonzero(margin._used)))
    a, u, weights = rng.random(40), rng.random(blocks.shape[0]), rng.random(blocks.shape[0])
    assert blocks.shape == dense.shape
    np.testing.assert_allclose(blocks.times(a), dense.times(a), atol=1e-14)
    np.testing.assert_allclose(blocks.transposed(u), dense.transposed(u), atol=1e-13)
    np.testing.assert_allclose(np.triu(blocks.normal(weights)), np.triu(dense.normal(weights)), atol=1e-13)


def test_matrix_on_disk_is_read_in_blocks(tmp_path, rng):
    n = 3000
    S = np.lib.format.open_memmap(tmp_path / "S.npy", "w+", np.float32, (n, n))
    S[:] = rng.random((n, n), dtype=np.float32)
    np.fill_diagonal(S, 2)
    tracemalloc.start()
    MaxSim().fit(S, np.arange(n) % 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 2  # of a copy in double precision
