"""Measures on strings, sets, point sets, series and graphs from their definitions: recursions and plain loops."""

import bz2
import lzma
import math
import zlib
from collections import Counter
from functools import cache
from itertools import permutations

import numpy as np


def edit(x, z, weights=(1, 1, 1), substitution=None, gaps=None):
    """Least cost of turning x into z, by recursion on prefixes."""
    insert, delete, change = weights
    table, gaps = substitution or {}, gaps or {}

    @cache
    def cost(i, j):
        if i == 0 and j == 0:
            return 0.0
        ways = []
        if i:
            ways.append(cost(i - 1, j) + gaps.get(x[i - 1], delete))
        if j:
            ways.append(cost(i, j - 1) + gaps.get(z[j - 1], insert))
        if i and j:
            a, b = x[i - 1], z[j - 1]
            ways.append(cost(i - 1, j - 1) + (0.0 if a == b else table.get(a, {}).get(b, change)))
        return min(ways)

    return cost(len(x), len(z))


def edit_normalized(x, z, form, **costs):
    d, m, n = edit(x, z, **costs), len(x), len(z)
    insert, delete, change = costs.get("weights", (1, 1, 1))
    insert = max([insert, *costs.get("gaps", {}).values()])
    delete = max([delete, *costs.get("gaps", {}).values()])
    change = max([change, *(w for row in costs.get("substitution", {}).values() for w in row.values())])
    if m == n == 0:
        return 0.0
    if form == "metric":
        return 2 * d / (max(insert, delete) * (m + n) + d)
    replaced = change * min(m, n) + delete * max(m - n, 0) + insert * max(n - m, 0)
    return d / min(delete * m + insert * n, replaced)


def alignment(x, z, score, gap_open, gap_extend, local=True):
    """Best alignment score by listing where the last gap or pair begins: cubic, no trick."""
    m, n = len(x), len(z)

    def gap(k):
        return gap_open + (k - 1) * gap_extend

    H = np.zeros((m + 1, n + 1))
    for i in range(m + 1):
        for j in range(n + 1):
            if i == j == 0:
                continue
            ways = [0.0] if local else []
            if i and j:
                ways.append(H[i - 1, j - 1] + score[x[i - 1]][z[j - 1]])
            ways += [H[i - k, j] - gap(k) for k in range(1, i + 1)]
            ways += [H[i, j - k] - gap(k) for k in range(1, j + 1)]
            H[i, j] = max(ways)
    return H.max() if local else H[m, n]


def lin(training):
    """2 I(common) / (I(x) + I(z)) for sets of features."""
    n = len(training)

    def information(feature):
        count = sum(feature in s for s in training)
        return -math.log(count / n) if count else math.log(n + 1)

    def s(x, z):
        whole = sum(map(information, x)) + sum(map(information, z))
        return 1.0 if whole == 0 else 2 * sum(map(information, x & z)) / whole

    return s


def residual_entropy(training):
    """-H(R | x and z) + H(R | x without z) / 2 + H(R | z without x) / 2 over the empirical distribution."""
    P = {r: c / len(training) for r, c in Counter(training).items()}

    def H(features):
        inside = [p for r, p in P.items() if features <= r]
        return -sum(p / sum(inside) * math.log(p / sum(inside)) for p in inside)

    return lambda x, z: -H(x & z) + H(x - z) / 2 + H(z - x) / 2


def resnik(training, taxonomy, counts=None):
    """Largest -log P(c) over pairs of concepts and the concepts c above both, by walks along all paths."""

    def above(concept):
        return {concept}.union(*(above(parent) for parent in taxonomy.get(concept, [])))

    occurrences = list(counts.items()) if counts else [(x, 1) for x in training]
    total = sum(count for _, count in occurrences)

    def information(c):
        below = sum(n for x, n in occurrences if any(c in above(a) for a in ([x] if isinstance(x, str) else x)))
        return math.log(total / below) if below else math.log(total + 1)

    def s(x, z):
        common = [above(a) & above(b) for a in x for b in z]
        return max((information(c) for group in common for c in group), default=0.0)

    return s


