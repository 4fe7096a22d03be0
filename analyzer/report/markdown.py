"""The case note an engineer pastes into the ticket: plain Markdown, all foreign text escaped."""

from __future__ import annotations

from typing import Any

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
from analyzer.report.doubts import notes
from analyzer.runtime.short_lines import bound_middle
from analyzer.runtime.text import code_block, code_span, for_markdown, one_line

Doc = dict[str, Any]

SUBJECTS = 10  # of one row
NODES = 200  # of one row, with their counts
PLACES = 6  # lines of evidence of one subject
PROBLEMS = 20  # that no finding rests on
UNREAD = 10  # files that nobody understood
LINE = 300  # characters of one line of evidence


def render(doc: Doc) -> str:
    """Return the case note: header, findings with evidence lines, asks, tool and catalog version."""
    parts = [_header(doc), "## Findings", ""]
    rows, known, usual = numbers.rows(doc), numbers.numbers(doc), view.usual_status(doc)
    if not rows:
        parts += [nothing(doc), ""]
    if told := view.usual_status_text(doc, usual):
        parts += [for_markdown(told), ""]
    fixed = once.earlier(doc, rows)
    for row in rows:
        marks = view.marks(row.first, usual)
        parts += _row(numbers.of_row(row, known), marks, row, doc, fixed.get(row.first["id"]))
    parts += _problems(doc)
    if finding_rows.unknowns(doc):
        parts += ["## Cannot tell", "", *_again(doc)]
        parts += [line for block in open_asks.pressing(doc) for line in _ask(block)]
        if open_asks.folded(doc):
            parts += [f"- {for_markdown(open_asks.folded_text(doc))}"]
            parts += [*map(_offer, open_asks.offers(doc)), ""]
    if doc["advice"]:
        parts += [
            "## Also helpful",
            "",
            *(f"- {for_markdown(line)}" for line in open_asks.advice(doc)),
            "",
        ]
    parts += _local(doc)
    return "\n".join(parts) + "\n" + _footer(doc)


def _offer(offer: Doc) -> str:
    """Return what settles many questions at once as one line of a list."""
    where = f" on {for_markdown(wording.few(offer['nodes'], 3))}" if offer["nodes"] else ""
    return f"  - {offer['settles']}{where} need {_ask_line(offer['asks'][0])}"


def _header(doc: Doc) -> str:
    case = doc["case"]
    name, found = case["name"] or "(no name)", view.headline(doc)
    lines = [f"# Case {for_markdown(name)}", "", f"{for_markdown(found)}.", ""]
    if case["masked"]:
        lines[2:2] = [
            f"Redacted: names and addresses are replaced{_by(doc)}. The rules judged the original names.",
            "",
        ]
    alone, together = crowds.head(doc["nodes"])
    for crowd in together:
        facts = "; ".join(for_markdown(part) for part in (crowd.span, crowd.versions) if part)
        lines.append(f"- **{for_markdown(crowd.title)}**: {facts}")
        lines.append(f"  - All: {for_markdown(', '.join(map(crowds.name, crowd.nodes)))}")
        lines += [f"  - Note: {for_markdown(remark)}" for remark in crowd.remarks]
    for node in alone:
        name = for_markdown(node["name"] or node["id"])
        facts = "; ".join(for_markdown(fact) for fact in view.facts(node))
        lines.append(f"- **{name}**" + (f": {facts}" if facts else ""))
        lines += [f"  - Note: {for_markdown(warning)}" for warning in node["warnings"]]
    if case["span"]:
        span = wording.span(case["span"]["first"], case["span"]["last"])
        lines.append(f"- Logs of the case: {for_markdown(span)}")
    if case["incident"]:
        lines.append(f"- {for_markdown(incident.summary(doc))}")
        without = [one for one in incident.answers(doc) if not one.covers]
        lines += [
            f"  - {for_markdown(f'{one.log} of {one.node} {one.said}')}" for one in without[:UNREAD]
        ]
        lines += [f"  - and {len(without) - UNREAD:,} more"] if len(without) > UNREAD else []
    lines.append(f"- Material: {for_markdown(completeness.completeness(doc))}")
    lines += [f"- {for_markdown(line)}" for line in finding_rows.cuts(doc)]
    unread = completeness.unread(doc)
    lines += [f"  - {for_markdown(completeness.unread_line(source))}" for source in unread[:UNREAD]]
    lines += [f"  - and {len(unread) - UNREAD:,} more"] if len(unread) > UNREAD else []
    return "\n".join([*lines, ""])


