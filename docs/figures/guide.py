"""The figures of docs/guide that no benchmark makes, from shipped or simulated data.

python docs/figures/guide.py                 # writes them all
python docs/figures/guide.py neighbors svm   # some
"""

import sys
import warnings

import numpy as np
from _style import BLUE, GRAY, GREEN, MARKS, ORANGE, panels, write
from scipy.stats import gamma
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import (
    SDA,
    VDM,
    BoxCox,
    CompleteKernel,
    Counting,
    Minkowski,
    PotentialSVM,
    SimilarityKNN,
    SimSVM,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    Symmetrize,
    load_sonar,
    load_votes,
    make_similarity,
)
from similis.proximity import suspects
from similis.solvers import gamma_shape


def measures():
    """Votes: agreements counted and value differences, within and between the parties."""
    data = load_votes()
    party = data.target
    pair = np.triu_indices(len(party), 1)
    same = party[pair[0]] == party[pair[1]]
    figure, axes = panels(2)
    shown = (
        (Counting(), "Counting: equal votes", np.arange(-0.5, 17)),
        (VDM(), "VDM: value difference", np.linspace(0, 12, 49)),
    )
    for ax, (measure, name, bins) in zip(axes, shown, strict=True):
        values = measure.fit(data.data, party).matrix(data.data)[pair]
        weight = 1 / np.array([same.sum(), (~same).sum()])
        for chosen, color, w, label, style in (
            (same, BLUE, weight[0], "within a party", "-"),
            (~same, ORANGE, weight[1], "between parties", "--"),
        ):
            counts, edges = np.histogram(values[chosen], bins)
            ax.stairs(100 * counts * w, edges, color=color, ls=style, lw=1.8, label=label)
        ax.set_xlabel(name)
        ax.set_ylim(bottom=0)
    axes[0].set_ylim(0, 17)
    axes[0].set_ylabel("% of the pairs")
    axes[0].legend(loc="upper left")
    write(figure, "measures")


def proximity():
    """The spectrum of simulated indefinite similarities under three repairs."""
    S, _ = make_similarity(60, 2, separation=3.0, indefinite=0.3, random_state=0)
    figure, axes = panels(2)
    values = np.linalg.eigvalsh(S)
    for ax, part in zip(axes, (slice(None), slice(0, 30)), strict=True):
        ax.axhline(0, color=GRAY, lw=0.8)
        ax.plot(np.arange(60)[part], values[part], color="black", lw=2.5, label="as it is")
        for step, color, style in (
            (SpectrumClip(), BLUE, "-"),
            (SpectrumFlip(), ORANGE, "--"),
            (SpectrumShift(), GREEN, "-."),
        ):
            repaired = np.diag(eigenvectors(S).T @ step.fit_transform(S) @ eigenvectors(S))
            name = type(step).__name__.removeprefix("Spectrum").lower()
            ax.plot(np.arange(60)[part], repaired[part], color=color, ls=style, lw=1.6, label=name)
        ax.set_xlabel("eigenvector, by its eigenvalue in S")
    axes[0].set_ylabel("eigenvalue")
    axes[0].set_title("all 60")
    axes[1].set_title("the lower half")
    axes[0].legend()
    write(figure, "proximity")


def eigenvectors(S):
    return np.linalg.eigh((S + S.T) / 2)[1]


