"""Packs: what is in them, that the same case gives the same bytes, and that readers see declared columns."""

from __future__ import annotations

import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.archive.packs import encode, smalltables
from analyzer.archive.packs.columns import TABLES, schema_of
from analyzer.archive.packs.lossless import (
    dump_lossless,
    load_lossless,
    odd_places,
    tag_cell,
    untag_cell,
)
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Frame, Kind, Row, Table
from analyzer.case import case_file
from analyzer.facts import Facts
from analyzer.facts.database import KEY
from analyzer.rules import Catalog
from analyzer.scan.blocks import NulGap
from analyzer.scan.hits import Hit, LogScan, SearchStop
from tests.kit import archive_kit as kit
from tests.sql_oracle.timed import ask

TEXT = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(
    ["\0", "\ud83d\ude00", "\udcff", "a\u2028b", "'\"\\"]
)
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.just("2024-02-29 10:00:00")
)
quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return an empty archive."""
    return Archive.open(tmp_path_factory.mktemp("keep") / "archive", create=True)


def members(pack: bytes) -> dict[str, bytes]:
    """Return the members of a pack."""
    with zipfile.ZipFile(io.BytesIO(pack)) as file:
        return {name: file.read(name) for name in file.namelist()}


def rows(pack: bytes, table: str, folder: Path, columns: str = "*") -> list[tuple[Any, ...]]:
    """Return rows of a small table of a pack, read by a plain DuckDB out of a plain reader of JSON."""
    name, count, told = next(line for line in lines(pack) if line[0] == table)
    cells = [some[0] if some else [None] * count for _, *some in told.values()]
    with duckdb.connect() as con:
        con.execute(
            f"""CREATE TABLE "{name}" ({", ".join(f'"{one}" {kind}' for one, (kind, *_) in told.items())})"""
        )
        con.executemany(
            f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(told))})',
            [*zip(*cells, strict=True)],
        )
        return con.execute(f'SELECT {columns} FROM "{name}"').fetchall()


def lines(pack: bytes) -> list[Any]:
    """Return the small tables of a pack: name, number of rows, and of each column its type and cells."""
    return [json.loads(line) for line in members(pack)["tables.jsonl"].decode().splitlines()]


def back(archive: Archive, facts: Facts, asked: list[list[Any]] | None = None) -> Facts:
    """Return facts as they come back from an archive."""
    material = kit.bare(facts)
    pack = encode.encode_case(material, kit.judged(material, Catalog()), kit.meta_of("made", asked))
    stored = kit.stored(archive, "made", pack)
    return recall.recall_case(archive, stored, kit.catalog().signatures()).facts


def declared(kinds: set[Kind]) -> Table:
    """Return a declared table that has columns of these kinds."""
    tables = parsing.tables().values()
    return next(
        one for one in tables if kinds <= {column.kind for column in one.columns} and not one.log
    )


def test_the_same_case_gives_the_same_bytes() -> None:
    """Two packs of one case, read twice, are equal to the last byte; another stamp changes meta and `_case` only."""
    first, again = (
        encode.encode_case(material, kit.judged(material), kit.meta_of("x"))
        for material in _twice("healthy-host")
    )
    assert first == again
    material = kit.sample("healthy-host")
    later = encode.encode_case(
        material, kit.judged(material), kit.meta_of("x", stored="2025-01-01T00:00:00Z")
    )
    one, two = members(first), members(later)
    assert {name for name in one if one[name] != two[name]} == {"meta.json", "tables.jsonl"}
    assert [
        told[0] for told, other in zip(lines(first), lines(later), strict=True) if told != other
    ] == ["_case"]
    assert list(one) == list(two)


def _twice(name: str) -> list[Any]:
    return [kit.sample(name), kit.sample(name)]


@pytest.mark.size
def test_a_pack_holds_the_document_and_every_table_with_its_declared_columns(
    tmp_path: Path,
) -> None:
    """case.json is the exact document; each table has the columns and types that are declared, in order."""
    material = kit.sample("slow-storage")
    outcome = kit.judged(material)
    pack = encode.encode_case(material, outcome, kit.meta_of("x"))
    held = members(pack)
    assert held["case.json"].decode() == case_file.write_case(outcome.document)
    assert json.loads(held["meta.json"])["searched"] == kit.searched()
    small = {name: columns for name, _, columns in lines(pack)}
    assert {"_case", "_nodes", "_verdicts", "_hits", "_scans", "_blocks", "esxi.version"} <= set(
        small
    )
    for table, columns in small.items():
        assert [(name, kind) for name, (kind, *_) in columns.items()] == list(
            schema_of(table).items()
        )
    with patch.object(smalltables, "ROWS", 0):
        large = members(encode.encode_case(material, outcome, kit.meta_of("x")))
    assert "tables.jsonl" not in large
    assert sorted(name[7:-8] for name in large if name.startswith("tables/")) == sorted(small)
    for table in small:
        path = tmp_path / "one.parquet"
        path.write_bytes(large[f"tables/{table}.parquet"])
        with duckdb.connect() as con:
            told = con.execute(f"DESCRIBE SELECT * FROM read_parquet('{path}')").fetchall()
        assert {name: kind for name, kind, *_ in told} == schema_of(table)
        assert [name for name, *_ in told] == list(schema_of(table))


def test_a_judgement_alone_has_no_facts() -> None:
    """A pack of kind `case` holds the document and the tables of the judgement, nothing of what was read."""
    outcome = kit.judged(kit.sample("slow-storage"))
    pack = encode.encode_case(None, outcome, kit.meta_of("x"), kind="case")
    wanted = {"_case", "_findings", "_verdicts"}
    wanted |= {"_unknowns"} if outcome.judgement.cannot_tell else set()
    wanted |= {"_signals"} if outcome.signals else set()
    assert set(members(pack)) == {"meta.json", "case.json", "tables.jsonl"}
    assert {name for name, *_ in lines(pack)} == wanted


def test_a_refused_case_keeps_its_reason(tmp_path: Path) -> None:
    """The pack of a refused case holds its meta, and a row that says so among the cases."""
    pack = encode.none_pack(kit.meta_of("x", state="refused", why="no text\udcff"))
    assert set(members(pack)) == {"meta.json", "tables.jsonl"}
    assert rows(pack, "_case", tmp_path, "state, why, created, findings") == [
        ("refused", "no text\\xff", None, None)
    ]


@pytest.mark.size
def test_the_tables_of_a_judgement_say_what_the_document_says(tmp_path: Path) -> None:
    """Findings, doubts and counts are those of the document; a rule that cannot tell is told with its articles."""
    material = kit.sample("slow-storage")
    outcome = kit.judged(material)
    pack = encode.encode_case(material, outcome, kit.meta_of("x"))
    found = rows(pack, "_findings", tmp_path, "rule, subject, severity, say, kb, finding_id")
    wanted = [
        (one.rule, one.subject, one.severity, one.say, one.kb, one.id)
        for one in outcome.document.findings
    ]
    assert found == wanted
    doubts = rows(pack, "_unknowns", tmp_path, "rule, missing, why, ask")
    assert doubts == [
        (one.rule, one.missing, one.why, one.ask) for one in outcome.judgement.cannot_tell
    ]
    counts = rows(
        pack, "_verdicts", tmp_path, "rule, kb, match, no_match, not_applicable, cannot_tell, error"
    )
    rules = {rule.id: rule for rule in kit.catalog().rules}
    assert counts == [
        (name, rules[name].kb, *(told.get(word, 0) for word in _WORDS))
        for name, told in sorted(outcome.judgement.counts.items())
    ]
    assert rows(pack, "_case", tmp_path, "name, findings, worst, complete") == [
        ("x", len(found), outcome.document.findings[0].severity, True)
    ]


_WORDS = ("match", "no_match", "not_applicable", "cannot_tell", "error")


def test_hits_can_be_asked_by_time_and_text(tmp_path: Path) -> None:
    """A line that a signature found stands in `_hits` with node, signature, place, text and time."""
    material = kit.sample("slow-storage")
    pack = encode.encode_case(material, kit.judged(material), kit.meta_of("x"))
    found = rows(pack, "_hits", tmp_path, 'node, "table", signature, address, line, text, time')
    hits = [(scan, hit) for scan in material.facts.scans for hit in scan.hits]
    assert len(found) == len(hits) > 0
    for (scan, hit), (node, table, signature, address, line, text, time) in zip(
        hits, found, strict=True
    ):
        assert (node, table) == (material.facts.name(scan.node), scan.table)
        assert (signature, address, line, text) == (hit.signature, hit.address, hit.line, hit.text)
        assert time is not None
        assert f"{time:%Y-%m-%d}" in text


def test_only_the_lines_evidence_shows_are_kept(archive: Archive) -> None:
    """Of a text of 1,000 lines with one row those around it come back at their numbers, and no other."""
    table = parsing.tables()["esxi.version"]
    block = Block([f"line {number}" for number in range(10, 1010)], 10, "a.txt").assign_node("host")
    facts = Facts()
    facts.node("host", "host", "esxi")
    facts.add(Row(table, {"version": "6.5.0"}, block, 500, {"build": 700}))
    (row,) = back(archive, facts).store(table.name).rows
    kept = {
        number + row.block.first_line: line for number, line in enumerate(row.block.lines) if line
    }
    assert kept == {
        number: f"line {number}" for near in (500, 700) for number in range(near - 2, near + 3)
    }
    assert (row.line, row.lines, row.block.first_line) == (500, {"build": 700}, 10)


@pytest.mark.size
@quick
@given(st.data())
def test_values_of_any_kind_come_back_as_they_were(archive: Archive, data: st.DataObject) -> None:
    """Whatever a parser puts into a column, of its type or not, comes back equal and of the same type."""
    table = declared({"str", "int", "version"})
    table = data.draw(
        st.sampled_from([table, declared({"float"}), declared({"bool"}), declared({"time"})])
    )
    names = [column.name for column in table.columns]
    values = st.dictionaries(st.sampled_from([*names, "no_such_column"]), VALUES, max_size=6)
    facts = Facts()
    block = Block(
        ["a", "b"], 1, data.draw(TEXT), "", data.draw(TEXT), {"p": "q"}, data.draw(TEXT), True, 7
    )
    block.assign_node(data.draw(TEXT))
    facts.node(block.node, data.draw(TEXT), "esxi", captured=data.draw(TEXT))
    made = [
        Row(table, data.draw(values), block, number)
        for number in data.draw(st.lists(st.integers(1, 2), min_size=1))
    ]
    facts.add_rows(table, made)
    found = back(archive, facts)
    assert list(found.nodes.values()) == list(facts.nodes.values())
    for one, two in zip(made, found.store(table.name).rows, strict=True):
        wanted = {name: value for name, value in one.values.items() if value is not None}
        assert two.values.keys() == wanted.keys()
        assert all(_same(value, two.values[name]) for name, value in wanted.items())
        assert (two.line, two.block) == (one.line, block)


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return repr(one) == repr(two)
    return type(one) is type(two) and bool(one == two)


@quick
@given(
    st.lists(VALUES, max_size=8),
    st.sampled_from(["str", "int", "float", "bool", "version", "time"]),
)
def test_odd_cells_are_found_and_kept(cells: list[Any], kind: Kind) -> None:
    """A cell that is not called odd is of its column's type; an odd one survives JSON."""
    types = {"str": str, "version": str, "time": str, "int": int, "float": float, "bool": bool}
    odd = odd_places(cells, kind)
    for place, cell in enumerate(cells):
        if place in odd:
            assert _same(untag_cell(load_lossless(dump_lossless({"x": tag_cell(cell)}))["x"]), cell)
        else:
            assert cell is None or type(cell) is types[kind]


