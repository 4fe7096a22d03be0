"""Collects the names of a case: from the typed columns of its tables, from its document, and by form from its lines."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from msgspec import to_builtins

from analyzer.artefacts.samples import SampleColumns
from analyzer.case.case_file import show_surrogates
from analyzer.case.document import CaseDocument
from analyzer.redact import addresses
from analyzer.redact.columns import LABELLED, LABELS, PLAIN, TEXT, kind_of
from analyzer.redact.commandnames import names_of
from analyzer.redact.filenames import ENDS, own_parts
from analyzer.redact.learnt import Learnt
from analyzer.redact.signs import DEVICES, NO_DOMAIN, TECHNICAL
from analyzer.redact.textforms import device_digits, device_forms, path_parts
from analyzer.redact.words import LEAST_ANYWHERE, has_word, is_kept, is_product_word
from analyzer.sources.kinds import LAYOUT

if TYPE_CHECKING:
    from analyzer.artefacts.tables import Table
    from analyzer.facts import Facts

LONGEST = 300  # characters of a cell that may be a name
_LISTED = frozenset(
    ("host", "address", "mac", "uuid", "serial")
)  # of these a cell may hold several
_LABELS = tuple((re.compile(pattern), kind) for pattern, kind in LABELS)
_MAC = re.compile(r"(?i)(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}")
_UUID = re.compile(
    r"(?i)[0-9a-f]{8}-[0-9a-f]{4,8}-(?:[0-9a-f]{4}-){1,2}[0-9a-f]{12}|(?:[0-9a-f]{2}[ -]){15}[0-9a-f]{2}|[0-9a-f]{32}"
    r"|(?:vvol:)?[0-9a-f]{16}-[0-9a-f]{16}"
)
_PAIRS = re.compile(r"(?:[0-9a-fA-F]{2}:){7}[0-9a-fA-F]{2}")
_NUMBER = re.compile(r"[\d.,+-]+[%a-zA-Z]{0,3}")  # of a table of settings: a size, a count
_DN = re.compile(r"(?i)(?:^|[,/+]\s*)(CN|OU|O|L|ST|DC|UID|emailAddress)\s*=\s*([^,/+;]+)")
_UNFORMED = frozenset(("input", "serial", "domain"))  # kinds of which no address is one
_BY_FORM = frozenset(
    ("address", "device", "mac", "ipv6", "ipv4", "uuid")
)  # nothing else is one of them
_FQDN = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_ORGANISATION = re.compile(r"(?i)(?!example)[a-z][a-z0-9]*(?:-[a-z0-9]*[a-z][a-z0-9]*){0,2}")
_WORLD = re.compile(r"^\d+:")
_ETH = re.compile(r"\.eth\d+$")
_OWN_DOMAINS = (".vmware.com", ".broadcom.com")
_POLICY = re.compile(
    r"(?:^|/)[a-z0-9-]+s/([\w.%-]*[A-Za-z][\w.%-]*)"
)  # a collection of the policy, and one of it
# What signs find and several names are, or one in another form -> (kind, name) of them.
_COMPOSED: dict[str, Callable[[str], Iterable[tuple[str, str]]]] = {
    "command": names_of,
    "policypath": lambda path: [("label", unquote(part)) for part in _POLICY.findall(path)],
    "tag": lambda text: [("label", part) for part in text.split("|")],
    "dashed": lambda text: [("address", text.replace("-", "."))],
    "reversed": lambda text: [("address", ".".join(reversed(text.split("."))))],
}
_WORDS = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
# Keys of the document whose strings come from the customer; all others hold words of the product and names.
_CUSTOMER = frozenset(
    (
        "text",
        "before",
        "after",
        "what",
        "object",
        "value",
        "address",
        "at",
        "last_address",
        "advice",
        "said",
        "subject",
        "subjects",
        "why",
        "cell",
    )
)
_HOLDING = frozenset((dict, list, tuple))  # what a document is made of, next to texts and numbers
NAMED_KEYS = frozenset(("series",))  # whose keys are made of names
_CARDS = {
    "VMs": "vm",
    "VMs to the wire": "vm",
    "VMs to storage": "vm",
    "Datastores": "datastore",
    "Virtual switches": "switch",
}
_FIELDS = {
    "topology": (("vm", "vm"), ("switch", "switch"), ("portgroup", "portgroup"), ("mac", "mac")),
    "site": (("name", "host"), ("other", "host"), ("said_by", "host")),
}


class Identities:
    """The names of a case, each with its kind; `found` gives them in a fixed order."""

    def __init__(self, learnt: Learnt | None = None) -> None:
        self.learnt = learnt or Learnt()
        self.names: dict[tuple[str, str], None] = {}
        self.versions: set[str] = set()  # four numbers with dots that are no address
        self._cells: set[tuple[str, str]] = set()
        self._read: set[str] = set()  # texts of documents
        self._called: dict[tuple[str, str], None] = {}  # what documents call things, word by word

    def list_found(self) -> list[tuple[str, str]]:
        """Return (kind, name), sorted. What a thing is called, and no column says how, is a label."""
        known = {name.lower() for _, name in self.names}
        called = [word for text, word in self._called if known.isdisjoint((text, word.lower()))]
        return sorted({*self.names, *(("label", word) for word in called)})

    def take_facts(self, facts: Facts) -> None:
        """Take the names that are in the tables of a case."""
        for node in facts.nodes.values():
            self.take_cell("vm" if node.kind in ("guest", "hosted") else "host", node.name)
        for name in sorted(facts.tables):
            if facts.count(name) and facts.tables[name].lines_of is None:
                self._take_table(facts, facts.tables[name])

    def _take_table(self, facts: Facts, table: Table) -> None:
        store = facts.store(table.name)
        named, labelled, versions = columns_of(table)
        for row in store.rows if named or labelled or versions else ():
            values = row.values
            for name, kind in named:
                if value := values.get(name):
                    self.take_cell(kind, str(value))
            for name, label in labelled:
                self.take_setting(str(values.get(label) or ""), str(values.get(name) or ""))
            for name in versions:
                self.versions.add(str(values.get(name)))
        if not store.frames:
            return
        for frame in store.frames:
            columns = (
                frame.columns.names if isinstance(frame.columns, SampleColumns) else frame.columns
            )
            for name, kind in named:
                for value in {str(one) for one in columns[name] if one} if name in columns else ():
                    self.take_cell(kind, value)

    def take_setting(self, label: str, value: str) -> None:
        """Take the value of a setting whose label says that it is a name."""
        if value and not _NUMBER.fullmatch(value) and (kind := labelled_kind(label)):
            self.take_cell(kind, value)

    def take_document(self, doc: CaseDocument) -> None:
        """Take the names that the fields of a case document hold, and what its lines show by their form."""
        for node in doc.nodes:
            self.take_cell("vm" if node.kind in ("guest", "hosted") else "host", node.name)
        for one in doc.case.files:
            self.take_given(one.name)
        bundles = {name for node in doc.nodes if node.bundle for name in (node.id, node.name)}
        holders = {
            source.address.rpartition("!")[0] for source in doc.sources if source.node in bundles
        } - {""}
        for source in doc.sources:
            held = source.address.rpartition("!")[0] in holders
            self.take_source(source.address, bundled=held or source.node in bundles)
        # The names of the rules that a case document speaks of
        asked = (rule for one in doc.cannot_tell for rule in one.rules)
        rules = "\n".join(
            (
                *asked,
                *(one.rule for one in doc.findings),
                *(one.rule for one in doc.quiet),
            )
        )
        self.take_case(doc.case.name, rules)
        for key, fields in _FIELDS.items():
            for record in getattr(doc, key):
                for name, kind in fields:
                    self.take_cell(kind, getattr(record, name))
        for card in doc.hosts:
            for row in card.rows:
                for item in row.items if row.title in _CARDS else ():
                    self.take_cell(_CARDS[row.title], item.name)
        self._take_subjects(doc)
        texts = dict.fromkeys(
            text for key, text in iterate_strings(to_builtins(doc)) if key in _CUSTOMER
        )
        self.take_lines(text for text in texts if text not in self._read)
        self._read.update(texts)

    def _take_subjects(self, doc: CaseDocument) -> None:
        """Take what rules are about: the values of findings, and the VMs whose table is missing."""
        for one in doc.cannot_tell:
            if "vm" in re.split(r"[._]", one.missing):
                for subject in one.subjects:
                    self.take_cell("vm", subject)
        for finding in doc.findings:
            for name, value in finding.values.items():
                kind = _kind_in("", name.rpartition(".")[2])
                if kind not in (PLAIN, TEXT):
                    self.take_cell(kind, value)
        texts = [text for one in doc.findings for text in (one.object, one.subject)]
        texts += [one.object for one in doc.signals]
        texts += [one for asked in doc.cannot_tell for one in asked.subjects]
        for text in dict.fromkeys(texts):
            self.take_called(text)

    def take_called(self, text: str) -> None:
        """Take the words of what a thing is called that the product does not say: in a stored case nothing tells of
        which column it came."""
        if text.startswith("/"):
            self.take_path(text)
            return
        for part in re.split(r"[\s,;|()\[\]\"']+", text):
            word = part.strip(":.@=")
            letters = [run for run in _LETTERS.findall(word.lower()) if len(run) > 2]
            if (
                not all(map(has_word, letters))
                and not TECHNICAL.fullmatch(word)
                and not self._take_formed(word)
            ):
                self._called[text.lower(), word] = None

    def take_lines(self, texts: Iterable[str]) -> None:
        """Take what lines show by their form."""
        self.take_found(self.learnt.found_in("\n".join(dict.fromkeys(texts)), self.versions))

    def take_found(self, found: Iterable[tuple[str, str]]) -> None:
        """Take (kind, name) of what a text shows by its form."""
        for kind, name in found:
            if kind.startswith("url"):
                kind, name = kind[3:], unquote(name)  # noqa: PLW2901
            if kind in ("path", "file"):
                parts = name.split("\\")
                self.take_path(name if kind == "path" else f"[-] {parts[-1]}")
            elif kind in _COMPOSED:
                for inner, word in _COMPOSED[kind](name):
                    self.take_cell(inner, word)
            elif kind == "mac":
                if not addresses.kept_mac(digits := addresses.digits_of(name)):
                    self._add_name(kind, digits)
            elif kind in ("device", "uuid"):
                digits = (
                    device_digits(name)
                    if "." in name
                    else addresses.digits_of(name.lower().replace("0x", ""))
                )
                if digits.strip("0"):
                    self._add_name(kind, digits)
            elif not (
                TECHNICAL.fullmatch(name)
                or name in self.versions
                or (
                    any(map(str.isalpha, name))
                    and all(is_product_word(word) for word in name.lower().split("."))
                )
            ):
                self.take_cell(kind, name)

    def take_given(self, path: str) -> None:
        """Take the name of a file or folder that was given, part by part; what the grammar of bundles and logs knows stays."""
        names = path.replace("!", "/").split("/")
        for place, part in enumerate(names):
            parts = [part[start:end] for start, end in own_parts(part)]
            if parts:
                self._add_name("given", part)
            if parts and is_product_word(
                part.lower()
            ):  # a folder `network` is known by what is next to it
                self._add_name("given", "/".join(names[max(0, min(place, len(names) - 2)) :][:2]))
            for own in parts:
                plain = all(is_product_word(word.lower()) for word in _WORDS.findall(own))
                named = not plain or (re.search(r"\d{5}", own) and not _is_numbered_word(own))
                if named and not self._is_host(own):
                    self._add_name("input", own)

    def _is_host(self, name: str) -> bool:
        low = name.lower()
        return ("host", low) in self.names or ("fqdn", low) in self.names

    def take_case(self, name: str, rules: str) -> None:
        """Take the name of a case. That of a folder or an archive is somebody's own, also where each word of it is a
        word of the product: customers are called Target and Orange. The name of a rule, or a part of one
        (`kb-417889`, `windows-guest`), is no name."""
        stem = ENDS.sub("", name)
        if _is_numbered_word(stem):
            return
        if is_product_word(stem.lower()) or stem.lower() not in rules:
            self.take_given(name)
            for start, end in own_parts(stem):
                if not self._is_host(stem[start:end]):
                    self._add_name("input", stem[start:end])

    def take_source(self, address: str, *, bundled: bool) -> None:
        """Take the names of files and folders in an address; of a bundle only that of what holds it is somebody's own."""
        *archives, member = address.split("!")
        for archive in archives:
            self.take_given(archive if archive == archives[0] else archive.rpartition("/")[2])
        folder, slash, _rest = member.partition("/")
        if not bundled and not LAYOUT.match(member):
            self.take_given(member)
        elif slash and LAYOUT.match(member) and not LAYOUT.match(f"{folder}/"):
            self.take_given(folder)

    def take_cell(self, kind: str, text: str) -> None:
        """Take a cell that holds a name, or several, of a kind; what has the form of an address is one."""
        if (kind, text) in self._cells:
            return
        self._cells.add((kind, text))
        if kind == "path":
            self.take_path(text)
            return
        if kind == "input":
            self.take_given(text)
            return
        if kind == "name":
            for word, value in _DN.findall(text):
                # Take a part of a distinguished name; no domain and no account has a blank: what
                # follows is the sentence.
                dn_word = word.upper()
                dn_value = value.strip()
                if dn_word in ("DC", "UID"):
                    self.take_cell(
                        "user" if dn_word == "UID" else "label", dn_value.partition(" ")[0]
                    )
                else:
                    self.take_cell(
                        "host" if dn_word == "CN" and " " not in dn_value else "label", dn_value
                    )
            return
        whole = kind not in _LISTED or (kind == "uuid" and _UUID.fullmatch(text.strip()))
        for word in (text,) if whole else re.split(r"[,;\s]+", text):
            self._take_one(kind, word.strip().strip("\"'"))

    def take_path(self, text: str) -> None:
        """Take the parts of a path, each by its place; of an export all are folders."""
        for kind, word in path_parts(text):
            if kind == "path":
                self._take_one(kind, word)
            else:
                self.take_cell(kind, word)

    def _take_one(self, kind: str, word: str) -> None:
        if not word or len(word) > LONGEST or not any(map(str.isalnum, word)):
            return
        if kind not in _UNFORMED and self._take_formed(word):
            return
        if kind in ("vm", "client"):
            word = _ETH.sub("", _WORLD.sub("", word))
        if kind == "client":
            kind, word = (
                "vm",
                "" if DEVICES.fullmatch(word) or is_product_word(word.lower()) else word,
            )
        if kind == "host" or (kind == "address" and _FQDN.fullmatch(word)):
            self._take_host(word)
        elif kind == "email":
            user, _, domain = word.rpartition("@")
            self._add_name("user", user)
            self._take_domain(domain)
        elif kind == "user":
            domain, _slash, name = word.replace("/", "\\").rpartition("\\")
            self._add_name("user", name.partition("@")[0])
            self._take_domain(domain.strip("\\") or name.partition("@")[2])
        elif kind == "label" and (_FQDN.fullmatch(word) or is_product_word(word.lower())):
            self._take_host(word if "." in word else "")
        elif kind not in _BY_FORM:
            self._add_name(kind, word)

    def _take_formed(self, word: str) -> bool:
        """Take a word that has the form of an address or an id."""
        bare = (
            re.split(r"[/%]|(?<=\d):(?=\d+$)", word)[0]
            if "." in word
            else re.split(r"[/%]", word)[0].strip("[]")
        )
        if addresses.is_ipv4(bare):
            if not addresses.kept_ipv4(bare):
                self._add_name("ipv4", bare)
            return True
        if _MAC.fullmatch(word):
            digits = addresses.digits_of(word)
            if not addresses.kept_mac(digits):
                self._add_name("mac", digits)
            return True
        if bare.count(":") > 1 and (address := _ipv6(bare)) is not None:
            if address.ipv4_mapped is not None:
                return self._take_formed(str(address.ipv4_mapped))
            if not (address.is_multicast or address.is_loopback or address.is_unspecified):
                self._add_name("ipv6", addresses.ipv6_key(bare))
            return True
        if _UUID.fullmatch(word):
            if addresses.digits_of(word).strip("0"):
                self._add_name("uuid", addresses.digits_of(word))
            return True
        forms = device_forms(word)
        for kind, form in forms:
            self._add_name(kind, form)
        return bool(forms)

    def _take_host(self, word: str) -> None:
        word = word.strip(".").partition("/")[0]
        short, _, domain = word.partition(".")
        if (
            short.isdecimal()
            or not re.fullmatch(r"[\w.-]+", word)
            or short.lower() in NO_DOMAIN
            or _is_own(word)
        ):
            return
        self._add_name("host", short)
        self._take_domain(domain)
        if ("host", short.lower()) in self.names and ("domain", domain.lower()) in self.names:
            self._add_name("fqdn", word)  # whole, as its first part may be a word

    def _take_domain(self, word: str) -> None:
        if (
            word
            and not _is_own("." + word)
            and not is_product_word(word.lower())
            and not addresses.is_ipv4(word)
        ):
            self._add_name("domain", word)
            for label in word.split(".")[:-1]:  # what the customer is called, mostly
                if (
                    len(label) >= LEAST_ANYWHERE
                    and _ORGANISATION.fullmatch(label)
                    and not is_product_word(label.lower())
                ):
                    self._add_name("domain", label)

    def _add_name(self, kind: str, name: str) -> None:
        name = show_surrogates(name)  # as documents write it
        if name and not is_kept(kind, name):
            self.names.setdefault(
                (
                    kind,
                    name.lower()
                    if kind in ("mac", "host", "domain", "ipv6", "device", "uuid")
                    else name,
                )
            )


