"""Runs the examples of a rule: rows by hand, log text, and raw text through the real readers.

Rows of an example are on one node of the kind its rule speaks of; a row with `node: name`
is on another. A file with a `path` goes the whole way of a dropped-in file; one with a
`command` or a `parser` goes straight to that parser.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Fault, Frame, Row, Table, name_blocks
from analyzer.case.verdicts import CannotTell, Finding, Judgement, Trace, Verdict
from analyzer.facts import Facts, SharedRows
from analyzer.ingest.nodes import OTHER, resolve_nodes
from analyzer.judge import judge, judge_cases, kinds_of
from analyzer.pipeline import triage
from analyzer.rules import Catalog, Example, Rule
from analyzer.rules.language.rulefile import FileSpan
from analyzer.rules.short_examples import own_path
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.scan.parts import parts_of
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder

NODES = {
    "esxi": "esx-01", "nsx_manager": "nsxmgr-01", "nsx_controller": "controller-01", "guest": "guest-01",
    "nsxt_manager": "nsxt-mgr-01", "nsxt_edge": "nsxt-edge-01",
}  # fmt: skip
# Of several subjects the first of these verdicts is the result of the example.
_WORST = (
    Verdict.ERROR,
    Verdict.MATCH,
    Verdict.CANNOT_TELL,
    Verdict.NO_MATCH,
    Verdict.NOT_APPLICABLE,
)


@dataclass(frozen=True, slots=True)
class Unlike:
    """One expectation that is not met: its name, what it is, what was expected."""

    name: str
    got: str
    expected: str

    def __str__(self) -> str:
        return f"{self.name} is {self.got or 'empty'}, expected {self.expected}"


@dataclass(slots=True)
class ExampleResult:
    """What an example gave: `ok` tells whether it is as expected (with `gap`: still known to fail).

    unlike  what is not as expected; trace: why, for an example that failed
    place   where the example is in its rule file
    error   why the example could not be made into a case
    """

    name: str
    ok: bool
    expected: dict[str, Any]
    got: dict[str, Any]
    trace: Trace | None = None
    gap: bool = False
    place: FileSpan = field(default_factory=FileSpan)
    unlike: list[Unlike] = field(default_factory=list)
    error: str = ""


def run(rule: Rule) -> list[ExampleResult]:
    """Run all examples of a rule at once, in the order of the file; a failing one has its trace."""
    shared = Shared()
    judgements = judge_cases(
        rule, {example.name: facts_of(rule, example, shared) for example in rule.examples}
    )
    found = [result_of(rule, example, judgements[example.name]) for example in rule.examples]
    for example, result in zip(rule.examples, found, strict=True):
        if not result.ok:
            result.trace = why(rule, example, result.got["result"], shared)
    return found


def run_one(rule: Rule, example: Example) -> ExampleResult:
    """Run one example alone; a failing one has its trace. With `gap` it must still fail."""
    facts = facts_of(rule, example)
    try:
        result = result_of(rule, example, judge(Catalog([rule]), facts))
        if not result.ok:
            result.trace = _find_trace(rule, facts, result.got["result"])
    finally:
        facts.close()
    return result


def result_of(rule: Rule, example: Example, judgement: Judgement) -> ExampleResult:
    """Return the result of an example from what its rule said of it."""
    got = outcome(judgement, rule.id)
    unlike = differences(example.expect, got, judgement)
    if unlike:
        got["wrong"] = [str(one) for one in unlike]
    if example.gap:
        ok = bool(unlike)
    else:
        ok = not unlike
    return ExampleResult(
        example.name, ok, dict(example.expect), got, None, example.gap, example.place, unlike
    )


def why(rule: Rule, example: Example, result: str, shared: Shared | None = None) -> Trace | None:
    """Return the trace of the first subject of an example with this result; `shared` as in `facts_of`."""
    facts = facts_of(rule, example, shared)
    try:
        return _find_trace(rule, facts, result)
    finally:
        facts.close()


def _find_trace(rule: Rule, facts: Facts, result: str) -> Trace | None:
    """Return the tree of the first subject that has this verdict."""
    explained = judge(Catalog([rule]), facts, explain=rule.id).explained
    for item in explained:
        if item.verdict == result:
            return item.trace
    return None


class Shared:
    """Rows that several examples of a rule have in common, because one is `like` another: made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int, str], tuple[object, SharedRows]] = {}

    def rows(
        self, written: list[dict[str, Any]], place: int, home: str, make: Callable[[], list[Row]]
    ) -> SharedRows:
        """Return the rows made of some written ones, for the same place in an example and the same node."""
        key = (id(written), place, home)
        if key not in self._made:
            self._made[key] = (written, SharedRows(make()))
        return self._made[key][1]


