"""`esxcli storage san fc events get`: what Fibre Channel adapters noted: links, logins, changes of the fabric.

Source: `commands/localcli_storage-san-fc-events-get.txt` or the command: a heading, and a line for each event.
"""

from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import Column, Table
from analyzer.forms import template_parser
from analyzer.forms.columns import bundle_files, esxcli_commands

TABLE = Table.of(
    "esxi.fc_event",
    "Events of Fibre Channel adapters.",
    "esxcli storage san fc events get",
    Column("event_time", "str", "when, as printed, UTC: 2024-01-12 13:50:02.123"),
    Column("hba", "str", "disk adapter as the host names it: vmhba2"),
    Column(
        "fc_event",
        "str",
        "LINK UP, LINK DOWN, RSCN received for PID 012c00, …",
        sign=says_bad("link down", "rscn", "logo", weight=3),
    ),
)

PARSER = template_parser(
    "fc_events",
    TABLE,
    node="esxi",
    files=bundle_files("localcli storage san fc events get"),
    commands=esxcli_commands("storage san fc events get"),
    shape=r"^\s*FC Event Log\s*$",
    body=r"^\s*(?:FC Event Log|-+|\d{4}-\d\d-\d\d .*|(?:Errors?|Unable|Failed)\b.*)\s*$",
)