def diagnosis():
    """Twelve lost digits among 60 objects: damaged distances against those expected from the neighbors."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)) + 3 * (np.arange(60) % 2)[:, None]
    D = np.linalg.norm(x[:, None] - x[None], axis=2)
    pairs = rng.permutation(np.argwhere(np.triu(np.ones((60, 60), bool), 1)))[:12]
    true = D[tuple(pairs.T)].copy()
    for (i, j), value in zip(pairs, true, strict=True):
        D[i, j] = D[j, i] = value / 10
    found = suspects(D, kind="dissimilarity")
    figure, (left, right) = panels(2, height=3.8)
    order = np.argsort(np.arange(60) % 2, kind="stable")
    left.imshow(D[np.ix_(order, order)], cmap="cividis")
    place = np.argsort(order)[found.pairs]
    left.scatter(place[:, 1], place[:, 0], s=60, facecolors="none", edgecolors="white", linewidths=1.5)
    left.set_xticks([])
    left.set_yticks([])
    left.set_title(f"the matrix; {len(found)} of {len(pairs)} damaged pairs found")
    right.plot(found.values, found.expected, MARKS[1], color=ORANGE, ms=7, label="expected from the neighbors")
    flagged = {tuple(sorted(p)) for p in found.pairs.tolist()}
    hit = np.array([tuple(sorted(p)) in flagged for p in pairs.tolist()])
    right.plot(true[hit] / 10, true[hit], MARKS[0], color=BLUE, ms=5, label="before the digit was lost")
    right.plot(true[~hit] / 10, true[~hit], "x", color=GRAY, ms=7, label="not found")
    right.plot([0, 1.2], [0, 1.2], color=GRAY, lw=1, ls="--")
    right.text(0.85, 0.45, "value = expected", color="#4d4d4d", fontsize=9)
    right.set_xlabel("damaged distance")
    right.set_ylabel("distance")
    right.set_xlim(0, 1.2)
    right.set_ylim(bottom=0)
    right.legend(loc="upper right", bbox_to_anchor=(1, 0.75))
    write(figure, "diagnosis")


def neighbors():
    """One query, six neighbors of which four are near-copies: who gets how much of the vote."""
    query = np.array([0.0, 0.0])
    cluster = np.array([0.85, 0.45]) + 0.09 * np.array([[0, 0], [1, 0.4], [-0.3, 1], [0.8, -0.8]])
    X = np.vstack([cluster, [[-0.9, 0.5]], [[0.1, -1.0]]])
    y = np.array([0, 0, 0, 0, 1, 1])
    S, q = rbf_kernel(X, gamma=0.5), rbf_kernel([query], X, gamma=0.5)
    figure, axes = panels(3, width=3.1, height=3.2)
    figure.get_layout_engine().set(h_pad=0.15)
    for ax, weights in zip(axes, ("uniform", "affinity", "kri"), strict=True):
        model = SimilarityKNN(n_neighbors=6, weights=weights, regularization=0.05).fit(S, y)
        index, w = (a[0] for a in model.neighbor_weights(q))
        for i, weight in zip(index, w, strict=True):
            ax.plot(*zip(query, X[i], strict=True), color=GRAY, lw=0.5, zorder=0)
            color = (BLUE, ORANGE)[y[i]]
            ax.scatter(*X[i], s=1200 * weight, color=color, marker=MARKS[y[i]], alpha=0.75, edgecolors="white")
        ax.plot(*query, "*", color="black", ms=14)
        share = model.predict_proba(q)[0]
        ax.set_title(f'"{weights}"\n{100 * share[0]:.0f} % blue, {100 * share[1]:.0f} % orange')
        ax.set_xlim(-1.3, 1.4)
        ax.set_ylim(-1.35, 1.0)
        ax.set_aspect("equal")
        ax.axis("off")
    write(figure, "neighbors")


def discriminant():
    """Votes: similarity to the democrats' centroid, as it is and as SDA models it."""
    data = load_votes()
    S = Counting().fit(data.data).matrix(data.data)
    model = SDA().fit(S, data.target)
    figure, axes = panels(2)
    omega = np.arange(17)
    for g, ax in enumerate(axes):
        for k, (color, mark) in enumerate(zip((BLUE, ORANGE), MARKS, strict=False)):
            own = S[data.target == k, model.centroids_[g]].astype(int)
            name = data.target_names[k]
            ax.plot(omega, 100 * np.bincount(own, minlength=17) / len(own), mark, color=color, ms=5, label=f"{name}s")
            modeled = np.exp(model.exponents_[k, g] * omega)
            ax.plot(omega, 100 * modeled / modeled.sum(), color=color, lw=1.6)
        ax.set_xlabel(f"votes in common with the {data.target_names[g]}s' centroid")
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel("% of the class")
    axes[1].legend()
    write(figure, "discriminant")


