"""What two versions of a catalog find in the same cases: stored ones, bundles, and the rules' own examples.

The cases of an archive are judged by the back-test, and every other case is held against the other version by the
back-test's own comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from analyzer.archive.backtests.backtest import BacktestRequest, backtest_rules
from analyzer.archive.backtests.jobs import BacktestHit, Said
from analyzer.archive.backtests.report import BacktestReport
from analyzer.archive.backtests.worker import RELEASED, note_differences
from analyzer.archive.store import Archive
from analyzer.authoring.compare.pairing import CHANGED, GONE, NEW, REWORDED, RulePair, pair_rules
from analyzer.authoring.explain import casework
from analyzer.case.verdicts import Judgement
from analyzer.judge import judge_cases
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Example
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits

# What can differ, in the order it is shown.
LOST, GAINED, OTHER, UNSURE, SETTLED = "lost", "gained", "changed", "unsure", "settled"
KINDS = (LOST, GAINED, OTHER, UNSURE, SETTLED)


@dataclass(slots=True)
class RuleDifference:
    """What one rule finds otherwise.

    lost, gained  findings of one version only; changed: with another severity or confidence
    unsure        subjects of which the rule cannot tell any more; settled: of which it can tell now
    kept          findings that both versions make alike
    unsearched    signature -> stored cases whose logs were not searched for it: nothing is known of them there
    """

    pair: RulePair
    lost: list[BacktestHit] = field(default_factory=list)
    gained: list[BacktestHit] = field(default_factory=list)
    changed: list[BacktestHit] = field(default_factory=list)
    unsure: list[BacktestHit] = field(default_factory=list)
    settled: list[BacktestHit] = field(default_factory=list)
    kept: int = 0
    unsearched: dict[str, int] = field(default_factory=dict)

    def add_hits(self, said: Said | BacktestReport, matches: int) -> None:
        """Add what differs in some cases; `matches` are the findings the rule makes there now."""
        for kind in KINDS:
            getattr(self, kind).extend(getattr(said, kind))
        self.kept += matches - len(said.gained) - len(said.changed)

    def list_hits(self, kind: str) -> list[BacktestHit]:
        """Return what differs so, in order of the cases; examples, which have no id of a case, come last."""
        found: list[BacktestHit] = getattr(self, kind)
        return sorted(found, key=lambda hit: (not hit.thing.id, hit.thing.case, hit.thing))

    def make_record(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        pair = self.pair
        rule = pair.rule
        head: dict[str, Any] = {"rule": rule.id, "title": rule.title, "kind": pair.kind}
        if pair.new is not None and pair.old is not None and pair.new.id != pair.old.id:
            head["was"] = pair.old.id
        if pair.why:
            head["why"] = pair.why
        thresholds = []
        for name, before, now in pair.thresholds:
            thresholds.append({"name": name, "before": before, "now": now})
        head |= {"parts": list(pair.parts), "thresholds": thresholds, "kept": self.kept}
        if self.unsearched:
            head["unsearched"] = self.unsearched
        for kind in KINDS:
            head[kind] = [make_hit_record(hit) for hit in self.list_hits(kind)]
        return head


def make_hit_record(hit: BacktestHit) -> dict[str, Any]:
    """Return a hit that differs as plain values, without what is empty."""
    thing = hit.thing
    record = {"case": thing.case, "node": thing.node, "subject": thing.subject}
    if thing.id not in ("", thing.case):
        record["id"] = thing.id
    for key, value in to_builtins(hit).items():
        if key != "thing" and value:
            record[key] = value
    return record


@dataclass(slots=True)
class CatalogDifference:
    """All that differs; `unread` names examples and cases that could not be judged, with the reason.

    stored  cases of the archive that were judged; no_facts: those of which only a judgement is stored
    """

    rules: list[RuleDifference] = field(default_factory=list)
    same: int = 0
    examples: int = 0
    bundles: int = 0
    stored: int = 0
    unread: list[tuple[str, str]] = field(default_factory=list)
    no_facts: int = 0

    def count(self, kind: str) -> int:
        """Return how much differs so."""
        return sum(len(rule.list_hits(kind)) for rule in self.rules)

    def make_record(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "rules": [rule.make_record() for rule in self.rules], "same": self.same, "examples": self.examples,
            "bundles": self.bundles, "stored": self.stored, "no_facts": self.no_facts,
            "unread": [{"case": case, "why": why} for case, why in self.unread],
            "count": {kind: self.count(kind) for kind in KINDS},
        }  # fmt: skip


def compare_catalogs(
    old: Catalog,
    new: Catalog,
    bundles: Sequence[Path] = (),
    archive: Archive | None = None,
    *,
    drafts: bool = False,
    jobs: int = 0,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> CatalogDifference:
    """Judge what differs between two catalogs over some cases; the rules of `old` get other ids on the way.

    Raises BacklineError when the storage fails. A bundle or an example that cannot be read is named in `unread`.
    """
    limits = Limits()
    chosen = pair_rules(old, new, drafts=drafts)
    found = CatalogDifference([RuleDifference(pair) for pair in chosen.pairs], chosen.same)
    judged = [one for one in found.rules if one.pair.kind != REWORDED]
    if archive is not None and judged:
        _judge_archive(found, judged, archive, jobs, limits, progress)
    for pair in chosen.pairs:
        if pair.old is not None:
            pair.old.id += RELEASED  # both versions look at the same facts, where hits are known by rule and name
    for bundle in bundles if judged else ():
        _judge_bundle(found, judged, bundle, limits)
    for one in judged:
        if one.pair.kind == CHANGED:
            _judge_examples(found, one, limits)
    for pair in chosen.pairs:
        if pair.old is not None:
            pair.old.id = pair.old.id.removesuffix(RELEASED)
    return found


def _judge_archive(
    found: CatalogDifference,
    judged: Sequence[RuleDifference],
    archive: Archive,
    jobs: int,
    limits: Limits,
    progress: Callable[[int, int], None],
) -> None:
    """Judge the cases of an archive: one back-test of all rules, so that they are read once."""
    asked = [
        BacktestRequest(one.pair.rule, one.pair.old if one.pair.new else None) for one in judged
    ]
    reports = backtest_rules(
        asked, archive, jobs=jobs, limits=limits, progress=progress, plain=True
    )
    for one, report in zip(judged, reports, strict=True):
        if one.pair.kind in (NEW, GONE):
            (report.gained if one.pair.kind == NEW else report.lost).extend(report.hits)
        one.unsearched = {doubt.missing: doubt.cases for doubt in report.unsearched}
        matches = 0
        if one.pair.new is not None:
            matches = len(report.hits)
        one.add_hits(report, matches)
    found.stored = reports[0].judged
    found.no_facts = reports[0].no_facts
    for case, name, why in reports[0].damaged:
        found.unread.append((name or case, why))


def _judge_bundle(
    found: CatalogDifference, judged: Sequence[RuleDifference], bundle: Path, limits: Limits
) -> None:
    """Judge a bundle by both versions of each rule and keep what differs."""
    both = [rule for one in judged for rule in (one.pair.new, one.pair.old) if rule is not None]
    try:
        facts = casework.read_case([bundle], Catalog(both).signatures(), limits=limits).facts
    except BacklineError as error:
        found.unread.append((str(bundle), str(error)))
        return
    found.bundles += 1
    for one in judged:
        answers: list[Judgement | None] = []
        for rule in (one.pair.new, one.pair.old):
            if rule is None:
                answers.append(None)
            else:
                answers.append(judge_cases(rule, {"": facts}, limits=limits, lean=True)[""])
        _add_difference(one, str(bundle), str(bundle), answers[0], answers[1])


def _judge_examples(found: CatalogDifference, one: RuleDifference, limits: Limits) -> None:
    """Judge the examples of both versions of a rule by both versions."""
    new = one.pair.new
    old = one.pair.old
    assert new is not None and old is not None
    kept = []
    named: list[tuple[str, Example]] = []
    for example in new.examples:
        if not (example.made and example.files):  # the example it was made of says the same
            kept.append(_list_material(example))
            named.append((f"example: {example.name}", example))
    for example in old.examples:
        if _list_material(example) not in kept and not (example.made and example.files):
            named.append((f"old example: {example.name}", example))
    for name, example in named:
        try:
            now, before = (
                judge_cases(
                    rule, {name: examples.facts_of(rule, example)}, limits=limits, lean=True
                )[name]
                for rule in (new, old)
            )
        except BacklineError as error:
            found.unread.append((f"{new.id}, {name}", str(error)))
            continue
        found.examples += 1
        _add_difference(one, "", name, now, before)


def _list_material(example: Example) -> tuple[object, ...]:
    return example.tables, example.logs, example.files, example.cut


def _add_difference(
    one: RuleDifference, case: str, name: str, now: Judgement | None, before: Judgement | None
) -> None:
    """Keep what two judgements of one case differ in."""
    said = Said()
    note_differences(said, case, name, now or Judgement(), before or Judgement())
    if now is None or before is None:  # a version without the rule says nothing of the case
        said.gained = [replace(hit, was="") for hit in said.gained]
        said.lost = [replace(hit, was="") for hit in said.lost]
        said.unsure, said.settled = [], []
    matches = 0
    if now is not None:
        matches = sum(finding.verdict == "match" for finding in now.findings)
    one.add_hits(said, matches)
