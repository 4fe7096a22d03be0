"""The case note that fits a ticket: at most 30 lines of cause, evidence, fix and what to ask for.

The whole note is `markdown.render_note`.
"""

from __future__ import annotations

from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Fix
from analyzer.report import completeness, finding_rows, machines, markdown, open_asks, view
from analyzer.report.finding_rows import FindingGroup, Story
from analyzer.report.wording import join_few, write_place
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import code_span, for_markdown, one_line

LINES = 30
STORIES = 3  # in full
NAMED = 8  # further findings, and commands to ask for, by name
HOSTS = 2  # that get a line each
WIDTH = 400  # characters of a text within a line
EVIDENCE = 200  # characters of a line of evidence


def render_short_note(doc: CaseDocument) -> str:
    """Return the short note of a case as Markdown, `LINES` lines at most, each of bounded length."""
    name = _clean_text(doc.case.name or "(no name)")
    headline = _clean_text(view.write_headline(doc))
    lines = [f"# Case {name}", "", f"{headline}."]
    nodes = doc.nodes
    if len(nodes) > HOSTS:
        names = join_few([machines.name_node(node) for node in nodes], NAMED)
        lines.append(f"- {len(nodes):,} machines: {_clean_text(names)}")
    else:
        for node in nodes:
            name = _clean_text(machines.name_node(node))
            facts = _clean_text("; ".join(view.list_facts(node)))
            lines.append(f"- **{name}**: {facts}")
    if not completeness.is_complete(doc):
        material = completeness.describe_completeness(doc)
        lines.append(f"- Material: {_clean_text(material)}")
    stories = finding_rows.list_stories(doc)
    numbers = finding_rows.number_findings(doc)
    if not stories:
        lines += ["", markdown.describe_nothing(doc)]
    for story in stories[:STORIES]:
        lines += ["", *write_story(story, numbers)]
    lines.append("")
    others = finding_rows.list_story_rows(stories[STORIES:])
    if others:
        named = "; ".join(_name_row(row, numbers) for row in others[:NAMED])
        named = _clean_text(named, 3 * WIDTH)
        lines.append(f"- **Also found**: {named}{_count_more(others)}")
    lines += list_asks(doc)
    tool = doc.tool
    masked = "masked"
    if not doc.case.masked:
        masked = "not masked"
    made = f"- Backline {_clean_text(tool.version)}, {tool.rules:,} rules."
    lines += [f"{made} Names and addresses are {masked}.", ""]
    return "\n".join(lines)


def _clean_text(text: str, most: int = WIDTH) -> str:
    return for_markdown(bound_line(text, most))


def _count_more(items: list[str] | list[FindingGroup]) -> str:
    """Return how many of a list are not named."""
    if len(items) > NAMED:
        return f" and {len(items) - NAMED:,} more"
    return ""


def _name_row(row: FindingGroup, numbers: dict[str, str]) -> str:
    number = finding_rows.number_row(row, numbers)
    return f"{number}. {row.weight}: {row.first.title}"


def write_story(story: Story, numbers: dict[str, str]) -> list[str]:
    """Return what is wrong, and in a line each why, where it is seen, what mends it and what it explains."""
    row = story.row
    first = row.first
    number = finding_rows.number_row(row, numbers)
    who = first.subject
    if first.node and first.node not in who:
        who = f"{who} on {first.node}"
    if len(row.findings) > 1:
        who += f", and {len(row.findings) - 1:,} more"
    lines = [f"**{number}. {row.weight}: {_clean_text(first.title)}**"]
    lines.append(f"- {_clean_text(who)}: {_clean_text(first.say)}")
    causes = []
    if first.about:
        causes.append(_clean_text(first.about))
    if story.signs:
        signs = join_few([_name_row(sign, numbers) for sign in story.signs], NAMED)
        causes.append(_clean_text(f"It explains {signs}."))
    if causes:
        lines.append(f"- Cause: {' '.join(causes)}")
    for place in first.evidence[:1]:
        written = one_line(write_place(place))
        line = f"- Evidence: {code_span(written)}"
        text = bound_middle(place.text.strip(), EVIDENCE)
        if text:
            line += f" {code_span(text)}"
        lines.append(line)
    if first.fix:
        fix = "; then ".join(map(write_step, first.fix[:3]))
        cautions = [first.caution, *(step.caution for step in first.fix)]
        for caution in dict.fromkeys(cautions):
            if caution:
                fix += f" **Caution:** {_clean_text(caution)}"
        lines.append(f"- Fix: {fix}")
    return lines


def write_step(step: Fix) -> str:
    """Return a step in one line; of a script of several lines only that it is in the report."""
    run = step.run.strip()
    if "\n" in run:
        command = "the commands in the report"
    else:
        command = ""
        if run:
            command = code_span(one_line(run, WIDTH))
    action = " ".join(filter(None, [_clean_text(step.do.rstrip(".")), command]))
    return ": ".join(filter(None, [_clean_text(step.where), action]))


def list_asks(doc: CaseDocument) -> list[str]:
    """Return in a line or two what to request: files that came damaged, and commands, each once."""
    lines = []
    damaged = open_asks.list_damaged_files(doc)
    if damaged:
        lines.append(f"- **Ask again for**: {_clean_text(join_few(damaged, NAMED))}")
    commands = [ask.what for ask in open_asks.list_wanted(doc) if ask.command]
    wanted = list(dict.fromkeys(commands))
    if wanted:
        named = ", ".join(code_span(one_line(command, WIDTH)) for command in wanted[:NAMED])
        more = _count_more(wanted)
        if more:
            more += ", see the e-mail text of the report"
        lines.append(f"- **Ask for**: {named}{more}")
    return lines
