"""The case note an engineer pastes into the ticket: plain Markdown, all foreign text escaped."""

from __future__ import annotations

from analyzer.case.asks import markdown_ask
from analyzer.report import (
    completeness,
    crowds,
    finding_rows,
    incident,
    local,
    numbers,
    once,
    open_asks,
    problems,
    view,
    wording,
)
from analyzer.report.doubts import list_notes
from analyzer.report.wording import Doc
from analyzer.runtime.short_lines import bound_middle
from analyzer.runtime.text import code, code_block, for_markdown, one_line

SUBJECTS = 10  # of one row
NODES = 200  # of one row, with their counts
PLACES = 6  # lines of evidence of one subject
PROBLEMS = 20  # that no finding rests on
UNREAD = 10  # files that nobody understood
LINE = 300  # characters of one line of evidence


def render_note(doc: Doc) -> str:
    """Return the case note: header, findings with evidence lines, asks, tool and catalog version."""
    parts = [_write_header(doc), "## Findings", ""]
    rows, known, usual = (
        numbers.list_rows(doc),
        numbers.number_findings(doc),
        view.find_usual_status(doc),
    )
    if not rows:
        parts += [describe_nothing(doc), ""]
    if told := view.describe_usual_status(doc, usual):
        parts += [for_markdown(told), ""]
    fixed = once.find_earlier_fixes(doc, rows)
    for row in rows:
        marks = view.list_marks(row.first, usual)
        parts += _write_row(
            numbers.number_row(row, known), marks, row, doc, fixed.get(row.first["id"])
        )
    parts += _write_problems(doc)
    if finding_rows.list_unknowns(doc):
        parts += ["## Cannot tell", "", *_write_damaged(doc)]
        parts += [line for block in open_asks.list_pressing(doc) for line in _write_question(block)]
        if open_asks.list_folded(doc):
            parts += [f"- {for_markdown(open_asks.describe_folded(doc))}"]
            parts += [*map(_write_offer, open_asks.list_offers(doc)), ""]
    if doc["advice"]:
        parts += [
            "## Also helpful",
            "",
            *(f"- {for_markdown(line)}" for line in open_asks.list_advice(doc)),
            "",
        ]
    parts += _write_local(doc)
    return "\n".join(parts) + "\n" + _write_footer(doc)


def _write_offer(offer: Doc) -> str:
    """Return what settles many questions at once as one line of a list."""
    where = f" on {for_markdown(wording.join_few(offer['nodes'], 3))}" if offer["nodes"] else ""
    return f"  - {offer['settles']}{where} need {_write_ask(offer['asks'][0])}"


def _write_header(doc: Doc) -> str:
    case = doc["case"]
    name, found = case["name"] or "(no name)", view.write_headline(doc)
    lines = [f"# Case {for_markdown(name)}", "", f"{for_markdown(found)}.", ""]
    if case["masked"]:
        lines[2:2] = [
            f"Redacted: names and addresses are replaced{_describe_map(doc)}. The rules judged the original names.",
            "",
        ]
    alone, together = crowds.split_header(doc["nodes"])
    for crowd in together:
        facts = "; ".join(for_markdown(part) for part in (crowd.span, crowd.versions) if part)
        lines.append(f"- **{for_markdown(crowd.title)}**: {facts}")
        lines.append(f"  - All: {for_markdown(', '.join(map(crowds.name_node, crowd.nodes)))}")
        lines += [f"  - Note: {for_markdown(remark)}" for remark in crowd.remarks]
    for node in alone:
        name = for_markdown(node["name"] or node["id"])
        facts = "; ".join(for_markdown(fact) for fact in view.list_facts(node))
        lines.append(f"- **{name}**" + (f": {facts}" if facts else ""))
        lines += [f"  - Note: {for_markdown(warning)}" for warning in node["warnings"]]
    if case["span"]:
        span = wording.format_span(case["span"]["first"], case["span"]["last"])
        lines.append(f"- Logs of the case: {for_markdown(span)}")
    if case["incident"]:
        lines.append(f"- {for_markdown(incident.summarize_incident(doc))}")
        without = [one for one in incident.list_answers(doc) if not one.covers]
        lines += [
            f"  - {for_markdown(f'{one.log} of {one.node} {one.said}')}" for one in without[:UNREAD]
        ]
        lines += [f"  - and {len(without) - UNREAD:,} more"] if len(without) > UNREAD else []
    lines.append(f"- Material: {for_markdown(completeness.describe_completeness(doc))}")
    lines += [f"- {for_markdown(line)}" for line in finding_rows.list_cuts(doc)]
    unread = completeness.list_unread(doc)
    lines += [
        f"  - {for_markdown(completeness.describe_unread(source))}" for source in unread[:UNREAD]
    ]
    lines += [f"  - and {len(unread) - UNREAD:,} more"] if len(unread) > UNREAD else []
    return "\n".join([*lines, ""])


