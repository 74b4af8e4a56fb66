"""Contributions of training objects to the decision for a new object."""

import copy
import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import OneToOneFeatureMixin, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from similis._drawing.display import Display
from similis._drawing.figure import Axis, Bars, Figure, Mark, names_axis
from similis._utils.arrays import Array, Floats
from similis._utils.environment import require_package
from similis.base import ProximityClassifier, model_scores
from similis.exceptions import ProximityError
from similis.mixture import KernelHLM
from similis.neighbors import SimilarityKNN, SimilarityKNNRegressor
from similis.svm import ProximityRidge

_BLOCK = 2**24  # entries of a block of altered rows
Parts = tuple[Floats, Floats]  # contributions (m, n, D), baseline (m, D)


@dataclass(eq=False, repr=False)
class Explanation(Display):
    """Contributions of the training objects to decisions; ``contributions.sum(axis=1) + baseline == decision``.

    Parameters
    ----------
    contributions : ndarray of shape (m, n), or (m, n, G) for three classes or more
        Signed share of each training object in each decision.
    baseline, decision : ndarray of shape (m,) or (m, G)
        Part of the decision that belongs to no object; the decision (for two classes positive in favor of
        ``classes[1]``) or the prediction of a regressor.
    labels : ndarray of shape (m,)
        Predictions of the model.
    classes : ndarray of shape (G,) or None
        Class labels; None for a regressor.
    ids : sequence of str
        Names of the training objects.
    exact : bool
        False if the contributions are an approximation, see :func:`explain`.
    """

    contributions: Floats
    baseline: Floats
    decision: Floats
    labels: Array
    classes: Array | None
    ids: tuple[str, ...]
    exact: bool

    def toward(self) -> Floats:
        """Contributions in favor of each row's prediction, shape (m, n): positive for what favors or raises it."""
        if self.classes is None:
            return self.contributions
        codes = np.searchsorted(self.classes, self.labels)
        if self.contributions.ndim == 2:
            return self.contributions * np.where(codes == 1, 1.0, -1.0)[:, None]
        return self.contributions[np.arange(len(codes)), :, codes]

    def top(self, k: int = 5) -> list[list[tuple[str, float]]]:
        """Name at most `k` objects that contribute most to each prediction, for a regressor by absolute value."""
        found = []
        for row in self.toward():
            size = np.abs(row) if self.classes is None else row
            largest = np.argsort(-size, kind="stable")[:k]
            found.append([(self.ids[j], float(row[j])) for j in largest if size[j] > 0])
        return found

    def to_frame(self, k: int = 5) -> Any:
        """Return :meth:`top` as a pandas DataFrame with the columns row, prediction, object and contribution."""
        pandas = require_package("pandas", extra="frame", who="to_frame")
        rows = enumerate(zip(self.labels.tolist(), self.top(k)))
        records = [(i, label, name, value) for i, (label, best) in rows for name, value in best]
        return pandas.DataFrame(records, columns=["row", "prediction", "object", "contribution"])

    def to_html(self) -> str:
        """Return HTML with a picture of the first rows."""
        return str(self._repr_html_() or "")

    def describe(self, k: int = 8, rows: int = 6) -> list[Figure]:
        """Describe one panel of bars per row, for the first rows."""
        found = []
        for i, best in enumerate(self.top(k)[:rows]):
            values = [value for _, value in best]
            low, high = min([0.0, *values]), max([0.0, *values]) or 1.0
            bars: list[Mark] = [
                Bars([min(v, 0)], [max(v, 0)], [j - 0.33], [j + 0.33], color="accent", tips=[f"{name}\n{v:.4g}"])
                for j, (name, v) in enumerate(best)
            ]
            about = f"Objects that contribute most to the prediction {self.labels[i]} of row {i}."
            x_axis = Axis(low, high, "contribution", n_ticks=5)
            y_axis = names_axis([name for name, _ in best] or ["none"], reverse=True)
            height, title = 23 * max(len(best), 1), f"row {i}: {self.labels[i]}"
            found.append(Figure(about, x_axis, y_axis, bars, kind="explanation", height=height, title=title))
        return found


