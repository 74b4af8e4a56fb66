"""Published and reproduced figures, and a verdict by a rule that was fixed before the runs.

Two means agree when they differ by at most three combined standard errors, or by no more than one object
where each object is tested once, plus half a unit of the paper's last digit. Our standard error is that of our
runs. The paper's is its printed standard deviation over the root of its number of runs; where it prints none, its
runs are taken to spread like ours. Leave-one-out has no runs: ours is the figure for the objects in the order of their
file, and its standard error the deviation that other orders, and so other ties, make. A figure cannot be judged where
the largest difference that agrees exceeds half of the printed value. Anything else is a miss, in either direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from papers.published import EXAMPLES, SIZES, PublishedCell

RULE = (
    "Agreement: a difference of at most 3 combined standard errors (or one object, where each is tested once) plus "
    "half a unit of the paper's last digit. Where the paper prints no spread, its runs are taken to spread like ours. "
    "Leave-one-out has no runs: the standard error is the deviation over shuffled orders of the objects, which "
    "decide ties. A figure cannot be judged where the largest difference that agrees exceeds half of the printed value."
)
NO_MISS = ("agrees", "cannot be judged", "one run", "beside")
_HIGHER_IS_BETTER = ("nce", "accuracy")


@dataclass(frozen=True)
class ReproducedCell:
    """A published figure and ours.

    Attributes
    ----------
    paper, table, dataset, method, quantity : str
        Subject of the figure; the quantity ends in "with floor" where the papers' floor was simulated.
    condition : dict
        Further conditions.
    published, spread : float
        The paper's figure and standard deviation (None: not printed).
    ours : float or None
        Mean over our runs; for leave-one-out the figure in the order of the file.
    difference : float or None
        Ours minus the paper's.
    standard_error : float or None
        Combined, of the difference.
    tolerance : float or None
        The largest difference that agrees.
    verdict : str
        ``agrees``, ``better``, ``worse``, ``differs`` (facts about data), ``cannot be judged``, ``one run``,
        ``beside`` (not printed by the paper), ``no data`` or ``failed``.
    values : list of float
        Every run.
    chosen : dict of str to list
        Values chosen in each run, by parameter; empty for a variant of the same runs.
    seconds : float
        Processor time of our runs; wall time of those that were read from a journal.
    made : list of str
        Days of the first and the last of our runs, and the commits of the sources that made them.
    repeated : list
        After a repetition: its day and commit, how many of the runs were repeated, how many gave the same value, and
        the seconds.
    reason : str
        Reason for a missing figure.
    """

    paper: str
    table: str
    dataset: str
    condition: dict[str, str]
    method: str
    quantity: str
    published: float
    spread: float | None
    ours: float | None = None
    difference: float | None = None
    standard_error: float | None = None
    tolerance: float | None = None
    verdict: str = "no data"
    values: list[float] = field(default_factory=list)
    chosen: dict[str, list[Any]] = field(default_factory=dict)
    seconds: float = 0.0
    made: list[str] = field(default_factory=list)
    repeated: list[Any] = field(default_factory=list)
    reason: str = ""

    @property
    def digits(self) -> int:
        """Number of decimals to print."""
        return digits_of(self.quantity)

    @property
    def is_miss(self) -> bool:
        """True if the figures disagree, or ours is missing."""
        return self.verdict not in NO_MISS

    @property
    def urgency(self) -> tuple[Any, ...]:
        """Sorts misses first, the largest in units of their tolerance at the top."""
        if self.difference is None:
            return (0, 0.0)
        size = abs(self.difference) / self.tolerance if self.tolerance else 0.0
        return (1 if self.is_miss else 2, -size)


def digits_of(quantity: str) -> int:
    """Number of decimals to print: percentages have two, perplexities three, normalized cross entropies four."""
    if quantity in SIZES:
        return 0
    return {"perplexity": 3, "nce": 4, "objective": 3, "empirical-risk": 3}.get(quantity, 2)


def judge(
    cell: PublishedCell,
    variant: str,
    outcomes: list[dict[str, Any]],
    *,
    paper_runs: int,
    in_order: bool = False,
    resolution: float = 0.0,
    stand_in: bool = False,
    reason: str = "",
) -> ReproducedCell:
    """Compare a published figure with the outcomes of our runs.

    Parameters
    ----------
    cell : PublishedCell
        The published figure.
    variant : str
        Ending of our quantity: empty, or " with floor".
    outcomes : list of dict
        One per run, with ``values``, ``chosen``, ``seconds``, ``when`` and ``commit``, or with ``failed``.
    paper_runs : int
        Number of runs behind the published figure.
    in_order : bool
        Whether the first outcome is the experiment and the others differ from it only by the order of the objects.
    resolution : float
        The smallest difference that can exist between two figures.
    stand_in : bool
        Whether the paper does not print this figure, so that it is not judged.
    reason : str
        Reason why there are no outcomes, if there are none.
    """
    assert cell.value is not None
    about: dict[str, Any] = {
        "paper": cell.paper,
        "table": cell.table,
        "dataset": cell.dataset,
        "condition": dict(cell.condition),
        "method": cell.method,
        "quantity": cell.quantity + variant,
        "published": cell.value,
        "spread": cell.spread,
    }
    failed = [outcome["failed"] for outcome in outcomes if "failed" in outcome]
    if failed or not outcomes:
        return ReproducedCell(
            **about, verdict="failed" if failed else "no data", reason=failed[0] if failed else reason
        )
    values = [outcome["values"][cell.quantity + variant] for outcome in outcomes]
    ours = float(values[0] if in_order else np.mean(values))
    difference = ours - cell.value
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    theirs = deviation if cell.spread is None else cell.spread
    error = deviation if in_order else math.hypot(deviation / math.sqrt(len(values)), theirs / math.sqrt(paper_runs))
    known = not math.isnan(error)
    tolerance = max(3 * error, resolution) + cell.rounding if known else None
    return ReproducedCell(
        **about,
        ours=ours,
        difference=difference,
        standard_error=error if known else None,
        tolerance=tolerance,
        verdict="beside" if stand_in else _verdict(difference, tolerance, cell.quantity, cell.value),
        values=values,
        chosen={} if variant else {key: [o["chosen"].get(key) for o in outcomes] for key in outcomes[0]["chosen"]},
        seconds=round(sum(outcome["seconds"] for outcome in outcomes), 3),
        made=_made(outcomes),
    )


def _made(outcomes: list[dict[str, Any]]) -> list[str]:
    days = sorted(outcome["when"][:10] for outcome in outcomes if "when" in outcome)
    commits = sorted({outcome["commit"] for outcome in outcomes if outcome.get("commit")})
    return [days[0], days[-1], *commits] if days else []


def joint_differences(
    cells: list[dict[str, Any]], where: Callable[[dict[str, Any]], str]
) -> list[tuple[str, str, int, float, float]]:
    """Compare methods together, where all of them, or all of a family, lie on the same side of the paper.

    Parameters
    ----------
    cells : list of dict
        Judged errors of a paper.
    where : callable
        Names the data set and conditions of a cell; its methods share their splits.

    Returns
    -------
    list of (str, str, int, float, float)
        Data set, family ("all" for all methods), number of methods, mean difference, and its standard error: that of
        the mean over the methods in each of our runs, doubled in variance because the paper's runs spread alike. Only
        where at least four methods agree one by one and all differ in the same direction.
    """
    groups: dict[tuple[str, str, int], dict[str, dict[str, Any]]] = {}
    for cell in cells:
        runs = len(cell["values"])
        if cell["verdict"] in ("agrees", "cannot be judged") and runs > 5:
            for family in ("all", cell["method"].partition("-")[0]):
                groups.setdefault((where(cell), family, runs), {})[cell["method"]] = cell
    found = []
    for (name, family, _), group in groups.items():
        differences = np.array([cell["difference"] for cell in group.values()])
        if len(group) >= 4 and abs(np.sign(differences).sum()) == len(group):
            values = np.array([cell["values"] for cell in group.values()]).mean(axis=0)
            error = values.std(ddof=1) * math.sqrt(2 / len(values))
            found.append((name, family, len(group), float(differences.mean()), float(error)))
    return found


def lowest_errors(
    cells: list[dict[str, Any]], where: Callable[[dict[str, Any]], str], *, level: float = 0.05
) -> list[dict[str, Any]]:
    """Select the lowest error of each row, and those that do not differ from it: the papers' bold figures.

    [cazzanti2007] sec. 6.1: Wilcoxon's signed-rank test of the paired runs. Naive Bayes, which reads the features, is
    printed for reference only.
    """
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in cells:
        if cell["quantity"].startswith("error") and len(cell["values"]) > 5 and cell["method"] != "naive-bayes":
            rows.setdefault((where(cell), cell["quantity"]), []).append(cell)
    found = []
    for row in rows.values():
        best = min(row, key=lambda cell: cell["ours"])
        for cell in row:
            pairs = list(zip(cell["values"], best["values"]))  # a slow method may have fewer runs
            apart = [a - b for a, b in pairs if a != b]
            if not apart or wilcoxon(apart, method="approx").pvalue >= level:
                found.append(cell)
    return found


def _verdict(difference: float, tolerance: float | None, quantity: str, published: float) -> str:
    if tolerance is None:
        return "one run"
    if quantity in (*SIZES, *EXAMPLES):
        return "agrees" if abs(difference) <= tolerance else "differs"
    if tolerance > abs(published) / 2:
        return "cannot be judged"
    if abs(difference) <= tolerance:
        return "agrees"
    return "better" if (difference > 0) == (quantity in _HIGHER_IS_BETTER) else "worse"
