"""Kernel ridge regression weights against loops of numpy.linalg.solve.

python benchmarks/bench_krr.py          # writes benchmarks/results/krr.json
"""

import numpy as np
from _measure import Benchmark
from bench_kri import KS, blocks_of, problem

from similis.solvers import krr_weights, local_scores

RIDGES = np.array([1e-2, 1e-1, 1.0, 10.0, 100.0])


def one_by_one(blocks, s):
    weights = np.zeros((len(s), len(KS), len(RIDGES), s.shape[1]))
    for c in range(len(s)):
        for t, k in enumerate(KS):
            for r, ridge in enumerate(RIDGES):
                weights[c, t, r, :k] = np.linalg.solve(blocks[c, :k, :k] + ridge * np.eye(k), s[c, :k])
    return weights


def all_points_at_once(blocks, s):
    weights = np.zeros((len(s), len(KS), len(RIDGES), s.shape[1]))
    for t, k in enumerate(KS):
        for r, ridge in enumerate(RIDGES):
            H = blocks[:, :k, :k] + ridge * np.eye(k)
            weights[:, t, r, :k] = np.linalg.solve(H, s[:, :k, None])[..., 0]
    return weights


def labels(weights, classes):
    """Class of the largest summed weight."""
    return np.einsum("ctrk,ckg->ctrg", weights, np.eye(10)[classes]).argmax(axis=3)


def main():
    bench = Benchmark("krr")
    for n in (800, 2500):
        S, y = problem("noisy", n)
        blocks, s, indices = blocks_of(S, 30)

        def disagreements(ours, theirs, classes=y[indices]):
            wrong = np.mean(labels(ours, classes) != labels(theirs, classes))
            assert wrong == 0, wrong
            return wrong

        for peer_name, peer, floor, goal in (
            ("loop of numpy.linalg.solve", one_by_one, 3, 5),
            ("batched numpy.linalg.solve", all_points_at_once, 1.5, 2),
        ):
            bench.compare(
                f"KRR sweep 19 k x 5 lambda, n = {n}",
                lambda blocks=blocks, s=s: krr_weights(blocks, s, RIDGES, ks=KS).weights,
                lambda blocks=blocks, s=s, peer=peer: peer(blocks, s),
                peer_name=peer_name,
                floor=floor,
                goal=goal,
                check=disagreements,
            )
        bench.compare(
            f"KRR scores from the matrix, 19 k x 5 lambda, n = {n}",
            lambda S=S, y=y, indices=indices, s=s: local_scores(S, indices, s, y, 10, KS, RIDGES, method="krr"),
            lambda blocks=blocks, s=s: all_points_at_once(blocks, s),
            peer_name="batched numpy.linalg.solve",
        )
    print(bench.write())


if __name__ == "__main__":
    main()
