"""Content of the pages; the templates arrange it."""

import os
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import similis
from similis import study
from similis._drawing.figure import format_number
from similis._drawing.html import Markup, read_template, render
from similis._drawing.svg import frame_for_notebook, plot_style
from similis._utils.files import atomic_write
from similis.exceptions import ProximityError
from similis.proximity import EmbeddingDisplay, MatrixDisplay, SpectrumDisplay

__all__ = ["PAPERS", "make_comparison", "make_notebook_view", "make_report", "write_page"]

PAPERS = {  # by the keys of PAPERS.bib
    "bernal2003": "A. E. Bernal, K. Hospevian, T. Karadeniz and J.-L. Lassez. Similarity Based Classification. 2003.",
    "cazzanti2007": "L. Cazzanti. Generative Models for Similarity-based Classification. PhD thesis, University of "
    "Washington, 2007.",
    "chen2010": "Y. Chen. Strategies for Similarity-based Learning. PhD thesis, University of Washington, 2010.",
    "pekalska2000": "E. Pękalska and R. P. W. Duin. Classification on dissimilarity data: a first look. 2000.",
    "qiao2013": "M. Qiao and J. Li. Distance-based Mixture Modeling for Classification via Hypothetical Local Mapping. "
    "2013.",
}
_MAX_CLASSES = 24  # classes of a confusion matrix and of the table of prediction sets


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page atomically: a reader finds the old file or the new one.

    Parameters
    ----------
    page, path : str or path-like
        HTML; file to write.
    """
    with atomic_write(path) as file:
        file.write(page.encode())


def make_report(result: study.StudyResult, *, refresh: float | None = None) -> str:
    """Make the report of a study, a complete HTML page.

    Parameters
    ----------
    result : StudyResult
        Result of a study.
    refresh : float, optional
        Refresh interval in seconds, for the page of a running study.
    """
    advice, reason = _recommend(result)
    measured, has_race = bool(result.fingerprint.get("measure")), len(result.splits) > 1 and not result.is_loo
    others = [name for name in result.complete_methods() if advice is not None and name != advice.method]
    return _render_page(
        "report.html",
        refresh=refresh,
        result=result,
        n=len(result.codes),
        n_entries=len(result.methods) * len(result.splits),
        race=study.RaceDisplay.from_result(result, plot=False) if has_race else None,
        time=study.TimeErrorDisplay.from_result(result, plot=False),
        reliability=study.ReliabilityDisplay.from_result(result, plot=False),
        sets=result.prediction_sets() if len(result.classes) <= _MAX_CLASSES else [],
        values=study.ValuesDisplay.from_result(result, plot=False) if advice and result.target is not None else None,
        grids=[(info.name, _format_grid(info.grid)) for info in result.methods if info.grid],
        papers=_list_papers(result),
        provenance=_list_provenance(result),
        **_summarize(result, advice, reason),
        **_show_matrix(result),
        **_show_predictions(result, advice),
        data="objects" if measured else "S",
        new_data="new_objects" if measured else "new_rows",
        others=[(name, result.training_code(name)) for name in others],
    )


def make_notebook_view(result: study.StudyResult) -> str:
    """Make a short view for a notebook: verdict, table and errors by split.

    Parameters
    ----------
    result : StudyResult
        Result of a study.
    """
    view = render("similis.report", "notebook.html", result=result, **_summarize(result, *_recommend(result)))
    return frame_for_notebook(view, style=read_template("similis.report", "parts.css"))


def make_comparison(found: study.Comparison, links: Mapping[str, str] | None = None) -> str:
    """Make the page that compares several studies, a complete HTML page.

    Parameters
    ----------
    found : Comparison
        From :func:`similis.study.compare`.
    links : mapping of str to str, optional
        Address of each study's own report, by name; addresses that are not pages are left out.
    """
    schemes = ("", "http", "https", "file")
    every = {info.name for result in found.results.values() for info in result.methods}
    tables = {name: {row.method: row for row in result.table()} for name, result in found.results.items()}
    is_regression = any(result.target is not None for result in found.results.values())
    return _render_page(
        "comparison.html",
        refresh=None,
        found=found,
        tables=tables,
        is_regression=is_regression,
        show="{:.4g}".format if is_regression else lambda error: f"{100 * error:.2f}",
        shade=lambda error, table: _shade(error, table, 0.0 if is_regression else 0.02),
        sentence=found.ranks.summary(),
        picture=study.RanksDisplay(ranks=found.ranks).svg(),
        mean_ranks=dict(zip(found.ranks.methods, found.ranks.mean.tolist())),
        left_out=sorted(every - set(found.ranks.methods)),
        advice={name: result.recommend() for name, result in found.results.items()},
        links={name: link for name, link in (links or {}).items() if urlsplit(link).scheme in schemes},
    )


def _render_page(template: str, **context: Any) -> str:
    script = read_template("similis.report", "page.js")
    style = plot_style() + read_template("similis.report", "parts.css") + read_template("similis.report", "page.css")
    context |= {"style": style, "script": script, "number": format_number}
    script_hash = b64encode(sha256(script.encode()).digest()).decode()  # the only script that may run
    return render("similis.report", template, script_hash=script_hash, **context)


def _recommend(result: study.StudyResult) -> tuple[study.Recommendation | None, str]:
    """Recommendation, or None and the reason why there is none."""
    if not isinstance(result, study.StudyResult):
        raise ProximityError(f"A report needs a StudyResult. Got {type(result).__name__}.")
    try:
        return result.recommend(), ""
    except ProximityError as error:
        return None, str(error)


def _summarize(result: study.StudyResult, advice: study.Recommendation | None, reason: str) -> dict[str, Any]:
    """Verdict, table of methods and errors by split."""
    table = result.table()
    heads, *texts = result.format_table(intervals=True)
    found: dict[str, Any] = {
        "advice": advice,
        "reason": reason,
        "heads": heads,
        "rows": list(zip(table, texts)),
        "summaries": {info.name: info.summary for info in result.methods},
        "splits": study.SplitsDisplay.from_result(result, plot=False).svg(),
    }
    if advice is not None:
        first, *rest = advice.sentences
        found |= {
            "expectation": first.removeprefix("Use ").partition(":")[2],
            "certainty": advice.certainty or "No other method was compared.",
            # The banner of an interrupted study replaces the sentence about it.
            "remarks": [s for s in rest if s != advice.certainty and "interrupted" not in s],
            "best": next(row for row in table if row.method == advice.method),
            "baseline_error": result.baseline_error("error"),
        }
    if advice is not None and result.target is None:
        answers = result.predictions_by_object()
        tested = answers.tested.sum(axis=0) > 0
        found |= {"n_tested": int(tested.sum()), "n_lost": int((answers.share_wrong()[tested] == 1).sum())}
    return found


def _show_matrix(result: study.StudyResult) -> dict[str, Any]:
    """Heat map in two orders, spectrum, embedding and suspicious pairs, from what the result keeps of the matrix."""
    picture = result.picture
    if picture is None:
        return {"picture": None}
    names, labels, codes = result.object_names(), [str(c) for c in result.classes], result.codes[picture.objects]
    values = picture.low + (picture.levels.astype(np.float64) - 1) / 254 * (picture.high - picture.low)
    values[picture.levels == 0] = np.nan
    m = len(picture.objects)
    bounds = np.cumsum([0, *np.bincount(codes, minlength=len(labels))])
    known: dict[str, Any] = {"class_names": labels, "kind": result.kind, "limits": (picture.low, picture.high)}
    heat = []
    for order, edges in ((np.arange(m), bounds), (picture.nearness, np.array([0, m]))):
        objects, square = picture.objects[order], values[np.ix_(order, order)]
        shown = MatrixDisplay(values=square, order=objects, bounds=edges, codes=codes[order], **known)
        heat.append(shown.svg([f"{names[i]} ({labels[result.codes[i]]})" for i in objects]))
    found = np.zeros(0) if picture.eigenvalues is None else picture.eigenvalues
    return {
        "picture": picture,
        "heat": heat,
        "missing": bool((picture.levels == 0).any()),
        "spectrum": SpectrumDisplay.from_eigenvalues(found).svg() if len(found) else Markup(),
        "negative_mass": float(np.abs(found[found < 0]).sum() / (np.abs(found).sum() or 1.0)),
        "embedding": _show_embedding(result, picture, names, labels),
        "names": names,
    }


def _show_embedding(result: study.StudyResult, picture: Any, names: list[str], labels: list[str]) -> Markup:
    if picture.points is None or not len(picture.points):
        return Markup()
    share, seen = np.full(len(result.codes), np.nan), picture.looked_at
    if result.target is None:
        share = result.predictions_by_object().share_wrong()
    tips = []
    for i in seen:
        wrong = "" if share[i] != share[i] else f"\n{share[i]:.0%} of all predictions wrong"
        true = f"class {result.y[i]}" if result.target is None else f"true value {result.target[i]:.4g}"
        tips.append(f"{names[i]}\n{true}{wrong}")
    axes = {"signature": np.array(picture.signature), "shares": np.array(picture.shares)}
    shown = EmbeddingDisplay(points=picture.points, codes=result.codes[seen], class_names=labels, **axes)
    return shown.svg(tips, np.flatnonzero(share[seen] == 1).tolist())


def _show_predictions(result: study.StudyResult, advice: study.Recommendation | None) -> dict[str, Any]:
    """Disagreement, confusion and hard objects."""
    if advice is None or result.target is not None:
        return {"agreement": None, "confusion": None, "hard": None}
    share, few = result.predictions_by_object().share_wrong(), len(result.classes) <= _MAX_CLASSES
    return {
        "agreement": study.AgreementDisplay.from_result(result, plot=False),
        "confusion": study.ConfusionDisplay.from_result(result, advice.method, plot=False) if few else None,
        "hard": study.ObjectsDisplay.from_result(result, plot=False),
        "relabel": result.relabeling_candidates(),
        "n_right": int((share == 0).sum()),
        "n_divided": int(((share >= 0.25) & (share <= 0.75)).sum()),
    }


def _list_papers(result: study.StudyResult) -> list[tuple[str, list[tuple[str, str]]]]:
    """Papers behind the methods, each with the methods it describes and where, then similis."""
    cited: dict[str, list[tuple[str, str]]] = {}
    for info in result.methods:
        key, _, place = info.paper.partition(" ")
        if key:
            cited.setdefault(key, []).append((info.name, place))
    used = result.sessions[-1].get("versions", {}) if result.sessions else {}
    version = used.get("similis", similis.__version__)
    ours = f"The similis developers. similis: learning from pairwise similarities. Version {version}."
    order = sorted(cited, key=lambda key: (key not in PAPERS, key))
    return [*((PAPERS.get(key, key), cited[key]) for key in order), (ours, [])]


def _list_provenance(result: study.StudyResult) -> list[tuple[str, str]]:
    """Protocol, data, versions and machine."""
    fingerprint, sessions, settings = result.fingerprint, result.sessions, result.settings()
    what = f"{len(result.classes)} classes" if result.target is None else "regression"
    rows = [
        ("protocol", result.protocol.describe(len(result.splits))),
        ("data", f"{len(result.codes):,} objects, {what}, {result.kind}"),
        ("ranked by", study.METRICS[result.metric].label),
    ]
    if "groups" in settings:
        rows.append(("groups", f"{settings['groups']:,}, never on both sides of a split or fold"))
    names = [str(c) for c in result.classes]
    if result.priors is not None:
        rows.append(("priors", ", ".join(f"{name}: {p:.4g}" for name, p in zip(names, result.priors))))
    if result.costs is not None and len(names) <= _MAX_CLASSES:
        lines = (f"{name}: {', '.join(f'{c:.4g}' for c in row)}" for name, row in zip(names, result.costs))
        rows.append(("costs, by predicted class", "; ".join(lines)))
    if fingerprint.get("measure"):
        rows.append(("measure", str(fingerprint["measure"]).rpartition(".")[2] or "objects were measured"))
    rows.append(("matrix", str(fingerprint.get("matrix", ""))))
    for number, session in enumerate(sessions, 1):
        head = f"run {number} of {len(sessions)}" if len(sessions) > 1 else "run"
        rows.append((head, str(session.get("started", ""))))
    if sessions:
        versions, machine = dict(sessions[-1].get("versions") or {}), sessions[-1].get("machine")
        parts = machine.values() if isinstance(machine, dict) else [machine or ""]
        rows.append(("versions", ", ".join(f"{name} {version}" for name, version in versions.items())))
        rows.append(("machine", ", ".join(map(str, parts))))
    return [row for row in rows if row[1]]


def _format_grid(grid: Mapping[str, Any]) -> str:
    texts = {name: [f"{v:g}" if isinstance(v, float) else str(v) for v in values] for name, values in grid.items()}
    return "; ".join(f"{name}: {', '.join(values)}" for name, values in texts.items())


def _shade(error: float, table: Mapping[str, study.Row], margin: float) -> float:
    """1 for the best method of a data set, 0 for twice its error and more, with a margin for errors near zero."""
    errors = [row.error for row in table.values() if row.error == row.error]
    least = min(errors)
    return max(0.0, 1 - (error - least) / (max(least, margin, float(np.median(errors)) - least) or 1.0))
