"""An NSX-T site of three managers and two edges in the states it can be in: bundles, and what their CLI then prints.

Formats: the NSX CLI guide (get cluster status verbose, get services, get filesystem-stats, get bgp neighbor summary,
get bfd-sessions, get neighbor, get edge-cluster status, get managers, get controllers, get transport-nodes status,
get core-dumps, get dataplane cpu stats, get dataplane memory stats, get physical-port stats), the schema TransportNodeStatus of the REST
API, the list of support bundle paths of VCF 9, RFC 5424 with the
structured data of NSX. The names of the archives are our own: no public source has them. Everything is synthetic.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from tools.case_pack import Files, pack_tar, tgz

CLUSTER = "18807edd-0000-4107-b7b7-508d766a0001"
GROUPS = (
    "DATASTORE",
    "CLUSTER_BOOT_MANAGER",
    "CONTROLLER",
    "MANAGER",
    "POLICY",
    "HTTPS",
    "CORFU_NONCONFIG",
)
SERVICES = (
    "auth",
    "cluster_manager",
    "controller",
    "datastore",
    "http",
    "manager",
    "node-mgmt",
    "search",
    "ssh",
    "syslog",
)
EDGE_SERVICES = (
    "controller",
    "dataplane",
    "local-controller",
    "node-mgmt",
    "nsx-message-bus",
    "ssh",
    "syslog",
)
STOPPED = {"snmp"}  # of a healthy node
HOSTS = ("192.0.2.71", "192.0.2.72")


def name_manager(n: int) -> str:
    """Return the name of a manager."""
    return f"nsxt-mgr-0{n}"


def name_edge(n: int) -> str:
    """Return the name of an edge."""
    return f"nsxt-edge-0{n}"


def make_uuid(kind: str, n: int) -> str:
    """Return the id of a node: a manager, its controller, an edge, a host, a router."""
    return f"{ {'manager': '43cd0642', 'controller': '7b1c9952', 'edge': 'bed20842', 'host': '862e6ce4', 'router': '0b0e6f5c'}[kind] }-0000-4900-b68b-ca862aa4000{n}"


# --- logs --------------------------------------------------------------------------------------


def format_line(
    clock: str, host: str, data: str, text: str, msgid: str = "SYSTEM", level: str = "INFO"
) -> str:
    """Return a line of the syslog of 2023-03-01; data: pairs next to the level."""
    return f'2023-03-01T{clock}Z {host} NSX 3101 {msgid} [nsx@6876 {data} level="{level}"] {text} (synthetic)\n'


def format_quiet_log(host: str, role: str, hours: Sequence[int] = range(2, 10)) -> str:
    """Return the syslog of an ordinary morning; programs that are no part of NSX write there too."""
    found = []
    for hour in hours:
        clock = f"{hour:02d}:00:0{hour % 10}.120"
        found.append(
            format_line(
                clock,
                host,
                f'comp="{role}" subcomp="node-mgmt" username="root"',
                "No change in timezone",
            )
        )
        found.append(
            f"2023-03-01T{hour:02d}:17:01.000Z {host} systemd 1 - - Started Session {hour} of user root.\n"
        )
        found.append(
            format_line(
                f"{hour:02d}:30:00.500", host, f'comp="{role}" subcomp="http"', "request served"
            )
        )
    return "".join(found)


def format_alarm(clock: str, host: str, event: str, state: str, text: str, of: str) -> str:
    """Return the line that a node writes when an alarm opens or ends; of: the id of the node it is about."""
    data = f'comp="nsx-manager" subcomp="monitoring" eventType="{event}" alarmState="{state}" entId="{of}"'
    return format_line(
        clock, host, data, text, "MONITORING", "FATAL" if state == "OPEN" else "INFO"
    )


# --- what the CLI prints -----------------------------------------------------------------------


def format_session(host: str, outputs: Mapping[str, str]) -> str:
    """Return a terminal session: each command below the prompt of the node, with what it printed."""
    return "".join(f"{host}> {command}\n{text.rstrip()}\n\n" for command, text in outputs.items())


def format_version(build: int) -> str:
    """Return `get version`."""
    return f"VMware NSX Software, Version 4.1.0.2.0.{build}\nTechnical Support: https://support.broadcom.com\n"


def cluster_status(
    down: Sequence[int] = (), groups: Sequence[str] = GROUPS, status: str = "DEGRADED"
) -> str:
    """Return `get cluster status verbose`: managers that are down in some groups, and the status of these."""
    text = f"Cluster Id: {CLUSTER}\nOverall Status: {status if down else 'STABLE'}\n"
    for group in GROUPS:
        lost = down if group in groups else ()
        text += f"\nGroup Type: {group}\nGroup Status: {status if lost else 'STABLE'}\n\nMembers:\n"
        text += f"    {'UUID':<43}{'FQDN':<43}{'IP':<17}STATUS\n"
        for n in (1, 2, 3):
            member = make_uuid("controller" if group == "CONTROLLER" else "manager", n)
            name = f"{name_manager(n)}.lab.example"
            state = "DOWN" if n in lost else "UP"
            text += f"    {member:<43}{name:<43}{f'192.0.2.4{n}':<17}{state}\n"
        text += f"\nLeaders:\n    {'SERVICE':<43}{'LEADER':<41}LEASE VERSION\n"
        text += f"    {'cluster-manager':<43}{make_uuid('manager', 1):<41}129\n"
    return text


def certificate_text(n: int, until: str = "Apr  1 09:00:00 2025") -> str:
    """Return `get certificate api text` below the date that the command line prints."""
    name = f"CN={name_manager(n)}.lab.example, O=synthetic"
    return (
        "Wed Mar 01 2023 UTC 09:30:00.120\nCertificate:\n    Data:\n"
        f"        Issuer: {name}\n        Validity\n            Not Before: Apr  1 09:00:00 2022 GMT\n"
        f"            Not After : {until} GMT\n        Subject: {name}\n"
    )


def service_states(names: Sequence[str], stopped: Sequence[str] = ()) -> str:
    """Return `get services`."""
    return "\n".join(
        f"Service name:            {name}\nService state:           {'stopped' if name in stopped or name in STOPPED else 'running'}\n"
        for name in (*names, "snmp")
    )


def filesystem_stats(log_pct: int = 35, config_pct: int = 1) -> str:
    """Return `get filesystem-stats`."""
    rows = (
        ("udev", "7.9G", "4.0K", "7.9G", 1, "/dev"),
        ("/dev/sda2", "11G", "4.7G", "5.0G", 49, "/"),
        (
            "/dev/mapper/nsx-var+log",
            "27G",
            f"{27 * log_pct // 100}G",
            f"{27 - 27 * log_pct // 100}G",
            log_pct,
            "/var/log",
        ),
        ("/dev/mapper/nsx-config", "29G", "48M", "28G", config_pct, "/config"),
        ("/dev/mapper/nsx-secondary", "98G", "230M", "93G", 1, "/nonconfig"),
        ("/dev/mapper/nsx-image", "42G", "39G", "3.0G", 93, "/image"),
    )
    return f"{'Filesystem':<27}{'Size':>5}{'Used':>6}{'Avail':>6} Use% Mounted on\n" + "".join(
        f"{device:<27}{size:>5}{used:>6}{free:>6}{pct:>4}% {mount}\n"
        for device, size, used, free, pct, mount in rows
    )


def transport_nodes(view: int, off: Sequence[int] = ()) -> str:
    """Return `get transport-nodes status` of a manager: a node is OPENED on the controller that serves it.

    view  the manager that prints it; off: managers whose nodes the others serve
    """
    text = (
        f"{'TransportNode-ID':<40}{'Remote-Address':<24}{'Controller':<40}{'Manager':<17}"
        f"{'SSL-Enabled':<13}{'Connection-State':<18}Supported-Versions\n"
    )
    up = [n for n in (1, 2, 3) if n not in off]
    for n, (kind, number) in enumerate((("host", 1), ("host", 2), ("edge", 1), ("edge", 2))):
        by = up[n % len(up)]
        if by == view:
            remote = f"192.0.2.7{n}:4527{n}"
            state = "OPENED"
            words = "[4.1, 4.0, 3.2]"
        else:
            remote, state, words = ("", "CLOSED", "[]")
        text += f"{make_uuid(kind, number):<40}{remote:<24}{make_uuid('controller', by):<40}{f'192.0.2.4{by}':<17}{'true':<13}"
        text += f"{state:<18}{words}\n"
    return text


def managers_of_node(lost: Sequence[int] = ()) -> str:
    """Return `get managers` of an edge."""
    return "".join(
        f"- 192.0.2.4{n}   {'Disconnected' if n in lost else 'Connected'}\n" for n in (1, 2, 3)
    )


def controllers_of_node(n: int, off: Sequence[int] = ()) -> str:
    """Return `get controllers` of an edge: the controller that has it as OPENED serves it (`transport_nodes`)."""
    up = [one for one in (1, 2, 3) if one not in off]
    serves = up[(n + 1) % len(up)]
    text = (
        "Controller IP    Port     SSL         Status       Is Physical Master   Session State  "
        "Controller FQDN          Failure Reason\n"
    )
    for number in (1, 2, 3):
        if number == serves:
            state = ("connected", "true", "up")
        else:
            state = ("not used", "false", "null")
        if number == serves:
            address = f"192.0.2.4{number}"
            name = f"{name_manager(number)}.lab.example"
        else:
            address, name = ("NA", "NA")
        text += f"{address:<17}{1235:<9}{'enabled':<12}{state[0]:<13}{state[1]:<21}{state[2]:<15}{name:<25}NA\n"
    return text


def edge_cluster(n: int, lost: Sequence[int] = ()) -> str:
    """Return `get edge-cluster status` of an edge; lost: edges that are without tunnels."""
    if n in lost:
        state = ("Inactive", "Down", "Down", "Down")
    else:
        state = ("Active", "Up", "Up", "Up")
    peer = "Down" if lost else "Up"
    return (
        f"High Availability State    : {state[0]}\nSince                      : 2023-03-01 09:41:07.50\n"
        f"Edge Node Id               : {make_uuid('edge', n)}\nEdge Node Status           : {state[1]}\n"
        f"Admin State                : Up\nVtep State                 : {state[2]}\nConfiguration              : applied\n"
        "Health Check Config        :\n    Interval               : 1000 msec\n    Deadtime               : 3000 msec\n"
        "    Max Hops               : 255\nService Status             :\n    Datapath Config Channel : Up\n"
        f"    Datapath Status Channel : Up\n    Routing Status Channel  : Up\n    Routing Status          : {state[3]}\n"
        f"Peer Status                :\n    Node Id                : {make_uuid('edge', 3 - n)}\n"
        f"    Node Status            : {peer}\n    Healthcheck Sessions   :\n        Interface          : eth0\n"
        f"        Session            : 192.0.2.5{n}:192.0.2.5{3 - n}\n        Status             : Up\n"
        "        Interface          : vtep-0\n        Device             : fp-eth0\n"
        f"        Session            : 198.51.100.1{n}:198.51.100.1{3 - n}\n        Status             : {peer}\n"
    )


def dataplane_cpu() -> str:
    """Return `get dataplane cpu stats verbose`: a core that forwards, and one that polls for the control path."""
    return (
        "CPU Usage\nBusy_pollrounds     : 91\nCore                : 0\nCpu_type            : datapath_core\n"
        "Crypto              : 0 pps\nRx                  : 8123 pps\nSlowpath            : 2 pps\n"
        "Tx                  : 8120 pps\nUsage               : 3.5%\n\nCore                : 1\n"
        "Cpu_type            : controlpath_core\nUsage               : 100.0%\n"
    )


def dataplane_memory() -> str:
    """Return `get dataplane memory stats`."""
    return (
        "Memory Usage\nAvailable_entries   : 55712\nAvailable_entries_in_cache: 39\nCache_size_per_core : 128\n"
        "Name                : mbuf_pool_socket_0\nPer_core_cache\n    Available_entries   : 39\n"
        "    Core_id             : 0\nSize                : 56704\n"
    )


def port_stats(missed: int = 0) -> str:
    """Return `get physical-port fp-eth0 stats`."""
    counters = {
        "RX_BYTES": 74468900,
        "RX_ERRORS": 0,
        "RX_MISSES": missed,
        "RX_NOMBUFS": 0,
        "RX_PACKETS": 898400,
    }
    counters |= {"TX_BYTES": 714000, "TX_DROPS": 0, "TX_ERRORS": 0, "TX_PACKETS": 17000}
    rows = "".join(f"{name:<20}: {count}\n" for name, count in counters.items())
    return f"Physical Port Stats\n{'NAME':<20}: fp-eth0\n{rows}"


def hosts_rest() -> str:
    """Return the answer of the REST API for the hosts: all of them are up."""
    nodes = []
    for n in (1, 2):
        nodes.append(
            {
                "node_uuid": make_uuid("host", n),
                "status": "UP",
                "mgmt_connection_status": "UP",
                "control_connection_status": {"status": "UP"},
                "pnic_status": {"status": "UP", "down_count": 0},
                "tunnel_status": {"status": "UP"},
            }
        )
    return json.dumps({"results": nodes}, indent=2) + "\n"


def bgp_summary(down: Sequence[str] = ()) -> str:
    """Return `get bgp neighbor summary` of a tier-0 gateway with two neighbours."""
    text = (
        "BFD States: NC - Not configured, DC - Disconnected\n            AD - Admin down, DW - Down, IN - Init, UP - Up\n"
        "BGP summary information for VRF default for address-family: ipv4Unicast\n"
        "Router ID: 192.0.2.129  Local AS: 65000\n\n"
        f"{'Neighbor':<36}{'AS':<12}State Up/DownTime  BFD InMsgs  OutMsgs InPfx  OutPfx\n\n"
    )
    for neighbor in ("192.0.2.130", "192.0.2.134"):
        lost = neighbor in down
        text += f"{neighbor:<36}{65001:<12}{'Activ' if lost else 'Estab'} {'00:12:03' if lost else '12d01h27m':<13}{'DW' if lost else 'UP':<4}"
        text += f"{17980:<8}{15340:<8}{0 if lost else 2:<7}{0 if lost else 3}\n"
    return text


def bfd_sessions(
    own: str,
    peers: Sequence[str],
    down: Sequence[str] = (),
    diag: str = "Control Detection Time Expired",
) -> str:
    """Return `get bfd-sessions`: a tunnel to each peer."""
    text = ""
    for peer in peers:
        lost = peer in down
        cells = {
            "Dest_port": "3784",
            "Diag": diag if lost else "No Diagnostic",
            "Encap": "geneve",
            "Forwarding": "last false (current false)" if lost else "last true (current true)",
            "Last_down_time": "2023-03-01 09:41:07" if lost else "2023-02-12 01:00:00",
            "Last_up_time": "2023-02-12 01:00:03",
            "Local_address": own,
            "Remote_address": peer,
            "Remote_diag": "No Diagnostic",
            "Remote_state": "down" if lost else "up",
            "Rx_interval": "1000",
            "Session_type": "TUNNEL",
            "State": "down" if lost else "up",
            "Tx_interval": "1000",
        }
        text += (
            "BFD Session\n"
            + "".join(f"{label:<30}: {value}\n" for label, value in cells.items())
            + "\n"
        )
    return text


def router_ha(n: int) -> str:
    """Return `get high-availability status` of the service router on an edge; the first edge forwards."""
    if n == 1:
        own, peer = ("Active", "Standby")
    else:
        own, peer = ("Standby", "Active")
    return (
        f"Service Router\nUUID            : {make_uuid('router', n)}\nstate           : {own}\ntype            : TIER0\n"
        f"mode            : A/S\nHA ports state\n    op_state    : {'Up' if n == 1 else 'Down'}\n"
        f"Peer Routers\n    Node UUID   : {make_uuid('edge', 3 - n)}\n    HA state    : {peer}\n"
    )


def vpn_sessions() -> dict[str, str]:
    """Return the outputs about VPNs of an edge with a session of each kind, both up."""
    carrier = make_uuid("router", 7)
    return {
        "get ipsecvpn session": f"Total Number of Sessions: 1\n\nIKE Session ID : 3\nUUID           : {carrier}\n"
        "Local IP       : 203.0.113.9          Peer IP        : 203.0.113.10\nSession Status : Up\n"
        "Policy Rules\n    Tunnel Status  : Up\n",
        "get l2vpn session": f"Session       : {carrier}\nTunnel        : {make_uuid('router', 8)}\nIPSEC Session : {carrier}\nStatus        : UP\n",
    }


def tunnel_stats(n: int) -> str:
    """Return `get tunnel-ports stats` of an edge that drops nothing."""
    return f"""Tunnel      : {make_uuid("router", n)[:-5]}f{n}0a1
