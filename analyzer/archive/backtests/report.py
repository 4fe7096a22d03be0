"""The result of a back-test, compared with the labels of engineers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from msgspec import Struct, to_builtins

from analyzer.archive.backtests.jobs import BacktestHit, CaseSubject, Doubt, Near, RuleTally
from analyzer.archive.labels import CONFIRMED, REJECTED
from analyzer.case.verdicts import Evidence

Z = 1.959963984540054  # two-sided 95 %


@dataclass(slots=True)
class Numbers:
    """How one version of a rule stands against the labels.

    rejected   findings an engineer rejected; gained_rejected: those the released version does not make
    lost       confirmed findings that are not made any more; missed_found: those once missed that are made now
    precision  confirmed among labelled findings, with its 95 % interval (Wilson); None without labels
    """

    confirmed: int = 0
    rejected: int = 0
    unlabelled: int = 0
    lost: int = 0
    missed_found: int = 0
    missed_still: int = 0
    precision: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """A label of an engineer, and what the rule says of its subject now; "" for a match."""

    thing: CaseSubject
    label: str
    now: str
    released: str
    by: str = ""
    note: str = ""


@dataclass(slots=True)
class Sample:
    """A finding with its evidence, out of all that is stored of its case."""

    hit: BacktestHit
    evidence: list[Evidence]


@dataclass(slots=True)
class BacktestReport:
    """What a back-test found; lists hold all there is unless said otherwise.

    released        "there is none", "it is the released version", or what it is compared with
    against         place of the other version, when it is not the installed one
    compared        True when both versions were judged
    draft           the rule is a draft, which a batch judges with --draft alone
    stored          cases of the archive; seen: those that are meant; judged: those with facts
    seconds         of the whole run; judging, reading: summed over processes
    near            the nearest near misses, one of a case; near_cases: cases that were looked at for them
    per_1000_ms     milliseconds that judging a thousand cases took
    """

    rule: str
    title: str
    file: str
    archive: str
    released: str = ""
    against: str = ""
    compared: bool = False
    draft: bool = False
    stored: int = 0
    seen: int = 0
    judged: int = 0
    refused: int = 0
    no_facts: int = 0
    damaged: list[tuple[str, str, str]] = field(default_factory=list)
    own: RuleTally = field(default_factory=RuleTally)
    before: RuleTally = field(default_factory=RuleTally)
    hits: list[BacktestHit] = field(default_factory=list)
    cannot_tell: list[Doubt] = field(default_factory=list)
    unsearched: list[Doubt] = field(default_factory=list)
    errors: list[tuple[CaseSubject, str]] = field(default_factory=list)
    gained: list[BacktestHit] = field(default_factory=list)
    lost: list[BacktestHit] = field(default_factory=list)
    changed: list[BacktestHit] = field(default_factory=list)
    unsure: list[BacktestHit] = field(
        default_factory=list
    )  # without a finding: only this version cannot tell
    settled: list[BacktestHit] = field(default_factory=list)  # only the other version cannot
    renamed: bool = False
    near: list[Near] = field(default_factory=list)
    near_cases: int = 0
    near_one: int = 0  # of them with a subject that one thing keeps from matching
    samples: list[Sample] = field(default_factory=list)
    labels: list[LabelCheck] = field(default_factory=list)
    numbers: Numbers = field(default_factory=Numbers)
    numbers_before: Numbers | None = None
    flags: list[str] = field(default_factory=list)
    seconds: float = 0.0
    reading: float = 0.0
    per_1000_ms: float = 0.0

    @property
    def lost_confirmed(self) -> list[LabelCheck]:
        """Findings an engineer confirmed that the rule does not make."""
        return [one for one in self.labels if one.label == CONFIRMED and one.now]

    @property
    def made_rejected(self) -> list[LabelCheck]:
        """Findings an engineer rejected that the rule makes."""
        return [one for one in self.labels if one.label == REJECTED and not one.now]

    @property
    def gained_rejected(self) -> list[LabelCheck]:
        """Those of them that the released version does not make."""
        return [one for one in self.made_rejected if self.compared and one.released]

    @property
    def has_failed(self) -> bool:
        """Say whether a confirmed finding is lost, or a rejected one gained."""
        return bool(self.lost_confirmed or self.gained_rejected)

    def cases_of(self, hits: Iterable[BacktestHit]) -> int:
        """Return in how many cases some findings are."""
        return len({hit.thing.id for hit in hits})

    def to_record(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        names = [field.name for field in fields(self)]
        names += ["lost_confirmed", "made_rejected", "gained_rejected"]
        record = {name: _to_plain(getattr(self, name)) for name in names}
        return {**record, "failed": self.has_failed}


def _to_plain(value: Any) -> Any:
    """Return a record as JSON knows it."""
    if is_dataclass(value):
        return {field.name: _to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Struct):
        return to_builtins(value)
    if isinstance(value, CaseSubject):
        return value._asdict()
    if isinstance(value, dict):
        return {str(key): _to_plain(item) for key, item in value.items()}
    return [_to_plain(item) for item in value] if isinstance(value, list | tuple) else value


def count_numbers(labelled: Iterable[tuple[str, bool]], unlabelled: int) -> Numbers:
    """Return how findings stand against labels: (confirmed, rejected or missed; whether the finding is made)."""
    count = Counter(labelled)
    found = Numbers(
        count[CONFIRMED, True], count[REJECTED, True], unlabelled, count[CONFIRMED, False]
    )
    found.missed_found, found.missed_still = count["missed", True], count["missed", False]
    right = found.confirmed + found.missed_found
    if right + found.rejected:
        found.precision = right / (right + found.rejected)
        found.low, found.high = wilson_interval(right, right + found.rejected)
    return found


def wilson_interval(right: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share that was seen `right` times of `of`, after Wilson: true for few as well."""
    share, square = right / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = Z / (1 + square / of) * (share * (1 - share) / of + square / (4 * of * of)) ** 0.5
    return max(0.0, middle - reach), min(1.0, middle + reach)
