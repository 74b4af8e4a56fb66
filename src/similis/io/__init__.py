"""Files: matrices of proximities with their ids, kind and labels, and fitted models. Nothing in them is executed."""

from similis.io._labels import read_labels
from similis.io._objects import Objects, read_objects
from similis.io._persistence import load, save
from similis.io._proximity import Proximity
from similis.io._read import file_format, read_proximity
from similis.io._write import write_proximity

__all__ = [
    "Proximity",
    "read_proximity",
    "write_proximity",
    "Objects",
    "read_objects",
    "read_labels",
    "file_format",
    "save",
    "load",
]
