"""Pairs the machines of the sides: by serial number or UUID, by the addresses of their NICs, then by name.

A host that was renamed keeps its hardware. Boards say `To be filled by O.E.M.` where no one filled it in, and two
machines that say so are not one (`placeholders`). Other hardware under an old name is another machine: where sure marks
of both are known and none is the same, a name pairs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from analyzer.artefacts.tables import Row
from analyzer.compare.matching import Match, match_things
from analyzer.compare.placeholders import fold_uuid, is_placeholder, is_uuid
from analyzer.compare.sides import CaseSide, read_clock
from analyzer.compare.witnesses import BootMarks, read_marks
from analyzer.facts import Facts

BY = ("serial number or UUID", "the addresses of its NICs", "name", "short name")
ONLY = "assumed: it is the only host of each side"
APART = "taken as two hosts: the only host of each side"
SURE = 2  # ranks of marks that prove it: hardware, addresses


@dataclass(slots=True)
class ComparedMachine:
    """One machine of one side.

    captured  ISO 8601 UTC, "" when unknown; uptime: seconds since boot, and the row that says so
    """

    side: int
    key: str
    name: str
    kind: str
    captured: str
    uptime: float | None = None
    uptime_row: Row | None = None
    marks: list[list[Hashable]] = field(default_factory=list)
    boot_marks: BootMarks = field(default_factory=BootMarks)

    @property
    def is_named(self) -> bool:
        """Whether its name tells it from others: it is no default, and no label of ours."""
        return not is_placeholder("name", self.name.partition(".")[0]) and not is_placeholder(
            "name", self.name
        )


def to_seconds(time: str) -> float | None:
    """Return an ISO 8601 time as seconds since 1970, None when it is none."""
    try:
        if time:
            return datetime.fromisoformat(time).timestamp()
        return None
    except (ValueError, OverflowError):
        return None


def machines_of(number: int, side: CaseSide) -> list[ComparedMachine]:
    """Return the machines of one side."""
    found = []
    for node in side.document.nodes:
        one = ComparedMachine(
            number,
            node.id,
            node.name or node.id,
            node.kind,
            node.captured,
            node.uptime_s,
            boot_marks=read_marks(side, node),
        )
        hardware: list[Hashable] = []
        addresses: list[Hashable] = []
        if side.facts is not None:
            hardware = [("serial", one.kind, text) for text in read_serials(side.facts, one.key)]
            addresses = []
            for text in read_addresses(side.facts, one.key):
                addresses.append(("mac", one.kind, text))
            stated = [*find_rows(side.facts, "esxi.uptime", one.key)]
            same = [row for row in stated if row.values.get("uptime_s") == one.uptime]
            one.uptime_row = next(iter(same or stated), None)
            one.captured = one.captured or (one.uptime_row.block.taken if one.uptime_row else "")
        short = one.name.partition(".")[0].lower()
        one.captured = one.captured or read_clock(side, one.key)
        names: list[list[Hashable]] = [[], []]
        if one.is_named:
            names = [[(one.kind, one.name.lower())], [(one.kind, short)]]
        one.marks = [hardware, addresses, *names]
        found.append(one)
    return found


def are_contrary(one: ComparedMachine, other: ComparedMachine) -> bool:
    """Say whether sure marks forbid that two machines are one: some are known of both, and none is the same."""
    known = False
    for own, theirs in zip(one.marks[:SURE], other.marks[:SURE], strict=True):
        if own and theirs:
            known = True
            if not {*own}.isdisjoint(theirs):
                return False
    return known


def can_be_one(one: ComparedMachine, other: ComparedMachine, rank: int) -> bool:
    """Say whether two machines with a mark of a rank in common may be one: a name does not outweigh hardware."""
    return rank < SURE or not are_contrary(one, other)


def pair_machines(
    sides: Sequence[CaseSide], *, hosts: bool = False
) -> tuple[list[Match[ComparedMachine]], bool]:
    """Return the machines of all sides, paired, and whether the sides are different hosts.

    hosts  the sides are meant to be different hosts; without it they are when nothing of them is the same machine
    """
    every = [machines_of(number, side) for number, side in enumerate(sides)]
    pairs = match_things([[(one, one.marks) for one in some] for some in every], can_be_one)
    own = [[one for one in some if one.kind == "esxi"] for some in every]
    one_each = all(len(some) == 1 for some in own)
    joined = any(
        sum(one is not None for one in pair.on) > 1 for pair in pairs if pair.first.kind == "esxi"
    )
    if not one_each or (joined and not hosts):
        return pairs, False
    others = [pair for pair in pairs if pair.first.kind != "esxi"]
    alone = [some[0] for some in own]
    if not hosts and may_be_same(alone):
        return [Match([*alone], len(BY)), *others], False
    return [Match([*alone], len(BY) + 1), *others], not joined


def may_be_same(machines: Sequence[ComparedMachine]) -> bool:
    """Say whether the only hosts of all sides may be one: one of two has no name, and nothing speaks against it."""
    for one, other in pairwise(machines):
        if (one.is_named and other.is_named) or are_contrary(one, other):
            return False
    return True


def paired_by(pair: Match[ComparedMachine]) -> str:
    """Return what tells that the machines of a pair are one, "" where one side alone has it."""
    if pair.rank < 0:
        return ""
    return (*BY, ONLY, APART)[pair.rank]


def list_replaced(pairs: Sequence[Match[ComparedMachine]]) -> list[str]:
    """Return a sentence for each name that other hardware has on a later side."""
    alone = [pair for pair in pairs if not (0 <= pair.rank < len(BY))]
    machines = [one for pair in alone for one in pair.on if one is not None and one.is_named]
    said = []
    for one in machines:
        for other in machines:
            if (
                one.side < other.side
                and (one.kind, one.name.lower()) == (other.kind, other.name.lower())
                and are_contrary(one, other)
            ):
                said.append(
                    f"{other.name} was replaced: its name is the same, its serial number or addresses are "
                    "those of other hardware. The two are not compared as one machine."
                )
    return list(dict.fromkeys(said))


def find_rows(facts: Facts, table: str, key: str) -> Iterator[Row]:
    """Return the rows of a table on a machine."""
    if facts.count(table, key):
        yield from (row for row in facts.store(table).rows if row.block.node == key)


def read_serials(facts: Facts, key: str) -> list[str]:
    """Return the serial numbers and UUIDs that tell a machine from others."""
    texts = [
        str(row.values.get("serial_number") or "") for row in find_rows(facts, "esxi.platform", key)
    ]
    for row in find_rows(facts, "esxi.smbios_value", key):
        if "System Info" in str(row.values["smbios_part"]) and row.values["smbios_label"] in (
            "Serial",
            "UUID",
        ):
            texts.append(str(row.values["smbios_text"] or ""))
    serials = []
    for text in dict.fromkeys(text.strip() for text in texts):
        kind = "uuid" if is_uuid(text) else "serial"
        if text and not is_placeholder(kind, text):
            serials.append(fold_uuid(text) if kind == "uuid" else text)
    return serials


def read_addresses(facts: Facts, key: str) -> list[str]:
    """Return the MAC addresses of a machine."""
    macs = [row.values.get("mac") for row in find_rows(facts, "esxi.pnic", key)]
    for row in find_rows(facts, "esxi.net_stats", key):
        if re.fullmatch(r"vmnic\d+", str(row.values.get("client_name"))):
            macs.append(row.values.get("mac"))
    macs += [row.values.get("mac") for row in find_rows(facts, "guest.nic_boot", key)]
    known = dict.fromkeys(str(mac).lower() for mac in macs if mac)
    return [mac for mac in known if not is_placeholder("mac", mac)]
