"""Comparison of several studies: average ranks of the methods over data sets or measures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from similis.study._displays import RanksDisplay
from similis.study._metrics import Ranks, average_ranks

if TYPE_CHECKING:
    from similis.study._result import StudyResult


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several studies side by side.

    Attributes
    ----------
    results : dict of str to StudyResult
        By name of the data set or measure.
    ranks : Ranks
        Of the methods that finished in every study.
    """

    results: dict[str, StudyResult]
    ranks: Ranks

    def to_html(self, path: str | os.PathLike[str], *, links: Mapping[str, str] | None = None) -> None:
        """Write a self-contained page: ranks with their critical difference, errors of all methods in all studies.

        `links` are addresses of the studies' own reports, by name.
        """
        from similis.report import make_comparison, write_page

        write_page(make_comparison(self, links), path)

    def _repr_html_(self) -> str | None:
        return RanksDisplay(ranks=self.ranks)._repr_html_()

    def __str__(self) -> str:
        lines = [f"{mean:6.2f}  {name}" for name, mean in zip(self.ranks.methods, self.ranks.mean)]
        return "\n".join(["average ranks", *lines, "", self.ranks.summary()])


def compare(results: Mapping[str, StudyResult]) -> Comparison:
    """Compare studies of several data sets, or of several measures of one, by average ranks: a :class:`Comparison`.

    Parameters
    ----------
    results : mapping of str to StudyResult
        At least two, by name; see :func:`average_ranks`.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import Study
    >>> from similis.study import compare
    >>> x = np.linspace(0, 1, 20)
    >>> study = Study(["nc", "majority"], n_splits=3, cv=2)
    >>> found = [study.run(np.exp(-abs(x[:, None] - x) / s), x > 0.5) for s in (1, 9)]
    >>> compare({"narrow": found[0], "wide": found[1]}).ranks.methods
    ('nc', 'majority')
    """
    ranks = average_ranks(results)  # validates the results first
    return Comparison(dict(results), ranks)
