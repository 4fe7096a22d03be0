"""The lines of a signature split by the subject they belong to, and which of them are shown."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.artefacts.tables import Value
from analyzer.case.verdicts import Reason
from analyzer.judge.log_hits import LogAnswer, LogHit
from analyzer.judge.windows import HitLines
from analyzer.rules import LogDef, SeenDef
from analyzer.rules.own import Key, OwnScope


def chosen(answer: LogAnswer, keep: int) -> list[LogHit]:
    """Return the lines that are shown of an answer: the first, those that decide and the last; then the next ones."""
    hits = answer.hits
    if len(hits) <= keep or keep < 2:
        return hits[:keep]
    wanted = {id(one): one for one in [hits[0], *answer.deciding, hits[-1]]}
    for one in hits[:keep]:
        if len(wanted) < keep:
            wanted.setdefault(id(one), one)
    return sorted(wanted.values(), key=lambda one: one.order)


def places(scope: OwnScope) -> set[int]:
    """Return the places of a whole key."""
    return set(range(len(scope.keys)))


def ordered(columns: Iterable[tuple[int, str]]) -> list[int]:
    """Return the places of a key that some columns fill, in their order."""
    return sorted({place for place, _ in columns})


def by_subject(
    log: LogDef, pool: HitLines, scope: OwnScope
) -> tuple[dict[Key, HitLines], HitLines]:
    """Return the lines of a signature by key, and what a subject without lines has; one that names nobody has all."""
    columns = scope.of(log.name)
    if not columns:
        return {(): pool}, pool
    groups: dict[Key, HitLines] = {}
    strays: list[LogHit] = []
    empty = HitLines(strays=strays, unkept=pool.uncounted)
    for lines, certain in ((pool.sure, True), (pool.maybe, False)):
        for found in lines:
            key = _key(log, found, scope, columns)
            if key is None:
                continue
            if None in key:
                strays.append(found)
                continue
            own = groups.get(key)
            if own is None:
                own = groups[key] = HitLines(strays=strays, unkept=pool.uncounted)
            (own.sure if certain else own.maybe).append(found)
    strays.sort(key=lambda one: one.order)
    return groups, empty


def _key(
    log: LogDef, found: LogHit, scope: OwnScope, columns: Iterable[tuple[int, str]]
) -> Key | None:
    """Return the key of a line, None when its columns contradict each other."""
    cells: dict[int, Value] = {}
    for place, column in columns:
        cell = scope.keys[place].cell(_told(log, found, column))
        if cells.setdefault(place, cell) != cell:
            return None
    return tuple(cells[place] for place in sorted(cells))


def _told(log: LogDef, found: LogHit, column: str) -> Value:
    """Return the value of a column of a line; a group of the name of a column of the log is never that column."""
    grouped = any(one.name == column for one in log.columns)
    if grouped and log.table.column(column) is not None:
        return found.hit.groups.get(column)
    value: Value = found.values.get(column)
    return value


def of_nobody(seen: SeenDef, log: LogDef, scope: OwnScope) -> LogAnswer:
    """Return the answer for a subject of which it is not known which lines are its own."""
    names = ", ".join(key.mine.rpartition(".")[2] for key in scope.keys)
    why = f"{names} is not known, so it is not known which lines of {' and '.join(seen.logs)} belong to it"
    return LogAnswer(reason=Reason.UNPARSED, missing=log.table.name, why=why)
