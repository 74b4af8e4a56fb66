"""Strings, point sets, graphs and texts beside the libraries that people use for them.

Run with one thread, as the peers do: OMP_NUM_THREADS=1 python benchmarks/bench_objects.py
Needs the extras of the tests: pip install 'similis[test]'
"""

import zlib

import grakel
import numpy as np
import ot
import parasail
from _measure import Benchmark
from _peers import peers
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from similis import (
    DTW,
    Alignment,
    Compression,
    Edit,
    Jaccard,
    Lin,
    ResidualEntropy,
    TfidfCosine,
    Wasserstein,
    WeisfeilerLehman,
    load_votes,
)

AMINO_ACIDS = list("ARNDCQEGHILKMFPSTWYV")


def largest_difference(ours, peer):
    return np.abs(ours - peer).max()


def strings(rng, n, length, letters):
    return ["".join(rng.choice(letters, rng.integers(length - 10, length + 11))) for _ in range(n)]


def edit(bench, rng):
    """rapidfuzz underneath: the floor is that wrapping it costs nothing; half the matrix is the gain."""
    for n, length, floor in ((400, 200, 0.9), (400, 60, 0.9), (1000, 30, 1.5)):
        X = strings(rng, n, length, list("acgt"))
        bench.compare(
            f"Levenshtein, length {length}",
            lambda X=X: Edit().matrix(X),
            lambda X=X: cdist(X, X, scorer=Levenshtein.distance),
            peer_name="rapidfuzz cdist",
            floor=floor,
            goal=1.8,
            check=largest_difference,
            n=n,
        )
    X = strings(rng, 25, 60, list("acgt"))
    costs = {"a": {"g": 0.5}, "g": {"a": 0.5}}

    def plain():
        return np.array([[weighted(x, z, costs) for z in X] for x in X])

    bench.compare(
        "edit distance with substitution costs, length 60",
        lambda: Edit(substitution=costs).matrix(X),
        plain,
        peer_name="loops in Python",
        floor=50,
        repeats=2,
        check=largest_difference,
        n=25,
    )


def edit_elsewhere(bench, rng):
    """A compiled package for edit distances that does without bit tricks (GPL, so never a dependency)."""
    peers("edist")
    from edist.sed import sed_string

    X = strings(rng, 40, 200, list("acgt"))

    def half():
        out = np.zeros((len(X), len(X)))
        for i, x in enumerate(X):
            for j in range(i):
                out[i, j] = out[j, i] = sed_string(x, X[j])
        return out

    bench.compare(
        "Levenshtein, length 200 (edist)",
        lambda: Edit().matrix(X),
        half,
        peer_name="edist, half the matrix",
        floor=40,
        goal=96,
        repeats=3,
        check=largest_difference,
        n=40,
    )


def tanimoto(bench, rng):
    """Fingerprints of 2,048 bits, one in ten set, beside the chemists' library."""
    peers("rdkit")
    from rdkit.DataStructs import BulkTanimotoSimilarity, CreateFromBitString

    bits = rng.random((1500, 2048)) < 0.1
    packed = np.packbits(bits, axis=1)
    theirs = [CreateFromBitString("".join("01"[int(b)] for b in row)) for row in bits]

    def half():
        out = np.eye(len(theirs))
        for i, x in enumerate(theirs):
            out[i, :i] = BulkTanimotoSimilarity(x, theirs[:i])
        return out + np.tril(out, -1).T

    bench.compare(
        "Tanimoto, 2048 bits (rdkit)",
        lambda: Jaccard(packed=True).matrix(packed),
        half,
        peer_name="rdkit, half the matrix",
        floor=8,
        goal=17,
        repeats=3,
        check=largest_difference,
        n=1500,
    )


def weighted(x, z, costs):
    row = list(range(len(z) + 1))
    for i, a in enumerate(x, start=1):
        above, row = row, [i]
        for j, b in enumerate(z, start=1):
            change = 0 if a == b else costs.get(a, {}).get(b, 1)
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + change))
    return row[-1]


def alignment(bench, rng):
    """parasail underneath. The first peer is the fastest loop one would write: a profile a row, every pair."""
    X = strings(rng, 150, 200, AMINO_ACIDS)

    def profiles():
        out = np.empty((len(X), len(X)))
        for i, x in enumerate(X):
            profile = parasail.profile_create_16(x, parasail.blosum62)
            for j, z in enumerate(X):
                out[i, j] = parasail.sw_striped_profile_16(profile, z, 11, 1).score
        return out

    def pairs():
        return np.array([[parasail.sw_striped_16(x, z, 11, 1, parasail.blosum62).score for z in X] for x in X])

    for name, peer, floor in (("parasail, a profile a row", profiles, 0.9), ("parasail, pair by pair", pairs, 1.3)):
        bench.compare(
            f"Smith-Waterman, length 200 ({'profiles' if peer is profiles else 'pairs'})",
            lambda: Alignment().matrix(X),
            peer,
            peer_name=name,
            floor=floor,
            goal=1.8,
            repeats=3,
            check=largest_difference,
            n=150,
        )


