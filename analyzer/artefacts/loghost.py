"""What a log line names: its host, which syslog puts between the time and the program, and the object of an event.

Forms (docs: esxi and nsx log formats): RFC 3164 `Nov  3 10:00:00 esx01 vmkernel: …` as 4.x writes it and
collectors keep it, on the host itself also without its name, the same with an ISO stamp and `<PRI>`, RFC 5424
`<166>1 2022-… esx01 Hostd 105 - - …`, NSX (`… nsxmgr NSX 123 SYSTEM [nsx@6876 …`, `… host NSXV …`) and vsm.log
behind a syslog head.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_OLD = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?"
_HOST = rb"(?P<host>[A-Za-z0-9][\w.:-]{0,252}(?<!:))"
_NAMED = re.compile(
    rb"\s*(?:<\d{1,3}>(?:1 )?)?(?:" + _ISO + rb"|" + _OLD + rb") " + _HOST + rb" (?:[A-Z][a-z]\(\d{1,3}\)\S{0,3} +)?"
    rb"(?P<tag>[A-Za-z][\w./-]{0,80}(?=(?:\[[^\]\s]{0,40}\])?: )|NSXV? (?=\S)|(?=\d{4}-\d\d-\d\d \d\d:\d\d:))"
)  # fmt: skip
_UNNAMED = re.compile(
    rb"\s*(?:<\d{1,3}>)?" + _OLD + rb" (?P<tag>[A-Za-z][\w./-]{0,80}(?=(?:\[[^\]\s]{0,40}\])?: ))"
)
_LEVELLED = re.compile(
    rb"\s*"
    + _ISO
    + rb" [A-Z][a-z]\(\d{1,3}\)\S{0,3} +(?P<tag>[A-Za-z][\w./-]{0,80}(?=(?:\[[^\]\s]{0,40}\])?: ))"
)
_REPEATED = re.compile(
    rb"\s*(?:<\d{1,3}>)?(?:"
    + _ISO
    + rb"|"
    + _OLD
    + rb") (?:"
    + _HOST
    + rb" )?last message repeated \d{1,6} times?\b"
)
_RFC5424 = re.compile(
    rb"\s*<\d{1,3}>1 " + _ISO + rb" " + _HOST + rb" (?P<tag>[\w./-]{1,80}) \S+ \S+ (?=-|\[)"
)
_LEVELS = frozenset(
    b"info warning error verbose trivia debug notice critical crit alert emerg panic warn fatal trace".split()
)
_NOBODY = frozenset(
    (b"localhost", b"localhost.localdomain", b"127.0.0.1", b"last", b"message", b"-")
)


def read_host_program(line: bytes) -> tuple[str, bytes]:
    """Return (host, program) as a raw log line names them; no host where none is named or the name tells nothing."""
    found = _RFC5424.match(line) or _NAMED.match(line)
    if found is None:
        own = _UNNAMED.match(line)
        return "", own["tag"] if own else b""
    if found["host"].lower() in _LEVELS:
        return "", b""
    host = found["host"]
    return ("" if host.lower() in _NOBODY else host.decode("ascii", "replace")), found["tag"]


def program_of_host(line: bytes) -> bytes:
    """Return the program of a raw line of 8.x as a host has it, without its name: `2024-… In(14) vobd[2097]: …`."""
    found = _LEVELLED.match(line)
    return found["tag"] if found else b""


def find_repeated_host(line: bytes) -> str | None:
    """Return the host whose last message a raw line says was repeated, "" for a nameless one; None for other lines."""
    found = _REPEATED.match(line)
    if found is None:
        return None
    host = found["host"] or b""
    return "" if host.lower() in _NOBODY else host.decode("ascii", "replace")


BOOT = "[esx.audit.host.boot]"  # the event of a start of the host

# how ESXi names a switch, port set, NIC, adapter, path, device, volume, iSCSI or NVMe target, PCI device, or vVol; an
# NFS volume has the first two parts of its id alone in the events of All Paths Down, between brackets (KB 2004684)
OBJECT = re.compile(
    r"\b(?:(?:vSwitch|DvsPortset-|vmnic|vmk|vusb)\d+|vmhba\d+(?::C\d+:T\d+:L\d+)?|(?:naa|eui)\.[0-9a-fA-F]+|t10\.\w+"
    r"|mpx\.vmhba\d+:C\d+:T\d+:L\d+|[0-9a-f]{8}(?:-[0-9a-f]{4,12}){3,4}|(?<=\[)[0-9a-f]{8}-[0-9a-f]{8}(?=\])"
    r"|[in]qn\.\d{4}-\d\d\.[\w.:-]{0,230}\w|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7](?![\w.:])"
    r"|(?:vvol|rfc4122)[:.][0-9a-f]{4}[0-9a-f-]*)"
)


def _compile_forms(*forms: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((word, re.compile(form)) for word, form in forms)


LOOKED_AT = 8192  # characters of a line in which an object is looked for
_EVENT = re.compile(r"\besx\.(?:problem|clear|audit)\.\w+(?:\.\w+)*\]? {0,3}")
_NAME = r"[^\s,;\"'()\[\]]{1,230}?(?=[.,;:]?(?:[\s,;\"'()\[\]]|$))"  # one word, without the stop that ends the sentence
# What the text of an event is about where an identifier in it would say something else or less: the target and not the
# adapter in front of it, the switch and not its NIC, the log server, the program, the share. The first form that fits
# counts. Wordings: captures and samples of esx_event, KB articles named there, VMware's list of events.
# Before each form stands a text that every match of it holds ("" for none): to look for that first takes a
# twentieth of the time, and nearly every line has nearly none of them.
_ABOUT = _compile_forms(
    (".vmx", r"/vmfs/volumes/[^/\s]{1,80}/(?:[^/\n]{1,255}/)?(?P<object>[^/\n]{1,255})\.vmx\b"),
    ("ramdisk '", r"\bramdisk '(?P<object>[^']+)'"),
    (" filesystem's file table", r"\bThe (?P<object>root) filesystem's file table"),
    # a VM whose process crashed, by its folder; else the program
    (
        "vmx crashed",
        r"\bvmx crashed\b.{0,200}? at /vmfs/volumes/[^/\s]{1,80}/(?P<object>[^/\n]{1,120})/[^/\n]{0,120}zdump",
    ),
    (
        ") running on ESXi host has crashed",
        r"\bapplication \((?:\S{0,200}/)?(?P<object>[^\s/()]{1,120})\) running on ESXi host has crashed",
    ),
    (" crashed (", r"(?P<object>[^\s/]{1,120}) crashed \(\d+ time"),
    ("iSCSI target ", rf"\biSCSI target (?P<object>{_NAME})(?= on | @ | was | is |[.,;]|$)"),
    ("discovery ", rf"\biSCSI (?:iSNS )?discovery (?:to|at|of) (?P<object>{_NAME})"),
    ("volume ", rf"\bNFS (?:4\.1 )?volume \"?(?P<object>{_NAME})"),
    (
        " mount",
        r"\bNFS(?:41)? mount\b.{0,60}?(?<!\S)(?P<object>[\w.:,-]{1,230}?:/[^\s,;\"')]{0,230}[^\s,;:.\"')])",
    ),
    ("host ", r"\bhost [\"'](?P<object>[^\"'\n]{1,255})[\"']"),
    (" has become unreachable", r"\bhost (?P<object>\S{1,255}) has become unreachable"),
    ('virtual switch "', r"\bvirtual switch \"(?P<object>[^\"\n]{1,80})\""),
    ("NVDIMM (handle ", r"\bNVDIMM \((?P<object>handle [^\s,()]{1,40})"),
    (" on VDS ", rf"\bLAG (?P<object>{_NAME}) on VDS (?P<on>{_NAME})"),
    (
        "hardware address ",
        r"\bhardware address (?P<object>[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5})\b",
    ),
    ("", rf"(?i:\bt(?:ar)?ge?t ?WWPN[:=]? ?)(?P<object>{_NAME})"),
    ("identifier [", r"\bidentifier \[(?P<object>[^\]\s]{1,200})\]"),
)
# What else an event is about when no identifier is in it.
_ELSE = _compile_forms(
    # an NFS server and its share
    (" /", r"(?:^|\] |: )(?P<object>[\w.:,-]{1,230}) (?P<share>/[^\s]{1,230})(?= |$)"),
    (
        "evice",
        r"\b[Dd]evice:? (?P<object>(?=\S{0,230}[\d._])[^\s,;\"'()\[\]]{2,230}?)(?=[.,;:]?(?:\s|$))",
    ),
    (
        "",
        r"\b(?:[Dd]river|I/?O ?[Ff]ilter|[Cc]ontainer|[Dd]atastore) \"?"
        rf"(?P<object>{_NAME})(?= (?:is|was|has)\b|[,;.\"]|$)",
    ),
    (
        "irtual machine ",
        r"\b[Vv]irtual machine [\"']?(?P<object>[^\"'\n]{1,80}?)[\"']?"
        r"(?=[.,;](?:\s|$)| (?:did|is|was|has|on|in|with|because)\b|$)",
    ),
    ("port ", r"\bport (?P<object>\d{2,20}|0x[0-9a-f]{1,16})\b"),
    ("", r"\w [\"'](?P<object>[^\"'\n]{1,80})[\"']"),
)


def name_object(text: str) -> str:
    """Return the object that the text of an event is about: what it says so of, else what it names first; else "".

    Two events of different objects must have different ones, and an event and its end the same.
    """
    return _name_object_once(text[:LOOKED_AT])


@lru_cache(512)
def _name_object_once(text: str) -> str:
    """Return the object of a text; a host in trouble writes the same one thousands of times."""
    for word, form in _ABOUT:
        if word in text and (found := form.search(text)):
            return _full_name(found.groupdict())
    if first := OBJECT.search(text):
        return first.group()
    for word, form in _ELSE:
        if word in text and (found := form.search(text)):
            return _full_name(found.groupdict())
    return ""


def object_of_line(line: str) -> str:
    """Return the object of a log line: of an event the one its text is about, of any other the first that is named."""
    line = line[:LOOKED_AT]
    if event := _EVENT.search(line):
        return name_object(line[event.end() :])
    found = OBJECT.search(line)
    return found.group() if found else ""


def _full_name(parts: dict[str, str | None]) -> str:
    """Return a name with what makes it the only one: the switch of a group, the server of a share."""
    name = parts["object"] or ""
    if on := parts.get("on"):
        return f"{name} on {on}"
    if share := parts.get("share"):
        return f"{name}:{share}"
    return name
