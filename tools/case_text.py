"""Texts in the documented formats of ESXi, guests and NSX, for synthetic cases."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

_CLIENT = [
    "pktsTxOK",
    "bytesTxOK",
    "droppedTx",
    "pktsTsoTxOK",
    "bytesTsoTxOK",
    "droppedTsoTx",
    "pktsSwTsoTx",
    "droppedSwTsoTx",
    "pktsZerocopyTxOK",
    "droppedTxExceedMTU",
    "pktsRxOK",
    "bytesRxOK",
    "droppedRx",
    "pktsSwTsoRx",
    "droppedSwTsoRx",
    "actions",
    "uplinkRxPkts",
    "clonedRxPkts",
    "pksBilled",
    "droppedRxDueToPageAbsent",
    "droppedTxDueToPageAbsent",
]
_PNIC = [
    "Packets received",
    "Packets sent",
    "Bytes received",
    "Bytes sent",
    "Receive packets dropped",
    "Transmit packets dropped",
    "Multicast packets received",
    "Broadcast packets received",
    "Multicast packets sent",
    "Broadcast packets sent",
    "Total receive errors",
    "Receive length errors",
    "Receive over errors",
    "Receive CRC errors",
    "Receive frame errors",
    "Receive FIFO errors",
    "Receive missed errors",
    "Total transmit errors",
    "Transmit aborted errors",
    "Transmit carrier errors",
    "Transmit FIFO errors",
    "Transmit heartbeat errors",
    "Transmit window errors",
]


CPU_COUNTERS = (
    "% Used",
    "% Run",
    "% System",
    "% Wait",
    "% VmWait",
    "% Ready",
    "% Idle",
    "% Overlap",
    "% CoStop",
    "% Max Limited",
    "% Swap Wait",
)
ARP_LEGEND = (
    "Legend: [S: Static], [V: Valid], [P: Proxy], [I: Interface]\n"
    "Legend: [N: Nascent], [L: Local], [D: Deleted]\n\n"
    "Network           Mac                  Flags      Expiry     SrcPort    Interface Refcnt\n"
    "-------           ---                  -----      -------    ---------  --------- ------\n"
)


def bundle_readme(top: str, captured: str, note: str) -> str:
    """README of a vm-support bundle; `note` says that it is synthetic."""
    return (
        f"Command line: /sbin/vm-support\nBundle name: {top}\nCaptured on: {captured}.000000\n"
        f"vm-support version: v3.3\nOptions: {{}}\n\n{note}"
    )


def net_stats(ports: Iterable[tuple[int, int, int, str, str, str]]) -> str:
    """`net-stats -l`: fixed columns."""
    text = f"{'PortNum':<16s} Type SubType {'SwitchName':<16s} {'MACAddress':<18s} ClientName\n"
    for port, kind, subkind, switch, mac, client in ports:
        text += f"{port:<16d} {kind:4d} {subkind:7d} {switch:<16s} {mac:<18s} {client}\n"
    return text


def client_stats(**values: int) -> str:
    """vsish `clientStats` of a 6.0 host: 21 counters."""
    return (
        "port client stats {\n" + "".join(f"   {k}:{values.get(k, 0)}\n" for k in _CLIENT) + "}\n"
    )


def rx_summary(lro: int, pkts: int, full1: int, full2: int) -> str:
    """vsish `vmxnet3/rxSummary`: 20 counters; out of buffers is the sum of both rings."""
    size = 1460
    pairs = [
        ("LRO pkts rx ok", lro),
        ("LRO bytes rx ok", lro * size * 20),
        ("pkts rx ok", pkts),
        ("bytes rx ok", pkts * size),
        ("unicast pkts rx ok", pkts - 195),
        ("unicast bytes rx ok", (pkts - 195) * size),
        ("multicast pkts rx ok", 0),
        ("multicast bytes rx ok", 0),
        ("broadcast pkts rx ok", 195),
        ("broadcast bytes rx ok", 26464),
        ("running out of buffers", full1 + full2),
        ("pkts receive error", 0),
        ("# of times the 1st ring is full", full1),
        ("# of times the 2nd ring is full", full2),
        ("fail to map a rx buffer", 0),
        ("request to page in a buffer", 0),
        ("# of times rx queue is stopped", 0),
        ("failed when copying into the guest buffer", 0),
        ("# of pkts dropped due to large hdrs", 0),
        ("# of pkts dropped due to max number of SG limits", 0),
    ]
    return (
        "stats of a vmxnet3 vNIC rx queue {\n" + "".join(f"   {k}:{v}\n" for k, v in pairs) + "}\n"
    )


def rx_queue(ring1: int, ring2: int) -> str:
    """vsish `vmxnet3/rxqueues/N/status`."""
    return (
        "status of a vmxnet3 vNIC rx queue {\n   intr index:0\n   stopped:0\n   error code:0\n"
        f"   ring #1 size:{ring1}\n   ring #2 size:{ring2}\n}}\n"
    )


def guest_ring(host: str, shown: int) -> str:
    """`ethtool -i` and `-g` of a Linux guest with driver 1.1.29, which prints the sum over its queues."""
    return (
        f"root@{host}:~# ethtool -i eth0\ndriver: vmxnet3\nversion: 1.1.29.0-k-NAPI\nfirmware-version: N/A\n"
        "bus-info: 0000:03:00.0\nsupports-statistics: yes\n"
        f"root@{host}:~# ethtool -g eth0\nRing parameters for eth0:\nPre-set maximums:\nRX:             4096\n"
        "RX Mini:        0\nRX Jumbo:       0\nTX:             4096\nCurrent hardware settings:\n"
        f"RX:             {shown}\nRX Mini:        0\nRX Jumbo:       0\nTX:             1024\n"
    )


def guest_stats(host: str, oob: tuple[int, ...], dropped: tuple[int, ...]) -> str:
    """`ethtool -S` of vmxnet3, two receive queues."""
    text = f"root@{host}:~# ethtool -S eth0\nNIC statistics:\n"
    for queue in range(len(oob)):
        text += f"     Tx Queue#: {queue}\n       TSO pkts tx: 0\n       ucast pkts tx: 13146403\n       drv dropped tx total: 0\n"
    for queue, (out, lost) in enumerate(zip(oob, dropped, strict=True)):
        text += (
            f"     Rx Queue#: {queue}\n       LRO pkts rx: 25157288\n       ucast pkts rx: 25357213\n"
            f"       pkts rx OOB: {out}\n       pkts rx err: 0\n       drv dropped rx total: {lost}\n"
            f"          err: {lost}\n          fcs: 0\n       rx buf alloc fail: 0\n"
        )
    return text + "     tx timeout count: 0\n"


def guest_free(host: str, used: int, buffers: int, cached: int = 35352) -> str:
    """`free` of procps before 3.3.10 in a guest with 1 GB, in kB."""
    total, swap = 1034088, 265212
    net = used - buffers - cached
    return (
        f"root@{host}:~# free\n             total       used       free     shared    buffers     cached\n"
        f"Mem:       {total} {used:>10} {total - used:>10}          0 {buffers:>10} {cached:>10}\n"
        f"-/+ buffers/cache: {net:>10} {total - net:>10}\nSwap:       {swap}          0     {swap}\n"
    )


def vswitch_list(name: str, uplinks: list[str]) -> str:
    """`esxcfg-vswitch -l` with one standard switch."""
    links = ",".join(uplinks)
    return (
        "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
        f"{name:<16s} 5632        6           128               1500    {links}\n\n"
        "  PortGroup Name        VLAN ID  Used Ports  Uplinks\n"
        f"  VM Network            0        1           {links}\n"
        f"  Management Network    0        1           {links}\n\n"
    )


def vswitch_failover(detection: str, balancing: str, uplinks: list[str]) -> str:
    """`esxcli network vswitch standard policy failover get`."""
    return (
        f"   Load Balancing: {balancing}\n   Network Failure Detection: {detection}\n   Notify Switches: true\n"
        f"   Failback: true\n   Active Adapters: {', '.join(uplinks)}\n   Standby Adapters: \n   Unused Adapters: \n"
    )


def nic_info(counters: dict[str, int]) -> str:
    """`nicinfo.sh`: list, then per NIC the get block and statistics (5.5+ table)."""
    text = (
        "Network Interface Cards Information.\n\n"
        "Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description\n"
        "------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------\n"
    )
    for index in (0, 1):
        text += (
            f"vmnic{index}  0000:04:00.{index}  ixgben  Up            Up           10000  Full    00:25:90:aa:00:0{index}  1500  "
            "Intel(R) 82599 10 Gigabit Dual Port Network Connection\n"
        )
    for index in (0, 1):
        values = {
            "Packets received": 81220045,
            "Packets sent": 60110444,
            "Bytes received": 90112004410,
            "Bytes sent": 60110444000,
        }
        if index == 0:
            values.update(counters)
        text += f"\nNIC:  vmnic{index}\n\n   Advertised Auto Negotiation: true\n   Driver Info:\n"
        text += f"         Bus Info: 0000:04:00.{index}\n         Driver: ixgben\n         Firmware Version: 0x800003df\n         Version: 1.4.1\n"
        text += f"   Link Detected: true\n   Link Status: Up\n\nNIC statistics for vmnic{index}\n"
        text += "".join(f"   {name}: {values.get(name, 0)}\n" for name in _PNIC)
        text += "\nNIC Private statistics:\n   rxq0: totalPkts=81220045 nonEopDescs=0 allocRxBufFail=0\n"
    return text


def vib_list(nsx: str = "", i40en: str = "") -> str:
    """`localcli software vib list` of a 6.5 host."""
    rows = [
        ("esx-base", "6.5.0-1.29.6765664", "VMware", "2017-10-02"),
        ("ixgben", "1.4.1-2vmw.650.1.26.5969303", "VMW", "2017-10-02"),
    ]
    if i40en:
        rows.append(("i40en", i40en, "VMW", "2017-10-02"))
    if nsx:
        rows.append(("esx-nsxv", nsx, "VMware", "2017-10-03"))
    return vib_table(rows, 32)


def vib_table(rows: Iterable[tuple[str, str, str, str]], width: int) -> str:
    """`localcli software vib list` of rows of name, version, vendor and date; `width` is that of the versions."""
    widths = (20, width, 6, 16, 12)
    titles = ("Name", "Version", "Vendor", "Acceptance Level", "Install Date")
    lines = [titles, ["-" * one for one in widths]]
    lines += [
        (name, version, vendor, "VMwareCertified", day) for name, version, vendor, day in rows
    ]
    text = ""
    for cells in lines:
        padded = [cell.ljust(one) for cell, one in zip(cells, widths, strict=True)]
        text += "  ".join(padded).rstrip() + "\n"
    return text


def adv_delta(changed: dict[str, tuple[int, int]]) -> str:
    """`localcli system settings advanced list -d`: options that differ from their default."""
    return "".join(
        f"   Path: {path}\n   Type: integer\n   Int Value: {value}\n   Default Int Value: {default}\n"
        "   Min Value: 0\n   Max Value: 10000\n   String Value: \n   Default String Value: \n   Valid Characters: \n"
        "   Description: \n\n"
        for path, (value, default) in {"/Misc/PreferredHostName": (1, 0), **changed}.items()
    )


def vmx_file(
    name: str,
    guest: str,
    vcpus: int,
    nics: list[tuple[str, str, str]],
    cpu_limit: int = 0,
    coalescing: str = "",
) -> str:
    """A VM's configuration file."""
    lines = [
        '.encoding = "UTF-8"',
        'config.version = "8"',
        'virtualHW.version = "13"',
        f'displayName = "{name}"',
        f'guestOS = "{guest}"',
        f'numvcpus = "{vcpus}"',
        'memSize = "4096"',
    ]
    if cpu_limit:
        lines.append(f'sched.cpu.max = "{cpu_limit}"')
    for index, (adapter, network, mac) in enumerate(nics):
        lines += [
            f'ethernet{index}.present = "TRUE"',
            f'ethernet{index}.virtualDev = "{adapter}"',
            f'ethernet{index}.networkName = "{network}"',
            f'ethernet{index}.generatedAddress = "{mac}"',
        ]
        if coalescing and adapter == "vmxnet3":
            lines.append(f'ethernet{index}.coalescingScheme = "{coalescing}"')
    return "\n".join(lines) + "\n"


