"""Lists the cases of an archive, one line each, and tells where a case comes from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from analyzer.archive import labels
from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import Entry, Stored
from analyzer.archive.packs.columns import CASE, FINDINGS, NODES, UNKNOWNS, VERDICTS
from analyzer.archive.query.ask import SECONDS, QueryDatabase, ResultRows, Row, ask_archive
from analyzer.archive.query.search import Filter, Window, select_rules
from analyzer.archive.query.views import IDS
from analyzer.archive.store import Archive
from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import SEVERITIES
from analyzer.report.view import COUNTED
from analyzer.report.wording import write_plural
from analyzer.rules.language.logic import text_literal
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import count_noun, one_line

STATES = ("ok", "partial", "refused", "failed")
SHORT = 12  # characters of an id where people read it
_UNREAD = "c.state IN ('refused', 'failed')"
_WORST = f"coalesce(list_position(['critical', 'major', 'warning', 'info'], worst), CASE WHEN {_UNREAD} THEN 5 ELSE 9 END)"
ORDERS = {
    "created": "created DESC NULLS LAST, name, id",
    "name": "name, created DESC NULLS LAST, id",
    "worst": f"{_WORST}, w.excess DESC NULLS LAST, created DESC NULLS LAST, name, id",
    "unknowns": "cannot_tell DESC NULLS LAST, created DESC NULLS LAST, name, id",
    "stored": "stored DESC, name, id",
}
_MOMENT = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?(?:Z|([+-][01]\d):?([0-5]\d))?)?)?)?",
    re.ASCII,
)
_LAST = datetime.max.replace(microsecond=0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which cases are listed, in which order; "" for any. `severity` means this severe or worse.

    former    ids that the rule replaces: what they found counts as its own
    reported  for a case of which nothing is known, as it could not be read, count 0 instead of nothing
    """

    rule: str = ""
    severity: str = ""
    state: str = ""
    name: str = ""  # a glob, capitals or not
    window: Window = field(default_factory=Window)
    order: str = "created"
    reported: bool = False
    former: tuple[str, ...] = ()


def list_cases(
    archive: Archive, wanted: ListFilter, seconds: float = SECONDS, notes: list[str] | None = None
) -> ResultRows:
    """Return one row a case: name, id, state, created, machines, worst, how many findings of each word, …

    Findings are counted as in the report of the case (`analyzer.report.view.tally`): one is a rule with one weight,
    on however many subjects; those that rest on a version alone are `exposed`, rules that broke `error`. `cannot_tell`
    counts questions.

    notes  gets what the filters leave out although no one can tell; with it a rule that judged no case is refused
    """
    tables = [CASE, FINDINGS, NODES]
    if notes is not None and wanted.rule:
        tables += [UNKNOWNS, VERDICTS]

    def ask_cases(db: QueryDatabase) -> ResultRows:
        if notes is not None:
            notes[:] = _note_left_out(db, wanted)
        return db.ask_rows(_write_list_sql(db, archive, wanted))

    return ask_archive(archive, tables, ask_cases, seconds)


def _note_left_out(db: QueryDatabase, wanted: ListFilter) -> Iterator[str]:
    """Yield what the filters of time and rule leave out although no one can tell."""

    def count_cases(others: ListFilter, *counts: str) -> Row:
        where = " AND ".join(_list_conditions(db, others)) or "TRUE"
        return db.fetch_rows(
            f"SELECT {', '.join(counts)} FROM ({db.relation_sql(CASE)}) c WHERE {where}"
        )[0]

    any_rule = replace(wanted, rule="", severity="")
    undated = count_cases(
        replace(any_rule, window=Window()), "count(*) FILTER (c.created IS NULL)"
    )[0]
    if wanted.window and undated:
        yield f"{count_noun(undated, 'case')} left out: no time is known"
    if wanted.rule:
        among = f"rule IN ({', '.join(map(text_literal, select_rules(db, Filter(wanted.rule, former=wanted.former))))})"
        decided = (
            f"SELECT _case FROM ({db.relation_sql(FINDINGS)}) WHERE verdict = 'match' AND {among}"
        )
        doubtful = f"SELECT _case FROM ({db.relation_sql(UNKNOWNS)}) WHERE {among}"
        judged = f"SELECT _case FROM ({db.relation_sql(VERDICTS)}) WHERE {among}"
        untold, unjudged = count_cases(
            any_rule,
            f"count(*) FILTER (c._case IN ({doubtful}) AND c._case NOT IN ({decided}))",
            f"count(*) FILTER (c._case NOT IN ({judged}))",
        )
        if untold:
            how = f"`backline archive search --rule {wanted.rule} --unknown` lists them"
            yield f"in {count_noun(untold, 'case')} more, the rule cannot tell ({how})"
        if unjudged:
            yield f"{count_noun(unjudged, 'case')} not judged by it"


