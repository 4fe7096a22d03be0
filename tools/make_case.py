"""Write the sample cases of `samples/cases/`: small, synthetic, in documented formats.

Every value here is made up (or a published figure, where a README says so); the formats
follow the commands and files named next to each function. The output is the same bytes
on every run, and a test compares it with what is committed.

    python tools/make_case.py            writes samples/cases/
    python tools/make_case.py DIR        writes the same below DIR
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.case_pack import Files, tgz
from tools.case_text import (
    adv_delta,
    bundle_readme,
    client_stats,
    dlr_arp,
    esxtop_csv,
    guest_free,
    guest_ring,
    guest_stats,
    net_stats,
    nic_info,
    rx_queue,
    rx_summary,
    vib_list,
    vmx_file,
    vswitch_failover,
    vswitch_list,
)
from tools.nsx_site import UNKNOWN, format_failing_log, make_control_plane

ROOT = Path(__file__).resolve().parent.parent

ESX0 = "VMware ESXi 6.0.0 build-5224934\nVMware ESXi 6.0.0 Update 3\n"


def vm_support(host: str, version: str, build: int, extra: Files) -> tuple[str, Files]:
    """Return (top directory, files) of a small vm-support bundle: the entries every bundle has."""
    top = f"esx-{host}-2017-10-14--16.53-71234"
    update = {"6.0.0": "Update 3", "6.5.0": "Update 1"}[version]
    base: Files = {
        "README": bundle_readme(
            top,
            "2017-10-14 16:53:20",
            "Synthetic sample of the Backline project; no customer data.\n",
        ),
        "error.log": "",
        "action.log": "2017-10-14 16:53:21: commands (base.mfx) took 0.123 sec\n",
        "commands/vmware_-vl.txt": f"VMware ESXi {version} build-{build}\nVMware ESXi {version} {update}\n",
        "commands/uname_-a.txt": (
            f"VMkernel {host} {version} #1 SMP Release build-{build} Sep  4 2017 15:00:49 x86_64 x86_64 x86_64 ESXi\n"
        ),
        "commands/localcli_system-stats-uptime-get.txt": "3542400000000\n",
        "etc/vmware/esx.conf": f'/adv/Misc/HostName = "{host}"\n',
        "var/run/log/vmkernel.log": vmkernel_log(),
        "var/run/log/vobd.log": (
            "2017-10-14T16:40:02.101Z: [netCorrelator] 3541602000000us: [vob.net.vmnic.linkstate.up] "
            "vmnic vmnic0 linkstate up\n"
        ),
    }
    return top, {f"{top}/{name}": body for name, body in {**base, **extra}.items()}


def vmkernel_log() -> str:
    """Return ordinary vmkernel lines of the 5.0-7.x form."""
    line = "2017-10-14T16:{m:02d}:{s:02d}.312Z cpu{c}:{w})NetPort: 1879: disabled port 0x{p:x}\n"
    return "".join(
        line.format(m=20 + n // 3, s=n * 7 % 60, c=n % 8, w=33000 + n, p=0x2000010 + n % 5)
        for n in range(40)
    )


RING_PORTS = [
    (33554434, 4, 0, "vSwitch0", "00:25:90:aa:10:01", "vmnic0"),
    (33554436, 3, 0, "vSwitch0", "00:25:90:aa:10:02", "vmk0"),
    (33554464, 5, 9, "vSwitch0", "00:50:56:a6:55:f4", "iperf-test1"),
    (33554465, 5, 9, "vSwitch0", "00:50:56:a6:44:72", "iperf-test2"),
]


def ring_before() -> Files:
    """The measured lab of a published post before the rings were raised."""
    host = "[root@esx0:~] "
    port = "/net/portsets/vSwitch0/ports/33554464"
    esx = (
        f"{host}vmware -vl\n{ESX0}{host}net-stats -l\n{net_stats(RING_PORTS)}"
        f"{host}vsish -e get {port}/clientStats\n"
        f"{client_stats(pktsTxOK=26292806, bytesTxOK=1736589508, pktsRxOK=54807350, bytesRxOK=1806670750824, droppedRx=10312, pktsSwTsoRx=26346080, uplinkRxPkts=3401)}"
        f"{host}vsish -e get {port}/vmxnet3/rxSummary\n{rx_summary(lro=50314577, pkts=50714621, full1=7086, full2=3284)}"
        f"{host}vsish -e ls {port}/vmxnet3/rxqueues/\n0/\n1/\n"
        f"{host}vsish -e get {port}/vmxnet3/rxqueues/0/status\n{rx_queue(256, 256)}"
        f"{host}vsish -e get {port}/vmxnet3/rxqueues/1/status\n{rx_queue(256, 256)}"
    )
    guest = guest_ring("iperf-test1", shown=512) + guest_stats(
        "iperf-test1", (7129, 3241), (2305, 979)
    )
    guest += guest_free("iperf-test1", used=74780, buffers=9420)
    sender = (
        "root@iperf-test2:~# netstat -s |grep -i retransmit\n    86715 segments retransmited\n"
        "    TCPLostRetransmit: 106\n    68040 fast retransmits\n"
        "root@iperf-test2:~# netstat -s |grep -i loss\n    2710 TCP data loss events\n"
    )
    return {"esx0.txt": esx, "receiver.txt": guest, "sender.txt": sender}


def ring_after() -> Files:
    """The same lab after `ethtool -G eth0 rx 4096` and a reboot: only ring #2 still fills."""
    host = "[root@esx0:~] "
    port = "/net/portsets/vSwitch0/ports/33554467"
    ports = [*RING_PORTS[:2], (33554467, *RING_PORTS[2][1:]), (33554468, *RING_PORTS[3][1:])]
    esx = (
        f"{host}vmware -vl\n{ESX0}{host}net-stats -l\n{net_stats(ports)}"
        f"{host}vsish -e get {port}/vmxnet3/rxSummary\n{rx_summary(lro=37113984, pkts=37235828, full1=0, full2=1656)}"
        f"{host}vsish -e get {port}/vmxnet3/rxqueues/0/status\n{rx_queue(4096, 256)}"
        f"{host}vsish -e get {port}/vmxnet3/rxqueues/1/status\n{rx_queue(4096, 256)}"
    )
    guest = guest_ring("iperf-test1", shown=8192) + guest_stats("iperf-test1", (505, 1151), (0, 0))
    guest += guest_free("iperf-test1", used=93052, buffers=9444)
    sender = "root@iperf-test2:~# netstat -s |grep -i retransmit\n    48 segments retransmited\n    47 fast retransmits\n"
    return {"esx0.txt": esx, "receiver.txt": guest, "sender.txt": sender}


