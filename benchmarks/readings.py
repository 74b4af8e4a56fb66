"""Readings that were tried where a figure of ours misses the paper's: what the remarks in docs/results quote.

python benchmarks/readings.py          # prints, and writes benchmarks/results/readings/readings.json

Needs SIMILIS_DATA. Nothing here changes what `scripts/reproduce` does.
"""

import json
import sys
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import MaxSim, NormalQuadratic, Parzen
from similis._utils.environment import machine, versions

sys.path.insert(0, str(Path(__file__).parents[1]))  # for papers

from papers.data import load_data
from papers.problems import Halves, Thirds

RESULTS = Path(__file__).parent / "results" / "readings" / "readings.json"


def right(model, train, y_train, test, y_test):
    return 100 * np.mean(model.fit(train, y_train).predict(test) == y_test)


def thirds(name, kernel, runs):
    problem = Thirds(f"thirds {name} {kernel}", name, "vectors", kernel=kernel)
    for run in range(runs):
        data = problem.data(run)
        ((train, test),) = problem.splits(run, data)
        yield data.objects, data.labels, train, test


def liver():
    """[bernal2003] sec. 6, MaxSim with a Gaussian measure: widths and scales, ten splits each."""
    found = []
    for scale, width in product(("standardized", "by 100"), (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16)):
        values = []
        for X, y, train, test in thirds("Liver", "rbf", 10):
            Z = X / 100 if scale == "by 100" else StandardScaler().fit(X[train]).transform(X)
            S = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2) / (2 * width**2))
            values.append(right(MaxSim(), S[np.ix_(train, train)], y[train], S[np.ix_(test, train)], y[test]))
        found.append({"scale": scale, "width": width, "mean": np.mean(values), "best split": max(values)})
    return found


def letters():
    """[bernal2003] sec. 6, powers of the cosine with and without a constant appended; 6,000 letters to learn from."""
    found = []
    for run, (X, y, train, test) in enumerate(thirds("Letter", "polynomial", 2)):
        train, test = train[:6000], test[:3000]
        Z = StandardScaler().fit(X[train]).transform(X)
        for lift in (5.0, 0.0):
            U = np.hstack([Z, np.full((len(Z), 1), lift)])
            U /= np.linalg.norm(U, axis=1, keepdims=True)
            S, Q = np.maximum(U[train] @ U[train].T, 0), np.maximum(U[test] @ U[train].T, 0)
            machines = {MaxSim(): (16, 64, 128, 256, 512), SVC(C=10, kernel="precomputed"): (2, 4, 8)}
            for model, degrees in machines.items():
                values = [right(model, S**d, y[train], Q**d, y[test]) for d in degrees]
                found.append({"split": run, "lift": lift, "method": type(model).__name__, "best": max(values)})
    return found


def halves(model, name, distance, **parameter):
    problem = Halves(f"halves {name} {distance}", name, distance)
    values = []
    for run in range(10):
        data = problem.data(run)
        ((train, test),) = problem.splits(run, data)
        D, y = data.matrix, data.labels
        values.append(100 - right(model, D[np.ix_(train, train)], y[train], D[np.ix_(test, train)], y[test]))
    return {**parameter, "mean": np.mean(values), "standard error": np.std(values, ddof=1) / np.sqrt(10)}


def knn_ties():
    """[cazzanti2007] table 6.9, k-NN: errors of 213 by how tied neighbors, tied votes and tied k are decided."""
    data = load_data("Protein")
    S, y, n = data.matrix, data.labels, len(data.labels)
    ks, sizes = np.array([*range(1, 21), *range(30, 101, 10), 150, 200]), np.bincount(y)
    found = []
    for neighbors, votes, size in product(("first", "last"), ("first", "largest", "nearest"), ("smallest", "largest")):
        rows = -S if neighbors == "first" else -S[:, ::-1]
        order = np.argsort(rows, axis=1, kind="stable")
        order = order if neighbors == "first" else n - 1 - order
        labels = y[order]
        wrong = 0
        for i in range(n):
            keep = (order != np.arange(n)[:, None]) & (order != i)
            others = [j for j in range(n) if j != i]
            near = np.array([labels[j][keep[j]] for j in others])
            said = _votes(near, ks, votes, sizes)
            errors = (said != y[others][:, None]).sum(axis=0)
            best = np.flatnonzero(errors == errors.min())[0 if size == "smallest" else -1]
            wrong += _votes(labels[i][order[i] != i][None], ks, votes, sizes)[0, best] != y[i]
        found.append({"neighbors": neighbors, "votes": votes, "k": size, "errors": int(wrong)})
    return found


def _votes(near, ks, rule, sizes):
    """Winners among the first k labels of every row, for every k."""
    counts = np.cumsum(near[:, :, None] == np.arange(len(sizes)), axis=1)[:, ks - 1].astype(float)
    if rule == "largest":
        counts += 0.5 * sizes / sizes.max()
    if rule == "nearest":
        counts += 0.5 * (near[:, None, :1] == np.arange(len(sizes)))
    return counts.argmax(axis=2)


def main():
    with threadpool_limits(1):
        record = {
            "versions": versions(),
            "machine": machine(),
            "bernal2003 6, Liver, maxsim, accuracy": liver(),
            "bernal2003 6, Letter, powers, accuracy": letters(),
            "pekalska2000 2, Sonar Lp, rnqc, error by regularization": [
                halves(NormalQuadratic(regularization=r), "Sonar", "Lp;p=0.5", regularization=r)
                for r in (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3)
            ],
            "pekalska2000 2, Crabs, parzen-f, error by dimension": [
                halves(Parzen(space="features", dimension=d), "Crabs", "Euclidean", dimension=d)
                for d in (1, 2, 3, 5, 10, 50, 100)
            ],
            "cazzanti2007 6.9, knn, errors of 213": knn_ties(),
        }
    for items in record.values():
        for item in items if isinstance(items, list) else ():
            item |= {key: round(value, 4) for key, value in item.items() if isinstance(value, float)}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
