"""Fit relational GLVQ (proto-dist-ml) or a relevance vector machine (sklearn-rvm), for bench_field.py.

Runs in an environment of its own. Reads distances D, or vectors X for a Gaussian kernel of width 1, and labels y;
prints the best processor time of three fits and the training error as JSON.
"""

import json
import sys
import time
import warnings

import numpy as np


def main():
    warnings.simplefilter("ignore")
    with np.load(sys.argv[1]) as data:
        arrays = dict(data)
    y = arrays.pop("y")
    [(name, A)] = arrays.items()
    if name == "D":
        from proto_dist_ml.rglvq import RGLVQ

        model = RGLVQ(2)
    else:
        from sklearn_rvm import EMRVC

        model = EMRVC(kernel="rbf", gamma=1.0)
    times = []
    for _ in range(3):
        start = time.process_time()
        model.fit(A, y)
        times.append(time.process_time() - start)
    print(json.dumps({"seconds": min(times), "error": float(np.mean(model.predict(A) != y))}))


if __name__ == "__main__":
    main()
