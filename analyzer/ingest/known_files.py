"""Which parsers take a member by its place: one search for all of them, as most members are no parser's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from analyzer.parsing import Parser

_AT_A_NAME = "(?:^|/)"  # how nearly all patterns of places begin: their rest is tried at the start of a name only
# What keeps a pattern from being one branch of many: flags, names of groups, and what speaks of a group.
_ALONE = re.compile(r"\(\?[aiLmsuxP(-]|\\[1-9]")
_CLASS_OR_SIGN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_INNERMOST = re.compile(r"\([^()]*\)")


class KnownFiles:
    """The parsers whose `files` are searched in the path of a member, in the order in which they are given."""

    def __init__(self, parsers: Iterable[Parser]) -> None:
        self._parsers = [parser for parser in parsers if parser.files]
        patterns = [pattern for parser in self._parsers for pattern in parser.files]
        self._any = re.compile(_one_of([one for one in patterns if not _ALONE.search(one)]))
        self._alone = [re.compile(one) for one in patterns if _ALONE.search(one)]

    def takes(self, path: str) -> list[Parser]:
        """Return the parsers of a member, given by its path inside its bundle."""
        if self._any.search(path) is None and not any(one.search(path) for one in self._alone):
            return []
        return [parser for parser in self._parsers if parser.matches_file(path)]


def _one_of(patterns: Sequence[str]) -> str:
    """Return one pattern that is found where any of some patterns is."""
    named = [one.removeprefix(_AT_A_NAME) for one in patterns if one.startswith(_AT_A_NAME) and not _has_branches(one)]
    others = [one for one in patterns if not one.startswith(_AT_A_NAME) or _has_branches(one)]
    return "|".join([f"{_AT_A_NAME}(?:{'|'.join(named)})"] * bool(named) + others) or "(?!)"


def _has_branches(pattern: str) -> bool:
    """Tell whether a pattern has branches outside its groups."""
    rest = _CLASS_OR_SIGN.sub("", pattern)
    while (less := _INNERMOST.sub("", rest)) != rest:
        rest = less
    return "|" in rest
