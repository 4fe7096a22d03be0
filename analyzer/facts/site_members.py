"""The members of an NSX site, NSX for vSphere and NSX-T alike: their names, and the rows of the picture of the site.

An id, an address and the node of a bundle mean one member. Each row of a channel is what one member says, with the line
it says it on; two members may contradict one another, and both rows stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from analyzer.artefacts import logtime, parsing
from analyzer.artefacts.tables import Block, Row, Value
from analyzer.facts.records import Coverage
from analyzer.facts.store import Facts
from analyzer.scan.hits import Hit, Signature


@dataclass(frozen=True, slots=True)
class SiteProduct:
    """What differs between the sites of two products.

    tables       of members, channels and differences of clocks
    kinds        kind of a node -> kind of a member
    host_tables  tables of a host that make it a member
    own_tables   whose rows are the evidence of a member
    rests        kind of a member -> what rests on it
    """

    tables: tuple[str, str, str]
    kinds: Mapping[str, str]
    host_tables: tuple[str, ...]
    own_tables: tuple[str, ...]
    rests: Mapping[str, str]


@dataclass(slots=True)
class SiteMember:
    """One member: the names it goes by, and the row that named it first."""

    kind: str
    names: list[str] = field(default_factory=list)  # the best one first
    ip: str = ""
    object_id: str = ""
    node: str = ""  # key of its node, "" when the case has none
    skipped: str = ""
    row: Row | None = None

    @property
    def name(self) -> str:
        """What the member is called."""
        for name in (*self.names, self.object_id, self.ip):
            if name:
                return name
        return ""


@dataclass(frozen=True, slots=True)
class ClockSkew:
    """How far one clock is ahead of another, half the spread of what was measured, and from how many events."""

    ahead: float
    error: float
    events: int


class SiteMembers:
    """The members of a site, found by any of their names, and the rows that say something about them."""

    def __init__(self, facts: Facts, product: SiteProduct) -> None:
        self.facts = facts
        self.product = product
        self.members: list[SiteMember] = []
        self._by_name: dict[tuple[str, str], SiteMember] = {}
        for info in facts.nodes.values():
            kind = product.kinds.get(info.kind)
            if kind is None or (info.kind == "esxi" and not self.is_member_host(info.key)):
                continue
            member = self.name_member(kind, name=info.name)
            member.node = info.key
            self._by_name[kind, info.key] = member

    def is_member_host(self, key: str) -> bool:
        """Say whether a host has tables of this site."""
        return any(self.facts.count(table, key) for table in self.product.host_tables)

    def list_rows(self, table: str) -> list[Row]:
        """Return the rows of a table, none when the case has none."""
        return list_rows(self.facts, table)

    # -- names

    def name_member(
        self,
        kind: str,
        *,
        name: str = "",
        ip: str = "",
        object_id: str = "",
        row: Row | None = None,
    ) -> SiteMember:
        """Return the member that goes by any of these names, made when it is new; names that are given are its own."""
        if kind == "edge":
            short = shorten_unit(name)
        else:
            short = shorten_name(name)
        keys = [(kind, key) for key in (short, ip, object_id) if key]
        found = [self._by_name[key] for key in keys if key in self._by_name]
        if found:
            member, *others = found
            for other in others:
                self._merge(member, other)
        else:
            member = SiteMember(kind)
            self.members.append(member)
        if name and name not in member.names:
            member.names.append(name)
        member.ip = member.ip or ip
        member.object_id = member.object_id or object_id
        member.row = member.row or row
        for key in keys:
            self._by_name[key] = member
        return member

    def name_node(self, kind: str, row: Row, ip: str = "") -> SiteMember:
        """Return the member whose node a row was read on."""
        return self.name_member(kind, name=self.facts.name(row.block.node), ip=ip, row=row)

    def _merge(self, member: SiteMember, other: SiteMember) -> None:
        """Give a member the names of another one that turned out to be the same."""
        if other is member:
            return
        member.names += [name for name in other.names if name not in member.names]
        member.ip = member.ip or other.ip
        member.object_id = member.object_id or other.object_id
        member.node = member.node or other.node
        member.row = member.row or other.row
        self.members = [one for one in self.members if one is not other]
        for key, known in list(self._by_name.items()):
            if known is other:
                self._by_name[key] = member

    def find_by_node(self, key: str) -> SiteMember | None:
        """Return the member that a node is."""
        info = self.facts.nodes.get(key)
        if info is None:
            return None
        return self._by_name.get((self.product.kinds.get(info.kind, ""), key))

    def find_member(self, *names: str) -> SiteMember | None:
        """Return the member of any kind that goes by one of these names."""
        keys: set[str] = set()
        for name in names:
            if name:
                keys |= {shorten_name(name), shorten_unit(name)}
        return next((member for (_, key), member in self._by_name.items() if key in keys), None)

    def find_only(self, kind: str) -> SiteMember | None:
        """Return the only member of a kind, None when there are none or several."""
        found = [member for member in self.members if member.kind == kind]
        if len(found) == 1:
            return found[0]
        return None

    def add_alias(self, member: SiteMember, key: str) -> None:
        """Note another address of a member, of a tunnel end point; the first that has it keeps it."""
        self._by_name.setdefault((member.kind, key), member)

    def drop_members(self, dropped: Iterable[SiteMember]) -> None:
        """Forget members under all their names."""
        gone = {id(member) for member in dropped}
        self.members = [one for one in self.members if id(one) not in gone]
        self._by_name = {key: one for key, one in self._by_name.items() if id(one) not in gone}

    # -- rows

    def put_tables(
        self, channels: Callable[[], Iterable[Row]], skews: Callable[[], Iterable[Row]]
    ) -> set[str]:
        """Put the tables of the site into the facts; return the names of those that have rows.

        Channels come first: what they name makes members.
        """
        facts = self.facts
        of_channels = list(channels())
        rows = (list(self.list_members()), of_channels, list(skews()))
        for name, found in zip(self.product.tables, rows, strict=True):
            nodes = {row.block.node for row in found}
            facts.derive(parsing.tables()[name], found, {key: Coverage("read") for key in nodes})
        return {name for name, found in zip(self.product.tables, rows, strict=True) if found}

    def list_members(self) -> Iterator[Row]:
        """Yield a row for each member, by kind and name, at a line of its own; else at the first that names any."""
        table = parsing.tables()[self.product.tables[0]]
        fallback = next((member.row for member in self.members if member.row is not None), None)
        for member in sorted(self.members, key=lambda one: (one.kind, one.name)):
            row = self.find_evidence(member) or fallback
            if row is None:
                continue
            collected, complete = self.describe_collected(member)
            values: dict[str, Value] = {
                "member": member.name,
                "member_kind": member.kind,
                "ip": member.ip or None,
                "collected": collected,
                "complete": complete,
                "object_id": member.object_id or None,
                "rests_on_it": self.product.rests.get(member.kind),
            }
            yield Row(table, values, row.block, row.line)

    def find_evidence(self, member: SiteMember) -> Row | None:
        """Return the row that shows a member."""
        raise NotImplementedError

    def describe_collected(self, member: SiteMember) -> tuple[str, bool | None]:
        """Return in words what of a member the case holds, and whether that is whole."""
        raise NotImplementedError

    def find_own_row(self, member: SiteMember) -> Row | None:
        """Return a row of a member's own files."""
        if not member.node:
            return None
        for table in self.product.own_tables:
            for row in self.list_rows(table):
                if row.block.node == member.node:
                    return row
        return None

    def state_channel(
        self,
        origin: Row,
        ends: tuple[str, str],
        what: tuple[str, str],
        words: str,
        up: bool | None,
        by: str,
    ) -> Row:
        """Return what a member says of a channel; `what`: name of the channel, column of the origin that says it."""
        channel, column = what
        at = origin.block.taken or self.facts.nodes[origin.block.node].captured
        values: dict[str, Value] = {
            "from_member": ends[0],
            "to_member": ends[1],
            "channel": channel,
            "up": up,
            "said": words,
            "said_by": by,
            "told_at": logtime.read_time(at, any_zone=True) if at else None,
        }
        table = parsing.tables()[self.product.tables[1]]
        return Row(table, values, origin.block, origin.line_of(column))

    def state_skew(self, origin: Row, ends: tuple[str, str], skew: ClockSkew, means: str) -> Row:
        """Return how far the clock of one member is ahead of another's."""
        values: dict[str, Value] = {
            "member": ends[0],
            "other": ends[1],
            "ahead_s": round(skew.ahead, 3),
            "error_s": round(skew.error, 3),
            "shared_events": skew.events,
            "means": means,
        }
        table = parsing.tables()[self.product.tables[2]]
        return Row(table, values, origin.block, origin.line)

    # -- lines of logs

    def find_hits(self, sign: Signature) -> Iterator[tuple[str, Hit]]:
        """Yield the lines that a signature found, each with the node whose log has it."""
        for scan in self.facts.scans:
            if scan.table != sign.table:
                continue
            for hit in scan.hits:
                if hit.signature == sign.id:
                    yield scan.node, hit

    def find_last_hits(
        self, sign: Signature, key: Callable[[str, Hit], tuple[str, ...]]
    ) -> Iterator[tuple[Row, Hit]]:
        """Yield the last line of each key, by key, as a row without cells, and its hit."""
        last: dict[tuple[str, ...], tuple[str, str, Hit]] = {}
        for node, hit in self.find_hits(sign):
            which = key(node, hit)
            time = logtime.format_iso(hit.text)
            if time and (which not in last or time >= last[which][0]):
                last[which] = time, node, hit
        for _, (time, node, hit) in sorted(last.items(), key=lambda item: item[0]):
            yield self.make_origin(node, hit, time), hit

    def make_origin(self, node: str, hit: Hit, taken: str = "") -> Row:
        """Return the line of a hit as the origin of a row."""
        block = Block([hit.text], hit.line, hit.address, taken=taken)
        block.node = node
        return Row(parsing.tables()[self.product.tables[1]], {}, block, hit.line)


def has_rows_of(facts: Facts, tables: Iterable[str]) -> bool:
    """Say whether rows of the tables of a site were given by hand, or brought by a stored case; such rows stay."""
    for name in tables:
        if name in facts.tables and facts.count(name):
            return True
    return False


def list_rows(facts: Facts, table: str) -> list[Row]:
    """Return the rows of a table, none when the case has none."""
    if table in facts.tables and facts.count(table):
        return list(facts.store(table).rows)
    return []


def read_text(row: Row, column: str) -> str:
    """Return a cell as text, "" where it is empty."""
    value = row.values.get(column)
    if value is None:
        return ""
    return str(value)


def shorten_name(name: str) -> str:
    """Return a name as it is compared: without its domain, lower case; an address stays whole."""
    if name.replace(".", "").isdigit():
        return name
    return name.partition(".")[0].lower()


def shorten_unit(name: str) -> str:
    """Return the name of an Edge as it is compared: the number of its unit follows the domain (edge.example-0)."""
    domain = name.partition(".")[2]
    number = ""
    if domain.endswith(("-0", "-1")):
        number = domain[-2:]
    return shorten_name(name) + number
