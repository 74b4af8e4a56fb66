"""Machines that learn their kernel: their equations, equivalences and limits, new rows, several kernels."""

import conic
import numpy as np
import pytest
from oracles import learned_kernels as oracle
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from toy_problems import noisy_similarities as problem
from toy_problems import signs

from similis import FullKernelSVM, IndefiniteSVM, PathSearchCV, SimMKL, SimSVM, SpectrumClip, SpectrumFlip, make_stack
from similis.exceptions import ProximityError
from similis.svm._base import nearest_kernel_rows


class TestSimSVM:
    @pytest.mark.parametrize(("anchor", "norm"), [("clip", 2), ("flip", 2), ("clip", 1), ("flip", 1), ("identity", 2)])
    def test_attributes_are_those_of_its_equation(self, rng, anchor, norm):
        """[chen2010] Eq. (5.20), and (5.19) for new rows."""
        S, y, Q, _ = problem(rng)
        model = SimSVM(eta=0.02, gamma=0.01, anchor=anchor, norm=norm).fit(S, y)
        args = signs(y), model.alpha_, model.dual_coef_, model.intercept_, 0.02, 0.01, anchor, norm
        assert model.objective_ == pytest.approx(oracle.simsvm(S, *args), rel=1e-10)
        assert model.gap_ < 1e-8 * model.objective_
        assert model.active_
        assert (model.eigenvalues_ * model.alpha_ >= -1e-12).all()
        U, f = model.eigenvectors_, model.decision_function(Q)
        np.testing.assert_allclose(f, Q @ (U * model.alpha_) @ U.T @ model.dual_coef_ + model.intercept_, rtol=1e-9)
        K = (U * (model.alpha_ * model.eigenvalues_)) @ U.T
        np.testing.assert_allclose(model.decision_function(S), K @ model.dual_coef_ + model.intercept_, atol=1e-9)
        np.testing.assert_array_equal(model.predict(Q), np.where(f > 0, "b", "a"))

    def test_norm_one_leaves_most_multipliers_at_the_anchor(self, rng):
        S, y, _, _ = problem(rng)
        one, two = (SimSVM(eta=0.02, gamma=0.01, norm=norm).fit(S, y) for norm in (1, 2))
        moved = [(np.abs(m.alpha_ - (m.eigenvalues_ >= 0)) > 1e-6).sum() for m in (one, two)]
        assert 0 < moved[0] < moved[1]

    @pytest.mark.parametrize(("anchor", "spectrum"), [("clip", SpectrumClip()), ("flip", SpectrumFlip())])
    def test_a_large_gamma_is_the_machine_on_the_anchor_and_says_so(self, rng, anchor, spectrum):
        S, y, Q, _ = problem(rng)
        eta = 0.05
        model = SimSVM(eta=eta, gamma=1e3, anchor=anchor).fit(S, y)
        assert not model.active_
        assert model.n_iter_ == 0
        np.testing.assert_array_equal(model.alpha_, oracle.anchor_of(model.eigenvalues_, anchor))
        peer = make_pipeline(spectrum, SVC(kernel="precomputed", C=1 / (2 * len(y) * eta), tol=1e-10)).fit(S, y)
        np.testing.assert_allclose(model.decision_function(Q), peer.decision_function(Q), atol=1e-6)
        # where the constraint begins to bind the machine changes
        p = model.eigenvalues_ * (model.eigenvectors_.T @ model.dual_coef_) ** 2 * eta
        edge = np.linalg.norm(p)
        assert not SimSVM(eta=eta, gamma=edge * 1.001, anchor=anchor).fit(S, y).active_
        assert SimSVM(eta=eta, gamma=edge * 0.99, anchor=anchor).fit(S, y).active_

    def test_treating_new_rows_alike_matters(self, rng):
        """[chen2010] table 5.4: rows left as they are fit another kernel."""
        S, y, _, _ = problem(rng, n=60, noise=1.2)
        model = SimSVM(eta=0.01, gamma=0.05, anchor="flip").fit(S, y)
        raw = S @ model.dual_coef_ + model.intercept_
        assert (model.predict(S) == y).mean() > (np.where(raw > 0, "b", "a") == y).mean()

    def test_scale_of_the_matrix_is_that_of_eta(self, rng):
        S, y, Q, _ = problem(rng)
        a = SimSVM(eta=0.02, gamma=0.01).fit(S, y)
        b = SimSVM(eta=20.0, gamma=0.01).fit(1000 * S, y)
        np.testing.assert_allclose(a.decision_function(Q), b.decision_function(1000 * Q), atol=1e-5)


