"""Replaces the names of a map in texts: all of them in one pass, the longest first.

How a name is sought depends on how well it differs from other words:

anywhere  five characters or more, and no part of a word of the product: inside of other words too
alone     not next to another letter or digit
address   by its shape (`shapes`)
placed    a word of the product, a number or less than three characters: only where a name stands
"""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from analyzer.redact.encodings import (
    LEAST_ENCODED,
    PLAIN,
    Word,
    cut_words,
    decode_text,
    decode_words,
    encoded_words,
    words_in,
)
from analyzer.redact.identities import NAMED_KEYS, iterate_strings
from analyzer.redact.namemap import NETWORKS, NameMap, name_forms
from analyzer.redact.shapes import KINDS, AddressShapes
from analyzer.redact.signs import DEVICES
from analyzer.redact.words import LEAST_ANYWHERE, inside_product_word, is_product_word

ANYWHERE, ALONE, PLACED = "anywhere", "alone", "placed"
_NUMBERED = frozenset(("ticket", "serial", "input"))  # names that may be numbers, long ones
LEAST_NUMBER = 6
ENCODED_NAME = "(a name, encoded)"
MOST = 200_000  # texts that are remembered
LEAST_BEGUN = 3  # characters of a beginning of a name
CUT = 100  # characters of a text from which it may have been cut in the middle of a name
_FILES = r"(?:vmx|vmxf|vmdk|vswp|nvram|vmsd|vmsn|vmss|vmtx|log|iso|flp|ova|ovf|vmem)"
_NOUNS = {
    "vm": r"vm|virtual machine|vm ?name|display ?name|guest",
    "host": r"host|host ?name|server|node|manager|controller",
    "user": r"user|user ?name|account|login|principal",
    "datastore": r"datastore|volume|label",
    "portgroup": r"port ?group|network",
    "switch": r"v?switch|dvs",
}
_SPOT = re.compile(r"[^\W_]+")  # words of a text, for a first look
NAME_FIELDS = frozenset(
    ("vm", "name", "node", "object", "subject", "subjects", "portgroup", "switch")
)
_END = r"(?![^\W_])"
_START = r"(?<![^\W_])"
_BEGINNING = re.compile(r"(?<![^\W_])(?=...)")  # of a word, or of a sign


def lower_same_length(text: str) -> str:
    """Return a text in lower case, of the same length."""
    low = text.lower()
    return (
        low
        if len(low) == len(text)
        else "".join(sign if len(small := sign.lower()) != 1 else small for sign in text)
    )


def mode_of(kind: str, form: str) -> str:
    """Return how a form of a name, in lower case, is sought."""
    if kind in _NUMBERED and form.isdecimal() and len(form) >= LEAST_NUMBER:
        return ALONE
    if is_product_word(form) or DEVICES.fullmatch(form):
        return PLACED
    return ANYWHERE if len(form) >= LEAST_ANYWHERE and not inside_product_word(form) else ALONE


