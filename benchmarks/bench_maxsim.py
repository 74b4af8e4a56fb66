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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import SBC, MaxSim, Tighten, load_benchmark, make_similarity
from similis.exceptions import DataNotFoundError
from similis.maxsim._base import signed_similarities
from similis.solvers import ClassMargin, nonnegative_margin


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


COSTS = (0.1, 1.0, 10.0, 100.0)  # of the study


def by_path(S, y):
    margin = ClassMargin(S, y)
    return [margin.solve(C).objective for C in COSTS]


def by_interior_points(S, y):
    """The solver of version 1.0, which started anew for every C."""
    return [nonnegative_margin(signed_similarities(S, y), C).objective for C in COSTS]


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

        # The similarity is not tight enough for SBC's constraints with as many classes: S^4.
        for label, model, repeats in (("MaxSim", MaxSim(), 3), ("SBC", make_pipeline(Tighten(q=4), SBC(C=1.0)), 2)):
            bench.compare(
                f"{label}, {name}, n = {len(y)}",
                fit_and_predict(label, model),
                fit_and_predict("SVC", svc),
                peer_name="SVC, one-vs-one",
                floor=100 if label == "MaxSim" else 1,
                goal=None if label == "MaxSim" else 3,
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
        S, y = make_similarity(2000, 5, indefinite=0.1, random_state=0)
        bench.compare(
            "SBC, four C, n = 2000",
            lambda: by_path(S, y),
            lambda: by_interior_points(S, y),
            peer_name="interior points",
            floor=50,
            goal=150,
            repeats=1,
            check=lambda a, b: np.abs(np.subtract(a, b) / b).max(),
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
