"""What a host itself calls a problem: problem events, ALERT lines, backtraces, core dumps.

They are counted by kind while logs are searched, whether or not a rule knows them. What no finding rests on is listed
below the findings, so that nothing bad is in the logs and not in the report.

Sources of the forms: events as in parsers/esxi/logs/esx_event.py; `ALERT:` of vmkernel.log (KB 1030265, 318611); a frame of a
backtrace `0x4390cc81be50:[0x418020d03f71]func@module#ver+0x29 stack: …`; `UserDump: … Dumping cartel … to file
/var/core/NAME-zdump.000` (KB 433552, and public captures of 4.x).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from analyzer.artefacts import logtime, parsing
from analyzer.artefacts.loghost import name_object
from analyzer.artefacts.tables import Table
from analyzer.case.verdicts import Judgement
from analyzer.ingest.chosen_lines import KIND as WARNING
from analyzer.ingest.chosen_lines import extract_words, make_warning_records, mask_numbers
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
_FULLEST = ("esxi.vobd", "esxi.vmkernel")  # logs that hold what the others repeat
LOOKED_AT = 8192  # characters of a line

_ALERT = re.compile(
    r"(?:\)ALERT: |\bvmkalert: (?:cpu\d+:\d+(?: opID=[\w-]+)?\))?|(?=@BlueScreen: ))(?P<what>.+)"
)
# the frame that prints the backtrace comes first in many: the next one distinguishes them
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
    """What distinguishes problems of a host: an event with its object, an ALERT by its words, …"""

    kind: str
    what: str
    thing: str = ""


def classify_problem(kind: str, text: str) -> ProblemKind | None:
    """Return the problem of a kind that a line reports, None when it reports none."""
    text = text[:LOOKED_AT]
    if kind == WARNING:
        return ProblemKind(kind, extract_words(text))
    if kind == EVENT:
        found = _EVENT.search(text)
        return ProblemKind(kind, found["what"], name_object(text[found.end() :])) if found else None
    if kind == ALERT:
        found = _ALERT.search(text)
        words = found["what"].removeprefix("ALERT: ") if found else ""
        if not words.strip():
            return None
        # secrets first: with its numbers as N a hash ($6$…) is no longer recognised
        return ProblemKind(kind, mask_numbers(hide_around([], words, [])[1]))
    found = (_FRAME if kind == BACKTRACE else _DUMP).search(text)
    if found is None:
        return None
    what = found["what"]
    return ProblemKind(kind, re.sub(r"[.\d]+$", "", what) if kind == DUMP else what)


def _make_signature(kind: str, table: str, pattern: str, *, runs: bool = False) -> Signature:
    """Return the signature that counts the problems of a kind in a log."""

    def join_kind(text: str) -> str:
        found = classify_problem(kind, text)
        return "\x1f".join(found) if found else ""

    name = f"{_PREFIX}{kind} of {table}"
    return Signature(name, table, pattern, kind_of=join_kind, runs=runs)


_ALERT_WORDS = r"\)ALERT: |\bvmkalert: |@BlueScreen: "
_DUMP_WORDS = r"\bUserDump: \d+: .*Dumping cartel"
# the heading has no kind, so that it ends the backtrace before it
_FRAMES = r"Backtrace for current CPU|:\[0x[0-9a-f]+\][^\s@]+@"
PROBLEM_SIGNATURES = (
    _make_signature(EVENT, "esxi.event", r"\besx\.(?:problem|clear)\."),
    _make_signature(ALERT, "esxi.vmkernel", _ALERT_WORDS),
    _make_signature(DUMP, "esxi.vmkernel", _DUMP_WORDS),
    _make_signature(BACKTRACE, "esxi.vmkernel", _FRAMES, runs=True),
    _make_signature(ALERT, "esxi.vmkwarning", _ALERT_WORDS),
    _make_signature(DUMP, "esxi.vmkwarning", _DUMP_WORDS),
    _make_signature(BACKTRACE, "esxi.vmkwarning", _FRAMES, runs=True),
)


class _CountedLine(NamedTuple):
    """The first or the last line of a problem in one log; they are ordered by time."""

    time: str
    address: str
    line: int
    text: str


@dataclass(slots=True)
class _Total:
    """Lines of one problem in one log of a host."""

    count: int = 0
    first: _CountedLine | None = None
    last: _CountedLine | None = None

    def add_tally(self, scan: LogScan, tally: Tally) -> None:
        """Take the lines of one member."""
        self.count += tally.count
        ends = []
        for line, text in (tally.first, tally.last):
            shown = hide_around([], text, [])[1]
            ends.append(_CountedLine(logtime.iso(shown), scan.address, line, shown[:TEXT]))
        first, last = ends
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)


def find_problems(intake: Intake, nodes: dict[str, Node], ledger: Ledger) -> list[dict[str, Any]]:
    """Return every problem that the logs report, with count, first and last, and the core dumps among the members.

    The same line in two logs of a host counts once: of logs that report one problem the fullest counts. Call it when
    scans are named and duplicates are out.
    """
    totals: dict[tuple[str, ProblemKind], dict[str, _Total]] = defaultdict(dict)
    declared = parsing.tables()
    # the log of a copy is searched for the same
    scans = [scan for scan in intake.scans if not is_copy(scan, declared)]
    for scan, name, key, tally in find_counted(scans, _PREFIX):
        problem = ProblemKind(name.partition(" of ")[0], "")
        if key != OTHERS:
            problem = ProblemKind(*key.split("\x1f"))
        logs = totals[scan.node, problem]
        logs.setdefault(scan.part_of or scan.table, _Total()).add_tally(scan, tally)

    records: list[dict[str, Any]] = []
    for (node, problem), logs in totals.items():
        records.append({"node": node} | _name_problem(problem) | _describe_lines(logs))
    records += _find_dump_files(nodes, ledger)
    node_of = {key: node.id for key, node in nodes.items()}
    return records + make_warning_records(intake.chosen, node_of)


def _name_problem(problem: ProblemKind) -> dict[str, Any]:
    what = hide_around([], problem.what, [])[1]
    return {"kind": problem.kind, "what": what, "object": problem.thing}


def _describe_lines(logs: Mapping[str, _Total]) -> dict[str, Any]:
    """Return count, first and last line of a problem, by the log that has most of its lines."""

    def order(name: str) -> tuple[int, bool, str]:
        return -logs[name].count, name not in _FULLEST, name

    fullest = logs[min(logs, key=order)]
    first, last = fullest.first, fullest.last
    assert first is not None and last is not None
    return {
        "count": fullest.count,
        "first": first.time,
        "last": last.time,
        "address": first.address,
        "line": first.line,
        "text": first.text,
        "last_address": last.address,
        "last_line": last.line,
    }


def _find_dump_files(nodes: dict[str, Node], ledger: Ledger) -> list[dict[str, Any]]:
    """Return the core dumps that lie in the material, each once, however many fragments it has."""
    roots: dict[str, str] = {}
    for node in nodes.values():
        for place in node.places:
            if place.scope == "root":
                roots[place.name] = node.id
    records: dict[str, dict[str, Any]] = {}
    for source in ledger.sources:
        address = source.address
        found = _FILE.search(address)
        file = re.sub(r"\.FRAG-\d+$", "", address)
        if found is None or file in records:
            continue
        own = [(len(root), node) for root, node in roots.items() if address.startswith(root)]
        record = {"node": max(own)[1] if own else ""}
        record |= _name_problem(ProblemKind(FILE, found["what"]))
        records[file] = record | {"count": 1, "address": address}
    return list(records.values())


def list_uncovered(
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
    meanings = {str(cells["event_id"]): cells for cells in _read_rows(tables, "kb.esxi_event")}
    good = {str(cells["event_id"]) for cells in _read_rows(tables, "kb.esxi_clear_event")}
    harmless = [str(cells["pattern"]) for cells in _read_rows(tables, "kb.harmless_line")]
    ends: dict[tuple[str, str, str], str] = {}
    for one in known:
        if one["kind"] == EVENT:
            ends[one["node"], one["what"], one["object"]] = str(one["last"])
    covered = _find_covered(judgement)

    found = []
    for one in known:
        node, kind, what, thing = one["node"], one["kind"], one["what"], one["object"]
        is_warning = kind == WARNING
        if is_warning and any(re.search(pattern, one["text"]) for pattern in harmless):
            continue
        if what.startswith("esx.clear.") or what in good:
            continue
        words = extract_words(one["text"]) if is_warning else what
        if (name(node), ProblemKind(kind, words, thing)) in covered:
            continue
        meaning = meanings.get(what, {})
        ended = ends.get((node, str(meaning.get("clear_id") or ""), thing), "")
        if ended < str(one["last"]):
            ended = ""
        found.append({**one, "title": str(meaning.get("title") or ""), "ended": ended})

    def order(one: Mapping[str, Any]) -> tuple[Any, ...]:
        place = one["node"], -one["count"], one["what"], one["object"], one["address"]
        return bool(one["ended"]), KINDS.index(one["kind"]), *place

    return sorted(found, key=order)


def _find_covered(judgement: Judgement) -> set[tuple[str, ProblemKind]]:
    """Return node and problem of each line that a finding rests on."""
    covered = set()
    for finding in judgement.findings:
        for evidence in finding.evidence:
            for kind in (EVENT, ALERT, BACKTRACE, DUMP, WARNING):
                if problem := classify_problem(kind, evidence.text):
                    covered.add((evidence.node or finding.node, problem))
    return covered


def _read_rows(tables: Mapping[str, Table], name: str) -> Iterator[Mapping[str, Any]]:
    return tables[name].own_rows if name in tables else iter(())
