"""Lines that say trouble, counted by kind while logs are searched, whether or not a rule knows them.

Two lines are of one kind when their module and their words agree, with names and numbers masked. Of each kind the count
is exact and its first and last line are kept; 400 kinds a log, further ones are counted together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from analyzer.artefacts.tables import Table
from analyzer.scan.hits import Signature
from analyzer.secrets.values import hide_around
from analyzer.signals.grammar import weigh_text
from analyzer.signals.heads import read_head
from analyzer.signals.stems import LEAST, STEMS
from analyzer.signals.templates import mask_text

KIND = "line"
PREFIX = "trouble/"
MOST_EXCERPT = 300  # lines of a text that somebody chose; more are no excerpt
LEAST_EXCERPT = 1.0  # weight of a line there: who chose it looked for what is wrong
_MOST_KNOWN = 20_000  # kinds of lines that are remembered, by their words without digits
_STAMP = 24  # characters of a line that differ on every line
_HEX_DIGITS = str.maketrans("", "", "0123456789abcdefABCDEF")


class LineKind(NamedTuple):
    """What a line says: its module, its words masked, their weight and the reasons for it."""

    module: str
    template: str
    weight: float
    why: tuple[str, ...]

    def write_key(self) -> str:
        """Return the kind as a text, by which its lines are counted."""
        return "\x1f".join((self.module, self.template, f"{self.weight:g}", *self.why))

    @classmethod
    def read_key(cls, key: str) -> LineKind:
        """Return the kind that `write_key` wrote."""
        module, template, weight, *why = key.split("\x1f")
        return cls(module, template, float(weight), tuple(why))


def classify_line(line: str) -> LineKind:
    """Return what a line says; secrets are hidden before its words are masked."""
    shown = hide_around([], line, [])[1]
    head = read_head(shown)
    reading = weigh_text(head.text, head.level, head.form)
    return LineKind(head.module, mask_text(head.text), round(reading.weight, 2), reading.why)


class LineCounter:
    """Names the kind of each line that the search of a log proposes; each kind is read by the grammar once.

    own  says whether a line is counted elsewhere: an event, an ALERT, a core dump
    """

    def __init__(self, is_counted_elsewhere: Callable[[str], bool]) -> None:
        self._is_counted_elsewhere = is_counted_elsewhere
        self._known: dict[str, str] = {}

    def name_kind(self, line: str) -> str:
        """Return the kind of a line as a text, "" for one that says too little."""
        words = line[_STAMP:].translate(_HEX_DIGITS)
        known = self._known.get(words)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            kind = classify_line(line)
            is_heavy = kind.weight >= LEAST and not self._is_counted_elsewhere(line)
            known = self._known[words] = kind.write_key() if is_heavy else ""
        return known


def make_line_signatures(
    tables: Iterable[Table], is_counted_elsewhere: Callable[[str], bool]
) -> list[Signature]:
    """Return a signature for each log that has files of its own; it counts the lines that say trouble."""
    counter = LineCounter(is_counted_elsewhere)
    return [
        Signature(PREFIX + table.name, table.name, STEMS, True, counter.name_kind, decides=True)
        for table in tables
        if table.log and not table.inside
    ]


class ExcerptLine(NamedTuple):
    """A line of a short text that says trouble: where it is, and what it says."""

    scope: str
    address: str
    line: int
    text: str
    kind: LineKind


def find_excerpt_lines(
    lines: Sequence[str], first_line: int, address: str, scope: str
) -> Iterator[ExcerptLine]:
    """Yield the lines of an excerpt that say trouble, however little; none of a text that is too long for one."""
    if len(lines) > MOST_EXCERPT:
        return
    for number, line in enumerate(lines, first_line):
        kind = classify_line(line)
        if kind.weight >= LEAST_EXCERPT:
            shown = hide_around([], line, [])[1]
            yield ExcerptLine(scope, address, number, shown, kind)
