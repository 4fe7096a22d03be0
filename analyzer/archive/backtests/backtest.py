"""Judges a rule over all stored cases: what it finds, what it cannot tell, and what changed since its release.

`backtest` is the whole of it; the command prints its report (report.py), a page may show it. The cases are judged in
processes of this machine, a stretch each (worker.py); nothing but counts and findings comes back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from analyzer.archive import labels
from analyzer.archive.backtests.jobs import (
    UNSEARCHED,
    BacktestHit,
    CaseSubject,
    Doubt,
    Look,
    Looked,
    Pair,
    Said,
    Version,
)
from analyzer.archive.backtests.report import BacktestReport, LabelCheck, Sample, count_numbers
from analyzer.archive.backtests.worker import judge_counted
from analyzer.archive.documents import DamagedError
from analyzer.archive.entry import Stored
from analyzer.archive.labels import CONFIRMED, Label
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.query.search import Window
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.case.verdicts import Verdict
from analyzer.judge import judge
from analyzer.rules import Catalog, Rule
from analyzer.runtime.limits import Limits
from analyzer.workers.pool import WorkerPool
from analyzer.workers.resources import count_cores

PRELOADED = "analyzer.archive.backtests.preload"
FEWEST, MOST = 50, 1000  # cases of one job: each question to the database costs its planning
JOBS_EACH = 4  # jobs of one process at least, so that all of them end at about the same time
NEAR_CASES = 60  # that are looked at for near misses, about
NEAR_KEPT = 20
SAMPLES = 3
OFTEN = 0.2  # share of the cases beyond which a rule is looked at again

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class BacktestRequest:
    """What is back-tested: a rule, and what it is compared with, None where there is nothing.

    released  the installed rule of the same id, or the one of the place `against` (a folder, a commit)
    """

    rule: Rule
    released: Rule | None = None
    against: str = ""


def backtest_rules(
    rules: Sequence[BacktestRequest],
    archive: Archive,
    *,
    cases: str = "",
    window: Window | None = None,
    jobs: int = 0,
    limits: Limits | None = None,
    progress: Progress = lambda _done, _total: None,
    plain: bool = False,
) -> list[BacktestReport]:
    """Judge rules over the visible cases of an archive; return a report for each rule.

    cases     glob over names of cases; window: stretch of time their newest moment lies in
    jobs      processes, 0 for one a processor
    progress  gets the number of cases done and of all, from this thread
    plain     without near misses and examples of findings, which cost a second look at some cases

    Raises BacklineError when the storage fails or a process dies.
    """
    start = time.perf_counter()
    limits = limits or Limits()
    stored = archive.take_snapshot().list_visible_cases()
    given = labels.current_labels(archive)
    reports = [_Sum(asked, archive, len(stored), given) for asked in rules]
    processes = jobs or count_cores()
    stretch = max(FEWEST, min(MOST, len(stored) // (processes * JOBS_EACH)))
    near = 0 if plain else -(-len(stored) // NEAR_CASES)
    # The jobs: stretches of cases that lie together
    looks: list[Look] = []
    together = sorted(stored, key=lambda case: (case.facts or case.judged).holder)
    stretches = [together[at : at + stretch] for at in range(0, len(together), stretch)]
    pairs = tuple(one.pair for one in reports)
    keys = [{(label.id, label.node, label.subject) for label in one.labels} for one in reports]
    for some in stretches:
        ids = {case.id for case in some}
        labelled = tuple(tuple(sorted(key for key in own if key[0] in ids)) for own in keys)
        looks.append(
            Look(archive.objects.url, tuple(some), pairs, limits, cases, window, labelled, near)
        )
    done = 0
    for count, answer in _yield_answers(looks, min(processes, len(looks))):
        done += count
        for place, one in enumerate(reports):
            one.add_answer(answer, answer.said[place])
        progress(done, len(stored))
    by_id = {case.id: case for case in stored}
    found = [one.build_report(by_id, limits, samples=not plain) for one in reports]
    for report in found:
        report.seconds = time.perf_counter() - start
    return found


def _yield_answers(looks: Sequence[Look], processes: int) -> Iterator[tuple[int, Looked]]:
    """Yield the cases of each job and its answer: in this process, or as the others bring them."""
    if processes <= 1:
        yield from map(judge_counted, looks)
        return
    pool: WorkerPool[Look, tuple[int, Looked]] = WorkerPool(
        judge_counted, processes, preload=PRELOADED
    )
    try:
        yield from pool.run(iter(looks))
    finally:
        pool.close()


class _Sum:
    """The report of one rule in the making."""

    def __init__(
        self, asked: BacktestRequest, archive: Archive, stored: int, given: Sequence[Label]
    ) -> None:
        rule, released = asked.rule, asked.released
        self.asked, self.archive = asked, archive
        ids = (rule.id, *rule.replaces)  # who confirmed the old rule's finding meant the fault
        self.labels = [label for label in given if label.rule in ids]
        self.names: dict[str, str] = {}
        self.doubts: dict[tuple[str, str, str], Doubt] = {}
        self.verdicts: dict[tuple[str, str, str], tuple[str, str]] = {}
        version = Version.from_rule(rule)
        before = Version.from_rule(released) if released is not None else None
        same = before is not None and replace(before, name="") == replace(version, name="")
        self.pair = Pair(version, None if same else before)
        self.report = BacktestReport(
            rule.id, rule.title, str(rule.path or ""), archive.objects.url, stored=stored
        )
        self.report.against = asked.against
        self.report.draft = rule.status == "draft"
        self.report.compared = before is not None and not same
        if released is not None and not same:
            self.report.renamed = _name_subject(rule) != _name_subject(released)
        if same:
            self.report.released = "same"
        elif released is None:
            self.report.released = "none"
        else:
            self.report.released = str(released.path or "installed")

    def add_answer(self, answer: Looked, said: Said) -> None:
        """Add what was said of some cases."""
        report = self.report
        for name in ("seen", "judged", "refused", "no_facts"):
            setattr(report, name, getattr(report, name) + getattr(answer, name))
        report.damaged += answer.damaged
        report.reading += answer.seconds
        self.names |= answer.names
        for tally, more in ((report.own, said.own), (report.before, said.released)):
            tally.subjects += more.subjects
            tally.cases += more.cases
            tally.seconds += more.seconds
        for name in ("hits", "errors", "gained", "lost", "changed", "unsure", "settled", "near"):
            getattr(report, name).extend(getattr(said, name))
        report.near_cases += said.near_cases
        for key, doubt in said.doubts.items():
            known = self.doubts.setdefault(key, doubt)
            if known is not doubt:
                known.add_subjects(doubt.subjects, doubt.cases, doubt.case, doubt.why)
        self.verdicts |= {
            key: (now, said.released_labelled.get(key, "")) for key, now in said.labelled.items()
        }

    def build_report(
        self, stored: dict[str, Stored], limits: Limits, *, samples: bool
    ) -> BacktestReport:
        """Return the report, in an order that does not hang on which process was quicker."""
        report = self.report
        for hits in (
            report.hits,
            report.gained,
            report.lost,
            report.changed,
            report.unsure,
            report.settled,
        ):
            hits.sort(key=lambda hit: (hit.thing.case, hit.thing))
        report.errors.sort()
        report.damaged.sort()
        report.near_one = len({near.thing.id for near in report.near if near.distance == 1})
        report.near = sorted(report.near, key=lambda one: one.sort_rank)[:NEAR_KEPT]
        doubts = sorted(
            self.doubts.values(), key=lambda one: (-one.cases, -one.subjects, one.missing)
        )
        report.unsearched = [one for one in doubts if one.reason == UNSEARCHED]
        report.cannot_tell = [one for one in doubts if one.reason != UNSEARCHED]
        for label in self.labels:
            key = (label.id, label.node, label.subject)
            if key not in self.verdicts:
                continue  # a case that is not meant, or not visible any more
            now, before = self.verdicts[key]
            thing = CaseSubject(label.id, self.names[label.id], label.node, label.subject)
            what = "missed" if label.missed and label.label == CONFIRMED else label.label
            report.labels.append(LabelCheck(thing, what, now, before, label.by, label.note))
        report.labels.sort(key=lambda one: (one.thing.case, one.thing))
        labelled = {key for key, (now, _) in self.verdicts.items() if not now}
        unlabelled = sum(_sort_key(hit.thing) not in labelled for hit in report.hits)
        decided = [(one.label, not one.now) for one in report.labels]
        report.numbers = count_numbers(decided, unlabelled)
        if report.compared:
            made = ((one.label, not one.released) for one in report.labels)
            before_hits = len(report.hits) - len(report.gained) + len(report.lost)
            known = sum(not before for _, before in self.verdicts.values())
            report.numbers_before = count_numbers(made, max(0, before_hits - known))
        matched = report.own.cases[Verdict.MATCH]
        if report.judged and matched / report.judged > OFTEN:
            report.flags.append("often")
        cleared = report.own.cases[Verdict.NO_MATCH] + report.own.cases[Verdict.NOT_APPLICABLE]
        if not matched and cleared:  # where every case is "cannot tell" there is nothing to review
            report.flags.append("never")
        report.per_1000_ms = 1e6 * report.own.seconds / report.judged if report.judged else 0.0
        report.samples = list(self._pick_samples(stored, limits)) if samples else []
        return report

    def _pick_samples(self, stored: dict[str, Stored], limits: Limits) -> Iterator[Sample]:
        """Yield some findings with their evidence: gained ones first, then those no one labelled."""
        report = self.report
        labelled = {(one.thing.id, one.thing.node, one.thing.subject) for one in report.labels}
        fresh = [hit for hit in report.hits if _sort_key(hit.thing) not in labelled]
        chosen: dict[str, BacktestHit] = {}
        for hit in (*report.gained, *fresh, *report.hits):
            if hit.thing.id not in chosen and len(chosen) < SAMPLES:
                chosen[hit.thing.id] = hit
        catalog = Catalog([self.asked.rule])
        for case, hit in chosen.items():
            try:
                facts = recall.recall_case(self.archive, stored[case], catalog.signatures()).facts
            except (GoneError, DamagedError):
                continue
            findings = judge(catalog, facts, limits).findings
            facts.close()
            key = (hit.thing.node, hit.thing.subject)
            yield from (
                Sample(hit, one.evidence) for one in findings if (one.node, one.subject) == key
            )


def _sort_key(thing: CaseSubject) -> tuple[str, str, str]:
    return thing.id, thing.node, thing.subject


def _name_subject(rule: Rule) -> str:
    return rule.subject.text
