"""Cells of tables that say trouble though no finding rests on them: records for the list of signals.

Each table is read once. Counters of loss of one object are one record, the worst first; other cells are one record for a
column and what it says. What a finding rests on is left out, also where the same object was printed twice.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

from analyzer.artefacts import parsing
from analyzer.artefacts.signs import counts_loss
from analyzer.artefacts.tables import Block, Frame, Row, Table, Value
from analyzer.case.verdicts import Evidence, Judgement
from analyzer.facts import Facts, made
from analyzer.facts.records import MadeRow
from analyzer.runtime.text import one_line
from analyzer.secrets.values import hide_lone_line
from analyzer.signals.cell_signs import (
    BadCell,
    Cells,
    RowCell,
    describe_cell,
    find_named_whole,
    format_cell,
    judge_cell,
)
from analyzer.signals.columns import Meaning, list_meanings
from analyzer.signals.growth import MANY, CaptureTimes, find_growth

Identity = tuple[Any, ...]

KIND = "cell"
_BUNDLE = "esxi.bundle"  # tells when it was made
TEXT = 300  # characters of a line
MOST_OBJECTS = 20  # of one table on one node whose counters of loss have a record each
MOST_REASONS = 20  # of one column on one node
MOST_COUNTERS = 5  # of one object that a sentence tells with their values
MOST_NAMES = 15  # of further counters that it names
MOST_NAME = 60  # characters of one of those
_FILLS = re.compile(  # what is left of two names is the same where they say the same of one thing
    r"(?:^|_)(?:used|free|usage|pct|bytes|kib|kb|mb|gb|fs|ramdisk|max|available)(?=_|$)"
)
_REMARK = re.compile(r" \((?:worst|first) of [\d,]+ rows\)$| \([\d,]+ more not shown\)$")
_OF_NUMBERS = ("loss", "named")  # signs for which 0 says nothing
_LONG_LINE = 500  # a line as long as this holds many objects: it is explained column by column
_PRINTED_NAMES = {"vm_id": "vm_name"}  # a key that no one knows, and the column that names the same


class Sighting(NamedTuple):
    """A cell that says trouble, and the row it is in.

    identity  what the row is of; of two rows with one identity the last counts
    key       the columns that name the object
    """

    row: Row
    column: str
    bad: BadCell
    identity: Identity
    key: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        """Key of the node."""
        return self.row.block.node

    @property
    def place(self) -> tuple[str, int]:
        """Address and line of the cell."""
        return self.row.block_of(self.column).address, self.row.line_of(self.column)


@dataclass(slots=True)
class ExplainedCells:
    """Cells that findings rest on, by the name of their node.

    cells    node, address, line, column, value: of a long line, which holds a whole table in JSON, these alone
    lines    node, address, line: of a line that is not long all cells are explained
    columns  node, address, column: of many rows that decide, a finding shows some
    shown    by node, address and line the columns of `cells`
    """

    cells: set[tuple[str, str, int, str, str]] = field(default_factory=set)
    lines: set[tuple[str, str, int]] = field(default_factory=set)
    columns: set[tuple[str, str, str]] = field(default_factory=set)
    shown: defaultdict[tuple[str, str, int], set[str]] = field(
        default_factory=partial(defaultdict, set)
    )

    def add_evidence(self, node: str, evidence: Evidence) -> None:
        """Take one piece of evidence: its label is `alias.column = value`, with a remark where it stands for many rows."""
        name, _, value = evidence.label.partition(" = ")
        column = name.rpartition(".")[2]
        shown = _REMARK.sub("", value).strip('"')
        self.cells.add((node, evidence.address, evidence.line, column, shown))
        self.shown[node, evidence.address, evidence.line].add(column)
        if len(evidence.text) < _LONG_LINE:
            self.lines.add((node, evidence.address, evidence.line))
        if evidence.label.endswith((" more not shown)", " rows)")):
            self.columns.add((node, evidence.address, column))

    def covers_cell(self, node: str, one: Sighting) -> bool:
        """Tell whether a finding rests on a cell; `node` is the name of its node."""
        address, line = one.place
        if one.bad.sign.how == "entry" and self.covers_row(node, one.row):
            return True
        return (
            (node, address, line) in self.lines
            or (node, address, line, one.column, write_value(one.bad.value)) in self.cells
            or (node, address, one.column) in self.columns
        )

    def covers_row(self, node: str, row: Row) -> bool:
        """Tell whether a finding rests on a row, whichever of its cells it shows; rows of one long line differ in some."""
        address = row.block.address
        lines = {row.line_of(column) for column in row.values}
        if any((node, address, line) in self.lines for line in lines):
            return True
        found = False
        for line in lines:
            for column in self.shown.get((node, address, line), ()):
                value = write_value(row.values.get(column))
                if (node, address, line, column, value) not in self.cells:
                    return False
                found = True
        return found

    def list_columns(self, node: str, address: str) -> set[str]:
        """Return the columns of a file that findings rest on."""
        return {
            column for name, place, _, column, _ in self.cells if name == node and place == address
        }


def write_value(value: Value) -> str:
    """Return a value as the label of evidence has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(value)