def mixture():
    """Squared distances of Gaussian points to their medoid, and the gamma distribution that they follow."""
    rng = np.random.default_rng(0)
    figure, axes = panels(2)
    for ax, d in zip(axes, (2, 10), strict=True):
        X = rng.normal(size=(400, d))
        D = Minkowski().fit(X).matrix(X)
        center = int((D**2).sum(axis=0).argmin())
        u = np.delete(D[center] ** 2, center)
        shape = float(gamma_shape(np.log(u.mean()) - np.log(u).mean()))
        scale = u.mean() / shape
        grid = np.linspace(1e-3, u.max(), 200)
        ax.hist(u, bins=30, density=True, color=BLUE, alpha=0.35)
        ax.plot(grid, gamma.pdf(grid, shape, scale=scale), color=ORANGE, lw=2)
        ax.set_title(f"{d} dimensions; twice the fitted shape: {2 * shape:.1f}")
        ax.set_xlabel("squared distance to the centroid")
        ax.set_yticks([])
    write(figure, "mixture")


def svm():
    """Test error of machines as the negative part of the spectrum grows."""
    levels = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    machines = {
        "SVC as it is": lambda: make_pipeline(Symmetrize(), SVC(kernel="precomputed", max_iter=100_000)),
        "clip": lambda: make_pipeline(SpectrumClip(), SVC(kernel="precomputed", max_iter=100_000)),
        "flip": lambda: make_pipeline(SpectrumFlip(), SVC(kernel="precomputed", max_iter=100_000)),
        "shift": lambda: make_pipeline(SpectrumShift(), SVC(kernel="precomputed", max_iter=100_000)),
        "P-SVM": lambda: PotentialSVM(epsilon=0.1),
    }
    error = {name: np.zeros((10, len(levels))) for name in machines}
    for seed in range(10):
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        for k, level in enumerate(levels):
            S, y = make_similarity(120, 2, separation=0.8, indefinite=level, random_state=seed)
            for name, make in machines.items():
                error[name][seed, k] = 1 - cross_val_score(make(), S, y, cv=folds).mean()
    figure, ax = panels(1, width=6.2)
    looks = zip(error.items(), ("black", BLUE, ORANGE, GREEN, GRAY), ("x", "o", "^", "s", "d"), strict=True)
    for (name, values), color, mark in looks:
        ax.plot(100 * np.array(levels), 100 * values.mean(axis=0), mark + "-", color=color, ms=5, lw=1.5, label=name)
    ax.set_xlabel("negative eigenvalues, in % of the spectrum")
    ax.set_ylabel("error in %, mean of 10 matrices")
    ax.set_ylim(bottom=0)
    ax.legend(ncols=2)
    write(figure, "svm")


