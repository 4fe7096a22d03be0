"""The forms of an ESXi host's logs: what its agents write with one library, and what any program gives vmsyslogd.

Sources: real lines of 4.x to 9.0 (hostd, vpxa, esxupdate, rhttpproxy, vsand, envoy, clomd, jumpstart, bootstop), and
the documented forms: `TS tag[pid]: text` of 5.x to 7.x, `TS Sev(n) tag[pid]: text` from 8.0 on. A copy that a syslog
server keeps has the name of the host after the time.
"""

from __future__ import annotations

from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import (
    HOST,
    LEVEL,
    MESSAGE,
    PRI,
    SEV,
    SYSLOG,
    TIME,
    TS,
    log_files,
    log_parser,
    view_command,
)

AGENT_COLUMNS = (
    TIME,
    LEVEL,
    Column("thread", "str", "thread of the agent that wrote the line"),
    Column("sub", "str", "subsystem: Default, Vimsvc.ha-eventmgr, Libs, …"),
    Column("opid", "str", "operation id, joins lines of one task across agents"),
    Column("user", "str", "user on whose behalf the agent worked"),
    MESSAGE,
)
PROGRAM_COLUMNS = (
    TIME,
    LEVEL,
    Column(
        "program",
        "str",
        "program that wrote the line, as its tag names it: esxupdate, sshd, sfcb-vmware_base, …",
    ),
    Column("thread", "str", "its process or thread, as printed"),
    *AGENT_COLUMNS[3:],
)
_MORE = r"-->|\s+\S|backtrace|error: "
_TRACE = r"Traceback \(|[\w.]+(?:Error|Exception)\b"

# Pieces of the rules of a template.
_PRI = r"^\s*(?:<\d{1,3}>(?:1 )?)?"
_HOST = r"(?:[\w.:-]{0,252}[\w.-] )?"  # no tag: a colon may stand within, as in an IPv6 address, not at the end
_AT = rf"${{TIME}} {_HOST}"
_SEVERITY = r"${LEVEL}\(\d+\)(?:\[\+\]|\+)? +"
_REST = "${MESSAGE}$$ -> Record"
_BRACKET = (
    r"\[\w+@\d+ sub=${SUB}(?: item=\S+)?(?: reason=.*?)?(?: op[Ii][Dd]=${OPID})?(?: sid=[^\s\]]+)?(?: user=${USER})?"
    r"\] ?" + _REST
)
_OLD = r"${THREAD} ${LEVEL} '${SUB}'(?: opID=${OPID})?(?: user=${USER})?\] ?" + _REST
_SYSLOG = r"[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
_VALUES = rf"""# Made by analyzer/forms/host_logs.py: every form of a line; no catch-all (see analyzer/forms/logs.py).
Value TIME (\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?|{_SYSLOG})
Value LEVEL ([A-Za-z]+)
Value THREAD ([\w-]+)
Value SUB ((?:[^\[\]]|\[[^\[\]]*\])*?)
Value OPID ([^\s\]]+)
Value USER ([^\[\]]*)
Value MORE (-->|\[\d+\] rip)
Value MESSAGE (.*)
"""


