"""What a log line names: its host, which syslog puts between the time and the program, and the object of an event.

Forms (docs: esxi and nsx log formats): RFC 3164 `Nov  3 10:00:00 esx01 vmkernel: …` as 4.x writes it and
collectors keep it, on the host itself also without its name, the same with an ISO stamp and `<PRI>`, RFC 5424
`<166>1 2022-… esx01 Hostd 105 - - …`, NSX (`… nsxmgr NSX 123 SYSTEM [nsx@6876 …`, `… host NSXV …`) and vsm.log
behind a syslog head.
"""

from __future__ import annotations

from analyzer.kept_patterns import compiled, compiled_bytes

_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_OLD = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?"
_HOST = rb"(?P<host>[A-Za-z0-9][\w.:-]{0,252}(?<!:))"
_NAMED = compiled_bytes(
    rb"\s*(?:<\d{1,3}>(?:1 )?)?(?:" + _ISO + rb"|" + _OLD + rb") " + _HOST + rb" (?:[A-Z][a-z]\(\d{1,3}\)\S{0,3} +)?"
    rb"(?P<tag>[A-Za-z][\w./-]{0,80}(?=(?:\[[^\]\s]{0,40}\])?: )|NSXV? (?=\S)|(?=\d{4}-\d\d-\d\d \d\d:\d\d:))"
)  # fmt: skip
_UNNAMED = compiled_bytes(
    rb"\s*(?:<\d{1,3}>)?" + _OLD + rb" (?P<tag>[A-Za-z][\w./-]{0,80}(?=(?:\[[^\]\s]{0,40}\])?: ))"
)
_LEVELLED = compiled_bytes(
    rb"\s*" + _ISO + rb" [A-Z][a-z]\(\d{1,3}\)\S{0,3} +(?P<tag>[A-Za-z][\w./-]{0,80}(?=(?:\[[^\]\s]{0,40}\])?: ))"
)
_REPEATED = compiled_bytes(
    rb"\s*(?:<\d{1,3}>)?(?:" + _ISO + rb"|" + _OLD + rb") (?:" + _HOST + rb" )?last message repeated \d{1,6} times?\b"
)
_RFC5424 = compiled_bytes(rb"\s*<\d{1,3}>1 " + _ISO + rb" " + _HOST + rb" (?P<tag>[\w./-]{1,80}) \S+ \S+ (?=-|\[)")
_LEVELS = frozenset(
    b"info warning error verbose trivia debug notice critical crit alert emerg panic warn fatal trace".split()
)
_NOBODY = frozenset((b"localhost", b"localhost.localdomain", b"127.0.0.1", b"last", b"message", b"-"))


def named(line: bytes) -> tuple[str, bytes]:
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


def repeats(line: bytes) -> str | None:
    """Return the host whose last message a raw line says was repeated, "" for a nameless one; None for other lines."""
    found = _REPEATED.match(line)
    if found is None:
        return None
    host = found["host"] or b""
    return "" if host.lower() in _NOBODY else host.decode("ascii", "replace")


BOOT = "[esx.audit.host.boot]"  # the event of a start of the host

# how ESXi names a switch, port set, adapter, path, device, or volume in its events
OBJECT = compiled(
    r"\b(?:(?:vSwitch|DvsPortset-|vmnic|vmk)\d+|vmhba\d+(?::C\d+:T\d+:L\d+)?|(?:naa|eui)\.[0-9a-fA-F]+|t10\.\w+"
    r"|mpx\.vmhba\d+:C\d+:T\d+:L\d+|[0-9a-f]{8}(?:-[0-9a-f]{4,12}){3,4})"
)
