"""Multiple kernel learning by MKLpy, for bench_accuracy.py: runs in that package's environment.

Reads an archive with similarities S, labels y and one row of test flags a split; prints errors and seconds as JSON.
The kernels are what one would make of a similarity matrix: its clipped spectrum, and rows as features, linear and RBF.
"""

import json
import sys
import time
import warnings

import numpy as np
import torch
from MKLpy.algorithms import AverageMKL, EasyMKL
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

CS = [10.0**p for p in range(-3, 6)]
LAMBDAS = (0.0, 0.1, 0.5)


def kernels(S, train, test):
    """Training blocks, and rows of the test objects, each kernel with a mean diagonal of one."""
    T, Q = S[np.ix_(train, train)], S[np.ix_(test, train)]
    values, U = np.linalg.eigh(T)
    P = (U * (values > 0)) @ U.T
    square = (T**2).sum(axis=1)
    distances = lambda A: np.maximum((A**2).sum(axis=1)[:, None] + square - 2 * A @ T.T, 0)  # noqa: E731
    width = np.median(distances(T))
    found = [(T @ P, Q @ P), (T @ T.T, Q @ T.T), (np.exp(-distances(T) / width), np.exp(-distances(Q) / width))]
    units = [np.trace(K) / len(K) or 1.0 for K, _ in found]
    return [[torch.tensor(pair[i] / unit) for pair, unit in zip(found, units)] for i in (0, 1)]


def candidates(name):
    if name == "AverageMKL":
        return {C: lambda C=C: AverageMKL(learner=SVC(C=C, max_iter=100_000)) for C in CS}
    return {lam: lambda lam=lam: EasyMKL(lam=lam) for lam in LAMBDAS}


def errors_of(models, S, y, train, test):
    """Wrong answers of each model."""
    known, new = kernels(S, train, test)
    target = torch.tensor(y[train])
    return {
        key: int((np.asarray(make().fit(known, target).predict(new)) != y[test]).sum()) for key, make in models.items()
    }


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with np.load(sys.argv[1]) as data:
        S, y, tests, n_folds = data["S"], data["y"], data["tests"], int(data["n_folds"])
    found = {}
    for name in ("AverageMKL", "EasyMKL"):
        errors, seconds = [], []
        for seed, flags in enumerate(tests):
            train, test = np.flatnonzero(~flags), np.flatnonzero(flags)
            models = candidates(name)
            start = time.perf_counter()
            wrong = dict.fromkeys(models, 0)
            for known, held in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(train, y[train]):
                for key, count in errors_of(models, S, y, train[known], train[held]).items():
                    wrong[key] += count
            best = min(wrong, key=wrong.get)
            errors.append(errors_of({best: models[best]}, S, y, train, test)[best] / len(test))
            seconds.append(time.perf_counter() - start)
        found[name] = {"errors": errors, "seconds": seconds}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
