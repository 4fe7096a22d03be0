"""Masks customer data in lines that go into a rule file; within one draft the same name gets the same mask.

What stays: times, counters, sizes, device names (vmnic4), message texts. What goes: names of hosts, VMs,
users, networks and datastores, addresses, ids, serials, keys, secrets. A mask has the form of what it
stands for, so that a masked line is still read by its parser: addresses come from the documentation ranges,
two hosts of one /24 stay in one /24, MAC addresses carry VMware's prefix.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from analyzer.authoring.fmt.yamltext import ODD, clean
from analyzer.redact.signs import (
    DEFAULT_NAMES,
    DEVICES,
    GUESSES,
    NO_DOMAIN,
    STAMP,
    STRONG,
    SYSTEM_USERS,
    TECHNICAL,
    WEAK,
    compile_signs,
    name_like,
    quoted_name,
)
from analyzer.runtime.text import count_noun

ASKED = "asked"  # kind of the words that the author wants masked, whatever they are
LEAST_NAME = 2  # characters of a known name; a single letter occurs everywhere
LONGEST = 4000  # characters of a line that are looked at; the rest is left out

_RUN = re.compile(r"[^\W_]+")
_VERSION = re.compile(
    r"(?i)(?:version|release)[\"']?\W{0,3}$"
)  # four numbers behind it are no address
_NETS = ("192.0.2", "198.51.100", "203.0.113")
_DOMAINS = ("example.com", "example.net", "example.org")
_KEPT_ADDRESS = re.compile(r"(?:0|127|255)\.|224\.0\.0\.")
_PLACED = frozenset(
    ("user", "host", "vm", "label", "quoted", "name", "portgroup", "switch", "datastore")
)
_SPLIT = frozenset(
    ("user", "quoted", "label", "vm")
)  # claim what is left when a part is masked already
_HEX_FORMS = frozenset(("uuid", "biosuuid", "volume", "thumbprint", "wwn"))
# Names of networks and storage by their own form or by the word before them, whatever else the line says: a rule
# goes to other customers, so that here a word of the product is sooner masked than a name is left.
_TAIL = r"(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w.-]*[A-Za-z0-9]"
_OBJECTS = (
    (
        "switch",
        rf"(?i)(?<![\w./-])(?P<x>(?:dv-?switch|dswitch|vswitch|dvs|vds|n-?vds|hs)[-_]{_TAIL})(?![\w])",
    ),
    (
        "portgroup",
        rf"(?i)(?<![\w./-])(?P<x>(?:(?:dv-?)?pg|dpg|dvport-?group|port-?group|vlan|vxw)[-_]{_TAIL})(?![\w])",
    ),
    (
        "datastore",
        rf"(?i)(?<![\w./-])(?P<x>(?:ds|dstore|datastore|lun|nfs|vmfs|vsan|san|vol)[-_]{_TAIL})(?![\w])",
    ),
    ("label", rf"(?i)(?<![\w./-])(?P<x>(?:rp|cl|dc|cluster|pool)[-_]{_TAIL})(?![\w])"),
    ("switch", r"(?i)\b(?:dv-?switch|host-?switch|v?switch|dvs|vds) (?P<x>[\w.]+[-_][\w.-]*\w)"),
    ("portgroup", r"(?i)\b(?:dv)?port ?group:? (?P<x>[\w.]+[-_][\w.-]*\w)"),
    ("datastore", r"(?i)\b(?:datastore|nfs volume|nfs share):? (?P<x>[\w.]+[-_][\w.-]*\w)"),
    ("label", r"(?i)\b(?:resource pool|cluster|folder|datacenter):? (?P<x>[\w.]+[-_][\w.-]*\w)"),
)
_ASK = {"name": name_like, "quoted": quoted_name}
_STEMS = {
    "host": "esx",
    "secret": "masked",
    "serial": "SERIAL",
    "t10": "t10.EXAMPLE",
    "iqn": "iqn.1998-01.com.example:id",
    "quoted": "text",
    "export": "/export",
    ASKED: "word",
}
_WORDS = {  # what the header of a draft calls one of a kind
    "secret": "secret", "thumbprint": "thumbprint", "licence": "licence key", "ticket": "ticket number",
    "serial": "serial number", "biosuuid": "UUID", "uuid": "UUID", "volume": "VMFS volume id",
    "iqn": "iSCSI name", "device": "storage device id", "t10": "storage device id", "wwn": "WWN",
    "mac": "MAC address", "ipv6": "IPv6 address", "ipv4": "IPv4 address", "user": "user name",
    "host": "host name", "domain": "domain", "vm": "VM name", "portgroup": "network name",
    "switch": "switch name", "datastore": "datastore name", "label": "name of datastores, networks or folders",
    "export": "NFS export", ASKED: "word of --mask", "quoted": "quoted text",
    "name": "word that looks like a name",
}  # fmt: skip
_PLURALS = {
    "MAC address": "MAC addresses", "IPv6 address": "IPv6 addresses", "IPv4 address": "IPv4 addresses",
    "name of datastores, networks or folders": "names of datastores, networks or folders",
    "word of --mask": "words of --mask", "word that looks like a name": "words that look like a name",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a clean line that is masked: what it is, and what stands there instead."""

    start: int
    end: int
    kind: str
    text: str


