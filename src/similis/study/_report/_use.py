"""The part for tomorrow: how to train the model, how to cite, how the results were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import similis
from similis._drawing.svg import Markup, join, tag
from similis.exceptions import ProximityError
from similis.study._recommend import training_lines
from similis.study._report._papers import PAPERS, SIMILIS
from similis.study._report._parts import facts, scrolled

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["cite_section", "made_section", "train_section"]


def train_section(result: StudyResult) -> Markup:
    """Lines that train the recommended model, and those of the others."""
    try:
        found = result.recommend()
    except ProximityError:
        return Markup("")
    what = "objects" if result.fingerprint.get("measure") else "S"
    new = "new_objects" if what == "objects" else "new_rows"
    use = f'similis.save(model, "model.skops")\nmodel = similis.load("model.skops")\nmodel.predict({new})'
    parts = [
        tag("h3", "In Python"),
        tag("p", "With ", tag("code", what), " and labels ", tag("code", "y"), " at hand:", class_="fine"),
        _code(found.python),
        _code(f"import similis\n\n{use}"),
        tag("h3", "On the command line"),
        _code(f"{found.command}\nsimilis predict model.skops new-rows.csv"),
    ]
    others = [name for name in result.complete_methods() if name != found.method]
    if others:
        lines = [join([tag("h4", name), _code(training_lines(result, name))]) for name in others]
        parts.append(tag("details", tag("summary", f"The same for the other {len(others)} methods"), *lines))
    return join(parts)


def _code(text: str) -> Markup:
    return tag("div", tag("pre", tag("code", text), tabindex=0), class_="code")


def cite_section(result: StudyResult) -> Markup:
    """Papers behind the methods, each with the methods it describes."""
    cited: dict[str, list[Any]] = {}
    for info in result.methods:
        key, _, place = info.paper.partition(" ")
        if key:
            cited.setdefault(key, []).append((info.name, place))
    items = []
    for key in sorted(cited, key=lambda key: (key not in PAPERS, key)):
        methods = [join([tag("b", name), f" ({place})" if place else ""]) for name, place in cited[key]]
        items.append(tag("li", tag("p", PAPERS.get(key, key)), tag("p", join(methods, ", "), class_="fine")))
    items.append(tag("li", tag("p", SIMILIS.format(version=_made_with(result)))))
    return tag("ol", *items, class_="papers")


def _made_with(result: StudyResult) -> str:
    made = result.sessions[-1].get("versions", {}) if result.sessions else {}
    return str(made.get("similis", similis.__version__))


def made_section(result: StudyResult) -> Markup:
    """Protocol, versions, machine, and what went wrong."""
    rows = [("protocol", result.protocol.describe(len(result.splits)))]
    rows.append(("data", f"{len(result.codes):,} objects, {len(result.classes)} classes, {result.kind}"))
    if result.fingerprint.get("measure"):
        rows.append(("measure", str(result.fingerprint["measure"]).rpartition(".")[2] or "objects were measured"))
    rows.append(("matrix", str(result.fingerprint.get("matrix", ""))))
    for number, session in enumerate(result.sessions, 1):
        head = "run" if len(result.sessions) == 1 else f"run {number} of {len(result.sessions)}"
        rows.append((head, str(session.get("started", ""))))
    if result.sessions:
        made = result.sessions[-1]
        versions = made.get("versions") or {}
        rows.append(("versions", ", ".join(f"{name} {version}" for name, version in dict(versions).items())))
        machine = made.get("machine")
        rows.append(
            ("machine", ", ".join(map(str, machine.values())) if isinstance(machine, dict) else str(machine or ""))
        )
    parts = [facts(row for row in rows if row[1])]
    grids = [(info.name, _grid_text(info.grid)) for info in result.methods if info.grid]
    if grids:
        parts.append(
            tag("details", tag("summary", "What parameters were chosen from"), scrolled(facts(grids), "Grids"))
        )
    return join(parts)


def _grid_text(grid: dict[str, Any]) -> str:
    return "; ".join(f"{name}: {', '.join(_brief(v) for v in values)}" for name, values in grid.items())


def _brief(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
