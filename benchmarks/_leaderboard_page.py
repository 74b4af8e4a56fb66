"""The page docs/leaderboard.md and its picture, made from benchmarks/results/leaderboard.json."""

import sys
from pathlib import Path

import numpy as np
from leaderboard import LEFT_OUT, SETS
from scipy.stats import rankdata, wilcoxon

from similis.study import average_ranks, list_methods

DOCS = Path(__file__).parents[1] / "docs"
NEW = (
    "krein-svm",
    "krein-ridge",
    "krein-logistic",
    "pcvm",
    "ikfd",
    "relational-glvq",
    "similarity-forest",
    "label-spreading",
)
BASELINE = "sklearn-knn"
GROUPS = {
    "judged or compared directly (people, alignments, edit distances, graphs)": (
        "aural_sonar", "protein_uw", "protein", "yeast_7_12", "chicken_pieces", "morse", "promoters", "splice", "mutag"
    ),
    "of votes": ("voting_vdm", "votes"),
    "that are Euclidean distances between measurements": ("sonar", "iris", "wine", "crabs", "bupa"),
}  # fmt: skip


class Board:
    """Errors and times by data set and method; ranks of the methods that finished on every data set."""

    def __init__(self, record):
        self.record = record
        self.sets = [one["set"] for one in record["sets"]]
        rows = [row for row in record["rows"] if row["error"] is not None]
        self.error = {name: {r["method"]: r["error"] for r in rows if r["set"] == name} for name in self.sets}
        self.seconds = {name: {r["method"]: r["seconds"] for r in rows if r["set"] == name} for name in self.sets}
        self.peers = {row["method"] for row in rows if row["by"] == "peer"}
        self.ranks = average_ranks(self.error)
        self.methods = list(self.ranks.methods)
        self.unranked = sorted({row["method"] for row in record["rows"]} - set(self.methods))

    def mean(self, table, method, sets=None):
        return float(np.mean([table[name][method] for name in sets or self.sets]))

    def best(self, sets, candidates):
        """Methods by their mean rank on some data sets."""
        ranks = rankdata([[round(self.error[name][m], 9) for m in candidates] for name in sets], axis=1).mean(axis=0)
        return [candidates[i] for i in np.argsort(ranks, kind="stable")]

    def fastest(self):
        """Methods than which no other is as fast and as accurate on average, fastest first."""
        found, lowest = [], np.inf
        for m in sorted(self.methods, key=lambda m: self.mean(self.seconds, m)):
            if self.mean(self.error, m) < lowest:
                found.append(m)
                lowest = self.mean(self.error, m)
        return found

    def lower(self, method, other):
        """Number of data sets on which `method` has a lower error than `other`."""
        return sum(self.error[name][method] < self.error[name][other] - 1e-9 for name in self.sets)


