"""CompletionSVM: the conic program, transduction, new rows, limits, bad input."""

import cvxpy as cp
import numpy as np
import pytest
from oracles import completion as oracle
from sklearn.svm import SVC

from similis import CompletionSVM, load, make_stack, save
from similis.exceptions import ProximityError
from similis.solvers import infer_row, kernel_factor


def world(rng, n=14, n_classes=2, hidden=0.3, noise=0.4):
    """A kernel with hidden rows, an auxiliary kernel from noisy features, labels that follow the first feature."""
    X = rng.normal(size=(n, 4))
    order = np.argsort(np.argsort(X[:, 0]))
    y = order * n_classes // n
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 4)
    X = X + noise * rng.normal(size=X.shape)
    aux = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 4)
    known = rng.random(n) >= hidden
    known[:2] = True, False
    return K, np.where(known[:, None] & known, K, np.nan), known, aux, y


def cvx(partial, known, aux, y, eta, gamma):
    """(6.10) as printed, with both matrix inequalities; (6.7) where every y is 1 or -1."""
    n, i, T = len(aux), np.flatnonzero(known), np.flatnonzero(y)
    V = np.linalg.eigh(aux)[1]
    K, w = cp.Variable((n, n), PSD=True), cp.Variable(n, nonneg=True)
    P, xi, b = cp.Variable((len(T) + 1, len(T) + 1), PSD=True), cp.Variable(len(T), nonneg=True), cp.Variable()
    problem = cp.Problem(
        cp.Minimize(cp.sum(xi) / len(T) + eta * P[-1, -1] + gamma * cp.norm(K - V @ cp.diag(w) @ V.T, "fro")),
        [
            K[np.ix_(i, i)] == partial[np.ix_(i, i)],
            P[:-1, :-1] == K[np.ix_(T, T)],
            cp.multiply(y[T], P[:-1, -1] + b) >= 1 - xi,
        ],
    )
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize(("eta", "gamma"), [(0.01, 0.1), (1.0, 0.001), (0.001, 10.0), (0.1, 1.0)])
@pytest.mark.parametrize("unlabeled", [False, True])
def test_objective_against_a_conic_solver(eta, gamma, unlabeled, rng):
    _, partial, known, aux, y = world(rng)
    labels = np.where(np.arange(14) % 4 == 3, -1, y) if unlabeled else y
    signs = np.where(labels < 0, 0, 2.0 * y - 1)
    model = CompletionSVM(eta=eta, gamma=gamma).fit(make_stack([partial, aux]), labels)
    best = cvx(partial, known, aux, signs, eta, gamma)
    assert model.objective_ == pytest.approx(best, rel=1e-5, abs=1e-6)
    assert model.gap_ < 1e-5
    V = np.linalg.eigh(aux)[1]
    value = oracle.machine_objective(model.kernel_, model.dual_coef_, model.intercept_, signs, V, eta, gamma)
    assert value == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_array_equal(model.kernel_[np.ix_(known, known)], partial[np.ix_(known, known)])
    assert np.linalg.eigvalsh(model.kernel_)[0] > -1e-12
    np.testing.assert_allclose(model.weights_, [v @ model.kernel_ @ v for v in V.T], atol=1e-10)
    if unlabeled:
        assert not model.dual_coef_[labels < 0].any()
        f = model.kernel_ @ model.dual_coef_ + model.intercept_
        np.testing.assert_array_equal(model.transduction_, np.where(labels < 0, f > 0, labels))
    else:
        assert not hasattr(model, "transduction_")


def test_a_singular_known_block(rng):
    F = rng.normal(size=(16, 2))
    _, _, known, aux, y = world(rng, n=16)
    K = F @ F.T
    partial = np.where(known[:, None] & known, K, np.nan)
    model = CompletionSVM().fit(make_stack([partial, aux]), y)
    assert model.gap_ < 1e-4 * model.objective_
    np.testing.assert_array_equal(model.kernel_[np.ix_(known, known)], K[np.ix_(known, known)])
    assert np.linalg.eigvalsh(model.kernel_)[0] > -1e-10


