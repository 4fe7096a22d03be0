"""The level of a line in `backline log`: an event is as severe as what it reports, and evidence is never filtered away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.merged_log.entry import choose_worse_level
from analyzer.merged_log.event_levels import (
    LEVEL_OF_SEVERITY,
    find_event_level,
    read_event_severities,
    read_harmless_ids,
)
from parsers.esxi.logs.esx_event import TEXTS
from tests.kit.together import together

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
    """Each known event counts as its row says: critical, error, warning or notice; an audit of daily work has none."""
    severity = read_event_severities()[event]
    expected = LEVEL_OF_SEVERITY[severity]
    if severity == "info" and event.startswith("esx.audit."):
        expected = ""
    assert find_event_level(VOBD.format(event=event)) == expected


def test_a_problem_without_a_row_is_a_warning_and_other_events_have_no_level() -> None:
    """What no row knows is a problem all the same; the end of one and an audit event are none."""
    assert find_event_level(VOBD.format(event="esx.problem.no.such.event")) == "warning"
    assert find_event_level(VOBD.format(event="esx.clear.storage.apd.exit")) == ""
    assert find_event_level(VOBD.format(event="esx.audit.ssh.enabled")) == ""
    assert find_event_level("2023-05-10T09:11:26Z info: nothing of note") == ""


@together("event", sorted(read_harmless_ids()))
def test_an_event_that_ends_a_problem_has_no_level_whatever_its_name(event: str) -> None:
    """esx.problem.vmfs.heartbeat.recovered and its like are no problem."""
    assert find_event_level(VOBD.format(event=event)) == ""


@together("pair", TEXTS)
def test_a_text_counts_in_vobd_without_its_id(pair: tuple[str, str]) -> None:
    """A line of vobd.log whose id was lost has the level of the event with its text."""
    words, event = pair
    with_id = find_event_level(VOBD.format(event=event))
    assert find_event_level(VOBD.replace("[{event}] Synthetic text of a test.", words)) == with_id


# Synthetic lines: forms in which vmkernel.log reports an event, and logs that name one by its id alone.
OF_OTHER_LOGS = {
    "2023-05-10T09:11:25.301Z cpu3:65912)StorageApdHandler: 1147: APD start for 0x4304 [naa.6000000000000001]":
        "esx.problem.storage.apd.start",
    "2023-05-10T09:11:25.301Z cpu3:65912)ScsiDeviceIO: 1176: Device naa.6000000000000001 performance has deteriorated. I/O":
        "esx.problem.scsi.device.io.latency.high",
    "2023-05-10T09:11:25.301Z info vpxd[7] [Originator@6876 sub=vpxLro] [esx.problem.net.redundancy.lost] Synthetic":
        "esx.problem.net.redundancy.lost",
    "2023-05-10T09:11:25Z vobd[2097]: [esx.problem.net.redundancy.lost] Synthetic": "esx.problem.net.redundancy.lost",
    "2023-05-10T09:11:25.301Z info other: esx.problem.storage.apd.timeout on naa.6": "esx.problem.storage.apd.timeout",
}  # fmt: skip


@together("line", OF_OTHER_LOGS)
def test_a_problem_counts_in_any_log(line: str) -> None:
    """A line of vmkernel.log, of vCenter or of an unknown log that reports a problem is as severe as the problem."""
    severity = read_event_severities().get(OF_OTHER_LOGS[line], "warning")
    assert find_event_level(line) == LEVEL_OF_SEVERITY[severity]


def test_the_text_of_an_event_without_its_id_counts_too() -> None:
    """hostd.log writes the text of an event at `info`, without the id."""
    assert (
        find_event_level(HOSTD)
        == LEVEL_OF_SEVERITY[read_event_severities()["esx.problem.storage.apd.start"]]
    )


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
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "esx1"), "-o", str(tmp_path / "out"), "--quiet"]
    )
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


@pytest.mark.parametrize(
    "words", [("--level", "emergency"), ("--object", "vmnic9"), ("--grep", "no such word")]
)
def test_evidence_of_the_finding_is_never_filtered_away(case: Path, words: tuple[str, str]) -> None:
    """Whatever the filters say, the lines that the finding rests on are shown, and that they are is said."""
    document = json.loads((case / "out" / "case.json").read_text(encoding="utf-8"))
    evidence = {line["text"] for line in document["findings"][0]["evidence"]}
    assert evidence
    texts, said = read_log(case, "--around", "1", *words)
    assert {" ".join(text.split()) for text in texts} == {
        " ".join(text.split()) for text in evidence
    }
    assert "shown although filtered out, as evidence of the finding" in said
    without, _ = read_log(case, "--around", "2023-05-10T09:11:25Z", *words)
    assert without == []


def test_evidence_is_known_again_where_the_material_was_moved(case: Path) -> None:
    """A bundle that lies elsewhere than at its triage shows the lines of the finding all the same."""
    (case / "received").mkdir()
    (case / "esx1").rename(case / "received" / "esx1-from-customer")
    program = [
        "log",
        str(case / "received"),
        "--case",
        str(case / "out"),
        "--around",
        "1",
        "--level",
        "emergency",
    ]
    done = CliRunner().invoke(main, program)
    document = json.loads((case / "out" / "case.json").read_text(encoding="utf-8"))
    for line in document["findings"][0]["evidence"]:
        assert line["text"][-40:] in done.stdout
