"""Time one piece of work in the version of similis that PYTHONPATH names, for bench_version_1.py.

    python benchmarks/peer_version_1.py split 2000 sbc     # one split of a study with one method
    python benchmarks/peer_version_1.py methods 0          # names of the default study

Prints one line of JSON: version, seconds of the processor and of the clock, and a figure that both versions should
agree on, the error rate of a split for example. A run on a small problem before it compiles the kernels.
"""

import inspect
import json
import sys
import time

import numpy as np

import similis
from similis import IndefiniteSVM, NormalLinear, PathSearchCV, SimMKL, make_similarity
from similis.proximity import make_stack
from similis.study import Study, list_methods


def split(n, method, folds="10"):
    """Error rate of one split; as version 1.0 did it, without race, landmarks and calibrated probabilities."""
    options = {"race": False, "landmarks": None, "probabilities": False}
    options = {key: value for key, value in options.items() if key in inspect.signature(Study).parameters}
    S, y = make_similarity(n, 5, indefinite=0.1, random_state=0)
    study = Study([method], n_splits=1, cv=int(folds), random_state=0, **options)
    return lambda: next(iter(study.run(S, y, kind="similarity").scores("error").values()))[0]


def rnlc(n):
    """Mean error over the regularizers of the study, one fold: n training objects, n / 9 new ones."""
    S, y = make_similarity(n + n // 9, 5, indefinite=0.1, random_state=0)
    train, new = np.arange(n), np.arange(n, len(y))
    D = S.max() - S
    grid = [{"regularization": r} for r in next(m for m in list_methods() if m.name == "rnlc").grid["regularization"]]
    A, B = D[np.ix_(train, train)], D[np.ix_(new, train)]
    return lambda: np.mean([p != y[new] for p in NormalLinear().predict_path(A, y[train], B, grid)])


def indefinite(n):
    """Objective of an Indefinite SVM on two classes."""
    S, y = make_similarity(n, 2, indefinite=0.1, random_state=0)
    return lambda: IndefiniteSVM().fit(S, y).objective_


def simmkl(n):
    """Best score of a search of SimMKL on two matrices and two classes."""
    S, y = make_similarity(n, 2, indefinite=0.1, random_state=0)
    stack = make_stack([S, S @ S / n])
    grid = {"eta": [1e-3, 1e-1], "gamma": [1e-2, 1.0]}
    return lambda: PathSearchCV(SimMKL(), grid, cv=5, refit=False).fit(stack, y).cv_results_["mean_test_score"].max()


WORK = {"split": split, "rnlc": rnlc, "indefinite": indefinite, "simmkl": simmkl}


def main():
    name, n, *rest = sys.argv[1:]
    if name == "methods":
        print(json.dumps([method.name for method in list_methods() if not method.on_request]))
        return
    WORK[name](100, *rest)()
    work = WORK[name](int(n), *rest)
    wall, processor = time.perf_counter(), time.process_time()
    figure = float(work())
    found = {"seconds": time.process_time() - processor, "wall": time.perf_counter() - wall, "figure": figure}
    print(json.dumps({"version": similis.__version__, **found}))


if __name__ == "__main__":
    main()
