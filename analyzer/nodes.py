"""Who is who in a case: places become nodes with names.

While members stream by, a fact only knows its place (the tree of a bundle, the host of a
prompt, a loose file). Here the places of one machine become one node: a bundle's tree and
a pasted transcript of the same host belong together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from analyzer.intake import Intake, Place
from analyzer.sources.kinds import KindFinder

LABELS = {
    "esxi": "ESXi host",
    "guest": "guest",
    "nsx_manager": "NSX Manager",
    "nsx_controller": "NSX controller",
    "nsx_edge": "NSX Edge",
    "nsx_t": "NSX-T node",
    "vcenter": "vCenter",
}


_ALONE = "\x1f"  # marks a node that got its name from a file
_MANY = ("nsx_controller", "guest")  # a case has several; one must not be taken for another


@dataclass(slots=True)
class Node:
    """One machine of the case."""

    id: str
    kind: str
    name: str
    places: list[Place] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    captured: str = ""
    bundle: bool = False  # some of it comes from a support bundle, not from loose files and transcripts alone


def short(name: str) -> str:
    """Return the part of a host name before the first dot, lower case; an address stays whole."""
    if name.replace(".", "").isdigit():
        return name
    return name.partition(".")[0].lower()


def resolve(intake: Intake, kinds: KindFinder) -> dict[str, Node]:
    """Return place key -> node for every place of the intake; nodes are named and unique."""
    named: dict[tuple[str, str], Node] = {}
    nodes: dict[str, Node] = {}
    hostnames = _hostnames(intake)
    votes = _votes(intake)
    unnamed: list[tuple[str, Place, str]] = []
    for key, place in sorted(intake.places.items()):
        kind = _kind(place, kinds, votes.get(key, ""))
        name = hostnames.get(key) or (place.name if place.scope == "host" else "")
        if place.scope == "root":
            name = name or kinds.kind(place.name).host
        if name and place.scope in ("root", "host"):
            nodes[key] = _join(named, place, kind, name)
        else:
            unnamed.append((key, place, kind))
    for key, place, kind in sorted(unnamed, key=lambda item: (item[1].scope != "root", item[0])):
        home = nodes.get(Place("root", place.name).key) if place.scope == "stray" else None
        if home is not None and home.kind == kind:
            nodes[key] = home
        else:
            nodes[key] = _nameless(named, place, kind, hostnames.get(key, ""))
    for key, place in intake.places.items():
        if place.scope == "root":
            kind_of = kinds.kind(place.name)
            nodes[key].captured = max(nodes[key].captured, kind_of.captured)
            nodes[key].bundle |= kind_of.kind not in ("", "loose")
    _unique_ids(list(named.values()))
    return nodes


def _kind(place: Place, kinds: KindFinder, voted: str) -> str:
    if place.scope != "root":
        return place.kind or voted or "esxi"
    kind = kinds.kind(place.name).kind
    return voted or "esxi" if kind in ("", "loose") else kind


def _votes(intake: Intake) -> dict[str, str]:
    """The kind of node most rows of a place speak of, for trees without markers."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in intake.rows:
        counts[row.block.node][_KIND_OF.get(row.table.product, "")] += 1
    voted: dict[str, str] = {}
    for key, found in counts.items():
        kinds = sorted(kind for kind in found if kind)
        if kinds:
            voted[key] = max(kinds, key=found.__getitem__)
    return voted


_KIND_OF = {"esxi": "esxi", "esxtop": "esxi", "guest": "guest", "nsx": "nsx_manager"}
_NAME_TABLES = {"esxi.host": "hostname", "nsx.manager": "hostname", "esxtop.capture": "host"}


def _hostnames(intake: Intake) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in intake.rows:
        column = _NAME_TABLES.get(row.table.name)
        name = row.values.get(column) if column else None
        if isinstance(name, str) and name:
            key = row.block.node
            if len(name) > len(found.get(key, "")):  # the full name beats the short one
                found[key] = name
    return found


def _join(named: dict[tuple[str, str], Node], place: Place, kind: str, name: str) -> Node:
    key = (kind, short(name))
    node = named.get(key)
    if node is None:
        node = named[key] = Node(id=name, kind=kind, name=name)
    elif len(name) > len(node.name):
        node.id = node.name = name
    node.places.append(place)
    return node


def _nameless(named: dict[tuple[str, str], Node], place: Place, kind: str, hostname: str) -> Node:
    """A text without a host belongs to the only machine of its kind, and that is said; else it stands alone."""
    if hostname:
        return _join(named, place, kind, hostname)
    file = re.split(r"[!/]", place.name.rstrip("/!"))[-1]
    same = [node for node in named.values() if node.kind == kind and not node.id.startswith(_ALONE)]
    if len(same) == 1 and kind not in _MANY:
        node = same[0]
        label = LABELS.get(kind, kind)
        node.warnings.append(f"{file} names no host; taken as {node.name}, the only {label} of the case")
    elif place.scope == "root" or kind in _MANY:
        node = named.setdefault((kind, _ALONE + place.name), Node(_ALONE + file, kind, file))
    else:
        label = f"{LABELS.get(kind, kind)} (loose files)"
        node = named.setdefault((kind, _ALONE), Node(_ALONE + label, kind, label))
    node.places.append(place)
    return node


def _unique_ids(nodes: list[Node]) -> None:
    taken: set[str] = set()
    for node in sorted(nodes, key=lambda item: (item.kind, item.name)):
        base = node.id = node.id.removeprefix(_ALONE)
        number = 2
        while node.id in taken:
            node.id = f"{base} ({LABELS.get(node.kind, node.kind)} {number})"
            number += 1
        taken.add(node.id)
