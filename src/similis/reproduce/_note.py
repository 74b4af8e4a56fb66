"""A remark on differences between the papers' figures and ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Note"]


@dataclass(frozen=True)
class Note:
    """A remark on some comparisons; an empty field fits all.

    Attributes
    ----------
    mark : str
        How a table refers to the remark.
    text : str
        The remark: what is established, what is inferred, what is not known.
    paper, tables, datasets, methods, quantities, verdicts, conditions
        Which comparisons it is about; `conditions` are texts ``key=value`` of which one must hold.
    """

    mark: str
    text: str
    paper: str = ""
    tables: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()

    def fits(self, cell: dict[str, Any]) -> bool:
        """Whether the remark is about this cell of a results file."""
        held = {f"{key}={value}" for key, value in cell["condition"].items()}
        return (
            self.paper in ("", cell["paper"])
            and (not self.tables or cell["table"] in self.tables)
            and (not self.datasets or cell["dataset"] in self.datasets)
            and (not self.methods or cell["method"] in self.methods)
            and (not self.quantities or cell["quantity"] in self.quantities)
            and (not self.verdicts or cell["verdict"] in self.verdicts)
            and (not self.conditions or bool(held & set(self.conditions)))
        )
