"""Failed SCSI commands as columns, each counted once, however many copies of its line the logs hold.

All lines are synthetic; their forms are those of parsers/esxi/logs/scsi_error.py.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2017-10-14--16.53-71234"
RULE = r"""rule: aborted
title: Commands to a device were aborted
source: made up
revised: 2026-11-22
about: The adapter gave up on commands.

sign:
  in: esxi.scsi_error
  match: 'to dev "(?P<device>[^"]+)" .*?failed:? H:0x'
  where: host_status == "0x5"
  per: device
  at_least: 3
  within: 10m
severity: warning
confidence: confirmed
say: "{device}: {often.count} commands aborted by world {max(hit.scsi_world)}."

fix: {storage: Look at the array.}
not_this: A test.

examples:
  match: |
    2017-10-14T09:12:01.000Z cpu0:2)ScsiDeviceIO: 3469: Cmd(0x4a) 0x2a, CmdSN 0x76 from world 7 to dev "naa.1" failed H:0x5 D:0x0 P:0x0
    2017-10-14T09:12:02.000Z cpu0:2)ScsiDeviceIO: 3469: Cmd(0x4b) 0x2a, CmdSN 0x76 from world 7 to dev "naa.1" failed H:0x5 D:0x0 P:0x0
    2017-10-14T09:12:03.000Z cpu0:2)ScsiDeviceIO: 3469: Cmd(0x4c) 0x2a, CmdSN 0x76 from world 7 to dev "naa.1" failed H:0x5 D:0x0 P:0x0
  no_match: |
    2017-10-14T09:12:01.000Z cpu0:2)ScsiDeviceIO: 3469: Cmd(0x4a) 0x2a, CmdSN 0x76 from world 7 to dev "naa.1" failed H:0x5 D:0x0 P:0x0
"""


def failed(second: int, *, warning: bool = False, device: str = "naa.6005") -> str:
    """Return a line of vmkernel.log; `warning` is the form that vmkwarning.log repeats."""
    return (
        f"2017-10-14T09:12:{second:02}.101Z cpu0:2098084){'WARNING: ' * warning}ScsiDeviceIO: 3469: "
        f'Cmd(0x459a8e3f46{second:02}) 0x2a, CmdSN 0x76a0{second:02} from world 2099541 to dev "{device}" '
        "failed H:0x5 D:0x0 P:0x0"
    )


def triage(folder: Path, logs: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return what the rule finds in a bundle with some logs."""
    rules = folder / "rules"
    rules.mkdir()
    (rules / "aborted.yaml").write_text(RULE, encoding="utf-8")
    for name, lines in logs.items():
        path = folder / "case" / HOST / "var" / "run" / "log" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
    out = folder / "out"
    words = [
        "triage",
        str(folder / "case"),
        "-o",
        str(out),
        "--no-settings",
        "--no-packs",
        "--kb",
        str(rules),
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code in (0, 1), done.output
    case = json.loads((out / "case.json").read_text(encoding="utf-8"))
    return [one for one in case["findings"] if one["rule"] == "aborted"]


def test_the_status_is_columns_of_the_row(tmp_path: Path) -> None:
    """Three aborted commands of one device: the finding goes by the host status and tells the world."""
    (found,) = triage(tmp_path, {"vmkernel.log": [failed(second) for second in (1, 2, 3)]})

    assert found["say"] == "naa.6005: 3 commands aborted by world 2099541."
    assert {one["line"] for one in found["evidence"]} == {1, 2, 3}


def test_a_line_in_vmkwarning_and_in_a_rotated_twin_counts_once(tmp_path: Path) -> None:
    """Two commands whose lines stand in vmkernel.log, a rotated copy of it and vmkwarning.log are two, not six."""
    lines = [failed(second, warning=True) for second in (1, 2)]
    logs = {
        "vmkernel.log": lines,
        "vmkernel.0.gz": [*lines, failed(59, device="naa.7")],
        "vmkwarning.log": lines,
    }
    assert triage(tmp_path, logs) == []

    more = tmp_path / "more"
    more.mkdir()
    (found,) = triage(more, {**logs, "vmkwarning.log": [*lines, failed(9, warning=True)]})
    assert found["say"].startswith("naa.6005: 3 commands")


def test_commands_of_one_second_are_not_one(tmp_path: Path) -> None:
    """Three commands that failed within a second are three: only a line of another log is a twin."""
    lines = [failed(second).replace(f":{second:02}.101Z", ":01.101Z") for second in (1, 2, 3)]
    (found,) = triage(tmp_path, {"vmkernel.log": lines})

    assert "3 commands" in found["say"]


def test_a_line_with_another_head_in_the_other_log_counts_once(tmp_path: Path) -> None:
    """From 8.0 on the two logs may give one line two heads: it is one command still."""
    text = failed(1).partition("Z ")[2]
    stamps = ("01.101Z", "02.101Z", "03.101Z")
    logs = {
        "vmkernel.log": [
            f"2023-10-14T09:12:{stamp} In(182) vmkernel: {text}" for stamp in stamps[:2]
        ],
        "vmkwarning.log": [
            f"2023-10-14T09:12:{stamp} Wa(180) vmkwarning: {text}" for stamp in stamps[:2]
        ],
    }
    assert triage(tmp_path, logs) == []

    more = tmp_path / "more"
    more.mkdir()
    logs["vmkwarning.log"].append(f"2023-10-14T09:12:{stamps[2]} Wa(180) vmkwarning: {text}")
    (found,) = triage(more, logs)
    assert "3 commands" in found["say"]
