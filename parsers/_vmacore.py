"""What hostd, vpxa, fdm and netcpa share: one library writes their lines."""

from analyzer.forms.logs import HOST, LEVEL, MESSAGE, PRI, SEV, SYSLOG, TIME, TS
from analyzer.tables import Column


def columns() -> tuple[Column, ...]:
    """Return the columns of a vmacore log."""
    return (
        TIME,
        LEVEL,
        Column("thread", "str", "thread of the agent that wrote the line"),
        Column("sub", "str", "subsystem: Default, Vimsvc.ha-eventmgr, Libs, …"),
        Column("opid", "str", "operation id, joins lines of one task across agents"),
        Column("user", "str", "user on whose behalf the agent worked"),
        MESSAGE,
    )


def shape(process: str, own_5x: str = "", *, section: bool = False) -> str:
    """Return the regex (without anchor) of the head of a line written by `process`.

    Up to 5.x a line does not name the agent: `own_5x` is what must follow the bracket for
    the line to be this one's, "" claims none. `section` claims the section heads, which are
    alike in all agents of a host.
    """
    forms = [
        rf"{PRI}{TS} {HOST}{SEV} +{process}\[\w+\]: ",
        rf"{PRI}{TS} (?:{HOST}{process}: )?[a-z]+ {process}\[\w+\] ?\[Originator@\d+ ",
        rf"{PRI}{TS} {HOST}{process}: \[",
        rf"{PRI}{SYSLOG} {HOST}{process}: \[",
    ]
    if own_5x:
        forms.append(rf"{TS} \[[0-9A-F]{{8}} [a-z]+ '[^']*'[^\]]*\]{own_5x}")
        stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}"
        forms.append(rf"\[{stamp} [0-9A-F]{{8}} [a-z]+ '[^']*'[^\]]*\]{own_5x}")
    if section:
        forms.append(rf"{TS} (?:- [^,]{{1,60}}, {TS} - [^,]{{1,60}}, )?Section for VMware ESX,")
        forms.append(rf"{TS} {SEV} +vmsyslogd\[\d+\]: Logs rotated\..{{1,200}}Section for VMware ESX,")
    return rf"\s*(?:{'|'.join(forms)})"
