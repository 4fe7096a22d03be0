"""A case as one object: a ZIP of JSON, and of Parquet for large tables, from which it is restored exactly.

The same material gives the same bytes, but for the stamps in meta.json and the table `_case` made of them.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec import to_builtins

from analyzer.archive import documents
from analyzer.archive.packs import factcolumns, framebytes, parquet, smalltables
from analyzer.archive.packs.columns import (
    BLOCKS,
    CASE,
    FRAMES,
    HITS,
    NODES,
    SCANS,
    TABLES,
    Schema,
    table_schema,
)
from analyzer.archive.packs.judgedcolumns import case_columns, judged_columns
from analyzer.archive.packs.lossless import dump_lossless
from analyzer.archive.packs.parquet import Columns
from analyzer.artefacts.samples import trim_memory
from analyzer.artefacts.tables import Frame, Table
from analyzer.case import case_file
from analyzer.facts import Facts, made
from analyzer.facts import frames as fact_frames
from analyzer.facts.database import CHUNK, quote_name
from analyzer.facts.frames import PlacedFrame
from analyzer.facts.records import Store
from analyzer.pipeline.case_data import CaseData, RunResult

if TYPE_CHECKING:
    import duckdb

__all__ = ["TABLES", "encode_case", "none_pack", "pack_file"]

RECORDS = (
    "name", "files", "created", "span", "complete", "nodes", "sources", "events", "topology", "faults",
    "faults_total", "damage", "limits", "advice", "notes", "problems", "harmless",
)  # fmt: skip
_STAMP = (1980, 1, 1, 0, 0, 0)  # of every member; ZIP knows no earlier time
PIECE = 30000  # rows of samples that are written at once
_AT_ONCE = 1 << 20  # bytes
_PRESSED = (
    1 << 16
)  # bytes from which Parquet, pressed already, goes in as it is: to press it again wins 5 %
_LEVEL = 6


def encode_case(
    material: CaseData | None,
    outcome: RunResult,
    meta: Mapping[str, Any],
    kind: str = "full",
    *,
    scratch: Path | None = None,
) -> bytes:
    """Return a case as it is stored.

    kind     "full": judgement and facts; "case": the judgement only, then `material` may be None
    meta     what meta.json shall say; its `searched` tells what the logs were searched for
    scratch  an existing private folder; without it one is made below the system's temporary folder
    """
    with _make_folder(scratch) as folder:
        return pack_file(material, outcome, meta, kind, folder=folder).read_bytes()


def pack_file(
    material: CaseData | None,
    outcome: RunResult,
    meta: Mapping[str, Any],
    kind: str = "full",
    *,
    folder: Path,
) -> Path:
    """Write a case, as `pack` returns it, to a file of an existing private folder, and return its path."""
    with closing(_Writer(folder)) as writer:
        document = folder / "case.json"
        with document.open("w", encoding="utf-8", newline="") as file:
            file.writelines(case_file.write_parts(outcome.document))
        members: dict[str, bytes | Path] = {"meta.json": _encode_meta(meta), "case.json": document}
        tables = judged_columns(outcome, meta)
        trim_memory()
        if kind == "full":
            assert material is not None
            records = {name: getattr(material, name) for name in RECORDS}
            members["base.json"] = dump_lossless(to_builtins(records)).encode()
            writer.write_facts(material, meta.get("searched", ()))
        for name, columns in tables.items():
            writer.write_table(name, columns)
        members |= writer.list_members()
        path = folder / "pack.zip"
        with path.open("wb") as out:
            _zip_into(out, members)
        return path


def none_pack(meta: Mapping[str, Any], *, scratch: Path | None = None) -> bytes:
    """Return the pack of a case that was refused or failed: its meta, and its row among the cases."""
    with _make_folder(scratch) as folder, closing(_Writer(folder)) as writer:
        writer.write_table(CASE, case_columns(meta))
        return _zip_members({"meta.json": _encode_meta(meta), **writer.list_members()})


class _Writer:
    """Writes the tables of one case: small ones as lines of JSON, others as Parquet into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.small: dict[str, str] = {}
        self.written: list[str] = []
        self._con: duckdb.DuckDBPyConnection | None = None

    @property
    def database(self) -> duckdb.DuckDBPyConnection:
        """A database, which a small case does not need."""
        if self._con is None:
            self._con = documents.share_connection()
        return self._con

    def close(self) -> None:
        """Close the database."""
        if self._con is not None:
            self._con.close()

    def write_table(self, name: str, columns: Columns) -> None:
        """Write one table that is no parser's; one without rows is left out."""
        count = max(map(len, columns.values()), default=0)
        starts = range(0, count, CHUNK)
        parts = [
            {name: cells[start : start + CHUNK] for name, cells in columns.items()}
            for start in starts
        ]
        self._write_parts(name, TABLES[name], parts)

    def write_facts(self, material: CaseData, searched: factcolumns.Searched) -> None:
        """Write the facts of a case."""
        facts, blocks = material.facts, factcolumns.Blocks()
        frames: list[tuple[Frame, int]] = []
        for name, table in sorted(facts.tables.items()):
            if table.lines_of is None and made.is_archived(table) and facts.count(name):
                self._write_store(facts, facts.store(name), blocks, frames)
        self.write_table(NODES, factcolumns.node_columns(facts, material.nodes))
        self.write_table(BLOCKS, blocks.block_columns())
        self.write_table(SCANS, factcolumns.scan_columns(facts.scans, searched))
        self.write_table(HITS, factcolumns.hit_columns(facts))
        self.write_table(FRAMES, factcolumns.frame_columns(frames))

    def list_members(self) -> dict[str, bytes | Path]:
        """Return what was written: the small tables, and the files of the others in order of names."""
        lines = "".join(f"{self.small[name]}\n" for name in sorted(self.small))
        small: dict[str, bytes | Path] = {smalltables.MEMBER: lines.encode()} if lines else {}
        return small | {
            f"tables/{name}.parquet": self._member_path(name) for name in sorted(self.written)
        }

    def _write_store(
        self,
        facts: Facts,
        store: Store,
        blocks: factcolumns.Blocks,
        frames: list[tuple[Frame, int]],
    ) -> None:
        rows, table = store.rows, store.table
        parts = [
            factcolumns.row_columns(table, rows[start : start + CHUNK], start, facts, blocks)
            for start in range(0, len(rows), CHUNK)
        ]
        count = len(rows) + sum(len(frame.line) for frame in store.frames)
        # Python's values of few rows and samples, where they are what SQL would hold
        is_small = count <= smalltables.ROWS and all(map(framebytes.is_held, store.frames))
        if not store.frames or is_small:
            for first, frame in store.number_frames():
                block = blocks.of_frame(frame)
                name = facts.name(frame.block.node)
                parts.append(factcolumns.sample_columns(frame, first, name, block, len(frames)))
                frames.append((frame, block))
            self._write_parts(
                table.name,
                table_schema(table),
                [factcolumns.stack_columns(parts)] if store.frames else parts,
            )
            return
        pieces: list[Path] = []
        for some in _split_frames(store.number_frames()):
            homes: list[tuple[PlacedFrame, int, int]] = []
            for first, frame in some:
                block = blocks.of_frame(frame)
                placed = PlacedFrame(frame, first, facts.name(frame.block.node))
                homes.append((placed, block, len(frames)))
                frames.append((frame, block))
            path = self.folder / f"{table.name}.{len(pieces)}"
            self._write_piece(path, table, () if pieces else parts, homes)
            pieces.append(path)
            trim_memory()
        self.written.append(table.name)
        if len(pieces) == 1:
            pieces[0].rename(self._member_path(table.name))
            return
        parquet.join_files(self.database, self._member_path(table.name), pieces)
        for piece in pieces:
            piece.unlink()

    def _write_piece(
        self,
        path: Path,
        table: Table,
        rows: Sequence[Columns],
        homes: Sequence[tuple[PlacedFrame, int, int]],
    ) -> None:
        """Write rows and, behind them, samples as a Parquet file.

        homes  frames in the order of their rows, each with its block and its number
        """
        full = [one for one in homes if len(one[0].frame.line)]
        placed = [one for one, _, _ in full]
        if (
            placed and not rows and fact_frames.are_alike(placed)
        ):  # as they are: a table would copy and sort them
            own = {
                "_block": [block for _, block, _ in full],
                "_frame": [number for _, _, number in full],
            }
            fact_frames.ask(
                self.database,
                table,
                placed,
                lambda cells: parquet.copy_statement(path, table_schema(table), cells),
                own,
            )
            return
        self._collect_parts(table.name, table_schema(table), rows)
        fact_frames.insert(self.database, table, placed)
        ranges = ["(0, 0, 0, 0)"]
        for one, block, number in full:
            stop = one.first + len(one.frame.line)
            ranges.append(f"({one.first}, {stop}, {block}, {number})")
        query = (  # the table in the order of its rows, each with its block and frame
            "SELECT t.* REPLACE (coalesce(t._block, f.block) AS _block, f.frame AS _frame) "
            f"FROM {quote_name(table.name)} t "
            f"LEFT JOIN (VALUES {', '.join(ranges)}) f(first, stop, block, frame) "
            "ON t._row >= f.first AND t._row < f.stop ORDER BY t._row"
        )
        self._copy_query(table.name, path, query)

    def _write_parts(self, name: str, columns: Schema, parts: Sequence[Columns]) -> None:
        """Write a table that comes in parts; without one it is left out."""
        if len(parts) == 1:
            if (line := smalltables.table_line(name, columns, parts[0])) is not None:
                self.small[name] = line
                return
            parquet.write_columns(self.database, self._member_path(name), columns, parts[0])
            self.written.append(name)
        elif parts:
            self._collect_parts(name, columns, parts)
            self._copy_query(name, self._member_path(name), f"SELECT * FROM {quote_name(name)}")
            self.written.append(name)

    def _collect_parts(self, name: str, columns: Schema, parts: Sequence[Columns]) -> None:
        parquet.create_table(self.database, name, columns)
        for part in parts:
            parquet.insert_columns(self.database, name, columns, part)

    def _copy_query(self, name: str, path: Path, query: str) -> None:
        """Write what a query over the collected table brings, and drop the table."""
        parquet.copy_query(self.database, path, query)
        self.database.execute(f"DROP TABLE {quote_name(name)}")

    def _member_path(self, name: str) -> Path:
        return self.folder / f"{name}{parquet.SUFFIX}"


