"""Syslog of NSX-T and NSX 4: RFC 5424 on the appliances, RFC 3164 on ESXi hosts, with `[nsx@6876 …]`.

Source: `var/log/syslog` of a node's bundle, `nsx-syslog.log` of a host, what a log server keeps. Values inside the
brackets may hold brackets themselves. `message repeated N times` is counted in `repeated`. Alarms and events have
`eventType`, `alarmState`, `eventId` among the pairs (VMware's log content pack for NSX 4.1 looks for them).
"""

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Record, Table, Value
from analyzer.forms.logs import PRI, TS, log_files, log_rows

from ..common._nsxt import LOG_COLUMNS, SD_ID, find_node_kind, take_pairs

TABLE = Table.of(
    "nsxt.syslog",
    "Lines of the syslog of NSX-T / NSX 4 with structured data, UTC.",
    "var/log/syslog of an NSX node with its rotated copies; nsx-syslog.log of a host",
    *LOG_COLUMNS,
    ask="NSX support bundle with the manager and edge nodes concerned; `vm-support` of each host, "
    "which holds its nsx-syslog.log",
    log=True,
    copied_in=("nsxt.component_log",),  # cbm.log alone holds what it sent to the syslog
    formerly=("nsx.nsxt_log",),
)

_SHAPE = (
    rf"\s*{PRI}{TS} (?:[\w.:-]+ NSX (?:\S+ ){{1,2}}|(?:\S+ )?[\w.-]+(?:\[\d+\])?: (?:NSX \S+ \S+ )?)"
    rf"(?:message repeated \d+ times: \[ )?\[{SD_ID} "
)
# Other programs of the node write there as well.
_ANY = rf"\s*{PRI}{TS} (?:[\w.:-]+ [\w.-]+ \S+ \S+ -(?: |$)|(?:\S+ )?(?:[A-Z][a-z]\(\d+\) )?[\w.-]+(?:\[\d+\])?: )"


def _finish_values(record: Record, values: dict[str, Value]) -> None:
    take_pairs(values, str(record.values.get("SD", "")), folded=bool(record.values.get("REPEATED")))


def parse_block(block: Block) -> Output:
    """Read lines of the syslog, one row each."""
    return log_rows(TABLE, PARSER.name, block, finish=_finish_values)


PARSER = Parser(
    name="nsxt_syslog",
    tables=(TABLE,),
    parse=parse_block,
    kind=find_node_kind,
    files=(r"(?:^|/)var/log/syslog(?:\.\d+)?(?:\.gz)?$", log_files("nsx-syslog")),
    shape=rf"^{_SHAPE}",
    body=rf"^{_SHAPE}",
    head=rf"^(?:{_SHAPE}|{_ANY})",
    log=True,
)
