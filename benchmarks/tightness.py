"""Error of MaxSim, SBC and the perceptron with searched tightness against an RBF SVM, under one protocol.

python benchmarks/tightness.py          # prints, and writes benchmarks/results/readings/tightness.json

Needs SIMILIS_DATA. Distances: Euclidean between standardized features, and those of the data for proteins. Stratified
splits, 80 % for training; parameters by five folds inside each training part.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import PathSearchCV, ToSimilarity, load_benchmark
from similis._utils.environment import machine, versions
from similis.study import make_model

RESULTS = Path(__file__).parent / "results" / "readings" / "tightness.json"
SETS = ("iris", "wine", "protein", "bupa", "pima")
SPLITS = 5


def distances(name):
    data = load_benchmark(name)
    if name == "protein":  # four classes, without the wrong pairs of protein_uw
        return data.proximity[np.ix_(data.keep213, data.keep213)], data.target[data.keep213]
    Z = StandardScaler().fit_transform(data.data)
    return cdist(Z, Z), data.target


def models(D, cv):
    found = {name: make_model(name, kind="dissimilarity", n=len(D), cv=cv) for name in ("sbc", "maxsim", "perceptron")}
    grid = {"svc__C": 10.0 ** np.arange(-1, 4), "tosimilarity__gamma": 2.0 ** np.arange(-5, 6, 2) / np.median(D) ** 2}
    svm = make_pipeline(ToSimilarity(method="rbf"), SVC(kernel="precomputed"))
    return found | {"RBF SVM": PathSearchCV(svm, grid, cv=cv)}


def measure(name):
    D, y = distances(name)
    y = np.unique(y, return_inverse=True)[1]
    record = {"n": len(y), "classes": int(y.max()) + 1, "splits": SPLITS, "errors": {}, "chosen": {}, "seconds": {}}
    for number, (train, test) in enumerate(StratifiedShuffleSplit(SPLITS, test_size=0.2, random_state=0).split(D, y)):
        cv = StratifiedKFold(5, shuffle=True, random_state=number)
        for label, model in models(D[np.ix_(train, train)], cv).items():
            start = time.process_time()
            model.fit(D[np.ix_(train, train)], y[train])
            spent = time.process_time() - start
            error = 100 * np.mean(model.predict(D[np.ix_(test, train)]) != y[test])
            record["errors"].setdefault(label, []).append(round(float(error), 2))
            record["seconds"].setdefault(label, []).append(round(spent, 2))
            record["chosen"].setdefault(label, []).append({k: float(v) for k, v in model.best_params_.items()})
    record["mean error"] = {label: round(float(np.mean(e)), 2) for label, e in record["errors"].items()}
    return record


def main(names):
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"sets": {}}
    record |= {"machine": machine(), "versions": versions()}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            record["sets"][name] = measure(name)
            print(name, record["sets"][name]["mean error"], flush=True)
            RESULTS.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)
