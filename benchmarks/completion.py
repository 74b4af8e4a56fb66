"""Kernels with hidden rows: does the completed kernel classify better than the auxiliary one it was completed with?

    SIMILIS_DATA=... python benchmarks/completion.py            # writes benchmarks/results/completion.json
    SIMILIS_DATA=... python benchmarks/completion.py protein    # this part anew, the others as they are in the file

[chen2010] sec. 6.2, transduction: all objects take part in the completion, half of them are labeled, the error is that
of the others. The rows of a random share of the objects are hidden. The auxiliary kernel comes from noisy features:
votes of which some are replaced by random ones, coordinates of the protein kernel with Gaussian noise. A support vector
machine with C by 5-fold cross-validation reads each kernel. "whole" is the kernel without hidden rows, the best one can
hope for. Kernels are centered.

Criterion: on both sets, at each noise and share, em has a lower mean error than the auxiliary kernel. Written before
the run of these draws; noise levels, the ridge of 1e-3 and the centering were settled before it on pilot draws of other
seeds, whose results had been seen; for the proteins on another matrix of them: its distances, read as similarities by
mistake. Since `em` stops at its limit, one of the nine settings does not meet it (proteins, noise 0.5, 60 % hidden).
"""

import json
import sys
import warnings

import numpy as np
from _measure import RESULTS, Benchmark
from scipy.stats import wilcoxon
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import CompletionSVM, Counting, SpectrumClip, complete_kernel, load_benchmark, load_votes, make_stack

C = {"C": [0.01, 0.1, 1, 10, 100, 1000]}
HIDDEN = (0.3, 0.6)
DRAWS = 10
SMALL = 40  # objects for the machine that learns its kernel


def unit(K):
    """Centered, with a mean self-similarity of one, so that C means the same for every kernel."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    return (K + K.T) / (2 * np.mean(np.diagonal(K)))


def votes(rng, noise, n=200):
    """Counting similarity of n members' votes; auxiliary: the same with a share `noise` of votes drawn at random."""
    data = load_votes()
    X, y = np.asarray(data.data, dtype=str), np.asarray(data.target)
    pick = rng.permutation(len(y))[:n]
    X, y = X[pick], y[pick]
    noisy = np.where(rng.random(X.shape) < noise, rng.choice(np.unique(X), size=X.shape), X)
    return unit(Counting().fit(X).matrix(X).astype(float)), unit(Counting().fit(noisy).matrix(noisy).astype(float)), y


def protein(rng, noise):
    """The similarities clipped; auxiliary: inner products of their first ten coordinates with noise of this size."""
    data = load_benchmark("protein_uw")
    K = unit(SpectrumClip().fit_transform(np.asarray(data.proximity, dtype=float)))
    values, U = np.linalg.eigh(K)
    F = U[:, -10:] * np.sqrt(values[-10:])
    F = F + noise * np.sqrt(np.mean(F**2)) * rng.normal(size=F.shape)
    return K, unit(F @ F.T), np.asarray(data.target)


def error(K, y, train, test):
    model = GridSearchCV(SVC(kernel="precomputed", max_iter=100_000), C, cv=5)
    model.fit(K[np.ix_(train, train)], y[train])
    return float(np.mean(model.predict(K[np.ix_(test, train)]) != y[test]))


def halves(rng, y):
    """Half of each class for training."""
    order = rng.permutation(len(y))
    train = np.sort(np.concatenate([order[y[order] == g][::2] for g in np.unique(y)]))
    return train, np.setdiff1d(np.arange(len(y)), train)


def run(make, noise, hidden, seed):
    """Errors of one draw by kernel."""
    rng = np.random.default_rng([seed, int(100 * noise), int(100 * hidden)])
    K, aux, y = make(rng, noise)
    train, test = halves(rng, y)
    known = rng.random(len(y)) >= hidden
    partial = np.where(known[:, None] & known, K, np.nan)
    kernels = {"auxiliary": aux, "whole": K}
    for method in ("em", "wishart", "frobenius"):
        options = {"tol": 1e-4} if method == "frobenius" else {}
        kernels[method] = complete_kernel(partial, aux, method, regularization=1e-3, **options)
    return {name: error(kernel, y, train, test) for name, kernel in kernels.items()}


def run_small(noise, hidden, seed):
    """The same on few votes, with the machine that completes and learns at once; its eta and gamma are not tuned."""
    rng = np.random.default_rng([seed, 7])
    K, aux, y = votes(rng, noise, n=SMALL)
    train, test = halves(rng, y)
    known = rng.random(len(y)) >= hidden
    partial = np.where(known[:, None] & known, K, np.nan)
    labels = np.where(np.isin(np.arange(len(y)), train), y, -1)
    joint = CompletionSVM(eta=0.01, gamma=0.1).fit(make_stack([partial, aux]), labels)
    em = complete_kernel(partial, aux, "em", regularization=1e-3)
    return {
        "auxiliary": error(aux, y, train, test),
        "em": error(em, y, train, test),
        "CompletionSVM": float(np.mean(joint.transduction_[test] != y[test])),
        "whole": error(K, y, train, test),
    }


def keep(bench, name, draws, **details):
    table = {key: [draw[key] for draw in draws] for key in draws[0]}
    base = np.array(table["auxiliary"])
    item = {"name": name, **details, "draws": len(draws), "errors": {}}
    for key, values in table.items():
        gain = base - np.array(values)
        p = float(wilcoxon(gain, alternative="greater").pvalue) if gain.any() else 1.0
        item["errors"][key] = {"mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1)), "all": values}
        if key != "auxiliary":
            item["errors"][key] |= {"gain": float(gain.mean()), "p_better_than_auxiliary": p}
    item["criterion_met"] = item["errors"]["em"]["gain"] > 0
    bench.items.append(item)
    bench.write()
    print(name, {k: round(100 * v["mean"], 2) for k, v in item["errors"].items()}, item["criterion_met"], flush=True)


def main(parts):
    bench = Benchmark("completion", packages=("clarabel",))
    if len(parts) < len(PARTS):
        old = json.loads((RESULTS / "completion.json").read_text())["items"]
        bench.items = [item for item in old if item["part"] not in parts]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for part in parts:
            if part == "small":
                draws = [run_small(0.5, 0.3, seed) for seed in range(DRAWS)]
                name = f"votes, {SMALL} objects, noise 0.5, 30% hidden"
                keep(bench, name, draws, part=part, noise=0.5, hidden=0.3)
                continue
            make, levels = PARTS[part]
            for noise in levels:
                for hidden in HIDDEN:
                    draws = [run(make, noise, hidden, seed) for seed in range(DRAWS)]
                    name = f"{part}, noise {noise}, {hidden:.0%} hidden"
                    keep(bench, name, draws, part=part, noise=noise, hidden=hidden)


PARTS = {"votes": (votes, (0.5, 0.8)), "protein": (protein, (0.5, 1.0)), "small": (None, ())}

if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))