class TestIndefiniteSVM:
    def test_attributes_are_those_of_its_equation(self, rng):
        """[chen2010] Eq. (5.8)-(5.9)."""
        S, y, Q, _ = problem(rng)
        model = IndefiniteSVM(C=2.0, rho=0.5).fit(S, y)
        value, K = oracle.indefinite(S, signs(y), model.alpha_, 0.5)
        assert model.objective_ == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(model.kernel_, K, atol=1e-9)
        assert (model.alpha_ >= 0).all()
        assert (model.alpha_ <= 2).all()
        assert abs(model.alpha_ @ signs(y)) < 1e-12
        assert model.gap_ < 1e-7 * model.objective_
        values, W = np.linalg.eigh(K)
        W = W[:, values > 1e-10]
        f = Q @ W @ W.T @ (signs(y) * model.alpha_) + model.intercept_
        np.testing.assert_allclose(model.decision_function(Q), f, atol=1e-8)

    def test_equals_the_primal_problem_rescaled(self, rng):
        """[chen2010] Eq. (5.12) with eta = 1 / (2 n C) and 2 eta rho ||K - S||^2; the paper drops the factor."""
        S, y, _, _ = problem(rng, n=14)
        C, rho = 1.5, 0.4
        eta = 1 / (2 * len(y) * C)
        model = IndefiniteSVM(C=C, rho=rho).fit(S, y)
        t, c = signs(y), signs(y) * model.alpha_
        primal = oracle.full_kernel(S, t, model.kernel_, c, model.intercept_, eta, 2 * eta * rho, square=True)
        assert 2 * eta * model.objective_ == pytest.approx(primal, rel=1e-6)
        assert primal == pytest.approx(conic.full_kernel(S, t, eta, 2 * eta * rho, square=True), rel=1e-5)

    def test_a_large_rho_is_the_machine_on_clip(self, rng):
        S, y, Q, _ = problem(rng)
        peer = make_pipeline(SpectrumClip(), SVC(kernel="precomputed", C=1.0, tol=1e-8)).fit(S, y)
        f = IndefiniteSVM(C=1.0, rho=1e7).fit(S, y).decision_function(Q)
        np.testing.assert_allclose(f, peer.decision_function(Q), atol=1e-3)

    def test_for_a_kernel_it_is_a_quartic(self, rng):
        """S positive semi-definite: 1'a - v'Sv / 2 - ||v||^4 / (16 rho)."""
        S, y, _, _ = problem(rng, n=20)
        S = oracle.positive_part(S)
        model = IndefiniteSVM(C=1.0, rho=0.2).fit(S, y)
        v = signs(y) * model.alpha_
        assert model.objective_ == pytest.approx(v @ signs(y) - v @ S @ v / 2 - (v @ v) ** 2 / 3.2, rel=1e-9)

    def test_rules_for_new_rows(self, rng):
        """[chen2010] sec. 4.1 and Eq. (5.9), the new object's entry of v zero; footnote 3 of sec. 5.3."""
        S, y, Q, own = problem(rng, n=20, m=6)
        model = IndefiniteSVM(C=2.0, rho=0.3, query="augmented").fit(S, y)
        v = signs(y) * model.alpha_
        padded = np.append(v, 0.0)

        def decide(s, psi):
            whole = oracle.augmented(S, s, psi) + np.outer(padded, padded) / 1.2
            return oracle.positive_part(whole)[-1, :-1] @ v + model.intercept_

        expected = [decide(s, psi) for s, psi in zip(Q, own)]
        np.testing.assert_allclose(model.decision_function(Q, own), expected, atol=1e-9)
        expected = [decide(s, np.diag(S).mean()) for s in Q]
        np.testing.assert_allclose(model.decision_function(Q), expected, atol=1e-9)
        raw = IndefiniteSVM(C=2.0, rho=0.3, query="raw").fit(S, y)
        for f in (raw.decision_function(Q), raw.decision_function(Q, own)):
            np.testing.assert_allclose(f, Q @ v + raw.intercept_, atol=1e-9)

    @pytest.mark.parametrize("query", ["augmented", "raw"])
    def test_rules_for_new_rows_on_a_path(self, rng, query):
        S, y, Q, own = problem(rng, n=24, m=6, n_classes=3)
        model = IndefiniteSVM(query=query).fit(S, y)
        search = PathSearchCV(IndefiniteSVM(query=query), {"C": [0.1, 1.0]}, cv=2).fit(S, y)
        assert search.best_estimator_.predict(Q).shape == (6,)
        codes = np.unique(y, return_inverse=True)[1]
        (scores,) = model.path_scores(S, codes, Q, [{"C": 1.0, "rho": 1.0}])
        np.testing.assert_allclose(scores, model.decision_function(Q), atol=1e-8)
        assert model.predict(Q, own).shape == (6,)