def _write_problems(doc: Doc) -> list[str]:
    """Return what hosts themselves call a problem and no finding rests on."""
    if not doc["problems"]:
        return []
    names, standing = crowds.name_nodes(doc), problems.list_standing(doc)
    lines = [f"## {problems.TITLE}", "", f"{for_markdown(problems.summarize_problems(doc))}.", ""]
    for one in standing[:PROBLEMS]:
        node, said = names.get(one["node"], one["node"]), one["title"] and f": {one['title']}"
        what = f"{one['count']:,} x {problems.name_kind(one)} {problems.name_problem(one)}{said}"
        told = [
            what,
            f"on {node}" if node else "",
            problems.describe_times(one),
            ", ".join(problems.list_places(one)),
        ]
        lines.append(f"- {for_markdown('; '.join(filter(None, told)))}")
    lines += (
        [f"- and {len(standing) - PROBLEMS:,} more, see the report"]
        if len(standing) > PROBLEMS
        else []
    )
    return [*lines, ""]


def _write_local(doc: Doc) -> list[str]:
    """Return that something was muted or changed; what was muted stays in the report and out of the ticket."""
    lines = [f"- {for_markdown(line)}" for line in local.list_settings_notes(doc)]
    if view.count_silenced(doc):
        rules = {row.first["rule"] for row in finding_rows.group_muted(doc)}
        rules |= {
            rule for block in open_asks.list_questions(doc, muted=True) for rule in block["rules"]
        }
        lines.insert(
            0,
            f"- {local.write_title(doc)} ({for_markdown(wording.join_few(sorted(rules), 12))}); see the report.",
        )
    return ["## Local settings", "", *lines, ""] if lines else []


def describe_nothing(doc: Doc) -> str:
    """Return the sentence for a case without a finding."""
    looked = len(view.list_quiet(doc))
    said = completeness.describe_nothing(doc)
    said = for_markdown(f"{said[0].upper()}{said[1:]}; {looked:,} rules looked.")
    return said + (
        " See below for what could not be judged." if finding_rows.list_unknowns(doc) else ""
    )


def _write_row(
    number: str, marks: list[str], row: finding_rows.FindingGroup, doc: Doc, fixed: Doc | None
) -> list[str]:
    first = row.first
    word = "RULE BROKE" if row.word == "error" else row.word.upper()
    weight = " ".join(part for part in (word, row.confidence) if part)
    out = [f"### {number}. {weight}: {for_markdown(first['title'])}", ""]
    if len(row.findings) > 1 and row.is_same("say"):
        out += _write_alike(row, doc)
    else:
        for finding in row.findings[:SUBJECTS]:
            out += _write_finding(finding, doc, PLACES if len(row.findings) == 1 else 1)
        if nodes := finding_rows.count_by_node(row, NODES):
            out += [f"Objects per node: {for_markdown(nodes)}", ""]
        if rest := row.findings[SUBJECTS:]:
            out += [
                f"{len(rest):,} more: {for_markdown(wording.join_few(finding_rows.FindingGroup(rest).names, 60))}",
                "",
            ]
    out += [f"- {_write_doubt(line)}" for line in finding_rows.list_unchecked(doc, row)]
    out += [f"- {for_markdown(row.worse)}"] if row.worse else []
    if fixed is not None:
        out.append(f"- Fix: {for_markdown(once.refer_to_fix(fixed))}")
    else:
        out += _write_fixes(row, doc)
    if first["caution"] and fixed is None:
        out.append(f"- Caution: {for_markdown(first['caution'])}")
    out += [f"- Not this: {for_markdown(line)}" for line in first["not_this"]]
    known = [f"KB {number}: {wording.link_article(number)}" for number in first["kb"]]
    known += [f"issue {number}" for number in first["issues"]]
    mark = f" ({for_markdown(', '.join(marks))})" if marks else ""
    out.append(
        f"- Rule {for_markdown(first['rule'])}{mark}" + (f"; {'; '.join(known)}" if known else "")
    )
    return [*out, ""]


def _write_fixes(row: finding_rows.FindingGroup, doc: Doc) -> list[str]:
    """Return the steps of a row; one that helps only some of its objects says which."""
    shown = row.findings[: 1 if view.has_one_fix(doc, row) else SUBJECTS]
    waiting = [
        finding for finding in shown if finding["fix"] and view.waits_for_cause(doc, finding)
    ]
    of = "" if len(waiting) == len(shown) else f" for {_name_subjects(waiting)}"
    out = [f"- The steps{of} below are only for what still happens afterwards."] if waiting else []
    steps: dict[tuple[tuple[str, str], ...], list[Doc]] = {}
    for finding in shown:
        for step in finding["fix"]:
            steps.setdefault(tuple(step.items()), []).append(finding)
    for step, findings in steps.items():
        out += _write_step(
            dict(step), "" if len(findings) == len(shown) else f" for {_name_subjects(findings)}"
        )
    return out