def _template(tag: str, other: str, last: tuple[str, ...], values: str = "") -> str:
    """Return the template of a log.

    tag     the program as it names itself before the bracket; other: the same where a line names it once more
    last    rules for the lines that no other rule takes
    values  further values of the template
    """
    named = rf"(?:{_HOST}{other}: )?"
    rules = (
        # 8.0 and later: the head of vmsyslogd; a continuation carries it too
        rf"{_AT}{_SEVERITY}{tag}(?:\[${{THREAD}}\])?: (?=${{MORE}}){_REST}",
        rf"{_AT}{_SEVERITY}{tag}\[${{THREAD}}\]: (?:[a-z]+ [\w.-]+\[\w+\] )?{_BRACKET}",
        rf"{_AT}{_SEVERITY}{tag}(?:\[${{THREAD}}\])?: ?{_REST}",
        # the same as a syslog server keeps it: the priority before it says the severity, or nothing does
        rf"{_AT}{tag}\[${{THREAD}}\]: (?:${{LEVEL}} [\w.-]+\[\w+\] ?)?{_BRACKET}",
        # 6.x and 7.x, also as sent to a syslog server
        rf"${{TIME}} {named}${{LEVEL}} {tag}\[${{THREAD}}\] ?{_BRACKET}",
        rf"${{TIME}} {named}${{LEVEL}} {tag}\[${{THREAD}}\] ?{_REST}",
        # 5.x
        rf"${{TIME}} {named}\[{_OLD}",
        # 4.x, alone and through syslog; a backtrace there has a head on every line
        rf"(?:{_SYSLOG} {_HOST}{other}: )?\[${{TIME}} {_OLD}",
        rf"{_AT}{other}: (?=${{MORE}}){_REST}",
        # head of a section after rotation or start
        rf"${{TIME}} (?=(?:- .{{1,200}})?Section for ){_REST}",
        # what the logger itself writes
        rf"{_AT}(?:{_SEVERITY})?vmsyslogd(?:\[\d+\])?: {_REST}",
        rf"{_AT}(?=last message repeated \d+ times){_REST}",
        rf"(?=Logs rotated){_REST}",
        *last,
    )
    return f"{_VALUES}{values}\nStart\n" + "".join(f"  {_PRI}{rule}\n" for rule in rules)


def agent_shape(process: str, own_5x: str = "", *, section: bool = False) -> str:
    """Return the regex (without anchor) of the head of a line written by the agent `process`.

    Up to 5.x a line does not name the agent: `own_5x` is what must follow the bracket for
    the line to be this one's, "" claims none. `section` claims the section heads, which are
    alike in all agents of a host.
    """
    forms = [
        rf"{PRI}{TS} {HOST}{SEV} +{process}\[\w+\]: ",
        rf"{PRI}(?:{TS}|{SYSLOG}) (?:{HOST}{process}: )?[a-z]+ {process}\[\w+\] ?\[Originator@\d+ ",
        rf"{PRI}{TS} {HOST}{process}(?:\[\w+\])?: (?:[a-z]+ {process}\[\w+\] ?)?\[",
        rf"{PRI}{SYSLOG} {HOST}{process}: \[",
    ]
    if own_5x:
        forms.append(rf"{TS} \[[0-9A-F]{{8}} [a-z]+ '[^']*'[^\]]*\]{own_5x}")
        stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}"
        forms.append(rf"\[{stamp} [0-9A-F]{{8}} [a-z]+ '[^']*'[^\]]*\]{own_5x}")
    if section:
        forms.append(rf"{TS} (?:- [^,]{{1,60}}, {TS} - [^,]{{1,60}}, )?Section for VMware ESX,")
        forms.append(
            rf"{TS} {SEV} +vmsyslogd\[\d+\]: Logs rotated\..{{1,200}}Section for VMware ESX,"
        )
    return rf"\s*(?:{'|'.join(forms)})"


def agent_log(
    name: str,
    table: str,
    meaning: str,
    process: str,
    *,
    own_5x: str = "",
    section: bool = False,
    ask: str = "",
) -> Parser:
    """Return the parser of NAME.log of an agent that writes as hostd does.

    process  regex of its name in a line; own_5x, section: see `agent_shape`
    ask      what to request; "" asks for the log with its rotated copies
    """
    declared = Table.of(
        table,
        meaning,
        f"var/run/log/{name}.log with its rotated copies",
        *AGENT_COLUMNS,
        ask=ask or f"/var/log/{name}.log with its rotated copies",
        log=True,
    )
    tag = f"(?:{process}|-)"
    return log_parser(
        name,
        declared,
        stem=name,
        shape=agent_shape(process, own_5x, section=section),
        more_lines=_MORE,
        template=_template(tag, tag, (rf"{_AT}{tag}: {_REST}",)),
    )


