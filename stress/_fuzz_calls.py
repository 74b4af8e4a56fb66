"""Cases of the functions below the study: matrices to matrices, data sets, files, streams, searches."""

import functools
import tempfile
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from _fuzz_estimators import judge_classifier, missing, n_rows, objects
from _fuzz_inputs import SEEDS, labels, matrix, often, one, parameters
from _fuzz_law import bearable, call, demand, finite, same

import similis
from similis import cluster, distributed, proximity

matplotlib.use("Agg")

ODD = (
    None,
    "",
    "x",
    -1,
    0,
    1,
    2,
    1.5,
    float("nan"),
    float("inf"),
    [],
    {},
    (),
    b"x",
    "no such",
    True,
    10**6,
    "../x",
    "\0",
)


def odd(draw, *proper, share=0.3):
    """A proper argument, or an odd one."""
    return one(draw, *ODD) if often(draw, share) else one(draw, *proper)


# proximity


def on_matrix(f, judge=None, **choices):
    """A case for a function of a matrix with a few options."""

    def case(draw, note):
        S, _, words = matrix(draw)
        options = {k: odd(draw, *v, share=0.1) for k, v in choices.items() if often(draw, 0.4)}
        note(f"{words} {options}")
        found = call(f, S, **options)
        if judge is not None and bearable(S):
            judge(found, S)

    return case


def complete(draw, note):
    S, aux, words = matrix(draw, plain=0.8)
    rng = np.random.default_rng(draw(SEEDS))
    if isinstance(S, np.ndarray) and S.dtype == float and S.ndim == 2 and S.shape[0] == S.shape[1] and often(draw, 0.8):
        S = S.copy()
        if often(draw):
            hidden = rng.random(len(S)) < 0.3
            S[hidden], S[:, hidden] = np.nan, np.nan
        else:
            S[rng.random(S.shape) < 0.3] = np.nan
        aux = one(draw, None, np.eye(len(S)), np.nan_to_num(S), aux)
    options = {k: v for k, v in parameters(draw, similis.CompleteKernel).items() if k not in ("kind", "keep_known")}
    options["max_iter"] = 50
    note(f"{words} {options}")
    found = call(similis.complete_kernel, S, aux, **options)
    if bearable(S):
        finite(found, "a completed entry")


def make_stack(draw, note):
    S, Q, words = matrix(draw)
    names = odd(draw, ["a", "b"], ["a"], None)
    note(f"{words} {names}")
    call(similis.make_stack, one(draw, [S, S], [S, Q], [S], [], S), names=names)


def display(f, labeled=True):
    """A case for a picture of a matrix."""

    def case(draw, note):
        from matplotlib import pyplot

        S, _, words = matrix(draw)
        y, what = labels(draw, n_rows(S))
        note(f"{words}, {what}")
        shown = call(f, S, y, plot=False) if labeled else call(f, S, plot=False)
        note("made")
        call(shown.svg)
        if often(draw, 0.1):
            call(shown.plot)
            pyplot.close("all")

    return case


def diagnose(draw, note):
    S, _, words = matrix(draw)
    y, what = labels(draw, n_rows(S))
    options = {"kind": odd(draw, "similarity", "dissimilarity", share=0.05)}
    if often(draw, 0.3):
        options["ids"] = odd(draw, [f"o{i}" for i in range(n_rows(S))], ["<b>"] * n_rows(S), range(n_rows(S)))
    note(f"{words}, {what} {options}")
    found = call(similis.diagnose, S, one(draw, y, None), **options)
    call(str, found)
    call(found.to_dict)
    call(found.rows)


def find_suspects(draw, note):
    S, _, words = matrix(draw)
    kind = odd(draw, "similarity", "dissimilarity", share=0.05)
    note(f"{words} {kind}")
    found = call(proximity.suspects, S, kind)
    call(found.summary)
    call(found.mask, n_rows(S))


def find_tightness(draw, note):
    """The smallest tightness of labeled objects."""
    S, _, words = matrix(draw)
    y, what = labels(draw, n_rows(S))
    options = {"method": odd(draw, "power", "exponential", share=0.1)}
    note(f"{words}, {what} {options}")
    demand(call(similis.tightness, S, y, **options) > 0, "a tightness that is not positive")


