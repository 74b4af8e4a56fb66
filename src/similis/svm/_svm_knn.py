"""A support vector machine on the neighbors of each row. [chen2010] sec. 2.1.5, ch. 4."""

from __future__ import annotations

import numpy as np

from similis._utils.arrays import Array, Indices
from similis._utils.fitted import fitted_count, fitted_indices, fitted_reals
from similis.base import Integral, Points, at_least, choice, clip_n_neighbors, estimator, max_neighbors, param, positive
from similis.solvers import local_svm_scores, top_k
from similis.svm._base import MarginClassifier


@estimator
class SVMKNN(MarginClassifier):
    """SVM-KNN: classify each object by a support vector machine fitted to its k nearest neighbors.

    Local decisions help on sparse similarities. With k = n it is the global support vector machine on the repaired
    matrix. See [chen2010] Eq. (2.4), sec. 2.1.5, 4.1, 4.3.

    Parameters
    ----------
    n_neighbors : int, default=16
        Number k of neighbors; clipped to the number n of training objects (``n_neighbors_``).
    C : float, default=1.0
        Cost of a violated margin.
    spectrum : {"clip", "flip", "shift"}, default="clip"
        Repair of an indefinite k x k block of the neighbors; clip and flip also project the query's k similarities.
    n_jobs : int or None
        Number of threads over the rows; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.

    Notes
    -----
    Neighbors that are all of one class decide for it. Several classes are compared by pairs among the neighbors; a
    class without neighbors loses to the others with a margin of one. Equal similarities go to the lower training index.
    The block enters by its symmetric part; see :class:`SimilarityKNN`.

    Examples
    --------
    >>> from similis import SVMKNN
    >>> S = [[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 1, 0.8], [0.2, 0, 0.8, 1]]
    >>> model = SVMKNN(n_neighbors=3).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[0.5, 0.6, 0.1, 0.2], [0.2, 0.1, 0.7, 0.6]])
    array(['a', 'b'], dtype='<U1')
    """

    n_neighbors: int = param(16, at_least(1))
    C: float = param(1.0, positive())
    spectrum: str = param("clip", choice("clip", "flip", "shift"))
    n_jobs: int | None = param(None, Integral, None)

    fitted_arrays = {
        "_codes": fitted_indices("n", below="G"),
        "_S": fitted_reals("n", "n"),
        "n_neighbors_": fitted_count(1, "n"),
    }
    path_params = ("n_neighbors", "C")
    reads = "similarity"
    accept_sparse = True

    def learn(self, S: Array, codes: Indices) -> None:
        self._S, self._codes = S, codes
        self.n_neighbors_ = clip_n_neighbors(len(codes), self.n_neighbors)

    def class_scores(self, Q: Array) -> Array:
        return self.path_scores(self._S, self._codes, Q, [{"n_neighbors": self.n_neighbors_, "C": self.C}])[0]

    def path_scores(
        self, S: Array, codes: Indices, Q: Array, points: Points, test_fold: Indices | None = None
    ) -> list[Array]:
        ks, Cs = ([point[name] for point in points] for name in self.path_params)
        k = clip_n_neighbors(max_neighbors(len(codes), test_fold), max(ks))
        indices, values = top_k(Q, k, folds=test_fold, n_jobs=self.n_jobs)
        grid, places = np.unique(np.minimum(ks, indices.shape[1]), return_inverse=True)
        costs, at = np.unique(Cs, return_inverse=True)
        table = local_svm_scores(
            S, indices, values, codes, len(self.classes_), grid, costs, spectrum=self.spectrum, n_jobs=self.n_jobs
        )
        return [table[t, r] for t, r in zip(places, at)]

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        return self.path_scores(S, codes, S, points, test_fold)
