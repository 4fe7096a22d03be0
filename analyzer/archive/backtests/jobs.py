"""Records of a back-test: what a worker is asked, what it answers, and how a finding is identified.

All of them are small and can be pickled; the cases themselves stay in the process that reads them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from analyzer import rules
from analyzer.archive.entry import Stored
from analyzer.archive.query.search import Window
from analyzer.artefacts.tables import Table
from analyzer.rules import Rule, fact_tables
from analyzer.rules.language.rulefile import RuleText, SharedParts
from analyzer.rules.language.shared import used_in
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits

UNSEARCHED = (
    "unsearched"  # reason of a doubt: the logs were stored without a search for a signature
)


class CaseSubject(NamedTuple):
    """A subject of a case: id and name of the case, name of the machine, the subject as the rule words it."""

    id: str
    case: str
    node: str
    subject: str


@dataclass(frozen=True, slots=True)
class BacktestHit:
    """A finding of a rule; `was` is its severity and confidence under the other version, or why it has none there."""

    thing: CaseSubject
    severity: str
    confidence: str
    say: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class Near:
    """A near miss: what would have to be otherwise for a match.

    distance  things to be otherwise, 1 or 2; far: how far they are off, as a share of the threshold, None unknown
    """

    thing: CaseSubject
    verdict: str
    distance: int
    far: float | None
    text: str

    @property
    def sort_rank(self) -> tuple[int, float, CaseSubject]:
        """Sort key, the nearest first; a distance that is not known counts as half."""
        return self.distance, 0.5 if self.far is None else self.far, self.thing


@dataclass(slots=True)
class Doubt:
    """Subjects that cannot be judged for one reason; `case` is one of their cases."""

    reason: str
    missing: str
    ask: str
    why: str
    subjects: int = 0
    cases: int = 0
    case: str = ""

    def add_subjects(self, subjects: int, cases: int, case: str, why: str) -> None:
        """Add more of them; the case shown is the first by name, however the cases were parted."""
        self.subjects, self.cases = self.subjects + subjects, self.cases + cases
        self.case, self.why = min((self.case, self.why), (case, why))


@dataclass(frozen=True, slots=True)
class Version:
    """A rule as it is sent to another process: its text, the parts it shares, and thresholds that were changed."""

    name: str
    text: str
    thresholds: tuple[tuple[str, float], ...] = ()
    facts: tuple[Table, ...] = ()
    parts: tuple[tuple[str, str, str], ...] = ()  # of what it shares: kind, name, text
    shared: SharedParts | None = field(default=None, compare=False)

    @classmethod
    def from_rule(cls, rule: Rule) -> Version:
        """Return a loaded rule so."""
        changed = tuple((name, value) for name, (value, _) in sorted(rule.changed.items()))
        facts, parts = tuple(rule.fact_tables().values()), used_in(rule.text)
        return cls(rule.text.name, rule.text.text, changed, facts, parts, rule.text.shared)

    def build_rule(self, limits: Limits) -> Rule:
        """Return the rule."""
        return rules.build(
            RuleText(self.name, self.text, self.shared),
            {**fact_tables.declared(), **{one.name: one for one in self.facts}},
            limits,
            dict(self.thresholds),
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """A rule and its released version, None where there is none, or it is the same."""

    rule: Version
    released: Version | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """A job: some cases of an archive, the rules, which of the cases are meant, and what is asked of them.

    labelled  by rule (its place in `pairs`): what has a label among these cases, (id, node, subject)
    near      near misses are looked for in one case of so many, chosen by their ids; 0 in none
    """

    archive: str
    cases: tuple[Stored, ...]
    pairs: tuple[Pair, ...]
    limits: Limits
    glob: str = ""
    window: Window | None = None
    labelled: tuple[tuple[tuple[str, str, str], ...], ...] = ()
    near: int = 0

    @property
    def case_count(self) -> int:
        """How many cases it has."""
        return len(self.cases)

    def note_start(self, at: int) -> Self:
        """Return the job to be done again; it stores nothing."""
        del at
        return self

    def split_cases(self) -> list[Self]:
        """Return nothing: it may be the rule that kills a process, over every case."""
        return []

    def give_up(self, why: str) -> Looked:
        """Raise the error that ends the run: a report without these cases would mislead."""
        what, do = (
            "a process of the back-test ended unexpectedly",
            "Memory may have run out: try again with --jobs 1.",
        )
        raise BacklineError(what, why=why, do=do)


@dataclass(slots=True)
class RuleTally:
    """What one version of a rule says of some cases.

    subjects  verdict -> subjects;  cases: the weightiest verdict of a case -> cases
    """

    subjects: Counter[str] = field(default_factory=Counter)
    cases: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


@dataclass(slots=True)
class Said:
    """What a rule says of some cases, and how that differs from its released version.

    labelled  thing with a label -> what the rule says of it now, "" for a match
    released_labelled  the same of the released version
    unsure    subjects without a finding that only this version cannot tell; settled: only the released one
    """

    own: RuleTally = field(default_factory=RuleTally)
    released: RuleTally = field(default_factory=RuleTally)
    hits: list[BacktestHit] = field(default_factory=list)
    doubts: dict[tuple[str, str, str], Doubt] = field(default_factory=dict)
    errors: list[tuple[CaseSubject, str]] = field(default_factory=list)
    gained: list[BacktestHit] = field(default_factory=list)
    lost: list[BacktestHit] = field(default_factory=list)
    changed: list[BacktestHit] = field(default_factory=list)
    unsure: list[BacktestHit] = field(default_factory=list)
    settled: list[BacktestHit] = field(default_factory=list)
    near: list[Near] = field(default_factory=list)
    near_cases: int = 0
    labelled: dict[tuple[str, str, str], str] = field(default_factory=dict)
    released_labelled: dict[tuple[str, str, str], str] = field(default_factory=dict)


@dataclass(slots=True)
class Looked:
    """The answer to a job. Of `damaged` cases: id, name or "", why."""

    said: list[Said]
    seen: int = 0  # cases that are meant
    judged: int = 0
    refused: int = 0  # nothing could be read when they were read
    no_facts: int = 0  # only a judgement is stored
    damaged: list[tuple[str, str, str]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of the cases that were judged
    seconds: float = 0.0  # spent on reading
