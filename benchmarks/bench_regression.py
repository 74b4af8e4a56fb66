"""Regression on a proximity matrix: searches against scikit-learn's SVR and k-NN regressor at equal accuracy.

python benchmarks/bench_regression.py          # writes benchmarks/results/regression.json

Every comparison includes the choice of the parameters and the prediction of new objects. The records hold our R2 on the
new objects minus that of the peer ("error"); a check requires that it is at most one standard error below zero. Times
are processor times of one thread.
"""

import os
from time import process_time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", LOKY_MAX_CPU_COUNT="1")

import numpy as np
from _measure import Benchmark
from bench_svm import Fresh, PlainClip
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from similis import PathSearchCV, ProximityRidge, SimilarityKNNRegressor

SVR_GRID = {"svr__C": [10.0**p for p in range(-1, 3)], "svr__epsilon": [0.01, 0.1]}
KS = [*range(1, 17), 32, 64]


def problem(n, indefinite, seed=0):
    """exp(-d / median d) of Gaussian points with symmetric noise, and a smooth target with noise; n / 2 new objects."""
    rng = np.random.default_rng(seed)
    total = n + n // 2
    Z = rng.normal(size=(total, 4))
    squared = (Z**2).sum(axis=1)
    d = np.sqrt(np.maximum(squared[:, None] + squared - 2 * Z @ Z.T, 0))
    E = indefinite * rng.normal(size=(total, total))
    S = np.exp(-d / np.median(d)) + (E + E.T) / 2
    y = np.sin(Z[:, 0]) + 0.5 * Z[:, 1] * Z[:, 2] + 0.2 * rng.normal(size=total)
    return S[:n, :n].copy(), y[:n], S[n:, :n].copy(), y[n:]


def not_worse(y):
    """Check that our squared errors exceed theirs by at most one standard error; returns the difference in R2."""

    def check(ours, theirs):
        difference = (y - ours) ** 2 - (y - theirs) ** 2
        error = difference.std(ddof=1) / np.sqrt(len(y))
        assert difference.mean() <= error + 1e-12 * y.var(), (difference.mean(), error)  # rounding
        return -difference.mean() / y.var()

    return check


def ridge(bench):
    for n, indefinite, repeats in ((200, 0.0, 3), (500, 0.0, 2), (300, 0.05, 1)):
        S, y, Q, new = problem(n, indefinite)
        S = Fresh(S)
        search = GridSearchCV(make_pipeline(PlainClip(), SVR(kernel="precomputed")), SVR_GRID, cv=KFold(5))
        bench.compare(
            f"ridge, n = {n}, {'indefinite' if indefinite else 'kernel'}",
            lambda S=S, y=y, Q=Q: ProximityRidge().fit(S(), y).predict(Q),
            lambda search=search, S=S, y=y, Q=Q: search.fit(S(), y).predict(Q),
            peer_name="GridSearchCV(clip, SVR), 8 points x 5 folds",
            floor=10,
            goal=20,
            repeats=repeats,
            check=not_worse(new),
        )


def neighbors(bench):
    for n, repeats in ((200, 5), (1000, 3), (2500, 1)):
        S, y, Q, new = problem(n, 0.0)
        D, E = np.maximum(S.max() - S, 0), np.maximum(S.max() - Q, 0)
        np.fill_diagonal(D, 0.0)
        grid = {"n_neighbors": KS}
        theirs = GridSearchCV(KNeighborsRegressor(metric="precomputed"), grid, cv=KFold(10))
        plain = PathSearchCV(SimilarityKNNRegressor(kind="dissimilarity"), grid, cv=KFold(10))
        bench.compare(
            f"k-NN regression search, n = {n}, {len(KS)} k x 10 folds",
            lambda plain=plain, D=D, E=E, y=y: plain.fit(D, y).predict(E),
            lambda theirs=theirs, D=D, E=E, y=y: theirs.fit(D, y).predict(E),
            peer_name="GridSearchCV(KNeighborsRegressor)",
            floor=3,
            goal=10,
            repeats=repeats,
            check=not_worse(new),
        )
        weighted = GridSearchCV(KNeighborsRegressor(metric="precomputed", weights="distance"), grid, cv=KFold(10))
        few = {"n_neighbors": [4, 8, 16, 32], "regularization": [0.01, 0.1, 1.0]}
        ours = PathSearchCV(SimilarityKNNRegressor(weights="krr"), few, cv=KFold(10))
        bench.compare(
            f"KRR regression search, n = {n}, 12 points x 10 folds",
            lambda ours=ours, S=S, Q=Q, y=y: ours.fit(S, y).predict(Q),
            lambda weighted=weighted, D=D, E=E, y=y: weighted.fit(D, y).predict(E),
            peer_name="GridSearchCV(KNeighborsRegressor, distance weights)",
            repeats=repeats,
            check=not_worse(new),
        )


def main():
    bench = Benchmark("regression", clock=process_time)
    with threadpool_limits(1):
        neighbors(bench)
        ridge(bench)
    print(bench.write())


if __name__ == "__main__":
    main()
