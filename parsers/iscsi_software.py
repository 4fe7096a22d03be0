"""`esxcli iscsi software get`: whether software iSCSI is switched on; esxcli prints the word alone."""

from analyzer.forms import written
from analyzer.forms.columns import bundle_files, esxcli
from analyzer.tables import Column, Table

TABLE = Table(
    name="esxi.iscsi_software",
    meaning="Software iSCSI of the host.",
    source="esxcli iscsi software get",
    ask="`esxcli iscsi software get`",
    columns=(Column("enabled", "bool", "software iSCSI is on"),),
)

PARSER = written(
    "iscsi_software",
    TABLE,
    node="esxi",
    files=bundle_files("localcli iscsi software get"),
    commands=esxcli("iscsi software get"),
    body=r"^\s*(?:(?:Software iSCSI Enabled:?\s*)?(?:true|false)|(?:Errors?|Unable|Failed)\b.*)\s*$",
)
