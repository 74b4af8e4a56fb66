"""Time our callable and a peer's in the same run and keep the best of each, with versions and the kind of machine.

A script in this folder reads::

    from _measure import Benchmark

    bench = Benchmark("measures")
    bench.compare("counting, d = 16", ours, peer, peer_name="scipy cdist hamming", floor=2, check=same_matrix)
    bench.write()                       # benchmarks/results/measures.json

`ours` and `peer` take no arguments. Both are called once untimed (compilation, caches), then in turns, so that a busy
moment of the machine falls on both. The ratio is the peer's best time over ours: above 1, we are faster. Where a floor
is missed both get as many turns again, once. SIMILIS_BENCH_QUICK allows one turn only, SIMILIS_BENCH_RESULTS names
another folder for the records.
"""

import gc
import json
import os
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

Thunk = Callable[[], Any]


class Benchmark:
    """A named table of comparisons; `packages` names further distributions whose versions matter.

    `clock` may be ``time.process_time`` where one thread does all the work.
    """

    def __init__(self, name: str, *, packages: tuple[str, ...] = (), clock: Callable[[], float] = perf_counter) -> None:
        self.name = name
        self.clock = clock
        self.packages = PACKAGES + packages
        self.items: list[dict[str, Any]] = []

    def compare(
        self,
        name: str,
        ours: Thunk,
        peer: Thunk,
        *,
        peer_name: str,
        floor: float | None = None,
        goal: float | None = None,
        repeats: int = 5,
        check: Callable[[Any, Any], float] | None = None,
        **details: Any,
    ) -> float:
        """Time both, print a line, keep an item and return the ratio.

        `check(our_result, peer_result)` returns a number (say, the largest difference) that is kept as ``"error"``,
        or raises when the two do not compute the same thing. `details` are kept as they are.
        """
        first = ours(), peer()
        error = None if check is None else float(check(*first))
        del first
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        if os.environ.get("SIMILIS_BENCH_QUICK"):
            repeats = 1
        for turn in range(2 * repeats):
            if turn == repeats and min(times["peer"]) >= (floor or 0) * min(times["ours"]):
                break
            times["ours"].append(seconds(ours, self.clock))
            times["peer"].append(seconds(peer, self.clock))
        ratio = min(times["peer"]) / min(times["ours"])
        item = {
            "name": name,
            "peer": peer_name,
            "ours_seconds": min(times["ours"]),
            "peer_seconds": min(times["peer"]),
            "ratio": ratio,
            "floor": floor,
            "goal": goal,
            "error": error,
            **details,
        }
        self.items.append(item)
        verdict = "" if floor is None else f"  floor {floor:g}x {'met' if ratio >= floor else 'MISSED'}"
        print(
            f"{name:44s} {min(times['ours']):9.4f} s | {peer_name} {min(times['peer']):9.4f} s |{ratio:8.1f}x{verdict}",
            flush=True,
        )
        return ratio

    def record(self) -> dict[str, Any]:
        """Everything known about this run, ready for JSON."""
        return {
            "name": self.name,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "versions": versions(self.packages),
            "items": self.items,
        }

    def write(self, path: Path | None = None) -> Path:
        """Write the record to ``results/<name>.json``, all or nothing."""
        folder = Path(os.environ.get("SIMILIS_BENCH_RESULTS") or RESULTS)
        path = folder / f"{self.name}.json" if path is None else Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        draft.write_text(compact_json(self.record()))
        draft.replace(path)
        return path


def compact_json(record: dict[str, Any]) -> str:
    """JSON with one line per entry, and per item of a list of items; numbers have five significant digits."""

    def line(value: Any) -> str:
        return json.dumps(_rounded(value), separators=(", ", ": "))

    entries = []
    for key, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            entries.append(f'"{key}": [\n  ' + ",\n  ".join(map(line, value)) + "\n ]")
        else:
            entries.append(f'"{key}": {line(value)}')
    return "{\n " + ",\n ".join(entries) + "\n}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return [_rounded(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def seconds(call: Thunk, clock: Callable[[], float] = perf_counter) -> float:
    """Time of one call, with the garbage collector out of the way."""
    gc.collect()
    gc.disable()
    try:
        start = clock()
        call()
        return clock() - start
    finally:
        gc.enable()


def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Versions of Python and of the installed ones among `packages`."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The kind of machine, not which one: processor, cores, memory, system, thread limits in force."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "threads": {name: os.environ[name] for name in sorted(os.environ) if name.endswith("_NUM_THREADS")},
        "load": round(os.getloadavg()[0], 2),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
