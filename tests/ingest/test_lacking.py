"""A file that is there and lacks a part is named; nobody says that it is not in the case."""

from __future__ import annotations

import csv
import json
import tarfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main

SAMPLE = (
    Path(__file__).resolve().parents[2] / "samples" / "esxtop" / "esxtop_csv" / "three_samples.csv"
)


def triaged(path: Path, tmp_path: Path) -> dict[str, Any]:
    """Run the command on a file, return its document."""
    done = CliRunner().invoke(
        main, ["triage", str(path), "-o", str(tmp_path / "out"), "--no-packs", "--quiet"]
    )
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads((tmp_path / "out" / "case.json").read_text())
    return document


def without(group: str, path: Path) -> Path:
    """Write the synthetic capture without the columns of a group, as esxtop writes it when the group is switched off."""
    rows = list(csv.reader(SAMPLE.read_text().splitlines()))
    keep = [place for place, name in enumerate(rows[0]) if f"\\{group}(" not in name]
    assert len(keep) < len(rows[0])
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
            [row[place] for place in keep if place < len(row)] for row in rows
        )
    return path


def test_a_capture_without_a_group_is_named(tmp_path: Path) -> None:
    """esxtop.csv without the CPU of VMs: it was read and lacks esxtop.vm, with its address, in every report."""
    document = triaged(without("Group Cpu", tmp_path / "esxtop.csv"), tmp_path)
    found = {
        group["missing"]: group["why"]
        for group in document["cannot_tell"]
        if group["missing"].startswith("esxtop.")
    }
    assert found
    for missing, why in found.items():
        assert why == f"esxtop.csv was read and lacks {missing}"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "esxtop.csv was read and lacks esxtop.vm" in page


def test_what_was_never_sent_is_not_in_the_case(tmp_path: Path) -> None:
    """Of the same host no list of physical NICs was sent: that is still said to be missing."""
    document = triaged(without("Group Cpu", tmp_path / "esxtop.csv"), tmp_path)
    (why,) = [
        group["why"] for group in document["cannot_tell"] if group["missing"] == "esxi.pnic_stats"
    ]
    assert why.endswith("is not in the case")


def test_a_file_that_holds_other_tables_than_usual_is_named(tmp_path: Path) -> None:
    """A .vmx tells of disks; one that was read and tells of none is named, though other files may hold them, too."""
    bundle = next((Path(__file__).parents[2] / "samples" / "cases" / "config-traps").glob("*.tgz"))
    done = CliRunner().invoke(main, ["triage", str(bundle), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "out" / "case.json").read_text())
    found = {group["missing"]: group["why"] for group in document["cannot_tell"]}
    assert found["esxi.vdisk"].endswith("/old-print01.vmx was read and lacks esxi.vdisk")
    with tarfile.open(bundle) as held:
        assert any(name.endswith("/old-print01.vmx") for name in held.getnames())
