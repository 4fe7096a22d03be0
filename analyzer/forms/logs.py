"""The form of logs, and what its parsers share: stamps to UTC, levels, prefixes, continuation lines, file families.

A log parser's template holds every form of one line of its log and no catch-all; it is
run on single lines (or a line with the lines that continue it). Values with a meaning of
their own in those templates:

TIME      the stamp as printed, in any of the forms `read_utc` reads
LEVEL     a word, a letter, or the two letters of vmsyslogd 8.x (Wa)
UPTIME_S  [days:]hours:minutes:seconds since boot
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from analyzer.artefacts.logtime import Year, no_year, read_time
from analyzer.artefacts.parsing import Output, Parser, line_alone, run_template
from analyzer.artefacts.tables import (
    Block,
    Column,
    ColumnValueError,
    Fault,
    Record,
    Row,
    Table,
    Value,
    convert_cell,
)

# Fragments of the regexes that recognise a log line.
TS = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
SEV = r"(?:Em|Al|Cr|Er|Wa|No|In|Db)\(\d{1,3}\)(?:\[\+\]|\+)?"
PRI = r"(?:<\d{1,3}>(?:1 )?)?"
MON = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
SYSLOG = rf"{MON} {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d"
HOST = r"(?:[\w.:-]{1,253} )?"
# A stamp that an article masks, whole or in part: `YYYY-MM-DDThh:mm:ss.zzzZ`, `[YYYY-MM-DDTHH:MM:SS]`, `####-##-##T…`,
# `2025-xx-xxT10:11:12.123Z`, `<YYYY-MM-DD>T<time>Z`, `<timestamp>`.
_ANY = r"[YyMmDdHhSsFfNnXxZz#*\d]"
_DAY = rf"{_ANY}{{4}}-{_ANY}{{2}}-{_ANY}{{2}}"
_CLOCK = rf"{_ANY}{{2}}:{_ANY}{{2}}:{_ANY}{{2}}(?:[.:,]{_ANY}{{1,6}})?"
MASKED = (
    rf"[\[<]?(?:{_DAY}>?[T ]<?(?:time|{_CLOCK})>?Z?"
    r"|(?:time ?stamp|date>?[T ]<?time|date ?time)Z?(?=[\]>]))[\]>]?Z?"
)

TIME = Column(
    "time", "time", "when the line was written; a stamp without a zone is taken as UTC", "UTC"
)
LEVEL = Column(
    "level", "str", "debug, info, notice, warning, error, critical, alert, emergency, … as printed"
)
MESSAGE = Column("message", "str", "the text after the head, with the lines that continue it")

_LEVELS = {
    "em": "emergency", "al": "alert", "cr": "critical", "er": "error",
    "wa": "warning", "no": "notice", "in": "info", "db": "debug",
    "d": "debug", "i": "info", "w": "warning", "e": "error", "f": "critical", "v": "verbose",
    "warn": "warning", "fatal": "critical", "panic": "emergency", "err": "error",
}  # fmt: skip
# Severities of the number that syslog puts before a line: facility times eight, plus the severity (RFC 5424, 6.2.1).
_PRIORITY = re.compile(r"\s*<(\d{1,3})>")
_SEVERITIES = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
# A line that begins with a stamp of any log is never the continuation of another line.
STAMPED = re.compile(
    rf"\s*{PRI}(?:\[?\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d|{SYSLOG}|[DIWEF]\d{{4}} \d\d:\d\d:\d\d\.|TSC: \d)"
)
# of a controller's log; of a bundle of 5.x or later; of one of 4.x, `vm-support-<host>-<date>.<pid>`
_STAMP_IN_NAME = re.compile(
    r"(?P<start>\.)(\d{4})(\d\d)(\d\d)-\d{6}\.|(\d{4})-(\d\d)-(\d\d)(?:--\d\d\.\d\d|\.\d{1,7}(?![\d-]))"
)


def read_utc(stamp: str, year: Year = no_year) -> str | None:
    """Return a printed stamp as `YYYY-MM-DD hh:mm:ss[.ffffff]` in UTC, or None.

    Reads what analyzer/artefacts/logtime.py reads; a name of a zone whose offset is ambiguous is taken as UTC,
    and a stamp without a year gets it from `year(month, day)`. None when the stamp is no date or has no year.
    """
    return read_time(stamp, year, any_zone=True)


def year_for(block: Block, name: str = "") -> Year:
    """Return the function that gives the year of a stamp that has none.

    It comes from the start stamp in a controller log's name (`….20150530-000550.1806.log`;
    lines are later), else from the capture time of the block or its bundle's name (lines are
    earlier). Without any of these there is no year.
    """
    in_name = _STAMP_IN_NAME.search(name)
    if in_name is None:
        in_address = list(_STAMP_IN_NAME.finditer(block.address))
        in_name = in_address[-1] if in_address else None  # the last one is nearest to the file
    if in_name is not None and in_name["start"]:
        first = int(in_name[2]), int(in_name[3]), int(in_name[4])
        return lambda month, day: first[0] + ((month, day) < first[1:])

    taken = re.match(r"(\d{4})-(\d\d)-(\d\d)", block.taken)
    if taken is not None:
        last = int(taken[1]), int(taken[2]), int(taken[3])
    elif in_name is not None:
        last = int(in_name[5]), int(in_name[6]), int(in_name[7])
    else:
        return no_year
    # a day of grace: the capture stamp and the log may be in different zones
    last_day = (last[1], min(last[2] + 1, 31))
    return lambda month, day: last[0] - ((month, day) > last_day)


def level_word(text: str) -> str:
    """Return a printed severity (Wa, W110, WARN, warning, Wa(180)) as one lower-case word."""
    key = text.strip().lower()
    return _LEVELS.get(key, key)


def priority_level(line: str) -> str | None:
    """Return the severity that the syslog priority before a line states, or None."""
    found = _PRIORITY.match(line)
    if found is None:
        return None
    number = int(found[1])
    return _SEVERITIES[number % 8] if number < 192 else None


def uptime_seconds(text: str) -> float | None:
    """Return `[days:]hours:minutes:seconds.fraction` in seconds, or None."""
    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        return None
    seconds = 0.0
    for part, unit in zip(reversed(parts), (1, 60, 3600, 86400), strict=False):
        seconds += part * unit
    return round(seconds, 3)


Finish = Callable[[Record, dict[str, Value]], None]


def log_rows(
    table: Table,
    template: str,
    block: Block,
    *,
    finish: Finish | None = None,
    default_level: str = "",
) -> Output:
    """Read log lines into rows of `table`, one a line; continuation lines join the row before.

    `finish(record, values)` may set what takes more than a template. `default_level` is what a line without a severity
    word means; without one the priority before the line gives it, where it has one. A template fills MORE where a line
    with a head of its own only continues the line before. A line that no form takes is a Fault; a line without a stamp
    after a line that was taken is its continuation.
    """
    clean = replace(block, lines=[_clean_line(line) for line in block.lines])
    records = {
        record.line: record
        for record in run_template(template, clean)
        if isinstance(record, Record)
    }
    found: list[Row | Fault] = []
    last: Row | None = None
    for number, raw in enumerate(block.lines, block.first_line):
        record = records.get(number)
        text = clean.lines[number - block.first_line]
        if record is None and last is not None and not STAMPED.match(text):
            if text.strip():
                _add_message(last, text.strip())
        elif record is not None and record.values.get("MORE") and last is not None:
            _add_message(last, str(record.values.get("MESSAGE", "")).strip())
        elif record is not None:
            last = _make_row(table, record, block, number, default_level)
            if finish is not None:
                finish(record, last.values)
            found.append(last)
        elif text.strip():
            last = None
            found.append(
                Fault(
                    block.address,
                    number,
                    raw,
                    template,
                    why="does not look like a line of this log",
                )
            )
    return found


def _clean_line(line: str) -> str:
    """Drop what is no text of the line: NUL runs of a crash, a carriage return, a BOM."""
    return line.replace("\0", "").strip("\r\n\ufeff")


def _add_message(row: Row, text: str) -> None:
    before = row.values["message"]
    row.values["message"] = f"{before}\n{text}" if before else text


def _make_row(table: Table, record: Record, block: Block, number: int, default_level: str) -> Row:
    values: dict[str, Value] = {}
    for column in table.columns:
        values[column.name] = None
        if column.name in ("time", "uptime_s"):
            continue
        cell = record.values.get(column.name.upper(), "")
        text = cell if isinstance(cell, str) else ",".join(cell)
        with suppress(ColumnValueError):
            values[column.name] = convert_cell(column, text)
    stamp = str(record.values.get("TIME", ""))
    log_name = str(record.values.get("LOG", ""))
    values["time"] = read_utc(stamp, year_for(block, log_name)) if stamp else None
    if "level" in values:
        printed = str(record.values.get("LEVEL", ""))
        values["level"] = _find_level(
            printed, default_level, block.lines[number - block.first_line]
        )
    if "uptime_s" in values:
        values["uptime_s"] = uptime_seconds(str(record.values.get("UPTIME_S", "")))
    return Row(table, values, block, number)


def _find_level(printed: str, default: str, line: str) -> str | None:
    """Return the level of a line: as printed, else what a line without one means, else that of its priority."""
    return (level_word(printed) if printed else default) or priority_level(line)


def log_files(stem: str, folder: str = "(?:^|/)") -> str:
    """Return the regex of the member names of one log: `stem`, rotated by number and compressed.

    The path keeps its suffix: `vmkernel.log`, `vmkernel.0.gz`, `vmkernel.log.1.gz`, `hostd-7.log`. `folder` is the
    regex of what comes before the name.
    """
    return rf"{folder}(?:{stem})(?:[.-]\d+)?(?:\.log|\.all)?(?:\.\d+)?(?:\.(?:gz|bz2|xz|zst))?$"


# 4.x: one file for the VMkernel, vobd, hostd and others; a line of no known program is taken as the VMkernel's
MESSAGES = r"(?:^|/)var/log/messages(?:\.\d+)?(?:\.(?:gz|bz2|xz|zst))?$"


# What names a file and prints none of its lines; any other program may print them.
_ABOUT_FILES = (
    "ls|ll|dir|cp|mv|rm|ln|scp|rsync|touch|file|stat|du|wc|chmod|chown|find|md5sum|sha1sum|sha256sum|cksum|tar|zip"
    "|gzip|logger|cd|mkdir|lsof|basename|dirname|which|truncate|test|Test-Path|Get-ChildItem|Copy-Item"
    "|echo|esxcli|localcli|vim-cmd|systemctl|service|kill"
)
_VIEWERS = (
    "cat|zcat|tail|head|less|more|z?e?grep|get log-file"  # a bare name behind them is a file's
)


def view_command(stem: str) -> str:
    """Return the regex of a command that prints the log, whatever its program: `tail -n 50 /var/log/vobd.log`."""
    numbered = r"(?:\.\d+)?(?:\.log)?(?:\.\d+)?(?:\.gz)?"
    # a pipe between blanks is one of the shell, another stands in a pattern
    before = r"(?:[^|;]|(?<=\S)[|;](?=\S))*?"
    end = r"(?:[\s\"')|;]|$)"
    bare = rf"(?:{_VIEWERS})\s(?:{before}[\s<=\"'])?(?:{stem}){end}"
    by_suffix = rf"[\w.-]+\s(?:{before}[\s<=\"'])?(?:{stem})(?=\.){numbered}{end}"
    by_folder = rf"[\w./-]+\s{before}[/\\](?:{stem}){numbered}{end}"
    return rf"^\s*(?!(?:{_ABOUT_FILES})\s)(?:{bare}|{by_suffix}|{by_folder})"


def log_parser(
    name: str,
    table: Table,
    *,
    stem: str = "",
    shape: str = "",
    more_lines: str = "",
    node: str = "esxi",
    files: Sequence[str] = (),
    commands: Sequence[str] = (),
    head: str = "",
    finish: Finish | None = None,
    default_level: str = "",
    template: str = "",
    rest: bool = False,
) -> Parser:
    """Return the parser of a log: a family of files, the head of its lines, and the message.

    stem        regex of the names of its files without suffix, from which `files` and the commands that show it follow
    shape       regex of the head of a line, "" where only the file's name shows which log it is; head: see Parser
    more_lines  regex of the begin of lines without a head that continue the one before
    template    text of the template, where a form made it; "": `templates/NAME.textfsm`
    rest        it takes the files and lines that no other parser knows; finish, default_level: see `log_rows`
    """
    if stem:
        files = (log_files(stem), *files)
        commands = (view_command(stem), *commands)
    body = ""
    if shape:
        body = rf"^(?:{shape}|{more_lines})" if more_lines else rf"^(?:{shape})"
    return Parser(
        name=name,
        tables=(table,),
        parse=partial(log_rows, table, name, finish=finish, default_level=default_level),
        node=node,
        files=tuple(files),
        commands=tuple(commands),
        shape=rf"^{shape}" if shape else "",
        body=body,
        head=head,
        log=True,
        rest=rest,
        template=template,
        words=None if finish else partial(_read_words, name, default_level),
    )


def _read_words(name: str, default_level: str, line: str) -> dict[str, str] | None:
    """Return the values of a line by the names of its template; None where `log_rows` must read it."""
    words = line_alone(name, _clean_line(line))
    if words is None:
        return None
    level = _find_level(words.get("LEVEL", ""), default_level, line)
    return words | {"LEVEL": level or ""}
