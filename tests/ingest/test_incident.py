"""`--incident TIME`: the time line centres on it, and each log says whether it covers that time.

All lines here are synthetic; their forms are those of parsers/esxi/logs/vobd.py.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs, to_builtins

from analyzer.case import case_file
from analyzer.case.document import CaseNode, NodeLog
from analyzer.cli import main
from analyzer.pipeline.case import fill_record
from analyzer.report import html, incident, markdown

TOP = "esx-esx0.lab.example-2017-10-14--16.53-71234"
LOGS = f"case/{TOP}/var/run/log"


def vobd(day: int, second: int, event: str = "esx.problem.scsi.device.io.latency.high") -> str:
    """Return a line of vobd.log of October 2017."""
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"2017-10-{day:02}T{clock}.002Z: [GenericCorrelator] 844396129us: [{event}] (synthetic) text"


def vmkernel(day: int, hour: int) -> str:
    """Return a line of vmkernel.log of October 2017."""
    return f"2017-10-{day:02}T{hour:02}:00:00.114Z cpu3:2097616)Synthetic: a line"


def triage(
    folder: Path, files: dict[str, list[str]], *more: str, code: int = 0
) -> tuple[dict[str, Any], str]:
    """Return the case of a bundle with some logs, and what the command printed."""
    for name, lines in files.items():
        path = folder / LOGS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
    command = [
        "triage",
        str(folder / "case"),
        "-o",
        str(folder / "out"),
        "--no-settings",
        "--no-packs",
        "--all",
        *more,
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == code, done.output
    return (case_file.read_case(folder / "out" / "case.json") if code == 0 else {}), done.output


FILES = {
    "vmkernel.log": [vmkernel(10, 8), vmkernel(14, 9)],
    "vmkernel.0.gz": [vmkernel(1, 8), vmkernel(5, 9)],
    "vobd.log": [vobd(12, 0), vobd(14, 0)],
    "vobd.0.gz": [vobd(2, 0), vobd(12, 0)],
    "hostd.log": [
        "2017-10-14T09:12:46.002Z info hostd[2B2C1B70] [Originator@6876 sub=Synth] a line"
    ],
}


def said(doc: dict[str, Any]) -> dict[str, tuple[bool, str]]:
    """Return what is said of each log."""
    return {one.log: (one.covers, one.text) for one in incident.list_answers(doc)}


def test_each_log_says_whether_it_covers_the_incident(tmp_path: Path) -> None:
    """vobd goes on over its rotation; between two files of vmkernel lie five days; hostd begins days later."""
    doc, shown = triage(tmp_path, FILES, "--incident", "2017-10-07T12:00:00Z")

    assert said(doc) == {
        "esxi.hostd": (False, "begins 6.9 d after it: its older files are missing"),
        "esxi.vmkernel": (
            False, "has nothing from 2017-10-05 09:00:00 UTC to 2017-10-10 08:00:00 UTC: a file may be missing, or the clock was set forward"
        ),
        "esxi.vobd": (True, "covers it"),
    }  # fmt: skip
    summary = "Incident at 2017-10-07 12:00:00 UTC: 1 of 3 logs covers it"
    assert summary in " ".join(shown.split())
    assert summary in html.render_page(doc)
    assert summary in markdown.render_note(doc).replace("\\", "")


def test_a_log_that_ends_before_the_incident_says_so(tmp_path: Path) -> None:
    """A time after the capture is covered by nothing."""
    doc, _ = triage(tmp_path, FILES, "--incident", "2017-10-15 00:00")

    assert said(doc)["esxi.vobd"] == (False, "ends 1.0 d before it")
    assert not any(covers for covers, _ in said(doc).values())


def test_a_time_with_a_zone_is_told_in_utc(tmp_path: Path) -> None:
    """14:00 at +02:00 is 12:00 UTC; a boot before it is told."""
    files = {**FILES, "vobd.log": [vobd(7, 0, "esx.audit.host.boot"), *FILES["vobd.log"]]}
    doc, _ = triage(tmp_path, files, "--incident", "2017-10-07T14:00:00+02:00")

    assert doc.case.incident == "2017-10-07T12:00:00Z"
    assert incident.list_boots(doc) == [
        "esx0.lab.example booted 12.0 h before it (2017-10-07 00:00:00 UTC)"
    ]


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("06:15", "2017-10-14T06:15:00Z"),
        ("9:00:00Z", "2017-10-14T09:00:00Z"),
        ("23:59", "2017-10-13T23:59:00Z"),
    ],
)
def test_a_time_of_day_is_the_last_one_in_the_material(
    tmp_path: Path, typed: str, moment: str
) -> None:
    """The capture is of 16:53 on the 14th: what is later in the day was on the day before."""
    doc, _ = triage(tmp_path, {"vobd.log": [vobd(14, 0)]}, "--incident", typed)

    assert doc.case.incident == moment
    lines = CliRunner().invoke(
        main, ["log", str(tmp_path / "case"), "--case", str(tmp_path / "out"), "--around", "00:02"]
    )
    assert "2017-10-14T00:00:00.002Z" in lines.output


def test_a_time_of_day_without_any_day_is_refused(tmp_path: Path) -> None:
    """Nothing in a pasted output has a date; the command says to give it. So does `log` without a case.json."""
    notes = tmp_path / "notes.txt"
    notes.write_text("[root@esx0:~] esxcli storage core adapter list\n", encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(notes), "--incident", "06:15", "--format", "note"]
    )
    read = CliRunner().invoke(main, ["log", str(notes), "--around", "06:15"])

    assert done.exit_code == 2
    assert "it is not known on which day 06:15:00 was" in done.output
    assert "'06:15' names no day" in read.output


@pytest.mark.size
def test_the_time_line_keeps_what_is_nearest_to_the_incident(tmp_path: Path) -> None:
    """Of 2,000 events the 400 around the incident are kept; without it the first and the last."""
    files = {"vobd.log": [vobd(10, number * 40) for number in range(2000)]}
    near, _ = triage(tmp_path, files, "--incident", "2017-10-10T11:06:40Z")
    far, _ = triage(tmp_path, files)

    times = [event.time for event in near.timeline if "latency.high" in event.text]
    assert (times[0], times[-1]) == ("2017-10-10T08:53:20Z", "2017-10-10T13:18:40Z")
    assert [event.kind for event in near.timeline].count("incident") == 1
    assert any("earlier events are not shown" in event.text for event in near.timeline)
    assert any("later events are not shown" in event.text for event in near.timeline)
    assert any(event.time == "2017-10-10T00:00:00Z" for event in far.timeline)
    assert not any("11:06" in event.time for event in far.timeline)


def test_problems_stay_when_audits_would_crowd_them_out(tmp_path: Path) -> None:
    """Of 1,000 events of shells between 100 problems all problems are shown, and the shells are counted."""
    lines = [
        vobd(
            10,
            n * 60,
            "esx.audit.shell.enabled" if n % 11 else "esx.problem.scsi.device.io.latency.high",
        )
        for n in range(1100)
    ]
    doc, _ = triage(tmp_path, {"vobd.log": [*lines, vobd(10, 70_000, "esx.audit.host.boot")]})

    assert any("esx.audit.host.boot" in event.text for event in doc.timeline)
    assert sum("latency.high" in event.text for event in doc.timeline) == 100
    assert any("1000 events of shells" in event.text for event in doc.timeline)


def test_a_word_that_is_no_time_is_refused(tmp_path: Path) -> None:
    """The command says how to write a time."""
    _, shown = triage(tmp_path, FILES, "--incident", "noonish", code=2)

    assert "'noonish' is not a time" in shown
    assert "2017-10-14T09:12:46Z" in shown


def test_without_an_incident_nothing_is_said_of_it(tmp_path: Path) -> None:
    """No section, no line; a document of an earlier version is read as one without."""
    doc, shown = triage(tmp_path, FILES)
    old = to_builtins(doc)
    del old["case"]["incident"]
    for node in old["nodes"]:
        for log in node["logs"]:
            del log["parts"]
    read = case_file.parse_case(json.dumps(old), "old")

    assert read.case.incident == ""
    for text in (shown, html.render_page(doc), html.render_page(read)):
        assert "Incident at" not in text


def test_the_report_tells_what_is_missing_between_the_files_of_a_log(tmp_path: Path) -> None:
    """Without an incident, too, the span of a log says where a rotated file may be missing; a log without a hole says nothing."""
    doc, _ = triage(tmp_path, FILES)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    logs = {log.table: incident.describe_gaps(log) for node in doc.nodes for log in node.logs}

    assert (
        logs["esxi.vmkernel"] == "nothing from 2017-10-05 09:00:00 UTC to 2017-10-10 08:00:00 UTC"
    )
    assert logs["esxi.vobd"] == ""
    assert f'<td data-label="Between its files">{logs["esxi.vmkernel"]}</td>' in page


def test_a_clock_that_went_back_is_told_beside_the_host(tmp_path: Path) -> None:
    """An hour back in two logs is one remark with the times of the first; disorder of seconds is none."""
    back = [vmkernel(10, 8), vmkernel(10, 12), vmkernel(10, 11), vmkernel(10, 13)]
    doc, terminal = triage(
        tmp_path / "back",
        {"vmkernel.log": back, "vobd.log": [vobd(10, 43_200), vobd(10, 39_600)] * 2},
    )
    even, _ = triage(
        tmp_path / "even",
        {"vmkernel.log": [vmkernel(10, 8)], "vobd.log": [vobd(10, 59), vobd(10, 3)]},
    )

    told = "the clock went back in vmkernel.log from 2017-10-10 12:00:00 UTC to 2017-10-10 11:00:00 UTC"
    assert [one for one in doc.nodes[0].warnings if "clock" in one] == [
        f"{told}; 1 more log shows a step back: times around it are unreliable"
    ]
    assert told in " ".join(terminal.split())
    assert not [one for one in even.nodes[0].warnings if "clock" in one]


def up(day: int, second: int, uptime: int) -> str:
    """Return a line of vobd with the uptime in seconds beside the time."""
    time = f"2017-10-{day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
    return f"{time}: [netCorrelator] {uptime}000000us: [vob.synthetic] made up"


def test_a_clock_that_was_set_forward_is_told_apart_from_a_gap(tmp_path: Path) -> None:
    """Two hours go by while the host is up for a minute: the clock was set. Two quiet hours, and a boot, are none."""
    told = {
        name: [
            one
            for one in triage(tmp_path / name, {"vobd.log": lines})[0].nodes[0].warnings
            if "clock" in one
        ]
        for name, lines in {
            "set": [up(10, 100, 5000), up(10, 160, 5060), up(10, 7360, 5120), up(10, 7400, 5160)],
            "quiet": [up(10, 100, 5000), up(10, 7300, 12_200), up(10, 7400, 12_300)],
            "booted": [up(10, 100, 5000), up(10, 7300, 60), up(10, 7400, 160)],
            "drifts": [up(10, 100, 5000), up(25, 100 + 300, 5000 + 15 * 86_400)],
        }.items()
    }

    assert told == {
        "set": [
            "the clock went forward in vobd.log from 2017-10-10 00:02:40 UTC to 2017-10-10 02:02:40 UTC "
            "(the uptime beside it shows that it is no gap): times around it are unreliable"
        ],
        "quiet": [],
        "booted": [],
        "drifts": [],
    }


def test_each_log_says_which_boot_its_lines_belong_to() -> None:
    """By the uptime at the capture: all since the boot, all before it, or both; nothing where no uptime is known."""
    node = fill_record(CaseNode, {"captured": "2017-10-14T16:53:20Z", "uptime_s": 4 * 86_400.0})
    boot = "boot of 2017-10-10 16:53:20 UTC"
    logs = {"since": (10, 14), "before": (5, 9), "both": (5, 14)}
    told = {
        name: incident.describe_boot(
            node,
            fill_record(
                NodeLog,
                {"first": f"2017-10-{first:02}T17:00:00Z", "last": f"2017-10-{last:02}T16:00:00Z"},
            ),
        )
        for name, (first, last) in logs.items()
    }

    assert told == {
        "since": f"all since the {boot}",
        "before": f"all before the {boot}",
        "both": f"also before the {boot}",
    }
    assert (
        incident.describe_boot(
            structs.replace(node, uptime_s=None),
            fill_record(NodeLog, {"first": "2017-10-10T17:00:00Z", "last": ""}),
        )
        == ""
    )


def test_the_page_has_the_boot_beside_each_log(tmp_path: Path) -> None:
    """A bundle with an uptime: the row of its log names the boot."""
    files = {
        **FILES,
        "../../../commands/localcli_system-stats-uptime-get.txt": [str(4 * 86_400 * 1_000_000)],
    }
    doc, _ = triage(tmp_path, files)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    (node,) = [node for node in doc.nodes if node.logs]

    assert node.uptime_s == 4 * 86_400 and node.captured
    for log in node.logs:
        assert (
            told := incident.describe_boot(node, log)
        ) and f'<td data-label="Boot">{told}</td>' in page


def test_a_step_back_is_found_in_a_large_log(tmp_path: Path) -> None:
    """In a log of some megabytes a step of an hour is found where it stands, and told once."""
    hours = [*range(6), *range(5, 11)]  # hour 5 comes twice
    lines = [
        f"2017-10-10T{hour:02}:{n // 60:02}:{n % 60:02}.001Z cpu3:2097616)Synthetic: line {'x' * 40}"
        for hour in hours
        for n in range(3600)
    ]
    doc, _ = triage(tmp_path, {"vmkernel.log": lines})
    (told,) = [one for one in doc.nodes[0].warnings if "clock" in one]

    assert (
        "from 2017-10-10 05:59" in told
        and "to 2017-10-10 05:0" in told
        and "times in all" not in told
    )