class TestFullKernelSVM:
    def test_attributes_are_those_of_its_equation(self, rng):
        """[chen2010] Eq. (5.2)."""
        S, y, _, _ = problem(rng, n=14)
        model = FullKernelSVM(eta=0.05, gamma=0.1).fit(S, y)
        args = signs(y), model.kernel_, model.dual_coef_, model.intercept_, 0.05, 0.1
        assert model.objective_ == pytest.approx(oracle.full_kernel(S, *args), rel=1e-7)
        assert model.objective_ == pytest.approx(conic.full_kernel(S, signs(y), 0.05, 0.1), rel=1e-5)
        assert model.gap_ < 1e-7 * model.objective_
        pinv = np.linalg.pinv(model.kernel_, rcond=1e-10)  # c of least norm
        np.testing.assert_allclose(pinv @ model.kernel_ @ model.dual_coef_, model.dual_coef_, atol=1e-8)

    def test_is_the_indefinite_svm_at_its_distance(self, rng):
        """gamma ||X|| = min_t gamma (||X||^2 / t + t) / 2: rho = gamma / (4 eta t) at t = ||K - S||."""
        S, y, _, _ = problem(rng)
        eta, gamma = 0.02, 0.05
        full = FullKernelSVM(eta=eta, gamma=gamma).fit(S, y)
        t = np.linalg.norm(full.kernel_ - S)
        inner = IndefiniteSVM(C=1 / (2 * len(y) * eta), rho=gamma / (4 * eta * t)).fit(S, y)
        np.testing.assert_allclose(inner.kernel_, full.kernel_, atol=1e-4)
        assert full.objective_ == pytest.approx(2 * eta * inner.objective_ + gamma * t / 2, rel=1e-6)

    def test_limits(self, rng):
        S, y, _, _ = problem(rng, n=20)
        np.testing.assert_allclose(FullKernelSVM(gamma=1e5).fit(S, y).kernel_, oracle.positive_part(S), atol=1e-3)
        K = oracle.positive_part(S) + 0.1 * np.eye(20)
        model = FullKernelSVM(eta=0.1, gamma=50.0).fit(K, y)  # a kernel is kept as it is
        np.testing.assert_allclose(model.kernel_, K, atol=1e-10)
        peer = SVC(kernel="precomputed", C=1 / (2 * 20 * 0.1), tol=1e-10).fit(K, y)
        np.testing.assert_allclose(model.decision_function(K), peer.decision_function(K), atol=1e-6)

    def test_transduction(self, rng):
        S, y, _, _ = problem(rng, n=13, n_classes=2)
        codes = np.where(y == "b", 1, 0)
        given = codes.copy()
        given[8:] = -1
        model = FullKernelSVM(eta=0.05, gamma=0.1, transductive=True).fit(S, given)
        assert model.kernel_.shape == (13, 13)
        assert model.dual_coef_.shape == (8,)
        f = model.kernel_[:, :8] @ model.dual_coef_ + model.intercept_
        np.testing.assert_array_equal(model.transduction_[:8], codes[:8])
        np.testing.assert_array_equal(model.transduction_[8:], (f[8:] > 0).astype(int))
        t = signs(y)[:8]
        value = oracle.full_kernel(S, t, model.kernel_, model.dual_coef_, model.intercept_, 0.05, 0.1)
        assert model.objective_ == pytest.approx(value, rel=1e-6)
        assert value == pytest.approx(conic.full_kernel(S, t, 0.05, 0.1), rel=1e-5)
        assert not hasattr(model, "predict_path")
        assert not hasattr(FullKernelSVM().fit(S, y), "transduction_")

    def test_transduction_of_several_classes_and_text(self, rng):
        S, y, Q, own = problem(rng, n=30, n_classes=3, noise=0.1)
        given = y.astype(object)
        given[20:] = -1
        model = FullKernelSVM(transductive=True).fit(S, given)
        assert (model.transduction_[:20] == y[:20]).all()
        assert set(model.transduction_[20:]) <= set(y)
        assert set(model.predict(Q, own)) <= {"a", "b", "c"}

    def test_transduction_needs_two_classes_beside_no_label(self, rng):
        S, _, _, _ = problem(rng, n=6)
        for y in ([-1, -1, 1, 1, 1, 1], [-1] * 6):
            with pytest.raises(ProximityError, match="class") as caught:
                FullKernelSVM(transductive=True).fit(S, y)
            assert len(str(caught.value)) < 300


