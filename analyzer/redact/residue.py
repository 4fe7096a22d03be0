"""Looks for names that are left in what is handed out: as they are, in other case, split, and encoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analyzer.redact import addresses
from analyzer.redact.encodings import decoded
from analyzer.redact.replacing import Replacer, lowered


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
        self._kinds = {lowered(name): kind for kind, name in names}
        self._issued = {other.lower() for other in replacer.all_forms.values()}

    def survivors(self, result: str, text: str) -> Iterator[LeftName]:
        """Yield what is left in the text of a result, the first of each kind of spelling."""
        for how, read in _readings(text):
            if found := self._first(lowered(read)):
                yield self._survivor(result, read, found[0], how, found[1])
                return
        yield from self._encoded(result, text)

    def any_in(self, text: str) -> bool:
        """Tell whether words show a name as they are, or as base64 or hexadecimal."""
        return self._first(lowered(text)) is not None or next(self._encoded("", text), None) is not None

    def _first(self, low: str) -> tuple[int, str] | None:
        """Return place and kind of the first name in a text in lower case."""
        if self.replacer.pattern is not None:
            for found in self.replacer.pattern.finditer(low):
                if found[0] not in self._issued:
                    return found.start(), self._kinds.get(found[0], "another form of one")
        shapes = self.replacer.shapes
        for one in shapes.found(low):
            word = low[one.start : one.end]
            if one.other != word and word not in shapes.issued and addresses.digits_of(word) not in shapes.issued:
                return one.start, one.kind
        return None

    def _encoded(self, result: str, text: str) -> Iterator[LeftName]:
        """Look into words that may be base64 or hexadecimal."""
        told: set[str] = set()
        for how, word, name in self.replacer.encoded_in(text):
            if name not in self._issued and name not in self.replacer.shapes.issued and how not in told:
                told.add(how)
                kind = self._kinds.get(name, "another form of one")
                yield self._survivor(result, text, text.find(word), how, kind)

    @staticmethod
    def _survivor(result: str, text: str, at: int, how: str, kind: str) -> LeftName:
        return LeftName(result, text.count("\n", 0, at) + 1, how, kind)


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield (how, text): as it is, and decoded, where that differs."""
    yield "as it is", text
    if (plain := decoded(text)) != text:
        yield "encoded or split", plain
