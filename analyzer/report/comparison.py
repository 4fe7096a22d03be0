"""The page, the Markdown and the terminal text of a comparison, made of its document alone (docs/compare.md).

The page works from `file://` without script or network; every text of a case is escaped by Jinja or by `for_markdown`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from analyzer.report import wording
from analyzer.report.comparison_words import percent, shown, span
from analyzer.report.page import environment, policy
from analyzer.report.styles import style
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import for_markdown, for_terminal, make_visible, one_line

Doc = dict[str, Any]
MOST_ROWS = 400  # of one table of the page; compare.json has all of them
CELL = 300  # characters of one value
MARKS = {
    "new": "major",
    "worse": "major",
    "no longer judged": "warning",
    "cannot tell": "warning",
    "same": "info",
    "better": "good",
    "gone": "good",
}
FILES = ("compare.json", "compare.html", "compare.md")


def html(doc: Doc) -> str:
    """Return the page for the document of a comparison."""
    sheet = style("base.css", "report.css", "comparison.css")
    return (
        _templates()
        .get_template("comparison.html")
        .render(
            doc=doc,
            title=title(doc),
            words=_words(doc),
            changes=_by_section(doc["changes"]),
            bad=[one for one in doc["counters"] if one["bad"]],
            other=[one for one in doc["counters"] if not one["bad"]],
            lacking=_lacking(doc),
            most=MOST_ROWS,
            marks=MARKS,
            place=_place,
            cell=_cell,
            stamp=wording.stamp,
            step=_step,
            policy=policy([], sheet).replace("script-src ;", "script-src 'none';"),
            style=Markup(sheet),
            scripts=[],
        )
    )


@cache
def _templates() -> Environment:
    return environment()


def title(doc: Doc) -> str:
    """Return the names of the sides as a heading."""
    names = [side["name"] for side in doc["sides"]]
    return bound_line((" and " if doc["mode"] == "hosts" else " → ").join(names), 300)


def _words(doc: Doc) -> dict[str, str]:
    """Return what the states are called: of two hosts nothing is new or gone."""
    words = {state: state for state in MARKS}
    if doc["mode"] == "hosts":
        first, last = doc["sides"][0]["name"], doc["sides"][-1]["name"]
        words |= {"new": f"only on {last}", "gone": f"only on {first}", "same": "on both"}
        words |= {
            "worse": f"worse on {last}",
            "better": f"better on {last}",
            "no longer judged": f"not judged on {last}",
        }
    return words


def _by_section(changes: Sequence[Doc]) -> list[tuple[str, list[Doc]]]:
    names = [*dict.fromkeys(one["section"] for one in changes)]
    measured = [name for name in names if name == "Measured values"]
    return [
        (name, [one for one in changes if one["section"] == name])
        for name in [*sorted(set(names) - {*measured}), *measured]
    ]


def _lacking(doc: Doc) -> list[Doc]:
    """Return what could not be compared, once for each table and set of sides."""
    ordered = sorted(doc["uncompared"], key=lambda one: (one["table"], one["lacks"], one["why"]))
    out = []
    for (table, lacks, why), some in groupby(
        ordered, key=lambda one: (one["table"], one["lacks"], one["why"])
    ):
        rows = [*some]
        machines = wording.few([row["machine"] for row in rows if row["machine"]], 4)
        names = [doc["sides"][at]["name"] for at in lacks]
        out.append(
            {
                "table": table,
                "machines": machines,
                "lacks": names,
                "why": why,
                "ask": rows[0]["ask"],
            }
        )
    return out


def _place(place: Doc | None) -> str:
    return wording.place(place) if place is not None else ""


def _cell(value: Any) -> str:
    text = make_visible(shown(value)) if value is not None else "not known"
    return text if len(text) <= CELL else f"{text[:CELL]} … ({len(text) - CELL:,} more characters)"


def _step(doc: Doc, made: Doc) -> str:
    """Return in words what a counter did from one side to the next."""
    said = []
    if len(doc["sides"]) > 2:
        said.append(f"{doc['sides'][made['from']]['name']} → {doc['sides'][made['to']]['name']}:")
    if made["difference"] is not None:
        said.append(f"{made['difference']:+,}")
    if made["seconds"]:
        said.append(f"in {span(made['seconds'])}")
    if made["per_hour"] is not None:
        said.append(f"({made['per_hour']:,} an hour)")
    shares = made["shares"]
    if all(share is not None for share in shares):
        said.append(f"{percent(shares[0])} → {percent(shares[1])} of {made['of_words']}")
    if made["state"] != "went on" and made["why"]:
        said.append(f"[{made['state']}: {made['why']}]")
    return " ".join(said)


def markdown(doc: Doc) -> str:
    """Return the comparison as Markdown: the conclusion, findings, changes and counters."""
    lines = [f"# {for_markdown(title(doc))}", "", for_markdown(doc["summary"]), ""]
    lines += [f"- {for_markdown(one['text'])}{_at(doc, one['at'])}" for one in doc["conclusion"]]
    lines += ["", *(f"- {for_markdown(note)}" for note in doc["notes"]), ""]
    for name, rows in _by_section(doc["changes"]):
        lines += [f"## {name}", "", *_markdown_rows(doc, rows), ""]
    bad = [one for one in doc["counters"] if one["bad"]]
    if bad:
        lines += ["## Counters of drops and errors", "", *_markdown_rows(doc, bad), ""]
    if doc["uncompared"]:
        lines += ["## Not compared", ""]
        for one in _lacking(doc):
            lacks = ", ".join(one["lacks"])
            lines.append(
                f"- `{one['table']}`: {for_markdown(one['why'])}{for_markdown(f' ({lacks})' if lacks else '')}"
            )
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _markdown_rows(doc: Doc, rows: Sequence[Doc]) -> Iterator[str]:
    names = [for_markdown(side["name"]) for side in doc["sides"]]
    yield f"| what | where | {' | '.join(names)} | |"
    yield "|---" * (len(names) + 3) + "|"
    for one in rows[:MOST_ROWS]:
        where = ", ".join(text for text in (one["machine"], one["subject"]) if text)
        cells = [
            f"{_cell(value)} ({_place(place)})" if place else _cell(value)
            for value, place in zip(one["values"], one["at"], strict=True)
        ]
        said = one["note"] if "note" in one else f"{one['verdict']} {_step(doc, one['steps'][-1])}"
        told = [one["meaning"] or one["column"], where, *cells, said]
        yield f"| {' | '.join(for_markdown(text) for text in told)} |"
    if len(rows) > MOST_ROWS:
        yield f"\n{len(rows) - MOST_ROWS:,} more are in compare.json."


def _at(doc: Doc, places: Sequence[Doc]) -> str:
    told = [f"{doc['sides'][place['side']]['name']}: {_place(place)}" for place in places[:4]]
    return f" ({for_markdown('; '.join(told))})" if told else ""


def terminal(doc: Doc) -> Iterator[str]:
    """Yield the lines of the short summary."""
    yield for_terminal(title(doc))
    yield ""
    yield for_terminal(one_line(doc["summary"]))
    yield ""
    for one in doc["conclusion"]:
        yield for_terminal(f"- {one_line(one['text'])}")
    for note in doc["notes"]:
        yield for_terminal(f"! {one_line(note)}")


def dumps(doc: Doc) -> str:
    """Return the document as JSON, one record a line; ASCII, so that nothing in it steers a terminal."""
    lines = []
    for key, value in doc.items():
        if isinstance(value, list) and value:
            inner = ",\n".join(
                json.dumps(item, allow_nan=False, separators=(",", ":")) for item in value
            )
            lines.append(f"{json.dumps(key)}: [\n{inner}\n]")
        else:
            lines.append(
                f"{json.dumps(key)}: {json.dumps(value, allow_nan=False, separators=(',', ':'))}"
            )
    return "{\n" + ",\n".join(lines) + "\n}\n"
