"""Coverage and size of prediction sets on every benchmark matrix with classes, over random splits.

    SIMILIS_DATA=... python benchmarks/conformal.py     # writes benchmarks/results/conformal.json

There are 200 splits: with 50, the coverage of a class of 40 objects has a standard error of 1.5 %. Each keeps a fifth
of the objects, stratified, for testing. "cross" is the default of ConformalClassifier, "plain" the same without
class_conditional, "split" calibrates on a third of the training objects, "full" is exact k-NN. The level is 0.9.
Classes with fewer than nine calibration objects are in every set and not counted as covered.

Criterion: with "cross", coverage of at least 89 % overall and in every class with enough objects; exact k-NN for 2,500
objects and 500 new ones under one second.
"""

import time
import warnings
from datetime import UTC, datetime

import numpy as np
from _measure import RESULTS, compact_json, machine, versions
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import ConformalClassifier, SimilarityKNN, SpectrumClip, ToSimilarity, load_benchmark, symmetrize

SETS = ("aural_sonar", "protein_uw", "protein", "voting_vdm", "yeast_7_12", "chicken_pieces", "morse")
SPLITS, ENOUGH = 200, 9
METHODS = {"cross": ("cross", "plain"), "split": ("split",), "full": ("full",)}  # the variants that share their fits


def load(name):
    """Similarities and labels."""
    data = load_benchmark(name)
    S = symmetrize(np.asarray(data.proximity, dtype=float))
    if data.kind == "dissimilarity":
        S = ToSimilarity(method="exponential").fit_transform(S)
    return S, np.asarray(data.target)


def measure(S, y, model, method):
    """Coverage overall and per class, mean size, shares of empty sets and single classes; for each variant."""
    G = y.max() + 1
    found = {variant: ([], []) for variant in METHODS[method]}
    enough, true = np.ones(G, bool), []
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=0.2, random_state=0).split(S, y):
        conformal = ConformalClassifier(model, method=method, random_state=0).fit(S[np.ix_(train, train)], y[train])
        held = conformal.codes_ if method == "full" else conformal.codes_[conformal.fold_ >= 0]
        enough &= np.bincount(held, minlength=G) >= ENOUGH
        true.append(y[test])
        for variant, (hits, sizes) in found.items():
            conformal.set_params(class_conditional=variant != "plain")  # changes the p-values, not the fits
            sets = conformal.predict_set(S[np.ix_(test, train)])[1][:, :, 0]
            hits.append(sets[np.arange(len(test)), y[test]])
            sizes.append(sets.sum(axis=1))
    return {variant: summary(np.array(true), np.array(h), np.array(s), enough) for variant, (h, s) in found.items()}


def summary(true, hit, size, enough):
    """Figures of one variant; only classes with enough calibration objects count for the worst one."""
    by_split = [((true == g) & hit).sum(axis=1) / (true == g).sum(axis=1) for g in np.flatnonzero(enough)]
    worst = min(by_split, key=np.mean, default=np.full(len(hit), np.nan))
    return {
        "splits": len(hit),
        "coverage": round(hit.mean(), 4),
        "worst_class": round(worst.mean(), 4) if by_split else None,
        "worst_class_standard_error": round(worst.std() / len(hit) ** 0.5, 4) if by_split else None,
        "classes_counted": f"{enough.sum()} of {len(enough)}",
        "mean_size": round(size.mean(), 3),
        "single": round((size == 1).mean(), 3),
        "empty": round((size == 0).mean(), 3),
    }


def exact_knn_seconds(n=2500, m=500):
    """Best of three CPU times: fit and p-values of exact full conformal k-NN."""
    X = np.random.default_rng(0).normal(size=(n + m, 5))
    y = (X[:, 0] > 0).astype(int)
    D = np.linalg.norm(X[:, None] - X[None, :n], axis=2)
    model = ConformalClassifier(SimilarityKNN(n_neighbors=5, kind="dissimilarity"), method="full")
    times = []
    for _ in range(3):
        start = time.process_time()
        model.fit(D[:n], y[:n]).p_values(D[n:])
        times.append(time.process_time() - start)
    return round(min(times), 3)


def main():
    models = {
        "knn": SimilarityKNN(n_neighbors=5),
        "svm-kernel(clip)": make_pipeline(SpectrumClip(), SVC(kernel="precomputed")),
    }
    record = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine(), "versions": versions()}
    record |= {"level": 0.9, "exact_knn_2500_cpu_seconds": exact_knn_seconds(), "sets": {}}
    for name in SETS:
        S, y = load(name)
        found = {"objects": len(y)}
        for model_name, model in models.items():
            for method in METHODS if model_name == "knn" else ("cross", "split"):
                for variant, figures in measure(S, y, model, method).items():
                    found[f"{model_name} {variant}"] = figures
        record["sets"][name] = found
        print(name, round(time.process_time()), "s", flush=True)
        (RESULTS / "conformal.json").write_text(compact_json(record))


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
