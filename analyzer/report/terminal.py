"""The case in a terminal: what it is, what is wrong, what could not be judged and what to ask for.

Foreign text passes `for_terminal`, so that it cannot steer the terminal, and
goes out as plain text, never as rich markup. Colour only repeats what a word
says; rich leaves it out for NO_COLOR and when the output is no terminal.
"""

from __future__ import annotations

from rich.console import Console

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
from analyzer.report.summary import STYLES, Printer
from analyzer.report.wording import Doc
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

SUBJECTS = 5  # of one row without -v
NODES = 100  # of one row, with their counts
PLACES = 2  # lines of evidence without -v
NOTES = 5  # remarks on the sources without -v
UNREAD = 5  # files that nobody understood, in the head
LINE = 200  # characters of a line of evidence


def print_case(doc: Doc, console: Console, verbose: int = 0, *, everything: bool = False) -> None:
    """Print the case; `verbose` 1 adds all evidence with its lines, 2 the trace; `everything` harmless lines."""
    out = Printer(console)
    _print_header(doc, out, verbose)
    out.print_line()
    out.print_line(view.write_headline(doc) + ".", style="bold")
    for line in finding_rows.list_cuts(doc):
        out.print_line(line, style="bold yellow")
    _print_findings(doc, out, verbose)
    if doc["problems"]:
        out.print_line()
        out.print_line(
            out.make_text(f"{problems.TITLE}: ", "bold"),
            f"{problems.summarize_problems(doc)}; see the report",
        )
    if finding_rows.list_unknowns(doc):
        _print_questions(doc, out)
    _print_local(doc, out, verbose)
    _print_harmless(doc["harmless"] if everything else [], out)
    if doc["advice"]:
        out.print_line()
        out.print_line("ALSO HELPFUL", style="bold")
        for line in open_asks.list_advice(doc):
            out.print_exact(line, 2)
    out.print_line()
    out.print_line(completeness.describe_coverage(doc), style="dim")
    for limit in doc["limits"]:
        out.print_line(limit)
    for note in doc["notes"][: None if verbose else NOTES]:
        out.print_line("note: ", note)
    if not verbose and len(doc["notes"]) > NOTES:
        out.print_line(f"and {len(doc['notes']) - NOTES:,} more notes, see the report")
    if verbose:
        for item in doc["damage"]:
            offset = "" if item["offset"] is None else f", byte {item['offset']:,}"
            out.print_line(
                f"damaged: {item['address']}{offset}: {item['what']}; left out: {item['left_out']}"
            )


def _print_findings(doc: Doc, out: Printer, verbose: int) -> None:
    usual, known, rows = (
        view.find_usual_status(doc),
        numbers.number_findings(doc),
        numbers.list_rows(doc),
    )
    if told := view.describe_usual_status(doc, usual):
        out.print_line(told, style="dim")
    fixed = once.find_earlier_fixes(doc, rows)
    for row in rows:
        out.print_line()
        _print_title(row, numbers.number_row(row, known), view.list_marks(row.first, usual), out)
        _print_row(row, doc, out, verbose, fixed.get(row.first["id"]))
    if not rows and finding_rows.list_unknowns(doc):
        out.print_line("Not everything could be judged.")


def _print_header(doc: Doc, out: Printer, verbose: int) -> None:
    out.print_line(out.make_text(doc["case"]["name"] or "case", "bold"))
    if doc["case"]["masked"]:
        known = doc["case"].get("map", "")
        out.print_line(
            f"redacted: names and addresses are replaced{f' (map of names: {known})' if known else ''}",
            indent=2,
        )
    alone, together = (doc["nodes"], []) if verbose else crowds.split_header(doc["nodes"])
    for crowd in together:
        out.print_line(
            out.make_text(crowd.title, "bold"),
            "  ",
            "; ".join(filter(None, [crowd.span, crowd.versions])),
            indent=2,
        )
        for remark in crowd.remarks[:UNREAD]:
            out.print_line("note: ", remark, indent=4)
        if len(crowd.remarks) > UNREAD:
            out.print_line(
                f"and {len(crowd.remarks) - UNREAD:,} more notes, see the report", indent=4
            )
    for node in alone:
        out.print_line(
            out.make_text(crowds.name_node(node), "bold"),
            "  ",
            "; ".join(view.list_facts(node)),
            indent=2,
        )
        for warning in node["warnings"]:
            out.print_line("note: ", warning, indent=4)
    if doc["case"]["span"] and len(doc["nodes"]) > 1:
        out.print_line(
            f"logs {wording.format_span(doc['case']['span']['first'], doc['case']['span']['last'])}",
            indent=2,
        )
    if doc["case"]["incident"]:
        out.print_line(incident.summarize_incident(doc), indent=2)
    style = "" if completeness.is_complete(doc) else "bold yellow"
    out.print_line(
        out.make_text(f"material {completeness.describe_completeness(doc)}", style), indent=2
    )
    for source in completeness.list_unread(doc)[:UNREAD]:
        out.print_line(
            out.make_text(
                completeness.describe_unread(source), "" if source["state"] == "other" else style
            ),
            indent=4,
        )
    if len(completeness.list_unread(doc)) > UNREAD:
        out.print_line(
            f"and {len(completeness.list_unread(doc)) - UNREAD:,} more, see the report", indent=4
        )


