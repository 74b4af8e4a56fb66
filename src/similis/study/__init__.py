"""The comparative study: protocol, table of methods, significance, journal, results."""

from similis.io import ModelCard, TrainedModel, read_model, write_model
from similis.study._assemble import make_model
from similis.study._differences import Difference
from similis.study._displays import (
    AgreementDisplay,
    ConfusionDisplay,
    ObjectsDisplay,
    RaceDisplay,
    RanksDisplay,
    Reliability,
    ReliabilityDisplay,
    SplitsDisplay,
    TimeErrorDisplay,
    ValuesDisplay,
)
from similis.study._entry import Entry, Row
from similis.study._estimate import Estimate
from similis.study._journal import JournalWarning
from similis.study._methods import AtMost, Method, find_method, list_methods
from similis.study._metrics import METRICS, Ranks, Verdict, average_ranks, holm, signed_rank
from similis.study._names import Parameter, list_parameters
from similis.study._plan import Progress
from similis.study._problem import choose_task
from similis.study._recommend import Recommendation
from similis.study._result import Comparison, StudyResult, compare
from similis.study._run import Study
from similis.study._trained import Predictions, predict_rows, train_model

__all__ = ["Study", "StudyResult", "Method", "AtMost", "Parameter", "choose_task", "list_methods", "find_method"]
__all__ += ["list_parameters", "make_model", "train_model", "write_model", "read_model", "predict_rows", "TrainedModel"]
__all__ += ["ModelCard", "Predictions", "Entry", "Row", "Recommendation", "Progress", "Estimate", "Verdict"]
__all__ += ["Difference", "Ranks", "METRICS", "signed_rank", "holm", "average_ranks", "JournalWarning"]
__all__ += ["SplitsDisplay", "RaceDisplay", "TimeErrorDisplay", "ReliabilityDisplay", "Reliability", "AgreementDisplay"]
__all__ += ["ConfusionDisplay", "ObjectsDisplay", "RanksDisplay", "ValuesDisplay", "Comparison", "compare"]
