"""Facts about signs of trouble in an excerpt of a log that no rule knows: they come below the findings."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.case.document import CaseDocument, Signal
from analyzer.cli import main
from analyzer.report.completeness import describe_nothing

# Synthetic, in the forms of vmkernel.log, hostd.log of 6.x and 8.x, vmware.log and syslog; no rule knows these words.
UNKNOWN = {
    "vmkernel": "2017-03-08T05:55:26.210Z cpu7:66012)WARNING: MadeUp: 12: synthetic condition of widget 7",
    "hostd 6.x": "2017-03-08T05:55:26.210Z error hostd[2B4C1B70] [Originator@6876 sub=MadeUp] synthetic widget 7 broke",
    "hostd 8.x": "2024-10-17T16:08:22.488Z Er(163) Hostd[2099000]: [Originator@6876 sub=MadeUp] synthetic widget 7 broke",
    "vmware.log": "2017-03-08T05:55:26.210Z| vmx| E105: MadeUp: synthetic widget 7 failed",
}
QUIET = "2017-03-08T05:55:26.210Z cpu7:66012)MadeUp: 12: synthetic condition of widget 7"
FULL = (
    "2017-03-08T05:55:29.101Z cpu12:65938)NMP: nmp_ThrottleLogForDevice:3617: Cmd 0x2a (0x43a5c0a3b8c0, 68412) to dev "
    '"naa.600507680c80810ee000000000000a1b" on path "vmhba2:C0:T3:L12" Failed: H:0x0 D:0x28 P:0x0 Invalid sense data'
)


def case(tmp_path: Path, *lines: str) -> CaseDocument:
    """What a triage says of a paste."""
    (tmp_path / "paste.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "paste.txt"), "-o", str(tmp_path / "out"), "--quiet"]
    )
    assert done.exit_code in (0, 5), done.output
    return case_file.read_case(tmp_path / "out" / "case.json")


def signs(doc: CaseDocument) -> list[Signal]:
    """The lines below the findings that no rule knows."""
    return [one for one in doc.signals if one.kind == "line"]


@pytest.mark.parametrize("log", UNKNOWN)
def test_a_line_that_calls_itself_wrong_is_shown(log: str, tmp_path: Path) -> None:
    """Whatever its words are, a warning or an error of an excerpt is in the report, once, with its places."""
    line = UNKNOWN[log]
    doc = case(tmp_path, line, line.replace("widget 7", "widget 8"))
    (one,) = signs(doc)
    assert (one.count, one.line, one.last_line, one.text) == (2, 1, 2, line)
    assert "synthetic" in one.what and "#" in one.what
    assert "synthetic" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "synthetic" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_what_a_finding_rests_on_and_what_says_nothing_is_not_told_again(tmp_path: Path) -> None:
    """A line that a rule told of is no warning beside it, nor is one that is no warning."""
    doc = case(tmp_path, QUIET, FULL)
    assert [one.kb for one in doc.findings] == [[1030381]]
    assert signs(doc) == []


def test_a_whole_log_shows_each_kind_once_with_its_count(tmp_path: Path) -> None:
    """A thousand lines of one kind are one sign; only lines that weigh enough are listed of a whole log."""
    (one,) = signs(case(tmp_path, *[UNKNOWN["vmkernel"]] * 1000))
    assert (one.count, one.line, one.last_line) == (1000, 1, 1000)


def test_nothing_found_is_never_said_above_a_sign(tmp_path: Path) -> None:
    """The headline names the signs; without them it says that nothing was found."""
    signs_only = case(tmp_path, UNKNOWN["vmkernel"])
    assert describe_nothing(signs_only).startswith("no known problem, but 1 sign of trouble")
    assert describe_nothing(case(tmp_path, QUIET)).startswith("nothing found")
