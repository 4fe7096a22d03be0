"""Names the machines of a case: each place (bundle, prompt, loose file) becomes a node.

While members stream by, a fact only knows its place (the tree of a bundle, the host of a
prompt, a loose file). Here the places of one machine become one node: a bundle's tree and
a pasted transcript of the same host belong together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, groupby

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Frame, Row, Table, name_blocks
from analyzer.ingest.intake import FactScope, Intake
from analyzer.ingest.statements import Statements
from analyzer.runtime.text import one_line
from analyzer.sources.kinds import KindFinder

HOSTED = "hosted"  # a VM of a desktop product: named, and judged by no rule
OTHER = "other"  # a prompt named it, and nothing that was typed there tells what it is: a switch, a router
LABELS = {
    "esxi": "ESXi host",
    "guest": "guest",
    "nsx_manager": "NSX Manager",
    "nsx_controller": "NSX controller",
    "nsx_edge": "NSX Edge",
    "nsxt_manager": "NSX-T manager",
    "nsxt_edge": "NSX-T edge",
    "nsx_t": "NSX-T node",
    "vcenter": "vCenter",
    HOSTED: "Workstation, Player or Fusion",
    OTHER: "machine of unknown kind",
}


_UNCOLLECTED = "esxi.collector_failure"
_ALONE = "\x1f"  # marks a node that got its name from a file
_MANY = (
    "nsx_controller",
    "nsxt_manager",
    "nsxt_edge",
    "nsx_t",
    "guest",
)  # a case has several; one must not be taken for another


@dataclass(slots=True)
class Node:
    """One machine of the case."""

    id: str
    kind: str
    name: str
    places: list[FactScope] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    captured: str = ""
    bundle: bool = (
        False  # some of it comes from a support bundle, not from loose files and transcripts alone
    )


def short(name: str) -> str:
    """Return the part of a host name before the first dot, lower case; an address stays whole."""
    if name.replace(".", "").isdigit():
        return name
    return name.partition(".")[0].lower()


def resolve(intake: Intake, kinds: KindFinder) -> dict[str, Node]:
    """Return place key -> node for every place of the intake; nodes are named and unique."""
    named: dict[tuple[str, str], Node] = {}
    nodes: dict[str, Node] = {}
    hostnames, votes = _hostnames(intake), _votes(intake)
    hostnames |= _named_inside(intake, kinds, hostnames)
    unnamed: list[tuple[str, FactScope, str]] = []
    of_kind = {key: _kind(place, kinds, votes.get(key, "")) for key, place in intake.places.items()}
    last = (_ANY_ROLE, OTHER)
    for key, place in sorted(
        intake.places.items(), key=lambda item: (of_kind[item[0]] in last, item[0])
    ):
        kind = of_kind[key]
        name = hostnames.get(key) or (place.name if place.scope == "host" else "")
        if place.scope == "root":
            name = name or kinds.find_kind(place.name).host
        if name and place.scope != "stray":
            nodes[key] = _join(named, place, kind, name)
        else:
            unnamed.append((key, place, kind))
    _learn_roles(nodes, named, unnamed)
    said = Statements(intake)
    loose: dict[str, list[FactScope]] = defaultdict(list)
    for key, place, kind in sorted(unnamed, key=lambda item: (item[1].scope != "root", item[0])):
        home = nodes.get(FactScope("root", place.name).key) if place.scope == "stray" else None
        if home is not None and (home.kind == kind or (kind == _ANY_ROLE and home.kind in _ROLES)):
            nodes[key] = home
        elif hostnames.get(key):
            nodes[key] = _join(named, place, kind, hostnames[key])
        elif place.scope == "root":
            nodes[key] = _nameless_tree(named, place, kind, said)
        else:
            loose[kind].append(place)
    part = _parts(intake)
    for kind, places in loose.items():
        nodes.update(_nameless_files(named, kind, places, said, part))
    _tell_uncollected(intake)
    for key, what in intake.talk.flooded(intake.spans):
        intake.remark(intake.places[key], what)
    for key, place in intake.places.items():
        _tell(nodes[key], place, intake, kinds)
    _unique_ids(list(named.values()))
    return nodes


def name_records(intake: Intake, nodes: dict[str, Node]) -> None:
    """Name the node of everything read, from the scope it was read in; before this nobody can read a node."""
    name_blocks(chain[Row | Frame](intake.rows, intake.frames), lambda scope: nodes[scope].id)
    for scan in intake.scans:
        scan.named(nodes[scan.scope].id)


def apart(intake: Intake) -> dict[str, Node]:
    """Return place key -> node with every place a machine of its own: when it cannot be told which belong together."""
    nodes = {
        key: Node(place.name or key, place.kind or "esxi", place.name)
        for key, place in intake.places.items()
    }
    _unique_ids(list(nodes.values()))
    return nodes


def _tell_uncollected(intake: Intake) -> None:
    """Remark on each place what vm-support itself failed to collect there; an output that was empty is no failure."""
    failed: dict[str, list[Row]] = defaultdict(list)
    for row in intake.rows:
        if (
            row.table.name == _UNCOLLECTED
            and not row.values["ignored"]
            and row.values["failure"] != "empty"
        ):
            failed[row.block.scope].append(row)
    for key, rows in failed.items():
        commands = [
            str(row.values["collector_command"]) for row in rows if row.values["collector_command"]
        ]
        named = ", ".join(one_line(command, 60) for command in [*dict.fromkeys(commands)][:3])
        more = len(set(commands)) - 3
        of = f" ({named}{f' and {more:,} more' if more > 0 else ''})" if named else ""
        what = "1 error" if len(rows) == 1 else f"{len(rows):,} errors"
        where = f"{rows[0].block.address.rpartition('/')[2]}:{rows[0].line}"
        intake.remark(
            intake.places[key],
            f"vm-support wrote {what} while it collected{of}, the first at {where}",
        )


def _tell(node: Node, place: FactScope, intake: Intake, kinds: KindFinder) -> None:
    """Give a node the time of its capture, and what is to be said of one of its places."""
    if place.scope == "root":
        kind_of = kinds.find_kind(place.name)
        node.captured = max(node.captured, kind_of.captured)
        node.bundle |= kind_of.kind not in ("", "loose")
    node.warnings += intake.remarks.get(place.key, [])
    if node.kind == HOSTED:
        node.warnings.append(
            "a VM of Workstation, Player or Fusion does not run on an ESXi host: no rule covers it"
        )


def _kind(place: FactScope, kinds: KindFinder, voted: str) -> str:
    if place.scope != "root":
        return place.kind or voted or (OTHER if place.scope == "host" else "esxi")
    kind = kinds.find_kind(place.name).kind
    return voted or "esxi" if kind in ("", "loose") else kind


def _votes(intake: Intake) -> dict[str, str]:
    """The kind of node most rows of a place speak of, for trees without markers; one with a role before one without."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for _, same in groupby(intake.rows, key=lambda row: (id(row.table), id(row.block))):
        read = list(same)
        if read[0].table.name not in _OF_ANYBODY:
            counts[read[0].block.scope][_kind_of(read[0].table)] += len(read)
    voted: dict[str, str] = {}
    for key, found in counts.items():
        kinds = sorted(kind for kind in found if kind)
        if kinds:
            voted[key] = max(kinds, key=lambda kind, found=found: (kind != _ANY_ROLE, found[kind]))  # type: ignore[misc]
    return voted