def explain(model: Any, rows: Any, *, ids: Any = None) -> Explanation:
    """Explain predictions by the contributions of the training objects.

    Parameters
    ----------
    model : fitted classifier or regressor
        An estimator of similis, or a pipeline that ends in one or in an estimator of scikit-learn.
    rows : array-like of shape (m, n), or objects
        What the model predicts from.
    ids : sequence of str, optional
        Names of the training objects; their numbers by default.

    Notes
    -----
    Contributions are exact for nearest neighbors (the weight of each neighbor, counted for its class or multiplied by
    its target minus the mean target of the neighbors), for models that are linear in the row, also behind spectrum
    treatments (coefficient times entry; with pairs of classes, the decision of a class is its mean margin against the
    others), and for KernelHLM (the share of each component in the posterior probability).

    For all other models one entry of the row at a time is replaced by the mean of the row, and the contribution is the
    change of the decision; what the entries do together only is left in the baseline.

    Examples
    --------
    >>> from similis import SimilarityKNN, explain
    >>> S = [[4, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]]
    >>> model = SimilarityKNN(n_neighbors=3).fit(S, ["a", "a", "b", "b"])
    >>> found = explain(model, [[2.0, 3.0, 1.0, 0.0]], ids=["ann", "bob", "cem", "dee"])
    >>> [(name, round(value, 2)) for name, value in found.top(2)[0]]
    [('ann', 0.33), ('bob', 0.33)]
    """
    check_is_fitted(model)
    labels, X = np.asarray(model.predict(rows)), rows
    for name in ("best_estimator_", "estimator_"):  # a search; a conformal model
        model = getattr(model, name, model)
    if not is_regressor(model) and not hasattr(model, "classes_"):
        raise ProximityError(f"explain needs a classifier or regressor. Got {type(model).__name__}.")
    steps = [s for _, s in model.steps if s not in (None, "passthrough")] if isinstance(model, Pipeline) else [model]
    while len(steps) > 1 and not get_tags(steps[0]).input_tags.pairwise:  # measures objects
        X = steps.pop(0).transform(X)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if X.ndim != 2:
        raise ProximityError(f"explain needs rows of one matrix. Got shape {X.shape}.")
    last = steps[-1]
    named = {SimilarityKNN: _class_votes, SimilarityKNNRegressor: _target_parts, KernelHLM: _mixture_shares}
    exactly = next((function for cls, function in named.items() if isinstance(last, cls)), None)
    Q = _to_rows(steps[:-1], X) if exactly else None
    exact_parts = _linear_terms(steps, X) if exactly is None or Q is None else exactly(last, Q)
    contributions, baseline = exact_parts or _changes(steps, X)
    classes = None if is_regressor(model) else np.asarray(model.classes_)
    if contributions.shape[2] == 1:
        contributions, baseline = contributions[..., 0], baseline[:, 0]
    names = tuple(map(str, range(X.shape[1]) if ids is None else ids))
    if len(names) != X.shape[1]:
        raise ProximityError(f"ids must name the {X.shape[1]} objects of the columns. Got {len(names)} names.")
    decision, exact = contributions.sum(axis=1) + baseline, exact_parts is not None
    return Explanation(contributions, baseline, decision, labels, classes, names, exact)


def _as_decision(terms: Floats) -> Floats:
    """One decision for two classes, the second minus the first; else one per class. The last axis is the classes."""
    return terms[..., 1:] - terms[..., :1] if terms.shape[-1] == 2 else terms


def _to_rows(steps: list[Any], X: Floats) -> Any:
    """Rows behind steps that keep a column per training object; None if one of them does not."""
    for step in steps:
        if not isinstance(step, OneToOneFeatureMixin):
            return None
        X = np.asarray(step.transform(X), dtype=np.float64)
    return X


def _target_parts(last: SimilarityKNNRegressor, Q: Floats) -> Parts:
    """Weights of nearest neighbors times their targets minus the mean target of the neighbors."""
    indices, weights = last.neighbor_weights(Q)
    known = indices >= 0
    targets = np.where(known, last._target[indices], 0.0)  # (m, k)
    center = targets.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    contributions = np.zeros((*Q.shape, 1))
    contributions[np.nonzero(known)[0], indices[known], 0] = (weights * (targets - center))[known]
    return contributions, last.predict(Q)[:, None] - contributions.sum(axis=1)


def _class_votes(last: SimilarityKNN, Q: Floats) -> Parts:
    """Weights of nearest neighbors, each for its class."""
    indices, weights = last.neighbor_weights(Q)
    known, G = indices >= 0, len(last.classes_)
    contributions, objects = np.zeros((*Q.shape, G)), indices[known]
    shrunk = 1.0 if last.weights == "krr" else 1.0 + last.smoothing * G
    contributions[np.nonzero(known)[0], objects, last._codes[objects]] = weights[known] / shrunk
    scores = last.class_scores(last.check_rows(Q))
    return _as_decision(contributions), _as_decision(scores - contributions.sum(axis=1))


