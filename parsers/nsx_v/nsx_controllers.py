"""The NSX Controllers of a Manager and what it thinks of each.

Sources: REST `GET /api/2.0/vdn/controller` (XML) and the central CLI `show controller list all`.
The states of REST are RUNNING, UNKNOWN ("deployed but fails to respond to API invocation"),
DEPLOYING, REMOVING; the heading of the CLI's list is in no public source, its lines are
(`controller-1 <ip> RUNNING`).
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser, read_rows
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Row, Table

from ..common._nsx import XML_BODY, make_row, name_refusals, xml_shape
from ..common._xml import read_xml

TABLE = Table.of(
    "nsx.controllers",
    "NSX Controllers as the Manager lists them.",
    "show controller list all; GET /api/2.0/vdn/controller",
    KeyColumn("controller_id", "str", "controller-1, …"),
    Column("name", "str", "name given to the controller (REST)"),
    Column("ip", "str", "address of the controller", form=IP_FORM),
    Column(
        "state",
        "str",
        "as the Manager says, in capitals: RUNNING, UNKNOWN, DEPLOYING, REMOVING",
        sign=says_good("running", "normal", weight=4),
    ),
    Column("version", "version", "version of the controller, not of NSX (REST)"),
    Column("uptime_s", "float", "time since the controller started, where stated", "s"),
    Column("source", "str", "cli or rest"),
    ask="`GET /api/2.0/vdn/controller` or `show controller list all` on the NSX Manager",
)


def parse_block(block: Block) -> Output:
    """Read the list of controllers, one row each; `state` is upper case whatever was printed."""
    is_xml = any(line.lstrip().startswith("<") for line in block.lines[:3])
    for item in (
        _read_rest(block) if is_xml else name_refusals(read_rows(TABLE, PARSER.name, block))
    ):
        if isinstance(item, Row):
            item.values["source"] = "rest" if is_xml else "cli"
            if isinstance(item.values["state"], str):
                item.values["state"] = item.values["state"].upper()
        yield item


def _read_rest(block: Block) -> Output:
    root, faults = read_xml(block, PARSER.name)
    for element in root.find("controller"):
        cells = {
            "controller_id": element.child("id"),
            "name": element.child("name"),
            "ip": element.child("ipAddress"),
            "state": element.child("status"),
            "version": element.child("version"),
            "uptime_s": element.child("upTime"),
        }
        if cells["controller_id"]:
            yield from make_row(TABLE, block, element, cells)
    yield from faults


PARSER = Parser(
    name="nsx_controllers",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_manager",
    commands=(r"^\s*show controller list all\b", r"/api/2\.0/vdn/controller(?:\s|\"|'|$)"),
    shape=(
        rf"(?:{xml_shape('controllers')}"
        r"|^\s*(?:NAME|Name|ID|Id|Controller\S*)\s+IP(?:[ -]?[Aa]ddress)?\s+(?:State|STATE|Status|STATUS)\b"
        r"|^\s*controller-\d+\s+\d+\.\d+\.\d+\.\d+\s+[A-Za-z][A-Za-z_ ]*$)"
    ),
    body=rf"(?:{XML_BODY}|^\s*(?:controller-\d+\s|-{{3,}}|NAME\s|error: |%))",
)
