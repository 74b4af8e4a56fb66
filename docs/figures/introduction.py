"""The figures of docs/introduction.

python docs/figures/introduction.py      # writes promoters.svg, splits.svg and leak.svg
"""

import numpy as np
from _style import BLUE, GRAY, MARKS, ORANGE, panels, write
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from similis import VDM, Alignment, Pairwise, SimilarityKNN, Study, load_promoters
from similis.proximity import seriation


def promoters():
    """106 DNA sequences: every pair, and the most similar sequence of each kind."""
    data = load_promoters()
    y = data.target
    S = Alignment(matrix="dnafull", gap_open=10, score="normalized").fit(data.sequences).matrix(data.sequences)
    figure, (left, right) = panels(2, width=4.6, height=4.0)

    order = np.concatenate([np.flatnonzero(y == g)[seriation(S[np.ix_(y == g, y == g)])] for g in (1, 0)])
    shown = np.where(np.eye(len(S), dtype=bool), np.nan, S)[np.ix_(order, order)]
    image = left.imshow(shown, cmap="cividis", vmin=0.1, vmax=0.35)
    left.axhline(52.5, color="white", lw=1)
    left.axvline(52.5, color="white", lw=1)
    left.set_xticks([26, 79], ["53 promoters", "53 others"])
    left.set_yticks([26, 79], ["promoters", "others"], rotation=90, va="center")
    left.tick_params(length=0)
    left.set_title("Similarities of all pairs")
    figure.colorbar(image, ax=left, label="similarity", shrink=0.8)

    best = np.where(np.eye(len(S), dtype=bool), -np.inf, S)
    nearest = {g: best[:, y == g].max(axis=1) for g in (0, 1)}
    for g, color, name in ((1, BLUE, "promoters"), (0, ORANGE, "others")):
        right.plot(
            nearest[0][y == g], nearest[1][y == g], MARKS[g], color=color, ms=5, mec="white", mew=0.4, label=name
        )
    right.plot([0.1, 1], [0.1, 1], color=GRAY, lw=1, ls="--")
    right.set_xlim(0.1, 1)
    right.set_ylim(0.1, 1)
    right.set_xlabel("similarity to the most similar other sequence")
    right.set_ylabel("similarity to the most similar promoter")
    right.set_title("Similarity to the nearest neighbors")
    right.legend(loc="upper left")
    write(figure, "promoters")


def splits():
    """Three methods on 20 splits, at random and with overlapping sequences on one side."""
    data = load_promoters()
    S = Alignment(matrix="dnafull", gap_open=10, score="normalized").fit(data.sequences).matrix(data.sequences)
    runs = [{text[i : i + 16] for i in range(42)} for text in data.sequences]
    _, group = connected_components(np.array([[not a.isdisjoint(b) for b in runs] for a in runs]))
    study = Study(["knn", "kri-knn(clip)", "svm-kernel(clip)"], n_splits=20, cv=5, race=False)
    found = (study.run(S, data.target).scores("error"), study.run(S, data.target, groups=group).scores("error"))
    figure, axes = panels(1, width=6.4, height=2.8)
    for row, method in enumerate(found[0]):
        for side, (scores, color) in enumerate(zip(found, (ORANGE, BLUE), strict=True)):
            values, height = 100 * scores[method], -row + 0.18 - 0.36 * side
            jitter = np.random.default_rng(0).uniform(-0.1, 0.1, len(values))
            label = ("split at random", "overlapping sequences together")[side] if row == 0 else None
            axes.plot(values, height + jitter, MARKS[side], color=color, ms=4.5, alpha=0.8, mew=0, label=label)
            axes.plot([values.mean()] * 2, [height - 0.17, height + 0.17], color="black", lw=1.5)
    axes.set_yticks([0, -1, -2], list(found[0]))
    axes.set_xlim(-1, 70)
    axes.set_xlabel("error in %, 20 splits; a bar at the mean")
    axes.legend(loc="upper right")
    write(figure, "splits")
    print([{name: round(100 * float(np.mean(v)), 1) for name, v in scores.items()} for scores in found])


def leak():
    """Labels shuffled, so that nothing can be learned: error of 5 neighbors if the measure was fitted to all labels."""
    data = load_promoters()
    knn = SimilarityKNN(n_neighbors=5, kind="dissimilarity")
    errors = {"all labels": [], "training part only": []}
    for seed in range(20):
        y = np.random.default_rng(seed).permutation(data.target)
        D = VDM().fit(data.data, y).matrix(data.data)
        errors["all labels"].append(1 - cross_val_score(knn, D, y, cv=5).mean())
        inside = make_pipeline(Pairwise(VDM()), knn)
        errors["training part only"].append(1 - cross_val_score(inside, data.data, y, cv=5).mean())
    figure, axes = panels(1, width=6.4, height=2.2)
    for row, (values, color) in enumerate(zip(errors.values(), (ORANGE, BLUE), strict=True)):
        jitter = np.random.default_rng(0).uniform(-0.12, 0.12, len(values))
        axes.plot(100 * np.array(values), row + jitter, MARKS[row], color=color, ms=5, alpha=0.8, mew=0)
        axes.plot([100 * np.mean(values)] * 2, [row - 0.3, row + 0.3], color="black", lw=1.5)
    axes.axvline(50, color=GRAY, lw=1, ls="--")
    axes.text(50.5, 1.42, "true error: 50 %", color="#4d4d4d", fontsize=9)
    axes.set_yticks([0, 1], [f"measure learned from\n{name}" for name in errors])
    axes.set_ylim(-0.5, 1.65)
    axes.set_xlim(0, 70)
    axes.set_xlabel("error in %, labels shuffled 20 times")
    write(figure, "leak")
    print({name: round(100 * float(np.mean(values)), 1) for name, values in errors.items()})


if __name__ == "__main__":
    promoters()
    splits()
    leak()
