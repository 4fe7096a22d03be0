"""`from analyzer import open_case`, its notebook, and the options of `backline tables`."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import nbformat
import pytest
from click.testing import CliRunner, Result
from msgspec import structs

import analyzer
from analyzer import OpenedCase, open_case
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.cli import main
from analyzer.runtime.errors import RefusedError, UsageError, WriteError
from tests.kit.archive_kit import put, sample

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
SITE = CASES / "nsx-633-site"


@pytest.fixture(scope="module")
def site() -> OpenedCase:
    """A site that was triaged in memory."""
    return open_case(SITE)


def run(*args: object) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, args)), catch_exceptions=False)


def test_the_package_stays_light() -> None:
    """`import analyzer` imports nothing of it but the guard of the current folder; an unknown name is refused."""
    code = "import analyzer, sys; print(sorted(m for m in sys.modules if m.startswith('analyzer.') or m in ('typing', 'pandas')))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['analyzer.runtime', 'analyzer.runtime.safepath']"
    with pytest.raises(AttributeError, match="no attribute 'open_cases'"):
        analyzer.open_cases  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.size
def test_a_case_in_memory_is_the_case_of_the_command(site: OpenedCase, tmp_path: Path) -> None:
    """The library finds what the command finds and writes the same report; paths may be text or Path, one or several."""
    run("triage", SITE, "-o", tmp_path, "--quiet", "--no-settings")
    assert site.document == case_file.read_case(tmp_path / "case.json")
    assert (
        site.report(str(tmp_path / "mine.html")).read_bytes()
        == (tmp_path / "report.html").read_bytes()
    )
    assert site.report(tmp_path / "mine.md").read_bytes() == (tmp_path / "report.md").read_bytes()
    assert [one.id for one in site.findings] == [one.id for one in site.document.findings]
    first = site.findings[0]
    assert first.evidence[0].line == site.document.findings[0].evidence[0].line > 0
    assert first.trace is not None and first.trace.text
    several = open_case(
        [str(CASES / "lab-ring-before" / "esx0.txt"), CASES / "lab-ring-before" / "README.md"]
    )
    assert several.findings[0].rule == "kb-2039495"


@pytest.mark.size
def test_a_saved_case_is_read_back(site: OpenedCase, tmp_path: Path) -> None:
    """A folder of results or its case.json gives the same findings; it has no tables and no logs, and says so."""
    run("triage", SITE, "-o", tmp_path, "--quiet", "--no-settings")
    for path in (tmp_path, str(tmp_path / "case.json")):
        saved = open_case(path)
        assert saved.findings == site.findings and not saved.paths
        with pytest.raises(UsageError, match="no tables"):
            saved.table("esxi.host")
        with pytest.raises(UsageError, match="no logs"):
            saved.log("2017-10-14T16:25:00Z")


def test_an_archived_case_has_its_tables(tmp_path: Path) -> None:
    """A case of an archive is read back with its tables; a log of it is refused with a reason."""
    put(
        Archive.open(tmp_path / "archive", create=True),
        "lab-ring-before",
        sample("lab-ring-before"),
    )
    stored = open_case(tmp_path / "archive", case="lab-ring-before")
    fresh = open_case(CASES / "lab-ring-before")
    assert stored.findings == fresh.findings and stored.findings
    one, other = (opened.table("esxi.vmxnet3_rx_summary") for opened in (stored, fresh))
    assert one[["ring1_full", "line"]].equals(other[["ring1_full", "line"]]) and list(
        one["ring1_full"]
    ) == [7086]
    with pytest.raises(UsageError, match="no whole logs"):
        stored.table("esxi.vmkernel")


@pytest.mark.size
def test_a_table_knows_where_its_rows_come_from(site: OpenedCase) -> None:
    """Rows carry machine, member and line, and the line of the member says what the row says."""
    ring = open_case(CASES / "lab-ring-before").table("esxi.vmxnet3_rx_summary")
    assert list(ring.columns[:3]) == ["node", "member", "line"]
    row = ring.iloc[0]
    lines = (CASES / "lab-ring-before" / row["member"]).read_text(encoding="utf-8").splitlines()
    block = "\n".join(lines[row.line - 1 : row.line + 40])
    assert "# of times the 1st ring is full:7086" in block and row["ring1_full"] == 7086
    assert site.tables["esxi.host"] == len(site.table("esxi.host"))
    assert {"member", "value_member"} <= set(site.table("site.member").columns)
    with pytest.raises(UsageError, match=r"Did you mean esxi\.host"):
        site.table("esxi.hosts")


@pytest.mark.size
def test_the_logs_around_a_moment(site: OpenedCase) -> None:
    """`log` gives what `backline log` prints, for a time as text or datetime and for a finding."""
    told = run(
        "log", SITE, "--around", "2017-10-14T16:25:00Z", "--for", "10m", "--format", "jsonl"
    ).stdout.splitlines()
    lines = list(site.log("2017-10-14T16:25:00Z"))
    assert len(lines) == len(told) > 10
    assert [line.text for line in lines] == [json.loads(line)["text"] for line in told]
    assert lines == list(site.log(datetime(2017, 10, 14, 16, 25, tzinfo=UTC)))
    assert lines == list(site.log(datetime(2017, 10, 14, 16, 25)))
    timed = next(one for one in site.findings if one.rule == "kb-2127655")
    around = list(site.log(timed, "4m"))
    assert any("nvpstatuscheck" in line.text.lower() for line in around)


def test_errors_are_those_of_the_command(tmp_path: Path, site: OpenedCase) -> None:
    """Nothing readable, an unknown ending, a folder in the way: each is its own exception with a sentence."""
    with pytest.raises(RefusedError):
        open_case(tmp_path / "none.tgz")
    with pytest.raises(RefusedError):
        open_case(tmp_path / "case.json")
    with pytest.raises(UsageError, match=r"\.html, \.md or \.json"):
        site.report(tmp_path / "report.pdf")
    (tmp_path / "taken.md").mkdir()
    with pytest.raises(WriteError):
        site.report(tmp_path / "taken.md")
    with pytest.raises(UsageError):
        open_case([])
    for wrong in (b"x.tgz", None, 7, [b"x.tgz"]):
        with pytest.raises(TypeError, match="a path is a str or a Path, not "):
            open_case(wrong)  # type: ignore[arg-type]


def test_paths_come_as_people_have_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator, a tuple of both types and `~` are paths; an archive without the name of a case says what to write."""
    monkeypatch.setenv("HOME", str(SITE))
    names = ["controller-1.txt", "controller-2.txt"]
    several = [
        open_case(SITE / name for name in names),
        open_case(("~/controller-1.txt", SITE / names[1])),
    ]
    assert (
        several[0].document.nodes == several[1].document.nodes
        and len(several[0].document.nodes) == 2
    )
    Archive.open(tmp_path / "archive", create=True)
    with pytest.raises(UsageError, match=r"case=\.\.\."):
        open_case(tmp_path / "archive")
    refused = run("triage", tmp_path / "archive", "-o", tmp_path / "out", "--no-settings")
    assert refused.exit_code == 3 and "backline archive list" in refused.stderr


