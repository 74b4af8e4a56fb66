"""Method names with parameters: ``base(option, key=value, key=value|value)``.

A name in canonical spelling keeps the order of its parameters; random numbers are seeded by it.
"""

from __future__ import annotations

import inspect
import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

import similis
from similis._utils.moved import DEPRECATED
from similis.base import describe_constraints, satisfies_constraints, string_options
from similis.study._methods import AtMost, Factory, Method

_SET_BY_STUDY = ("kind",)  # of the matrix, or of the last conversion
_LARGEST_INTEGER = 1e6  # of floats that are written as integers


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter of a method.

    Attributes
    ----------
    name, key, allowed : str
        Shortest unambiguous name, as written in method names; name for ``set_params``; allowed values in words, empty
        if they are not declared.
    values : tuple
        Grid, or the one value that the method has.
    owner : estimator
        Estimator that has the parameter.
    """

    name: str
    key: str
    values: tuple[Any, ...]
    allowed: str
    owner: Any

    @property
    def leaf(self) -> str:
        """Name of the parameter in its estimator."""
        return self.key.rpartition("__")[2]

    def describe(self) -> str:
        """Return the parameter's description in the docstring of its estimator, in one line."""
        return _describe(type(self.owner), self.leaf)

    def format(self) -> str:
        """Format the values as in a method name."""
        return "|".join(map(_format, self.values))


def _describe(owner: type, leaf: str) -> str:
    """Description of a parameter in the docstring of its class, or of the class that it refers to."""
    text = inspect.getdoc(owner) or ""
    found = re.search(rf"^(?:\w+, )*{leaf}(?:, \w+)*(?: :.*)?\n((?:[ ]+.*\n|\n)+)", text, flags=re.MULTILINE)
    if found is None:
        return ""
    if (other := re.match(r"\s*As in :class:`~?(?:[\w.]+\.)?(\w+)`", found[1])) is not None:
        return _describe(getattr(similis, other[1]), leaf)
    text = " ".join(found[1].split("\n\n")[0].split())
    return re.sub(r"(?::\w+:)?`+(?:~[\w.]*\.)?([^`]+?)(?: <[^`]*>)?`+_?", r"\1", text)  # without markup


def list_parameters(method: Method) -> list[Parameter]:
    """Return the parameters that can be set in the name of a method, those of its grid first.

    Parameters
    ----------
    method : Method
        Such as :func:`find_method` returns.

    Examples
    --------
    >>> from similis.study import find_method, list_parameters
    >>> [f"{p.name}={p.format()} ({p.allowed})" for p in list_parameters(find_method("nc"))]
    ['adjusted=false (true|false)', 'centroid=max-sum (any-class|max-sum|popular)']
    """
    nested = dict(_owners(method.make()))
    leaves = [key.rpartition("__")[2] for key in nested]
    found = []
    for key, (owner, value) in nested.items():
        leaf = key.rpartition("__")[2]
        if str(value) == DEPRECATED or not satisfies_constraints(owner, leaf, value):  # deprecated in scikit-learn
            continue
        # A parameter that the method chooses has priority over others of the same name.
        short = leaves.count(leaf) == 1 or key in method.grid
        grid = method.grid.get(key, [value])
        values = grid.values if isinstance(grid, AtMost) else tuple(grid)
        found.append(Parameter(leaf if short else key, key, values, describe_constraints(owner, leaf), owner))
    return sorted(found, key=lambda parameter: parameter.key not in method.grid)


