"""Audit records of NSX Manager: `[AuditLog]` lines of vsm.log, who changed what.

Source: `logs/vsm.log` of an NSX Manager bundle and its syslog copies. The names of the pairs are from memory: no
public line confirms them, so no rule matches by them alone. A vsm.log is read once for both: its lines are those of
nsx.vsm_log.
"""

import re

from analyzer.artefacts.tables import Column, Record, Table, Value
from analyzer.forms.logs import LEVEL, MESSAGE, PRI, SYSLOG, TIME

from ._vsm import HEAD, vsm_parser

TABLE = Table.of(
    "nsx.vsm_audit",
    "Audit records of NSX Manager, at the time of their line, UTC by the printed zone.",
    "[AuditLog] lines of vsm.log",
    TIME,
    LEVEL,
    Column("username", "str", "user who acted"),
    Column("module", "str", "module"),
    Column("operation", "str", "what was done, as printed"),
    Column("resource", "str", "what it was done to, as printed"),
    Column("outcome", "str", "SUCCESS, …, as printed"),
    MESSAGE,
    ask="NSX Manager tech-support bundle, holding vsm.log of the time of the trouble",
    log=True,
    inside=("nsx.vsm_log",),
)
_SHAPE = rf"\s*{PRI}(?:{SYSLOG} [\w.:-]+ )?{HEAD}(?=.{{0,200}}\[AuditLog\] )"
_PAIR = re.compile(r"(\w+):'([^']*)'")
_KEYS = {
    "UserName": "username", "ModuleName": "module", "Operation": "operation", "Resource": "resource",
    "Status": "outcome",
}  # fmt: skip


def finish_values(_record: Record, values: dict[str, Value]) -> None:
    """Take the pairs of the message into their columns."""
    pairs = dict(_PAIR.findall(str(values["message"] or "")))
    values.update({column: pairs.get(key) for key, column in _KEYS.items()})


PARSER = vsm_parser("vsm_audit", TABLE, _SHAPE, "[AuditLog]", finish_values)
