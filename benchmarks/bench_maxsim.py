"""Hundreds of classes at once, and the margin QP: MaxSim and SBC against one-vs-one SVC and Clarabel.

    SIMILIS_DATA=... python benchmarks/bench_maxsim.py          # writes benchmarks/results/maxsim.json

[bernal2003] sec. 6 makes a problem of 676 classes from the letter data: words of two letters. Without those data
pairs of handwritten digits, 100 classes, take their place.
"""

import clarabel
import numpy as np
from _measure import Benchmark
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import SBC, MaxSim, load_benchmark
from similis.exceptions import DataNotFoundError
from similis.maxsim._base import signed_similarities


def words(per_class, n_test, seed=0):
    """Pairs of signs as objects: similarities to training pairs, `per_class` of each word."""
    rng = np.random.default_rng(seed)
    try:
        data = load_benchmark("letter")
        X, z, name = data.data, data.target, "two-letter words"
    except DataNotFoundError:
        X, z = load_digits(return_X_y=True)
        name = "pairs of digits"
    X = StandardScaler().fit_transform(X)
    signs = np.unique(z)
    half = rng.permutation(len(z)) < len(z) // 2  # training words are made of some signs, test words of the others
    of = {(part, s): np.flatnonzero((z == s) & (half == part)) for part in (True, False) for s in signs}

    def draw(part, labels):
        pairs = [[rng.choice(of[part, signs[c]]) for c in divmod(label, len(signs))] for label in labels]
        return np.hstack([X[[a for a, _ in pairs]], X[[b for _, b in pairs]]])

    n_classes = len(signs) ** 2
    y, truth = np.repeat(np.arange(n_classes), per_class), rng.integers(n_classes, size=n_test)
    A, B = draw(True, y), draw(False, truth)
    gamma = 1 / (2 * 2.5**2)  # chosen with another seed
    return f"{name}, {n_classes} classes", rbf_kernel(A, gamma=gamma), y, rbf_kernel(B, A, gamma=gamma), truth


def blobs(n, n_classes, sigma, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rbf_kernel(rng.normal(size=(n, 8)) + 1.5 * rng.normal(size=(n_classes, 8))[y], gamma=1 / (2 * sigma**2)), y


def by_clarabel(S, y, C):
    """|alpha|^2 + C sum xi by the conic solver."""
    A, n = signed_similarities(S, y), len(y)
    one = sparse.identity(n)
    P = sparse.block_diag([2 * one, sparse.csc_matrix((n, n))], format="csc")
    G = sparse.bmat([[sparse.csc_matrix(-A), -one], [-one, None], [None, -one]], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(3 * n)]
    q = np.concatenate([np.zeros(n), np.full(n, float(C))])
    h = np.concatenate([-np.ones(n), np.zeros(2 * n)])
    return clarabel.DefaultSolver(P, q, G, h, cones, settings).solve().obj_val


def main():
    bench = Benchmark("maxsim", packages=("clarabel",))
    with threadpool_limits(1):
        name, S, y, Q, truth = words(per_class=4, n_test=500)
        svc = SVC(kernel="precomputed", C=10.0)
        right = {}

        def fit_and_predict(label, model):
            def run():
                right[label] = float(np.mean(model.fit(S, y).predict(Q) == truth))

            return run

        for label, model, repeats in (("MaxSim", MaxSim(), 3), ("SBC", SBC(C=1.0), 2)):
            bench.compare(
                f"{label}, {name}, n = {len(y)}",
                fit_and_predict(label, model),
                fit_and_predict("SVC", svc),
                peer_name="SVC, one-vs-one",
                floor=100 if label == "MaxSim" else None,
                repeats=repeats,
                accuracy=right,
            )
        for n, floor in ((200, 6), (600, 11)):
            S, y = blobs(n, 4, sigma=2.0)
            bench.compare(
                f"SBC, soft margin, n = {n}",
                lambda S=S, y=y: SBC(C=1.0).fit(S, y).objective_,
                lambda S=S, y=y: by_clarabel(S, y, 1.0),
                peer_name="Clarabel",
                floor=floor,
                repeats=3,
                check=lambda a, b: abs(a - b) / b,
            )
        S, y = blobs(2000, 10, sigma=2.0)
        bench.compare(
            "SBC, soft margin, n = 2000",
            lambda: SBC(C=1.0).fit(S, y),
            lambda: SVC(kernel="precomputed", C=1.0).fit(S, y),
            peer_name="SVC, one-vs-one",
            repeats=2,
        )
    print(bench.write())


if __name__ == "__main__":
    main()
