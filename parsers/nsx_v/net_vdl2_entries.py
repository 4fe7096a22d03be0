"""`net-vdl2 -M vtep|mac|arp -s SWITCH -n VNI` on a host: what it knows of one logical switch.

Source: two public scripts that read it, which agree on its labels and on the number of lines an entry has: a line
with the count, then three lines a VTEP, four a MAC address, three an ARP entry. No capture of a host was at hand, so
what has other labels is a fault, and no rule rests on these tables. `dump-vxlan-info.py.txt` of a bundle holds the same
below a line `Executing:: …`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import IP_FORM, MAC_FORM, Block, Column, Table

from ..common._nsxt import place_cells, row_at_first_cell
from .vxlan_mac import PARSER as MACS

_SOURCE = "net-vdl2 -M {}"
_ASK = "`net-vdl2 -M {} -s <switch> -n <vni>`"
_SWITCH = (
    Column("dvs", "str", "distributed switch, where the command tells"),
    Column("vni", "int", "VXLAN network identifier, where the command tells"),
)
VTEP = Table.of(
    "nsx.vxlan_vtep",
    "VTEPs of other hosts in a logical switch, as a host knows them.",
    _SOURCE.format("vtep"),
    *_SWITCH,
    Column("segment", "str", "network of the VTEP", form=IP_FORM),
    Column("ip", "str", "address of the VTEP", form=IP_FORM),
    Column("is_mtep", "bool", "it replicates for its network"),
    ask=_ASK.format("vtep"),
)
ARP = Table.of(
    "nsx.vxlan_arp",
    "ARP suppression cache of a logical switch on a host.",
    _SOURCE.format("arp"),
    *_SWITCH,
    Column("ip", "str", "address", form=IP_FORM),
    Column("mac", "str", "its MAC address; ff:ff:ff:ff:ff:ff where it is not known", form=MAC_FORM),
    Column("flags", "str", "flags as printed"),
    ask=_ASK.format("arp"),
)
MAC = MACS.tables[0]
TABLES = (VTEP, MAC, ARP)
COUNTS = Table.of(
    "nsx.vxlan_count",
    "How many entries a host has of each logical switch.",
    "commands/dump-vxlan-info.py.txt",
    *_SWITCH,
    Column("vteps", "int", "VTEPs of other hosts", "VTEPs"),
    Column("mac_entries", "int", "MAC addresses known of the network", "entries"),
    Column("arp_entries", "int", "entries of its ARP suppression cache", "entries"),
    ask="`net-vdl2 -M vtep -s <switch> -n <vni>`, `net-vdl2 -M mac -s <switch> -n <vni>` and "
    "`net-vdl2 -M arp -s <switch> -n <vni>`",
)

# First label of an entry -> table, and label -> column, all in small letters.
_KINDS = {
    "segment id": (VTEP, {"segment id": "segment", "vtep ip": "ip", "is mtep": "is_mtep"}),
    "inner mac": (
        MAC,
        {
            "inner mac": "inner_mac",
            "outer mac": "outer_mac",
            "outer ip": "outer_ip",
            "flags": "flags",
        },
    ),
    "ip": (ARP, {"ip": "ip", "mac": "mac", "flags": "flags"}),
}
_LINE = re.compile(r"\s*(?P<label>[A-Za-z][A-Za-z ]{1,30}?)\s*:\s*(?P<text>\S.*?)\s*$")
_COUNTED = {"vtep": "vteps", "mac": "mac_entries", "arp": "arp_entries"}
_COUNT = re.compile(r"\s*(?P<kind>VTEP|MAC|ARP)(?: entry)? count\s*:\s*(?P<count>\d+)\s*$", re.I)
_ASKED = re.compile(r"net-vdl2 -M \w+(?=.*? -s (?P<dvs>\S+))?(?=.*? -n (?P<vni>\S+))?")
_Cells = dict[str, tuple[str, int]]


def parse_block(block: Block) -> Output:
    """Read the entries of one output, one row each."""
    return read_entries(block, PARSER.name, block.lines, block.first_line, block.params)


def read_executed(block: Block, parser: str) -> Output:
    """Read the counts that `net-vdl2 -M` printed below the lines `Executing::` of a dump, one row a logical switch.

    The entries themselves are thousands on a host, and only the counts are kept; entries are read where the command
    was typed.
    """
    counts: dict[tuple[str, str], _Cells] = {}
    for number, line in enumerate(block.lines[:-1]):
        if "Executing::" in line:
            found = _ASKED.search(line)
        else:
            found = None
        if found is None:
            continue
        at = block.first_line + number
        # The count is in one of the three lines below the command
        counted = None
        count_line = 0
        for below in range(number + 1, min(number + 4, len(block.lines))):
            counted = _COUNT.match(block.lines[below])
            if counted is not None:
                count_line = block.first_line + below
                break
        if counted is None:
            yield fault_at(block, at + 1, parser, "no count of entries")
            continue
        key = found["dvs"] or "", found["vni"] or ""
        column = _COUNTED[counted["kind"].lower()]
        if column in counts.get(key, ()):  # the same output again
            yield from _flush_counts(block, parser, counts)
        cells = counts.setdefault(key, place_cells(found.groupdict(), at))
        cells[column] = (counted["count"], count_line)
    yield from _flush_counts(block, parser, counts)


def _flush_counts(block: Block, parser: str, counts: dict[tuple[str, str], _Cells]) -> Output:
    """Yield a row for each logical switch that was counted so far, and forget them."""
    for cells in counts.values():
        yield from row_at_first_cell(COUNTS, block, parser, cells)
    counts.clear()


def read_entries(
    block: Block, parser: str, lines: Sequence[str], first: int, asked: dict[str, str]
) -> Output:
    """Read lines of one output; `first` is the number of the first of them, `asked` what its command gave."""
    expected, rows, odd = 0, 0, 0
    table = VTEP
    labels = dict[str, str]()
    cells = _Cells()
    for at, line in enumerate(lines, first):
        counted = _COUNT.match(line)
        found = None if counted else _LINE.match(line)
        label = found["label"].lower() if found else ""
        begins = label in _KINDS and (not cells or label == next(iter(labels)))
        if (
            counted or begins or labels.get(label) in cells
        ):  # the last: the head of an entry was lost
            rows += bool(cells)
            yield from row_at_first_cell(table, block, parser, cells)
            cells = {}
        if counted:
            expected += int(counted["count"])
            continue
        if begins:
            table, labels = _KINDS[label]
            cells = {name: (value, at) for name, value in asked.items()}
        if found and label in labels and (cells or begins):
            cells[labels[label]] = (found["text"], at)
        elif line.strip().strip("-="):
            odd += 1
            yield fault_at(block, at, parser, "not a line of this output")
    rows += bool(cells)
    yield from row_at_first_cell(table, block, parser, cells)
    if expected != rows and not odd:
        yield fault_at(block, first, parser, f"it counts {expected} entries, and {rows} are here")


PARSER = Parser(
    name="net_vdl2_entries",
    tables=TABLES,
    parse=parse_block,
    node="esxi",
    commands=(
        r"\bnet-vdl2 -M (?:vtep|mac|arp)\b(?=(?:.*? -s (?P<dvs>\S+))?)(?=(?:.*? -n (?P<vni>\d+))?)",
    ),
    body=r"^\s*(?:(?:VTEP|MAC|ARP)(?: [Ee]ntry)? [Cc]ount\s*:|[A-Z][A-Za-z]*(?: [A-Za-z]+){0,2}:\s|-{3,})",
)
