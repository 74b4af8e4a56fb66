"""Model files through skops, with an audit of every type they hold, and the card beside a trained model.

Before skops builds anything, every node of the JSON description must be of a kind that only holds data, and every class
public in similis, marked as storable, listed below or trusted by skops. Then every object in the model is verified.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors._base import NeighborsBase
from sklearn.pipeline import Pipeline
from sklearn.svm._base import BaseLibSVM

import similis
from similis._utils.environment import version_hint
from similis._utils.files import atomic_write, is_stream, short_path
from similis._utils.messages import warn_user
from similis._utils.moved import current_name
from similis._utils.storable import STORABLE
from similis.base import FittedArrays, fitted_indices, fitted_reals, verify_numbering
from similis.exceptions import ProximityError
from similis.io._checks import KINDS
from similis.io._numpy import read_header
from similis.io._objects import infer_types

_MAGIC = "similis-model-card"
# Nodes that hold data, make containers of data, or fill the attributes of an object of a trusted class. Left out on
# purpose: MethodNode, PartialNode, OperatorFuncNode (things to call) and TreeNode (unchecked indices into memory).
_NODES = """BytearrayNode BytesNode CachedNode ConstructorFromReduceNode DTypeNode DefaultDictNode DictNode FunctionNode
    JsonNode ListNode LossNode MaskedArrayNode NdArrayNode ObjectNode RandomStateNode SetNode SliceNode SparseMatrixNode
    TupleNode TypeNode""".split()
# Classes held by models and by scikit-learn's calibration, threshold tuning, voting, stacking and searches, beyond
# those that skops trusts itself.
_OTHER_CLASSES = """builtins.frozenset scipy.sparse._csr.csr_array similis.base._compact.FoldedSVC
    sklearn.calibration._CalibratedClassifier sklearn.calibration._SigmoidCalibration
    sklearn.calibration._TemperatureScaling sklearn.metrics._scorer._CurveScorer
    sklearn.metrics._scorer._PassthroughScorer sklearn.metrics._scorer._Scorer
    sklearn.model_selection._split.KFold sklearn.model_selection._split.LeaveOneOut
    sklearn.model_selection._split.RepeatedStratifiedKFold sklearn.model_selection._split.ShuffleSplit
    sklearn.model_selection._split.StratifiedKFold sklearn.model_selection._split.StratifiedShuffleSplit
    sklearn.utils._bunch.Bunch sklearn.utils._metadata_requests.MetadataRequest
    sklearn.utils._metadata_requests.MethodMetadataRequest""".split()
MAX_BYTES = 2**31  # limit for an unpacked sparse matrix in a model file
_KEYS = {"builtins.str", "builtins.int", "builtins.float", "numpy.str_"}
_NUMPY_KEYS = ("numpy.int", "numpy.uint", "numpy.float")
_FORBIDDEN = {
    "MethodNode": "a bound method",
    "PartialNode": "a partial function",
    "OperatorFuncNode": "an operator",
    "TreeNode": "a decision tree, whose stored indices scikit-learn does not check",
}


def save(model: Any, path: str | os.PathLike[str], *, trusted: Sequence[type] = ()) -> None:
    """Save a model to a file for :func:`load`, atomically.

    A model that holds a function (``FromFunction(f)``), a decision tree or a class that is not trusted is rejected.

    Parameters
    ----------
    model : estimator
        Any estimator, measure or pipeline of similis and scikit-learn, fitted or not.
    path : str or path-like
        File to write; ``.skops`` is the usual ending.
    trusted : sequence of types, default=()
        Classes of your own that the model holds, as for :func:`load`.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis import SimilarityKNN, load, save
    >>> path = os.path.join(tempfile.mkdtemp(), "model.skops")
    >>> save(SimilarityKNN(n_neighbors=1).fit([[1.0, 0.2], [0.2, 1.0]], ["x", "y"]), path)
    >>> load(path).predict([[0.9, 0.1]])
    array(['x'], dtype='<U1')
    """
    import skops.io

    what = type(model).__name__
    try:
        data = skops.io.dumps(model)
    except Exception as error:  # the object's own state methods may raise anything
        raise ValueError(f"This {what} cannot be saved: {_reason(error)}.") from None
    where = f"This {what} cannot be saved: it"
    _audit(*_read_archive(io.BytesIO(data), where), where, trusted)
    with atomic_write(path) as file:
        file.write(data)


def load(path: str | os.PathLike[str], *, trusted: Sequence[type] = ()) -> Any:
    """Load a model written by :func:`save`; nothing in the file is executed.

    Every fitted array is verified (see :class:`similis.base.FittedArrays`), because compiled code reads them unchecked.
    A malicious file can still hold numbers that make predictions wrong.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of types, default=()
        Classes of your own that the model may hold, beside those of similis and scikit-learn.
    """
    import skops.io

    where = short_path(path)
    with open(path, "rb") as stored:
        file, schema = _read_archive(stored, where)
        names = _audit(file, schema, where, trusted)
        hint = version_hint(_sklearn_version(schema))
        file.seek(0)
        try:
            model = skops.io.load(file, trusted=names)
            verify_model(model)
        except Exception as error:  # a damaged or malicious file may make the parser raise anything
            raise ValueError(f"{where} cannot be loaded: {_reason(error)}.{hint}") from None
    if hint:
        warn_user(f"{where} may not predict with the installed version of scikit-learn.{hint}", UserWarning)
    return model


def _sklearn_version(schema: Any) -> str:
    for node in _nodes(schema):
        content = node.get("content")
        stored = content.get("_sklearn_version") if isinstance(content, dict) else None
        if isinstance(stored, dict) and isinstance(stored.get("content"), str):
            return str(stored["content"].strip('"'))[:20]
    return ""


def _audit(file: IO[bytes], schema: Any, where: str, trusted: Sequence[type]) -> list[str]:
    """Check a model file without building anything; return the names of the types that skops must trust too."""
    import skops.io

    for cls in trusted:
        if not isinstance(cls, type):
            raise ValueError(f"trusted must be a sequence of classes. Got {str(cls)[:60]!r}.")
    own = {f"{cls.__module__}.{cls.__qualname__}" for cls in trusted}
    names, functions = set[str](), set[str]()
    for node in _nodes(schema):
        loader, name = node["__loader__"], _class_name(node)
        if not isinstance(loader, str) or loader not in _NODES:
            what = _FORBIDDEN.get(str(loader), "something unknown")
            raise ValueError(f"{where} holds {what}, which is never loaded from a file.")
        if loader == "DictNode" and not _keeps_keys(node):
            what = "a dictionary whose keys are neither text nor numbers"
            raise ValueError(f"{where} holds {what}; files do not preserve them.")
        if loader == "FunctionNode":
            functions.add(name)
        elif name in own or name in _OTHER_CLASSES or _is_ours(name):
            names.add(name)
    if functions:  # those behind scikit-learn's own named scores are allowed
        from sklearn.metrics import get_scorer, get_scorer_names

        scores = [get_scorer(name)._score_func for name in get_scorer_names()]
        names |= functions & {f"{score.__module__}.{score.__name__}" for score in scores}
    with _parse_errors(where):
        foreign = min(set(skops.io.get_untrusted_types(file=file)) - names, default=None)
    if foreign in functions:
        raise ValueError(f"{where} holds the function {foreign[-80:]!r}, and functions are never loaded from files.")
    if foreign is not None:
        remedy = "If it is your own class, and you trust the file, give it as trusted=[...]."
        raise ValueError(f"{where} holds {foreign[-80:]!r}, which is not on the list of trusted classes. {remedy}")
    return sorted(names)


def _read_archive(file: IO[bytes], where: str) -> tuple[IO[bytes], Any]:
    """Check an archive; return it with its description, or a copy in which moved classes have their new names."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(1) == b"\x80":
        raise ValueError(f"{where} looks like a pickle, which is never loaded; save the model with similis.save.")
    with _parse_errors(where), zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    if any(info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size for info in members):
        raise ValueError(f"{where} is compressed, and models are saved uncompressed; save the model with similis.save.")
    if sum(info.file_size for info in members) > size:
        raise ValueError(f"{where} is not a model file: it declares more bytes than it has.")
    with _parse_errors(where), zipfile.ZipFile(file) as archive:
        _check_arrays(archive, where)
        schema = json.loads(archive.read("schema.json"))
    moved = [node for node in _nodes(schema) if current_name(_class_name(node)) != _class_name(node)]
    if not moved:
        return file, schema
    for node in moved:
        node["__module__"], _, node["__class__"] = current_name(_class_name(node)).rpartition(".")
    copy = io.BytesIO()
    with _parse_errors(where), zipfile.ZipFile(file) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as new:
        for info in old.infolist():
            new.writestr(info.filename, json.dumps(schema) if info.filename == "schema.json" else old.read(info))
    return copy, schema


