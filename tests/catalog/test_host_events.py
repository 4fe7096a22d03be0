"""Events of a host stand in several of its logs: each is read from wherever it stands, and counts once.

All lines here are synthetic; the forms of vobd.log and hostd.log are those of the captures named in parsers/esxi/logs/esx_event.py.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2017-10-14--16.53-71234"
LOST = 'Lost uplink redundancy on virtual switch "vSwitch0". Physical NIC vmnic2 is down.'
RESTORED = 'Network connectivity restored on virtual switch "vSwitch0", portgroups: "lab". Physical NIC vmnic2 is up'


def vobd(
    second: float,
    text: str = LOST,
    event: str = "esx.problem.net.redundancy.lost",
    minute: int = 12,
) -> str:
    """Return a line of vobd.log."""
    return f"2017-10-14T09:{minute}:{second:06.3f}Z: [netCorrelator] 844396129us: [{event}] {text}"


def hostd(second: float, text: str = LOST, number: int = 137, minute: int = 12) -> str:
    """Return the line that hostd writes of an event: its text without its id."""
    head = f"2017-10-14T09:{minute}:{second:06.3f}Z info hostd[2B2C1B70]"
    return f"{head} [Originator@6876 sub=Vimsvc.ha-eventmgr] Event {number} : {text}"


def triage(
    folder: Path, files: dict[str, list[str]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the findings of the rule of events, and the case, of a bundle with some logs."""
    for name, lines in files.items():
        path = folder / "case" / HOST / "var" / "run" / "log" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
    out = folder / "out"
    done = CliRunner().invoke(
        main, ["triage", str(folder / "case"), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1), done.output
    case = json.loads((out / "case.json").read_text(encoding="utf-8"))
    return [one for one in case["findings"] if one["rule"] == "esx-event"], case


def places(finding: dict[str, Any]) -> set[str]:
    """Return the names of the logs, each with its line, that are evidence of a finding."""
    return {f"{one['address'].rpartition('/')[2]}:{one['line']}" for one in finding["evidence"]}


def test_an_event_in_two_logs_counts_once_and_both_lines_are_shown(tmp_path: Path) -> None:
    """vobd and hostd tell of one event within a second: it counts once, with a line of each as evidence."""
    (found,), _ = triage(tmp_path, {"vobd.log": [vobd(46.002)], "hostd.log": [hostd(46.214)]})

    assert "Logged once, at 2017" in found["say"]
    assert places(found) == {"vobd.log:1", "hostd.log:1"}


def test_a_rotated_twin_counts_once_too(tmp_path: Path) -> None:
    """The same lines in the log and in a rotated copy are those of one event."""
    logs = {
        "vobd.log": [vobd(46.002)],
        "vobd.0.gz": [vobd(46.002)],
        "hostd.log": [hostd(46.214)],
        "hostd.0.gz": [hostd(46.214)],
    }
    (found,), _ = triage(tmp_path, logs)

    assert "Logged once, at 2017" in found["say"]


def test_an_event_that_only_one_log_has_is_not_lost(tmp_path: Path) -> None:
    """Of three events vobd tells the first, both the second, hostd the third: three count."""
    logs = {
        "vobd.log": [vobd(1), vobd(30)],
        "hostd.log": [hostd(30.9, number=8), hostd(45, number=9, minute=14)],
    }
    (found,), _ = triage(tmp_path, logs)

    assert "Logged 3 times, first at 2017-10-14 09:12:01" in found["say"]
    assert places(found) == {"vobd.log:1", "vobd.log:2", "hostd.log:1", "hostd.log:2"}


def test_events_of_other_objects_and_other_times_are_no_twins(tmp_path: Path) -> None:
    """The text of another switch, and an event minutes later, are events of their own."""
    other = LOST.replace("vSwitch0", "vSwitch1")
    logs = {
        "vobd.log": [vobd(46.002)],
        "hostd.log": [hostd(46.2, text=other), hostd(46.2, minute=19)],
    }
    found, _ = triage(tmp_path, logs)

    assert {(one["object"], one["say"].split(",")[0]) for one in found} == {
        ("vSwitch0", "Logged 2 times"),
        ("vSwitch1", "Logged once"),
    }


def test_hostd_alone_tells_an_event_and_its_end(tmp_path: Path) -> None:
    """Without vobd.log the text of hostd gives the event its id; what clears it is read as well."""
    lost = 'Lost uplink redundancy on virtual switch "vSwitch0". Physical NIC vmnic2 is down.'
    (found,), _ = triage(
        tmp_path, {"hostd.log": [hostd(46, text=lost), hostd(50, "User root@192.0.2.9 logged in")]}
    )

    assert (found["object"], found["severity"]) == ("vSwitch0", "major")
    assert places(found) == {"hostd.log:1"}


def kernel(second: float, text: str, minute: int = 12) -> str:
    """Return a line of vmkernel.log, 5.x to 7.x."""
    return f"2017-10-14T09:{minute}:{second:06.3f}Z cpu2:8054){text}"


SLOW = "Device naa.60000000000000000000000000000001 performance has deteriorated. I/O latency increased from average value of 16512 microseconds to {} microseconds."
LATENCY = "esx.problem.scsi.device.io.latency.high"


def test_vmkernel_alone_tells_a_slow_device(tmp_path: Path) -> None:
    """A pasted vmkernel.log is enough to find a device that took more than a second."""
    file = tmp_path / "vmkernel.log"
    file.write_text(kernel(1, f"WARNING: ScsiDeviceIO: 1218: {SLOW.format(1331746)}") + "\n")
    out = tmp_path / "out"
    done = CliRunner().invoke(
        main, ["triage", str(file), "-o", str(out), "--no-settings", "--no-packs"]
    )
    case = json.loads((out / "case.json").read_text(encoding="utf-8"))

    assert done.exit_code in (0, 1), done.output
    (found,) = [one for one in case["findings"] if one["rule"] == "storage-latency-over-a-second"]
    assert found["severity"] == "major" and places(found) == {"vmkernel.log:1"}


def test_a_slow_device_that_three_logs_tell_of_counts_once(tmp_path: Path) -> None:
    """vobd, hostd and vmkernel tell of one rise of the latency: one event, evidence from the logs, and a second one apart."""
    values = (2000001, 3000001)
    _, case = triage(
        tmp_path,
        {
            "vmkernel.log": [
                kernel(n, f"WARNING: ScsiDeviceIO: 1218: {SLOW.format(v)}")
                for n, v in enumerate(values, 1)
            ],
            "vobd.log": [vobd(n + 0.4, SLOW.format(v), LATENCY) for n, v in enumerate(values, 1)],
            "hostd.log": [hostd(n + 0.9, SLOW.format(v)) for n, v in enumerate(values, 1)],
        },
    )
    (found,) = [one for one in case["findings"] if one["rule"] == "storage-latency-over-a-second"]

    assert "events above 1.0 s: 2, of 2 from" in found["say"]


def test_vmkernel_alone_tells_that_all_paths_are_down_and_back(tmp_path: Path) -> None:
    """APD in vmkernel.log is the event of vobd, and the line that ends it is evidence; vobd.log may hold another start."""
    device = "naa.60000000000000000000000000000001"
    down = kernel(11.204, f"StorageApdHandler: 1205: APD start for 0x4302ff581ad0 [{device}]")
    back = kernel(22.556, f"ScsiDevice: 5036: Device {device} is Out of APD; token num:1")
    (lasting,), _ = triage(tmp_path / "lasting", {"vmkernel.log": [down]})
    (ended,), _ = triage(tmp_path / "ended", {"vmkernel.log": [down, back]})
    (over,), _ = triage(
        tmp_path / "over",
        {"vmkernel.log": [down, back], "vobd.log": [vobd(1, "made up", "vob.made.up")]},
    )

    assert lasting["severity"] == "critical" and lasting["subject"].startswith(device)
    assert places(ended) == {"vmkernel.log:1", "vmkernel.log:2"}
    assert over["severity"] == "warning" and "Cleared by a later event" in over["say"]


def test_a_quiet_hostd_log_does_not_clear_a_host_without_vobd(tmp_path: Path) -> None:
    """hostd repeats only some events: without vobd.log nothing is said to be well, and vobd.log is asked for."""
    found, case = triage(tmp_path, {"hostd.log": [hostd(46, "User root@192.0.2.9 logged in")]})

    assert found == []
    (unknown,) = [one for one in case["cannot_tell"] if "esx-event" in one["rules"]]
    assert "hostd.log holds only some lines of esxi.event" in unknown["why"]
    assert "vobd.log" in unknown["ask"]


@pytest.mark.parametrize("log", ["hostd.log", "vpxa.log"])
def test_an_id_in_a_line_of_an_agent_is_an_event(tmp_path: Path, log: str) -> None:
    """VMware's content pack looks for `esx.problem.` in the logs of the agents: such a line is read, whatever its text."""
    agent = log.partition(".")[0]
    line = f"2017-10-14T09:12:48.002Z verbose {agent}[FFD0B70] [Originator@6876 sub=x] saw esx.problem.hostd.core.dumped"
    (found,), _ = triage(tmp_path, {log: [line]})

    said = "Logged at least once, first at 2017-10-14 09:12:48 UTC or earlier, last at 2017-10-14 09:12:48 UTC or later."
    assert found["say"] == said
    assert places(found) == {f"{log}:1"}


@pytest.mark.size
def test_a_storm_in_both_logs_is_paired_in_short_time(tmp_path: Path) -> None:
    """Two thousand events a log within twenty minutes pair one to one: two thousand count, none is paired twice."""
    moments = [(12 + n // 100, n % 100 * 0.55) for n in range(2000)]
    logs = {
        "vobd.log": [vobd(second, minute=minute) for minute, second in moments],
        "hostd.log": [
            hostd(second + 0.2, minute=minute, number=n)
            for n, (minute, second) in enumerate(moments)
        ],
    }
    (found,), _ = triage(tmp_path, logs)

    assert "Logged 2,000 times, first at " in found["say"]


VSM_EVENT = """\
rule: lab-event
title: The manager tells of a critical event
kb: []
source: made up for a test
status: test
revised: 2026-11-22
about: Made up for a test.

each: it in told per code
subject: "event {{it.code}}"
object: "{{it.code}}"
logs:
  told:
    in: {table}
    match: '{match}'
when: true
outcomes:
  - {{when: true, severity: warning, confidence: likely, say: It is there.}}
evidence: [it.code]

fix:
  - {{where: the manager, do: Read it.}}
not_this:
  - A test.
ask: vsm.log
"""


def test_a_vsm_log_fills_both_tables(tmp_path: Path) -> None:
    """Rules over the lines and over the system events of one vsm.log both find theirs; other lines are no events."""
    event = (
        "2017-01-08 04:37:00.422 GMT+00:00  INFO TaskFrameworkExecutor-18 SystemEventDaoImpl:133 - [SystemEvent] "
        "Time:'Sun Jan 08 04:37:00.410 GMT+00:00 2017', Severity:'Critical', Event Source:'NSX Manager', Code:'340004', "
        "Event Message:'The scale is beyond its bound.', Module:'NSX Manager', Universal Object:'false'"
    )
    line = "2017-01-08 04:36:00.422 GMT+00:00  INFO main Sync:1 - Severity:'Critical' in a line that is no event"
    path = tmp_path / "case" / "nsxmgr01-techsupport" / "logs" / "vsm.log"
    path.parent.mkdir(parents=True)
    path.write_text(f"{line}\n{event}\n", encoding="utf-8")
    kb = tmp_path / "kb"
    kb.mkdir()
    events = VSM_EVENT.format(table="nsx.vsm_event", match="Severity:.Critical")
    (kb / "lab-event.yaml").write_text(events, encoding="utf-8")
    lines = VSM_EVENT.format(table="nsx.vsm_log", match="(?P<code>Sync):").replace(
        "lab-event", "lab-line"
    )
    (kb / "lab-line.yaml").write_text(
        lines.replace("The manager tells", "A line tells"), encoding="utf-8"
    )
    out = tmp_path / "out"
    command = [
        "triage",
        str(tmp_path / "case"),
        "--kb",
        str(kb),
        "-o",
        str(out),
        "--no-settings",
        "--no-packs",
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code in (0, 1), done.output
    case = json.loads((out / "case.json").read_text(encoding="utf-8"))

    found = {one["rule"]: [item["line"] for item in one["evidence"]] for one in case["findings"]}
    assert found == {"lab-event": [2], "lab-line": [1], "nsx-system-event": [2]}
    assert [one["object"] for one in case["findings"] if one["rule"] == "lab-event"] == ["340004"]
