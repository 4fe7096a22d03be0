"""The facts of a case as columns, with everything the judge may need of them.

Of the text only the lines are kept that evidence can show: those rows are on, and their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analyzer.archive.packs import framebytes
from analyzer.archive.packs.lossless import (
    bytes_to_latin,
    dump_lossless,
    odd_places,
    plain_text,
    tag_cell,
)
from analyzer.archive.packs.parquet import Columns
from analyzer.artefacts.logtime import log_time
from analyzer.artefacts.tables import Block, Frame, Row, Table
from analyzer.facts import Facts, database
from analyzer.facts.database import KEY, text, timestamp, version_key
from analyzer.judge.findings import CONTEXT
from analyzer.scan.hits import LogScan

Searched = Iterable[Sequence[Any]]  # [id, table, pattern, ignore_case]


class Blocks:
    """The blocks of a case, numbered as they are met, and the lines that are needed of each."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._blocks: list[Block] = []
        self._wanted: list[set[int]] = []

    def of_rows(self, rows: Sequence[Row]) -> list[int]:
        """Return the number of each row's block, and note the lines its values are on."""
        found = []
        for row in rows:
            number = self._number_block(row.block)
            found.append(number)
            lines, first = self._wanted[number], row.block.first_line
            lines.add(row.line - first)
            if row.lines:
                lines.update(line - first for line in row.lines.values())
        return found

    def of_frame(self, frame: Frame) -> int:
        """Return the number of a frame's block; only one that came out of a transcript holds text."""
        number = self._number_block(frame.block)
        if frame.block.lines:
            self._wanted[number].update(int(line) - frame.block.first_line for line in frame.line)
        return number

    def block_columns(self) -> Columns:
        """Return the columns of `_blocks`."""
        infos = [
            dump_lossless(
                [
                    one.address,
                    one.node,
                    one.command,
                    one.params,
                    one.taken,
                    one.cut,
                    one.first_line,
                    one.order,
                ]
            )
            for one in self._blocks
        ]
        texts = [
            _kept_lines(block, wanted)
            for block, wanted in zip(self._blocks, self._wanted, strict=True)
        ]
        return {"_block": [*range(len(infos))], "_info": infos, "_text": texts}

    def _number_block(self, block: Block) -> int:
        number = self._numbers.get(id(block))
        if number is None:
            number = self._numbers[id(block)] = len(self._blocks)
            self._blocks.append(block)
            self._wanted.append(set())
        return number


def _kept_lines(block: Block, wanted: set[int]) -> str | None:
    """Return the lines at some places of a block with their neighbours, in runs."""
    runs: list[list[int]] = []
    for place in sorted(place for place in wanted if 0 <= place < len(block.lines)):
        start, stop = max(0, place - CONTEXT), min(len(block.lines), place + CONTEXT + 1)
        if runs and start <= runs[-1][1]:
            runs[-1][1] = stop
        else:
            runs.append([start, stop])
    return (
        dump_lossless([[start + block.first_line, block.lines[start:stop]] for start, stop in runs])
        if runs
        else None
    )


def row_columns(
    table: Table, rows: Sequence[Row], first: int, facts: Facts, blocks: Blocks
) -> Columns:
    """Return rows of one table as columns; the rows are numbered on from `first`."""
    loaded = database.load_columns(table, [database.Rows(rows, facts.name)])
    data: dict[str, Sequence[Any]] = {
        name: [cell and text(cell) for cell in cells] if kind == "TIME" else cells
        for name, (kind, cells) in loaded.items()
    }
    data["_row"] = [*range(first, first + len(rows))]
    data["_block"] = blocks.of_rows(rows)
    if any(row.lines for row in rows):
        found = []
        for row in rows:
            # The lines of a row's values, counted from its own: the same for all rows of one
            # layout.
            offsets = (
                dump_lossless({name: line - row.line for name, line in row.lines.items()})
                if row.lines
                else None
            )
            found.append(offsets)
        data["_lines"] = found
    odd = _odd_values(table, rows)
    if odd:
        data["_odd"] = [
            dump_lossless(odd[place]) if place in odd else None for place in range(len(rows))
        ]
    return data


