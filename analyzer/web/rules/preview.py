"""`python -m analyzer.web.rules.preview`: the process that judges a rule while it is typed into the page.

A rule may be anybody's: here it can take all the time and memory it wants, the server ends this process then.
The first line of stdin is the order, JSON; its end means that the server is gone, and so must this process be.

    {"do": "watch", "files" | "path" | "stored" | "examples", …}
                                          the case, or none; then a line {"run": n, "file": path} for each text
    {"do": "backtest", "file": path, …}   one rule over all stored cases

Both say how the desk reads and judges (`RunOptions.record`): further rules, settings, packs.

What happens goes out as lines of JSON: {"type": "reading"}, {"type": "shown", "run": n, "shown": {…}},
{"type": "progress", "done", "total"}, {"type": "report", …}, {"type": "error", "run", "error": {…}}.
"""

from __future__ import annotations

import json
import os
import queue
import re
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from analyzer.archive.backtests import text as backtest_text
from analyzer.archive.backtests.backtest import BacktestRequest, backtest_rules
from analyzer.archive.query.browse import parse_window
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.authoring.explain import explain_text
from analyzer.authoring.explain.casework import CaseRead
from analyzer.authoring.explain.watch import RuleSession, WatchRun
from analyzer.rules import Catalog, run_catalog, typed
from analyzer.rules.run_options import RunOptions
from analyzer.rules.sources import RuleSource
from analyzer.runtime import garbage
from analyzer.runtime.errors import BacklineError, RefusedError
from analyzer.runtime.text import make_visible, one_line
from analyzer.web.cases.labelled import NamedFile, list_labelled
from analyzer.web.cases.progress_writer import ProgressWriter
from analyzer.workers.lifetime import end_with, own_stdout

if TYPE_CHECKING:
    from analyzer.artefacts.tables import Block
    from analyzer.authoring.explain.explain import Explanation
    from analyzer.facts import Facts
    from analyzer.rules import Rule

SUBJECTS = 60  # shown of one run, worst first
EVIDENCE, TREE = 12, 120  # lines of one subject
TEXT = 400  # characters of one line
LISTED = 200  # items of each list of a back-test
_BLANK, _NO_EXAMPLE = re.compile(r"\bR067\b"), re.compile(r"\bR07[01]\b")
_KEY = re.compile(r"^ *\d+\| *(?:- )?([a-z_]+):", re.MULTILINE)  # of the cited line of a rule
_AT = re.compile(r"^\s*--> .*?:(\d+):(\d+)\s*$", re.MULTILINE)


class PreviewSession(RuleSession):
    """A session that tells when it reads the case; it can take the facts from an archive, or do without a case."""

    def __init__(self, path: Path, order: Mapping[str, Any], listener: ProgressWriter) -> None:
        self.listener, self.order = listener, order
        self._archive: Archive | None = None
        options = RunOptions.of_record(order)
        local, _ = options.local([Path(order["path"])] if order.get("path") else [])
        super().__init__(
            path, cast("Sequence[Path]", list_places(order)), options.folders(), local=local
        )

    def _find_source(self) -> RuleSource:
        return typed.source_of(self.path, self.local, self.kb, self.limits)

    def run(self) -> WatchRun:
        """Judge the rule over the case; without one over its own examples alone."""
        return self.prove() if self.order.get("examples") else super().run()

    def _read_case(self, rule: Rule, shown: WatchRun) -> CaseRead:
        wanted = tuple(Catalog([rule]).signatures())
        if self.case is not None and self.case.signatures == wanted:
            return self.case
        self.listener.write_line("reading")
        if not self.order.get("stored"):
            case = super()._read_case(rule, shown)
        else:
            if self.case is not None:
                shown.reread = "the signatures under `logs` changed, so the case was read again"
            self.close()
            case = self.case = self._recall_case(wanted)
            shown.read_s = case.seconds
        self.listener.write_line("read")
        return case

    def _recall_case(self, wanted: tuple[Any, ...]) -> CaseRead:
        """Return the stored facts of a case; logs were searched when it was read, not now."""

        start = perf_counter()
        if self._archive is None:
            self._archive = Archive.open(self.order["archive"])
        stored = self._archive.take_snapshot().find_case(self.order["stored"])
        facts = recall.recall_case(self._archive, stored, wanted).facts
        return CaseRead(facts, wanted, perf_counter() - start, blocks_of(facts))


