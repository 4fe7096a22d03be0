"""A comparison on a terminal of 24 rows: what was compared, the first rows of the front table, and what is left.

The rows are those of page and Markdown, in their order. A pipe gets the whole sentences instead.
"""

from __future__ import annotations

from analyzer.case.comparison import Comparison, Sentence
from analyzer.report.comparison_words import (
    count_verdicts,
    list_rows,
    name_verdict,
)
from analyzer.report.printer import Printer
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

ROWS = 24  # of the smallest terminal that is still in use
TAIL = 5  # rows for the rest, the path of the page, and the prompt
VERDICT, WENT = 12, 34  # characters of a verdict, and of the figures
NARROWEST, SHORTEST = 20, 10  # characters of a subject, and of a value
STYLES = {"new": "bold red", "worse": "bold red", "better": "green", "gone": "green"}


def print_screen(doc: Comparison, out: Printer) -> None:
    """Print a comparison; the caller prints below where the page is."""
    rows = list_rows(doc)
    names = [side.name for side in doc.sides]
    if doc.mode == "hosts":
        names = [f"{number}: {name}" for number, name in enumerate(names, 1)]
    used = out.print_line(one_line(" → ".join(names)), style="bold", rows=1)
    if doc.mode == "time":
        used += out.print_line(one_line(doc.conclusion[0].text.partition(": ")[2]), rows=2)
    if doc.notes:
        used += out.print_line(f"! {one_line(' '.join(doc.notes))}", style="bold yellow", rows=2)
    used += out.print_line(f"{count_verdicts(doc, rows, numbered=True)}.", style="bold", rows=2)
    room = max(1, ROWS - used - TAIL)
    for row in rows[:room]:
        print_row(row, name_verdict(doc, row.verdict, numbered=True), out)
    rest = rows[room:]
    if rest:
        counts = count_verdicts(doc, rest, numbered=True)
        out.print_line(f"MORE {counts}: in compare.html", rows=2)


def print_row(row: Sentence, word: str, out: Printer) -> None:
    """Print a row on one line: its subject loses the middle, and long values theirs."""
    word = bound_middle(word, VERDICT)
    went = one_line(row.went)
    if len(went) > WENT:
        values = went.split(" → ")
        most = max(SHORTEST, (WENT - 3 * len(values) + 3) // len(values))
        went = " → ".join(bound_middle(value, most) for value in values)
    room = max(NARROWEST, out.console.width - VERDICT - 1 - (len(went) + 1 if went else 0))
    least = room * 2 // 5  # of the row: the name gets what the words leave
    who = bound_middle(row.who, max(least, room - len(row.what) - 2))
    if who and row.what:
        who += ": "
    subject = who + bound_line(row.what, room - len(who))
    text = out.make_text(f"{word:<{VERDICT}} ", STYLES.get(row.verdict, ""))
    text.append_text(out.make_text(f"{subject:<{room if went else 0}}"))
    if went:
        text.append_text(out.make_text(f" {went}", "bold"))
    out.print_line(text)
