"""The condition for every input: a result that is as documented, or an error message of one sentence; nothing else.

The error is a ValueError or TypeError that is raised on purpose, in one line of less than 300 characters. No other
exception, no RuntimeWarning, DeprecationWarning or FutureWarning (but scikit-learn's warning that some fits of a search
failed), no changed input, no answer after more than `LIMIT` seconds.
"""

import copy
import gc
import linecache
import signal
import time
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.exceptions import FitFailedWarning

import similis

LIMIT = 20  # of the processor's time, in seconds
FORBIDDEN = (
    RuntimeWarning,
    DeprecationWarning,
    PendingDeprecationWarning,
    FutureWarning,
    BytesWarning,
    ResourceWarning,
)


# As it was when this process began; it may be edited meanwhile.
_SOURCE = {str(p): p.read_text().splitlines() for p in Path(similis.__file__).parent.rglob("*.py")}


class Broken(Exception):
    """The law is broken; the first argument is how, short and the same for the same fault."""


class Refused(Exception):
    """The call refused its input, as it may."""


class Hang(BaseException):
    """No answer within the limit."""


def _alarm(*_):
    raise Hang


@contextmanager
def in_time(seconds=LIMIT):
    """Raise Hang where a call takes too long."""
    signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def call(f, *arguments, **options):
    """Call f and judge how it ends: its result, Refused, or Broken."""
    before = [(value, _image(value)) for value in (*arguments, *options.values())]
    name = getattr(f, "__qualname__", type(f).__name__)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with in_time():
                result = f(*arguments, **options)
        except Hang:
            raise Broken(f"{name}: no answer in {LIMIT} s") from None
        except (ValueError, TypeError) as error:
            _check_refusal(name, error)
            raise Refused(str(error)) from None
        except Exception as error:
            raise Broken(f"{name}: {type(error).__name__} at {_place(error)}: {str(error)[:100]}") from error
        finally:
            for value, image in before:
                if image is not None and _image(value) != image:
                    raise Broken(f"{name}: an input was changed")
    for warning in said:
        if " since similis 2.0" in str(warning.message):  # a parameter under its former name
            continue
        if issubclass(warning.category, FORBIDDEN) and not issubclass(warning.category, FitFailedWarning):
            where = f"{warning.filename.rpartition('site-packages/')[2].rpartition('/src/')[2]}:{warning.lineno}"
            raise Broken(f"{name}: {warning.category.__name__} at {where}: {str(warning.message)[:80]}")
    return result


def demand(truth, words):
    """A condition on a result."""
    if not truth:
        raise Broken(words)


def finite(value, words):
    """The condition that all numbers are finite."""
    value = np.asarray(value)
    demand(value.dtype.kind in "iub" or bool(np.isfinite(value).all()), f"{words} is not finite")


def bearable(*arrays, limit=1e100):
    """Whether the entries are of sizes for which results have to be finite."""
    for A in arrays:
        try:
            with np.errstate(all="ignore"):
                A = np.abs(np.asarray(A).astype(complex))
        except (ValueError, TypeError, OverflowError):
            continue
        if (A[~np.isnan(A)] > limit).any():
            return False
    return True


def _check_refusal(name, error):
    text = str(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    listed = last.filename.endswith("_param_validation.py")  # scikit-learn's: may list all names that are allowed
    if (len(text) >= 300 and not listed) or "\n" in text.strip():
        raise Broken(f"{name}: a refusal of {len(text)} characters at {_place(error)}: {text[:60]!r}") from error
    if not text.strip():
        raise Broken(f"{name}: an error without a message at {_place(error)}") from error
    *_, (frame, number) = traceback.walk_tb(error.__traceback__)
    name_of_file = frame.f_code.co_filename
    line = _SOURCE[name_of_file][number - 1] if name_of_file in _SOURCE else linecache.getline(name_of_file, number)
    if "raise" not in line and not _signature(text):
        raise Broken(f"{name}: an error that is not raised on purpose at {_place(error)}: {text[:100]}") from error


def _signature(text):
    """Python's own word on a wrong call, or on a path that is none."""
    return ("argument" in text and "()" in text) or "os.PathLike" in text or "null byte" in text


def _place(error):
    """The last line of similis on the way, and the very last."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/similis/" in f.filename]
    shown = ([ours[-1]] if ours else []) + ([frames[-1]] if not ours or frames[-1] is not ours[-1] else [])
    return " < ".join(f"{'/'.join(f.filename.split('/')[-2:])}:{f.lineno}" for f in shown)


def _image(value):
    """Something that differs after a change; None for what cannot be seen."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.shape, value.strides, value.tobytes())
    if isinstance(value, (list, dict, set)):
        try:
            return repr(value)
        except Exception:
            return None
    if hasattr(value, "to_numpy") and hasattr(value, "columns"):
        return repr(value.to_numpy().tolist())
    if hasattr(value, "tocoo"):
        A = value.tocoo()
        return (A.shape, A.data.tobytes(), A.row.tobytes())
    return None


class Tally:
    """What was tried for one name, and every different fault with the first example of it."""

    def __init__(self, name):
        self.name = name
        self.tried = self.accepted = 0
        self.faults: dict[str, dict] = {}
        self.slowest = 0.0

    def run(self, case, draw):
        """Try one example."""
        notes: list[str] = []
        start = time.perf_counter()
        self.tried += 1
        try:
            case(draw, notes.append)
            self.accepted += 1
        except Refused:
            pass
        except Exception as fault:
            key = str(fault) if isinstance(fault, Broken) else f"in the case itself: {fault!r} at {_place(fault)}"
            found = self.faults.setdefault(
                key, {"name": self.name, "fault": key, "example": "; ".join(notes)[:600], "times": 0}
            )
            found["times"] += 1
        self.slowest = max(self.slowest, time.perf_counter() - start)
        if self.tried % 500 == 0:
            gc.collect()

    def to_dict(self):
        """For the record."""
        return {
            "name": self.name,
            "inputs": self.tried,
            "accepted": self.accepted,
            "slowest": round(self.slowest, 2),
            "faults": sorted(self.faults.values(), key=lambda f: -f["times"]),
        }


def same(a, b):
    """Equal bit by bit, NaN like NaN."""
    a, b = (np.asarray(x.toarray() if hasattr(x, "toarray") else x) for x in (a, b))
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and (a.tobytes() == b.tobytes() or bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f")))
    )


def duplicate(value):
    """A deep copy where that is possible."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value
