"""Pictures of the matrix itself: a heat map in a telling order, the spectrum before and after repair.

In the manner of scikit-learn's displays: the numbers first, the drawing after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.display import COLORS, INK, Display
from similis._utils.linalg import eigen_symmetric, symmetric_part
from similis._utils.markup import Markup
from similis._utils.validation import Kind, check_labels, check_proximity, show
from similis.proximity._diagnosis_facts import to_dissimilarities
from similis.proximity._draw import color_levels, color_limits, draw_matrix, draw_spectrum

__all__ = ["MatrixDisplay", "SpectrumDisplay", "seriation"]


def seriation(D: NDArray[Any]) -> NDArray[np.intp]:
    """Order objects so that near ones stand together: leaves of average linkage, turned for smooth neighbours.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Dissimilarities; NaN counts as the largest.

    Returns
    -------
    ndarray of shape (n,)
        The order.
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    D = check_proximity(D, allow_missing=True)
    if len(D) < 3:
        return np.arange(len(D))
    D = np.where(np.isnan(D), np.nanmax(D, initial=0.0), D)
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    condensed = squareform(np.maximum(D, 0.0), checks=False)
    tree = hierarchy.linkage(condensed, "average", optimal_ordering=len(D) <= 400)
    return hierarchy.leaves_list(tree).astype(np.intp)


class MatrixDisplay(Display):
    """The matrix as a heat map, objects ordered by class and, within a class, by seriation; or by seriation alone.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        The matrix in the order shown.
    order : ndarray of shape (n,)
        Which object stands where.
    bounds : ndarray of shape (G + 1,)
        Where each class begins, and n.
    class_names : list of str
        Names of the classes; empty without labels.
    kind : {"similarity", "dissimilarity"}
        What the numbers are.
    codes : ndarray of shape (n,), optional
        Class of each object shown, where `bounds` does not tell.
    limits : tuple of float, optional
        Values at which the colours of :meth:`svg` begin and end; by default those of the outermost hundredths.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import MatrixDisplay
    >>> S = np.array([[1.0, 0.1, 0.8], [0.1, 1.0, 0.2], [0.8, 0.2, 1.0]])
    >>> MatrixDisplay.from_proximity(S, ["b", "a", "b"], plot=False).order
    array([1, 0, 2])
    """

    _size = (5.4, 4.6)

    def __init__(
        self,
        *,
        values: NDArray[Any],
        order: NDArray[np.intp],
        bounds: NDArray[np.intp],
        class_names: list[str],
        kind: Kind,
        codes: NDArray[np.intp] | None = None,
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.values = values
        self.order = order
        self.bounds = bounds
        self.class_names = class_names
        self.kind = kind
        self.codes = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)) if codes is None else codes
        self.limits = color_limits(values) if limits is None else limits

    @classmethod
    def from_proximity(
        cls,
        S: ArrayLike,
        y: Any = None,
        *,
        kind: Kind = "similarity",
        order: Literal["class", "seriation"] = "class",
        plot: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> MatrixDisplay:
        """Order a matrix and draw it.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Proximities; NaN is left blank.
        y : array-like of shape (n,), optional
            Class labels.
        kind : {"similarity", "dissimilarity"}, default="similarity"
            What the numbers are.
        order : {"class", "seriation"}, default="class"
            By class and, within a class, by nearness; or by nearness alone, which shows whether classes are found
            without being told.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        MatrixDisplay
        """
        A = check_proximity(S, kind=kind, allow_missing=True)
        D = to_dissimilarities(A, kind)
        classes, codes = (
            (np.array([""]), np.zeros(len(A), np.intp)) if y is None else check_labels(y, len(A), min_classes=1)
        )
        groups = [np.flatnonzero(codes == g) for g in range(len(classes))] if order == "class" else [np.arange(len(A))]
        found = np.concatenate([group[seriation(D[np.ix_(group, group)])] for group in groups])
        display = cls(
            values=A[np.ix_(found, found)],
            order=found,
            bounds=np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.intp),
            class_names=[] if y is None else [show(c).strip("'") for c in classes],
            kind=kind,
            codes=codes[found],
        )
        return display.plot(ax=ax, **options) if plot else display

    def levels(self) -> NDArray[np.uint8]:
        """The values in 255 steps between the limits; 0 is a missing one.

        Returns
        -------
        ndarray of shape (n, n)
        """
        return color_levels(self.values, *self.limits)

    def svg(self, names: Sequence[str] | None = None) -> Markup:
        """The heat map as HTML, with a strip of class colours along two sides.

        Parameters
        ----------
        names : sequence of str, optional
            Of the objects, in the order shown.

        Returns
        -------
        str
        """
        return draw_matrix(self, names)

    def plot(self, ax: Any = None, **options: Any) -> MatrixDisplay:
        """Draw the heat map; dark means alike.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.imshow``.

        Returns
        -------
        MatrixDisplay
            Itself.
        """
        ax = self._axes(ax)
        style = {"cmap": "bone_r" if self.kind == "similarity" else "bone", "interpolation": "nearest"}
        image = ax.imshow(self.values, **{**style, **options})
        for edge in self.bounds[1:-1]:
            ax.axhline(edge - 0.5, color=COLORS[1], linewidth=0.8)
            ax.axvline(edge - 0.5, color=COLORS[1], linewidth=0.8)
        if len(self.class_names) == len(self.bounds) - 1 <= 30:
            middle = (self.bounds[1:] + self.bounds[:-1] - 1) / 2
            ax.set_xticks(middle, self.class_names, rotation=45 if len(self.class_names) > 4 else 0)
            ax.set_yticks(middle, self.class_names)
        else:
            ax.set_xticks([])
            ax.set_yticks([])
        ax.tick_params(length=0)
        self.figure_.colorbar(image, ax=ax, label=self.kind, shrink=0.85)
        return self


