"""Which case tries which public name. `CASES` and `LEFT_OUT` together hold every name of every room's __all__."""

import functools
import tempfile
from importlib import import_module
from pathlib import Path

import _fuzz_solvers
import matplotlib
import numpy as np
from _fuzz_estimators import classifier, judge_classifier, measure, n_rows, objects, transformer
from _fuzz_inputs import SEEDS, labels, matrix, often, one, parameters
from _fuzz_law import bearable, call, demand, finite, same

import similis
from similis import datasets, distributed, io, proximity, reproduce, study

matplotlib.use("Agg")
FOLDER = Path(tempfile.gettempdir())
ROOMS = (*(room for room in similis._MODULES), "_utils.compact")


def public_names():
    """Every public name, as room.name."""
    return [f"{room}.{name}" for room in ROOMS for name in import_module(f"similis.{room}").__all__]


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


def _complete(draw, note):
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


def _make_stack(draw, note):
    S, Q, words = matrix(draw)
    names = odd(draw, ["a", "b"], ["a"], None)
    note(f"{words} {names}")
    call(similis.make_stack, one(draw, [S, S], [S, Q], [S], [], S), names=names)


def display(f, labelled=True):
    """A case for a picture of a matrix."""

    def case(draw, note):
        from matplotlib import pyplot

        S, _, words = matrix(draw)
        y, what = labels(draw, n_rows(S))
        note(f"{words}, {what}")
        shown = call(f, S, y, plot=False) if labelled else call(f, S, plot=False)
        note("made")
        call(shown.svg)
        if often(draw, 0.1):
            call(shown.plot)
            pyplot.close("all")

    return case


def _diagnose(draw, note):
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


def _suspects(draw, note):
    S, _, words = matrix(draw)
    kind = odd(draw, "similarity", "dissimilarity", share=0.05)
    note(f"{words} {kind}")
    found = call(proximity.suspects, S, kind)
    call(found.summary)
    call(found.mask, n_rows(S))


# datasets


def _similarity(draw, note):
    options = {
        name: odd(draw, *proper, share=0.1)
        for name, proper in {
            "separation": (2.0, 0.0), "n_features": (1, 5), "indefinite": (0.0, 0.5, 1.0), "asymmetric": (0.0, 0.5),
            "sparse": (0.0, 0.5, 1.0), "duplicates": (0, 2), "missing": (0.0, 0.5), "kind": ("similarity", "dissimilarity"),
        }.items()
        if often(draw, 0.4)
    }  # fmt: skip
    if 10**6 in options.values():
        return
    n, G = one(draw, 10, 6, 1, 0, -1, "x", 2.5), odd(draw, 2, 3, 1, share=0.1)
    note(f"{n} {G} {options}")
    call(similis.make_similarity, n, G, random_state=0, **options)


def _centroids(draw, note):
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
        call(_files(f), *given, **named)

    return case


def _files(f):
    """For functions of paths, a file that is not there is an answer too."""

    @functools.wraps(f)
    def g(*arguments, **options):
        try:
            return f(*arguments, **options)
        except OSError as error:
            raise ValueError("There is no such file.") from error

    return g


# io


def _proximity(draw, note):
    S, _, words = matrix(draw)
    n = n_rows(S)
    ids = odd(draw, [f"o{i}" for i in range(n)], None, list(range(n)), ["a"] * n, ["\x1b[31m", "<b>"] * n)
    y, what = labels(draw, n)
    kind = odd(draw, "similarity", "dissimilarity", None, share=0.05)
    note(f"{words}, {what} ids={str(ids)[:40]} {kind}")
    P = call(similis.Proximity, S, ids, kind, one(draw, y, None))
    call(repr, P)
    return P


def _write_and_read(draw, note):
    P = _proximity(draw, note)
    ending = one(draw, "npz", "npy", "csv", "tsv", "csv.gz", "parquet", "zarr")
    note(ending)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m.{ending}"
        call(similis.write_proximity, path, P)
        back = call(similis.read_proximity, path, square=P.square)
        demand(bool(np.array_equal(back.values, P.values, equal_nan=True)), f"{ending} brings back other numbers")
        demand(P.ids is None or back.ids == P.ids, f"{ending} brings back other ids")
        if P.labels is not None and P.labels.dtype.kind != "U":
            demand(bool((back.labels == P.labels).all()), f"{ending} brings back other labels")


