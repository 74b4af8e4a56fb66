"""How estimators and measures are tried: parameters, a matrix or objects, labels; then every method they have."""

import numpy as np
import pandas as pd
from _fuzz_inputs import SEEDS, labels, matrix, often, one, parameters
from _fuzz_law import bearable, call, demand, finite, same
from sklearn.utils.validation import has_fit_parameter

import similis

_WORDS = (
    "tree",
    "three",
    "",
    "a",
    "ACGT",
    "ACGTT",
    "the cat sat",
    "naïve",
    "\x00",
    "\ud800",
    "🌳" * 3,
    "WWW",
    "x" * 200,
)


def n_rows(X):
    """How many rows a thing has, if any."""
    try:
        return len(X) if not hasattr(X, "shape") else X.shape[0] if X.shape else 0
    except TypeError:
        return 0


def classifier(cls, *, stacked=0.0, **fixed):
    """A case for a classifier that reads proximity rows."""

    def case(draw, note):
        chosen = parameters(draw, cls)
        note(f"{cls.__name__}({chosen})")
        model = call(cls, **fixed, **chosen)
        S, Q, words = matrix(draw)
        if stacked and often(draw, stacked) and isinstance(S, np.ndarray) and S.ndim == 2 and S.dtype.kind == "f":
            S, Q = np.dstack([S, np.abs(S)]), np.dstack([Q, Q]) if isinstance(Q, np.ndarray) and Q.ndim == 2 else Q
            words += ", stack of two"
        y, what = labels(draw, n_rows(S))
        note(words + ", " + what)
        if often(draw, 0.02):
            call(model.predict, Q)  # refused: not fitted
            demand(False, "predict before fit")
        options = {}
        if has_fit_parameter(model, "sample_weight") and often(draw, 0.2):
            options["sample_weight"] = _weights(draw, n_rows(S))
            note(f"sample_weight={options['sample_weight']!r}")
        demand(call(model.fit, S, y, **options) is model, "fit returns self")
        note("fitted")
        judge_classifier(model, Q, fair=bearable(S, Q) and bearable(list(_numbers(chosen)), limit=1e10))
        if often(draw, 0.1) and isinstance(Q, np.ndarray):
            note("compact")
            small = call(similis.compact, model)
            block = np.asarray(Q)[:, model.columns_]
            demand(same(call(small.predict, block), call(model.predict, Q)), "compact predicts otherwise")
        if often(draw, 0.05) and hasattr(model, "partial_fit"):
            call(model.partial_fit, S, y)

    return case


def _numbers(chosen):
    return [v for v in chosen.values() if isinstance(v, int | float) and np.isfinite(v)] + [0.0]


def _weights(draw, n):
    ones = np.ones(n)
    return one(draw, ones, 2 * ones, np.arange(n), 0 * ones, -ones, np.nan * ones, ones[1:], "w", np.inf * ones, None)


def judge_classifier(model, Q, *, fair=True):
    """Labels from classes_, the same twice; probabilities that are some; decision values that are numbers."""
    said = call(model.predict, Q)
    m, G = n_rows(Q), len(model.classes_)
    demand(said.shape == (m,), f"predict has shape {said.shape}")
    demand(bool(np.isin(said, model.classes_).all()), "a label that is not in classes_")
    demand(same(said, call(model.predict, Q)), "predict differs the second time")
    if hasattr(model, "predict_proba"):
        P = call(model.predict_proba, Q)
        demand(P.shape == (m, G), f"predict_proba has shape {P.shape}")
        finite(P, "a probability")
        demand(bool(((P >= 0) & (P <= 1 + 1e-9)).all()), "a probability beyond 0 and 1")
        demand(bool((np.abs(P.sum(axis=1) - 1) < 1e-5).all()), "probabilities do not sum to 1")
    if hasattr(model, "decision_function"):
        f = call(model.decision_function, Q)
        demand(f.shape in ((m,), (m, G)), f"decision_function has shape {f.shape}")
        demand(not np.isnan(f).any(), "a decision value is NaN")
        if fair and not _may_be_infinite(model):
            finite(f, "a decision value")


def _may_be_infinite(model):
    """Log-odds of a certain answer are; so is a centroid's score where it is unknown, or its class of no extent."""
    return hasattr(model, "predict_proba") or hasattr(model, "adjusted")


