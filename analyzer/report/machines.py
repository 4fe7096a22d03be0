"""The machines of a case: what they are called, the line of each or of many alike in a header, the table and its cards.

Up to `HEADED` machines get a line each, of more those of one kind share one. Nothing is dropped: the names of a crowd
are in the folded list of the page, in the note, and with -v on the terminal. A machine with a warning keeps its warning
in sight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from analyzer.case.asks import AskPiece, split_ask
from analyzer.case.document import CardRow, CaseDocument, CaseNode, HostCard
from analyzer.case.ranking import rank_hosts
from analyzer.report import view
from analyzer.report.finding_rows import group_findings
from analyzer.report.wording import format_duration, join_few, write_counts
from analyzer.runtime.text import natural_key

HEADED = 8  # machines that get a line each
CARDS = 4  # machines that get a card in the head of the page; of more there is a table
WORST = 3  # machines named in the head of a page with a table
_CROWD = 3  # machines of one kind that share a line: fewer stay apart
_VERSIONS = 3  # of one crowd by name
_STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?:\.\d+)? UTC")
_NAMED = 3  # machines with the same remark, by name
_CARD_TITLES = ("Hardware", "Memory")  # the rows of a card that its folded line shows
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


def name_node(node: CaseNode) -> str:
    """Return how a report names a machine."""
    return node.name or node.id


def name_nodes(doc: CaseDocument) -> dict[str, str]:
    """Return how a report names each machine, by its id."""
    return {node.id: name_node(node) for node in doc.nodes}


def describe_version(node: CaseNode) -> str:
    """Return what a machine runs."""
    timeless = structs.replace(node, uptime_s=None, captured="", logs=[])
    return " ".join(view.list_facts(timeless))


@dataclass(frozen=True, slots=True)
class Crowd:
    """Machines of one kind, by name."""

    kind: str
    nodes: list[CaseNode]

    @property
    def title(self) -> str:
        """How many they are: `20 hosts`."""
        noun = _KINDS.get(self.kind, "nodes")
        return f"{len(self.nodes):,} {noun}"

    @property
    def span(self) -> str:
        """The first and the last name: `esx00 … esx19`."""
        first = name_node(self.nodes[0])
        last = name_node(self.nodes[-1])
        return f"{first} … {last}"

    @property
    def versions(self) -> str:
        """What they run, each version with its count where there are several."""
        counts = Counter(map(describe_version, self.nodes))
        if len(counts) == 1:
            return next(iter(counts))
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        lines = []
        for version, count in ranked:
            lines.append(f"{count:,} × {version or 'version unknown'}")
        return join_few(lines, _VERSIONS)

    @property
    def remarks(self) -> list[str]:
        """What is odd about them, each remark once with the names it holds for."""
        return list_remarks(self.nodes)


def list_remarks(nodes: Sequence[CaseNode]) -> list[str]:
    """Return what is odd about machines, each remark once with the names it holds for.

    Remarks that differ in their times alone are one, with the first and the last of them.
    """
    alike: dict[str, list[tuple[str, str]]] = {}
    for node in nodes:
        for warning in node.warnings:
            timeless = _STAMP.sub("", warning)
            alike.setdefault(timeless, []).append((name_node(node), warning))
    lines = []
    for remarks in alike.values():
        who = join_few([name for name, _ in remarks], _NAMED)
        merged = _merge_times([text for _, text in remarks])
        lines.append(f"{who}: {merged}")
    return lines


def _merge_times(texts: Sequence[str]) -> str:
    """Return texts that differ in their times alone as one text, with the first and the last of each time."""
    columns = zip(*map(_STAMP.findall, texts), strict=True)
    ends: Iterator[tuple[str, str]] = iter([(min(times), max(times)) for times in columns])

    def write_span(_: re.Match[str]) -> str:
        first, last = next(ends)
        if first == last:
            return first
        return f"{first} … {last}"

    return _STAMP.sub(write_span, texts[0])


def split_header(nodes: list[CaseNode]) -> tuple[list[CaseNode], list[Crowd]]:
    """Return the machines that get a line each, and the crowds; up to `HEADED` machines all get one."""
    if len(nodes) <= HEADED:
        return nodes, []
    kinds: dict[str, list[CaseNode]] = {}
    for node in nodes:
        kinds.setdefault(node.kind, []).append(node)
    crowds = []
    for kind, own in kinds.items():
        if len(own) >= _CROWD:
            own.sort(key=lambda node: natural_key(name_node(node)))
            crowds.append(Crowd(kind, own))
    return [node for node in nodes if len(kinds[node.kind]) < _CROWD], crowds


def describe_worst(doc: CaseDocument, most: int) -> str:
    """Return the machines with the worst findings, counted as the case counts them; empty where none has any.

    A finding that rests on a version alone does not count: every machine of that version has it.
    """
    found: dict[str, Counter[str]] = {}
    for row in group_findings(doc):
        if row.word != "error" and not row.hollow:
            for node in {one.node for one in row.findings if one.node}:
                found.setdefault(node, Counter())[row.word] += 1
    names = name_nodes(doc)
    lines = []
    for node in rank_hosts(doc.findings):
        counts = found.get(node)
        if counts:
            ordered = [(word, counts[word]) for word in view.SEVERITIES]
            name = names.get(node, node)
            lines.append(f"{name} ({write_counts(ordered)})")
    return join_few(lines, most)


@dataclass(frozen=True, slots=True)
class HostRow:
    """One machine: its record, its card or None, and (word, number) of its findings, worst first."""

    node: CaseNode
    card: HostCard | None
    counts: list[tuple[str, int]]

    @property
    def name(self) -> str:
        """How reports name it."""
        return name_node(self.node)

    @property
    def version(self) -> str:
        """What it runs."""
        return describe_version(self.node)

    @property
    def hardware(self) -> str:
        """What it is, from its card, in one line."""
        if not self.card:
            return ""
        texts = {}
        for row in self.card.rows:
            texts[row.title] = [item.text for item in row.items]
        return "; ".join(texts[title][0] for title in _CARD_TITLES if texts.get(title))

    @property
    def up(self) -> str:
        """For how long it ran; empty when not known."""
        seconds = self.node.uptime_s
        if isinstance(seconds, int | float):
            return format_duration(seconds)
        return ""

    @property
    def found(self) -> str:
        """Its findings in words: `1 critical, 2 warnings`."""
        return write_counts(self.counts)


def list_hosts(doc: CaseDocument) -> list[HostRow]:
    """Return the machines of a case, the worst first, and those without a finding by name."""
    cards = {card.node: card for card in doc.hosts}
    found: dict[str, Counter[str]] = {}
    for row in group_findings(doc):
        for name in {one.node for one in row.findings}:
            found.setdefault(name, Counter())[view.name_weight(row.first)] += 1
    rows = []
    for node in doc.nodes:
        own = found.get(name_node(node), Counter())
        counts = [(word, own[word]) for word in view.COUNTED if own[word]]
        rows.append(HostRow(node, cards.get(node.id), counts))
    places = rank_hosts(doc.findings)
    return sorted(rows, key=lambda row: (places.get(row.name, len(places)), natural_key(row.name)))


def has_many_hosts(doc: CaseDocument) -> bool:
    """Say whether a case has so many machines that a table reads better than one card after another."""
    return len(doc.nodes) > CARDS


def list_worst_hosts(doc: CaseDocument) -> list[HostRow]:
    """Return the worst machines of a case with many, those with findings alone."""
    if not has_many_hosts(doc):
        return []
    return [row for row in list_hosts(doc)[:WORST] if row.counts]


def list_card_rows(card: HostCard) -> list[CardRow]:
    """Return the rows of a card that say something: also that a table was read and holds nothing."""
    return [row for row in card.rows if row.items or not row.missing]


def list_card_gaps(card: HostCard) -> list[tuple[str, list[list[AskPiece]]]]:
    """Return what would fill the rest of a card: the title of each row, and what to ask for."""
    gaps = []
    for row in card.rows:
        if row.missing:
            gaps.append((row.title, [split_ask(ask) for ask in row.missing]))
    return gaps
