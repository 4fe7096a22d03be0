"""Pairs the machines of the sides: by serial number or UUID, by the addresses of their NICs, then by name.

A host that was renamed keeps its hardware. Boards say `To be filled by O.E.M.` where no one filled it in, and two
machines that say so are not one.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from analyzer.artefacts.tables import Row
from analyzer.compare.matching import Match, match_things
from analyzer.compare.sides import CaseSide, read_clock
from analyzer.facts import Facts

BY = ("serial number or UUID", "the addresses of its NICs", "name", "short name")
ONLY = "it is the only host of each side"
_UNFILLED = re.compile(
    r"(?i)(?:to be filled|default|not |none|n/?a$|unknown|system serial|0*$|123456|f{8,}|x{4,}|\W*$)"
)


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

    @property
    def boot_time(self) -> float | None:
        """When it was booted, in seconds since 1970."""
        at = to_seconds(self.captured)
        if at is None or self.uptime is None:
            return None
        return at - self.uptime


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
        )
        hardware: list[Hashable] = []
        addresses: list[Hashable] = []
        if side.facts is not None:
            hardware = [("serial", one.kind, text) for text in read_serials(side.facts, one.key)]
            addresses = []
            for text in read_addresses(side.facts, one.key):
                addresses.append(("mac", one.kind, text))
            one.uptime_row = next(find_rows(side.facts, "esxi.uptime", one.key), None)
            one.captured = one.captured or (one.uptime_row.block.taken if one.uptime_row else "")
        short = one.name.partition(".")[0].lower()
        one.captured = one.captured or read_clock(side, one.key)
        one.marks = [hardware, addresses, [(one.kind, one.name.lower())], [(one.kind, short)]]
        found.append(one)
    return found


def pair_machines(
    sides: Sequence[CaseSide], *, hosts: bool = False
) -> tuple[list[Match[ComparedMachine]], bool]:
    """Return the machines of all sides, paired, and whether the sides are different hosts.

    hosts  the sides are meant to be different hosts; without it they are when nothing of them is the same machine
    """
    every = [machines_of(number, side) for number, side in enumerate(sides)]
    pairs = match_things([[(one, one.marks) for one in some] for some in every])
    own = [[one for one in some if one.kind == "esxi"] for some in every]
    one_each = all(len(some) == 1 for some in own)
    joined = any(
        sum(one is not None for one in pair.on) > 1 for pair in pairs if pair.first.kind == "esxi"
    )
    if not one_each or (joined and not hosts):
        return pairs, False
    others = [pair for pair in pairs if pair.first.kind != "esxi"]
    return [Match([some[0] for some in own], len(BY)), *others], not joined


def paired_by(pair: Match[ComparedMachine]) -> str:
    """Return what tells that the machines of a pair are one, "" where one side alone has it."""
    if pair.rank < 0:
        return ""
    if pair.rank >= len(BY):
        return ONLY
    return BY[pair.rank]


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
        if text and not _UNFILLED.match(text):
            serials.append(text)
    return serials


def read_addresses(facts: Facts, key: str) -> list[str]:
    """Return the MAC addresses of a machine."""
    macs = [row.values.get("mac") for row in find_rows(facts, "esxi.pnic", key)]
    for row in find_rows(facts, "esxi.net_stats", key):
        if re.fullmatch(r"vmnic\d+", str(row.values.get("client_name"))):
            macs.append(row.values.get("mac"))
    macs += [row.values.get("mac") for row in find_rows(facts, "guest.nic_boot", key)]
    return [*dict.fromkeys(str(mac).lower() for mac in macs if mac)]