def transformer(cls, *, misses=False, **fixed):
    """A case for a matrix-to-matrix transformer."""

    def case(draw, note):
        chosen = parameters(draw, cls)
        note(f"{cls.__name__}({chosen})")
        model = call(cls, **fixed, **chosen)
        S, Q, words = matrix(draw)
        note(words)
        y = labels(draw, n_rows(S))[0] if often(draw, 0.5) else None
        whole = call(model.fit_transform, S, y) if y is not None else call(model.fit_transform, S)
        note("fitted")
        demand(n_rows(whole) == n_rows(S), "fit_transform has other rows")
        rows = call(model.transform, Q)
        demand(n_rows(rows) == n_rows(Q) and rows.shape[1:] == whole.shape[1:], "transform has another shape")
        demand(same(rows, call(model.transform, Q)), "transform differs the second time")
        if bearable(S, Q) and not missing(S, Q):
            finite(whole, "fit_transform")
            finite(rows, "transform")
        if hasattr(model, "get_feature_names_out"):
            demand(len(call(model.get_feature_names_out)) == whole.shape[1], "names of features")

    return case


def regressor(cls):
    """A case for a regressor that reads proximity rows."""

    def case(draw, note):
        chosen = parameters(draw, cls)
        note(f"{cls.__name__}({chosen})")
        model = call(cls, **chosen)
        S, Q, words = matrix(draw)
        n = n_rows(S)
        y = one(draw, list(range(n)), [0.5] * n, np.linspace(-1, 1, n), labels(draw, n)[0])
        note(words)
        demand(call(model.fit, S, y) is model, "fit returns self")
        note("fitted")
        found = call(model.predict, Q)
        demand(len(found) == n_rows(Q), "one value per row")
        demand(same(found, call(model.predict, Q)), "predict differs the second time")
        if bearable(S, Q) and not missing(S, Q) and bearable(list(_numbers(chosen)), limit=1e10):
            finite(found, "a prediction")

    return case


def clusterer(cls):
    """A case for a clusterer that reads proximity rows."""

    def case(draw, note):
        chosen = parameters(draw, cls)
        note(f"{cls.__name__}({chosen})")
        model = call(cls, **chosen)
        S, Q, words = matrix(draw)
        note(words)
        demand(call(model.fit, S) is model, "fit returns self")
        note("fitted")
        k = len(model.medoid_indices_)
        found = call(model.predict, Q)
        demand(len(found) == n_rows(Q), "one cluster per row")
        demand(all(0 <= label < k for label in [*found, *model.labels_]), "a cluster that does not exist")
        demand(len(set(model.labels_.tolist())) == k, "a cluster without members")
        if bearable(S):
            finite(model.silhouette_samples_, "a silhouette")

    return case


def detector(cls):
    """A case for a detector of outliers that reads proximity rows."""

    def case(draw, note):
        chosen = parameters(draw, cls)
        note(f"{cls.__name__}({chosen})")
        model = call(cls, **chosen)
        S, Q, words = matrix(draw)
        note(words)
        demand(call(model.fit, S) is model, "fit returns self")
        note("fitted")
        p = call(model.p_values, Q)
        demand(len(p) == n_rows(Q), "one p-value per row")
        demand(all(0 < value <= 1 for value in p), "a p-value outside 0 to 1")

    return case


def missing(*arrays):
    """Whether an entry is missing, or no number."""
    found = False
    for A in arrays:
        try:
            found |= bool(np.isnan(np.asarray(A, dtype=float)).any()) or np.ma.isMaskedArray(A)
        except (TypeError, ValueError, OverflowError):
            found = True
    return found


# Objects


def _table(rng, n):
    return rng.normal(size=(n, 3))


def _points(rng, n):
    return [rng.normal(size=(rng.integers(1, 5), 2)) for _ in range(n)]


def _graph(rng):
    k = int(rng.integers(1, 5))
    edges = [(int(a), int(b)) for a, b in rng.integers(0, k, size=(k, 2))]
    return {"edges": edges, "node_labels": rng.integers(0, 2, size=k).tolist()}


