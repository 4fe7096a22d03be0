"""Behind the parsers too a fault costs its own part: the report exists, says what is missing, and the exit code is 5."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block
from analyzer.case import case_file
from analyzer.cli import main
from analyzer.ingest import reader
from analyzer.pipeline import case_data, triage
from analyzer.report import html, markdown, summary

ROOT = Path(__file__).resolve().parents[2]
CASE = ROOT / "samples" / "cases" / "lab-ring-before"

# module, name of the stage, what is missing then; the findings stay where the stage is behind the facts
STAGES = [
    (triage, "resolve_nodes", "which files are of one machine", True),
    (triage, "drop_duplicates", "tables of facts", False),
    (triage, "make_node_records", "what is known of the machines", True),
    (triage, "make_source_records", "what was read of each file", True),
    (triage, "list_events", "events of the time line", True),
    (triage, "make_topology", "the table of ports", True),
    (case_data, "judge", "the verdicts of all rules", False),
    (case_data, "apply_settings", "mutes and thresholds of the settings", True),
    (case_data, "make_timeline", "the time line", True),
]  # fmt: skip


def boom(*_: Any, **__: Any) -> Any:
    """Fail as nobody foresaw."""
    raise KeyError("made up")


def run(tmp_path: Path) -> tuple[int, dict[str, Any], str, str]:
    """Triage a sample by the command: exit code, document, page, what was printed."""
    out = tmp_path / "out"
    done = CliRunner().invoke(
        main, ["triage", str(CASE), "-o", str(out), "--no-settings", "--no-packs"]
    )
    document = case_file.read_case(out / "case.json")
    return done.exit_code, document, (out / "report.html").read_text(encoding="utf-8"), done.output


@pytest.mark.parametrize(
    ("module", "name", "part", "found"), STAGES, ids=[stage[1] for stage in STAGES]
)
def test_a_stage_that_fails_costs_its_own_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, part: str, found: bool
) -> None:
    """Whatever stage fails: exit 5, a report that names the stage's part as missing, and what other stages made."""
    monkeypatch.setattr(module, name, boom)
    code, document, page, printed = run(tmp_path)
    assert code == 5, printed
    assert document.case.complete is False
    (damage,) = document.damage
    assert damage.left_out == part
    assert "KeyError('made up')" in damage.what
    assert part in page
    matches = [one for one in document.findings if one.verdict == "match"]
    assert bool(matches) is found
    if not found:  # nothing may look quiet that was not judged, or was judged on half of the facts
        assert not [one.rule for one in document.quiet if one.looked_at]


def test_a_member_that_cannot_be_read_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault while one file is read is named with that file; the others are read and judged."""
    real = reader.SessionReader.read_session

    def split(self: Any, member: Any, *args: Any, **named: Any) -> None:
        if member.path.endswith("sender.txt"):
            boom()
        real(self, member, *args, **named)

    monkeypatch.setattr(reader.SessionReader, "read_session", split)
    code, document, page, printed = run(tmp_path)
    assert code == 5, printed
    states = {one.address.rsplit("/", 1)[-1]: one.state for one in document.sources}
    assert states["sender.txt"] == "cut"
    assert "kb-2039495" in {one.rule for one in document.findings}
    assert "sender.txt" in page


@pytest.mark.parametrize(
    ("module", "makes", "file"),
    [(html, "render_pieces", "report.html"), (markdown, "render_note", "report.md")],
)
def test_a_report_that_cannot_be_made_is_said_and_the_others_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, makes: str, file: str
) -> None:
    """The page falls back to the note, the note says what failed; case.json holds everything."""
    monkeypatch.setattr(module, makes, boom)
    code, document, page, printed = run(tmp_path)
    assert code == 5, printed
    assert f"{file} could not be made in full" in printed
    assert document.findings
    assert document.findings[0].title in page or module is markdown
    assert (tmp_path / "out" / "report.md").stat().st_size > 50


def test_a_summary_that_cannot_be_printed_hides_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the words for the terminal: the report is there and its path is told."""
    monkeypatch.setattr(summary, "print_summary", boom)
    code, _, page, printed = run(tmp_path)
    assert code == 5, printed
    assert "the summary could not be printed" in printed
    assert "report.html" in printed
    assert page


def test_what_a_failed_parser_says_shows_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error quotes the text it failed at: of `password = …` the report shows the name alone."""

    def fails(_: Block) -> parsing.Output:
        raise ValueError("unlike any other: password = Sesam2017")

    monkeypatch.setitem(
        parsing.registry(), "net_stats", replace(parsing.registry()["net_stats"], parse=fails)
    )
    text = (
        "[root@esx1:~] net-stats -l\n"
        "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
        "33554464            5       9 vSwitch0         00:50:56:a6:55:f4  one.eth0\n"
        "[root@esx1:~] hostname\nesx1\n"
    )
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    CliRunner().invoke(
        main,
        [
            "triage",
            str(tmp_path / "a.txt"),
            str(CASE),
            "-o",
            str(out),
            "--no-settings",
            "--no-packs",
        ],
    )
    document = case_file.read_case(out / "case.json")

    assert {fault.why for fault in document.faults if fault.parser == "net_stats"} == {
        "the parser failed: ValueError: unlike any other: password = *****"
    }
