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
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from analyzer.artefacts import logtime, parsing
from analyzer.artefacts.loghost import name_object
from analyzer.artefacts.tables import Tables
from analyzer.case.verdicts import Judgement
from analyzer.ingest.intake import Intake
from analyzer.ingest.nodes import Nodes
from analyzer.ingest.statements import mask_numbers
from analyzer.scan.hits import LogScan, Signature, Tally, decode_line
from analyzer.scan.parts import is_copy
from analyzer.scan.tallies import OTHERS, find_counted
from analyzer.secrets.values import hide_lone_line
from analyzer.signals import lines
from analyzer.signals.ages import LogFilePart, find_age
from analyzer.signals.answers import API_ERROR
from analyzer.signals.lines import ExcerptLine, LineKind, name_line
from analyzer.signals.templates import find_object
from analyzer.signals.word_odds import add_gain, find_word_gain, read_odds
from analyzer.sources import Ledger

EVENT, ALERT, BACKTRACE, DUMP, FILE = "event", "alert", "backtrace", "core dump", "core dump file"
LINE = lines.KIND
MASKED = frozenset({LINE})  # their words are those of their line, with # for names and numbers
# What the kinds weigh of themselves, on the scale of analyzer.signals.grammar.
WEIGHTS = {FILE: 6.5, DUMP: 6.5, BACKTRACE: 6.0, ALERT: 6.5, EVENT: 4.5}
TEXT = 300
ANSWER_LINES = 10  # around the code of an API error that are of the same answer
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


_OBSERVATION = re.compile(r"\[v(?:ob|prob)\.(?P<what>[A-Za-z0-9]\w*(?:\.\w+)*)\]? {0,3}")


class ProblemKind(NamedTuple):
    """What distinguishes problems of a host: an event with its object, an ALERT or a line by its words, …

    thing  the object of an event, the module of a line
    """

    kind: str
    what: str
    thing: str = ""


def classify_problem(kind: str, text: str) -> ProblemKind | None:
    """Return the problem of a kind that a line reports, None when it reports none."""
    text = text[:LOOKED_AT]
    if kind == LINE:
        module, template = name_line(text)
        return ProblemKind(kind, template, module)
    if kind == EVENT:
        found = _EVENT.search(text)
        return ProblemKind(kind, found["what"], name_object(text[found.end() :])) if found else None
    if kind == ALERT:
        found = _ALERT.search(text)
        words = found["what"].removeprefix("ALERT: ") if found else ""
        if not words.strip():
            return None
        # secrets first: with its numbers as N a hash ($6$…) is no longer recognised
        return ProblemKind(kind, mask_numbers(hide_lone_line(words)))
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


_KERNEL_LOGS = frozenset({"esxi.vmkernel", "esxi.vmkwarning"})


def is_reported(line: str) -> bool:
    """Say whether a line is counted as an event, an ALERT, a frame of a backtrace or a dump."""
    return any(pattern.search(line[:LOOKED_AT]) for pattern in (_EVENT, _ALERT, _FRAME, _DUMP))


def is_counted_as_problem(table: str, line: str) -> bool:
    """Say whether a line of a log is counted as one of the problems above: ALERTs, frames and dumps in two logs alone."""
    if table in _KERNEL_LOGS:
        return is_reported(line)
    return _EVENT.search(line[:LOOKED_AT]) is not None


@cache
def list_line_signatures() -> list[Signature]:
    """Return what counts the lines of each log that say trouble; the declarations of the tables are read for it."""
    return lines.make_line_signatures(parsing.tables().values(), is_counted_as_problem)


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
        for line, text in (tally.first, tally.last):
            self._add_end(scan.address, line, hide_lone_line(text))

    def add_line(self, line: ExcerptLine) -> None:
        """Take one line of an excerpt."""
        self.count += 1
        self._add_end(line.address, line.line, line.text)

    def _add_end(self, address: str, number: int, text: str) -> None:
        end = _CountedLine(logtime.format_iso(text), address, number, text[:TEXT])
        self.first = end if self.first is None else min(self.first, end)
        self.last = end if self.last is None else max(self.last, end)


