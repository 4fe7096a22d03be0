"""Names the machines of a case: each place (bundle, prompt, loose file) becomes a node.

While members stream by, a fact only knows its place (the tree of a bundle, the host of a
prompt, a loose file). Here the places of one machine become one node: a bundle's tree and
a pasted transcript of the same host belong together.

Files without a host name state versions and times. Two files of one machine may state two versions after an upgrade,
but hardly without a third that states both; and its logs do not end years before others begin. A VM's log shows other
hosts and older times by its nature.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, groupby

from analyzer.artefacts.logtime import FAR, read_given_time
from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Frame, Row, name_blocks
from analyzer.ingest.intake import FactScope, Intake
from analyzer.runtime.text import one_line
from analyzer.sources.kinds import KindFinder

HOSTED = "hosted"  # a VM of a desktop product: named, and judged by no rule
OTHER = "other"  # a prompt named it, and nothing that was typed there shows what it is: a switch, a router
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

GAP = timedelta(days=366)  # between the end of one log and the begin of the next of one machine
_VERSIONS = ("esxi.version", "nsx.manager")
_NOT_OF_A_HOST = "esxi.vm_log"
_UNCOLLECTED = "esxi.collector_failure"
_ALONE = "\x1f"  # marks a node that got its name from a file
# a case has several of these; one must not be taken for another
_MANY = ("nsx_controller", "nsxt_manager", "nsxt_edge", "nsx_t", "guest")
# tables of a host that a guest, an edge or a switch fills as well
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

Span = tuple[datetime, datetime]


@dataclass(slots=True)
class Node:
    """One machine of the case.

    bundle    some of it comes from a support bundle, not from loose files and transcripts alone
    captures  place key -> time of the capture of each of its trees, "" where nothing tells
    """

    id: str
    kind: str
    name: str
    places: list[FactScope] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    captured: str = ""
    bundle: bool = False
    captures: dict[str, str] = field(default_factory=dict)

    @property
    def given_name(self) -> str:
        """The name of the machine, "" for one that got its name from a file."""
        return "" if self.id.startswith(_ALONE) else self.name


Nodes = dict[str, Node]  # by the place that names it


def shorten_name(name: str) -> str:
    """Return the part of a host name before the first dot, lower case; an address stays whole."""
    if name.replace(".", "").isdigit():
        return name
    return name.partition(".")[0].lower()


def resolve_nodes(intake: Intake, kinds: KindFinder) -> Nodes:
    """Return place key -> node for every place of the intake; nodes are named and unique."""
    return NodeResolver(intake, kinds).resolve_places()


def name_records(intake: Intake, nodes: Nodes) -> None:
    """Name the node of everything read, from the scope it was read in; before this no one can read a node."""
    name_blocks(chain[Row | Frame](intake.rows, intake.frames), lambda scope: nodes[scope].id)
    for scan in intake.scans:
        scan.assign_node(nodes[scan.scope].id)


def separate_places(intake: Intake) -> Nodes:
    """Return place key -> node with every place a machine of its own: when it is unknown which belong together."""
    nodes = {}
    for key, place in intake.places.items():
        nodes[key] = Node(place.name or key, place.kind or "esxi", place.name)
    _make_ids_unique(list(nodes.values()))
    return nodes


class NodeResolver:
    """Puts the places of an intake together into machines.

    hostnames  place key -> name, by the texts of the place
    named      kind and short name -> node; of a machine without a name its file is the name
    nodes      place key -> node
    """

    def __init__(self, intake: Intake, kinds: KindFinder) -> None:
        self.intake, self.kinds = intake, kinds
        self.statements = Statements(intake)
        self.hostnames = find_hostnames(intake)
        self.hostnames |= self._find_names_inside()
        self.named: dict[tuple[str, str], Node] = {}
        self.nodes: Nodes = {}

    def resolve_places(self) -> Nodes:
        """Return the node of every place."""
        votes = _vote_kinds(self.intake)
        kind_of: dict[str, str] = {}
        for key, place in self.intake.places.items():
            voted = votes.get(key, "")
            if place.scope == "root":  # what its markers show, else what its rows speak of
                kind = self.kinds.find_kind(place.name).kind
                kind_of[key] = (voted or "esxi") if kind in ("", "loose") else kind
            else:
                kind_of[key] = place.kind or voted or (OTHER if place.scope == "host" else "esxi")

        # Machines with a name first, those whose kind is not sure last
        unnamed: list[tuple[str, FactScope, str]] = []
        unsure = (_ANY_ROLE, OTHER)
        for key in sorted(self.intake.places, key=lambda key: (kind_of[key] in unsure, key)):
            place = self.intake.places[key]
            name = self.hostnames.get(key) or (place.name if place.scope == "host" else "")
            if place.scope == "root":
                name = name or self.kinds.find_kind(place.name).host
            if name and place.scope != "stray":
                self.nodes[key] = self._join_named(place, kind_of[key], name)
            else:
                unnamed.append((key, place, kind_of[key]))
        self._place_unnamed(unnamed)
        self._add_warnings()
        _make_ids_unique(list(self.named.values()))
        return self.nodes

    def _place_unnamed(self, unnamed: list[tuple[str, FactScope, str]]) -> None:
        """Find the nodes of the places without a name: (key, place, kind), once all with a name are known."""
        # A node of NSX-T whose tree shows no role gets the one that the texts in its tree speak of
        roles: dict[str, set[str]] = defaultdict(set)
        for _, place, kind in unnamed:
            if place.scope == "stray" and kind in _ROLES:
                roles[FactScope("root", place.name).key].add(kind)
        for key, spoken in roles.items():
            node = self.nodes.get(key)
            if node is None or node.kind != _ANY_ROLE or len(spoken) != 1:
                continue
            role, name = min(spoken), shorten_name(node.name)
            if (role, name) not in self.named:
                self.named[role, name] = self.named.pop((node.kind, name))
                node.kind = role

        loose: dict[str, list[FactScope]] = defaultdict(list)
        for key, place, kind in sorted(
            unnamed, key=lambda item: (item[1].scope != "root", item[0])
        ):
            home = None
            if place.scope == "stray":
                home = self.nodes.get(FactScope("root", place.name).key)
            if home is not None and _may_be_of(kind, home.kind):
                self.nodes[key] = home
            elif self.hostnames.get(key):
                self.nodes[key] = self._join_named(place, kind, self.hostnames[key])
            elif place.scope == "root":
                self.nodes[key] = self._join_nameless_tree(place, kind)
            else:
                loose[kind].append(place)
        parts = _describe_parts(self.intake)
        for kind, places in loose.items():
            self._join_loose_files(kind, places, parts)

    def _find_names_inside(self) -> dict[str, str]:
        """Return place key -> name of a bundle's tree that names no machine, where the texts in it name one of its kind.

        A transcript in the archive of a controller is that controller. A name that two trees have proves nothing.
        """
        named: dict[str, set[str]] = defaultdict(set)
        nameless: dict[
            str, str
        ] = {}  # tree -> its kind, "" for one that has a name or is no bundle
        for taken in self.intake.taken:
            root = taken.root
            if not taken.in_tree:
                continue
            if root not in nameless:
                tree = self.kinds.find_kind(root)
                is_known = FactScope("root", root).key in self.hostnames
                is_known = is_known or bool(tree.host) or tree.kind == "loose"
                nameless[root] = "" if is_known else tree.kind
            if not nameless[root]:
                continue
            for scope in {row.block.scope for row in self.intake.rows[taken.rows]}:
                place = self.intake.places[scope]
                if place.scope == "host" and _may_be_of(place.kind, nameless[root]):
                    named[root].add(place.name)
        found = {root: min(names) for root, names in named.items() if len(names) == 1}
        times = Counter(found.values())
        return {
            FactScope("root", root).key: name for root, name in found.items() if times[name] == 1
        }

    def _join_named(self, place: FactScope, kind: str, name: str) -> Node:
        """Return the node of that name with a place added; it takes the longest name."""
        short = shorten_name(name)
        if kind == _ANY_ROLE:  # a machine of that name whose role is known comes first
            kind = next((role for role in _ROLES if (role, short) in self.named), kind)
        elif kind == OTHER:
            known = [one for one, called in self.named if called == short]
            kind = known[0] if len(known) == 1 else kind
        node = self.named.get((kind, short))
        if node is None:
            node = self.named[kind, short] = Node(id=name, kind=kind, name=name)
        elif len(name) > len(node.name):
            node.id = node.name = name
        node.places.append(place)
        return node

    def _keep_alone(self, place: FactScope, kind: str) -> Node:
        """Return a node of its own for a tree or a file without a name; its files are its name."""
        file = _name_file(place)
        node = self.named.setdefault((kind, _ALONE + place.name), Node(_ALONE + file, kind, file))
        node.places.append(place)
        return node

    def _list_nodes(self, kind: str) -> list[Node]:
        nodes = {id(node): node for node in self.named.values() if node.kind == kind}
        return sorted(nodes.values(), key=lambda node: node.id)

    def _join_nameless_tree(self, place: FactScope, kind: str) -> Node:
        """Return the node of a bundle without a name: the only named machine of its kind, unless that is contradicted."""
        same = [node for node in self._list_nodes(kind) if not node.id.startswith(_ALONE)]
        if len(same) != 1 or kind in _MANY:
            return self._keep_alone(place, kind)
        only, file = same[0], _name_file(place)
        if against := self.statements.find_contradiction(place, only.places):
            node = self._keep_alone(place, kind)
            _warn_kept_apart(node, file, f"it {against}, unlike {only.name}")
            return node
        _add_part(only, place, file)
        return only

    def _join_loose_files(self, kind: str, places: list[FactScope], parts: dict[str, str]) -> None:
        """Find the nodes of loose files, or of parts of them, that name no host.

        They belong to the only machine of their kind, if nothing they state speaks against it; among several machines,
        or against what is known of the only one, a file stays alone. Without any machine they are one, unless they
        contradict one another.

        parts  place key -> words for the part of a file that it is
        """
        known = self._list_nodes(kind)
        if not known and kind not in _MANY:
            groups = self.statements.group_places(places)
            if len(groups) == 1:
                name = f"{LABELS.get(kind, kind)} (loose files)"
                node = self.named.setdefault((kind, _ALONE), Node(_ALONE + name, kind, name))
                node.places += places
                self.nodes.update(dict.fromkeys((place.key for place in places), node))
                return
            for group, why in groups:
                node = self._keep_alone(group[0], kind)
                node.places += group[1:]
                _warn_kept_apart(node, _list_first([_name_file(place) for place in group]), why)
                self.nodes.update(dict.fromkeys((place.key for place in group), node))
            return
        only = known[0] if len(known) == 1 else None
        for place in places:
            what = parts.get(place.key, _name_file(place))
            against = ""
            if only is not None:
                against = self.statements.find_contradiction(place, only.places, only.given_name)
                if not against and kind not in _MANY:
                    _add_part(only, place, what)
                    self.nodes[place.key] = only
                    continue
            node = self.nodes[place.key] = self._keep_alone(place, kind)
            if kind in _MANY:
                continue
            names = _list_first([other.name for other in known])
            why = f"the case has {len(known)} of its kind ({names})"
            if against:
                why = f"it {against}, unlike {names}"
            _warn_kept_apart(node, what, why)

    def _add_warnings(self) -> None:
        """Give each node the time of its capture, and what the report adds to its places."""
        intake = self.intake
        _remark_uncollected(intake)
        for key, remark in intake.talk.find_floods(intake.spans):
            intake.add_remark(intake.places[key], remark)
        for key, place in intake.places.items():
            node = self.nodes[key]
            if place.scope == "root":
                kind = self.kinds.find_kind(place.name)
                captured = read_given_time(kind.captured) if kind.captured else ""
                if captured is None:
                    remark = f"its bundle names {kind.captured} as the time of its capture"
                    node.warnings.append(f"{remark}: no date, or one {FAR}")
                node.captured = max(node.captured, captured or "")
                node.captures[key] = captured or ""
                node.bundle |= kind.kind not in ("", "loose")
            node.warnings += intake.remarks.get(key, [])
            if node.kind == HOSTED:
                node.warnings.append(
                    "a VM of Workstation, Player or Fusion does not run on an ESXi host: no rule covers it"
                )


def _may_be_of(kind: str, node_kind: str) -> bool:
    """Say whether a text of one kind may be of a node of another: what any role of NSX-T prints is of each role."""
    return kind == node_kind or (kind == _ANY_ROLE and node_kind in _ROLES)


def _warn_kept_apart(node: Node, what: str, why: str) -> None:
    node.warnings.append(f"{what} names no host, so it is kept separate: {why}")


def _add_part(node: Node, place: FactScope, what: str) -> None:
    """Add a place without a name to the only node of its kind."""
    label = LABELS.get(node.kind, node.kind)
    node.places.append(place)
    taken = f"treated as part of {node.name}, the only {label} of the case"
    node.warnings.append(f"{what} names no host; {taken}")


def _name_file(place: FactScope) -> str:
    return re.split(r"[!/]", place.name.rstrip("/!"))[-1]


def _list_first(names: list[str]) -> str:
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _make_ids_unique(nodes: list[Node]) -> None:
    taken: set[str] = set()
    for node in sorted(nodes, key=lambda item: (item.kind, item.name)):
        base = node.id = node.id.removeprefix(_ALONE)
        number = 2
        while node.id in taken:
            node.id = f"{base} ({LABELS.get(node.kind, node.kind)} {number})"
            number += 1
        taken.add(node.id)


def _vote_kinds(intake: Intake) -> dict[str, str]:
    """Return place key -> the kind of node most of its rows speak of, for trees without markers.

    One with a role comes before one without.
    """
    kind_of_table: dict[str, str] = {}
    for parser in registry().values():
        if parser.node.startswith("nsxt_"):
            for table in parser.tables:
                kind_of_table[table.name] = parser.node
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for _, same in groupby(intake.rows, key=lambda row: (id(row.table), id(row.block))):
        rows = list(same)
        table = rows[0].table
        if table.name not in _OF_ANYBODY:
            kind = kind_of_table.get(table.name) or _KIND_OF.get(table.product, "")
            counts[rows[0].block.scope][kind] += len(rows)
    voted: dict[str, str] = {}
    for key, found in counts.items():
        weights = [(kind != _ANY_ROLE, found[kind], kind) for kind in sorted(found) if kind]
        if weights:
            voted[key] = max(weights, key=lambda weight: weight[:2])[2]
    return voted


def find_hostnames(intake: Intake) -> dict[str, str]:
    """Return place key -> the name of its machine that the rows of the place show."""
    # The prompt of a controller names no machine: its one address does, where it shows its cluster.
    # Interfaces alone need no name, they are a list of addresses themselves.
    controllers = set()
    shown: dict[str, set[str]] = defaultdict(set)
    for row in intake.rows:
        if row.table.name == "nsx.controller_health":
            controllers.add(row.block.scope)
        elif row.table.name == "nsx.controller_interface" and row.values["address"]:
            shown[row.block.scope].add(str(row.values["address"]).partition("/")[0])
    names = {}
    for key, own in shown.items():
        if key in controllers and len(own) == 1 and intake.places[key].scope != "host":
            names[key] = min(own)

    called_by: dict[str, set[str]] = defaultdict(set)  # address of a manager of NSX-T -> its names
    stated: dict[str, str] = {}
    for row in intake.rows:
        values = row.values
        if row.table.name == "nsxt.cluster_member" and values["ip"] and values["fqdn"]:
            called_by[str(values["ip"])].add(str(values["fqdn"]))
        column = _NAME_TABLES.get(row.table.name)
        name = values.get(column) if column else None
        if isinstance(name, str) and name:
            key = row.block.scope
            if len(name) > len(stated.get(key, "")):  # the full name beats the short one
                stated[key] = name
    for key, place in intake.places.items():
        if place.scope == "host":  # a call of the API of a manager may name it by its address
            managers = called_by.get(place.name, ())
            if len(managers) == 1:
                names[key] = min(managers)
    return names | stated


def _describe_parts(intake: Intake) -> dict[str, str]:
    """Return place key -> words for the part of a file that shows no host, where its prompts name one elsewhere."""
    scopes: dict[str, set[str]] = defaultdict(set)  # address -> places of what was read there
    first: dict[str, int] = {}
    for _, same in groupby(intake.rows, key=lambda row: id(row.block)):
        top = min(same, key=lambda row: row.line)
        scope = top.block.scope
        scopes[top.block.address].add(scope)
        first[scope] = min(top.line, first.get(scope, top.line))
    for frame in intake.frames:
        scopes[frame.block.address].add(frame.block.scope)
    for cover in intake.covers:
        scopes[cover.address].add(cover.place.key)

    parts: dict[str, str] = {}
    for keys in scopes.values():
        places = [intake.places[key] for key in sorted(keys) if key in intake.places]
        if not any(place.scope == "host" for place in places):
            continue
        for place in places:
            at = f" (from line {first[place.key]:,})" if place.key in first else ""
            parts[place.key] = f"a part of {_name_file(place)}{at}"
    return parts


def _remark_uncollected(intake: Intake) -> None:
    """Remark on each place what vm-support itself failed to collect there; an output that was empty is no failure."""
    failed: dict[str, list[Row]] = defaultdict(list)
    for row in intake.rows:
        values = row.values
        if row.table.name != _UNCOLLECTED or values["ignored"] or values["failure"] == "empty":
            continue
        failed[row.block.scope].append(row)
    for key, rows in failed.items():
        commands = [str(row.values["collector_command"] or "") for row in rows]
        named = [*dict.fromkeys(command for command in commands if command)]
        listed = _list_first([one_line(command, 60) for command in named])
        while_collecting = f" ({listed})" if listed else ""
        what = "1 error" if len(rows) == 1 else f"{len(rows):,} errors"
        where = f"{rows[0].block.address.rpartition('/')[2]}:{rows[0].line}"
        remark = (
            f"vm-support wrote {what} while it collected{while_collecting}, the first at {where}"
        )
        intake.add_remark(intake.places[key], remark)


class Statements:
    """Versions and times that the places of a case state."""

    def __init__(self, intake: Intake) -> None:
        self._versions: dict[str, set[str]] = defaultdict(set)
        self._spans: dict[str, Span] = {}
        self._prompted = intake.prompted
        for row in intake.rows:
            version = row.values.get("version")
            if row.table.name in _VERSIONS and version and row.values.get("origin") != "vmware.log":
                self._versions[row.block.scope].add(str(version))
        for span in intake.spans:
            if span.table == _NOT_OF_A_HOST:
                continue
            try:
                times = sorted(datetime.fromisoformat(text) for text in (span.first, span.last))
            except ValueError:
                continue
            first, last = self._spans.get(span.place.key, times)
            self._spans[span.place.key] = min(first, times[0]), max(last, times[1])

    def find_contradiction(
        self, place: FactScope, others: Iterable[FactScope], name: str = ""
    ) -> str:
        """Return what a place states that cannot be of the machine of some others, "" when nothing is.

        name  of that machine, "" when it has none
        """
        keys = [other.key for other in others]
        shown = self._prompted.get(place.key, "")
        if shown and name and name.lower().partition(".")[0] != shown:
            return f"shows the prompt of a machine that is called {shown}"
        own_versions = self._versions.get(place.key, set())
        versions: set[str] = set()
        for key in keys:
            versions |= self._versions.get(key, set())
        if own_versions and versions and not own_versions & versions:
            return f"states version {' and '.join(sorted(own_versions))}"
        spans = [self._spans[key] for key in keys if key in self._spans]
        own = self._spans.get(place.key)
        if own is None or not spans:
            return ""
        if all(own[0] - last > GAP or first - own[1] > GAP for first, last in spans):
            return f"holds lines of {_show_days(own)}"
        return ""

    def group_places(self, places: Sequence[FactScope]) -> list[tuple[list[FactScope], str]]:
        """Group places into machines, each with what sets it apart; one group when nothing contradicts that."""
        versions, times = self._group_by_version(places), self._group_by_time(places)
        by_version, by_time = len(set(versions.values())) > 1, len(set(times.values())) > 1
        if not by_version and not by_time:
            return [(list(places), "")] if places else []
        groups: dict[tuple[str, ...], list[FactScope]] = defaultdict(list)
        for place in places:
            version = versions.get(place.key, "") if by_version else ""
            time = times.get(place.key, "") if by_time else ""
            is_unknown = (by_version and not version) or (by_time and not time)
            groups[(place.key,) if is_unknown else (version, time)].append(place)

        result = []
        for key, group in groups.items():
            if len(key) == 1:
                result.append((group, "other loose files are of different machines"))
                continue
            version, time = key
            states = [f"version {version}"] if version else []
            if time:
                states.append(f"lines of {time}")
            result.append((group, f"it states {' and '.join(states)}, unlike other loose files"))
        return result

    def _group_by_version(self, places: Sequence[FactScope]) -> dict[str, str]:
        """Return place key -> versions of its machine: what one place states together is of one machine."""
        machines: list[set[str]] = []
        for place in places:
            stated = set(self._versions.get(place.key, ()))
            if stated:
                joined = [one for one in machines if one & stated]
                machines = [one for one in machines if not one & stated]
                machines.append(stated.union(*joined))
        named = {version: " and ".join(sorted(one)) for one in machines for version in one}
        return {
            place.key: named[min(self._versions[place.key])]
            for place in places
            if self._versions.get(place.key)
        }

    def _group_by_time(self, places: Sequence[FactScope]) -> dict[str, str]:
        """Return place key -> times of its machine; logs that lie more than a year apart are of two."""
        known = [
            (self._spans[place.key], place.key) for place in places if place.key in self._spans
        ]
        runs: list[tuple[Span, list[str]]] = []
        for span, key in sorted(known):
            if runs and span[0] - runs[-1][0][1] <= GAP:
                (first, last), keys = runs.pop()
                runs.append(((first, max(last, span[1])), [*keys, key]))
            else:
                runs.append((span, [key]))
        return {key: _show_days(span) for span, keys in runs for key in keys}


def _show_days(span: Span) -> str:
    return f"{span[0]:%Y-%m-%d} to {span[1]:%Y-%m-%d}"
