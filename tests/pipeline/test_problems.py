"""What hosts themselves call a problem stands in the report, whether or not a rule knows it.

All lines here are synthetic; their forms are those of parsers/esxi/logs/vobd.py and analyzer/ingest/problems.py.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from string import ascii_lowercase

import pytest
from click.testing import CliRunner
from msgspec import to_builtins

from analyzer.case import case_file
from analyzer.case.document import CaseDocument, Signal
from analyzer.cli import main
from analyzer.pipeline.triage import Options, gather_case
from analyzer.report import html, markdown

TOP = "esx-esx0.lab.example-2017-10-14--16.53-71234"
FRAME = (
    "0x4390cc81be50:[0x418020d03f71]{}@vmkernel#nover+0x29 stack: 0x430410ce2ac8, 0x4180214838ad"
)


def vobd(minute: int, event: str, text: str = "(synthetic) text", second: int = 46) -> str:
    """Return a line of vobd.log."""
    return (
        f"2017-10-14T09:{minute:02}:{second:02}.002Z: [netCorrelator] 844396129us: [{event}] {text}"
    )


def vmkernel(minute: int, text: str, second: int = 0) -> str:
    """Return a line of vmkernel.log."""
    return f"2017-10-14T09:{minute:02}:{second:02}.114Z cpu3:2097616){text}"


def triage(folder: Path, files: dict[str, list[str]]) -> tuple[CaseDocument, str]:
    """Return the case of a bundle with some logs, and what the command printed."""
    for name, lines in files.items():
        path = folder / "case" / TOP / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        path.write_bytes(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
    command = [
        "triage",
        str(folder / "case"),
        "-o",
        str(folder / "out"),
        "--no-settings",
        "--no-packs",
        "--all",
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code in (0, 1, 5), done.output
    return case_file.read_case(folder / "out" / "case.json"), done.output


def list_reported(doc: CaseDocument) -> list[Signal]:
    """Return what the host itself calls a problem, without the lines and cells that only say so."""
    return [one for one in doc.signals if one.kind not in ("line", "cell")]


def kinds(doc: CaseDocument) -> list[tuple[str, str, int]]:
    """Return kind, name and count of every listed problem."""
    return [(one.kind, one.what, one.count) for one in list_reported(doc)]


VOBD, VMKERNEL, WARNING = (
    "var/run/log/vobd.log",
    "var/run/log/vmkernel.log",
    "var/run/log/vmkwarning.log",
)


def test_an_event_that_no_rule_knows_is_listed_with_count_times_and_lines(tmp_path: Path) -> None:
    """Three lines of an unknown problem event: counted, with the time and the address of the first and the last."""
    lines = [
        vobd(minute, "esx.problem.scsi.device.io.latency.high", "(synthetic) vmnic3 is odd")
        for minute in (1, 5, 9)
    ]
    doc, shown = triage(tmp_path, {VOBD: lines})

    (one,) = list_reported(doc)
    assert (one.kind, one.what, one.object, one.count) == (
        "event",
        "esx.problem.scsi.device.io.latency.high",
        "vmnic3",
        3,
    )
    assert (one.first, one.last) == ("2017-10-14T09:01:46Z", "2017-10-14T09:09:46Z")
    assert one.address.endswith("/vobd.log")
    assert (one.line, one.last_line, one.ended) == (1, 3, "")
    assert "1 problem event (3 lines, cells or files)" in " ".join(shown.split())
    assert "esx.problem.scsi.device.io.latency.high, vmnic3" in html.render_page(doc)
    note = markdown.render_note(doc).replace("\\", "")
    assert "problem event esx.problem.scsi.device.io.latency.high, vmnic3; 3 times" in note


def test_an_event_that_a_finding_rests_on_is_not_listed_again(tmp_path: Path) -> None:
    """The lost uplink is a finding of its own; the same event of another switch below it is one, too."""
    lost = "esx.problem.net.redundancy.lost"
    doc, _ = triage(
        tmp_path,
        {
            VOBD: [
                vobd(1, lost, 'on virtual switch "vSwitch0".'),
                vobd(2, "esx.problem.scsi.device.io.latency.high"),
            ]
        },
    )

    assert [one.subject for one in doc.findings if one.rule == "esx-event"] == [f"vSwitch0: {lost}"]
    assert kinds(doc) == [("event", "esx.problem.scsi.device.io.latency.high", 1)]


def test_a_known_event_below_its_threshold_is_listed_with_its_meaning(tmp_path: Path) -> None:
    """Two reports of congestion make no finding, and are not hidden."""
    event = "esx.problem.hardware.fpin.fc.congestion.creditstall"
    doc, _ = triage(tmp_path, {VOBD: [vobd(1, event), vobd(2, event)]})

    assert not [one for one in doc.findings if one.rule == "esx-event"]
    (one,) = list_reported(doc)
    assert (one.what, one.count, bool(one.title)) == (event, 2, True)


def test_ids_that_mean_recovery_or_a_test_are_no_problems(tmp_path: Path) -> None:
    """Test ids, recoveries whose id says problem, and remarks of third parties are left out."""
    harmless = (
        "esx.problem.test.test2", "esx.problem.vobdtestcorrelator.test.1d", "esx.problem.vmfs.heartbeat.recovered",
        "esx.problem.vmfs.extent.online", "esx.problem.vmfs.nfs.server.restored", "esx.problem.3rdParty.info",
        "esx.problem.clock.correction.adjtime.sync", "esx.clear.net.vmnic.linkstate.up", "esx.audit.shell.enabled",
    )  # fmt: skip
    doc, _ = triage(
        tmp_path, {VOBD: [vobd(number, event) for number, event in enumerate(harmless)]}
    )

    assert list_reported(doc) == []


def test_a_problem_that_a_later_event_ends_comes_last_and_says_when(tmp_path: Path) -> None:
    """Of events below their threshold the one that was cleared comes last; a clear of another adapter ends nothing."""
    event, clear = (
        f"esx.problem.hardware.fpin.fc.congestion.{end}" for end in ("lostcredit", "clear")
    )
    lines = [
        vobd(1, event, "vmhba1"),
        vobd(2, event, "vmhba2"),
        vobd(3, clear, "vmhba1"),
        vobd(4, event, "vmhba3"),
    ]
    doc, _ = triage(tmp_path, {VOBD: [*lines, vobd(0, clear, "vmhba3")]})

    ended = [(one.object, one.ended) for one in list_reported(doc)]
    assert ended == [("vmhba2", ""), ("vmhba3", ""), ("vmhba1", "2017-10-14T09:03:46Z")]
    assert "1 problem that a later event cleared" in html.render_page(doc)
    assert "vmhba1" not in markdown.render_note(doc)


def test_alerts_count_by_their_words_and_once_for_two_logs(tmp_path: Path) -> None:
    """Numbers do not make two kinds of one ALERT, and the copy in vmkwarning.log does not count twice."""
    alerts = [
        vmkernel(n, f"ALERT: Synthetic: {n}: module {n} failed at 0x{n:08x}") for n in (1, 2, 3)
    ]
    newer = (
        "2023-10-14T09:12:46.002Z Al(1) vmkalert: cpu3:2097616)ALERT: Synthetic of newer releases"
    )
    doc, _ = triage(tmp_path, {VMKERNEL: [*alerts, newer], WARNING: alerts})

    assert kinds(doc) == [
        ("alert", "Synthetic: N: module N failed at N", 3),
        ("alert", "Synthetic of newer releases", 1),
    ]
    assert list_reported(doc)[0].address.endswith("/vmkernel.log")


def test_a_backtrace_counts_once_however_many_frames_it_has(tmp_path: Path) -> None:
    """Two backtraces, one right after the other, each with a line of another CPU in it, are two of one kind.

    The frame that prints a backtrace is the same in all and does not name it.
    """
    trace = [
        vmkernel(1, "Backtrace for current CPU #3, worldID=2097616, fp=0x430410ce87c0"),
        vmkernel(1, FRAME.format("vmk_LogBacktraceMessage")),
        vmkernel(1, FRAME.format("SynthWatchdog")),
        vmkernel(1, FRAME.format("netdev_synth")),
        vmkernel(1, "NetPort: 1879: disabled port 0x2000002"),
        vmkernel(1, FRAME.format("CpuSched_StartWorld")),
    ]
    doc, _ = triage(tmp_path, {VMKERNEL: [*trace, *trace]})

    assert kinds(doc) == [("backtrace", "SynthWatchdog@vmkernel", 2)]
    assert (list_reported(doc)[0].line, list_reported(doc)[0].last_line) == (3, 12)


def test_core_dumps_in_the_log_and_in_the_bundle_are_known(tmp_path: Path) -> None:
    """A dump that the log tells of, and one that lies in var/core, are two; fragments are one file."""
    line = vmkernel(
        1,
        "UserDump: 1485: Dumping cartel 5551 (from world 7448) to file /var/core/synth-zdump.000 ...",
    )
    core = {f"var/core/vmkernel-zdump.1.FRAG-0000{n}": ["(synthetic)"] for n in (0, 1)}
    doc, _ = triage(tmp_path, {VMKERNEL: [line], **core})
    material = gather_case([tmp_path / "case"], [], Options())
    read = {(one["kind"], one["what"], one["count"], one["node"]) for one in material.problems}
    rested_on = [
        place.line for one in doc.findings for place in one.evidence if "cartel" in place.text
    ]

    node = doc.nodes[0].id
    file, logged = ("core dump file", "vmkernel-zdump.1", 1), ("core dump", "synth-zdump", 1)
    assert read == {(*file, node), (*logged, node)}
    assert kinds(doc) == ([file] if rested_on else [file, logged])


@pytest.mark.size
def test_a_storm_of_one_event_hides_no_other(tmp_path: Path) -> None:
    """After 120,000 lines of one kind a single line of another is still seen, and both counts are exact."""
    storm = [
        vobd(
            n // 6000 % 60,
            "esx.problem.scsi.device.io.latency.high",
            f"(synthetic) {n}",
            n // 100 % 60,
        )
        for n in range(120_000)
    ]
    rotated = "var/run/log/vobd.0.gz"
    doc, _ = triage(tmp_path, {rotated: storm, VOBD: [vobd(59, "esx.problem.made.down")]})

    assert kinds(doc) == [
        ("event", "esx.problem.scsi.device.io.latency.high", 120_000),
        ("event", "esx.problem.made.down", 1),
    ]


def test_more_kinds_than_are_kept_are_counted_together(tmp_path: Path) -> None:
    """Of 2,000 kinds of one host 400 are counted each, and 60 listed; the lines of all others are counted, and told."""
    words = [a + b + c for a in "xyz" for b in ascii_lowercase for c in ascii_lowercase][:2000]
    lines = [
        vmkernel(number // 60, f"ALERT: Synthetic {word}") for number, word in enumerate(words)
    ]
    doc, _ = triage(tmp_path, {VMKERNEL: lines})

    assert (len(doc.signals), doc.signals_total) == (60, 401)
    assert sum(one.count for one in doc.signals) == 59 + 1600
    assert [one.count for one in list_reported(doc) if not one.what] == [1600]
    assert "lines of other kinds, counted together" in html.render_page(doc)


def test_hostile_lines_are_shown_as_they_are(tmp_path: Path) -> None:
    """Markup, control characters and bytes that are no text stay text in the page, the note and the terminal."""
    nasty = "ALERT: </script><img src=x onerror=alert(1)> \x1b[31m `| \udcff"
    doc, shown = triage(tmp_path, {VMKERNEL: [vmkernel(1, nasty)]})
    page = html.render_page(doc)

    assert doc.signals_total == 1
    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(N)&gt;" in page
    assert "\x1b[31m" not in shown + page + markdown.render_note(doc)


def test_a_secret_in_a_problem_is_not_shown(tmp_path: Path) -> None:
    """A password in the text of an event reaches neither the document nor the page, whether a finding quotes it or not."""
    text = "--password=Synth3tic!secret vmk0"
    latency = "esx.problem.scsi.device.io.latency.high"
    doc, _ = triage(
        tmp_path, {VOBD: [vobd(1, latency, text), vobd(2, "esx.problem.made.up", text)]}
    )

    assert doc.signals_total == 1
    assert "--password=" in next(one.say for one in doc.findings if one.rule == "esx-event-unknown")
    assert "Synth3tic!secret" not in case_file.encode_line(doc) + html.render_page(doc)


def test_the_same_case_gives_the_same_problems(tmp_path: Path) -> None:
    """Two runs write the same bytes."""
    lines = [vobd(1, "esx.problem.scsi.device.io.latency.high"), vobd(1, "esx.problem.made.down")]
    files = {VOBD: lines, VMKERNEL: [vmkernel(1, "ALERT: a")]}
    triage(tmp_path, files)
    first = (tmp_path / "out" / "case.json").read_bytes()
    triage(tmp_path, files)

    assert (tmp_path / "out" / "case.json").read_bytes() == first


def test_a_document_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """A case.json that knows no problems gives its report."""
    doc, _ = triage(tmp_path, {VOBD: [vobd(1, "esx.problem.scsi.device.io.latency.high")]})
    old = {key: value for key, value in to_builtins(doc).items() if not key.startswith("signals")}
    read = case_file.parse_case(json.dumps(old), "old")

    assert read.signals == []
    assert "In the logs, but in no finding" not in html.render_page(read)


@pytest.mark.parametrize("name", ["var/run/log/vmksummary.log", "var/run/log/hostd.log", VMKERNEL])
def test_an_alert_is_listed_whatever_log_it_stands_in(tmp_path: Path, name: str) -> None:
    """Two logs count ALERTs by themselves; in all others an ALERT is a line that says trouble."""
    doc, _ = triage(tmp_path, {name: [vmkernel(1, "ALERT: Synthetic: the made up unit failed")]})
    assert [(one.kind, one.count) for one in doc.signals] in ([("alert", 1)], [("line", 1)])
