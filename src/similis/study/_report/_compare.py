"""Several data sets or measures at once: ranks, the critical-difference picture, every error side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from similis._drawing.svg import Markup, framed, join, tag
from similis.study._display_ranks import RanksDisplay, ranks_sentence
from similis.study._metrics import Ranks, average_ranks
from similis.study._recommend import percent
from similis.study._report._page import frame_page, write_page
from similis.study._report._parts import data_table, scrolled

if TYPE_CHECKING:
    from similis.study._result import StudyResult
    from similis.study._rows import Row

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Studies side by side.

    Attributes
    ----------
    results : dict of str to StudyResult
        By name of the data set or measure.
    ranks : Ranks
        Of the methods that finished everywhere.
    """

    results: dict[str, StudyResult]
    ranks: Ranks

    def to_html(self, path: str | os.PathLike[str], *, links: Mapping[str, str] | None = None) -> None:
        """Write a self-contained page: ranks with their critical difference, errors of all methods everywhere.

        Parameters
        ----------
        path : str or path-like
            Where to write.
        links : mapping of str to str, optional
            Address of each study's own report, by name.
        """
        write_page(comparison_page(self, links), path)

    def _repr_html_(self) -> str:
        return framed(RanksDisplay(ranks=self.ranks).svg())

    def __str__(self) -> str:
        lines = [f"{mean:6.2f}  {name}" for name, mean in zip(self.ranks.methods, self.ranks.mean)]
        return "\n".join(["average ranks", *lines, "", str(ranks_sentence(self.ranks))])


def compare(results: Mapping[str, StudyResult]) -> Comparison:
    """Put studies of several data sets, or of several measures of one, side by side.

    Parameters
    ----------
    results : mapping of str to StudyResult
        At least two, by name.

    Returns
    -------
    Comparison
        With average ranks, and a page of its own.

    See Also
    --------
    average_ranks : the statistics behind it.

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
    ranks = average_ranks(results)
    return Comparison(dict(results), ranks)


def comparison_page(found: Comparison, links: Mapping[str, str] | None = None) -> str:
    """The page; a pure function of the results."""
    N = len(found.results)
    best = found.ranks.methods[0]
    place = f" has the best average rank, {found.ranks.mean[0]:.2f} among {len(found.ranks.methods)} methods. "
    words = join([f"Over {N} studies ", tag("strong", best), place, ranks_sentence(found.ranks)])
    ranks = tag("div", RanksDisplay(ranks=found.ranks).svg(), class_="least")
    picture = scrolled(ranks, "Picture of the average ranks", "card wide")
    read = (
        "The best methods stand on the left. A thick bar joins methods whose average ranks lie within one critical "
        "difference: these data sets do not tell them apart."
    )
    left_out = sorted({m.name for r in found.results.values() for m in r.methods} - set(found.ranks.methods))
    if left_out:
        read += f" Left out, as they did not finish everywhere: {', '.join(left_out)}."
    sections = [
        ("ranks", "Ranks", "Average ranks", join([tag("p", read, class_="fine"), picture])),
        ("errors", "Errors", "Every error", _errors(found)),
        ("studies", "Studies", "The studies", _studies(found, links or {})),
    ]
    title = f"Which method for {', '.join(found.results)}?" if N <= 6 else f"Which method for these {N} data sets?"
    return frame_page(title, f"A similis comparison of {N} studies", tag("p", words, class_="verdict"), sections)


def _errors(found: Comparison) -> Markup:
    """A row a method, a column a data set; the darker, the better the rank."""
    rows = {name: {row.method: row for row in result.table()} for name, result in found.results.items()}
    order = list(found.ranks.methods)
    order += sorted({m for table in rows.values() for m in table} - set(order))
    mean = dict(zip(found.ranks.methods, found.ranks.mean.tolist()))
    named = [("method", "text"), ("mean rank", None), *((name, None) for name in found.results)]
    heads = [tag("th", tag("button", h, type="button"), scope="col", class_=c) for h, c in named]
    body = []
    for method in order:
        line = [tag("th", tag("span", method), scope="row", class_="text")]
        line.append(tag("td", f"{mean[method]:.2f}" if method in mean else ""))
        for table in rows.values():
            row = table.get(method)
            if row is None or row.error != row.error:
                line.append(tag("td", "" if row is None else row.status))
                continue
            inner = f"{100 * row.error:.2f}"
            sd = f" \N{PLUS-MINUS SIGN} {100 * row.error_sd:.2f}" if row.error_sd == row.error_sd else ""
            shade = f"--share:{_goodness(row.error, table):.3f}"
            line.append(tag("td", tag("b", inner) if row.bold else inner, sd, class_="shade", style=shade))
        body.append(tag("tr", *line, data_m=method))
    words = (
        "Error on the objects held out, % (mean and standard deviation over the splits). Bold: the lowest of its "
        "column, or not significantly worse at 5 %."
    )
    return join([data_table(heads, body, "Table of the errors"), tag("p", words, class_="fine")])


def _goodness(error: float, table: Mapping[str, Row]) -> float:
    """1 for the best method of a data set, 0 for twice its error and more, with room for errors near zero."""
    errors = [row.error for row in table.values() if row.error == row.error]
    least = min(errors)
    reach = max(least, 0.02, float(np.median(errors)) - least)
    return max(0.0, 1 - (error - least) / reach)


def _is_address(link: str | None) -> bool:
    """Whether this leads to a page, and not to a script."""
    return link is not None and urlsplit(link).scheme in ("", "http", "https", "file")


def _studies(found: Comparison, links: Mapping[str, str]) -> Markup:
    """What was studied and what each study recommends."""
    body = []
    for name, result in found.results.items():
        advice = result.recommend()
        facts = (
            f"{len(result.codes):,}",
            str(len(result.classes)),
            result.kind,
            str(len(result.splits)),
            advice.method,
            percent(advice.error),
            f"{percent(advice.interval[0])} to {percent(advice.interval[1])}",
        )
        word = tag("a", name, href=links[name]) if _is_address(links.get(name)) else name
        body.append(tag("tr", tag("th", word, scope="row", class_="text"), *(tag("td", fact) for fact in facts)))
    heads = ("study", "objects", "classes", "kind", "splits", "use", "error", "95 % interval")
    top = [tag("th", head, scope="col", class_="text" if not k else None) for k, head in enumerate(heads)]
    return data_table(top, body, "Table of the studies")
