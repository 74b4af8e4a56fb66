"""Methods after 2010 against public code: scikit-learn on repaired kernels, proto-dist-ml, sklearn-rvm.

python benchmarks/bench_field.py          # writes benchmarks/results/field.json

Peers in environments of their own (_peers.py) measure themselves on the same arrays in the same run. No similarity
forest is on PyPI; its peer is a random forest of as many trees on the rows. KreinSVM includes the decomposition and
the mapping of coefficients, which the peer does by hand. Times are processor times of one thread.
"""

import os
from pathlib import Path
from time import process_time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", LOKY_MAX_CPU_COUNT="1")

import numpy as np
from _measure import Benchmark, seconds
from _peers import ask
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import euclidean_distances
from sklearn.model_selection import GridSearchCV
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from similis import (
    PCVM,
    KreinRidge,
    KreinSVM,
    PathSearchCV,
    RelationalGLVQ,
    SimilarityForest,
    SimilarityLabelSpreading,
)

HERE = Path(__file__).parent
ALPHAS = [10.0**p for p in range(-4, 3)]


def problem(n, n_classes=3):
    """Vectors of overlapping classes, labels, distances, a Gaussian kernel and an indefinite similarity."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 8)) + 1.5 * np.eye(8)[y]
    D = euclidean_distances(X)
    noise = 0.05 * rng.normal(size=(n, n))
    K = np.exp(-((D / np.median(D)) ** 2))
    return X, y, D, K, K + (noise + noise.T) / 2


def flipped(S):
    values, U = np.linalg.eigh(S)
    return (U * np.abs(values)) @ U.T


def krein(bench, n):
    _, y, _, K, S = problem(n)
    bench.compare(
        f"Krein SVM, n = {n}",
        lambda: KreinSVM(C=10.0).fit(S, y),
        lambda: SVC(C=10.0, kernel="precomputed").fit(flipped(S), y),
        peer_name="eigh, flip, SVC(precomputed)",
        floor=0.7,
        goal=1,
    )
    target = np.sin(np.arange(n) / 10)
    unit = np.abs(np.linalg.eigvalsh(S)).sum() / n
    bench.compare(
        f"Krein ridge, search of 7 alpha, 5 folds, n = {n}",
        lambda: PathSearchCV(KreinRidge(), {"alpha": ALPHAS}, cv=5).fit(S, target),
        lambda: GridSearchCV(KernelRidge(kernel="precomputed"), {"alpha": [a * unit for a in ALPHAS]}, cv=5).fit(
            flipped(S), target
        ),
        peer_name="GridSearchCV(KernelRidge) on the flipped kernel",
        floor=0.5,
        goal=1,
    )
    labels = np.where(np.arange(n) % 10 == 0, y, -1)
    ours = SimilarityLabelSpreading(alpha=0.9)
    theirs = LabelSpreading(kernel=lambda A, B: K, alpha=0.9, max_iter=10_000, tol=1e-10)

    def differences(a, b):
        wrong = np.mean(a.transduction_ != b.transduction_)
        assert wrong == 0, wrong
        return wrong

    bench.compare(
        f"label spreading, n = {n}",
        lambda: ours.fit(K, labels),
        lambda: theirs.fit(np.zeros((n, 1)), labels),
        peer_name="LabelSpreading, a kernel that returns the matrix, tol 1e-10",
        floor=0.2,
        goal=1,
        check=differences,
    )
    bench.compare(
        f"similarity forest, 100 trees, n = {n}",
        lambda: SimilarityForest(random_state=0).fit(S, y),
        lambda: RandomForestClassifier(100, n_jobs=1, random_state=0).fit(S, y),
        peer_name="RandomForestClassifier on rows",
        floor=0.5,
        goal=1,
    )


def elsewhere(bench, n):
    """Peers that run in another environment: best of three fits on each side."""
    X, y, D, K, _ = problem(n)
    two = y < 2
    glvq = RelationalGLVQ(n_prototypes=2, kind="dissimilarity", random_state=0)
    models = {"RGLVQ": (glvq, D, y, "relational GLVQ, 2 prototypes", "proto-dist-ml")}
    if n <= 300:  # the relevance vector machine takes minutes for more
        models["EMRVC"] = PCVM(), K[np.ix_(two, two)], y[two], "PCVM, two classes", "sklearn-rvm"
    width = np.median(D)
    for peer, (model, matrix, labels, name, package) in models.items():
        arrays = {"D": D, "y": y} if peer == "RGLVQ" else {"X": X[two] / width, "y": y[two]}
        found = ask(package, HERE / "peer_field.py", **arrays)
        if found is None:
            continue
        model.fit(matrix, labels)
        times = [seconds(lambda: model.fit(matrix, labels), process_time) for _ in range(3)]  # noqa: B023
        ours = {"seconds": min(times), "error": float(np.mean(model.predict(matrix) != labels))}
        ratio = found["seconds"] / ours["seconds"]
        bench.items.append(
            {
                "name": f"{name}, n = {len(labels)}",
                "peer": f"{package} {peer}",
                "ours_seconds": ours["seconds"],
                "peer_seconds": found["seconds"],
                "ratio": ratio,
                "floor": 1,
                "goal": 3,
                "training_error": ours["error"],
                "peer_training_error": found["error"],
            }
        )
        print(f"{name}, n = {len(labels)}: {ratio:.1f}x {package} {peer}", found, ours, flush=True)


def main():
    bench = Benchmark("field", clock=process_time)
    for n in (300, 1000):
        krein(bench, n)
        elsewhere(bench, n)
    print(bench.write())


if __name__ == "__main__":
    main()
