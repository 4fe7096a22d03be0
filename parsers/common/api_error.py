"""Errors that the APIs of NSX and vSphere answer, wherever they stand: a traceback, Terraform, Ansible, PowerShell.

Sources: NSX-T API guide, "API error reporting" (`httpStatus`, `error_code`, `module_name`, `error_message`); NSX for
vSphere API guide (`<error><details>…</details><errorCode>…</errorCode><moduleName>…</moduleName></error>`); vSphere
Automation API (`com.vmware.vapi.std.errors`, `error_type`, `default_message`); vSphere Web Services API (`faultstring`,
`vim.fault`); the Terraform provider for NSX (`… (code 503)`). What carries the body may have escaped, wrapped or cut it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table

TABLE = Table.of(
    "api.error",
    "Errors that the API of a manager or of vCenter answered, one row for each that differs, wherever a text shows them.",
    "the answer of the API, or what a client printed of it",
    KeyColumn(
        "api_code",
        "str",
        "code of the error, the name of the fault, or where there is neither the status: 500012, 254, not_found, 403",
    ),
    KeyColumn("message", "str", "message as printed, its first 500 characters"),
    Column(
        "module",
        "str",
        "module of the manager that refused: common-services, policy, core-services",
    ),
    Column("http_status", "str", "status of HTTP, as a number or in words: 429, BAD_REQUEST"),
    Column("seen", "int", "how often the text shows it", "times"),
    ask="the body of the answer, with the call that it belongs to",
)

MOST_ERRORS = 200  # of one text
_MOST_MESSAGE = 500  # characters of a message
_VALUE_REACH = 3000  # characters in which a value ends
_GAP = 800  # characters between two values of one error
_BETWEEN_KEYS = " \t\n,]\"'\\"  # what stands between a brace that closes and the next key of the object around it
_NARROWEST = 60  # columns at which a terminal may have wrapped
_NAMES = {
    "errorcode": "code", "faultcode": "code", "errortype": "fault", "typename": "fault",
    "errormessage": "message", "errormsg": "message", "faultstring": "message", "defaultmessage": "message",
    "localizedmessage": "message", "details": "details", "rootcausestring": "details", "msg": "said",
    "modulename": "module", "httpstatus": "status", "statuscode": "status", "vapi": "fault", "vim": "fault",
    "http": "status",
}  # fmt: skip
_WORD = (
    r"error[_-]?code|error[_-]?(?:message|msg)|error[_-]?type|module[_-]?name|http[_-]?status|status[_-]?code|details"
    r"|fault[_-]?string|fault[_-]?code|default[_-]?message|localized[_-]?message|_?type[_-]?name|rootCauseString|msg"
)
_KEY = re.compile(
    rf"""(?P<mark>["'<]?)\b(?:\w{{1,10}}:)?(?P<key>{_WORD})\b(?:(?P=mark)|[^<>\n]{{0,80}}>)?"""
    r"|com\.vmware\.vapi\.std\.errors\.(?P<vapi>\w{1,60})|\((?P<vim>(?:vim|vmodl)\.fault\.\w{1,60})\)"
    r"|\b(?:(?:response|status) code(?: was| is| of)?[:=]?|HTTP(?:/\d(?:\.\d)?)?) ?['\"]?(?P<http>[1-5]\d\d)\b"
    r"|Error: (?P<terraform>[^\n]{1,600}?) \(code (?P<code>\d{1,7})\)",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*[:=]\s*")
_DOUBLE = re.compile(r'"([^"]*+(?:"(?!\s*(?:[,}\])]|$)|[ \t]*\n)[^"]*+)*+)(?:"|\Z)')
_SINGLE = re.compile(r"'([^']*+(?:'(?!\s*(?:[,}\])]|$)|[ \t]*\n)[^']*+)*+)(?:'|\Z)")
_BARE = re.compile(r"(?![\[{\"'])[^\n,}\]<]{1,600}")
_TAGGED = re.compile(r"([^<]{0,2000})")
_ESCAPES = (
    (re.compile(r"\\+([\"'/])"), r"\1"),
    (re.compile(r"\\+[nrt]"), " "),
    (re.compile(r"&quot;|\\u0022|&#34;"), '"'),
    (re.compile(r"&lt;|\\u003[cC]"), "<"),
    (re.compile(r"&gt;|\\u003[eE]"), ">"),
)
_NOTHING = frozenset(("", "0", "null", "none", "ok", "success", "<unset>", "false"))
_GOOD_STATUS = re.compile(r"2\d\d|OK|CREATED|ACCEPTED|NO_CONTENT", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z_.:-]{0,60}\d{1,9}|[A-Za-z][\w.:-]{2,80}")
_SIGN = (
    r"^.{0,2000}?(?:[Ee]rror_?(?:[Cc]ode|[Mm]essage|[Tt]ype)\b|httpStatus\b|<errorCode>|&lt;errorCode|faultstring"
    r"|vapi\.std\.errors\.|\((?:vim|vmodl)\.fault\.|Error: .{1,600}? \(code \d{1,7}\))"
)


@dataclass(slots=True)
class _Flat:
    """The lines of a block as one text without escapes, and the number of the line at each place of it."""

    text: str
    starts: list[int]
    first_line: int

    def find_line(self, place: int) -> int:
        """Return the number of the line that holds a place of the text."""
        return self.first_line + bisect_right(self.starts, place) - 1


@dataclass(slots=True)
class _Found:
    """What was found of one error: its values, the line of the first, where it ends, and what proves it an error."""

    line: int
    end: int
    values: dict[str, str] = field(default_factory=dict)
    is_marked: bool = False  # a key of it is in quotes or a tag, or only an API has it

    def is_error(self) -> bool:
        """Say whether these are the values of an error, and not of a program's own text."""
        code = self.values.get("code", "") or self.values.get("fault", "")
        if code.lower() in _NOTHING:
            code = ""
        message = self.values.get("message", "")
        status = self.values.get("status", "")
        if not code and (not message or _GOOD_STATUS.fullmatch(status)):
            return False
        others = sum(name in self.values for name in ("message", "details", "module", "status"))
        return self.is_marked or (bool(code) and others > 0)

    def list_cells(self) -> dict[str, str]:
        """Return the cells of its row, without the number of times."""
        code = self.values.get("code", "")
        if code.lower() in _NOTHING:
            code = self.values.get("fault", "")
        message = self.values.get("message", "") or self.values.get("details", "")
        if "fault" in self.values:  # any program says `msg`, and of a fault it is the message
            message = message or self.values.get("said", "")
        return {
            "api_code": code or self.values.get("status", "") or "without a code",
            "message": message[:_MOST_MESSAGE],
            "module": self.values.get("module", ""),
            "http_status": self.values.get("status", ""),
        }


def flatten_lines(lines: Sequence[str], first_line: int) -> _Flat:
    """Return lines as one text: escapes undone, and lines joined without a gap where a terminal broke them."""
    width = max(map(len, lines), default=0)
    full = [len(line) == width for line in lines]
    is_wrapped = width >= _NARROWEST and sum(full) > 1
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for line, breaks in zip(lines, full, strict=True):
        text = line
        for pattern, sign in _ESCAPES:
            text = pattern.sub(sign, text)
        text += "" if is_wrapped and breaks else "\n"
        starts.append(at)
        parts.append(text)
        at += len(text)
    return _Flat("".join(parts), starts, first_line)


def read_value(text: str, place: int, mark: str) -> tuple[str, int]:
    """Return the value behind a key that ends at a place, and where it ends; ("", place) where none is."""
    if mark == "<":
        tagged = _TAGGED.match(text, place, place + _VALUE_REACH)
        return (tagged[1], tagged.end()) if tagged else ("", place)
    joined = _JOINED.match(text, place, place + 200)
    if joined is None:
        return "", place
    begin = joined.end()
    for pattern in (_DOUBLE, _SINGLE):
        if found := pattern.match(text, begin, begin + _VALUE_REACH):
            return found[1], found.end()
    bare = _BARE.match(text, begin, begin + _VALUE_REACH)
    return (bare[0], bare.end()) if bare else ("", place)


def read_match(found: re.Match[str], text: str) -> Iterator[tuple[str, str, int, bool]]:
    """Yield what a key brings: name of the value, value, where it ends, and whether only an API has such a key."""
    if found["terraform"]:
        message = found["terraform"].rpartition("Error: ")[2]
        yield "message", message, found.end(), True
        yield "code", found["code"], found.end(), True
        return
    for name in ("vapi", "vim", "http"):
        if found[name]:
            yield _NAMES[name], found[name].rpartition(".")[2], found.end(), name != "http"
            return
    key = re.sub(r"[_-]", "", found["key"]).lower()
    value, end = read_value(text, found.end(), found["mark"])
    value = " ".join(value.split())
    name = _NAMES[key]
    if not value or (name in ("code", "fault") and not _CODE.fullmatch(value)):
        return
    yield name, value, end, bool(found["mark"]) and name in ("code", "message")


def find_errors(flat: _Flat) -> Iterator[_Found]:
    """Yield the errors of a text in its order."""
    text = flat.text
    now: _Found | None = None
    at = 0
    while (found := _KEY.search(text, at)) is not None:
        at = found.end()
        for name, value, end, is_marked in read_match(found, text):
            if name != "said":  # the body may stand inside of it
                at = max(at, end)
            if now is not None and begins_another(now, name, text[now.end : found.start()]):
                yield now
                now = None
            if now is None:
                now = _Found(flat.find_line(found.start()), end)
            now.values.setdefault(name, value)
            now.end = max(now.end, end)
            now.is_marked = now.is_marked or is_marked
    if now is not None:
        yield now


def begins_another(now: _Found, name: str, between: str) -> bool:
    """Say whether a value is of another error than those before it, given what stands between them."""
    if len(between) > _GAP or "</error>" in between or "<error>" in between:
        return True
    _, closed, behind = between.rpartition("}")
    if closed and behind.strip(_BETWEEN_KEYS):
        return True
    return name in now.values and name not in ("details", "said")


def parse_block(block: Block) -> Output:
    """Return a row for each error that differs; lines of anything else are not of this table."""
    rows: dict[tuple[str, ...], Row] = {}
    for error in find_errors(flatten_lines(block.lines, block.first_line)):
        if not error.is_error():
            continue
        cells = error.list_cells()
        key = tuple(cells.values())
        if key in rows:
            seen = rows[key].values["seen"]
            rows[key].values["seen"] = seen + 1 if isinstance(seen, int) else 1
        elif len(rows) < MOST_ERRORS:
            values = {name: text or None for name, text in cells.items()}
            rows[key] = Row(TABLE, {**values, "seen": 1}, block, error.line, {})
    yield from rows.values()


PARSER = Parser(
    name="api_error",
    tables=(TABLE,),
    parse=parse_block,
    shape=_SIGN,
    anywhere=True,
)
