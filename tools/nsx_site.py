"""A synthetic NSX for vSphere site: Manager, three controllers, two hosts and an Edge, in ten states.

    python tools/nsx_site.py STATE -o FOLDER [--release 6.3.5]

Each machine gives what an engineer gets of it: the Manager and the controllers a tech-support bundle and saved CLI and
REST outputs, the hosts a vm-support bundle, the Edge its CLI. Every state changes what all of them print: a controller
that is down is missing from the list of the Manager, from the sockets of the hosts and from the count of the leader.
The smaller cases of `CONTROL_PLANES` hold what the Manager and the controllers print, and no hosts.

Formats: the NSX API guide (REST), VMware's troubleshooting guides of NSX 6.3 and 6.4 (vsm.log, controller logs,
dfwpktlogs), public captures of `show control-cluster …`, `net-vdl2 -l`, `net-vdr`, `show service highavailability`.
Names, addresses and numbers are made up; the tree inside a controller's bundle is known only in parts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.case_pack import Files, tgz
from tools.case_text import ARP_LEGEND, bundle_readme

NOW = datetime(2017, 10, 2, 9, 0, tzinfo=UTC)
CLUSTER = "b20ddc88-0000-49ad-b120-572c23100001"
OTHER_CLUSTER = "b20ddc88-0000-49ad-b120-572c23100002"
THIRD_CLUSTER = "b20ddc88-0000-49ad-b120-572c23100003"
MAJORITY = "Connected to cluster majority"
NO_MAJORITY = "Disconnected from cluster majority"
SERVER_STARTED = "localhost-startStop-1 Catalina:642 - Server startup in 91234 ms"
CONTROLLERS = {1: "192.0.2.31", 2: "192.0.2.32", 3: "192.0.2.33"}
HOSTS = {41: "192.0.2.41", 42: "192.0.2.42"}
MANAGER = "192.0.2.15"
ROLES = (
    "api_provider",
    "persistence_server",
    "switch_manager",
    "logical_manager",
    "directory_server",
)
# Release -> (build of the Manager, version of the hosts' VIB esx-nsxv); the latter of 6.3.5 is made up.
RELEASES = {"6.3.3": (6276725, "6.5.0-0.0.6244264"), "6.3.5": (7119875, "6.5.0-0.0.7100000")}


@dataclass(frozen=True)
class Site:
    """What of a site is not as it should be.

    silent       controllers that do not answer the API of the Manager
    off          controllers that are off: they print nothing, and no one reaches them
    minority     controllers that lost the majority
    split        the controllers that formed a cluster of their own
    slow         the controller whose disk is slow
    cut          hosts without a channel to the controllers
    clocks       node -> seconds its clock is ahead
    restarted    the Manager was started this morning
    manager      the bundle of the Manager is in the case
    arp          entries of the logical router's ARP table on each host
    arp_printed  how often the dump holds that table
    """

    release: str = "6.3.3"
    silent: frozenset[int] = frozenset()
    off: frozenset[int] = frozenset()
    minority: frozenset[int] = frozenset()
    split: frozenset[int] = frozenset()
    slow: frozenset[int] = frozenset()
    cut: frozenset[int] = frozenset()
    clocks: dict[str, float] = field(default_factory=dict)
    restarted: bool = False
    manager: bool = True
    arp: int = 12
    arp_printed: int = 1

    def read_clock(self, node: str, when: datetime) -> datetime:
        """Return what the clock of a node shows at a time."""
        return when + timedelta(seconds=self.clocks.get(node, 0.0))

    def list_running(self) -> list[int]:
        """Return the controllers that run."""
        return [number for number in CONTROLLERS if number not in self.off]

    def list_reached(self, host: int) -> list[int]:
        """Return the controllers that a host has a channel to."""
        return [] if host in self.cut else self.list_running()


def make_files(site: Site) -> Files:
    """Return the files of a case: name -> content."""
    files: Files = {"bundle-status.xml": format_bundle_status(site)}
    if site.manager:
        files["nsxmgr01-techsupport.tgz"] = make_manager_bundle(site)
        files["controllers.xml"] = format_controllers(
            {
                number: "UNKNOWN" if number in site.silent | site.off else "RUNNING"
                for number in CONTROLLERS
            }
        )
        files["hosts-connection.xml"] = format_host_connections(list_lost_controllers(site))
    for number in site.list_running():
        report: Files = {
            f"nsx-controller-{number}/status-report.txt": format_status_report(site, number)
        }
        files[f"nsx-controller-{number}.tgz"] = tgz(report | make_controller_logs(site, number))
        if site.manager and number not in site.silent:
            files[f"controller-{number}-status.xml"] = format_controller_status(site, number)
    for number in HOSTS:
        top = f"esx-esx{number}.lab.example-2017-10-02--09.00-{71200 + number}"
        members = make_host_files(site, number, top)
        files[f"{top}.tgz"] = tgz({f"{top}/{name}": body for name, body in members.items()})
    files["edge-1-0.txt"] = format_edge_session(0)
    files["edge-1-1.txt"] = format_edge_session(1)
    return files


# --- the Manager -------------------------------------------------------------------------------


def make_manager_bundle(site: Site) -> bytes:
    """Return the tech-support bundle of the Manager."""
    build = RELEASES[site.release][0]
    return pack_manager(
        "nsxmgr01-techsupport", f"{site.release} Build {build}", format_vsm_log(site)
    )


def pack_manager(top: str, version: str, log: str) -> bytes:
    """Return a tech-support bundle of the Manager from its version and its vsm.log."""
    return tgz(
        {
            f"{top}/sys_info": f"System Version: {version}\n",
            f"{top}/sys_net": (
                "mgmt      Link encap:Ethernet  HWaddr 00:50:56:8e:01:02\n"
                f"          inet addr:{MANAGER}  Bcast:192.0.2.255  Mask:255.255.255.0\n"
            ),
            f"{top}/logs/vsm.log": log,
        }
    )


def format_vsm_log(site: Site) -> str:
    """Return vsm.log of the two hours before, in order of time."""
    events = []
    for minute in range(0, 110, 5):
        when = NOW - timedelta(minutes=120 - minute)
        thread = f"TaskFrameworkExecutor-{minute % 9}"
        events.append((when, "INFO", f"{thread} InventoryUpdater:88 - inventory sync done"))
    if site.restarted:
        events.append((NOW - timedelta(minutes=61), "INFO", SERVER_STARTED))
    for host in HOSTS:
        lost = describe_host_connection(host, 1941, "DOWN")
        if host in site.cut:
            events.append((NOW - timedelta(minutes=30), "WARN", lost))
        else:  # every host lost its controllers once, for two minutes, and came back
            events.append((NOW - timedelta(minutes=100), "WARN", lost))
            back = describe_host_connection(host, 1938, "UP")
            events.append((NOW - timedelta(minutes=98), "INFO", back))
    text = ""
    for when, level, message in sorted(events):
        stamp = site.read_clock("manager", when)
        text += f"{stamp:%Y-%m-%d %H:%M:%S}.736 GMT+00:00 {level:>5s} {message}\n"
    return text


def describe_host_connection(host: int, code: int, state: str) -> str:
    """Return the message of vsm.log when the connection of a host to the controllers changes."""
    return (
        f"TaskFrameworkExecutor-25 VdnInventoryFacadeImpl$HostStatusChangedEventHandler:200 - Host Connection "
        f"Status Changed: Event Code: {code}, Host: esx{host}.lab.example (ID: host-{host}), NSX Manager - Firewall "
        f"Agent: UP, NSX Manager - Control Plane Agent: UP, Control Plane Agent - Controllers: {state}."
    )


def format_controllers(states: Mapping[int, str]) -> str:
    """Return the REST answer on the controllers: number -> state."""
    rows = "".join(
        f"  <controller>\n    <id>controller-{number}</id>\n    <ipAddress>{CONTROLLERS[number]}</ipAddress>\n"
        f"    <status>{state}</status>\n  </controller>\n"
        for number, state in states.items()
    )
    return f"<controllers>\n{rows}</controllers>\n"


def list_lost_controllers(site: Site) -> dict[int, tuple[str, list[int]]]:
    """Return for each host the state of its connection and the controllers it does not reach."""
    connections = {}
    for host in HOSTS:
        lost = sorted(CONTROLLERS if host in site.cut else site.off)
        connections[host] = ("DOWN" if lost else "UP", lost)
    return connections


def format_host_connections(hosts: Mapping[int, tuple[str, Iterable[int]]]) -> str:
    """Return the REST answer on the connections of hosts: number -> state, controllers not reached."""
    rows = ""
    for host, (state, lost) in hosts.items():
        errors = "".join(
            "        <hostToControllerConnectionError>\n"
            f"          <controllerIp>{CONTROLLERS[number]}</controllerIp>\n          <errorCode>1255604</errorCode>\n"
            "          <errorMessage>Connection Refused</errorMessage>\n        </hostToControllerConnectionError>\n"
            for number in lost
        )
        if errors:
            errors = f"      <hostToControllerConnectionErrors>\n{errors}      </hostToControllerConnectionErrors>\n"
        rows += (
            f"    <hostConnStatus>\n      <hostId>host-{host}</hostId>\n"
            "      <nsxMgrToFirewallAgentConn>UP</nsxMgrToFirewallAgentConn>\n"
            "      <nsxMgrToControlPlaneAgentConn>UP</nsxMgrToControlPlaneAgentConn>\n"
            f"      <hostToControllerConn>{state}</hostToControllerConn>\n"
            f"      <fullSyncCount>-1</fullSyncCount>\n{errors}    </hostConnStatus>\n"
        )
    return f"<hostConnStatusList>\n  <hostConnStatuses>\n{rows}  </hostConnStatuses>\n</hostConnStatusList>\n"


def format_controller_status(site: Site, number: int) -> str:
    """Return the REST answer on one controller."""
    slow = number in site.slow
    own_time = count_millis(site.read_clock(f"controller-{number}", NOW))
    sync_time = count_millis(site.read_clock("manager", NOW))
    return (
        f"<controllerNodeStatus>\n  <id>controller-{number}</id>\n  <ipAddress>{CONTROLLERS[number]}</ipAddress>\n"
        f"  <syncTime>{sync_time}</syncTime>\n  <cpuCoreCount>4</cpuCoreCount>\n"
        "  <cpuLoadInfo>\n    <interval>1</interval>\n    <averageLoad>0.17</averageLoad>\n  </cpuLoadInfo>\n"
        "  <totalMemory>3924280</totalMemory>\n  <usedMemory>1542524</usedMemory>\n"
        f"  <systemTime>{own_time}</systemTime>\n  <upTime>1843388</upTime>\n"
        "  <nodeFailoverReady>true</nodeFailoverReady>\n  <nodeDiskLatencyStatus>\n    <deviceName>sda</deviceName>\n"
        f"    <refreshTime>{own_time}</refreshTime>\n    <latencyType>w_await</latencyType>\n"
        f"    <lastLatency>{'397.0' if slow else '1.4'}</lastLatency>\n"
        f"    <avgLatency>{'128.572' if slow else '2.1'}</avgLatency>\n"
        f"    <alertEnabled>{'true' if slow else 'false'}</alertEnabled>\n  </nodeDiskLatencyStatus>\n"
        "</controllerNodeStatus>\n"
    )


def count_millis(when: datetime) -> int:
    """Return a time as the REST API writes it."""
    return int(when.timestamp() * 1000)


def format_bundle_status(site: Site) -> str:
    """Return how the collection of the bundle went: a part that was left out is Skipped."""
    parts = [("NSX-Manager", "", "COMPLETED" if site.manager else "Skipped")]
    for number in CONTROLLERS:
        status = "Skipped" if number in site.off else "COMPLETED"
        parts.append(("Controller", f"controller-{number}", status))
    parts += [("HOSTSYSTEM", f"host-{number}", "COMPLETED") for number in HOSTS]
    rows = ""
    for kind, name, status in parts:
        rows += f"    <nodeLogStatus>\n      <nodeType>{kind}</nodeType>\n      <status>{status}</status>\n"
        if name:
            rows += (
                f"      <objectStatus>\n        <objectId>{name}</objectId>\n        <status>{status}</status>\n"
                "      </objectStatus>\n"
            )
        rows += "    </nodeLogStatus>\n"
    return f"<techSupportBundleStatus>\n  <nodeLogStatuses>\n{rows}  </nodeLogStatuses>\n</techSupportBundleStatus>\n"


# --- the controllers ---------------------------------------------------------------------------


def format_status_report(site: Site, number: int) -> str:
    """Return the session on a controller; the first that runs leads, and the others are connected to it."""
    apart = number in site.split
    running = site.list_running()
    leads = number == running[0] and number not in site.minority
    if site.split:
        known = [ip for other, ip in CONTROLLERS.items() if (other in site.split) == apart]
    else:
        known = list(CONTROLLERS.values())
    interfaces = (
        "nsx-controller # show network interface\n"
        "Interface       Address/Netmask     MTU     Admin-Status  Link-Status\n"
        f"breth0          {CONTROLLERS[number] + '/24':<20s}1500    UP            UP\n"
        "eth0                                1500    UP            UP\n"
    )
    return interfaces + format_controller_session(
        number,
        majority=NO_MAJORITY if number in site.minority else MAJORITY,
        since="10/02 08:31:16",
        cluster=OTHER_CLUSTER if apart else CLUSTER,
        known=known,
        followers=len(running) - 1 if leads else None,
    )


def format_controller_session(
    number: int,
    *,
    majority: str = MAJORITY,
    since: str = "09/18 08:45:16",
    cluster: str = CLUSTER,
    known: Iterable[str] = CONTROLLERS.values(),
    followers: int | None = None,
) -> str:
    """Return `show control-cluster …` of a controller that joined and has all roles activated.

    majority   its view of the majority, and since when
    known      addresses of its startup nodes
    followers  controllers connected to it, when it leads
    """
    prompt = "nsx-controller # "
    rule = "-" * 80 + "\n"
    line = "-" * 56 + "\n"
    roles = "".join(f"{role:<20s}enabled             activated\n" for role in ROLES)
    leads = "-" if followers is None else "Y"
    connected = "-" if followers is None else followers
    return (
        f"{prompt}show control-cluster status\n"
        f"Type                Status                                       Since\n{rule}"
        "Join status:        Join complete                                09/14 14:08:46\n"
        f"Majority status:    {majority:<45s}{since}\n"
        "Restart status:     This controller can be safely restarted      09/18 08:45:06\n"
        f"Cluster ID:         {cluster}\n"
        f"Node UUID:          b20ddc88-0000-49ad-b120-572c2310000{number}\n\n"
        f"Role                Configured status   Active status\n{rule}{roles}"
        f"{prompt}show control-cluster startup-nodes\n{', '.join(known)}\n"
        f"{prompt}show control-cluster connections\n"
        f"role                port            listening open conns\n{line}"
        f"api_provider        api/443         Y         1\n{line}"
        f"persistence_server  server/2878     {leads}         {connected}\n"
        f"                    client/2888     Y         3\n                    election/3888   Y         0\n{line}"
        f"switch_manager      ovsmgmt/6632    Y         0\n                    openflow/6633   Y         0\n{line}"
        "system              cluster/7777    Y         2\n"
    )


def make_controller_logs(site: Site, number: int) -> Files:
    """Return the logs of a controller; one with a slow disk loses its ZooKeeper again and again."""
    top = f"nsx-controller-{number}/var/log/cloudnet"
    java, glog = "", ""
    for minute in range(0, 110, 10):
        when = site.read_clock(f"controller-{number}", NOW - timedelta(minutes=120 - minute))
        java += f"{when:%Y-%m-%d %H:%M:%S},382 {47956539 + minute * 60000} "
        if number in site.slow:
            java += (
                "[SyncThread:1] WARN "
                "org.apache.zookeeper.server.persistence.FileTxnLog - fsync-ing the write ahead log in SyncThread:1 took "
                f"{1500 + minute * 10}ms which will adversely effect operation latency. See the ZooKeeper "
                "troubleshooting guide\n"
            )
            for later in (0, 3, 6):
                lost = when + timedelta(minutes=later)
                glog += f"D{lost:%m%d %H:%M:%S}.452639 1983 zookeeper_client.cc:774] Zookeeper client disconnected!\n"
        else:
            java += (
                "[main] INFO org.apache.zookeeper.server.quorum.QuorumPeer - (synthetic) all well\n"
            )
            glog += (
                f"D{when:%m%d %H:%M:%S}.452639 1983 rpc-broker.cc:369] Registering address resolution for: "
                f"{CONTROLLERS[number]}:7777\n"
            )
    return {
        f"{top}/cloudnet_java-zookeeper.20170911-000550.1806.log": java,
        f"{top}/cloudnet_cpp.log.INFO.20170911-000550.1774": glog,
    }


# --- the hosts and the Edge --------------------------------------------------------------------


def make_host_files(site: Site, number: int, top: str) -> Files:
    """Return the files of a host's support bundle, below its top folder."""
    name = f"esx{number}.lab.example"
    here = site.read_clock(name, NOW)
    vmkernel_log = "".join(
        f"{here - timedelta(minutes=minute):%Y-%m-%dT%H:%M:%S}.123Z cpu3:65912)(synthetic) nothing of note\n"
        for minute in range(110, 0, -10)
    )
    return {
        "README": bundle_readme(top, f"{here:%Y-%m-%d %H:%M:%S}", "(synthetic)\n"),
        "error.log": "",
        "etc/vmware/esx.conf": f'/adv/Misc/HostName = "{name}"\n',
        "commands/uname_-a.txt": (
            f"VMkernel {name} 6.5.0 #1 SMP Release build-5969303 Jul  6 2017 21:15:55 x86_64 x86_64 x86_64 ESXi\n"
        ),
        "commands/localcli_software-vib-list.txt": (
            "Name        Version                        Vendor  Acceptance Level  Install Date\n"
            "----------  -----------------------------  ------  ----------------  ------------\n"
            "esx-base    6.5.0-0.23.5969303             VMware  VMwareCertified   2017-08-01\n"
            f"esx-nsxv    {RELEASES[site.release][1]:<29s}  VMware  VMwareCertified   2017-08-12\n"
        ),
        "commands/localcli_network-ip-connection-list.txt": format_sockets(site, number),
        "commands/dump-vxlan-info.py.txt": format_vxlan(site, number),
        "commands/dump-vdr-info.sh.txt": format_routers(site, number),
        "var/run/log/vmkernel.log": vmkernel_log,
        "var/run/log/dfwpktlogs.log": format_packet_log(site, number),
    }


