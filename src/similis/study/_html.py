"""A page of a study's results that stands by itself: no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING

from similis._utils.files import atomic_write
from similis.exceptions import ProximityError
from similis.study._recommend import recommend
from similis.study._text import cells, columns

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["html_page", "write_html"]

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; }
td:last-child { white-space: normal; }
tr.bold td:first-child, tr.bold td:nth-child(2) { font-weight: 700; }
pre { background: #8881; padding: .8rem; overflow-x: auto; }
footer { margin-top: 2rem; font-size: .85rem; opacity: .8; }
"""


def write_html(result: StudyResult, path: str | os.PathLike[str]) -> None:
    """Write the page; it appears whole or not at all."""
    with atomic_write(path) as file:
        file.write(html_page(result).encode())


def html_page(result: StudyResult) -> str:
    """The page: verdict, table, how to train, how it was made."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>similis study</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Which method for these proximities?</h1>
{_verdict(result)}
<h2>All methods</h2>
<div class="wide">{_table(result)}</div>
<p>Bold: lowest mean error, or not significantly worse at 5 % (one-sided Wilcoxon signed-rank test over the splits).
The p-values are against the best, corrected by Holm's rule.</p>
<footer>{_provenance(result)}</footer>
</body>
</html>
"""


def _verdict(result: StudyResult) -> str:
    try:
        found = recommend(result)
    except ProximityError as error:
        return f"<p><strong>{escape(str(error))}</strong></p>"
    return (
        f"<p><strong>{escape(found.text)}</strong></p>\n<h2>How to train it</h2>\n"
        f"<pre><code>{escape(found.python)}</code></pre>\n<pre><code>{escape(found.command)}</code></pre>"
    )


def _table(result: StudyResult) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns(result))
    summaries = {info.name: info.summary for info in result.methods}
    body = []
    for row in result.table():
        first, *rest = cells(result, row)
        line = f'<td title="{escape(summaries[row.method], quote=True)}">{escape(first)}</td>'
        line += "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        body.append(f'<tr class="{"bold" if row.bold else "plain"}">{line}</tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _provenance(result: StudyResult) -> str:
    lines = [
        f"{len(result.codes)} objects, {len(result.classes)} classes, {result.kind}",
        result.protocol.describe(len(result.splits)),
    ]
    if result.sessions:
        made = result.sessions[-1]
        lines.append(", ".join(f"{name} {version}" for name, version in made.get("versions", {}).items()))
        lines.append(str(made.get("started", "")))
    if result.partial:
        lines.append("interrupted: some entries are missing")
    return "<br>".join(escape(line) for line in lines if line)
