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
from analyzer.judge.log_answers import LogHit, format_stamp
from analyzer.judge.log_conditions import Logs, explain_unsearched
from analyzer.rules import HitTable, LogDef, Rule
from analyzer.runtime.limits import Limits


@dataclass(slots=True)
class NodeLines:
    """The lines of a signature on one node, in order of their times, and why there may be more.

    rescan  True when the log was stored without a search for the signature
    """

    found: Sequence[LogHit]
    doubts: list[str]
    rescan: bool = False


def put_tables(rule: Rule, facts: Facts, logs: Logs, limits: Limits) -> set[str]:
    """Put the lines of signatures that a rule uses as tables into the facts.

    Returns the names of the tables whose rows are not those they had before.
    """
    changed: set[str] = set()
    made: dict[str, tuple[dict[str, NodeLines], LineRows]] = {}
    for hit in rule.hits:
        log = rule.logs[hit.log]
        if hit.log not in made:
            own = collect_lines(log, facts, logs, limits.hits_per_signature)
            found: list[LogHit] = []
            for on_node in own.values():
                found += on_node.found
            made[hit.log] = own, LineRows(hit.table, log, found)
        lines, line_rows = made[hit.log]
        rows = list(line_rows.list_rows(hit))
        if facts.derive(hit.table, rows, judge_coverage(rule, hit, lines, rows)):
            changed.add(hit.table.name)
    return changed


# -- lines


def collect_lines(log: LogDef, facts: Facts, logs: Logs, most: int) -> dict[str, NodeLines]:
    """Return the lines of a signature by node: at most so many in all, shared among the nodes."""
    nodes = facts.nodes_with(log.table.name)
    hits = {key: logs.find_hits(log, key) for key in nodes}
    shares = share_places({key: len(found.sure) for key, found in hits.items()}, most)
    lines = {}
    for key, found in hits.items():
        sure = found.sure
        maybe = found.maybe
        kept = sure[: shares[key]]
        rescan = logs.is_unsearched(log, [key])
        doubts = list_doubts(log, facts, logs.name_signature(log), key)
        if rescan:
            doubts.insert(0, explain_unsearched(log))
        if len(kept) < len(sure):
            doubts.append(f"{len(kept):,} of {len(sure):,} lines of `{log.name}` were kept")
        if maybe and log.where is not None:
            count = "1 line" if len(maybe) == 1 else f"{len(maybe):,} lines"
            doubts.append(f"for {count} of `{log.name}` it is not known whether {log.where.text}")
        lines[key] = NodeLines(kept, doubts, rescan)
    return lines


def share_places(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Return how many lines of each node are kept, so that a storm on one leaves room for the others."""
    shares = {}
    left = len(counts)
    for key in sorted(counts, key=lambda key: (counts[key], key)):
        shares[key] = min(counts[key], most // left)
        most -= shares[key]
        left -= 1
    return shares


def list_doubts(log: LogDef, facts: Facts, signature: str, node: str) -> list[str]:
    """Return why the log of a node may hold more lines than were seen, or its search passed lines over."""
    doubts = []
    where = f"{log.table.words} of {facts.name(node)}"
    covered = facts.coverage(node, log.table.name)
    if covered.state in ("cut", "excerpt"):
        doubts.append(covered.why or f"{where} ended early")
    elif covered.state == "unparsed":
        doubts.append(covered.why or f"lines of {where} were not understood")
    kept = counted = 0
    least = ""
    for scan in facts.scans_of(log.table.name):
        if scan.node != node:
            continue
        own = len(scan.of(signature))
        kept += own
        counted += max(own, scan.counts.get(signature, own))
        stop = scan.stopped.get(signature)
        if stop is not None and stop.lines:
            doubts.append(f"the signature `{log.name}` took too long in {scan.address}: {stop}")
        elif signature in scan.at_least:
            least = "at least "
    if counted > kept or least:
        doubts.append(f"{kept:,} of {least}{counted:,} lines of `{log.name}` were kept")
    return doubts


# -- rows


class LineRows:
    """Lines of a signature as rows, each made when a table shows it: of a storm `per` leaves one in thousands."""

    def __init__(self, table: Table, log: LogDef, found: Sequence[LogHit]) -> None:
        self.table = table
        self.found = found
        # A group of the name of a column of the log is never that column.
        own = [column.name for column in log.columns]
        self.shadowed = [name for name in own if log.table.column(name) is not None]
        self.made: dict[int, Row] = {}

    def list_rows(self, hit: HitTable) -> Iterator[Row]:
        """Yield the rows of one table: all lines, or of each value of `per` the earliest on its node."""
        per = [column for column in map(self.table.column, hit.per) if column is not None]
        seen: set[tuple[Value, ...]] = set()
        for number, line in enumerate(self.found):
            key = (line.node, *(self.read_cell(line, column) for column in per))
            if hit.per and key in seen:
                continue
            seen.add(key)
            if number not in self.made:
                self.made[number] = self.make_row(number, line)
            row = self.made[number]
            yield Row(hit.table, row.values, row.block, row.line)

    def make_row(self, number: int, line: LogHit) -> Row:
        """Return a line as a row; its block holds the neighbouring lines, and counts up in the order of the lines."""
        hit = line.hit
        before, after = hit.around
        taken = "" if line.time is None else format_stamp(line.time)
        first = hit.line - len(before)
        text = [*before, hit.text, *after]
        block = Block(text, first, hit.address, taken=taken, order=number)
        block.assign_node(line.node)
        cells: dict[str, Value] = {}
        for column in self.table.columns:
            cell = self.read_cell(line, column)
            if cell is not None:
                cells[column.name] = cell
        return Row(self.table, cells, block, hit.line)

    def read_cell(self, line: LogHit, column: Column) -> Value:
        """Return what a line says in a column."""
        value: Value
        if column.name in self.shadowed:
            value = line.hit.groups.get(column.name)
        elif column.name == "time":
            value = None if line.time is None else format_stamp(line.time)
        else:
            value = line.values.get(column.name)
        return cell_of(column, value)


def judge_coverage(
    rule: Rule, hit: HitTable, lines: Mapping[str, NodeLines], rows: Sequence[Row]
) -> dict[str, Coverage]:
    """Return by node how well the table is known."""
    keys: set[str] = set()
    for join in rule.joins:
        if join.alias.table.name == hit.table.name:
            keys.update(theirs for _, theirs in join.by)
    own_keys = [name for name in sorted(keys) if hit.table.column(name) is not None]
    nameless: dict[str, list[Row]] = {key: [] for key in lines}
    for row in rows:
        if any(row.values.get(name) is None for name in own_keys):
            nameless[row.block.node].append(row)
    covers = {}
    for key, own in lines.items():
        state, why = "read", ""
        if own.doubts:
            state = "cut"
            why = "; ".join(own.doubts)
        elif nameless[key]:
            first = nameless[key][0]
            count = len(nameless[key])
            missing = next(name for name in sorted(keys) if first.values.get(name) is None)
            at = f"{first.block.address}:{first.line}"
            state = "unparsed"
            why = f"1 line of `{hit.log}` ({at}) does not state {missing}"
            if count > 1:
                why = f"{count:,} lines of `{hit.log}` (first: {at}) do not state {missing}"
        covers[key] = Coverage(state, why, rescan=own.rescan)
    return covers
