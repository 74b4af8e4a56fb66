"""Displays of a matrix: numbers, marks, both renderers, and the message where matplotlib is missing."""

import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot

from similis.proximity import EmbeddingDisplay, HistogramDisplay, MatrixDisplay, PseudoEuclidean, SpectrumDisplay


@pytest.fixture
def data(rng):
    y = np.repeat(["a", "b", "c"], [12, 10, 8])
    Z = rng.normal(size=(30, 3)) + 4 * (y == "b")[:, None] - 4 * (y == "c")[:, None]
    S = np.exp(-np.linalg.norm(Z[:, None] - Z[None], axis=2))
    order = rng.permutation(30)
    return S[np.ix_(order, order)], y[order]


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


def test_matrix_is_ordered_by_class(data):
    S, y = data
    shown = MatrixDisplay.from_proximity(S, y)
    assert sorted(shown.order) == list(range(30))
    np.testing.assert_array_equal(y[shown.order], np.sort(y))
    np.testing.assert_array_equal(shown.values, S[np.ix_(shown.order, shown.order)])
    assert list(shown.bounds) == [0, 12, 22, 30]
    assert len(shown.ax_.images) == 1
    assert [t.get_text() for t in shown.ax_.get_xticklabels()] == ["a", "b", "c"]


def test_seriation_brings_neighbors_together(data):
    S, y = data
    blind = MatrixDisplay.from_proximity(S, plot=False)
    changes = (y[blind.order][1:] != y[blind.order][:-1]).sum()
    assert changes == 2  # the classes are far apart and visible without the labels


def test_spectrum_and_its_repairs(data, rng):
    A = rng.normal(size=(9, 9))
    A = A + A.T
    shown = SpectrumDisplay.from_proximity(A)
    values = np.sort(np.linalg.eigvalsh(A))[::-1]
    np.testing.assert_allclose(shown.eigenvalues, values, atol=1e-10)
    np.testing.assert_allclose(shown.repaired["clip"], np.maximum(values, 0), atol=1e-10)
    np.testing.assert_allclose(shown.repaired["shift"], values - values.min(), atol=1e-10)
    assert [t.get_text() for t in shown.ax_.get_legend().get_texts()] == ["clip", "flip", "shift"]


def test_embedding_shows_every_object(data):
    S, y = data
    shown = EmbeddingDisplay.from_proximity(S, y)
    D = S.max() - S
    np.fill_diagonal(D, 0)
    np.testing.assert_allclose(
        np.abs(shown.points), np.abs(PseudoEuclidean(n_components=2).fit_transform(D)), atol=1e-9
    )
    assert sum(len(marks.get_offsets()) for marks in shown.ax_.collections) == 30
    one = EmbeddingDisplay.from_proximity([[0.0]], kind="dissimilarity")
    assert one.points.shape == (1, 2)


def test_histogram_counts_pairs_once_each_way(data):
    S, y = data
    shown = HistogramDisplay.from_proximity(S, y)
    assert len(shown.within) == 12 * 11 + 10 * 9 + 8 * 7
    assert len(shown.within) + len(shown.between) == 30 * 29
    assert shown.within.mean() > shown.between.mean()


def test_missing_entries_and_given_axes(data):
    S, y = data
    S[3, 7] = np.nan
    _, ax = pyplot.subplots()
    assert MatrixDisplay.from_proximity(S, y, ax=ax).ax_ is ax
    assert np.isfinite(HistogramDisplay.from_proximity(S, y).within).all()


def test_without_matplotlib_the_remedy_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match=r"pip install 'similis\[report\]'"):
        SpectrumDisplay.from_proximity(data[0])


# Renderers


def full_figure():
    """A figure with every kind of mark but the large image."""
    from similis._drawing import figure as f

    marks = [
        f.Bars([1], [2], [0], [3], tips=["bar"]),
        f.Lines([1, 4], [1, 4], "dash", color="c1"),
        f.Points([1, 2, 3], [1, 2, 3], [0, 1, 2], color=["c0", "c1", "c2"], tips=["<a>", "b", "c"], main=True),
        f.Points([2], [2], size=8.0, hollow=True),
        f.Segments([1], [1], [1], [2], 3.0, tips=["segment"], method="knn"),
        f.Rule(2, "y"),
        f.Texts([1], [1], ["<word>"], "end", 4, tips=["text"]),
        f.Labels([1, 2], [1, 1], ["one", "two"], [True, False], ([1, 2, 3], [1, 2, 3])),
    ]
    keys = [f.Key("points", "c0"), f.Key("line", "c1", None, "dash")]
    return f.Figure("Everything.", f.Axis(0.5, 5, "x", "log"), f.Axis(0, 5, "y"), marks, kind="all", legend=keys)


def test_both_renderers_draw_every_mark():
    from reports import Outline

    from similis._drawing.axes import draw
    from similis._drawing.svg import render_svg

    page = render_svg([full_figure()])
    assert Outline(page).marks == {"all": 6}
    for text in ("&lt;a&gt;", "&lt;word&gt;", "one", "two", 'data-m="knn"', "points"):
        assert text in page
    _, ax = pyplot.subplots()
    draw(ax, [full_figure()], {"s": 9})
    points, ring = ax.collections[:3], ax.collections[3]
    assert [len(c.get_offsets()) for c in points] == [1, 1, 1]
    assert {c.get_sizes()[0] for c in points} == {9}  # options of the user go to the main mark
    assert ring.get_sizes()[0] != 9
    assert len(ax.patches) == 1
    assert len(ax.lines) == 3
    assert [t.get_text() for t in ax.texts] == ["<word>", "one", "two"]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["points", "line"]
    assert ax.get_xscale() == "log"


def test_ticks_are_the_same_in_both():
    from similis._drawing.axes import draw
    from similis._drawing.svg import render_svg

    page = render_svg([full_figure()])
    _, ax = pyplot.subplots()
    draw(ax, [full_figure()], {})
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        assert f">{label.get_text()}</text>" in page


def test_labels_keep_clear_of_each_other():
    from similis._drawing.figure import Axis, Figure, Labels, place_labels

    x, y = [1.0, 1.0, 9.9], [5.0, 5.1, 5.0]
    mark = Labels(x, y, ["first", "second", "at the end"], [False] * 3, (x, y))
    places = place_labels(Figure("", Axis(0, 10), Axis(0, 10), [mark]), mark)
    assert places[0] != places[1]
    assert places[2][0] < 0  # to the left: there is no room on the right


def test_one_module_draws_with_matplotlib():
    """A display describes its picture; only the renderer and the message about a missing package import matplotlib."""
    import re
    from pathlib import Path

    import similis

    root = Path(similis.__file__).parent
    users = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"^\s*(from|import) matplotlib", path.read_text(), flags=re.MULTILINE)
    }
    assert users <= {"_drawing/axes.py", "_drawing/display.py"}
