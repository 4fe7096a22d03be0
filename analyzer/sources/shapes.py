"""Where a command's output starts and ends, judged by its shape alone.

A `Recogniser` says what the first line of its output looks like and whether a line may follow. Which
recogniser starts at a line is asked of one joined pattern first, so that prose costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from analyzer.artefacts.first_chars import ANY, find_beginning, find_first_signs, find_literals
from analyzer.runtime.snapshot import keep_answers

_NAMED = re.compile(r"\(\?P<\w+>")
_ALONE = re.compile(
    r"\(\?P=|\\[1-9]|\(\?[aiLmsux]+[):]|\(\?\("
)  # cannot be joined with other patterns
_BLANKS = frozenset(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f")
_FAR = re.compile(r"^\.(?:\*|\{0,\d+\})\??")
_PLAIN_WORD = re.compile(r"[(“\"‘']?[a-z]+(?:[-’'][a-z]+)*[,.;:!?…)”’\"']*$|I$|A$")
_HEADING = re.compile(r"[A-Z][\w’'“”(),/&–-]*(?: [\w’'“”(),/&–-]+){0,11}[?!:]?$")
_SNIP = re.compile(
    r"\s*(?:[<\[(]\s*(?:snip|cut|output omitted|truncated|\.\.\.|…)[^>\])]{0,30}[>\])]"
    r"|\.{2,}|…|-+\s*(?:8<|(?:snip|cut|omitted|truncated)\b[a-z ]{0,30})\s*-+)\s*$",
    re.IGNORECASE,
)
_FENCE = re.compile(
    r"\s*(?:```|~~~|</?(?:pre|code)\b[^>]*>|\[/?code\]|\{(?:code|noformat)|\{%-? *(?:end)?highlight\b[^%]*%\})"
)
# where the first line is asked for a pattern: without its indent (it begins with \s*), as it is, and anywhere in it
# (it begins with .*), which is more than it says, and cheaper
_FLUSH, _WHOLE, _ANYWHERE = "flush", "whole", "anywhere"
SEPARATE = 100  # lines of one first character: a small case has no more, and compiling a joined pattern takes 2 ms
EDGE_SIGNS = "<[(.…-`~{"  # what a snip or a fence begins with, behind blanks


class Recogniser(Protocol):
    """What is asked of a parser: its name, and how its output is recognised."""

    @property
    def name(self) -> str:
        """Its name, unique among the recognisers."""

    @property
    def node(self) -> str:
        """Kind of node the output comes from, "" when only the prompt shows it."""

    @property
    def log(self) -> bool:
        """Every line is one of its own; consecutive lines make one piece."""

    @property
    def rest(self) -> bool:
        """Its commands and lines may be those of another recogniser, which goes first."""

    @property
    def common(self) -> bool:
        """Other machines have its commands too: only a sure prompt of its kind of node counts."""

    @property
    def commands(self) -> Sequence[str]:
        """Patterns of the commands that print this output, what `match_command` searches for."""

    @property
    def shape(self) -> str:
        """Pattern of the first line, "" when only the command is known."""

    @property
    def body(self) -> str:
        """Pattern of the lines that follow, "" when any line may."""

    def match_command(self, command: str) -> re.Match[str] | None:
        """Return the match of a command that prints this output."""

    def starts_at(self, line: str) -> re.Match[str] | None:
        """Return the match of a line that opens this output."""

    def leads(self, line: str) -> bool:
        """Say whether a line right above the start of this output belongs to it."""

    def is_proved(self, lines: Sequence[str]) -> bool:
        """Say whether lines that start as this output does, below no command of its own, are this output."""

    def goes_on(self, line: str) -> bool:
        """Say whether a line may belong to an output that has begun."""


class LineForm(NamedTuple):
    """One form of a shape: what its first line begins with (blanks left out), what it holds, what to ask where."""

    start: str
    word: str
    place: str
    patterns: list[str]


class LineNeeds(NamedTuple):
    """What every match of a pattern begins with, the longest text it holds, and its possible first characters.

    Each is "" where that is not easily found out.
    """

    start: str
    word: str
    find_first_signs: str


class Shapes:
    """All recognisers that have a shape, and the joined patterns in front of them.

    The joined patterns may say yes too often, never no too often; they are kept by the first character
    of a line, so that a line of prose meets few of them.
    """

    def __init__(self, recognisers: Iterable[Recogniser]) -> None:
        self.given = list(recognisers)
        self.all = [recogniser for recogniser in self.given if recogniser.shape]
        # of each, for each of its forms: what its first line begins with, blanks left out, and what it holds
        self._signs: list[list[tuple[str, str]]] = []
        self._alone: list[Recogniser] = []
        self._by_first: dict[str, list[int]] = {}
        asked: dict[str, list[str]] = {_FLUSH: [], _WHOLE: [], _ANYWHERE: []}
        for number, recogniser in enumerate(self.all):
            forms = find_forms(recogniser.shape)
            signs = [(form.start, form.word) for form in forms]
            if not forms:
                self._alone.append(recogniser)
                signs = [("", "")]
            self._signs.append(signs)
            for form in forms:
                asked[form.place] += form.patterns
            for first in {start[:1] for start, _ in signs}:
                self._by_first.setdefault(first, []).append(number)
        self._far = [(find_needs(pattern).word, pattern) for pattern in asked[_ANYWHERE]]
        self._flush_by, self._whole_by = _BySign(asked[_FLUSH]), _BySign(asked[_WHOLE])

    def find_starting(self, line: str) -> list[Recogniser]:
        """Return the recognisers whose output may start at this line."""
        if not self._may_start(line):
            return [recogniser for recogniser in self._alone if recogniser.starts_at(line)]
        text = line.lstrip()
        near = {*self._by_first.get(text[:1], ()), *self._by_first.get("", ())}
        found = []
        for number in sorted(near):
            for start, word in self._signs[number]:
                if word in line and text.startswith(start):
                    if self.all[number].starts_at(line) is not None:
                        found.append(self.all[number])
                    break
        return found

    def find_possible_starts(self, lines: Sequence[str]) -> set[str]:
        """Return those of some lines without indent at which an output may start, asked together."""
        found = {line for one in self._alone for line in filter(one.starts_at, lines)}
        by_sign: dict[str, list[str]] = {}
        for line in lines:
            by_sign.setdefault(line[:1], []).append(line)
        for sign, some in by_sign.items():
            for several in (self._flush_by[sign], self._whole_by[sign]):
                if several is not None:
                    found |= several.find_matching(some)
        whole = "\n".join(lines)
        for word, pattern in self._far:
            if word in whole:
                holders = [line for line in lines if word in line]
                found.update(filter(_compile_pattern(pattern).search, holders))
        return found

    def _may_start(self, line: str) -> bool:
        text = line.lstrip()
        flush = self._flush_by[text[:1]]
        if flush is not None and flush.match(text):
            return True
        whole = self._whole_by[line[:1]]
        if whole is not None and whole.match(line):
            return True
        for word, pattern in self._far:
            if word in line and _compile_pattern(pattern).search(line):
                return True
        return False


class _SeveralPatterns:
    """Several patterns asked together: at first what each begins with and holds, joined once lines are many."""

    def __init__(self, patterns: list[str]) -> None:
        self._patterns = patterns
        self._needs = [find_needs(pattern) for pattern in patterns]
        self._asked = 0
        self._joined: re.Pattern[str] | None = None

    def match(self, text: str) -> bool:
        """Say whether one of them matches at the start of a text."""
        if self._joined is None:
            self._asked += 1
            if self._asked <= SEPARATE:
                return any(
                    text.startswith(need.start) and need.word in text for need in self._needs
                )
            self._joined = re.compile("|".join(f"(?:{pattern})" for pattern in self._patterns))
        return self._joined.match(text) is not None

    def find_matching(self, texts: Sequence[str]) -> set[str]:
        """Return the texts at whose start one of them may match.

        Of many texts only those are asked that hold the longest word of a pattern: of most patterns none does.
        """
        if self._asked + len(texts) <= SEPARATE:
            return set(filter(self.match, texts))
        self._asked += len(texts)
        found: set[str] = set()
        whole = "\n".join(texts)
        for pattern, need in zip(self._patterns, self._needs, strict=True):
            if need.word in whole:
                holders = [text for text in texts if need.word in text]
                found.update(filter(_compile_pattern(pattern).match, holders))
        return found


class _BySign(dict[str, "_SeveralPatterns | None"]):
    """First character of a line -> the patterns that such a line can match; found when asked for."""

    def __init__(self, patterns: list[str]) -> None:
        super().__init__()
        self._patterns = patterns

    def __missing__(self, sign: str) -> _SeveralPatterns | None:
        if not sign.isascii():
            return self[""]
        patterns = self._patterns
        if sign:
            patterns = [
                pattern
                for pattern in patterns
                if sign in (find_needs(pattern).find_first_signs or sign)
            ]
        self[sign] = _SeveralPatterns(patterns) if patterns else None
        return self[sign]


def find_needs(pattern: str) -> LineNeeds:
    """Return what a match of a pattern needs."""
    return LineNeeds(*_note_needs(pattern))


@keep_answers
def _note_needs(pattern: str) -> list[str]:
    signs = find_first_signs(pattern)
    first = "" if signs >= ANY else "".join(sorted(signs))
    return [find_beginning(pattern), next(iter(find_literals(pattern)), ""), first]


def find_forms(shape: str) -> list[LineForm]:
    """Return the forms of a shape, none for one that cannot be joined with others.

    What their patterns ask may say yes too often, never no too often.
    """
    return [LineForm(*form) for form in _note_forms(shape)]


@keep_answers
def _note_forms(shape: str) -> list[tuple[str, str, str, list[str]]]:
    found: list[tuple[str, str, str, list[str]]] = []
    if _ALONE.search(shape):
        return found
    for pattern in split_alternatives(_NAMED.sub("(?:", shape)):
        rest, inside = pattern.removeprefix(r"\s*"), _FAR.sub("", pattern, count=1)
        if inside != pattern:
            place, patterns = (
                _ANYWHERE,
                [part.removeprefix(r"\b") for part in split_alternatives(inside)],
            )
        elif rest != pattern and not find_first_signs(rest) & _BLANKS:
            place, patterns = _FLUSH, [rest]
        else:
            place, patterns = _WHOLE, [pattern]
        found.append((find_beginning(rest).lstrip(), find_needs(pattern).word, place, patterns))
    return found


@keep_answers
def _find_held(command: str) -> list[str]:
    """Return texts that every match of the pattern of a command holds, the longest first; none when unsure."""
    return list(find_literals(command))


@lru_cache(1000)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class Commands:
    """All recognisers that know a command, kept by the words their patterns cannot do without."""

    def __init__(self, recognisers: Iterable[Recogniser]) -> None:
        self._by_word: dict[str, list[tuple[tuple[str, ...], Recogniser]]] = {}
        for recogniser in recognisers:
            for pattern in recogniser.commands:
                word, *others = _find_held(pattern) or ("",)
                self._by_word.setdefault(word, []).append((tuple(others), recogniser))

    def find_candidates(self, command: str) -> list[Recogniser]:
        """Return the recognisers that may know a command: too many sometimes, never too few."""
        found: dict[str, Recogniser] = {}
        for word, patterns in self._by_word.items():
            if word not in command:
                continue
            for others, recogniser in patterns:
                if all(text in command for text in others):
                    found[recogniser.name] = recogniser
        return list(found.values())


def note_patterns(recognisers: Iterable[Recogniser]) -> None:
    """Work out what `find_joined` will ask of their patterns."""
    for recogniser in recognisers:
        for form in find_forms(recogniser.shape) if recogniser.shape else ():
            for pattern in form.patterns:
                find_needs(pattern)
        for pattern in recogniser.commands:
            _find_held(pattern)


_joined: dict[tuple[int, ...], tuple[Shapes, Commands]] = {}


def find_joined(recognisers: Sequence[Recogniser]) -> tuple[Shapes, Commands]:
    """Return what is asked before these recognisers are, made once: a case has many texts."""
    key = tuple(
        map(id, recognisers)
    )  # a Shapes holds its recognisers, so that their ids stay theirs
    if key not in _joined:
        if len(_joined) >= 8:
            _joined.clear()
        _joined[key] = Shapes(recognisers), Commands(recognisers)
    return _joined[key]


def split_alternatives(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, without the `^` that a match at the start does not need."""
    pattern = pattern.removeprefix("^")
    parts: list[str] = []
    group_ends = []  # of the outermost groups
    depth, start, at, in_class = 0, 0, 0, False
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            at += pattern.startswith("[^", at)
            at += pattern.startswith("]", at + 1)  # a bracket that comes first is a plain sign
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                group_ends.append(at)
        elif sign == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    if not parts and pattern.startswith("(?:") and group_ends == [len(pattern) - 1]:
        return split_alternatives(pattern[3:-1])
    parts.append(pattern[start:])
    if len(parts) == 1:
        return parts
    return [alternative for part in parts for alternative in split_alternatives(part)]


def is_snip(line: str) -> bool:
    """Say whether a line only says that lines were left out (`<snip>`, `[...]`)."""
    return len(line) < 60 and _SNIP.match(line) is not None


def is_fence(line: str) -> bool:
    """Say whether a line opens or closes a code block of a blog or a ticket."""
    return _FENCE.match(line) is not None


def is_prose(line: str) -> bool:
    """Say whether a line is a sentence: long, begun as one, most of its words plain."""
    if len(line) < 40 or "   " in line.strip():
        return False
    words = line[:400].split()[:40]
    first = words[0][0] if words else " "
    begun = first.isupper() or first in "“\"'‘(" or (first.isalpha() and not first.isascii())
    if len(words) < 6 or not begun:
        return False
    plain = sum(1 for word in words if _PLAIN_WORD.match(word) or not word.isascii())
    return plain * 10 >= len(words) * 6


def is_heading(line: str) -> bool:
    """Say whether a line could be the heading of a paragraph (it is then between blank lines)."""
    return len(line) <= 80 and _HEADING.match(line) is not None
