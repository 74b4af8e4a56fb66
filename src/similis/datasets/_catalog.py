"""Which data sets there are, what they hold and where they come from."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CATALOG", "DatasetInfo", "list_datasets"]


class DatasetInfo(NamedTuple):
    """One data set.

    Attributes
    ----------
    name : str
        What :func:`load_benchmark` calls it.
    n : int
        Number of objects.
    n_classes : int
        Number of classes; 0 for a set without labels.
    kind : str
        ``similarity`` or ``dissimilarity`` for a matrix; ``features``, ``categorical``, ``sequences`` or ``graphs``
        for objects that a measure must compare.
    where : str
        ``shipped`` with similis, part of ``sklearn``, or ``benchmark``: in the folder named by ``SIMILIS_DATA``.
    about : str
        What the objects are.
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
        DatasetInfo("ekman", 14, 0, "similarity", "benchmark", "colours compared by people"),
        DatasetInfo("mutag", 188, 2, "graphs", "benchmark", "molecules, mutagenic or not"),
        DatasetInfo("splice", 3190, 3, "sequences", "benchmark", "DNA around splice junctions"),
        DatasetInfo("crabs", 200, 4, "features", "benchmark", "crabs of two species and sexes, 5 measures"),
        DatasetInfo("pima", 768, 2, "features", "benchmark", "diabetes, 8 measures"),
        DatasetInfo("bupa", 345, 2, "features", "benchmark", "liver disorders, 6 measures"),
        DatasetInfo("letter", 20000, 26, "features", "benchmark", "printed letters, 16 measures"),
    ]
}


def list_datasets() -> list[DatasetInfo]:
    """List every data set that :func:`load_benchmark` knows.

    Returns
    -------
    list of DatasetInfo
        Named tuples ``(name, n, n_classes, kind, where, about)``.

    Examples
    --------
    >>> from similis.datasets import list_datasets
    >>> [info.name for info in list_datasets() if info.where == "shipped"]
    ['votes', 'sonar', 'promoters']
    """
    return list(CATALOG.values())
