"""What `backline triage` and `backline show` print: one screen, a chosen part, forms for other programs, exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from junitparser import JUnitXml
from msgspec import structs
from rich.console import Console
from sarif_pydantic import Sarif

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.report import finding_rows, junit, lists, sarif, summary
from analyzer.report.choice import Choice, choose_part
from tests.kit.case_factory import hostile_case, quiet_case, rich_case
from tests.kit.terminal_kit import read_terminal, strip_codes

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
SCHEMAS = Path(
    os.environ.get("BACKLINE_SCHEMAS", "/nonexistent")
)  # official schemas, see CONTRIBUTING.md
FORMS = ("note", "jira", "markdown", "mail", "sarif", "junit", "csv", "jsonl", "md", "html", "json")


def run(*args: object, given: bytes | None = None) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, args)), catch_exceptions=False, input=given)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A triaged site of seven findings: its folder of results, and what the command printed."""
    folder = tmp_path_factory.mktemp("site")
    done = run("triage", CASES / "nsx-633-site", "-o", folder, "--no-settings", "--no-packs")
    assert done.exit_code == 0, done.output
    return folder, done.stdout


def screen(doc: dict[str, Any], width: int = 80) -> list[str]:
    """Return what a terminal of that width shows, row by row."""
    out = io.StringIO()
    summary.print_summary(doc, Console(file=out, width=width))
    return out.getvalue().splitlines()


def test_the_summary_is_one_screen(site: tuple[Path, str]) -> None:
    """Counts, the worst stories, what was not read, what to ask for: 30 rows of 80 columns, no figure cut."""
    doc = case_file.read_case(site[0] / "case.json")
    rows = screen(doc)

    assert len(screen(structs.replace(doc, nodes=doc.nodes[:1]))) <= 30
    assert len(rows) <= 38  # six machines and a remark of one take eight rows more
    assert all(len(row) <= 80 or ".txt:" in row or "sys_info:" in row for row in rows)
    assert [row[:2] for row in rows if re.match(r"\d+\. (CRITICAL|MAJOR|WARNING|INFO) ", row)] == [
        "1.",
        "2.",
    ]
    assert [
        row[:4] for row in rows if re.match(r"  \d+\. (CRITICAL|MAJOR|WARNING|INFO) ", row)
    ] == ["  3.", "  4."]
    assert rows.index("ASK FOR") < rows.index(
        "  GET /api/2.0/vdn/inventory/hosts/connection/status"
    )
    assert rows[-1].startswith("MORE 3 findings")
    assert [row for row in rows if row.startswith("2 major, 3 warnings, 2 exposed")]
    assert len(screen(rich_case())) <= 40  # several machines, damage, a limit, a rule that broke
    assert (
        len(screen(hostile_case())) <= 56
    )  # and every name and title long enough for a second row


def test_a_cause_stands_before_what_it_explains() -> None:
    """What another finding explains stands indented below it with the next number, and a worse one is named there."""
    doc = rich_case()
    sign, cause = doc.findings[0], doc.findings[2]
    doc.findings = [
        structs.replace(sign, explained_by=[cause.id]),
        structs.replace(cause, severity="warning"),
    ]
    rows = screen(doc)
    first = next(place for place, row in enumerate(rows) if row.startswith("1. WARNING"))
    assert "explains 1 more, major)" in " ".join(rows[first : first + 3])
    assert [row for row in rows if row.startswith("  2. MAJOR")]


def test_a_quiet_case_with_questions_is_not_called_clean() -> None:
    """Where something could not be judged the summary says so, and what came damaged is asked for again."""
    unknown = structs.replace(quiet_case(), cannot_tell=rich_case().cannot_tell)
    assert "Not everything could be judged." in screen(unknown)
    cut = run("triage", CASES / "cut-bundle", "--no-settings", "--no-packs", "--json", "-")
    said = "\n".join(screen(case_file.parse_case(cut.stdout, "cut"), 200))
    assert "NOT COMPLETE" in said and "again: cut short or damaged" in said


def test_a_pipe_gets_whole_lines(site: tuple[Path, str]) -> None:
    """Without a terminal nothing is wrapped or cut: a sentence of 300 characters is one line, and `grep` finds it."""
    folder, printed = site
    finding = case_file.read_case(folder / "case.json").findings[0]
    (line,) = (line for line in printed.splitlines() if finding.say in line)
    assert len(line) > 150 and finding.subject in line
    assert printed.splitlines()[-1] == f"report: {folder / 'report.html'}"
    shown = run("show", folder / "case.json").stdout
    assert finding.say in shown


