"""What a host itself calls a problem: problem events, ALERT lines, backtraces, core dumps.

They are counted by kind while logs are searched, whether or not a rule knows them. What no finding rests on is listed
below the findings, so that nothing bad stands in the logs and not in the report.

Sources of the forms: events as in parsers/esxi/logs/esx_event.py; `ALERT:` of vmkernel.log (KB 1030265, 318611); a frame of a
backtrace `0x4390cc81be50:[0x418020d03f71]func@module#ver+0x29 stack: …`; `UserDump: … Dumping cartel … to file
/var/core/NAME-zdump.000` (KB 433552, and public captures of 4.x).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from analyzer.artefacts import logtime, parsing
from analyzer.artefacts.loghost import name_object
from analyzer.artefacts.tables import Table
from analyzer.case.verdicts import Evidence, Judgement
from analyzer.ingest.chosen_lines import KIND as WARNING
from analyzer.ingest.chosen_lines import alike, records, words_of
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Node
from analyzer.scan.hits import LogScan, Signature, Tally
from analyzer.scan.parts import is_copy
from analyzer.scan.tallies import OTHERS, find_counted
from analyzer.secrets.values import hide_around
from analyzer.sources import Ledger

EVENT, ALERT, BACKTRACE, DUMP, FILE = "event", "alert", "backtrace", "core dump", "core dump file"
KINDS = (FILE, DUMP, BACKTRACE, ALERT, EVENT, WARNING)  # in the order of the report
TEXT = 300
_PREFIX = "problems/"
LOOKED_AT = 8192  # characters of a line

_ALERT = re.compile(
    r"(?:\)ALERT: |\bvmkalert: (?:cpu\d+:\d+(?: opID=[\w-]+)?\))?|(?=@BlueScreen: ))(?P<what>.+)"
)
# the frame that prints the backtrace stands first in many: the next one tells them apart
_FRAME = re.compile(
    r"\b0x[0-9a-f]+:\[0x[0-9a-f]+\](?!vmk_LogBacktraceMessage@)(?P<what>[^\s@]+@[\w.-]+)"
)
_DUMP = re.compile(
    r"\bUserDump: \d+: (?:(?P<world>[^:]+): )?Dumping cartel\b.*? to file (?:\S*/)?(?P<what>\S+)"
)
_FILE = re.compile(r"(?:^|[/!])var/core/(?P<what>[^/!]*zdump[^/!]*?)(?:\.FRAG-\d+)?$")


_EVENT = re.compile(
    r"\b(?P<what>esx\.(?:problem|clear)\.(?!test\.|vobdtestcorrelator\.)[A-Za-z0-9]\w*(?:\.\w+)*)\]? {0,3}"
)


class ProblemKind(NamedTuple):
    """What tells one problem from another on a host: an event with its object, an ALERT by its words, …"""

    kind: str
    what: str
    thing: str = ""


def kind_of(kind: str, text: str) -> ProblemKind | None:
    """Return the problem that a line reports, None when it reports none."""
    text = text[:LOOKED_AT]
    if kind == WARNING:
        return ProblemKind(kind, words_of(text))
    if kind == EVENT:
        found = _EVENT.search(text)
        return ProblemKind(kind, found["what"], name_object(text[found.end() :])) if found else None
    if kind == ALERT:
        found = _ALERT.search(text)
        words = found["what"].removeprefix("ALERT: ") if found else ""
        # secrets first: with its numbers as N a hash ($6$…) is no longer told
        return ProblemKind(kind, alike(hide_around([], words, [])[1])) if words.strip() else None
    found = (_FRAME if kind == BACKTRACE else _DUMP).search(text)
    return (
        ProblemKind(kind, re.sub(r"[.\d]+$", "", found["what"]) if kind == DUMP else found["what"])
        if found
        else None
    )


def _counted(kind: str, table: str, pattern: str, *, runs: bool = False) -> Signature:
    def of(text: str) -> str:
        found = kind_of(kind, text)
        return "\x1f".join(found) if found else ""

    return Signature(f"{_PREFIX}{kind} of {table}", table, pattern, kind_of=of, runs=runs)


def _signatures() -> Iterator[Signature]:
    yield _counted(EVENT, "esxi.event", r"\besx\.(?:problem|clear)\.")
    for table in ("esxi.vmkernel", "esxi.vmkwarning"):
        yield _counted(ALERT, table, r"\)ALERT: |\bvmkalert: |@BlueScreen: ")
        yield _counted(DUMP, table, r"\bUserDump: \d+: .*Dumping cartel")
        # the heading has no kind, so that it ends the backtrace before it
        frames = r"Backtrace for current CPU|:\[0x[0-9a-f]+\][^\s@]+@"
        yield _counted(BACKTRACE, table, frames, runs=True)


PROBLEM_SIGNATURES = tuple(_signatures())


@dataclass(slots=True)
class _Total:
    """Lines of one problem in one log of a host."""

    count: int = 0
    first: tuple[str, str, int, str] | None = None  # time, address, line, text
    last: tuple[str, str, int, str] | None = None

    def add(self, scan: LogScan, tally: Tally) -> None:
        """Take the lines of one member."""
        self.count += tally.count
        begun, ended = (_place(scan, line) for line in (tally.first, tally.last))
        self.first = begun if self.first is None else min(self.first, begun)
        self.last = ended if self.last is None else max(self.last, ended)


def _place(scan: LogScan, line: tuple[int, str]) -> tuple[str, str, int, str]:
    text = hide_around([], line[1], [])[1]
    return logtime.format_iso(text), scan.address, line[0], text[:TEXT]


def problems(intake: Intake, nodes: dict[str, Node], ledger: Ledger) -> list[dict[str, Any]]:
    """Return every problem that the logs tell of, with count, first and last, and the core dumps among the members.

    The same line in two logs of a host counts once: of logs that tell of one problem the fullest counts. Call it when
    scans are named and duplicates are out.
    """
    totals: dict[tuple[str, ProblemKind], dict[str, _Total]] = defaultdict(dict)
    declared = parsing.tables()
    scans = [
        scan for scan in intake.scans if not is_copy(scan, declared)
    ]  # their log is searched for the same
    for scan, name, key, tally in find_counted(scans, _PREFIX):
        kind, what, thing = name.partition(" of ")[0], "", ""
        if key != OTHERS:
            kind, what, thing = key.split("\x1f")
        log = scan.part_of or scan.table
        totals[scan.node, ProblemKind(kind, what, thing)].setdefault(log, _Total()).add(scan, tally)
    found = [_record(node, kind, logs) for (node, kind), logs in totals.items()]
    node_of = {key: node.id for key, node in nodes.items()}
    return [*found, *_files(nodes, ledger), *records(intake.chosen, node_of)]


def _record(node: str, kind: ProblemKind, logs: Mapping[str, _Total]) -> dict[str, Any]:
    _, fullest = min(
        logs.items(), key=lambda item: (-item[1].count, item[0] not in _WHOLE, item[0])
    )
    assert fullest.first is not None and fullest.last is not None
    first, address, line, text = fullest.first
    last, last_address, last_line, _ = fullest.last
    places = {
        "address": address,
        "line": line,
        "text": text,
        "last_address": last_address,
        "last_line": last_line,
    }
    return {
        "node": node,
        **_named(kind),
        "count": fullest.count,
        "first": first,
        "last": last,
        **places,
    }


_WHOLE = ("esxi.vobd", "esxi.vmkernel")  # logs that hold what the others repeat


def _named(kind: ProblemKind) -> dict[str, str]:
    return {"kind": kind.kind, "what": hide_around([], kind.what, [])[1], "object": kind.thing}


def _files(nodes: dict[str, Node], ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield the core dumps that lie in the material, each once, however many fragments it has."""
    roots = [
        (place.name, node)
        for node in nodes.values()
        for place in node.places
        if place.scope == "root"
    ]
    seen = set()
    for source in ledger.sources:
        found = _FILE.search(source.address)
        whole = re.sub(r"\.FRAG-\d+$", "", source.address)
        if not found or whole in seen:
            continue
        seen.add(whole)
        own = [(len(root), node.id) for root, node in roots if source.address.startswith(root)]
        yield {
            "node": max(own)[1] if own else "",
            **_named(ProblemKind(FILE, found["what"])),
            "count": 1,
            "address": source.address,
        }


