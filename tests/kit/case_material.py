"""What came in with the made-up case of case_factory.py: nodes, sources, time line, ports, charts."""

from __future__ import annotations

import math
from typing import Any

from analyzer.case.document import KnownLabel, KnownSign

BUNDLE = "case-1834.zip!esx-esx07.lab-2017-10-09--14.02.tgz!esx-esx07.lab-2017-10-09--14.02"
TRANSCRIPT = "case-1834/console-esx07.txt"
GUEST = "case-1834/iperf-test1.txt"
ESXTOP = "case-1834/esxtop-esx07.csv.gz"
PORT = "/net/portsets/vSwitch0/ports/33554464"


def series(samples: int = 720) -> dict[str, Any]:
    """Return three charts at 5 s, one of them with a gap."""
    times = [
        f"2017-10-09T{13 + s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}Z"
        for s in range(0, samples * 5, 5)
    ]
    ready = [
        2.0 if n < 120 else round(66 + 4 * math.sin(n / 9) + n % 5 * 0.2, 2) for n in range(samples)
    ]
    limited = [0.0 if n < 120 else round(value - 0.1, 2) for n, value in enumerate(ready)]
    drops = [
        None if 300 <= n < 330 else 0.0 if n % 2 or n < 120 else round(0.4 + n % 11 / 9, 2)
        for n in range(samples)
    ]
    return {
        "cpu-limit-starves-vm/iperf-test1/rdy_pct": {
            "title": "iperf-test1: %RDY",
            "unit": "%",
            "node": "esx07.lab",
            "times": times,
            "lines": [{"label": "%RDY", "values": ready}],
        },
        "cpu-limit-starves-vm/iperf-test1/mlmtd_pct": {
            "title": "iperf-test1: %MLMTD",
            "unit": "%",
            "node": "esx07.lab",
            "times": times,
            "%MLMTD": limited,
        },
        "kb-2039495/iperf-test1/drop_rx_pct": {
            "title": "iperf-test1: %DRPRX and %DRPTX",
            "unit": "%",
            "node": "esx07.lab",
            "times": times,
            "lines": [
                {"label": "%DRPRX", "values": drops},
                {"label": "%DRPTX", "values": [0.0] * samples},
            ],
        },
    }


def nodes() -> list[dict[str, Any]]:
    """Return a host, a manager and a guest."""
    logs = [
        {
            "table": "esxi.vmkernel",
            "first": "2017-10-03T09:11:20Z",
            "last": "2017-10-09T14:02:11Z",
            "lines": 184202,
            "members": 9,
        },
        {
            "table": "esxi.vobd",
            "first": "2017-08-29T11:00:01Z",
            "last": "2017-10-09T13:59:01Z",
            "lines": 4120,
            "members": 2,
        },
    ]
    return [
        {
            "id": "n1",
            "kind": "esxi",
            "name": "esx07.lab",
            "product": "VMware ESXi",
            "version": "6.5.0",
            "build": 5969303,
            "release": "6.5 Update 1",
            "uptime_s": 41 * 86400 + 3600,
            "captured": "2017-10-09T14:02:15Z",
            "sources": [BUNDLE, TRANSCRIPT, ESXTOP],
            "logs": logs,
            "warnings": [
                "hostd.log names build 5310538 before 2017-08-29: the host was upgraded in between."
            ],
        },
        {
            "id": "n2",
            "kind": "nsx_manager",
            "name": "nsxmgr01.lab",
            "product": "NSX for vSphere Manager",
            "version": "6.3.3",
            "build": "6276725",
            "uptime_s": 212 * 86400,
            "captured": "2017-10-09T14:20:00Z",
            "sources": ["nsx-manager.tgz"],
        },
        {"id": "n3", "kind": "guest", "name": "iperf-test1", "sources": [GUEST]},
    ]