RX-Packets  : 1201
RX-Drops    : 0
TX-Packets  : 3331
TX-Drops    : 0
No-Memory   : 0
No-Route    : 0
"""


def neighbor_table(peer: str) -> str:
    """Return `get neighbor` in the VRF of the tunnels of an edge: a neighbour that answers."""
    return f"""Logical Router
UUID    : {make_uuid("router", 1)}
VRF     : 0
LR-ID   : 0
Name    :
Type    : TUNNEL
Neighbor
   Interface : {make_uuid("router", 9)}
   IP        : {peer}
   MAC       : 00:50:56:00:00:01
   State     : reach
   Timeout   : 37
"""


def logical_routers(n: int) -> str:
    """Return `get logical-routers` of an edge with room in its neighbour tables."""
    head = "UUID                                   VRF    LR-ID  Name       Type                   Ports   Neighbors"
    return f"Logical Router\n{head}\n{make_uuid('router', n)}   1      2      SR-tier0   SERVICE_ROUTER_TIER0   6       2/50000\n"


# --- the site ----------------------------------------------------------------------------------


def manager_bundle(n: int, log: str) -> tuple[str, bytes]:
    """Return name and bytes of a manager's archive."""
    top, host = f"manager-{n}", name_manager(n)
    files: Files = {
        f"{top}/var/log/syslog": log,
        f"{top}/var/log/proton/nsxapi.log": format_line(
            "03:00:00.000", host, 'comp="nsx-manager" subcomp="manager"', "sync done"
        ),
        f"{top}/var/log/corfu/corfu.9000.log": "2023-03-01T03:00:00.404Z | INFO  | main | o.c.infrastructure.Server | ready (synthetic)\n",
        f"{top}/var/log/corfu/jvm/gc.log": "2023-03-01T03:00:00.504+0000: Total time for which application threads were stopped: 0.0061 seconds\n",
        f"{top}/var/log/cbm/cbm.log": format_line(
            "03:00:01.000", host, 'comp="cluster-boot-manager" subcomp="step"', "ready"
        ),
        f"{top}/var/log/proxy/reverse-proxy.log": "2023-03-01T03:00:02.000Z INFO started (synthetic)\n",
    }
    return f"nsx_manager_{make_uuid('manager', n)}.tgz", tgz(files)


