"""Normal-based classifiers: a whole grid of regularizers against one eigen-decomposition, and against scikit-learn.

python benchmarks/bench_normal.py          # writes benchmarks/results/normal.json
"""

import itertools

import numpy as np
from _measure import Benchmark
from scipy.linalg import eigh
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits

from similis import NormalLinear, NormalQuadratic

REGULARIZERS = np.geomspace(1e-4, 0.9, 20)


def problem(n, n_classes=10, d=30, n_test=250, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centers = rng.normal(size=(n_classes, d))
    Z, new = centers[y] + rng.normal(size=(n, d)), centers[np.arange(n_test) % n_classes] + rng.normal(size=(n_test, d))
    return euclidean_distances(Z), y, euclidean_distances(new, Z)


def whole_grid(estimator, S, y, Q):
    """All regularizers from one fit; other numbers in each call, so that no decomposition is found again."""
    points = [{"regularization": r} for r in REGULARIZERS]
    unit = itertools.count(1)

    def run():
        u = 1 + 1e-7 * next(unit)
        return estimator.predict_path(u * S, y, u * Q, points)

    return run


def one_decomposition(S):
    """What cannot be avoided: the eigen-system of a Gram matrix of the rows."""
    W = S - S.mean(axis=0)

    def run():
        return eigh(W @ W.T, driver="evd", check_finite=False)

    return run


def fit_each(make, S, y, Q):
    return lambda: [make(r).fit(S, y).predict(Q) for r in REGULARIZERS]


def disagreement(ours, theirs):
    return max(np.mean(a != b) for a, b in zip(ours, theirs))


def main():
    bench = Benchmark("normal")
    with threadpool_limits(1):
        for n, repeats in ((600, 5), (2500, 3)):
            S, y, Q = problem(n)
            bench.compare(
                f"RNLC, 20 regularizers, n = {n}",
                whole_grid(NormalLinear(), S, y, Q),
                one_decomposition(S),
                peer_name="one eigh of the Gram matrix",
                floor=0.5,
                goal=0.8,
                repeats=repeats,
            )
        S, y, Q = problem(300, n_classes=3)
        bench.compare(
            "RNLC, 20 regularizers, n = 300",
            whole_grid(NormalLinear(shrinkage_target="trace"), S, y, Q),
            fit_each(lambda r: LinearDiscriminantAnalysis(solver="lsqr", shrinkage=r), S, y, Q),
            peer_name="20 fits of LDA(lsqr)",
            floor=10,
            repeats=3,
            check=disagreement,
        )
        bench.compare(
            "RNQC, 20 regularizers, n = 300",
            whole_grid(NormalQuadratic(shrinkage_target="trace"), S, y, Q),
            fit_each(lambda r: QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=r, tol=0), S, y, Q),
            peer_name="20 fits of QDA(eigen)",
            floor=24,
            repeats=3,
            check=disagreement,
        )
    print(bench.write())


if __name__ == "__main__":
    main()
