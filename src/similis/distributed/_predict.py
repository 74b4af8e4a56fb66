"""Answers of a model for more rows than memory holds, a block of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from similis._utils.params import at_least, choice, validated_function
from similis._utils.progress import track
from similis._utils.stored import is_stored, mapped
from similis.distributed._tiles import count

__all__ = ["predict_blocks"]

BLOCK = 2**24  # bytes of a block of rows


@validated_function(
    {
        "method": [choice("predict", "predict_proba", "decision_function", "transform", "score_samples")],
        "block_size": [at_least(1), None],
        "progress": ["boolean"],
    }
)
def predict_blocks(
    model: Any,
    X: Any,
    *,
    method: str = "predict",
    block_size: int | None = None,
    client: Any = None,
    progress: bool = False,
) -> NDArray[Any]:
    """Predict rows of a matrix that stays on disk, or many objects, a block of rows at a time.

    Parameters
    ----------
    model : fitted estimator or pipeline
        What answers.
    X : array of shape (m, n), or collection of m objects
        An ndarray, a memory map or a zarr array of proximities to the training objects; objects for a pipeline that
        starts with ``Pairwise``.
    method : {"predict", "predict_proba", "decision_function", "transform", "score_samples"}, default="predict"
        What to ask.
    block_size : int, optional
        Rows in a block; by default as many as make 16 MB.
    client : distributed.Client, optional
        A cluster that answers the blocks, from :func:`connect`. Workers read memory maps and zarr arrays themselves.
    progress : bool, default=False
        Whether to show a progress bar on the standard error stream.

    Returns
    -------
    ndarray of m rows
        Equal to ``model.predict(X)``.

    Notes
    -----
    Memory: the answers, and what the model makes of one block: at most ten times its 16 MB for the models of similis.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import NearestCentroid
    >>> from similis.distributed import predict_blocks
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> predict_blocks(NearestCentroid().fit(S, [0, 0, 1, 1]), S, block_size=3)
    array([0, 0, 1, 1])
    """
    m = count(X)
    size = block_size or _block_size(model, X)
    if is_stored(X) and client is None:  # each chunk is read once
        chunks = [slice(a, min(a + X.chunks[0], m)) for a in range(0, m, X.chunks[0])]
        maps = track((mapped(X, c) for c in chunks), total=len(chunks), description="reading", enabled=progress)
        return np.concatenate([predict_blocks(model, part, method=method, block_size=block_size) for part in maps])
    blocks = [slice(first, min(first + size, m)) for first in range(0, m, size)]
    if client is None:
        done = ((rows, _answer(model, X, rows, method)) for rows in blocks)
    else:
        done = _there(model, X, blocks, method, client)
    answers = dict(track(_by_start(done), total=len(blocks), description="predicting blocks", enabled=progress))
    return np.concatenate([answers[rows.start] for rows in blocks])


def _block_size(model: Any, X: Any) -> int:
    """Rows whose proximities to the training objects take `BLOCK` bytes."""
    if getattr(X, "ndim", 1) >= 2 and hasattr(X, "dtype") and X.dtype.kind == "f" and not _reads_objects(model):
        row = X.dtype.itemsize * int(np.prod(X.shape[1:]))
        whole_chunks = min(X.chunks[0], 16 * BLOCK // row) if is_stored(X) else 1
        return max(1, BLOCK // row, whole_chunks)
    known = _first_step(model).objects_ if _reads_objects(model) else ()
    return max(1, BLOCK // (8 * max(1, count(known))))


def _reads_objects(model: Any) -> bool:
    return hasattr(_first_step(model), "objects_")


def _first_step(model: Any) -> Any:
    return model[0] if isinstance(model, Pipeline) else model


def _by_start(done: Any) -> Any:
    return ((rows.start, answer) for rows, answer in done)


def _answer(model: Any, X: Any, rows: slice, method: str) -> NDArray[Any]:
    return np.asarray(getattr(model, method)(X[rows]))


@dataclass(frozen=True)
class _Map:
    """A memory map by its file: what is sent to a worker instead of its values."""

    file: str
    dtype: str
    offset: int
    shape: tuple[int, ...]
    order: Any

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        values = np.memmap(self.file, self.dtype, mode="r", offset=self.offset, shape=self.shape, order=self.order)
        return np.asarray(values[rows])


def _there(model: Any, X: Any, blocks: list[slice], method: str, client: Any) -> Any:
    from similis.distributed._cluster import _hold, run_unordered

    if isinstance(X, np.memmap) and X.filename is not None and not isinstance(X.base, np.ndarray):
        order = "C" if X.flags.c_contiguous else "F"
        X = _Map(str(X.filename), X.dtype.str, X.offset, X.shape, order)
    small = isinstance(X, _Map) or hasattr(X, "oindex")
    shared = client.submit(_hold, model, pure=False)

    def submit(rows: slice) -> Any:
        if small:
            return client.submit(_answer, shared, X, rows, method, pure=False, retries=2)
        return client.submit(_answer, shared, X[rows], slice(None), method, pure=False, retries=2)

    return run_unordered(submit, blocks, client)
