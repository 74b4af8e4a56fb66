"""Error of linear machines on a few landmarks, on real data: a part of ``bench_scale.py``, and the guide's figure."""

import warnings
from pathlib import Path

import numpy as np
from _measure import Benchmark
from sklearn.pipeline import make_pipeline

import similis as s

LANDMARKS = {
    "features": "PairwiseLandmarks, linear SVM",
    "nystrom": "PairwiseLandmarks(output='nystrom'), linear SVM",
    "kcenter": "Landmarks(selection='kcenter'), linear SVM",
    "prototypes": "DissimilaritySpace(selection='kcenter'), linear SVM",
    "psvm": "PairwiseLandmarks, P-SVM",
}


def landmark_model(kind, measure, k):
    """Features of k landmarks and a linear machine on them."""
    from sklearn.svm import LinearSVC

    objects = s.PairwiseLandmarks(measure, n_landmarks=k, random_state=0)
    if kind == "features":
        return make_pipeline(objects, LinearSVC(C=0.1))
    if kind == "nystrom":
        return make_pipeline(objects.set_params(output="nystrom"), LinearSVC(C=1.0))
    if kind == "kcenter":
        return make_pipeline(s.Pairwise(measure), s.Landmarks(k, selection="kcenter", random_state=0), LinearSVC(C=1.0))
    if kind == "prototypes":
        space = s.DissimilaritySpace(n_prototypes=k, selection="kcenter")
        return make_pipeline(s.Pairwise(measure), s.ToDissimilarity(), space, LinearSVC(C=0.1))
    return make_pipeline(objects, s.PotentialSVM(normalize=True, input="features"))


def landmarks(n):
    """Error of a linear machine on landmarks against the machine on the whole matrix, on real data."""
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.svm import SVC

    bench = Benchmark("scale_landmarks")
    problems = {"votes": (s.Counting(), s.load_votes), "promoters": (s.Counting(), s.load_promoters),
                "sonar": (s.RBF(gamma=1.0), s.load_sonar)}  # fmt: skip
    warnings.simplefilter("ignore")
    for name, (measure, load) in problems.items():
        X, y = load(return_X_y=True)
        X = np.asarray(X)
        splits = list(StratifiedShuffleSplit(n or 20, test_size=0.2, random_state=0).split(X, y))
        full = make_pipeline(s.Pairwise(measure), s.SpectrumClip(), SVC(kernel="precomputed"))
        errors = {"full": [1 - full.fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits]}
        for kind in LANDMARKS:
            for k in (2, 5, 10, 20, 40, 80):
                model = landmark_model(kind, measure, k)
                errors[f"{kind} {k}"] = [1 - model.fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits]
        for label, found in errors.items():
            bench.items.append({"name": f"{name}, {label}", "problem": name, "n": len(X), "method": label,
                                "error": float(np.mean(found)),
                                "standard_error": float(np.std(found, ddof=1) / np.sqrt(len(found)))})  # fmt: skip
        print(name, {label: round(float(np.mean(found)), 3) for label, found in errors.items()}, flush=True)
    print(bench.write())
    draw(bench.items)


def draw(items):
    """The figure of the guide."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "similis"
    names = list(dict.fromkeys(item["problem"] for item in items))
    figure, axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3.8), sharey=True, layout="constrained")
    colors = ("#1f77b4", "#d95f02", "#7570b3", "#1b9e77", "#b03060")
    for axis, name in zip(axes, names):
        own = [item for item in items if item["problem"] == name]
        for (kind, label), color in zip(LANDMARKS.items(), colors):
            points = [(int(i["method"].split()[1]), i) for i in own if i["method"].startswith(kind + " ")]
            axis.errorbar([k for k, _ in points], [100 * i["error"] for _, i in points],
                          [100 * i["standard_error"] for _, i in points], label=label, color=color, marker="o",
                          ms=3, lw=1)  # fmt: skip
        axis.axhline(
            100 * next(i["error"] for i in own if i["method"] == "full"), color="k", ls="--",
            label="all objects, SVM on the clipped matrix",
        )  # fmt: skip
        axis.set(xscale="log", title=f"{name} (n = {own[0]['n']})", xlabel="landmarks")
        axis.set_xticks([2, 5, 10, 20, 40, 80], ["2", "5", "10", "20", "40", "80"])
        axis.minorticks_off()
    axes[0].set_ylabel("error on new objects, %")
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, ncols=2, loc="outside lower center", fontsize=8)
    path = Path(__file__).parents[1] / "docs" / "figures" / "landmarks.svg"
    figure.savefig(path, metadata={"Date": None})
    print(path)
