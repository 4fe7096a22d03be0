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

from analyzer.report import fleetmap, wording
from analyzer.report.fleetmap import Fleet, FleetNote
from analyzer.report.html import anchor
from analyzer.report.page import environment, policy, script_json
from analyzer.report.styles import asset, style
from analyzer.runtime.limits import Limits
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import make_visible, one_line

STILL = 100  # cases and rules of the plain tables: without JavaScript, and on paper
NOTES = 20  # findings of one rule on one host of one case told in full
TEXT = 1200  # characters of one sentence
NAME = 160  # characters of one name
SCRIPTS = ("fleet-data.js", "fleet-map.js", "fleet.js")  # each uses those before it
HEAD_MONTHS = 12  # of the plain table


@dataclass(slots=True)
class Texts:
    """Every text once; the data holds its number."""

    known: dict[str, int]
    bytes: int = 0

    def add(self, text: str, most: int = NAME, *, lines: bool = False) -> int:
        """Return the number of a text, cut to `most` characters and made visible."""
        shown = make_visible(text) if lines else bound_line(text, most)
        shown = shown if len(shown) <= most else f"{shown[:most]} …"
        if shown not in self.known:
            self.known[shown] = len(self.known)
            self.bytes += len(script_json(shown)) + 1
        return self.known[shown]

    def keep(self, number: int) -> None:
        """Forget all but the first `number` texts."""
        for text in list(self.known)[number:]:
            del self.known[text]


