"""A case on one screen: what it is, the counts, the worst stories, at most three, what to ask for.

What does not fit is counted, never dropped without a word: the report and `--all` have it. Sentences are shortened
by `short_lines`: names lose their middle, figures stay.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from analyzer.report import (
    completeness,
    crowds,
    finding_rows,
    incident,
    numbers,
    open_asks,
    problems,
    view,
    wording,
)
from analyzer.report.finding_rows import FindingGroup
from analyzer.report.stories import Story, list_stories
from analyzer.report.wording import Doc
from analyzer.runtime.short_lines import fit_rows, terminal_mark
from analyzer.runtime.text import for_terminal, one_line

STYLES = {
    "critical": "bold reverse red",
    "major": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "error": "bold magenta",
}
NARROWEST = 20
WORST = 3  # stories
SIGNS = 2  # of a story: rows for what follows from it
ROOM, ROOM_OF_STORY = 9, 3  # rows for all stories, and of one without its signs, about
MACHINES = 3
UNREAD = 2  # files that were not read, or not to the end
BESIDE = 4  # files that are no diagnostic material
ASKS = 3
NOTES = 2


class Printer:
    """Prints foreign text harmless, indented, and wrapped to the width of the console."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def make_text(self, said: str, style: str = "") -> Text:
        """Return text that is safe and that this terminal can write."""
        encoding = self.console.encoding or "utf-8"
        shown = for_terminal(said).encode(encoding, "backslashreplace").decode(encoding)
        return Text(shown, style=style)

    def print_line(
        self, *parts: str | Text, indent: int = 0, style: str = "", rows: int = 0
    ) -> None:
        """Print parts as one paragraph; with `rows` names and words are left out until it has at most so many rows.

        A paragraph whose figures, states and codes need a row more gets it.
        """
        whole = Text().join(
            part if isinstance(part, Text) else self.make_text(part, style) for part in parts
        )
        width = max(NARROWEST, self.console.width - indent)
        if rows > 0:
            whole = self._shorten(whole, width, rows)
        lines = list(whole.wrap(self.console, width)) or [whole]
        for row in lines:
            row.rstrip()
            self.console.print(Text(" " * indent).append_text(row), soft_wrap=True, highlight=False)

    def _shorten(self, whole: Text, width: int, rows: int) -> Text:
        """Return a paragraph that takes at most so many rows, its values whole, its styles where they were."""

        def takes(text: str) -> int:
            return len(Text(text).wrap(self.console, width))

        if takes(whole.plain) <= rows:
            return whole
        mark, at = terminal_mark(self.console.encoding), 0
        shown = Text()
        for cut in fit_rows(whole.plain, takes, rows, width, mark):
            shown.append_text(whole[at : cut.start]).append(mark)
            at = cut.end
        return shown.append_text(whole[at:])

    def print_exact(self, said: str, indent: int, style: str = "") -> None:
        """Print an address or command without breaking it, so that it can be copied."""
        for line in for_terminal(said).split("\n"):
            text = Text(" " * indent).append_text(self.make_text(line, style))
            self.console.print(text, soft_wrap=True, highlight=False)


def print_summary(doc: Doc, console: Console, *, part: bool = False) -> None:
    """Print the summary; a case of one machine takes about 30 rows of 80 columns at most, but for long addresses.

    part  the document is a part of a case (`choice.chosen`), and its first note says which
    """
    out = Printer(console)
    _print_case(doc, out)
    for note in doc["notes"][:NOTES]:
        out.print_line("note: ", note, indent=2, rows=0 if part else 1)
    out.print_line()
    out.print_line(view.write_headline(doc) + ".", style="bold")
    told, known = list_stories(doc), numbers.number_findings(doc)
    first = pick_first_stories(told)
    for place, story in enumerate(first):
        _print_finding(story, known, out, rows=1 if place else 2)
        _print_signs(story, known, out)
    if not told and finding_rows.list_unknowns(doc):
        out.print_line("Not everything could be judged.")
    _print_asks(doc, out)
    if rest := _list_rest(doc, sum(len(story.rows) for story in told[len(first) :])):
        out.print_line(f"MORE {', '.join(rest)}: in the report, or with --all")


def pick_first_stories(told: list[Story]) -> list[Story]:
    """Return the stories that a screen has room for: the three worst, fewer where much follows from them."""
    first: list[Story] = []
    room = ROOM
    for story in told[:WORST]:
        room -= ROOM_OF_STORY + min(len(story.signs), SIGNS)
        if first and room < 0:
            break
        first.append(story)
    return first


