"""Completion of kernels with missing entries: :func:`complete_kernel` and :class:`CompleteKernel`, [chen2010] ch. 6."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similis import base, solvers
from similis._utils.arrays import Array, Floats, Mask
from similis._utils.linalg import symmetric_part_of
from similis._utils.messages import warn_user
from similis.base import at_least, between, choice, estimator, param, positive
from similis.exceptions import ProximityError
from similis.proximity._base import ToRows

AUXILIARY = ("em", "frobenius", "wishart")  # methods that use an auxiliary kernel
_NOISE = 0.05  # mu="auto" as a fraction of the largest eigenvalue


def _check_auxiliary(K_aux: Any, n: int, method: str, who: str) -> list[Floats]:
    """Validate the auxiliary kernels, a list, a stack or one matrix; return a list, empty for methods that use none."""
    if method not in AUXILIARY:
        if K_aux is not None:
            raise ProximityError(f"method={method!r} uses no auxiliary kernel. Omit K_aux, or use method='em'.")
        return []
    if K_aux is None:
        raise ProximityError(
            f"{who} with method={method!r} needs an auxiliary kernel over all objects. For a single matrix with "
            "scattered missing entries use method='nuclear' or 'psd'."
        )
    slices, kernels = [K_aux], []
    if getattr(K_aux, "ndim", 2) == 3:
        slices = [K_aux[:, :, k] for k in range(K_aux.shape[2])]
    with suppress(ValueError):  # rows of different lengths
        if isinstance(K_aux, (list, tuple)) and len(K_aux) and np.ndim(K_aux[0]) == 2:
            slices = list(K_aux)
    for k, A in enumerate(slices):
        A = base.check_proximity(A)
        dtype, A = A.dtype, A.astype(np.float64)
        name = "The auxiliary kernel" if len(slices) == 1 else f"Auxiliary kernel {k}"
        if len(A) != n:
            raise ProximityError(f"{name} must be over the same {n} objects. Got {len(A)}.")
        A = symmetric_part_of(A, name)
        base.check_kernel(A, f"{name} must be a kernel", dtype)
        kernels.append(A)
    return kernels


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
    auxiliary kernel (:func:`similis.make_stack`) and choose ``method="em"``.

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
        Keep known entries unchanged; else return the fitted matrix, without their noise, for ``"psd"`` a kernel.
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
    mu_ : float
        Weight of the nuclear norm; 0 for the other methods.
    loss_path_ : ndarray
        ``"em"``: Stein's loss after each step, which never rises; else empty.
    n_missing_, n_iter_ : int
        Numbers of missing entries of the training matrix, and of steps; 0 for a closed form.

    Notes
    -----
    A new row with known entries s_J is completed by r = K_.J (K_JJ + mu/2 I)^+ s_J, the row of smallest norm in the
    range of K that fits them best, as a training row is; |K| replaces an indefinite K. With an auxiliary row a, the
    estimate r0 = K K_aux^+ a becomes r0 + K_.J K_JJ^+ (s_J - r0_J), the conditional expectation in the Wishart model.

    Examples
    --------
    >>> from numpy import nan
    >>> from similis import CompleteKernel
    >>> model = CompleteKernel(mu=0, psd=True).fit([[4.0, 2.0, nan], [2.0, 9.0, 3.0], [nan, 3.0, 1.0]])
    >>> model.transform([[nan, 6.0, 2.0]]).round(3)
    array([[1.333, 6.   , 2.   ]])
    """

    method: str = param("nuclear", choice(*AUXILIARY, "nuclear", "psd"))
    psd: bool = param(False, "boolean")
    mu: float | str = param("auto", choice("auto"), between(0, None, "left"))
    eta: float = param(1.0, positive())
    degrees_of_freedom: float | None = param(None, positive(), None)
    regularization: float = param(1e-6, positive())
    keep_known: bool = param(True, "boolean")
    kind: str = param("similarity", choice("similarity", "dissimilarity"))
    tol: float | None = param(None, positive(), None)
    max_iter: int = param(5000, at_least(1))

    fitted_arrays = {
        "kernel_": base.fitted_reals("n", "n"),
        "_R": base.fitted_reals("n", None),
        "auxiliary_": base.fitted_reals("n", "n", optional=True),
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
            base.check_stack_width(Q, 1 + self._n_auxiliary, self)
            S, others = np.ascontiguousarray(Q[:, :, 0]), Q[:, :, 1:].astype(np.float64)
            if np.isnan(others).any():
                i, j, k = np.argwhere(np.isnan(others))[0]
                where = f"row {i}, column {j}, slice {k + 1}"
                raise ProximityError(f"CompleteKernel needs complete auxiliary rows. Got NaN at {where}.")
            a = others[:, :, 0] if self._shares is None else others @ self._shares
            guess = np.linalg.solve(self._ridged(np.asarray(self.auxiliary_)), a.T).T @ self.kernel_  # K K_aux^+ a
        factor, known, filled = solvers.KernelFactor(self._R), ~np.isnan(S), guess.copy()
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
        completion = self._complete(*base.check_partial_kernel(S, "CompleteKernel"), others, "CompleteKernel")
        self.kernel_, self.weights_ = completion.kernel, completion.weights
        self.objective_, self.loss_path_ = completion.objective, completion.path
        self.n_iter_, self.n_missing_ = completion.n_iter, int(np.isnan(S).sum())
        self._R = solvers.kernel_factor(completion.kernel).R
        return S

    def _complete(self, K: Array, known: Mask, K_aux: Any, who: str) -> solvers.Completion:
        """Complete a validated matrix; set the weight of the nuclear norm, the auxiliary kernel and its shares."""
        kernels = _check_auxiliary(K_aux, len(K), self.method, who)
        dtype, K, what = K.dtype, K.astype(np.float64), f"{who} with method={self.method!r}"
        self._n_auxiliary = len(kernels)
        self.auxiliary_: Floats | None = None
        self._shares: Floats | None = None
        self.mu_ = 0.0
        steps: dict[str, Any] = {"max_iter": self.max_iter} | ({} if self.tol is None else {"tol": self.tol})
        if self.method in AUXILIARY:
            rows = base.measured_objects(known, what, "method='nuclear' or 'psd'")
            block = K[np.ix_(rows, rows)]
            base.check_kernel(block, f"{what} needs known entries that form a kernel", dtype)
            unit = float(np.trace(block)) / max(int(rows.sum()), 1) or 1.0
            try:
                completion = self._complete_rows_of(K, rows, kernels, self.regularization * unit, steps)
            except np.linalg.LinAlgError:
                advice = f"Raise regularization above {self.regularization:g}."
                raise ProximityError(f"{what} got a singular auxiliary kernel. {advice}") from None
        elif self.method == "psd":
            completion = solvers.nearest_completion(K, known, start=_additive(K, known), **steps)
        else:
            completion = self._complete_entries(K, known, steps, who)
        if not completion.converged:
            text = f"{what} did not converge in {completion.n_iter} steps; raise max_iter or tol."
            warn_user(text, ConvergenceWarning)
        return completion

    def _complete_rows_of(
        self, K: Floats, rows: Mask, kernels: list[Floats], ridge: float, steps: dict[str, Any]
    ) -> solvers.Completion:
        """Complete K, known for some objects, with auxiliary kernels; `ridge` is in the unit of K."""
        aux = kernels[0]
        if len(kernels) > 1:
            completion, aux = solvers.mixture_completion(K, rows, kernels, ridge=ridge, **steps)
            self._shares = completion.weights
        elif self.method == "em":
            completion = solvers.em_completion(K, rows, aux, floor=ridge, **steps)
        if self.method == "frobenius":
            completion = solvers.frobenius_completion(K, rows, aux, **steps)
        elif self.method == "wishart":
            r = self.degrees_of_freedom
            if r is not None and r <= len(K) - 1:
                raise ProximityError(f"degrees_of_freedom must be above n - 1 = {len(K) - 1}. Got {r:.6g}.")
            completion = solvers.wishart_completion(K, rows, self._ridged(aux), eta=self.eta, degrees_of_freedom=r)
        self.auxiliary_ = aux
        return completion

    def _complete_entries(self, K: Floats, known: Mask, steps: dict[str, Any], who: str) -> solvers.Completion:
        """Complete scattered missing entries by a small nuclear norm."""
        if isinstance(self.mu, str):  # "auto"
            self.mu_ = _NOISE * float(np.abs(np.linalg.eigvalsh(np.where(known, K, 0.0))).max(initial=0.0))
        else:
            self.mu_ = float(self.mu)
        if self.mu_ > 0:
            return solvers.nearest_completion(K, known, mu=self.mu_, psd=self.psd, **steps)
        try:
            return solvers.nuclear_completion(K, known, psd=self.psd, **steps)
        except solvers.Infeasible:
            raise ProximityError(
                f"{who}: no positive semi-definite matrix has these known entries. Allow noise with mu='auto' or "
                "method='psd', or an indefinite similarity with psd=False."
            ) from None

    def _merge(self, S: Array, filled: Floats) -> Array:
        if self.kind == "dissimilarity":
            filled = np.maximum(filled, 0.0)
        return (np.where(np.isnan(S), filled, S) if self.keep_known else filled).astype(S.dtype)

    def _ridged(self, A: Floats) -> Floats:
        """Add the ridge, relative to the mean self-similarity."""
        return A + self.regularization * (float(np.trace(A)) / len(A) or 1.0) * np.eye(len(A))


_MATRIX = ["array-like", "sparse matrix"]  # sparse matrices are rejected later, with a clearer message


@base.validated_function({"K_partial": _MATRIX, "K_aux": [*_MATRIX, None], **CompleteKernel._parameter_constraints})
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

    If some objects were not measured, an auxiliary kernel over all objects, cheaper or noisier, relates them to the
    others (the first three methods). If single entries are missing, the known ones determine them under the assumption
    of a small spectrum.

    Parameters
    ----------
    K_partial : array-like of shape (n, n)
        Kernel or similarity matrix; NaN marks a missing entry. A pair known in one direction counts as known.
    K_aux : array-like of shape (n, n), list of these or stack (n, n, q), default=None
        Auxiliary kernel, positive semi-definite and complete; required by the first three methods.
    method : {"em", "frobenius", "wishart", "nuclear", "psd"}, default="em"
        Criterion for the completed kernel K.

        - ``"em"``: nearest in Stein's loss to a kernel M with the eigenvectors of `K_aux`, Eq. (6.4). For several
          auxiliary kernels M is a weighted sum of them, which is the auxiliary kernel of the other methods.
        - ``"frobenius"``: nearest to such an M in the Frobenius norm, Eq. (6.5).
        - ``"wishart"``: the expectation under a Wishart model around `K_aux`.
        - ``"nuclear"``: smallest nuclear norm, Eq. (6.2), or, with `mu`, fitting the known entries up to noise. With a
          known diagonal every positive semi-definite completion solves Eq. (6.2): one is returned, or an error raised.
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

    Notes
    -----
    ``"em"`` alternates closed forms; Stein's loss never rises. For a sum of auxiliary kernels the second step lowers an
    upper bound of the loss instead. The paper requires weights of sum one; here they are free, so that the kernels need
    not have the scale of K.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import complete_kernel
    >>> complete_kernel([[4.0, 2.0, np.nan], [2.0, 9.0, 3.0], [np.nan, 3.0, 1.0]], method="nuclear").round(3)
    array([[4.   , 2.   , 0.667],
           [2.   , 9.   , 3.   ],
           [0.667, 3.   , 1.   ]])
    """
    model = CompleteKernel(method=method, psd=psd, mu=mu, eta=eta, degrees_of_freedom=degrees_of_freedom)
    model.set_params(regularization=regularization, tol=tol, max_iter=max_iter)
    K, known = base.check_partial_kernel(K_partial, "complete_kernel")
    return model._complete(K, known, K_aux, "complete_kernel").kernel.astype(K.dtype)
