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

from analyzer.authoring.fmt.yamltext import ODD, clean_text
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
    """A stretch of a clean line that is masked: what it is, and what is there instead."""

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
            "ipv4": self.mask_ipv4,
            "ipv6": self.mask_ipv6,
            "mac": self.mask_mac,
            "device": self.mask_device,
            "email": self.mask_email,
            "user": self.mask_user,
            "fqdn": self.mask_fqdn,
            "host": self.mask_host,
        }
        for kind in sorted(names or {}):
            for name in sorted(set((names or {})[kind])):
                self.add_name(kind, clean_text(name).strip())
        for found in self._known.values():
            found.sort(key=lambda one: (-len(one[0]), one))

    def mask_text(self, line: str, *, guess: bool = False) -> str:
        """Return a line without customer data; `guess` also takes quoted texts and words formed like names."""
        whole = clean_text(line[:LONGEST])
        self._odd += whole.count(ODD)
        return mask_spans(whole, self.find_spans(whole, guess=guess))

    def mask_cell(self, kind: str, value: str) -> str:
        """Return a cell that is a name of that kind, masked whole; the product's own names stay."""
        value = clean_text(value[:LONGEST]).strip()
        if not value or not self.is_customer_name(kind, value):
            return value
        return self.make_mask(kind, value) or value

    def list_counts(self) -> list[str]:
        """Return what was masked, as "2 host names", in the order of appearance."""
        counts = Counter(_WORDS.get(kind, kind) for kind, _ in self._given)
        words = []
        for word, count in counts.items():
            words.append(count_noun(count, word, _PLURALS.get(word, "")))
        if self._odd:
            one = "character that cannot be printed"
            words.append(count_noun(self._odd, one, "characters that cannot be printed"))
        return words

    def find_spans(self, line: str, *, guess: bool = False) -> list[Span]:
        """Return what is masked in a clean line, in order, none over another."""
        claims = _Claims(line)
        for start, end, kind in self.find_names(line, only=ASKED):
            self.claim(claims, kind, start, end)
        for kind, pattern in compile_signs(STRONG):
            for found in pattern.finditer(line):
                self.claim(claims, kind, *found.span("x"))
        for start, end, kind in self.find_names(line):
            self.claim(claims, kind, start, end)
        signs = WEAK + _OBJECTS + (GUESSES if guess else ())
        for kind, pattern in compile_signs(signs):
            for found in pattern.finditer(line):
                ask = _ASK.get(kind)
                if ask is None or ask(found["x"]):
                    self.claim(claims, kind, *found.span("x"))
        return sorted(claims.spans, key=lambda span: span.start)

    # -- known names

    def add_name(self, kind: str, name: str) -> None:
        """Take a name from the case or the author, of a host also its short form."""
        first = _RUN.search(name)
        plain = len(name) < LEAST_NAME or name.isdecimal()
        if first is None:
            return
        if kind != ASKED and (plain or not self.is_customer_name(kind, name)):
            return
        self._known.setdefault(first.group().lower(), []).append(
            (name.lower(), kind, first.start())
        )
        short, _, domain = name.partition(".")
        if kind == "host" and domain and not short.isdecimal():
            self.add_name("host", short)

    def find_names(self, line: str, only: str = "") -> Iterable[tuple[int, int, str]]:
        """Yield where known names are in a line: start, end, kind."""
        low = line.lower()
        if len(low) != len(line):
            low = line
        for run in _RUN.finditer(low) if self._known else ():
            for name, kind, before in self._known.get(run.group(), ()):
                if only and kind != only:
                    continue
                start = run.start() - before
                end = start + len(name)
                alone = (
                    not low[max(0, start - 1) : start].isalnum()
                    and not low[end : end + 1].isalnum()
                )
                if start >= 0 and low.startswith(name, start) and alone:
                    yield start, end, kind
                    break

    @staticmethod
    def is_customer_name(kind: str, name: str) -> bool:
        """Say whether a word at the place of a name is one, not a word of the product."""
        if name.lower() in DEFAULT_NAMES or (kind == "user" and name.lower() in SYSTEM_USERS):
            return False
        if kind == "user":
            return True
        return not (DEVICES if kind == "vm" else TECHNICAL).fullmatch(name)

    # -- claims

    def claim(self, claims: _Claims, kind: str, start: int, end: int) -> None:
        """Mask a stretch of the line, or what is left of it; nothing where it is no such name."""
        if kind == "path":
            for part, at, stop in _split_path(claims.line, start, end):
                self.claim(claims, part, at, stop)
            return
        pieces = []
        if claims.is_free(start, end):
            pieces = [(start, end)]
        elif kind in _SPLIT:
            pieces = claims.find_pieces(start, end)
        for at, stop in pieces:
            word = claims.line[at:stop]
            if kind == "ipv4" and _VERSION.search(claims.line[max(0, at - 12) : at]):
                continue
            if kind in _PLACED:
                if not any(map(str.isalnum, word)):
                    continue
                if not self.is_customer_name(kind, word.strip()):
                    continue
            text = self.make_mask(kind, word)
            if text is not None:
                claims.add_span(Span(at, stop, "host" if kind == "fqdn" else kind, text))

    # -- masks

    def make_mask(self, kind: str, word: str) -> str | None:
        """Return the mask of a word, the word itself when it is to be left alone, None when it is no such thing."""
        maker = self._makers.get(kind)
        if maker is not None:
            return maker(word)
        low = word.lower()
        if kind in _HEX_FORMS:
            digits = re.sub(r"[^0-9a-f]", "", low)
            return self.give_mask(kind, digits, lambda number: _fill_form(word, number))
        if kind in ("licence", "ticket"):
            if kind == "licence":
                form = "licence"
            else:
                form = "decimal"
            return self.give_mask(kind, low, lambda number: _fill_form(word, number, form))
        if kind in _PLACED and word.isdecimal():
            return None
        return self.give_mask(kind, low)

    def give_mask(self, kind: str, key: str, make: Callable[[int], str] | None = None) -> str:
        """Return the mask of a thing, made when it is new."""
        if (kind, key) not in self._given:
            self._numbers[kind] += 1
            number = self._numbers[kind]
            plain = f"{_STEMS.get(kind, kind)}-{number:02d}"
            if make is not None:
                self._given[kind, key] = make(number)
            else:
                self._given[kind, key] = plain
        return self._given[kind, key]

    def mask_ipv4(self, word: str) -> str:
        """Return the mask of an IPv4 address; hosts of one /24 stay in one."""
        if _KEPT_ADDRESS.match(word):
            return word
        parts = [str(int(part)) for part in word.split(".")]
        prefix = ".".join(parts[:3])
        net = self._nets.setdefault(prefix, len(self._nets))
        return self.give_mask("ipv4", ".".join(parts), lambda _: self.next_address(net))

    def next_address(self, net: int) -> str:
        """Return the next free address for hosts of one /24; beyond the documentation ranges that of test nets."""
        self._numbers[f"net {net}"] += 1
        host = self._numbers[f"net {net}"]
        if net < len(_NETS) and host < 255:
            return f"{_NETS[net]}.{host}"
        self._numbers["more addresses"] += 1
        number = self._numbers["more addresses"]
        second = 18 + (number >> 16) % 2
        third = number >> 8 & 255
        return f"198.{second}.{third}.{number & 255}"

    def mask_ipv6(self, word: str) -> str | None:
        """Return the mask of an IPv6 address, None when it is none."""
        try:
            address = ipaddress.IPv6Address(word)
        except ValueError:
            return None
        if address.is_loopback or address.is_unspecified:
            return word
        head = "2001:db8"
        if address.is_link_local:
            head = "fe80"
        return self.give_mask("ipv6", address.exploded, lambda number: f"{head}::{number:x}")

    def mask_mac(self, word: str) -> str:
        """Return the mask of a MAC address in the form of the address."""
        digits = re.sub(r"[^0-9a-f]", "", word.lower())
        if digits in ("0" * 12, "f" * 12):
            return word
        plain = self.give_mask("mac", digits, lambda number: f"005056{number:06x}")
        signs = iter(plain)
        made = "".join(next(signs) if sign.isalnum() else sign for sign in word)
        if word.isupper():
            return made.upper()
        return made

    def mask_device(self, word: str) -> str:
        """Return the mask of a storage device; its prefix and first digit stay."""
        prefix, _, digits = word.partition(".")
        rest = len(digits) - 1
        return self.give_mask(
            "device", word.lower(), lambda number: f"{prefix}.{digits[0]}{number:0{rest}x}"
        )

    def mask_email(self, word: str) -> str:
        """Return the mask of an e-mail address."""
        local, _, domain = word.rpartition("@")
        name = local
        if local.lower() not in SYSTEM_USERS:
            name = self.give_mask("user", local.lower())
        return f"{name}@{self.mask_domain(domain.lower())}"

    def mask_user(self, word: str) -> str | None:
        """Return the mask of a user with or without a domain, None when it is none."""
        head, slash, name = word.rpartition("\\")
        if name.lower() in SYSTEM_USERS:
            if head:
                return f"EXAMPLE{slash}{name}"
            return word
        if name.isdecimal():
            return None
        if head:
            return f"EXAMPLE{slash}{self.give_mask('user', name.lower())}"
        return self.give_mask("user", name.lower())

    def mask_domain(self, name: str) -> str:
        """Return the mask of a domain."""
        if name in DEFAULT_NAMES or name.endswith(".vmware.com"):
            return name
        count = self._numbers["domain"]
        if count < len(_DOMAINS):
            made = _DOMAINS[count]
        else:
            made = f"d{count}.example.com"
        return self.give_mask("domain", name, lambda _: made)

    def mask_fqdn(self, word: str) -> str | None:
        """Return the mask of a full host name; names of the product stay."""
        low = word.lower()
        first, _, domain = low.partition(".")
        if low in DEFAULT_NAMES or first in NO_DOMAIN or low.endswith(".vmware.com"):
            return word
        if "." not in domain and ("host", first) not in self._given and first not in self._known:
            return self.mask_domain(low)
        return f"{self.give_mask('host', first)}.{self.mask_domain(domain)}"

    def mask_host(self, word: str) -> str | None:
        """Return the mask of a host name, None when it is none."""
        if re.fullmatch(r"[\d.]+", word):
            return None
        first, _, domain = word.lower().partition(".")
        if domain:
            return f"{self.give_mask('host', first)}.{self.mask_domain(domain)}"
        return self.give_mask("host", first)


