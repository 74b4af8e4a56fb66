"""Measure a matrix block by block into a file, which may be larger than memory; a killed run resumes."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import clone
from sklearn.utils import get_tags

from similis._utils.arrays import Array
from similis._utils.files import short_path
from similis._utils.fingerprint import fingerprint
from similis._utils.messages import track, warn_user
from similis._utils.moved import name_in_files, params_in_files
from similis.base import Integral, at_least, choice, count_objects, quote, validated_function
from similis.distributed._cluster import hold, run_unordered
from similis.distributed._record import Record
from similis.exceptions import ClusterError, ProximityError
from similis.io import BlockFile, Proximity, file_format, matrix_card, read_proximity
from similis.measures import Measure

SMALLEST, LARGEST = 64, 4096
SECONDS = 1.0  # of work per block: a hundred times a scheduler's overhead per task; a kill loses that much


@validated_function(
    {
        "measure": [Measure],
        "block_size": [at_least(1), None],
        "refused": [choice("raise", "missing")],
        "n_jobs": [Integral, None],
        **{name: ["boolean"] for name in ("symmetrize", "overwrite", "progress")},
    }
)
def measure_to_disk(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    measure: Measure,
    symmetrize: bool = False,
    ids: Sequence[Any] | None = None,
    labels: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    block_size: int | None = None,
    refused: str = "raise",
    overwrite: bool = False,
    n_jobs: int | None = None,
    client: Any = None,
    progress: bool = False,
) -> Proximity:
    """Measure all pairs of objects, block by block, into a file, and return it; resume an interrupted run.

    A complete file of the same matrix is checked against the digest in its card and returned.

    Parameters
    ----------
    path : str or path-like
        Output file, ``.npy`` or ``.zarr``. Until it is complete it is called ``<path>.part``.
    X : collection of n objects
        Objects that the measure reads.
    y : array-like of shape (n,), optional
        Labels, for measures that learn from them.
    measure : Measure
        Compares two objects. It is fitted on all of them.
    symmetrize : bool, default=False
        Whether to average both directions of an asymmetric measure.
    ids, labels : sequences of n, optional
        Names and class labels that are stored with the matrix; `labels` are `y` by default.
    dtype : dtype, optional
        float32 or float64; by default what the measure gives: float32 from float32.
    block_size : int, optional
        Rows and columns of a block; by default as many as take about a second, at most 4096. A resumed run keeps them.
    refused : {"raise", "missing"}, default="raise"
        Pairs for which the measure raises an error or is infinite: "raise" measures all other blocks, then raises an
        error that names the object; "missing" writes NaN.
    overwrite : bool, default=False
        Whether a matrix of other objects or of another measure, its ids and labels, or a damaged file may be replaced.
    n_jobs : int, optional
        Number of threads (processes, for a measure written in Python) that share the rows of a block.
    client : distributed.Client, optional
        A cluster that measures the blocks, from :func:`connect`; every worker must have access to `path`.
    progress : bool, default=False
        Whether to show a progress bar on the standard error stream.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis import Edit
    >>> from similis.distributed import measure_to_disk
    >>> path = os.path.join(tempfile.mkdtemp(), "D.npy")
    >>> measure_to_disk(path, ["a", "bcd", "ef"], measure=Edit(), dtype="float32", ids=["u", "v", "w"])
    Proximity(3 x 3 dissimilarity, float32, ids 'u' ... 'w')
    """
    path = _check_path(path) if client is None else _check_path(path).absolute()  # workers run in other folders
    fitted = clone(measure).fit(X, y)
    objects = fitted.validate_objects(X)
    n = count_objects(objects)
    card = matrix_card((n, n), kind=fitted.kind, ids=ids, labels=y if labels is None else labels)
    try:
        asked = np.dtype(_type_of(fitted, objects) if dtype is None else dtype)
    except TypeError:
        asked = np.dtype(object)
    if asked not in (np.float32, np.float64):
        raise ProximityError(f"dtype must be float32 or float64. Got {str(dtype)[:40]}.")
    store = BlockFile(path, n, asked.str, block_size or 0)
    record = Record(store)
    # Hashes of what determines the matrix; `identity` is without the objects, unless values depend on all of them.
    learned, described = None, [_hashable(measure), symmetrize, asked.str, n]
    if type(fitted).learn is not Measure.learn or type(fitted).fit is not Measure.fit:
        from_labels = get_tags(fitted).target_tags.required or hasattr(fitted, "classes_")
        learned = joblib.hash([objects, np.asarray(y) if from_labels else None])
    identity = str(joblib.hash([*described, None if fitted.fit_only_indexes else learned]))
    fingerprint = str(joblib.hash([str(joblib.hash([*described, learned])), _parts_hashes(objects, n, n)]))
    if _is_finished(store, fingerprint, card, overwrite):
        store.tidy()
        if record.path.exists() and not store.part.exists():
            # The journal of a process that was killed after it had renamed the matrix.
            with suppress(OSError, ProximityError), record.held():  # ProximityError: another process has started again
                record.remove()
        return read_proximity(path, mmap=True)
    with record.held():
        job = TileJob(fitted, store, symmetrize, refused == "missing", n_jobs)
        resumes = not overwrite or record.head.get("fingerprint") == fingerprint
        size = (resumes and record.head.get("tile")) or block_size
        size = int(size or tile_size(lambda k: job.values(objects[:k]), n))
        job = replace(job, store=replace(store, tile=size))
        plan = Plan(n, size, job.half)
        head = {"fingerprint": fingerprint, "identity": identity, "objects": _parts_hashes(objects, n, size)}
        _continue_or_start(record, {**head, "measure": repr(measure), "tile": size}, plan, job, overwrite)
        _measure_missing(plan, job, record, objects, card["ids"], client, progress)
        times = [record.done[tile.number] for tile in plan.tiles]
        card |= {"measure": repr(measure), "fingerprint": fingerprint, "block_size": size, "times": times}
        job.store.finish(card)
        record.remove()
    return read_proximity(path, mmap=True)


def _check_path(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if file_format(path) not in ("npy", "zarr"):
        raise ProximityError(f"{short_path(path)} must end in .npy or .zarr: only these are written block by block.")
    folder = path.parent
    if not folder.absolute().is_dir():
        raise ProximityError(f"There is no folder {short_path(folder)!r} to write {path.name} to; create it first.")
    return path


def _type_of(measure: Measure, objects: Any) -> np.dtype[Any]:
    """Type of the values that the measure returns."""
    try:
        first = measure.encode(objects[:1])
        return measure.block(first, first).dtype
    except Exception:  # the block of the rejected object raises it
        return np.dtype(np.float64)


def _is_finished(store: BlockFile, fingerprint: str, card: dict[str, Any], overwrite: bool) -> bool:
    """Tell whether the file holds this matrix; replace its card if only ids or labels differ and may be replaced."""
    found = store.card()
    if found is None:
        return False
    about = json.loads(json.dumps(card))  # with the types that reading gives
    if found.get("fingerprint") != fingerprint:
        other = "holds other objects, another measure or another type" if found else "has no card that describes it"
    elif store.is_damaged(found):
        other = "is damaged: its values are not those that were measured"
    elif {key: found.get(key) for key in about} != about:
        if overwrite:
            store.replace_card({**found, **about})
            return True
        other = "holds the same values with other ids or labels"
    else:
        return True
    if not overwrite:
        raise ProximityError(f"{short_path(store.path)} exists and {other}. Name another file, or use overwrite.")
    return False


def _continue_or_start(record: Record, head: dict[str, Any], plan: Plan, job: TileJob, overwrite: bool) -> None:
    """Resume a journal of the same matrix; start a new one if there is none or it may be replaced."""
    again: set[int] = set()
    same = record.head.get("fingerprint") == head["fingerprint"]
    if not record.head or not job.store.is_whole() or (overwrite and not same):
        record.clear()  # first, so that the old journal never describes the new matrix
        job.store.create()
    elif not same:
        changed = {i for i, (a, b) in enumerate(zip(record.head["objects"], head["objects"])) if a != b}
        fixable = {part for parts in record.refused.values() for part in parts}  # only these may have changed
        fixed = record.head["identity"] == head["identity"] and len(record.head["objects"]) == len(head["objects"])
        if not (fixed and changed <= fixable):
            raise ProximityError(
                f"{short_path(job.store.part)} was started for other objects, another measure or another type. Remove "
                "it, name another file, or use overwrite."
            )
        again = {tile.number for tile in plan.tiles if changed & {tile.row, tile.column}}
    record.start(head, again)


def _measure_missing(
    plan: Plan, job: TileJob, record: Record, objects: Any, names: Any, client: Any, progress: bool
) -> None:
    """Measure the unfinished blocks; at the end raise an error for the first rejected object."""
    tiles = plan.tiles
    todo = [tile for tile in tiles if tile.number not in record.done]
    rejections: list[tuple[Tile, Rejection]] = []
    try:
        shared, parts = hold(job, client), plan.parts
        part = cache(lambda number: hold(objects[parts[number]], client))

        def task(tile: Tile) -> Any:
            return TileJob.run, shared, tile, part(tile.row), None if tile.diagonal else part(tile.column)

        results = run_unordered(task, todo, client)
        for tile, rejection in track(results, total=len(todo), description="measuring blocks", enabled=progress):
            to_fix = {"row": (tile.row,), "column": (tile.column,), "pair": (tile.row, tile.column)}
            record.add(tile.number, None if rejection is None else to_fix[rejection.alone])
            if rejection is not None:
                rejections.append((tile, rejection))
    except OSError as error:
        kept = f"{len(record.done)} of {len(tiles)} blocks are kept"
        if isinstance(error, ClusterError):
            raise ClusterError(f"{error} {kept}.") from error
        raise job.store.write_error(error, kept) from None
    finally:
        record.flush()
    if rejections:
        tile, rejection = min(rejections)
        pair = tile.rows.start + rejection.row, tile.columns.start + rejection.column
        x, z = (f"{i}" if names is None else f"{i}, {quote(names[i][:30])}" for i in pair)
        rejected = {"row": f"object {x}", "column": f"object {z}", "pair": f"the pair ({x}; {z})"}
        raise ProximityError(
            f"Block {tile.number} of {len(tiles)}: {type(job.measure).__name__} rejects {rejected[rejection.alone]}: "
            f"{rejection.reason}. {len(record.done)} blocks are kept; fix it and run again, or use refused='missing'."
        )


def _hashable(value: Any) -> Any:
    """Convert a measure, or a parameter of one, to values with the same hash in every process."""
    exact = fingerprint(value)
    if exact.unverified:
        parts = ", ".join(exact.unverified)[:120]
        text = (
            f"{parts} of the measure cannot be verified: a file that was measured before it changed would be accepted."
        )
        warn_user(text, UserWarning)
    if not exact.is_described:
        return exact.digest
    if isinstance(value, Measure):  # as 1.0 described it
        module, _, name = name_in_files(type(value)).rpartition(".")
        return [module, name, {key: _hashable(given) for key, given in params_in_files(value).items()}]
    return value


def _parts_hashes(objects: Any, n: int, size: int) -> list[str]:
    return [str(joblib.hash(objects[first : first + size])) for first in range(0, n, size)]


class Tile(NamedTuple):
    """One block: its number in the plan, and its rows and columns with the numbers of these parts."""

    number: int
    row: int
    column: int
    rows: slice
    columns: slice

    @property
    def diagonal(self) -> bool:
        return self.row == self.column


@dataclass(frozen=True)
class Plan:
    """Division of a square matrix into square blocks, row by row; with `half` only those on and above the diagonal."""

    n: int
    size: int
    half: bool

    @property
    def parts(self) -> list[slice]:
        """Objects of each row (or column) of blocks."""
        return [slice(a, min(a + self.size, self.n)) for a in range(0, self.n, self.size)]

    @property
    def tiles(self) -> list[Tile]:
        """All blocks in the order in which they are measured."""
        parts = self.parts
        pairs = ((i, j) for i in range(len(parts)) for j in range(i if self.half else 0, len(parts)))
        return [Tile(number, i, j, parts[i], parts[j]) for number, (i, j) in enumerate(pairs)]


def tile_size(measure_some: Callable[[int], object], n: int, seconds: float = SECONDS) -> int:
    """Find a block size that takes about `seconds`; `measure_some(k)` measures the first k objects."""
    per_pair = 0.0
    try:
        measure_some(min(n, 2))  # compiles and loads
        for k in (4, 32, 256):
            start = time.perf_counter()
            measure_some(min(n, k))
            elapsed = time.perf_counter() - start
            per_pair = elapsed / min(n, k) ** 2
            if elapsed > 0.1 * seconds:
                break
    except (MemoryError, OSError):
        raise
    except Exception:  # the block of the rejected object raises the error
        return min(n, 256)
    size = math.isqrt(int(seconds / max(per_pair, 1e-12)))
    size = max(SMALLEST, min(LARGEST, size))
    return min(n, size - size % SMALLEST)


class Rejection(NamedTuple):
    """Pair that the measure rejects, by its position in the block, with the reason."""

    row: int
    column: int
    alone: str  # "row" or "column" if that object is rejected by itself, else "pair"
    reason: str


@dataclass(frozen=True)
class TileJob:
    """Task that all blocks share: the fitted measure, the file, and whether blocks are mirrored."""

    measure: Measure
    store: BlockFile
    symmetrize: bool
    missing: bool
    n_jobs: int | None = None

    @property
    def half(self) -> bool:
        """True if blocks below the diagonal are mirror images of those above."""
        return self.measure.symmetric or self.symmetrize

    def run(self, tile: Tile, left: Any, right: Any = None) -> Rejection | None:
        """Measure and write a block; `right` is None if objects are measured against themselves."""
        try:
            block = self.values(left, right)
        except (MemoryError, OSError):
            raise
        except Exception:  # a measure of the user may raise anything
            block, rejection = self._measure_singly(left, left if right is None else right)
            if rejection is None:
                raise
            if not self.missing:
                return rejection
        self.store.write(tile.rows, tile.columns, block)
        if self.half and not tile.diagonal:
            self.store.write(tile.columns, tile.rows, block.T)
        return None

    def values(self, left: Any, right: Any = None) -> Array:
        """Measure the block between two collections, in the type of the file; raise if a value is infinite."""
        measure = self.measure
        A = measure.encode(left)
        B = A if right is None else measure.encode(right)
        S = measure.block(A, B, self.n_jobs)
        if self.symmetrize and not measure.symmetric:
            S = (S + (S if right is None else measure.block(B, A, self.n_jobs)).T) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            S = np.asarray(S, dtype=self.store.dtype)
            if np.isfinite(S.sum(dtype=np.float64)) or not np.isinf(S).any():
                return S
        raise ValueError("its value is infinite")

    def _measure_singly(self, left: Any, right: Any) -> tuple[Array, Rejection | None]:
        """Measure row by row, rejected rows pair by pair: NaN for rejected pairs, unless the first of them ends it."""
        block = np.full((count_objects(left), count_objects(right)), np.nan, dtype=self.store.dtype)
        first = None
        for i in range(len(block)):
            x = left[i : i + 1]
            block[i], reason = self._try(x, right)
            for j in range(block.shape[1]) if reason else ():
                z = right[j : j + 1]
                block[i, j : j + 1], reason = self._try(x, z)
                if reason and first is None:
                    alone = "row" if self._try(x, x)[1] else "column" if self._try(z, z)[1] else "pair"
                    first = Rejection(i, j, alone, reason)
                    if not self.missing:
                        return block, first
        return block, first

    def _try(self, x: Any, z: Any) -> tuple[Any, str]:
        """Values of a block; or NaN and the reason why the measure rejects it."""
        try:
            return self.values(x, z), ""
        except (MemoryError, OSError):
            raise
        except Exception as error:
            return np.nan, " ".join(str(error).split())[:90] or type(error).__name__
