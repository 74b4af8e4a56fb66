"""A small study for the tests: its data, light methods, and one that fails."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from similis import Study


def toy(n=36, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    Z = 2.0 * rng.normal(size=(n_classes, 4))[y] + rng.normal(size=(n, 4))
    return np.round(np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 8), 2), np.array(["a", "b", "c"])[y]


S, Y = toy()
LIGHT = ["knn", "nc", "svm-kernel(clip)", "majority"]


def run(methods=LIGHT, data=(S, Y), n_splits=2, cv=3, *, study=None, **options):
    return Study(methods, n_splits=n_splits, cv=cv, **(study or {})).run(*data, **options)


class Sometimes(ClassifierMixin, BaseEstimator):
    """Fails on some training parts."""

    def __init__(self, *, limit=0, error=ValueError):
        self.limit = limit
        self.error = error

    def fit(self, X, y):
        if np.asarray(X)[0, 1] > self.limit:
            raise self.error("the moon is in the wrong place\nand so is the sun")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])
