"""Hides words of the material that nothing marks as names, for a report that leaves the house (`--redact=strict`).

A line may say `note from Jane Roe`: no column, no form and no word before it tells that she is a name. Here it is the
other way round: of a text of the material stays what the product itself says (the words of its rules, tables and
signatures), numbers, and pseudonyms; each other word becomes HIDDEN.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import Any

from analyzer.redact.addresses import digits_of
from analyzer.redact.provenance import CUSTOMER, PRODUCT, Each, Parts, Plan
from analyzer.redact.words import has_word

HIDDEN = "‹word›"
LEAST_PART = 3  # letters of a part of a joined word: `HostSystem`
MOST = 200_000  # words that are remembered
_MARKS = "\u00ad\u0300-\u036f\u200b-\u200f\u2060\ufeff"  # signs that are written on or between letters, or not seen
_LETTERS = rf"[^\W\d_][^\W\d_{_MARKS}]*(?:[{_MARKS}]+[^\W\d_]*)*"
_TOKEN = re.compile(
    r"(?P<shape>(?<![^\W_])(?:0x[0-9a-fA-F]{1,16}"
    r"|[0-9a-fA-F]{1,4}(?:[:.-]{1,2}[0-9a-fA-F]{1,4}){3,15}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4,12}){1,4})(?![^\W_]))"
    r"|(?P<run>(?<![^\W_])(?=[a-fA-F]*\d)(?:(?:\d|[a-fA-F](?![a-fA-F]{2}))+|[0-9a-fA-F]{12,})(?![^\W_]))"
    rf"|(?P<word>{_LETTERS})"
)
_LETTER = re.compile(r"[^\W\d_]+")
_JOINED = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORDLIKE = re.compile(r"[a-f]{3}")
_ENCODED = re.compile(r"(?:[2-7][0-9a-fA-F]){4,}")  # pairs of digits that may be letters
# What stands before ids, and in what the program itself writes in the place of a name.
_OWN = frozenset(("encoded", "naa", "eui", "vml", "iqn", "nqn", "uuid"))
# Fields that tell one thing from another: a word of them that is not known gets a pseudonym, and two things stay two.
NAMING = frozenset(
    (
        "id", "name", "node", "nodes", "object", "subject", "subjects", "chart", "explained_by", "explains", "same_as",
        "address", "last_address", "at", "sources", "label", "channel", "other", "said_by", "vm", "vnic", "port_id",
        "switch", "portgroup", "uplinks", "mac",
    )
)  # fmt: skip


class StrictWords:
    """Hides the words of texts that are neither the product's nor a part of a pseudonym.

    pseudonyms  and other texts whose words may stay
    issued      digits of ids and addresses that are pseudonyms; more may be added
    """

    def __init__(self, pseudonyms: Iterable[str], issued: Set[str] = frozenset()) -> None:
        self._issued = issued
        self._own = {*_OWN}
        self._known: dict[str, bool] = {}
        self.keep_words(pseudonyms)

    def keep_words(self, texts: Iterable[str]) -> None:
        """Let the words of texts stay."""
        for text in texts:
            self._own.update(word.lower() for word in _LETTER.findall(text))
        self._known.clear()

    def hide_words(self, text: str) -> str:
        """Return a text with HIDDEN for each word that may be the customer's."""
        return _TOKEN.sub(self._hide_token, text)

    def list_unknown(self, text: str) -> Iterator[str]:
        """Yield the words that would be hidden."""
        for found in _TOKEN.finditer(text):
            if self._hide_token(found) == HIDDEN:
                yield found[0]

    def _hide_token(self, found: re.Match[str]) -> str:
        word = found[0]
        if found.lastgroup == "word":
            return word if self._may_stay(word) else HIDDEN
        if found.lastgroup == "run":
            return word if self._is_number(word.lower()) else HIDDEN
        if any(map(str.isdecimal, word)) or digits_of(word) in self._issued:
            return word
        return HIDDEN  # groups of letters from a to f that are no pseudonym

    def _is_number(self, digits: str) -> bool:
        """Say whether digits, or letters that may be digits, are a number: as letters they say nothing."""
        if digits.isdecimal() or digits in self._issued:
            return True
        if len(digits) % 2 == 0 and _ENCODED.fullmatch(digits):
            return False
        return 2 * sum(map(str.isdecimal, digits)) >= len(digits) or not _WORDLIKE.search(digits)

    def _may_stay(self, word: str) -> bool:
        known = self._known.get(word)
        if known is None:
            if len(self._known) > MOST:
                self._known.clear()
            known = self._known[word] = self._is_own(word)
        return known

    def _is_own(self, word: str) -> bool:
        low = word.lower()
        if low in self._own or has_word(low):
            return True
        parts = _JOINED.findall(word)
        if len(parts) < 2 or "".join(parts) != word:
            return False
        return all(len(part) >= LEAST_PART and has_word(part.lower()) for part in parts)


def hide_record(value: Any, plan: Plan, words: StrictWords, key: str = "") -> Any:
    """Return a redacted document of plain values with its words hidden; those of the product and of NAMING stay."""
    if isinstance(value, str):
        is_kept = plan == PRODUCT or (plan in (CUSTOMER, None) and key in NAMING)
        return value if is_kept else words.hide_words(value)
    if isinstance(value, dict):
        if isinstance(plan, Parts):
            return {
                name: hide_record(inner, plan.get(name), words, name)
                for name, inner in value.items()
            }
        inner_plan = plan[0] if plan else None
        return {name: hide_record(inner, inner_plan, words) for name, inner in value.items()}
    if isinstance(value, list):
        inner_plan = plan[0] if isinstance(plan, Each) else plan
        return [hide_record(inner, inner_plan, words, key) for inner in value]
    return value


def list_naming(value: Any, plan: Plan, key: str = "") -> Iterator[str]:
    """Yield the texts of a document that `hide_record` leaves as they are because they tell things apart."""
    if isinstance(value, str):
        if plan == CUSTOMER and key in NAMING:
            yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from list_naming(inner, plan.get(name) if isinstance(plan, Parts) else None, name)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from list_naming(inner, plan[0] if isinstance(plan, Each) else plan, key)
