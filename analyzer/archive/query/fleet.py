"""What every rule said in every stored case, read from the archive in a few questions; see report/fleetmap.py.

A case that lacks a rule's verdict is "not judged", one that could not be read says nothing at all:
nothing is clean by absence. There is no clock: "as of" is the newest stamp of the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from sys import intern
from typing import Any

from analyzer.archive.entries import Snapshot
from analyzer.archive.object_store import object_store
from analyzer.archive.packs.columns import CASE, FINDINGS, NODES, UNKNOWNS, VERDICTS
from analyzer.archive.query.ask import QueryDatabase, run_twice
from analyzer.archive.query.search import Window
from analyzer.archive.store import Archive
from analyzer.report.fleetmap import (
    SIGNS,
    Fleet,
    FleetCase,
    FleetHit,
    FleetNote,
    FleetRule,
    Host,
    arrange_fleet,
    order_cases,
)
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line

NOTES = 20  # findings of one rule on one host of one case that are read with their sentences
OPEN = 60_000  # open questions that are read host by host; a small case leaves four hundred
SHORT = 12  # characters of an id that name a case, more when two cases share them
SECONDS = 600.0  # of one question
TABLES = (CASE, FINDINGS, NODES, UNKNOWNS, VERDICTS)

_ISO = "strftime({}, '%Y-%m-%dT%H:%M:%SZ')"
_SIGN = """CASE WHEN error > 0 THEN '!' WHEN "match" > 0 OR cannot_tell > 0 THEN '?'
 WHEN no_match > 0 THEN '.' ELSE '-' END"""
_FINDING = """CASE WHEN verdict = 'error' THEN '!' WHEN muted <> '' THEN 'm' WHEN confidence = 'exposed' THEN 'V'
 WHEN severity = 'critical' THEN 'C' WHEN severity = 'major' THEN 'M' WHEN severity = 'warning' THEN 'W' ELSE 'I' END"""
_UNKNOWN = "CASE WHEN muted <> '' THEN 'm' ELSE '?' END"


@dataclass(frozen=True, slots=True)
class FleetFilter:
    """Which part of the archive is shown.

    rules  ids, patterns of ids (`kb-*`) or numbers of KB articles; none: all
    window  cases by their time, the newest moment of their material
    since, until  the window in the words of the one who asks
    successors  former id of a rule -> the rules that took its place: what it said counts for them
    """

    rules: tuple[str, ...] = ()
    window: Window = field(default_factory=Window)
    since: str = ""
    until: str = ""
    successors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_fleet(
    archive: Archive, wanted: FleetFilter | None = None, snapshot: Snapshot | None = None
) -> Fleet:
    """Return all cases of an archive side by side, worst first.

    Raises UsageError when a wanted rule was judged in no case.
    """
    return run_twice(
        snapshot or archive.take_snapshot(),
        lambda now: _read_fleet(archive, now, wanted or FleetFilter()),
    )


def _read_fleet(archive: Archive, snapshot: Snapshot, wanted: FleetFilter) -> Fleet:
    db = QueryDatabase(archive, snapshot.list_visible_cases(), TABLES, SECONDS)
    try:
        newest = max((entry.stamp for entry in snapshot.entries), default=0)
        as_of = (
            datetime.fromtimestamp(newest // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            if newest
            else ""
        )
        filters = []
        if wanted.rules:
            filters.append(f"Only rules {one_line(', '.join(wanted.rules), 200)}.")
        if wanted.window:
            ends = [
                ("from", wanted.since or wanted.window.since),
                ("to", wanted.until or wanted.window.until),
            ]
            span = " ".join(f"{word} {one_line(end)}" for word, end in ends if end)
            filters.append(f"Only cases captured {span} (UTC).")
        out = Fleet(object_store.show_url(archive.objects.url), as_of, filters)
        lost = {**dict(snapshot.faults), **snapshot.damaged}
        out.missing = [
            f"{one_line(name)} cannot be read: {one_line(why)}"
            for name, why in sorted(lost.items())
        ]
        renamed = _note_successors(db, wanted.successors)
        out.filters += [
            f"Findings of {one_line(old)} count for {one_line(', '.join(new))}."
            for old, new in renamed
        ]
        # The rules judged in any case, by id; of several titles that of the newest case
        rows = db.fetch_rows(
            f"SELECT v.rule, v.title, v.kb, max(s.stamp) AS newest FROM ({_renamed_relation(db, VERDICTS)}) v"
            " JOIN (SELECT unnest(range($1)) AS _case, unnest($2::BIGINT[]) AS stamp) s USING (_case)"
            " GROUP BY ALL ORDER BY v.rule, newest, v.title, v.kb",
            [len(db.cases), [case.judged.stamp for case in db.cases]],
        )
        rules = {rule: FleetRule(rule, title or "", tuple(kb or ())) for rule, title, kb, _ in rows}
        out.rules = _choose_rules(list(rules.values()), wanted.rules, wanted.successors)
        every = _read_cases(db, short_ids([case.id for case in snapshot.list_every_case()]))
        cases = {}
        for number, case in every.items():
            moment = case.captured.removesuffix("Z").replace("T", " ")
            if wanted.window.holds_moment(moment):
                cases[number] = case
        out.cases = list(cases.values())
        out.undated = sum(not case.captured for case in every.values()) if wanted.window else 0
        if cases:
            _fill_fleet(db, out, {number: place for place, number in enumerate(cases)})
        return arrange_fleet(out)
    finally:
        db.close()


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """Return {id: its beginning}, all of one length and all different."""
    length = SHORT
    while length < 32 and len({identity[:length] for identity in ids}) < len(set(ids)):
        length += 4
    return {identity: identity[:length] for identity in ids}


def _read_cases(db: QueryDatabase, names: dict[str, str]) -> dict[int, FleetCase]:
    """Return the cases by their number on the database; one without its record is there too, with its id as name."""
    rows = db.fetch_rows(
        f"SELECT _case, name, source, {_ISO.format('stored')}, {_ISO.format('created')}, why, complete"
        f" FROM ({db.relation_sql(CASE)}) ORDER BY _case"
    )
    known = {row[0]: row[1:] for row in rows}
    out = {}
    for number, stored in enumerate(db.cases):
        name, source, at, created, why, complete = known.get(number, (None,) * 6)
        out[number] = FleetCase(
            stored.id,
            names[stored.id],
            name or names[stored.id],
            source or "",
            at or "",
            created or "",
            read=stored.judged.kind != "none",
            why=why or "",
            complete=bool(complete),
        )
    return out


def _note_successors(
    db: QueryDatabase, known: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, tuple[str, ...]]]:
    """Make the table of the rules that are shown under another id; return those that judged a case."""
    rows = db.fetch_rows(f"SELECT DISTINCT rule FROM ({db.relation_sql(VERDICTS)})")
    judged = {rule for (rule,) in rows}
    found = [(old, new) for old, new in sorted(known.items()) if old in judged]
    pairs = [(old, one) for old, new in found for one in new]
    db.con.execute("CREATE TEMP TABLE _renamed (former VARCHAR, now VARCHAR)")
    columns = [[old for old, _ in pairs], [new for _, new in pairs]]
    db.con.execute(
        "INSERT INTO _renamed SELECT unnest($1::VARCHAR[]), unnest($2::VARCHAR[])", columns
    )
    return found


def _renamed_relation(db: QueryDatabase, table: str) -> str:
    """Return the relation of a table with each rule under the id that it has now."""
    if not db.fetch_rows("SELECT 1 FROM _renamed LIMIT 1"):
        return db.relation_sql(table)
    return (
        f"SELECT r.* REPLACE (coalesce(n.now, r.rule) AS rule) FROM ({db.relation_sql(table)}) r"
        " LEFT JOIN _renamed n ON n.former = r.rule"
    )


def _choose_rules(
    rules: list[FleetRule], wanted: Iterable[str], successors: Mapping[str, tuple[str, ...]]
) -> list[FleetRule]:
    """Return the rules that the words speak of, a former id too. Raises UsageError for a word that speaks of none."""
    patterns = [one for word in wanted for one in successors.get(word, (word,))]
    for pattern in patterns:
        if not any(_speaks_of(pattern, rule) for rule in rules):
            meant = did_you_mean(pattern, [rule.id for rule in rules])
            raise UsageError(
                f"no case of the archive was judged by a rule {one_line(pattern, 80)}",
                do=meant or "`backline archive heatmap` without --rule shows all of them.",
            )
    if not patterns:
        return rules
    return [rule for rule in rules if any(_speaks_of(pattern, rule) for pattern in patterns)]


def _speaks_of(pattern: str, rule: FleetRule) -> bool:
    number = pattern.lower().removeprefix("kb").strip(" -")
    return fnmatchcase(rule.id, pattern) or (number.isdecimal() and int(number[:18]) in rule.kb)


def _fill_fleet(db: QueryDatabase, out: Fleet, place: dict[int, int]) -> None:
    """Put hits, hosts and cells into the fleet; `place` is where a case of the database is in it."""
    db.con.execute("CREATE TEMP TABLE _rules (rule VARCHAR, _r INTEGER)")
    ids = [rule.id for rule in out.rules]
    db.con.execute(
        "INSERT INTO _rules SELECT unnest($1::VARCHAR[]), unnest(range($2))", [ids, len(ids)]
    )
    every = list(place)
    for number, cells in _read_cells(db, every):
        out.cases[place[number]].cells = cells
    hosts: dict[str, int] = {}

    def add_hits(table: str, sign: str, numbers: Sequence[int]) -> None:
        for number, node, hit in _group_hits(db, table, sign, numbers):
            hit.case, hit.host = place[number], hosts.setdefault(node, len(hosts))
            out.hits.append(hit)

    add_hits(FINDINGS, _FINDING, every)
    numbers = _choose_open_cases(db, out, every)
    add_hits(UNKNOWNS, _UNKNOWN, numbers)
    if len(numbers) < len(place):
        out.filters.append(
            f"What is open on each host is shown for the worst {len(numbers):,} of {len(place):,} cases; "
            "the map by case shows it for all."
        )
        # the hosts of the others are there all the same
        rows = db.fetch_rows(
            f"SELECT DISTINCT _case, coalesce(node, '') FROM ({_renamed_relation(db, UNKNOWNS)})"
            " JOIN _rules USING (rule) ORDER BY ALL"
        )
        for number, node in rows:
            if number in place:
                hosts.setdefault(node, len(hosts))
    # What is known of each machine: product, version and build of its newest case
    about_rows = db.fetch_rows(
        "SELECT n.node, n.product, n.version, n.build, s.stamp"
        f" FROM ({db.relation_sql(NODES)}) n"
        " JOIN (SELECT unnest(range($1)) AS _case, unnest($2::BIGINT[]) AS stamp) s USING (_case)"
        " ORDER BY s.stamp, n.node, n.product, n.version, n.build",
        [len(db.cases), [case.judged.stamp for case in db.cases]],
    )
    about = {}
    for about_node, product, version, build, _ in about_rows:
        words = " ".join(filter(None, (product, version)))
        about[about_node or ""] = f"{words} build {build}".strip() if build else words
    out.hosts = [Host(name, about.get(name, "")) for name in hosts]


def _read_cells(db: QueryDatabase, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return (case, a sign for each rule) of some cases: the worst of its findings and open questions, else by its verdicts.

    A rule that broke elsewhere in the case is worse than what is merely muted or open.
    """
    return db.fetch_rows(
        f"""WITH said AS (
                  SELECT _case, _r, sum("match") AS "match", sum(no_match) AS no_match,
                         sum(cannot_tell) AS cannot_tell, sum(error) AS error
                  FROM ({_renamed_relation(db, VERDICTS)}) JOIN _rules USING (rule) GROUP BY ALL),
                hit AS (
                  SELECT _case, _r, min(instr('{SIGNS}', sign)) AS worst
                  FROM (SELECT _case, rule, {_FINDING} AS sign FROM ({_renamed_relation(db, FINDINGS)})
                        UNION ALL SELECT _case, rule, {_UNKNOWN} FROM ({_renamed_relation(db, UNKNOWNS)}))
                  JOIN _rules USING (rule) GROUP BY ALL),
                cell AS (
                  SELECT _case, _r, CASE WHEN worst IS NULL THEN {_SIGN}
                    WHEN error > 0 AND worst > instr('{SIGNS}', '!') THEN '!' ELSE substr('{SIGNS}', worst, 1) END AS sign
                  FROM said FULL JOIN hit USING (_case, _r))
                SELECT _case, string_agg(coalesce(sign, '/'), '' ORDER BY _r)
                FROM (SELECT unnest($1::BIGINT[]) AS _case) CROSS JOIN _rules LEFT JOIN cell USING (_case, _r)
                GROUP BY _case""",
        [numbers],
    )


