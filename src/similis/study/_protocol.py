"""The protocol of a study: outer splits, and the inner folds that choose parameters in each training part.

Every random number is drawn from (random_state, number of the split): a split does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import LeaveOneOut

from similis._utils.arrays import Indices, Mask
from similis.distributed import choose_landmarks

Scheme = Literal["random", "stratified", "kfold", "loo"]
SCHEMES = ("random", "stratified", "kfold", "loo")


@dataclass(frozen=True, eq=False)
class Split:
    """One partition of the objects."""

    number: int  # its place among the splits
    test: Indices  # objects held out
    n: int  # number of objects in all
    given_train: Indices | None = None  # the training part, where it is not simply all the others
    seed: int | None = None  # of the methods; None: derived from the study's `random_state`

    @property
    def train(self) -> Indices:
        """Indices of the training objects, computed on demand: leave-one-out has n lists of n - 1."""
        return np.delete(np.arange(self.n), self.test) if self.given_train is None else self.given_train

    def on_landmarks(self, codes: Indices, n_landmarks: int | None, random_state: int) -> Split:
        """Return the split with a training part of landmarks, the same for every method."""
        if n_landmarks is None or self.n_train <= n_landmarks:
            return self
        seed = int(np.random.default_rng([random_state, 3, self.number]).integers(2**31))
        train = self.train
        return replace(self, given_train=train[choose_landmarks(codes[train], n_landmarks, seed)])

    @property
    def n_train(self) -> int:
        return self.n - len(self.test) if self.given_train is None else len(self.given_train)


class DealtFolds:
    """Folds of equal size for every class size, see :func:`deal`; at most as many as objects or groups."""

    def __init__(self, n_splits: int, random_state: int = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Iterator[tuple[Indices, Indices]]:
        rng = np.random.default_rng(self.random_state)
        codes = np.unique(np.asarray(y), return_inverse=True)[1]
        if groups is not None:
            groups = np.unique(np.asarray(groups), return_inverse=True)[1]
        fold = deal(codes, self.n_splits, rng, groups)
        for number in range(int(fold.max()) + 1):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        if groups is not None:
            return min(self.n_splits, len(np.unique(np.asarray(groups))))
        return self.n_splits if y is None else min(self.n_splits, len(y))


@dataclass(frozen=True)
class Protocol:
    """Parameters of the splits of a study, see :class:`Study`."""

    scheme: Scheme = "random"
    n_splits: int = 20
    test_size: float = 0.2
    cv: int | Literal["loo"] = 10
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ValueError(f"protocol must be one of {', '.join(SCHEMES)}. Got {self.scheme!r}.")
        if not isinstance(self.test_size, (int, float)) or not 0 < self.test_size < 1:
            raise ValueError(f"test_size must be a share between 0 and 1. Got {self.test_size!r}.")
        for name, least, words in (
            ("n_splits", 1, "a whole number, at least 1"),
            ("cv", 2, "a number of folds, at least 2, or 'loo'"),
            ("random_state", 0, "a whole number, not negative"),
        ):
            value = getattr(self, name)
            if name == "cv" and value == "loo":
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
                raise ValueError(f"{name} must be {words}. Got {value!r}.")
            object.__setattr__(self, name, int(value))  # NumPy integers are not written to JSON

    @property
    def n_folds(self) -> int:
        """Folds of one repetition of "kfold"."""
        return max(2, round(1 / self.test_size))

    def splits(self, codes: Indices, groups: Indices | None = None) -> list[Split]:
        n = len(codes)
        units = n if groups is None else int(groups.max()) + 1
        if units < 3 or (self.scheme == "kfold" and units < self.n_folds):
            raise ValueError(f"This protocol needs more than the {units} objects or groups at hand.")
        if self.scheme == "loo":
            unit = np.arange(n) if groups is None else groups
            return [Split(i, np.flatnonzero(unit == u), n) for i, u in enumerate(np.unique(unit))]
        return [Split(i, np.flatnonzero(self._held_out(i, codes, groups)), n) for i in range(self.n_splits)]

    def inner(self, split: int, *, grouped: bool = False) -> Any:
        """Return the splitter that chooses parameters inside the training part of a split."""
        if self.cv == "loo":
            return DealtFolds(2**31) if grouped else LeaveOneOut()
        return DealtFolds(self.cv, int(np.random.default_rng([self.random_state, 1, split]).integers(2**31)))

    def n_inner(self, n_train: int) -> int:
        """Number of inner folds."""
        return n_train if self.cv == "loo" else min(self.cv, n_train)

    def inner_train_size(self, n_train: int, cv: Any = None) -> int:
        """Approximate size of the smallest inner training part; `cv` is a method's own splitter."""
        folds = self.n_inner(n_train) if cv is None else cv.get_n_splits(np.empty((n_train, 1)), np.zeros(n_train))
        return max(1, n_train - -(-n_train // folds))

    def fixed_part(self) -> dict[str, Any]:
        """Settings that determine split i; the number of splits is not among them."""
        left_out = {"n_splits", "test_size"} if self.scheme == "loo" else {"n_splits"}
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    def describe(self, n_splits: int | None = None) -> str:
        percent = f"{100 * self.test_size:.3g} %"
        if self.scheme == "loo":
            outer = "leave one out"
        elif self.scheme == "kfold":
            outer = f"{self.n_folds} folds, {n_splits or self.n_splits} splits in all"
        else:
            kept = ", class shares kept" if self.scheme == "stratified" else ""
            outer = f"{n_splits or self.n_splits} random splits, {percent} held out{kept}"
        inner = "leave one out" if self.cv == "loo" else f"{self.cv} folds"
        return f"{outer}; parameters chosen by {inner} inside each training part; seed {self.random_state}"

    def _held_out(self, number: int, codes: Indices, groups: Indices | None) -> Mask:
        if self.scheme == "kfold":
            rng = np.random.default_rng([self.random_state, 0, number // self.n_folds])
            return deal(codes, self.n_folds, rng, groups) == number % self.n_folds
        rng = np.random.default_rng([self.random_state, 0, number])
        units = np.arange(len(codes)) if groups is None else groups
        names = np.unique(units)
        # [chen2010] sec. 4.3 -> 20 % for testing; the printed errors are multiples of one over a rounded fifth
        m = min(max(round(self.test_size * len(names)), 1), len(names) - 1)
        if groups is None and self.scheme == "stratified":
            order = _by_class(codes, rng)
            places = np.floor((np.arange(m) + rng.random()) * len(codes) / m).astype(np.intp)
            return np.isin(units, order[places])
        return np.isin(units, rng.permutation(names)[:m])


def deal(codes: Indices, n_folds: int, rng: np.random.Generator, groups: Indices | None = None) -> Indices:
    """Assign objects to folds in turn, in random order sorted by class, or whole groups; return each object's fold."""
    if groups is not None:
        return deal_groups(groups, n_folds, rng)
    fold = np.empty(len(codes), dtype=np.intp)
    fold[_by_class(codes, rng)] = np.arange(len(codes)) % min(n_folds, len(codes))
    return fold


def deal_groups(groups: Indices, n_folds: int, rng: np.random.Generator) -> Indices:
    """Assign whole groups to folds, the largest first, each to the smallest fold; return the fold of each object."""
    size = np.bincount(groups)
    shuffled = rng.permutation(len(size))
    shuffled = shuffled[size[shuffled] > 0]
    load = np.zeros(min(n_folds, len(shuffled)))
    fold_of = np.zeros(len(size), dtype=np.intp)
    for group in shuffled[np.argsort(-size[shuffled], kind="stable")]:
        fold_of[group] = int(np.argmin(load))
        load[fold_of[group]] += size[group]
    return fold_of[groups]


def given_splits(splits: Iterable[Any], n: int, *, allow_empty_test: bool = False) -> list[Split]:
    """Validate splits made by the caller: pairs (train, test), or (train, test, seed)."""
    found = []
    for number, given in enumerate(splits):
        if len(given) not in (2, 3):
            raise ValueError(f"Split {number}: expected (train, test) or (train, test, seed), got {len(given)} items.")
        parts = [np.asarray(part) for part in given[:2]]
        parts = [np.flatnonzero(part) if part.dtype == bool else part.astype(np.intp) for part in parts]
        for name, part in zip(("training", "test"), parts):
            if name == "test" and allow_empty_test and part.ndim == 1 and not part.size:
                continue
            if part.ndim != 1 or not part.size or part.min() < 0 or part.max() >= n:
                raise ValueError(f"Split {number}: the {name} part must hold indices from 0 to {n - 1}, at least one.")
        both = np.intersect1d(parts[0], parts[1])
        if both.size:
            raise ValueError(f"Split {number}: object {both[0]} is both in training and test part.")
        found.append(Split(number, parts[1], n, parts[0], None if len(given) == 2 else int(given[2])))
    if not found:
        raise ValueError("splits must hold at least one (training, test) pair.")
    return found


def _by_class(codes: Indices, rng: np.random.Generator) -> Indices:
    """Objects in random order, sorted by class, the classes in random order."""
    order = rng.permutation(len(codes))
    place = rng.permutation(int(codes.max()) + 1)
    return order[np.argsort(place[codes[order]], kind="stable")]
