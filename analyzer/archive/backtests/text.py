"""A back-test report as text, the worst first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from analyzer.archive.backtests.jobs import BacktestHit, CaseSubject, Doubt
from analyzer.archive.backtests.report import BacktestReport, LabelCheck, Numbers
from analyzer.case.verdicts import Verdict
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import count_noun

SHOWN = 5  # items of a list; --json has all
_WORDS = {
    Verdict.MATCH: "match",
    Verdict.NO_MATCH: "no match",
    Verdict.NOT_APPLICABLE: "not applicable",
    Verdict.CANNOT_TELL: "cannot tell",
    Verdict.ERROR: "error",
}


def format_report(report: BacktestReport, most: int = SHOWN) -> Iterator[str]:
    """Yield the report line by line; `most` items of each list, 0 for all."""
    yield bound_line(f"{report.rule}: {report.title}", 200)
    yield f"  judged {_count_judged(report)}"
    yield from _format_worst(report, most)
    yield from _format_versions(report, most)
    yield ""
    if not report.labels:
        yield "No labels for this rule: `backline archive label` keeps what an engineer found."
    else:
        yield f"Labels: {_format_numbers(report.numbers)}"
        if report.numbers_before is not None:
            yield f"  {_name_other(report)}: {_format_numbers(report.numbers_before)}"
        found = [one for one in report.labels if one.label == "missed" and not one.now]
        if found:
            yield f"  {_count_findings(len(found))} once missed, now found:"
            yield from _limit_items([_format_label(one) for one in found], most)
        if report.made_rejected:
            yield f"  {_count_findings(len(report.made_rejected))} that an engineer rejected:"
            yield from _limit_items([_format_label(one) for one in report.made_rejected], most)
    yield ""
    yield f"Subjects: {_format_counts(report.own.subjects)}"
    yield f"Cases:    {_format_counts(report.own.cases)}"
    if report.compared:
        yield f"  before: {_format_counts(report.before.cases)}"
    yield from _format_unknown(report, most)
    if report.near_cases:
        yield ""
        yield (
            f"Near misses: {_count_cases(report.near_cases)} without a finding {'were' if report.near_cases > 1 else 'was'} "
            f"looked at, {report.near_one:,} {'are' if report.near_one != 1 else 'is'} one condition away from one."
        )
        yield from _limit_items(
            [f"{_format_place(one.thing)}: {bound_line(one.text, 240)}" for one in report.near],
            most,
            more=False,
        )
    for sample in report.samples:
        yield ""
        hit = sample.hit
        yield f"Example: {_format_place(hit.thing)}: {hit.severity}, {hit.confidence}: {bound_line(hit.say, 200)}"
        for item in sample.evidence[:SHOWN]:
            yield f"    {bound_line(item.address, 160)}:{item.line}: {bound_middle(item.text, 160)}"
    matched = report.own.cases.get(Verdict.MATCH, 0)
    if "often" in report.flags:
        yield ""
        share = f"{matched:,} of {_count_cases(report.judged)} ({matched / report.judged:.0%})"
        yield f"Review: it matches in {share}. Is it a fault?"
    if "never" in report.flags:
        yield ""
        yield f"Review: it matches in none of {_count_cases(report.judged)}. Is it too narrow, or is there no such case?"
    yield ""
    judging = f"{report.per_1000_ms:,.0f} ms for a thousand cases"
    yield f"Judging took {judging}; the whole run, with reading the cases, {report.seconds:.1f} s."


def _count_judged(report: BacktestReport) -> str:
    counts = (
        (max(0, report.stored - report.seen - len(report.damaged)), "were not selected"),
        (report.refused, "had nothing readable when they were read"),
        (report.no_facts, "have no facts stored (`backline batch --rescan`)"),
        (len(report.damaged), "cannot be read back"),
    )
    left_out = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    judged = f"{_count_cases(report.judged)} of {report.stored:,} stored ones"
    return f"{judged}; {left_out}" if left_out else judged


def _format_worst(report: BacktestReport, most: int) -> Iterator[str]:
    """Yield what must not be missed: lost confirmed findings, rejected ones gained, errors, damage."""
    if report.lost_confirmed:
        yield ""
        yield f"LOST: {_count_findings(len(report.lost_confirmed))} that an engineer confirmed, not found by this rule:"
        yield from _limit_items([_format_label(one) for one in report.lost_confirmed], most)
    if report.gained_rejected:
        yield ""
        gained = _count_findings(len(report.gained_rejected))
        yield f"GAINED: {gained} that an engineer rejected, not found by {_name_other(report)}:"
        yield from _limit_items([_format_label(one) for one in report.gained_rejected], most)
    if report.errors:
        yield ""
        yield f"FAILED in {_count_cases(len({thing.id for thing, _ in report.errors}))}:"
        yield from _limit_items(
            [
                f"{_format_case(thing)}: {bound_line(say, 200)}"
                for thing, say in report.errors
                if say
            ],
            most,
        )
    if report.damaged:
        yield ""
        yield f"CANNOT BE READ: {_count_cases(len(report.damaged))}; run `backline archive verify`:"
        unknown_lines = [
            f"{bound_line(name, 60)} ({case[:12]}): {bound_line(why, 160)}"
            for case, name, why in report.damaged
        ]
        yield from _limit_items(unknown_lines, most)


def _format_versions(report: BacktestReport, most: int) -> Iterator[str]:
    yield ""
    against = bound_line(report.against, 120)
    if report.released in ("same", "none"):
        rule = bound_line(report.rule, 80)
        if report.released == "same":
            why = "this is the released version"
            if against:
                why = f"{against} holds exactly the same rule"
        else:
            why = f"{against} holds no rule {rule}" if against else f"no rule {rule} is installed"
        yield f"Compared with nothing: {why}."
        return
    counts = []
    for word, hits in (
        ("gained", report.gained),
        ("lost", report.lost),
        ("changed", report.changed),
    ):
        cases = _count_cases(report.cases_of(hits))
        counts.append(f"{_count_findings(len(hits))} {word} in {cases}")
    yield f"Compared with {bound_line(report.released, 120)}: {', '.join(counts)}."
    if report.renamed and report.gained and report.lost:
        yield "  The two name subjects differently: a finding under another name counts as lost and gained."
    for sign, hits in (("-", report.lost), ("+", report.gained), ("~", report.changed)):
        yield from _limit_items([f"{sign} {_format_hit(hit, sign)}" for hit in hits], most)
    if report.unsure or report.settled:
        yield f'Now "cannot tell": {_count_subjects(len(report.unsure))}; no longer: {len(report.settled):,}.'
    for hits in (report.unsure, report.settled):
        yield from _limit_items(
            [
                f"? {_format_place(hit.thing)}: {bound_line(hit.say, 160)} (before: {bound_line(hit.was, 100)})"
                for hit in hits
            ],
            most,
        )


def _name_other(report: BacktestReport) -> str:
    return (
        f"the version of {bound_line(report.against, 120)}"
        if report.against
        else "the released version"
    )


def _format_hit(hit: BacktestHit, sign: str) -> str:
    graded = f"{hit.severity}, {hit.confidence}"
    if sign == "-":
        return f"{_format_place(hit.thing)}: was {graded}; now {bound_line(hit.was, 160)}"
    before = f" (before: {bound_line(hit.was, 100)})" if hit.was else ""
    return f"{_format_place(hit.thing)}: {graded}: {bound_line(hit.say, 160)}{before}"


def _format_numbers(numbers: Numbers) -> str:
    text = f"{numbers.confirmed:,} confirmed, {numbers.rejected:,} rejected, {numbers.unlabelled:,} without a label"
    text += f"; {numbers.lost:,} confirmed but not found" if numbers.lost else ""
    text += f"; {numbers.missed_found:,} missed before, now found" if numbers.missed_found else ""
    text += f"; {numbers.missed_still:,} still missed" if numbers.missed_still else ""
    if numbers.precision is None or numbers.low is None or numbers.high is None:
        return text
    return (
        f"{text}; precision {numbers.precision:.0%} (95 %: {numbers.low:.0%} to {numbers.high:.0%})"
    )


def _format_label(one: LabelCheck) -> str:
    by = f", {bound_line(one.by, 40)}" if one.by else ""
    note = f": {bound_line(one.note, 100)}" if one.note else ""
    return f"{_format_place(one.thing)}{f': now {bound_line(one.now, 160)}' if one.now else ''} ({one.label}{by}{note})"


def _format_counts(counts: Mapping[str, int]) -> str:
    numbers = [
        f"{counts[verdict]:,} {word}" for verdict, word in _WORDS.items() if counts.get(verdict)
    ]
    return ", ".join(numbers) or "none"


def _format_unknown(report: BacktestReport, most: int) -> Iterator[str]:
    subjects, doubts = (
        sum(report.own.subjects.values()),
        report.own.subjects.get(Verdict.CANNOT_TELL, 0),
    )
    if doubts:
        yield ""
        yield f"Cannot tell {doubts:,} of {subjects:,} subjects ({doubts / subjects:.1%}), because of missing:"
        found = []
        for one in report.cannot_tell:
            ask = f"; ask for: {bound_line(one.ask, 160)}" if one.ask else ""
            doubt = f"{bound_line(one.missing, 80)} ({one.reason}): {_format_extent(one)}{ask}"
            found.append(doubt)
        yield from _limit_items(found, most)
    if report.unsearched:
        yield "These cases were stored before the rule: their logs were never searched for its signature. To do so:"
        draft = " --draft" if report.draft else ""
        place, rule = shlex.quote(report.archive), shlex.quote(report.file)
        yield f"  backline batch PATH... --archive {place} --rescan --kb {rule}{draft}    (PATH: the bundles)"
        yield from _limit_items(
            [
                f"`{bound_line(one.missing, 80)}`: {_format_extent(one)}"
                for one in report.unsearched
            ],
            most,
        )
        if report.draft:
            without = f"`backline batch --archive {place}` judges without it"
            yield f"The archive then shows what the draft found, until {without}."


def _format_extent(one: Doubt) -> str:
    return f"{_count_subjects(one.subjects)} in {_count_cases(one.cases)}, one is {bound_line(one.case, 60)}"


def _limit_items(items: Sequence[str], most: int, *, more: bool = True) -> Iterator[str]:
    for item in items[:most] if most else items:
        yield f"  {item}"
    if most and len(items) > most and more:
        yield f"  and {len(items) - most:,} more (--all)"


def _format_place(thing: CaseSubject) -> str:
    parts = [bound_line(part, 100) for part in (thing.node, thing.subject) if part]
    return f"{_format_case(thing)}: {' / '.join(parts) or 'the case'}"


def _format_case(thing: CaseSubject) -> str:
    return f"{bound_line(thing.case, 60)} ({thing.id[:12]})"


def _count_cases(count: int) -> str:
    return count_noun(count, "case")


def _count_subjects(count: int) -> str:
    return count_noun(count, "subject")


def _count_findings(count: int) -> str:
    return count_noun(count, "finding")
