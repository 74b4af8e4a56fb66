"""Coverage and size of prediction sets on every benchmark matrix with classes, over 50 random splits.

    SIMILIS_DATA=... python benchmarks/conformal.py     # writes benchmarks/results/conformal.json

Each split keeps a fifth of the objects, stratified, for testing. "cross" is the default of ConformalClassifier, "plain"
the same without class_conditional, "split" calibrates on a third of the training objects, "full" is exact k-NN. The
level is 0.9. Classes with fewer than nine calibration objects are in every set and not counted as covered.

Criterion: with "cross", coverage of at least 89 % overall and in every class with enough objects; exact k-NN for 2,500
objects and 500 new ones under one second.
"""

import json
import time
import warnings

import numpy as np
from _measure import RESULTS
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import ConformalClassifier, SimilarityKNN, SpectrumClip, ToSimilarity, load_benchmark, symmetrize

SETS = ("aural_sonar", "protein_uw", "protein", "voting_vdm", "yeast_7_12", "chicken_pieces", "morse")
SPLITS, ENOUGH = 50, 9
VARIANTS = {
    "cross": {},
    "plain": {"class_conditional": False},
    "split": {"method": "split"},
    "full": {"method": "full"},
}


def load(name):
    """Similarities and labels."""
    data = load_benchmark(name)
    S = symmetrize(np.asarray(data.proximity, dtype=float))
    if data.kind == "dissimilarity":
        S = ToSimilarity(method="exponential").fit_transform(S)
    return S, np.asarray(data.target)


def measure(S, y, model, options):
    """Coverage overall and per class, mean size and share of empty sets and single classes, over all splits."""
    G = y.max() + 1
    hit, tested, sizes = np.zeros(G), np.zeros(G), []
    enough = np.ones(G, bool)
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=0.2, random_state=0).split(S, y):
        conformal = ConformalClassifier(model, random_state=0, **options).fit(S[np.ix_(train, train)], y[train])
        sets = conformal.predict_set(S[np.ix_(test, train)])[1][:, :, 0]
        np.add.at(hit, y[test], sets[np.arange(len(test)), y[test]])
        np.add.at(tested, y[test], 1)
        sizes.append(sets.sum(axis=1))
        held = conformal.codes_[conformal.fold_ >= 0] if "full" not in options.values() else conformal.codes_
        enough &= np.bincount(held, minlength=G) >= ENOUGH
    size = np.concatenate(sizes)
    shares = (hit / tested)[enough]
    return {
        "coverage": round(hit.sum() / tested.sum(), 4),
        "worst_class": round(shares.min(), 4) if shares.size else None,
        "classes_counted": f"{enough.sum()} of {G}",
        "mean_size": round(size.mean(), 3),
        "single": round((size == 1).mean(), 3),
        "empty": round((size == 0).mean(), 3),
    }


def exact_knn_seconds(n=2500, m=500):
    """Best of three: fit and p-values of exact full conformal k-NN."""
    X = np.random.default_rng(0).normal(size=(n + m, 5))
    y = (X[:, 0] > 0).astype(int)
    D = np.linalg.norm(X[:, None] - X[None, :n], axis=2)
    model = ConformalClassifier(SimilarityKNN(n_neighbors=5, kind="dissimilarity"), method="full")
    times = []
    for _ in range(3):
        start = time.perf_counter()
        model.fit(D[:n], y[:n]).p_values(D[n:])
        times.append(time.perf_counter() - start)
    return round(min(times), 3)


def main():
    models = {
        "knn": SimilarityKNN(n_neighbors=5),
        "svm-kernel(clip)": make_pipeline(SpectrumClip(), SVC(kernel="precomputed")),
    }
    record = {"level": 0.9, "splits": SPLITS, "exact_knn_2500_seconds": exact_knn_seconds(), "sets": {}}
    for name in SETS:
        S, y = load(name)
        found = {}
        for method, model in models.items():
            for variant, options in VARIANTS.items():
                if variant != "full" or method == "knn":
                    found[f"{method} {variant}"] = measure(S, y, model, options)
        record["sets"][name] = found
        print(name, json.dumps(found))
    (RESULTS / "conformal.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
