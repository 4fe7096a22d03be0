"""`shell.log`: commands typed in the ESXi Shell or over SSH.

Source: `var/run/log/shell.log` of a vm-support bundle with its rotated copies. Up to 5.x the line
does not name the user.
"""

from analyzer.artefacts.tables import Column, Record, Table, Value
from analyzer.forms.logs import HOST, LEVEL, PRI, SEV, TIME, TS, log_parser

TABLE = Table.of(
    "esxi.shell_log",
    "Commands typed on the host, UTC.",
    "var/run/log/shell.log with its rotated copies",
    TIME,
    LEVEL,
    Column("pid", "int", "process of the shell"),
    Column("user", "str", "user who typed, where the line names one"),
    Column("command", "str", "the command line"),
    Column("message", "str", "the command, or what the service itself wrote"),
    ask="/var/log/shell.log with its rotated copies",
    log=True,
)

_SHAPE = rf"\s*{PRI}{TS} {HOST}(?:{SEV} +)?(?:shell\[\d+\]: |ESXShell(?:\[\d+\])?: )"


def finish_values(_record: Record, values: dict[str, Value]) -> None:
    """Give a line without a message its command as the message."""
    values["message"] = values["command"] or values["message"]


PARSER = log_parser(
    "shell_log",
    TABLE,
    stem="shell",
    shape=_SHAPE,
    finish=finish_values,
    default_level="info",
)
