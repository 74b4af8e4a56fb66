"""Account for every published cell: compared with ours, or left out for a stated reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from papers.experiments import EXPERIMENTS
from papers.published import PublishedCell

_MATRIX = "a matrix that the authors collected or computed; no copy was found"
_IMAGES = "distances between the authors' own images; no copy was found"
_MEASURED = "measurements or images of the authors' group; no copy was found"
MISSING = {
    **dict.fromkeys(("Amazon-47", "Amazon-2", "Caltech-101", "Face Rec", "Mirex07", "Patrol"), _MATRIX),
    **dict.fromkeys(("Yeast-5-7", "Yeast-5-12", "Yeast-6-8", "Yeast-6-10"), _MATRIX),
    **dict.fromkeys(("Color Signature", "Photo Composition", "Imagery"), _IMAGES),
    **dict.fromkeys(("Face", "Texture", "Pump", "Cband", "Digit"), _MEASURED),
}


@dataclass(frozen=True)
class Account:
    """Status of a published cell.

    Attributes
    ----------
    status : str
        ``compared``, ``set-up``, ``times``, ``left open``, ``too large``, ``no kernel``,
        ``stand-in`` or ``no data``.
    why : str
        Place of our figure, or the reason why there is none.
    """

    status: str
    why: str


@dataclass(frozen=True)
class _Rule:
    status: str
    why: str
    fits: Callable[[PublishedCell], bool]


def _at(*tables: str) -> Callable[[PublishedCell], bool]:
    return lambda cell: f"{cell.paper}:{cell.table}" in tables


def _has_stand_in(cell: PublishedCell) -> bool:
    names = {one.dataset for one in cell.each()} or set(cell.dataset.split(";"))
    return any(
        (e.paper, e.table) == (cell.paper, cell.table) and names <= set(e.stand_ins) and not names & set(e.datasets)
        for e in EXPERIMENTS
    )


# The first rule that fits holds.
_RULES = (
    _Rule("left open", "left open by the paper", lambda cell: cell.note.startswith("NA in paper")),
    _Rule(
        "left open",
        "illegible in our copy of the paper",
        lambda cell: not cell.printed and not cell.text,
    ),
    _Rule("compared", "", lambda cell: any(e.covers(cell) for e in EXPERIMENTS)),
    _Rule("set-up", "set-ups of examples", _at("cazzanti2007:3.1.1", "cazzanti2007:5.3.5")),
    _Rule("set-up", "grids, which are used here too", _at("chen2010:4.2")),
    _Rule(
        "times",
        "times on the authors' machine and data (`benchmarks/bench_hlm.py` has ratios between methods)",
        _at("qiao2013:4", "qiao2013:5"),
    ),
    _Rule(
        "times",
        "times on the authors' machine (`benchmarks/bench_learned_kernels.py` compares both programs)",
        lambda cell: cell.paper == "chen2010" and cell.quantity == "time",
    ),
    _Rule(
        "times",
        "times on the authors' machine (`benchmarks/bench_maxsim.py` has as many classes of words)",
        lambda cell: cell.paper == "bernal2003" and cell.quantity == "time",
    ),
    _Rule(
        "too large",
        "not run: linear programs of 7,000,000 to 30,000,000 non-zeros on the votes",
        lambda cell: _at("chen2010:5.1", "chen2010:5.2")(cell) and cell.dataset == "Voting",
    ),
    _Rule("no kernel", "figures that need a Pfam kernel, which is not public", _at("chen2010:5.6")),
    _Rule(
        "stand-in", "figures of data that are not available (other data stand in, which are not judged)", _has_stand_in
    ),
    _Rule(
        "set-up",
        "descriptions of data sets",
        lambda cell: (
            not cell.printed and any(e.paper == cell.paper and cell.dataset in e.datasets for e in EXPERIMENTS)
        ),
    ),
    _Rule("no data", "", lambda cell: cell.dataset in MISSING),
)


def account_for(cell: PublishedCell) -> Account:
    """Return the status of a published cell.

    Parameters
    ----------
    cell : PublishedCell
        One of :func:`published_cells`.

    Returns
    -------
    Account
        Status and reason.

    Raises
    ------
    LookupError
        If no rule fits the cell.

    Examples
    --------
    >>> from papers import account_for, published_cells
    >>> cell = published_cells("chen2010", "4.4")[0]
    >>> account_for(cell)
    Account(status='no data', why='Face Rec: a matrix that the authors collected or computed; no copy was found')
    """
    for rule in _RULES:
        if rule.fits(cell):
            return Account(
                rule.status,
                rule.why or (f"{cell.dataset}: {MISSING[cell.dataset]}" if rule.status == "no data" else ""),
            )
    raise LookupError(f"Nothing is known of {cell.paper} {cell.table} {cell.dataset} {cell.method} {cell.quantity}.")
