"""Boots and stops of a host, as vmksummary.log and its rotated copies have them.

The lines are synthetic; their texts are those of parsers/esxi/logs/boot.py.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2017-10-14--16.53-71234"
OFF, BOOT = (
    "2017-09-14T17:00:50Z bootstop: Host is powering off",
    "2017-09-15T09:49:10Z bootstop: Host has booted",
)
AGAIN = "2017-10-02T03:12:44Z bootstop: Host has booted"
ASKED = "2017-10-02T03:02:00Z bootstop: Host is rebooting"
UP = "2017-10-02T03:00:00Z heartbeat: up 16d17h10m50s, 3 VMs; [] []"


def triage(folder: Path, logs: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return what the rule on reboots finds in a bundle with some files of vmksummary."""
    for name, lines in logs.items():
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
    return [one for one in case["findings"] if one["rule"] == "kb-1019238"]


def test_a_boot_without_a_stop_before_it_is_found_over_rotated_copies(tmp_path: Path) -> None:
    """The boot before stands in a rotated copy: the second one has no stop line between, the first one has."""
    (found,) = triage(tmp_path, {"vmksummary.0.gz": [OFF, BOOT], "vmksummary.log": [UP, AGAIN]})

    assert found["severity"] == "major"
    assert (
        "2017-10-02 03:12:44" in found["say"]
        and "last sign of life was at 2017-10-02 03:00:00" in found["say"]
    )
    assert {one["address"].rpartition("/")[2] for one in found["evidence"]} >= {"vmksummary.log"}


def test_a_reboot_that_was_asked_for_is_none(tmp_path: Path) -> None:
    """A line of a reboot between two boots explains the second."""
    assert triage(tmp_path, {"vmksummary.log": [OFF, BOOT, UP, ASKED, AGAIN]}) == []


def test_one_boot_alone_tells_nothing(tmp_path: Path) -> None:
    """The log begins with a boot: what was before it nobody knows."""
    assert triage(tmp_path, {"vmksummary.log": [BOOT, UP]}) == []


def test_the_same_boot_in_two_copies_is_one(tmp_path: Path) -> None:
    """The log and a rotated twin of it hold the same boot: a host does not boot twice in one second."""
    assert triage(tmp_path, {"vmksummary.log": [BOOT, UP], "vmksummary.0.gz": [BOOT]}) == []
