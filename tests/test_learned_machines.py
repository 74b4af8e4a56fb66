"""All machines that learn their kernel: pairs, grids, files, bad input; the paper's experiments, and real sets."""

import warnings

import conic
import numpy as np
import pytest
from oracles import learned_kernels as oracle
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from toy_problems import noisy_similarities as problem
from toy_problems import signs

from similis import FullKernelSVM, IndefiniteSVM, SimMKL, SimSVM, compact, load, save
from similis.exceptions import AsymmetryWarning, ProximityError

MACHINES = [
    SimSVM(),
    SimSVM(anchor="flip", norm=1),
    SimSVM(anchor="identity"),
    IndefiniteSVM(),
    FullKernelSVM(),
    SimMKL(),
]


@pytest.mark.parametrize("estimator", MACHINES, ids=repr)
class TestEveryMachine:
    def test_pairs_are_machines_of_their_own(self, estimator, rng):
        S, y, Q, _ = problem(rng, n=30, n_classes=3)
        model = estimator.fit(S, y)
        np.testing.assert_array_equal(model.pairs_, [[0, 1], [0, 2], [1, 2]])
        assert not hasattr(model, "objective_")
        for (g, h), part in zip(model.pairs_, model.estimators_):
            members = np.flatnonzero((y == "abc"[g]) | (y == "abc"[h]))
            alone = type(estimator)(**estimator.get_params()).fit(S[np.ix_(members, members)], y[members])
            np.testing.assert_allclose(part.decision_function(Q[:, members]), alone.decision_function(Q[:, members]))
            # Equal but for rounding: vectorized sums depend on the alignment of the arrays in memory.
            np.testing.assert_allclose(part.objective_, alone.objective_, rtol=1e-13)
        assert model.fit(S[:20, :20], y[:20] == "a").objective_ > 0  # and forgets the pairs
        assert not hasattr(model, "pairs_")

    @pytest.mark.quick_cases(3)
    def test_grids_give_what_single_fits_give(self, estimator, rng):
        S, y, Q, _ = problem(rng, n=24, n_classes=3)
        first, second = estimator.path_params
        grid = [{first: a, second: b} for a in (0.3, 0.01) for b in (0.01, 0.3)]
        values = estimator.predict_path(S, y, Q, grid, response="decision_function")
        for point, value in zip(grid, values):
            single = type(estimator)(**{**estimator.get_params(), **point}).fit(S, y).decision_function(Q)
            np.testing.assert_allclose(value, single, atol=1e-9)
        folds = np.arange(24) % 3
        found = estimator.predict_path_cv(S, y, folds, grid)
        for point, labels in zip(grid, found):
            model = type(estimator)(**{**estimator.get_params(), **point})
            train = folds != 1
            model.fit(S[np.ix_(train, train)], y[train])
            np.testing.assert_array_equal(labels[~train], model.predict(S[np.ix_(~train, train)]))

    def test_degenerate_input_is_quiet(self, estimator):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            zero = estimator.fit(np.zeros((5, 5)), [0, 1, 1, 1, 0])
            assert zero.predict(np.zeros((1, 5))) == 1  # the larger class
            two = estimator.fit(np.array([[1.0, 0.2], [0.2, 0.0]]), [0, 1])
            assert np.isfinite(two.decision_function([[1.0, 0.0], [0.0, 1.0]])).all()
            alike = np.ones((6, 6))
            alike[:3, 3:] = alike[3:, :3] = 0.0
            same = estimator.fit(alike, [0, 0, 0, 1, 1, 1])
            np.testing.assert_array_equal(same.predict(alike), [0, 0, 0, 1, 1, 1])

    def test_asymmetry_is_said(self, estimator, rng):
        S, y, Q, _ = problem(rng, n=20)
        A = S + 0.1 * rng.normal(size=S.shape)
        with pytest.warns(AsymmetryWarning):
            model = estimator.fit(A, y)
        f = model.decision_function(Q)
        np.testing.assert_allclose(estimator.fit((A + A.T) / 2, y).decision_function(Q), f, atol=1e-9)

    def test_cross_validation_files_and_columns(self, estimator, rng, tmp_path):
        S, y, Q, _ = problem(rng, n=30, n_classes=3, noise=0.05)
        assert cross_val_score(estimator, S, y, cv=3).shape == (3,)
        model = estimator.fit(S, y)
        save(model, tmp_path / "model.skops")
        np.testing.assert_array_equal(load(tmp_path / "model.skops").decision_function(Q), model.decision_function(Q))
        small = compact(model)
        np.testing.assert_array_equal(small.predict(Q[:, small.columns_]), model.predict(Q))

    @pytest.mark.parametrize("value", [0.0, -1.0, "many"])
    def test_parameters_must_be_positive(self, estimator, value):
        for name in {"eta", "gamma", "rho", "C", "trace"} & set(estimator.get_params()):
            with pytest.raises(ValueError, match=name) as caught:
                type(estimator)(**{name: value}).fit(np.eye(4), [0, 1, 0, 1])
            assert len(str(caught.value)) < 300


