"""A case on one screen: what it is, the counts, the worst stories, at most three, what to ask for.

What does not fit is counted, never dropped without a word: the report and `--all` have it. Sentences are shortened
by `short_lines`: names lose their middle, figures stay.
"""

from __future__ import annotations

from rich.console import Console

from analyzer.case.document import CaseDocument
from analyzer.report import (
    completeness,
    finding_rows,
    incident,
    machines,
    open_asks,
    signals,
    view,
)
from analyzer.report.finding_rows import Story
from analyzer.report.printer import STYLES, Printer
from analyzer.report.screen import print_screen
from analyzer.report.wording import count_noun, join_few, write_place
from analyzer.runtime.text import one_line

WORST = 3  # stories
SIGNS = 2  # of a story: rows for what follows from it
SIGNALS = 3  # signs that no finding rests on, where nothing was found
ROOM, ROOM_OF_STORY = 9, 3  # rows for all stories, and of one without its signs, about
MACHINES = 3
UNREAD = 2  # files that were not read, or not to the end
OTHERS = 4  # files that are no diagnostic material
ASKS = 3
NOTES = 2


def print_summary(doc: CaseDocument, console: Console, *, part: bool = False) -> None:
    """Print the summary; a case of one machine takes about 30 rows of 80 columns at most, but for long addresses.

    part  the document is a part of a case (`choice.choose_part`), and its first note says which
    """
    out = Printer(console)
    if console.is_terminal:
        print_screen(doc, out, part=part)
        return
    print_machines(doc, out)
    print_material(doc, out)
    for note in doc.notes[:NOTES]:
        out.print_line("note: ", note, indent=2, rows=0 if part else 1)
    out.print_line()
    out.print_line(view.write_headline(doc) + ".", style="bold")
    stories = finding_rows.list_stories(doc)
    numbers = finding_rows.number_findings(doc)
    first = pick_first_stories(stories)
    for place, story in enumerate(first):
        print_finding(story, numbers, out, rows=1 if place else 2)
        print_signs(story, numbers, out)
    if not stories and finding_rows.list_unknowns(doc):
        out.print_line("Not everything could be judged.")
    shown = SIGNALS if not stories else 1
    print_likely_signals(doc, out, shown)
    print_asks(doc, out)
    findings = sum(len(story.rows) for story in stories[len(first) :])
    rest = list_rest(doc, findings, max(0, len(signals.list_likely(doc)) - shown))
    if rest:
        out.print_line(f"MORE {', '.join(rest)}: in the report, or with --all")


def print_likely_signals(doc: CaseDocument, out: Printer, most: int) -> None:
    """Print the likeliest signs of trouble that no finding rests on, each with its line."""
    names, likely = machines.name_nodes(doc), signals.list_likely(doc)
    if likely:
        out.print_line("UNEXPLAINED", style="bold")
    for one in likely[:most]:
        node = names.get(one.node, one.node)
        out.print_line(f"{node}: {signals.describe_briefly(one)}", indent=2, rows=1)
        if one.text:
            out.print_line(one.text, indent=4, rows=2)
        if one.known is not None:
            out.print_line(signals.describe_known(one.known), indent=4)


def pick_first_stories(stories: list[Story]) -> list[Story]:
    """Return the stories that a screen has room for: the three worst, fewer where much follows from them."""
    first: list[Story] = []
    room = ROOM
    for story in stories[:WORST]:
        room -= ROOM_OF_STORY + min(len(story.signs), SIGNS)
        if first and room < 0:
            break
        first.append(story)
    return first


def print_machines(doc: CaseDocument, out: Printer) -> None:
    """Print the machines of the case, few of them by name."""
    title = out.make_text(doc.case.name or "case", "bold")
    out.print_line(title, rows=1)
    alone, crowds = machines.split_header(doc.nodes)
    for crowd in crowds:
        title = out.make_text(crowd.title, "bold")
        out.print_line(title, f"  {crowd.span}", indent=2, rows=1)
    if crowds:
        worst = machines.describe_worst(doc, MACHINES)
        if worst:
            title = out.make_text("worst", "bold")
            out.print_line(title, f"  {worst}", indent=2, rows=2)
    shown = alone
    if len(alone) > MACHINES:
        shown = alone[: MACHINES - 1]
    for node in shown:
        name = out.make_text(machines.name_node(node), "bold")
        facts = "; ".join(view.list_facts(node))
        out.print_line(name, "  ", facts, indent=2, rows=2)
    more = len(alone) - len(shown)
    if more:
        out.print_line(f"and {more:,} more machines", indent=2)
    for remark in machines.list_remarks(doc.nodes)[:1]:
        out.print_line(remark, indent=2, rows=2)