def edge_bundle(n: int, log: str, routing: str = "") -> tuple[str, bytes]:
    """Return name and bytes of an edge's archive."""
    top = f"edge-{n}"
    quiet_frr = "2023/03/01 02:00:01 ZEBRA: client 12 says hello (synthetic)\n"
    files: Files = {f"{top}/var/log/syslog": log, f"{top}/var/log/frr/frr.log": quiet_frr + routing}
    return f"nsx_edge_{make_uuid('edge', n)}.tgz", tgz(files)


def manager_cli(n: int, off: Sequence[int] = (), **others: str) -> str:
    """Return what was typed on a manager; others: outputs that differ from those of a healthy one."""
    outputs = {
        "get version": format_version(21761691),
        "get cluster status verbose": cluster_status(),
        "get services": service_states(SERVICES),
        "get filesystem-stats": filesystem_stats(),
        "get core-dumps": "Directory: /var/log/core\n",
        "get transport-nodes status": transport_nodes(n, off),
        "get managers": managers_of_node(off),
        "get certificate api text": certificate_text(n),
    }
    asked = format_session(
        name_manager(n),
        {command: others.get(name_output(command), text) for command, text in outputs.items()},
    )
    calls = {
        "transport-nodes/status": hosts_rest(),
        "alarms": '{"results": [], "result_count": 0}\n',
        f"transport-nodes/{make_uuid('edge', 1)}/tunnels": '{"tunnels": [], "result_count": 0}\n',
    }
    shell = f"root@{name_manager(n)}:~# curl -k -u admin https://localhost/api/v1/"
    return asked + "".join(f"{shell}{path}\n{text}\n" for path, text in calls.items())


