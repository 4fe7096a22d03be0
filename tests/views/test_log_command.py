"""`backline log`: the lines of all logs of some material, of all hosts, merged by their time in UTC.

All lines are synthetic, in the forms of the logs they stand in.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.pipeline.triage import read_case
from analyzer.report import finding_rows
from analyzer.views import log_reading
from tests.kit.full_size import scale_size
from tests.kit.memory_kit import peak
from tools import make_bundle, nsx_site
from tools.case_pack import tgz
from tools.planted import PROBLEMS

HOST = "esx-esx7.lab.example-2017-10-14--12.00-71234"
MTIME = 1_507_980_000  # 2017-10-14T11:20:00Z


def run(*words: object, given: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["log", *map(str, words)], input=given)


def lines(*words: object, given: bytes | None = None) -> list[dict[str, Any]]:
    done = run(*words, "--format", "jsonl", given=given)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def bundle(path: Path, logs: dict[str, str | bytes], mtimes: dict[str, int] | None = None) -> Path:
    """A small vm-support bundle of one host with some logs, each with the time of its file."""
    files: dict[str, str | bytes] = {
        "commands/uname_-a.txt": "VMkernel esx7.lab.example 6.5.0 #1 SMP Release build-5969303 x86_64 x86_64 ESXi\n",
        **{f"var/run/log/{name}": body for name, body in logs.items()},
    }
    with tarfile.open(path, "w:gz") as tar:
        for name, body in files.items():
            data = body.encode() if isinstance(body, str) else body
            info = tarfile.TarInfo(f"{HOST}/{name}")
            info.size, info.mtime = len(data), (mtimes or {}).get(name.rpartition("/")[2], MTIME)
            tar.addfile(info, io.BytesIO(data))
    return path


def vmkernel(minute: int, text: str = "Synthetic: nothing of note", hour: int = 9) -> str:
    return f"2017-10-14T{hour:02}:{minute:02}:00.123Z cpu3:65912){text}\n"


def test_lines_of_two_hosts_and_the_manager_come_in_order_of_time_each_with_its_address(
    tmp_path: Path,
) -> None:
    """A site of two hosts, a controller and a Manager: one list by UTC, and every address holds its line."""
    site = tmp_path / "site"
    site.mkdir()
    for name, body in nsx_site.make_state("majority lost").items():
        (site / name).write_bytes(body.encode() if isinstance(body, str) else body)

    found = lines(site, "--around", "2017-10-02T08:25:00", "--for", "30m")

    times = [one["time"] for one in found]
    assert times == sorted(times)
    assert {"esx41.lab.example", "esx42.lab.example", "nsx-controller-1"} < {
        one["host"] for one in found
    }
    assert {"vmkernel", "vsm_log", "controller_java"} < {one["log"] for one in found}
    assert all("2017-10-02T08:10:00" <= time <= "2017-10-02T08:40:00.000Z" for time in times)
    for one in found[::7]:
        outer, _, member = one["address"].partition("!")
        with tarfile.open(site / outer) as tar:
            stream = tar.extractfile(member)
            assert stream is not None
            body = gzip.decompress(stream.read()) if member.endswith(".gz") else stream.read()
        assert body.decode().splitlines()[one["line"] - 1] == one["text"]


def test_logs_are_read_wherever_they_lie(tmp_path: Path) -> None:
    """A rotated log packed by gzip in a bundle in a zip-like archive, a loose log, and standard input give their lines."""
    inner = bundle(tmp_path / "host.tgz", {
        "vmkernel.log": vmkernel(20), "vmkernel.0.gz": gzip.compress(vmkernel(10).encode()),
    })  # fmt: skip
    outer = tmp_path / "mail.tgz"
    outer.write_bytes(tgz({"upload/host.tgz": inner.read_bytes()}))
    loose = tmp_path / "vmkernel.log"
    loose.write_text("".join(vmkernel(minute) for minute in range(30, 40)), encoding="utf-8")

    assert [one["time"][11:16] for one in lines(outer)] == ["09:10", "09:20"]
    assert (
        lines(outer)[0]["address"] == f"mail.tgz!upload/host.tgz!{HOST}/var/run/log/vmkernel.0.gz"
    )
    assert len(lines(loose)) == 10
    found = lines("-", given=loose.read_bytes())
    assert [(one["address"], one["line"]) for one in found] == [
        ("stdin", number) for number in range(1, 11)
    ]
    assert len(lines("-", given=gzip.compress(loose.read_bytes()))) == 10


def test_lines_are_chosen_by_window_host_object_pattern_and_level(tmp_path: Path) -> None:
    """Each choice leaves what it says; a line that states no level is told of, not lost in silence."""
    path = bundle(tmp_path / "host.tgz", {
        "vmkernel.log": vmkernel(0) + vmkernel(4, "WARNING: Synth: vmnic3 is slow") + vmkernel(9, "Synth: vmnic30 up"),
        "vobd.log": "2017-10-14T09:04:30.000Z: [netCorrelator] 35us: [synth.one] vmnic3 it is\n",
    })  # fmt: skip

    assert len(lines(path)) == 4
    assert [one["log"] for one in lines(path, "--around", "2017-10-14T11:04:00+02:00", "--for", "2m")] == [
        "vmkernel", "vobd",
    ]  # fmt: skip
    assert [one["log"] for one in lines(path, "--object", "vmnic3")] == ["vmkernel", "vobd"]
    assert [one["line"] for one in lines(path, "--grep", r"vmnic\d+ up")] == [3]
    assert [
        (one["level"], one["component"], one["object"]) for one in lines(path, "--level", "error")
    ] == []
    assert [(one["level"], one["component"], one["object"]) for one in lines(path, "--level", "warning")] == [
        ("warning", "Synth", "vmnic3"),
    ]  # fmt: skip
    assert "without a level: 1 line" in run(path, "--level", "warning").stderr
    assert len(lines(path, "--host", "ESX7")) == 4
    wrong = run(path, "--host", "esx8")
    assert (wrong.exit_code, "esx7.lab.example" in wrong.stderr) == (2, True)


@pytest.mark.size
@pytest.mark.parametrize(
    ("words", "pattern"),
    [(("--grep", r"vmnic1\d link (?:up|down)"), r"vmnic1\d link (?:up|down)"), (("--object", "VMNIC7"), r"\bvmnic7\b"),
     (("--grep", "(?i)LINK DOWN$"), "link down$"), (("--grep", r"\d"), r"\d")],
)  # fmt: skip
def test_a_word_is_found_wherever_it_stands_in_a_long_log(
    tmp_path: Path, words: tuple[str, str], pattern: str
) -> None:
    """Stretches without the word are passed over, and no line is lost: the same lines as by looking at each."""
    dice = random.Random(7)
    body = [
        f"2017-10-14T09:{n // 60 % 60:02}:{n % 60:02}.{n // 3600:03}Z cpu1:2)Synth: {'x' * dice.randrange(200)} "
        + (
            f"vmnic{dice.randrange(20)} link {dice.choice(('up', 'down', 'flap'))}"
            if dice.random() < 0.005
            else "ok"
        )
        for n in range(9_000)
    ]
    path = bundle(tmp_path / "host.tgz", {"vmkernel.log": "\n".join(sorted(body)) + "\n"})

    wanted = [n for n, line in enumerate(sorted(body), 1) if re.search(pattern, line)]
    assert wanted
    assert [one["line"] for one in lines(path, *words)] == wanted


def test_a_window_without_a_line_says_what_was_searched(tmp_path: Path) -> None:
    """The names of hosts and logs and the time that each covers are told, and the status is that of a full answer."""
    path = bundle(tmp_path / "host.tgz", {"vmkernel.log": vmkernel(0) + vmkernel(9)})

    done = run(path, "--around", "2017-10-14T10:30:00")

    assert (done.exit_code, done.stdout) == (0, "")
    assert (
        "esx7.lab.example vmkernel: 2017-10-14T09:00:00Z to 2017-10-14T09:09:00Z, 1 file"
        in done.stderr
    )


def test_a_log_far_from_the_window_is_not_read_and_one_whose_file_has_a_wrong_time_is(
    tmp_path: Path,
) -> None:
    """Of three rotated logs the one written long before and the one that begins later are skipped, which is said."""
    day = {number: f"2017-10-{number:02}T09:00:00.000Z cpu1:2)Synthetic\n" for number in (1, 5, 14)}
    logs = {"vmkernel.2.gz": day[1], "vmkernel.1.gz": day[5], "vmkernel.0.gz": day[14]}
    packed: dict[str, str | bytes] = {
        name: gzip.compress(text.encode()) for name, text in logs.items()
    }
    right = {"vmkernel.2.gz": MTIME - 13 * 86400, "vmkernel.1.gz": MTIME - 9 * 86400}
    lost = {"vmkernel.1.gz": 0}  # before its own first line: no time of a write

    path = bundle(tmp_path / "host.tgz", packed, right)
    done = run(path, "--around", "2017-10-05T09:00:00")
    assert len(done.stdout.splitlines()) == 1
    assert "1 log of esx7.lab.example searched; 2 more do not reach into it" in done.stderr
    path = bundle(tmp_path / "lost.tgz", packed, right | lost)
    assert len(lines(path, "--around", "2017-10-05T09:00:00")) == 1


def test_lines_without_time_year_or_order_stand_where_they_belong(tmp_path: Path) -> None:
    """What continues a line goes with it, a year is a guess that is told, and a step of the clock is told."""
    path = bundle(tmp_path / "host.tgz", {
        "vmkernel.log": "the rest of a line that was cut\n" + vmkernel(20, "Backtrace for current CPU")
        + "  0x1: synthetic frame vmnic9\n" + vmkernel(30) + vmkernel(5) + "\0" * 40,
    })  # fmt: skip

    found = lines(path)
    assert [(one["line"], one["time"][14:16], one["assumed"]) for one in found] == [
        (5, "05", []), (2, "20", []), (3, "20", ["time"]), (4, "30", []),
    ]  # fmt: skip
    assert [one["line"] for one in lines(path, "--object", "vmnic9")] == [2, 3]
    told = run(path).stderr
    assert "no line above them has a time: 1 line, the first in host.tgz!" in told
    assert "40 NUL bytes where lines were" in told
    assert "the clock went back from 2017-10-14T09:30:00Z to 2017-10-14T09:05:00Z" in told
    yearless = tmp_path / "messages"
    yearless.write_text(
        "".join(
            f"Oct 14 09:{n:02}:00 esx7 vmkernel: 0:01:02:03.004 cpu1:2)Synth\n" for n in range(9)
        )
    )
    found = lines(yearless, "--around", "2017-10-14T09:04:00", "--for", "4m")
    assert [(one["host"], one["assumed"]) for one in found] == [("esx7", ["year", "zone"])] * 5
    assert (
        "name no year: 2017 is a guess" in run(yearless, "--around", "2017-10-14T09:04:00").stderr
    )


def test_a_line_in_two_logs_of_a_host_is_shown_once(tmp_path: Path) -> None:
    """vmkwarning.log repeats vmkernel.log: each line is shown as often as one of them has it, and the rest is told."""
    line = vmkernel(4, "WARNING: Synth: it is slow") * 2
    path = bundle(tmp_path / "host.tgz", {"vmkernel.log": line, "vmkwarning.log": line})

    assert len(lines(path)) == 2
    assert "repeated in a second log of the host: 2 lines" in run(path).stderr


def test_hostile_lines_steer_neither_terminal_nor_spreadsheet_and_secrets_are_hidden(
    tmp_path: Path,
) -> None:
    """Escapes and bytes that are no text are shown as such, a formula is quoted, a password is not there."""
    text = "Synth: \x1b[31mred\u202e password=hunter2secret =cmd|'/c calc'!A0 "
    body = vmkernel(4, text).encode()[:-1] + b"\xff\xfe\n=1+2\n"
    path = bundle(tmp_path / "host.tgz", {"vmkernel.log": body})

    for form in ("text", "jsonl", "csv"):
        done = run(path, "--format", form)
        assert done.exit_code == 0, done.output
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.stdout), form
        assert "hunter2secret" not in done.output
    assert "\\x1b[31mred" in run(path).stdout
    rows = list(csv.DictReader(io.StringIO(run(path, "--format", "csv").stdout)))
    assert [row["text"][:3] for row in rows] == ["201", "'=1"]


@pytest.mark.size
def test_a_finding_of_the_case_names_the_moment(tmp_path: Path) -> None:
    """Id, number and `rule@subject` of a finding give the stretch around its lines; a wrong name lists what there is."""
    path = tmp_path / "host.tgz"
    problem = next(one for one in PROBLEMS if one.problem == "all paths down, timed out")
    make_bundle.write_bundle(path, 3_000_000, dumps=False, problems=(problem,))
    out = tmp_path / "out"
    assert CliRunner().invoke(main, ["triage", str(path), "-o", str(out), "--quiet"]).exit_code == 0
    document = case_file.read_case(out / "case.json")
    finding = next(one for one in document.findings if one.rule == "esx-event")
    number = finding_rows.number_findings(document)[finding.id]

    texts = []
    for name in (finding.id, number, f"{finding.rule}@{finding.subject}"):
        found = lines(path, "--around", name, "--case", out, "--for", "2m")
        texts.append([one["text"] for one in found])
    assert texts[0] == texts[1] == texts[2]
    assert finding.evidence[0].text in texts[0]
    wrong = run(path, "--around", "no-such-rule", "--case", out)
    assert (wrong.exit_code, finding.id in wrong.stderr) == (2, True)
    assert run(path, "--around", "no-such-rule").exit_code == 2


@pytest.mark.size
def test_the_report_keeps_the_lines_around_a_finding_and_its_command_prints_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of the case document are lines of the logs around its moments; the command beside the finding has them all."""
    path = tmp_path / "host.tgz"
    make_bundle.write_bundle(path, 1_000_000, dumps=False, problems=PROBLEMS[:3])
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["triage", "host.tgz", "--quiet", "-o", "out"]).exit_code == 0
    document = json.loads(Path("out/case.json").read_text())
    page = Path("out/report.html").read_text()

    kept = document["log"]
    assert [one["time"] for one in kept] == sorted(one["time"] for one in kept)
    assert len(PROBLEMS[:3]) <= len(kept) <= 300
    evidence = [
        line
        for one in document["findings"]
        if one["rule"] == "esx-event"
        for line in one["evidence"]
    ]
    assert {line["text"] for line in evidence} <= {one["text"] for one in kept}
    told = re.findall(
        r"([\d,]+) lines? kept of about ([\d,]+); about [\d,]+ of them within 5 min:.*?<code>(backline log [^<]+)</code>",
        page, re.DOTALL,
    )  # fmt: skip
    assert told
    for count, about, command in told[:1]:
        found = lines(*shlex.split(command)[2:], "--for", "10m")
        texts = {(one["address"], one["line"]): one["text"] for one in found}
        around = [one for one in kept if (one["address"], one["line"]) in texts]
        assert {texts[one["address"], one["line"]] for one in around} == {
            one["text"] for one in around
        }
        assert len(around) == int(count)
        assert len(found) / 2 <= int(about.replace(",", "")) <= len(found) * 2


