"""`hostname` at an ESXi prompt: one line, the name of the host."""

from __future__ import annotations

from analyzer.parsing import Output, Parser, run_template
from analyzer.tables import Block, Fault

from ._host import HOST, host_row


def parse(block: Block) -> Output:
    """Read the name; a second word on the line is no host name."""
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
        else:
            yield host_row(block, record.line, "hostname", str(record.values["HOSTNAME"]))


PARSER = Parser(
    name="esxi_hostname",
    tables=(HOST,),
    parse=parse,
    node="esxi",
    commands=(r"^\s*(?:/bin/)?hostname(?:\s+-[fs])?\s*$",),
    body=r"^\s*[A-Za-z0-9][\w.-]{0,252}\s*$",
)
