"""How the solvers are tried. They check nothing: their inputs are plain arrays that keep the documented terms, of every
degenerate sort, and their results must be finite.
"""

import numpy as np
from _fuzz_inputs import DEGENERATE, PROPER, often, one, plain_matrix
from _fuzz_law import call, demand, finite

from similis import solvers


def _symmetric(draw, n=None):
    A, rng = plain_matrix(draw, n=n)
    return (A + A.T) / 2, rng


def _kernel(draw, n=None):
    S, rng = _symmetric(draw, n)
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.maximum(values, 0)) @ vectors.T, rng


def _signs(rng, n):
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    return y


def _ranked(draw):
    A, rng = plain_matrix(draw, m=3)
    n = A.shape[1]
    k = one(draw, 1, 2, 3, n, n + 2)
    indices, s = call(solvers.top_k, A[n:], k)
    codes = rng.integers(0, 3, size=n)
    return A[:n], indices, s, codes, n, k


def top_k(draw, note):
    A, rng = plain_matrix(draw, m=one(draw, 0, 3))
    A = A.astype(one(draw, np.float64, np.float32))
    if often(draw, 0.4):
        A[rng.random(A.shape) < 0.3] = np.nan
    k, sign = one(draw, 1, 3, A.shape[1], A.shape[1] + 3), one(draw, 1, -1)
    note(f"{A.shape} {k} {sign}")
    indices, _values = call(solvers.top_k, A, k, sign=sign)
    for i, row in enumerate(A):  # the plain rule
        known = np.flatnonzero(~np.isnan(row))
        want = known[np.argsort(-sign * row[known].astype(float), kind="stable")][:k]
        demand(list(indices[i][: len(want)]) == list(want), "another order")
        demand(bool((indices[i][len(want) :] == -1).all()), "a pad is missing")


def _votes(f):
    def case(draw, note):
        _, indices, _, codes, _, k = _ranked(draw)
        ks = sorted({1, k, k + 1})
        weights = None if often(draw) else np.ones(indices.shape)
        note(f"{indices.shape} {ks}")
        found = call(f, indices, codes, ks, 3, weights=weights)
        finite(found, f.__name__)

    return case


def local(f):
    """local_weights, local_scores and local_svm_scores."""

    def case(draw, note):
        S, indices, s, codes, n, k = _ranked(draw)
        ridge, k = one(draw, 1.0, 0.1, 1e-6, 100.0), min(k, n)
        indices, s = indices[:, :k], s[:, :k]
        note(f"n={n} k={k} ridge={ridge}")
        if f is solvers.local_svm_scores:
            found = call(f, S, indices, s, codes, 3, [1, k], [ridge], spectrum=one(draw, "clip", "flip", "shift"))
        else:
            spectrum, method = one(draw, "clip", "flip", "shift"), one(draw, "kri", "krr", "lime")
            note(f"{method} {spectrum}")
            more = () if f is solvers.local_weights else (codes, 3, [1, k])
            ridges = ridge if f is solvers.local_weights else [ridge, 1.0]
            found = call(f, S, indices, s, *more, ridges, method=method, spectrum=spectrum)
        finite(found, f.__name__)

    return case


def means(draw, note):
    """neighbor_means and local_means."""
    S, indices, s, codes, n, k = _ranked(draw)
    k = min(k, n)
    indices, s, target = indices[:, :k], s[:, :k], codes.astype(float)
    note(f"n={n} k={k}")
    if (indices[:, 0] >= 0).all():
        finite(call(solvers.neighbor_means, indices, target, [1, k]), "a mean")
        method = one(draw, "kri", "krr", "lime")
        finite(call(solvers.local_means, S, indices, s, target, [1, k], [0.1, 1.0], method=method), "a weighted mean")


def ridge_path(draw, note):
    K, rng = _kernel(draw)
    values, vectors = np.linalg.eigh(K)
    note(f"n={len(K)}")
    found = call(solvers.ridge_path, values.clip(0), vectors, rng.normal(size=len(K)), [0.1, 1.0, 100.0])
    finite(found.dual_coef, "a coefficient")


