"""The worked examples of [cazzanti2007]: sections 3.1.1, 3.3.4, 3.3.7 and 5.3.5, value by value."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB
from sklearn.svm import SVC

from similis.discriminant import SDA, MixtureSDA
from similis.neighbors import NearestCentroid
from similis.solvers import Omega, maxent_exponents
from similis.svm import PotentialSVM

Values = dict[tuple[str, str, str], float]  # by method, condition and quantity

# Sec. 3.1.1: eyes, nose, mouth, hair; the first of each class is its centroid. The sets are inferred from the
# similarities that the section prints.
FACES = np.array([list(map(int, face)) for face in "1111 0111 1011 1101 1110 1101 0000 0011 0110 0001".split()])
FACE_LABELS = np.repeat([1, 2], 5)


def shared_features(X: NDArray[Any], Z: NDArray[Any]) -> NDArray[np.float64]:
    """Counting similarity: the number of equal features."""
    return np.asarray((X[:, None] == Z).sum(axis=2), dtype=np.float64)


def _faces(random: np.random.Generator) -> Values:
    """Sec. 3.1.1: means, exponents, normalizers, and the decisions of SDA and of nearest centroid."""
    S = (FACES @ FACES.T).astype(float)
    model, nearest = SDA().fit(S, FACE_LABELS), NearestCentroid().fit(S, FACE_LABELS)
    found: Values = {("sda", "", "mean-of-uniform"): float(np.mean(range(5)))}
    for g, h in product((1, 2), (1, 2)):
        at, place = f"g={g};h={h}", (g - 1, h - 1)
        found["sda", at, "mean-similarity"] = model.means_[place]
        found["sda", at, "lambda"] = model.exponents_[place]
        found["sda", at, "gamma"] = float(np.exp(model.log_normalizers_[place]))
    # Two of class two are more similar to the centroid of class one; the other three tie.
    own, other = S[5:, model.centroids_[1]], S[5:, model.centroids_[0]]
    found["nc", "evaluation=training;class=2", "errors"] = int((other > own).sum())
    row = np.zeros((1, 10))
    row[0, model.centroids_] = 2, 1
    for name, classifier in (("sda", model), ("nc", nearest)):
        found[name, "s1=2;s2=1", "predicted-class"] = int(classifier.predict(row)[0])
    return found


def _three_bits(random: np.random.Generator) -> Values:
    """Sec. 3.3.4: discriminant analysis on similarity features, SDA on the same features, and SDA on centroids."""
    train = np.array([list(map(int, x)) for x in "000 001 100 010 110 111 101 110 011 001".split()])
    test = np.array(list(product((0, 1), repeat=3)))
    labels = np.repeat([1, 2], 5)
    D, new = 3 - shared_features(train, train), 3 - shared_features(test, train)
    means = np.array([D[labels == g].mean(axis=0) for g in (1, 2)])
    # Eq. (3.34), the covariance matrix taken for the identity.
    scores = {"lda-features": new @ means.T - (means**2).sum(axis=1) / 2}
    # Eq. (3.36): an exponential per class and training sample, on distances 0 to 3.
    omega = Omega(range(4))
    fitted = maxent_exponents(omega, *omega.offsets(means))
    scores["sda-features"] = new @ fitted.exponents.T + fitted.log_normalizers.sum(axis=1)
    predicted = {name: 1 + value.argmax(axis=1) for name, value in scores.items()}
    predicted["sda"] = SDA().fit(3 - D, labels).predict(3 - new)
    truth = np.where(test.sum(axis=1) < 2, 1, 2)  # the nearer prototype, 000 or 111
    found: Values = {}
    for name, classes in predicted.items():
        found[name, "evaluation=all eight", "errors"] = int((classes != truth).sum())
        for x, c in zip(test, classes):
            found[name, f"x={''.join(map(str, x))}", "predicted-class"] = int(c)
    return found


def boundary_classifiers(random: np.random.Generator) -> dict[str, tuple[Any, Any]]:
    """Sec. 3.3.7: SDA, SVM, P-SVM and naive Bayes on the similarities to 000 and 111, and a discriminant of each.

    Returns
    -------
    dict
        By name: class of each vector (i, j) of similarities, from 0 to 3 each, and the value of the discriminant there,
        positive for class one; arrays of shape (4, 4).
    """
    flips = random.random((2000, 3)) < np.repeat([1 / 3, 1 / 4], 1000)[:, None]
    y = np.repeat([1, 2], 1000)
    X = np.where(y[:, None] == 1, 0, 1) ^ flips
    u = shared_features(X, np.array([[0, 0, 0], [1, 1, 1]]))
    grid = np.array(list(product(range(4), repeat=2)), dtype=float)
    found = {}
    for name, model in {
        "svm": SVC(kernel="linear"),
        "psvm": PotentialSVM(input="features"),
        "naive-bayes": CategoricalNB(min_categories=4),
    }.items():
        model.fit(u, y)
        if name == "naive-bayes":
            value = -np.diff(model.predict_log_proba(grid)).ravel()
        else:
            value = -model.decision_function(grid)
        found[name] = model.predict(grid).reshape(4, 4), value.reshape(4, 4)
    omega = Omega(range(4))
    means = np.array([u[y == g].mean(axis=0) for g in (1, 2)])
    fitted = maxent_exponents(omega, *omega.offsets(means))
    value = -np.diff(grid @ fitted.exponents.T + fitted.log_normalizers.sum(axis=1)).ravel()
    found["sda"] = np.where(value > 0, 1, 2).reshape(4, 4), value.reshape(4, 4)
    return found


def _boundaries(random: np.random.Generator) -> Values:
    """Sec. 3.3.7: whether the classifiers give the four possible samples the same classes as SDA."""
    found = boundary_classifiers(random)
    own = np.fliplr(np.eye(4, dtype=bool))  # the two similarities add up to three
    return {
        (name, "", "same-classes-as-sda"): float((classes[own] == found["sda"][0][own]).all())
        for name, (classes, _) in found.items()
    }


def mixture_sample(random: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Draw the sample of sec. 5.3.5: similarities, classes, and the vectors of twelve bits."""
    halves = np.repeat([[0, 0], [0, 1], [1, 1], [1, 0]], 6, axis=1)
    which = random.integers(4, size=1000)
    X = halves[which] ^ (random.random((1000, 12)) < 0.1)
    return shared_features(X, X), which // 2 + 1, X


def _mixture(random: np.random.Generator) -> Values:
    """Sec. 5.3.5: weights, signs of the exponents and centroids after 30 iterations, samples of class one."""
    S, y, X = mixture_sample(random)
    model = MixtureSDA(n_components=2, max_iter=30, tol=0.0, random_state=0).fit(S, y)
    found: Values = {("mixture-sda", "g=1;h=1,2;l=1,2", "weight"): float(model.weights_[0].max(axis=1).mean())}
    for h, c in product((1, 2), (1, 2)):
        sign = float(np.sign(model.exponents_[0, h - 1, c - 1]))
        found["mixture-sda", f"g=1;h={h};l={c}", "sign-of-lambda"] = sign
    # A medoid is a copy of its prototype: each half of it is constant, and the two of a class differ.
    medoids = X[model.centroids_].reshape(2, 2, 2, 6)
    constant = (medoids == medoids[..., :1]).all()
    different = all(len({tuple(c) for c in pair[:, :, 0]}) == 2 for pair in medoids)
    found["k-medoids", "", "centroids-recovered"] = float(constant and different)
    return found


SECTIONS = {"3.1.1": _faces, "3.3.4": _three_bits, "3.3.7": _boundaries, "5.3.5": _mixture}
