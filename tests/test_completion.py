"""complete_kernel and CompleteKernel: what each method minimises, its guarantees, its limits, new rows."""

import json
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import completion as oracle
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import CompleteKernel, NearestCentroid, SpectrumClip, complete_kernel, make_stack
from similis.exceptions import AsymmetryWarning, ProximityError
from similis.solvers import em_completion, wishart_completion

AUXILIARY = ("em", "frobenius", "wishart")


def world(rng, n=20, noise=0.4, hidden=0.3, width=4.0):
    """A kernel, the same with whole rows hidden, which are known, and an auxiliary kernel from noisy features."""
    X = rng.normal(size=(n, 4))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / width)
    X = X + noise * rng.normal(size=X.shape)
    aux = np.exp(-((X[:, None] - X) ** 2).sum(-1) / width)
    known = rng.random(n) >= hidden
    known[:2] = True, False
    partial = K.copy()
    partial[~known] = partial[:, ~known] = np.nan
    return K, partial, known, aux


def scattered(rng, n=16, rank=2, share=0.3, diagonal=True):
    """A kernel of low rank and the same with entries missing here and there."""
    F = rng.normal(size=(n, rank))
    K = F @ F.T
    hole = np.triu(rng.random((n, n)) < share, 1)
    hole = hole | hole.T
    if not diagonal:
        np.fill_diagonal(hole, rng.random(n) < share)
    return K, np.where(hole, np.nan, K)


def least_eigenvalue(K):
    return np.linalg.eigvalsh(K)[0] / max(np.abs(K).max(), 1e-300)


# what every method promises


@pytest.mark.parametrize("method", AUXILIARY)
def test_known_rows_stay_and_the_result_is_a_kernel(method, rng):
    _, partial, known, aux = world(rng)
    before = partial.copy()
    K = complete_kernel(partial, aux, method)
    np.testing.assert_array_equal(partial, before)
    np.testing.assert_array_equal(K[np.ix_(known, known)], partial[np.ix_(known, known)])
    np.testing.assert_array_equal(K, K.T)
    assert least_eigenvalue(K) > -1e-12
    assert np.isfinite(K).all()


@pytest.mark.parametrize("options", [{"method": "psd"}, {"method": "nuclear"}, {"method": "nuclear", "mu": "auto"}])
def test_scattered_entries_give_a_kernel(options, rng):
    _, partial = scattered(rng)
    K = complete_kernel(partial, **options)
    np.testing.assert_array_equal(K, K.T)
    assert least_eigenvalue(K) > -1e-7
    if options == {"method": "nuclear"}:
        np.testing.assert_array_equal(K[~np.isnan(partial)], partial[~np.isnan(partial)])


@pytest.mark.parametrize("method", [*AUXILIARY, "nuclear", "psd"])
def test_float32_stays(method, rng):
    _, partial, _, aux = world(rng)
    given = {"K_aux": aux.astype(np.float32)} if method in AUXILIARY else {}
    K = complete_kernel(partial.astype(np.float32), method=method, **given)
    assert K.dtype == np.float32
    if method in AUXILIARY:
        np.testing.assert_allclose(K, complete_kernel(partial, aux, method), atol=1e-2)


# em


def test_em_is_the_algorithm_of_the_paper(rng):
    _, partial, known, aux = world(rng, n=12)
    K11 = partial[np.ix_(known, known)]
    start = aux * np.trace(K11) / np.trace(aux[np.ix_(known, known)])
    losses, K, _ = oracle.em(K11, known, aux, start, steps=30)
    found = em_completion(partial, known, aux, floor=1e-12, tol=1e-300, max_iter=30)
    np.testing.assert_allclose(found.path, losses, rtol=1e-8)
    np.testing.assert_allclose(found.kernel, K, atol=1e-8)
    last_but_one = em_completion(partial, known, aux, floor=1e-12, tol=1e-300, max_iter=29)
    _, M = oracle.m_step(last_but_one.kernel, np.linalg.eigh(aux)[1])
    np.testing.assert_allclose(oracle.stein_loss(found.kernel, M), losses[-1], rtol=1e-6)


