"""Tables of docs/guide/scale.md and docs/results/cost.md, from the results of ``bench_scale.py``."""

import csv
import io
import json
from itertools import groupby
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "guide" / "scale.md", ROOT / "docs" / "results" / "cost.md")


METHODS = ROOT / "benchmarks" / "results" / "scale_families.csv"


def page(n=None):
    """Fill the tables of both pages from the results; write that of all methods."""
    for path in PAGES:
        path.write_text(filled(path.read_text()))
    METHODS.write_text(methods())


def filled(text):
    """Return the text with the tables that it marks filled from the results."""
    tables = {"cluster": _cluster, "index": _index, "neighbors": _neighbors, "compact": _compact,
              "families": _families, "ten million": _ten_million}  # fmt: skip
    for name, table in tables.items():
        start, stop = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        if start in text:
            before, rest = text.split(start)
            text = before + start + "\n".join(table()) + "\n" + stop + rest.split(stop)[1]
    return text


def _items(part):
    return json.loads((ROOT / "benchmarks" / "results" / f"scale_{part}.json").read_text())["items"]


def _cluster():
    yield "| blocks | bare work | here | 1 worker | 2 workers | speed-up | over bare work | over here |"
    yield "|---|---|---|---|---|---|---|---|"
    for i in _items("cluster"):
        yield (
            f"| {i['tiles']}, {i['work_seconds'] / i['tiles']:.2f} s each | {i['work_seconds']:.1f} s | {i['here_seconds']:.1f} s | "  # noqa: E501
            f"{i['one_worker_seconds']:.1f} s | {i['two_workers_seconds']:.1f} s | {i['speed_up']:.2f} | {100 * i['overhead']:.1f} % | "  # noqa: E501
            f"{100 * (i['one_worker_seconds'] / i['here_seconds'] - 1):.1f} % |"
        )


def _index():
    yield "| | pairs | here | 1 worker | 2 workers | speed-up |"
    yield "|---|---|---|---|---|---|"
    for i in _items("index"):
        yield (
            f"| {i['name']} | {i['pairs']:,} | {i['here_seconds']:.1f} s | {i['one_worker_seconds']:.1f} s | "
            f"{i['two_workers_seconds']:.1f} s | {i['one_worker_seconds'] / i['two_workers_seconds']:.2f} |"
        )


def _neighbors():
    yield "| objects | neighbors kept | pairs per object | of all pairs | recall at 10 | recall, new objects | build | build, exact | new objects per second | peak memory |"  # noqa: E501
    yield "|---|---|---|---|---|---|---|---|---|---|"
    items = _items("neighbors") + _items("million")
    for i in items:
        if "kept" in i:
            yield (
                f"| {i['n']:,} | {i['kept']} | {i['pairs_per_object']:.0f} | {100 * i['share_of_pairs']:.2g} % | "
                f"{i['recall_at_10']:.3f} | {i['query_recall_at_10']:.3f} | {i['fit_seconds']:.0f} s | "
                f"{i['n'] ** 2 / 2 * _pair_seconds():,.0f} s | {1 / i['query_seconds']:.0f} | {i['peak_gigabytes']:.1f} GB |"  # noqa: E501
            )
    yield ""
    yield f"| on the index of {items[-1]['n']:,} | accuracy | new objects per second |"
    yield "|---|---|---|"
    for i in items:
        if "accuracy" in i and i["n"] == items[-1]["n"]:
            yield f"| `{i['name'].removesuffix(' on the index')}` | {100 * i['accuracy']:.1f} % | {i['queries_per_second']:.0f} |"  # noqa: E501


def _compact():
    yield "| | comparisons per new object | after `compact` | speed-up |"
    yield "|---|---|---|---|"
    for i in _items("compact"):
        before, after = i["comparisons_before"], i["comparisons_after"]
        if after < before:
            yield f"| {i['name']} | {before:.0f} | {after:.0f} | {i['ratio']:.1f} |"


def methods():
    """Time and memory of each method, as csv."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["method", "family", "n", "fit_seconds", "fit_exponent", "fit_seconds_at_100000", "row_microseconds",
         "row_exponent", "fit_memory_matrices"]
    )  # fmt: skip
    for i in _items("families"):
        fit, row = i["fit_seconds"][-1], 1e6 * i["row_seconds"][-1]
        writer.writerow(
            [i["name"], i.get("family", ""), f"{i['n'][-1]:.0f}", f"{fit:.3f}", f"{i['fit_exponent']:.1f}",
             f"{_at_100000(i):.0f}", f"{row:.0f}", f"{i['row_exponent']:.1f}", f"{_matrices(i):.2f}"]
        )  # fmt: skip
    return file.getvalue()


def _families():
    yield "| family | methods | n | fit, s | at n = 100,000, s | new row, us | memory at fit, matrices |"
    yield "|---|---|---|---|---|---|---|"
    for family, found in groupby(_items("families"), key=lambda i: i.get("family", "")):
        found = list(found)
        ranges = (
            _range([i["n"][-1] for i in found], ".0f"),
            _range([i["fit_seconds"][-1] for i in found], ".3f"),
            _range([_at_100000(i) for i in found], ",.0f"),
            _range([1e6 * i["row_seconds"][-1] for i in found], ".0f"),
            _range([_matrices(i) for i in found], ".2f"),
        )
        yield f"| {family} | {len(found)} | {' | '.join(ranges)} |"


def _range(values, form):
    return "-".join(dict.fromkeys(format(value, form) for value in (min(values), max(values))))


def _matrices(i):
    """Peak memory of a fit in float32 matrices."""
    return i["fit_bytes"][-1] / (4 * i["n"][-1] ** 2)


def _at_100000(i):
    """A matrix is read at least once, so the exponent is at least 2 in the end."""
    return i["fit_seconds"][-1] * (1e5 / i["n"][-1]) ** max(2.0, i["fit_exponent"])


def _pair_seconds():
    """Cost of a comparison in the measurement of all pairs to disk."""
    whole = next(i for i in _items("disk") if i["name"].startswith("measuring"))
    return whole["ours_seconds"] / (whole["gigabytes"] * 1e9 / 4 / 2)


def _ten_million():
    """What 100 workers would take for 10 million objects, from the cost of a pair and of a task as measured."""
    n, workers = 1e7, 100
    pair = _pair_seconds()
    task = _items("cluster")[0]["seconds_per_empty_task"]
    built = [i for i in _items("million") if i.get("kept") == 15][-1]
    yield "| 10 million objects | pairs | tasks | work | scheduler | on disk |"
    yield "|---|---|---|---|---|---|"
    for name, pairs, size in (("all pairs", n * n / 2, 4 * n * n), ("1,000 landmarks", 1000 * n, 4000 * n)):
        tasks = max(workers, pairs / 4096**2)
        hours = f"{pairs * pair / workers / 3600:.2g} h on 100 workers | {tasks * task / 3600:.2g} h"
        yield f"| {name} | {pairs:.1e} | {tasks:,.0f} | {hours} | {size / 1e9:,.0f} GB |"
    less = next(i for i in _items("neighbors") if i.get("kept") == 15)
    exponent = np.log(built["fit_seconds"] / less["fit_seconds"]) / np.log(built["n"] / less["n"])
    hours = built["fit_seconds"] * (n / built["n"]) ** exponent / 3600
    pairs = built["pairs_per_object"] * n
    yield f"| the index, on one core, exponent {exponent:.2f} | {pairs:.1e} | none | {hours:.2g} h | none | {8 * 15 * n / 1e9:,.1f} GB |"  # noqa: E501