class Replacer:
    """Replaces names; made of a map and the names of one case, which are all in it."""

    def __init__(self, known: NameMap, names: Iterable[tuple[str, str]]) -> None:
        self.forms: dict[str, dict[str, str]] = {
            ANYWHERE: {},
            ALONE: {},
        }  # how -> form -> pseudonym
        self.placed: dict[tuple[str, str], str] = {}  # kind, name -> pseudonym
        self.words: dict[str, str] = {}  # name that is a word, too -> kind
        self.shapes = AddressShapes(known.give_pseudonym)
        self.encoded: set[str] = set()  # texts that held a name which was encoded
        self._made: dict[str, str] = {}  # text -> without the names, for the next document
        self._meaningless: set[Word] = set()  # words that mean no name in base64 or hexadecimal
        self._dull: set[str] = set()  # what stands between blanks, and holds such words alone
        for kind, name in names:
            if kind in KINDS:
                self.shapes.take_name(kind, name)
                continue
            placed = mode_of(kind, lower_same_length(name)) == PLACED
            if placed:
                self.words[name] = kind
            # The pseudonym of a name; that of a host with its domain is made of theirs
            if kind != "fqdn":
                pseudonym = known.give_pseudonym(kind, name)
            else:
                short, _, domain = name.partition(".")
                pseudonym = f"{known.give_pseudonym('host', short)}.{known.give_pseudonym('domain', domain)}"
            for form, other in name_forms(kind, name, pseudonym):
                mode = PLACED if placed else mode_of(kind, lower_same_length(form))
                low = lower_same_length(form)
                if mode == PLACED:
                    self.placed.setdefault((kind, low), other)
                elif low != other.lower():
                    self.forms[mode].setdefault(low, other)
            if not placed and len(name) < LEAST_ENCODED:
                self._take_encoded(name)

    def _take_encoded(self, name: str) -> None:
        """Take a name too short to be sought in all that may be encoded, for words that are it and nothing else."""
        for one in {name, name.lower(), name.upper()}:
            code = base64.b64encode(one.encode()).decode().rstrip("=")
            for form, least in ((code, 6), (one.encode().hex(), 8)):
                if (
                    len(form) >= least
                    and not form.isdecimal()
                    and not is_product_word(form.lower())
                ):
                    self.forms[ALONE].setdefault(form.lower(), ENCODED_NAME)

    @cached_property
    def name_pattern(self) -> re.Pattern[str] | None:
        """The pattern of all names but placed ones, for texts in lower case; None without any."""
        # first sign -> patterns of what follows: one of a set of signs is found fast
        begun: dict[str, list[str]] = defaultdict(list)
        for mode in (ANYWHERE, ALONE):
            by_first: dict[str, list[str]] = defaultdict(list)
            for form in self.forms[mode]:
                by_first[form[0]].append(form[1:])
            for first, rests in by_first.items():
                pattern = trie_pattern(rests)
                if mode == ALONE:
                    pattern = f"(?<![^\\W_]{re.escape(first)}){pattern}{_END}"
                begun[first].append(pattern)
        parts = [f"{re.escape(first)}(?:{'|'.join(begun[first])})" for first in sorted(begun)]
        return re.compile("|".join(parts)) if parts else None

    @cached_property
    def all_forms(self) -> dict[str, str]:
        """Every form but placed ones -> its pseudonym."""
        return {form: other for forms in self.forms.values() for form, other in forms.items()}

    def _placed_in(self, texts: Sequence[str]) -> Iterator[tuple[str, list[re.Pattern[str]], str]]:
        """Yield names that are words, longest first, with their patterns: those that stand where a name may stand."""
        if not self.placed:
            return
        spots = set(_SPOT.findall(lower_same_length("\n".join(texts))))
        for kind, name in sorted(self.placed, key=lambda one: (-len(one[1]), one)):
            if name in spots or not _SPOT.fullmatch(name):
                yield name, placed_patterns(kind, name), self.placed[kind, name]

    @cached_property
    def number_names(self) -> dict[str, str]:
        """Numbers that are names -> pseudonyms, for fields and columns that hold a name."""
        return {name: other for (_, name), other in self.placed.items() if name.isdecimal()}

    @cached_property
    def _name_beginnings(self) -> set[str]:
        return {form[:end] for form in self.all_forms for end in range(LEAST_BEGUN, len(form))}

    @cached_property
    def _beginning_tails(self) -> set[str]:
        """The last signs of all beginnings: by them most texts are passed over."""
        return {one[-LEAST_BEGUN:] for one in self._name_beginnings}

    def replace_text(self, text: str) -> str:
        """Return a text without the names."""
        return self.replace_texts([text])[text]

    def replace_texts(self, texts: Iterable[str]) -> dict[str, str]:
        """Return text -> text without the names, for many at once."""
        every = list(dict.fromkeys(texts))
        fresh = [one for one in every if one not in self._made]
        self._made |= zip(fresh, self._replace_fresh(fresh), strict=True)
        done = [self._made[one] for one in every]
        before = [*done]
        self.join_words(every, done)
        self.encoded.update(
            one for one, old, new in zip(every, before, done, strict=True) if old != new
        )
        if len(self._made) > MOST:
            self._made.clear()
        return {one: self.cut_end(new) for one, new in zip(every, done, strict=True)}

    def _replace_fresh(self, every: list[str]) -> list[str]:
        """Return texts without the names, each looked at for itself."""
        done = self.free_text("\x00".join(every)).split("\x00")
        if len(done) != len(every):  # one of them holds the sign itself
            done = [self.free_text(one) for one in every]
        low = [lower_same_length(one) for one in done] if self.placed else []
        for name, patterns, other in self._placed_in(done):
            for place in range(len(done)):
                if name not in low[place]:
                    continue
                for pattern in patterns:
                    done[place] = _substitute_pattern(pattern, done[place], {name: other})
                low[place] = lower_same_length(done[place])
        before = [*done]
        # Replace what is a name once it is decoded: such a text is shown as it reads, such a word
        # as a remark.
        for decode_place, text in enumerate(done):
            plain = decode_text(text)
            if plain != text and (
                next(self.find_held(lower_same_length(plain)), None)
                or next(self.encoded_in(plain), None)
            ):
                done[decode_place] = self.free_text(plain)
        words = {word for _, word, _ in self.encoded_in("\n".join(done))}
        for decode_place, text in enumerate(done) if words else ():
            for word in sorted(words, key=len, reverse=True):
                if word in text:
                    done[decode_place] = text = text.replace(word, ENCODED_NAME)  # noqa: PLW2901
        self.encoded.update(
            one for one, old, new in zip(every, before, done, strict=True) if old != new
        )
        return done

    def join_words(self, texts: Sequence[str], done: list[str]) -> None:
        """Replace words at the ends of texts that are a name in base64 or hexadecimal once they stand together."""
        cut = {both: (one, other) for one, other, both in cut_words(texts)}
        whole = {word for _, word, _ in self.encoded_in("\n".join(cut))} if cut else ()
        words = {part for both in whole if both in cut for part in cut[both]}
        for place, text in enumerate(done) if words else ():
            for word in sorted(words, key=len, reverse=True):
                if word in text:
                    done[place] = text = text.replace(word, ENCODED_NAME)  # noqa: PLW2901

    def find_held(self, low: str) -> Iterator[tuple[int, str]]:
        """Yield place and spelling of the names in a text in lower case, then of the addresses."""
        for found in self.name_pattern.finditer(low) if self.name_pattern is not None else ():
            yield found.start(), found[0]
        for one in self.shapes.find_shaped(low):
            if one.other != (word := low[one.start : one.end]):
                yield one.start, word

    def encoded_in(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Yield (how, word, name) of words that hold a name as base64 or hexadecimal, one too long to be chance."""
        chunks = set(text.split()) - self._dull
        if not (fresh := words_in(text, chunks) - self._meaningless):
            self._dull |= chunks
            return
        if self._is_plain:
            held = self.find_held(lower_same_length(decode_words(fresh)))
            if all(len(name) < LEAST_ENCODED for _, name in held):
                # No name is in what these words mean: they are never decoded again
                self._meaningless |= fresh
                self._dull |= chunks
                return
        words = [*encoded_words(text)]
        every = lower_same_length("\x00".join(part for _, _, part in words))
        for start, name in self.find_held(every):
            if len(name) >= LEAST_ENCODED:
                how, word, _ = words[every.count("\x00", 0, start)]
                yield how, word, name

    @cached_property
    def _is_plain(self) -> bool:
        """Say whether all names are of plain signs; others may be in what is decoded in ways that are many."""
        return all(map(PLAIN.fullmatch, self.all_forms))

    def free_text(self, text: str) -> str:
        """Return a text without names, then without addresses."""
        if self.name_pattern is not None:
            text = _substitute_pattern(self.name_pattern, text, self.all_forms)
        spans = (
            (one.start, one.end, one.other)
            for one in self.shapes.find_shaped(lower_same_length(text))
        )
        return _splice_spans(text, spans)

    def replace_document(self, value: Any, skip: frozenset[str] = frozenset()) -> Any:
        """Return a JSON value with all its texts replaced, keys of dictionaries too; what is under `skip` stays."""
        made = self.replace_texts(text for key, text in iterate_strings(value) if key not in skip)
        return _rebuild_value(value, made, skip, self.number_names)

    def cut_end(self, text: str) -> str:
        """Return a long text without the beginning of a name at its end, where it was cut."""
        return text if len(text) < CUT else self.cut_beginning(text)

    def cut_beginning(self, text: str) -> str:
        """Return a text without the beginning of a name at its end."""
        low, seen = lower_same_length(text[-64:]), self._name_beginnings
        if low[-LEAST_BEGUN:] not in self._beginning_tails:
            return text
        for found in _BEGINNING.finditer(low):
            start = found.start()
            if low[start:] in seen and not is_product_word(low[start:]):
                return text[: len(text) - len(low) + start] + "…"
        return text


_BARE = frozenset((int, float, bool, type(None)))  # of a document: no text, and none within


def _rebuild_value(
    value: Any,
    made: Mapping[str, str],
    skip: frozenset[str],
    whole: Mapping[str, str],
    key: str = "",
) -> Any:
    """Return a JSON value with its texts replaced; `whole` are numbers that are names in fields that hold one."""
    sort = type(value)
    if sort is str:
        if whole and key in NAME_FIELDS and value in whole:
            return whole[value]
        return value if key in skip else made.get(value, value)
    if sort is dict:
        own = key in NAMED_KEYS
        return {
            made.get(name, name) if own else name: inner
            if type(inner) in _BARE
            else _rebuild_value(inner, made, skip, whole, name)
            for name, inner in value.items()
        }
    if sort is list or sort is tuple:
        return [
            inner if type(inner) in _BARE else _rebuild_value(inner, made, skip, whole, key)
            for inner in value
        ]
    return value


def _substitute_pattern(pattern: re.Pattern[str], text: str, others: Mapping[str, str]) -> str:
    """Return a text with what a pattern for lower case finds replaced by what is given for it."""
    group = "x" if "x" in pattern.groupindex else 0
    spans = []
    for found in pattern.finditer(lower_same_length(text)):
        spans.append((*found.span(group), others[found[group]]))
    return _splice_spans(text, spans)


def _splice_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with some spans replaced; what was written in capitals stays in capitals."""
    parts: list[str] = []
    at = 0
    for start, end, new in spans:
        word = text[start:end]
        parts += [text[at:start], new.upper() if len(word) > 3 and word.isupper() else new]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def placed_patterns(kind: str, name: str) -> list[re.Pattern[str]]:
    """Return the patterns of a name that is a word, too: group x is where it is for the name."""
    word = f"(?P<x>{re.escape(name)})"
    places = [
        *([] if name.isdecimal() else [rf"^{word}$"]),  # of numbers `NAME_FIELDS` tell
        rf"(?<=\d\d\d\d:){word}(?=[):.]|$)",
        rf"(?<=/){word}(?=(?:-\d{{6}}|-flat|-delta|-ctk|_\d+)*\.(?!log\b){_FILES}\b)",
        rf"/vmfs/volumes/[^/]+/{word}(?=/)",
        rf"(?<=\] ){word}(?=/[^/\n]{{1,80}}\.{_FILES}\b)",  # [datastore] folder/file.vmx
    ]
    if kind == "vm":
        places += [
            rf"{_START}{word}(?=\.eth\d)",
            rf"(?:^|(?<=[;,] )){word}(?=, network adapter \d| \(port \d)",
        ]
    if kind in ("vm", "host") and not name.isdecimal():
        places += [
            rf"^(?:[a-z0-9]+-)+[a-z0-9]+/{word}$",
            rf"(?:^|(?<=[/ ])){word}(?=\.(?:tgz|txt)\b)",
            rf"(?<=\\){word}(?=\\)",
        ]
    if kind == "datastore":
        places.append(rf"/vmfs/volumes/{word}(?=[/\s]|$)")
    if not (DEVICES.fullmatch(name) or name.isdecimal()):
        nouns = _NOUNS.get(kind, kind)
        places += [
            rf"(?<=[\"'`]){word}(?=[\"'`])",
            rf"\b(?:{nouns})(?:\s?[=:]\s?[\"']?|\s){word}{_END}",
        ]
    return [re.compile(place) for place in places]


def trie_pattern(words: Iterable[str]) -> str:
    """Return a pattern that finds the longest of some words."""
    root: dict[str, Any] = {}
    for word in words:
        node = root
        for sign in word:
            node = node.setdefault(sign, {})
        node[""] = {}
    return _branch_pattern(root)


def _branch_pattern(node: dict[str, Any]) -> str:
    """Return the pattern of what goes on from a place of the tree; a run without a fork is written in one."""
    parts = []
    for sign in sorted(sign for sign in node if sign):
        run, inner = sign, node[sign]
        while len(inner) == 1 and "" not in inner:
            (step,) = inner
            run, inner = run + step, inner[step]
        parts.append(re.escape(run) + ("" if set(inner) == {""} else _branch_pattern(inner)))
    body = parts[0] if len(parts) == 1 and "" not in node else f"(?:{'|'.join(parts)})"
    return f"(?:{body})?" if "" in node else body


def reverse_text(known: NameMap, text: str) -> str:
    """Return a text with the names in the place of their pseudonyms; what is no pseudonym of this map stays."""
    back: dict[str, str] = {}
    for kind, names in known.names.items():
        for name, other in names.items() if kind not in NETWORKS else ():
            for real, made in name_forms(kind, name, other):
                back.setdefault(made.lower(), real)
    if not back:
        return text
    pattern = re.compile(rf"(?<![^\W_]){trie_pattern(back)}(?![^\W_])")
    parts: list[str] = []
    at = 0
    for found in pattern.finditer(lower_same_length(text)):
        parts += [text[at : found.start()], back[found[0]]]
        at = found.end()
    return "".join([*parts, text[at:]])
