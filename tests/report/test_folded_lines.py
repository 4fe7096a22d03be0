"""A log line into which rsyslog folded equal messages counts as many as it says; all lines are synthetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main

RULE = """\
rule: folded
title: A test of folded lines
source: [a test]
status: test
revised: 2026-11-21
about: A test of folded lines.
logs:
  lost: {in: nsxt.syslog, match: 'connection lost'}
seen: {many: {log: lost, at_least: 5%s}}
each: line in lost per node
subject: host
when: many
outcomes:
  - {when: true, severity: major, confidence: confirmed, say: "{many.count} messages were seen"}
evidence: [many]
"""
SD = '[nsx@6876 comp="nsx-manager" level="ERROR" subcomp="mpa"]'


def line(second: int, times: int = 1) -> str:
    """Return a line of an NSX-T log, folded when it stands for more than one message."""
    said = f"{SD} connection lost"
    said = f"message repeated {times} times: [ {said}]" if times > 1 else said
    return f"2021-09-06T14:40:{second:02d}.123Z nsxmgr1 NSX 4711 - {said}\n"


@pytest.mark.parametrize("window", ["", ", within: 1m"])
@pytest.mark.parametrize(("times", "found"), [(4, True), (3, False)])
def test_a_folded_line_counts_as_often_as_it_says(
    tmp_path: Path, window: str, times: int, found: bool
) -> None:
    """One line and one that repeats it four times are five messages, with three they are four."""
    case, kb = tmp_path / "case", tmp_path / "kb"
    case.mkdir()
    kb.mkdir()
    calm = line(3).replace("connection lost", "connected").replace("ERROR", "INFO")
    text = line(1) + line(2, times) + calm * 50  # a log, and not a few lines that somebody chose
    (case / "syslog").write_text(text, encoding="utf-8")
    (kb / "folded.yaml").write_text(RULE % window, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(case), "--kb", str(kb), "--no-packs", "--json", "-"]
    )
    assert done.exit_code in (0, 5), done.output
    own = [one for one in json.loads(done.stdout)["findings"] if one["rule"] == "folded"]
    assert bool(own) is found
    if found:
        assert "5 messages were seen" in json.dumps(own)
        assert "4 times in one line" in json.dumps(own)