def find_problems(intake: Intake, nodes: Nodes, ledger: Ledger) -> list[dict[str, Any]]:
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
        record = {"node": node} | _name_problem(problem) | _describe_lines(logs)
        records.append(record | {"weight": WEIGHTS[problem.kind], "why": [problem.kind]})
    records += _find_dump_files(nodes, ledger)
    node_of = {key: node.id for key, node in nodes.items()}
    chosen = [one for one in intake.chosen if not _is_among(totals, node_of[one.scope], one.text)]
    return records + _find_lines(scans, chosen, node_of)


def _is_among(problems: Container[tuple[str, ProblemKind]], node: str, text: str) -> bool:
    """Say whether a line is counted among the problems of a machine as an event, an ALERT, a frame or a dump."""
    for kind in (EVENT, ALERT, BACKTRACE, DUMP):
        problem = classify_problem(kind, text)
        if problem is not None and (node, problem) in problems:
            return True
    return False


def _name_problem(problem: ProblemKind) -> dict[str, Any]:
    what = hide_lone_line(problem.what)
    return {"kind": problem.kind, "what": what, "object": problem.thing}


def _choose_fullest(logs: Mapping[str, _Total]) -> str:
    """Return the log that has most lines of a problem."""

    def order(name: str) -> tuple[int, bool, str]:
        return -logs[name].count, name not in _FULLEST, name

    return min(logs, key=order)


def _describe_lines(logs: Mapping[str, _Total]) -> dict[str, Any]:
    """Return count, first and last line of a problem, by the log that has most of its lines."""

    fullest = logs[_choose_fullest(logs)]
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