def test_all_prints_every_finding(site: tuple[Path, str], tmp_path: Path) -> None:
    """`--all` prints what the summary counts: each finding, each question."""
    told = run(
        "triage", CASES / "nsx-633-site", "-o", tmp_path, "--all", "--no-settings", "--no-packs"
    ).stdout
    doc = case_file.read_case(site[0] / "case.json")
    assert all(finding.title in told for finding in doc.findings)
    assert "CANNOT TELL" in told and "MORE " not in told
    assert not all(finding.title in site[1] for finding in doc.findings)


@pytest.mark.size
def test_a_part_is_never_taken_for_the_whole(site: tuple[Path, str], tmp_path: Path) -> None:
    """--severity, --node and --rule choose what is printed, the first note counts it, and the results stay whole."""
    words = ["triage", CASES / "nsx-633-site", "-o", tmp_path, "--no-settings", "--no-packs"]
    said = run(*words, "--severity", "major").stdout
    assert (
        f"Showing 2 of {len(case_file.read_case(site[0] / 'case.json').findings)} findings: severity major or worse."
        in said
    )
    assert (tmp_path / "case.json").read_bytes() == (site[0] / "case.json").read_bytes()

    doc = case_file.read_case(site[0] / "case.json")
    for choice, keep in (
        (Choice(severity="warning"), lambda one: one.severity in ("major", "warning")),
        (Choice(nodes=("ESX41*",)), lambda one: one.node == "esx41.lab.example"),
        (Choice(rules=("kb-*",)), lambda one: one.rule.startswith("kb-")),
    ):
        part = choose_part(doc, choice)
        assert [one.id for one in part.findings] == [one.id for one in doc.findings if keep(one)]
        assert 0 < len(part.findings) < len(doc.findings)
        assert f"Showing {len(part.findings)} of {len(doc.findings)} findings" in part.notes[0]
    nodes = choose_part(doc, Choice(nodes=("esx41*",)))
    assert {group for one in nodes.cannot_tell for group in one.nodes} - {"esx42.lab.example"}
    assert not [one for one in nodes.cannot_tell if one.nodes == ["esx42.lab.example"]]


def test_a_word_that_fits_nothing_is_refused(site: tuple[Path, str]) -> None:
    """A machine or rule that the case does not have ends with 2 and the names it has, never with an empty list."""
    done = run("show", site[0] / "case.json", "--node", "esx99")
    assert done.exit_code == 2 and "esx41.lab.example" in done.stderr
    done = run("show", site[0] / "case.json", "--rule", "kb-1", "--format", "csv")
    assert done.exit_code == 2 and done.stdout == ""


def test_a_cause_that_is_not_shown_is_named() -> None:
    """A finding whose cause is left out by a choice says so in words."""
    doc = rich_case()
    sign = next(one for one in doc.findings if one.explained_by)
    (part,) = (
        one for one in choose_part(doc, Choice(rules=(sign.rule,))).findings if one.id == sign.id
    )
    assert part.explained_by == []
    assert part.also[-1].startswith("Explained by a finding that is not shown here: ")


@pytest.fixture(scope="module")
def forms(site: tuple[Path, str]) -> dict[str, str]:
    """The site in each form, as `backline show --format` prints it."""
    return {form: run("show", site[0] / "case.json", "--format", form).stdout for form in FORMS}


