"""What machines linear in a row of proximities share: f(x) = s(x)'coef + intercept, for two classes or several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from similis._utils.base import FewColumnsMixin, ProximityClassifier
from similis._utils.params import validated
from similis._utils.path import MarginPathMixin
from similis._utils.validation import check_block, show
from similis._utils.weights import check_class_weights
from similis.exceptions import ProximityError
from similis.svm._votes import class_pairs, vote_scores

__all__ = ["Machine", "RowMachine", "square_block"]


@dataclass(frozen=True)
class Machine:
    """One machine for two classes, and what vouches for it."""

    coef: NDArray[np.float64]
    intercept: float
    objective: float
    gap: float


class RowMachine(FewColumnsMixin, MarginPathMixin, ProximityClassifier):
    """Machines on rows: a subclass writes :meth:`_solve`, which trains one for two classes at every grid point."""

    _accept_sparse = True

    @property
    def _on_features(self) -> bool:
        """Whether columns are features of any kind, and not the training objects."""
        return getattr(self, "columns", "objects") == "features"

    def _check_fit(self, X):
        if not self._on_features:
            return super()._check_fit(X)
        return check_block(X, accept_sparse=self._accept_sparse, estimator=self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = not self._on_features
        return tags

    def _solve(self, S, y, weight, points) -> list[Machine]:
        """Machines for labels 1 and -1, one per point; weights are positive."""
        raise NotImplementedError

    @validated
    def fit(self, X, y, sample_weight=None):
        """Train the machine, or one for each pair of classes.

        Parameters
        ----------
        X : array-like of shape (n, n), or (n, r) where columns are features
            Training proximities.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each object, as if it occurred so often.

        Returns
        -------
        self
        """
        S, codes = self._check_fit_labels(X, y)
        weight = check_class_weights(sample_weight, S, codes, self.classes_)
        point = {name: getattr(self, name) for name in self._path_params}
        tasks = list(self._tasks(codes, weight))
        machines = [self._solve(self._block(S, members), sign, weight[members], [point])[0] for members, sign in tasks]
        self._keep([(self._columns_of(S, members), sign) for members, sign in tasks], machines, S.shape[1])
        return self

    def decision_function(self, X):
        """How far each row is on a class's side.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m,) for two classes, else (m, G)
            For two classes f, positive for ``classes_[1]``. For more, one-vs-one: votes plus a bounded sum of margins;
            one-vs-rest: each class's f. The arg max is ``predict``.
        """
        return self._scores_to_response(self._class_scores(X), "decision_function")

    def predict(self, X):
        """Predict the class on whose side each row is.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m,)
            Labels from ``classes_``; the earlier class wins a tie.
        """
        scores = self._class_scores(X)
        return self.classes_[np.argmax(scores, axis=1)]

    @property
    def _scheme(self) -> str:
        return getattr(self, "multiclass", "ovo")

    def _class_scores(self, X):
        Q = self._kept(self._check_query(X))
        coef = (self.coef_[None] if len(self.classes_) == 2 else self.coef_)[:, self._kept_objects]
        return self._combine(_times(Q, coef) + np.atleast_1d(self.intercept_), len(self.classes_))

    def _combine(self, f, n_classes):
        """Class scores from the machines' values (m, number of machines)."""
        return f if self._scheme == "ovr" and n_classes > 2 else vote_scores(f, n_classes)

    def _tasks(self, codes, weight) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """Members and signs of each machine's two sides; objects without weight are left out."""
        G = int(codes.max()) + 1
        if self._scheme == "ovr" and G > 2:
            members = np.flatnonzero(weight > 0)
            for g in range(G):
                yield members, np.where(codes[members] == g, 1.0, -1.0)
            return
        for g, h in class_pairs(G):
            members = np.flatnonzero(((codes == g) | (codes == h)) & (weight > 0))
            yield members, np.where(codes[members] == h, 1.0, -1.0)

    def _keep(self, tasks, machines, n):
        """Set the fitted attributes."""
        coef = np.zeros((len(tasks), n, *machines[0].coef.shape[1:]))
        for row, (members, _), machine in zip(coef, tasks, machines):
            row[members] = machine.coef
        G = len(self.classes_)
        self.coef_ = coef[0] if G == 2 else coef
        self.intercept_ = machines[0].intercept if G == 2 else np.array([m.intercept for m in machines])
        for name in ("pairs_", "estimators_", "objective_", "gap_"):
            vars(self).pop(name, None)
        if G == 2:
            self.objective_, self.gap_ = machines[0].objective, machines[0].gap
        else:
            self._keep_parts(tasks, machines)
        support = np.flatnonzero(coef.any(axis=(0, *range(2, coef.ndim))))
        self._keep_columns(support if support.size else np.zeros(1, np.intp))

    def _keep_parts(self, tasks, machines):
        """The machines as models of their own, for their own objects."""
        if self._scheme == "ovo":
            self.pairs_ = class_pairs(len(self.classes_))
        self.estimators_ = []
        for k, ((members, _), machine) in enumerate(zip(tasks, machines)):
            part = clone(self)
            part.classes_ = self.classes_[self.pairs_[k]] if self._scheme == "ovo" else np.array([False, True])
            part.n_features_in_ = len(members)
            part._keep([(np.arange(len(members)), None)], [machine], len(members))
            self.estimators_.append(part)

    def _path_scores(self, S, codes, Q, test_fold, points):
        if test_fold is None:
            return self._train_and_score(S, codes, Q, points)
        G = len(self.classes_)
        scores = [np.full((len(codes), G), -np.inf) for _ in points]
        for fold in range(int(test_fold.max()) + 1):
            train, test = np.flatnonzero(test_fold != fold), np.flatnonzero(test_fold == fold)
            columns = self._columns_of(S, train)
            known, inner = np.unique(codes[train], return_inverse=True)
            if len(known) < 2:
                raise ProximityError(
                    f"{type(self).__name__} needs at least two classes outside each fold; fold {fold} leaves only "
                    f"{show(self.classes_[known[0]])}. Use fewer or stratified folds."
                )
            found = self._train_and_score(S[np.ix_(train, columns)], inner, S[np.ix_(test, columns)], points)
            for table, part in zip(scores, found):
                table[np.ix_(test, known)] = part
        return scores

    def _train_and_score(self, S, codes, Q, points):
        """Class scores (m, number of classes in `codes`) of new rows for each point."""
        values = [[] for _ in points]
        for members, sign in self._tasks(codes, np.ones(len(codes))):
            rows = Q if len(members) == len(codes) else Q[:, self._columns_of(S, members)]
            for column, machine in zip(values, self._solve(self._block(S, members), sign, np.ones(len(sign)), points)):
                column.append(_times(rows, machine.coef[None])[:, 0] + machine.intercept)
        return [self._combine(np.column_stack(f), int(codes.max()) + 1) for f in values]

    def _columns_of(self, S, members):
        """What the members' machine reads: the members, or every feature."""
        return np.arange(S.shape[1]) if self._on_features else members

    def _block(self, S, members):
        """What the members' machine is trained on: their own block, or their rows."""
        return S[members] if self._on_features else square_block(S, members)


def _times(rows, coef):
    """Values (m, number of machines) of rows, (m, n) or of a stack (m, n, q), for coefficients with one axis more."""
    return rows.reshape(len(rows), -1) @ coef.reshape(len(coef), -1).T


def square_block(S, members):
    """The members' own block; S itself where all are."""
    return S if len(members) == len(S) else S[np.ix_(members, members)]
