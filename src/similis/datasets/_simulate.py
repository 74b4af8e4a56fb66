"""Simulated data: perturbed centroids of [cazzanti2007] sec. 6.1, and proximity matrices with configurable defects."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg
from scipy import sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import Bunch, check_random_state

from similis._utils.arrays import Floats, Indices, Mask
from similis.base import Kind, at_least, between, choice, validated_function


@validated_function(
    {"d": [at_least(1)], "n_train": [at_least(0)], "n_test": [at_least(0)], "random_state": ["random_state"]}
)
def make_perturbed_centroids(
    d: int,
    p: Sequence[float | Sequence[float]] = ((1 / 3,), (1 / 30,)),
    *,
    n_train: int = 100,
    n_test: int = 1000,
    random_state: Any = None,
) -> Bunch:
    """Simulate binary objects that are class centroids with some features flipped, [cazzanti2007] sec. 6.1.

    Centroids are drawn uniformly from {0, 1}^d, the class of an object and one of its centroids uniformly too. Classes
    are equally likely but not equally large, and a small sample may lack one.

    Parameters
    ----------
    d : int
        Number of binary features.
    p : sequence of (sequence of float), default=((1/3,), (1/30,))
        For each centroid of each class, the probability that a feature is flipped; a number for one centroid.
    n_train, n_test : int, default=100 and 1000
        Numbers of training and test objects.
    random_state : int, RandomState instance or None, default=None
        Random seed.

    Returns
    -------
    Bunch
        ``X_train`` and ``X_test`` of shape (n, d) with entries 0 and 1 (uint8), class codes ``y_train`` and ``y_test``,
        ``centroids`` (an array per class), and in ``source_train`` and ``source_test`` the number of the centroid of
        each object within its class.

    Examples
    --------
    >>> from similis.datasets import make_perturbed_centroids
    >>> data = make_perturbed_centroids(8, p=((1/3, 1/3), (1/30, 1/30)), random_state=0)
    >>> data.X_train.shape, data.centroids[0].shape
    ((100, 8), (2, 8))
    """
    rates = _check_rates(p)
    random = check_random_state(random_state)
    # [cazzanti2007] sec. 6.1.2 -> c_gj uniform on {0, 1}^d, all independent
    data = Bunch(centroids=[random.randint(0, 2, size=(len(rate), d)).astype(np.uint8) for rate in rates])
    sizes = np.array([len(rate) for rate in rates])
    for part, n in (("train", n_train), ("test", n_test)):
        y = random.randint(0, len(rates), size=n)
        source = (random.random_sample(n) * sizes[y]).astype(np.intp)
        row = (np.cumsum(sizes) - sizes)[y] + source  # of the centroid among all centroids
        # [cazzanti2007] sec. 6.1.1 -> z[i] = c_g[i] with probability 1 - p_g, flipped with probability p_g
        flips = random.random_sample((n, d)) < np.concatenate(rates)[row, None]
        data[f"X_{part}"] = np.concatenate(data.centroids)[row] ^ flips.astype(np.uint8)
        data[f"y_{part}"], data[f"source_{part}"] = y, source
    return data


@validated_function(
    {
        "n": [at_least(1)],
        "n_classes": [at_least(1)],
        "separation": [between(0, None, "left")],
        "n_features": [at_least(1)],
        "indefinite": [between(0, 1, closed="left")],
        "asymmetric": [between(0, None, "left")],
        "sparse": [between(0, 1)],
        "missing": [between(0, 1)],
        "duplicates": [at_least(0)],
        "kind": [choice("similarity", "dissimilarity")],
        "random_state": ["random_state"],
    }
)
def make_similarity(
    n: int,
    n_classes: int = 2,
    *,
    separation: float = 2.0,
    n_features: int = 5,
    indefinite: float = 0.0,
    asymmetric: float = 0.0,
    sparse: float = 0.0,
    duplicates: int = 0,
    missing: float = 0.0,
    kind: Kind = "similarity",
    random_state: Any = None,
) -> tuple[Any, Indices]:
    """Simulate a proximity matrix and labels, with configurable defects.

    Objects are points of Gaussian classes; their similarity is exp(-||x - z||^2 / (2 n_features)), positive definite.
    Defects are added in the order of the parameters; fractions and norms are exact before the duplicates.

    Parameters
    ----------
    n, n_classes : int, default=2 classes
        Number of objects, and of classes, whose sizes differ by at most one.
    separation : float, default=2.0
        Standard deviation of the class centers; that of the objects around them is 1.
    n_features : int, default=5
        Dimension of the points.
    indefinite : float in [0, 1), default=0.0
        Fraction of the negative eigenvalues in the sum of all absolute eigenvalues.
    asymmetric : float, default=0.0
        Frobenius norm of the skew-symmetric part, relative to that of the symmetric part.
    sparse : float in [0, 1], default=0.0
        Fraction of the pairs that are absent, those with the smallest similarity.
    duplicates : int, default=0
        Number of objects that are exact copies of others, with their row, column and label.
    missing : float in [0, 1], default=0.0
        Fraction of the off-diagonal entries that are NaN; in both directions for a symmetric matrix.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Dissimilarities are the largest similarity minus each similarity, zero on the diagonal.
    random_state : int, RandomState instance or None, default=None
        Random seed.

    Returns
    -------
    S, y : ndarray of shape (n, n) and (n,)
        The proximities, a CSR array if `sparse` is not zero, and class codes.

    Examples
    --------
    >>> from similis.datasets import make_similarity
    >>> S, y = make_similarity(60, 3, indefinite=0.2, asymmetric=0.1, random_state=0)
    >>> S.shape, y[:6]
    ((60, 60), array([0, 1, 2, 0, 1, 1]))
    """
    if n_classes > n - duplicates:
        raise ValueError(
            f"n must be at least n_classes + duplicates, so that every class has an object. Got n={n}, "
            f"n_classes={n_classes}, duplicates={duplicates}."
        )
    random = check_random_state(random_state)
    n, n_classes, n_features = int(n), int(n_classes), int(n_features)  # True is 1
    m = n - duplicates
    y = random.permutation(np.arange(m) % n_classes)
    X = random.normal(size=(m, n_features)) + separation * random.normal(size=(n_classes, n_features))[y]
    S = np.exp(-squareform(pdist(X, "sqeuclidean")) / (2 * n_features))
    if indefinite:
        S = _make_indefinite(S, indefinite, n_classes)
    if asymmetric:
        skew = random.normal(size=S.shape)
        skew -= skew.T
        S = S + skew * (asymmetric * linalg.norm(S) / (linalg.norm(skew) or 1.0))
    absent = _mark(m, sparse, lambda i, j: np.argsort((S + S.T)[i, j], kind="stable"))  # the least alike
    if kind == "dissimilarity":
        S = S.max() - S
        np.fill_diagonal(S, 0.0)
    original = random.permutation(np.concatenate([np.arange(m), random.randint(0, m, size=int(duplicates))]))
    S, absent, y = S[np.ix_(original, original)], absent[np.ix_(original, original)], y[original]
    S[_mark(n, missing, lambda i, j: random.permutation(len(i)), symmetric=asymmetric == 0)] = np.nan
    if not sparse:
        return S, y
    rows, columns = np.nonzero(~absent)
    return sp.csr_array((S[rows, columns], (rows, columns)), shape=S.shape), y


def _check_rates(p: Any) -> list[Floats]:
    """Validate p; return one vector of flipping probabilities per class."""
    try:
        rates = [np.atleast_1d(np.asarray(rate, dtype=np.float64)) for rate in p]
    except (TypeError, ValueError):
        rates = []
    if not rates or any(rate.ndim != 1 or not len(rate) for rate in rates):
        raise ValueError(f"p must hold, for each class, one probability per centroid. Got {str(p)[:80]}.")
    wrong = next((g for g, rate in enumerate(rates) if not ((rate >= 0) & (rate <= 1)).all()), None)
    if wrong is not None:
        raise ValueError(f"p must hold probabilities between 0 and 1. Got {str(rates[wrong])[:80]} for class {wrong}.")
    return rates


def _make_indefinite(S: Floats, share: float, keep: int) -> Floats:
    """Make every other eigenvalue after the largest `keep` negative, scaled to this fraction of the spectrum."""
    eigenvalues, U = linalg.eigh(S)
    eigenvalues, U = np.maximum(eigenvalues[::-1], 0.0), U[:, ::-1]
    negative = np.zeros(len(S), dtype=bool)
    negative[min(keep, len(S) - 1) :: 2] = len(S) > 1
    if (mass := eigenvalues[negative].sum()) > 0:
        # share = t mass / (rest + t mass)
        eigenvalues[negative] *= -share / (1 - share) * eigenvalues[~negative].sum() / mass
    S = (U * eigenvalues) @ U.T
    return (S + S.T) / 2


def _mark(n: int, share: float, order: Callable[[Indices, Indices], Indices], symmetric: bool = True) -> Mask:
    """Mark this fraction of the entries beside the diagonal, the first of the `order`; of pairs if `symmetric`."""
    i, j = np.triu_indices(n, 1) if symmetric else np.nonzero(~np.eye(n, dtype=bool))
    chosen = order(i, j)[: round(share * len(i))]
    mask = np.zeros((n, n), dtype=bool)
    mask[i[chosen], j[chosen]] = True
    return mask | mask.T if symmetric else mask