def _problems(doc: Doc) -> list[str]:
    """Return what hosts themselves call a problem and no finding rests on."""
    if not doc["problems"]:
        return []
    names, standing = crowds.names(doc), problems.standing(doc)
    lines = [f"## {problems.TITLE}", "", f"{for_markdown(problems.summary(doc))}.", ""]
    for one in standing[:PROBLEMS]:
        node, said = names.get(one["node"], one["node"]), one["title"] and f": {one['title']}"
        what = f"{one['count']:,} x {problems.word(one)} {problems.name(one)}{said}"
        told = [
            what,
            f"on {node}" if node else "",
            problems.when(one),
            ", ".join(problems.places(one)),
        ]
        lines.append(f"- {for_markdown('; '.join(filter(None, told)))}")
    lines += (
        [f"- and {len(standing) - PROBLEMS:,} more, see the report"]
        if len(standing) > PROBLEMS
        else []
    )
    return [*lines, ""]


def _local(doc: Doc) -> list[str]:
    """Return that something was muted or changed; what was muted stays in the report and out of the ticket."""
    lines = [f"- {for_markdown(line)}" for line in local.settings_notes(doc)]
    if view.silenced(doc):
        rules = {row.first["rule"] for row in finding_rows.muted(doc)}
        rules |= {rule for block in open_asks.asks(doc, muted=True) for rule in block["rules"]}
        lines.insert(
            0,
            f"- {local.title(doc)} ({for_markdown(wording.few(sorted(rules), 12))}); see the report.",
        )
    return ["## Local settings", "", *lines, ""] if lines else []


def nothing(doc: Doc) -> str:
    """Return the sentence for a case without a finding."""
    looked = len(view.quiet(doc))
    said = completeness.nothing(doc)
    said = for_markdown(f"{said[0].upper()}{said[1:]}; {looked:,} rules looked.")
    return said + (" See below for what could not be judged." if finding_rows.unknowns(doc) else "")


def _row(
    number: str, marks: list[str], row: finding_rows.FindingGroup, doc: Doc, fixed: Doc | None
) -> list[str]:
    first = row.first
    word = "RULE BROKE" if row.word == "error" else row.word.upper()
    weight = " ".join(part for part in (word, row.confidence) if part)
    out = [f"### {number}. {weight}: {for_markdown(first['title'])}", ""]
    if len(row.findings) > 1 and row.same("say"):
        out += _alike(row, doc)
    else:
        for finding in row.findings[:SUBJECTS]:
            out += _finding(finding, doc, PLACES if len(row.findings) == 1 else 1)
        if nodes := finding_rows.per_node(row, NODES):
            out += [f"Objects per node: {for_markdown(nodes)}", ""]
        if rest := row.findings[SUBJECTS:]:
            out += [
                f"{len(rest):,} more: {for_markdown(wording.few(finding_rows.FindingGroup(rest).names, 60))}",
                "",
            ]
    out += [f"- {_doubt(line)}" for line in finding_rows.unchecked(doc, row)]
    out += [f"- {for_markdown(row.worse)}"] if row.worse else []
    if fixed is not None:
        out.append(f"- Fix: {for_markdown(once.same_as(fixed))}")
    else:
        out += _fixes(row, doc)
    if first["caution"] and fixed is None:
        out.append(f"- Caution: {for_markdown(first['caution'])}")
    out += [f"- Not this: {for_markdown(line)}" for line in first["not_this"]]
    known = [f"KB {number}: {wording.kb_link(number)}" for number in first["kb"]]
    known += [f"issue {number}" for number in first["issues"]]
    mark = f" ({for_markdown(', '.join(marks))})" if marks else ""
    out.append(
        f"- Rule {for_markdown(first['rule'])}{mark}" + (f"; {'; '.join(known)}" if known else "")
    )
    return [*out, ""]


def _fixes(row: finding_rows.FindingGroup, doc: Doc) -> list[str]:
    """Return the steps of a row; one that helps only some of its objects says which."""
    shown = row.findings[: 1 if view.one_fix(doc, row) else SUBJECTS]
    waiting = [finding for finding in shown if finding["fix"] and view.waits(doc, finding)]
    of = "" if len(waiting) == len(shown) else f" for {_those(waiting)}"
    out = [f"- The steps{of} below are only for what still happens afterwards."] if waiting else []
    steps: dict[tuple[tuple[str, str], ...], list[Doc]] = {}
    for finding in shown:
        for step in finding["fix"]:
            steps.setdefault(tuple(step.items()), []).append(finding)
    for step, findings in steps.items():
        out += _step(dict(step), "" if len(findings) == len(shown) else f" for {_those(findings)}")
    return out


