"""Distributed logical routers (VDR) of an ESXi host: instances, interfaces, ARP and route tables, bridges.

NSX-T 2 prints the same with `DR` for `VDR`, a UUID for the name, and `Ip/Mask` for `Ip(Mask)`.
Sources: `net-vdr` with `--nbr`, `--instance`, `--lif`, `--route`, `--bridge` and `--di`; its outputs one after
another in `dump-vdr-info.sh.txt` of a vm-support bundle; the central CLI's `show logical-router host …`.
The order of the sections is not relied on: each begins with its title. The ARP table here is
the DLR's neighbour table: neither the ARP suppression cache of a logical switch nor the
table of an Edge. No total is printed; the rows are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from analyzer.artefacts.parsing import Output, Parser, convert_params, read_rows
from analyzer.artefacts.tables import Block, Fault, Row, Value

from ..common._nsx import name_refusals
from ._vdr import (
    ARP,
    ARP_TABLE,
    BRIDGE,
    BRIDGE_MAC,
    BRIDGE_NETWORK,
    DI_COUNTER,
    INSTANCE,
    LIF,
    ROUTE,
)

_NAME = r"(?P<vdr>\S+?)(?::(?P<vdr_id>\d+))?"
_TITLES = {
    "nsx_vdr_instance": r"V?DR Instance Information\s*:",
    "nsx_vdr_lif": rf"V?DR {_NAME} LIF Information\s*:",
    "nsx_dlr_arp": rf"V?DR {_NAME} ARP Information\s*:",
    "nsx_dlr_route": rf"V?DR {_NAME} Route Table\b",
    "nsx_vdr_bridge": rf"V?DR {_NAME} Bridge Information\s*:",
    "nsx_vdr_di": r"V?DR Designated Instance Statistics\s*:",
}
_TITLE = {name: re.compile(rf"^\s*{title}") for name, title in _TITLES.items()}
_ANY_TITLE = "|".join(re.sub(r"\?P<\w+>", "?:", title) for title in _TITLES.values())
_TABLES = {
    "nsx_vdr_instance": INSTANCE,
    "nsx_vdr_lif": LIF,
    "nsx_dlr_arp": ARP,
    "nsx_dlr_route": ROUTE,
    "nsx_vdr_di": DI_COUNTER,
}
# Headings of tables whose title was not copied along.
_HEADS = {
    "nsx_dlr_arp": re.compile(r"^\s*Network\s+Mac\s+Flags\s+Expiry\b"),
    "nsx_dlr_route": re.compile(r"^\s*Destination\s+GenMask\s+Gateway\s+Flags\b"),
}


# All that a section of bridges tells, in the columns of its three tables; what tells a row of each from the
# others, and what only such a row has.
_BRIDGE_TABLES = (BRIDGE, BRIDGE_NETWORK, BRIDGE_MAC)
_BRIDGES = replace(
    BRIDGE,
    columns=tuple(
        {column.name: column for table in _BRIDGE_TABLES for column in table.columns}.values()
    ),
)
_HEADED = ((BRIDGE_MAC, "address_type"), (BRIDGE_NETWORK, "network"), (BRIDGE, "bridge"))
_OWN = {
    BRIDGE.name: ("networks", "bridge_uplinks"),
    BRIDGE_NETWORK.name: ("network_type", "vlan", "vni", "ageing"),
    BRIDGE_MAC.name: ("address_type",),
}


def parse_block(block: Block) -> Output:
    """Read any of the outputs, or several one after another, each by its title."""
    return name_refusals(_read_sections(block))


def _read_sections(block: Block) -> Output:
    for template, part in _split_sections(block):
        if not template:
            # An output without any title is an answer we do not know
            for number, line in enumerate(part.lines, part.first_line):
                if line.strip():
                    yield Fault(
                        part.address,
                        number,
                        line,
                        PARSER.name,
                        why="before the first title of a section",
                    )
            continue
        if template == "nsx_vdr_bridge":
            found = _read_bridges(part)
        else:
            found = _read_table(template, part)
        for item in found:
            if isinstance(item, Row):
                item.block = block
            yield item


def _read_table(template: str, part: Block) -> Output:
    """Read a section whose rows are all of one table."""
    table = _TABLES[template]
    extra = convert_params(part.params, table)
    entries = nascent = 0
    for item in read_rows(table, template, part, extra):
        if table is ARP and isinstance(item, Row):
            flags = str(item.values["flags"] or "")
            item.values["is_permanent"] = item.values["expiry_s"] is None
            item.values["is_nascent"] = "N" in flags
            item.values["is_dynamic"] = "I" not in flags and "S" not in flags
            entries += 1
            nascent += item.values["is_nascent"] is True
        yield item
    if table is ARP:
        counted: dict[str, Value] = {"entries": entries, "nascent_entries": nascent}
        names: dict[str, Value] = {name: extra.get(name) for name in ("vdr", "vdr_id")}
        yield Row(ARP_TABLE, names | counted, part, part.first_line)


def _read_bridges(part: Block) -> Output:
    """Read a section of bridges: each bridge, each of its networks, each MAC address that a network knows."""
    for item in read_rows(_BRIDGES, "nsx_vdr_bridge", part, convert_params(part.params, _BRIDGES)):
        if not isinstance(item, Row):
            yield item
            continue
        values = item.values
        table, head = next(
            (one, name) for one, name in _HEADED if values[name] is not None or one is BRIDGE
        )
        if any(values[name] is not None for name in _OWN[table.name]):  # not a heading alone
            lines = {name: item.line_of(name) for name in item.lines if table.column(name)}
            item.table, item.line = table, item.line_of(head)
            item.lines = {name: line for name, line in lines.items() if line != item.line}
            item.values = {column.name: values[column.name] for column in table.columns}
            yield item


def _split_sections(block: Block) -> Iterator[tuple[str, Block]]:
    """Yield (template, its part of the block); a part's params name its router."""
    template, begin, params = "", 0, dict(block.params)
    for number, line in enumerate(block.lines):
        found: tuple[str, dict[str, str]] | None = None
        if "DR " in line:
            for name, pattern in _TITLE.items():
                if match := pattern.match(line):
                    found = name, {key: text for key, text in match.groupdict().items() if text}
                    break
        if found is None and not template:
            found = next(((name, {}) for name, head in _HEADS.items() if head.match(line)), None)
        if found is None:
            continue
        if number > begin:
            yield template, _cut_part(block, begin, number, params)
        template = found[0]
        begin = number
        params = dict(block.params) | found[1]
    yield template, _cut_part(block, begin, len(block.lines), params)


