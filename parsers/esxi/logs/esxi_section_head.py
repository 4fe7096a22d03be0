"""Version and build in the heads of logs: hostd, vpxa, and a VM's vmware.log.

Sources: the "Section for VMware ESX" line that hostd and vpxa write after each rotation and
start, and line 1 of vmware.log; the first lines of a log are enough. After an upgrade an old log
states the old version. Hosted products (Workstation, Player) write the same line 1 and are not
ESXi.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Record, Value
from analyzer.forms import record_parser

from ...common._host import VERSION, make_version_row

_HEAD = r"^.{0,200}(?:Section for VMware ESX, pid=|Log for VMware ESX pid=)"


def read_record(block: Block, record: Record) -> Output:
    """Make the rows of version and host that the head of a section gives."""
    text = block.lines[record.line - block.first_line]
    origin = "vmware.log" if "Log for VMware" in text else "hostd or vpxa log"
    values: dict[str, Value] = {
        "product": str(record.values["PRODUCT"]),
        "version": str(record.values["VERSION"]),
        "build": int(str(record.values["BUILD"])),
    }
    yield make_version_row(block, record.line, origin, values)


PARSER = record_parser(
    "esxi_section_head",
    (VERSION,),
    read_record,
    node="esxi",
    files=(
        r"(?:^|/)var/(?:run/)?log/(?:hostd|vpxa)(?:\.\d+)?(?:\.log)?(?:\.\d+)?(?:\.gz)?$",
        r"(?:^|/)vmfs/volumes/.*/vmware(?:-\d+)?\.log(?:\.gz)?$",
    ),
    shape=_HEAD,
    body=_HEAD,
)