class Mask:
    """Masks the lines and cells of one draft; numbers are given in the order of appearance.

    names  kind (host, vm, user, portgroup, switch, datastore, label, asked) -> names known from the case or the author
    """

    def __init__(self, names: Mapping[str, Iterable[str]] | None = None) -> None:
        self._known: dict[
            str, list[tuple[str, str, int]]
        ] = {}  # first word -> (name, kind, signs before it)
        self._given: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._nets: dict[str, int] = {}
        self._odd = 0
        self._makers: dict[str, Callable[[str], str | None]] = {
            "ipv4": self._ipv4,
            "ipv6": self._ipv6,
            "mac": self._mac,
            "device": self._device,
            "email": self._email,
            "user": self._user,
            "fqdn": self._fqdn,
            "host": self._host,
        }
        for kind in sorted(names or {}):
            for name in sorted(set((names or {})[kind])):
                self._know(kind, clean(name).strip())
        for found in self._known.values():
            found.sort(key=lambda one: (-len(one[0]), one))

    def text(self, line: str, *, guess: bool = False) -> str:
        """Return a line without customer data; `guess` also takes quoted texts and words formed like names."""
        whole = clean(line[:LONGEST])
        self._odd += whole.count(ODD)
        return masked(whole, self.spans(whole, guess=guess))

    def cell(self, kind: str, value: str) -> str:
        """Return a cell that is a name of that kind, masked whole; the product's own names stay."""
        value = clean(value[:LONGEST]).strip()
        if not value or not self._sayable(kind, value):
            return value
        return self._mask(kind, value) or value

    def counts(self) -> list[str]:
        """Return what was masked, as "2 host names", in the order of appearance."""
        counts = Counter(_WORDS.get(kind, kind) for kind, _ in self._given)
        told = [count_noun(count, word, _PLURALS.get(word, "")) for word, count in counts.items()]
        odd = count_noun(
            self._odd, "character that cannot be printed", "characters that cannot be printed"
        )
        return [*told, odd] if self._odd else told

    def spans(self, line: str, *, guess: bool = False) -> list[Span]:
        """Return what is masked in a clean line, in order, none over another."""
        claims = _Claims(line)
        for start, end, kind in self._named(line, only=ASKED):
            self._claim(claims, kind, start, end)
        for kind, pattern in compile_signs(STRONG):
            for found in pattern.finditer(line):
                self._claim(claims, kind, *found.span("x"))
        for start, end, kind in self._named(line):
            self._claim(claims, kind, start, end)
        signs = WEAK + _OBJECTS + (GUESSES if guess else ())
        for kind, pattern in compile_signs(signs):
            for found in pattern.finditer(line):
                ask = _ASK.get(kind)
                if ask is None or ask(found["x"]):
                    self._claim(claims, kind, *found.span("x"))
        return sorted(claims.spans, key=lambda span: span.start)

    # -- known names

    def _know(self, kind: str, name: str) -> None:
        first = _RUN.search(name)
        if first is None or (kind != ASKED and not self._is_name(kind, name)):
            return
        self._known.setdefault(first.group().lower(), []).append(
            (name.lower(), kind, first.start())
        )
        short, _, domain = name.partition(".")
        if kind == "host" and domain and not short.isdecimal():
            self._know("host", short)

    def _is_name(self, kind: str, name: str) -> bool:
        return len(name) >= LEAST_NAME and not name.isdecimal() and self._sayable(kind, name)

    def _named(self, line: str, only: str = "") -> Iterable[tuple[int, int, str]]:
        low = line.lower()
        low = low if len(low) == len(line) else line
        for run in _RUN.finditer(low) if self._known else ():
            for name, kind, before in self._known.get(run.group(), ()):
                if only and kind != only:
                    continue
                start = run.start() - before
                end = start + len(name)
                if start >= 0 and low.startswith(name, start) and _stands_alone(low, start, end):
                    yield start, end, kind
                    break

    @staticmethod
    def _sayable(kind: str, name: str) -> bool:
        """Tell whether a word at the place of a name is one, not a word of the product."""
        if name.lower() in DEFAULT_NAMES or (kind == "user" and name.lower() in SYSTEM_USERS):
            return False
        return kind == "user" or not (DEVICES if kind == "vm" else TECHNICAL).fullmatch(name)

    # -- claims

    def _claim(self, claims: _Claims, kind: str, start: int, end: int) -> None:
        if kind == "path":
            for part, at, stop in _components(claims.line, start, end):
                self._claim(claims, part, at, stop)
            return
        pieces = [(start, end)]
        if not claims.free(start, end):
            pieces = claims.pieces(start, end) if kind in _SPLIT else []
        for at, stop in pieces:
            word = claims.line[at:stop]
            if kind == "ipv4" and _VERSION.search(claims.line[max(0, at - 12) : at]):
                continue
            if kind in _PLACED and not (
                any(map(str.isalnum, word)) and self._sayable(kind, word.strip())
            ):
                continue
            text = self._mask(kind, word)
            if text is not None:
                claims.take(Span(at, stop, "host" if kind == "fqdn" else kind, text))

    # -- masks

    def _mask(self, kind: str, word: str) -> str | None:
        """Return the mask of a word, the word itself when it is to be left alone, None when it is no such thing."""
        maker = self._makers.get(kind)
        if maker is not None:
            return maker(word)
        low = word.lower()
        if kind in _HEX_FORMS:
            return self._give(
                kind, re.sub(r"[^0-9a-f]", "", low), lambda number: _formed(word, number)
            )
        if kind in ("licence", "ticket"):
            return self._give(
                kind,
                low,
                lambda number: _formed(word, number, "licence" if kind == "licence" else "decimal"),
            )
        if kind in _PLACED and word.isdecimal():
            return None
        return self._give(kind, low)

    def _give(self, kind: str, key: str, make: Callable[[int], str] | None = None) -> str:
        """Return the mask of a thing, made when it is new."""
        if (kind, key) not in self._given:
            self._numbers[kind] += 1
            number = self._numbers[kind]
            self._given[kind, key] = (
                make(number) if make is not None else f"{_STEMS.get(kind, kind)}-{number:02d}"
            )
        return self._given[kind, key]

    def _ipv4(self, word: str) -> str:
        if _KEPT_ADDRESS.match(word):
            return word
        parts = [str(int(part)) for part in word.split(".")]
        net = self._nets.setdefault(".".join(parts[:3]), len(self._nets))
        return self._give("ipv4", ".".join(parts), lambda _: self._address(net))

    def _address(self, net: int) -> str:
        """Return the next free address for hosts of one /24; beyond the documentation ranges that of test nets."""
        self._numbers[f"net {net}"] += 1
        host = self._numbers[f"net {net}"]
        if net < len(_NETS) and host < 255:
            return f"{_NETS[net]}.{host}"
        self._numbers["more addresses"] += 1
        number = self._numbers["more addresses"]
        return f"198.{18 + (number >> 16) % 2}.{number >> 8 & 255}.{number & 255}"

    def _ipv6(self, word: str) -> str | None:
        try:
            address = ipaddress.IPv6Address(word)
        except ValueError:
            return None
        if address.is_loopback or address.is_unspecified:
            return word
        head = "fe80" if address.is_link_local else "2001:db8"
        return self._give("ipv6", address.exploded, lambda number: f"{head}::{number:x}")

    def _mac(self, word: str) -> str:
        digits = re.sub(r"[^0-9a-f]", "", word.lower())
        if digits in ("0" * 12, "f" * 12):
            return word
        plain = self._give("mac", digits, lambda number: f"005056{number:06x}")
        signs = iter(plain)
        made = "".join(next(signs) if sign.isalnum() else sign for sign in word)
        return made.upper() if word.isupper() else made

    def _device(self, word: str) -> str:
        prefix, _, digits = word.partition(".")
        return self._give(
            "device",
            word.lower(),
            lambda number: f"{prefix}.{digits[0]}{number:0{len(digits) - 1}x}",
        )

    def _email(self, word: str) -> str:
        local, _, domain = word.rpartition("@")
        name = local if local.lower() in SYSTEM_USERS else self._give("user", local.lower())
        return f"{name}@{self._domain(domain.lower())}"

    def _user(self, word: str) -> str | None:
        head, slash, name = word.rpartition("\\")
        if name.lower() in SYSTEM_USERS:
            return f"EXAMPLE{slash}{name}" if head else word
        if name.isdecimal():
            return None
        return (
            f"EXAMPLE{slash}{self._give('user', name.lower())}"
            if head
            else self._give("user", name.lower())
        )

    def _domain(self, name: str) -> str:
        if name in DEFAULT_NAMES or name.endswith(".vmware.com"):
            return name
        count = self._numbers["domain"]
        return self._give(
            "domain",
            name,
            lambda _: _DOMAINS[count] if count < len(_DOMAINS) else f"d{count}.example.com",
        )

    def _fqdn(self, word: str) -> str | None:
        first, _, domain = word.lower().partition(".")
        if (
            word.lower() in DEFAULT_NAMES
            or first in NO_DOMAIN
            or word.lower().endswith(".vmware.com")
        ):
            return word
        if "." not in domain and ("host", first) not in self._given and first not in self._known:
            return self._domain(word.lower())
        return f"{self._give('host', first)}.{self._domain(domain)}"

    def _host(self, word: str) -> str | None:
        if re.fullmatch(r"[\d.]+", word):
            return None
        first, _, domain = word.lower().partition(".")
        return (
            f"{self._give('host', first)}.{self._domain(domain)}"
            if domain
            else self._give("host", first)
        )


