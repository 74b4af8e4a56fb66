"""Incremental HLM: 100,000 objects in bounded memory, a stream that drifts, and the curves of [qiao2013] figure 1.

python benchmarks/bench_incremental.py              # prints, and writes benchmarks/results/incremental.json
python benchmarks/bench_incremental.py --figure     # only draws docs/figures/incremental.svg from that file
"""

import json
import resource
import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
from _measure import RESULTS, Benchmark
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits

from similis import VDM, IncrementalHLM, Minkowski, MixtureHLM, load_sonar, load_votes, stream_fit

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "incremental.svg"
MODELS = {
    "append": IncrementalHLM(max_components=40, bounded=True, n_init=5, random_state=0),
    "resample": IncrementalHLM(
        scheme="resample", max_components=12, sample_size=4, bounded=True, n_init=5, random_state=0
    ),
}


def lumps(n_batches, size, n_classes, d=10, drift=False, seed=0):
    """Batches of vectors from classes of two lumps each.

    With `drift` each class wanders to where the next one was, and a class joins every 20 batches after the first two.
    """
    rng = np.random.default_rng(seed)
    centers = 1.6 * rng.normal(size=(n_classes, 2, d))
    way = np.roll(centers, -1, axis=0) - centers if drift else np.zeros_like(centers)
    for t in range(n_batches):
        present = min(n_classes, 2 + t // 20) if drift else n_classes
        y = rng.integers(present, size=size)
        yield (centers + t / 100 * way)[y, rng.integers(2, size=size)] + rng.normal(size=(size, d)), y


def bounded_memory(items, n=100_000, size=500):
    """Objects arrive 500 at a time; nothing but centroids and samples stays."""
    X_test, y_test = next(lumps(1, 5000, 5, seed=0))
    for name, model in MODELS.items():
        stream, kept, memory = stream_fit(model, Minkowski()), [], []
        start = perf_counter()
        for t, (X, y) in enumerate(lumps(n // size, size, 5)):
            stream.partial_fit(X, y)
            kept.append(len(stream.objects))
            if (t + 1) % (n // size // 10) == 0:
                memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        seconds = perf_counter() - start
        error = 100 * np.mean(stream.predict(X_test) != y_test)
        half = len(memory) // 2 - 1
        print(
            f"{name:9s} {n} objects in {seconds:6.1f} s: {n / seconds:8.0f} a second, {max(kept)} kept, most memory "
            f"{memory[half]:.0f} MB after half, {memory[-1]:.0f} MB at the end, error {error:.1f} %"
        )
        assert memory[-1] < memory[half] + 2, "memory grows"
        items.append(
            {
                "name": f"stream of {n} objects, {name}",
                "seconds": seconds,
                "objects_per_second": n / seconds,
                "most_objects_kept": max(kept),
                "most_memory_mb": memory,
                "error": error,
            }
        )


def drifting(items, n_batches=100, size=200):
    """Each batch is predicted before it is learned; a model of the first batches alone shows what drift costs."""
    for name in MODELS:
        model = MODELS[name].__class__(**(MODELS[name].get_params() | {"max_components": 8}))
        stream, frozen, errors = stream_fit(model, Minkowski()), None, []
        for t, (X, y) in enumerate(lumps(n_batches, size, 5, drift=True)):
            if t:
                errors.append([100 * np.mean(s.predict(X) != y) for s in (stream, frozen or stream)])
            stream.partial_fit(X, y)
            if t == 4:
                frozen = stream_fit(MODELS[name].__class__(**MODELS[name].get_params()), Minkowski())
                for batch in lumps(5, size, 5, drift=True):
                    frozen.partial_fit(*batch)
        errors = np.array(errors)
        last = errors[-20:].mean(axis=0)
        print(f"{name:9s} drift, classes appear: last 20 batches {last[0]:.1f} % wrong; stopped early {last[1]:.1f} %")
        items.append(
            {
                "name": f"drifting stream, {name}",
                "errors": errors[:, 0].round(2).tolist(),
                "errors_of_a_model_stopped_after_five_batches": errors[:, 1].round(2).tolist(),
            }
        )


def figure_1(items, n_runs=20):
    """[qiao2013] sec. 5.5: a fifth held out; a fifth of the rest first, then eight batches of a tenth."""
    votes, party = load_votes(return_X_y=True)
    sonar, metal = load_sonar(return_X_y=True)
    X, y = next(lumps(1, 3000, 10, d=16, seed=1))
    sets = {
        "Voting": (VDM().fit(votes, party).matrix(votes), party, n_runs),
        "Sonar": (Minkowski().matrix(sonar), metal, n_runs),
        "simulated, 3,000 objects of 10 classes": (euclidean_distances(X), y, 2),
    }
    for name, (D, y, runs) in sets.items():
        D = np.maximum(D, D.T)
        np.fill_diagonal(D, 0)
        curves = {method: np.empty((runs, 9)) for method in ("append", "resample", "retrain")}
        seconds = dict.fromkeys(curves, 0.0)
        for run in range(runs):
            order = np.random.default_rng([7, run]).permutation(len(y))
            n_test = round(0.2 * len(y))
            test, train = order[:n_test], order[n_test:]
            edges = np.round(len(train) * np.r_[0, np.arange(2, 11) / 10]).astype(int)
            for method, curve in curves.items():
                model = None if method == "retrain" else IncrementalHLM(scheme=method, random_state=run)
                for round_, (a, b) in enumerate(pairwise(edges)):
                    start = perf_counter()
                    if model is None:
                        known = MixtureHLM(n_components=4 + 2 * round_, random_state=run)
                        known.fit(D[np.ix_(train[:b], train[:b])], y[train[:b]])
                    else:
                        known = model.partial_fit(D[np.ix_(train[a:b], train[:b])], y[train[a:b]])
                    seconds[method] += perf_counter() - start
                    curve[run, round_] = 100 * np.mean(known.predict(D[np.ix_(test, train[:b])]) != y[test])
        means = {method: curve.mean(axis=0).round(2).tolist() for method, curve in curves.items()}
        deviations = {method: curve.std(axis=0, ddof=1).round(2).tolist() for method, curve in curves.items()}
        for method in curves:
            print(
                f"{name}: {method:9s} {seconds[method] / runs:7.2f} s  " + " ".join(f"{e:5.1f}" for e in means[method])
            )
        items.append(
            {
                "name": f"figure 1, {name}",
                "runs": runs,
                "errors": means,
                "deviations": deviations,
                "seconds": {method: total / runs for method, total in seconds.items()},
            }
        )


def draw(items):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    curves = [item for item in items if item["name"].startswith("figure 1")]
    drift = [item for item in items if item["name"].startswith("drifting")]
    pyplot.rcParams["svg.hashsalt"] = "similis"
    figure, axes = pyplot.subplots(1, len(curves) + 1, figsize=(13, 3.2), layout="constrained")
    names = {"append": "scheme I", "resample": "scheme II", "retrain": "retraining"}
    for ax, item in zip(axes, curves):
        for method, color in zip(names, ("#0072B2", "#D55E00", "#666666")):
            ax.plot(range(20, 101, 10), item["errors"][method], "o-", color=color, label=names[method], markersize=3)
        ax.set(title=item["name"].removeprefix("figure 1, "), xlabel="training objects so far, %", ylabel="error, %")
    for item, color in zip(drift, ("#0072B2", "#D55E00")):
        smooth = np.convolve(item["errors"], np.ones(5) / 5, "valid")
        axes[-1].plot(smooth, color=color)
    stopped = drift[0]["errors_of_a_model_stopped_after_five_batches"]
    axes[-1].plot(np.convolve(stopped, np.ones(5) / 5, "valid"), color="#009E73", label="stopped after 5 batches")
    axes[-1].set(title="drifting stream, classes appear", xlabel="batch", ylabel="error, %")
    axes[0].legend(frameon=False)
    axes[-1].legend(frameon=False, loc="upper left")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_ylim(bottom=0)
        ax.title.set_fontsize(9)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})
    print(FIGURE)


def main():
    if "--figure" in sys.argv:
        draw(json.loads((RESULTS / "incremental.json").read_text())["items"])
        return
    bench = Benchmark("incremental")
    with threadpool_limits(1):
        bounded_memory(bench.items)
        drifting(bench.items)
        figure_1(bench.items)
    print(bench.write())
    draw(bench.items)


if __name__ == "__main__":
    main()
