"""A function of two objects as a measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from similis._utils.params import choice
from similis._utils.validation import Kind
from similis.measures._base import Measure

__all__ = ["FromFunction"]


class FromFunction(Measure):
    """The user's own function of two objects.

    Parameters
    ----------
    f : callable
        ``f(x, z)`` returns a number: how alike (or different) x is to z. NaN stands for an unknown value.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        What a large number means.
    symmetric : bool, default=False
        Whether f(x, z) = f(z, x) always holds. Only if True, half the calls are saved and mirrored.

    Attributes
    ----------
    domain_ : None
        The values of an arbitrary function are not known.

    See Also
    --------
    Measure : the class to derive from when the measure has parameters to tune.

    Notes
    -----
    With ``n_jobs`` the calls are spread over processes, so `f` and the objects must survive pickling.

    Examples
    --------
    >>> from similis import FromFunction
    >>> longer = FromFunction(lambda x, z: len(x) - len(z))
    >>> longer.matrix(["a", "bcd"])
    array([[ 0., -2.],
           [ 2.,  0.]])
    """

    _parameter_constraints = {
        "f": [callable],
        "kind": [choice("similarity", "dissimilarity")],
        "symmetric": ["boolean"],
    }

    def __init__(self, f: Callable[[Any, Any], float], *, kind: Kind = "similarity", symmetric: bool = False) -> None:
        self.f = f
        self.kind = kind
        self.symmetric = symmetric

    def __call__(self, x: Any, z: Any) -> float:
        """The function's value."""
        return self.f(x, z)
