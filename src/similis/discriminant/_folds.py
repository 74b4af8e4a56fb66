"""All folds of a grid search in one call, for models of whole classes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis.base import PathMixin
from similis.discriminant._statistics import fold_values

__all__ = ["FoldwiseMixin"]


class FoldwiseMixin(PathMixin):
    """A subclass writes ``_answers``; Omega of every fold comes from one sorting of the matrix."""

    classes_: NDArray[Any]

    def _answers(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        Q: NDArray[Any],
        values: list[NDArray[Any]] | None,
        points: list[dict[str, Any]],
    ) -> list[NDArray[Any]]:
        """Probabilities of rows `Q` for each point; `values` are the distinct values of each slice of `S`."""
        raise NotImplementedError

    def _path_scores(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        Q: NDArray[Any] | None,
        test_fold: NDArray[np.intp] | None,
        points: list[dict[str, Any]],
    ) -> list[NDArray[Any]]:
        if test_fold is None:
            assert Q is not None
            return self._answers(S, codes, Q, None, points)
        scores = [np.zeros((len(codes), len(self.classes_))) for _ in points]
        blocks = [S] if S.ndim == 2 else [S[:, :, q] for q in range(S.shape[2])]
        for folds in zip(*(fold_values(block, test_fold) for block in blocks)):
            test, values = folds[0][0], [found for _, found in folds]
            train = np.flatnonzero(~test)
            # A class that occurs in the fold alone is unknown to its training part.
            present, inner = np.unique(codes[train], return_inverse=True)
            model = copy.copy(self)
            model.classes_ = self.classes_[present]
            found = model._answers(S[train][:, train], inner, S[test][:, train], values, points)
            for score, answer in zip(scores, found):
                score[np.ix_(test, present)] = answer
        return scores
