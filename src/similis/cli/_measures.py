"""Measures by name, with their parameters as text. The measures themselves are imported when one is asked for."""

from __future__ import annotations

import inspect
import json
import re
from difflib import get_close_matches
from typing import Any

from similis.exceptions import ProximityError

__all__ = ["DEFAULTS", "complete_measure", "make_measure", "measure_names", "reads_text"]

# What no file of objects holds: functions and matrices. A row of numbers is also a series, or points on a line.
_ELSEWHERE = {"Measure", "FromFunction", "FromMatrix"}
_TEXT = {"Edit", "Alignment", "Compression", "TfidfCosine"}
# What compares objects of a kind unless the user says otherwise.
DEFAULTS = {"categorical": "vdm", "features": "minkowski", "sequences": "vdm", "graphs": "weisfeiler-lehman"}


def measure_names() -> dict[str, type]:
    """Measures that can read a table or a data set, by their name on the command line."""
    from similis import measures

    found = {}
    for name in measures.__all__:
        kind = getattr(measures, name)
        if isinstance(kind, type) and issubclass(kind, measures.Measure) and name not in _ELSEWHERE:
            found[re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()] = kind
    return found


def complete_measure(incomplete: str) -> list[str]:
    """Names that begin with what was typed, for shell completion."""
    return [name for name in measure_names() if name.startswith(incomplete)]


def make_measure(name: str, params: tuple[str, ...] = ()) -> Any:
    """Make a measure of its name and ``key=value`` texts."""
    known = measure_names()
    chosen = known.get(name.lower().replace("_", "-"))
    if chosen is None:
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
        raise ProximityError(f"There is no measure {name[:40]!r}. {hint}")
    given = dict(_pair(text) for text in params)
    allowed = [p for p in inspect.signature(chosen).parameters if p != "self"]
    for key in given:
        if key not in allowed:
            raise ProximityError(f"{name} has no parameter {key[:40]!r}. It has {', '.join(allowed) or 'none'}.")
    return chosen(**given)


def reads_text(measure: Any) -> bool:
    """Whether a measure compares texts, one per object, rather than rows of features."""
    return type(measure).__name__ in _TEXT


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ProximityError(f"A parameter is given as key=value, for example q=1. Got {text[:40]!r}.")
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = {"True": True, "False": False, "None": None}.get(value, value)
    return key.strip(), tuple(parsed) if isinstance(parsed, list) else parsed
