"""System events of NSX Manager: `[SystemEvent]` lines of vsm.log, and the older `name :: value;;` form.

Source: `logs/vsm.log` of an NSX Manager bundle and its syslog copies. The stamp of the line counts:
the vendor's own example has another date inside `Time:''`. A vsm.log is read once for both: its lines are those
of nsx.vsm_log, and the system events among them are lines of this log as well.
"""

from analyzer.forms.logs import LEVEL, MESSAGE, PRI, SYSLOG, TIME, log_rows
from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, Fault, Record, Table, Value

TABLE = Table(
    name="nsx.vsm_event",
    meaning="System events of NSX Manager, at the time of their line, UTC by the printed zone.",
    source="[SystemEvent] lines of vsm.log",
    ask="NSX Manager tech-support bundle, holding vsm.log of the time of the trouble",
    columns=(
        TIME,
        LEVEL,
        Column("code", "int", "event code: 340004, 250024, …"),
        Column("severity", "str", "as printed: Critical, High, Major, Medium, Low, Informational"),
        Column("source", "str", "event source"),
        Column("module", "str", "module"),
        Column("event_number", "int", "number of the event (older form)"),
        Column("event_time", "str", "time inside the event, as printed"),
        MESSAGE,
    ),
    log=True,
    inside=("nsx.vsm_log",),
)

_HEAD = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (?:(?:GMT|UTC)[+-]\d\d:\d\d|[A-Z]{3,4}) "
_SHAPE = (
    rf"\s*{PRI}(?:(?:{SYSLOG} [\w.:-]+ )?{_HEAD}(?=.{{0,200}}\[SystemEvent\] )"
    rf"|(?={SYSLOG} .{{0,200}}Event (?:ID|Code) ::))"
)


def _finish(_record: Record, values: dict[str, Value]) -> None:
    severity = values["severity"]
    values["level"] = severity.lower() if isinstance(severity, str) else None


def parse(block: Block) -> Output:
    """Read the system events among the lines; other lines of vsm.log are not ours and no fault."""
    found = log_rows(TABLE, PARSER.name, block, finish=_finish)
    return [item for item in found if not (isinstance(item, Fault) and "Event" not in item.text)]


PARSER = Parser(
    name="vsm_event",
    tables=(TABLE,),
    parse=parse,
    node="nsx_manager",
    shape=rf"^{_SHAPE}",
    body=rf"^{_SHAPE}",
    log=True,
)