class TestNewRows:
    def test_nearest_rows_against_a_conic_solver(self, rng):
        """[chen2010] Eq. (5.13), from which (5.14) follows with r'K^+ r <= t."""
        K = oracle.positive_part(problem(rng, n=6)[0]) + 0.01 * np.eye(6)
        for psi in (-0.5, 0.1, 1.0, 4.0):
            s = rng.normal(size=6)
            r = nearest_kernel_rows(K, s[None], np.array([psi]))[0]
            t = max(psi, r @ np.linalg.solve(K, r))
            assert np.linalg.eigvalsh(oracle.augmented(K, r, t))[0] > -1e-9
            value = conic.nearest_row(K, s, psi)
            assert np.isnan(value) or 2 * ((r - s) ** 2).sum() + (t - psi) ** 2 == pytest.approx(value, rel=1e-4)

    def test_rows_extend_the_kernel_and_are_nearest(self, rng):
        S, y, Q, own = problem(rng)
        K = IndefiniteSVM(rho=0.1).fit(S, y).kernel_
        R = nearest_kernel_rows(K, Q, own)
        values, U = np.linalg.eigh(K)
        keep = values > 1e-9
        inverse = (U[:, keep] / values[keep]) @ U[:, keep].T
        P = U[:, keep] @ U[:, keep].T

        def cost(r, s, psi):
            return 2 * ((r - s) ** 2).sum() + (max(psi, r @ inverse @ r) - psi) ** 2

        for r, s, psi in zip(R, Q, own):
            np.testing.assert_allclose(P @ r, r, atol=1e-9)
            best = cost(r, s, psi)
            for _ in range(20):
                assert best <= cost(r + 1e-3 * P @ rng.normal(size=len(r)), s, psi) + 1e-12

    def test_without_a_self_similarity_it_is_free(self, rng):
        S, y, Q, own = problem(rng)
        for model in (IndefiniteSVM(), FullKernelSVM()):
            f = model.fit(S, y).decision_function(Q)
            np.testing.assert_allclose(model.decision_function(Q, 1e9), f, atol=1e-6)
            assert np.abs(model.decision_function(Q, own) - f).max() > 1e-6
            np.testing.assert_array_equal(model.predict(Q, own) == "b", model.decision_function(Q, own) > 0)

    def test_self_similarities_of_several_classes(self, rng):
        S, y, Q, own = problem(rng, n_classes=3)
        model = FullKernelSVM().fit(S, y)
        scores = model.decision_function(Q, own)
        assert scores.shape == (len(Q), 3)
        np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(Q, own))
        with pytest.raises(ProximityError, match="one per row, 15"):
            model.predict(Q, own[:3])


