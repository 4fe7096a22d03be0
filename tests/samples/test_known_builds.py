"""What the version alone tells of a host: faults of its build, of its drivers, and how old the build was.

The bundles are synthetic; the forms are those of `vmware -vl`, `esxcli software vib list` and README.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

FACTS = Path(__file__).resolve().parents[2] / "analyzer" / "kb" / "facts"


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the catalog."""
    with (FACTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def host(
    case: Path,
    name: str,
    version: str,
    build: int,
    vibs: str = "",
    taken: str = "2017-10-14--16.53",
) -> None:
    """Write a bundle of a host with its version, and perhaps its list of VIBs."""
    bundle = case / f"esx-{name}-{taken}-71234"
    commands = bundle / "commands"
    commands.mkdir(parents=True)
    (commands / "vmware_-vl.txt").write_text(
        f"VMware ESXi {version} build-{build}\nVMware ESXi {version} GA\n"
    )
    day, clock = taken.split("--")
    captured = f"Captured on: {day} {clock.replace('.', ':')}:00.123456"
    (bundle / "README").write_text(
        f"Bundle name: {bundle.name}\n{captured}\nvm-support version: v3.3\n"
    )
    if vibs:
        head = "Name  Version  Vendor  Acceptance Level  Install Date\n----  -------  ------  ----------------  ------------\n"
        (commands / "localcli_software-vib-list.txt").write_text(head + vibs)


def judged(case: Path, out: Path, rule: str) -> dict[str, list[dict[str, Any]]]:
    """Return the findings of a rule through the command, by the name of the host."""
    done = CliRunner().invoke(
        main, ["triage", str(case), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1), done.output
    found: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads((out / "case.json").read_text(encoding="utf-8"))["findings"]:
        if one["rule"] == rule:
            found.setdefault(one["node"].partition(".")[0], []).append(one)
    return found


@pytest.mark.size
def test_every_fault_of_a_build_is_told_from_its_first_build_to_the_one_before_the_fix(
    tmp_path: Path,
) -> None:
    """Each row is exposed at its bounds and never outside of them, and is never more than information."""
    wanted: dict[tuple[str, int], dict[str, bool]] = {}
    for row in rows("esxi_defect"):
        since, until = row["since"], row["until"]
        builds = [(since, int(row["since_build"] or 100), True)]
        builds += [(until, int(row["fixed_build"] or 99_000_001) - 1, True)]
        if row["since_build"]:
            builds += [(since, int(row["since_build"]) - 1, False)]
        if row["fixed_build"]:
            builds += [(until, int(row["fixed_build"]), False)]
        for version, build, hit in builds:
            wanted.setdefault((version, build), {})[row["id"]] = hit
    for number, (version, build) in enumerate(wanted):
        host(tmp_path / "case", f"h{number}", version, build)
    found = judged(tmp_path / "case", tmp_path / "out", "esxi-defect")

    assert sum(map(len, wanted.values())) > 100
    for number, (release, faults) in enumerate(wanted.items()):
        told = {one["subject"].rpartition(": ")[2]: one for one in found.get(f"h{number}", [])}
        for fault, hit in faults.items():
            assert (fault in told) is hit, (release, fault)
        assert all(
            (one["severity"], one["confidence"]) == ("info", "exposed") for one in told.values()
        )


@pytest.mark.parametrize(
    ("version", "vib", "words"),
    [
        (
            "6.5.0",
            "i40en 1.3.1-5vmw.650.1.26.5969303",
            {"MDD false positives", "LLDP agent"},
        ),
        ("7.0.2", "i40en 1.8.1.136-1vmw.702.0.0.17867351", {"statistics are read"}),
        ("7.0.2", "i40en 2.4.1.0-1OEM.700.1.0.15843807", set()),
        ("6.0.0", "bnx2x 2.713.30.v60.8-1OEM.600.0.0.2494585", {"bricked"}),
        ("6.0.0", "bnx2x 2.713.30.v60.9-1OEM.600.0.0.2494585", set()),
        ("6.7.0", "qfle3 1.0.50.11-9vmw.670.0.0.8169922", {"Lower throughput with qfle3"}),
        ("9.0.1", "lpfc 14.4.390.20-36vmw.901.0.0.24957456", {"paths are claimed"}),
        ("7.0.1", "lpfc 12.8.351.30-1OEM.701.0.0.16850804", {"PowerPath"}),
        ("5.5.0", "nvme 1.0e.0.28-1vmw.550.0.0.1331820", {"Data corruption"}),
        ("5.5.0", "nvme 1.0e.0.29-1vmw.550.0.0.1331820", set()),
    ],
)
def test_a_driver_is_told_with_the_faults_of_its_version(
    tmp_path: Path, version: str, vib: str, words: set[str]
) -> None:
    """A driver is exposed to the faults whose range holds its version and whose release the host runs."""
    name, number = vib.split()
    host(
        tmp_path / "case",
        "esx0",
        version,
        1,
        f"{name}  {number}  VMW  VMwareCertified  2017-08-01\n",
    )
    found = judged(tmp_path / "case", tmp_path / "out", "driver-fault").get("esx0", [])

    assert len(found) == len(words)
    assert all(any(word in one["title"] for one in found) for word in words)


def test_the_age_of_a_build_is_counted_to_the_capture_and_not_to_today(tmp_path: Path) -> None:
    """5.0 GA is of 2011-08-24: 179 days later it is no finding, 180 days later it is, whenever the case is opened."""
    host(tmp_path / "case", "young", "5.0.0", 469512, taken="2012-02-19--16.53")
    host(tmp_path / "case", "old", "5.0.0", 469512, taken="2012-02-20--16.53")
    found = judged(tmp_path / "case", tmp_path / "out", "esxi-build-age")

    assert set(found) == {"old"}
    (one,) = found["old"]
    assert (one["severity"], "was 181 days old" in one["say"]) == ("info", True)
    assert "our own" in one["say"]


def test_no_two_tables_say_one_fault_of_a_driver_twice() -> None:
    """A fault that goes by the version of the driver is a row of the drivers, one that goes by the build one of those."""
    drivers = {row["title"] for row in rows("driver_fault")}

    assert drivers.isdisjoint(row["title"] for row in rows("esxi_defect"))
    assert len(rows("driver_fault")) >= 11
