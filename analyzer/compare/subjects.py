"""What a row of a table speaks of, so that it is found again on another side after a rename or a reconnect.

Numbers that a host gives anew at each boot (port, world) tell no one: a port is its MAC address, else its VM and
adapter; a NIC is its MAC address; a disk adapter is its UID; a VM is the UUID of its BIOS, else the path of its .vmx.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from analyzer.artefacts.tables import Row, Table, Value
from analyzer.compare.placeholders import fold_uuid, is_placeholder
from analyzer.facts import Facts

# Tables without a key, and what tells their rows apart here.
PAIRED_BY: dict[str, tuple[str, ...]] = {
    "esxi.config_line": ("config_file", "config_section", "config_key"),
    "esxi.command_value": ("asked", "of_object", "label"),
    "esxi.info_value": ("info_path", "info_of", "info_name"),
    "esxi.smbios_value": ("smbios_part", "smbios_handle", "smbios_label"),
    "esxi.ntp_variable": ("ntp_name",),
    "esxi.certificate": ("subject_name",),
    "esxi.rdm_disk": ("vdisk_file",),
    "nsx.dfw_rule": ("filter", "ruleset", "dfw_rule", "place"),
    "nsx.dfw_rule_stats": ("filter", "dfw_rule"),
}

SURE = 100  # own threshold: so many misses are counted alike by chance in no two places
# Columns that a host gives anew, or that say when and how something was asked: another value is no change.
VOLATILE = frozenset(
    {
        "port_id",
        "world_id",
        "vm_world_id",
        "cartel_id",
        "vm_process_id",
        "uptime_s",
        "host_time",
        "captured",
        "rank",
        "origin",
        "sample",
        "expiry_s",
        "bundle",
        "line_number",
        "modified",
        "refcnt",
        "up_time",
        "others",
        "system_time",
        "sync_time",
        "ntp_when",
        "ntp_poll_s",
        "ntp_reach",
        "vim_vmid",
        "group_id",
        "vib_build",  # a part of the version, which is compared
    }
)
# Tables of moments and of what a tool printed: nothing in them stays.
PASSING = frozenset(
    {
        "esxi.ip_connection",
        "esxi.ip_neighbor",
        "esxi.tool_line",
        "esxi.collector_action",
        "esxi.collector_failure",
        "esxi.clock",
        "esxi.uptime",
        "esxi.bundle",
        "esxi.fc_event",
        "guest.iperf",
        "guest.nic_boot",
        "esxi.host",
        "esxi.version",
        "nsx.system_event",
        "nsxt.core_dump",
        "nsx.dlr_arp",
        "nsx.controller_step",
        "nsx.vxlan_mac",
        "esxi.vmdk",
        "esxi.vmdk_extent",
    }
)


@dataclass(slots=True)
class KnownPort:
    """Who uses a port of a switch."""

    mac: str = ""
    client: str = ""
    vnic: Value = None


@dataclass(slots=True)
class ComparedSubject:
    """What one side knows of one thing: rows of the same key, the last known value of each cell and its row.

    asked      somebody asked for this one: that another one was not asked for says nothing of it
    user_known  of a port: whether anything tells who uses it; None of what is no port
    uuids, macs  of a VM, its adapters and ports: marks of which others mean that it is another one
    """

    node: str
    rows: list[Row]
    cells: dict[str, tuple[Value, Row]]
    name: str
    marks: list[list[Hashable]]
    asked: bool = False
    user_known: bool | None = None
    uuids: frozenset[str] = frozenset()
    macs: frozenset[str] = frozenset()

    def value(self, column: str) -> Value:
        """Return a cell, None when it is not known."""
        if column in self.cells:
            return self.cells[column][0]
        return None


@dataclass(slots=True)
class KnownNames:
    """Who is behind the names and numbers of one side."""

    ports: dict[tuple[str, Value], KnownPort] = field(default_factory=dict)
    nics: dict[tuple[str, Value], str] = field(default_factory=dict)
    adapters: dict[tuple[str, Value], str] = field(default_factory=dict)
    models: dict[tuple[str, Value], str] = field(
        default_factory=dict
    )  # vmnic4, vmhba1 -> ids of vendor and device
    vms: dict[tuple[str, Value], tuple[str, str]] = field(
        default_factory=dict
    )  # path or world -> UUID, name
    paths: dict[tuple[str, Value], str] = field(default_factory=dict)  # world -> path
    macs: dict[tuple[str, Value], set[str]] = field(
        default_factory=dict
    )  # path of a VM, or its name where ports alone tell -> addresses of its adapters

    @classmethod
    def of(cls, facts: Facts) -> KnownNames:
        """Return what the tables of a case tell of names."""
        made = cls()
        for table in ("esxi.port_status", "esxi.net_stats"):
            for row in rows_of(facts, table):
                made.find_port(row)
        for table in ("esxi.ens_uplink", "esxi.pnic"):
            for row in rows_of(facts, table):
                mac = row.values.get("mac")
                if mac:
                    nic = row.values.get("pnic")
                    made.nics[row.block.node, nic] = str(mac).lower()
        for table in ("esxi.pci_device", "esxi.pci_owner"):
            for row in rows_of(facts, table):
                owner = row.values.get("owner")
                device = row.values.get("device_id")
                if owner and device:
                    vendor = row.values.get("vendor_id")
                    made.models[row.block.node, owner] = f"{vendor}:{device}"
        for row in rows_of(facts, "esxi.storage_adapter"):
            uid = str(row.values.get("hba_uid") or "")
            hba = str(row.values.get("hba"))
            if uid and hba not in uid and "unknown" not in uid:
                made.adapters[row.block.node, hba] = uid
        made.take_vms(facts)
        made.match_by_count(facts)
        return made

    def take_vms(self, facts: Facts) -> None:
        """Take what tells one VM from another: path, world, UUID, addresses of its adapters."""
        for row in rows_of(facts, "esxi.vm"):
            name = str(row.values.get("vm_name") or "")
            path = on_host(row.values.get("vmx_path"))
            self.vms[row.block.node, path] = ("", name)
        for row in rows_of(facts, "esxi.vm_process"):
            node = row.block.node
            name = str(row.values.get("vm_name") or "")
            uuid = str(row.values.get("bios_uuid") or "")
            identity = ("" if is_placeholder("uuid", uuid) else uuid, name)
            path = on_host(row.values.get("vmx_path"))
            world = row.values.get("vm_world_id")
            self.vms[node, path] = identity
            self.vms[node, world] = identity
            self.paths[node, world] = str(path or "")
        for row in rows_of(facts, "esxi.vnic"):
            self.add_address(row.block.node, on_host(row.values.get("vmx_path")), row.values)
        for (node, _), port in self.ports.items():
            if port.mac and port.client:
                self.add_address(node, port.client, {"mac": port.mac})

    def add_address(self, node: str, vm: Value, values: Mapping[str, Value]) -> None:
        """Note the address of an adapter of a VM."""
        mac = str(values.get("mac") or "").lower()
        if mac and not is_placeholder("mac", mac):
            self.macs.setdefault((node, vm), set()).add(mac)

    def find_sure_marks(
        self, node: str, column: str, value: Value
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the UUID of the VM that a cell of a key speaks of, and its addresses; of a port its own."""
        place = (node, value)
        if column == "port_id":
            port = self.ports.get(place)
            mac = port.mac if port is not None else ""
            return frozenset(), frozenset([mac] if mac else [])
        if column not in ("vmx_path", "vm_world_id"):
            return frozenset(), frozenset()
        uuid, name = self.vms.get(place, ("", ""))
        path = value if column == "vmx_path" else self.paths.get(place)
        macs = self.macs.get((node, path)) or self.macs.get((node, name)) or set()
        if uuid:
            return frozenset([fold_uuid(uuid)]), frozenset(macs)
        return frozenset(), frozenset(macs)

    def match_by_count(self, facts: Facts) -> None:
        """Tell who uses a port that no list names: the guest whose driver counts the very same misses, if it is one."""
        misses: defaultdict[str, int] = defaultdict(int)
        for row in rows_of(facts, "guest.ethtool_stats"):
            count = row.values.get("pkts_rx_oob")
            misses[row.block.node] += count if isinstance(count, int) else 0
        for row in rows_of(facts, "esxi.vmxnet3_rx_summary"):
            place = (row.block.node, row.values.get("port_id"))
            count = row.values.get("out_of_buffers")
            guests = []
            for guest, number in misses.items():
                if number == count and number >= SURE:
                    guests.append(guest)
            if place not in self.ports and len(guests) == 1:
                self.ports[place] = KnownPort(client=facts.name(guests[0]))

    def find_port(self, row: Row) -> None:
        """Return what is known of a port."""
        node = row.block.node
        values = row.values
        port = self.ports.setdefault((node, values.get("port_id")), KnownPort())
        port.mac = str(values.get("mac") or port.mac).lower()
        port.client = str(values.get("client_vm") or values.get("client_name") or port.client)
        if values.get("vnic") is not None:
            port.vnic = values.get("vnic")
        else:
            port.vnic = port.vnic
        if port.mac and str(values.get("client_name")).startswith("vmnic"):
            self.nics.setdefault((node, values["client_name"]), port.mac)

    def marks(self, node: str, column: str, value: Value) -> list[Hashable]:
        """Return what tells who a cell of a key speaks of, the surest first; None where a rank has nothing."""
        place = (node, value)
        if column == "port_id":
            port = self.ports.get(place)
            if port is None:
                return [None, None, ("port", value)]
            named = port.client and ("client", port.client, port.vnic or 0)
            return [port.mac and ("mac", port.mac), named, ("port", value)]
        if column in ("pnic", "vmnic"):
            return [
                self.nics.get(place) and ("mac", self.nics[place]),
                ("nic", value),
                ("nic", value),
            ]
        if column == "hba":
            return [
                self.adapters.get(place) and ("uid", self.adapters[place]),
                ("hba", value),
                ("hba", value),
            ]
        if column in ("vmx_path", "vm_world_id"):
            uuid, name = self.vms.get(place, ("", ""))
            if column == "vmx_path":
                path = value
            else:
                path = self.paths.get(place)
            return [uuid and ("uuid", uuid), path and ("vmx", path), name and ("vm", name)]
        return [("is", value)] * 3

    def show_cell(self, node: str, column: str, value: Value) -> str:
        """Return how a reader names what a cell of a key speaks of."""
        if column == "port_id":
            port = self.ports.get((node, value), KnownPort())
            if port.vnic not in (None, 0):
                used = f"{port.client}, adapter {port.vnic}"
            else:
                used = port.client
            if used:
                return f"{used} (port {value})"
            return f"port {value}"
        if column in ("vmx_path", "vm_world_id"):
            return self.vms.get((node, value), ("", ""))[1] or str(value)
        if column in ("queue", "partition", "vnic", "extent_number", "cpu", "rule_number"):
            return f"{column.replace('_', ' ')} {value}"
        if value is None:
            return ""
        return str(value)


