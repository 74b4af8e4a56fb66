"""Vector quantization learned on distances by proto-dist-ml, for bench_accuracy.py: runs in its own environment.

Reads an archive with distances D, labels y and one row of test flags a split; prints errors and seconds as JSON.
"""

import json
import sys
import time

import numpy as np
from proto_dist_ml.mglvq import MGLVQ
from proto_dist_ml.rglvq import RGLVQ
from sklearn.model_selection import StratifiedKFold

PROTOTYPES = (1, 2, 4)  # in each class


def fit_and_predict(kind, k, D, y, train, test):
    # Relational LVQ multiplies whole matrices, median LVQ reads single objects: both need symmetric distances.
    model = kind(k)
    model.fit(D[np.ix_(train, train)], y[train])
    return model.predict(D[np.ix_(test, train)])


def chosen(kind, D, y, train, seed, n_folds):
    """The number of prototypes with the best cross-validated accuracy, the smallest among equals."""
    right = dict.fromkeys(PROTOTYPES, 0)
    for known, held in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(train, y[train]):
        for k in right:
            guess = fit_and_predict(kind, k, D, y, train[known], train[held])
            right[k] += int((guess == y[train[held]]).sum())
    return max(right, key=right.get)


def main():
    with np.load(sys.argv[1]) as data:
        D, y, tests, n_folds = data["D"], data["y"], data["tests"], int(data["n_folds"])
    found = {}
    for kind in (RGLVQ, MGLVQ):
        try:
            found[kind.__name__] = over_splits(kind, D, y, tests, n_folds)
        except Exception as error:  # the package raises many types for matrices that it cannot process
            found[kind.__name__] = {"failed": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps(found))


def over_splits(kind, D, y, tests, n_folds):
    errors, seconds = [], []
    for seed, flags in enumerate(tests):
        train, test = np.flatnonzero(~flags), np.flatnonzero(flags)
        start = time.perf_counter()
        k = chosen(kind, D, y, train, seed, n_folds)
        errors.append(float(np.mean(fit_and_predict(kind, k, D, y, train, test) != y[test])))
        seconds.append(time.perf_counter() - start)
    return {"errors": errors, "seconds": seconds}


if __name__ == "__main__":
    main()
