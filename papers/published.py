"""The published figures, cell by cell, as they were printed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from types import MappingProxyType

from similis.exceptions import ProximityError

PAPERS = ("cazzanti2007", "chen2010", "qiao2013", "pekalska2000", "bernal2003")
# Facts about data sets and values of worked examples, which are right or wrong; some of them are yes or no.
YES_OR_NO = ("symmetric", "psd", "sparse", "vector", "centroids-recovered", "same-classes-as-sda")
SIZES = ("samples", "classes", "dimensions", "samples-per-class", "training-size", *YES_OR_NO[:4])
EXAMPLES = (
    *("mean-of-uniform", "mean-similarity", "lambda", "gamma", "weight", "sign-of-lambda", "errors"),
    *("predicted-class", *YES_OR_NO[4:]),
)


@dataclass(frozen=True)
class PublishedCell:
    """One figure of one table, or of a section's running text.

    Attributes
    ----------
    paper, table, dataset, method, quantity : str
        Subject of the figure; empty where it belongs to no data set or method.
    condition : mapping of str to str
        Further conditions, such as ``{"d": "8", "p2": "1/30"}``.
    printed : str
        The figure with its digits as printed; empty where the paper leaves the cell open or prints words.
    spread : float or None
        The standard deviation printed beside it.
    unit, text, note : str
        Unit; words in place of a number; remarks on repaired or doubtful figures.
    """

    paper: str
    table: str
    dataset: str
    condition: Mapping[str, str] = field(hash=False)
    method: str
    quantity: str
    printed: str
    spread: float | None
    unit: str
    text: str
    note: str

    @property
    def value(self) -> float | None:
        """The figure as a number, or that of a word: yes 1, no 0, positive 1, negative -1; None where there is none."""
        words = {"yes": 1.0, "no": 0.0, "positive": 1.0, "negative": -1.0}
        return float(self.printed) if self.printed else words.get(self.text)

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit."""
        decimals = len(self.printed.partition(".")[2])
        return 0.5 * 10.0**-decimals

    def each(self) -> list[PublishedCell]:
        """Split a figure printed for several methods and data sets into one per pair; of a range take the lower end."""
        if ";" not in self.method:
            return [self]
        if self.quantity.endswith("-max"):
            return []
        quantity = self.quantity.removesuffix("-min")
        names = product(self.dataset.split(";"), self.method.split(";"))
        return [replace(self, dataset=dataset, method=method, quantity=quantity) for dataset, method in names]


def published_cells(
    paper: str | None = None, table: str | None = None, *, method: str | None = None, quantity: str | None = None
) -> tuple[PublishedCell, ...]:
    """Look up published figures.

    Parameters
    ----------
    paper : str, optional
        One of ``cazzanti2007``, ``chen2010``, ``qiao2013``, ``pekalska2000``, ``bernal2003``; all by default.
    table : str, optional
        Number of a table, such as ``"6.1"``.
    method, quantity : str, optional
        Only the figures of this method or quantity.

    Returns
    -------
    tuple of PublishedCell
        In the order of the papers and of their pages.

    Examples
    --------
    >>> from papers import published_cells
    >>> cell = published_cells("chen2010", "4.5", method="knn")[0]
    >>> cell.dataset, cell.value, cell.spread
    ('Protein', 29.88, 9.96)
    """
    if paper is not None and paper not in PAPERS:
        raise ProximityError(f"paper must be one of {', '.join(PAPERS)}. Got {paper!r}.")
    wanted = {"table": table, "method": method, "quantity": quantity}
    return tuple(
        cell
        for name in ([paper] if paper else PAPERS)
        for cell in _read(name)
        if all(value is None or getattr(cell, key) == value for key, value in wanted.items())
    )


def distance_of(cell: PublishedCell) -> str:
    """The distance behind a cell of [pekalska2000], Euclidean where it names none."""
    at = cell.condition
    return at.get("distance", "Euclidean") + (f";p={at['p']}" if "p" in at else "")


@cache
def _read(paper: str) -> tuple[PublishedCell, ...]:
    text = (Path(__file__).parent / "published" / f"{paper}.csv").read_text(encoding="utf-8")
    cells = []
    for row in csv.DictReader(text.splitlines()):
        pairs = (part.partition("=") for part in row["condition"].split(";") if part)
        cells.append(
            PublishedCell(
                paper=row["paper"],
                table=row["table"],
                dataset=row["dataset"],
                condition=MappingProxyType({key: value for key, _, value in pairs}),
                method=row["method"],
                quantity=row["quantity"],
                printed=row["value"],
                spread=float(row["spread"]) if row["spread"] else None,
                unit=row["unit"],
                text=row["text"],
                note=row["note"],
            )
        )
    return tuple(cells)
