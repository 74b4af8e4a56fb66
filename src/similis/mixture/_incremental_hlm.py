"""Mixture HLM from batches that arrive one after the other. [qiao2013] sec. 4."""

from __future__ import annotations

import copy

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from similis._utils.decision import check_costs, class_priors
from similis._utils.params import Integral, at_least, choice, validated
from similis._utils.stored import block_of
from similis._utils.validation import check_block, check_labels, show
from similis.exceptions import ProximityError
from similis.mixture._base import HLMClassifier, Mixture, check_symmetric
from similis.mixture._past import Past
from similis.mixture._statistics import Beside, Clusters, estimate, nearest_squares, round_shape

__all__ = ["IncrementalHLM"]


class IncrementalHLM(HLMClassifier):
    """Classify by a mixture on distances that grows with every batch of objects.

    Scheme I, "append", clusters each batch by itself and adds its clusters to the model as further components; of the
    past it needs only size, mean and geometric mean of the squared distances within each cluster. Scheme II,
    "resample", clusters a batch together with a few objects of each earlier cluster, which weigh more the more objects
    they stand for, and assigns the rest of the past to the new centroids. New classes may come with any batch.

    Parameters
    ----------
    scheme : {"append", "resample"}, default="append"
        I or II.
    n_components : int, default=4
        Clusters in each class: of every batch for "append", of the first for "resample".
    growth : int, default=2
        Further clusters in each class with every batch that holds objects of it, for "resample".
    sample_size : int, default=4
        v: objects, beside the centroid, that are drawn from a cluster with more, for "resample".
    bounded : bool, default=False
        Whether to forget all objects that are neither centroids nor drawn, and to ask for the distances to the others
        only; "resample" then estimates from weighted objects by Eq. (4). Without it "resample" remembers the distances
        within each class.
    max_components : int or None, default=None
        Most components in a class: "append" then drops the earliest, "resample" stops growing. None for no limit.
    clustering : {"vsh", "kmedoids", "ward"}, default="vsh"
        As in :class:`MixtureHLM`.
    shared_shape : bool, default=True
        Whether s is common to all classes, or each class has its own.
    n_init : int, default=20
        Random starts of vertex substitution.
    priors : array-like of shape (G,), "laplace" or None
        Class probabilities; None takes the frequencies so far, "laplace" adds one to each count.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of saying f when g is true.
    random_state : int, RandomState instance or None
        For starts and samples; read once, with the first batch.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels so far.
    n_seen_ : int
        Objects so far.
    n_batches_ : int
        Batches so far.
    shape_, shape_estimate_, scales_, component_classes_, component_priors_, priors_
        As in :class:`MixtureHLM`.
    centroids_ : ndarray of shape (M,)
        Centroids, class by class, numbered in order of arrival.
    columns_ : ndarray
        Objects, numbered in order of arrival, whose columns ``predict`` reads: the centroids. With ``bounded=True``,
        those it asks for: the centroids and, for "resample", the objects drawn.
    n_features_in_ : int
        Number of columns that ``predict`` expects: all objects so far, or with ``bounded=True`` those in ``columns_``.

    See Also
    --------
    stream_fit : Feeds objects, and measures only the distances that are needed.
    MixtureHLM : All objects at once.

    Notes
    -----
    The first block is square. A later one has one row per new object and one column per earlier object, in order of
    arrival (with ``bounded=True``: those in ``columns_``), and then one per new object. "append" reads the last part
    alone and is content with it.

    v objects are drawn from a cluster of n > v objects beside its centroid, and all v + 1 weigh
    sqrt((n + 1) / (v + 1)); all objects of other clusters and of the new batch weigh 1. If a bounded model draws again
    from objects that stand for others, n + 1 is what the cluster stands for. Shares of components and classes count
    what is stood for. A class that has no object in a batch stays as it is. Ward's method reads the mean of both
    directions of the weighted distances, which are not symmetric.

    "resample" is :class:`MixtureHLM` on all objects so far, for the same number of components and an integer
    `random_state`, as long as no cluster is larger than `sample_size` allows.

    References
    ----------
    [qiao2013] sec. 4, Eq. (3), (4).

    Examples
    --------
    >>> import numpy as np
    >>> from similis import IncrementalHLM
    >>> x = np.random.default_rng(0).normal(size=90) + 4 * (np.arange(90) % 3)
    >>> D, y = np.abs(x[:, None] - x), np.arange(90) % 3
    >>> model = IncrementalHLM(n_components=2, random_state=0).partial_fit(D[:30, :30], y[:30])
    >>> model.partial_fit(D[30:60, :60], y[30:60]).centroids_.shape
    (12,)
    >>> round(model.score(D[60:, :60], y[60:]), 2)
    1.0
    """

    _parameter_constraints = {
        "scheme": [choice("append", "resample")],
        "n_components": [at_least(1)],
        "growth": [at_least(0)],
        "sample_size": [at_least(1)],
        "bounded": ["boolean"],
        "max_components": [at_least(1), None],
        "clustering": [choice("vsh", "kmedoids", "ward")],
        "shared_shape": ["boolean"],
        "n_init": [at_least(1)],
        "priors": ["array-like", choice("laplace"), None],
        "costs": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        scheme="append",
        n_components=4,
        growth=2,
        sample_size=4,
        bounded=False,
        max_components=None,
        clustering="vsh",
        shared_shape=True,
        n_init=20,
        priors=None,
        costs=None,
        random_state=None,
    ):
        self.scheme = scheme
        self.n_components = n_components
        self.growth = growth
        self.sample_size = sample_size
        self.bounded = bounded
        self.max_components = max_components
        self.clustering = clustering
        self.shared_shape = shared_shape
        self.n_init = n_init
        self.priors = priors
        self.costs = costs
        self.random_state = random_state

    @validated
    def fit(self, X, y):
        """Forget everything and learn a first batch.

        Parameters
        ----------
        X : array-like of shape (m, m)
            Distances between its objects.
        y : array-like of shape (m,)
            Class labels, two different ones at least.

        Returns
        -------
        self
        """
        D = self._check_fit(X)
        classes, codes = check_labels(y, len(D), who=type(self).__name__)
        return self._learn(D[:, :0], D, classes, codes, first=True)

    @validated
    def partial_fit(self, X, y, classes=None):
        """Learn one more batch, or the first.

        Parameters
        ----------
        X : array-like of shape (m, N)
            Distances of the m new objects to the earlier ones, in order of arrival, and then among themselves. With
            ``bounded=True`` of the earlier ones only to those in ``columns_``; for "append" the last m columns are
            enough.
        y : array-like of shape (m,)
            Class labels.
        classes : ignored
            A hint that is not needed: classes are known when their first object comes.

        Returns
        -------
        self
        """
        if not hasattr(self, "classes_"):
            D = self._check_fit(X)
            classes, codes = check_labels(y, len(D), who=type(self).__name__, min_classes=1)
            return self._learn(D[:, :0], D, classes, codes, first=True)
        self._check_alive()
        D = check_block(X, kind="dissimilarity", who=type(self).__name__)
        m, known = len(D), self.n_features_in_
        if D.shape[1] != known + m and not (self.scheme == "append" and D.shape[1] == m):
            past = "those in columns_" if self.bounded else "the earlier objects"
            raise ProximityError(
                f"X has {D.shape[1]} features, but IncrementalHLM is expecting {known} features as input, one for each "
                f"of {past}, and then one for each of the {m} new objects: {known + m} columns."
            )
        classes, codes = check_labels(y, m, who=type(self).__name__, min_classes=1)
        self._check_type_of(classes)
        return self._learn(D[:, :-m], D[:, -m:], classes, codes)

    @property
    def columns_(self):
        """Objects whose columns ``predict`` reads; with ``bounded=True`` those it asks for. Ascending."""
        check_is_fitted(self)
        return np.unique(self._kept_objects) if self._columns is None else self._columns

    def _begin(self):
        """No objects so far."""
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        self._seed, self._pasts, self._columns = int(seed), [], None
        self._between = np.zeros(2)  # nearest objects above distance zero: how many, and the sum of squares
        self.classes_, self.n_seen_, self.n_batches_ = np.empty(0), 0, 0

    def _learn(self, past, new, classes, codes, *, first=False):
        """Learn a batch from its distances to the past (maybe without columns) and among itself."""
        check_symmetric(new, type(self).__name__)
        everyone = classes if first else np.union1d(self.classes_, classes)
        class_priors(self.priors, np.ones(len(everyone)))  # what does not fit is said before anything has changed
        check_costs(self.costs, len(everyone))
        if first:
            self._begin()
        places = self._welcome(everyone, classes)
        known = np.arange(self.n_seen_) if self._columns is None else self._columns
        arrived = self.n_seen_ + np.arange(len(new))
        seeds = np.random.RandomState(self._seed).randint(2**31 - 1, size=len(self.classes_))
        for place, code in zip(places, range(len(classes))):
            rows = np.flatnonzero(codes == code)
            draw = np.random.default_rng([self._seed, self.n_batches_, place])
            among = block_of(new, rows, rows)
            self._pasts[place].learn(self, past, rows, known, among, arrived[rows], int(seeds[place]), draw)
        self._look_around(past, new)
        self.n_seen_ += len(new)
        self.n_batches_ += 1
        self._finish()
        return self

    def _welcome(self, everyone, classes):
        """Let classes join; the places of those of the batch among all."""
        known = dict(zip(self.classes_.tolist(), self._pasts))
        self._pasts = [known.get(label) or Past() for label in everyone.tolist()]
        self.classes_ = everyone
        return np.searchsorted(everyone, classes)

    def _look_around(self, past, new):
        """Remember how far the nearest objects are, for the case that no cluster knows a distance above zero."""
        nearest = nearest_squares(Beside(new, past), positive=True)
        nearest = nearest[nearest > 0]
        self._between += len(nearest), nearest.sum()

    def _finish(self):
        """Put the model together and say which columns it needs."""
        parts = [past.clusters for past in self._pasts]
        clusters = Clusters.join(parts)
        codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        centroids = np.concatenate([past.centroids for past in self._pasts])

        def neighbors():
            count, total = self._between
            return Clusters.join([past.near for past in self._pasts]), total / count if count else 0.0

        shapes, scales = estimate(clusters, codes, len(parts), self.shared_shape, neighbors)
        mixture = Mixture(centroids, codes, clusters.members, round_shape(shapes), scales, self.priors)
        self._set_mixture(mixture, shapes, self.shared_shape)
        self.n_features_in_ = self.n_seen_
        if self.bounded:
            kept = [past.objects for past in self._pasts] if self.scheme == "resample" else [centroids]
            self._columns = np.unique(np.concatenate(kept))
            self._kept_places = np.searchsorted(self._columns, centroids)
            self.n_features_in_ = len(self._columns)
        if self.bounded or self.n_batches_ > 1:
            self.__dict__.pop("feature_names_in_", None)  # columns have changed since they were named

    def _compact(self):
        columns = np.unique(self.centroids_)
        small = copy.copy(self)
        small._columns = small._pasts = None
        small._kept_places = np.searchsorted(columns, self.centroids_)
        small.n_features_in_ = len(columns)
        small.__dict__.pop("feature_names_in_", None)
        return small, columns

    def _check_alive(self):
        if self._pasts is None:
            raise ProximityError("A compacted IncrementalHLM has forgotten what it needs to learn more. Use the model.")

    def _check_type_of(self, classes):
        """Refuse text among numbers, which an array of labels would quietly turn into text."""
        if (classes.dtype.kind in "US") != (self.classes_.dtype.kind in "US"):
            raise ProximityError(
                f"Labels of a new batch must be of the type of the earlier ones. Got {show(classes[0])} beside "
                f"{show(self.classes_[0])}."
            )

    def _grid(self, S, codes, Q, points):
        model = copy.copy(self)
        model._learn(S[:, :0], S, self.classes_, codes, first=True)
        return [model._discriminants(Q if model._columns is None else Q[:, model._columns])] * len(points)
