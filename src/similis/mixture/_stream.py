"""Objects that come in batches: measured against what the model keeps, and against one another, nothing else."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from similis._utils.compact import compact
from similis._utils.objects import count, take
from similis._utils.storable import storable
from similis.exceptions import ProximityError

__all__ = ["ObjectStream", "stream_fit"]


def stream_fit(model, measure, batches=(), *, n_jobs=None):
    """Learn from batches of objects; only the distances that the model needs are measured.

    Parameters
    ----------
    model : IncrementalHLM
        Learns the batches, in place. With ``bounded=True`` neither it nor the stream remembers more than the objects in
        its ``columns_``.
    measure : Measure
        A dissimilarity. A clone of it is fitted to the first batch, for measures that learn.
    batches : iterable of (objects, labels)
        What arrives, in order; it is read one batch at a time. Empty batches are passed over.
    n_jobs : int, optional
        Threads (processes, for a measure written in Python) that share the measuring.

    Returns
    -------
    ObjectStream
        ``partial_fit(objects, labels)`` goes on; ``predict``, ``predict_proba``, ``log_density`` and ``score_samples``
        answer for new objects; ``save`` keeps it, and what :func:`similis.load` gives back goes on as if nothing had
        happened. It has ``model``, the fitted ``measure``, and the ``objects`` it keeps.

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
        if _count(objects):
            stream.partial_fit(objects, labels)
    return stream


@storable
class ObjectStream:
    """A model that learns from distances, with the measure and the objects it takes to feed it.

    Parameters
    ----------
    model : IncrementalHLM
        Learns.
    measure : Measure
        A dissimilarity.
    n_jobs : int, optional
        For the measuring.
    """

    def __init__(self, model, measure, n_jobs=None):
        if not hasattr(measure, "matrix"):
            raise ProximityError("measure must be a Measure. Got something else; wrap a function as FromFunction(f).")
        if measure.kind != "dissimilarity":
            raise ProximityError(
                f"stream_fit needs a dissimilarity, such as Minkowski() or FromFunction(f, kind='dissimilarity'). Got "
                f"{type(measure).__name__}, a similarity."
            )
        if hasattr(model, "classes_"):
            raise ProximityError("stream_fit needs a model that has learnt nothing yet: it must know its objects.")
        self.model, self.measure, self.n_jobs = model, measure, n_jobs
        self.objects, self.numbers = None, np.empty(0, dtype=np.intp)  # kept, and when they arrived

    def partial_fit(self, objects, labels):
        """Learn a batch.

        Parameters
        ----------
        objects : collection of m objects
            Whatever the measure reads.
        labels : array-like of shape (m,)
            Their classes.

        Returns
        -------
        self
        """
        first = self.objects is None
        if first:
            self.measure = clone(self.measure).fit(objects, labels)
        new = self.measure._objects(objects)
        D = self.measure.matrix(new, n_jobs=self.n_jobs)
        if not first and self.model.scheme == "resample":
            D = np.hstack([self.measure.matrix(new, self.objects, n_jobs=self.n_jobs), D])
        self.model.partial_fit(D, labels)
        n_seen = self.model.n_seen_
        self.numbers = np.concatenate([self.numbers, np.arange(n_seen - len(D), n_seen)])
        self.objects = new if first else _joined(self.objects, new)
        if self.model.bounded or self.model.scheme == "append":
            places = np.searchsorted(self.numbers, self.model.columns_)
            self.objects, self.numbers = take(self.objects, places), self.numbers[places]
        return self

    def predict(self, objects):
        """Classes of new objects; see the model's method of this name, which is given their distances."""
        return self._answer("predict", objects)

    def predict_proba(self, objects):
        """Class probabilities of new objects; see the model's method of this name."""
        return self._answer("predict_proba", objects)

    def log_density(self, objects):
        """Log pseudo-densities of new objects; see the model's method of this name."""
        return self._answer("log_density", objects)

    def score_samples(self, objects):
        """How usual new objects are; see the model's method of this name."""
        return self._answer("score_samples", objects)

    def _answer(self, response, objects):
        """Measure new objects against the centroids alone, and ask the model."""
        if self.objects is None:
            raise ProximityError("This stream has seen no objects yet; call partial_fit first.")
        small = compact(self.model)
        centroids = take(self.objects, np.searchsorted(self.numbers, small.columns_))
        return getattr(small, response)(self.measure.matrix(objects, centroids, n_jobs=self.n_jobs))


def _count(objects):
    if not hasattr(objects, "__len__"):
        raise ProximityError(f"The objects of a batch must be a collection. Got a {type(objects).__name__}.")
    return count(objects)


def _joined(a, b):
    return [*a, *b] if isinstance(a, list) or isinstance(b, list) else np.concatenate([a, b])
