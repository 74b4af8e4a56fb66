"""Files: proximity matrices with their ids, kind and labels; objects; fitted models. Nothing in a file is executed."""

from similis.io._checks import PairOptions, ReadOptions, decide_kind
from similis.io._files import Format, file_format, files_beside, formats, read_proximity, write_proximity
from similis.io._models import ModelCard, TrainedModel, card_path, load, read_model, save, write_model
from similis.io._numpy import matrix_card
from similis.io._objects import Objects, align_labels, check_classes, read_labels, read_objects
from similis.io._pairs import read_pairs
from similis.io._proximity import Proximity
from similis.io._zarr import BlockFile

__all__ = ["Proximity", "read_proximity", "read_pairs", "PairOptions", "write_proximity", "file_format", "files_beside"]
__all__ += ["BlockFile", "matrix_card", "decide_kind", "Format", "ReadOptions", "formats"]
__all__ += ["Objects", "read_objects", "read_labels", "align_labels", "check_classes"]
__all__ += ["save", "load", "ModelCard", "TrainedModel", "write_model", "read_model", "card_path"]
