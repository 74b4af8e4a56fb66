"""Base classes of support vector machines on rows: pairs of classes, votes and fitted attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similis import base
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.fitted import fitted_indices, fitted_reals
from similis._utils.linalg import EigenSystem, eigen_symmetric, symmetric_part, take_symmetric_part
from similis._utils.messages import warn_user
from similis._utils.threads import single_blas_thread
from similis.base import DecisionMixin, PathMixin, Points, ProximityClassifier, validated
from similis.exceptions import ProximityError


def class_pairs(n_classes: int) -> Indices:
    """Pairs g < h of class codes, (G (G - 1) / 2, 2); decision values of a pair are positive for h."""
    return np.array(list(combinations(range(n_classes), 2)), dtype=np.intp).reshape(-1, 2)


def vote_scores(f: Array, n_classes: int) -> Floats:
    """Class scores (m, G) from the pairs' decision values f, (m, number of pairs): -f and f for two classes.

    Else the number of pairs won, plus the sum of margins mapped to (-1/3, 1/3), which breaks ties. The earlier class
    wins a pair at f = 0.
    """
    if n_classes == 2:
        return np.hstack([-f, f])
    votes, margins = np.zeros((2, len(f), n_classes))
    for (g, h), value in zip(class_pairs(n_classes), f.T):
        votes[:, h] += value > 0
        votes[:, g] += value <= 0
        margins[:, h] += value
        margins[:, g] -= value
    return votes + margins / (3.0 * (np.abs(margins) + 1.0))


@dataclass(frozen=True)
class Machine:
    """Solution for two classes, with its objective, its duality gap and further fitted attributes by name."""

    coef: Floats
    intercept: float
    objective: float
    gap: float
    learned: dict[str, Any] = field(default_factory=dict)
    scale: float = 0.0  # part of the objective that the gap is compared with


def warn_gap(model: Any, solution: Any, advice: str) -> None:
    """Warn of a solution with a large duality gap."""
    gap = f"duality gap {solution.gap:.1e} at objective {solution.objective:.3g}"
    warn_user(f"{type(model).__name__} did not converge: {gap}{advice}", ConvergenceWarning)


class MarginClassifier(DecisionMixin, PathMixin, ProximityClassifier):
    """Base class of support vector machines; scores are those of :func:`vote_scores`."""

    def scores_to_response(self, scores: Array, response: str) -> Array:
        if response == "decision_function" and scores.shape[1] == 2:
            return scores[:, 1]
        return super().scores_to_response(scores, response)


class RowMachine(MarginClassifier):
    """Base class of linear classifiers on rows; a subclass solves two-class problems in :meth:`_solve`."""

    fitted_arrays = {"coef_": fitted_reals(any_shape=True), "pairs_": fitted_indices(None, 2, below="G", optional=True)}
    accept_sparse = True
    multiclass = "ovo"
    _on_features = False  # columns are features of any kind instead of the training objects
    _names: tuple[str, ...] = ()  # further fitted attributes of a two-class solution

    def check_training(self, X: ArrayLike, *, keep_sparse: bool = False) -> Any:
        if not self._on_features:
            return super().check_training(X)
        self._warn_renamed_params()
        return base.check_block(X, accept_sparse=self.accept_sparse, estimator=self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = not self._on_features
        return tags

    def _solve(self, S: Array, y: Any, weight: Any, points: Points) -> list[Machine]:
        """Solutions for labels 1 and -1, one per grid point; weights are positive."""
        raise NotImplementedError

    @validated
    @single_blas_thread()
    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier, or one for each pair of classes, to proximities (n, n) or features (n, r).

        An object's `sample_weight` is equivalent to repeating it so often.
        """
        S, codes = self.check_training_labels(X, y)
        self._fit_machines(S, codes, base.check_class_weights(sample_weight, S, codes, self.classes_))
        return self

    def _fit_machines(self, S: Array, codes: Indices, weight: Array) -> Any:
        """Solve all two-class problems and set the fitted attributes; return the solutions."""
        point = {name: getattr(self, name) for name in self.path_params}
        tasks = list(self._tasks(codes, weight))
        machines = [self._solve(self._block(S, members), sign, weight[members], [point])[0] for members, sign in tasks]
        self._set_solution([self.path_columns(S, members) for members, _ in tasks], machines, S.shape[1])
        return machines

    def class_scores(self, Q: Array) -> Array:
        Q = self.kept_columns(Q)
        coef = (self.coef_[None] if len(self.classes_) == 2 else self.coef_)[:, self._kept_objects]
        return self._combine(_times(Q, coef) + np.atleast_1d(self.intercept_), len(self.classes_))

    def _combine(self, f: Array, n_classes: int) -> Any:
        """Class scores from decision values, (m, number of solutions)."""
        return f if self.multiclass == "ovr" and n_classes > 2 else vote_scores(f, n_classes)

    def _tasks(self, codes: Indices, weight: Array) -> Iterator[tuple[Indices, Floats]]:
        """Members and signs of each two-class problem, without objects of weight zero; code -1 has the sign 0."""
        G = int(codes.max()) + 1
        if self.multiclass == "ovr" and G > 2:
            members = np.flatnonzero(weight > 0)
            for g in range(G):
                yield members, np.where(codes[members] == g, 1.0, -1.0)
            return
        for g, h in class_pairs(G):
            members = np.flatnonzero(np.isin(codes, (-1, g, h)) & (weight > 0))
            yield members, (codes[members] == h) * 1.0 - (codes[members] == g)

    def _set_solution(self, columns: list[Indices], machines: Any, n: int) -> None:
        """Set the fitted attributes; `columns` are those that each solution reads, of n."""
        coef = np.zeros((len(columns), n, *machines[0].coef.shape[1:]))
        for row, own, machine in zip(coef, columns, machines):
            row[own] = machine.coef
        G = len(self.classes_)
        self.coef_ = coef[0] if G == 2 else coef
        self.intercept_: Any = machines[0].intercept if G == 2 else np.array([m.intercept for m in machines])
        for name in ("pairs_", "estimators_", "objective_", "gap_", *self._names):
            self.__dict__.pop(name, None)
        if G == 2:
            self.objective_, self.gap_ = machines[0].objective, machines[0].gap
            self.__dict__.update(machines[0].learned)
        else:
            sides: Any = [np.array([False, True])] * G
            if self.multiclass == "ovo":
                self.pairs_ = class_pairs(G)
                sides = self.classes_[self.pairs_]
            self.estimators_ = []  # each solution as a model of its own columns
            for two, own, machine in zip(sides, columns, machines):
                part = clone(self)
                part.classes_, part.n_features_in_ = two, len(own)
                part._set_solution([np.arange(len(own))], [machine], len(own))
                self.estimators_.append(part)
        support = np.flatnonzero(coef.any(axis=(0, *range(2, coef.ndim))))
        self.keep_columns(support if support.size else np.zeros(1, np.intp))

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        """Class scores fold by fold; every training part must contain two classes."""
        for fold in np.unique(test_fold):
            known = np.unique(codes[test_fold != fold])
            if len(known) < 2:
                raise ProximityError(
                    f"{type(self).__name__} needs at least two classes outside each fold; fold {fold} leaves only "
                    f"{base.quote(self.classes_[known[0]])}. Use fewer or stratified folds."
                )
        return self.score_folds(S, codes, test_fold, points)

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        values: list[list[Array]] = [[] for _ in points]
        for members, sign in self._tasks(codes, np.ones(len(codes))):
            rows = Q if len(members) == len(codes) else Q[:, self.path_columns(S, members)]
            for column, machine in zip(values, self._solve(self._block(S, members), sign, np.ones(len(sign)), points)):
                column.append(_times(rows, machine.coef[None])[:, 0] + machine.intercept)
        return [self._combine(np.column_stack(f), int(codes.max()) + 1) for f in values]

    def path_columns(self, S: Array, train: Indices) -> Indices:
        return np.arange(S.shape[1]) if self._on_features else train

    def _block(self, S: Array, members: Indices) -> Any:
        """Training block of some objects: rows and columns, or rows only for features; S itself for all."""
        if self._on_features:
            return S[members]
        return S if len(members) == len(S) else S[np.ix_(members, members)]


