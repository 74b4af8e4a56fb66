"""Incomplete kernels made whole. [chen2010] ch. 6."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from similis._utils.linalg import roundoff, symmetric_part_of
from similis._utils.params import at_least, between, choice, positive, validated_function
from similis._utils.validation import check_proximity
from similis._utils.warn import warn_user
from similis.exceptions import ProximityError
from similis.proximity._symmetrize import symmetrize
from similis.solvers import (
    Completion,
    Infeasible,
    em_completion,
    frobenius_completion,
    mixture_completion,
    nearest_completion,
    nuclear_completion,
    wishart_completion,
)

__all__ = [
    "AUXILIARY",
    "CONSTRAINTS",
    "check_auxiliary",
    "check_kernel",
    "check_partial",
    "complete",
    "complete_kernel",
    "known_objects",
    "noise_weight",
]

AUXILIARY = ("em", "frobenius", "wishart")  # methods that learn from another kernel
_NOISE = 0.05  # what mu="auto" takes of the largest eigenvalue

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


_MATRIX = ["array-like", "sparse matrix"]  # sparse ones are refused where matrices are looked at, in a sentence


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
) -> NDArray[Any]:
    """Fill in what is not known of a kernel matrix.

    Two situations. Some objects were never measured, so that whole rows and columns are missing: an auxiliary kernel
    over all objects, cheaper or noisier, tells how they relate (``"em"``, ``"frobenius"``, ``"wishart"``). Or
    entries are missing here and there: the others determine them if the spectrum is small (``"nuclear"``, ``"psd"``).

    Parameters
    ----------
    K_partial : array-like of shape (n, n)
        Kernel or similarity matrix; NaN marks an unknown entry. A pair known in one direction is taken as known.
    K_aux : array-like of shape (n, n), list of these or stack (n, n, q), default=None
        Auxiliary kernel, positive semi-definite and complete; for the first three methods, which need it.
    method : {"em", "frobenius", "wishart", "nuclear", "psd"}, default="em"
        What the completed kernel K shall be like.

        - ``"em"``: near to a kernel M with the eigenvectors of `K_aux` in Stein's loss, Eq. (6.4). For several
          auxiliary kernels M is a weighted sum of them.
        - ``"frobenius"``: near to such an M in the Frobenius norm, Eq. (6.5).
        - ``"wishart"``: the expectation under a Wishart model around `K_aux`.
        - ``"nuclear"``: of the smallest nuclear norm, Eq. (6.2), or, with `mu`, fitting the known entries up to noise.
        - ``"psd"``: the kernel nearest to the known entries, Eq. (6.1).
    psd : bool, default=True
        Whether ``"nuclear"`` shall be positive semi-definite. Similarities that are not had better say False.
    mu : float or "auto", default=0.0
        Weight of the nuclear norm against the squared error of the known entries; 0 keeps them exactly. ``"auto"`` is
        5 % of the largest eigenvalue of the matrix with zeros for what is unknown. Only for ``"nuclear"``.
    eta : float, default=1.0
        How much the auxiliary kernel counts in ``"wishart"``.
    degrees_of_freedom : float, default=None
        r of ``"wishart"``, above n - 1; None finds the most probable one.
    regularization : float, default=1e-6
        Smallest weight of an eigenvector in ``"em"``, and what is added to the diagonal of a sum of kernels and of
        `K_aux` in ``"wishart"``: relative to the mean self-similarity.
    tol : float, default=None
        When to stop; None is the method's own.
    max_iter : int, default=5000
        Steps at most.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, float32 if `K_partial` is. Known entries are kept exactly by all methods but ``"psd"`` and
        ``"nuclear"`` with `mu`. Positive semi-definite unless ``psd=False``. The input stays unchanged.

    See Also
    --------
    CompleteKernel : the same in a pipeline, with a rule for new rows, and with weights and losses to look at.
    similis.CompletionSVM : completes the kernel and trains a machine at once.

    Notes
    -----
    ``"em"`` alternates closed forms; Stein's loss never rises. The known block may be singular: `regularization`
    keeps the loss finite. For a sum of auxiliary kernels the second step has no closed form and is replaced by
    one that lowers a bound of the loss; the weights are not asked to sum to one, as the paper does, so that the
    kernels need not have the scale of K. The other methods take that sum for their one auxiliary kernel.

    ``"wishart"`` is a fixed point in closed form (see the solver): K12 = K11 B, K22 = B'K11 B + q Q, with B and Q the
    regression of `K_aux` on the known objects and its residual, and q < 1 the only thing that r and eta decide.

    With the whole diagonal known, the trace is fixed and Eq. (6.2) says nothing about a positive semi-definite matrix
    but that it is one: ``"nuclear"`` then returns some such completion. Where there is none, it says so.

    References
    ----------
    [chen2010] Eq. (6.1)-(6.5), sec. 6.1.

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
    K, known = check_partial(K_partial, "complete_kernel")
    options: dict[str, Any] = {
        "psd": psd,
        "mu": mu,
        "eta": eta,
        "degrees_of_freedom": degrees_of_freedom,
        "regularization": regularization,
        "tol": tol,
        "max_iter": max_iter,
    }
    kernels = check_auxiliary(K_aux, len(K), method, "complete_kernel")
    found, _, _ = complete(K, known, kernels, method, who="complete_kernel", **options)
    return found.kernel.astype(K.dtype)