def sources(count: int = 214) -> list[dict[str, Any]]:
    """Return members in every state."""
    rows: list[dict[str, Any]] = [
        {
            "address": TRANSCRIPT,
            "size": 8211,
            "state": "read",
            "lines": 212,
            "faults": 1,
            "node": "esx07.lab",
            "read_by": ["net_stats", "client_stats", "vmxnet3_rx_summary"],
        },
        {
            "address": GUEST,
            "size": 2040,
            "state": "read",
            "read_by": "ethtool_stats",
            "lines": 90,
            "node": "iperf-test1",
        },
        {
            "address": ESXTOP,
            "size": 1830211,
            "state": "read",
            "read_by": "esxtop_csv",
            "lines": 721,
            "node": "esx07.lab",
        },
        {
            "address": f"{BUNDLE}/var/run/log/vmkernel.log",
            "size": 9000211,
            "state": "searched",
            "read_by": "esxi.vmkernel",
            "lines": 51003,
            "node": "esx07.lab",
        },
        {
            "address": f"{BUNDLE}/var/run/log/hostd.3.gz",
            "size": 811002,
            "state": "cut",
            "lines": 9120,
            "why": "the gzip stream ends in the middle, at byte 788,480",
            "read_by": "esxi.hostd",
            "node": "esx07.lab",
        },
        {
            "address": f"{BUNDLE}/commands/vsi_traverse_-s.txt",
            "size": 301989888,
            "state": "skipped",
            "node": "esx07.lab",
            "why": "binary VSI cache; only a host can read it",
        },
        {
            "address": f"{BUNDLE}/etc/../../../etc/cron.d/x",
            "size": None,
            "state": "refused",
            "why": "its name leads out of the bundle",
        },
    ]
    rows += [
        {
            "address": f"{BUNDLE}/commands/command_{n:03}_--long-option-value-number-{n}.txt",
            "size": 1200 + n,
            "state": "listed",
            "node": "esx07.lab",
        }
        for n in range(count - len(rows))
    ]
    return rows


def signals() -> list[dict[str, Any]]:
    """Return signs of trouble that no rule explains: a kind of line, known from stored cases, and a cell."""
    log = f"{BUNDLE}/var/run/log/vmkernel.log"
    return [
        {
            "node": "n1",
            "kind": "line",
            "what": "made-up firmware of # does not answer",
            "object": "vmnic3",
            "count": 14,
            "first": "2017-10-09T13:04:07Z",
            "last": "2017-10-09T13:51:40Z",
            "address": log,
            "line": 3990,
            "text": "made-up firmware of vmnic3 does not answer",
            "last_address": log,
            "last_line": 4071,
            "module": "made-up-driver",
            "weight": 6.5,
            "why": ["the driver speaks", "does not answer"],
            "age": "new",
            "about": "a made-up driver of NICs",
            "precedes": ["pnic-loses-packets"],
            "known": KnownSign(
                cases=3, of=40, labels=[KnownLabel(rule="nic-firmware-bad", cases=2)]
            ),
        },
        {
            "node": "n2",
            "kind": "cell",
            "what": "state is degraded",
            "object": "made-up array",
            "count": 1,
            "address": TRANSCRIPT,
            "line": 88,
            "text": "made-up array   degraded",
            "module": "storage_array.state",
            "weight": 4.0,
            "why": ["a state that is not well"],
        },
    ]


def timeline() -> list[dict[str, Any]]:
    """Return moments of every kind."""
    log = f"{BUNDLE}/var/run/log/vmkernel.log"
    hits = [
        {
            "time": f"2017-10-09T13:{minute:02}:07.120Z",
            "node": "esx07.lab",
            "text": f"made-up vmkernel line {minute}",
            "address": log,
            "line": 4000 + minute,
            "kind": "hit",
            "rule": "pnic-loses-packets",
        }
        for minute in range(2, 58, 4)
    ]
    return [
        {
            "time": "2017-10-09T14:02:15Z",
            "node": "esx07.lab",
            "text": "vm-support was taken",
            "kind": "capture",
        },
        {
            "time": "2017-08-29T12:44:00Z",
            "node": "esx07.lab",
            "text": "the host started",
            "kind": "boot",
        },
        {
            "time": "2017-10-07T22:10:41Z",
            "node": "esx07.lab",
            "text": "vmnic2 link down",
            "address": log,
            "line": 2210,
            "kind": "event",
        },
        *hits,
    ]


def topology() -> list[dict[str, Any]]:
    """Return VMs with their way to the wire."""
    rows = [
        {
            "node": "esx07.lab",
            "vm": "iperf-test1",
            "vnic": 0,
            "adapter": "vmxnet3",
            "port_id": 33554464,
            "switch": "vSwitch0",
            "portgroup": "VM Network",
            "uplinks": ["vmnic0", "vmnic1"],
            "mac": "00:50:56:a6:55:f4",
        },
        {
            "node": "esx07.lab",
            "vm": "iperf-test2",
            "vnic": 0,
            "adapter": "vmxnet3",
            "port_id": 33554465,
            "switch": "vSwitch0",
            "portgroup": "VM Network",
            "uplinks": ["vmnic0", "vmnic1"],
            "mac": "00:50:56:a6:44:72",
        },
    ]
    return rows + [
        {
            "node": "esx07.lab",
            "vm": f"web-{n:02}",
            "vnic": 0,
            "adapter": "e1000e",
            "port_id": 33554500 + n,
            "switch": "DvsPortset-0",
            "portgroup": "dvpg-web-front",
            "uplinks": ["vmnic2"],
        }
        for n in range(10)
    ]
