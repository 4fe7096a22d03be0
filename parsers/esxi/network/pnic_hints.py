"""`vim-cmd hostsvc/net/query_networkhint`: what a physical NIC hears of its switch by CDP and LLDP.

Source: an output of 5.0 that an administrator published, and the `PhysicalNicHintInfo` of the vSphere API. Each
adapter has an object of its own; `connectedSwitchPort` is CDP, `lldpInfo` LLDP.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ...common._nsxt import row_at_first_cell

TABLE = Table.of(
    "esxi.pnic_neighbor",
    "The port of the physical switch that each physical NIC is connected to, as CDP or LLDP tells the host.",
    "vim-cmd hostsvc/net/query_networkhint",
    KeyColumn("pnic", "str", "physical NIC of the host"),
    KeyColumn("neighbor_protocol", "str", "CDP or LLDP; none where the NIC hears of no switch"),
    Column("neighbor_name", "str", "name of the switch: devId, System Name"),
    Column("neighbor_address", "str", "address of the switch"),
    Column("neighbor_port", "str", "port of the switch: GigabitEthernet0/27"),
    Column("neighbor_platform", "str", "hardware of the switch"),
    Column("neighbor_software", "str", "first line of the software of the switch"),
    Column("native_vlan", "int", "VLAN without a tag on that port"),
    Column("neighbor_mtu", "int", "MTU that the switch states", "bytes"),
    ask="`vim-cmd hostsvc/net/query_networkhint` on the host",
)
_LINE = re.compile(r"\s*(?P<key>\w+)\s*=\s*(?P<text>.*?),?\s*$")
_NIC = re.compile(r"\s*device\s*=\s*\"(?P<pnic>[\w.-]+)\"")
_CDP = {
    "devId": "neighbor_name", "address": "neighbor_address", "portId": "neighbor_port",
    "hardwarePlatform": "neighbor_platform", "softwareVersion": "neighbor_software", "vlan": "native_vlan",
    "mtu": "neighbor_mtu",
}  # fmt: skip
_LLDP = {
    "System Name": "neighbor_name", "Management Address": "neighbor_address", "Port ID": "neighbor_port",
    "portId": "neighbor_port", "System Description": "neighbor_software", "Vlan ID": "native_vlan",
    "MTU": "neighbor_mtu",
}  # fmt: skip
_PROTOCOLS = {"connectedSwitchPort": ("CDP", _CDP), "lldpInfo": ("LLDP", _LLDP)}
_TYPED = re.compile(r"^\((?:int|short|string|byte)\)\s*")
_FRAME = re.compile(
    r"\s*(?:\((?:vim|vmodl)\.[\w.]+\)(?: null)?\s*[\[{]?|Array of \w+.*|[\]}\[{),]+|\.\.\.)?,?\s*$"
)


def parse_block(block: Block) -> Output:
    """Read what each adapter hears, one row for each protocol; an adapter that hears nothing is a row as well."""
    heard = _Heard(block)
    open_text = False  # a text that goes on over several lines: the software of a switch
    for number, line in enumerate(block.lines, block.first_line):
        quotes = line.count('"')
        if open_text:
            open_text = quotes % 2 == 0
        elif nic := _NIC.match(line):
            yield from heard.begin_nic(nic["pnic"], number)
        elif found := _LINE.match(line):
            yield from heard.take_line(found["key"], found["text"], number)
            open_text = quotes % 2 == 1
        elif not _FRAME.match(line):
            yield fault_at(block, number, PARSER.name, "not a line of this output")
    yield from heard.begin_nic("", block.first_line)


class _Heard:
    """What was read of one adapter so far."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.pnic = self.key = ""
        self.line = block.first_line
        self.has_row = True
        self.cells: dict[str, tuple[str, int]] = {}
        self.columns: dict[str, str] = {}

    def begin_nic(self, pnic: str, line: int) -> Output:
        """Yield what is left of the adapter above."""
        if not self.has_row and not self.cells:
            self.cells = {"pnic": (self.pnic, self.line)}
        yield from self._make_row()
        self.pnic, self.line = pnic, line
        self.has_row = not pnic
        self.columns = {}

    def take_line(self, key: str, text: str, line: int) -> Output:
        """Take a line `key = text`; yield the row that it ends."""
        if key in _PROTOCOLS and self.pnic:
            yield from self._make_row()
            self.columns = {}
            if not text.endswith("null") and text != "<unset>":
                protocol, self.columns = _PROTOCOLS[key]
                self.cells = {"pnic": (self.pnic, line), "neighbor_protocol": (protocol, line)}
                self.has_row = True
        elif key == "key":
            self.key = text.strip("\"'")
        else:
            column = self.columns.get(self.key if key == "value" else key)
            text = _TYPED.sub("", text).strip("\"'").strip()
            if column and text not in ("", "<unset>") and column not in self.cells:
                self.cells[column] = text, line

    def _make_row(self) -> Output:
        yield from row_at_first_cell(TABLE, self.block, PARSER.name, self.cells)
        self.cells = {}


PARSER = Parser(
    name="pnic_hints",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(r"\bhostsvc/net/query_networkhint\b",),
    shape=r"^\s*(?:Array of PhysicalNicHintInfo|\(vim\.host\.PhysicalNic\.NetworkHint\) [\[{])",
    body=r"^\s*(?:\(vim|\(vmodl|[\])}]|\w+\s*=|\"|'|\(string\)|$|Technical|Copyright|Compiled|Cisco|\S+ \(\S+\))",
)
