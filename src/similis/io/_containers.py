"""Files of other programs: MATLAB, HDF5, AnnData, R, Excel, Matrix Market, GraphML; nothing outside them is read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

import numpy as np
from scipy import sparse as sp

from similis._utils.arrays import Array, Floats
from similis._utils.environment import require_package
from similis._utils.files import parse_errors, short_path
from similis.base import Kind
from similis.exceptions import ProximityError
from similis.io._checks import ReadOptions, as_ids, kind_in_words, kind_of_array, quote_short
from similis.io._numpy import check_size, choose_array, named_array
from similis.io._pair_lines import are_pairs
from similis.io._pairs import pairs_of_rows, sparse_values
from similis.io._proximity import Proximity, proximity_in_file, square_of_condensed, with_labels
from similis.io._text import matrix_of_rows, open_unpacked, without_title

_IDS = ("ids", "id", "names", "name", "row_names", "obs_names", "samples", "sample_names", "sample_ids", "order")
_LABELS = ("labels", "label", "y", "classes", "class", "target")
_VECTORS = (*_IDS, *_LABELS)
_OBSP: dict[str, Kind] = {"distances": "dissimilarity", "connectivities": "similarity"}
_HDF5_SECONDS = 20.0  # for one step of reading, of at most a few megabytes
_NO_NUMBERS = ("cell", "char")  # classes of MATLAB
_MTX = r"%%matrixmarket matrix (array|coordinate) (real|double|(unsigned-)?integer|pattern) (general|(skew-)?symmetric)"


def _last(name: str) -> str:  # without the groups or structs that hold it
    return re.split(r"[/.]", name)[-1].lower()


def _make(where: str, name: str, values: Any, texts: dict[str, Any], square: bool) -> Proximity:
    """Matrix with the ids and labels among the vectors of a file; labels that are all different are ids."""
    values, kind, about = named_array(where, name, values, square)
    n = values.shape[0]
    found = {key.lower(): list(vector) for key, vector in texts.items() if len(vector) == n}
    ids, labels = (next((found[key] for key in keys if key in found), None) for keys in (_IDS, _LABELS))
    if ids is None and labels is not None and len(set(map(str, labels))) == n > 2:
        ids, labels = labels, None
    return proximity_in_file(where, values, ids, kind, labels, about=about)


def _possible_matrices(arrays: dict[str, Any]) -> dict[str, Any]:
    """Shape, order and type of the arrays that are neither single numbers nor vectors of ids or labels."""
    some = {name: array for name, array in arrays.items() if array.size > 1}
    is_wide = {name: len(array.shape) > 1 and 1 not in array.shape for name, array in some.items()}
    return {k: (a.shape, False, a.dtype) for k, a in some.items() if is_wide[k] or _last(k) not in _VECTORS}


def read_mat(path: Path, options: ReadOptions) -> Proximity:
    """Read a MATLAB file: version 4 or 5, or 7.3 by h5py; ids and labels from cell arrays or vectors of text."""
    where, max_bytes = short_path(path), options.max_bytes
    with open(path, "rb") as file:
        if file.read(128)[:10] == b"MATLAB 7.3":
            return read_hdf5(path, options)
    with parse_errors(where, "MATLAB file"):
        data = path.read_bytes()
        order = {b"IM": "<", b"MI": ">"}.get(data[126:128], "")
        arrays: dict[str, Any] = {} if order else dict(_mat4_matrices(data, where))
        for kind, content in _mat_elements(data[128:], order) if order else ():
            if kind == _COMPRESSED:
                unpacker = zlib.decompressobj()
                content = unpacker.decompress(content, max_bytes)
                check_size(f"{where}, a compressed array,", len(content) + len(unpacker.unconsumed_tail), max_bytes)
                (kind, content), *_ = _mat_elements(content, order)
            if kind == _MATRIX:
                arrays |= dict(_mat_arrays(content, order))
        numeric = _possible_matrices({name: a for name, a in arrays.items() if isinstance(a, np.ndarray)})
        is_complex = {name: dtype.kind == "c" for name, (_, _, dtype) in numeric.items()}
        if is_complex.get(options.key or "") or (numeric and all(is_complex.values())):
            raise ProximityError(f"{where} holds complex numbers in {', '.join(numeric)[:80]}; values must be real.")
        chosen = choose_array(numeric, options.key, where, options.square)
        check_size(f"{where}, array {quote_short(chosen)},", arrays[chosen].nbytes, max_bytes)
        texts = {_last(name): value for name, value in arrays.items() if name != chosen and value is not None}
        texts = {name: value if isinstance(value, list) else value.ravel().tolist() for name, value in texts.items()}
        return _make(where, chosen, arrays[chosen], texts, options.square)


# [MATLAB MAT-file format, level 5]: types of elements, and classes of matrices.
_MATRIX, _COMPRESSED = 14, 15
_TYPES = dict(zip((*range(1, 8), 9, 12, 13, 16, 17), "i1 u1 i2 u2 i4 u4 f4 f8 i8 u8 u1 u2".split()))
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _NUMBERS = 1, 2, 3, 4, 5, range(6, 16)


def _mat4_matrices(data: bytes, where: str) -> Iterator[tuple[str, Any]]:
    """Name and value of every matrix of a file of version 4, which starts with a matrix rather than a header."""
    at = 0
    while at < len(data):
        order = "<" if int.from_bytes(data[at : at + 4], "little") < 5000 else ">"  # the type is MOPT, four digits
        kind, rows, columns, is_complex, length = np.frombuffer(data, f"{order}u4", 5, at).tolist()
        digits = divmod(kind % 100, 10)  # type of the numbers; 0 a matrix, 1 text, 2 sparse
        if kind % 1000 // 100 or digits[0] > 5 or digits[1] > 2 or is_complex > 1 or kind // 1000 != (order == ">"):
            raise ProximityError(f"{where} is not a MATLAB file of version 4, 5 or 7.3.")
        name = data[at + 20 : at + 20 + length].rstrip(b"\0").decode("latin-1")
        number = np.dtype(order + ("f8", "f4", "i4", "i2", "u2", "u1")[digits[0]])
        if 0 in (rows, columns):  # holds nothing, however long
            rows = columns = 0
        n_numbers = rows * columns * (1 + is_complex)
        values = np.frombuffer(data, number, n_numbers, at + 20 + length).astype(np.float64)
        values = values[: rows * columns] + 1j * values[rows * columns :] if is_complex else values
        values = values.reshape((rows, columns), order="F")
        if digits[1] == 1:
            yield name, ["".join(map(chr, row.astype(int).tolist())).strip() for row in values]
        elif digits[1] == 2:  # lines (row, column, value), the last one with the shape
            i, j = values[:, 0].astype(np.int64), values[:, 1].astype(np.int64)
            check_size(f"{where}, array {quote_short(name)},", 8 * int(i[-1]) * int(j[-1]), 2**31)
            yield name, sp.coo_array((values[:-1, 2], (i[:-1] - 1, j[:-1] - 1)), shape=(i[-1], j[-1])).toarray()
        else:
            yield name, values
        at += 20 + length + n_numbers * number.itemsize


def _mat_elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and content of every data element; SciPy's reader is not used, since damaged files crash it."""
    at = 0
    while at + 8 <= len(data):
        kind, size = np.frombuffer(data, f"{order}u4", 2, at).tolist()
        if kind >> 16:  # a small element: size, type and up to four bytes
            yield kind & 0xFFFF, data[at + 4 : at + 4 + min(kind >> 16, 4)]
            at += 8
            continue
        content = data[at + 8 : at + 8 + size]
        if len(content) < size:
            raise EOFError("the data end early")
        yield kind, content
        at += 8 + size + (0 if kind == _COMPRESSED else -size % 8)