def _print_case(doc: Doc, out: Printer) -> None:
    out.print_line(out.make_text(doc["case"]["name"] or "case", "bold"), rows=1)
    alone, together = crowds.split_header(doc["nodes"])
    for crowd in together:
        out.print_line(out.make_text(crowd.title, "bold"), f"  {crowd.span}", indent=2, rows=1)
    if together and (worst := crowds.describe_worst(doc, MACHINES)):
        out.print_line(out.make_text("worst", "bold"), f"  {worst}", indent=2, rows=2)
    named = alone if len(alone) <= MACHINES else alone[: MACHINES - 1]
    for node in named:
        out.print_line(
            out.make_text(crowds.name_node(node), "bold"),
            "  ",
            "; ".join(view.list_facts(node)),
            indent=2,
            rows=2,
        )
    if len(alone) > len(named):
        out.print_line(f"and {len(alone) - len(named):,} more machines", indent=2)
    for remark in crowds.list_remarks(doc["nodes"])[:1]:
        out.print_line(remark, indent=2, rows=2)
    if doc["case"]["incident"]:
        out.print_line(incident.summarize_incident(doc), indent=2, rows=1)
    whole = completeness.is_complete(doc)
    out.print_line(
        f"material {completeness.describe_completeness(doc)}",
        indent=2,
        rows=2,
        style="" if whole else "bold yellow",
    )
    lost = [source for source in completeness.list_unread(doc) if source["state"] != "other"]
    for source in lost[:UNREAD]:
        out.print_line(completeness.describe_unread(source), indent=4, rows=2)
    if len(lost) > UNREAD:
        out.print_line(f"and {len(lost) - UNREAD:,} more", indent=4)
    if beside := completeness.name_other_files(doc, BESIDE):
        out.print_line(beside, indent=4, rows=1)
    for limit in doc["limits"][:1]:
        out.print_line(limit, indent=4, rows=2)


def _print_finding(story: Story, known: dict[str, str], out: Printer, rows: int) -> None:
    """Print a finding: number, weight and title, its subjects and what is said of the first, one line of evidence."""
    row, number = story.row, numbers.number_row(story.row, known)
    first = row.first
    name = f"KB {first['kb'][0]}" if first["kb"] else first["rule"]
    weight = out.make_text(
        f"{_name_weight(row)} {row.confidence}".rstrip(), STYLES.get(row.word, "bold")
    )
    title = out.make_text(one_line(first["title"]), "bold")
    more = f"; {story.explains}" if story.signs else ""
    out.print_line(f"{number}. ", weight, "  ", title, f"  ({name}{more})", rows=2)
    on = f" on {first['node']}" if first["node"] and first["node"] not in first["subject"] else ""
    who = f"{first['subject']}{on}"
    if len(row.findings) > 1:
        who = f"{len(row.findings):,} objects, first {who}"  # its figure would be cut behind the names of the others
    out.print_line(out.make_text(one_line(f"{who}: {first['say']}")), indent=2, rows=rows)
    for evidence in first["evidence"][:1]:
        out.print_exact(wording.write_place(evidence), 2, "dim")


def _print_signs(story: Story, known: dict[str, str], out: Printer) -> None:
    """Print what follows from a finding in a row each, so that the numbers go on without a gap; many are one row."""
    few = story.signs if len(story.signs) <= SIGNS else story.signs[: SIGNS - 1]
    for sign in few:
        weight = out.make_text(
            f"{_name_weight(sign)} {sign.confidence}".rstrip(), STYLES.get(sign.word, "bold")
        )
        out.print_line(
            f"{numbers.number_row(sign, known)}. ",
            weight,
            f"  {one_line(sign.first['title'])}",
            indent=2,
            rows=1,
        )
    if rest := story.signs[len(few) :]:
        first, last = (numbers.number_row(sign, known) for sign in (rest[0], rest[-1]))
        said = f"{len(rest):,} more that follow from {numbers.number_row(story.row, known)}: in the report, or with --all"
        out.print_line(f"{first}-{last}. ", said, indent=2, rows=1)


def _name_weight(row: FindingGroup) -> str:
    return "RULE BROKE" if row.word == "error" else row.word.upper()


def _print_asks(doc: Doc, out: Printer) -> None:
    """Print what to ask for first: files that came damaged, then what would answer most rules."""
    again = open_asks.list_damaged_files(doc)
    asks = open_asks.list_wanted(doc)
    if not again and not asks:
        return
    few = (
        f" ({ASKS} of {len(asks):,}; all of them as a mail: --format mail)"
        if len(asks) > ASKS
        else ""
    )
    out.print_line(out.make_text("ASK FOR", "bold"), few)
    if again:
        out.print_line(
            f"{wording.join_few(again, 3)} again: cut short or damaged", indent=2, rows=2
        )
    for ask in asks[:ASKS]:
        if ask["command"]:
            out.print_exact(ask["what"], 2)
        else:
            out.print_line(one_line(open_asks.phrase_ask(ask)), indent=2, rows=1)


def _list_rest(doc: Doc, findings: int) -> list[str]:
    """Return what the summary leaves to the report, counted."""
    said = [wording.count_noun(findings, "finding", "findings")]
    if problems.list_standing(doc):
        said.append(
            wording.count_noun(
                len(problems.list_standing(doc)),
                "problem without a rule",
                "problems without a rule",
            )
        )
    said.append(wording.count_noun(view.count_silenced(doc), "muted entry", "muted entries"))
    said.append(wording.count_noun(len(open_asks.list_advice(doc)), "hint", "hints"))
    said.append(
        wording.count_noun(
            len(doc["cuts"]), "rule with objects left out", "rules with objects left out"
        )
    )
    remarks = (
        max(0, len(crowds.list_remarks(doc["nodes"])) - 1)
        + len(doc["notes"][NOTES:])
        + len(doc["limits"][1:])
    )
    said.append(wording.count_noun(remarks, "remark", "remarks"))
    return [part for part in said if part]
