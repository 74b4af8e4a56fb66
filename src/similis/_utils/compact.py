"""``compact``: the same predictions from only the columns a model needs.

The protocol. A classifier's ``_compact()`` returns a model that reads fewer columns, and which. A transformer that can
follow has ``_compact(columns)``, which returns a transformer that gives only those columns, and the input columns
it needs in turn (None for one that reads objects, such as ``Pairwise``, which then forgets the other objects).
A fitted SVC of scikit-learn joins as :class:`~similis._utils.folded.FoldedSVC`.
"""

from __future__ import annotations

import copy
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from similis._utils.folded import fold_machine
from similis.exceptions import ProximityError

__all__ = ["compact"]


def compact(model: Any) -> Any:
    """Cut a fitted model down to the training objects its predictions need.

    Parameters
    ----------
    model : fitted classifier or pipeline
        A classifier of similis, or a pipeline that ends in one or in scikit-learn's ``SVC`` on rows (kernel
        "precomputed" or "linear", without probabilities). A pipeline that starts with ``Pairwise`` keeps, and measures
        new objects against, the needed objects only.

    Returns
    -------
    fitted model
        With the same predictions. A bare classifier now reads the columns ``columns_`` of a block, in that order;
        a pipeline from objects is used as before. Where nothing can be left out the copy equals the model.

    Notes
    -----
    Spectrum clip, flip, shift and square in front of an ``SVC`` are folded into its coefficients: a new row then costs
    one product instead of its own treatment.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import NearestCentroid, compact
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> small = compact(NearestCentroid().fit(S, ["a", "a", "b", "b"]))
    >>> small.columns_
    array([0, 2])
    >>> small.predict(S[:, small.columns_])
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """
    if hasattr(model, "fit"):
        check_is_fitted(model)
    if not isinstance(model, Pipeline):
        if not hasattr(model, "_compact"):
            raise ProximityError(
                f"compact needs a classifier of similis, or a pipeline of one. Got {type(model).__name__}."
            )
        return model._compact()[0]
    steps = fold_machine([(name, step) for name, step in model.steps if step not in (None, "passthrough")])
    if not all(hasattr(step, "_compact") for _, step in steps):
        return copy.copy(model)
    name, last = steps[-1]
    last, columns = last._compact()
    small = [(name, last)]
    for name, step in reversed(steps[:-1]):
        step, columns = step._compact(columns)
        small.append((name, step))
    return Pipeline(small[::-1])
