"""Questions to the archive, answered as the tables the page shows.

A table has columns of a kind (text, time, number, severity, state, case, list) and rows of plain values, each
with the case it speaks of. All texts are safe to show. Everything here may take long: it belongs in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import Stored
from analyzer.archive.object_store.object_store import NotAnArchiveError
from analyzer.archive.object_store.opening import open_store
from analyzer.archive.query import browse, search, searchtext
from analyzer.archive.query import facets as query_facets
from analyzer.archive.store import Archive
from analyzer.case.verdicts import SEVERITIES
from analyzer.report import completeness, view, wording
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import count_noun, one_line
from analyzer.web.guard.wire import Refusal
from analyzer.web.questions import question
from analyzer.web.questions.question import CASES, FINDINGS, MACHINES, TEXT, Question

SECONDS = 30.0  # of one question
SHOWN, MOST = 200, 5000  # rows sent unless more are asked for, and at most
COUNTED = 100_000  # rows that are counted beyond those
LONGEST = 600  # characters of a cell
LISTED = 20  # items of a cell that holds several
Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class FieldQuestion:
    """What the page asks: the field, the filters, and whether those no one can tell of are meant.

    severity, state  narrow the cases that are asked: with a finding this severe or worse, of this state
    """

    field: str = ""
    since: str = ""
    until: str = ""
    severity: str = ""
    state: str = ""
    by: str = ""
    order: str = "created"
    unknown: bool = False
    most: int = SHOWN


@dataclass(slots=True)
class AnswerTable:
    """An answer on its way to the page.

    left    sentences: which cases could not be asked; partly: some could not, whether a sentence is there or not
            (an upload that was refused holds nothing that anybody could read: it is counted, and spoils no answer)
    """

    columns: list[tuple[str, str]]
    rows: Iterator[tuple[str, list[Any]]]
    said: Callable[[], str]
    untold: int = 0
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    refused: int = 0
    partly: bool = False


class Library:
    """One archive; opened when it is there, distinct from one that is not there any more."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._archive: Archive | None = None
        self._lock = threading.Lock()

    def open_archive(self) -> Archive | None:
        """Return the archive, None when no case was ever stored there; BacklineError when it is gone or unreadable."""
        with self._lock:
            try:
                objects = open_store(self.url)
            except NotAnArchiveError as error:
                if self._archive is None:
                    return None
                do = "Bring it back to its place, or start `backline serve` again."
                raise Refusal(
                    503, "the archive is no longer there", where=self.url, why=error.why, do=do
                ) from None
            if self._archive is None:
                self._archive = Archive(objects)
            return self._archive

    def require_archive(self) -> Archive:
        """Return the archive; Refusal (404) when no case was ever stored."""
        archive = self.open_archive()
        if archive is None:
            raise Refusal(
                404,
                "nothing is stored yet",
                do="Drop a case: it is stored when its report is written.",
            )
        return archive

    def find_case(self, case: str) -> Stored:
        """Return a stored case by its whole id, or the beginning of it that the map uses; Refusal (404)."""
        archive = self.require_archive()
        found = (
            [one for one in archive.take_snapshot().list_every_case() if one.id.startswith(case)]
            if len(case) >= 12
            else []
        )
        if len(found) != 1:
            do = "It may have been taken out of the archive; look for it in the list."
            raise Refusal(404, "there is no such case in the archive", do=do)
        return found[0]


class _Some(Snapshot):
    """A snapshot of which only some cases are asked."""

    def __init__(self, whole: Snapshot, ids: frozenset[str]) -> None:
        super().__init__(whole.objects, whole.held, whole.strange, whole.faults, whole.damaged)
        self._ids = ids

    def list_visible_cases(self) -> list[Stored]:
        return [case for case in super().list_visible_cases() if case.id in self._ids]

    def take_again(self) -> Snapshot:
        return _Some(super().take_again(), self._ids)


class _Narrowed(Archive):
    """An archive of which only some cases are asked."""

    def __init__(self, whole: Archive, ids: frozenset[str]) -> None:
        super().__init__(whole.objects)
        self.damaged, self._whole, self._ids = whole.damaged, whole, ids

    def take_snapshot(self) -> Snapshot:
        return _Some(self._whole.take_snapshot(), self._ids)


