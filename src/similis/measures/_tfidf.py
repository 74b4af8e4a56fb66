"""Cosine of texts as bags of weighted words; scikit-learn makes the bags."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis._utils.params import Integral, choice
from similis.exceptions import ProximityError
from similis.measures._base import Measure, Tick
from similis.measures._products import sparse_products
from similis.measures._texts import read_texts

__all__ = ["TfidfCosine"]


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

    def _objects(self, X: Any) -> list[str]:
        return read_texts(X, "TfidfCosine")

    def _learn(self, objects: list[str], y: Any) -> None:
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

    def _encode(self, objects: list[str]) -> Any:
        check_is_fitted(self, "_vectorizer")
        return self._vectorizer.transform(objects)

    def _matrix(self, A: Any, B: Any, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        out = sparse_products(A, B, n_jobs, tick)
        return np.minimum(out, 1.0, out=out)
