"""Kind of a matrix, similarity or dissimilarity: one rule for all readers and commands."""

from __future__ import annotations

import re
from typing import Any

from similis._utils.messages import warn_user
from similis.base import Kind, kind_evidence
from similis.exceptions import KindWarning, ProximityError

KINDS: tuple[Kind, Kind] = ("similarity", "dissimilarity")
_LETTERS: dict[str, Kind] = {"S": "similarity", "K": "similarity", "D": "dissimilarity"}
_WORDS: dict[str, Kind] = {
    **dict.fromkeys(("similarity", "similarities", "kernel", "affinity", "affinities"), "similarity"),
    **dict.fromkeys(("dissimilarity", "dissimilarities", "distance", "distances", "dist"), "dissimilarity"),
}


def kind_in_words(text: str) -> Kind | None:
    """Return the kind that a cell or a comment names, or None."""
    found = {_WORDS[word] for word in re.findall("[a-z]+", text.lower()) if word in _WORDS}
    return found.pop() if len(found) == 1 else None


def kind_of_array(name: str) -> Kind | None:
    """Return the kind that the name of an array stands for, such as S, K, D_train or distances."""
    last = re.split(r"[/.]", name)[-1]
    return _LETTERS.get(last.partition("_")[0]) or kind_in_words(last.replace("_", " "))


def decide_kind(
    values: Any, *, given: Kind | None, stated: Kind | None, where: str, required: bool = False
) -> Kind | None:
    """Decide how a matrix is read: as given, else as its file states, else by clear evidence.

    Parameters
    ----------
    values : array of shape (n, n), (m, n) or (n, n, q)
        Proximities.
    given, stated : {"similarity", "dissimilarity"} or None
        Kinds that the user gave and that the file states. The first one wins, with a warning where they differ.
    where : str
        Name of the file, for messages.
    required : bool, default=False
        Whether to use the evidence of the diagonal, with a warning that names it, and to raise an error where there is
        none; else the result may be None.
    """
    if given is not None:
        if stated not in (None, given):
            warn_user(
                f"{where} holds values of kind {stated!r}; they are read as kind={given!r}, as given.", KindWarning
            )
        return given
    if stated is not None or not required:
        return stated
    found = kind_evidence(values)
    if found is None:
        raise ProximityError(
            f"{where} does not name the kind of its values, and its diagonal does not show it. If large means alike, "
            "set kind='similarity'; if large means different, set kind='dissimilarity'."
        )
    extreme, other = ("minimum", "similarity") if found == "dissimilarity" else ("maximum", "dissimilarity")
    warn_user(
        f"{where} is read as {found}, because the diagonal is the {extreme} of its rows. If that is wrong, set "
        f"kind={other!r}.",
        KindWarning,
    )
    return found
