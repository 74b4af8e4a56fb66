"""Similarity discriminant analysis. [cazzanti2007] ch. 3."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from similis._utils.arrays import Array, Indices
from similis._utils.fitted import fitted_count, fitted_indices, fitted_part, fitted_reals
from similis.base import between, check_stack_width, choice, estimator, param, quote
from similis.discriminant import _statistics as st
from similis.discriminant._base import ExponentialClassifier, LogLimit, exponential_terms
from similis.solvers import Omega, class_centroids, maxent_exponents


@estimator
class SDA(ExponentialClassifier):
    """Similarity discriminant analysis: exponential models of a few statistics of an object's similarities.

    For each class g and each statistic T_m, the model is the distribution of largest entropy on the possible values
    Omega that has the training mean,

        P(T_m(x) = v | g) = gamma_gm exp(lambda_gm v),    E[T_m | g] = mean of T_m over the training objects of g,

    and an object is classified by Bayes' rule from the product over m. With the default statistics, the similarities
    to the class centroids, SDA extends nearest centroid as discriminant analysis extends nearest mean. See
    [cazzanti2007] Eq. (3.4)-(3.18), (3.26)-(3.28), (3.35)-(3.36).

    Parameters
    ----------
    statistic : str, callable or list of these, default="centroid"
        - "centroid": similarity to each class centroid, eq. (3.4)-(3.7);
        - "nearest": similarity to the nearest training object of each class, eq. (3.12)-(3.14);
        - "total": summed similarity to each class;
        - "rows": similarity to every training object, eq. (3.35);
        - "quadratic": s_h, s_h s_g and s_h^2 of the similarities to the centroids, eq. (3.27);
        - "centered-squares": (s_h - m_h)^2 with m_h the mean similarity of class h to its centroid, sec. 3.2.1;
        - "cross-squares": (s_h - m_g)^2 for all g other than h, sec. 3.2.1;
        - a function of proximity rows (m, n), ``f(rows)``, or of these and the training labels, ``f(rows, y)``, that
          returns (m,) or (m, M).

        A list combines them. A stack n x n x q of several proximities gives the statistics of each; for similarities
        beside dissimilarities, put ``CombineMatrices(matrix=None, kinds=[...])`` in front.
    centroid : {"max-sum", "popular", "any-class"}, default="max-sum"
        The member with the largest total similarity to its class, eq. (2.10), the one that is most often a nearest
        neighbor, eq. (3.11), or the object of any class with the largest total similarity to the class, eq. (3.10).
    domain : {"empirical", "continuous"}, array-like or tuple (low, high), default="empirical"
        Omega: the distinct training values of the matrix (or of a statistic that is no entry of it); the interval from
        their minimum to their maximum; a given set of values; a given interval, one end of which may be infinite.
    pseudocount : float, default=0.0
        Shrinkage of each class mean towards the mean c of all objects: (n_g mean + pseudocount c) / (n_g +
        pseudocount), sec. 7.2.5. Any positive number removes point masses.
    degenerate : {"limit", "uniform"}, default="limit"
        Distribution of a class whose mean is at an end of Omega: a point mass, or the uniform distribution.
    priors : None, "laplace" or array-like of shape (G,)
        Training frequencies, the same with one added to each count, or given probabilities.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of predicting f when g is true; ``predict`` minimizes its expectation.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix; it determines the centroids and nearest objects.

    Attributes
    ----------
    classes_, priors_, class_count_ : ndarray of shape (G,)
        Class labels, priors, and numbers of training objects.
    exponents_, log_normalizers_, means_ : ndarray of shape (G, M)
        lambda_gm, infinite for a point mass; log gamma_gm; means after shrinkage, NaN if undefined for a whole class.
    centroids_ : ndarray of shape (G,) or (q, G)
        Index of each class's centroid among the training objects; for a stack, under each proximity.
    domain_ : ndarray, tuple or list
        Omega: its values, or its two ends; one per statistic where they differ.
    columns_ : ndarray
        Training objects whose columns ``predict`` reads; the centroids, if all statistics depend on them only.

    Notes
    -----
    The centroid's similarity to itself is part of the means (sec. 3.1.1). In training, an object is not its own nearest
    neighbor; where a class has no nearest neighbor in its own class, the distribution is uniform.

    Point masses are the limit of one large exponent, the same for all (Omega scaled to width one): classes are compared
    by their summed distance from their point masses, ties by the rest. The paper's published errors for few features
    suggest the uniform distribution instead, ``degenerate="uniform"``. New values outside Omega are allowed: gamma
    exp(lambda v) is evaluated there.

    An empirical Omega of more than 2^21 values is represented by a sample with equal weights, whose effect on the mean
    of an exponential is of the order of 2^-10.5 of the width of Omega or less. Rule (3.36), statistic "rows", differs
    from the description in sec. 3.3.4: of the eight words of three bits it assigns 110 to class one, which follows from
    the symmetry between zeros and ones.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import SDA
    >>> faces = np.array([[1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0],
    ...                   [1, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 1]])
    >>> model = SDA().fit(faces @ faces.T, np.repeat([1, 2], 5))
    >>> model.exponents_.round(2)
    array([[ 0.73,  0.2 ],
           [-0.2 , -0.43]])
    """

    statistic: Any = param("centroid", choice(*st.NAMES), callable, list, tuple)
    centroid: Literal["max-sum", "popular", "any-class"] = param("max-sum", choice("max-sum", "popular", "any-class"))
    domain: Any = param("empirical", choice("empirical", "continuous"), tuple, "array-like")
    pseudocount: float = param(0.0, between(0, None, "left"))
    degenerate: str = param("limit", choice("limit", "uniform"))
    priors: Any = param(None, choice("laplace"), "array-like", None)
    costs: Any = param(None, "array-like", None)
    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "_n_slices": fitted_count(1),
        "_read": fitted_part(st.Statistics, G="G"),
        "centroids_": fitted_indices(any_shape=True),
        "priors_": fitted_reals("G", low=0),
        "_omegas": fitted_part(Omega, many=True, length="M"),
        **dict.fromkeys(
            ("_rates", "_log_z", "exponents_", "log_normalizers_", "means_"),
            fitted_reals("G", "M", nan=True, infinite=True),
        ),
    }
    path_params = ("pseudocount",)
    allow_stack = True

    def statistics(self, X: ArrayLike) -> Array:
        """Descriptive statistics T(x), (m, M), of new objects, in the order of the columns of ``exponents_``."""
        return self._statistics(self.check_rows(X))

    def _prepare(self, S: Array, codes: Indices, values: Any) -> None:
        """Compute all but the exponents: centroids, statistics of the training objects, Omega, priors."""
        G, blocks, each = len(self.classes_), st.slices(S), np.arange(len(codes))
        self._n_slices = len(blocks)
        centroids = np.stack([class_centroids(A, codes, G, rule=self.centroid, sign=self.sign) for A in blocks])
        self.centroids_ = centroids[0] if S.ndim == 2 else centroids
        self.class_count_ = np.bincount(codes, minlength=G)
        self.set_priors(codes)
        sums = [np.bincount(codes, A[each, own[codes]], minlength=G) for A, own in zip(blocks, centroids)]
        means = np.stack(sums) / np.maximum(self.class_count_, 1)
        chosen = st.as_list(self.statistic)
        self._read = st.Statistics(chosen, centroids, self.classes_[codes], codes, self.sign, means)
        self.keep_columns(centroids.ravel() if self._read.few else np.arange(len(codes)))
        T, self._widths = self._read(S, training=True)
        self._find_omegas(T, codes, blocks, values)
        # Class sums of each statistic's distance from both ends of Omega, and numbers of known values.
        member = (codes == np.arange(G)[:, None]).astype(np.float64)  # (G, n)
        known = ~np.isnan(T)
        self._known = member @ known
        both = [omega.offsets(np.where(known[:, m], T[:, m], omega.low)) for m, omega in enumerate(self._omegas)]
        self._sums = [member @ (np.stack(side, axis=1) * known) for side in zip(*both)]

    def _find_omegas(self, T: Array, codes: Indices, blocks: list[Array], values: Any) -> None:
        """Set Omega of each statistic: shared by entries of a slice, separate for any other statistic."""
        domain = st.check_domain(self.domain)
        of_slice = {}
        self._omegas = []
        for m, (source, q) in enumerate(self._read.sources(self._widths)):
            if source == "value":
                if q not in of_slice:
                    seen = st.training_values(domain, blocks[q]) if values is None else values[q]
                    of_slice[q] = st.omega_of(domain, seen)
                omega = of_slice[q]
            else:
                given = domain if source == "own" else st.with_products(domain, same=source == "square")
                omega = st.omega_of(given, np.unique(T[:, m]))
            if not isinstance(domain, str):
                name = f"Statistic {m} of an object of class"
                st.check_inside(omega, T[:, m], lambda at, name=name: f"{name} {quote(self.classes_[codes[at[0]]])}")
            self._omegas.append(omega)
        self.domain_ = st.public_domain(self._omegas)

    def _fit(self, S: Array, codes: Indices, shared: Any) -> Self:
        """[cazzanti2007] Eq. (3.4), (3.15) -> lambda_gm from the class means, shrunk by the pseudocount."""
        G, M = self._known.shape
        n, c = self._known, self.pseudocount
        self.exponents_, self.log_normalizers_, self._rates, self._log_z, self.means_ = np.empty((5, G, M))
        for columns, omega in self._same_omega():
            with np.errstate(invalid="ignore"):
                above, below = (
                    (sums[:, columns] + c * (sums[:, columns].sum(0) / n[:, columns].sum(0))) / (n[:, columns] + c)
                    for sums in self._sums
                )
            self.means_[:, columns] = omega.low + above if np.isfinite(omega.low) else omega.high - above
            flat = np.isnan(above)
            fitted = maxent_exponents(omega, np.where(flat, 1.0, above), np.where(flat, 1.0, below))
            if self.degenerate == "uniform":
                flat |= np.isinf(fitted.exponents)
            if flat.any():
                fitted = fitted.made_uniform(omega, flat)
            self.exponents_[:, columns], self.log_normalizers_[:, columns] = fitted.exponents, fitted.log_normalizers
            self._rates[:, columns], self._log_z[:, columns] = fitted.rates, fitted.log_partitions
        return self

    def _same_omega(self) -> Iterator[Any]:
        """Runs of columns that share Omega."""
        for _, run in groupby(range(len(self._omegas)), lambda m: id(self._omegas[m])):
            columns = list(run)
            yield slice(columns[0], columns[-1] + 1), self._omegas[columns[0]]

    def _statistics(self, Q: Array) -> Any:
        check_stack_width(Q, self._n_slices, self)
        return self._read(self.kept_columns(Q) if self._read.few else Q)[0]

    def _limits(self, Q: Array) -> Any:
        """[cazzanti2007] Eq. (3.16) -> log P(T(x) | g) = sum_m (lambda_gm T_m(x) + log gamma_gm)."""
        T = self._statistics(Q)
        classes = []
        for rates, log_z in zip(self._rates, self._log_z):
            runs = [exponential_terms(o, T[:, c], rates[c], log_z[c]).sum(axis=1) for c, o in self._same_omega()]
            classes.append(LogLimit(*(sum(parts) for parts in zip(*runs))))
        return LogLimit.of_classes(classes)

    def _exponentials(self) -> Any:
        """Data of SDADisplay: Omega, rates, log Z, log weights and the name of each statistic."""
        names = self._read.names(self._widths, self.classes_)
        return self._omegas, self._rates, self._log_z, np.zeros_like(self._rates), names


class NearestNeighborSDA(SDA):
    """Similarity discriminant analysis of the similarity to the nearest training object of each class (nnSDA).

    The same as ``SDA(statistic="nearest")``. The nearest-neighbor rule uses only which neighbor is nearest; this
    classifier uses the probability of that similarity in each class, [cazzanti2007] Eq. (3.12)-(3.14).

    Parameters
    ----------
    domain, pseudocount, degenerate, priors, costs, kind
        As in :class:`SDA`.

    Attributes
    ----------
    exponents_, log_normalizers_, means_ : ndarray of shape (G, G)
        lambda_gh, log gamma_gh and the mean similarity of class g to the nearest other object of class h.
    classes_, centroids_, domain_, priors_
        As in :class:`SDA`.

    Notes
    -----
    With few different similarities, the mean of a class is often at an end of Omega. The limit used here has an error
    up to twenty percentage points below the paper's tables for two and four features; ``degenerate="uniform"`` is close
    to these tables.

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
        self.domain, self.pseudocount, self.degenerate = domain, pseudocount, degenerate
        self.priors, self.costs, self.kind = priors, costs, kind
