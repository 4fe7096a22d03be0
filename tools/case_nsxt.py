"""An NSX-T site of three managers and two edges in the states it can be in: bundles, and what their CLI then prints.

Formats: the NSX CLI guide (get cluster status verbose, get services, get filesystem-stats, get bgp neighbor summary,
get bfd-sessions, get neighbor, get edge-cluster status, get managers, get controllers, get transport-nodes status,
get core-dumps, get dataplane cpu stats, get dataplane memory stats, get physical-port stats), the schema TransportNodeStatus of the REST
API, the list of support bundle paths of VCF 9, RFC 5424 with the
structured data of NSX. The names of the archives are our own: no public source has them. Everything is synthetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tools.case_pack import Files, tgz
from tools.case_pack import tar as packed
from tools.nsxt_outputs import (
    EDGE_SERVICES,
    SERVICES,
    alarm,
    bfd,
    bgp,
    certificate,
    cluster,
    controllers_of_node,
    dataplane_cpu,
    dataplane_memory,
    edge,
    edge_cluster,
    filesystems,
    hosts_rest,
    line,
    logical_routers,
    manager,
    managers_of_node,
    neighbors,
    port_stats,
    quiet,
    router_ha,
    services,
    transport_nodes,
    tunnel_stats,
    typed,
    uuid,
    version,
    vpns,
)

# --- the site ----------------------------------------------------------------------------------


def manager_bundle(n: int, log: str) -> tuple[str, bytes]:
    """Return name and bytes of a manager's archive."""
    top, host = f"manager-{n}", manager(n)
    files: Files = {
        f"{top}/var/log/syslog": log,
        f"{top}/var/log/proton/nsxapi.log": line(
            "03:00:00.000", host, 'comp="nsx-manager" subcomp="manager"', "sync done"
        ),
        f"{top}/var/log/corfu/corfu.9000.log": "2023-03-01T03:00:00.404Z | INFO  | main | o.c.infrastructure.Server | ready (synthetic)\n",
        f"{top}/var/log/corfu/jvm/gc.log": "2023-03-01T03:00:00.504+0000: Total time for which application threads were stopped: 0.0061 seconds\n",
        f"{top}/var/log/cbm/cbm.log": line(
            "03:00:01.000", host, 'comp="cluster-boot-manager" subcomp="step"', "ready"
        ),
        f"{top}/var/log/proxy/reverse-proxy.log": "2023-03-01T03:00:02.000Z INFO started (synthetic)\n",
    }
    return f"nsx_manager_{uuid('manager', n)}.tgz", tgz(files)


def edge_bundle(n: int, log: str, routing: str = "") -> tuple[str, bytes]:
    """Return name and bytes of an edge's archive."""
    top = f"edge-{n}"
    quiet_frr = "2023/03/01 02:00:01 ZEBRA: client 12 says hello (synthetic)\n"
    files: Files = {f"{top}/var/log/syslog": log, f"{top}/var/log/frr/frr.log": quiet_frr + routing}
    return f"nsx_edge_{uuid('edge', n)}.tgz", tgz(files)


def manager_cli(n: int, off: Sequence[int] = (), **others: str) -> str:
    """Return what was typed on a manager; others: outputs that differ from those of a healthy one."""
    outputs = {
        "get version": version(21761691),
        "get cluster status verbose": cluster(),
        "get services": services(SERVICES),
        "get filesystem-stats": filesystems(),
        "get core-dumps": "Directory: /var/log/core\n",
        "get transport-nodes status": transport_nodes(n, off),
        "get managers": managers_of_node(off),
        "get certificate api text": certificate(n),
    }
    asked = typed(
        manager(n), {command: others.get(_key(command), text) for command, text in outputs.items()}
    )
    calls = {
        "transport-nodes/status": hosts_rest(),
        "alarms": '{"results": [], "result_count": 0}\n',
        f"transport-nodes/{uuid('edge', 1)}/tunnels": '{"tunnels": [], "result_count": 0}\n',
    }
    shell = f"root@{manager(n)}:~# curl -k -u admin https://localhost/api/v1/"
    return asked + "".join(f"{shell}{path}\n{text}\n" for path, text in calls.items())


