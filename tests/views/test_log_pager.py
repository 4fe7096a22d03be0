"""`backline log` on a terminal: short lines through a pager, which ends the command when it is quit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from analyzer.views.log_reading import LogSummary, MergedLine, name_evidence
from analyzer.views.log_text import assign_letters, write_short
from tests.kit.terminal_kit import read_terminal
from tools.case_pack import tgz

pty = pytest.importorskip("pty")  # not on Windows
STAMPS = [f"2017-10-14T09:{at // 60 % 60:02}:{at % 60:02}.{at // 3600:03}Z" for at in range(20_000)]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host with 20,000 lines, one with an escape that would colour the terminal."""
    lines = [f"{stamp} cpu1:2)Synth: {'x' * 90}" for stamp in sorted(STAMPS)]
    lines[2] += " \x1b[31mred\x1b]0;title\x07"
    top = "esx-esx7.lab.example-2017-10-14--12.00-71234"
    uname = "VMkernel esx7.lab.example 6.5.0 #1 SMP Release build-5969303 x86_64 x86_64 ESXi\n"
    path = tmp_path_factory.mktemp("pager") / "host.tgz"
    path.write_bytes(
        tgz(
            {
                f"{top}/commands/uname_-a.txt": uname,
                f"{top}/var/run/log/vmkernel.log": "\n".join(lines) + "\n",
            }
        )
    )
    return path


def run_on_terminal(*words: str, **environment: str) -> tuple[str, int]:
    """Return what a command prints on a terminal of 80x24, and its status."""
    program = [sys.executable, "-m", "analyzer", *words]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update({"TERM": "xterm", "COLUMNS": "80", "LINES": "24", **environment})
        os.execv(program[0], program)
    shown = read_terminal(terminal)
    return shown, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_pager_that_is_quit_ends_the_command_without_a_word(bundle: Path) -> None:
    """Status 0, the lines that the pager took and no more, no traceback."""
    shown, status = run_on_terminal("log", str(bundle), PAGER="head -n 3")
    rows = [row for row in shown.splitlines() if "Synth" in row]
    assert (status, len(rows)) == (0, 2)
    assert "-- 2017-10-14 (UTC) --" in shown
    assert "Traceback" not in shown
    assert "rror" not in shown


def test_lines_on_a_terminal_are_short_and_cannot_steer_it(bundle: Path) -> None:
    """One row has time, log and text; the address only when asked for; an escape is shown as text."""
    around = "--around", "2017-10-14T09:00:00", "--for", "2s", "--no-pager"
    shown, status = run_on_terminal("log", str(bundle), *around)
    assert status == 0
    rows = [row for row in shown.splitlines() if "Synth" in row]
    assert rows[0] == f" 09:00:00     vmkernel       cpu1:2)Synth: {chr(120) * 90}"
    assert "\\x1b[31mred\\x1b]0;title\\x07" in shown
    assert "\x1b[31mred" not in shown
    assert "host.tgz!" not in "".join(rows)
    shown, _ = run_on_terminal("log", str(bundle), *around, "--address")
    assert "vmkernel.log:1]" in shown


def test_a_pager_that_is_not_there_is_named_and_the_lines_are_printed(bundle: Path) -> None:
    """A wrong PAGER costs a word, no line."""
    around = "--around", "2017-10-14T09:00:00", "--for", "2s"
    shown, status = run_on_terminal("log", str(bundle), *around, PAGER="no-such-pager")
    assert status == 0
    assert "the pager cannot be started" in shown
    assert "Synth" in shown


def test_short_lines_mark_evidence_machines_and_how_bad_they_are() -> None:
    """Two machines have letters that are explained once; a problem at info is marked as the problem it is."""
    event = "2017-10-14T09:00:01.5Z: [scsiCorrelator] 35us: [esx.problem.made.up] it is"
    lines = [
        MergedLine(
            "2017-10-14T09:00:00Z",
            "esx10",
            "vmkernel",
            "info",
            "",
            "",
            "2017-10-14T09:00:00Z cpu1:2)a",
            "b!x",
            1,
        ),
        MergedLine(
            "2017-10-14T09:00:01.500Z", "esx2", "vobd", "warning", "", "", event, "b!vobd.log", 7
        ),
        MergedLine(
            "2017-10-15T00:00:00Z",
            "esx2",
            "vobd",
            "",
            "",
            "",
            "goes on",
            "b!vobd.log",
            8,
            ("time",),
        ),
    ]
    summary = LogSummary(hosts=["esx10", "esx2"])
    evidence = {name_evidence("c!vobd.log", 7, event)}
    assert list(write_short(lines, summary, evidence)) == [
        "A esx2, B esx10",
        "-- 2017-10-14 (UTC) --",
        " 09:00:00     B: vmkernel      cpu1:2)a",
        ">09:00:01.500 A: vobd   WARN [scsiCorrelator] 35us: [esx.problem.made.up] it is",
        "-- 2017-10-15 (UTC) --",
        " 00:00:00     A: vobd        goes on",
    ]
    assert list(assign_letters(f"h{n}" for n in range(28)).values())[24:] == ["Y", "Z", "AA", "AB"]
