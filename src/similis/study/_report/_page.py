"""The frame of a page, and the report of one study in it."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from similis._drawing.svg import Markup, framed, join, plot_style, tag
from similis._utils.files import atomic_write
from similis.study._report import _answers, _matrix, _methods, _use

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["Section", "frame_page", "notebook_page", "report_page", "write_page"]

Section = tuple[str, str, str, Markup]  # anchor, word for the list, title, body
# Even if something of a user's slipped through, the browser would neither run nor load it: one script, known by its
# hash, and nothing from elsewhere.
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; "
    "form-action 'none'"
)


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page; it appears whole or not at all."""
    with atomic_write(path) as file:
        file.write(page.encode())


def report_page(result: StudyResult, *, refresh: float | None = None) -> str:
    """The report of a study. `refresh` lets the page look for a newer self after so many seconds."""
    title = f"Which method for {result.name}?" if result.name else "Which method for these proximities?"
    sections: list[Section] = [
        ("methods", "Methods", "All methods", _methods.table_section(result)),
        ("splits", "Splits", "Split by split", _methods.splits_section(result)),
        ("time", "Time", "Time against error", _methods.time_section(result)),
        ("matrix", "Matrix", "The matrix", _matrix.matrix_section(result)),
        ("answers", "Disagreement", "Where methods disagree", _answers.answers_section(result)),
        ("hard", "Hard objects", "The hardest objects", _answers.objects_section(result)),
        ("reliability", "Probabilities", "Can the probabilities be believed?", _methods.reliability_section(result)),
        ("suspects", "Suspects", "Suspicious entries", _matrix.suspects_section(result)),
        ("train", "Train", "Train it", _use.train_section(result)),
        ("cite", "Cite", "How to cite", _use.cite_section(result)),
        ("made", "Provenance", "How this was made", _use.made_section(result)),
    ]
    lead = join([_methods.banner(result), _methods.verdict(result)])
    return frame_page(title, _methods.subtitle(result), lead, sections, refresh=refresh)


def notebook_page(result: StudyResult) -> str:
    """Verdict, table and splits, for a notebook."""
    parts = [_methods.verdict(result), _methods.table(result, sortable=False), _methods.splits(result)]
    return framed(tag("style", _read("parts.css")), *parts)  # nothing that would touch the notebook around it


def frame_page(
    title: str, subtitle: str, lead: Markup, sections: Sequence[Section], *, refresh: float | None = None
) -> str:
    """A whole page: head, verdict, a list of what follows, the sections with something in them."""
    shown = [section for section in sections if section[3]]
    links = tag("nav", *(tag("a", word, href=f"#{anchor}") for anchor, word, *_ in shown), aria_label="Sections")
    cards = [
        tag("section", tag("h2", head, id=f"{anchor}-head"), body, id=anchor, aria_labelledby=f"{anchor}-head")
        for anchor, _, head, body in shown
    ]
    fresh = None if refresh is None else f"{refresh:g}"
    body = join(
        [
            tag("header", tag("p", subtitle, class_="eyebrow"), tag("h1", title), lead),
            links,
            tag("main", *cards),
            tag("div", id="tip", role="status", hidden=""),
            tag("script", _read("page.js")),
        ],
        "\n",
    )
    head = join(
        [
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", http_equiv="Content-Security-Policy", content=_POLICY.format(_hash(_read("page.js")))),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", title),
            tag("style", plot_style(), _read("parts.css"), _read("page.css")),
        ],
        "\n",
    )
    whole = tag(
        "html", "\n", tag("head", "\n", head), "\n", tag("body", body, class_="similis", data_fresh=fresh), lang="en"
    )
    return f"<!DOCTYPE html>\n{whole}\n"


def _hash(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


def _read(name: str) -> Markup:
    return Markup(files("similis.study._report").joinpath(name).read_text(encoding="utf-8"))
