"""From findings to what to try: each piece of advice names the number that speaks for it and the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from similis._utils.validation import Kind

__all__ = ["Advice", "advise"]

SPARSE = 0.5  # more than half of the entries zero
SMALL_MASS = 0.02  # negative eigenvalues that look like noise
NEAR_NORMAL = 0.5  # skewness up to which distances pass for normal


@dataclass(frozen=True)
class Advice:
    """What to try, why, and who says so.

    Attributes
    ----------
    text : str
        What to do.
    reason : str
        The finding that speaks for it, with its number.
    paper : str
        Where it is argued, as ``[key] place``; empty where it follows from the definition.
    """

    text: str
    reason: str
    paper: str = ""

    def __str__(self) -> str:
        source = f" {self.paper}" if self.paper else ""
        return f"{self.text} ({self.reason}).{source}"


def advise(
    kind: Kind, *, entries: Any, spectrum: Any, distances: Any, classes: Any, suspects: Any
) -> tuple[Advice, ...]:
    """Advice in the order in which one would act on it."""
    return (
        *_repair(entries, suspects),
        *_spectrum(kind, spectrum),
        *_methods(kind, entries, distances, classes),
    )


def _repair(entries: Any, suspects: Any) -> Iterator[Advice]:
    if len(suspects):
        yield Advice(
            "Look at the suspicious pairs before anything else",
            f"{len(suspects)} pairs disagree with the rest of the matrix",
        )
    if entries.n_missing:
        yield Advice(
            "Use SimilarityKNN or NearestCentroid, which leave unknown entries out, or complete the matrix",
            f"{entries.missing:.1%} of the entries are missing",
            "[chen2010] ch. 6",
        )
    if not entries.symmetric:
        yield Advice(
            "Decide what the direction means; average it with symmetrize(S) where it means nothing",
            f"asymmetry {entries.asymmetry:.2g} of 1",
            "[chen2010] sec. 4.3",
        )


def _spectrum(kind: Kind, spectrum: Any) -> Iterator[Advice]:
    if spectrum is None:
        return
    what = "the similarities are" if kind == "similarity" else "the distances are Euclidean, their Gram matrix is"
    if spectrum.definite:
        yield Advice(
            "Use kernel methods as they are, no repair needed" if kind == "similarity" else "Any embedding is exact",
            f"{what} positive semi-definite",
            "[chen2010] sec. 2.1",
        )
        return
    mass = f"{spectrum.n_negative} negative eigenvalues hold {spectrum.negative_mass:.1%} of the spectrum"
    if kind == "dissimilarity":
        yield Advice("Embed with PseudoEuclidean, which keeps the negative axes, or use rows as features", mass)
    elif spectrum.negative_mass <= SMALL_MASS:
        yield Advice("Clip: the negative part looks like noise", mass, "[chen2010] sec. 2.1.3, 4.5")
    else:
        yield Advice(
            "Try flip and similarities as features beside clip: the negative part may carry information",
            mass,
            "[chen2010] sec. 4.4-4.5",
        )


def _methods(kind: Kind, entries: Any, distances: Any, classes: Any) -> Iterator[Advice]:
    if kind == "similarity" and entries.zeros > SPARSE and entries.self_maximal < 1:
        yield Advice(
            "Prefer local methods: k-NN, KRI, KRR, local SDA",
            f"{entries.zeros:.0%} of the entries are zero and {1 - entries.self_maximal:.0%} of the objects are more "
            "similar to another than to themselves",
            "[chen2010] sec. 4.4",
        )
    if entries.n_duplicates:
        yield Advice(
            "Give diverse weights to neighbours: KRI or KRR",
            f"{entries.n_duplicates} objects repeat another",
            "[chen2010] sec. 3.1",
        )
    if abs(distances.skewness) <= NEAR_NORMAL and not entries.discrete:
        yield Advice(
            "Normal-based classifiers on the rows suit these distances",
            f"skewness {distances.skewness:.2f}, excess kurtosis {distances.kurtosis:.2f}",
            "[pekalska2000] sec. 2.1, 5",
        )
    elif abs(distances.skewness_after) < abs(distances.skewness) - 0.25:
        yield Advice(
            f"Box-Cox with p = {distances.power:.2g} brings the distances nearer to normal, for methods that ask it",
            f"skewness {distances.skewness:.2f}, after it {distances.skewness_after:.2f}",
            "[pekalska2000] sec. 4.4",
        )
    if classes is not None and len(classes.counts) > 1:
        small = min(classes.counts)
        if small * 5 < max(classes.counts):
            yield Advice(
                "Judge by balanced error, and set priors or costs",
                f"the smallest class has {small} objects, the largest {max(classes.counts)}",
            )
