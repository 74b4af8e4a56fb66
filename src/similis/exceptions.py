"""Errors and warnings that similis raises on purpose."""

__all__ = [
    "AsymmetryWarning",
    "DataNotFoundError",
    "DiagonalWarning",
    "KindWarning",
    "MissingExtraError",
    "ProximityError",
]


class ProximityError(ValueError):
    """A proximity matrix, a block of new rows or a file of them breaks a rule; the message says which and where."""


class DataNotFoundError(FileNotFoundError):
    """A benchmark data set that cannot ship with the package is not where ``SIMILIS_DATA`` points."""


class MissingExtraError(ImportError, ProximityError):
    """A library that only some measures need is not installed; the message names the command that installs it."""


class KindWarning(UserWarning):
    """The matrix looks like the other kind: dissimilarities given as similarities, or the reverse."""


class AsymmetryWarning(UserWarning):
    """A step that needs a symmetric matrix uses the symmetric part of an asymmetric one."""


class DiagonalWarning(UserWarning):
    """An object's dissimilarity to itself is not zero where the step's mathematics says it is."""
