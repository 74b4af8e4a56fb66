"""Pictures of the objects: an embedding in two dimensions, proximities within and between classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.display import COLORS, Display
from similis._utils.markup import Markup
from similis._utils.validation import Kind, check_labels, check_proximity, show
from similis.proximity._diagnosis_facts import to_dissimilarities
from similis.proximity._draw import draw_embedding, draw_histogram
from similis.proximity._embedding import PseudoEuclidean

__all__ = ["EmbeddingDisplay", "HistogramDisplay"]


class EmbeddingDisplay(Display):
    """The objects on the two largest axes of the pseudo-Euclidean embedding.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Coordinates.
    signature : ndarray of shape (2,)
        -1 for an axis that shortens distances.
    shares : ndarray of shape (2,)
        Share of each axis in the sum of the magnitudes of the eigenvalues.
    codes : ndarray of shape (n,)
        Class of each object.
    class_names : list of str
        Names of the classes; empty without labels.

    Examples
    --------
    >>> from similis.proximity import EmbeddingDisplay
    >>> D = [[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]
    >>> EmbeddingDisplay.from_proximity(D, kind="dissimilarity", plot=False).points.shape
    (3, 2)
    """

    def __init__(
        self,
        *,
        points: NDArray[Any],
        signature: NDArray[Any],
        shares: NDArray[Any],
        codes: NDArray[np.intp],
        class_names: list[str],
    ) -> None:
        self.points = points
        self.signature = signature
        self.shares = shares
        self.codes = codes
        self.class_names = class_names

    @classmethod
    def from_proximity(
        cls,
        S: ArrayLike,
        y: Any = None,
        *,
        kind: Kind = "similarity",
        plot: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> EmbeddingDisplay:
        """Embed and draw.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Proximities without missing entries; similarities enter as the largest one minus s.
        y : array-like of shape (n,), optional
            Class labels.
        kind : {"similarity", "dissimilarity"}, default="similarity"
            What the numbers are.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        EmbeddingDisplay
        """
        A = check_proximity(S, kind=kind)
        D = to_dissimilarities(A, kind)
        model = PseudoEuclidean().fit((D + D.T) / 2)
        X = model.transform((D + D.T) / 2)
        X = np.hstack([X, np.zeros((len(X), 2))])[:, :2]
        total = np.abs(model.eigenvalues_).sum() or 1.0
        shares = np.append(np.abs(model.eigenvalues_) / total, [0.0, 0.0])[:2]
        classes, codes = (
            (np.array([]), np.zeros(len(A), np.intp)) if y is None else check_labels(y, len(A), min_classes=1)
        )
        display = cls(
            points=X,
            signature=np.append(model.signature_, [1, 1])[:2],
            shares=shares,
            codes=codes,
            class_names=[show(c).strip("'") for c in classes],
        )
        return display.plot(ax=ax, **options) if plot else display

    def svg(self, tips: Sequence[str] | None = None, ringed: Sequence[int] | None = None) -> Markup:
        """The points as HTML with inline SVG.

        Parameters
        ----------
        tips : sequence of str, optional
            What to say of each object.
        ringed : sequence of int, optional
            Objects to draw a ring around.

        Returns
        -------
        str
        """
        return draw_embedding(self, tips, ringed)

    def plot(self, ax: Any = None, **options: Any) -> EmbeddingDisplay:
        """Draw the points, one colour and mark a class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.scatter``.

        Returns
        -------
        EmbeddingDisplay
            Itself.
        """
        ax = self._axes(ax)
        marks = "os^Dv<>P"
        for g in range(max(1, len(self.class_names))):
            mine = self.points[self.codes == g]
            style = {"s": 26, "alpha": 0.8, "linewidths": 0.5, "edgecolors": "white"}
            style |= {"color": COLORS[g % len(COLORS)], "marker": marks[g % len(marks)], **options}
            ax.scatter(mine[:, 0], mine[:, 1], label=self.class_names[g] if self.class_names else None, **style)
        for axis, name in enumerate(("x", "y")):
            negative = ", negative" if self.signature[axis] < 0 else ""
            getattr(ax, f"set_{name}label")(f"axis {axis + 1} ({self.shares[axis]:.0%} of the spectrum{negative})")
        self._frame(ax)
        ax.grid(axis="x", color="#e6e6e6", linewidth=0.8)
        if 0 < len(self.class_names) <= 12:
            ax.legend(frameon=False, loc="best")
        return self


class HistogramDisplay(Display):
    """Proximities within classes beside those between them.

    Parameters
    ----------
    within, between : ndarray
        The known off-diagonal entries.
    kind : {"similarity", "dissimilarity"}
        What the numbers are.

    Examples
    --------
    >>> from similis.proximity import HistogramDisplay
    >>> S = [[1.0, 0.8, 0.1], [0.8, 1.0, 0.3], [0.1, 0.3, 1.0]]
    >>> HistogramDisplay.from_proximity(S, [0, 0, 1], plot=False).within
    array([0.8, 0.8])
    """

    def __init__(self, *, within: NDArray[Any], between: NDArray[Any], kind: Kind) -> None:
        self.within = within
        self.between = between
        self.kind = kind

    @classmethod
    def from_proximity(
        cls, S: ArrayLike, y: Any, *, kind: Kind = "similarity", plot: bool = True, ax: Any = None, **options: Any
    ) -> HistogramDisplay:
        """Sort the entries and draw.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Proximities; missing entries are left out.
        y : array-like of shape (n,)
            Class labels.
        kind : {"similarity", "dissimilarity"}, default="similarity"
            What the numbers are.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        HistogramDisplay
        """
        A = check_proximity(S, kind=kind, allow_missing=True)
        _, codes = check_labels(y, len(A), who="HistogramDisplay", min_classes=1)
        same = codes[:, None] == codes[None, :]
        off = ~np.eye(len(A), dtype=bool) & ~np.isnan(A)
        display = cls(within=A[same & off], between=A[~same & off], kind=kind)
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """Both distributions as HTML with inline SVG.

        Returns
        -------
        str
        """
        return draw_histogram(self)

    def plot(self, ax: Any = None, **options: Any) -> HistogramDisplay:
        """Draw both distributions, each of area one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.hist``.

        Returns
        -------
        HistogramDisplay
            Itself.
        """
        ax = self._axes(ax)
        everything = np.concatenate([self.within, self.between])
        edges = np.histogram_bin_edges(everything, bins=min(60, max(10, len(np.unique(everything)))))
        for values, name, color in (
            (self.between, "between classes", COLORS[1]),
            (self.within, "within classes", COLORS[0]),
        ):
            style = {"bins": edges, "density": True, "alpha": 0.55, "color": color, "label": name, **options}
            if values.size:
                ax.hist(values, **style)
        ax.set_xlabel(self.kind)
        ax.set_ylabel("density")
        self._frame(ax)
        ax.legend(frameon=False)
        return self
