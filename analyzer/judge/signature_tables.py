"""Signatures as tables: their lines as rows, and how sure it is that there are no more.

The rows are the hits that a rule's questions to its logs see as well (judge/log_conditions.py): once over rotated
copies, and only those for which `where` holds. What may hide further lines makes the table "cut" on its node:
the log ended early, not every hit was kept, a line could not be tried, or `where` is unknown for some. A line
whose value is unknown in a column that a join goes by makes it "unparsed": it belongs to one of the rows there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzer.artefacts.tables import Block, Column, Row, Table, Value, cell_of
from analyzer.facts import Facts
from analyzer.facts.records import Coverage
from analyzer.judge.log_conditions import Logs, not_searched
from analyzer.judge.log_hits import LogHit, stamp
from analyzer.rules import HitTable, LogDef, Rule
from analyzer.runtime.limits import Limits


@dataclass(slots=True)
class _Lines:
    """The lines of a signature on one node, in order of their times, and why there may be more.

    rescan  True when the log was stored without a search for the signature
    """

    found: Sequence[LogHit]
    doubts: list[str]
    rescan: bool = False


def put(rule: Rule, facts: Facts, logs: Logs, limits: Limits) -> set[str]:
    """Put the lines of signatures that a rule uses as tables into the facts.

    Returns the names of the tables whose rows are not those they had before.
    """
    changed: set[str] = set()
    made: dict[str, tuple[dict[str, _Lines], _Rows]] = {}
    for hit in rule.hits:
        log = rule.logs[hit.log]
        if hit.log not in made:
            lines = _lines(rule, log, facts, logs, limits.hits_per_signature)
            made[hit.log] = (
                lines,
                _Rows(hit.table, log, [found for own in lines.values() for found in own.found]),
            )
        lines, whole = made[hit.log]
        rows = list(whole.of(hit))
        if facts.derive(hit.table, rows, _covers(rule, hit, lines, rows)):
            changed.add(hit.table.name)
    return changed


# -- lines


def _lines(rule: Rule, log: LogDef, facts: Facts, logs: Logs, most: int) -> dict[str, _Lines]:
    """Return the lines of a signature by node: at most so many in all, shared among the nodes."""
    nodes = facts.nodes_with(log.table.name)
    hits = {key: logs.on(log, key) for key in nodes}
    shares = _shares({key: len(sure) for key, (sure, _) in hits.items()}, most)
    lines = {}
    for key, (sure, maybe) in hits.items():
        kept = sure[: shares[key]]
        rescan = logs.unsearched(log, [key])
        doubts = [not_searched(log)] if rescan else []
        doubts += [
            *_log_doubts(facts, log, key),
            *_scan_doubts(facts, f"{rule.id}/{log.name}", log, key),
        ]
        if len(kept) < len(sure):
            doubts.append(f"{len(kept):,} of {len(sure):,} lines of `{log.name}` were kept")
        if maybe and log.where is not None:
            lines_of = "1 line" if len(maybe) == 1 else f"{len(maybe):,} lines"
            doubts.append(
                f"for {lines_of} of `{log.name}` it is not known whether {log.where.text}"
            )
        lines[key] = _Lines(kept, doubts, rescan)
    return lines


def _shares(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Return how many lines of each node are kept, so that a storm on one leaves room for the others."""
    shares = {}
    for number, key in enumerate(sorted(counts, key=lambda key: (counts[key], key))):
        shares[key] = min(counts[key], most // (len(counts) - number))
        most -= shares[key]
    return shares


def _log_doubts(facts: Facts, log: LogDef, node: str) -> Iterator[str]:
    """Yield why the log of a node may hold more lines than were seen."""
    covered = facts.coverage(node, log.table.name)
    if covered.state in ("cut", "excerpt"):
        yield covered.why or f"{log.table.words} of {facts.name(node)} ended early"
    elif covered.state == "unparsed":
        yield covered.why or f"lines of {log.table.words} of {facts.name(node)} were not understood"


def _scan_doubts(facts: Facts, name: str, log: LogDef, node: str) -> Iterator[str]:
    """Yield why the search of a node's log may have passed lines over."""
    kept = counted = 0
    least = ""
    for scan in facts.scans_of(log.table.name):
        if scan.node != node:
            continue
        own = len(scan.of(name))
        kept, counted = kept + own, counted + max(own, scan.counts.get(name, own))
        stop = scan.stopped.get(name)
        if stop is not None and stop.lines:
            yield f"the signature `{log.name}` took too long in {scan.address}: {stop}"
        elif name in scan.at_least:
            least = "at least "
    if counted > kept or least:
        yield f"{kept:,} of {least}{counted:,} lines of `{log.name}` were kept"


# -- rows


class _Rows:
    """Lines of a signature as rows, each made when a table shows it: of a storm `per` leaves one in thousands."""

    def __init__(self, table: Table, log: LogDef, found: Sequence[LogHit]) -> None:
        self._table, self._found = table, found
        self._shadowed = [
            column.name for column in log.columns if log.table.column(column.name) is not None
        ]
        self._made: dict[int, Row] = {}

    def of(self, hit: HitTable) -> Iterator[Row]:
        """Yield the rows of one table: all lines, or of each value of `per` the earliest on its node."""
        per = [column for name in hit.per if (column := self._table.column(name)) is not None]
        seen: set[tuple[Value, ...]] = set()
        for number, one in enumerate(self._found):
            key = (one.node, *self._cells(one, per))
            if hit.per and key in seen:
                continue
            seen.add(key)
            if number not in self._made:
                self._made[number] = self._row(number, one)
            row = self._made[number]
            yield Row(hit.table, row.values, row.block, row.line)

    def _row(self, number: int, one: LogHit) -> Row:
        """Return a line as a row; its block holds the neighbouring lines, and counts up in the order of the lines."""
        hit = one.hit
        before, after = hit.around
        taken = stamp(one.time) if one.time is not None else ""
        block = Block(
            [*before, hit.text, *after],
            hit.line - len(before),
            hit.address,
            taken=taken,
            order=number,
        )
        block.named(one.node)
        cells = zip(self._table.columns, self._cells(one, self._table.columns), strict=True)
        return Row(
            self._table,
            {column.name: cell for column, cell in cells if cell is not None},
            block,
            hit.line,
        )

    def _cells(self, one: LogHit, columns: Sequence[Column]) -> list[Value]:
        return [cell_of(column, self._told(one, column.name)) for column in columns]

    def _told(self, one: LogHit, name: str) -> Value:
        """Return what a line says in a column; a group of the name of a column of the log is never that column."""
        if name in self._shadowed:
            return one.hit.groups.get(name)
        if name == "time":
            return stamp(one.time) if one.time is not None else None
        told: Value = one.values.get(name)
        return told


def _covers(
    rule: Rule, hit: HitTable, lines: Mapping[str, _Lines], rows: Sequence[Row]
) -> dict[str, Coverage]:
    """Return by node how well the table is known."""
    keys = {
        theirs
        for join in rule.joins
        if join.alias.table.name == hit.table.name
        for _, theirs in join.by
    }
    nameless: dict[str, list[Row]] = {key: [] for key in lines}
    for row in rows:
        if any(row.values.get(name) is None for name in keys if hit.table.column(name) is not None):
            nameless[row.block.node].append(row)
    covers = {}
    for key, own in lines.items():
        state, why = ("cut", "; ".join(own.doubts)) if own.doubts else ("read", "")
        if state == "read" and nameless[key]:
            first = nameless[key][0]
            missing = next(name for name in sorted(keys) if first.values.get(name) is None)
            count, at = len(nameless[key]), f"{first.block.address}:{first.line}"
            one, many = (
                f"1 line of `{hit.log}` ({at}) does",
                f"{count:,} lines of `{hit.log}` (first: {at}) do",
            )
            state, why = "unparsed", f"{one if count == 1 else many} not state {missing}"
        covers[key] = Coverage(state, why, rescan=own.rescan)
    return covers
