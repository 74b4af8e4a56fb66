"""Pictures of a report: summary of the matrix, numbers behind the displays, scales and colors."""

import base64
import json
import re
import zlib

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from reports import Outline, make_result, noisy_picture, similarities

from similis import Study
from similis._drawing.figure import Axis, format_number
from similis._drawing.svg import plot_style, png
from similis.exceptions import ProximityError
from similis.proximity import EmbeddingDisplay, HistogramDisplay, MatrixDisplay, NormalityDisplay, SpectrumDisplay
from similis.report import make_report
from similis.study import (
    METRICS,
    AgreementDisplay,
    ConfusionDisplay,
    ObjectsDisplay,
    RaceDisplay,
    RanksDisplay,
    ReliabilityDisplay,
    SplitsDisplay,
    TimeErrorDisplay,
)
from similis.study._picture import HEAT, POINTS, Picture, make_picture


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


# Summary of the matrix


def test_picture_of_many_objects(rng, monkeypatch):
    from similis.study import _picture

    monkeypatch.setattr(_picture, "HEAT", 20)
    monkeypatch.setattr(_picture, "POINTS", 40)
    found = make_result(n=90, n_classes=3)
    picture = make_picture(found.source, found.situation)
    assert len(picture.objects) == 20
    assert len(picture.looked_at) == len(picture.points) == len(picture.eigenvalues) == 40
    assert set(found.codes[picture.objects]) == {0, 1, 2}
    assert list(found.codes[picture.objects]) == sorted(found.codes[picture.objects])
    assert sorted(picture.nearness) == list(range(20))
    again = make_picture(found.source, found.situation)
    assert json.dumps(again.to_record()) == json.dumps(picture.to_record())


def test_picture_shows_the_matrix():
    found = make_result()
    picture, S = found.picture, found.source.matrix
    shown = picture.low + (picture.levels.astype(float) - 1) / 254 * (picture.high - picture.low)
    inside = (picture.levels > 1) & (picture.levels < 255)
    exact = S[np.ix_(picture.objects, picture.objects)]
    np.testing.assert_allclose(shown[inside], exact[inside], atol=0.6 * (picture.high - picture.low) / 254)
    np.testing.assert_allclose(picture.eigenvalues, np.linalg.eigvalsh(S)[::-1], rtol=1e-4, atol=1e-7)
    assert picture.points.shape == (60, 2)
    assert HEAT <= POINTS


def test_why_pairs_are_not_checked_is_a_clause():
    page = make_report(make_result(n=24))
    assert "the rest of the matrix: not checked, because at least 30 objects are needed, got 24." in page


def test_a_matrix_changed_since_is_not_shown(rng):
    S, codes = similarities(30, 2, rng)
    found = Study("nc", n_splits=1, cv=2).run(S, codes)
    S[:] = 0
    assert found.picture is None
    assert "without a picture" in make_report(found)


def test_picture_of_a_matrix_with_holes(rng):
    S, codes = similarities(40, 2, rng)
    S[3, 5] = np.nan
    found = Study("knn", n_splits=1, cv=2).run(S, codes)
    assert found.picture.eigenvalues is None
    assert (found.picture.levels == 0).sum() == 1
    page = make_report(found)
    assert "left blank" in page
    marks = Outline(page).marks
    assert "spectrum" not in marks
    assert marks["embedding"] == 40
    assert "close to the known entries (SMACOF)" in page


def test_map_of_a_matrix_with_holes_is_close_to_the_map_without(rng):
    Z = rng.normal(size=(40, 2)) * [3, 1]
    D = np.linalg.norm(Z[:, None] - Z, axis=2)
    whole = EmbeddingDisplay.from_proximity(D, kind="dissimilarity", plot=False)
    D[rng.random(D.shape) < 0.2] = np.nan
    shown = EmbeddingDisplay.from_proximity(D, kind="dissimilarity", plot=False)
    for k in (0, 1):
        assert abs(np.corrcoef(shown.points[:, k], whole.points[:, k])[0, 1]) > 0.99
    assert shown.describe().x.title == "axis 1"
    assert whole.describe().x.title.endswith("of the spectrum")
    apart = np.full((4, 4), np.nan)
    apart[:2, :2] = apart[2:, 2:] = 1 - np.eye(2)
    picture = (
        Study("knn", n_splits=1, cv=2)
        .run(np.kron(apart, np.ones((3, 3))), np.arange(12) % 2, kind="dissimilarity")
        .picture
    )
    assert picture.points is None


