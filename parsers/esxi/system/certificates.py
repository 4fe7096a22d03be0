"""Certificates of a host: whose they are, and until when they hold.

Source: `etc/vmware/ssl/rui.crt` and `castore.pem` (PEM, several in one file), or what `openssl x509 -text` prints
(`Not After : Jan  5 12:00:00 2027 GMT`).
"""

import re

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, Fault, Row, Table

from ...common._x509 import COLUMNS, read_certificates

TABLE = Table.of(
    "esxi.certificate",
    "Certificates of the host, one row a certificate.",
    "etc/vmware/ssl/rui.crt; openssl x509 -in /etc/vmware/ssl/rui.crt -noout -text",
    *COLUMNS,
    Column(
        "is_own", "bool", "the certificate that the host shows: rui.crt, not one that it trusts"
    ),
    ask="`openssl x509 -in /etc/vmware/ssl/rui.crt -noout -text`",
)

_OWN = re.compile(r"[/!]rui\.crt(?:\s|$)")


def parse_block(block: Block) -> Output:
    """Read each certificate, one row each; rui.crt is the host's own, also where the host signed it itself."""
    own = _OWN.search(block.command or block.address) is not None
    for item in read_certificates(block, PARSER.name):
        yield (
            item
            if isinstance(item, Fault)
            else Row(TABLE, {**item[1], "is_own": own}, block, item[0])
        )


PARSER = Parser(
    name="certificates",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=(r"(?:^|/)etc/vmware/ssl/(?:rui\.crt|castore\.pem|[\w.-]+\.crt)$",),
    commands=(
        r"\bopenssl\s+x509\b",
        r"\b(?:cat|more|less)\s+/etc/vmware/ssl/(?:rui\.crt|castore\.pem)\s*$",
    ),
    common=True,
)