def weights(f):
    """kri_weights, krr_weights, lime_weights: on the simplex but for regression, with a gap near zero."""

    def case(draw, note):
        K, rng = _kernel(draw)
        n = len(K)
        ridge = one(draw, 1.0, 0.01, 1e-6, 10.0) * max(1.0, float(np.abs(K).max()))
        note(f"n={n} ridge={ridge}")
        found = call(f, K[None], (K @ rng.random(n))[None], [ridge])
        finite(found.weights, "a weight")
        if f is not solvers.krr_weights:
            demand(bool((found.weights >= -1e-12).all()), "a negative weight")
            demand(bool(np.allclose(found.weights.sum(-1), 1)), "weights do not sum to 1")

    return case


def blocks(f):
    """local_psd, psd_prefix, spectral_filter."""

    def case(draw, note):
        S, rng = _symmetric(draw)
        n, spectrum = len(S), one(draw, "clip", "flip", "shift")
        s = rng.normal(size=(1, n))
        note(f"n={n} {spectrum}")
        if f is solvers.local_psd:
            B, t = call(f, S[None], s, spectrum)
            finite(B, "a block")
            finite(t, "a vector")
            low = np.linalg.eigvalsh(B[0]).min()
            demand(low >= -1e-9 * max(1.0, np.abs(S).max() * n), "a block is not positive semi-definite")
        elif f is solvers.psd_prefix:
            found = call(f, S[None], np.array([n]), s)
            demand(0 <= found[0] <= n, "a size beyond the block")
        else:
            finite(call(f, S[None], s, np.array([1.0, 0.1, 0.0]), one(draw, spectrum, "pinv")), "a weight")

    return case


def k_medoids(draw, note):
    A, _ = plain_matrix(draw)
    n = len(A)
    k, method = one(draw, 1, min(2, n), n), one(draw, "vsh", "alternating", "eager")
    note(f"n={n} k={k} {method}")
    found = call(solvers.k_medoids, A, k, sign=one(draw, 1, -1), method=method, n_init=2, random_state=0)
    demand(1 <= len(set(found.medoids.tolist())) == len(found.medoids) <= k, "medoids repeat")
    finite(found.total, "a total")


def total_proximity(draw, note):
    A, rng = plain_matrix(draw)
    k = int(rng.integers(1, len(A) + 1))
    note(f"n={len(A)} k={k}")
    finite(call(solvers.total_proximity, A, np.arange(k), sign=one(draw, 1, -1))[1], "a total")


def farthest_first(draw, note):
    A, _ = plain_matrix(draw)
    k = one(draw, 1, len(A))
    note(f"n={len(A)} k={k}")
    demand(len(set(call(solvers.farthest_first, np.abs(A), k).tolist())) == k, "objects repeat")


def gamma_shape(draw, note):
    A, _ = plain_matrix(draw)
    note(f"{A.ravel()[:5]}")
    found = call(solvers.gamma_shape, np.abs(A.ravel()))
    demand(not np.isnan(found).any() and bool((found > 0).all()), "a shape that is none")


