"""`esxcli software vib list`: packages on the host; drivers and NSX among them.

Source: `commands/localcli_software-vib-list.txt` or the command. 8.x adds a column of platforms.
"""

import re

from analyzer.artefacts.tables import Column, KeyColumn, Row, Table
from analyzer.forms import Field, localcli_table

TABLE = Table.of(
    "esxi.vib",
    "Packages (VIBs) installed on the host.",
    "esxcli software vib list; commands/localcli_software-vib-list.txt",
    KeyColumn("name", "str", "name of the package: esx-base, esx-nsxv, ixgben"),
    Column("version", "version", "version as printed; 5.x and 6.x print .0 for every update"),
    Column("vib_build", "int", "last part of the version where it is a build number"),
    Column(
        "nsx_release",
        "version",
        "release of NSX-T that the version of its packages begins with: 3.2.1.2.0",
    ),
    Column("vendor", "str", "who made it"),
    Column(
        "acceptance", "str", "VMwareCertified, VMwareAccepted, PartnerSupported, CommunitySupported"
    ),
    Column("install_date", "str", "day it was installed, YYYY-MM-DD"),
    ask="`esxcli software vib list`",
)

_BUILD = re.compile(r"[.-](\d{6,9})$")
_NSX_RELEASE = re.compile(r"(\d{1,3}(?:\.\d{1,3}){4})-\d\.\d\.\d{6,9}$")


def finish_row(row: Row) -> None:
    """Take the build and the NSX release out of the version."""
    version = str(row.values["version"])
    if found := _BUILD.search(version):
        row.values["vib_build"] = int(found[1])
    if found := _NSX_RELEASE.match(version):
        row.values["nsx_release"] = found[1]


PARSER = localcli_table(
    "vib_list",
    "software vib list",
    TABLE,
    TABLE.meaning,
    Field("Name", "name", pattern=r"\S+"),
    Field("Version", "version", pattern=r"\S+"),
    Field("Vendor", "vendor"),
    Field("Acceptance Level", "acceptance", pattern=r"\w+(?:Certified|Accepted|Supported)"),
    Field("Install Date", "install_date", pattern=r"\d{4}-\d\d-\d\d"),
    row=r"\S+\s+\S+\s+\S.*\s\w+(?:Certified|Accepted|Supported)\s",
    alone=r"\S+\s+\d\S*\s+\S.*\s(?:VMware(?:Certified|Accepted)|(?:Partner|Community)Supported)\s+\d{4}-\d\d-\d\d\b",
    rest=True,
    finish=finish_row,
)