def find_cell_signals(facts: Facts, judgement: Judgement) -> list[dict[str, Any]]:
    """Return what cells say of trouble that no finding rests on, the heaviest first; a record each (see `make_record`)."""
    made.put_tables(facts, list_declared_made())
    explained = collect_explained(judgement)
    records: list[dict[str, Any]] = []
    times = CaptureTimes(facts)
    for name in sorted(facts.list_names()):
        table = facts.tables[name]
        if table.log or table.given is not None or table.lines_of is not None:
            continue
        meanings = list_meanings(table) if facts.count(name) else {}
        if meanings:
            records += find_in_table(facts, table, meanings, explained, times)
    return sorted(records, key=order_record)


def order_record(record: dict[str, Any]) -> tuple[Any, ...]:
    """Return what puts the heaviest record first, and equal ones by their place."""
    place = record["node"], record["module"], record["object"], record["address"], record["line"]
    return -record["weight"], -record["count"], *place


@cache
def list_declared_made() -> frozenset[str]:
    """Return the tables that are made of others and have columns whose meaning is declared."""
    return frozenset(
        name for name in made.list_made_tables() if list_meanings(parsing.tables()[name])
    )


def collect_explained(judgement: Judgement) -> ExplainedCells:
    """Return the cells and lines that findings rest on."""
    explained = ExplainedCells()
    for finding in judgement.findings:
        for evidence in finding.evidence:
            explained.add_evidence(evidence.node or finding.node, evidence)
    return explained


def find_in_table(
    facts: Facts,
    table: Table,
    meanings: dict[str, Meaning],
    explained: ExplainedCells,
    times: CaptureTimes,
) -> Iterator[dict[str, Any]]:
    """Yield the records of one table."""
    store = facts.store(table.name)
    rows = times.order_rows(store.rows)
    sightings = list(read_rows(facts, rows, meanings, table))
    by_node: defaultdict[str, list[Sighting]] = defaultdict(list)
    for one in leave_explained_out(facts, sightings, explained):
        by_node[one.node].append(one)
    for some in by_node.values():
        losses = [one for one in some if one.bad.sign.how == "loss"]
        losses = list(add_growths(losses, rows, find_objects(table, meanings), times))
        others = [one for one in some if one.bad.sign.how != "loss"]
        yield from make_loss_records(losses)
        yield from make_reason_records(keep_worst_fills(others))
    for frame in store.frames:
        yield from read_frame(facts, frame, meanings, explained)


# -- rows


def read_rows(
    facts: Facts, rows: Sequence[Row], meanings: dict[str, Meaning], table: Table
) -> Iterator[Sighting]:
    """Yield the cells of rows that say trouble, in one pass."""
    signs = [
        (column, meaning.sign) for column, meaning in meanings.items() if meaning.sign.how != "fine"
    ]
    objects = find_objects(table, meanings)
    wholes = read_named_wholes(rows, objects, meanings) if objects.has_names else {}
    for row in rows:
        values = row.values
        captured = ""
        for column, sign in signs:
            value = values.get(column)
            if value is None or value == "" or (not value and sign.how in _OF_NUMBERS):
                continue
            if sign.how == "older":
                captured = captured or find_capture(facts, row)
            bad = judge_cell(RowCell(sign, column, value, values, captured))
            if bad is None or is_copied(row, column):
                continue
            identity = objects.identify_row(row)
            if sign.how == "named" and bad.sign.how == "loss":
                bad = add_share(bad, wholes.get((row.block.node, *identity), {}))
            yield Sighting(row, column, bad, identity, objects.key)


