"""Similarity discriminant analysis of tables with numeric and categorical columns. [cazzanti2007] sec. 3.4."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from similis import base
from similis._utils.arrays import Array, Floats, Indices, all_numbers
from similis._utils.fitted import FittedArrays, fitted_indices, fitted_part, fitted_reals
from similis._utils.storable import storable
from similis.base import LARGEST, BayesClassifier, HasMethods, between, quote, validated_outer
from similis.discriminant._base import LogLimit, LogLimitMixin
from similis.discriminant._sda import SDA
from similis.exceptions import ProximityError


class Table:
    """Columns of a table, validated against those of the training table."""

    def __init__(self, X: Any, estimator: Any, *, reset: bool) -> None:
        self._who = type(estimator).__name__
        if sparse.issparse(X):
            raise ProximityError(f"{self._who} reads a table of columns; sparse input is not supported. Use toarray().")
        if hasattr(X, "columns") and not callable(X.columns):
            self.names: list[Any] = list(X.columns)
            self.columns = [np.asarray(X[name]) for name in self.names]
        else:
            X = np.asarray(X) if hasattr(X, "dtype") else np.asarray(X, dtype=object)
            if X.ndim != 2:
                raise ProximityError(
                    f"{self._who} reads tables: Expected 2D array, got {X.ndim}D array instead. Reshape your data: one "
                    "row per object."
                )
            self.names, self.columns = list(range(X.shape[1])), list(X.T)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if 0 in X.shape:
            raise ProximityError(
                f"{self._who} needs rows and columns. Found array with {X.shape[0]} sample(s) and {X.shape[1]} "
                f"feature(s) (shape={X.shape}) while a minimum of 1 is required."
            )

    def __len__(self) -> int:
        return len(self.columns[0])

    def split(self, numeric: Any, categorical: Any) -> tuple[Indices, Indices]:
        """Column numbers of the numeric and of the categorical columns."""
        everything = np.arange(len(self.columns))
        if numeric is not None:
            numbers = self._places(numeric)
        elif categorical is not None:
            numbers = np.setdiff1d(everything, self._places(categorical))
        else:
            numbers = np.flatnonzero(
                [c.dtype.kind in "iuf" or (c.dtype == object and all_numbers(c)) for c in self.columns]
            )
        return numbers, np.setdiff1d(everything, numbers) if categorical is None else self._places(categorical)

    def part(self, columns: Indices) -> Array:
        """Some columns as an array of objects."""
        objects = np.empty((len(self), len(columns)), dtype=object)
        for i, column in enumerate(columns):
            objects[:, i] = self.columns[column]
        return objects

    def numbers(self, columns: Indices) -> Floats:
        """Some columns as finite numbers."""
        out = np.empty((len(self), len(columns)))
        for i, column in enumerate(columns):
            try:
                if np.iscomplexobj(self.columns[column]):
                    raise TypeError
                out[:, i] = self.columns[column].astype(np.float64)
            except (TypeError, ValueError):
                raise ProximityError(
                    f"{self._who} needs numbers in column {quote(self.names[column])}, which is numeric: argument must "
                    "be a string or a number. List it in `categorical` if it is not."
                ) from None
        for wrong, needed, advice in (
            (~np.isfinite(out), "finite numbers, neither NaN nor inf", "Fill or drop"),
            (np.abs(out) > LARGEST[8], f"numbers of at most {LARGEST[8]:g}", "Divide"),
        ):
            if wrong.any():
                i, row = np.argwhere(wrong.T)[0]
                raise ProximityError(
                    f"{self._who} needs {needed}; column {quote(self.names[columns[i]])} holds {out[row, i]} in row "
                    f"{row}. {advice} them first."
                )
        return out

    def _places(self, told: Any) -> Indices:
        places = []
        for name in told:
            if name in self.names:
                places.append(self.names.index(name))
            elif isinstance(name, int | np.integer) and 0 <= name < len(self.names):
                places.append(int(name))
            else:
                raise ProximityError(f"{self._who} found no column {quote(name)}. There are {len(self.names)} columns.")
        return np.array(places, dtype=np.intp)


@storable
class ConditionalGaussians(FittedArrays):
    """x | t, g ~ N(m_g + B_g (t - s_g), C_g): the conditionals of one joint Gaussian of (t, x) per class.

    Its covariance is (1 - r) C_g + r diag(C), r the `regularization` and diag(C) pooled variances.
    """

    fitted_arrays = {
        "_t": fitted_indices("t"),
        "_x": fitted_indices("x"),
        "means": fitted_reals("G", None),
        "_m": fitted_reals("G", None),
        "_slope": fitted_reals("G", "x", None),
        "covariances": fitted_reals("G", "x", "x"),
    }

    def __init__(self, regularization: float) -> None:
        self.regularization = regularization

    def fit(self, x: Array, t: Array, codes: Indices) -> ConditionalGaussians:
        """Fit to n rows of numbers `x` and conditions `t`; constant columns are left out."""
        members = [codes == g for g in range(int(codes.max()) + 1)]
        u = np.hstack([t, x])
        means = np.stack([u[rows].mean(axis=0) for rows in members])
        within = u - means[codes]
        variance = (within**2).mean(axis=0)
        # A class may be constant where others vary; a column that varies only between classes has the total variance.
        variance = np.where(variance > 0, variance, u.var(axis=0))
        keep = variance > 1e-30 * (1 + (u**2).mean(axis=0))
        self._t, self._x = np.flatnonzero(keep[: t.shape[1]]), np.flatnonzero(keep[t.shape[1] :])
        a, G, d, r = len(self._t), len(members), len(self._x), self.regularization
        self.means, self._m = means[:, t.shape[1] :], means[:, keep]
        self._slope, self.covariances = np.zeros((G, d, a)), np.empty((G, d, d))
        for g, rows in enumerate(members):
            w = within[rows][:, keep]
            C = (1 - r) * w.T @ w / len(w) + r * np.diag(variance[keep])
            if a:
                self._slope[g] = cho_solve(cho_factor(C[:a, :a]), C[:a, a:]).T
            self.covariances[g] = C[a:, a:] - self._slope[g] @ C[:a, a:]
        return self

    def log_density(self, x: Array, t: Array) -> Floats:
        """Log-density of new rows under each class, (m, G)."""
        x, a = x[:, self._x], len(self._t)
        answers = []
        for m, slope, C in zip(self._m, self._slope, self.covariances):
            L = np.linalg.cholesky(C)
            z = solve_triangular(L, (x - m[a:] - (t[:, self._t] - m[:a]) @ slope.T).T, lower=True)
            answers.append(-0.5 * ((z**2).sum(axis=0) + len(C) * np.log(2 * np.pi)) - np.log(np.diag(L)).sum())
        return np.stack(answers, axis=1)


class MixedSDA(FittedArrays, LogLimitMixin, ClassifierMixin, BaseEstimator):
    """Gaussians on the numeric columns of a table times similarity discriminant analysis of the categorical ones.

        P(x | g) = P(x_num | g) prod_m gamma_gm exp(lambda_gm T_m(x_cat)),

    T_m being statistics of the similarities of the categorical parts, by default to the class centroids. See
    [cazzanti2007] Eq. (3.42)-(3.44).

    Parameters
    ----------
    measure : Measure
        Compares the categorical parts of two rows, such as ``Counting()`` or ``VDM()``. A copy is fitted here.
    numeric, categorical : list of column numbers or names, or None
        Numeric and categorical columns. With both None, columns of numbers are numeric and all others (text,
        categories, booleans) categorical; with one None, it is all the other columns.
    independent : bool, default=True
        Assume that the numeric part is independent of the categorical one within a class, eq. (3.44). With False its
        Gaussian is conditional on the statistics T(x_cat), eq. (3.43), with a mean that is linear in them.
    regularization : float, default=1e-3
        Weight r, above 0 and up to 1, of the pooled variances in each class's covariance, (1 - r) C_g + r diag(C).
    statistic, centroid, domain, pseudocount, priors, costs
        As in :class:`SDA`.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (G,)
        Class labels and priors.
    numeric_, categorical_ : ndarray of int
        Column numbers.
    measure_ : Measure or None
        The fitted measure; None without categorical columns.
    sda_ : SDA or None
        The model of the categorical part, which reads similarities to ``objects_``; None without categorical columns.
    objects_ : ndarray
        Categorical parts of the training rows that new rows are compared with.
    means_, covariances_ : ndarray of shape (G, d), (G, d, d)
        Class means of the numeric columns, and regularized covariances; given the statistics, unless `independent`.

    Notes
    -----
    The paper prints arg max in (3.43) and (3.44), where the least expected cost is meant, and leaves the conditional
    model open; conditioning on every combination of categories, as it remarks, needs too many models. A numeric column
    that is constant in training is left out.

    Examples
    --------
    >>> from similis import Counting, MixedSDA
    >>> rows = [["red", "round", 1.0], ["red", "long", 1.4], ["red", "round", 1.2],
    ...         ["green", "long", 1.9], ["green", "round", 2.2], ["green", "long", 2.6]]
    >>> model = MixedSDA(Counting()).fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([["red", "long", 1.1], ["green", "long", 2.0]])
    array(['a', 'b'], dtype='<U1')
    """

    fitted_arrays = {
        "numeric_": fitted_indices(None, below="n"),
        "categorical_": fitted_indices(None, below="n"),
        "priors_": fitted_reals("G", low=0),
        "_gaussians": fitted_part(ConditionalGaussians, G="G"),
    }
    _parameter_constraints = {
        "measure": [HasMethods(["fit", "matrix"])],
        "numeric": ["array-like", None],
        "categorical": ["array-like", None],
        "independent": ["boolean"],
        "regularization": [between(0, 1, "right")],
        **{k: v for k, v in SDA._parameter_constraints.items() if k not in ("degenerate", "kind")},
    }

    def __init__(
        self,
        measure: Any,
        *,
        numeric: Any = None,
        categorical: Any = None,
        independent: bool = True,
        regularization: float = 1e-3,
        statistic: Any = "centroid",
        centroid: Literal["max-sum", "popular", "any-class"] = "max-sum",
        domain: Any = "empirical",
        pseudocount: float = 0.0,
        priors: Any = None,
        costs: Any = None,
    ) -> None:
        self.measure = measure
        self.numeric = numeric
        self.categorical = categorical
        self.independent = independent
        self.regularization = regularization
        self.statistic = statistic
        self.centroid = centroid
        self.domain = domain
        self.pseudocount = pseudocount
        self.priors = priors
        self.costs = costs

    @validated_outer
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Fit to a table of n rows, which is a pandas or polars frame, an array or a list of rows, and n labels."""
        table = Table(X, self, reset=True)
        self.classes_, codes = base.check_labels(y, len(table), who=type(self).__name__)
        base.check_costs(self.costs, len(self.classes_))
        self.priors_ = base.class_priors(self.priors, np.bincount(codes))
        self.numeric_, self.categorical_ = table.split(self.numeric, self.categorical)
        T = self._fit_categorical(table.part(self.categorical_), y)
        self._gaussians = ConditionalGaussians(self.regularization).fit(
            table.numbers(self.numeric_), T if not self.independent else T[:, :0], codes
        )
        self.means_, self.covariances_ = self._gaussians.means, self._gaussians.covariances
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the class with the least expected cost, for m rows with the columns of the training table."""
        proba = self.predict_proba(X)
        return self.classes_[base.least_cost(proba, base.check_costs(self.costs, len(self.classes_)))]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probability of each class, (m, G), for m rows with the columns of the training table."""
        return softmax(self.class_scores(self.check_rows(X)), axis=1)

    log_priors = BayesClassifier.log_priors

    def _fit_categorical(self, objects: Any, y: Any) -> Any:
        """Fit SDA to the categorical parts and compact it; return T of the training rows."""
        self.measure_: Any = None
        self.sda_: Any = None
        self.objects_ = objects[:0]
        if objects.shape[1] == 0:
            return np.empty((len(objects), 0))
        self.measure_ = clone(self.measure).fit(objects, y)
        params = {name: getattr(self, name) for name in ("statistic", "centroid", "domain", "pseudocount")}
        S = self.measure_.matrix(objects)
        model = SDA(**params, kind=getattr(self.measure_, "kind", "similarity"))
        self.sda_, columns = model.fit(S, y).select_columns()
        self.objects_ = objects[columns]
        return self.sda_.statistics(S[:, columns])

    def check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        table = Table(X, self, reset=False)
        return table.part(self.categorical_), table.numbers(self.numeric_)

    def _limits(self, Q: Array) -> Any:
        """[cazzanti2007] Eq. (3.43)-(3.44) -> log P(x_num | T(x_cat), g) + log P(T(x_cat) | g)."""
        objects, numbers = Q
        T = np.empty((len(objects), 0))
        limits = LogLimit(*np.zeros((3, len(objects), len(self.classes_))))
        if self.sda_ is not None:
            S = self.sda_.check_rows(self.measure_.matrix(objects, self.objects_))
            limits = self.sda_._limits(S)
            T = T if self.independent else self.sda_._statistics(S)
        return limits.plus(self._gaussians.log_density(numbers, T))

    def select_columns(self) -> Any:
        return self, np.arange(self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
