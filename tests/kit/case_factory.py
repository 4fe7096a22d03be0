"""Case documents for the tests of the document and of the reports (what came in: case_material.py).

Numbers of the ring exhaustion are those of a measured case (7086 + 3284 =
10370); everything else, log lines included, is made up to fill the page and
says nothing of real products.
"""

from __future__ import annotations

from typing import Any

from msgspec import convert, to_builtins

from analyzer.case import case_file
from analyzer.case.document import CaseDocument, Tool
from analyzer.case.verdicts import CannotTell, Evidence, Finding, Fix, Judgement, Trace
from analyzer.pipeline import case
from tests.kit.case_material import (
    BUNDLE,
    ESXTOP,
    GUEST,
    PORT,
    TRANSCRIPT,
    nodes,
    series,
    signals,
    sources,
    timeline,
    topology,
)

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m`|*_=cmd|'/c calc'!A0\udcff"


def ring_finding() -> Finding:
    """Return the measured ring exhaustion, explained by a CPU limit."""
    summary = [
        " broadcast bytes rx ok:26464",
        " running out of buffers:10370",
        " pkts receive error:0",
        " # of times the 1st ring is full:7086",
        " # of times the 2nd ring is full:3284",
        " fail to map a rx buffer:0",
        " request to page in a buffer:0",
    ]
    ring1 = Trace("rx.ring1_full", "7086", at=f"{TRANSCRIPT}:52")
    ring2 = Trace("rx.ring2_full", "3284", at=f"{TRANSCRIPT}:53")
    ring_full = Trace(
        "ring_full = rx.ring1_full + rx.ring2_full",
        "10370",
        [ring1, ring2],
        note="7086 + 3284 = 10370",
    )
    trace = Trace(
        "port.dropped_rx > 0 and (ring_full > 0 or rx.out_of_buffers > 0)",
        "true",
        [
            Trace(
                "port.dropped_rx > 0",
                "true",
                [Trace("port.dropped_rx", "10312", at=f"{TRANSCRIPT}:28")],
            ),
            Trace(
                "ring_full > 0 or rx.out_of_buffers > 0",
                "true",
                [
                    Trace("ring_full > 0", "true", [ring_full]),
                    Trace("rx.out_of_buffers > 0", "true", note="10370 > 0", at=f"{TRANSCRIPT}:50"),
                ],
            ),
            Trace("who.share_teamed", "unknown", note="esxi.teaming_policy is not in the case"),
        ],
    )
    return Finding(
        id="kb-2039495/iperf-test1",
        rule="kb-2039495",
        title="VMXNET3 RX ring full, frames dropped",
        kb=[2039495, 1010071],
        issues=[],
        status="test",
        node="esx07.lab",
        subject="iperf-test1, port 33554464 on vSwitch0",
        object="iperf-test1",
        verdict="match",
        severity="warning",
        confidence="confirmed",
        say="0.019 % of frames lost; ring #1 was full 7,086 times and ring #2 3,284 times; both rings have "
        "256 descriptors. Even this little cost TCP 86,715 retransmits.",
        also=["Could not check: esxi.teaming_policy is not in the case."],
        about="The guest drains its receive ring slower than frames arrive. The vSwitch has no buffer of its "
        "own, so every further frame is lost until the guest catches up.",
        evidence=[
            Evidence(
                "port.dropped_rx = 10312",
                TRANSCRIPT,
                28,
                " droppedRx:10312",
                [" pktsRxOK:54807350"],
                [" pktsSwTsoRx:26346080"],
                "2017-10-09T13:58:00Z",
                "esx07.lab",
            ),
            Evidence(
                "rx.ring1_full = 7086",
                TRANSCRIPT,
                52,
                summary[3],
                summary[1:3],
                summary[4:6],
                "2017-10-09T13:58:41Z",
                "esx07.lab",
            ),
            Evidence(
                "rx.ring2_full = 3284",
                TRANSCRIPT,
                53,
                summary[4],
                summary[2:4],
                summary[5:7],
                "2017-10-09T13:58:41Z",
                "esx07.lab",
            ),
            Evidence(
                "guest.rx_oob = 7129",
                GUEST,
                71,
                " pkts rx OOB: 7129",
                ["root@iperf-test1:~# ethtool -S eth0 |grep OOB"],
                [" pkts rx OOB: 3241"],
                "",
                "iperf-test1",
            ),
        ],
        trace=trace,
        fix=[
            Fix("guest, Linux", run="ethtool -G eth0 rx 4096", note="Not kept over a reboot."),
            Fix(
                "guest, Windows",
                do="Adapter, Advanced: Small Rx Buffers = 8192, Rx Ring #1 Size = 4096.",
            ),
        ],
        caution="The change resets the adapter. Plan a window.",
        not_this=["The counters run since the vNIC was connected; one snapshot holds no rate."],
        explained_by=["cpu-limit-starves-vm/iperf-test1"],
        maybe_worse=["esxi.teaming_policy"],
        chart=["kb-2039495/iperf-test1/drop_rx_pct"],
        first_seen="2017-10-09T13:58:00Z",
        source=["seed: measured case of a public article"],
    )


def cpu_finding() -> Finding:
    """Return the CPU limit that explains the full ring."""
    cell = "69.52"
    return Finding(
        id="cpu-limit-starves-vm/iperf-test1",
        rule="cpu-limit-starves-vm",
        title="A CPU limit holds the VM back and it drops frames while it waits",
        kb=[1010071],
        issues=[],
        status="stable",
        node="esx07.lab",
        subject="iperf-test1 (1 vCPU)",
        object="iperf-test1",
        verdict="match",
        severity="major",
        confidence="confirmed",
        say="A CPU limit holds the VM back in 83 % of samples (%MLMTD up to 69.5 % of a vCPU); "
        "50 % of samples drop frames. %RDY is %MLMTD here: the host is not short of CPU.",
        about="A VM that is ready but not scheduled cannot empty its receive ring.",
        evidence=[
            Evidence(
                "max(cpu.mlmtd_pct) = 69.52",
                ESXTOP,
                412,
                cell,
                [],
                [],
                "2017-10-09T13:51:10Z",
                "esx07.lab",
            )
        ],
        trace=Trace(
            "limited >= 0.3",
            "true",
            [
                Trace(
                    "limited = share(cpu.mlmtd_pct / vm.vcpus >= 5)",
                    "0.83",
                    note="598 of 720 samples",
                    at=f"{ESXTOP}:2",
                )
            ],
        ),
        fix=[Fix("vSphere Client, VM, Edit Settings, CPU", do="Set Limit to Unlimited.")],
        not_this=[
            "One bad sample in a long file is noise; that is why the rule asks for a share of samples."
        ],
        explains=["kb-2039495/iperf-test1"],
        chart=[
            "cpu-limit-starves-vm/iperf-test1/rdy_pct",
            "cpu-limit-starves-vm/iperf-test1/mlmtd_pct",
        ],
        first_seen="2017-10-09T13:02:00Z",
    )


def nsx_finding() -> Finding:
    """Return a finding that rests on a version alone."""
    return Finding(
        id="kb-2151719/nsxmgr01.lab",
        rule="kb-2151719",
        title="NSX 6.3.3 controllers lose their API server files and show as Disconnected",
        kb=[2151719],
        issues=[1955855],
        status="test",
        node="nsxmgr01.lab",
        subject="nsxmgr01.lab and its 3 controllers",
        object="nsxmgr01.lab",
        verdict="match",
        severity="major",
        confidence="exposed",
        say="The Manager is 6.3.3, which has the fault. No controller log is in the case, so nothing "
        "shows whether it has begun.",
        about="A clean-up job on 6.3.3 controllers deletes files the API server needs.",
        evidence=[
            Evidence(
                "mgr.version = 6.3.3",
                "nsx-manager.tgz!sys_info",
                3,
                "Version: 6.3.3.6276725",
                ["Hostname: nsxmgr01"],
                ["Uptime: 212 days"],
                "2017-10-09T14:20:00Z",
                "nsxmgr01.lab",
            )
        ],
        trace=Trace(
            'mgr.version == "6.3.3"',
            "true",
            [Trace("mgr.version", "6.3.3", at="nsx-manager.tgz!sys_info:3")],
        ),
        fix=[
            Fix(
                "each controller, as admin",
                run="restart api-server",
                note="Helps until the job runs again.",
            ),
            Fix("NSX Manager", do="Upgrade to 6.3.4 or later."),
        ],
        caution="Do not restart the Manager before the controllers were looked at.",
        maybe_worse=["nsx.controller_api_log"],
    )


def adapter_findings(count: int = 48) -> list[Finding]:
    """Return one rule on many subjects, which the reports must fold."""
    return [
        Finding(
            id=f"adapter-not-vmxnet3/web-{n:02}.eth0",
            rule="adapter-not-vmxnet3",
            title="The virtual network adapter is not VMXNET3",
            kb=[1001805],
            issues=[],
            status="stable",
            node="esx07.lab",
            subject=f"web-{n:02}, ethernet0",
            object=f"web-{n:02}",
            verdict="match",
            severity="warning",
            confidence="confirmed",
            say="The adapter is an E1000e; it emulates a physical card in software.",
            evidence=[
                Evidence(
                    "vnic.adapter = e1000e",
                    f"{BUNDLE}/vmfs/volumes/5995c21f-9a1b2c3d-8e4f-d06726c8b1a2/web-{n:02}/web-{n:02}.vmx",
                    41,
                    'ethernet0.virtualDev = "e1000e"',
                    ['ethernet0.present = "TRUE"'],
                    ['ethernet0.networkName = "VM Network"'],
                    node="esx07.lab",
                )
            ],
            fix=[
                Fix(
                    "vSphere Client, VM, Edit Settings",
                    do="Add a VMXNET3 adapter and remove the old one.",
                )
            ],
        )
        for n in range(count)
    ]


def other_findings() -> list[Finding]:
    """Return an audit note, a muted finding and a rule that broke."""
    shared: dict[str, Any] = {
        "kb": [],
        "issues": [],
        "status": "stable",
        "node": "esx07.lab",
        "object": "esx07.lab",
    }
    return [
        Finding(
            "kb-2149630/nsxmgr01.lab",
            "kb-2149630",
            "Engineering mode was used on the NSX Manager",
            [2149630],
            [],
            "stable",
            "nsxmgr01.lab",
            "nsxmgr01.lab",
            "nsxmgr01.lab",
            "match",
            "info",
            "confirmed",
            "Engineering mode was entered 2 times. An audit note, not a fault.",
        ),
        Finding(
            id="shell-warning-suppressed/esx07.lab",
            rule="shell-warning-suppressed",
            title="The shell warning is off",
            subject="esx07.lab",
            verdict="match",
            severity="warning",
            confidence="confirmed",
            say="UserVars.SuppressShellWarning is 1.",
            muted="Wanted in this lab (until 2018-01-01)",
            **shared,
        ),
        Finding(
            id="coalescing-non-default/esx07.lab",
            rule="coalescing-non-default",
            title="Coalescing scheme is not default",
            subject="esx07.lab",
            verdict="error",
            severity="",
            confidence="",
            say="The rule could not be run: value 'rbc ' is not a number (coalescing-non-default.yaml:23).",
            **shared,
        ),
    ]


def unknowns() -> list[CannotTell]:
    """Return verdicts «cannot tell» that fall into four groups, and one that is muted."""
    ask = "`vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary`"
    ports = [
        CannotTell(
            "kb-2039495",
            "Ring runs full",
            "esx07.lab",
            f"app-{n}, port {33554470 + n}",
            "missing",
            "esxi.vmxnet3_rx_summary",
            "no such output in the case",
            ask,
        )
        for n in range(5)
    ]
    log_ask = "The controller support log: NSX Manager, Dashboard, Controllers, Download"
    return [
        *ports,
        CannotTell(
            "rings-at-maximum",
            "Rings at maximum",
            "esx07.lab",
            "app-0, port 33554470",
            "missing",
            "esxi.vmxnet3_rx_summary",
            "no such output in the case",
            ask,
        ),
        CannotTell(
            "nsx-1970527",
            "DLR ARP table",
            "nsxmgr01.lab",
            "",
            "missing",
            "nsx.vdr_neighbors",
            "no `net-vdr --nbr -l` in the case",
            "`net-vdr --nbr -l -I default+edge-1`",
        ),
        CannotTell(
            "nsx-1961105",
            "Controller disk",
            "nsxmgr01.lab",
            "",
            "missing",
            "nsx.controller_log",
            "no controller bundle in the case",
            log_ask,
        ),
        CannotTell(
            "pnic-loses-packets",
            "Physical NIC loses packets",
            "esx07.lab",
            "vmnic2",
            "unparsed",
            "esxi.nic_stats",
            "4 of 61 lines were not understood",
            "`ethtool -S vmnic2`",
        ),
        CannotTell(
            "shell-warning-suppressed",
            "The shell warning is off",
            "esx08.lab",
            "",
            "missing",
            "esxi.advanced_option",
            "no list of advanced options in the case",
            "`esxcli system settings advanced list`",
            "Wanted in this lab (until 2018-01-01)",
        ),
    ]


def settings() -> dict[str, Any]:
    """Return what local settings did: a mute that holds, one that ran out, a changed threshold, a pack."""
    mute = {"subject": "", "node": "", "findings": 0, "unknowns": 0}
    return {
        "file": "backline.toml",
        "sha256": "ef" * 32,
        "day": "2017-10-09",
        "mutes": [
            mute
            | {
                "rule": "shell-warning-suppressed",
                "reason": "Wanted in this lab",
                "until": "2018-01-01",
                "state": "holds",
                "findings": 1,
                "unknowns": 1,
            },
            mute
            | {
                "rule": "cpu-limit-starves-vm",
                "subject": "/iperf-.*/",
                "node": "esx*",
                "reason": "A test VM",
                "until": "2017-09-30",
                "state": "ran out",
                "findings": 1,
            },
            mute
            | {
                "rule": "kb-2149630",
                "reason": "Known here",
                "until": "2018-01-01",
                "state": "holds",
            },
        ],
        "thresholds": [
            {
                "rule": "pnic-loses-packets",
                "name": "least",
                "value": 0.5,
                "shipped": 0.3,
                "reason": "Small hosts",
            }
        ],
        "unused": ["Threshold most of nn-ports was not used: the rule was not judged in this run."],
        "catalogs": [
            {"kind": "shipped", "sha256": "12" * 32, "rules": 76},
            {
                "kind": "pack",
                "name": "nn-rules",
                "version": "1.2",
                "sha256": "34" * 32,
                "rules": 2,
                "broken": 1,
            },
        ],
    }


def judgement(adapters: int = 48) -> Judgement:
    """Return all verdicts of the rich case, in an order that `ranking.place_findings` must mend."""
    findings = [
        *adapter_findings(adapters),
        *other_findings(),
        ring_finding(),
        nsx_finding(),
        cpu_finding(),
    ]
    counts = {f"quiet-{n:02}": {"no_match": 1 + n % 7, "not_applicable": n % 3} for n in range(61)}
    counts |= {f"other-product-{n}": {"not_applicable": 2} for n in range(9)}
    for finding in findings:
        counts.setdefault(finding.rule, {}).setdefault(finding.verdict, 0)
        counts[finding.rule][finding.verdict] += 1
    counts["kb-2039495"]["no_match"] = 3
    return Judgement(findings=findings, cannot_tell=unknowns(), counts=counts, series=series())


def rich_case(**changes: Any) -> CaseDocument:
    """Return a document with something in every part of the report."""
    parts: dict[str, Any] = {
        "case": {
            "name": "case-1834",
            "files": [
                {"name": "case-1834.zip", "size": 512_044_112, "sha256": "ab" * 32},
                {"name": "console-esx07.txt", "size": 8211, "sha256": "cd" * 32},
            ],
            "created": "2017-10-09T14:20:00Z",
            "span": {"first": "2017-10-03T09:11:20Z", "last": "2017-10-09T14:02:11Z"},
            "complete": False,
        },
        "tool": Tool(name="backline", version="0.1.0", catalog="9f3c21d0a4be", rules=78),
        "nodes": nodes(),
        "sources": sources(),
        "judgement": judgement(),
        "catalog_rules": [
            (f"quiet-{n:02}", f"Quiet rule number {n}", [2000000 + n]) for n in range(61)
        ]
        + [(f"other-product-{n}", f"Rule of another product {n}", []) for n in range(9)]
        + [("kb-2039495", "Ring runs full", [2039495])],
        "signals": signals(),
        "timeline": timeline(),
        "topology": topology(),
        "faults": [
            {
                "address": TRANSCRIPT,
                "line": 101,
                "text": "<snip>",
                "parser": "net_stats",
                "why": "state Rows, template line 14",
            }
        ],
        "damage": [
            {
                "address": f"{BUNDLE}/var/run/log/hostd.3.gz",
                "offset": 788480,
                "what": "gzip stream ends early",
                "left_out": "the rest of this log, size not known",
            }
        ],
        "limits": [
            f"{BUNDLE}/var/core/vpxa-zdump.000: limit member_bytes=8589934592 reached at 8589934592; "
            "rest skipped. Raise it with --limit member_bytes=N."
        ],
        "settings": settings(),
        "advice": [
            "vsi_traverse_-s.txt is binary. On a host of build 5969303: "
            f"vsish -c vsi_traverse_-s.txt -e get {PORT}/clientStats"
        ],
    }
    return case.build_document(**(parts | changes))


def quiet_case() -> CaseDocument:
    """Return a healthy host: nothing found, nothing missing."""
    return rich_case(
        case={"name": "healthy", "created": "2023-09-05T08:00:00Z", "complete": True},
        nodes=nodes()[:1],
        sources=[row for row in sources(20) if row["state"] in ("read", "listed")],
        judgement=Judgement(counts={f"quiet-{n:02}": {"no_match": 2} for n in range(61)}),
        signals=[],
        timeline=[],
        topology=[],
        faults=[],
        damage=[],
        limits=[],
        advice=[],
        settings={},
    )


def hostile_case() -> CaseDocument:
    """Return the rich case with a text that attacks every output in every string field."""

    def spoil(value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return value if key in _KEPT or (key == "muted" and not value) else value + HOSTILE
        if isinstance(value, dict):
            # Keys of the schema stay; keys that are data (charts) are spoiled like every text.
            return {
                name if name in _NAMES else name + HOSTILE: spoil(item, name)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [spoil(item, key) for item in value]
        return value

    plain = to_builtins(rich_case(judgement=judgement(adapters=3), sources=sources(30)))
    doc = convert(case_file.clean_value(spoil(plain)), CaseDocument)
    doc.tool.name = "backline"
    return doc


_KEPT = {
    "schema",
    "severity",
    "confidence",
    "verdict",
    "status",
    "state",
    "kind",
    "reason",
    "sha256",
}
_KEPT |= {"time", "times", "created", "captured", "first", "last"}


def _names(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


_NAMES = {name for name in _names(to_builtins(rich_case())) if "/" not in name}
