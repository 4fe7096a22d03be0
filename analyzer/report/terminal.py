"""The case in a terminal: what it is, what is wrong, what could not be judged and what to ask for.

Foreign text passes `for_terminal`, so that it cannot steer the terminal, and
goes out as plain text, never as rich markup. Colour only repeats what a word
says; rich leaves it out for NO_COLOR and when the output is no terminal.
"""

from __future__ import annotations

from typing import Any

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
from analyzer.report.doubts import notes
from analyzer.report.summary import STYLES, Printer
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

Doc = dict[str, Any]

SUBJECTS = 5  # of one row without -v
NODES = 100  # of one row, with their counts
PLACES = 2  # lines of evidence without -v
NOTES = 5  # remarks on the sources without -v
UNREAD = 5  # files that nobody understood, in the head
LINE = 200  # characters of a line of evidence


def render(doc: Doc, console: Console, verbose: int = 0, *, everything: bool = False) -> None:
    """Print the case; `verbose` 1 adds all evidence with its lines, 2 the trace; `everything` harmless lines."""
    out = Printer(console)
    _header(doc, out, verbose)
    out.line()
    out.line(view.headline(doc) + ".", style="bold")
    for line in finding_rows.cuts(doc):
        out.line(line, style="bold yellow")
    _findings(doc, out, verbose)
    if doc["problems"]:
        out.line()
        out.line(
            out.text(f"{problems.TITLE}: ", "bold"), f"{problems.summary(doc)}; see the report"
        )
    if finding_rows.unknowns(doc):
        _unknown(doc, out)
    _local(doc, out, verbose)
    _harmless(doc["harmless"] if everything else [], out)
    if doc["advice"]:
        out.line()
        out.line("ALSO HELPFUL", style="bold")
        for line in open_asks.advice(doc):
            out.exact(line, 2)
    out.line()
    out.line(completeness.coverage(doc), style="dim")
    for limit in doc["limits"]:
        out.line(limit)
    for note in doc["notes"][: None if verbose else NOTES]:
        out.line("note: ", note)
    if not verbose and len(doc["notes"]) > NOTES:
        out.line(f"and {len(doc['notes']) - NOTES:,} more notes, see the report")
    if verbose:
        for item in doc["damage"]:
            offset = "" if item["offset"] is None else f", byte {item['offset']:,}"
            out.line(
                f"damaged: {item['address']}{offset}: {item['what']}; left out: {item['left_out']}"
            )


def _findings(doc: Doc, out: Printer, verbose: int) -> None:
    usual, known, rows = view.usual_status(doc), numbers.numbers(doc), numbers.rows(doc)
    if told := view.usual_status_text(doc, usual):
        out.line(told, style="dim")
    fixed = once.earlier(doc, rows)
    for row in rows:
        out.line()
        _title(row, numbers.of_row(row, known), view.marks(row.first, usual), out)
        _row(row, doc, out, verbose, fixed.get(row.first["id"]))
    if not rows and finding_rows.unknowns(doc):
        out.line("Not everything could be judged.")


def _header(doc: Doc, out: Printer, verbose: int) -> None:
    out.line(out.text(doc["case"]["name"] or "case", "bold"))
    if doc["case"]["masked"]:
        known = doc["case"].get("map", "")
        out.line(
            f"redacted: names and addresses are replaced{f' (map of names: {known})' if known else ''}",
            indent=2,
        )
    alone, together = (doc["nodes"], []) if verbose else crowds.head(doc["nodes"])
    for crowd in together:
        out.line(
            out.text(crowd.title, "bold"),
            "  ",
            "; ".join(filter(None, [crowd.span, crowd.versions])),
            indent=2,
        )
        for remark in crowd.remarks[:UNREAD]:
            out.line("note: ", remark, indent=4)
        if len(crowd.remarks) > UNREAD:
            out.line(f"and {len(crowd.remarks) - UNREAD:,} more notes, see the report", indent=4)
    for node in alone:
        out.line(out.text(crowds.name(node), "bold"), "  ", "; ".join(view.facts(node)), indent=2)
        for warning in node["warnings"]:
            out.line("note: ", warning, indent=4)
    if doc["case"]["span"] and len(doc["nodes"]) > 1:
        out.line(
            f"logs {wording.span(doc['case']['span']['first'], doc['case']['span']['last'])}",
            indent=2,
        )
    if doc["case"]["incident"]:
        out.line(incident.summary(doc), indent=2)
    style = "" if completeness.complete(doc) else "bold yellow"
    out.line(out.text(f"material {completeness.completeness(doc)}", style), indent=2)
    for source in completeness.unread(doc)[:UNREAD]:
        out.line(
            out.text(completeness.unread_line(source), "" if source["state"] == "other" else style),
            indent=4,
        )
    if len(completeness.unread(doc)) > UNREAD:
        out.line(f"and {len(completeness.unread(doc)) - UNREAD:,} more, see the report", indent=4)


