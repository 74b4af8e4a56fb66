"""Read label files, text matrices and data frames with known contents, written in random dialects.

Labels are written with ids or without, in any order, with headers, further columns, gaps, blank lines, other
delimiters, quotes, byte order marks and ids that do not exist. Matrices are written as square tables or triangles with
ids on two sides, one side or none, in the dialects of common programs. Frames and series are shuffled on one side. Each
must be read as it was meant or rejected with a ValueError of one line; a wrong label, value, id or kind is a failure,
and so is the rejection of a file without any defect.
"""

import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _record import quick, record

from similis import Proximity, SimilarityKNN, read_proximity, write_proximity
from similis.base import kind_evidence
from similis.io import align_labels

SECONDS = 60.0


def quoted(rng, text, always=False):
    """Quote a cell that needs it, and some that do not."""
    always = always or any(c in text for c in ',;\t "') or rng.random() < 0.1
    return '"' + text.replace('"', '""') + '"' if always else text


def save(rng, path, lines, mark):
    """Write lines of cells with a random end of line, byte order mark, and blank lines at the end."""
    end = rng.choice(["\n", "\r\n"])
    text = end.join(mark.join(cells) for cells in lines) + rng.choice(["", end, end * 3])
    path.write_bytes(rng.choice([b"", b"\xef\xbb\xbf"]) + text.encode())


def labels(rng, folder):
    """Write labels of n objects; return path, ids, n, the right labels (None: an error), and those allowed instead."""
    n = rng.randint(4, 12)
    ids = [f"{rng.choice(['o', 'sample ', 'Ä'])}{i}" for i in range(n)]
    classes = rng.sample(["x", "y", "pos", "control group", "1", "2", "True", "y n"], rng.randint(2, 3))
    truth = [rng.choice(classes) for _ in range(n)]
    truth[:2] = classes[:2]
    truth[2] = classes[0]
    path, mark = folder / "y.csv", rng.choice([",", "\t", ";"])
    header, has_ids, gaps = rng.random() < 0.5, rng.random() < 0.7, set()
    if not has_ids:
        body = [[quoted(rng, label)] for label in truth]
        defect = rng.choice(["none", "none", "short", "blank", "long", "NA"])
        if defect == "short":
            body.pop()
        elif defect == "long":
            body.insert(rng.randrange(n), [classes[0]])
        elif defect in ("blank", "NA"):
            body[rng.randrange(n - 1)] = ["" if defect == "blank" else "NA"]
        save(rng, path, [[rng.choice(["label", "Class", "family"])]] * header + body, ",")
        known = rng.choice([ids, None])
        # a file with one label too many may start with a header: that is only wrong if the first label repeats
        return path, known, n, truth if defect == "none" else None, truth if defect != "none" and header else None
    known = ids if rng.random() < 0.8 else None
    names = ids if known else [str(i) for i in range(n)]
    order = rng.sample(range(n), n)
    rows = []
    for i in order:
        action = rng.random()
        if action < 0.05 and len(gaps) < n - 3:
            gaps.add(i)  # no line
            continue
        label = truth[i]
        if action < 0.1 and len(gaps) < n - 3:
            gaps.add(i)
            label = rng.choice(["", "NA", " "])
        padded = rng.choice([label, label + " "]) if mark != "," else label
        rows.append([quoted(rng, names[i]), quoted(rng, padded), f"{rng.random():.3f}"])
    extra = known is not None and rng.random() < 0.2
    if extra:
        rows.insert(rng.randrange(len(rows)), ["absent", classes[0], "0.5"])
    third, swapped = rng.random() < 0.3, rng.random() < 0.3
    lines = [["id", rng.choice(["label", "family"]), "length"]] * header + rows
    lines = [cells if third else cells[:2] for cells in lines]
    if swapped and known is not None:
        lines = [[cells[1], cells[0], *cells[2:]] for cells in lines]
    save(rng, path, lines, mark)
    wanted = [None if i in gaps else label for i, label in enumerate(truth)]
    # row numbers may count from 0 or from 1, and without a header a third column may hold the labels as well
    left = [label for label in wanted if label is not None]
    unsure = (known is None and bool(gaps)) or (third and not header and len(set(left)) in (1, len(left)))
    return path, known, n, None if unsure else wanted, wanted if unsure else None


def try_labels(rng, folder):
    path, ids, n, wanted, alternative = labels(rng, folder)
    try:
        rows, found = align_labels(path, ids, n)
    except ValueError as error:
        if "\n" in str(error) or len(str(error)) > 400:
            return f"message of {len(str(error))} characters"
        return f"rejected a sound file: {error}" if wanted is not None else None
    got = dict(zip(rows.tolist(), map(str, found.tolist())))
    got = [got.get(i) for i in range(n)]
    if wanted is None and got != alternative:
        return f"read a defective file as {got}"
    return f"wrong labels: {got} instead of {wanted}" if wanted is not None and got != wanted else None


