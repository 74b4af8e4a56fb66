"""The hot loops: arrays in, arrays out.

Map (a caller writes ``from similis import _kernels`` and ``_kernels.name(...)``)::

    _jit.py        the one decorator and its flags
    _local_centroid.py  local_centroids: class centroids among ranked neighbours for a grid of k
    _topk.py       top_k: ranked neighbours of every row, with folds
    _votes.py      vote_winners, class_sums: votes of ranked neighbours for a grid of k

Contract. A kernel takes C-contiguous arrays and scalars, writes into arrays its caller made or returns arrays it
made at its top; it validates nothing, draws nothing, prints nothing, raises nothing. Kernels are serial and
release the GIL: callers chunk rows over threads (``_utils.threads``). A kernel never takes a function as argument,
so its compiled form can be cached on disk. Numba is imported when the first kernel is asked for, not before.
"""

from importlib import import_module
from typing import Any

_HOME: dict[str, str] = {
    "local_centroids": "_local_centroid",
    "top_k": "_topk",
    "class_sums": "_votes",
    "vote_winners": "_votes",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
