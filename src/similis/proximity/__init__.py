"""Proximity matrices: check, diagnose, convert, repair, embed. Each transformer has its rule for new rows."""

from similis._utils.validation import check_proximity

__all__ = [
    "check_proximity",
]
