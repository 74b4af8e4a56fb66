"""A picture of the fitted exponentials: what each class expects of each statistic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis.discriminant._base import exponential_terms
from similis.exceptions import ProximityError
from similis.solvers import Omega

__all__ = ["SDADisplay"]

_MOST_VALUES = 401


class SDADisplay:
    """Fitted exponentials of a similarity discriminant analysis, one panel per statistic and one curve per class.

    Make it with :meth:`from_estimator`; the numbers are there without a picture.

    Parameters
    ----------
    values : list of ndarray
        Values of each statistic at which its models were evaluated: Omega, or points that cover it.
    probabilities : list of ndarray of shape (G, len(values))
        gamma_gm exp(lambda_gm v) of each class; NaN for a density that is a point mass.
    exponents : ndarray of shape (G, M)
        lambda_gm.
    ends : list of tuple (low, high)
        Ends of each Omega.
    continuous : list of bool
        Whether Omega is an interval.
    class_names, statistic_names : list of str
        What to write.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        One per statistic shown.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import SDA
    >>> from similis.discriminant import SDADisplay
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> display = SDADisplay.from_estimator(SDA().fit(S, ["a", "a", "b", "b"]), plot=False)
    >>> display.probabilities[0].sum(axis=1).round(6)
    array([1., 1.])
    """

    def __init__(
        self,
        *,
        values: list[NDArray[Any]],
        probabilities: list[NDArray[Any]],
        exponents: NDArray[Any],
        ends: list[tuple[float, float]],
        continuous: list[bool],
        class_names: list[str],
        statistic_names: list[str],
    ) -> None:
        self.values = values
        self.probabilities = probabilities
        self.exponents = exponents
        self.ends = ends
        self.continuous = continuous
        self.class_names = class_names
        self.statistic_names = statistic_names

    @classmethod
    def from_estimator(
        cls, model: Any, *, statistics: Any = None, plot: bool = True, axes: Any = None, **line_options: Any
    ) -> SDADisplay:
        """Read the models of a fitted estimator.

        Parameters
        ----------
        model : SDA, NearestNeighborSDA or MixtureSDA
            Fitted. For a mixture each centroid is a statistic and its curves are the weighted components.
        statistics : array-like of int, optional
            Columns of ``exponents_`` to show; by default the first twelve.
        plot : bool, default=True
            Whether to draw at once.
        axes, **line_options
            Passed to :meth:`plot`.

        Returns
        -------
        SDADisplay
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
            v = _points(omegas[m], rates[:, m])
            terms = exponential_terms(omegas[m], v, rates[:, m, None], log_z[:, m, None])
            p = np.exp(terms.plus(log_weights[:, m, None]).log())
            values.append(v)
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

    def plot(self, axes: Any = None, **line_options: Any) -> SDADisplay:
        """Draw the curves.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            One per statistic; a new figure by default.
        **line_options
            Passed to ``Axes.plot``.

        Returns
        -------
        SDADisplay
            Itself.
        """
        if axes is None:
            axes = self._new_axes()
        self.axes_ = np.atleast_1d(axes).ravel()[: len(self.values)]
        self.figure_ = self.axes_[0].figure
        for m, ax in enumerate(self.axes_):
            for g, name in enumerate(self.class_names):
                lam = self.exponents[g, m]
                marker = {} if self.continuous[m] or len(self.values[m]) > 40 else {"marker": "o", "markersize": 3}
                options = {"color": f"C{g}", **marker, **line_options}
                (line,) = ax.plot(self.values[m], self.probabilities[m][g], label=f"{name}: λ = {lam:.3g}", **options)
                if self.continuous[m] and np.isinf(lam):
                    ax.axvline(self.ends[m][int(lam > 0)], color=line.get_color(), linestyle=":")
            ax.set_xlabel(self.statistic_names[m])
            ax.set_ylabel("density" if self.continuous[m] else "probability")
            ax.legend(fontsize="small")
        return self

    def _new_axes(self) -> Any:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ProximityError("A picture needs matplotlib: install similis[report].") from None
        n = len(self.values)
        columns = min(n, 3)
        rows = -(-n // columns)
        figure, axes = pyplot.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
        for ax in axes.ravel()[n:]:
            ax.remove()
        figure.set_layout_engine("constrained")
        return axes


def _points(omega: Omega, rates: NDArray[Any]) -> NDArray[Any]:
    """Omega itself if it is a small set, else points that cover it (of a half-line, where the mass is)."""
    if omega.values is not None:
        step = -(-len(omega.values) // _MOST_VALUES)
        return np.unique(np.append(omega.values[::step], omega.values[-1]))
    if np.isfinite(omega.high - omega.low):
        return np.linspace(omega.low, omega.high, _MOST_VALUES)
    slowest = np.abs(rates[np.isfinite(rates)]).min(initial=np.inf)
    reach = omega.width * (5.0 / slowest if np.isfinite(slowest) else 1.0)
    return (
        np.linspace(omega.low, omega.low + reach, _MOST_VALUES)
        if np.isfinite(omega.low)
        else np.linspace(omega.high - reach, omega.high, _MOST_VALUES)
    )
