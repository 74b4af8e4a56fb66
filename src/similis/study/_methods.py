"""Description of a method, and the lookup of methods by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from similis._utils.fingerprint import fingerprint
from similis._utils.messages import warn_user
from similis._utils.moved import name_in_files, params_in_files

Reads = Literal["similarity", "dissimilarity", "either", "objects"]
Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class AtMost:
    """Grid values limited by the number of training objects, such as numbers of neighbors.

    Parameters
    ----------
    values : tuple of int
        In ascending order.
    """

    values: tuple[int, ...]

    def cut(self, n: int) -> list[int]:
        """Values of at most n; at least the smallest."""
        return [value for value in self.values if value <= n] or [min(self.values)]


@dataclass(frozen=True)
class Method:
    """A method of the study.

    Parameters
    ----------
    name : str
        Unique in a study; parameters of a method of the table are set in it: ``"svm-kernel(clip, C=1|10|100)"``.
    make : callable
        Returns an unfitted classifier or regressor, or a pipeline that ends in one. The study sets each `random_state`
        that is None, and `kind` of the last step, unless a transformer that is not of similis stands before it.
    grid : mapping of str to sequence, default={}
        Values to choose from inside each training part, by parameter; ``AtMost`` cuts them to its size.
    reads : {"similarity", "dissimilarity", "either", "objects"}, default="similarity"
        Input of the method, converted inside the split where the matrix is of the other kind; "objects" are those given
        with `measure`, or by ``Study.run(..., objects=X)``.
    symmetric, rescale : bool, default=False
        Whether an asymmetric matrix is symmetrized first; whether the matrix is divided by its range
        (:class:`~similis.Rescale`), for a method with parameters in the unit of the proximities.
    family, paper, summary, needs : str
        Group in reports; reference, as ``key place``; one-line description; requirements on the matrix beyond `reads`.
    baseline : bool, default=False
        A baseline for comparison, never recommended.
    quick, on_request : bool, default=False
        Whether ``methods="quick"`` includes it; whether ``"all"`` leaves it out.
    matrix : str, default=""
        Of several matrices, the one that the method reads, by name, or "mean" for their normalized mean, as in
        ``"knn[mean]"``. Empty: every one in turn, or all together for a method that reads stacks.
    cv : splitter, optional
        A scikit-learn splitter that chooses the parameters of this method, instead of the study's folds.
    details : callable, optional
        Called as ``details(model, X_train, y_train, X_test, y_test)`` after each fit, with class codes for y. The
        numbers it returns, by name, are kept as ``Entry.details``.
    landmarks : int, optional
        Fit on so many training objects (:class:`~similis.distributed.OnLandmarks`), as in ``"knn(landmarks=1000)"``.
    task : {"classification", "regression"}, default="classification"
        What the method predicts.

    Examples
    --------
    >>> from similis import SimilarityKNN
    >>> from similis.study import Method
    >>> Method("3-nn", lambda: SimilarityKNN(n_neighbors=3), reads="either", summary="three neighbors").name
    '3-nn'
    """

    name: str
    make: Callable[[], BaseEstimator]
    grid: Mapping[str, Any] = field(default_factory=dict)
    reads: Reads = "similarity"
    symmetric: bool = False
    rescale: bool = field(default=False, kw_only=True)
    matrix: str = field(default="", kw_only=True)
    family: str = ""
    paper: str = ""
    summary: str = ""
    needs: str = ""
    baseline: bool = False
    quick: bool = False
    on_request: bool = False
    cv: Any = None
    details: Callable[..., Mapping[str, float]] | None = None
    landmarks: int | None = field(default=None, kw_only=True)
    task: Task = field(default="classification", kw_only=True)

    def on_landmarks(self, n_landmarks: int) -> Method:
        """Return the method on landmarks, which are named after its other parameters."""
        name = self.base_name
        words = f"{name[:-1]}, " if name.endswith(")") else f"{name}("
        words += f"landmarks={n_landmarks})" + self.name.removeprefix(name)
        return replace(self, name=words, landmarks=n_landmarks)

    @property
    def base_name(self) -> str:
        """Name without the matrix in brackets."""
        return self.name.removesuffix(f"[{self.matrix}]") if self.matrix else self.name

    def steps(self) -> list[Any]:
        """Make the method and return the estimators it consists of: the steps of a pipeline, or one."""
        made: Any = self.make()
        return [step for _, step in getattr(made, "steps", [("", made)])]

    def reads_stack(self) -> bool:
        """Tell whether the estimator reads several matrices at once, or none of its input."""
        return all(getattr(step, "allow_stack", False) or get_tags(step).no_validation for step in self.steps())

    def grid_for(self, n: int) -> dict[str, list[Any]]:
        """Grid for training parts of `n` objects, or of as many landmarks."""
        n = n if self.landmarks is None else min(n, self.landmarks)
        return {key: v.cut(n) if isinstance(v, AtMost) else list(v) for key, v in self.grid.items()}

    def fingerprint(self, n: int) -> str:
        """Fingerprint (12 digits) of the pipeline, its parameters and the grid for `n` objects."""
        return self.identify(n).spec

    def identify(self, n: int) -> MethodIdentity:
        """Fingerprint of the pipeline, its parameters and the grid for `n` objects, now and in version 1.0."""
        try:
            made: Any = self.make()
        except Exception as error:  # becomes a row with this reason when it is evaluated
            made = type(error)
        grid = self.grid_for(n)
        name = made.__name__ if isinstance(made, type) else describe(made)
        text = f"{name}|{describe(grid)}|{self.reads}|{self.symmetric}"
        text += "" if self.cv is None else f"|{describe(self.cv)}"
        text += "|rescale" if self.rescale else ""
        text += "" if self.landmarks is None else f"|{self.landmarks} landmarks"
        exact = fingerprint([made, grid, self.cv, self.details])
        before = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        if exact.is_described:
            return MethodIdentity(before, before, ())
        # 1.0 described functions and objects by their names only.
        spec = hashlib.blake2b(f"{text}|{exact.digest}".encode(), digest_size=6).hexdigest()
        return MethodIdentity(spec, before, exact.unverified)


class MethodIdentity(NamedTuple):
    """Fingerprint of a method."""

    spec: str
    before: str  # the fingerprint that version 1.0 gave it
    unverified: tuple[str, ...]  # names of parts that cannot be verified


@dataclass(frozen=True)
class Factory:
    """A call to be made later; unlike ``partial`` objects, two of the same function and arguments are equal."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        return self.function(*self.arguments)