def _save_and_load(draw, note):
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


def _search(draw, note):
    S, Q, words = matrix(draw, plain=0.8)
    y, what = labels(draw, n_rows(S), plain=0.8)
    grid = odd(draw, {"n_neighbors": [1, 3]}, [{"n_neighbors": [1]}], {"weights": ["kri"], "regularization": [0.1, 1.0]}, {"no": [1]}, {"n_neighbors": []}, {"n_neighbors": [-1]}, share=0.15)  # fmt: skip
    cv, scoring = odd(draw, 2, 3, share=0.1), odd(draw, None, "accuracy", "neg_log_loss", "no such", share=0.1)
    note(f"{words}, {what} {grid} cv={cv} {scoring}")
    model = call(similis.PathSearchCV, similis.SimilarityKNN(), grid, cv=cv, scoring=scoring)
    call(model.fit, S, y)
    judge_classifier(model, Q)


def _stream(draw, note):
    X, Z, words = objects(draw, "numbers")
    y = labels(draw, n_rows(X), plain=0.8)[0]
    note(words)
    model = similis.IncrementalHLM(**parameters(draw, similis.IncrementalHLM, nonsense=0.02))
    batches = one(draw, [(X, y)], [(X, y), (X, y)], [], None, [(X,)], [X], 3)
    call(lambda: similis.stream_fit(model, similis.Minkowski(), batches))


def _mixed(draw, note):
    chosen = parameters(draw, similis.MixedSDA)
    X, Z, words = objects(draw, "mixed")
    y, what = labels(draw, n_rows(X), plain=0.8)
    note(f"{chosen} {words}, {what}")
    model = call(similis.MixedSDA, similis.Counting(), **chosen)
    call(model.fit, X, y)
    judge_classifier(model, Z)


def _index(draw, note):
    chosen = parameters(draw, distributed.NeighborIndex)
    X, Z, words = objects(draw, "numbers")
    note(f"{chosen} {words}")
    index = call(distributed.NeighborIndex, similis.Minkowski(), n_neighbors=one(draw, 1, 3, 15), random_state=0)
    call(index.fit, X)
    indices = call(index.kneighbors, Z, odd(draw, None, 1, 3))[1]
    demand(n_rows(indices) == n_rows(Z), "other rows")


def _on_neighbors(draw, note):
    X, Z, words = objects(draw, "numbers")
    y, what = labels(draw, n_rows(X), plain=0.8)
    note(f"{words}, {what}")
    index = distributed.NeighborIndex(similis.Minkowski(), n_neighbors=3, random_state=0)
    model = call(distributed.OnNeighbors, similis.SimilarityKNN(kind="dissimilarity", n_neighbors=3), index)
    call(model.fit, X, y)
    call(model.predict, Z)


