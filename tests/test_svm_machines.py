"""Machines on rows: the potential SVM and the LP machine keep their papers' definitions, alone and in grids."""

import warnings

import numpy as np
import pytest
from oracles import svm as oracle
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ShuffleSplit
from sklearn.pipeline import make_pipeline

from similis import RBF, LPMachine, Pairwise, PathSearchCV, PotentialSVM, SpectrumFlip, compact
from similis.solvers import best_intercept, lp_margin


def problem(rng, n=45, n_classes=2, noise=0.1):
    y = np.arange(n) % n_classes
    Z = 1.5 * rng.normal(size=(n_classes, 4))[y] + rng.normal(size=(n, 4))
    new = 1.5 * rng.normal(size=(12, 4))

    def measure(A, B):
        return np.exp(-((A[:, None] - B) ** 2).sum(-1) / 8) + noise * rng.normal(size=(len(A), len(B)))

    return measure(Z, Z), np.array(["a", "b", "c", "d"])[y], measure(new, Z)


def signs(y, positive):
    return np.where(y == positive, 1.0, -1.0)


class TestPotentialSVM:
    def test_solves_its_equation_on_the_matrix_as_it_is(self, rng):
        """[chen2010] Eq. (2.8): S is asymmetric here and not symmetrized; no intercept."""
        S, y, Q = problem(rng)
        model = PotentialSVM(C=0.4, epsilon=0.2).fit(S, y)
        t = signs(y, model.classes_[1])
        assert oracle.box_lasso_violation(S, t, model.coef_, 0.2, 0.4) < 1e-9
        assert model.objective_ == pytest.approx(oracle.box_lasso_objective(S, t, model.coef_, 0.2), rel=1e-12)
        assert model.gap_ < 1e-9 * model.objective_
        assert model.intercept_ == 0
        np.testing.assert_allclose(model.decision_function(Q), Q @ model.coef_, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(model.predict(Q), np.where(Q @ model.coef_ > 0, "b", "a"))

    def test_normalized_form(self, rng):
        """[cazzanti2007] Eq. (2.15)-(2.16) with columns centered and of unit norm, b = mean(y)."""
        S, y, Q = problem(rng, n=31)
        S[:, 4] = 0.7  # a constant column says nothing
        model = PotentialSVM(C=0.6, epsilon=0.05, normalize=True).fit(S, y)
        t = signs(y, "b")
        center, norm = S.mean(axis=0), np.linalg.norm(S - S.mean(axis=0), axis=0)
        norm[4] = 1.0
        A = (S - center) / norm
        alpha = model.coef_ * norm
        assert alpha[4] == 0
        assert (np.abs(np.abs(alpha) - 0.6) < 1e-12).any()  # the box is in units of normalized columns
        snapped = np.where(np.abs(np.abs(alpha) - 0.6) < 1e-12, np.sign(alpha) * 0.6, alpha)
        assert oracle.box_lasso_violation(A, t, snapped, 0.05, 0.6) < 1e-8  # Q = A'A, and y'A = (y - b)'A
        f = (Q - center) / norm @ alpha + t.mean()
        np.testing.assert_allclose(model.decision_function(Q), f, rtol=1e-9, atol=1e-12)

    def test_normalized_form_ignores_units_and_offsets_of_columns(self, rng):
        S, y, Q = problem(rng, n_classes=3)
        scale, shift = rng.uniform(0.1, 10, size=len(y)), rng.normal(size=len(y))
        a = PotentialSVM(normalize=True).fit(S, y).decision_function(Q)
        b = PotentialSVM(normalize=True).fit(S * scale + shift, y).decision_function(Q * scale + shift)
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)

    def test_a_large_epsilon_leaves_nothing(self, rng):
        S, y, Q = problem(rng)
        model = PotentialSVM(epsilon=1e6).fit(S, y)
        assert not model.coef_.any()
        np.testing.assert_array_equal(model.predict(Q), np.full(len(Q), "a"))
        small = compact(model)
        np.testing.assert_array_equal(small.predict(Q[:, small.columns_]), model.predict(Q))

    def test_gap_is_said_where_it_stays_open(self):
        S = np.ones((6, 6))
        S[0, 3] = 1e9
        S += np.diag(np.arange(6) * 1e-7)
        with pytest.warns(ConvergenceWarning, match="epsilon") if _is_hard(S) else warnings.catch_warnings():
            PotentialSVM(C=1.0, epsilon=0.0).fit(S, [0, 1, 0, 1, 0, 1])