def group_test(f):
    """A case for a test of group differences."""

    def case(draw, note):
        S, _, words = matrix(draw)
        y, what = labels(draw, n_rows(S))
        options = {"permutations": odd(draw, 9, 0, 30, share=0.05), "random_state": 0}
        if options["permutations"] == 10**6:
            return
        if often(draw, 0.3):
            options["strata"] = labels(draw, n_rows(S))[0]
        if f is proximity.permanova and often(draw, 0.3):
            options["covariates"] = odd(draw, list(range(n_rows(S))), ["a", "b"] * n_rows(S), share=0.2)
        note(f"{words}, {what} {options}")
        found = call(f, S, y, **options)
        demand(not found.p_value <= 0 and not found.p_value > 1, "a p-value outside (0, 1]")
        call(str, found)
        call(found.to_dict)

    return case


def mantel(draw, note):
    A, _, words = matrix(draw)
    B, _, others = matrix(draw)
    options = {"method": odd(draw, "pearson", "spearman", share=0.05), "permutations": 9, "random_state": 0}
    note(f"{words}; {others} {options}")
    found = call(proximity.mantel, A, B, **options)
    demand(abs(found.statistic) <= 1 + 1e-9, "a correlation above one")


def silhouettes(draw, note):
    S, _, words = matrix(draw)
    y, what = labels(draw, n_rows(S))
    kind = odd(draw, "similarity", "dissimilarity", share=0.05)
    note(f"{words}, {what} {kind}")
    call(cluster.silhouette_samples, S, y, kind)


# datasets


def similarity(draw, note):
    options = {
        name: odd(draw, *proper, share=0.1)
        for name, proper in {
            "separation": (2.0, 0.0),
            "n_features": (1, 5),
            "indefinite": (0.0, 0.5, 1.0),
            "asymmetric": (0.0, 0.5),
            "sparse": (0.0, 0.5, 1.0),
            "duplicates": (0, 2),
            "missing": (0.0, 0.5),
            "kind": ("similarity", "dissimilarity"),
        }.items()
        if often(draw, 0.4)
    }
    if 10**6 in options.values():
        return
    n, G = one(draw, 10, 6, 1, 0, -1, "x", 2.5), odd(draw, 2, 3, 1, share=0.1)
    note(f"{n} {G} {options}")
    call(similis.make_similarity, n, G, random_state=0, **options)


def centroids(draw, note):
    d, p = (
        odd(draw, 3, 8, 1, share=0.1),
        one(draw, ((0.3,), (0.1,)), (0.3, 0.1), ((2.0,),), (), "x", ((0.1, 0.2), (0.3,))),
    )
    train, test = one(draw, 10, 2, 1, 0, -1, 1.5, "a"), one(draw, 5, 0, None)
    if d == 10**6:
        return
    note(f"{d} {p} {train} {test}")
    call(similis.make_perturbed_centroids, d, p, n_train=train, n_test=test, random_state=0)


def plainly(f, *arguments, **options):
    """A case for a function of a few plain arguments: tuples of proper values, odd ones beside them."""

    def case(draw, note):
        given = [odd(draw, *proper) for proper in arguments]
        named = {k: odd(draw, *proper) for k, proper in options.items() if often(draw)}
        note(f"{given} {named}")
        call(or_no_file(f), *given, **named)

    return case


def or_no_file(f):
    """For functions of paths, a file that is not there is an answer too."""

    @functools.wraps(f)
    def g(*arguments, **options):
        try:
            return f(*arguments, **options)
        except OSError as error:
            raise ValueError("There is no such file.") from error

    return g


# io


def a_proximity(draw, note):
    S, _, words = matrix(draw)
    n = n_rows(S)
    ids = odd(draw, [f"o{i}" for i in range(n)], None, list(range(n)), ["a"] * n, ["\x1b[31m", "<b>"] * n)
    y, what = labels(draw, n)
    kind = odd(draw, "similarity", "dissimilarity", None, share=0.05)
    note(f"{words}, {what} ids={str(ids)[:40]} {kind}")
    P = call(similis.Proximity, S, ids, kind, one(draw, y, None))
    call(repr, P)
    return P


def write_and_read(draw, note):
    P = a_proximity(draw, note)
    ending = one(draw, "npz", "npy", "csv", "tsv", "csv.gz", "parquet", "zarr")
    note(ending)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m.{ending}"
        call(similis.write_proximity, path, P)
        back = call(similis.read_proximity, path, square=P.square)
        values = back.to_dense().astype(P.values.dtype)  # a text of single precision is read in double
        demand(bool(np.array_equal(values, P.to_dense(), equal_nan=True)), f"{ending} brings back other numbers")
        demand(P.ids is None or back.ids == P.ids, f"{ending} brings back other ids")
        if P.labels is not None and P.labels.dtype.kind != "U":
            demand(bool((back.labels == P.labels).all()), f"{ending} brings back other labels")