def facts_of(
    rule: Rule, example: Example, shared: Shared | None = None, scanner: Scanner | None = None
) -> Facts:
    """Return the facts of an example; `shared` is for all examples of one rule.

    scanner  searches the logs for what other rules than the example's own ask as well
    """
    if scanner is None:
        scanner = Scanner(Catalog([rule]).signatures(), engine="pure")
    if any("path" in file for file in example.files):
        facts = _from_files(rule, example, scanner)
    else:
        facts = Facts()
    maker = _Maker(rule, example, facts, shared or Shared(), scanner)
    for place, (name, rows) in enumerate(example.tables.items()):
        maker.rows(name, rows, place)
    for name, text in example.logs.items():
        maker.log(name, text)
    for file in example.files:
        if "path" not in file:
            maker.file(file)
    for name in example.cut:
        facts.cover(maker.home, name, "cut", "the example cuts it here")
    return facts


def _find_kind(table: Table) -> str:
    """Return the kind of node that an example of a table is about; one that nobody lacks stands on any machine."""
    return next(iter(kinds_of(table)), OTHER)


class _Maker:
    """Puts the parts of one example into facts."""

    def __init__(
        self, rule: Rule, example: Example, facts: Facts, shared: Shared, scanner: Scanner
    ) -> None:
        self.rule, self.example, self.facts, self.shared = rule, example, facts, shared
        self.scanner = scanner
        self.tables = facts.tables
        kind = _find_kind(rule.each.table)
        self.home = NODES.get(kind, f"{kind}-01")
        self.order = 1_000_000  # of files, after everything else
        if example.tables or example.logs or not example.files:
            facts.node(self.home, self.home, kind, captured="2017-10-31T12:00:00Z")

    def rows(self, name: str, rows: list[dict[str, Any]] | None, place: int) -> None:
        """Add the rows of a table; `place` is its place among the tables of the example."""
        if rows is None:
            return
        table = self.tables[name]
        self.facts.cover(self.home, name, "read")
        made = self.shared.rows(rows, place, self.home, lambda: self._make_rows(table, rows, place))
        for node in dict.fromkeys(block.node for block, _ in made.places):
            if node not in self.facts.nodes:
                self.facts.node(node, node, _find_kind(table))
        self.facts.share(table, made)

    def _make_rows(self, table: Table, rows: list[dict[str, Any]], place: int) -> list[Row]:
        """Return the rows of a table of an example as records of the host they name."""
        blocks: dict[tuple[str, str], Block] = {}
        made: list[Row] = []
        shown, before = "", None
        for row in rows:
            node = str(row.get("node") or self.home)
            taken = str(row.get("taken") or "")
            block = blocks.get((node, taken))
            if block is None:
                order = 1000 * (1 + place) + len(blocks)
                block = blocks[node, taken] = Block(
                    [], 1, f"example!{table.name}", taken=taken, order=order
                ).assign_node(node)
            if row != before:  # a series repeats its row
                parts = []
                for key, value in row.items():
                    parts.append(f"{key}: {value}")
                shown = ", ".join(parts)
                before = row
            block.lines.append(shown)
            made.append(Row(table, row, block, len(block.lines)))
        return made

    def log(self, name: str, text: str | None) -> None:
        """Search the lines of a log of an example."""
        if text is None:
            return
        address = (
            own_path(self.tables[name]) or name
        )  # of some logs the path tells whose lines they are
        place = f"example!{address}"
        scan = self.scanner.scan_lines(
            text.splitlines(), name, place, parts=parts_of(self.tables.values(), name, place, "")
        )
        for one in scan.share_with_parts():
            self.facts.add_hits(one.assign_node(self.home))

    def file(self, file: dict[str, str]) -> None:
        """Read text by the parser that a command or a name tells."""
        command = file.get("command", "")
        for parser in sorted(parsing.registry().values(), key=lambda one: one.rest):
            found = None
            if command:
                found = parser.match_command(command)
            if found is None and parser.name != file.get("parser"):
                continue
            if parser.log:
                self.log(parser.tables[0].name, file["text"])
                return
            self.order += 1
            node = file.get("node", self.home)
            block = Block(
                file["text"].splitlines(),
                1,
                f"example!{parser.name}",
                command=command,
                order=self.order,
            )
            if found:
                block.params = {key: value for key, value in found.groupdict().items() if value}
            else:
                block.params = {}
            self.facts.node(node, node, file.get("kind") or parser.node)
            raw = (f"{line}\n".encode() for line in block.lines)
            found_in = [
                *(parser.stream(block, raw, None) if parser.stream else parser.parse(block))
            ]
            self._take([item for item in found_in if not isinstance(item, Fault)], node)
            for table in parser.tables:
                self.facts.cover(node, table.name, "read", address=block.address)
            return
        raise UsageError(
            f"no parser reads `{command or file.get('parser', '')}`",
            where=f"{self.rule.id}, example {self.example.name}",
            do="Give the file a `path`, a `command` or a `parser` that exists.",
        )

    def _take(self, items: Sequence[Row | Frame], node: str) -> None:
        """Keep rows and samples under a host."""
        name_blocks(items, lambda _scope: node)
        for item in items:
            if isinstance(item, Row):
                self.facts.add(item)
            else:
                self.facts.add_frame(item)