def test_damaged_pictures_are_refused():
    good = noisy_picture(30).to_record()
    again = Picture.from_record(json.loads(json.dumps(good)), 30)
    assert json.dumps(again.to_record()) == json.dumps(good)
    bomb = base64.b64encode(zlib.compress(bytes(10_000_000))).decode()
    for change in (
        {"objects": [99]},
        {"levels": "AAAA"},
        {"levels": bomb},
        {"limits": [1, 1]},
        {"points": [[0, 0]]},
        {"eigenvalues": [[1]]},
        {"axes": [[1], [1]]},
        {"suspects": [[0, 99, 1, 1, 1]]},
        {"suspects": [[0]]},
    ):
        with pytest.raises((ValueError, zlib.error)):
            Picture.from_record({**good, **change}, 30)


# Numbers behind the pictures


def test_answers_against_plain_loops():
    result = make_result()
    answers = result.predictions_by_object()
    assert answers.methods == ("svm-kernel(clip)", "knn", "nc")
    for k, method in enumerate(answers.methods):
        wrong, tested = np.zeros(60, int), np.zeros(60, int)
        for split in result.splits:
            for place, i in enumerate(split.test):
                tested[i] += 1
                wrong[i] += result.entries[method, split.number].predictions[place] != result.codes[i]
        np.testing.assert_array_equal(answers.wrong[k], wrong)
        np.testing.assert_array_equal(answers.tested[k], tested)
    a, b = (
        np.concatenate([result.entries[m, s.number].predictions for s in result.splits]) for m in answers.methods[:2]
    )
    assert answers.differ[0, 1] == pytest.approx(np.mean(a != b))
    hard = answers.hardest()
    assert (np.diff(answers.share_wrong()[hard]) <= 1e-12).all()


def test_reliability_agrees_with_the_calibration_error():
    result = make_result()
    shown = ReliabilityDisplay.from_result(result, plot=False)
    assert [curve.method for curve in shown.curves] == ["knn", "nc"]
    for curve in shown.curves:
        assert curve.error == pytest.approx(result.mean_scores("calibration_error")[curve.method])
    assert METRICS["calibration_error"].pooled


def test_confusion_counts_every_answer():
    result = make_result()
    shown = ConfusionDisplay.from_result(result, "knn", plot=False)
    assert shown.counts.sum() == sum(len(s.test) for s in result.splits)
    tests = sum(len(s.test) for s in result.splits)
    assert 1 - np.trace(shown.counts) / tests == pytest.approx(result.mean_scores("error")["knn"])


@pytest.mark.parametrize(("names", "rotated"), [("+-", False), (("10", "9"), False), (("+", "none"), True)])
def test_short_names_of_columns_are_not_rotated(names, rotated):
    """A rotated minus looks like a comma."""
    display = ConfusionDisplay(method="knn", classes=list(names), counts=np.array([[3, 1], [0, 4]]))
    svg = display._repr_html_()
    assert ("rotate(-90)" in svg) == rotated
    assert all(f">{name}</text>" in svg for name in names)


def test_front_of_time_and_error():
    shown = TimeErrorDisplay(
        methods="abcd", seconds=[1, 2, 3, 0.1], errors=[0.3, 0.4, 0.1, 0.0], bold=[0] * 4, baseline=[0, 0, 0, 1]
    )
    assert shown.front() == [0, 2]


def test_every_display_has_both_renderings(rng):
    """SVG for a page or a notebook, matplotlib for a paper; a drawn display is not shown again."""
    result = make_result()
    S, y = similarities(30, 2, rng)
    scores = {d: {m: rng.random() for m in "abcdef"} for d in "uvw"}
    displays = [c.from_result(result, plot=False) for c in (SplitsDisplay, RaceDisplay, TimeErrorDisplay)]
    displays += [ReliabilityDisplay.from_result(result, plot=False)]
    displays += [c.from_result(result, plot=False) for c in (AgreementDisplay, ConfusionDisplay, ObjectsDisplay)]
    displays += [RanksDisplay.from_results(scores, plot=False)]
    displays += [
        c.from_proximity(S, y, plot=False)
        for c in (MatrixDisplay, EmbeddingDisplay, HistogramDisplay, NormalityDisplay)
    ]
    displays += [SpectrumDisplay.from_proximity(S, plot=False)]
    for display in displays:
        html = display._repr_html_()
        assert Outline(html).tags["svg"] >= 1
        assert display.plot().ax_ is not None
        assert display._repr_html_() is None


def test_heat_map_by_nearness(rng):
    S, y = similarities(30, 3, rng, spread=0.3)
    shown = MatrixDisplay.from_proximity(S, y, order="seriation", plot=False)
    assert (np.diff(shown.codes) != 0).sum() == 2  # the clouds are visible without the labels
    np.testing.assert_array_equal(shown.codes, y[shown.order])


