"""The report as one HTML file that works from `file://`, without network and without JavaScript.

Text of a bundle reaches the page in two ways only: escaped by Jinja2, or as
JSON in a script block that no browser runs. The content policy in the page
names the hashes of our own script and style; whatever else got in would not
run. The same document gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from analyzer.report import (
    charts,
    completeness,
    crowds,
    doubts,
    facets,
    finding_rows,
    host_table,
    hosts,
    incident,
    lanes,
    local,
    markdown,
    numbers,
    once,
    open_asks,
    problems,
    short_note,
    stories,
    view,
    wording,
)
from analyzer.report import objects as index
from analyzer.report.page import environment, policy, script_json
from analyzer.report.styles import asset, style
from analyzer.runtime.text import make_visible, one_line

Doc = dict[str, Any]

REPORT_BYTES = 20 << 20  # the default of limits.report_bytes
PIECE = 2000  # characters from which a part of the page stands by itself, and how many smaller ones stand together
DOCUMENT_BYTES = (
    4 << 20
)  # a case document beyond is not put into the page: a browser should open it at once
CHART_POINTS = 1200  # values of one line kept when the whole document does not fit
TABLE_ROWS = 500
CONTEXT = 2  # lines before and after the line of evidence


@dataclass(frozen=True, slots=True)
class PagePlan:
    """What goes into the page; made smaller step by step until the page is within its size."""

    document: bool = True  # the whole case document, for "Save JSON"
    context: int = CONTEXT
    rows: int = TABLE_ROWS  # rows of timeline and topology
    members: int = 2000  # rows of sources
    detail: int = 20  # findings of one row shown in full; up to twice as many more when they are the worst of a node
    short: int = 2000  # further findings of one row shown in one line each
    places: int = 20  # lines of evidence of one finding
    text: int = 2000  # characters of one line
    left_out: tuple[str, ...] = ()

    def smaller(self, sentence: str, **changes: Any) -> PagePlan:
        """Return this plan with `changes`, and the sentence that tells the reader of them."""
        return replace(self, **changes, left_out=(*self.left_out, sentence))


_STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("the case document itself and all but 1,200 values of a chart", {"document": False}),
    (
        "the lines around evidence, and what is longer than 300 characters",
        {"context": 0, "text": 300},
    ),
    ("the time line and the tables below it beyond 20 rows", {"rows": 20, "members": 20}),
    (
        "findings beyond 23 of a kind and evidence beyond 3 lines",
        {"detail": 3, "short": 20, "places": 3},
    ),
)


def render(doc: Doc, report_bytes: int = REPORT_BYTES) -> str:
    """Return the page for a case document: what `pieces` gives, as one text."""
    return "".join(pieces(doc, report_bytes))


def pieces(doc: Doc, report_bytes: int = REPORT_BYTES) -> list[str]:
    """Return the page for a case document in parts: one text of a large page takes two to four times its bytes.

    When it would be larger than `report_bytes`, parts are left out in the order
    of `_STEPS` and the page says which.
    """
    plan, steps = PagePlan(), _STEPS
    if _longer(doc, DOCUMENT_BYTES):
        sentence, changes = _STEPS[0]
        plan, steps = plan.smaller(sentence, **changes), _STEPS[1:]
    page = _page(doc, plan)
    for sentence, changes in steps:
        if _bytes(page) <= report_bytes:
            return page
        page = []
        plan = plan.smaller(sentence, **changes)
        page = _page(doc, plan)
    if _bytes(page) > report_bytes:
        page = _shortest(doc, plan, report_bytes)
    return page


def _bytes(page: list[str]) -> int:
    """Return how many bytes a page takes."""
    return sum(len(piece.encode()) for piece in page)


def _longer(doc: Doc, most: int) -> bool:
    """Tell whether a document is longer than `most` characters as JSON; it is written out record by record only."""
    length = 0
    for value in doc.values():
        for record in value if isinstance(value, list) else [value]:
            length += len(json.dumps(record, ensure_ascii=False))
            if length > most:
                return True
    return False


def _shortest(doc: Doc, plan: PagePlan, report_bytes: int) -> list[str]:
    """Return the page with the worst findings only, half as many until it fits."""
    kept = len(doc["findings"])
    page: list[str] = []
    while kept:
        kept //= 2
        cut = (
            "findings",
            "cannot_tell",
            "quiet",
            "cuts",
            "nodes",
            "damage",
            "limits",
            "advice",
            "notes",
            "problems",
            "hosts",
        )
        lists = {key: doc[key][:kept] for key in cut}
        fewer = plan.smaller(
            f"all but the {kept} worst findings and the first {kept} rows of other lists"
        )
        page = _page(numbers.part_of(doc, {**doc, **lists, "series": {}}), fewer)
        if _bytes(page) <= report_bytes:
            break
    return page


def _site(doc: Doc) -> object:
    if not doc.get("site"):
        return None
    from analyzer.report import site  # noqa: PLC0415 - few cases need it

    return site.picture(doc)


def _drawer(doc: Doc) -> object:
    if not doc["log"] and not any(node["logs"] for node in doc["nodes"]):
        return None
    from analyzer.report.log_lines import LogDrawer  # noqa: PLC0415 - a case without logs needs none

    return LogDrawer(doc)


def _page(doc: Doc, plan: PagePlan) -> list[str]:
    scripts = [
        asset("vendor/uplot.iife.min.js"),
        asset("rail.js") + asset("report.js") + asset("log_lines.js"),
    ]
    sheet = style("vendor/uplot.min.css", "base.css", "report.css", "rail.css", "log_lines.css")
    told = stories.stories(doc)
    rows = stories.in_order(told)
    things = index.objects(doc)
    axis = lanes.axis(doc)
    parts = (
        templates()
        .get_template("report.html")
        .generate(
            doc=doc,
            plan=plan,
            view=view,
            doubts=doubts,
            wording=wording,
            finding_rows=finding_rows,
            completeness=completeness,
            open_asks=open_asks,
            local=local,
            crowds=crowds,
            once=once,
            problems=problems,
            hosts=hosts,
            site_picture=_site(doc),
            incident=incident,
            drawer=_drawer(doc),
            objects=things,
            facets=facets.facets(doc, things),
            stories=told,
            machines=host_table.rows(doc),
            many_hosts=host_table.many(doc),
            worst=host_table.worst(doc),
            node_names=crowds.names(doc),
            lines=_Lines(plan, doc["findings"]),
            groups=rows,
            muted=finding_rows.muted(doc),
            fixed=once.earlier(doc, rows),
            numbers=numbers.numbers(doc),
            usual=view.usual_status(doc),
            titles={finding["id"]: finding for finding in doc["findings"]},
            shown=_shown_findings(doc, plan),
            charts=charts.charts(doc),
            axis=axis,
            lanes=lanes.lanes(doc, axis),
            moments=lanes.moments(doc),
            mail=open_asks.mail(doc),
            policy=policy(scripts, sheet),
            scripts=[Markup(script) for script in scripts],
            style=Markup(sheet),
            case_json=script_json(doc if plan.document else {"series": _decimated(doc["series"])}),
            texts_json=script_json(
                {
                    "note": short_note.render(doc),
                    "whole": markdown.render(doc),
                    "asks": open_asks.mail(doc),
                }
            ),
        )
    )
    return list(_pieces(parts))


def _pieces(parts: Iterable[str]) -> Iterator[str]:
    """Yield small parts put together, and each large one by itself: one wide character would double it."""
    some: list[str] = []
    for part in parts:
        if len(part) > PIECE or len(some) == PIECE:
            yield "".join(some)
            some = []
        if len(part) > PIECE:
            yield str(part)
        else:
            some.append(part)
    yield "".join(some)


def _shown_findings(doc: Doc, plan: PagePlan) -> set[str]:
    """Return the ids that have a place on the page, so that no link leads nowhere."""
    rows = [*finding_rows.groups(doc), *finding_rows.muted(doc)]
    parts = [row.parted(plan.detail) for row in rows]
    return {finding["id"] for told, rest in parts for finding in [*told, *rest[: plan.short]]}


@cache
def templates() -> Environment:
    """Return the templates of the report, with their filters."""
    made = environment()
    made.filters |= {"anchor": anchor, "cut": _cut, "kind": _word, "prose": _prose}
    return made


def anchor(identity: str) -> str:
    """Return the id of a finding as it stands in `#f=…`: percent-encoded, so that any name will do."""
    return quote(make_visible(identity), safe="/:!")


_TICKED = re.compile(r"`([^`\n]+)`")


def _prose(text: str) -> Markup:
    """Return a sentence whose commands, which stand in backticks, are shown as code."""
    parts = _TICKED.split(make_visible(text))
    code = Markup("<code>{}</code>")
    return Markup("").join(
        code.format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def _word(text: str) -> str:
    """Return a word that may be a class name, whatever came in."""
    return re.sub(r"[^a-z_]", "", text.lower()) or "other"


def _cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, and how many more there are."""
    shown = make_visible(text)
    return (
        shown if len(shown) <= most else f"{shown[:most]} … ({len(shown) - most:,} more characters)"
    )


