"""Verification of a loaded model: every object in it, before any of its numbers reaches compiled code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors._base import NeighborsBase
from sklearn.pipeline import Pipeline
from sklearn.svm._base import BaseLibSVM

from similis.base import FittedArrays, fitted_indices, fitted_reals, verify_numbering
from similis.exceptions import ProximityError


def verify_model(model: Any) -> None:
    """Raise an error if an array in a model has a shape, a type or values that ``fit`` cannot have set.

    Objects of similis verify themselves; scikit-learn does not check what it loads.
    """
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
    """Yield every object in a model once."""
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
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting += value
        elif isinstance(value, np.ndarray):
            waiting += value.ravel().tolist()
        waiting += getattr(value, "__dict__", {}).values()


def _verify_pipeline(pipeline: Pipeline) -> None:
    """Steps must be pairs of a name and an estimator."""

    def is_step(pair: Any) -> bool:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            return False
        return pair[1] in (None, "passthrough") or hasattr(pair[1], "fit")

    if not isinstance(pipeline.steps, list) or not pipeline.steps or not all(map(is_step, pipeline.steps)):
        raise ProximityError("steps of Pipeline must be a list of pairs (name, step).")


def _verify_libsvm(svm: BaseLibSVM) -> None:
    """Support vectors, their coefficients and numbers per class must belong together; libsvm does not check them."""
    state, who = vars(svm), type(svm).__name__
    for name in state:
        if hasattr(type(svm), name) and not name.endswith("_") and name not in svm._get_param_names():
            if name not in ("_probA", "_probB"):
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
    if "_fit_X" not in state:
        return
    rows = state["_fit_X"]
    if not sparse.issparse(rows):
        fitted_reals(None, state.get("n_features_in_")).verify(rows, {}, f"_fit_X of {who}")
    if isinstance(state.get("_y"), np.ndarray) and isinstance(state.get("classes_"), np.ndarray):
        declared = fitted_indices(rows.shape[0], below=len(state["classes_"]))
        declared.verify(state["_y"], {}, f"_y of {who}")


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