@given(seed=st.integers(0, 10**6), hidden=st.floats(0.1, 0.8), noise=st.floats(0.0, 2.0))
@settings(deadline=None, max_examples=25)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_steins_loss_never_rises(seed, hidden, noise):
    _, partial, _, aux = world(np.random.default_rng(seed), n=14, hidden=hidden, noise=noise)
    stack = make_stack([partial, aux])
    model = CompleteKernel(method="em", max_iter=200).fit(stack)
    steps = np.diff(model.loss_path_)
    assert (steps <= 1e-9 * (1 + np.abs(model.loss_path_[:-1]))).all()
    assert model.loss_path_[-1] >= -1e-9
    mixed = CompleteKernel(method="em", max_iter=200).fit(make_stack([partial, aux, np.eye(len(aux))]))
    assert (np.diff(mixed.loss_path_) <= 1e-9 * (1 + np.abs(mixed.loss_path_[:-1]))).all()


def test_em_recovers_a_kernel_with_the_auxiliary_eigenvectors(rng):
    """A smooth function of the auxiliary kernel is within M; with most rows known, em finds it."""
    K, _, _, aux = world(rng, n=15)
    V = np.linalg.eigh(aux)[1]
    K = (V * np.linspace(0.5, 2, 15)) @ V.T
    partial = K.copy()
    partial[3] = partial[:, 3] = np.nan
    found = complete_kernel(partial, aux, tol=1e-10)
    np.testing.assert_allclose(found, K, atol=1e-2)


def test_several_auxiliary_kernels_are_weighted(rng):
    K, partial, _, aux = world(rng, n=30, noise=0.0)
    noise = rng.normal(size=(30, 30))
    model = CompleteKernel(method="em").fit(make_stack([partial, aux, noise @ noise.T]))
    assert model.weights_[0] == pytest.approx(1.0, abs=0.05)
    assert model.weights_[1] < 1e-3
    np.testing.assert_allclose(complete_kernel(partial, [aux, noise @ noise.T]), model.kernel_)
    np.testing.assert_allclose(model.kernel_, K, atol=0.05)
    for method in ("frobenius", "wishart"):  # take the weighted sum for their one auxiliary kernel
        np.testing.assert_allclose(complete_kernel(partial, [aux, noise @ noise.T], method), K, atol=0.1)


# wishart


def test_the_closed_form_is_the_fixed_point_of_em(rng):
    _, partial, known, aux = world(rng, n=8)
    aux = aux + 0.1 * np.eye(8)
    K11 = partial[np.ix_(known, known)]
    for eta, r in ((0.5, 9.0), (3.0, 40.0)):
        K, Sigma = oracle.wishart_em(K11, known, aux, eta, r, steps=2000)
        found = wishart_completion(partial, known, aux, eta=eta, degrees_of_freedom=r)
        np.testing.assert_allclose(found.kernel, K, atol=1e-7)
        # Sigma is a mode: no symmetric change raises the posterior of the known block
        top = oracle.log_posterior(K11, known, Sigma, aux, eta, r)
        for _ in range(10):
            D = rng.normal(size=Sigma.shape) * 1e-3
            assert oracle.log_posterior(K11, known, Sigma + D + D.T, aux, eta, r) < top


def test_degrees_of_freedom_are_the_most_probable(rng):
    _, partial, known, aux = world(rng, n=10, hidden=0.2)
    aux, K11 = aux + 0.1 * np.eye(10), partial[np.ix_(known, known)]

    def posterior(r):
        _, Sigma = oracle.wishart_em(K11, known, aux, 1.0, r, steps=1000)
        return oracle.log_posterior(K11, known, Sigma, aux, 1.0, r)

    found = wishart_completion(partial, known, aux, eta=1.0)
    grid = [9.01, 10, 15, 40]
    ours = [-wishart_completion(partial, known, aux, eta=1.0, degrees_of_freedom=r).objective for r in grid]
    theirs = [posterior(r) for r in grid]
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-4)
    assert -found.objective >= max(ours) - 1e-6


