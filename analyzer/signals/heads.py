"""The head of a line of any log: time, printed level, module; what is left is what the line says.

Forms: vmkernel.log and its warnings (`cpu12:2097152)WARNING: NMP: …`), vobd.log (`[scsiCorrelator] …`), agents such as
hostd and vpxa (`info hostd[2099] [Originator@6876 sub=Vimsvc] …`), vmware.log (`vmx| I125: …`), syslog of 8.x
(`In(182) vmkernel: …`), NSX (`[nsx@6876 comp="nsx-edge" level="ERROR"] …`), Java logs and glog. They were taken from the
heads that parsers/esxi/logs and templates/nsx_t read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LOOKED_AT = 4096  # characters of a line

ALERT, ERROR, WARNING, INFO, DEBUG = 5, 4, 3, 1, 0
_WORDS_OF_LEVELS = {
    ALERT: "em emerg emergency al alert panic cr crit critical fatal f",
    ERROR: "er err error severe e",
    WARNING: "wa warn warning w",
    INFO: "no notice in info i",
    DEBUG: "db debug verbose trivia trace d v t",
}
LEVELS = {word: level for level, words in _WORDS_OF_LEVELS.items() for word in words.split()}

_STAMP = re.compile(
    r"^\W{0,3}(?:<\d{1,3}>\d?\s?)?"
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\d\d?:\d\d:\d\d(?:[.:]\d\d:\d\d)?[.,]\d+"
    r"|\[\s*\d+\.\d{3,6}\])"
    r"\s*(?:GMT(?:[+-]\d\d:\d\d)?|UTC)?\s*"
)
_SYSLOG_WORDS = r"(?:Em|Al|Cr|Er|Wa|No|In|Db)\(\d+\)"
_SYSLOG_LEVEL = rf"(?P<level>{_SYSLOG_WORDS})"
_AGENT_LEVEL = rf"(?P<level>panic|critical|error|warning|info|verbose|trivia|{_SYSLOG_WORDS})"
_FORMS = {
    "vmkernel": (
        rf"^(?:[\w.-]+ )?(?:{_SYSLOG_LEVEL}\[?[+\w]*\]? )?(?:vmk(?:ernel|warning|alert): )?"
        r"(?:\d+:\d\d:\d\d:\d\d\.\d+ )?cpu\d+:\d+(?: opID=[\w-]+)?\)(?P<shout>WARNING: |ALERT: )?"
        r"(?:(?P<module>[A-Za-z_][\w.-]{1,40}?): )?"
    ),
    "vmkernel of 8.x": rf"^(?:{_SYSLOG_LEVEL}\[?[+\w]*\]? )?vmk(?:ernel|warning|alert): ",
    "vobd": (
        rf"^(?:[\w.-]+ )?(?:{_SYSLOG_LEVEL} )?(?:vobd(?:\[\d+\])?)?:? ?"
        r"\[(?P<module>\w+[cC]orrelator)\] ?(?:\d+us: )?"
    ),
    "agent": (
        rf"^(?:[\w.-]+ )?{_AGENT_LEVEL} [\w-]+\[[^\]]*\]:? ?"
        r'(?:-->|\[(?:Originator@\d+ )?(?:sub=(?P<module>(?:"[^"]*"|[^\s\]])+))?[^\]]*\] ?)?'
    ),
    "agent of 5.x": r"^\[[0-9A-Fa-f]+ (?P<level>\w+) '(?P<module>[^']*)'[^\]]*\] ?",
    "vmx": r"^\|? ?(?P<module>[\w-]+)\| (?:(?P<level>[EWICADVT])\d+: ?|[A-Z]\d+\+? ?)?",
    "vmx of 8.x": rf"^{_SYSLOG_LEVEL} (?P<module>[\w-]+) (?:- )?",
    "syslog": (
        rf"^(?:{_SYSLOG_LEVEL} )?(?:[\w.-]+ )?(?P<module>[A-Za-z][\w./-]{{1,40}})(?:\[\d+\])?: "
    ),
    "java": (
        r"^(?:GMT \+\d+ )?(?:\d+ )?(?:\[[^\]]{0,60}\] )?\W{0,2}"
        r"(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|FATAL|CRITICAL)\b\W{0,3}"
    ),
    "glog": r"^(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (?P<module>[\w.]+):\d+\] ",
}
_HEADS = tuple((form.partition(" of ")[0], re.compile(text)) for form, text in _FORMS.items())
_NEED_A_TIME = frozenset({"syslog", "java", "vmx"})  # without one they take any prose
# Forms that print a level on every line: INFO there says that the program thinks little of it.
LEVELLED = frozenset({"agent", "java", "nsx", "vmx"})
_NSX = re.compile(r'\[nsx@\d+[^\]]*?\blevel="(?P<level>\w+)"[^\]]*\]|\[nsx@\d+[^\]]*\]')
_NSX_PART = re.compile(r'\b(?:s2comp|subcomp|comp)="([^"]+)"')
_SHOUTS = re.compile(
    r"(?P<warning>W: ?|WARNING: )|(?P<alert>ALERT: |FATAL)|(?P<error>E: |[Ee]rror\b|ERROR)"
)
_OF_A_THING = re.compile(r"[-:([/ ]?(?:0x)?[\d#].*$|[:([/].*$")


@dataclass(frozen=True, slots=True)
class LineHead:
    """What stands before the words of a line.

    form    the log whose form it has, "" for none
    level   ALERT, ERROR, WARNING, INFO or DEBUG as the line prints it, None where it prints none
    module  subsystem, driver or program, "" where none is named
    text    the words
    """

    form: str
    level: int | None
    module: str
    text: str
    is_stamped: bool


def read_head(line: str) -> LineHead:
    """Part a line into its head and its words."""
    line = line[:LOOKED_AT].rstrip("\r\n")
    stamp = _STAMP.match(line)
    text = line[stamp.end() :] if stamp else line
    form, module = "", ""
    level = None if stamp else _read_shout(line)
    for name, pattern in _HEADS:
        if stamp is None and name in _NEED_A_TIME:
            continue
        found = pattern.match(text)
        if found is None or not found.end():
            continue
        groups = found.groupdict()
        form = name
        module = (groups.get("module") or "").strip('"')
        if printed := groups.get("level"):
            level = LEVELS.get(printed.partition("(")[0].lower(), level)
        if shout := groups.get("shout"):
            level = ALERT if shout.startswith("ALERT") else WARNING
        text = text[found.end() :]
        break
    if nsx := _NSX.search(line):
        parts = _NSX_PART.findall(nsx[0])
        form = "nsx"
        level = LEVELS.get((nsx["level"] or "").lower(), level)
        module = parts[-1] if parts else module
        text = line[nsx.end() :].strip() or line
    if form == "vmkernel" and text.startswith(("WARNING: ", "ALERT: ")):
        level = ALERT if text.startswith("A") else WARNING
    return LineHead(form, level, cut_module(module), text, stamp is not None)


def cut_module(name: str) -> str:
    """Return a module without the number or the object behind it: `vcpu` for `vcpu-3`, `Fil` for `Fil3`."""
    return _OF_A_THING.sub("", name)[:40]


def _read_shout(line: str) -> int | None:
    """Return the level that a line without a time begins with."""
    found = _SHOUTS.match(line)
    if found is None:
        return None
    return {"warning": WARNING, "alert": ALERT, "error": ERROR}[str(found.lastgroup)]