def test_a_case_shows_its_findings_in_a_notebook(site: OpenedCase) -> None:
    """A row for each finding, with words of the case made harmless."""
    findings = site.document.findings
    assert site._repr_html_().count("<tr>") == 1 + len(findings)
    hostile = OpenedCase(
        structs.replace(
            site.document,
            findings=[structs.replace(findings[0], subject="<script>alert(1)</script>")],
        )
    )
    assert (
        "<script" not in hostile._repr_html_()
        and repr(hostile) == "<case 'nsx-633-site': 1 finding>"
    )


@pytest.mark.size
def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell of docs/notebooks/case.ipynb runs from the root of a checkout, in order, in this process."""
    monkeypatch.chdir(ROOT)
    book = nbformat.read(ROOT / "docs" / "notebooks" / "case.ipynb", as_version=4)
    nbformat.validate(book)
    names: dict[str, object] = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, "case.ipynb", "exec"), names)
    assert names["lines"] and names["hosts"].shape[0] > 0 and not book.cells[1].outputs  # type: ignore[attr-defined]


# --- backline tables: which rows ----------------------------------------------------------------


def rows(*words: object) -> list[dict[str, object]]:
    """Return the rows that `backline tables … --json` prints."""
    done = run("tables", *words, "--json")
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.size
def test_rows_are_chosen_by_machine_condition_and_time() -> None:
    """--node, --where, --around and --limit choose rows; all of them together; what is left out is counted."""
    every = rows(SITE, "esxi.vmkernel")
    one = rows(SITE, "esxi.vmkernel", "--node", "ESX41*")
    assert one == [row for row in every if row["node"] == "esx41.lab.example"] and 0 < len(
        one
    ) < len(every)
    odd = rows(SITE, "esxi.vmkernel", "--where", "line % 2 = 1 -- a remark")
    assert odd == [row for row in every if int(str(row["_line"])) % 2] and odd
    near = rows(SITE, "esxi.vmkernel", "--around", "2017-10-14T16:22:00Z", "--for", "60s")
    assert (
        near
        == [
            row
            for row in every
            if "2017-10-14 16:21:30" <= str(row["time"]) <= "2017-10-14 16:22:30"
        ]
        and near
    )
    quotes = [
        rows(SITE, "esxi.vmkernel", "--where", f'node = {text} AND "line" > 0')
        for text in ("'esx41.lab.example'", '"esx41.lab.example"')
    ]
    assert quotes[0] == quotes[1] == one
    done = run("tables", SITE, "esxi.vmkernel", "--where", "line > 1", "--limit", "2", "--csv")
    assert len(done.stdout.splitlines()) == 3
    assert f"{sum(int(str(row['_line'])) > 1 for row in every) - 2:,} more rows" in done.stderr


@pytest.mark.parametrize(
    "condition",
    [
        "nosuch = 1",
        "1 = 1) OR (SELECT count(*) FROM read_csv('/etc/passwd')) > 0 OR (1 = 1",
        "(SELECT count(*) FROM glob('/*')) > 0",
        "'",
        "getenv('HOME') = 'x'",
    ],
)
def test_a_condition_sees_the_table_alone(condition: str) -> None:
    """A condition that is wrong, or that would read a file or the environment, ends with 2 and the names of the columns."""
    done = run("tables", SITE, "esxi.host", "--where", condition)
    assert done.exit_code == 2 and done.stdout == ""
    assert "Columns: node, member, line" in done.stderr


@pytest.mark.size
def test_a_stretch_of_a_table_without_times_is_refused() -> None:
    """A table whose rows tell no time has no rows around a moment: that is said, not an empty table."""
    assert run("tables", SITE, "esxi.host", "--around", "2017-10-14T16:21:00Z").exit_code in (0, 2)
    done = run("tables", SITE, "nsx.vdr", "--around", "2017-10-14T16:21:00Z")
    assert done.exit_code == 2 and "no time" in done.stderr
    assert run("tables", SITE, "--limit", "3").exit_code == 2


@pytest.mark.size
def test_rows_as_parquet(tmp_path: Path) -> None:
    """--parquet writes the chosen rows with their origin, typed, whole or not at all; a place that cannot be is 6."""
    file = tmp_path / "it's.parquet"
    done = run("tables", SITE, "esxi.vmkernel", "--node", "esx41*", "--parquet", file)
    assert done.exit_code == 0 and f"{file}: " in done.stdout
    quoted = str(file).replace("'", "''")
    kept = duckdb.sql(f"SELECT * FROM '{quoted}'")
    assert kept.columns[:3] == ["node", "member", "line"] and "TIMESTAMP" in str(kept.types[3])
    assert len(kept.fetchall()) == len(rows(SITE, "esxi.vmkernel", "--node", "esx41*"))
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert (
        run("tables", SITE, "esxi.vmkernel", "--parquet", tmp_path / "no" / "x.parquet").exit_code
        == 6
    )
