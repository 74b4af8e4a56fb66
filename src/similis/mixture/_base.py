"""The mixture that all classifiers of this family end in, and what follows from it. [qiao2013] sec. 2.1, 3."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from similis._utils.base import FewColumnsMixin
from similis._utils.bayes import BayesClassifier
from similis._utils.decision import class_priors
from similis._utils.storable import storable
from similis._utils.threads import row_blocks
from similis.exceptions import ProximityError

__all__ = ["HLMClassifier", "Mixture", "check_symmetric"]


@storable
class Mixture:
    """Components at some objects, class by class, each with its scale, each class with its shape."""

    def __init__(self, centroids, codes, members, shapes, scales, priors):
        self.centroids, self.codes, self.scales, self.shapes = centroids, codes, scales, shapes
        self.first = np.searchsorted(codes, np.arange(len(shapes)))
        self.sizes = np.add.reduceat(members, self.first)  # objects of each class
        self.weights = members / self.sizes[codes]
        self.priors = class_priors(priors, self.sizes)
        with np.errstate(divide="ignore"):
            self.log_priors = np.log(self.priors)

    def log_density(self, Q, columns):
        """Two parts of log phi(z | M_k): one common to all classes, (m,), and the rest, (m, G).

        Apart they stay finite however far an object is. The centroids stand in the given columns of `Q`.
        """
        common, rest = np.empty(len(Q)), np.empty((len(Q), len(self.shapes)))
        for rows in row_blocks(len(Q), len(columns)):
            common[rows], rest[rows] = self._log_density(Q[rows][:, columns])
        return common, rest

    def _log_density(self, D):
        x = np.asarray(D, dtype=np.float64) / np.sqrt(self.scales)  # (m, components)
        nearest = x.min(axis=1, keepdims=True)
        # [qiao2013] Eq. (5) -> phi(z | M_k) = sum_j w_j (pi b_j)^-s exp(-D^2(z, eta_j) / b_j)
        # relative to (pi b_1)^-s_1, which may be so large that the rest would drown in its round-off
        s, unit = self.shapes[self.codes], self.scales[0]
        common = -s[0] * np.log(np.pi * unit)
        height = np.log(self.weights) - s * np.log(self.scales / unit) - (s - s[0]) * np.log(np.pi * unit)
        with np.errstate(over="ignore", divide="ignore"):
            E = height - (x - nearest) * (x + nearest)
            peak = np.maximum.reduceat(E, self.first, axis=1)
            peak = np.where(np.isfinite(peak), peak, 0.0)
            E -= peak[:, self.codes]
            rest = np.log(np.add.reduceat(np.exp(E, out=E), self.first, axis=1)) + peak
            return common - np.square(nearest[:, 0]), rest

    def discriminants(self, Q, columns=None):
        """[qiao2013] Eq. (6) -> log pi_k phi(z | M_k), up to a number common to all classes."""
        return self.log_priors + self.log_density(Q, self.centroids if columns is None else columns)[1]


class HLMClassifier(FewColumnsMixin, BayesClassifier):
    """Classifies by mixtures on distances to centroids; ``fit`` ends in :meth:`_set_mixture`."""

    _reads = "dissimilarity"

    def _set_mixture(self, mixture, shape_estimates, shared):
        """Keep the model and publish its parts."""
        self._mixture = mixture
        self.centroids_, self.component_classes_ = mixture.centroids, mixture.codes
        self.component_priors_, self.scales_, self.priors_ = mixture.weights, mixture.scales, mixture.priors
        self.shape_ = float(mixture.shapes[0]) if shared else mixture.shapes
        self.shape_estimate_ = float(shape_estimates[0]) if shared else shape_estimates
        self._keep_columns(mixture.centroids)

    def log_density(self, X):
        """Log pseudo-density of new objects in each class, log phi(z | M_k).

        Parameters
        ----------
        X : array-like of shape (m, n)
            Distances of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, G)
            Columns in the order of ``classes_``.
        """
        common, rest = self._mixture_of(X)
        return common[:, None] + rest

    def score_samples(self, X):
        """Log pseudo-density of new objects under all classes together, log sum_k pi_k phi(z | M_k): low is abnormal.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Distances of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m,)
        """
        common, rest = self._mixture_of(X)
        return common + logsumexp(self._mixture.log_priors + rest, axis=1)

    def _mixture_of(self, X):
        return self._mixture.log_density(self._check_query(X), self._kept_places)

    def _discriminants(self, Q):
        return self._mixture.discriminants(Q, self._kept_places)


def check_symmetric(D, who):
    """Refuse distances that depend on their direction by more than round-off."""
    largest, place = 0.0, (0, 0)
    for rows in row_blocks(*D.shape):
        if np.array_equal(D[rows, rows.start :], D[rows.start :, rows].T):
            continue
        gap = np.abs(D[rows, rows.start :] - D[rows.start :, rows].T)
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        if gap[i, j] > largest:
            largest, place = float(gap[i, j]), (rows.start + int(i), rows.start + int(j))
    if largest > (1e-4 if D.dtype == np.float32 else 1e-6) * D.max():
        i, j = place
        raise ProximityError(
            f"{who} needs symmetric distances. Got {D[i, j]:.6g} at row {i}, column {j} and {D[j, i]:.6g} the other "
            "way round. Average both directions with symmetrize(D), or put Symmetrize() in front."
        )
