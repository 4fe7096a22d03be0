"""The case in a terminal: what it is, what is wrong, what could not be judged and what to ask for.

Foreign text passes `for_terminal`, so that it cannot steer the terminal, and
goes out as plain text, never as rich markup. Colour only repeats what a word
says; rich leaves it out for NO_COLOR and when the output is no terminal.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from analyzer.case.document import CaseDamage, CaseDocument, HarmlessLine
from analyzer.case.verdicts import Finding, Trace
from analyzer.report import (
    completeness,
    finding_rows,
    incident,
    local,
    machines,
    open_asks,
    signals,
    view,
)
from analyzer.report.finding_rows import FindingGroup
from analyzer.report.open_asks import WantedAsk
from analyzer.report.printer import STYLES, Printer
from analyzer.report.wording import (
    count_more_evidence,
    count_noun,
    format_span,
    is_of_catalog,
    join_few,
    merge_cited,
    word_answer,
    write_place,
)
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

SUBJECTS = 5  # of one row without -v
NODES = 100  # of one row, with their counts
PLACES = 2  # lines of evidence without -v
NOTES = 5  # remarks on the sources without -v
UNREAD = 5  # files that were not understood, in the head
LINE = 200  # characters of a line of evidence


def print_case(
    doc: CaseDocument, console: Console, verbose: int = 0, *, everything: bool = False
) -> None:
    """Print the case; `verbose` 1 adds all evidence with its lines, 2 the trace; `everything` harmless lines."""
    out = Printer(console)
    print_header(doc, out, verbose)
    out.print_line()
    out.print_line(view.write_headline(doc) + ".", style="bold")
    for line in finding_rows.list_cuts(doc):
        out.print_line(line, style="bold yellow")
    print_findings(doc, out, verbose)
    if doc.signals:
        out.print_line()
        print_signals(doc, out)
    if finding_rows.list_unknowns(doc):
        print_questions(doc, out)
    print_local_settings(doc, out, verbose)
    if everything and doc.harmless:
        print_harmless(doc.harmless, out)
    if doc.advice:
        out.print_line()
        out.print_line("ALSO HELPFUL", style="bold")
        for line in open_asks.list_advice(doc):
            out.print_exact(line, 2)
    out.print_line()
    out.print_line(completeness.describe_coverage(doc), style="dim")
    for limit in doc.limits:
        out.print_line(limit)
    notes = doc.notes if verbose else doc.notes[:NOTES]
    for note in notes:
        out.print_line("note: ", note)
    if len(doc.notes) > len(notes):
        out.print_line(f"and {len(doc.notes) - len(notes):,} more notes, see the report")
    if verbose:
        print_damage(doc.damage, out)


def print_damage(damage: Sequence[CaseDamage], out: Printer) -> None:
    """Print what was found damaged, each with what was left out for it."""
    for item in damage:
        place = item.address
        if item.offset is not None:
            place += f", byte {item.offset:,}"
        out.print_line(f"damaged: {place}: {item.what}; left out: {item.left_out}")


def print_signals(doc: CaseDocument, out: Printer) -> None:
    """Print the likeliest signs of trouble that no finding rests on, lines and values apart."""
    out.print_line(signals.TITLE, style="bold")
    out.print_line(f"{signals.summarize_signals(doc)}; see the report")
    names, likely = machines.name_nodes(doc), signals.list_likely(doc)
    for some in (signals.list_lines(likely), signals.list_cells(likely)):
        for one in some[: signals.FIRST]:
            node = names.get(one.node, one.node)
            what = "" if one.kind == "line" else f"{signals.name_signal(one)}; "
            out.print_line(f"{node}: {what}{signals.describe_signal(one)}", indent=2)
            if one.text:
                out.print_line(one.text, indent=4, rows=2)


def print_header(doc: CaseDocument, out: Printer, verbose: int) -> None:
    """Print what the case is: its machines, the time its logs span, how complete it is."""
    case = doc.case
    out.print_line(out.make_text(case.name or "case", "bold"))
    if case.masked:
        by_map = f" (map of names: {case.map})" if case.map else ""
        out.print_line(f"redacted: names and addresses are replaced{by_map}", indent=2)
    print_machines(doc, out, verbose)
    if case.span and len(doc.nodes) > 1:
        span = format_span(case.span.first, case.span.last)
        out.print_line(f"logs {span}", indent=2)
    if case.incident:
        out.print_line(incident.summarize_incident(doc), indent=2)
    style = ""
    if not completeness.is_complete(doc):
        style = "bold yellow"
    material = f"material {completeness.describe_completeness(doc)}"
    out.print_line(out.make_text(material, style), indent=2)
    unread = completeness.list_unread(doc)
    for source in unread[:UNREAD]:
        line_style = style
        if source.state == "other":
            line_style = ""
        text = completeness.describe_unread(source)
        out.print_line(out.make_text(text, line_style), indent=4)
    more = len(unread) - UNREAD
    if more > 0:
        out.print_line(f"and {more:,} more, see the report", indent=4)


def print_machines(doc: CaseDocument, out: Printer, verbose: int) -> None:
    """Print the machines of the case; without -v many that are alike as one."""
    alone = doc.nodes
    if not verbose:
        alone, crowds = machines.split_header(doc.nodes)
        for crowd in crowds:
            title = out.make_text(crowd.title, "bold")
            facts = "; ".join(filter(None, [crowd.span, crowd.versions]))
            out.print_line(title, "  ", facts, indent=2)
            for remark in crowd.remarks[:UNREAD]:
                out.print_line("note: ", remark, indent=4)
            more = len(crowd.remarks) - UNREAD
            if more > 0:
                out.print_line(f"and {more:,} more notes, see the report", indent=4)
    for node in alone:
        title = out.make_text(machines.name_node(node), "bold")
        facts = "; ".join(view.list_facts(node))
        out.print_line(title, "  ", facts, indent=2)
        for warning in node.warnings:
            out.print_line("note: ", warning, indent=4)


def print_findings(doc: CaseDocument, out: Printer, verbose: int) -> None:
    """Print the findings, the worst first, each with its title and what is below it."""
    rows = finding_rows.list_rows(doc)
    numbers = finding_rows.number_findings(doc)
    usual = view.find_usual_status(doc)
    status = view.describe_usual_status(doc, usual)
    if status:
        out.print_line(status, style="dim")
    earlier_fixes = finding_rows.find_earlier_fixes(doc, rows)
    for row in rows:
        first = row.first
        marks = view.list_marks(first, usual)
        mark = ""
        if marks:
            mark = f" [{', '.join(marks)}]"
        articles = "".join(f", KB {article}" for article in first.kb)
        out.print_line()
        out.print_line(
            f"{finding_rows.number_row(row, numbers)}. ",
            out.make_text(row.weight, STYLES.get(row.word, "bold")),
            "  ",
            out.make_text(one_line(first.title), "bold"),
            f"  ({first.rule}{articles}){mark}",
        )
        if row.word == "error":
            print_broken_rule(row, out, verbose)
        else:
            print_row(row, doc, out, verbose, earlier_fixes.get(first.id))
    if not rows and finding_rows.list_unknowns(doc):
        out.print_line("Not everything could be judged.")


def print_broken_rule(row: FindingGroup, out: Printer, verbose: int) -> None:
    """Print why a rule broke."""
    if len(row.findings) > 1 and row.is_same("say"):
        _print_alike(row, out, verbose)
    for finding in row.findings:
        if "\n" in finding.say:  # the place in a rule file, with its caret
            out.print_exact(finding.say, 2)
        else:
            out.print_line(finding.say, indent=2)


def _print_alike(row: FindingGroup, out: Printer, verbose: int) -> None:
    """Print many subjects with the same sentence: their names, then the sentence once."""
    names = join_few(row.names, 60 if verbose else SUBJECTS)
    head = out.make_text(f"{len(row.findings):,} objects: ", "bold")
    out.print_line(head, names, indent=2)
    notes = []
    if row.has_same_notes:
        notes = finding_rows.list_notes(row.first)
    out.print_line(" ".join([row.first.say, *notes]), indent=2)


def print_row(
    row: FindingGroup, doc: CaseDocument, out: Printer, verbose: int, earlier_fix: Finding | None
) -> None:
    """Print what is below the title of a row; `earlier_fix` is the finding above that shows the same fix."""
    alike = len(row.findings) > 1 and row.is_same("say")
    if alike:
        _print_alike(row, out, verbose)
    shown = row.findings
    if not verbose:
        shown = shown[: 1 if alike else SUBJECTS]
    for finding in shown:
        if not alike or verbose:
            print_subject(finding, out, with_sentence=not alike)
        print_proof(finding, doc, out, verbose)
    if not alike and len(row.findings) > len(shown):
        out.print_line(f"and {len(row.findings) - len(shown):,} more objects", indent=2)
    for line in filter(None, [*finding_rows.list_unchecked(doc, row), row.worse]):
        out.print_line(line, indent=2)
    nodes = finding_rows.count_by_node(row, NODES)
    if nodes:
        out.print_line(out.make_text("objects per node  ", "bold"), nodes, indent=2)
    if earlier_fix is not None:
        where = finding_rows.refer_to_fix(earlier_fix)
        out.print_line(out.make_text("fix  ", "bold"), where, indent=2)
        return
    if finding_rows.has_one_fix(doc, row):
        _print_fix(row.first, doc, out, verbose, of="")
    else:
        for finding in shown:
            _print_fix(finding, doc, out, verbose, of=f"{finding.subject}: ")
    if row.first.caution:
        out.print_line(out.make_text("caution  ", "bold"), row.first.caution, indent=2)


def print_subject(finding: Finding, out: Printer, *, with_sentence: bool) -> None:
    """Print the subject of a finding and its node, and what is wrong with it."""
    subject, node = finding.subject, finding.node
    text = ""
    if node and not finding_rows.is_node_named(finding):
        text = f" on {node}"
    sentence = " ".join([finding.say, *finding_rows.list_notes(finding)])
    if with_sentence and sentence:
        text += f": {sentence}"
    out.print_line(out.make_text(subject, "bold"), text, indent=2)


def print_proof(finding: Finding, doc: CaseDocument, out: Printer, verbose: int) -> None:
    """Print the causes of a finding and its lines of evidence."""
    for lead, cause in view.describe_causes(doc, finding):
        out.print_line(out.make_text(f"{lead.lower()}  ", "bold"), cause, indent=2)
    cited = merge_cited(finding.evidence)
    if verbose:
        shown = cited
    else:
        shown = cited[:PLACES]
    for evidence in shown:
        label = bound_line(evidence.label, LINE)
        out.print_exact(f"{write_place(evidence)}  {label}", 2, "dim")
        if verbose:
            out.print_exact(bound_middle(evidence.text.strip(), LINE), 6)
    if len(cited) > len(shown):
        more = count_more_evidence(len(cited) - len(shown))
        out.print_line(out.make_text(more, "dim"), indent=2)
    if verbose > 1 and finding.trace:
        _print_trace(finding.trace, out, 2)


def _print_trace(trace: Trace, out: Printer, indent: int) -> None:
    """Print a line of a trace and what is below it."""
    place = "Backline's catalog"
    if not is_of_catalog(trace.at):
        place = trace.at
    out.print_line(
        f"{trace.text}: ",
        out.make_text(word_answer(trace.value), "bold"),
        f"  ({trace.note})" if trace.note else "",
        f"  from {place}" if place else "",
        indent=min(indent, 40),
    )
    for child in trace.children:
        _print_trace(child, out, indent + 2)


def _print_fix(finding: Finding, doc: CaseDocument, out: Printer, verbose: int, *, of: str) -> None:
    """Print the steps of a finding; those of a sign are folded to one line until its cause is mended.

    of  the object that the steps are for, where they are not for all of the row
    """
    steps = finding.fix
    head = out.make_text("fix  ", "bold")
    if steps and not verbose and finding_rows.waits_for_cause(doc, finding):
        later = count_noun(len(steps), "step", "steps")
        when = "in the report, only if it still happens after that"
        out.print_line(head, f"{of}{later} {when}", indent=2)
        return
    for step in steps:
        text = f"{of}{step.where}: {step.do}".rstrip(": ")
        note = ""
        if step.note:
            note = f"  ({step.note})"
        out.print_line(head, text, note, indent=2)
        if step.run:
            out.print_exact(step.run, 7)
        if step.caution:
            out.print_line(out.make_text("caution  ", "bold"), step.caution, indent=7)


def print_questions(doc: CaseDocument, out: Printer) -> None:
    """Print what could not be judged and what to ask for."""
    out.print_line()
    out.print_line("CANNOT TELL", style="bold")
    damaged = open_asks.list_damaged_files(doc)
    if damaged:
        names = join_few(damaged, 6)
        out.print_line(f"ask for {names} again: cut short or damaged", indent=2)
    for question in open_asks.list_pressing(doc):
        title = ""
        if question.title:
            title = f"{question.title}: "
        out.print_line(out.make_text(title, "bold"), question.reason, indent=2)
        needed_by = f"needed by {join_few(question.rules, 6)}"
        if question.subjects:
            needed_by += f"; for {join_few(question.subjects, SUBJECTS)}"
        out.print_line(needed_by, indent=4)
        if question.asks:
            out.print_line(out.make_text("ask for", "bold"), indent=4)
        for ask in question.asks[:SUBJECTS]:
            _print_ask(ask, out)
        more = len(question.asks) - SUBJECTS
        if more > 0:
            out.print_line(f"and {more:,} more of this kind, see the report", indent=4)
    folded = open_asks.describe_folded(doc)
    if folded:
        out.print_line(f"{folded}; see the report", indent=2)
        for offer in open_asks.list_offers(doc):
            where = ""
            if offer.nodes:
                where = f" on {join_few(offer.nodes, 3)}"
            settles = out.make_text(f"{offer.settles}{where}", "bold")
            out.print_line(settles, " need", indent=4)
            _print_ask(offer.ask, out)


def _print_ask(ask: WantedAsk, out: Printer) -> None:
    """Print a thing to ask for: a command alone in its line, its remarks below."""
    if not ask.command:
        out.print_line(ask.phrase, indent=6)
        return
    out.print_exact(ask.what, indent=6)
    if ask.remarks:
        out.print_line(ask.remark, indent=8)


def print_harmless(lines: list[HarmlessLine], out: Printer) -> None:
    """Print lines that look bad and are not, under their heading."""
    out.print_line()
    out.print_line("LOOKS BAD, IS NOT", style="bold")
    for line in lines:
        seen = count_noun(line.count, "time", "times")
        on = ""
        if line.node:
            on = f" on {line.node}"
        title = out.make_text(line.title, "bold")
        out.print_line(title, f": harmless, seen {seen}{on}. {line.text}", indent=2)
        out.print_exact(write_place(line), 4, "dim")
        if line.unless:
            out.print_line(f"Check it when {line.unless}.", indent=4)


def print_local_settings(doc: CaseDocument, out: Printer, verbose: int) -> None:
    """Print what is muted in one line each, and what else local settings changed."""
    notes = local.list_settings_notes(doc)
    if verbose:
        notes += local.list_idle_mutes(doc)
    silenced = view.count_silenced(doc)
    if not silenced and not notes:
        return
    out.print_line()
    if silenced:
        out.print_line(local.write_title(doc).upper(), style="bold")
    for row in finding_rows.group_muted(doc):
        first = row.first
        names = join_few(row.names, SUBJECTS)
        out.print_line(f"{row.word}  {one_line(first.title)}  ({first.rule}): {names}", indent=2)
        out.print_line(f"muted: {first.muted}", indent=4, style="dim")
    for question in open_asks.list_questions(doc, muted=True):
        rules = join_few(question.rules, SUBJECTS)
        out.print_line(f"cannot tell  {question.missing}: for {rules}", indent=2)
        out.print_line(f"muted: {'; '.join(question.muted)}", indent=4, style="dim")
    for note in notes:
        out.print_line(note, indent=2 if silenced else 0)