def esxtop_csv(host: str, calm: bool = False, samples: int = 36) -> str:
    """An esxtop batch file (default columns of a few groups), 5 s apart, trailing comma as esxtop writes it."""
    dice = random.Random(7)
    if not calm:
        vms = [(5572767, "lin-app07", 1), (5572782, "lin-db,02 (prod)", 4)]
    else:
        vms = [(5572790, "lin-web01", 2)]
    ports = {"lin-app07": 33554480, "lin-db,02 (prod)": 33554481, "lin-web01": 33554490}
    net = (
        "Packets Transmitted/sec",
        "MBits Transmitted/sec",
        "Packets Received/sec",
        "MBits Received/sec",
        "% Outbound Packets Dropped",
        "% Received Packets Dropped",
    )
    head = ["(PDH-CSV 4.0) (UTC)(0)"]
    columns: list[tuple[str, str, int]] = []
    for gid, name, vcpus in vms:
        worlds = [(f"Group Cpu({gid}:{name})", vcpus)] + [
            (f"Vcpu({gid}:{name}:{gid + 10 + n}:vmx-vcpu-{n}:{name})", 1) for n in range(vcpus)
        ]
        for instance, share in worlds:
            for counter in CPU_COUNTERS:
                head.append(f"\\\\{host}\\{instance}\\{counter}")
                columns.append((name, counter, share))
        for counter in net:
            head.append(
                f"\\\\{host}\\Network Port(vSwitch0:{ports[name]}:{gid + 10}:{name})\\{counter}"
            )
            columns.append((name, counter, 1))
    for counter in ("% Processor Time", "% Util Time"):
        head.append(f"\\\\{host}\\Physical Cpu(_Total)\\{counter}")
        columns.append(("", counter, 1))
    rows = []
    for sample in range(samples):
        second = sample * 5
        cells = [f"10/14/2017 16:{30 + second // 60:02d}:{second % 60:02d}"]
        cells += [
            f"{_draw_sample(dice, name, counter, share):.2f}" for name, counter, share in columns
        ]
        rows.append(cells)
    return esxtop_file(head, rows)