def _kind_of(table: Table) -> str:
    """Return the kind of node that a table speaks of: of an NSX-T table that of its only parser."""
    return _nsxt_kinds().get(table.name) or _KIND_OF.get(table.product, "")


@cache
def _nsxt_kinds() -> dict[str, str]:
    return {
        table.name: one.node
        for one in registry().values()
        for table in one.tables
        if one.node.startswith("nsxt_")
    }


# Tables of a host that a guest, an edge or a switch fills as well
_OF_ANYBODY = frozenset(("esxi.ping",))
_ANY_ROLE, _ROLES = "nsx_t", ("nsxt_manager", "nsxt_edge")
_KIND_OF = {
    "esxi": "esxi",
    "esxtop": "esxi",
    "guest": "guest",
    "nsx": "nsx_manager",
    "nsxt": _ANY_ROLE,
}
_NAME_TABLES = {
    "esxi.host": "hostname",
    "nsx.manager": "hostname",
    "nsxt.node": "hostname",
    "esxtop.capture": "host",
}


def _hostnames(intake: Intake) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in intake.rows:
        column = _NAME_TABLES.get(row.table.name)
        name = row.values.get(column) if column else None
        if isinstance(name, str) and name:
            key = row.block.scope
            if len(name) > len(found.get(key, "")):  # the full name beats the short one
                found[key] = name
    return _own_addresses(intake) | _managers_by_address(intake) | found


