"""`esxcli software acceptance get`: packages of which acceptance level the host takes; one word, also in JSON."""

from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser
from analyzer.forms.columns import bundle_files, esxcli_commands

TABLE = Table.of(
    "esxi.acceptance",
    "Acceptance level of the host: the least that a package must have.",
    "esxcli software acceptance get",
    Column(
        "acceptance",
        "str",
        "VMwareCertified, VMwareAccepted, PartnerSupported, CommunitySupported",
        sign=says_bad("communitysupported", weight=2),
    ),
)

_LEVEL = r"\"?(?:VMwareCertified|VMwareAccepted|PartnerSupported|CommunitySupported)\"?"

PARSER = template_parser(
    "acceptance",
    TABLE,
    node="esxi",
    files=bundle_files("localcli software acceptance get", twin=True),
    commands=esxcli_commands("software acceptance get"),
    body=rf"^\s*{_LEVEL}\s*$",
)
