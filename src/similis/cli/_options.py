"""Command decorator, and options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from similis.cli._console import report_errors

__all__ = ["Jobs", "Json", "Overwrite", "Quiet", "Seed", "command"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Number of processes; -1 takes all cores.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files of another kind.")]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]


def command(
    *, only: Collection[str] | None = None, without: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function into a command whose errors are reported in one line.

    An argument that is a dataclass becomes one option per field, in its place: ``def study(source: Source)`` has the
    options of all fields of `Source` and is called with a `Source`.

    Parameters
    ----------
    only, without : collection of str
        Fields that the command has options for, or has none for; the others keep their defaults.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        parameters: list[inspect.Parameter] = []
        groups: dict[str, tuple[type, list[str]]] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if not is_dataclass(hints[name]):
                parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            types = get_type_hints(hints[name], include_extras=True)
            kept = [f for f in fields(hints[name]) if (only is None or f.name in only) and f.name not in without]
            groups[name] = hints[name], [f.name for f in kept]
            parameters += [
                inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=types[f.name])
                for f in kept
            ]

        @wraps(function)
        def run(**given: Any) -> None:
            for name, (group, names) in groups.items():
                given[name] = group(**{field: given.pop(field) for field in names})
            with report_errors():
                function(**given)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate
