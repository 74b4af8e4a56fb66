"""complete_kernel and CompleteKernel: what every method promises, new rows, bad input, degenerate input."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from toy_problems import hidden_rows, least_eigenvalue, missing_entries

from similis import CompleteKernel, NearestCentroid, complete_kernel, make_stack
from similis.exceptions import AsymmetryWarning, ProximityError

AUXILIARY = ("em", "frobenius", "wishart")


# what every method promises


@pytest.mark.parametrize("method", AUXILIARY)
def test_known_rows_stay_and_the_result_is_a_kernel(method, rng):
    _, partial, known, aux = hidden_rows(rng)
    before = partial.copy()
    K = complete_kernel(partial, aux, method)
    np.testing.assert_array_equal(partial, before)
    np.testing.assert_array_equal(K[np.ix_(known, known)], partial[np.ix_(known, known)])
    np.testing.assert_array_equal(K, K.T)
    assert least_eigenvalue(K) > -1e-12
    assert np.isfinite(K).all()


@pytest.mark.parametrize("options", [{"method": "psd"}, {"method": "nuclear"}, {"method": "nuclear", "mu": "auto"}])
def test_scattered_entries_give_a_kernel(options, rng):
    _, partial = missing_entries(rng)
    K = complete_kernel(partial, **options)
    np.testing.assert_array_equal(K, K.T)
    assert least_eigenvalue(K) > -1e-7
    if options == {"method": "nuclear"}:
        np.testing.assert_array_equal(K[~np.isnan(partial)], partial[~np.isnan(partial)])


@pytest.mark.parametrize("method", [*AUXILIARY, "nuclear", "psd"])
def test_float32_stays(method, rng):
    _, partial, _, aux = hidden_rows(rng)
    given = {"K_aux": aux.astype(np.float32)} if method in AUXILIARY else {}
    K = complete_kernel(partial.astype(np.float32), method=method, **given)
    assert K.dtype == np.float32
    if method in AUXILIARY:
        np.testing.assert_allclose(K, complete_kernel(partial, aux, method), atol=1e-2)


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
    K, partial = missing_entries(rng, n=24, rank=3, share=0.2)
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
    _, partial, _, aux = hidden_rows(rng, noise=0.3, width=1.0)
    stack = make_stack([partial, aux])
    model = CompleteKernel(method=method, regularization=1e-10)
    expected = model.fit_transform(stack)
    np.testing.assert_allclose(model.transform(stack), expected, atol=1e-6)
    nothing = np.full_like(partial, np.nan)
    np.testing.assert_allclose(model.transform(make_stack([nothing, aux])), expected, atol=1e-6)


def test_new_rows_of_low_rank_are_exact(rng):
    F = rng.normal(size=(30, 2))
    K, partial = missing_entries(rng, n=25)
    F = np.linalg.cholesky(K + 1e-14 * np.eye(25))[:, :2]
    new = rng.normal(size=(6, 2)) @ F.T
    row = np.where(rng.random(new.shape) < 0.5, np.nan, new)
    model = CompleteKernel(mu=0, psd=True).fit(partial)
    np.testing.assert_allclose(model.transform(row), new, atol=1e-3)
    assert not model.transform(np.full((1, 25), np.nan)).any()


@pytest.mark.slow
def test_in_front_of_classifiers(rng):
    K, _, _, _ = hidden_rows(rng, n=60)
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
    _, partial, _, aux = hidden_rows(rng, n=10)
    thin = sparse.csr_matrix(aux)
    given = {"partial": (thin, aux), "aux": (partial, thin), "one of two": (partial, [aux, thin])}[where]
    with pytest.raises(TypeError, match="toarray") as caught:
        complete_kernel(*given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("aux", [[[1.0], [1.0, 2.0]], [[[1.0], [1.0, 2.0]]], [], np.ones(3)], ids=str)
def test_what_is_no_kernel_is_refused_in_one_line(rng, aux):
    _, partial, _, _ = hidden_rows(rng, n=10)
    with pytest.raises(ValueError, match=r"matri|array|objects") as caught:
        complete_kernel(partial, aux)
    assert "\n" not in str(caught.value)


def test_bad_input_gets_one_clear_sentence(rng):
    _, partial, known, aux = hidden_rows(rng, n=10)
    i, j = np.flatnonzero(known)[:2]
    holes = partial.copy()
    holes[i, j] = holes[j, i] = np.nan
    refused("at least one known", np.full((4, 4), np.nan), np.eye(4))
    refused("at least one known", np.full((4, 4), np.nan), method="psd")
    refused("square", partial[:, :4], aux)
    refused("needs an auxiliary kernel", partial)
    refused("uses no auxiliary", partial, aux, method="psd")
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
    with pytest.raises(ProximityError, match="needs a stack"):
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


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("n_free", [0, 1, 4])
@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize("excess", [0.01, 1.0])
def test_infeasible_blocks_are_recognized_beside_free_diagonal_entries(scale, n_free, coupled, excess):
    """The certificate lives on the objects whose diagonal is known, whatever is known of the others."""
    rng = np.random.default_rng(n_free)
    block = np.array([[1.0, 1.0 + excess, np.nan], [1.0 + excess, 1.0, 0.3], [np.nan, 0.3, 1.0]])
    S = np.full((3 + n_free, 3 + n_free), np.nan)
    S[:3, :3] = block
    if coupled:
        S[3:, :3] = rng.uniform(-1, 1, (n_free, 3))
        S[:3, 3:] = S[3:, :3].T
    order = rng.permutation(len(S))
    refused("no positive semi-definite matrix", scale * S[np.ix_(order, order)], method="nuclear")


def test_infeasible_without_a_negative_two_by_two_block():
    """Every known 2 x 2 block is a kernel, the 3 x 3 block is not."""
    S = np.array([[1.0, 0.9, -0.9, 0.2], [0.9, 1.0, 0.9, 0.1], [-0.9, 0.9, 1.0, 0.4], [0.2, 0.1, 0.4, np.nan]])
    refused("no positive semi-definite matrix", S, method="nuclear")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(5))
def test_feasible_matrices_with_free_diagonal_entries_are_completed(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 12))
    K = A @ A.T
    S = np.where(np.triu(rng.uniform(size=K.shape) < 0.3, 1), np.nan, K)
    S = np.where(np.isnan(S) | np.isnan(S.T), np.nan, K)
    S[[0, 3], [0, 3]] = np.nan
    assert least_eigenvalue(complete_kernel(S, method="nuclear")) > -1e-6


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


def test_the_page_quotes_the_experiment():
    root = Path(__file__).parents[1]
    page = (root / "docs" / "guide" / "completion.md").read_text()
    items = json.loads((root / "benchmarks" / "results" / "completion.json").read_text())["items"]
    assert {item["part"] for item in items} == {"votes", "protein", "small"}
    gains = []
    for item in items:
        errors = item["errors"]
        gains.append(100 * (errors["auxiliary"]["mean"] - errors["em"]["mean"]))
        assert item["criterion_met"] == (gains[-1] > 0)
    words = f"in {sum(gain > 0 for gain in gains)} of {len(items)} settings, by up to {max(gains):.1f} points"
    assert f"{words}, and {-min(gains):.1f} points higher in one" in " ".join(page.split())


def test_a_missing_conic_solver_is_named(rng, monkeypatch):
    from similis.exceptions import MissingExtraError
    from similis.solvers import completion_machine

    _, partial, known, aux = hidden_rows(rng, n=10)
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingExtraError, match=r"CompletionSVM needs .*clarabel.*similis\[conic\]"):
        completion_machine(np.nan_to_num(partial), known, aux, np.tile([1.0, -1.0], 5), eta=0.1, gamma=0.1)
