"""How many stored cases have a kind of signal, and what engineers said of these cases.

A case that was refused, or that an earlier version stored, counts nowhere: what signals it has is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from analyzer.archive.entries import Snapshot
from analyzer.archive.labels import CONFIRMED, Label, current_labels
from analyzer.archive.packs.columns import CASE, SIGNALS
from analyzer.archive.prints import case_id, source_key
from analyzer.archive.query.ask import SECONDS, QueryDatabase, run_twice
from analyzer.archive.query.views import IDS
from analyzer.archive.store import Archive
from analyzer.case.document import CaseDocument, KnownLabel, KnownSign, Signal
from analyzer.signals.kinds import hash_kind, write_template

if TYPE_CHECKING:
    from analyzer.ingest.file_hashes import FileHashes

TABLES = (CASE, SIGNALS)
KNOWN = "_known"  # table of an asked database: the cases whose signals are known
KINDS = "_kinds"  # the same: their kinds of signals


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
) -> dict[str, KnownSign]:
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
    found = {one: KnownSign(cases=0, of=asked) for one in hashes}
    rules: dict[str, Counter[str]] = {one: Counter() for one in hashes}
    for one, case in rows:
        found[one].cases += 1
        rules[one].update(confirmed.get(case, ()))
    for one, counts in rules.items():
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        found[one].labels = [KnownLabel(rule=rule, cases=count) for rule, count in ordered]
    return found


def count_known_kinds(
    archive: Archive,
    hashes: Iterable[str],
    without: Collection[str] = (),
) -> Mapping[str, KnownSign]:
    """Return what the visible cases of an archive know of kinds of signals, by hash.

    hashes   of `analyzer.signals.kinds.hash_kind`
    without  ids and keys of sources of cases that do not count, such as those of the case that is asked about

    Raises BacklineError when it takes too long; damaged packs are left out and noted in the archive.
    """
    wanted = list(dict.fromkeys(hashes))
    labels = current_labels(archive)

    def count_once(now: Snapshot) -> dict[str, KnownSign]:
        cases = [
            case
            for case in now.list_visible_cases()
            if case.id not in without and case.judged.source not in without
        ]
        db = QueryDatabase(archive, cases, TABLES, SECONDS)
        try:
            db.lock_files()
            load_kinds(db)
            return count_kinds(db, wanted, labels)
        finally:
            db.close()

    return run_twice(archive.take_snapshot(), count_once)


def list_own_keys(name: str, source: str, hashes: FileHashes) -> frozenset[str]:
    """Return what tells a case among stored ones: its id, and the key of its source.

    source  absolute path or URL, "" for a case of several
    hashes  of all its files (`every`)
    """
    keys = {case_id(name, hashes.collect_content())}
    if source:
        keys.add(source_key(source))
    return frozenset(keys)


def hash_signal(signal: Signal) -> str:
    """Return the hash of the kind of a signal, "" for lines of further kinds that were counted together."""
    if not signal.what:
        return ""
    return hash_kind(signal.kind, signal.module, write_template(signal.kind, signal.what))


def tell_known(
    document: CaseDocument, archive: Archive, without: Collection[str] = ()
) -> CaseDocument:
    """Return a case document whose signals say how often an archive has them.

    The given document stays as it is: what is stored of a case does not depend on what was stored before it.
    Raises as `count_known_kinds` does.
    """
    hashes = [hash_signal(one) for one in document.signals]
    known = count_known_kinds(archive, filter(None, hashes), without)
    signals = []
    for one, name in zip(document.signals, hashes, strict=True):
        kind = known.get(name)
        if kind is not None and kind.of:
            signals.append(structs.replace(one, known=kind))
        else:
            signals.append(one)
    return structs.replace(document, signals=signals)
