"""Unknown entries filled in, inside a pipeline. [chen2010] ch. 6."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.params import choice, validated
from similis._utils.validation import check_stack_width
from similis.exceptions import ProximityError
from similis.proximity._base import ToRows
from similis.proximity._complete import AUXILIARY, CONSTRAINTS, check_auxiliary, check_partial, complete, noise_weight
from similis.solvers import KernelFactor, kernel_factor

__all__ = ["CompleteKernel"]


class CompleteKernel(ToRows):
    """Fill in the unknown entries of training matrix and new rows, in front of any estimator.

    The defaults suit similarities of any kind with unknown entries here and there: a matrix of small nuclear norm is
    fitted to the known entries and fills in the others; what is known stays as it is, so that a complete matrix
    passes unchanged. Where whole objects were not measured, give the matrix in a stack with an auxiliary kernel
    (:func:`similis.make_stack`) and choose ``method="em"``.

    Parameters
    ----------
    method : {"nuclear", "psd", "em", "frobenius", "wishart"}, default="nuclear"
        See :func:`complete_kernel`. The last three read a stack: the matrix, then one auxiliary kernel or more.
    psd : bool, default=False
        Whether the fit of ``"nuclear"`` shall be positive semi-definite.
    mu : float or "auto", default="auto"
        Weight of the nuclear norm; 0 fits the known entries exactly.
    eta : float, default=1.0
        How much the auxiliary kernel counts in ``"wishart"``.
    degrees_of_freedom : float, default=None
        Of ``"wishart"``.
    regularization : float, default=1e-6
        Smallest weights in ``"em"`` and ridge of auxiliary kernels, relative to the mean self-similarity.
    keep_known : bool, default=True
        Whether known entries stay as they are. False gives the fitted matrix instead, without the noise it was
        fitted through: a kernel for ``"psd"``.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        What the numbers are. Dissimilarities are completed by ``"nuclear"`` without `psd`, and never below zero.
    tol : float, default=None
        When to stop; None is the method's own.
    max_iter : int, default=5000
        Steps at most.

    Attributes
    ----------
    kernel_ : ndarray of shape (n, n)
        The fitted matrix K of the training objects.
    auxiliary_ : ndarray of shape (n, n) or None
        The auxiliary kernel; several of them summed with their weights.
    weights_ : ndarray or None
        ``"em"``, ``"frobenius"``: of the auxiliary kernel's eigenvectors, or of the auxiliary kernels.
    objective_ : float
        What the method made small: Stein's loss, a norm, a squared error and norm, minus a log posterior.
    loss_path_ : ndarray
        ``"em"``: Stein's loss after each step, never rising; else empty.
    mu_ : float
        The weight of the nuclear norm used; 0 for the other methods.
    n_missing_ : int
        Unknown entries of the training matrix.
    n_iter_ : int
        Steps taken; 0 for a closed form.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    complete_kernel : the function, with what each method guarantees.
    similis.SimilarityKNN : needs no completion: it looks at known entries only.

    Notes
    -----
    New rows. Let s_J be the known entries of a row. It is completed by r = K_.J (K_JJ + mu/2 I)^+ s_J: the row in the
    range of K that fits them best, of least norm; |K| takes the place of K where K is indefinite. These are the
    optimality conditions of the training matrix read row by row, so that training rows given again come back as they
    were. With an auxiliary row a the guess r0 = K K_aux^+ a comes first, and s_J corrects it: r0 + K_.J K_JJ^+ (s_J -
    r0_J), the conditional expectation in the Wishart model; `regularization` stands in for K_aux^+.

    References
    ----------
    [chen2010] Eq. (6.1)-(6.5), sec. 6.1-6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import CompleteKernel
    >>> S = np.array([[4.0, 2.0, np.nan], [2.0, 9.0, 3.0], [np.nan, 3.0, 1.0]])
    >>> model = CompleteKernel(mu=0, psd=True).fit(S)
    >>> model.transform([[np.nan, 6.0, 2.0]]).round(3)
    array([[1.333, 6.   , 2.   ]])
    """

    _allow_missing = True
    _parameter_constraints: dict[str, list[Any]] = {
        **CONSTRAINTS,
        "keep_known": ["boolean"],
        "kind": [choice("similarity", "dissimilarity")],
    }

    def __init__(
        self,
        *,
        method: str = "nuclear",
        psd: bool = False,
        mu: float | str = "auto",
        eta: float = 1.0,
        degrees_of_freedom: float | None = None,
        regularization: float = 1e-6,
        keep_known: bool = True,
        kind: str = "similarity",
        tol: float | None = None,
        max_iter: int = 5000,
    ) -> None:
        self.method = method
        self.psd = psd
        self.mu = mu
        self.eta = eta
        self.degrees_of_freedom = degrees_of_freedom
        self.regularization = regularization
        self.keep_known = keep_known
        self.kind = kind
        self.tol = tol
        self.max_iter = max_iter

    @property
    def _allow_stack(self) -> bool:  # type: ignore[override]
        return self.method in AUXILIARY

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> CompleteKernel:
        """Complete the training matrix.

        Parameters
        ----------
        X : array-like of shape (n, n), or (n, n, q)
            Training similarities with NaN for what is unknown; a stack with auxiliary kernels for methods that read
            them.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    @validated
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray[Any]:
        """Complete the training matrix and return it.

        Parameters
        ----------
        X : array-like of shape (n, n), or (n, n, q)
            Training similarities, as in :meth:`fit`.
        y : ignored
            Not used.

        Returns
        -------
        ndarray of shape (n, n)
        """
        S = self._fit(X)
        return self._merge(S, self.kernel_)

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Complete new rows.

        Parameters
        ----------
        X : array-like of shape (m, n), or (m, n, q)
            Similarities of new objects to the training objects, with NaN for what is unknown, and auxiliary values as
            in :meth:`fit`.

        Returns
        -------
        ndarray of shape (m, n)
        """
        rows = self._check_query(X)
        guess, S = None, rows
        if self.method in AUXILIARY:
            check_stack_width(rows, 1 + self._n_auxiliary, self)
            S = np.ascontiguousarray(rows[:, :, 0])
            guess = self._from_auxiliary(rows[:, :, 1:].astype(np.float64))
        return self._merge(S, self._complete_rows(S.astype(np.float64), guess))

    def _fit(self, X: ArrayLike) -> NDArray[Any]:
        A = self._check_fit(X)
        if self.kind == "dissimilarity" and (self.method != "nuclear" or self.psd):
            raise ProximityError(
                "Dissimilarities are no kernel: with kind='dissimilarity' use method='nuclear' and psd=False. Got "
                f"method={self.method!r}, psd={self.psd}."
            )
        S, others = A, None
        if self.method in AUXILIARY:
            if A.ndim != 3 or A.shape[2] < 2:
                raise ProximityError(
                    f"CompleteKernel with method={self.method!r} reads a stack of the matrix and an auxiliary kernel, "
                    f"see make_stack. Got shape {A.shape}. For a single matrix use method='nuclear' or 'psd'."
                )
            S, others = np.ascontiguousarray(A[:, :, 0]), A[:, :, 1:]
        K, known = check_partial(S, "CompleteKernel")
        kernels = check_auxiliary(others, len(K), self.method, "CompleteKernel")
        options = {name: getattr(self, name) for name in CONSTRAINTS if name != "method"}
        self.mu_ = noise_weight(K.astype(np.float64), known, self.mu) if self.method == "nuclear" else 0.0
        options["mu"] = self.mu_
        found, aux, shares = complete(K, known, kernels, self.method, who="CompleteKernel", **options)
        self.kernel_, self.auxiliary_, self._shares = found.kernel, aux, shares
        self.weights_, self.objective_, self.loss_path_ = found.weights, found.objective, found.path
        self.n_iter_, self.n_missing_ = found.n_iter, int(np.isnan(S).sum())
        self._n_auxiliary, self._R = len(kernels), kernel_factor(found.kernel).R
        return S

    def _merge(self, S: NDArray[Any], filled: NDArray[np.float64]) -> NDArray[Any]:
        """Known entries from S where they are kept, the others as they were filled in."""
        if self.kind == "dissimilarity":
            filled = np.maximum(filled, 0.0)
        out = np.where(np.isnan(S), filled, S) if self.keep_known else filled
        return out.astype(S.dtype)

    def _complete_rows(self, S: NDArray[np.float64], guess: NDArray[np.float64] | None) -> NDArray[np.float64]:
        factor, known = KernelFactor(self._R), ~np.isnan(S)
        base = np.zeros_like(S) if guess is None else guess
        out = base.copy()
        patterns, which = np.unique(known, axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            if self.keep_known and pattern.all():
                continue  # nothing to fill in
            rows = np.flatnonzero(which.ravel() == k)
            out[rows] += factor.fill(pattern, np.where(pattern, S[rows] - base[rows], 0.0), self.mu_ / 2)
        return out

    def _from_auxiliary(self, others: NDArray[np.float64]) -> NDArray[np.float64]:
        """K K_aux^+ a for each new row a of the auxiliary kernel."""
        if np.isnan(others).any():
            i, j, k = np.argwhere(np.isnan(others))[0]
            raise ProximityError(
                f"CompleteKernel needs complete auxiliary rows. Got NaN at row {i}, column {j}, slice {k + 1}."
            )
        a = others[:, :, 0] if self._shares is None else others @ self._shares
        A = np.asarray(self.auxiliary_)
        ridge = self.regularization * (float(np.trace(A)) / len(A) or 1.0)
        return np.asarray(np.linalg.solve(A + ridge * np.eye(len(A)), a.T).T @ self.kernel_)
