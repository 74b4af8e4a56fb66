"""Measures on texts: compression distance and the cosine of tf-idf vectors."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Floats, is_missing
from similis.base import Integral, Measure, Tick, as_collection, choice, estimator, fill_rows, param
from similis.exceptions import ProximityError
from similis.measures._vectors import sparse_products


def read_texts(X: Any, who: str, types: type | tuple[type, ...], wanted: str) -> list[Any]:
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        X = X.ravel()
    texts = [str(x) if isinstance(x, str) else x for x in as_collection(X, who)]
    for i, text in enumerate(texts):
        if not isinstance(text, types):
            missing = not hasattr(text, "__len__") and is_missing(text)
            value = "missing" if missing else f"a {type(text).__name__}, {str(text)[:40]!r}"
            raise ProximityError(f"{who} needs {wanted}. Object {i} is {value}; join its parts into one text.")
    return texts


_CODECS: dict[str, Callable[[bytes], bytes]] = {"zlib": zlib.compress, "bz2": bz2.compress, "lzma": lzma.compress}


@estimator
class Compression(Measure):
    """Compression distance: the information in x that is not in z, measured by a compressor.

    d(x, z) = (C(xz) - min(C(x), C(z))) / max(C(x), C(z)) ([cilibrasi2005]), where C is the compressed length and xz the
    concatenation; mentioned in [cazzanti2007] sec. 2.1 and [chen2010] ch. 1. Objects are texts (compressed as UTF-8) or
    bytes. Values lie near the interval from 0 to 1, on short texts often beyond it. The distance of an object to itself
    is not zero, and the measure is not symmetric: xz and zx are compressed to slightly different lengths.

    Parameters
    ----------
    codec : {"zlib", "bz2", "lzma"}, default="zlib"
        Compressor of the standard library. Its window is 32 kB, 900 kB or several megabytes; lzma is slow.
    conditional : bool, default=False
        Use d(x, z) = (C(zx) - C(z)) / C(x), the fraction of x that remains when z is known.

    Examples
    --------
    >>> from similis import Compression
    >>> boat, stream = "row, row, row your boat " * 3, "gently down the stream " * 3
    >>> Compression()(boat, boat + "merrily") < Compression()(boat, stream)
    True
    """

    codec: str = param("zlib", choice(*_CODECS))
    conditional: bool = param(False, "boolean")

    kind = "dissimilarity"
    symmetric = False
    cells = "text"

    def validate_objects(self, X: Any) -> list[Any]:
        return read_texts(X, "Compression", (str, bytes), "texts or bytes")

    def encode(self, objects: list[Any]) -> _Packed:
        octets = [x.encode("utf-8", "surrogatepass") if isinstance(x, str) else x for x in objects]
        return _Packed(octets, np.array([len(x) for x in map(_CODECS[self.codec], octets)], dtype=np.float64))

    def block(self, A: _Packed, B: _Packed, n_jobs: int | None = None, tick: Tick = None) -> Array:
        compress = _CODECS[self.codec]

        def row(i: int, first: int) -> Floats:
            x, C_x, C_z = A.octets[i], A.lengths[i], B.lengths
            joined = (z + x if self.conditional else x + z for z in B.octets)
            both = np.array([len(compress(octets)) for octets in joined], dtype=np.float64)
            if self.conditional:
                return (both - C_z) / C_x
            return (both - np.minimum(C_x, C_z)) / np.maximum(C_x, C_z)

        return fill_rows(np.empty((len(A.octets), len(B.octets))), row, n_jobs, tick, 8, mirror=False)


@dataclass
class _Packed:
    octets: list[bytes]
    lengths: Floats  # of each object alone, compressed


@estimator
class TfidfCosine(Measure):
    """Cosine of texts as bags of words, weighted by the inverse document frequency among the training texts.

    Equal to ``TfidfVectorizer`` and ``cosine_similarity`` of scikit-learn. Words that occur in no training text are
    ignored; a text without any known word has similarity 0 with every text, including itself.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default="word"
        Count words, n-grams of characters, or n-grams of characters within words.
    ngram_range : tuple (shortest, longest), default=(1, 1)
        Shortest and longest n-gram, in words or characters.
    lowercase, sublinear_tf : bool, default=True and False
        Convert all characters to lower case; replace the number k of occurrences of a word by 1 + log k.

    Examples
    --------
    >>> from similis import TfidfCosine
    >>> texts = ["the cat sat", "the cat ran", "a dog barked"]
    >>> TfidfCosine().fit(texts).matrix(texts[:1], texts).round(2)
    array([[1.  , 0.54, 0.  ]])
    """

    analyzer: str = param("word", choice("word", "char", "char_wb"))
    ngram_range: tuple[int, int] = param((1, 1), tuple)
    lowercase: bool = param(True, "boolean")
    sublinear_tf: bool = param(False, "boolean")

    domain_ = (0.0, 1.0)
    cells = "text"

    def _validate_params(self) -> None:
        super()._validate_params()
        sizes = self.ngram_range
        if len(sizes) != 2 or not all(isinstance(k, Integral) for k in sizes) or not 1 <= sizes[0] <= sizes[1]:
            wanted = "two integers, 1 <= shortest <= longest"
            raise ProximityError(f"The 'ngram_range' parameter of TfidfCosine must be {wanted}. Got {str(sizes)[:60]}.")

    def validate_objects(self, X: Any) -> list[str]:
        return read_texts(X, "TfidfCosine", str, "texts")

    def learn(self, objects: list[str], y: Any) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        try:
            self._vectorizer = TfidfVectorizer(**self.get_params(deep=False)).fit(objects)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            hint = "Pass texts with words, or use analyzer='char'."
            raise ProximityError(f"TfidfCosine found no word in any training text. {hint}") from None

    def encode(self, objects: list[str]) -> Any:
        check_is_fitted(self, "_vectorizer")
        return self._vectorizer.transform(objects)

    def block(self, A: Any, B: Any, n_jobs: int | None = None, tick: Tick = None) -> Array:
        out = sparse_products(A, B, n_jobs, tick)
        return np.minimum(out, 1.0, out=out)