def _cut_part(block: Block, begin: int, end: int, params: dict[str, str]) -> Block:
    return replace(
        block, lines=block.lines[begin:end], first_line=block.first_line + begin, params=params
    )


# Options of net-vdr that print what a router has, long or short.
_WHAT = r"(?:-\S+\s+)*--?(?:nbr|N|lif|L|route|R|bridge|b)"

PARSER = Parser(
    name="nsx_vdr",
    tables=(ARP, ARP_TABLE, INSTANCE, LIF, ROUTE, BRIDGE, BRIDGE_NETWORK, BRIDGE_MAC, DI_COUNTER),
    parse=parse_block,
    node="esxi",
    files=(
        r"(?:^|/)(?:dump-vdr-info\.sh|net-vdr_[^/]*--?(?:nbr|lif|instance|route|bridge|di|[NLIRbD])_?[^/]*)\.txt$",
    ),
    commands=(
        rf"\bnet-vdr\s+{_WHAT}\s+(?:-\S+\s+)*?-l\s+(?P<vdr>[^\s|;]+)",
        r"\bnet-vdr\s+(?:-\S+\s+)*--?(?:instance|I|di|D|bridge|b)\b",
        r"\bdump-vdr-info\.sh\b",
        r"^\s*show logical-router host \S+ dlr \S+ (?:arp|bridge|interface|instance|route)",
    ),
    shape=rf"^\s*(?:{_ANY_TITLE})",
    body=(
        r"^\s*(?:V?DR |Legend: |Network\s+Mac|Destination\s|-{3,}|[0-9A-Fa-fXx*]{1,4}(?:[.:][0-9A-Fa-fXx*]{1,4})+\s"
        r"|[A-Z][A-Za-z ()/]{1,30}:\s|Name:id\s|Network '|Network port '|Bridge config:|Portset name:"
        r"|Fdb entry hold time:|MAC |(?:total )?number of MAC |Single MAC |error: )"
    ),
)
