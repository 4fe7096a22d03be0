"""What is said of short pastes as public captures have them: the plainly visible is said, and nothing that the text does not bear out.

All lines are synthetic, in the forms of the captures that the rules name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

AT = "2023-03-01T10:00:0{}.000Z "
HB = "[HB state abcdef02 offset 3964928 gen 59 stampUS 6780917733 uuid 5091de63-00000001-1ea1-000000000001 jrnl <FB 1> drv 14.54]"
PASTES = {
    "nic.log": [
        AT.format(1) + "cpu9:4105)vmnic0 : 02:00.0 Link Down",
        AT.format(1) + "cpu9:4117)vmnic2 : 02:00.4 Link Down",
        AT.format(3) + "cpu9:4117)vmnic2 : 02:00.4 Link Up - 10 Gbps",
        AT.format(4) + "cpu0:4804)lpfc820 0000:02:00.2: 0:1305 Link Down Event x2 received Data: x2 x20 x800110 x0 x0",
    ],
    "nfs.log": [
        AT.format(1) + "In(182) vmkernel: cpu7:209)NFS: 6339: Status:No connection. Retrying synchronous write I/O 1 of 25 times",
        AT.format(2) + "In(182) vmkernel: cpu3:209)NFSLock: 1505: Stop accessing fd 0x43088f000001(vm-01-flat.vmdk)  3",
        AT.format(7) + "In(182) vmkernel: cpu3:209)NFSLock: 1469: Start accessing fd 0x43088f000001(vm-01-flat.vmdk) again",
        AT.format(8) + "Wa(180) vmkwarning: cpu3:209)WARNING: NFS: 5544: NFS volume ds1 performance has deteriorated. I/O latency "
        "increased from average value of 0(us) to 10614(us). Exceeded threshold 10000(us)",
    ],
    "heartbeat.log": [AT.format(1) + f"cpu2:120)HBX: 2313: Waiting for timed out {HB} on vol 'datastore-01'"],
    "path.txt": [
        "Aug 15 06:07:13 vobd: Aug 15 06:07:13.285: 171974745962us:  Lost connectivity to storage device "
        'naa.60060160a0b02f0012345678abcdef01. Path vmhba39:C0:T0:L0 is down. Affected datastores: "datastore-01"..',
    ],
    "stats.txt": [
        "[root@esx1:~] vsish -e get /storage/scsifw/devices/naa.60060160a0b02f0012345678abcdef01/stats",
        "Statistics {", "   commands:11816", "   blocksRead:36628", "   blocksWritten:0", "   readOps:7468",
        "   writeOps:0", "   reserveOps:0", "   reservationConflicts:10221", "}",
    ],
    "consolidate.txt": [f"2023-03-01T10:00:0{n}.000Z| vcpu-0| Checkpoint_Unstun: vm stopped for 4233332 us" for n in (1, 2)],
    "hostd.log": [
        AT.format(1) + "error hostd[32AE9B90] [Originator@6876 sub=Statssvc] Error: 'FileIO error: No space left : "
        "/var/lib/vmware/hostd/stats/hostAgentStats.idMap'; while adding stat 'ha-host'",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Findings of each paste, by `backline triage` of it alone."""
    found = {}
    for name, lines in PASTES.items():
        folder = tmp_path_factory.mktemp("paste")
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = CliRunner().invoke(main, ["triage", str(folder / name), "-o", str(folder / "out"), "--quiet"])
        assert done.exit_code == 0, (name, done.output)
        found[name] = json.loads((folder / "out" / "case.json").read_text(encoding="utf-8"))["findings"]
    return found


EXPECTED = {
    "nic.log": [
        ("major", "0000:02:00.2", "the last line about it, at 2023-03-01 10:00:04 UTC, says that it is down"),
        ("warning", "vmnic0", "vmnic0 lost its link once"),
        ("info", "vmnic2", "it has a link again since 2023-03-01 10:00:03 UTC"),
    ],
    "nfs.log": [
        ("warning", "vm-01-flat.vmdk", "it goes on since 2023-03-01 10:00:07 UTC"),
        ("warning", "", "Writes were tried again once"),
        ("info", "ds1", "rose to 0.011 s, which is below our own threshold"),
    ],
    "heartbeat.log": [("major", "datastore-01", "was too late once")],
    "path.txt": [("critical", "naa.60060160a0b02f0012345678abcdef01", "No later event in the log ends it (esx.clear.storage.conn")],
    "stats.txt": [("warning", "naa.60060160a0b02f0012345678abcdef01", "10,221 of 11,816 commands")],
    "consolidate.txt": [("warning", "consolidate.txt", "lasted 4.2 s; 2 of 2 stops exceed 1.0 s")],
    "hostd.log": [("major", "/var/lib/vmware/hostd/stats/hostAgentStats.idMap", "hostd found no space")],
}  # fmt: skip