def on_host(path: Value) -> Value:
    """Return a path as the host has it: in a bundle it is below a folder that is named after the capture."""
    if isinstance(path, str):
        place = path.find("vmfs/volumes/")
    else:
        place = -1
    if isinstance(path, str) and place >= 0:
        return f"/{path[place:]}"
    return path


def rows_of(facts: Facts, table: str) -> list[Row]:
    """Return the rows of a table, none when the case has not got it."""
    if facts.count(table):
        return facts.store(table).rows
    return []


def list_subjects(facts: Facts, names: KnownNames, table: Table) -> list[ComparedSubject]:
    """Return what the rows of a table speak of on all machines; rows of one key are one subject."""
    key = table.key or PAIRED_BY.get(table.name, ())
    groups: defaultdict[Hashable, list[Row]] = defaultdict(list)
    rows = rows_of(facts, table.name)
    if not key and len({row.block.address for row in rows}) == 1 and len(rows) > 1:
        key = tuple(
            column.name
            for column in table.columns
            if column.kind == "str" and column.name not in VOLATILE
        )
    for row in rows:
        values = [on_host(row.values.get(column)) for column in key]
        groups[row.block.node, *values].append(row)
    return [make_subject(names, table, key, some) for some in groups.values()]


def make_subject(
    names: KnownNames, table: Table, key: Iterable[str], rows: list[Row]
) -> ComparedSubject:
    """Return a subject of its rows."""
    key = [*key]
    rows = sorted(rows, key=lambda row: (row.block.taken, row.block.order, row.line))
    last = rows[-1]
    node = last.block.node
    cells: dict[str, tuple[Value, Row]] = {}
    for row in rows:
        for column, value in row.values.items():
            if value is not None:
                cells[column] = (on_host(value), row)
    parts = key
    if "port_id" in key:
        parts = [column for column in key if column != "switch"]
    ranked = []
    shown = []
    uuids: frozenset[str] = frozenset()
    macs: frozenset[str] = frozenset()
    for column in parts:
        value = on_host(last.values.get(column))
        uuid, addresses = names.find_sure_marks(node, column, value)
        uuids |= uuid
        macs |= addresses
        ranked.append(names.marks(node, column, value))
        shown.append(names.show_cell(node, column, value))
    marks: list[list[Hashable]] = []
    for rank in range(3):
        some = [one[rank] for one in ranked]
        if all(some):
            marks.append([(table.name, *some)])
        else:
            marks.append([])
    texts = [text for text in shown if text]
    if "vmx_path" not in parts and "vm_world_id" not in parts:
        vm = last.values.get("vm_name")
        if vm and vm not in shown:
            texts.insert(0, str(vm))
    name = ", ".join(texts)
    volume = last.values.get("volume_name")
    if volume and volume not in shown:
        name = f"{volume} ({name})"
    asked = not last.block.params.keys().isdisjoint(key)
    known = None
    if "port_id" in parts:
        known = (node, last.values.get("port_id")) in names.ports
    return ComparedSubject(node, rows, cells, name, marks, asked, known, uuids, macs)


