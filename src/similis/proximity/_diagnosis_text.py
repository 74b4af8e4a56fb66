"""A diagnosis in words: aligned text for a terminal, a table for a notebook. Both show the same lines."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

__all__ = ["as_html", "as_text", "fact_rows"]


def as_text(found: Any) -> str:
    """Lines of "what  finding", then the advice."""
    rows = list(fact_rows(found))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {text}" for name, text in rows]
    if found.advice:
        lines += ["", "What to try"]
        lines += [f"{number}. {advice}" for number, advice in enumerate(found.advice, 1)]
    return "\n".join(lines)


def as_html(found: Any) -> str:
    """The same as a table and a list; everything a user named is escaped."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in fact_rows(found)
    )
    advice = "".join(f"<li>{escape(str(advice))}</li>" for advice in found.advice)
    return f"<table>{cells}</table>" + (f"<p>What to try</p><ol>{advice}</ol>" if advice else "")


def fact_rows(found: Any) -> Iterator[tuple[str, str]]:
    """What was looked at and what was found, line by line."""
    e, t, d = found.entries, found.triangles, found.distances
    looked = "" if found.n_sampled == found.n else f"; a random {found.n_sampled} of them looked at"
    yield "objects", f"{found.n}{looked}"
    scale = "a discrete scale" if e.discrete else "a continuous scale"
    yield found.kind, f"{e.low:.4g} to {e.high:.4g}, {e.n_distinct} distinct values ({scale})"
    if e.n_missing:
        yield "missing", f"{e.n_missing} entries ({e.missing:.1%})"
    yield "symmetric", "yes" if e.symmetric else f"no, asymmetry {e.asymmetry:.3g} of 1"
    yield "zero entries", f"{e.zeros:.1%}"
    yield "itself nearest", f"{e.self_maximal:.1%} of the objects"
    yield "duplicates", str(e.n_duplicates)
    if found.spectrum is not None:
        yield from _spectrum_rows(found)
    sampled = f" of {t.n_triples:,} sampled" if t.sampled else ""
    yield "triangles broken", f"{t.violated:.2%}{sampled}" + (f", worst by {t.worst:.0%}" if t.violated else "")
    yield "distances", f"skewness {d.skewness:.2f}, excess kurtosis {d.kurtosis:.2f}; hubness {d.hubness:.2f}"
    if found.classes is not None:
        c = found.classes
        sizes = ", ".join(f"{name} {count}" for name, count in list(zip(c.names, c.counts))[:8])
        yield "classes", f"{len(c.counts)}: {sizes}" + (", ..." if len(c.counts) > 8 else "")
        yield "within, between", f"mean {c.within:.4g} within classes, {c.between:.4g} between"
        yield "nearest neighbour", f"of another class for {c.neighbour_error:.1%} of the objects"
    some = f" (among {found.suspects.n_objects} of the objects)" if found.suspects.n_objects < found.n else ""
    yield "suspicious pairs", f"{found.suspects.summary()}{some}"


def _spectrum_rows(found: Any) -> Iterator[tuple[str, str]]:
    s = found.spectrum
    name = "positive definite" if found.kind == "similarity" else "Euclidean"
    if s.definite:
        yield name, f"yes, rank {s.rank}"
    else:
        yield (
            name,
            (
                f"no, {s.n_negative} negative eigenvalues with {s.negative_mass:.1%} of the spectrum "
                f"({s.smallest:.4g} to {s.largest:.4g})"
            ),
        )