def windows_guest() -> Files:
    """A Windows VM with four vCPUs and one receive queue of driver defaults that runs full."""
    ports = [
        (33554434, 4, 0, "vSwitch0", "00:25:90:aa:20:01", "vmnic0"),
        (33554470, 5, 9, "vSwitch0", "00:50:56:a6:70:01", "win-file01.eth0"),
    ]
    top, files = vm_support(
        "esx21.lab.example",
        "6.5.0",
        5969303,
        {
            "commands/net-stats_-l.txt": net_stats(ports),
            "commands/esxcfg-vswitch_-l.txt": vswitch_list("vSwitch0", ["vmnic0", "vmnic1"]),
            "vmfs/volumes/59e1f0aa-1b2c3d4e-0001-002590aa2001/win-file01/win-file01.vmx": vmx_file(
                "win-file01",
                "windows8srv-64",
                vcpus=4,
                nics=[("vmxnet3", "VM Network", "00:50:56:a6:70:01")],
            ),
        },
    )
    port = "/net/portsets/vSwitch0/ports/33554470"
    pasted = (
        f"[root@esx21:~] vsish -e get {port}/clientStats\n"
        f"{client_stats(pktsTxOK=8120455, bytesTxOK=901330020, pktsRxOK=20155000, bytesRxOK=21900450000, droppedRx=30440)}"
        f"[root@esx21:~] vsish -e get {port}/vmxnet3/rxSummary\n{rx_summary(lro=0, pkts=20124560, full1=30440, full2=0)}"
        f"[root@esx21:~] vsish -e ls {port}/vmxnet3/rxqueues/\n0/\n"
        f"[root@esx21:~] vsish -e get {port}/vmxnet3/rxqueues/0/status\n{rx_queue(512, 32)}"
    )
    return {f"{top}.tgz": tgz(files), "vsish.txt": pasted}


