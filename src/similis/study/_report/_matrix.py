"""The part about the matrix: heat map, spectrum, embedding, facts, suspicious entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similis._drawing.svg import Markup, join, short, tag
from similis.proximity import EmbeddingDisplay, MatrixDisplay, SpectrumDisplay
from similis.study._predictions import display_names
from similis.study._report._parts import data_table, facts, figure

if TYPE_CHECKING:
    from similis.study._picture import Picture
    from similis.study._result import StudyResult

__all__ = ["matrix_section", "suspects_section"]


def matrix_section(result: StudyResult) -> Markup:
    """The matrix as seen from four sides."""
    picture = result.picture
    if picture is None:
        return tag("p", "This results file was written without a picture of the matrix.", class_="fine")
    parts = [tag("p", picture.note, class_="fine")] if picture.note else []
    figures = [
        _heat(result, picture),
        figure("Embedding", _embedding(result, picture), _embedding_note(result, picture)),
        figure("Spectrum, before and after repair", _spectrum(picture), _spectrum_note(result, picture)),
        _facts(picture),
    ]
    return join([*parts, tag("div", *figures, class_="two")])


def _heat(result: StudyResult, picture: Picture) -> Markup:
    """The heat map in both orders; radio buttons choose without a script."""
    m, n = len(picture.objects), len(result.codes)
    values = picture.low + (picture.levels.astype(np.float64) - 1) / 254 * (picture.high - picture.low)
    values[picture.levels == 0] = np.nan
    names = display_names(result)
    labels = [str(c) for c in result.classes]
    codes = result.codes[picture.objects]
    sizes = np.bincount(codes, minlength=len(labels))
    views = []
    for order, bounds in (
        (np.arange(m), np.r_[0, np.cumsum(sizes)]),
        (picture.nearness, np.array([0, m])),
    ):
        objects = picture.objects[order]
        shown = MatrixDisplay(
            values=values[np.ix_(order, order)],
            order=objects,
            bounds=bounds,
            class_names=labels,
            kind=result.kind,
            codes=codes[order],
            limits=(picture.low, picture.high),
        )
        tips = [f"{names[i]} ({labels[result.codes[i]]})" for i in objects]
        views.append(tag("div", shown.svg(tips), class_="view"))
    inputs = [
        tag("input", type="radio", name="order", id=f"order-{key}", checked="" if key == "class" else None)
        for key in ("class", "near")
    ]
    buttons = [
        tag("label", words, for_=f"order-{key}")
        for key, words in (("class", "ordered by class"), ("near", "ordered by nearness alone"))
    ]
    some = f"{m} of the {n:,} objects, each class with its share. " if m < n else ""
    note = f"{some}Colours along the edges are classes."
    if (picture.levels == 0).any():
        note += " What is missing is left blank."
    switch = join([inputs[0], buttons[0], inputs[1], buttons[1], tag("div", *views, class_="views")])
    return figure("Heat map", tag("div", switch, class_="switch"), note)


def _spectrum(picture: Picture) -> Markup:
    values = picture.eigenvalues
    if values is None or not len(values):
        return Markup("")
    repaired = {"clip": np.maximum(values, 0), "flip": np.abs(values), "shift": values - min(values.min(), 0)}
    return SpectrumDisplay(eigenvalues=values, repaired=repaired).svg()


def _spectrum_note(result: StudyResult, picture: Picture) -> str:
    values = picture.eigenvalues
    if values is None:
        return ""
    what = "Eigenvalues of the similarities"
    if result.kind == "dissimilarity":
        what = "Eigenvalues of the similarities made of these dissimilarities"
    total = np.abs(values).sum()
    mass = float(np.abs(values[values < 0]).sum() / total) if total else 0.0
    said = f"the negative ones hold {mass:.1%} of the spectrum" if mass else "none is negative"
    return f"{what}{_some(result, picture)}: {said}."


def _some(result: StudyResult, picture: Picture) -> str:
    m, n = len(picture.looked_at), len(result.codes)
    return f" of {m:,} of the {n:,} objects" if m < n else ""


def _embedding(result: StudyResult, picture: Picture) -> Markup:
    if picture.points is None or not len(picture.points):
        return Markup("")
    answers = result.predictions_by_object()
    share = answers.share_wrong()
    names, labels = display_names(result), [str(c) for c in result.classes]
    tips = []
    for i in picture.looked_at:
        wrong = "" if share[i] != share[i] else f"\nwrong in {share[i]:.0%} of all answers"
        tips.append(f"{names[i]}\nclass {labels[result.codes[i]]}{wrong}")
    shown = EmbeddingDisplay(
        points=picture.points,
        signature=np.array(picture.signature),
        shares=np.array(picture.shares),
        codes=result.codes[picture.looked_at],
        class_names=labels,
    )
    return shown.svg(tips, np.flatnonzero(share[picture.looked_at] == 1).tolist())


def _embedding_note(result: StudyResult, picture: Picture) -> str:
    m, n = len(picture.looked_at), len(result.codes)
    some = f"{m:,} of the {n:,} objects on" if m < n else "On"
    return f"{some} the two largest axes of the pseudo-Euclidean embedding. A ring: no method ever got it right."


def _facts(picture: Picture) -> Markup:
    parts = [facts(picture.facts)]
    if picture.advice:
        parts += [tag("h4", "What the papers would try"), tag("ul", *(tag("li", text) for text in picture.advice))]
    return figure("Facts", tag("div", *parts))


def suspects_section(result: StudyResult) -> Markup:
    """Pairs that the rest of the matrix contradicts."""
    picture = result.picture
    if picture is None:
        return Markup("")
    if not picture.suspects:
        said = next((text for name, text in picture.facts if name == "suspicious pairs"), "none")
        return tag("p", f"Pairs whose value disagrees with everything else in the matrix: {said}.", class_="fine")
    names = display_names(result)
    rows = [
        tag(
            "tr",
            tag("th", names[i], scope="row", class_="text"),
            tag("td", names[j], class_="text"),
            *(tag("td", short(v)) for v in (value, expected)),
            tag("td", f"{score:.1f}"),
        )
        for i, j, value, expected, score in picture.suspects
    ]
    heads = ("object", "and object", "says", "expected", "deviations")
    top = [tag("th", head, scope="col", class_="text" if k < 2 else None) for k, head in enumerate(heads)]
    many = f"{picture.n_suspects:,} pairs" if picture.n_suspects > 1 else "One pair"
    words = f"{many} whose value disagrees with everything else in the matrix: look at them before you trust the rest."
    if picture.n_suspects > len(rows):
        words += f" The worst {len(rows)}:"
    return join([tag("p", words, class_="fine"), data_table(top, rows, "Table of suspicious pairs")])
