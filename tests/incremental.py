"""Batches for the tests of incremental learning: a problem, and models fed as they ask for it."""

from itertools import pairwise

import numpy as np

from similis import Minkowski

SCHEMES = ("append", "resample")


def distances(A, B=None):
    """The same bits for a pair in every block, so that ties between the two objects of a pair stay ties."""
    return Minkowski().matrix(A, B)


def problem(rng, n=90, n_classes=3, d=3, m=15):
    y = rng.permutation(np.arange(n) % n_classes)
    centers = 3 * rng.normal(size=(n_classes, d))
    X, new = centers[y] + rng.normal(size=(n, d)), 3 * rng.normal(size=(m, d))
    return X, y, new


def feed(model, X, y, edges):
    """Blocks as the model asks for them: earlier objects, or those in columns_, then the new ones."""
    for a, b in pairwise(edges):
        past = model.columns_ if model.bounded and a else np.arange(a)
        columns = np.concatenate([past, np.arange(a, b)]).astype(int)
        model.partial_fit(distances(X[a:b], X[columns]), y[a:b])
    return model


def rows(model, X, new):
    return distances(new, X[model.columns_] if model.bounded else X[: model.n_seen_])
