"""The control plane of an NSX 6.3.3 site in the states it can be in: what Manager, controllers and hosts then say.

Formats: `show controller list all` of the Central CLI, the REST answers of `/api/2.0/vdn/controller` and
`/api/2.0/vdn/inventory/hosts/connection/status`, `show control-cluster status` of a controller, `vsm.log`.
Everything is synthetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tools.case_pack import Files, tgz
from tools.case_text import controller_cli, vsm_log

MAJORITY, NO_MAJORITY = "Connected to cluster majority", "Disconnected from cluster majority"
CLUSTER = "b20ddc88-0000-49ad-b120-572c23100001"
OTHER = ("b20ddc88-0000-49ad-b120-572c23100002", "b20ddc88-0000-49ad-b120-572c23100003")
UP, SILENT = ("RUNNING",) * 3, ("UNKNOWN",) * 3


def control_plane(
    states: Sequence[str] = UP,
    views: Sequence[str] | None = None,
    hosts: Sequence[str] = (),
    log: str = "",
    version: str = "6.3.3 Build 6276725",
) -> Files:
    """Return the files of a site.

    states  of the controllers, as the Manager lists them
    views   what controllers 1, 2, … printed of themselves; all of them healthy where not given
    hosts   state of the connection from each host to the controllers; no answer in the case where empty
    """
    manager = "nsxmgr01-techsupport"
    bundle: Files = {
        f"{manager}/sys_info": f"System Version: {version}\n",
        f"{manager}/sys_net": (
            "mgmt      Link encap:Ethernet  HWaddr 00:50:56:8e:01:02\n"
            "          inet addr:192.0.2.15  Bcast:192.0.2.255  Mask:255.255.255.0\n"
        ),
        f"{manager}/logs/vsm.log": log or quiet_log(),
    }
    files: Files = {"nsxmgr01.tgz": tgz(bundle), **listed_controllers(states)}
    for number, text in enumerate(
        [controller_cli(n) for n in (1, 2, 3)] if views is None else views, 1
    ):
        files[f"controller-{number}.txt"] = text
    if hosts:
        files["hosts.xml"] = host_connections(hosts)
    return files


def listed_controllers(states: Sequence[str]) -> Files:
    """Return the Manager's list of its controllers in the form whose states are published.

    Of `show controller list all` only lines with RUNNING are; UNKNOWN, DEPLOYING and REMOVING are states of the API.
    """
    if set(states) == {"RUNNING"}:
        listed = "".join(
            f"controller-{n}    192.0.2.{30 + n}      RUNNING\n" for n in range(1, len(states) + 1)
        )
        return {"central-cli.txt": f"nsxmgr01> show controller list all\n{listed}"}
    rows = "".join(
        f"  <controller>\n    <id>controller-{n}</id>\n    <ipAddress>192.0.2.{30 + n}</ipAddress>\n"
        f"    <status>{state}</status>\n  </controller>\n"
        for n, state in enumerate(states, 1)
    )
    return {"controllers.xml": f"<controllers>\n{rows}</controllers>\n"}


def quiet_log() -> str:
    """Return vsm.log of an ordinary morning."""
    return "".join(
        f"2017-10-02 07:{minute:02d}:11.101 GMT+00:00  INFO TaskFrameworkExecutor-{minute % 9} InventoryUpdater:88 - inventory sync done\n"
        for minute in range(20)
    )


def restarted_log() -> str:
    """Return vsm.log of a Manager that was restarted: Tomcat's line of the start."""
    started = "2017-10-02 08:00:00.412 GMT+00:00  INFO localhost-startStop-1 Catalina:642 - Server startup in 91234 ms\n"
    return quiet_log() + started


def hosts_lost_log() -> str:
    """Return vsm.log with the event 1941 of two hosts."""
    event = (
        "2017-10-02 08:0{n}:34.736 GMT+00:00  WARN TaskFrameworkExecutor-25 "
        "VdnInventoryFacadeImpl$HostStatusChangedEventHandler:200 - Host Connection Status Changed: Event Code: 1941, "
        "Host: esx4{n}.lab.example (ID: host-4{n}), NSX Manager - Firewall Agent: UP, "
        "NSX Manager - Control Plane Agent: UP, Control Plane Agent - Controllers: DOWN.\n"
    )
    return quiet_log() + "".join(event.format(n=n) for n in (1, 2))


def host_connections(states: Sequence[str]) -> str:
    """Return the REST answer on the connections of each host."""
    rows = "".join(
        f"    <hostConnStatus>\n      <hostId>host-4{n}</hostId>\n"
        "      <nsxMgrToFirewallAgentConn>UP</nsxMgrToFirewallAgentConn>\n"
        "      <nsxMgrToControlPlaneAgentConn>UP</nsxMgrToControlPlaneAgentConn>\n"
        f"      <hostToControllerConn>{state}</hostToControllerConn>\n"
        "      <fullSyncCount>-1</fullSyncCount>\n    </hostConnStatus>\n"
        for n, state in enumerate(states, 1)
    )
    return f"<hostConnStatusList>\n  <hostConnStatuses>\n{rows}  </hostConnStatuses>\n</hostConnStatusList>\n"


def _cut(text: str) -> str:
    """Return what a controller printed, broken off within the table of its roles."""
    return text[: text.index("switch_manager")]


# Name of a state -> the files of a site in it.
STATES: dict[str, Callable[[], Files]] = {
    "healthy": lambda: control_plane(hosts=("UP", "UP")),
    "struck after a restart of the Manager": lambda: control_plane(
        SILENT, hosts=("UP", "UP"), log=restarted_log()
    ),
    "one controller down": lambda: control_plane(
        ("RUNNING", "UNKNOWN", "RUNNING"), [controller_cli(1), controller_cli(3)], ("UP", "UP")
    ),
    "majority lost": lambda: control_plane(
        SILENT, [controller_cli(1, majority=NO_MAJORITY)], ("DOWN", "DOWN"), restarted_log()
    ),
    "three cluster ids": lambda: control_plane(
        SILENT,
        [controller_cli(n, cluster=one) for n, one in enumerate((CLUSTER, *OTHER), 1)],
        ("UP", "UP"),
        restarted_log(),
    ),
    "one view of three": lambda: control_plane(
        SILENT, [controller_cli(1)], ("UP", "UP"), restarted_log()
    ),
    "a view that breaks off": lambda: control_plane(
        SILENT,
        [controller_cli(1), controller_cli(2), _cut(controller_cli(3))],
        ("UP", "UP"),
        restarted_log(),
    ),
    "hosts lost the controllers (REST)": lambda: control_plane(SILENT, hosts=("DOWN", "DOWN")),
    "hosts lost the controllers (1941)": lambda: control_plane(SILENT, log=hosts_lost_log()),
    "lines of nvpstatuscheck alone": lambda: control_plane(SILENT, [], log=vsm_log()),
    "one is deployed, one removed": lambda: control_plane(("RUNNING", "DEPLOYING", "REMOVING")),
    "fixed release": lambda: control_plane(
        SILENT, hosts=("UP", "UP"), version="6.3.4 Build 6845891"
    ),
}
