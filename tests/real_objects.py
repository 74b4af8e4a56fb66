"""Small objects of the kinds that are measured: strings, point sets, graphs, rows of categories."""

DNA = {a: {b: (5 if a == b else -4) for b in "acgt"} for a in "acgt"}
SKEWED = {a: {b: (4 if a == b else (-1 if a < b else -3)) for b in "acgt"} for a in "acgt"}


def strings(rng, n, letters="acgt", longest=9):
    return ["".join(rng.choice(list(letters), rng.integers(1, longest))) for _ in range(n)]


def point_sets(rng, n, d=2):
    sizes = rng.integers(1, 5, n)
    return [(rng.normal(size=(k, d)), rng.random(k) + 0.1) for k in sizes]


def graphs(rng, n):
    found = []
    for size in rng.integers(1, 7, n):
        labels = [str(c) for c in rng.choice(list("CNO"), size)]
        edges = [(a, b, int(rng.integers(2))) for a in range(size) for b in range(a) if rng.random() < 0.5]
        found.append((edges, labels))
    return found


def rows(rng, n):
    return [[str(v) for v in rng.choice(list("yn?"), 4)] for _ in range(n)]
