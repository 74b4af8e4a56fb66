"""Lin's information-theoretic similarity, [cazzanti2007] sec. 2.1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis import _kernels
from similis._utils.storable import storable
from similis.measures._base import Tick, mirror_upper
from similis.measures._described import as_sets, check_form, read_described
from similis.measures._sets import SetMeasure, _Features, _Sets

__all__ = ["Lin"]


class Lin(SetMeasure):
    """Twice the information in common features over that in all: rare features in common weigh more.

    s(x, z) = 2 I(common) / (I(x) + I(z)), where the information I of a set of features is the sum of -log P over
    them, and P is how often a feature occurs among the training objects.

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)``.
    n_features_in_ : int
        The number of columns, if the objects are rows.

    See Also
    --------
    TverskyRatio : with alpha = beta = 0.5 and the same information as salience it is this measure.
    ResidualEntropy : does without independent features.
    Counting : every agreement counts the same.

    Notes
    -----
    Objects are rows of categories (a feature is a value in its column), Python sets of tokens, or a sparse binary
    matrix. Features are taken as independent. A feature that no training object has counts as if it had occurred once
    in one object more, -log(1 / (n + 1)): the paper does not say, and an infinite surprise would make every object with
    a new value dissimilar to all others. Where neither object holds any information, the similarity is 1.

    Examples
    --------
    >>> from similis import Lin
    >>> birds = [["flies", "brown"], ["flies", "brown"], ["flies", "red"], ["walks", "red"]]
    >>> Lin().fit(birds).matrix(birds).round(2)
    array([[1.  , 1.  , 0.29, 0.  ],
           [1.  , 1.  , 0.29, 0.  ],
           [0.29, 0.29, 1.  , 0.45],
           [0.  , 0.  , 0.45, 1.  ]])
    """

    domain_ = (0.0, 1.0)

    def _objects(self, X: Any) -> Any:
        return read_described(X, self)

    def _learn(self, objects: Any, y: Any) -> None:
        sets = as_sets(objects)
        counts = Counter(token for tokens in sets for token in tokens)
        # [cazzanti2007] sec. 2.1 -> I(x[i]) = -log P(x[i])
        information = {token: -math.log(count / len(sets)) for token, count in counts.items()}
        self._information = _Information(information, math.log(len(sets) + 1), isinstance(objects, list))

    def _encode(self, objects: Any) -> _Sets:
        return self._encode_with([self._tokens(objects)], known=True)[0]

    def _encode_all(self, collections: Sequence[Any]) -> list[_Sets]:
        return self._encode_with([self._tokens(objects) for objects in collections], known=False)

    def _tokens(self, objects: Any) -> list[frozenset[Any]]:
        check_is_fitted(self, "_information")
        check_form(objects, self._information.of_sets, "Lin")
        return as_sets(objects)

    def _encode_with(self, collections: list[list[frozenset[Any]]], known: bool) -> list[_Sets]:
        """Encode sets in the training features (`known`), or in those of the sets at hand."""
        salience = dict(self._information.values)
        found: set[Any] = set().union(*(tokens for sets in collections for tokens in sets))
        salience.update(dict.fromkeys(found - salience.keys(), self._information.unseen))
        chosen = self._information.values if known else found
        vocabulary = {token: k for k, token in enumerate(sorted(chosen, key=repr))}
        weights = np.array([salience[token] for token in vocabulary])
        features = _Features(len(vocabulary), vocabulary, weights, salience, False)
        return [features.encode(sets, "Lin") for sets in collections]

    def _matrix(self, A: _Sets, B: _Sets, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        out = super()._matrix(A, B, n_jobs, tick)
        if B is A:
            mirror_upper(out)  # weights round differently from the two sides
        return out

    def _combine(self, fx: NDArray[Any], fz: NDArray[Any], rows: slice, common: NDArray[Any]) -> None:
        # [cazzanti2007] sec. 2.1 -> 2 I(common) / I(description), Eq. (2.2) with f = I and alpha = beta = 0.5
        _kernels.ratio_model(fx, fz, 0.5, 0.5, rows.start, rows.stop, common)


@storable
@dataclass
class _Information:
    """-log P of every training feature, and of any other one."""

    values: dict[Any, float]
    unseen: float
    of_sets: bool
