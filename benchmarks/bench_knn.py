"""k-NN on a precomputed matrix: a cross-validated grid of k, and prediction, against scikit-learn.

python benchmarks/bench_knn.py          # writes benchmarks/results/knn.json
"""

import numpy as np
from _measure import Benchmark
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from similis import PathSearchCV, SimilarityKNN

KS = [*range(1, 17), 32, 64, 128]  # [chen2010] table 4.2


def problem(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    Z = 2 * rng.normal(size=(n_classes, 10))[y] + rng.normal(size=(n, 10))
    return euclidean_distances(Z), y


def score_difference(ours, theirs):
    return np.abs(ours.cv_results_["mean_test_score"] - theirs.cv_results_["mean_test_score"]).max()


def main():
    bench = Benchmark("knn")
    for n, n_classes, repeats in ((200, 4, 5), (800, 8, 5), (2500, 10, 3)):
        D, y = problem(n, n_classes)
        grid = {"n_neighbors": [k for k in KS if k <= 0.9 * n - n_classes]}
        cv = StratifiedKFold(10)
        ours = PathSearchCV(SimilarityKNN(kind="dissimilarity"), grid, cv=cv, refit=False)
        theirs = GridSearchCV(KNeighborsClassifier(metric="precomputed"), grid, cv=cv, refit=False)
        bench.compare(
            f"k-NN search, n = {n}, {len(grid['n_neighbors'])} k x 10 folds",
            lambda ours=ours, D=D, y=y: ours.fit(D, y),
            lambda theirs=theirs, D=D, y=y: theirs.fit(D, y),
            peer_name="GridSearchCV",
            floor=40,
            goal=120,
            repeats=repeats,
            check=score_difference,
        )
        new, old = np.arange(n // 10), np.arange(n // 10, n)
        Q, T = D[np.ix_(new, old)].copy(), D[np.ix_(old, old)].copy()
        model = SimilarityKNN(n_neighbors=16, kind="dissimilarity").fit(T, y[old])
        peer = KNeighborsClassifier(16, metric="precomputed").fit(T, y[old])
        bench.compare(
            f"k-NN predict, n = {n}, k = 16",
            lambda model=model, Q=Q: model.predict(Q),
            lambda peer=peer, Q=Q: peer.predict(Q),
            peer_name="KNeighborsClassifier",
            floor=2,
            goal=4,
            repeats=15,
            check=lambda a, b: np.mean(a != b),
        )
    print(bench.write())


if __name__ == "__main__":
    main()
