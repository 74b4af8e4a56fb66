"""Inputs to try: matrices, labels, objects and parameters, proper ones and all others.

Every function takes a `Tape` of bytes, which hypothesis draws, and returns one input. About half of what is drawn is
proper, so that what lies behind the first check is reached too.
"""

import io
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.utils._param_validation import Interval, Options, StrOptions

SEEDS = 2**32
TAPE = 120  # bytes an example


class Tape:
    """Bytes that decide: each call takes as many as it needs and returns an integer below its argument."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def __call__(self, below: int) -> int:
        size = 4 if below > 2**16 else 2
        self.place += size
        return int.from_bytes(self.data[self.place - size : self.place], "big") % below


def one(draw, *choices):
    """One of these."""
    return choices[draw(len(choices))]


def often(draw, share=0.5):
    """True about that often."""
    return draw(1000) >= 1000 * (1 - share)


# Matrices. Each of these makes (n + m) x n: a training matrix above, new rows below.


def _points(rng, n, m, d=3):
    return rng.normal(size=(n + m, d)) + 3 * rng.integers(0, 2, size=(n + m, 1))


def _distances(rng, n, m):
    Z = _points(rng, n, m)
    return np.sqrt(((Z[:, None] - Z[None, :n]) ** 2).sum(-1))


def _kernel(rng, n, m):
    return np.exp(-0.3 * _distances(rng, n, m) ** 2)


def _indefinite(rng, n, m):
    A = rng.normal(size=(n + m, n + m))
    return (A + A.T)[:, :n]


def _duplicates(rng, n, m):
    places = rng.integers(0, max(1, n // 2), size=n + m)
    return _kernel(rng, n, m)[np.ix_(places, places[:n])]


def _partly(value):
    def make(rng, n, m):
        S = _kernel(rng, n, m)
        S[rng.random(S.shape) < 0.15] = value
        return S

    return make


PROPER = {
    "kernel": _kernel,
    "distances": _distances,
    "linear kernel": lambda rng, n, m: (lambda Z: Z @ Z[:n].T)(_points(rng, n, m)),
    "indefinite": _indefinite,
    "asymmetric": lambda rng, n, m: rng.random((n + m, n)),
    "counts": lambda rng, n, m: rng.integers(0, 4, size=(n + m, n)).astype(float),
}
DEGENERATE = {
    "zero": lambda rng, n, m: np.zeros((n + m, n)),
    "equal": lambda rng, n, m: np.full((n + m, n), rng.choice([1.0, -3.0, 0.1])),
    "identity": lambda rng, n, m: np.eye(n + m, n),
    "rank one": lambda rng, n, m: np.outer(*(lambda v: (v, v[:n]))(rng.normal(size=n + m))),
    "duplicates": _duplicates,
    "negative": lambda rng, n, m: -_distances(rng, n, m),
    "tiny": lambda rng, n, m: 1e-200 * _kernel(rng, n, m),
    "subnormal": lambda rng, n, m: 1e-310 * _kernel(rng, n, m),
    "nearly equal": lambda rng, n, m: 1.0 + 1e-15 * rng.normal(size=(n + m, n)),
    "large": lambda rng, n, m: 1e12 * _indefinite(rng, n, m),
}
HOSTILE = {
    "huge": lambda rng, n, m: 1e300 * _kernel(rng, n, m),
    "huge distances": lambda rng, n, m: 1e160 * _distances(rng, n, m),
    "largest": lambda rng, n, m: np.full((n + m, n), np.finfo(float).max) * rng.choice([-1, 1], size=(n + m, n)),
    "mixed sizes": lambda rng, n, m: _indefinite(rng, n, m) * 10.0 ** rng.integers(-300, 300, size=(n + m, n)),
    "one huge entry": lambda rng, n, m: _partly(1e290)(rng, n, m),
    "with NaN": _partly(np.nan),
    "with inf": _partly(np.inf),
    "with -inf": _partly(-np.inf),
    "all NaN": lambda rng, n, m: np.full((n + m, n), np.nan),
}


def _frame(A):
    return pd.DataFrame(A, columns=[f"o{j}" for j in range(A.shape[1])])


def _strided(A):
    wide = np.zeros((2 * A.shape[0], 3 * A.shape[1]), A.dtype)
    wide[::2, ::3] = A
    return wide[::2, ::3]


def _locked(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def _with(A, thing):
    A = A.astype(object)
    if A.size:
        A.flat[A.size // 2] = thing
    return A


def _safely(A, dtype):
    return np.nan_to_num(np.clip(A, -100, 100)).astype(dtype)


FORMS = {
    "float32": lambda A: np.clip(A, -3e38, 3e38).astype(np.float32),
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "read-only": _locked,
    "list": lambda A: A.tolist(),
    "frame": _frame,
    "numbered frame": pd.DataFrame,
    "integers": lambda A: _safely(A, np.int64),
    "booleans": lambda A: A > 0.5,
    "float16": lambda A: np.clip(A, -6e4, 6e4).astype(np.float16),
    "numbers as objects": lambda A: A.astype(object),
    "big-endian": lambda A: A.astype(">f8"),
    "masked": lambda A: np.ma.masked_array(A, A > 0.9),
    "polars": lambda A: pl.DataFrame({f"o{j}": A[:, j] for j in range(A.shape[1])}),
}
MISFITS = {
    "small integers": lambda A: _safely(A, np.int8),
    "long double": lambda A: A.astype(np.longdouble),
    "complex": lambda A: A + 1j,
    "text": lambda A: A.astype(str),
    "words": lambda A: np.full(A.shape, "word"),
    "one word": lambda A: _with(A, "x"),
    "one None": lambda A: _with(A, None),
    "one list": lambda A: _with(A, [1]),
    "huge integer": lambda A: _with(A, 10**400),
    "dates": lambda A: np.zeros(A.shape, "M8[s]"),
    "records": lambda A: np.zeros(A.shape, [("a", "f8")]),
    "sparse": sparse.csr_array,
    "sparse matrix": sparse.coo_matrix,
    "vector": lambda A: A[:, 0] if A.shape[1] else A.ravel(),
    "scalar": lambda A: np.float64(1.0),
    "stack": lambda A: np.dstack([A, A]),
    "four axes": lambda A: A[None, None],
    "no columns": lambda A: A[:, :0],
    "no rows": lambda A: A[:0],
    "a column less": lambda A: A[:, :-1],
    "transposed": lambda A: A.T,
    "ragged": lambda A: [[1.0] * (i + 1) for i in range(max(2, len(A)))],
    "None": lambda A: None,
    "a word": lambda A: "matrix",
    "a dict": lambda A: {"a": 1},
    "a generator": lambda A: (row for row in A),
    "frame of words": lambda A: pd.DataFrame(np.full(A.shape, "w")),
    "frame of two types": lambda A: pd.DataFrame(A).astype({0: str}) if A.shape[1] else pd.DataFrame(A),
    "frame, names twice": lambda A: pd.DataFrame(A, columns=["o"] * A.shape[1]),
    "open file": lambda A: io.BytesIO(b"1,2"),
}


def sizes(draw):
    """Numbers of training objects and new ones."""
    n = one(draw, 6, 8, 12, 7, 1, 2, 3, 0) if often(draw, 0.4) else one(draw, 8, 10, 12)
    return n, one(draw, 3, 1, 5, 0)


def matrix(draw, *, plain=0.5):
    """A training matrix, new rows, and what they are: (S, Q, words)."""
    rng = np.random.default_rng(draw(SEEDS))
    n, m = sizes(draw)
    pool = PROPER if often(draw, 0.55) else DEGENERATE if often(draw, 0.6) else HOSTILE
    name = one(draw, *pool)
    with np.errstate(all="ignore"):
        A = pool[name](rng, n, m)
    A = np.where(np.abs(A) > 1.7e308, np.sign(A) * np.finfo(float).max, A) if "inf" not in name else A
    both = [A[:n], A[n:]]
    words = [f"n={n} m={m}", name]
    for i in range(2):
        if not often(draw, plain):
            form = one(draw, *FORMS) if often(draw, 0.6) else one(draw, *MISFITS)
            words.append(("fit", "new")[i] + " as " + form)
            with np.errstate(all="ignore"):
                both[i] = {**FORMS, **MISFITS}[form](both[i])
    return both[0], both[1], ", ".join(words)


def plain_matrix(draw, pool=None, n=None, m=None):
    """A float64 matrix with finite entries of any proper or degenerate sort, for functions that check nothing."""
    rng = np.random.default_rng(draw(SEEDS))
    pool = pool or {**PROPER, **{name: f for name, f in DEGENERATE.items() if name != "subnormal"}}
    n = n or one(draw, 8, 12, 5, 3, 2, 1)
    return np.ascontiguousarray(pool[one(draw, *pool)](rng, n, 0 if m is None else m)), rng


# Labels


def labels(draw, n, *, plain=0.6):
    """Labels of n objects, and what they are."""
    rng = np.random.default_rng(draw(SEEDS))
    codes = np.arange(n) % 2 if often(draw, 0.5) else rng.integers(0, one(draw, 2, 3, 5), size=n)
    if often(draw, plain):
        return codes, "two or more classes"
    made = {
        "text": lambda: np.array(["no", "yes", "maybe", "x", "y"])[codes],
        "bytes": lambda: np.array([b"no", b"yes", b"maybe", b"x", b"y"])[codes],
        "objects": lambda: np.array(["no", "yes", "maybe", "x", "y"], dtype=object)[codes],
        "booleans": lambda: codes > 0,
        "floats": lambda: codes.astype(float),
        "negative": lambda: codes - 1,
        "unlabeled": lambda: np.where(rng.random(n) < 0.3, -1, codes),
        "huge integers": lambda: codes * 2**62,
        "list": lambda: codes.tolist(),
        "series": lambda: pd.Series(codes, index=rng.permutation(n)),
        "categories": lambda: pd.Series(codes).astype("category"),
        "column": lambda: codes[:, None],
        "table": lambda: np.column_stack([codes, codes]),
        "one class": lambda: np.zeros(n, dtype=int),
        "a class each": lambda: np.arange(n),
        "one apart": lambda: (np.arange(n) == 0).astype(int),
        "continuous": lambda: rng.normal(size=n),
        "with NaN": lambda: np.where(codes > 0, np.nan, 1.0),
        "with None": lambda: np.array([None if c else "a" for c in codes], dtype=object),
        "of two types": lambda: np.array([1 if c else "a" for c in codes], dtype=object),
        "lists": lambda: [[1], [2]] * (n // 2),
        "dates": lambda: codes.astype("M8[D]"),
        "complex": lambda: codes * 1j,
        "too short": lambda: codes[:-1],
        "too long": lambda: np.r_[codes, 0],
        "empty": lambda: np.array([]),
        "None": lambda: None,
        "a number": lambda: 3,
        "a word": lambda: "labels",
        "a dict": lambda: {0: 1},
        "odd text": lambda: np.array(["\x1b[31m", "<b>", "\u2028", "", "\ud800"])[codes],
    }
    name = one(draw, *made)
    return made[name](), "labels: " + name


# Parameters

_NUMBERS = (0.5, 1.0, 2.0, 3, 1, 1e-3, 10.0, 100.0)
_EXTREMES = (1e-12, 1e12)
_NONSENSE = (
    -1,
    0,
    1.5,
    "nonsense",
    None,
    float("nan"),
    float("inf"),
    -float("inf"),
    [],
    {},
    (),
    object,
    True,
    b"x",
    1j,
)
_BOUNDED = {"n_init": 3, "max_iter": 20, "n_iter": 6, "degree": 40, "n_splits": 3, "cv": 3}


def parameters(draw, cls, *, nonsense=0.12):
    """Values for a few of a class's parameters by its own table of constraints, and now and then one that breaks it."""
    table = dict(getattr(cls, "_parameter_constraints", {}))
    chosen = {"random_state": 0} if "random_state" in table else {}
    for name in ("progress", "n_jobs", "measure", "S", "f", "estimator", "param_grid", "random_state"):
        table.pop(name, None)
    for _ in range(one(draw, 0, 1, 1, 2, 3) if table else 0):
        name = one(draw, *table)
        if name in ("costs", "priors", "domain", "statistic") and often(draw, 0.6):
            continue  # most of what stands for them below is improper
        chosen[name] = allowed(draw, name, one(draw, *table[name]))
    if table and often(draw, nonsense):
        chosen[one(draw, *table)] = one(draw, *_NONSENSE)
    return chosen


