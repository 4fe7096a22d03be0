"""Lines that say trouble, counted by kind while logs are searched, whether or not a rule knows them.

Two lines are of one kind when their module and their words agree, with names and numbers masked. Of each kind the count
is exact and its first and last line are kept; 400 kinds a log, further ones are counted together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from analyzer.artefacts.tables import Table
from analyzer.scan.hits import Signature, decode_line
from analyzer.secrets.values import hide_lone_line
from analyzer.signals.entries import find_entry, write_stems
from analyzer.signals.grammar import LONG_TIMES, LineReading, read_unit, weigh_text
from analyzer.signals.heads import LineHead, read_head
from analyzer.signals.stems import LEAST, STEMS
from analyzer.signals.templates import mask_text

KIND = "line"
PREFIX = "trouble/"
MOST_EXCERPT = 300  # lines of a text that somebody chose; more are no excerpt
LEAST_EXCERPT = 1.0  # weight of a line there: who chose it looked for what is wrong
_MOST_KNOWN = 8_000  # lines that are remembered, without what differs from line to line
_OPERATION = re.compile(rb"opID=[^ \n]*")
_NUMBER = re.compile(rb"opID=\S+|[0-9][0-9a-fA-Fx-]*")


def keep_number(number: bytes) -> bytes:
    """Return a code as it stands: each is a kind of its own."""
    return number


def tell_zero(number: bytes) -> bytes:
    """Return whether a count is 0: of counts nothing else decides."""
    return b"1" if number.strip(b"0xX") else b"0"


def tell_bar(time: tuple[bytes, bytes]) -> bytes:
    """Return the longest bar that a time, a number and its unit, reaches."""
    number, unit = time
    seconds = float(number) * read_unit(unit.decode().lower())
    return next((b"%d" % bar for _, bar in LONG_TIMES if seconds >= bar), b"")


class TellingNumbers(NamedTuple):
    """Numbers that may decide what their line says: how they are found, and what of them decides."""

    pattern: re.Pattern[bytes]
    simplify: Callable[[Any], bytes]


def _make_telling(simplify: Callable[[Any], bytes], *patterns: bytes) -> TellingNumbers:
    return TellingNumbers(re.compile(b"".join(patterns), re.IGNORECASE), simplify)


# Of a line without any of these the words are enough.
_TELLING = (
    _make_telling(keep_number, rb"[HDP]:0x\w+|sense data: [^.\n]{1,20}"),
    _make_telling(keep_number, rb"\b(?:0x?)?bad[0-9]\w*|\b(?-i:[A-Z]{2})[0-9]{3,6}\b"),
    _make_telling(
        keep_number,
        rb"(?:code|status|sts|errno|\brc(?![a-z])|\bret|result|reason|\bexit|http|rpc error|response|signal|\buc\b|\bsc\b)",
        rb"\w*(?:/[0-9.]+)?\s?(?:code|is|of|was|status|with|s)?[\s\"'=:(<\[>-]{0,40}([a-z]{0,3}[0-9][0-9a-fx]{0,40})\b",
    ),
    _make_telling(
        tell_zero,
        rb"(?:err|fail|fault|warn|time-?out|drop|loss|lost|problem|issue|conflict|retr|abort|reset|overrun|discard|collision",
        rb"|violation|degraded|corrupt|isolated|dirty|stale|expired|down|dead|missing|invalid|up\b)",
        rb"\w*\s?(?:count|code|packets|pkts|is|of|was)?[\s\"'=:(<\[>-]{0,40}([0-9][0-9a-fA-Fx]*)",
    ),
    _make_telling(
        tell_zero,
        rb"\b([0-9]+)[\s:]+(?:[a-z]\w*\s+){0,2}(?:err|fail|fault|warn|timeout|drop|loss|lost|problem|issue|conflict|retr",
        rb"|abort|reset|overrun|discard|collision|violation)",
    ),
    _make_telling(tell_zero, rb"\b([0-9]+) (?:out )?of [0-9]"),
    _make_telling(tell_zero, rb"[0-9] (?:out )?of ([0-9]+)"),
    _make_telling(
        tell_bar,
        rb"\b(?:took|takes|taken|stopped|held|waited|waiting|blocked|stall\w*|stun\w*|downtime|vmDowntime|latency|elapsed",
        rb"|delay\w*|rsv time|lasted|for|after|duration|slow)\b[^0-9\n]{0,24}?([0-9]+(?:\.[0-9]+)?) ?\(?",
        rb"(us|usec\w*|microsec\w*|ms|msecs?|millisec\w*|s|secs?|seconds?|minutes?|min|hours?)\b",
    ),
)


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


class ReadText(NamedTuple):
    """What stands behind the head of a line: what it says of trouble, and its words masked."""

    reading: LineReading
    template: str


def read_text(head: LineHead) -> ReadText:
    """Return what stands behind a head, read by the grammar."""
    return ReadText(weigh_text(head.text, head.level, head.form), mask_text(head.text))


def classify_line(line: str, read: Callable[[LineHead], ReadText] = read_text) -> LineKind:
    """Return what a line says; secrets are hidden before its words are masked."""
    shown = hide_lone_line(line)
    head = read_head(shown)
    text = read(head)
    reading = add_entry(text.reading, shown)
    return LineKind(head.module, text.template, round(reading.weight, 2), reading.why)


def name_line(line: str) -> tuple[str, str]:
    """Return the module and the masked words of a line, which say of what kind it is without its weight."""
    head = read_head(hide_lone_line(line))
    return head.module, mask_text(head.text)


def add_entry(reading: LineReading, line: str) -> LineReading:
    """Return what a line says with the entry of a list that it names, whose weight is the least it has."""
    entry = find_entry(line)
    if entry is None or not entry.weight:
        return reading
    return LineReading(max(reading.weight, entry.weight), (*reading.why, *entry.why))


class LineCounter:
    """Names the kinds of the lines that the search of a log proposes; each is read by the grammar once.

    is_counted_elsewhere  says whether a line is counted by itself: an event, an ALERT, a core dump
    """

    def __init__(self, is_counted_elsewhere: Callable[[str], bool]) -> None:
        self._is_counted_elsewhere = is_counted_elsewhere
        # by the line without digits: its kind where no number decides, else its words and what finds those
        self._by_shape: dict[bytes, str | tuple[bytes, list[TellingNumbers]]] = {}
        # by the words of a line, and by those behind its head: what finds their telling numbers
        self._telling: dict[bytes, list[TellingNumbers]] = {}
        self._kinds: dict[bytes, str] = {}  # by words and telling numbers
        # by level, form, words and telling numbers of what stands behind the head: many modules say the same
        self._texts: dict[tuple[int | None, str, bytes], ReadText] = {}

    def name_kinds(self, lines: Sequence[bytes]) -> list[str]:
        """Return the kind of each of some lines as a text, "" for one that says too little.

        Lines that differ in digits alone are looked up together: a sick host has millions of them.
        """
        if not lines:
            return []
        text = b"\n".join(lines)
        if b"opID=" in text:  # its letters differ from line to line, and no kind has them
            text = _OPERATION.sub(b"", text)
        shapes = text.translate(None, b"0123456789").split(b"\n")
        named: list[str] = []
        for raw, shape, known in zip(lines, shapes, map(self._by_shape.get, shapes), strict=True):
            found = self._read_shape(raw, shape) if known is None else known
            named.append(found if isinstance(found, str) else self._find_kind(*found, raw))
        return named

    def _read_shape(self, raw: bytes, shape: bytes) -> str | tuple[bytes, list[TellingNumbers]]:
        """Return the kind of all lines like this one; its words and what finds its telling numbers where it has any."""
        _make_room(self._by_shape)
        words = _NUMBER.sub(b"", raw)
        telling = self._telling.get(words)
        if telling is None:
            _make_room(self._telling)
            text = read_head(decode_line(raw)).text.encode("utf-8", "surrogateescape")
            telling = self._find_telling(_NUMBER.sub(b"", text), text)
            self._telling[words] = telling
        known = (words, telling) if telling else self._find_kind(words, telling, raw)
        self._by_shape[shape] = known
        return known

    def _find_kind(self, words: bytes, telling: Sequence[TellingNumbers], raw: bytes) -> str:
        """Return the kind of a line by its words and the numbers that decide."""
        key = _write_key(words, telling, raw)
        kind = self._kinds.get(key)
        if kind is None:
            _make_room(self._kinds)
            kind = self._kinds[key] = self._read_kind(decode_line(raw))
        return kind

    def _read_kind(self, line: str) -> str:
        """Return the kind of a line by the grammar."""
        kind = classify_line(line, self._read_once)
        if kind.weight < LEAST or self._is_counted_elsewhere(line):
            return ""
        return kind.write_key()

    def _read_once(self, head: LineHead) -> ReadText:
        """Return what stands behind a head; of other heads before the same words it is known."""
        raw = head.text.encode("utf-8", "surrogateescape")
        words = _NUMBER.sub(b"", raw)
        key = head.level, head.form, _write_key(words, self._find_telling(words, raw), raw)
        text = self._texts.get(key)
        if text is None:
            _make_room(self._texts)
            text = self._texts[key] = read_text(head)
        return text

    def _find_telling(self, words: bytes, raw: bytes) -> list[TellingNumbers]:
        """Return what finds the telling numbers of some words; `raw` is one text with these words."""
        telling = self._telling.get(words)
        if telling is None:
            _make_room(self._telling)
            telling = [one for one in _TELLING if one.pattern.search(raw)]
            self._telling[words] = telling
        return telling


def _write_key(words: bytes, telling: Sequence[TellingNumbers], raw: bytes) -> bytes:
    """Return words with the numbers that decide."""
    for one in telling:
        numbers = map(one.simplify, one.pattern.findall(raw))
        words = b"\0".join((words, *numbers))
    return words


def _make_room(memo: dict[Any, Any]) -> None:
    """Empty a memo that is full: what is met again is read again."""
    if len(memo) >= _MOST_KNOWN:
        memo.clear()


def write_line_stems() -> str:
    """Return the pattern of lines that may say trouble, those that may name an entry of a list among them."""
    return "|".join(filter(None, (STEMS, write_stems())))


def make_line_signatures(
    tables: Iterable[Table], is_counted_elsewhere: Callable[[str, str], bool]
) -> list[Signature]:
    """Return a signature for each log that has files of its own; it counts the lines that say trouble.

    is_counted_elsewhere  says of a table and a line of it whether the line is counted by itself
    """
    signatures = []
    stems = write_line_stems()
    for table in tables:
        if table.log and not table.inside:
            counter = LineCounter(partial(is_counted_elsewhere, table.name))
            name = PREFIX + table.name
            signatures.append(
                Signature(name, table.name, stems, True, name_kinds=counter.name_kinds)
            )
    return signatures


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
            shown = hide_lone_line(line)
            yield ExcerptLine(scope, address, number, shown, kind)
