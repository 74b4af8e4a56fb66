"""Declaration of options, those that several commands share, and the command decorator."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import partial, wraps
from typing import Annotated, Any, get_type_hints

import typer

import similis
from similis.cli._console import report_errors

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Number of processes; -1 takes all cores.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files of another kind.")]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]


def option(*flags: str, default: Any = None, kind: Any = typer.Option, **settings: Any) -> Any:
    """Declare an option as the default of a parameter or field; its long flag is its name unless `flags` hold one."""
    return field(default=default, metadata={"flags": flags, "declare": partial(kind, **settings)})


argument = partial(option, default=MISSING, kind=typer.Argument)


_DESCRIBED = re.compile(r"^(\w+)(?: (\S+))?: (.*\n(?:    .*\n)*)", re.MULTILINE)


def _read_help(documented: Any) -> dict[str, dict[str, str]]:
    """Metavar and help of each option, from the lines ``name METAVAR: help`` of a docstring, perhaps continued."""
    found = _DESCRIBED.findall(inspect.cleandoc(documented.__doc__ or "") + "\n")
    return {name: {"help": " ".join(text.split()), **({"metavar": var} if var else {})} for name, var, text in found}


def flags_of(name: str, declared: Field[Any]) -> list[str]:
    """Flags of an option, its long name first; none of an argument."""
    flags = list(declared.metadata["flags"])
    is_named = declared.metadata["declare"].func is typer.Argument or any(flag.startswith("--") for flag in flags)
    return flags if is_named else [f"--{name.replace('_', '-')}", *flags]


def command(
    *, only: Collection[str] | None = None, without: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function into a command whose errors are reported in one line; its docstring may describe options.

    A dataclass argument becomes one option per field: of those named by `only`, or of all `without` some.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints, texts = get_type_hints(function, include_extras=True), _read_help(function)
        parameters: list[inspect.Parameter] = []
        groups: dict[str, tuple[type, list[str]]] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if not is_dataclass(hints[name]):
                parameters.append(_parameter(name, hints[name], parameter.default, **texts.get(name, {})))
                continue
            types, inner = get_type_hints(hints[name], include_extras=True), _read_help(hints[name])
            kept = [f for f in fields(hints[name]) if (only is None or f.name in only) and f.name not in without]
            groups[name] = hints[name], [f.name for f in kept]
            for f in kept:
                default = f if f.metadata else f.default
                parameters.append(_parameter(f.name, types[f.name], default, **inner.get(f.name, {})))

        @wraps(function)
        def run(**given: Any) -> None:
            for name, (group, names) in groups.items():
                given[name] = group(**{field: given.pop(field) for field in names})
            with report_errors():
                function(**given)

        run.__doc__ = _DESCRIBED.sub("", inspect.cleandoc(function.__doc__ or ""))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


@contextmanager
def connect_cluster(address: str | None) -> Iterator[Any]:
    """Connect to a Dask cluster, "local" for processes of this machine; yield None without an address."""
    if address is None:
        yield None
        return
    logging.disable(logging.ERROR)  # tracebacks that Dask logs; what they mean is raised
    try:
        with similis.distributed.connect(None if address == "local" else address) as client:
            yield client
    finally:
        logging.disable(logging.NOTSET)


def _parameter(name: str, hint: Any, default: Any, **texts: str) -> inspect.Parameter:
    """Parameter as Typer reads it, from a default that :func:`option` has made, or a plain one."""
    if isinstance(default, Field):
        declare, flags = default.metadata["declare"], flags_of(name, default)
        default = inspect.Parameter.empty if default.default is MISSING else default.default
        hint = Annotated[hint, declare(*flags, **texts, show_default=default is not None and default is not False)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
