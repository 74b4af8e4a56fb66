"""The part about the methods: verdict, table, splits, time, probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from similis._drawing.svg import Markup, join, tag
from similis.exceptions import ProximityError
from similis.study._display_errors import SplitsDisplay, TimeErrorDisplay
from similis.study._display_reliability import ReliabilityDisplay
from similis.study._recommend import percent
from similis.study._report._parts import card, data_table
from similis.study._text import cells, columns

if TYPE_CHECKING:
    from similis.study._recommend import Recommendation
    from similis.study._result import StudyResult
    from similis.study._rows import Row

__all__ = [
    "banner",
    "reliability_section",
    "splits",
    "splits_section",
    "subtitle",
    "table",
    "table_section",
    "time_section",
    "verdict",
]

_KINDS = {"method": "text", "note": "text", "error %": "error"}  # columns with a class of their own


def subtitle(result: StudyResult) -> str:
    """What was studied, in a line."""
    n, G = len(result.codes), len(result.classes)
    parts = ["A similis study", f"{n:,} objects", f"{G} classes", f"{len(result.methods)} methods"]
    if len(result.splits) < n:
        parts.append(f"{len(result.splits)} splits")
    return " \N{MIDDLE DOT} ".join(parts)


def banner(result: StudyResult) -> Markup:
    """Said above everything else where entries are missing."""
    if not result.partial:
        return Markup("")
    total = len(result.methods) * len(result.splits)
    words = f"Not finished: {len(result.entries):,} of {total:,} entries so far. What follows may change."
    return tag("p", words, class_="banner", role="note")


def verdict(result: StudyResult) -> Markup:
    """The answer in two sentences, what else to know, and the figures behind it."""
    try:
        found = result.recommend()
    except ProximityError as error:
        return tag("p", str(error), class_="verdict")
    first, *rest = found.sentences
    sure = found.certainty or "No other method was compared."
    notes = [sentence for sentence in rest if sentence != sure and "interrupted" not in sentence]  # the banner says it
    name, colon, tail = first.removeprefix("Use ").partition(":")
    words = join(["Use ", tag("strong", name), colon, tail, " ", sure])
    remarks = [tag("p", note, class_="warning" if note == found.warning else "remark") for note in notes]
    return join([tag("p", words, class_="verdict"), *remarks, _figures(result, found)])


def _figures(result: StudyResult, found: Recommendation) -> Markup:
    """The numbers a reader looks for first."""
    row = next(row for row in result.table() if row.method == found.method)
    tiles = [(percent(found.error), "error to expect", f"{percent(found.interval[0])} to {percent(found.interval[1])}")]
    largest = max((result.codes == g).sum() for g in range(len(result.classes))) / len(result.codes)
    tiles.append((percent(1 - largest), "error of guessing", "always the largest class"))
    alike = len(found.alike)
    total = alike + found.n_worse
    if total:
        tiles.append((f"{alike} of {total}", "other methods as good", "not told apart at 5 %"))
    answers = result.predictions_by_object()
    tested = answers.tested.sum(axis=0) > 0
    lost = int((answers.share_wrong()[tested] == 1).sum())
    tiles.append((f"{lost:,}", "objects nobody gets right", f"of {int(tested.sum()):,} tested"))
    tiles.append((f"{row.fit_seconds:.2g} s", "to choose and train", "each split, on average"))
    items = [
        tag("div", tag("dt", what), tag("dd", tag("b", big), tag("span", small)), class_="tile")
        for big, what, small in tiles
    ]
    return tag("dl", *items, class_="tiles")


def table_section(result: StudyResult) -> Markup:
    """The table, and how to read it."""
    explained = (
        "Bold and blue: the lowest mean error, or not significantly worse at 5 % (one-sided Wilcoxon signed-rank test "
        "over the splits). Rank: the mean over the splits. p (Holm): against the best, corrected for the number of "
        "methods. A click on a column's head sorts."
    )
    if result.is_loo:
        explained = explained.replace("over the splits)", "over the objects left out one by one)")
    return join([table(result), tag("p", explained, class_="fine")])


def table(result: StudyResult, *, sortable: bool = True) -> Markup:
    """One row per method; heads are buttons where a script sorts by them."""
    heads = columns(result)
    words = [tag("button", name, type="button") if sortable else name for name in heads]
    top = [tag("th", word, scope="col", class_=_KINDS.get(name)) for word, name in zip(words, heads)]
    summaries = {info.name: info.summary for info in result.methods}
    body = [_line(result, row, heads, summaries[row.method]) for row in result.table()]
    return data_table(top, body, "Table of all methods")


def _line(result: StudyResult, row: Row, heads: list[str], summary: str) -> Markup:
    first, *rest = cells(result, row)
    name = tag("th", tag("span", first), tag("small", summary) if summary else "", scope="row", class_="text")
    found = [name]
    found += [tag("td", cell, class_=_KINDS.get(head)) for head, cell in zip(heads[1:], rest)]
    kind = "best" if row.bold else "failed" if row.status in ("failed", "missing", "partly failed") else None
    return tag("tr", *found, class_=kind, data_m=row.method)


def splits_section(result: StudyResult) -> Markup:
    """Every error of every method."""
    shown = splits(result)
    if not shown:
        return shown
    words = (
        "Each row a method. The bar is its error over all objects with the 95 % interval."
        if result.is_loo
        else "A dot is one split, the box holds the middle half of them, the line is the mean. "
        "Methods in blue are the best or cannot be told apart from it."
    )
    return card(words, shown)


def splits(result: StudyResult) -> Markup:
    """The plot alone."""
    return SplitsDisplay.from_result(result, plot=False).svg()


def time_section(result: StudyResult) -> Markup:
    """What accuracy costs."""
    shown = TimeErrorDisplay.from_result(result, plot=False)
    if len(shown.methods) < 2:
        return Markup("")
    words = (
        "The dashed line joins the methods that no other one beats in both time and error. Choosing parameters is part "
        "of the time. Squares are baselines."
    )
    return card(words, shown.svg())


def reliability_section(result: StudyResult) -> Markup:
    """Confidence against truth."""
    shown = ReliabilityDisplay.from_result(result, plot=False)
    if not shown.curves:
        return Markup("")
    words = (
        "Answers sorted by how sure the method was: on the dashed line it is right as often as it says, below it "
        "promises too much. Large dots hold many answers. Shown are the best methods that give probabilities."
    )
    return card(words, shown.svg())
