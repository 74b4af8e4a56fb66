"""MaxSim and the dual perceptron. [bernal2003] sec. 3.3, 4.2."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similis import _kernels
from similis._utils.arrays import Array, Indices
from similis._utils.messages import warn_user
from similis.base import at_least, check_labels, check_proximity, choice, estimator, param, validated_function
from similis.maxsim._base import ClassSimilarity, fits, signed_similarities
from similis.proximity import Tighten


@estimator
class MaxSim(ClassSimilarity):
    """Classify by the largest summed similarity to a class, [bernal2003] Eq. (6).

    Parzen windows, the kernel perceptron and support vector machines tend to it as the similarity becomes tighter.

    Parameters
    ----------
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of the proximities. Dissimilarities become s = exp(-8 d / d_m), d_m the median of the training pairs.

    Attributes
    ----------
    classes_, alpha_ : ndarray of shape (G,), (n,)
        Class labels, and the weights of the training objects: ones.
    tight_ : bool
        True if each training object is more similar to its class than to all others together: the similarity is tight
        fitting ([bernal2003] sec. 3.3). A larger `q` of :class:`~similis.Tighten` helps, see :func:`tightness`.
    scale_ : float
        For dissimilarities, d_m / 8: s = exp(-d / ``scale_``).

    Notes
    -----
    Sums favor large classes where the similarity is not tight: put :class:`~similis.Tighten` in front and search its
    `q`, balance the classes, or see :class:`SBC`. :class:`~similis.ToSimilarity` in front is another conversion.

    Examples
    --------
    >>> from similis import MaxSim
    >>> MaxSim().fit([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.0]], ["a", "a", "b"]).predict([[1.0, 1.0, 1.5]])
    array(['a'], dtype='<U1')
    """

    @property
    def accept_sparse(self) -> bool:  # type: ignore[override]
        return self.kind == "similarity"  # absent dissimilarities are missing, and missing entries are not accepted

    keep_sparse = accept_sparse

    def learn(self, S: Array, codes: Indices) -> None:
        S = self._fit_conversion(S)
        self._set_weights(np.ones(len(S)), codes)
        self.tight_ = fits(S, self.alpha_, codes)


@validated_function({"method": [choice("power", "exponential")]})
def tightness(S: ArrayLike, y: Any, *, method: Literal["power", "exponential"] = "power") -> float:
    """Find the smallest tightness that makes a similarity tight fitting on labeled objects, [bernal2003] sec. 3.3.

    Parameters
    ----------
    S, y : array-like of shape (n, n), (n,)
        Similarities and class labels.
    method : {"power", "exponential"}, default="power"
        Rule of :class:`~similis.Tighten`.

    Returns
    -------
    float
        Least q, to one percent, for which every object is more similar to its class than to all others together after
        ``Tighten(q=q, method=method)``; infinite if there is none up to 2^20. It is searched below the first power of
        two that is tight, so that a smaller q may be missed.

    Examples
    --------
    >>> from similis.maxsim import tightness
    >>> S = [[1.0, 0.9, 0.8, 0.8], [0.9, 1.0, 0.8, 0.8], [0.8, 0.8, 1.0, 0.6], [0.8, 0.8, 0.6, 1.0]]
    >>> round(tightness(S, ["a", "a", "b", "b"]), 1)
    1.0
    """
    A = check_proximity(S, kind="similarity")
    _, codes = check_labels(y, len(A), who="tightness", of=S)

    def tight(q: float) -> bool:
        return fits(Tighten(q=q, method=method).fit_transform(A).astype(np.float64), np.ones(len(A)), codes)

    high = next((2.0**p for p in range(-10, 21) if tight(2.0**p)), np.inf)
    if high in (2.0**-10, np.inf):
        return high
    low = high / 2
    while high > 1.01 * low:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if tight(middle) else (middle, high)
    return high


@estimator
class SimilarityPerceptron(ClassSimilarity):
    """Perceptron in dual, multi-class form: increase the weights of misclassified training objects.

    With Sigma_ij = s_ij for objects of one class and -s_ij for others, from alpha = 0: sweep through the objects; where
    (Sigma alpha)_i <= 0, add one to alpha_i; stop after a sweep that changes nothing. See [bernal2003] sec. 4.2.

    Parameters
    ----------
    max_iter : int, default=100
        Largest number of sweeps.
    average : bool, default=False
        Use the weights averaged over all steps, which are better if the sweeps do not converge; no warning is given.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        As in :class:`MaxSim`.

    Attributes
    ----------
    classes_, scale_
        As in :class:`MaxSim`.
    alpha_ : ndarray of shape (n,)
        Weight of each training object, not negative; ``columns_`` are the objects of positive weight.
    n_iter_ : int
        Number of sweeps.
    fits_ : bool
        True if the last sweep changed nothing: Sigma alpha > 0 for the weights before averaging.

    Examples
    --------
    >>> from similis import SimilarityPerceptron
    >>> SimilarityPerceptron().fit([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]], [0, 0, 1]).alpha_
    array([1., 0., 1.])
    """

    max_iter: int = param(100, at_least(1))
    average: bool = param(False, "boolean")

    _added_params = ("kind",)  # since 1.0

    def learn(self, S: Array, codes: Indices) -> None:
        S = self._fit_conversion(S)
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
