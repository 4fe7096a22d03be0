"""A synthetic NSX for vSphere site: Manager, three controllers, two hosts and an Edge, in ten states.

    python tools/nsx_site.py STATE -o FOLDER [--release 6.3.5]

Each machine gives what an engineer gets of it: the Manager and the controllers a tech-support bundle and saved CLI and
REST outputs, the hosts a vm-support bundle, the Edge its CLI. Every state changes what all of them say: a controller that
is down is missing from the list of the Manager, from the sockets of the hosts and from the count of the leader.

Formats: the NSX API guide (REST), VMware's troubleshooting guides of NSX 6.3 and 6.4 (vsm.log, controller logs,
dfwpktlogs), public captures of `show control-cluster …`, `net-vdl2 -l`, `net-vdr`, `show service highavailability`.
Names, addresses and numbers are made up; the tree inside a controller's bundle is known only in parts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.case_pack import Files, tgz
from tools.nsx_site_hosts import edge_cli, host_files
from tools.nsx_site_plan import (
    CLUSTER,
    CONTROLLERS,
    HOSTS,
    MANAGER,
    NOW,
    OTHER_CLUSTER,
    RELEASES,
    ROLES,
    Site,
)


def files(site: Site) -> Files:
    """Return the files of a case: name -> content."""
    made: Files = {"bundle-status.xml": _bundle_status(site)}
    if site.manager:
        made["nsxmgr01-techsupport.tgz"] = tgz(_manager(site))
        made["controllers.xml"] = _controllers(site)
        made["hosts-connection.xml"] = _host_connections(site)
    for number in site.up():
        report: Files = {
            f"nsx-controller-{number}/status-report.txt": _controller_cli(site, number)
        }
        made[f"nsx-controller-{number}.tgz"] = tgz(report | _controller_logs(site, number))
        if site.manager and number not in site.silent:
            made[f"controller-{number}-status.xml"] = _controller_status(site, number)
    for number in HOSTS:
        top = f"esx-esx{number}.lab.example-2017-10-02--09.00-{71200 + number}"
        made[f"{top}.tgz"] = tgz(
            {f"{top}/{name}": body for name, body in host_files(site, number).items()}
        )
    made["edge-1-0.txt"], made["edge-1-1.txt"] = edge_cli(0), edge_cli(1)
    return made


# --- the Manager -------------------------------------------------------------------------------


def _manager(site: Site) -> Files:
    top = "nsxmgr01-techsupport"
    build = RELEASES[site.release][0]
    return {
        f"{top}/sys_info": f"System Version: {site.release} Build {build}\n",
        f"{top}/sys_net": (
            "mgmt      Link encap:Ethernet  HWaddr 00:50:56:8e:01:02\n"
            f"          inet addr:{MANAGER}  Bcast:192.0.2.255  Mask:255.255.255.0\n"
        ),
        f"{top}/logs/vsm.log": _vsm_log(site),
    }


def _vsm_log(site: Site) -> str:
    lines = [
        (NOW - timedelta(minutes=120 - minute), f"INFO TaskFrameworkExecutor-{minute % 9} InventoryUpdater:88 - inventory sync done")
        for minute in range(0, 110, 5)
    ]  # fmt: skip
    if site.restarted:
        started = NOW - timedelta(minutes=61)
        lines.append(
            (started, "INFO localhost-startStop-1 Catalina:642 - Server startup in 91234 ms")
        )
    for host in HOSTS:
        if host in site.cut:
            lines.append((NOW - timedelta(minutes=30), _status_changed(host, 1941, "WARN", "DOWN")))
        else:  # every host lost its controllers once, for two minutes, and came back
            lines.append(
                (NOW - timedelta(minutes=100), _status_changed(host, 1941, "WARN", "DOWN"))
            )
            lines.append((NOW - timedelta(minutes=98), _status_changed(host, 1938, "INFO", "UP")))
    text = ""
    for when, what in sorted(lines):
        stamp = site.clock("manager", when)
        text += f"{stamp:%Y-%m-%d %H:%M:%S}.736 GMT+00:00 {what.partition(' ')[0]:>5s} {what.partition(' ')[2]}\n"
    return text


def _status_changed(host: int, code: int, level: str, state: str) -> str:
    return (
        f"{level} TaskFrameworkExecutor-25 VdnInventoryFacadeImpl$HostStatusChangedEventHandler:200 - Host Connection "
        f"Status Changed: Event Code: {code}, Host: esx{host}.lab.example (ID: host-{host}), NSX Manager - Firewall "
        f"Agent: UP, NSX Manager - Control Plane Agent: UP, Control Plane Agent - Controllers: {state}."
    )


def _controllers(site: Site) -> str:
    rows = "".join(
        f"  <controller>\n    <id>controller-{number}</id>\n    <ipAddress>{ip}</ipAddress>\n"
        f"    <status>{'UNKNOWN' if number in site.silent | site.off else 'RUNNING'}</status>\n  </controller>\n"
        for number, ip in CONTROLLERS.items()
    )
    return f"<controllers>\n{rows}</controllers>\n"


def _host_connections(site: Site) -> str:
    rows = ""
    for host in HOSTS:
        failed = sorted(CONTROLLERS) if host in site.cut else sorted(site.off)
        errors = "".join(
            "        <hostToControllerConnectionError>\n"
            f"          <controllerIp>{CONTROLLERS[number]}</controllerIp>\n          <errorCode>1255604</errorCode>\n"
            "          <errorMessage>Connection Refused</errorMessage>\n        </hostToControllerConnectionError>\n"
            for number in failed
        )
        if errors:
            errors = f"      <hostToControllerConnectionErrors>\n{errors}      </hostToControllerConnectionErrors>\n"
        rows += (
            f"    <hostConnStatus>\n      <hostId>host-{host}</hostId>\n"
            "      <nsxMgrToFirewallAgentConn>UP</nsxMgrToFirewallAgentConn>\n"
            "      <nsxMgrToControlPlaneAgentConn>UP</nsxMgrToControlPlaneAgentConn>\n"
            f"      <hostToControllerConn>{'DOWN' if failed else 'UP'}</hostToControllerConn>\n"
            f"      <fullSyncCount>-1</fullSyncCount>\n{errors}    </hostConnStatus>\n"
        )
    return f"<hostConnStatusList>\n  <hostConnStatuses>\n{rows}  </hostConnStatuses>\n</hostConnStatusList>\n"


def _controller_status(site: Site, number: int) -> str:
    slow = number in site.slow
    own = site.clock(f"controller-{number}", NOW)
    return (
        f"<controllerNodeStatus>\n  <id>controller-{number}</id>\n  <ipAddress>{CONTROLLERS[number]}</ipAddress>\n"
        f"  <syncTime>{_millis(site.clock('manager', NOW))}</syncTime>\n  <cpuCoreCount>4</cpuCoreCount>\n"
        "  <cpuLoadInfo>\n    <interval>1</interval>\n    <averageLoad>0.17</averageLoad>\n  </cpuLoadInfo>\n"
        "  <totalMemory>3924280</totalMemory>\n  <usedMemory>1542524</usedMemory>\n"
        f"  <systemTime>{_millis(own)}</systemTime>\n  <upTime>1843388</upTime>\n"
        "  <nodeFailoverReady>true</nodeFailoverReady>\n  <nodeDiskLatencyStatus>\n    <deviceName>sda</deviceName>\n"
        f"    <refreshTime>{_millis(own)}</refreshTime>\n    <latencyType>w_await</latencyType>\n"
        f"    <lastLatency>{'397.0' if slow else '1.4'}</lastLatency>\n"
        f"    <avgLatency>{'128.572' if slow else '2.1'}</avgLatency>\n"
        f"    <alertEnabled>{'true' if slow else 'false'}</alertEnabled>\n  </nodeDiskLatencyStatus>\n"
        "</controllerNodeStatus>\n"
    )


def _millis(when: datetime) -> int:
    return int(when.timestamp() * 1000)


def _bundle_status(site: Site) -> str:
    """Return how the collection of the bundle went: a part that was left out is Skipped."""
    parts = [("NSX-Manager", "", "COMPLETED" if site.manager else "Skipped")]
    parts += [
        ("Controller", f"controller-{n}", "Skipped" if n in site.off else "COMPLETED")
        for n in CONTROLLERS
    ]
    parts += [("HOSTSYSTEM", f"host-{n}", "COMPLETED") for n in HOSTS]
    rows = "".join(
        f"    <nodeLogStatus>\n      <nodeType>{kind}</nodeType>\n      <status>{status}</status>\n"
        + (
            f"      <objectStatus>\n        <objectId>{name}</objectId>\n        <status>{status}</status>\n"
            "      </objectStatus>\n"
            if name
            else ""
        )
        + "    </nodeLogStatus>\n"
        for kind, name, status in parts
    )
    return f"<techSupportBundleStatus>\n  <nodeLogStatuses>\n{rows}  </nodeLogStatuses>\n</techSupportBundleStatus>\n"


# --- the controllers ---------------------------------------------------------------------------


def _controller_cli(site: Site, number: int) -> str:
    prompt = "nsx-controller # "
    lost = number in site.minority
    majority = "Disconnected from cluster majority" if lost else "Connected to cluster majority"
    apart = number in site.split
    rule = "-" * 80
    roles = "".join(f"{role:<20s}enabled             activated\n" for role in ROLES)
    known = [ip for n, ip in CONTROLLERS.items() if not site.split or (n in site.split) == apart]
    return (
        f"{prompt}show network interface\n"
        "Interface       Address/Netmask     MTU     Admin-Status  Link-Status\n"
        f"breth0          {CONTROLLERS[number] + '/24':<20s}1500    UP            UP\n"
        f"eth0                                1500    UP            UP\n"
        f"{prompt}show control-cluster status\n"
        f"Type                Status                                       Since\n{rule}\n"
        "Join status:        Join complete                                09/14 14:08:46\n"
        f"Majority status:    {majority:<45s}10/02 08:31:16\n"
        "Restart status:     This controller can be safely restarted      09/18 08:45:06\n"
        f"Cluster ID:         {OTHER_CLUSTER if apart else CLUSTER}\n"
        f"Node UUID:          b20ddc88-0000-49ad-b120-572c2310000{number}\n\n"
        f"Role                Configured status   Active status\n{rule}\n{roles}"
        f"{prompt}show control-cluster startup-nodes\n{', '.join(known)}\n"
        f"{prompt}show control-cluster connections\n{_ports(site, number)}"
    )


def _ports(site: Site, number: int) -> str:
    """Return the ports of a controller; the first that runs leads, and each of the others hangs on it."""
    leads = number == site.up()[0] and number not in site.minority
    others = len(site.up()) - 1 if leads else "-"
    line = "-" * 56 + "\n"
    return (
        f"role                port            listening open conns\n{line}"
        f"api_provider        api/443         Y         1\n{line}"
        f"persistence_server  server/2878     {'Y' if leads else '-'}         {others}\n"
        f"                    client/2888     Y         3\n                    election/3888   Y         0\n{line}"
        f"switch_manager      ovsmgmt/6632    Y         0\n                    openflow/6633   Y         0\n{line}"
        "system              cluster/7777    Y         2\n"
    )


def _controller_logs(site: Site, number: int) -> Files:
    top = f"nsx-controller-{number}/var/log/cloudnet"
    name = f"controller-{number}"
    java, glog = "", ""
    for minute in range(0, 110, 10):
        when = site.clock(name, NOW - timedelta(minutes=120 - minute))
        if number in site.slow:
            java += (
                f"{when:%Y-%m-%d %H:%M:%S},382 {47956539 + minute * 60000} [SyncThread:1] WARN "
                "org.apache.zookeeper.server.persistence.FileTxnLog - fsync-ing the write ahead log in SyncThread:1 took "
                f"{1500 + minute * 10}ms which will adversely effect operation latency. See the ZooKeeper "
                "troubleshooting guide\n"
            )
            for later in (0, 3, 6):
                lost = when + timedelta(minutes=later)
                glog += f"D{lost:%m%d %H:%M:%S}.452639 1983 zookeeper_client.cc:774] Zookeeper client disconnected!\n"
        else:
            java += (
                f"{when:%Y-%m-%d %H:%M:%S},382 {47956539 + minute * 60000} [main] INFO "
                "org.apache.zookeeper.server.quorum.QuorumPeer - (synthetic) all well\n"
            )
            glog += (
                f"D{when:%m%d %H:%M:%S}.452639 1983 rpc-broker.cc:369] Registering address resolution for: "
                f"{CONTROLLERS[number]}:7777\n"
            )
    return {
        f"{top}/cloudnet_java-zookeeper.20170911-000550.1806.log": java,
        f"{top}/cloudnet_cpp.log.INFO.20170911-000550.1774": glog,
    }


ALL = frozenset(CONTROLLERS)
STATES: dict[str, Site] = {
    "healthy": Site("6.3.5"),
    "exposed": Site(),
    "struck after a manager restart": Site(silent=ALL, restarted=True),
    "one controller down": Site(off=frozenset({2})),
    "majority lost": Site(off=frozenset({2, 3}), silent=ALL, minority=frozenset({1})),
    "split cluster": Site(split=frozenset({3})),
    "clock skew": Site(clocks={"controller-3": -420.0, "esx42.lab.example": 95.0}),
    "a host cut off": Site(cut=frozenset({42})),
    "disk of a controller slow": Site(slow=frozenset({1})),
    "manager bundle missing": Site(manager=False),
}


def state(name: str, release: str = "") -> Files:
    """Return the files of a site in a state; `release` is that of the site unless the state has its own."""
    site = STATES[name]
    return files(replace(site, release=release) if release else site)


def main(write: Callable[[str], None] = print) -> None:
    """Write the files of a state into a folder."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("state", choices=STATES)
    options.add_argument("--release", default="", choices=["", *RELEASES])
    options.add_argument("-o", dest="folder", type=Path, required=True)
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, body in state(given.state, given.release).items():
        (given.folder / name).write_bytes(body if isinstance(body, bytes) else body.encode())
    write(f"{given.state}: {given.folder}")


if __name__ == "__main__":
    main()