def answer_question(library: Library, asked: FieldQuestion) -> dict[str, Any]:
    """Return the answer to a question as the page shows it.

    Raises Misread for a mistake in the field, UsageError for a filter, Refusal when the archive is gone.
    """
    wanted = question.read_question(asked.field)
    window = browse.parse_window(asked.since, asked.until)
    chosen = browse.ListFilter(
        severity=_one_of(asked.severity, SEVERITIES), state=_one_of(asked.state, browse.STATES)
    )
    archive = library.open_archive()
    if archive is None:
        return {
            "empty": True,
            "kind": wanted.kind,
            "columns": [],
            "rows": [],
            "said": "",
            "notes": [],
            "damaged": [],
        }
    archive.damaged.clear()  # what an answer had to leave out comes with it
    kind, table = wanted.kind, AnswerTable([], iter(()), lambda: "No case passes the filters.")
    asked_of: Archive | None = archive
    if (chosen.severity or chosen.state) and kind != CASES:
        passing = browse.list_cases(archive, chosen, SECONDS)
        at = passing.head.index("id")
        ids = frozenset(row[at] for row in passing.rows)
        asked_of = _Narrowed(archive, ids) if ids else None
    if asked_of is not None:
        kind, table = _choose_table(asked_of, wanted, asked, window, chosen)
    rows = list(islice(table.rows, asked.most + 1))
    shown = [
        {"case": case, "cells": [_clean_cell(cell) for cell in cells]}
        for case, cells in rows[: asked.most]
    ]
    for _ in islice(table.rows, COUNTED):  # what is not sent is counted
        pass
    notes = [*table.notes, *table.left]
    if table.refused:
        them = "it" if table.refused == 1 else "them"
        uploads = count_noun(table.refused, "refused upload")
        notes.append(
            f"{uploads} left out: nothing in {them} could be read. "
            f'The state "refused" lists {them}.'
        )
    return {
        "empty": kind == CASES and not rows and not archive.take_snapshot().list_visible_cases(),
        "kind": kind,
        "terms": [one_line(term.text, 200) for term in wanted.terms],
        "columns": [{"name": name, "kind": what} for name, what in table.columns],
        "rows": shown,
        "more": len(rows) > asked.most,
        "said": table.said(),
        "untold": table.untold,
        "notes": [one_line(note, LONGEST) for note in notes],
        "partly": table.partly or bool(table.left),
        "damaged": [
            f"{one_line(name, 200)}: {one_line(why, 300)}"
            for name, why in sorted(archive.damaged.items())
        ],
    }


def list_facets(library: Library) -> dict[str, Any]:
    """Return what the cases can be searched by: the word of each facet, its values, and in how many cases they are."""
    archive = library.open_archive()
    found = query_facets.count_facets(archive) if archive is not None else {}
    return {
        "facets": [
            {
                "name": name,
                "values": [
                    {"value": one_line(value, 200), "cases": cases} for value, cases in values
                ],
            }
            for name, values in found.items()
        ]
    }


def _one_of(given: str, known: Sequence[str]) -> str:
    if given and given not in known:
        raise UsageError(f'"{one_line(given, 40)}" is not one of {", ".join(known)}')
    return given


def _choose_table(
    archive: Archive,
    wanted: Question,
    asked: FieldQuestion,
    window: search.Window,
    chosen: browse.ListFilter,
) -> tuple[str, AnswerTable]:
    if wanted.kind == CASES:
        order = asked.order if asked.order in browse.ORDERS else "created"
        narrowed = browse.ListFilter(
            severity=chosen.severity or wanted.severity,
            state=chosen.state,
            window=window,
            order=order,
            reported=True,
        )
        return CASES, _make_case_table(archive, narrowed)
    if wanted.kind == MACHINES:
        return MACHINES, _make_machine_table(archive, wanted, window, unknown=asked.unknown)
    if wanted.kind == TEXT:
        return TEXT, _make_text_table(archive, wanted, window)
    try:
        return FINDINGS, _make_finding_table(archive, wanted, asked, window)
    except UsageError as error:
        if wanted.sure:
            raise
        table = _make_text_table(archive, wanted, window)
        words = [error.what, error.do, "so it was searched for as text"]
        table.notes.append(" ".join(_make_sentence(part) for part in words if part))
        return TEXT, table


