"""What a line says of trouble, in weight and words, whoever wrote it: words, codes, event names, the printed level.

A weight of 6 is what a machine does not survive, 4 a failure that is named, 2 what only adds to other words. The line is
weighed by its heaviest word; further classes add a little. Words that say no trouble (`0 errors`, `timeout=30`) are taken
out first. SCSI status and sense data are read as numbers: host, device and plug-in status, sense key and code as in
SPC-4 and KB 289902 (https://knowledge.broadcom.com/external/article/289902).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.signals.heads import ALERT, DEBUG, ERROR, INFO, LEVELLED, WARNING
from analyzer.signals.words import CLASSES, HARMLESS

MOST_TEXT = 1500  # characters of the words of a line that are weighed

_SENSE = re.compile(
    r"\bH:0x(?P<host>[0-9a-f]+) D:0x(?P<device>[0-9a-f]+) P:0x(?P<plugin>[0-9a-f]+)"
    r"(?:.{0,30}?sense data: 0x(?P<key>[0-9a-f]+) 0x(?P<code>[0-9a-f]+) 0x[0-9a-f]+)?",
    re.IGNORECASE,
)
_SENSE_WORDS = re.compile(r"\bfailed:?|sense data:?|(?:Valid|Possible|Invalid) ", re.IGNORECASE)
_DEVICE_STATES = {0x8: "busy", 0x18: "reservation conflict", 0x28: "queue full"}
_SENSE_KEYS = {
    0x2: (4.5, "not ready"),
    0x3: (6.0, "medium error"),
    0x4: (6.0, "hardware error"),
    0x6: (2.0, "unit attention"),
    0x7: (4.5, "protected"),
    0xB: (4.0, "aborted by the device"),
    0xD: (4.0, "overflow"),
    0xE: (3.0, "miscompare"),
}
# Commands that many devices refuse as unknown (INQUIRY, MODE SENSE, LOG SENSE, WRITE SAME, …), and the codes of that.
_OPTIONAL_COMMAND = re.compile(
    r"\b(?:Cmd(?:\(0x[0-9a-f]+\))?|Command) 0x(?:1a|12|85|4d|9e|a3|93|42|5a|a0)\b", re.IGNORECASE
)
_NOT_SUPPORTED = frozenset({0x20, 0x24, 0x25})

_CODES = (
    (
        "http",
        4.0,
        re.compile(
            r"(?:\bHTTP(?:/[\d.]+)?|\bhttpStatus|\bstatus(?:[_ ]?code)?|\bresponse(?: code)?|\bcode)"
            r"[\"']?[\s:=(]{1,4}[\"']?[45]\d\d\b",
            re.IGNORECASE,
        ),
    ),
    (
        "code",
        4.0,
        re.compile(
            r"\b(?:error|err|fault|errno|return|result|exit|failure|reason)[_ ]?(?:code|status)?s?"
            r"[\"'>]*\s{0,2}[:=]\s*[\"'(]?-?(?:0x0*[1-9a-f][0-9a-f]*|0*[1-9]\d*|[A-Z]{2,}[\w-]*\d+)\b"
            r"|<errorCode>\d+|\berrorCode=\"\w+\"|\bexit(?:ed)? (?:with )?(?:code|status)? ?[1-9]\d*\b",
            re.IGNORECASE,
        ),
    ),
    (
        "status",
        3.5,
        re.compile(
            r"\b(?:bad0{2,}[0-9a-f]+|0x?bad0[0-9a-f]+)\b|\bStatus\(bad|\bstatus\s*[:=]\s*0x(?!0+\b)[0-9a-f]{4,}"
            r"|\bUC=1\b|\bSC:0x(?!0)[0-9a-f]|\bstatus 0x(?!0+\b)[0-9a-f]+",
            re.IGNORECASE,
        ),
    ),
    (
        "errno",
        3.5,
        re.compile(
            r"\bE(?:IO|AGAIN|BUSY|EXIST|NODEV|NXIO|NOTCONN|PIPE|CONNRESET|CONNABORTED|HOSTUNREACH"
            r"|NETUNREACH|NETDOWN|ROFS|STALE|FBIG|MFILE|NFILE|DQUOT|PROTO|BADF|NOTSUP)\b"
        ),
    ),
)
_EVENT = re.compile(
    r"\b(?:esx\.(?P<kind>problem|clear|audit)|vob|vprob|com\.vmware\.vc|hardware)\.(?P<rest>[a-zA-Z][\w.]+)"
)
_MESSAGE = re.compile(
    r"\bmsg\.[\w.-]+|Msg_(?:Post|Question): ?(?P<how>Error|Warning|Question)\b|\bMsg_Question\b"
)
_TO_THE_USER = re.compile(
    r"(?:Event \d+ : )?(?:Warning|Error) message\b|(?:Event \d+ : )?Message on .{1,80}:"
)
_STACK = re.compile(
    r"^\s+at [\w.$<>]+\(|^\s+File \"[^\"]+\", line \d+|^Traceback \(most recent|^Caused by: "
    r"|\b0x[0-9a-f]+:\[0x[0-9a-f]+\]|^\s*(?:-->\s*)?\[backtrace (?:begin|end)\]|^\s*#\d+\s+0x[0-9a-f]+"
    r"|\bbacktrace\[\d+\]|^\s*(?:-->\s*)?(?:backtrace|eip|rip) ?\[?\d* ?0x|(?:^|\s)vmod?l?\.fault\.\w+"
    r"|\bvim\.fault\.\w+|\b(?:java|com|org)\.[\w.]+(?:Exception|Error)\b",
    re.IGNORECASE,
)
_DEASSERTED = re.compile(r"\bde-?assert(?:ed|ion)?\b", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IDENTIFIER = re.compile(r"\b(?=\w*(?:_|[a-z][A-Z]))[A-Za-z]\w{3,}")
_WORDS_INSIDE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DURATION = re.compile(
    r"\b(?P<verb>took|takes|taken|stopped|held|waited|waiting|blocked|stall\w*|stun\w*|downtime|vmDowntime"
    r"|latency|elapsed|delay\w*|rsv time|lasted|for|after|duration|slow)\b[^\d\n]{0,24}?"
    r"(?P<number>\d+(?:\.\d+)?) ?\(?"
    r"(?P<unit>us|usec\w*|microsec\w*|ms|msecs?|millisec\w*|s|secs?|seconds?|minutes?|min|hours?)\b",
    re.IGNORECASE,
)
LONG_TIMES = (
    (4.0, 30),
    (3.3, 2),
    (3.0, 1),
)  # weight, seconds; a reason names the bar: lines of one kind have one
# What a line says trouble by, besides its words and its level.
LINE_PATTERNS = (
    *(_SENSE, _EVENT, _MESSAGE, _TO_THE_USER, _STACK, _DURATION),
    *(pattern for _, _, pattern in _CODES),
)
_STANDS_STILL = re.compile(r"held|stop|wait|block|down|stall|took", re.IGNORECASE)


class TroubleReason(NamedTuple):
    """One thing in a line that says trouble."""

    weight: float
    name: str


class LineReading(NamedTuple):
    """What a line says of trouble: its weight, 0 for nothing, and the reasons, the heaviest first."""

    weight: float
    why: tuple[str, ...] = ()


def weigh_text(text: str, level: int | None = None, form: str = "") -> LineReading:
    """Weigh what a line says, without its head.

    level  as the line prints it, see analyzer.signals.heads
    form   of the log, which decides what a level of INFO is worth
    """
    text = text[:MOST_TEXT]
    if _DEASSERTED.search(text):
        return LineReading(0.8, ("end of a hardware event",))
    reasons: list[TroubleReason] = []
    if sense := _SENSE.search(text):
        status = _weigh_status(sense, text)
        if (
            0 <= status.weight < 1
        ):  # `failed` and `sense data` of such a line say nothing; what else it says may
            rest = weigh_text(_SENSE_WORDS.sub(" ", text.replace(sense[0], " ")), level, form)
            return rest if rest.weight >= 5 else LineReading(status.weight, (status.name,))
        reasons.append(status)
    plain = HARMLESS.sub(" ", text)
    if event := _EVENT.search(text):
        if event["kind"] == "clear":
            return LineReading(0.8, ("event that ends trouble",))
        if event["kind"] == "problem":
            reasons.append(TroubleReason(4.5, "problem event"))
        words = _CAMEL.sub(" ", re.sub(r"[._]", " ", event["rest"]))
        plain = f"{plain.replace(event[0], ' ')} ; {words}"
    reasons += _find_reasons(text, plain)
    if max((reason.weight for reason in reasons), default=0.0) < 3:
        reasons += _find_in_names(plain)
    return _add_level(reasons, level, form)


def _find_reasons(text: str, plain: str) -> Iterator[TroubleReason]:
    """Yield what a line says: messages, stacks, codes, words, times.

    plain  the line without words that say no trouble
    """
    if _TO_THE_USER.match(text):
        yield TroubleReason(4, "message to the user")
    message = _MESSAGE.search(text)
    if message and message["how"]:
        yield TroubleReason(5 if message["how"] == "Error" else 4, "message to the user")
    if _STACK.search(text):
        yield TroubleReason(3.5, "stack or fault")
    for name, weight, pattern in _CODES:
        if pattern.search(plain):
            yield TroubleReason(weight, name)
    for words in CLASSES:
        if words.pattern.search(plain):
            yield TroubleReason(words.weight, words.name)
    seconds = find_longest_time(plain)
    if seconds >= 1:
        weight, bar = next((weight, bar) for weight, bar in LONG_TIMES if seconds >= bar)
        yield TroubleReason(weight, f"takes {bar} s or more")


def _find_in_names(plain: str) -> Iterator[TroubleReason]:
    """Yield the words of trouble inside names of functions and faults: HOST_MUX_MISSING_REPORT, IsBadIP."""
    inside = []
    for name in _IDENTIFIER.findall(plain):
        inside += _WORDS_INSIDE.findall(name)
    text = " ".join(inside)
    for words in CLASSES:
        if text and words.weight >= 3 and words.pattern.search(text):
            yield TroubleReason(words.weight - 1, f"{words.name} in a name")


def _add_level(reasons: list[TroubleReason], level: int | None, form: str) -> LineReading:
    """Return the reading of a line: its heaviest reason, a little for each further one, and its level."""
    total = max((reason.weight for reason in reasons), default=0.0)
    heavy = {reason.name for reason in reasons if reason.weight >= 3}
    if heavy:
        total += 0.4 * min(len(heavy) - 1, 3)
    if level is not None and level >= WARNING:
        gain, least = {ALERT: (1.5, 6.5), ERROR: (1.0, 4.5), WARNING: (0.7, 3.3)}[level]
        total = max(total + gain, least)
        name = {ALERT: "ALERT", ERROR: "ERROR", WARNING: "WARNING"}[level]
        reasons = [*reasons, TroubleReason(float(level), name)]
    elif level == INFO and form in LEVELLED:
        total -= 0.7
    elif level == DEBUG:
        total -= 1.2
    ranked = sorted(reasons, key=lambda reason: -reason.weight)
    return LineReading(max(total, 0.0), tuple(dict.fromkeys(reason.name for reason in ranked)))


def _weigh_status(found: re.Match[str], text: str) -> TroubleReason:
    """Weigh a SCSI status: host, device, plug-in, and the sense key behind device status 2."""
    host, device, plugin = (int(found[name], 16) for name in ("host", "device", "plugin"))
    if host:
        return TroubleReason(4.5, f"host status 0x{host:x}")
    if plugin:
        return TroubleReason(4, f"plug-in status 0x{plugin:x}")
    if device in _DEVICE_STATES:
        return TroubleReason(4, _DEVICE_STATES[device])
    if device and found["key"]:
        key, code = int(found["key"], 16), int(found["code"], 16)
        if key == 0x5:
            if code in _NOT_SUPPORTED and _OPTIONAL_COMMAND.search(text):
                return TroubleReason(0.5, "not supported")
            return TroubleReason(3.5, "illegal request")
        return TroubleReason(*_SENSE_KEYS.get(key, (2.0, f"sense key 0x{key:x}")))
    return (
        TroubleReason(3, f"device status 0x{device:x}")
        if device
        else TroubleReason(0, "good status")
    )


def find_longest_time(text: str) -> float:
    """Return the longest time, in seconds, that a text says something took."""
    longest = 0.0
    for found in _DURATION.finditer(text):
        # `for 30 seconds` and `after 5 s` count only where something stood still
        if found["verb"].lower() in ("for", "after") and not _STANDS_STILL.search(text):
            continue
        longest = max(longest, float(found["number"]) * read_unit(found["unit"].lower()))
    return longest


def read_unit(unit: str) -> float:
    """Return the seconds of a unit of time."""
    if unit.startswith(("us", "micro")):
        return 1e-6
    if unit.startswith(("ms", "milli")):
        return 1e-3
    if unit.startswith("min"):
        return 60.0
    return 3600.0 if unit.startswith("hour") else 1.0
