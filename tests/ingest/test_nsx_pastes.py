"""Pieces of NSX sessions as people paste them: log lines under a prompt, waiting prompts, blog fences, the greeting.

All texts are synthetic; their forms follow real ones that were read in public documents.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

LINE = (
    "2024-03-05T09:13:{:02d}.482Z nsx-mgr-a.lab.example NSX 5187 SYSTEM "
    '[nsx@6876 comp="nsx-manager" errorCode="HBS153" level="ERROR" subcomp="heartbeatservice-server"] '
    "Service POLICY is down"
)
EDGE = """\
{{% highlight shell %}}
Last login: Tue Mar  5 09:10:01 2024 from 10.67.1.9
NSX CLI (Edge 4.1.2.3.0.23382405). Press ? for command list or enter: help
edge-south>
edge-south> get logical-routers
Tue Mar 05 2024 UTC 09:12:44.120
Logical Router
UUID                                   VRF    LR-ID  Name                              Type                        Ports   Neighbors
736a80e3-23f6-5a2d-81d6-bbefb2786666   0      0                                        TUNNEL                      3       5/5000
0b0e6f5c-1c7d-4f0e-9a11-5d2f6c7a8b90   1      2      SR-T0-South                       SERVICE_ROUTER_TIER0        6       1/50000
{cut}
edge-south>
edge-south> vrf 1
{{% endhighlight %}}
{{% highlight shell %}}
edge-south(tier0_sr[1])> get interfaces
Tue Mar 05 2024 UTC 09:13:02.001
Logical Router
UUID                                   VRF    LR-ID  Name                              Type
0b0e6f5c-1c7d-4f0e-9a11-5d2f6c7a8b90   1      2      SR-T0-South                       SERVICE_ROUTER_TIER0
Interfaces
    Interface     : 8cd6aa93-7e49-557a-b013-62f829d81faa
    Ifuid         : 271
    Internal name : uplink-271
    Mode          : lif
    IP/Mask       : 10.67.13.2/24
    Op_state      : up
    MTU           : 1700

edge-south(tier0_sr[1])>
edge-south(tier0_sr[1])> get route
Flags: t0c - Tier0-Connected, t0s - Tier0-Static, b - BGP, o - OSPF
Total number of routes: 1

b  > * 0.0.0.0/0 [20/0] via 10.67.13.1, uplink-271, 01:24:22

edge-south(tier0_sr[1])> get bgp neighbor summary
BFD States: NC - Not configured, DC - Disconnected
            DW - Down, IN - Init, UP - Up
BGP summary information for VRF default for address-family: ipv4Unicast
Router ID: 10.67.13.2  Local AS: 65003

Neighbor                            AS          State Up/DownTime  BFD InMsgs  OutMsgs InPfx  OutPfx
10.67.13.1                          65001       Estab 01:28:06     UP  28203   28002   5      6
{{% endhighlight %}}
"""


def case(tmp_path: Path, text: str) -> dict[str, Any]:
    """Return the case of one pasted text."""
    (tmp_path / "paste.txt").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        main,
        [
            "triage",
            str(tmp_path / "paste.txt"),
            "-o",
            str(tmp_path / "out"),
            "--no-packs",
            "--json",
            "-",
        ],
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows(tmp_path: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table that the text of `case` gives."""
    done = CliRunner().invoke(main, ["tables", str(tmp_path / "paste.txt"), table, "--json"])
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_log_lines_of_an_appliance_in_a_paste_are_searched(tmp_path: Path) -> None:
    """Lines of a manager's syslog between sentences meet the rules, and still tell name and role of the node."""
    lines = "\n".join(LINE.format(number) for number in range(4))

    found = case(
        tmp_path, f"We looked at the manager:\n\n```\n{lines}\n```\n\nAny idea what that is?\n"
    )

    assert "nsxt-error-code" in {one["rule"] for one in found["findings"]}
    assert [(row["hostname"], row["role"]) for row in rows(tmp_path, "nsxt.node")] == [
        ("nsx-mgr-a.lab.example", "manager")
    ]


