"""A VM of Workstation, Player or Fusion gets no advice for vSphere, whatever part of its log is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.cli import main
from analyzer.rules import Rule

STAMP = "2024-10-14T15:10:10.000Z In(05) vmx - "
PRODUCTS = ("Workstation", "Player", "Fusion")
# the first line, the system of the host, a drive of Windows, homes of Linux and macOS, a settings file
HEADS = (
    "Log for VMware {product} pid=1234 version=17.5.2 build=build-23775571 option=Release",
    "Host is Windows 11, 64-bit",
    "DISK: OPEN scsi0:0 'C:\\Users\\u\\Documents\\Virtual Machines\\vm\\vm.vmdk' persistent R[]",
    "DISK: OPEN scsi0:0 '/home/u/vmware/vm/vm.vmdk' persistent R[]",
    "DISK: OPEN nvme0:0 '/Users/u/Virtual Machines.localized/vm.vmwarevm/vm.vmdk' persistent R[]",
    "DICT --- GLOBAL SETTINGS C:\\ProgramData\\VMware\\VMware Workstation\\settings.ini",
)
_DATASTORE = re.compile(r"/vmfs/(?:volumes|devices)/[^/\s\"']{1,80}/")


def judging() -> list[Rule]:
    """Return the shipped rules that judge lines of vmware.log alone."""
    return [
        rule
        for rule in rules.load().rules
        if {log.table.name for log in rule.logs.values()} == {"esxi.vm_log"}
    ]


def lines_of_examples() -> list[str]:
    """Return lines that these rules take for a fault, as their examples have them."""
    return [
        line
        for rule in judging()
        for example in rule.examples
        if example.expect.get("result") == "match"
        for line in (example.logs.get("esxi.vm_log") or "").splitlines()
    ]


def found(folder: Path, lines: list[str]) -> set[str]:
    """Return the rules that find something in a loose vmware.log."""
    case = folder / "case"
    case.mkdir(exist_ok=True)
    (case / "vmware.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    CliRunner().invoke(main, ["triage", str(case), "-o", str(folder / "out")])
    document = json.loads((folder / "out" / "case.json").read_text(encoding="utf-8"))
    return {one["rule"] for one in document["findings"]}


def test_the_lines_are_faults_on_esxi(tmp_path: Path) -> None:
    """Under the first line of ESXi most rules about vmware.log find their lines."""
    head = STAMP + "Log for VMware ESX pid=1234 version=8.0.2 build=build-22380479 option=Release"

    told = found(tmp_path, [head, *lines_of_examples()])
    assert len(told & {rule.id for rule in judging()}) >= len(judging()) / 2


MARKS = [
    head.format(product=one)
    for head in HEADS
    for one in (PRODUCTS if "{product}" in head else PRODUCTS[:1])
]


@pytest.mark.parametrize("mark", MARKS)
def test_no_rule_judges_a_vm_of_a_desktop_product(mark: str, tmp_path: Path) -> None:
    """The same lines in a log with one mark of a desktop product, before or after them: nothing is found."""
    faults = [_DATASTORE.sub("", line) for line in lines_of_examples()]
    own = STAMP + mark

    assert found(tmp_path, [own, *faults]) == set()
    assert found(tmp_path, [*faults[:150], own]) == set()


def test_a_file_of_a_datastore_speaks_for_esxi(tmp_path: Path) -> None:
    """A guest that prints a path of its own makes no desktop product of a VM whose disk is on a datastore."""
    own = [
        STAMP + "DISK: OPEN scsi0:0 '/vmfs/volumes/ds/vm/vm.vmdk' persistent R[]",
        STAMP + "Guest: backup of D:\\exports\\other.vmdk",
    ]

    assert found(tmp_path, [*own, *lines_of_examples()]) != set()