def lazy(name: str, /, module: str = "similis", **params: Any) -> Factory:
    """Return a factory that imports an estimator when it is called; parameters that are factories are called too."""
    return Factory(_construct, (name, module, params))


def _construct(name: str, module: str, params: dict[str, Any]) -> Any:
    params = {key: value() if isinstance(value, Factory) else value for key, value in params.items()}
    return getattr(import_module(module), name)(**params)


def chain(*parts: Factory) -> Factory:
    """Return a factory of a pipeline from factories of its steps."""
    return Factory(_construct_chain, parts)


def _construct_chain(*parts: Factory) -> Any:
    return make_pipeline(*(part() for part in parts))


def list_methods(task: Task | None = "classification") -> list[Method]:
    """Methods of the table, then those of installed packages (entry points of the group ``similis.methods``).

    Parameters
    ----------
    task : {"classification", "regression"} or None, default="classification"
        What they predict; None for all.
    """
    from similis.study._table import METHODS

    return [method for method in (*METHODS, *_installed_methods()) if task in (None, method.task)]


@cache
def _installed_methods() -> tuple[Method, ...]:
    """Methods of installed packages: an entry point names a Method, several, or a function that returns them."""
    from similis.study._table import ALIASES, METHODS

    found: dict[str, Method] = {}
    taken = {*ALIASES, *(method.name for method in METHODS)}
    for entry in sorted(entry_points(group="similis.methods"), key=lambda entry: (entry.name, entry.value)):
        try:
            loaded = entry.load()
            loaded = loaded() if callable(loaded) else loaded
            methods = [loaded] if isinstance(loaded, Method) else list(loaded)
            for method in methods:
                if not isinstance(method, Method):
                    raise TypeError(f"expected similis.study.Method, got {type(method).__name__}")
                if method.name in taken:
                    raise ValueError(f"the name {method.name!r} is taken")
            found |= {method.name: method for method in methods}
            taken |= found.keys()
        except Exception as error:  # of any kind: the package of another author; one warning, and it is skipped
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}."
            source = f"{entry.name!r} ({entry.value})"
            warn_user(f"Methods of the entry point {source} are skipped: {reason}", UserWarning)
    return tuple(found.values())


