"""Forms of ESXi's texts that real hosts print, read through the command. All texts here are made up.

Each follows the documented form of its output; the names in them belong to nobody.
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
from tests.kit.sample_kit import list_samples


def rows(folder: Path, name: str, text: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table that `backline tables` prints of a file, without empty cells."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [{key: cell for key, cell in row.items() if cell is not None} for row in found]


def not_understood(folder: Path, name: str, text: str) -> int:
    """Return how many lines of a file `backline tables` says were not understood."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), "--json"])
    assert done.exit_code == 0, done.output
    return int(json.loads(done.stdout)["lines_not_understood"])


def test_port_groups_of_esxcli_are_rows_with_the_switch_above_them(tmp_path: Path) -> None:
    """`esxcli network vswitch standard list` names port groups: blanks stay in a name, no switch gets another's."""
    keys = "   Class: cswitch\n   Num Ports: 2560\n   Used Ports: 4\n   MTU: 1500\n   Uplinks: vmnic0\n"
    text = (
        f"vSwitch0\n   Name: vSwitch0\n{keys}   Portgroups: VM Network, Management Network\n\n"
        f"vSwitch1\n   Name: vSwitch1\n{keys}   Portgroups: \n\n"
        f"iSCSI\n   Name: iSCSI\n{keys}   Portgroups: iSCSI-A\n"
    )

    found = rows(tmp_path, "switches.txt", text, "esxi.portgroup")

    named = [(row["switch"], row["portgroup"], row["_line"]) for row in found]
    assert named == [
        ("vSwitch0", "VM Network", 8),
        ("vSwitch0", "Management Network", 8),
        ("iSCSI", "iSCSI-A", 26),
    ]


def test_the_network_screen_tells_which_uplink_carries_a_client(tmp_path: Path) -> None:
    """TEAM-PNIC of a pasted esxtop screen; `-` and `n/a` are no uplink."""
    text = (
        " 1:07:14am up 2:33, 163 worlds; CPU load average: 0.01, 0.05, 0.02\n\n"
        "   PORT-ID        USED-BY  TEAM-PNIC DNAME         PKTTX/s  MbTX/s  PKTRX/s  MbRX/s %DRPTX %DRPRX\n"
        "  33554433     Management        n/a vSwitch0         0.00    0.00     0.00    0.00   0.00   0.00\n"
        "  33554434         vmnic1          - vSwitch0        27.13    0.07     0.00    0.00   0.00   0.00\n"
        "  33554436  21153:app one     vmnic1 vSwitch0        27.13    0.07     0.00    0.00   0.00   0.00\n"
        "  33554437           vmk1     all(2) vSwitch0         1.00    0.01     0.00    0.00   0.00   0.00\n"
    )

    found = rows(tmp_path, "screen.txt", text, "esxtop.port")

    assert [row.get("team_pnic") for row in found] == [None, None, "vmnic1", "all(2)"]


def test_esxtop_tells_the_memory_of_the_host_and_the_latency_of_its_adapters(
    tmp_path: Path,
) -> None:
    """Columns of the groups Memory and Physical Disk Adapter are rows of a sample; a single device is no adapter."""
    columns = {
        r"Memory\Free MBytes": ("1", "579"),
        r"Memory\Swap Used MBytes": ("2", "1567"),
        r"Memory\Memctl Current MBytes": ("3", "5335"),
        r"Physical Disk Adapter(vmhba0)\Commands/sec": ("4", "18.87"),
        r"Physical Disk Adapter(vmhba0)\Average Driver MilliSec/Command": ("5", "1.14"),
        r"Physical Disk Adapter(vmhba64)\Average Driver MilliSec/Command": ("6", "40.5"),
        r"Physical Disk(vmhba0:vmhba0:C0:T2:L0)\Average Driver MilliSec/Command": ("7", "99"),
    }
    cells = [["(PDH-CSV 4.0) (UTC)(0)", *(rf"\\esx1.lab.example\{name}" for name in columns)]]
    for number, time in enumerate(("03/02/2021 10:00:00", "03/02/2021 10:00:05")):
        cells.append([time, *(values[number] for values in columns.values())])
    text = "".join(",".join(f'"{cell}"' for cell in line) + ",\n" for line in cells)

    (memory,) = rows(tmp_path, "capture.csv", text, "esxtop.memory")
    adapters = rows(tmp_path, "capture.csv", text, "esxtop.disk_adapter")

    assert (memory["free_mb"], memory["swap_used_mb"], memory["memctl_mb"], memory["_line"]) == (
        579,
        1567,
        5335,
        3,
    )
    named = [(row["hba"], row.get("cmds_s"), row["davg_ms"], row["time"]) for row in adapters]
    assert named == [
        ("vmhba0", 18.87, 1.14, "2021-03-02 10:00:05"),
        ("vmhba64", None, 40.5, "2021-03-02 10:00:05"),
    ]


