"""`error.log` and `errors-ignored.log` of a vm-support bundle: what the collector itself could not collect.

Source: the texts of vm-support 3.3 (6.7): `Cmd "…" failed with exit code N`, `Cmd "…" returned no information, don't
collect file … for this cmd.`, `cmd "…" timed out after N seconds due to lack of progress in last N seconds (N bytes
read)`. What stands before them on the line was not at hand; any other line is kept as it is.
"""

import re

from analyzer.parsing import Output, Parser
from analyzer.tables import Block, Column, Row, Table, Value

TABLE = Table(
    name="esxi.collector_failure",
    meaning="What vm-support failed to collect, one row an error it wrote.",
    source="error.log and errors-ignored.log of a vm-support bundle",
    ask="the whole vm-support bundle, with error.log and errors-ignored.log in its top folder",
    columns=(
        Column("collector_command", "str", "command that gave nothing, where the line names one"),
        Column("failure", "str", "exit, timeout, empty (it printed nothing), other"),
        Column("exit_code", "str", "exit code, as printed"),
        Column("timeout_s", "float", "seconds after which vm-support gave up", "s"),
        Column("ignored", "bool", "vm-support itself expects it: the line stands in errors-ignored.log"),
        Column("failure_text", "str", "the line, with those that continue it"),
    ),
)

_FORMS = (
    ("exit", re.compile(r'\b[Cc]md "(?P<collector_command>.*)" failed with exit code (?P<exit_code>-?\w+)')),
    (
        "timeout",
        re.compile(r'\b[Cc]md "(?P<collector_command>.*)" timed out after (?P<timeout_s>\d+(?:\.\d+)?) seconds'),
    ),
    ("empty", re.compile(r'\b[Cc]md "(?P<collector_command>.*)" returned no information')),
)
_TOP = r"^[^/]+-\d{4}-\d\d-\d\d--\d\d\.\d\d(?:-\d+)?/"


def parse(block: Block) -> Output:
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
        values: dict[str, Value] = dict.fromkeys((column.name for column in TABLE.columns), None)
        values |= {"failure": "other", "ignored": ignored, "failure_text": text}
        for failure, form in _FORMS:
            if found := form.search(text):
                values |= {"failure": failure, **found.groupdict()}
                break
        seconds = values["timeout_s"]
        values["timeout_s"] = float(seconds) if isinstance(seconds, str) else None
        rows.append(Row(TABLE, values, block, number))
    return rows


PARSER = Parser(
    name="collector",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    files=(rf"{_TOP}error(?:s-ignored)?\.log$",),
)
