"""What `backline browse` shows beside the table: the account of a row, and the kept lines of the logs around it."""

from __future__ import annotations

from analyzer.artefacts.logtime import without_time
from analyzer.case.document import CaseDocument, CaseLogLine, Signal
from analyzer.case.verdicts import Evidence, Finding, Trace
from analyzer.report import finding_rows, machines, signals, view
from analyzer.report.desk_rows import DeskRow
from analyzer.report.finding_rows import FindingGroup
from analyzer.report.log_lines import AROUND, LogDrawer
from analyzer.report.printer import STYLES
from analyzer.report.wording import (
    count_noun,
    format_time,
    is_of_catalog,
    merge_cited,
    parse_time,
    word_answer,
    write_place,
)
from analyzer.runtime.short_lines import bound_middle
from analyzer.views.browse_lines import HIT, PaneLine, ParagraphWriter, make_text

FULL = 10  # objects of a row with their evidence
NAMED = 100  # objects of a row by name
CONTEXT = 2  # lines before and after the line of evidence
WIDE = 60  # columns from which an address is shown whole
DEEPEST = 12  # columns that a line of the trace is indented
TAGS = ("cyan", "green", "magenta", "blue", "yellow", "red")  # colours of the machines of a log
LEVELS = {"critical": "red", "alert": "red", "error": "red", "warning": "yellow"}  # of a log line
MILLISECONDS = 23  # characters of 2021-03-01T00:02:17.123


def write_account(doc: CaseDocument, row: DeskRow, width: int) -> list[PaneLine]:
    """Return the account of a row, wrapped to a width."""
    out = ParagraphWriter(width)
    if row.sign is not None:
        write_sign(row, row.sign, out)
        return out.lines
    group = FindingGroup(row.findings)
    write_title(doc, row, group, out)
    full, short = group.split_shown(FULL)
    for finding in full:
        write_finding(doc, finding, out)
    if short:
        names = FindingGroup(short[:NAMED]).names
        more = count_noun(len(short), "more object", "more objects")
        out.add_paragraph("; ".join(names), head=f"and {more}: ")
        if len(short) > NAMED:
            rest = count_noun(len(short) - NAMED, "object", "objects")
            out.add_paragraph(f"and {rest} that only the report names")
        out.add_gap()
    for line in filter(None, [*finding_rows.list_unchecked(doc, group), group.worse]):
        out.add_paragraph(line)
    out.add_gap()
    shared = finding_rows.has_one_fix(doc, group)
    for finding in full[:1] if shared else full:
        write_fix(finding, out, of="" if shared else finding.subject)
    if group.first.caution:
        out.add_paragraph(group.first.caution, head="Caution: ")
    write_reasons(group, out)
    return out.lines


def write_title(doc: CaseDocument, row: DeskRow, group: FindingGroup, out: ParagraphWriter) -> None:
    """Write severity, title, rule and articles, and since when."""
    first = group.first
    number = f"{row.number}. " if row.number else ""
    out.add_paragraph(f"{number}{group.weight}", STYLES.get(row.word, "bold"))
    out.add_paragraph(first.title, "bold")
    marks = view.list_marks(first, view.find_usual_status(doc))
    facts = [first.rule, *(f"KB {article}" for article in first.kb), *marks]
    out.add_paragraph(", ".join(facts), "dim")
    if row.first:
        out.add_paragraph(format_time(row.first), head="Since ")
    out.add_gap()


def write_finding(doc: CaseDocument, finding: Finding, out: ParagraphWriter) -> None:
    """Write one object of a row: its sentence, what explains it, its lines of evidence."""
    where = ""
    if finding.node and finding.node not in finding.subject:
        where = f" on {finding.node}"
    sentence = " ".join([finding.say, *finding_rows.list_notes(finding)])
    out.add_paragraph(sentence, head=f"{finding.subject}{where}: ")
    for lead, cause in view.describe_causes(doc, finding):
        out.add_paragraph(cause, head=f"{lead} ")
    out.add_gap()
    for evidence in merge_cited(finding.evidence):
        write_evidence(evidence, out)
    out.add_gap()


