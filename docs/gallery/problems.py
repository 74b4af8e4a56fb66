"""What the pages of the gallery compare: objects with labels, and the measures that are tried on them.

A problem is a function that returns labels and, by the name of each measure, the objects and the measure that compares
them; a matrix that people or a file made stands with its kind in place of a measure.
"""

import inspect
from typing import NamedTuple

import numpy as np
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
    """Title, introduction, problem, and options of the study of one page."""

    title: str
    about: str
    problem: object
    data: tuple[str, ...] = ()
    methods: tuple[str, ...] = METHODS
    options: dict = {}


def promoters():
    bunch = load_promoters()
    X, rows = bunch.sequences, bunch.data
    cheap = {"a": {"g": 0.5}, "g": {"a": 0.5}, "c": {"t": 0.5}, "t": {"c": 0.5}}
    dna = {"matrix": "dnafull", "gap_open": 10, "gap_extend": 1}
    return bunch.target_names[bunch.target], {
        "same position": (rows, Counting()),
        "edit": (X, Edit()),
        "weighted edit": (X, Edit(substitution=cheap)),
        "global alignment": (X, Alignment(mode="global", **dna)),
        "local alignment": (X, Alignment(score="normalized", **dna)),
        "E-value": (X, Alignment(score="evalue", **dna)),
    }


def splice():
    bunch = load_benchmark("splice")
    rng = np.random.default_rng(0)
    some = np.sort(np.concatenate([rng.choice(np.flatnonzero(bunch.target == g), 70, False) for g in range(3)]))
    X, rows = [bunch.sequences[i] for i in some], bunch.data[some]
    return bunch.target_names[bunch.target[some]], {
        "same position": (rows, Counting()),
        "value difference": (rows, VDM()),
        "edit": (X, Edit()),
        "local alignment": (X, Alignment(matrix="dnafull", gap_open=10, score="normalized")),
    }


def votes():
    bunch = load_votes()
    X = bunch.data
    return bunch.target_names[bunch.target], {
        "counting": (X, Counting()),
        "value difference": (X, VDM()),
        "Lin": (X, Lin()),
        "residual entropy": (X, ResidualEntropy()),
    }


def morse():
    bunch = load_benchmark("morse")
    kinds = {1: "dots only", 2: "more dots", 3: "as many", 4: "more dashes", 5: "dashes only"}
    return np.array([kinds[int(k) + 1] for k in bunch.target]), {
        "confusions as heard": (bunch.proximity, "dissimilarity"),
        "averaged confusions": (bunch.proximity_symmetric, "dissimilarity"),
        "edits of the code": (bunch.code.tolist(), Edit()),
        "normalized edits": (bunch.code.tolist(), Edit(normalize="metric")),
    }


def mutag():
    bunch = load_benchmark("mutag")
    X = np.array(bunch.graphs, dtype=object)
    kinds = np.array(["mutagenic", "not mutagenic"])  # 125 and 63 of them
    return kinds[bunch.target], {
        "atoms": (X, WeisfeilerLehman(n_iter=0, normalize=True)),
        "radius 1": (X, WeisfeilerLehman(n_iter=1, normalize=True)),
        "radius 3": (X, WeisfeilerLehman(n_iter=3, normalize=True)),
        "radius 3 and bonds": (X, WeisfeilerLehman(n_iter=3, edge_labels=True, normalize=True)),
        "radius 5": (X, WeisfeilerLehman(n_iter=5, normalize=True)),
    }


