"""Lists of pairs: parse whole lines of text, number the ids without a Python object per line, and sort the pairs.

The index of ids is a hash table with open addressing: `table` holds the number of an id or -1, `arena` the bytes of all
ids, `ends` their ends in the arena, `hashes` their hashes, and `sizes` the number of ids and of bytes.
"""

import numpy as np

from similis._kernels._jit import kernel

_TAB, _NEWLINE, _RETURN, _BLANK, _QUOTE, _COMMENT = 9, 10, 13, 32, 34, 35
_PLUS, _MINUS, _POINT, _ZERO, _NINE, _SMALL_E, _LARGE_E = 43, 45, 46, 48, 57, 101, 69
_EXACT = 2**53  # whole numbers below have an exact double
_LARGEST_POWER = 22  # of ten with an exact double


@kernel
def insert_hashes(hashes, n: int, table) -> None:
    """Enter the first `n` ids, all different, into an empty table of 2^k slots."""
    mask = len(table) - 1
    for code in range(n):
        slot = np.int64(hashes[code] & np.uint64(mask))
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = code


@kernel
def number_ids(text, lows, highs, table, arena, ends, hashes, sizes, codes) -> None:
    """Write the number of every id ``text[low:high]`` to `codes`; a new id gets the next one."""
    mask = len(table) - 1
    for k in range(len(codes)):
        low, high = lows[k], highs[k]
        h = np.uint64(14695981039346656037)  # FNV-1a
        for i in range(low, high):
            h = (h ^ np.uint64(text[i])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
        slot = np.int64(h & np.uint64(mask))
        while True:
            code = table[slot]
            if code < 0:
                code, start = sizes[0], sizes[1]
                for i in range(high - low):
                    arena[start + i] = text[low + i]
                table[slot], hashes[code], ends[code] = code, h, start + high - low
                sizes[0], sizes[1] = code + 1, start + high - low
                break
            start = ends[code - 1] if code > 0 else 0
            if hashes[code] == h and ends[code] - start == high - low:
                same = True
                for i in range(high - low):
                    if arena[start + i] != text[low + i]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + 1) & mask
        codes[k] = code


@kernel
def _parse_decimal(text, low: int, high: int) -> tuple[int, int, int]:
    """Return digits m and power p of the number m * 10^p, and 1 if both have exact doubles, 0 if not, -1 if none."""
    m, p, n_digits, i, fits, after_point = 0, 0, 0, low, True, False
    negative = i < high and text[i] == _MINUS
    if i < high and (text[i] == _MINUS or text[i] == _PLUS):
        i += 1
    while i < high:
        c = text[i]
        if _ZERO <= c <= _NINE:
            n_digits += 1
            if m < _EXACT // 10:
                m = 10 * m + (c - _ZERO)
                p -= after_point
            else:
                fits = False
        elif c == _POINT and not after_point:
            after_point = True
        else:
            break
        i += 1
    if n_digits == 0 or (i < high and text[i] != _SMALL_E and text[i] != _LARGE_E):
        return 0, 0, -1
    if i < high:
        i += 1
        below = i < high and text[i] == _MINUS
        if i < high and (text[i] == _MINUS or text[i] == _PLUS):
            i += 1
        if i == high:
            return 0, 0, -1
        power = 0
        while i < high:
            if not _ZERO <= text[i] <= _NINE:
                return 0, 0, -1
            power = min(10 * power + (text[i] - _ZERO), 100_000)
            i += 1
        p += -power if below else power
    if not fits or (m != 0 and abs(p) > _LARGEST_POWER):
        return 0, 0, 0
    return (-m if negative else m), (p if m != 0 else 0), 1