def esxtop_file(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An esxtop batch file of cells, each line with esxtop's trailing comma."""
    return "".join('"' + '","'.join(cells) + '",\n' for cells in (head, *rows))


def _draw_sample(dice: random.Random, name: str, counter: str, share: int) -> float:
    limited = name == "lin-app07"
    base = {
        "% Used": 22.0,
        "% Run": 21.0,
        "% System": 2.0,
        "% Wait": 470.0,
        "% VmWait": 0.1,
        "% Ready": 0.4,
        "% Idle": 70.0,
    }
    if limited and counter in ("% Ready", "% Max Limited"):
        if share:
            return 68.0 + dice.random() * 2 - (0.1 if counter == "% Max Limited" else 0.0)
        return 0.0
    if limited and counter == "% Received Packets Dropped":
        return 1.2 + dice.random()
    if counter in ("Packets Transmitted/sec", "Packets Received/sec"):
        return 900 + dice.random() * 60
    if counter in ("MBits Transmitted/sec", "MBits Received/sec"):
        return 8 + dice.random()
    if counter in ("% Processor Time", "% Util Time"):
        return 31 + dice.random()
    return base.get(counter, 0.0) * share * (0.95 + dice.random() / 10)


def dlr_arp(vdr: str, entries: int) -> str:
    """The ARP part of `dump-vdr-info.sh`: one row an entry, no total."""
    dice = random.Random(entries)
    text = (
        f"VDR {vdr}:1460487509 ARP Information :\n{ARP_LEGEND}"
        "10.0.0.1          02:50:56:56:44:52    VI         permanent  0          570d45550000000c 1\n"
    )
    for n in range(1, entries):
        address = f"10.{n // 62500}.{n // 250 % 250}.{n % 250 + 2}"
        mac = f"00:50:56:{dice.randrange(256):02x}:{dice.randrange(256):02x}:{dice.randrange(256):02x}"
        text += f"{address:<18s}{mac}    V          {dice.randrange(20, 600):<10d} 50331658   570d45550000000c 2\n"
    return text
