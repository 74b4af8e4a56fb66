"""Catalog of data sets, and loaders of three small UCI sets; their license and citations are in ``data/README.md``."""

import csv
import gzip
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from similis._utils.arrays import Array
from similis._utils.environment import require_package


class DatasetInfo(NamedTuple):
    """Description of one data set.

    Attributes
    ----------
    name, n, n_classes
        Name in :func:`load_benchmark`, number of objects, and of classes; 0 for a set without labels.
    kind : str
        ``similarity`` or ``dissimilarity``; of objects ``features``, ``categorical``, ``sequences`` or ``graphs``.
    where : str
        ``shipped`` with similis, part of ``sklearn``, or ``benchmark``: in the folder ``SIMILIS_DATA``.
    about : str
        Description of the objects.
    """

    name: str
    n: int
    n_classes: int
    kind: str
    where: str
    about: str


CATALOG = {
    info.name: info
    for info in [
        DatasetInfo("votes", 435, 2, "categorical", "shipped", "16 votes of members of the US House, 1984"),
        DatasetInfo("sonar", 208, 2, "features", "shipped", "sonar returns from a metal cylinder or a rock"),
        DatasetInfo("promoters", 106, 2, "sequences", "shipped", "E. coli DNA, promoters or not"),
        DatasetInfo("iris", 150, 3, "features", "sklearn", "iris flowers, 4 measures"),
        DatasetInfo("wine", 178, 3, "features", "sklearn", "Italian wines, 13 chemical measures"),
        DatasetInfo("digits", 1797, 10, "features", "sklearn", "handwritten digits, 8 x 8 pixels"),
        DatasetInfo("breast_cancer", 569, 2, "features", "sklearn", "breast masses, 30 measures of cell nuclei"),
        DatasetInfo("aural_sonar", 100, 2, "similarity", "benchmark", "sonar echoes compared by human listeners"),
        DatasetInfo("protein", 226, 5, "dissimilarity", "benchmark", "protein sequences, evolutionary distances"),
        DatasetInfo("protein_uw", 213, 4, "similarity", "benchmark", "the damaged protein matrix that papers used"),
        DatasetInfo("voting_vdm", 435, 2, "similarity", "benchmark", "1 - value difference of the votes, all labels"),
        DatasetInfo("chicken_pieces", 446, 5, "dissimilarity", "benchmark", "silhouettes, asymmetric edit distances"),
        DatasetInfo("morse", 36, 5, "dissimilarity", "benchmark", "Morse signals as people confuse them, asymmetric"),
        DatasetInfo("ekman", 14, 0, "similarity", "benchmark", "colors compared by people"),
        DatasetInfo("mutag", 188, 2, "graphs", "benchmark", "molecules, mutagenic or not"),
        DatasetInfo("splice", 3190, 3, "sequences", "benchmark", "DNA around splice junctions"),
        DatasetInfo("crabs", 200, 4, "features", "benchmark", "crabs of two species and sexes, 5 measures"),
        DatasetInfo("pima", 768, 2, "features", "benchmark", "diabetes, 8 measures"),
        DatasetInfo("yeast_7_12", 200, 2, "similarity", "benchmark", "Smith-Waterman similarities of yeast proteins"),
        DatasetInfo("bupa", 345, 2, "features", "benchmark", "liver disorders, 6 measures"),
        DatasetInfo("satimage", 6435, 6, "features", "benchmark", "satellite pictures, 36 measures"),
        DatasetInfo("letter", 20000, 26, "features", "benchmark", "printed letters, 16 measures"),
    ]
}


def list_datasets() -> list[DatasetInfo]:
    """List the data sets of :func:`load_benchmark`, as named tuples.

    Examples
    --------
    >>> from similis.datasets import list_datasets
    >>> [info.name for info in list_datasets() if info.where == "shipped"]
    ['votes', 'sonar', 'promoters']
    """
    return list(CATALOG.values())


_DATA = files("similis.datasets") / "data"
_LICENSE = "UCI Machine Learning Repository, CC BY 4.0, https://doi.org/"


def load_votes(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the votes of 435 members of the US House of Representatives on 16 questions in 1984.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return data and target as pandas objects.

    Returns
    -------
    Bunch or (data, target)
        ``data`` of shape (435, 16): ``"y"``, ``"n"`` or ``"?"``, which means neither and may be a third value;
        ``target`` 0 (democrat) or 1 (republican); names, ``kind``, and the citation in ``DESCR``.

    Examples
    --------
    >>> from similis.datasets import load_votes
    >>> load_votes().data[0, :3]
    array(['n', 'y', 'n'], dtype='<U1')
    """
    header, rows = read_table(_DATA / "votes.csv")
    data, labels = np.array([row[1:] for row in rows]), [row[0] for row in rows]
    about = f"Congressional Voting Records (1987). {_LICENSE}10.24432/C5C01P"
    return pack(data, labels, header[1:], "categorical", about, return_X_y, as_frame)


def load_sonar(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load 208 sonar returns from a metal cylinder or a rock, the energy in 60 frequency bands.

    Parameters as in :func:`load_votes`. ``data`` has the shape (208, 60), ``target`` is 0 (mine) or 1 (rock). This is
    not the aural sonar of the similarity papers, which is ``load_benchmark("aural_sonar")``.
    """
    header, rows = read_table(_DATA / "sonar.csv")
    data = np.array([row[:-1] for row in rows], dtype=np.float64)
    labels = [{"M": "mine", "R": "rock"}[row[-1]] for row in rows]
    about = f"T. Sejnowski and R. Gorman. Connectionist Bench (Sonar, Mines vs. Rocks). {_LICENSE}10.24432/C5T01Q"
    return pack(data, labels, header[:-1], "features", about, return_X_y, as_frame)


def load_promoters(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load 106 stretches of E. coli DNA, half of them promoters.

    Parameters as in :func:`load_votes`. ``data`` of shape (106, 57) holds one nucleotide per column, at positions -50
    to +7 from the start of the gene; ``sequences`` the same as 106 strings; ``target`` is 0 (other) or 1 (promoter).
    """
    _, rows = read_table(_DATA / "promoters.csv")
    data, sequences = np.array([list(row[1]) for row in rows]), [row[1] for row in rows]
    labels = [{"-": "other", "+": "promoter"}[row[0]] for row in rows]
    names = [f"p{i:+d}" for i in (*range(-50, 0), *range(1, 8))]
    source = "C. Harley, R. Reynolds and M. Noordewier (1990). Molecular Biology (Promoter Gene Sequences)."
    about = f"{source} {_LICENSE}10.24432/C5S01D"
    return pack(data, labels, names, "sequences", about, return_X_y, as_frame, sequences=sequences)


def pack(
    data: Array,
    labels: list[str] | Array,
    feature_names: list[str],
    kind: str = "",
    about: str = "",
    return_X_y: bool = False,
    as_frame: bool = False,
    **more: Any,
) -> Any:
    """Build the return value of a loader: a Bunch, or a pair."""
    names, y = np.unique(labels, return_inverse=True)
    if as_frame:
        pd = require_package("pandas", extra="frame", who="as_frame=True")
        data, y = pd.DataFrame(data, columns=feature_names), pd.Series(y, name="target")
    if return_X_y:
        return data, y
    return Bunch(data=data, target=y, target_names=names, feature_names=feature_names, kind=kind, DESCR=about, **more)


def read_table(file: Any) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a csv file, perhaps gzipped: a path, or a resource of the package."""
    data = file.read_bytes()
    header, *rows = csv.reader((gzip.decompress(data) if file.name.endswith(".gz") else data).decode().splitlines())
    return header, rows