def test_png_holds_the_levels(rng):
    levels = rng.integers(0, 256, size=(7, 5), dtype=np.uint8)
    data = base64.b64decode(png(levels, np.zeros((256, 3), np.uint8)).partition(",")[2])
    assert data.startswith(b"\x89PNG")
    at = data.index(b"IDAT")
    size = int.from_bytes(data[at - 4 : at], "big")
    rows = np.frombuffer(zlib.decompress(data[at + 4 : at + 4 + size]), np.uint8).reshape(7, 6)
    np.testing.assert_array_equal(rows[:, 1:], levels)


def test_scales_and_ticks():
    assert Axis(0, 10).find_ticks() == [0, 2, 4, 6, 8, 10]
    assert Axis(0.003, 40, scale="log").find_ticks() == pytest.approx([0.01, 0.1, 1, 10])
    assert Axis(0.03, 0.4, scale="log").find_ticks() == pytest.approx([0.05, 0.1, 0.2])
    assert Axis(-5, 100, scale="symlog", linear=0.1, n_ticks=6).find_ticks()[0] == -1
    assert Axis(0, 4, reverse=True).place(1) == 0.75
    numbers = {0: "0", 0.25: "0.25", -3: "\N{MINUS SIGN}3", 1e-9: "10⁻⁹", 2e7: "2·10⁷", -1e-9: "\N{MINUS SIGN}10⁻⁹"}
    numbers |= {-2.5e8: "\N{MINUS SIGN}2.5·10⁸", 123456.0: "1.23·10⁵"}
    assert {v: format_number(v) for v in numbers} == numbers


@pytest.mark.parametrize("part", [0, 1, 2], ids=["light", "dark", "print"])
def test_colors_have_contrast(part):
    """Contrast of text at least 4.5 to 1, of marks at least 3 to 1 (WCAG 2)."""
    blocks = re.findall(r"\{([^{}]*--ink[^{}]*)\}", plot_style())
    colors = dict(re.findall(r"--(\w+): (#\w+)", blocks[part]))

    def luminance(name):
        text = colors[name][1:] if len(colors[name]) == 7 else "".join(2 * c for c in colors[name][1:])
        channels = np.array([int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)])
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for name in colors:
        if name not in ("card", "faint"):
            a, b = sorted((luminance(name), luminance("card")))
            assert (b + 0.05) / (a + 0.05) >= (4.5 if name in ("ink", "muted", "accent", "bad") else 3.0), name


def test_prediction_sets_equal_a_loop_over_objects():
    found = make_result(60, 3, {"knn": 0.25, "majority": 0.9}, n_splits=6, seed=3)
    rng = np.random.default_rng(0)
    for entry in found.entries.values():  # few different values, so that there are ties
        P = rng.integers(1, 6, size=entry.proba.shape) + 4 * np.eye(3)[found.codes[found.splits[entry.split].test]]
        entry.proba[:] = P / P.sum(axis=1, keepdims=True)
    seen = [(i, p) for s in found.splits for i, p in zip(s.test, found.entries["knn", s.number].proba)]
    sets = []
    for i, p in seen:
        known = []
        for g in range(3):
            others = [q[g] for j, q in seen if found.codes[j] == g and j != i]
            n = len({j for j, _ in seen if found.codes[j] == g and j != i})
            known.append((1 + n * np.mean(np.array(others) <= p[g] + 1e-12)) / (1 + n) > 0.2)
        sets.append(known)
    sets, truth = np.array(sets), found.codes[[i for i, _ in seen]]
    rows = found.prediction_sets(level=0.8)
    for g, row in enumerate(rows):
        own = sets[truth == g]
        assert row.label == f"class {g}"
        assert row.coverage == pytest.approx(own[:, g].mean())
        assert row.size == pytest.approx(own.sum(axis=1).mean())
        assert row.single == pytest.approx((own.sum(axis=1) == 1).mean())
        assert 0.7 < row.coverage < 0.95
    assert found.prediction_sets("knn", level=0.8) == rows
    page = make_report(found)
    assert "Prediction sets" in page
    assert "<td>3.00</td>" in make_report(make_result(12, 3))  # too few objects to exclude a class


def test_no_prediction_sets_without_probabilities():
    found = make_result(methods={"svm-kernel(clip)": 0.1})
    assert found.prediction_sets() == []
    assert "Prediction sets" not in make_report(found)
    with pytest.raises(ProximityError, match="predicts no probabilities"):
        found.prediction_sets("svm-kernel(clip)")


def test_reliability_of_predictions_of_a_model():
    y = np.array(["a"] * 6 + ["b"] * 4)
    proba = np.tile([0.6, 0.4], (10, 1))
    curve = ReliabilityDisplay.from_predictions(y, proba, name="mine", plot=False).curves[0]
    assert curve.error == pytest.approx(0.0)
    assert curve.counts.sum() == 10
    with pytest.raises(ProximityError, match="one column for each of the 2 labels"):
        ReliabilityDisplay.from_predictions(y, proba[:, :1], plot=False)