def format_sockets(site: Site, host: int) -> str:
    """Return `localcli network ip connection list`: the Manager, and each controller, reached or not."""
    reached = site.list_reached(host)
    rows = [("5671", MANAGER, "ESTABLISHED", "vsfwd")]
    rows += [("1234", CONTROLLERS[n], "ESTABLISHED", "netcpa-worker") for n in reached]
    for number, ip in CONTROLLERS.items():
        if number not in reached:
            rows.append(("1234", ip, "SYN_SENT", "netcpa-worker"))
    text = (
        "Proto  Recv Q  Send Q  Local Address                   Foreign Address       State        World ID  CC Algo  World Name\n"
        "-----  ------  ------  ------------------------------  --------------------  -----------  --------  -------  ---------------\n"
    )
    for index, (port, ip, state, world) in enumerate(rows):
        local = f"{HOSTS[host]}:{43000 + index}"
        foreign = f"{ip}:{port}"
        text += f"tcp         0       0  {local:<30s}  {foreign:<20s}  {state:<11s}     44923  newreno  {world}\n"
    return text


def format_vxlan(site: Site, host: int) -> str:
    """Return `net-vdl2 -l` with three networks, each served by a controller."""
    reached = site.list_reached(host)
    text = (
        "VXLAN Global States:\n"
        f"\tControl plane Out-Of-Sync:\t{'No' if reached else 'Yes'}\n\tUDP port:\t8472\nVXLAN VDS:\tLab_DVS\n"
        "\tVDS ID:\t1c ec 0e 50 02 9c a9 21-b6 d8 d0 fc 73 e5 79 01\n\tMTU:\t1600\n\tSegment ID:\t198.51.100.0\n"
        "\tGateway IP:\t198.51.100.1\n\tGateway MAC:\t00:50:56:0a:48:7d\n\tVmknic count:\t1\n\t\tVXLAN vmknic:\tvmk3\n"
        f"\t\t\tVDS port ID:\t905\n\t\t\tSwitch port ID:\t50331656\n\t\t\tEndpoint ID:\t0\n\t\t\tVLAN ID:\t120\n"
        f"\t\t\tIP:\t\t198.51.100.{host}\n\t\t\tNetmask:\t255.255.255.0\n\t\t\tSegment ID:\t198.51.100.0\n"
        "\tNetwork count:\t3\n"
    )
    for controller in CONTROLLERS:
        if controller in reached or not reached:
            serving = controller
        else:
            serving = reached[0]
        state = "up" if reached else "down"
        text += (
            f"\t\tVXLAN network:\t{5000 + controller}\n\t\t\tMulticast IP:\tN/A (headend replication)\n"
            "\t\t\tControl plane:\tEnabled (multicast proxy,ARP proxy)\n"
            f"\t\t\tController:\t{CONTROLLERS[serving]} ({state})\n\t\t\tMAC entry count:\t1\n"
            "\t\t\tARP entry count:\t0\n\t\t\tPort count:\t1\n"
        )
    return text


