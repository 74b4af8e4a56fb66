"""Counting on sets of features, [cazzanti2007] fig. 2.1: the number of common features."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from similis import Counting, NearestCentroid, Pairwise, ProximityError, TverskyContrast, load, save
from similis.cli._app import app

# A set of ten faces that agrees with every number of fig. 2.1 and sec. 3.1.1; bits are eyes, nose, mouth, hair.
FACES = ["1111", "0111", "1011", "1101", "1110", "1101", "0000", "0011", "0110", "0001"]
FEATURES = ("eyes", "nose", "mouth", "hair")
SETS = [{name for name, bit in zip(FEATURES, face) if bit == "1"} for face in FACES]
EXPECTED = np.array([[len(x & z) for z in SETS] for x in SETS], dtype=float)


def bits(faces=FACES):
    return np.array([[int(bit) for bit in face] for face in faces])


@pytest.mark.parametrize(
    ("X", "sets"),
    [
        (SETS, False),
        ([frozenset(x) for x in SETS], False),
        (np.array(SETS, dtype=object), False),
        ([sorted(x) for x in SETS], True),
        (bits(), True),
        (sparse.csr_array(bits()), True),
    ],
    ids=["sets", "frozensets", "array of sets", "lists", "binary rows", "sparse rows"],
)
def test_common_features(X, sets):
    measure = Counting(sets=sets).fit(X)
    np.testing.assert_array_equal(measure.matrix(X), EXPECTED)
    np.testing.assert_array_equal(measure.matrix(X[:4], X[2:]), EXPECTED[:4, 2:])
    np.testing.assert_array_equal(measure.domain_, np.arange(5))
    read = measure.validate_objects(X)
    np.testing.assert_array_equal(measure.pairs(read[:5], read[5:]), np.diagonal(EXPECTED[:5, 5:]))
    np.testing.assert_array_equal(TverskyContrast(alpha=0, beta=0).fit(SETS).matrix(SETS), EXPECTED)


def test_the_worked_example_of_the_paper():
    """Sec. 3.1.1: centroids 1111 and 1101, and {hair, mouth} is nearest to the first."""
    model = make_pipeline(Pairwise(Counting()), NearestCentroid()).fit(SETS, [1] * 5 + [2] * 5)
    assert model[-1].centroids_.tolist() == [0, 5]
    assert model.predict([{"hair", "mouth"}]).tolist() == [1]


def test_sets_of_one_size_are_not_columns():
    """Version 1.0 compared sets of equal sizes by position, in the arbitrary order of their elements."""
    assert Counting()({"a", "b", "c"}, {"c", "d", "a"}) == 2
    assert Counting()(["a", "b", "c"], ["c", "d", "a"]) == 0
    assert Counting()({"new"}, {"new", "other"}) == 1
    assert Counting()(set(), {"a"}) == 0


def test_new_features_count_for_nothing(tmp_path):
    measure = Pairwise(Counting()).fit(SETS)
    save(measure, tmp_path / "measure.skops")
    for one in (measure, load(tmp_path / "measure.skops")):
        np.testing.assert_array_equal(one.transform([{"hair", "beard"}]), [[len(x & {"hair"}) for x in SETS]])


def test_a_part_of_encoded_objects_keeps_the_rule_for_missing_values():
    X = np.array([["a", None], ["a", "b"], ["c", None], ["c", "b"]], dtype=object)
    measure = Counting(missing="mismatch").fit(X)
    part = measure.encode(X)[1:4]
    np.testing.assert_array_equal(measure.block(part, part), measure.matrix(X)[1:4, 1:4])


def test_messages():
    with pytest.raises(ProximityError, match=r"Row 0 has 2 values, row 1 has 1.*sets=True"):
        Counting().fit([["a", "b"], ["a"]])
    with pytest.raises(ProximityError, match="fitted on sets and got rows"):
        Pairwise(Counting()).fit(SETS).transform([["a", "b"]])
    with pytest.raises(ProximityError, match="fitted on rows and got sets"):
        Pairwise(Counting()).fit([["a", "b"], ["a", "c"]]).transform([{"a", "b"}])


def test_command_line(tmp_path):
    path = tmp_path / "faces.json"
    path.write_text(json.dumps([{"id": f"f{i}", "object": sorted(x)} for i, x in enumerate(SETS)]))
    out = tmp_path / "S.npy"
    words = ["measure", str(path), "--measure", "counting", "--param", "sets=true", "-o", str(out)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(out), EXPECTED)
