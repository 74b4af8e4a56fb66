"""What the sections are put together from: figures, tables, and what scrolls where the screen is narrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from similis._drawing.svg import Markup, join, tag

__all__ = ["card", "data_table", "facts", "figure", "scrolled"]


def figure(head: str, shown: Markup, note: str = "") -> Markup:
    """A card with a picture, its head and a word about it; empty without a picture."""
    if not shown:
        return Markup("")
    return tag("figure", tag("figcaption", tag("h3", head), tag("p", note) if note else ""), shown, class_="card")


def card(words: str, shown: Markup) -> Markup:
    """A picture below what there is to say about it."""
    return join([tag("p", words, class_="fine"), tag("div", shown, class_="card")])


def facts(rows: Iterable[tuple[str, str]]) -> Markup:
    """A table of names and what is to be said of each."""
    body = [tag("tr", tag("th", name, scope="row"), tag("td", text)) for name, text in rows]
    return tag("table", tag("tbody", *body), class_="facts")


def data_table(heads: Sequence[Markup], body: Sequence[Markup], label: str) -> Markup:
    """A table with heads, that scrolls."""
    return scrolled(tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body)), label)


def scrolled(shown: Markup, label: str, css: str = "wide") -> Markup:
    """What scrolls sideways where the screen is narrow."""
    return tag("div", shown, class_=css, tabindex=0, role="region", aria_label=label)