def compression(x, z, codec="zlib", conditional=False):
    C = {"zlib": zlib, "bz2": bz2, "lzma": lzma}[codec].compress
    x, z = (s.encode() if isinstance(s, str) else s for s in (x, z))
    if conditional:
        return (len(C(z + x)) - len(C(z))) / len(C(x))
    short, long = sorted((len(C(x)), len(C(z))))
    return (len(C(x + z)) - short) / long


def tfidf(training):
    """Cosine of counts times 1 + log((1 + n) / (1 + df)); words are runs of two or more letters."""
    bags = [Counter(words(text)) for text in training]
    idf = {w: 1 + math.log((1 + len(bags)) / (1 + sum(w in b for b in bags))) for b in bags for w in b}

    def vector(text):
        return {w: c * idf[w] for w, c in Counter(words(text)).items() if w in idf}

    def s(x, z):
        u, v = vector(x), vector(z)
        lengths = math.sqrt(sum(a * a for a in u.values()) * sum(a * a for a in v.values()))
        return sum(a * v.get(w, 0) for w, a in u.items()) / lengths if lengths else 0.0

    return s


def words(text):
    return [w for w in "".join(c if c.isalnum() else " " for c in text.lower()).split() if len(w) > 1]


def matching(x, z):
    """Earth mover's distance of two sets of equally many points of equal weight: the best permutation."""
    return min(sum(math.dist(a, z[k]) for a, k in zip(x, p)) for p in permutations(range(len(z)))) / len(x)


def irm(x, z):
    """Match the nearest pairs of two signatures first."""
    (points, p), (others, q) = x, z
    p, q = [w / sum(p) for w in p], [w / sum(q) for w in q]
    pairs = sorted((math.dist(a, b), i, j) for i, a in enumerate(points) for j, b in enumerate(others))
    total = 0.0
    for d, i, j in pairs:
        moved = min(p[i], q[j])
        p[i], q[j], total = p[i] - moved, q[j] - moved, total + moved * d
    return total


def pyramid(training, n_levels=8, normalize=True):
    """Matches that are new at each level, counted 2^-level."""
    every = [point for s in training for point in s]
    low = [min(p[k] for p in every) for k in range(len(every[0]))]
    span = max(max(p[k] for p in every) - low[k] for k in range(len(low))) or 1.0

    def bins(s, level):
        side, most = span / 2 ** (n_levels - 1), 2 ** (n_levels - 1) - 1
        cells = (tuple(int(min(max((v - least) // side, 0), most)) for v, least in zip(p, low)) for p in s)
        return Counter(tuple(c // 2**level for c in cell) for cell in cells)

    def match(x, z):
        total, before = 0.0, 0
        for level in range(n_levels):
            now = sum((bins(x, level) & bins(z, level)).values())
            total, before = total + 2.0**-level * (now - before), now
        return total

    return lambda x, z: match(x, z) / (math.sqrt(match(x, x) * match(z, z)) if normalize else 1.0)


def dtw(x, z, window=None):
    """Root of the least sum of squares over warping paths, by recursion."""
    x, z = ([np.atleast_1d(v) for v in s] for s in (x, z))
    band = max(len(x), len(z)) if window is None else max(window, abs(len(x) - len(z)))

    @cache
    def cost(i, j):
        if i < 0 or j < 0 or abs(i - j) > band:
            return math.inf
        here = float(((x[i] - z[j]) ** 2).sum())
        return here if i == j == 0 else here + min(cost(i - 1, j - 1), cost(i - 1, j), cost(i, j - 1))

    return math.sqrt(cost(len(x) - 1, len(z) - 1))


def weisfeiler_lehman(x, z, n_iter=5, edge_labels=False):
    """Common labels over all rounds, where a label is spelled out in full."""

    def rounds(graph):
        edges, labels = graph
        near = [set() for _ in labels]
        for a, b, *name in edges:
            name = str(name) if edge_labels else ""
            near[a].add((name, b))
            near[b].add((name, a))
        labels = [repr(label) for label in labels]
        for _ in range(n_iter + 1):
            yield Counter(labels)
            labels = [f"({labels[a]}:{sorted((name, labels[b]) for name, b in near[a])})" for a in range(len(labels))]

    return sum(n * q[label] for p, q in zip(rounds(x), rounds(z)) for label, n in p.items())