def cpu_limited() -> Files:
    """A 1-vCPU VM held back by an 800 MHz limit; its ring fills because it is not scheduled."""
    ports = [
        (33554434, 4, 0, "vSwitch0", "00:25:90:aa:30:01", "vmnic0"),
        (33554480, 5, 9, "vSwitch0", "00:50:56:a6:80:01", "lin-app07.eth0"),
        (33554481, 5, 9, "vSwitch0", "00:50:56:a6:80:02", "lin-db,02 (prod).eth0"),
    ]
    volume = "vmfs/volumes/59e1f0aa-1b2c3d4e-0002-002590aa3001"
    top, files = vm_support(
        "esx31.lab.example",
        "6.5.0",
        5969303,
        {
            "commands/net-stats_-l.txt": net_stats(ports),
            "commands/esxcfg-vswitch_-l.txt": vswitch_list("vSwitch0", ["vmnic0"]),
            f"{volume}/lin-app07/lin-app07.vmx": vmx_file(
                "lin-app07",
                "debian8-64",
                vcpus=1,
                nics=[("vmxnet3", "VM Network", "00:50:56:a6:80:01")],
                cpu_limit=800,
            ),
            f"{volume}/lin-db02/lin-db02.vmx": vmx_file(
                "lin-db,02 (prod)",
                "rhel7-64",
                vcpus=4,
                nics=[("vmxnet3", "VM Network", "00:50:56:a6:80:02")],
            ),
        },
    )
    port = "/net/portsets/vSwitch0/ports/33554480"
    pasted = (
        f"[root@esx31:~] vsish -e get {port}/clientStats\n"
        f"{client_stats(pktsTxOK=912004, bytesTxOK=80144000, pktsRxOK=4150220, bytesRxOK=5950220000, droppedRx=22410)}"
        f"[root@esx31:~] vsish -e get {port}/vmxnet3/rxSummary\n{rx_summary(lro=0, pkts=4127810, full1=22410, full2=0)}"
        f"[root@esx31:~] vsish -e get {port}/vmxnet3/rxqueues/0/status\n{rx_queue(1024, 256)}"
    )
    return {
        f"{top}.tgz": tgz(files),
        "vsish.txt": pasted,
        "esxtop.csv": esxtop_csv("esx31.lab.example"),
    }


def nsx_site() -> Files:
    """An NSX 6.3.3 site: Manager, three controllers, two hosts; the API fault has struck."""
    files = make_control_plane(UNKNOWN, log=format_failing_log())
    for host, entries in (("esx41.lab.example", 5120), ("esx42.lab.example", 4710)):
        top, members = vm_support(
            host,
            "6.5.0",
            5969303,
            {
                "commands/dump-vdr-info.sh.txt": dlr_arp("default+edge-1", entries),
                "commands/localcli_software-vib-list.txt": vib_list(nsx="6.5.0-0.0.6244264"),
            },
        )
        files[f"{top}.tgz"] = tgz(members)
    return files


def healthy_host() -> Files:
    """A host with nothing to report: every rule that can look must stay quiet."""
    ports = [
        (33554434, 4, 0, "vSwitch0", "00:25:90:aa:50:01", "vmnic0"),
        (33554436, 3, 0, "vSwitch0", "00:25:90:aa:50:02", "vmk0"),
        (33554490, 5, 9, "vSwitch0", "00:50:56:a6:90:01", "lin-web01.eth0"),
    ]
    top, files = vm_support(
        "esx51.lab.example",
        "6.5.0",
        5969303,
        {
            "commands/net-stats_-l.txt": net_stats(ports),
            "commands/esxcfg-vswitch_-l.txt": vswitch_list("vSwitch0", ["vmnic0", "vmnic1"]),
            "commands/nicinfo.sh.txt": nic_info({}),
            "commands/localcli_software-vib-list.txt": vib_list(),
            "commands/localcli_system-settings-advanced-list--d.txt": adv_delta({}),
            "vmfs/volumes/59e1f0aa-1b2c3d4e-0005-002590aa5001/lin-web01/lin-web01.vmx": vmx_file(
                "lin-web01",
                "centos7-64",
                vcpus=2,
                nics=[("vmxnet3", "VM Network", "00:50:56:a6:90:01")],
            ),
        },
    )
    port = "/net/portsets/vSwitch0/ports/33554490"
    pasted = (
        f"[root@esx51:~] vsish -e get {port}/clientStats\n"
        f"{client_stats(pktsTxOK=190220, bytesTxOK=22810040, pktsRxOK=240118, bytesRxOK=200118400)}"
        f"[root@esx51:~] vsish -e get {port}/vmxnet3/rxSummary\n{rx_summary(lro=0, pkts=240118, full1=0, full2=0)}"
        f"[root@esx51:~] vsish -e get {port}/vmxnet3/rxqueues/0/status\n{rx_queue(1024, 256)}"
        f"[root@esx51:~] esxcli network vswitch standard policy failover get -v vSwitch0\n{vswitch_failover('link', 'srcport', ['vmnic0', 'vmnic1'])}"
    )
    return {
        f"{top}.tgz": tgz(files),
        "esx51.txt": pasted,
        "esxtop.csv": esxtop_csv("esx51.lab.example", calm=True),
    }