def complete(
    K: NDArray[Any],
    known: NDArray[np.bool_],
    kernels: list[NDArray[np.float64]],
    method: str,
    *,
    who: str,
    psd: bool,
    mu: float | str,
    eta: float,
    degrees_of_freedom: float | None,
    regularization: float,
    tol: float | None,
    max_iter: int,
) -> tuple[Completion, NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Complete a checked matrix; also the auxiliary kernel that was used, and how several were weighted for it."""
    dtype, K = K.dtype, K.astype(np.float64)
    steps: dict[str, Any] = {"max_iter": max_iter} if tol is None else {"max_iter": max_iter, "tol": tol}
    if method not in AUXILIARY:
        found = _scattered(K, known, method, who, psd, noise_weight(K, known, mu), steps)
        _report(found, who, method)
        return found, None, None
    rows = known_objects(known, f"{who} with method={method!r}", "method='nuclear' or 'psd'")
    block = np.ix_(rows, rows)
    check_kernel(K[block], f"{who} with method={method!r} needs known entries that form a kernel", dtype)
    unit = float(np.trace(K[block])) / max(int(rows.sum()), 1) or 1.0
    try:
        found, aux, shares = _with_auxiliary(
            K, rows, kernels, method, eta=eta, degrees=degrees_of_freedom, share=regularization, unit=unit, steps=steps
        )
    except np.linalg.LinAlgError:
        raise ProximityError(
            f"{who} with method={method!r} met a singular auxiliary kernel. Raise regularization above "
            f"{regularization:g}."
        ) from None
    _report(found, who, method)
    return found, aux, shares


def _with_auxiliary(
    K: NDArray[np.float64],
    rows: NDArray[np.bool_],
    kernels: list[NDArray[np.float64]],
    method: str,
    *,
    eta: float,
    degrees: float | None,
    share: float,
    unit: float,
    steps: dict[str, Any],
) -> tuple[Completion, NDArray[np.float64], NDArray[np.float64] | None]:
    """Complete by the auxiliary kernel; `share` of the mean self-similarity, `unit`, keeps matrices regular."""
    aux, shares = kernels[0], None
    if len(kernels) > 1:
        found, aux = mixture_completion(K, rows, kernels, ridge=share * unit, **steps)
        shares = found.weights
    if method == "em" and len(kernels) == 1:
        found = em_completion(K, rows, aux, floor=share * unit, **steps)
    elif method == "frobenius":
        found = frobenius_completion(K, rows, aux, **steps)
    elif method == "wishart":
        _check_degrees(degrees, len(K))
        ridge = share * (float(np.trace(aux)) / len(aux) or 1.0)
        model = aux + ridge * np.eye(len(aux))
        found = wishart_completion(K, rows, model, eta=eta, degrees_of_freedom=degrees)
    return found, aux, shares


def noise_weight(K: NDArray[np.float64], known: NDArray[np.bool_], mu: float | str) -> float:
    """The weight of the nuclear norm as a number."""
    if not isinstance(mu, str):
        return float(mu)
    return _NOISE * float(np.abs(np.linalg.eigvalsh(np.where(known, K, 0.0))).max(initial=0.0))


def check_partial(K_partial: ArrayLike, who: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A symmetric matrix with NaN where neither direction is known, and where it is known."""
    S = check_proximity(K_partial, allow_missing=True)
    both = ~np.isnan(S) & ~np.isnan(S.T)
    symmetric_part_of(np.where(both, S, 0.0).astype(S.dtype), who)
    K = symmetrize(S)
    known = ~np.isnan(K)
    if not known.any():
        raise ProximityError(f"{who} needs at least one known entry. Got a matrix of NaN alone.")
    return K, known


def check_auxiliary(K_aux: Any, n: int, method: str, who: str) -> list[NDArray[np.float64]]:
    """The auxiliary kernels, checked; none for methods that read none."""
    if method not in AUXILIARY:
        if K_aux is not None:
            raise ProximityError(f"method={method!r} reads no auxiliary kernel; leave it out, or use 'em'.")
        return []
    if K_aux is None:
        raise ProximityError(
            f"{who} with method={method!r} needs an auxiliary kernel over all objects. For a single matrix with "
            "scattered unknown entries use method='nuclear' or 'psd'."
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
    """The matrices of a list or of a stack; whatever else there is counts as one, and is judged later."""
    if isinstance(K_aux, (list, tuple)):
        with suppress(ValueError):  # rows of different lengths
            if len(K_aux) and np.ndim(K_aux[0]) == 2:
                return list(K_aux)
    elif getattr(K_aux, "ndim", 2) == 3:
        return [K_aux[:, :, k] for k in range(K_aux.shape[2])]
    return [K_aux]


def check_kernel(A: NDArray[np.float64], must: str, dtype: Any = np.float64) -> None:
    """Refuse a matrix that is indefinite beyond what rounding to `dtype` explains."""
    values = np.linalg.eigvalsh(A)
    size = float(np.abs(values).max(initial=0.0))
    if values[0] < -max(roundoff(len(A), size, dtype), 1e-7 * size):
        raise ProximityError(
            f"{must}: positive semi-definite. Got a smallest eigenvalue of {values[0]:.3g}. Clip it first, for "
            "example with SpectrumClip."
        )


def known_objects(known: NDArray[np.bool_], who: str, instead: str) -> NDArray[np.bool_]:
    """The objects that are known, where every entry is known between two of them and no other."""
    rows: NDArray[np.bool_] = np.asarray(known.any(axis=1))
    scattered = rows[:, None] & rows & ~known
    if scattered.any():
        i, j = np.argwhere(scattered)[0]
        raise ProximityError(
            f"{who} needs whole rows missing. Got NaN at row {i}, column {j}, though both objects have known entries. "
            f"Use {instead} for scattered entries, or hide one of the objects altogether."
        )
    return rows


def _scattered(
    K: NDArray[np.float64],
    known: NDArray[np.bool_],
    method: str,
    who: str,
    psd: bool,
    mu: float,
    steps: dict[str, Any],
) -> Completion:
    if method == "psd":
        return nearest_completion(K, known, start=_additive(K, known), **steps)
    if mu > 0:
        return nearest_completion(K, known, mu=mu, psd=psd, **steps)
    try:
        return nuclear_completion(K, known, psd=psd, **steps)
    except Infeasible:
        raise ProximityError(
            f"{who} found no positive semi-definite matrix with these known entries. Allow for noise with mu='auto' or "
            "method='psd', or for a similarity that is no kernel with psd=False."
        ) from None


def _additive(K: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A first guess: mean of the row plus mean of the column minus the overall mean, each over known entries."""
    total = float(K[known].mean())
    counts = known.sum(axis=1)
    rows = np.where(counts > 0, np.where(known, K, 0.0).sum(axis=1) / np.maximum(counts, 1), total)
    return rows[:, None] + rows - total


def _check_degrees(r: float | None, n: int) -> None:
    if r is not None and r <= n - 1:
        raise ProximityError(f"degrees_of_freedom must be above n - 1 = {n - 1}. Got {r:.6g}.")


def _report(found: Completion, who: str, method: str) -> None:
    if not found.converged:
        warn_user(
            f"{who} with method={method!r} stopped after {found.n_iter} steps before it had converged; raise max_iter "
            "or tol.",
            ConvergenceWarning,
        )