def sample_columns(frame: Frame, first: int, node: str, block: int, number: int) -> Columns:
    """Return the few rows of a frame as columns; the rows are numbered on from `first`, block and frame so."""
    count, origin = len(frame.line), frame.block
    every = range(count)
    data: dict[str, Sequence[Any]] = {
        "_line": [int(line) for line in frame.line],
        "_row": [*range(first, first + count)],
    }
    for name, kind in database.own_columns(frame.table):
        if name in frame.columns:
            data[name] = database.plain_many(frame.columns[name], every)
            if kind == "version":
                data[name + KEY] = [version_key(cell) for cell in data[name]]
    same = {
        "node": text(node),
        "_node": text(origin.node),
        "_source": text(origin.address),
        "_order": origin.order,
    }
    same |= {"taken": timestamp(origin.taken), "_block": block, "_frame": number}
    return data | {name: [cell] * count for name, cell in same.items()}


def stack_columns(parts: Sequence[Columns]) -> Columns:
    """Return columns one below the other; those that a part has not are NULL there."""
    sizes = [max(map(len, part.values()), default=0) for part in parts]
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: [
            cell
            for part, size in zip(parts, sizes, strict=True)
            for cell in part.get(name) or [None] * size
        ]
        for name in names
    }


def _odd_values(table: Table, rows: Sequence[Row]) -> dict[int, dict[str, Any]]:
    """Return by place in the rows the values that their columns cannot hold."""
    odd: dict[int, dict[str, Any]] = {}
    own = dict(database.own_columns(table))
    for name, kind in own.items():
        cells = [row.values.get(name) for row in rows]
        for place in odd_places(cells, kind):
            odd.setdefault(place, {})[name] = tag_cell(cells[place])
    for place, row in enumerate(rows):
        if not row.values.keys() <= own.keys():
            more = {
                name: tag_cell(cell)
                for name, cell in row.values.items()
                if name not in own and cell is not None
            }
            if more:
                odd.setdefault(place, {}).update(more)
    return odd


def node_columns(facts: Facts, records: Iterable[Mapping[str, Any]]) -> Columns:
    """Return the nodes with what the document says of them and how well each table was read there."""
    known = {record.get("id"): record for record in records}
    # By node how well each declared table is known: [table, state, why, addresses]
    covers: dict[str, list[list[Any]]] = {}
    for name, table in sorted(facts.tables.items()):
        for key in facts.nodes_with(name) if table.lines_of is None else ():
            cover = facts.coverage(key, name)
            covers.setdefault(key, []).append([name, cover.state, cover.why, [*cover.addresses]])
    tables = sorted(name for name, table in facts.tables.items() if table.lines_of is None)
    rows: list[dict[str, Any]] = []
    for place, info in enumerate(facts.nodes.values()):
        record = known.get(info.key, {})
        version = _to_word(record.get("version"))
        uptime = record.get("uptime_s")
        covered = covers.get(info.key, [])
        rows.append(
            {
                "node": text(info.name),
                "kind": text(info.kind),
                "product": _to_word(record.get("product")) or text(info.product),
                "version": version,
                "version" + KEY: version_key(version),
                "build": _to_word(record.get("build")),
                "release": _to_word(record.get("release")),
                "uptime_s": float(uptime)
                if isinstance(uptime, int | float) and abs(uptime) < 1e300
                else None,
                "captured": timestamp(text(info.captured)),
                "complete": info.complete,
                "_row": place,
                "_info": dump_lossless(
                    [info.key, info.name, info.kind, info.product, info.captured]
                ),
                "_covers": dump_lossless([cover[:3] for cover in covered]),
                "_addresses": dump_lossless([cover[3] for cover in covered]),
                "_counts": dump_lossless(
                    {name: count for name in tables if (count := facts.count(name, info.key))}
                ),
            }
        )
    return transpose_rows(rows)