# --- the four kinds of answer ---


def _make_case_table(archive: Archive, wanted: browse.ListFilter) -> AnswerTable:
    notes: list[str] = []
    answer = browse.list_cases(archive, wanted, SECONDS, notes)
    columns = [
        ("Case", "case"), ("Time", "time"), ("State", "state"), ("Machines", "list"), ("Worst", "severity"),
        ("Findings", "text"), ("Open questions", "number"), ("Labels", "number"),
    ]  # fmt: skip
    count, table = 0, AnswerTable(columns, iter(()), lambda: count_noun(count, "case"))
    table.left = [_make_sentence(note) for note in notes]

    def rows() -> Iterator[tuple[str, list[Any]]]:
        nonlocal count
        for row in answer.rows:
            one = dict(zip(answer.head, row, strict=True))
            if one["state"] == "refused" and not wanted.state:
                table.refused += 1
                continue
            count += 1
            counts = [(one[word], word) for word in view.COUNTED if one[word]]
            nothing = (
                completeness.NOTHING_READ if one["state"] == "partial" else completeness.NOTHING
            )
            found = (
                ", ".join(
                    f"{number:,} {wording.write_plural(word, number)}" for number, word in counts
                )
                or nothing
            )
            unread = one["state"] in ("refused", "failed")
            said = one["why"] if unread else found
            doubts = None if unread else one["cannot_tell"]
            worst = "" if unread else one["worst"]
            yield one["id"], [
                one["name"], one["created"], one["state"], one["machines"], worst, said, doubts,
                one["labels"] or None,
            ]  # fmt: skip

    table.rows = rows()
    return table


def _list_left_out(found: search.SearchResult) -> dict[str, Any]:
    """Return which cases answer no question, as notes and as the number of refused ones."""
    refused = found.counts.pop("refused_cases", 0)
    found.counts["unread_cases"] = found.counts.get("unread_cases", 0) - refused
    left = searchtext.left_text(found)
    return {"left": [_make_sentence(left)] if left else [], "refused": refused}


def _make_machine_table(
    archive: Archive, wanted: Question, window: search.Window, *, unknown: bool
) -> AnswerTable:
    terms, same = wanted.terms, wanted.same
    found = search.find_machines(
        archive, terms, window=window, same=same, unknown=unknown, seconds=SECONDS
    )
    said = searchtext.machines_text(found, anywhere=False, listed=True)
    untold = found.counts.get("untold", 0)
    if unknown:
        rows = (
            (row[1], [row[0], row[2], *row[3:]])
            for row in searchtext.format_unknown(terms, found.rows)
        )
        columns = [
            ("Case", "case"),
            ("Time", "time"),
            ("Machine", "text"),
            ("Table", "text"),
            ("Why", "text"),
        ]
        return AnswerTable(
            [*columns, ("Ask for", "text")], rows, lambda: said, untold, **_list_left_out(found)
        )

    def list_rows() -> Iterator[tuple[str, list[Any]]]:
        for record in searchtext.for_json(terms, found.rows):
            name, case, created, node, product, version, fulfilled, *agreed = record
            machine = " ".join(filter(None, (node, *agreed)))
            yield (
                case,
                [
                    name,
                    created,
                    machine,
                    " ".join(filter(None, (product, version))),
                    _list_proof(fulfilled),
                ],
            )

    columns = [
        ("Case", "case"),
        ("Time", "time"),
        ("Machine", "text"),
        ("Version", "text"),
        ("Because", "list"),
    ]
    return AnswerTable(columns, list_rows(), lambda: said, untold, **_list_left_out(found))


def _list_proof(fulfilled: Iterable[dict[str, Any]]) -> list[str]:
    """Return the rows that fulfil the terms, a line each."""
    lines = []
    for term in fulfilled:
        for row in term["rows"]:
            values = " ".join(
                f"{name}={'?' if value is None else value}" for name, value in row["values"].items()
            )
            at = f", {row['address']}:{row['line']}" if row["address"] else ""
            lines.append(f"{term['table']}: {values or 'there'}{at}")
        if term["fulfilling"] > len(term["rows"]):
            lines.append(
                f"{term['table']}: and {term['fulfilling'] - len(term['rows']):,} more rows"
            )
    return lines


