"""HTML and SVG by construction: whatever is not markup already is escaped, so names can hold anything."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Markup", "join", "number", "png", "tag"]


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


_VOID = {"br", "circle", "img", "input", "line", "meta", "path", "rect", "use", "wbr"}


def tag(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """An element; plain text in it is escaped, attributes that are None are left out.

    An underscore in the name of an attribute stands for a hyphen, one at its end for nothing (``class_``).
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID and not content:
        return Markup(f"<{name}{given}/>" if name not in ("meta", "input", "img", "br", "wbr") else f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(content)}</{name}>")


def join(parts: Iterable[Any], between: str = "") -> Markup:
    """Parts one after the other, those that are not markup escaped."""
    return Markup(between.join(part if isinstance(part, Markup) else escape(str(part)) for part in parts))


def number(value: Any) -> str:
    """A number as short as it may be in markup; other things as text."""
    if isinstance(value, (float, np.floating)):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(value)


def png(levels: NDArray[np.uint8], palette: NDArray[np.uint8]) -> str:
    """A picture of at most 256 colours as the address of an image; level 0 is transparent.

    Parameters
    ----------
    levels : ndarray of shape (height, width)
        Index into the palette.
    palette : ndarray of shape (256, 3)
        Red, green, blue.
    """

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = levels.shape
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), levels])  # each row begins with "no filter"
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", palette.astype(np.uint8).tobytes())
        + chunk(b"tRNS", b"\0")
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + b64encode(data).decode()