def _is_hard(S):
    from similis.solvers import box_lasso

    fit = box_lasso(S, np.where(np.arange(6) % 2, 1.0, -1.0), 0.0, 1.0)
    return fit.gap > max(1e-6 * fit.objective, 6e-9)


class TestLPMachine:
    @pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 100.0])
    def test_objective_is_certified(self, rng, C):
        """[chen2010] Eq. (2.7) against its dual: max 1'u, |S'(y.u)| <= 1, y'u = 0, 0 <= u <= C."""
        S, y, Q = problem(rng)
        model = LPMachine(C=C).fit(S, y)
        t = signs(y, "b")
        margin = t * (S @ model.coef_ + model.intercept_)
        primal = np.abs(model.coef_).sum() + C * np.maximum(0, 1 - margin).sum()
        assert model.objective_ == pytest.approx(primal, rel=1e-12)
        u = lp_margin(S, t, C).multipliers
        assert abs(t @ u) < 1e-9 * C * len(y)
        assert np.abs(S.T @ (t * u)).max() <= 1 + 1e-12
        assert (u >= 0).all()
        assert (u <= C).all()
        assert primal - u.sum() < 1e-7 * primal
        assert model.gap_ < 1e-7 * primal
        np.testing.assert_allclose(model.decision_function(Q), Q @ model.coef_ + model.intercept_)

    def test_units_do_not_matter(self, rng):
        S, y, _ = problem(rng)
        a = lp_margin(S, signs(y, "b"), 1.0)
        for t in (1e-6, 1e9):
            b = lp_margin(t * S, signs(y, "b"), 1.0 / t)
            np.testing.assert_allclose(t * b.coef, a.coef, rtol=1e-6, atol=1e-7)

    def test_a_path_goes_on_while_a_margin_is_violated(self):
        """Multipliers at their bound that the tolerance of the solver has scaled down are still at their bound."""
        rng = np.random.default_rng(26)
        x = rng.normal(size=12).round(1)
        S = np.exp(-((x[:, None] - x) ** 2))
        codes = (rng.random(12) < 0.5).astype(int)
        codes[:2] = 1, 0
        points = [{"C": C} for C in (1e3, 1e5)]
        for point, scores in zip(points, LPMachine().path_scores(S, codes, S, points), strict=True):
            single = LPMachine(**point).fit(S, codes).decision_function(S)
            np.testing.assert_allclose(scores[:, 1], single, rtol=1e-6, atol=1e-6)

    def test_without_weights_the_larger_class_wins(self):
        y = np.array([0, 1, 1, 1])
        assert LPMachine().fit(np.zeros((4, 4)), y).predict(np.zeros((1, 4))) == 1
        balanced = LPMachine().fit(np.zeros((4, 4)), [0, 1, 0, 1])
        assert balanced.intercept_ == 0  # the middle of [-1, 1]

    def test_best_intercept_is_the_middle_of_all_best(self, rng):
        for _ in range(100):
            n = rng.integers(2, 12)
            y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
            y[:2] = 1, -1
            f, cost = rng.normal(size=n).round(1), rng.choice([0.1, 0.2, 0.3], size=n)
            loss = [float(cost @ np.maximum(0, 1 - y * (f + b))) for b in y - f]
            best = (y - f)[np.array(loss) <= min(loss) + 1e-12]
            assert best_intercept(f, y, cost) == pytest.approx((best.min() + best.max()) / 2, abs=1e-12)

    @pytest.mark.parametrize("power", [-100, -30, -9, -3, 0, 4, 8, 10, 12, 30, 100])
    def test_extreme_scales(self, rng, power):
        """Version 1.0 reported an unbounded program for large similarities, and a useless solution for small ones."""
        x = rng.normal(size=(24, 2))
        y = np.where(x[:, 0] + 0.5 * rng.normal(size=24) > 0, 1, -1)
        S = np.exp(-((x[:, None] - x) ** 2).sum(axis=-1))
        found = lp_margin(S * 10.0**power, y, 1.0)
        assert found.gap <= 1e-6 * found.objective
        if power < -2:  # no weight pays: everything belongs to the larger class
            assert not found.coef.any()
            assert found.objective == pytest.approx(2 * min((y == 1).sum(), (y == -1).sum()))
        if power >= 8:  # hard margins: the same weights in other units
            hard = lp_margin(S, y, 1e6)
            np.testing.assert_allclose(10.0**power * found.coef, hard.coef, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(np.isfinite(found.multipliers), True)
        model = LPMachine().fit(S * 10.0**power, y)
        assert np.isfinite(model.decision_function(S * 10.0**power)).all()

    @pytest.mark.parametrize("power", [8, 16, 60])
    def test_extreme_scales_of_overlapping_classes(self, rng, power):
        """Two columns cannot separate the classes: the least number of violations remains, whatever C."""
        x = rng.normal(size=(30, 2))
        y = np.where(x[:, 0] + rng.normal(size=30) > 0, 1, -1)
        known = lp_margin(x, y, 1e5).objective / 1e5
        assert lp_margin(x * 10.0**power, y, 1.0).objective == pytest.approx(known, rel=1e-3)

    @pytest.mark.parametrize(("C", "closed"), [(1e3, True), (1e6, True), (1e9, False)])
    def test_gap_of_overlapping_classes(self, C, closed):
        """The gap is closed up to a large C; above, where a solver may ignore the weights, a warning says so."""
        x = np.arange(12.0)[:, None]
        S, y = x @ x.T, np.arange(12) % 2
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = LPMachine(C=C).fit(S, y)
        warned = any(issubclass(w.category, ConvergenceWarning) and "Lower C" in str(w.message) for w in caught)
        assert (model.gap_ > 1e-5 * model.objective_) == warned
        assert not (closed and warned)


MACHINES = [
    PotentialSVM(epsilon=0.05),
    PotentialSVM(epsilon=0.05, normalize=True),
    PotentialSVM(epsilon=0.5, multiclass="ovr"),
    PotentialSVM(C=0.3, epsilon=0.3, normalize=True, multiclass="ovr"),
    LPMachine(),
]
GRIDS = {
    "PotentialSVM": {"C": [1e4, 0.1, 1.0], "epsilon": [0.01, 1.0, 1e3]},
    "LPMachine": {"C": [100.0, 1e-3, 1.0, 10.0]},
}


@pytest.mark.parametrize("estimator", MACHINES, ids=repr)
class TestEveryMachine:
    @pytest.mark.quick_cases(4)
    @pytest.mark.parametrize(("n_classes", "cv"), [(2, 4), (3, ShuffleSplit(2, random_state=0))])
    def test_search_has_the_scores_of_plain_fits(self, rng, estimator, n_classes, cv):
        S, y, _ = problem(rng, n=36, n_classes=n_classes)
        scoring = "roc_auc" if n_classes == 2 else "accuracy"
        grid = GRIDS[type(estimator).__name__]
        ours = PathSearchCV(estimator, grid, cv=cv, scoring=scoring).fit(S, y)
        theirs = GridSearchCV(estimator, grid, cv=cv, scoring=scoring, error_score="raise").fit(S, y)
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        assert ours.best_params_ == theirs.best_params_

    def test_a_pair_is_the_machine_of_its_members(self, rng, estimator):
        S, y, Q = problem(rng, n_classes=4)
        model = estimator.fit(S, y)
        if model.multiclass == "ovr":
            assert not hasattr(model, "pairs_")
            f = np.column_stack([type(model)(**model.get_params()).fit(S, y == g).decision_function(Q) for g in "abcd"])
            np.testing.assert_allclose(model.decision_function(Q), f, rtol=1e-9, atol=1e-12)
            return
        assert model.pairs_.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
        f = np.empty((len(Q), 6))
        for k, (part, (g, h)) in enumerate(zip(model.estimators_, model.pairs_)):
            pair = model.classes_[[g, h]]
            members = np.isin(y, pair)
            alone = type(model)(**model.get_params()).fit(S[np.ix_(members, members)], y[members])
            np.testing.assert_array_equal(part.classes_, pair)
            np.testing.assert_allclose(part.coef_, alone.coef_, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(model.coef_[k, members], alone.coef_, rtol=1e-9, atol=1e-12)
            assert not model.coef_[k, ~members].any()
            f[:, k] = part.decision_function(Q[:, members])
        scores = np.array([oracle.votes(row, 4) for row in f])
        np.testing.assert_allclose(model.decision_function(Q), scores, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.predict(Q), model.classes_[scores.argmax(axis=1)])

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_compact_reads_the_support_alone(self, rng, estimator, n_classes):
        S, y, Q = problem(rng, n_classes=n_classes)
        model = estimator.fit(S, y)
        support = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0))
        np.testing.assert_array_equal(model.columns_, support)
        assert len(support) > 0
        small = compact(model)
        np.testing.assert_allclose(small.decision_function(Q[:, support]), model.decision_function(Q))
        np.testing.assert_array_equal(small.predict(Q[:, support]), model.predict(Q))

    def test_nothing_to_learn_from(self, estimator):
        """A zero matrix, two objects, one object a class, identical objects: an answer, and no warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for S, y in (
                (np.zeros((4, 4)), [0, 1, 0, 1]),
                (np.eye(2), [0, 1]),
                (np.eye(3), [0, 1, 2]),
                (np.ones((6, 6)), [0, 1, 2, 0, 1, 2]),
            ):
                assert np.isfinite(estimator.fit(S, y).decision_function(S)).all()

    def test_one_class_left_by_a_fold_is_named(self, rng, estimator):
        S, _, _ = problem(rng, n=6)
        y = np.array(["a"] * 5 + ["b"])
        grid = {"C": [1.0]}
        with pytest.raises(ValueError, match=r"two classes outside each fold; fold 5 leaves only 'a'"):
            PathSearchCV(estimator, grid, cv=LeaveOneOut()).fit(S, y)

    def test_a_class_that_a_fold_leaves_out_is_not_predicted(self, rng, estimator):
        S, y, _ = problem(rng, n=20, n_classes=2)
        y[0] = "c"
        fold = np.arange(20) % 5
        answer = estimator.predict_path_cv(S, y, fold, [{"C": 1.0}])[0]
        assert not (answer[fold == 0] == "c").any()

    def test_bad_parameters_are_named(self, rng, estimator):
        S, y, _ = problem(rng)
        for bad in ({"C": 0.0}, {"C": -1.0}, {"epsilon": -0.1}, {"multiclass": "all"}):
            if set(bad) <= set(estimator.get_params()):
                with pytest.raises(ValueError, match=next(iter(bad))):
                    type(estimator)(**bad).fit(S, y)


def test_objects_are_forgotten_that_the_support_does_not_need(rng):
    Z = rng.normal(size=(40, 3))
    y = (Z[:, 0] > 0).astype(int)
    model = make_pipeline(Pairwise(RBF()), PotentialSVM(epsilon=0.5)).fit(Z, y)
    small = compact(model)
    assert len(small[-1].columns_) < 40
    assert small[-1].n_features_in_ == len(small[-1].columns_)
    new = rng.normal(size=(10, 3))
    np.testing.assert_array_equal(small.predict(new), model.predict(new))


def test_works_behind_a_repair(rng):
    S, y, Q = problem(rng)
    S = (S + S.T) / 2
    model = make_pipeline(SpectrumFlip(), PotentialSVM()).fit(S, y)
    assert model.score(S, y) > 0.9
    assert model.predict(Q).shape == (12,)
