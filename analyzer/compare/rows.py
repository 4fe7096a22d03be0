"""Compares the rows of all tables: what changed, what came and went, what counters did, what cannot be compared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

from analyzer.artefacts.tables import Column, Table, Value
from analyzer.compare import sections
from analyzer.compare.counters import CounterStep, is_bad, numeric, passed_column, step
from analyzer.compare.machines import ComparedMachine
from analyzer.compare.matching import Match, matched
from analyzer.compare.resets import SidePair, interval, start_of
from analyzer.compare.row_records import (
    NAMES,
    RowChanges,
    each_for_itself,
    folded,
    once,
    place_of,
    places,
    row_fell,
)
from analyzer.compare.sides import CaseSide
from analyzer.compare.subjects import (
    PASSING,
    VOLATILE,
    ComparedSubject,
    KnownNames,
    agree,
    subjects,
)
from analyzer.facts import Facts

Record = dict[str, Any]
Mode = Literal["time", "hosts"]
MOST_ROWS = (
    50_000  # of one table on one side; beyond, its rows are not compared, and the page says so
)
# What tells one card from another that stands in its place.
_CARDS = frozenset((
    ("esxi.pnic", "mac"), ("esxi.ens_uplink", "mac"), ("esxi.pci_device", "device_id"), ("esxi.pci_owner", "device_id"),
))  # fmt: skip
_ROAMING = frozenset(
    ("port_id", "vmx_path", "vm_world_id", "vm_folder")
)  # what a VM takes along to another host
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
_NUMBERED = re.compile(
    r"(?:^|_)(?:build|id|number|vlan|port|stepping|family|model|lun)(?:_|$)"
)  # names, no amounts
_OWN_TABLES = frozenset(
    ("esxi.certificate", "esxi.info_value", "esxi.smbios_value", "esxi.rdm_disk", "esxi.vm_file")
)


class RowComparison:
    """Compares all tables of sides whose machines are paired."""

    def __init__(
        self, sides: Sequence[CaseSide], pairs: Sequence[Match[ComparedMachine]], mode: Mode
    ) -> None:
        self.sides, self.pairs, self.mode = sides, pairs, mode
        self.facts = [side.facts for side in sides if side.facts is not None]
        self.names = [KnownNames.of(facts) for facts in self.facts]
        self.home: list[dict[str, Match[ComparedMachine]]] = [{} for _ in sides]
        for pair in pairs:
            for machine, by_key in zip(pair.on, self.home, strict=True):
                if machine is not None:
                    by_key[machine.key] = pair
        self.found = RowChanges()
        self.received = self._received()
        self.restarted = self._restarted()

    def run(self) -> RowChanges:
        """Return what all tables say, in the order of their names."""
        known = {name: table for facts in self.facts for name, table in facts.tables.items()}
        for name, table in sorted(known.items()):
            made = bool(table.made_of) and name != "esxi.release"
            signature = table.lines_of is not None
            if (
                table.log
                or signature
                or made
                or name in PASSING
                or name.startswith(("kb.", "esxtop."))
                or table.given is not None
            ):
                continue
            if any(facts.count(name) for facts in self.facts):
                self._table(table)
        self.found.subjects = folded(self.found.subjects)
        self.found.changes = once(self.found.changes)
        return self.found

    def _restarted(self) -> set[tuple[str, int, int]]:
        """Return the guests of which a counter fell, by key on the later side and both sides: all of it restarted."""
        found = set()
        tables = {
            one.name: one
            for facts in self.facts
            for one in facts.tables.values()
            if one.counts_since == "guest"
        }
        for table in tables.values():
            every = [self._by_node(table, at) for at in range(len(self.sides))]
            for pair in self.pairs:
                some = [
                    every[at].get(one.key, []) if one is not None else []
                    for at, one in enumerate(pair.on)
                ]
                for match in matched([[(one, one.marks) for one in each] for each in some], agree):
                    known = [(at, one) for at, one in enumerate(match.on) if one is not None]
                    for (first, old), (last, new) in pairwise(known):
                        if row_fell(table, old, new):
                            found.add((new.node, first, last))
        return found

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
        sums: list[float | None] = []
        for at in range(len(self.facts)):
            sides = [on[at] for on in ports]
            counts = [numeric(side.value("pkts_rx_ok")) for side in sides if side is not None]
            sums.append(sum(count for count in counts if count is not None) or None)
        return sums

    def _table(self, table: Table) -> None:
        if max(facts.count(table.name) for facts in self.facts) > MOST_ROWS:
            self._left_out(table, None, [], f"more than {MOST_ROWS:,} rows")
            return
        by_node = [self._by_node(table, at) for at in range(len(self.sides))]
        alone: list[list[ComparedSubject]] = [[] for _ in self.sides]
        for pair in self.pairs:
            some = [
                by_node[at].get(machine.key, []) if machine is not None else []
                for at, machine in enumerate(pair.on)
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
        if (
            roams
        ):  # a VM takes its rows along: what one machine lacks may stand on another one of its side
            lacking = [at for at in lacking if not self.facts[at].count(table.name)]
        if lacking:
            self._left_out(table, pair, lacking, "")
        for match in matched([[(one, one.marks) for one in each] for each in some], agree):
            if sum(one is not None for one in match.on) > 1:
                self._subject(table, match)
            elif roams:
                yield match
            elif len(here) > 1 and not lacking:
                self._appeared(table, pair, match)

    def _read(self, at: int, pair: Match[ComparedMachine], table: Table) -> bool:
        machine = pair.on[at]
        return (
            machine is not None and self.facts[at].coverage(machine.key, table.name).state == "read"
        )

    def _roaming(self, table: Table, alone: Sequence[list[ComparedSubject]]) -> None:
        """Look for what a machine lost on the other machines: a VM that moved took it along."""
        for match in matched([[(one, one.marks[:2]) for one in some] for some in alone]):
            at = next(number for number, one in enumerate(match.on) if one is not None)
            pair = self.home[at][
                match.first.node
            ]  # its machine is one of the pairs, where it was taken from
            if sum(one is not None for one in match.on) > 1:
                self._subject(table, match)
                if (
                    len({*table.key} - {"switch"}) == 1
                ):  # the thing itself, not one of its queues or adapters
                    self._appeared(table, pair, match, moved=True)
            elif sum(one is not None for one in pair.on) > 1 and not self._lacking(table, pair):
                self._appeared(table, pair, match)

    def _lacking(self, table: Table, pair: Match[ComparedMachine]) -> bool:
        return any(
            machine is not None
            and not self.facts[at].count(table.name)
            and not self._read(at, pair, table)
            for at, machine in enumerate(pair.on)
        )

    def _subject(self, table: Table, match: Match[ComparedSubject]) -> None:
        counting = {*table.counters}
        if "port_id" in table.key:
            numbers = {
                at: str(one.rows[-1].values.get("port_id"))
                for at, one in enumerate(match.on)
                if one is not None
            }
            self.found.ports |= {
                (at, number): numbers[min(numbers)] for at, number in numbers.items()
            }
        for column in table.columns:
            if column.name in VOLATILE:
                continue
            values = [one.value(column.name) if one is not None else None for one in match.on]
            if column.name in counting:
                self._counter(table, match, column, values)
            elif len({repr(value) for value in values if value is not None}) > 1:
                self._change(table, match, column, values)

    def _change(
        self, table: Table, match: Match[ComparedSubject], column: Column, values: list[Value]
    ) -> None:
        if self.mode == "hosts" and column.name in _OWN:
            return
        if table.name == "esxi.net_stats" and (column.name == "client_name" or self._nic(match)):
            return  # the table of NICs and `client_vm` say the same
        if column.name in NAMES:
            old = next(str(value) for value in values if value is not None)
            self.found.renames |= {
                (at, str(value)): old for at, value in enumerate(values) if value is not None
            }
        record = self._record(table, match, column, values)
        numbers = [numeric(value) for value in record["values"] if value is not None]
        record["section"] = sections.section(table, column)
        record["difference"] = (
            numbers[-1] - numbers[0] if numbers[0] is not None and numbers[-1] is not None else None
        )
        record["note"] = self._note(table, match, column)
        self.found.changes.append(record)

    def _nic(self, match: Match[ComparedSubject]) -> bool:
        return str(match.last.value("client_name")).startswith("vmnic")

    def _note(self, table: Table, match: Match[ComparedSubject], column: Column) -> str:
        if self.mode == "hosts":
            return ""
        if column.name in table.key:
            return "the same thing under another name" if match.rank == 0 else ""
        if (table.name, column.name) in _CARDS:
            return "another card in its place: its counters were reset"
        return ""

    def _counter(
        self, table: Table, match: Match[ComparedSubject], column: Column, values: list[Value]
    ) -> None:
        numbers = [numeric(value) for value in values]
        if sum(number is not None for number in numbers) < 2 or not any(numbers):
            return
        record = self._record(table, match, column, values)
        known = [at for at, number in enumerate(numbers) if number is not None]
        record["bad"] = is_bad(table, column, match.last)
        record["since"] = table.counts_since
        record["steps"] = [
            self._step(table, match, column, (first, last), bad=record["bad"])
            for first, last in pairwise(known)
        ]
        record["verdict"] = record["steps"][-1]["verdict"]
        self.found.counters.append(record)

    def _step(
        self,
        table: Table,
        match: Match[ComparedSubject],
        column: Column,
        which: tuple[int, int],
        *,
        bad: bool,
    ) -> Record:
        first, last = which
        earlier, later = match.on[first], match.on[last]
        assert earlier is not None
        assert later is not None
        machines = [self._machine(at, match) for at in which]
        pair = SidePair((self.names[first], self.names[last]), self._moved(match, which), self.mode)
        start = start_of(table, earlier, later, machines, pair)
        values = [numeric(one.value(column.name)) or 0.0 for one in (earlier, later)]
        passed = passed_column(table, column.name, earlier, later)
        beside = [numeric(one.value(passed)) if passed else None for one in (earlier, later)]
        told = table.column(passed)
        words = told.meaning if told is not None else ""
        if table.counts_since == "guest" and not passed and self.mode == "time":
            beside, words = (
                [self.received[at] for at in which],
                "what the ports of the case received",
            )
        lasted = [one.uptime if table.counts_since == "boot" else None for one in machines]
        span = CounterStep(
            (values[0], values[1]),
            (beside[0], beside[1]),
            (lasted[0], lasted[1]),
            self._apart(machines),
        )
        span.hosts = self.mode == "hosts"
        span.fell = (
            row_fell(table, earlier, later) or (machines[1].key, first, last) in self.restarted
        )
        made = step(span, start if self.mode == "time" else each_for_itself(start), bad=bad)
        return made | {
            "from": first,
            "to": last,
            "seconds": span.seconds,
            "of_words": words,
            "why_at": places(start),
        }

    def _moved(self, match: Match[ComparedSubject], which: tuple[int, int]) -> bool:
        homes = [self.home[at][one.node] for at in which if (one := match.on[at]) is not None]
        return any(home is not homes[0] for home in homes)

    def _apart(self, machines: Sequence[ComparedMachine]) -> float | None:
        return interval(machines[0], machines[1]) if self.mode == "time" else None

    def _machine(self, at: int, match: Match[ComparedSubject]) -> ComparedMachine:
        one = match.on[at]
        assert one is not None
        found = self.home[at][one.node].on[at]
        assert found is not None
        return found

    def _record(
        self, table: Table, match: Match[ComparedSubject], column: Column, values: list[Value]
    ) -> Record:
        at = [
            place_of(one.cells[column.name][1], column.name)
            if one is not None and column.name in one.cells
            else None
            for one in match.on
        ]
        return {
            "table": table.name,
            "column": column.name,
            "meaning": column.meaning,
            "unit": column.unit,
            "machine": self._machine(
                max(at for at, one in enumerate(match.on) if one is not None), match
            ).name,
            "subject": match.last.name,
            "was": match.first.name if match.first.name != match.last.name else "",
            "values": [
                str(value) if value is not None and _NUMBERED.search(column.name) else value
                for value in values
            ],
            "at": at,
        }

    def _appeared(
        self,
        table: Table,
        pair: Match[ComparedMachine],
        match: Match[ComparedSubject],
        *,
        moved: bool = False,
    ) -> None:
        name = match.last.name
        if not moved and self._unsure(table, pair, match):
            return
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
        at = [place_of(one.rows[-1], "") if one is not None else None for one in match.on]
        machine = " to ".join(dict.fromkeys(homes)) if state == "moved" else pair.last.name
        section = sections.section(table)
        self.found.subjects.append(
            {
                "section": section,
                "machine": machine,
                "subject": name,
                "state": state,
                "tables": [table.name],
                "at": at,
            }
        )

    def _unsure(
        self, table: Table, pair: Match[ComparedMachine], match: Match[ComparedSubject]
    ) -> bool:
        """Tell whether something may be on the other sides as well: it was not asked for there, or goes by a number."""
        if not match.last.asked and match.last.user_known is not False:
            return False
        lacking = [at for at, one in enumerate(match.on) if one is None]
        what = (
            "was not dumped there"
            if match.last.asked
            else "is not known by anything but its number"
        )
        self._left_out(table, pair, lacking, f"{match.last.name} {what}")
        return True

    def _left_out(
        self, table: Table, pair: Match[ComparedMachine] | None, lacking: Sequence[int], why: str
    ) -> None:
        self.found.uncompared.append(
            {
                "table": table.name,
                "machine": pair.last.name if pair is not None else "",
                "lacks": list(lacking),
                "why": why or self._missing(table, pair, lacking),
                "ask": table.ask,
            }
        )

    def _missing(
        self, table: Table, pair: Match[ComparedMachine] | None, lacking: Sequence[int]
    ) -> str:
        states = []
        for at in lacking:
            machine = pair.on[at] if pair is not None else None
            cover = (
                self.facts[at].coverage(machine.key, table.name) if machine is not None else None
            )
            states.append(
                cover.why or cover.state if cover is not None and cover.state else "not in the case"
            )
        return "; ".join(dict.fromkeys(states))


def with_rows(sides: Sequence[CaseSide]) -> bool:
    """Tell whether rows can be compared: every side was read from its files."""
    return all(isinstance(side.facts, Facts) for side in sides)