def find_capture(facts: Facts, row: Row) -> str:
    """Return when the material of a row was taken, "" where nothing says so."""
    if row.block.taken:
        return row.block.taken
    for bundle in facts.store(_BUNDLE).rows if _BUNDLE in facts.tables else ():
        if bundle.block.node == row.block.node and bundle.values.get("captured"):
            return str(bundle.values["captured"])
    info = facts.nodes.get(row.block.node)
    return info.captured if info is not None else ""


def is_copied(row: Row, column: str) -> bool:
    """Tell whether a row that is made of others has a cell from a table that has a meaning for it."""
    if not isinstance(row, MadeRow) or column not in row.read_from:
        return False
    return column in list_meanings(row.read_from[column].table)


class RowObjects(NamedTuple):
    """What the rows of a table are of.

    key        the columns that tell it
    has_names  a row holds one value of many, and its name: the name is no part of the object
    """

    key: tuple[str, ...]
    has_names: bool

    def identify_row(self, row: Row) -> Identity:
        """Return the object of a row: its key, or the place where it has none."""
        own = tuple(row.values.get(name) for name in self.key)
        if self.has_names:
            return own or (row.block.address,)
        return own if own and None not in own else (*own, row.block.address, row.line)


def find_objects(table: Table, meanings: dict[str, Meaning]) -> RowObjects:
    """Return what the rows of a table are of: where a row holds one value of many, the texts beside it and its name."""
    names = {meaning.sign.of for meaning in meanings.values() if meaning.sign.how == "named"}
    if not names:
        return RowObjects(table.key, has_names=False)
    texts = [
        one.name
        for one in table.columns
        if one.kind == "str" and one.name not in meanings and not one.name.endswith("_text")
    ]
    own = [name for name in table.key or texts if name not in names]
    return RowObjects(tuple(own), has_names=True)


def read_named_wholes(
    rows: Sequence[Row], objects: RowObjects, meanings: dict[str, Meaning]
) -> dict[Identity, dict[str, Value]]:
    """Return by object what its rows count that others may be a part of: packets, commands."""
    found: defaultdict[Identity, dict[str, Value]] = defaultdict(dict)
    named = [
        (column, meaning.sign.of)
        for column, meaning in meanings.items()
        if meaning.sign.how == "named"
    ]
    for row in rows:
        for column, name_column in named:
            name, value = row.values.get(name_column), row.values.get(column)
            if isinstance(name, str) and value and find_named_whole(name, (name,)):
                found[row.block.node, *objects.identify_row(row)][name] = value
    return found


def add_share(bad: BadCell, wholes: dict[str, Value]) -> BadCell:
    """Return a named counter of loss with its share of what the same object counts."""
    name = find_named_whole(bad.name, tuple(wholes))
    if not name:
        return bad
    return judge_cell(RowCell(counts_loss(name), bad.name, bad.value, wholes)) or bad


def leave_explained_out(
    facts: Facts, sightings: Sequence[Sighting], explained: ExplainedCells
) -> Iterator[Sighting]:
    """Yield the cells that no finding rests on; of an object that was printed twice its last."""
    known: set[tuple[str, str, Identity, str]] = set()
    last: dict[tuple[str, str, Identity, str, str], Sighting] = {}
    for one in sightings:
        own = (one.node, one.column, one.identity, one.bad.name)
        if explained.covers_cell(facts.name(one.node), one):
            known.add(own)
        last[*own, one.bad.reason] = one
    for (node, column, identity, name, _), one in last.items():
        if (node, column, identity, name) not in known:
            yield one


