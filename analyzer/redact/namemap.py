"""The map from names to pseudonyms: kept by the user in a file of its own, used again for the next case."""

from __future__ import annotations

import html
import json
import os
import quopri
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from analyzer.redact import addresses, learnt
from analyzer.redact.learnt import Learnt
from analyzer.redact.words import LEAST_ANYWHERE, OWN_HEADS
from analyzer.runtime.errors import BacklineError, UsageError

_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
_SLUG = re.compile(r"[^a-z0-9]+")
_RUNS = re.compile(r"\d+")
# As lines that differ in numbers alone are kept (`analyzer/ingest/chosen_lines.py`).
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{6,}\b|\d+")
MOST_PARTS = 4  # of a name that is sought with other signs between its parts, too
FORMAT = "backline-names-1"
READ = "texts that were read, by their hash"
WORDS = "a word, too: replaced where it stands for the thing, left in running text"
HEX = ("mac", "device", "uuid")  # kinds that are known by their digits alone
NETWORKS = ("ipv4 networks", "ipv6 networks")
# Kinds whose pseudonyms are called as they are; the others have a stem of their own.
NUMBERED = ("host", "vm", "user", "domain", "datastore", "portgroup", "switch", "label", "ticket")
_STEMS = {
    "input": "file",
    "path": "folder",
    "serial": "SERIAL",
    "iqn": OWN_HEADS[0].removesuffix("-"),
    "nqn": OWN_HEADS[1].removesuffix("-"),
    "t10": "t10.EXAMPLE-",
}
# What numbered pseudonyms begin with, in lower case.
_NUMBERED_STEMS = tuple(f"{_STEMS.get(kind, kind).lower()}-" for kind in (*_STEMS, *NUMBERED))
_SUFFIX = {"domain": ".example"}
_COUNT = re.compile(r"\d+(?:\.example)?$")


def _name_parts(name: str) -> set[str]:
    return set(re.split(r"[^\w-]+", name.lower()))


