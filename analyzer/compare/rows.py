"""Compares the rows of all tables: what changed, what came and went, what counters did, what cannot be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any, Literal

from analyzer.compare import sections
from analyzer.compare.counters import CounterStep, is_bad, numeric, passed_column, step
from analyzer.compare.machines import ComparedMachine
from analyzer.compare.matching import Match, matched
from analyzer.compare.resets import SidePair, CounterStart, interval, start_of
from analyzer.compare.sides import CaseSide
from analyzer.compare.subjects import PASSING, VOLATILE, KnownNames, ComparedSubject, subjects
from analyzer.facts import Facts
from analyzer.lazy_dataclass import dataclass
from analyzer.tables import Column, Row, Table, Value

Record = dict[str, Any]
Mode = Literal["time", "hosts"]
MOST_ROWS = 50_000  # of one table on one side; beyond, its rows are not compared, and the page says so
_ROAMING = frozenset(("port_id", "vmx_path", "vm_world_id", "vm_folder"))  # what a VM takes along to another host
# What tells one host from another and is no difference between a good and a bad one.
_OWN = frozenset(
    {
        "mac",
        "ip",
        "ip_address",
        "hostname",
        "serial_number",
        "hba_uid",
        "wwnn",
        "wwpn",
        "port_fcid",
        "node_uuid",
        "vsan_uuid",
        "member_uuids",
        "address",
        "broadcast",
        "gateway",
        "source_mac",
        "vn_port_mac",
        "sas_address",
        "smbios_handle",
        "path_uid",
        "target_uid",
        "profile_created",
        "profile_modified",
        "install_date",
    }
)
_OWN_TABLES = frozenset(("esxi.certificate", "esxi.info_value", "esxi.smbios_value", "esxi.rdm_disk", "esxi.vm_file"))


@dataclass(slots=True)
class RowChanges:
    """What the rows of the sides say, as records of the comparison."""

    changes: list[Record] = field(default_factory=list)
    subjects: list[Record] = field(default_factory=list)
    counters: list[Record] = field(default_factory=list)
    uncompared: list[Record] = field(default_factory=list)


class RowComparison:
    """Compares all tables of sides whose machines are paired."""

    def __init__(self, sides: Sequence[CaseSide], pairs: Sequence[Match[ComparedMachine]], mode: Mode) -> None:
        self.sides, self.pairs, self.mode = sides, pairs, mode
        self.facts = [side.facts for side in sides if side.facts is not None]
        self.names = [KnownNames.of(facts) for facts in self.facts]
        self.home = [{pair.on[at].key: pair for pair in pairs if pair.on[at]} for at in range(len(sides))]  # type: ignore[union-attr]
        self.found = RowChanges()
        self.received = self._received()

    def run(self) -> RowChanges:
        """Return what all tables say, in the order of their names."""
        known = {name: table for facts in self.facts for name, table in facts.tables.items()}
        for name, table in sorted(known.items()):
            made = bool(table.made_of) and name != "esxi.release"
            if table.log or made or name in PASSING or name.startswith(("kb.", "esxtop.")) or table.given is not None:
                continue
            if any(facts.count(name) for facts in self.facts):
                self._table(table)
        self.found.subjects = _folded(self.found.subjects)
        return self.found

    def _received(self) -> list[float | None]:
        """Return on each side what the ports received that every side has dumped: a yardstick for a guest's counters.

        Guests print no count of what passed beside their retransmits when somebody greps for these.
        """
        table = next((facts.tables["esxi.vmxnet3_rx_summary"] for facts in self.facts), None)
        if table is None:
            return []
        every = [
            [(one, one.marks) for one in subjects(facts, names, table)]
            for facts, names in zip(self.facts, self.names, strict=True)
        ]
        ports = [match.on for match in matched(every) if match.everywhere]
        sums = [[numeric(on[at].value("pkts_rx_ok")) for on in ports] for at in range(len(self.facts))]  # type: ignore[union-attr]
        return [sum(one for one in some if one is not None) or None for some in sums]

    def _table(self, table: Table) -> None:
        if max(facts.count(table.name) for facts in self.facts) > MOST_ROWS:
            self._left_out(table, None, [], f"more than {MOST_ROWS:,} rows")
            return
        by_node = [self._by_node(table, at) for at in range(len(self.sides))]
        alone: list[list[ComparedSubject]] = [[] for _ in self.sides]
        for pair in self.pairs:
            some = [
                by_node[at].get(machine.key, []) if machine is not None else [] for at, machine in enumerate(pair.on)
            ]
            if any(some):
                for match in self._pair(table, pair, some):
                    side = next(at for at, one in enumerate(match.on) if one is not None)
                    alone[side].append(match.first)
        if any(alone):
            self._roaming(table, alone)

    def _by_node(self, table: Table, at: int) -> dict[str, list[ComparedSubject]]:
        found: defaultdict[str, list[ComparedSubject]] = defaultdict(list)
        for one in subjects(self.facts[at], self.names[at], table):
            found[one.node].append(one)
        return found

    def _pair(
        self, table: Table, pair: Match[ComparedMachine], some: Sequence[list[ComparedSubject]]
    ) -> Iterator[Match[ComparedSubject]]:
        """Compare one table of one machine; yield subjects of one side alone that may be on another machine."""
        roams = bool(_ROAMING & {*table.key})
        if self.mode == "hosts" and (roams or table.name in _OWN_TABLES):
            return
        here = [at for at, machine in enumerate(pair.on) if machine is not None]
        lacking = [at for at in here if not some[at] and not self._read(at, pair, table)]
        if lacking:
            self._left_out(table, pair, lacking, "")
        for match in matched([[(one, one.marks) for one in each] for each in some]):
            if sum(one is not None for one in match.on) > 1:
                self._subject(table, pair, match)
            elif roams:
                yield match
            elif len(here) > 1 and not lacking:
                self._appeared(table, pair, match)

    def _read(self, at: int, pair: Match[ComparedMachine], table: Table) -> bool:
        machine = pair.on[at]
        return machine is not None and self.facts[at].coverage(machine.key, table.name).state == "read"

    def _roaming(self, table: Table, alone: Sequence[list[ComparedSubject]]) -> None:
        """Look for what a machine lost on the other machines: a VM that moved took it along."""
        for match in matched([[(one, one.marks[:2]) for one in some] for some in alone]):
            at = next(number for number, one in enumerate(match.on) if one is not None)
            pair = self.home[at][match.first.node]
            if sum(one is not None for one in match.on) > 1:
                self._subject(table, pair, match)
                self._appeared(table, pair, match, moved=True)
            elif sum(one is not None for one in pair.on) > 1 and not self._lacking(table, pair):
                self._appeared(table, pair, match)

    def _lacking(self, table: Table, pair: Match[ComparedMachine]) -> bool:
        return any(
            machine is not None
            and not self.facts[at].count(table.name, machine.key)
            and not self._read(at, pair, table)
            for at, machine in enumerate(pair.on)
        )

    def _subject(self, table: Table, pair: Match[ComparedMachine], match: Match[ComparedSubject]) -> None:
        counting = {*table.counters}
        for column in table.columns:
            if column.name in VOLATILE:
                continue
            values = [one.value(column.name) if one is not None else None for one in match.on]
            if column.name in counting:
                self._counter(table, pair, match, column, values)
            elif len({repr(value) for value in values if value is not None}) > 1:
                self._change(table, pair, match, column, values)

    def _change(
        self,
        table: Table,
        pair: Match[ComparedMachine],
        match: Match[ComparedSubject],
        column: Column,
        values: list[Value],
    ) -> None:
        if self.mode == "hosts" and column.name in _OWN:
            return
        record = self._record(table, pair, match, column, values)
        numbers = [numeric(value) for value in values if value is not None]
        record["section"] = sections.section(table, column)
        record["difference"] = numbers[-1] - numbers[0] if numbers[0] is not None and numbers[-1] is not None else None
        record["note"] = self._note(table, match, column)
        self.found.changes.append(record)

    def _note(self, table: Table, match: Match[ComparedSubject], column: Column) -> str:
        if self.mode == "hosts":
            return ""
        if column.name in table.key:
            return "the same thing under another name" if match.rank == 0 else ""
        if column.name == "mac" and table.name in ("esxi.pnic", "esxi.ens_uplink"):
            return "another card in its place: its counters started anew"
        return ""

    def _counter(
        self,
        table: Table,
        pair: Match[ComparedMachine],
        match: Match[ComparedSubject],
        column: Column,
        values: list[Value],
    ) -> None:
        numbers = [numeric(value) for value in values]
        if sum(number is not None for number in numbers) < 2 or not any(numbers):
            return
        record = self._record(table, pair, match, column, values)
        known = [at for at, number in enumerate(numbers) if number is not None]
        record["bad"] = is_bad(table, column, match.last)
        record["since"] = table.counts_since
        record["steps"] = [
            self._step(table, match, column, (first, last), bad=record["bad"]) for first, last in pairwise(known)
        ]
        record["verdict"] = record["steps"][-1]["verdict"]
        self.found.counters.append(record)

    def _step(
        self, table: Table, match: Match[ComparedSubject], column: Column, which: tuple[int, int], *, bad: bool
    ) -> Record:
        first, last = which
        earlier, later = match.on[first], match.on[last]
        assert earlier is not None
        assert later is not None
        machines = [self._machine(at, match) for at in which]
        start = start_of(table, earlier, later, machines, SidePair((self.names[first], self.names[last]), self.mode))
        values = [numeric(one.value(column.name)) or 0.0 for one in (earlier, later)]
        passed = passed_column(table, column.name, earlier, later)
        beside = [numeric(one.value(passed)) if passed else None for one in (earlier, later)]
        told = table.column(passed)
        words = told.meaning if told is not None else ""
        if table.counts_since == "guest" and not passed and self.mode == "time":
            beside, words = [self.received[at] for at in which], "what the ports of the case received"
        lasted = [one.uptime if table.counts_since == "boot" else None for one in machines]
        span = CounterStep(
            (values[0], values[1]), (beside[0], beside[1]), (lasted[0], lasted[1]), self._apart(machines)
        )
        made = step(span, start if self.mode == "time" else _each_for_itself(start), bad=bad)
        return made | {"from": first, "to": last, "seconds": span.seconds, "of_words": words, "why_at": _places(start)}

    def _apart(self, machines: Sequence[ComparedMachine]) -> float | None:
        return interval(machines[0], machines[1]) if self.mode == "time" else None

    def _machine(self, at: int, match: Match[ComparedSubject]) -> ComparedMachine:
        one = match.on[at]
        assert one is not None
        found = self.home[at][one.node].on[at]
        assert found is not None
        return found

    def _record(
        self,
        table: Table,
        pair: Match[ComparedMachine],
        match: Match[ComparedSubject],
        column: Column,
        values: list[Value],
    ) -> Record:
        at = [
            _place(one.cells[column.name][1], column.name) if one is not None and column.name in one.cells else None
            for one in match.on
        ]
        return {
            "table": table.name,
            "column": column.name,
            "meaning": column.meaning,
            "unit": column.unit,
            "machine": pair.last.name,
            "subject": match.last.name,
            "was": match.first.name if match.first.name != match.last.name else "",
            "values": values,
            "at": at,
        }

    def _appeared(
        self, table: Table, pair: Match[ComparedMachine], match: Match[ComparedSubject], *, moved: bool = False
    ) -> None:
        name = match.last.name
        if not name or (self.mode == "hosts" and table.name in _OWN_TABLES):
            return
        on = [one is not None for one in match.on]
        homes = [self._machine(at, match).name for at, there in enumerate(on) if there]
        state = (
            "moved"
            if moved and len({*homes}) > 1
            else "gone"
            if not on[-1]
            else "new"
            if not on[0]
            else "gone for a time"
        )
        at = [_place(one.rows[-1], "") if one is not None else None for one in match.on]
        machine = " to ".join(dict.fromkeys(homes)) if state == "moved" else pair.last.name
        section = sections.section(table)
        self.found.subjects.append(
            {"section": section, "machine": machine, "subject": name, "state": state, "tables": [table.name], "at": at}
        )

    def _left_out(self, table: Table, pair: Match[ComparedMachine] | None, lacking: Sequence[int], why: str) -> None:
        self.found.uncompared.append(
            {
                "table": table.name,
                "machine": pair.last.name if pair is not None else "",
                "lacks": list(lacking),
                "why": why or self._missing(table, pair, lacking),
                "ask": table.ask,
            }
        )

    def _missing(self, table: Table, pair: Match[ComparedMachine] | None, lacking: Sequence[int]) -> str:
        states = []
        for at in lacking:
            machine = pair.on[at] if pair is not None else None
            cover = self.facts[at].coverage(machine.key, table.name) if machine is not None else None
            states.append(cover.why or cover.state if cover is not None and cover.state else "not in the case")
        return "; ".join(dict.fromkeys(states))


def _each_for_itself(start: CounterStart) -> CounterStart:
    """Of two hosts each counts from its own start: shares are compared, nothing is subtracted."""
    return CounterStart("started again", start.why, start.rows)


def _places(start: CounterStart) -> list[Record]:
    return [_place(row, "") for row in start.rows]


def _place(row: Row, column: str) -> Record:
    block = row.block_of(column) if column else row.block
    return {"address": block.address, "line": row.line_of(column) if column else row.line}


def _folded(records: list[Record]) -> list[Record]:
    """Return what came and went once for each thing: ten tables may speak of one device."""
    found: dict[tuple[str, str, str], Record] = {}
    for record in records:
        known = found.setdefault((record["machine"], record["subject"], record["state"]), record)
        if known is not record:
            known["tables"] += [name for name in record["tables"] if name not in known["tables"]]
    return [*found.values()]


def with_rows(sides: Sequence[CaseSide]) -> bool:
    """Tell whether rows can be compared: every side was read from its files."""
    return all(isinstance(side.facts, Facts) for side in sides)
