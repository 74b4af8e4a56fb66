"""``similis complete``: a matrix with unknown entries made whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similis.cli._console import check_output, guarded, note, print_json, readable, writable
from similis.cli._options import Json, KindOption, Labels
from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.io import Proximity

__all__ = ["CompleteOptions", "complete"]

METHODS = ("em", "frobenius", "wishart", "nuclear", "psd")


@dataclass(frozen=True)
class CompleteOptions:
    """What ``similis complete`` was asked to do."""

    path: str
    auxiliary: tuple[str, ...] = ()
    method: str | None = None
    mu: str = "auto"
    psd: bool = False
    fitted: bool = False
    labels: str | None = None
    kind: str | None = None
    output: str = "-"
    json: bool = False


def complete(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Matrix with empty cells or nan where it is not known; - is a csv on stdin."
        ),
    ],
    auxiliary: Annotated[
        list[str] | None,
        typer.Option(
            "--auxiliary", "-a", metavar="FILE", help="A complete kernel over the same objects; may be repeated."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="|".join(METHODS),
            help="How; em where there is an auxiliary kernel, else nuclear.",
            show_default=False,
        ),
    ] = None,
    mu: Annotated[
        str, typer.Option("--mu", metavar="NUMBER|auto", help="Noise allowed for by nuclear; 0 for none.")
    ] = "auto",
    psd: Annotated[bool, typer.Option("--psd", help="Let nuclear look for a positive semi-definite matrix.")] = False,
    fitted: Annotated[
        bool, typer.Option("--fitted", help="Write the fitted matrix in place of known entries too.")
    ] = False,
    labels: Labels = None,
    kind: KindOption = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where the matrix goes: npz, npy, csv, parquet; - is csv."),
    ] = "-",
    json: Json = False,
) -> None:
    """Fill in the unknown entries of a matrix.

    Entries missing here and there are inferred from the others. Where whole objects were never measured, a second
    matrix over all objects must tell how they relate: a kernel that is cheaper or noisier (`--auxiliary`). Known
    entries stay as they are unless `--fitted` is given; ids and labels travel with the matrix.

    To judge methods on an incomplete matrix, give it to `similis study` as it is: it completes inside the splits.

    **Examples**

        similis complete matrix.csv -o whole.csv

        similis complete structures.npz --auxiliary sequences.npz --method em -o whole.npz

        similis complete - --method psd --fitted --json < kernel.csv
    """
    with guarded():
        run(
            CompleteOptions(
                path=file,
                auxiliary=tuple(auxiliary or ()),
                method=method,
                mu=mu,
                psd=psd,
                fitted=fitted,
                labels=labels,
                kind=kind,
                output=output,
                json=json,
            )
        )


def run(options: CompleteOptions) -> None:
    """Complete and write."""
    from dataclasses import replace

    from similis.io import read_proximity, write_proximity
    from similis.proximity import CompleteKernel, make_stack

    check_output(options.output, matrix=True)
    method = options.method or ("em" if options.auxiliary else "nuclear")
    if method not in METHODS:
        raise ProximityError(f"There is no method {method[:40]!r}. There are: {', '.join(METHODS)}.")
    if bool(options.auxiliary) != (method in METHODS[:3]):
        needs = "needs --auxiliary FILE" if method in METHODS[:3] else "reads no auxiliary kernel"
        raise ProximityError(f"Method {method} {needs}; {', '.join(METHODS[:3])} do, nuclear and psd do not.")
    with readable(options.path) as path:
        P = read_proximity(path, labels=options.labels, kind=options.kind)  # type: ignore[arg-type]
    values = P.values
    if options.auxiliary:
        values = make_stack([P.values, *(_auxiliary(name, P) for name in options.auxiliary)])
    step = CompleteKernel(
        method=method,
        psd=options.psd,
        mu=_weight(options.mu),
        keep_known=not options.fitted,
        kind=P.kind or "similarity",
    )
    whole = replace(P, values=step.fit_transform(values))
    found: dict[str, Any] = {
        "method": method,
        "n": whole.n,
        "missing": step.n_missing_,
        "objective": step.objective_,
        "steps": step.n_iter_,
        "kind": whole.kind,
    }
    if options.output == "-" and options.json:
        print_json({**found, "ids": whole.ids, "labels": whole.labels, "values": whole.values})
        return
    with writable(options.output) as path:
        write_proximity(path, whole)
    if options.json:
        print_json({"output": options.output, **found})
    elif options.output != "-":
        note(f"filled in {step.n_missing_} of {whole.n * whole.n} entries by {method} and wrote {options.output}")


def _weight(text: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise ProximityError(f"--mu must be a number or auto. Got {text[:40]!r}.") from None


def _auxiliary(name: str, P: Proximity) -> Any:
    """Values of an auxiliary kernel, its objects in the order of P where both have ids."""
    import numpy as np

    from similis.io import read_proximity

    Q = read_proximity(name)
    if Q.ids is None or P.ids is None:
        if Q.n != P.n:
            raise ProximityError(f"{name} must be over the same {P.n} objects as the matrix. Got {Q.n}.")
        return Q.values
    other = sorted(set(P.ids) ^ set(Q.ids))
    if other:
        raise ProximityError(
            f"{name} must be over the same objects as the matrix. {other[0]!r} is in one of them only."
        )
    order = [Q.ids.index(i) for i in P.ids]
    return Q.values[np.ix_(order, order)]
