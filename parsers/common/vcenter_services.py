"""Logs of the services next to vpxd on a vCenter Server: vSAN management, Lifecycle Manager, the statistics monitor.

Source: real lines of 6.7 to 8.0. The services write with the library of the host's agents (`TS level program[thread]
[Originator@6876 sub=…] text`); those in Python put class and operation in the bracket, or module and line.
"""

from analyzer.artefacts.tables import Table
from analyzer.forms.host_logs import PROGRAM_COLUMNS
from analyzer.forms.logs import PRI, TS, log_parser

_SERVICES = "vmware-vum-server|vsanvcmgmtd|vsan-mgmt|StatsMonitor|imageService"

TABLE = Table.of(
    "vcenter.service",
    "Lines of the services beside vpxd on vCenter Server, UTC; a stamp without a zone is taken as UTC.",
    "var/log/vmware of vCenter Server: vsan-health, vmware-updatemgr, statsmonitor",
    *PROGRAM_COLUMNS,
    ask="/var/log/vmware of vCenter, whole",
    log=True,
)
_STAMP = rf"(?:{TS}|\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{{1,6}})"

PARSER = log_parser(
    "vcenter_services",
    TABLE,
    node="vcenter",
    shape=rf"\s*{PRI}{_STAMP} [A-Za-z]+ (?:{_SERVICES})\[\w+\]:? ?\[",
    more_lines=r"-->|\s+\S|Traceback \(",
)