def _print_title(
    row: finding_rows.FindingGroup, number: str, marks: list[str], out: Printer
) -> None:
    first = row.first
    mark = f" [{', '.join(marks)}]" if marks else ""
    word = "RULE BROKE" if row.word == "error" else row.word.upper()
    kb = "".join(f", KB {number}" for number in first["kb"])
    weight = out.make_text(f"{word} {row.confidence}".rstrip(), STYLES.get(row.word, "bold"))
    title = out.make_text(one_line(first["title"]), "bold")
    out.print_line(f"{number}. ", weight, "  ", title, f"  ({first['rule']}{kb}){mark}")


def _print_row(
    row: finding_rows.FindingGroup, doc: Doc, out: Printer, verbose: int, fixed: Doc | None
) -> None:
    first = row.first
    alike = len(row.findings) > 1 and row.is_same("say")
    if alike:
        most = 60 if verbose else SUBJECTS
        out.print_line(
            out.make_text(f"{len(row.findings):,} objects: ", "bold"),
            wording.join_few(row.names, most),
            indent=2,
        )
        out.print_line(
            " ".join([first["say"], *(list_notes(first) if row.same_notes else [])]), indent=2
        )
    if row.word == "error":
        for finding in row.findings:
            if "\n" in finding["say"]:  # the place in a rule file, with its caret
                out.print_exact(finding["say"], 2)
            else:
                out.print_line(finding["say"], indent=2)
        return
    shown = row.findings if verbose else row.findings[: 1 if alike else SUBJECTS]
    for finding in shown:
        _print_finding(finding, doc, out, verbose, named=not alike or verbose > 0, said=not alike)
    if not alike and len(row.findings) > len(shown):
        out.print_line(f"and {len(row.findings) - len(shown):,} more objects", indent=2)
    for line in filter(None, [*finding_rows.list_unchecked(doc, row), row.worse]):
        out.print_line(line, indent=2)
    if nodes := finding_rows.count_by_node(row, NODES):
        out.print_line(out.make_text("objects per node  ", "bold"), nodes, indent=2)
    if fixed is not None:
        out.print_line(out.make_text("fix  ", "bold"), once.refer_to_fix(fixed), indent=2)
        return
    same = view.has_one_fix(doc, row)
    for finding in row.findings[:1] if same else shown:
        _print_fix(finding, doc, out, verbose, named=not same)
    if first["caution"]:
        out.print_line(out.make_text("caution  ", "bold"), first["caution"], indent=2)


def _print_fix(finding: Doc, doc: Doc, out: Printer, verbose: int, *, named: bool) -> None:
    """Print the steps of a finding; those of a sign are folded to one line until its cause is mended."""
    of = f"{finding['subject']}: " if named else ""
    steps = finding["fix"]
    if steps and not verbose and view.waits_for_cause(doc, finding):
        later = wording.count_noun(len(steps), "step", "steps")
        out.print_line(
            out.make_text("fix  ", "bold"),
            f"{of}{later} in the report, only if it still happens after that",
            indent=2,
        )
        return
    for step in steps:
        said = f"{of}{step['where']}: {step['do']}".rstrip(": ")
        out.print_line(
            out.make_text("fix  ", "bold"),
            said,
            f"  ({step['note']})" if step["note"] else "",
            indent=2,
        )
        if step["run"]:
            out.print_exact(step["run"], 7)
        if step["caution"]:
            out.print_line(out.make_text("caution  ", "bold"), step["caution"], indent=7)


def _print_finding(
    finding: Doc, doc: Doc, out: Printer, verbose: int, *, named: bool, said: bool
) -> None:
    if named:
        what = " ".join([finding["say"], *list_notes(finding)]) if said else ""
        on = (
            f" on {finding['node']}"
            if finding["node"] and finding["node"] not in finding["subject"]
            else ""
        )
        out.print_line(
            out.make_text(finding["subject"], "bold"), f"{on}: {what}" if what else on, indent=2
        )
    for lead, cause in view.describe_causes(doc, finding):
        out.print_line(out.make_text(f"{lead.lower()}  ", "bold"), cause, indent=2)
    places = wording.merge_cited(finding["evidence"])
    for evidence in places[: None if verbose else PLACES]:
        out.print_exact(
            f"{wording.write_place(evidence)}  {bound_line(evidence['label'], LINE)}", 2, "dim"
        )
        if verbose:
            out.print_exact(bound_middle(evidence["text"].strip(), LINE), 6)
    if not verbose and len(places) > PLACES:
        out.print_line(
            out.make_text(wording.count_more_evidence(len(places) - PLACES), "dim"), indent=2
        )
    if verbose > 1 and finding["trace"]:
        _print_trace(finding["trace"], out, 2)


