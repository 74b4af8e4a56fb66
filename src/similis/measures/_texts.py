"""The door for texts: one text per object, in a list, an array or one column of a frame."""

from __future__ import annotations

from typing import Any

from similis.exceptions import ProximityError
from similis.measures._base import plain_rows
from similis.measures._codes import is_missing

__all__ = ["read_texts"]


def read_texts(X: Any, who: str, *, allow_bytes: bool = False) -> list[Any]:
    """Texts (or bytes, where these will do) as a list."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        X = X.ravel()
    texts = [str(x) if isinstance(x, str) else x for x in plain_rows(X, who)]
    for i, text in enumerate(texts):
        if isinstance(text, str) or (allow_bytes and isinstance(text, bytes)):
            continue
        missing = not hasattr(text, "__len__") and is_missing(text)  # a collection of values is none
        what = "missing" if missing else f"a {type(text).__name__}, {str(text)[:40]!r}"
        wanted = "texts or bytes" if allow_bytes else "texts"
        raise ProximityError(f"{who} compares {wanted}. Object {i} is {what}; join its parts into one text.")
    return texts