def add_growths(
    losses: Sequence[Sighting], rows: Sequence[Row], objects: RowObjects, times: CaptureTimes
) -> Iterator[Sighting]:
    """Yield counters of loss of one node; one that grew between two outputs of its object weighs more.

    rows  of the table, those of the oldest output first
    """
    wanted = {one.identity for one in losses}
    outputs: defaultdict[Identity, list[Row]] = defaultdict(list)
    for row in rows if wanted else ():
        identity = objects.identify_row(row)
        if row.block.node == losses[0].node and identity in wanted:
            outputs[identity].append(row)
    for one in losses:
        some = [row for row in outputs[one.identity] if counts_same(row, one)]
        whole = one.bad.sign.of if one.bad.name == one.column else ""  # else a row of its own
        growth = find_growth(times, some, one.column, whole) if len(some) > 1 else None
        if growth is None:
            yield one
            continue
        moved = {one.bad.name: growth.by, one.bad.sign.of: growth.whole}
        lately = judge_cell(RowCell(one.bad.sign, one.bad.name, growth.by, moved))
        weight = max(one.bad.weight, lately.weight if lately else 0.0)
        weight += 1.0 if growth.by >= MANY else 0.5
        yield one._replace(bad=one.bad._replace(weight=weight, growth=growth.describe()))


def counts_same(row: Row, one: Sighting) -> bool:
    """Tell whether a row of an object holds the counter of a cell: where a row has one of many, its name is the same."""
    if one.bad.name == one.column:
        return True
    return one.bad.name in row.values.values()


# -- records


def make_loss_records(losses: Sequence[Sighting]) -> Iterator[dict[str, Any]]:
    """Yield a record for each object whose counters of loss are not 0, and one for those beyond the limit."""
    by_object: defaultdict[Identity, list[Sighting]] = defaultdict(list)
    for one in losses:
        by_object[one.identity].append(one)
    groups = [sorted(some, key=order_sighting) for some in by_object.values()]
    groups.sort(key=lambda some: order_sighting(some[0]))
    for some in groups[:MOST_OBJECTS]:
        parts = [describe_cell(one.bad, one.row.values) for one in some[:MOST_COUNTERS]]
        more = [one_line(one.bad.name, MOST_NAME) for one in some[MOST_COUNTERS:]]
        if more:
            parts.append(f"not 0 as well: {', '.join(more[:MOST_NAMES])}")
        if len(more) > MOST_NAMES:
            parts.append(f"and {len(more) - MOST_NAMES:,} more")
        yield make_record(some, "; ".join(parts), "counter of loss")
    rest = groups[MOST_OBJECTS:]
    if rest:
        every = [one for some in rest for one in some]
        words = f"counters of loss of {len(rest):,} more objects are not 0; the worst of them: "
        worst = describe_cell(every[0].bad, every[0].row.values)
        yield make_record(every, words + worst, "counter of loss")


def keep_worst_fills(sightings: Sequence[Sighting]) -> list[Sighting]:
    """Return cells without those that say again how full a thing is: of used, free and percent of a row the worst."""
    kept: dict[tuple[int, str], Sighting] = {}
    for number, one in enumerate(sightings):
        key = (number, "")
        if one.bad.sign.how in ("above", "below") and _FILLS.search(one.column):
            key = (-id(one.row), _FILLS.sub("", one.column))
        known = kept.get(key)
        if known is None or order_sighting(one) < order_sighting(known):
            kept[key] = one
    return list(kept.values())


def make_reason_records(sightings: Sequence[Sighting]) -> Iterator[dict[str, Any]]:
    """Yield a record for each column and what its cells say, and one for the reasons beyond the limit."""
    by_reason: defaultdict[tuple[str, str, str], list[Sighting]] = defaultdict(list)
    for one in sightings:
        by_reason[one.column, one.bad.name, one.bad.reason].append(one)
    columns: defaultdict[str, list[list[Sighting]]] = defaultdict(list)
    for (column, _, _), some in by_reason.items():
        columns[column].append(sorted(some, key=order_sighting))
    for groups in columns.values():
        groups.sort(key=lambda some: (-some[0].bad.weight, -len(some), order_sighting(some[0])))
        for some in groups[:MOST_REASONS]:
            worst = some[0]
            yield make_record(
                some, describe_cell(worst.bad, worst.row.values), name_reason(worst.bad)
            )
        rest = [one for some in groups[MOST_REASONS:] for one in some]
        if rest:
            number = len(groups) - MOST_REASONS
            sentence = describe_cell(rest[0].bad, rest[0].row.values)
            yield make_record(
                rest, f"{sentence}; and {number:,} more of its kind", name_reason(rest[0].bad)
            )


