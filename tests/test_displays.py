"""Pictures: the right numbers, the right marks, and a sentence where matplotlib is missing."""

import builtins

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


def test_seriation_brings_neighbours_together(data):
    S, y = data
    blind = MatrixDisplay.from_proximity(S, plot=False)
    changes = (y[blind.order][1:] != y[blind.order][:-1]).sum()
    assert changes == 2  # the classes are far apart: found without being told


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
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ValueError, match=r"pip install similis\[report\]"):
        SpectrumDisplay.from_proximity(data[0])