def _title(row: finding_rows.FindingGroup, number: str, marks: list[str], out: Printer) -> None:
    first = row.first
    mark = f" [{', '.join(marks)}]" if marks else ""
    word = "RULE BROKE" if row.word == "error" else row.word.upper()
    kb = "".join(f", KB {number}" for number in first["kb"])
    weight = out.text(f"{word} {row.confidence}".rstrip(), STYLES.get(row.word, "bold"))
    title = out.text(one_line(first["title"]), "bold")
    out.line(f"{number}. ", weight, "  ", title, f"  ({first['rule']}{kb}){mark}")


def _row(
    row: finding_rows.FindingGroup, doc: Doc, out: Printer, verbose: int, fixed: Doc | None
) -> None:
    first = row.first
    alike = len(row.findings) > 1 and row.same("say")
    if alike:
        most = 60 if verbose else SUBJECTS
        out.line(
            out.text(f"{len(row.findings):,} objects: ", "bold"),
            wording.few(row.names, most),
            indent=2,
        )
        out.line(" ".join([first["say"], *(notes(first) if row.same_notes else [])]), indent=2)
    if row.word == "error":
        for finding in row.findings:
            if "\n" in finding["say"]:  # the place in a rule file, with its caret
                out.exact(finding["say"], 2)
            else:
                out.line(finding["say"], indent=2)
        return
    shown = row.findings if verbose else row.findings[: 1 if alike else SUBJECTS]
    for finding in shown:
        _finding(finding, doc, out, verbose, named=not alike or verbose > 0, said=not alike)
    if not alike and len(row.findings) > len(shown):
        out.line(f"and {len(row.findings) - len(shown):,} more objects", indent=2)
    for line in filter(None, [*finding_rows.unchecked(doc, row), row.worse]):
        out.line(line, indent=2)
    if nodes := finding_rows.per_node(row, NODES):
        out.line(out.text("objects per node  ", "bold"), nodes, indent=2)
    if fixed is not None:
        out.line(out.text("fix  ", "bold"), once.same_as(fixed), indent=2)
        return
    same = view.one_fix(doc, row)
    for finding in row.findings[:1] if same else shown:
        _fix(finding, doc, out, verbose, named=not same)
    if first["caution"]:
        out.line(out.text("caution  ", "bold"), first["caution"], indent=2)


def _fix(finding: Doc, doc: Doc, out: Printer, verbose: int, *, named: bool) -> None:
    """Print the steps of a finding; those of a sign are folded to one line until its cause is mended."""
    of = f"{finding['subject']}: " if named else ""
    steps = finding["fix"]
    if steps and not verbose and view.waits(doc, finding):
        later = wording.counted(len(steps), "step", "steps")
        out.line(
            out.text("fix  ", "bold"),
            f"{of}{later} in the report, only if it still happens after that",
            indent=2,
        )
        return
    for step in steps:
        said = f"{of}{step['where']}: {step['do']}".rstrip(": ")
        out.line(
            out.text("fix  ", "bold"), said, f"  ({step['note']})" if step["note"] else "", indent=2
        )
        if step["run"]:
            out.exact(step["run"], 7)
        if step["caution"]:
            out.line(out.text("caution  ", "bold"), step["caution"], indent=7)


def _finding(
    finding: Doc, doc: Doc, out: Printer, verbose: int, *, named: bool, said: bool
) -> None:
    if named:
        what = " ".join([finding["say"], *notes(finding)]) if said else ""
        on = (
            f" on {finding['node']}"
            if finding["node"] and finding["node"] not in finding["subject"]
            else ""
        )
        out.line(out.text(finding["subject"], "bold"), f"{on}: {what}" if what else on, indent=2)
    for lead, cause in view.cause_lines(doc, finding):
        out.line(out.text(f"{lead.lower()}  ", "bold"), cause, indent=2)
    places = wording.cited(finding["evidence"])
    for evidence in places[: None if verbose else PLACES]:
        out.exact(f"{wording.place(evidence)}  {bound_line(evidence['label'], LINE)}", 2, "dim")
        if verbose:
            out.exact(bound_middle(evidence["text"].strip(), LINE), 6)
    if not verbose and len(places) > PLACES:
        out.line(out.text(wording.more_evidence(len(places) - PLACES), "dim"), indent=2)
    if verbose > 1 and finding["trace"]:
        _trace(finding["trace"], out, 2)


