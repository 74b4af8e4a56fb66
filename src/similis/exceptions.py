"""Exceptions and warnings of similis."""

__all__ = [
    "AsymmetryWarning",
    "ClusterError",
    "DataNotFoundError",
    "DiagonalWarning",
    "KindWarning",
    "MissingExtraError",
    "ProximityError",
]


class ProximityError(ValueError):
    """Invalid proximity matrix, block of new rows, or file; the message names the problem and its place."""


class DataNotFoundError(FileNotFoundError):
    """Missing file of a benchmark data set that is not bundled with the package."""


class MissingExtraError(ImportError, ProximityError):
    """Missing optional package; the message contains the command that installs it."""


class ClusterError(ConnectionError):
    """Lost connection to a cluster, or a cluster without workers; the message tells how to resume."""


class KindWarning(UserWarning):
    """Warning that a matrix looks like the other kind: dissimilarities given as similarities, or the reverse."""


class AsymmetryWarning(UserWarning):
    """Warning that the symmetric part of an asymmetric matrix is used."""


class DiagonalWarning(UserWarning):
    """Warning that the dissimilarity of an object to itself is not zero."""
