"""A support vector machine on a kernel with missing rows. [chen2010] sec. 6.2-6.3."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from similis import base
from similis._utils.arrays import Array, Indices
from similis._utils.fitted import fitted_reals
from similis._utils.linalg import symmetric_part_of
from similis._utils.threads import single_blas_thread
from similis.base import ProximityClassifier, at_least, estimator, param, positive, validated
from similis.exceptions import ProximityError
from similis.solvers import KernelFactor, completion_machine, infer_row, kernel_factor
from similis.svm._base import SelfSimilarityMixin, class_pairs, vote_scores, warn_gap


@estimator
class CompletionSVM(SelfSimilarityMixin, ProximityClassifier):
    """Complete a kernel with missing rows and fit a support vector machine on it in one problem.

    Reads a stack n x n x 2 (see :func:`similis.make_stack`): a kernel with NaN rows and columns where objects were not
    measured, and a complete auxiliary kernel. Minimizes mean hinge loss + eta c'Kc + gamma ||K - sum_i w_i v_i v_i'||_F
    over the machine, the hidden part of K >= 0 and w >= 0, v_i the eigenvectors of the auxiliary kernel. Labels of -1
    beside two or more classes mark unlabeled objects (transduction). See [chen2010] Eq. (6.6)-(6.10).

    Parameters
    ----------
    eta : float, default=0.01
        Weight of c'Kc; the usual C is 1 / (2 n eta).
    gamma : float, default=0.1
        Weight of the distance between K and a kernel with the auxiliary kernel's eigenvectors.
    max_samples : int, default=100
        Largest number n of objects of a two-class problem: the time grows like n^6 (5 to 36 seconds for 80).

    Attributes
    ----------
    classes_, transduction_ : ndarray of shape (G,), (n,)
        Class labels; where some labels were -1, a label for every object, the given one where there was one.
    kernel_, weights_ : ndarray of shape (n, n), (n,)
        K, positive semi-definite, known entries as they were, and w in the order of the columns of
        ``numpy.linalg.eigh(K_aux)``; two classes only, as the next four.
    dual_coef_, intercept_ : ndarray of shape (n,), float
        c, zero for objects without label, and b.
    objective_, gap_ : float
        The objective at this K, c and b, and how far it is above the dual value found.
    pairs_, estimators_ : ndarray of shape (G (G - 1) / 2, 2), list of CompletionSVM
        Three classes or more: the two classes of each model, the second positive; the two-class models.

    Notes
    -----
    Needs Clarabel: ``pip install 'similis[conic]'``. A single complete matrix is taken for both slices. The labels 1
    and -1 alone are two classes. :class:`similis.CompleteKernel` completes without labels, any number of objects.

    New rows, (m, n, 2), hold what is known of the kernel, NaN elsewhere, and the auxiliary values. The rest is inferred
    by (6.8) with the constraint r'K^+r <= t in place of the printed r'Kr <= t; the kernel value K(x, x) stays free.
    (6.8) needs the auxiliary value of x with itself, which no row holds: give it as ``self_similarity``. Without it, it
    is the auxiliary kernel's diagonal if that is constant, else a'K_aux^+ a, the smallest that leaves a kernel. Of the
    two matrix inequalities of (6.10), for transduction, one is enough.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import CompletionSVM, make_stack
    >>> X = np.array([[1.0, 0.2], [0.9, 0.1], [-1.0, 0.3], [-0.8, -0.2]])
    >>> K, auxiliary = X[:, :1] @ X[:, :1].T, X @ X.T
    >>> K[1] = K[:, 1] = np.nan
    >>> model = CompletionSVM().fit(make_stack([K, auxiliary]), ["a", "a", "b", "b"])
    >>> model.predict(make_stack([[[np.nan] * 4], [[0.5, 0.4, -0.5, -0.4]]]))
    array(['a'], dtype='<U1')
    """

    eta: float = param(0.01, positive())
    gamma: float = param(0.1, positive())
    max_samples: int = param(100, at_least(2))

    fitted_arrays = {
        "kernel_": fitted_reals("n", "n", optional=True),
        "_aux": fitted_reals("n", "n", optional=True),
        "_R": fitted_reals("n", None, optional=True),
        "dual_coef_": fitted_reals("n", optional=True),
    }
    reads = "similarity"
    allow_missing = allow_stack = True

    @validated
    @single_blas_thread()
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Complete the kernel and fit the classifier, or do both for each pair of classes.

        `X` is (n, n, 2), the kernel with NaN for what is hidden and the auxiliary kernel, or (n, n) without NaN.
        """
        stack = self.check_training(X)
        self.classes_, codes = base.check_labels(y, len(stack), who="CompletionSVM", of=X)
        if len(self.classes_) > 2 and self.classes_.dtype.kind in "iuf" and self.classes_[0] == -1:
            self.classes_, codes = self.classes_[1:], codes - 1
        K, rows, aux = self._check_stack(stack)
        binary = ("kernel_", "weights_", "dual_coef_", "intercept_", "objective_", "gap_")
        for name in (*binary, "transduction_", "pairs_", "estimators_"):
            self.__dict__.pop(name, None)
        G = len(self.classes_)
        if G == 2:
            values = self._train(K, rows, aux, codes)[:, None]
        else:
            self.pairs_, self.estimators_ = class_pairs(G), []
            values = np.zeros((len(codes), len(self.pairs_)))
            for pair, column in zip(self.pairs_, values.T):
                members = np.flatnonzero(np.isin(codes, [-1, *pair]))  # unlabeled objects take part in all pairs
                part = clone(self)
                part.classes_, part.n_features_in_ = self.classes_[pair], len(members)
                inner = np.where(codes[members] == -1, -1, codes[members] == pair[1])
                block = np.ix_(members, members)
                column[members] = part._train(K[block], rows[members], aux[block], inner)
                part._members = members
                self.estimators_.append(part)
        if (codes < 0).any():
            self.transduction_ = self.classes_[np.where(codes < 0, vote_scores(values, G).argmax(axis=1), codes)]
        return self

    def _check_stack(self, stack: Array) -> Any:
        """Validate the stack; return the kernel, the mask of measured objects and the auxiliary kernel."""
        stack = np.stack([stack, stack], axis=2) if stack.ndim == 2 else stack
        if stack.shape[2] != 2:
            raise ProximityError(
                f"CompletionSVM reads a stack of two, the kernel and an auxiliary kernel. Got {stack.shape[2]} slices."
            )
        missing = np.isnan(stack[:, :, 1])
        if missing.any():
            raise ProximityError(
                f"The auxiliary kernel must be complete. Got NaN at {base.first_position(missing)}. Give a stack of "
                "the kernel and an auxiliary kernel, or fill in a single matrix with CompleteKernel."
            )
        K, known = base.check_partial_kernel(stack[:, :, 0], "CompletionSVM")
        rows = base.measured_objects(known, "CompletionSVM", "CompleteKernel")
        block = K[np.ix_(rows, rows)].astype(np.float64)
        base.check_kernel(block, "CompletionSVM needs known entries that form a kernel", K.dtype)
        given = base.check_proximity(np.ascontiguousarray(stack[:, :, 1]))
        aux = symmetric_part_of(given.astype(np.float64), "The auxiliary kernel")
        base.check_kernel(aux, "The auxiliary kernel must be a kernel", given.dtype)
        return K.astype(np.float64), rows, aux

    def _train(self, K: Array, rows: Any, aux: Array, codes: Indices) -> Any:
        """Fit codes 0 and 1, -1 for unlabeled; return the decision value of each object."""
        if len(K) > self.max_samples:
            raise ProximityError(
                f"CompletionSVM learns all hidden entries at once, for at most max_samples={self.max_samples} objects. "
                f"Got {len(K)}. Use CompleteKernel(method='em') in front of an SVC, or raise max_samples."
            )
        if not rows.any():
            names = " and ".join(map(str, self.classes_))
            raise ProximityError(f"CompletionSVM needs a known kernel entry among the objects of {names}. Got none.")
        y = np.where(codes < 0, 0.0, 2.0 * codes - 1.0)
        fit = completion_machine(np.where(np.isnan(K), 0.0, K), rows, aux, y, eta=self.eta, gamma=self.gamma)
        if fit.gap > 1e-4 * max(abs(fit.objective), 1e-3):
            warn_gap(self, fit, f" (solver: {fit.status}). Rescale the kernels to entries about 1.")
        c = np.zeros(len(K))
        c[y != 0] = fit.coef
        self.kernel_, self.weights_, self.dual_coef_ = fit.kernel, fit.weights, c
        self.intercept_, self.objective_, self.gap_ = fit.intercept, fit.objective, fit.gap
        self._aux, self._R = aux, kernel_factor(fit.kernel).R
        return fit.kernel @ c + fit.intercept

    def _row_scores(self, X: ArrayLike, self_similarity: Any) -> Any:
        rows = self.check_rows(X)
        rows = np.stack([rows, rows], axis=2) if rows.ndim == 2 else rows
        base.check_stack_width(rows, 2, self)
        unknown = np.isnan(rows[:, :, 1])
        if unknown.any():
            where = base.first_position(unknown)
            raise ProximityError(f"Auxiliary values of new rows must be known. Got NaN at {where}.")
        rows = rows.astype(np.float64)
        given = None if self_similarity is None else base.one_per_row(self_similarity, len(rows))
        parts = [(one, rows[:, one._members]) for one in getattr(self, "estimators_", ())] or [(self, rows)]
        return vote_scores(np.column_stack([one._values(own, given) for one, own in parts]), len(self.classes_))

    def _values(self, rows: Any, given: Any) -> Any:
        """Decision values of one two-class model."""
        factor, r, own = KernelFactor(self._R), np.empty(rows.shape[:2]), given
        if given is None:
            diagonal = np.diagonal(self._aux)
            if np.ptp(diagonal) <= 1e-6 * np.abs(diagonal).max():
                own = np.full(len(rows), float(diagonal.mean()))
            else:
                own = (np.linalg.lstsq(kernel_factor(self._aux).R, rows[:, :, 1].T)[0] ** 2).sum(axis=0)
        for i, row in enumerate(rows):
            r[i] = infer_row(factor, self._aux, np.ascontiguousarray(row[:, 1]), float(own[i]), row[:, 0])
        return r @ self.dual_coef_ + self.intercept_
