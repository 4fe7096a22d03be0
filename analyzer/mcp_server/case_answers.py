"""What the tools of the server answer: records of plain values with the address of each fact, bounded, and the rest counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import islice
from threading import Lock
from typing import Any

from msgspec import to_builtins

from analyzer.archive.query import browse, search, terms
from analyzer.case.document import CaseDocument, Signal
from analyzer.case.verdicts import Finding
from analyzer.mcp_server.open_cases import AskedCase, OpenCases
from analyzer.merged_log import around as moments
from analyzer.pipeline.case_tables import find_table
from analyzer.report import (
    completeness,
    desk_rows,
    finding_rows,
    machines,
    open_asks,
    signals,
    view,
)
from analyzer.report.finding_names import find_finding
from analyzer.report.wording import write_place
from analyzer.runtime.errors import UsageError, failure_text
from analyzer.runtime.short_lines import bound_middle
from analyzer.runtime.text import make_visible, one_line
from analyzer.views.log_reading import LogQuery, MergedLog, list_nearest
from analyzer.views.log_text import describe_reading

MOST = 200  # rows of an answer
CHARACTERS = 24_000  # of the JSON of an answer's rows
CELL = 1_000  # characters of a text in it
STEPS = 20  # lines of evidence of one finding
STORED = 50  # rows of an answer from an archive, whose names are read case by case
SECONDS = 30.0  # of a question to an archive
LONGEST = 6 * 3600.0  # seconds of a stretch of the log


class AnswerError(Exception):
    """A question that has no answer, in a sentence for whoever asked; it holds no name that is replaced."""


class CaseAnswers:
    """Answers questions one after the other; every answer was looked through for names."""

    def __init__(self, cases: OpenCases) -> None:
        self._cases = cases
        self._lock = Lock()

    def answer(self, question: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the answer to a question; AnswerError with the reason where there is none."""
        with self._lock:
            try:
                made = question()
                self._cases.check_answer(json.dumps(made, ensure_ascii=False, indent=0))
                return made
            except Exception as error:  # noqa: BLE001 - whatever a case does, the other side gets a sentence
                said = failure_text(error)
                if isinstance(error, UsageError) and error.choices:
                    said += " There are: " + "; ".join(error.choices[:10])
                text = one_line(self._cases.free_text(said), 2_000)
        raise AnswerError(text)

    def list_cases(self, archived: bool, name: str, offset: int, limit: int) -> dict[str, Any]:
        """Answer which cases there are: the given ones, or those of the archive."""
        if archived:
            return self._list_archived(name, offset, limit)
        rows = []
        for key in self._cases.paths:
            doc = self._cases.open_case(key).document
            rows.append(
                {
                    "case": key,
                    "name": doc.case.name,
                    "complete": completeness.is_complete(doc),
                    "material": completeness.describe_completeness(doc),
                    "counts": view.write_headline(doc),
                    "machines": [_describe_node(one) for one in doc.nodes[:20]],
                    "more_machines": max(0, len(doc.nodes) - 20),
                }
            )
        return bound_rows("cases", rows, offset, limit)

    def list_findings(self, case: str, offset: int, limit: int) -> dict[str, Any]:
        """Answer what was found, in the order of the report, and what limits that."""
        doc = self._cases.open_case(case).document
        rows = []
        for row in desk_rows.list_desk_rows(doc, finding_rows.list_stories(doc)):
            if row.sign is None:
                rows.append(
                    {
                        "finding": row.number,
                        "severity": row.word,
                        "confidence": row.confidence,
                        "first_seen": row.first,
                        "machine": row.host,
                        "object": row.full_object,
                        "title": row.what,
                        "say": row.findings[0].say,
                        "kb": row.kb,
                        "address": row.place,
                        "explained_by_the_row_above": bool(row.depth),
                        "objects": len(row.findings),
                    }
                )
        answer = bound_rows("findings", rows, offset, limit)
        answer["material"] = completeness.describe_completeness(doc)
        answer["cannot_tell"] = _list_unknown(doc)
        return answer

    def show_finding(self, case: str, finding: str) -> dict[str, Any]:
        """Answer all of one finding: its evidence with addresses, cause, fix, and what could not be checked."""
        doc = self._cases.open_case(case).document
        found = find_finding(doc, finding)
        record: dict[str, Any] = to_builtins(found)
        for key in ("trace", "chart"):
            record.pop(key, None)
        record["number"] = finding_rows.number_findings(doc).get(found.id, "")
        record["evidence"] = _list_evidence(found)
        record["more_evidence"] = max(0, len(found.evidence) - STEPS)
        group = finding_rows.FindingGroup([found])
        names, preceding = machines.name_nodes(doc), signals.list_preceding(doc, found)
        record["could_not_be_checked"] = finding_rows.list_unchecked(doc, group)
        record["just_before"] = [_record_signal(one, names) for one in preceding]
        bounded: dict[str, Any] = _bound_value(record)
        return bounded

    def list_signals(self, case: str, offset: int, limit: int) -> dict[str, Any]:
        """Answer which signs of trouble no finding rests on, the likeliest first."""
        doc = self._cases.open_case(case).document
        names = machines.name_nodes(doc)
        answer = bound_rows(
            "signals", [_record_signal(one, names) for one in doc.signals], offset, limit
        )
        answer["not_listed_in_the_case"] = max(0, doc.signals_total - len(doc.signals))
        return answer

    def list_tables(self, case: str) -> dict[str, Any]:
        """Answer which tables have rows, and how many."""
        tables = self._find_tables(self._cases.open_case(case))
        rows = [
            {"table": name, "rows": count, "holds": find_table(name).meaning}
            for name, count in tables.counts().items()
        ]
        return bound_rows("tables", rows, 0, len(rows))

    def read_table(
        self, case: str, table: str, node: str, contains: str, offset: int, limit: int
    ) -> dict[str, Any]:
        """Answer the rows of a table, each with its machine, file and line."""
        asked = self._cases.open_case(case)
        tables = self._find_tables(asked)
        if find_table(table).log:
            raise UsageError(f"{table} is a log", do="`read_log` reads lines around a time.")
        frame = tables.frame(table)
        machine = self._cases.find_name(node).casefold()
        word = self._cases.find_name(contains).casefold()
        rows = []
        for cells in frame.to_dict("records"):
            plain = {str(name): _plain_cell(cell) for name, cell in cells.items()}
            source, line = plain.pop("_source", ""), plain.pop("_line", 0)
            if machine and not fnmatchcase(str(plain.get("node", "")).casefold(), machine):
                continue
            if word and not any(word in str(cell).casefold() for cell in plain.values()):
                continue
            place = f"{source}:{line}" if line else source
            rows.append({**plain, "address": place})
        if self._cases.redaction is not None and asked.tables is not None:
            self._cases.redaction.take_facts(asked.tables.read_all())
        answer = bound_rows("rows", rows, offset, limit)
        answer["table"] = table
        answer["could_not_be_read"] = tables.lost[:20]
        return self._cases.free_answer(answer)

    def read_log(
        self, case: str, around: str, seconds: float, host: str, word: str, level: str, limit: int
    ) -> dict[str, Any]:
        """Answer the lines of all logs nearest to a time or to the first line of a finding."""
        asked = self._cases.open_case(case)
        moment = moments.parse_time(around)
        if moment is None:
            moment = moments.find_moment(
                find_finding(
                    asked.document, around, example="Write a time as 2017-10-14T09:12:46Z."
                )
            )
        if not 0 < seconds <= LONGEST:
            raise UsageError("`seconds` must be more than 0 and at most 21600")
        if not asked.paths:
            return self._read_kept_log(asked.document, moment, seconds, limit)
        window = moments.center_window(moment, moments.parse_span(f"{max(1, round(seconds))}s"))
        find_name = self._cases.find_name
        query = LogQuery(window=window, host=find_name(host), object=find_name(word), level=level)
        log = MergedLog(asked.paths, query)
        most = max(1, min(limit, MOST))
        lines = list(list_nearest(log.read_lines(), moment, most))
        rows = [
            {
                "time": line.time,
                "machine": line.host,
                "log": line.log,
                "level": line.level,
                "text": line.text,
                "address": f"{line.address}:{line.line}",
            }
            for line in lines
        ]
        self._cases.take_lines([line.text for line in lines])
        self._cases.take_cells("host", sorted({line.host for line in lines}))
        answer = bound_rows("lines", rows, 0, most)
        answer["total"] = log.summary.lines
        answer["searched"] = list(describe_reading(log.summary, window))
        return self._cases.free_answer(answer)

    def search_archive(
        self, text: str, rule: str, kb: int, term: str, since: str, until: str, limit: int
    ) -> dict[str, Any]:
        """Answer which stored cases have a text, findings of a rule or KB article, or machines that fulfil terms."""
        window = browse.parse_window(since, until)
        archive, wanted = self._cases.archive, self._cases.find_name(text)
        chosen = search.Filter(rule, kb or None)
        if term:
            asked = [
                terms.read_term(part.text, number)
                for number, part in enumerate(terms.split_field(self._cases.find_name(term)), 1)
            ]
            found = search.find_machines(archive, asked, window=window, seconds=SECONDS)
            head = ["case", "id", "created", "node", "product", "version", "matches"]
            source: Iterable[Sequence[Any]] = ([*row[:6], row[6:]] for row in found.rows)
        elif wanted:
            found = search.find_texts(archive, wanted, chosen, window=window, seconds=SECONDS)
            head, source = found.head, found.rows
        elif chosen:
            found = search.find_findings(archive, chosen, window=window, seconds=SECONDS)
            head, source = found.head, found.rows
        else:
            raise UsageError("nothing to search for", do="Give `text`, `rule`, `kb` or `term`.")
        try:
            answer = self._free_stored(head, source, 0, limit)
        finally:
            close = getattr(found.rows, "close", None)
            if close is not None:
                close()
        answer["notes"] = [self._cases.free_text(note) for note in found.notes]
        return answer

    def _list_archived(self, name: str, offset: int, limit: int) -> dict[str, Any]:
        archive = self._cases.archive
        notes: list[str] = []
        wanted = browse.ListFilter(name=self._cases.find_name(name))
        listed = browse.list_cases(archive, wanted, SECONDS, notes)
        try:
            answer = self._free_stored(listed.head, listed.rows, offset, limit)
        finally:
            listed.close()
        answer["notes"] = [self._cases.free_text(note) for note in notes]
        return answer

    def _free_stored(
        self, head: Sequence[str], source: Iterable[Sequence[Any]], offset: int, limit: int
    ) -> dict[str, Any]:
        """Return some rows of an archive without the names of their cases; one more tells that there are more."""
        most = max(1, min(limit, STORED))
        start = max(0, offset)
        some = list(islice(source, start, start + most + 1))
        rows = [
            {name: _plain_cell(cell) for name, cell in zip(head, row, strict=False)}
            for row in some[:most]
        ]
        for row in rows:
            self._cases.take_given(str(row.get("name") or row.get("case") or ""))
            if row.get("source") and self._cases.redaction is not None:
                row["source"] = str(row["source"]).replace("\\", "/").rpartition("/")[2]
                self._cases.take_given(row["source"])
            hosts = [row.get("worst_host"), row.get("node")]
            self._cases.take_cells("host", [str(host) for host in hosts if host])
        ids = dict.fromkeys(str(row["id"]) for row in rows if row.get("id"))
        self._cases.take_stored(list(ids))
        answer = bound_rows("rows", rows, 0, most)
        shown = len(answer["rows"])
        answer["next_offset"] = start + shown if shown < len(some) else None
        del answer["total"]
        return self._cases.free_answer(answer)

    def _read_kept_log(
        self, doc: CaseDocument, moment: datetime, seconds: float, limit: int
    ) -> dict[str, Any]:
        """Answer from the few lines that a saved case keeps."""
        near = []
        for line in doc.log:
            when = moments.parse_time(line.time)
            if when is not None and abs((when - moment).total_seconds()) <= seconds / 2:
                near.append({**to_builtins(line), "address": write_place(line)})
        answer = bound_rows("lines", near, 0, limit)
        answer["searched"] = [
            "a saved case keeps at most 300 lines near its findings; give the bundle itself for all lines"
        ]
        return answer

    @staticmethod
    def _find_tables(asked: AskedCase) -> Any:
        if asked.tables is None:
            raise UsageError(
                "this case has no tables",
                do="A saved case holds findings alone: give the bundle itself.",
            )
        return asked.tables