OBJECTS = {
    "numbers": _table,
    "votes": lambda rng, n: np.array([["y", "n", "?"][c] for c in rng.integers(0, 3, size=3 * n)]).reshape(n, 3),
    "categories": lambda rng, n: rng.integers(0, 3, size=(n, 3)),
    "mixed": lambda rng, n: np.column_stack([_table(rng, n).astype(object), rng.choice(["a", "b"], size=n)]),
    "sets": lambda rng, n: [set(rng.integers(0, 6, size=rng.integers(0, 5)).tolist()) for _ in range(n)],
    "0 and 1": lambda rng, n: rng.integers(0, 2, size=(n, 6)),
    "bits": lambda rng, n: rng.integers(0, 256, size=(n, 4), dtype=np.uint8),
    "words": lambda rng, n: ["".join(rng.choice(list("ACGT"), size=rng.integers(1, 9))) for _ in range(n)],
    "sentences": lambda rng, n: [" ".join(rng.choice(["a", "the cat", "sat", "on"], size=4)) for _ in range(n)],
    "sequences": lambda rng, n: [rng.integers(0, 4, size=rng.integers(1, 6)).tolist() for _ in range(n)],
    "series": lambda rng, n: [rng.normal(size=rng.integers(1, 6)) for _ in range(n)],
    "point sets": _points,
    "graphs": lambda rng, n: [_graph(rng) for _ in range(n)],
    "indices": lambda rng, n: rng.integers(0, 6, size=n),
}
STRANGE = {
    "odd words": lambda rng, n: [str(rng.choice(_WORDS[:-1])) for _ in range(n)],
    "empty": lambda rng, n: [[] for _ in range(n)],
    "empty sets": lambda rng, n: [set() for _ in range(n)],
    "None": lambda rng, n: [None] * n,
    "bytes": lambda rng, n: [b"ab", b""] * n,
    "huge numbers": lambda rng, n: 1e200 * _table(rng, n),
    "tiny numbers": lambda rng, n: 1e-310 * _table(rng, n),
    "NaN": lambda rng, n: np.full((n, 2), np.nan),
    "infinite": lambda rng, n: np.where(_table(rng, n) > 0, np.inf, 1.0),
    "equal": lambda rng, n: np.ones((n, 3)),
    "float32": lambda rng, n: _table(rng, n).astype(np.float32),
    "complex": lambda rng, n: _table(rng, n) + 1j,
    "frame": lambda rng, n: pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["x", "y"], size=n)}),
    "of all sorts": lambda rng, n: [1, "a", None, {1}, [2], 1.5, (3,), b"x", {"a": 1}, np.eye(2)][: max(n, 1)],
    "nested": lambda rng, n: [[[["a"]]], [[1]]] * n,
    "far indices": lambda rng, n: np.array([-1, 99] * n),
    "bad graphs": lambda rng, n: [{"edges": [(0, 99), (-1, 0)]}, {"edges": "x"}, {}, {"edges": [(0,)]}][: max(n, 1)],
    "NaN series": lambda rng, n: [np.array([np.nan, 1.0]), np.array([])] * n,
    "nothing": lambda rng, n: [],
    "a number": lambda rng, n: 3,
    "a word": lambda rng, n: "word",
    "an iterator": lambda rng, n: iter([1, 2, 3]),
    "zero columns": lambda rng, n: np.zeros((n, 0)),
    "three axes": lambda rng, n: np.zeros((n, 2, 2)),
    "dates": lambda rng, n: np.zeros((n, 2), "M8[D]"),
    "unsortable": lambda rng, n: np.array([[1, "a"], [None, (1,)]] * n, dtype=object),
}


def objects(draw, kind=None):
    """Objects, new ones, and what they are; mostly of one kind."""
    rng = np.random.default_rng(draw(SEEDS))
    n = one(draw, 6, 8, 3, 2, 1)
    if kind is not None and often(draw, 0.7):
        name, make = kind, OBJECTS[kind]
    else:
        pool = OBJECTS if often(draw, 0.3) else STRANGE
        name = one(draw, *pool)
        make = pool[name]
    return make(rng, n), make(rng, 3), f"{n} objects: {name}"


def measure(make, kind, **fixed):
    """A case for a measure on objects of a kind."""

    def case(draw, note):
        chosen = parameters(draw, make)
        note(f"{make.__name__}({chosen})")
        m = call(lambda: make(**fixed, **chosen))
        X, Z, words = objects(draw, kind)
        y, what = labels(draw, n_rows(X), plain=0.9)
        note(words + ", " + what)
        if often(draw, 0.5):
            call(m.fit, X, y)
            S = call(m.matrix, X, Z)
            demand(S.shape == (n_rows(X), n_rows(Z)), f"matrix has shape {S.shape}")
            note("measured")
            a = call(m, next(iter(_first(X))), next(iter(_first(Z))))
            if bearable(S):
                demand(
                    bool(np.isclose(a, S[0, 0], rtol=1e-6, atol=1e-9, equal_nan=True)),
                    "the pair differs from the matrix",
                )
        else:
            step = similis.Pairwise(m, symmetrize=one(draw, False, True))
            S = call(step.fit_transform, X, y)
            note("fitted")
            Q = call(step.transform, Z)
            demand(Q.shape == (n_rows(Z), n_rows(X)), f"transform has shape {Q.shape}")
        demand(S.dtype.kind == "f", f"a matrix of {S.dtype}")
        demand(not np.isinf(S).any() or not _ordinary(X) or chosen.get("p", 1) < 0.05, "an infinite proximity")

    return case


def _first(X):
    return X.to_numpy() if hasattr(X, "to_numpy") else X


def _ordinary(X):
    return bearable(X, limit=1e30)