def write_evidence(evidence: Evidence, out: ParagraphWriter) -> None:
    """Write a line of evidence, marked, between the lines around it, below its address."""
    place = write_place(evidence)
    if out.width < WIDE:
        place = bound_middle(place, out.width)
    out.add_paragraph(place, "dim", quoted=True)
    out.add_paragraph(evidence.label, "dim")
    for line in evidence.before[-CONTEXT:]:
        out.add_paragraph(line, "dim", indent=len(HIT), quoted=True)
    out.add_paragraph(f"{HIT}{evidence.text}", "bold", quoted=True)
    for line in evidence.after[:CONTEXT]:
        out.add_paragraph(line, "dim", indent=len(HIT), quoted=True)
    out.add_gap()


def write_fix(finding: Finding, out: ParagraphWriter, *, of: str) -> None:
    """Write the steps of a finding, each command alone on its line; `of` names the object they are for."""
    if not finding.fix:
        return
    out.add_paragraph(of, head=f"Fix{': ' if of else ''}")
    for step in finding.fix:
        note = f"  ({step.note})" if step.note else ""
        out.add_paragraph(f"{step.where}: {step.do}".rstrip(": ") + note, indent=2)
        if step.run:
            out.add_paragraph(step.run, "bold", indent=4, quoted=True)
        if step.caution:
            out.add_paragraph(step.caution, indent=4, head="Caution: ")
    out.add_gap()


def write_reasons(group: FindingGroup, out: ParagraphWriter) -> None:
    """Write what looks the same and is not, the cause, and why the rule says so."""
    first = group.first
    out.add_gap()
    if first.not_this:
        out.add_paragraph("", head="What it is not")
        for line in first.not_this:
            out.add_paragraph(line, indent=2)
        out.add_gap()
    if first.about:
        out.add_paragraph(first.about, head="Cause: ")
        out.add_gap()
    if first.trace is not None:
        out.add_paragraph("", head="Why")
        write_trace(first.trace, out, 2)


def write_trace(trace: Trace, out: ParagraphWriter, indent: int) -> None:
    """Write a part of the condition with its value, then its parts."""
    place = trace.at
    if is_of_catalog(place):
        place = "Backline's catalog"
    note = f"  ({trace.note})" if trace.note else ""
    origin = f"  from {place}" if place else ""
    out.add_paragraph(
        f"{trace.text}: {word_answer(trace.value)}{note}{origin}", indent=min(indent, DEEPEST)
    )
    for child in trace.children:
        write_trace(child, out, indent + 2)


def write_sign(row: DeskRow, sign: Signal, out: ParagraphWriter) -> None:
    """Write what is known of a sign that no finding rests on."""
    out.add_paragraph(f"unexplained: {signals.name_kind(sign)}", "bold")
    out.add_paragraph(row.what, "bold")
    if row.host:
        out.add_paragraph(row.host, head="On ")
    out.add_gap()
    out.add_paragraph(signals.describe_signal(sign))
    if sign.text:
        out.add_paragraph(f"{HIT}{sign.text}", "bold", quoted=True)
    for place in signals.list_places(sign):
        out.add_paragraph(place, "dim", quoted=True)
    out.add_gap()
    if sign.about:
        out.add_paragraph(sign.about)
    query = signals.write_query(sign)
    if query:
        out.add_paragraph(query, head="Search for: ")
    out.add_paragraph("No rule knows it, or it needs more of it; that is no verdict.", "dim")