def test_a_session_on_an_edge_is_read_with_its_waiting_prompts(tmp_path: Path) -> None:
    """Prompts with nothing behind them, routers in brackets, blog fences and a cut are no part of an output."""
    found = case(tmp_path, EDGE.format(cut="--- CUT FOR BREVITY --"))

    assert found["faults"] == []
    assert [(one["name"], one["kind"]) for one in found["nodes"]] == [("edge-south", "nsxt_edge")]
    assert len(rows(tmp_path, "nsxt.logical_router")) == 2
    assert [row["router"] for row in rows(tmp_path, "nsxt.router_interface")] == [
        "0b0e6f5c-1c7d-4f0e-9a11-5d2f6c7a8b90"
    ]
    assert [row["next_hop"] for row in rows(tmp_path, "nsxt.route")] == ["10.67.13.1"]
    assert [row["bfd_state"] for row in rows(tmp_path, "nsxt.bgp_neighbor")] == ["UP"]


PING = "PING 10.67.1.4 (10.67.1.4): 56 data bytes\n64 bytes from 10.67.1.4: icmp_seq=0 ttl=64 time=2.8 ms\n"
LIFS = "LIF UUID                 : 0b0e6f5c-1c7d-4f0e-9a11-5d2f6c7a8b91\nOverlay VNI              : 69632\n"
OTHER_ROUTER = (
    "BGP table version is 5, local router ID is 10.67.0.2\n"
    "Status codes: s suppressed, d damped, h history, * valid, > best, i - internal\n"
    "   Network          Next Hop            Metric LocPrf Weight Path\n*> 10.67.0.0/16     0.0.0.0      0    32768 i\n"
)
VPXD = "2024-03-05T10:00:00.390Z warning vpxd[07879] [Originator@6876 sub=Vmomi opID=60f1] VMOMI activation failed"
ENVOY = (
    "2024-03-05T10:00:01.168Z info envoy[2527] [Originator@6876 sub=Default] POST /sdk HTTP/1.1 200"
)
LOGIN = "2024-03-05T10:00:00.123Z {0} sshd[2345]: Accepted password for root from 10.1.1.1 port 55000 ssh2"
CRON = "2024-03-05T10:00:01.001Z {0} CRON[2346]: pam_unix(cron:session): session opened for user root by (uid=0)"
DF = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        20G   20G  200M  99% /\n"
KERNEL = "2024-03-05T10:00:00.482Z cpu3:2097911)WARNING: NFS41: NFS41FileDoCloseFile:3128: Stale file handle"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            EDGE.format(cut="") + f"edge-south> ping 10.67.1.4\n{PING}",
            [("edge-south", "nsxt_edge")],
        ),
        (f"edge-south(vrf)> ping 10.67.1.4\n{PING}", [("edge-south", "nsxt_edge")]),
        (f"[root@esx41:~] vmkping 10.67.1.4\n{PING}", [("esx41", "esxi")]),
        (f"{VPXD}\n{ENVOY}\n", [("vCenter (loose files)", "vcenter")]),
        (f"{VPXD}\n" * 3 + f"{ENVOY}\n", [("vCenter (loose files)", "vcenter")]),
        (f"{ENVOY}\n", [("ESXi host (loose files)", "esxi")]),
        (f"core(config)# ping 10.67.1.4\n{PING}", [("core", "other")]),
        (f"leaf1# ping 10.67.1.4 vrf management\n{PING}", [("leaf1", "other")]),
        (f"esx-leaf1# ping 10.67.1.4\n{PING}", [("esx-leaf1", "esxi")]),
        (f"web01:~\n[root@web01 ~]# df -h\n{DF}", []),
        (f"The disk is full:\n\n{DF}", []),
        (
            f"edge-south(vrf)> ping 10.67.1.4\n{PING}\nroot@edge-south:~# df -h\n{DF}/dev/mapper/nsx-image  41G  2G  37G  6% /image\n",
            [("edge-south", "nsxt_edge")],
        ),
        (f"{LOGIN.format('nsxmgr-a')}\n", []),
        (f"{LOGIN.format('app7')}\n{CRON.format('app7')}\n", []),
        (
            f"{LOGIN.format('esx41')}\n{LOGIN.format('app7')}\n{CRON.format('app7')}\n",
            [("esx41", "esxi")],
        ),
        (
            f"Router# show ip bgp\n{OTHER_ROUTER}\n[root@esx41:~] vmkping 10.67.1.4\n{PING}",
            [("esx41", "esxi")],
        ),
        (
            "esx41> get logical-router 1c1e6f5c-1c7d-4f0e-9a11-5d2f6c7a8b90 interfaces\n"
            f"Tue Mar 05 2024 UTC 09:12:44.120\n            Logical Router Interfaces\n{LIFS}",
            [("esx41", "esxi")],
        ),
        (
            f"The share is on this server:\n\nroot@sto-1:~# hostnamectl\n Static hostname: sto-1\n\nvmkernel.log:\n{KERNEL}\n",
            [("ESXi host (loose files)", "esxi")],
        ),
    ],
)
def test_an_output_goes_to_the_machine_that_can_print_it(
    tmp_path: Path, text: str, named: list[Any]
) -> None:
    """A ping is that of its prompt's machine, a switch is no host, and neither are a Linux's `df` and logins."""
    assert [(one["name"], one["kind"]) for one in case(tmp_path, text)["nodes"]] == named