@dataclass(slots=True)
class NameMap:
    """Names and the pseudonyms in their place.

    path      where it is kept; None keeps it nowhere
    names     kind -> name as it was first met -> pseudonym; networks are kinds of their own
    revision  grows with every run that adds a name; reports show it
    words     names that are words of the product, numbers or very short -> kind: in running text they stay
    learnt    what long texts showed, so that they need not be read again
    """

    path: Path | None = None
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    revision: int = 0
    words: dict[str, str] = field(default_factory=dict)
    learnt: Learnt = field(default_factory=Learnt)
    _taken: set[str] = field(default_factory=set)
    _real: set[str] = field(default_factory=set)
    _alike: set[str] = field(
        default_factory=set
    )  # real names that a pseudonym could hold: a host `host-1`
    _counts: dict[str, int] = field(default_factory=dict)
    _used: dict[str, set[str]] = field(default_factory=dict)
    _index: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # kind -> name in lower case -> pseudonym
    _new: bool = False  # a name was added since it was saved
    _counted: bool = False  # by this run

    @property
    def next_revision(self) -> int:
        """The revision that is written when it is saved."""
        return self.revision + int(self._new and not self._counted)

    def names_of(self, kind: str) -> dict[str, str]:
        """Return the names of a kind."""
        return self.names.setdefault(kind, {})

    def reserve_names(self, originals: Iterable[str]) -> None:
        """Note real names, addresses among them: no pseudonym may look like one of them."""
        for name in originals:
            low = name.lower()
            self._real.add(low)
            # Some numbered pseudonyms, and not all of a kind, would hold it: `host-1` is in `host-12`
            begun = _COUNT.sub("", low)
            stems = [stem for stem in _NUMBERED_STEMS if begun in stem and low not in stem]
            if stems and begun != low and len(low) >= LEAST_ANYWHERE:
                self._alike.add(low)
            if addresses.is_ipv4(low):
                self._taken.add(low.rpartition(".")[0])

    def give_pseudonym(self, kind: str, name: str) -> str:
        """Return the pseudonym of a name, a new one when it is met for the first time."""
        low = addresses.ipv6_key(name) if kind == "ipv6" else name.lower()
        index = self._index.get(kind)
        if index is None:
            key = addresses.ipv6_key if kind == "ipv6" else str.lower
            index = self._index[kind] = {
                key(one): other for one, other in self.names_of(kind).items()
            }
        known = index.get(low)
        if known is None:
            known = index[low] = self._make_pseudonym(kind, low)
            self.names_of(kind).setdefault(low if kind in HEX else name, known)
            self._new = True
        return known

    def _make_pseudonym(self, kind: str, low: str) -> str:
        if kind == "ipv4":
            return addresses.ipv4(low, self.names_of(NETWORKS[0]), self._taken)
        if kind == "ipv6":
            taken = {addresses.digits_of(name)[:16] for name in self._real if ":" in name}
            number = len(self.names_of(kind)) + 1
            return addresses.ipv6(
                low, self.names_of(NETWORKS[1]), number, partial(self.give_pseudonym, "mac"), taken
            )
        if kind == "mac":
            return (
                low
                if addresses.kept_mac(low)
                else self._next_free(f"mac {low[:6]}", lambda number: f"{low[:6]}{number:06x}")
            )
        if kind in ("device", "uuid"):
            # As many digits as an id has, the vendor's first ones as they are
            keep = addresses.vendor_digits(low) if kind == "device" else 0
            room = max(1, len(low) - keep)
            return self._next_free(
                kind, lambda number: low[:keep] + f"{number:x}".rjust(room, "0")[-room:]
            )
        stem = _STEMS.get(kind, kind)
        dash = "" if stem.endswith("-") else "-"
        return self._next_free(
            kind, lambda number: f"{stem}{dash}{number:02d}{_SUFFIX.get(kind, '')}"
        )

    def _next_free(self, kind: str, made: Callable[[int], str]) -> str:
        """Return the next pseudonym that no real name and no other pseudonym looks like."""
        used = self._used.get(kind)
        if used is None:
            used = self._used[kind] = set(self.names_of(kind.partition(" ")[0]).values())
        fixed = _name_parts(made(1)) & _name_parts(
            made(2)
        )  # of all of them: another number would not help
        for number in range(self._counts.get(kind, len(used)) + 1, 1 << 24):
            new = made(number)
            low = new.lower()
            if new in used or low in self._real:
                continue
            is_free = self._real.isdisjoint(_name_parts(low) - fixed)
            if is_free and not any(name in low for name in self._alike):
                self._counts[kind] = number
                used.add(new)
                return new
        raise UsageError(
            "the map of names is full", where=str(self.path or ""), do="Begin a new one."
        )

    def save_map(self) -> None:
        """Write the map for its owner alone, whole or not at all; nothing is written when nothing was added."""
        if self.path is None or not (self._new or self.learnt.new or not self.path.exists()):
            return
        text = json.dumps(
            {
                "format": FORMAT,
                "revision": self.next_revision,
                WORDS: self.words,
                "names": self.names,
            },
            indent=1,
            sort_keys=True,
        )
        if self.learnt.kept:  # without indents, in the order in which they were met
            text = f'{text[:-2]},\n "{READ}": {json.dumps(self.learnt.kept, separators=(",", ":"))}\n}}'
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(
                prefix=f".{self.path.name}.", dir=self.path.parent
            )  # 0600
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as out:
                    out.write(text + "\n")
                    out.flush()
                    os.fsync(out.fileno())
                Path(temporary).replace(self.path)
            finally:
                Path(temporary).unlink(missing_ok=True)
        except OSError as error:
            raise _map_error(
                self.path, error.strerror or str(error), "Give another file with --redact-map."
            ) from error
        self.revision, self._counted = self.next_revision, self._counted or self._new
        self._new = self.learnt.new = False


