"""Relational generalized learning vector quantization: a few learned prototypes per class. [hammer2014]."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Floats, Indices, Mask
from similis._utils.fitted import fitted_indices, fitted_reals
from similis._utils.linalg import take_symmetric_part
from similis._utils.threads import single_blas_thread
from similis.base import DecisionMixin, ProximityClassifier, at_least, choice, estimator, param
from similis.solvers import k_medoids


@estimator
class RelationalGLVQ(DecisionMixin, ProximityClassifier):
    """Classify by the nearest of a few learned prototypes per class (relational GLVQ).

    A prototype is a weighted mean of training objects, w_j = sum_i a_ji x_i with sum_i a_ji = 1, in the space that the
    proximities define. Its squared distances need the proximities only:

        d(x, w_j) = sum_i a_ji d(x, x_i)^2 - 1/2 sum_ik a_ji a_jk d(x_i, x_k)^2.

    Training minimizes the mean of (d+ - d-) / (|d+| + |d-|), where d+ and d- are the distances of an object to the
    nearest prototype of its class and of another class. See [hammer2014].

    Parameters
    ----------
    n_prototypes : int, default=1
        Prototypes per class; a class with fewer distinct objects gets as many as it has.
    max_iter : int, default=50
        Largest number of L-BFGS iterations.
    random_state : int, RandomState instance or None
        For the clusters that the prototypes start from.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix; similarities are inner products, d(x, z)^2 = s(x, x) + s(z, z) - 2 s(x, z).

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    asymmetry_ : float
        ||S - S'|| / (2 ||S||); the symmetric part of S is used, with a warning if S is asymmetric.
    weights_ : ndarray of shape (p, n)
        a, one row per prototype.
    prototype_classes_, offsets_ : ndarray of shape (p,)
        Class code of each prototype, and the part of its distance that does not depend on the new object.
    objective_, n_iter_ : float, int
        Mean of the minimized terms, between -1 and 1, and the number of iterations.

    Notes
    -----
    The paper divides by d+ + d-, which is the same unless a squared distance is negative. The weights may be negative,
    which gives lower objectives than convex combinations.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import RelationalGLVQ
    >>> x = np.array([0.0, 1, 2, 7, 8, 9])
    >>> model = RelationalGLVQ(kind="dissimilarity", random_state=0).fit(np.abs(x[:, None] - x), [0, 0, 0, 1, 1, 1])
    >>> model.predict(np.abs(np.array([[3.0], [6.0]]) - x))
    array([0, 1])
    """

    n_prototypes: int = param(1, at_least(1))
    max_iter: int = param(50, at_least(1))
    random_state: Any = param(None, "random_state")
    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "weights_": fitted_reals("p", "n"),
        "offsets_": fitted_reals("p"),
        "prototype_classes_": fitted_indices("p", below="G"),
    }

    @single_blas_thread()
    def learn(self, S: Array, codes: Indices) -> None:
        S = take_symmetric_part(np.asarray(S, dtype=np.float64), self)
        D = S**2 if self.kind == "dissimilarity" else np.diag(S)[:, None] + np.diag(S) - 2 * S
        D = D / (float(np.abs(D).max()) or 1.0)  # the objective does not depend on the unit, the stopping rule might
        A, self.prototype_classes_ = self._start(D, codes)
        self.objective_, self.n_iter_ = -1.0, 0
        if len(self.classes_) > 1:
            own = codes[:, None] == self.prototype_classes_
            options = {"maxiter": self.max_iter, "ftol": 1e-6}
            found = minimize(_cost, A.ravel(), (D, own), jac=True, method="L-BFGS-B", options=options)
            A, self.objective_, self.n_iter_ = found.x.reshape(A.shape), float(found.fun), int(found.nit)
        self.weights_ = A + (1 - A.sum(axis=1, keepdims=True)) / A.shape[1]
        # [hammer2014] -> d(x, w), without terms that are the same for all prototypes
        products = self.weights_ @ (-0.5 * S**2 if self.kind == "dissimilarity" else S)
        self.offsets_ = np.einsum("pi,pi->p", products, self.weights_)

    def _start(self, D: Floats, codes: Indices) -> tuple[Any, Any]:
        """Means of the clusters around the medoids of each class, and their classes."""
        rng = check_random_state(self.random_state)
        weights, classes = [], []
        for g in range(len(self.classes_)):
            members = np.flatnonzero(codes == g)
            k = min(self.n_prototypes, len(members))
            labels = k_medoids(D[np.ix_(members, members)], k, sign=-1, random_state=rng).labels
            for cluster in np.unique(labels):
                mean = np.zeros(len(codes))
                mean[members[labels == cluster]] = 1 / np.count_nonzero(labels == cluster)
                weights.append(mean)
                classes.append(g)
        return np.array(weights), np.array(classes, dtype=np.intp)

    def class_scores(self, Q: Array) -> Array:
        rows = np.asarray(Q, dtype=np.float64)
        d = (rows**2 if self.kind == "dissimilarity" else -2 * rows) @ self.weights_.T + self.offsets_
        return np.stack([-d[:, self.prototype_classes_ == g].min(axis=1) for g in range(len(self.classes_))], axis=1)


def _cost(flat: Floats, D: Floats, own: Mask) -> tuple[float, Array]:
    """Mean of (d+ - d-) / (|d+| + |d-|) and its gradient; rows of weights are shifted so that they sum to one."""
    n, p = own.shape
    A = flat.reshape(p, n)
    A = A + (1 - A.sum(axis=1, keepdims=True)) / n
    AD = A @ D
    d = (AD - 0.5 * np.einsum("pi,pi->p", AD, A)[:, None]).T  # (n, p)
    each = np.arange(n)
    near, far = np.where(own, d, np.inf).argmin(axis=1), np.where(own, np.inf, d).argmin(axis=1)
    plus, minus = d[each, near], d[each, far]
    size = np.maximum(np.abs(plus) + np.abs(minus), 1e-12)
    mu = (plus - minus) / size
    slope = np.zeros((n, p))
    slope[each, near] = (1 - mu * np.sign(plus)) / size
    slope[each, far] = (-1 - mu * np.sign(minus)) / size
    # The gradient of d(x_i, w_j) in a_j is D_i - D a_j.
    gradient = (slope.T @ D - slope.sum(axis=0)[:, None] * AD) / n
    gradient -= gradient.mean(axis=1, keepdims=True)  # of the shift
    return float(mu.mean()), gradient.ravel()
