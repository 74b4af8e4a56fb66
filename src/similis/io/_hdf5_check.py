"""Read every object of an HDF5 file, in a process of its own: damaged files crash the library, or never end.

An exit status other than 0, after "reading" was written, means that HDF5 crashed, did not finish or took too much
memory. Exceptions of h5py are ignored: they are raised again in the process that needs the file.
"""

import faulthandler
import math
import os
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_NUMBERS, _OBJECTS, _STEP = 2**22, 2**24, 2**16


def _peak_memory() -> int:
    """Peak memory of this process in bytes; on Linux not below that of the process that started it."""
    try:
        resource = import_module("resource")
    except ImportError:  # Windows
        return 0
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)


def main(path: str, seconds: str, max_bytes: str, *search: str) -> None:
    """Read all objects in the order of ``visititems``, or group by group where that fails."""
    sys.path[:] = search
    h5py = import_module("h5py")
    n_left = Path(path).stat().st_size // 16  # no object is smaller
    os.write(1, b"reading")
    memory = _peak_memory()
    started = -math.inf

    def restart_clock() -> None:
        nonlocal started
        if time.monotonic() > started + float(seconds) / 10:  # the clock is a thread
            started = time.monotonic()
            faulthandler.dump_traceback_later(float(seconds), exit=True)

    def read(name: str, item: Any) -> None:
        nonlocal n_left
        n_left -= 1
        if n_left < 0:  # a circle of groups
            os._exit(1)
        restart_clock()
        if name.startswith("#refs#"):  # cells of MATLAB, which are read by the references to them
            return
        with suppress(Exception):
            for attribute in item.attrs:
                with suppress(Exception):
                    item.attrs.get(attribute)
        with suppress(Exception):
            read_values(item, follow=True)

    def read_values(item: Any, follow: bool) -> None:
        if not isinstance(item, h5py.Dataset) or item.is_virtual or item.external or not item.size:
            return
        if item.chunks is not None:
            item.id.get_num_chunks()
        is_small = item.size <= _OBJECTS if item.dtype.hasobject else item.nbytes <= _NUMBERS
        if not item.shape or not is_small:  # the first value only
            _ = item[(0,) * item.ndim]
            return
        n_rows = max(1, _STEP * item.shape[0] // item.size)
        for row in range(0, item.shape[0], n_rows):
            restart_clock()
            values = item[row : row + n_rows]
            if follow and h5py.check_ref_dtype(item.dtype) is not None:
                for reference in values.ravel():
                    restart_clock()
                    with suppress(Exception):
                        read_values(file[reference], follow=False)

    def read_group(group: Any) -> None:
        for name in group:
            with suppress(Exception):
                if isinstance(group.get(name, getlink=True), h5py.HardLink):
                    read(name, group[name])
                    if isinstance(group[name], h5py.Group):
                        read_group(group[name])

    restart_clock()
    with suppress(Exception), h5py.File(path, "r") as file:
        try:
            file.visititems(read)
        except Exception:
            read_group(file)
    os._exit(_peak_memory() > max(memory, 2**28 + int(max_bytes)))


if __name__ == "__main__":
    main(*sys.argv[1:])