def test_nothing_hidden_is_the_usual_machine(rng):
    K, _, _, aux, y = world(rng, n=30)
    for data in (make_stack([K, aux]), K):
        model = CompletionSVM(eta=0.01).fit(data, y)
        usual = SVC(kernel="precomputed", C=1 / (2 * 30 * 0.01), tol=1e-9).fit(K, y)
        np.testing.assert_allclose(model.decision_function(data), usual.decision_function(K), atol=1e-5)
        np.testing.assert_array_equal(model.kernel_, K)


def test_large_gamma_is_the_frobenius_completion(rng):
    """The departure from the auxiliary kernel's eigenvectors is then as small as the known block allows."""
    from similis import CompleteKernel

    _, partial, _, aux, y = world(rng)
    stack = make_stack([partial, aux])
    least = CompleteKernel(method="frobenius").fit(stack).objective_
    V = np.linalg.eigh(aux)[1]
    found = [
        oracle.frobenius_objective(CompletionSVM(gamma=g).fit(stack, y).kernel_, V)[0] for g in (0.001, 0.1, 100.0)
    ]
    assert found[0] >= found[1] - 1e-5
    assert found[1] >= found[2] - 1e-5
    assert found[2] == pytest.approx(least, abs=1e-4)


def test_several_classes_vote(rng):
    _, partial, _, aux, y = world(rng, n=24, n_classes=3)
    names = np.array(["a", "b", "c"])
    stack = make_stack([partial, aux])
    model = CompletionSVM().fit(stack, names[y])
    assert len(model.estimators_) == 3
    np.testing.assert_array_equal(model.pairs_, [[0, 1], [0, 2], [1, 2]])
    assert model.decision_function(stack).shape == (24, 3)
    assert (model.predict(stack) == names[y]).mean() > 0.8
    members = np.flatnonzero(y < 2)
    pair = CompletionSVM().fit(stack[np.ix_(members, members)], names[y[members]])
    assert model.estimators_[0].objective_ == pytest.approx(pair.objective_, rel=1e-6)
    answers = CompletionSVM().fit(stack, np.where(np.arange(24) % 5 == 0, -1, y)).transduction_
    assert set(answers) <= {0, 1, 2}
    np.testing.assert_array_equal(answers[np.arange(24) % 5 != 0], y[np.arange(24) % 5 != 0])


def test_one_and_minus_one_are_two_classes(rng):
    _, partial, _, aux, y = world(rng)
    model = CompletionSVM().fit(make_stack([partial, aux]), 2 * y - 1)
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    assert not hasattr(model, "transduction_")


# new rows


@pytest.mark.parametrize("n_known", [0, 4, 9])
def test_rows_against_a_conic_solver(n_known, rng):
    n = 9
    K, _, _, aux, _ = world(rng, n=n + 1)
    row = np.full(n, np.nan)
    row[:n_known] = K[n, :n_known]
    found = infer_row(kernel_factor(K[:n, :n]), aux[:n, :n], aux[n, :n], aux[n, n], row)
    V = np.linalg.eigh(aux)[1]
    X, w, limits = cp.Variable((n + 1, n + 1), PSD=True), cp.Variable(n + 1, nonneg=True), []
    limits = [X[:n, :n] == K[:n, :n]] + [X[n, j] == row[j] for j in range(n_known)]
    cp.Problem(cp.Minimize(cp.norm(X - V @ cp.diag(w) @ V.T, "fro")), limits).solve(
        solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10
    )
    np.testing.assert_allclose(found, X.value[n, :n], atol=1e-4)
    np.testing.assert_allclose(found[:n_known], row[:n_known], atol=1e-8)


