"""List and show: the cases of an archive one line each, and one of them as its report."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.archive.query import browse
from analyzer.archive.store import Archive
from tests.kit.ask_kit import FORMS, Host, id_of, in_form, put, run


@pytest.fixture(scope="module", params=FORMS)
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small archive, once as loose packs and once compacted."""
    return in_form(request.param, tmp_path_factory.mktemp(request.param) / "archive")


def names(archive: Path, *words: str) -> list[str]:
    """Return the names of the listed cases, in order."""
    done = run("list", "--archive", archive, "--csv", *words)
    assert done.exit_code == 0, done.output
    return [row["name"] for row in csv.DictReader(io.StringIO(done.stdout))]


def test_each_case_has_a_line(archive: Path) -> None:
    """Name, short id, state, time, machines, worst finding, counts and what cannot be told; refused ones with the reason."""
    lines = run("list", "--archive", archive).stdout.splitlines()
    assert len(lines) == 7 and lines[0].split()[:4] == ["case", "id", "state", "created"]
    cut = next(line for line in lines if line.startswith("bert-1"))
    assert id_of("bert-1")[:12] in cut and "partial" in cut and "2024-01-05 08:00" in cut
    assert "VMware ESXi 6.5.0" in cut and "warning" in cut and "1 warning" in cut
    assert "nothing could be read" in next(line for line in lines if line.startswith("bert-3"))


def test_json_and_csv_hold_the_whole(archive: Path) -> None:
    """The whole id, each count in a column of its own, machines as a list."""
    done = run("list", "--archive", archive, "--name", "bert-1", "--json")
    record = json.loads(done.stdout)
    assert record["id"] == id_of("bert-1") and record["warning"] == 1 and record["critical"] == 0
    assert (
        record["machines"] == ["VMware ESXi 6.5.0"] and record["created"] == "2024-01-05T08:00:00Z"
    )


def test_the_worst_machine_of_a_case_is_named(tmp_path: Path) -> None:
    """In a list a case of several machines has the worst by name; CSV and JSON have it and the number of machines always."""
    archive = Archive.open(tmp_path / "a", create=True)
    put(
        archive, "site", [Host("host-a", teams=3), Host("host-b", teams=2), Host("host-c", teams=2)]
    )
    put(archive, "one", [Host("host-d", teams=2)])
    lines = run("list", "--archive", tmp_path / "a", "--sort", "worst").stdout.splitlines()
    told = {line.split()[0]: line for line in lines[1:]}
    assert " warning on host-b " in told["site"]
    assert " warning " in told["one"] and "host-d" not in told["one"]
    done = run("list", "--archive", tmp_path / "a", "--json").stdout.splitlines()
    found = {one["name"]: (one["nodes"], one["worst_host"]) for one in map(json.loads, done)}
    assert found == {"site": (3, "host-b"), "one": (1, "host-d")}
    rows = csv.DictReader(
        io.StringIO(run("search", "--archive", tmp_path / "a", "--by", "host", "--csv").stdout)
    )
    worst = [row["worst"] for row in rows]
    assert (
        worst == sorted(worst, key=["critical", "major", "warning", "info"].index)
        and len(worst) > 1
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ["acme-2", "acme-1", "acme-3", "bert-2", "bert-1", "bert-3"]),
        (("--sort", "name"), ["acme-1", "acme-2", "acme-3", "bert-1", "bert-2", "bert-3"]),
        (("--sort", "worst", "--limit", "1"), ["bert-1"]),
        (("--rule", "beacon-probing"), ["bert-1"]),
        (("--rule", "beacon-probing", "--severity", "major"), []),
        (("--severity", "info"), ["bert-1"]),
        (("--state", "refused"), ["bert-3"]),
        (("--name", "ACME-*"), ["acme-2", "acme-1", "acme-3"]),
        (("--name", "acme-[12]"), ["acme-2", "acme-1"]),
        (("--since", "2026"), ["acme-2", "acme-1"]),
        (("--until", "2025"), ["acme-3", "bert-2", "bert-1"]),
        (("--since", "2024-01-06", "--until", "2024-01-06"), ["bert-2"]),
        (("--name", "x' OR 1=1 --"), []),
    ],
)
def test_filters_and_orders(archive: Path, words: tuple[str, ...], expected: list[str]) -> None:
    """Each filter leaves exactly its cases; newest first unless another order is asked for."""
    assert names(archive, *words) == expected