def print_material(doc: CaseDocument, out: Printer) -> None:
    """Print how complete the case is and what was not read."""
    if doc.case.incident:
        out.print_line(incident.summarize_incident(doc), indent=2, rows=1)
    style = "bold yellow"
    if completeness.is_complete(doc):
        style = ""
    material = f"material {completeness.describe_completeness(doc)}"
    out.print_line(material, indent=2, rows=2, style=style)
    lost = [source for source in completeness.list_unread(doc) if source.state != "other"]
    for source in lost[:UNREAD]:
        out.print_line(completeness.describe_unread(source), indent=4, rows=2)
    if len(lost) > UNREAD:
        out.print_line(f"and {len(lost) - UNREAD:,} more", indent=4)
    others = completeness.name_other_files(doc, OTHERS)
    if others:
        out.print_line(others, indent=4, rows=1)
    for limit in doc.limits[:1]:
        out.print_line(limit, indent=4, rows=2)


def print_finding(story: Story, numbers: dict[str, str], out: Printer, rows: int) -> None:
    """Print a finding: number, weight and title, its subjects and the sentence of the first, one line of evidence."""
    row = story.row
    first = story.row.first
    if first.kb:
        name = f"KB {first.kb[0]}"
    else:
        name = first.rule
    more = ""
    if story.signs:
        more = f"; {story.explains}"
    out.print_line(
        f"{finding_rows.number_row(row, numbers)}. ",
        out.make_text(row.weight, STYLES.get(row.word, "bold")),
        "  ",
        out.make_text(one_line(first.title), "bold"),
        f"  ({name}{more})",
        rows=2,
    )
    subject, node = first.subject, first.node
    if node and not finding_rows.is_node_named(first):
        who = f"{subject} on {node}"
    else:
        who = subject
    if len(row.findings) > 1:
        # its figure would be cut behind the names of the others
        who = f"{len(row.findings):,} objects, first {who}"
    out.print_line(one_line(f"{who}: {first.say}"), indent=2, rows=rows)
    for evidence in first.evidence[:1]:
        out.print_exact(write_place(evidence), 2, "dim")


def print_signs(story: Story, numbers: dict[str, str], out: Printer) -> None:
    """Print what follows from a finding in a row each, so that the numbers go on without a gap; many are one row."""
    if len(story.signs) <= SIGNS:
        shown = story.signs
    else:
        shown = story.signs[: SIGNS - 1]
    for sign in shown:
        number = finding_rows.number_row(sign, numbers)
        weight = out.make_text(sign.weight, STYLES.get(sign.word, "bold"))
        title = one_line(sign.first.title)
        out.print_line(f"{number}. ", weight, f"  {title}", indent=2, rows=1)
    rest = story.signs[len(shown) :]
    if rest:
        first = finding_rows.number_row(rest[0], numbers)
        last = finding_rows.number_row(rest[-1], numbers)
        cause = finding_rows.number_row(story.row, numbers)
        text = f"{len(rest):,} more that follow from {cause}: in the report, or with --all"
        out.print_line(f"{first}-{last}. ", text, indent=2, rows=1)


def print_asks(doc: CaseDocument, out: Printer) -> None:
    """Print what to ask for first: files that came damaged, then what would answer most rules."""
    damaged = open_asks.list_damaged_files(doc)
    asks = open_asks.list_wanted(doc)
    if not damaged and not asks:
        return
    more = ""
    if len(asks) > ASKS:
        more = f" ({ASKS} of {len(asks):,}; all of them as a mail: --format mail)"
    out.print_line(out.make_text("ASK FOR", "bold"), more)
    if damaged:
        names = join_few(damaged, 3)
        out.print_line(f"{names} again: cut short or damaged", indent=2, rows=2)
    for ask in asks[:ASKS]:
        if ask.command:
            out.print_exact(ask.what, 2)
        else:
            out.print_line(one_line(ask.phrase), indent=2, rows=1)


def list_rest(doc: CaseDocument, findings: int, signs: int) -> list[str]:
    """Return what the summary leaves to the report, counted; so many findings and unexplained signs among it."""
    remarks = max(0, len(machines.list_remarks(doc.nodes)) - 1)
    remarks += len(doc.notes[NOTES:]) + len(doc.limits[1:])
    cuts = len(doc.cuts)
    counts = [
        count_noun(findings, "finding", "findings"),
        count_noun(signs, "unexplained sign of trouble", "unexplained signs of trouble"),
        count_noun(view.count_silenced(doc), "muted entry", "muted entries"),
        count_noun(len(open_asks.list_advice(doc)), "hint", "hints"),
        count_noun(cuts, "rule with objects left out", "rules with objects left out"),
        count_noun(remarks, "remark", "remarks"),
    ]
    return [count for count in counts if count]