def edge_cli(n: int, off: Sequence[int] = (), **others: str) -> str:
    """Return what was typed on an edge."""
    own = f"198.51.100.1{n}"
    peer = f"198.51.100.1{3 - n}"
    outputs = {
        "get version": format_version(21761695),
        "get services": service_states(EDGE_SERVICES),
        "get filesystem-stats": filesystem_stats(),
        "get core-dumps": "Directory: /var/log/core\n",
        "get managers": managers_of_node(off),
        "get controllers": controllers_of_node(n, off),
        "get edge-cluster status": edge_cluster(n),
        "get bgp neighbor summary": bgp_summary(),
        "get bfd-sessions": bfd_sessions(own, [peer, "198.51.100.21", "198.51.100.22"]),
        "get dataplane cpu stats verbose": dataplane_cpu(),
        "get dataplane memory stats": dataplane_memory(),
        "get physical-port fp-eth0 stats": port_stats(),
        "get physical-port fp-eth0": "Physical Port\nADMIN_STATUS : up\nLINK : up\n",
        "get high-availability status": router_ha(n),
        "get tunnel-ports stats": tunnel_stats(n),
        "get logical-routers": logical_routers(n),
        "get neighbor": neighbor_table(peer),
        **vpn_sessions(),
    }
    return format_session(
        name_edge(n),
        {command: others.get(name_output(command), text) for command, text in outputs.items()},
    )