def parse_method(text: str, table: Mapping[str, Method], aliases: Mapping[str, str]) -> Method:
    """Find the method of a name with its parameters set; ``[name]`` behind it names a matrix, or the mean of all."""
    text = text.strip()
    text = aliases.get(text, text)
    if (bracketed := re.fullmatch(r"(.+)\[([^\[\]]+)\]", text)) is not None:
        found, matrix = parse_method(bracketed[1], table, aliases), bracketed[2].strip()
        return replace(found, name=f"{found.name}[{matrix}]", matrix=matrix)
    if text in table:
        return table[text]
    base, settings = _parse_call(text)
    given = {key.replace("-", "_"): value for key, value in settings}
    if (landmarks := given.get("landmarks")) is not None:
        if not landmarks.isdecimal() or not int(landmarks):
            raise ValueError(f"{text[:80]!r}: landmarks must be a number of objects. Got {landmarks!r}.")
        others = [key if value is None else f"{key}={value}" for key, value in settings if key != "landmarks"]
        plain = f"{base}({', '.join(others)})" if others else base
        return parse_method(plain, table, aliases).on_landmarks(int(landmarks))
    base, of_alias = _parse_call(aliases.get(base, base))
    settings = [*((key, value) for key, value in of_alias if key not in given), *settings]
    option = f"{base}({settings[0][0]})" if settings and settings[0][1] is None else ""
    known = table.get(aliases.get(option, option))
    if known is not None:
        settings = settings[1:]
    elif (known := table.get(base)) is None:
        raise ValueError(_unknown_method(text, base, [*table, *aliases]))
    return _with_settings(known, settings) if settings else known


def _configure(make: Callable[[], Any], params: dict[str, Any]) -> Any:
    return make().set_params(**params)


def _with_settings(method: Method, settings: list[tuple[str, str | None]]) -> Method:
    """Set parameters given as text; None is the text of a word without value."""
    parameters = {parameter.name: parameter for parameter in list_parameters(method)}
    by_key = {parameter.key: parameter for parameter in parameters.values()}
    grid = dict(method.grid)
    fixed: dict[str, Any] = {}
    words = []
    for given, text in settings:
        name = given.replace("-", "_")
        found = parameters.get(name) or by_key.get(name)
        if found is None or (text is None and "true" not in found.allowed):
            raise ValueError(_unknown_parameter(method, given, text, parameters))
        if found.key in fixed or (found.key in grid and grid[found.key] is not method.grid.get(found.key)):
            raise ValueError(f"{method.name!r}: the parameter {found.name} is given twice.")
        values = [_parse_value(method, found, value) for value in _split(text or "true", "|")]
        values = list({(type(v), repr(v)): v for v in values}.values())  # no repetitions, but 1, 1.0 and true differ
        grid.pop(found.key, None)
        if len(values) == 1:
            fixed[found.key] = values[0]
        elif isinstance(method.grid.get(found.key), AtMost) and all(isinstance(value, int) for value in values):
            grid[found.key] = AtMost(tuple(values))
        else:
            grid[found.key] = values
        words.append(f"{found.name}={'|'.join(map(_format, values))}")
    base, parts = _parse_call(method.name)
    words = [*(key for key, value in parts if value is None), *words]
    make = Factory(_configure, (method.make, fixed)) if fixed else method.make
    reads = method.reads
    if reads == "either":  # some settings, such as weighted neighbors, read similarities only
        points = [{key: value} for key, values in grid.items() if isinstance(values, list) for value in values]
        if any(getattr(make().set_params(**point), "needs_similarities", False) for point in ({}, *points)):
            reads = "similarity"
    return replace(method, name=f"{base}({', '.join(words)})", make=make, grid=grid, reads=reads)


