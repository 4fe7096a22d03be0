"""Version, build and host name as the running system states them.

Sources: `vmware -vl` (`commands/vmware_-vl.txt`; the second line names the update), `uname -a`
(`commands/uname_-a.txt`; 5.x ends in GNU/Linux), `esxcli system version get`, `etc/vmware/.buildInfo`
and `bootbank/boot.cfg`. Products that run on a desktop are not ESXi and give no row.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Output
from analyzer.artefacts.tables import Block, Record, Value
from analyzer.forms import record_parser

from ...common._host import HOST, RELEASE, VERSION, make_host_row, make_version_row

_ORIGIN_BY_START = {
    "VMware ESX": "vmware -vl",
    "VMkernel ": "uname -a",
    "Product:": "esxcli system version get",
    "Version:": "esxcli system version get",
    "Build:": "esxcli system version get",
    "BUILDNUMBER": ".buildInfo",
    "build=": "boot.cfg",
}


def read_record(block: Block, record: Record) -> Output:
    """Yield the version, and from `uname` the host name too."""
    cells = {
        name.lower(): cell for name, cell in record.values.items() if isinstance(cell, str) and cell
    }
    text = block.lines[record.line - block.first_line].strip()
    origin = "vmware -vl"
    for start, name in _ORIGIN_BY_START.items():
        if text.startswith(start):
            origin = name
            break
    hostname = cells.pop("hostname", None)
    if hostname:
        yield make_host_row(block, record.line, origin, hostname)
    values: dict[str, Value] = dict(cells)
    if "build" in cells:
        values["build"] = int(cells["build"])
    update = cells.get("update_text", "")
    if update.isdigit():
        if int(update):
            values["update_text"] = f"Update {update}"
        else:
            values["update_text"] = "GA"
    if values.get("version") or values.get("build"):
        yield make_version_row(block, record.line, origin, values)


PARSER = record_parser(
    "esxi_version",
    (VERSION, HOST),
    read_record,
    node="esxi",
    files=(
        r"(?:^|/)commands/vmware_-vl\.txt$",
        r"(?:^|/)commands/uname_-a\.txt$",
        r"(?:^|/)etc/vmware/\.buildInfo$",
        r"(?:^|/)bootbank/boot\.cfg$",
    ),
    commands=(
        r"(?:^|[\s/])vmware\s+-(?:v|l|vl|lv)\b",
        r"(?:^|[\s/])uname\s+-a\b",
        r"\b(?:esxcli|localcli)\s+system\s+version\s+get\b",
    ),
    shape=r"^\s*(?:VMware ESXi? \d[\d.]* build-\d+|VMkernel \S+ \d[\d.]* #|Product: VMware ESX)",
    body=r"^\s*(?:VMware |VMkernel \S+ \d|(?:Product|Version|Build|Update|Patch|Maintenance):).*$",
)

MADE = (RELEASE,)  # of the rows of all parsers that state a version