def _check_arrays(archive: zipfile.ZipFile, where: str) -> None:
    """Reject arrays that declare more than they hold, and sparse matrices (archives too) that unpack to too much."""
    for info in archive.infolist():
        with archive.open(info) as file:
            if info.filename.endswith(".npy"):
                read_header(file, where, info.file_size)
            elif info.filename.endswith(".npz"):
                with zipfile.ZipFile(file) as inner:
                    if sum(part.file_size for part in inner.infolist()) > MAX_BYTES:
                        raise ValueError(f"a sparse matrix unpacks to more than {MAX_BYTES} bytes")
                    _check_arrays(inner, where)


def _class_name(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
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
    """Tell whether the keys of a dictionary survive conversion to text: no booleans, no 1 together with "1"."""
    try:
        types = node["key_types"]["content"]
        names = {f"{key['__module__']}.{key['__class__']}" for key in types}
        same_number = len(types) == len(node["content"])
    except (KeyError, TypeError):
        return False
    return same_number and all(name in _KEYS or name.startswith(_NUMPY_KEYS) for name in names)


def _is_ours(name: str) -> bool:
    """Tell whether a name is that of a public class of similis, or of a private one marked as storable."""
    package = name.split(".")[1] if name.startswith("similis.") else ""
    if package not in {*similis._MODULES, *similis._PACKAGES}:
        return False
    module = import_module(f"similis.{package}")  # importing it registers its storable private classes
    found = (*(getattr(module, export) for export in module.__all__), *STORABLE)
    return name in {f"{cls.__module__}.{cls.__qualname__}" for cls in found if isinstance(cls, type)}


@contextmanager
def _parse_errors(where: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the parsers raise many types
        raise ValueError(f"{where} is not a model file: {_reason(error)}.") from None


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:100].rstrip(".") or type(error).__name__


@dataclass(frozen=True)
class ModelCard:
    """Description of a trained model and of the rows that it predicts.

    Attributes
    ----------
    method : str
        Name in the table of methods.
    params : dict
        Parameters chosen on all data.
    reads, kind : str
        Input of ``predict`` ("proximities" or "objects"), and kind of the proximities.
    classes : list
        Class labels; empty for a regression.
    n : int
        Number of training objects.
    ids : list of str or None
        Names of the training objects, in the order of the columns.
    needed : list of int or None
        Training objects whose columns the model reads, in that order; None for all, and for a model of objects.
    columns : list of str or None
        Names of the objects' features.
    types : dict or None
        How each column of a table of objects is read, see :func:`read_objects`; None for objects that are no table.
    measure : str or None
        Measure that compares objects.
    fingerprint, versions : dict
        Digests of data and labels; package versions.
    created, digest : str
        UTC time of training; digest of the model file that the card belongs to.
    expected : dict or None
        ``error`` (of a regression root mean squared, with ``mae`` and ``r2``), ``interval`` (or None), its ``level``,
        ``balanced_error`` and the ``protocol`` of the estimate; None if some split failed.
    settings : dict
        ``metric`` by which method and parameters were chosen; ``task``, ``costs``, ``priors`` and number of ``groups``.
    calibration : dict or None
        Of prediction sets: ``method``, ``class_conditional``, ``conformity_score``, numbers of ``folds``, ``objects``.
    novelty : dict or None
        Ascending ``scores`` of training objects, by which outliers are recognized, and their ``n_neighbors``.
    matrices : dict of str to str or None
        Name and kind of each of several matrices, in the order of ``predict``; None for one.
    """

    method: str
    params: dict[str, Any]
    reads: str
    kind: str
    classes: list[Any]
    n: int
    ids: list[str] | None = None
    columns: list[str] | None = None
    measure: str | None = None
    fingerprint: dict[str, Any] = field(default_factory=dict)
    expected: dict[str, Any] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    digest: str = ""
    needed: list[int] | None = None
    types: dict[str, Any] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    matrices: dict[str, str] | None = None
    calibration: dict[str, Any] | None = None
    novelty: dict[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """Fitted model with its card and, after training, the study that estimated its error.

    Attributes
    ----------
    model : estimator
        Fitted on all data.
    card : ModelCard
        Training data and expected error.
    result : StudyResult or None
        The study; None for a model that was read from a file.
    """

    model: Any
    card: ModelCard
    result: Any = None


def write_model(trained: TrainedModel, path: str | os.PathLike[str]) -> Path | None:
    """Write the model file and its card; return the path of the card.

    Parameters
    ----------
    trained : TrainedModel
        Returned by :func:`similis.study.train_model`.
    path : str or path-like
        The model file; ``model.skops`` gets the card ``model.card.json``, a FIFO or a device none.
    """
    save(trained.model, path)
    if is_stream(path):
        return None
    record = {_MAGIC: 1, **asdict(trained.card), "digest": _digest(Path(path))}
    with atomic_write(beside := card_path(path)) as file:
        file.write((json.dumps(record, indent=1, allow_nan=False) + "\n").encode())
    return beside


def read_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Read a model and its card and check that they belong together. Nothing in either file is executed.

    Parameters
    ----------
    path : str or path-like
        The model file.
    """
    beside = card_path(path)
    model = load(path)
    try:
        card = _card_of(json.loads(beside.read_text(encoding="utf-8")))
    except FileNotFoundError:
        missing = f"no card {beside.name} beside it, which describes the rows that it predicts"
        raise ProximityError(f"{short_path(path)} has {missing}. Keep the two files together.") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ProximityError(f"{short_path(beside)} is damaged, or not a card of a model.") from None
    if card.digest != _digest(Path(path)):
        raise ProximityError(f"{short_path(beside)} belongs to another model than {short_path(path)}.")
    if card.reads == "objects" and card.types is None:
        with suppress(AttributeError, IndexError, TypeError):  # not a pipeline that measures
            inner = getattr(model, "estimator_", model)
            card = replace(card, types=infer_types(inner.steps[0][1].objects_, card.columns))
    return TrainedModel(model, card)


def card_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the card of a model: ``model.card.json`` for ``model.skops``.

    Parameters
    ----------
    path : str or path-like
        The model file.
    """
    path = Path(path)
    return path.with_name(f"{path.name.removesuffix('.skops')}.card.json")


def _card_of(record: Any) -> ModelCard:
    if record.pop(_MAGIC) != 1:
        raise ValueError("another version")
    absent = dict.fromkeys(("needed", "types", "matrices", "calibration", "novelty"))  # from cards of 1.0
    record = {"settings": {}, **absent, **record}
    card = ModelCard(**{f.name: record[f.name] for f in fields(ModelCard)})
    needed = card.needed or []
    is_valid = (
        card.reads in ("proximities", "objects")
        and card.kind in KINDS
        and (card.ids is None or len(card.ids) == len(set(card.ids)) == card.n)
        and all(type(j) is int and 0 <= j < card.n for j in needed)
        and len(set(needed)) == len(needed)
        and (card.matrices is None or set(card.matrices.values()) <= {*KINDS})
        and (card.types is None or set(card.types.values()) <= {"number", "text", "category"})
        and (card.novelty is None or all(type(score) is float for score in card.novelty["scores"]))
    )
    if not is_valid:
        raise ValueError("damaged")
    return card


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def verify_model(model: Any) -> None:
    """Raise an error if an array in a model has a shape, a type or values that ``fit`` cannot have set."""
    for part in _parts(model):
        if isinstance(part, FittedArrays):
            part.verify_fitted()
        elif sparse.issparse(part):
            part.check_format(full_check=True)
        else:
            for cls, verify in _VERIFIERS.items():
                if isinstance(part, cls):
                    verify(part)


def _parts(model: Any) -> Iterator[Any]:
    waiting, seen = [model], set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None), type)):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray) and value.dtype != object:
            continue
        yield value
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            waiting += value.ravel().tolist() if isinstance(value, np.ndarray) else value
        waiting += getattr(value, "__dict__", {}).values()