DEVICE = "naa.6006016055711d00cff95e65664ee0aa"


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[str]]:
    """Three hosts of 3,000 lines within ten minutes, a device lost on the second; the results, and the log lines printed."""
    folder = tmp_path_factory.mktemp("dense") / "hosts"
    folder.mkdir()
    lost = f"cpu1:2)Synth: path to {DEVICE} is gone"
    event = f"[scsiCorrelator] 35us: [esx.problem.scsi.device.state.permanentloss] Device: {DEVICE} is lost."
    for number in (1, 2, 3):
        stamps = [
            f"2017-10-14T09:{at // 300:02}:{at % 300 // 5:02}.{at % 5}00Z" for at in range(3000)
        ]
        kernel = [
            f"{stamp} cpu{at % 8}:65912)Synth: line {at} of it" for at, stamp in enumerate(stamps)
        ]
        kernel[1510] = f"{stamps[1510]} {lost}"
        top = f"esx-esx{number}.lab.example-2017-10-14--09.12-7{number}"
        logs = {"vmkernel.log": "\n".join(kernel) + "\n"}
        if number == 2:
            logs["vobd.log"] = f"{stamps[1500]}: {event}\n"
        uname = f"VMkernel esx{number}.lab.example 6.5.0 #1 SMP Release build-5969303 x86_64 x86_64 ESXi\n"
        members = {f"{top}/var/run/log/{name}": body for name, body in logs.items()}
        (folder / f"{top}.tgz").write_bytes(tgz({f"{top}/commands/uname_-a.txt": uname, **members}))
    out = folder.parent / "out"
    said = (
        CliRunner()
        .invoke(main, ["triage", str(folder), "-o", str(out), "--no-settings", "--no-packs"])
        .stdout
    )
    return folder, out, [line for line in said.splitlines() if line.startswith("log: ")]