class LogWriter:
    """Writes the kept lines around a row, a line each: time, machine and log as a short tag, text."""

    def __init__(self, doc: CaseDocument) -> None:
        self._drawer = LogDrawer(doc)
        self._timed = self._drawer.list_times()
        names = dict.fromkeys(machines.name_node(node) for node in doc.nodes)
        names.update(dict.fromkeys(line.node for line in doc.log))
        self._letters: dict[str, str] = {}
        self._colours: dict[str, str] = {}
        for number, name in enumerate(names):
            self._letters[name] = name_letter(number)
            self._colours[name] = TAGS[number % len(TAGS)]

    def write_log(self, row: DeskRow, width: int, host: str = "") -> list[PaneLine]:
        """Return the lines around a row; the cursor begins on the first that the row rests on.

        host  leaves its lines alone, and those that the row rests on
        """
        out = ParagraphWriter(width)
        moment, finding = find_moment(row)
        when = parse_time(moment)
        if when is None:
            out.add_paragraph("This has no time, so no log lies around it.", "dim")
            return out.lines
        hits = list_hit_places(row)
        shown: list[tuple[float, CaseLogLine]] = []
        for time, line in self._timed:
            is_wanted = not host or line.node == host or get_place(line) in hits
            if abs(time - when) <= AROUND and is_wanted:
                shown.append((time, line))
        self._write_counts(moment, finding, len(shown), out)
        self._write_legend([line for _, line in shown], out)
        out.add_gap()
        start = next((line for _, line in shown if get_place(line) in hits), None)
        if start is None:
            start = next((line for time, line in shown if time >= when), None)
        lines = list(out.lines)
        for _, line in shown:
            is_hit = get_place(line) in hits
            lines.append(self._make_line(line, is_hit=is_hit, start=line is start))
        return lines

    def _write_counts(
        self, moment: str, finding: Finding | None, number: int, out: ParagraphWriter
    ) -> None:
        """Write how many of the lines around a moment are here, and the command that prints all."""
        near = self._drawer.find_around(moment)
        if finding is not None:
            near = self._drawer.find_nearby(finding)
        if near is None:
            return
        about = max(number, near.about)
        out.add_paragraph(
            f"{number:,} of about {about:,} lines within 5 min of {format_time(moment)}", "dim"
        )
        if about > number:
            out.add_paragraph(near.command, "dim", head=f"{near.of}: ", quoted=True)

    def _write_legend(self, shown: list[CaseLogLine], out: ParagraphWriter) -> None:
        """Write which machine each letter stands for, where there are several."""
        if len(self._letters) > 1 and shown:
            used = dict.fromkeys(line.node for line in shown)
            names = [f"{self._letters[name]} = {name or 'no name'}" for name in used]
            out.add_paragraph(", ".join(names), "dim")

    def _make_line(self, line: CaseLogLine, *, is_hit: bool, start: bool) -> PaneLine:
        """Return a line of a log: marked where the finding rests on it, its time once, its source as a tag."""
        letter = self._letters[line.node] if len(self._letters) > 1 else ""
        tag = f"{letter}: {line.log}" if letter else line.log
        clock = line.time[11:MILLISECONDS].removesuffix("Z")
        text = make_text(HIT if is_hit else " " * len(HIT), "bold")
        text.append_text(make_text(f"{clock} "))
        text.append_text(make_text(f"{tag} ", self._colours[line.node]))
        style = "bold" if is_hit else LEVELS.get(line.level, "")
        text.append_text(make_text(without_time(line.text).lstrip(":| ").rstrip(), style))
        return PaneLine(text, place=f"{line.node} {write_place(line)}".strip(), start=start)


def name_letter(number: int) -> str:
    """Return the short name of a machine: A to Z, then A2 and so on."""
    turn, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(turn + 1) if turn else "")


def list_hit_places(row: DeskRow) -> set[tuple[str, int]]:
    """Return address and line of what a row rests on."""
    places = {(one.address, one.line) for finding in row.findings for one in finding.evidence}
    if row.sign is not None:
        places.add((row.sign.address, row.sign.line))
    return places


def get_place(line: CaseLogLine) -> tuple[str, int]:
    """Return address and number of a line of a log."""
    return line.address, line.line


def find_moment(row: DeskRow) -> tuple[str, Finding | None]:
    """Return the first time of a row, with the finding that has it; "" for none."""
    if row.sign is not None:
        return row.sign.first, None
    timed = [finding for finding in row.findings if finding.first_seen]
    if not timed:
        return "", None
    first = min(timed, key=lambda finding: finding.first_seen)
    return first.first_seen, first