def _name_subjects(findings: list[Doc]) -> str:
    return for_markdown(wording.join_few(finding_rows.FindingGroup(findings).names, SUBJECTS))


def _write_finding(finding: Doc, doc: Doc, most: int) -> list[str]:
    said = " ".join([finding["say"], *list_notes(finding)])
    out = [
        f"**{for_markdown(finding['subject'])}** ({for_markdown(finding['node'])}): {for_markdown(said)}"
    ]
    out += _write_causes(finding, doc)
    return ["\\\n".join(out), "", *_write_evidence(finding["evidence"], most)]


def _write_causes(finding: Doc, doc: Doc) -> list[str]:
    return [f"{lead}: {for_markdown(cause)}" for lead, cause in view.describe_causes(doc, finding)]


def _write_doubt(line: str) -> str:
    """Return what could not be checked as Markdown; commands to ask for are code."""
    said, _, ask = line.partition(" Ask for: ")
    return for_markdown(said) + (f" Ask for: {markdown_ask(ask.removesuffix('.'))}." if ask else "")


def _write_alike(row: finding_rows.FindingGroup, doc: Doc) -> list[str]:
    """Return many subjects of which the same is said: the sentence once, the names, one line of three."""
    names = for_markdown(wording.join_few(row.names, 60))
    said = " ".join([row.first["say"], *(list_notes(row.first) if row.same_notes else [])])
    evidence = [place for finding in row.findings[:3] for place in finding["evidence"][:1]]
    first = f"**{len(row.findings):,} objects**: {for_markdown(said)}"
    causes = _write_causes(row.first, doc) if row.is_same("explained_by") else []
    return [
        "\\\n".join([first, *causes]),
        "",
        f"They are: {names}",
        "",
        *_write_evidence(evidence, 3),
    ]


def _write_step(step: Doc, of: str) -> list[str]:
    """Return a step of a remedy; `of` names the objects it helps where it does not help all."""
    out = [f"- Fix{of}, {for_markdown(step['where'])}: {for_markdown(step['do'])}".rstrip(": ")]
    if step["note"]:
        out.append(f"  - {for_markdown(step['note'])}")
    if step["caution"]:
        out.append(f"  - Caution: {for_markdown(step['caution'])}")
    if step["run"]:
        out += ["", code_block(step["run"]), ""]
    return out


def _write_evidence(evidence: list[Doc], most: int) -> list[str]:
    """Return places and their lines as a block of code."""
    lines, evidence = [], wording.merge_cited(evidence)
    for place in evidence[:most]:
        lines.append(one_line(f"{wording.write_place(place)}  {place['label']}"))
        lines.append(f"    {bound_middle(place['text'].strip(), LINE)}")
    if len(evidence) > most:
        lines.append(wording.count_more_evidence(len(evidence) - most))
    return [code_block("\n".join(lines)), ""] if lines else []


def _write_damaged(doc: Doc) -> list[str]:
    names = wording.join_few(open_asks.list_damaged_files(doc), 6)
    said = "cut short or damaged. A complete file may answer many of the questions below."
    return [f"Ask for {for_markdown(names)} again: {said}", ""] if names else []


def _write_question(block: Doc) -> list[str]:
    title, why = open_asks.split_heading(block)
    out = [
        f"- **{for_markdown(title)}**: {for_markdown(why)}"
        if title
        else f"- **{for_markdown(why)}**"
    ]
    out.append(f"  - needed by: {for_markdown(wording.join_few(block['rules'], 12))}")
    if block["subjects"]:
        out.append(f"  - for: {for_markdown(wording.join_few(block['subjects'], 12))}")
    out += [f"  - ask for: {_write_ask(ask)}" for ask in block["asks"]]
    return [*out, ""]


def _write_ask(ask: Doc) -> str:
    """Return a thing to ask for as one line of Markdown: a command as code, words made harmless."""
    if not ask["command"]:
        return for_markdown(open_asks.phrase_ask(ask))
    return " ".join([code(ask["what"]), *filter(None, [for_markdown(open_asks.join_remarks(ask))])])


def _describe_map(doc: Doc) -> str:
    """Return by which map of names a document was redacted; documents that were not have none."""
    known = doc["case"].get("map", "")
    return f" by pseudonyms (map of names: {for_markdown(known)})" if known else ""


def _write_footer(doc: Doc) -> str:
    tool = doc["tool"]
    masked = f"Names and addresses are {'' if doc['case']['masked'] else 'not '}masked{_describe_map(doc)}."
    made = f"Backline {tool['version']}, catalog {tool['catalog']} ({tool['rules']:,} rules)."
    return f"---\n\n{for_markdown(made)} {for_markdown(completeness.describe_coverage(doc))} {masked}\n"
