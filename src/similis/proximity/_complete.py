"""Completion of kernels with missing entries: :func:`complete_kernel` and :class:`CompleteKernel`, [chen2010] ch. 6."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similis._utils.arrays import Array, Floats, Mask
from similis._utils.linalg import symmetric_part_of
from similis._utils.messages import warn_user
from similis.base import (
    at_least,
    between,
    check_kernel,
    check_partial_kernel,
    check_proximity,
    check_stack_width,
    choice,
    estimator,
    fitted_reals,
    measured_objects,
    param,
    positive,
    validated_function,
)
from similis.exceptions import ProximityError
from similis.proximity._base import ToRows
from similis.solvers import (
    Completion,
    Infeasible,
    KernelFactor,
    em_completion,
    frobenius_completion,
    kernel_factor,
    mixture_completion,
    nearest_completion,
    nuclear_completion,
    wishart_completion,
)

AUXILIARY = ("em", "frobenius", "wishart")  # methods that use an auxiliary kernel
_NOISE = 0.05  # mu="auto" as a fraction of the largest eigenvalue

CONSTRAINTS: dict[str, list[Any]] = {
    "method": [choice(*AUXILIARY, "nuclear", "psd")],
    "psd": ["boolean"],
    "mu": [choice("auto"), between(0, None, "left")],
    "eta": [positive()],
    "degrees_of_freedom": [positive(), None],
    "regularization": [positive()],
    "tol": [positive(), None],
    "max_iter": [at_least(1)],
}
_MATRIX = ["array-like", "sparse matrix"]  # sparse matrices are rejected later, with a clearer message


@validated_function({"K_partial": _MATRIX, "K_aux": [*_MATRIX, None], **CONSTRAINTS})
def complete_kernel(
    K_partial: ArrayLike,
    K_aux: Any = None,
    method: str = "em",
    *,
    psd: bool = True,
    mu: float | str = 0.0,
    eta: float = 1.0,
    degrees_of_freedom: float | None = None,
    regularization: float = 1e-6,
    tol: float | None = None,
    max_iter: int = 5000,
) -> Array:
    """Fill in the missing entries of a kernel matrix ([chen2010] sec. 6.1).

    If some objects were not measured, whole rows and columns are missing; an auxiliary kernel over all objects, cheaper
    or noisier, relates them to the others (``"em"``, ``"frobenius"``, ``"wishart"``). If single entries are missing,
    the known entries determine them under the assumption of a small spectrum (``"nuclear"``, ``"psd"``).

    Parameters
    ----------
    K_partial : array-like of shape (n, n)
        Kernel or similarity matrix; NaN marks a missing entry. A pair known in one direction counts as known.
    K_aux : array-like of shape (n, n), list of these or stack (n, n, q), default=None
        Auxiliary kernel, positive semi-definite and complete; required by the first three methods.
    method : {"em", "frobenius", "wishart", "nuclear", "psd"}, default="em"
        Criterion for the completed kernel K.

        - ``"em"``: nearest in Stein's loss to a kernel M with the eigenvectors of `K_aux`, Eq. (6.4). For several
          auxiliary kernels M is a weighted sum of them.
        - ``"frobenius"``: nearest to such an M in the Frobenius norm, Eq. (6.5).
        - ``"wishart"``: the expectation under a Wishart model around `K_aux`.
        - ``"nuclear"``: smallest nuclear norm, Eq. (6.2), or, with `mu`, fitting the known entries up to noise.
        - ``"psd"``: the kernel nearest to the known entries, Eq. (6.1).
    psd : bool, default=True
        Require the result of ``"nuclear"`` to be positive semi-definite. Use False for indefinite similarities.
    mu : float or "auto", default=0.0
        Weight of the nuclear norm relative to the squared error of the known entries; 0 keeps them exactly. ``"auto"``
        is 5 % of the largest eigenvalue of the matrix with zeros for missing entries. Only for ``"nuclear"``.
    eta : float, default=1.0
        Weight of the auxiliary kernel in ``"wishart"``.
    degrees_of_freedom : float, default=None
        r of ``"wishart"``, above n - 1; None means the most probable one.
    regularization : float, default=1e-6
        Smallest weight of an eigenvector in ``"em"``, and the ridge added to a sum of kernels and to `K_aux` in
        ``"wishart"``, relative to the mean self-similarity.
    tol : float, default=None
        Tolerance of the stopping rule; None means the default of the method. For ``"em"``, the estimated distance of
        the weights from their limits, relative to the largest weight.
    max_iter : int, default=5000
        Largest number of steps.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, float32 if `K_partial` is. Known entries are kept exactly by all methods but ``"psd"`` and
        ``"nuclear"`` with `mu`. Positive semi-definite unless ``psd=False``.

    See Also
    --------
    CompleteKernel, similis.CompletionSVM

    Notes
    -----
    ``"em"`` alternates closed forms; Stein's loss never rises. The known block may be singular; `regularization` keeps
    the loss finite. For a sum of auxiliary kernels the second step lowers an upper bound of the loss instead. The paper
    requires weights of sum one; here they are free, so that the kernels need not have the scale of K. The other methods
    use that sum as their auxiliary kernel.

    ``"wishart"`` is a fixed point in closed form (see the solver): K12 = K11 B, K22 = B'K11 B + q Q, with B and Q the
    regression of `K_aux` on the known objects and its residual; r and eta only determine q < 1.

    With a known diagonal the trace is fixed, and every positive semi-definite completion solves Eq. (6.2):
    ``"nuclear"`` returns one of them, or raises an error if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import complete_kernel
    >>> K = np.array([[4.0, 2.0, np.nan], [2.0, 9.0, 3.0], [np.nan, 3.0, 1.0]])
    >>> complete_kernel(K, method="nuclear").round(3)
    array([[4.   , 2.   , 0.667],
           [2.   , 9.   , 3.   ],
           [0.667, 3.   , 1.   ]])
    """
    model = CompleteKernel(
        method=method,
        psd=psd,
        mu=mu,
        eta=eta,
        degrees_of_freedom=degrees_of_freedom,
        regularization=regularization,
        tol=tol,
        max_iter=max_iter,
    )
    K, known = check_partial_kernel(K_partial, "complete_kernel")
    kernels = check_auxiliary(K_aux, len(K), method, "complete_kernel")
    return model._complete(K, known, kernels, "complete_kernel").kernel.astype(K.dtype)


def check_auxiliary(K_aux: Any, n: int, method: str, who: str) -> list[Floats]:
    """Validate the auxiliary kernels and return them as a list; empty for methods that use none."""
    if method not in AUXILIARY:
        if K_aux is not None:
            raise ProximityError(f"method={method!r} uses no auxiliary kernel. Omit K_aux, or use method='em'.")
        return []
    if K_aux is None:
        raise ProximityError(
            f"{who} with method={method!r} needs an auxiliary kernel over all objects. For a single matrix with "
            "scattered missing entries use method='nuclear' or 'psd'."
        )
    slices, kernels = _slices(K_aux), []
    for k, A in enumerate(slices):
        A = check_proximity(A)
        dtype, A = A.dtype, A.astype(np.float64)
        name = "The auxiliary kernel" if len(slices) == 1 else f"Auxiliary kernel {k}"
        if len(A) != n:
            raise ProximityError(f"{name} must be over the same {n} objects. Got {len(A)}.")
        A = symmetric_part_of(A, name)
        check_kernel(A, f"{name} must be a kernel", dtype)
        kernels.append(A)
    return kernels


def _slices(K_aux: Any) -> list[Any]:
    """Return the matrices of a list or of a stack; any other input is one matrix, which is validated later."""
    if getattr(K_aux, "ndim", 2) == 3:
        return [K_aux[:, :, k] for k in range(K_aux.shape[2])]
    with suppress(ValueError):  # rows of different lengths
        if isinstance(K_aux, (list, tuple)) and len(K_aux) and np.ndim(K_aux[0]) == 2:
            return list(K_aux)
    return [K_aux]


def _additive(K: Floats, known: Mask) -> Floats:
    """Return row mean plus column mean minus overall mean, each over known entries, as initial values."""
    total = float(K[known].mean())
    counts = known.sum(axis=1)
    rows = np.where(counts > 0, np.where(known, K, 0.0).sum(axis=1) / np.maximum(counts, 1), total)
    return rows[:, None] + rows - total


@estimator
class CompleteKernel(ToRows):
    """Fill in the missing entries of training matrix and new rows, in front of any estimator ([chen2010] sec. 6.1-6.2).

    The defaults suit similarities of any kind with scattered missing entries: a matrix of small nuclear norm is fitted
    to the known entries and fills in the others. If whole objects were not measured, pass a stack of the matrix and an
    auxiliary kernel (:func:`similis.make_stack`) and choose ``method="em"``. :class:`similis.SimilarityKNN` uses known
    entries only and needs no completion.

    Parameters
    ----------
    method : {"nuclear", "psd", "em", "frobenius", "wishart"}, default="nuclear"
        See :func:`complete_kernel`. The last three expect a stack: the matrix, then one or more auxiliary kernels.
    psd : bool, default=False
        Require the fit of ``"nuclear"`` to be positive semi-definite.
    mu : float or "auto", default="auto"
        Weight of the nuclear norm; 0 fits the known entries exactly.
    eta, degrees_of_freedom, regularization, tol, max_iter
        As in :func:`complete_kernel`.
    keep_known : bool, default=True
        Keep known entries unchanged. False returns the fitted matrix, without the noise of the known entries; for
        ``"psd"`` it is a kernel.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of the proximities. Dissimilarities are completed by ``"nuclear"`` without `psd`, and never below zero.

    Attributes
    ----------
    kernel_ : ndarray of shape (n, n)
        The fitted matrix K of the training objects.
    auxiliary_ : ndarray of shape (n, n) or None
        The auxiliary kernel, or the weighted sum of several.
    weights_ : ndarray or None
        ``"em"``, ``"frobenius"``: weights of the eigenvectors of the auxiliary kernel, or of the auxiliary kernels.
    objective_ : float
        Final objective of the method: Stein's loss, a norm, a squared error plus norm, or minus a log posterior.
    loss_path_ : ndarray
        ``"em"``: Stein's loss after each step, which never rises; else empty.
    mu_ : float
        Weight of the nuclear norm; 0 for the other methods.
    n_missing_, n_iter_ : int
        Numbers of missing entries of the training matrix, and of steps; 0 for a closed form.

    Notes
    -----
    New rows: let s_J be the known entries of a row. It is completed by r = K_.J (K_JJ + mu/2 I)^+ s_J, the row of
    smallest norm in the range of K that fits them best; |K| replaces K if K is indefinite. These are the optimality
    conditions of the training matrix row by row, so that a training row is completed as in `fit`. With an auxiliary row
    a, the estimate r0 = K K_aux^+ a is corrected by s_J: r0 + K_.J K_JJ^+ (s_J - r0_J), the conditional expectation in
    the Wishart model; `regularization` is the ridge of K_aux^+.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import CompleteKernel
    >>> S = np.array([[4.0, 2.0, np.nan], [2.0, 9.0, 3.0], [np.nan, 3.0, 1.0]])
    >>> model = CompleteKernel(mu=0, psd=True).fit(S)
    >>> model.transform([[np.nan, 6.0, 2.0]]).round(3)
    array([[1.333, 6.   , 2.   ]])
    """

    method: str = param("nuclear", *CONSTRAINTS["method"])
    psd: bool = param(False, *CONSTRAINTS["psd"])
    mu: float | str = param("auto", *CONSTRAINTS["mu"])
    eta: float = param(1.0, *CONSTRAINTS["eta"])
    degrees_of_freedom: float | None = param(None, *CONSTRAINTS["degrees_of_freedom"])
    regularization: float = param(1e-6, *CONSTRAINTS["regularization"])
    keep_known: bool = param(True, "boolean")
    kind: str = param("similarity", choice("similarity", "dissimilarity"))
    tol: float | None = param(None, *CONSTRAINTS["tol"])
    max_iter: int = param(5000, *CONSTRAINTS["max_iter"])

    fitted_arrays = {
        "kernel_": fitted_reals("n", "n"),
        "_R": fitted_reals("n", None),
        "auxiliary_": fitted_reals("n", "n", optional=True),
    }

    allow_missing = True

    @property
    def allow_stack(self) -> bool:  # type: ignore[override]
        return self.method in AUXILIARY

    def transform_training(self, S: Array) -> Array:
        return self._merge(S, self.kernel_)

    def transform_rows(self, Q: Array) -> Array:
        S, guess = Q, np.zeros(Q.shape)
        if self.method in AUXILIARY:
            check_stack_width(Q, 1 + self._n_auxiliary, self)
            S, guess = np.ascontiguousarray(Q[:, :, 0]), self._from_auxiliary(Q[:, :, 1:].astype(np.float64))
        factor, known, filled = KernelFactor(self._R), ~np.isnan(S), guess.copy()
        patterns, which = np.unique(known, axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            if self.keep_known and pattern.all():
                continue  # nothing to fill in
            rows = np.flatnonzero(which.ravel() == k)
            rest = np.where(pattern, S[rows].astype(np.float64) - guess[rows], 0.0)
            filled[rows] += factor.fill(pattern, rest, self.mu_ / 2)
        return self._merge(S, filled)

    def learn(self, S: Array, y: Any) -> Array:
        if self.kind == "dissimilarity" and (self.method != "nuclear" or self.psd):
            raise ProximityError(
                "kind='dissimilarity' needs method='nuclear' and psd=False: dissimilarities are no kernel. Got "
                f"method={self.method!r}, psd={self.psd}."
            )
        others = None
        if self.method in AUXILIARY:
            if S.ndim != 3 or S.shape[2] < 2:
                raise ProximityError(
                    f"CompleteKernel with method={self.method!r} needs a stack of the matrix and an auxiliary kernel, "
                    f"see make_stack. Got shape {S.shape}. For a single matrix use method='nuclear' or 'psd'."
                )
            S, others = np.ascontiguousarray(S[:, :, 0]), S[:, :, 1:]
        K, known = check_partial_kernel(S, "CompleteKernel")
        kernels = check_auxiliary(others, len(K), self.method, "CompleteKernel")
        completion = self._complete(K, known, kernels, "CompleteKernel")
        self.kernel_, self.weights_ = completion.kernel, completion.weights
        self.objective_, self.loss_path_ = completion.objective, completion.path
        self.n_iter_, self.n_missing_ = completion.n_iter, int(np.isnan(S).sum())
        self._n_auxiliary, self._R = len(kernels), kernel_factor(completion.kernel).R
        return S

    def _complete(self, K: Array, known: Mask, kernels: list[Floats], who: str) -> Completion:
        """Complete a validated matrix; set the weight of the nuclear norm, the auxiliary kernel and its shares."""
        dtype, K = K.dtype, K.astype(np.float64)
        self.auxiliary_: Floats | None = None
        self._shares: Floats | None = None
        self.mu_ = 0.0
        steps: dict[str, Any] = {"max_iter": self.max_iter} | ({} if self.tol is None else {"tol": self.tol})
        if self.method in AUXILIARY:
            rows = measured_objects(known, f"{who} with method={self.method!r}", "method='nuclear' or 'psd'")
            block = K[np.ix_(rows, rows)]
            check_kernel(block, f"{who} with method={self.method!r} needs known entries that form a kernel", dtype)
            unit = float(np.trace(block)) / max(int(rows.sum()), 1) or 1.0
            try:
                completion = self._complete_rows_of(K, rows, kernels, self.regularization * unit, steps)
            except np.linalg.LinAlgError:
                raise ProximityError(
                    f"{who} with method={self.method!r} got a singular auxiliary kernel. Raise regularization above "
                    f"{self.regularization:g}."
                ) from None
        elif self.method == "psd":
            completion = nearest_completion(K, known, start=_additive(K, known), **steps)
        else:
            completion = self._complete_entries(K, known, steps, who)
        if not completion.converged:
            text = f"did not converge in {completion.n_iter} steps; raise max_iter or tol."
            warn_user(f"{who} with method={self.method!r} {text}", ConvergenceWarning)
        return completion

    def _complete_rows_of(
        self, K: Floats, rows: Mask, kernels: list[Floats], ridge: float, steps: dict[str, Any]
    ) -> Completion:
        """Complete K, known for some objects, with auxiliary kernels; `ridge` is in the unit of K."""
        aux = kernels[0]
        if len(kernels) > 1:
            completion, aux = mixture_completion(K, rows, kernels, ridge=ridge, **steps)
            self._shares = completion.weights
        elif self.method == "em":
            completion = em_completion(K, rows, aux, floor=ridge, **steps)
        if self.method == "frobenius":
            completion = frobenius_completion(K, rows, aux, **steps)
        elif self.method == "wishart":
            degrees = self.degrees_of_freedom
            if degrees is not None and degrees <= len(K) - 1:
                raise ProximityError(f"degrees_of_freedom must be above n - 1 = {len(K) - 1}. Got {degrees:.6g}.")
            completion = wishart_completion(K, rows, self._ridged(aux), eta=self.eta, degrees_of_freedom=degrees)
        self.auxiliary_ = aux
        return completion

    def _complete_entries(self, K: Floats, known: Mask, steps: dict[str, Any], who: str) -> Completion:
        """Complete scattered missing entries by a small nuclear norm."""
        if isinstance(self.mu, str):  # "auto"
            self.mu_ = _NOISE * float(np.abs(np.linalg.eigvalsh(np.where(known, K, 0.0))).max(initial=0.0))
        else:
            self.mu_ = float(self.mu)
        if self.mu_ > 0:
            return nearest_completion(K, known, mu=self.mu_, psd=self.psd, **steps)
        try:
            return nuclear_completion(K, known, psd=self.psd, **steps)
        except Infeasible:
            raise ProximityError(
                f"{who}: no positive semi-definite matrix has these known entries. Allow noise with mu='auto' or "
                "method='psd', or an indefinite similarity with psd=False."
            ) from None

    def _merge(self, S: Array, filled: Floats) -> Array:
        """Combine known entries of S, if they are kept, with the completed ones."""
        if self.kind == "dissimilarity":
            filled = np.maximum(filled, 0.0)
        return (np.where(np.isnan(S), filled, S) if self.keep_known else filled).astype(S.dtype)

    def _from_auxiliary(self, others: Floats) -> Floats:
        """Compute K K_aux^+ a for each new row a of the auxiliary kernel."""
        if np.isnan(others).any():
            i, j, k = np.argwhere(np.isnan(others))[0]
            raise ProximityError(
                f"CompleteKernel needs complete auxiliary rows. Got NaN at row {i}, column {j}, slice {k + 1}."
            )
        a = others[:, :, 0] if self._shares is None else others @ self._shares
        return np.asarray(np.linalg.solve(self._ridged(np.asarray(self.auxiliary_)), a.T).T @ self.kernel_)

    def _ridged(self, A: Floats) -> Floats:
        """Add the ridge, relative to the mean self-similarity."""
        return A + self.regularization * (float(np.trace(A)) / len(A) or 1.0) * np.eye(len(A))