def name_output(command: str) -> str:
    """Return the word of a command by which a state names its output."""
    return command.removeprefix("get ").replace("-", "_").replace(" ", "_")


def make_site(
    managers: Mapping[int, Mapping[str, str]] | None = None,
    edges: Mapping[int, Mapping[str, str]] | None = None,
    logs: Mapping[str, str] | None = None,
    off: Sequence[int] = (),
) -> Files:
    """Return the files of a site.

    managers, edges  outputs of the CLI that differ from those of a healthy node, by the node's number
    logs             lines added to the syslog of a node, by its name
    off              managers that send nothing
    """
    nodes: Files = {}
    files: Files = {}
    for n in (1, 2, 3):
        if n not in off:
            name, body = manager_bundle(
                n,
                _merge_log(format_quiet_log(name_manager(n), "nsx-manager"), logs, name_manager(n)),
            )
            nodes[name] = body
            files[f"{name_manager(n)}.txt"] = manager_cli(n, off, **(managers or {}).get(n, {}))
    for n in (1, 2):
        name, body = edge_bundle(
            n, _merge_log(format_quiet_log(name_edge(n), "nsx-edge"), logs, name_edge(n))
        )
        nodes[name] = body
        files[f"{name_edge(n)}.txt"] = edge_cli(n, off, **(edges or {}).get(n, {}))
    return {"nsx-support-bundle.tar": pack_tar(nodes), **files}