ARRAYS: list[Any] = [
    np.array([1.5, math.nan, -0.0]),
    np.array([1.0, math.inf, 2.0]),
    np.array([1.5, 2.5, 3.5], dtype="float32"),
    np.array([1, 2, 3]),
    np.array([1, 2, 3], dtype="uint64"),
    np.array([1, -2, 3], dtype="int16"),
    np.array(["a", None, "\udcff"], dtype=object),
    np.array(["a", None, "b"], dtype=object),
    np.array(["a", "bb", ""]),
    np.array([True, False, True]),
    np.array(["2024-01-01T00:00:00.5", "NaT", "1999-12-31"], dtype="datetime64[us]"),
    np.array(["2024-01-01T00:00:00", "NaT", "0001-01-01"], dtype="datetime64[ns]"),
    np.array([1, "x", None], dtype=object),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}")
@pytest.mark.parametrize("kind", ["str", "int", "float", "time"])
def test_samples_come_back_with_their_types(archive: Archive, array: Any, kind: Kind) -> None:
    """A numpy column of any type, in a column of any kind, comes back with the same type and cells."""
    tables = [one for one in parsing.tables().values() if one.product == "esxtop"]
    table, column = next(
        (each, one.name) for each in tables for one in each.columns if one.kind == kind
    )
    facts = Facts()
    block = Block([], 1, "esxtop.csv", order=3).assign_node("host")
    facts.node("host", "host", "esxi")
    frames = [
        Frame(
            table,
            {column: array, "no_column": array},
            np.array([4, 5, 6]),
            block,
            {column: "{no_column} x"},
        )
    ]
    frames.append(Frame(table, {column: array[:1]}, np.array([9]), block))
    for frame in frames:
        facts.add_frame(frame)
    found = back(archive, facts).store(table.name).frames
    assert len(found) == 2
    for one, two in zip(frames, found, strict=True):
        assert (two.cells, two.block, list(two.line)) == (one.cells, one.block, list(one.line))
        assert list(two.columns) == list(one.columns)
        for name, values in one.columns.items():
            assert two.columns[name].dtype == values.dtype
            assert repr(two.columns[name].tolist()) == repr(values.tolist())
        assert [two.heading(column, at) for at in range(len(one.line))] == [
            one.heading(column, at) for at in range(len(one.line))
        ]


