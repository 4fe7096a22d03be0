"""How many stored cases have a kind of signal, and what engineers said of these cases.

A case that was refused, or that an earlier version stored, counts nowhere: what signals it has is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from analyzer.archive.entries import Snapshot
from analyzer.archive.labels import CONFIRMED, Label, current_labels
from analyzer.archive.packs.columns import CASE, SIGNALS
from analyzer.archive.query.ask import SECONDS, QueryDatabase, run_twice
from analyzer.archive.query.views import IDS
from analyzer.archive.store import Archive
from analyzer.runtime.text import count_noun

TABLES = (CASE, SIGNALS)
KNOWN = "_known"  # table of an asked database: the cases whose signals are known
KINDS = "_kinds"  # the same: their kinds of signals
RULES_NAMED = 3  # rules that a sentence names


@dataclass(slots=True)
class KnownKind:
    """What an archive knows of a kind of signal.

    cases   that have it
    asked   cases whose signals are known
    labels  rule -> in how many of `cases` an engineer confirmed it, the most frequent first
    """

    cases: int
    asked: int
    labels: dict[str, int] = field(default_factory=dict)


def load_kinds(db: QueryDatabase) -> None:
    """Make the tables `KNOWN` and `KINDS` of a database that has `TABLES`."""
    db.fetch_rows(
        f"CREATE TEMP TABLE {KNOWN} AS SELECT c._case, c.name, i.case_id FROM ({db.relation_sql(CASE)}) c"
        f" JOIN {IDS} i USING (_case) WHERE c.signals IS NOT NULL"
    )
    db.fetch_rows(
        f"CREATE TEMP TABLE {KINDS} AS SELECT s._case, s._hash AS hash, s.kind, s.module, s.template, s.weight"
        f" FROM ({db.relation_sql(SIGNALS)}) s SEMI JOIN {KNOWN} USING (_case)"
    )


def count_kinds(
    db: QueryDatabase, hashes: Sequence[str], labels: Iterable[Label]
) -> dict[str, KnownKind]:
    """Return what the cases of a database know of kinds, by hash; see `load_kinds`."""
    confirmed: dict[str, set[str]] = {}
    for label in labels:
        if label.label == CONFIRMED:
            confirmed.setdefault(label.id, set()).add(label.rule)
    asked = db.fetch_rows(f"SELECT count(*) FROM {KNOWN}")[0][0]
    rows = db.fetch_rows(
        f"SELECT DISTINCT s.hash, k.case_id FROM {KINDS} s JOIN {KNOWN} k USING (_case)"
        " WHERE list_contains($1::VARCHAR[], s.hash)",
        [list(hashes)],
    )
    found = {one: KnownKind(0, asked) for one in hashes}
    rules: dict[str, Counter[str]] = {one: Counter() for one in hashes}
    for one, case in rows:
        found[one].cases += 1
        rules[one].update(confirmed.get(case, ()))
    for one, counts in rules.items():
        found[one].labels = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return found


def count_known_kinds(
    archive: Archive,
    hashes: Iterable[str],
    without: str = "",
    snapshot: Snapshot | None = None,
    seconds: float = SECONDS,
) -> Mapping[str, KnownKind]:
    """Return what the visible cases of an archive know of kinds of signals, by hash.

    hashes   of `analyzer.signals.kinds.hash_kind`
    without  id of a case that does not count, such as the one that is asked about

    Raises BacklineError when it takes too long; damaged packs are left out and noted in the archive.
    """
    wanted = list(dict.fromkeys(hashes))
    labels = current_labels(archive)

    def count_once(now: Snapshot) -> dict[str, KnownKind]:
        cases = [case for case in now.list_visible_cases() if case.id != without]
        db = QueryDatabase(archive, cases, TABLES, seconds)
        try:
            db.lock_files()
            load_kinds(db)
            return count_kinds(db, wanted, labels)
        finally:
            db.close()

    return run_twice(snapshot or archive.take_snapshot(), count_once)


def describe_known_kind(known: KnownKind) -> str:
    """Return it in words: `in 3 of 212 stored cases; an engineer confirmed kb-1003680 in 2 of 3`; "" for no case."""
    if not known.asked:
        return ""
    parts = [f"in {known.cases:,} of {count_noun(known.asked, 'stored case')}"]
    for rule, count in list(known.labels.items())[:RULES_NAMED]:
        parts.append(f"an engineer confirmed {rule} in {count:,} of {known.cases:,}")
    return "; ".join(parts)
