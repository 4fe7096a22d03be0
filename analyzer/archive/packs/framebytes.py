"""Frames of samples: columns that SQL returns unchanged are stored as such, the others byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analyzer.archive.packs.lossless import plain_text, tag_cell, untag_cell
from analyzer.artefacts.samples import SampleColumns, SampleLines, pack_numbers
from analyzer.artefacts.tables import Block, Frame, Kind, Table
from analyzer.facts import database


def describe_frame(frame: Frame) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a frame is besides its cells, and the columns that SQL does not hold exactly."""

    kinds = dict(database.own_columns(frame.table))
    line = np.asarray(frame.line)
    cells = _frame_cells(frame)
    odd = [name for name, values in cells.items() if not _is_held(values, kinds.get(name))]
    raw: dict[str, Any] = {}
    for name in odd:
        values = np.asarray(frame.columns[name])
        if values.dtype.kind == "O":
            plain = [
                database.plain(cell) if hasattr(cell, "dtype") else cell for cell in values.tolist()
            ]
            raw[name] = {"cells": [tag_cell(cell) for cell in plain]}
        else:
            raw[name] = {"bytes": values.tobytes().hex()}
    columns = [[name, values.dtype.str, name in raw] for name, values in cells.items()]
    info: dict[str, Any] = {"line": line.dtype.str, "columns": columns, "cells": frame.cells}
    if isinstance(frame.columns, SampleColumns) and isinstance(frame.line, SampleLines):
        own = frame.columns
        absent = [name for name, cells in own.numbers.items() if cells is None]
        info["samples"] = [own.objects, [*own.names], [*own.moments], absent]
    return info, raw


def is_held(frame: Frame) -> bool:
    """Say whether SQL gives back all columns of a frame as they were."""
    kinds = dict(database.own_columns(frame.table))
    return all(_is_held(values, kinds.get(name)) for name, values in _frame_cells(frame).items())


def _frame_cells(frame: Frame) -> dict[str, Any]:
    """Return an array for each column with all that differs in it: of samples, what they share is looked at once."""

    own = frame.columns
    if not (isinstance(own, SampleColumns) and own.samples and own.objects):
        return {name: np.asarray(values) for name, values in own.items()}
    # Whole hundredths are numbers that any column of floats gives back, and so is a counter that is not there.
    plain = np.empty(0, dtype=np.float64)
    numbers = {
        name: cells.held_floats() if cells is not None else None
        for name, cells in own.numbers.items()
    }
    return {
        **own.names,
        **own.moments,
        **{name: plain if some is None else some for name, some in numbers.items()},
    }


def _is_held(values: Any, kind: Kind | None) -> bool:
    """Say whether a column of SQL gives back an array of numpy as it was."""

    form = values.dtype.kind
    if kind == "float":
        return form == "f" and values.dtype.itemsize <= 8 and not bool(np.isinf(values).any())
    if kind == "int":
        return form == "i" or (form == "u" and bool(values.dtype.itemsize < 8))
    if kind == "bool":
        return bool(form == "b")
    if kind == "time" and form == "M":  # whole microseconds of years that SQL knows
        fine = values.astype("datetime64[us]")
        years = (fine >= np.datetime64("0001-01-01")) & (fine < np.datetime64("10000-01-01"))
        same = fine.astype(values.dtype) == values
        return bool(((same & years) | np.isnat(values)).all())
    if kind in ("str", "version") and form in ("O", "U"):
        return all(
            cell is None or (type(cell) is str and plain_text(cell)) for cell in values.tolist()
        )
    return False


def restore_frame(
    table: Table,
    block: Block,
    info: Mapping[str, Any],
    raw: Mapping[str, Any],
    cells: Mapping[str, Any],
) -> Frame:
    """Return a frame from what `described` gave and the arrays that SQL holds (masked where NULL)."""
    columns: Any = {}
    for name, form, is_raw in info["columns"]:
        if not is_raw:
            columns[name] = _of_sql(cells[name], form)
        elif "bytes" in raw[name]:
            columns[name] = np.frombuffer(bytes.fromhex(raw[name]["bytes"]), dtype=form).copy()
        else:
            columns[name] = _to_objects([untag_cell(cell) for cell in raw[name]["cells"]])
    line = _of_sql(cells["_line"], info["line"])
    if "samples" in info:
        # Columns and lines of samples in little memory again; ValueError when they are no whole
        # samples.
        #
        # form  how many objects a sample has, the columns that name them, those of the sample,
        # those the capture lacks
        objects, names, moments, absent = info["samples"]
        samples, left = divmod(len(line), objects) if objects > 0 else (0, len(line))
        if left:
            raise ValueError(f"{len(line)} rows do not make whole samples of {objects} objects")
        own = SampleColumns(
            {name: columns[name][:objects] for name in names},
            {name: columns[name][::objects].copy() for name in moments},
            {
                name: None if name in absent else pack_numbers(cells)
                for name, cells in columns.items()
                if name not in names and name not in moments
            },
            samples,
            objects,
        )
        columns, line = own, SampleLines(line[::objects].copy(), objects)
    return Frame(table, columns, line, block, dict(info["cells"]))


def share_names(frame: Frame, before: Frame | None) -> Frame:
    """Return a frame that shares the names of its objects with the one before it, where they are the same."""
    mine, theirs = frame.columns, before.columns if before is not None else None
    if (
        not (isinstance(mine, SampleColumns) and isinstance(theirs, SampleColumns))
        or mine.objects != theirs.objects
    ):
        return frame
    if mine.names.keys() != theirs.names.keys():
        return frame
    if any(mine.names[name].tolist() != theirs.names[name].tolist() for name in mine.names):
        return frame
    return replace(frame, columns=replace(mine, names=theirs.names))


def _of_sql(values: Any, form: str) -> Any:
    if np.ma.isMaskedArray(values):
        mask, values = np.ma.getmaskarray(values), values.data.copy()
        empty: Any = {"f": np.nan, "M": np.datetime64("NaT"), "O": None}
        if values.dtype.kind in empty:
            values[mask] = empty[values.dtype.kind]
    if form == "|O":
        return _to_objects([cell if isinstance(cell, str) else None for cell in values.tolist()])
    return values.astype(form)


def _to_objects(cells: Sequence[Any]) -> Any:
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return found