def _split_frames(placed: Iterable[tuple[int, Frame]]) -> Iterator[list[tuple[int, Frame]]]:
    """Yield frames in runs of about `PIECE` rows: as a whole, a table of samples takes a multiple of its capture.

    What makes two pieces at most is one: to join pieces is to write the table a second time.
    """
    placed = [*placed]
    total = sum(len(frame.line) for _, frame in placed)
    most = PIECE if total > 2 * PIECE else total
    some: list[tuple[int, Frame]] = []
    count = 0
    for first, frame in placed:
        if some and count + len(frame.line) > most:
            yield some
            some, count = [], 0
        some.append((first, frame))
        count += len(frame.line)
    yield some


def _encode_meta(meta: Mapping[str, Any]) -> bytes:
    return (json.dumps(dict(meta), indent=1) + "\n").encode()


def _zip_members(members: Mapping[str, bytes | Path]) -> bytes:
    out = io.BytesIO()
    _zip_into(out, members)
    return out.getvalue()


def _zip_into(out: BinaryIO, members: Mapping[str, bytes | Path]) -> None:
    """Write a ZIP of bytes and of files; the files are removed one by one as they are in it."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as file:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, _STAMP)
            info.compress_type, info.create_system, info.external_attr = (
                zipfile.ZIP_DEFLATED,
                3,
                0o644 << 16,
            )
            if isinstance(data, bytes):
                file.writestr(info, data)
                continue
            info.file_size = data.stat().st_size
            if data.suffix == parquet.SUFFIX and info.file_size > _PRESSED:
                info.compress_type = zipfile.ZIP_STORED
            with data.open("rb") as source, file.open(info, "w") as target:
                shutil.copyfileobj(source, target, _AT_ONCE)
            data.unlink()


@contextmanager
def _make_folder(scratch: Path | None) -> Iterator[Path]:
    if scratch is not None:
        yield scratch
        return
    with tempfile.TemporaryDirectory(prefix="backline-") as name:
        yield Path(name)
