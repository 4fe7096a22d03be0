"""`vmkernel.log`: what the VMkernel and its drivers say.

Source: `var/run/log/vmkernel.log` and `var/log/vmkernel.*` of a vm-support bundle with their
rotated copies; on 4.x `var/log/messages`. Line forms: 3.5 to 8.0, decided per line, because a
log goes on over an upgrade. Lines tagged vmkwarning are in this log too. Articles quote lines
without their stamp (KB 399748: `cpu0:2098206)ApeiHEST: …`) or without all of their head (KB 394262).
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import (
    HOST,
    LEVEL,
    MASKED,
    MESSAGE,
    MESSAGES,
    PRI,
    SEV,
    SYSLOG,
    TIME,
    TS,
    log_files,
    log_parser,
    view_command,
)

COLUMNS = (
    TIME,
    LEVEL,
    Column(
        "uptime_s", "float", "time since boot, where the line prints it (3.5, 4.x, early boot)", "s"
    ),
    Column("cpu", "int", "physical CPU the line was written on"),
    Column("world", "int", "world that wrote the line"),
    Column("opid", "str", "operation id, joins lines of one task"),
    Column("module", "str", "module or driver before the first colon of the message"),
    MESSAGE,
)

TABLE = Table.of(
    "esxi.vmkernel",
    "Lines of the VMkernel's log, UTC; up to 7.x a line without WARNING or ALERT is info.",
    "var/run/log/vmkernel.log with its rotated copies; 4.x: var/log/messages",
    *COLUMNS,
    ask="/var/log/vmkernel.log with its rotated copies (vmkernel.N.gz) from the time of the trouble",
    log=True,
    copied_in=("esxi.vmkwarning",),
)

# as an article or a mail quotes a line, without its head: `WARNING: Heap: 2525: Heap vmfs3 already …`
BARE = r"(?:WARNING|ALERT): [A-Za-z][\w.]{1,40}: (?:\w{1,80}:)?\d{1,5}: "
_CPU = r"cpu\d+:\d+(?: opID=[\w-]+)?\)"
_SHAPE = (
    rf"\s*(?:{PRI}{TS[: TS.rindex('(')]}(?:Z|[+-]\d\d:?\d\d)? (?:{HOST}(?:vmkernel|vmkwarning|vmkalert): )?{_CPU}"
    rf"|{PRI}{TS} {HOST}{SEV} +(?:vmkernel|vmkwarning|vmkalert): {_CPU}"
    rf"|{PRI}{SYSLOG} {HOST}(?:vmkernel|vmkwarning|vmkalert): {_CPU}"  # of 5.x and later, from an old log server
    rf"|{PRI}{SYSLOG} {HOST}vmkernel: gen \d+, mode \d, "  # 4.x: the second line of a lock
    rf"|{PRI}{SYSLOG} {HOST}[\w.-]+: (?:(?:\d+:)?\d+:\d\d:\d\d\.\d+|TSC: \d+) {_CPU}"
    rf"|{MASKED} {HOST}(?:\w\w\([\d#]+\) +)?(?:(?:vmkernel|vmkwarning|vmkalert): )?cpu[\d#]+:[\d#]+(?: opID=\S+)?\)"
    rf"|TSC: \d+ {_CPU}"
    rf"|(?:vmkernel: )?(?:\d+:)?\d+:\d\d:\d\d\.\d+ {_CPU}"
    rf"|{_CPU}"
    rf"|{BARE})"
)


HEAD = rf"^{_SHAPE}"  # of vmkwarning.log, too


PARSER = log_parser(
    "vmkernel",
    TABLE,
    files=(log_files("vmkernel"), MESSAGES),
    commands=(view_command("vmkernel|messages"), r"^\s*dmesg\s*$"),
    shape=_SHAPE,
    more_lines=r"\s{2,}\S",
    default_level="info",
)