def transport(bench, rng):
    """Half the matrix, a row of it in one call; the peer is the loop that its pages show."""
    for points, n, floor, goal in ((10, 60, 20, 50), (40, 40, 4, 11)):
        X = [(rng.normal(size=(points, 3)), rng.dirichlet(np.ones(points))) for _ in range(n)]
        bench.compare(
            f"earth mover's distance, {points} points",
            lambda X=X: Wasserstein().matrix(X),
            lambda X=X: np.array([[ot.emd2(u, v, ot.dist(a, b, "euclidean")) for b, v in X] for a, u in X]),
            peer_name="POT dist + emd2",
            floor=floor,
            goal=goal,
            repeats=3,
            check=largest_difference,
            n=n,
        )


def graphs(bench, rng):
    X = []
    for size in rng.integers(10, 30, 300):
        edges = [(a, int(rng.integers(a)), 0) for a in range(1, size)] + [(0, int(size) - 1, 0)]
        X.append((edges, rng.integers(0, 7, size).tolist()))
    theirs = [
        grakel.Graph({(a, b): 1 for i, j, _ in e for a, b in ((i, j), (j, i))}, node_labels=dict(enumerate(labels)))
        for e, labels in X
    ]
    bench.compare(
        "Weisfeiler-Lehman, 5 rounds",
        lambda: WeisfeilerLehman(n_iter=5).matrix(X),
        lambda: grakel.WeisfeilerLehman(n_iter=5).fit_transform(theirs),
        peer_name="GraKeL",
        floor=0.9,
        repeats=5,
        check=largest_difference,
        n=300,
    )


def texts(bench, rng):
    words = ["".join(rng.choice(list("abcdefghij"), 5)) for _ in range(400)]
    X = [" ".join(rng.choice(words, 60)) for _ in range(1000)]
    measure, vectors = TfidfCosine().fit(X), TfidfVectorizer().fit(X)
    bench.compare(
        "tf-idf cosine, 60 words",
        lambda: measure.matrix(X),
        lambda: cosine_similarity(vectors.transform(X)),
        peer_name="scikit-learn",
        floor=0.9,
        repeats=15,
        check=largest_difference,
        n=1000,
    )
    Y = [x.encode() for x in X[:80]]

    def plain():
        C = lambda x: len(zlib.compress(x))  # noqa: E731
        return np.array([[(C(x + z) - min(C(x), C(z))) / max(C(x), C(z)) for z in Y] for x in Y])

    bench.compare(
        "compression, 360 bytes",
        lambda: Compression().matrix(Y),
        plain,
        peer_name="loop of zlib",
        floor=1.6,
        repeats=3,
        check=largest_difference,
        n=80,
    )


def information(bench, rng):
    """435 voting records of 16 questions; the peer is the definition in numpy, one mask a pair."""
    X = load_votes().data
    lin, residual = Lin().fit(X), ResidualEntropy().fit(X)
    some = X[:60]

    def entropies():
        distinct, counts = np.unique(X, axis=0, return_counts=True)

        def H(row, mask):
            c = counts[(distinct[:, mask] == row[mask]).all(axis=1)]
            return np.log(c.sum()) - (c * np.log(c)).sum() / c.sum()

        out = np.empty((len(some), len(some)))
        for i, x in enumerate(some):
            for j, z in enumerate(some):
                same = x == z
                out[i, j] = -H(x, same) + (H(x, ~same) + H(z, ~same)) / 2
        return out

    def surprise():
        bits = np.array([[-np.log((X[:, k] == x[k]).mean()) for k in range(X.shape[1])] for x in some])
        return np.array(
            [[2 * a[x == z].sum() / (a.sum() + b.sum()) for b, z in zip(bits, some)] for a, x in zip(bits, some)]
        )

    for name, ours, peer, floor in (("residual entropy", residual, entropies, 64), ("Lin", lin, surprise, 14)):
        bench.compare(
            f"{name}, 16 votes",
            lambda ours=ours: ours.matrix(some),
            peer,
            peer_name="numpy, pair by pair",
            floor=floor,
            repeats=3,
            check=largest_difference,
            n=60,
        )


def series(bench, rng):
    """The peer fills the table row by row, the costs of a row at once."""
    X = rng.normal(size=(15, 100)).cumsum(axis=1)

    def one(x, z):
        D = np.full(len(z) + 1, np.inf)
        D[0] = 0
        for a in x:
            cost, above = (a - z) ** 2, D
            best = np.minimum(above[1:], above[:-1])
            D = np.full(len(z) + 1, np.inf)
            for b in range(len(z)):
                D[b + 1] = cost[b] + min(best[b], D[b])
        return np.sqrt(D[-1])

    bench.compare(
        "DTW, length 100",
        lambda: DTW().matrix(X),
        lambda: np.array([[one(x, z) for z in X] for x in X]),
        peer_name="loops in numpy",
        floor=70,
        repeats=2,
        check=largest_difference,
        n=15,
    )


if __name__ == "__main__":
    bench = Benchmark("objects", packages=("rapidfuzz", "parasail", "POT", "grakel", "edist", "rdkit"))
    rng = np.random.default_rng(0)
    for group in (edit, edit_elsewhere, tanimoto, alignment, transport, graphs, texts, information, series):
        group(bench, rng)
    bench.write()
