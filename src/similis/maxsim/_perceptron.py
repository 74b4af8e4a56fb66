"""The perceptron in its dual, multi-class form. [bernal2003] sec. 4.2."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similis import _kernels
from similis._utils.arrays import Array, Indices
from similis._utils.messages import warn_user
from similis.base import Kind, at_least, choice
from similis.maxsim._base import ClassSimilarity, signed_similarities


class SimilarityPerceptron(ClassSimilarity):
    """Perceptron in dual, multi-class form: increase the weights of misclassified training objects.

    From alpha = 0: sweep through the objects; where (Sigma alpha)_i <= 0, add one to alpha_i; stop after a sweep that
    changes nothing. As the similarity tightens the decision tends to :class:`MaxSim`'s.

    Parameters
    ----------
    max_iter : int, default=100
        Largest number of sweeps.
    average : bool, default=False
        Use the weights averaged over all steps, which generalize better if the sweeps do not converge. No warning is
        given then.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        As in :class:`MaxSim`.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    alpha_ : ndarray of shape (n,)
        Weight of each training object, not negative.
    scale_ : float
        As in :class:`MaxSim`.
    n_iter_ : int
        Number of sweeps.
    fits_ : bool
        True if the last sweep changed nothing: the no-underfitting condition holds.
    columns_ : ndarray
        Training objects of positive weight.

    See Also
    --------
    SBC : Weights of least norm instead of the first feasible ones.

    References
    ----------
    [bernal2003] Proposition 4 and its corollary.

    Examples
    --------
    >>> from similis import SimilarityPerceptron
    >>> SimilarityPerceptron().fit([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]], [0, 0, 1]).alpha_
    array([1., 0., 1.])
    """

    _parameter_constraints = {
        "max_iter": [at_least(1)],
        "average": ["boolean"],
        "kind": [choice("similarity", "dissimilarity")],
    }
    _added_params = ("kind",)  # since 1.0

    def __init__(self, *, max_iter: int = 100, average: bool = False, kind: Kind = "similarity") -> None:
        self.max_iter = max_iter
        self.average = average
        self.kind = kind

    def learn(self, S: Array, codes: Indices) -> None:
        Sigma = np.ascontiguousarray(signed_similarities(S, codes).T, dtype=np.float64)
        alpha, total = np.zeros(len(S)), np.zeros(len(S))
        self.n_iter_, self.fits_ = _kernels.perceptron(Sigma, self.max_iter, alpha, total)
        if not self.fits_ and not self.average:  # averages are meant for sweeps that do not end
            warn_user(
                "SimilarityPerceptron made max_iter sweeps without classifying every training object; raise max_iter, "
                "set average=True, or use a tighter similarity.",
                ConvergenceWarning,
            )
        self._set_weights(total if self.average else alpha, codes)