def test_a_cut_list_says_so(archive: Path) -> None:
    """--limit tells on stderr that there are more."""
    done = run("list", "--archive", archive, "--limit", "2")
    assert len(done.stdout.splitlines()) == 3 and "only the first 2 cases are shown" in done.stderr
    assert run("list", "--archive", archive, "--limit", "6").stderr == ""


def test_names_cannot_steer_terminal_or_spreadsheet(tmp_path: Path) -> None:
    """A case named like a formula or with control characters is shown harmless in every form."""
    archive = Archive.open(tmp_path / "a", create=True)
    put(archive, "=cmd|' /C calc'!A0", [Host("h")])
    put(archive, "x\x1b[2J\u202ey\nz", [Host("h")])
    for form in ((), ("--csv",), ("--json",)):
        done = run("list", "--archive", tmp_path / "a", *form)
        assert "\x1b" not in done.output and "\u202e" not in done.output
    rows = list(csv.reader(io.StringIO(run("list", "--archive", tmp_path / "a", "--csv").stdout)))
    assert {row[0][:5] for row in rows[1:]} == {"'=cmd", "x\\x1b"}


def test_a_case_is_shown_as_its_report(archive: Path) -> None:
    """By name or start of the id: the report as the terminal, Markdown, HTML, and the exact bytes of case.json."""
    text = run("show", "bert-1", "--archive", archive).stdout
    assert "Beacon probing" in text and "beacon-probing" in text
    assert run("show", id_of("bert-1")[:8], "--archive", archive).stdout == text
    opened = Archive.open(archive)
    exact = opened.document_text(opened.take_snapshot().find_case("bert-1"))
    assert run("show", "bert-1", "--archive", archive, "--format", "json").stdout == exact
    assert run("show", "bert-1", "--archive", archive, "--format", "md").stdout.startswith("# ")
    assert "<html" in run("show", "bert-1", "--archive", archive, "--format", "html").stdout
    assert run("show", "bert-1", "--archive", archive, "--format", "mail").stdout.startswith(
        "Subject: bert-1: "
    )
    assert "beacon-probing" in run("show", "bert-1", "--archive", archive, "--format", "csv").stdout


def test_a_case_that_is_not_there_is_told(archive: Path) -> None:
    """No such case, an empty name, and a refused one: each says what to do."""
    for words, said, code in (
        (("nobody",), 'there is no case "nobody"', 2),
        (("",), "no case is named", 2),
        (("bert-3",), "nothing could be read", 3),
    ):
        done = run("show", *words, "--archive", archive)
        assert done.exit_code == code and said in done.stderr and done.stdout == ""


def test_the_origin_of_a_case_is_told(archive: Path) -> None:
    """--source names the source, when it was stored, where it lies; a refused case has its reason."""
    lines = run("show", "acme-1", "--archive", archive, "--source").stdout.splitlines()
    assert lines[0].split() == ["case", "acme-1"] and lines[2].split() == [
        "source",
        "/cases/acme-1",
    ]
    assert any(line.startswith("stored in  ") for line in lines) and lines[-1].endswith(
        "read and judged <- this"
    )
    assert (
        "refused (nothing could be read)"
        in run("show", "bert-3", "--archive", archive, "--source").stdout
    )