def config_traps() -> Files:
    """One host with settings and hardware that bite: E1000, beacon probing, CRC errors, tuned coalescing."""
    ports = [
        (33554434, 4, 0, "vSwitch0", "00:25:90:aa:60:01", "vmnic0"),
        (33554495, 5, 7, "vSwitch0", "00:50:56:a6:95:01", "old-print01.eth0"),
    ]
    top, files = vm_support(
        "esx61.lab.example",
        "6.0.0",
        5224934,
        {
            "commands/net-stats_-l.txt": net_stats(ports),
            "commands/esxcfg-vswitch_-l.txt": vswitch_list("vSwitch0", ["vmnic0", "vmnic1"]),
            "commands/nicinfo.sh.txt": nic_info(
                {
                    "Receive CRC errors": 4410,
                    "Receive missed errors": 91,
                    "Total receive errors": 4501,
                }
            ),
            "commands/localcli_system-settings-advanced-list--d.txt": adv_delta(
                {
                    "/Net/CoalesceTxTimeout": (4000, 1000),
                    "/UserVars/SuppressShellWarning": (1, 0),
                    "/Net/UseHwTSO": (0, 1),
                }
            ),
            "vmfs/volumes/59e1f0aa-1b2c3d4e-0006-002590aa6001/old-print01/old-print01.vmx": vmx_file(
                "old-print01",
                "winnetenterprise",
                vcpus=1,
                nics=[
                    ("e1000", "VM Network", "00:50:56:a6:95:01"),
                    ("vmxnet3", "Backup", "00:50:56:a6:95:02"),
                ],
                coalescing="disabled",
            ),
        },
    )
    pasted = (
        "[root@esx61:~] esxcli network vswitch standard policy failover get -v vSwitch0\n"
        f"{vswitch_failover('beacon', 'iphash', ['vmnic0', 'vmnic1'])}"
    )
    return {f"{top}.tgz": tgz(files), "esx61.txt": pasted}


# The lines of the storage case follow: KB 2007236 and the event id `esx.problem.scsi.device.io.latency.high`
# (latency), KB 2113956 (ATS miscompare), the heartbeat events `esx.problem.vmfs.heartbeat.*`, posts on the i40en driver
# (malicious driver detection), posts on `Checkpoint_Unstun` (snapshot stuns). Device, volume, MAC and VM are made up.
LUN = "naa.600508b1001c0000000000000000a107"
VOLUME = "59e1f0aa-1b2c3d4e-0007-002590aa7001"


def vobd_log() -> str:
    """Return vobd.log: latency that rises five times within eight minutes, and two heartbeats lost and found."""
    lines = [
        "2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic4 linkstate up"
    ]
    steps = [
        (0, 1343, 28022),
        (95, 5127, 151909),
        (210, 8714, 1204519),
        (301, 16880, 2377218),
        (466, 31907, 3512036),
    ]
    for second, before, after in steps:
        stamp = f"2017-10-14T15:{10 + second // 60:02d}:{second % 60:02d}"
        up = 3536400000000 + second * 1000000
        event = (
            f"Device {LUN} performance has deteriorated. I/O latency increased from average value of {before} "
            f"microseconds to {after} microseconds."
        )
        lines.append(
            f"{stamp}.212Z: [scsiCorrelator] {up}us: [vob.scsi.device.io.latency.high] {event}"
        )
        lines.append(
            f"{stamp}.213Z: [scsiCorrelator] {up + 801}us: [esx.problem.scsi.device.io.latency.high] {event}"
        )
    for minute, event in ((17, "timedout"), (17, "recovered"), (18, "timedout"), (18, "recovered")):
        second = 2 if event == "timedout" else 31
        up = 3536820000000 + minute * 60000000
        lines.append(
            f"2017-10-14T15:{minute}:{second:02d}.640Z: [vmfsCorrelator] {up}us: "
            f"[esx.problem.vmfs.heartbeat.{event}] {VOLUME} lun-prod-07"
        )
    return "\n".join(lines) + "\n"