def test_what_is_known_of_a_row_is_used(rng):
    """A row that is known altogether is taken as it is; the auxiliary values then do not matter."""
    K, partial, _, aux, y = world(rng, n=20)
    model = CompletionSVM().fit(make_stack([partial, aux]), y)
    f = K @ rng.normal(size=20)
    r = model.kernel_ @ rng.normal(size=20)
    for other in (aux[:1], f[None] / 10):
        value = model.decision_function(make_stack([r[None], other]))
        np.testing.assert_allclose(value, r @ model.dual_coef_ + model.intercept_, atol=1e-6)
    one = make_stack([np.full((1, 20), np.nan), aux[:1]])
    np.testing.assert_allclose(model.decision_function(one), model.decision_function(one, self_similarity=1.0))
    np.testing.assert_allclose(model.decision_function(one), model.decision_function(one, self_similarity=[1.0]))


def test_files(tmp_path, rng):
    _, partial, _, aux, y = world(rng, n=12, n_classes=3)
    stack = make_stack([partial, aux])
    model = CompletionSVM().fit(stack, y)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(
        load(tmp_path / "m.skops").decision_function(stack[:3]), model.decision_function(stack[:3])
    )


# bad input


def test_bad_input_gets_one_clear_sentence(rng):
    K, partial, known, aux, y = world(rng)
    i, j = np.flatnonzero(known)[:2]
    holes = partial.copy()
    holes[i, j] = holes[j, i] = np.nan
    nothing = np.full_like(K, np.nan)
    good = make_stack([partial, aux])
    lone = nothing.copy()
    lone[0, 0] = 1.0
    fitted = CompletionSVM().fit(good, y)
    cases = [
        (lambda: CompletionSVM(max_samples=10).fit(good, y), r"max_samples=10 .*Got 14.*CompleteKernel"),
        (lambda: CompletionSVM(eta=0.0).fit(good, y), "eta"),
        (lambda: CompletionSVM(gamma=-1.0).fit(good, y), "gamma"),
        (lambda: CompletionSVM(max_samples=1).fit(good, y), "max_samples"),
        (lambda: CompletionSVM().fit(make_stack([nothing, aux]), y), "at least one known"),
        (lambda: CompletionSVM().fit(make_stack([holes, aux]), y), f"row {i}, column {j}.*CompleteKernel"),
        (lambda: CompletionSVM().fit(make_stack([partial - 0.6, aux]), y), "form a kernel"),
        (lambda: CompletionSVM().fit(make_stack([partial, aux - 0.6]), y), "auxiliary kernel must be a kernel"),
        (lambda: CompletionSVM().fit(make_stack([partial, aux, aux]), y), "stack of two.*Got 3"),
        (lambda: CompletionSVM().fit(make_stack([partial, partial]), y), "auxiliary kernel must be complete"),
        (lambda: CompletionSVM().fit(partial, y), "stack of the kernel and an auxiliary"),
        (lambda: make_stack([partial, aux[:5, :5]]), "same shape"),
        (lambda: CompletionSVM().fit(make_stack([lone, aux]), 1 + np.arange(14) % 3), "known kernel entry among"),
        (lambda: fitted.predict(make_stack([K, aux, aux])), "stack of 2"),
        (lambda: fitted.predict(make_stack([K, partial])), "Auxiliary values of new rows must be known"),
        (lambda: fitted.predict(good, self_similarity=[1.0, 2.0]), "self_similarity"),
    ]
    for call, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert len(str(caught.value)) < 300
    with pytest.raises(ProximityError, match="self_similarity"):
        fitted.predict(good, self_similarity=np.nan)


def test_degenerate_is_not_an_error():
    """Two objects; duplicates; a kernel of zeros."""
    K = np.array([[1.0, np.nan], [np.nan, np.nan]])
    assert len(CompletionSVM().fit(make_stack([K, np.eye(2)]), [0, 1]).predict(make_stack([K, np.eye(2)]))) == 2
    same = np.ones((4, 4))
    hidden = np.where(np.arange(4)[:, None] + np.arange(4) < 3, 1.0, np.nan)
    hidden[3] = hidden[:, 3] = np.nan
    hidden[:3, :3] = 1.0
    for aux in (same, np.eye(4)):
        for block in (hidden, 0 * hidden):
            model = CompletionSVM().fit(make_stack([block, aux]), [0, 1, 0, 1])
            assert np.isfinite(model.objective_)
            assert np.isfinite(model.decision_function(make_stack([block, aux]))).all()
