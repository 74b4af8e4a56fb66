"""Mixture similarity discriminant analysis. [cazzanti2007] ch. 5."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from similis import _kernels
from similis._utils.arrays import Array, Indices
from similis._utils.disk import take_block
from similis._utils.fitted import fitted_indices, fitted_part, fitted_reals
from similis._utils.messages import warn_user
from similis._utils.threads import row_blocks
from similis.base import at_least, between, check_per_class, choice, estimator, param, quote
from similis.discriminant import _statistics as st
from similis.discriminant._base import ExponentialClassifier, LogLimit, exponential_terms
from similis.solvers import Omega, k_medoids

_CANDIDATES = (1, 2, 3, 4, 5, 7, 10)  # numbers of components that the information criteria compare


@estimator
class MixtureSDA(ExponentialClassifier):
    """Similarity discriminant analysis with several centroids per class.

    The similarities of the objects of class g to the centroids of class h follow a mixture of exponentials,

        P(s(x, mu_h1), .., s(x, mu_hc) | g) = sum_l w_ghl gamma_ghl exp(lambda_ghl s(x, mu_hl)),

    fitted for each pair of classes by expectation maximization, [cazzanti2007] Eq. (5.7)-(5.18), sec. 7.2.1.

    Parameters
    ----------
    n_components : int, array-like of shape (G,), "bic" or "aic", default=2
        Number of centroids of every class, or of each class; fewer for a class with fewer distinct objects. "bic" and
        "aic" choose 1, 2, 3, 4, 5, 7 or 10 for each class by the Bayesian or Akaike information criterion.
    init : {"uniform", "medoids"}, default="uniform"
        First responsibilities: all equal, or one for the nearest centroid.
    max_iter : int, default=30
        Largest number of iterations of expectation maximization for each pair of classes.
    tol : float, default=1e-6
        Stop when the log-likelihood rises by less than this fraction of itself.
    update_centroids : bool, default=False
        Recompute the centroids from the responsibilities while that raises the likelihood (sec. 7.2.1).
    n_init : int, default=10
        Random starts of the k-medoids clustering that finds the centroids; the largest total similarity is kept.
    random_state : int, RandomState or None
        Random seed of the starts.
    pseudocount : float, default=0.0
        Number of objects of average similarity added to each component, which removes point masses.
    domain, priors, costs, kind
        As in :class:`SDA`.

    Attributes
    ----------
    classes_, n_components_ : ndarray of shape (G,)
        Class labels, and number of centroids of each class.
    n_iter_ : int
        Iterations of the longest path.
    centroids_ : ndarray of shape (G, c)
        Training indices of each class's centroids, the columns that ``predict`` reads; -1 where a class has fewer.
    weights_, exponents_, log_normalizers_ : ndarray of shape (G, G, c)
        w_ghl, zero for a missing component; lambda_ghl, infinite for a point mass; log gamma_ghl.
    log_likelihood_path_ : ndarray of shape (G, G, n_iter_)
        Log-likelihood of the objects of class g under their mixture for class h after each iteration; a path that ended
        earlier goes on with its last value. It never decreases. With a pseudocount the added objects count.
    columns_, domain_, priors_
        As in :class:`SDA`.

    Notes
    -----
    Equal first responsibilities do not stay equal, because component l models its own statistic s(x, mu_hl). "The
    log-likelihood" of figure 5.1 of the paper is that of the mixture; eq. (5.13) is the function that one iteration
    maximizes. On an interval the likelihood has no upper bound, as for Gaussian mixtures; a pseudocount gives it one.
    BIC and AIC of class h are those of its G mixtures together, with c_h exponents and c_h - 1 weights each. An
    empirical Omega of more than 2^21 values is represented by a sample, see :class:`SDA`.

    Examples
    --------
    >>> from similis import MixtureSDA, make_similarity
    >>> S, y = make_similarity(60, random_state=0)
    >>> MixtureSDA(max_iter=100, random_state=0).fit(S, y).exponents_[0].round(1)
    array([[ 25.5,   5.5],
           [-13.9,  -9.6]])
    """

    n_components: Any = param(2, at_least(1), choice("bic", "aic"), "array-like")
    init: str = param("uniform", choice("uniform", "medoids"))
    max_iter: int = param(30, at_least(1))
    tol: float = param(1e-6, between(0, None, "left"))
    update_centroids: bool = param(False, "boolean")
    n_init: int = param(10, at_least(1))
    random_state: Any = param(None, "random_state")
    domain: Any = param("empirical", choice("empirical", "continuous"), tuple, "array-like")
    pseudocount: float = param(0.0, between(0, None, "left"))
    priors: Any = param(None, choice("laplace"), "array-like", None)
    costs: Any = param(None, "array-like", None)
    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "centroids_": fitted_indices("G", "c", low=-1),
        "weights_": fitted_reals("G", "G", "c", low=0),
        "_omega": fitted_part(Omega),
        "priors_": fitted_reals("G", low=0),
        **dict.fromkeys(
            ("_rates", "_log_z", "exponents_", "log_normalizers_"), fitted_reals("G", "G", "c", nan=True, infinite=True)
        ),
    }
    path_params = ("n_components", "init", "pseudocount", "update_centroids")

    def _prepare(self, S: Array, codes: Indices, values: Any) -> None:
        domain = st.check_domain(self.domain)
        self._omega = st.omega_of(domain, st.training_values(domain, S) if values is None else values[0])
        self.domain_ = st.public_domain([self._omega])
        self.set_priors(codes)
        self._seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(self.classes_))

    def _fit(self, S: Array, codes: Indices, shared: Any) -> Self:
        """Fit to a validated matrix; `shared` keeps the first centroids by class and number."""
        G = len(self.classes_)
        members = [np.flatnonzero(codes == h) for h in range(G)]
        if isinstance(self.n_components, str):
            numbers = [[k for k in _CANDIDATES if k <= len(own)] for own in members]
        else:
            numbers = [[k] for k in check_per_class(self.n_components, G, "n_components")]
        fits = []
        for h, ks in enumerate(numbers):
            tried = []
            for k in ks:
                if (h, k) not in shared:
                    options = {"sign": self.sign, "n_init": self.n_init, "random_state": self._seeds[h]}
                    found = k_medoids(take_block(S, members[h], members[h]), k, method="alternating", **options)
                    shared[h, k] = members[h][found.medoids]
                tried.append(self._fit_class(S, members, h, shared[h, k]))
            fits.append(tried[0] if len(tried) == 1 else min(tried, key=lambda fit: self._criterion(fit, len(codes))))
        self._collect(fits)
        return self

    def _criterion(self, fit: Any, n: int) -> float:
        """[cazzanti2007] sec. 5.1 -> BIC or AIC of the mixtures for the centroids of one class."""
        centroids, pairs = fit
        n_parameters = len(pairs) * (2 * len(centroids) - 1)
        likelihood = sum(float(pair["path"][-1]) for pair in pairs)
        return (np.log(n) if self.n_components == "bic" else 2.0) * n_parameters - 2 * likelihood

    def _fit_class(self, S: Array, members: Any, h: Any, centroids: Indices) -> Any:
        """Fit mixtures of all classes for the centroids of class h, updated while that raises the likelihood."""
        best = self._fit_pairs(S, members, centroids)
        while self.update_centroids:
            moved = self._move(S, members[h], best[h]["share"])
            if np.array_equal(moved, np.sort(centroids)):
                break
            again = self._fit_pairs(S, members, moved)
            before, after = (sum(fit["path"][-1] for fit in fits) for fits in (best, again))
            if not after > before + self.tol * (1 + abs(before)):
                break
            centroids, best = moved, again
        return centroids, best

    def _move(self, S: Array, members: Any, share: Array) -> Any:
        """[cazzanti2007] Eq. (2.8) with responsibilities: mu_l = argmax_mu sum_z P(l | z) s(z, mu), all different."""
        n = len(members)
        totals: Any = self.sign * sum(share[a].T @ S[np.ix_(members[a], members)] for a in row_blocks(n, n))  # (c, n_h)
        chosen: list[int] = []
        for total in totals:
            total[chosen] = -np.inf
            chosen.append(int(np.argmax(total)))
        return np.sort(members[chosen])

    def _fit_pairs(self, S: Array, members: Any, centroids: Indices) -> Any:
        """One mixture per class g for its similarities to `centroids`. [cazzanti2007] sec. 5.3."""
        omega, c = self._omega, len(centroids)
        T = S[:, centroids].astype(np.float64)
        if not isinstance(self.domain, str):
            owner = {int(row): quote(label) for label, rows in zip(self.classes_, members) for row in rows}
            st.check_inside(
                omega, T, lambda at: f"The similarity of an object of class {owner[int(at[0])]} to centroid {at[1]}"
            )
        offsets = [side / omega.width for side in omega.offsets(T)]
        pooled = np.stack([side.mean(axis=0) for side in offsets])
        fits = []
        for rows in members:
            above, below = (side[rows] for side in offsets)
            share = np.full((len(rows), c), 1.0 / c)
            if self.init == "medoids":
                share = np.eye(c)[np.argmax(self.sign * T[rows], axis=1)]
            work = share, np.empty(c), np.empty(c), np.empty(c)
            path = np.empty(self.max_iter)
            options = float(self.pseudocount), omega.arrays(0), float(self.tol)
            n_iter = _kernels.mixture_em(above, below, pooled, *options, *work, path)
            fit = dict(zip(("share", "weights", "rates", "log_z"), work))
            fits.append({**fit, "path": path[:n_iter], "ended": n_iter < self.max_iter})
        return fits

    def _collect(self, fits: Any) -> None:
        """Set the arrays over (g, h, l); warn if expectation maximization did not converge."""
        G = len(self.classes_)
        c = max(len(centroids) for centroids, _ in fits)
        self.n_components_ = np.array([len(centroids) for centroids, _ in fits])
        self.n_iter_ = max(len(fit["path"]) for _, pairs in fits for fit in pairs)
        self.centroids_ = np.full((G, c), -1, dtype=np.intp)
        self.weights_, self._rates, self._log_z = np.zeros((3, G, G, c))
        self.log_likelihood_path_ = np.empty((G, G, self.n_iter_))
        for h, (centroids, pairs) in enumerate(fits):
            self.centroids_[h, : len(centroids)] = centroids
            for g, fit in enumerate(pairs):
                place = g, h, slice(len(centroids))
                self.weights_[place], self._rates[place] = fit["weights"], fit["rates"]
                self._log_z[place] = fit["log_z"]
                self.log_likelihood_path_[g, h] = np.pad(fit["path"], (0, self.n_iter_ - len(fit["path"])), mode="edge")
        fitted = self._omega.exponentials(self._rates, self._log_z)
        self.exponents_, self.log_normalizers_, self._rates, self._log_z = fitted
        self.keep_columns(np.where(self.centroids_ < 0, self.centroids_[:, :1], self.centroids_).ravel())
        if self.tol > 0 and not all(fit["ended"] for _, pairs in fits for fit in pairs):
            warn_user(
                f"Expectation maximization did not converge in max_iter={self.max_iter} iterations. Raise max_iter or "
                "tol.",
                ConvergenceWarning,
            )

    def _limits(self, Q: Array) -> Any:
        """[cazzanti2007] Eq. (5.8) -> log prod_h sum_l w_ghl gamma_ghl exp(lambda_ghl s(x, mu_hl))."""
        T = self.kept_columns(Q).astype(np.float64).reshape(len(Q), *self.centroids_.shape)  # (m, G, c)
        return LogLimit.of_classes(
            exponential_terms(self._omega, T, rates, log_z).mix(log_w, axis=2).sum(axis=1)
            for rates, log_z, log_w in zip(self._rates, self._log_z, self._log_weights)
        )

    @property
    def _log_weights(self) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(self.weights_)

    def _exponentials(self) -> Any:
        """Data of SDADisplay: Omega, rates, log Z, log weights and the name of each component's similarity."""
        there = self.centroids_ >= 0
        shown = (values[:, there] for values in (self._rates, self._log_z, self._log_weights))
        names = [f"s(x, centroid {i + 1} of {self.classes_[h]})" for h, i in np.argwhere(there)]
        return [self._omega] * len(names), *shown, names