@pytest.mark.parametrize("name", PASTES)
def test_what_is_plainly_visible_is_said(said: dict[str, list[dict[str, Any]]], name: str) -> None:
    """A paste gives the findings that its lines bear out, of their own subject, and no other."""
    found = said[name]
    assert len(found) == len(EXPECTED[name]), [one["title"] for one in found]
    for severity, subject, text in EXPECTED[name]:
        assert any(
            one["severity"] == severity and one["subject"].startswith(subject) and text in one["say"] for one in found
        ), (severity, subject, text, [one["say"] for one in found])


VSWITCHES = """[root@esx1:~] esxcli network vswitch standard list
vSwitch0
   Name: vSwitch0
   Class: cswitch
   Num Ports: 8570
   Used Ports: 5
   MTU: 1500
   Uplinks: vmnic0
   Portgroups: VM Network, Management Network
[root@esx1:~] vdf -h
Ramdisk                   Size      Used Available Use% Mounted on
hostdstats                166M      166M        0B 100% --
"""


def test_evidence_stands_on_the_line_of_its_own_value(tmp_path: Path) -> None:
    """A value out of a block is cited by its own line; one line is cited once, and what is not known is no evidence."""
    (tmp_path / "paste.txt").write_text(VSWITCHES, encoding="utf-8")
    done = CliRunner().invoke(main, ["triage", str(tmp_path / "paste.txt"), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code == 0, done.output
    note = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")

    assert 'paste.txt:8  n_uplinks = 1, uplinks = "vmnic0"\n    Uplinks: vmnic0\n' in note
    assert "paste.txt:12  used_kib = 169984, maximum_kib = 169984\n    hostdstats" in note
    assert "= unknown" not in note and note.count("paste.txt:12  ") == 1


RELEASE = """[root@esx1:~] esxcli system version get
   Product: VMware ESXi
   Version: 9.0.0
   Build: Releasebuild-24755229
   Update: 0
   Patch: 0
"""


def test_what_only_the_version_tells_is_one_row(tmp_path: Path) -> None:
    """Dozens of faults that a release is known for are one row of the note, each with its title, below what matters."""
    (tmp_path / "paste.txt").write_text(RELEASE, encoding="utf-8")
    done = CliRunner().invoke(main, ["triage", str(tmp_path / "paste.txt"), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))["findings"]
    faults = [one for one in found if one["rule"] == "esxi-defect"]
    note = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")

    assert len(faults) > 10 and len({one["title"] for one in faults}) == len(faults)
    heads = [line for line in note.splitlines() if line.startswith("### ")]
    assert heads == [
        "### 1. WARNING exposed: The host lacks the fixes of VMSA-2025-0013",
        f"### 2. INFO exposed: {len(faults)} known faults of this release, by its version alone",
    ]
    assert f"{faults[0]['title']}. ESXi 9.0.0" in note.replace("\\", "")
    assert "paste.txt:4  build = 24755229\n    Build: Releasebuild-24755229\n" in note


LOOP = """[root@esx1:~] for disk in $(esxcli storage nmp device list | grep SUN -B 1 | grep ^naa); do echo ""; \
esxcli storage nmp psp roundrobin deviceconfig get -d $disk; done

   Byte Limit: 10485760
   Device: naa.600144f009d4d23600000000000000a1
   IOOperation Limit: 1
   Limit Type: Iops
   Use Active Unoptimized Paths: false
[root@esx1:~] vim-cmd vmsvc/snapshot.get 6
Get Snapshot:
|-ROOT
--Snapshot Name        : before update
--Snapshot Id        : 23
--Snapshot Desciption  : synthetic
--Snapshot Created On  : 2/26/2021 17:41:7
--Snapshot State       : powered off
"""
ETHTOOL = "driver: ixgbe\nversion: 3.7.13\nfirmware-version: 0x80000389\nbus-info: 0000:04:00.0\n"


def test_a_loop_prints_what_stands_in_it(tmp_path: Path) -> None:
    """What a loop goes over is not printed; a tree of snapshots and a NIC's driver without a prompt are the host's."""
    (tmp_path / "loop.txt").write_text(LOOP, encoding="utf-8")
    (tmp_path / "nic.txt").write_text(ETHTOOL, encoding="utf-8")

    def tables(name: str, table: str) -> str:
        return CliRunner().invoke(main, ["tables", str(tmp_path / name), table]).output

    assert "naa.600144f009d4d23600000000000000a1" in tables("loop.txt", "esxi.round_robin")
    assert "2021-02-26 17:41:07" in tables("loop.txt", "esxi.snapshot_tree")
    assert "0x80000389" in tables("nic.txt", "esxi.pnic_info")
