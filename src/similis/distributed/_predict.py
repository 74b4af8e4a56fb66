"""Predict more rows than memory holds, a block of rows at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.pipeline import Pipeline

from similis._utils.arrays import Array
from similis._utils.disk import is_stored, load_stored
from similis._utils.messages import track
from similis._utils.threads import single_blas_thread
from similis.base import Integral, at_least, choice, count_objects, validated_function
from similis.distributed._cluster import hold, run_unordered
from similis.distributed._on_neighbors import OnNeighbors
from similis.exceptions import ProximityError

BLOCK = 2**24  # bytes of a block of rows
SEARCHED = 2**12  # objects per block for a neighbor index: a few seconds


_METHODS = choice("predict", "predict_proba", "decision_function", "transform", "score_samples")


@validated_function(
    {"method": [_METHODS], "block_size": [at_least(1), None], "n_jobs": [Integral, None], "progress": ["boolean"]}
)
def predict_blocks(
    model: Any,
    X: Any,
    *,
    method: str = "predict",
    block_size: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    progress: bool = False,
) -> Array:
    """Return ``model.predict(X)`` for a matrix that stays on disk, or for many objects, a block of rows at a time.

    Parameters
    ----------
    model : fitted estimator or pipeline
        The model.
    X : array of shape (m, n), or collection of m objects
        Proximities to the training objects, as an ndarray, memory map or zarr array; or objects, if `model` measures.
    method : {"predict", "predict_proba", "decision_function", "transform", "score_samples"}, default="predict"
        Method of the model to call.
    block_size : int, optional
        Rows per block; by default as many as take 16 MB.
    n_jobs : int, optional
        Number of threads, each with a block of its own.
    client : distributed.Client, optional
        Cluster that predicts the blocks, from :func:`connect`. Workers read memory maps and zarr arrays themselves.
    progress : bool, default=False
        Whether to show a progress bar on the standard error stream.

    Examples
    --------
    >>> from similis import SimilarityKNN, distributed, make_similarity
    >>> S, y = make_similarity(20, random_state=0)
    >>> distributed.predict_blocks(SimilarityKNN().fit(S, y), S, block_size=8).shape
    (20,)
    """
    if not hasattr(X, "__getitem__") or isinstance(X, (str, dict)):
        raise ProximityError(f"predict_blocks needs a matrix or a list of objects. Got a {type(X).__name__}.")
    if not count_objects(X):
        return np.array(getattr(model, method)(X))
    every = slice(0, count_objects(X))
    pieces = _cut(every, X.chunks[0]) if client is None and is_stored(X) else [every]
    size = block_size or _block_size(model, X, whole_chunks=client is not None)
    blocks = [rows for piece in pieces for rows in _cut(piece, size)]
    if client is None:
        done = _predict_locally(model, X, pieces, size, method, n_jobs)
    else:
        done = _predict_on_cluster(model, X, blocks, method, client)
    predictions = dict(track(done, total=len(blocks), description="predicting blocks", enabled=progress))
    return np.concatenate([predictions[rows.start] for rows in blocks])


def _cut(rows: slice, size: int) -> list[slice]:
    return [slice(first, min(first + size, rows.stop)) for first in range(rows.start, rows.stop, size)]


def _block_size(model: Any, X: Any, *, whole_chunks: bool) -> int:
    """Rows whose proximities take `BLOCK` bytes; on a cluster, no part of a zarr chunk."""
    first = model[0] if isinstance(model, Pipeline) else model
    known = getattr(first, "objects_", None)
    if getattr(X, "ndim", 1) >= 2 and hasattr(X, "dtype") and X.dtype.kind == "f" and known is None:
        row = X.dtype.itemsize * int(np.prod(X.shape[1:]))
        chunk = min(X.chunks[0], 16 * BLOCK // row) if is_stored(X) and whole_chunks else 1
        return max(1, BLOCK // row, chunk)
    if isinstance(first, OnNeighbors):
        return SEARCHED
    return max(1, BLOCK // (8 * max(1, 0 if known is None else count_objects(known))))


def _predict_rows(model: Any, X: Any, rows: slice, method: str) -> Array:
    X = X() if isinstance(X, partial) else X
    return np.array(getattr(model, method)(X[rows]))  # a copy: the buffer of rows is overwritten


def _predict_locally(model: Any, X: Any, pieces: list[slice], size: int, method: str, n_jobs: int | None) -> Any:
    """First row and predictions of every block, on threads; a zarr array is read ahead, piece by piece."""
    workers = effective_n_jobs(n_jobs)
    each: Any = map
    with ExitStack() as stack:
        if workers > 1:
            stack.enter_context(single_blas_thread())
            each = stack.enter_context(ThreadPoolExecutor(workers)).map
        for piece, values in _read_ahead(X, pieces) if is_stored(X) else ((piece, X) for piece in pieces):
            within = _cut(slice(0, piece.stop - piece.start), size)
            for rows, answer in zip(within, each(lambda rows, V=values: _predict_rows(model, V, rows, method), within)):
                yield piece.start + rows.start, answer


def _read_ahead(X: Any, pieces: list[slice]) -> Any:
    """Rows of chunks with their values; while one is predicted, the next is read into the other of two buffers."""
    buffers: list[Any] = [None, None]

    def read(number: int) -> Array:
        buffers[number % 2] = load_stored(X, pieces[number], out=buffers[number % 2])
        return buffers[number % 2][: pieces[number].stop - pieces[number].start]

    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(read, 0)
        for number, piece in enumerate(pieces):
            values = coming.result()
            if number + 1 < len(pieces):
                coming = reader.submit(read, number + 1)
            yield piece, values


def _predict_on_cluster(model: Any, X: Any, blocks: list[slice], method: str, client: Any) -> Any:
    by_rows = not hasattr(X, "oindex")
    if isinstance(X, np.memmap) and X.filename is not None and not isinstance(X.base, np.ndarray):
        # Workers open the file themselves.
        order: Any = "C" if X.flags.c_contiguous else "F"
        X, by_rows = partial(np.memmap, str(X.filename), X.dtype.str, "r", X.offset, X.shape, order), False
    shared = hold(model, client)

    def task(rows: slice) -> Any:
        return _predict_rows, shared, *((X[rows], slice(None)) if by_rows else (X, rows)), method

    return ((rows.start, answer) for rows, answer in run_unordered(task, blocks, client))
