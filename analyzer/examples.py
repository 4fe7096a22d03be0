"""Runs the examples of a rule: rows by hand, log text, and raw text through the real readers.

Rows of an example stand on one node of the kind its rule speaks of; a row with `node: name`
stands on another. A file with a `path` goes the whole way of a dropped-in file; one with a
`command` or a `parser` goes straight to that parser.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer import parsing
from analyzer.errors import UsageError
from analyzer.facts import Facts
from analyzer.judge import judge, kinds_of
from analyzer.limits import Limits
from analyzer.rules import Catalog, Example, Rule
from analyzer.signatures import Scanner
from analyzer.tables import Block, Fault, Frame, Row, Table
from analyzer.verdicts import CannotTell, Finding, Judgement, Trace, Verdict

NODES = {"esxi": "esx-01", "nsx_manager": "nsxmgr-01", "nsx_controller": "controller-01", "guest": "guest-01"}
# Of several subjects the first of these verdicts is the result of the example.
_WORST = (Verdict.ERROR, Verdict.MATCH, Verdict.CANNOT_TELL, Verdict.NO_MATCH, Verdict.NOT_APPLICABLE)


@dataclass(slots=True)
class ExampleResult:
    """What an example gave: `ok` tells whether it is as expected (with `gap`: still known to fail)."""

    name: str
    ok: bool
    expected: dict[str, Any]
    got: dict[str, Any]
    trace: Trace | None = None
    gap: bool = False


def run(rule: Rule) -> list[ExampleResult]:
    """Run all examples of a rule, in the order of the file."""
    return [run_one(rule, example) for example in rule.examples]


def run_one(rule: Rule, example: Example) -> ExampleResult:
    """Run one example; a mark `gap` turns the result round: it must still fail."""
    facts = facts_of(rule, example)
    try:
        judgement = judge(Catalog([rule]), facts, explain=rule.id)
    finally:
        facts.close()
    got = outcome(judgement, rule.id)
    wrong = differences(example.expect, got, judgement)
    ok = bool(wrong) if example.gap else not wrong
    trace = next((item.trace for item in judgement.explained if item.verdict == got["result"]), None)
    if wrong:
        got["wrong"] = wrong
    return ExampleResult(example.name, ok, dict(example.expect), got, trace, example.gap)


def facts_of(rule: Rule, example: Example) -> Facts:
    """Return the facts of an example."""
    facts = _from_files(rule, example) if any("path" in file for file in example.files) else Facts()
    maker = _Maker(rule, example, facts)
    for name, rows in example.tables.items():
        maker.rows(name, rows)
    for name, text in example.logs.items():
        maker.log(name, text)
    for file in example.files:
        if "path" not in file:
            maker.file(file)
    for name in example.cut:
        facts.cover(maker.home, name, "cut", "the example cuts it here")
    return facts


class _Maker:
    """Puts the parts of one example into facts."""

    def __init__(self, rule: Rule, example: Example, facts: Facts) -> None:
        self.rule, self.example, self.facts = rule, example, facts
        self.tables = facts.tables
        kind = kinds_of(rule.each.table)[0]
        self.home = NODES.get(kind, f"{kind}-01")
        self.order = 1000  # after everything that came from files
        if example.tables or example.logs or not example.files:
            facts.node(self.home, self.home, kind, captured="2017-10-31T12:00:00Z")

    def rows(self, name: str, rows: list[dict[str, Any]] | None) -> None:
        table = self.tables[name]
        if rows is None:
            return
        self.facts.cover(self.home, name, "read")
        blocks: dict[tuple[str, str], Block] = {}
        for row in rows:
            node, taken = str(row.get("node") or self.home), str(row.get("taken") or "")
            if node not in self.facts.nodes:
                self.facts.node(node, node, kinds_of(table)[0])
            block = blocks.get((node, taken))
            if block is None:
                block = blocks[node, taken] = self._block(name, node, taken)
            values = {column.name: row.get(column.name) for column in table.columns}
            block.lines.append(", ".join(f"{key}: {value}" for key, value in row.items()))
            self.facts.add(Row(table, values, block, len(block.lines)))

    def _block(self, name: str, node: str, taken: str = "") -> Block:
        self.order += 1
        return Block([], 1, f"example!{name}", node, taken=taken, order=self.order)

    def log(self, name: str, text: str | None) -> None:
        if text is None:
            return
        scanner = Scanner(Catalog([self.rule]).signatures(), engine="pure")
        scan = scanner.scan_lines(text.splitlines(), name, f"example!{name}", self.home)
        self.facts.add_hits(scan)

    def file(self, file: dict[str, str]) -> None:
        """Read text by the parser that a command or a name tells."""
        command = file.get("command", "")
        for parser in parsing.registry().values():
            found = parser.match_command(command) if command else None
            if found is None and parser.name != file.get("parser"):
                continue
            if parser.log:
                self.log(parser.tables[0].name, file["text"])
                return
            self.order += 1
            block = Block(file["text"].splitlines(), 1, f"example!{parser.name}", self.home, command, order=self.order)
            block.node = file.get("node", self.home)
            block.params = {key: value for key, value in found.groupdict().items() if value} if found else {}
            self.facts.node(block.node, block.node, file.get("kind") or parser.node)
            raw = (f"{line}\n".encode() for line in block.lines)
            self._take(parser.stream(block, raw) if parser.stream else parser.parse(block), parser.tables, block)
            return
        raise UsageError(
            f"no parser reads `{command or file.get('parser', '')}`",
            where=f"{self.rule.id}, example {self.example.name}",
            do="Give the file a `path`, a `command` or a `parser` that exists.",
        )

    def _take(self, items: Iterable[Row | Frame | Fault], tables: tuple[Table, ...], block: Block) -> None:
        for item in items:
            if isinstance(item, Row):
                self.facts.add(item)
            elif isinstance(item, Frame):
                self.facts.add_frame(item)
        for table in tables:
            self.facts.cover(block.node, table.name, "read", address=block.address)


def _from_files(rule: Rule, example: Example) -> Facts:
    """Return the facts of files with a path, read from a temporary folder as a case is."""
    from analyzer import triage  # noqa: PLC0415 - only these examples need the whole pipeline
    from analyzer.nodes import resolve  # noqa: PLC0415
    from analyzer.sources import Ledger  # noqa: PLC0415
    from analyzer.sources.kinds import KindFinder  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="backline-example-") as name:
        folder = Path(name).resolve()
        for file in example.files:
            if "path" not in file:
                continue
            target = (folder / file["path"]).resolve()
            if not target.is_relative_to(folder):
                raise UsageError(f"the path {file['path']!r} leaves its folder", where=f"{rule.id}, {example.name}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file["text"], encoding="utf-8")
        ledger, kinds = Ledger(), KindFinder()
        scanner = Scanner(Catalog([rule]).signatures(), engine="pure")
        intake = triage.read_case([folder], ledger, kinds, scanner, triage.Options(limits=Limits()))
        return triage.gather(intake, resolve(intake, kinds), ledger)


def outcome(judgement: Judgement, rule: str) -> dict[str, Any]:
    """Return what a rule said of an example, in the words of `expect`."""
    counts = judgement.counts.get(rule, {})
    result = next((verdict for verdict in _WORST if counts.get(verdict.value)), Verdict.NO_MATCH)
    got: dict[str, Any] = {"result": result.value, "count": counts.get(result.value, 0)}
    if result in (Verdict.MATCH, Verdict.ERROR) and judgement.findings:
        first = judgement.findings[0]
        got |= {name: getattr(first, name) for name in ("severity", "confidence", "say", "subject", "object")}
        got |= {"also": list(first.also), "maybe_worse": list(first.maybe_worse)}
    if result is Verdict.CANNOT_TELL and judgement.cannot_tell:
        unsure = judgement.cannot_tell[0]
        got |= {"missing": unsure.missing, "reason": unsure.reason, "why": unsure.why, "ask": unsure.ask}
    return got


def differences(expect: Any, got: dict[str, Any], judgement: Judgement) -> list[str]:
    """Return in words what is not as expected; one finding (or one doubt) must fulfil all of it."""
    wrong = [
        f"{name} is {got[name]}, expected {expect[name]}"
        for name in ("result", "count")
        if name in expect and str(expect[name]) != str(got[name])
    ]
    rest = {name: value for name, value in expect.items() if name not in ("result", "count")}
    if wrong or not rest:
        return wrong
    told: list[Finding] | list[CannotTell] = judgement.findings or judgement.cannot_tell
    if expect["result"] == Verdict.CANNOT_TELL.value:
        told = judgement.cannot_tell
    each = [[text for name, value in rest.items() if (text := _unlike(name, value, one))] for one in told]
    return min(each, key=len, default=[f"nothing was said, expected {rest}"])


def _unlike(name: str, wanted: Any, one: Finding | CannotTell) -> str:
    """Return how one finding misses an expectation, or nothing."""
    if name == "evidence":
        shown = [f"{item.label} {item.text}" for item in getattr(one, "evidence", [])]
    elif name == "missing" and isinstance(one, CannotTell):
        shown = [one.missing, one.why]
    else:
        value = getattr(one, name, "")
        shown = list(value) if isinstance(value, list) else [str(value)]
    exact = name in ("severity", "confidence", "reason")
    for text in wanted if isinstance(wanted, list) else [wanted]:
        if not any(str(text) == item if exact else str(text) in item for item in shown):
            return f"{name} is {'; '.join(shown) or 'empty'}, expected {text}"
    return ""


def tree(trace: Trace | None, depth: int = 0) -> str:
    """Return a trace as indented lines: expression = value (note) at address:line."""
    if trace is None:
        return ""
    note = f"      ({trace.note})" if trace.note else ""
    at = f"      {trace.at}" if trace.at else ""
    lines = [f"{'  ' * depth}{trace.text}  =  {trace.value}{note}{at}"]
    return "\n".join([*lines, *(tree(child, depth + 1) for child in trace.children)])