def test_many_degrees_of_freedom_are_one_em_step(rng):
    _, partial, known, aux = world(rng)
    K = complete_kernel(partial, aux, "wishart", degrees_of_freedom=1e12, regularization=1e-12)
    expected = oracle.e_step(partial[np.ix_(known, known)], known, aux)
    np.testing.assert_allclose(K, expected, atol=1e-6)


# frobenius


def cvx_frobenius(partial, known, aux):
    n, i = len(aux), np.flatnonzero(known)
    V = np.linalg.eigh(aux)[1]
    X, w = cp.Variable((n, n), PSD=True), cp.Variable(n, nonneg=True)
    problem = cp.Problem(
        cp.Minimize(cp.norm(X - V @ cp.diag(w) @ V.T, "fro")),
        [X[np.ix_(i, i)] == partial[np.ix_(i, i)]],
    )
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("hidden", [0.2, 0.6])
def test_frobenius_against_a_conic_solver(hidden, rng):
    _, partial, known, aux = world(rng, n=14, hidden=hidden)
    model = CompleteKernel(method="frobenius").fit(make_stack([partial, aux]))
    assert model.objective_ == pytest.approx(cvx_frobenius(partial, known, aux), rel=1e-6, abs=1e-7)
    value, _ = oracle.frobenius_objective(model.kernel_, np.linalg.eigh(aux)[1])
    assert value == pytest.approx(model.objective_)


def test_frobenius_is_optimal_to_first_order(rng):
    """Convex: no other completion lies downhill."""
    _, partial, known, aux = world(rng, n=24, hidden=0.5)
    model = CompleteKernel(method="frobenius").fit(make_stack([partial, aux]))
    _, G = oracle.frobenius_objective(model.kernel_, np.linalg.eigh(aux)[1])
    for _ in range(50):
        F = rng.normal(size=(24, 24))
        other = oracle.e_step(partial[np.ix_(known, known)], known, F @ F.T / 24)
        assert (G * (other - model.kernel_)).sum() > -1e-4


def test_frobenius_of_a_singular_block(rng):
    """Without a strictly feasible point; the conic solver alone cannot do it well."""
    F = rng.normal(size=(20, 2))
    _, _, known, aux = world(rng, n=20)
    K = F @ F.T
    partial = np.where(known[:, None] & known, K, np.nan)
    found = complete_kernel(partial, aux, "frobenius")
    np.testing.assert_array_equal(found[np.ix_(known, known)], K[np.ix_(known, known)])
    assert np.linalg.matrix_rank(found, tol=1e-6) <= 2 + (~known).sum()
    assert least_eigenvalue(found) > -1e-12


def test_frobenius_of_its_own_kernel_is_exact(rng):
    K, partial, _, _ = world(rng, n=25)
    model = CompleteKernel(method="frobenius").fit(make_stack([partial, K]))
    assert model.objective_ < 1e-5


# nuclear norm and nearest kernel


@pytest.mark.parametrize("psd", [True, False])
def test_nuclear_against_a_conic_solver(psd, rng):
    _, partial = scattered(rng, n=10, rank=3, share=0.4, diagonal=False)
    known = ~np.isnan(partial)
    X = cp.Variable((10, 10), symmetric=True)
    limits = [cp.multiply(known, X) == np.where(known, partial, 0)] + ([X >> 0] if psd else [])
    best = cp.Problem(cp.Minimize(cp.normNuc(X)), limits).solve(solver="CLARABEL")
    found = complete_kernel(partial, method="nuclear", psd=psd)
    np.testing.assert_array_equal(found[known], partial[known])
    assert np.abs(np.linalg.eigvalsh(found)).sum() == pytest.approx(best, rel=1e-5)