def are_contrary(one: ComparedSubject, other: ComparedSubject) -> bool:
    """Say whether two subjects are not one: UUID or addresses are known of both, and none is the same."""
    known = False
    for own, theirs in ((one.uuids, other.uuids), (one.macs, other.macs)):
        if own and theirs:
            known = True
            if own & theirs:
                return False
    return known


def can_agree(one: ComparedSubject, other: ComparedSubject, rank: int) -> bool:
    """Say whether two subjects with a mark in common may be one.

    Two ports of known users are not by their number, and another VM is not under an old path or name.
    """
    if rank == 0:
        return True
    if are_contrary(one, other):
        return False
    return rank < 2 or not (one.user_known and other.user_known)


def find_replaced(
    alone: Sequence[Sequence[ComparedSubject]],
) -> list[list[ComparedSubject | None]]:
    """Return what was replaced by another of its path or name, as each side has it; `alone`: the unpaired of each side."""
    known: dict[Hashable, tuple[int, ComparedSubject]] = {}
    found = []
    for at, some in enumerate(alone):
        for one in some:
            marks = [mark for rank in one.marks[1:] for mark in rank]
            if one.user_known:
                marks = one.marks[1]  # its number alone says nothing
            before = next((known[mark] for mark in marks if mark in known), None)
            if before is not None and before[0] < at and are_contrary(before[1], one):
                on: list[ComparedSubject | None] = [None] * len(alone)
                on[before[0]], on[at] = before[1], one
                found.append(on)
            known.update(dict.fromkeys(marks, (at, one)))
    return found