def save_and_load(draw, note):
    cls = one(draw, similis.NearestCentroid, similis.SDA, similis.SimilarityKNN, similis.SpectrumClip, similis.RBF)
    chosen = parameters(draw, cls)
    S, Q, words = matrix(draw, plain=0.9)
    y, what = labels(draw, n_rows(S))
    note(f"{cls.__name__}({chosen}) {words}, {what}")
    model = call(cls, **chosen)
    if hasattr(model, "predict"):
        call(model.fit, S, y)
    with tempfile.TemporaryDirectory() as folder:
        call(similis.save, model, Path(folder) / "m.skops")
        back = call(similis.load, Path(folder) / "m.skops")
        if hasattr(model, "predict"):
            demand(same(call(back.predict, Q), call(model.predict, Q)), "the loaded model predicts otherwise")


# mixture, model_selection, distributed, discriminant


def search(draw, note):
    S, Q, words = matrix(draw, plain=0.8)
    y, what = labels(draw, n_rows(S), plain=0.8)
    grid = odd(
        draw,
        {"n_neighbors": [1, 3]},
        [{"n_neighbors": [1]}],
        {"weights": ["kri"], "regularization": [0.1, 1.0]},
        {"no": [1]},
        {"n_neighbors": []},
        {"n_neighbors": [-1]},
        share=0.15,
    )
    cv, scoring = odd(draw, 2, 3, share=0.1), odd(draw, None, "accuracy", "neg_log_loss", "no such", share=0.1)
    note(f"{words}, {what} {grid} cv={cv} {scoring}")
    model = call(similis.PathSearchCV, similis.SimilarityKNN(), grid, cv=cv, scoring=scoring)
    call(model.fit, S, y)
    judge_classifier(model, Q)


def conformal(cls, estimator):
    """Case of a conformal model: p-values or intervals of rows."""

    def case(draw, note):
        S, Q, words = matrix(draw, plain=0.8)
        numbers = hasattr(cls, "predict_interval")
        y, what = (np.arange(n_rows(S), dtype=float), "numbers") if numbers else labels(draw, n_rows(S), plain=0.8)
        method = odd(draw, "cross", "split", "jackknife" if numbers else "full", share=0.1)
        level = odd(draw, 0.9, 0.5, [0.5, 0.9], 0.0, 1.5, share=0.1)
        note(f"{words}, {what} {method} level={level}")
        model = call(cls, estimator, method=method, confidence_level=level, cv=odd(draw, 2, 3, share=0.1))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*calibration objects")
            call(model.fit, S, y)
        found = call(model.predict_interval if numbers else model.p_values, Q)
        values = found[0] if numbers else found
        demand(np.isfinite(values).all() and len(values) == n_rows(Q), "no finite value per row")

    return case


def labeled(use, share=0.8):
    """Case of a function of a matrix, new rows and labels."""

    def case(draw, note):
        S, Q, words = matrix(draw, plain=share)
        y, what = labels(draw, n_rows(S), plain=share)
        note(f"{words}, {what}")
        use(S, Q, y)

    return case


def _explain(S, Q, y):
    model = call(similis.SimilarityKNN().fit, S, y)
    found = call(similis.explain, model, Q)
    demand(same(found.contributions.sum(axis=1) + found.baseline, found.decision), "does not sum to the decision")


def _suspicious(S, Q, y):
    found = call(similis.suspicious_labels, S, y)
    demand(all(0 < one.p_value <= 1 and 0 < one.p_suggested <= 1 for one in found), "no p-value")


explained, suspicious = labeled(_explain), labeled(_suspicious)
influenced = labeled(lambda S, Q, y: call(similis.influence, call(similis.SimilarityKNN().fit, S, y), S, y))


def _calibrate(S, Q, y):
    model = call(similis.calibrate, similis.NearestCentroid(), S, y, cv=2)
    if not missing(Q):  # scikit-learn multiplies the infinite score of a row without known entries by zero
        call(model.predict_proba, Q)


calibrated = labeled(_calibrate)


def stream(draw, note):
    X, _Z, words = objects(draw, "numbers")
    y = labels(draw, n_rows(X), plain=0.8)[0]
    note(words)
    model = similis.IncrementalHLM(**parameters(draw, similis.IncrementalHLM, nonsense=0.02))
    batches = one(draw, [(X, y)], [(X, y), (X, y)], [], None, [(X,)], [X], 3)
    call(lambda: similis.stream_fit(model, similis.Minkowski(), batches))


def mixed(draw, note):
    chosen = parameters(draw, similis.MixedSDA)
    X, Z, words = objects(draw, "mixed")
    y, what = labels(draw, n_rows(X), plain=0.8)
    note(f"{chosen} {words}, {what}")
    model = call(similis.MixedSDA, similis.Counting(), **chosen)
    call(model.fit, X, y)
    judge_classifier(model, Z)


