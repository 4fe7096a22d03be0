"""Export: stored cases as plain files, inside the named folder and nowhere else."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.archive.query.export import folder_name
from analyzer.archive.store import Archive
from tests.kit.ask_kit import FORMS, Host, id_of, in_form, put, run


@pytest.fixture(scope="module", params=FORMS)
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small archive, once as loose packs and once compacted."""
    return in_form(request.param, tmp_path_factory.mktemp(request.param) / "archive")


def test_a_case_becomes_a_folder(archive: Path, tmp_path: Path) -> None:
    """case.json with its exact bytes, the HTML page and the Markdown, under a name made of the case's name and id."""
    done = run("export", "acme-1", "--archive", archive, "-o", tmp_path / "out")
    folder = tmp_path / "out" / f"acme-1-{id_of('acme-1')[:12]}"
    assert done.exit_code == 0 and done.stdout.strip() == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "case.json",
        "report.html",
        "report.md",
    ]
    opened = Archive.open(archive)
    assert (folder / "case.json").read_text(encoding="utf-8") == opened.document_text(
        opened.take_snapshot().find_case("acme-1")
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_facts_are_one_csv_a_table(archive: Path, tmp_path: Path) -> None:
    """Every table that has rows of the cases is a file with the columns of SQL; cells are safe for a spreadsheet."""
    run(
        "export",
        "acme-1",
        "acme-2",
        "acme-1",
        "--archive",
        archive,
        "-o",
        tmp_path,
        "--facts",
        "csv",
    )
    found = sorted(path.name for path in (tmp_path / "facts").iterdir())
    assert found == [
        "cases.csv", "esxi.pnic_info.csv", "esxi.pnic_stats.csv", "hits.csv", "nodes.csv", "signals.csv",
        "unknowns.csv", "verdicts.csv",
    ]  # fmt: skip
    with (tmp_path / "facts" / "esxi.pnic_info.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted((row["node"], row["pnic"], row["driver_version"]) for row in rows) == [
        ("host-a", "vmnic0", "1.7.1"), ("host-a", "vmnic1", "1.7.1"), ("host-b", "vmnic0", "1.8.0"), ("host-b", "vmnic1", "1.7.1"),
    ]  # fmt: skip
    assert {row["case_id"] for row in rows} == {id_of("acme-1"), id_of("acme-2")}


def test_facts_are_plain_parquet(archive: Path, tmp_path: Path) -> None:
    """Any reader of Parquet opens the tables; times are times and numbers are numbers."""
    import duckdb

    run(
        "export",
        "--all",
        "--name",
        "acme-*",
        "--archive",
        archive,
        "-o",
        tmp_path,
        "--facts",
        "parquet",
    )
    with duckdb.connect() as con:
        table = str(tmp_path / "facts" / "esxi.pnic_stats.parquet")
        assert con.execute(
            "SELECT sum(rx_missed_errors), count(DISTINCT case_id) FROM read_parquet(?)", [table]
        ).fetchone() == (9203, 3)
        kinds = dict(
            con.execute(
                "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet(?))",
                [table],
            ).fetchall()
        )
    assert (kinds["taken"], kinds["rx_missed_errors"], kinds["line"]) == (
        "TIMESTAMP",
        "BIGINT",
        "BIGINT",
    )
    assert not any(name.startswith("_") for name in kinds)


def test_all_takes_the_filters_of_the_list(archive: Path, tmp_path: Path) -> None:
    """--all with filters exports those cases; a refused one is told and is no failure."""
    done = run(
        "export", "--all", "--rule", "beacon-probing", "--archive", archive, "-o", tmp_path / "one"
    )
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 1 and "bert-1" in done.stdout
    done = run("export", "--all", "--archive", archive, "-o", tmp_path / "all")
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 5
    assert f"{id_of('bert-3')[:12]} has no report: nothing could be read" in done.stderr
    assert run("export", "bert-3", "--archive", archive, "-o", tmp_path / "none").exit_code == 5


def test_what_does_not_go_together_is_refused(archive: Path, tmp_path: Path) -> None:
    """Neither or both of names and --all, and filters with names."""
    for words in ((), ("acme-1", "--all"), ("acme-1", "--since", "2026")):
        done = run("export", *words, "--archive", archive, "-o", tmp_path / "out")
        assert done.exit_code == 2 and "say which cases" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../../evil",
        "/etc/passwd",
        "..",
        ".",
        "a/b\\c",
        "x\x00y",
        "CON",
        "-rf",
        "ü" * 300,
        "\u202eabc",
        "\n",
    ],
)
def test_hostile_names_stay_inside(tmp_path: Path, name: str) -> None:
    """A case of whatever name gets one folder directly below the named one."""
    archive = Archive.open(tmp_path / "a", create=True)
    entry = put(archive, name, [Host("h")])
    done = run("export", entry.id, "--archive", tmp_path / "a", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    below = list((tmp_path / "out").iterdir())
    assert len(below) == 1 and below[0].is_dir() and (below[0] / "case.json").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "out"]


@given(st.text(st.characters(), max_size=200))
def test_folder_names_are_safe(name: str) -> None:
    """Letters, digits, dots, dashes and underscores; no leading dot or dash; never longer than a hundred signs."""
    made = folder_name(name, "0123456789abcdef" * 2)
    assert made.endswith("-0123456789ab") and made[0] not in ".-" and len(made) <= 93
    assert made.isascii() and not set(made) & set('/\\:*?"<>| \n')


def test_a_link_in_the_folder_is_not_followed(archive: Path, tmp_path: Path) -> None:
    """Where a folder of the export is a link to elsewhere nothing is written there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f"acme-1-{id_of('acme-1')[:12]}").symlink_to(elsewhere)
    done = run("export", "acme-1", "--archive", archive, "-o", tmp_path / "out")
    assert done.exit_code == 6 and "it is a link or a file" in done.stderr
    (tmp_path / "out2").mkdir()
    (tmp_path / "out2" / "facts").symlink_to(elsewhere)
    assert (
        run(
            "export", "acme-1", "--archive", archive, "-o", tmp_path / "out2", "--facts", "csv"
        ).exit_code
        == 6
    )
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a device that is always full is a thing of Linux")
def test_a_folder_that_cannot_be_written_is_told(archive: Path, tmp_path: Path) -> None:
    """A file in the place of the folder is told before any work."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    done = run("export", "acme-1", "--archive", archive, "-o", tmp_path / "file")
    assert done.exit_code == 6 and "cannot write results here" in done.stderr
    assert (tmp_path / "file").read_text(encoding="utf-8") == "x"
