"""An explanation as lines of text, at three levels of detail.

A line is a row of (text, style) pairs; styles are those of rich and only repeat what a word
says. Everything that comes from a case or a rule file is put on one line and made harmless
here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzer.authoring.explain.explain import Explanation, SubjectExplanation, walk_tree
from analyzer.case.verdicts import Mark, Trace, Verdict
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
        words = "".join(text for text, _ in self.parts)
        return (" " * self.indent + words).rstrip()


def text_line(text: str, style: str = "", *, indent: int = 0, exact: bool = False) -> Line:
    """Return a line of one part."""
    return Line([(text, style)], indent, exact)


def write_lines(
    explanation: Explanation,
    subjects: Sequence[SubjectExplanation] | None = None,
    *,
    depth: int = 0,
    most: int = SHOWN,
    width: int = 0,
) -> Iterator[Line]:
    """Yield an explanation as text.

    subjects   the subjects to show; without it all, the first `most` (0: no bound) in full
    depth  0 verdicts, 1 their lines of evidence, 2 the whole trees
    width  columns of the terminal; 0 for a pipe, where nothing is folded
    """
    title = one_line(explanation.title)
    yield Line([(explanation.rule, "bold"), (f"  {title}", "")])
    if explanation.stored:
        kept = f"{one_line(explanation.stored)} holds what was found then; to judge the rule again, give the bundle."
        yield text_line(kept, "yellow")
    if explanation.failed:
        yield Line([("the rule failed: ", "bold magenta"), (one_line(explanation.failed), "")])
    else:
        yield text_line(count_verdicts(explanation.counts))
    if subjects is None:
        subjects = explanation.subjects
    shown = subjects[: most or None]
    head_width = max((len(_write_verdict(one)) for one in shown), default=0)
    name_width = max((len(one_line(one.name)) for one in shown), default=0)
    columns = head_width, min(_NAME, name_width)
    for one in shown:
        if depth and one is not shown[0]:
            yield Line([])
        yield from _write_subject(one, columns, depth, width)
    # The subjects that are not shown, by verdict.
    by: dict[str, list[str]] = {}
    for one in subjects[len(shown) :]:
        by.setdefault(one.verdict, []).append(bound_line(one.name, 60))
    for verdict, hidden in by.items():
        head = f"and {len(hidden):,} more {WORDS[verdict]}: "
        listed = "; ".join(hidden[: 3 * SHOWN])
        if len(hidden) > 3 * SHOWN:
            listed += f"; and {len(hidden) - 3 * SHOWN:,} further"
        yield Line([(head, "bold"), (listed, "")])
    for words in explanation.silent:
        yield text_line(one_line(words))
    for words in explanation.notes:
        yield Line([("note: ", "bold"), (one_line(words), "")])


def count_verdicts(counts: dict[str, int]) -> str:
    """Return "1 match, 3 no match"."""
    words = []
    for name, word in WORDS.items():
        if counts.get(name):
            words.append(f"{counts[name]:,} {word.lower()}")
    return ", ".join(words) or "nothing was judged"


def _write_verdict(one: SubjectExplanation) -> str:
    """Return the verdict of a subject and its grade in one line."""
    return " ".join(filter(None, (WORDS[one.verdict], one.severity, one.confidence)))


def _write_subject(
    one: SubjectExplanation, columns: tuple[int, int], depth: int, width: int
) -> Iterator[Line]:
    """Yield a subject with its reasons, its evidence or its tree, as `depth` asks."""
    style = _STYLES.get(one.verdict, "bold")
    head = (_write_verdict(one).ljust(columns[0] + 2), style)
    yield Line(
        [
            head,
            (one_line(one.name).ljust(columns[1]), "bold"),
            (f"  {one_line(one.node)}" if one.node else "", ""),
        ]
    )
    yield from (text_line(words, indent=2) for words in give_reasons(one))
    for words in one.also:
        yield text_line(one_line(words), indent=2)
    if depth == 1:
        for item in one.evidence:
            if item.line:
                at = f"{item.address}:{item.line}"
            else:
                at = item.address
            yield Line(
                [(one_line(at), "dim"), (f"  {bound_line(item.label, _TEXT)}", "")], 4, exact=True
            )
            if item.text.strip():
                yield text_line(bound_middle(item.text.strip(), _TEXT), indent=8, exact=True)
    if depth > 1 and one.trace is not None:
        yield from write_tree(one.trace, one.marks, width)


def give_reasons(one: SubjectExplanation) -> list[str]:
    """Return why a subject has its verdict, in a sentence or two."""
    if one.verdict == Verdict.MATCH:
        if one.say:
            return [one_line(one.say)]
        return []
    if one.near is not None:
        return [one_line(one.near.text.removeprefix("not applicable: "))]
    # The leaves that say no, each with the values below it.
    saying = []
    for number, trace in enumerate(walk_tree(one.trace)) if one.trace is not None else ():
        mark = one.marks.get(number)
        if mark is not None and mark.says == "no":
            values = ", ".join(child.value for child in trace.children[:2])
            text = trace.text
            if values:
                text += f" ({values})"
            saying.append(one_line(text))
    if one.why:
        words = [f"cannot tell: {one_line(one.why)}"]
    else:
        words = []
    if saying and one.verdict != Verdict.CANNOT_TELL:
        if len(saying) > SAYING_NO:
            more = f"; and {len(saying) - SAYING_NO} more"
        else:
            more = ""
        shown = "; ".join(saying[:SAYING_NO])
        words.append(f"says no: {shown}{more}")
    asks = [mark.ask for mark in one.marks.values() if mark.ask]
    if asks and one.verdict == Verdict.CANNOT_TELL:
        words.append(f"ask for: {one_line(asks[0])}")
    return words


# -- the tree


@dataclass(slots=True)
class _Row:
    indent: int
    trace: Trace
    mark: Mark | None


def write_tree(trace: Trace, marks: dict[int, Mark], width: int = 0) -> Iterator[Line]:
    """Yield the lines of a tree: expressions on the left, their values in a column, then where they stand."""
    rows: list[_Row] = []
    below = [(trace, 0)]
    while below:
        one, depth = below.pop()
        indent = 4 + min(depth, 20) * 2
        mark = marks.get(len(rows))
        rows.append(_Row(indent, one, mark))
        below += [(child, depth + 1) for child in reversed(one.children)]
    longest = max(row.indent + len(one_line(row.trace.text)) for row in rows)
    if width:
        bound = max(_NARROWEST, min(_WIDEST, int(width * 0.55)))
    else:
        bound = _WIDEST
    column = min(longest, bound)
    for row in rows:
        yield from _write_row(row, column, width)


def _write_row(row: _Row, column: int, width: int) -> Iterator[Line]:
    """Yield a line of a tree; what does not fit next to the value comes below it."""
    trace = row.trace
    mark = row.mark
    expression = one_line(trace.text)
    room = max(12, column - row.indent)
    folded = [expression]
    if width and len(expression) > room:
        folded = textwrap.wrap(expression, room, subsequent_indent="    ")
    value = bound_line(trace.value, _TEXT)
    style = _VALUES.get(value, "bold")
    parts = [(folded[0].ljust(room), ""), (f" = {value}", style)]
    if mark is not None and mark.says == "no":
        parts.append(("   <- says no", "bold red"))
    elif mark is not None:
        parts.append(("   <- not known", "bold yellow"))
    tail = []
    if mark is not None and mark.ask:
        tail.append((f"ask for: {one_line(mark.ask)}", "yellow"))
    if trace.note:
        tail.append((f"({one_line(trace.note)})", ""))
    if trace.at:
        tail.append((one_line(trace.at), "dim"))
    behind = [(f"   {text}", style) for text, style in tail]
    used = row.indent + sum(len(text) for text, _ in parts + behind)
    fits = not width or used <= width
    if fits:
        parts += behind
    yield Line(parts, row.indent, exact=True)
    for more in folded[1:]:
        yield text_line(more, indent=row.indent, exact=True)
    if not fits:
        for text, style in tail:
            exact = text == one_line(trace.at)
            yield text_line(text, style, indent=row.indent + 4, exact=exact)