def test_nuclear_recovers_low_rank(rng):
    K, partial = scattered(rng, n=30, rank=2, share=0.3, diagonal=False)
    np.testing.assert_allclose(complete_kernel(partial, method="nuclear", psd=False), K, atol=1e-4)
    indefinite = K @ np.diag(np.where(np.arange(30) % 2, 1, -1)) @ K / 30
    hidden = np.where(np.isnan(partial), np.nan, indefinite)
    np.testing.assert_allclose(complete_kernel(hidden, method="nuclear", psd=False), indefinite, atol=1e-3)


@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 0.9), mu=st.floats(0.01, 3.0), psd=st.booleans())
@settings(deadline=None, max_examples=30)
def test_noisy_nuclear_is_optimal(seed, share, mu, psd):
    rng = np.random.default_rng(seed)
    K, partial = scattered(rng, n=10, rank=3, share=share)
    noise = rng.normal(size=K.shape)
    partial = partial + 0.3 * (noise + noise.T)
    known = ~np.isnan(partial)
    model = CompleteKernel(mu=mu, psd=psd, tol=1e-11, max_iter=50000).fit(partial)
    if np.abs(model.kernel_).max() < 1e-9:
        return
    assert oracle.noisy_nuclear_violation(model.kernel_, partial, known, mu, psd) < 1e-4


@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 0.9))
@settings(deadline=None, max_examples=30)
def test_psd_is_optimal(seed, share):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(10, 10))
    _, partial = scattered(rng, n=10, share=share)
    partial = np.where(np.isnan(partial), np.nan, A + A.T)
    found = complete_kernel(partial, method="psd", max_iter=50000)
    assert max(oracle.nearest_kernel_conditions(found, partial, ~np.isnan(partial))) < 1e-6


def test_psd_against_a_conic_solver(rng):
    A = rng.normal(size=(9, 9))
    _, partial = scattered(rng, n=9)
    partial = np.where(np.isnan(partial), np.nan, A + A.T)
    known = ~np.isnan(partial)
    X = cp.Variable((9, 9), PSD=True)
    best = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(known, X) - np.where(known, partial, 0)))).solve(
        solver="CLARABEL"
    )
    model = CompleteKernel(method="psd", keep_known=False).fit(partial)
    assert model.objective_ == pytest.approx(best, rel=1e-6)


def test_nothing_missing(rng):
    K, _, _, aux = world(rng)
    S = K - 0.3
    np.testing.assert_array_equal(complete_kernel(K, aux), K)
    np.testing.assert_allclose(complete_kernel(K, method="nuclear"), K, atol=1e-12)
    np.testing.assert_allclose(complete_kernel(S, method="psd"), SpectrumClip().fit_transform(S), atol=1e-10)
    np.testing.assert_array_equal(CompleteKernel().fit_transform(S), S)


def test_a_huge_weight_leaves_nothing(rng):
    _, partial = scattered(rng)
    assert not complete_kernel(partial, method="nuclear", mu=1e6).any()


# the transformer


@pytest.mark.parametrize(
    "model",
    [
        CompleteKernel(),
        CompleteKernel(psd=True, mu=0.5),
        CompleteKernel(keep_known=False),
        CompleteKernel(mu=0),
        CompleteKernel(mu=0, psd=True),
        CompleteKernel(method="psd"),
        CompleteKernel(method="psd", keep_known=False),
    ],
    ids=repr,
)
def test_training_rows_come_back(model, rng):
    K, partial = scattered(rng, n=24, rank=3, share=0.2)
    noise = rng.normal(size=K.shape)
    if model.mu != 0:
        partial = partial + 0.1 * (noise + noise.T)
    model.set_params(tol=1e-11, max_iter=50000)
    expected = model.fit_transform(partial)
    np.testing.assert_allclose(model.transform(partial), expected, atol=2e-5 * np.abs(expected).max())
    known = ~np.isnan(partial)
    if model.keep_known:
        np.testing.assert_array_equal(expected[known], partial[known])
    assert model.n_missing_ == (~known).sum()