def test_rows_and_frames_of_one_table_keep_their_numbers(archive: Archive) -> None:
    """Rows come before frames, and the database made of what came back is that of the original."""
    table = parsing.tables()["esxtop.capture"]
    facts = Facts()
    block, other = (
        Block(["x"], 1, "t.txt", order=1).assign_node("host"),
        Block([], 1, "e.csv", order=2).assign_node("host"),
    )
    facts.node("host", "h", "esxi", captured="2024-01-01T00:00:00Z")
    for line in (3, 1, 2):
        facts.add(Row(table, {"host": f"h{line}"}, block, line))
    facts.add_frame(
        Frame(table, {"host": np.array(["a", "b"], dtype=object)}, np.array([8, 7]), other)
    )
    found = back(archive, facts)
    query = f'SELECT * EXCLUDE (taken) FROM "{table.name}" ORDER BY _row'
    assert ask(found, [table.name], query) == ask(facts, [table.name], query)
    assert [found.value(table.name, number, "host") for number in range(5)] == [
        "h3",
        "h1",
        "h2",
        "a",
        "b",
    ]


def test_what_a_search_found_comes_back_whole(archive: Archive) -> None:
    """Counts, caps, stops, ends, holes and hits with their neighbours and groups are those that were stored."""
    # no other log's lines stand in that one
    mine = next(one for one in kit.catalog().signatures() if one.table == "esxi.fdm")
    scan = LogScan(
        mine.table, "a!\udcff", "", lines=10, bytes=1 << 40, cut="ends early"
    ).assign_node("host")
    asked = [[mine.id, mine.table, mine.pattern, mine.ignore_case]]
    scan.first, scan.last, scan.first_stamped, scan.last_stamped = (
        b"\xff\0first",
        b"last",
        b"2024\xfe",
        b"end",
    )
    scan.nul_gaps, scan.nul_bytes, scan.long_lines, scan.long_at = (
        [NulGap(3, 4096)],
        4096,
        2,
        [7, 8],
    )
    scan.counts = {mine.id: 12}
    scan.capped, scan.at_least = {mine.id}, {mine.id}
    scan.stopped = {mine.id: SearchStop(5, 2, 1, True)}
    near = {"before": ["b\udc80", ""], "after": ["x"]}
    scan.hits = [
        Hit(mine.id, "a!\udcff", 4, "text \udcfe\0", search={"dev": None, "x": "\udcff"}, **near)
    ]
    scan.last_hits = {mine.id: Hit(mine.id, "b", 9, "last")}
    facts = Facts()
    facts.node("host", "h", "esxi")
    facts.add_hits(scan)
    (found,) = back(archive, facts, asked).scans
    for name in ("node", *LogScan.__slots__):
        if name not in ("scope", "hits", "last_hits", "unsearched"):
            assert getattr(found, name) == getattr(scan, name), name
    for one, two in zip(
        [*scan.hits, *scan.last_hits.values()],
        [*found.hits, *found.last_hits.values()],
        strict=True,
    ):
        assert repr(one) == repr(two)
        assert (one.before, one.after, one.groups) == (two.before, two.after, two.groups)
    assert facts.coverage("host", scan.table) == back(archive, facts, asked).coverage(
        "host", scan.table
    )