def test_where_all_hosts_have_more_lines_than_anybody_reads_the_commands_printed_ask_for_fewer(
    dense: tuple[Path, Path, list[str]],
) -> None:
    """One command has the minutes of the finding's host, one its object on all hosts; the report gives the first."""
    _, out, said = dense
    own, thing = (shlex.split(line)[3:] for line in said)
    mine = lines(*own)
    assert {one["host"] for one in mine} == {"esx2.lab.example"}
    assert 1000 < len(mine) <= 5000
    everyone = lines(*thing)
    assert [one["host"] for one in everyone if one["log"] == "vmkernel"] == [
        f"esx{n}.lab.example" for n in (1, 2, 3)
    ]
    assert all(DEVICE in one["text"] for one in everyone)
    page = (out / "report.html").read_text()
    assert re.search(
        r"kept of about 9,000; about 3,000 on esx2\.lab\.example:.*?<code>backline log [^<]+ --host esx2",
        page,
        re.S,
    )


@pytest.mark.size
def test_log_says_before_the_first_line_that_they_are_many_and_how_to_get_fewer(
    dense: tuple[Path, Path, list[str]],
) -> None:
    """Around a finding the number is known before anything is read; else it is said when more than 5,000 were met."""
    folder, out, _ = dense
    named = run(folder, "--case", out, "--around", "1").stderr.splitlines()
    ways = f"fewer: --level warning, --host esx2.lab.example, --object {DEVICE}, --grep RE or a shorter --for"
    assert (named[0], named[-1]) == (f"backline: about 9,000 lines; {ways}", f"backline: {ways}")
    timed = run(folder, "--around", "2017-10-14T09:05:00").stderr.splitlines()
    ways = "fewer: --level warning, --host H, --object vmnic3, --grep RE or a shorter --for"
    assert (timed[0], timed[-1]) == (
        f"backline: more than 5,000 lines; {ways}",
        f"backline: {ways}",
    )
    assert "fewer" not in run(folder, "--around", "2017-10-14T09:05:00", "--for", "1m").stderr
    assert (
        "--grep '(?i)SYNTH' does not"
        in run(folder, "--grep", "SYNTH", "--around", "2017-10-14T09:05:00").stderr
    )


