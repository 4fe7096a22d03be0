"""Small tables of a stored case are lines of JSON in its pack: they answer as Parquet does, and damage is named."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from duckdb import DuckDBPyConnection

from analyzer.archive.entry import Stored
from analyzer.archive.object_store.object_store import HEAD
from analyzer.archive.packs import encode, smalltables
from analyzer.archive.packs.columns import is_known
from analyzer.archive.restore.relations import relation_sql
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.archive.upkeep.verification import verify_archive
from analyzer.cli import main
from analyzer.facts import database
from tests.kit import archive_kit as kit
from tests.kit.store_kit import real, store, zipped

EARLIER = Path(__file__).parents[1] / "earlier" / "archive"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Return an empty archive."""
    return Archive.open(tmp_path / "archive", create=True)


def names_of(pack: bytes) -> set[str]:
    """Return the names of all tables of a pack."""
    with zipfile.ZipFile(io.BytesIO(pack)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    lines = members.get("tables.jsonl", b"").decode().splitlines()
    return {name[7:-8] for name in members if name.startswith("tables/")} | {
        json.loads(line)[0] for line in lines
    }


def asked(
    archive: Archive, cases: list[Stored], table: str, con: DuckDBPyConnection | None = None
) -> list[tuple[Any, ...]]:
    """Return all rows of a table of some cases, with the number of the case first."""
    con = con or database.connect()
    return con.execute(
        f"SELECT * FROM ({relation_sql(archive, cases, con, table)}) ORDER BY ALL"
    ).fetchall()


@cache
def packed_as(form: str, name: str) -> bytes:
    """Return the pack of a sample case, its small tables as lines of JSON or as Parquet."""
    material = kit.sample(name)
    with patch.object(smalltables, "ROWS", smalltables.ROWS if form == "small" else 0):
        return encode.encode_case(material, kit.judged(material), kit.meta_of(f"{name}-{form}"))


@pytest.mark.size
@pytest.mark.parametrize("segment", [False, True], ids=["packs", "segment"])
def test_small_tables_answer_as_large_ones(archive: Archive, segment: bool) -> None:
    """Every table of every sample case has the same rows and types out of JSON, out of Parquet, and compacted."""
    cases: dict[str, list[Stored]] = {"small": [], "large": []}
    tables: set[str] = set()
    for stamp, name in enumerate(kit.SAMPLES):
        for form, some in cases.items():
            pack = packed_as(form, name)
            some.append(kit.stored(archive, f"{name}-{form}", pack, stamp=2 * stamp + len(form)))
            tables |= names_of(pack)
    if segment:
        assert compact_archive(archive).cases == 2 * len(kit.SAMPLES)
        found = {case.id: case for case in archive.take_snapshot().list_every_case()}
        cases = {form: [found[case.id] for case in some] for form, some in cases.items()}
        assert verify_archive(archive).problems == []

    own = {"_case": {"name", "source"}}  # the two forms are stored as two cases
    assert len(tables) > 30
    con = database.connect()
    for table in sorted(tables):
        small, large = (asked(archive, cases[form], table, con) for form in ("small", "large"))
        if table in own:
            small, large = ([row[:1] + row[3:] for row in rows] for rows in (small, large))
        assert small == large and small, table


@pytest.mark.process
def test_a_small_case_is_read_without_a_database(tmp_path: Path) -> None:
    """Packing a small case, samples of esxtop among it, imports no database."""
    program = (
        "import sys, tests.kit.archive_kit as kit\n"
        "from analyzer.archive.packs import encode\n"
        "material = kit.sample('cpu-limited-vm')\n"
        "pack = encode.encode_case(material, kit.judged(material), kit.meta_of('x'))\n"
        "assert material.facts.store('esxtop.vm_cpu').frames, 'samples are in it'\n"
        "assert b'tables.jsonl' in pack and b'.parquet' not in pack\n"
        "assert 'duckdb' not in sys.modules, 'the database was imported'\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert done.returncode == 0, done.stderr


def test_a_table_of_many_rows_or_long_text_is_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond the bounds of a small table is left to Parquet, which a question can pass over."""
    schema = {"a": "VARCHAR", "b": "BIGINT"}
    assert (
        smalltables.table_line("t", schema, {"a": ["x"], "b": [1]})
        == '["t",1,{"a":["VARCHAR",["x"]],"b":["BIGINT",[1]]}]'
    )
    assert (
        smalltables.table_line("t", schema, {"b": [None] * 2})
        == '["t",2,{"a":["VARCHAR"],"b":["BIGINT"]}]'
    )
    assert smalltables.table_line("t", schema, {"b": [1] * (smalltables.ROWS + 1)}) is None
    assert smalltables.table_line("t", schema, {"a": ["x" * smalltables.LONGEST]}) is None


def lines(change: dict[str, Any] | None = None, *more: str) -> bytes:
    """Return the small tables of a real pack, one of them changed, with further lines."""
    out = []
    for text in real(small=True)["tables.jsonl"].decode().splitlines():
        name = json.loads(text)[0]
        out.append(json.dumps(change[name]) if change and name in change else text)
    return "".join(line + "\n" for line in [*out, *more]).encode()


def verdicts(**columns: Any) -> list[Any]:
    """Return the table `_verdicts` of a real pack with some columns changed, or left out where None."""
    for text in real(small=True)["tables.jsonl"].decode().splitlines():
        name, rows, own = json.loads(text)
        if name == "_verdicts":
            return [
                name,
                rows,
                {key: value for key, value in (own | columns).items() if value is not None},
            ]
    raise AssertionError


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"nonsense\n", "has a line that is not a table"),
        (b"[1]\n", "has a line that is not a table"),
        (b'["a",1,[]]\n', "has a line that is not a table"),
        (b"[" * 100_000, "has a line that is not a table"),
        (b'["_verdicts",99999999999999,{"_row":["INTEGER"]}]\n', "has a line that is not a table"),
        (
            b'["_verdicts",1,{"rule":["INTEGER); DROP TABLE x; --"]}]\n',
            "has a line that is not a table",
        ),
        (lines({"_verdicts": verdicts(rule=["VARCHAR", ["a"]])}), "its column rule is not "),
        (
            lines({"_verdicts": verdicts(match=["BIGINT", [True] * verdicts()[1]])}),
            "its column match is not ",
        ),
        (lines({"_verdicts": verdicts(match=["BIGINT", "text"])}), "its column match is not "),
        (lines({"_verdicts": verdicts(match=None)}), "table _verdicts: it lacks the column match"),
        (
            lines({"_verdicts": verdicts(match=["VARCHAR"])}),
            "its column match is VARCHAR instead of BIGINT",
        ),
        (lines(None, json.dumps(verdicts())), "table _verdicts is in it twice"),
        (lines(None, '["../x",1,{"a":["VARCHAR",["b"]]}]'), "../x is not part of a stored case"),
    ],
)
def test_lines_that_are_no_tables_are_named(archive: Archive, data: bytes, what: str) -> None:
    """A pack that is whole and sealed and holds other lines is one plain problem, and the others are read."""
    store(archive, "good", small=True)
    name = store(archive, "odd", small=True, change={"tables.jsonl": data}).holder

    problems = verify_archive(archive).problems

    assert {problem.object for problem in problems} == {name}
    assert any(what in problem.what for problem in problems), problems
    done = CliRunner().invoke(
        main, ["archive", "sql", "SELECT count(*) FROM verdicts", "--archive", archive.objects.url]
    )
    assert done.exit_code in (0, 5) and "internal" not in done.output
    compacted = compact_archive(archive)
    assert compacted.cases in (1, 2)


def test_facts_in_a_pack_of_a_judgement_are_named(archive: Archive) -> None:
    """A pack of kind "case" with small tables of facts is not what a run writes."""
    store(archive, "odd", stamp=1)
    data = {"tables.jsonl": lines()}
    name = store(archive, "odd", kind="case", stamp=50, change=data).holder
    assert {problem.object for problem in verify_archive(archive).problems} == {name}


def test_a_pack_of_another_version_fits_where_it_can(archive: Archive) -> None:
    """Rows of a pack with a column too few, one too many and one of another type come out under today's columns."""
    told = verdicts(
        match=["VARCHAR", [*map(str, range(verdicts()[1]))]], error=None, new=["VARCHAR"]
    )
    store(archive, "other", small=True, change={"tables.jsonl": lines({"_verdicts": told})})
    con = database.connect()
    (case,) = archive.take_snapshot().list_visible_cases()
    found = con.execute(
        f"SELECT match, error FROM ({relation_sql(archive, [case], con, '_verdicts')}) ORDER BY _row"
    )
    assert found.fetchall() == [(number, None) for number in range(told[1])]


@pytest.mark.size
def test_packs_with_and_without_small_tables_become_one_segment(archive: Archive) -> None:
    """Loose cases of both formats are compacted together, with the rows of each under its number."""
    for number in range(6):
        store(archive, f"case-{number}", stamp=number, small=bool(number % 2))
    loose = {
        case.id: asked(archive, [case], "esxi.pnic_stats")
        for case in archive.take_snapshot().list_visible_cases()
    }
    assert len({json.dumps(rows, default=str) for rows in loose.values()}) == 1 and all(
        loose.values()
    )

    assert compact_archive(archive).segments == 1

    assert verify_archive(archive).problems == []
    assert {
        case.id: asked(archive, [case], "esxi.pnic_stats")
        for case in archive.take_snapshot().list_visible_cases()
    } == loose


def test_an_archive_of_the_first_format_is_marked_before_a_case_is_added(tmp_path: Path) -> None:
    """An older version, which knows no small tables, must refuse the archive as soon as there is one in it."""
    copy = tmp_path / "archive"
    shutil.copytree(EARLIER, copy)
    sample = Path(__file__).parents[2] / "samples" / "cases" / "healthy-host"

    CliRunner().invoke(main, ["archive", "list", "--archive", str(copy)])
    assert json.loads((copy / HEAD).read_text(encoding="utf-8")) == {"format": "backline/archive-1"}
    done = CliRunner().invoke(main, ["batch", str(sample), "--archive", str(copy), "--jobs", "1"])
    assert done.exit_code in (0, 5), done.output

    assert json.loads((copy / HEAD).read_text(encoding="utf-8")) == {"format": "backline/archive-2"}
    assert "4 cases" in (
        told := CliRunner().invoke(main, ["archive", "verify", "--archive", str(copy)]).output
    ), told
    assert "no problem" in told


def test_tables_of_the_tool_are_known(archive: Archive) -> None:
    """No pack of a sample holds a table that this version does not declare."""
    pack, _ = kit.packed("slow-storage")
    assert all(map(is_known, names_of(pack)))
    assert zipped(real(small=True))