def page(record):
    """Text of the page; without a record, how to make one."""
    if record is None:
        return f"# Leaderboard\n\n{UNMEASURED.strip()}\n\n{CLOSING.strip()}\n"
    board = Board(record)
    protocol, ranks = record["protocol"], board.ranks
    ours = [m for m in board.methods if m not in board.peers]
    worse = int((ranks.mean > ranks.mean[0] + ranks.critical_difference).sum())
    counts = sorted({one["splits"] for one in record["sets"]})
    splits = " or ".join(map(str, counts)) + f" stratified random split{'s' * (counts[-1] > 1)} of each"
    rough = (
        "**This run has few splits: errors of single data sets are rough, and only large differences of the mean ranks "
        "count.** "
    )
    lines = [
        "# Leaderboard",
        "",
        f"Every method of the study that reads one matrix, and peers, on {len(board.sets)} matrices by one protocol: "
        f"{splits}, a fifth held out, "
        f"parameters chosen by {protocol['folds']} folds inside the training part, one thread. "
        f"{rough * (counts[0] < 10)}Measured {record['date'][:10]} on {record['machine']['cpu']}, a shared "
        "machine: compare times within this page only.",
        "",
        "![Mean ranks of the methods, and mean error against time](figures/leaderboard.svg)",
        "",
        "## What to choose when",
        "",
        *advice(board, ours),
        "",
        "## Ranks",
        "",
        f"{ranks.summary()} Rank 1 is the lowest error. The critical difference grows with the number of "
        f"methods: with {len(board.methods)}, the best differs significantly from the last {worse} only. *(new)* marks "
        "[methods of later papers](papers.md#methods-of-later-papers). The last column compares with scikit-learn's "
        "k-NN.",
        "",
        "| rank | method | mean error | seconds per split | lowest error on | lower / higher than k-NN on |",
        "|---|---|---|---|---|---|",
    ]
    lowest = {name: min(board.error[name][m] for m in board.methods) for name in board.sets}
    for method, rank in zip(board.methods, ranks.mean):
        against = (
            f"{board.lower(method, BASELINE)} / {board.lower(BASELINE, method)}" if BASELINE in ranks.methods else ""
        )
        wins = sum(board.error[name][method] <= lowest[name] + 1e-12 for name in board.sets)
        label = f"{method} (peer)" if method in board.peers else f"`{method}`" + (" (new)" if method in NEW else "")
        lines.append(
            f"| {rank:.1f} | {label} | {100 * board.mean(board.error, method):.1f} % | "
            f"{board.mean(board.seconds, method):.2g} | {wins or ''} | {against} |"
        )
    if board.unranked:
        lines += [
            "",
            "Not ranked, because a split failed on some data set: " + ", ".join(map(str, board.unranked)) + ".",
        ]
    left = "; ".join(f"`{name}` {why}" for name, why in LEFT_OUT.items())
    lines += [
        f"Left out: {left}.",
        "",
        "## Data sets",
        "",
        "The five lowest errors of each, in percent, and the best peer.",
        "",
        "| data set | objects | splits | what it is | lowest errors | best peer |",
        "|---|---|---|---|---|---|",
    ]
    for one in record["sets"]:
        name = one["set"]
        order = sorted(board.error[name], key=lambda m: (round(board.error[name][m], 9), board.seconds[name][m]))
        first = ", ".join(f"{m} {100 * board.error[name][m]:.1f}" for m in order[:5])
        peer = next(
            (f"{m} {100 * board.error[name][m]:.1f}" for m in order if m in board.peers and m != "majority"), ""
        )
        about = SETS[name][1] if name in SETS else "matrix of your own"
        lines.append(f"| {name} | {one['objects']} | {one['splits']} | {about} | {first} | {peer} |")
    found = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    lines += ["", CLOSING.strip(), "", f"Versions: {found}."]
    return "\n".join(lines) + "\n"


def advice(board, ours):
    """Sentences for a practitioner, from the figures."""
    ranks = dict(zip(board.methods, board.ranks.mean))
    summary = {method.name: method.summary for method in list_methods()}
    peers = [m for m in board.methods if m in board.peers and m != "majority"]

    def error(m, sets=None):
        return f"{100 * board.mean(board.error, m, sets):.1f} %"

    def listed(methods, sets=None):
        return ", ".join((m if m in board.peers else f"`{m}`") + f" ({error(m, sets)})" for m in methods)

    first = min(ours, key=lambda m: (board.mean(board.error, m), board.mean(board.seconds, m)))
    lines = [
        f"* **Start with `{first}`** ({summary[first]}): the lowest mean error, {error(first)}, mean rank "
        f"{ranks[first]:.1f}, {board.mean(board.seconds, first):.2g} s per split with the search of its parameters."
    ]
    if peers:
        lines.append(
            f"* The best peer is {peers[0]} (mean rank {ranks[peers[0]]:.1f}, error {error(peers[0])}). Peers by rank: "
            + listed(peers[1:])
            + "."
        )
    if BASELINE in peers:
        differences = [board.error[name][first] - board.error[name][BASELINE] for name in board.sets]
        lines[0] += (
            f" Its error is lower than that of scikit-learn's k nearest neighbors ({error(BASELINE)}) on "
            f"{board.lower(first, BASELINE)} of {len(board.sets)} data sets, higher on {board.lower(BASELINE, first)} "
            f"(p = {wilcoxon(np.round(differences, 9)).pvalue:.2g}, Wilcoxon's signed-rank test, not corrected for the "
            "choice of the method)."
        )
    lines.append(
        "* If time matters: no other method is both faster and more accurate on average than "
        + ", ".join(f"`{m}` ({board.mean(board.seconds, m):.2g} s, {error(m)})" for m in board.fastest() if m in ours)
        + "."
    )
    for words, names in GROUPS.items():
        names = [name for name in names if name in board.sets]
        if len(names) > 1:
            near = [f"the best peer {listed(board.best(names, peers)[:1], names)}"] if peers else []
            near += [f"scikit-learn's k-NN {error(BASELINE, names)}"] if BASELINE in peers else []
            text = listed(board.best(names, ours)[:3], names)
            lines.append(f"* Proximities {words}: {text}" + "".join(f"; {part}" for part in near) + ".")
    return [
        *lines,
        "* Missing entries: `knn`, `nc` and `similarity-forest` skip them; for the others the study completes the "
        "matrix. Few labels: `label-spreading` uses the unlabeled objects too.",
        "* These are averages over few and small data sets. A [study](guide/study.md) of your own matrix takes minutes "
        "and tests the differences.",
    ]


