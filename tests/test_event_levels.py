"""The level of a line in `backline log`: an event is as severe as what it reports, and evidence is never filtered away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.merged_log.entry import choose_worse_level
from analyzer.merged_log.event_levels import LEVEL_OF_SEVERITY, find_event_level, read_event_severities
from tests.together import together

# Synthetic lines in the form of vobd.log and of hostd.log.
VOBD = "2023-05-10T09:11:25.201Z: [scsiCorrelator] 86400us: [{event}] Synthetic text of a test."
HOSTD = (
    "2023-05-10T09:11:25.301Z info hostd[2099] [Originator@6876 sub=Vimsvc.ha-eventmgr] Event 7 : "
    "Device or filesystem with identifier [naa.6000000000000001] has entered the All Paths Down state."
)
CASE = {
    "vobd.log": [
        VOBD.format(event="esx.problem.storage.apd.start"),
        VOBD.format(event="esx.audit.ssh.enabled").replace("25.201", "25.401"),
    ],
    "hostd.log": [
        HOSTD,
        "2023-05-10T09:11:26.000Z info hostd[2099] [Originator@6876 sub=Vimsvc] Synthetic: nothing of note",
    ],
}


@together("event", sorted(read_event_severities()))
def test_a_problem_has_the_level_of_its_event(event: str) -> None:
    """Each known event counts as its row says: critical, error, warning or notice; one that ends a problem has none."""
    expected = LEVEL_OF_SEVERITY[read_event_severities()[event]]
    assert find_event_level(VOBD.format(event=event)) == expected


def test_a_problem_without_a_row_is_a_warning_and_other_events_have_no_level() -> None:
    """What no row knows is a problem all the same; the end of one and an audit event are none."""
    assert find_event_level(VOBD.format(event="esx.problem.no.such.event")) == "warning"
    assert find_event_level(VOBD.format(event="esx.clear.storage.apd.exit")) == ""
    assert find_event_level(VOBD.format(event="esx.audit.ssh.enabled")) == ""
    assert find_event_level("2023-05-10T09:11:26Z info: nothing of note") == ""


def test_the_text_of_an_event_without_its_id_counts_too() -> None:
    """hostd.log writes the text of an event at `info`, without the id."""
    assert find_event_level(HOSTD) == LEVEL_OF_SEVERITY[read_event_severities()["esx.problem.storage.apd.start"]]


@pytest.mark.parametrize(
    ("stated", "other", "worse"),
    [("info", "error", "error"), ("critical", "error", "critical"), ("", "warning", "warning"), ("info", "", "info"),
     ("In(182)", "warning", "warning")],
)  # fmt: skip
def test_the_worse_of_two_levels_counts(stated: str, other: str, worse: str) -> None:
    """A log may be more severe than the event it reports, or less, or state nothing that is a level."""
    assert choose_worse_level(stated, other) == worse


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """Write the logs of a host and triage them."""
    folder = tmp_path / "esx1" / "var" / "run" / "log"
    folder.mkdir(parents=True)
    for name, lines in CASE.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["triage", str(tmp_path / "esx1"), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code == 0, done.output
    return tmp_path


def read_log(case: Path, *words: str) -> tuple[list[str], str]:
    """Return the texts that `backline log` prints, and what it says of them."""
    program = ["log", str(case / "esx1"), "--case", str(case / "out"), "--format", "jsonl", *words]
    done = CliRunner().invoke(main, program)
    assert done.exit_code == 0, done.output
    return [json.loads(line)["text"] for line in done.stdout.splitlines()], done.stderr


def test_a_level_keeps_the_problems_and_leaves_out_the_rest(case: Path) -> None:
    """`--level warning` shows both lines of the problem, one of which its log wrote at `info`, and nothing else."""
    texts, _ = read_log(case, "--around", "2023-05-10T09:11:25Z", "--level", "warning")
    assert len(texts) == 2
    assert all("esx.problem" in text or "All Paths Down" in text for text in texts)


@pytest.mark.parametrize("words", [("--level", "emergency"), ("--object", "vmnic9"), ("--grep", "no such word")])
def test_evidence_of_the_finding_is_never_filtered_away(case: Path, words: tuple[str, str]) -> None:
    """Whatever the filters say, the lines that the finding rests on are shown, and that they are is said."""
    document = json.loads((case / "out" / "case.json").read_text(encoding="utf-8"))
    evidence = {line["text"] for line in document["findings"][0]["evidence"]}
    assert evidence
    texts, said = read_log(case, "--around", "1", *words)
    assert {" ".join(text.split()) for text in texts} == {" ".join(text.split()) for text in evidence}
    assert "shown although filtered out, as evidence of the finding" in said
    without, _ = read_log(case, "--around", "2023-05-10T09:11:25Z", *words)
    assert without == []