def neighbor_index(draw, note):
    chosen = parameters(draw, distributed.NeighborIndex)
    X, Z, words = objects(draw, "numbers")
    note(f"{chosen} {words}")
    index = call(distributed.NeighborIndex, similis.Minkowski(), n_neighbors=one(draw, 1, 3, 15), random_state=0)
    call(index.fit, X)
    indices = call(index.kneighbors, Z, odd(draw, None, 1, 3))[1]
    demand(n_rows(indices) == n_rows(Z), "other rows")


def on_neighbors(draw, note):
    X, Z, words = objects(draw, "numbers")
    y, what = labels(draw, n_rows(X), plain=0.8)
    note(f"{words}, {what}")
    index = distributed.NeighborIndex(similis.Minkowski(), n_neighbors=3, random_state=0)
    model = call(distributed.OnNeighbors, similis.SimilarityKNN(kind="dissimilarity", n_neighbors=3), index)
    call(model.fit, X, y)
    call(model.predict, Z)


def on_landmarks(draw, note):
    S, _, words = matrix(draw)
    y, what = labels(draw, n_rows(S), plain=0.8)
    note(f"{words}, {what}")
    model = call(distributed.OnLandmarks, similis.SimilarityKNN(n_neighbors=3), n_landmarks=9, random_state=0)
    call(model.fit, S, y)
    call(model.predict, S)


def to_disk(draw, note):
    X, _, words = objects(draw, "numbers")
    options = {
        k: odd(draw, *v, share=0.1)
        for k, v in {"symmetrize": (False, True), "block_size": (1, 2, 100), "dtype": ("float32", None)}.items()
        if often(draw)
    }
    note(f"{words} {options}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m.{one(draw, 'npy', 'zarr', 'csv')}"
        call(or_no_file(distributed.measure_to_disk), path, X, measure=similis.Minkowski(), **options)


def predict_blocks(draw, note):
    S, Q, words = matrix(draw, plain=0.8)
    y = labels(draw, n_rows(S), plain=0.95)[0]
    options = {"block_size": odd(draw, None, 1, 2, 50), "method": odd(draw, "predict", "predict_proba", share=0.1)}
    note(f"{words} {options}")
    model = similis.SDA()
    call(model.fit, S, y)
    call(distributed.predict_blocks, model, Q, **options)


def sda_display(draw, note):
    from matplotlib import pyplot

    from similis.discriminant import SDADisplay

    S, _, words = matrix(draw, plain=0.9)
    y, what = labels(draw, n_rows(S), plain=0.9)
    chosen = parameters(draw, similis.SDA)
    note(f"{chosen} {words}, {what}")
    model = call(similis.SDA, **chosen)
    call(model.fit, S, y)
    call(SDADisplay.from_estimator, model, plot=often(draw, 0.1))
    pyplot.close("all")


def compact_model(draw, note):
    thing = one(draw, None, 3, "x", similis.RBF(), similis.NearestCentroid(), similis.SpectrumClip(), np.eye(2))
    note(repr(thing)[:40])
    call(similis.compact, thing)


def from_matrix(draw, note):
    S, _, words = matrix(draw)
    n = n_rows(S)
    ids = odd(draw, None, [f"o{i}" for i in range(n)], ["a"] * n)
    note(f"{words} ids={str(ids)[:30]}")
    m = call(similis.FromMatrix, S, ids=ids, kind=odd(draw, "similarity", "dissimilarity", share=0.05))
    wanted = one(draw, np.arange(max(n, 1)), ids, [0, 0], [-1], [n], ["o0"], [0.5], [None], [True], [[0]], [])
    step = similis.Pairwise(m, symmetrize=one(draw, False, True))
    call(step.fit_transform, wanted)


def landmarks(draw, note):
    chosen = parameters(draw, similis.PairwiseLandmarks)
    X, Z, words = objects(draw, "numbers")
    note(f"{chosen} {words}")
    step = call(similis.PairwiseLandmarks, similis.RBF(), **chosen)
    F = call(step.fit_transform, X)
    rows = call(step.transform, Z)
    demand(rows.shape[1] == F.shape[1], "another width")
    if bearable(X, Z):
        finite(rows, "a feature")


def pairwise(draw, note):
    X, Z, words = objects(draw)
    thing = one(draw, similis.Counting(), similis.Jaccard(), similis.Edit(), None, 3, "rbf", similis.RBF, np.dot)
    note(f"{thing} {words}")
    step = call(similis.Pairwise, thing, symmetrize=odd(draw, False, True, share=0.1))
    call(step.fit_transform, X)
    call(step.transform, Z)