def maxent(draw, note):
    A, _rng = plain_matrix(draw)
    values = A.ravel()
    domain = one(draw, np.unique(values), (float(values.min()), float(values.max())), (float(values.min()), np.inf))
    note(f"{str(domain)[:80]}")
    omega = call(solvers.Omega, domain)
    means = np.atleast_1d(values[: max(1, len(values) // 2)].mean())
    found = call(solvers.maxent_exponents, omega, *call(omega.offsets, means))
    demand(not np.isnan(found.exponents).any(), "an exponent is NaN")
    demand(not np.isnan(found.log_normalizers).any(), "a normalizer is NaN")


def svm_path(draw, note):
    K, rng = _kernel(draw, n=one(draw, 2, 5, 8))
    note(f"n={len(K)}")
    found = call(solvers.svm_path, K, _signs(rng, len(K)), [1.0, one(draw, 100.0, 0.01, 1e4)])
    finite(found.coef, "a coefficient")
    finite(found.intercept, "an intercept")


def box_lasso(draw, note):
    A, rng = plain_matrix(draw)
    epsilon, C = one(draw, 0.1, 0.0, 10.0), one(draw, 1.0, np.inf, 100.0, 1e-3)
    note(f"n={len(A)} {epsilon} {C}")
    found = call(solvers.box_lasso, A, _signs(rng, len(A)), epsilon, C)
    finite(found.coef, "a coefficient")
    demand(bool((np.abs(found.coef) <= C * (1 + 1e-12)).all()), "a coefficient beyond its bound")


def lp_margin(draw, note):
    A, rng = plain_matrix(draw, n=one(draw, 2, 5, 8))
    note(f"n={len(A)}")
    finite(call(solvers.lp_margin, A, _signs(rng, len(A)), one(draw, 1.0, 100.0, 0.01)).coef, "a coefficient")


def best_intercept(draw, note):
    A, rng = plain_matrix(draw, n=one(draw, 2, 5, 8))
    note(f"n={len(A)}")
    finite(call(solvers.best_intercept, A[0], _signs(rng, len(A)), 1.0), "an intercept")


def spectral_machine(draw, note):
    S, rng = _symmetric(draw, n=one(draw, 4, 6, 8))
    values, vectors = np.linalg.eigh(S)
    keep = np.abs(values) > 1e-12 * max(np.abs(values).max(), 1e-300)
    eta, gamma = one(draw, 0.01, 1.0, 1e-4), one(draw, 0.1, 10.0, 1e-3)
    note(f"n={len(S)} {eta} {gamma}")
    if not keep.any():
        return
    learned = solvers.LearntSpectrum(values[keep], vectors[:, keep], (values[keep] > 0) * 1.0, one(draw, 2, 1))
    machine = call(solvers.SpectralMachine, _signs(rng, len(S)), [learned])
    finite(call(machine.solve, eta, gamma).coef, "a coefficient")
    tau = rng.normal(size=(int(keep.sum()), 5))
    finite(call(solvers.spectral_lp, _signs(rng, len(S)), learned, tau, eta, gamma).coef, "a coefficient")


def signed_mkl(draw, note):
    S, rng = _symmetric(draw, n=one(draw, 4, 6, 8))
    note(f"n={len(S)}")
    kernels = [S @ S, np.eye(len(S)), np.ones(S.shape)]
    finite(call(solvers.signed_mkl, _signs(rng, len(S)), kernels, 1.0, one(draw, 0.01, 1.0)).coef, "a coefficient")


def kernel_machine(f):
    """IndefiniteMachine and FullKernelMachine."""

    def case(draw, note):
        S, rng = _symmetric(draw, n=one(draw, 4, 6, 8))
        machine = call(f, *np.linalg.eigh(S), _signs(rng, len(S)))
        a, b = one(draw, 0.01, 1.0, 10.0), one(draw, 0.1, 10.0, 1e-2)
        note(f"n={len(S)} {a} {b}")
        found = call(machine.solve, a, b)
        finite(found.v if hasattr(found, "v") else found.coef, "a coefficient")
        finite(found.intercept, "an intercept")

    return case


def _partial(draw):
    pool = {
        k: v for k, v in {**PROPER, **DEGENERATE}.items() if k in ("kernel", "linear kernel", "identity", "duplicates")
    }
    K, _rng = plain_matrix(draw, pool, n=one(draw, 4, 6, 8))
    aux, _ = plain_matrix(draw, pool, n=len(K))
    known = np.arange(len(K)) < one(draw, 2, 3, len(K))
    note = f"n={len(K)} known={known.sum()}"
    return K, known, aux + 1e-3 * np.eye(len(K)), note


def completion(f):
    """Functions that complete a kernel from an auxiliary one."""

    def case(draw, note):
        K, known, aux, words = _partial(draw)
        note(words)
        more = {
            "em_completion": {"floor": 1e-6, "max_iter": 50},
            "mixture_completion": {"ridge": 1e-3, "max_iter": 50},
            "wishart_completion": {"eta": 1.0},
            "frobenius_completion": {"max_iter": 200},
        }.get(f.__name__, {})
        found = call(f, K, known, [aux] if f is solvers.mixture_completion else aux, **more)
        found = found[0] if isinstance(found, tuple) else found
        finite(getattr(found, "kernel", found), "a completed entry")

    return case


def scattered(f):
    """nearest_completion and nuclear_completion."""

    def case(draw, note):
        S, rng = _symmetric(draw, n=one(draw, 3, 5, 8))
        known = rng.random(S.shape) < 0.6
        known |= known.T
        psd = one(draw, False, True)
        note(f"n={len(S)} psd={psd}")
        finite(call(f, S, known, psd=psd, max_iter=200).kernel, "a completed entry")

    return case


def rows(draw, note):
    K, known, aux, words = _partial(draw)
    note(words)
    factor = call(solvers.kernel_factor, K)
    row = np.where(known, K[0], np.nan)
    finite(call(solvers.infer_row, factor, aux, aux[0], float(aux[0, 0]), row), "an entry")


def completion_machine(draw, note):
    K, known, aux, words = _partial(draw)
    note(words)
    y = _signs(np.random.default_rng(0), len(K))
    finite(call(solvers.completion_machine, K, known, aux, y, eta=0.1, gamma=0.1).coef, "a coefficient")


def nonnegative_margin(draw, note):
    A, _ = plain_matrix(draw)
    C = one(draw, None, 1.0, 100.0)
    note(f"n={len(A)} C={C}")
    found = call(solvers.nonnegative_margin, A, C)
    if found.feasible:
        finite(found.alpha, "a weight")


def class_margin(draw, note):
    A, rng = plain_matrix(draw)
    codes = np.unique(rng.integers(0, 3, size=len(A)), return_inverse=True)[1]
    each, normalize, C = one(draw, False, True), one(draw, False, True), one(draw, 1.0, 100.0)
    note(f"n={len(A)} each={each} normalize={normalize} C={C}")
    if len(A) > 1 and codes.max() > 0:
        margin = call(solvers.ClassMargin, A, codes, each=each, normalize=normalize)
        finite(call(margin.solve, C).alpha, "a weight")


def centroids(draw, note):
    A, rng = plain_matrix(draw)
    codes, rule = rng.integers(0, 3, size=len(A)), one(draw, "max-sum", "popular")
    note(f"n={len(A)} {rule}")
    found = call(solvers.class_centroids, A, codes, 3, rule=rule, sign=one(draw, 1.0, -1.0))
    for g in range(3):
        demand((found[g] == -1) == (not (codes == g).any()), "a class without members, or with")
        demand(found[g] < 0 or codes[found[g]] == g, "a centroid of another class")


def centroids_by_fold(draw, note):
    A, rng = plain_matrix(draw)
    codes, fold = rng.integers(0, 2, size=len(A)), np.arange(len(A)) % 2
    note(f"n={len(A)}")
    call(lambda: list(solvers.centroids_by_fold(A, codes, 2, fold, rule=one(draw, "max-sum", "popular"))))


CASES = {
    "top_k": top_k,
    "vote_winners": _votes(solvers.vote_winners),
    "class_sums": _votes(solvers.class_sums),
    **{name: local(getattr(solvers, name)) for name in ("local_weights", "local_scores", "local_svm_scores")},
    **{name: weights(getattr(solvers, name)) for name in ("kri_weights", "krr_weights", "lime_weights")},
    **{name: blocks(getattr(solvers, name)) for name in ("local_psd", "psd_prefix", "spectral_filter")},
    "k_medoids": k_medoids,
    "total_proximity": total_proximity,
    "farthest_first": farthest_first,
    "gamma_shape": gamma_shape,
    "maxent_exponents": maxent,
    "Omega": maxent,
    "svm_path": svm_path,
    "box_lasso": box_lasso,
    "BoxLasso": box_lasso,
    "lp_margin": lp_margin,
    "best_intercept": best_intercept,
    "SpectralMachine": spectral_machine,
    "spectral_lp": spectral_machine,
    "signed_mkl": signed_mkl,
    "IndefiniteMachine": kernel_machine(solvers.IndefiniteMachine),
    "FullKernelMachine": kernel_machine(solvers.FullKernelMachine),
    **{
        name: completion(getattr(solvers, name))
        for name in (
            "conditional_completion em_completion mixture_completion wishart_completion frobenius_completion".split()
        )
    },
    **{name: scattered(getattr(solvers, name)) for name in ("nearest_completion", "nuclear_completion")},
    "kernel_factor": rows,
    "infer_row": rows,
    "completion_machine": completion_machine,
    "nonnegative_margin": nonnegative_margin,
    "neighbor_means": means,
    "local_means": means,
    "ridge_path": ridge_path,
    "ClassMargin": class_margin,
    "class_centroids": centroids,
    "centroids_by_fold": centroids_by_fold,
}
