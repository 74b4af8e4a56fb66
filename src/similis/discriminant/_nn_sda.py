"""Nearest-neighbor similarity discriminant analysis. [cazzanti2007] sec. 3.2.1."""

from __future__ import annotations

from typing import Any

from similis.discriminant._sda import SDA


class NearestNeighborSDA(SDA):
    """Similarity discriminant analysis of the similarity to the nearest training object of each class (nnSDA).

    The same as ``SDA(statistic="nearest")``. The nearest-neighbor rule uses only which neighbor is nearest;
    this classifier uses the probability of that similarity in each class.

    Parameters
    ----------
    domain, pseudocount, degenerate, priors, costs, kind
        As in :class:`SDA`.

    Attributes
    ----------
    classes_, domain_, priors_
        As in :class:`SDA`.
    exponents_, log_normalizers_, means_ : ndarray of shape (G, G)
        lambda_gh, log gamma_gh and the mean of the similarity of class g to the nearest object of class h, objects
        themselves left out.

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