def _from_files(rule: Rule, example: Example, scanner: Scanner) -> Facts:
    """Return the facts of files with a path, read from a temporary folder as a case is."""

    with tempfile.TemporaryDirectory(prefix="backline-example-") as name:
        folder = (
            Path(name).resolve() / "example"
        )  # files that name no machine are one of this name, the same each time
        folder.mkdir()
        for file in example.files:
            if "path" not in file:
                continue
            target = (folder / file["path"]).resolve()
            if not target.is_relative_to(folder):
                raise UsageError(
                    f"the path {file['path']!r} leaves its folder",
                    where=f"{rule.id}, {example.name}",
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file["text"], encoding="utf-8")
        ledger, kinds = Ledger(), KindFinder()
        intake = triage.read_case([folder], ledger, kinds, scanner, triage.Options(limits=Limits()))
        facts = triage.gather(intake, resolve_nodes(intake, kinds), ledger)
    for node in facts.nodes.values():
        node.loose = False  # the few lines of an example stand for a whole log
    return facts


def outcome(judgement: Judgement, rule: str) -> dict[str, Any]:
    """Return what a rule said of an example, in the words of `expect`."""
    counts = judgement.counts.get(rule, {})
    result = next((verdict for verdict in _WORST if counts.get(verdict.value)), Verdict.NO_MATCH)
    got: dict[str, Any] = {"result": result.value, "count": counts.get(result.value, 0)}
    if result in (Verdict.MATCH, Verdict.ERROR) and judgement.findings:
        first = judgement.findings[0]
        got |= {
            name: getattr(first, name)
            for name in ("severity", "confidence", "say", "subject", "object")
        }
        got |= {
            "also": list(first.also),
            "maybe_worse": list(first.maybe_worse),
            "fix": steps_of(first),
        }
    if result is Verdict.CANNOT_TELL and judgement.cannot_tell:
        unsure = judgement.cannot_tell[0]
        got |= {
            "missing": unsure.missing,
            "reason": unsure.reason,
            "why": unsure.why,
            "ask": unsure.ask,
        }
    return got


def differences(expect: Any, got: dict[str, Any], judgement: Judgement) -> list[Unlike]:
    """Return what is not as expected; one finding (or one doubt) must fulfil all of it."""
    wrong = [
        Unlike(name, str(got[name]), str(expect[name]))
        for name in ("result", "count")
        if name in expect and str(expect[name]) != str(got[name])
    ]
    rest = {name: value for name, value in expect.items() if name not in ("result", "count")}
    if wrong or not rest:
        return wrong
    answers: list[Finding] | list[CannotTell] = judgement.findings or judgement.cannot_tell
    if expect["result"] == Verdict.CANNOT_TELL.value:
        answers = judgement.cannot_tell
    each = [
        [one for name, value in rest.items() if (one := _unlike(name, value, thing))]
        for thing in answers
    ]
    nothing = []
    for name, value in rest.items():
        nothing.append(Unlike(name, "", "; ".join(_texts(value))))
    return min(each, key=len, default=nothing)


def _unlike(name: str, wanted: Any, one: Finding | CannotTell) -> Unlike | None:
    """Return how one finding misses an expectation, or None."""
    if name == "evidence":
        shown = []
        for item in getattr(one, "evidence", []):
            shown.append(f"{item.label} {item.text}")
    elif name in ("fix", "no_fix"):
        shown = steps_of(one)
    elif name == "missing" and isinstance(one, CannotTell):
        shown = [one.missing, one.why]
    else:
        value = getattr(one, name, "")
        if isinstance(value, list):
            shown = list(value)
        else:
            shown = [str(value)]
    if name == "no_fix":
        found = next(
            (text for text in _texts(wanted) for step in steps_of(one) if text in step), ""
        )
        if found:
            return Unlike(name, found, "no such step")
        return None
    exact = name in ("severity", "confidence", "reason")
    if wanted == [] and any(shown):
        return Unlike(name, "; ".join(shown), "nothing")
    for text in _texts(wanted):
        if not any(text == item if exact else text in item for item in shown):
            return Unlike(name, "; ".join(shown), text)
    return None


def steps_of(one: Finding | CannotTell) -> list[str]:
    """Return the steps of a finding's remedy, each as one text; steps with unknown values are left out."""
    steps = []
    if isinstance(one, Finding):
        steps = one.fix
    return [
        " ".join(filter(None, (step.where, step.do, step.run, step.note, step.caution)))
        for step in steps
    ]


def _texts(wanted: Any) -> list[str]:
    """Return one text or several as a list."""
    if isinstance(wanted, list):
        return [str(text) for text in wanted]
    return [str(wanted)]


def tree(trace: Trace | None, depth: int = 0) -> str:
    """Return a trace as indented lines: expression = value (note) at address:line."""
    if trace is None:
        return ""
    note = ""
    if trace.note:
        note = f"      ({trace.note})"
    at = ""
    if trace.at:
        at = f"      {trace.at}"
    lines = [f"{'  ' * depth}{trace.text}  =  {trace.value}{note}{at}"]
    return "\n".join([*lines, *(tree(child, depth + 1) for child in trace.children)])
