"""Certificates of a host: whose they are, and until when they hold.

Source: `etc/vmware/ssl/rui.crt` and `castore.pem` (PEM, several in one file), or what `openssl x509 -text` prints
(`Not After : Jan  5 12:00:00 2027 GMT`).
"""

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Fault, Row, Table

from ._x509 import COLUMNS, read

TABLE = Table(
    name="esxi.certificate",
    meaning="Certificates of the host, one row a certificate.",
    source="etc/vmware/ssl/rui.crt; openssl x509 -in /etc/vmware/ssl/rui.crt -noout -text",
    ask="`openssl x509 -in /etc/vmware/ssl/rui.crt -noout -text`",
    columns=COLUMNS,
)


def parse(block: Block) -> Output:
    """Read each certificate, one row each."""
    for item in read(block, PARSER.name):
        yield item if isinstance(item, Fault) else Row(TABLE, item[1], block, item[0])


PARSER = Parser(
    name="certificates",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(r"(?:^|/)etc/vmware/ssl/(?:rui\.crt|castore\.pem|[\w.-]+\.crt)$",),
    commands=(r"\bopenssl\s+x509\b", r"\b(?:cat|more|less)\s+/etc/vmware/ssl/(?:rui\.crt|castore\.pem)\s*$"),
    common=True,
)
