"""Stored cases that are like another one: those that share its rare kinds of signals.

A kind weighs ln((n + 1) / cases that have it), where n cases are known: what every case has weighs next to nothing.
How like a case another one is: the weight of the kinds that both have, of the weight of all kinds of the case. Of two
that share as much the one with less beside it comes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analyzer.archive.documents import make_damaged_error
from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import Stored
from analyzer.archive.labels import Label, current_labels
from analyzer.archive.query.ask import SECONDS, QueryDatabase, run_twice
from analyzer.archive.query.known_kinds import (
    KINDS,
    KNOWN,
    TABLES,
    count_kinds,
    load_kinds,
)
from analyzer.archive.store import Archive
from analyzer.case.document import KnownSign
from analyzer.runtime.errors import BacklineError, UsageError

LISTED = 5  # similar cases
SHARED = 3  # kinds that a similar case lists
OWN = 5  # kinds of the case itself that are counted in the archive
MINE = 0  # number of the case itself in the database
_WEIGHTS = "_weights"
_UNIT = 1_000_000  # weights are whole numbers of so many parts: their sum has no order


@dataclass(frozen=True, slots=True)
class SignalKind:
    """A kind of signal; `cases` have it, the case that is asked about among them."""

    hash: str
    kind: str
    module: str
    template: str
    cases: int


@dataclass(slots=True)
class SimilarCase:
    """A case like another one.

    share   of the weight of the kinds of the case, which the other one has as well: from 0 to 1
    shared  kinds of signals that both have, and `kinds` of them the rarest
    total   kinds of signals that it has
    """

    id: str
    name: str
    share: float
    shared: int
    total: int
    kinds: list[SignalKind] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


@dataclass(slots=True)
class SimilarCases:
    """What is like a case.

    total    kinds of signals that the case has
    asked    other cases it was held against
    unknown  other cases whose signals are not known: refused, or stored by an earlier version
    own      the heaviest kinds of the case, with what the other cases know of each
    cases    the most similar first
    """

    id: str
    name: str
    total: int = 0
    asked: int = 0
    unknown: int = 0
    own: list[tuple[SignalKind, KnownSign]] = field(default_factory=list)
    cases: list[SimilarCase] = field(default_factory=list)


def find_similar(
    archive: Archive, snapshot: Snapshot, case: Stored, seconds: float = SECONDS
) -> SimilarCases:
    """Return the stored cases that are most like one of them; other revisions of that case are left out.

    Raises UsageError for a case that was refused, BacklineError when the signals of the case are not known or it takes
    too long, DamagedError when the case cannot be read. Other packs that are damaged are left out and noted in the
    archive.
    """
    if case.judged.kind == "none":
        raise UsageError(
            "this case was refused: it has no signs of trouble", do="Name a case that was judged."
        )
    labels = current_labels(archive)

    def find_once(now: Snapshot) -> SimilarCases:
        mine = next((one for one in now.list_every_case() if one.id == case.id), None)
        if mine is None:
            holder = case.judged.holder
            raise make_damaged_error(holder, now.damaged.get(holder, "it is gone"))
        others = [
            one
            for one in now.list_visible_cases()
            if one.id != mine.id and one.judged.source != mine.judged.source
        ]
        db = QueryDatabase(archive, [mine, *others], TABLES, seconds)
        try:
            db.lock_files()
            load_kinds(db)
            return _compare_cases(db, labels)
        finally:
            db.close()

    return run_twice(snapshot, find_once)


def _compare_cases(db: QueryDatabase, labels: Sequence[Label]) -> SimilarCases:
    names = {row[0]: row[1] for row in db.fetch_rows(f"SELECT _case, name FROM {KNOWN}")}
    if MINE not in names:
        raise BacklineError(
            "it is not known what signs of trouble this case has",
            why="an earlier version stored it",
            do="`backline batch` over its source reads it again.",
        )
    found = SimilarCases(db.cases[MINE].id, names[MINE])
    found.asked = len(names) - 1
    found.unknown = len(db.cases) - len(names)
    db.fetch_rows(
        f"CREATE TEMP TABLE {_WEIGHTS} AS SELECT hash, count(*) AS cases,"
        f" CAST(round({_UNIT} * ln({len(names) + 1} / count(*))) AS BIGINT) AS weight"
        f" FROM {KINDS} GROUP BY hash"
    )
    found.own = _count_own_kinds(db, labels)
    totals = _sum_weights(db)
    found.total = totals.get(MINE, (0, 0))[0]
    found.cases = _rank_cases(db, names, totals)
    shared = _list_shared_kinds(db, [one.id for one in found.cases])
    for one in found.cases:
        one.kinds = shared[one.id]
        one.labels = [label for label in labels if label.id == one.id]
    return found


def _sum_weights(db: QueryDatabase) -> dict[int, tuple[int, int]]:
    """Return of each case with signals how many kinds it has, and what they weigh together."""
    rows = db.fetch_rows(
        f"SELECT s._case, count(*), sum(w.weight) FROM {KINDS} s JOIN {_WEIGHTS} w USING (hash) GROUP BY s._case"
    )
    return {case: (count, int(weight)) for case, count, weight in rows}


def _rank_cases(
    db: QueryDatabase, names: Mapping[int, str], totals: Mapping[int, tuple[int, int]]
) -> list[SimilarCase]:
    """Return the cases that share most with the first case of a database, without what they share."""
    rows = db.fetch_rows(
        f"SELECT s._case, count(*), sum(w.weight) FROM {KINDS} s JOIN {_WEIGHTS} w USING (hash)"
        f" SEMI JOIN (SELECT hash FROM {KINDS} WHERE _case = {MINE}) m USING (hash)"
        f" WHERE s._case <> {MINE} GROUP BY s._case"
    )
    found = []
    for case, count, weight in rows:
        total, own = totals[case]
        share = int(weight) / totals[MINE][1]  # no kind weighs nothing
        one = SimilarCase(db.cases[case].id, names[case], share, count, total)
        found.append((-share, own, one.name, one.id, one))
    return [one for *_, one in sorted(found)[:LISTED]]


def _list_shared_kinds(db: QueryDatabase, ids: Sequence[str]) -> dict[str, list[SignalKind]]:
    """Return the rarest kinds that each of some cases shares with the first case of a database."""
    rows = db.fetch_rows(
        f"SELECT k.case_id, s.hash, s.kind, s.module, s.template, w.cases"
        f" FROM {KINDS} s JOIN {_WEIGHTS} w USING (hash) JOIN {KNOWN} k ON k._case = s._case"
        f" SEMI JOIN (SELECT hash FROM {KINDS} WHERE _case = {MINE}) m USING (hash)"
        " WHERE list_contains($1::VARCHAR[], k.case_id)"
        " ORDER BY w.cases, s.weight DESC, s.module, s.template, s.hash",
        [list(ids)],
    )
    found: defaultdict[str, list[SignalKind]] = defaultdict(list)
    for case, *kind in rows:
        if len(found[case]) < SHARED:
            found[case].append(SignalKind(*kind))
    return found


def _count_own_kinds(
    db: QueryDatabase, labels: Sequence[Label]
) -> list[tuple[SignalKind, KnownSign]]:
    """Return the heaviest kinds of the first case of a database, with what the others know of them."""
    rows = db.fetch_rows(
        f"SELECT s.hash, s.kind, s.module, s.template, w.cases FROM {KINDS} s JOIN {_WEIGHTS} w USING (hash)"
        f" WHERE s._case = {MINE} ORDER BY s.weight DESC, w.cases, s.module, s.template, s.hash LIMIT {OWN}"
    )
    own = [SignalKind(*row) for row in rows]
    mine = db.cases[MINE].id
    counted = count_kinds(
        db, [one.hash for one in own], [label for label in labels if label.id != mine]
    )
    for known in counted.values():  # the case itself is one of them
        known.cases -= 1
        known.of -= 1
    return [(one, counted[one.hash]) for one in own]
