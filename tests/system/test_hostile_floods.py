"""Floods through the whole command: time, memory and the size of the report stay bounded, and it is said.

The large ones run with `BACKLINE_ALL_HOSTILE=1`.
"""

from __future__ import annotations

import gzip
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.report import html
from tests.kit import hostile
from tests.kit.case_factory import rich_case
from tests.kit.hostile import ask
from tools.case_text import net_stats

ROOT = Path(__file__).resolve().parents[2]
ALL = bool(os.environ.get("BACKLINE_ALL_HOSTILE"))
STAMP = "2017-10-14T16:{m:02d}:{s:02d}.312Z"


def _alarms(count: int) -> bytes:
    text = "".join(
        STAMP.format(m=n // 60 % 60, s=n % 60)
        + f": [netCorrelator] {n}us: [esx.problem.net.vmnic.linkstate.down] vmnic{n % 9}\n"
        for n in range(count)
    )
    return text.encode()


def _ports(count: int) -> str:
    return net_stats(
        [
            (
                33554434 + n,
                5,
                9,
                f"vSwitch{n % 20}",
                f"00:50:56:{n >> 16 & 255:02x}:{n >> 8 & 255:02x}:{n & 255:02x}",
                f"vm-{n}.eth0",
            )
            for n in range(count)
        ]
    )


def _hosts(count: int) -> str:
    return "".join(
        f"[root@host{n}:~] vmware -vl\nVMware ESXi 6.0.0 build-5224934\nVMware ESXi 6.0.0 Update 3\n"
        for n in range(count)
    )


def _vmx(count: int) -> hostile.Files:
    text = 'displayName = "vm{n}</script>"\nethernet0.present = "TRUE"\nethernet0.virtualDev = "e1000"\n'
    return {f"vmfs/volumes/a/vm{n}/vm{n}.vmx": text.format(n=n) for n in range(count)}


Flood = tuple[Callable[[], hostile.Files], str]
FLOODS: dict[str, Flood] = {
    "names of 4,000 bytes": (lambda: {"n" * 3900 + str(n): b"x" for n in range(200)}, ""),
    "2,000 folders deep": (lambda: {"/".join(["d"] * 2000) + "/x": b"x"}, ""),
    "a storm of hits": (
        lambda: {"var/run/log/vobd.0.gz": gzip.compress(_alarms(60_000), 1)},
        "hits_per_signature",
    ),
    "20,000 ports": (lambda: {"commands/net-stats_-l.txt": _ports(20_000)}, "findings_per_rule"),
    "numbers of 100,000 digits": (
        lambda: {"commands/net-stats_-l.txt": _ports(3).replace("33554434", "9" * 100_000)},
        "",
    ),
    "150 hosts in one transcript": (lambda: {"extra/pasted.txt": _hosts(150)}, ""),
}
SLOW_FLOODS: dict[str, Flood] = {
    "50,000 members": (lambda: {f"var/tmp/f{n}": b"" for n in range(50_000)}, ""),
    "50,000 small texts": (lambda: {f"extra/f{n}.txt": b"hello\n" for n in range(50_000)}, ""),
    "a storm of 300,000": (
        lambda: {"var/run/log/vobd.0.gz": gzip.compress(_alarms(300_000), 1)},
        "hits_per_signature",
    ),
    "a line of 200 MB in a log": (
        lambda: {
            "var/run/log/vmkernel.0.gz": gzip.compress(
                b"2017-10-14T16:00:00.312Z cpu1:1)" + b"A" * (200 << 20) + b"\n", 1
            )
        },
        "line_bytes",
    ),
    "a line of 200 MB in a text": (
        lambda: {"extra/x.txt.gz": gzip.compress(b"A" * (200 << 20) + b"\n", 1)},
        "block_bytes",
    ),
    "a log of NUL": (lambda: {"var/run/log/hostd.log": b"\0" * (100 << 20)}, ""),
    "a log of empty lines": (
        lambda: {"var/run/log/vmkernel.0.gz": gzip.compress(b"\n" * (50 << 20), 1)},
        "",
    ),
    "a text of empty lines": (lambda: {"extra/x.txt": b"\n" * (12 << 20)}, ""),
    "1,000 hosts in one transcript": (lambda: {"extra/pasted.txt": _hosts(1000)}, ""),
    "5,000 findings of one kind": (lambda: _vmx(5000), "findings_per_rule"),
}
MEASURED = """
import sys
from analyzer.cli import main
try:
    main()
finally:
    print("PEAK", next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
"""


def _spent() -> float:
    """Return the CPU time of the commands that ended so far: what else the machine does is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check_flood(flood: Flood, tmp_path: Path, seconds: float) -> None:
    """Run the command on a flooded bundle: in time, in memory, a report in size, the limit said, the findings there."""
    make, limit = flood
    path = hostile.bundle(tmp_path, make())
    begun = _spent()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "triage", str(path), "-o", str(tmp_path / "out")],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    took = _spent() - begun
    document = case_file.read_case(tmp_path / "out" / "case.json")
    peak = int(done.stderr.rpartition("PEAK ")[2]) / 1024

    assert done.returncode in (0, 5), done.stderr
    assert took < seconds
    assert peak < 600
    assert (tmp_path / "out" / "report.html").stat().st_size < 20 << 20
    said = [*document.limits, *(cut.say for cut in document.cuts)]
    assert [one for one in said if limit in one] or not limit
    assert not [one for one in document.findings if one.verdict == "error"]
    assert "pnic-loses-packets" in {one.rule for one in document.findings}


@pytest.mark.process
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_bounded(tmp_path: Path, name: str) -> None:
    """Time, memory and size of the report stay bounded, the limit is said, the sound part is judged."""
    check_flood(FLOODS[name], tmp_path, 30)


@pytest.mark.skipif(not ALL, reason="set BACKLINE_ALL_HOSTILE=1 for the large floods")
@pytest.mark.parametrize("name", SLOW_FLOODS)
def test_a_large_flood_is_bounded(tmp_path: Path, name: str) -> None:
    """The same at the sizes of the limits."""
    check_flood(SLOW_FLOODS[name], tmp_path, 90)


@pytest.mark.size
def test_a_report_larger_than_its_limit_is_made_smaller(tmp_path: Path) -> None:
    """A flood of findings with limits.report_bytes=400,000: the page keeps to it and says what it leaves out."""
    answer = ask(hostile.bundle(tmp_path, _vmx(300)))
    page = hostile.Page(html.render_page(rich_case()))
    page.kinds |= hostile.Page(html.render_page(answer.document or {})).kinds
    hostile.check_outputs(answer.document or {}, page, 400_000)


def test_a_log_of_nul_says_that_it_is_a_hole(tmp_path: Path) -> None:
    """What a loss of power leaves in a log is told with the log."""
    answer = ask(hostile.bundle(tmp_path, {"var/run/log/hostd.log": b"\0" * 100_000}))
    why = {one.address.rpartition("/")[2]: one.why for one in (answer.document or {}).sources}
    assert why["hostd.log"].startswith("100,000 NUL bytes")


# --- the other end of the output ----------------------------------------------------------------


def _status(path: Path, sink: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command with its standard output sent to `sink` by a shell, which tells the status of the command."""
    command = f'set -o pipefail; "{sys.executable}" -m analyzer triage "$@" {sink}'
    return subprocess.run(
        ["bash", "-c", command, "bash", str(path), *args],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.process
def test_a_full_device_as_standard_output_is_one_line(tmp_path: Path) -> None:
    """`> /dev/full`: what, why and what to do; status 3; the report itself is whole."""
    path = hostile.bundle(tmp_path)
    for args in (["-o", str(tmp_path / "out")], ["--json", "-"]):
        done = _status(path, "> /dev/full", *args)
        assert done.returncode == 6
        assert done.stderr.startswith(
            "backline: standard output: cannot be written (No space left on device). Free"
        )
        assert done.stderr.count("\n") == 1
    case_file.read_case(tmp_path / "out" / "case.json")


@pytest.mark.process
def test_a_reader_who_has_seen_enough_is_no_finding(tmp_path: Path) -> None:
    """`| head -1` ends the run with 0 and without a word; 1 would mean a finding."""
    done = _status(hostile.bundle(tmp_path), "| head -1", "-o", str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["show", "tables", "triage"])
def test_a_device_is_no_file(command: str) -> None:
    """/dev/zero as a case document, a bundle or a table is refused at once, not read without end."""
    result = CliRunner().invoke(main, [command, "/dev/zero"])
    assert result.exit_code == 3
    assert "not a regular file" in result.stderr


def test_an_error_is_one_line_whatever_the_name(tmp_path: Path) -> None:
    """A line feed and an escape in a name neither split the message nor steer the terminal."""
    result = CliRunner().invoke(main, ["triage", str(tmp_path / "a\nbackline: all is well\x1b[2J")])
    assert result.stderr.count("\n") == 1
    assert not hostile.STEERS.search(result.stderr)


CHROMIUM = shutil.which("chromium")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_page_full_of_payloads_does_nothing_in_a_browser(tmp_path: Path) -> None:
    """VM names that are attacks: opened in Chromium there is no dialog, error, request nor element of theirs."""
    playwright = pytest.importorskip("playwright.sync_api")
    vmx = {
        f"vmfs/volumes/x/{n}/vm{n}.vmx": f'displayName = "{text}"\nethernet0.present = "TRUE"\nethernet0.virtualDev = "e1000"\n'
        for n, text in enumerate(
            text.replace('"', "|22").replace("\n", " ").replace("\udcff", "")
            for text in hostile.payloads()[:150]
        )
    }
    answer = ask(hostile.bundle(tmp_path, vmx))
    (tmp_path / "report.html").write_text(html.render_page(answer.document or {}), encoding="utf-8")
    trouble: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append("dialog"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: request.url.startswith("file:") or trouble.append(request.url),
        )
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector("body[data-done]", state="attached")
        page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
        strange = page.locator(
            "img, iframe, object, embed, form, [onerror], [onload], a[href^='javascript']"
        ).count()
        browser.close()
    assert (trouble, strange) == ([], 0)
