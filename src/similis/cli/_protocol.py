"""Options that say how a study splits, shared by ``study`` and ``fit``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.study import Study

__all__ = ["Folds", "Journal", "Protocol", "Splits", "StudySetup", "TestSize", "complete_method", "make_study"]

_option = partial(typer.Option, rich_help_panel="Protocol")

Protocol = Annotated[
    str,
    _option(
        "--protocol",
        metavar="random|stratified|kfold|loo",
        help="Random splits, the same with class shares kept, repeated folds, or leave one out.",
    ),
]
Splits = Annotated[int, _option("--splits", "-n", help="Number of splits.")]
TestSize = Annotated[float, _option("--test-size", help="Share that is held out.")]
Folds = Annotated[str, _option("--folds", metavar="N|loo", help="Folds that choose parameters inside a split.")]
Journal = Annotated[
    str | None,
    _option(
        "--journal",
        metavar="FILE",
        help="Write down every finished split at once; a later run goes on from there.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class StudySetup:
    """How methods are compared."""

    methods: tuple[str, ...] = ("all",)
    protocol: str = "random"
    splits: int = 20
    test_size: float = 0.2
    folds: str = "10"
    seed: int = 0
    jobs: int = 1
    journal: str | None = None


def make_study(setup: StudySetup) -> Study:
    """The study that was asked for."""
    from similis.study import Study

    methods: Any = setup.methods[0] if setup.methods in (("all",), ("quick",)) else list(setup.methods)
    if setup.folds != "loo" and not setup.folds.isdecimal():
        raise ProximityError(f"--folds must be a number or 'loo'. Got {setup.folds[:40]!r}.")
    return Study(
        methods,
        protocol=setup.protocol,  # type: ignore[arg-type]
        n_splits=setup.splits,
        test_size=setup.test_size,
        cv="loo" if setup.folds == "loo" else int(setup.folds),
        random_state=setup.seed,
        n_jobs=setup.jobs,
        journal=setup.journal,
    )


def complete_method(incomplete: str) -> list[str]:
    """Names that begin with what was typed, for shell completion."""
    from similis.study import list_methods

    return [method.name for method in list_methods() if method.name.startswith(incomplete)]