def test_revisions_of_a_source_are_told(tmp_path: Path) -> None:
    """A source that was read again has both revisions; the older one is found by its id and says it is superseded."""
    archive = Archive.open(tmp_path / "a", create=True)
    put(archive, "acme", [Host("h", "6.5.0")])
    put(archive, "acme", [Host("h", "6.7.0")], content="another")
    assert names(tmp_path / "a") == ["acme"]
    lines = run("show", "acme", "--archive", tmp_path / "a", "--source").stdout.splitlines()
    assert lines[1].split() == ["id", id_of("acme", "another")] and "revisions  2" in lines
    assert not any("superseded" in line for line in lines)
    old = run("show", id_of("acme"), "--archive", tmp_path / "a", "--source").stdout
    assert "superseded" in old and old.count("<- this") == 1
    assert "6.5.0" in run("show", id_of("acme"), "--archive", tmp_path / "a").stdout


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    """A folder that is none, and one that is not there, are told by every command that asks an archive."""
    for words in (("list",), ("show", "x"), ("search", "nodes"), ("sql", "SELECT 1"), ("label", "x", "y", "--confirm"),
                  ("export", "x", "-o", str(tmp_path / "o"))):  # fmt: skip
        done = run(*words, "--archive", tmp_path)
        assert done.exit_code == 3 and "this is not a case archive" in done.stderr, words
        assert run(*words, "--archive", tmp_path / "none").exit_code == 3
    assert list(tmp_path.iterdir()) == []


def test_an_empty_archive_has_no_cases(tmp_path: Path) -> None:
    """Every question to an archive without a case has an answer without a row."""
    Archive.open(tmp_path / "a", create=True)
    assert names(tmp_path / "a") == []
    assert (
        "no machine in these cases"
        in run("search", "--archive", tmp_path / "a", "nodes: complete").stdout
    )
    assert (
        run(
            "sql", "--archive", tmp_path / "a", "SELECT count(*) AS n FROM esxi.vnic", "--csv"
        ).stdout
        == "n\n0\n"
    )
    assert run("search", "--archive", tmp_path / "a", "--by", "month", "--csv").exit_code == 0
    assert run("search", "--archive", tmp_path / "a", "--text", "x", "--csv").exit_code == 0


def test_cases_that_were_only_judged_again_are_asked(tmp_path: Path) -> None:
    """When a newer object holds the judgement only, facts come from the older one and findings from the newer."""
    import io as stream
    import zipfile

    archive = Archive.open(tmp_path / "a", create=True)
    entry = put(archive, "acme", [Host("h", nics=[("vmnic0", "ixgben", "1.7.1", 3)], teams=2)])
    with zipfile.ZipFile(stream.BytesIO(archive.objects.get(entry.holder))) as pack:
        members = {name: pack.read(name) for name in ("meta.json", "case.json")}
        lines = pack.read("tables.jsonl").splitlines(keepends=True)
    members["tables.jsonl"] = b"".join(
        line for line in lines if json.loads(line)[0] in ("_case", "_verdicts")
    )
    out = stream.BytesIO()
    with zipfile.ZipFile(out, "w") as pack:
        for name, data in members.items():
            pack.writestr(name, data)
    again = browse.Entry(entry.id, entry.source, entry.reading, "c" * 12, entry.stamp + 5, "case")
    archive.put_pack(again, out.getvalue())
    sql = "SELECT (SELECT count(*) FROM findings), (SELECT count(*) FROM esxi.pnic_info), (SELECT count(*) FROM cases)"
    done = run("sql", "--archive", tmp_path / "a", sql, "--csv")
    assert done.stdout.splitlines()[1] == "0,1,1"


@given(st.datetimes(datetime(1970, 1, 2), datetime(9990, 1, 1)))
def test_a_day_is_a_window_around_its_moments(moment: datetime) -> None:
    """Every moment lies in the window of its own day, month and year, and not in that of the year before."""
    for form in ("%Y-%m-%d", "%Y-%m", "%Y"):
        text = moment.strftime(form).rjust(len(moment.strftime(form)), "0")
        if moment.year < 1000:
            continue
        found = browse.parse_window(text, text)
        assert found.since <= moment.strftime("%Y-%m-%d %H:%M:%S") < found.until


def test_a_case_not_read_whole_is_no_case_without_a_finding() -> None:
    """The list says of a partial case without a finding that nothing was found in what could be read."""
    row = ["name", "0" * 64, "partial", None, [], "", *[0] * len(browse.COUNTED), 0, 0, ""]

    assert "nothing found in what could be read" in browse.shorten_row(row)
    assert "nothing found" in browse.shorten_row([*row[:2], "ok", *row[3:]])
