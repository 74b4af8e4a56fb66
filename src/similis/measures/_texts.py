"""The door for texts: one text per object, in a list, an array or one column of a frame."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis.base import Integral, Measure, ProgressCallback, as_collection, choice, for_each_strip
from similis.exceptions import ProximityError
from similis.measures._categorical import is_missing
from similis.measures._vectors import sparse_products

__all__ = ["read_texts", "Compression", "TfidfCosine"]


def read_texts(X: Any, who: str, *, allow_bytes: bool = False) -> list[Any]:
    """Texts (or bytes, where these will do) as a list."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        X = X.ravel()
    texts = [str(x) if isinstance(x, str) else x for x in as_collection(X, who)]
    for i, text in enumerate(texts):
        if isinstance(text, str) or (allow_bytes and isinstance(text, bytes)):
            continue
        missing = not hasattr(text, "__len__") and is_missing(text)  # a collection of values is none
        what = "missing" if missing else f"a {type(text).__name__}, {str(text)[:40]!r}"
        wanted = "texts or bytes" if allow_bytes else "texts"
        raise ProximityError(f"{who} compares {wanted}. Object {i} is {what}; join its parts into one text.")
    return texts


_CODECS: dict[str, Callable[[bytes], bytes]] = {"zlib": zlib.compress, "bz2": bz2.compress, "lzma": lzma.compress}


class Compression(Measure):
    """Compression distance: what z does not tell about x, measured by a compressor.

    d(x, z) = (C(xz) - min(C(x), C(z))) / max(C(x), C(z)), where C is the compressed length and xz the two one after the
    other: the normalized compression distance. With `conditional`, d(x, z) = (C(zx) - C(z)) / C(x): the share of x that
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

    def validate_objects(self, X: Any) -> list[Any]:
        return read_texts(X, "Compression", allow_bytes=True)

    def encode(self, objects: list[Any]) -> _Packed:
        octets = [x.encode("utf-8", "surrogatepass") if isinstance(x, str) else x for x in objects]
        compress = _CODECS[self.codec]
        return _Packed(octets, np.array([len(compress(x)) for x in octets], dtype=np.float64))

    def block(
        self, A: _Packed, B: _Packed, n_jobs: int | None = None, tick: ProgressCallback | None = None
    ) -> NDArray[Any]:
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

        for_each_strip(work, len(out), n_jobs, tick, step=8)
        return out


@dataclass
class _Packed:
    """Objects as bytes, and the compressed length of each alone."""

    octets: list[bytes]
    lengths: NDArray[np.float64]


class TfidfCosine(Measure):
    """The cosine between texts as bags of words, each word weighted by how rare it is among the training texts.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default="word"
        What is counted: words, stretches of characters, or such stretches within words.
    ngram_range : tuple (shortest, longest), default=(1, 1)
        How many words or characters a stretch has.
    lowercase : bool, default=True
        Whether capitals are read as small letters.
    sublinear_tf : bool, default=False
        Whether a word that occurs k times counts 1 + log k times instead.

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)``.

    See Also
    --------
    Compression : needs no words.
    Cosine : for vectors.

    Notes
    -----
    The same numbers as scikit-learn's ``TfidfVectorizer`` and ``cosine_similarity``. Words that no training text has
    are ignored; a text without any known word has similarity 0 with every text, itself included.

    Examples
    --------
    >>> from similis import TfidfCosine
    >>> texts = ["the cat sat", "the cat ran", "a dog barked"]
    >>> TfidfCosine().fit(texts).matrix(texts).round(2)
    array([[1.  , 0.54, 0.  ],
           [0.54, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    domain_ = (0.0, 1.0)
    _parameter_constraints = {
        "analyzer": [choice("word", "char", "char_wb")],
        "ngram_range": [tuple],
        "lowercase": ["boolean"],
        "sublinear_tf": ["boolean"],
    }

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.sublinear_tf = sublinear_tf

    def _validate_params(self) -> None:
        super()._validate_params()
        sizes = self.ngram_range
        if len(sizes) != 2 or not all(isinstance(k, Integral) for k in sizes) or not 1 <= sizes[0] <= sizes[1]:
            raise ProximityError(
                "The 'ngram_range' parameter of TfidfCosine must be two integers, the fewest words and the most, not "
                f"below 1. Got {str(sizes)[:60]}."
            )

    def validate_objects(self, X: Any) -> list[str]:
        return read_texts(X, "TfidfCosine")

    def learn(self, objects: list[str], y: Any) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(**self.get_params(deep=False))
        try:
            self._vectorizer = vectorizer.fit(objects)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise ProximityError(
                "TfidfCosine found no word in any training text; pass texts with words, or analyzer='char'."
            ) from None

    def encode(self, objects: list[str]) -> Any:
        check_is_fitted(self, "_vectorizer")
        return self._vectorizer.transform(objects)

    def block(self, A: Any, B: Any, n_jobs: int | None = None, tick: ProgressCallback | None = None) -> NDArray[Any]:
        out = sparse_products(A, B, n_jobs, tick)
        return np.minimum(out, 1.0, out=out)
