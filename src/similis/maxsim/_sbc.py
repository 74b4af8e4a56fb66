"""SBC: the smallest weights under which every training object is most similar to its own class. [bernal2003] sec. 5."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similis._utils.arrays import Array, Indices
from similis._utils.linalg import row_distances
from similis._utils.messages import warn_user
from similis._utils.threads import single_blas_thread
from similis.base import PathMixin, Points, estimator, param, positive, quote
from similis.exceptions import ProximityError
from similis.maxsim._base import ClassSimilarity, class_sums, fits
from similis.solvers import ClassMargin, MarginWeights


@estimator
class SBC(PathMixin, ClassSimilarity):
    """Similarity based classifier: weights of least norm that classify the training objects with a margin.

    min |alpha|^2 subject to Sigma alpha >= 1, alpha >= 0, where Sigma holds the similarities with a minus sign between
    classes. It handles any number of classes. See [bernal2003] Eq. (1)-(5), sec. 5.

    Parameters
    ----------
    C : float or None, default=None
        Cost of violating a constraint, for noisy data: |alpha|^2 + C sum xi. None allows no violation.
    strong : bool, default=True
        Require each object to be more similar to its class than to all others together, as in the paper. False requires
        it for each other class separately, which is weaker.
    normalize : bool, default=False
        Scale the rows of Sigma to length one, as the paper assumes for its argument. It changes the solution.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        As in :class:`MaxSim`.

    Attributes
    ----------
    classes_, scale_
        As in :class:`MaxSim`.
    alpha_ : ndarray of shape (n,)
        Weight of each training object, not negative; ``columns_`` are the objects of positive weight.
    objective_, gap_ : float
        |alpha|^2 + C sum xi, and the relative duality gap, an upper bound of the distance to the minimum.
    fits_, tight_ : bool
        True if Sigma alpha > 0 for ``alpha_`` (with ``strong=False`` for each other class separately), and for equal
        weights, as in :class:`MaxSim`.
    n_iter_ : int
        Steps of the solver.

    Notes
    -----
    The paper's strict inequalities are read as weak ones. Without C the constraints may have no solution, which is an
    error. Most weights are positive: this is not a sparse method. (The paper prints its RBF without the minus sign.)

    Examples
    --------
    >>> from similis import SBC
    >>> S = [[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]]
    >>> SBC().fit(S, [0, 0, 1]).alpha_.round(3)
    array([0.667, 0.917, 1.25 ])
    """

    C: float | None = param(None, positive(), None)
    strong: bool = param(True, "boolean")
    normalize: bool = param(False, "boolean")

    _added_params = ("kind",)  # since 1.0
    path_params = ("C",)

    def learn(self, S: Array, codes: Indices) -> None:
        S = self._fit_conversion(S)
        found = self._solve(self._problem(S, codes), self.C, S, codes)
        self.objective_, self.gap_, self.n_iter_ = found.objective, found.gap, found.n_iter
        self.fits_ = fits(S, found.alpha, codes, strong=self.strong)
        self.tight_ = fits(S, np.ones(len(S)), codes)
        self._set_weights(found.alpha, codes)

    def path_scores(
        self, S: Array, codes: Indices, Q: Array, points: Points, starts: dict[Any, Array] | None = None
    ) -> list[Array]:
        """Class similarities for every C, in ascending order; `starts` are multipliers by C."""
        S = self._fit_conversion(S)
        weights, _ = self._solve_path(S, codes, points, starts or {})
        Q = self._as_similarities(Q)
        return [class_sums(Q, weights[point["C"]], codes) for point in points]

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        """Start the solver of each fold at the multipliers of all objects; the solution does not depend on them."""
        _, starts = self._solve_path(copy(self)._fit_conversion(S), codes, points, {})

        def restricted(fold: int) -> dict[str, Any]:
            train = test_fold != fold
            columns = slice(None) if self.strong else np.unique(codes[train])  # the classes present
            return {"starts": {C: u[train][:, columns] for C, u in starts.items()}}

        return self.score_folds(S, codes, test_fold, points, (restricted(fold) for fold in np.unique(test_fold)))

    def _problem(self, S: Array, codes: Indices) -> ClassMargin:
        return ClassMargin(S, codes, each=not self.strong, normalize=self.normalize)

    def _solve_path(
        self, S: Array, codes: Indices, points: Points, starts: dict[Any, Array]
    ) -> tuple[dict[Any, Array], dict[Any, Array]]:
        """Return weights by C, and multipliers by C except for None."""
        weights, multipliers = {}, {}
        with single_blas_thread():  # once for all C
            problem = self._problem(S, codes)
            for C in sorted({point["C"] for point in points}, key=lambda C: np.inf if C is None else C):
                if C in starts:
                    problem.start(starts[C], C)
                weights[C] = self._solve(problem, C, S, codes).alpha
                if C is not None:
                    multipliers[C] = problem.multipliers
        return weights, multipliers

    def _solve(self, problem: ClassMargin, C: float | None, S: Array, codes: Indices) -> MarginWeights:
        found = problem.solve(C)
        if not found.feasible:
            reason = "no weights make every training object most similar to its own class"
            remedy = "use a tighter similarity (a smaller RBF width)"
            pairs = np.argwhere((row_distances(S, S) <= 1e-9 * np.abs(S).max()) & (codes[:, None] < codes))
            if pairs.size:
                a, b = (f"{k} (class {quote(self.classes_[codes[k]])})" for k in sorted(pairs[0]))
                reason, remedy = f"objects {a} and {b} have equal rows but different classes", "remove one"
            raise ProximityError(f"SBC without C has no solution: {reason}. Set C to allow violations, or {remedy}.")
        if found.gap > 1e-6:
            warn_user(
                f"SBC stopped at a relative gap of {found.gap:.1g}: the constraints are nearly infeasible. Set C to "
                "allow violations, or use a tighter similarity.",
                ConvergenceWarning,
            )
        return found