def test_many_rows_are_written_in_parts(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of more rows than go in at once comes back in its order."""
    monkeypatch.setattr(encode, "CHUNK", 7)
    table = parsing.tables()["esxi.version"]
    facts = Facts()
    facts.node("host", "h", "esxi")
    block = Block([], 1, "a").assign_node("host")
    facts.add_rows(
        table, [Row(table, {"version": f"6.{number}"}, block, number) for number in range(50)]
    )
    found = back(archive, facts).store(table.name).rows
    assert [row.values["version"] for row in found] == [f"6.{number}" for number in range(50)]


def test_versions_are_stored_with_the_key_they_compare_by(tmp_path: Path) -> None:
    """In a pack `6.5.0` sorts below `6.10` by its key column, as in the judge's database."""
    material = kit.sample("slow-storage")
    pack = encode.encode_case(material, kit.judged(material), kit.meta_of("x"))
    ((version, key),) = rows(pack, "esxi.version", tmp_path, f'version, "version{KEY}"')[:1]
    facts = material.facts
    assert ask(facts, ["esxi.version"], f'SELECT version, "version{KEY}" FROM "esxi.version"')[
        0
    ] == (version, key)
    assert TABLES["_nodes"]["version" + KEY] == "VARCHAR"


@given(
    st.recursive(
        st.none() | st.integers() | TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    )
)
@quick
def test_json_of_any_text_is_exact_and_can_be_written(value: Any) -> None:
    """Lone surrogates, pairs of them and NULs survive, and the text is UTF-8 at any time."""
    text = dump_lossless(value)
    assert text.encode()
    assert load_lossless(text) == value