def learned_kernels():
    """What SimSVM makes of each eigenvalue, for three penalties."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    Z = 1.5 * y[:, None] + rng.normal(size=(60, 2))
    noise = 0.3 * rng.normal(size=(60, 60))
    S = np.exp(-((Z[:, None] - Z) ** 2).sum(-1) / 4) + (noise + noise.T) / 2
    figure, axes = panels(3, width=3.3, height=3.0)
    for ax, penalty in zip(axes, (1.0, 0.02, 0.005), strict=True):
        model = SimSVM(eta=0.01, gamma=penalty).fit(S, y)
        clip = (model.eigenvalues_ > 0).astype(float)
        ax.step(model.eigenvalues_, clip, where="mid", color=GRAY, lw=1, label="clip")
        ax.plot(model.eigenvalues_, model.alpha_, "o", color=BLUE, ms=4, label="learned")
        ax.set_title(f"gamma = {penalty:g}" + ("" if model.active_ else ": as clip"))
        ax.set_xlabel("eigenvalue of S")
    axes[0].set_ylabel("its multiplier")
    axes[0].legend(loc="lower right")
    write(figure, "learned_kernels")


def completion():
    """Votes with entries struck out: filled in by CompleteKernel, by the mean, or left missing."""
    data = load_votes()
    K = Counting().fit(data.data).matrix(data.data) / 16
    shares = (0.0, 0.2, 0.4, 0.6, 0.8)
    ways = ("complete", "mean", "missing")
    error = {way: np.zeros((5, len(shares))) for way in ways}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        some = rng.permutation(len(K))[:150]
        y = data.target[some]
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        order = rng.random((150, 150))
        for k, share in enumerate(shares):
            S = K[np.ix_(some, some)].copy()
            hole = np.triu(order < share, 1)
            S[hole | hole.T] = np.nan
            filled = np.where(np.isnan(S), np.nanmean(S), S)
            machine = make_pipeline(SpectrumClip(), SVC(kernel="precomputed"))
            whole = make_pipeline(CompleteKernel(), SpectrumClip(), SVC(kernel="precomputed"))
            error["complete"][seed, k] = 1 - cross_val_score(whole, S, y, cv=folds).mean()
            error["mean"][seed, k] = 1 - cross_val_score(machine, filled, y, cv=folds).mean()
            error["missing"][seed, k] = 1 - cross_val_score(SimilarityKNN(n_neighbors=5), S, y, cv=folds).mean()
    names = (
        "SVM, CompleteKernel in front",
        "SVM, mean in place of missing entries",
        "5 neighbors, missing entries left out",
    )
    figure, ax = panels(1, width=6.2)
    for way, name, color, mark in zip(ways, names, (BLUE, ORANGE, GREEN), MARKS, strict=True):
        values = 100 * error[way]
        ax.errorbar(
            100 * np.array(shares),
            values.mean(axis=0),
            values.std(axis=0, ddof=1) / np.sqrt(5),
            fmt=mark + "-",
            color=color,
            ms=5,
            capsize=3,
            label=name,
        )
    ax.set_xlabel("missing entries, in %")
    ax.set_ylabel("error in %")
    ax.set_ylim(bottom=0)
    ax.legend(loc="lower right")
    write(figure, "completion")


def normal():
    """Distances between sonar returns, in standard units: Euclidean, and L0.5 before and after Box-Cox."""
    X, _ = load_sonar(return_X_y=True)
    pair = np.triu_indices(len(X), 1)
    D = Minkowski(p=0.5).fit(X).matrix(X)
    shown = {
        "Euclidean": Minkowski().fit(X).matrix(X)[pair],
        "L0.5": D[pair],
        "L0.5 after Box-Cox": BoxCox(p="ml").fit_transform(D)[pair],
    }
    grid = np.linspace(-4, 4, 200)
    figure, axes = panels(3, width=3.2, height=2.8)
    for ax, (name, values) in zip(axes, shown.items(), strict=True):
        z = (values - values.mean()) / values.std()
        ax.hist(z, bins=60, range=(-4, 4), density=True, color=BLUE, alpha=0.4)
        ax.plot(grid, np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi), color=ORANGE, lw=1.8)
        ax.set_title(f"{name}; skewness {np.mean(z**3):.2f}")
        ax.set_yticks([])
        ax.set_xlabel("distance, standardized")
    write(figure, "normal")


FIGURES = (
    measures,
    proximity,
    diagnosis,
    neighbors,
    discriminant,
    mixture,
    svm,
    learned_kernels,
    completion,
    normal,
)

if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for draw in FIGURES:
            if not sys.argv[1:] or draw.__name__ in sys.argv[1:]:
                print(draw.__name__, flush=True)
                draw()
