"""Similarity discriminant analysis of tables with numeric and categorical columns. [cazzanti2007] sec. 3.4."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from similis._utils.decision import check_costs, class_priors, least_cost
from similis._utils.params import HasMethods, between, choice, validated_outer
from similis._utils.validation import check_labels
from similis.discriminant._gaussian import ConditionalGaussians
from similis.discriminant._generative import BayesRule
from similis.discriminant._limits import LogLimit
from similis.discriminant._sda import SDA
from similis.discriminant._statistics import NAMES
from similis.discriminant._table import Table

__all__ = ["MixedSDA"]


class MixedSDA(BayesRule, ClassifierMixin, BaseEstimator):
    """Gaussians on the numeric columns of a table times similarity discriminant analysis of the categorical ones.

        P(x | g) = P(x_num | g) prod_m gamma_gm exp(lambda_gm T_m(x_cat)),

    T_m being statistics of the similarities of the categorical parts, by default to the class centroids.

    Parameters
    ----------
    measure : Measure
        Compares the categorical parts of two rows, such as ``Counting()`` or ``VDM()``. A copy is fitted here.
    numeric, categorical : list of column numbers or names, or None
        Which columns are which. With both None, columns of numbers are numeric and all others (text, categories,
        truth values) categorical; with one None, it is all the other columns.
    independent : bool, default=True
        Whether the numeric part is independent of the categorical one within a class, eq. (3.44). Otherwise its
        Gaussian is conditional on the statistics T(x_cat), eq. (3.43), with a mean that is linear in them.
    regularization : float, default=1e-3
        Weight r, above 0 and up to 1, of the pooled variances in each class's covariance, (1 - r) C_g + r diag(C).
    statistic : {"centroid", "nearest", "total", "rows", "quadratic"}, callable or list of these, default="centroid"
        As in :class:`SDA`.
    centroid : {"max-sum", "popular"}, default="max-sum"
        As in :class:`SDA`.
    domain : {"empirical", "continuous"}, array-like or tuple (low, high), default="empirical"
        As in :class:`SDA`.
    pseudocount : float, default=0.0
        As in :class:`SDA`.
    priors : None, "laplace" or array-like of shape (G,)
        Training frequencies, the same with one added to each count, or given probabilities.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of saying f when g is true; ``predict`` minimises its expectation.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    numeric_, categorical_ : ndarray of int
        Column numbers.
    measure_ : Measure
        The fitted measure; None without categorical columns.
    sda_ : SDA
        The model of the categorical part; it reads similarities to the objects in ``objects_``.
    objects_ : ndarray
        Categorical parts of the training rows that new rows are compared with.
    means_ : ndarray of shape (G, d)
        Class means of the numeric columns.
    covariances_ : ndarray of shape (G, d, d)
        Their regularised covariances; given the statistics, unless `independent`.
    priors_ : ndarray of shape (G,)
        Class priors.
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    SDA : For similarities alone.
    similis.HVDM : One distance for mixed rows, the other way to deal with them.

    Notes
    -----
    The paper prints arg max in (3.43) and (3.44), where the least expected cost is meant, and leaves the conditional
    model open; conditioning on every combination of categories, as it remarks, needs too many models. A numeric
    column that is constant in training is left out.

    References
    ----------
    [cazzanti2007] Eq. (3.42)-(3.44).

    Examples
    --------
    >>> from similis import Counting, MixedSDA
    >>> rows = [["red", "round", 1.0], ["red", "long", 1.4], ["red", "round", 1.2],
    ...         ["green", "long", 1.9], ["green", "round", 2.2], ["green", "long", 2.6]]
    >>> model = MixedSDA(Counting()).fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([["red", "long", 1.1], ["green", "long", 2.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _doc_link_module = "similis"
    _parameter_constraints = {
        "measure": [HasMethods(["fit", "matrix"])],
        "numeric": ["array-like", None],
        "categorical": ["array-like", None],
        "independent": ["boolean"],
        "regularization": [between(0, 1, "right")],
        "statistic": [choice(*NAMES), callable, list, tuple],
        "centroid": [choice("max-sum", "popular")],
        "domain": [choice("empirical", "continuous"), tuple, "array-like"],
        "pseudocount": [between(0, None, "left")],
        "priors": [choice("laplace"), "array-like", None],
        "costs": ["array-like", None],
    }

    def __init__(
        self,
        measure,
        *,
        numeric=None,
        categorical=None,
        independent=True,
        regularization=1e-3,
        statistic="centroid",
        centroid="max-sum",
        domain="empirical",
        pseudocount=0.0,
        priors=None,
        costs=None,
    ):
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
    def fit(self, X, y):
        """Fit the measure, the exponentials and the Gaussians.

        Parameters
        ----------
        X : table of n rows
            A pandas or polars frame, an array or a list of rows.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
        """
        table = Table(X, self, reset=True)
        self.classes_, codes = check_labels(y, len(table), who=type(self).__name__)
        check_costs(self.costs, len(self.classes_))
        self.priors_ = class_priors(self.priors, np.bincount(codes))
        self.numeric_, self.categorical_ = table.split(self.numeric, self.categorical)
        T = self._fit_categorical(table.part(self.categorical_), y)
        self._gaussians = ConditionalGaussians(self.regularization).fit(
            table.numbers(self.numeric_), T if not self.independent else T[:, :0], codes
        )
        self.means_, self.covariances_ = self._gaussians.means, self._gaussians.covariances
        return self

    def predict(self, X):
        """Predict the class with the least expected cost.

        Parameters
        ----------
        X : table of m rows
            New rows, with the columns of the training table.

        Returns
        -------
        ndarray of shape (m,)
            Labels from ``classes_``; the earlier class wins a tie.
        """
        costs = check_costs(self.costs, len(self.classes_)) if hasattr(self, "classes_") else None
        proba = self.predict_proba(X)
        return self.classes_[least_cost(proba, costs)]

    def _fit_categorical(self, objects, y):
        """SDA of the categorical parts, cut down to the objects it compares with; returns T of the training rows."""
        self.measure_, self.sda_, self.objects_ = None, None, objects[:0]
        if objects.shape[1] == 0:
            return np.empty((len(objects), 0))
        self.measure_ = clone(self.measure).fit(objects, y)
        model = SDA(
            statistic=self.statistic,
            centroid=self.centroid,
            domain=self.domain,
            pseudocount=self.pseudocount,
            kind=getattr(self.measure_, "kind", "similarity"),
        )
        S = self.measure_.matrix(objects)
        self.sda_, columns = model.fit(S, y)._compact()
        self.objects_ = objects[columns]
        return self.sda_.statistics(S[:, columns])

    def _check_query(self, X):
        check_is_fitted(self)
        table = Table(X, self, reset=False)
        return table.part(self.categorical_), table.numbers(self.numeric_)

    def _limits(self, Q):
        """[cazzanti2007] Eq. (3.43)-(3.44) -> log P(x_num | T(x_cat), g) + log P(T(x_cat) | g)."""
        objects, numbers = Q
        T = np.empty((len(objects), 0))
        limits = LogLimit(*np.zeros((3, len(objects), len(self.classes_))))
        if self.sda_ is not None:
            S = self.sda_._check_query(self.measure_.matrix(objects, self.objects_))
            limits = self.sda_._limits(S)
            T = T if self.independent else self.sda_._measure(S)
        return limits.plus(self._gaussians.log_density(numbers, T))

    def _compact(self):
        return self, np.arange(self.n_features_in_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