def _print_trace(trace: Doc, out: Printer, indent: int) -> None:
    place = "Backline's catalog" if wording.is_of_catalog(trace["at"]) else trace["at"]
    at = f"  from {place}" if place else ""
    note = f"  ({trace['note']})" if trace["note"] else ""
    out.print_line(
        f"{trace['text']}: ",
        out.make_text(wording.word_answer(trace["value"]), "bold"),
        note,
        at,
        indent=min(indent, 40),
    )
    for child in trace["children"]:
        _print_trace(child, out, indent + 2)


def _print_questions(doc: Doc, out: Printer) -> None:
    out.print_line()
    out.print_line("CANNOT TELL", style="bold")
    if again := open_asks.list_damaged_files(doc):
        out.print_line(
            f"ask for {wording.join_few(again, 6)} again: cut short or damaged", indent=2
        )
    for block in open_asks.list_pressing(doc):
        title, why = open_asks.split_heading(block)
        out.print_line(out.make_text(f"{title}: " if title else "", "bold"), why, indent=2)
        concerns = (
            f"; for {wording.join_few(block['subjects'], SUBJECTS)}" if block["subjects"] else ""
        )
        out.print_line(f"needed by {wording.join_few(block['rules'], 6)}{concerns}", indent=4)
        if block["asks"]:
            out.print_line(out.make_text("ask for", "bold"), indent=4)
        for ask in block["asks"][:SUBJECTS]:
            _print_ask(ask, out)
        if len(block["asks"]) > SUBJECTS:
            out.print_line(
                f"and {len(block['asks']) - SUBJECTS:,} more of this kind, see the report", indent=4
            )
    if open_asks.list_folded(doc):
        out.print_line(f"{open_asks.describe_folded(doc)}; see the report", indent=2)
        for offer in open_asks.list_offers(doc):
            where = f" on {wording.join_few(offer['nodes'], 3)}" if offer["nodes"] else ""
            out.print_line(out.make_text(f"{offer['settles']}{where}", "bold"), " need", indent=4)
            _print_ask(offer["asks"][0], out)


def _print_ask(ask: Doc, out: Printer) -> None:
    """Print a thing to ask for: a command alone in its line, its remarks below."""
    if not ask["command"]:
        out.print_line(open_asks.phrase_ask(ask), indent=6)
        return
    out.print_exact(ask["what"], indent=6)
    if ask["remarks"]:
        out.print_line(open_asks.join_remarks(ask), indent=8)


def _print_harmless(lines: list[Doc], out: Printer) -> None:
    """Print lines that look bad and are not, under their heading."""
    if lines:
        out.print_line()
        out.print_line("LOOKS BAD, IS NOT", style="bold")
    for line in lines:
        seen = wording.count_noun(line["count"], "time", "times")
        on = f" on {line['node']}" if line["node"] else ""
        out.print_line(
            out.make_text(line["title"], "bold"),
            f": harmless, seen {seen}{on}. {line['text']}",
            indent=2,
        )
        out.print_exact(wording.write_place(line), 4, "dim")
        if line["unless"]:
            out.print_line(f"Check it when {line['unless']}.", indent=4)


def _print_local(doc: Doc, out: Printer, verbose: int) -> None:
    """Print what is muted in one line each, and what else local settings changed."""
    told = [*local.list_settings_notes(doc), *(local.list_idle_mutes(doc) if verbose else [])]
    if not (view.count_silenced(doc) or told):
        return
    out.print_line()
    if view.count_silenced(doc):
        out.print_line(local.write_title(doc).upper(), style="bold")
    for row in finding_rows.group_muted(doc):
        names = wording.join_few(row.names, SUBJECTS)
        out.print_line(
            f"{row.word}  {one_line(row.first['title'])}  ({row.first['rule']}): {names}", indent=2
        )
        out.print_line(f"muted: {row.first['muted']}", indent=4, style="dim")
    for block in open_asks.list_questions(doc, muted=True):
        out.print_line(
            f"cannot tell  {block['missing']}: for {wording.join_few(block['rules'], SUBJECTS)}",
            indent=2,
        )
        out.print_line(f"muted: {'; '.join(block['muted'])}", indent=4, style="dim")
    for line in told:
        out.print_line(line, indent=2 if view.count_silenced(doc) else 0)
