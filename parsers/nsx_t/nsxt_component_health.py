"""`Some appliance components are not functioning properly`: the UI or API of an NSX manager in place of a page.

Source: the VCF 9 page on a management cluster that is down, and a public report on 9.0.1. The text is in the banner
of the UI, and as `error_message` with `error_code` 101 in an answer of the API. It goes where the answer goes that a
manager gives in place of the status of its cluster.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Row, Value

from ..common._nsxt import MANAGER, stray_fault
from .nsxt_cluster_status import GROUPS

_SAYS = r"Some appliance components are not functioning properly"
_WHOLE = re.compile(
    rf"{_SAYS}\.?(?: Component health:(?: [A-Z][A-Z_]{{1,30}}: ?[A-Z]{{2,12}}\b,?){{1,20}})?"
)
_AROUND = re.compile(r"\s*(?:[{}\[\],]{0,4}\s*$|\"\w{1,30}\"\s*:|Error code:)")


def parse_block(block: Block) -> Output:
    """Read the sentence, one row each time it is there."""
    for number, line in enumerate(block.lines):
        if found := _WHOLE.search(line):
            values: dict[str, Value] = {column.name: None for column in GROUPS.columns}
            yield Row(
                GROUPS, values | {"cluster_answer": found[0]}, block, block.first_line + number
            )
        elif not _AROUND.match(line):
            yield stray_fault(block, number, PARSER.name)


PARSER = Parser(
    name="nsxt_component_health",
    tables=(GROUPS,),
    parse=parse_block,
    node=MANAGER,
    shape=rf"^[^\n]{{0,300}}\b{_SAYS}\b",
    body=r"^\s*(?:\"?error_?code\b|Error code:)",
)
