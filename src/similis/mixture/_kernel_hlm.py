"""Kernel HLM: one component per training object. [qiao2013] sec. 3.2."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Indices
from similis._utils.disk import take_block
from similis.base import Points, at_least, choice, estimator, param, positive
from similis.mixture import _base as hlm


@estimator
class KernelHLM(hlm.HLMClassifier):
    """Classify by a kernel density estimate from distances.

    Each class is assumed to be mapped into a Euclidean space with preserved distances, where its density is a sum of
    isotropic Gaussians at its objects:

        phi(z | k) = (1/n_k) sum over i in k of (pi b)^-s exp(-D(z, i)^2 / b).

    The dimension 2s and the variance b/2 come from a gamma distribution of shape s and scale b, fitted to the squared
    distances of the objects to their nearest neighbors in the class. No parameter needs tuning. See [qiao2013] sec.
    3.2, Eq. (6).

    Parameters
    ----------
    shape : float or None, default=None
        s; None estimates it.
    scale : float or None, default=None
        b, in units of squared distance; None estimates it for the s in use.
    shared : bool, default=True
        Use the same s and b for all classes, as in the paper, or separate ones per class.
    max_samples : int or None, default=None
        Number of objects kept per class, chosen at random (sec. 5.4, for large classes).
    priors : array-like of shape (G,), "laplace" or None
        Class probabilities; None takes the training frequencies, "laplace" adds one to each count.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of predicting f when g is true.
    random_state : int, RandomState instance or None
        For `max_samples`.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (G,)
        Class labels and probabilities.
    shape_, shape_estimate_, scale_ : float, or ndarray of shape (G,) without sharing
        s, the estimate rounded to half a whole dimension, or `shape` as given; s before rounding; b.
    centroids_, component_classes_ : ndarray of shape (M,)
        Training indices of the components, that is, of the objects kept, class by class, and their class codes.
    columns_ : ndarray
        Training objects whose columns ``predict`` reads: the components.
    scales_, component_priors_ : ndarray of shape (M,)
        b of each component, and its weight within its class, 1/n_k.

    Notes
    -----
    b is the mean divided by the unrounded estimate of s. Objects whose nearest neighbor is a duplicate are left out of
    the estimation. If nothing remains, only the duplicates are ignored; with no two different objects in any class, s
    is 1/2 and b comes from distances between classes. Equal distances to nearest neighbors make s infinite. Then s and
    b are those of :class:`MixtureHLM` with one component per class, since the paper takes them from that model for such
    data (sec. 5.2, Patrol) without specifying the number of components. If these distances are equal too, s is limited
    to 1e10, where only the nearest objects matter; without sharing, such a class has the s of all classes.

    With shared parameters, predictions do not depend on the unit of distance. With ``shared=False`` densities in spaces
    of different dimension are compared, as the paper proposes, and these depend on the unit.

    Examples
    --------
    >>> from similis import KernelHLM, Minkowski, load_sonar
    >>> X, y = load_sonar(return_X_y=True)
    >>> D = Minkowski().fit(X).matrix(X)
    >>> model = KernelHLM().fit(D[::2, ::2], y[::2])
    >>> model.shape_, round(model.score(D[1::2, ::2], y[1::2]), 2)
    (1.5, 0.82)
    """

    shape: float | None = param(None, positive(), None)
    scale: float | None = param(None, positive(), None)
    shared: bool = param(True, "boolean")
    max_samples: int | None = param(None, at_least(1), None)
    priors: Any = param(None, "array-like", choice("laplace"), None)
    costs: Any = param(None, "array-like", None)
    random_state: Any = param(None, "random_state")

    path_params = ("shape", "scale", "shared")

    def learn(self, S: Array, codes: Indices) -> None:
        hlm.check_symmetric(S, type(self).__name__)
        mixture, estimates = self._mix(codes, self._select(S, codes), vars(self))
        self._set_mixture(mixture, estimates, self.shared)
        scale = mixture.scales[mixture.first]
        self.scale_ = float(scale[0]) if self.shared else scale

    def _select(self, D: Array, codes: Indices) -> Any:
        """Kept objects, class by class, and the two statistics of their distances that `estimate` reads."""
        kept = np.argsort(codes, kind="stable")
        if self.max_samples is not None:
            rng = check_random_state(self.random_state)
            classes = np.split(kept, np.cumsum(np.bincount(codes))[:-1])
            kept = np.concatenate([np.sort(rng.permutation(g)[: self.max_samples]) for g in classes])
        part, own = (D, codes) if len(kept) == len(D) else (take_block(D, kept, kept), codes[kept])
        neighbors = hlm.neighbor_statistics(part, own, len(self.classes_))
        return kept, lambda: neighbors, lambda: hlm.whole_classes(part, own)

    def _mix(self, codes: Indices, selected: Any, params: Any) -> Any:
        """Mixture for `shape`, `scale` and `shared` of `params`, and the shapes before rounding."""
        kept, *statistics = selected
        own, size = codes[kept], np.bincount(codes)
        members = (size / np.bincount(own))[own]  # objects represented by each kept one
        alone = hlm.Clusters.empty(members)  # without distances, so that `estimate` reads those to nearest neighbors
        # [qiao2013] sec. 3.2 -> log s - psi(s) = log(mean u / geometric mean u), b = mean u / s
        estimates, scales = hlm.estimate(alone, own, len(self.classes_), params["shared"], *statistics)
        shapes = hlm.round_shape(estimates)
        if params["shape"] is not None:
            scales = scales * estimates[own] / params["shape"]
            shapes = estimates = np.full_like(estimates, params["shape"])
        if params["scale"] is not None:
            scales = np.full_like(scales, params["scale"])
        return hlm.Mixture(kept, own, members, shapes, scales, self.priors), estimates

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        hlm.check_symmetric(S, type(self).__name__)
        selected = self._select(S, codes)
        return [self._mix(codes, selected, point)[0].discriminants(Q) for point in points]
