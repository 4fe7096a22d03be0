"""System events of NSX Manager: `[SystemEvent]` lines of vsm.log, and the older `name :: value;;` form.

Source: `logs/vsm.log` of an NSX Manager bundle and its syslog copies. The stamp of the line counts:
the vendor's own example has another date inside `Time:''`. A vsm.log is read once for both: its lines are those
of nsx.vsm_log, and the system events among them are lines of this log as well.
"""

from analyzer.artefacts.signs import names_entry
from analyzer.artefacts.tables import Column, Record, Table, Value
from analyzer.forms.logs import LEVEL, MESSAGE, PRI, SYSLOG, TIME

from ._vsm import HEAD, vsm_parser

TABLE = Table.of(
    "nsx.vsm_event",
    "System events of NSX Manager, at the time of their line, UTC by the printed zone.",
    "[SystemEvent] lines of vsm.log",
    TIME,
    LEVEL,
    Column(
        "code",
        "int",
        "event code: 340004, 250024, …",
        sign=names_entry(
            "system event",
            quoted=r"Severity:'(?P<severity>\w+)', Event Source:'[^']*', Code:'(?P<entry>\d+)'",
        ),
    ),
    Column("severity", "str", "as printed: Critical, High, Major, Medium, Low, Informational"),
    Column("source", "str", "event source"),
    Column("module", "str", "module"),
    Column("event_number", "int", "number of the event (older form)"),
    Column("event_time", "str", "time inside the event, as printed"),
    MESSAGE,
    ask="NSX Manager tech-support bundle, holding vsm.log of the time of the trouble",
    log=True,
    inside=("nsx.vsm_log",),
)

_SHAPE = (
    rf"\s*{PRI}(?:(?:{SYSLOG} [\w.:-]+ )?{HEAD}(?=.{{0,200}}\[SystemEvent\] )"
    rf"|(?={SYSLOG} .{{0,200}}Event (?:ID|Code) ::))"
)


def finish_values(_record: Record, values: dict[str, Value]) -> None:
    """Take the level from the severity."""
    severity = values["severity"]
    if isinstance(severity, str):
        values["level"] = severity.lower()
    else:
        values["level"] = None


PARSER = vsm_parser("vsm_event", TABLE, _SHAPE, "Event", finish_values)