def format_routers(site: Site, host: int) -> str:
    """Return `dump-vdr-info.sh`: the logical router, and its ARP table as often as the dump holds it."""
    reached = site.list_reached(host)
    table = f"VDR default+edge-2:1460487509 ARP Information :\n{ARP_LEGEND}"
    for number in range(site.arp):
        address = f"10.{number // 62500}.{number // 250 % 250}.{number % 250 + 1}"
        mac = f"00:50:56:{number >> 16:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
        table += f"{address:<18s}{mac}    V          311        50331658   570d45550000000c 2\n"
    return (
        "VDR Instance Information :\n---------------------------\n\n"
        "Vdr Name:                   default+edge-2\nVdr Id:                     1460487509\n"
        "Number of Lifs:             3\nNumber of Routes:           5\nState:                      Enabled\n"
        f"Controller IP:              {CONTROLLERS[min(reached, default=1)]}\nControl Plane IP:           {HOSTS[host]}\n"
        f"Control Plane Active:       {'Yes' if reached else 'No'}\nNum unique nexthops:        1\nGeneration Number:          0\n"
        f"Edge Active:                No\n\n{table * site.arp_printed}"
    )


def format_packet_log(site: Site, host: int) -> str:
    """Return dfwpktlogs.log: a VM of the first host opens connections to one of the second."""
    receives = host == max(HOSTS)
    text = ""
    for number in range(20):
        sent = NOW - timedelta(minutes=100 - 4 * number)
        when = site.read_clock(f"esx{host}.lab.example", sent)
        millis = 200 + 7 * number
        if receives:
            millis += 1 + number * 5 % 13
        text += (
            f"{when:%Y-%m-%dT%H:%M:%S}.{millis:03d}Z 58734 INET match PASS domain-c8/1006 "
            f"{'IN' if receives else 'OUT'} 60 TCP 203.0.113.11/{36000 + number}->203.0.113.12/22 S\n"
        )
    return text