def edge_cli(n: int, off: Sequence[int] = (), **others: str) -> str:
    """Return what was typed on an edge."""
    own, peer = f"198.51.100.1{n}", f"198.51.100.1{3 - n}"
    outputs = {
        "get version": version(21761695),
        "get services": services(EDGE_SERVICES),
        "get filesystem-stats": filesystems(),
        "get core-dumps": "Directory: /var/log/core\n",
        "get managers": managers_of_node(off),
        "get controllers": controllers_of_node(n, off),
        "get edge-cluster status": edge_cluster(n),
        "get bgp neighbor summary": bgp(),
        "get bfd-sessions": bfd(own, [peer, "198.51.100.21", "198.51.100.22"]),
        "get dataplane cpu stats verbose": dataplane_cpu(),
        "get dataplane memory stats": dataplane_memory(),
        "get physical-port fp-eth0 stats": port_stats(),
        "get physical-port fp-eth0": "Physical Port\nADMIN_STATUS : up\nLINK : up\n",
        "get high-availability status": router_ha(n),
        "get tunnel-ports stats": tunnel_stats(n),
        "get logical-routers": logical_routers(n),
        "get neighbor": neighbors(peer),
        **vpns(),
    }
    return typed(
        edge(n), {command: others.get(_key(command), text) for command, text in outputs.items()}
    )


def _key(command: str) -> str:
    """Return the word of a command by which a state names its output."""
    return command.removeprefix("get ").replace("-", "_").replace(" ", "_")


def site(
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
                n, _sorted(quiet(manager(n), "nsx-manager"), logs, manager(n))
            )
            nodes[name] = body
            files[f"{manager(n)}.txt"] = manager_cli(n, off, **(managers or {}).get(n, {}))
    for n in (1, 2):
        name, body = edge_bundle(n, _sorted(quiet(edge(n), "nsx-edge"), logs, edge(n)))
        nodes[name] = body
        files[f"{edge(n)}.txt"] = edge_cli(n, off, **(edges or {}).get(n, {}))
    return {"nsx-support-bundle.tar": packed(nodes), **files}


def _sorted(log: str, logs: Mapping[str, str] | None, node: str) -> str:
    """Return a log with further lines of a node, in order of time."""
    return "".join(sorted((log + (logs or {}).get(node, "")).splitlines(keepends=True)))


def manager_down() -> Files:
    """Return the site with the third manager powered off: the others and the edges see it."""
    seen = {"cluster_status_verbose": cluster([3])}
    return site(managers={1: seen, 2: seen}, off=[3])


def edge_cut_off() -> Files:
    """Return the site with an edge that lost its tunnels and its BGP neighbours; the other edge lost the one to it."""
    peers = ["198.51.100.12", "198.51.100.21", "198.51.100.22"]
    lost = {
        "bfd_sessions": bfd("198.51.100.11", peers, peers),
        "bgp_neighbor_summary": bgp(["192.0.2.130", "192.0.2.134"]),
        "edge_cluster_status": edge_cluster(1, [1]),
    }
    other = {
        "bfd_sessions": bfd("198.51.100.12", ["198.51.100.11", *peers[1:]], ["198.51.100.11"]),
        "edge_cluster_status": edge_cluster(2, [1]),
    }
    log = "".join(
        line(
            f"09:41:07.{n}00", edge(1), 'comp="nsx-edge" subcomp="nsxa" s2comp="tunnel"',
            f"Tunnel 198.51.100.11:{peer}(geneve) state updated from up to down", "FABRIC", "WARN",
        )
        for n, peer in enumerate(peers, 1)
    )  # fmt: skip
    opened = alarm(
        "09:46:00.000",
        manager(1),
        "edge_tunnels_down",
        "OPEN",
        "The tunnels of an edge are down",
        uuid("edge", 1),
    )
    return site(edges={1: lost, 2: other}, logs={edge(1): log, manager(1): opened})


def certificate_and_disk() -> Files:
    """Return the site with a manager whose certificate expired and whose log partition is full."""
    own = uuid("manager", 2)
    log = alarm(
        "08:00:00.000", manager(2), "certificate_expired", "OPEN", "A certificate has expired", own
    )
    log += alarm(
        "08:05:00.000",
        manager(2),
        "manager_disk_usage_very_high",
        "OPEN",
        "Disk usage of /var/log is 97%",
        own,
    )
    log += alarm(
        "07:00:00.000",
        manager(2),
        "password_expired",
        "OPEN",
        "The password of audit has expired",
        own,
    )
    log += alarm(
        "07:30:00.000",
        manager(2),
        "password_expired",
        "RESOLVED",
        "The password of audit was changed",
        own,
    )
    differs = {"filesystem_stats": filesystems(97), "services": services(SERVICES, ["search"])}
    return site(managers={2: differs}, logs={manager(2): log})


# Name of a state -> the files of a site in it.
STATES: dict[str, Callable[[], Files]] = {
    "healthy": site,
    "a manager down": manager_down,
    "an edge cut off": edge_cut_off,
    "certificate and disk": certificate_and_disk,
}