def _named_inside(intake: Intake, kinds: KindFinder, hostnames: dict[str, str]) -> dict[str, str]:
    """Return place key -> name of a bundle's tree that names no machine, where the texts in it name one of its kind.

    A transcript in the archive of a controller is that controller. A name that two trees have tells neither.
    """
    named: dict[str, set[str]] = defaultdict(set)
    nameless: dict[str, str] = {}  # tree -> its kind, "" for one that has a name or is no bundle
    for taken in intake.taken:
        if not taken.in_tree:
            continue
        if taken.root not in nameless:
            tree = kinds.find_kind(taken.root)
            known = (
                FactScope("root", taken.root).key in hostnames or tree.host or tree.kind == "loose"
            )
            nameless[taken.root] = "" if known else tree.kind
        if not nameless[taken.root]:
            continue
        for scope in {row.block.scope for row in intake.rows[taken.rows]}:
            place = intake.places[scope]
            if place.kind == nameless[taken.root] or (
                place.kind == _ANY_ROLE and nameless[taken.root] in _ROLES
            ):
                named[taken.root] |= {place.name} if place.scope == "host" else set()
    found = {
        FactScope("root", root).key: min(names) for root, names in named.items() if len(names) == 1
    }
    return {key: name for key, name in found.items() if [*found.values()].count(name) == 1}


def _managers_by_address(intake: Intake) -> dict[str, str]:
    """Return place key -> name of a manager of NSX-T that a call of its API names by its address."""
    named: dict[str, set[str]] = defaultdict(set)
    for row in intake.rows:
        if row.table.name == "nsxt.cluster_member" and row.values["ip"] and row.values["fqdn"]:
            named[str(row.values["ip"])].add(str(row.values["fqdn"]))
    called = (
        (key, named.get(place.name, ()))
        for key, place in intake.places.items()
        if place.scope == "host"
    )
    return {key: min(names) for key, names in called if len(names) == 1}


def _own_addresses(intake: Intake) -> dict[str, str]:
    """Return place key -> the one address that an NSX Controller shows as its own, where it tells of its cluster.

    The prompt of a controller names no machine. Interfaces alone need no name: they are a list of addresses themselves.
    """
    shown: dict[str, set[str]] = defaultdict(set)
    told = {row.block.scope for row in intake.rows if row.table.name == "nsx.controller_health"}
    for row in intake.rows:
        if (
            row.table.name == "nsx.controller_interface"
            and row.values["address"]
            and row.block.scope in told
        ):
            shown[row.block.scope].add(str(row.values["address"]).partition("/")[0])
    places = intake.places
    return {
        key: min(own) for key, own in shown.items() if len(own) == 1 and places[key].scope != "host"
    }


def _learn_roles(
    nodes: dict[str, Node],
    named: dict[tuple[str, str], Node],
    unnamed: list[tuple[str, FactScope, str]],
) -> None:
    """Give a node of NSX-T whose tree shows no role the one role that the texts in its tree speak of."""
    roles: dict[str, set[str]] = defaultdict(set)
    for _, place, kind in unnamed:
        if place.scope == "stray" and kind in _ROLES:
            roles[FactScope("root", place.name).key].add(kind)
    for key, spoken in roles.items():
        node = nodes.get(key)
        if node is None or node.kind != _ANY_ROLE or len(spoken) != 1:
            continue
        role = min(spoken)
        if (role, short(node.name)) not in named:
            named[role, short(node.name)] = named.pop((node.kind, short(node.name)))
            node.kind = role


def _join(named: dict[tuple[str, str], Node], place: FactScope, kind: str, name: str) -> Node:
    if kind == _ANY_ROLE:  # a machine of that name whose role is known comes first
        kind = next((role for role in _ROLES if (role, short(name)) in named), kind)
    elif kind == OTHER:
        known = [one for one, called in named if called == short(name)]
        kind = known[0] if len(known) == 1 else kind
    key = (kind, short(name))
    node = named.get(key)
    if node is None:
        node = named[key] = Node(id=name, kind=kind, name=name)
    elif len(name) > len(node.name):
        node.id = node.name = name
    node.places.append(place)
    return node


def _alone(named: dict[tuple[str, str], Node], place: FactScope, kind: str) -> Node:
    """Return a node of its own for a tree or a file without a name; its files are its name."""
    file = _file(place)
    node = named.setdefault((kind, _ALONE + place.name), Node(_ALONE + file, kind, file))
    node.places.append(place)
    return node


def _file(place: FactScope) -> str:
    return re.split(r"[!/]", place.name.rstrip("/!"))[-1]