def format_edge_session(unit: int) -> str:
    """Return the session on a unit of the Edge: 0 is active, 1 is the standby."""
    own = f"edge-1-{unit}"
    peer = f"edge-1-{1 - unit}"
    return (
        f"{own}> show service highavailability\n"
        f"Highavailability Status:             running\nHighavailability Unit Name:          {own}\n"
        f"Highavailability Unit State:         {('active', 'standby')[unit]}\n"
        "Highavailability Interface(s):       vNic_0 \n"
        "Unit Poll Policy:\n   Frequency:                      3     seconds\n"
        "   Deadtime:                       15    seconds\n   Stateful Sync-up Time:          10    seconds\n"
        f"Highavailability Healthcheck Status:\n   Peer host [{peer}]: good\n   This host [{own}]: good\n"
        "Highavailability Stateful Logical Status:\n   File-Sync                       running\n"
        "   Connection-Sync                 running\n      xmit       xerr       rcv        rerr      \n"
        "      11020484   0          10994648   0\n"
    )


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


def make_state(name: str, release: str = "") -> Files:
    """Return the files of a site in a state; `release` is that of the site unless the state has its own."""
    site = STATES[name]
    return make_files(replace(site, release=release) if release else site)


# --- the control plane alone -------------------------------------------------------------------

