"""Table of a study as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from similis.study._result import StudyResult
    from similis.study._rows import Row

__all__ = ["cells", "columns", "table_text"]


def columns(result: StudyResult) -> list[str]:
    """Headings of the columns of :func:`cells`."""
    heads = ["method", "error %", "(sd)", "rank", "p (Holm)", "balanced %", "log loss"]
    if result.costs is not None:
        heads.append("cost")
    return [*heads, "fit s", "note"]


def cells(result: StudyResult, row: Row) -> list[str]:
    """Convert a row to text: one cell per column."""
    note = row.reason or row.conversion
    if row.status != "ok":
        note = f"{row.status}: {note}" if note else row.status
    elif row.baseline:
        note = "; ".join(filter(None, ("baseline", note)))
    found = [
        row.method,
        _number(100 * row.error, 2),
        f"({_number(100 * row.error_sd, 2)})" if row.error_sd == row.error_sd else "",
        _number(row.rank, 1),
        _p(row.p_holm),
        _number(100 * row.balanced_error, 2),
        _number(row.log_loss, 3),
    ]
    if result.costs is not None:
        found.append(_number(row.cost, 3))
    return [*found, _number(row.fit_seconds, 2), note]


def table_text(result: StudyResult) -> str:
    """Table and recommendation as plain text; a star marks the papers' bold face."""
    table = result.table()
    body = [[("* " if row.bold else "  ") + (line := cells(result, row))[0], *line[1:]] for row in table]
    heads = columns(result)
    heads = ["  " + heads[0], *heads[1:]]
    widths = [max(len(line[i]) for line in [heads, *body]) for i in range(len(heads))]
    lines = []
    for line in [heads, *body]:
        fixed = [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:-1], widths[1:-1])), line[-1]]
        lines.append("  ".join(fixed).rstrip())
    lines += ["", "* lowest mean error, or not significantly worse at 5 % (one-sided signed-rank test)"]
    lines += [result.protocol.describe(len(result.splits))]
    if any(row.status in ("ok", "incomplete") for row in table):
        lines += ["", result.recommend().text]
    return "\n".join(lines)


def _number(value: float, digits: int) -> str:
    return "" if value != value else f"{value:.{digits}f}"


def _p(value: float) -> str:
    return "" if value != value else "<0.001" if value < 0.001 else f"{value:.3f}"
