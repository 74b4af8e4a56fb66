"""Measures on real objects: each against its definition; what it says about itself is true."""

import io
import math
from contextlib import redirect_stderr

import numpy as np
import pytest
from oracles import measures as plain
from oracles import objects as oracle
from real_objects import DNA, SKEWED, graphs, point_sets, rows, strings
from sklearn.base import clone

from similis import (
    DTW,
    IRM,
    Alignment,
    Compression,
    Edit,
    Lin,
    Pairwise,
    PyramidMatch,
    ResidualEntropy,
    Resnik,
    TfidfCosine,
    Wasserstein,
    WeisfeilerLehman,
    load,
    save,
)

pytest.importorskip("rapidfuzz")
pytest.importorskip("parasail")
pytest.importorskip("ot")


CHEAP = {"a": {"g": 0.5}, "g": {"a": 0.25}, "c": {"t": 0.5}}


def features(row):
    return frozenset(enumerate(row))


def edit_cases(words):
    for options in (
        {},
        {"weights": (1, 1, 2)},
        {"weights": (1, 3, 2)},
        {"weights": (0.5, 0.5, 0.7)},
        {"substitution": CHEAP},
        {"gaps": {"a": 0.3, "t": 2.0}, "weights": (1, 2, 1.5)},
    ):
        yield Edit(**options), lambda x, z, o=options: oracle.edit(x, z, **o), words
        for form in (True, "metric"):
            yield (
                Edit(**options, normalize=form),
                lambda x, z, o=options, f=form: oracle.edit_normalized(x, z, f, **o),
                words,
            )
    tokens = [["to", "be"], ["or"], ["not", "to", "be"], [], ["that", "is"], [1, 2.5], [1, 2.5, None]]
    yield Edit(), oracle.edit, tokens
    yield Edit(gaps={"be": 0.5}), lambda x, z: oracle.edit(x, z, gaps={"be": 0.5}), tokens


def alignment_cases(words):
    for mode in ("local", "global"):
        for matrix, costs in ((DNA, (7, 2)), (SKEWED, (3, 3)), (DNA, (0, 0))):
            yield (
                Alignment(matrix=matrix, mode=mode, gap_open=costs[0], gap_extend=costs[1]),
                lambda x, z, s=matrix, c=costs, m=mode: oracle.alignment(x, z, s, *c, local=m == "local"),
                words,
            )
    yield (
        Alignment(matrix=DNA, gap_open=6, score="normalized"),
        lambda x, z: (
            float(x == z)
            if not (x and z)
            else oracle.alignment(x, z, DNA, 6, 1)
            / math.sqrt(oracle.alignment(x, x, DNA, 6, 1) * oracle.alignment(z, z, DNA, 6, 1))
        ),
        words,
    )


def feature_cases(table, bags):
    definition = oracle.lin([features(row) for row in table])
    yield Lin(), lambda x, z, s=definition: s(features(x), features(z)), table
    yield Lin(), oracle.lin(bags), bags
    definition = oracle.residual_entropy([features(row) for row in table])
    yield ResidualEntropy(), lambda x, z, s=definition: s(features(x), features(z)), table
    yield ResidualEntropy(), oracle.residual_entropy(bags), bags
    # A directed graph with two roots: a concept of several parents, and one that never occurs.
    taxonomy = {
        "a": ["g", "h"],
        "b": ["g"],
        "c": ["h"],
        "d": ["h"],
        "g": ["root"],
        "h": ["root"],
        "f": ["e"],
        "i": ["e"],
    }
    given = Resnik(taxonomy=taxonomy, counts={"a": 3, "b": 2.5, "c": 0, "f": 1})
    yield Resnik(taxonomy=taxonomy), oracle.resnik(bags, taxonomy), bags
    yield given, oracle.resnik(bags, taxonomy, given.counts), bags


def text_cases():
    texts = ["row row row", "", "gently down the stream", "räksmörgås 🦐", b"bytes", "row row row"]
    for codec in ("zlib", "bz2", "lzma"):
        for conditional in (False, True):
            yield (
                Compression(codec=codec, conditional=conditional),
                lambda x, z, c=codec, k=conditional: oracle.compression(x, z, c, k),
                texts,
            )
    texts = ["the cat sat", "a dog barked", "the cat ran away", "...", "Cat cat DOG", "été à Évian"]
    yield TfidfCosine(), oracle.tfidf(texts), texts


def shape_cases(rng):
    square = [rng.normal(size=(4, 2)) for _ in range(6)]
    yield Wasserstein(), lambda x, z: oracle.matching(np.asarray(x), np.asarray(z)), square
    yield IRM(), oracle.irm, point_sets(rng, 8)
    clouds = [rng.normal(size=(k, 3)) for k in (1, 4, 2, 7, 3)]
    for options in ({}, {"n_levels": 4, "normalize": False}, {"n_levels": 1}):
        yield PyramidMatch(**options), oracle.pyramid(clouds, **options), clouds
    series = [rng.normal(size=k).cumsum() for k in (1, 5, 5, 9, 3, 8)]
    for window in (None, 0, 2, 100):
        yield DTW(window=window), lambda x, z, w=window: oracle.dtw(x, z, w), series
    yield DTW(), oracle.dtw, [rng.normal(size=(k, 2)) for k in (4, 2, 6, 5)]
    molecules = graphs(rng, 8)
    for options in ({}, {"n_iter": 0}, {"n_iter": 2, "edge_labels": True}):
        yield (
            WeisfeilerLehman(**options),
            lambda x, z, o=options: oracle.weisfeiler_lehman(x, z, **o),
            molecules,
        )


