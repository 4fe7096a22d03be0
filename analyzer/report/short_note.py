"""The case note that fits a ticket: at most 25 lines of cause, since when, evidence, fix and what to ask for.

It is built once as records, and printed as plain text, as Markdown and in the wiki marks of Jira (`note_marks`). The
whole note is `markdown.render_note`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Finding, Fix
from analyzer.report import (
    completeness,
    desk_rows,
    finding_rows,
    machines,
    note_marks,
    open_asks,
    signals,
    view,
)
from analyzer.report.case_heading import NO_HEADING, CaseHeading, name_case
from analyzer.report.finding_rows import FindingGroup, Story
from analyzer.report.note_marks import GAP, NoteLine, NotePiece
from analyzer.report.wording import format_time, join_few, write_place
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

LINES = 25
STORIES = 3  # in full, where the lines are enough
NAMED = 8  # machines and files by name
HOSTS = 2  # that get a line each
WIDTH = 400  # characters of a line, without its marks
LONGEST = 600  # of the line that holds steps and commands, which are not cut
TITLE = 120  # characters of a title
TIME = 40  # characters of a time, also of one that cannot be read
PLACE = 200  # characters of an address
EVIDENCE = 180  # characters of a line of evidence

Printer = Callable[[Iterable[NoteLine]], str]
PRINTERS: dict[str, Printer] = {
    "note": note_marks.print_plain,
    "jira": note_marks.print_jira,
    "markdown": note_marks.print_markdown,
}


def render_short_note(
    doc: CaseDocument, form: str = "markdown", heading: CaseHeading = NO_HEADING
) -> str:
    """Return the short note of a case in one of the forms of PRINTERS, `LINES` lines at most, none of them endless."""
    return PRINTERS[form](build_note(doc, heading))


def build_note(doc: CaseDocument, heading: CaseHeading = NO_HEADING) -> list[NoteLine]:
    """Return the lines of the short note, `LINES` at most; as many stories in full as these have room for."""
    head = list_head(doc, heading)
    stories = finding_rows.list_stories(doc)
    numbers = finding_rows.number_findings(doc)
    shown: list[NoteLine] = []
    full = 0
    if not stories:
        shown = [GAP, NoteLine("text", (_bound_piece(_describe_nothing(doc)),))]
    for story in stories[:STORIES]:
        lines = [GAP, *write_story(story, numbers)]
        tail = list_tail(doc, stories[full + 1 :], numbers)
        if len(head) + len(shown) + len(lines) + len(tail) > LINES:
            break
        shown += lines
        full += 1
    return [*head, *shown, *list_tail(doc, stories[full:], numbers)]


def list_head(doc: CaseDocument, heading: CaseHeading) -> list[NoteLine]:
    """Return what the case is: its name, its counts, its machines, and what limits it."""
    title = name_case(doc, heading, "(no name)")
    if not heading.sr:
        title = f"Case {title}"
    headline = f"{view.write_headline(doc)}."
    lines = [NoteLine("title", (_bound_piece(title),)), GAP]
    lines.append(NoteLine("text", (_bound_piece(headline),)))
    if len(doc.nodes) > HOSTS:
        names = join_few([machines.name_node(node) for node in doc.nodes], NAMED)
        lines.append(_make_item("", f"{len(doc.nodes):,} machines: {names}"))
    else:
        for node in doc.nodes:
            facts = "; ".join(view.list_facts(node))
            lines.append(_make_item(machines.name_node(node), facts))
    if not completeness.is_complete(doc):
        lines.append(_make_item("Material", completeness.describe_completeness(doc)))
    return lines


def _describe_nothing(doc: CaseDocument) -> str:
    nothing = completeness.describe_nothing(doc)
    looked = len(view.list_quiet(doc))
    return f"{nothing[0].upper()}{nothing[1:]}; {looked:,} rules looked."


def list_tail(doc: CaseDocument, others: list[Story], numbers: dict[str, str]) -> list[NoteLine]:
    """Return what stands below the stories: further findings, unexplained signs, what to ask for, who made it."""
    lines = [GAP]
    rows = finding_rows.list_story_rows(others)
    if rows:
        named = [_name_row(row, numbers) for row in rows]
        lines.append(_make_list("Also found", named, "; ", mark=""))
    signs = desk_rows.list_first_signs(doc)
    if signs:
        more = len(signals.list_likely(doc)) - len(signs)
        named = [_name_sign(row) for pair in desk_rows.split_signs(doc) for row in pair]
        lines.append(_make_list("Unexplained", named, "; ", mark="", more=more))
    lines += list_asks(doc)
    masked = "masked" if doc.case.masked else "not masked"
    made = f"Backline {doc.tool.version}, {doc.tool.rules:,} rules."
    lines.append(_make_item("", f"{made} Names and addresses are {masked}."))
    return lines


def _name_row(row: FindingGroup, numbers: dict[str, str]) -> str:
    number = finding_rows.number_row(row, numbers)
    return f"{number}. {row.weight}: {bound_line(row.first.title, TITLE)}"


def _name_sign(row: desk_rows.DeskRow) -> str:
    name = bound_line(row.what, TITLE)
    return f"{name} ({bound_middle(row.short_place, TITLE)})" if row.place else name


def write_story(story: Story, numbers: dict[str, str]) -> list[NoteLine]:
    """Return what is wrong since when, and in a line each who is ill, the cause, where it is seen and what mends it."""
    row = story.row
    first = row.first
    head = (
        f"{finding_rows.number_row(row, numbers)}. {row.weight}: {bound_line(first.title, TITLE)}"
    )
    pieces = [NotePiece(head, "strong")]
    if row.first_time:
        pieces.append(NotePiece(f", since {bound_line(format_time(row.first_time), TIME)}"))
    lines = [NoteLine("story", tuple(pieces))]
    lines.append(_make_item("", f"{_name_subjects(row)}: {first.say}"))
    causes = []
    if first.about:
        causes.append(first.about)
    if story.signs:
        signs = [finding_rows.number_row(sign, numbers) for sign in story.signs]
        noun = "finding" if len(signs) == 1 else "findings"
        causes.append(f"It explains {noun} {join_few(signs, NAMED)}.")
    if causes:
        lines.append(_make_item("Cause", _join_bounded(causes)))
    if first.evidence:
        lines.append(_write_evidence(first))
    if first.fix:
        lines.append(_write_fix(first))
    return lines


def _name_subjects(row: FindingGroup) -> str:
    first = row.first
    who = bound_line(first.subject, TITLE)
    if first.node and not finding_rows.is_node_named(first):
        who = f"{who} on {bound_middle(first.node, TITLE)}"
    if len(row.findings) > 1:
        who += f", and {len(row.findings) - 1:,} more"
    return who


def _join_bounded(texts: Sequence[str]) -> str:
    """Return texts in one line; the first gives way to the others."""
    rest = " ".join(texts[1:])
    room = WIDTH - len("Cause: ") - len(rest) - 1
    return " ".join(filter(None, [bound_line(texts[0], room), rest]))


def _write_evidence(finding: Finding) -> NoteLine:
    place = finding.evidence[0]
    pieces = [
        NotePiece("Evidence", "strong"),
        NotePiece(": "),
        NotePiece(bound_middle(write_place(place), PLACE), "code"),
    ]
    text = bound_middle(" ".join(place.text.split()), EVIDENCE)
    if text:
        pieces += [NotePiece(": "), NotePiece(text, "code")]
    return NoteLine("item", tuple(pieces))


def _write_fix(finding: Finding) -> NoteLine:
    """Return the steps of the fix that fit, each whole, and what they may break."""
    cautions = list(
        dict.fromkeys(filter(None, [finding.caution, *(step.caution for step in finding.fix)]))
    )
    pieces = [NotePiece("Fix", "strong"), NotePiece(":")]
    length = len("Fix:")
    warning: list[NotePiece] = []
    if cautions:
        text = f": {bound_line(' '.join(cautions), WIDTH // 2)}"
        warning = [NotePiece(". "), NotePiece("Caution", "strong"), NotePiece(text)]
    room = LONGEST - sum(len(piece.text) for piece in warning)
    for number, step in enumerate(finding.fix):
        lead = "; then " if number else " "
        words = [NotePiece(lead), *write_step(step)]
        size = sum(len(piece.text) for piece in words)
        rest = "; the other steps are in the report"
        if length + size + len(rest) > room:
            pieces.append(NotePiece(rest if number else " see the report"))
            break
        pieces += words
        length += size
    return NoteLine("item", (*pieces, *warning))


def write_step(step: Fix) -> list[NotePiece]:
    """Return a step in one line; of a script of several lines only that it is in the report."""
    run = step.run.strip()
    command = NotePiece("")
    if "\n" in run or len(run) > WIDTH // 2:
        command = NotePiece("the commands in the report")
    elif run:
        command = NotePiece(one_line(run), "code")
    action = bound_line(step.do.rstrip("."), WIDTH // 2)
    where = bound_line(step.where, TITLE)
    pieces = [NotePiece(": ".join(filter(None, [where, action])))]
    if command.text:
        joint = " " if action else ": "
        pieces += [NotePiece(joint if pieces[0].text else ""), command]
    return [piece for piece in pieces if piece.text]


def list_asks(doc: CaseDocument) -> list[NoteLine]:
    """Return in a line or two what to request: files that came damaged, and commands, each once."""
    lines = []
    damaged = open_asks.list_damaged_files(doc)
    if damaged:
        lines.append(_make_list("Ask again for", damaged, ", ", mark=""))
    commands = [ask.what for ask in open_asks.list_wanted(doc) if ask.command]
    wanted = list(dict.fromkeys(one_line(command) for command in commands))
    if wanted:
        lines.append(_make_list("Ask for", wanted, ", ", mark="code"))
    return lines


def _bound_piece(text: str) -> NotePiece:
    return NotePiece(bound_line(text, WIDTH))


def _make_item(lead: str, text: str) -> NoteLine:
    """Return an item of a list, with a word in front that says what it is."""
    if not lead:
        return NoteLine("item", (_bound_piece(text),))
    head = bound_middle(lead.strip(), TITLE)
    if not text:
        return NoteLine("item", (NotePiece(head, "strong"),))
    rest = bound_line(text, WIDTH - len(head) - 2)
    return NoteLine("item", (NotePiece(head, "strong"), NotePiece(f": {rest}")))


def _make_list(lead: str, names: list[str], joint: str, mark: str, more: int = 0) -> NoteLine:
    """Return an item that names as many of some things as its line has room for, each whole, and counts the rest."""
    pieces = [NotePiece(lead, "strong"), NotePiece(":")]
    room = WIDTH - len(lead) - len(" and 999,999 more")
    shown = 0
    for whole in names:
        name = whole if mark else bound_middle(whole, WIDTH // 2)
        before = joint if shown else " "
        if len(name) + len(before) > room:
            break
        pieces += [NotePiece(before), NotePiece(name, mark)]
        room -= len(name) + len(before)
        shown += 1
    rest = len(names) - shown + more
    if rest and shown:
        pieces.append(NotePiece(f" and {rest:,} more"))
    elif rest:
        pieces.append(NotePiece(f" {rest:,}, see the report"))
    return NoteLine("item", tuple(pieces))
