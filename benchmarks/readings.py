"""Readings that were tried where a figure of ours misses the paper's: what the remarks in docs/results quote.

python benchmarks/readings.py                # prints, and writes benchmarks/results/readings/readings.json
python benchmarks/readings.py krr sonar      # only these; the others stay as they are

Needs SIMILIS_DATA. Nothing here changes what `scripts/reproduce` does.
"""

import json
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import MaxSim, NormalQuadratic, Parzen, PathSearchCV
from similis._utils.environment import machine, versions

sys.path.insert(0, str(Path(__file__).parents[1]))  # for papers

from papers.data import load_data
from papers.methods import BENCHMARK, CHEN, LEARNED, LP, with_parameters
from papers.problems import Halves, LeaveOneOut, LPProblem, RandomSplits, Thirds, lp_approximation
from papers.runner import run_once

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


def gini_trees():
    """[pekalska2000] table 2, DT-Gini: the impurity as usual, and as the product of the shares of all classes."""
    found = []
    sets = (("Iris", "Euclidean"), ("Crabs", "Euclidean"), ("Crabs", "Stand."), ("Sonar", "Euclidean"))
    for name, distance in (*sets, ("Sonar", "Exponent"), ("Sonar", "Stand."), ("Sonar", "Lp;p=0.5")):
        problem = Halves(f"halves {name} {distance}", name, distance)
        for impurity in ("usual", "product"):
            values = []
            for run in range(10):
                data = problem.data(run)
                ((train, test),) = problem.splits(run, data)
                D, y = data.matrix[:, train], np.unique(data.labels, return_inverse=True)[1]
                tree = _grow(D[train], np.eye(y.max() + 1)[y[train]], impurity, np.random.default_rng(run))
                values.append(100 * np.mean([_walk(tree, row) for row in D[test]] != y[test]))
            mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(10)
            found.append(
                {"set": name, "distance": distance, "impurity": impurity, "mean": mean, "standard error": error}
            )
    return found


def _grow(X, Y, impurity, random):
    """Unpruned tree; splits that are equally good are chosen at random. A leaf is a class, a node a tuple."""
    counts = Y.sum(axis=0)
    order = np.argsort(X, axis=0)
    values = np.take_along_axis(X, order, axis=0)
    apart = values[1:] > values[:-1]
    if np.count_nonzero(counts) == 1 or not apart.any():
        return int(counts.argmax())
    left = np.cumsum(Y[order], axis=0)[:-1]
    cost = 0.0
    for part in (left, counts - left):
        n = part.sum(axis=2)
        shares = part / n[:, :, None]
        cost = cost + n * (1 - (shares**2).sum(axis=2) if impurity == "usual" else shares.prod(axis=2))
    cost[~apart] = np.inf
    best = np.argwhere(cost <= cost.min() + 1e-10)
    i, feature = best[random.integers(len(best))]
    cut = values[i : i + 2, feature].mean()
    below = X[:, feature] <= cut
    return feature, cut, *(_grow(X[some], Y[some], impurity, random) for some in (below, ~below))


def _walk(tree, row):
    while not isinstance(tree, int):
        feature, cut, low, high = tree
        tree = low if row[feature] <= cut else high
    return tree


def errors(problem, method, runs=20):
    """Mean error of a method over the runs of a problem, and its standard error."""
    values = [run_once(problem, run, [method])[method.name]["values"]["error"] for run in range(runs)]
    return {"mean": np.mean(values), "standard error": np.std(values, ddof=1) / np.sqrt(runs)}


def krr_grid():
    """[chen2010] table 4.6, KRR on proteins, when lambda is also 10^6, the last value of KRI."""
    found = []
    for name in ("krr-knn(clip)", "krr-knn(flip)", "krr-knn(shift)"):
        values = (*CHEN[name].grid["regularization"], 1e6)
        method = replace(CHEN[name], grid={**CHEN[name].grid, "regularization": values})
        found.append({"method": name, **errors(RandomSplits("splits Protein", "Protein"), method)})
    return found


def large_neighborhoods():
    """[chen2010] table 4.6, SVM-KNN with clip on proteins, by the number of neighbors."""
    method = CHEN["svm-knn(clip)"]
    return [
        {
            "neighbors": k,
            **errors(
                RandomSplits("splits Protein", "Protein"), replace(method, grid={**method.grid, "n_neighbors": (k,)})
            ),
        }
        for k in (32, 64, 128)
    ]


@dataclass(frozen=True)
class Bounded(RandomSplits):
    """Reciprocals of distances, with another similarity of an object to itself."""

    bound: float = 0.0

    def data(self, run):
        data = super().data(run)
        return replace(data, matrix=np.where(data.matrix == data.matrix.max(), self.bound, data.matrix))