@pytest.mark.parametrize("method", AUXILIARY)
def test_training_rows_come_back_with_an_auxiliary_kernel(method, rng):
    _, partial, _, aux = world(rng, noise=0.3, width=1.0)
    stack = make_stack([partial, aux])
    model = CompleteKernel(method=method, regularization=1e-10)
    expected = model.fit_transform(stack)
    np.testing.assert_allclose(model.transform(stack), expected, atol=1e-6)
    nothing = np.full_like(partial, np.nan)
    np.testing.assert_allclose(model.transform(make_stack([nothing, aux])), expected, atol=1e-6)


def test_new_rows_of_low_rank_are_exact(rng):
    F = rng.normal(size=(30, 2))
    K, partial = scattered(rng, n=25)
    F = np.linalg.cholesky(K + 1e-14 * np.eye(25))[:, :2]
    new = rng.normal(size=(6, 2)) @ F.T
    row = np.where(rng.random(new.shape) < 0.5, np.nan, new)
    model = CompleteKernel(mu=0, psd=True).fit(partial)
    np.testing.assert_allclose(model.transform(row), new, atol=1e-3)
    assert not model.transform(np.full((1, 25), np.nan)).any()


def test_in_front_of_classifiers(rng):
    K, _, _, _ = world(rng, n=60)
    y = (np.linalg.eigh(K)[1][:, -2] > 0).astype(int)
    hole = np.triu(rng.random(K.shape) < 0.2, 1)
    S = np.where(hole | hole.T, np.nan, K)
    for model in (SVC(kernel="precomputed"), NearestCentroid()):
        assert cross_val_score(make_pipeline(CompleteKernel(), model), S, y, cv=5).mean() > 0.85
    hidden = np.where((np.arange(60) % 4 == 0)[:, None] | (np.arange(60) % 4 == 0), np.nan, K)
    piped = make_pipeline(CompleteKernel(method="em"), SVC(kernel="precomputed"))
    assert cross_val_score(piped, make_stack([hidden, K]), y, cv=5).mean() > 0.85


def test_dissimilarities_stay_above_zero(rng):
    X = rng.normal(size=(20, 2))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    hole = np.triu(rng.random(D.shape) < 0.3, 1)
    model = CompleteKernel(kind="dissimilarity")
    filled = model.fit_transform(np.where(hole | hole.T, np.nan, D))
    assert (filled >= 0).all()
    assert np.abs(filled - D)[hole].mean() < 0.5 * np.abs(D[hole] - D.mean()).mean()
    for wrong in ({"method": "psd"}, {"psd": True}):
        with pytest.raises(ProximityError, match="no kernel"):
            CompleteKernel(kind="dissimilarity", **wrong).fit(D)


# bad input


def refused(words, *args, **options):
    with pytest.raises(ValueError, match=words) as caught:
        complete_kernel(*args, **options)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("where", ["partial", "aux", "one of two"])
def test_sparse_kernels_are_refused_in_one_line(rng, where):
    _, partial, _, aux = world(rng, n=10)
    thin = sparse.csr_matrix(aux)
    given = {"partial": (thin, aux), "aux": (partial, thin), "one of two": (partial, [aux, thin])}[where]
    with pytest.raises(TypeError, match="toarray") as caught:
        complete_kernel(*given)
    assert "\n" not in str(caught.value)


