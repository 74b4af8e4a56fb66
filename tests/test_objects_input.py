"""What the measures on real objects may be given, and the one sentence they answer with when they may not."""

import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

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
)
from similis.exceptions import MissingExtraError

pytest.importorskip("rapidfuzz")
pytest.importorskip("parasail")
pytest.importorskip("ot")

WORDS = ["acgt", "cgta", "aa", ""]


def refused(call, *arguments, match, error=ValueError, **options):
    with pytest.raises(error, match=match) as caught:
        call(*arguments, **options)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "measure",
    [Edit(), Edit(weights=(1, 1, 0.5)), Alignment(matrix="dnafull"), Compression(), TfidfCosine(analyzer="char")],
    ids=["edit", "weighted", "alignment", "compression", "tfidf"],
)
def test_texts_come_in_many_forms(measure):
    expected = measure.fit(WORDS).matrix(WORDS)
    for form in (
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        np.array(WORDS)[:, None],
        pd.Series(WORDS),
        pd.DataFrame({"word": WORDS}),
        pl.Series(WORDS),
        pl.DataFrame({"word": WORDS}),
    ):
        np.testing.assert_array_equal(measure.fit(form).matrix(form), expected)
        np.testing.assert_array_equal(Pairwise(measure).fit_transform(form), expected)


def test_sequences_come_in_many_forms():
    letters = [list("acg"), list("cgt"), list("aag")]
    for measure in (Edit(), Alignment(matrix="dnafull")):
        expected = measure.matrix(["acg", "cgt", "aag"])
        for form in (letters, np.array(letters), pd.DataFrame(letters), [tuple(x) for x in letters]):
            np.testing.assert_array_equal(measure.matrix(form), expected)
    frame = pd.DataFrame([["to", "be"], ["to", "do"]], columns=["first", "second"])
    assert Edit(gaps={"to": 0.5}).matrix(frame).tolist() == [[0, 1], [1, 0]]
    assert Edit()(b"acg", b"act") == 1
    assert Edit()(np.array([1, 2, 3]), [1, 2.0, 4]) == 1
    step = Pairwise(Edit()).fit(["acg", "ac"])
    assert step.transform([["a", "c", "word"]]).tolist() == [[1, 1]]  # what texts cannot hold is a symbol unseen
    step = Pairwise(Edit()).fit([["one", "a"], ["one"]])
    assert step.transform(["a"]).tolist() == [[1, 1]]


def test_sequences_that_are_none():
    refused(Edit().matrix, "text", match="collection of objects.*str")
    refused(Edit().matrix, [], match="at least one object")
    refused(Edit().matrix, ["a", None], match="Object 1 is missing")
    refused(Edit().matrix, ["a", math.nan], match="Object 1 is missing")
    refused(Edit().matrix, ["a", 3], match="Object 1 is a int, '3'")
    refused(Edit().matrix, ["a", {"b"}], match="Object 1 is a set")
    refused(Edit().matrix, [["a", ["b"]]], match="hashable.*Object 0")
    refused(Edit().matrix, sparse.eye_array(3), match="sparse")
    refused(Compression().matrix, ["a", None], match="Object 1 is missing")
    refused(Compression().matrix, [["a", "b"]], match="Object 0 is a list.*join")
    refused(TfidfCosine().fit, ["a", b"b"], match="Object 1 is a bytes")
    refused(TfidfCosine().fit, ["...", ""], match="found no word")
    refused(TfidfCosine().matrix, ["a"], match="not fitted", error=NotFittedError)


def test_edit_costs():
    refused(Edit(weights=(1, 1)).matrix, WORDS, match="three finite, non-negative numbers")
    for bad in ((1, -1, 1), (1, 1, math.nan), (math.inf, 1, 1), (1, 1, "2")):
        refused(Edit(weights=bad).fit, WORDS, match="non-negative numbers: insert, delete, substitute")
    refused(Edit(weights=3).fit, WORDS, match="'weights' parameter of Edit")
    refused(Edit(normalize="max").fit, WORDS, match="'normalize' parameter of Edit")
    refused(Edit(gaps={"a": -1}).fit, WORDS, match="'gaps'.*non-negative numbers. Got -1 for 'a'")
    refused(Edit(substitution={"a": {"c": math.nan}}).fit, WORDS, match="'substitution'.*Got nan for 'c'")
    refused(Edit(substitution={"a": 1}).fit, WORDS, match="dict of dicts")
    refused(Edit(gaps={"word": 1}).fit, WORDS, match="'word'.*is not a character")
    assert Edit(weights=(0, 0, 0))("abc", "xyz") == 0
    assert Edit(weights=(0, 0, 0), normalize=True)("abc", "xyz") == 0
    for cost in (10**9, 10**18, 1e300):  # sums beyond 32 and 64 bits
        assert Edit(weights=(cost, cost, cost))("aaaaa", "bbbbb") == 5.0 * cost


