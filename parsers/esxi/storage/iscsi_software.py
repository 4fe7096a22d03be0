"""`esxcli iscsi software get`: whether software iSCSI is switched on; esxcli prints the word alone."""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser
from analyzer.forms.columns import bundle_files, esxcli_commands

TABLE = Table.of(
    "esxi.iscsi_software",
    "Software iSCSI of the host.",
    "esxcli iscsi software get",
    Column("enabled", "bool", "software iSCSI is on"),
)

PARSER = template_parser(
    "iscsi_software",
    TABLE,
    node="esxi",
    files=bundle_files("localcli iscsi software get"),
    commands=esxcli_commands("iscsi software get"),
    body=r"^\s*(?:(?:Software iSCSI Enabled:?\s*)?(?:true|false)|(?:Errors?|Unable|Failed)\b.*)\s*$",
)