class TestSimMKL:
    def stack(self, rng, n=40, **options):
        S, y, Q, _ = problem(rng, n=n, **options)
        T, _, R, _ = problem(rng, n=n, **options)
        X = signs(y)[:, None] * 0.6 + rng.normal(size=(n, 2))
        new = rng.normal(size=(len(Q), 2))
        kernels = [X @ X.T, np.exp(-((X[:, None] - X) ** 2).sum(-1))]
        rows = [new @ X.T, np.exp(-((new[:, None] - X) ** 2).sum(-1))]
        names = ["judged", "other", "linear", "gauss"]
        return make_stack([S, T, *kernels], names=names), y, make_stack([Q, R, *rows], names=names)

    def test_attributes_are_those_of_its_equation(self, rng):
        """[chen2010] Eq. (5.35), two similarities."""
        stack, y, new = self.stack(rng)
        model = SimMKL(eta=0.01, gamma=0.02, trace=30.0).fit(stack, y)
        assert model.roles_ == ("similarity", "similarity", "kernel", "kernel")
        assert list(model.named_weights_) == ["linear", "gauss"]
        np.testing.assert_array_equal(list(model.named_weights_.values()), model.weights_)
        slices = [np.asarray(stack[:, :, k]) for k in range(4)]
        args = model.alpha_, model.weights_, model.dual_coef_, model.intercept_, 0.01, 0.02, 30.0
        assert model.objective_ == pytest.approx(oracle.simmkl(slices[:2], slices[2:], signs(y), *args), rel=1e-9)
        assert model.gap_ < 1e-7 * model.objective_
        f = model.intercept_
        for k, (U, alpha) in enumerate(zip(model.eigenvectors_, model.alpha_)):
            f = f + new[:, :, k] @ (U * alpha) @ U.T @ model.dual_coef_
        for k, w in zip((2, 3), model.weights_):
            f = f + w * new[:, :, k] @ model.dual_coef_
        np.testing.assert_allclose(model.decision_function(new), f, atol=1e-9)

    def test_without_similarities_it_is_multiple_kernel_learning(self, rng):
        """[chen2010] Eq. (5.33); both kernels are active."""
        y = np.array(["a", "b"] * 12)
        X = signs(y)[:, None] + rng.normal(size=(24, 2))  # each kernel sees one of two features that are equally good
        kernels = [np.exp(-((X[:, None, k] - X[:, k]) ** 2)) for k in (0, 1)]
        eta = 0.01
        model = SimMKL(eta=eta, trace=24.0).fit(make_stack(kernels), y)
        assert (model.weights_ * [np.trace(K) for K in kernels] > 0.5).all()
        value = conic.multiple_kernels(kernels, signs(y), 1 / (2 * 24 * eta), 24.0)
        assert model.objective_ == pytest.approx(2 * eta * value, rel=1e-5)
        forms = [model.dual_coef_ @ K @ model.dual_coef_ / np.trace(K) for K in kernels]
        assert forms[0] == pytest.approx(forms[1], rel=1e-4)  # the condition for both to have weight

    def test_a_stack_of_one_is_simsvm(self, rng):
        S, y, Q, _ = problem(rng, n_classes=3)
        one, other = SimMKL().fit(make_stack([S]), y), SimSVM().fit(S, y)
        np.testing.assert_allclose(one.decision_function(make_stack([Q])), other.decision_function(Q), atol=1e-9)
        np.testing.assert_allclose(SimMKL().fit(S, y).decision_function(Q), other.decision_function(Q), atol=1e-9)

    def test_one_kernel_is_a_support_vector_machine(self, rng):
        stack, y, new = self.stack(rng)
        K = np.asarray(stack[:, :, 3])
        model = SimMKL(eta=0.01).fit(K, y)
        assert model.trace_ == len(y)
        peer = SVC(kernel="precomputed", C=1 / (2 * len(y) * 0.01), tol=1e-10).fit(K * len(y) / np.trace(K), y)
        f = peer.decision_function(np.asarray(new[:, :, 3]) * len(y) / np.trace(K))
        np.testing.assert_allclose(model.decision_function(np.asarray(new[:, :, 3])), f, atol=1e-4)

    def test_trace_of_the_first_similarity_by_default(self, rng):
        stack, y, _ = self.stack(rng)
        values = np.linalg.eigvalsh(stack[:, :, 0])
        for anchor, trace in (("clip", np.maximum(values, 0).sum()), ("flip", np.abs(values).sum())):
            model = SimMKL(anchor=anchor).fit(stack, y)
            assert model.trace_ == pytest.approx(trace)
            used = sum(w * np.trace(stack[:, :, k]) for k, w in zip((2, 3), model.weights_))
            assert used == pytest.approx(trace)

    def test_a_kernel_may_be_declared_a_similarity(self, rng):
        stack, y, _ = self.stack(rng)
        model = SimMKL(roles=["similarity", "similarity", "similarity", "kernel"]).fit(stack, y)
        assert len(model.alpha_) == 3
        assert len(model.weights_) == 1

    def test_zero_slices_have_no_weight(self, rng):
        stack, y, _ = self.stack(rng)
        model = SimMKL().fit(np.concatenate([stack, np.zeros((40, 40, 1))], axis=2), y)
        assert model.roles_[-1] == "kernel"
        assert model.weights_[-1] == 0

    def test_several_classes_and_searches(self, rng):
        S, y, Q, _ = problem(rng, n_classes=3)
        T, _, R, _ = problem(rng, n_classes=3)
        stack, new = make_stack([S, T, T @ T]), make_stack([Q, R, R @ T])
        model = SimMKL().fit(stack, y)
        assert model.coef_.shape == (3, 40, 3)
        assert [part.weights_.shape for part in model.estimators_] == [(1,)] * 3
        search = PathSearchCV(SimMKL(), {"eta": [0.01, 0.1], "gamma": [0.01, 1.0]}, cv=3).fit(stack, y)
        plain = GridSearchCV(SimMKL(), {"eta": [0.01, 0.1], "gamma": [0.01, 1.0]}, cv=3).fit(stack, y)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
        assert search.predict(new).shape == (15,)

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda S: SimMKL(roles=["kernel"]).fit(S, [0, 1] * 20), "each of the 4 slices"),
            (lambda S: SimMKL(roles=["kernel", "x", "kernel", "kernel"]).fit(S, [0, 1] * 20), "similarity"),
            (lambda S: SimMKL(roles=["kernel"] * 4).fit(S, [0, 1] * 20), "'judged' is declared a kernel"),
            (lambda S: SimMKL().fit(S, [0, 1] * 20).predict(S[:, :, :3]), "stack of 4 matrices"),
            (lambda S: SimMKL().fit(S[:, :7], [0, 1] * 20), "square"),
            (lambda S: make_stack([S[:, :, 0], S[:7, :, 0]]), "same shape"),
            (lambda S: SimMKL(trace=0.0).fit(S, [0, 1] * 20), "trace"),
        ],
    )
    def test_bad_stacks(self, rng, make, words):
        with pytest.raises(ValueError, match=words) as caught:
            make(self.stack(rng)[0])
        assert len(str(caught.value)) < 300
