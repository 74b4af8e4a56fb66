"""Python code that makes and fits an estimator."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import Pipeline, make_pipeline

import similis
from similis.distributed import OnLandmarks

_LARGEST = 30  # entries of the largest array that is written out


def training_code(model: Any, data: str = "S") -> str:
    """Python code that makes a model returned by :func:`make_model` and fits it on the variables `data` and ``y``."""
    imports: set[tuple[str, str]] = set()
    around, lines = "{}", []
    if isinstance(model, OnLandmarks):
        imports.add(("similis.distributed", "OnLandmarks"))
        around = f"OnLandmarks({{}}, n_landmarks={model.n_landmarks}, random_state={model.random_state})"
        model = model.estimator
    searches = hasattr(model, "param_grid")
    made = estimator_code(model.estimator if searches else model, imports)
    if searches:
        imports.add(("similis", "PathSearchCV"))
        grid = ", ".join(f"{key!r}: {_value(list(values))}" for key, values in model.param_grid.items())
        lines = [f"model = {made}", f"grid = {{{grid}}}"]
        cv = str(getattr(model.cv, "n_splits", model.cv))
        if isinstance(model.cv, LeaveOneOut):
            imports.add(("sklearn.model_selection", "LeaveOneOut"))
        scoring = f", scoring={model.scoring!r}" if isinstance(model.scoring, str) else ""
        made = f"PathSearchCV(model, grid, cv={cv}{scoring})"
    return "\n".join([*import_lines(imports), *lines, f"model = {around.format(made)}.fit({data}, y)"])


def import_lines(imports: set[tuple[str, str]]) -> list[str]:
    """Import statements of (module, name), scikit-learn first."""
    by_module: dict[str, list[str]] = {}
    for module, name in sorted(imports, key=lambda found: (found[0].split(".")[0] != "sklearn", found)):
        by_module.setdefault(module, []).append(name)
    return [f"from {module} import {', '.join(names)}" for module, names in by_module.items()]


def call_arguments(options: dict[str, Any]) -> list[str]:
    """Keyword arguments of a call; large arrays appear by their name."""
    return [f"{name}={name if np.size(value) > _LARGEST else _value(value)}" for name, value in options.items()]


def estimator_code(estimator: Any, imports: set[tuple[str, str]]) -> str:
    """Expression that makes an estimator; adds (module, name) of each import to `imports`."""
    if isinstance(estimator, Pipeline):
        parts = [estimator_code(step, imports) for _, step in estimator.steps]
        default = make_pipeline(*(step for _, step in estimator.steps))
        if [name for name, _ in default.steps] == [name for name, _ in estimator.steps]:
            imports.add(("sklearn.pipeline", "make_pipeline"))
            return f"make_pipeline({', '.join(parts)})"
        imports.add(("sklearn.pipeline", "Pipeline"))
        named = [f"({name!r}, {part})" for (name, _), part in zip(estimator.steps, parts)]
        return f"Pipeline([{', '.join(named)}])"
    cls = type(estimator)
    imports.add((_public_module(cls), cls.__name__))
    known = inspect.signature(cls.__init__).parameters
    arguments: list[str] = []
    for name, value in estimator.get_params(deep=False).items():
        default = known[name].default
        if name == "random_state" or (type(value) is type(default) and np.all(value == default)):
            continue
        if hasattr(value, "get_params"):
            text = estimator_code(value, imports)
        else:
            text = call_arguments({name: value})[0].partition("=")[2]
        positional = known[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and not arguments
        first = positional and list(known)[1] == name and name == "measure"
        arguments.append(text if first else f"{name}={text}")
    return f"{cls.__name__}({', '.join(arguments)})"


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, float) and value != 0 and not 1e-2 <= abs(value) < 1e4:
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return repr(value)


def _public_module(cls: type) -> str:
    """Public module from which a class is imported."""
    if cls.__module__.startswith("similis.") and getattr(similis, cls.__name__, None) is cls:
        return "similis"
    parts = cls.__module__.split(".")
    return ".".join(parts[: next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))])
