"""Mixture HLM from a sequence of batches. [qiao2013] sec. 4."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from similis import base
from similis._utils.arrays import Array, Indices
from similis._utils.disk import allocate, on_disk, take_block
from similis._utils.fitted import FittedArrays, fitted_count, fitted_indices, fitted_part, fitted_reals
from similis._utils.storable import storable
from similis._utils.threads import row_blocks
from similis.base import Integral, Measure, Points, at_least, choice, estimator, param, validated
from similis.exceptions import ProximityError
from similis.mixture import _base as hlm
from similis.mixture._base import Clusters
from similis.mixture._mixture_hlm import Clustering


@storable
class ClassHistory(FittedArrays):
    """Components of one class and, for scheme II, its stored objects with distances, samples and weights."""

    fitted_arrays = {
        "centroids": fitted_indices("k"),  # numbers of the centroids in order of arrival
        "rounds": fitted_count(),  # batches with objects of the class
        "clusters": fitted_part(Clusters, k="k"),
        "near": fitted_part(Clusters),  # one cluster: distances to nearest neighbors, for degenerate data
        "whole": fitted_part(Clusters, optional=True),  # one cluster around the medoid, for equal distances
        "objects": fitted_indices("o"),  # numbers of the stored objects
        "D": fitted_reals("o", "o"),
        "mass": fitted_reals("o"),  # number of objects that each represents
        "sample": fitted_indices("s", below="o"),  # stored objects that take part in the next clustering
        "weights": fitted_reals("s"),
    }
    whole = Clusters.empty([0])  # models of 1.0 have none

    def __init__(self) -> None:
        self.centroids, self.rounds = np.empty(0, dtype=np.intp), 0
        self.clusters, self.near = Clusters.empty([]), Clusters.empty([0])
        self.objects, self.D, self.mass = np.empty(0, dtype=np.intp), np.empty((0, 0)), np.empty(0)
        self.sample, self.weights = np.empty(0, dtype=np.intp), np.empty(0)

    def append(self, model: Any, new: Array, arrived: Indices, seed: int) -> None:
        """Scheme I, sec. 4.1: add the clusters of the batch, with the distances `new`, to the earlier ones."""
        medoids, labels = Clustering(new, model.clustering, model.n_init, seed)(model.n_components)
        u = hlm.squares_to(new, medoids, labels)
        latest = slice(None if model.max_components is None else -model.max_components, None)
        self.clusters = Clusters.join([self.clusters, Clusters.of(u, labels, len(medoids))]).take(latest)
        self.centroids = np.concatenate([self.centroids, arrived[medoids]])[latest]
        self._add_nearest(new)
        self.whole = Clusters.join([self.whole, hlm.whole_class(new, np.arange(len(new)))]).pooled()
        self.rounds += 1

    def resample(self, model: Any, past: Array, new: Array, arrived: Indices, seed: int, draw: Any) -> None:
        """Scheme II, sec. 4.2: cluster the batch with weighted samples of earlier objects, assign the others."""
        n, m = len(self.objects), len(arrived)
        self._add_nearest(new, past)
        self.D = _joined(self.D, past, new)
        self.objects, self.mass = np.append(self.objects, arrived), np.append(self.mass, np.ones(m))
        self.whole = hlm.whole_class(self.D, np.arange(n + m), self.mass)
        taking_part, w = np.append(self.sample, n + np.arange(m)), np.append(self.weights, np.ones(m))
        k = min(model.n_components + model.growth * self.rounds, model.max_components or n + m)
        # [qiao2013] sec. 4.2 -> R = H D
        block = take_block(self.D, taking_part, taking_part)
        medoids, own = Clustering(block, model.clustering, model.n_init, seed, w if (w != 1).any() else None)(k)
        medoids = taking_part[medoids]
        labels = self.D[:, medoids].argmin(axis=1)
        labels[taking_part] = own
        # Eq. (3) for all objects; Eq. (4) for a bounded model, which stores samples only
        u, weights = hlm.squares_to(self.D, medoids, labels), w if model.bounded else None
        self.clusters = Clusters.of(u, labels, len(medoids), weights=weights, mass=self.mass)
        self.centroids = self.objects[medoids]
        self._draw(model, medoids, labels, draw)
        self.rounds += 1

    def _draw(self, model: Any, medoids: Indices, labels: Indices, draw: Any) -> None:
        """Draw the objects of the next clustering; a bounded model drops the others."""
        places, mass = [], self.mass.copy()
        for j, medoid in enumerate(medoids):
            members = np.flatnonzero(labels == j)
            others = members[members != medoid]
            drawn = members
            if len(others) > model.sample_size:
                drawn = np.append(draw.permutation(others)[: model.sample_size], medoid)
                mass[drawn] = mass[members].sum() / len(drawn)
            places.append(drawn)
        self.sample = np.sort(np.concatenate(places))
        # [qiao2013] sec. 4.2 -> w_i = sqrt((|I_j| + 1) / (v + 1)), 1 where all are kept
        self.weights = np.sqrt(mass[self.sample])
        if model.bounded:
            self.objects, self.D = self.objects[self.sample], self.D[np.ix_(self.sample, self.sample)]
            self.mass, self.sample = mass[self.sample], np.arange(len(self.sample))

    def _add_nearest(self, *around: Any) -> None:
        u = hlm.nearest_squares(*around)
        u = u if u.any() else hlm.nearest_squares(*around, positive=True)
        found = Clusters.of(u, np.zeros(len(u), dtype=np.intp), 1)
        self.near = Clusters.join([self.near, found]).pooled()


def _joined(D: Array, past: Array, new: Array) -> Any:
    """[[D, past'], [past, new]]; on disk if it is large and a part of it is on disk."""
    n, m = len(D), len(new)
    shape = n + m, n + m
    stored = on_disk(D) or on_disk(new)
    out = np.asarray(allocate(shape, new.dtype, part=True)) if stored else np.empty(shape, new.dtype)
    for rows in row_blocks(n, n + m):
        out[rows, :n], out[rows, n:] = D[rows], past[:, rows].T
    for rows in row_blocks(m, n + m):
        out[n:, :n][rows], out[n:, n:][rows] = past[rows], new[rows]
    return out


@estimator
class IncrementalHLM(hlm.HLMClassifier):
    """Classify by a mixture model on distances that is updated with every batch of objects.

    Scheme I, "append", clusters each batch by itself and adds its clusters to the model as further components. Scheme
    II, "resample", clusters a batch together with a few objects of each earlier cluster, weighted by the number of
    objects that they represent, and assigns all other earlier objects to the new centroids. Any batch may contain new
    classes. See [qiao2013] sec. 4, Eq. (3), (4).

    Parameters
    ----------
    scheme : {"append", "resample"}, default="append"
        Scheme I or II of the paper.
    n_components : int, default=4
        Clusters in each class: of every batch for "append", of the first for "resample".
    growth : int, default=2
        Additional clusters per class with every batch that contains the class, for "resample".
    sample_size : int, default=4
        v, the number of objects drawn from a larger cluster beside its centroid, for "resample".
    bounded : bool, default=False
        Store only centroids and drawn objects, and read distances to these only; "resample" then estimates from
        weighted objects by Eq. (4). With False, "resample" stores the distances within each class.
    max_components : int or None, default=None
        Largest number of components per class: "append" drops the earliest, "resample" adds no more. None for no limit.
    clustering, shared_shape, n_init
        As in :class:`MixtureHLM`.
    priors, costs
        As in :class:`KernelHLM`, with the frequencies so far.
    random_state : int, RandomState instance or None
        Random seed of starts and samples; read with the first batch.

    Attributes
    ----------
    n_seen_, n_batches_ : int
        Objects and batches so far.
    classes_, shape_, shape_estimate_, scales_, component_classes_, component_priors_, priors_
        As in :class:`MixtureHLM`.
    centroids_ : ndarray of shape (M,)
        Centroids, class by class, numbered in order of arrival.
    columns_ : ndarray
        Objects, numbered in order of arrival, whose columns ``predict`` reads: the centroids. With ``bounded=True``,
        those that it reads: the centroids and, for "resample", the objects drawn.
    n_features_in_ : int
        Number of columns that ``predict`` expects: all objects so far, or with ``bounded=True`` those in ``columns_``.

    Notes
    -----
    The first block is square. A later one has one row per new object and one column per earlier object, in order of
    arrival (with ``bounded=True``: those in ``columns_``), and then one per new object. "append" reads the last part
    only, and accepts a block without the others.

    v objects are drawn from a cluster of n > v objects beside its centroid, and all v + 1 weigh sqrt((n + 1) / (v +
    1)); all objects of other clusters and of the new batch weigh 1. If a bounded model draws again from objects that
    represent others, n + 1 is the number of objects represented; component weights and priors count represented objects
    too. Ward's method uses the mean of both directions of the weighted distances, which are asymmetric. "resample" is
    :class:`MixtureHLM` on all objects so far, for the same number of components and an integer `random_state`, as long
    as no cluster is larger than `sample_size` allows.

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

    scheme: str = param("append", choice("append", "resample"))
    n_components: int = param(4, at_least(1))
    growth: int = param(2, at_least(0))
    sample_size: int = param(4, at_least(1))
    bounded: bool = param(False, "boolean")
    max_components: int | None = param(None, at_least(1), None)
    clustering: str = param("vsh", choice("vsh", "kmedoids", "ward"))
    shared_shape: bool = param(True, "boolean")
    n_init: int = param(20, at_least(1))
    priors: Any = param(None, "array-like", choice("laplace"), None)
    costs: Any = param(None, "array-like", None)
    random_state: Any = param(None, "random_state")

    fitted_arrays = {
        "_pasts": fitted_part(ClassHistory, many=True, length="G", optional=True),  # None in a compact model
        "_between": fitted_reals(2),
        "n_seen_": fitted_count(1),
        "n_batches_": fitted_count(1),
        "_columns": fitted_indices("n", optional=True),
    }

    @validated
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Fit the first batch, distances (m, m) and labels of two classes at least; earlier batches are dropped."""
        D = self.check_training(X)
        classes, codes = base.check_labels(y, len(D), who=type(self).__name__, of=X)
        return self._learn(D[:, :0], D, classes, codes, first=True)

    @validated
    def partial_fit(self, X: ArrayLike, y: Any, classes: Any = None) -> Self:
        """Fit another batch of m objects, or the first one.

        `X`, (m, N), holds distances to the earlier objects, in order of arrival, and then among the new ones. With
        ``bounded=True`` of the earlier ones only to those in ``columns_``; for "append" the last m columns are enough.
        `classes` is ignored: a class is added with its first object.
        """
        if not hasattr(self, "classes_"):
            D = self.check_training(X)
            classes, codes = base.check_labels(y, len(D), who=type(self).__name__, min_classes=1, of=X)
            return self._learn(D[:, :0], D, classes, codes, first=True)
        if self._pasts is None:
            raise ProximityError("A compacted IncrementalHLM cannot be updated. Use partial_fit of the original model.")
        D = base.check_block(X, kind="dissimilarity", who=type(self).__name__)
        m, known = len(D), self.n_features_in_
        if D.shape[1] != known + m and not (self.scheme == "append" and D.shape[1] == m):
            past = "those in columns_" if self.bounded else "the earlier objects"
            raise ProximityError(
                f"X has {D.shape[1]} features, but IncrementalHLM is expecting {known} features as input, one for each "
                f"of {past}, and then one for each of the {m} new objects: {known + m} columns."
            )
        classes, codes = base.check_labels(y, m, who=type(self).__name__, min_classes=1, of=X)
        # An array of labels would convert numbers beside text to text.
        if (classes.dtype.kind in "US") != (self.classes_.dtype.kind in "US"):
            raise ProximityError(
                f"Labels of a new batch must have the type of the earlier ones. Got {base.quote(classes[0])} beside "
                f"{base.quote(self.classes_[0])}."
            )
        return self._learn(D[:, :-m], D[:, -m:], classes, codes)

    @property
    def columns_(self) -> Array:
        """Objects whose columns ``predict`` reads, ascending; with ``bounded=True`` the stored objects."""
        check_is_fitted(self)
        return np.unique(self._kept_objects) if self._columns is None else self._columns

    def _learn(self, past: Array, new: Array, classes: Any, codes: Indices, *, first: bool = False) -> Self:
        """Fit a batch from its distances to earlier objects (possibly without columns) and within the batch."""
        hlm.check_symmetric(new, type(self).__name__)
        everyone = classes if first else np.union1d(self.classes_, classes)
        base.class_priors(self.priors, np.ones(len(everyone), dtype=np.intp))  # validate before any attribute changes
        base.check_costs(self.costs, len(everyone))
        if first:
            seed = self.random_state
            self._seed = int(seed if isinstance(seed, Integral) else check_random_state(seed).randint(2**31 - 1))
            self._pasts: Any = []
            self._columns: Any = None
            self._between = np.zeros(2)  # nearest objects above distance zero: how many, and the sum of squares
            self.classes_, self.n_seen_, self.n_batches_ = np.empty(0), 0, 0
        histories = dict(zip(self.classes_.tolist(), self._pasts))
        self._pasts = [histories.get(label) or ClassHistory() for label in everyone.tolist()]
        self.classes_ = everyone
        known = np.arange(self.n_seen_) if self._columns is None else self._columns
        arrived = self.n_seen_ + np.arange(len(new))
        seeds = np.random.RandomState(self._seed).randint(2**31 - 1, size=len(self.classes_))
        for code, place in enumerate(np.searchsorted(everyone, classes)):
            rows, history = np.flatnonzero(codes == code), self._pasts[place]
            among, seed = take_block(new, rows, rows), int(seeds[place])
            if self.scheme == "append":
                history.append(self, among, arrived[rows], seed)
            else:
                earlier = take_block(past, rows, np.searchsorted(known, history.objects))
                draw = np.random.default_rng([self._seed, self.n_batches_, place])
                history.resample(self, earlier, among, arrived[rows], seed, draw)
        # Squared distances to nearest objects, used if no cluster has a positive distance.
        nearest = hlm.nearest_squares(new, past, positive=True)
        self._between += np.count_nonzero(nearest), nearest.sum()
        self.n_seen_ += len(new)
        self.n_batches_ += 1
        self._finish()
        return self

    def _finish(self) -> None:
        """Estimate the mixture and set the columns that it reads."""
        clusters, near, whole = (
            Clusters.join([getattr(past, name) for past in self._pasts]) for name in ("clusters", "near", "whole")
        )
        G = len(self._pasts)
        codes = np.repeat(np.arange(G), [len(past.centroids) for past in self._pasts])
        centroids = np.concatenate([past.centroids for past in self._pasts])
        between = self._between[1] / self._between[0] if self._between[0] else 0.0
        shapes, scales = hlm.estimate(clusters, codes, G, self.shared_shape, lambda: (near, between), lambda: whole)
        mixture = hlm.Mixture(centroids, codes, clusters.members, hlm.round_shape(shapes), scales, self.priors)
        self._set_mixture(mixture, shapes, self.shared_shape)
        self.n_features_in_ = self.n_seen_
        if self.bounded:
            kept = [past.objects for past in self._pasts] if self.scheme == "resample" else [centroids]
            self._columns = np.unique(np.concatenate(kept))
            self._kept_places = np.searchsorted(self._columns, centroids)
            self.n_features_in_ = len(self._columns)
        if self.bounded or self.n_batches_ > 1:
            self.__dict__.pop("feature_names_in_", None)  # the columns differ from those named

    def select_columns(self) -> Any:
        columns, small = np.unique(self.centroids_), copy.copy(self)
        small._columns = small._pasts = None
        small._kept_places, small.n_features_in_ = np.searchsorted(columns, self.centroids_), len(columns)
        small.__dict__.pop("feature_names_in_", None)
        return small, columns

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        model = copy.copy(self)
        model._learn(S[:, :0], S, self.classes_, codes, first=True)
        return [model.class_scores(Q if model._columns is None else Q[:, model._columns])] * len(points)


def stream_fit(
    model: IncrementalHLM, measure: Measure, batches: Iterable[tuple[Any, ArrayLike]] = (), *, n_jobs: int | None = None
) -> ObjectStream:
    """Fit a model to batches of objects and measure only the distances that it needs.

    The returned stream has the attributes ``model``, ``measure``, fitted, and ``objects``, the stored ones. Its
    ``partial_fit(objects, labels)`` fits another batch; ``predict``, ``predict_proba``, ``log_density`` and
    ``score_samples`` take new objects. It can be saved and loaded.

    Parameters
    ----------
    model : IncrementalHLM
        Fitted in place. With ``bounded=True`` the model and the stream store only the objects in its ``columns_``.
    measure : Measure
        A dissimilarity. A clone of it is fitted to the first batch, for measures that learn.
    batches : iterable of (objects, labels)
        Batches, read one at a time. Empty batches are skipped.
    n_jobs : int, optional
        Number of threads (processes, for a measure that defines ``__call__``).

    Examples
    --------
    >>> import numpy as np
    >>> from similis import IncrementalHLM, Minkowski, stream_fit
    >>> def batches(n, rng=np.random.default_rng(0)):
    ...     for _ in range(n):
    ...         y = rng.integers(3, size=50)
    ...         yield rng.normal(size=(50, 2)) + 4 * y[:, None], y
    >>> stream = stream_fit(IncrementalHLM(bounded=True, random_state=0), Minkowski(), batches(5))
    >>> stream.model.n_seen_, len(stream.objects)
    (250, 60)
    """
    stream = ObjectStream(model, measure, n_jobs)
    if not hasattr(batches, "__iter__"):
        raise ProximityError(f"batches must be a sequence of pairs (X, y). Got a {type(batches).__name__}.")
    for batch in batches:
        try:
            objects, labels = batch
        except (TypeError, ValueError):
            raise ProximityError("Each batch must be a pair of objects and labels, such as (X, y).") from None
        if not hasattr(objects, "__len__"):
            raise ProximityError(f"The objects of a batch must be a collection. Got a {type(objects).__name__}.")
        if base.count_objects(objects):
            stream.partial_fit(objects, labels)
    return stream


@storable
class ObjectStream(FittedArrays):
    """A model fitted to distances, with its dissimilarity measure and the stored objects."""

    fitted_arrays = {"numbers": fitted_indices(None)}

    def __init__(self, model: IncrementalHLM, measure: Measure, n_jobs: int | None = None) -> None:
        if not hasattr(measure, "matrix"):
            raise ProximityError("measure must be a Measure; wrap a function as FromFunction(f).")
        if measure.kind != "dissimilarity":
            raise ProximityError(
                f"stream_fit needs a dissimilarity, such as Minkowski() or FromFunction(f, kind='dissimilarity'). Got "
                f"{type(measure).__name__}, a similarity."
            )
        if hasattr(model, "classes_"):
            raise ProximityError("stream_fit needs an unfitted model, since it must store the model's objects.")
        self.model, self.measure, self.n_jobs = model, measure, n_jobs
        self.objects: Any = None
        self.numbers = np.empty(0, dtype=np.intp)  # stored objects and their numbers

    def partial_fit(self, objects: Any, labels: ArrayLike) -> Self:
        """Fit a batch: m objects that the measure reads, and their labels."""
        first = self.objects is None
        if first:
            self.measure = clone(self.measure).fit(objects, labels)
        new = self.measure.validate_objects(objects)
        D = self.measure.matrix(new, n_jobs=self.n_jobs)
        if not first and self.model.scheme == "resample":
            D = np.hstack([self.measure.matrix(new, self.objects, n_jobs=self.n_jobs), D])
        self.model.partial_fit(D, labels)
        n_seen = self.model.n_seen_
        self.numbers = np.concatenate([self.numbers, np.arange(n_seen - len(D), n_seen)])
        if first:
            self.objects = new
        elif isinstance(self.objects, list) or isinstance(new, list):
            self.objects = [*self.objects, *new]
        else:
            self.objects = np.concatenate([self.objects, new])
        if self.model.bounded or self.model.scheme == "append":
            places = np.searchsorted(self.numbers, self.model.columns_)
            self.objects, self.numbers = base.take_objects(self.objects, places), self.numbers[places]
        return self

    def predict(self, objects: Any) -> Array:
        """Predict the classes of new objects; see the method of the model."""
        return self._respond("predict", objects)

    def predict_proba(self, objects: Any) -> Array:
        """Class probabilities of new objects; see the method of the model."""
        return self._respond("predict_proba", objects)

    def log_density(self, objects: Any) -> Array:
        """Log pseudo-densities of new objects; see the method of the model."""
        return self._respond("log_density", objects)

    def score_samples(self, objects: Any) -> Array:
        """Log pseudo-densities of new objects under all classes; see the method of the model."""
        return self._respond("score_samples", objects)

    def _respond(self, response: str, objects: Any) -> Array:
        """Measure new objects against the centroids and call a method of the model."""
        if self.objects is None:
            raise ProximityError("This stream has no objects; call partial_fit first.")
        small = base.compact(self.model)
        centroids = base.take_objects(self.objects, np.searchsorted(self.numbers, small.columns_))
        return getattr(small, response)(self.measure.matrix(objects, centroids, n_jobs=self.n_jobs))