def _choose_open_cases(db: QueryDatabase, fleet: Fleet, numbers: Sequence[int]) -> list[int]:
    """Return the cases whose open questions are read host by host: the worst ones, as many as OPEN allows.

    numbers  the cases of the fleet by their number on the database
    """
    counts: dict[int, int] = dict(
        db.fetch_rows(
            f"SELECT _case, count(*) FROM ({_renamed_relation(db, UNKNOWNS)}) JOIN _rules USING (rule) GROUP BY _case"
        )
    )
    chosen: list[int] = []
    room = OPEN
    for place in order_cases(fleet):
        room -= counts.get(numbers[place], 0)
        if room < 0 and chosen:
            break
        chosen.append(numbers[place])
    return chosen


def _group_hits(
    db: QueryDatabase, table: str, sign: str, numbers: Sequence[int]
) -> Iterator[tuple[int, str, FleetHit]]:
    """Yield (case of the database, node, hit without them), one for each sign of a rule on a node in some cases."""
    own = (
        "severity, confidence, say, first_seen, finding_id, NULL AS missing, NULL AS ask, excess"
        if table == FINDINGS
        else "NULL AS severity, NULL AS confidence, why AS say, NULL::TIMESTAMP AS first_seen,"
        " NULL AS finding_id, missing, ask, NULL::DOUBLE AS excess"
    )
    rows = db.fetch_rows(
        f"""WITH one AS (
              SELECT _case, _r, coalesce(node, '') AS node, {sign} AS sign, subject, muted, _row, {own}
              FROM ({_renamed_relation(db, table)}) JOIN _rules USING (rule)
              JOIN (SELECT unnest($1::BIGINT[]) AS _case) USING (_case))
            SELECT _case, _r, node, sign, count(*) OVER w, {_ISO.format("min(first_seen) OVER w")},
                   max(excess) OVER w,
                   subject, say, severity, confidence, {_ISO.format("first_seen")}, missing, ask, muted, finding_id
            FROM one WINDOW w AS (PARTITION BY _case, _r, node, sign)
            QUALIFY row_number() OVER (PARTITION BY _case, _r, node, sign ORDER BY _row) <= {NOTES}
            ORDER BY _case, _r, node, sign, _row""",
        [numbers],
    )
    last: tuple[Any, ...] = ()
    notes: list[FleetNote] = []
    for row in rows:
        if row[:4] != last[:4]:
            notes = []
            last = row
            yield (
                row[0],
                row[2],
                FleetHit(0, row[1], 0, row[3], row[4], row[5] or "", notes, row[6]),
            )
        # A thousand cases say the same sentences: each is kept once.
        subject, say, severity, confidence, first, missing, ask, muted, finding = (
            intern(text or "") for text in row[7:]
        )
        weight = ", ".join(filter(None, (severity, confidence)))
        notes.append(
            FleetNote(
                subject,
                say,
                "" if row[3] == "!" else weight,
                first,
                missing,
                ask,
                muted,
                finding,
            )
        )