def test_an_open_gap_is_said(rng, monkeypatch):
    from similis.solvers import _interior_point

    S, y, _, _ = problem(rng)
    monkeypatch.setattr(_interior_point.InteriorPoint, "step", lambda self: False)
    with pytest.warns(ConvergenceWarning, match="SimSVM did not converge"):
        SimSVM(gamma=1e-3).fit(S, y)


class TestExperiments:
    """What the reproduction of the paper adds: its linear program, and the augmented rule for new rows."""

    def test_linear_program_stays_above_the_optimum_and_comes_nearer(self, rng):
        """[chen2010] Eq. (5.28)."""
        from papers.problems import lp_approximation

        S, y, _, _ = problem(rng, n=16)
        model = SimSVM(eta=0.01, gamma=0.01, norm=1).fit(S, y)
        found = [lp_approximation(model, signs(y), p, np.random.default_rng(1)).objective for p in (5, 40)]
        assert model.objective_ < found[1] < found[0]
        many = lp_approximation(model, signs(y), 40, np.random.default_rng(1))
        value = oracle.simsvm(S, signs(y), many.alpha, many.c, many.b, 0.01, 0.01, "clip", 1)
        assert value <= many.objective + 1e-9  # c is the best for the spectrum found

    def test_linear_program_by_name(self, rng):
        S, y, Q, _ = problem(rng, n=24)
        options = {"eta": 0.01, "gamma": 0.01, "norm": 1}
        exact = SimSVM(**options).fit(S, y)
        model = SimSVM(**options, n_random=60, random_state=0).fit(S, y)
        assert exact.objective_ < model.objective_ < 1.5 * exact.objective_
        assert model.gap_ <= 1e-9
        c, b, alpha = model.dual_coef_, model.intercept_, model.alpha_
        assert oracle.simsvm(S, signs(y), alpha, c, b, 0.01, 0.01, "clip", 1) <= model.objective_ + 1e-9
        U = model.eigenvectors_  # [chen2010] Eq. (5.19) on new rows
        np.testing.assert_allclose(model.decision_function(Q), Q @ U @ (alpha * (U.T @ c)) + b, atol=1e-9)
        assert (model.predict(Q) == SimSVM(**options, n_random=60, random_state=0).fit(S, y).predict(Q)).all()
        with pytest.raises(ProximityError, match="n_random needs norm=1"):
            SimSVM(n_random=5).fit(S, y)

    def test_signed_weights_by_name(self, rng):
        S, y, Q, _ = problem(rng, n=24, m=5)
        stack, rows = (np.stack([A, A**2, 1 - A], axis=2) for A in (S, Q))
        options = {"roles": "kernels", "eta": 0.01, "trace": 24.0}
        signed, conic_sum = (SimMKL(signed=flag, **options).fit(stack, y) for flag in (True, False))
        assert signed.objective_ <= conic_sum.objective_ * (1 + 1e-6)
        f = signed.intercept_ + np.einsum("mnq,nq->m", rows, signed.coef_)
        np.testing.assert_allclose(signed.decision_function(rows), f)
        kernels = [oracle.positive_part(stack[:, :, k]) for k in range(3)]
        K = sum(w * K for w, K in zip(signed.weights_, kernels))
        expected = K @ signed.dual_coef_ + signed.intercept_
        clipped = np.stack(kernels, axis=2)  # rows of the clipped kernels are their own projections
        np.testing.assert_allclose(signed.decision_function(clipped), expected, atol=1e-6)
        with pytest.raises(ProximityError, match="signed=True combines kernels only"):
            SimMKL(signed=True).fit(stack, y)

    def test_augmented_rows_of_an_inactive_machine_are_those_of_clip(self, rng):
        from papers.problems import treat_new_rows

        S, y, Q, own = problem(rng, n=20, m=6)
        model = SimSVM(eta=0.1, gamma=1e3).fit(S, y)
        values = treat_new_rows(model, S, y, Q, np.repeat("b", 6), own=own)
        wrong = 0
        for s, t in zip(Q, own):
            row = oracle.positive_part(oracle.augmented(S, s, t))[-1, :-1]
            c = model.dual_coef_
            U = model.eigenvectors_[:, model.eigenvalues_ > 1e-12]
            wrong += row @ (U @ (U.T @ c)) + model.intercept_ <= 0
        assert values["error, augmented rows"] == pytest.approx(100 * wrong / 6)


