"""Pictures of a proximity matrix: heat map, spectrum before and after repair, embedding, histogram of its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from similis._drawing import figure as fig
from similis._drawing.display import Display
from similis._drawing.svg import color_levels
from similis._utils.arrays import Array, Indices
from similis._utils.linalg import eigen_symmetric, symmetric_part
from similis.base import Kind, check_labels, check_proximity
from similis.proximity._diagnosis import class_columns, plain_names, to_dissimilarities
from similis.proximity._embedding import PseudoEuclidean
from similis.proximity._smacof import SMACOF

_MAX_BARS = 160  # eigenvalues drawn; of more, the largest and the smallest
_REPAIRS: dict[str, tuple[str, fig.Dash]] = {"clip": ("c6", ""), "flip": ("c2", "dash"), "shift": ("c3", "dotted")}


def seriation(D: Array) -> Indices:
    """Order objects so that similar ones are adjacent: leaves of average linkage, flipped for smooth neighbors.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Dissimilarities; NaN counts as the largest.
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
    return np.asarray(hierarchy.leaves_list(tree), dtype=np.intp)


@dataclass(kw_only=True, eq=False, repr=False)
class MatrixDisplay(Display):
    """Heat map of a matrix, objects ordered by class and, within a class, by seriation; or by seriation alone.

    Parameters
    ----------
    values, order : ndarray of shape (n, n), (n,)
        The matrix in the order shown, and the object at each position.
    bounds : ndarray of shape (G + 1,)
        First position of each class, and n.
    class_names : list of str
        Names of the classes; empty without labels.
    kind : {"similarity", "dissimilarity"}
        Kind of the entries.
    codes : ndarray of shape (n,), optional
        Class of each object shown; by default read from `bounds`.
    limits : tuple of float, optional
        Values at which the colors begin and end; by default the 1st and the 99th percentile.

    Examples
    --------
    >>> from similis.proximity import MatrixDisplay
    >>> S = [[1.0, 0.1, 0.8], [0.1, 1.0, 0.2], [0.8, 0.2, 1.0]]
    >>> MatrixDisplay.from_proximity(S, ["b", "a", "b"], plot=False).order
    array([1, 0, 2])
    """

    _size = (5.4, 4.6)
    values: Array
    order: Indices
    bounds: Indices
    class_names: list[str]
    kind: Kind
    codes: Any = None
    limits: Any = None

    def __post_init__(self) -> None:
        if self.codes is None:
            self.codes = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        if self.limits is None:
            self.limits = _color_limits(self.values)

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
            Kind of the entries.
        order : {"class", "seriation"}, default="class"
            By class and, within a class, by seriation; or by seriation alone.
        plot : bool, default=True
            Draw with matplotlib at once.
        ax, **options
            Passed to :meth:`plot`.
        """
        A = check_proximity(S, kind=kind, allow_missing=True)
        D = to_dissimilarities(A, kind)
        codes, names = _class_codes(y, len(A))
        group_codes = codes if order == "class" else np.zeros_like(codes)
        groups = [np.flatnonzero(group_codes == g) for g in range(group_codes.max() + 1)]
        found = np.concatenate([group[seriation(D[np.ix_(group, group)])] for group in groups])
        bounds = np.cumsum([0, *map(len, groups)])
        ordered = {"values": A[np.ix_(found, found)], "order": found, "bounds": bounds, "codes": codes[found]}
        display = cls(class_names=names, kind=kind, **ordered)
        return display.plot(ax=ax, **options) if plot else display

    def levels(self) -> NDArray[np.uint8]:
        """Quantize the values to 255 levels between the limits; 0 is a missing entry."""
        return color_levels(self.values, *self.limits)

    def describe(self, names: Sequence[str] | None = None) -> fig.Figure:
        """Describe the heat map; dark entries are similar. `names` are those of the objects, in the order shown."""
        n = len(self.order)
        order = "class" if len(self.bounds) > 2 else "seriation"
        heat = fig.HeatMap(
            self.values,
            self.limits[0],
            self.limits[1],
            title=self.kind,
            names=[f"object {i + 1}" for i in self.order] if names is None else names,
            dark="high" if self.kind == "similarity" else "low",
            ends=("", " (similar)") if self.kind == "similarity" else (" (similar)", ""),
            main=True,
        )
        return fig.Figure(
            f"Heat map of {n} by {n} entries, objects ordered by {order}. Use the arrow keys to move in it.",
            fig.Axis(-0.5, n - 0.5),
            fig.Axis(-0.5, n - 0.5, reverse=True),
            [heat, fig.Groups(self.codes, self.class_names)] if self.class_names else [heat],
            kind="heatmap",
            height=None,
            legend=_class_keys(self.class_names),
            frame=False,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class SpectrumDisplay(Display):
    """Eigenvalues of a similarity matrix, before and after a repair.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
        Descending.
    repaired : dict of str to ndarray of shape (n,)
        Eigenvalues after each repair, in the same order of eigenvectors.
    """

    eigenvalues: Array
    repaired: dict[str, Array]

    @classmethod
    def from_eigenvalues(cls, eigenvalues: Array) -> SpectrumDisplay:
        """Apply the repairs clip, flip and shift to known eigenvalues, in descending order."""
        l = eigenvalues  # noqa: E741
        repaired = {"clip": np.maximum(l, 0), "flip": np.abs(l), "shift": l - min(l.min(initial=0.0), 0)}
        return cls(eigenvalues=l, repaired=repaired)

    @classmethod
    def from_proximity(cls, S: ArrayLike, *, plot: bool = True, ax: Any = None, **options: Any) -> SpectrumDisplay:
        """Decompose the symmetric part of a similarity matrix and draw it, see :meth:`MatrixDisplay.from_proximity`."""
        A = symmetric_part(check_proximity(S))
        display = cls.from_eigenvalues(eigen_symmetric(A).values[::-1].copy())
        return display.plot(ax=ax, **options) if plot else display

    def describe(self, repairs: Sequence[str] | None = None) -> fig.Figure:
        """Describe the eigenvalues as bars, negative ones in another color, and all or some repairs as lines."""
        values, n = self.eigenvalues, len(self.eigenvalues)
        shown = {name: v for name, v in self.repaired.items() if repairs is None or name in repairs}
        keep = np.arange(n) if n <= _MAX_BARS else np.r_[: _MAX_BARS // 2, n - _MAX_BARS // 2 : n]
        size = float(np.abs(values).max(initial=0.0)) or 1.0
        high = max(float(v.max(initial=0.0)) for v in [values, *shown.values()]) or 1.0
        low = float(values.min(initial=0.0))
        negative = values < -1e-9 * size
        at = np.arange(1, len(keep) + 1)
        half = 0.35 if len(keep) > 8 else 0.2
        tips = [f"eigenvalue {rank + 1} of {n}: {fig.format_number(float(values[rank]))}" for rank in keep]
        for name, v in shown.items():
            tips = [f"{tip}\n{name}: {fig.format_number(float(x))}" for tip, x in zip(tips, v[keep])]
        colors = ["bad" if negative[rank] else "accent" for rank in keep]
        bars = fig.Bars(at - half, at + half, np.zeros(len(keep)), values[keep], color=colors, tips=tips, main=True)
        styles = {name: _REPAIRS.get(name, ("muted", "")) for name in shown}
        lines = [fig.Lines(at, v[keep], styles[name][1], color=styles[name][0]) for name, v in shown.items()]
        half_shown = f"{_MAX_BARS // 2} largest and {_MAX_BARS // 2} smallest eigenvalues"
        ends = [(1.0, "1"), (float(len(keep)), str(n))] if n > 1 else [(1.0, "1")]
        title, linear = "eigenvalue (symmetric logarithmic scale)", max(1e-3 * size, 1e-12)
        return fig.Figure(
            f"Spectrum: {n} eigenvalues, {int(negative.sum())} of them negative, and their values after repair.",
            fig.Axis(0, len(keep) + 1, "eigenvalue, by size" if n <= _MAX_BARS else half_shown, ticks=ends, grid=False),
            fig.Axis(1.15 * low, 1.15 * high, title, "symlog", linear, n_ticks=6),
            [fig.Rule(0, "y"), bars, *lines],
            kind="spectrum",
            height=400,
            legend=[fig.Key(name, color, None, dash) for name, (color, dash) in styles.items()],
            legend_title="after",
        )

    def plot(self, ax: Any = None, *, repairs: tuple[str, ...] = ("clip", "flip", "shift"), **options: Any) -> Self:
        """Draw the eigenvalues and all or some `repairs`, see :meth:`MatrixDisplay.plot`; options of ``Axes.bar``."""
        return self._plot(self.describe(repairs), ax, options)


class _PairsDisplay(Display):
    """Picture of all pairs of objects, whose classes may be known."""

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
    ) -> Self:
        """Compute the numbers of the picture and draw it, see :meth:`MatrixDisplay.from_proximity`."""
        display = cls._from_checked(check_proximity(S, kind=kind, allow_missing=True), y, kind)
        return display.plot(ax=ax, **options) if plot else display

    @classmethod
    def _from_checked(cls, A: Array, y: Any, kind: Kind) -> Self:
        raise NotImplementedError


@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddingDisplay(_PairsDisplay):
    """Objects on the two largest axes of the pseudo-Euclidean embedding; where pairs are missing, placed by SMACOF.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Coordinates; similarities enter as the largest one minus s.
    signature, shares : ndarray of shape (2,)
        -1 for an axis that shortens distances; its share in the magnitudes of the eigenvalues, 0 if pairs are missing.
    codes : ndarray of shape (n,)
        Class of each object.
    class_names : list of str
        Names of the classes; empty without labels.
    """

    points: Array
    signature: Array
    shares: Array
    codes: Indices
    class_names: list[str]

    @classmethod
    def _from_checked(cls, A: Array, y: Any, kind: Kind) -> Self:
        D = to_dissimilarities(A, kind)
        if np.isnan(D).any():
            X = SMACOF(max_iter=100, tol=1e-6).fit(D).embedding_
            shares, signature = np.zeros(2), np.ones(2, np.intp)
        else:
            model = PseudoEuclidean()
            X = np.hstack([model.fit_transform((D + D.T) / 2), np.zeros((len(D), 2))])[:, :2]
            total = np.abs(model.eigenvalues_).sum() or 1.0
            shares = np.append(np.abs(model.eigenvalues_) / total, [0.0, 0.0])[:2]
            signature = np.append(model.signature_, [1, 1])[:2]
        codes, names = _class_codes(y, len(A))
        return cls(points=X, signature=signature, shares=shares, codes=codes, class_names=names)

    def describe(self, tips: Sequence[str] | None = None, ringed: Sequence[int] | None = None) -> fig.Figure:
        """Describe the points with `tips`, the texts shown for the objects; some objects are `ringed`."""
        X = np.asarray(self.points, dtype=np.float64)
        n, axes = len(X), []
        for k in (0, 1):
            low, high = float(X[:, k].min(initial=0.0)), float(X[:, k].max(initial=0.0))
            reach = 0.04 * (high - low) or 1.0
            negative = ", negative" if self.signature[k] < 0 else ""
            share = f": {self.shares[k]:.0%} of the spectrum{negative}" if self.shares[k] else ""
            axes.append(fig.Axis(low - reach, high + reach, f"axis {k + 1}{share}"))
        points = fig.Points(
            X[:, 0].tolist(),
            X[:, 1].tolist(),
            self.codes.tolist(),
            2.5 if n > 600 else 3.2 if n > 250 else 4.0,
            color=[fig.class_color(g) for g in self.codes.tolist()],
            tips=[f"object {i + 1}" for i in range(n)] if tips is None else tips,
            main=True,
        )
        marks: list[fig.Mark] = [points]
        if ringed is not None and len(ringed):
            rings = X[list(ringed)]
            marks.append(fig.Points(rings[:, 0].tolist(), rings[:, 1].tolist(), size=8.0, hollow=True, color="ink"))
        return fig.Figure(
            f"Embedding of {n} objects in two dimensions, one color and symbol per class.",
            axes[0],
            axes[1],
            marks,
            kind="embedding",
            height=430,
            legend=_class_keys(self.class_names, np.bincount(self.codes, minlength=len(self.class_names)).tolist()),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class HistogramDisplay(_PairsDisplay):
    """Distribution of the proximities within classes and between classes.

    Parameters
    ----------
    within, between : ndarray
        The known off-diagonal entries.
    kind : {"similarity", "dissimilarity"}
        Kind of the entries.
    """

    within: Array
    between: Array
    kind: Kind

    @classmethod
    def _from_checked(cls, A: Array, y: Any, kind: Kind) -> Self:
        _, codes = check_labels(y, len(A), who="HistogramDisplay", min_classes=1)
        same = codes[:, None] == codes[None, :]
        off = ~np.eye(len(A), dtype=bool) & ~np.isnan(A)
        return cls(within=A[same & off], between=A[~same & off], kind=kind)

    def describe(self, bins: Any = None) -> fig.Figure:
        """Describe both distributions over the same `bins`: their number or edges, 10 to 40 by default."""
        everything = np.concatenate([self.within, self.between])
        if bins is None:
            bins = min(40, max(10, len(np.unique(everything))))
        edges = np.histogram_bin_edges(everything, bins=bins)
        marks: list[fig.Mark] = []
        top = 0.0
        parts = {"between classes": (self.between, "c1"), "within classes": (self.within, "c0")}
        for name, (values, color) in parts.items():
            share = np.histogram(values, edges)[0] / max(1, values.size)
            full = np.flatnonzero(share)
            left, right, share = edges[:-1][full], edges[1:][full], share[full]
            top = max(top, float(share.max(initial=0.0)))
            ranges = (f"{fig.format_number(a)} to {fig.format_number(b)}" for a, b in zip(left, right))
            tips = [f"{name}\n{ends}: {s:.1%} of the pairs" for ends, s in zip(ranges, share)]
            zeros = np.zeros(len(full))
            marks.append(fig.Bars(left, right, zeros, share, color=color, opacity=0.5, tips=tips, main=True))
        return fig.Figure(
            "Distribution of the proximities within classes and between classes.",
            fig.Axis(float(edges[0]), float(edges[-1]), self.kind),
            fig.Axis(0, 1.08 * top or 1.0, "share of the pairs", format=lambda v: f"{100 * v:.3g} %"),
            marks,
            kind="histogram",
            height=240,
            legend=[fig.Key("within classes", "c0", 1), fig.Key("between classes", "c1", 1)],
        )

    def plot(self, ax: Any = None, *, bins: Any = None, **options: Any) -> Self:
        """Draw both distributions, see :meth:`describe` and :meth:`MatrixDisplay.plot`; options of ``Axes.bar``."""
        return self._plot(self.describe(bins), ax, options)


@dataclass(kw_only=True, eq=False, repr=False)
class NormalityDisplay(_PairsDisplay):
    """Q-Q plot of the columns of each class against the normal distribution.

    A column, the known dissimilarities of a class to one object (or the largest similarity minus s), is standardized.
    Normal columns are on the diagonal, as those of sums of many variables nearly are ([pekalska2000] sec. 2.1).

    Parameters
    ----------
    normal, observed : ndarray of shape (q,), (G, q)
        Quantiles of the normal distribution and of each class; NaN for a class of fewer than three objects.
    class_names : list of str
        Names of the classes.
    """

    normal: Array
    observed: Array
    class_names: list[str]

    @classmethod
    def _from_checked(cls, A: Array, y: Any, kind: Kind) -> Self:
        classes, codes = check_labels(y, len(A), who="NormalityDisplay", min_classes=1)
        D = to_dissimilarities(A, kind)
        share = np.linspace(0.01, 0.99, 41)
        observed = np.full((len(classes), len(share)), np.nan)
        for g in range(len(classes)):
            B = class_columns(D, np.flatnonzero(codes == g))
            B = B[:, np.isfinite(B).sum(axis=0) > 2]
            if B.size:
                width = np.nanstd(B, axis=0)
                z = ((B - np.nanmean(B, axis=0)) / np.where(width > 0, width, np.inf)).ravel()
                observed[g] = np.quantile(z[np.isfinite(z)], share)
        return cls(normal=ndtri(share), observed=observed, class_names=plain_names(classes))

    def describe(self) -> fig.Figure:
        """Describe the quantiles, one line per class, and the diagonal."""
        marks: list[fig.Mark] = [fig.Lines([-2.4, 2.4], [-2.4, 2.4], color="ink", dash="dotted", width=1.0)]
        known = [g for g in range(len(self.observed)) if np.isfinite(self.observed[g]).all()]
        for g in known:
            color, tips = fig.class_color(g), [f"class {self.class_names[g]}"]
            marks.append(fig.Lines(self.normal, self.observed[g], color=color, tips=tips, main=True))
        reach = max([2.4, *np.abs(self.observed[known]).ravel().tolist()])
        return fig.Figure(
            "Quantiles of the standardized columns of each class against those of the normal distribution.",
            fig.Axis(-2.4, 2.4, "normal quantile"),
            fig.Axis(-1.05 * reach, 1.05 * reach, "observed quantile"),
            marks,
            kind="normality",
            height=300,
            legend=[fig.Key(self.class_names[g], fig.class_color(g), 1) for g in known],
        )


def _color_limits(A: Array) -> tuple[float, float]:
    """Values at which colors begin and end: the 1st and 99th percentile of the entries off the diagonal."""
    finite = np.isfinite(A)
    known = A[~np.eye(len(A), dtype=bool) & finite]
    known = known if known.size else A[finite]
    if not known.size:
        return 0.0, 1.0
    low, high = (float(v) for v in np.quantile(known, [0.01, 0.99]))
    if not high > low:
        low, high = float(known.min()), float(known.max())
    if not high > low:
        return low - 0.5, low + 0.5
    low, high = (0.0 if abs(v) < 1e-9 * (high - low) else v for v in (low, high))
    return low, high


def _class_codes(y: Any, n: int) -> tuple[Indices, list[str]]:
    """Validate labels; return class codes and names, zeros and no names without labels."""
    if y is None:
        return np.zeros(n, np.intp), []
    classes, codes = check_labels(y, n, min_classes=1)
    return codes, plain_names(classes)


def _class_keys(names: Sequence[str], counts: Sequence[int] | None = None) -> list[fig.Key]:
    texts = names if counts is None else [f"{name} ({count})" for name, count in zip(names, counts)]
    return [fig.Key(text, fig.class_color(g), g) for g, text in enumerate(texts)]
