"""The report as one HTML file that works from `file://`, without network and without JavaScript.

Text of a bundle reaches the page in two ways only: escaped by Jinja2, or as
JSON, packed, in a script block that no browser runs. The content policy in the page
names the hashes of our own script and style; whatever else got in would not
run. The same document gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup
from msgspec import structs, to_builtins

from analyzer.case.articles import URL, link_article
from analyzer.case.case_file import write_case
from analyzer.case.document import CaseChart, CaseDocument
from analyzer.case.packed_text import pack_text
from analyzer.case.verdicts import Evidence, Finding
from analyzer.report import (
    charts,
    completeness,
    desk_rows,
    finding_rows,
    incident,
    lanes,
    local,
    machines,
    mail,
    markdown,
    open_asks,
    short_note,
    signals,
    view,
    wording,
)
from analyzer.report.bundle_letters import give_letters
from analyzer.report.facets import build_facets
from analyzer.report.log_lines import LogDrawer
from analyzer.report.objects import list_objects
from analyzer.report.open_asks import keep_questions
from analyzer.report.page import make_environment, write_policy
from analyzer.report.site import draw_site
from analyzer.report.styles import read_asset, read_lean_scripts, read_lean_styles
from analyzer.runtime.text import make_visible, one_line

_SCRIPTS = ("rail.js", "desk.js", "report.js", "line_rule.js", "log_lines.js")
_STYLES = (
    "vendor/uplot.min.css",
    "base.css",
    "report.css",
    "rail.css",
    "desk.css",
    "log_lines.css",
)
REPORT_BYTES = 20 << 20  # the default of limits.report_bytes
PIECE = 2000  # characters from which a part of the page is a piece of its own, and most parts that share one
# A case document beyond is not put into the page: a browser should open it at once.
DOCUMENT_BYTES = 4 << 20
CHART_POINTS = 1200  # values of one line kept when the whole document does not fit
TABLE_ROWS = 500
LONG_SOURCE = 60  # signs of a source that the page writes once
CONTEXT = 2  # lines before and after the line of evidence
# An address in running text, without the full stop or comma behind it; or the number of an article.
_CITED = re.compile(
    r"(?P<url>https?://[^\s<>\"]{1,500}(?<![.,;:)]))|\b(?:KB|[Aa]rticle) (?P<article>[1-9]\d{3,7})\b"
)
_TICKED = re.compile(r"`([^`\n]+)`")
# The lists of a document that are cut when nothing else makes the page small enough.
_LISTS = (
    "findings",
    "cannot_tell",
    "quiet",
    "cuts",
    "nodes",
    "damage",
    "limits",
    "advice",
    "notes",
    "signals",
    "hosts",
)
Lines = dict[int, tuple[str, bool, str]]  # number of a line: its text, is it evidence, its id


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

    def make_smaller(self, sentence: str, **changes: Any) -> PagePlan:
        """Return this plan with `changes`, and the sentence that says so to the reader."""
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


def render_page(doc: CaseDocument, report_bytes: int = REPORT_BYTES) -> str:
    """Return the page for a case document: what `render_pieces` gives, as one text."""
    with keep_questions():
        return "".join(render_pieces(doc, report_bytes))


def render_pieces(doc: CaseDocument, report_bytes: int = REPORT_BYTES) -> list[str]:
    """Return the page for a case document in parts: one text of a large page takes two to four times its bytes.

    When it would be larger than `report_bytes`, parts are left out in the order
    of `_STEPS` and the page says which.
    """
    plan, steps = PagePlan(), _STEPS
    if _is_longer(doc, DOCUMENT_BYTES):
        sentence, changes = _STEPS[0]
        plan = plan.make_smaller(sentence, **changes)
        steps = _STEPS[1:]
    page = _fill_template(doc, plan)
    for sentence, changes in steps:
        if _count_bytes(page) <= report_bytes:
            return page
        page = []  # two pages at once would take twice the memory
        plan = plan.make_smaller(sentence, **changes)
        page = _fill_template(doc, plan)
    kept = len(doc.findings)
    while kept and _count_bytes(page) > report_bytes:
        kept //= 2
        page = []
        lists = {key: getattr(doc, key)[:kept] for key in _LISTS}
        part = finding_rows.take_part(doc, structs.replace(doc, **lists, series={}))
        sentence = f"all but the {kept} worst findings and the first {kept} rows of other lists"
        page = _fill_template(part, plan.make_smaller(sentence))
    return page


def _count_bytes(page: list[str]) -> int:
    """Return how many bytes a page takes."""
    return sum(len(piece.encode()) for piece in page)


def _is_longer(doc: CaseDocument, most: int) -> bool:
    """Say whether a document is longer than `most` characters as JSON; it is written out record by record only."""
    length = 0
    for key in CaseDocument.__struct_fields__:
        value = getattr(doc, key)
        for record in value if isinstance(value, list) else [value]:
            length += len(json.dumps(to_builtins(record), ensure_ascii=False))
            if length > most:
                return True
    return False


def _fill_template(doc: CaseDocument, plan: PagePlan) -> list[str]:
    """Return the parts of the page of a case."""
    own_scripts = read_lean_scripts(*_SCRIPTS)
    scripts = [read_asset("vendor/uplot.iife.min.js"), own_scripts]
    style = read_lean_styles(*_STYLES)
    stories = finding_rows.list_stories(doc)
    rows = finding_rows.list_story_rows(stories)
    muted = finding_rows.group_muted(doc)
    objects = list_objects(doc)
    axis = lanes.build_axis(doc)
    has_logs = doc.log or any(node.logs for node in doc.nodes)
    shown: set[str] = set()  # the findings that have a place on the page: no link leads nowhere
    for row in [*rows, *muted]:
        full, short = row.split_shown(plan.detail)
        shown |= {finding.id for finding in [*full, *short[: plan.short]]}
    texts = {
        "note": short_note.render_short_note(doc),
        "whole": markdown.render_note(doc),
    }
    parts = (
        load_templates()
        .get_template("report.html")
        .generate(
            doc=doc,
            plan=plan,
            site_picture=draw_site(doc),
            drawer=LogDrawer(doc) if has_logs else None,
            objects=objects,
            facets=build_facets(doc, objects),
            stories=stories,
            desk=desk_rows.list_desk_rows(doc, stories),
            host_rows=machines.list_hosts(doc),
            many_hosts=machines.has_many_hosts(doc),
            worst=machines.list_worst_hosts(doc),
            node_names=machines.name_nodes(doc),
            lines=EvidenceLines(plan, doc.findings),
            groups=rows,
            muted=muted,
            fixed=finding_rows.find_earlier_fixes(doc, rows),
            numbers=finding_rows.number_findings(doc),
            usual=view.find_usual_status(doc),
            titles={finding.id: finding for finding in doc.findings},
            shown=shown,
            charts=charts.list_charts(doc),
            axis=axis,
            sources=SourceMemory(),
            letters=give_letters(doc),
            lanes=lanes.build_lanes(doc, axis),
            moments=lanes.split_moments(doc),
            mail=mail.write_mail(doc),
            policy=write_policy(scripts, style),
            scripts=[Markup(script) for script in scripts],
            style=Markup(style),
            case_packed=_pack_case(doc, plan),
            texts_packed=pack_text(json.dumps(texts)),
        )
    )
    return list(_join_small_parts(parts))


def _pack_case(doc: CaseDocument, plan: PagePlan) -> str:
    """Return the bytes of case.json, packed; of a document that is too long, only what the charts draw."""
    if plan.document:
        text = write_case(doc)
    else:
        text = json.dumps(to_builtins({"series": _thin_series(doc.series)}), separators=(",", ":"))
    return pack_text(text)


def _join_small_parts(parts: Iterable[str]) -> Iterator[str]:
    """Yield small parts put together, and each large one by itself: one wide character would double it."""
    small: list[str] = []
    for part in parts:
        is_large = len(part) > PIECE
        if is_large or len(small) == PIECE:
            yield "".join(small)
            small = []
        if is_large:
            yield str(part)
        else:
            small.append(part)
    yield "".join(small)


def _thin_series(series: dict[str, CaseChart]) -> dict[str, CaseChart]:
    """Return charts thinned to at most CHART_POINTS values a line."""
    thinned: dict[str, CaseChart] = {}
    for key, chart in series.items():
        step = max(1, -(-len(chart.times) // CHART_POINTS))
        lines = []
        for line in chart.lines:
            lines.append(structs.replace(line, values=line.values[::step]))
        thinned[key] = structs.replace(chart, times=chart.times[::step], lines=lines)
    return thinned


@cache
def load_templates() -> Environment:
    """Return the templates of the report, with their filters and the modules whose functions they call."""
    environment = make_environment("report")
    modules = {
        "completeness": completeness,
        "desk_rows": desk_rows,
        "finding_rows": finding_rows,
        "incident": incident,
        "local": local,
        "machines": machines,
        "open_asks": open_asks,
        "signals": signals,
        "view": view,
        "wording": wording,
    }
    environment.globals |= modules
    environment.filters["anchor"] = make_anchor
    environment.filters["cut"] = _cut_text
    environment.filters["kind"] = _make_class_name
    environment.filters["prose"] = _mark_commands
    environment.filters["cited"] = _link_source
    return environment


def make_anchor(identity: str) -> str:
    """Return the id of a finding as it is in `#f=…`: percent-encoded, so that any name will do."""
    return quote(make_visible(identity), safe="/:!")


def _cut_text(text: str, most: int) -> str:
    """Return a text of at most `most` characters, and how many more there are."""
    shown = make_visible(text)
    if len(shown) <= most:
        return shown
    more = len(shown) - most
    return f"{shown[:most]} … ({more:,} more characters)"


def _make_class_name(text: str) -> str:
    """Return a word that may be a class name, whatever came in."""
    return re.sub(r"[^a-z_]", "", text.lower()) or "other"


def _mark_commands(text: str) -> Markup:
    """Return a sentence whose commands, which are in backticks, are shown as code."""
    sentence = Markup()
    for place, part in enumerate(_TICKED.split(make_visible(text))):
        if place % 2:
            sentence += Markup("<code>{}</code>").format(part)
        else:
            sentence += part
    return sentence


def _link_source(text: str) -> Markup:
    """Return where a rule has its facts from, with its addresses and numbers of articles as links."""
    sentence, last = Markup(), 0
    for found in _CITED.finditer(text):
        address = found["url"] or link_article(int(found["article"]))
        if found["url"] and not URL.match(address):
            continue
        sentence += _mark_commands(text[last : found.start()])
        link = '<a href="{}" rel="noopener noreferrer" target="_blank">{}</a>'
        sentence += Markup(link).format(address, found[0])
        last = found.end()
    return sentence + _mark_commands(text[last:])


class SourceMemory:
    """Which finding was the first to cite a source: a long one is written there, the others refer to it."""

    def __init__(self) -> None:
        self._firsts: dict[str, str] = {}

    def split_sources(self, finding: Finding) -> tuple[list[str], list[str]]:
        """Return the sources that a finding writes out, and the ids of earlier findings that have its others."""
        own = []
        earlier = []
        for source in finding.source:
            first = self._firsts.setdefault(source, finding.id)
            if first == finding.id or len(source) < LONG_SOURCE:
                own.append(source)
            else:
                earlier.append(first)
        return own, list(dict.fromkeys(earlier))


@dataclass(slots=True)
class EvidenceBlock:
    """Lines of one file that are close together, and the places in them that are evidence."""

    address: str
    places: list[Evidence]
    lines: Lines = field(default_factory=dict)

    @property
    def rows(self) -> list[tuple[int, tuple[str, bool, str]]]:
        """The lines with their numbers, in order."""
        return sorted(self.lines.items())

    def is_next_to(self, address: str, lines: Lines) -> bool:
        """Say whether lines meet those of this block, and are the same where they overlap."""
        if address != self.address:
            return False
        if min(lines) > max(self.lines) + 1 or max(lines) < min(self.lines) - 1:
            return False
        for number, line in lines.items():
            if number in self.lines and self.lines[number][0] != line[0]:
                return False
        return True


class EvidenceLines:
    """Lines of evidence as blocks with their neighbours; each line gets its link `#l=…` once on the page."""

    def __init__(self, plan: PagePlan, findings: list[Finding]) -> None:
        self.plan = plan
        self.linked: set[str] = set()
        self.cited: set[str] = set()
        for finding in findings:
            self.cited |= set(map(wording.write_place, finding.evidence[: plan.places]))

    def list_blocks(self, finding: Finding) -> list[EvidenceBlock]:
        """Return evidence of a finding; lines that lie close together share a block."""
        blocks: list[EvidenceBlock] = []
        for place in finding.evidence[: self.plan.places]:
            lines = self._list_lines(place)
            if place.line and blocks and blocks[-1].is_next_to(place.address, lines):
                block = blocks[-1]
                block.places.append(place)
                block.lines = {**lines, **block.lines, place.line: lines[place.line]}
            else:
                blocks.append(EvidenceBlock(place.address, [place], lines))
        return blocks

    def _list_lines(self, place: Evidence) -> Lines:
        """Return the line of a place and its neighbours."""
        context = self.plan.context
        number = place.line
        before = []
        if context:
            before = place.before[-context:]
        texts = [*before, place.text, *place.after[:context]]
        lines = {}
        for at, text in enumerate(texts, number - len(before)):
            lines[at] = (_cut_text(one_line(text), self.plan.text), at == number, "")
        where = wording.write_place(place)
        if where not in self.linked:
            self.linked.add(where)
            lines[number] = (lines[number][0], True, f"l={make_anchor(where)}")
        return lines
