"""What the NSX parsers share: the manager's table, answers of the REST API, the CLI's refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import (
    Block,
    Column,
    ColumnValueError,
    Fault,
    KeyColumn,
    Row,
    Table,
    Value,
    convert_cell,
)
from analyzer.forms import Field, Key, Param, text_table

from ._xml import Element

VERSION_FORM = r"\d+(?:\.\d+)+.*"

MANAGER = Table.of(
    "nsx.manager",
    "The NSX Manager (NSX for vSphere): its release, one row for each place that states it.",
    "sys_info of the Manager's bundle; REST appliance-management; the vCenter extension",
    KeyColumn("hostname", "str", "name of the Manager, where stated"),
    Column("ip", "str", "address of the Manager, where stated"),
    Column("version", "version", "release: 6.3.3", form=VERSION_FORM),
    Column("build", "int", "build of the Manager; controllers, edges and VIBs have other numbers"),
    Column("uptime_s", "float", "time since the Manager started", "s"),
    Column("source", "str", "where it is stated: sys_info, rest, json, extension, components"),
    ask="NSX Manager tech-support bundle, or `GET /api/1.0/appliance-management/global/info`",
)

# What the CLI of manager and controller answers instead of an output.
REFUSED = re.compile(r"^\s*(?:error: |%\s*\S|Error: |ERROR: )(?P<what>.*)$")


def xml_shape(*tags: str) -> str:
    """Return the shape of an XML answer with one of these roots, after its declaration or alone."""
    return rf"^\s*(?:<\?xml[^>]{{0,200}}\?>\s*)?<(?:{'|'.join(tags)})(?:\s[^>]{{0,500}})?/?>"


XML_BODY = r"^(?:\s*<|[^<>]*</|\s*\.\.\.\s*$)"


Cells = Mapping[str, Element | str | None]


def make_row(table: Table, block: Block, element: Element, cells: Cells) -> Iterable[Row | Fault]:
    """Yield a row of typed values read from an element.

    A cell is a child element (its text, on its own line), a text, or None. A cell of the wrong
    type is a Fault and stays empty.
    """
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for column in table.columns:
        cell = cells.get(column.name)
        text, line = (
            (cell.text.strip(), cell.line) if isinstance(cell, Element) else (cell, element.line)
        )
        try:
            values[column.name] = convert_cell(column, text)
        except ColumnValueError as error:
            values[column.name] = None
            raw = block.lines[line - block.first_line][:300]
            yield Fault(block.address, line, raw, table.name, why=str(error))
        if line != element.line and values[column.name] is not None:
            lines[column.name] = line
    yield Row(table, values, block, element.line, lines)


def version_cells(info: Element | None) -> dict[str, Element | str | None]:
    """Return version and build of a `versionInfo` element; empty when a part is missing.

    A part that is no number makes a version that is none, which `row` reports.
    """
    if info is None:
        return {}
    parts = [info.get(f"{part}Version") for part in ("major", "minor", "patch")]
    if not all(parts):
        return {}
    return {
        "version": Element("version", info.line, [".".join(parts)]),
        "build": info.child("buildNumber"),
    }


def convert_stamp(element: Element | None) -> Element | None:
    """Return an element whose text is a time in milliseconds since 1970 with an ISO stamp in UTC as its text.

    A text that is no such number stays as it is: `row` reports it, as it does a year out of range.
    """
    text = element.text.strip() if element else ""
    if element is None or not (text.isascii() and text.isdigit()) or len(text) > 14:
        return element
    when = datetime.fromtimestamp(int(text) / 1000, UTC)
    iso = when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}"
    return Element(element.tag, element.line, [iso])


def name_refusals(faults: Iterable[Row | Fault]) -> Iterable[Row | Fault]:
    """Say of a line the CLI answered with an error that it did, instead of "not understood"."""
    for item in faults:
        if isinstance(item, Fault) and (refused := REFUSED.match(item.text)):
            yield Fault(
                item.address,
                item.line,
                item.text,
                item.parser,
                why=f"the node answered: {refused['what'].strip()}",
            )
        else:
            yield item


# Fields of the tables of a logical switch.
VNI = Key("VNI", "vni", "int", "VXLAN network identifier", pattern=r"\S+")
CONNECTION = Field(
    "Connection-ID",
    "connection_id",
    "int",
    "number of the host's connection, as in the connection table",
    pattern=r"\S+",
)


def controller_table(
    name: str, command: str, table: str, meaning: str, *fields: Field | Param, typed: str, body: str
) -> Parser:
    """Return the parser of a table that the CLI of an NSX Controller prints, one row a line.

    command  as a customer is asked to type it; typed: its regex, whose groups are the columns that are a `Param`
    body     regex of how a row begins
    """
    return text_table(
        name,
        table,
        *fields,
        meaning=meaning,
        source=f"{command} (on each controller)",
        ask=f"`{command}` on each NSX Controller",
        node="nsx_controller",
        commands=(typed,),
        body=body,
        answers=name_refusals,
    )