def _write_list_sql(db: QueryDatabase, archive: Archive, wanted: ListFilter) -> str:
    """Return the query for the rows of `list_cases`."""
    # Nothing is known of a case that was not read, which is not the same as none.
    unread = "FALSE" if wanted.reported else _UNREAD
    shown = [(f"f.{word}", word) for word in COUNTED] + [("c.unknowns", "cannot_tell")]
    mine = ", ".join(
        f"CASE WHEN NOT {unread} THEN coalesce({what}, 0) END AS {word}" for what, word in shown
    )
    labelled = Counter(label.id for label in labels.current_labels(archive))
    pairs = [f"({text_literal(case)}, {count})" for case, count in sorted(labelled.items())]
    marks = ", ".join(pairs) or "('', 0)"
    product = "trim(coalesce(nullif(product, ''), kind) || ' ' || coalesce(version, ''))"
    machine = f"SELECT _case, {product} AS machine FROM ({db.relation_sql(NODES)})"
    conditions = " AND ".join(_list_conditions(db, wanted)) or "TRUE"
    # The query for what the report of a case counts, as `analyzer.report.view.counts` does
    word = "CASE WHEN confidence = 'exposed' THEN 'exposed' WHEN verdict = 'error' THEN 'error' ELSE severity END"
    row = f"_case, rule, title, kb, verdict, severity, confidence, {word} AS word"
    findings = db.relation_sql(FINDINGS)
    rows = f"SELECT DISTINCT {row} FROM ({findings}) WHERE muted = ''"
    counts = ", ".join(f"count(*) FILTER (word = '{word}') AS {word}" for word in COUNTED)
    reported = f"SELECT _case, {counts} FROM ({rows}) GROUP BY _case"
    # The machine of each case with the worst finding: the first by `analyzer.case.ranking.rank_hosts`, since findings
    # are stored in their order. One that rests on a version alone does not count: every machine of it has that.
    seen = f"SELECT * FROM ({findings}) WHERE muted = '' AND verdict = 'match' AND confidence <> 'exposed'"
    weights = ", ".join(map(text_literal, SEVERITIES))
    order = f"list_position([{weights}], severity), _row"
    worst = (
        f"SELECT _case, first(nullif(node, '') ORDER BY node = '', {order}) AS node,"
        f" first(excess ORDER BY {order}) AS excess FROM ({seen}) GROUP BY _case"
    )
    return (
        "SELECT c.name, i.case_id AS id, c.state, c.created, coalesce(n.machines, []) AS machines, c.worst,"
        f" {mine}, coalesce(l.labels, 0) AS labels, c.why, c.source, c.stored, coalesce(n.nodes, 0) AS nodes,"
        " w.node AS worst_host"
        f" FROM ({db.relation_sql(CASE)}) c JOIN {IDS} i USING (_case)"
        f" LEFT JOIN ({reported}) f USING (_case)"
        " LEFT JOIN (SELECT _case, list(DISTINCT machine ORDER BY machine) AS machines, count(*) AS nodes"
        f" FROM ({machine}) GROUP BY _case) n USING (_case)"
        f" LEFT JOIN ({worst}) w USING (_case)"
        f" LEFT JOIN (VALUES {marks}) l(case_id, labels) ON l.case_id = i.case_id"
        f" WHERE {conditions} ORDER BY {ORDERS[wanted.order]}"
    )


