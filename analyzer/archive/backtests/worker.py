"""What a back-test worker does: judge a range of stored cases by some rules and by their released versions."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TypeVar

from analyzer.archive.backtests.jobs import (
    UNSEARCHED,
    BacktestHit,
    CaseSubject,
    Doubt,
    Look,
    Looked,
    Near,
    Pair,
    RuleTally,
    Said,
)
from analyzer.archive.documents import DamagedError
from analyzer.archive.entry import Stored
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.packs.columns import CASE
from analyzer.archive.restore import recall
from analyzer.archive.restore.reading import Reading, open_cursor
from analyzer.archive.store import Archive
from analyzer.case.verdicts import Finding, Judgement, Verdict
from analyzer.facts import Facts, database
from analyzer.judge import judge_cases
from analyzer.judge.log_conditions import explain_unsearched
from analyzer.rules import Rule
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits

Answer = TypeVar("Answer")
RELEASED = (
    " as released"  # behind the id of a released version: both are judged over the same facts
)
NEAR_SUBJECTS = 10  # of one case whose near misses are looked for
HOPELESS = (
    3  # cases of one holder that cannot be read, after which the rest is not tried one by one
)
_ORDER = (
    Verdict.MATCH,
    Verdict.ERROR,
    Verdict.CANNOT_TELL,
    Verdict.NO_MATCH,
    Verdict.NOT_APPLICABLE,
)


class _Config:
    """What a process keeps from job to job: the archive and the rules."""

    def __init__(self) -> None:
        self._archives: dict[str, Archive] = {}
        self._rules: dict[tuple[Pair, Limits], tuple[Rule, Rule | None]] = {}

    def open_archive(self, url: str) -> Archive:
        if url not in self._archives:
            self._archives[url] = Archive.open(url)
        return self._archives[url]

    def load_rules(self, pair: Pair, limits: Limits) -> tuple[Rule, Rule | None]:
        if (pair, limits) not in self._rules:
            released = pair.released.build_rule(limits) if pair.released else None
            if released is not None:
                released.id += RELEASED
            self._rules[pair, limits] = pair.rule.build_rule(limits), released
        return self._rules[pair, limits]


_CONFIG = _Config()


def look(job: Look) -> Looked:
    """Judge some stored cases; the answer names damaged ones. Raises StorageError and errors of opening an archive."""
    collects = gc.isenabled()
    gc.disable()  # all that is made here is kept until the end: looking for what can go costs a third of the time
    try:
        start = time.perf_counter()
        archive = _CONFIG.open_archive(job.archive)
        pairs = [_CONFIG.load_rules(pair, job.limits) for pair in job.pairs]
        answer = Looked([Said() for _ in pairs])
        some = [rule for pair in pairs for rule in pair if rule is not None]
        found: dict[str, Facts] = {}
        for case, name, facts in _read_cases(archive, job, some, answer):
            found[case.id], answer.names[case.id] = facts, name
        answer.judged, answer.seconds = len(found), time.perf_counter() - start
        for place, (rule, released) in enumerate(pairs):
            labelled = job.labelled[place] if job.labelled else ()
            _compare_versions(
                rule, released, found, job, answer.said[place], answer.names, labelled
            )
        return answer
    finally:
        if collects:
            gc.enable()


def judge_counted(job: Look) -> tuple[int, Looked]:
    """Return how many cases a job has, and what `look` says of them."""
    return job.case_count, look(job)


# -- reading


def _read_cases(
    archive: Archive, job: Look, some: Sequence[Rule], answer: Looked
) -> Iterator[tuple[Stored, str, Facts]]:
    """Yield the cases that are meant with their names and facts; count those that cannot be judged."""
    meant: list[tuple[Stored, str]] = []
    for case, row in _ask_each(archive, job.cases, lambda some: _read_heads(archive, some), answer):
        name, created = row
        moment = created.strftime("%Y-%m-%d %H:%M:%S") if created is not None else ""
        if not fnmatchcase(name, job.glob or "*"):
            continue
        if job.window is not None and not job.window.holds_moment(moment):
            continue
        answer.seen += 1
        if case.judged.kind == "none":
            answer.refused += 1
        elif case.facts is None:
            answer.no_facts += 1
        else:
            meant.append((case, name))
    names = {case.id: name for case, name in meant}
    chosen = [case for case, _ in meant]
    for case, facts in _ask_each(
        archive, chosen, lambda cases: recall.recall_facts(archive, cases, some), answer, names
    ):
        yield case, names[case.id], facts


def _read_heads(
    archive: Archive, cases: Sequence[Stored]
) -> dict[str, tuple[str, datetime | None]]:
    """Return name and time of some cases by id."""
    numbered = [(number, case.judged) for number, case in enumerate(cases)]
    with open_cursor() as con, Reading(archive.objects, numbered, {CASE}, con) as reading:
        rows = reading.read_rows(CASE, [database.CASE, "name", "created"], "")
    return {cases[number].id: (name or "", created) for number, name, created in rows}


def _ask_each(
    archive: Archive,
    cases: Sequence[Stored],
    ask: Callable[[Sequence[Stored]], Mapping[str, Answer]],
    answer: Looked,
    names: Mapping[str, str] | None = None,
) -> Iterator[tuple[Stored, Answer]]:
    """Yield what is asked of all cases at once; where some cannot be read, of each by itself."""
    if not cases:
        return
    try:
        found = ask(cases)
    except GoneError:  # a compaction took the cases over since they were listed
        now = {case.id: case for case in archive.take_snapshot().list_every_case()}
        cases = [now.get(case.id, case) for case in cases]
        found = _one_by_one(cases, ask, answer, names)
    except DamagedError:
        found = _one_by_one(cases, ask, answer, names)
    for case in cases:
        if case.id in found:
            yield case, found[case.id]


def _one_by_one(
    cases: Sequence[Stored],
    ask: Callable[[Sequence[Stored]], Mapping[str, Answer]],
    answer: Looked,
    names: Mapping[str, str] | None,
) -> dict[str, Answer]:
    """Return what is asked of each case that can be read; in a holder where nothing can, few are tried."""
    found: dict[str, Answer] = {}
    bad: Counter[str] = Counter()
    for case in cases:
        holder = (case.facts or case.judged).holder
        error: BacklineError | None = None
        if bad[holder] < HOPELESS:
            try:
                found |= ask([case])
            except (DamagedError, GoneError) as said:
                error = said
            else:
                bad[holder] = 0
        if case.id not in found:
            bad[holder] += 1
            why = (
                error.why or error.what
                if error is not None
                else "neighbouring cases cannot be read either"
            )
            answer.damaged.append((case.id, (names or {}).get(case.id, ""), why))
    return found


# -- judging


def _compare_versions(
    rule: Rule,
    released: Rule | None,
    cases: Mapping[str, Facts],
    job: Look,
    said: Said,
    names: Mapping[str, str],
    labelled: Sequence[tuple[str, str, str]],
) -> None:
    """Judge both versions over the same cases, and note what differs."""
    start = time.perf_counter()
    now = judge_cases(rule, cases, limits=job.limits, lean=True)
    said.own.seconds = time.perf_counter() - start
    before: dict[str, Judgement] = {}
    if released is not None:
        start = time.perf_counter()
        before = judge_cases(released, cases, limits=job.limits, lean=True)
        said.released.seconds = time.perf_counter() - start
    for case, judgement in now.items():
        _count_verdicts(said.own, judgement, rule.id)
        _note_case(rule, said, case, names[case], judgement)
        if released is not None:
            _count_verdicts(said.released, before[case], released.id)
            note_differences(said, case, names[case], judgement, before[case])
    for key in labelled:
        case, node, subject = key
        if case not in now:
            continue
        said.labelled[key] = _describe_verdict(now[case], node, subject)
        if before:
            said.released_labelled[key] = _describe_verdict(before[case], node, subject)
    _look_near(rule, cases, job, said, now, names)


def _count_verdicts(tally: RuleTally, judgement: Judgement, rule: str) -> None:
    counts = judgement.counts[rule]
    tally.subjects.update({verdict: count for verdict, count in counts.items() if count})
    for verdict in _ORDER:
        if counts.get(verdict.value):
            tally.cases[verdict.value] += 1
            return
    tally.cases[Verdict.NOT_APPLICABLE.value] += 1


def _list_matches(judgement: Judgement) -> Iterator[Finding]:
    return (finding for finding in judgement.findings if finding.verdict == Verdict.MATCH)


def _note_case(rule: Rule, said: Said, case: str, name: str, judgement: Judgement) -> None:
    """Note findings, errors and doubts of one case."""
    for finding in judgement.findings:
        thing = CaseSubject(case, name, finding.node, finding.subject)
        if finding.verdict == Verdict.MATCH:
            said.hits.append(BacktestHit(thing, finding.severity, finding.confidence, finding.say))
        else:
            said.errors.append((thing, finding.say))
    unsearched = {explain_unsearched(log): name for name, log in rule.logs.items()}
    met: set[tuple[str, str, str]] = set()
    for doubt in judgement.cannot_tell:
        # What doubts of many cases have in common; the customer has nothing to send for a search
        # not made.
        names = [name for words, name in unsearched.items() if words in doubt.why]
        if names:
            key = UNSEARCHED, ", ".join(names), ""
        else:
            key = str(doubt.reason), doubt.missing, doubt.ask
        said.doubts.setdefault(key, Doubt(*key, doubt.why, case=name)).add_subjects(
            1, key not in met, name, doubt.why
        )
        met.add(key)


def note_differences(said: Said, case: str, name: str, now: Judgement, before: Judgement) -> None:
    """Note which subjects of a case match under one version only, which match otherwise, which one cannot tell."""
    new = {(one.node, one.subject): one for one in _list_matches(now)}
    old = {(one.node, one.subject): one for one in _list_matches(before)}
    for key in sorted(new.keys() | old.keys()):
        one, other = new.get(key), old.get(key)
        finding = one or other
        assert finding is not None
        hit = BacktestHit(
            CaseSubject(case, name, *key), finding.severity, finding.confidence, finding.say
        )
        if other is None:
            said.gained.append(replace(hit, was=_describe_verdict(before, *key)))
        elif one is None:
            said.lost.append(replace(hit, was=_describe_verdict(now, *key)))
        elif (one.severity, one.confidence) != (other.severity, other.confidence):
            said.changed.append(replace(hit, was=f"{other.severity}, {other.confidence}"))
    unknown, known = _map_unknown(now), _map_unknown(before)
    # A finding that is "cannot tell" now is a lost one.
    for key in sorted(unknown.keys() - known.keys() - old.keys()):
        thing = CaseSubject(case, name, *key)
        was = _describe_verdict(before, *key)
        said.unsure.append(BacktestHit(thing, "", "", unknown[key], was))
    for key in sorted(known.keys() - unknown.keys() - new.keys()):
        thing = CaseSubject(case, name, *key)
        say = _describe_verdict(now, *key)
        said.settled.append(BacktestHit(thing, "", "", say, known[key]))


def _map_unknown(judgement: Judgement) -> dict[tuple[str, str], str]:
    """Return what is unknown of which subjects, (node, subject) -> why; a subject the rule failed at as well."""
    found = {(one.node, one.subject): f"cannot tell: {one.why}" for one in judgement.cannot_tell}
    failed = (one for one in judgement.findings if one.verdict == Verdict.ERROR)
    return found | {(one.node, one.subject): one.say for one in failed}


def _describe_verdict(judgement: Judgement, node: str, subject: str) -> str:
    """Return what a rule says of a subject, "" for a match; an empty node or subject stands for any."""
    for one in _list_matches(judgement):
        if node in ("", one.node) and subject in ("", one.subject):
            return ""
    for doubt in judgement.cannot_tell:
        if node in ("", doubt.node) and (subject in ("", doubt.subject) or not doubt.subject):
            return f"cannot tell: {doubt.why}"
    error = next((one.say for one in judgement.findings if one.verdict == Verdict.ERROR), "")
    return error or "no match"


def _look_near(
    rule: Rule,
    cases: Mapping[str, Facts],
    job: Look,
    said: Said,
    now: Mapping[str, Judgement],
    names: Mapping[str, str],
) -> None:
    """Look for near misses in some of the cases that have no finding."""
    if not job.near:
        return
    chosen = []
    for case, judgement in now.items():
        counts = judgement.counts[rule.id]
        has_looked = counts.get(Verdict.NO_MATCH) or counts.get(Verdict.CANNOT_TELL)
        is_quiet = not counts.get(Verdict.MATCH) and not counts.get(Verdict.ERROR)
        if has_looked and is_quiet and int(case[:8], 16) % job.near == 0:
            chosen.append(case)
    if not chosen:
        return
    limits = replace(job.limits, findings_per_rule=NEAR_SUBJECTS)
    for case, judgement in judge_cases(rule, cases, chosen, limits, explain=True).items():
        said.near_cases += 1
        found = []
        for one in judgement.explained:
            if one.near is not None and one.near.distance is not None:
                thing = CaseSubject(case, names[case], one.node, one.subject)
                shares = [leaf.far for leaf in one.near.leaves]
                far = (
                    None if None in shares else sum(share for share in shares if share is not None)
                )
                found.append(Near(thing, one.verdict, one.near.distance, far, one.near.text))
        said.near += sorted(found, key=lambda near: near.sort_rank)[:1]
