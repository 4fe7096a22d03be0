"""An explanation as lines of text, at three levels of detail.

A line is a row of (text, style) pairs; styles are those of rich and only repeat what a word
says. Everything that comes from a case or a rule file is put on one line and made harmless
here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzer.authoring.explain.explain import Explanation, SubjectExplanation, walk
from analyzer.case.verdicts import Evidence, Mark, Trace, Verdict
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

SHOWN = 20  # subjects without --all
SAYING_NO = 3  # leaves named of a subject that is no near miss
_TEXT = 200  # characters of a line of evidence
_WIDEST, _NARROWEST = 72, 24  # columns for the expressions of a tree
_NAME = 52  # columns for the names of subjects

WORDS = {
    Verdict.MATCH.value: "MATCH",
    Verdict.ERROR.value: "ERROR",
    Verdict.CANNOT_TELL.value: "CANNOT TELL",
    Verdict.NO_MATCH.value: "NO MATCH",
    Verdict.NOT_APPLICABLE.value: "NOT APPLICABLE",
}
_STYLES = {
    "match": "bold red",
    "error": "bold magenta",
    "cannot_tell": "bold yellow",
    "no_match": "bold green",
}
_VALUES = {"true": "green", "false": "red", "unknown": "yellow"}

Span = tuple[str, str]


@dataclass(slots=True)
class Line:
    """One line: its parts, how far it is indented, and whether it must stay in one piece (an address)."""

    parts: list[Span]
    indent: int = 0
    exact: bool = False

    @property
    def text(self) -> str:
        """The line without colours."""
        return (" " * self.indent + "".join(text for text, _ in self.parts)).rstrip()


def lines(
    explanation: Explanation,
    told: Sequence[SubjectExplanation] | None = None,
    *,
    depth: int = 0,
    most: int = SHOWN,
    width: int = 0,
) -> Iterator[Line]:
    """Yield an explanation as text.

    told   the subjects to show; without it all, the first `most` (0: no bound) in full
    depth  0 verdicts, 1 their lines of evidence, 2 the whole trees
    width  columns of the terminal; 0 for a pipe, where nothing is folded
    """
    yield from _head(explanation)
    chosen = explanation.subjects if told is None else told
    shown = chosen[:most] if most else chosen
    heads, names = ([len(text(one)) for one in shown] for text in (_head_of, _name))
    columns = max(heads, default=0), min(_NAME, max(names, default=0))
    for one in shown:
        if depth and one is not shown[0]:
            yield Line([])
        yield from _subject(one, columns, depth, width)
    yield from _rest(chosen[len(shown) :])
    for words in explanation.silent:
        yield Line([(one_line(words), "")])
    for words in explanation.notes:
        yield Line([("note: ", "bold"), (one_line(words), "")])


def counted(counts: dict[str, int]) -> str:
    """Return "1 match, 3 no match"."""
    words = [f"{counts[name]:,} {WORDS[name].lower()}" for name in WORDS if counts.get(name)]
    return ", ".join(words) or "nothing was judged"


def _head(explanation: Explanation) -> Iterator[Line]:
    yield Line([(explanation.rule, "bold"), (f"  {one_line(explanation.title)}", "")])
    if explanation.stored:
        kept = f"{one_line(explanation.stored)} holds what was found then; to judge the rule again, give the bundle."
        yield Line([(kept, "yellow")])
    if explanation.failed:
        yield Line([("the rule failed: ", "bold magenta"), (one_line(explanation.failed), "")])
        return
    yield Line([(counted(explanation.counts), "")])


def _head_of(one: SubjectExplanation) -> str:
    return " ".join(word for word in (WORDS[one.verdict], one.severity, one.confidence) if word)


def _name(one: SubjectExplanation) -> str:
    return one_line(one.name)


def _subject(
    one: SubjectExplanation, columns: tuple[int, int], depth: int, width: int
) -> Iterator[Line]:
    head = (_head_of(one).ljust(columns[0] + 2), _STYLES.get(one.verdict, "bold"))
    yield Line(
        [
            head,
            (_name(one).ljust(columns[1]), "bold"),
            (f"  {one_line(one.node)}" if one.node else "", ""),
        ]
    )
    yield from (Line([(words, "")], 2) for words in reasons(one))
    for words in one.also:
        yield Line([(one_line(words), "")], 2)
    if depth == 1:
        for item in one.evidence:
            yield from _evidence(item)
    if depth > 1 and one.trace is not None:
        yield from tree(one.trace, one.marks, width)


def reasons(one: SubjectExplanation) -> list[str]:
    """Return why a subject has its verdict, in a sentence or two."""
    if one.verdict == Verdict.MATCH:
        return [one_line(one.say)] if one.say else []
    if one.near is not None:
        return [one_line(one.near.text.removeprefix("not applicable: "))]
    saying = _says(one)
    words = [f"cannot tell: {one_line(one.why)}"] if one.why else []
    if saying and one.verdict != Verdict.CANNOT_TELL:
        more = f"; and {len(saying) - SAYING_NO} more" if len(saying) > SAYING_NO else ""
        words.append(f"says no: {'; '.join(saying[:SAYING_NO])}{more}")
    asks = list(dict.fromkeys(mark.ask for mark in one.marks.values() if mark.ask))
    return words + (
        [f"ask for: {one_line(asks[0])}"] if asks and one.verdict == Verdict.CANNOT_TELL else []
    )


def _says(one: SubjectExplanation) -> list[str]:
    """Return the leaves that said no, each with the values below it."""
    found = []
    for number, trace in enumerate(walk(one.trace)) if one.trace is not None else ():
        mark = one.marks.get(number)
        if mark is not None and mark.says == "no":
            values = ", ".join(child.value for child in trace.children[:2])
            found.append(one_line(f"{trace.text} ({values})" if values else trace.text))
    return found


def _evidence(item: Evidence) -> Iterator[Line]:
    at = f"{item.address}:{item.line}" if item.line else item.address
    yield Line([(one_line(at), "dim"), (f"  {bound_line(item.label, _TEXT)}", "")], 4, exact=True)
    if item.text.strip():
        yield Line([(bound_middle(item.text.strip(), _TEXT), "")], 8, exact=True)


def _rest(left: Sequence[SubjectExplanation]) -> Iterator[Line]:
    """Name the subjects that are not shown, by verdict."""
    by: dict[str, list[str]] = {}
    for one in left:
        by.setdefault(one.verdict, []).append(bound_line(one.name, 60))
    for verdict, names in by.items():
        listed = "; ".join(names[: 3 * SHOWN])
        more = f"; and {len(names) - 3 * SHOWN:,} further" if len(names) > 3 * SHOWN else ""
        yield Line(
            [(f"and {len(names):,} more {WORDS[verdict]}: ", "bold"), (f"{listed}{more}", "")]
        )


# -- the tree


@dataclass(slots=True)
class _Row:
    indent: int
    trace: Trace
    mark: Mark | None


def tree(trace: Trace, marks: dict[int, Mark], width: int = 0) -> Iterator[Line]:
    """Yield the lines of a tree: expressions on the left, their values in a column, then where they stand."""
    numbers = {id(line): number for number, line in enumerate(walk(trace))}
    rows = [
        _Row(4 + min(depth, 20) * 2, line, marks.get(numbers[id(line)]))
        for line, depth in _deep(trace)
    ]
    longest = max(row.indent + len(one_line(row.trace.text)) for row in rows)
    bound = max(_NARROWEST, min(_WIDEST, int(width * 0.55))) if width else _WIDEST
    column = min(longest, bound)
    for row in rows:
        yield from _row(row, column, width)


def _deep(trace: Trace) -> Iterator[tuple[Trace, int]]:
    below = [(trace, 0)]
    while below:
        one, depth = below.pop()
        yield one, depth
        below += [(child, depth + 1) for child in reversed(one.children)]


def _row(row: _Row, column: int, width: int) -> Iterator[Line]:
    trace = row.trace
    said = one_line(trace.text)
    room = max(12, column - row.indent)
    folded = (
        textwrap.wrap(said, room, subsequent_indent="    ")
        if width and len(said) > room
        else [said]
    )
    value = bound_line(trace.value, _TEXT)
    parts = [(folded[0].ljust(room), ""), (f" = {value}", _VALUES.get(value, "bold"))]
    if row.mark is not None:
        no = row.mark.says == "no"
        parts.append(("   <- says no", "bold red") if no else ("   <- not known", "bold yellow"))
    tail = _tail(trace, row.mark)
    used = row.indent + sum(len(text) for text, _ in parts) + sum(3 + len(text) for text, _ in tail)
    beside = not width or used <= width
    yield Line(
        [*parts, *((f"   {text}", style) for text, style in tail if beside)], row.indent, exact=True
    )
    for more in folded[1:]:
        yield Line([(more, "")], row.indent, exact=True)
    for text, style in tail if not beside else ():
        yield Line([(text, style)], row.indent + 4, exact=text == one_line(trace.at))


def _tail(trace: Trace, mark: Mark | None) -> list[Span]:
    """Return what stands behind a value: what to ask for, how it came about, where it was read."""
    found = [(f"ask for: {one_line(mark.ask)}", "yellow")] if mark is not None and mark.ask else []
    found += [(f"({one_line(trace.note)})", "")] if trace.note else []
    return found + ([(one_line(trace.at), "dim")] if trace.at else [])
