"""`show control-cluster logical-routers instance`: logical routers of an NSX Controller and the hosts they are on.

Source: NSX Controller CLI (NSX for vSphere). The hosts go on below one another, and Edge-Connection is often empty, so
columns are known by the place of their heading.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import IP_FORM, Block, Column, KeyColumn, Table

from ..common._nsx import make_row, name_refusals
from ..common._xml import Element

TABLE = Table.of(
    "nsx.controller_lr",
    "Logical routers as one NSX Controller knows them, one row a router and host.",
    "show control-cluster logical-routers instance all (on each controller)",
    KeyColumn("lr_id", "int", "number of the logical router"),
    Column("lr_name", "str", "name of the logical router on the hosts: default+edge-1"),
    KeyColumn("host_ip", "str", "host the router is on", form=IP_FORM),
    Column(
        "edge_connection",
        "str",
        "address of the router's control VM, where it is connected",
        form=IP_FORM,
    ),
    Column("service_controller", "str", "controller that serves the router", form=IP_FORM),
    ask="`show control-cluster logical-routers instance all` on each NSX Controller",
)

_NAMES = ("lr_id", "lr_name", "host_ip", "edge_connection", "service_controller")
_HEAD = r"LR-Id\s+LR-Name\s+Hosts\[\]\s+Edge-Connection\s+Service-Controller"
_HEADING = re.compile(rf"\s*{_HEAD}\s*$")
_ADDRESS = re.compile(r"[\w*]+[.:]")
_WORD = re.compile(r"\S+")


def parse_block(block: Block) -> Output:
    """Read the table, one row a router and host."""
    return name_refusals(_read_rows(block))


def _read_rows(block: Block) -> Output:
    places: list[int] = []
    router: dict[str, Element | str | None] = {}
    for number, line in enumerate(block.lines, block.first_line):
        if _HEADING.match(line):
            # where runs of blanks were made one the places of the words say nothing
            is_wide = "  " in line.strip()
            places = [word.start() for word in _WORD.finditer(line)] if is_wide else []
            router = {}
            continue
        if not line.strip().strip("-"):
            continue
        cells = _read_cells(line, number, places)
        if "lr_id" in cells:
            router = {name: cell for name, cell in cells.items() if name != "host_ip"}
        elif not router or set(cells) != {"host_ip"}:
            yield fault_at(block, number, PARSER.name, "no row of the table of logical routers")
            if not places and not line[0].isspace():
                router = {}  # the hosts below may be of this one
            continue
        host_ip = cells.get("host_ip")
        yield from make_row(TABLE, block, Element("row", number), router | {"host_ip": host_ip})


def _read_cells(line: str, number: int, places: list[int]) -> dict[str, Element | str | None]:
    """Return the cells of a line by the column each word is under; {} when two are under one.

    A row that has all its columns needs no places: white space may be collapsed, or the row shifted.
    """
    words = list(_WORD.finditer(line))
    if len(words) == len(_NAMES) and _ADDRESS.match(words[2][0]):
        names = list(_NAMES)
    elif line.lstrip().startswith(("error:", "%")):
        return {}
    elif len(words) == 1 and line[0].isspace():
        names = ["host_ip"]
    elif not places:
        return {}
    else:
        names = []
        for word in words:
            distances = [abs(place - word.start()) for place in places]
            names.append(_NAMES[distances.index(min(distances))])
    if len(set(names)) != len(words):
        return {}
    return {name: Element(name, number, [word[0]]) for name, word in zip(names, words, strict=True)}


PARSER = Parser(
    name="nsx_controller_lr",
    tables=(TABLE,),
    parse=parse_block,
    node="nsx_controller",
    commands=(r"^\s*show control-cluster logical-routers instance\b",),
    shape=rf"^\s*{_HEAD}\s*$",
    body=r"^\s*(?:LR-Id\s|-{3,}|\w+\s+\S+\s+\S+[.:*]|\s+\S+[.:*]\S*\s*$|error: |%)",
)