def order_sighting(one: Sighting) -> tuple[Any, ...]:
    """Return what puts the worst cell first, whatever the order of the rows."""
    bad, (address, line) = one.bad, one.place
    size = bad.value if isinstance(bad.value, int | float) else 0
    excess = size if bad.sign.how == "below" else -size
    return (
        -bad.weight,
        -(bad.share or 0) if bad.sign.how == "loss" else 0,
        excess,
        address,
        line,
        bad.name,
    )


_WHY = {
    "good": "state",
    "bad": "state",
    "state": "state",
    "rows": "there is one",
    "above": "over a bar",
    "below": "under a bar",
    "differs": "differs",
    "older": "date",
}


def name_reason(bad: BadCell) -> str:
    """Return in a word or two what speaks against a cell."""
    if bad.sign.how == "message":
        return bad.reason
    return bad.sign.title or _WHY.get(bad.sign.how, bad.sign.how)


def make_record(some: Sequence[Sighting], what: str, why: str) -> dict[str, Any]:
    """Return the record of cells that say the same, or of one object; the worst of them comes first."""
    worst = some[0]
    block, (address, line) = worst.row.block_of(worst.column), worst.place
    reasons = [why]
    if worst.bad.share is not None and worst.bad.sign.of:
        reasons.append(f"{100 * worst.bad.share:.2g} % of {worst.bad.sign.of}")
    if worst.bad.growth:
        reasons.append("it is growing")
    return fill_record(
        worst.node,
        f"{worst.row.table.name}.{worst.column}",
        what,
        name_object(worst.key, worst.row.values),
        count=len({id(one.row) for one in some}),
        address=address,
        line=line,
        text=read_line(block, line),
        weight=worst.bad.weight,
        why=reasons,
    )


def fill_record(node: str, module: str, what: str, thing: str, **more: Any) -> dict[str, Any]:
    """Return a record with the fields that all signals have."""
    record = {
        "node": node,
        "kind": KIND,
        "module": module,
        "what": hide_lone_line(what),
        "object": hide_lone_line(thing),
        "title": "",
        "first": "",
        "last": "",
        "ended": "",
        "last_address": "",
        "last_line": 0,
    }
    return record | more


def name_object(key: Iterable[str], cells: Cells) -> str:
    """Return what a row is of, in the words of its key."""
    parts = []
    for name in key:
        printed = cells.get(_PRINTED_NAMES.get(name, name))
        value = cells.get(name) if printed is None or printed == "" else printed
        if value is not None and value != "":
            parts.append(str(value))
    return one_line(" ".join(parts), TEXT)


def read_line(block: Block, line: int) -> str:
    """Return a line as the block holds it, without secrets."""
    place = line - block.first_line
    text = block.lines[place] if 0 <= place < len(block.lines) else ""
    return hide_lone_line(text)[:TEXT]


# -- samples


def read_frame(
    facts: Facts, frame: Frame, meanings: dict[str, Meaning], explained: ExplainedCells
) -> Iterator[dict[str, Any]]:
    """Yield a record for each number of a capture that is beyond its bar, with the worst sample."""
    node, address = frame.block.node, frame.block.address
    shown = explained.list_columns(facts.name(node), address)
    for column, meaning in meanings.items():
        sign = meaning.sign
        if sign.how not in ("above", "below", "loss") or sign.of or column in shown:
            continue
        if column not in frame.columns:
            continue
        cells = frame.columns[column]
        beyond = cells < sign.bar if sign.how == "below" else cells > sign.bar
        places = beyond.nonzero()[0]
        if not len(places):
            continue
        held = cells[places]
        row = int(places[held.argmin() if sign.how == "below" else held.argmax()])
        weight = (sign.weight or 3.0) - (len(places) == 1 and len(cells) > 10)
        bad = BadCell(weight, "", sign, column, float(cells[row]))
        names = {*frame.table.key, *_PRINTED_NAMES.values()}
        values = {name: frame.take(name, [row])[0] for name in names if name in frame.columns}
        sentence = f"{describe_cell(bad, {})} in {len(places):,} of {len(cells):,} samples"
        yield fill_record(
            node,
            f"{frame.table.name}.{column}",
            sentence,
            name_object(frame.table.key, values),
            count=len(places),
            address=address,
            line=int(frame.line[row]),
            text=f"{frame.heading(column, row)} = {format_cell(bad.value)}"[:TEXT],
            weight=weight,
            why=["over a bar" if sign.how != "below" else "under a bar"],
        )
