"""Models in files, through skops: types are checked against a list of ours, and nothing is ever executed.

A model file is an uncompressed zip archive with a JSON description of the object and the arrays it holds. Before skops
builds anything, three questions are answered from the description alone: is every node of a harmless sort, is every
type of similis one that we made to be stored, and is every other type one that skops trusts by itself.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

import similis
from similis._utils.files import atomic_write, short_path
from similis._utils.storable import STORABLE
from similis.io._numpy import check_size

__all__ = ["load", "save"]

# Nodes that hold data, make containers of data, or fill the attributes of an object of a trusted class. Left out on
# purpose: MethodNode, PartialNode, OperatorFuncNode (things to call) and TreeNode (unchecked indices into memory).
_NODES = frozenset(
    "BytearrayNode BytesNode CachedNode ConstructorFromReduceNode DTypeNode DefaultDictNode DictNode FunctionNode "
    "JsonNode ListNode LossNode MaskedArrayNode NdArrayNode ObjectNode RandomStateNode SetNode SliceNode "
    "SparseMatrixNode TupleNode TypeNode".split()
)
# What objects, and scikit-learn's calibration, threshold tuning, voting, stacking and searches, hold beyond what skops
# trusts by itself.
_OTHERS = frozenset(
    {
        "builtins.frozenset",
        "scipy.sparse._csr.csr_array",
        "similis.base._compact.FoldedSVC",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.metrics._scorer._CurveScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.LeaveOneOut",
        "sklearn.model_selection._split.RepeatedStratifiedKFold",
        "sklearn.model_selection._split.ShuffleSplit",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.model_selection._split.StratifiedShuffleSplit",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
    }
)
# Packages of version 1.0 whose classes live elsewhere now.
_MOVED_PACKAGES = {"_utils": "base"}
_RENAMED_CLASSES = {"Past": "ClassHistory"}  # private classes in models of version 1.0
MAX_BYTES = 2**31  # of what is packed in a model file
_KEYS = frozenset({"builtins.str", "builtins.int", "builtins.float", "numpy.str_"})
_NUMPY_KEYS = ("numpy.int", "numpy.uint", "numpy.float")
_REFUSED = {
    "MethodNode": "a bound method",
    "PartialNode": "a partial function",
    "OperatorFuncNode": "an operator",
    "TreeNode": "a decision tree, whose stored indices scikit-learn does not check",
}


def save(model: Any, path: str | os.PathLike[str], *, trusted: Sequence[type] = ()) -> None:
    """Save a model so that :func:`load` gives it back.

    Parameters
    ----------
    model : estimator
        Any estimator, measure or pipeline of similis and scikit-learn, fitted or not.
    path : str or path-like
        Where to write; ``.skops`` is the usual ending. The file appears whole or not at all.
    trusted : sequence of types, default=()
        Classes of your own that the model holds. The same must be given to :func:`load`.

    Raises
    ------
    ValueError
        If the model holds something that :func:`load` would refuse: a function (files never bring back functions, so
        ``FromFunction(f)`` cannot be saved), a decision tree, a class that is not on the list.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.svm import SVC
    >>> from similis import load, save
    >>> model = SVC(kernel="precomputed").fit([[1.0, 0.2], [0.2, 1.0]], ["x", "y"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.skops")
    >>> save(model, path)
    >>> load(path).predict([[0.9, 0.1]])
    array(['x'], dtype='<U1')
    """
    import skops.io

    what = type(model).__name__
    try:
        data = skops.io.dumps(model)
    except Exception as error:  # skops meets whatever the object's own state methods raise
        raise ValueError(f"This {what} cannot be saved: {_reason(error)}.") from None
    _audit(io.BytesIO(data), f"This {what} cannot be saved: it", trusted)
    with atomic_write(path) as file:
        file.write(data)


def load(path: str | os.PathLike[str], *, trusted: Sequence[type] = ()) -> Any:
    """Load a model that :func:`save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of types, default=()
        Classes of your own that the model may hold, beside those of similis and scikit-learn.

    Returns
    -------
    object
        The model, with the same predictions.

    Raises
    ------
    ValueError
        If the file is anything else: a pickle, a damaged file, a model with foreign types or functions.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Nothing in the file is executed. What it says is believed, though: a file made by someone who means harm can hold
    numbers that make predictions wrong.
    """
    import skops.io

    where = short_path(path)
    with open(path, "rb") as stored:
        file = _with_current_names(stored, where)
        names = _audit(file, where, trusted)
        file.seek(0)
        try:
            return skops.io.load(file, trusted=names)
        except Exception as error:  # every damaged or hostile file ends here, whatever it made a parser do
            raise ValueError(f"{where} cannot be loaded: {_reason(error)}.") from None


def _audit(file: IO[bytes], where: str, trusted: Sequence[type]) -> list[str]:
    """Check a model file without building anything; return the names of the types that skops shall trust too."""
    import skops.io

    _check_own_types(trusted)
    _check_archive(file, where)
    own = {f"{cls.__module__}.{cls.__qualname__}" for cls in trusted}
    names: set[str] = set()
    functions: set[str] = set()
    for node in _nodes(_schema(file, where)):
        loader, name = node["__loader__"], f"{node.get('__module__')}.{node.get('__class__')}"
        if not isinstance(loader, str) or loader not in _NODES:
            what = _REFUSED.get(str(loader), "something unknown")
            raise ValueError(f"{where} holds {what}, which files never bring back.")
        if loader == "DictNode" and not _keeps_keys(node):
            raise ValueError(f"{where} holds a dictionary whose keys are neither text nor numbers; files lose them.")
        if loader == "FunctionNode":
            functions.add(name)
        elif name in own or name in _OTHERS or _is_ours(name):
            names.add(name)
    names |= functions & _scoring_functions() if functions else set()
    with _readable(where):
        foreign = sorted(set(skops.io.get_untrusted_types(file=file)) - names)  # type: ignore[arg-type]
    for name in foreign:
        if name in functions:
            raise ValueError(f"{where} holds the function {name[-80:]!r}, and files never bring back functions.")
        raise ValueError(
            f"{where} holds {name[-80:]!r}, which is not on the list of classes that files may bring back. If it is "
            "yours, and you trust the file, give the class as trusted=[...]."
        )
    return sorted(names)


def _scoring_functions() -> set[str]:
    """The one sort of function that is let in: those behind scikit-learn's own named scores."""
    from sklearn.metrics import get_scorer, get_scorer_names

    functions = [get_scorer(name)._score_func for name in get_scorer_names()]
    return {f"{function.__module__}.{function.__name__}" for function in functions}


def _check_own_types(trusted: Sequence[type]) -> None:
    for cls in trusted:
        if not isinstance(cls, type):
            raise ValueError(f"trusted must be a sequence of classes. Got {str(cls)[:60]!r}.")


def _check_archive(file: IO[bytes], where: str) -> None:
    """Nothing packed: what is in the file takes as much memory as it takes on disk."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(1) == b"\x80":
        raise ValueError(f"{where} looks like a pickle, which is never loaded; save the model with similis.save.")
    with _readable(where), zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    if any(info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size for info in members):
        raise ValueError(f"{where} is compressed, and models are saved uncompressed; save the model with similis.save.")
    if sum(info.file_size for info in members) > size:
        raise ValueError(f"{where} is not a model file: it declares more bytes than it has.")
    with _readable(where), zipfile.ZipFile(file) as archive:
        _check_arrays(archive, where)


def _check_arrays(archive: zipfile.ZipFile, where: str) -> None:
    """No array declares more than it has, and no sparse matrix, which is an archive of its own, unpacks to too much."""
    for info in archive.infolist():
        with archive.open(info) as file:
            if info.filename.endswith(".npy"):
                check_size(file, info.file_size, where)
            elif info.filename.endswith(".npz"):
                with zipfile.ZipFile(file) as inner:
                    if sum(part.file_size for part in inner.infolist()) > MAX_BYTES:
                        raise ValueError(f"a sparse matrix unpacks to more than {MAX_BYTES} bytes")
                    _check_arrays(inner, where)


def _schema(file: IO[bytes], where: str) -> Any:
    with _readable(where), zipfile.ZipFile(file) as archive:
        return json.loads(archive.read("schema.json"))


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every node of a description, at whatever depth and under whatever key."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "__loader__" in value:
                yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _keeps_keys(node: dict[str, Any]) -> bool:
    """Whether the keys of a dictionary come back from text as they were: no booleans, no 1 beside "1"."""
    try:
        types = node["key_types"]["content"]
        names = {f"{key['__module__']}.{key['__class__']}" for key in types}
        same_number = len(types) == len(node["content"])
    except (KeyError, TypeError):
        return False
    return same_number and all(name in _KEYS or name.startswith(_NUMPY_KEYS) for name in names)


def _is_ours(name: str) -> bool:
    """Tell whether this is a public class of similis, or a private one marked as storable."""
    module, _, cls = name.rpartition(".")
    return _current_module(module, cls) == module


def _current_module(module: str, name: str) -> str | None:
    """Module in which the storable class `name` of the package of `module` is defined now, or None."""
    root, _, rest = module.partition(".")
    package = _MOVED_PACKAGES.get(rest.partition(".")[0], rest.partition(".")[0])
    if root != "similis" or package not in {*similis._MODULES, *similis._PACKAGES}:
        return None
    home = import_module(f"similis.{package}")  # importing it registers its storable private classes
    public = [getattr(home, export) for export in home.__all__]
    classes = [cls for cls in (*public, *STORABLE) if isinstance(cls, type)]
    found = {cls.__module__ for cls in classes if cls.__qualname__ == name}
    return module if module in found else next((m for m in sorted(found) if m.startswith("similis.")), None)


def _with_current_names(file: IO[bytes], where: str) -> IO[bytes]:
    """Return the model file, or a copy in which classes that an older version had elsewhere have their new names."""
    _check_archive(file, where)
    schema = _schema(file, where)
    moved = False
    for node in _nodes(schema):
        module, name = node.get("__module__"), node.get("__class__")
        if isinstance(module, str) and isinstance(name, str) and module.startswith("similis."):
            new_name = _RENAMED_CLASSES.get(name, name)
            current = _current_module(module, new_name)
            if current is not None and (current, new_name) != (module, name):
                node["__module__"], node["__class__"], moved = current, new_name, True
    if not moved:
        return file
    copy = io.BytesIO()
    with _readable(where), zipfile.ZipFile(file) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as new:
        for info in old.infolist():
            new.writestr(info.filename, json.dumps(schema) if info.filename == "schema.json" else old.read(info))
    return copy


@contextmanager
def _readable(where: str) -> Iterator[None]:
    """One sentence for whatever a damaged or hostile file makes a parser raise."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"{where} is not a model file: {_reason(error)}.") from None


def _reason(error: BaseException) -> str:
    """The first words of somebody else's message."""
    return " ".join(str(error).split())[:100].rstrip(".") or type(error).__name__