def uncovered(
    known: Sequence[Mapping[str, Any]],
    judgement: Judgement,
    tables: Mapping[str, Table],
    name: Callable[[str], str] = str,
) -> list[dict[str, Any]]:
    """Return the problems that no finding rests on, what is over last: the records of the document.

    tables  of the catalog: kb.esxi_event says what an event means and what ends it, kb.esxi_clear_event which events
            whose name says problem are none
    name    gives the name of a node, which evidence has, by its id
    """
    means = {str(cells["event_id"]): cells for cells in _own_rows(tables, "kb.esxi_event")}
    good = {str(cells["event_id"]) for cells in _own_rows(tables, "kb.esxi_clear_event")}
    told = {
        (evidence.node or finding.node, kind)
        for finding in judgement.findings
        for evidence, kind in _kinds(finding.evidence)
    }
    ends = {
        (one["node"], one["what"], one["object"]): str(one["last"])
        for one in known
        if one["kind"] == EVENT
    }
    harmless = [str(cells["pattern"]) for cells in _own_rows(tables, "kb.harmless_line")]
    found = []
    for one in known:
        what = one["what"]
        if one["kind"] == WARNING and any(re.search(pattern, one["text"]) for pattern in harmless):
            continue
        if what.startswith("esx.clear.") or what in good:
            continue
        said = words_of(one["text"]) if one["kind"] == WARNING else what
        if (name(one["node"]), ProblemKind(one["kind"], said, one["object"])) in told:
            continue
        meaning = means.get(what, {})
        ended = ends.get((one["node"], str(meaning.get("clear_id") or ""), one["object"]), "")
        over = ended if ended and ended >= str(one["last"]) else ""
        found.append({**one, "title": str(meaning.get("title") or ""), "ended": over})
    return sorted(found, key=_order)


def _order(one: Mapping[str, Any]) -> tuple[Any, ...]:
    place = one["node"], -one["count"], one["what"], one["object"], one["address"]
    return bool(one["ended"]), KINDS.index(one["kind"]), *place


def _kinds(evidence: Iterable[Evidence]) -> Iterator[tuple[Evidence, ProblemKind]]:
    """Yield each line of evidence with every problem that it tells of."""
    for one in evidence:
        for kind in (EVENT, ALERT, BACKTRACE, DUMP, WARNING):
            if found := kind_of(kind, one.text):
                yield one, found


def _own_rows(tables: Mapping[str, Table], name: str) -> Iterator[Mapping[str, Any]]:
    return tables[name].own_rows if name in tables else iter(())