def blocks_of(facts: Facts) -> dict[str, list[Block]]:
    """Return the stretches of text that stored rows are in, by address: evidence cites their lines."""
    blocks: dict[str, dict[int, Block]] = {}
    for name in facts.tables:
        for row in facts.store(name).rows:
            blocks.setdefault(row.block.address, {})[id(row.block)] = row.block
    return {address: [*found.values()] for address, found in blocks.items()}


def list_places(order: Mapping[str, Any]) -> list[Any]:
    """Return where the case lies: a path of this machine, uploaded files under their labels, or nowhere on the disk."""

    if order.get("path"):
        return [Path(order["path"])]
    return [
        *list_labelled(
            NamedFile(label, Path(path), modified)
            for label, path, modified in order.get("files", ())
        )
    ]


# --- a run as the page shows it ---


def run_record(shown: WatchRun) -> dict[str, Any]:
    """Return a run: complaints with their place, verdicts, subjects with tree and evidence, examples, times."""
    explanation = shown.explanation
    errors, hint = fold_unfinished(shown.errors)
    record: dict[str, Any] = {
        "rule": one_line(shown.rule, 200),
        "state": shown.state,
        "stale": shown.state == "broken" and explanation is not None,
        "errors": [complaint_record(text) for text in errors[:LISTED]],
        "warnings": [complaint_record(text) for text in shown.warnings[:LISTED]],
        "hint": hint,
        "read_s": round(shown.read_s, 2),
        "reread": shown.reread,
        "judge_ms": round(shown.judge_ms),
        "examples_ms": round(shown.examples_ms),
        "examples": [
            {
                "name": one_line(one.name, 200),
                "ok": one.ok,
                "gap": one.gap,
                "wrong": [one_line(said, TEXT) for said in one.wrong],
            }
            for one in shown.examples[:LISTED]
        ],
        "counts": {},
        "counted": "",
        "subjects": [],
        "more": 0,
        "silent": [],
        "notes": [],
        "failed": "",
    }
    return record if explanation is None else record | _explanation_record(explanation)


def _explanation_record(explanation: Explanation) -> dict[str, Any]:
    """Return what a rule says of the case."""
    return {
        "title": one_line(explanation.title, 300),
        "counts": explanation.counts,
        "counted": explain_text.count_verdicts(explanation.counts),
        "subjects": [subject_record(one) for one in explanation.subjects[:SUBJECTS]],
        "more": max(0, len(explanation.subjects) - SUBJECTS),
        "silent": [one_line(text, TEXT) for text in explanation.silent[:LISTED]],
        "notes": [one_line(text, TEXT) for text in explanation.notes[:LISTED]],
        "failed": one_line(explanation.failed, TEXT),
    }


def subject_record(one: Any) -> dict[str, Any]:
    """Return a subject: verdict, reasons, near miss, tree and evidence as lines."""
    tree = (
        []
        if one.trace is None
        else [line.text for line in explain_text.write_tree(one.trace, one.marks)]
    )
    return {
        "verdict": one.verdict,
        "subject": one_line(one.name, 200),
        "node": one_line(one.node, 200),
        "severity": one.severity,
        "confidence": one.confidence,
        "reasons": [
            one_line(text, 2 * TEXT) for text in [*explain_text.give_reasons(one), *one.also]
        ],
        "near": (one.near.distance or 0) if one.near is not None else 0,
        "tree": tree[:TREE],
        "evidence": [
            {
                "at": one_line(f"{item.address}:{item.line}" if item.line else item.address, TEXT),
                "label": one_line(item.label, TEXT),
                "text": one_line(item.text.strip(), TEXT),
            }
            for item in one.evidence[:EVIDENCE]
        ],
        "more": max(0, len(one.evidence) - EVIDENCE),
    }


def fold_unfinished(errors: Sequence[str]) -> tuple[list[str], str]:
    """Return the errors but those of a rule that is still being written, and one plain hint in their place.

    While a text of the skeleton is left, examples are not missing: they come last.
    """
    blanks = [text for text in errors if _BLANK.search(text)]
    if not blanks:
        return list(errors), ""
    keys = dict.fromkeys(found[1] for text in blanks if (found := _KEY.search(text)))
    rest = [text for text in errors if not (_BLANK.search(text) or _NO_EXAMPLE.search(text))]
    return (
        rest,
        f"To fill in, where it says TO DO: {', '.join(keys) or 'the texts'}. Then add examples.",
    )