def _to_disk(draw, note):
    X, _, words = objects(draw, "numbers")
    options = {
        k: odd(draw, *v, share=0.1)
        for k, v in {"symmetrize": (False, True), "block_size": (1, 2, 100), "dtype": ("float32", None)}.items()
        if often(draw)
    }
    note(f"{words} {options}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m.{one(draw, 'npy', 'zarr', 'csv')}"
        call(_files(distributed.measure_to_disk), path, X, measure=similis.Minkowski(), **options)


def _predict_blocks(draw, note):
    S, Q, words = matrix(draw, plain=0.8)
    y = labels(draw, n_rows(S), plain=0.95)[0]
    options = {"block_size": odd(draw, None, 1, 2, 50), "method": odd(draw, "predict", "predict_proba", share=0.1)}
    note(f"{words} {options}")
    model = similis.SDA()
    call(model.fit, S, y)
    call(distributed.predict_blocks, model, Q, **options)


def _sda_display(draw, note):
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


# study


def _a_study(draw, note):
    options = {
        k: odd(draw, *v, share=0.15)
        for k, v in {
            "protocol": ("random", "kfold"), "n_splits": (2, 1), "test_size": (0.2, 0.5, 0.99), "cv": (2, "loo"),
            "random_state": (0,), "to_similarity": ("linear", "rbf"), "to_dissimilarity": ("max-minus",),
        }.items()
        if often(draw, 0.25)
    }  # fmt: skip
    methods = odd(draw, "nc", ["nc", "maxsim"], ["knn"], share=0.1)
    note(f"{methods} {options}")
    return call(study.Study, methods, **{"n_splits": 2, "cv": 2, **options})


def _run(draw, note):
    plan = _a_study(draw, note)
    S, _, words = matrix(draw, plain=0.85)
    y, what = labels(draw, n_rows(S), plain=0.85)
    extra = {}
    if often(draw, 0.2):
        extra["ids"] = odd(draw, [f"o{i}" for i in range(n_rows(S))], ["<script>"] * n_rows(S))
    if often(draw, 0.1):
        extra["groups"] = odd(draw, np.arange(n_rows(S)) % 3, ["a"] * n_rows(S))
    if often(draw, 0.1):
        extra["costs"] = odd(draw, [[0, 1], [5, 0]], [[1]])
    kind = odd(draw, "similarity", "dissimilarity", None, share=0.05)
    note(f"{words}, {what} {kind} {extra}")
    return call(plan.run, S, y, kind=kind, **extra)


@functools.cache
def _stock():
    """Results to read from, made once: a common study, a small one, one with failures, one of nothing."""
    S, y = similis.make_similarity(24, 3, random_state=0)
    made = [
        study.Study(["nc", "knn", "maxsim"], n_splits=3, cv=2).run(S, y),
        study.Study("nc", n_splits=1, cv=2).run(S[:6, :6], y[:6]),
        study.Study(["nc", "sda"], n_splits=2, cv=2).run(np.zeros((12, 12)), np.arange(12) % 2),
    ]
    return made


def _result(draw):
    made = _stock()
    return one(draw, *range(len(made))), made


def _study_result(draw, note):
    i, made = _result(draw)
    found = made[i]
    metric, level, method = odd(draw, *study.METRICS), odd(draw, 0.05, 0.5), odd(draw, "nc", "knn")
    note(f"result {i} {metric} {level} {method}")
    for f, arguments in one(
        draw,
        [(found.table, ()), (found.frame, ()), (found.best, ()), (found.recommend, ())],
        [(found.scores, (metric,)), (found.mean_scores, (metric,))],
        [(found.significance, (level,))],
        [(found.error_interval, (method, level))],
        [(found.model, (method,))],
    ):
        call(f, *arguments)
    with tempfile.TemporaryDirectory() as folder:
        call(found.save, Path(folder) / "r.json")
        back = call(study.StudyResult.load, Path(folder) / "r.json")
        demand(back.table() == found.table() or str(back.table()) == str(found.table()), "another table")


def _fresh_result(draw, note):
    found = _run(draw, note)
    note("run")
    call(found.table)
    if any(entry.ok for entry in found.entries.values()):
        with tempfile.TemporaryDirectory() as folder:
            call(found.to_html, Path(folder) / "r.html")


def result_display(f):
    """A case for a picture of a result."""

    def case(draw, note):
        i, made = _result(draw)
        note(f"result {i}")
        shown = call(f, made[i], plot=False)
        call(shown.svg)

    return case


def _train(draw, note):
    plan = _a_study(draw, note)
    S, Q, words = matrix(draw, plain=0.9)
    y, what = labels(draw, n_rows(S), plain=0.9)
    method = odd(draw, None, "nc", share=0.1)
    note(f"{words}, {what} {method}")
    trained = call(study.train_model, S, y, study=plan, method=method, kind=one(draw, "similarity", "dissimilarity"))
    note("trained")
    with tempfile.TemporaryDirectory() as folder:
        path = call(study.write_model, trained, Path(folder) / "m.skops")
        back = call(study.read_model, path)
        block = call(similis.Proximity, Q)
        found = call(study.predict_rows, back, block)
        demand(bool(np.isin(found.labels, found.classes).all()), "a label that is not in classes")


def _make_model(draw, note):
    names = [m.name for m in study.list_methods()]
    method = odd(draw, *names, share=0.1)
    options = {
        k: odd(draw, *v, share=0.15)
        for k, v in {"kind": ("similarity", "dissimilarity"), "n": (5, 30, 1), "cv": (2, "loo"), "missing": (True,),
                     "symmetric": (True, False), "random_state": (0,)}.items()
        if often(draw)
    }  # fmt: skip
    note(f"{method} {options}")
    call(study.make_model, method, **options)


def _ranks(f):
    def case(draw, note):
        made = _stock()
        rng = np.random.default_rng(draw(SEEDS))
        numbers = {f"d{j}": {m: float(rng.random()) for m in ("a", "b", "c")} for j in range(one(draw, 0, 1, 3, 30))}
        given = one(
            draw,
            {"a": made[0], "b": made[0]},
            {"a": made[0], "b": made[1]},
            {},
            {"a": made[0]},
            numbers,
            3,
            None,
            {"a": 1},
        )
        note(str(given)[:60])
        found = call(f, given)
        if hasattr(found, "svg"):
            call(found.svg)

    return case


def on_numbers(f):
    """signed_rank and holm."""

    def case(draw, note):
        A, _, words = matrix(draw)
        values = one(
            draw, A, np.asarray(A).ravel() if not isinstance(A, (dict, type(None))) else A, [], [0.0] * 4, [0.5, np.nan]
        )
        note(words)
        found = call(f, values)
        demand(np.ndim(found) == 0 or len(found) == n_rows(values), "another length")

    return case


def _compact(draw, note):
    thing = one(draw, None, 3, "x", similis.RBF(), similis.NearestCentroid(), similis.SpectrumClip(), np.eye(2))
    note(repr(thing)[:40])
    call(similis.compact, thing)


def _from_matrix(draw, note):
    S, _, words = matrix(draw)
    n = n_rows(S)
    ids = odd(draw, None, [f"o{i}" for i in range(n)], ["a"] * n)
    note(f"{words} ids={str(ids)[:30]}")
    m = call(similis.FromMatrix, S, ids=ids, kind=odd(draw, "similarity", "dissimilarity", share=0.05))
    wanted = one(draw, np.arange(max(n, 1)), ids, [0, 0], [-1], [n], ["o0"], [0.5], [None], [True], [[0]], [])
    step = similis.Pairwise(m, symmetrize=one(draw, False, True))
    call(step.fit_transform, wanted)


def _landmarks(draw, note):
    chosen = parameters(draw, similis.PairwiseLandmarks)
    X, Z, words = objects(draw, "numbers")
    note(f"{chosen} {words}")
    step = call(similis.PairwiseLandmarks, similis.RBF(), **chosen)
    F = call(step.fit_transform, X)
    rows = call(step.transform, Z)
    demand(rows.shape[1] == F.shape[1], "another width")
    if bearable(X, Z):
        finite(rows, "a feature")


def _pairwise(draw, note):
    X, Z, words = objects(draw)
    thing = one(draw, similis.Counting(), similis.Jaccard(), similis.Edit(), None, 3, "rbf", similis.RBF, np.dot)
    note(f"{thing} {words}")
    step = call(similis.Pairwise, thing, symmetrize=odd(draw, False, True, share=0.1))
    call(step.fit_transform, X)
    call(step.transform, Z)


def _reproduce(draw, note):
    tables, runs = odd(draw, [], ["no such"], "x", share=0.6), odd(draw, 1, 0, -1)
    note(f"{tables} {runs}")
    if tables in ([], None, "") or tables == ():
        return
    call(_files(reproduce.reproduce_tables), tables, runs=runs, quick=True)


def _proximity_name(name):
    return transformer(getattr(similis, name))


_RECORD = "a record that another public function returns; tried through that function"
LEFT_OUT = {
    **dict.fromkeys("solvers." + n for n in "BlockWeights Medoids Exponentials SVMPath BoxLassoFit LPMargin SpectralFit "
                    "LearntSpectrum FullKernelFit NormKernelFit Completion KernelFactor CompletionMachine MarginWeights".split()),
    **dict.fromkeys("study." + n for n in "TrainedModel ModelCard Predictions Entry Row Recommendation Progress Verdict Ranks "
                     "Reliability Comparison".split()),
    **dict.fromkeys(("reproduce.Comparison", "reproduce.Experiment", "reproduce.PublishedCell", "reproduce.Reproduction")),
    **dict.fromkeys(("proximity.Diagnosis", "proximity.Suspects", "datasets.DatasetInfo", "io.Objects")),
}  # fmt: skip
LEFT_OUT = {name: _RECORD for name in LEFT_OUT} | {
    "solvers.Infeasible": "an exception",
    "exceptions.ProximityError": "an exception",
    **dict.fromkeys(
        ("exceptions.KindWarning", "exceptions.AsymmetryWarning", "exceptions.DiagonalWarning"), "a warning"
    ),
    **dict.fromkeys(("exceptions.DataNotFoundError", "exceptions.MissingExtraError"), "an exception"),
    "solvers.RandomStarts": "random draws that k_medoids takes; tried through it",
    "study.JournalWarning": "a warning",
    "study.METRICS": "a table",
    "reproduce.EXPERIMENTS": "a table",
    "measures.Measure": "an abstract base",
    "distributed.cluster_jobs": "needs a Dask cluster",
    "distributed.connect": "needs a Dask cluster",
}

_MEASURES = {
    "numbers": "RBF Polynomial Cosine Minkowski Chebyshev",
    "votes": "Counting VDM Lin ResidualEntropy",
    "mixed": "HVDM",
    "sets": "TverskyContrast TverskyRatio Jaccard Dice Overlap",
    "words": "Edit Alignment Compression",
    "sentences": "TfidfCosine",
    "point sets": "Wasserstein IRM PyramidMatch",
    "series": "DTW",
    "graphs": "WeisfeilerLehman",
}
_CLASSIFIERS = {
    "discriminant": "SDA NearestNeighborSDA LocalSDA MixtureSDA",
    "maxsim": "MaxSim SBC SimilarityPerceptron",
    "mixture": "KernelHLM MixtureHLM IncrementalHLM",
    "neighbors": "CondensedNN LocalNearestCentroid NearestCentroid SimilarityKNN",
    "normal": "NormalLinear NormalQuadratic PseudoFisher Parzen PseudoNearestMean",
    "svm": "PotentialSVM LPMachine SVMKNN IndefiniteSVM SimSVM FullKernelSVM",
}
_TRANSFORMERS = (
    "Symmetrize ToDissimilarity ToSimilarity BoxCox UnitDiagonal SpectrumClip SpectrumFlip SpectrumShift SpectrumSquare "
    "SimilarityFeatures RowRBF DissimilaritySpace PseudoEuclidean Whiten Landmarks CompleteKernel"
)
_FLAGS = (False, True)

CASES = {
    **{f"solvers.{name}": case for name, case in _fuzz_solvers.CASES.items()},
    **{f"{room}.{name}": classifier(getattr(similis, name)) for room, names in _CLASSIFIERS.items() for name in names.split()},
    "svm.SimMKL": classifier(similis.SimMKL, stacked=0.7),
    "svm.CompletionSVM": classifier(similis.CompletionSVM, stacked=0.8),
    **{f"proximity.{name}": transformer(getattr(similis, name)) for name in _TRANSFORMERS.split()},
    **{f"measures.{name}": measure(getattr(similis, name), kind) for kind, names in _MEASURES.items() for name in names.split()},
    "measures.FromFunction": measure(similis.FromFunction, "numbers", f=lambda x, z: 1.0),
    "measures.FromMatrix": _from_matrix,
    "measures.Pairwise": _pairwise,
    "measures.PairwiseLandmarks": _landmarks,
    "discriminant.MixedSDA": _mixed,
    "discriminant.SDADisplay": _sda_display,
    "mixture.stream_fit": _stream,
    "model_selection.PathSearchCV": _search,
    "proximity.check_proximity": on_matrix(
        similis.check_proximity, lambda A, S: demand(A.dtype.kind == "f", "no floats"), kind=("similarity", "dissimilarity"),
        allow_missing=_FLAGS, allow_stack=_FLAGS, accept_sparse=_FLAGS,
    ),
    "proximity.symmetrize": on_matrix(similis.symmetrize, lambda A, S: demand(same(A, A.T), "not symmetric")),
    "proximity.diffusion_kernel": on_matrix(similis.diffusion_kernel, sigma2=(1.0, 0.1, 10.0)),
    "proximity.seriation": on_matrix(proximity.seriation),
    "proximity.complete_kernel": _complete,
    "proximity.make_stack": _make_stack,
    "proximity.diagnose": _diagnose,
    "proximity.suspects": _suspects,
    "proximity.MatrixDisplay": display(proximity.MatrixDisplay.from_proximity),
    "proximity.SpectrumDisplay": display(proximity.SpectrumDisplay.from_proximity, labelled=False),
    "proximity.EmbeddingDisplay": display(proximity.EmbeddingDisplay.from_proximity),
    "proximity.HistogramDisplay": display(proximity.HistogramDisplay.from_proximity),
    "datasets.make_similarity": _similarity,
    "datasets.make_perturbed_centroids": _centroids,
    **{f"datasets.{n}": plainly(getattr(datasets, n), return_X_y=_FLAGS, as_frame=_FLAGS) for n in ("load_votes", "load_sonar", "load_promoters")},
    "datasets.load_benchmark": plainly(datasets.load_benchmark, ("votes", "no such"), data_home=(FOLDER,)),
    "datasets.has_dataset": plainly(datasets.has_dataset, ("votes", "no such"), data_home=(FOLDER,)),
    "datasets.list_datasets": plainly(datasets.list_datasets),
    "io.Proximity": _proximity,
    "io.read_proximity": _write_and_read,
    "io.write_proximity": _write_and_read,
    "io.save": _save_and_load,
    "io.load": _save_and_load,
    "io.read_objects": plainly(io.read_objects, ("no.csv", "no.json"), id_column=("id",), columns=(["a"],)),
    "io.read_labels": plainly(io.read_labels, (Path("no.csv"),), (None, ["a"]), (1, 2)),
    "io.file_format": plainly(io.file_format, (Path("m.csv"), Path("m"), Path("m.csv.gz"), Path(".npz"))),
    "distributed.NeighborIndex": _index,
    "distributed.OnNeighbors": _on_neighbors,
    "distributed.measure_to_disk": _to_disk,
    "distributed.predict_blocks": _predict_blocks,
    "study.Study": _run,
    "study.StudyResult": _study_result,
    "study.Method": plainly(study.Method, ("m",), (similis.NearestCentroid,), grid=({"a": [1]}, {})),
    "study.AtMost": plainly(study.AtMost, ((1, 2), (5,))),
    "study.list_methods": plainly(study.list_methods),
    "study.make_model": _make_model,
    "study.train_model": _train,
    "study.write_model": _train,
    "study.read_model": _train,
    "study.predict_rows": _train,
    "study.signed_rank": on_numbers(study.signed_rank),
    "study.holm": on_numbers(study.holm),
    "study.average_ranks": _ranks(study.average_ranks),
    "study.compare": _ranks(study.compare),
    "study.RanksDisplay": _ranks(functools.partial(study.RanksDisplay.from_results, plot=False)),
    **{
        f"study.{n}": result_display(getattr(study, n).from_result)
        for n in ("SplitsDisplay", "TimeErrorDisplay", "ReliabilityDisplay", "AgreementDisplay", "ConfusionDisplay", "ObjectsDisplay")
    },
    "reproduce.default_cache": plainly(reproduce.default_cache),
    "reproduce.published_cells": plainly(reproduce.published_cells, ("chen2010",), (None,), method=("knn",)),
    "reproduce.read_results": plainly(reproduce.read_results, (FOLDER / "no such folder",)),
    "reproduce.reproduce_tables": _reproduce,
    "reproduce.write_pages": plainly(reproduce.write_pages, (FOLDER / "no such folder",), (FOLDER / "no such folder",)),
    "reproduce.write_results": plainly(reproduce.write_results, (None,), (FOLDER / "no such folder",)),
    "_utils.compact.compact": _compact,
}  # fmt: skip
