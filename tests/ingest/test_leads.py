"""A line above the log that is none of it makes the text an excerpt: what is not in it proves nothing.

All log lines are synthetic, in the form of vmkernel.log.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

RULE = """\
rule: silent
title: A test of logs
source: [a test]
status: test
revised: 2026-11-21
about: A test of logs.
logs:
  dead: {in: esxi.vmkernel, match: 'NMP: path (?P<path>\\S+) is dead'}
seen: {calm: {none: dead, for: 5m}}
each: esx in esxi.version
subject: host
when: calm
outcomes:
  - {when: true, severity: major, confidence: confirmed, say: no line was seen}
evidence: [calm]
"""
LOG = "".join(
    f"2021-03-01T{10 + minute // 60}:{minute % 60:02d}:01.123Z cpu3:2097454)ScsiDeviceIO: 2595: all is well {minute}\n"
    for minute in range(90)
)
VERSION = "VMware ESXi 6.5.0 build-4564106\n"
LEADS = [
    "esx-w2:~ # egrep -i vmhba /var/run/log/vmkernel.log\n",
    "[root@esx-w2:~] tail -n 90 /var/log/vmkernel.log\n",
    "root@esx-w2:~# grep well /var/log/vmkernel.log\n",
    "esx-w2> grep well /var/log/vmkernel.log\n",
    "~ # grep well /var/log/vmkernel.log\n",
    "PS C:\\> Select-String well vmkernel.log\n",
    "nsx> get log-file vmkernel.log\n",
    "?? w2 ?? mystery-tool vmkernel.log\n",
    "on the server side I see this:\n",
    "this is from the host\n\n",
    "    vmkernel.log of the second host\n",
    "=== vmkernel.log ===\n",
    "*\n",
]


def judge_text(folder: Path, text: str, name: str = "vmkernel.log") -> tuple[str, dict[str, Any]]:
    """Return what the rule says of a text, and the case document."""
    rules = folder / "kb"
    rules.mkdir()
    (rules / "silent.yaml").write_text(RULE, encoding="utf-8")
    place = folder / "case"
    place.mkdir()
    (place / name).write_text(text, encoding="utf-8")
    (place / "version.txt").write_text(f"[root@esx-w2:~] vmware -v\n{VERSION}", encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(place), "--kb", str(rules), "--no-packs", "--json", "-"]
    )
    assert done.exit_code in (0, 5), done.output
    document = json.loads(done.stdout)
    if any(one["rule"] == "silent" for one in document["findings"]):
        return "match", document
    is_open = any("silent" in group["rules"] for group in document["cannot_tell"])
    return "cannot tell" if is_open else "quiet", document


@pytest.mark.parametrize("name", ["vmkernel.log", "ticket.txt"])
@pytest.mark.parametrize("lead", LEADS)
def test_a_lead_makes_an_excerpt(tmp_path: Path, lead: str, name: str) -> None:
    """Whoever put a line above the lines of a log chose the lines, too."""
    said, document = judge_text(tmp_path, lead + LOG, name)
    assert said == "cannot tell"
    expected = {"esx-w2", "nsx"} if lead.startswith("nsx>") else {"esx-w2"}
    assert {node["name"] for node in document["nodes"]} == expected


@pytest.mark.parametrize(
    "lead",
    [
        "",
        "\n\n",
        "--> of the entry before\n-->\n",
        "\tat com.example.Main.run(Main.java:1)\n",
        "0:00:00:05.123 cpu0:1)boot\n",
    ],
)
def test_a_log_that_begins_at_once_is_whole(tmp_path: Path, lead: str) -> None:
    """A log begins with a line of its own, or inside an entry that its older copy ends with."""
    said, _ = judge_text(tmp_path, lead + LOG)
    assert said == "match"
