"""Kernels learnt with the machine: [chen2010] tables 5.1-5.5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis.proximity import SpectrumClip, SpectrumFlip, SpectrumShift
from similis.reproduce._data import CLEAN, load_part
from similis.reproduce._method import Method, Part, powers
from similis.reproduce._problems import DataProblem, Problem, SplitRuns, percent_wrong
from similis.reproduce._published import PublishedCell
from similis.svm import IndefiniteSVM, SimMKL, SimSVM

__all__ = ["FUSION", "LEARNT", "LP", "affordable", "fusion_problem", "learnt_problem", "lp_problem", "with_treatments"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SliceMethod(Method):
    """A method that reads one matrix of a stack."""

    at: int = 0

    @property
    def fingerprint(self) -> str:
        """With the number of the matrix."""
        return f"{super().fingerprint}-{self.at}"

    def fit(self, part: Part, seed: int) -> tuple[Any, dict[str, Any]]:
        """Train on the one matrix."""
        return super().fit(replace(part, proximities=part.proximities[..., self.at]), seed)

    def predict(self, model: Any, part: Part) -> NDArray[Any]:
        """Answer from the one matrix."""
        return super().predict(model, replace(part, proximities=part.proximities[..., self.at]))


# [chen2010] sec. 5.3.2.
_SVC = SVC(kernel="precomputed", max_iter=100_000)
_C = powers(-3, 3)
LEARNT = {
    "simsvm": Method(SimSVM(), {"eta": powers(-4, 1), "gamma": powers(-4, 4)}, cv=10),
    "indefinite-svm": Method(IndefiniteSVM(), {"C": _C, "rho": powers(-3, 3)}, cv=10),
    "svm-kernel(clip)": Method(make_pipeline(SpectrumClip(), _SVC), {"svc__C": _C}, cv=10),
    "svm-kernel(flip)": Method(make_pipeline(SpectrumFlip(), _SVC), {"svc__C": _C}, cv=10),
    "svm-kernel(shift)": Method(make_pipeline(SpectrumShift(), _SVC), {"svc__C": powers(-5, 3)}, cv=10),
}
# Sec. 5.4.3: the similarity and three kernels made from its rows.
FUSION = {
    **{name: method for name, method in LEARNT.items() if name.startswith("svm-kernel")},
    "simmkl": Method(
        SimMKL(roles=("similarity", "kernel", "kernel", "kernel")),
        {"eta": powers(-4, 0), "gamma": powers(-3, 3)},
        cv=10,
    ),
    **{f"svm(kernel-{k})": SliceMethod(_SVC, {"C": _C}, cv=10, at=k) for k in (1, 2, 3)},
}
# Sec. 5.3.1: both parameters are fixed.
_FIXED = Method(SimSVM(eta=0.01, gamma=0.01, norm=1))
LP = {"simsvm-socp": _FIXED, "simsvm-lp": _FIXED}
_WIDTHS = {"Aural Sonar": (0.01, 0.1), "Protein-2": (0.1, 0.05), "Protein-2, clean": (0.1, 0.05)}


@dataclass(frozen=True)
class LearntRuns(SplitRuns):
    """Random splits as in sec. 4.3; for SimSVM also what becomes of the error when new rows are treated otherwise.

    For protein the multipliers are drawn to flip, for the others to clip, as the paper chose from its ch. 4.
    """

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Draw the split."""
        known, new, test = self.split(run)
        own = np.diag(self.whole().proximities)[test]

        def solve(method: Method, seed: int) -> tuple[dict[str, float], Any]:
            if isinstance(method.estimator, SimSVM) and self.dataset.startswith("Protein"):
                method = replace(method, estimator=clone(method.estimator).set_params(anchor="flip"))
            model, chosen = method.fit(known, seed)
            values = {"error": percent_wrong(method.predict(model, new), new.labels)}
            if isinstance(method.estimator, SimSVM):
                values |= _other_rows(model.best_estimator_, known, new, own)
            return values, chosen

        return solve


