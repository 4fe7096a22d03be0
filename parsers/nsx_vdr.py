"""Distributed logical routers (VDR) of an ESXi host: instances, interfaces and the ARP table.

Sources: `net-vdr --nbr -l <vdr>`, `net-vdr --instance -l`, `net-vdr --lif -l <vdr>`; their outputs one after
another in `dump-vdr-info.sh.txt` of a vm-support bundle; the central CLI's `show logical-router host …`.
The order of the sections is not relied on: each begins with its title. The ARP table here is
the DLR's neighbour table: neither the ARP suppression cache of a logical switch nor the
table of an Edge. No total is printed; the rows are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import IP_FORM, MAC_FORM, Block, Column, Fault, Row, Table, Value

from ._nsx import answers

VDR = Column("vdr", "str", "name of the logical router on the host: default+edge-1, or a UUID")
VDR_ID = Column("vdr_id", "int", "number of the logical router")

ARP = Table(
    name="nsx.dlr_arp",
    meaning="Neighbour (ARP) table of the distributed logical routers on a host, one row an entry.",
    source="net-vdr --nbr -l <vdr>; commands/dump-vdr-info.sh.txt",
    ask="`net-vdr --nbr -l <vdr>` for each logical router; `net-vdr --instance -l` lists their names",
    key=("vdr", "network"),
    columns=(
        VDR,
        VDR_ID,
        Column("network", "str", "address resolved"),
        Column("mac", "str", "MAC address; all zero while unresolved", form=MAC_FORM),
        Column(
            "flags",
            "str",
            "S static, V valid, P proxy, I interface, N nascent, L local, D deleted, K linKlif",
        ),
        Column("expiry_s", "int", "seconds until the entry expires; none for a permanent one", "s"),
        Column("src_port", "int", "port the answer came from"),
        Column("interface", "str", "interface (LIF) of the router"),
        Column("refcnt", "int", "references to the entry"),
        Column("is_permanent", "bool", 'expiry is "permanent"'),
        Column("is_nascent", "bool", "flag N: not resolved"),
        Column("is_dynamic", "bool", "learned: neither flag I nor flag S"),
    ),
)

ARP_TABLE = Table(
    name="nsx.dlr_arp_table",
    meaning="The neighbour (ARP) tables themselves, one row for each logical router whose table was printed.",
    source="net-vdr --nbr -l <vdr>; commands/dump-vdr-info.sh.txt",
    ask="`net-vdr --nbr -l <vdr>` for each logical router; `net-vdr --instance -l` lists their names",
    key=("vdr",),
    columns=(
        VDR,
        VDR_ID,
        Column("entries", "int", "entries read of the table", "entries"),
        Column("nascent_entries", "int", "entries not resolved (flag N)", "entries"),
    ),
)

INSTANCE = Table(
    name="nsx.vdr",
    meaning="Distributed logical routers on a host.",
    source="net-vdr --instance -l; commands/dump-vdr-info.sh.txt",
    ask="`net-vdr --instance -l`",
    key=("vdr",),
    columns=(
        VDR,
        VDR_ID,
        Column("lifs", "int", "interfaces", "interfaces"),
        Column("routes", "int", "routes", "routes"),
        Column("state", "str", "Enabled, …"),
        Column("controller_ip", "str", "controller that serves the router", form=IP_FORM),
        Column("control_plane_active", "bool", "the host's control plane serves it"),
        Column("control_plane_ip", "str", "address the host talks to the controller from", form=IP_FORM),
        Column("edge_active", "bool", "an edge serves it"),
    ),
)

LIF = Table(
    name="nsx.vdr_lif",
    meaning="Interfaces (LIF) of the distributed logical routers on a host.",
    source="net-vdr --lif -l <vdr>; commands/dump-vdr-info.sh.txt",
    ask="`net-vdr --lif -l <vdr>` for each logical router; `net-vdr --instance -l` lists their names",
    key=("vdr", "lif"),
    columns=(
        VDR,
        VDR_ID,
        Column("lif", "str", "name of the interface"),
        Column("mode", "str", "Routing, Distributed, Internal, …"),
        Column("network_id", "str", "Vxlan:5004, Vlan:100"),
        Column("ip", "str", "address", form=IP_FORM),
        Column("mask", "str", "netmask", form=IP_FORM),
        Column("dvs", "str", "distributed switch it is connected to"),
        Column("state", "str", "Enabled, …"),
    ),
)

_NAME = r"(?P<vdr>\S+?)(?::(?P<vdr_id>\d+))?"
_TITLES = {
    "nsx_vdr_instance": r"VDR Instance Information\s*:",
    "nsx_vdr_lif": rf"VDR {_NAME} LIF Information\s*:",
    "nsx_dlr_arp": rf"VDR {_NAME} ARP Information\s*:",
    "": rf"(?:VDR {_NAME} (?:Route Table|Bridge Information\s*:)|VDR Designated Instance Statistics\s*:)",
}
_TITLE = {name: re.compile(rf"^\s*{title}") for name, title in _TITLES.items()}
_TABLES = {"nsx_vdr_instance": INSTANCE, "nsx_vdr_lif": LIF, "nsx_dlr_arp": ARP}
_ARP_HEAD = re.compile(r"^\s*Network\s+Mac\s+Flags\s+Expiry\b")


def parse(block: Block) -> Output:
    """Read any of the outputs, or several one after another, each by its title."""
    return answers(_sections(block))


def _sections(block: Block) -> Output:
    for template, part in _split(block):
        if not template:  # routes, bridges, statistics: other data, not read yet
            yield from _untitled(part)
            continue
        table = _TABLES[template]
        extra = typed(part.params, table)
        entries = nascent = 0
        for item in rows(table, template, part, extra):
            if isinstance(item, Row):
                item.block = block
                if table is ARP:
                    _flags(item.values)
                    entries += 1
                    nascent += item.values["is_nascent"] is True
            yield item
        if table is ARP:
            counted: dict[str, Value] = {"entries": entries, "nascent_entries": nascent}
            names: dict[str, Value] = {name: extra.get(name) for name in ("vdr", "vdr_id")}
            yield Row(ARP_TABLE, names | counted, block, part.first_line)


def _untitled(part: Block) -> Iterator[Fault]:
    """An output without any title is an answer we do not know: each of its lines is a fault."""
    lines = [(n, line) for n, line in enumerate(part.lines, part.first_line) if line.strip()]
    if not lines or _title(lines[0][1]) is not None:
        return
    for number, line in lines:
        yield Fault(part.address, number, line, PARSER.name, why="before the first title of a section")


def _split(block: Block) -> Iterator[tuple[str, Block]]:
    """Yield (template, its part of the block); a part's params name its router."""
    template, begin, params = "", 0, dict(block.params)
    for number, line in enumerate(block.lines):
        found = _title(line)
        if found is None and not template and _ARP_HEAD.match(line):
            found = "nsx_dlr_arp", {}  # the title was not copied along
        if found is None:
            continue
        if number > begin:
            yield template, _part(block, begin, number, params)
        template, begin, params = found[0], number, dict(block.params) | found[1]
    yield template, _part(block, begin, len(block.lines), params)