def try_dialect(rng, folder):
    """A matrix in a random dialect: the same values, ids and kind, or an error."""
    n = rng.randint(3, 7)
    X = np.random.default_rng(rng.randrange(10**9)).normal(size=(n, 2))
    D = np.round(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)), 4) + 0.25
    np.fill_diagonal(D, rng.choice([0.0, 0.125]))
    ids = rng.choice([[f"o{i}" for i in range(n)], [f"a b{i}" for i in range(n)], [str(101 + i) for i in range(n)]])
    mark, corner = rng.choice([",", "\t", ";", " "]), rng.choice(["", "id", "distance", "dissimilarity"])
    half = rng.choice(["whole", "whole", "upper", "lower"]) if mark != " " else "whole"
    keep = {"whole": np.ones((n, n)), "upper": np.triu(np.ones((n, n))), "lower": np.tri(n)}[half]
    spell = rng.choice([repr, "{:.4f}".format, "{:.6e}".format])
    cells = [[spell(float(D[i, j])) if keep[i, j] else rng.choice(["", "NA"]) for j in range(n)] for i in range(n)]
    sides = rng.choice(["both", "both", "no corner", "columns", "rows", "none"])
    names = [quoted(rng, name, always=mark == " ") for name in ids]
    front = [[name, *row] for name, row in zip(names, cells)]
    corner = corner or ('""' if mark == " " else "")
    lines = {
        "both": [[corner, *names], *front],
        "no corner": [names, *front],
        "columns": [names, *cells],
        "rows": front,
        "none": cells,
    }[sides]
    if sides == "no corner" and ids[0].isdecimal():
        sides, lines = "both", [[corner, *names], *front]
    if sides == "rows" and ids[0].isdecimal():
        sides, lines = "none", cells
    comment = rng.random() < 0.3
    save(rng, folder / "m.csv", [["# dissimilarity of points"]] * comment + lines, mark)
    stated = comment or (sides == "both" and corner in ("distance", "dissimilarity"))
    P = read_proximity(folder / "m.csv")
    if not np.allclose(P.values, D):
        return f"wrong values ({sides}, {half}, {mark!r})"
    if P.ids != (None if sides == "none" else tuple(ids)):
        return f"wrong ids {P.ids} ({sides}, {mark!r})"
    if P.kind != ("dissimilarity" if stated else None):
        return f"kind {P.kind} ({sides}, {corner!r})"
    return None if kind_evidence(P.values) == "dissimilarity" else "no evidence of the kind"


def try_frame(rng, folder):
    """A frame and labels, shuffled on some sides: accepted if all are in one order, else rejected."""
    n = rng.randint(3, 8)
    D = np.random.default_rng(rng.randrange(10**9)).random((n, n))
    ids = rng.choice([[f"o{i}" for i in range(n)], list(range(n)), [str(i) for i in range(n)]])
    frame = pd.DataFrame(D, index=ids, columns=ids)
    y = pd.Series([i % 2 for i in range(n)], index=ids)
    shuffled = [rng.random() < 0.4 for _ in range(3)]
    orders = [rng.sample(range(n), n) if shuffle else list(range(n)) for shuffle in shuffled]
    frame, y = frame.iloc[orders[0], orders[1]], y.iloc[orders[2]]
    consistent = orders[0] == orders[1]
    faults = []
    for name, call, right in (
        ("Proximity", lambda: Proximity(frame), consistent),
        ("write_proximity", lambda: write_proximity(folder / "f.npz", frame), consistent),
        ("fit", lambda: SimilarityKNN(n_neighbors=1).fit(frame, y), consistent and orders[0] == orders[2]),
    ):
        accepted = True
        try:
            call()
        except ValueError:
            accepted = False
        if accepted != right:
            faults.append(f"{name} {'accepted' if accepted else 'rejected'} {orders} of {ids}")
    return faults[0] if faults else None


PARTS = {"label files": try_labels, "dialects of matrices": try_dialect, "frames and series": try_frame}


def main():
    seconds, items, failures = (3.0 if quick() else SECONDS), [], []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, attempt in PARTS.items():
            end, seed, wrong = time.monotonic() + seconds / len(PARTS), 0, []
            while time.monotonic() < end:
                try:
                    fault = attempt(random.Random(seed), Path(folder))
                except Exception as error:
                    fault = f"{type(error).__name__}: {str(error)[:160]}".replace(folder, "")
                if fault is not None:
                    wrong.append(f"{name}: seed {seed}: {fault}".replace(folder, ""))
                seed += 1
            items.append({"what": name, "tried": seed, "wrong": len(wrong)})
            failures += wrong[:20]
    total = sum(item["tried"] for item in items)
    summary = f"{total:,} label files, matrices and frames were read correctly or rejected."
    record("fuzz_input", summary=summary, items=items, failures=failures)
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
