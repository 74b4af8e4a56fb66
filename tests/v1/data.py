"""Matrices and objects of the version 1 fixtures.

The first N_TRAIN objects are for training, the others are the queries.
"""

import json

import numpy as np

import similis
from similis import datasets

N_TRAIN, N_QUERY = 24, 6


def make_matrices():
    """Return the simulated matrices and their labels by name."""
    n = N_TRAIN + N_QUERY
    S, y = similis.make_similarity(n, 3, separation=1.0, indefinite=0.2, random_state=0)
    two, y_two = similis.make_similarity(n, 2, separation=0.8, indefinite=0.2, random_state=1)
    asymmetric, y_asymmetric = similis.make_similarity(n, 3, separation=1.0, asymmetric=0.2, random_state=2)
    kernel, y_kernel = similis.make_similarity(n, 3, separation=1.0, random_state=3)
    D, y_D = similis.make_similarity(n, 3, separation=1.0, kind="dissimilarity", random_state=4)
    missing = two.copy()
    missing[:N_TRAIN, :N_TRAIN] = hide_pairs(two[:N_TRAIN, :N_TRAIN], 0.15)
    missing[N_TRAIN:, 1::5] = np.nan
    auxiliary = similis.make_similarity(n, 2, separation=0.8, random_state=1)[0]
    hidden = auxiliary.copy()  # the rows and columns of some objects are missing
    hidden[2:N_TRAIN:4] = hidden[:, 2:N_TRAIN:4] = np.nan
    three = np.array(["north", "east", "south"])
    return {
        "similarity": (S, three[y]),
        "two_classes": (two, y_two),
        "asymmetric": (asymmetric, three[y_asymmetric]),
        "kernel": (kernel, three[y_kernel]),
        "dissimilarity": (D, three[y_D]),
        "missing": (missing, y_two),
        "stack": (similis.make_stack([two, auxiliary]), y_two),
        "hidden": (similis.make_stack([hidden, auxiliary]), y_two),
    }


def hide_pairs(S, share):
    """Replace a share of the pairs of a symmetric matrix by NaN."""
    drawn = np.random.RandomState(0).uniform(size=S.shape) < share
    drawn = np.triu(drawn, 1)
    return np.where(drawn | drawn.T, np.nan, S)


def make_plain_objects():
    """Return objects of every kind as plain JSON data."""
    n, random = N_TRAIN + N_QUERY, np.random.RandomState(5)
    votes, y = some_objects("votes", n)
    votes = votes[:, :6]
    vectors = np.round(random.normal(size=(n, 3)) + 1.5 * np.asarray(y)[:, None], 3)
    sizes = random.randint(1, 5, size=n)
    points = [np.round(random.normal(size=(k, 2)) + label, 3).tolist() for k, label in zip(sizes, y)]
    graphs = []
    for size in random.randint(2, 7, size=n):
        labels = random.choice(list("CNO"), size).tolist()
        pairs = [(a, b) for a in range(size) for b in range(a)]
        edges = [[a, b, int(random.randint(2))] for a, b in pairs if random.uniform() < 0.5]
        graphs.append([edges, labels])
    words = "the a cat dog bird sat ran flew away home on under".split()
    return {
        "table": votes.tolist(),
        "mixed": [[*row[:2], *vote[:3]] for row, vote in zip(vectors.tolist(), votes.tolist())],
        "sets": [sorted(f"{i}{v}" for i, v in enumerate(row) if v != "?") for row in votes.tolist()],
        "vectors": vectors.tolist(),
        "strings": ["".join(random.choice(list("acgt"), size)) for size in random.randint(1, 12, size=n)],
        "texts": [" ".join(random.choice(words, size)) for size in random.randint(2, 9, size=n)],
        "point_sets": [[p, np.round(random.uniform(0.1, 1, len(p)), 3).tolist()] for p in points],
        "series": [np.round(random.normal(size=k + 2) + label, 3).tolist() for k, label in zip(sizes, y)],
        "graphs": graphs,
        "positions": list(range(n)),
        "labels": np.where(y == 1, "yes", "no").tolist(),
    }


def read_objects(kind, plain):
    """Turn plain JSON data into the objects that a measure reads."""
    if kind == "mixed":
        return np.array(plain, dtype=object)
    if kind in ("table", "vectors", "positions"):
        return np.array(plain)
    readers = {
        "sets": set,
        "point_sets": lambda pair: (np.array(pair[0]), np.array(pair[1])),
        "series": np.array,
    }
    return [readers.get(kind, lambda x: x)(x) for x in plain]


def some_objects(name, n):
    """Return `n` objects of a bundled data set, drawn with a fixed seed."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    chosen = np.random.RandomState(0).permutation(len(y))[:n]
    return X[chosen], y[chosen]


def write_json(path, record):
    """Write a dictionary with one line per key."""
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
    path.write_text("{\n" + lines + "\n}\n")