def _list_conditions(db: QueryDatabase, wanted: ListFilter) -> Iterator[str]:
    if wanted.state:
        yield f"c.state = {text_literal(wanted.state)}"
    if wanted.name:
        yield f"lower(c.name) GLOB {text_literal(wanted.name.lower())}"
    if wanted.window:
        yield wanted.window.condition_sql("c.created")
    if wanted.rule or wanted.severity:
        some = (
            SEVERITIES[: SEVERITIES.index(wanted.severity) + 1] if wanted.severity else SEVERITIES
        )
        severe = ", ".join(map(text_literal, some))
        names = ", ".join(map(text_literal, (wanted.rule, *wanted.former)))
        rule = f" AND rule IN ({names})" if wanted.rule else ""
        yield (
            f"c._case IN (SELECT _case FROM ({db.relation_sql(FINDINGS)})"
            f" WHERE verdict = 'match' AND muted = '' AND severity IN ({severe}){rule})"
        )


def parse_window(since: str, until: str) -> Window:
    """Return the stretch of time from `since` to the end of `until`: a year, a month, a day or a moment in UTC.

    Raises UsageError when one of them is no time, or they leave nothing between them.
    """
    found = Window(_parse_moment(since, end=False), _parse_moment(until, end=True))
    if found.since and found.until and found.since >= found.until:
        raise UsageError(f"--since {since} is after --until {until}", do="Swap them.")
    return found


def _parse_moment(text: str, *, end: bool) -> str:
    """Return the first moment of a time as ISO text, or the one after its last."""
    if not text:
        return ""
    found = _MOMENT.fullmatch(text.strip())
    do = "Write it like 2026, 2026-03, 2026-03-01 or 2026-03-01T08:00:00 (UTC), or with +02:00 after it."
    wrong = UsageError(f'"{one_line(text, 40)}" is not a time', do=do)
    if found is None:
        raise wrong
    try:
        year, month, day, hour, minute, second = (
            int(part) if part else None for part in found.groups()[:6]
        )
        assert year is not None
        start = datetime(
            year, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=UTC
        )
        if found[7]:
            start -= timedelta(
                minutes=int(f"{found[7][0]}1") * (int(found[7][1:]) * 60 + int(found[8]))
            )
        if (
            end
            and hour is None
            and year == _LAST.year
            and month in (None, 12)
            and day in (None, 31)
        ):
            start = _LAST
        elif end and month is None:
            start = start.replace(year=start.year + 1)
        elif end and day is None:
            start = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        elif end and hour is None:
            start = datetime.fromtimestamp(start.timestamp() + 86400, UTC)
    except (ValueError, OverflowError, OSError):
        raise wrong from None
    return start.strftime("%Y-%m-%d %H:%M:%S")


@dataclass(frozen=True, slots=True)
class CaseOrigin:
    """Where a case comes from: its meta, what was stored of its source in the course of time, its labels."""

    case: Stored
    meta: dict[str, Any]
    entries: list[Entry]
    visible: bool
    labels: list[labels.Label]


def find_origin(archive: Archive, snapshot: Snapshot, case: Stored) -> CaseOrigin:
    """Return where a case comes from; entries of its source are newest first."""
    sources = {entry.source for entry in snapshot.entries if entry.id == case.id}
    entries = [entry for entry in snapshot.entries if entry.source in sources]
    entries.sort(key=lambda entry: (entry.stamp, entry.entry_text), reverse=True)
    visible = any(case.id == other.id for other in snapshot.list_visible_cases())
    return CaseOrigin(case, archive.read_meta(case), entries, visible, labels_of(archive, case))