def real(name):
    from similis.datasets import load_benchmark
    from similis.exceptions import DataNotFoundError

    try:
        data = load_benchmark(name)
    except DataNotFoundError as error:
        pytest.skip(str(error))
    return data.proximity, data.target


class TestRealSets:
    @pytest.mark.parametrize(
        ("name", "objective", "risk", "error"),
        [("aural_sonar", 0.283, 0.166, 6.0), ("voting_vdm", 0.185, 0.102, 4.4)],
    )
    def test_published_optimum_to_the_last_digit(self, name, objective, risk, error):
        """[chen2010] table 5.1, the rows of the second-order cone program."""
        S, y = real(name)
        model = SimSVM(eta=0.01, gamma=0.01, norm=1).fit(S, y)
        f, t = model.decision_function(S), np.where(y == model.classes_[1], 1.0, -1.0)
        assert round(model.objective_, 3) == objective
        assert round(float(oracle.hinge(t, f).mean()), 3) == risk
        assert round(100 * float((f * t <= 0).mean()), 1) == error

    @pytest.mark.slow
    @pytest.mark.parametrize(("anchor", "norm"), [("clip", 2), ("flip", 2), ("clip", 1), ("identity", 2)])
    def test_spectra_against_a_conic_solver(self, anchor, norm):
        S, y = real("aural_sonar")
        t = np.where(y == 1, 1.0, -1.0)
        for eta in (1e-3, 1e-2, 0.1, 1.0):
            for gamma in (1e-3, 1e-2, 0.1, 1.0):
                model = SimSVM(eta=eta, gamma=gamma, anchor=anchor, norm=norm).fit(S, y)
                value = conic.simsvm(S, t, eta, gamma, anchor, norm)
                assert np.isnan(value) or model.objective_ <= value * (1 + 1e-5)
                assert model.gap_ <= 1e-6 * model.objective_

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["aural_sonar", "protein_uw"])
    def test_every_point_of_the_papers_grid_reaches_its_gap(self, name):
        S, y = real(name)
        keep = np.flatnonzero(y < 2)
        S, y = S[np.ix_(keep, keep)], y[keep]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for C in 10.0 ** np.arange(-3, 4):
                for rho in 10.0 ** np.arange(-3, 4):
                    IndefiniteSVM(C=C, rho=rho).fit(S, y)  # warns where it does not
            for eta in 10.0 ** np.arange(-4, 2):
                for gamma in 10.0 ** np.arange(-4, 5):
                    for anchor in ("clip", "flip"):
                        SimSVM(eta=eta, gamma=gamma, anchor=anchor).fit(S, y)