def storage_vmkernel_log() -> str:
    """Return vmkernel lines: miscompares of the heartbeat, and a driver that resets its own function."""
    lines = [
        f"2017-10-14T14:{n % 60:02d}:07.312Z cpu{n % 16}:{33000 + n})NetPort: 1879: disabled port 0x{0x2000010 + n % 5:x}"
        for n in range(60)
    ]
    for n in range(4):
        lines.append(
            f"2017-10-14T15:{16 + n}:44.0{n}9Z cpu13:33467)HBX: 2832: ATS Miscompare detected between test and set HB "
            f"images at offset {3604480 + 4096 * n} on vol {VOLUME}"
        )
    for n in range(3):
        lines.append(
            f"2017-10-14T15:3{n}:02.123Z cpu7:65789)i40en: i40en_HandleMddEvent:6829: Malicious Driver Detection event 0x02 "
            f"on TX queue {n} PF number 0x01 VF number 0x00"
        )
        lines.append(
            f"2017-10-14T15:3{n}:02.124Z cpu7:65789)i40en: i40en_HandleMddEvent:6843: TX driver issue detected, PF reset issued"
        )
    return "\n".join(lines) + "\n"


def vmware_log() -> str:
    """Return the log of a VM that three snapshots stopped: 0.4 s, 2.1 s and 41 s."""
    lines = [
        "2017-10-14T15:00:00.000Z| vmx| I125: Log for VMware ESX pid=70512 version=6.5.0 build=build-5969303 option=Release"
    ]
    for minute, stopped in ((2, 412004), (9, 2133027), (19, 41233332)):
        lines.append(
            f"2017-10-14T15:{minute:02d}:11.412Z| vcpu-0| I125: Checkpoint_Unstun: vm stopped for {stopped} us"
        )
    return "\n".join(lines) + "\n"


def slow_storage() -> Files:
    """A host whose storage answers late: latency events, lost heartbeats, miscompares, long stuns; a NIC driver that resets."""
    top, files = vm_support(
        "esx71.lab.example",
        "6.5.0",
        5969303,
        {
            "commands/localcli_software-vib-list.txt": vib_list(
                i40en="1.3.1-5vmw.650.1.26.5969303"
            ),
            "var/run/log/vobd.log": vobd_log(),
            "var/run/log/vmkernel.log": storage_vmkernel_log(),
            "vmfs/volumes/59e1f0aa-1b2c3d4e-0007-002590aa7001/lin-erp02/lin-erp02.vmx": vmx_file(
                "lin-erp02",
                "rhel7-64",
                vcpus=4,
                nics=[("vmxnet3", "VM Network", "00:50:56:a6:a0:01")],
            ),
            "vmfs/volumes/59e1f0aa-1b2c3d4e-0007-002590aa7001/lin-erp02/vmware.log": vmware_log(),
        },
    )
    return {f"{top}.tgz": tgz(files)}


def cut_bundle() -> Files:
    """The configuration-traps bundle as a broken upload: the archive ends in its middle."""
    source = config_traps()
    name = next(name for name in source if name.endswith(".tgz"))
    whole = source[name]
    assert isinstance(whole, bytes)
    return {name: whole[: int(len(whole) * 0.62)]}


CASES: dict[str, tuple[Callable[[], Files], str]] = {
    "lab-ring-before": (
        ring_before,
        "the published lab before the fix: figures of the post, transcript written for this sample",
    ),
    "lab-ring-after": (ring_after, "the same lab after the fix: only ring #2 still runs full"),
    "windows-guest": (windows_guest, "a Windows guest with four vCPUs and a single receive queue"),
    "cpu-limited-vm": (cpu_limited, "a CPU limit explains a full ring; esxtop CSV of 36 samples"),
    "nsx-633-site": (nsx_site, "NSX 6.3.3: Manager, three controllers, two hosts"),
    "healthy-host": (healthy_host, "a healthy host; no finding may come out of it"),
    "config-traps": (config_traps, "settings and a physical NIC that bite later"),
    "slow-storage": (
        slow_storage,
        "storage that answers late and a NIC driver that resets, seen in logs only",
    ),
    "cut-bundle": (cut_bundle, "an upload that broke off: cannot-tell instead of clean"),
}


def write_cases(target: Path) -> None:
    """Write all cases below `target`, replacing what is there."""
    for name, (build, line) in CASES.items():
        folder = target / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        about = " ".join((build.__doc__ or "").split())
        readme = f"# {name}\n\nSynthetic: {line}.\n\n{about}\n\nWritten by `tools/make_case.py`; formats follow the commands named there.\n"
        (folder / "README.md").write_text(readme, encoding="utf-8")
        for file, body in build().items():
            (folder / file).write_bytes(body.encode() if isinstance(body, str) else body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "target",
        nargs="?",
        type=Path,
        default=ROOT / "samples" / "cases",
        help="folder to write to",
    )
    write_cases(parser.parse_args().target)
