"""`hostname` at an ESXi prompt: one line, the name of the host."""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Record
from analyzer.forms import record_parser

from ...common._host import HOST, make_host_row


def read_record(block: Block, record: Record) -> Output:
    """Make the row of the host's name."""
    yield make_host_row(block, record.line, "hostname", str(record.values["HOSTNAME"]))


PARSER = record_parser(
    "esxi_hostname",
    (HOST,),
    read_record,
    node="esxi",
    commands=(r"^\s*(?:/bin/)?hostname(?:\s+-[fs])?\s*$",),
    body=r"^\s*[A-Za-z0-9][\w.-]{0,252}\s*$",
)