_TAG = r"[\w./-]+"
_WORDS = r"(?:CRITICAL|ERROR|WARNING|WARN|INFO|DEBUG)"
_TEMPLATE = _template(
    "${PROGRAM}",
    _TAG,
    (
        # programs in Python give the level after the name of their module
        rf"{_AT}${{PROGRAM}}(?:\[${{THREAD}}\])?: (?=(?:\d+: )?(?:[\w.-]+: )?(?={_WORDS}: )${{LEVEL}}: ){_REST}",
        rf"{_AT}${{PROGRAM}}(?:\[${{THREAD}}\])?: ?{_REST}",
    ),
    f"Value PROGRAM ({_TAG})\n",
)
_UTC = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z"  # a host prints no other zone; a guest does
_OF_NSX = r"(?:NSX \S+ \S+ )?\[nsx@"
_HEAD = rf"^\s*{PRI}{_UTC} {_HOST}(?:{SEV} +|[a-z]+ )?{_TAG}(?:\[[\w-]+\])?(?:: ?| ?\[)"
_FOLDER = (
    r"^(?!.*(?:^|/)var/log/vmware/)(?:.*/)?"  # there vCenter Server keeps logs of the same names
)
# Up to 6.0 a bundle of a host keeps its logs in var/log, below a folder that vm-support names.
_OF_HOST = r"(?:^|/)(?:esx|vm-support)-[^/]+/var/log/"
_HOSTS_ONLY = rf"(?:^|/run/log/|/scratch/log/|{_OF_HOST})"
_SUFFIX = r"(?:\.(?:log|all)(?:\.\d+)?|\.\d+)(?:\.(?:gz|bz2|xz|zst))?"
_ANY_FILE = rf"(?:(?:^|/)(?:var/run/log|scratch/log)/|{_OF_HOST})[A-Za-z][A-Za-z0-9_-]*{_SUFFIX}$"  # any log of a host's bundle


def host_log(log_name: str, meaning: str, tags: str, *, shared: bool = False) -> Parser:
    """Return the parser of LOG_NAME.log of an ESXi host, as vmsyslogd writes it: the table `esxi.LOG_NAME`.

    meaning  what the log holds, in a few words
    tags     regex of the programs whose lines go into it: a line that came another way is known by them
    shared   other systems keep a log of that name in /var/log: only places that hosts alone have are taken
    """
    name = log_name.lower().replace("-", "_")
    declared = Table.of(
        f"esxi.{name}",
        f"{meaning}, UTC.",
        f"var/run/log/{log_name}.log with its rotated copies",
        *PROGRAM_COLUMNS,
        ask=f"/var/log/{log_name}.log with its rotated copies",
        log=True,
    )
    own = (
        rf"(?:{_HOST}(?:{SEV} +)?(?:{tags})(?:\[[\w-]+\])?: (?!{_OF_NSX})"
        rf"|(?:{_HOST}{_TAG}: )?[A-Za-z]+ (?:{tags})\[[\w-]+\] ?\[(?!nsx@))"
    )
    return log_parser(
        name,
        declared,
        files=(log_files(log_name, _HOSTS_ONLY if shared else _FOLDER),),
        commands=(view_command(log_name),),
        shape=rf"\s*{PRI}{_UTC} {own}",
        more_lines=f"{_MORE}|{_TRACE}",
        head=_HEAD,
        template=_TEMPLATE,
    )


def other_log(name: str) -> Parser:
    """Return the parser of all logs of a host that no other parser knows, and of lines of 8.x of unknown programs.

    Before 8.0 a line alone does not show that it is a host's; its file in a bundle does.
    """
    declared = Table.of(
        f"esxi.{name}",
        "Lines of programs of the host whose log has no table of its own, UTC; the program is a column.",
        "var/run/log/<program>.log of all other programs with their rotated copies",
        *PROGRAM_COLUMNS,
        ask="/var/log of the host, whole",
        log=True,
    )
    return log_parser(
        name,
        declared,
        files=(_ANY_FILE,),
        shape=rf"\s*{PRI}{_UTC} {_HOST}{SEV} +{_TAG}\[[\w-]+\]: (?!{_OF_NSX})",
        more_lines=f"{_MORE}|{_TRACE}",
        head=_HEAD,
        template=_TEMPLATE,
        rest=True,
    )
