"""What a finding says: its values, evidence, charts, remedy, and what could make it worse or was not seen.

In a storm or a cut log not every line is known: a count of lines that were not all kept is "at least" that, and so is a
greatest value; a smallest one is "at most". Of times these are "or later" and "or earlier".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from analyzer.artefacts.tables import Block, Table, Value
from analyzer.case.verdicts import (
    CONFIDENCES,
    SEVERITIES,
    Evidence,
    Finding,
    Fix,
    Verdict,
)
from analyzer.facts import Facts
from analyzer.judge.case_rows import sort_stamp
from analyzer.judge.choosing import Chooser, Chosen
from analyzer.judge.log_answers import count_messages, format_iso, format_stamp
from analyzer.judge.log_conditions import Logs
from analyzer.judge.subjects import Subject
from analyzer.judge.trace import Cause, TraceContext, format_value
from analyzer.rules import Outcome, Step
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.command import fill_command
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.template import Template
from analyzer.runtime.text import span_in_words

CONTEXT = 2  # lines before and after
LISTED = 8  # rows of one alias
MOST = 60  # pieces of evidence of one finding
POINTS = 600  # points of one chart
_BOUNDS = {"count": "at least ", "max": "at least ", "min": "at most "}
_TIME_BOUNDS = {"max": " or later", "min": " or earlier"}

Series = dict[str, list[float] | list[str] | str]


class FindingWriter:
    """Writes a finding of one rule over one case, without evidence, trace and charts where the chooser is lean.

    logs    gives the hits of the rule when evidence is collected
    charts  filled: a finding, the column drawn, its samples
    """

    def __init__(
        self, chooser: Chooser, logs: Callable[[], Logs], charts: list[tuple[Finding, str, Series]]
    ) -> None:
        self.chooser = chooser
        self.rule = chooser.rule
        self.facts = chooser.facts
        self.logs = logs
        self.charts = charts

    def write_finding(self, one: Chosen, why: TraceContext, name: str, thing: str) -> Finding:
        """Return the finding on a subject that matches: `name` is the subject, `thing` what is affected."""
        rule = self.rule
        taken = one.taken or 0
        outcome = rule.outcomes[taken]
        severity = self.chooser.find_severity(outcome, why)
        finding = Finding(
            id="",
            rule=rule.id,
            title=rule.title,
            kb=list(rule.kb),
            issues=list(rule.issues),
            status=rule.status,
            node=why.detail.name,
            subject=name,
            object=thing,
            verdict=Verdict.MATCH.value,
            severity=severity,
            confidence=outcome.confidence,
            say=rule.title,
            about=rule.about,
            caution=rule.caution,
            not_this=list(rule.not_this),
            source=[source.describe_source() for source in rule.source],
            magnitude=self.chooser.measure_magnitude(why),
            excess=self.chooser.measure_excess(outcome, severity, why),
        )
        if outcome.say is not None:
            finding.say = fill_text(outcome.say, why)
            finding.values = outcome.say.values(why.read_value, lambda node: bound_value(node, why))
        full = one.full and not self.chooser.lean
        if full:
            finding.evidence = collect_evidence(why, self.logs())
            finding.trace = why.write_tree(Verdict.MATCH.value, name, taken)
        for step in rule.fix:
            fix = write_step(step, why)
            if fix is not None:
                finding.fix.append(fix)
        fill_from_row(finding, why)
        self._note_unchecked(finding, one.subject, why, taken)
        for note in rule.notes:
            if why.read_value(note.when) is True:
                finding.also.append(fill_text(note.say, why))
        finding.also += count_all_lines(outcome, why)
        self._mark_excerpt(finding, why)
        self._note_cut_sources(finding, why)
        finding.first_seen = min(
            (item.taken for item in finding.evidence if item.taken), default=""
        )
        if full and one.charted:
            for node in rule.chart:
                chart = draw_chart(node, why, name)
                if chart is not None:
                    self.charts.append((finding, f"{node.name}.{node.column}", chart))
        return finding

    def _note_unchecked(
        self, finding: Finding, subject: Subject, why: TraceContext, taken: int
    ) -> None:
        """Say which answers above those taken could not be checked, and what they lacked."""
        skipped = []  # conditions with the severity and the confidence they would bring
        for outcome, answer in zip(self.rule.outcomes[:taken], subject.outcomes, strict=False):
            if answer is None:
                skipped.append((outcome.when, outcome.severity, outcome.confidence))
        if not self.rule.outcomes[taken].severity:
            for grade in self.rule.grades:
                answer = why.read_value(grade.when)
                if answer is True:
                    break
                if answer is None:
                    skipped.append((grade.when, grade.severity, finding.confidence))
        gaps: dict[str, tuple[Cause, str, bool]] = {}
        for node, severity, confidence in skipped:
            cause = why.find_cause(node)
            if cause is None:
                continue
            missing = cause.missing if cause.table is None else cause.table.declared_table.name
            could, worse = compare_outcome(finding, severity, confidence)
            # What may be worse counts more.
            if missing not in gaps or (worse and not gaps[missing][2]):
                gaps[missing] = cause, could, worse
        for missing, (cause, could, worse) in gaps.items():
            if worse:
                finding.maybe_worse.append(missing)
            ask = cause.find_ask(self.rule)
            asked = f" Ask for: {ask.rstrip('.')}." if ask else ""
            finding.also.append(f"Needs more data: {cause.why}{could}.{asked}")

    def _mark_excerpt(self, finding: Finding, why: TraceContext) -> None:
        """Call a finding possible that rests on fewer lines of an excerpt than the rule asks of a log, and say so."""
        for name, answer in sorted(why.answers.items()):
            if not answer.short_of:
                continue
            finding.confidence = "possible"
            seen = self.rule.seen[name]
            window = f" within {span_in_words(seen.within)}" if seen.within else ""
            times = (
                f"For {answer.best:,} different {seen.distinct}"
                if seen.distinct
                else f"Seen {answer.best:,} times"
            )
            finding.also.append(
                f"{times} in an excerpt; of a whole log the rule asks for {answer.short_of:,}{window}."
            )

    def _note_cut_sources(self, finding: Finding, why: TraceContext) -> None:
        """Say which sources ended early, so that values over many rows are those seen so far."""
        notes: dict[str, None] = {}
        for name, alias in why.aliases.items():
            if alias.table.lines_of is not None:
                cause = why.explain_lost(name)
                if cause is not None:
                    notes[f"There may be more such lines: {cause.why}."] = None
            elif alias.many:
                covered = self.facts.coverage(why.detail.node, alias.table.name)
                if covered.state == "cut":
                    notes[f"{alias.table.name} ended early; later rows were not seen."] = None
        noted = {hit.log for hit in self.rule.hits}
        for name in needs_of(self.rule).asked:
            more = why.answers[name].more
            if more and noted.isdisjoint(self.rule.seen[name].logs):
                notes[f"There may be more such lines: {more}."] = None
        finding.also += notes


# -- texts


def fill_text(template: Template, why: TraceContext) -> str:
    """Return a text with the values of a subject, those that are bounds marked as such."""
    return template.fill(why.read_value, lambda node: bound_value(node, why), why.machine)[0]


def bound_value(node: ExprNode, why: TraceContext) -> str:
    """Return `at least `, ` or later`, … for a value over lines of which there may be more, else "" ."""
    if node.op == "let":
        return bound_value(node.args[0], why)
    if node.op == "seen_field":
        answer = why.answers.get(node.name)
        partial = node.column == "count" and answer is not None and answer.more
        return _BOUNDS["count"] if partial else ""
    if node.op not in _BOUNDS or node.type not in ("int", "float", "time"):
        return ""
    table = why.aliases[node.name].table
    if table.lines_of is None:
        cut = why.facts.coverage(why.detail.node, table.name).state == "cut"
    else:
        cut = why.explain_lost(node.name) is not None
    bounds = _TIME_BOUNDS if node.type == "time" else _BOUNDS
    return bounds[node.op] if cut else ""


def count_all_lines(outcome: Outcome, why: TraceContext) -> list[str]:
    """Return how many lines there are in all where the sentence counts those of one window."""
    counts = set()
    for node in outcome.say.nodes() if outcome.say is not None else []:
        if node.op == "seen_field" and node.column == "count":
            counts.add(node.name)
    found = []
    for name in sorted(counts):
        seen = why.rule.seen[name]
        log = seen.logs[0]
        answer = why.answers.get(name)
        whole = why.answers.get(log)
        if answer is None or answer.reached is None or whole is None or log in counts:
            continue
        number = whole.count or 0
        in_window = count_messages(answer.window)
        if not seen.within or number <= in_window or why.rule.seen[log].within:
            continue
        times = [line.time for line in whole.hits if line.time is not None]
        first = format_stamp(min(times))[:19]
        last = format_stamp(max(times))[:19]
        bound = "at least " if whole.more else ""
        found.append(f"In all {bound}{number:,} such lines from {first} UTC to {last} UTC.")
    return found


def write_step(step: Step, why: TraceContext) -> Fix | None:
    """Return a step of the remedy as this subject needs it; None where it does not fit.

    Where it is unknown whether it fits, the rule's words for that come first; a rule that has
    none leaves the step out.
    """
    fits = why.read_value(step.when)
    if fits is False or (fits is None and not step.unsure):
        return None
    run = fill_command(step.run, why.read_value) if step.run is not None else ""
    texts = []
    for template in (step.do, step.note, step.caution):
        texts.append("" if template is None else why.fill_template(template)[0])
    do, note, caution = texts
    if fits is None:
        do = f"{step.unsure}: {do}" if do else f"{step.unsure}:"
    return Fix(step.where, run, do, note, caution)


def compare_outcome(finding: Finding, severity: str, confidence: str) -> tuple[str, bool]:
    """Return what a finding may be if the answer above were known, and whether that is worse or surer."""
    if not severity:
        return "", True
    now = SEVERITIES.index(finding.severity)
    then = SEVERITIES.index(severity)
    if then != now:
        return f"; could be {severity}", then < now
    if CONFIDENCES.index(confidence) < CONFIDENCES.index(finding.confidence):
        return f"; could be {confidence}", True
    return "", False


def fill_from_row(finding: Finding, why: TraceContext) -> None:
    """Put what the row behind `fact` says into a finding; without such a row it stays as the rule has it."""
    name = why.rule.fact
    row = why.detail.find_row(name) if name else None
    if row is None:
        return
    table = why.rule.aliases[name].table

    def read_cell(column: str) -> str:
        value: Value = why.facts.value(table.name, row, column)
        return "" if value is None else str(value)

    key = " ".join(read_cell(column) for column in table.key)
    finding.id = key  # distinguishes rows until the ids are made
    finding.title = read_cell("title") or finding.title
    finding.about = read_cell("text") or finding.about
    kb = map(int, read_cell("kb").split())
    finding.kb = list(dict.fromkeys([*kb, *finding.kb]))
    source = f"{table.name}, {key}: {read_cell('source')} ({read_cell('mark')})"
    finding.source = [source, *finding.source]
    # Rules, until findings are related to one another.
    finding.explained_by = read_cell("explained_by").split()
    not_this = read_cell("not_this")
    if not_this:
        finding.not_this = [not_this, *finding.not_this]


# -- evidence


class Piece(NamedTuple):
    """A piece of evidence, and whether the value it shows is known."""

    item: Evidence
    known: bool = True


def collect_evidence(why: TraceContext, logs: Logs) -> list[Evidence]:
    """Return the evidence of a finding: of the rule's list, or of its condition when it has none.

    A value that is not known proves nothing: it is left out where others are known.
    """
    unique: dict[tuple[str, str, int], Piece] = {}
    for node in why.rule.evidence or [why.rule.when]:
        for piece in find_pieces(node, why, logs):
            unique.setdefault((piece.item.label, piece.item.address, piece.item.line), piece)
    known = [piece.item for piece in unique.values() if piece.known]
    return (known or [piece.item for piece in unique.values()])[:MOST]


def find_pieces(node: ExprNode, why: TraceContext, logs: Logs) -> list[Piece]:
    """Return the evidence of a part of a condition."""
    if node.op == "column":
        rows = why.detail.list_rows(node.name) if node.many else [why.detail.find_row(node.name)]
        table = why.rule.aliases[node.name].table.name
        some = []
        for row in rows[:LISTED]:
            if row is not None:
                some.append(make_piece(why.facts, table, row, node.column, node.name))
        if len(rows) > LISTED:
            # Pieces whose value is not known may be left out.
            last = next((piece for piece in reversed(some) if piece.known), some[-1])
            last.item.label += f" ({len(rows) - LISTED:,} more not shown)"
        return some
    if node.op in ("seen", "seen_field"):
        answer = why.answers.get(node.name)
        if answer is None:
            return []
        return [Piece(item) for item in logs.collect_evidence(node.name, answer)]
    if node.is_aggregate:
        return find_deciding_pieces(node, why)
    found = []
    for child in node.args:
        found += find_pieces(child, why, logs)
    return found


def find_deciding_pieces(node: ExprNode, why: TraceContext) -> list[Piece]:
    """Return the rows that decide an aggregate: of samples the worst, of objects those that fulfil it."""
    table = why.find_table(node)
    rows, _, _ = why.detail.count_rows(node)
    found = []
    for column, row in why.detail.find_deciding(node).items():
        if row is None:
            continue
        chosen = [row]
        if not why.facts.has_frames(table):
            fulfilling = why.detail.list_fulfilling(node)
            chosen = list(dict.fromkeys([row, *fulfilling]))[:LISTED]
        for number in chosen:
            piece = make_piece(why.facts, table, number, column, node.name)
            if len(chosen) == 1 and rows > 1:
                which = "first" if node.op == "count" else "worst"
                piece.item.label += f" ({which} of {rows:,} rows)"
            found.append(piece)
    return found


def make_piece(facts: Facts, table: str, row: int, column: str, alias: str) -> Piece:
    """Return the evidence of one cell: its line with neighbours, or the heading of its column."""
    origin = facts.origin(table, row)
    value = facts.value(table, row, column)
    block = origin.block
    line = origin.line
    if origin.row is not None:
        block = origin.row.block_of(column)
        line = origin.row.line_of(column)
    label = f"{alias}.{column} = {format_value(value)}"
    before, text, after = read_around(block, line)
    if origin.frame is not None:
        text = f"{origin.frame.heading(column, origin.index)} = {format_value(value)}"
    time = None
    declared = facts.tables[table].column("time")
    if declared is not None and declared.kind == "time":
        time = facts.value(table, row, "time")
    taken = format_iso((time if isinstance(time, str) else "") or block.taken)
    name = facts.name(block.node)
    item = Evidence(label, block.address, line, text or label, before, after, taken, name)
    return Piece(item, value is not None)


def read_around(block: Block, line: int) -> tuple[list[str], str, list[str]]:
    """Return the lines before, the line itself and the lines after, as the block holds them."""
    place = line - block.first_line
    if not 0 <= place < len(block.lines):
        return [], "", []
    before = block.lines[max(0, place - CONTEXT) : place]
    return before, block.lines[place], block.lines[place + 1 : place + 1 + CONTEXT]


# -- charts


def draw_chart(node: ExprNode, why: TraceContext, name: str) -> Series | None:
    """Return the samples of a chart's column for the subject `name`, thinned to at most `POINTS` points.

    A counter bears the name that its tool shows: %RDY.
    """
    table = why.rule.aliases[node.name].table
    column = table.column(node.column)
    drawn = why.detail.draw_samples(node.name, node.column)
    times, values = drawn or read_points(node, why, table)
    if len(times) < 2:
        return None
    if len(times) > POINTS:
        kept = thin_values(values, POINTS)
        times = [times[place] for place in kept]
        values = [values[place] for place in kept]
    label = column.printed if column and column.printed else f"{node.name}.{node.column}"
    return {
        "title": f"{name}: {label}",
        "unit": column.unit if column else "",
        "node": why.detail.name,
        "times": [share_stamp(when) for when in times],
        label: [share_number(float(value)) for value in values],
    }


def read_points(node: ExprNode, why: TraceContext, table: Table) -> tuple[list[str], list[float]]:
    """Return stamps in their order, and of each the greatest value."""
    rows = why.detail.list_rows(node.name)
    points: dict[str, float] = {}
    values = why.facts.values(table.name, rows, node.column)
    for when, value in zip(read_stamps(why.facts, table, rows), values, strict=True):
        if isinstance(value, int | float):
            points[when] = max(value, points.get(when, value))
    times = sorted(points, key=sort_stamp)
    return times, [points[when] for when in times]


@lru_cache(maxsize=20_000)
def share_stamp(when: str) -> str:
    """Return `format_iso(when)`, the same object for the same time: the charts of a capture draw the same samples."""
    return format_iso(when)


@lru_cache(maxsize=20_000)
def share_number(value: float) -> float:
    """Return `value`, the same object for the same number."""
    return value


def read_stamps(facts: Facts, table: Table, rows: Sequence[int]) -> list[str]:
    """Return the time of each sample, else its number, else its line."""
    for name in ("time", "sample"):
        if table.column(name) is not None:
            found = facts.values(table.name, rows, name)
            if None not in found:
                return [str(value) for value in found]
    return [str(facts.origin(table.name, row).line) for row in rows]


def thin_values(values: Sequence[float], most: int) -> list[int]:
    """Return the places of at most `most` values: of each stretch the first least and the first greatest."""
    import numpy as np  # noqa: PLC0415 - heavy

    count = len(values)
    buckets = max(1, most // 2)
    if count <= most:
        return list(range(count))
    # Whole numbers stay exact.
    floats = all(type(value) is float for value in values)
    cells = np.array(values, dtype=float if floats else object)
    bounds = np.arange(buckets + 1) * count // buckets
    bucket = np.repeat(np.arange(buckets), np.diff(bounds))
    kept = []
    for fold in (np.minimum, np.maximum):
        extremes = fold.reduceat(cells, bounds[:-1])
        found = np.flatnonzero(cells == extremes[bucket])
        _, firsts = np.unique(bucket[found], return_index=True)
        kept.append(found[firsts])
    places: list[int] = np.unique(np.concatenate(kept)).tolist()
    return places
