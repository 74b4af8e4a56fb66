"""Value difference metrics for categorical (VDM) and mixed rows (HVDM), [cazzanti2007] Eq. (2.3)-(2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similis import _kernels, base
from similis._utils.arrays import Array, Floats, Indices, Mask, all_numbers
from similis.exceptions import ProximityError
from similis.measures._categorical import CategoricalMeasure, Codebook, to_floats
from similis.measures._vectors import TwoWayArray, both_layouts, power_distances, run_kernel

GROUP = 256  # largest number of codes of a group of features, which fit into a byte


@base.storable
@dataclass
class ValueTables(base.FittedArrays):
    """Tables of the differences of values, estimated from the training labels.

    Values of a feature with the same class probabilities are one *kind* of value. Neighboring features with few kinds
    form a *group*, whose table holds their summed differences for every combination of kinds, which saves look-ups.
    """

    fitted_arrays = {
        "codebook": base.fitted_part(Codebook, n="n"),
        "weights": base.fitted_indices("n"),
        "table": base.fitted_reals(None),
        "offsets": base.fitted_indices("groups"),
        "widths": base.fitted_indices("groups"),
    }

    codebook: Codebook
    kinds: list[Indices]  # per feature: kind of each code
    groups: list[tuple[int, int]]  # first feature and the one after the last
    weights: Indices  # per feature: factor of its kind in the code of the group
    table: Floats
    offsets: Array
    widths: Array

    def verify_fitted(self) -> None:
        super().verify_fitted()
        sizes, d = self.codebook.size, len(self.weights)
        if not isinstance(self.kinds, list) or not isinstance(self.groups, list) or len(self.kinds) != d:
            raise ProximityError("kinds and groups of ValueTables must be lists, kinds one per feature.")
        for kinds, size in zip(self.kinds, sizes.tolist()):
            base.fitted_indices(None).verify(kinds, {}, "kinds of ValueTables")
            if len(kinds) <= size:
                raise ProximityError("kinds of ValueTables must have an entry per code, and one for unseen values.")
        spans = [tuple(span) for span in self.groups]
        starts = [first for first, _ in spans]
        if [*starts, d] != [0, *(stop for _, stop in spans)] or len(spans) != len(self.widths):
            raise ProximityError("groups of ValueTables must divide the features in their order.")
        # The largest code of a group must lie inside its part of the table, which compiled code reads unchecked.
        largest = [sum(int(self.weights[k]) * int(self.kinds[k].max()) for k in range(*span)) for span in spans]
        ends = self.offsets + self.widths**2
        if (np.array(largest) >= self.widths).any() or (ends > len(self.table)).any():
            raise ProximityError("codes of ValueTables must lie inside its table.")

    @classmethod
    def learn(cls, objects: Array, y: Indices, n_classes: int, q: float, smoothing: float, unseen: str) -> ValueTables:
        """Estimate P(Y = g | x[i] = a) from training objects and class codes, and tabulate the differences."""
        codebook = Codebook.learn(objects)
        codes = codebook.encode(objects)
        prior = np.bincount(y, minlength=n_classes) / len(y)
        kinds, tables = [], []
        for k, size in enumerate(codebook.size.tolist()):
            counts = np.bincount(codes[:, k].astype(np.intp) * n_classes + y, minlength=(size + 1) * n_classes)
            counts = counts.reshape(size + 1, n_classes)  # last row: values without a code
            seen = counts.sum(axis=1) > 0
            # P(Y = g | value), for values that do not occur the prior
            P = np.where(seen[:, None], counts + smoothing, prior)
            P /= P.sum(axis=1, keepdims=True)
            known = seen if unseen == "zero" else np.ones(len(P), dtype=bool)
            distinct, kind = np.unique(P[known], axis=0, return_inverse=True)
            # [cazzanti2007] Eq. (2.3)-(2.4) -> sum_g |P(g | a) - P(g | b)|^q; an unseen value adds nothing
            T = (np.abs(distinct[:, None, :] - distinct[None, :, :]) ** q).sum(axis=2)
            kind_of_code = np.full(len(P), len(T))
            kind_of_code[known] = kind.ravel()
            kinds.append(kind_of_code)
            tables.append(T if known.all() else np.pad(T, (0, 1)))
        return cls(codebook, kinds, *_grouped(tables))

    @property
    def largest(self) -> float:
        """Upper bound of the dissimilarity of any two objects."""
        return float(sum(np.maximum.reduceat(self.table, self.offsets)))

    def encode(self, objects: Array) -> TwoWayArray:
        codes = self.codebook.encode(objects)
        grouped = np.empty((len(codes), len(self.groups)), np.uint8 if self.widths.max() <= GROUP else np.uint32)
        for g, (first, stop) in enumerate(self.groups):
            grouped[:, g] = sum(self.weights[k] * self.kinds[k][codes[:, k]] for k in range(first, stop))
        return both_layouts(grouped)

    def compare(self, A: TwoWayArray, B: TwoWayArray, n_jobs: int | None = None, tick: base.Tick = None) -> Floats:
        operands, out = (A.rows, B.columns, self.table, self.offsets, self.widths), np.empty((A.shape[0], B.shape[0]))
        return run_kernel(_kernels.value_difference, operands, out, B is A, n_jobs, tick)


def _grouped(tables: list[Array]) -> tuple[Any, ...]:
    """Join neighboring features as long as the combinations of their kinds fit into a byte."""
    groups: list[tuple[int, int]] = []
    weights = np.ones(len(tables), dtype=np.intp)
    joined: list[Array] = []
    for k, T in enumerate(tables):
        if groups and len(joined[-1]) * len(T) <= GROUP:
            weights[k] = len(joined[-1])
            # The table of the group holds sums: T[(b, a), (b', a')] = T_k[b, b'] + T_before[a, a'].
            size = len(joined[-1]) * len(T)
            joined[-1] = (T[:, None, :, None] + joined[-1][None, :, None, :]).reshape(size, size)
            groups[-1] = (groups[-1][0], k + 1)
        else:
            joined.append(T)
            groups.append((k, k + 1))
    widths = np.array([len(T) for T in joined], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(widths**2)[:-1]]).astype(np.int64)
    return groups, weights, np.concatenate([T.ravel() for T in joined]), offsets, widths


@base.estimator
class VDM(CategoricalMeasure):
    """Value difference metric: the difference of two values is that of their class distributions.

    d(x, z) = sum_i sum_g |P(Y = g | x[i]) - P(Y = g | z[i])|^q over features i and classes g, with probabilities
    estimated in training. [cazzanti2007] Eq. (2.3) is printed for one class; the sum over all classes doubles it for
    two classes and changes no decision. A missing value (None, NaN, NA) is a value with its own probabilities.

    Parameters
    ----------
    q : float, default=2.0
        Exponent, above 0.
    smoothing : float, default=0.0
        Value added to each count of (value, class); 1 is the rule of Laplace.
    unseen : {"zero", "prior"}, default="zero"
        A value that did not occur in training adds nothing, or has the class frequencies as its probabilities.
    similarity : bool, default=False
        Return 1 - d(x, z) / d_max, d_max the largest d(x, z) in training ([chen2010] p. 35); it may be negative.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    max_ : float
        d_max; only with `similarity`.

    Examples
    --------
    >>> from similis import VDM
    >>> votes, party = [["y", "n"], ["y", "y"], ["n", "y"]], ["dem", "dem", "rep"]
    >>> VDM().fit(votes, party).matrix(votes[:1], votes)
    array([[0. , 0.5, 2.5]])
    """

    q: float = base.param(2.0, base.positive())
    smoothing: float = base.param(0.0, base.between(0, None, "left"))
    unseen: str = base.param("zero", base.choice("zero", "prior"))
    similarity: bool = base.param(False, "boolean")

    fitted_arrays = {"_tables": base.fitted_part(ValueTables, n="n")}

    @property
    def kind(self) -> base.Kind:  # type: ignore[override]
        """Kind of the returned numbers, by the parameter `similarity`."""
        return "similarity" if self.similarity else "dissimilarity"

    def learn(self, objects: Array, y: Any) -> None:
        self.classes_, codes = base.check_labels(y, len(objects), who="VDM", min_classes=1)
        tables = ValueTables.learn(objects, codes, len(self.classes_), self.q, self.smoothing, self.unseen)
        self._tables, self.domain_ = tables, (0.0, tables.largest)
        if self.similarity:
            rows = np.unique(tables.encode(objects).rows, axis=0)
            firsts = range(0, len(rows), base.STRIP)
            pairs = ((both_layouts(rows[i : i + base.STRIP]), both_layouts(rows[i:])) for i in firsts)
            self.max_ = max(float(tables.compare(A, B).max()) for A, B in pairs) or 1.0
            self.domain_ = (1 - tables.largest / self.max_, 1.0)

    def encode(self, objects: Array) -> TwoWayArray:
        check_is_fitted(self)
        return self._tables.encode(objects)

    def block(self, A: TwoWayArray, B: TwoWayArray, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        out = self._tables.compare(A, B, n_jobs, tick)
        if self.similarity:
            # [chen2010] p. 35 -> 1 - d / d_max
            out /= -self.max_
            out += 1.0
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@dataclass
class _Mixed:
    codes: TwoWayArray | None  # of the categorical columns
    numbers: TwoWayArray  # scaled, 0 where missing
    missing: Mask


@base.estimator
class HVDM(CategoricalMeasure):
    """Heterogeneous value difference metric: VDM on categorical columns, scaled differences on numeric ones.

    d(x, z)^2 = sum over categorical i of sum_g |P(Y = g | x[i]) - P(Y = g | z[i])|^2
    + sum over numeric i of ((x[i] - z[i]) / (4 sigma_i))^2, sigma_i the standard deviation in training.

    The metric mentioned in [cazzanti2007] sec. 2.1, in the form of [wilson1997], with two changes so that equal rows
    have distance zero: a missing number differs from a number by 1 (four standard deviations) but not from another
    missing number, and a missing category is a category. A numeric column that is constant in training adds nothing.

    Parameters
    ----------
    categorical : array-like of column numbers, column names or booleans, optional
        Categorical columns. By default those with values that are not numbers; in a frame, those of a non-numeric type.
    smoothing, unseen
        As in :class:`VDM`, for the categorical columns.

    Attributes
    ----------
    categorical_ : ndarray of bool
        Mask of the categorical columns.
    mean_, scale_ : ndarray
        Mean and 4 sigma_i of each numeric column.
    classes_ : ndarray
        Class labels; only with categorical columns.

    Examples
    --------
    >>> from similis import HVDM
    >>> rows, y = [["red", 1.0], ["red", 3.0], ["blue", 1.0]], [0, 0, 1]
    >>> HVDM().fit(rows, y).matrix(rows[:1], rows).round(3)
    array([[0.   , 0.53 , 1.414]])
    """

    categorical: Any = base.param(None, "array-like", None)
    smoothing: float = base.param(0.0, base.between(0, None, "left"))
    unseen: str = base.param("zero", base.choice("zero", "prior"))

    fitted_arrays = {
        "_tables": base.fitted_part(ValueTables, optional=True),
        "mean_": base.fitted_reals("d"),
        "scale_": base.fitted_reals("d"),
    }
    kind = "dissimilarity"

    @property
    def cells(self) -> str:  # type: ignore[override]
        """Columns of a text file are read by content, or as categories that `fit` converts where they are numbers."""
        return "mixed" if self.categorical is None else "category"

    @base.validated
    def fit(self, X: Any, y: Any = None) -> HVDM:
        objects = self.check_objects(X, reset=True)
        mask, who = self._which_categorical(X, objects), "HVDM with categorical columns"
        self.categorical_ = mask
        if mask.any():
            self.classes_, codes = base.check_labels(y, len(objects), who=who, min_classes=1)
            n_classes = len(self.classes_)
            self._tables = ValueTables.learn(objects[:, mask], codes, n_classes, 2.0, self.smoothing, self.unseen)
        numbers = np.ma.masked_invalid(self._numbers(objects))
        if np.ma.filled(np.abs(numbers), 0.0).max(initial=0.0) > 1e140:
            raise ProximityError("HVDM needs numbers below 1e140, whose squares do not overflow. Divide by a constant.")
        self.mean_ = np.ma.filled(numbers.mean(axis=0), 0.0)
        self.scale_ = 4 * np.ma.filled(numbers.std(axis=0), 0.0)
        self.domain_ = (0.0, float(np.sqrt(self._tables.largest)) if mask.all() else np.inf)
        return self

    def encode(self, objects: Array) -> _Mixed:
        check_is_fitted(self)
        codes = self._tables.encode(objects[:, self.categorical_]) if self.categorical_.any() else None
        informative = self.scale_ > 0
        numbers = (self._numbers(objects) - self.mean_)[:, informative] / self.scale_[informative]
        missing = np.isnan(numbers)
        return _Mixed(codes, both_layouts(np.where(missing, 0.0, numbers)), missing)

    def block(self, A: _Mixed, B: _Mixed, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        squares = power_distances(A.numbers, B.numbers, 2.0, False, n_jobs, None if A.codes else tick)
        if A.missing.any() or B.missing.any():
            # Computed with 0 for missing numbers; a missing and a known number differ by 1.
            one_missing = ((1 - A.numbers.rows**2) * ~A.missing) @ B.missing.T  # (m, n)
            if B is A:
                one_missing = one_missing + one_missing.T  # exactly symmetric
            else:
                one_missing += A.missing @ ((1 - B.numbers.rows**2) * ~B.missing).T
            squares += one_missing
        if A.codes is not None and B.codes is not None:
            squares += self._tables.compare(A.codes, B.codes, n_jobs, tick)
        return np.sqrt(squares, out=squares)

    def _which_categorical(self, X: Any, objects: Array) -> Mask:
        d = objects.shape[1]
        if self.categorical is None:
            if hasattr(X, "select_dtypes"):
                return ~np.isin(np.asarray(X.columns), np.asarray(X.select_dtypes("number").columns))
            if hasattr(X, "schema"):  # of polars, which would convert booleans beside numbers to numbers
                return np.array([not dtype.is_numeric() for dtype in X.dtypes])
            return np.array([objects.dtype.kind not in "iuf" and not all_numbers(column) for column in objects.T])
        chosen = np.asarray(self.categorical)
        if chosen.dtype.kind in "UO" and hasattr(self, "feature_names_in_"):
            if unknown := set(chosen.ravel().tolist()) - set(self.feature_names_in_):
                raise ProximityError(f"categorical holds names that are no columns of X: {sorted(unknown)}.")
            return np.isin(self.feature_names_in_, chosen)
        if chosen.dtype.kind == "b" and chosen.shape == (d,):
            return chosen.copy()
        if chosen.size and (chosen.dtype.kind not in "iu" or chosen.min() < -d or chosen.max() >= d):
            wanted = f"column numbers below {d}, {d} booleans, or column names of a frame"
            raise ProximityError(f"categorical must hold {wanted}. Got {self.categorical!r}.")
        mask = np.zeros(d, dtype=bool)
        mask[chosen.astype(np.intp)] = True
        return mask

    def _numbers(self, objects: Array) -> Floats:
        """Return the numeric columns as floats, NaN where missing."""
        columns = np.flatnonzero(~self.categorical_)
        numbers = np.empty((len(objects), len(columns)))
        hint = "Pass the categorical columns as categorical=..."
        for place, k in enumerate(columns):
            numbers[:, place] = to_floats(objects[:, k], f"HVDM needs numbers in column {k}.", hint)
        if np.isinf(numbers).any():
            row, place = np.argwhere(np.isinf(numbers))[0]
            raise ProximityError(f"HVDM needs finite numbers. Got inf at row {row}, column {columns[place]}.")
        return numbers
