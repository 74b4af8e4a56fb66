"""Descriptive statistics T(x) of an object, read from its row of proximities. [cazzanti2007] sec. 3.2.1, 3.3."""

from __future__ import annotations

from inspect import Parameter, signature
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.storable import storable
from similis._utils.threads import row_blocks
from similis._utils.validation import show
from similis.exceptions import ProximityError

__all__ = ["NAMES", "Statistics", "as_list"]

NAMES = ("centroid", "nearest", "total", "rows", "quadratic")
_OF_CENTROIDS = ("centroid", "quadratic")


def as_list(statistic: Any) -> list[Any]:
    """The `statistic` parameter as a list of names and functions."""
    chosen = list(statistic) if isinstance(statistic, list | tuple) else [statistic]
    for one in chosen:
        if not callable(one) and one not in NAMES:
            raise ProximityError(f"statistic must be one of {NAMES}, a function, or a list of these. Got {show(one)}.")
    if not chosen:
        raise ProximityError("statistic must name at least one statistic. Got an empty list.")
    return chosen


@storable
class Statistics:
    """What to read from a row: names and functions, and what the training objects fix.

    Parameters
    ----------
    chosen : list of str and callables
        Which statistics, in the order of their columns.
    centroids : ndarray of shape (q, G)
        Centroid of each class under each of the q proximities.
    labels : ndarray of shape (n,)
        Training labels, which a user's function receives.
    codes : ndarray of shape (n,)
        Their class codes.
    sign : {1, -1}
        -1 for dissimilarities.
    """

    def __init__(self, chosen: list[Any], centroids: NDArray[np.intp], labels: Any, codes: Any, sign: int) -> None:
        self.chosen = chosen
        self.centroids = centroids
        self.labels = labels
        self.codes = codes
        self.sign = sign

    @property
    def few(self) -> bool:
        """Whether the centroids' columns are all that is read."""
        return all(isinstance(one, str) and one in _OF_CENTROIDS for one in self.chosen)

    def sources(self, widths: list[int]) -> list[tuple[str, int]]:
        """What each column of T holds, "value" (of the matrix), "product", "square" or "own", and of which slice."""
        n_slices, G = self.centroids.shape
        found: list[tuple[str, int]] = []
        for one, width in zip(self.chosen, widths):
            if not isinstance(one, str):
                found += [("own", 0)] * width
                continue
            kinds = ["own" if one == "total" else "value"] * (width // n_slices)
            if one == "quadratic":
                kinds[G:] = ["product"] * (len(kinds) - 2 * G) + ["square"] * G
            found += [(kind, q) for q in range(n_slices) for kind in kinds]
        return found

    def names(self, widths: list[int], classes: NDArray[Any]) -> list[str]:
        """What to write on an axis for each column of T."""
        n_slices, found = len(self.centroids), []
        pairs = [f"s(x, {a}) s(x, {b})" for a, b in combinations(classes, 2)]
        named = {
            "centroid": [f"s(x, centroid of {g})" for g in classes],
            "nearest": [f"s(x, nearest of {g})" for g in classes],
            "total": [f"summed s(x, z) over {g}" for g in classes],
            "rows": [f"s(x, object {i})" for i in range(len(self.codes))],
            "quadratic": [f"s(x, {g})" for g in classes] + pairs + [f"s(x, {g})²" for g in classes],
        }
        for one, width in zip(self.chosen, widths):
            if isinstance(one, str):
                found += [
                    name + (f", slice {q}" if n_slices > 1 else "") for q in range(n_slices) for name in named[one]
                ]
            else:
                found += [f"{getattr(one, '__name__', 'statistic')} {i}" for i in range(width)]
        return found

    def __call__(self, rows: NDArray[Any], *, training: bool = False) -> tuple[NDArray[np.float64], list[int]]:
        """T of each row, (m, M), and how many of its columns each chosen statistic gave.

        Where only centroids are read, new rows hold their columns and nothing else. In training, an object is not
        its own nearest neighbour; NaN then says that it has none.
        """
        blocks = [rows] if rows.ndim == 2 else [rows[:, :, q] for q in range(rows.shape[2])]
        parts = []
        for one in self.chosen:
            if callable(one):
                parts.append(self._users(one, rows))
            else:
                parts.append(np.hstack([self._by_rows(one, block, q, training) for q, block in enumerate(blocks)]))
        return np.hstack(parts), [part.shape[1] for part in parts]

    def _by_rows(self, one: str, block: NDArray[Any], q: int, training: bool) -> NDArray[np.float64]:
        """One statistic of many rows, a block of them at a time: the matrix may stay on disk."""
        read = getattr(self, f"_{one}")
        found = [read(block[rows], q, training, rows.start) for rows in row_blocks(*block.shape)]
        return found[0] if len(found) == 1 else np.vstack(found)

    def _centroid(self, block: NDArray[Any], q: int, training: bool, first: int = 0) -> NDArray[np.float64]:
        """[cazzanti2007] sec. 3.1 -> s(x, mu_h)."""
        places = self.centroids
        if self.few and not training:
            places = np.arange(places.size).reshape(places.shape)
        return block[:, places[q]].astype(np.float64)

    def _quadratic(self, block: NDArray[Any], q: int, training: bool, first: int = 0) -> NDArray[np.float64]:
        """[cazzanti2007] Eq. (3.27) -> s_h, s_h s_g, s_h^2."""
        s = self._centroid(block, q, training)
        h, g = np.array(list(combinations(range(s.shape[1]), 2)), dtype=np.intp).reshape(-1, 2).T
        return np.hstack([s, s[:, h] * s[:, g], s**2])

    def _nearest(self, block: NDArray[Any], q: int, training: bool, first: int = 0) -> NDArray[np.float64]:
        """[cazzanti2007] Eq. (3.12)-(3.13) -> max_{z in X_h} s(x, z), an object itself left out in training."""
        ranked = self.sign * block.astype(np.float64)
        if training:
            np.fill_diagonal(ranked[:, first:], -np.inf)
        best = np.stack([ranked[:, self.codes == h].max(axis=1) for h in range(self.centroids.shape[1])], axis=1)
        return np.where(np.isneginf(best), np.nan, self.sign * best)

    def _total(self, block: NDArray[Any], q: int, training: bool, first: int = 0) -> NDArray[np.float64]:
        """[cazzanti2007] sec. 3.2.1 -> sum_{z in X_h} s(x, z)."""
        member = self.codes[:, None] == np.arange(self.centroids.shape[1])
        return block.astype(np.float64) @ member

    def _rows(self, block: NDArray[Any], q: int, training: bool, first: int = 0) -> NDArray[np.float64]:
        """[cazzanti2007] Eq. (3.31) -> s(x, z_i) for every training object."""
        return block.astype(np.float64)

    def _users(self, function: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
        name = getattr(function, "__name__", type(function).__name__)
        try:
            found = np.asarray(function(rows, self.labels) if _takes_labels(function) else function(rows))
        except Exception as error:
            raise ProximityError(f"The statistic {name} failed: {' '.join(str(error).split())[:150]}.") from error
        answer = found
        if answer.ndim == 1:
            answer = answer[:, None]
        if answer.ndim != 2 or len(answer) != len(rows) or answer.shape[1] == 0 or answer.dtype.kind not in "buif":
            raise ProximityError(
                f"statistic {name} must return numbers, one row per object: shape ({len(rows)},) or ({len(rows)}, M). "
                f"Got {found.dtype} of shape {found.shape}."
            )
        if not np.isfinite(answer).all():
            row, column = np.argwhere(~np.isfinite(answer))[0]
            raise ProximityError(
                f"statistic {name} must return finite numbers. Got {show(answer[row, column])} in row {row}, column "
                f"{column}."
            )
        return answer.astype(np.float64)


def _takes_labels(function: Any) -> bool:
    """Whether a user's function has room for a second argument."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 or any(p.kind is Parameter.VAR_POSITIONAL for p in parameters)
