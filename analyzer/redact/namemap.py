"""The map from names to pseudonyms: kept by the user in a file of its own, used again for the next case."""

from __future__ import annotations

import html
import json
import os
import quopri
import re
import shlex
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

MARK = "anon"  # behind the number of a pseudonym: no product calls anything `host46anon`
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
MIXED = "spelled in small and capital letters, each its own mixture of those of the pseudonym"
HEX = ("mac", "device", "uuid")  # kinds that are known by their digits alone
NETWORKS = ("ipv4 networks", "ipv6 networks")
# Kinds whose pseudonyms are called as they are; the others have a stem of their own.
NUMBERED = (
    "host",
    "vm",
    "user",
    "domain",
    "datastore",
    "portgroup",
    "switch",
    "label",
    "ticket",
    "address",
    "encoded",
    "cut",
    "word",  # one that looks like a pseudonym: the last kind, of a name that is none of the others
)
_STEMS = {
    "input": "file",
    "path": "folder",
    "serial": "serial",
    "iqn": OWN_HEADS[0],
    "nqn": OWN_HEADS[1],
    "t10": "t10.example-",
}
# Numbered pseudonyms, with 0 for their number.
_NUMBERED_FORMS = tuple(f"{_STEMS.get(kind, kind)}0{MARK}" for kind in (*_STEMS, *NUMBERED))
# The same as lines are known by that differ in numbers alone: no trace of a name, not even of one that looks like them.
_MASKED_FORMS = {form.replace("0", sign) for form in _NUMBERED_FORMS for sign in ("n", "#")}
_SUFFIX = {"domain": ".example"}
# A numbered pseudonym; `form` are letters that tell the form of its name.
_STEMS_OF_ALL = "|".join(re.escape(form.removesuffix(f"0{MARK}")) for form in _NUMBERED_FORMS)
PSEUDONYM = re.compile(
    rf"(?i)(?P<stem>{_STEMS_OF_ALL})(?P<number>\d+)(?P<form>[a-z]{{0,80}}?){MARK}"
)
_BEFORE_END = re.compile(r"(?<=\d)(?=\D*$)")  # where the mark of a form stands in a pseudonym
_LETTERS = "abcdef"  # of ids: a pseudonym of letters alone carries the case of each digit, and is none of a product


def _name_parts(name: str) -> set[str]:
    return set(re.split(r"[^\w-]+", name.lower()))