def test_alphabets():
    refused(Alignment().matrix, ["ACD", "AC1"], match="Object 1 has '1' at position 2")
    refused(Alignment(matrix="dnafull").matrix, ["acgt", "acgé"], match="Object 1 has 'é' at position 3")
    refused(Alignment().matrix, ["AC*"], match="Object 0 has '\\*'")
    refused(Pairwise(Alignment(matrix="dnafull")).fit(["acgt"]).transform, ["ac?"], match="Object 0 has '\\?'")
    refused(Alignment(matrix="blosum63").matrix, ["A"], match="Unknown matrix 'blosum63'")
    refused(Alignment(matrix="bindings_v2").matrix, ["A"], match="Unknown matrix")
    refused(Alignment(matrix={"a": {"a": 1.5}}).matrix, ["a"], match="integer.*Got 1.5 for 'a' and 'a'")
    refused(Alignment(matrix={"a": {"a": 1}, "b": {"b": 1}}).matrix, ["a"], match="Got None for 'a' and 'b'")
    refused(Alignment(matrix={"a": 1}).matrix, ["a"], match="must hold an integer")
    refused(Alignment(matrix={}).matrix, ["a"], match="1 to 93 letters")
    refused(Alignment(gap_open=-1).matrix, ["A"], match="'gap_open' parameter of Alignment")
    refused(Alignment(gap_open=1.5).matrix, ["A"], match="'gap_open' parameter of Alignment")
    refused(Alignment(gap_open=1, gap_extend=2).matrix, ["A"], match="gap_open=1 and gap_extend=2")
    refused(Alignment(mode="glocal").matrix, ["A"], match="'mode' parameter of Alignment")


def test_e_values_that_do_not_exist():
    evalue = Alignment(score="evalue")
    refused(evalue.matrix, ["ACD"], match="not fitted", error=NotFittedError)
    refused(evalue.fit(["ACDEFGHIKLMNPQRSTVWY"]).matrix, ["ACD", ""], match="Object 1 is empty")
    refused(evalue.fit, ["", ""], match="All sequences are empty")
    refused(Alignment(score="evalue", mode="global").fit, ["A"], match="needs local scores")
    refused(evalue.fit, ["WWWW", "WWW"], match="mean is 11")
    negative = {"a": {"a": -1}}
    refused(
        Alignment(score="normalized", mode="global", matrix=negative).matrix,
        ["a"],
        match="Object 0 has the self-score -1",
    )
    assert Alignment(score="normalized", matrix=negative)("a", "aa") == 1


@pytest.mark.parametrize("measure", [Wasserstein(), IRM(), PyramidMatch()], ids=["emd", "irm", "pyramid"])
def test_point_sets(measure):
    sets = [np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[1.0, 1.0], [4.0, 0.0]])]
    expected = measure.fit(sets).matrix(sets)
    ones = [1.0, 1.0]
    for form in (
        [s.tolist() for s in sets],
        np.array(sets),
        [(s, ones) for s in sets],
        [[s.tolist(), ones] for s in sets],
        [(s, np.array(ones)) for s in sets],
    ):
        np.testing.assert_allclose(measure.fit(form).matrix(form), expected)
    refused(measure.fit, [sets[0], np.empty((0, 2))], match="Object 1 is empty")
    refused(measure.fit, [sets[0], []], match="Object 1 is empty")
    refused(measure.fit, [sets[0], [[1.0, 2.0, 3.0]]], match="Object 0 has 2, object 1 has 3")
    refused(measure.fit(sets).matrix, sets, [[[1.0]]], match="dimension")
    refused(Pairwise(measure).fit(sets).transform, [[[1.0, 2.0, 3.0]]], match="training sets, 2. Got 3")
    refused(measure.fit, [(sets[0], [1.0, -1.0])], match="non-negative weights.*Object 0")
    refused(measure.fit, [(sets[0], [0.0, 0.0])], match="not all zero")
    refused(measure.fit, [(sets[0], [1.0])], match="2 points, 1 weights")
    refused(measure.fit, [sets[0], [[1.0, math.nan]]], match="finite.*Object 1")
    refused(measure.fit, ["points"], match="Object 0 is a str of another form")
    refused(measure.fit, [3.0], match="Object 0 is a float of another form")
    refused(measure.fit, [[[1.0], [1.0, 2.0]]], match="Object 0")
    refused(measure.fit, [], match="at least one object")
    wrong = {"metric": "hamming"} if hasattr(measure, "metric") else {"n_levels": 0}
    refused(type(measure)(**wrong).fit, sets, match="parameter of")
    line = measure.fit([[0.0, 1.0], [5.0]])
    np.testing.assert_allclose(line.matrix([[0.0, 1.0], [5.0]]), line.matrix([[[0.0], [1.0]], [[5.0]]]))


