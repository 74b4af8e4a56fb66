"""Several similarities and kernels in one classifier. [chen2010] sec. 5.4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similis._utils.arrays import Array, Indices
from similis._utils.linalg import is_psd, roundoff, symmetric_part, symmetric_part_of
from similis.base import Integral, Options, Points, check_stack_width, choice, estimator, param, positive
from similis.exceptions import ProximityError
from similis.solvers import SpectralMachine, signed_mkl
from similis.svm._base import LearnedSVM, eigen_system
from similis.svm._sim_svm import SimSVM, Spectrum


@estimator
class SimMKL(LearnedSVM):
    """SimMKL: learns weights of several kernels and spectra of several indefinite similarities in one classifier.

    Reads a stack n x n x q (see :func:`similis.make_stack`). The kernel is the sum of the similarities, each with its
    spectrum modified as in SimSVM, and of the kernels with weights w >= 0. Minimizes mean hinge loss + eta c'Kc + gamma
    sum_k ||alpha_k - anchor|| subject to sum_j w_j tr(K_j) <= trace. See [chen2010] Eq. (5.32)-(5.33), (5.35)-(5.36).

    Parameters
    ----------
    eta : float, default=0.01
        Weight of c'Kc; the usual C is 1 / (2 n eta).
    gamma : float, default=0.1
        Weight of the distances of the multipliers from their anchors.
    trace : float, default=None
        Trace shared by the weights. None: the trace of the first anchored similarity, n without one.
    roles : "kernels" or sequence of {"similarity", "kernel"}, default=None
        Role of each slice. None: positive semi-definite slices are kernels, the others similarities. "kernels": all
        are kernels, after their spectra are clipped: multiple kernel learning, eq. (5.33).
    anchor : {"clip", "flip", "identity"}, default="clip"
        Multipliers towards which the learned ones are regularized, as in SimSVM.
    norm : {1, 2}, default=2
        Norm of their difference; 1 keeps most multipliers at the anchor. The anchor "identity" has its own.
    signed : bool, default=False
        Weights of kernels may be negative, as long as the kernel is positive semi-definite, eq. (5.32); kernels only.

    Attributes
    ----------
    classes_, roles_, names_ : ndarray of shape (G,), tuple of str, tuple of str
        Class labels, and role and name of each slice; names are those of the stack, else ``"0"``, ``"1"``, ...
    weights_, named_weights_ : ndarray of shape (m,), dict of str to float
        w, in the order of the kernels among the slices, and by name; two classes only, as all down to ``n_iter_``.
    eigenvalues_, eigenvectors_, alpha_ : ndarray, or lists of ndarray with several similarities
        Eigen-system and multipliers of each similarity; empty lists without one.
    active_ : bool
        False where every anchor is optimal as it is; only set where there is no kernel.
    dual_coef_, trace_, n_iter_ : ndarray of shape (n,), float, int
        c, the trace shared, and the number of interior-point steps.
    coef_, intercept_ : ndarray of shape (n, q) and float, or ndarrays over the pairs of classes for three or more
        f = sum of products of a new block with coef, + b.
    objective_, gap_, pairs_, estimators_
        As in :class:`SimSVM`.

    Notes
    -----
    docs/guide/duals.md derives the dual. The weights use the whole trace, which never makes the objective worse. A
    slice of zeros has weight zero.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import SimMKL, make_stack
    >>> S = np.array([[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 0, 0.8], [0.2, 0, 0.8, 0]])
    >>> stack = make_stack([S, np.eye(4), S @ S], names=["judged", "same", "rows"])
    >>> model = SimMKL().fit(stack, ["a", "a", "b", "b"])
    >>> model.roles_, {name: round(w, 2) for name, w in model.named_weights_.items()}
    (('similarity', 'kernel', 'kernel'), {'same': 0.06, 'rows': 0.51})
    """

    eta: float = param(0.01, positive())
    gamma: float = param(0.1, positive())
    trace: float | None = param(None, positive(), None)
    roles: Any = param(None, choice("kernels"), "array-like", None)
    anchor: str = param("clip", choice("clip", "flip", "identity"))
    norm: int = param(2, Options(Integral, {1, 2}))
    signed: bool = param(False, "boolean")

    _added_params = ("norm", "signed")  # since 1.0
    path_params = ("eta", "gamma")
    _names = (*SimSVM._names, "weights_", "named_weights_", "trace_")
    allow_stack = True

    def check_training(self, X: ArrayLike, *, keep_sparse: bool = False) -> Any:
        S = super().check_training(X)
        names = getattr(X, "names", None)
        self.names_ = tuple(map(str, range(S.shape[2] if S.ndim == 3 else 1))) if names is None else tuple(names)
        return S

    def check_rows(self, X: ArrayLike) -> Any:
        Q = super().check_rows(X)
        if hasattr(self, "roles_"):
            check_stack_width(Q, len(self.roles_), self)
        return Q if Q.ndim == 3 else Q[:, :, None]

    def _symmetrize(self, S: Array) -> Any:
        """Stack of symmetric slices; sets ``roles_``."""
        slices = np.moveaxis(S if S.ndim == 3 else S[:, :, None], 2, 0)
        if not hasattr(self, "names_") or len(self.names_) != len(slices):
            self.names_ = tuple(map(str, range(len(slices))))
        symmetric = [symmetric_part_of(A, type(self).__name__) for A in slices]
        self.roles_ = self._check_roles(symmetric)
        return np.stack(symmetric, axis=2)

    def _check_roles(self, slices: Any) -> Any:
        if isinstance(self.roles, str):
            return ("kernel",) * len(slices)
        if self.roles is None:
            return tuple("kernel" if _is_kernel(A) else "similarity" for A in slices)
        roles = tuple(map(str, np.atleast_1d(np.asarray(self.roles))))
        if len(roles) != len(slices) or not set(roles) <= {"similarity", "kernel"}:
            raise ProximityError(
                f"roles must name each of the {len(slices)} slices 'similarity' or 'kernel'. Got {len(roles)}: "
                f"{', '.join(roles)[:100]}."
            )
        for A, role, name in zip(slices, roles, self.names_):
            if role == "kernel" and not _is_kernel(A):
                raise ProximityError(
                    f"Slice {name!r} is declared a kernel but has a negative eigenvalue, "
                    f"{eigen_system(A).values[0]:.3g}. Declare it a similarity, or make it a kernel with SpectrumClip."
                )
        return roles

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        """Class scores of new rows for each point; roles and symmetry are those of the training part."""
        stack = self._symmetrize(S)
        check_stack_width(Q, stack.shape[2], self)
        return super().path_scores(stack, codes, Q if Q.ndim == 3 else Q[:, :, None], points)

    def _solutions(self, S: Array, y: Any, points: Points) -> Iterator[Any]:
        similar = [k for k, role in enumerate(self.roles_) if role == "similarity"]
        others = [k for k, role in enumerate(self.roles_) if role == "kernel"]
        if self.signed and similar:
            raise ProximityError(
                f"signed=True combines kernels only. Slice {self.names_[similar[0]]!r} is a similarity: set "
                "roles='kernels'."
            )
        spectra = [Spectrum(np.ascontiguousarray(S[:, :, k]), self.anchor, self.norm) for k in similar]
        kernels = [np.asarray(symmetric_part(S[:, :, k]), dtype=np.float64) for k in others]
        bases: list[Any] = [None] * len(others)  # eigenvectors of clipped kernels
        if isinstance(self.roles, str):
            for j, K in enumerate(kernels):
                system = eigen_system(K)
                kept = system.values > system.tolerance
                bases[j] = system.vectors[:, kept]
                kernels[j] = (bases[j] * system.values[kept]) @ bases[j].T
        trace = self.trace
        if trace is None:
            first = float(spectra[0].learned.values @ spectra[0].learned.anchor) if spectra else 0.0
            trace = first if first > 0 else float(len(y))
        machine = None if self.signed else SpectralMachine(y, [s.learned for s in spectra], kernels, trace)
        for point in points:
            eta, gamma = point["eta"], point["gamma"]
            fit = signed_mkl(y, kernels, trace, eta) if machine is None else machine.solve(eta, gamma)
            coef, systems = np.zeros((len(y), S.shape[2])), []
            for k, spectrum, multipliers in zip(similar, spectra, fit.alphas):
                alpha, coef[:, k] = spectrum.modify(multipliers, fit.coef)
                systems.append((spectrum.values, spectrum.vectors, alpha))
            for k, weight_k, U in zip(others, fit.weights, bases):
                # [chen2010] sec. 4.1 -> a new row s of a clipped kernel is U U's
                coef[:, k] = weight_k * (fit.coef if U is None else U @ (U.T @ fit.coef))
            learned: dict[str, Any] = {}
            for part, name in enumerate(("eigenvalues_", "eigenvectors_", "alpha_")):
                learned[name] = systems[0][part] if len(systems) == 1 else [system[part] for system in systems]
            learned |= {"active_": fit.active, "dual_coef_": fit.coef, "n_iter_": fit.n_iter, "weights_": fit.weights}
            learned["named_weights_"] = dict(zip((self.names_[k] for k in others), fit.weights.tolist()))
            yield fit, coef, learned | {"trace_": float(trace)}


def _is_kernel(A: Array) -> Any:
    """True if no eigenvalue of a symmetric matrix is negative beyond round-off."""
    norm = min(float(np.linalg.norm(A, 1)), float(np.linalg.norm(A)))
    return norm == 0 or is_psd(A, above=-roundoff(len(A), norm, A.dtype))