def digits():
    images, target = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    some = np.sort(np.concatenate([rng.choice(np.flatnonzero(target == g), 15, False) for g in range(10)]))
    flat = images[some]
    grid = np.stack(np.meshgrid(range(8), range(8), indexing="ij"), axis=-1).reshape(64, 2).astype(float)
    ink = [(grid[x > 0], x[x > 0]) for x in flat]
    profiles = [np.stack([x.reshape(8, 8).sum(axis=0), x.reshape(8, 8).sum(axis=1)], axis=1) for x in flat]
    return target[some].astype(str), {
        "Euclidean": (flat, Minkowski(p=2.0)),
        "city block": (flat, Minkowski(p=1.0)),
        "largest difference": (flat, Chebyshev()),
        "cosine": (flat, Cosine()),
        "earth mover": (ink, Wasserstein()),
        "region matching": (ink, IRM()),
        "pyramid match": (ink, PyramidMatch(n_levels=4)),
        "warped profiles": (profiles, DTW(window=2)),
    }


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
    return np.array(y), {
        "zlib": (X, Compression()),
        "conditional zlib": (X, Compression(conditional=True)),
        "bz2": (X, Compression(codec="bz2")),
        "words": (X, TfidfCosine()),
        "stretches of letters": (X, TfidfCosine(analyzer="char_wb", ngram_range=(2, 4))),
        "edit": (X, Edit(normalize=True)),
    }


PAGES = {
    "promoters": Page(
        "Promoters: alignment against edit distance",
        """106 DNA sequences of E. coli, 57 letters each, half of them promoters (UCI, shipped with similis).
Compared are equal letters at equal positions, edit distances (one with cheap transitions between a
and g, c and t, the common mutations of DNA), and alignments.

Most of the sequences that are not promoters overlap one another, and the splits are random. With
overlapping sequences on one side of each split the errors under local alignment are two to five times
as large. See
[how to check that it works](../introduction/does_it_work.md#overlapping-objects).""",
        promoters,
    ),
    "splice": Page(
        "Splice sites: position, edits, alignment",
        """60 letters of DNA around the places where a gene is cut: from exon to intron (EI), from intron to
exon (IE), or neither (N). 70 sequences of each class, drawn with a fixed seed from the
3,190 of the benchmark set. The place of a cut is always in the middle, so a measure that lets
letters move may lose information.""",
        splice,
        data=("splice",),
    ),
    "votes": Page(
        "Votes: which measure suits categories?",
        """16 votes of 435 members of the US House of Representatives in 1984, each "y", "n" or "?"; the class
is the party. Four measures are compared: the number of agreements; the value difference, which learns
from labels; Lin's similarity, in which a rare agreement weighs more; and residual entropy, in which
features need not be independent ([cazzanti2007] sec. 7.2.4).""",
        votes,
        methods=FEWER,
        options={"n_splits": 10},
    ),
    "morse": Page(
        "Morse codes: what people confuse",
        """36 Morse signals, played in pairs to people who did not know the code. The dissimilarities come from
how often two signals were called the same; they are asymmetric, because the order matters. The class
is the composition of the signal: dots only, more dots, as many dots as dashes, more dashes, dashes
only. The edit distances compare the code itself. Methods that need a symmetric matrix get the mean of
both directions.""",
        morse,
        data=("morse",),
        methods=("knn", "nc", "sda", "cnn", "maxsim", "svm-kernel(clip)", "svm-features(linear)", "majority"),
        options={"protocol": "stratified", "n_splits": 20, "test_size": 0.25, "cv": 3},
    ),
    "mutag": Page(
        "Molecules: how far must one look?",
        """188 nitro compounds as graphs of atoms and bonds; the class is whether they cause mutations in
bacteria. The Weisfeiler-Lehman similarity counts common neighborhoods up to a radius: radius 0
compares how many atoms of each kind there are, and each further step looks one bond farther.""",
        mutag,
        data=("mutag",),
    ),
    "digits": Page(
        "Digits: distances between images",
        """150 handwritten digits of 8 x 8 pixels, 15 of each, drawn with a fixed seed from scikit-learn's set.
Distances between pixels are compared with distances that let ink move: the earth mover's distance
and its greedy variant read an image as weighted points; the pyramid match counts ink in common squares
of growing size; dynamic time warping compares the ink of columns and rows.""",
        digits,
        methods=FEWER,
        options={"n_splits": 10},
    ),
    "texts": Page(
        "Short texts: compression against words",
        """The first 400 characters of the documentation of up to 50 functions of each of `scipy.linalg`,
`scipy.optimize`, `scipy.signal` and `scipy.stats` (version below); the class is the module. A
compressor finds what two texts have in common by compressing them together; tf-idf compares words or
letter n-grams; the edit distance compares letters.""",
        texts,
    ),
}