def _of_kind(named: dict[tuple[str, str], Node], kind: str) -> list[Node]:
    return sorted(
        {id(node): node for node in named.values() if node.kind == kind}.values(),
        key=lambda node: node.id,
    )


def _nameless_tree(
    named: dict[tuple[str, str], Node], place: FactScope, kind: str, said: Statements
) -> Node:
    """A bundle without a name is the only machine of its kind that has one, if nothing it states speaks against it.

    Else it is a machine of its own.
    """
    same = [node for node in _of_kind(named, kind) if not node.id.startswith(_ALONE)]
    if len(same) != 1 or kind in _MANY:
        return _alone(named, place, kind)
    if against := said.against(place, same[0].places):
        node = _alone(named, place, kind)
        why = f"it {against}, unlike {same[0].name}"
        node.warnings.append(f"{_file(place)} names no host, so it is kept separate: {why}")
        return node
    same[0].places.append(place)
    same[0].warnings.append(_taken(_file(place), same[0]))
    return same[0]


def _parts(intake: Intake) -> dict[str, str]:
    """Return place key -> words for the part of a file that shows no host, where its prompts name one elsewhere."""
    places: dict[str, set[str]] = defaultdict(set)
    first: dict[str, int] = {}
    for _, same in groupby(intake.rows, key=lambda row: id(row.block)):
        top = min(same, key=lambda row: row.line)
        places[top.block.address].add(top.block.scope)
        first[top.block.scope] = min(top.line, first.get(top.block.scope, top.line))
    for frame in intake.frames:
        places[frame.block.address].add(frame.block.scope)
    for cover in intake.covers:
        places[cover.address].add(cover.place.key)
    found: dict[str, str] = {}
    for keys in places.values():
        known = [intake.places[key] for key in sorted(keys) if key in intake.places]
        if any(place.scope == "host" for place in known):
            for place in known:
                at = f" (from line {first[place.key]:,})" if place.key in first else ""
                found[place.key] = f"a part of {_file(place)}{at}"
    return found


def _taken(what: str, node: Node) -> str:
    label = LABELS.get(node.kind, node.kind)
    return f"{what} names no host; treated as part of {node.name}, the only {label} of the case"


def _nameless_files(
    named: dict[tuple[str, str], Node],
    kind: str,
    places: list[FactScope],
    said: Statements,
    part: dict[str, str],
) -> dict[str, Node]:
    """Return the nodes of loose files, or of parts of them, that name no host.

    They belong to the only machine of their kind, if nothing they state speaks against it; among several machines,
    or against what is known of the only one, a file stands alone. Without any machine they are one, unless they
    contradict one another.
    """
    found: dict[str, Node] = {}
    there = _of_kind(named, kind)
    label = LABELS.get(kind, kind)
    groups = said.groups(places) if not there and kind not in _MANY else []
    if len(groups) == 1:
        node = named.setdefault(
            (kind, _ALONE), Node(_ALONE + f"{label} (loose files)", kind, f"{label} (loose files)")
        )
        node.places += places
        return dict.fromkeys((place.key for place in places), node)
    for group, why in groups:
        node = _alone(named, group[0], kind)
        node.places += group[1:]
        node.warnings.append(
            f"{_listed([_file(place) for place in group])} names no host, so it is kept separate: {why}"
        )
        found.update(dict.fromkeys((place.key for place in group), node))
    for place in places if not groups else ():
        against = said.against(place, there[0].places, _named(there[0])) if len(there) == 1 else ""
        if len(there) == 1 and not against and kind not in _MANY:
            found[place.key] = there[0]
            there[0].places.append(place)
            there[0].warnings.append(_taken(part.get(place.key, _file(place)), there[0]))
            continue
        found[place.key] = _alone(named, place, kind)
        if kind not in _MANY:
            names = _listed([node.name for node in there])
            why = (
                f"it {against}, unlike {names}"
                if against
                else f"the case has {len(there)} of its kind ({names})"
            )
            what = part.get(place.key, _file(place))
            found[place.key].warnings.append(f"{what} names no host, so it is kept separate: {why}")
    return found


def _named(node: Node) -> str:
    return "" if node.id.startswith(_ALONE) else node.name


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _unique_ids(nodes: list[Node]) -> None:
    taken: set[str] = set()
    for node in sorted(nodes, key=lambda item: (item.kind, item.name)):
        base = node.id = node.id.removeprefix(_ALONE)
        number = 2
        while node.id in taken:
            node.id = f"{base} ({LABELS.get(node.kind, node.kind)} {number})"
            number += 1
        taken.add(node.id)
