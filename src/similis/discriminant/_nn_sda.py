"""Nearest-neighbor similarity discriminant analysis. [cazzanti2007] sec. 3.2.1."""

from __future__ import annotations

from typing import Any

from similis.discriminant._sda import SDA

__all__ = ["NearestNeighborSDA"]


class NearestNeighborSDA(SDA):
    """Similarity discriminant analysis of the similarity to the nearest training object of each class (nnSDA).

    The same as ``SDA(statistic="nearest")``. The nearest-neighbor rule uses only which neighbor is nearest;
    this classifier uses the probability of that similarity in each class.

    Parameters
    ----------
    domain : {"empirical", "continuous"}, array-like or tuple (low, high), default="empirical"
        Omega: the distinct values of the training matrix; the interval from its minimum to its maximum; a given set
        of values; a given interval, one end of which may be infinite.
    pseudocount : float, default=0.0
        Shrinkage of each class mean towards the mean c of all objects: (n_g mean + pseudocount c) / (n_g +
        pseudocount).
    degenerate : {"limit", "uniform"}, default="limit"
        Distribution of a class whose mean is at an end of Omega: a point mass, or the uniform distribution.
    priors : None, "laplace" or array-like of shape (G,)
        Training frequencies, the same with one added to each count, or given probabilities.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of predicting f when g is true; ``predict`` minimizes its expectation.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    exponents_ : ndarray of shape (G, G)
        lambda_gh of the similarity to the nearest object of class h under class g.
    log_normalizers_ : ndarray of shape (G, G)
        log gamma_gh.
    means_ : ndarray of shape (G, G)
        Mean similarity of the objects of class g to their nearest object of class h, themselves left out.
    domain_ : ndarray or tuple
        Omega: its values, or its two ends.
    priors_ : ndarray of shape (G,)
        Class priors.

    See Also
    --------
    SDA : Any statistic.

    Notes
    -----
    With few different similarities, the mean of a class is often at an end of Omega. The limit used here has an error
    up to twenty percentage points below the paper's tables for two and four features; ``degenerate="uniform"`` is close
    to these tables.

    References
    ----------
    [cazzanti2007] Eq. (3.12)-(3.14).

    Examples
    --------
    >>> import numpy as np
    >>> from similis import NearestNeighborSDA
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> NearestNeighborSDA().fit(S, [0, 0, 1, 1]).predict([[2, 3, 1, 1], [0, 0, 2, 2]])
    array([0, 1])
    """

    _parameter_constraints = {k: v for k, v in SDA._parameter_constraints.items() if k not in ("statistic", "centroid")}
    statistic = "nearest"
    centroid = "max-sum"

    def __init__(
        self,
        *,
        domain: Any = "empirical",
        pseudocount: float = 0.0,
        degenerate: str = "limit",
        priors: Any = None,
        costs: Any = None,
        kind: str = "similarity",
    ) -> None:
        self.domain = domain
        self.pseudocount = pseudocount
        self.degenerate = degenerate
        self.priors = priors
        self.costs = costs
        self.kind = kind