def _those(findings: list[Doc]) -> str:
    return for_markdown(wording.few(finding_rows.FindingGroup(findings).names, SUBJECTS))


def _finding(finding: Doc, doc: Doc, most: int) -> list[str]:
    said = " ".join([finding["say"], *notes(finding)])
    out = [
        f"**{for_markdown(finding['subject'])}** ({for_markdown(finding['node'])}): {for_markdown(said)}"
    ]
    out += _causes(finding, doc)
    return ["\\\n".join(out), "", *_lines(finding["evidence"], most)]


def _causes(finding: Doc, doc: Doc) -> list[str]:
    return [f"{lead}: {for_markdown(cause)}" for lead, cause in view.cause_lines(doc, finding)]


def _doubt(line: str) -> str:
    """Return what could not be checked as Markdown; commands to ask for are code."""
    said, _, ask = line.partition(" Ask for: ")
    return for_markdown(said) + (f" Ask for: {markdown_ask(ask.removesuffix('.'))}." if ask else "")


def _alike(row: finding_rows.FindingGroup, doc: Doc) -> list[str]:
    """Return many subjects of which the same is said: the sentence once, the names, one line of three."""
    names = for_markdown(wording.few(row.names, 60))
    said = " ".join([row.first["say"], *(notes(row.first) if row.same_notes else [])])
    evidence = [place for finding in row.findings[:3] for place in finding["evidence"][:1]]
    first = f"**{len(row.findings):,} objects**: {for_markdown(said)}"
    causes = _causes(row.first, doc) if row.same("explained_by") else []
    return ["\\\n".join([first, *causes]), "", f"They are: {names}", "", *_lines(evidence, 3)]


def _step(step: Doc, of: str) -> list[str]:
    """Return a step of a remedy; `of` names the objects it helps where it does not help all."""
    out = [f"- Fix{of}, {for_markdown(step['where'])}: {for_markdown(step['do'])}".rstrip(": ")]
    if step["note"]:
        out.append(f"  - {for_markdown(step['note'])}")
    if step["caution"]:
        out.append(f"  - Caution: {for_markdown(step['caution'])}")
    if step["run"]:
        out += ["", code_block(step["run"]), ""]
    return out


def _lines(evidence: list[Doc], most: int) -> list[str]:
    """Return places and their lines as a block of code."""
    lines, evidence = [], wording.cited(evidence)
    for place in evidence[:most]:
        lines.append(one_line(f"{wording.place(place)}  {place['label']}"))
        lines.append(f"    {bound_middle(place['text'].strip(), LINE)}")
    if len(evidence) > most:
        lines.append(wording.more_evidence(len(evidence) - most))
    return [code_block("\n".join(lines)), ""] if lines else []


def _again(doc: Doc) -> list[str]:
    names = wording.few(open_asks.send_again(doc), 6)
    said = "cut short or damaged. A complete file may answer many of the questions below."
    return [f"Ask for {for_markdown(names)} again: {said}", ""] if names else []


def _ask(block: Doc) -> list[str]:
    title, why = open_asks.title_and_reason(block)
    out = [
        f"- **{for_markdown(title)}**: {for_markdown(why)}"
        if title
        else f"- **{for_markdown(why)}**"
    ]
    out.append(f"  - needed by: {for_markdown(wording.few(block['rules'], 12))}")
    if block["subjects"]:
        out.append(f"  - for: {for_markdown(wording.few(block['subjects'], 12))}")
    out += [f"  - ask for: {_ask_line(ask)}" for ask in block["asks"]]
    return [*out, ""]


def _ask_line(ask: Doc) -> str:
    """Return a thing to ask for as one line of Markdown: a command as code, words made harmless."""
    if not ask["command"]:
        return for_markdown(open_asks.phrase_ask(ask))
    return " ".join(
        [code_span(ask["what"]), *filter(None, [for_markdown(open_asks.join_remarks(ask))])]
    )


def _by(doc: Doc) -> str:
    """Return by which map of names a document was redacted; documents that were not have none."""
    known = doc["case"].get("map", "")
    return f" by pseudonyms (map of names: {for_markdown(known)})" if known else ""


def _footer(doc: Doc) -> str:
    tool = doc["tool"]
    masked = f"Names and addresses are {'' if doc['case']['masked'] else 'not '}masked{_by(doc)}."
    made = f"Backline {tool['version']}, catalog {tool['catalog']} ({tool['rules']:,} rules)."
    return f"---\n\n{for_markdown(made)} {for_markdown(completeness.coverage(doc))} {masked}\n"
