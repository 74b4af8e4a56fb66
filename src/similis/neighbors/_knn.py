"""k nearest neighbors, uniform or weighted. [chen2010] ch. 3-4; [cazzanti2007] sec. 2.2.1."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from similis import base
from similis._utils.arrays import Array, Indices
from similis._utils.fitted import fitted_count, fitted_indices, fitted_reals
from similis.base import Points, between, choice, estimator, param
from similis.exceptions import ProximityError
from similis.neighbors._weights import NeighborWeights, simple_weights
from similis.solvers import class_sums, local_scores, vote_winners


@estimator
class SimilarityKNN(NeighborWeights, base.PathMixin, base.ProximityClassifier):
    """Classify by the k most similar training objects, their votes weighted.

    KRI, KRR and LIME weights promote diversity: neighbors that are similar to one another share their weight, which
    helps with near duplicates. See [chen2010] Eq. (3.1)-(3.9), sec. 4.1, 4.6 and [cazzanti2007] Eq. (2.6).

    Parameters
    ----------
    n_neighbors : int, default=5
        Number k of neighbors; clipped to the number n of training objects (``n_neighbors_``).
    weights : {"uniform", "affinity", "kri", "krr", "lime"} or callable, default="uniform"
        - "uniform": every neighbor has weight 1 / k;
        - "affinity": proportional to the similarity, which must not be negative;
        - "kri": kernel ridge interpolation, eq. (3.5): non-negative weights of sum one;
        - "krr": kernel ridge regression, eq. (3.8): weights of any sign, hence ``decision_function`` instead of
          ``predict_proba``;
        - "lime": linear interpolation with maximum entropy, eq. (3.3) in kernel form;
        - a function of the neighbors' proximities (m, k) that returns weights (m, k), finite and not negative; all
          zero for a row stands for equal weights.
    regularization : float, default=1.0
        lambda of KRI, KRR and LIME; large values make weights equal, those of KRR proportional to the similarities.
    spectrum : {"auto", "clip", "flip", "shift", "pinv"} or None, default="auto"
        Repair of an indefinite k x k block of similarities among the neighbors, for KRI, KRR and LIME. "pinv" (KRR
        only) uses the pseudo-inverse. None assumes that the block is positive semi-definite. "auto" is "pinv" for KRR,
        else "clip".
    query : {"consistent", "raw"}, default="consistent"
        Whether the projection by clip or flip also applies to the k similarities of the row. "raw" leaves the row as it
        is, as in the experiments of [chen2010] ch. 4, with a higher error on strongly indefinite similarities.
    smoothing : float, default=0.0
        Added to each class's probability before normalizing ([chen2010] sec. 4.6).
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of predicting f when g is true.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix; only uniform and callable weights read dissimilarities.
    n_jobs : int or None
        Number of threads over the rows; the result does not depend on it.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (G,)
        Class labels, and their training frequencies, used for a row without known entries.

    Notes
    -----
    Ties between similarities go to the lower training index and ties between votes to the earlier class. Missing
    entries (NaN) are never neighbors; KRI, KRR and LIME need the block among the neighbors and reject NaN.

    The paper chooses neighbors by symmetrized similarity (see :func:`similis.symmetrize`); here neighbors are ranked by
    s(x, z), and KRI, KRR and LIME use the symmetric part of the block. "Normalized" KRR weights are for display only.
    The thesis defines the repair of a kernel and of new rows together (sec. 4.1), but the values that it reports
    (tables 4.6 and 4.8) are those of ``query="raw"``: 29.9 % for KRI with clip on the protein data, 6.7 % by default.

    Examples
    --------
    >>> from similis import SimilarityKNN
    >>> S = [[5.0, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]]
    >>> model = SimilarityKNN(n_neighbors=4, weights="kri", regularization=0.1).fit(S, [0, 1, 1, 1])
    >>> model.neighbor_weights([[3, 3, 3, 3]])[1].round(3)
    array([[0.369, 0.173, 0.173, 0.285]])
    """

    query: str = param("consistent", choice("consistent", "raw"))
    smoothing: float = param(0.0, between(0, None, "left"))
    costs: Any = param(None, "array-like", None)

    fitted_arrays = {
        "_codes": fitted_indices("n", below="G"),
        "_S": fitted_reals("n", "n", optional=True),
        "priors_": fitted_reals("G", low=0),
        "n_neighbors_": fitted_count(1, "n"),
    }
    _added_params = ("query",)  # since 1.0

    def learn(self, S: Array, codes: Indices) -> None:
        self._check_training(S)
        self._codes = codes
        self.priors_ = np.bincount(codes) / len(codes)

    predict_proba = available_if(lambda self: self.weights != "krr")(base.ProbabilityMixin.predict_proba)
    decision_function = available_if(lambda self: self.weights == "krr")(base.DecisionMixin.decision_function)

    def _check_parameters(self, S: Array) -> None:
        super()._check_parameters(S)
        if self.weights == "krr" and self.costs is not None:
            raise ProximityError(
                "weights='krr' gives no probabilities, which costs require; use weights='kri' or costs=None."
            )

    def class_scores(self, Q: Array) -> Array:
        points = [{"n_neighbors": self.n_neighbors_, "regularization": self.regularization}]
        return self._sums(self._S, self._codes, Q, points)[0]

    def _sums(self, S: Any, codes: Indices, Q: Array, points: Points, test_fold: Indices | None = None) -> Any:
        """Summed weight of each class, (m, G) for each point: smoothed probabilities unless the weights are KRR."""
        ks, lambdas = ([point[name] for point in points] for name in self.path_params)
        indices, values = self._ranked(Q, test_fold, ks)
        G = len(self.classes_)
        if self._is_local:
            grid, places = np.unique(np.minimum(ks, indices.shape[1]), return_inverse=True)
            ridges, at = np.unique(lambdas, return_inverse=True)
            table = local_scores(S, indices, values, codes, G, grid, ridges, **self._local_options)
            scores = [table[t, r] for t, r in zip(places, at)]
        else:
            grid, places = np.unique(ks, return_inverse=True)
            weights = simple_weights(self.weights, indices, values)
            table = class_sums(indices, codes, grid, G, weights=weights, n_jobs=self.n_jobs)
            if callable(self.weights) and not table.any(axis=2).all():  # zeros among the first k: equal weights
                even = class_sums(indices, codes, grid, G, n_jobs=self.n_jobs)
                table = np.where(table.any(axis=2, keepdims=True), table, even)
            total = table.sum(axis=2, keepdims=True)
            table = np.divide(table, total, out=table, where=total > 0)
            if (lost := indices[:, 0] < 0).any():
                table[:, lost] = _fold_priors(codes, G, test_fold, lost)
            scores = [table[t] for t in places]
        if self.weights == "krr":
            return scores
        # [chen2010] sec. 4.6.2 -> (P(g|x) + e) / sum_h (P(h|x) + e)
        return [(proba + self.smoothing) / (1.0 + self.smoothing * G) for proba in scores]

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        self._check_parameters(S)
        return self._sums(S, codes, Q, points)

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        self._check_parameters(S)
        return self._sums(S, codes, S, points, test_fold)

    def path_codes(
        self, S: Array, codes: Indices, Q: Array | None, test_fold: Indices | None, points: Points
    ) -> list[Indices]:
        # uniform and affinity votes are counted without a table of scores
        if self._is_local or self.costs is not None or callable(self.weights):
            return super().path_codes(S, codes, Q, test_fold, points)
        self._check_parameters(S)
        grid, places = np.unique([point["n_neighbors"] for point in points], return_inverse=True)
        indices, values = self._ranked(S if Q is None else Q, test_fold, grid)
        weights, G = simple_weights(self.weights, indices, values), len(self.classes_)
        winners = vote_winners(indices, codes, grid, G, weights=weights, n_jobs=self.n_jobs)
        if (lost := indices[:, 0] < 0).any():
            winners[:, lost] = _fold_priors(codes, G, test_fold, lost).argmax(axis=-1)
        return [winners[t] for t in places]


def _fold_priors(codes: Indices, n_classes: int, test_fold: Indices | None, rows: Any) -> Any:
    """Class frequencies of the objects outside each row's fold."""
    left = np.bincount(codes, minlength=n_classes).astype(float)
    if test_fold is not None:
        in_fold = np.zeros((test_fold.max() + 1, n_classes))
        np.add.at(in_fold, (test_fold, codes), 1.0)
        left = left - in_fold[test_fold[rows]]
    return left / left.sum(axis=-1, keepdims=True)