def test_orders_of_transport():
    refused(Wasserstein(p=0.5).fit, [[0.0]], match="'p' parameter of Wasserstein")
    refused(PyramidMatch().matrix, [[0.0]], match="not fitted", error=NotFittedError)
    same = [[[1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]
    np.testing.assert_allclose(PyramidMatch(normalize=False).fit(same).matrix(same), [[1, 1], [1, 2]])
    assert not Wasserstein().matrix(same).any()


def test_series():
    refused(DTW().matrix, [[1.0], []], match="Object 1 is empty")
    refused(DTW().matrix, [[1.0, math.inf]], match="finite")
    refused(DTW().matrix, [[1.0], [[1.0, 2.0]]], match="Object 0 has 1, object 1 has 2")
    refused(DTW().matrix, [["a", "b"]], match="series of numbers.*Object 0")
    refused(DTW(window=-1).matrix, [[1.0]], match="'window' parameter of DTW")
    refused(DTW(window=1.5).matrix, [[1.0]], match="'window' parameter of DTW")
    X = np.arange(6.0).reshape(2, 3)
    for form in (X.tolist(), pd.DataFrame(X), X[:, :, None], [row[:, None] for row in X]):
        np.testing.assert_array_equal(DTW().matrix(form), DTW().matrix(X))
    assert DTW()([1], [4]) == 3


class Drawn:
    """A graph with the methods of networkx that are used."""

    def __init__(self, nodes, edges):
        self._nodes, self._edges = nodes, edges

    def nodes(self, data):
        return [(name, {"label": label}) for name, label in self._nodes.items()]

    def edges(self, data):
        return [(a, b, {"label": c}) for a, b, c in self._edges]


def test_graphs():
    measure, water = WeisfeilerLehman(edge_labels=True), ([(0, 1, 1), (0, 2, 1)], ["O", "H", "H"])
    expected = measure.matrix([water])
    for form in (
        {"node_labels": ["O", "H", "H"], "edges": [[0, 1, 1], [0, 2, 1]], "name": "water"},
        ([(0, 1, 1), (2, 0, 1), (0, 1, 1)], ["O", "H", "H"]),  # turned round, and twice
        ([("o", "h1", 1), ("o", "h2", 1)], {"h1": "H", "o": "O", "h2": "H"}),
        Drawn({"o": "O", "h1": "H", "h2": "H"}, [("o", "h1", 1), ("o", "h2", 1)]),
    ):
        np.testing.assert_array_equal(measure.matrix([form]), expected)
        np.testing.assert_array_equal(measure.matrix([form], [water]), expected)
    assert WeisfeilerLehman()(([], ["C"]), ([], ["C"])) == 6
    array = np.empty(2, dtype=object)
    array[:] = [water, water]
    assert measure.matrix(array).shape == (2, 2)
    refused(measure.matrix, [water, ([], [])], match="Graph 1 has none")
    refused(measure.matrix, [water, ([(0, 3)], ["C", "C"])], match="Graph 1 has \\(0, 3\\)")
    refused(measure.matrix, [([(0, -1)], ["C", "C"])], match="between nodes that have labels")
    refused(measure.matrix, [([(0,)], ["C"])], match="\\(node, node\\)")
    refused(measure.matrix, [([(0, 1, 1, 1)], ["C", "C"])], match="\\(node, node\\)")
    refused(measure.matrix, [([3], ["C"])], match="Graph 0 has 3")
    refused(measure.matrix, ["CCO"], match="Object 0 is a str")
    refused(measure.matrix, [3], match="Object 0 is a int")
    refused(measure.matrix, [], match="at least one graph")
    refused(measure.matrix, [([], [["C"]])], match="hashable.*Graph 0")
    refused(WeisfeilerLehman(n_iter=-1).matrix, [water], match="'n_iter' parameter of WeisfeilerLehman")


def test_described_objects():
    bags = [{"a", "b"}, {"b"}, set()]
    for measure in (Lin(), ResidualEntropy()):
        expected = measure.fit(bags).matrix(bags)
        assert np.isfinite(expected).all()
        array = np.empty(3, dtype=object)
        array[:] = bags
        np.testing.assert_array_equal(measure.fit(array).matrix(array), expected)
        matrix = sparse.csr_array([[1, 1], [0, 1], [0, 0]])
        np.testing.assert_allclose(measure.fit(matrix).matrix(matrix), expected, atol=1e-15)
        refused(type(measure)().matrix, bags, match="not fitted", error=NotFittedError)
        refused(measure.fit(bags).matrix, [["a", "b"]], match="fitted on sets and got rows. Pass sets")
        refused(measure.fit([["a"], ["b"]]).matrix, bags, match="fitted on rows and got sets. Pass rows")
        refused(measure.fit([["a", "b"]]).matrix, [["a"]], match="1 features.*expecting 2")
        refused(measure.fit, [["a", "b"], ["a"]], match="Row 0 has 2 values, row 1 has 1")
        refused(measure.fit, ["ab", "cd"], match="2D array")
        refused(measure.fit, [{"a"}, "b"], match="Object 1 is a str")
        refused(measure.fit, [], match="[0 sample|at least one]")
        table = pd.DataFrame({"u": ["y", None, "n"], "v": ["y", "n", None]})
        assert measure.fit(table).matrix(table).shape == (3, 3)
        one = measure.fit([["a"]])
        assert np.isfinite(one.matrix([["a"], ["new"]])).all()
    frame = pd.DataFrame({"flies": [True, False, True], "legs": [1, 0, 0]})
    same = ResidualEntropy().fit(frame.to_numpy(int))
    for form in (frame, frame.to_numpy(), frame.to_numpy().tolist(), list(frame.to_numpy(int))):
        np.testing.assert_array_equal(ResidualEntropy().fit(form).matrix(form), same.matrix(frame.to_numpy(int)))
    assert same(*frame.to_numpy(int)[:2]) == same.matrix(frame.to_numpy(int))[0, 1]
    binary = ResidualEntropy().fit(np.array([[0, 1], [1, 1]]))
    refused(binary.matrix, np.array([[0, 2]]), match="other values than 0 and 1")
    assert Lin().fit([["a"], ["a"]])(["a"], ["a"]) == 1  # no information in either: nothing tells them apart


@pytest.mark.parametrize(
    ("measure", "objects", "modules", "extra"),
    [
        (Edit(), ["a", "b"], ["rapidfuzz.process", "rapidfuzz.distance", "rapidfuzz"], "strings"),
        (Alignment(), ["A", "C"], ["parasail"], "strings"),
    ],
    ids=["edit", "alignment"],
)
def test_a_missing_extra_is_named(measure, objects, modules, extra, monkeypatch):
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    for error in (ImportError, ValueError, MissingExtraError):
        refused(measure.matrix, objects, match=f"pip install 'similis\\[{extra}\\]'", error=error)


def test_without_extras_the_rest_works(monkeypatch):
    for module in ("rapidfuzz", "rapidfuzz.process", "parasail", "ot"):
        monkeypatch.setitem(sys.modules, module, None)
    assert Edit(weights=(1, 1, 0.5))("ab", "ac") == 0.5
    assert Alignment().get_params()["matrix"] == "blosum62"
    assert IRM()([0.0], [1.0]) == 1
    assert Wasserstein()([0.0], [1.0]) == 1
    assert DTW()([0.0], [1.0]) == 1


def test_resnik_reads_concepts_and_rejects_others(tmp_path):
    taxonomy = {"cat": "mammal", "dog": ("mammal", "pet"), 7: "pet"}
    texts = ["cat", "dog", "mammal"]
    S = Resnik(taxonomy=taxonomy).fit(texts).matrix(texts)
    for form in (np.array(texts), np.array(texts)[:, None], [[x] for x in texts], [{x} for x in texts]):
        np.testing.assert_array_equal(Resnik(taxonomy=taxonomy).fit(form).matrix(form), S)
    assert Resnik(taxonomy=taxonomy).fit([7, "dog"])(7, "dog") == 0  # every object is a pet
    refused(Resnik().fit, texts, match="needs a taxonomy")
    refused(Resnik(taxonomy=taxonomy).fit, ["cat", "cart"], match="Object 1 holds 'cart'")
    counts = {"cat": 3, "dog": 2.5}
    exact = Resnik(taxonomy=taxonomy, counts=counts).fit(texts).matrix(texts)
    given = {concept: np.float32(n) if concept == "dog" else np.int64(n) for concept, n in counts.items()}
    np.testing.assert_array_equal(Resnik(taxonomy=taxonomy, counts=given).fit(texts).matrix(texts), exact)
    rare = Resnik(taxonomy=taxonomy, counts={"cat": 3, "dog": 0.5}).fit(texts)
    assert rare("dog", "dog") == rare.domain_[1] == pytest.approx(math.log(7))
    refused(Resnik(taxonomy=taxonomy, counts={"cat": -1}).fit, texts, match="counts must hold finite numbers")
    refused(Resnik(taxonomy=taxonomy, counts={"cat": 0}).fit, texts, match="not all of them zero")
