"""Judges a rule again at every save, over a case that is read once.

`RuleSession` knows nothing of a terminal: `run` reads the rule file as it is now and returns what is
to be shown, so that a page can use it as well as the command. `saves` tells when to run again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from analyzer.authoring.explain import casework
from analyzer.authoring.explain.casework import CaseRead
from analyzer.authoring.explain.explain import (
    Explanation,
    SubjectExplanation,
    explain_rule,
    find_subjects,
    make_record,
)
from analyzer.authoring.lint import run as lint
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Rule, run_catalog, shared_files
from analyzer.rules.language.rulefile import read_file as read_rule
from analyzer.rules.run_catalog import Local
from analyzer.rules.sources import RuleSource
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.limits import Limits

DEBOUNCE = 150  # milliseconds in which saves count as one
GONE = 1.0  # seconds that a file may be away while an editor replaces it
LOOK = 1000  # milliseconds after which the file is looked at even when no event came


@dataclass(slots=True)
class Proof:
    """One of the rule's own examples: as expected or not, and in words what is not."""

    name: str
    ok: bool
    gap: bool
    wrong: list[str]


@dataclass(slots=True)
class WatchRun:
    """What one run gave.

    state       judged, or broken: the file cannot be used and `explanation` is that of the last run that could
    errors      what the linter calls an error, each with file, line, column and caret; of a broken file why it is
    warnings    what the linter calls a warning
    chosen      the subject whose tree is shown
    read_s      seconds that reading the case took, 0.0 when it was not read in this run; `reread` says why it was
    judge_ms    milliseconds of judging the rule over the case; examples_ms: of its own examples
    """

    number: int
    rule: str
    state: str = "judged"
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    explanation: Explanation | None = None
    chosen: SubjectExplanation | None = None
    examples: list[Proof] = field(default_factory=list)
    read_s: float = 0.0
    reread: str = ""
    judge_ms: float = 0.0
    examples_ms: float = 0.0

    @property
    def failing(self) -> list[Proof]:
        """The examples that are not as expected."""
        return [one for one in self.examples if not one.ok]


class RuleSession:
    """One rule file over one case.

    path     the rule file
    paths    the case: bundles, files, folders; read on the first run that has a rule
    kb       further rules, so that `explained_by` and settings may name them
    subject  of which subject the tree is wanted; "" for the first, which is the worst
    local    settings of the desk; thresholds are used as they are tuned there
    """

    def __init__(
        self,
        path: Path,
        paths: Sequence[Path],
        kb: Sequence[Path] = (),
        *,
        subject: str = "",
        local: Local | None = None,
    ) -> None:
        self.path, self.paths, self.kb, self.subject = path, paths, kb, subject
        self.local, self.limits = local or Local(packs=False), Limits()
        self.case: CaseRead | None = None
        self.last: WatchRun | None = None
        self.number = 0
        self.digest = ""  # of the content that ran last

    def run(self) -> WatchRun:
        """Read the rule file, judge it and run its examples; raises RefusedError when the case holds nothing."""
        shown, rule = self._begin_run()
        if rule is None:
            return self._repeat_last(shown)
        case = self._read_case(rule, shown)
        start = perf_counter()
        shown.explanation = explain_rule(rule, case, self.limits)
        shown.judge_ms = (perf_counter() - start) * 1000
        shown.chosen = next(iter(shown.explanation.subjects), None)
        if self.subject:
            try:
                shown.chosen = find_subjects(shown.explanation, self.subject)[0]
            except UsageError as error:
                shown.explanation.notes.append(str(error))
        self._prove_examples(rule, shown)
        self.last = shown
        return shown

    def prove(self) -> WatchRun:
        """Read the rule file and run its examples; no case is read or judged."""
        shown, rule = self._begin_run()
        if rule is None:
            return self._repeat_last(shown)
        self._prove_examples(rule, shown)
        self.last = shown
        return shown

    def _begin_run(self) -> tuple[WatchRun, Rule | None]:
        """Begin a run: return it with the rule of the file, None with the errors noted."""
        self.number += 1
        self.digest = digest_of(self.path)
        shown = WatchRun(self.number, self.path.stem)
        rule = self._check_rule(shown)
        if rule is not None:
            shown.rule = rule.id
        return shown, rule

    def close(self) -> None:
        """Let go of the case."""
        if self.case is not None:
            self.case.facts.close()
            self.case = None

    def _load_rule(self, *, tuned: bool) -> Catalog:
        """Return the rule of the file; `tuned` with the thresholds of the settings."""
        return run_catalog.load_run_catalog(
            self.local,
            self.kb,
            only=[self._find_source()],
            limits=self.limits,
            drafts=True,
            retired=True,
            examples=True,
            tuned=tuned,
        )

    def _find_source(self) -> RuleSource:
        """Return the rule file with what it may name."""
        return RuleSource("file", files=[self.path])

    def _check_rule(self, shown: WatchRun) -> Rule | None:
        """Return the rule, or None with the errors noted."""
        try:
            catalog = self._load_rule(tuned=True)
        except BacklineError as error:
            shown.errors = [str(error)]
            return None
        try:
            text, _ = read_rule(self.path, self.limits)
            shared, _, _ = shared_files.read_parts(self._find_source(), self.limits)
            complaints = lint.check_text(text.text, self.path.name, catalog.tables, shared)
        except BacklineError:
            complaints = []
        shown.warnings = [str(one) for one in complaints if one.level != "error"]
        shown.errors = [str(one) for one in complaints if one.level == "error"]
        broken = [str(error) for error in catalog.broken]
        if not catalog.rules:
            shown.errors = shown.errors or broken
            return None
        shown.errors += broken  # of what lies next to the rule
        return catalog.rules[0]

    def _repeat_last(self, shown: WatchRun) -> WatchRun:
        """Give a broken file the verdicts of the last run that could judge."""
        shown.state = "broken"
        if self.last is not None:
            shown.explanation, shown.chosen = self.last.explanation, self.last.chosen
        return shown

    def _read_case(self, rule: Rule, shown: WatchRun) -> CaseRead:
        """Return the case; read it when that was not done, or when its logs were searched for something else."""
        wanted = tuple(Catalog([rule]).signatures())
        if self.case is not None and self.case.signatures == wanted:
            return self.case
        if self.case:
            shown.reread = "the signatures under `logs` changed, so the logs were searched again"
        else:
            shown.reread = ""
        self.close()
        self.case = casework.read_case(self.paths, wanted, limits=self.limits)
        shown.read_s = self.case.seconds
        return self.case

    def _prove_examples(self, rule: Rule, shown: WatchRun) -> None:
        """Run the rule's own examples, as they are written: without the thresholds of the settings."""
        start = perf_counter()
        try:
            if rule.changed_thresholds:
                rule = self._load_rule(tuned=False).rules[0]
            results = examples.run(rule)
        except BacklineError as error:
            shown.examples = [Proof("all", ok=False, gap=False, wrong=[str(error)])]
        else:
            shown.examples = [
                Proof(one.name, one.ok, one.gap, [str(word) for word in one.got.get("wrong", [])])
                for one in results
            ]
        shown.examples_ms = (perf_counter() - start) * 1000