def _mat_numbers(element: tuple[int, bytes], order: str) -> Array:
    return np.frombuffer(element[1], order + _TYPES[element[0]])


def _mat_arrays(data: bytes, order: str, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Name and value of a matrix or of each field of a struct: array, list of texts, None for others."""
    flags, dims, name, *parts = _mat_elements(data, order)
    form = int(_mat_numbers(flags, order)[0]) & 0xFF
    shape = tuple(_mat_numbers(dims, order).tolist())
    text = prefix or name[1].decode("utf-8", "replace")
    value: Any = None
    if form in (_STRUCT, _OBJECT) and depth < 2 and shape == (1, 1):
        length, names, *held = parts[form - _STRUCT :]  # an object has the name of its class in front
        width = int(_mat_numbers(length, order)[0])
        fields = [names[1][k : k + width].rstrip(b"\0").decode() for k in range(0, len(names[1]), width)]
        for field, (_, content) in zip(fields, held):
            yield from _mat_arrays(content, order, f"{text}.{field}", depth + 1)
        return
    if form == _CELL and depth < 2:
        cells = [dict(_mat_arrays(content, order, "", depth + 1)).get("") for kind, content in parts if kind == _MATRIX]
        cells = ["".join(map(str, x)) if isinstance(x, list) else x for x in cells]
        value = [x.ravel()[0].item() if isinstance(x, np.ndarray) else x or "" for x in cells]
    elif form == _CHAR and parts:
        kind, content = parts[0]
        is_utf8 = kind in (1, 16)
        letters = content.decode("utf-8", "replace") if is_utf8 else "".join(map(chr, _mat_numbers(parts[0], order)))
        value = [letters]
        if len(shape) == 2 and shape[0] > 1:  # one text per row, stored by columns
            value = [letters[i :: shape[0]].strip() for i in range(min(shape[0], len(letters)))]
    elif form == _SPARSE and len(parts) >= 3:
        rows, starts, values = (_mat_numbers(part, order) for part in parts[:3])
        matrix = sp.csc_array((values.astype(np.float64), rows[: len(values)], starts), shape=shape)
        matrix.check_format(full_check=True)
        check_size(f"the array {quote_short(text)}", 8 * int(np.prod(shape, dtype=object)), 2**31)
        value = matrix.toarray()
    elif form in _NUMBERS and parts:
        values, *imaginary = (_mat_numbers(part, order).astype(np.float64) for part in parts[:2])
        value = (values + 1j * imaginary[0] if imaginary else values).reshape(shape, order="F")
    yield text, value


def read_hdf5(path: Path, options: ReadOptions) -> Proximity:
    """Read an AnnData file (a matrix of ``obsp``), a MATLAB file of version 7.3, or the matrix of any HDF5 file."""
    h5py = require_package("h5py", extra="hdf5", who="An HDF5 file")
    where, max_bytes = short_path(path), options.max_bytes
    _check_hdf5(path, where, max_bytes)
    with parse_errors(where, "HDF5 file"), h5py.File(path, "r") as file:
        source = _Hdf5(file, where, max_bytes)
        if "obsp" in file and "obs" in file:
            return _read_anndata(source, options)
        arrays: dict[str, Any] = {}

        def collect(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and not name.startswith("#refs#"):
                arrays[name] = item

        file.visititems(collect)
        forms = {name: _text(item.attrs.get("MATLAB_class", "")) for name, item in arrays.items()}
        is_matlab = any(forms.values())
        numeric = {k: a for k, a in arrays.items() if a.dtype.kind in "fiub" and forms[k] not in _NO_NUMBERS}
        chosen = choose_array(_possible_matrices(numeric), options.key, where, options.square)
        values = source.array(arrays[chosen])
        texts = {}
        for name, item in arrays.items():
            if _last(name) in _VECTORS and name != chosen:
                check_size(f"{where}, array {quote_short(name)},", item.size * 64, max_bytes)
                texts[_last(name)] = source.vector(item)
        values = values.T if is_matlab else values  # MATLAB stores columns first
        near = [scale.name for scale in arrays[chosen].dims[0].values()]  # of netCDF
        for name in (*near, f"{chosen.rpartition('/')[0]}/axis1"):  # the index of a frame of pandas
            item = arrays.get(name.strip("/"))
            if item is not None and item.dtype.kind in "SO" and "ids" not in texts:
                texts["ids"] = source.vector(item)
        return _make(where, chosen, values, texts, options.square)


def _check_hdf5(path: Path, where: str, max_bytes: int) -> None:
    """Let another process read the file first: the HDF5 library crashes or never returns on some damaged files."""
    if getattr(sys, "frozen", False) or "python" not in Path(sys.executable or "").name.lower():
        return  # the program does not run scripts
    script, nowhere = str(Path(__file__).with_name("_hdf5_check.py")), subprocess.DEVNULL
    command = [sys.executable, "-I", script, os.path.abspath(path), str(_HDF5_SECONDS), str(max_bytes)]
    command += filter(os.path.isabs, sys.path)
    try:
        done = subprocess.run(command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere)
    except OSError:
        return
    if done.returncode and done.stdout:
        raise ProximityError(f"{where} is damaged: reading it with HDF5 crashes, does not end or fills the memory.")


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


class _Hdf5:
    """Objects of an open HDF5 file that lie in the file itself: a link or a path could lead to another one."""

    def __init__(self, file: Any, where: str, max_bytes: int) -> None:
        self.h5py = require_package("h5py", extra="hdf5", who="An HDF5 file")
        self.file, self.where, self.max_bytes = file, where, max_bytes

    def array(self, item: Any) -> Array:
        if not isinstance(item, self.h5py.Dataset):
            raise ProximityError(f"{self.where}: {quote_short(item.name)} must be an array. Got a group.")
        if item.is_virtual or item.external:
            raise ProximityError(f"{self.where}: the array {quote_short(item.name)} is stored in another file.")
        size = item.size * max(item.dtype.itemsize, 8)
        if size > self.max_bytes:  # the name of a cell of MATLAB is known only after a search of the whole file
            check_size(f"{self.where}, array {quote_short(item.name)},", size, self.max_bytes)
        return np.asarray(item[()])

    def member(self, group: Any, name: str) -> Any:
        link = None if "/" in name else group.get(name, getlink=True, default=None)
        if link is None and "/" not in name:
            raise ProximityError(f"{self.where}: {quote_short(group.name)} has no {quote_short(name)}.")
        if not isinstance(link, self.h5py.HardLink):
            raise ProximityError(f"{self.where}: {quote_short(name)} is a link to another file or place.")
        return group[name]

    def vector(self, item: Any) -> list[Any]:
        """Text or numbers of a data set; a cell array of MATLAB holds references to arrays of character codes."""
        data = self.array(item).ravel()
        if self.h5py.check_ref_dtype(item.dtype) is not None:
            return ["".join(map(chr, self.array(self.file[ref]).ravel().tolist())) for ref in data]
        return list(map(_text, data.tolist()))

    def column(self, obs: Any, name: str) -> list[Any]:
        """Values of a column of AnnData; None where a categorical or nullable one has no value."""
        item = self.member(obs, name)
        if isinstance(item, self.h5py.Dataset):
            return self.vector(item)
        if _text(item.attrs.get("encoding-type", "")).startswith("nullable"):
            values, masks = (self.array(self.member(item, part)).tolist() for part in ("values", "mask"))
            return [None if masked else value for value, masked in zip(values, masks)]
        words, codes = (self.vector(self.member(item, part)) for part in ("categories", "codes"))
        return [words[code] if code >= 0 else None for code in codes]


def _read_anndata(source: _Hdf5, options: ReadOptions) -> Proximity:
    """Read a matrix of ``obsp`` with ids and labels from ``obs``; stored zeros and absent entries are kept apart."""
    where, (obsp, obs) = source.where, (source.member(source.file, name) for name in ("obsp", "obs"))
    names = sorted(obsp)
    if not names:
        raise ProximityError(f"{where} has no matrix in obsp; scanpy.pp.neighbors, for example, writes one.")
    key = names[0] if len(names) == 1 else "distances"
    key = key if options.key is None else options.key.removeprefix("obsp/")
    if key not in names:
        found = ", ".join(names)[:120]
        raise ProximityError(f"{where} must hold one matrix in obsp. Got {found}; say which with key=...")
    stated, item = _OBSP.get(key) or kind_of_array(key), source.member(obsp, key)
    ids = source.column(obs, _text(obs.attrs.get("_index", "_index")))
    about: dict[str, Any] = {"format": f"AnnData, obsp/{key}"}
    about |= {"reason": "by the name of the array"} if stated else {}
    if isinstance(item, source.h5py.Dataset):
        values: Any = source.array(item)
    else:
        form = _text(item.attrs.get("encoding-type", ""))
        if form not in ("csr_matrix", "csc_matrix"):
            raise ProximityError(f"{where}: obsp/{key} must be a matrix. Got {quote_short(form)}.")
        shape = tuple(int(x) for x in item.attrs["shape"])
        if shape != (len(ids), len(ids)):
            raise ProximityError(f"{where}: obsp/{key} has shape {shape}, while obs has {len(ids)} rows.")
        parts = tuple(source.array(source.member(item, part)) for part in ("data", "indices", "indptr"))
        matrix = (sp.csr_array if form == "csr_matrix" else sp.csc_array)(parts, shape=shape)
        matrix.check_format(full_check=True)
        values, counts = sparse_values(matrix, options.kind or stated, options.pairs.absent, where, options.max_bytes)
        about |= counts
    column = options.label_column
    if column is None:  # the only categorical one
        inside = [name for name in obs if isinstance(obs.get(name, getlink=True), source.h5py.HardLink)]
        fitting = [name for name in inside if _text(obs[name].attrs.get("encoding-type", "")) == "categorical"]
        column = fitting[0] if len(fitting) == 1 else None
    elif column not in obs:
        raise ProximityError(f"{where}: obs has no column {quote_short(column)}. It has {', '.join(obs)[:120]}.")
    labels = [] if column is None else source.column(obs, column)
    about |= {} if column is None else {"labels": f"obs/{column}"}
    P = proximity_in_file(where, values, ids, stated or options.kind, None, None, about)
    return P if None in labels and options.label_column is None else with_labels(P, labels, where)


def write_h5ad(file: IO[bytes], P: Proximity) -> None:
    """Write an AnnData file without features: the matrix in ``obsp``, ids and labels in ``obs``."""
    h5py = require_package("h5py", extra="hdf5", who="An h5ad file")
    if not P.square or len(P.shape) != 2:
        raise ProximityError(f"An AnnData file holds one square matrix. Got shape {P.shape}.")
    text = h5py.string_dtype()
    with h5py.File(file, "w") as out:

        def group(name: str, form: str, version: str = "0.1.0", **attributes: Any) -> None:
            out.require_group(name).attrs.update({"encoding-type": form, "encoding-version": version, **attributes})

        def array(name: str, data: Any, form: str = "array", **options: Any) -> None:
            made = out.create_dataset(name, data=data, **options)
            made.attrs.update({"encoding-type": form, "encoding-version": "0.2.0"})

        group("/", "anndata")
        names = ["label"] if P.labels is not None else []
        group("obs", "dataframe", "0.2.0", **{"_index": "_index", "column-order": np.array(names, dtype=text)})
        array("obs/_index", list(P.ids or map(str, range(P.n))), "string-array", dtype=text)
        if P.labels is not None:
            classes, codes = np.unique(P.labels, return_inverse=True)
            group("obs/label", "categorical", "0.2.0", ordered=False)
            words = {"dtype": text} if classes.dtype.kind == "U" else {}
            array("obs/label/categories", classes.tolist(), "string-array" if words else "array", **words)
            array("obs/label/codes", codes.astype(np.int32))
        group("var", "dataframe", "0.2.0", **{"_index": "_index", "column-order": np.array([], dtype=text)})
        array("var/_index", np.array([], dtype=object), "string-array", dtype=text)
        array("X", np.zeros((P.n, 0), dtype=np.float32))
        for name in ("layers", "obsm", "obsp", "uns", "varm", "varp"):
            group(name, "dict")
        key = next((name for name, kind in _OBSP.items() if kind == P.kind), "proximities")
        if sp.issparse(P.values):
            group(f"obsp/{key}", "csr_matrix", shape=np.array(P.shape))
            for part in ("data", "indices", "indptr"):
                out.create_dataset(f"obsp/{key}/{part}", data=getattr(P.values, part))
        else:
            array(f"obsp/{key}", P.values)


def read_rds(path: Path, options: ReadOptions) -> Proximity:
    """Read a ``dist`` object or a matrix that R saved with ``saveRDS`` or ``save``."""
    where, key = short_path(path), options.key
    rdata = require_package("rdata", extra="r", who="A file of R")
    with parse_errors(where, "file of R"):
        with open_unpacked(path, options.max_bytes) as file:
            data = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the type of the file
            found = rdata.parser.parse_data(data).object
        attributes = _r_attributes(found)
        is_list = found.info.type.name == "VEC" and "row.names" not in attributes
        if data[:3] in (b"RDX", b"RDA") or is_list:  # a workspace, or a list: named objects
            is_named = is_list and "names" in attributes
            objects = dict(zip(_strings(attributes["names"]) or (), found.value) if is_named else _pairlist(found))
            usable = [name for name, value in objects.items() if _r_shape(value) is not None]
            key = usable[0] if key is None and len(usable) == 1 else key
            if key not in usable:
                got = f"Got {', '.join(objects)[:120] or 'none'}; say which with key=..."
                raise ProximityError(f"{where} must hold one matrix or dist object. {got}")
            found = objects[key]
            attributes = _r_attributes(found)
        if _r_shape(found) is None:
            raise ProximityError(f"{where} must hold a matrix of numbers or a dist object; in R, use as.matrix().")
        if found.info.type.name == "VEC":
            return _read_r_frame(found, attributes, where, options)
        values = _r_numbers(found)
        if "dim" in attributes:
            values = values.reshape([int(x) for x in attributes["dim"].value], order="F")
            names = map(_strings, attributes["dimnames"].value) if "dimnames" in attributes else (None, None)
            rows, columns = names
            rows = columns if options.square and rows is None else rows
            return proximity_in_file(where, values, rows, None, None, columns if columns != rows else None)
        ids = _strings(attributes["Labels"]) if "Labels" in attributes else None
        # R stores the columns of the lower triangle, which are the rows of the upper one: SciPy's condensed order.
        matrix = square_of_condensed(values, where, stated=True)
        # The package proxy has a class for similarities.
        is_similarity = "class" in attributes and "simil" in (_strings(attributes["class"]) or ())
        if is_similarity:
            np.fill_diagonal(matrix, np.nanmax(values, initial=1.0))
        kind = "similarity" if is_similarity else "dissimilarity"
        return proximity_in_file(where, matrix, ids, kind, about={"reason": "by its class"})


def _r_shape(value: Any) -> int | None:
    """Number of dimensions of a matrix or data frame (2) or a dist object (1) of R; None for anything else."""
    attributes, kind = _r_attributes(value), value.info.type.name
    if kind not in ("REAL", "INT", "LGL"):
        return 2 if kind == "VEC" and "row.names" in attributes else None
    if "dim" in attributes and len(attributes["dim"].value) == 2:
        return 2
    return 1 if "Size" in attributes else None


def _r_attributes(node: Any) -> dict[str, Any]:
    return dict(_pairlist(node.attributes))


def _pairlist(node: Any) -> Iterator[tuple[str, Any]]:
    while node is not None and node.info.type.name == "LIST":
        tag = node.tag and (node.tag.referenced_object or node.tag)
        yield ("" if tag is None else tag.value.value.decode("utf-8", "replace")), node.value[0]
        node = node.value[1]


def _r_numbers(node: Any) -> Floats:
    """Numbers of a vector; NA becomes the plain NaN of NumPy."""
    values = np.ma.filled(np.ma.asarray(node.value).astype(np.float64), np.nan)
    missing = np.isnan(values)
    if node.info.type.name in ("INT", "LGL"):
        missing |= values == -(2.0**31)  # NA of integers
    values[missing] = np.nan
    return values


def _read_r_frame(frame: Any, attributes: dict[str, Any], where: str, options: ReadOptions) -> Proximity:
    """Read a data frame as the table of text that ``write.csv`` would write."""
    header, columns = _strings(attributes["names"]) or [], []
    for column in frame.value:
        levels = _r_attributes(column).get("levels")
        if levels is not None:
            words = _strings(levels) or []
            columns.append([words[int(code) - 1] if code == code and code > 0 else "" for code in _r_numbers(column)])
        elif column.info.type.name == "STR":
            columns.append(_strings(column) or [])
        else:
            columns.append([repr(x) for x in _r_numbers(column).tolist()])
    rows = [header, *map(list, zip(*columns))]
    if options.square and are_pairs(rows[:60], square=True):
        return pairs_of_rows(where, rows, "data frame of pairs", options)
    names = _strings(attributes["row.names"])
    if names is not None and len(names) == len(rows) - 1:
        rows = [["", *header], *([name, *row] for name, row in zip(names, rows[1:]))]
    return matrix_of_rows(where, enumerate(rows, 1), options, [])


def _strings(node: Any) -> list[str] | None:
    if node.info.type.name in ("INT", "REAL"):
        return [f"{x:.15g}" for x in _r_numbers(node)]
    if node.info.type.name != "STR":
        return None
    return ["NA" if x.value is None else x.value.decode("utf-8", "replace") for x in node.value]


def read_excel(path: Path, options: ReadOptions) -> Proximity:
    """Read the first sheet of a workbook, or the one called `key`, as a table of text would be read."""
    where, comments = short_path(path), list[str]()
    rows, names = excel_rows(path, options.key, options.max_bytes)
    rows = list(without_title(iter(rows), comments))
    if options.square and rows and (options.pairs.any or are_pairs([cells for _, cells in rows[:60]], square=True)):
        lines, cells = zip(*rows)
        return pairs_of_rows(where, list(cells), "Excel list of pairs", options, lines=list(lines))
    try:
        return matrix_of_rows(where, iter(rows), options, comments)
    except ProximityError as error:
        if options.key is not None or len(names) == 1:
            raise
        sheets = ", ".join(names)[:120]
        raise ProximityError(f"{error} This is the first of the sheets {sheets}; say which with key=...") from None


def excel_rows(path: Path, key: str | None, max_bytes: int) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """Lines of the first sheet, or the one called `key`, that are not empty, with their numbers; names of sheets."""
    openpyxl = require_package("openpyxl", extra="excel", who="An Excel file")
    where = short_path(path)
    with parse_errors(where, "Excel file"):
        with zipfile.ZipFile(path) as archive:
            check_size(where, sum(info.file_size for info in archive.infolist()), max_bytes)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            names = list(book.sheetnames)
            if key is not None and key not in names:
                raise ProximityError(f"{where} has no sheet {quote_short(key)}. It has {', '.join(names)[:120]}.")
            sheet = book[key] if key is not None else book.worksheets[0]
            sheet.reset_dimensions()  # of a sheet that declares too many
            given = list(sheet.iter_rows(values_only=True))
        finally:
            book.close()
    lines = enumerate((["" if cell is None else str(cell) for cell in cells] for cells in given), 1)
    rows = [(line, cells) for line, cells in lines if any(map(str.strip, cells))]
    filled = [[j for j, cell in enumerate(cells) if cell.strip()] for _, cells in rows]
    start, end = min((f[0] for f in filled), default=0), max((f[-1] + 1 for f in filled), default=0)
    return [(line, (cells + [""] * end)[start:end]) for line, cells in rows], names


def read_mtx(path: Path, options: ReadOptions) -> Proximity:
    """Read a Matrix Market file; an entry that is not listed is absent."""
    where = short_path(path)
    with open_unpacked(path, options.max_bytes) as file:
        data = file.read()
    with parse_errors(where, "Matrix Market file"):
        lines = iter(data.decode("ascii").splitlines())
        words = next(lines, "").lower().split()
        if not re.fullmatch(_MTX, " ".join(words)):
            raise ProximityError(
                f"{where}, line 1: a Matrix Market file of real numbers begins with '%%MatrixMarket matrix', 'array' "
                "or 'coordinate', 'real', 'integer' or 'pattern', and 'general' or 'symmetric'."
            )
        form, _, symmetry = words[2:]
        rest = [line for line in lines if line.strip() and not line.startswith("%")]
        rows, columns, *listed = map(int, rest[0].split()) if rest else (0, 0)
        entries = np.loadtxt(rest[1:], ndmin=2) if rest[1:] else np.empty((0, 3))
        triangle = {"symmetric": rows * (rows + 1) // 2, "skew-symmetric": rows * (rows - 1) // 2}
        declared = listed or [triangle.get(symmetry, rows * columns)]
        if min(rows, columns) < 1 or declared != [len(entries)] or (symmetry in triangle and rows != columns):
            raise ProximityError(f"{where} must hold as many numbers as its header declares. Got {len(entries)} lines.")
        matrix = _market_matrix(entries, (rows, columns), form, symmetry)
    if form == "array":
        return proximity_in_file(where, matrix)
    if options.square and rows != columns:
        raise ProximityError(f"{where} must hold a square matrix. Got {rows} rows and {columns} columns.")
    kind = options.kind or kind_in_words(path.stem.replace("_", " "))
    values, about = sparse_values(matrix, kind, options.pairs.absent, where, options.max_bytes)
    return proximity_in_file(where, values, kind=kind, about=about)


def _market_matrix(entries: Floats, shape: tuple[int, int], form: str, symmetry: str) -> Any:
    """Matrix of a list of its columns, or of lines with row, column and value, counted from 1; a pattern has ones."""
    if form == "array" and symmetry == "general":
        return np.reshape(entries, shape, order="F")
    sign = -1.0 if symmetry == "skew-symmetric" else 1.0
    if form == "array":
        j, i = np.triu_indices(shape[0], int(sign < 0))  # by rows: the lower triangle by columns
        values = entries.ravel()
    else:
        i, j = (entries[:, k].astype(np.int64) - 1 for k in (0, 1))
        if (entries[:, :2] != np.stack([i + 1, j + 1], axis=1)).any() or max(shape) > 10**7:
            raise ValueError("positions must be whole numbers up to ten million")
        values = entries[:, 2] if entries.shape[1] == 3 else np.ones(len(entries))
    if symmetry != "general":
        other = i != j
        values = np.concatenate([values, sign * values[other]])
        i, j = np.concatenate([i, j[other]]), np.concatenate([j, i[other]])
    matrix = sp.coo_array((values, (i, j)), shape=shape)
    return matrix.toarray() if form == "array" else matrix.tocsr()


def read_graphml(path: Path, options: ReadOptions) -> Proximity:
    """Read the weighted edges of a GraphML file; the nodes are the objects, a node attribute may be the label."""
    where = short_path(path)
    names: dict[tuple[str, str], str] = {}  # attribute by the kind of its owner and its id
    nodes: dict[str, dict[str, str]] = {}
    edges: list[tuple[str, str, dict[str, str]]] = []
    is_directed, owner, data, key, text = False, "", dict[str, str](), "", list[str]()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal is_directed, owner, data, key
        tag = tag.rpartition(":")[2]
        if tag == "key":
            names[attributes.get("for", "all"), attributes["id"]] = attributes.get("attr.name", attributes["id"])
        elif tag == "graph":
            is_directed = attributes.get("edgedefault") == "directed"
        elif tag == "node":
            owner, data = tag, nodes.setdefault(attributes["id"], {})
        elif tag == "edge":
            owner, data = tag, {}
            edges.append((attributes["source"], attributes["target"], data))
        elif tag == "data":
            key = attributes["key"]
            text.clear()

    def end(tag: str) -> None:
        nonlocal owner
        tag = tag.rpartition(":")[2]
        if tag == "data" and owner:
            data[names.get((owner, key), names.get(("all", key), key))] = "".join(text).strip()
        owner = "" if tag in ("node", "edge") else owner

    def reject(*_: Any) -> None:
        raise ProximityError(f"{where} has a document type declaration, which is not read; remove it.")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text.append
    parser.StartDoctypeDeclHandler = reject
    with parse_errors(where, "GraphML file"), open_unpacked(path, options.max_bytes) as file:
        try:
            parser.ParseFile(file)
        except expat.ExpatError as error:
            raise ProximityError(f"{where}, line {error.lineno}: {expat.ErrorString(error.code)}.") from None
        except KeyError as error:
            raise ProximityError(f"{where}, line {parser.CurrentLineNumber}: {error} is missing.") from None
    attributes = list(dict.fromkeys(name for _, _, data in edges for name in data))
    if not attributes:
        raise ProximityError(f"{where} has no edges with a value.")
    rows = [["source", "target", *attributes]]
    rows += [[a, b, *(data.get(name, "") for name in attributes)] for a, b, data in edges]
    options = replace(options, directed=options.directed or is_directed)
    P = pairs_of_rows(where, rows, "GraphML edges", options, objects=nodes)
    for name in _LABELS:
        labels = [nodes.get(i, {}).get(name) for i in as_ids(P.ids or (), P.n, "row")]
        if None not in labels and len(set(labels)) < P.n:
            return proximity_in_file(where, P.values, P.ids, P.kind, labels, None, P.about)
    return P
