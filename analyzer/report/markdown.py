"""The case note an engineer pastes into the ticket: plain Markdown, all foreign text escaped."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from analyzer.case.asks import markdown_ask
from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Evidence, Finding, Fix
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
from analyzer.report.wording import (
    count_more_evidence,
    format_span,
    join_few,
    link_article,
    merge_cited,
    write_place,
)
from analyzer.runtime.short_lines import bound_middle
from analyzer.runtime.text import code_block, code_span, for_markdown, one_line

SUBJECTS = 10  # of one row
NODES = 200  # of one row, with their counts
PLACES = 6  # lines of evidence of one subject
UNREAD = 10  # files that were not understood
LINE = 300  # characters of one line of evidence


def render_note(doc: CaseDocument) -> str:
    """Return the case note: header, findings with evidence lines, asks, tool and catalog version."""
    lines = [*write_header(doc), "", "## Findings", ""]
    rows = finding_rows.list_rows(doc)
    numbers = finding_rows.number_findings(doc)
    if not rows:
        lines += [describe_nothing(doc), ""]
    usual = view.find_usual_status(doc)
    status = view.describe_usual_status(doc, usual)
    if status:
        lines += [for_markdown(status), ""]
    earlier_fixes = finding_rows.find_earlier_fixes(doc, rows)
    for row in rows:
        number = finding_rows.number_row(row, numbers)
        lines += write_row(number, usual, row, doc, earlier_fixes.get(row.first.id))
    if doc.signals:
        lines += write_signals(doc)
    if finding_rows.list_unknowns(doc):
        lines += write_questions(doc)
    if doc.advice:
        lines += ["## Also helpful", ""]
        lines += [f"- {for_markdown(line)}" for line in open_asks.list_advice(doc)]
        lines.append("")
    lines += write_local_settings(doc)
    tool = doc.tool
    masked = f"Names and addresses are {'' if doc.case.masked else 'not '}masked"
    made = f"Backline {tool.version}, catalog {tool.catalog} ({tool.rules:,} rules)."
    coverage = for_markdown(completeness.describe_coverage(doc))
    footer = f"{for_markdown(made)} {coverage} {masked}{_name_map(doc)}.\n"
    return "\n".join([*lines, "---", "", footer])


def describe_nothing(doc: CaseDocument) -> str:
    """Return the sentence for a case without a finding."""
    looked = len(view.list_quiet(doc))
    nothing = completeness.describe_nothing(doc)
    sentence = nothing[0].upper() + nothing[1:]
    text = for_markdown(f"{sentence}; {looked:,} rules looked.")
    if finding_rows.list_unknowns(doc):
        text += " See below for what could not be judged."
    return text


def write_header(doc: CaseDocument) -> list[str]:
    """Return what the case is: its machines, the time its logs span, how complete it is."""
    case = doc.case
    lines = [f"# Case {for_markdown(case.name or '(no name)')}", ""]
    if case.masked:
        replaced = f"Redacted: names and addresses are replaced{_name_map(doc)}."
        lines += [f"{replaced} The rules judged the original names.", ""]
    headline = view.write_headline(doc)
    lines += [f"{for_markdown(headline)}.", ""]
    lines += write_machines(doc)
    if case.span:
        span = format_span(case.span.first, case.span.last)
        lines.append(f"- Logs of the case: {for_markdown(span)}")
    if case.incident:
        summary = incident.summarize_incident(doc)
        lines.append(f"- {for_markdown(summary)}")
        gaps = [one for one in incident.list_answers(doc) if not one.covers]
        lines += _write_some([f"{one.log} of {one.node} {one.text}" for one in gaps])
    material = completeness.describe_completeness(doc)
    lines.append(f"- Material: {for_markdown(material)}")
    for cut in finding_rows.list_cuts(doc):
        lines.append(f"- {for_markdown(cut)}")
    unread = completeness.list_unread(doc)
    lines += _write_some([completeness.describe_unread(source) for source in unread])
    return lines


def write_machines(doc: CaseDocument) -> list[str]:
    """Return the machines of the case as a list, many that are alike as one item."""
    lines = []
    alone, crowds = machines.split_header(doc.nodes)
    for crowd in crowds:
        title = for_markdown(crowd.title)
        facts = "; ".join(for_markdown(part) for part in (crowd.span, crowd.versions) if part)
        names = ", ".join(map(machines.name_node, crowd.nodes))
        lines.append(f"- **{title}**: {facts}")
        lines.append(f"  - All: {for_markdown(names)}")
        for remark in crowd.remarks:
            lines.append(f"  - Note: {for_markdown(remark)}")
    for node in alone:
        name = for_markdown(machines.name_node(node))
        item = f"- **{name}**"
        facts = "; ".join(map(for_markdown, view.list_facts(node)))
        if facts:
            item += f": {facts}"
        lines.append(item)
        for warning in node.warnings:
            lines.append(f"  - Note: {for_markdown(warning)}")
    return lines


def _write_some(texts: list[str]) -> list[str]:
    """Return the first texts as an inner list, the rest counted."""
    lines = [f"  - {for_markdown(text)}" for text in texts[:UNREAD]]
    if len(texts) > UNREAD:
        lines.append(f"  - and {len(texts) - UNREAD:,} more")
    return lines


def _name_map(doc: CaseDocument) -> str:
    """Return by which map of names a document was redacted; one that was not redacted has none."""
    name = doc.case.map or ""
    if name:
        return f" by pseudonyms (map of names: {for_markdown(name)})"
    return ""


def write_row(
    number: str, usual: str, row: FindingGroup, doc: CaseDocument, earlier_fix: Finding | None
) -> list[str]:
    """Return a row of the findings; `earlier_fix` is the finding above that shows the same fix."""
    first = row.first
    title = for_markdown(first.title)
    lines = [f"### {number}. {row.weight}: {title}", ""]
    if len(row.findings) > 1 and row.is_same("say"):
        lines += write_alike(row, doc)
    else:
        lines += write_each(row, doc)
    for line in finding_rows.list_unchecked(doc, row):
        doubt, _, ask = line.partition(" Ask for: ")
        doubt = for_markdown(doubt)
        if ask:
            doubt += f" Ask for: {markdown_ask(ask.removesuffix('.'))}."
        lines.append(f"- {doubt}")
    if row.worse:
        lines.append(f"- {for_markdown(row.worse)}")
    if earlier_fix is not None:
        lines.append(f"- Fix: {for_markdown(finding_rows.refer_to_fix(earlier_fix))}")
    else:
        lines += write_fixes(row, doc)
        if first.caution:
            lines.append(f"- Caution: {for_markdown(first.caution)}")
    lines += [f"- Not this: {for_markdown(line)}" for line in first.not_this]
    known = [f"- Rule {for_markdown(first.rule)}"]
    marks = view.list_marks(first, usual)
    if marks:
        known[0] += f" ({for_markdown(', '.join(marks))})"
    known += [f"KB {number}: {link_article(number)}" for number in first.kb]
    known += [f"issue {number}" for number in first.issues]
    return [*lines, "; ".join(known), ""]


def write_each(row: FindingGroup, doc: CaseDocument) -> list[str]:
    """Return the subjects of a row one by one: the sentence of each and its lines; the rest by name."""
    most = PLACES if len(row.findings) == 1 else 1
    lines = []
    for finding in row.findings[:SUBJECTS]:
        subject = for_markdown(finding.subject)
        node = for_markdown(finding.node)
        sentences = for_markdown(" ".join([finding.say, *finding_rows.list_notes(finding)]))
        paragraph = [f"**{subject}** ({node}): {sentences}", *_write_causes(finding, doc)]
        lines += ["\\\n".join(paragraph), "", *_write_evidence(finding.evidence, most)]
    nodes = finding_rows.count_by_node(row, NODES)
    if nodes:
        lines += [f"Objects per node: {for_markdown(nodes)}", ""]
    rest = row.findings[SUBJECTS:]
    if rest:
        names = join_few(FindingGroup(rest).names, 60)
        lines += [f"{len(rest):,} more: {for_markdown(names)}", ""]
    return lines


def write_alike(row: FindingGroup, doc: CaseDocument) -> list[str]:
    """Return many subjects with the same sentence: the sentence once, the names, one line of three."""
    notes = []
    if row.has_same_notes:
        notes = finding_rows.list_notes(row.first)
    sentences = for_markdown(" ".join([row.first.say, *notes]))
    lines = [f"**{len(row.findings):,} objects**: {sentences}"]
    if row.is_same("explained_by"):
        lines += _write_causes(row.first, doc)
    names = for_markdown(join_few(row.names, 60))
    evidence = []
    for finding in row.findings[:3]:
        evidence += finding.evidence[:1]
    return ["\\\n".join(lines), "", f"They are: {names}", "", *_write_evidence(evidence, 3)]


def _write_causes(finding: Finding, doc: CaseDocument) -> list[str]:
    causes = view.describe_causes(doc, finding)
    return [f"{lead}: {for_markdown(cause)}" for lead, cause in causes]


def _write_evidence(evidence: list[Evidence], most: int) -> list[str]:
    """Return places and their lines as a block of code."""
    cited = merge_cited(evidence)
    lines = []
    for place in cited[:most]:
        lines.append(one_line(f"{write_place(place)}  {place.label}"))
        lines.append(f"    {bound_middle(place.text.strip(), LINE)}")
    if len(cited) > most:
        lines.append(count_more_evidence(len(cited) - most))
    if lines:
        return [code_block("\n".join(lines)), ""]
    return []


def write_fixes(row: FindingGroup, doc: CaseDocument) -> list[str]:
    """Return the steps of a row; one that helps only some of its objects says which."""
    shown = row.findings[:SUBJECTS]
    if finding_rows.has_one_fix(doc, row):
        shown = row.findings[:1]
    waiting = [one for one in shown if one.fix and finding_rows.waits_for_cause(doc, one)]
    lines = []
    if waiting:
        whose = _name_helped(waiting, shown)
        lines.append(f"- The steps{whose} below are only for what still happens afterwards.")
    findings_by_step: dict[tuple[Any, ...], tuple[Fix, list[Finding]]] = {}
    for finding in shown:
        for step in finding.fix:
            known = findings_by_step.setdefault(structs.astuple(step), (step, []))
            known[1].append(finding)
    for step, findings in findings_by_step.values():
        whose = _name_helped(findings, shown)
        where = for_markdown(step.where)
        fix = f"- Fix{whose}, {where}: {for_markdown(step.do)}"
        lines.append(fix.rstrip(": "))
        if step.note:
            lines.append(f"  - {for_markdown(step.note)}")
        if step.caution:
            lines.append(f"  - Caution: {for_markdown(step.caution)}")
        if step.run:
            lines += ["", code_block(step.run), ""]
    return lines


def _name_helped(findings: list[Finding], shown: list[Finding]) -> str:
    """Return for which objects a step is; empty where it is for all that are shown."""
    if len(findings) == len(shown):
        return ""
    return f" for {for_markdown(join_few(FindingGroup(findings).names, SUBJECTS))}"


def write_signals(doc: CaseDocument) -> list[str]:
    """Return the signs of trouble that no finding rests on, each with its line."""
    names, likely = machines.name_nodes(doc), signals.list_likely(doc)
    lines = [f"## {signals.TITLE}", "", f"{for_markdown(signals.summarize_signals(doc))}.", ""]
    shown = [
        *signals.list_lines(likely)[: signals.FIRST],
        *signals.list_cells(likely)[: signals.FIRST],
    ]
    for one in shown:
        node = names.get(one.node, one.node)
        words = f"{one.what}; {signals.describe_signal(one)}"
        if one.kind == "line":
            words = signals.describe_signal(one)
        elif one.kind != "cell":
            words = f"{signals.name_kind(one)} {signals.name_signal(one)}; {signals.describe_signal(one)}"
        parts = [words, f"on {node}" if node else "", ", ".join(signals.list_places(one))]
        lines.append(f"- {for_markdown('; '.join(filter(None, parts)))}")
        if one.text:
            lines.append(f"  {code_span(one_line(one.text, LINE))}")
    if len(likely) > len(shown):
        lines.append(f"- and {len(likely) - len(shown):,} more, see the report")
    return [*lines, ""]


def write_questions(doc: CaseDocument) -> list[str]:
    """Return what could not be judged, and what to ask for."""
    lines = ["## Cannot tell", ""]
    damaged = open_asks.list_damaged_files(doc)
    if damaged:
        names = for_markdown(join_few(damaged, 6))
        answers = "A complete file may answer many of the questions below."
        lines += [f"Ask for {names} again: cut short or damaged. {answers}", ""]
    for question in open_asks.list_pressing(doc):
        why = for_markdown(question.reason)
        if question.title:
            head = f"**{for_markdown(question.title)}**: {why}"
        else:
            head = f"**{why}**"
        lines.append(f"- {head}")
        lines.append(f"  - needed by: {for_markdown(join_few(question.rules, 12))}")
        if question.subjects:
            lines.append(f"  - for: {for_markdown(join_few(question.subjects, 12))}")
        lines += [f"  - ask for: {_write_ask(ask)}" for ask in question.asks]
        lines.append("")
    folded = open_asks.describe_folded(doc)
    if folded:
        lines.append(f"- {for_markdown(folded)}")
        for offer in open_asks.list_offers(doc):
            where = ""
            if offer.nodes:
                where = f" on {for_markdown(join_few(offer.nodes, 3))}"
            lines.append(f"  - {offer.settles}{where} need {_write_ask(offer.ask)}")
        lines.append("")
    return lines


def _write_ask(ask: WantedAsk) -> str:
    """Return a thing to ask for as one line of Markdown: a command as code, words made harmless."""
    if not ask.command:
        return for_markdown(ask.phrase)
    remark = for_markdown(ask.remark)
    if remark:
        return f"{code_span(ask.what)} {remark}"
    return code_span(ask.what)


def write_local_settings(doc: CaseDocument) -> list[str]:
    """Return that something was muted or changed; what was muted stays in the report and out of the ticket."""
    lines = []
    if view.count_silenced(doc):
        rules = {row.first.rule for row in finding_rows.group_muted(doc)}
        for question in open_asks.list_questions(doc, muted=True):
            rules |= set(question.rules)
        names = for_markdown(join_few(sorted(rules), 12))
        lines.append(f"- {local.write_title(doc)} ({names}); see the report.")
    lines += [f"- {for_markdown(line)}" for line in local.list_settings_notes(doc)]
    if lines:
        return ["## Local settings", "", *lines, ""]
    return []