def _trace(trace: Doc, out: Printer, indent: int) -> None:
    place = "Backline's catalog" if wording.of_catalog(trace["at"]) else trace["at"]
    at = f"  from {place}" if place else ""
    note = f"  ({trace['note']})" if trace["note"] else ""
    out.line(
        f"{trace['text']}: ",
        out.text(wording.answer(trace["value"]), "bold"),
        note,
        at,
        indent=min(indent, 40),
    )
    for child in trace["children"]:
        _trace(child, out, indent + 2)


def _unknown(doc: Doc, out: Printer) -> None:
    out.line()
    out.line("CANNOT TELL", style="bold")
    if again := open_asks.send_again(doc):
        out.line(f"ask for {wording.few(again, 6)} again: cut short or damaged", indent=2)
    for block in open_asks.pressing(doc):
        title, why = open_asks.title_and_reason(block)
        out.line(out.text(f"{title}: " if title else "", "bold"), why, indent=2)
        concerns = f"; for {wording.few(block['subjects'], SUBJECTS)}" if block["subjects"] else ""
        out.line(f"needed by {wording.few(block['rules'], 6)}{concerns}", indent=4)
        if block["asks"]:
            out.line(out.text("ask for", "bold"), indent=4)
        for ask in block["asks"][:SUBJECTS]:
            _print_ask(ask, out)
        if len(block["asks"]) > SUBJECTS:
            out.line(
                f"and {len(block['asks']) - SUBJECTS:,} more of this kind, see the report", indent=4
            )
    if open_asks.folded(doc):
        out.line(f"{open_asks.folded_text(doc)}; see the report", indent=2)
        for offer in open_asks.offers(doc):
            where = f" on {wording.few(offer['nodes'], 3)}" if offer["nodes"] else ""
            out.line(out.text(f"{offer['settles']}{where}", "bold"), " need", indent=4)
            _print_ask(offer["asks"][0], out)


def _print_ask(ask: Doc, out: Printer) -> None:
    """Print a thing to ask for: a command alone in its line, its remarks below."""
    if not ask["command"]:
        out.line(open_asks.phrase_ask(ask), indent=6)
        return
    out.exact(ask["what"], indent=6)
    if ask["remarks"]:
        out.line(open_asks.join_remarks(ask), indent=8)


def _harmless(lines: list[Doc], out: Printer) -> None:
    """Print lines that look bad and are not, under their heading."""
    if lines:
        out.line()
        out.line("LOOKS BAD, IS NOT", style="bold")
    for line in lines:
        seen = wording.counted(line["count"], "time", "times")
        on = f" on {line['node']}" if line["node"] else ""
        out.line(
            out.text(line["title"], "bold"),
            f": harmless, seen {seen}{on}. {line['text']}",
            indent=2,
        )
        out.exact(wording.place(line), 4, "dim")
        if line["unless"]:
            out.line(f"Check it when {line['unless']}.", indent=4)


def _local(doc: Doc, out: Printer, verbose: int) -> None:
    """Print what is muted in one line each, and what else local settings changed."""
    told = [*local.settings_notes(doc), *(local.idle(doc) if verbose else [])]
    if not (view.silenced(doc) or told):
        return
    out.line()
    if view.silenced(doc):
        out.line(local.title(doc).upper(), style="bold")
    for row in finding_rows.muted(doc):
        names = wording.few(row.names, SUBJECTS)
        out.line(
            f"{row.word}  {one_line(row.first['title'])}  ({row.first['rule']}): {names}", indent=2
        )
        out.line(f"muted: {row.first['muted']}", indent=4, style="dim")
    for block in open_asks.asks(doc, muted=True):
        out.line(
            f"cannot tell  {block['missing']}: for {wording.few(block['rules'], SUBJECTS)}",
            indent=2,
        )
        out.line(f"muted: {'; '.join(block['muted'])}", indent=4, style="dim")
    for line in told:
        out.line(line, indent=2 if view.silenced(doc) else 0)
