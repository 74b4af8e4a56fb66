"""Problems of the gallery: objects with labels, and the measures that are compared on them.

A problem is a function that returns labels, the objects and the measure by the name of each comparison, and the groups
that stay together (or None). A given matrix has its kind in place of a measure.
"""

import inspect
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_digits

from similis import (
    DTW,
    IRM,
    VDM,
    Alignment,
    Chebyshev,
    Compression,
    Cosine,
    Counting,
    Edit,
    Lin,
    Minkowski,
    PyramidMatch,
    ResidualEntropy,
    TfidfCosine,
    Wasserstein,
    WeisfeilerLehman,
    load_benchmark,
    load_promoters,
    load_votes,
)

FEWER = ("knn", "nc", "sda", "svm-kernel(clip)", "majority")
METHODS = ("knn", "kri-knn(clip)", "nc", "sda", "svm-kernel(clip)", "majority")


class Page(NamedTuple):
    """Problem, its data sets that are not bundled, and options of the study of one page."""

    problem: object
    data: tuple[str, ...] = ()
    methods: tuple[str, ...] = METHODS
    options: dict = {}


def promoters():
    bunch = load_promoters()
    X, rows = bunch.sequences, bunch.data
    cheap = {"a": {"g": 0.5}, "g": {"a": 0.5}, "c": {"t": 0.5}, "t": {"c": 0.5}}
    dna = {"matrix": "dnafull", "gap_open": 10, "gap_extend": 1}
    return (
        bunch.target_names[bunch.target],
        {
            "same position": (rows, Counting()),
            "edit": (X, Edit()),
            "weighted edit": (X, Edit(substitution=cheap)),
            "global alignment": (X, Alignment(mode="global", **dna)),
            "local alignment": (X, Alignment(score="normalized", **dna)),
            "E-value": (X, Alignment(score="evalue", **dna)),
        },
        overlap_groups(X),
    )


def overlap_groups(sequences, length=16):
    """Groups of sequences that share `length` consecutive letters, directly or through others."""
    runs = [{text[i : i + length] for i in range(len(text) - length + 1)} for text in sequences]
    return connected_components(np.array([[not a.isdisjoint(b) for b in runs] for a in runs]))[1]


def splice():
    bunch = load_benchmark("splice")
    rng = np.random.default_rng(0)
    some = np.sort(np.concatenate([rng.choice(np.flatnonzero(bunch.target == g), 70, False) for g in range(3)]))
    X, rows = [bunch.sequences[i] for i in some], bunch.data[some]
    return (
        bunch.target_names[bunch.target[some]],
        {
            "same position": (rows, Counting()),
            "value difference": (rows, VDM()),
            "edit": (X, Edit()),
            "local alignment": (X, Alignment(matrix="dnafull", gap_open=10, score="normalized")),
        },
        None,
    )


def votes():
    bunch = load_votes()
    X = bunch.data
    return (
        bunch.target_names[bunch.target],
        {
            "counting": (X, Counting()),
            "value difference": (X, VDM()),
            "Lin": (X, Lin()),
            "residual entropy": (X, ResidualEntropy()),
        },
        None,
    )


def morse():
    bunch = load_benchmark("morse")
    kinds = {1: "dots only", 2: "more dots", 3: "as many of both", 4: "more dashes", 5: "dashes only"}
    return (
        np.array([kinds[int(k) + 1] for k in bunch.target]),
        {
            "confusions as heard": (bunch.proximity, "dissimilarity"),
            "averaged confusions": (bunch.proximity_symmetric, "dissimilarity"),
            "edits of the code": (bunch.code.tolist(), Edit()),
            "normalized edits": (bunch.code.tolist(), Edit(normalize="metric")),
        },
        None,
    )


def mutag():
    bunch = load_benchmark("mutag")
    X = np.array(bunch.graphs, dtype=object)
    kinds = np.array(["mutagenic", "not mutagenic"])  # 125 and 63 of them
    return (
        kinds[bunch.target],
        {
            "atoms": (X, WeisfeilerLehman(n_iter=0, normalize=True)),
            "radius 1": (X, WeisfeilerLehman(n_iter=1, normalize=True)),
            "radius 3": (X, WeisfeilerLehman(n_iter=3, normalize=True)),
            "radius 3 and bonds": (X, WeisfeilerLehman(n_iter=3, edge_labels=True, normalize=True)),
            "radius 5": (X, WeisfeilerLehman(n_iter=5, normalize=True)),
        },
        None,
    )


def digits():
    images, target = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    some = np.sort(np.concatenate([rng.choice(np.flatnonzero(target == g), 15, False) for g in range(10)]))
    flat = images[some]
    grid = np.stack(np.meshgrid(range(8), range(8), indexing="ij"), axis=-1).reshape(64, 2).astype(float)
    ink = [(grid[x > 0], x[x > 0]) for x in flat]
    profiles = [np.stack([x.reshape(8, 8).sum(axis=0), x.reshape(8, 8).sum(axis=1)], axis=1) for x in flat]
    return (
        target[some].astype(str),
        {
            "Euclidean": (flat, Minkowski(p=2.0)),
            "city block": (flat, Minkowski(p=1.0)),
            "largest difference": (flat, Chebyshev()),
            "cosine": (flat, Cosine()),
            "earth mover": (ink, Wasserstein()),
            "region matching": (ink, IRM()),
            "pyramid match": (ink, PyramidMatch(n_levels=4)),
            "warped profiles": (profiles, DTW(window=2)),
        },
        None,
    )


def texts():
    import scipy.linalg
    import scipy.optimize
    import scipy.signal
    import scipy.stats

    rng = np.random.default_rng(0)
    X, y = [], []
    for module in (scipy.linalg, scipy.optimize, scipy.signal, scipy.stats):
        found = {}
        for name in module.__all__:
            text = inspect.getdoc(getattr(module, name)) if callable(getattr(module, name)) else None
            # The first 400 characters of running text; functions that share theirs are taken once.
            words = " ".join((text or "").split())
            if len(words) >= 400:
                found.setdefault(words[:400], name)
        chosen = sorted(found)
        for k in np.sort(rng.choice(len(chosen), min(50, len(chosen)), replace=False)):
            X.append(chosen[k])
            y.append(module.__name__.partition(".")[2])
    return (
        np.array(y),
        {
            "zlib": (X, Compression()),
            "conditional zlib": (X, Compression(conditional=True)),
            "bz2": (X, Compression(codec="bz2")),
            "words": (X, TfidfCosine()),
            "stretches of letters": (X, TfidfCosine(analyzer="char_wb", ngram_range=(2, 4))),
            "edit": (X, Edit(normalize=True)),
        },
        None,
    )


PAGES = {
    "votes": Page(votes, methods=FEWER, options={"n_splits": 10}),
    "promoters": Page(promoters),
    "digits": Page(digits, methods=FEWER, options={"n_splits": 10}),
    "texts": Page(texts),
    "splice": Page(splice, data=("splice",)),
    "morse": Page(
        morse,
        data=("morse",),
        methods=("knn", "nc", "sda", "cnn", "maxsim", "svm-kernel(clip)", "svm-features(linear)", "majority"),
        options={"protocol": "stratified", "n_splits": 20, "test_size": 0.25, "cv": 3},
    ),
    "mutag": Page(mutag, data=("mutag",)),
}