def render(
    fleet: Fleet, *, start: str = "case", reports: Collection[str] = (), report_bytes: int = 0
) -> str:
    """Return the page for a fleet in its order (`fleetmap.arranged`).

    start     the view that opens first: case, host or month
    reports   ids of the cases for which `cases/<short>/report.html` lies beside the page
    report_bytes  most bytes of the page, the default of the limit of this name when 0; when it would be
        larger, first sentences of the least findings and then the least cases are left out, and the page says so
    """
    most = report_bytes or Limits().report_bytes
    kept = fleet
    notes = (
        len(fleet.hits) * NOTES
    )  # no number in the sentence of what is left out gets longer than this
    while True:
        left = _left_cases(fleet, kept)
        texts = Texts({})
        base = _data(kept, texts, reports)
        bare = _page(kept, base | _noted([], texts), start, [*left, _left_notes(notes, notes)])
        size = len(bare.encode("utf-8"))
        if size <= most or len(kept.cases) < 2:
            break
        kept = fleetmap.worst(kept, len(kept.cases) // 2)
    rows, total = _fitting(kept, texts, most - size, reports)
    if len(rows) < total:
        left.append(_left_notes(len(rows), total))
    return _page(kept, base | _noted(rows, texts), start, left)


def _left_cases(fleet: Fleet, kept: Fleet) -> list[str]:
    """Return a sentence when the page does not show all cases."""
    shown, asked = len(kept.cases), len(fleet.cases)
    out = []
    if asked < fleet.total:
        out.append(
            f"Shown as asked: the worst {asked:,} of {fleet.total:,} cases. Months and rising rules cover all of them."
        )
    if shown < asked:
        out.append(
            f"This page would have been too large. It shows the worst {shown:,} of {asked:,} cases; the others are "
            "in the archive: choose with --since, --until or --rule, or raise --limit report_bytes=N. "
            "Months and rising rules cover all of them."
        )
    return out


def _left_notes(shown: int, total: int) -> str:
    return (
        f"This page would have been too large. It holds the sentences of the worst {shown:,} of {total:,} findings and "
        "open questions; the others are counted here, and `backline archive show` has them in full."
    )


@cache
def templates() -> Environment:
    """Return the template of the overview of an archive, with its filters."""
    made = environment()
    made.filters |= {"short": lambda text: one_line(str(text), NAME)}
    return made


def _page(fleet: Fleet, data: dict[str, Any], start: str, left: list[str]) -> str:
    scripts = [asset(name) for name in SCRIPTS]
    sheet = style("base.css", "report.css", "fleet.css")
    months = slice(-HEAD_MONTHS, None)
    return (
        templates()
        .get_template("fleet.html")
        .render(
            fleet=fleet,
            headline=fleetmap.headline(fleet),
            states=fleetmap.STATES,
            head=fleetmap.trend_head(fleet),
            rising=[fleetmap.trend_text(fleet, trend) for trend in fleet.rising],
            left=left,
            start=start,
            cases=[_still_case(fleet, number) for number in range(min(STILL, len(fleet.cases)))],
            rules=_still_rules(fleet),
            months=fleet.months.names[months],
            stamp=wording.stamp,
            policy=policy(scripts, sheet),
            scripts=[Markup(script) for script in scripts],
            style=Markup(sheet),
            data=script_json(data | {"start": start, "left": left}),
        )
    )


def _still_case(fleet: Fleet, number: int) -> dict[str, Any]:
    """Return a case in words: what was found by severity, how much could not be told."""
    case = fleet.cases[number]
    found = []
    for state in fleetmap.STATES[: fleetmap.SIGNS.index("?")]:
        rules = [
            fleet.rules[place].id for place, sign in enumerate(case.cells) if sign == state.sign
        ]
        if rules:
            found.append((state.word, wording.few(rules, 12)))
    return {
        "case": case,
        "found": found,
        "open": case.cells.count("?"),
        "muted": case.cells.count("m"),
    }


def _still_rules(fleet: Fleet) -> list[dict[str, Any]]:
    """Return the weightiest rules in numbers: cases, worst, open, cases by month."""
    out: list[dict[str, Any]] = []
    months = fleet.months
    for number, column in enumerate(fleetmap.columns(fleet)[:STILL]):
        found = [
            state.word
            for state in fleetmap.STATES
            if state.sign in fleetmap.FOUND and state.sign in column
        ]
        counts = months.counts[number]
        out.append(
            {
                "rule": fleet.rules[number],
                "found": sum(map(column.count, fleetmap.FOUND)),
                "worst": found[0] if found else "",
                "open": column.count("?"),
                "months": counts[-HEAD_MONTHS:],
                "older": sum(counts[:-HEAD_MONTHS]) + months.older[number],
                "other": months.undated[number] + months.later[number],
            }
        )
    return out


def _data(fleet: Fleet, texts: Texts, reports: Collection[str]) -> dict[str, Any]:
    """Return what the script of the page reads, but for the sentences."""
    cases, hits = fleet.cases, fleet.hits
    return {
        "archive": one_line(shlex.quote(fleet.address)),
        "asOf": _epoch(fleet.as_of),
        "total": fleet.total,
        "states": [list(state) for state in fleetmap.STATES],
        "rules": [[one_line(rule.id, NAME), one_line(rule.title, 2 * NAME), list(rule.kb)] for rule in fleet.rules],
        "hosts": [[texts.add(host.name), texts.add(host.about)] for host in fleet.hosts],
        "cases": {
            "short": [case.short for case in cases],
            "name": [texts.add(case.name) for case in cases],
            "source": [texts.add(case.source, 400) for case in cases],
            "captured": [_epoch(case.captured) for case in cases],
            "stored": [_epoch(case.stored) for case in cases],
            "why": [-1 if case.read else texts.add(case.why or "the reason is not known", 400) for case in cases],
            "report": "".join("y" if case.id in reports else "n" for case in cases),
            "whole": "".join("y" if case.complete else "n" for case in cases),
        },
        "cells": [case.cells for case in cases],
        "hits": {
            "case": [hit.case for hit in hits],
            "rule": [hit.rule for hit in hits],
            "host": [hit.host for hit in hits],
            "sign": "".join(hit.sign for hit in hits),
            "count": [hit.count for hit in hits],
            "first": [_epoch(hit.first) for hit in hits],
        },
        "months": {
            "names": fleet.months.names, "counts": fleet.months.counts, "older": fleet.months.older,
            "later": fleet.months.later, "undated": fleet.months.undated, "captured": fleet.months.captured,
        },
        "rising": [trend.rule for trend in fleet.rising],
    }  # fmt: skip


def _fitting(
    fleet: Fleet, texts: Texts, room: int, reports: Collection[str]
) -> tuple[list[list[Any]], int]:
    """Return as many sentences as `room` bytes hold, worst first, and how many there are."""
    rows: list[list[Any]] = []
    total = used = 0
    before = texts.bytes
    for number, hit in enumerate(fleet.hits):
        for note in hit.notes[:NOTES]:
            total += 1
            if len(rows) < total - 1:
                continue
            known = len(texts.known)
            row = _note(number, note, texts, fleet.cases[hit.case].id in reports)
            used += len(script_json(row)) + 1
            if used + texts.bytes - before <= room:
                rows.append(row)
            else:
                texts.keep(known)
    return rows, total


def _note(number: int, note: FleetNote, texts: Texts, linked: bool) -> list[int]:
    """Return a sentence as its hit, its time and numbers of texts: `notesOf` in fleet.js reads it."""
    link = anchor(note.finding) if linked and note.finding else ""
    rest = [(note.missing, NAME), (note.ask, TEXT), (note.muted, 2 * NAME), (link, len(link))]
    while rest and not rest[-1][0]:
        rest.pop()
    row = [number, _epoch(note.first), texts.add(note.subject), texts.add(note.weight)]
    return [*row, *(texts.add(text, most, lines=True) for text, most in [(note.say, TEXT), *rest])]


def _noted(rows: list[list[Any]], texts: Texts) -> dict[str, Any]:
    return {"notes": rows, "texts": list(texts.known)}


def _epoch(time: str) -> int:
    """Return whole seconds since 1970, -1 when there is no time."""
    seconds = wording.epoch(time) if time else None
    return -1 if seconds is None else int(seconds)
