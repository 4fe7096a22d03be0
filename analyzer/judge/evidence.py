"""The lines a finding rests on, and the samples it draws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from analyzer.artefacts.tables import Block, Table
from analyzer.case.verdicts import Evidence
from analyzer.facts import Facts
from analyzer.judge.captures import by_time
from analyzer.judge.log_conditions import Logs
from analyzer.judge.log_hits import iso
from analyzer.judge.trace import TraceContext, shown
from analyzer.rules.language.expression import ExprNode

CONTEXT = 2  # lines before and after
LISTED = 8  # rows of one alias
MOST = 60  # pieces of evidence of one finding
POINTS = 600  # points of one chart

Series = dict[str, list[float] | list[str] | str]


class _Piece(NamedTuple):
    """A piece of evidence, and whether the value it tells is known."""

    item: Evidence
    known: bool = True


def collect(why: TraceContext, logs: Logs) -> list[Evidence]:
    """Return the evidence of a finding: of the rule's list, or of its condition when it has none.

    A value that is not known proves nothing: it is left out beside others that are.
    """
    unique: dict[tuple[str, str, int], _Piece] = {}
    for node in why.rule.evidence or [why.rule.when]:
        for one in _of(node, why, logs):
            unique.setdefault((one.item.label, one.item.address, one.item.line), one)
    known = [one.item for one in unique.values() if one.known]
    return (known or [one.item for one in unique.values()])[:MOST]


def _of(node: ExprNode, why: TraceContext, logs: Logs) -> list[_Piece]:
    if node.op == "column" and node.many:
        table = why.rule.aliases[node.name].table.name
        rows = why.detail.listed(node.name)
        some = [_piece(why.facts, table, row, node.column, node.name) for row in rows[:LISTED]]
        if len(rows) > LISTED:
            last = next(
                (one for one in reversed(some) if one.known), some[-1]
            )  # the others may be left out
            last.item.label += f" ({len(rows) - LISTED:,} more not shown)"
        return some
    if node.op == "column":
        row = why.detail.row(node.name)
        if row is None:
            return []
        return [
            _piece(why.facts, why.rule.aliases[node.name].table.name, row, node.column, node.name)
        ]
    if node.op in ("seen", "seen_field"):
        answer = why.answers.get(node.name)
        return (
            [_Piece(one) for one in logs.evidence(node.name, answer)] if answer is not None else []
        )
    if node.is_aggregate:
        return _folded(node, why)
    return [one for child in node.args for one in _of(child, why, logs)]


def _folded(node: ExprNode, why: TraceContext) -> list[_Piece]:
    """Return the rows that decide an aggregate: of samples the worst, of objects those that fulfil it."""
    table = why.aggregate_table(node)
    rows, _, _ = why.detail.counted(node)
    found = []
    for column, row in why.detail.deciding(node).items():
        if row is None:
            continue
        chosen = [row]
        if not why.facts.has_frames(table):
            chosen = list(dict.fromkeys([row, *why.detail.fulfilling(node)]))[:LISTED]
        for number in chosen:
            one = _piece(why.facts, table, number, column, node.name)
            if len(chosen) == 1 and rows > 1:
                one.item.label += (
                    f" ({'first' if node.op == 'count' else 'worst'} of {rows:,} rows)"
                )
            found.append(one)
    return found


def _piece(facts: Facts, table: str, row: int, column: str, alias: str) -> _Piece:
    """Return the evidence of one cell: its line with neighbours, or the heading of its column."""
    origin = facts.origin(table, row)
    value = facts.value(table, row, column)
    block = origin.row.block_of(column) if origin.row is not None else origin.block
    label = f"{alias}.{column} = {shown(value)}"
    line = origin.row.line_of(column) if origin.row is not None else origin.line
    before, text, after = around(block, line)
    if origin.frame is not None:
        text = f"{origin.frame.heading(column, origin.index)} = {shown(value)}"
    taken = iso(_taken(facts, table, row) or block.taken)
    item = Evidence(
        label, block.address, line, text or label, before, after, taken, facts.name(block.node)
    )
    return _Piece(item, value is not None)


def _taken(facts: Facts, table: str, row: int) -> str:
    column = facts.tables[table].column("time")
    value = (
        facts.value(table, row, "time") if column is not None and column.kind == "time" else None
    )
    return value if isinstance(value, str) else ""


def around(block: Block, line: int) -> tuple[list[str], str, list[str]]:
    """Return the lines before, the line itself and the lines after, as the block holds them."""
    place = line - block.first_line
    if not 0 <= place < len(block.lines):
        return [], "", []
    before = block.lines[max(0, place - CONTEXT) : place]
    return before, block.lines[place], block.lines[place + 1 : place + 1 + CONTEXT]


def series(node: ExprNode, why: TraceContext, name: str) -> Series | None:
    """Return the samples of a chart's column for the subject `name`, thinned to at most `POINTS` points.

    A counter bears the name that its tool shows: %RDY.
    """
    table = why.rule.aliases[node.name].table
    column = table.column(node.column)
    times, values = why.detail.drawn(node.name, node.column) or _by_row(node, why, table)
    if len(times) < 2:
        return None
    if len(times) > POINTS:
        kept = thin(values, POINTS)
        times, values = [times[place] for place in kept], [values[place] for place in kept]
    label = column.printed if column and column.printed else f"{node.name}.{node.column}"
    return {
        "title": f"{name}: {label}",
        "unit": column.unit if column else "",
        "node": why.detail.name,
        "times": [_stamp(when) for when in times],
        label: [_number(float(value)) for value in values],
    }


def _by_row(node: ExprNode, why: TraceContext, table: Table) -> tuple[list[str], list[float]]:
    """Return stamps in their order, and of each the greatest value."""
    rows = why.detail.listed(node.name)
    points: dict[str, float] = {}
    values = why.facts.values(table.name, rows, node.column)
    for when, value in zip(_stamps(why.facts, table, rows), values, strict=True):
        if isinstance(value, int | float):
            points[when] = max(value, points.get(when, value))
    times = sorted(points, key=by_time)
    return times, [points[when] for when in times]


@lru_cache(maxsize=20_000)
def _stamp(when: str) -> str:
    """Return `iso(when)`, the same object for the same time: the charts of a capture draw the same samples."""
    return iso(when)


@lru_cache(maxsize=20_000)
def _number(value: float) -> float:
    """Return `value`, the same object for the same number."""
    return value


def _stamps(facts: Facts, table: Table, rows: Sequence[int]) -> list[str]:
    """Return the time of each sample, else its number, else its line."""
    for name in ("time", "sample"):
        if table.column(name) is not None:
            found = facts.values(table.name, rows, name)
            if None not in found:
                return [str(value) for value in found]
    return [str(facts.origin(table.name, row).line) for row in rows]


def thin(values: Sequence[float], most: int) -> list[int]:
    """Return the places of at most `most` values: of each stretch the first least and the first greatest."""
    import numpy as np  # noqa: PLC0415 - heavy

    count, buckets = len(values), max(1, most // 2)
    if count <= most:
        return list(range(count))
    cells = np.array(
        values, dtype=float if set(map(type, values)) == {float} else object
    )  # whole numbers stay exact
    bounds = np.arange(buckets + 1) * count // buckets
    of = np.repeat(np.arange(buckets), np.diff(bounds))
    kept = []
    for fold in (np.minimum, np.maximum):
        found = np.flatnonzero(cells == fold.reduceat(cells, bounds[:-1])[of])
        kept.append(found[np.unique(of[found], return_index=True)[1]])
    places: list[int] = np.unique(np.concatenate(kept)).tolist()
    return places