def test_forms_are_the_same_from_both_commands(
    site: tuple[Path, str], forms: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`triage --format X` prints what `show --format X` prints of its case, nothing else, and leaves no folder."""
    monkeypatch.chdir(tmp_path)
    done = run("triage", CASES / "nsx-633-site", "--format", "sarif", "--no-settings", "--no-packs")
    assert done.stdout == forms["sarif"] and done.stderr == ""
    assert list(tmp_path.iterdir()) == []
    assert forms["md"] == (site[0] / "report.md").read_text(encoding="utf-8")
    assert forms["html"] == (site[0] / "report.html").read_text(encoding="utf-8")
    assert forms["json"] == (site[0] / "case.json").read_text(encoding="utf-8")


def documents(site: tuple[Path, str]) -> Iterator[dict[str, Any]]:
    yield case_file.read_case(site[0] / "case.json")
    yield rich_case()
    yield hostile_case()
    yield quiet_case()


def test_sarif_is_read_by_others(site: tuple[Path, str]) -> None:
    """A model of SARIF 2.1.0 that is not ours reads it: findings fail, questions are open, quiet rules pass."""
    for doc in documents(site):
        log = json.loads(sarif.render_sarif(doc))
        run_ = Sarif.model_validate(log).runs[0]
        kinds = [result["kind"] for result in log["runs"][0]["results"]]
        assert kinds.count("fail") == sum(one.verdict == "match" for one in doc.findings)
        assert kinds.count("open") == sum(len(group.rules) for group in doc.cannot_tell)
        assert kinds.count("pass") == sum(bool(row.looked_at) for row in doc.quiet)
        rules = [rule.id for rule in run_.tool.driver.rules or []]
        assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in log["runs"][0]["results"])
    doc = case_file.read_case(site[0] / "case.json")
    result = json.loads(sarif.render_sarif(doc))["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == doc.findings[0].evidence[0].address
    assert place["region"]["startLine"] == doc.findings[0].evidence[0].line


@pytest.mark.skipif(
    not (SCHEMAS / "sarif-schema-2.1.0.json").exists(),
    reason="BACKLINE_SCHEMAS names no SARIF schema",
)
def test_sarif_meets_the_official_schema(site: tuple[Path, str]) -> None:
    """The schema of OASIS has nothing to say, about hostile names either."""
    schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    check = kind(schema, format_checker=jsonschema.FormatChecker())
    for doc in documents(site):
        assert [
            error.message for error in check.iter_errors(json.loads(sarif.render_sarif(doc)))
        ] == []


def test_junit_is_read_by_others(site: tuple[Path, str]) -> None:
    """A JUnit reader that is not ours counts what the case counts: failures, skipped questions, passes, errors."""
    for doc in documents(site):
        suites = JUnitXml.fromstring(junit.render_junit(doc).encode())
        live = [one for one in doc.findings if not one.muted]
        assert suites.failures == sum(one.verdict == "match" for one in live)
        assert suites.errors == sum(one.verdict == "error" for one in live)
        (suite,) = suites
        questions = sum(len(group.rules) for group in doc.cannot_tell)
        assert suite.skipped == questions + len(doc.findings) - len(live)
        assert suite.tests == len(list(suite))


@pytest.mark.skipif(
    not (SCHEMAS / "junit-10.xsd").exists(), reason="BACKLINE_SCHEMAS names no JUnit schema"
)
def test_junit_meets_the_schema_of_jenkins(site: tuple[Path, str], tmp_path: Path) -> None:
    """The schema that Jenkins holds reports to has nothing to say."""
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))
    for doc in documents(site):
        (tmp_path / "case.xml").write_text(junit.render_junit(doc), encoding="utf-8")
        assert [error.reason for error in schema.iter_errors(str(tmp_path / "case.xml"))] == []


def test_rows_hold_findings_and_questions(site: tuple[Path, str]) -> None:
    """CSV and JSON lines hold each finding and each question; a cell cannot become a formula, a line is one object."""
    for doc in documents(site):
        rows = list(csv.DictReader(io.StringIO(lists.render_csv(doc))))
        assert len(rows) == len(doc.findings) + len(doc.cannot_tell)
        assert not [
            cell for row in rows for cell in row.values() if re.match(r"[=+@\t]|-[^0-9]", cell)
        ]
        records = [json.loads(line) for line in lists.render_json_lines(doc).splitlines()]
        kinds = [record["record"] for record in records]
        assert kinds[0] == "case" and kinds.count("finding") == len(doc.findings)
        assert kinds.count("cannot_tell") == len(doc.cannot_tell)


def test_standard_input_is_a_case(site: tuple[Path, str]) -> None:
    """`-` reads a bundle or a paste from a pipe, and a saved case for `show`; a second `-` is refused."""
    paste = (CASES / "lab-ring-before" / "esx0.txt").read_bytes()
    done = run("-", "--json", "-", "--no-settings", "--no-packs", given=paste)
    doc = json.loads(done.stdout)
    assert done.exit_code == 0 and doc["case"]["name"] == "esx0"
    assert {one["address"] for finding in doc["findings"] for one in finding["evidence"]} == {
        "stdin"
    }
    bundle = next((CASES / "cut-bundle").glob("*.tgz")).read_bytes()
    assert run("triage", "-", "--format", "csv", "--no-settings", given=bundle).exit_code == 5
    saved = (site[0] / "case.json").read_bytes()
    assert run("show", "-", "--format", "md", given=saved).stdout == (
        site[0] / "report.md"
    ).read_text(encoding="utf-8")
    assert run("triage", "-", "-", given=paste).exit_code == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ["triage", "{ring}", "-o", "{out}"]),
        (0, ["triage", "{ring}", "--format", "csv"]),
        (1, ["triage", "{ring}", "--format", "csv", "--fail-on", "warning"]),
        (2, ["triage", "{ring}", "--format", "pdf"]),
        (2, ["triage", "{ring}", "--format", "csv", "--json", "-"]),
        (2, ["triage", "{ring}", "--json", "-", "--severity", "major"]),
        (2, ["triage", "{ring}", "--all", "--quiet"]),
        (3, ["triage", "{ring}/none", "-o", "{out}"]),
        (3, ["show", "{ring}/none"]),
        (5, ["triage", "{cut}", "--format", "jsonl"]),
        (5, ["triage", "{cut}", "--format", "jsonl", "--fail-on", "info"]),
        (6, ["triage", "{ring}", "-o", "{file}"]),
        (6, ["triage", "{ring}", "-o", "{file}/below", "--format", "csv"]),
    ],
)
def test_exit_codes_are_those_of_the_docs(code: int, words: list[str], tmp_path: Path) -> None:
    """Each code that docs/commands.md names, in every form of output: a write that fails is 6, and never "nothing readable"."""
    (tmp_path / "file").touch()
    places = {
        "ring": CASES / "lab-ring-before",
        "cut": CASES / "cut-bundle",
        "out": tmp_path / "out",
        "file": tmp_path / "file",
    }
    assert run(*(word.format(**places) for word in words)).exit_code == code
    assert (
        f"{code} "
        in (ROOT / "docs" / "commands.md")
        .read_text(encoding="utf-8")
        .partition("Exit codes:")[2]
        .partition("\n\n")[0]
    )


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal")
def test_the_progress_line_fits_eighty_columns(tmp_path: Path) -> None:
    """On a terminal of 80 columns no progress line is longer, and it tells of reading, judging and writing.

    On one of 40 columns what is read has the line, and there is no bar.
    """
    import pty

    code = (
        "import sys\nfrom analyzer.commands.progress import TriageProgress\nfrom pathlib import Path\n"
        "with TriageProgress([Path(sys.argv[1])]) as bar:\n"
        "    bar.show_member('a' * 90 + '/' + 'b' * 90 + '/vmkernel.log', 1); bar.show_read(100); bar.bar.refresh()\n"
        "    bar.show_judged(type('R', (), {'id': 'kb-2039495'}), [], 0); bar.bar.refresh()\n"
        "    bar.show_writing(); bar.bar.refresh()\n"
        "import os\nos.environ['COLUMNS'] = '40'\n"
        "with TriageProgress([Path(sys.argv[1])]) as bar:\n"
        "    bar.show_member('esx01/vmkernel.log', 1); bar.bar.refresh()\n"
    )
    inner, outer = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    case_ = str(CASES / "lab-ring-before")
    child = subprocess.Popen(
        [sys.executable, "-c", code, case_], cwd=ROOT, stderr=outer, env=environment
    )
    os.close(outer)
    shown = read_terminal(inner)
    assert child.wait() == 0
    lines = re.split(r"[\r\n]+", strip_codes(shown))
    assert max(map(len, lines)) <= 80
    assert any(re.match(r"reading \.\.\.b+/vmkernel\.log ", line) for line in lines), lines
    assert any(line.startswith("judging, 1 rules done: kb-2039495") for line in lines)
    assert any(line.startswith("writing the report") for line in lines)
    assert any(line.strip() == "reading esx01/vmkernel.log" for line in lines), lines


def test_a_machine_is_named_unless_the_subject_names_it_whole() -> None:
    """A VM `esx1.eth0` and a host `esx12` are not the machine `esx1`."""
    finding = rich_case().findings[0]
    for subject, is_named in (
        ("vmnic0 of esx12", False), ("esx1.eth0, port 7", False), ("vmnic0 of esx1", True), ("esx1, vmk0", True), ("", False)
    ):  # fmt: skip
        told = structs.replace(finding, node="esx1", subject=subject)
        assert finding_rows.is_node_named(told) is is_named