_FINDING_COLUMNS = {
    "": [("Time", "time"), ("Machine", "text"), ("Case", "case"), ("Rule", "rule"), ("Severity", "severity"),
         ("Subject", "text"), ("What it says", "text")],
    search.MONTH: [("Month", "text"), ("Rule", "rule"), ("Findings", "number"), ("Machines", "number"),
                   ("Cases", "number")],
    search.HOST: [("Machine", "text"), ("First seen", "time"), ("Last seen", "time"), ("Findings", "number"),
                  ("Cases", "number"), ("Worst", "severity"), ("Rules", "list")],
    search.RULE: [("Rule", "rule"), ("Title", "text"), ("Findings", "number"), ("Machines", "number"),
                  ("Cases", "number"), ("First seen", "time"), ("Last seen", "time")],
}  # fmt: skip


def _make_finding_table(
    archive: Archive, wanted: Question, asked: FieldQuestion, window: search.Window
) -> AnswerTable:
    by = _one_of(asked.by, (search.MONTH, search.HOST, search.RULE))
    chosen = search.Filter(wanted.rule, wanted.kb)
    found = search.find_findings(
        archive, chosen, window=window, by=by, unknown=asked.unknown, seconds=SECONDS
    )
    said = searchtext.findings_text(found, listed=True)
    untold, partly = found.counts.get("untold", 0), bool(found.counts.get("unjudged_cases"))
    if asked.unknown:
        rows = ((row[1], [row[0], *row[2:]]) for row in found.rows)
        columns = [
            ("Case", "case"),
            ("Time", "time"),
            ("Machine", "text"),
            ("Rule", "rule"),
            ("Why", "text"),
        ]
        return AnswerTable(
            [*columns, ("Ask for", "text")], rows, lambda: said, untold, **_list_left_out(found)
        )
    at = found.head.index("id") if "id" in found.head else -1
    rows = (
        (str(row[at]), [*row[:at], *row[at + 1 :]]) if at >= 0 else ("", list(row))
        for row in found.rows
    )
    return AnswerTable(
        _FINDING_COLUMNS[by], rows, lambda: said, untold, **_list_left_out(found), partly=partly
    )


def _make_text_table(archive: Archive, wanted: Question, window: search.Window) -> AnswerTable:
    text = wanted.text
    found = search.find_texts(archive, text, window=window, seconds=SECONDS)
    count = named = 0

    def rows() -> Iterator[tuple[str, list[Any]]]:
        nonlocal count, named
        same_names = search.find_named_cases(archive, text, window=window, seconds=SECONDS).rows
        for name, case, created, own, machines in same_names:
            named += 1
            listed = ", ".join(machines)
            if own:
                yield case, [name, created, listed, "name of the case", name, ""]
            else:
                yield case, [name, created, listed, "name of a machine", listed, ""]
        for name, case, time, node, of, address, line, said in () if wanted.names else found.rows:
            count += 1
            yield case, [name, time, node, of, said, f"{address}:{line}" if address else "finding"]

    columns = [
        ("Case", "case"),
        ("Time", "time"),
        ("Machine", "text"),
        ("Of", "text"),
        ("Text", "text"),
    ]
    kept = "Log lines are kept where a signature hit; others stay in the bundle."
    columns.append(("Where", "text"))

    def describe_rows() -> str:
        names = f"{count_noun(named, 'case')} of that name. " if named or wanted.names else ""
        if wanted.names:
            return names
        return f"{names}{count_noun(count, 'line or row', 'lines and rows')}. {kept}"

    return AnswerTable(columns, rows(), describe_rows, **_list_left_out(found))


# --- small things ---


def _clean_cell(value: Any) -> Any:
    """Return a value as JSON knows it, safe to show."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, list | tuple):
        more = [f"and {len(value) - LISTED:,} more"] if len(value) > LISTED else []
        return [one_line(str(item), LONGEST) for item in value[:LISTED]] + more
    return one_line(str(value), LONGEST)


def _make_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?')) else '.'}"