def labels_of(archive: Archive, case: Stored) -> list[labels.Label]:
    """Return the labels of a case in the order of its findings."""
    found = labels.current_labels(archive, case.id)
    if not found or case.judged.kind == "none":
        return found
    return labels.order_labels(found, archive.read_document(case).findings)


def origin_lines(found: CaseOrigin) -> list[str]:
    """Return the origin of a case as lines for people."""
    meta, case = found.meta, found.case
    lines = [
        f"case       {meta.get('name', '')}",
        f"id         {case.id}",
        f"source     {meta.get('source', '')}",
        f"state      {meta.get('state', '')}{' (' + str(meta['why']) + ')' if meta.get('why') else ''}",
        f"stored     {meta.get('stored', '')} by backline {meta.get('tool', '')}",
        f"rules      catalog {meta.get('catalog', '')}",
        f"stored in  {case.judged.holder}",
    ]
    if case.facts is not None and case.facts.holder != case.judged.holder:
        lines.append(f"facts in   {case.facts.holder}")
    if not found.visible:
        lines.append("           superseded: its source was read again with other content")
    lines.append(f"revisions  {len(found.entries)}")
    for entry in found.entries:
        what = {"full": "read and judged", "case": "judged again", "none": "refused or failed"}[
            entry.kind
        ]
        here = " <- this" if entry == case.judged else ""
        try:
            stamp = datetime.fromtimestamp(entry.stamp / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        except (ValueError, OverflowError, OSError):
            stamp = "?" * 20
        lines.append(f"  {stamp}  {entry.id[:SHORT]}  {what}{here}")
    lines += ["labels"] * bool(found.labels)
    lines += [f"  {line}" for line in labels.label_lines(found.labels)]
    return [one_line(line) for line in lines]


def shorten_row(row: Row) -> list[Any]:
    """Return a row of `listed` as the terminal shows it: counts in words, the id cut short."""
    name, case, state, created, machines, worst, *counts = row[: 6 + len(COUNTED)]
    unknowns, labelled, why = row[6 + len(COUNTED) : 9 + len(COUNTED)]
    nodes, host = row[-2:]
    ill = f"{worst} on {host}" if worst and host and nodes > 1 else worst or ""
    found = ", ".join(
        f"{count} {write_plural(word, count)}"
        for word, count in zip(COUNTED, counts, strict=True)
        if count
    )
    day = created.strftime("%Y-%m-%d %H:%M") if created else ""
    nothing = "nothing found in what could be read" if state == "partial" else "nothing found"
    said = bound_line(why or "", 60) if state in ("refused", "failed") else found or nothing
    return [
        name,
        case[:SHORT],
        state,
        day,
        ", ".join(machines),
        ill,
        said,
        unknowns,
        labelled or None,
    ]


SHORT_HEAD = [
    "case",
    "id",
    "state",
    "created",
    "machines",
    "worst",
    "findings",
    "questions",
    "labels",
]


def find_stored_case(archive: Archive, text: str) -> tuple[Snapshot, Stored]:
    """Return the case that is meant and the snapshot it was found in. Raises UsageError."""
    if not text.strip():
        raise UsageError("no case is named", do="`backline archive list` shows names and ids.")
    snapshot = archive.take_snapshot()
    return snapshot, snapshot.find_case(text)


def document_text(archive: Archive, case: Stored) -> str:
    """Return the exact text of a case document; BacklineError for a case that was refused, with the reason."""
    _check_judged(archive, case)
    return archive.document_text(case)


def read_document(archive: Archive, case: Stored) -> CaseDocument:
    """Return a case document as `Archive.document` does; BacklineError for a case that was refused."""
    _check_judged(archive, case)
    return archive.read_document(case)


def _check_judged(archive: Archive, case: Stored) -> None:
    if case.judged.kind == "none":
        meta = archive.read_meta(case)
        what = f"this case was {meta.get('state', 'refused')}: there is no report"
        raise BacklineError(
            what,
            where=str(meta.get("source", "")),
            why=str(meta.get("why", "")),
            do="See --source.",
        )
