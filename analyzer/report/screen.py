"""A case on a terminal of 24 rows: what it is, the first rows of the front table, counts, what to ask for.

The rows are those of the report (`desk_rows`), in its order and with its numbers. What does not fit is counted in the
last line. A pipe gets the whole sentences of `summary` instead: nobody reads it by the screen.
"""

from __future__ import annotations

from rich.text import Text

from analyzer.case.document import CaseDocument
from analyzer.report import (
    completeness,
    desk_rows,
    finding_rows,
    incident,
    machines,
    open_asks,
    signals,
    view,
)
from analyzer.report.desk_rows import UNEXPLAINED, DeskRow
from analyzer.report.printer import STYLES, Printer
from analyzer.report.wording import count_noun, join_few
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

ROWS = 24  # of the smallest terminal that is still in use
TAIL = 4  # rows for what is asked for, and for the commands that triage prints below
FEWEST, MOST = 3, 10  # rows of the table
MACHINES = 2
OBJECT = 15  # characters of the name of an object
PLACE = 14  # characters of an address
WORDS = {
    "critical": "CRIT",
    "major": "MAJOR",
    "warning": "WARN",
    "info": "INFO",
    "error": "BROKE",
    UNEXPLAINED: "?",
}


def print_screen(doc: CaseDocument, out: Printer, *, part: bool = False) -> None:
    """Print the case; `part` says that the document is a part of a case, and its first note says which."""
    used = 0
    for line, style, most in list_head(doc, part=part):
        used += out.print_line(line, style=style, rows=most)
    stories = finding_rows.list_stories(doc)
    rows = desk_rows.list_desk_rows(doc, stories)
    room = max(FEWEST, min(MOST, ROWS - used - TAIL))
    shown = rows[:room]
    for row in shown:
        print_row(row, out)
    print_rest(doc, rows[len(shown) :], out)
    print_asks(doc, out)


def list_head(doc: CaseDocument, *, part: bool) -> list[tuple[str, str, int]]:
    """Return the lines above the table, each with its style and the rows that it may take."""
    lines = [(one_line(doc.case.name or "case"), "bold", 1)]
    alone, crowds = machines.split_header(doc.nodes)
    for crowd in crowds:
        lines.append((f"{crowd.title}: {crowd.span}", "", 1))
    worst = machines.describe_worst(doc, MACHINES) if crowds else ""
    if worst:
        lines.append((f"worst: {worst}", "", 1))
    for node in alone[:MACHINES]:
        facts = "; ".join(view.list_facts(node))
        lines.append((f"{machines.name_node(node)}  {facts}", "", 2))
    if len(alone) > MACHINES:
        more = count_noun(len(alone) - MACHINES, "more machine", "more machines")
        lines.append((f"and {more}", "", 1))
    if part and doc.notes:
        lines.append((one_line(doc.notes[0]), "bold", 2))
    if doc.case.incident:
        lines.append((incident.summarize_incident(doc), "", 1))
    limits = [*machines.list_remarks(doc.nodes), *doc.limits]
    if not completeness.is_complete(doc):
        limits.insert(0, completeness.describe_completeness(doc))
    if limits:
        lines.append((join_few(limits, 2), "bold yellow", 2))
    lines.append((view.write_headline(doc) + ".", "bold", 2))
    return lines


def print_row(row: DeskRow, out: Printer) -> None:
    """Print one row of the table on one line; its object loses the middle, its title words."""
    place = bound_middle(row.short_place, PLACE)
    when = f"{row.day} {row.clock[:5]}" if row.first else ""
    head = f"{row.number:>2} "
    word = f"{WORDS.get(row.word, row.word):<6}"
    room = max(FEWEST, out.console.width - len(head) - len(word) - len(place) - 13)
    name = f"{bound_middle(row.full_object, OBJECT)}: " if row.full_object else ""
    what = "  " * row.depth + name
    what += bound_line(row.what, max(FEWEST, room - len(what)))
    text = Text(head)
    text.append_text(out.make_text(word.rstrip(), STYLES.get(row.word, "")))
    text.append(" " * (len(word) - len(word.rstrip())))
    text.append_text(out.make_text(f"{when:<11} {what:<{room}} "))
    text.append_text(out.make_text(place, "dim"))
    out.print_line(text)


def print_rest(doc: CaseDocument, rest: list[DeskRow], out: Printer) -> None:
    """Print in one line what the screen has no room for."""
    findings = sum(1 for row in rest if row.sign is None)
    listed = len(desk_rows.list_first_signs(doc)) - sum(1 for row in rest if row.sign is not None)
    signs = len(signals.list_likely(doc)) - listed
    counts = [
        count_noun(findings, "finding", "findings"),
        count_noun(signs, "unexplained sign of trouble", "unexplained signs of trouble"),
    ]
    more = ", ".join(count for count in counts if count)
    if more:
        out.print_line(f"MORE {more}: in the report, or with --all")


def print_asks(doc: CaseDocument, out: Printer) -> None:
    """Print what to ask for first, on one line."""
    asks = [one_line(ask.phrase) for ask in open_asks.list_wanted(doc)]
    damaged = open_asks.list_damaged_files(doc)
    if damaged:
        asks.insert(0, f"{join_few(damaged, 2)} again: cut short or damaged")
    if asks:
        more = f" (and {len(asks) - 1:,} more: --format mail)" if len(asks) > 1 else ""
        out.print_line(out.make_text("ASK FOR ", "bold"), bound_line(asks[0], 110), more)