@kernel
def parse_pairs(text, mark: int, places, spans, digits, powers, inexact, counts) -> bool:
    """Parse lines with ids and score in the columns `places`; return False at one that needs the careful parser."""
    # Writes the `spans` of both ids and the `digits` and `powers` of the score. `counts` receives the numbers of pairs,
    # of lines, and of rows of `inexact`, the scores that are not exact as doubles.
    n, n_pairs, n_lines, n_inexact, at = len(text), 0, 0, 0, 0
    a, b, s = places[0], places[1], places[2]
    last = max(a, b, s)
    # Bytes that do not simply go on inside a cell: ends, quotation marks and control characters.
    special = np.zeros(256, np.uint8)
    special[:_BLANK] = 1
    if mark != _TAB:
        special[_QUOTE] = 1
        special[_TAB] = mark == _BLANK
    special[mark] = 1
    while at < n:
        n_lines += 1
        if text[at] == _COMMENT:
            while text[at] != _NEWLINE:
                if text[at] == _RETURN and text[at + 1] != _NEWLINE:
                    return False
                at += 1
            at += 1
            continue
        cell, empty, c = 0, True, mark
        while c != _NEWLINE:
            while text[at] == _BLANK or (text[at] == _TAB and mark != _TAB):
                at += 1
            if text[at] == _QUOTE and mark != _TAB:
                at += 1
                low = at
                while text[at] != _QUOTE:
                    if text[at] < _BLANK:
                        return False
                    at += 1
                high = at
                at += 1
            else:
                low = at
                while special[text[at]] == 0:
                    at += 1
                high = at
            c = text[at]
            if c == _RETURN:
                at += 1
                c = text[at]
                if c != _NEWLINE:
                    return False
            if c != _NEWLINE and c != mark and not (c == _TAB and mark == _BLANK):
                return False
            at += 1
            while high > low and (text[high - 1] == _BLANK or text[high - 1] == _TAB):
                high -= 1
            while low < high and (text[low] == _BLANK or text[low] == _TAB):
                low += 1
            empty &= low == high
            if cell == a:
                spans[0, n_pairs], spans[1, n_pairs] = low, high
            elif cell == b:
                spans[2, n_pairs], spans[3, n_pairs] = low, high
            elif cell == s:
                s_low, s_high = low, high
            cell += 1
        if empty and (cell == 1 or mark == _TAB or mark == _BLANK):
            continue
        if cell <= last or spans[0, n_pairs] == spans[1, n_pairs] or spans[2, n_pairs] == spans[3, n_pairs]:
            return False
        m, p, exact = _parse_decimal(text, s_low, s_high)
        if exact < 0:
            return False
        if exact == 0:
            inexact[n_inexact, 0], inexact[n_inexact, 1], inexact[n_inexact, 2] = n_pairs, s_low, s_high
            n_inexact += 1
        digits[n_pairs], powers[n_pairs] = m, p
        n_pairs += 1
    counts[0], counts[1], counts[2] = n_pairs, n_lines, n_inexact
    return True


@kernel
def _first_places(keys, n_keys: int):
    """Return the position of the first of each key in a sorted list."""
    place = np.zeros(n_keys + 1, np.int64)
    for key in keys:
        place[key + 1] += 1
    for j in range(n_keys):
        place[j + 1] += place[j]
    return place


@kernel
def order_pairs(rows, columns, n_rows: int, n_columns: int):
    """Return the stable order of pairs by row, then by column: counting sorts by column and by row."""
    n = len(rows)
    by_column, order = np.empty(n, np.int32), np.empty(n, np.int32)
    place = _first_places(columns, n_columns)
    for k in range(n):
        by_column[place[columns[k]]] = k
        place[columns[k]] += 1
    place = _first_places(rows, n_rows)
    for pair in by_column:
        order[place[rows[pair]]] = pair
        place[rows[pair]] += 1
    return order


@kernel
def reverse_places(rows, columns, n: int):
    """Return the position of (j, i) for every pair (i, j) of a sorted list without duplicates, -1 if it has none."""
    m = len(rows)
    place, found = _first_places(rows, n), np.full(m, -1, np.int64)
    for k in range(m):  # i increases, so that each row j is walked once
        i, j = rows[k], columns[k]
        while place[j] < m and rows[place[j]] == j and columns[place[j]] < i:
            place[j] += 1
        if place[j] < m and rows[place[j]] == j and columns[place[j]] == i:
            found[k] = place[j]
    return found
