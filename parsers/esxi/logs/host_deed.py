"""Deeds on an ESXi host that an intruder needs: typed commands, audit events, texts of the host's agent.

shell.log has the command itself, with the user; vobd.log an event of what came of it, which hostd.log repeats. What is
such a deed is a row of the catalog (kb/facts/intrusion_sign.csv), which rules join as `kb.intrusion_sign`. A line that
fits no row is no line of this table; of several rows that fit, the heaviest counts.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, Row, Table
from analyzer.forms.logs import LEVEL, MESSAGE, TIME

from . import hostd, shell_log, vobd

TABLE = Table.of(
    "esxi.deed",
    "Deeds on the host that an intruder needs and an administrator sometimes does, UTC.",
    "var/run/log/shell.log and vobd.log with their rotated copies; some also in hostd.log",
    TIME,
    LEVEL,
    Column("log", "str", "log the line stands in: shell_log, vobd, hostd"),
    Column("user", "str", "user who typed, where the line names one"),
    Column("deed", "str", "kind of the deed: firewall-off, vms-stopped, …"),
    Column("deed_sign", "str", "row of kb.intrusion_sign that the line fits"),
    Column(
        "deed_weight",
        "int",
        "0: opens the door; 1: administrators do it; 2: hardly ever part of administration",
    ),
    MESSAGE,
    ask="/var/log/shell.log and /var/log/vobd.log with their rotated copies",
    log=True,
    inside=("esxi.shell_log", "esxi.vobd"),
    partly=("esxi.hostd",),
)

_LOGS = (shell_log.PARSER, vobd.PARSER, hostd.PARSER)
_ID = re.compile(r"\besx\.audit\.\w+(?:\.\w+)*")


@dataclass(frozen=True, slots=True)
class DeedSign:
    """A row of kb.intrusion_sign: where its pattern is searched, and what the line is then."""

    name: str
    kind: str
    log: str
    weight: int
    pattern: re.Pattern[str]


@cache
def read_signs() -> tuple[DeedSign, ...]:
    """Return the rows of the tool, the heaviest first."""
    file = resources.files("analyzer") / "kb" / "facts" / "intrusion_sign.csv"
    signs = []
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        pattern = re.compile(row["pattern"], re.IGNORECASE)
        signs.append(DeedSign(row["sign"], row["kind"], row["log"], int(row["weight"]), pattern))
    return tuple(sorted(signs, key=lambda sign: -sign.weight))


def find_sign(command: str, event: str, text: str) -> DeedSign | None:
    """Return the heaviest row that fits a typed command, the id of an event, or the text of a line."""
    places = {"shell": command, "event": event, "text": text}
    for sign in read_signs():
        if sign.pattern.search(places[sign.log]):
            return sign
    return None


def parse_block(block: Block) -> Output:
    """Read the deeds among the lines of a log of the host; other lines are not ours and no fault."""
    for log in _LOGS:
        rows = [item for item in log.parse(block) if isinstance(item, Row)]
        for row in rows:
            command = str(row.values.get("command") or "")
            message = str(row.values.get("message") or "")
            named = _ID.search(str(row.values.get("event_id") or message))
            event = named.group() if named and not command else ""
            sign = find_sign(command, event, message)
            if sign is None:
                continue
            values = {
                "time": row.values["time"],
                "level": row.values["level"],
                "log": log.name,
                "user": row.values.get("user"),
                "deed": sign.kind,
                "deed_sign": sign.name,
                "deed_weight": sign.weight,
                "message": message,
            }
            yield Row(TABLE, values, block, row.line)
        if rows:
            return


PARSER = Parser(name="host_deed", tables=(TABLE,), parse=parse_block, node="esxi", log=True)
