"""Checks of a stored case's texts and tables, for packs and segments alike.

Each function returns what is wrong, in words, or nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from analyzer.archive import documents
from analyzer.archive.documents import BASE, DOCUMENT, META
from analyzer.archive.entry import Entry
from analyzer.archive.object_store.object_store import FORMATS
from analyzer.archive.packs import smalltables
from analyzer.archive.packs.columns import JUDGED, LATER, TABLES, schema_of
from analyzer.archive.prints import case_id, reading_print, source_key
from analyzer.archive.seal import seal_broken
from analyzer.case import case_file
from analyzer.facts.database import duck_said
from analyzer.runtime.errors import RefusedError
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import one_line

_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
STATES = {
    True: ("ok", "partial"),
    False: ("refused", "failed"),
}  # of a case with a judgement, and of one without


def texts_wrong(entry: Entry, texts: Mapping[str, str | None]) -> Iterator[str]:
    """Yield what is wrong with meta, document and base of an entry; a text that must not be there is None."""
    wanted = {META: True, DOCUMENT: entry.kind != "none", BASE: entry.kind == "full"}
    for name, is_wanted in wanted.items():
        if (texts.get(name) is not None) != is_wanted:
            yield f"{documents.MEMBERS[name]} is {'missing' if is_wanted else 'too much'}"
    meta = _load_object(texts.get(META))
    if meta is None:
        yield "meta.json is not a JSON object"
        return
    if meta.get("format") not in FORMATS:
        form = one_line(str(meta.get("format")), 40)
        yield f"meta.json says format {form}, which this version does not read"
    expected = {"id": entry.id, "reading": entry.reading, "judging": entry.judging}
    for key, value in expected.items():
        if meta.get(key) != value:
            other = one_line(str(meta.get(key)), 40)
            yield f"meta.json says {key} {other}, the name of the case says {value}"
    if source_key(str(meta.get("source"))) != entry.source:
        yield "meta.json names another source than the name of the case"
    if meta.get("state") not in STATES[entry.kind != "none"]:
        state = one_line(str(meta.get("state")), 40)
        yield f'meta.json says state {state}, which does not fit "{entry.kind}"'
    if texts.get(BASE) is not None and _load_object(texts[BASE]) is None:
        yield "base.json is not a JSON object"
    if texts.get(DOCUMENT) is not None:
        yield from _document_wrong(entry, meta, texts[DOCUMENT] or "")


def _document_wrong(entry: Entry, meta: Mapping[str, Any], text: str) -> Iterator[str]:
    try:
        document = case_file.parse_case(text, "case.json")
    except RefusedError as error:
        yield f"case.json: {error.why}"
        return
    files = document.case.files
    if len(files) != meta.get("files"):
        return  # of an unpacked bundle the document lists only some
    ids = set()
    # The names as they are shown, and as they were on a disk of Windows or with bytes that are no text
    for change in (str, lambda name: name.replace("\\", "/"), _with_bytes):
        own_files = [(change(file.name), file.size, file.sha256) for file in files]
        ids.add(case_id(change(str(meta.get("name"))), own_files))
    if entry.id not in ids:
        yield "the id is not that of the files that case.json lists"


def _with_bytes(name: str) -> str:
    """Return a name with the bytes that were no text and are shown as `\\xNN`."""
    return _BYTE.sub(lambda found: chr(0xDC00 + int(found[1], 16)), name)


def _load_object(text: str | None) -> dict[str, Any] | None:
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def pack_wrong(entry: Entry, data: bytes, folder: Path, number: int) -> list[str]:
    """Return what is wrong with the bytes of a pack; its tables are written to `folder/<table>/<number>.parquet`."""
    wrong = [seal_broken(data)]
    texts: dict[str, str | None] = {}
    try:
        with documents.open_zip_bytes(data, entry.holder) as pack:
            names = pack.namelist()
            wrong += [
                f"{one_line(name, 80)} is in it twice"
                for name in set(names)
                if names.count(name) > 1
            ]
            for name in names:
                content = pack.read(name)  # raises when its checksum is another
                table = name.removeprefix("tables/").removesuffix(".parquet")
                part = next(
                    (part for part, member in documents.MEMBERS.items() if member == name), None
                )
                if part is not None:
                    texts[part] = content.decode()
                elif name == smalltables.MEMBER:
                    wrong += _small_wrong(entry, content)
                elif name != f"tables/{table}.parquet" or not documents.TABLE.fullmatch(table):
                    wrong.append(f"{one_line(name, 80)} is not part of a stored case")
                elif table not in JUDGED and entry.kind != "full":
                    wrong.append(_facts_too_much(entry, table))
                else:
                    path = folder / table / f"{number}.parquet"
                    path.parent.mkdir(exist_ok=True)
                    path.write_bytes(content)
    except documents.DamagedError as error:
        return [*filter(None, wrong), error.why]
    return [*filter(None, wrong), *texts_wrong(entry, texts)]


def _facts_too_much(entry: Entry, table: str) -> str:
    return f'it has facts ({table}), which a pack "{entry.kind}" does not have'


def _small_wrong(entry: Entry, content: bytes) -> Iterator[str]:
    """Yield what is wrong with the small tables of a pack; ValueError when they cannot be read."""
    seen: set[str] = set()
    for table in smalltables.read_tables(content):
        name = one_line(table.name, 80)
        if table.name in seen:
            yield f"table {name} is in it twice"
        elif not documents.TABLE.fullmatch(table.name):
            yield f"{name} is not part of a stored case"
        elif table.name not in JUDGED and entry.kind != "full":
            yield _facts_too_much(entry, table.name)
        elif why := smalltables.describe_difference(
            table, wanted_columns(table.name, entry.reading)
        ):
            yield f"table {name}: {why}"
        seen.add(table.name)


def wanted_columns(table: str, reading: str) -> dict[str, str]:
    """Return the columns that a table must have: of a declared one only when it was read as this version does.

    Those that came later (`LATER`) may be missing.
    """
    if table in TABLES:
        return {
            name: kind for name, kind in TABLES[table].items() if name not in LATER.get(table, ())
        }
    if reading != reading_print(Limits()):
        return {}
    try:
        return schema_of(table)
    except KeyError:
        return {}


def tables_wrong(
    con: duckdb.DuckDBPyConnection, paths: Sequence[str], wanted: Mapping[str, str]
) -> str:
    """Return what is wrong with Parquet files of one table, all looked at together; "" when nothing is."""

    try:
        listed = "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"
        source = f"read_parquet({listed}, union_by_name=true)"
        con.execute(f"SELECT count(COLUMNS(*)) FROM {source}").fetchall()
        found = {
            str(row[0]): str(row[1])
            for row in con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        }
        query = (
            f"SELECT name, count(DISTINCT file_name) FROM parquet_schema({listed}) GROUP BY name"
        )
        files = {str(name): int(count) for name, count in con.execute(query).fetchall()}
    except duckdb.Error as error:
        return f"it cannot be read: {one_line(duck_said(error), 200)}"
    for name, kind in wanted.items():
        if files.get(name, 0) < len(set(paths)):
            return f"it lacks the column {name}"
        if found.get(name) != kind:
            return f"its column {name} is {found.get(name)} instead of {kind}"
    return ""
