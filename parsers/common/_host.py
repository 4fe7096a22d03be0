"""Tables that several places of a bundle fill: which ESXi this is, and what it is called."""

from __future__ import annotations

from analyzer.artefacts.builds import find_release
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

VERSION = Table.of(
    "esxi.version",
    "Version and build of the host, one row for each place that states it.",
    "vmware -vl; uname -a; esxcli system version get; and other members of a bundle",
    Column("product", "str", "product as printed: VMware ESXi"),
    Column("version", "version", "version as printed; 5.x and 6.x print .0 for every update"),
    Column("build", "int", "build number"),
    Column(
        "update_text", "str", "update as printed beside the version: Update 2, GA, an image profile"
    ),
    Column("release", "str", "release this build is, from the list of public builds"),
    KeyColumn(
        "origin", "str", "where it is stated: vmware -vl, uname -a, image profile, boot.cfg, …"
    ),
    Column("rank", "int", "order of trust of the place, 1 = most"),
    ask="`vmware -vl`",
)

HOST = Table.of(
    "esxi.host",
    "Name of the host, one row for each place that states it.",
    "uname -a; hostname; README and esx.conf of a bundle",
    Column("hostname", "str", "name of the host as stated; may be fully qualified"),
    KeyColumn(
        "origin", "str", "where it is stated: vmware -vl, uname -a, image profile, boot.cfg, …"
    ),
    Column("rank", "int", "order of trust of the place, 1 = most"),
    ask="`hostname`",
)

# Filled before rules are judged (analyzer/facts/releases.py).
RELEASE = Table.of(
    "esxi.release",
    "Version and build that the host runs, one row a host: that of the most trusted place of esxi.version.",
    "vmware -vl, uname -a, image profile, logs or configuration, in this order of trust",
    Column(
        "version",
        "version",
        "version of the most trusted place; 5.x and 6.x print .0 for every update",
    ),
    Column("build", "int", "build number, of a place that states this version"),
    Column("release", "str", "release this build is, from the list of public builds"),
    Column("update_text", "str", "update as printed beside the version"),
    Column("origin", "str", "the place that decided"),
    Column(
        "others",
        "str",
        "other versions that are stated as well, each with its place; none: no contradiction",
    ),
    ask="`vmware -vl`",
    made_of=(VERSION.name,),
)

# Places in their order of trust: the running system first, then what was installed, then logs
# (which may be older than an upgrade), then configuration.
ORIGINS = (
    "vmware -vl",
    "uname -a",
    "esxcli system version get",
    "hostname",
    "image profile",
    ".buildInfo",
    "hostd or vpxa log",
    "vmware.log",
    "boot.cfg",
    "esx.conf",
    "README",
)


def make_version_row(block: Block, line: int, origin: str, values: dict[str, Value]) -> Row:
    """Return a row of esxi.version; `release` is looked up from the build."""
    build = values.get("build")
    release = find_release("esxi", build if isinstance(build, int) else None)
    full = VERSION.blank() | {"product": "VMware ESXi"} | values
    full |= {
        "release": release.name if release else None,
        "origin": origin,
        "rank": ORIGINS.index(origin) + 1,
    }
    return Row(VERSION, full, block, line)


def make_host_row(block: Block, line: int, origin: str, hostname: str) -> Row:
    """Return a row of esxi.host."""
    return Row(
        HOST,
        {"hostname": hostname, "origin": origin, "rank": ORIGINS.index(origin) + 1},
        block,
        line,
    )