def _times(rows: Any, coef: Any) -> Any:
    """Products (m, number of solutions) of rows, (m, n) or (m, n, q), with coefficients that have one axis more."""
    return rows.reshape(len(rows), -1) @ coef.reshape(len(coef), -1).T


def nearest_kernel_rows(K: Array, S: Array, self_similarity: Any) -> Any:
    """Rows r nearest to the rows of S that extend the kernel K to a positive semi-definite matrix.

    Minimizes 2 ||r - s||^2 + (t - s(x, x))^2 over r in the range of K and t >= r'K^+ r, [chen2010] Eq. (5.14) with the
    constraint of Lemma 5.1 (the paper prints r'K r). In the eigenbasis of K, r_i = s_i / (1 + m / (2 k_i)) and
    t = s(x, x) + m / 2, where m >= 0 is the root of sum_i r_i^2 / k_i = t, or 0.
    """
    system = eigen_symmetric(np.asarray(K, dtype=np.float64))
    keep = system.values > system.tolerance
    k, U = system.values[keep], system.vectors[:, keep]
    s = np.asarray(S, dtype=np.float64) @ U
    psi = np.asarray(self_similarity, dtype=np.float64)
    # m / 2 + psi = sum s^2 k / (k + m / 2)^2: the left side increases, the right side is convex and decreasing, so
    # that Newton's method from the left converges monotonically.
    half = np.maximum(0.0, -psi)  # m / 2; t must not be negative
    for _ in range(200):
        share = s**2 * k / (k + half[:, None]) ** 2
        lack = share.sum(axis=1) - psi - half
        step = np.where(lack > 0, lack / (1 + 2 * (share / (k + half[:, None])).sum(axis=1)), 0.0)
        half = half + step
        if (step <= 1e-14 * (np.abs(psi) + half)).all():
            break
    return (s * k / (k + half[:, None])) @ U.T