RUNNING, UNKNOWN = ("RUNNING",) * 3, ("UNKNOWN",) * 3


def make_control_plane(
    states: Sequence[str] = RUNNING,
    sessions: Sequence[str] | None = None,
    hosts: Sequence[str] = (),
    log: str = "",
    version: str = "6.3.3 Build 6276725",
) -> Files:
    """Return what the Manager and the controllers of a site print.

    states    of the controllers, as the Manager lists them
    sessions  what controllers 1, 2, … printed; all of them healthy where not given
    hosts     state of the connection from each host to the controllers; no answer in the case where empty
    """
    files: Files = {
        "nsxmgr01.tgz": pack_manager("nsxmgr01-techsupport", version, log or format_quiet_log())
    }
    if set(states) == {"RUNNING"}:
        # Of `show controller list all` only lines with RUNNING are public; the other states are those of the API.
        rows = "".join(f"controller-{n}    {ip}      RUNNING\n" for n, ip in CONTROLLERS.items())
        files["central-cli.txt"] = f"nsxmgr01> show controller list all\n{rows}"
    else:
        files["controllers.xml"] = format_controllers(dict(enumerate(states, 1)))
    if sessions is None:
        sessions = [session_of(number) for number in CONTROLLERS]
    for number, text in enumerate(sessions, 1):
        files[f"controller-{number}.txt"] = text
    if hosts:
        files["hosts.xml"] = format_host_connections(
            {number: (state, ()) for number, state in enumerate(hosts, 41)}
        )
    return files