@dataclass(slots=True)
class NameMap:
    """Names and the pseudonyms in their place.

    path      where it is kept; None keeps it nowhere
    names     kind -> name as it was first met -> pseudonym; networks are kinds of their own
    revision  grows with every run that adds a name; reports show it
    mixed     pseudonym -> words in small and capital letters that it stands for, each in a mixture of its own
    words     names that are words of the product, numbers or very short -> kind: in running text they stay
    learnt    what long texts showed, so that they need not be read again
    """

    path: Path | None = None
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    revision: int = 0
    words: dict[str, str] = field(default_factory=dict)
    learnt: Learnt = field(default_factory=Learnt)
    mixed: dict[str, list[str]] = field(default_factory=dict)
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
            for _, form in name_forms(low):
                self._reserve_alike(form.lower())
            if addresses.is_ipv4(low):
                self._taken.add(low.rpartition(".")[0])

    def _reserve_alike(self, form: str) -> None:
        """Note a form of a name that some numbered pseudonyms would hold: `host1` is in `host12anon`."""
        alike = _RUNS.sub("0", form)
        is_part = alike not in ("0", form) and any(alike in one for one in _NUMBERED_FORMS)
        if is_part and len(form) >= LEAST_ANYWHERE:
            self._alike.add(form)

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
                else self._next_free(
                    f"mac {low[:6]}", lambda number: low[:6] + write_letters(number, 6)
                )
            )
        if kind in ("device", "uuid"):
            # As many digits as an id has, the vendor's first ones as they are
            keep = addresses.vendor_digits(low) if kind == "device" else 0
            room = max(1, len(low) - keep)
            return self._next_free(kind, lambda number: low[:keep] + write_letters(number, room))
        stem, end = _STEMS.get(kind, kind), _SUFFIX.get(kind, "")
        return self._next_free(kind, lambda number: f"{stem}{number:02d}{MARK}{end}")

    def spell_pseudonym(self, other: str, word: str) -> str:
        """Return a pseudonym spelled as a word is: in small letters, in capitals, or in a mixture of its own.

        What a pseudonym means differs in nothing but its letters, and so does the pseudonym.
        """
        low = lower_same_length(word)
        if word == low:
            return other
        if word == low.upper():
            return other.upper()
        known = self.mixed.setdefault(other, [])
        if word not in known:
            known.append(word)
            self._new = True
        return mix_case(other, known.index(word) + 1)

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
                MIXED: self.mixed,
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
            _refuse_open_map(path)
            return _check_map(path, json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise _map_error(path, error.strerror or str(error)) from error
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        pass
    raise _map_error(path, "it is not a map of names")


def _refuse_open_map(path: Path) -> None:
    """Refuse a map that others can read: it tells all names that a report hides."""
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise BacklineError(
            "the map of names cannot be used",
            where=str(path),
            why="other users of this machine can read or change it",
            do=f"Take it from them: chmod 600 {shlex.quote(str(path))}",
        )


def _check_map(path: Path, given: Any) -> NameMap:
    """Return the map that was read; ValueError, TypeError, KeyError or AttributeError when it is none."""
    if given["format"] != FORMAT:
        raise ValueError(given["format"])
    names: dict[str, dict[str, str]] = {}
    for kind, known in given["names"].items():
        names[str(kind)] = {str(name): str(other) for name, other in known.items()}
    words = {str(name): str(kind) for name, kind in given.get(WORDS, {}).items()}
    kept = learnt.parse_learnt(given.get(READ, {}))
    mixed = {
        str(other): [str(word) for word in known] for other, known in given.get(MIXED, {}).items()
    }
    return NameMap(path, names, int(given["revision"]), words, kept, mixed)


def _map_error(
    path: Path, why: str, do: str = "Give the map that `--redact` wrote, or the name of a new file."
) -> BacklineError:
    return BacklineError("the map of names cannot be used", where=str(path), why=why, do=do)


def lower_same_length(text: str) -> str:
    """Return a text in lower case, of the same length."""
    low = text.lower()
    return (
        low
        if len(low) == len(text)
        else "".join(sign if len(small := sign.lower()) != 1 else small for sign in text)
    )


def write_letters(number: int, room: int) -> str:
    """Return a number in some letters, as ids have them; in digits where the letters do not suffice."""
    if number >= len(_LETTERS) ** room:
        return f"{number:x}".rjust(room, "0")[-room:]
    made = ""
    for _ in range(room):
        number, letter = divmod(number, len(_LETTERS))
        made = _LETTERS[letter] + made
    return made


def mix_case(other: str, number: int) -> str:
    """Return the pseudonym with some of its letters as capitals; more mixtures than it has make it longer."""
    places = [at for at, sign in enumerate(other) if sign.isalpha()]
    most = (1 << len(places)) - 2  # without all small and all capital
    if number > most:
        return mix_case(mark_form(other, "o"), number - most)
    signs = [*other]
    for nth, place in enumerate(places):
        if number >> nth & 1:
            signs[place] = signs[place].upper()
    return "".join(signs)


def mark_form(other: str, mark: str) -> str:
    """Return the pseudonym of another form of a name: with the letters of the form behind its number."""
    return _BEFORE_END.sub(mark, other, count=1)


def _write_bare(name: str) -> str:
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()


# Letters of a form -> how it is written; "" where a name has no such form.
_WAYS: dict[str, Callable[[str], str]] = {
    "s": lambda name: _SLUG.sub("-", name.lower()).strip("-"),
    "t": lambda name: _SLUG.sub("_", name.lower()).strip("_"),
    "r": lambda name: _SLUG.sub("", name.lower()),
    "u": quote,
    "v": partial(quote, safe=""),
    "h": html.escape,
    "j": lambda name: json.dumps(name)[1:-1],
    "k": lambda name: json.dumps(name, ensure_ascii=False)[1:-1],
}
# Of a name with umlauts: with other signs between its parts, in ASCII, as mails do.
_WAYS_OF_UMLAUTS: dict[str, Callable[[str], str]] = {
    "b": lambda name: re.sub(r"[\W_]+", "_", name),
    "c": lambda name: re.sub(r"[\W_]+", "-", name),
    "d": lambda name: re.sub(r"[\W_]+", ".", name),
    "e": lambda name: re.sub(r"[\W_]+", "", name),
    "f": lambda name: _write_bare(name.translate(_UMLAUTS)),
    "g": lambda name: _WAYS["s"](_write_bare(name.translate(_UMLAUTS))),
    "i": _write_bare,
    "l": lambda name: _WAYS["s"](_write_bare(name)),
    "q": lambda name: quopri.encodestring(name.encode()).decode(),
}
# Of a name with a blank: as in addresses, shells, mount tables, mails.
_WAYS_OF_BLANKS: dict[str, Callable[[str], str]] = {
    "w": lambda name: name.replace(" ", "+"),
    "x": lambda name: name.replace(" ", "%2520"),
    "y": lambda name: name.replace(" ", "\\ "),
    "z": lambda name: name.replace(" ", "\\040"),
    "p": lambda name: name.replace(" ", "=20"),
}
_ALL_WAYS = {**_WAYS, **_WAYS_OF_UMLAUTS, **_WAYS_OF_BLANKS}
# What stands for numbers where lines are known by the rest, and in the templates of signals (`analyzer/signals/templates.py`).
_MASKS = {"n": (_RUNS, "N"), "m": (_NUMBERS, "N"), "a": (_RUNS, "#")}
_SHORT = frozenset("strfgil")  # ways that may leave little of a name


def write_form(name: str, mark: str) -> str:
    """Return a name in the form that some letters tell; mark_form writes them into its pseudonym."""
    for letter in mark:
        if letter in _ALL_WAYS:
            name = _ALL_WAYS[letter](name)
        elif letter in _MASKS:
            runs, sign = _MASKS[letter]
            name = runs.sub(sign, name)
    return name


def name_forms(name: str) -> Iterator[tuple[str, str]]:
    """Yield (letters of the form, form) of a name: as it is, and as ids, addresses, pages, shells, mails and JSON have it."""
    ways = [""]
    ways += _WAYS
    if not name.isascii():
        ways += _WAYS_OF_UMLAUTS
    if " " in name:
        ways += _WAYS_OF_BLANKS
    if _WAYS["s"](name).count("-") >= MOST_PARTS:
        ways = [way for way in ways if way not in ("t", "r")]
    seen = {"", "N", "#"}
    for way in ways:
        form = write_form(name, way)
        if form in seen or (way in _SHORT and len(form) < LEAST_ANYWHERE):
            continue
        seen.add(form)
        yield way, form
        for mask in _MASKS if len(name) >= LEAST_ANYWHERE else ():
            alike = write_form(form, mask)
            if "\\N" in alike:
                continue  # of `VM\04001`; a page writes the end of a line behind `VM` so
            if alike not in seen and not any(alike.lower() in one for one in _MASKED_FORMS):
                seen.add(alike)
                yield way + mask, alike
