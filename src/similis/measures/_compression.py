"""Similarity by compression: how much shorter two texts become when packed together."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.params import choice
from similis.measures._base import Measure, Tick, over_rows
from similis.measures._texts import read_texts

__all__ = ["Compression"]

_CODECS: dict[str, Callable[[bytes], bytes]] = {"zlib": zlib.compress, "bz2": bz2.compress, "lzma": lzma.compress}


class Compression(Measure):
    """Compression distance: what z does not tell about x, measured by a compressor.

    d(x, z) = (C(xz) - min(C(x), C(z))) / max(C(x), C(z)), where C is the compressed length and xz the two one after the
    other: the normalised compression distance. With `conditional`, d(x, z) = (C(zx) - C(z)) / C(x): the share of x that
    remains to be told once z is known.

    Parameters
    ----------
    codec : {"zlib", "bz2", "lzma"}, default="zlib"
        The compressor, of Python's standard library, with its default settings. zlib looks back 32 kB, bz2 sorts
        blocks of 900 kB, lzma looks back megabytes and is slow.
    conditional : bool, default=False
        Whether to ask how much of x alone remains, which is not the same as how much of z.

    Attributes
    ----------
    symmetric : bool
        False: a real compressor packs xz and zx into slightly different lengths.
    domain_ : None
        Values lie near the interval from 0 to 1, on short texts often beyond it.

    See Also
    --------
    TfidfCosine : compares words.
    Edit : compares symbol by symbol.

    Notes
    -----
    Objects are texts (compressed as UTF-8) or bytes, empty ones too: compressors spend some bytes on nothing. The
    length of each object alone is computed once. An object's distance to itself is small, not zero. Every pair is
    compressed, in both orders, so n objects take about n^2 compressions; ``n_jobs`` threads share them.
    [cazzanti2007] sec. 2.1 and [chen2010] ch. 1 name compressibility as a similarity.

    Examples
    --------
    >>> from similis import Compression
    >>> boat, stream = "row, row, row your boat " * 3, "gently down the stream " * 3
    >>> d = Compression()
    >>> d(boat, boat + "merrily") < d(boat, stream)
    True
    """

    kind = "dissimilarity"
    symmetric = False
    _parameter_constraints = {"codec": [choice(*_CODECS)], "conditional": ["boolean"]}

    def __init__(self, *, codec: str = "zlib", conditional: bool = False) -> None:
        self.codec = codec
        self.conditional = conditional

    def _objects(self, X: Any) -> list[Any]:
        return read_texts(X, "Compression", allow_bytes=True)

    def _encode(self, objects: list[Any]) -> _Packed:
        octets = [x.encode("utf-8", "surrogatepass") if isinstance(x, str) else x for x in objects]
        compress = _CODECS[self.codec]
        return _Packed(octets, np.array([len(compress(x)) for x in octets], dtype=np.float64))

    def _matrix(self, A: _Packed, B: _Packed, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        compress, out = _CODECS[self.codec], np.empty((len(A.octets), len(B.octets)))

        def work(rows: slice) -> None:
            for i in range(rows.start, rows.stop):
                x, C_x, C_z = A.octets[i], A.lengths[i], B.lengths
                if self.conditional:
                    both = np.array([len(compress(z + x)) for z in B.octets], dtype=np.float64)
                    out[i] = (both - C_z) / C_x
                else:
                    both = np.array([len(compress(x + z)) for z in B.octets], dtype=np.float64)
                    out[i] = (both - np.minimum(C_x, C_z)) / np.maximum(C_x, C_z)

        over_rows(work, len(out), n_jobs, tick, step=8)
        return out


@dataclass
class _Packed:
    """Objects as bytes, and the compressed length of each alone."""

    octets: list[bytes]
    lengths: NDArray[np.float64]