class LearnedSVM(RowMachine):
    """Base class of support vector machines that learn a kernel; f(s) = s'coef + b for a row s.

    A subclass yields the solution, coef and the learned attributes of each grid point in ``_solutions``.
    """

    reads = "similarity"
    fit = ProximityClassifier.fit  # without weights of the objects
    _solutions: Any

    @single_blas_thread()
    def learn(self, S: Array, codes: Indices) -> None:
        self._fit_machines(self._symmetrize(S), codes, np.ones(len(codes)))  # before it is split into pairs of classes

    def _symmetrize(self, S: Array) -> Any:
        return take_symmetric_part(S, self)

    def _fit_machines(self, S: Array, codes: Indices, weight: Array) -> Any:
        machines = super()._fit_machines(S, codes, weight)
        worst = max(machines, key=lambda machine: machine.gap / machine.scale)
        if worst.gap > 1e-5 * worst.scale:
            warn_gap(self, worst, ". Scale the similarities to entries about 1, or change the parameters.")
        return machines

    def _solve(self, S: Array, y: Any, weight: Any, points: Points) -> list[Machine]:
        solutions = self._solutions(S, y, points)
        return [Machine(c, fit.intercept, fit.objective, fit.gap, found, fit.gap_scale) for fit, c, found in solutions]


def eigen_system(S: Array) -> EigenSystem:
    """Eigen-system of the symmetric part in float64."""
    return eigen_symmetric(np.asarray(symmetric_part(np.asarray(S)), dtype=np.float64))


class SelfSimilarityMixin:
    """Prediction methods that take the similarity of new objects to themselves."""

    classes_: Array
    _row_scores: Any  # class scores from rows and self-similarities

    def decision_function(self, X: ArrayLike, self_similarity: ArrayLike | None = None) -> Array:
        """Decision values, (m,) for two classes, else votes plus a bounded sum of margins, (m, G).

        `self_similarity`, a float or (m,), is the similarity of each new object to itself.
        """
        scores = self._row_scores(X, self_similarity)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike, self_similarity: ArrayLike | None = None) -> Array:
        """Predict the class with the largest decision value; parameters as in :meth:`decision_function`."""
        scores = self._row_scores(X, self_similarity)  # checks first that the model is fitted
        return self.classes_[np.argmax(scores, axis=1)]


class KernelSVM(SelfSimilarityMixin, LearnedSVM):
    """Base class of methods that learn every entry of the kernel: ``kernel_`` and ``_kernel_coef``."""

    fitted_arrays = {
        "kernel_": fitted_reals(None, None, optional=True),
        "_kernel_coef": fitted_reals(None, optional=True),
    }

    def _row_scores(self, X: ArrayLike, given: Any) -> Any:
        Q = self.check_rows(X)
        return self.class_scores(Q) if given is None else self._kernel_scores(Q, base.one_per_row(given, len(Q)))

    def _kernel_scores(self, Q: Array, psi: Any) -> Any:
        """Class scores from the rows of the learned kernels for new objects with the self-similarities psi."""
        parts = zip(getattr(self, "estimators_", [self]), self._members)
        f = [part._kernel_rows(Q[:, own], psi) @ part._kernel_coef + part.intercept_ for part, own in parts]
        return self._combine(np.column_stack(f), len(self.classes_))

    def _kernel_rows(self, rows: Array, psi: Any) -> Any:
        return nearest_kernel_rows(self.kernel_, rows, psi)

    def _set_solution(self, columns: list[Indices], machines: Any, n: int) -> None:
        self._members = columns
        super()._set_solution(columns, machines, n)