def test_the_log_of_a_component_stands_in_for_the_syslog(tmp_path: Path) -> None:
    """cbm.log alone has the lines that it sent to the syslog; where both are there, a line counts once."""
    line = (
        '2024-08-03T04:05:06.123Z mgr-q7 NSX 4711 - [nsx@6876 comp="nsx-manager" errorCode="CBM38" level="ERROR"'
        ' subcomp="cluster-boot-manager"] synthetic: the quorum is lost\n'
    )
    for number, (names, count) in enumerate(
        ((["cbm/cbm.log"], "at least 2"), (["cbm/cbm.log", "syslog"], "2"))
    ):
        top = tmp_path / f"case{number}"
        for name in names:
            (top / "var/log" / name).parent.mkdir(parents=True, exist_ok=True)
            (top / "var/log" / name).write_text(line * 2, encoding="utf-8")
        done = CliRunner().invoke(
            main, ["triage", str(top), "-o", str(tmp_path / f"out{number}"), "--json", "-"]
        )
        found = [
            (one["rule"], one["say"].partition(",")[0])
            for one in json.loads(done.stdout)["findings"]
        ]
        assert found == [("nsxt-error-code", f"Lines with the error code CBM38: {count}")]


def test_the_greeting_of_the_cli_tells_the_release_of_the_node_below(tmp_path: Path) -> None:
    """`NSX CLI (Edge …)` stands above the first prompt of its node."""
    case(tmp_path, EDGE.format(cut=""))

    found = [(row["role"], row["version"], row["build"]) for row in rows(tmp_path, "nsxt.node")]
    assert found == [("edge", "4.1.2.3.0", 23382405)]


def test_a_waiting_prompt_is_one_only_where_its_host_was_typed_at(tmp_path: Path) -> None:
    """A word and a `>` alone on a line end no output of a host that nobody typed at in this text."""
    text = EDGE.format(cut="").replace(
        "\nedge-south>\nedge-south> vrf", "elsewhere>\nedge-south> vrf"
    )

    assert [one["text"] for one in case(tmp_path, text)["faults"]] == ["elsewhere>"]


def test_an_agent_of_a_host_is_judged_by_its_status_alone(tmp_path: Path) -> None:
    """What a restart prints on its way ("is stopped") is no state; a later `status` counts."""
    text = (
        "[root@esx41:~] /etc/init.d/netcpad restart\n"
        "watchdog-netcpa: Terminating watchdog process with PID 35036\n"
        "netCP agent service is stopped\n"
        "[root@esx41:~] /etc/init.d/netcpad status\n"
        "netCP agent service is running\n"
    )

    assert case(tmp_path, text)["findings"] == []
    assert [row["service_running"] for row in rows(tmp_path, "esxi.service_status")] == [True]


def test_heaps_of_a_loop_are_judged_each(tmp_path: Path) -> None:
    """A loop prints the name of each heap, and a grep leaves some lines of it: the full one is found."""
    heap = "vsip-{0}-0x430c1db5c000/\n   Name:vsip-{0}\n   percent free of max size:{1}\n"
    loop = "for n in $(vsish -e ls /system/heaps|grep vsip); do echo $n; vsish -e get /system/heaps/$n'stats'; done"
    text = f"[root@esx41:~] {loop}\n{heap.format('attr', 99)}{heap.format('rules', 7)}"

    assert [(one["rule"], one["subject"]) for one in case(tmp_path, text)["findings"]] == [
        ("nsx-dfw-heap", "vsip-rules")
    ]
