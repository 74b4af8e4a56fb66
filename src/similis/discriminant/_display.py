"""Picture of the fitted exponentials of similarity discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similis._drawing.display import Display
from similis._drawing.figure import Axis, Figure, Key, Lines, Mark, Points, Rule, class_color, format_number
from similis._utils.arrays import Array
from similis.discriminant._base import exponential_terms
from similis.exceptions import ProximityError
from similis.solvers import Omega

_MOST_VALUES = 401


@dataclass(kw_only=True, eq=False, repr=False)
class SDADisplay(Display):
    """Fitted exponentials of a similarity discriminant analysis, one panel per statistic and one curve per class.

    Create it with :meth:`from_estimator`; :meth:`plot` sets ``figure_`` and ``axes_``.

    Parameters
    ----------
    values : list of ndarray
        Values of each statistic at which its models were evaluated: Omega, or points that cover it.
    probabilities : list of ndarray of shape (G, len(values))
        gamma_gm exp(lambda_gm v) of each class; NaN for a density that is a point mass.
    exponents : ndarray of shape (G, M)
        lambda_gm.
    ends, continuous : list of tuple (low, high), list of bool
        Ends of each Omega, and True where it is an interval.
    class_names, statistic_names : list of str
        Names of the classes and of the statistics.

    Examples
    --------
    >>> from similis import SDA
    >>> from similis.discriminant import SDADisplay
    >>> model = SDA().fit([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]], ["a", "a", "b", "b"])
    >>> display = SDADisplay.from_estimator(model, plot=False)
    >>> display.probabilities[0].sum(axis=1).round(6)
    array([1., 1.])
    """

    _size = (4.0, 3.0)

    values: list[Array]
    probabilities: list[Array]
    exponents: Array
    ends: list[tuple[float, float]]
    continuous: list[bool]
    class_names: list[str]
    statistic_names: list[str]

    @classmethod
    def from_estimator(
        cls, model: Any, *, statistics: Any = None, plot: bool = True, axes: Any = None, **line_options: Any
    ) -> SDADisplay:
        """Read the models of a fitted SDA, NearestNeighborSDA or MixtureSDA, and by default draw them with matplotlib.

        `statistics` are the columns of ``exponents_`` to show, by default the first twelve; for a mixture each centroid
        is a statistic and its curves are the weighted components. The other options are those of :meth:`plot`.
        """
        check_is_fitted(model)
        if not hasattr(model, "_exponentials"):
            raise ProximityError(
                f"SDADisplay shows SDA, NearestNeighborSDA and MixtureSDA, whose models do not depend on the object. "
                f"Got {type(model).__name__}."
            )
        omegas, rates, log_z, log_weights, names = model._exponentials()
        shown = np.arange(len(names))[:12] if statistics is None else np.atleast_1d(statistics)
        values, probabilities = [], []
        for m in shown:
            values.append(_points(omegas[m], rates[:, m]))
            terms = exponential_terms(omegas[m], values[-1], rates[:, m, None], log_z[:, m, None])
            p = np.exp(terms.plus(log_weights[:, m, None]).log())
            probabilities.append(np.where(np.isinf(p), np.nan, p))
        display = cls(
            values=values,
            probabilities=probabilities,
            exponents=np.stack([rates[:, m] / omegas[m].width for m in shown], axis=1),
            ends=[(omegas[m].low, omegas[m].high) for m in shown],
            continuous=[omegas[m].continuous for m in shown],
            class_names=[str(label) for label in model.classes_],
            statistic_names=[names[m] for m in shown],
        )
        return display.plot(axes=axes, **line_options) if plot else display

    def describe(self) -> list[Figure]:
        """Describe one panel per statistic."""
        return [self._panel(m) for m in range(len(self.values))]

    def _panel(self, m: int) -> Figure:
        values, continuous = self.values[m], self.continuous[m]
        keys: list[Key] = []
        marks: list[Mark] = []
        for g, name in enumerate(self.class_names):
            rate, p = float(self.exponents[g, m]), self.probabilities[m][g]
            color, known = class_color(g), np.isfinite(p)
            keys.append(Key(f"{name}: λ = {rate:.3g}", color, None))
            if continuous and np.isinf(rate):  # a point mass at one end
                marks.append(Rule(self.ends[m][int(rate > 0)], "x", "dotted", color=color))
            marks.append(Lines(values[known], p[known], color=color, main=True))
            if not continuous:
                tips = [f"{name}\n{format_number(v)}: {q:.3g}" for v, q in zip(values[known], p[known])]
                size = 3.0 if len(values) <= 40 else 1.0
                marks.append(Points(values[known], p[known], size=size, color=color, tips=tips))
        high = float(np.nanmax(self.probabilities[m], initial=0.0)) or 1.0
        reach = 0.03 * float(values[-1] - values[0]) or 0.5
        what = "density" if continuous else "probability"
        title = f"Fitted {what} of {self.statistic_names[m]} in {len(keys)} classes."
        x = Axis(float(values[0]) - reach, float(values[-1]) + reach, self.statistic_names[m])
        y = Axis(0, 1.05 * high, what)
        return Figure(title, x, y, marks, kind="exponentials", height=220, legend=keys)

    def plot(self, axes: Any = None, **line_options: Any) -> SDADisplay:  # type: ignore[override]
        """Draw the curves with matplotlib on `axes`, one per statistic, or a new figure; return the display.

        `line_options` are passed to ``Axes.plot``.
        """
        self.axes_ = self._plot_panels(self.describe(), axes, line_options)
        return self


def _points(omega: Omega, rates: Array) -> Array:
    """Values at which to evaluate: Omega if it is a small set, else points that cover it or most of its mass."""
    if omega.values is not None:
        step = -(-len(omega.values) // _MOST_VALUES)
        return np.unique(np.append(omega.values[::step], omega.values[-1]))
    low, high = omega.low, omega.high
    if np.isinf(high - low):
        slowest = np.abs(rates[np.isfinite(rates)]).min(initial=np.inf)
        reach = omega.width * (5.0 / slowest if np.isfinite(slowest) else 1.0)
        low, high = (low, low + reach) if np.isfinite(low) else (high - reach, high)
    return np.linspace(low, high, _MOST_VALUES)
