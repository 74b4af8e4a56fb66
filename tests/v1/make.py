"""Write the fixtures of tests/test_version_1.py with similis 1.0.

Usage, with similis 1.0 installed::

    PYTHONPATH=tests python -m v1.make models files scores names commands

Each argument writes one group of fixtures; without arguments all of them are written. The numbers are deterministic.
Time stamps, session ids and the object ids inside the model files differ from run to run.
"""

import importlib
import inspect
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import typer
from v1.data import some_objects
from v1.files import write_files
from v1.models import write_models

import similis
from similis import study

HERE = Path(__file__).parent
PACKAGES = (
    "io measures proximity discriminant neighbors datasets maxsim mixture normal svm model_selection study distributed "
    "solvers exceptions reproduce"
).split()

# Scores: the raw predictions of every method in the study's table.

SCORED = {
    "votes": {"n": 80, "measure": "VDM"},
    "promoters": {"n": 80, "measure": "Counting"},
    "sonar": {"n": 80, "measure": "Minkowski"},
}
SCORED_STUDY = {"n_splits": 2, "test_size": 0.4, "cv": 4, "random_state": 7}


def run_scored(name, methods):
    """Run the study behind scores.json on one data set."""
    X, y = some_objects(name, SCORED[name]["n"])
    measure = getattr(similis, SCORED[name]["measure"])()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return study.Study(methods, **SCORED_STUDY).run(X, y, measure=measure)


def score_record(result, method):
    """Return predictions, parameters and scores of one method, split by split."""
    entries = [result.entries[method, split] for split in range(SCORED_STUDY["n_splits"])]
    if not all(entry.ok for entry in entries):
        return {"failed": [not entry.ok for entry in entries]}
    log_loss = result.scores("log_loss").get(method)
    return {
        "predictions": ["".join(map(str, entry.predictions)) for entry in entries],
        "params": [entry.to_record()["params"] for entry in entries],
        "error": result.scores("error")[method].tolist(),
        "log_loss": None if log_loss is None or np.isnan(log_loss).any() else log_loss.tolist(),
    }


def write_scores(out):
    """Write the predictions of all methods on the bundled data."""
    record, seconds = {}, {}
    methods = [method.name for method in study.list_methods()]
    for name in SCORED:
        result = run_scored(name, methods)
        record[name] = {
            "test": [split.test.tolist() for split in result.splits],
            "methods": {method: score_record(result, method) for method in methods},
        }
        for (method, _), entry in result.entries.items():
            seconds[method] = seconds.get(method, 0) + entry.fit_seconds + entry.predict_seconds
    text = json.dumps(record, indent=1)
    (out / "scores.json").write_text(compact_lists(text) + "\n")
    for method, value in sorted(seconds.items(), key=lambda item: -item[1])[:8]:
        print(f"{method:24} {value:8.1f} s")


def compact_lists(text):
    """Put the innermost lists and dictionaries of indented JSON on one line."""
    return re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda found: re.sub(r"\s*\n\s*", " ", found[0]), text)


# Names: public names, constructor parameters and signatures.


def write_names(out):
    """Write __all__ of every public package with the parameters of the classes and functions."""
    record = {}
    for package in ("similis", *(f"similis.{name}" for name in PACKAGES)):
        module = importlib.import_module(package)
        record[package] = {name: describe_parameters(getattr(module, name)) for name in module.__all__}
    lines = []
    for package, names in record.items():
        inner = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in names.items())
        lines.append(f" {json.dumps(package)}: {{\n{inner}\n }}")
    (out / "public_names.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def describe_parameters(value):
    """Return [name, kind, repr of the default or None] per public parameter; None for data and exceptions."""
    if not callable(value) or (isinstance(value, type) and issubclass(value, BaseException)):
        return None
    found = [p for p in inspect.signature(value).parameters.values() if not p.name.startswith("_")]
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: "any", inspect.Parameter.KEYWORD_ONLY: "keyword"}
    return [[p.name, kinds.get(p.kind, p.kind.name), None if p.default is p.empty else repr(p.default)] for p in found]


# The command line: flags of every command with their defaults.


def write_commands(out):
    """Write the flags and defaults of every command."""
    from similis.cli import app

    lines = []
    for name, command in sorted(typer.main.get_command(app).commands.items()):
        options = [p for p in sorted(command.params, key=lambda p: p.name) if p.param_type_name == "option"]
        flags = {flag: p.default for p in options for flag in (*p.opts, *p.secondary_opts)}
        lines.append(f" {json.dumps(name)}: {json.dumps(flags)}")
    (out / "command_line.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


GROUPS = {
    "models": write_models,
    "files": write_files,
    "scores": write_scores,
    "names": write_names,
    "commands": write_commands,
}

if __name__ == "__main__":
    assert similis.__version__ == "1.0.0", similis.__version__
    for group in sys.argv[1:] or GROUPS:
        GROUPS[group](HERE)