def session_of(number: int, majority: str = MAJORITY, cluster: str = CLUSTER) -> str:
    """Return what one of three controllers prints of itself; the first leads."""
    followers = 2 if number == 1 else None
    return format_controller_session(
        number, majority=majority, cluster=cluster, followers=followers
    )


def format_quiet_log() -> str:
    """Return vsm.log of an ordinary morning."""
    return "".join(
        f"2017-10-02 07:{minute:02d}:11.101 GMT+00:00  INFO TaskFrameworkExecutor-{minute % 9} InventoryUpdater:88 - inventory sync done\n"
        for minute in range(20)
    )


def format_restarted_log() -> str:
    """Return vsm.log of a Manager that was restarted: Tomcat's line of the start."""
    return f"{format_quiet_log()}2017-10-02 08:00:00.412 GMT+00:00  INFO {SERVER_STARTED}\n"


def format_failing_log() -> str:
    """Return vsm.log of a Manager that was restarted and whose calls to the controllers fail since."""
    text = format_restarted_log()
    for minute in (5, 6, 7, 8):
        for number, ip in CONTROLLERS.items():
            text += (
                f"2017-10-02 08:{minute:02d}:{number * 7:02d}.000 GMT+00:00 ERROR NvpStatusCheck-{number} NvpStatusCheck:120 - "
                f"controller-{number} {ip}: API call failed (synthetic sample line)\n"
            )
    return text