def complaint_record(text: str) -> dict[str, Any]:
    """Return a complaint as it is laid out, and its line and column (1-based, 0 for none)."""
    at = _AT.search(text)
    shown = make_visible(text)
    return {
        "text": shown[:4000],
        "line": int(at[1]) if at else 0,
        "column": int(at[2]) if at else 0,
    }


# --- what this process does ---


class Preview:
    """One order."""

    def __init__(self, order: Mapping[str, Any], listener: ProgressWriter) -> None:
        self.order, self.listener = order, listener
        self.todo: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def judge_texts(self) -> None:
        """Judge every text that comes, until the server is gone."""
        session: PreviewSession | None = None
        while True:
            wanted = self.todo.get()
            try:
                path = Path(wanted["file"])
                if session is None:
                    session = PreviewSession(path, self.order, self.listener)
                session.path = path
                shown = session.run()
            except BacklineError as error:
                refused = isinstance(error, RefusedError)
                self.listener.write_line(
                    "error", run=wanted["run"], error=error.show_parts(), refused=refused
                )
            else:
                self.listener.write_line("shown", run=wanted["run"], shown=run_record(shown))

    def run_backtest(self) -> None:
        """Judge one rule over all stored cases, and tell the report."""

        order = self.order
        inside = parse_window(order["since"], order["until"])
        rule, released, errors = self._load_rules()
        if rule is None:
            self.listener.write_line("broken", errors=errors)
            return
        archive = Archive.open(order["archive"])
        report = backtest_rules(
            [BacktestRequest(rule, released)],
            archive,
            cases=order["cases"],
            window=inside,
            progress=self._tell_progress,
        )[0]
        record = report.to_record()
        lists = {name: len(record[name]) for name in record if isinstance(record[name], list)}
        cut = {name: record[name][:LISTED] for name in lists}
        text = "\n".join(backtest_text.format_report(report, 0))
        self.listener.write_line("report", report=record | cut, lengths=lists, text=text[:200_000])

    def _load_rules(self) -> tuple[Rule | None, Rule | None, list[dict[str, Any]]]:
        """Return the rule, the installed one of the same id, and why the rule cannot be used."""

        options = RunOptions.of_record(self.order)
        local, _ = options.local()
        source = typed.source_of(Path(self.order["file"]), local, options.folders(), options.limits)
        try:
            asked = run_catalog.load_run_catalog(
                local, only=[source], drafts=True, retired=True, tuned=True
            )
        except BacklineError as error:
            return None, None, [complaint_record(str(error))]
        if not asked.rules:
            return None, None, [complaint_record(str(error)) for error in asked.broken]
        rule = asked.rules[0]
        bare = replace(local, settings=replace(local.settings, kb=()))
        installed = run_catalog.load_run_catalog(bare, drafts=True, retired=True, tuned=False)
        return rule, next((one for one in installed.rules if one.id == rule.id), None), []

    def _tell_progress(self, done: int, total: int) -> None:
        self.listener.write_line("progress", done=done, total=total)

    def run_order(self) -> None:
        """Do what is ordered; an error is sent."""
        try:
            if self.order["do"] == "watch":
                self.judge_texts()
            else:
                self.run_backtest()
        except BacklineError as error:
            self.listener.write_line("error", run=0, error=error.show_parts(), refused=False)
        except Exception as error:  # noqa: BLE001 - whatever a rule does, the page gets the reason
            traceback.print_exc()
            what = {"what": "judging failed", "where": "", "do": "Please report it."}
            why = one_line(f"{type(error).__name__}: {error}", 500)
            self.listener.write_line("error", run=0, error=what | {"why": why}, refused=False)


def main() -> None:
    """Take an order from stdin and do it."""
    garbage.look_seldom()
    out = own_stdout()
    stdin = os.fdopen(0, "rb", closefd=False)
    first = stdin.readline()
    if not first.endswith(b"\n"):
        os._exit(1)
    order = json.loads(first)
    end_with(order["parent"], listen=False)
    trial = Preview(order, ProgressWriter(out))

    def listen() -> None:
        for line in stdin:
            trial.todo.put(json.loads(line))
        os._exit(1)  # the server is gone

    threading.Thread(target=listen, daemon=True).start()
    trial.listener.write_line("ready")
    trial.run_order()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
