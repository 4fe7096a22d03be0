"""`fdm-installer.log`: how the agent of vSphere HA was put on the host.

Source: a public post on 5.5 that prints one whole installation that failed; `var/run/log/fdm-installer.log`. A line has
the process and a time, with or without the name of the program before it; the answer of esxcli stands between such
lines, without a time of its own, and goes on from the line above.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import MESSAGE, TIME, log_parser

TABLE = Table.of(
    "esxi.fdm_installer",
    "Installation of the agent of vSphere HA on the host, UTC.",
    "var/run/log/fdm-installer.log with its rotated copies",
    TIME,
    Column("thread", "str", "process of the installer"),
    MESSAGE,
    ask="/var/log/fdm-installer.log with its rotated copies",
    log=True,
)

_SHAPE = r"\s*(?:fdm-installer: )?\[\d{1,10}\] \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: "

PARSER = log_parser(
    "fdm_installer",
    TABLE,
    stem="fdm-installer",
    shape=_SHAPE,
    more_lines=r"fdm-installer:|\[\w+Error\]|\s+\S",
)