UNMEASURED = f"""
`benchmarks/leaderboard.py` compares every method of the study that reads one matrix, and peers (scikit-learn's k-NN and
SVC, LightGBM and logistic regression on rows, proto-dist-ml, MKLpy), on {len(SETS)} matrices by one protocol:
stratified random splits, a fifth held out, parameters chosen by 5 folds inside the training part, one thread. Its
figures are not measured yet: `run` writes errors and times, `page` the ranks with critical differences, accuracy
against time, the lowest errors on each data set and what to choose when.
"""

CLOSING = """
## Add a matrix

Put npz files with a matrix `S` (similarities) or `D` (dissimilarities) and labels `y` into a folder and run

    python benchmarks/leaderboard.py run --out FOLDER --splits 10 --extra MATRICES
    python benchmarks/leaderboard.py page

The first command resumes where it was stopped; more splits continue fewer. Only errors and times are kept in
`benchmarks/results/leaderboard.json`.

## The Krein SVM of the WTK package

`KreinSVC` and `krein_svm_grid_search` of the Wasserstein time-series kernel package (BorgwardtLab/WTK,
`src/wtk/utilities.py`, commit ab48558) set the negative eigenvalues of the training kernel to zero, fit scikit-learn's
SVC to it, and predict from test rows of the unmodified kernel. The Krein SVM of [loosli2016] flips the eigenvalues and
maps the solution back, which equals a consistent treatment of test rows ([KreinSVM](guide/svm.md)). Clipping the
training kernel alone gives neither: its coefficients belong to another kernel than the test rows. `predict_proba` of
the class also skips the conversion of distances to a kernel.
"""


def draw(board, path):
    """Mean ranks as bars, and mean error against mean time."""
    sys.path.insert(0, str(DOCS / "figures"))
    from _style import BLUE, GRAY, ORANGE, plt

    ranks = board.ranks
    n = min(len(board.methods), 30)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 0.19 * n + 1.2), layout="constrained")
    color = [GRAY if m in board.peers else ORANGE if m in NEW else BLUE for m in board.methods]
    left.barh(range(n), ranks.mean[:n], color=color[:n])
    left.set_yticks(range(n), board.methods[:n], fontsize=7)
    left.invert_yaxis()
    left.axvline(ranks.mean[0] + ranks.critical_difference, color="black", linewidth=0.8, linestyle=":")
    left.set(xlabel="mean rank; dotted: best + critical difference", title=f"the first {n} of {len(board.methods)}")
    seconds = [board.mean(board.seconds, m) for m in board.methods]
    errors = [100 * board.mean(board.error, m) for m in board.methods]
    right.scatter(seconds, errors, c=color, s=18)
    high = float(np.quantile(errors, 0.9))
    named = {*board.fastest(), *board.peers} - {"majority"}
    for second, error, m in zip(seconds, errors, board.methods):
        if m in named and error < high + 1:
            right.annotate(m, (second, error), (3, 3), textcoords="offset points", fontsize=6)
    right.set(xscale="log", ylim=(min(errors) - 1, high + 1), xlabel="seconds per split, search included")
    right.set(ylabel="mean error, %", title="blue: similis, orange: new methods, gray: peers")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write_page(record):
    """Write the page and its picture."""
    (DOCS / "leaderboard.md").write_text(page(record))
    if record is not None:
        draw(Board(record), DOCS / "figures" / "leaderboard.svg")
