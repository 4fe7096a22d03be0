"""Compares the rows of all tables: what changed, what came and went, what counters did, what cannot be compared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from analyzer.artefacts.tables import Column, Table, Value
from analyzer.case.comparison import (
    Appearance,
    ComparedChange,
    ComparedCounter,
    CounterChange,
    Mode,
    Place,
    Uncompared,
)
from analyzer.compare import sections
from analyzer.compare.counters import CounterStep, as_number, find_whole, is_bad, judge_step
from analyzer.compare.machines import ComparedMachine
from analyzer.compare.matching import Match, match_things
from analyzer.compare.resets import SidePair, measure_interval, start_of
from analyzer.compare.row_records import (
    NAMES,
    RowChanges,
    count_separately,
    drop_repeats,
    find_place,
    fold_appearances,
    has_fallen,
    list_places,
)
from analyzer.compare.sides import CaseSide
from analyzer.compare.sight import could_see
from analyzer.compare.subjects import (
    PASSING,
    VOLATILE,
    ComparedSubject,
    KnownNames,
    can_agree,
    find_replaced,
    list_subjects,
)
from analyzer.facts import Facts

MOST_ROWS = (
    50_000  # of one table on one side; beyond, its rows are not compared, and the page says so
)
# What tells one card from another that is in its place.
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
        self.received = self.sum_received()
        self.restarted = self.find_restarted()

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
                self.compare_table(table)
        self.found.subjects = fold_appearances(self.found.subjects)
        self.found.changes = drop_repeats(self.found.changes)
        return self.found

    def find_restarted(self) -> set[tuple[str, int, int]]:
        """Return the guests of which a counter fell, by key on the later side and both sides: all of it restarted."""
        found = set()
        tables = {
            one.name: one
            for facts in self.facts
            for one in facts.tables.values()
            if one.counts_since == "guest"
        }
        for table in tables.values():
            for _, some in self.list_pairs(table):
                for match in match_things(
                    [[(one, one.marks) for one in each] for each in some], can_agree
                ):
                    known = [(at, one) for at, one in enumerate(match.on) if one is not None]
                    for (first, old), (last, new) in pairwise(known):
                        if has_fallen(table, old, new):
                            found.add((new.node, first, last))
        return found

    def sum_received(self) -> list[float | None]:
        """Return on each side what the ports received that every side has dumped: a yardstick for a guest's counters.

        Guests print no count of what passed next to their retransmits when somebody greps for these.
        """
        table = next((facts.tables["esxi.vmxnet3_rx_summary"] for facts in self.facts), None)
        if table is None:
            return []
        every = []
        for facts, names in zip(self.facts, self.names, strict=True):
            every.append([(one, one.marks) for one in list_subjects(facts, names, table)])
        ports = [match.on for match in match_things(every) if match.everywhere]
        sums: list[float | None] = []
        for at in range(len(self.facts)):
            sides = [on[at] for on in ports]
            counts = [as_number(side.value("pkts_rx_ok")) for side in sides if side is not None]
            sums.append(sum(count for count in counts if count is not None) or None)
        return sums

    def compare_table(self, table: Table) -> None:
        """Compare one table on all machines."""
        if max(facts.count(table.name) for facts in self.facts) > MOST_ROWS:
            self.add_uncompared(table, None, [], f"more than {MOST_ROWS:,} rows")
            return
        alone: list[list[ComparedSubject]] = [[] for _ in self.sides]
        for pair, some in self.list_pairs(table):
            if any(some):
                for match in self.compare_machines(table, pair, some):
                    side = next(at for at, one in enumerate(match.on) if one is not None)
                    alone[side].append(match.first)
        if any(alone):
            self.compare_roaming(table, alone)

    def list_pairs(
        self, table: Table
    ) -> Iterator[tuple[Match[ComparedMachine], list[list[ComparedSubject]]]]:
        """Yield each pair of machines with the subjects of a table on each side."""
        by_node = [self.group_by_node(table, at) for at in range(len(self.sides))]
        for pair in self.pairs:
            some: list[list[ComparedSubject]] = []
            for at, machine in enumerate(pair.on):
                if machine is None:
                    some.append([])
                else:
                    some.append(by_node[at].get(machine.key, []))
            yield pair, some

    def group_by_node(self, table: Table, at: int) -> dict[str, list[ComparedSubject]]:
        """Return the subjects of a table on one side by machine."""
        found: defaultdict[str, list[ComparedSubject]] = defaultdict(list)
        for one in list_subjects(self.facts[at], self.names[at], table):
            found[one.node].append(one)
        return found

    def compare_machines(
        self, table: Table, pair: Match[ComparedMachine], some: Sequence[list[ComparedSubject]]
    ) -> Iterator[Match[ComparedSubject]]:
        """Compare one table of one machine; yield subjects of one side alone that may be on another machine."""
        roams = bool(_ROAMING & {*table.key})
        if self.mode == "hosts" and (roams or table.name in _OWN_TABLES):
            return
        here = [at for at, machine in enumerate(pair.on) if machine is not None]
        lacking = []
        for at in here:
            if not some[at] and not self.was_read(at, pair, table):
                lacking.append(at)
        if (
            roams
        ):  # a VM takes its rows along: what one machine lacks may stand on another one of its side
            lacking = [at for at in lacking if not self.facts[at].count(table.name)]
        if lacking:
            self.add_uncompared(table, pair, lacking, "")
        matches = match_things([[(one, one.marks) for one in each] for each in some], can_agree)
        if not roams and len(here) > 1:
            matches = self.take_replaced(table, matches)
        for match in matches:
            if sum(one is not None for one in match.on) > 1:
                self.compare_subjects(table, match)
            elif roams:
                yield match
            elif len(here) > 1 and not lacking:
                self.add_appearance(table, pair, match)

    def was_read(self, at: int, pair: Match[ComparedMachine], table: Table) -> bool:
        """Say whether a side read this table of a machine, rows or none."""
        machine = pair.on[at]
        if machine is None:
            return False
        return self.facts[at].coverage(machine.key, table.name).state == "read"

    def compare_roaming(self, table: Table, alone: Sequence[list[ComparedSubject]]) -> None:
        """Look for what a machine lost on the other machines: a VM that moved took it along."""
        left = match_things([[(one, one.marks[:2]) for one in some] for some in alone], can_agree)
        for match in self.take_replaced(table, left):
            at = next(number for number, one in enumerate(match.on) if one is not None)
            pair = self.home[at][
                match.first.node
            ]  # its machine is one of the pairs, where it was taken from
            if sum(one is not None for one in match.on) > 1:
                self.compare_subjects(table, match)
                if (
                    len({*table.key} - {"switch"}) == 1
                ):  # the thing itself, not one of its queues or adapters
                    self.add_appearance(table, pair, match, state="moved")
            elif sum(one is not None for one in pair.on) > 1 and not self.lacks_table(table, pair):
                self.add_appearance(table, pair, match)

    def take_replaced(
        self, table: Table, matches: Sequence[Match[ComparedSubject]]
    ) -> list[Match[ComparedSubject]]:
        """Note what was replaced by another of its name on its machine, and return the other matches."""
        alone: list[list[ComparedSubject]] = [[] for _ in self.sides]
        for match in matches:
            known = [at for at, one in enumerate(match.on) if one is not None]
            if len(known) == 1:
                alone[known[0]].append(match.first)
        gone: set[int] = set()
        for on in find_replaced(alone):
            pair = Match(on)
            homes = {id(self.home[at][one.node]) for at, one in enumerate(on) if one is not None}
            if len(homes) > 1 or self.mode == "hosts":
                continue  # a VM of that name on another host is no replacement
            gone |= {id(one) for one in on if one is not None}
            at = next(number for number, one in enumerate(on) if one is not None)
            self.add_appearance(table, self.home[at][pair.first.node], pair, state="replaced")
            for side, one in enumerate(on):
                if one is not None and one is not pair.first and len(table.key) == 1:
                    self.found.replaced.add((side, name_whole(one)))
        return [
            match
            for match in matches
            if not (sum(one is not None for one in match.on) == 1 and id(match.first) in gone)
        ]

    def lacks_table(self, table: Table, pair: Match[ComparedMachine]) -> bool:
        """Say whether a side did not read this table of a machine."""
        for at, machine in enumerate(pair.on):
            if (
                machine is not None
                and not self.facts[at].count(table.name)
                and not self.was_read(at, pair, table)
            ):
                return True
        return False

    def compare_subjects(self, table: Table, match: Match[ComparedSubject]) -> None:
        """Compare all columns of one subject."""
        counting = {*table.counters}
        if "port_id" in table.key:
            numbers = {}
            for at, one in enumerate(match.on):
                if one is not None:
                    numbers[at] = str(one.rows[-1].values.get("port_id"))
            self.found.ports |= {
                (at, number): numbers[min(numbers)] for at, number in numbers.items()
            }
        for column in table.columns:
            if column.name in VOLATILE:
                continue
            values = [one.value(column.name) if one is not None else None for one in match.on]
            if column.name in counting:
                self.add_counter(table, match, column, values)
            elif len({repr(value) for value in values if value is not None}) > 1:
                self.add_change(table, match, column, values)

    def add_change(
        self, table: Table, match: Match[ComparedSubject], column: Column, values: list[Value]
    ) -> None:
        """Note a column that is not the same on all sides."""
        if self.mode == "hosts" and column.name in _OWN:
            return
        if table.name == "esxi.net_stats" and (column.name == "client_name" or self.is_nic(match)):
            return  # the table of NICs and `client_vm` say the same
        if column.name in NAMES:
            old = next(str(value) for value in values if value is not None)
            self.found.renames |= {
                (at, str(value)): old for at, value in enumerate(values) if value is not None
            }
        common = self.describe_value(table, match, column, values)
        numbers = [as_number(value) for value in common["values"] if value is not None]
        first = numbers[0]
        last = numbers[-1]
        self.found.changes.append(
            ComparedChange(
                **common,
                section=sections.find_section(table, column),
                difference=last - first if first is not None and last is not None else None,
                note=self.note_change(table, match, column),
            )
        )

    def is_nic(self, match: Match[ComparedSubject]) -> bool:
        """Say whether a subject is a port of a NIC."""
        return str(match.last.value("client_name")).startswith("vmnic")

    def note_change(self, table: Table, match: Match[ComparedSubject], column: Column) -> str:
        """Return what to say next to a change: another name of the same thing, another card."""
        if self.mode == "hosts":
            return ""
        if column.name in table.key:
            if match.rank == 0:
                return "the same thing under another name"
            return ""
        if (table.name, column.name) in _CARDS:
            return "another card in its place: its counters were reset"
        return ""

    def add_counter(
        self, table: Table, match: Match[ComparedSubject], column: Column, values: list[Value]
    ) -> None:
        """Note a counter that two sides know, with what it did."""
        numbers = [as_number(value) for value in values]
        if sum(number is not None for number in numbers) < 2 or not any(numbers):
            return
        known = [at for at, number in enumerate(numbers) if number is not None]
        bad = is_bad(table, column, match.last)
        steps = []
        for pair in pairwise(known):
            steps.append(self.judge_counter(table, match, column, pair, bad=bad))
        self.found.counters.append(
            ComparedCounter(
                **self.describe_value(table, match, column, values),
                bad=bad,
                since=table.counts_since,
                steps=steps,
                verdict=steps[-1].verdict,
            )
        )

    def judge_counter(
        self,
        table: Table,
        match: Match[ComparedSubject],
        column: Column,
        which: tuple[int, int],
        *,
        bad: bool,
    ) -> CounterChange:
        """Return what a counter did from one side to the next."""
        first, last = which
        earlier = match.on[first]
        later = match.on[last]
        assert earlier is not None
        assert later is not None
        machines = [self.find_machine(at, match) for at in which]
        pair = SidePair(
            (self.names[first], self.names[last]), self.has_moved(match, which), self.mode
        )
        start = start_of(table, earlier, later, machines, pair)
        values = [as_number(one.value(column.name)) or 0.0 for one in (earlier, later)]
        passed = find_whole(table, column.name, earlier, later)
        beside = []
        for one in (earlier, later):
            if passed:
                beside.append(as_number(one.value(passed)))
            else:
                beside.append(None)
        counted = table.column(passed)
        words = ""
        if counted is not None:
            words = counted.meaning
        if table.counts_since == "guest" and not passed and self.mode == "time":
            beside = [self.received[at] for at in which]
            words = "what the ports of the case received"
        lasted = [one.uptime if table.counts_since == "boot" else None for one in machines]
        span = CounterStep(
            (values[0], values[1]),
            (beside[0], beside[1]),
            (lasted[0], lasted[1]),
            self.measure_distance(machines),
        )
        span.hosts = self.mode == "hosts"
        span.fell = (
            has_fallen(table, earlier, later) or (machines[1].key, first, last) in self.restarted
        )
        made = judge_step(span, start if self.mode == "time" else count_separately(start), bad=bad)
        made.from_side = first
        made.to_side = last
        made.seconds = span.seconds
        made.of_words = words
        made.why_at = list_places(start)
        return made

    def has_moved(self, match: Match[ComparedSubject], which: tuple[int, int]) -> bool:
        """Say whether a subject is on another machine later."""
        homes = [self.home[at][one.node] for at in which if (one := match.on[at]) is not None]
        return any(home is not homes[0] for home in homes)

    def measure_distance(self, machines: Sequence[ComparedMachine]) -> float | None:
        """Return the seconds between two captures of a machine."""
        if self.mode == "time":
            return measure_interval(machines[0], machines[1])
        return None

    def find_machine(self, at: int, match: Match[ComparedSubject]) -> ComparedMachine:
        """Return the machine of a subject on one side."""
        one = match.on[at]
        assert one is not None
        found = self.home[at][one.node].on[at]
        assert found is not None
        return found

    def describe_value(
        self, table: Table, match: Match[ComparedSubject], column: Column, values: list[Value]
    ) -> dict[str, Any]:
        """Return the fields that changes and counters have in common."""
        at: list[Place | None] = []
        for one in match.on:
            if one is not None and column.name in one.cells:
                at.append(find_place(one.cells[column.name][1], column.name))
            else:
                at.append(None)
        return {
            "table": table.name,
            "column": column.name,
            "meaning": column.meaning,
            "unit": column.unit,
            "machine": self.find_machine(
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

    def add_appearance(
        self,
        table: Table,
        pair: Match[ComparedMachine],
        match: Match[ComparedSubject],
        *,
        state: str = "",
    ) -> None:
        """Note that a subject came or went, or what else became of it: moved, replaced."""
        name = match.last.name
        if not state and self.is_unsure(table, pair, match):
            return
        if not name or (self.mode == "hosts" and table.name in _OWN_TABLES):
            return
        on = [one is not None for one in match.on]
        homes = [self.find_machine(at, match).name for at, there in enumerate(on) if there]
        if state == "moved" and len({*homes}) < 2:
            state = ""
        if state:
            pass
        elif not on[-1]:
            state = "gone"
        elif not on[0]:
            state = "new"
        else:
            state = "gone for a time"
        at: list[Place | None] = []
        for one in match.on:
            if one is not None:
                at.append(find_place(one.rows[-1], ""))
            else:
                at.append(None)
        if state == "moved":
            machine = " to ".join(dict.fromkeys(homes))
        else:
            machine = pair.last.name
        section = sections.find_section(table)
        self.found.subjects.append(
            Appearance(
                section=section,
                machine=machine,
                subject=name,
                state=state,
                tables=[table.name],
                at=at,
            )
        )

    def is_unsure(
        self, table: Table, pair: Match[ComparedMachine], match: Match[ComparedSubject]
    ) -> bool:
        """Say whether something may be on the other sides as well: they could not see it, or it goes by a number."""
        lacking = [at for at, one in enumerate(match.on) if one is None]
        if match.last.asked:
            self.add_uncompared(table, pair, lacking, f"{match.last.name} was not dumped there")
            return True
        if match.last.user_known is False:
            why = f"{match.last.name} is not known by anything but its number"
            self.add_uncompared(table, pair, lacking, why)
            return True
        address = match.first.rows[-1].block.address
        for at in (0, len(match.on) - 1):
            if match.on[at] is not None or pair.on[at] is None:
                continue
            why = could_see(self.sides[at], pair.on[at], table.name, address)
            if why:
                self.add_uncompared(
                    table, pair, [at], f"{match.last.name} is not judged there, because {why}"
                )
                return True
        return False

    def add_uncompared(
        self, table: Table, pair: Match[ComparedMachine] | None, lacking: Sequence[int], why: str
    ) -> None:
        """Note a table that some sides lack."""
        self.found.uncompared.append(
            Uncompared(
                table=table.name,
                machine=pair.last.name if pair is not None else "",
                lacks=list(lacking),
                why=why or self.explain_missing(table, pair, lacking),
                ask=table.ask,
            )
        )

    def explain_missing(
        self, table: Table, pair: Match[ComparedMachine] | None, lacking: Sequence[int]
    ) -> str:
        """Return why sides lack a table."""
        states = []
        for at in lacking:
            machine = None
            if pair is not None:
                machine = pair.on[at]
            cover = None
            if machine is not None:
                cover = self.facts[at].coverage(machine.key, table.name)
            if cover is not None and cover.state:
                states.append(cover.why or cover.state)
            else:
                states.append("not in the case")
        return "; ".join(dict.fromkeys(states))


def name_whole(one: ComparedSubject) -> str:
    """Return the name of the VM or thing that a subject is: that of a row, without the number of its port."""
    row = one.rows[-1].values
    return str(row.get("vm_name") or row.get("client_vm") or one.name.partition(" (port")[0])


def with_rows(sides: Sequence[CaseSide]) -> bool:
    """Say whether rows can be compared: every side was read from its files."""
    return all(isinstance(side.facts, Facts) for side in sides)
