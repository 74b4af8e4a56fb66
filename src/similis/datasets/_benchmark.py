"""Loading of data sets by name; benchmark sets that are not bundled are read from the folder ``SIMILIS_DATA``."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from similis._utils.arrays import Array
from similis._utils.files import parse_errors, short_path
from similis.datasets._shipped import CATALOG, load_promoters, load_sonar, load_votes, pack
from similis.exceptions import DataNotFoundError, ProximityError


def load_benchmark(name: str, *, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        A name of :func:`list_datasets`: bundled with similis, part of scikit-learn, or benchmark-only.
    data_home : str or path-like, optional
        Folder of the benchmark-only sets. By default the value of the environment variable ``SIMILIS_DATA``.

    Returns
    -------
    Bunch
        ``kind`` is the type of the data. For a ``similarity`` or ``dissimilarity`` the matrix is ``proximity``. Objects
        are ``data``, with ``feature_names``; sequences also ``sequences``; graphs ``graphs``. Every set has ``name``,
        ``target`` (codes; None without labels), ``target_names`` and ``DESCR``, some have more.

    Notes
    -----
    The files in the folder are, as ``<set>/<file>``: npz archives with the matrix as ``S`` or ``D`` and the labels as
    ``y``; csv tables with a header; JSON for ``mutag``. The message of the ``DataNotFoundError`` about a missing file
    contains its name and its source.

    ``protein_uw`` is the matrix used in the similarity papers; 1509 of its pairs are wrong (distances above ten without
    their first digit, marked in ``lost_ten_mask``). ``protein`` holds the correct distances; its rows ``keep213`` are
    those of ``protein_uw``.

    Examples
    --------
    >>> from similis.datasets import load_benchmark
    >>> iris = load_benchmark("iris")
    >>> iris.data.shape, iris.kind
    ((150, 4), 'features')
    """
    if not isinstance(name, str) or name not in CATALOG:
        raise ValueError(f"There is no data set {str(name)[:40]!r}. Use one of: {', '.join(CATALOG)}.")
    info = CATALOG[name]
    if info.where == "shipped":
        bunch = {"votes": load_votes, "sonar": load_sonar, "promoters": load_promoters}[name]()
    elif info.where == "sklearn":
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")()
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
    path = Path(home) / file
    if not path.is_file():
        raise DataNotFoundError(f"The data set {name!r} is not at {short_path(path)}. Get it from {origin}.")
    return path


def _matrix(key: str, labels: str | None = "y", **renamed: str) -> Callable[[Path], Bunch]:
    """Return a reader of an npz file with a matrix, class labels and optional further arrays."""

    def read(path: Path) -> Bunch:
        with np.load(path, allow_pickle=False) as archive:
            parts = dict(archive)
        bunch = Bunch(proximity=parts.pop(key), target=None, target_names=None)
        if labels is not None:
            names, bunch.target = np.unique(parts.pop(labels), return_inverse=True)
            bunch.target_names = parts.pop("class_names", names.astype(str))
        for old, part in parts.items():
            bunch[renamed.get(old, old)] = part
        return bunch

    return read


def _table(*label_columns: str, drop: tuple[str, ...] = ()) -> Callable[[Path], Bunch]:
    """Return a reader of a csv file with numbers and one or more class columns."""

    def read(path: Path) -> Bunch:
        header, cells = _cells(path)
        numbers = [j for j, column in enumerate(header) if column not in (*label_columns, *drop)]
        classes = cells[:, [header.index(column) for column in label_columns]]
        return pack(
            data=cells[:, numbers].astype(np.float64),
            labels=["-".join(row) for row in classes],
            feature_names=[header[j] for j in numbers],
        )

    return read


def _splice(path: Path) -> Bunch:
    header, cells = _cells(path)
    sequences = ["".join(row) for row in cells[:, :-1]]
    return pack(data=cells[:, :-1], labels=cells[:, -1], feature_names=header[:-1], sequences=sequences)


def _mutag(path: Path) -> Bunch:
    molecules = json.loads(path.read_text("utf-8"))
    target = np.array([molecule.pop("label") for molecule in molecules])
    return Bunch(graphs=molecules, target=target, target_names=np.array(["0", "1"]))


def _cells(path: Path) -> tuple[list[str], Array]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows)


_UW = "github.com/Lcrypto/Classical-and-Quantum-Topology-ML-toric-spherical"
_MORSE = _matrix("D_asym", "signal_type", D_sym="proximity_symmetric", letter="ids")
_FILES: dict[str, tuple[str, str, Callable[[Path], Bunch]]] = {
    # name: file below the folder, origin, reader
    "aural_sonar": ("aural_sonar/aural_sonar.npz", f"{_UW} (AuraSonar.mat)", _matrix("S")),
    "protein": ("protein/protein.npz", "R package evclust (protein)", _matrix("D")),
    "protein_uw": ("protein_uw/protein_uw.npz", f"{_UW} (Protein.mat)", _matrix("S")),
    "voting_vdm": ("voting_vdm_uw/voting_vdm_uw.npz", f"{_UW} (Voting.mat)", _matrix("S")),
    "yeast_7_12": ("yeast_7_12_uw/yeast_7_12_uw.npz", f"{_UW} (Yeast.mat)", _matrix("S")),
    "chicken_pieces": (
        "chicken_pieces_20_60/chicken_pieces_20_60.npz",
        "github.com/tmechsner/mlw-ss2016 (chickenpieces)",
        _matrix("D"),
    ),
    "morse": ("morse_confusions/morse_confusions.npz", "R package smacof (morse)", _MORSE),
    "ekman": ("ekman_colours/ekman_colours.npz", "R package smacof (ekman)", _matrix("S", None, wavelength="ids")),
    "mutag": ("mutag/mutag.json", "BorgwardtLab/graph-kernels (data/mutag)", _mutag),
    "splice": ("splice/splice.csv.gz", "the KEEL repository (splice)", _splice),
    "crabs": ("crabs/crabs.csv", "R package MASS (crabs)", _table("sp", "sex", drop=("index",))),
    "pima": ("pima/pima.csv", "R package mlbench (PimaIndiansDiabetes)", _table("diabetes")),
    "bupa": ("bupa/bupa.csv", "the KEEL repository (bupa)", _table("selector")),
    "satimage": ("satimage/satimage.csv.gz", "R package mlbench (Satellite)", _table("classes")),
    "letter": ("letter/letter.csv.gz", "R package mlbench (LetterRecognition)", _table("lettr")),
}
