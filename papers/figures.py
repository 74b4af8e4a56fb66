"""Figures of the papers, drawn again: ``scripts/reproduce chen2010:fig3.1``. They need matplotlib."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from papers.data import Data, load_data, missing_data
from papers.published import published_cells
from papers.worked import FACE_LABELS, FACES, boundary_classifiers, mixture_sample
from similis.discriminant import SDA, MixtureSDA
from similis.exceptions import ProximityError
from similis.neighbors import SimilarityKNN
from similis.solvers import kri_weights, krr_weights
from similis.svm import IndefiniteSVM, SimSVM

Figure = Any  # of matplotlib
Draw = Callable[[Figure], None]


def draw_figures(names: list[str], folder: str | os.PathLike[str] = ".") -> list[Path]:
    """Draw figures of the papers.

    Parameters
    ----------
    names : list of str
        Such as ``"chen2010:fig3.1"``; names of :data:`FIGURES`.
    folder : path-like
        Folder of the files, created if needed.

    Returns
    -------
    list of Path
        One SVG file per figure.
    """
    from matplotlib.figure import Figure as Page

    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise ProximityError(f"There is no figure {unknown[0][:40]!r}. There are {', '.join(FIGURES)}.")
    written = []
    for name in names:
        page = Page(figsize=(7, 4.5), layout="constrained")
        FIGURES[name](page)
        path = Path(folder) / f"{name.replace(':', '-')}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.savefig(path, metadata={"Date": None})
        written.append(path)
    return written


def _faces(page: Figure) -> None:
    """[cazzanti2007] figure 2.1: the samples, with their similarities to both centroids."""
    S = FACES @ FACES.T
    for i, (ax, face) in enumerate(zip(page.subplots(2, 5).ravel(), FACES)):
        eyes, nose, mouth, hair = face
        ax.add_patch(_circle((0, 0), 1, fill=False))
        if eyes:
            ax.plot([-0.4, 0.4], [0.3, 0.3], "ko", markersize=4)
        if nose:
            ax.plot([0, -0.12, 0.08], [0.2, -0.15, -0.15], "k")
        if mouth:
            ax.plot(np.linspace(-0.4, 0.4, 20), -0.45 - 0.5 * (0.16 - np.linspace(-0.4, 0.4, 20) ** 2), "k")
        if hair:
            for x in np.linspace(-0.7, 0.7, 8):
                ax.plot([x, 1.25 * x], [np.sqrt(1 - x**2), 1.3 * np.sqrt(1 - x**2)], "k")
        centroid = " (centroid)" if i in (0, 5) else ""
        ax.set_title(f"class {FACE_LABELS[i]}{centroid}\n{S[i, 0]} and {S[i, 5]} shared", fontsize=8)
        ax.set(xlim=(-1.4, 1.4), ylim=(-1.2, 1.5), aspect="equal")
        ax.axis("off")


def _circle(*args: Any, **options: Any) -> Any:
    from matplotlib.patches import Circle

    return Circle(*args, **options)


def _discriminant(page: Figure) -> None:
    """[cazzanti2007] figure 3.1: the discriminant of Eq. (3.8) for every pair of similarities to the centroids."""
    model = SDA().fit(FACES @ FACES.T, FACE_LABELS)
    first, second = model.centroids_
    rows = np.zeros((25, 10))
    rows[:, first], rows[:, second] = np.divmod(np.arange(25), 5)
    value = -np.diff(model.class_log_prob(rows)).reshape(5, 5)
    ax = page.subplots()
    shown = ax.imshow(value, origin="lower", cmap="RdBu", vmin=-abs(value).max(), vmax=abs(value).max())
    for (i, j), label in np.ndenumerate(model.predict(rows).reshape(5, 5)):
        color = "white" if abs(value[i, j]) > 2 else "black"
        ax.text(j, i, f"{value[i, j]:.1f}\nclass {label}", ha="center", va="center", fontsize=8, color=color)
    page.colorbar(shown, label="log P(x | class 1) - log P(x | class 2)")
    ax.set(xlabel="similarity to the centroid of class 2", ylabel="similarity to the centroid of class 1")


def _boundaries(page: Figure) -> None:
    """[cazzanti2007] figure 3.3: class boundaries; samples lie on the diagonal of dots."""
    ax = page.subplots()
    found = boundary_classifiers(np.random.default_rng(0))
    styles = {"sda": ("k", "-"), "svm": ("C0", "--"), "psvm": ("C1", "-."), "naive-bayes": ("C2", ":")}
    for name, (color, line) in styles.items():
        value = found[name][1]
        ax.contour(range(4), range(4), value.T, levels=[0], colors=color, linestyles=line)
        ax.plot([], [], color=color, linestyle=line, label=name)
    ax.plot(range(4), range(3, -1, -1), "ko", clip_on=False)
    ax.set(xlabel="similarity to 000", ylabel="similarity to 111", aspect="equal")
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1))


def _expectation_maximization(what: str, page: Figure) -> None:
    """[cazzanti2007] figures 5.1 to 5.3: class one of the example of sec. 5.3.5, over the iterations.

    The paper's text has the limits of the weights, about 0.5, and the signs of the exponents.
    """
    S, y, _ = mixture_sample(np.random.default_rng(0))
    ax = page.subplots()
    models = []
    for t in range(1, 31):
        models.append(MixtureSDA(n_components=2, max_iter=t, tol=0.0, random_state=0))
        models[-1].fit(S, y)
    if what == "likelihood":
        ax.plot(range(1, 31), models[-1].log_likelihood_path_[0].sum(axis=0))
    else:
        values = np.array([getattr(model, what)[0] for model in models])
        for h, style in enumerate(("-", "--")):  # the curves of class 2 mirror those of class 1
            for c in range(2):
                ax.plot(range(1, 31), values[:, h, c], style, label=f"centroid {c + 1} of class {h + 1}")
        printed = 0.5 if what == "weights_" else 0.0
        ax.axhline(printed, color="0.6", linewidth=0.8, label="limit in the paper" if printed else None)
        ax.legend()
    names = {"likelihood": "log-likelihood", "weights_": "weight", "exponents_": "exponent"}
    ax.set(xlabel="iteration", ylabel=f"{names[what]}, samples of class 1")


_EXAMPLES = {
    1: ([4.0, 3, 2, 1], 5 * np.eye(4)),
    2: ([3.0, 3, 3, 3], np.array([[5.0, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]])),
    3: ([2.0, 4, 3, 3], np.array([[5.0, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]])),
}


def _weights(example: int, page: Figure) -> None:
    """[chen2010] figures 3.1 to 3.3: KRI and normalized KRR weights against lambda."""
    s, S = _EXAMPLES[example]
    ridges = np.logspace(-2, 2, 200)
    axes = page.subplots(1, 2, sharey=True)
    kri = kri_weights(S, np.array(s), ridges).weights[0, 0]
    krr = krr_weights(S, np.array(s), ridges).weights[0, 0]
    krr = krr - krr.mean(axis=1, keepdims=True) + 1 / 4
    for ax, name, w in zip(axes, ("KRI", "KRR"), (kri, krr)):
        for i, line in enumerate(w.T):
            ax.semilogx(ridges, line, ("-", "--", ":", "-.")[i], label=f"$w_{i + 1}$")
        ax.set(title=name, xlabel=r"$\lambda$")
    axes[0].set(ylabel="weight")
    axes[0].legend()


def _cross_entropy(dataset: str, ridge: float, page: Figure) -> None:
    """[chen2010] figures 4.6 (a) and 4.8: leave-one-out cross entropy against k; dashed: the lowest of table 4.7."""
    data = load_data(dataset)
    assert data.matrix is not None
    n = len(data.labels)
    ks = [k for k in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256) if k < n]
    ax = page.subplots()
    for weights in ("uniform", "affinity", "kri"):
        model = SimilarityKNN(weights=weights, regularization=ridge, smoothing=1e-4, query="raw")
        found = model.predict_path_cv(
            data.matrix, data.labels, np.arange(n), [{"n_neighbors": k} for k in ks], response="predict_proba"
        )
        codes = np.unique(data.labels, return_inverse=True)[1]
        (line,) = ax.semilogx(ks, [-np.log(p[np.arange(n), codes]).mean() for p in found], label=f"{weights} weights")
        method = {"uniform": "knn", "affinity": "affinity-knn", "kri": "kri-knn"}[weights]
        printed = [c.value for c in published_cells("chen2010", "4.7", method=method) if c.dataset == dataset]
        ax.axhline(np.log(float(printed[0] or 1)), color=line.get_color(), linestyle="--", linewidth=0.8)
    ax.plot([], [], "k--", linewidth=0.8, label="printed minimum")
    ax.set(xlabel="k", ylabel="leave-one-out cross entropy", title=dataset)
    ax.legend()


def _matrices(datasets: tuple[str, ...], page: Figure) -> None:
    """[chen2010] figures 4.2 and 4.5: similarity matrices, objects sorted by class, black for the largest."""
    for ax, dataset in zip(page.subplots(1, len(datasets)), datasets):
        data = _by_class(load_data(dataset))
        ax.imshow(data.matrix, cmap="gray_r", interpolation="none")
        ax.set(title=dataset, xticks=np.flatnonzero(data.labels[1:] != data.labels[:-1]), yticks=[])


def _by_class(data: Data) -> Data:
    """Sort objects by class."""
    return data.take(np.argsort(data.labels, kind="stable"))


def _kernels(dataset: str, page: Figure) -> None:
    """[chen2010] figures 5.11 to 5.13: the similarity and the kernels made of its rows."""
    stack = _by_class(load_data(dataset, "stack"))
    assert stack.matrix is not None
    for j, ax in enumerate(page.subplots(2, 2).ravel()):
        ax.imshow(stack.matrix[:, :, j], cmap="gray_r", interpolation="none")
        ax.set(title="S" if j == 0 else f"$K_{j}$", xticks=[], yticks=[])


def _learned(dataset: str, anchor: str, page: Figure) -> None:
    """[chen2010] figures 5.1 and 5.3 to 5.5: S, the kernels that SimSVM and the Indefinite SVM learn, the spectra."""
    data = _by_class(load_data(dataset))
    assert data.matrix is not None
    S = data.matrix
    model = SimSVM(eta=0.01, gamma=0.01, anchor=anchor).fit(S, data.labels)
    U, before = model.eigenvectors_, model.eigenvalues_
    K = (U * (model.alpha_ * before)) @ U.T
    learned = IndefiniteSVM().fit(S, data.labels).kernel_
    axes = page.subplots(2, 3)
    pictures = [
        ("S", S),
        (r"$K_\alpha$", K),
        (r"$|K_\alpha - S|$", abs(K - S)),
        (r"$|K_\alpha - K|$", abs(K - learned)),
    ]
    for ax, (title, A) in zip(axes.ravel(), pictures):
        ax.imshow(A, cmap="gray_r", interpolation="none")
        ax.set(title=title, xticks=[], yticks=[])
    order = np.argsort(-before)
    ax = axes[1, 1]
    ax.plot(before[order], ".", markersize=3, label="S")
    ax.plot((model.alpha_ * before)[order], ".", markersize=3, label=r"$K_\alpha$")
    ax.set(title="spectra", xlabel="eigenvector", yscale="symlog")
    ax.legend()
    axes[1, 2].plot(model.alpha_[order], ".", markersize=3)
    axes[1, 2].axhline(0, color="0.6", linewidth=0.8)
    axes[1, 2].set(title=r"multipliers $\alpha$", xlabel="eigenvector")


def _incremental(page: Figure) -> None:
    """[qiao2013] figure 1, from the runs of ``benchmarks/bench_incremental.py``: error after each round."""
    path = Path(__file__).parents[1] / "benchmarks" / "results" / "incremental.json"
    items = {item["name"]: item for item in json.loads(path.read_text(encoding="utf-8"))["items"]}
    names = {"append": "scheme I", "resample": "scheme II", "retrain": "retrained"}
    printed = {"Voting": "Voting (paper: scheme I lowest in every round)", "Sonar": "Sonar (not in the paper)"}
    for ax, (dataset, title) in zip(page.subplots(1, 2), printed.items()):
        for key, name in names.items():
            ax.plot(range(1, 10), items[f"figure 1, {dataset}"]["errors"][key], label=name)
        ax.set(xlabel="round", ylabel="error, %")
        ax.set_title(title, fontsize=9)
        ax.legend()


def _distances(page: Figure) -> None:
    """[pekalska2000] sec. 2.1: distances to one object within a class, and the normal density of their moments."""
    cases = [("Iris", "Euclidean"), ("Crabs", "Euclidean"), ("Sonar", "Euclidean"), ("Sonar", "Lp;p=0.5")]
    for ax, (dataset, distance) in zip(page.subplots(2, 2).ravel(), cases):
        data = load_data(dataset, distance)
        assert data.matrix is not None
        members = data.labels == data.labels[0]
        d = data.matrix[np.ix_(members, members)][~np.eye(members.sum(), dtype=bool)]
        ax.hist(d, bins=40, density=True, color="0.7")
        x = np.linspace(d.min(), d.max(), 200)
        ax.plot(x, norm.pdf(x, d.mean(), d.std()), "k")
        ax.set(title=f"{dataset}, {distance.replace('Lp;p=', 'L')}", xlabel="distance", yticks=[])


def _with_data(dataset: str, draw: Draw) -> Draw:
    """Raise the error of missing data before anything is drawn."""

    def check(page: Figure) -> None:
        reason = missing_data(dataset)
        if reason:
            raise ProximityError(reason)
        draw(page)

    return check


FIGURES: dict[str, Draw] = {
    "cazzanti2007:fig2.1": _faces,
    "cazzanti2007:fig3.1": _discriminant,
    "cazzanti2007:fig3.3": _boundaries,
    "cazzanti2007:fig5.1": partial(_expectation_maximization, "likelihood"),
    "cazzanti2007:fig5.2": partial(_expectation_maximization, "weights_"),
    "cazzanti2007:fig5.3": partial(_expectation_maximization, "exponents_"),
    **{f"chen2010:fig3.{example}": partial(_weights, example) for example in _EXAMPLES},
    "chen2010:fig4.2": _with_data("Aural Sonar", partial(_matrices, ("Aural Sonar", "Voting"))),
    "chen2010:fig4.5": _with_data("Protein", partial(_matrices, ("Protein", "Protein RBF"))),
    "chen2010:fig4.6": _with_data("Aural Sonar", partial(_cross_entropy, "Aural Sonar", 1.0)),
    "chen2010:fig4.8": _with_data("Voting", partial(_cross_entropy, "Voting", 0.1)),
    "chen2010:fig5.3": _with_data("Aural Sonar", partial(_learned, "Aural Sonar", "clip")),
    "chen2010:fig5.4": _with_data("Protein-2", partial(_learned, "Protein-2", "flip")),
    "chen2010:fig5.5": _with_data("Voting", partial(_learned, "Voting", "clip")),
    "chen2010:fig5.11": _with_data("Aural Sonar", partial(_kernels, "Aural Sonar")),
    "chen2010:fig5.12": _with_data("Protein-2", partial(_kernels, "Protein-2")),
    "chen2010:fig5.13": _with_data("Yeast-7-12", partial(_kernels, "Yeast-7-12")),
    "qiao2013:fig1": _incremental,
    "pekalska2000:distances": _distances,
}
