"""What machines say though nothing is wrong: rows of the table kb.background, counted over an archive.

Of a case that an engineer called healthy every kind of sign counts, of other cases those that were there all along; a
case that was called not healthy counts nowhere. Cases that share a machine are one site, for which one case speaks:
a healthy one before another, then the newest. So no machine counts twice, and one customer is not three.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from analyzer.archive.entries import Snapshot
from analyzer.archive.labels import CONFIRMED, HEALTHY, Label, current_labels
from analyzer.archive.packs.columns import CASE, NODES, SIGNALS
from analyzer.archive.query.ask import SECONDS, QueryDatabase, run_twice
from analyzer.archive.query.views import IDS
from analyzer.archive.store import Archive
from analyzer.case.document import CHRONIC
from analyzer.signals.background import LEAST_SITES, QUIET_KINDS

TABLES = (CASE, NODES, SIGNALS)
HEAD = (
    "kind_hash", "machines_with", "machines_counted", "machines_healthy", "sites_with", "versions_with", "source", "mark",
)  # fmt: skip
_SPEAKERS = "_speakers"
_VERSION = re.compile(
    r"\d+(?:\.\d+){0,3}"
)  # a version may be any text of a bundle; only numbers go out


@dataclass(slots=True)
class CalmCase:
    """A case that may speak for its site; `machines` are those that it holds, `names` those of them with a name."""

    number: int
    id: str
    created: str
    healthy: bool
    machines: int = 0
    names: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class BackgroundKind:
    """A kind of sign that at least three sites have."""

    hash: str
    machines: int
    sites: int
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Background:
    """What was counted: machines and sites that were looked at, and the kinds by hash.

    healthy  machines of cases that were called healthy
    """

    sites: int
    machines: int
    healthy: int
    kinds: list[BackgroundKind]


def count_background(archive: Archive, seconds: float = SECONDS) -> Background:
    """Return the kinds of signs that machines of at least three sites show all the time.

    Raises BacklineError when it takes too long; damaged packs are left out and noted in the archive.
    """
    labels = [one for one in current_labels(archive) if one.rule == HEALTHY]

    def count_once(now: Snapshot) -> Background:
        db = QueryDatabase(archive, now.list_visible_cases(), TABLES, seconds)
        try:
            db.lock_files()
            speakers = choose_speakers(_list_calm_cases(db, labels))
            return Background(
                len(speakers),
                sum(one.machines for one in speakers),
                sum(one.machines for one in speakers if one.healthy),
                _count_kinds(db, speakers),
            )
        finally:
            db.close()

    return run_twice(archive.take_snapshot(), count_once)


def _list_calm_cases(db: QueryDatabase, labels: Iterable[Label]) -> list[CalmCase]:
    """Return the cases whose signals are known, but for those that were called not healthy."""
    said = {label.id: label.label == CONFIRMED for label in labels}
    rows = db.fetch_rows(
        f"SELECT c._case, i.case_id, coalesce(CAST(c.created AS VARCHAR), '')"
        f" FROM ({db.relation_sql(CASE)}) c JOIN {IDS} i USING (_case) WHERE c.signals IS NOT NULL ORDER BY 1"
    )
    found: dict[int, CalmCase] = {}
    for number, name, created in rows:
        if said.get(name, True):
            found[number] = CalmCase(number, name, created, said.get(name, False))
    for number, machine in db.fetch_rows(
        f"SELECT _case, coalesce(node, '') FROM ({db.relation_sql(NODES)})"
    ):
        if number in found:
            found[number].machines += 1
            found[number].names |= {machine} - {""}
    return [one for one in found.values() if one.machines]


def choose_speakers(cases: Sequence[CalmCase]) -> list[CalmCase]:
    """Return one case of each site: cases that share a machine, or have none with a name, are of one site."""
    sites: list[tuple[set[str], list[CalmCase]]] = []
    for one in cases:
        names, members = set(one.names or {""}), [one]
        apart = []
        for site in sites:
            if names.isdisjoint(site[0]):
                apart.append(site)
            else:
                names |= site[0]
                members += site[1]
        sites = [*apart, (names, members)]
    chosen = [
        max(members, key=lambda one: (one.healthy, one.created, one.id)) for _, members in sites
    ]
    return sorted(chosen, key=lambda one: one.number)


def _count_kinds(db: QueryDatabase, speakers: Sequence[CalmCase]) -> list[BackgroundKind]:
    """Return the kinds that the cases of at least three sites have."""
    db.fetch_rows(
        f"CREATE TEMP TABLE {_SPEAKERS} AS SELECT unnest($1::INTEGER[]) AS _case, unnest($2::BOOLEAN[]) AS healthy,"
        " unnest($3::INTEGER[]) AS most",
        [
            [one.number for one in speakers],
            [one.healthy for one in speakers],
            [one.machines for one in speakers],
        ],
    )
    rows = db.fetch_rows(
        f"SELECT s._hash, s._case, least(s.machines, c.most) FROM ({db.relation_sql(SIGNALS)}) s"
        f" JOIN {_SPEAKERS} c USING (_case)"
        " WHERE list_contains($1::VARCHAR[], s.kind) AND (c.healthy OR list_contains($2::VARCHAR[], s.age))",
        [list(QUIET_KINDS), sorted(CHRONIC)],
    )
    having: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for name, case, machines in rows:
        having[name][case] = machines
    versions = _list_versions(db)
    kinds = []
    for name, machines_of in sorted(having.items()):
        if len(machines_of) < LEAST_SITES:
            continue
        seen = set[str]().union(*(versions[case] for case in machines_of))
        kinds.append(
            BackgroundKind(name, sum(machines_of.values()), len(machines_of), tuple(sorted(seen)))
        )
    return kinds


def _list_versions(db: QueryDatabase) -> defaultdict[int, set[str]]:
    """Return the versions of the machines of each case, numbers alone."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    rows = db.fetch_rows(
        f"SELECT DISTINCT _case, version FROM ({db.relation_sql(NODES)}) SEMI JOIN {_SPEAKERS} USING (_case)"
        " WHERE version IS NOT NULL"
    )
    for case, version in rows:
        if number := _VERSION.match(version):
            found[case].add(number.group())
    return found


def write_background(found: Background) -> str:
    """Return the rows as CSV for `facts/background.csv`: hashes and numbers, no text and no name of the cases."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    source = f"an archive, {found.sites} sites"
    for one in found.kinds:
        numbers = (one.machines, found.machines, found.healthy, one.sites)
        writer.writerow((one.hash, *numbers, " ".join(one.versions), source, "verified"))
    return out.getvalue()