def test_disks_of_a_vm_are_told_from_its_drives_and_snapshots_from_base_disks(
    tmp_path: Path,
) -> None:
    """Each present `.vmdk` of a .vmx is a row; a CD image and a removed disk are none."""
    text = (
        '.encoding = "UTF-8"\ndisplayName = "db 01"\nscsi0.virtualDev = "pvscsi"\n'
        'scsi0:0.fileName = "db 01-000003.vmdk"\nscsi0:0.present = "TRUE"\n'
        'scsi0:1.fileName = "/vmfs/volumes/logs/db 01/log.vmdk"\nscsi0:1.present = "TRUE"\n'
        'scsi0:2.fileName = "gone.vmdk"\nscsi0:2.present = "FALSE"\n'
        'sata0:0.fileName = "/vmfs/volumes/iso/setup.iso"\nsata0:0.present = "TRUE"\n'
    )

    found = rows(tmp_path, "db.vmx", text, "esxi.vdisk")

    assert [
        (row["vdisk"], row["is_delta"], row["controller_type"], row["_line"]) for row in found
    ] == [
        ("scsi0:0", True, "pvscsi", 4),
        ("scsi0:1", False, "pvscsi", 6),
    ]


OLD = (
    "Apr  7 17:37:45 esx4 vmkernel: 17:19:49:38.441 cpu6:53888)UserDump: 1587: Userworld coredump complete.\n"
    "Apr  7 17:39:16 esx4 Hostd: [2012-04-07 17:39:16.938 FFCFEE80 warning 'HostsvcPlugin'] No ssl information\n"
    "Apr  7 17:39:17 esx4 Hostd: [00] rip 17c6bbf3\n"
    "Apr  7 17:41:03 esx4 vobd: Apr  7 17:41:03.285: 171971079169us: [vob.scsi.scsipath.pathstate.dead] scsiPath a is dead.\n"
    "Apr  7 17:41:04 esx4 vmkernel: 17:19:52:55.582 cpu13:3476319)WARNING: NMP: nmp_Retry: no path to device\n"
    "Apr  7 17:41:05 esx4 sshd[4711]: a line of a program that nothing reads\n"
)
OLD_FORMS = {
    "padded": OLD,
    "collapsed": OLD.replace("Apr  7", "Apr 7"),
    "nameless": OLD.replace(" esx4 ", " "),
}


@pytest.mark.parametrize("form", OLD_FORMS)
@pytest.mark.parametrize("name", ["pasted.txt", "messages"])
def test_each_line_of_the_messages_of_4x_goes_to_the_log_of_its_program(
    tmp_path: Path, form: str, name: str
) -> None:
    """VMkernel, hostd and vobd share one file: each line is in its own log, with the number it has in the file."""
    text = OLD_FORMS[form]

    found = {
        log: rows(tmp_path, name, text, f"esxi.{log}") for log in ("vmkernel", "hostd", "vobd")
    }

    assert {log: [row["_line"] for row in rows_] for log, rows_ in found.items()} == {
        "vmkernel": [1, 5],
        "hostd": [2],
        "vobd": [4],
    }
    assert (
        found["hostd"][0]["level"],
        found["vobd"][0]["event_id"],
        found["vmkernel"][1]["level"],
    ) == (
        "warning",
        "vob.scsi.scsipath.pathstate.dead",
        "warning",
    )
    assert "rip 17c6bbf3" in found["hostd"][0]["message"]
    assert not_understood(tmp_path, name, text) == 1


