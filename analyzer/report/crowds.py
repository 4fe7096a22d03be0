"""The header of a case with many machines: one line per kind of machine.

Nothing is dropped: the names of a crowd stand in the folded list of the page, in the note, and with -v on the
terminal. A machine with a warning keeps its warning in sight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.case.ranking import rank_hosts
from analyzer.report import view, wording
from analyzer.report.finding_rows import groups
from analyzer.runtime.text import natural_key

Doc = dict[str, Any]

HEADED = 8  # machines that get a line each
_CROWD = 3  # of one kind: fewer stay apart
_VERSIONS = 3  # of one crowd by name
_STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?:\.\d+)? UTC")
_NAMED = 3  # machines with the same remark, by name
_KINDS = {
    "esxi": "hosts",
    "guest": "guests",
    "nsx_manager": "NSX Managers",
    "nsx_controller": "NSX controllers",
    "nsx_edge": "NSX Edges",
    "nsxt_manager": "NSX-T managers",
    "nsxt_edge": "NSX-T edges",
    "nsx_t": "NSX-T nodes",
    "vcenter": "vCenter servers",
    "other": "machines of unknown kind",
}


@dataclass(frozen=True, slots=True)
class Crowd:
    """Machines of one kind, by name."""

    kind: str
    nodes: list[Doc]

    @property
    def title(self) -> str:
        """Return `20 hosts`."""
        return f"{len(self.nodes):,} {_KINDS.get(self.kind, 'nodes')}"

    @property
    def span(self) -> str:
        """Return the first and the last name: `esx00 … esx19`."""
        return f"{name(self.nodes[0])} … {name(self.nodes[-1])}"

    @property
    def versions(self) -> str:
        """Return what they run, each version with its count where there are several."""
        found = Counter(
            " ".join(view.facts({**node, "uptime_s": None, "captured": "", "logs": []}))
            for node in self.nodes
        )
        if len(found) == 1:
            return next(iter(found))
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return wording.few(
            [f"{count:,} × {version or 'version unknown'}" for version, count in ranked], _VERSIONS
        )

    @property
    def remarks(self) -> list[str]:
        """Return what is odd about them, each remark once with the names it holds for."""
        return remarks(self.nodes)


def remarks(nodes: Sequence[Doc]) -> list[str]:
    """Return what is odd about machines, each remark once with the names it holds for.

    Remarks that only tell other times are one, with the first and the last of them.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for node in nodes:
        for warning in node["warnings"]:
            found.setdefault(_STAMP.sub("", warning), []).append((name(node), warning))
    told = []
    for alike in found.values():
        who = wording.few([one for one, _ in alike], _NAMED)
        told.append(f"{who}: {_spanned([text for _, text in alike])}")
    return told


def _spanned(texts: Sequence[str]) -> str:
    """Return texts that differ in their times alone as one text."""
    times = list(zip(*(_STAMP.findall(text) for text in texts), strict=True))
    ends = iter([(min(some), max(some)) for some in times])

    def span(_: re.Match[str]) -> str:
        first, last = next(ends)
        return first if first == last else f"{first} … {last}"

    return _STAMP.sub(span, texts[0])


def head(nodes: list[Doc]) -> tuple[list[Doc], list[Crowd]]:
    """Return the machines that get a line each, and the crowds; up to `HEADED` machines all get one."""
    if len(nodes) <= HEADED:
        return nodes, []
    kinds: dict[str, list[Doc]] = {}
    for node in nodes:
        kinds.setdefault(node["kind"], []).append(node)
    crowds = [
        Crowd(kind, sorted(own, key=_order)) for kind, own in kinds.items() if len(own) >= _CROWD
    ]
    return [node for node in nodes if len(kinds[node["kind"]]) < _CROWD], crowds


def name(node: Doc) -> str:
    """Return how a report names a machine."""
    return str(node["name"] or node["id"])


def names(doc: Doc) -> dict[str, str]:
    """Return how a report names each machine, by its id."""
    return {node["id"]: name(node) for node in doc["nodes"]}


def worst(doc: Doc, most: int) -> str:
    """Return the machines with the worst findings, counted as the case counts them; empty where none has any.

    A finding that rests on a version alone does not count: every machine of that version has it.
    """
    found: dict[str, Counter[str]] = {}
    for row in groups(doc):
        if row.word != "error" and not row.hollow:
            for node in {one["node"] for one in row.findings if one["node"]}:
                found.setdefault(node, Counter())[row.word] += 1
    known = names(doc)
    told = []
    for node in rank_hosts(doc["findings"]):
        if own := found.get(node):
            said = [
                f"{own[word]:,} {wording.plural(word, own[word])}"
                for word in view.SEVERITIES
                if own[word]
            ]
            told.append(f"{known.get(node, node)} ({', '.join(said)})")
    return wording.few(told, most)


def _order(node: Doc) -> list[tuple[int, str]]:
    return natural_key(name(node))
