"""The part about the objects: where methods disagree, which objects are hard, what is taken for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similis._drawing.svg import Markup, tag
from similis.study._display_answers import AgreementDisplay, ConfusionDisplay, ObjectsDisplay
from similis.study._report._parts import card, figure, scrolled

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["answers_section", "objects_section"]

CLASSES = 24  # more are not shown against each other


def answers_section(result: StudyResult) -> Markup:
    """Methods against methods, and classes against classes."""
    shown = AgreementDisplay.from_result(result, plot=False)
    figures = []
    if len(shown.methods) > 1:
        note = "How often two methods give different answers about the same object held out: full cells differ most, "
        note += "like methods stand side by side."
        if shown.n_left_out:
            note += f" The best {len(shown.methods)} methods; {shown.n_left_out} are left out."
        figures.append(figure("Method against method", scrolled(shown.svg(), "Disagreement of methods"), note))
    if shown.methods and len(result.classes) <= CLASSES:
        confusion = ConfusionDisplay.from_result(result, plot=False)
        note = f"Answers of {confusion.method} over all splits: a row is the true class, a column the answer."
        figures.append(figure("Class against class", scrolled(confusion.svg(), "Confusion of classes"), note))
    return tag("div", *figures, class_="two flow") if figures else Markup("")


def objects_section(result: StudyResult) -> Markup:
    """Objects against methods."""
    answers = result.predictions_by_object()
    if not answers.methods:
        return Markup("")
    share = answers.share_wrong()
    tested = int(np.isfinite(share).sum())
    lost, never = int((share == 1).sum()), int((share == 0).sum())
    disputed = int(((share >= 0.25) & (share <= 0.75)).sum())
    words = (
        f"Of {tested:,} objects tested, {never:,} were right in every answer and {lost:,} in none; about {disputed:,} "
        "the answers are divided (wrong in a quarter to three quarters of them)."
    )
    shown = ObjectsDisplay.from_result(result, plot=False)
    if not len(shown.objects):
        return tag("p", words, class_="fine")
    more = (
        f" Below, the {len(shown.objects)} hardest: the fuller a cell, the oftener that method was wrong; pale green "
        "is never. A row that is full all along may be a wrong label."
    )
    return card(words + more, scrolled(shown.svg(), "Who is wrong about the hardest objects"))
