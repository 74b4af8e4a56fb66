"""Loading of data sets by name; benchmark sets that are not bundled are read from the folder ``SIMILIS_DATA``."""

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from similis._utils.files import parse_errors, short_path
from similis.datasets._shipped import CATALOG, load_promoters, load_sonar, load_votes, pack, read_table
from similis.exceptions import DataNotFoundError, ProximityError


def load_benchmark(name: str, *, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        A name of :func:`list_datasets`.
    data_home : str or path-like, optional
        Folder of the benchmark-only sets; by default that in the environment variable ``SIMILIS_DATA``.

    Returns
    -------
    Bunch
        Every set has ``name``, ``kind``, ``target`` (codes; None without labels), ``target_names`` and ``DESCR``. A
        matrix is ``proximity``; objects are ``data``, with ``feature_names``, also ``sequences``, or ``graphs``.

    Notes
    -----
    The folder holds, as ``<set>/<file>``: npz archives with the matrix ``S`` or ``D`` and the labels ``y``; csv tables
    with a header; JSON for ``mutag``. The ``DataNotFoundError`` about a missing file names it and its source.
    ``protein_uw`` is the matrix used in the similarity papers; 1509 of its pairs are wrong (distances above ten without
    their first digit, marked in ``lost_ten_mask``). ``protein`` is correct; its rows ``keep213`` are those objects.

    Examples
    --------
    >>> from similis.datasets import load_benchmark
    >>> load_benchmark("iris").data.shape
    (150, 4)
    """
    if not isinstance(name, str) or name not in CATALOG:
        raise ValueError(f"There is no data set {str(name)[:40]!r}. Use one of: {', '.join(CATALOG)}.")
    info = CATALOG[name]
    if info.where == "shipped":
        bunch = {"votes": load_votes, "sonar": load_sonar, "promoters": load_promoters}[name]()
    elif info.where == "sklearn":
        bunch = getattr(import_module("sklearn.datasets"), f"load_{name}")()
    else:
        path = _find(name, data_home)
        with parse_errors(short_path(path), "copy of this data set"):
            bunch = _FILES[name][2](path)
        n = len(next(bunch[part] for part in ("proximity", "data", "graphs") if part in bunch))
        if n != info.n:
            raise ProximityError(f"{short_path(path)} must hold the {info.n} objects of {name!r}. Got {n}.")
        bunch.DESCR = f"{info.about}. From {_FILES[name][1]}."
    bunch.name, bunch.kind = name, info.kind
    return bunch


def has_dataset(name: str, *, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Return True if a data set is available, without loading it; parameters as in :func:`load_benchmark`."""
    try:
        known = isinstance(name, str) and name in CATALOG
        return known and (CATALOG[name].where != "benchmark" or _find(name, data_home).is_file())
    except DataNotFoundError:
        return False


def _find(name: str, data_home: str | os.PathLike[str] | None) -> Path:
    """Return the path of a benchmark-only set; raise an error with its source if it is missing."""
    file, origin, _ = _FILES[name]
    home = data_home if data_home is not None else os.environ.get("SIMILIS_DATA")
    if not home:
        raise DataNotFoundError(
            f"The data set {name!r} is not bundled with similis. Get it from {origin}, save it as {file} in a folder, "
            "and set SIMILIS_DATA or data_home to that folder."
        )
    if not (path := Path(home) / file).is_file():
        raise DataNotFoundError(f"The data set {name!r} is not at {short_path(path)}. Get it from {origin}.")
    return path


def _matrix(path: Path, *, key: str, labels: str | None = "y", **renamed: str) -> Bunch:
    """Read an npz file with a matrix, class labels and optional further arrays."""
    with np.load(path, allow_pickle=False) as archive:
        parts: dict[str, Any] = dict(archive)
    matrix, names, target = parts.pop(key), None, None
    if labels is not None:
        names, target = np.unique(parts.pop(labels), return_inverse=True)
        names = parts.pop("class_names", names.astype(str))
    more = {renamed.get(name, name): part for name, part in parts.items()}
    return Bunch(proximity=matrix, target=target, target_names=names, **more)


def _table(path: Path, *, classes: Sequence[str], drop: str = "") -> Bunch:
    """Read a csv file with numbers and one or more class columns."""
    header, rows = read_table(path)
    numbers = [j for j, column in enumerate(header) if column not in (*classes, drop)]
    places = [header.index(column) for column in classes]
    data = np.array(rows)[:, numbers].astype(np.float64)
    return pack(data, ["-".join(row[j] for j in places) for row in rows], [header[j] for j in numbers])


def _splice(path: Path) -> Bunch:
    header, rows = read_table(path)
    cells, sequences = np.array(rows), ["".join(row[:-1]) for row in rows]
    return pack(cells[:, :-1], cells[:, -1], header[:-1], sequences=sequences)


def _mutag(path: Path) -> Bunch:
    molecules = json.loads(path.read_text("utf-8"))
    target = np.array([molecule.pop("label") for molecule in molecules])
    return Bunch(graphs=molecules, target=target, target_names=np.array(["0", "1"]))


_UW = "github.com/Lcrypto/Classical-and-Quantum-Topology-ML-toric-spherical"
_CHICKEN = "github.com/tmechsner/mlw-ss2016 (chickenpieces)"
_S, _D = partial(_matrix, key="S"), partial(_matrix, key="D")
_MORSE = partial(_matrix, key="D_asym", labels="signal_type", D_sym="proximity_symmetric", letter="ids")
_EKMAN = partial(_matrix, key="S", labels=None, wavelength="ids")
_CRABS = partial(_table, classes=["sp", "sex"], drop="index")
_FILES: dict[str, tuple[str, str, Callable[[Path], Bunch]]] = {
    # name: file below the folder, origin, reader
    "aural_sonar": ("aural_sonar/aural_sonar.npz", f"{_UW} (AuraSonar.mat)", _S),
    "protein": ("protein/protein.npz", "R package evclust (protein)", _D),
    "protein_uw": ("protein_uw/protein_uw.npz", f"{_UW} (Protein.mat)", _S),
    "voting_vdm": ("voting_vdm_uw/voting_vdm_uw.npz", f"{_UW} (Voting.mat)", _S),
    "yeast_7_12": ("yeast_7_12_uw/yeast_7_12_uw.npz", f"{_UW} (Yeast.mat)", _S),
    "chicken_pieces": ("chicken_pieces_20_60/chicken_pieces_20_60.npz", _CHICKEN, _D),
    "morse": ("morse_confusions/morse_confusions.npz", "R package smacof (morse)", _MORSE),
    "ekman": ("ekman_colours/ekman_colours.npz", "R package smacof (ekman)", _EKMAN),
    "mutag": ("mutag/mutag.json", "BorgwardtLab/graph-kernels (data/mutag)", _mutag),
    "splice": ("splice/splice.csv.gz", "the KEEL repository (splice)", _splice),
    "crabs": ("crabs/crabs.csv", "R package MASS (crabs)", _CRABS),
    "pima": ("pima/pima.csv", "R package mlbench (PimaIndiansDiabetes)", partial(_table, classes=["diabetes"])),
    "bupa": ("bupa/bupa.csv", "the KEEL repository (bupa)", partial(_table, classes=["selector"])),
    "satimage": ("satimage/satimage.csv.gz", "R package mlbench (Satellite)", partial(_table, classes=["classes"])),
    "letter": ("letter/letter.csv.gz", "R package mlbench (LetterRecognition)", partial(_table, classes=["lettr"])),
}