class _Claims:
    """The stretches of a line that are taken, by masks and by stamps that must not be touched."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.spans: list[Span] = []
        self._taken = bytearray(len(line))
        for found in STAMP.finditer(line):
            self._fill(found.start(), found.end())

    def _fill(self, start: int, end: int) -> None:
        self._taken[start:end] = b"\1" * (end - start)

    def free(self, start: int, end: int) -> bool:
        return start < end and self._taken.find(1, start, end) < 0

    def pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the words of a stretch that nobody has taken."""
        found = []
        for run in re.finditer(rb"\0+", bytes(self._taken[start:end])):
            at, stop = start + run.start(), start + run.end()
            inner = re.search(r"[^\W_](?:.*[^\W_])?", self.line[at:stop])
            if inner:
                found.append((at + inner.start(), at + inner.end()))
        return found

    def take(self, span: Span) -> None:
        self._fill(span.start, span.end)
        if span.text != self.line[span.start : span.end]:
            self.spans.append(span)


def masked(line: str, spans: Iterable[Span]) -> str:
    """Return a clean line with its spans replaced; where columns follow, blanks keep them in their place."""
    out: list[str] = []
    at = 0
    for span in spans:
        out += [line[at : span.start], span.text]
        at = span.end
        blanks = len(line) - at - len(line[at:].lstrip(" "))
        longer = len(span.text) - (span.end - span.start)
        if blanks >= 2 and at + blanks < len(line):
            out.append(" " * max(2, blanks - longer))
            at += blanks
    return "".join([*out, line[at:]])


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (start and text[start - 1].isalnum()) and not (
        end < len(text) and text[end].isalnum()
    )