def _verify_pipeline(pipeline: Pipeline) -> None:

    def is_step(pair: Any) -> bool:
        is_named = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
        return is_named and (pair[1] in (None, "passthrough") or hasattr(pair[1], "fit"))

    if not isinstance(pipeline.steps, list) or not pipeline.steps or not all(map(is_step, pipeline.steps)):
        raise ProximityError("steps of Pipeline must be a list of pairs (name, step).")


def _verify_libsvm(svm: BaseLibSVM) -> None:
    """Support vectors, their coefficients and numbers per class must belong together; libsvm does not check them."""
    state, who = vars(svm), type(svm).__name__
    for name in state:
        is_fitted = name.endswith("_") or name in ("_probA", "_probB", *svm._get_param_names())
        if hasattr(type(svm), name) and not is_fitted:
            raise ProximityError(f"{name} of {who} is an attribute of the class, which a file must not set.")
    if "support_" not in state and "shape_fit_" not in state:
        return
    svm._validate_params()
    shape = state.get("shape_fit_")
    if not isinstance(shape, tuple) or not all(isinstance(size, (int, np.integer)) and size >= 0 for size in shape):
        raise ProximityError(f"shape_fit_ of {who} must be a shape.")
    sizes = {"rows": int(shape[0]), "columns": int(shape[1] if len(shape) > 1 else 0)}
    is_classifier = svm._impl in ("c_svc", "nu_svc")
    G = len(state["classes_"]) if is_classifier and isinstance(state.get("classes_"), np.ndarray) else 2
    sizes |= {"G": G, "machines": G - 1 if is_classifier else 1, "pairs": G * (G - 1) // 2 if is_classifier else 1}
    is_dense, is_kernel = state.get("_sparse") is False, svm.kernel == "precomputed"
    declared = {"support_": fitted_indices("l", below="rows"), "_n_support": fitted_indices("G")}
    declared |= dict.fromkeys(("_intercept_", "intercept_"), fitted_reals("pairs"))
    declared |= {name: fitted_reals("pairs" if np.size(state.get(name)) else 0) for name in ("_probA", "_probB")}
    if is_dense:
        declared |= dict.fromkeys(("_dual_coef_", "dual_coef_"), fitted_reals("machines", "l"))
        declared["support_vectors_"] = fitted_reals(None, None) if is_kernel else fitted_reals("l", "columns")
    for name, array in declared.items():
        if name not in state:
            raise ProximityError(f"{name} of {who} is missing.")
        array.verify(state[name], sizes, f"{name} of {who}")
    n_support = state["_n_support"].sum() if is_classifier else state["_n_support"][0]
    if n_support != sizes["l"]:
        raise ProximityError(f"_n_support of {who} must add up to the {sizes['l']} support vectors. Got {n_support}.")
    vectors, coefficients = state.get("support_vectors_"), state.get("_dual_coef_")
    if state.get("_sparse") is True:
        if not sparse.issparse(vectors) or not sparse.issparse(coefficients) or is_kernel:
            raise ProximityError(f"support_vectors_ and _dual_coef_ of {who} must both be sparse.")
        if vectors.shape != (sizes["l"], sizes["columns"]) or coefficients.data.size != sizes["machines"] * sizes["l"]:
            raise ProximityError(f"support_vectors_ of {who} must have a row per support vector.")
    elif not is_dense:
        raise ProximityError(f"_sparse of {who} must be True or False.")
    elif is_kernel and state["support_vectors_"].size:
        raise ProximityError(f"support_vectors_ of {who} must be empty, since the kernel is precomputed.")
    elif state.get("n_features_in_") != sizes["rows" if is_kernel else "columns"]:
        raise ProximityError(f"n_features_in_ of {who} must be the width of the training data.")


def _verify_neighbors(model: NeighborsBase) -> None:
    """Class codes must be those of the stored classes, one per stored row."""
    state, who = vars(model), type(model).__name__
    rows, y, classes = (state.get(name) for name in ("_fit_X", "_y", "classes_"))
    if "_fit_X" in state and not sparse.issparse(rows):
        fitted_reals(None, state.get("n_features_in_")).verify(rows, {}, f"_fit_X of {who}")
    if "_fit_X" in state and isinstance(y, np.ndarray) and isinstance(classes, np.ndarray):
        fitted_indices(rows.shape[0], below=len(classes)).verify(y, {}, f"_y of {who}")


def _verify_vectorizer(vectorizer: CountVectorizer) -> None:
    """Numbers of the tokens become columns of a sparse matrix, which are not checked there."""
    if hasattr(vectorizer, "vocabulary_"):
        verify_numbering(vectorizer.vocabulary_, len(vectorizer.vocabulary_), "vocabulary_ of the vectorizer")


_VERIFIERS = {
    Pipeline: _verify_pipeline,
    BaseLibSVM: _verify_libsvm,
    NeighborsBase: _verify_neighbors,
    CountVectorizer: _verify_vectorizer,
}