def load_map(path: Path | None) -> NameMap:
    """Return the map kept in a file, an empty one when there is none; BacklineError for what is no map."""
    if path is None or not path.exists():
        return NameMap(path)
    try:
        if path.is_file():
            return _check_map(path, json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise _map_error(path, error.strerror or str(error)) from error
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        pass
    raise _map_error(path, "it is not a map of names")


def _check_map(path: Path, given: Any) -> NameMap:
    """Return the map that was read; ValueError, TypeError, KeyError or AttributeError when it is none."""
    if given["format"] != FORMAT:
        raise ValueError(given["format"])
    names: dict[str, dict[str, str]] = {}
    for kind, known in given["names"].items():
        names[str(kind)] = {str(name): str(other) for name, other in known.items()}
    words = {str(name): str(kind) for name, kind in given.get(WORDS, {}).items()}
    kept = learnt.parse_learnt(given.get(READ, {}))
    return NameMap(path, names, int(given["revision"]), words, kept)


def _map_error(
    path: Path, why: str, do: str = "Give the map that `--redact` wrote, or the name of a new file."
) -> BacklineError:
    return BacklineError("the map of names cannot be used", where=str(path), why=why, do=do)


def name_forms(kind: str, name: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield (form, pseudonym) of a name: as it is, and as it is in ids, addresses, pages and JSON."""
    yield from spelled_forms(kind, name, other)
    if kind in HEX:
        return
    for form, new in _written_forms(name, other):
        yield form, new
        for runs in (_RUNS, _NUMBERS) if len(name) >= LEAST_ANYWHERE else ():
            if (alike := runs.sub("N", form)) not in (form, "N"):
                yield alike, runs.sub("N", new)


def _written_forms(name: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield (form, pseudonym) of a name as ids, addresses, pages, shells, mails and JSON have it."""
    yield name, other
    slug = _SLUG.sub("-", name.lower()).strip("-")
    if len(slug) >= LEAST_ANYWHERE:
        for sign in ("-", "_", "") if slug.count("-") < MOST_PARTS else ("-",):
            yield slug.replace("-", sign), _SLUG.sub(sign or "-", other.lower()).strip("-")
    for form in (
        quote(name),
        quote(name, safe=""),
        html.escape(name),
        json.dumps(name)[1:-1],
        json.dumps(name, ensure_ascii=False)[1:-1],
    ):
        if form != name:
            yield form, other
    # (form, pseudonym) of a name with umlauts: with other signs between its parts, in ASCII, as
    # mails do.
    if not name.isascii():
        for plainly_sign in "_-.":
            yield re.sub(r"[\W_]+", plainly_sign, name), other
        yield re.sub(r"[\W_]+", "", name), other
        for plain in (name.translate(_UMLAUTS), name):
            bare = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
            if len(bare) >= LEAST_ANYWHERE:
                yield bare, other
                yield _SLUG.sub("-", bare.lower()).strip("-"), other
        yield quopri.encodestring(name.encode()).decode(), other
    if " " in name:  # of addresses, shells, mount tables, mails
        for blank in ("+", "%2520", "\\ ", "\\040", "=20"):
            yield name.replace(" ", blank), other


def spelled_forms(kind: str, name: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield (name, pseudonym) in every form in which hosts print it, the plain one first."""
    yield name, other
    for form in _FORMS.get((kind, len(name)), ()):
        yield addresses.replace_digits(form, name), addresses.replace_digits(form, other)


def _pseudonym_pattern(*groups: int, sign: str = "-") -> str:
    return sign.join("0" * count for count in groups)


_BIOS = f"{_pseudonym_pattern(*(2,) * 8, sign=' ')}-{_pseudonym_pattern(*(2,) * 8, sign=' ')}"
_FORMS = {
    ("mac", 12): (
        _pseudonym_pattern(*(2,) * 6, sign=":"),
        _pseudonym_pattern(*(2,) * 6),
        _pseudonym_pattern(4, 4, 4, sign="."),
    ),
    ("device", 16): (_pseudonym_pattern(*(2,) * 8, sign=":"),),
    ("uuid", 32): (
        _pseudonym_pattern(8, 4, 4, 4, 12),
        _pseudonym_pattern(8, 8, 4, 12),
        _BIOS,
        _pseudonym_pattern(*(2,) * 16, sign=" "),
    ),
    ("uuid", 16): (_pseudonym_pattern(8, 8),),
}
