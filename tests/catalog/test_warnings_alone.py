"""vmkwarning.log in the place of vmkernel.log: a customer who sends only the warnings gets the findings that rest on them.

All lines are synthetic, in the forms of parsers/esxi/logs/vmkernel.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

WATCHDOG = "WARNING: LinNet: netdev_watchdog:3688: NETDEV WATCHDOG: vmnic0: transmit timed out"
HEAP = "WARNING: Heap: 2900: Heap vmfs3 already at its maximum size. Cannot expand."
ALERT = "ALERT: Synthetic: 12: module 3 failed"
OLD, NEW = "{} cpu3:65936){}", "{} Wa(180) vmkwarning: cpu3:65936){}"


def lines(form: str, *texts: str) -> str:
    """Return lines of a log, a minute apart."""
    return "".join(
        form.format(f"2023-03-01T10:{at:02}:00.000Z", text) + "\n" for at, text in enumerate(texts)
    )


def triage(folder: Path, files: dict[str, str]) -> dict[str, Any]:
    """Return the case of some loose logs."""
    (folder / "case").mkdir(parents=True)
    for name, text in files.items():
        (folder / "case" / name).write_text(text, encoding="utf-8")
    command = [
        "triage",
        str(folder / "case"),
        "-o",
        str(folder / "out"),
        "--no-settings",
        "--no-packs",
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code in (0, 5), done.output
    found: dict[str, Any] = json.loads((folder / "out" / "case.json").read_text(encoding="utf-8"))
    return found


def findings(case: dict[str, Any]) -> list[tuple[str, str]]:
    """Return rule and subject of every finding."""
    return [(one["rule"], one["subject"]) for one in case["findings"]]


@pytest.mark.parametrize("form", [OLD, NEW])
def test_a_lone_vmkwarning_gives_the_findings_of_vmkernel(tmp_path: Path, form: str) -> None:
    """The warnings alone give what the same lines give in vmkernel.log; what is not there is no proof of absence."""
    text = lines(form, WATCHDOG, HEAP, WATCHDOG)
    alone = triage(tmp_path / "alone", {"vmkwarning.log": text})
    whole = triage(tmp_path / "whole", {"vmkernel.log": text})

    assert (
        findings(alone)
        == findings(whole)
        == [
            ("nic-watchdog", "vmnic0"),
            ("kb-1004424", "ESXi host (loose files)"),
        ]
    )
    assert all(
        one["evidence"][0]["address"].endswith("vmkwarning.log") for one in alone["findings"]
    )
    assert "lpfc-link-down" in {rule for one in alone["cannot_tell"] for rule in one["rules"]}
    assert "lpfc-link-down" in {one["rule"] for one in whole["quiet"]}


def test_a_copy_beside_the_log_itself_counts_nothing_twice(tmp_path: Path) -> None:
    """Two hangs that stand in both logs, each in its own form of head, are two, and the log itself is the evidence."""
    both = {
        "vmkernel.log": lines(OLD, WATCHDOG, WATCHDOG),
        "vmkwarning.log": lines(NEW, WATCHDOG, WATCHDOG),
    }
    (found,) = triage(tmp_path, both)["findings"]

    assert found["rule"] == "nic-watchdog"
    assert "hung 2 times" in found["say"]
    assert found["evidence"][0]["address"].endswith("vmkernel.log")


def test_an_alert_of_a_lone_vmkwarning_is_listed_once(tmp_path: Path) -> None:
    """Two ALERT lines without a rule are one kind of problem with a count of two, not of four."""
    found = triage(tmp_path, {"vmkwarning.log": lines(OLD, ALERT, ALERT)})["signals"]

    assert [(one["kind"], one["count"]) for one in found] == [("alert", 2)]


def test_warnings_from_before_the_log_begins_count_as_well(tmp_path: Path) -> None:
    """Where older files of vmkernel.log were rotated away, its copy gives the lines of that time, and no cover of it."""
    old, both = (
        lines(OLD, HEAP, WATCHDOG, WATCHDOG),
        OLD.format("2023-03-02T09:00:00.000Z", WATCHDOG) + "\n",
    )
    head = OLD.format("2023-03-02T08:00:00.000Z", "Net: 1: synthetic") + "\n"
    case = triage(tmp_path, {"vmkernel.log": head + both, "vmkwarning.log": old + both})

    assert [one for one, _ in findings(case)] == ["kb-1004424", "nic-watchdog"]
    heap, watchdog = case["findings"]
    assert "hung 3 times" in watchdog["say"]
    assert heap["evidence"][0]["address"].endswith("vmkwarning.log")
    assert "lpfc-link-down" in {one["rule"] for one in case["quiet"]}