class _Lines:
    """Lines of evidence as blocks with their neighbours; each line gets its link `#l=…` once on the page."""

    def __init__(self, plan: PagePlan, findings: list[Doc]) -> None:
        self.plan = plan
        self.shown: set[str] = set()
        places = (place for finding in findings for place in finding["evidence"][: plan.places])
        self.cited = set(map(wording.place, places))

    def blocks(self, finding: Doc) -> list[Doc]:
        """Return evidence of a finding; lines that lie close together share a block."""
        out: list[Doc] = []
        for place in finding["evidence"][: self.plan.places]:
            rows = self._around(place)
            block = out[-1] if out and out[-1]["address"] == place["address"] else None
            if block and place["line"] and _touch(block["rows"], rows):
                block["rows"] |= {
                    number: row for number, row in rows.items() if number not in block["rows"]
                }
                block["rows"][place["line"]] = rows[place["line"]]
                block["places"].append(place)
            else:
                out.append({"address": place["address"], "places": [place], "rows": rows})
        for block in out:
            block["rows"] = sorted(block["rows"].items())
        return out

    def _around(self, place: Doc) -> dict[int, tuple[str, bool, str]]:
        """Return {line: (text, is it evidence, id)} for a line and its neighbours."""
        context = self.plan.context
        before = place["before"][-context:] if context else []
        texts = [*before, place["text"], *place["after"][:context]]
        rows = {}
        for number, text in enumerate(texts, place["line"] - len(before)):
            hit = number == place["line"]
            rows[number] = (
                _cut(one_line(text), self.plan.text),
                hit,
                self._identity(place) if hit else "",
            )
        return rows

    def _identity(self, place: Doc) -> str:
        where = wording.place(place)
        if where in self.shown:
            return ""
        self.shown.add(where)
        return f"l={anchor(where)}"


def _touch(
    rows: dict[int, tuple[str, bool, str]], others: dict[int, tuple[str, bool, str]]
) -> bool:
    """Tell whether two stretches of one file meet and say the same where they overlap."""
    if min(others) > max(rows) + 1 or max(others) < min(rows) - 1:
        return False
    return all(rows[number][0] == row[0] for number, row in others.items() if number in rows)


def _decimated(series: Doc) -> Doc:
    """Return charts thinned to at most CHART_POINTS values a line."""
    out: Doc = {}
    for key, chart in series.items():
        step = max(1, -(-len(chart["times"]) // CHART_POINTS))
        lines = [{**line, "values": line["values"][::step]} for line in chart["lines"]]
        out[key] = {**chart, "times": chart["times"][::step], "lines": lines}
    return out