@pytest.mark.size
def test_the_lines_of_one_host_are_those_that_a_reading_of_all_gives_it(
    dense: tuple[Path, Path, list[str]],
) -> None:
    """--host reads the logs of that host alone where those of all are many: the same lines, and the logs that were searched."""
    folder, _, _ = dense
    around = "--around", "2017-10-14T09:05:00"
    done = run(folder, *around, "--host", "ESX3", "--format", "jsonl")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [one for one in lines(folder, *around) if one["host"] == "esx3.lab.example"]
    assert len(found) == 3000
    assert "3,000 lines" in done.stderr
    assert "1 log of esx3.lab.example searched" in done.stderr


@pytest.mark.parametrize("most", [1 << 30, 5_000, 1])
def test_what_does_not_fit_into_memory_is_read_again(tmp_path: Path, most: int) -> None:
    """However little memory there is, all lines come, in order, each once; those of standard input too."""
    logs = {
        f"vmkernel.{n}.gz": "".join(vmkernel(n, f"Synth: {s}") for s in range(6)) for n in range(6)
    }
    path = bundle(
        tmp_path / "host.tgz", {name: gzip.compress(text.encode()) for name, text in logs.items()}
    )
    limit = "--limit", f"log_bytes={most}"

    found = lines(path, *limit)

    assert [(one["time"], one["line"]) for one in found] == sorted(
        (one["time"], one["line"]) for one in found
    )
    assert len({(one["address"], one["line"]) for one in found}) == len(found) == 36
    assert [one["text"] for one in lines("-", *limit, given=path.read_bytes())] == [
        one["text"] for one in found
    ]