def _other_rows(model: SimSVM, known: Part, new: Part, own: Array) -> dict[str, float]:
    """Errors with new rows as they are, and modified with the whole augmented matrix as the anchor is."""
    clip, c = model.anchor == "clip", _least_norm(model)
    augmented = np.empty_like(new.proximities)
    for row, s, t in zip(augmented, new.proximities, own):
        S = np.block([[known.proximities, s[:, None]], [s[None], np.full((1, 1), t)]])
        values, U = np.linalg.eigh(S)
        modified = np.maximum(values, 0.0) if clip else np.abs(values)
        row[:] = ((U[-1] * modified) @ U.T)[:-1]
    return {
        f"error, {name}": percent_wrong(model.classes_[(rows @ c + model.intercept_ > 0).astype(int)], new.labels)
        for name, rows in (("rows as they are", new.proximities), ("augmented rows", augmented))
    }


def _least_norm(model: SimSVM) -> Array:
    """[chen2010] below Eq. (5.31) -> c* = U (diag(alpha) Lambda)^+ z*: nothing where the kernel has nothing."""
    spectrum = np.abs(model.alpha_ * model.eigenvalues_)
    U = model.eigenvectors_[:, spectrum > 1e-9 * spectrum.max()]
    return np.asarray(U @ (U.T @ model.dual_coef_))


@dataclass(frozen=True)
class FusionRuns(SplitRuns):
    """The same splits with a stack: S, its rows' linear kernel and two Gaussian ones, all made from the whole set."""

    def whole(self) -> Part:
        """All objects, as a stack."""
        part = load_part(self.dataset, self.similarity)
        S = part.proximities
        square = np.maximum(((S[:, None] - S) ** 2).sum(axis=2), 0.0)
        kernels = [S @ S, *(np.exp(-width * square) for width in _WIDTHS[self.dataset])]
        return Part(np.stack([S, *kernels], axis=2), part.labels, part.kind)