def allowed(draw, name: str, constraint: Any):
    """A value that one constraint allows, or looks as if."""
    if isinstance(constraint, StrOptions | Options):
        return one(draw, *sorted(constraint.options, key=str))
    if isinstance(constraint, Interval):
        top = _BOUNDED.get(name, 10**6)
        low, high = constraint.left, constraint.right
        values = [v for v in (*_NUMBERS, *((*_EXTREMES, low, high) if often(draw, 0.2) else ())) if v is not None]
        if constraint.type is Integral:
            values = [min(int(v), top) for v in values if np.isfinite(v) and v >= 1] + [2, 5]
        return one(draw, *([v for v in values if v in constraint] or [1]))
    if constraint == "boolean":
        return one(draw, False, True)
    if name == "costs":
        return one(draw, [[0, 1], [2, 0]], np.zeros((2, 2)), [[0, -1], [1, 0]], [[0, np.nan], [1, 0]], [1, 2], [["a"]])
    if name == "priors":
        return one(draw, [0.5, 0.5], [1, 0], [0.2, 0.3], [-1, 2], [np.nan, 1], [1], [[1, 2]], "ab", ["a", "b"])
    if name == "domain":
        return one(
            draw, (0, 1), (0, np.inf), (-np.inf, np.inf), (1, 0), (0,), [0, 1, 2], [], [np.nan], ["a"], ((1, 2), 3)
        )
    if name == "statistic":
        return one(
            draw, ["centroid", "nearest"], [], ("total",), [3], np.mean, lambda S, codes: S, ["rows", "quadratic"]
        )
    if constraint in (None, "random_state"):
        return None
    if constraint is callable:
        return one(draw, np.abs, len, lambda *a: 1 / 0 if not a else a[0])
    return one(draw, [0, 1], (1, 2), [], ["a"], [0.5, 0.5], {"a": 1}, (1, 1, 1), 3, "x", [True, False], [99, -1])