def _merge_log(log: str, logs: Mapping[str, str] | None, node: str) -> str:
    """Return a log with further lines of a node, in order of time."""
    return "".join(sorted((log + (logs or {}).get(node, "")).splitlines(keepends=True)))


def manager_down() -> Files:
    """Return the site with the third manager powered off: the others and the edges see it."""
    seen = {"cluster_status_verbose": cluster_status([3])}
    return make_site(managers={1: seen, 2: seen}, off=[3])


def edge_cut_off() -> Files:
    """Return the site with an edge that lost its tunnels and its BGP neighbours; the other edge lost the one to it."""
    peers = ["198.51.100.12", "198.51.100.21", "198.51.100.22"]
    lost = {
        "bfd_sessions": bfd_sessions("198.51.100.11", peers, peers),
        "bgp_neighbor_summary": bgp_summary(["192.0.2.130", "192.0.2.134"]),
        "edge_cluster_status": edge_cluster(1, [1]),
    }
    other = {
        "bfd_sessions": bfd_sessions(
            "198.51.100.12", ["198.51.100.11", *peers[1:]], ["198.51.100.11"]
        ),
        "edge_cluster_status": edge_cluster(2, [1]),
    }
    log = "".join(
        format_line(
            f"09:41:07.{n}00", name_edge(1), 'comp="nsx-edge" subcomp="nsxa" s2comp="tunnel"',
            f"Tunnel 198.51.100.11:{peer}(geneve) state updated from up to down", "FABRIC", "WARN",
        )
        for n, peer in enumerate(peers, 1)
    )  # fmt: skip
    opened = format_alarm(
        "09:46:00.000",
        name_manager(1),
        "edge_tunnels_down",
        "OPEN",
        "The tunnels of an edge are down",
        make_uuid("edge", 1),
    )
    return make_site(edges={1: lost, 2: other}, logs={name_edge(1): log, name_manager(1): opened})


