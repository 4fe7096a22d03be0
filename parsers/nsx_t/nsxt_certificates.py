"""`get certificate api [text]` and `get certificate cluster [text]` on a node of NSX-T: what it answers with.

Source: the NSX CLI guide: PEM, or with `text` what X.509 says above it, which is one certificate and one row.
"""

from analyzer.artefacts.parsing import Output, Parser, typed
from analyzer.artefacts.tables import Block, Column, Fault, Row, Table, Value

from ..common._nsxt import (
    ANSWERED,
    MANAGER,
    REFUSED,
    is_ill_dated,
    read_answer_time,
    stray_fault,
)
from ..common._x509 import COLUMNS, read_certificates

TABLE = Table.of(
    "nsxt.certificate",
    "Certificates that a node of NSX-T answers with: that of its API, and that of the cluster.",
    "get certificate api [text]; get certificate cluster [text]",
    Column("certificate_use", "str", "api or cluster, where the command tells"),
    *COLUMNS,
    ANSWERED,
    ask="`get certificate api text` and `get certificate cluster text` on each NSX-T manager",
    key=("certificate_use",),
)


def parse_block(block: Block) -> Output:
    """Read the certificates, one row each; the PEM below the text of the same certificate is left out."""
    fixed = typed(block.params, TABLE) | {"answered": read_answer_time(block)}
    seen: list[dict[str, Value]] = []
    found = sorted(
        read_certificates(block, PARSER.name),
        key=lambda item: item.line if isinstance(item, Fault) else item[0],
    )
    for item in found:
        if isinstance(item, Fault):
            yield item
        elif item[1] not in seen:
            seen.append(item[1])
            yield Row(TABLE, {"certificate_use": None, **item[1], **fixed}, block, item[0])
    for number, line in enumerate(block.lines):
        if REFUSED.match(line) or is_ill_dated(line):
            yield (stray_fault(block, number, PARSER.name))


PARSER = Parser(
    name="nsxt_certificates",
    tables=(TABLE,),
    parse=parse_block,
    node=MANAGER,
    commands=(
        r"^\s*(?:nsxcli -c [\"']?)?get certificate (?P<certificate_use>api|cluster)(?: text)?[\"']?\s*$",
    ),
)