def _title(line: str) -> tuple[str, dict[str, str]] | None:
    if "VDR " not in line:
        return None
    for template, pattern in _TITLE.items():
        if match := pattern.match(line):
            return template, {key: value for key, value in match.groupdict().items() if value}
    return None


def _part(block: Block, begin: int, end: int, params: dict[str, str]) -> Block:
    return replace(block, lines=block.lines[begin:end], first_line=block.first_line + begin, params=params)


def _flags(values: dict[str, Value]) -> None:
    flags = str(values["flags"] or "")
    values["is_permanent"] = values["expiry_s"] is None
    values["is_nascent"] = "N" in flags
    values["is_dynamic"] = "I" not in flags and "S" not in flags


PARSER = Parser(
    name="nsx_vdr",
    tables=(ARP, ARP_TABLE, INSTANCE, LIF),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)(?:dump-vdr-info\.sh|net-vdr_[^/]*--(?:nbr|lif|instance)[^/]*)\.txt$",),
    commands=(
        r"\bnet-vdr\s+(?:-\S+\s+)*--?(?:nbr|N)\s+(?:-\S+\s+)*?-l\s+(?P<vdr>[^\s|;]+)",
        r"\bnet-vdr\s+(?:-\S+\s+)*--?(?:lif|L)\s+(?:-\S+\s+)*?-l\s+(?P<vdr>[^\s|;]+)",
        r"\bnet-vdr\s+(?:-\S+\s+)*--?(?:instance|I)\b",
        r"\bdump-vdr-info\.sh\b",
        r"^\s*show logical-router host \S+ dlr \S+ (?:arp|interface|instance|route)",
    ),
    shape=rf"^\s*(?:{_TITLES['nsx_vdr_instance']}|{_TITLES['nsx_vdr_lif']}|VDR \S+ ARP Information\s*:)",
    body=(
        r"^\s*(?:VDR |Legend: |Network\s+Mac|-{3,}|\d+\.\d+\.\d+\.\d+\s|[0-9A-Fa-f:]+\s"
        r"|[A-Z][A-Za-z ()]{1,30}:\s|error: )"
    ),
)