def _find_lines(
    scans: Sequence[LogScan], chosen: Sequence[ExcerptLine], node_of: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the lines that say trouble: those that the search of logs counted, and those of excerpts."""
    found: dict[tuple[str, LineKind], list[tuple[LogScan, Tally]]] = defaultdict(list)
    files: dict[tuple[str, str], list[_LogFile]] = defaultdict(list)
    for scan in scans:
        if not scan.part_of and scan.lines:
            files[scan.node, scan.table].append(_LogFile.read_scan(scan))
    for scan, _, key, tally in find_counted(scans, lines.PREFIX):
        if not scan.part_of:
            kind = LineKind("", "", 0.0, ()) if key == OTHERS else LineKind.read_key(key)
            found[scan.node, kind].append((scan, tally))
    records = []
    for (node, kind), tallies in found.items():
        logs: dict[str, _Total] = {}
        for scan, tally in tallies:
            logs.setdefault(scan.table, _Total()).add_tally(scan, tally)
        fullest = _choose_fullest(logs)
        age = find_age(_list_parts(files[node, fullest], tallies))
        record = _make_line_record(node, kind, logs)
        words = find_word_gain(kind.module, kind.template, read_odds())
        aged = kind.weight + age.gain
        weight = add_gain(aged, words.gain)
        record |= {"weight": round(weight, 1), "age": age.word}
        why = [*kind.why, age.why, words.why if weight > aged else ""]
        record["why"] = [reason for reason in why if reason]
        records.append(record)

    in_excerpts: dict[tuple[str, LineKind], _Total] = {}
    for line in chosen:
        place = node_of[line.scope], line.kind
        if place not in found:
            in_excerpts.setdefault(place, _Total()).add_line(line)
    for (node, kind), total in in_excerpts.items():
        record = _make_line_record(node, kind, {"": total})
        records.append(record | {"weight": round(kind.weight, 1), "why": list(kind.why)})
    return records


def _make_line_record(node: str, kind: LineKind, logs: Mapping[str, _Total]) -> dict[str, Any]:
    record = {"node": node, "kind": LINE, "what": kind.template, "module": kind.module}
    record |= _describe_lines(logs)
    return record | {"object": find_object(record["text"])}


class _LogFile(NamedTuple):
    """A file of a log with its times, which are the same for every kind of line in it."""

    scan: LogScan
    begin: str
    end: str

    @classmethod
    def read_scan(cls, scan: LogScan) -> _LogFile:
        """Return the file of a scan."""
        begin = logtime.format_iso(decode_line(scan.first_stamped))
        return cls(scan, begin, logtime.format_iso(decode_line(scan.last_stamped)))


def _list_parts(
    files: Sequence[_LogFile], tallies: Sequence[tuple[LogScan, Tally]]
) -> list[LogFilePart]:
    """Return the files of a log with what one kind of line has in each."""
    counted = {id(scan): tally for scan, tally in tallies}
    parts = []
    for file in files:
        tally = counted.get(id(file.scan), Tally())
        first, last = (logtime.format_iso(text) for _, text in (tally.first, tally.last))
        parts.append(LogFilePart(file.scan.lines, file.begin, file.end, tally.count, first, last))
    return parts


def _find_dump_files(nodes: Nodes, ledger: Ledger) -> list[dict[str, Any]]:
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
        lone: dict[str, Any] = {"count": 1, "address": address, "weight": WEIGHTS[FILE]}
        records[file] = record | lone | {"why": [FILE]}
    return list(records.values())


def list_uncovered(
    known: Sequence[Mapping[str, Any]],
    judgement: Judgement,
    tables: Tables,
    name: Callable[[str], str] = str,
) -> list[dict[str, Any]]:
    """Return the problems that no finding rests on, with what the catalog says of events.

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
    reported = {(node, problem) for node, problem in covered if problem.kind == EVENT}
    reported |= {
        (name(one["node"]), ProblemKind(EVENT, one["what"], one["object"]))
        for one in known
        if one["kind"] == EVENT
    }

    answered = _find_answers(judgement)

    found = []
    for one in known:
        node, kind, what, thing = one["node"], one["kind"], one["what"], one["object"]
        is_line = kind == LINE
        if is_line and any(re.search(pattern, one["text"]) for pattern in harmless):
            continue
        if what.startswith("esx.clear.") or what in good:
            continue
        problem = ProblemKind(kind, what, one["module"] if is_line else thing)
        if (name(node), problem) in covered:
            continue
        if is_line and (name(node), name_event_made(one["text"])) in reported:
            continue
        if API_ERROR in one["why"] and (one["address"], one["line"]) in answered:
            continue
        meaning = meanings.get(what, {})
        ended = ends.get((node, str(meaning.get("clear_id") or ""), thing), "")
        if ended and ended < str(one["last"]):  # a file of a dump has no last line
            ended = ""
        found.append({**one, "title": str(meaning.get("title") or ""), "ended": ended})
    return found


def _find_answers(judgement: Judgement) -> set[tuple[str, int]]:
    """Return address and number of the lines of answers of an API that findings rest on: what is around its code."""
    return {
        (evidence.address, line)
        for finding in judgement.findings
        for evidence in finding.evidence
        if evidence.label.partition(" = ")[0].endswith(".api_code")
        for line in range(evidence.line - ANSWER_LINES, evidence.line + ANSWER_LINES + 1)
    }


def name_event_made(text: str) -> ProblemKind | None:
    """Return the problem event that vobd makes of what a line says, None where it names no observation.

    vobd writes an observation (`vob.scsi.device.io.latency.high`) and the event that it makes of it, with the same end.
    """
    found = _OBSERVATION.search(text)
    if found is None:
        return None
    return ProblemKind(EVENT, f"esx.problem.{found['what']}", name_object(text[found.end() :]))


def _find_covered(judgement: Judgement) -> set[tuple[str, ProblemKind]]:
    """Return node and problem of each line that a finding rests on."""
    covered = set()
    for finding in judgement.findings:
        for evidence in finding.evidence:
            for kind in (EVENT, ALERT, BACKTRACE, DUMP, LINE):
                if problem := classify_problem(kind, evidence.text):
                    covered.add((evidence.node or finding.node, problem))
    return covered


def _read_rows(tables: Tables, name: str) -> Iterator[Mapping[str, Any]]:
    return tables[name].own_rows if name in tables else iter(())
