"""Exceptions and warnings of similis."""

__all__ = [
    "AsymmetryWarning",
    "ClusterError",
    "CompilationCacheWarning",
    "DataNotFoundError",
    "DiagonalWarning",
    "InputWarning",
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
    """Lost connection to a cluster, or a cluster without workers; the message describes how to resume."""


class InputWarning(UserWarning):
    """Remark on how a file was read where it could be read in another way, with counts of what was left out."""


class KindWarning(UserWarning):
    """Warning that a matrix looks like the other kind: dissimilarities given as similarities, or the reverse."""


class AsymmetryWarning(UserWarning):
    """Warning that the symmetric part of an asymmetric matrix is used."""


class DiagonalWarning(UserWarning):
    """Warning that the dissimilarity of an object to itself is not zero."""


class CompilationCacheWarning(UserWarning):
    """Warning that compiled code cannot be stored, so that every process compiles it again."""