def _parse_call(text: str) -> tuple[str, list[tuple[str, str | None]]]:
    """Split ``base(word, key=value)`` into its base and its parts, words first; None is the value of a word."""
    base, opened, rest = text.partition("(")
    if not opened:
        return text, []
    if not rest.endswith(")") or text.count("(") != text.count(")"):
        raise ValueError(f"The method name {text[:80]!r} must end in ')', with as many '(' as ')'.")
    parts: list[tuple[str, str | None]] = []
    for part in _split(rest[:-1], ","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not part or (equals and not (key and value)):
            words = f"The method name {text[:80]!r} must have the form base(option, key=value, ...)."
            raise ValueError(f"{words} Got {part[:40]!r}.")
        parts.append((key, value if equals else None))
    return base.strip(), sorted(parts, key=lambda part: part[1] is not None)


def _split(text: str, mark: str) -> list[str]:
    """Split at a mark outside brackets and quotes; no part of a blank text."""
    parts, depth, quoted = [""], 0, ""
    for letter in text:
        if letter in "'\"" and quoted in ("", letter):
            quoted = "" if quoted else letter
        depth += 0 if quoted else (letter in "([{") - (letter in ")]}")
        if letter == mark and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts] if text.strip() else []


def _owners(estimator: Any, prefix: str = "") -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield (key, (owner, value)) of the parameters that text can set, also of nested estimators."""
    steps = isinstance(estimator, Pipeline)
    parts = dict(estimator.steps) if steps else estimator.get_params(deep=False)
    for name, value in parts.items():
        if isinstance(value, BaseEstimator):
            yield from _owners(value, f"{prefix}{name}__")
        elif not steps and name not in _SET_BY_STUDY:
            yield prefix + name, (estimator, value)


def _parse_value(method: Method, parameter: Parameter, text: str) -> Any:
    """Turn text into the first allowed of: a declared string, none, true or false, a number, a literal, a string."""
    options = string_options(parameter.owner, parameter.leaf)
    for value in _candidates(text, options):
        if satisfies_constraints(parameter.owner, parameter.leaf, value):
            return value
    near = get_close_matches(text.lower(), options, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    words = f"{method.name!r}: {parameter.name} must be one of these: {parameter.allowed}."
    raise ValueError(f"{words} Got {text[:60]!r}.{hint}")


def _candidates(text: str, options: list[str]) -> Iterator[Any]:
    if text in options:
        yield text
    constants = {"none": None, "true": True, "false": False}
    if text.lower() in constants:
        yield constants[text.lower()]
    with suppress(ValueError):
        number = float(text)
        if number.is_integer() and abs(number) < _LARGEST_INTEGER:
            yield int(number)
        yield number
    if text[:1] not in "([{'\"":
        yield text
        return
    with suppress(ValueError, SyntaxError):
        yield literal_eval(text)


def _format(value: Any) -> str:
    """Format a value as :func:`_parse_value` reads it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value or value != value else repr(value)
    return value if isinstance(value, str) and re.fullmatch(r"[\w.+-]*", value) else repr(value)


def _unknown_method(text: str, base: str, known: list[str]) -> str:
    near = [name for name in known if name.startswith(f"{base}(")][:4] or get_close_matches(
        base if "=" in text else text, known, n=2, cutoff=0.5
    )
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"Some are {', '.join(map(repr, known[:4]))}."
    all_of_them = "`similis study --list` and similis.study.list_methods() show all."
    return f"There is no method {text[:60]!r} in the table. {hint} {all_of_them}"


def _unknown_parameter(method: Method, given: str, text: str | None, parameters: dict[str, Parameter]) -> str:
    name = given.replace("-", "_")
    if name in _SET_BY_STUDY:
        return f"{method.name!r}: the parameter {name} is that of the matrix and cannot be set for one method."
    same = [parameter.name for parameter in parameters.values() if parameter.leaf == name]
    if len(same) > 1:
        return f"{method.name!r}: several steps have a parameter {name}. Name one: {', '.join(same)}."
    if text is None:
        near = [f"{p.name}={given}" for p in parameters.values() if given in string_options(p.owner, p.leaf)]
        near += [f"{p.name}=..." for p in parameters.values() if p.name == name]
    else:
        near = get_close_matches(name, list(parameters), n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    listed = f"It has {', '.join(parameters)}." if parameters else "It has no parameters."
    return f"{method.name!r} has no {'option' if text is None else 'parameter'} {given[:60]!r}.{hint} {listed}"
