"""`error.log`, `errors-ignored.log`, `action.log` of a vm-support bundle: what the collector did, and could not do.

Source: the texts of vm-support 3.3 (6.7): `Cmd "…" failed with exit code N`, `Cmd "…" returned no information, don't
collect file … for this cmd.`, `cmd "…" timed out after N seconds due to lack of progress in last N seconds (N bytes
read)`, and `<time>: <action> (<manifest>) took 0.123 sec` in action.log. What comes before the errors on a line was
not at hand; any other line there is kept as it is.
"""

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser
from analyzer.artefacts.signs import NOTHING, says_bad
from analyzer.artefacts.tables import Block, Column, Fault, Row, Table, Value

TABLE = Table.of(
    "esxi.collector_failure",
    "What vm-support failed to collect, one row an error it wrote.",
    "error.log and errors-ignored.log of a vm-support bundle",
    Column("collector_command", "str", "command that gave nothing, where the line names one"),
    Column(
        "failure",
        "str",
        "exit, timeout, empty (it printed nothing), other",
        sign=says_bad("exit", "timeout", weight=2).except_where("ignored", "true"),
    ),
    Column("exit_code", "str", "exit code, as printed"),
    Column("timeout_s", "float", "seconds after which vm-support gave up", "s", sign=NOTHING),
    Column(
        "ignored", "bool", "vm-support itself expects it: the line stands in errors-ignored.log"
    ),
    Column("failure_text", "str", "the line, with those that continue it", sign=NOTHING),
    ask="`vm-support` with error.log and errors-ignored.log in its top folder",
)

_FORMS = (
    (
        "exit",
        re.compile(
            r'\b[Cc]md "(?P<collector_command>.*)" failed with exit code (?P<exit_code>-?\w+)'
        ),
    ),
    (
        "timeout",
        re.compile(
            r'\b[Cc]md "(?P<collector_command>.*)" timed out after (?P<timeout_s>\d+(?:\.\d+)?) seconds'
        ),
    ),
    ("empty", re.compile(r'\b[Cc]md "(?P<collector_command>.*)" returned no information')),
)
ACTIONS = Table.of(
    "esxi.collector_action",
    "What vm-support did, one row a step, with the time it took.",
    "action.log of a vm-support bundle",
    Column("action_time", "str", "time of the step, as printed"),
    Column("collector_action", "str", "what was done: a command, a copy of files, …"),
    Column("manifest", "str", "manifest that asked for it: storage.mfx, …"),
    Column("took_s", "float", "seconds it took", "s"),
    ask="`vm-support` with action.log in its top folder",
)
_ACTION = re.compile(
    r"(?P<action_time>\d[\d:T .,-]{7,30}Z?): (?P<collector_action>.*) \((?P<manifest>[^()]*)\)"
    r" took (?P<took_s>\d+(?:\.\d+)?) sec"
)
_TOP = r"^[^/]+-\d{4}-\d\d-\d\d--\d\d\.\d\d(?:-\d+)?/"


def parse_block(block: Block) -> Output:
    """Read the errors of the collector, one row each; an indented line goes on with the one before."""
    ignored = "errors-ignored" in block.address.rpartition("/")[2]
    rows: list[Row] = []
    for number, line in enumerate(block.lines, block.first_line):
        text = line.strip()
        if not text:
            continue
        if rows and line[:1].isspace():
            rows[-1].values["failure_text"] = f"{rows[-1].values['failure_text']}\n{text}"
            continue
        values = TABLE.blank() | {"failure": "other", "ignored": ignored, "failure_text": text}
        for failure, form in _FORMS:
            if found := form.search(text):
                values |= {"failure": failure, **found.groupdict()}
                break
        seconds = values["timeout_s"]
        if isinstance(seconds, str):
            values["timeout_s"] = float(seconds)
        else:
            values["timeout_s"] = None
        rows.append(Row(TABLE, values, block, number))
    return rows


def parse_actions(block: Block) -> Output:
    """Read the steps of the collector, one row each; a line of another form is a fault."""
    for number, line in enumerate(block.lines, block.first_line):
        if found := _ACTION.match(line.strip()):
            values: dict[str, Value] = {**found.groupdict(), "took_s": float(found["took_s"])}
            yield Row(ACTIONS, values, block, number)
        elif line.strip():
            yield Fault(
                block.address,
                number,
                line[:MOST_LINE],
                "collector_action",
                why="is no step with its time",
            )


PARSERS = (
    Parser(
        name="collector",
        tables=(TABLE,),
        parse=parse_block,
        node="esxi",
        files=(rf"{_TOP}error(?:s-ignored)?\.log$",),
    ),
    Parser(
        name="collector_action",
        tables=(ACTIONS,),
        parse=parse_actions,
        node="esxi",
        files=(rf"{_TOP}action\.log$",),
    ),
)
