"""What the NSX-T parsers share: the columns of its logs, the pairs in brackets, the CLI's refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Unpack

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.signs import names_entry
from analyzer.artefacts.tables import (
    Block,
    Column,
    ColumnValueError,
    Fault,
    Row,
    Table,
    Value,
    convert_cell,
)
from analyzer.forms.form import Looks
from analyzer.forms.logs import LEVEL, MESSAGE, TIME, level_word

# The kinds of node that print an output; "" where any of them does, ANY where other machines have the command too.
MANAGER, EDGE, ANY = "nsxt_manager", "nsxt_edge", "nsx_t"

LOG_COLUMNS = (
    TIME,
    LEVEL,
    Column("host", "str", "name of the node in the line"),
    Column("app", "str", "program: NSX, nsxa, nsx-sha, …"),
    Column("pid", "int", "process"),
    Column("thread", "str", "thread that wrote the line"),
    Column("java_class", "str", "Java class that wrote the line, without its package"),
    Column("msgid", "str", "SYSTEM, SWITCHING, FIREWALL, …"),
    Column("comp", "str", "component: nsx-manager, nsx-edge, nsx-esx, …"),
    Column("subcomp", "str", "sub-component"),
    Column("s2comp", "str", "second sub-component"),
    Column(
        "nsx_error_code",
        "str",
        "errorCode: MP4039, MPA42003, …",
        sign=names_entry("error code", quoted=r'\berrorCode="(?P<entry>[A-Z]+\d+)"'),
    ),
    Column(
        "event_type",
        "str",
        "eventType of an alarm: certificate_expired, edge_disk_usage_very_high, …",
    ),
    Column("alarm_state", "str", "alarmState: OPEN, RESOLVED, …"),
    Column("event_id", "str", "eventId: vmwNSXRoutingBgpNeighborStatus, …"),
    Column("event_state", "int", "event_state of the JSON behind an event"),
    Column("is_audit", "bool", "an audit record"),
    Column("is_update", "bool", "an audit record of a change"),
    Column("username", "str", "user who acted"),
    Column("req_id", "str", "request id"),
    Column(
        "entity_id",
        "str",
        "object concerned (entId); of an alarm or event that names none: the node",
    ),
    Column(
        "repeated", "int", "times the message was repeated, where the logger folded it", "times"
    ),
    MESSAGE,
)

# The structured data of a line: `nsx@6876` today, `nsx` in manager.log before 3.0.
SD_ID = r"nsx(?:@\d+)?"
_PAIR = re.compile(r'([\w@.-]+)="((?:[^"\\]|\\.)*)"')
_COMPONENT = re.compile(rf'\[{SD_ID} [^\]]*?\bcomp="([\w-]+)"')
_STATE = re.compile(r'"event_state":\s?"?(\d{1,9})')
_KEYS = {
    "comp": "comp", "subcomp": "subcomp", "s2comp": "s2comp", "errorCode": "nsx_error_code",
    "eventType": "event_type", "alarmState": "alarm_state", "eventId": "event_id",
    "username": "username", "reqId": "req_id", "entId": "entity_id",
}  # fmt: skip
_KINDS = {"nsx-esx": "esxi", "nsx-edge": EDGE, "nsx-manager": MANAGER, "nsx-controller": MANAGER}

# What the CLI answers instead of an output (`% Invalid value …`), and a switch that puts the date above each output.
REFUSED = re.compile(r"^\s*%\s*(?P<what>\S.*)$")
DATED = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d \d{4} \S+ \d\d:\d\d:\d\d"
_DATED = re.compile(rf"\s*{DATED}")
_DATE = re.compile(
    r"\s*[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) (?P<day>\d\d) (?P<year>\d{4}) UTC"
    r" (?P<clock>\d\d:\d\d:\d\d)(?:\.\d+)?\s*$"
)
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# The line of a router in the answer about it: UUID, VRF, LR-ID, …
ROUTER_LINE = re.compile(rf"\s*(?P<router>{UUID})\s+(?P<vrf_number>\d+)\s+\d+\s")


def take_pairs(values: dict[str, Value], data: str, *, folded: bool) -> None:
    """Take the pairs of a line's structured data, wherever in the line they are, into its columns.

    data    the text between the brackets; folded: the line is `message repeated N times: [ … ]`
    """
    message = str(values["message"] or "")
    if "event" in message:
        text = f"{data} {message}"
    else:
        text = data
    pairs = dict(_PAIR.findall(text))
    for key, column in _KEYS.items():
        values[column] = pairs.get(key)
    if (values["event_type"] or values["event_id"]) and not values["entity_id"]:
        values["entity_id"] = "the node"
    if "level" in pairs:
        values["level"] = level_word(pairs["level"])
    values["is_audit"] = pairs.get("audit") == "true"
    values["is_update"] = pairs.get("update") == "true"
    state = _STATE.search(message)
    values["event_state"] = int(state[1]) if state else None
    if folded:
        values["message"] = message.removesuffix("]")


def find_node_kind(lines: Sequence[str]) -> str:
    """Return the kind of node that most lines come from, as their component says; "nsx_t" where none says it."""
    kinds = []
    for line in lines[:200]:
        component = _COMPONENT.search(line[:1000])
        if component is not None and component[1] in _KINDS:
            kinds.append(_KINDS[component[1]])
    best = max(sorted(set(kinds)), key=kinds.count, default="")
    is_majority = kinds.count(best) * 2 > len(kinds)
    return best if best and is_majority else "nsx_t"


def name_refusals(items: Iterable[Row | Fault]) -> Iterable[Row | Fault]:
    """Say of a line in which the CLI refused the command that it did, and drop the date it was asked to print."""
    for item in items:
        if not isinstance(item, Fault):
            yield item
            continue
        if _DATED.match(item.text):
            continue
        refused = REFUSED.match(item.text)
        if refused is None:
            yield item
        else:
            why = f"the node answered: {refused['what'].strip()}"
            yield Fault(item.address, item.line, item.text, item.parser, why=why)


ANSWERED = Column("answered", "time", "when the node gave this answer, as the date above it says")


def is_ill_dated(line: str) -> bool:
    """Say whether a line begins as the date above an answer does and goes on otherwise."""
    begins = re.match(r"\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z]", line)
    return begins is not None and not _DATED.match(line)


def read_answer_time(block: Block) -> Value:
    """Return when the command line gave this answer, as the date above it says in UTC; None where it prints none."""
    line = next(
        (line for line in block.lines if line.strip(" -")), ""
    )  # below a rule of dashes, where there is one
    found = _DATE.match(line)
    if found is None:
        return None
    try:
        return convert_cell(
            ANSWERED, f"{found['month']} {found['day']} {found['clock']} {found['year']} GMT"
        )
    except ColumnValueError:
        return None


_LABEL = re.compile(r"\s*(?P<label>[A-Z][A-Za-z_/ -]{1,40}?)\s*:(?:\s+(?P<text>\S.*?))?\s*$")


def alphabetic_parser(
    name: str,
    table: Table,
    labels: Mapping[str, str],
    last: str,
    title: str,
    **looks: Unpack[Looks],
) -> Parser:
    """Return the parser of records whose labels are in the order of the alphabet: a label ends each, none begins it.

    labels  label -> column; others are left out, and of one that comes twice in a record the first counts
    last    the label that ends a record; title: regex of lines that are no label
    """

    def parse_block(block: Block) -> Output:
        cells: dict[str, tuple[str, int]] = {}
        for number, line in enumerate(block.lines):
            at = block.first_line + number
            found = _LABEL.match(line)
            if found is None:
                if line.strip() and not re.match(title, line.strip()) and not _DATED.match(line):
                    yield stray_fault(block, number, name)
                continue
            label, text = found["label"], found["text"]
            if label in labels and text:
                cells.setdefault(labels[label], (text, at))
            if label == last:
                yield from typed_row(table, block, name, at, cells)
                cells = {}

    return Parser(name, (table,), parse_block, **looks)


PlacedCells = Mapping[str, tuple[str, int]]  # column -> text and line


def typed_row(
    table: Table, block: Block, parser: str, line: int, cells: PlacedCells
) -> Iterator[Row | Fault]:
    """Yield a row of cells, each a text and its line; one of the wrong type is a fault and stays empty."""
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for column in table.columns:
        text, at = cells.get(column.name, ("", line))
        try:
            values[column.name] = convert_cell(column, text)
        except ColumnValueError as error:
            values[column.name] = None
            yield fault_at(block, at, parser, str(error))
        if at != line:
            lines[column.name] = at
    yield Row(table, values, block, line, lines)


def row_at_first_cell(
    table: Table, block: Block, parser: str, cells: PlacedCells
) -> Iterator[Row | Fault]:
    """Yield the row of cells on the line of the first of them; none without a cell."""
    if cells:
        first = min(line for _, line in cells.values())
        yield from typed_row(table, block, parser, first, cells)


def place_cells(texts: Mapping[str, str | None], line: int) -> dict[str, tuple[str, int]]:
    """Return the texts of one line, each with that line; empty ones are left out."""
    return {name: (text, line) for name, text in texts.items() if text}


def match_first(patterns: Iterable[re.Pattern[str]], line: str) -> re.Match[str] | None:
    """Return the match of the first pattern that fits the begin of a line."""
    for pattern in patterns:
        found = pattern.match(line)
        if found is not None:
            return found
    return None


def stray_fault(block: Block, number: int, parser: str) -> Fault:
    """Return the fault of a line that is no line of the output, or the CLI's refusal; `number` counts from 0."""
    line = block.lines[number]
    refused = REFUSED.match(line)
    if refused:
        why = f"the node answered: {refused['what'].strip()}"
    else:
        why = "not a line of this output"
    return fault_at(block, block.first_line + number, parser, why)