def format_hosts_lost_log() -> str:
    """Return vsm.log with the event 1941 of two hosts."""
    text = format_quiet_log()
    for n in (1, 2):
        event = describe_host_connection(40 + n, 1941, "DOWN")
        text += f"2017-10-02 08:0{n}:34.736 GMT+00:00  WARN {event}\n"
    return text


def _make_restarted(*sessions: str, host_state: str = "UP") -> Files:
    """Return the control plane after a restart of the Manager, which reaches no controller."""
    return make_control_plane(UNKNOWN, sessions, (host_state,) * 2, format_restarted_log())


# Name of a state -> the files of a control plane in it.
CONTROL_PLANES: dict[str, Callable[[], Files]] = {
    "healthy": lambda: make_control_plane(hosts=("UP", "UP")),
    "struck after a restart of the Manager": lambda: _make_restarted(
        session_of(1), session_of(2), session_of(3)
    ),
    "one controller down": lambda: make_control_plane(
        ("RUNNING", "UNKNOWN", "RUNNING"), [session_of(1), session_of(3)], ("UP", "UP")
    ),
    "majority lost": lambda: _make_restarted(
        session_of(1, majority=NO_MAJORITY), host_state="DOWN"
    ),
    "three cluster ids": lambda: _make_restarted(
        session_of(1),
        session_of(2, cluster=OTHER_CLUSTER),
        session_of(3, cluster=THIRD_CLUSTER),
    ),
    "one view of three": lambda: _make_restarted(session_of(1)),
    "a view that breaks off": lambda: _make_restarted(
        session_of(1), session_of(2), session_of(3).partition("switch_manager")[0]
    ),
    "hosts lost the controllers (REST)": lambda: make_control_plane(
        UNKNOWN, hosts=("DOWN", "DOWN")
    ),
    "hosts lost the controllers (1941)": lambda: make_control_plane(
        UNKNOWN, log=format_hosts_lost_log()
    ),
    "lines of nvpstatuscheck alone": lambda: make_control_plane(
        UNKNOWN, [], log=format_failing_log()
    ),
    "one is deployed, one removed": lambda: make_control_plane(
        ("RUNNING", "DEPLOYING", "REMOVING")
    ),
    "fixed release": lambda: make_control_plane(
        UNKNOWN, hosts=("UP", "UP"), version="6.3.4 Build 6845891"
    ),
}


def main(write: Callable[[str], None] = print) -> None:
    """Write the files of a state into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("state", choices=STATES)
    parser.add_argument("--release", default="", choices=["", *RELEASES])
    parser.add_argument("-o", dest="folder", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, body in make_state(options.state, options.release).items():
        (options.folder / name).write_bytes(body if isinstance(body, bytes) else body.encode())
    write(f"{options.state}: {options.folder}")


if __name__ == "__main__":
    main()
