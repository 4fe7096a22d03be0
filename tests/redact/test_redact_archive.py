"""Stored cases handed out: export, show and the summary of a batch, redacted with one map."""

from __future__ import annotations

import csv
import json
import shutil
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from analyzer.archive.query import export, redacting
from analyzer.archive.store import Archive
from analyzer.cli import main
from analyzer.redact.redaction import Redaction
from tests.kit.redaction_check import left

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path for path in (ROOT / "samples" / "cases").iterdir() if path.is_dir())
# What the makers of the samples (tools/case_*.py) call hosts, VMs, networks, devices.
NAMES = [
    "esx0", "esx71", "lab.example", "iperf-test1", "iperf-test2", "lin-erp02", "lun-prod-07", "00:25:90:aa:10:01",
    "59e1f0aa-1b2c3d4e-0007-002590aa7001", "naa.600508b1001c0000000000000000a107", "esx21", "esx31", "esx41", "esx51", "esx61",
    "lin-app07", "win-file01", "nsxmgr01",
]  # fmt: skip


def run(*words: object) -> Any:
    """Run the command in this process."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Every sample case and one that is refused, stored and exported plain and redacted; the folder, and what the batch said."""
    base = tmp_path_factory.mktemp("archive")
    for case in CASES:
        shutil.copytree(case, base / "in" / case.name)
    (base / "in" / "acmecorp-outage").mkdir()
    (base / "in" / "acmecorp-outage" / "esx.tgz").write_bytes(b"\0\1no archive\xff")
    said = run(
        "batch",
        base / "in",
        "--archive",
        base / "archive",
        "--jobs",
        1,
        "--json",
        "-",
        "--redact",
        "--redact-map",
        base / "names",
    )
    stored = ("--archive", base / "archive", "--all")
    assert run("archive", "export", *stored, "-o", base / "plain", "--facts", "csv").exit_code == 0
    some = ("slow-storage", "--archive", base / "archive")
    for form, which in (("csv", stored), ("parquet", some)):
        done = run(
            "archive",
            "export",
            *which,
            "-o",
            base / form,
            "--facts",
            form,
            "--redact",
            "--redact-map",
            base / "names",
        )
        assert done.exit_code == 0, done.output
    return base, said


@pytest.mark.size
def test_an_export_holds_no_name(exported: tuple[Path, Any]) -> None:
    """Reports, tables as CSV and the names of folders and files of an export tell none of the names."""
    base, _ = exported
    assert len(
        {line.split(": ")[1].partition(" as ")[0] for line in left(base / "plain", NAMES)}
    ) == len(NAMES)
    assert left(base / "csv", NAMES) == []
    assert not list((base / "csv").rglob("names*"))


def test_parquet_holds_what_csv_holds(exported: tuple[Path, Any], tmp_path: Path) -> None:
    """The tables as Parquet, read back, hold none of the names either."""
    base, _ = exported
    for path in sorted((base / "parquet" / "facts").glob("*.parquet")):
        rows = duckdb.sql(f"SELECT * FROM '{path}'").fetchall()
        (tmp_path / path.name).write_text("\n".join(map(repr, rows)), encoding="utf-8")
    assert len(list(tmp_path.iterdir())) > 10
    assert left(tmp_path, NAMES) == []


def test_rows_and_numbers_of_tables_stay(exported: tuple[Path, Any]) -> None:
    """Each table has as many rows as the plain one, with the same numbers in the columns that hold numbers."""
    base, _ = exported
    for path in sorted((base / "plain" / "facts").glob("*.csv")):
        with (
            path.open(encoding="utf-8", newline="") as one,
            (base / "csv" / "facts" / path.name).open(encoding="utf-8", newline="") as other,
        ):
            before, after = list(csv.reader(one)), list(csv.reader(other))
        assert len(before) == len(after) and before[0] == after[0], path.name
        for place in range(len(before[0])):
            cells = sorted(row[place] for row in before[1:])
            if cells and all(cell.replace(".", "", 1).lstrip("-").isdecimal() for cell in cells):
                assert cells == sorted(row[place] for row in after[1:]), (
                    path.name,
                    before[0][place],
                )


@pytest.mark.size
def test_a_stored_case_is_shown_redacted(exported: tuple[Path, Any], tmp_path: Path) -> None:
    """`archive show --redact` knows the names of the stored facts; where a case comes from is not told."""
    base, _ = exported
    for form in ("text", "json", "md"):
        done = run(
            "archive",
            "show",
            "slow-storage",
            "--archive",
            base / "archive",
            "--format",
            form,
            "--redact",
            "--redact-map",
            base / "names",
        )
        assert done.exit_code == 0, done.output
        (tmp_path / form).write_text(done.output, encoding="utf-8")
    assert left(tmp_path, NAMES) == []
    told = run(
        "archive",
        "show",
        "slow-storage",
        "--archive",
        base / "archive",
        "--source",
        "--redact",
        "--redact-map",
        base / "n",
    )
    assert told.exit_code == 2


def test_the_summary_of_a_batch_names_no_case(exported: tuple[Path, Any]) -> None:
    """A case that was refused is told of by its pseudonym; the numbers are there."""
    _, said = exported
    record = json.loads(said.stdout)
    assert (record["found"], record["refused"]) == (len(CASES) + 1, 1)
    assert "acmecorp" not in said.stdout
    assert [one["state"] for one in record["troubles"]].count("refused") == 1


@pytest.mark.size
def test_the_names_of_columns_are_those_of_rows(exported: tuple[Path, Any]) -> None:
    """What the columns of all cases give at once, each name once, is what their rows give one by one."""
    archive = Archive.open(exported[0] / "archive")
    cases = [
        case for case in archive.take_snapshot().list_visible_cases() if case.judged.kind != "none"
    ]
    rows, columns = Redaction(), Redaction()
    redacting.collect_facts(archive, cases, rows)
    with closing(export.Tables(archive, cases)) as tables:
        redacting.collect_tables(tables.database, tables.view_queries, columns)
    assert len(rows.identities.names) > 50
    assert set(columns.identities.names) == set(rows.identities.names)
    assert columns.identities.versions == rows.identities.versions - {"None"}


def test_a_number_is_a_name_where_its_column_says_so() -> None:
    """A VM called 4711203 is replaced in the column of VMs, and the same digits stay in one of texts."""
    db: Any = SimpleNamespace(con=duckdb.connect())
    db.fetch_rows = lambda query: db.con.execute(query).fetchall()
    redaction = Redaction()
    redaction.identities.take_cell("vm", "4711203")
    tables = redacting.RedactedTables(db, redaction)
    query = tables.redacted_query(
        "SELECT '4711203' AS vm_name, '4711203' AS bytes_text, 4711203 AS bytes", table="esxi.vm"
    )
    assert db.fetch_rows(query) == [("vm01anon", "4711203", 4711203)]