class SpectrumDisplay(Display):
    """Eigenvalues of a similarity matrix, before and after a repair.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
        Descending.
    repaired : dict of str to ndarray of shape (n,)
        Eigenvalues after each repair, in the same order of eigenvectors.

    Examples
    --------
    >>> from similis.proximity import SpectrumDisplay
    >>> SpectrumDisplay.from_proximity([[0.0, 1.0], [1.0, 0.0]], plot=False).repaired["flip"]
    array([1., 1.])
    """

    def __init__(self, *, eigenvalues: NDArray[Any], repaired: dict[str, NDArray[Any]]) -> None:
        self.eigenvalues = eigenvalues
        self.repaired = repaired

    @classmethod
    def from_proximity(cls, S: ArrayLike, *, plot: bool = True, ax: Any = None, **options: Any) -> SpectrumDisplay:
        """Decompose the symmetric part of a similarity matrix and draw its spectrum.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Similarities.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        SpectrumDisplay
        """
        A = symmetric_part(check_proximity(S))
        l = eigen_symmetric(A).values[::-1].copy()  # noqa: E741
        repaired = {"clip": np.maximum(l, 0), "flip": np.abs(l), "shift": l - min(l.min(initial=0.0), 0)}
        display = cls(eigenvalues=l, repaired=repaired)
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """Eigenvalues and repairs as HTML with inline SVG.

        Returns
        -------
        str
        """
        return draw_spectrum(self)

    def plot(
        self, ax: Any = None, *, repairs: tuple[str, ...] = ("clip", "flip", "shift"), **options: Any
    ) -> SpectrumDisplay:
        """Draw the eigenvalues, negative ones in another colour, and the repairs as lines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        repairs : tuple of str
            Which repairs to show.
        **options
            Passed to ``Axes.vlines`` of the eigenvalues.

        Returns
        -------
        SpectrumDisplay
            Itself.
        """
        ax = self._axes(ax)
        at = np.arange(1, len(self.eigenvalues) + 1)
        colors = np.where(self.eigenvalues < 0, COLORS[1], COLORS[0])
        ax.vlines(at, 0, self.eigenvalues, colors=colors, **{"linewidth": max(0.6, min(3.0, 250 / len(at))), **options})
        for name, dash, color in zip(repairs, ("-", "--", ":"), (INK, COLORS[2], COLORS[3])):
            ax.plot(at, self.repaired[name], dash, color=color, linewidth=1.4, label=name)
        ax.axhline(0, color=INK, linewidth=0.8)
        top = np.abs(self.eigenvalues).max(initial=0.0)
        ax.set_yscale("symlog", linthresh=max(1e-3 * top, 1e-12))
        ax.set_xlabel("eigenvalue, by size")
        ax.set_ylabel("value (symmetric logarithmic scale)")
        self._frame(ax)
        ax.legend(frameon=False, title="after")
        return self
