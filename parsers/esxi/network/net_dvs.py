"""`net-dvs -l`: distributed switches as the host has them: MTU, uplinks, LACP, and each port with its policies.

Source: `commands/net-dvs_-l.txt` or the command. `switch <uuid> (etherswitch)`, then `global properties:`, `host
properties:` and `port <id>:`, each with `com.vmware.… = value ,  propType = CONFIG`; what takes more lines stands
deeper below `com.vmware.…:`. Copies lose the indents, so the names tell where a property begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.signs import named_by, says_bad
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table
from analyzer.forms.columns import bundle_files

TABLE = Table.of(
    "esxi.dvs_property",
    "Properties of distributed switches and their ports, one row a value.",
    "net-dvs -l; commands/net-dvs_-l.txt",
    KeyColumn("dvs_uuid", "str", "UUID of the distributed switch"),
    Column("dvs_name", "str", "distributed switch"),
    KeyColumn("dvport", "str", "port of the distributed switch; none for the switch itself"),
    KeyColumn(
        "dvs_property", "str", "name of the property without com.vmware.: common.portset.mtu"
    ),
    KeyColumn(
        "dvs_part",
        "str",
        "part of a property of more lines: load balancing, active, mode, pktsInDropped",
    ),
    Column(
        "dvs_text",
        "str",
        "value as printed",
        sign=says_bad("true").only_where("dvs_property", "port.block", "blocked", "link down"),
    ),
    Column("dvs_number", "int", "value where it is a whole number", sign=named_by("dvs_property")),
    ask="`net-dvs -l`",
)

MOST_VALUES = 100_000  # of one output: a host has thousands of ports
_SWITCH = re.compile(r"\s*switch (?P<uuid>[0-9a-f][0-9a-f -]{20,60}[0-9a-f]) \(\w+\)\s*$")
_SECTION = re.compile(
    r"\s*(?P<section>global properties|host properties|max ports|port (?P<port>\S{1,80})):(?P<rest>.*)$"
)
_PROPERTY = re.compile(r"\s*com\.vmware\.(?P<name>[\w.]+)\s*(?P<sign>[=:])\s*(?P<value>.*)$")
_PART = re.compile(r"\s*(?P<part>\w[\w /-]{0,60}?)\s*=\s*(?P<value>.*)$")
_TYPE = re.compile(r"[,;\s]*propType = [A-Z ]+\s*$")
_ITEM = r"[\w(][\w.:/()-]*(?: [\w.:/()-]+){0,3}"
_LEVEL = re.compile(rf"\s*{_ITEM}(?:, {_ITEM})*[,;]?\s*$")  # a line of a list: pools, uplinks
_NUMBER = re.compile(r"-?\d{1,18}$")


def parse_block(block: Block) -> Output:
    """Read the properties of all switches; a name that comes below its rows is filled in by the switch's alias."""
    rows: list[Row] = []
    for item in _Reader(block).read():
        if isinstance(item, Row):
            rows.append(item)
            if len(rows) > MOST_VALUES:
                yield fault_at(
                    block, item.line, PARSER.name, f"more than {MOST_VALUES:,} values in one output"
                )
                rows.pop()
                break
        else:
            yield fault_at(block, item, PARSER.name, "not a line of net-dvs")
    names = {
        row.values["dvs_uuid"]: row.values["dvs_text"]
        for row in rows
        if row.values["dvs_property"] == "common.alias"
    }
    for row in rows:
        row.values["dvs_name"] = names.get(row.values["dvs_uuid"])
        yield row


class _Reader:
    """Reads the lines of an output one after the other."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.switch: str | None = None
        self.port: str | None = None
        self.property = ""

    def read(self) -> Iterator[Row | int]:
        """Yield a row for each value, and the number of each line that is none."""
        for number, line in enumerate(self.block.lines, self.block.first_line):
            if not line.strip():
                continue
            if len(line) <= MOST_LINE:
                text = _TYPE.sub("", line)
            else:
                text = None
            if text is None:
                yield number
            elif found := _SWITCH.match(line):
                self.switch, self.port, self.property = found["uuid"], None, ""
            elif found := _SECTION.match(line):
                self.port, self.property = found["port"], ""
            elif found := _PROPERTY.match(text):
                self.property = found["name"]
                yield from self._read_value(number, "", found["value"])
            elif text.strip():
                found = _PART.match(text)
                if self.property and found:
                    yield from self._read_value(number, found["part"], found["value"])
                elif self.property and _LEVEL.match(text):
                    yield from self._read_value(number, "", text.strip())
                else:
                    yield number

    def _read_value(self, number: int, part: str, text: str) -> Iterator[Row]:
        text = text.strip().rstrip(",;").strip()
        if text:
            values = {
                "dvs_uuid": self.switch,
                "dvs_name": None,
                "dvport": self.port,
                "dvs_property": self.property,
            }
            values |= {"dvs_part": part or None, "dvs_text": text}
            if _NUMBER.match(text):
                number_of = int(text)
            else:
                number_of = None
            yield Row(TABLE, {**values, "dvs_number": number_of}, self.block, number)


PARSER = Parser(
    name="net_dvs",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=bundle_files("net-dvs -l"),
    commands=(r"\bnet-dvs(?:\s+-l\b|\s*$|\s*\|)",),
    shape=r"^\s*switch [0-9a-f][0-9a-f -]{20,60}[0-9a-f] \(\w+\)\s*$",
    body=(
        r"^\s*(?:switch [0-9a-f]|(?:global|host) properties:|max ports:|port \S+:|com\.vmware\.|propType ="
        r"|\w[\w /-]{0,60}? = |netsched\.|\w[\w /-]{0,40}:|[\w.-]+(?:, [\w.-]+)*,?\s*$)"
    ),
)
