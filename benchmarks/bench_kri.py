"""Kernel ridge interpolation weights against quadprog, daqp and cvxpy with clarabel.

    python benchmarks/bench_kri.py          # writes benchmarks/results/kri.json

A sweep is 19 numbers of neighbors x 9 regularizers for each test point, the grid of [chen2010] ch. 4. Peers get
their constraints ready made and their blocks gathered: only their calls are timed.
"""

import numpy as np
from _measure import Benchmark
from _peers import peers
from sklearn.metrics.pairwise import euclidean_distances

from similis.solvers import kri_weights, local_scores, top_k

KS = [*range(1, 17), 32, 64, 128]
RIDGES = 10.0 ** np.arange(-6, 3)


def problem(name, n=2500, seed=0):
    """S = exp(-d / median d) of Gaussian classes, noisy, nearly PSD or with duplicates, then clipped; labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10
    Z = 2 * rng.normal(size=(10, 10))[y] + rng.normal(size=(n, 10))
    if name == "duplicates":
        copies = rng.integers(0, n // 2, n)
        Z, y = Z[copies], y[copies]
    d = euclidean_distances(Z)
    S = np.exp(-d / np.median(d))
    if name != "duplicates":
        noise = rng.normal(size=(n, n)) * (0.05 if name == "noisy" else 0.002)
        S = S + (noise + noise.T) / 2
    else:
        S = np.round(S, 2)
    values, U = np.linalg.eigh(S)
    S = (U * np.maximum(values, 0)) @ U.T
    return (S + S.T) / 2, y


def blocks_of(S, n_points):
    indices, s = top_k(S[:n_points], max(KS), folds=(np.arange(n_points), np.arange(len(S))))
    return S[indices[:, :, None], indices[:, None, :]], s, indices


def looped(solve, blocks, s, ks, ridges):
    """Call `solve(H, s)` for every problem; the results in the shape of ours."""
    weights = np.zeros((len(s), len(ks), len(ridges), s.shape[1]))
    for c in range(len(s)):
        for t, k in enumerate(ks):
            S_k, s_k = blocks[c, :k, :k], s[c, :k]
            for r, ridge in enumerate(ridges):
                weights[c, t, r, :k] = solve(S_k + ridge * np.eye(k), s_k)
    return weights


def with_quadprog():
    from quadprog import solve_qp

    ready = {k: (np.hstack([np.ones((k, 1)), np.eye(k)]), np.append(1.0, np.zeros(k))) for k in KS}
    return lambda H, s: solve_qp(H, s, *ready[len(s)], 1)[0]


def with_daqp():
    import daqp

    ready = {
        k: (
            np.ones((1, k)),
            np.append(np.full(k, 1e30), 1.0),
            np.append(np.zeros(k), 1.0),
            np.append(np.zeros(k, np.int32), np.int32(5)),
        )
        for k in KS
    }
    return lambda H, s: daqp.solve(H, -s, *ready[len(s)])[0]


def with_cvxpy():
    import cvxpy as cp

    def solve(H, s):
        w = cp.Variable(len(s))
        objective = cp.Minimize(0.5 * cp.quad_form(w, cp.psd_wrap(H)) - s @ w)
        cp.Problem(objective, [w >= 0, cp.sum(w) == 1]).solve(solver="CLARABEL")
        return w.value

    return solve


def excess(blocks, s, ks, ridges):
    """By how much our objective is above the peer's at most, relative to the size of the problem's data."""

    def check(ours, theirs):
        worst = -np.inf
        for c in range(len(s)):
            for t, k in enumerate(ks):
                for r, ridge in enumerate(ridges):
                    H = blocks[c, :k, :k] + ridge * np.eye(k)
                    f = [0.5 * w @ H @ w - s[c, :k] @ w for w in (ours[c, t, r, :k], theirs[c, t, r, :k])]
                    worst = max(worst, (f[0] - f[1]) / (np.abs(H).max() + np.abs(s[c, :k]).max()))
        assert worst < 1e-8, worst
        return worst

    return check


def main():
    peers("quadprog", "daqp")
    bench = Benchmark("kri", packages=("cvxpy", "clarabel", "quadprog", "daqp"))
    quadprog, daqp, cvxpy = with_quadprog(), with_daqp(), with_cvxpy()
    for name in ("noisy", "nearly PSD", "duplicates"):
        S, y = problem(name)
        blocks, s, indices = blocks_of(S, 8)
        for peer_name, solve, floor, goal in (("quadprog", quadprog, 18, 60), ("daqp", daqp, 7, 28)):
            bench.compare(
                f"KRI sweep 19 k x 9 lambda, {name}",
                lambda blocks=blocks, s=s: kri_weights(blocks, s, RIDGES, ks=KS).weights,
                lambda blocks=blocks, s=s, solve=solve: looped(solve, blocks, s, KS, RIDGES),
                peer_name=peer_name,
                floor=floor,
                goal=goal,
                check=excess(blocks, s, KS, RIDGES),
            )
        bench.compare(
            f"KRI scores from the matrix, 19 k x 9 lambda, {name}",
            lambda S=S, y=y, indices=indices, s=s: local_scores(S, indices, s, y, 10, KS, RIDGES),
            lambda blocks=blocks, s=s: looped(daqp, blocks, s, KS, RIDGES),
            peer_name="daqp",
            floor=5,
        )
    S, _ = problem("noisy")
    blocks, s, _ = blocks_of(S, 1)
    bench.compare(
        "KRI sweep 19 k x 9 lambda, noisy",
        lambda: kri_weights(blocks, s, RIDGES, ks=KS).weights,
        lambda: looped(cvxpy, blocks, s, KS, RIDGES),
        peer_name="cvxpy + clarabel",
        floor=500,
        goal=4000,
        repeats=2,
        check=excess(blocks, s, KS, RIDGES),
    )
    blocks, s, _ = blocks_of(S, 100)
    # k: floors against quadprog and daqp
    floors = {5: (4.5, 2.5), 16: (2.8, 1.5), 32: (1.4, 1), 64: (6, 3), 128: (15, 7)}
    for k in floors:
        part, query = np.ascontiguousarray(blocks[:, :k, :k]), np.ascontiguousarray(s[:, :k])
        for (peer_name, solve), floor in zip((("quadprog", quadprog), ("daqp", daqp)), floors[k]):
            bench.compare(
                f"KRI single problems, k = {k}",
                lambda part=part, query=query: kri_weights(part, query, 0.1).weights,
                lambda part=part, query=query, solve=solve, k=k: looped(solve, part, query, [k], [0.1]),
                peer_name=peer_name,
                floor=floor,
                check=excess(part, query, [k], [0.1]),
            )
    print(bench.write())


if __name__ == "__main__":
    main()