def test_messages_in_a_bundle_of_4x_are_parted_as_well(tmp_path: Path) -> None:
    """In a bundle every line is of the bundle's host, whatever name the console had, and a rule finds it in its log."""
    top = "vm-support-esx4-2012-04-08.1234"
    with tarfile.open(tmp_path / "esx-2012-04-08.1234.tgz", "w:gz") as bundle:
        for name, text in {
            "var/log/messages": OLD,
            "etc/vmware/esx.conf": '/system/uuid = "4711"\n',
        }.items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(text)
            bundle.addfile(member, io.BytesIO(text.encode()))

    done = triaged(
        tmp_path, tmp_path / "esx-2012-04-08.1234.tgz", 'in: esxi.vobd, match: "pathstate.dead"', 1
    )

    (node,) = done["nodes"]
    assert {log["table"] for log in node["logs"]} == {"esxi.vmkernel", "esxi.hostd", "esxi.vobd"}
    assert [one["evidence"][0]["line"] for one in done["findings"]] == [4]


RULE = """\
rule: counted
title: A test of lines that stand for several
source: [a test]
status: test
revised: 2026-11-21
about: A test of lines that stand for several.
logs:
  hit: {{{log}}}
seen: {{many: {{log: hit, at_least: {least}, within: 1h}}}}
each: host in hit per node
subject: host
when: many
outcomes:
  - {{when: true, severity: major, confidence: confirmed, say: "{{many.count}} messages"}}
evidence: [many]
"""


def triaged(folder: Path, case: Path, log: str, least: int) -> dict[str, Any]:
    """Return the case document of a triage with one rule, which asks for so many lines of a log in an hour."""
    (folder / "kb").mkdir(exist_ok=True)
    (folder / "kb" / "counted.yaml").write_text(RULE.format(log=log, least=least), encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(case), "--kb", str(folder / "kb"), "--no-packs", "--json", "-"]
    )
    assert done.exit_code in (0, 5), done.output
    found = json.loads(done.stdout)
    found["findings"] = [one for one in found["findings"] if one["rule"] == "counted"]
    return found


@pytest.mark.parametrize(("least", "matches"), [(5, True), (6, False)])
def test_a_message_counts_as_often_as_the_line_below_says(
    tmp_path: Path, least: int, matches: bool
) -> None:
    """`last message repeated N times`: the message and N more, of the host that wrote it, also between other hosts."""
    lines = [
        "Apr  7 17:37:45 esx4 vmkernel: 17:19:49:38.441 cpu6:53888)WARNING: BC: no memory",
        "Apr  7 17:37:46 esx5 vmkernel: 17:19:49:39.441 cpu6:53888)all is well",
        "Apr  7 17:37:50 esx4 last message repeated 3 times",
        "Apr  7 17:37:51 esx5 last message repeated 9 times",
        "Apr  7 17:37:55 esx4 vmkernel: 17:19:49:58.441 cpu6:53888)WARNING: BC: no memory",
        "Apr  7 17:37:56 esx4 vmkernel: 17:19:49:59.441 cpu6:53888)all is well",
    ]
    calm = "Apr  7 17:37:57 esx4 vmkernel: 17:19:50:00.441 cpu6:53888)all is well"
    lines += [calm] * 50  # a log, and not a few lines that somebody chose
    log = tmp_path / "esx-2012-04-08--10.00.log"  # the date tells the year
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")

    done = triaged(tmp_path, log, 'in: esxi.vmkernel, match: "no memory"', least)

    assert [one["node"] for one in done["findings"]] == ["esx4"] * matches
    if matches:
        assert "5 messages" in json.dumps(done["findings"])


WRAPPED = """\
TSC: 548762 cpu0:1)BootConfig: 705: interruptsDisabledPanicTimeUS = 0 (0)
    2023-11-06T15:22:18.996Z cpu4:2098152)
    i40en: i40en_ValidateRxItr:213: Setting RX rate to 50 usec
    2023-11-06T15:22:18.997Z cpu4:2098152)VMK_PCI: 617: 0000:4b:00.0: allocated 25 MSIX interrupts
    2023-11-06T16:52:19.331Z cpu7:2098153)
    i40en: i40en_ValidateRxItr:213: Setting RX rate to 40 usec
"""


