"""Logs of NSX-T and NSX 4: RFC 5424 on the appliances, RFC 3164 on ESXi hosts, with `[nsx@6876 …]`.

Source: `var/log/syslog`, `nsx-audit.log`, `proton/nsxapi.log`, … of a node's bundle; `nsx-syslog.log`
of a host. Values inside the brackets may hold brackets themselves. `message repeated N times` is counted
in `repeated`.
"""

import re
from collections.abc import Sequence

from analyzer.forms.logs import LEVEL, MESSAGE, PRI, TIME, TS, family, level_word, log_rows
from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, Record, Table, Value

TABLE = Table(
    name="nsx.nsxt_log",
    meaning="Lines of NSX-T / NSX 4 logs with structured data, UTC.",
    source="var/log/syslog, nsx-audit.log, proton/nsxapi.log, … of an NSX node; nsx-syslog.log of a host",
    ask="NSX support bundle with the manager, edge and host nodes concerned",
    columns=(
        TIME,
        LEVEL,
        Column("host", "str", "name of the node in the line"),
        Column("app", "str", "program: NSX, nsxa, nsx-sha, …"),
        Column("pid", "int", "process"),
        Column("msgid", "str", "SYSTEM, SWITCHING, FIREWALL, …"),
        Column("comp", "str", "component: nsx-manager, nsx-edge, nsx-esx, …"),
        Column("subcomp", "str", "sub-component"),
        Column("s2comp", "str", "second sub-component"),
        Column("nsx_error_code", "str", "errorCode: MP4039, MPA42003, …"),
        Column("is_audit", "bool", "an audit record"),
        Column("is_update", "bool", "an audit record of a change"),
        Column("username", "str", "user who acted"),
        Column("req_id", "str", "request id"),
        Column("entity_id", "str", "object concerned (entId)"),
        Column("repeated", "int", "times the message was repeated, where the logger folded it", "times"),
        MESSAGE,
    ),
    log=True,
)

_PAIR = re.compile(r'([\w@.-]+)="((?:[^"\\]|\\.)*)"')
_COMPONENT = re.compile(r'\[nsx@\d+ [^\]]*?\bcomp="([\w-]+)"')
_KEYS = {
    "comp": "comp", "subcomp": "subcomp", "s2comp": "s2comp", "errorCode": "nsx_error_code",
    "username": "username", "reqId": "req_id", "entId": "entity_id",
}  # fmt: skip
_SHAPE = (
    rf"\s*{PRI}{TS} (?:[\w.:-]+ NSX (?:\S+ ){{1,2}}|(?:\S+ )?[\w.-]+(?:\[\d+\])?: (?:NSX \S+ \S+ )?)"
    r"(?:message repeated \d+ times: \[ )?\[nsx@\d+ "
)


def _finish(record: Record, values: dict[str, Value]) -> None:
    pairs = dict(_PAIR.findall(str(record.values.get("SD", ""))))
    values.update({column: pairs.get(key) for key, column in _KEYS.items()})
    if "level" in pairs:
        values["level"] = level_word(pairs["level"])
    values["is_audit"] = pairs.get("audit") == "true"
    values["is_update"] = pairs.get("update") == "true"
    if record.values.get("REPEATED"):
        values["message"] = str(values["message"] or "").removesuffix("]")


def parse(block: Block) -> Output:
    """Read lines of NSX-T logs, one row each."""
    return log_rows(TABLE, PARSER.name, block, finish=_finish)


def _kind(lines: Sequence[str]) -> str:
    """Return esxi for what an ESXi host wrote of NSX: the component says so."""
    found = [match[1] for line in lines[:200] if (match := _COMPONENT.search(line[:1000]))]
    return "esxi" if found and found.count("nsx-esx") * 2 > len(found) else ""


PARSER = Parser(
    name="nsxt_log",
    tables=(TABLE,),
    parse=parse,
    node="nsx_t",
    kind=_kind,
    files=(
        r"(?:^|/)var/log/syslog(?:\.\d+)?(?:\.gz)?$",
        family(r"nsx-audit(?:-write)?|nsx-syslog|nsxapi|nsx-ccp(?:-transaction)?"),
        r"(?:^|/)policy/policy\.log(?:\.\d+)?(?:\.gz)?$",
    ),
    shape=rf"^{_SHAPE}",
    body=rf"^{_SHAPE}",
    log=True,
)