def cases(rng):
    """(measure, its definition, objects)."""
    words, table = ["", *strings(rng, 7), "acgt", "acgt"], rows(rng, 10)
    bags = [frozenset(w for w in "abcdef" if rng.random() < 0.5) for _ in range(10)]
    yield from edit_cases(words)
    yield from alignment_cases(words)
    yield from feature_cases(table, bags)
    yield from text_cases()
    yield from shape_cases(rng)


CASES = list(cases(np.random.default_rng(0)))
KNOWN_TO_BE_NEAREST_ITSELF = (Edit, Lin, Wasserstein, IRM, PyramidMatch, DTW)


@pytest.fixture(params=CASES, ids=[f"{type(case[0]).__name__}-{i}" for i, case in enumerate(CASES)])
def case(request):
    measure, definition, objects = request.param
    return clone(measure).fit(objects), definition, objects


def test_matrix_scalar_and_definition_agree(case):
    measure, definition, objects = case
    S = measure.matrix(objects)
    assert S.dtype == np.float64
    np.testing.assert_allclose(S, plain.double_loop(definition, objects, objects), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(plain.double_loop(measure, objects, objects), S, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(measure.matrix(objects[:3], objects[2:]), S[:3, 2:], rtol=1e-13, atol=1e-13)
    assert isinstance(measure(objects[0], objects[1]), float)


def test_what_a_measure_says_of_itself_is_true(case):
    measure, _, objects = case
    S = measure.matrix(objects)
    assert np.array_equal(S, S.T) == measure.symmetric or isinstance(measure, Compression)
    if measure.domain_ is not None:
        assert measure.domain_[0] <= S.min() <= S.max() <= measure.domain_[1]
    if isinstance(measure, KNOWN_TO_BE_NEAREST_ITSELF):
        diagonal = np.diag(S)[:, None]
        assert (S <= diagonal + 1e-12).all() if measure.kind == "similarity" else (diagonal == 0).all()


def test_threads_and_progress_change_nothing(case):
    measure, _, objects = case
    S = measure.matrix(objects)
    np.testing.assert_array_equal(measure.matrix(objects, n_jobs=2), S)
    with redirect_stderr(io.StringIO()) as bar:
        shown = Pairwise(measure, progress=True, n_jobs=2).fit_transform(objects)
    np.testing.assert_array_equal(shown, S)
    assert "measuring" in bar.getvalue()


def test_new_objects_are_measured_as_the_definition_says(case):
    """Fitted on some, asked about others: nothing of the new objects need have occurred before."""
    measure, definition, objects = case
    if isinstance(measure, (Lin, ResidualEntropy, Resnik, TfidfCosine, PyramidMatch)):
        pytest.skip("learns from the training objects; tests of their own below")
    step = Pairwise(clone(measure)).fit(objects[:3])
    expected = plain.double_loop(definition, objects[3:], objects[:3])
    np.testing.assert_allclose(step.transform(objects[3:]), expected, rtol=1e-10, atol=1e-10)
    own = [definition(x, x) for x in objects]
    np.testing.assert_allclose(step.self_similarity(objects), own, rtol=1e-10, atol=1e-10)


def test_a_fitted_step_survives_its_file(case, tmp_path):
    measure, _, objects = case
    step = Pairwise(clone(measure)).fit(objects[:4])
    save(step, tmp_path / "step.skops")
    np.testing.assert_array_equal(load(tmp_path / "step.skops").transform(objects), step.transform(objects))


def test_measures_that_learn_see_the_training_objects_only(rng):
    table, new = rows(rng, 20), [*rows(rng, 3), ["y", "new", "n", "?"], ["new", "new", "new", "new"]]
    sets = [features(row) for row in table]
    for measure, definition in ((Lin(), oracle.lin(sets)), (ResidualEntropy(), oracle.residual_entropy(sets))):
        step = Pairwise(measure).fit(table)
        expected = plain.double_loop(lambda x, z, s=definition: s(features(x), features(z)), new, table)
        np.testing.assert_allclose(step.transform(new), expected, atol=1e-12)
        np.testing.assert_allclose(step.measure_.matrix(new, table), expected, atol=1e-12)
        own = [definition(features(x), features(x)) for x in new]
        np.testing.assert_allclose(step.self_similarity(new), own, atol=1e-12)
    clouds = [rng.normal(size=(k, 2)) for k in (3, 5, 2)]
    new = [10 * rng.normal(size=(k, 2)) for k in (4, 2)]
    expected = plain.double_loop(oracle.pyramid(clouds), new, clouds)
    np.testing.assert_allclose(Pairwise(PyramidMatch()).fit(clouds).transform(new), expected, atol=1e-12)
    texts, new = ["the cat sat", "a dog barked"], ["the dog ran", "nothing known", ""]
    expected = plain.double_loop(oracle.tfidf(texts), new, texts)
    np.testing.assert_allclose(Pairwise(TfidfCosine()).fit(texts).transform(new), expected, atol=1e-12)
