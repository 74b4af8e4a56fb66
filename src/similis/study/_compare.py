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
    results, ranks : dict of str to StudyResult, Ranks
        The studies by name, and ranks of the methods that finished in all of them.
    """

    results: dict[str, StudyResult]
    ranks: Ranks

    def to_html(self, path: str | os.PathLike[str], *, links: Mapping[str, str] | None = None) -> None:
        """Write a page of ranks and errors in all studies, with `links`, addresses of the studies' own reports."""
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
    >>> from similis import Study, make_similarity
    >>> from similis.study import compare
    >>> study = Study(["nc", "majority"], n_splits=3)
    >>> results = {f"{n} objects": study.run(*make_similarity(n, random_state=0)) for n in (30, 60)}
    >>> compare(results).ranks.methods
    ('nc', 'majority')
    """
    ranks = average_ranks(results)  # validates the results first
    return Comparison(dict(results), ranks)
