"""Public packages and names as the API pages list them; used by Sphinx, the tests and scripts/pages.py."""

import inspect
import re
from importlib import import_module

# From objects to a recommendation; similis.cli has its own guide page.
PACKAGES = (
    "measures",
    "proximity",
    "neighbors",
    "discriminant",
    "mixture",
    "svm",
    "normal",
    "maxsim",
    "cluster",
    "model_selection",
    "inspection",
    "study",
    "report",
    "datasets",
    "io",
    "distributed",
    "solvers",
    "base",
    "testing",
    "exceptions",
)
TOP = "similis"


def names_by_package():
    """Public names by module, each in one place: {"similis.measures": ["Measure", ...], ...}."""
    found = {f"{TOP}.{package}": list(import_module(f"{TOP}.{package}").__all__) for package in PACKAGES}
    known = {name for names in found.values() for name in names}
    rest = [name for name in import_module(TOP).__all__ if name not in known and not name.startswith("__")]
    return {**found, TOP: rest} if rest else found


def public_object(module, name):
    return getattr(import_module(module), name)


def first_sentence(module, name=None):
    """The first sentence of a docstring, on one line."""
    thing = import_module(module) if name is None else public_object(module, name)
    text = DATA.get((module, name)) or inspect.getdoc(thing) or ""
    return re.split(r"(?<!\bsec)(?<!\bEq)(?<!\bE)\. ", " ".join(text.split("\n\n")[0].split()))[0].rstrip(".") + "."


def at_top_level(name):
    return name in import_module(TOP).__all__


def protocol_methods():
    """Methods for authors of extensions: those of the base classes that users do not call."""
    base = import_module(f"{TOP}.base")
    classes = [getattr(base, name) for name in base.__all__ if inspect.isclass(getattr(base, name))]
    called = {"fit", "predict", "predict_proba", "decision_function", "predict_path", "predict_path_cv", "matrix"}
    return {name for cls in classes for name in vars(cls)} - called - {"columns_", "domain_", "kind", "symmetric"}


def methods_to_show(cls):
    """Public methods and properties that similis writes, its own bases' included: construction and fit first."""
    found = {}
    hidden = set() if cls.__module__.startswith(f"{TOP}.base") else protocol_methods()
    for base in cls.__mro__:
        if base.__module__.startswith(TOP):
            for name in vars(base):
                member = inspect.getattr_static(cls, name)
                if not name.startswith(("_", "set_")) and (
                    isinstance(member, property) or callable(getattr(cls, name))
                ):
                    found.setdefault(name, inspect.getdoc(getattr(cls, name)))
    order = ("fit", "fit_transform", "transform", "partial_fit", "predict", "predict_proba", "decision_function")
    shown = [name for name, doc in found.items() if doc and name not in hidden and name != "metric"]
    return sorted(shown, key=lambda name: order.index(name) if name in order else len(order))


# Constants cannot carry a docstring.
DATA = {
    ("similis.study", "METRICS"): "The measures of merit by name: ``error``, ``log_loss`` and the others.",
}
