"""Events of an ESXi host, from whichever of its logs they stand in.

vobd.log holds every event, its id in brackets. hostd.log and vpxa.log repeat some of them: with the id somewhere in
the line (VMware's log content pack for vSphere looks for `esx.problem.…` in lines of hostd, vpxa and vobd alike), or
as `Event <number> : <text>` without it, which is the text that vobd prints behind the id. Such a text is given its id
only where a capture or a KB article has both; a text that is not known is no line of this table.
"""

import re

from analyzer.forms.logs import LEVEL, MESSAGE, TIME
from analyzer.loghost import OBJECT
from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, Row, Table, Value

from . import hostd, vobd, vpxa

TABLE = Table(
    name="esxi.event",
    meaning="Events of the host (esx.problem.…, esx.clear.…, esx.audit.…), UTC; each counts once.",
    source="var/run/log/vobd.log with its rotated copies; some also in hostd.log and vpxa.log",
    ask="/var/log/vobd.log with its rotated copies",
    columns=(
        TIME,
        LEVEL,
        Column("log", "str", "log the line stands in: vobd, hostd, vpxa"),
        Column("event_id", "str", "esx.problem.net.redundancy.lost, esx.clear.net.connectivity.restored, …"),
        Column("object", "str", "what its text names first: vSwitch1, vmnic2, naa.…, a volume; this host when nothing"),
        Column("again", "bool", "another log of the host tells the same event, and that line counts"),
        MESSAGE,
    ),
    log=True,
    inside=("esxi.vobd",),
    partly=("esxi.hostd", "esxi.vpxa"),
    once=("event_id", "object"),
)

_LOGS = (vobd.PARSER, hostd.PARSER, vpxa.PARSER)
_ID = re.compile(r"\besx\.(?:problem|clear|audit)\.\w+(?:\.\w+)*")
_EVENT = re.compile(r"Event \d+ : ")
NO_OBJECT = "this host"
# Texts that hostd prints behind `Event <number> : `; the id is that of the line of vobd with the same text.
TEXTS = (
    ("Lost uplink redundancy on virtual switch", "esx.problem.net.redundancy.lost"),  # a capture of 6.7
    ("Network connectivity restored on virtual switch", "esx.clear.net.connectivity.restored"),  # the same
    ("Lost access to volume", "esx.problem.vmfs.heartbeat.timedout"),  # KB 1009557
    ("A duplicate IP address was detected for", "esx.problem.net.vmknic.ip.duplicate"),  # KB 1020647
    ("performance has deteriorated. I/O latency increased", "esx.problem.scsi.device.io.latency.high"),  # KB 2007236
    ("has entered the All Paths Down state", "esx.problem.storage.apd.start"),  # KB 2004684
    ("has entered the All Paths Down Timeout state", "esx.problem.storage.apd.timeout"),  # KB 2004684
)


def parse(block: Block) -> Output:
    """Read the events among the lines of a log of the host; other lines are not ours and no fault."""
    for log in _LOGS:
        rows = [item for item in log.parse(block) if isinstance(item, Row)]
        for row in rows:
            message = str(row.values.get("message") or "")
            event = row.values.get("event_id") if log is vobd.PARSER else _event_of(message)
            if isinstance(event, str) and _ID.fullmatch(event):
                named = OBJECT.search(message)
                own: dict[str, Value] = {"log": log.name, "event_id": event, "again": False, "message": message}
                own["object"] = named.group() if named else NO_OBJECT
                yield Row(TABLE, {"time": row.values["time"], "level": row.values["level"], **own}, block, row.line)
        if rows:
            return


def _event_of(message: str) -> str | None:
    """Return the id that a line of an agent names, or that of its text."""
    named = _ID.search(message)
    if named is not None:
        return named.group()
    text = message[found.end() :] if (found := _EVENT.match(message)) else ""
    return next((event for words, event in TEXTS if words in text), None)


PARSER = Parser(name="esx_event", tables=(TABLE,), parse=parse, node="esxi", log=True)
