"""States that the NSX Manager tells over REST: Edges and their VMs, what is installed on hosts, tunnels of hardware
gateways, its connections to vCenter, agents, licence.

Source: the API guide (NSX for vSphere 6.2 to 6.4): `edgeStatus`, `edgeHealthSummary`, `resourceStatuses`,
`hardwareGatewayBfdStatusList`, `vcConfigStatus`, `eamStatusInfo`, `agentRuntimeInfos`, `licenseStatus`,
`controllerSyncStatus`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsx import XML_BODY, convert_stamp, make_row, xml_shape
from ..common._xml import Element, read_xml
from .nsx_system_event import TABLE as EVENT

_EDGE = Column("edge", "str", "id of the Edge: edge-1, where the answer names it")
EDGES = Table.of(
    "nsx.edge_state",
    "Edges as the NSX Manager sees them.",
    "show edge all (central CLI), GET /api/4.0/edges/<id>/status, GET /api/4.0/edges/<id>/healthsummary",
    _EDGE,
    Column("edge_name", "str", "name of the Edge"),
    Column("edge_type", "str", "gatewayServices or distributedRouter"),
    Column(
        "edge_status",
        "str",
        "GREEN, YELLOW, RED, GREY, UNDEPLOYED, …, as printed",
        sign=says_good("green", "deployed"),
    ),
    Column("edge_size", "str", "C compact, L large, Q quad large, X extra large, as printed"),
    Column("edge_release", "version", "release of the Edge: 6.2.7"),
    Column("system_status", "str", "good, …, as printed", sign=says_good("good", "green")),
    Column(
        "publish_status",
        "str",
        "APPLIED, …: whether its configuration is on it",
        sign=says_good("applied", "persisted"),
    ),
    Column("active_index", "int", "which of its VMs is active: 0 or 1"),
    Column("edge_build", "str", "release and build of the Edge: 6.4.0-7056811"),
    ask="`show edge all` on the NSX Manager, or `GET /api/4.0/edges/<id>/healthsummary`",
    key=("edge",),
    lists="nsx_edge",
)
EDGE_VMS = Table.of(
    "nsx.edge_vm",
    "VMs of the Edges as the NSX Manager sees them.",
    "GET /api/4.0/edges/<id>/status, GET /api/4.0/edges/<id>/healthsummary",
    _EDGE,
    KeyColumn("vm_moid", "str", "id in vCenter: vm-75"),
    Column("vm_name", "str", "name of the VM"),
    Column("ha_index", "int", "0 or 1"),
    Column("ha_state", "str", "active, standby, …; none where it tells none"),
    Column("ha_admin_state", "str", "up, down, as printed"),
    Column(
        "vm_status",
        "str",
        "GREEN, RED, …, as printed",
        sign=says_good("on", "green", "active", "poweredon"),
    ),
    Column(
        "mp_connectivity",
        "str",
        "UP or DOWN: its channel to the Manager",
        sign=says_good("up", "true", "ok"),
    ),
    Column("last_heartbeat", "time", "time of its last heartbeat"),
    ask="`GET /api/4.0/edges/<id>/healthsummary`",
)
FEATURES = Table.of(
    "nsx.edge_feature",
    "Services of an Edge: whether each is set up, and runs.",
    "GET /api/4.0/edges/<id>/status",
    KeyColumn("service", "str", "loadBalancer, dhcp, ipsec, firewall, highAvailability, …"),
    Column("is_configured", "bool", "it is set up"),
    Column("publish_status", "str", "APPLIED, …: whether its configuration is on it"),
    Column("server_status", "str", "up, down, as printed; none where it tells none"),
)
FABRIC = Table.of(
    "nsx.fabric_feature",
    "What of NSX is installed on clusters and hosts, and its state, as the NSX Manager sees it.",
    "GET /api/2.0/nwfabric/status?resource=<id>",
    KeyColumn("object_id", "str", "id in vCenter: domain-c34, host-9"),
    Column("object_name", "str", "name of the cluster or host"),
    Column("object_type", "str", "ClusterComputeResource or HostSystem"),
    KeyColumn(
        "feature_id",
        "str",
        "com.vmware.vshield.vsm.nwfabric.hostPrep, …vxlan, …messagingInfra, …firewall",
    ),
    Column("feature_version", "str", "release of that feature"),
    Column("fabric_status", "str", "GREEN, YELLOW, RED, UNKNOWN", sign=says_good("green")),
    Column("is_installed", "bool", "it is installed"),
    Column("update_available", "bool", "there is a newer release of it"),
    Column("message", "str", "what the Manager says of it"),
    ask="`GET /api/2.0/nwfabric/status?resource=<cluster or host id>`",
)
TUNNELS = Table.of(
    "nsx.gateway_tunnel",
    "BFD tunnels between hardware gateways and VTEPs.",
    "GET /api/2.0/vdn/hardwaregateways/bfd/status",
    KeyColumn("probe_source", "str", "who probes: torgateway-1"),
    KeyColumn("local_ip", "str", "own VTEP", form=IP_FORM),
    KeyColumn("remote_ip", "str", "VTEP of the other end", form=IP_FORM),
    Column("tunnel_state", "str", "UP, DOWN, …", sign=says_good("up")),
    Column("remote_state", "str", "state the other end reports"),
    Column("bfd_diag", "str", "why it last went down"),
    Column("remote_diag", "str", "why it last went down, as the other end reports"),
    Column("is_enabled", "bool", "it is switched on"),
    Column("is_forwarding", "bool", "it forwards"),
)
LINKS = Table.of(
    "nsx.manager_link",
    "What the NSX Manager says of vCenter, the agent manager, the synchronizing of controllers, its licence.",
    "GET /api/2.0/services/vcconfig/status, …/services/licensing/status, …/eam/status",
    KeyColumn("manager_link", "str", "vcenter, eam, controller_sync or license"),
    Column(
        "link_status",
        "str",
        "UP, DOWN, true or false for vCenter, JOB_IN_PROGRESS, …, as printed",
        sign=says_good("true", "connected", "up", weight=4.5),
    ),
    Column("link_name", "str", "name of the vCenter, id of the job, edition of the licence"),
    Column("link_time", "time", "time of the last synchronizing; of a licence its end"),
    ask="`GET /api/2.0/services/vcconfig/status`",
)
AGENTS = Table.of(
    "nsx.host_agent",
    "Agents of an agency of the ESX Agent Manager, one row a host.",
    "GET /api/2.0/eam/agency/<id>/agentruntimeinfos",
    KeyColumn("host_id", "str", "id in vCenter: host-10"),
    Column("agent_status", "str", "green, yellow, red", sign=says_good("enabled", "up", "green")),
    Column("has_heartbeat", "bool", "its heartbeat is received"),
    Column("agent_vm", "str", "VM of the agent, where it is one"),
    Column("agent_vm_power", "str", "poweredOn, poweredOff"),
)

# Where the cells of a row stand: the element, its table, and the path of each column from there (`..` is the parent).
_READ: dict[str, tuple[Table, dict[str, str]]] = {
    "edgeStatus": (
        EDGES,
        {"edge_status": "edgeStatus", "system_status": "systemStatus", "publish_status": "publishStatus",
         "active_index": "activeVseHaIndex", "edge": "edgeId"},
    ),
    "edgeHealthSummary": (
        EDGES,
        {"edge": "id", "edge_name": "name", "edge_type": "edgeType", "edge_status": "edgeStatus",
         "publish_status": "publishStatus", "edge_build": "buildNumber"},
    ),
    "edgeVmStatus": (
        EDGE_VMS,
        {"vm_moid": "id", "vm_name": "name", "ha_index": "index", "ha_state": "haState", "vm_status": "edgeVMStatus"},
    ),
    "vmHealthSummary": (
        EDGE_VMS,
        {"edge": "../../id", "vm_moid": "id", "vm_name": "name", "ha_index": "haIndex", "ha_state": "haState",
         "ha_admin_state": "haAdminState", "mp_connectivity": "mpConnectivityStatus",
         "last_heartbeat": "lastHeartBeatTimeStamp"},
    ),
    "featureStatus": (
        FEATURES,
        {"service": "service", "is_configured": "configured", "publish_status": "publishStatus",
         "server_status": "serverStatus"},
    ),
    "nwFabricFeatureStatus": (
        FABRIC,
        {"object_id": "../resource/objectId", "object_name": "../resource/name",
         "object_type": "../resource/objectTypeName", "feature_id": "featureId", "feature_version": "featureVersion",
         "fabric_status": "status", "is_installed": "installed", "update_available": "updateAvailable",
         "message": "message"},
    ),
    "bfdTunnelStatus": (
        TUNNELS,
        {"probe_source": "../../probeSourceId", "local_ip": "localVtepIp", "remote_ip": "remoteVtepIp",
         "tunnel_state": "state", "remote_state": "remoteState", "bfd_diag": "diagnostic",
         "remote_diag": "remoteDiagnostic", "is_enabled": "enabled", "is_forwarding": "forwarding"},
    ),
    "vcConfigStatus": (LINKS, {"link_status": "connected", "link_time": "lastInventorySyncTime"}),
    "eamStatusInfo": (LINKS, {"link_status": "status", "link_name": "vcName"}),
    "controllerSyncStatus": (LINKS, {"link_status": "status", "link_name": "jobId"}),
    "licenseStatus": (LINKS, {"link_name": "edition", "link_time": "expiry"}),
    "agentRuntimeInfo": (
        AGENTS,
        {"host_id": "host", "agent_status": "status", "has_heartbeat": "receivingHearBeat", "agent_vm": "vmName",
         "agent_vm_power": "vmPowerState"},
    ),
    "edgeAlarm": (
        EVENT,
        {"event_number": "alarmId", "code": "alarmCode", "severity": "severity", "message": "message",
         "time": "timeOfOccurence", "object_id": "eventSourceInfo/eventSourceInfo/eventSourceId"},
    ),
}  # fmt: skip
_LINKS = {
    "vcConfigStatus": "vcenter",
    "eamStatusInfo": "eam",
    "controllerSyncStatus": "controller_sync",
    "licenseStatus": "license",
}
_TIMES = {"link_time", "last_heartbeat", "time"}


def parse_block(block: Block) -> Output:
    """Read an answer: a row for each Edge, VM, service, feature, tunnel, connection or alarm in it."""
    root, faults = read_xml(block, PARSER.name)
    for above in _walk_with_parents(root, ()):
        element = above[-1]
        if element.tag not in _READ or (
            element.tag == "edgeVmStatus" and element.child("edgeVmStatus")
        ):
            continue  # the list of the VMs is called as each of them is
        if element.tag == "edgeStatus" and not element.children:
            continue  # and the state of an Edge as its answer
        table, paths = _READ[element.tag]
        cells: dict[str, Element | str | None] = {
            name: _find_element(above, path) for name, path in paths.items()
        }
        for name in _TIMES & cells.keys():
            cell = cells[name]
            if isinstance(cell, Element):
                cells[name] = convert_stamp(cell)
            else:
                cells[name] = None
        if table is LINKS:
            cells["manager_link"] = _LINKS[element.tag]
        if table is EVENT:
            cells |= {"is_alarm": "true", "source": "Edge"}
        yield from make_row(table, block, element, cells)
    yield from faults


def _walk_with_parents(
    element: Element, above: tuple[Element, ...]
) -> Iterator[tuple[Element, ...]]:
    """Yield each element with those it is in, in the order of the text."""
    here = (*above, element)
    yield here
    for child in element.children:
        yield from _walk_with_parents(child, here)


def _find_element(above: tuple[Element, ...], path: str) -> Element | None:
    """Return the element on a path from the last of some nested ones."""
    depth = len(above) - 1
    found: Element | None = above[depth]
    for step in path.split("/"):
        if step == "..":
            depth -= 1
            found = above[depth] if depth >= 0 else None
        elif found is not None:
            found = found.child(step)
    return found


PARSER = Parser(
    name="nsx_rest_states",
    tables=(EDGES, EDGE_VMS, FEATURES, FABRIC, TUNNELS, LINKS, AGENTS, EVENT),
    parse=parse_block,
    node="nsx_manager",
    commands=(
        r"/api/4\.0/edges/[^/\s]+/(?:status|healthsummary)\b",
        r"/api/2\.0/(?:nwfabric/status|vdn/hardwaregateways?/bfd/status|services/(?:vcconfig|licensing)/status"
        r"|eam/(?:status|agency/[^/\s]+/agentruntimeinfos)|vdn/controller/synchronize/status)\b",
    ),
    shape=xml_shape(
        "edgeStatus", "edgeHealthSummary", "resourceStatuses", "hardwareGatewayBfdStatusList", "vcConfigStatus",
        "eamStatusInfo", "agentRuntimeInfos", "licenseStatus", "controllerSyncStatus",
    ),
    body=XML_BODY,
)  # fmt: skip