class _Claims:
    """The stretches of a line that are taken, by masks and by stamps that must not be touched."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.spans: list[Span] = []
        self._taken = bytearray(len(line))
        for found in STAMP.finditer(line):
            self.take_stretch(found.start(), found.end())

    def take_stretch(self, start: int, end: int) -> None:
        self._taken[start:end] = b"\1" * (end - start)

    def is_free(self, start: int, end: int) -> bool:
        """Say whether nothing of a stretch is masked yet."""
        if start >= end:
            return False
        return self._taken.find(1, start, end) < 0

    def find_pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the words of a stretch that no one has taken."""
        found = []
        for run in re.finditer(rb"\0+", bytes(self._taken[start:end])):
            at = start + run.start()
            stop = start + run.end()
            inner = re.search(r"[^\W_](?:.*[^\W_])?", self.line[at:stop])
            if inner:
                found.append((at + inner.start(), at + inner.end()))
        return found

    def add_span(self, span: Span) -> None:
        """Take a stretch, and keep it where its text changes."""
        self.take_stretch(span.start, span.end)
        if span.text != self.line[span.start : span.end]:
            self.spans.append(span)


def mask_spans(line: str, spans: Iterable[Span]) -> str:
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


def _split_path(line: str, start: int, end: int) -> Iterable[tuple[str, int, int]]:
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
            if first:
                kind = "datastore"
                if volume:
                    kind = "volume"
            else:
                kind = "vm"
            yield kind, at, at + len(stem[1])
        first = False
        at += len(part) + 1


def _fill_form(word: str, number: int, form: str = "hex") -> str:
    """Return `number` in the form of `word`: every digit replaced, other signs where they stand."""
    digits = {"hex": "0-9a-fA-F", "decimal": "0-9", "licence": "0-9A-Z"}[form]
    places = []
    for found in re.finditer(f"[{digits}]", word):
        places.append(found.start())
    signs = list(word)
    if form == "hex":
        filled = f"{number:x}"
    else:
        filled = str(number)
    for place, sign in zip(places, filled.rjust(len(places), "0")[-len(places) :], strict=True):
        signs[place] = sign
    return "".join(signs)
