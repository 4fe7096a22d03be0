"""Looks for names that are left in what is handed out: as they are, in other case, split, and encoded.

The results of one run say the same things again and again: the page holds the document, and every line of it once more
as a line of the page. A line is looked at once, and so is what stands between two quotes or brackets of a tag; only
when a name is left there is the text itself searched, for the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from analyzer.redact.encodings import LEAST_CUT, cut_words, decode_text
from analyzer.redact.namemap import PSEUDONYM, lower_same_length
from analyzer.redact.replacing import Replacer, trie_pattern
from analyzer.redact.second_look import ClearLines, SecondLook

LONGEST_PSEUDONYM = 120
MOST = 100_000  # pieces that are remembered
_OVER_LINES = re.compile(r"<[A-Za-z/][^<>\n]{0,200}\n")  # a tag that goes on in the next line
ENDS = '\n"<>'  # between pieces of a text: no address or id goes on behind one, and only odd names


class LeftName(NamedTuple):
    """A name that is left: in which result, at which line, and how it is written; never the name itself."""

    result: str
    line: int
    how: str
    kind: str

    def __str__(self) -> str:
        return f"{self.result}, line {self.line}: a name ({self.kind}) {self.how}"


class Residue:
    """Seeks the names that a replacer replaced.

    Names that are words of the product are sought where they stand for a name alone (`Replacer.placed`), in the
    document that results are made of.
    """

    def __init__(self, replacer: Replacer, names: Iterable[tuple[str, str]]) -> None:
        self.replacer = replacer
        names = list(names)
        self._kinds = {lower_same_length(name): kind for kind, name in names if kind != "given"}
        self._issued = {other.lower() for other in replacer.all_forms.values()}
        self.second_look = SecondLook(
            [one for one in names if one[0] != "given" and one[1] not in replacer.words],
            replacer.pseudonyms,
        )
        self._free: set[str] = set()  # pieces of texts in which no name is
        self._lines = ClearLines()  # as they are and decoded
        self._ends: dict[
            str, str
        ] = {}  # pieces, and words at their ends that may go on in the next

    def find_survivors(self, result: str, text: str) -> Iterator[LeftName]:
        """Yield what is left in the text of a result, the first of each kind of spelling."""
        lines = text.split("\n")
        # Lines that no result had before; all of them where a name may go on in the next
        if self._odd_pattern is None and not _OVER_LINES.search(text):
            lines = self._lines.list_fresh(lines)
        if any(self._may_be_left(read) for _, read in _text_readings("\n".join(lines))):
            yield from self._search_places(result, text)
        else:
            self._lines.remember(lines)
        # Look into words that may be base64 or hexadecimal and go on at the end of the next
        # piece.
        if len(self._ends) > MOST:
            self._ends.clear()
        both = "\n".join(one for _, _, one in cut_words(_split_pieces(text), self._ends))
        for _, word, name in self.replacer.encoded_in(both) if both else ():
            if name not in self._issued and name not in self.replacer.shapes.issued:
                kind = self._kinds.get(name, "another form of one")
                yield self._make_survivor(
                    result, text, text.find(word[:LEAST_CUT]), "encoded and cut", kind
                )
                break
        for seen in self.second_look.find_survivors(text):
            yield LeftName(result, seen.line, seen.how, seen.kind)

    def _may_be_left(self, text: str) -> bool:
        """Say whether a name may be left in what this text holds and none before it held."""
        fresh = set(_split_pieces(text)) - self._free
        if self.any_in("\n".join(fresh)) or (
            self._odd_pattern is not None
            and self._odd_pattern.search(lower_same_length(text)) is not None
        ):
            return True
        if len(self._free) > MOST:
            self._free.clear()
        self._free |= fresh
        return False

    @cached_property
    def _odd_pattern(self) -> re.Pattern[str] | None:
        """The pattern of names that go on behind the end of a piece; None without any."""
        forms = [form for form in self.replacer.all_forms if not set(ENDS).isdisjoint(form)]
        return re.compile(trie_pattern(forms)) if forms else None

    def _search_places(self, result: str, text: str) -> Iterator[LeftName]:
        for how, read in _text_readings(text):
            # Place and kind of the first name in a text in lower case, then of the first address
            low = lower_same_length(read)
            shapes = self.replacer.shapes
            given = (
                (one.start, one.kind)
                for one in shapes.find_shaped(low)
                if not shapes.is_given(one, low)
            )
            first = next(chain(self._find_named(low), given), None)
            if found := first:
                yield self._make_survivor(result, read, found[0], how, found[1])
                return
        for _, read in _text_readings(text):
            yield from self._search_encoded(result, read)

    def any_in(self, text: str) -> bool:
        """Say whether words show a name as they are, or as base64 or hexadecimal."""
        low = lower_same_length(text)
        if next(self._find_named(low), None) is not None or self.replacer.shapes.stands_in(low):
            return True
        return next(self._search_encoded("", text), None) is not None

    def _find_named(self, low: str) -> Iterator[tuple[int, str]]:
        """Yield place and kind of the names in a text in lower case."""
        for found in (
            self.replacer.name_pattern.finditer(low)
            if self.replacer.name_pattern is not None
            else ()
        ):
            if found[0] not in self._issued and not _ends_in_pseudonym(low, found):
                yield found.start(), self._kinds.get(found[0], "another form of one")

    def _search_encoded(self, result: str, text: str) -> Iterator[LeftName]:
        """Look into words that may be base64 or hexadecimal."""
        seen: set[str] = set()
        for how, word, name in self.replacer.encoded_in(text):
            if (
                name not in self._issued
                and name not in self.replacer.shapes.issued
                and how not in seen
            ):
                seen.add(how)
                kind = self._kinds.get(name, "another form of one")
                yield self._make_survivor(result, text, text.find(word), how, kind)

    @staticmethod
    def _make_survivor(result: str, text: str, at: int, how: str, kind: str) -> LeftName:
        return LeftName(result, text.count("\n", 0, at) + 1, how, kind)


def _text_readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield (how, text): as it is, and decoded, where that differs."""
    yield "as it is", text
    if (plain := decode_text(text)) != text:
        yield "encoded or split", plain


def _split_pieces(text: str) -> list[str]:
    for sign in ENDS[1:]:
        text = text.replace(sign, ENDS[0])
    return text.split(ENDS[0])


def _ends_in_pseudonym(low: str, found: re.Match[str]) -> bool:
    """Say whether a name only seems to be there: `esx-host` is in `esx-host12anon`, a bundle of a pseudonym's."""
    around = PSEUDONYM.finditer(low, found.start(), found.end() + LONGEST_PSEUDONYM)
    return any(found.start() < one.start() < found.end() < one.end() for one in around)