def record_run(shown: WatchRun) -> dict[str, Any]:
    """Return a run as plain JSON."""
    explanation = shown.explanation
    return {
        "run": shown.number,
        "rule": shown.rule,
        "state": shown.state,
        "stale": shown.state == "broken" and explanation is not None,
        "errors": shown.errors,
        "warnings": shown.warnings,
        "read_s": round(shown.read_s, 3),
        "reread": shown.reread,
        "judge_ms": round(shown.judge_ms, 1),
        "examples_ms": round(shown.examples_ms, 1),
        "examples": [asdict(one) for one in shown.examples],
        "chosen": explanation.subjects.index(shown.chosen)
        if explanation and shown.chosen
        else None,
        "explanation": make_record(explanation) if explanation else None,
    }


def watch_saves(path: Path, known: str) -> Iterator[None]:
    """Yield whenever the content of a file has become another, also when it was replaced under its name.

    known  what `digest_of` said of the content seen last: a save before the watch begins counts as well

    Events of one save count once, a save without a change not at all. A file that is away for
    longer than an editor needs to replace it counts as changed. Raises UsageError when the
    folder cannot be watched.
    """
    try:
        from watchfiles import watch  # noqa: PLC0415 - only this command needs it
    except ImportError:
        raise UsageError(
            "`rules watch` needs the package watchfiles", do="pip install watchfiles"
        ) from None

    real = path.resolve()
    folders = {path.absolute().parent, real.parent}
    names = {path.name, real.name}
    try:
        for _ in watch(
            *folders,
            watch_filter=lambda _, changed: Path(changed).name in names,
            debounce=DEBOUNCE,
            rust_timeout=LOOK,
            yield_on_timeout=True,
            recursive=False,
        ):  # at once after the first look, and at least every second
            now = digest_of(path)
            if now != known:
                known = now
                yield
    except OSError as error:
        raise UsageError(
            "the folder cannot be watched",
            where=str(path.parent),
            why=error.strerror or str(error),
            do="Set WATCHFILES_FORCE_POLLING=1 to poll the file instead.",
        ) from None


def digest_of(path: Path) -> str:
    """Return what tells one content of a file from another, "" when it stays away."""
    waited = 0.0
    while True:
        try:
            return hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            if waited >= GONE:
                return ""
        sleep(0.05)
        waited += 0.05
