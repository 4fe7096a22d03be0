"""The file that a command names says which log its output is, whatever program printed it.

All log lines are synthetic.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts.parsing import registry
from analyzer.cli import main
from analyzer.sources.prompts import split_commands

PROGRAMS = [
    "cat {f} | grep w2c",
    "grep -i w2c {f}",
    "egrep 'w2c|renew' {f}",
    "zgrep w2c {f}",
    "tail -n 20 {f}",
    "head -20 {f}",
    "less {f}",
    "awk '/w2c/ {{print}}' {f}",
    "gawk '/a|b/' {f} | sort",
    "sed -n '1,9p' {f}",
    "zcat {f}.gz",
    "bzcat {f} | head -5",
    "sudo strings {f}",
    "tac {f} | grep -v x | head",
    "vi {f}",
    "a-tool-of-their-own --fast {f}",
]
# Lines that no form of syslog.log takes: the name of the program is a path, the date is missing
LINES = {
    "a path": "2023-05-13T09:37:27Z /opt/w2c/renew.sh: the timer is late\n",
    "no date": "09:37:27.123Z renew: the timer is late\n",
    "a clock": "9:37:27 renew: the timer is late\n",
    "in brackets": "[09:37:27] renew: the timer is late\n",
}


def read_text(folder: Path, text: str) -> dict[str, Any]:
    """Return the case document of a text."""
    path = folder / "ticket.txt"
    path.write_text(text, encoding="utf-8")
    out = folder / "out"
    done = CliRunner().invoke(
        main, ["triage", str(path), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 5), done.output
    found: dict[str, Any] = json.loads((out / "case.json").read_text())
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_file_decides(tmp_path: Path, program: str) -> None:
    """A line with a time that any form could have is of the log that the command names."""
    command = program.format(f="/var/log/syslog.log")
    document = read_text(tmp_path, f"[root@w2:~] {command}\n" + LINES["a path"] * 3)
    (source,) = document["sources"]
    assert source["read_by"] == "syslog"
    assert [node["name"] for node in document["nodes"]] == ["w2"]


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_stamps_of_any_sort(tmp_path: Path, line: str) -> None:
    """A time may lack its date; a line without any belongs to the one above it."""
    text = f"[root@w2:~] grep renew /var/log/syslog.log\n{line}and goes on here\n{line}"
    (source,) = read_text(tmp_path, text)["sources"]
    assert source["read_by"] == "syslog"
    assert source["lines"] == 4


@pytest.mark.parametrize(
    "command",
    [
        "ls -l /var/log/syslog.log",
        "cp /var/log/syslog.log /tmp/a",
        "wc -l /var/log/syslog.log",
        "grep -h renew /var/log/syslog.log /var/log/hostd.log",
        "cat /tmp/list | grep syslog.log",
        "uptime",
    ],
)
def test_nothing_is_guessed(tmp_path: Path, command: str) -> None:
    """A command that prints no line of a file, or those of several, decides nothing."""
    text = f"[root@w2:~] {command}\n" + LINES["a path"] * 3
    (source,) = read_text(tmp_path, text)["sources"]
    assert "syslog" not in source["read_by"]


def test_a_guest_has_such_files_too(tmp_path: Path) -> None:
    """The syslog of a Linux guest is not that of a host."""
    text = "root@web01:~# cat /var/log/syslog.log\n" + LINES["a path"] * 3
    (source,) = read_text(tmp_path, text)["sources"]
    assert "syslog" not in source["read_by"]


@pytest.mark.parametrize(
    "command", ["cat " + "'" * 4000, "grep " + "'x' " * 1000, "cat " + "a/" * 2000, 'cat "' * 800]
)
def test_hostile_commands(command: str) -> None:
    """No command line takes long, whatever quotes stand in it."""
    for one in split_commands(command):
        for parser in registry().values():
            parser.match_command(one.bare[:4096])