def _components(line: str, start: int, end: int) -> Iterable[tuple[str, int, int]]:
    """Yield (kind, start, end) of the parts of a datastore path: its volume, folders, and the stem of its file."""
    first = line[:start].endswith("/")  # behind /vmfs/volumes/
    at = start
    for part in line[start:end].split("/"):
        stem = re.match(
            r"(.+?)(?:(?:-\d{6})?(?:-flat|-delta|-ctk|-sesparse|-rdm|-rdmp)?\.\w{2,5})?[.:,]*$",
            part,
        )
        if stem and stem[1] not in (".", ".."):
            volume = re.fullmatch(r"(?i)[0-9a-f]{8}-[0-9a-f-]{8,}", stem[1])
            kind = ("volume" if volume else "datastore") if first else "vm"
            yield kind, at, at + len(stem[1])
        first = False
        at += len(part) + 1


def _formed(word: str, number: int, form: str = "hex") -> str:
    """Return `number` in the form of `word`: every digit replaced, other signs where they stand."""
    digits = {"hex": "0-9a-fA-F", "decimal": "0-9", "licence": "0-9A-Z"}[form]
    places = [found.start() for found in re.finditer(f"[{digits}]", word)]
    signs = list(word)
    filled = f"{number:x}" if form == "hex" else str(number)
    for place, sign in zip(places, filled.rjust(len(places), "0")[-len(places) :], strict=True):
        signs[place] = sign
    return "".join(signs)