def self_similarity():
    """[qiao2013] table 3, Sonar, by the bound that stands for the similarity of an object to itself."""
    return [
        {"bound": bound, "method": name, **errors(Bounded("splits Sonar", "Sonar", bound=bound), CHEN[name])}
        for bound in (20.0, 100.0)
        for name in ("svm-kernel(clip)", "svm-features(linear)")
    ]


def per_class_neighbors():
    """[cazzanti2007] tables 6.9 and 6.10, local SDA with the k nearest of each class: errors in leave-one-out."""
    method = BENCHMARK["local-sda"]
    method = replace(method, make=with_parameters(method, neighborhood="per-class"))
    found = []
    for name, view in (("Protein", ""), ("Aural Sonar", "human")):
        problem = LeaveOneOut(f"leave-one-out {name} {view}".strip(), name, view)
        error = run_once(problem, 0, [method])[method.name]["values"]["error"]
        found.append({"set": name, "errors": round(error * len(problem.data(0).labels) / 100)})
    return found


def positive_class():
    """[chen2010] table 5.2, distance of the linear program's intercept from the optimum, by the positive class."""
    data = load_data("Aural Sonar")
    model = clone(LP["simsvm-lp"].make()).fit(data.matrix, data.labels)
    signs = np.where(data.labels == model.classes_[0], 1.0, -1.0)
    found = []
    for p, (name, sign) in product((10, 50), (("first", 1.0), ("second", -1.0))):
        problem = LPProblem(f"linear programme Aural Sonar p={p}", "Aural Sonar", p=p)
        values = [
            100
            * abs(lp_approximation(model, sign * signs, p, problem.generator(run)).b / (-sign * model.intercept_) - 1)
            for run in range(10)
        ]
        found.append({"p": p, "positive class": name, "mean": np.mean(values)})
    return found


def new_rows_of_a_learned_kernel():
    """[chen2010] table 5.3, Indefinite SVM on protein-2, by the rule for new rows; five splits."""
    problem, values = RandomSplits("splits Protein-2", "Protein-2"), {}
    method = LEARNED["indefinite-svm"]
    for run in range(5):
        data = problem.data(run)
        ((train, test),) = problem.splits(run, data)
        S, y = data.matrix[np.ix_(train, train)], data.labels[train]
        rows = data.matrix[np.ix_(test, train)]
        chosen = PathSearchCV(method.make(), method.grid, cv=method.cv, refit=False).fit(S, y).best_params_
        for query in ("projected", "augmented", "raw"):
            model = method.make().set_params(query=query, **chosen)
            values.setdefault(query, []).append(100 - right(model, S, y, rows, data.labels[test]))
    return [{"new rows": query, "mean": np.mean(found)} for query, found in values.items()]


REGULARIZERS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3)
SECTIONS = {
    "liver": ("bernal2003 6, Liver, maxsim, accuracy", liver),
    "letters": ("bernal2003 6, Letter, powers, accuracy", letters),
    "rnqc": (
        "pekalska2000 2, Sonar Lp, rnqc, error by regularization",
        lambda: [
            halves(NormalQuadratic(regularization=r), "Sonar", "Lp;p=0.5", regularization=r) for r in REGULARIZERS
        ],
    ),
    "parzen": (
        "pekalska2000 2, Crabs, parzen-f, error by dimension",
        lambda: [
            halves(Parzen(space="features", dimension=d), "Crabs", "Euclidean", dimension=d)
            for d in (1, 2, 3, 5, 10, 50, 100)
        ],
    ),
    "trees": ("pekalska2000 2, dt-gini, error by impurity", gini_trees),
    "ties": ("cazzanti2007 6.9, knn, errors of 213", knn_ties),
    "per-class": ("cazzanti2007 6.9 and 6.10, local-sda, nearest of each class", per_class_neighbors),
    "krr": ("chen2010 4.6, Protein, krr with lambda = 10^6", krr_grid),
    "svm-knn": ("chen2010 4.6, Protein, svm-knn(clip) by neighbors", large_neighborhoods),
    "sonar": ("qiao2013 3, Sonar, error by self-similarity", self_similarity),
    "program": ("chen2010 5.2, Aural Sonar, intercept by positive class", positive_class),
    "rows": ("chen2010 5.3, Protein-2, indefinite-svm by new rows", new_rows_of_a_learned_kernel),
}


def main():
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    made = record.pop("made", {})
    for name in sys.argv[1:] or SECTIONS:
        key, make = SECTIONS[name]
        with threadpool_limits(1):
            items = make()
        for item in items:
            item |= {key: round(float(value), 4) for key, value in item.items() if isinstance(value, float)}
        print(json.dumps({key: items}, indent=1), flush=True)
        made[key] = f"{datetime.now(UTC):%Y-%m-%d}, similis {versions()['similis']}"
        record |= {key: items, "versions": versions(), "machine": machine()}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"made": made, **record}, indent=1) + "\n")


if __name__ == "__main__":
    main()
