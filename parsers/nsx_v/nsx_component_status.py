"""Services of the NSX Manager appliance: database, message bus, NSX, replicator, SSH.

Source: REST `GET /api/1.0/appliance-management/summary/components` (NSX for vSphere).
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_good
from analyzer.artefacts.tables import Block, Column, KeyColumn, Table

from ..common._nsx import (
    MANAGER,
    VERSION_FORM,
    XML_BODY,
    make_row,
    version_cells,
    xml_shape,
)
from ..common._xml import read_xml

TABLE = Table.of(
    "nsx.component_status",
    "Services of the NSX Manager appliance and whether they run.",
    "GET /api/1.0/appliance-management/summary/components",
    KeyColumn("component_id", "str", "VPOSTGRES, RABBITMQ, NSX, NSXREPLICATOR, SSH, …"),
    Column("name", "str", "name of the service"),
    Column("status", "str", "RUNNING when it runs", sign=says_good("running", "true")),
    Column("enabled", "bool", "the service is enabled"),
    Column("version", "version", "release of the component, where stated", form=VERSION_FORM),
    Column("build", "int", "build of the component; each has its own"),
)


def parse_block(block: Block) -> Output:
    """Read the services, one row each; the component NSX also states the Manager's release."""
    root, faults = read_xml(block, PARSER.name)
    for element in root.find("component"):
        name = element.get("componentId")
        if not name:
            continue
        version = version_cells(element.child("versionInfo"))
        cells = {
            "component_id": name,
            "name": element.child("name"),
            "status": element.child("status"),
        }
        yield from make_row(
            TABLE, block, element, cells | {"enabled": element.child("enabled")} | version
        )
        if name == "NSX" and version:
            yield from make_row(MANAGER, block, element, version | {"source": "components"})
    yield from faults


PARSER = Parser(
    name="nsx_component_status",
    tables=(TABLE, MANAGER),
    parse=parse_block,
    node="nsx_manager",
    commands=(r"/api/1\.0/appliance-management/(?:summary/)?components\b",),
    shape=xml_shape("componentsSummary"),
    body=XML_BODY,
)