def test_a_text_that_stands_below_its_head_is_the_message_of_that_line(tmp_path: Path) -> None:
    """Lines of the VMkernel that were wrapped after their head keep text, time, CPU and world together."""
    found = rows(tmp_path, "boot.txt", WRAPPED, "esxi.vmkernel")

    assert [(row["_line"], row["cpu"], row.get("time", "")[:19]) for row in found] == [
        (1, 0, ""),
        (2, 4, "2023-11-06 15:22:18"),
        (4, 4, "2023-11-06 15:22:18"),
        (5, 7, "2023-11-06 16:52:19"),
    ]
    assert found[1]["message"] == "i40en: i40en_ValidateRxItr:213: Setting RX rate to 50 usec"
    assert found[3]["message"].endswith("40 usec")


@pytest.mark.parametrize(
    ("text", "matches"), [(WRAPPED, False), (WRAPPED.replace("T16:52", "T15:52"), True)]
)
def test_a_wrapped_text_has_the_time_of_its_head(tmp_path: Path, text: str, matches: bool) -> None:
    """Two in an hour are told from two in ninety minutes, though the time stands on the line above."""
    log = tmp_path / "vmkernel.log"
    log.write_text(text, encoding="utf-8")

    done = triaged(tmp_path, log, 'in: esxi.vmkernel, match: "Setting RX rate"', 2)

    assert bool(done["findings"]) is matches


def test_a_message_over_many_lines_is_one_row(tmp_path: Path) -> None:
    """`backline tables` shows the lines that continue a message of hostd with it, traces without a mark as well."""
    text = (
        "2014-01-05T19:33:16.297Z [FFAB6D20 error 'HttpNfcSvc'] the list is not available\n"
        "*** In-memory logs end ***\n"
        "2014-01-05T19:33:16.315Z [44B86B90 info 'Hbrsvc'] Schedule computed.\n"
        "backtrace[00] rip 18dc7333 Vmacore::System::Stacktrace\n"
        "backtrace[01] rip 084960b1 hostd [0x84960b1]\n"
    )

    found = rows(tmp_path, "hostd.log", text, "esxi.hostd")

    assert [row["_line"] for row in found] == [1, 3]
    assert "rip 084960b1" in found[1]["message"]


def test_counters_of_a_driver_are_read_without_their_command(tmp_path: Path) -> None:
    """Pasted alone, the text of a native driver gives its queues, and the general counters it begins with."""
    text = (
        "Uplink Stats:\n    rxPkts:      5076600\n    txPkts:      6449884\n    rxCRCErrors: 7\n"
        "Uplink Private Stats:\n\n    rxXon=0\n    RXCTRL=00000001\n"
        "    rxq0 (hwq0): ringSize=1024 dropped=3 rxPkts=5076556\n    txq0 (hwq0): ringSize=2048 dropped=0 txPkts=35\n"
    )

    (general,) = rows(tmp_path, "uplink.txt", text, "esxi.pnic_stats")
    own = rows(tmp_path, "uplink.txt", text, "esxi.pnic_private_stats")

    assert (general["rx_packets"], general["tx_packets"], general["rx_crc_errors"]) == (
        5076600,
        6449884,
        7,
    )
    assert [
        row["value"] for row in own if (row.get("queue_name"), row["key"]) == ("rxq0", "dropped")
    ] == [3]
    assert [row.get("value") for row in own if row["key"] == "RXCTRL"] == [None]
    assert not_understood(tmp_path, "uplink.txt", text) == 0


def test_the_python_mode_of_vsish_is_read_without_its_command(tmp_path: Path) -> None:
    """`vsish -p`: short keys, and the driver's text as a string over many lines; the prompt may be lost."""
    text = (
        "main():Python mode is deprecated and will be removed in future releases. You can use pyvsilib instead.\n"
        '{\n   "dumsw" : "",\n   "rxpkt" : 46037587,\n   "txpkt" : 39956093,\n   "rxmisserr" : 4,\n'
        '   "hw" : "Packets assigned to an invalid queue: 0\n\n'
        'rxq0: totalPkts=3062 allocRxBufFail=6\n\nRx Length Errors: 0\n",\n}\n'
    )

    (general,) = rows(tmp_path, "nic.txt", text, "esxi.pnic_stats")
    own = rows(tmp_path, "nic.txt", text, "esxi.pnic_private_stats")

    assert (general["rx_packets"], general["rx_missed_errors"], general["_line"]) == (
        46037587,
        4,
        4,
    )
    assert [row["value"] for row in own if row["key"] == "allocRxBufFail"] == [6]
    assert not_understood(tmp_path, "nic.txt", text) == 0