def test_bad_input_gets_one_clear_sentence(rng):
    _, partial, known, aux = world(rng, n=10)
    i, j = np.flatnonzero(known)[:2]
    holes = partial.copy()
    holes[i, j] = holes[j, i] = np.nan
    refused("at least one known", np.full((4, 4), np.nan), np.eye(4))
    refused("at least one known", np.full((4, 4), np.nan), method="psd")
    refused("square", partial[:, :4], aux)
    refused("needs an auxiliary kernel", partial)
    refused("reads no auxiliary", partial, aux, method="psd")
    refused(f"row {i}, column {j}.*nuclear", holes, aux)
    refused("same 10 objects. Got 9", partial, aux[:9, :9])
    refused("does not accept missing", partial, partial)
    refused("smallest eigenvalue", partial, aux - 0.5)
    refused("Auxiliary kernel 1 must be a kernel", partial, [aux, aux - 0.5])
    refused("n - 1 = 9", partial, aux, "wishart", degrees_of_freedom=5.0)
    for name in ("eta", "regularization", "tol", "max_iter", "degrees_of_freedom"):
        refused(name, partial, aux, "wishart", **{name: 0})
    refused("mu", partial, method="nuclear", mu=-1.0)
    refused("method", partial, aux, "magic")
    for method in AUXILIARY:
        refused("form a kernel.*Clip", partial - 0.6, aux, method)
    low = np.outer(np.arange(10.0), np.arange(10.0))
    refused("Raise regularization", partial, low, "wishart", regularization=1e-30)
    with pytest.raises(ProximityError, match="reads a stack"):
        CompleteKernel(method="em").fit(partial)
    rows = make_stack([partial, aux])
    model = CompleteKernel(method="em").fit(rows)
    rows[0, 2, 1] = np.nan
    with pytest.raises(ProximityError, match=r"complete auxiliary rows.*row 0, column 2, slice 1"):
        model.transform(rows)
    with pytest.raises(ProximityError, match="stack of 2"):
        model.transform(make_stack([partial, aux, aux]))


@pytest.mark.parametrize("diagonal", [True, False])
def test_what_no_kernel_has_is_refused(diagonal):
    S = np.array([[1.0, 2.0, np.nan], [2.0, 1.0, 0.5], [np.nan, 0.5, 1.0 if diagonal else np.nan]])
    refused("no positive semi-definite matrix.*mu='auto'.*psd=False", S, method="nuclear")
    assert np.isfinite(complete_kernel(S, method="nuclear", psd=False)).all()
    assert least_eigenvalue(complete_kernel(S, method="nuclear", mu="auto")) > -1e-9


def test_directions_and_steps_are_reported():
    S = np.array([[2.0, 1.0, 0.0], [np.nan, 2.0, 1.0], [0.5, 1.0, 2.0]])
    with pytest.warns(AsymmetryWarning):
        K = complete_kernel(S, method="psd")
    assert K[0, 1] == K[1, 0] == pytest.approx(1.0, abs=1e-6)  # known in one direction
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        complete_kernel([[1.0, 9, np.nan], [9, 1, 3], [np.nan, 3, 1]], method="psd", max_iter=1)


@pytest.mark.filterwarnings("error")
def test_degenerate_is_not_an_error():
    one = np.ones((1, 1))
    np.testing.assert_array_equal(complete_kernel(one, one), one)
    for method in AUXILIARY:
        for K11 in (0.0, 1.0):
            for aux in (np.zeros((2, 2)), np.ones((2, 2)), np.eye(2)):
                K = complete_kernel([[K11, np.nan], [np.nan, np.nan]], aux, method)
                assert np.isfinite(K).all()
                assert least_eigenvalue(K) > -1e-9
    zero = np.where(np.eye(4) > 0, np.nan, 0.0)
    for options in ({"method": "psd"}, {"method": "nuclear"}, {"method": "nuclear", "mu": "auto"}):
        np.testing.assert_allclose(complete_kernel(zero, **options), 0, atol=1e-9)


# the experiment


def test_the_experiment_met_its_criterion_and_the_page_quotes_it():
    root = Path(__file__).parents[1]
    page = (root / "docs" / "guide" / "completion.md").read_text()
    items = json.loads((root / "benchmarks" / "results" / "completion.json").read_text())["items"]
    assert {item["part"] for item in items} == {"votes", "protein", "small"}
    for item in items:
        errors = item["errors"]
        assert item["criterion_met"] == (errors["em"]["mean"] < errors["auxiliary"]["mean"])
        assert item["criterion_met"]
        quoted = f"| {item['name']} | {100 * errors['auxiliary']['mean']:.1f} | {100 * errors['em']['mean']:.1f} |"
        assert quoted in page