def bound_rows(
    name: str, rows: Iterable[dict[str, Any]], offset: int, limit: int
) -> dict[str, Any]:
    """Return rows from `offset` on, no more than `limit` and `CHARACTERS` allow; `next_offset` where there are more."""
    every = list(rows)
    start = max(0, offset)
    shown: list[Any] = []
    size = 0
    for row in every[start : start + max(1, min(limit, MOST))]:
        bounded = _bound_value(row)
        size += len(json.dumps(bounded, ensure_ascii=False))
        if shown and size > CHARACTERS:
            break
        shown.append(bounded)
    end = start + len(shown)
    return {name: shown, "total": len(every), "next_offset": end if end < len(every) else None}


def _bound_value(value: Any) -> Any:
    """Return a plain value with visible texts of bounded length and lists of bounded number."""
    if isinstance(value, str):
        shown = make_visible(value)
        return shown if len(shown) <= CELL else bound_middle(shown, CELL)
    if isinstance(value, dict):
        return {
            make_visible(str(key)): _bound_value(one) for key, one in islice(value.items(), MOST)
        }
    if isinstance(value, list | tuple):
        return [_bound_value(one) for one in value[:MOST]]
    return value


def _plain_cell(cell: Any) -> Any:
    """Return a cell of a table as JSON has it; what is not known is None."""
    if isinstance(cell, list | tuple):
        return [_plain_cell(one) for one in cell]
    if cell is None or cell != cell:  # noqa: PLR0124 - not a number, and not a time
        return None
    item = getattr(cell, "item", None)
    if item is not None:
        cell = item()
    return cell if isinstance(cell, str | int | float | bool) else str(cell)


