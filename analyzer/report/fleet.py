"""The fleet page: one HTML file with case x rule, host x rule and rule x month, worst first.

Like the case report it works from `file://` without network, its policy names the
hashes of its own script and style, and text of a case reaches it escaped or as
JSON in a script block that no browser runs. Cells are one character each, so
that 10,000 cases of 300 rules are 3 MB. The same fleet gives the same bytes.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from analyzer.report import fleetmap
from analyzer.report.fleetmap import Fleet, FleetCase, FleetNote
from analyzer.report.html import make_anchor
from analyzer.report.page import dump_for_script, make_environment, write_policy
from analyzer.report.styles import read_asset, read_styles
from analyzer.report.wording import format_time, join_few, parse_time
from analyzer.runtime.limits import Limits
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import make_visible, one_line

STILL = 100  # cases and rules of the plain tables: without JavaScript, and on paper
NOTES = 20  # findings of one rule on one host of one case in full
TEXT = 1200  # characters of one sentence
NAME = 160  # characters of one name
SCRIPTS = ("fleet-data.js", "fleet-map.js", "fleet.js")  # each uses those before it
HEAD_MONTHS = 12  # of the plain table


@dataclass(slots=True)
class Texts:
    """Every text once; the data holds its number."""

    numbers: dict[str, int]
    bytes: int = 0

    def add_text(self, text: str, most: int = NAME, *, lines: bool = False) -> int:
        """Return the number of a text, cut to `most` characters and made visible."""
        if lines:
            shown = make_visible(text)
        else:
            shown = bound_line(text, most)
        if len(shown) > most:
            shown = f"{shown[:most]} …"
        if shown not in self.numbers:
            self.numbers[shown] = len(self.numbers)
            self.bytes += len(dump_for_script(shown)) + 1
        return self.numbers[shown]

    def keep_first(self, number: int) -> None:
        """Forget all but the first `number` texts."""
        for text in list(self.numbers)[number:]:
            del self.numbers[text]


def render_page(
    fleet: Fleet, *, start: str = "case", reports: Collection[str] = (), report_bytes: int = 0
) -> str:
    """Return the page for a fleet in its order (`fleetmap.arrange_fleet`).

    start     the view that opens first: case, host or month
    reports   ids of the cases for which `cases/<short>/report.html` lies next to the page
    report_bytes  most bytes of the page, the default of the limit of this name when 0; when it would be
        larger, first sentences of the least findings and then the least cases are left out, and the page says so
    """
    most = report_bytes or Limits().report_bytes
    kept = fleet
    # no number in the sentence of what is left out gets longer than this
    notes = len(fleet.hits) * NOTES
    while True:
        left_out = describe_left_cases(fleet, kept)
        texts = Texts({})
        data = collect_data(kept, texts, reports)
        data |= {"notes": [], "texts": list(texts.numbers)}
        page = _fill_template(kept, data, start, [*left_out, _describe_left_notes(notes, notes)])
        size = len(page.encode("utf-8"))
        if size <= most or len(kept.cases) < 2:
            break
        kept = fleetmap.keep_worst(kept, len(kept.cases) // 2)
    rows, total = list_notes(kept, texts, most - size, reports)
    if len(rows) < total:
        left_out.append(_describe_left_notes(len(rows), total))
    data |= {"notes": rows, "texts": list(texts.numbers)}
    return _fill_template(kept, data, start, left_out)


def describe_left_cases(fleet: Fleet, kept: Fleet) -> list[str]:
    """Return a sentence when the page does not show all cases."""
    shown = len(kept.cases)
    asked = len(fleet.cases)
    sentences = []
    if asked < fleet.total:
        sentences.append(
            f"Shown as asked: the worst {asked:,} of {fleet.total:,} cases. Months and rising rules cover all of them."
        )
    if shown < asked:
        sentences.append(
            f"This page would have been too large. It shows the worst {shown:,} of {asked:,} cases; the others are "
            "in the archive: choose with --since, --until or --rule, or raise --limit report_bytes=N. "
            "Months and rising rules cover all of them."
        )
    return sentences


def _describe_left_notes(shown: int, total: int) -> str:
    """Return the remark of a page that holds the sentences of the worst findings alone."""
    return (
        f"This page would have been too large. It holds the sentences of the worst {shown:,} of {total:,} findings and "
        "open questions; the others are counted here, and `backline archive show` has them in full."
    )


@cache
def load_templates() -> Environment:
    """Return the template of the overview of an archive, with its filters."""
    environment = make_environment("fleet")
    environment.filters["short"] = lambda text: one_line(str(text), NAME)
    return environment


def _fill_template(fleet: Fleet, data: dict[str, Any], start: str, left_out: list[str]) -> str:
    """Return the page of a fleet."""
    scripts = [read_asset(name) for name in SCRIPTS]
    style = read_styles("base.css", "report.css", "fleet.css")
    return (
        load_templates()
        .get_template("fleet.html")
        .render(
            fleet=fleet,
            headline=fleetmap.write_headline(fleet),
            states=fleetmap.STATES,
            head=fleetmap.describe_month(fleet),
            rising=[fleetmap.describe_trend(fleet, trend) for trend in fleet.rising],
            left=left_out,
            start=start,
            cases=[build_still_case(fleet, case) for case in fleet.cases[:STILL]],
            rules=list_still_rules(fleet),
            months=fleet.months.names[-HEAD_MONTHS:],
            stamp=format_time,
            policy=write_policy(scripts, style),
            scripts=[Markup(script) for script in scripts],
            style=Markup(style),
            data=dump_for_script(data | {"start": start, "left": left_out}),
        )
    )


def build_still_case(fleet: Fleet, case: FleetCase) -> dict[str, Any]:
    """Return a case in words: what was found by severity, how much could not be judged."""
    found = []
    for state in fleetmap.STATES[: fleetmap.SIGNS.index("?")]:
        rules = []
        for rule, sign in zip(fleet.rules, case.cells, strict=False):
            if sign == state.sign:
                rules.append(rule.id)
        if rules:
            found.append((state.word, join_few(rules, 12)))
    return {
        "case": case,
        "found": found,
        "open": case.cells.count("?"),
        "muted": case.cells.count("m"),
    }


def list_still_rules(fleet: Fleet) -> list[dict[str, Any]]:
    """Return the weightiest rules in numbers: cases, worst, open, cases by month."""
    rules: list[dict[str, Any]] = []
    months = fleet.months
    for number, column in enumerate(fleetmap.list_columns(fleet)[:STILL]):
        worst = ""
        for state in fleetmap.STATES:
            if state.sign in fleetmap.FOUND and state.sign in column:
                worst = state.word
                break
        counts = months.counts[number]
        rule = {
            "rule": fleet.rules[number],
            "found": fleetmap.count_found(column),
            "worst": worst,
            "open": column.count("?"),
            "months": counts[-HEAD_MONTHS:],
            "older": sum(counts[:-HEAD_MONTHS]) + months.older[number],
            "other": months.undated[number] + months.later[number],
        }
        rules.append(rule)
    return rules


def collect_data(fleet: Fleet, texts: Texts, reports: Collection[str]) -> dict[str, Any]:
    """Return what the script of the page reads, but for the sentences."""
    rules = []
    for rule in fleet.rules:
        title = one_line(rule.title, 2 * NAME)
        rules.append([one_line(rule.id, NAME), title, list(rule.kb)])
    hosts = []
    for host in fleet.hosts:
        hosts.append([texts.add_text(host.name), texts.add_text(host.about)])
    months = fleet.months
    return {
        "archive": one_line(shlex.quote(fleet.address)),
        "asOf": _count_seconds(fleet.as_of),
        "total": fleet.total,
        "states": [list(state) for state in fleetmap.STATES],
        "rules": rules,
        "hosts": hosts,
        "cases": collect_cases(fleet.cases, texts, reports),
        "cells": [case.cells for case in fleet.cases],
        "hits": {
            "case": [hit.case for hit in fleet.hits],
            "rule": [hit.rule for hit in fleet.hits],
            "host": [hit.host for hit in fleet.hits],
            "sign": "".join(hit.sign for hit in fleet.hits),
            "count": [hit.count for hit in fleet.hits],
            "first": [_count_seconds(hit.first) for hit in fleet.hits],
        },
        "months": {
            "names": months.names,
            "counts": months.counts,
            "older": months.older,
            "later": months.later,
            "undated": months.undated,
            "captured": months.captured,
        },
        "rising": [trend.rule for trend in fleet.rising],
    }


def collect_cases(cases: list[FleetCase], texts: Texts, reports: Collection[str]) -> dict[str, Any]:
    """Return the cases as columns: a text is a number, yes and no are one character each."""
    names = [texts.add_text(case.name) for case in cases]
    sources = [texts.add_text(case.source, 400) for case in cases]
    reasons = []
    for case in cases:
        reason = case.why or "the reason is not known"
        if case.read:
            reasons.append(-1)
        else:
            reasons.append(texts.add_text(reason, 400))
    return {
        "short": [case.short for case in cases],
        "name": names,
        "source": sources,
        "captured": [_count_seconds(case.captured) for case in cases],
        "stored": [_count_seconds(case.stored) for case in cases],
        "why": reasons,
        "report": "".join("y" if case.id in reports else "n" for case in cases),
        "whole": "".join("y" if case.complete else "n" for case in cases),
    }


def list_notes(
    fleet: Fleet, texts: Texts, room: int, reports: Collection[str]
) -> tuple[list[list[int]], int]:
    """Return as many sentences as `room` bytes hold, worst first, and how many there are."""
    rows: list[list[int]] = []
    total = used = 0
    before = texts.bytes
    for number, hit in enumerate(fleet.hits):
        has_report = fleet.cases[hit.case].id in reports
        for note in hit.notes[:NOTES]:
            total += 1
            if len(rows) < total - 1:
                continue
            known = len(texts.numbers)
            row = write_note(number, note, texts, has_report)
            used += len(dump_for_script(row)) + 1
            if used + texts.bytes - before <= room:
                rows.append(row)
            else:
                texts.keep_first(known)
    return rows, total


def write_note(number: int, note: FleetNote, texts: Texts, has_report: bool) -> list[int]:
    """Return a sentence as its hit, its time and numbers of texts: `notesOf` in fleet.js reads it."""
    link = ""
    if has_report and note.finding:
        link = make_anchor(note.finding)
    rest = [(note.missing, NAME), (note.ask, TEXT), (note.muted, 2 * NAME), (link, len(link))]
    while rest and not rest[-1][0]:
        rest.pop()
    row = [number, _count_seconds(note.first)]
    row += [texts.add_text(note.subject), texts.add_text(note.weight)]
    for text, most in [(note.say, TEXT), *rest]:
        row.append(texts.add_text(text, most, lines=True))
    return row


def _count_seconds(time: str) -> int:
    """Return whole seconds since 1970, -1 when there is no time."""
    seconds = None
    if time:
        seconds = parse_time(time)
    if seconds is None:
        return -1
    return int(seconds)