OUTPUTS = {
    "vmknic/columns": "esxcfg-vmknic -l",
    "vmknic/collapsed": "esxcfg-vmknic -l",
    "vmk_ipv4/gateway": "esxcli network ip interface ipv4 get",
    "vmk_ipv4/old": "esxcli network ip interface ipv4 get",
    "ens_uplinks/columns": "nsxdp-cli ens uplink list",
    "ens_uplinks/odd": "nsxdp-cli ens uplink list",
    "pci_devices/nics": "lspci -p -n",
    "scsidevs/disk": "esxcfg-scsidevs -l",
    "scsidevs/odd": "esxcfg-scsidevs -l",
    "vmdk/snapshot": "cat '/vmfs/volumes/ds1/db 01/db 01-000001.vmdk'",
    "vmdk/odd": "cat '/vmfs/volumes/ds1/db 01/db 01.vmdk'",
    "heap_stats/vmfs3": "vsish -e get /system/heaps/vmfs3-0x410016400000/stats",
    "heap_stats/odd": "vsish -e get /system/heaps/netGPHeap-0x410016400000/stats",
    "scsi_device_stats/conflicts": "vsish -e get /storage/scsifw/devices/naa.60000000000000000000000000000001/stats",
    "scsi_device_stats/odd": "vsish -e cat /storage/scsifw/devices/naa.60000000000000000000000000000001/stats",
}


FROM_THE_PATH = ("vm_folder", "disk_path", "parent_path")


@pytest.mark.parametrize("sample", OUTPUTS)
def test_an_output_in_a_session_is_read_as_it_is_alone(tmp_path: Path, sample: str) -> None:
    """Between two prompts each output gives the rows of its sample, each with the line it stands on."""
    parser, name = sample.split("/")
    (text_path,) = list_samples(parser, f"{name}.txt")
    text = text_path.read_text(encoding="utf-8")
    expected = json.loads(text_path.with_suffix(".json").read_text(encoding="utf-8"))
    session = f"[root@esx1:~] {OUTPUTS[sample]}\n{text}[root@esx1:~] date\n"

    for table, wanted in expected["rows"].items():
        found = rows(tmp_path, "session.txt", session, table)
        own = [
            {key: cell for key, cell in row.items() if key not in ("node", "_source", "_line")}
            for row in found
        ]
        if sample == "vmdk/snapshot":  # what its command says of the place of the disk
            own = [
                {key: cell for key, cell in row.items() if key not in FROM_THE_PATH} for row in own
            ]
        assert own == wanted
        assert [row["_line"] - 1 for row in found] == expected["lines"][table]
        assert {row["node"] for row in found} == {"esx1"}
    assert not_understood(tmp_path, "session.txt", session) == len(expected.get("faults", []))


def test_events_of_vcenter_are_read_beside_the_logs_of_its_hosts(tmp_path: Path) -> None:
    """A collector's file: the lines of vCenter are rows of its own machine, those of the host stay the host's."""
    text = (
        "<166>2022-11-04T15:01:58.230Z esx1 Hostd: info hostd[1053970] [Originator@6876 sub=Default] synthetic\n"
        "<14>1 2022-11-04T15:01:59.285831+00:00 vc1 vpxd 58650 - -  Event [575800] [1-1] [2022-11-04T15:01:58.187973Z] "
        "[vim.event.GeneralHostWarningEvent] [warning] [] [Home] [575800] [vmsyslog logger lost 156959 log messages]\n"
        "<14>1 2022-11-04T15:02:00.285831+00:00 vc1 sshd 58651 - -  nothing reads this\n"
    )

    (event,) = rows(tmp_path, "collected.log", text, "vcenter.vpxd")

    assert (event["node"], event["_line"], event["level"]) == ("vc1", 2, "warning")
    assert "lost 156959 log messages" in event["message"]
    assert [row["node"] for row in rows(tmp_path, "collected.log", text, "esxi.hostd")] == ["esx1"]
    assert not_understood(tmp_path, "collected.log", text) == 1