def _describe_node(node: Any) -> str:
    return "; ".join([node.name or node.id, *view.list_facts(node)])


def _list_evidence(finding: Finding) -> list[dict[str, Any]]:
    return [
        {
            "address": write_place(one),
            "line": one.text,
            "shows": one.label,
            "before": one.before[-2:],
            "after": one.after[:2],
        }
        for one in finding.evidence[:STEPS]
    ]


def _record_signal(signal: Signal, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "kind": signals.name_kind(signal),
        "what": signals.name_signal(signal),
        "says": signals.describe_signal(signal),
        "machine": names.get(signal.node, signal.node),
        "count": signal.count,
        "first": signal.first,
        "last": signal.last,
        "over_since": signal.ended,
        "weight": signal.weight,
        "age": signal.age,
        "line": signal.text,
        "addresses": signals.list_places(signal),
    }


def _list_unknown(doc: CaseDocument) -> dict[str, Any]:
    """Return what cannot be told: the questions that press, what to ask for, and how many more there are."""
    pressing = open_asks.list_pressing(doc)
    return {
        "questions": [_bound_value(f"{one.title}: {one.reason}") for one in pressing[:20]],
        "more_questions": max(0, len(pressing) - 20) + len(open_asks.list_folded(doc)),
        "ask_for": [_bound_value(one.phrase) for one in open_asks.list_wanted(doc)[:20]],
        "limits": [_bound_value(one) for one in doc.limits[:20]],
    }