def find_methods(methods: str | Method | Sequence[str | Method], task: Task | None = None) -> list[Method]:
    """Turn names, ``"all"``, ``"quick"``, methods, or a sequence of these into methods, of a task if it is given."""
    from similis.study._names import parse_method
    from similis.study._table import ALIASES

    table = list_methods(None)
    given: Iterable[Any] = [methods] if isinstance(methods, (str, Method)) else methods
    given = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(item, (str, Method)) for item in given):
        raise ValueError(f"methods must be names and Methods, or 'all' or 'quick'. Got {str(methods)[:60]!r}.")
    by_name = {m.name: m for m in table}
    groups = [item for item in given if item in ("all", "quick")]
    given = [item for item in given if item not in groups]
    found = [item if isinstance(item, Method) else parse_method(item, by_name, ALIASES) for item in given]
    for method, item in zip(found, given):
        if isinstance(item, str) and method.task != (task or method.task):
            known = ", ".join(m.name for m in table if m.task == task and not m.baseline)
            raise ValueError(f"{method.name!r} is not a method of {task}. Use one of {known}.")
    names = [m.name for m in found]
    if groups:
        usual = [m for m in table if m.task == (task or "classification")]
        found += [m for m in usual if (m.quick or ("all" in groups and not m.on_request)) and m.name not in names]
    if not found:
        raise ValueError("methods must name at least one method. Got none.")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"methods must have different names. {name!r} appears {names.count(name)} times.")
    return found


def find_method(name: str) -> Method:
    """Find a method by its name; the ``name`` of the result is the canonical spelling, which results and cards have.

    Parameters
    ----------
    name : str
        Name of the table, with parameters in parentheses: ``"base(option, key=value, key=value|value)"``.

    Examples
    --------
    >>> from similis.study import find_method
    >>> find_method("svm-kernel(clip, C=1|10|100)").grid
    {'svc__C': [1, 10, 100]}
    """
    return find_methods([name])[0]


def expand_methods(methods: list[Method], names: Sequence[str]) -> list[Method]:
    """Methods of a study of several matrices: each on every matrix, as ``knn[s1]``, on their mean, or on a stack."""
    found = []
    for method in methods:
        if method.matrix and method.matrix not in (*names, "mean"):
            known = f"Names are {', '.join((*names, 'mean'))}." if names else "The study has a single one."
            raise ValueError(f"{method.name!r}: there is no matrix {method.matrix[:40]!r}. {known}")
        if not names or method.matrix or method.reads == "objects":
            found.append(method)
            continue
        stacked = method.reads_stack()
        if stacked:
            found.append(method)
        if not stacked or not (method.baseline or method.on_request):
            found += [replace(method, name=f"{method.name}[{name}]", matrix=name) for name in (*names, "mean")]
    return found


def canonical_name(name: str) -> str:
    """Canonical spelling of the name of a method; other names are returned unchanged."""
    with suppress(ValueError):
        return find_method(name).name
    return name


def describe(value: Any) -> str:
    """Describe an estimator, its parameters or a grid by a text that is the same in every process."""
    if isinstance(value, BaseEstimator):
        params = ",".join(f"{k}={describe(v)}" for k, v in sorted(params_in_files(value).items()))
        return f"{name_in_files(type(value))}({params})"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{describe(k)}:{describe(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(describe, value)) + "]"
    if isinstance(value, np.ndarray):
        digest = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8).hexdigest()
        return f"array({value.shape},{value.dtype},{digest})"
    if isinstance(value, np.generic):
        return repr(value.item())
    if hasattr(value, "get_params"):
        return f"{type(value).__qualname__}({describe(value.get_params())})"
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    text = repr(value)
    return text if " at 0x" not in text else type(value).__qualname__
