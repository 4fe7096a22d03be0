"""The page, the Markdown and the terminal text of a comparison, made of its document alone (docs/compare.md).

The page works from `file://` without script or network; every text of a case is escaped by Jinja or by `for_markdown`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup
from msgspec import to_builtins

from analyzer.case.comparison import (
    ComparedChange,
    ComparedCounter,
    Comparison,
    CounterChange,
    Place,
    Sentence,
    SidePlace,
    Uncompared,
)
from analyzer.report.comparison_words import (
    count_verdicts,
    list_rows,
    name_verdict,
    show_duration,
    show_percent,
    show_value,
)
from analyzer.report.page import make_environment, write_policy
from analyzer.report.styles import read_styles
from analyzer.report.wording import format_time, join_few, write_place
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import for_markdown, for_terminal, make_visible, one_line

MOST_ROWS = 400  # of one table of the page; compare.json has all of them
CELL = 300  # characters of one value
MARKS = {
    "new": "major",
    "replaced": "warning",
    "worse": "major",
    "no longer judged": "warning",
    "cannot tell": "warning",
    "same": "info",
    "better": "good",
    "gone": "good",
}
FILES = ("compare.json", "compare.html", "compare.md")


def render_html(doc: Comparison) -> str:
    """Return the page for the document of a comparison."""
    style = read_styles("base.css", "report.css", "comparison.css")
    policy = write_policy([], style).replace("script-src ;", "script-src 'none';")
    return (
        make_environment("comparison")
        .get_template("comparison.html")
        .render(
            doc=doc,
            title=name_sides(doc),
            rows=list_rows(doc),
            counts=count_verdicts(doc, list_rows(doc)),
            word=partial(name_verdict, doc),
            changes=_group_by_section(doc.changes),
            bad=[one for one in doc.counters if one.bad],
            other=[one for one in doc.counters if not one.bad],
            lacking=_list_lacking(doc),
            most=MOST_ROWS,
            marks=MARKS,
            place=_show_place,
            short=_shorten_place,
            cell=_show_cell,
            stamp=format_time,
            step=_describe_step,
            policy=policy,
            style=Markup(style),
            scripts=[],
        )
    )


def name_sides(doc: Comparison) -> str:
    """Return the names of the sides as a heading."""
    joint = " → "
    if doc.mode == "hosts":
        joint = " and "
    return bound_line(joint.join(side.name for side in doc.sides), 300)


def _group_by_section(changes: Sequence[ComparedChange]) -> list[tuple[str, list[ComparedChange]]]:
    """Return the changes by section, measured values last."""
    sections: dict[str, list[ComparedChange]] = {}
    for one in changes:
        sections.setdefault(one.section, []).append(one)
    return sorted(sections.items(), key=lambda item: (item[0] == "Measured values", item[0]))


@dataclass(slots=True)
class Lacking:
    """What could not be compared: a table that some sides lack, and why."""

    table: str
    why: str
    machines: str
    lacks: list[str]
    ask: str


def _list_lacking(doc: Comparison) -> list[Lacking]:
    """Return what could not be compared, once for each table, set of sides and reason."""
    groups: dict[tuple[str, tuple[int, ...], str], list[Uncompared]] = {}
    for one in doc.uncompared:
        groups.setdefault((one.table, tuple(one.lacks), one.why), []).append(one)
    found = []
    for (table, lacks, why), rows in sorted(groups.items(), key=lambda item: item[0]):
        machines = join_few([row.machine for row in rows if row.machine], 4)
        names = [doc.sides[at].name for at in lacks]
        found.append(Lacking(table, why, machines, names, rows[0].ask))
    return found


def _show_place(place: Place | SidePlace | None) -> str:
    """Return where a value was read, "" where it was not."""
    if place is not None:
        return write_place(place)
    return ""


def _shorten_place(place: Place | SidePlace) -> str:
    """Return where a value was read without the folders above the file."""
    return _show_place(place).rpartition("!")[2].rpartition("/")[2]


def _show_cell(value: Any) -> str:
    """Return a value as the text of a cell, a long one cut."""
    text = "not known"
    if value is not None:
        text = make_visible(show_value(value))
    if len(text) <= CELL:
        return text
    more = len(text) - CELL
    return f"{text[:CELL]} … ({more:,} more characters)"


def _describe_step(doc: Comparison, step: CounterChange) -> str:
    """Return in words what a counter did from one side to the next."""
    sides, parts = doc.sides, []
    if len(sides) > 2:
        begin = sides[step.from_side].name
        end = sides[step.to_side].name
        parts.append(f"{begin} → {end}:")
    if step.difference is not None:
        parts.append(f"{step.difference:+,}")
    if step.seconds:
        parts.append(f"in {show_duration(step.seconds)}")
    if step.per_hour is not None:
        parts.append(f"({step.per_hour:,} an hour)")
    if step.known_shares is not None:
        before, after = map(show_percent, step.known_shares)
        parts.append(f"{before} → {after} of {step.of_words}")
    if step.state != "went on" and step.why:
        parts.append(f"[{step.state}: {step.why}]")
    return " ".join(parts)


def render_markdown(doc: Comparison) -> str:
    """Return the comparison as Markdown: the conclusion, findings, changes and counters."""
    title = for_markdown(name_sides(doc))
    front = list_rows(doc)
    lines = [f"# {title}", "", f"**{for_markdown(count_verdicts(doc, front))}.**", ""]
    lines += [f"> {for_markdown(note)}" for note in doc.notes]
    lines += [
        "",
        *_write_front(doc, front),
        "",
        "## In sentences",
        "",
        for_markdown(doc.summary),
        "",
    ]
    for one in doc.conclusion:
        line = f"- {for_markdown(one.text)}"
        places = []
        for place in one.at[:4]:
            side = doc.sides[place.side].name
            places.append(f"{side}: {_show_place(place)}")
        if places:
            line += f" ({for_markdown('; '.join(places))})"
        lines.append(line)
    lines.append("")
    lines += _write_lists(doc)
    for name, rows in _group_by_section(doc.changes):
        lines += [f"## {name}", "", *_write_table(doc, rows), ""]
    bad = [one for one in doc.counters if one.bad]
    if bad:
        lines += ["## Counters of drops and errors", "", *_write_table(doc, bad), ""]
    if doc.uncompared:
        lines += ["## Not compared", ""]
        for lacking in _list_lacking(doc):
            line = f"- `{lacking.table}`: {for_markdown(lacking.why)}"
            if lacking.lacks:
                line += for_markdown(f" ({', '.join(lacking.lacks)})")
            lines.append(line)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _write_front(doc: Comparison, rows: Sequence[Sentence]) -> Iterator[str]:
    """Yield the front table: what became of what, from what to what."""
    yield "| | who | what | from → to |"
    yield "|---|---|---|---|"
    for one in rows:
        cells = (name_verdict(doc, one.verdict), one.who, one.what, _show_cell(one.went))
        yield f"| {' | '.join(map(for_markdown, cells))} |"


def _write_lists(doc: Comparison) -> list[str]:
    """Return what the page lists beside changes and counters: findings, things that came or went, samples of esxtop."""
    findings = []
    for one in doc.findings:
        text = f"{name_verdict(doc, one.state)}: {one.title}, {one.subject}"
        if one.muted:
            text += f" (muted: {one.muted})"
        if one.why:
            text += f": {one.why}"
        findings.append(f"{text}; ask for: {one.ask}" if one.ask else text)
    things = [
        f"{name_verdict(doc, one.state)}: {one.machine}, {one.subject} ({', '.join(one.tables)})"
        for one in doc.subjects
    ]
    samples = []
    for sample in doc.samples:
        means = [show_value(side.mean) if side is not None else "none" for side in sample.on]
        who = ", ".join(filter(None, [sample.machine, sample.subject]))
        name = sample.printed or sample.meaning
        samples.append(f"{name} of {who}: {' → '.join(means)} {sample.unit}, {sample.verdict}")
    lines = []
    for title, some in (
        ("Findings", findings),
        ("What came, went, moved or was replaced", things),
        ("esxtop", samples),
    ):
        if some:
            lines += [f"## {title}", "", *(f"- {for_markdown(text)}" for text in some[:MOST_ROWS])]
            if len(some) > MOST_ROWS:
                lines.append(f"- {len(some) - MOST_ROWS:,} more are in compare.json.")
            lines.append("")
    return lines


def _write_table(
    doc: Comparison, rows: Sequence[ComparedChange | ComparedCounter]
) -> Iterator[str]:
    """Yield changes or counters as a table of Markdown."""
    names = [for_markdown(side.name) for side in doc.sides]
    yield f"| what | where | {' | '.join(names)} | |"
    yield "|---" * (len(names) + 3) + "|"
    for one in rows[:MOST_ROWS]:
        where = ", ".join(filter(None, [one.machine, one.subject]))
        cells = [one.meaning or one.column, where]
        for value, place in zip(one.values, one.at, strict=True):
            cell = _show_cell(value)
            if place:
                cell += f" ({_show_place(place)})"
            cells.append(cell)
        if isinstance(one, ComparedChange):
            cells.append(one.note)
        else:
            step = _describe_step(doc, one.steps[-1])
            cells.append(f"{one.verdict} {step}")
        yield f"| {' | '.join(map(for_markdown, cells))} |"
    more = len(rows) - MOST_ROWS
    if more > 0:
        yield f"\n{more:,} more are in compare.json."


def list_lines(doc: Comparison) -> Iterator[str]:
    """Yield the sentences for a pipe, news first."""
    yield for_terminal(name_sides(doc))
    yield ""
    yield f"{for_terminal(one_line(count_verdicts(doc, list_rows(doc))))}."
    for note in doc.notes:
        yield for_terminal(f"! {one_line(note)}")
    yield ""
    for one in doc.conclusion:
        yield for_terminal(f"- {one_line(one.text)}")
    yield ""
    yield for_terminal(one_line(doc.summary))


def dump_document(doc: Comparison) -> str:
    """Return the document as JSON, one record a line; ASCII, so that nothing in it steers a terminal."""
    dump = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
    lines = []
    for key, value in ((key, to_builtins(doc)[key]) for key in to_builtins(doc)):
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(map(dump, value)) + "\n]"
        else:
            text = dump(value)
        lines.append(f"{dump(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