@dataclass(frozen=True)
class LPRuns(DataProblem):
    """Sec. 5.3.1: SimSVM on all objects by the linear programme (5.28), p random vectors an eigenvalue; 0: exactly."""

    p: int = 0

    @property
    def paper_runs(self) -> int:
        """Ten runs."""
        return 10

    @property
    def most_runs(self) -> int | None:
        """The optimum itself has no randomness."""
        return None if self.p else 2

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Draw the vectors and solve."""
        whole = self.whole()

        def solve(method: Method, seed: int) -> tuple[dict[str, float], Any]:
            model = clone(method.estimator).fit(whole.proximities, whole.labels)
            # Not symmetric in the labels: the vectors of a nearly constant eigenvector have all the same sign.
            y = np.where(whole.labels == model.classes_[0], 1.0, -1.0)
            exact = _Solution.of(model)
            if not self.p:
                return exact.values(y), {}
            found = lp_approximation(model, y, self.p, self.generator(run))
            return found.values(y) | found.differences(exact), {}

        return solve


@dataclass(frozen=True)
class _Solution:
    """c, b, alpha and f = K c + b on the training objects."""

    objective: float
    c: Array
    b: float
    alpha: Array
    f: Array

    @classmethod
    def of(cls, model: SimSVM) -> _Solution:
        """The exact one, the first class positive; c of least norm, as the paper recovers it."""
        U, spectrum, c = model.eigenvectors_, model.alpha_ * model.eigenvalues_, _least_norm(model)
        f = (U * spectrum) @ (U.T @ c) + model.intercept_
        return cls(model.objective_, -c, -model.intercept_, model.alpha_, -f)

    def values(self, y: Array) -> dict[str, float]:
        """What table 5.1 shows, but for the time."""
        return {
            "objective": self.objective,
            "empirical-risk": float(np.maximum(0.0, 1 - y * self.f).mean()),
            "empirical-error": percent_wrong(np.sign(self.f), y),
        }

    def differences(self, exact: _Solution) -> dict[str, float]:
        """What table 5.2 shows: ||x - x0|| / ||x0|| in percent."""
        return {
            f"difference-{name}": float(100 * np.linalg.norm(np.subtract(a, b)) / np.linalg.norm(b))
            for name, a, b in (
                ("objective", self.objective, exact.objective),
                ("c", self.c, exact.c),
                ("b", self.b, exact.b),
                ("alpha", self.alpha, exact.alpha),
            )
        }


def lp_approximation(model: SimSVM, y: Array, p: int, generator: np.random.Generator) -> _Solution:
    """Solve [chen2010] Eq. (5.28), the random vectors drawn as sec. 5.3.1 says."""
    keep = np.abs(model.eigenvalues_) > 1e-10 * np.abs(model.eigenvalues_).max()
    values, U = model.eigenvalues_[keep], model.eigenvectors_[:, keep]
    n, r = U.shape
    anchor = (values >= 0).astype(float)
    tau = generator.normal(U.mean(axis=0)[:, None], U.std(axis=0, ddof=1)[:, None], size=(r, p))
    # variables w (r p), b, xi (n), v (r)
    margins = np.repeat(U, p, axis=1) * tau.ravel() * -y[:, None]
    sums = sparse.kron(sparse.diags_array(1 / values), np.ones((1, p)))
    zero = sparse.csr_array((r, n + 1))
    one = sparse.eye_array(r)
    A = sparse.vstack(
        [
            sparse.csr_array(np.hstack([margins, -y[:, None], -np.eye(n), np.zeros((n, r))])),
            sparse.hstack([sums, zero, -one]),
            sparse.hstack([-sums, zero, -one]),
        ]
    ).tocsr()
    cost = np.concatenate([model.eta * tau.ravel() ** 2, [0.0], np.full(n, 1 / n), np.full(r, model.gamma)])
    bounds = [(0, None)] * (r * p) + [(None, None)] + [(0, None)] * (n + r)
    found = linprog(cost, A_ub=A, b_ub=np.concatenate([-np.ones(n), anchor, -anchor]), bounds=bounds, method="highs-ds")
    w, b = found.x[: r * p].reshape(r, p), float(found.x[r * p])
    spectrum, z = w.sum(axis=1), (w * tau).sum(axis=1)
    used = spectrum > 1e-12 * spectrum.max()
    c = U[:, used] @ (z[used] / spectrum[used])
    alpha = np.where(model.eigenvalues_ >= 0, 1.0, 0.0)
    alpha[keep] = spectrum / values
    return _Solution(float(found.fun), c, b, alpha, U @ z + b)


def _named(kind: type[Any], start: str, cell: PublishedCell, **more: Any) -> Any:
    name = f"{start} {cell.dataset}"
    return kind(name, cell.dataset, seeds=f"splits {cell.dataset.removesuffix(CLEAN)}", **more)


def learnt_problem(cell: PublishedCell) -> Problem:
    """Tables 5.3 and 5.4."""
    return _named(LearntRuns, "learnt", cell)


def fusion_problem(cell: PublishedCell) -> Problem:
    """Table 5.5; what needs the similarity alone is taken over from table 5.3."""
    return learnt_problem(cell) if cell.method.startswith("svm-kernel") else _named(FusionRuns, "fusion", cell)


def lp_problem(cell: PublishedCell) -> Problem:
    """Tables 5.1 and 5.2."""
    p = int(cell.condition.get("p", 0))
    return LPRuns(f"linear programme {cell.dataset} p={p}", cell.dataset, p=p)


def affordable(cells: list[PublishedCell]) -> list[PublishedCell]:
    """Without the programmes of 50 vectors and more on the votes: 7,000,000 to 30,000,000 non-zeros."""
    return [cell for cell in cells if cell.dataset != "Voting" or int(cell.condition.get("p", 0)) < 50]


def with_treatments(cells: list[PublishedCell]) -> list[PublishedCell]:
    """Cells of table 5.4: the quantity says how new rows are treated; the augmented rule stands beside the paper's."""
    found = []
    for cell in cells:
        if cell.condition["test-similarities"] == "unmodified":
            found.append(replace(cell, quantity="error, rows as they are"))
            continue
        condition = {**cell.condition, "test-similarities": "augmented"}
        found += [cell, replace(cell, condition=condition, quantity="error, augmented rows")]
    return found