def test_lines_that_fit_packed_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of several logs that take four times the memory as they are, and less packed, cost one reading, and are in order."""
    logs = {
        f"{name}.log": "".join(
            f"2017-10-14T09:{n // 60:02}:{n % 60:02}.{rest}Z cpu3:65912)Synth: {n}\n"
            for n in range(3000)
        )
        for name, rest in (("vmkernel", 123), ("vmkwarning", 456), ("vobd", 789))
    }
    path = bundle(tmp_path / "host.tgz", logs)
    readings = []
    monkeypatch.setattr(
        log_reading, "read_case", lambda *given: readings.append(1) or read_case(*given)
    )

    found = lines(path, "--limit", "log_bytes=1500000")

    assert [one["time"] for one in found] == sorted(one["time"] for one in found)
    assert len({(one["address"], one["line"]) for one in found}) == len(found) == 9000
    assert len(readings) == 1


@pytest.mark.timed
def test_all_lines_of_a_bundle_cost_at_most_three_times_its_triage(tmp_path: Path) -> None:
    """CPU time of both commands on 40 MB of text; a log of every line is the dearest one there is.

    A machine that slows down between the two, as a busy one does, is measured again.
    """
    resource = pytest.importorskip("resource")  # not on Windows
    path = tmp_path / "host.tgz"
    make_bundle.write_bundle(path, 40_000_000, dumps=False, problems=PROBLEMS)

    def measure_command(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([sys.executable, "-m", "analyzer", *words], check=False, capture_output=True)
        spent: float = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return spent

    ratios: list[float] = []
    while len(ratios) < 3 and not any(ratio <= 3 for ratio in ratios):
        triage = measure_command("triage", str(path), "-o", str(tmp_path / "out"), "--quiet")
        ratios.append(measure_command("log", str(path)) / triage)
    assert min(ratios) <= 3, ratios


@pytest.mark.parametrize(
    "words",
    [("--around", "never"), ("--for", "10m"), ("--around", "2017-10-14", "--for", "ten"), ("--grep", "("),
     ("--around", "2017-10-14", "--for", "0s"), ("--limit", "lines=3")],
)  # fmt: skip
def test_what_cannot_be_understood_is_a_usage_error(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Status 2 and one line that says what to write instead."""
    path = bundle(tmp_path / "host.tgz", {"vmkernel.log": vmkernel(0)})

    done = run(path, *words)

    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_nothing_readable_is_3_and_a_cut_bundle_is_5(tmp_path: Path) -> None:
    """A picture is no material; of a cut archive what is there is printed, and the cut is told."""
    picture = tmp_path / "x.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    assert run(picture).exit_code == 3
    whole = bundle(
        tmp_path / "host.tgz", {"vmkernel.log": "".join(vmkernel(n) for n in range(60)) * 40}
    ).read_bytes()
    cut = tmp_path / "cut.tgz"
    cut.write_bytes(whole[: len(whole) - 40])

    done = run(cut)
    assert done.exit_code == 5
    assert "cut.tgz" in done.stderr
    assert len(done.stdout.splitlines()) > 100


