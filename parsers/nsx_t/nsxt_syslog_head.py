"""Name and role of an NSX-T node, from the first lines of its syslog: the host, and the component that wrote them."""

from __future__ import annotations

import re
from collections import Counter

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block
from analyzer.forms.logs import PRI, TS

from ..common._nsxt import find_node_kind
from .nsxt_node import TABLE, node_row

_HEAD = rf'^{PRI}{TS} [\w.:-]*[\w-] NSX .{{0,300}}?\bcomp="nsx-(?:manager|edge)"'
_LINE = re.compile(
    rf'{PRI}{TS} (?P<host>[\w.:-]*[\w-]) NSX .{{0,300}}?\bcomp="nsx-(?P<role>manager|edge)"'
)


def parse_block(block: Block) -> Output:
    """Read name and role that most of the lines have; one row, on the first of these lines."""
    first: dict[tuple[str, str], int] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for number, line in enumerate(block.lines, block.first_line):
        found = _LINE.match(line)
        if found is not None:
            node = found["host"], found["role"]
            counts[node] += 1
            first.setdefault(node, number)
    if not counts:
        return
    host, role = max(sorted(counts), key=counts.__getitem__)
    yield node_row(block, first[host, role], {"hostname": host, "role": role, "source": "syslog"})


PARSER = Parser(
    name="nsxt_syslog_head",
    tables=(TABLE,),
    parse=parse_block,
    kind=find_node_kind,
    files=(r"(?:^|/)var/log/syslog(?:\.1)?$",),
    shape=_HEAD,
    body=_HEAD,
    head_of="nsxt_syslog",
)
