"""The case note that fits a ticket: at most 30 lines of cause, evidence, fix and what to ask for.

The whole note is `markdown.render`.
"""

from __future__ import annotations

from typing import Any

from analyzer.report import completeness, crowds, markdown, numbers, open_asks, view, wording
from analyzer.report.finding_rows import FindingGroup
from analyzer.report.stories import Story, stories
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import code_span, for_markdown, one_line

Doc = dict[str, Any]

LINES = 30
TOLD = 3  # stories in full
NAMED = 8  # further findings, and commands to ask for, by name
HOSTS = 2  # that get a line each
WIDTH = 400  # characters of a text within a line
EVIDENCE = 200  # characters of a line of evidence


def render(doc: Doc) -> str:
    """Return the short note of a case as Markdown, `LINES` lines at most, each of bounded length."""
    told = stories(doc)
    lines = [
        f"# Case {_text(doc['case']['name'] or '(no name)')}",
        "",
        f"{_text(view.headline(doc))}.",
        *_hosts(doc),
    ]
    if not completeness.complete(doc):
        lines.append(f"- Material: {_text(completeness.completeness(doc))}")
    if not told:
        lines += ["", markdown.nothing(doc)]
    known = numbers.numbers(doc)
    for story in told[:TOLD]:
        lines += ["", *_story(story, known)]
    rest = [_named(row, known) for story in told[TOLD:] for row in story.rows]
    also = (
        [f"- **Also found**: {_text('; '.join(rest[:NAMED]), 3 * WIDTH)}{_more(rest)}"]
        if rest
        else []
    )
    lines += ["", *also, *_asks(doc), _made(doc)]
    return "\n".join(lines) + "\n"


def _more(items: list[str]) -> str:
    """Return how many of a list are not named."""
    return f" and {len(items) - NAMED:,} more" if len(items) > NAMED else ""


def _text(text: str, most: int = WIDTH) -> str:
    return for_markdown(bound_line(text, most))


def _weight(row: FindingGroup) -> str:
    """Return severity and confidence as the whole note words them: `MAJOR likely`."""
    return " ".join(
        filter(None, ["RULE BROKE" if row.word == "error" else row.word.upper(), row.confidence])
    )


def _hosts(doc: Doc) -> list[str]:
    """Return a line for each of few machines, one for many."""
    nodes = doc["nodes"]
    if len(nodes) > HOSTS:
        return [
            f"- {len(nodes):,} machines: {_text(wording.few([crowds.name(node) for node in nodes], NAMED))}"
        ]
    return [
        f"- **{_text(crowds.name(node))}**: {_text('; '.join(view.facts(node)))}" for node in nodes
    ]


def _named(row: FindingGroup, known: dict[str, str]) -> str:
    return f"{numbers.of_row(row, known)}. {_weight(row)}: {row.first['title']}"


def _story(story: Story, known: dict[str, str]) -> list[str]:
    """Return what is wrong, and in a line each why, where it is seen, what mends it and what it explains."""
    row, first, number = story.row, story.row.first, numbers.of_row(story.row, known)
    where = (
        f" on {first['node']}" if first["node"] and first["node"] not in first["subject"] else ""
    )
    more = f", and {len(row.findings) - 1:,} more" if len(row.findings) > 1 else ""
    lines = [f"**{number}. {_weight(row)}: {_text(first['title'])}**"]
    lines.append(f"- {_text(first['subject'] + where + more)}: {_text(first['say'])}")
    signs = wording.few([_named(sign, known) for sign in story.signs], NAMED)
    explains = f"It explains {signs}." if signs else ""
    if first["about"] or explains:
        lines.append(f"- Cause: {' '.join(filter(None, [_text(first['about']), _text(explains)]))}")
    for place in first["evidence"][:1]:
        seen = bound_middle(place["text"].strip(), EVIDENCE)
        lines.append(
            f"- Evidence: {code_span(one_line(wording.place(place)))}"
            + (f" {code_span(seen)}" if seen else "")
        )
    if first["fix"]:
        lines.append(
            f"- Fix: {'; then '.join(_step(step) for step in first['fix'][:3])}{_caution(first)}"
        )
    return lines


def _step(step: Doc) -> str:
    """Return a step in one line; of a script of several lines only that it is in the report."""
    run = step["run"].strip()
    shown = (
        code_span(one_line(run, WIDTH))
        if run and "\n" not in run
        else ("the commands in the report" if run else "")
    )
    said = " ".join(filter(None, [_text(step["do"].rstrip(".")), shown]))
    return ": ".join(filter(None, [_text(step["where"]), said]))


def _caution(finding: Doc) -> str:
    """Return what to take care of: that of the finding and those of its steps."""
    cautions = filter(None, [finding["caution"], *(step["caution"] for step in finding["fix"])])
    return "".join(f" **Caution:** {_text(line)}" for line in dict.fromkeys(cautions))


def _asks(doc: Doc) -> list[str]:
    """Return in a line or two what to request: files that came damaged, and commands, each once."""
    lines = []
    if again := open_asks.send_again(doc):
        lines.append(f"- **Ask again for**: {_text(wording.few(again, NAMED))}")
    wanted = list(
        dict.fromkeys(ask["what"] for ask in open_asks.list_wanted(doc) if ask["command"])
    )
    if wanted:
        more = f"{_more(wanted)}, see the e-mail text of the report" if _more(wanted) else ""
        lines.append(
            f"- **Ask for**: {', '.join(code_span(one_line(one, WIDTH)) for one in wanted[:NAMED])}{more}"
        )
    return lines


def _made(doc: Doc) -> str:
    tool = doc["tool"]
    masked = f"Names and addresses are {'' if doc['case']['masked'] else 'not '}masked."
    return f"- Backline {_text(tool['version'])}, {tool['rules']:,} rules. {masked}"
