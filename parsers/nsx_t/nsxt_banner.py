"""The line with which the CLI of an NSX-T node greets: its role, release and build.

Source: captures of managers of 2.2 and 2.3 and of edges of 3.2 and 4.2 in public documents:
`NSX CLI (Edge 4.2.1.0.0.24304123). Press ? for command list or enter: help`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block

from ..common._nsxt import EDGE, MANAGER, stray_fault, typed_row
from .nsxt_node import TABLE

_BANNER = re.compile(
    r"\s*NSX CLI \((?P<role>Edge|Manager|Controller)\b[\w, ]{0,60}? (?P<version>[\dXx*]+(?:\.[\dXx*]+){2,4})"
    r"\.(?P<build>[\dXx*]+)\)"
)
_ROLES = {"Edge": "edge", "Manager": "manager", "Controller": "manager"}


def find_kind(lines: Sequence[str]) -> str:
    """Return the kind of node that the banner names."""
    found = next(filter(None, map(_BANNER.match, lines)), None)
    if found is None:
        return ""
    return EDGE if found["role"] == "Edge" else MANAGER


def parse_block(block: Block) -> Output:
    """Read role, release and build; a row for each greeting."""
    for number, line in enumerate(block.lines):
        if found := _BANNER.match(line):
            at = block.first_line + number
            cells = {**found.groupdict(), "role": _ROLES[found["role"]], "source": "cli"}
            yield from typed_row(
                TABLE, block, PARSER.name, at, {name: (text, at) for name, text in cells.items()}
            )
        elif line.strip():
            yield stray_fault(block, number, PARSER.name)


PARSER = Parser(
    name="nsxt_banner",
    tables=(TABLE,),
    parse=parse_block,
    kind=find_kind,
    shape=r"^\s*NSX CLI \((?:Edge|Manager|Controller)\b[\w, ]{0,60}? [\dXx*]+(?:\.[\dXx*]+){3,5}\)",
    body=r"^\s*NSX CLI \(",
    greets=True,
)