def _mixture_shares(last: KernelHLM, Q: Floats) -> Parts:
    """Components of a kernel density: their shares of the posterior probabilities."""
    classes, scales = last.component_classes_, last.scales_
    shape = np.broadcast_to(last.shape_, len(last.classes_))[classes]
    # [qiao2013] Eq. (5)-(6) -> P(k | z) proportional to pi_k w_j (pi b_j)^-s exp(-D^2(z, eta_j) / b_j), summed over j
    log_terms = last.log_priors[classes] + np.log(last.component_priors_) - shape * np.log(np.pi * scales)
    shares = softmax(log_terms - last.kept_columns(Q) ** 2 / scales, axis=1)
    contributions = np.zeros((*Q.shape, len(last.classes_)))
    contributions[:, last._kept_places, classes] = shares
    contributions = _as_decision(contributions)
    return contributions, np.zeros((len(Q), contributions.shape[2]))


def _linear_terms(steps: list[Any], X: Floats) -> Parts | None:
    """Coefficient times entry, for a last step that is linear in the row; steps in front are folded into it."""
    last, front = steps[-1], list(steps[:-1])
    n = getattr(last, "n_features_in_", 0)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            values = _margins(last, np.vstack([np.zeros(n), np.eye(n)]))  # the intercept, and each coefficient
            Z = X
            for step in front:
                Z = np.asarray(step.transform(Z), dtype=np.float64)
            decision = _margins(last, Z)
    except ValueError:  # such rows are not accepted
        return None
    coef, intercept = (values[1:] - values[0]).T, values[0]
    while front and hasattr(front[-1], "fold_coefficients"):
        coef = np.asarray(front.pop().fold_coefficients(coef))
    Q = _to_rows(front, X)
    if Q is None or coef.shape[1] != X.shape[1]:
        return None
    if isinstance(last, ProximityRidge) and not steps[:-1]:
        Q = last.row_entries(Q)
    contributions = Q[:, :, None] * coef.T
    error = np.abs(contributions.sum(axis=1) + intercept - decision)
    size = np.abs(contributions).sum(axis=1) + np.abs(intercept) + np.abs(decision)
    is_linear = (error <= 1e-6 * size).all()  # False for NaN
    return (contributions, decision - contributions.sum(axis=1)) if is_linear else None


def _changes(steps: list[Any], X: Floats) -> Parts:
    """Change of the decision when one entry of a row is replaced by the mean of the row."""
    model, n = Pipeline([(str(i), step) for i, step in enumerate(steps)]), X.shape[1]

    def decide(rows: Floats) -> Floats:
        if is_regressor(model):
            return np.asarray(model.predict(rows), dtype=np.float64).reshape(len(rows), -1)
        return _as_decision(np.nan_to_num(model_scores(model, rows)))

    decision = decide(X)
    contributions = np.zeros((*X.shape, decision.shape[1]))
    for i, row in enumerate(X):
        mean = np.nanmean(row) if not np.isnan(row).all() else 0.0
        for columns in np.array_split(np.arange(n), -(-n // max(1, _BLOCK // n))):
            altered = np.repeat(row[None], len(columns), axis=0)
            altered[np.arange(len(columns)), columns] = np.where(np.isnan(row[columns]), np.nan, mean)
            contributions[i, columns] = decision[i] - decide(altered)
    return contributions, decision - contributions.sum(axis=1)


def _margins(last: Any, rows: Any) -> Floats:
    """Decision values of a last step before they become votes or probabilities: (m, 1) or (m, G)."""
    if is_regressor(last):
        return np.asarray(last.predict(rows), dtype=np.float64).reshape(len(rows), -1)
    G, pairs = len(last.classes_), None
    shape = next((name for name in ("decision_function_shape", "shape_") if hasattr(last, name)), None)
    if G > 2 and shape is not None:  # SVC, and what compact makes of it
        last = copy.copy(last)
        setattr(last, shape, "ovo")
        pairs = np.asarray(last.decision_function(rows))  # positive for the earlier class of a pair
    elif G > 2 and hasattr(last, "pairs_") and np.ndim(getattr(last, "coef_", 0)) == 2:
        coef = last.coef_ if last.coef_.shape[1] == rows.shape[1] else last.coef_[:, last.columns_]
        pairs = -(rows @ coef.T + last.intercept_)  # positive for the later class
    if pairs is not None:
        margins = np.zeros((len(rows), G))
        for value, (g, h) in zip(pairs.T / (G - 1), combinations(range(G), 2)):
            margins[:, g] += value
            margins[:, h] -= value
        return margins
    if hasattr(last, "decision_function"):
        return np.asarray(last.decision_function(rows), dtype=np.float64).reshape(len(rows), -1)
    if isinstance(last, ProximityClassifier) and type(last).class_scores is not ProximityClassifier.class_scores:
        return _as_decision(np.asarray(last.class_scores(last.check_rows(rows)), dtype=np.float64))
    return _as_decision(model_scores(last, rows))