@pytest.mark.release
@pytest.mark.size
def test_ten_minutes_of_a_large_host_take_little_memory(tmp_path: Path) -> None:
    """Of 200 MB of logs: at most 200 MB of memory, also where the lines need many readings."""
    path = tmp_path / "host.tgz"
    make_bundle.write_bundle(path, scale_size(200_000_000), dumps=False, problems=PROBLEMS)
    program = (sys.executable, "-m", "analyzer", "log", str(path))
    around = ("--around", "2021-03-01T15:10:00")
    assert peak(*program, *around) < 200
    assert peak(*program, "--grep", r"esx\.problem") < 200
    assert (
        peak(
            *program,
            *around,
            "--for",
            "6h",
            "--level",
            "warning",
            "--limit",
            f"log_bytes={scale_size(20_000_000)}",
        )
        < 200
    )


@pytest.mark.timed
def test_ten_minutes_of_a_large_host_take_less_time_than_to_unpack_it(tmp_path: Path) -> None:
    """Of 200 MB of logs: less processor time than tar and zgrep."""
    resource = pytest.importorskip("resource")  # not on Windows
    path = tmp_path / "host.tgz"
    make_bundle.write_bundle(path, 200_000_000, dumps=False, problems=PROBLEMS)
    program = (sys.executable, "-m", "analyzer", "log", str(path))
    around = ("--around", "2021-03-01T15:10:00")
    clock = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([*program, *around], check=True, capture_output=True)
    own = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - clock
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    clock = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["tar", "xzf", str(path), "-C", str(unpacked)], check=True)
    files = [
        str(file) for file in sorted(unpacked.rglob("*")) if file.is_file()
    ]  # not every zgrep knows -r
    subprocess.run(
        ["zgrep", "-hE", "2021-03-01T15:(0[5-9]|1[0-4])", *files],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert own < resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - clock