def _is_own(word: str) -> bool:
    return word.lower().endswith(_OWN_DOMAINS)


def _ipv6(text: str) -> ipaddress.IPv6Address | None:
    """Return the IPv6 address that a text is; eight pairs of digits are a WWN."""
    try:
        return None if _PAIRS.fullmatch(text) else ipaddress.IPv6Address(text)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def labelled_kind(label: str) -> str:
    """Return what a setting of this name holds, "" for no name."""
    low = label.lower()
    return next((kind for pattern, kind in _LABELS if pattern.search(low)), "")


class NameColumns(NamedTuple):
    """Columns of a table that may hold names: (column, kind), (column, column of its label), versions."""

    named: list[tuple[str, str]]
    labelled: list[tuple[str, str]]
    versions: list[str]


def _is_numbered_word(name: str) -> bool:
    """Say whether the product itself says a name, its number included: that of a rule (`kb-417889`) or an article."""
    return has_word(name.lower()) and any(map(str.isdigit, name))


def columns_of(table: Table) -> NameColumns:
    """Return the columns of a table that may hold names, and those of versions."""
    texts = [
        (column.name, _kind_in(table.name, column.name))
        for column in table.columns
        if column.kind == "str"
    ]
    return NameColumns(
        [(name, kind) for name, kind in texts if kind not in (PLAIN, TEXT)],
        [(name, LABELLED[name]) for name, _ in texts if name in LABELLED],
        [column.name for column in table.columns if column.kind == "version"],
    )


def _kind_in(table: str, column: str) -> str:
    try:
        return kind_of(table, column)
    except KeyError:  # a column of an archive of another version
        return TEXT


def iterate_strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield (key, text) of all strings of a document; the names of its charts are texts as well."""
    found: list[tuple[str, str]] = []
    _gather_strings(value, key, found)
    return iter(found)


def _gather_strings(value: Any, key: str, found: list[tuple[str, str]]) -> None:
    """Add the strings of a value to those found; one call for each, not a generator in a generator."""
    sort = type(value)
    if sort is dict:
        own = key in NAMED_KEYS
        for name, inner in value.items():
            if own:
                found.append(("", name))
            if (kind := type(inner)) is str:
                found.append((name, inner))
            elif kind in _HOLDING and inner:
                _gather_strings(inner, name, found)
    elif sort in _HOLDING:
        for inner in value:
            if (kind := type(inner)) is str:
                found.append((key, inner))
            elif kind in _HOLDING:
                _gather_strings(inner, key, found)
    elif sort is str:
        found.append((key, value))
