"""Matrices of 5,000 objects: counting, value differences, Tanimoto and Minkowski beside scipy and a matrix product.

Run with one thread, as the peers do: OMP_NUM_THREADS=1 python benchmarks/bench_measures.py
"""

import numpy as np
from _measure import Benchmark
from scipy.spatial.distance import cdist

from similis import VDM, Counting, Jaccard, Minkowski

N = 5000


def largest_difference(ours, peer):
    return np.abs(ours - peer).max()


def counting(bench, rng):
    """The peer reads codes as floats, its fastest input; ours reads the integers and finds the codes itself."""
    for d, n_values, floor, goal in ((16, 3, 2, 4), (50, 5, 6, 13), (200, 4, 9, 18)):
        X = rng.integers(0, n_values, (N, d))
        floats = X.astype(float)
        bench.compare(
            f"counting, d = {d}",
            lambda X=X: Counting().matrix(X),
            lambda floats=floats, d=d: d * (1 - cdist(floats, floats, "hamming")),
            peer_name="scipy cdist hamming",
            floor=floor,
            goal=goal,
            check=largest_difference,
            n=N,
        )


def value_difference(bench, rng):
    """The peer gets the class probabilities as features, ready made; for two classes and q = 2 it computes the same."""
    for d, n_values in ((16, 3), (50, 5), (200, 4)):
        X, y = rng.integers(0, n_values, (N, d)), rng.integers(0, 2, N)
        vdm = VDM().fit(X, y)
        P = np.empty((d, n_values, 2))
        for k in range(d):
            for value in range(n_values):
                P[k, value] = np.bincount(y[X[:, k] == value], minlength=2) / (X[:, k] == value).sum()
        features = P[np.arange(d), X].reshape(N, -1)
        bench.compare(
            f"VDM, d = {d}",
            lambda X=X, vdm=vdm: vdm.matrix(X),
            lambda features=features: cdist(features, features, "sqeuclidean"),
            peer_name="scipy cdist sqeuclidean",
            floor=3,
            goal=6,
            repeats=3,
            check=largest_difference,
            n=N,
        )


def tanimoto(bench, rng):
    """Fingerprints of 2,048 bits, one in ten set; the peer's product in float32 is the usual trick."""
    bits = rng.random((N, 2048)) < 0.1
    packed, floats, size = np.packbits(bits, axis=1), bits.astype(np.float32), bits.sum(axis=1, dtype=np.float32)

    def product():
        common = floats @ floats.T
        return common / (size[:, None] + size[None, :] - common)

    bench.compare(
        "Tanimoto, 2048 bits",
        lambda: Jaccard(packed=True).matrix(packed),
        product,
        peer_name="float32 product",
        floor=2,
        goal=5,
        check=largest_difference,
        n=N,
    )
    bench.compare(
        "Jaccard of binary rows, 256 columns",
        lambda: Jaccard().matrix(bits[:, :256]),
        lambda: 1 - cdist(bits[:, :256], bits[:, :256], "jaccard"),
        peer_name="scipy cdist jaccard",
        floor=75,
        repeats=3,
        check=largest_difference,
        n=N,
    )


def minkowski(bench, rng):
    """Ours gives exact zeros for equal rows."""
    X = rng.normal(size=(N, 60))
    for p, name, floor in ((2.0, "euclidean", 1.9), (1.0, "cityblock", 1.9), (0.5, "minkowski", 14)):
        options = {"p": 0.5} if name == "minkowski" else {}
        bench.compare(
            f"Minkowski p = {p:g}, d = 60",
            lambda p=p: Minkowski(p=p).matrix(X),
            lambda name=name, options=options: cdist(X, X, name, **options),
            peer_name=f"scipy cdist {name}",
            floor=floor,
            repeats=2 if options else 4,
            check=lambda ours, peer: (np.abs(ours - peer) / np.maximum(peer, 1)).max(),
            n=N,
        )


if __name__ == "__main__":
    bench, rng = Benchmark("measures"), np.random.default_rng(0)
    for group in (counting, value_difference, tanimoto, minkowski):
        group(bench, rng)
    bench.write()