def certificate_and_disk() -> Files:
    """Return the site with a manager whose certificate expired and whose log partition is full."""
    own = make_uuid("manager", 2)
    log = format_alarm(
        "08:00:00.000",
        name_manager(2),
        "certificate_expired",
        "OPEN",
        "A certificate has expired",
        own,
    )
    log += format_alarm(
        "08:05:00.000",
        name_manager(2),
        "manager_disk_usage_very_high",
        "OPEN",
        "Disk usage of /var/log is 97%",
        own,
    )
    log += format_alarm(
        "07:00:00.000",
        name_manager(2),
        "password_expired",
        "OPEN",
        "The password of audit has expired",
        own,
    )
    log += format_alarm(
        "07:30:00.000",
        name_manager(2),
        "password_expired",
        "RESOLVED",
        "The password of audit was changed",
        own,
    )
    differs = {
        "filesystem_stats": filesystem_stats(97),
        "services": service_states(SERVICES, ["search"]),
    }
    return make_site(managers={2: differs}, logs={name_manager(2): log})


# Name of a state -> the files of a site in it.
STATES: dict[str, Callable[[], Files]] = {
    "healthy": make_site,
    "a manager down": manager_down,
    "an edge cut off": edge_cut_off,
    "certificate and disk": certificate_and_disk,
}
