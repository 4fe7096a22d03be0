"""`esxcfg-nas -l`: NFS 3 datastores with server and share, and whether they are mounted and reached."""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Record, Row
from analyzer.forms import record_parser

from .nfs_list import PARSER as LIST

_LINE = r"\S.* is /.* from \S.* (?:un)?mounted"


def read_record(block: Block, record: Record) -> Output:
    """Make the row of a datastore; ESXi 4 and 5 say in words what esxcli says with true and false."""
    values = LIST.tables[0].blank()
    texts = {}
    for name in ("volume_name", "nfs_share", "nfs_server"):
        texts[name] = str(record.values[name.upper()])
    reached = str(record.values["REACHED"])
    values |= {
        **texts,
        "mounted": record.values["STATE"] == "mounted",
        "accessible": reached == "available" if reached else None,
    }
    yield Row(LIST.tables[0], values, block, record.lines["VOLUME_NAME"])


PARSER = record_parser(
    "nas_list",
    LIST.tables,
    read_record,
    node="esxi",
    commands=(r"\besxcfg-nas\s+(?:-l|--list)\b",),
    shape=rf"^\s*{_LINE}(?:\s+(?:un)?available)?\s*$",
    body=rf"^\s*(?:{_LINE}\b.*|(?:Errors?|Unable|Failed)\b.*)$",
)
