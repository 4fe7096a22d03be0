"""What is said of short pastes as public captures have them: the plainly visible is said, and nothing that the text does not bear out.

All lines are synthetic, in the forms of the captures that the rules name.
"""

from __future__ import annotations

import io
import json
import tarfile
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
    "screen.txt": [
        "VMware ESXi 8.0.3 [Releasebuild-24280767 x86_64]", "NOT_IMPLEMENTED bora/vmkernel/synthetic/made_up.c:12",
        "PanicvPanicInt@vmkernel", "Panic_NoSave@vmkernel", "MemSchedKmem_TransferMemory@vmkernel",
        "VisorFSPagerUncompressPage@vmkernel", "VMK uptime: 7:05:43:45.014 TSC: 1751259712918392", "Starting coredump to disk",
    ],
    "loop.txt": [
        "[root@esx1:~] for d in 52a1 52a2; do vsish -e get /vmkModules/lsom/disks/$d/info | grep Congestion; done",
        "   memCongestion:0", "   logCongestion:252",
        AT.format(1) + "cpu2:120)WARNING: NMP: nmp_ThrottleLogForDevice:3546: last error status from device naa.6006 repeated 120 times",
    ],
    "escaped.md": [
        AT.format(1) + "warning hostd\\[2099995\\] \\[Originator@6876 sub=IoTracker\\] In thread 2099951, "
        'access(\\"/vmfs/volumes/5ee09751-00000001-bb34-000000000001/vm1/vm1.vmx\\") took over 2850 sec.',
    ],
    "probe.txt": [
        AT.format(1) + "error hostd-probe[11857730] [Originator@6876 sub=Default] hostd detected to be non-responsive",
    ],
    "lock.txt": [
        "~ # vmkfstools -D /vmfs/volumes/ds1/vm1/vm1-flat.vmdk",
        "Lock [type 10c00001 offset 13895680 v 2175, hb offset 3694592 gen 13777, mode 2, owner "
        "00000000-00000000-0000-000000000000 mtime 979023 num 1 gblnum 0 gblgen 0 gblbrk 0] ",
        "RO Owner[0] HB Offset 3309568 5630b2a6-c21df93e-32f1-**005056000001** ",
        "Addr <4, 13, 41>, gen 85, links 1, type reg, flags 0, uid 0, gid 0, mode 600",
    ],
    "states.txt": [
        '[root@esx1:~] esxcli storage core path list | grep -E "Runtime|State:"',
        "   Runtime Name: vmhba2:C0:T0:L1", "   State: active", "   Runtime Name: vmhba3:C0:T0:L1", "   State: dead",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Findings of each paste, by `backline triage` of it alone."""
    found = {}
    for name, lines in PASTES.items():
        folder = tmp_path_factory.mktemp("paste")
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = CliRunner().invoke(
            main, ["triage", str(folder / name), "-o", str(folder / "out"), "--quiet"]
        )
        assert done.exit_code == 0, (name, done.output)
        found[name] = json.loads((folder / "out" / "case.json").read_text(encoding="utf-8"))[
            "findings"
        ]
    return found


EXPECTED = {
    "nic.log": [
        ("major", "0000:02:00.2", "last seen down at 2023-03-01 10:00:04 UTC"),
        ("warning", "vmnic0", "vmnic0 lost its link once"),
        ("info", "vmnic2", "the link has been back since 2023-03-01 10:00:03 UTC"),
    ],
    "nfs.log": [
        ("warning", "vm-01-flat.vmdk", "it resumed at 2023-03-01 10:00:07 UTC"),
        ("warning", "", "Writes were retried once"),
        ("info", "ds1", "rose to 0.011 s, which is below our own threshold"),
    ],
    "heartbeat.log": [("major", "datastore-01", "was too late once")],
    "path.txt": [("critical", "naa.60060160a0b02f0012345678abcdef01", "Not cleared since (no esx.clear.storage.conn")],
    "stats.txt": [("warning", "naa.60060160a0b02f0012345678abcdef01", "10,221 of 11,816 commands")],
    "consolidate.txt": [("warning", "consolidate.txt", "lasted 4.2 s; 2 of 2 stops exceed 1.0 s")],
    "hostd.log": [("major", "/var/lib/vmware/hostd/stats/hostAgentStats.idMap", "hostd found no space")],
    "screen.txt": [("critical", "memsched-transfer, no date", "NOT_IMPLEMENTED")],
    "loop.txt": [("major", "vSAN disk unknown", "log 252"), ("info", "naa.6006", "120 failed commands")],
    "escaped.md": [("major", "5ee09751-00000001-bb34-000000000001", "2,850")],
    "probe.txt": [("major", "", "The probe got no answer once")],
    "lock.txt": [("info", "/vmfs/volumes/ds1/vm1/vm1-flat.vmdk: 00:50:56:00:00:01", "Lock for reading")],
    "states.txt": [("warning", "vmhba3:C0:T0:L1", "")],
}  # fmt: skip


@pytest.mark.parametrize("name", PASTES)
def test_what_is_plainly_visible_is_said(said: dict[str, list[dict[str, Any]]], name: str) -> None:
    """A paste gives the findings that its lines bear out, of their own subject, and no other."""
    found = said[name]
    assert len(found) == len(EXPECTED[name]), [one["title"] for one in found]
    for severity, subject, text in EXPECTED[name]:
        assert any(
            one["severity"] == severity
            and one["subject"].startswith(subject)
            and text in one["say"]
            for one in found
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
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "paste.txt"), "-o", str(tmp_path / "out"), "--quiet"]
    )
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
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "paste.txt"), "-o", str(tmp_path / "out"), "--quiet"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))["findings"]
    faults = [one for one in found if one["rule"] == "esxi-defect"]
    note = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")

    assert len(faults) > 10 and len({one["title"] for one in faults}) == len(faults)
    heads = [line for line in note.splitlines() if line.startswith("### ")]
    assert heads == [
        "### 1. WARNING exposed: ESXi security advisories not patched",
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
COUNTERS = "ethtool -S vmnic3\nNIC statistics:\n     rx_packets: 912\n     rx_no_buffer_count: 99\n"


def test_a_loop_prints_what_stands_in_it(tmp_path: Path) -> None:
    """What a loop goes over is not printed; a tree of snapshots and a NIC's driver without a prompt are the host's.

    So are the counters below the command alone, though a guest prints them under the same heading.
    """
    (tmp_path / "loop.txt").write_text(LOOP, encoding="utf-8")
    (tmp_path / "nic.txt").write_text(ETHTOOL, encoding="utf-8")
    (tmp_path / "count.txt").write_text(COUNTERS, encoding="utf-8")

    def tables(name: str, table: str) -> str:
        return CliRunner().invoke(main, ["tables", str(tmp_path / name), table]).output

    assert "naa.600144f009d4d23600000000000000a1" in tables("loop.txt", "esxi.round_robin")
    assert "2021-02-26 17:41:07" in tables("loop.txt", "esxi.snapshot_tree")
    assert "0x80000389" in tables("nic.txt", "esxi.pnic_info")
    assert "rx_no_buffer_count" in tables("count.txt", "esxi.pnic_private_stats")


FILTERED = """[root@esx1:~] esxcli storage filesystem list | head -3
Mount Point                                        Volume Name  UUID                                 Mounted  Type           Size          Free
-------------------------------------------------  -----------  -----------------------------------  -------  ------  ------------  ------------
/vmfs/volumes/5e1a2b3c-11112222-3333-444455556666  DS01         5e1a2b3c-11112222-3333-444455556666     true  VMFS-6  1099243192320  536870912000
"""


@pytest.mark.parametrize("pipe", [" | head -3", ""])
def test_what_a_filter_let_through_is_not_all(tmp_path: Path, pipe: str) -> None:
    """Rows behind a pipe are judged, and that no other row is bad cannot be told; without the pipe it can."""
    (tmp_path / "esx.txt").write_text(FILTERED.replace(" | head -3", pipe), encoding="utf-8")
    CliRunner().invoke(
        main, ["triage", str(tmp_path / "esx.txt"), "-o", str(tmp_path / "out"), "--quiet"]
    )
    case = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))
    looked = {one["rule"] for one in case["quiet"] if one["looked_at"]}
    told = {
        rule
        for one in case["cannot_tell"]
        if "filtered by head" in one["why"]
        for rule in one["rules"]
    }
    assert (told if pipe else looked) >= {"datastore-full", "datastore-not-mounted"}
    assert not (looked if pipe else told)


@pytest.mark.parametrize(
    ("last", "said"),
    [("09:00", "end 7 hours before"), ("14:53", "end 2 hours before"), ("14:54", "")],
)
def test_a_host_that_fell_silent_before_its_bundle_was_made_is_told(
    tmp_path: Path, last: str, said: str
) -> None:
    """Logs that end hours before the bundle tell nothing of the time since then, and the report says so."""
    line = (
        f"2023-03-01T{last}:00.000Z cpu3:2098123)NetPort: 1879: disabled port 0x2000014\n".encode()
    )
    with tarfile.open(tmp_path / "esx-esx9-2023-03-01--16.53-71234.tgz", "w:gz") as bundle:
        member = tarfile.TarInfo("esx-esx9-2023-03-01--16.53-71234/var/run/log/vmkernel.log")
        member.size = len(line)
        bundle.addfile(member, io.BytesIO(line))
    CliRunner().invoke(main, ["triage", str(tmp_path), "-o", str(tmp_path / "out"), "--quiet"])
    (node,) = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))["nodes"]
    silent = [warning for warning in node["warnings"] if "before the bundle was made" in warning]
    assert [said in warning for warning in silent] == [True] * bool(said)


@pytest.mark.parametrize(
    ("count", "said"), [(2, []), (3, ["3 bundles name esx9, and they are read as one"])]
)
def test_many_bundles_that_name_one_host_are_told(
    tmp_path: Path, count: int, said: list[str]
) -> None:
    """Hosts that were set up as copies of one have its name in each bundle: what is read as one host is said to be."""
    for number in range(count):
        top = f"esx-esx9-2023-03-0{number + 1}--16.53-7123{number}"
        line = f"2023-03-0{number + 1}T16:00:00.000Z cpu3:2098123)NetPort: 1879: disabled port 0x2000014\n".encode()
        with tarfile.open(tmp_path / f"{number}.tgz", "w:gz") as bundle:
            member = tarfile.TarInfo(f"{top}/var/run/log/vmkernel.log")
            member.size = len(line)
            bundle.addfile(member, io.BytesIO(line))
    CliRunner().invoke(
        main, ["triage", str(tmp_path), "-o", str(tmp_path / "out"), "--quiet", "--one-case"]
    )
    (node,) = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))["nodes"]
    assert [warning for warning in node["warnings"] if "bundles" in warning] == said