def _to_word(value: object) -> str:
    return text(str(value)) if value is not None else ""


def scan_columns(scans: Sequence[LogScan], searched: Searched) -> Columns:
    """Return what the search of each log found, but for its hits."""
    of_table: dict[str, list[Any]] = {}
    for name, table, pattern, ignore_case in searched:
        of_table.setdefault(table, []).append([name, pattern, bool(ignore_case)])
    asked = {table: dump_lossless(items) for table, items in of_table.items()}
    rows = [
        {
            "_scan": place,
            "table": scan.table,
            "_info": dump_lossless(_scan_info(scan)),
            "_tallies": dump_lossless(_list_tallies(scan)),
            "_searched": asked.get(scan.table, "[]"),
        }
        for place, scan in enumerate(scans)
    ]
    return transpose_rows(rows)


def _scan_info(scan: LogScan) -> list[Any]:
    ends = [
        bytes_to_latin(raw)
        for raw in (scan.first, scan.last, scan.first_stamped, scan.last_stamped)
    ]
    gaps = [[gap.line, gap.bytes] for gap in scan.nul_gaps]
    size = [scan.lines, scan.bytes, scan.nul_bytes, scan.long_lines]
    return [
        scan.address,
        scan.node,
        *size,
        *ends,
        gaps,
        scan.long_at,
        [scan.cut, scan.excerpt, scan.part_of],
    ]


def _list_tallies(scan: LogScan) -> dict[str, list[Any]]:
    """Return count, capped, at_least and stop of each signature that has anything to tell."""
    found: dict[str, list[Any]] = {}
    names = {
        *(name for name, count in scan.counts.items() if count),
        *scan.capped,
        *scan.at_least,
        *scan.stopped,
    }
    for name in sorted(names):
        stop = scan.stopped.get(name)
        stop_values = [stop.line, stop.lines, stop.groups, stop.total] if stop is not None else None
        found[name] = [
            scan.counts.get(name),
            name in scan.capped,
            name in scan.at_least,
            stop_values,
        ]
    return found


def hit_columns(facts: Facts) -> Columns:
    """Return the lines that signatures found, in the order of logs and lines."""
    rows: list[dict[str, Any]] = []
    for place, scan in enumerate(facts.scans):
        node = text(facts.name(scan.node))
        hits = [(hit, False) for hit in scan.hits]
        hits += [(hit, True) for _, hit in sorted(scan.last_hits.items())]
        for hit, last in hits:
            when = log_time(hit.text)
            odd = not (plain_text(hit.text) and plain_text(hit.address))
            before, after, groups = hit.before, hit.after, hit.groups
            rows.append(
                {
                    "node": node,
                    "table": scan.table,
                    "signature": text(hit.signature),
                    "address": text(hit.address),
                    "line": hit.line,
                    "text": text(hit.text),
                    "time": when.when.replace(tzinfo=None).isoformat(" ")
                    if when is not None
                    else None,
                    "_row": len(rows),
                    "_scan": place,
                    "_last": last,
                    "_around": dump_lossless([before, after]) if before or after else None,
                    "_groups": dump_lossless(groups) if groups else None,
                    "_odd": dump_lossless([hit.address, hit.text]) if odd else None,
                }
            )
    return transpose_rows(rows)


def frame_columns(frames: Sequence[tuple[Frame, int]]) -> Columns:
    """Return frames, each with the number of its block; their rows are in the tables themselves."""
    rows = []
    for place, (frame, block) in enumerate(frames):
        info, raw = framebytes.describe_frame(frame)
        rows.append(
            {
                "_frame": place,
                "table": frame.table.name,
                "_block": block,
                "_rows": len(frame.line),
                "_info": dump_lossless(info),
                "_raw": dump_lossless(raw) if raw else None,
            }
        )
    return transpose_rows(rows)


def transpose_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return rows of the same keys as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
