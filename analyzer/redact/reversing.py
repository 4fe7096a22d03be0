"""Puts the names back in the place of their pseudonyms, each spelled as it stood."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cached_property

from analyzer.redact.namemap import (
    MARK,
    NETWORKS,
    PSEUDONYM,
    NameMap,
    lower_same_length,
    mix_case,
    name_forms,
    write_form,
)
from analyzer.redact.replacing import replace_shapes, trie_pattern
from analyzer.redact.shapes import KINDS, AddressShapes

_NUMBER = re.compile(rf"(\d+){MARK}(\.example)?$")
# Kinds of words that were replaced when the names in them had been.
_HOLDING = ("encoded", "address", "cut")
_MOST_NESTED = 3  # such words in one another; a map that another hand wrote may nest one in itself
_LONGER = "o"  # a letter without a form: there were more spellings than mixtures


class NameReverser:
    """Puts back the names of a map."""

    def __init__(self, known: NameMap) -> None:
        self.map = known
        self._names: dict[str, str] = {}  # pseudonym in small letters -> name
        self._earlier: dict[str, str] = {}  # the same of all forms, as maps of before had them
        self._shaped: dict[tuple[str, str], str] = {}
        for kind, names in known.names.items():
            if kind in NETWORKS:
                continue
            for name, other in names.items():
                if kind in KINDS:
                    self._shaped.setdefault((kind, other), name)
                elif _NUMBER.search(other):
                    self._names.setdefault(other, name)
                else:
                    self._take_earlier(name, other)

    def _take_earlier(self, name: str, other: str) -> None:
        """Take a pseudonym of a map that was begun before each spelling had its own."""
        for mark, form in name_forms(name):
            self._earlier.setdefault(write_form(other, mark).lower(), form)

    @cached_property
    def _shapes(self) -> AddressShapes:
        shapes = AddressShapes(lambda kind, other: self._shaped[kind, other])
        for kind, other in self._shaped:
            shapes.take_name(kind, other)
        return shapes

    def reverse_text(self, text: str) -> str:
        """Return a text with the names in the place of their pseudonyms; what is no pseudonym of this map stays."""
        write = _escape_word if _is_json(text) else str
        for _ in range(_MOST_NESTED):
            text = self._put_back(text, write, holding=True)
        text = replace_shapes(self._shapes, text)
        if self._earlier:
            pattern = re.compile(rf"(?<![^\W_]){trie_pattern(self._earlier)}(?![^\W_])")
            text = _substitute_earlier(pattern, text, self._earlier)
        return self._put_back(text, write, holding=False)

    def _put_back(self, text: str, write: Callable[[str], str], *, holding: bool) -> str:
        """Return a text without the pseudonyms of words that hold others, or without all others."""
        parts: list[str] = []
        at = 0
        for found in PSEUDONYM.finditer(text):
            if found["stem"].lower().startswith(_HOLDING) != holding:
                continue
            base = f"{found['stem']}{found['number']}{MARK}".lower()
            end = found.end()
            if base not in self._names:
                base += ".example"
                end += len(".example")
            if base not in self._names or not text[found.start() : end].lower().endswith(
                base[-len(MARK) :]
            ):
                continue
            word = self._spell_name(base, found["form"].lower(), text[found.start() : end])
            parts += [text[at : found.start()], write(word)]
            at = end
        return "".join([*parts, text[at:]])

    def _spell_name(self, base: str, mark: str, spelled: str) -> str:
        """Return the name that a pseudonym stands for, in the form and the spelling that it tells."""
        form = write_form(self._names[base], mark)
        low = lower_same_length(form)
        if spelled.islower():
            return low
        if spelled.isupper():
            return low.upper()
        plain = spelled.lower().replace(f"{mark}{MARK}", f"{mark.replace(_LONGER, '')}{MARK}")
        for number, word in enumerate(self.map.mixed.get(plain, ()), 1):
            if mix_case(plain, number) == spelled:
                form = word
                break
        return form


def _is_json(text: str) -> bool:
    """Say whether a text is a JSON document, such as a case.json: a name may hold a quote."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _escape_word(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)[1:-1]


def _substitute_earlier(pattern: re.Pattern[str], text: str, back: dict[str, str]) -> str:
    parts: list[str] = []
    at = 0
    for found in pattern.finditer(lower_same_length(text)):
        parts += [text[at : found.start()], back[found[0]]]
        at = found.end()
    return "".join([*parts, text[at:]])


def reverse_text(known: NameMap, text: str) -> str:
    """Return a text with the names in the place of their pseudonyms; what is no pseudonym of this map stays."""
    return NameReverser(known).reverse_text(text)
